"""Weighted points, sorted, and what a kernel adds up to over them: plainly where they are few, by cells where not."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.families.density import slow, sums
from evenodds.families.density.shapes import Bell, Shape
from evenodds.families.leaves import Floats, check_weights
from evenodds.labels import Ints

FEW = 1 << 19  # pairs of a point and a place, up to which they are summed by the definition: a few milliseconds
FAINT = 1e-10  # of the peak: below, a log is taken of a sum from the nearest points on
CANCELLED = 1e-4  # of a sum: what is left of it without the point's own part must be more, or it is summed again
MOST = 5.0  # cells as heavy as the heaviest bound any value: 1 + 2(1 + e^-0.5 + e^-2 + …), and 5 in a window


@dataclass(frozen=True, eq=False)
class Points:
    """Values, and how much each counts (None: 1); sorted, and the same ones together, when that is needed."""

    values: Floats
    counts: Floats | None = None

    @staticmethod
    def of(values: Floats, weights: Any = None) -> Points:
        """The points of some values; what is missing, or counts nothing, is left out."""
        counts = check_weights(weights, len(values))
        used = ~np.isnan(values) if counts is None else ~np.isnan(values) & (counts > 0)
        if not used.all():
            values, counts = values[used], None if counts is None else counts[used]
        if not len(values):
            raise DataError("no values, so there is no density: one at least must be known, and of weight above 0")
        if not np.isfinite(values).all():
            raise DataError(f"a value is {values[np.isinf(values)][0]}: no density reaches there; leave it out")
        return Points(values, counts)

    @functools.cached_property
    def _sorted(self) -> tuple[Floats, Floats]:
        order = None if self.counts is None else np.argsort(self.values, kind="stable")
        x = np.sort(self.values) if order is None else self.values[order]
        first = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
        if order is None or self.counts is None:
            return x[first], np.diff(np.append(first, len(x))).astype(float)
        return x[first], np.add.reduceat(self.counts[order], first)

    @property
    def x(self) -> Floats:
        """The different values, in their order."""
        return self._sorted[0]

    @property
    def weights(self) -> Floats:
        """How much each of them counts."""
        return self._sorted[1]

    def over(self, unit: float) -> Points:
        """The same, measured in another unit."""
        return Points(self.x / unit, self.weights)

    @functools.cached_property
    def total(self) -> float:
        """Σ w: how many values there are."""
        return float(len(self.values) if self.counts is None else self.counts.sum())

    @functools.cached_property
    def before(self) -> Floats:
        """The weight of all points before the i-th; last, of all."""
        return np.concatenate([[0.0], np.cumsum(self.weights.astype(np.longdouble)).astype(float)])

    @functools.cached_property
    def scale(self) -> float:
        """A power of two near the points' spread, by which to divide where squares might overflow."""
        return float(2.0 ** np.clip(np.frexp(max(abs(self.x[0]), abs(self.x[-1])))[1], -1000, 1000))

    @functools.cached_property
    def moments(self) -> tuple[float, float]:
        """The mean, and Σ w (x - mean)²/Σ w, whose root is infinite only where it must be."""
        z, w = self.x / self.scale, self.weights / self.total
        mean = float(w @ z)
        apart = z - mean
        variance = float(w @ (apart * apart)) - float(w @ apart) ** 2
        with np.errstate(over="ignore"):
            return mean * self.scale, float(np.float64(variance) * self.scale * self.scale)

    def quantile(self, p: float) -> float:
        """The value below which a share p lies, between two of them in proportion (R's type 7)."""
        place = p * max(self.total - 1, 0.0)
        low, high = (
            self.x[min(int(np.searchsorted(self.before[1:], at, side="right")), len(self.x) - 1)]
            for at in (math.floor(place), math.floor(place) + 1)
        )
        part = place - math.floor(place)
        return float(low * (1 - part) + high * part)


class Sums:
    """Sums over points of a kernel of one bandwidth."""

    def __init__(self, points: Points, shape: Shape | Bell, h: float) -> None:
        self.points, self.shape, self.h = points, shape, h

    def values(self, at: Floats) -> Floats:
        """Σ w K((at - x)/h)."""
        points, shape = self.points, self.shape
        if len(at) * len(points.x) <= FEW:
            return slow.values(shape, points.x, points.weights, self.h, at)
        out = np.empty(len(at))
        if isinstance(shape, Bell):
            sums.bell_sums.compiled(at, self._middles, self._damped, self.h, out)
            return out / sums.ROOT_TAU
        self._window(at, shape.terms, shape.terms, np.empty(0), out)
        return np.maximum(out, 0.0)

    def masses(self, at: Floats) -> Floats:
        """Σ w ∫ K up to (at - x)/h."""
        points, shape = self.points, self.shape
        if len(at) * len(points.x) <= FEW:
            return slow.masses(shape, points.x, points.weights, self.h, at)
        out = np.empty(len(at))
        if isinstance(shape, Bell):
            sums.bell_masses.compiled(at, self._middles, self._plain, points.before[self._starts], self.h, out)
        else:
            self._window(at, shape.above, shape.below, points.before, out)
        return np.clip(out, 0.0, points.total)

    def logs(self, at: Floats, own: Ints | None = None, less: Floats | None = None) -> Floats:
        """log Σ w K((at - x)/h); of the points own[q] (-1: of none), less[q] of their weight is left out."""
        points, shape = self.points, self.shape
        own = np.full(len(at), -1) if own is None else own
        less = np.zeros(len(at)) if less is None else less
        if len(at) * len(points.x) <= FEW:
            return slow.logs(shape, points.x, points.weights, self.h, at, own, less)
        found = self.values(at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rest = found - np.where(own >= 0, less * shape.at((at - points.x[own]) / self.h), 0.0)
            again = np.flatnonzero((found < FAINT * self.peak) | (rest <= CANCELLED * found))
            out = np.log(rest)
            if len(again):
                few = np.empty(len(again))
                some = at[again], points.x, points.weights, self.h
                mine = own[again], less[again]
                if isinstance(shape, Bell):
                    sums.bell_logs.compiled(*some, *mine, few)
                    out[again] = few - math.log(sums.ROOT_TAU)
                else:
                    sums.window_each.compiled(*some, np.array(shape.terms), shape.wave, *mine, few)
                    out[again] = np.log(few)
        return out

    @functools.cached_property
    def peak(self) -> float:
        """At least as much as any of the values."""
        heaviest = np.add.reduceat(self.points.weights, self._starts[:-1]).max()
        return float(MOST * heaviest * self.shape.at(np.zeros(1))[0])

    @functools.cached_property
    def _starts(self) -> Ints:
        """Where the cells begin among the points, and at last where they end."""
        starts = np.empty(len(self.points.x) + 1, np.int64)
        cells = sums.cut_cells(self.points.x, self.h, starts)
        starts[cells] = len(self.points.x)
        return starts[: cells + 1]

    @functools.cached_property
    def _middles(self) -> Floats:
        first, last = self.points.x[self._starts[:-1]], self.points.x[self._starts[1:] - 1]
        return np.asarray(first + (last - first) / 2)

    @functools.cached_property
    def _damped(self) -> Floats:
        return self._moments(damped=True)

    @functools.cached_property
    def _plain(self) -> Floats:
        return self._moments(damped=False)

    def _moments(self, damped: bool) -> Floats:
        moments = np.empty((len(self._middles), sums.TERMS))
        points = self.points
        sums.bell_moments.compiled(points.x, points.weights, self._starts, self._middles, self.h, damped, moments)
        return moments

    @functools.cached_property
    def _running(self) -> Floats:
        """The running sums of each cell, of as many powers as its integral needs."""
        assert isinstance(self.shape, Shape)
        points, shape = self.points, self.shape
        running = np.empty((len(points.x), len(shape.below)))
        sums.running_powers.compiled(points.x, points.weights, self._starts, self._middles, self.h, shape.wave, running)
        return running

    def _window(
        self, at: Floats, below: tuple[float, ...], above: tuple[float, ...], before: Floats, out: Floats
    ) -> None:
        """The sum over the window of these terms of s, of the points below each place and of those above."""
        assert isinstance(self.shape, Shape)
        table = np.stack([_expanded(terms, self.shape.wave) for terms in (below, above)])
        starts, middles = self._starts, self._middles
        sums.window_sums.compiled(
            at, self.points.x, starts, middles, self._running, before, self.h, table, self.shape.wave, out
        )


def _expanded(terms: tuple[float, ...], wave: bool) -> Floats:
    """terms_k C(k, j) at [j, k]; a wave's terms as they are."""
    if wave:
        return np.array([terms])
    return np.array([[term * math.comb(k, j) for k, term in enumerate(terms)] for j in range(len(terms))])
