"""One fitter for every model that scores rows linearly.

    minimise   Σ_i w_i cost(y_i, x_i · b)  +  ½ (b - prior_mean)ᵀ prior_precision (b - prior_mean)

The first part is the negative log-likelihood, the second a Gaussian prior: the minimum is the MAP estimate, and with a
precision of 0 the maximum likelihood estimate. A step of Newton's needs the cost, its gradient and its Hessian at the
current coefficients, each a sum over the rows: a pass over them, in batches, wherever they are.

Three solvers. "newton" (iteratively reweighted least squares; each step halved until the cost falls), "lbfgs" where the
Hessian would be too large to hold, and "ascent", plain gradient ascent of the log-posterior, slow and for looking at.

It has converged when no column's slope is above `tolerance` times the square root of its curvature times the rows'
weight, |g_j| ≤ tolerance · sqrt(H_jj · Σw): a test that no column's unit changes. A Gaussian's target has a unit too,
in which its slopes are told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from evenodds.models.alone import alone
from evenodds.models.glm.approach import approach
from evenodds.models.glm.blocks import Floats, Rows
from evenodds.models.glm.by_slope import ascent, lbfgs
from evenodds.models.glm.losses import Loss
from evenodds.models.glm.newton import newton
from evenodds.models.glm.problem import Minimum, Prior, Problem
from evenodds.models.glm.sums import Sums

Solver = Literal["auto", "newton", "lbfgs", "ascent"]
SOLVERS: tuple[Solver, ...] = ("auto", "newton", "lbfgs", "ascent")
TOLERANCE = 1e-7
WIDEST = 2_500  # coefficients, up to which the Hessian is held


def minimise(
    loss: Loss,
    prior_mean: Any,
    prior_precision: Any,
    source: Rows,
    *,
    start: Floats | None = None,
    free: Any = None,
    solver: Solver = "auto",
    tolerance: float = TOLERANCE,
    most: int = 100,
    rate: float | None = None,
    threads: int | None = None,
    stop: Callable[[Sums, int], bool] | None = None,
    near: Floats | None = None,
    unit: float = 1.0,
) -> Minimum:
    """The coefficients of least cost, for any loss, any Gaussian prior and any source of rows.

    `free` tells which columns may leave their start, True or False a column; or it is a function that is shown the sums
    at the start and says it; the others stay. `most` is the most steps that are taken (of ascent and L-BFGS, 50 times
    as many). `stop` is asked after each Newton step whether to give up. `near` is a Hessian of data and prior that is
    close to the one at the start, if one is known: Newton's method then takes fewer passes that form it. `unit` is the
    size of an error of a score: 1 but for the Gaussian, whose errors have that of its target.

    A minimum is `converged` if its slope is within a hundred times the tolerance (of ascent, within it): where steps
    have ended because the cost no longer falls, rounding leaves no better.

    Twenty heads of thirty tosses: the log-odds are log 2.

    >>> from evenodds.models.glm.blocks import Matrix
    >>> from evenodds.models.glm.losses import Logistic
    >>> tosses = Matrix(np.ones((30, 1)), np.repeat([1.0, 0.0], [20, 10]))
    >>> found = minimise(Logistic(), 0.0, 0.0, tosses)
    >>> round(found.coefficients.item(), 6), found.converged
    (0.693147, True)
    """
    shape = (source.width,) if loss.outputs == 1 else (source.width, loss.outputs)
    size = source.width * loss.outputs
    if solver == "auto":
        solver = "newton" if size <= WIDEST else "lbfgs"
    begin = np.zeros(shape) if start is None else np.asarray(start, float).reshape(shape, copy=True)
    problem = Problem(loss, source, Prior.of(prior_mean, prior_precision, size), free, shape, tolerance, threads, unit)
    with alone():
        if solver == "newton":
            return newton(problem, begin if near is None else approach(problem, begin, near), most, stop)
        if solver == "lbfgs":
            return lbfgs(problem, begin, 50 * most)
        return ascent(problem, begin, 50 * most, rate)
