"""How well a regression's coefficients are known.

    covariance = dispersion · (XᵀWX + prior)⁻¹                  W the curvature of the cost in the score
    dispersion = Σ w (y - mean)² / (rows - coefficients)        of the Gaussian, as R has it; 1 for the others

The Gaussian's coefficients are judged by Student's t with rows - coefficients degrees of freedom, the others' by the
normal distribution, as in R. A weight of 2 is a row counted twice, also in the number of rows. Under a prior this is
the Laplace approximation of the posterior, and intervals are credible intervals.

Robust ("sandwich") errors hold when the variance is not what the distribution says (White 1980; MacKinnon and White
1985). With r = y - mean and h a row's leverage, the filling is Σ w x xᵀ times

    HC0  r²      HC1  r² rows / (rows - coefficients)      HC2  r² / (1 - h)      HC3  r² / (1 - h)²
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from evenodds.errors import DataError
from evenodds.families import Bernoulli, Categorical, Gaussian
from evenodds.models.glm.blocks import Block, Floats, Gram, Rows, summed
from evenodds.models.glm.losses import Loss
from evenodds.models.glm.separated import EITHER
from evenodds.models.glm.sums import assembled, whole
from evenodds.show import Figure, Frame

if TYPE_CHECKING:
    from evenodds.models.glm.regression import Regression, Residual
    from evenodds.models.glm.settings import Errors


def inverse(hessian: Floats, free: Any) -> Floats:
    """The inverse of the curvature among the free coefficients; NaN for the others, and where it is flat."""
    at = np.flatnonzero(free)
    whole = np.full(hessian.shape, np.nan)
    part = hessian[np.ix_(at, at)]
    diagonal = np.diag(part)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    try:
        factor = cho_factor(part * scale * scale[:, None], lower=True)
        found = cho_solve(factor, np.eye(len(at)))
    except LinAlgError:
        return whole
    whole[np.ix_(at, at)] = (found + found.T) / 2 * scale * scale[:, None]
    return whole


def sandwich(
    bread: Floats, rows: Rows, loss: Loss, b: Floats, kind: Errors, count: float, rank: int, threads: int | None = None
) -> Floats:
    """The robust covariance, given the inverse curvature and one more pass."""
    known = np.nan_to_num(bread)

    def work(block: Block) -> Floats:
        outputs = loss.outputs
        pairs = [(k, m) for k in range(outputs) for m in range(k + 1)]
        grams = [Gram(block.width) for _ in pairs]
        for tile in block.tiles():
            _, first, second = loss.slopes(tile.score(b), tile.y)
            weights = np.ones(len(tile.y)) if tile.weights is None else tile.weights
            if first.ndim == 2:
                for (k, m), gram in zip(pairs, grams):
                    gram.add(tile, weights * first[:, k] * first[:, m])
                continue
            squares = first * first
            if kind in ("HC2", "HC3"):
                rest = np.maximum(1 - second * tile.quadratic(known), 1e-12)
                squares = squares / (rest if kind == "HC2" else rest * rest)
            grams[0].add(tile, weights * squares)
        return assembled(pairs, grams, block.width, outputs)

    filling = whole(summed(rows, work, threads), loss.outputs)
    if kind == "HC1":
        filling *= count / max(count - rank, 1.0)
    found = known @ filling @ known
    return np.where(np.isnan(bread), np.nan, (found + found.T) / 2)


def covariance(model: Regression) -> Floats | None:
    """The covariance of the coefficients of the columns as they came; NaN where one is dropped or infinite."""
    inside = model.covariance
    if inside is None:
        return None
    width, outputs = model.design.width, model.loss.outputs
    unknown = np.isnan(np.diag(inside))
    known = np.where(np.isnan(inside), 0.0, inside)
    out = np.empty_like(known)
    for k in range(outputs):
        for m in range(outputs):
            at = np.s_[k * width : (k + 1) * width, m * width : (m + 1) * width]
            out[at] = model.design.unscaled(model.design.unscaled(known[at]).T).T
    unknown |= model.infinite.astype(bool) if model.infinite.size else False
    out[unknown], out[:, unknown] = np.nan, np.nan
    return out


def precision(model: Regression) -> Floats:
    """The inverse of the coefficients' covariance, 0 for those that are not known."""
    found = covariance(model)
    if found is None:
        raise DataError("the standard errors were not formed, the design being too wide: there is no posterior")
    known = np.flatnonzero(~np.isnan(np.diag(found)))
    out = np.zeros_like(found)
    part = np.linalg.inv(found[np.ix_(known, known)])
    out[np.ix_(known, known)] = (part + part.T) / 2
    return out


def standard_errors(model: Regression) -> Floats:
    """Of each coefficient, in the shape of the coefficients; NaN where there is none."""
    found = covariance(model)
    if found is None:
        return np.full(model.coefficients.shape, np.nan)
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.diag(found))
    return errors.reshape(model.coefficients.shape, order="F")


def uses_t(model: Regression) -> bool:
    """Whether Student's t is the judge: the Gaussian's, its variance estimated and no prior."""
    settings = model.settings
    return settings.family is Gaussian and settings.variance is None and settings.prior is None


def quantile(model: Regression, level: float) -> float:
    """How many standard errors to either side an interval reaches."""
    from scipy.special import ndtri, stdtrit

    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: expected a probability, such as 0.95")
    tail = 0.5 + level / 2
    if uses_t(model):
        return float(stdtrit(model.totals.spare, tail)) if model.totals.spare > 0 else np.nan
    return float(ndtri(tail))


def p_values(model: Regression, ratio: Floats) -> Floats:
    """The probability of a coefficient as far from 0 as this, if it were 0: both tails."""
    from scipy.special import ndtr, stdtr

    if uses_t(model):
        if model.totals.spare <= 0:
            return np.full(ratio.shape, np.nan)
        return np.asarray(2 * stdtr(model.totals.spare, -np.abs(ratio)))
    return np.asarray(2 * ndtr(-np.abs(ratio)))


def table(model: Regression, level: float = 0.95) -> Frame:
    """One row a coefficient, in the order of the table's columns; class after class."""
    errors, wide = standard_errors(model), quantile(model, level)
    outputs, judge = model.loss.outputs, "t" if uses_t(model) else "z"
    estimate = model.coefficients.reshape(model.design.width, outputs)
    error = errors.reshape(model.design.width, outputs)
    infinite = model.infinite.reshape(model.design.width, outputs, order="F") if model.infinite.size else None
    rows: list[dict[str, Any]] = []
    for k in range(outputs):
        for j in model.design.shown(model.schema):
            row: dict[str, Any] = {} if outputs == 1 else {str(model.schema.target): str(model.classes[k + 1])}
            row["coefficient"] = model.names[j]
            b, s = float(estimate[j, k]), float(error[j, k])
            if model.names[j] in model.dropped:
                rows.append({**row, "estimate": None, "error": None, judge: None, "p": None, "low": None, "high": None})
                continue
            if infinite is not None and infinite[j, k]:
                b, s = float(np.inf * infinite[j, k]), np.nan
                if infinite[j, k] == EITHER:
                    b = Figure(np.nan, "±inf")
            ratio = b / s if s > 0 else np.nan
            p = float(p_values(model, np.array([ratio]))[0])
            low, high = b - wide * s, b + wide * s
            shown = {"estimate": b, "error": s, judge: ratio, "p": p, "low": low, "high": high}
            rows.append(
                {
                    **row,
                    **{
                        name: value if isinstance(value, Figure) or value == value else None
                        for name, value in shown.items()
                    },
                }
            )
    return Frame(rows)


def residuals(
    model: Regression, x: Any, y: Any, kind: Residual, offset: Any = None, exposure: Any = None, weights: Any = None
) -> Floats:
    """Of each row, as R defines them for a generalised linear model."""
    if model.family is Categorical:
        raise DataError("residuals of classes: use predict_proba")
    score, loss = model.score(x, offset, exposure), model.loss
    if model.family is Bernoulli and model.classes:
        target = np.asarray([model.classes.index(value) for value in np.asarray(y).tolist()], float)
    else:
        target = np.asarray(y, float)
    mean = loss.mean(score)
    w = np.ones(len(target)) if weights is None else np.asarray(weights, float)
    costs, first, second = loss.slopes(score, target)
    if kind == "response":
        return target - mean
    if kind == "working":
        return -first / second
    if kind == "pearson":
        return -first * np.sqrt(w / second)
    if kind == "deviance":
        away = 2 * w * np.maximum(costs - loss.least(target), 0.0)
        return np.sign(target - mean) * np.sqrt(away)
    raise ValueError(f"kind={kind!r}: expected 'response', 'pearson', 'deviance' or 'working'")
