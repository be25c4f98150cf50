"""How far two groups are apart, and how sure that is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evenodds.arguments import tail_of
from evenodds.audit.rates import Rate
from evenodds.families import Beta
from evenodds.families.leaves import Floats

NODES = 128  # of the quadrature

CRITERIA = {
    "demographic parity": ("selection rate",),
    "equal opportunity": ("TPR",),
    "equalised odds": ("TPR", "FPR"),
    "predictive parity": ("PPV",),
}
NOT_ALL = (
    "These cannot all hold: where base rates differ, equal PPV and equal TPR force different FPR, since "
    "FPR = base/(1 - base) · (1 - PPV)/PPV · TPR (Chouldechova 2017), unless the predictions are perfect."
)


class Gap(NamedTuple):
    """Two groups, the higher one first: how far apart, between what, and how sure it is more than `margin`."""

    measure: str
    high: str
    low: str
    gap: float
    interval: tuple[float, float]
    margin: float
    sure: float  # P(gap > margin | data)
    small: bool  # whether one of them is a small group, pooled with the others

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON: which groups, how far apart, between what."""
        low, high = self.interval
        known = {"measure": self.measure, "higher": self.high, "lower": self.low, "gap": self.gap}
        return {**known, "low": low, "high": high, "margin": self.margin, "sure": self.sure, "small": self.small}


def exceeds(high: Rate, low: Rate, margin: float) -> float:
    """P(high - low > margin | data): the integral over what is known of one of how probable it is of the other.

    The two coins of the exact integral: with Beta(2, 1) and Beta(1, 2), P(x > y) = 5/6.

    >>> two_of_two, none_of_one = Rate(1, 1, 0, 1, False, 2, 1), Rate(0, 1, 0, 1, False, 1, 2)
    >>> round(exceeds(two_of_two, none_of_one, 0.0), 9)
    0.833333333
    """
    return _exceeding(high, low)(margin)


def _exceeding(high: Rate, low: Rate) -> Callable[[float], float]:
    """P(high - low > margin) for any margin: E_low[P(high > low + margin)] = E_high[P(low < high - margin)].

    The one that is known better is integrated over: over the other, a step might lie between two points.
    """
    one, other = Beta(high.a, high.b), Beta(low.a, low.b)
    u, weight = _rule()
    if other.variance <= one.variance:
        y = other.quantile(u)
        return lambda margin: float(np.clip(weight @ (1 - one.cdf(np.clip(y + margin, 0.0, 1.0))), 0.0, 1.0))
    x = one.quantile(u)
    return lambda margin: float(np.clip(weight @ other.cdf(np.clip(x - margin, 0.0, 1.0)), 0.0, 1.0))


@functools.cache
def _rule() -> tuple[Floats, Floats]:
    """Shares below points, and their weights: the rule of Gauss and Legendre, bent to reach the tails.

    u = t² (3 - 2t) has no slope at its ends, so that the quantiles' steep ends are met gently.
    """
    t, w = np.polynomial.legendre.leggauss(NODES)
    t, w = (t + 1) / 2, w / 2
    return t * t * (3 - 2 * t), w * 6 * t * (1 - t)


def interval(high: Rate, low: Rate, level: float) -> tuple[float, float]:
    """The central credible interval of high - low, by bisection of P(gap > x)."""
    ends, exceeding, tail_ = [], _exceeding(high, low), tail_of(level)
    for tail in (1 - tail_, tail_):
        a, b = -1.0, 1.0
        for _ in range(22):
            middle = (a + b) / 2
            a, b = (middle, b) if exceeding(middle) > tail else (a, middle)
        ends.append((a + b) / 2)
    return ends[0], ends[1]


def gap(measure: str, rates: Mapping[str, Rate], high: str, low: str, margin: float, level: float) -> Gap:
    """How far two groups are apart."""
    one, other = rates[high], rates[low]
    return Gap(
        measure,
        high,
        low,
        one.expected - other.expected,
        interval(one, other, level),
        margin,
        exceeds(one, other, margin),
        one.small or other.small,
    )


def worst(measure: str, rates: Mapping[str, Rate], margin: float, level: float) -> Gap | None:
    """The pair of groups that is farthest apart in what is known of them; None of fewer than two with rows."""
    known = [name for name, rate in rates.items() if rate.n > 0]
    if len(known) < 2:
        return None
    high, low = (pick(known, key=lambda name: rates[name].expected) for pick in (max, min))
    return None if high == low else gap(measure, rates, high, low, margin, level)


def criterion(measures: Sequence[str], rates: Mapping[str, Mapping[str, Rate]], margin: float, level: float) -> Any:
    """The gap that breaks a criterion most, of its measures."""
    found = [g for m in measures if (g := worst(m, rates[m], margin, level)) is not None]
    return max(found, key=lambda g: (g.sure, g.gap), default=None)
