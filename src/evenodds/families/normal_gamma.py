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
    Distribution,
    Seed,
    by_group,
    generator,
    groups_last,
    not_negative,
    tidy,
)
from evenodds.families.leaves import Floats
from evenodds.tally import Tally

LOG_2PI = math.log(2 * math.pi)
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
        """log Γ(a) - a log b + ½ log(2π/κ), and n/2 · log 2π for the n values that 2a counts."""
        a, b, k = self.shape, self.scale, self.strength
        return _log_gamma(a) - a * np.log(b) - 0.5 * np.log(k) - a * LOG_2PI

    @property
    def mode(self) -> Any:
        """The most probable (mean, variance), in the coordinates mean and log variance: scale / (shape + 1/2)."""
        return self.mean, self.scale / (self.shape + 0.5)

    @property
    def variance(self) -> Any:
        """The inverse of the posterior mean precision: scale / shape."""
        return self.scale / self.shape

    def log_prob(self, x: Any) -> Floats:
        """log density at x = (μ, σ²)."""
        mu, v = (np.asarray(part, float) for part in x)
        gaussian = -0.5 * (np.log(v / self.strength) + LOG_2PI + self.strength * (mu - self.mean) ** 2 / v)
        rate = self.shape * np.log(self.scale) - _log_gamma(self.shape)
        return np.asarray(gaussian + rate - (self.shape + 1) * np.log(v) - self.scale / v)

    @property
    def of_mean(self) -> StudentT:
        """What is known of the mean alone."""
        return StudentT(2 * self.shape, self.mean, np.sqrt(self.scale / (self.shape * self.strength)))

    def quantile(self, q: Any) -> Any:
        """Below which the mean lies with the probability q."""
        return self.of_mean.quantile(q)

    def interval_variance(self, level: float = 0.95) -> tuple[Any, Any]:
        """The central credible interval of the variance."""
        from scipy.special import gammaincinv

        tail = (1 - level) / 2
        low, high = (self.scale / gammaincinv(self.shape, q) for q in (1 - tail, tail))
        return tidy(low, high)

    def sample(self, size: int, random_state: Seed = None) -> tuple[Floats, Floats]:
        """Draw means and variances."""
        rng = generator(random_state)
        shape = (size, *np.shape(self.mean))
        v = self.scale / rng.gamma(self.shape, size=shape)
        return rng.normal(self.mean, np.sqrt(v / self.strength), shape), v


@dataclass(frozen=True, eq=False, repr=False)
class StudentT(Distribution):
    """A Gaussian whose mean and variance are only known as a NormalInverseGamma: its predictive.

    p(x) ∝ (1 + (x-mean)²/(df·scale²))^(-(df+1)/2)
    """

    df: Any
    mean: Any
    scale: Any

    def log_prob(self, x: Any) -> Floats:
        """log density."""
        x, df, mean, scale = by_group(x, self.df, self.mean, self.scale)
        return groups_last(self._log(x, df, mean, scale, self._constant.reshape(df.shape)), x)

    def each(self, x: Floats) -> Floats:
        """log density of the i-th value under the i-th parameters, (values, groups)."""
        from scipy.special import gammaln

        df, scale = np.asarray(self.df), np.asarray(self.scale)
        constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * math.pi) - np.log(scale)
        return self._log(x[:, None], df, np.asarray(self.mean), scale, constant)

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
        df = np.asarray(self.df, float)
        gammas = _log_gamma((df + 1) / 2) - _log_gamma(df / 2)
        return np.asarray(gammas - 0.5 * np.log(df * math.pi) - np.log(self.scale))

    def cdf(self, x: Any) -> Any:
        """The probability of less than x."""
        from scipy.special import stdtr

        return stdtr(self.df, (x - self.mean) / self.scale)

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


def t_quantile(df: Any, q: float) -> Any:
    """The quantile of Student's t."""
    from scipy.special import stdtrit

    return stdtrit(df, q)
