"""Logistic regression under Jeffreys' prior: finite coefficients even where the classes can be separated.

    log-posterior = log-likelihood + ½ log det I(b),     I(b) = Σ w p (1 - p) x xᵀ

Its slope is Σ (w (y - p) + h (½ - p)) x with h the row's leverage, as if every row had brought half a success and half
a failure of weight h with it (Firth 1993; Heinze and Schemper 2002). A step divides it by the curvature of the rows and
what they brought, Σ (w + h) p (1 - p) x xᵀ. Two passes a step: the information, then what the prior adds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from evenodds.models.glm.blocks import Block, Floats, Gram, Rows, mirrored, summed
from evenodds.models.glm.curvature import Curvature
from evenodds.models.glm.losses import Logistic
from evenodds.models.glm.problem import HALVINGS, ROUNDING, Minimum, Step
from evenodds.models.glm.sums import Sums, evaluate

LONGEST = 5.0  # of a step, in what it changes a coefficient of a scaled column by


class _Place(NamedTuple):
    """Some coefficients, and what is found there."""

    b: Floats
    sums: Sums
    information: Curvature | None  # of the columns that may move; None where it is flat, as far as doubles tell
    cost: float


def jeffreys(
    rows: Rows,
    start: Floats,
    free: Callable[[Sums], Any],
    tolerance: float,
    most: int = 100,
    threads: int | None = None,
) -> Minimum:
    """The coefficients of the highest posterior density; the curvature is that of the likelihood, as is usual.

    `free` is shown the sums at the start and says which columns may leave it.
    """
    first = evaluate(Logistic(), rows, start, 2, threads)
    at, steps, slope = np.flatnonzero(free(first)), list[Step](), np.inf

    def found(b: Floats, sums: Sums) -> _Place:
        assert sums.hessian is not None
        try:
            information = Curvature(sums.hessian[np.ix_(at, at)])
        except LinAlgError:
            return _Place(b, sums, None, np.inf)
        return _Place(b, sums, information, sums.cost - 0.5 * information.log_determinant)

    here = found(start, first)
    while here.information is not None:
        assert here.sums.hessian is not None
        inverse = np.zeros_like(here.sums.hessian)
        inverse[np.ix_(at, at)] = here.information.inverse
        added = _brought(rows, here.b, inverse, threads)
        gradient = (here.sums.gradient + added[0])[at]
        room = np.sqrt(np.diag(here.sums.hessian)[at] * here.sums.weight)
        slope = float((np.abs(gradient) / room).max(initial=0.0))
        if slope <= tolerance or len(steps) >= most:
            break
        direction = np.zeros(len(start))
        direction[at] = -Curvature((here.sums.hessian + mirrored(added[1:]))[np.ix_(at, at)]).divide(gradient)
        length = min(1.0, LONGEST / max(float(np.abs(direction).max()), np.finfo(float).tiny))
        for _ in range(HALVINGS):
            b = here.b + length * direction
            new = found(b, evaluate(Logistic(), rows, b, 2, threads))
            if new.cost <= here.cost + ROUNDING * (1 + abs(here.cost)):
                break
            length /= 2
        else:
            break
        steps.append(Step(len(steps) + 1, here.cost, slope, length))
        here = new
    steps.append(Step(len(steps) + 1, here.cost, slope, 0.0))
    return Minimum(here.b, here.sums, here.sums.hessian, slope <= 1e2 * tolerance, "newton", tuple(steps))


def _brought(rows: Rows, b: Floats, inverse: Floats, threads: int | None) -> Floats:
    """What the prior adds to the cost's slope, Σ h (p - ½) x, and below it to its curvature, Σ h p (1 - p) x xᵀ."""

    def work(block: Block) -> Floats:
        slope, curvature = np.zeros(block.width), Gram(block.width)
        for tile in block.tiles():
            p = Logistic().mean(tile.score(b))
            each = p * (1 - p)
            h = each * (1.0 if tile.weights is None else tile.weights) * tile.quadratic(inverse)
            slope += tile.pull(h * (p - 0.5))
            curvature.add(tile, h * each)
        return np.vstack([slope, curvature.lower])

    return summed(rows, work, threads)
