"""How often something happens: what is known of a rate, and what families with one share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from evenodds import double_double as dd
from evenodds.families.base import COLUMN, Estimate, Family
from evenodds.families.distribution import (
    Conjugate,
    Distribution,
    Formula,
    Seed,
    generator,
    not_negative,
    some,
    tidy,
    with_axes_of,
)
from evenodds.families.leaves import Floats, has, read, read_exactly
from evenodds.families.left_out import How, Left, less
from evenodds.schema import Column
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
        events, time = seen(tally)
        return type(self)(self.shape + events, self.rate + time)

    @classmethod
    def pooled(cls, events: Any, time: Any, rows: Any, strength: float) -> Self:
        """As if `strength` rows had been seen before, each with the mean row's events and time; without any rows, with
        one event in one unit.
        """
        known = np.asarray(rows) > 0
        events, time = (np.where(known, part / np.where(known, rows, 1.0), 1.0) for part in (events, time))
        return cls(*tidy(strength * events, strength * time))

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

    def span(self, level: float = 0.95) -> tuple[Any, Any]:
        """The central interval; of no events from 0 on.

        >>> [round(end, 4) for end in Gamma(1, 2).span()], Gamma(3, 2).span() == Gamma(3, 2).interval()
        ([0.0, 1.4979], True)
        """
        low, high = self.interval(level)
        none = np.less_equal(self.shape, 1)
        return tidy(np.where(none, 0.0, low), np.where(none, self.quantile(level), high))

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

        value = with_axes_of(x, self.shape)
        known = value >= 0
        v = np.where(known, value, 1.0)
        return np.where(known, xlogy(self.shape - 1, v) - self.rate * v - self.log_normaliser(), -np.inf)

    def cdf(self, x: Any) -> Any:
        """The probability that the rate is below x."""
        from scipy.special import gammainc

        return gammainc(self.shape, self.rate * np.maximum(x, 0.0))

    def quantile(self, q: Any) -> Any:
        """Below which the rate lies with the probability q; 0 where nothing was seen."""
        from scipy.special import gammaincinv

        some = np.asarray(self.shape) > 0
        with np.errstate(divide="ignore"):  # no time at all: endless
            return np.where(some, gammaincinv(np.where(some, self.shape, 1.0), q) / np.asarray(self.rate), 0.0)

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw rates."""
        return generator(random_state).gamma(self.shape, 1 / np.asarray(self.rate), (size, *np.shape(self.shape)))


def seen(tally: Tally) -> tuple[Any, Any]:
    """Events, and the time they took: a count is so many events in a unit of time, a wait is the time of one event."""
    rows = read(tally, "rows")[0]
    return (read(tally, "events")[0], rows) if has(tally, "events") else (rows, read(tally, "moments")[0])


@dataclass(frozen=True, eq=False, repr=False)
class Unsure(Formula):
    """A value of a family whose rate is only known as Gamma(shape, rate)."""

    shape: Any
    rate: Any


@dataclass(frozen=True, eq=False, repr=False)
class Rate(Formula, Family):
    """Events that come at a constant rate: counted, or waited for. Their rate is events over time.

    mle        events / time
    posterior  Gamma(shape + events, rate + time), flat as Gamma(1, 0)
    """

    rate: Any
    predictive: ClassVar[type[Unsure]]  # what is expected where the rate is only known as a Gamma
    linear_if = "estimate='mean' is"

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Gamma:
        """Gamma(1, 0): every rate alike."""
        return Gamma(1.0, 0.0)

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> Gamma:
        """As if `strength` rows had been seen before, with all groups' events and time."""
        events, time = map(np.sum, seen(tally))
        return Gamma.pooled(events, time, np.sum(read(tally, "rows")), strength)

    @classmethod
    def _mle(cls, tally: Tally, column: Column) -> Self:
        events, time = seen(tally)
        some(read(tally, "rows"))
        with np.errstate(divide="ignore"):  # every wait was 0
            return cls(tidy(events / np.asarray(time)))

    @classmethod
    def _of(cls, posterior: Any, estimate: Estimate) -> Distribution:
        if isinstance(posterior, Gamma) and np.any(np.asarray(posterior.rate) <= 0):
            raise ValueError("a flat prior and no time in which to see events say nothing of a rate; "
                             "use prior=Gamma(shape, rate)")  # fmt: skip
        if estimate == "predictive":
            if not isinstance(posterior, Gamma):
                raise ValueError("the predictive has a closed form under a Gamma prior only; use estimate='mean'")
            return cls.predictive(posterior.shape, posterior.rate)
        return cls(posterior.mode if estimate == "map" else posterior.mean)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log p of each value with its own row's events and time taken out; 0 where no time is left."""
        leaf, rows = "events" if has(tally, "events") else "moments", read(tally, "rows")[0]
        sums, together = (read_exactly(one, leaf)[:, 0] for one in (tally, tally.pooled()))
        start = cls.prior(how.prior, how.strength)

        def parts(total: Floats, n: Floats) -> tuple[Floats, Floats]:
            return (total, n) if leaf == "events" else (n, total)

        def evidence(x: Any, left: Left) -> Floats:
            taken = dd.multiply(dd.of(left.amounts), dd.of(x))
            own = dd.value(dd.subtract(sums[:, left.groups], taken))
            rest = np.maximum(dd.value(dd.subtract(together[:, None], taken)), 0.0)[:, None]
            n, all_n = left.without(rows), less(rows.sum(), left.amounts)[:, None]
            events, time = parts(np.maximum(left.put(dd.value(sums), own), 0.0), n)
            all_events, all_time = parts(rest, all_n)
            known = (all_time > 0) & ~left.lost
            if how.estimate == "mle":  # a group without values is like all together
                events, time = np.where(n == 0, all_events, events), np.where(n == 0, all_time, time)
                with np.errstate(divide="ignore"):
                    found: Any = cls(np.where(known, events, 1.0) / np.where(known, time, 1.0))
            else:
                prior = Gamma.pooled(all_events, all_time, all_n, how.strength) if how.pooled else start
                shape, rate = prior.shape + events, prior.rate + time
                found = cls._of(Gamma(np.where(known, shape, 1.0), np.where(known, rate, 1.0)), how.estimate)
            return np.where(all_time > 0, found.each(x), 0.0)

        return evidence

    def log_likelihood(self, tally: Tally) -> Any:
        """events · log rate - rate · time, and what no rate changes."""
        from scipy.special import xlogy

        events, time = seen(tally)
        return xlogy(events, self.rate) - self.rate * time + self.base_measure(tally)

    @classmethod
    def _some_seen(cls, data: Any) -> tuple[Any, Any]:
        """Events and time of some data, if there are any values."""
        tally = cls.tallied(data)
        if not np.all(read(tally, "rows") > 0):
            raise ValueError("no values, so their rate has no interval; give one or more")
        return seen(tally)
