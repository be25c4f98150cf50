"""How much of its evidence a model should believe.

Naive Bayes counts dependent evidence twice, so its probabilities crowd at 0 and 1. A temper takes the evidence to a
power (log-odds times an exponent), with exponents under which the rows' own classes are most probable, each row scored
as if it had never been learnt, and then as if the exponents had not been fitted on it (`optimism.py`):

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
1.03, 1.05
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.models.alone import alone
from evenodds.models.optimism import optimism
from evenodds.models.temper_problem import Problem, least
from evenodds.models.temper_problem import Said as Said
from evenodds.text.listed import STEEPEST

GRID = (1.0, 0.5, 0.25, 0.1, 0.05, 0.02)  # exponents to start from
FEW, MORE = 500, 4  # rows that tell with which of them, and most of the way; times as many tell the next part of it
DOUBTS = 250.0  # of log-likelihood, in rows that tell how much less to believe what was fitted on them
NEARBY = 1.0  # how near each of these ways comes to its end, in log-likelihood


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
        if any(abs(number) > STEEPEST for number in self.shrink.values()):
            raise ValueError(f"a temper has a shrink beyond {STEEPEST:g}")
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
                found.append(f"{name}: {_repeats(exponent)}")
                continue
            found.append(f"{name}: {_words(exponent, shrink)}")
        found.append(f"class prior: counts {self.prior:.2g} times")
        for label, offset in self.offsets.items():
            if abs(offset) >= 0.005:
                found.append(f"class {label}: {offset:+.2g} of log-odds")
        return found


def _repeats(exponent: float) -> str:
    if exponent >= 0.95:
        return f"believed {exponent:.2g} times"
    return f"its values repeat what other columns say, about {1 / exponent:.2g} times"


def _words(exponent: float, shrink: float) -> str:
    """How much each word of a text counts, by how long the text is.

    >>> print(_words(1.7, 0.36), _words(1.4, 0.0), sep="\\n")
    its words repeat each other: each counts as 0.74 of one in a text of 10 words, 0.32 of 100, 0.14 of 1,000
    its words are believed 1.4 times, however long the text is
    """
    ten, hundred, thousand = (f"{exponent * n**-shrink:.2g}" for n in (10, 100, 1000))
    if ten == thousand:
        return f"its words are believed {ten} times, however long the text is"
    why = "repeat each other" if shrink > 0 else "support each other"
    return f"its words {why}: each counts as {ten} of one in a text of 10 words, {hundred} of 100, {thousand} of 1,000"


def once(said: Sequence[Said]) -> list[Said]:
    """Columns that say the same of every row as one of them: a copy says nothing new, whatever it is believed."""
    found: dict[float, list[Said]] = {}
    for one in said:
        alike = found.setdefault(float(one.evidence.sum()), [])
        for k, other in enumerate(alike):
            if np.array_equal(one.evidence, other.evidence) and _same(one.lengths, other.lengths):
                alike[k] = other._replace(columns=other.columns + one.columns, times=other.times + one.times)
                break
        else:
            alike.append(one)
    return [one for alike in found.values() for one in alike]


def _same(a: Floats | None, b: Floats | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


def fit(
    start: Floats, said: Sequence[Said], y: NDArray[np.integer[Any]], weights: Floats | None = None,
    labels: Sequence[str] = (),
) -> Temper:  # fmt: skip
    """The exponents under which the rows' classes `y` are most probable, given log p(c), (rows, classes)."""
    known = start[np.arange(len(y)), y] > -np.inf  # the only row of its class teaches nothing
    weights = np.where(known, 1.0 if weights is None else weights, 0.0)
    if not weights.any():
        return Temper({name: 1.0 for one in said for name in one.columns})
    if not weights.all():  # a row without weight is none, also where it tells copies of a column apart
        rows = np.flatnonzero(weights)
        start, y, weights = start[rows], y[rows], weights[rows]
        said = [
            one._replace(evidence=one.evidence[rows], lengths=None if one.lengths is None else one.lengths[rows])
            for one in said
        ]
    said = once(said)
    problem = Problem(start, said, y, weights)
    step = -(-len(y) // FEW)
    few = problem.some(slice(None, None, step))
    x = min(map(problem.first, GRID), key=lambda x: few(x)[0])
    with alone():
        while step > 1:
            x, step = least(problem.some(slice(None, None, step)), x, NEARBY).x, step // MORE
        x, cost, curve = least(problem, x)
        some = problem.some(slice(None, None, 1 + int(cost / DOUBTS)))
        less = 1.0 if curve is None else optimism(some, x, curve)
    found = problem.parts(x)
    exponents: dict[str, float] = {}
    shrink: dict[str, float] = {}
    for one, log_a, b, centre in zip(said, found.logs, found.shrink, problem.centres):
        exponent = less * math.exp(log_a + b * centre if one.lengths is not None else log_a)
        exponents |= dict.fromkeys(one.columns, exponent / one.times)
        shrink |= dict.fromkeys(one.columns, float(b)) if one.lengths is not None else {}
    offsets, prior = less * (found.offsets - found.offsets.mean()), less * math.exp(found.prior)
    return Temper(exponents, shrink, prior, dict(zip(labels, offsets.tolist())), float(weights.sum()))
