"""What is known of a mean and a variance, and what it predicts: the Gaussian's prior and its predictive."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evenodds.families import numeric
from evenodds.families.distribution import (
    Conjugate,
    Formula,
    Seed,
    generator,
    not_negative,
    tidy,
)
from evenodds.families.leaves import Floats
from evenodds.tally import Tally

LOG_2PI = math.log(2 * math.pi)
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)  # B_2, B_4, …
SERIES = [(1 - 0.25**k) * b / (k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1)]
_log_gamma = np.vectorize(math.lgamma, otypes=[float])


@dataclass(frozen=True, eq=False, repr=False)
class NormalInverseGamma(Conjugate):
    """What is known of a mean μ and a variance σ²: μ ~ N(mean, σ²/strength), 1/σ² ~ Gamma(shape, scale).

    `strength` is how many values the prior mean is worth, 2·shape how many the prior variance scale/shape is worth.
    The flat prior (in μ and log σ²) is NormalInverseGamma(0, 0, -1/2, 0).

    >>> from evenodds import Gaussian
    >>> NormalInverseGamma(0, 1, 1, 1) + Gaussian.tally([1.0, 3.0])
    NormalInverseGamma(mean=1.33333, strength=3, shape=2, scale=3.33333)
    """

    mean: Any
    strength: Any
    shape: Any
    scale: Any

    def __post_init__(self) -> None:
        not_negative(strength=self.strength, scale=self.scale)

    def __add__(self, tally: Tally) -> Self:
        return self.given(*numeric.moments(tally))

    def given(self, n: Any, average: Any, squares: Any) -> Self:
        """What is known after n values of this mean, whose squared distances from it add up to `squares`."""
        strength = self.strength + n
        weight = np.where(strength > 0, strength, 1.0)
        between = self.strength * n * (average - self.mean) ** 2 / weight
        mean = (self.strength * self.mean + n * average) / weight
        scale = self.scale + (squares + between) / 2
        return type(self)(*(tidy(v) for v in (mean, strength, self.shape + n / 2, scale)))

    @property
    def proper(self) -> bool:
        """Whether it integrates to 1."""
        return all(bool(np.all(np.asarray(v) > 0)) for v in (self.strength, self.shape, self.scale))

    def log_normaliser(self) -> Any:
        """log Γ(shape) - shape · log scale + ½ log(2π/strength)."""
        return _log_gamma(self.shape) - self.shape * np.log(self.scale) + 0.5 * (LOG_2PI - np.log(self.strength))

    @property
    def mode(self) -> Any:
        """The most probable (mean, variance), in the coordinates mean and log variance: scale / (shape + 1/2)."""
        return self.mean, self.scale / (self.shape + 0.5)

    @property
    def variance(self) -> Any:
        """The inverse of the posterior mean precision: scale / shape."""
        return self.scale / self.shape

    def log_prob(self, x: Any) -> Floats:
        """log density at x = (μ, σ²): -(shape + 3/2) log σ² - (scale + strength/2 · (μ - mean)²) / σ², normalised."""
        mu, v = (np.asarray(part, float) for part in x)
        apart = self.scale + 0.5 * self.strength * (mu - self.mean) ** 2
        return np.asarray(-(self.shape + 1.5) * np.log(v) - apart / v - self.log_normaliser())

    @property
    def of_mean(self) -> StudentT:
        """What is known of the mean alone."""
        return StudentT(2 * self.shape, self.mean, np.sqrt(self.scale / (self.shape * self.strength)))

    def quantile(self, q: Any) -> Any:
        """Below which the mean lies with the probability q."""
        return self.of_mean.quantile(q)

    def sample(self, size: int, random_state: Seed = None) -> tuple[Floats, Floats]:
        """Draw means and variances."""
        rng = generator(random_state)
        shape = (size, *np.shape(self.mean))
        v = self.scale / rng.gamma(self.shape, size=shape)
        return rng.normal(self.mean, np.sqrt(v / self.strength), shape), v


@dataclass(frozen=True, eq=False, repr=False)
class StudentT(Formula):
    """A Gaussian whose mean and variance are only known as a NormalInverseGamma: its predictive.

    p(x) ∝ (1 + (x-mean)²/(df·scale²))^(-(df+1)/2)
    """

    df: Any
    mean: Any
    scale: Any

    @property
    def _numbers(self) -> tuple[Any, ...]:
        return self.df, self.mean, self.scale, self._constant

    @staticmethod
    def _log(x: Floats, df: Floats, mean: Floats, scale: Floats, constant: Floats) -> Floats:
        z = np.asarray(x - mean)
        z *= 1 / (scale * np.sqrt(df))
        z *= z
        np.log1p(z, out=z)
        z *= -(df + 1) / 2
        z += constant
        return z

    @functools.cached_property
    def _constant(self) -> Floats:
        """log Γ((df+1)/2) - log Γ(df/2) - log(scale · sqrt(π·df))."""
        df = np.asarray(self.df, float)
        return np.asarray(_half_step(df / 2) - 0.5 * np.log(df * math.pi) - np.log(self.scale))

    def cdf(self, x: Any) -> Any:
        """The probability of less than x."""
        from scipy.special import stdtr

        return stdtr(self.df, (np.asarray(x) - self.mean) / self.scale)

    def quantile(self, q: Any) -> Any:
        """Below which a value lies with the probability q."""
        return self.mean + self.scale * t_quantile(self.df, q)

    @property
    def variance(self) -> Any:
        """scale² · df/(df-2); infinite with df of 2 or less."""
        df = np.asarray(self.df, float)
        return tidy(np.where(df > 2, np.asarray(self.scale) ** 2 * df / np.where(df > 2, df - 2, 1.0), np.inf))

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw values."""
        draws = generator(random_state).standard_t(self.df, (size, *np.shape(self.mean)))
        return np.asarray(self.mean + self.scale * draws)


def _half_step(z: Floats) -> Floats:
    """log Γ(z + 1/2) - log Γ(z), right to the last digits of any z: of a billion, two log Γs would leave six of them.

    1/2 log z - Σ_k (1 - 4^-k) B_2k / (k (2k-1) z^(2k-1)), a few steps further up; and Γ(z) = Γ(z+1) / z on the way.
    """
    steps, far = np.ones(np.shape(z)), z + len(SERIES)
    for k in range(len(SERIES)):
        steps *= (z + k) / (z + (k + 0.5))
    series = np.polynomial.polynomial.polyval(np.square(1 / far), SERIES) / far
    return np.asarray(0.5 * np.log(far) - series + np.log(steps))


def t_quantile(df: Any, q: float) -> Any:
    """The quantile of Student's t."""
    from scipy.special import stdtrit

    return stdtrit(df, q)
