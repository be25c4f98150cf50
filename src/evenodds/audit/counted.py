"""Columns as tables of counts, values by groups: whatever a model counts can be tested, and its effect measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evenodds.audit.chance import deviation
from evenodds.audit.protected import MISSING
from evenodds.audit.ranked import ROUNDING
from evenodds.audit.word_tests import LEAST
from evenodds.errors import DataError
from evenodds.families import WordCounts, numeric
from evenodds.families.leaves import Floats
from evenodds.labels import Labels
from evenodds.models.estimated import counts_of as values_in
from evenodds.models.estimated import family_of
from evenodds.models.naive_bayes import Model


def countable(model: Model, name: str) -> bool:
    """Whether a column's values can be counted: all but text, Gaussians and counts."""
    column, part = model.schema.features[name], model.column_tally(name)
    return column.words is None and bool(part.columns) and family_of(column).table(part, column) is not None


def counts_of(model: Model, name: str) -> tuple[list[str], Floats]:
    """The values of a column, and how often each occurs in each class; the last is how often none is there."""
    column, part = model.schema.features[name], model.column_tally(name)
    table = family_of(column).table(part, column)
    if table is None:
        raise DataError(f"column {name!r} is {family_of(column).__name__}: compare it as Binned")
    lacking = model.class_counts - table.sum(axis=0)
    lacking = np.where(lacking > ROUNDING * model.class_counts, lacking, 0.0)
    return [*_values(model, name, len(table)), MISSING], np.vstack([table, lacking])


def missing(model: Model, name: str) -> float:
    """The share of the rows whose cell of a column is missing, whatever the column's family."""
    lacking = 1 - float(values_in(model.column_tally(name)).sum()) / float(model.class_counts.sum())
    return lacking if lacking > ROUNDING else 0.0


def _values(model: Model, name: str, size: int) -> list[str]:
    """What each value of a column is called."""
    part = model.column_tally(name)
    axis = next((part.leaf(leaf).axis for leaf in part.layout.specs if leaf[1] == "labels"), None)
    if isinstance(axis, Labels):
        return axis.texts()
    names = getattr(model.distributions.get(name), "names", None)
    return list(names()) if names is not None else [str(i) for i in range(size)]


def moments_of(model: Model, name: str) -> tuple[Floats, Floats, Floats] | None:
    """Rows, mean and variance of a column of numbers in each class; None where the tally does not have them."""
    part = model.column_tally(name)
    if "moments" not in {leaf for _, leaf in part.layout.specs}:
        return None
    n, mean, squares = numeric.moments(part)
    return n, mean, squares / np.maximum(n - 1, 1)


class Association(NamedTuple):
    """Pearson's test that groups have one distribution: its p, Cramér's V, and what they were made of."""

    p: float
    v: float
    degrees: float
    chi: float


def association(table: Floats) -> Association:
    """Of counts (values, groups): p of Pearson's test that the groups have one distribution, and Cramér's V.

    Values, and groups, that are too rare are put together first, so that five rows or more are expected in every cell
    and the false-alarm rate is what it says. Where too few would be left, both are halved, and the test is Fisher's.
    V is Bergsma's (2013), which is about 0 where there is nothing, whatever the number of rows.
    """
    from scipy.special import chdtrc, chdtri

    n = float(table.sum())
    if n < 2 or min(np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1)) < 2:
        return Association(1.0, 0.0, 0.0, 0.0)
    often = np.sort(table.sum(axis=1))[-2]  # the second most frequent value: a test needs at least two
    kept = lumped(table.T, LEAST * n / often).T
    kept = lumped(kept, LEAST * n / kept.sum(axis=0).min())
    few = min(kept.shape) < 2
    if few:
        kept = halved(halved(table).T).T
    r, c = kept.shape
    expected = np.outer(kept.sum(axis=1), kept.sum(axis=0)) / n
    chi, degrees = float(((kept - expected) ** 2 / expected).sum()), (r - 1) * (c - 1)
    phi = max(chi / n - degrees / (n - 1), 0.0)
    smaller = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    v = min(float(np.sqrt(phi / smaller)), 1.0) if smaller > 0 else 0.0
    p = exact(kept) if few else float(chdtrc(degrees, chi))
    return Association(p, v, float(degrees), float(chdtri(1, p)) if few else chi)


def moved(table: Floats) -> float:
    """Which share of the rows of one group is elsewhere in the other, of counts (values, two groups), beyond chance.

    Of many rare values chance alone moves nearly all rows: its share is taken out, as the square of an error is; 1
    stays 1. Of values that occur once each nothing is known.

    >>> tables = [[900.0, 600], [100, 400]], [[9.0, 0], [0, 9]], [[1.0, 0], [0, 1]]
    >>> [round(moved(np.array(table)), 3) for table in tables]
    [0.3, 1.0, 0.0]
    """
    totals = table.sum(axis=0)
    found = float(np.abs(np.diff(table / totals, axis=1)).sum() / 2)
    chance = _by_chance(table.sum(axis=1), totals)
    return float(np.sqrt(max(found**2 - chance**2, 0.0) / (1 - chance**2))) if chance < 1 - 1e-9 else 0.0


def _by_chance(counts: Floats, totals: Floats) -> float:
    """The share that moves on average where values that occur so often are dealt out to two groups of so many rows.

    Each is a binomial, but that no row is dealt out twice: of values that most rows have less moves.
    """
    away = deviation(counts, float(totals[0] / totals.sum()))
    dealt_once = np.sqrt((totals.sum() - counts) / max(totals.sum() - 1, 1.0))
    return float((away * dealt_once).sum() * totals.sum() / (2 * totals.prod()))


def lumped(table: Floats, need: float) -> Floats:
    """Rows of a table whose totals are below what is needed, as one row; with the smallest other if still below.

    >>> lumped(np.array([[9.0, 1], [20, 30], [2, 1], [50, 9]]), 20)
    array([[31., 32.],
           [50.,  9.]])
    """
    totals = table.sum(axis=1)
    rare = totals < need
    if not rare.any():
        return table
    kept, rest = table[~rare], table[rare].sum(axis=0)
    if rest.sum() >= need or not len(kept):
        return np.vstack([kept, rest])
    kept[int(np.argmin(totals[~rare]))] += rest
    return kept


def halved(table: Floats) -> Floats:
    """The rows of a table as two, in their order, cut where that is most even.

    >>> halved(np.array([[9.0, 1], [20, 30], [2, 1], [5, 9]]))
    array([[29., 31.],
           [ 7., 10.]])
    """
    below = table.sum(axis=1).cumsum()
    cut = int(np.argmin(np.abs(below - below[-1] / 2))) + 1
    return np.stack([table[:cut].sum(axis=0), table[cut:].sum(axis=0)])


def exact(table: Floats) -> float:
    """Fisher's exact test of two by two: given its margins, how probable is a table no more probable than this one?

    A lady tastes whether the milk came first, and is right about three of four cups of either kind:

    >>> round(exact(np.array([[3.0, 1], [1, 3]])), 4)
    0.4857
    """
    from scipy.special import gammaln

    (a, b), (c, d) = np.round(table)
    first = np.arange(max(0.0, a - d), min(a + b, a + c) + 1)
    log_p = -gammaln(np.stack([first, a + b - first, a + c - first, d - a + first]) + 1).sum(axis=0)
    p = np.exp(log_p - log_p.max())
    return float(p[log_p <= log_p[first == a] + 1e-9].sum() / p.sum())


def association_within(tables: Sequence[Floats]) -> Association:
    """The same within strata: one test of all of them, and the mean of their V, by rows."""
    from scipy.special import chdtrc

    found, n = [association(table) for table in tables], np.array([float(table.sum()) for table in tables])
    degrees, chi = sum(one.degrees for one in found), sum(one.chi for one in found)
    v = float(np.average([one.v for one in found], weights=n)) if n.sum() > 0 else 0.0
    return Association(float(chdtrc(degrees, chi)) if degrees else 1.0, v, degrees, chi)


class Means(NamedTuple):
    """Welch's test that two means are the same: its p, the share of rows that moved if both are Gaussian, and r."""

    p: float
    distance: float
    v: float


def means(n: Floats, mean: Floats, variance: Floats) -> Means:
    """Of the rows, means and variances of two groups.

    >>> means(np.array([2000.0, 2000]), np.array([40.0, 43]), np.array([100.0, 100]))
    Means(p=3.966...e-21, distance=0.119..., v=0.147...)
    """
    from scipy.special import ndtr, stdtr

    errors = variance / np.maximum(n, 1)
    if n.min() < 2 or not errors.sum() > 0:
        same = n.min() < 2 or mean[0] == mean[1]
        return Means(1.0, 0.0, 0.0) if same else Means(0.0, 1.0, 1.0)
    t = float(mean[1] - mean[0]) / float(np.sqrt(errors.sum()))
    degrees = float(errors.sum() ** 2 / (errors**2 / (n - 1)).sum())
    spread = float(np.sqrt((variance * n).sum() / n.sum()))
    r = float(np.sqrt(max(t * t - 1, 0.0) / (t * t + degrees)))
    return Means(2 * float(stdtr(degrees, -abs(t))), float(2 * ndtr(abs(mean[1] - mean[0]) / spread / 2) - 1), r)


def word_table(model: Model, name: str) -> tuple[Any, Floats, Floats]:
    """The words of a column, how often each occurs in each class, and of how many: texts, or all tokens."""
    counts, words = WordCounts.counts(model.column_tally(name)), model.schema.features[name].words
    keys, table = counts.matrix(np.float64)
    of_texts = words is not None and words.events in ("present", "bernoulli") and words.length == "as is"
    return keys, table, np.asarray(counts.documents if of_texts else table.sum(axis=0), float)
