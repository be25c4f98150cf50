"""How many pseudo-rows a prior should be worth: chosen by the data, from the counts alone.

Leave one row out: the row of group g and value v is predicted, from the rest, with probability

    (n_vg - 1 + λ·m_v) / (n_g - 1 + λ)

where m_v is the pooled share without that row (or 1 per value, and λ·V below, under a flat prior). All rows of one cell
are alike, so the sum over rows is a sum over cells: closed form in the counts, no second pass. A value seen in that
row alone would be unseen without it, and carries no evidence. A column that says nothing of the class is smoothed
away; one that does is left alone. So that six rows do not claim certainty, λ itself has a prior: 2 pseudo-rows, give
or take a factor of e² (log-normal); a few dozen rows outweigh it.

Words are there to tell classes apart, so their strength is the one under which each token, left out, tells its class
best (`telling`), shared by the n-grams that begin at one place; where a word counts once a text, the one under which
whole texts do (`imagined`). Families that do not count values (Gaussian, Poisson) get a fixed, weak prior: choosing its
strength gained nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from evenodds.families.base import Family
from evenodds.families.imagined import imagined
from evenodds.families.leaves import Floats
from evenodds.families.telling import telling
from evenodds.families.words import PLAIN, WordCounts
from evenodds.schema import Column
from evenodds.tally import Tally

PriorKind = Literal["pooled", "flat"]
Cells = tuple[Floats, Floats, Floats, float, int]
WEAK = 2.0  # pseudo-rows: the middle of λ's prior, and what families that do not count values get
SPREAD = 2.0  # of the log of λ under its prior
COARSE: Floats = np.linspace(np.log(1e-3), np.log(1e4), 15)  # log pseudo-rows
FINER = 4  # times the best step is cut in four
TOGETHER = 1 << 14  # numbers, of cells times strengths, that are scored at once


def auto_smoothing(family: type[Family], tally: Tally, kind: PriorKind, column: Column) -> float:
    """The strength of the prior under which the rows of a column predict each other best; of words, tell classes."""
    if issubclass(family, WordCounts):
        return _of_words(tally, column)
    counts = family.table(tally, column)
    if counts is None:
        return WEAK
    cells = _cells(counts)
    return _best(lambda strengths: _scores(cells, strengths, kind), WEAK)


def _of_words(tally: Tally, column: Column) -> float:
    words = column.words or PLAIN
    # of normalised texts it is not known how many have a word, so none can be imagined
    if words.distinct and words.prior == "flat" and words.length == "as is":
        return _best(_each(imagined(WordCounts.counts(tally), words)), 1.0, FINER // 2)  # chance is in it
    # what a place of a text says, that many tokens say; and the complement of a class has all others' pseudo-counts
    best = _best(_each(telling(tally, column)), 1.0) / words.tokens.orders
    return best * max(len(tally.groups) - 1, 1) if words.events == "complement" else best


def _each(score: Callable[[float], float]) -> Callable[[Floats], Floats]:
    """A score of one strength as one of several."""
    return lambda strengths: np.array([score(float(strength)) for strength in strengths])


def _best(scores: Callable[[Floats], Floats], middle: float, finer: int = FINER) -> float:
    """The strength with the highest score × prior, on a grid that is cut finer where it is best."""
    grid, step = COARSE, float(COARSE[1] - COARSE[0])
    for _ in range(finer + 1):
        found = scores(np.exp(grid)) - 0.5 * ((grid - np.log(middle)) / SPREAD) ** 2
        best = float(grid[int(np.argmax(found))])
        step /= 4
        grid = best + step * np.arange(-3.0, 4.0)
    return float(np.exp(best))


def _cells(counts: Floats) -> Cells:
    """Of every cell with rows in it: its rows, its value's rows and its group's rows; then all rows, and the values."""
    value, group = np.nonzero(counts)
    values, groups = counts.sum(axis=1), counts.sum(axis=0)
    return counts[value, group], values[value], groups[group], float(counts.sum()), len(counts)


def _scores(cells: Cells, strengths: Floats, kind: PriorKind) -> Floats:
    """Of each strength; of few cells all at once."""
    many = max(1, TOGETHER // max(len(cells[0]), 1))
    if len(strengths) > many:
        return np.concatenate(
            [_scores(cells, strengths[at : at + many], kind) for at in range(0, len(strengths), many)]
        )
    n, value, group, total, values = cells
    strength = strengths[:, None]
    if kind == "pooled":
        top, bottom = n - 1 + strength * (value - 1) / max(total - 1, 1.0), group - 1 + strength
    else:
        top, bottom = n - 1 + strength, group - 1 + strength * values
    used = (top > 0) & (bottom > 0) & (value > 1)
    return np.asarray(np.log(np.where(used, top, 1.0) / np.where(used, bottom, 1.0)) @ n)
