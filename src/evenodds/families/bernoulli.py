"""Two outcomes: a coin, a flag, a word that is there or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import tail_of
from evenodds.families.base import COLUMN, Estimate, Family, Reading
from evenodds.families.distribution import (
    Conjugate,
    Formula,
    LinearTerms,
    Seed,
    generator,
    not_negative,
    some,
    tidy,
    with_axes_of,
)
from evenodds.families.leaves import Floats, Rows, count, read, share
from evenodds.families.left_out import ROUNDING, Counted, How, Left, once_each
from evenodds.labels import Fixed, Ints
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally


@dataclass(frozen=True, eq=False, repr=False)
class Beta(Conjugate):
    """What is known of a coin: p(θ) ∝ θ^(a-1) (1-θ)^(b-1). Flat at a = b = 1; a and b count heads and tails plus one.

    >>> Beta(2, 2) + Bernoulli.tally([1, 1])
    Beta(a=4, b=2)
    >>> Beta(1, 1).interval(0.5)
    (0.25, 0.75)
    """

    a: Any
    b: Any

    def __post_init__(self) -> None:
        not_negative(a=self.a, b=self.b)

    def __add__(self, tally: Tally) -> Self:
        tails, heads = read(tally, "sides")
        return type(self)(self.a + heads, self.b + tails)

    @property
    def proper(self) -> bool:
        """Whether it integrates to 1: not where it knows of no heads, or of no tails."""
        return bool(np.all(np.asarray(self.a) > 0) and np.all(np.asarray(self.b) > 0))

    def log_normaliser(self) -> Any:
        """log B(a, b)."""
        from scipy.special import betaln

        return betaln(self.a, self.b)

    @property
    def mean(self) -> Any:
        """a / (a + b)."""
        return self.a / (self.a + self.b)

    @property
    def mode(self) -> Any:
        """(a - 1) / (a + b - 2); at the border where a or b is 1 or less, in the middle where neither side wins.

        >>> Beta(4, 2).mode, Beta(1, 3).mode, Beta(0.5, 0.2).mode, Beta(1, 1).mode
        (0.75, 0.0, 1.0, 0.5)
        """
        a, b = np.asarray(self.a, float), np.asarray(self.b, float)
        inside = (a > 1) & (b > 1)
        border = np.where(a > b, 1.0, np.where(a < b, 0.0, 0.5))
        mode = np.where(inside, (a - 1) / np.where(inside, a + b - 2, 1.0), border)
        return tidy(mode)

    def span(self, level: float = 0.95) -> tuple[Any, Any]:
        """The central interval; of heads alone or tails alone it ends, or begins, at what was seen.

        >>> Beta(1, 1).span(0.5), Beta(3, 1).span(0.5)
        ((0.25, 0.75), (0.7937005259840998, 1.0))
        """
        low, high = self.interval(level)
        a, b = np.asarray(self.a), np.asarray(self.b)
        none, every = (a <= 1) & (b > 1), (b <= 1) & (a > 1)
        low = np.where(none, 0.0, np.where(every, self.quantile(1 - level), low))
        return tidy(low, np.where(every, 1.0, np.where(none, self.quantile(level), high)))

    @property
    def variance(self) -> Any:
        """ab / ((a + b)² (a + b + 1))."""
        s = self.a + self.b
        return self.a * self.b / (s * s * (s + 1))

    def log_prob(self, x: Any) -> Floats:
        """log density at θ = x."""
        from scipy.special import xlog1py, xlogy

        theta = with_axes_of(x, self.a)
        inside = (theta >= 0) & (theta <= 1)
        t = np.where(inside, theta, 0.5)
        return np.where(inside, xlogy(self.a - 1, t) + xlog1py(self.b - 1, -t) - self.log_normaliser(), -np.inf)

    def cdf(self, x: Any) -> Any:
        """The probability that θ is below x."""
        from scipy.special import betainc

        return betainc(self.a, self.b, np.clip(x, 0.0, 1.0))

    def quantile(self, q: Any) -> Any:
        """Below which θ lies with the probability q; 0 where nothing speaks for heads, 1 where nothing does for tails.

        >>> (Beta(0, 0) + Bernoulli.tally([1, 1])).interval()
        (1.0, 1.0)
        """
        from scipy.special import betaincinv

        a, b = np.asarray(self.a, float), np.asarray(self.b, float)
        inside = betaincinv(np.where(a > 0, a, 1.0), np.where(b > 0, b, 1.0), q)
        return np.where(a <= 0, 0.0, np.where(b <= 0, 1.0, inside))

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw θ."""
        return generator(random_state).beta(self.a, self.b, (size, *np.shape(self.a)))


@dataclass(frozen=True, eq=False, repr=False)
class Bernoulli(Formula, Family):
    """1 with probability p, otherwise 0.

    p(x) = p^x (1-p)^(1-x)

    A coin that fell 3 heads and 7 tails; one that fell heads twice, and never tails:

    >>> Bernoulli.fit([1] * 3 + [0] * 7, estimate="mle")
    Bernoulli(p=0.3)
    >>> Bernoulli.fit([1, 1], estimate="mle"), Bernoulli.fit([1, 1], prior=Beta(2, 2), estimate="map")
    (Bernoulli(p=1), Bernoulli(p=0.75))

    What is summed: the number of each outcome. The prior is a Beta; `mean` and `predictive` are one distribution.
    """

    p: Any
    name = "bernoulli"
    holds = "holds 0 and 1 only"

    @classmethod
    def impossible(cls, x: Floats) -> NDArray[np.bool_]:
        """Anything but 0 and 1."""
        return ~((x == 1) | (x == 0) | np.isnan(x))

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """Leaf "sides": the number of zeros and of ones."""
        found = {}
        for j, name in enumerate(columns):
            x = cells[j]
            cls.check(x, name, rows.start)
            side = np.where(x == 1, 1, np.where(x == 0, 0, -1)).astype(np.int8)
            found[name, "sides"] = Leaf(Fixed(2), count(side, 2, rows))
        return found

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Beta:
        """Beta(strength, strength): flat at 1."""
        return Beta(strength, strength)

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> Beta:
        """As if `strength` rows had been seen before, with all groups' share of ones."""
        tails, heads = cls.table(tally).sum(axis=1)
        return Beta(*(strength * share(side, tails + heads) for side in (heads, tails)))

    @classmethod
    def table(cls, tally: Tally, column: Column = COLUMN) -> Floats:
        """Zeros and ones per group."""
        return read(tally, "sides").reshape(2, -1)

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """The share of ones with its interval."""
        low, high = posterior.interval(level)
        for group, p in enumerate(estimate.p):
            yield Reading(group, 1, {"p": p, "low": low[group], "high": high[group]})

    def linear(self, tally: Tally) -> LinearTerms:
        """x · log(p / (1-p)) + log(1-p)."""
        return LinearTerms([""], (np.log(self.p) - np.log1p(-self.p))[None], np.log1p(-self.p))

    @classmethod
    def _mle(cls, tally: Tally, column: Column) -> Self:
        tails, heads = read(tally, "sides")
        return cls(tidy(heads / some(heads + tails)))

    @classmethod
    def _of(cls, posterior: Any, estimate: Estimate) -> Self:
        return cls(posterior.mode if estimate == "map" else posterior.mean)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log p of each outcome with its own row taken out."""
        start = cls.prior(how.prior, how.strength)
        sides = Counted(cls.table(tally), np.array([start.b, start.a], float), np.ones(2, bool))

        def says(values: Ints, left: Left) -> Floats:
            if how.estimate != "map":
                return sides.log_shares(values, left, how)
            mine, total, prior, weight = sides.cells(values, left, how)
            own, other = mine + prior, total - mine + (weight - prior)
            other = np.where(np.abs(own - other) <= ROUNDING * own, own, other)  # neither side wins by rounding alone
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(Beta(own, other).mode))

        return lambda x, left: once_each((x == 1).astype(np.int64), 2, left, says)

    @staticmethod
    def _log(x: Floats, p: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            yes, no = np.log(p), np.log1p(-p)
        other = np.where(np.isnan(x), np.nan, -np.inf)
        return np.where(x == 1, yes, np.where(x == 0, no, other))

    def log_likelihood(self, tally: Tally) -> Any:
        """N_H log p + N_T log (1 - p)."""
        from scipy.special import xlog1py, xlogy

        tails, heads = read(tally, "sides")
        return xlogy(heads, self.p) + xlog1py(tails, -np.asarray(self.p))

    @property
    def mean(self) -> Any:
        """p."""
        return self.p

    @property
    def variance(self) -> Any:
        """p (1 - p)."""
        return self.p * (1 - self.p)

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw zeros and ones."""
        draws = generator(random_state).random((size, *np.shape(self.p))) < self.p
        return draws.astype(float)

    @classmethod
    def confidence(cls, data: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Clopper and Pearson's exact interval of p.

        >>> low, high = Bernoulli.confidence([1] * 3 + [0] * 7)
        >>> round(low, 4), round(high, 4)
        (0.0667, 0.6525)
        """
        (tails, heads), tail = read(cls.tallied(data), "sides"), tail_of(level)
        return tidy(Beta(heads, tails + 1).quantile(tail), Beta(heads + 1, tails).quantile(1 - tail))
