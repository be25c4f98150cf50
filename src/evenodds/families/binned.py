"""Any shape at all: a few bins of equal mass, cut from the numeric tally's histogram."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.families import kernels, numeric
from evenodds.families.base import COLUMN, Estimate, Reading
from evenodds.families.categorical import Dirichlet, shares_read
from evenodds.families.distribution import Distribution, Seed, drawn, generator, look_up, some, tidy, with_axes_of
from evenodds.families.from_histogram import FromHistogram, as_labels, summed
from evenodds.families.leaves import Floats, ungrouped
from evenodds.families.left_out import Counted, How, Left, once_each
from evenodds.labels import Fixed, Ints
from evenodds.schema import Column
from evenodds.tally import Tally

Cut = tuple[Floats, Floats, tuple[float, float], int]
TELLING = 128  # from which number on a bin of the histogram holds a whole number whatever its values are
FEW = 32  # cuts, up to which comparing with each of them is faster than searching


@dataclass(frozen=True, eq=False, repr=False)
class Binned(FromHistogram):
    """A share for each of a few bins, uniform within a bin.

    p(x) = share_b / width_b for x in bin b

    The bins have equal mass in all groups together ("about 8"), so they are narrow where the data are dense; they
    are cut midway between the values on either side. Zero is a bin of its own where it is common: a lump of mass, not
    a density. Beyond the outermost values the density falls off exponentially, with the mass 1/(n+2) of the outer
    bin's n values: a value larger than any before it is rare, not impossible, and counts as the outer bin's.

    >>> Binned.fit([1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0], estimate="mle").shares
    array([0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125])

    What is summed: the numeric tally. The prior is a Dirichlet over the bins; `mean` and `predictive` are one
    distribution.
    """

    edges: Floats = field(metadata={"batched": False})  # the outer ends of the data and the cuts between the bins
    shares: Any  # (bins, groups)
    tails: tuple[float, float] = (0.0, 0.0)  # how much of the outer bins' mass lies beyond the data
    lump: int = -1  # the bin that is a single value (zero, or the origin), if any
    origin: float = 0.0
    whole: bool = False  # whether all values are whole numbers, as far as the histogram can tell
    name = "binned"
    held = "cuts"

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Dirichlet:
        """The same pseudo-count for every bin."""
        return Dirichlet(strength)

    @classmethod
    def table(cls, tally: Tally, column: Column = COLUMN) -> Floats:
        """Counts per bin and group."""
        return _cut(tally, column)[1]

    @classmethod
    def bins(cls, tally: Tally, column: Column) -> Floats:
        """The histogram's bins, put together."""
        return cls.table(tally, column)

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """The share of each bin with its interval."""
        bins = estimate.names()
        return shares_read(bins, range(len(bins)), estimate, posterior, level)

    def names(self) -> list[str]:
        """What each bin holds.

        >>> Binned.fit([0, 0, 0, 1, 1, 2, 2, 3, 4, 7]).names()[:4]
        ['0', '1', '2', '3']
        """
        if self.whole:
            ends = np.ceil(self.edges)
            return [f"{a:.10g}" if a == b else f"{a:.10g} to {b:.10g}" for a, b in zip(ends[:-1], ends[1:] - 1)]
        edges = [f"{edge:.4g}" for edge in self.edges]
        found = [f"{a} to {b}" for a, b in itertools.pairwise(edges)]
        if self.lump >= 0:
            found[self.lump] = edges[self.lump]
            if self.lump + 1 < len(found):
                found[self.lump + 1] = f"above {edges[self.lump]} to {edges[self.lump + 2]}"
        return found

    @classmethod
    def log_evidence(cls, data: Any, prior: Any = None) -> Any:
        """The log probability of the bins' counts, and of the values within their bins."""
        tally = cls.tallied(data)
        edges, counts, tails, lump = _cut(tally, COLUMN)
        start = cls.prior(prior)
        within = (counts * _log_density(edges, tails, lump)[:, None]).sum(axis=0)
        shares = start.log_evidence(as_labels(counts, tally))
        return tidy(shares + (within[0] if ungrouped(tally) else within))

    @classmethod
    def _estimate(cls, tally: Tally, estimate: Estimate, prior: Any, column: Column) -> Distribution:
        """The bins of all groups together, and each group's shares of them."""
        edges, counts, tails, lump = _cut(tally, column)
        whole = column.origin == 0 and tally.once(("whole",), lambda: _whole(numeric.bins(tally)))
        if estimate == "mle":
            values = counts[:, 0] if ungrouped(tally) else counts
            return cls(edges, values / some(values.sum(axis=0)), tails, lump, column.origin, whole)
        posterior = cls.posterior(tally, prior, column)
        return cls(edges, posterior.mode if estimate == "map" else posterior.mean, tails, lump, column.origin, whole)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log share of each value's bin with its own row taken out; the cuts stay those of all rows."""
        edges, counts, tails, lump = _cut(tally, how.column)
        bins = cls(edges, counts, tails, lump, how.column.origin)
        start = cls.prior(how.prior, how.strength)
        _, counts, prior = start.aligned(Fixed(len(counts)), counts)
        table = Counted(counts, prior, np.ones(len(counts), bool))

        def says(values: Ints, left: Left) -> Floats:
            return table.log_shares(values, left, how)

        return lambda x, left: once_each(bins.codes(x).astype(np.int64), len(counts), left, says)

    def log_prob(self, x: Any) -> Floats:
        """log density, or log mass at a lump; NaN for a missing value."""
        x = np.asarray(x, float)
        flat = np.ascontiguousarray(x).ravel()
        picked = look_up(self._log_table, self.codes(flat))
        if (
            np.fmin.reduce(flat, initial=np.inf) < self.edges[0]
            or np.fmax.reduce(flat, initial=-np.inf) > self.edges[-1]
        ):
            outside = np.flatnonzero((flat < self.edges[0]) | (flat > self.edges[-1]))
            picked[outside] += self._beyond(flat[outside]).reshape(-1, *(1,) * (picked.ndim - 1))
        return picked.reshape(x.shape + picked.shape[1:]) if x.ndim != 1 else picked

    def add_log_prob(self, x: Any, total: Floats) -> None:
        """The same, added to total[group, value] in one pass; values beyond the data are looked at again."""
        if kernels.add_binned(x, self.edges, self._by_group, total):
            outside = np.flatnonzero((x < self.edges[0]) | (x > self.edges[-1]))
            total[:, outside] += self._beyond(x[outside])

    @functools.cached_property
    def _by_group(self) -> Floats:
        return np.ascontiguousarray(self._log_table.T)

    @functools.cached_property
    def _log_table(self) -> Floats:
        """log density of each bin and group, and a last row for the missing."""
        with np.errstate(divide="ignore"):
            table = np.log(self.shares) + with_axes_of(_log_density(self.edges, self.tails, self.lump), self.shares[0])
        return np.concatenate([table, np.full((1, *table.shape[1:]), np.nan)])

    def codes(self, x: Floats) -> Any:
        """Which bin each value is in: how many cuts are at or below it; -1 for a missing one."""
        cuts = self.edges[1:-1]
        if len(cuts) > FEW:
            codes = np.searchsorted(cuts, x, side="right")
        else:
            codes = np.zeros(len(x), np.int8)
            for cut in cuts:
                codes += (x >= cut).view(np.int8)
        missing = np.isnan(x)
        if missing.any():
            codes[missing] = -1
        return codes

    def _beyond(self, x: Floats) -> Floats:
        """What the log density outside the data has more than the outer bin's: an exponential of that bin's width."""
        low = x < self.edges[0]
        tail = np.where(low, self.tails[0], self.tails[1])
        some = tail > 0  # a lump has no tail
        width = np.where(some, np.where(low, self.edges[1] - self.edges[0], self.edges[-1] - self.edges[-2]), 1.0)
        distance = np.where(low, self.edges[0] - x, x - self.edges[-1]) / width
        inside = _inside(len(self.edges) - 1, self.tails)
        odds = np.where(some, tail, 1.0) / np.where(low, inside[0], inside[-1])
        return np.where(some, np.log(odds) - distance, -np.inf)

    def log_likelihood(self, tally: Tally) -> Any:
        """Σ count_b log p_b over the histogram's bins; exact where none of them straddles a cut."""
        keys, counts = numeric.histogram(tally)
        lower, upper = numeric.edges(keys)
        return summed(self.log_prob(np.where(keys == 0, 0.0, (lower + upper) / 2) + self.origin), counts)

    @property
    def mean(self) -> Any:
        """Σ share · mean of the bin."""
        return tidy(self.edges[0] + self._moments()[0] @ self.shares)

    @property
    def variance(self) -> Any:
        """E[x²] - E[x]², counted from the first edge."""
        first, second = (moment @ self.shares for moment in self._moments())
        return tidy(second - first**2)

    def _moments(self) -> tuple[Floats, Floats]:
        """E[x] and E[x²] within each bin, counted from the first edge: uniform; exponential beyond the outer ones."""
        low, high = self.edges[:-1] - self.edges[0], self.edges[1:] - self.edges[0]
        first, second = (low + high) / 2, (low * low + low * high + high * high) / 3
        for i, edge, sign, tail in ((0, low[0], -1, self.tails[0]), (-1, high[-1], 1, self.tails[1])):
            width = high[i] - low[i]
            first[i] += tail * (edge + sign * width - (low[i] + high[i]) / 2)
            beyond = edge * edge + 2 * sign * edge * width + 2 * width * width
            second[i] += tail * (beyond - (low[i] ** 2 + low[i] * high[i] + high[i] ** 2) / 3)
        return first, second

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw values: a bin, then a place in it, or beyond the data for the outer bins' tails."""
        rng = generator(random_state)
        bins = drawn(rng, self.shares, size)
        low, high = self.edges[bins], self.edges[bins + 1]
        place, tail, far = rng.random(bins.shape), rng.random(bins.shape), rng.exponential(size=bins.shape)
        values = np.where(bins == self.lump, low, low + (high - low) * place)
        values = np.where((bins == 0) & (tail < self.tails[0]), low - far * (high - low), values)
        last = bins == len(self.shares) - 1
        return np.where(last & (1 - tail < self.tails[1]), high + far * (high - low), values)


def _log_density(edges: Floats, tails: tuple[float, float], lump: int) -> Floats:
    """log of the mass inside over the width of each bin; 0 for a lump."""
    widths = np.diff(edges)
    if lump >= 0:
        widths[lump] = 1.0
    return np.asarray(np.log(_inside(len(widths), tails)) - np.log(widths))


def _inside(bins: int, tails: tuple[float, float]) -> Floats:
    """How much of each bin's mass lies within it: all but the tails of the outer ones, which may be the same one."""
    inside = np.ones(bins)
    inside[0] -= tails[0]
    inside[-1] -= tails[1]
    return inside


def _whole(keys: Ints) -> bool:
    """Whether these bins of the histogram hold whole numbers alone: bins of small numbers tell, and there are some."""
    nearest = numeric.nearest(keys)
    small = nearest[(nearest < TELLING) & (keys != 0)]
    return len(small) * 4 >= len(keys) and bool(np.all(small == np.floor(small))) and len(small) > 0


def _cut(tally: Tally, column: Column) -> Cut:
    """Cuts of equal pooled mass through the histogram; counts per bin and group; the mass beyond the ends; the lump."""
    return tally.once(("bins", column.bins, column.origin), lambda: _cut_anew(tally, column))


def _cut_anew(tally: Tally, column: Column) -> Cut:
    keys, counts = numeric.histogram(tally)
    if not len(keys):
        return np.array([0.0, 1.0]), np.zeros((1, len(tally.groups))), (0.0, 0.0), -1
    starts = kernels.equal_masses(keys, counts.sum(axis=1), column.bins)
    lower, upper = numeric.spans(keys)
    stops = np.append(starts[1:], len(keys))
    cuts = (upper[starts[1:] - 1] + lower[starts[1:]]) / 2
    edges = numeric.from_origin(np.concatenate([[lower[0]], cuts, [upper[-1]]]), column.origin)
    alone = np.flatnonzero((keys[starts] == 0) & (stops == starts + 1))
    lump = int(alone[0]) if len(alone) else -1
    if lump >= 0:  # from exactly the origin to just above it
        edges[lump], edges[lump + 1] = column.origin, np.nextafter(column.origin, np.inf)
    grouped = np.add.reduceat(counts, starts, axis=0)
    first, last = (0.0 if lump == i else float(1 / (grouped[i].sum() + 2)) for i in (0, len(grouped) - 1))
    return edges, grouped, (first, last), lump
