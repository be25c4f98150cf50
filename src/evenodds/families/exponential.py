"""Waiting times: until the next call, of a part until it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families import numeric
from evenodds.families.base import LARGEST, Reading
from evenodds.families.distribution import LinearTerms, Seed, generator, tidy
from evenodds.families.leaves import Floats, Rows
from evenodds.families.rate import Gamma, Rate, Unsure, seen
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally


@dataclass(frozen=True, eq=False, repr=False)
class Lomax(Unsure):
    """A waiting time whose rate is only known as Gamma(shape, rate): the predictive of the Exponential.

    p(x) = shape · rate^shape / (rate + x)^(shape + 1)
    """

    @staticmethod
    def _log(x: Floats, shape: Floats, rate: Floats) -> Floats:
        wait = np.where(x < 0, 0.0, x)
        log_p = np.log(shape) - np.log(rate) - (shape + 1) * np.log1p(wait / rate)
        return np.where(x < 0, -np.inf, log_p)

    @property
    def mean(self) -> Any:
        """rate / (shape - 1); endless with a shape of 1 or less."""
        above = np.asarray(self.shape, float) > 1
        return tidy(np.where(above, self.rate / np.where(above, np.asarray(self.shape) - 1, 1.0), np.inf))

    @property
    def variance(self) -> Any:
        """mean² · shape / (shape - 2); endless with a shape of 2 or less."""
        above = np.asarray(self.shape, float) > 2
        ratio = np.asarray(self.shape) / np.where(above, np.asarray(self.shape) - 2, 1.0)
        return tidy(np.where(above, np.where(above, self.mean, 0.0) ** 2 * ratio, np.inf))

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw waiting times: a rate first, then a time at that rate."""
        rng = generator(random_state)
        return rng.exponential(1 / rng.gamma(self.shape, 1 / np.asarray(self.rate), (size, *np.shape(self.shape))))


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Rate):
    """The time until something happens that comes at a constant rate, however long one has waited.

    p(x) = rate · e^(-rate·x)

    Three buses came after 4, 7 and 1 minutes:

    >>> Exponential.fit([4.0, 7.0, 1.0], estimate="mle")
    Exponential(rate=0.25)
    >>> from evenodds.families import Gamma
    >>> Gamma(2, 10) + Exponential.tally([4.0, 7.0, 1.0])
    Gamma(shape=5, rate=22)

    What is summed: the numeric tally's number of values and Σ x; nothing of its own. The prior is a Gamma, which is
    the Poisson's too: so many events in so long a time; flat as Gamma(1, 0). The predictive is a Lomax.
    """

    name = "exponential"
    predictive = Lomax
    holds = f"is never negative, nor above {LARGEST:g}"

    @classmethod
    def impossible(cls, x: Floats) -> NDArray[np.bool_]:
        """Anything below 0."""
        return (x < 0) | (x > LARGEST)

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """Leaves "rows" and "moments" of the numeric tally."""
        for x, name in zip(cells, columns):
            cls.check(x, name, rows.start)
        return numeric.leaves(cells, rows, columns, histogram=False)

    @classmethod
    def informative(cls, tally: Tally) -> bool:
        """Not where every value is 0: then every group's density is endless there."""
        return bool(np.sum(seen(tally)[1]) > 0)

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """The rate with its interval."""
        low, high = posterior.interval(level)
        rates = estimate.rate if isinstance(estimate, Exponential) else posterior.mean  # a Lomax has no one rate
        for group, rate in enumerate(rates):
            yield Reading(group, None, {"rate": rate, "low": low[group], "high": high[group]})

    @staticmethod
    def _log(x: Floats, rate: Floats) -> Floats:
        _check_rate(rate)
        with np.errstate(divide="ignore"):
            return np.where(x < 0, -np.inf, np.log(rate) - rate * np.where(x < 0, 0.0, x))

    def log_likelihood(self, tally: Tally) -> Any:
        """events · log rate - rate · time."""
        _check_rate(self.rate)
        return super().log_likelihood(tally)

    @property
    def endless(self) -> NDArray[np.bool_]:
        """Where every value was 0."""
        return np.isinf(np.atleast_1d(self.rate))

    def linear(self, tally: Tally) -> LinearTerms:
        """log rate - x · rate."""
        return LinearTerms([""], -self.rate[None], np.log(self.rate))

    @property
    def mean(self) -> Any:
        """1 / rate."""
        return 1 / self.rate

    @property
    def variance(self) -> Any:
        """1 / rate²."""
        return 1 / self.rate**2

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw waiting times."""
        return generator(random_state).exponential(1 / np.asarray(self.rate), (size, *np.shape(self.rate)))

    @classmethod
    def confidence(cls, data: Any, level: float = 0.95) -> tuple[Any, Any]:
        """The exact interval of the rate: rate · Σx is a Gamma of n events in a unit of time, whatever the rate.

        >>> low, high = Exponential.confidence([4.0, 7.0, 1.0])
        >>> round(low, 4), round(high, 4)
        (0.0516, 0.6021)
        """
        interval: tuple[Any, Any] = Gamma(*cls._some_seen(data)).interval(level)
        return interval


def _check_rate(rate: Any) -> None:
    """Refuse waits that are all over at once."""
    if not np.all(np.isfinite(rate)):
        raise ValueError("an Exponential of an endless rate has no density: all its values were 0")
