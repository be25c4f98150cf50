"""How much of its evidence a model should believe.

Naive Bayes counts dependent evidence twice, so its probabilities crowd at 0 and 1. A temper takes the evidence to a
power (log-odds times an exponent), with exponents under which the rows' own classes are most probable, each row scored
as if it had never been learnt:

    log p(c | x)  ∝  prior · log p(c) + offset_c + Σ_j exponent_j · length_j^(-shrink_j) · log p(x_j | c)

Length is that of a text, in tokens: long texts repeat themselves more. All numbers have priors at "no change", so that
thirty rows do not overfit: Student's t, since evidence that is repeated 25 times is no surprise either. The exponents
of a table's columns lie around a common one.

>>> rng = np.random.default_rng(0)
>>> y = rng.integers(0, 2, 400)
>>> z = 1.5 * (2 * y - 1) + 1.7 * rng.normal(size=400)  # its log-odds are 1.04 z
>>> said = np.stack([np.zeros(400), 1.04 * z], axis=1)  # evidence for each class
>>> once = fit(np.zeros((400, 2)), [Said(("x",), said)], y)
>>> many = fit(np.zeros((400, 2)), [Said(("x",), 12 * said)], y)  # the column repeated twelve times
>>> print(f"{once.exponents['x']:.2f}, {12 * many.exponents['x']:.2f}")
1.05, 1.07
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.models.alone import alone

WIDE = 0.7  # of the prior of log exponent
APART = 0.2  # the same of a table's column around the mean of all
SHRINKING = 0.4  # the same of a text's power of its length
BALANCE = 0.4  # the same of log of the class prior's exponent, and of the classes' offsets
NEVER = -1e5  # stands for log 0: no row is lost to it, no number overflows
GRID = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02)  # exponents to start from


@dataclass(frozen=True)
class Temper:
    """Exponents on what columns say and on the class prior, and an offset for each class.

    Of two models that are added the logs of the exponents are averaged, by the rows they were fitted on. Learning,
    forgetting and fading leave them as they are: they say how much columns repeat each other, not what the rows were.
    """

    exponents: Mapping[str, float]  # by column
    shrink: Mapping[str, float] = field(default_factory=dict)  # by column of text
    prior: float = 1.0
    offsets: Mapping[str, float] = field(default_factory=dict)  # by class
    rows: float = 0.0  # it was fitted on

    def __post_init__(self) -> None:
        numbers = [*self.exponents.values(), self.prior]
        if not all(0 < number < math.inf for number in numbers):
            raise ValueError("a temper has exponents that are not above 0")
        others = [*self.shrink.values(), *self.offsets.values()]
        if not all(map(math.isfinite, others)) or not 0 <= self.rows < math.inf:
            raise ValueError("a temper has numbers that are not finite")

    def __add__(self, other: Temper) -> Temper:
        n = self.rows + other.rows
        share = self.rows / n if n else 0.5

        def mean(a: Mapping[str, float], b: Mapping[str, float], none: float, log: bool) -> dict[str, float]:
            out = {}
            for name in sorted({*a, *b}):
                x, z = a.get(name, none), b.get(name, none)
                same = share * math.log(x) + (1 - share) * math.log(z) if log else share * x + (1 - share) * z
                out[name] = x if x == z else math.exp(same) if log else same
            return out

        prior = mean({"": self.prior}, {"": other.prior}, 1.0, True)[""]
        return Temper(
            mean(self.exponents, other.exponents, 1.0, True),
            mean(self.shrink, other.shrink, 0.0, False),
            prior,
            mean(self.offsets, other.offsets, 0.0, False),
            n,
        )

    def sentences(self) -> list[str]:
        """What it means, for people."""
        found = []
        for name, exponent in self.exponents.items():
            shrink = self.shrink.get(name)
            if shrink is None:
                found.append(f"{name}: {_repeats('its values repeat what other columns say', exponent)}")
                continue
            lengths = (10, 100, 1000)
            times = ", ".join(f"{_times(exponent * n**-shrink)} in one of {n:,}" for n in lengths)
            found.append(f"{name}: its words repeat each other about {times} words")
        found.append(f"class prior: counts {self.prior:.2g} times")
        for label, offset in self.offsets.items():
            if abs(offset) >= 0.005:
                found.append(f"{label}: {offset:+.2g} of log-odds")
        return found


def _times(exponent: float) -> str:
    return f"{1 / exponent:.2g} times"


def _repeats(what: str, exponent: float) -> str:
    return f"{what}, about {_times(exponent)}" if exponent < 0.95 else f"believed {exponent:.2g} times"


class Said(NamedTuple):
    """What some columns, believed alike, say of rows that are left out; of a text also how many tokens it has."""

    columns: tuple[str, ...]
    evidence: Floats  # (rows, classes)
    lengths: Floats | None = None


def fit(
    start: Floats, said: Sequence[Said], y: NDArray[np.integer[Any]], weights: Floats | None = None,
    labels: Sequence[str] = (),
) -> Temper:  # fmt: skip
    """The exponents under which the rows' classes `y` are most probable, given log p(c), (rows, classes)."""
    from scipy.optimize import minimize

    known = start[np.arange(len(y)), y] > -np.inf  # the only row of its class teaches nothing
    weights = np.where(known, 1.0 if weights is None else weights, 0.0)
    finite = [one._replace(evidence=np.maximum(one.evidence, NEVER)) for one in said]
    problem = _Problem(np.maximum(start, NEVER), finite, y, weights)
    if not weights.any():
        return Temper({name: 1.0 for one in said for name in one.columns})
    tried = [problem.first(exponent) for exponent in GRID]
    begin = min(tried, key=lambda x: problem(x)[0])
    with alone():
        found = problem.parts(minimize(problem, begin, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x)
    exponents: dict[str, float] = {}
    shrink: dict[str, float] = {}
    for one, log_a, b, centre in zip(said, found.logs, found.shrink, problem.centres):
        exponent = math.exp(log_a + b * centre if one.lengths is not None else log_a)
        exponents |= dict.fromkeys(one.columns, exponent)
        shrink |= dict.fromkeys(one.columns, float(b)) if one.lengths is not None else {}
    offsets = found.offsets - found.offsets.mean()
    return Temper(exponents, shrink, math.exp(found.prior), dict(zip(labels, offsets.tolist())), float(weights.sum()))


class _Parts(NamedTuple):
    logs: Floats  # of the exponents
    shrink: Floats
    prior: float  # log of its exponent
    offsets: Floats


class _Problem:
    """-log of the probability of the rows' classes, and of the priors, as a function of all numbers in one vector."""

    def __init__(self, start: Floats, said: Sequence[Said], y: Any, weights: Floats) -> None:
        self.start, self.said, self.weights = start - start.max(axis=1, keepdims=True), said, weights
        self.evidence = [one.evidence - one.evidence.max(axis=1, keepdims=True) for one in said]
        self.own = np.arange(len(y)), y
        self.table = np.zeros(2 * len(said) + 1 + start.shape[1], bool)  # which numbers are a table's exponents
        self.table[: len(said)] = [one.lengths is None for one in said]
        self.centres, self.logs = [], []  # of the lengths: around their mean exponent and power are told apart
        for one in said:
            log = np.log(np.maximum(one.lengths, 1.0)) if one.lengths is not None else np.zeros(len(y))
            self.centres.append(float((weights * log).sum() / max(weights.sum(), 1e-300)))
            self.logs.append(log - self.centres[-1])

    def parts(self, x: Floats) -> _Parts:
        g = len(self.said)
        return _Parts(x[:g], x[g : 2 * g], float(x[2 * g]), x[2 * g + 1 :])

    def first(self, exponent: float) -> Floats:
        x = np.zeros(2 * len(self.said) + 1 + self.start.shape[1])
        x[: len(self.said)] = math.log(exponent)
        return x

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        p = self.parts(x)
        prior = math.exp(p.prior) * self.start
        terms = [
            np.exp(a - b * log)[:, None] * evidence
            for a, b, log, evidence in zip(p.logs, p.shrink, self.logs, self.evidence)
        ]
        scores = prior + p.offsets
        for term in terms:
            scores = scores + term
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[self.own].copy()
        each = np.exp(scores, out=scores)
        total = each.sum(axis=1)
        cost = float(self.weights @ (np.log(total) - own))
        each *= (self.weights / total)[:, None]
        each[self.own] -= self.weights  # d cost / d score
        slope = np.zeros_like(x)
        g = len(terms)
        for j, (term, log) in enumerate(zip(terms, self.logs)):
            along = np.einsum("ij,ij->i", each, term)
            slope[j], slope[g + j] = along.sum(), -(along @ log)
        slope[2 * g] = np.einsum("ij,ij->", each, prior)
        slope[2 * g + 1 :] = each.sum(axis=0)
        prior_cost, prior_slope = self._prior(x)
        return cost + prior_cost, slope + prior_slope

    def _prior(self, x: Floats) -> tuple[float, Floats]:
        """-log of the priors: exponents of a table's columns lie around their mean, all else around no change."""
        g, table = len(self.said), self.table
        apart = x.copy()
        centre = float(x[table].mean()) if table.any() else 0.0
        apart[table] -= centre
        widths = np.concatenate([np.full(g, WIDE), np.full(g, SHRINKING), np.full(len(x) - 2 * g, BALANCE)])
        widths[table] = APART
        costs, slopes = _student(apart, widths)
        if table.any():
            cost, slope = _student(np.array([centre]), np.array([WIDE]))
            slopes[table] += (slope[0] - slopes[table].sum()) / table.sum()
            return float(costs.sum() + cost[0]), slopes
        return float(costs.sum()), slopes


def _student(x: Floats, width: Floats) -> tuple[Floats, Floats]:
    """-log density of Student's t with 3 degrees of freedom, up to a constant, and its slope."""
    u = x / width
    return 2 * np.log1p(u * u / 3), 4 / 3 * u / (1 + u * u / 3) / width
