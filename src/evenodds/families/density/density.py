"""A kernel density: what it is at any place, exactly; on a grid, quickly; and drawn from."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.arguments import whole
from evenodds.errors import DataError
from evenodds.families.density.grid import on_grid
from evenodds.families.density.points import Points, Sums
from evenodds.families.density.shapes import Bell, Shape, shape_of
from evenodds.families.density.sums import FAR
from evenodds.families.distribution import Distribution, Seed, generator
from evenodds.families.leaves import Floats

MIRRORS = 100  # images of the data on either side of a bounded support, at most
HALVINGS = 200  # of where a quantile may lie
ENDLESS = (-math.inf, math.inf)


@dataclass(frozen=True, eq=False, repr=False)
class Density(Distribution):
    """A bump of mass 1/n on each of n points.

    p(x) = 1/(n h) Σ_i K((x - x_i)/h);  its variance is the points' (divided by n) plus h² var(K)

    >>> two = Density(Points.of(np.array([0.0, 1.0])), "boxcar", 1.0)
    >>> two.pdf([-0.5, 0.5, 1.5])
    array([0.25, 0.5 , 0.25])

    With a `support` what would lie outside is reflected at its ends, so that no mass is lost. The error of `pdf` is at
    most 1e-13 of its peak, that of `cdf` 1e-13; `log_prob` is right to 1e-10 of itself in the tails, however far.
    """

    points: Points
    kernel: str = "gaussian"
    bandwidth: float = 1.0
    support: tuple[float, float] = ENDLESS

    def __post_init__(self) -> None:
        low, high = self.support
        if not low < high:
            raise ValueError(f"support={self.support}: expected two numbers, the lower first")
        values = self.points.values
        if self.support != ENDLESS and not (low <= values.min() and values.max() <= high):
            worst = values.min() if values.min() < low else values.max()
            raise DataError(f"a value is {worst:g}, outside the support from {low:g} to {high:g}")
        if self._mirrors > MIRRORS:
            raise DataError(
                f"a bandwidth of {self.bandwidth:g} on a support from {low:g} to {high:g} is as good as uniform: "
                "choose a smaller one"
            )

    @functools.cached_property
    def shape(self) -> Shape | Bell:
        """The kernel itself."""
        return shape_of(self.kernel)

    @property
    def reach(self) -> float:
        """How far from a point its bump reaches."""
        return self.bandwidth * (FAR if isinstance(self.shape, Bell) else 1.0)

    @functools.cached_property
    def _sums(self) -> Sums:
        return Sums(self.points, self.shape, self.bandwidth)

    @property
    def _mirrors(self) -> int:
        """How many times the support is repeated to either side until no bump reaches back."""
        low, high = self.support
        return 0 if math.isinf(high - low) else math.ceil((self.reach / (high - low) + 1) / 2)

    def _images(self, at: Floats) -> Iterator[tuple[Floats, int]]:
        """The places whose densities add up to that at these, and whether they are turned around (-1)."""
        low, high = self.support
        many = self._mirrors
        for shift in [2 * k * (high - low) for k in range(-many, many + 1)] if many else [0.0]:
            yield at + shift, 1
            if low > -math.inf:
                yield 2 * low - at + shift, -1
            elif high < math.inf:
                yield 2 * high - at, -1

    def _inside(self, x: Any, found: Callable[[Floats], Floats], below: float, above: float) -> Floats:
        """found(x) inside the support; outside what is said; NaN for a missing value."""
        x = np.asarray(x, float)
        at = np.ascontiguousarray(x).ravel()
        low, high = self.support
        out = np.where(at < low, below, np.where(at > high, above, np.nan))
        known = np.flatnonzero((at >= low) & (at <= high) & np.isfinite(at))
        out[at == -np.inf], out[at == np.inf] = below, above
        out[known] = found(at[known])
        return out.reshape(x.shape)

    def pdf(self, x: Any) -> Floats:
        """The density at some places."""

        def found(at: Floats) -> Floats:
            total = sum((self._sums.values(image) for image, _ in self._images(at)), np.zeros(len(at)))
            return np.asarray(total / self.points.total / self.bandwidth)

        return self._inside(x, found, 0.0, 0.0)

    def prob(self, x: Any) -> Floats:
        """The density."""
        return self.pdf(x)

    def log_prob(self, x: Any) -> Floats:
        """log of the density; where it is below 1e-10 of its peak, summed anew from the nearest points on."""

        def found(at: Floats) -> Floats:
            total = np.full(len(at), -np.inf)
            for image, _ in self._images(at):
                total = np.logaddexp(total, self._sums.logs(image))
            return np.asarray(total - math.log(self.points.total) - math.log(self.bandwidth))

        return self._inside(x, found, -np.inf, -np.inf)

    def cdf(self, x: Any) -> Floats:
        """The mass below some places."""

        def found(at: Floats) -> Floats:
            total = sum((side * self._sums.masses(image) for image, side in self._images(at)), np.zeros(len(at)))
            if self.support[0] == -math.inf and self.support[1] < math.inf:
                total = total + self.points.total
            return np.clip(total / self.points.total, 0.0, 1.0)

        return self._inside(x, found, 0.0, 1.0)

    def quantile(self, p: Any) -> Floats:
        """The places below which the shares p of the mass lie; the lowest, where there are many."""
        p = np.asarray(p, float)
        if not np.all((p >= 0) & (p <= 1)):
            raise ValueError("quantile: expected shares from 0 to 1")
        flat, points = p.ravel(), self.points
        place, end = flat * points.total, len(points.x) - 1
        wide = 5 * self.reach  # a Gaussian beyond 45 bandwidths is 0, even as a double
        first = points.x[np.minimum(np.searchsorted(points.before[1:], place, side="left"), end)]
        after = points.x[np.minimum(np.searchsorted(points.before[1:], place, side="right"), end)]
        low, high = first - wide, after + wide
        low, high = np.maximum(low, self.support[0]), np.minimum(high, self.support[1])
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2
            if np.all((middle <= low) | (middle >= high)):
                break
            under = self.cdf(middle) < flat
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        first, last = self.support
        if isinstance(self.shape, Shape):
            first, last = max(first, points.x[0] - self.reach), min(last, points.x[-1] + self.reach)
        return np.where(flat == 0, first, np.where(flat == 1, last, high)).reshape(p.shape)

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw values: a point, and a step from it; back from the ends of the support."""
        rng, points = generator(random_state), self.points
        which = np.searchsorted(points.before[1:], rng.random(size) * points.total, side="right")
        x = points.x[np.minimum(which, len(points.x) - 1)] + self.bandwidth * self.shape.draw(rng, size)
        low, high = self.support
        if math.isfinite(high - low):
            apart = np.mod(x - low, 2 * (high - low))
            return np.asarray(low + np.minimum(apart, 2 * (high - low) - apart))
        return np.asarray(
            low + np.abs(x - low) if low > -math.inf else high - np.abs(high - x) if high < math.inf else x
        )

    @property
    def mean(self) -> float:
        """The points' mean, as long as nothing is reflected."""
        self._endless("mean")
        return self.points.moments[0]

    @property
    def variance(self) -> float:
        """The points' variance, plus h² var(K)."""
        self._endless("variance")
        return self.points.moments[1] + self.bandwidth * self.bandwidth * self.shape.variance

    def _endless(self, what: str) -> None:
        if self.support != ENDLESS:
            raise ValueError(f"the {what} of a reflected density has no formula; draw a sample and take its own")

    def extent(self) -> tuple[float, float]:
        """From where to where there is something to see: the values, and the bumps at both ends."""
        around, values = self.bandwidth * (3.0 if isinstance(self.shape, Bell) else 1.0), self.points.values
        return max(float(values.min()) - around, self.support[0]), min(float(values.max()) + around, self.support[1])

    def grid(self, size: int = 1024, low: float | None = None, high: float | None = None) -> tuple[Floats, Floats]:
        """Evenly spaced places and the density there, all at once: by linear binning and a Fourier transform.

        The error is a few 1e-4 of the peak, more where the kernel jumps. A reflected density is worked out exactly.
        """
        first, last = self.extent()
        low, high, size = first if low is None else low, last if high is None else high, whole("size", size, least=2)
        if not low < high:
            raise ValueError(f"a grid from {low:g} to {high:g}: expected the lower end first")
        found = None if self.support != ENDLESS else on_grid(self.points, self.shape, self.bandwidth, low, high, size)
        places = np.linspace(low, high, size)
        return places, self.pdf(places) if found is None else found

    def __repr__(self) -> str:
        n, inside = self.points.total, "" if self.support == ENDLESS else f", support={self.support}"
        return f"Density(kernel={self.kernel!r}, bandwidth={self.bandwidth:.6g}{inside}, values={n:g})"


def ends(support: Any) -> tuple[float, float]:
    """(low, high) as numbers: None is endless, and so is no support at all."""
    if support is None:
        return ENDLESS
    try:
        low, high = support
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ValueError(f"support={support!r}: expected (low, high), either of which may be None") from None
