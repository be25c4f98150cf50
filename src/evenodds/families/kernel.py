"""Any smooth shape: a Gaussian bump on every value, as far as the numeric tally's histogram knows them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds import double_double as dd
from evenodds.errors import DataError
from evenodds.families import numeric
from evenodds.families.base import COLUMN, Estimate, Family, check_estimate
from evenodds.families.categorical import Dirichlet
from evenodds.families.density.bandwidths import bandwidth_of
from evenodds.families.density.points import Points, Sums
from evenodds.families.density.shapes import Bell
from evenodds.families.distribution import Distribution, Seed, generator, some, tidy
from evenodds.families.leaves import Floats, Rows, plain, read_exactly
from evenodds.families.left_out import How, Left, less
from evenodds.labels import Fixed, Ints
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally

RULE = "silverman"
FEW_ROWS = 64  # that are scored as they come, without looking for equal ones


@dataclass(frozen=True, eq=False, repr=False)
class Kernel(Family):
    """A Gaussian bump of one width on every value.

    p(x) = Σ_b share_b φ((x - place_b)/h) / h

    The values are those of the histogram's bins: each stands at the same part of its bin, the one at which their mean
    is right; whole numbers below 256 stand where they are. A value is displaced by at most 1/128 of itself (counted
    from the origin), so the density is off the exact one by at most 0.242/h² times the mean of that, and mostly by much
    less.

    >>> Kernel.fit([1.0, 2.0, 4.0]).prob([2.0, 3.0]).round(4)
    array([0.2487, 0.1608])

    h is `Column(bandwidth=...)`, a number or a rule ("silverman" if not said), of each group on its own and then their
    geometric mean: with one width for all, a lump of equal values says the same everywhere. What is summed: the numeric
    tally. The prior is a Dirichlet over the bins: pseudo-rows of all groups' density. `map`, `mean` and `predictive`
    are one distribution.
    """

    places: Floats = field(metadata={"batched": False})
    shares: Any  # (bins, groups)
    bandwidth: float = 1.0
    name = "kernel"

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """The numeric tally: leaves "rows", "moments" and "histogram"."""
        return numeric.leaves(cells, rows, columns, histogram=True)

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Dirichlet:
        """No pseudo-rows at all: a kernel density has no other that is without opinion."""
        return Dirichlet(0.0)

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> Dirichlet:
        """As if `strength` rows had been seen before, with all groups' density."""
        counts = numeric.histogram(tally)[1].sum(axis=1)
        return Dirichlet(strength * counts / max(counts.sum(), 1.0))

    @classmethod
    def informative(cls, tally: Tally) -> bool:
        """Not where all values are in one bin: then nothing is known of their spread."""
        return len(numeric.histogram(tally)[0]) > 1

    @classmethod
    def readings(cls, name: str, estimate: Any, posterior: Any, level: float) -> Iterator[tuple[int, dict[str, Any]]]:
        """The mean, the standard deviation and the width."""
        for group, (mean, variance) in enumerate(zip(estimate.mean, estimate.variance)):
            yield group, {"mean": mean, "sd": math.sqrt(variance), "bandwidth": estimate.bandwidth}

    @classmethod
    def posterior(cls, data: Any, prior: Any = None, column: Column = COLUMN) -> Any:
        """The Dirichlet of the bins' shares."""
        tally = data if isinstance(data, Tally) else cls.tally(data)
        counts = numeric.histogram(tally)[1]
        bins = Tally.of(tally.groups, {("bins", "labels"): Leaf(Fixed(len(counts)), dd.of(counts))})
        return (cls.flat_prior() if prior is None else prior) + bins

    @classmethod
    def log_evidence(cls, data: Any, prior: Any = None) -> Any:
        """There is none: the bandwidth is read off the values."""
        raise ValueError("a kernel density gives its own data no evidence: its width is read off them")

    @classmethod
    def estimate(
        cls, tally: Tally, estimate: Estimate = "mean", prior: Any = None, column: Column = COLUMN
    ) -> Distribution:
        """The bins' places, each group's shares of them, and one width for all."""
        check_estimate(estimate)
        places, counts, h = _fitted(tally, column)
        pseudo = np.zeros(len(places))
        if estimate != "mle" and prior is not None:
            pseudo = np.broadcast_to(np.asarray(prior.concentration, float), len(places))
        mass = counts + pseudo[:, None]
        shares = mass / some(mass.sum(axis=0))
        return cls(places, shares[:, 0] if plain(tally) else shares, h)

    @classmethod
    def width(cls, tally: Tally, column: Column = COLUMN) -> float:
        """How wide the bumps of a column are."""
        return _fitted(tally, column)[2]

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log density of each value with its own row taken out; the width and the places stay those of all rows."""
        places, counts, h = _fitted(tally, how.column)
        groups = [_sums(places, counts[:, g], h) for g in range(counts.shape[1])]
        pooled, together = counts.sum(axis=1), _sums(places, counts.sum(axis=1), h)
        start = cls.flat_prior() if how.prior is None else how.prior
        prior = np.broadcast_to(np.asarray(start.concentration, float), len(places))
        before, keys = _sums(places, prior, h), numeric.histogram(tally)[0]

        def evidence(x: Any, left: Left) -> Floats:
            bins = _bins(keys, x - how.column.origin)
            n, everything = left.without(counts.sum(axis=0)), less(np.full(len(x), pooled.sum()), left.amounts)
            all_others = _logs(together, x, places[bins], left.amounts)
            found = _at_each(x, groups)
            for g, each in enumerate(groups):
                mine = np.flatnonzero(left.groups == g)
                found[mine, g] = _logs(each, x[mine], places[bins[mine]], left.amounts[mine])
            with np.errstate(divide="ignore", invalid="ignore"):
                if how.estimate == "mle":  # a group without values is like all together
                    like_all = (n == 0) & ~left.lost
                    found = np.where(like_all, all_others[:, None], found)
                    return np.asarray(found - np.log(np.where(like_all, everything[:, None], n)))
                if how.pooled:
                    each_row = how.strength / np.maximum(everything, 1.0)
                    pseudo, weight = all_others + np.log(each_row), each_row * everything
                else:
                    gone = less(pooled[bins], left.amounts) == 0  # a bin that is no more has no pseudo-rows
                    lost = np.where(gone, prior[bins], 0.0)
                    pseudo, weight = _logs(before, x, places[bins], lost), prior[pooled > 0].sum() - lost
                total = n + weight[:, None]
                return np.asarray(np.logaddexp(found, pseudo[:, None]) - np.log(np.where(total > 0, total, 1.0)))

        return evidence

    def log_prob(self, x: Any) -> Floats:
        """log density; NaN for a missing value."""
        x = np.asarray(x, float)
        flat = np.ascontiguousarray(x).ravel()
        return _at_each(flat, self._sums).reshape(x.shape + np.shape(self.shares)[1:])

    @functools.cached_property
    def _sums(self) -> list[Sums]:
        shares = np.asarray(self.shares).reshape(len(self.places), -1)
        return [_sums(self.places, shares[:, g], self.bandwidth) for g in range(shares.shape[1])]

    def log_likelihood(self, tally: Tally) -> Any:
        """Σ count_b log p(place_b); exact where the values stand at the bins' places."""
        places, counts = _places(tally, COLUMN)
        each = self.log_prob(places).reshape(len(places), -1)
        total = np.where(counts > 0, counts * np.where(counts > 0, each, 0.0), 0.0).sum(axis=0)
        return tidy(total[0]) if np.ndim(self.shares) == 1 else total

    @property
    def mean(self) -> Any:
        """Σ share · place."""
        return tidy(self.places @ self.shares)

    @property
    def variance(self) -> Any:
        """Σ share · (place - mean)² + h²."""
        apart = self.places.reshape(-1, *(1,) * np.ndim(self.mean)) - self.mean
        return tidy((np.square(apart) * self.shares).sum(axis=0) + self.bandwidth**2)

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw values: a bin, and a step from its place."""
        rng = generator(random_state)
        cumulative = np.cumsum(np.asarray(self.shares).reshape(len(self.places), -1), axis=0)
        u = rng.random((size, cumulative.shape[1])) * cumulative[-1]
        which = np.stack([np.searchsorted(c, v, side="right") for c, v in zip(cumulative.T, u.T)], axis=1)
        values = self.places[np.minimum(which, len(self.places) - 1)] + self.bandwidth * rng.standard_normal(u.shape)
        return np.asarray(values.reshape(size, *np.shape(self.shares)[1:]))


def _places(tally: Tally, column: Column) -> tuple[Floats, Floats]:
    """Where the histogram's bins stand, so that all values have their mean; and their counts (bins, groups)."""
    keys, counts = numeric.histogram(tally)
    lower, upper = numeric.edges(keys)
    inner, width = np.where(keys < 0, upper, lower), np.where(keys < 0, lower - upper, upper - lower)
    width = np.where(keys == 0, 0.0, width)
    each = counts.sum(axis=1)
    total = float(dd.value(read_exactly(tally, "moments")).reshape(2, -1)[0].sum()) - column.origin * float(each.sum())
    reach = float(each @ width)
    away = float(each @ np.abs(width))
    part = 0.5
    if away > 0:  # outwards from zero: the part of a bin's width at which Σ x is right
        part = (total - float(each @ inner)) / reach if abs(reach) > 1e-3 * away else 0.5
    return inner + min(max(part, 0.0), 1.0) * width + column.origin, counts


def _fitted(tally: Tally, column: Column) -> tuple[Floats, Floats, float]:
    """The places, the counts and the one width."""
    places, counts = _places(tally, column)
    if not len(places):
        raise DataError("no values, so there is no density")
    return places, counts, _width(places, counts, RULE if column.bandwidth is None else column.bandwidth)


def _width(places: Floats, counts: Floats, rule: float | str) -> float:
    """The geometric mean of the groups' widths by a rule, or that of all where no group has one of its own."""
    shape = Bell()
    if not isinstance(rule, str):
        return bandwidth_of(rule, Points(places), shape)
    logs, weights = [], []
    for g in range(counts.shape[1]):
        seen = counts[:, g] > 0
        if seen.sum() > 1:
            points = Points(places[seen], counts[seen, g])
            try:
                logs.append(math.log(bandwidth_of(rule, points, shape)))
            except DataError:
                continue
            weights.append(points.total)
    if logs:
        return math.exp(float(np.average(logs, weights=weights)))
    return bandwidth_of(RULE, Points(places, counts.sum(axis=1)), shape)


def _sums(places: Floats, counts: Floats, h: float) -> Sums:
    """Sums over the bins that count something."""
    seen = counts > 0
    return Sums(Points(places[seen], counts[seen]), Bell(), h)


def _bins(keys: Ints, x: Floats) -> Ints:
    """In which of the histogram's bins each value is."""
    found = np.searchsorted(numeric.edges(keys)[0], x + 0.0, side="right") - 1
    return np.maximum(found, 0)


def _at_each(x: Floats, groups: list[Sums]) -> Floats:
    """log Σ count φ((x - place)/h)/h of all groups, (values, groups); equal values are looked at once."""
    values, at = np.unique(x, return_inverse=True)
    table = np.empty((len(groups), len(values)))
    for row, sums in zip(table, groups):
        row[:] = sums.logs(values) - math.log(sums.h) if len(sums.points.values) else -np.inf
    return np.take(table, at.ravel(), axis=1).T


def _logs(sums: Sums, x: Floats, places: Floats, out: Floats) -> Floats:
    """The same of one group, with so much of the count at each value's own place left out."""
    points = sums.points
    if not len(points.values) or not len(x):
        return np.full(len(x), -np.inf)
    rows, at = np.unique(np.stack([x, out]), axis=1, return_inverse=True) if len(x) > FEW_ROWS else (None, None)
    if rows is not None and at is not None and 2 * rows.shape[1] < len(x):
        first = np.empty(rows.shape[1], np.int64)
        first[at.ravel()] = np.arange(len(x))
        return _logs(sums, x[first], places[first], out[first])[at.ravel()]
    own = np.where(out > 0, np.searchsorted(points.x, places), -1)
    return sums.logs(x, own, out) - math.log(sums.h)
