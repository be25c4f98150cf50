"""Fitting the Gaussian: least squares by QR, or by the Gram where that pays or a prior is told."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenodds.errors import DataError, remedy
from evenodds.models.glm.aliases import Independent
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.inference import moved, sandwich
from evenodds.models.glm.least_squares import LeastSquares, least_squares
from evenodds.models.glm.minimise import WIDEST
from evenodds.models.glm.newton import propped
from evenodds.models.glm.prior import GaussianPrior
from evenodds.models.glm.problem import Minimum, Prior, Step
from evenodds.models.glm.sums import Sums, evaluate
from evenodds.models.glm.task import Fitted, Task

QR_WORK = 4e11  # multiplications of a QR factorisation, above which the Gram is used


def qr_pays(task: Task) -> bool:
    """Whether least squares is for the triangle of the rows."""
    how, work = task.settings, 2.0 * task.found.survey.rows * task.design.width**2
    # what is on other machines is not brought here, so the Gram is taken
    here = not task.rows.sparse and not task.rows.far
    return how.prior is None and how.solver == "auto" and here and work <= QR_WORK


def by_qr(task: Task) -> Fitted:
    """Least squares through the triangle of the columns as they came."""
    centred, task = task, task.within(task.design.plain)
    rows, design, columns = task.rows, task.design, task.independent()

    def blocks() -> Iterator[tuple[Floats, Floats, Floats | None]]:
        for shard in rows.shards():
            for tile in rows.block(shard).tiles():
                x = tile.columns()
                x = x if isinstance(x, np.ndarray) else x.toarray()
                yield np.ascontiguousarray(x), tile.y if tile.offset is None else tile.y - tile.offset, tile.weights

    fit = least_squares(blocks, design.names, 0 if design.intercept else None, task.threads)
    columns.aliases = fit.collinear
    solver = f"least squares by QR{', refined in double-doubles' if fit.refined else ''}"
    sums = Sums(fit.rss / 2, np.zeros(design.width), None, fit.weight, fit.rss, 0.0)
    minimum = Minimum(fit.coefficients, sums, None, True, solver, (Step(1, fit.rss / 2, 0.0, 1.0),))
    return Fitted(task, minimum, columns, _variance(task, fit.rss, fit.rank), fit.covariance, _robust(centred, fit))


def _robust(task: Task, fit: LeastSquares) -> Floats | None:
    """The sandwich of the columns as they came, summed in the centred ones: squares of a column far from zero would
    leave no digit of an interval.
    """
    errors, design = task.settings.errors, task.design
    if errors == "model":
        return None
    root = np.linalg.solve(design.matrix, fit.root)
    inside = sandwich(
        root @ root.T, task.rows, task.loss, design.scaled(fit.coefficients), errors,
        task.found.survey.weight, fit.rank, task.threads,
    )  # fmt: skip
    return np.where(np.isnan(fit.covariance), np.nan, moved(inside, design.matrix))


def by_gram(task: Task) -> Fitted:
    """Perhaps with a prior; the noise's variance is found with the coefficients.

    Under a prior the divisor is rows less the coefficients that the data determine, Σ of how much of each one's
    precision comes from them (MacKay 1992): without a prior, rows less coefficients.
    """
    prior, variance, start = task.prior, task.settings.variance, task.start
    columns = task.independent()
    if isinstance(task.settings.prior, GaussianPrior):
        if variance is None:
            variance, start = _noise(task, columns)
        prior = Prior(prior.mean, prior.precision * variance)
    found = task.solver(prior)(start=start, free=columns, most=task.settings.max_iter)
    found = task.with_hessian(found, prior, columns)
    if variance is None:
        variance = _variance(task, 2 * found.sums.cost, int(columns.free.sum()))
    return Fitted(task, found, columns, variance)


def _variance(task: Task, rss: float, rank: int) -> float:
    """The noise's: as told, or Σ w (y - mean)² / (rows - coefficients)."""
    if task.settings.variance is not None:
        return task.settings.variance
    spare = task.found.survey.count - rank
    return rss / spare if spare > 0 else np.nan


def _noise(task: Task, columns: Independent) -> tuple[float, Floats]:
    """The variance under a prior, by which the prior shrinks the coefficients, and these: each given the other, until
    neither changes.
    """
    width, start, count = task.design.width, task.start, task.found.survey.count
    if width > WIDEST:
        raise DataError(
            f"{width:,} coefficients are too many to estimate the variance with a prior: "
            + remedy("tell variance=", "leave --prior out")
        )
    sums = evaluate(task.loss, task.rows, start, 2, task.threads)
    assert sums.hessian is not None
    at = np.flatnonzero(columns(sums))
    gram, slope, away = sums.hessian[np.ix_(at, at)], sums.gradient[at], (start - task.prior.mean)[at]
    precision = task.prior.plus(np.zeros_like(sums.hessian))[np.ix_(at, at)]
    variance, found = 2 * sums.cost / max(count, 1.0), start.copy()
    for _ in range(1000):
        if not np.isfinite(variance * precision).all():
            raise DataError("the prior's precision is too large to be computed with: choose a smaller one")
        whole = propped(gram + variance * precision)
        step = -whole.divide(slope + variance * precision @ away)
        rss = 2 * sums.cost + 2 * float(slope @ step) + float(step @ gram @ step)
        known = float((whole.inverse * gram).sum())  # the trace of their product
        new = max(rss, 0.0) / max(count - known, np.finfo(float).tiny)
        done = abs(new - variance) <= 1e-12 * variance
        variance, found[at] = new, start[at] + step
        if done or not variance > 0:
            break
    if not 0 < variance < np.inf:
        raise DataError(
            "the variance of the noise cannot be estimated from so few rows: "
            + remedy("tell it with variance=", "give more of them, or leave --prior out")
        )
    return float(variance), found
