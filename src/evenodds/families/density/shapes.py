"""The kernels: bumps of mass 1, symmetric around 0, that a density is made of.

K_h(u) = K(u/h)/h: h is the Gaussian's standard deviation, and half the width of all others, which are bounded. Those
are written by the room that is left to their edge, s = 1 - |u|, so that they keep their digits where they end:

    boxcar        1/2
    triangular    s
    epanechnikov  3/4 · s(2-s)        = 3/4 · (1-u²)
    biweight      15/16 · (s(2-s))²   = 15/16 · (1-u²)²
    cosine        π/4 · sin(πs/2)     = π/4 · cos(πu/2)
    gaussian      e^(-u²/2) / √2π
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenodds.arguments import one_of
from evenodds.families.leaves import Floats

Draw = Callable[[np.random.Generator, int], Floats]
GAUSSIAN_SPREAD = (1 / (2 * math.sqrt(math.pi))) ** 0.2  # (∫K² / var(K)²)^(1/5) of the Gaussian


@dataclass(frozen=True)
class Shape:
    """A bounded kernel: Σ_k terms_k s^k of s = 1 - |u|; or, if `wave`, terms·(1, cos πs/2, sin πs/2).

    >>> SHAPES["epanechnikov"].at(np.array([0.0, 0.5, 1.0]))
    array([0.75  , 0.5625, 0.    ])
    """

    name: str
    terms: tuple[float, ...]
    below: tuple[float, ...]  # the terms of G(s) = ∫ K up to s, counted from the edge
    variance: float  # ∫ u² K(u) du
    roughness: float  # ∫ K(u)² du
    draw: Draw
    wave: bool = False

    @property
    def above(self) -> tuple[float, ...]:
        """The terms of 1 - G(s): the mass beyond."""
        return 1 - self.below[0], *(-term for term in self.below[1:])

    @property
    def spread(self) -> float:
        """How much wider than the Gaussian's its bandwidth must be for the same smoothness (Marron and Nolan 1988)."""
        return float((self.roughness / self.variance**2) ** 0.2 / GAUSSIAN_SPREAD)

    def at(self, u: Floats) -> Floats:
        """K(u), by its definition."""
        return np.where(np.abs(u) <= 1, self.of(self.terms, 1 - np.minimum(np.abs(u), 1.0)), 0.0)

    def cdf(self, u: Floats) -> Floats:
        """∫ K from -∞ to u."""
        s = 1 - np.minimum(np.abs(u), 1.0)
        return np.where(u < 0, self.of(self.below, s), self.of(self.above, s))

    def of(self, terms: tuple[float, ...], s: Floats) -> Floats:
        """Σ_k terms_k s^k, or the wave of these terms."""
        if self.wave:
            return np.asarray(terms[0] + terms[1] * np.cos(math.pi / 2 * s) + terms[2] * np.sin(math.pi / 2 * s))
        return np.polynomial.polynomial.polyval(s, np.array(terms))


@dataclass(frozen=True)
class Bell:
    """The Gaussian kernel, which has no edge."""

    name: str = "gaussian"
    variance: float = 1.0
    roughness: float = 1 / (2 * math.sqrt(math.pi))
    spread: float = 1.0

    def at(self, u: Floats) -> Floats:
        """K(u), by its definition."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.exp(-0.5 * u * u) / math.sqrt(2 * math.pi))

    def cdf(self, u: Floats) -> Floats:
        """∫ K from -∞ to u."""
        from scipy.special import ndtr

        return np.asarray(ndtr(u))

    def draw(self, rng: np.random.Generator, size: int) -> Floats:
        """Values of this density."""
        return rng.standard_normal(size)


def _beta(a: float) -> Draw:
    return lambda rng, size: 2 * rng.beta(a, a, size) - 1


def _wave(rng: np.random.Generator, size: int) -> Floats:
    return np.asarray(np.arcsin(2 * rng.random(size) - 1) * (2 / math.pi))


SHAPES: dict[str, Shape | Bell] = {
    shape.name: shape
    for shape in (
        Bell(),
        Shape("boxcar", (0.5,), (0.0, 0.5), 1 / 3, 1 / 2, _beta(1)),
        Shape("triangular", (0.0, 1.0), (0.0, 0.0, 0.5), 1 / 6, 2 / 3, lambda rng, n: rng.random(n) - rng.random(n)),
        Shape("epanechnikov", (0.0, 1.5, -0.75), (0.0, 0.0, 0.75, -0.25), 1 / 5, 3 / 5, _beta(2)),
        Shape(
            "biweight",
            (0.0, 0.0, 15 / 4, -15 / 4, 15 / 16),
            (0.0, 0.0, 0.0, 5 / 4, -15 / 16, 3 / 16),
            1 / 7,
            5 / 7,
            _beta(3),
        ),
        Shape(
            "cosine",
            (0.0, 0.0, math.pi / 4),
            (0.5, -0.5, 0.0),
            1 - 8 / math.pi**2,
            math.pi**2 / 16,
            _wave,
            wave=True,
        ),
    )
}


def shape_of(name: str) -> Shape | Bell:
    """The kernel of this name."""
    one_of("kernel", name, SHAPES)
    return SHAPES[name]
