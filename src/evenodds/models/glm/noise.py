"""The variance of a linear regression's noise under a prior, which shrinks the coefficients by what the noise is."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.losses import Squared
from evenodds.models.glm.minimise import WIDEST
from evenodds.models.glm.sums import evaluate
from evenodds.models.glm.survey import Found


def noise(found: Found, rows: Any, start: Floats, mean: Floats, precision: Floats, threads: int | None = None) -> float:
    """The fixed point of: coefficients given the variance, variance given the coefficients."""
    width = found.design.width
    if width > WIDEST:
        raise DataError(f"{width:,} coefficients are too many to estimate the variance with a prior: tell variance=")
    sums = evaluate(Squared(), rows, start, 2, threads)
    assert sums.hessian is not None
    gram, slope = sums.hessian, sums.gradient
    prior = precision if precision.ndim == 2 else np.diag(precision)
    variance, count = 2 * sums.cost / max(found.survey.count, 1.0), found.survey.count
    for _ in range(1000):
        whole = gram + variance * prior
        if not np.isfinite(whole).all():
            raise DataError("the prior's precision is too large to be computed with: choose a smaller one")
        step = np.linalg.lstsq(whole, -slope - variance * prior @ (start - mean), rcond=None)[0]
        rss = 2 * sums.cost + 2 * float(slope @ step) + float(step @ gram @ step)
        known = float(np.trace(np.linalg.lstsq(whole, gram, rcond=None)[0]))
        new = max(rss, 0.0) / max(count - known, np.finfo(float).tiny)
        done = abs(new - variance) <= 1e-12 * variance
        variance = new
        if done or not variance > 0:
            break
    if not 0 < variance < np.inf:
        raise DataError("the variance of the noise cannot be estimated from so few rows: tell it with variance=")
    return float(variance)
