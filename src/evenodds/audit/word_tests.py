"""Which words are told apart by where they occur: a test for each; and of many tests, few false alarms or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import tail_of
from evenodds.families import Bernoulli, Binned, Categorical
from evenodds.families.leaves import Floats
from evenodds.schema import Column, Schema

LEAST = 5.0  # texts, or tokens, expected in a cell: what has fewer is not tested


@dataclass(frozen=True, eq=False)
class WordTests:
    """Words that are frequent enough: their counts (words, groups), what each is of, p, and those that differ."""

    which: NDArray[np.int64]
    table: Floats
    totals: Floats
    p: Floats
    sure: NDArray[np.int64]  # places among these, the surest first


def word_tests(table: Floats, totals: Floats, level: float) -> WordTests:
    """Pearson's test of every word's counts (words, groups) of so many texts or tokens in each group.

    Those that differ are told so that of them at most a share of 1 - level are false alarms, on average (Benjamini and
    Hochberg 1995). Of texts the test is exact enough; tokens of one text are not independent, and alarm more often:
    see `came`.

    >>> found = word_tests(np.array([[30.0, 2], [20, 21], [1, 0]]), np.array([100.0, 100]), 0.95)
    >>> found.which.tolist(), found.p.round(9).tolist(), found.sure.tolist()
    ([0, 1], [6.6e-08, 0.860957219], [0])
    """
    from scipy.special import chdtrc

    with np.errstate(divide="ignore", invalid="ignore"):
        expected = table.sum(axis=1, keepdims=True) * totals / totals.sum()
        rest, rest_expected = totals - table, totals - expected
        often = np.flatnonzero((expected.min(axis=1) >= LEAST) & (rest_expected.min(axis=1) > 0))
        chi = ((table - expected) ** 2 / expected + (rest - rest_expected) ** 2 / rest_expected).sum(axis=1)[often]
    p = np.asarray(chdtrc(max(len(totals) - 1, 1), chi))
    return WordTests(often, table[often], totals, p, _few_false(p, level))


def came(table: Floats, totals: Floats, level: float) -> WordTests:
    """The exact test that a word is in a larger share of the texts now, where before only its tokens were counted.

    `table` has tokens of before and texts of now. A word was in no more texts than it had tokens: taken as if each had
    been a text, it alarms no more often than it says. That a word went cannot be told: its texts were not counted.

    >>> found = came(np.array([[0.0, 20], [73, 1], [30, 33]]), np.array([100.0, 100]), 0.95)
    >>> found.p.round(6).tolist(), found.sure.tolist()
    ([1e-06, 1.0, 0.400653], [0])
    """
    from scipy.special import betainc

    before, now = np.minimum(table, totals).T
    often = np.flatnonzero((before + now) * totals.min() / totals.sum() >= LEAST)
    before, now = before[often], now[often]
    some = np.maximum(now, 1.0)  # of none of today's texts nothing came: p is 1
    p = np.where(now > 0, betainc(some, before + 1, totals[1] / totals.sum()), 1.0)
    return WordTests(often, table[often], totals, p, _few_false(p, level))


def _few_false(p: Floats, level: float) -> NDArray[np.int64]:
    """The places of those that differ, the surest first."""
    order = np.argsort(p, kind="stable")
    within = np.flatnonzero(p[order] <= 2 * tail_of(level) * np.arange(1, len(p) + 1) / max(len(p), 1))
    return order[: within[-1] + 1] if len(within) else order[:0]


def bonferroni(p: Floats) -> float:
    """The p of many tests together: the smallest, times how many they are; 1 of none."""
    return min(float(p.min()) * len(p), 1.0) if len(p) else 1.0


def holm(p: Sequence[float], level: float) -> list[bool]:
    """Which of some tests differ, so that with probability `level` none of them is a false alarm (Holm 1979).

    >>> holm([0.02, 0.001, 0.03, 0.9], 0.95)
    [False, True, False, False]
    """
    values = np.asarray(p, float)
    order = np.argsort(values, kind="stable")
    sure = np.zeros(len(values), bool)
    sure[order] = np.logical_and.accumulate(values[order] * np.arange(len(values), 0, -1) <= 2 * tail_of(level))
    return sure.tolist()


def by_texts(schema: Schema) -> Schema:
    """The same columns, the words of which are counted by the texts that have them."""
    texts = {name: _comparable(column) for name, column in schema.features.items() if column.words is not None}
    return replace(schema, columns={**schema.columns, **texts})


def comparable(schema: Schema) -> Schema:
    """The same columns, counted so that they can be tested: numbers by bins, words by the texts that have them."""
    return replace(schema, columns={name: _comparable(column) for name, column in schema.columns.items()})


def _comparable(column: Column) -> Column:
    if column.words is not None:
        return replace(column, words=replace(column.words, events="present", length="as is"))
    if column.family in (None, Bernoulli, Categorical, Binned):
        return column
    return replace(column, family=Binned, prior=None, variance="per_class", bandwidth=None)
