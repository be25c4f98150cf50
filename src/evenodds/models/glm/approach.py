"""Coming near a minimum by a Hessian that is known from elsewhere, such as a sample of the rows.

A pass for the slope alone takes a third of the time of one that forms the Hessian too. With a Hessian that is wrong by
a few hundredths, each such pass leaves a few hundredths of the slope, and what the passes show of the curvature on the
way (BFGS; Nocedal, Math. Comp. 35, 1980) leaves less still: so Newton's method, which follows and whose last pass must
form the Hessian for the standard errors, finds itself at the minimum. The answer is Newton's; only the way is shorter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError

from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.curvature import Curvature
from evenodds.models.glm.problem import Problem

MOST = 8  # passes
WORTH = 0.25  # of the slope: a step that leaves more is no better than Newton's would have been
MARGIN = 0.3  # of the tolerance: the next slope that is expected before the Hessian is formed


def approach(problem: Problem, begin: Floats, near: Floats) -> Floats:
    """A point near the minimum, given a Hessian of data and prior that is close to the one at the start."""
    flat = begin.ravel(order="F").copy()
    try:
        divided = Curvature(near).divide
    except LinAlgError:
        return begin
    diagonal, pairs = np.diag(near), list[tuple[Floats, Floats]]()
    problem.free = np.ones(len(flat), bool)
    cost, gradient, sums = problem.at(flat, 1, curves=False)
    slope, ratio = problem.slope(gradient, diagonal, sums.weight), WORTH
    for _ in range(MOST):
        direction = -_inverse_times(gradient, divided, pairs)
        trial = flat + direction
        if slope * ratio <= MARGIN * problem.tolerance:
            flat = trial
            break
        new_cost, new_gradient, sums = problem.at(trial, 1, curves=False)
        new_slope = problem.slope(new_gradient, diagonal, sums.weight)
        if not (new_cost <= cost + 1e-4 * float(gradient @ direction) and new_slope <= WORTH * slope):
            break
        pairs.append((direction, new_gradient - gradient))
        ratio, flat = new_slope / slope, trial
        cost, gradient, slope = new_cost, new_gradient, new_slope
    problem.free = None  # which columns may move is for the first whole Hessian to tell
    return problem.shaped(flat)


def _inverse_times(gradient: Floats, divided: Callable[[Floats], Floats], pairs: list[tuple[Floats, Floats]]) -> Floats:
    """The Hessian's inverse times the gradient, mended by the steps and the changes of slope that were seen."""
    rest, parts = gradient.copy(), []
    for step, change in reversed(pairs):
        part = float(step @ rest) / float(step @ change)
        parts.append(part)
        rest -= part * change
    found = divided(rest)
    for (step, change), part in zip(pairs, reversed(parts)):
        found += (part - float(change @ found) / float(step @ change)) * step
    return found
