"""Counts of events: kicks, clicks, visitors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds.families import numeric
from evenodds.families.base import COLUMN
from evenodds.families.distribution import (
    Distribution,
    LinearTerms,
    Seed,
    by_group,
    generator,
    groups_last,
    some,
    tidy,
)
from evenodds.families.leaves import Floats, Rows, read, read_exactly
from evenodds.families.left_out import How, Left, less
from evenodds.families.rate import Gamma, Rate
from evenodds.labels import Fixed
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally


@dataclass(frozen=True, eq=False, repr=False)
class NegativeBinomial(Distribution):
    """A count whose rate is only known as Gamma(shape, rate): the predictive of the Poisson.

    p(x) = Γ(x+shape) / (Γ(shape) x!) · (rate/(rate+1))^shape · (1/(rate+1))^x
    """

    shape: Any
    rate: Any

    def log_prob(self, x: Any) -> Floats:
        """log p of counts; -inf where x is none."""
        x, shape, rate = by_group(x, self.shape, self.rate)
        return groups_last(self._log(x, shape, rate), x)

    def each(self, x: Floats) -> Floats:
        """log p of the i-th count under the i-th parameters, (counts, groups)."""
        return self._log(x[:, None], self.shape, self.rate)

    @staticmethod
    def _log(x: Floats, shape: Floats, rate: Floats) -> Floats:
        from scipy.special import gammaln, xlogy

        known = (x >= 0) & (x == np.floor(x)) & np.isfinite(x)
        count = np.where(known, x, 0.0)
        some = np.where(shape > 0, shape, 1.0)
        log_p = gammaln(count + some) - gammaln(some) - gammaln(count + 1) - count * np.log1p(rate)
        log_p = log_p + xlogy(shape, rate / (1.0 + rate))
        log_p = np.where(shape > 0, log_p, np.where(count == 0, 0.0, -np.inf))  # shape 0: always 0
        return np.where(known, log_p, np.where(np.isnan(x), np.nan, -np.inf))

    @property
    def mean(self) -> Any:
        """shape / rate."""
        return self.shape / self.rate

    @property
    def variance(self) -> Any:
        """mean · (1 + 1/rate): wider than a Poisson, for the rate is not known."""
        return self.mean * (1 + 1 / self.rate)

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw counts: a rate first, then a count at that rate."""
        rng = generator(random_state)
        return rng.poisson(rng.gamma(self.shape, 1 / np.asarray(self.rate), (size, *np.shape(self.shape)))).astype(
            float
        )


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(Rate):
    """The number of events when they come independently at a constant rate.

    p(x) = rate^x e^(-rate) / x!

    Prussian soldiers killed by horse kicks, 200 corps-years (Bortkiewicz 1898):

    >>> kicks = [0] * 109 + [1] * 65 + [2] * 22 + [3] * 3 + [4]
    >>> Poisson.fit(kicks, estimate="mle")
    Poisson(rate=0.61)

    What is summed: the number of rows, Σ x and Σ log x!. The prior is a Gamma, flat as Gamma(1, 0); the predictive
    is a NegativeBinomial.
    """

    name = "poisson"
    predictive = NegativeBinomial
    holds = "holds counts 0, 1, 2, …"

    @classmethod
    def impossible(cls, x: Floats) -> NDArray[np.bool_]:
        """Fractions, and anything below 0."""
        return (x < 0) | (x != np.floor(x)) & ~np.isnan(x) | np.isinf(x)

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """Leaf "rows": how many counts; leaf "events": Σ x and Σ log x!."""
        from scipy.special import gammaln

        found = {}
        for j, name in enumerate(columns):
            x = cells[j]
            cls.check(x, name, rows.start)
            parts = numeric.leaves([x, gammaln(x + 1)], rows, {"x": COLUMN, "log x!": COLUMN}, histogram=False)
            sums = [parts[part, "moments"].numbers[:, :1] for part in ("x", "log x!")]
            found[name, "rows"] = parts["x", "rows"]
            found[name, "events"] = Leaf(Fixed(2), np.concatenate(sums, axis=1), is_sum=True)
        return found

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> Gamma:
        """As if `strength` rows had been seen before, with all groups' rate of events."""
        events, rows = np.sum(read(tally, "events")[0]), np.sum(read(tally, "rows")[0])
        return Gamma(strength * events / max(rows, 1.0), strength)

    @classmethod
    def base_measure(cls, tally: Tally) -> Any:
        """-Σ log x!."""
        return -read(tally, "events")[1]

    @classmethod
    def _mle(cls, tally: Tally, column: Column) -> Self:
        return cls(tidy(read(tally, "events")[0] / some(read(tally, "rows")[0])))

    @staticmethod
    def _log(x: Floats, rate: Floats) -> Floats:
        from scipy.special import gammaln, xlogy

        known = (x >= 0) & (x == np.floor(x)) & np.isfinite(x)
        count = np.where(known, x, 0.0)
        log_p = xlogy(count, rate) - rate - gammaln(count + 1)
        return np.where(known, log_p, np.where(np.isnan(x), np.nan, -np.inf))

    def linear(self, tally: Tally) -> LinearTerms:
        """x · log rate - rate."""
        return LinearTerms([""], np.log(self.rate)[None], -self.rate)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log p of each count with its own row taken out."""
        sums, rows = read_exactly(tally, "events")[:, 0], read(tally, "rows")[0]
        together = read_exactly(tally.pooled(), "events")[:, 0]
        start = cls.flat_prior(how.strength) if how.prior is None else how.prior

        def evidence(x: Any, left: Left) -> Floats:
            counted = dd.multiply(dd.of(left.amounts), dd.of(x))
            mine = dd.value(dd.subtract(sums[:, left.groups], counted))
            n, all_n = left.without(rows), less(np.full(len(x), rows.sum()), left.amounts)
            events = np.maximum(left.put(dd.value(sums), mine), 0.0)
            everything = np.maximum(dd.value(dd.subtract(together[:, None], counted)), 0.0)
            if how.estimate == "mle":  # a group without values is like all together
                n, events = (np.where(n == 0, all_[:, None], own) for own, all_ in ((n, all_n), (events, everything)))
                n, events = np.where(n == 0, 1.0, n), np.where(n == 0, 0.0, events)
                return cls(events / n).each(x)
            prior = start
            if how.pooled:
                share = how.strength * everything / np.maximum(all_n, 1.0)
                prior = Gamma(share[:, None], how.strength)
            shape, rate = prior.shape + events, prior.rate + n
            known = Gamma(np.where(left.lost, 1.0, shape), np.where(left.lost, 1.0, rate))
            found: Any = cls._of(known, how.estimate)
            return found.each(x)

        return evidence

    def log_likelihood(self, tally: Tally) -> Any:
        """Σx · log rate - n · rate - Σ log x!."""
        from scipy.special import xlogy

        events, factorials = read(tally, "events")
        return xlogy(events, self.rate) - read(tally, "rows")[0] * self.rate - factorials

    @property
    def mean(self) -> Any:
        """The rate."""
        return self.rate

    @property
    def variance(self) -> Any:
        """The rate."""
        return self.rate

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw counts."""
        return generator(random_state).poisson(self.rate, (size, *np.shape(self.rate))).astype(float)

    @classmethod
    def confidence(cls, data: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Garwood's exact interval of the rate."""
        from scipy.special import gammaincinv

        tally = data if isinstance(data, Tally) else cls.tally(data)
        events, rows = read(tally, "events")[0], read(tally, "rows")[0]
        tail = (1 - level) / 2
        low = np.where(events == 0, 0.0, gammaincinv(np.maximum(events, 0.5), tail)) / rows
        return tidy(low, gammaincinv(events + 1, 1 - tail) / rows)
