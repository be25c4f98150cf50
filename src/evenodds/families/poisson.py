"""Counts of events: kicks, clicks, visitors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import tail_of
from evenodds.families import numeric
from evenodds.families.base import COLUMN, LARGEST
from evenodds.families.distribution import LinearTerms, Seed, generator, tidy
from evenodds.families.leaves import Floats, Rows, read
from evenodds.families.rate import Gamma, Rate, Unsure
from evenodds.labels import Fixed
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally

LARGE = 1e4  # events, from which on Stirling's series has all digits after two terms
MOST = LARGEST / 1e3  # events of a count: log x! is at most so many times x


@dataclass(frozen=True, eq=False, repr=False)
class NegativeBinomial(Unsure):
    """A count whose rate is only known as Gamma(shape, rate): the predictive of the Poisson.

    p(x) = Γ(x+shape) / (Γ(shape) x!) · (rate/(rate+1))^shape · (1/(rate+1))^x
    """

    @staticmethod
    def _log(x: Floats, shape: Floats, rate: Floats) -> Floats:
        from scipy.special import betaln

        known = (x >= 0) & (x == np.floor(x)) & np.isfinite(x)
        count = np.where(known, x, 0.0)
        some = np.where(shape > 0, shape, 1.0)
        # Γ(x+shape) / (Γ(shape) x!), as a Beta function: of billions of events, logs of the Γs would cancel to nothing
        log_p = -betaln(some, count + 1) - np.log(some + count) - count * np.log1p(rate) - shape * np.log1p(1 / rate)
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
    holds = f"holds counts 0, 1, 2, …, up to {MOST:g}"

    @classmethod
    def impossible(cls, x: Floats) -> NDArray[np.bool_]:
        """Fractions, anything below 0, and what is too large to be squared, as its log x! is."""
        return (x < 0) | (x != np.floor(x)) & ~np.isnan(x) | (x > MOST)

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """Leaf "rows": how many counts; leaf "events": Σ x and Σ log x!."""
        from scipy.special import gammaln

        found = {}
        for j, name in enumerate(columns):
            x = cells[j]
            cls.check(x, name, rows.start)
            factorials = f"log {name}!"
            both = {name: COLUMN, factorials: COLUMN}
            parts = numeric.leaves([x, gammaln(x + 1)], rows, both, histogram=False)
            sums = [parts[part, "moments"].numbers[:, :1] for part in both]
            found[name, "rows"] = parts[name, "rows"]
            found[name, "events"] = Leaf(Fixed(2), np.concatenate(sums, axis=1), is_sum=True)
        return found

    @classmethod
    def base_measure(cls, tally: Tally) -> Any:
        """-Σ log x!."""
        return -read(tally, "events")[1]

    @staticmethod
    def _log(x: Floats, rate: Floats) -> Floats:
        from scipy.special import gammaln, xlogy

        known = (x >= 0) & (x == np.floor(x)) & np.isfinite(x)
        count = np.where(known, x, 0.0)
        log_p = xlogy(count, rate) - rate - gammaln(count + 1)
        large = (count >= LARGE) & (rate > 0)
        if large.any():  # of billions of events these three would cancel to nothing (Loader 2000)
            n = np.where(large, count, 1.0)
            off = (rate - n) / n
            with np.errstate(divide="ignore", invalid="ignore"):
                far = n * (off - np.log1p(off)) + 0.5 * np.log(2 * np.pi * n) + 1 / (12 * n) - 1 / (360 * n**3)
            log_p = np.where(large, -far, log_p)
        return np.where(known, log_p, np.where(np.isnan(x), np.nan, -np.inf))

    def linear(self, tally: Tally) -> LinearTerms:
        """x · log rate - rate."""
        return LinearTerms([""], np.log(self.rate)[None], -self.rate)

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
        """Garwood's exact interval of the rate: from a Gamma of these events to one of one event more.

        >>> low, high = Poisson.confidence([3, 0, 1, 5])
        >>> round(low, 4), round(high, 4)
        (1.0288, 4.2712)
        """
        (events, time), tail = cls._some_seen(data), tail_of(level)
        return tidy(Gamma(events, time).quantile(tail), Gamma(events + 1, time).quantile(1 - tail))
