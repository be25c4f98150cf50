"""What each column is modelled as, chosen by how well the rows' classes are told, each row left out in turn.

    Σ_i -log p(c_i | x_i, the other rows)      of the whole model, tempered

Not by how probable the column's values are: a density may fit well and say nothing of the class. Starting from the
defaults, one column at a time is exchanged for the alternative that lowers this log loss most, or left out, until none
lowers it by more than chance might. All alternatives are in one tally of one pass (`widened`), and the chosen model's
is picked out of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from evenodds.models.alone import alone
from evenodds.models.alternatives import alternatives, narrow, smoothed, widened
from evenodds.models.descent import Descent
from evenodds.models.left_out import Learnt, tempered
from evenodds.models.naive_bayes import Model
from evenodds.show import Frame

__all__ = ["Tuned", "tune", "widened"]

ROWS = 20_000  # that are left out to choose by
NUMBERS = 1 << 25  # of all alternatives' evidence that are held


class Tuned(NamedTuple):
    """The model of what was chosen, tempered; and what was tried."""

    model: Model
    record: Frame


def tune(wide: Model, learnt: Sequence[Learnt], threads: int | None = None, told: Collection[str] = ()) -> Tuned:
    """The best model in a wide one, by rows that it has learnt."""
    every = alternatives(wide, told)
    rows = _sampled(learnt, NUMBERS // (sum(map(len, every.values())) * len(wide.classes)))
    with alone():
        descent = Descent(wide, every, rows, threads)
        descent.run()
        for name, one in descent.chosen.items():
            descent.add(name, smoothed(wide, name, one))
        descent.run()
        model = tempered(narrow(wide, descent.chosen), learnt, threads)
        return Tuned(model, descent.record())


def _sampled(learnt: Sequence[Learnt], most: int) -> list[Learnt]:
    """The same rows, or a part of them if they are too many: by chance, for rows may come in some order."""
    share = max(1, min(ROWS, most)) / max(1, sum(part.rows.rows for part in learnt))
    if share >= 1:
        return list(learnt)
    found, rng = [], np.random.default_rng(0)
    for part in learnt:
        some = np.flatnonzero(rng.random(part.rows.rows) < share)
        weights = None if part.weights is None else part.weights[some]
        found.append(Learnt(part.rows.take(some), part.target[some], weights))
    return found
