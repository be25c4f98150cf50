"""A few humps: a mixture of Gaussians for each group, as far as the numeric tally's histogram knows the values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.families.base import COLUMN, Estimate, Reading
from evenodds.families.density.bells import Bells, chosen
from evenodds.families.distribution import Distribution, Seed, by_group, drawn, generator, groups_last, some, tidy
from evenodds.families.from_histogram import Bins, FromHistogram, blended, or_all
from evenodds.families.kernel import Kernel
from evenodds.families.leaves import Floats, share, ungrouped
from evenodds.families.left_out import How, Left, less
from evenodds.families.normal_gamma import LOG_2PI
from evenodds.logs import log_sum
from evenodds.schema import Column
from evenodds.tally import Tally

LEAST = 1 / 2  # of the width that a Kernel column has: how narrow a bell may be


@dataclass(frozen=True, eq=False, repr=False)
class Gaussians(FromHistogram):
    """A few bells, each with a weight, a mean and a variance.

    p(x) = Σ_k weight_k N(x; mean_k, variance_k)

    Seven short waits and nine long ones (Old Faithful's first):

    >>> waits = [79, 54, 74, 62, 85, 55, 88, 85, 51, 85, 54, 84, 78, 47, 83, 52]
    >>> Gaussians.fit(waits).means.round(1)
    array([53.6, 82.3])

    EM on the histogram's bins, from parts of equal mass on: the same tally has the same bells. How many is
    `Column(components=...)`, or what has the least BIC, at most 5. No bell is narrower than `Column(bandwidth=...)`,
    half a Kernel column's width if not said, so that a lump of equal values says the same in every group. What is
    summed: the numeric tally. The prior is a Dirichlet over the bins: one more bell, with the mean and the variance of
    its pseudo-rows. `map`, `mean` and `predictive` are one distribution.
    """

    weights: Any  # (bells, groups), as the others
    means: Any
    variances: Any
    origin: float = field(default=0.0, repr=False)
    name = "gaussians"
    held = "places and their shares of the bells"

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """Each bell's weight, mean and standard deviation; the prior's, if there is one, comes last."""
        for group in range(estimate.weights.shape[1]):
            one = estimate.at(group)
            for k in np.flatnonzero(one.weights > 0):
                figures = {"weight": one.weights[k], "mean": one.means[k], "sd": math.sqrt(one.variances[k])}
                yield Reading(group, None, figures)

    @classmethod
    def free(cls, tally: Tally, column: Column = COLUMN) -> int:
        """A weight, a mean and a variance for each bell; the weights add up to 1."""
        _, _, groups = _fitted(tally, column)
        return sum(3 * len(bells.weights) - 1 for bells in groups if bells is not None)

    @classmethod
    def _estimate(cls, tally: Tally, estimate: Estimate, prior: Any, column: Column) -> Distribution:
        """The bells of each group, and one more for the prior's pseudo-rows."""
        places, slack, groups = _fitted(tally, column)
        before = _Pseudo.of(places, slack, places.pseudo_rows(cls.prior(None if estimate == "mle" else prior)))
        counts = places.counts.sum(axis=0)
        total = some(counts + before.total)
        k = max((len(bells.weights) for bells in groups if bells is not None), default=0)
        last = int(before.total > 0)
        weights, means, variances = (np.zeros((k + last, len(groups))) for _ in range(3))
        means[:], variances[:] = before.mean, before.variance  # where a weight is 0 they matter to nobody
        for g, bells in enumerate(groups):
            if bells is not None:
                mine = slice(0, len(bells.weights))
                weights[mine, g] = bells.weights * (counts[g] / total[g])
                means[mine, g], variances[mine, g] = bells.means, bells.variances
        if last:
            weights[-1] = before.total / total
        weights, means, variances = (part[:, 0] if ungrouped(tally) else part for part in (weights, means, variances))
        return cls(weights, means, variances, column.origin)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log density of each value with its own row taken out.

        The places, the least width and each bin's shares of the bells stay those of all rows; where bells overlap
        much, a refit would move them further.
        """
        places, slack, groups = _fitted(tally, how.column)
        counts, pooled = places.counts.sum(axis=0), places.counts.sum(axis=1)
        pseudo = places.pseudo_rows(cls.prior(how.prior))
        before = _Pseudo.of(places, slack, pooled if how.pooled else pseudo * (pooled > 0))
        together = _bells(places, slack, pooled, how.column) if how.estimate == "mle" else None

        def evidence(x: Any, left: Left) -> Floats:
            bins = places.bins(x)
            less(places.counts[bins, left.groups], left.amounts)  # refuses rows that were never learnt
            at, loose, n = places.at[bins], slack[bins], left.without(counts)
            found = np.full((len(x), len(groups)), -np.inf)  # log (count · density)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                for g, bells in enumerate(groups):
                    if bells is None:
                        continue
                    found[:, g] = log_sum(_log_bells(x[:, None], bells.weights, bells.means, bells.variances))
                    found[:, g] += np.log(counts[g])
                    mine = np.flatnonzero(left.groups == g)
                    rows = (x[mine], at[mine], loose[mine], left.amounts[mine])
                    found[mine, g] = _without(bells, bells.shares[bins[mine]], counts[g], slack.min(), *rows)
                if how.estimate == "mle":  # a group without values is like all together
                    assert together is not None
                    rows = (x, at, loose, left.amounts)
                    others = _without(together, together.shares[bins], pooled.sum(), slack.min(), *rows)
                    return or_all(found, n, left, others, less(pooled.sum(), left.amounts))
                if how.pooled:
                    rest = before.less(at, loose, left.amounts, slack.min())
                    weight = how.strength * share(rest.total, rest.total)
                else:  # a bin that is no more has no pseudo-rows
                    gone = less(pooled[bins], left.amounts) == 0
                    rest = before.less(at, loose, np.where(gone, pseudo[bins], 0.0), slack.min())
                    weight = np.asarray(rest.total)
                return blended(found, n, _log_bells(x, weight, rest.mean, rest.variance), weight)

        return evidence

    def log_prob(self, x: Any) -> Floats:
        """log density; NaN for a missing value."""
        x = np.asarray(x, float)
        total: Any = -np.inf
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            for bell in zip(*(np.asarray(part) for part in (self.weights, self.means, self.variances))):
                total = np.logaddexp(total, _log_bells(*by_group(x, *bell)))
        return groups_last(np.asarray(total), x)

    @property
    def mean(self) -> Any:
        """Σ weight · mean."""
        return tidy((self.weights * self.means).sum(axis=0))

    @property
    def variance(self) -> Any:
        """Σ weight · (variance + (mean - mean of all)²)."""
        return tidy((self.weights * (self.variances + np.square(self.means - self.mean))).sum(axis=0))

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw values: a bell, and a step from its middle."""
        rng = generator(random_state)
        which = drawn(rng, self.weights, size)
        mean, variance = (np.take_along_axis(np.asarray(part), which, axis=0) for part in (self.means, self.variances))
        return np.asarray(mean + np.sqrt(variance) * rng.standard_normal(which.shape))


@dataclass(frozen=True)
class _Pseudo:
    """The mean and the variance of some pseudo-rows, or of many such sets at once."""

    total: Any
    mean: Any
    variance: Any

    @staticmethod
    def of(places: Bins, slack: Floats, rows: Floats) -> _Pseudo:
        """Of so many rows at each place."""
        total = float(rows.sum())
        if total == 0:
            return _Pseudo(0.0, 0.0, 1.0)
        mean = float(rows @ places.at) / total
        return _Pseudo(total, mean, float(rows @ (np.square(places.at - mean) + slack)) / total)

    def less(self, at: Floats, slack: Floats, amounts: Floats, least: float) -> _Pseudo:
        """Without so much at one place, for many places; no variance is below the least, however it is rounded."""
        total = less(self.total, amounts)
        rest, apart = np.where(total > 0, total, 1.0), at - self.mean
        moved = -amounts * apart / rest
        variance = (self.total * self.variance - amounts * (apart * apart + slack)) / rest - moved * moved
        return _Pseudo(total, self.mean + moved, np.where(total > 0, np.maximum(variance, least), 1.0))


def _fitted(tally: Tally, column: Column) -> tuple[Bins, Floats, list[Bells | None]]:
    """The places, how well each value is known, and the bells of each group that has values."""

    def fit() -> tuple[Bins, Floats, list[Bells | None]]:
        places = Bins.some(tally, column)
        least = LEAST * Kernel.width(tally, column) if column.bandwidth is None else Kernel.width(tally, column)
        slack = least * least + np.square(places.widths) / 12
        return places, slack, [_bells(places, slack, counts, column) for counts in places.counts.T]

    return tally.once(("bells", column.bandwidth, column.components, column.origin), fit)


def _bells(places: Bins, slack: Floats, counts: Floats, column: Column) -> Bells | None:
    """The bells of one group, with shares for all places; None where it has no values."""
    seen = counts > 0
    if not seen.any():
        return None
    middle = float(np.average(places.at[seen], weights=counts[seen]))
    unit = max(float(np.abs(places.at[seen] - middle).max()), float(slack.max()) ** 0.5)  # so that no square overflows
    at, loose = (places.at - middle) / unit, slack / unit / unit
    found = chosen(at[seen], loose[seen], counts[seen], column.components)
    shares = np.zeros((len(at), len(found.weights)))
    shares[seen] = found.shares
    return Bells(
        found.weights,
        found.means * unit + middle,
        found.variances * unit * unit,
        found.slack * unit * unit,
        shares,
        found.trace,
    )


def _without(
    bells: Bells, shares: Floats, count: float, least: float, x: Floats, at: Floats, slack: Floats, amounts: Floats
) -> Floats:
    """log (count · density) of values x at some places, each with so much of its place's count left out."""
    out = amounts[:, None] * shares
    mass = less(np.broadcast_to(bells.weights * count, out.shape), out)
    rest = np.where(mass > 0, mass, 1.0)
    before, apart = bells.weights * count, at[:, None] - bells.means
    moved = -out * apart / rest
    known = (before * bells.slack - out * slack[:, None]) / rest
    spread = (before * (bells.variances - bells.slack) - out * apart * apart) / rest - moved * moved
    variance = np.maximum(spread, 0.0) + np.maximum(known, least)
    return log_sum(_log_bells(x[:, None], mass, bells.means + moved, np.where(mass > 0, variance, 1.0)))


def _log_bells(x: Any, weights: Any, means: Any, variances: Any) -> Any:
    """log of weight · density."""
    return np.log(weights) - 0.5 * (LOG_2PI + np.log(variances) + np.square((x - means) / np.sqrt(variances)))
