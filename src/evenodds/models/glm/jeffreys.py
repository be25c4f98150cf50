"""Logistic regression under Jeffreys' prior: finite coefficients even where the classes can be separated.

    log-posterior = log-likelihood + ½ log det I(b),     I(b) = Σ p (1 - p) x xᵀ

Its slope is Σ (y - p + h (½ - p)) x with h the row's leverage, as if every row had brought half a success and half a
failure of weight h with it (Firth 1993; Heinze and Schemper 2002). Two passes a step: the information, then the slope.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from evenodds.models.glm.blocks import Block, Floats, Rows, summed
from evenodds.models.glm.losses import Logistic
from evenodds.models.glm.problem import HALVINGS, ROUNDING, Minimum, Step
from evenodds.models.glm.sums import Sums, evaluate

LONGEST = 5.0  # of a step, in what it changes a coefficient of a scaled column by


def jeffreys(
    rows: Rows, start: Floats, free: Floats, tolerance: float, most: int = 100, threads: int | None = None
) -> Minimum:
    """The coefficients of the highest posterior density; the curvature is that of the likelihood, as is usual."""
    loss, b, at = Logistic(), start.copy(), np.flatnonzero(free)
    sums = evaluate(loss, rows, b, 2, threads)
    steps: list[Step] = []

    def cost(found: Sums) -> float:
        assert found.hessian is not None
        sign, log = np.linalg.slogdet(found.hessian[np.ix_(at, at)])
        return float(found.cost - 0.5 * log) if sign > 0 else np.inf

    here = cost(sums)
    while True:
        assert sums.hessian is not None
        information = sums.hessian[np.ix_(at, at)]
        factor = cho_factor(information, lower=True)
        inverse = np.zeros_like(sums.hessian)
        inverse[np.ix_(at, at)] = cho_solve(factor, np.eye(len(at)))
        gradient = (sums.gradient + _extra(rows, b, inverse, threads))[at]
        slope = float((np.abs(gradient) / np.sqrt(np.diag(information) * sums.weight)).max(initial=0.0))
        if slope <= tolerance or len(steps) >= most:
            break
        direction = np.zeros(len(b))
        direction[at] = -cho_solve(factor, gradient)
        length = min(1.0, LONGEST / max(float(np.abs(direction).max()), np.finfo(float).tiny))
        for _ in range(HALVINGS):
            new = evaluate(loss, rows, b + length * direction, 2, threads)
            if cost(new) <= here + ROUNDING * (1 + abs(here)):
                break
            length /= 2
        else:
            break
        steps.append(Step(len(steps) + 1, here, slope, length))
        b, sums, here = b + length * direction, new, cost(new)
    steps.append(Step(len(steps) + 1, here, slope, 0.0))
    return Minimum(b, sums, sums.hessian, slope <= 1e2 * tolerance, "newton", tuple(steps))


def _extra(rows: Rows, b: Floats, inverse: Floats, threads: int | None) -> Floats:
    """Σ h (p - ½) x: what the prior adds to the slope of the cost."""

    def work(block: Block) -> Floats:
        total = np.zeros(block.width)
        for tile in block.tiles():
            p = Logistic().mean(tile.score(b))
            curvature = p * (1 - p) * (1.0 if tile.weights is None else tile.weights)
            h = curvature * tile.quadratic(inverse)
            total += tile.pull(h * (p - 0.5))
        return total

    return summed(rows, work, threads)
