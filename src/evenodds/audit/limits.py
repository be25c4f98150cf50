"""From odds to what is done: promises, such as at most 1 letter in 1,000 lost, kept with 95 % confidence.

A class with a limit is *ruled out* where its odds are below a bound. The bound is as high as the rows held out allow:
of n rows of the class, k may lie below it, the most for which Clopper and Pearson's upper bound of the rate is within
the limit. The rate can only rise with the bound, so testing bounds one by one from the strict end, and stopping at the
first that fails, needs no correction for the choice (fixed-sequence testing: Angelopoulos, Bates, Candès, Jordan and
Lei 2021, "Learn then test"; for rates that rise, Bates et al. 2021, "Distribution-free, risk-controlling prediction
sets"). It stops at the (k + 1)-th lowest of the n, which is the tolerance limit of Wilks (1941).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.audit.decisions import UNSURE, Decision, check_labels, place_of
from evenodds.audit.judge import RANKED, log_odds, tally
from evenodds.audit.ranked import scores
from evenodds.errors import DataError, many
from evenodds.families import Beta
from evenodds.labels import Ints, canonical
from evenodds.show import percent, share
from evenodds.tally import Tally

MOST = float(np.finfo(np.float32).max)  # a bound is a number also where every row that it must spare had p = 1
MARGIN = 1e-6  # of the log-odds, by which a bound is below the row that it must spare: rounding must not lose it


@dataclass(frozen=True)
class Limit:
    """At most so much of a class may be said to be another; `bound` is None where that cannot be promised."""

    at_most: float
    level: float
    rows: int  # of the class, held out
    lost: int  # of them, those below the bound
    bound: float | None  # the log-odds of the class, against all others, below which it is ruled out

    @property
    def needed(self) -> int:
        """How many rows of the class it takes to promise this if none of them is lost."""
        return rows_needed(self.at_most, self.level)


@dataclass(frozen=True, repr=False)
class AtMost(Decision):
    """Say a class only where the limits of the others allow it.

    Messages held out, and what an honest filter said of them:

    >>> spam = np.arange(8000) / 8000  # the probability of spam
    >>> y = np.where(np.random.default_rng(0).random(8000) < spam, "spam", "ham")
    >>> proba = np.column_stack([1 - spam, spam])
    >>> AtMost.of({"ham": 0.01}, y, proba, ["ham", "spam"])
    say spam where p(ham) < 0.06212, otherwise ham; with 95 % confidence at most 1 in 100 of ham is said to be another
    class (29 of 4,010 rows held out were)
    >>> AtMost.of({"ham": 0.0005}, y, proba, ["ham", "spam"])
    at most 1 in 2,000 of ham cannot be promised with 95 % confidence from 4,010 rows of ham: that takes 5,990 rows even
    if none is lost; so ham is never ruled out, and what is not most probably ham is unsure

    One class with a limit: it is said unless ruled out. Several: that which is left if all others are ruled out; unsure
    if more are left, the most probable if none. Where rows are too few to promise a limit, its class is never ruled
    out, and where it is not the most probable, the answer is unsure.
    """

    classes: tuple[Any, ...]
    limits: tuple[Limit | None, ...]  # of each class
    kind = "at most"

    def __post_init__(self) -> None:
        if len(check_labels(self.classes)) != len(self.limits) or not any(self.limits):
            raise ValueError("expected for each class a limit or None, and at least one limit")

    @classmethod
    def of(
        cls,
        limits: Mapping[Any, float],
        y: Any,
        proba: Any,
        classes: Sequence[Any] | NDArray[Any],
        level: float = 0.95,
    ) -> AtMost:
        """From the true classes of rows that the model has not learnt, and what it said of them."""
        with np.errstate(divide="ignore"):
            return cls.from_tally(limits, tally(y, np.log(np.asarray(proba, float)), classes), classes, level)

    @classmethod
    def from_tally(
        cls,
        limits: Mapping[Any, float],
        judged: Tally,
        classes: Sequence[Any] | NDArray[Any],
        level: float = 0.95,
    ) -> AtMost:
        """From the tally of such rows: the sum of batches, files or folds."""
        values = check_labels(np.asarray(classes).tolist())
        names = [canonical(label) for label in values]
        if not 0.5 <= level < 1:
            raise ValueError(f"level={level}: expected 0.5 or more, and less than 1")
        if len(names) > RANKED:
            raise DataError(f"{len(names)} classes: limits can be kept for at most {RANKED}; use costs")
        found: list[Limit | None] = [None] * len(names)
        for label, at_most in limits.items():
            if not 0 < at_most < 1:
                raise ValueError(f"at most {at_most} of {label!r}: expected a share between 0 and 1")
            c = place_of(label, names)
            found[c] = _limit(judged, names[c], float(at_most), level)
        return cls(values, tuple(found))

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> AtMost:
        """From plain values."""
        limits = (None if limit is None else Limit(**limit) for limit in said["limits"])
        return cls(tuple(said["classes"]), tuple(limits))

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        limits = [None if limit is None else asdict(limit) for limit in self.limits]
        return {"decision": self.kind, "classes": list(self.classes), "limits": limits}

    def choose(self, proba: Any) -> Ints:
        """The column of the class to say, -1 where it is better to say nothing."""
        p = self._proba(proba)
        with np.errstate(divide="ignore"):
            odds = log_odds(np.log(p), p, p.argmax(axis=1))
        limited = np.array([limit is not None for limit in self.limits])
        bounds = [-np.inf if limit is None or limit.bound is None else limit.bound for limit in self.limits]
        left = (odds >= bounds) & limited
        n_left, only = left.sum(axis=1), left.argmax(axis=1)
        others = p if limited.all() else np.where(limited, -1.0, p)
        promised = np.array([limit is not None and limit.bound is not None for limit in self.limits])
        sure = promised[only] | (p.argmax(axis=1) == only)
        return np.where(n_left == 0, others.argmax(axis=1), np.where((n_left == 1) & sure, only, -1))

    def __repr__(self) -> str:
        limits = [(canonical(c), limit) for c, limit in zip(self.classes, self.limits) if limit is not None]
        return "; ".join([*self._rules(), *(_sentence(name, limit) for name, limit in limits)])

    def _rules(self) -> list[str]:
        """What is said where."""
        names = [canonical(c) for c in self.classes]
        limited = [name for name, limit in zip(names, self.limits) if limit is not None]
        below = {
            name: _probability(limit.bound)
            for name, limit in zip(names, self.limits)
            if limit is not None and limit.bound is not None
        }
        if not below:
            return []
        out = [f"p({name}) < {share(bound)}" for name, bound in below.items()]
        if len(names) > 2:
            other = "the most probable other class" if len(limited) == 1 else "the one that is not ruled out"
            return [f"{name} is ruled out where {where}" for name, where in zip(below, out)] + [f"say {other}"]
        said = [f"say {names[1 - names.index(name)]} where {where}" for name, where in zip(below, out)]
        crossed = len(below) == 2 and sum(below.values()) > 1
        last = limited[0] if len(limited) == 1 else "the more probable where both" if crossed else f"otherwise {UNSURE}"
        return [", ".join(said) + (f", otherwise {last}" if len(limited) == 1 else f", {last}")]


def _sentence(name: str, limit: Limit) -> str:
    sure = f"{percent(limit.level)} confidence"
    share = f"{_one_in(limit.at_most)} of {name}"
    if limit.bound is not None:
        lost = f"{limit.lost:,} of {limit.rows:,} rows held out were"
        return f"with {sure} at most {share} is said to be another class ({lost})"
    why = f"that takes {limit.needed:,} rows even if none is lost"
    if limit.rows >= limit.needed:
        why = f"too many of them were given probability 0, {limit.lost:,}"
    return (
        f"at most {share} cannot be promised with {sure} from {many(limit.rows, 'row')} of {name}: {why}; "
        f"so {name} is never ruled out, and what is not most probably {name} is {UNSURE}"
    )


def _limit(judged: Tally, name: str, at_most: float, level: float) -> Limit:
    """The bound of one class, from the counts of its own rows by their log-odds."""
    found = scores(judged, name)
    own = np.zeros(1) if found is None else found.own
    rows = float(own.sum())
    if not rows.is_integer():
        raise DataError(f"the rows of {name!r} count {rows:g}: a promise counts whole rows, leave the weights out")
    n = int(rows)
    if found is None or n < rows_needed(at_most, level):
        return Limit(at_most, level, n, 0, None)
    k = _most(lambda k: upper(k, n, level) <= at_most, n)
    at_or_below = own.cumsum()
    spared = int(np.searchsorted(at_or_below, k, side="right"))  # the lowest odds whose rows may not all be lost
    if not spared:
        return Limit(at_most, level, n, int(own[0]), None)
    odds = min(found.odds[spared], MOST)
    return Limit(at_most, level, n, int(at_or_below[spared - 1]), float(odds - MARGIN * max(1.0, abs(odds))))


def upper(lost: int, rows: int, level: float) -> float:
    """Clopper and Pearson's one-sided upper bound of the rate of which `lost` of `rows` were seen: a Beta's quantile.

    >>> round(upper(0, 3000, 0.95), 6), round(upper(1, 3000, 0.95), 6)
    (0.000998, 0.00158)
    """
    return float(Beta(lost + 1, rows - lost).quantile(level)) if lost < rows else 1.0


def rows_needed(at_most: float, level: float) -> int:
    """The fewest rows, none of them lost, that promise a limit.

    >>> rows_needed(0.001, 0.95), rows_needed(0.01, 0.95), rows_needed(0.01, 0.99)
    (2995, 299, 459)
    """
    most = 1
    while upper(0, most, level) > at_most:
        most *= 2
    return _most(lambda n: n == 0 or upper(0, n, level) > at_most, most) + 1


def _most(holds: Any, end: int) -> int:
    """The largest whole number from 0 to `end` of which something holds that holds of 0 and all smaller ones."""
    low, high = 0, end
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _probability(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds > -700 else math.exp(odds)


def _one_in(share: float) -> str:
    """1 in 1,000, where it is; otherwise the share itself."""
    one_in = 1 / share
    return f"1 in {one_in:,.0f}" if abs(one_in - round(one_in)) < 1e-9 * one_in else f"{share:g}"
