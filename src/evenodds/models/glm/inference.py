"""How well a regression's coefficients are known.

    covariance = dispersion · (XᵀWX + prior)⁻¹                  W the curvature of the cost in the score
    dispersion = Σ w (y - mean)² / (rows - coefficients)        of the Gaussian, as R has it; 1 for the others

The Gaussian's coefficients are judged by Student's t with rows - coefficients degrees of freedom, the others' by the
normal distribution, as in R. A weight of 2 is a row counted twice, also in the number of rows. Under a prior this is
the Laplace approximation of the posterior, and intervals are credible intervals.

Robust ("sandwich") errors hold when the variance is not what the distribution says (White 1980; MacKinnon and White
1985). With r = y - mean and h a row's leverage, the filling is Σ w x xᵀ times

    HC0  r²      HC1  r² rows / (rows - coefficients)      HC2  r² / (1 - h)      HC3  r² / (1 - h)²

Trials are rows written out: n of them with a share y of successes have Σ r² = n ((y - mean)² + y (1 - y)).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError

from evenodds.arguments import normal_width, tail_of
from evenodds.errors import DataError, remedy
from evenodds.families import Categorical, Gaussian
from evenodds.families.leaves import check_weights
from evenodds.logs import log_sum
from evenodds.models.glm.blocks import Block, Floats, Rows, Tile, summed
from evenodds.models.glm.curvature import Curvature
from evenodds.models.glm.losses import Loss
from evenodds.models.glm.scoring import targets
from evenodds.models.glm.separated import EITHER
from evenodds.models.glm.sums import Grams, whole
from evenodds.show import Figure, Frame, free

if TYPE_CHECKING:
    from evenodds.models.glm.regression import Regression, Residual
    from evenodds.models.glm.settings import Errors


FLAT = 2.0**-52  # of the reciprocal condition of a curvature: of its inverse no digit is known


def inverse(hessian: Floats, free: Any) -> Floats:
    """The inverse of the curvature among the free coefficients; NaN for the others, and where it is flat."""
    at = np.flatnonzero(free)
    whole = np.full(hessian.shape, np.nan)
    with contextlib.suppress(LinAlgError), np.errstate(over="ignore"):
        curvature = Curvature(hessian[np.ix_(at, at)])
        if curvature.condition > FLAT:
            whole[np.ix_(at, at)] = np.where(np.isfinite(curvature.inverse), curvature.inverse, np.nan)
    return whole


def sandwich(
    bread: Floats, rows: Rows, loss: Loss, b: Floats, kind: Errors, count: float, rank: int, threads: int | None = None
) -> Floats:
    """The robust covariance of `count` rows, trials written out, given the inverse curvature and one more pass."""
    known = np.nan_to_num(bread)

    def work(block: Block) -> Floats:
        grams = Grams(block.width, loss.outputs)
        for tile in block.tiles():
            _, first, second = loss.slopes(tile.score(b), tile.y)
            weights = np.ones(len(tile.y)) if tile.weights is None else tile.weights
            if first.ndim == 2:
                grams.add(tile, (weights * first[:, k] * first[:, m] for k, m in grams.pairs))
                continue
            squares = first * first + loss.spread(tile.y)
            if kind in ("HC2", "HC3"):
                rest = 1 - second * tile.quadratic(known)
                beyond = np.flatnonzero((rest < 0) & (weights < 1))
                if len(beyond):
                    raise DataError(
                        f"errors={kind!r}: a row of weight {weights[beyond[0]]:.2g} has a leverage above 1, which no "
                        "whole row has; give weights of 1 or more, or " + remedy("errors='HC1'", "--errors HC1")
                    )
                rest = np.maximum(rest, 1e-12)
                squares = squares / (rest if kind == "HC2" else rest * rest)
            grams.add(tile, [weights * squares])
        return grams.lower

    filling = whole(summed(rows, work, threads), loss.outputs)
    if kind == "HC1":
        filling *= count / max(count - rank, 1.0)
    return np.where(np.isnan(bread), np.nan, moved(filling, known))


def moved(covariance: Floats, matrix: Floats) -> Floats:
    """matrix · covariance · matrixᵀ, symmetric; a variance below 0 is rounding, of rows that fit all but exactly."""
    found: Floats = matrix @ covariance @ matrix.T
    found = (found + found.T) / 2
    np.fill_diagonal(found, np.maximum(np.diag(found), 0.0))
    return found


def log_odds(tile: Tile, score: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Of each class log p / (1 - p), and its variance by the delta method; 1 - p is nowhere formed.

    rest_c = log Σ_{j≠c} e^s_j        log-odds s_c - rest_c        its slope in s_k: 1 for k = c, else -e^(s_k - rest_c)
    """
    rows, outputs = score.shape
    scores, width = np.column_stack([np.zeros(rows), score]), tile.width
    odds, slopes = np.empty(scores.shape), np.empty((*scores.shape, outputs))
    for c in range(outputs + 1):
        others = np.delete(scores, c, axis=1)
        rest = log_sum(others)
        odds[:, c] = scores[:, c] - rest
        away = score - rest[:, None]
        away[:, c - 1 : c] = 0.0  # of its own score, of which the first class has none
        slopes[:, c] = -np.exp(away)
        slopes[:, c, c - 1 : c] = 1.0
    variance = np.zeros(scores.shape)
    pairs = [(k, m) for k in range(outputs) for m in range(k + 1)]
    parts = (covariance[k * width : (k + 1) * width, m * width : (m + 1) * width] for k, m in pairs)
    for (k, m), both in zip(pairs, tile.quadratics(parts)):
        variance += (1 if k == m else 2) * both[:, None] * slopes[:, :, k] * slopes[:, :, m]
    return odds, variance


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
    from scipy.special import stdtrit

    if not uses_t(model):
        return normal_width(level)
    tail = tail_of(level)
    return -float(stdtrit(model.totals.spare, tail)) if model.totals.spare > 0 else np.nan


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
    target = free(str(model.schema.target), ("coefficient", "estimate", "error", judge, "p", "low", "high"))
    rows: list[dict[str, Any]] = []
    for k in range(outputs):
        for j in model.design.shown(model.schema):
            row: dict[str, Any] = {} if outputs == 1 else {target: str(model.classes[k + 1])}
            row["coefficient"] = model.names[j]
            b, s = float(estimate[j, k]), float(error[j, k])
            if j in model.left_out:
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
    """Of each row, as R defines them for a generalised linear model; of trials y is the share, weights their number."""
    if model.family is Categorical:
        raise DataError("residuals of classes: use predict_proba")
    score, loss = model.score(x, offset, exposure), model.loss
    target, w = targets(model, y, len(score)), check_weights(weights, len(score))
    mean, w = loss.mean(score), np.ones(len(score)) if w is None else w
    costs, first, second = loss.slopes(score, target)
    if kind == "response":
        return target - mean
    if kind == "working":
        return -first / second
    if kind == "pearson":
        with np.errstate(divide="ignore", invalid="ignore"):  # what is certain, and so, varies as little as it is off
            return np.where(first == 0, 0.0, -first * np.sqrt(w / second))
    if kind == "deviance":
        away = 2 * w * np.maximum(costs - loss.least(target), 0.0)
        return np.sign(target - mean) * np.sqrt(away)
    raise ValueError(f"kind={kind!r}: expected 'response', 'pearson', 'deviance' or 'working'")
