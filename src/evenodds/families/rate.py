"""How often something happens: what is known of a rate, and what families with one share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from evenodds.families.base import Estimate, Family
from evenodds.families.distribution import (
    Conjugate,
    Distribution,
    Seed,
    by_group,
    generator,
    groups_last,
    not_negative,
    spread,
    tidy,
)
from evenodds.families.leaves import Floats, has, read
from evenodds.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class Gamma(Conjugate):
    """What is known of a rate: p(λ) ∝ λ^(shape-1) e^(-rate·λ): `shape` events seen in `rate` units.

    >>> from evenodds import Poisson
    >>> Gamma(2, 1) + Poisson.tally([3, 0, 1])
    Gamma(shape=6, rate=4)
    """

    shape: Any
    rate: Any

    def __post_init__(self) -> None:
        not_negative(shape=self.shape, rate=self.rate)

    def __add__(self, tally: Tally) -> Self:
        if has(tally, "events"):  # counts: each row is a unit of time
            return type(self)(self.shape + read(tally, "events")[0], self.rate + read(tally, "rows")[0])
        return type(self)(self.shape + read(tally, "rows")[0], self.rate + read(tally, "moments")[0])

    def log_normaliser(self) -> Any:
        """log Γ(shape) - shape · log rate."""
        from scipy.special import gammaln

        return gammaln(self.shape) - self.shape * np.log(self.rate)

    @property
    def proper(self) -> bool:
        """Whether it integrates to 1: not at rate 0."""
        return bool(np.all(np.asarray(self.shape) > 0) and np.all(np.asarray(self.rate) > 0))

    @property
    def mean(self) -> Any:
        """shape / rate."""
        return self.shape / self.rate

    @property
    def mode(self) -> Any:
        """(shape - 1) / rate, or 0."""
        return tidy(np.maximum(np.asarray(self.shape) - 1.0, 0.0) / self.rate)

    @property
    def variance(self) -> Any:
        """shape / rate²."""
        return self.shape / self.rate**2

    def log_prob(self, x: Any) -> Floats:
        """log density at the rate x."""
        from scipy.special import xlogy

        value = spread(x, self.shape)
        known = value >= 0
        v = np.where(known, value, 1.0)
        return np.where(known, xlogy(self.shape - 1, v) - self.rate * v - self.log_normaliser(), -np.inf)

    def cdf(self, x: Any) -> Any:
        """The probability that the rate is below x."""
        from scipy.special import gammainc

        return gammainc(self.shape, self.rate * x)

    def quantile(self, q: Any) -> Any:
        """Below which the rate lies with the probability q; 0 where nothing was seen."""
        from scipy.special import gammaincinv

        some = np.asarray(self.shape) > 0
        return np.where(some, gammaincinv(np.where(some, self.shape, 1.0), q) / self.rate, 0.0)

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw rates."""
        return generator(random_state).gamma(self.shape, 1 / np.asarray(self.rate), (size, *np.shape(self.shape)))


@dataclass(frozen=True, eq=False, repr=False)
class Rate(Family):
    """Events that come at a constant rate: counted, or waited for. The prior is a Gamma, flat as Gamma(1, 0)."""

    rate: Any
    predictive: ClassVar[Any]  # what is expected where the rate is only known as a Gamma
    linear_if = "estimate='mean' is"

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Gamma:
        """Gamma(1, 0): every rate alike."""
        return Gamma(1.0, 0.0)

    @classmethod
    def _of(cls, posterior: Any, estimate: Estimate) -> Distribution:
        if isinstance(posterior, Gamma) and np.any(np.asarray(posterior.rate) <= 0):
            raise ValueError("a flat prior and no time in which to see events say nothing of a rate; "
                             "use prior=Gamma(shape, rate)")  # fmt: skip
        if estimate == "predictive":
            if not isinstance(posterior, Gamma):
                raise ValueError("the predictive has a closed form under a Gamma prior only; use estimate='mean'")
            found: Distribution = cls.predictive(posterior.shape, posterior.rate)
            return found
        return cls(posterior.mode if estimate == "map" else posterior.mean)

    @staticmethod
    def _log(x: Floats, rate: Floats) -> Floats:
        raise NotImplementedError

    def log_prob(self, x: Any) -> Floats:
        """log p; -inf where x cannot be."""
        x, rate = by_group(x, self.rate)
        return groups_last(self._log(x, rate), x)

    def each(self, x: Floats) -> Floats:
        """log p of the i-th value at the i-th rates, (values, groups)."""
        return self._log(x[:, None], np.asarray(self.rate))
