"""How many pseudo-rows a prior should be worth: chosen by the data, from the tally alone.

A family that counts values is judged by leaving one row out. The row of group g and value v is predicted, from the
rest, with probability

    (n_vg - 1 + λ·m_v) / (n_g - 1 + λ)

where m_v is the pooled share without that row (or 1 per value, and λ·V below, under a flat prior). All rows of one cell
are alike, so the sum over rows is a sum over cells: closed form in the counts, no second pass. A value seen in that
row alone would be unseen without it, and carries no evidence. Other families are judged by their evidence, which is
the product of predictions in sequence, and is closed form in their tally.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evenodds.families.base import Family, Floats
from evenodds.schema import Column
from evenodds.tally import Tally

PriorKind = Literal["pooled", "flat"]
GRID = np.logspace(-3, 4, 57)  # pseudo-rows


def auto_smoothing(family: type[Family], tally: Tally, kind: PriorKind, column: Column) -> float:
    """The strength of the prior under which the rows predict each other best."""
    table = family.table(tally, column)
    if table is not None:
        scores = np.array([leave_one_out(table, strength, kind) for strength in GRID])
    elif kind == "flat":
        return 1.0  # a flat prior of rates, means and variances has no strength
    else:
        scores = np.array([_evidence(family, tally, strength, column) for strength in GRID])
    return _peak(GRID, scores)


def leave_one_out(counts: Floats, strength: float, kind: PriorKind) -> float:
    """Σ over rows of log p(value | group, the other rows), for counts (values, groups)."""
    rest, total = counts - 1, counts.sum(axis=0) - 1
    if kind == "pooled":
        values = counts.sum(axis=1, keepdims=True)
        share = (values - 1) / max(float(values.sum()) - 1, 1.0)
        top, bottom = rest + strength * share, total + strength
    else:
        top, bottom = rest + strength, total + strength * len(counts)
    used = (counts > 0) & (top > 0) & (bottom > 0)
    ratio = np.where(used, top, 1.0) / np.where(used, bottom + np.zeros_like(top), 1.0)
    return float((counts * np.log(ratio))[used].sum())


def _evidence(family: type[Family], tally: Tally, strength: float, column: Column) -> float:
    prior = family.pooled_prior(tally, strength, column)
    return float(np.sum(family.log_evidence(tally, prior))) if prior.proper else -np.inf


def _peak(grid: Floats, scores: Floats) -> float:
    """The top of the parabola through the best grid point and its neighbours, on a log scale."""
    if not np.isfinite(scores).any():
        return 1.0
    i = int(np.argmax(np.where(np.isfinite(scores), scores, -np.inf)))
    if i in (0, len(grid) - 1) or not np.isfinite(scores[i - 1 : i + 2]).all():
        return float(grid[i])
    a, b, c = scores[i - 1 : i + 2]
    bend = a - 2 * b + c
    shift = 0.5 * (a - c) / bend if bend < 0 else 0.0
    step = np.log(grid[1] / grid[0])
    return float(grid[i] * np.exp(shift * step))
