"""One fitter for every model that scores rows linearly.

    minimise   Σ_i w_i cost(y_i, x_i · b)  +  ½ (b - prior_mean)ᵀ prior_precision (b - prior_mean)

The first part is the negative log-likelihood, the second a Gaussian prior: the minimum is the MAP estimate, and with a
precision of 0 the maximum likelihood estimate. A step of Newton's needs the cost, its gradient and its Hessian at the
current coefficients, each a sum over the rows: a pass over them, in batches, wherever they are.

Three solvers. "newton" (iteratively reweighted least squares; each step halved until the cost falls), "lbfgs" where the
Hessian would be too large to hold, and "ascent", plain gradient ascent of the log-posterior, slow and for looking at.

It has converged when no column's slope is above `tolerance` times the square root of its curvature times the rows'
weight, |g_j| ≤ tolerance · sqrt(H_jj · Σw): a test that no column's unit changes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from evenodds.models.alone import alone
from evenodds.models.glm.blocks import Block, Floats, Gram, Rows, passed
from evenodds.models.glm.losses import Loss

Solver = Literal["auto", "newton", "lbfgs", "ascent"]
SOLVERS: tuple[Solver, ...] = ("auto", "newton", "lbfgs", "ascent")
TOLERANCE = 1e-7
WIDEST = 2_500  # coefficients, up to which the Hessian is held
HALVINGS = 40
ROUNDING = 1e-13  # of the cost: a rise below it is none


@dataclass(frozen=True)
class Step:
    """One step of a solver, for people to look at."""

    number: int
    cost: float  # before the step
    slope: float  # the convergence test: the largest |g_j| / sqrt(H_jj Σw)
    length: float  # the part of the full step that was taken


@dataclass(frozen=True, eq=False)
class Sums:
    """What one pass finds at some coefficients."""

    cost: float
    gradient: Floats
    hessian: Floats | None  # or its diagonal, where the matrix is not wanted
    weight: float  # Σ w
    pearson: float  # Σ w (y - mean)² / variance of the output
    largest: float  # |score| of all rows

    def __add__(self, other: Sums) -> Sums:
        hessian = None if self.hessian is None or other.hessian is None else self.hessian + other.hessian
        return Sums(
            self.cost + other.cost,
            self.gradient + other.gradient,
            hessian,
            self.weight + other.weight,
            self.pearson + other.pearson,
            max(self.largest, other.largest),
        )


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where the cost is least, what it is there, and how it was found."""

    coefficients: Floats  # (columns,), or (columns, outputs)
    sums: Sums  # of the data alone, at the coefficients
    hessian: Floats | None  # of data and prior, (n, n); None where it was not formed
    converged: bool
    solver: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Prior:
    """A Gaussian over all coefficients, in one vector."""

    mean: Floats  # (n,)
    precision: Floats  # (n, n), or its diagonal (n,)

    @staticmethod
    def of(mean: Any, precision: Any, size: int) -> Prior:
        """From numbers, vectors or a matrix."""
        whole = np.broadcast_to(np.asarray(mean, float).ravel(order="F"), (size,)) if np.ndim(mean) else mean
        matrix = np.asarray(precision, float)
        if matrix.ndim == 2 and matrix.shape != (size, size):
            matrix = matrix.ravel(order="F")
        if matrix.ndim < 2:
            matrix = np.broadcast_to(matrix, (size,))
        return Prior(np.broadcast_to(np.asarray(whole, float), (size,)), matrix)

    def pull(self, b: Floats) -> Floats:
        """precision (b - mean): the slope."""
        away = b - self.mean
        return self.precision @ away if self.precision.ndim == 2 else self.precision * away

    def cost(self, b: Floats) -> float:
        """½ (b - mean)ᵀ precision (b - mean)."""
        return 0.5 * float((b - self.mean) @ self.pull(b))

    @property
    def diagonal(self) -> Floats:
        """Of the precision."""
        return np.diag(self.precision) if self.precision.ndim == 2 else self.precision

    def plus(self, hessian: Floats) -> Floats:
        """The Hessian of data and prior."""
        return hessian + (self.precision if self.precision.ndim == 2 else np.diag(self.precision))


def evaluate(loss: Loss, rows: Rows, coefficients: Floats, order: int = 2, threads: int | None = None) -> Sums:
    """One pass: the cost (order 0), its gradient (1) and its Hessian (2; of order 1 the Hessian's diagonal)."""
    found = list(passed(rows, functools.partial(_sums, loss, coefficients, order), threads))
    if not found:
        raise ValueError("there are no rows")
    return functools.reduce(Sums.__add__, found)


def _sums(loss: Loss, b: Floats, order: int, block: Block) -> Sums:
    """What a block adds. Softmax coefficients are taken class by class: those of class 1 first."""
    cost = weight = pearson = largest = 0.0
    gradient = np.zeros_like(b)
    outputs = 1 if b.ndim == 1 else b.shape[1]
    pairs = [(k, m) for k in range(outputs) for m in range(k + 1)]
    grams = [Gram(block.width) for _ in pairs] if order == 2 else []
    curves = np.zeros_like(b)
    for tile in block.tiles():
        w = tile.weights
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # an infinite cost is a step too far
            score = tile.score(b)
            costs, first, second = loss.slopes(score, tile.y)
            pearson += _pearson(first, second, tile.y, loss, w, score)
            if w is not None:
                costs, first = costs * w, (first.T * w).T
                second = (second.T * w).T
            cost += float(costs.sum())
        weight += float(len(costs) if w is None else w.sum())
        largest = max(largest, float(np.abs(score).max(initial=0.0)))
        if not np.isfinite(cost):
            return Sums(np.inf, gradient, np.zeros((b.size, b.size)) if order == 2 else None, weight, np.nan, largest)
        if order:
            gradient += tile.pull(first)
        if order == 2:
            for (k, m), gram in zip(pairs, grams):
                gram.add(tile, second if b.ndim == 1 else np.ascontiguousarray(second[:, k, m]))
        elif order == 1:
            curves += tile.squares(second if b.ndim == 1 else np.einsum("ikk->ik", second))
    hessian: Floats | None = None
    if order == 2:
        hessian = _assembled(pairs, grams, block.width, outputs)
    elif order == 1:
        hessian = curves
    return Sums(cost, gradient, hessian, weight, pearson, largest)


def _pearson(first: Floats, second: Floats, y: Any, loss: Loss, w: Floats | None, score: Floats) -> float:
    """Σ w (y - mean)² / variance; of classes, that of each class's share."""
    if first.ndim == 2:
        p = loss.mean(score)
        hit = np.take_along_axis(p, np.asarray(y, np.int64)[:, None], axis=1)[:, 0]
        terms = 1.0 / hit - 1.0
    else:
        terms = np.where(first == 0, 0.0, first * first / second)
    return float(terms.sum() if w is None else (terms * w).sum())


def _assembled(pairs: list[tuple[int, int]], grams: list[Gram], width: int, outputs: int) -> Floats:
    """The Hessian of all outputs' coefficients from that of each pair of outputs."""
    hessian = np.empty((width * outputs, width * outputs))
    for (k, m), gram in zip(pairs, grams):
        part = gram.total()
        hessian[k * width : (k + 1) * width, m * width : (m + 1) * width] = part
        hessian[m * width : (m + 1) * width, k * width : (k + 1) * width] = part
    return hessian


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
) -> Minimum:
    """The coefficients of least cost, for any loss, any Gaussian prior and any source of rows.

    `free` tells which columns may leave their start, True or False a column; or it is a function that is shown the sums
    at the start and says it; the others stay. `most` is the most steps that are taken (of ascent and L-BFGS, 50 times
    as many). `stop` is asked after each Newton step whether to give up.

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
    problem = _Problem(loss, source, Prior.of(prior_mean, prior_precision, size), free, shape, tolerance, threads)
    with alone():
        if solver == "newton":
            return _newton(problem, begin, most, stop)
        if solver == "lbfgs":
            return _lbfgs(problem, begin, 50 * most)
        return _ascent(problem, begin, 50 * most, rate)


@dataclass(eq=False)
class _Problem:
    """What is minimised, and which coefficients may move."""

    loss: Loss
    source: Rows
    prior: Prior
    told: Any
    shape: tuple[int, ...]
    tolerance: float
    threads: int | None
    free: Any = None  # (n,), known from the first pass on

    def at(self, flat: Floats, order: int) -> tuple[float, Floats, Sums]:
        """The cost of data and prior, its gradient, and the data's sums."""
        sums = evaluate(self.loss, self.source, self.shaped(flat), order, self.threads)
        gradient = sums.gradient.ravel(order="F") + self.prior.pull(flat)
        if self.free is None:
            columns = self.told(sums) if callable(self.told) else self.told
            columns = np.ones(self.source.width, bool) if columns is None else np.asarray(columns, bool)
            self.free = np.tile(columns, self.loss.outputs)
        return sums.cost + self.prior.cost(flat), np.where(self.free, gradient, 0.0), sums

    def shaped(self, flat: Floats) -> Floats:
        """The coefficients as the design multiplies with them."""
        return flat.reshape(self.shape, order="F")

    def slope(self, gradient: Floats, diagonal: Floats, weight: float) -> float:
        """The convergence test: the largest |g_j| / sqrt(H_jj Σw)."""
        moving = self.free & (gradient != 0)
        if not moving.any():
            return 0.0
        room = np.sqrt(np.maximum(diagonal[moving], np.finfo(float).tiny) * max(weight, np.finfo(float).tiny))
        return float((np.abs(gradient[moving]) / room).max())


def _newton(problem: _Problem, begin: Floats, most: int, stop: Callable[[Sums, int], bool] | None) -> Minimum:
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
        direction = -_solve(hessian, gradient, problem.free)
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
    assert sums.hessian is not None
    hessian = problem.prior.plus(sums.hessian)
    slope = problem.slope(gradient, np.diag(hessian), sums.weight)
    steps.append(Step(len(steps) + 1, cost, slope, 0.0))
    done = slope <= 1e2 * problem.tolerance
    if slope <= problem.tolerance:  # one step more costs no pass, and squares what error is left
        flat = flat - _solve(hessian, gradient, problem.free)
    return Minimum(problem.shaped(flat), sums, hessian, done, "newton", tuple(steps))


def _solve(hessian: Floats, gradient: Floats, free: Any) -> Floats:
    """The Newton direction among the free coefficients; the curvature is scaled, and propped up where it is flat."""
    at = np.flatnonzero(free)
    direction = np.zeros(len(gradient))
    if not len(at):
        return direction
    part = hessian if len(at) == len(free) else hessian[np.ix_(at, at)]
    diagonal = np.diag(part)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = part * scale * scale[:, None]
    prop = 0.0
    while True:
        try:
            factor = cho_factor(scaled + prop * np.eye(len(at)), lower=True)
            direction[at] = scale * cho_solve(factor, scale * gradient[at])
            return direction
        except LinAlgError:
            prop = max(10 * prop, 1e-12)


def _lbfgs(problem: _Problem, begin: Floats, most: int) -> Minimum:
    """L-BFGS (Liu and Nocedal 1989), each coefficient scaled by the curvature at the start."""
    from scipy.optimize import minimize

    flat = begin.ravel(order="F").copy()
    cost, gradient, sums = problem.at(flat, 1)
    diagonal = (
        sums.hessian.ravel(order="F") + problem.prior.diagonal if sums.hessian is not None else np.ones(len(flat))
    )
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    steps = [Step(1, cost, problem.slope(gradient, diagonal, sums.weight), 1.0)]
    last: dict[str, Any] = {}

    def function(x: Floats) -> tuple[float, Floats]:
        value, slope, found = problem.at(flat + scale * x, 1)
        last.update(x=x.copy(), value=value, slope=slope, sums=found)
        return value, scale * slope

    def look(x: Floats) -> None:
        curves = last["sums"].hessian.ravel(order="F") + problem.prior.diagonal
        slope = problem.slope(last["slope"], curves, sums.weight)
        steps.append(Step(len(steps) + 1, last["value"], slope, 1.0))
        if slope <= problem.tolerance:
            raise StopIteration

    options = {"maxiter": most, "maxfun": 2 * most, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}
    found = minimize(function, np.zeros(len(flat)), jac=True, method="L-BFGS-B", callback=look, options=options)
    flat = flat + scale * found.x
    cost, gradient, sums = problem.at(flat, 1)
    curves = sums.hessian.ravel(order="F") + problem.prior.diagonal if sums.hessian is not None else diagonal
    slope = problem.slope(gradient, curves, sums.weight)
    steps.append(Step(len(steps) + 1, cost, slope, 0.0))
    return Minimum(problem.shaped(flat), sums, None, slope <= 1e2 * problem.tolerance, "lbfgs", tuple(steps))


def _ascent(problem: _Problem, begin: Floats, most: int, rate: float | None) -> Minimum:
    """b += rate · gradient of the log-posterior; without a rate, the largest that keeps it rising.

    A rate that overshoots is halved, and one that does not grows by a tenth: every step is kept, to be looked at.
    """
    flat = begin.ravel(order="F").copy()
    cost, gradient, sums = problem.at(flat, 1)
    steps: list[Step] = []
    assert sums.hessian is not None
    curves = sums.hessian.ravel(order="F") + problem.prior.diagonal
    length = 1.0 / max(float(curves.sum()), np.finfo(float).tiny) if rate is None else rate
    while True:
        slope = problem.slope(gradient, curves, sums.weight)
        if slope <= problem.tolerance or len(steps) >= most:
            break
        new = problem.at(flat - length * gradient, 1)
        if rate is None:
            tries = 0
            while new[0] > cost and tries < HALVINGS:
                length, tries = length / 2, tries + 1
                new = problem.at(flat - length * gradient, 1)
        steps.append(Step(len(steps) + 1, cost, slope, length))
        flat = flat - length * gradient
        if rate is None:
            length *= 1.1
        cost, gradient, sums = new
        if not np.isfinite(cost):
            raise ValueError(f"gradient ascent left all bounds at step {len(steps)}: take a smaller rate than {rate:g}")
        assert sums.hessian is not None
        curves = sums.hessian.ravel(order="F") + problem.prior.diagonal
    steps.append(Step(len(steps) + 1, cost, slope, 0.0))
    return Minimum(problem.shaped(flat), sums, None, slope <= problem.tolerance, "ascent", tuple(steps))
