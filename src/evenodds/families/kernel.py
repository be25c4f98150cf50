"""Any smooth shape: a Gaussian bump on every value, as far as the numeric tally's histogram knows them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.families.base import COLUMN, Estimate, Reading
from evenodds.families.density.bandwidths import bandwidth_of
from evenodds.families.density.points import Points, Sums
from evenodds.families.density.shapes import Bell
from evenodds.families.distribution import Distribution, Seed, drawn, generator, some, tidy
from evenodds.families.from_histogram import Bins, FromHistogram, blended, or_all
from evenodds.families.leaves import Floats, share, ungrouped
from evenodds.families.left_out import How, Left, less
from evenodds.schema import Column
from evenodds.tally import Tally

RULE = "silverman"
FEW_ROWS = 64  # that are scored as they come, without looking for equal ones


@dataclass(frozen=True, eq=False, repr=False)
class Kernel(FromHistogram):
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
    origin: float = field(default=0.0, repr=False)
    name = "kernel"
    held = "width and places"

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """The mean, the standard deviation and the width."""
        for group, (mean, variance) in enumerate(zip(estimate.mean, estimate.variance)):
            yield Reading(group, None, {"mean": mean, "sd": math.sqrt(variance), "bandwidth": estimate.bandwidth})

    @classmethod
    def _estimate(cls, tally: Tally, estimate: Estimate, prior: Any, column: Column) -> Distribution:
        """The bins' places, each group's shares of them, and one width for all."""
        places, h = _fitted(tally, column)
        mass = places.counts + places.pseudo_rows(cls.prior(None if estimate == "mle" else prior))[:, None]
        shares = mass / some(mass.sum(axis=0))
        return cls(places.at, shares[:, 0] if ungrouped(tally) else shares, h, column.origin)

    @classmethod
    def width(cls, tally: Tally, column: Column = COLUMN) -> float:
        """How wide the bumps of a column are."""
        return _fitted(tally, column)[1]

    @classmethod
    def least_width(cls, tally: Tally, column: Column = COLUMN) -> float:
        """The way from a value to the next, as most are: narrower bumps show how values were rounded, not their shape.

        >>> Kernel.least_width(Kernel.tally([1.0, 2.0, 2.0, 3.0, 4.0, 9.0]))
        1.0
        """
        places = Bins.some(tally, column)
        each = places.counts.sum(axis=1)
        steps, many = np.diff(places.at), each[1:] + each[:-1]
        order = np.argsort(steps)
        middle = np.searchsorted(np.cumsum(many[order]), many.sum() / 2)
        return float(steps[order][middle]) if len(steps) else 0.0

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log density of each value with its own row taken out; the width and the places stay those of all rows."""
        bins_of, h = _fitted(tally, how.column)
        places, counts = bins_of.at, bins_of.counts
        groups = [_sums(places, counts[:, g], h) for g in range(counts.shape[1])]
        pooled, together = counts.sum(axis=1), _sums(places, counts.sum(axis=1), h)
        prior = bins_of.pseudo_rows(cls.prior(how.prior))
        before = _sums(places, prior, h)

        def evidence(x: Any, left: Left) -> Floats:
            bins = bins_of.bins(x)
            n, everything = left.without(counts.sum(axis=0)), less(pooled.sum(), left.amounts)
            all_others = _logs(together, x, places[bins], left.amounts)
            found = _at_each(x, groups)
            for g, each in enumerate(groups):
                mine = np.flatnonzero(left.groups == g)
                found[mine, g] = _logs(each, x[mine], places[bins[mine]], left.amounts[mine])
            with np.errstate(divide="ignore", invalid="ignore"):
                if how.estimate == "mle":
                    return or_all(found, n, left, all_others, everything)
                if how.pooled:
                    each_row = share(how.strength, everything)
                    pseudo, weight = all_others + np.log(each_row), each_row * everything
                else:
                    gone = less(pooled[bins], left.amounts) == 0  # a bin that is no more has no pseudo-rows
                    lost = np.where(gone, prior[bins], 0.0)
                    pseudo, weight = _logs(before, x, places[bins], lost), prior[pooled > 0].sum() - lost
                return blended(found, n, pseudo, weight)

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
        at = self.places[drawn(rng, self.shares, size)]
        return np.asarray(at + self.bandwidth * rng.standard_normal(at.shape))


def _fitted(tally: Tally, column: Column) -> tuple[Bins, float]:
    """The places, and the one width."""
    rule = RULE if column.bandwidth is None else column.bandwidth

    def fit() -> tuple[Bins, float]:
        places = Bins.some(tally, column)
        return places, _width(places.at, places.counts, rule)

    return tally.once(("bumps", rule, column.origin), fit)


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
