"""Solvers that need no Hessian: L-BFGS for very many coefficients, gradient ascent for looking at."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.problem import HALVINGS, ROUNDING, Minimum, Problem, Step
from evenodds.models.glm.sums import Sums

MANY = 1 << 14  # coefficients, from which on L-BFGS keeps fewer steps in mind


def lbfgs(problem: Problem, begin: Floats, most: int) -> Minimum:
    """L-BFGS (Liu and Nocedal 1989), each coefficient scaled by the curvature at the start, the cost by its unit.

    Convergence is judged by the curvature last seen, and where that says yes, by the curvature there: it takes as long
    as the rest of a pass, with many classes longer.
    """
    from scipy.optimize import minimize

    flat = begin.ravel(order="F").copy()
    cost, gradient, sums = problem.at(flat, 1)
    diagonal = curves = _curves(problem, sums)
    unit, scale = problem.unit, problem.unit / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    steps = [Step(1, cost, problem.slope(gradient, diagonal, sums.weight), 1.0)]
    last: dict[str, Any] = {}
    ended: tuple[float, Floats, Sums] | None = None

    def function(x: Floats) -> tuple[float, Floats]:
        value, slope, _ = problem.at(flat + scale * x, 1, curves=False)
        last.update(value=value, slope=slope)
        return value / unit**2, scale * slope / unit**2

    def look(x: Floats) -> None:
        nonlocal curves, ended
        slope = problem.slope(last["slope"], curves, sums.weight)
        if slope <= problem.tolerance:
            here = problem.at(flat + scale * x, 1)
            curves = _curves(problem, here[2])
            slope = problem.slope(last["slope"], curves, sums.weight)
            ended = here if slope <= problem.tolerance else None
        steps.append(Step(len(steps) + 1, last["value"], slope, 1.0))
        if ended is not None:
            raise StopIteration

    pairs = 20 if len(flat) <= MANY else 8
    options = {"maxiter": most, "maxfun": 2 * most, "maxcor": pairs, "ftol": 0.0, "gtol": 0.0}
    found = minimize(function, np.zeros(len(flat)), jac=True, method="L-BFGS-B", callback=look, options=options)
    flat = flat + scale * found.x
    cost, gradient, sums = problem.at(flat, 1) if ended is None else ended
    slope = problem.slope(gradient, _curves(problem, sums), sums.weight)
    steps.append(Step(len(steps) + 1, cost, slope, 0.0))
    return Minimum(problem.shaped(flat), sums, None, slope <= 1e2 * problem.tolerance, "lbfgs", tuple(steps))


def _curves(problem: Problem, sums: Sums) -> Floats:
    """The diagonal of the Hessian of data and prior."""
    assert sums.hessian is not None
    return np.asarray(sums.hessian.ravel(order="F") + problem.prior.diagonal)


def ascent(problem: Problem, begin: Floats, most: int, rate: float | None) -> Minimum:
    """b += rate · gradient of the log-posterior; without a rate, the largest that keeps it rising.

    A rate that overshoots is halved, and one that does not grows by a tenth: every step is kept, to be looked at.
    """
    flat = begin.ravel(order="F").copy()
    cost, gradient, sums = problem.at(flat, 1)
    steps: list[Step] = []
    curves = _curves(problem, sums)
    length = 1.0 / max(float(curves.sum()), np.finfo(float).tiny) if rate is None else rate
    while True:
        slope = problem.slope(gradient, curves, sums.weight)
        if slope <= problem.tolerance or len(steps) >= most:
            break
        new = problem.at(flat - length * gradient, 1)
        if rate is None:
            tries = 0
            while _rose(cost, gradient, new) and tries < HALVINGS:
                length, tries = length / 2, tries + 1
                new = problem.at(flat - length * gradient, 1)
        steps.append(Step(len(steps) + 1, cost, slope, length))
        flat = flat - length * gradient
        if rate is None:
            length *= 1.1
        cost, gradient, sums = new
        if not np.isfinite(cost):
            raise ValueError(f"gradient ascent left all bounds at step {len(steps)}: take a smaller rate than {rate:g}")
        curves = _curves(problem, sums)
    steps.append(Step(len(steps) + 1, cost, slope, 0.0))
    return Minimum(problem.shaped(flat), sums, None, slope <= problem.tolerance, "ascent", tuple(steps))


def _rose(cost: float, gradient: Floats, new: tuple[float, Floats, Sums]) -> bool:
    """Whether a step along the gradient made the cost larger.

    Near the minimum the difference of two costs is all rounding; there the slopes at both ends tell, which for a
    parabola is the same: -length · (g·g + g·g') / 2.
    """
    rise = new[0] - cost
    return bool(rise > 0 if abs(rise) > ROUNDING * abs(cost) else gradient @ (gradient + new[1]) < 0)
