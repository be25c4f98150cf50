"""Sums over all points at all places, by their definition: what the fast ones are held against, and right for a few."""

from __future__ import annotations

import numpy as np

from evenodds.families.density.shapes import Bell, Shape
from evenodds.families.leaves import Floats
from evenodds.families.normal_gamma import LOG_2PI
from evenodds.labels import Ints
from evenodds.logs import log_sum


def _apart(x: Floats, h: float, at: Floats) -> Floats:
    with np.errstate(over="ignore"):  # endlessly far apart is far enough
        return np.asarray((at[:, None] - x) / h)


def values(shape: Shape | Bell, x: Floats, weights: Floats, h: float, at: Floats) -> Floats:
    """Σ_i w_i K((at - x_i)/h)."""
    return np.asarray((weights * shape.at(_apart(x, h, at))).sum(axis=1))


def masses(shape: Shape | Bell, x: Floats, weights: Floats, h: float, at: Floats) -> Floats:
    """Σ_i w_i ∫ K up to (at - x_i)/h."""
    return np.asarray((weights * shape.cdf(_apart(x, h, at))).sum(axis=1))


def logs(shape: Shape | Bell, x: Floats, weights: Floats, h: float, at: Floats, own: Ints, less: Floats) -> Floats:
    """log Σ_i w_i K((at - x_i)/h), of which less[q] of the weight of the point own[q] is left out."""
    each = np.broadcast_to(weights, (len(at), len(x))).copy()
    mine = np.flatnonzero(own >= 0)
    each[mine, own[mine]] -= less[mine]
    u = _apart(x, h, at)
    with np.errstate(divide="ignore", over="ignore"):
        if isinstance(shape, Shape):
            return np.asarray(np.log((each * shape.at(u)).sum(axis=1)))
        terms = np.log(np.maximum(each, 0.0)) - 0.5 * u * u
        return log_sum(terms) - 0.5 * LOG_2PI
