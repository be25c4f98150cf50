"""Rows by the log-odds of a class: how they are counted in a tally of predictions, and read off it again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.data.sum import CLASSES
from evenodds.families.leaves import Floats
from evenodds.labels import Ints, Labels
from evenodds.tally import Tally

EXACT = 23  # bits of a float32's mantissa
ROUNDING = 1e-9  # of the weight of some rows: what is missing of it by less was lost in sums


def keys_of(odds: Floats, bits: int = EXACT) -> NDArray[np.int32]:
    """Log-odds as integers in the same order: the 32 bits of a float32, those of negative numbers turned round.

    What differs by less than 1e-7 of itself is a tie; so is what differs by less than 1e-9, which is rounding. Fewer
    bits of the mantissa make more ties: each number goes to the nearest that has as many.
    """
    with np.errstate(over="ignore"):
        every = (np.round(odds, 9) + 0.0).astype(np.float32).view(np.int32)  # + 0.0: there is one zero
    if bits < EXACT:
        every = (every + np.int32(1 << (EXACT - bits - 1))) & np.int32(-1 << (EXACT - bits))
    return np.where(every < 0, every ^ np.int32(0x7FFFFFFF), every)


def odds_of(keys: NDArray[Any]) -> Floats:
    """The log-odds that keys stand for.

    >>> odds_of(keys_of(np.array([-np.inf, -0.5, 0.0, 3.0])))
    array([-inf, -0.5,  0. ,  3. ])
    """
    bits = keys.astype(np.int32)
    return np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits).view(np.float32).astype(np.float64)


def scores_of(text: str) -> tuple[str, str]:
    """The leaf of a class's scores; each class is a column of its own, so that models of different classes add."""
    return f"log-odds of {text}", "scores"


class Scores(NamedTuple):
    """The rows of a class and all others, counted by the log-odds of the class, lowest first."""

    odds: Floats
    own: Floats
    rest: Floats

    def above(self, threshold: float) -> tuple[float, float]:
        """Rows of the class and others whose probability is at least this: found, and false alarms."""
        with np.errstate(divide="ignore"):
            least = odds_of(keys_of(np.log(threshold) - np.log1p(-threshold)))  # rounded as the rows' own were
        at = self.odds >= least
        return float(self.own[at].sum()), float(self.rest[at].sum())


def scores(tally: Tally, name: str) -> Scores | None:
    """The scores of a class; None where there are none."""
    groups = tally.groups
    assert isinstance(groups, Labels)
    own = np.array([text == name for text in groups.texts()], bool)
    found = scores_by(tally, name, own, np.zeros(len(own), np.int64), 1)
    return found[0] if found else None


def scores_by(tally: Tally, name: str, own: NDArray[np.bool_], where: Ints, groups: int) -> list[Scores]:
    """The scores of a class in each of some groups; none where there are none.

    `own` says which groups of the tally are of the class, `where` to which of the groups asked for each belongs. Rows
    that were never scored, as their model did not know the class, gave it probability 0: their log-odds are -inf.
    """
    leaf = scores_of(name)
    if leaf not in tally.layout.specs:
        return []
    counts, n = tally[leaf].T.astype(float, order="C"), tally[CLASSES][0].astype(float)
    odds = np.append(-np.inf, odds_of(tally.leaf(leaf).axis.keys))
    sides = []
    for which in (own, ~own):
        side, total = np.zeros((groups, len(odds))), np.bincount(where[which], n[which], groups)
        for at in np.flatnonzero(which).tolist():  # a group's scores are long: faster by far than add.at
            side[where[at], 1:] += counts[at]
        never = total - side.sum(axis=1)
        side[:, 0] = np.where(never > ROUNDING * total, never, 0.0)
        sides.append(side)
    if np.isneginf(odds[1:2]).any():  # some were scored with 0 as well
        sides = [np.column_stack([side[:, 0] + side[:, 1], side[:, 2:]]) for side in sides]
        odds = odds[1:]
    return [Scores(odds, mine, rest) for mine, rest in zip(*sides)]
