"""Newton's method: the slope divided by the curvature, each step halved until the cost falls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.curvature import Curvature
from evenodds.models.glm.problem import HALVINGS, ROUNDING, Minimum, Problem, Step
from evenodds.models.glm.sums import Sums


def newton(problem: Problem, begin: Floats, most: int, stop: Callable[[Sums, int], bool] | None) -> Minimum:
    """Step until no slope is left; every pass forms the Hessian, so the last one has that of the minimum."""
    flat = begin.ravel(order="F").copy()
    cost, gradient, sums = problem.at(flat, 2)
    steps: list[Step] = []
    given_up = False
    while True:
        assert sums.hessian is not None
        hessian = problem.prior.plus(sums.hessian)
        slope = problem.slope(gradient, np.diag(hessian), sums.weight)
        if slope <= problem.tolerance or len(steps) >= most or given_up:
            break
        direction = -solve(hessian, gradient, problem.free)
        length = 1.0
        for _ in range(HALVINGS):
            trial = flat + length * direction
            new = problem.at(trial, 2)
            if new[0] <= cost + 1e-4 * length * float(gradient @ direction) + ROUNDING * (1 + abs(cost)):
                break
            length /= 2
        else:  # the slope is all rounding
            break
        steps.append(Step(len(steps) + 1, cost, slope, length))
        stuck = new[0] >= cost and slope < 1e3 * problem.tolerance
        flat = trial
        cost, gradient, sums = new
        given_up = stuck or (stop is not None and stop(sums, len(steps)))
    steps.append(Step(len(steps) + 1, cost, slope, 0.0))
    done = slope <= 1e2 * problem.tolerance
    if slope <= problem.tolerance:  # one step more costs no pass, and squares what error is left
        flat = flat - solve(hessian, gradient, problem.free)
    return Minimum(problem.shaped(flat), sums, hessian, done, "newton", tuple(steps))


def solve(hessian: Floats, gradient: Floats, free: Any) -> Floats:
    """The Newton direction among the free coefficients; the curvature is scaled, and propped up where it is flat."""
    at = np.flatnonzero(free)
    direction = np.zeros(len(gradient))
    if not len(at):
        return direction
    part = hessian if len(at) == len(free) else hessian[np.ix_(at, at)]
    direction[at] = propped(part).divide(gradient[at])
    return direction


def propped(hessian: Floats) -> Curvature:
    """The curvature, with as much added to its scaled diagonal as it needs to curve upwards."""
    prop = 0.0
    while True:
        try:
            return Curvature(hessian, prop)
        except LinAlgError:
            prop = max(10 * prop, 1e-12)
