"""The learners that the laws are held against, and how two tallies are compared.

A learner is a family, the values it is tried on, and a proper prior. Whether its tally holds counts only (then laws are
exact) or sums as well (then they hold to 1e-12 of the largest term ever added) is in the table of operations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from evenodds.families import (
    Bernoulli,
    Beta,
    Binned,
    Categorical,
    Dirichlet,
    Exponential,
    Family,
    Gamma,
    Gaussian,
    Gaussians,
    Kernel,
    LogGaussian,
    NormalInverseGamma,
    Poisson,
    ZeroAndLog,
)
from evenodds.labels import Labels
from evenodds.models.operations import operations
from evenodds.tally import Tally

TOLERANCE = 1e-12
OPERATIONS = operations()
COLOURS = ["red", "blue", "grün", "", "1", "a longer name than eight bytes"]


@dataclass(frozen=True)
class Learner:
    """A family, one value of it (NaN or None is a missing one), and a proper prior."""

    family: type[Family]
    value: st.SearchStrategy[Any]
    prior: Any
    ordinary: Callable[[np.random.Generator, int], Any]  # values as people have them

    @property
    def name(self) -> str:
        return self.family.__name__

    def rows(self, least: int = 0, most: int = 12) -> st.SearchStrategy[list[Any]]:
        return st.lists(self.value, min_size=least, max_size=most)

    @property
    def exact(self) -> bool:
        """Whether the table of operations promises the same bits."""
        return next(row["add"] for row in OPERATIONS if row["learner"] == self.name) == "yes"

    def column(self, rows: Sequence[Any]) -> Any:
        return list(rows) if self.family.cells == "codes" else np.array(rows, dtype=float)

    def tally(self, rows: Sequence[Any], **settings: Any) -> Tally:
        return self.family.tally(self.column(rows), **settings)


def _numbers(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers whose squares have all their digits too, or 0."""
    return st.floats(low, high, allow_nan=False).map(lambda x: x if abs(x) > 1e-150 else 0.0)


MISSING = st.just(float("nan"))
LEARNERS = [
    Learner(
        Bernoulli,
        st.sampled_from([0.0, 1.0]) | MISSING,
        Beta(2.0, 3.0),
        lambda rng, n: (rng.random(n) < 0.3).astype(float),
    ),
    Learner(
        Categorical,
        st.sampled_from(COLOURS) | st.none(),
        Dirichlet(dict.fromkeys(COLOURS, 0.7)),
        lambda rng, n: rng.choice(COLOURS, n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]).tolist(),
    ),
    Learner(
        Poisson,
        st.integers(0, 60).map(float) | MISSING,
        Gamma(2.0, 0.5),
        lambda rng, n: rng.poisson(3.5, n).astype(float),
    ),
    Learner(
        Exponential,
        st.just(0.0) | _numbers(1e-6, 1e6) | MISSING,
        Gamma(2.0, 0.5),
        lambda rng, n: rng.exponential(3.0, n),
    ),
    Learner(
        Gaussian,
        _numbers(-1e6, 1e6) | _numbers(-3, 3) | MISSING,
        NormalInverseGamma(1.0, 2.0, 1.5, 2.0),
        lambda rng, n: rng.normal(5, 2, n),
    ),
    Learner(
        LogGaussian,
        st.just(0.0) | _numbers(1e-6, 1e6) | MISSING,
        ZeroAndLog(Beta(2.0, 3.0), NormalInverseGamma(1.0, 2.0, 1.5, 2.0)),
        lambda rng, n: np.where(rng.random(n) < 0.2, 0.0, rng.lognormal(1, 0.7, n)),
    ),
    Learner(
        Binned,
        st.just(0.0) | _numbers(-1e6, 1e6) | _numbers(-3, 3) | MISSING,
        Dirichlet(0.7),
        lambda rng, n: np.where(rng.random(n) < 0.3, 0.0, rng.gamma(2.0, 3.0, n)),
    ),
    Learner(
        Kernel,
        st.just(0.0) | _numbers(-1e6, 1e6) | _numbers(-3, 3) | MISSING,
        Dirichlet(0.7),
        lambda rng, n: rng.poisson(20.0, n).astype(float),  # whole numbers are at their bins' places
    ),
    Learner(
        Gaussians,
        st.just(0.0) | _numbers(-1e6, 1e6) | _numbers(-3, 3) | MISSING,
        Dirichlet(0.7),
        lambda rng, n: rng.poisson(20.0, n).astype(float),
    ),
]
BY_NAME = {learner.name: learner for learner in LEARNERS}


def numbers(tally: Tally) -> dict[tuple[str, str, Any, Any], float]:
    """Every number of a tally that is not zero, by column, leaf, label and group: no layout, nothing to align."""
    found = {}
    groups = _names(tally.groups)
    for column, leaf in tally.layout.specs:
        axis = _names(tally.layout.specs[column, leaf].axis)
        for i, row in enumerate(tally[column, leaf]):
            for g, number in enumerate(row):
                if number != 0:
                    found[column, leaf, axis[i], groups[g]] = number.item()
    return found


def _names(axis: Any) -> list[Any]:
    return axis.texts() if isinstance(axis, Labels) else axis.keys.tolist()


def sums_of(tally: Tally) -> dict[tuple[str, str, Any, Any], float]:
    return {at: n for at, n in numbers(tally).items() if tally.layout.specs[at[:2]].is_sum}


def assert_same(a: Tally, b: Tally, terms: Sequence[Tally] = (), weight: float = 0.0) -> None:
    """Counts alike to the last digit (with fractional weights: to 1e-12 of the largest weight), sums to 1e-12 of the
    largest term: the largest sum in any of the tallies `terms`, of one row each.
    """
    largest: dict[Any, float] = {}
    for term in terms:
        for (column, leaf, label, _), n in sums_of(term).items():
            largest[column, leaf, label] = max(largest.get((column, leaf, label), 0.0), abs(n))
    ours, theirs = numbers(a), numbers(b)
    for at in ours.keys() | theirs.keys():
        spec = (a if at in ours else b).layout.specs[at[:2]]
        allowed = TOLERANCE * (largest.get(at[:3], 0.0) if spec.is_sum else weight)
        apart = abs(ours.get(at, 0) - theirs.get(at, 0))
        assert apart <= allowed, f"{at}: {ours.get(at, 0)!r} and {theirs.get(at, 0)!r} are {apart} apart"
