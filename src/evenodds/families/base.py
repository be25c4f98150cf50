"""What every family and every prior can do.

A family is a class, a distribution an instance: `Poisson.fit(kicks)` gives `Poisson(rate=0.61)`. Parameters may be
batched over groups (the group axis is last): the same object is then a conditional distribution, and `log_prob` of n
values has shape (n, groups).

The four estimates, the same for every family:

mle         the parameters under which the data are most probable
map         the mode of the posterior: the most probable parameters, given data and prior
mean        the posterior mean of the parameters
predictive  no parameters at all: they are integrated out, p(x | data) = ∫ p(x | θ) p(θ | data) dθ
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.cells import as_column, codes, numbers
from evenodds.errors import DataError
from evenodds.families.leaves import Floats, Rows, check_weights
from evenodds.families.left_out import How, Left
from evenodds.labels import Fixed, Grid
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally

Estimate = Literal["mle", "map", "mean", "predictive"]
ESTIMATES: tuple[Estimate, ...] = ("mle", "map", "mean", "predictive")
Seed = int | np.random.Generator | np.random.RandomState | None
X = "x"  # the column's name in the tally of a single variable
COLUMN = Column()
LARGEST = 1e150  # of a number: its square, times many rows, must not overflow


def generator(random_state: Seed) -> np.random.Generator:
    """A numpy generator from whatever scikit-learn accepts as random_state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


class Distribution:
    """A probability distribution, possibly batched over groups."""

    def log_prob(self, x: Any) -> Floats:
        """log p(x), a density or a mass; shape of x, then the groups."""
        raise NotImplementedError

    def add_log_prob(self, x: Any, total: Floats) -> None:
        """total[g, i] += log p(x_i | g): what `log_prob` says, for many values at once."""
        total += self.log_prob(x).T

    def prob(self, x: Any) -> Floats:
        """p(x)."""
        return np.exp(self.log_prob(x))

    def sample(self, size: int, random_state: Seed = None) -> Any:
        """Draw values; shape (size, groups)."""
        raise NotImplementedError

    if TYPE_CHECKING:  # a parameter of some distributions, worked out by others

        @property
        def mean(self) -> Any:
            """The expected value."""

        @property
        def variance(self) -> Any:
            """The expected squared distance from the mean."""

    def at(self, group: int) -> Self:
        """The distribution of one group."""
        return self._each(lambda value: value[..., group])

    def _each(self, change: Any) -> Self:
        new = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Distribution):
                new[field.name] = value._each(change)
            elif isinstance(value, np.ndarray) and field.metadata.get("batched", True):
                new[field.name] = change(value)
        return dataclasses.replace(self, **new)  # type: ignore[type-var]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self) if f.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={brief(value)}' for name, value in fields)})"


def tidy(*values: Any) -> Any:
    """Numbers as plain floats where they are single, as arrays where they are batched."""
    tidied = tuple(float(v) if np.ndim(v) == 0 else np.asarray(v) for v in values)
    return tidied if len(tidied) > 1 else tidied[0]


def some(n: Any) -> Any:
    """The numbers of values, if every group has some: from none, nothing can be estimated without a prior."""
    if not np.all(np.asarray(n) > 0):
        raise ValueError("no values, so there is no maximum-likelihood estimate; use a proper prior")
    return n


def spread(x: Any, parameter: Any) -> Floats:
    """x with one more axis for each axis of the parameter."""
    x = np.asarray(x, dtype=np.float64)
    return x.reshape(x.shape + (1,) * np.ndim(parameter))


def by_group(x: Any, *parameters: Any) -> tuple[Floats, ...]:
    """x, and parameters that go with it group by group: the groups in front, where numpy's inner loop runs along x."""
    x = np.asarray(x, dtype=np.float64)
    wide = [np.asarray(p, float) for p in parameters]
    return x, *(p.reshape(p.shape + (1,) * x.ndim) for p in wide)


def groups_last(z: Floats, x: Any) -> Floats:
    """The result of `by_group`, with the groups behind x's own axes, as `log_prob` returns them."""
    return np.moveaxis(z, 0, -1) if z.ndim > np.ndim(x) else z


def look_up(table: Floats, where: NDArray[np.integer]) -> Floats:
    """table[where], row by row; with groups (values, groups) each group's column at a time, which is much faster."""
    if table.ndim == 1:
        return table[where]
    picked: Floats = np.take(np.ascontiguousarray(table.T), where.astype(np.intp, copy=False), axis=1).T
    return picked


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, (Distribution, Grid)) or a is None or b is None:
        return bool(a == b)
    return np.array_equal(np.asarray(a), np.asarray(b))


def brief(value: Any) -> str:
    """A parameter as repr shows it: six digits."""
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return f"{float(value):.6g}"
    if isinstance(value, np.ndarray):
        return str(np.array2string(value, precision=6, separator=", ", threshold=12))
    return repr(value)


class Conjugate(Distribution):
    """A distribution over a family's parameters that stays of its kind when data are added: prior + tally."""

    def __add__(self, tally: Tally) -> Self:
        raise NotImplementedError

    def over(self, tally: Tally) -> Self:
        """The same prior, spelled out for the values and groups of a tally."""
        return self

    def log_normaliser(self) -> Any:
        """The log of the constant that makes the density integrate to 1."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most probable parameters."""
        raise NotImplementedError

    @property
    def proper(self) -> bool:
        """Whether it integrates to 1 at all; a flat prior over an endless range does not."""
        return True

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """The central credible interval: the parameter lies in it with this probability."""
        raise NotImplementedError


class Family(Distribution):
    """What one variable can be: tally its values, estimate its parameters."""

    cells: ClassVar[Literal["numbers", "codes", "texts"]] = "numbers"
    name: ClassVar[str]
    holds: ClassVar[str] = "holds numbers"

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """The leaves of some columns, given as a list of their numbers, or of their codes."""
        raise NotImplementedError

    @classmethod
    def impossible(cls, x: Floats) -> NDArray[np.bool_]:
        """Which numbers such a variable cannot be; a missing one it can."""
        return np.abs(x) > LARGEST

    @classmethod
    def check(cls, x: Floats, name: str, start: int) -> None:
        """Refuse numbers such a variable cannot be, naming the first."""
        bad = np.flatnonzero(cls.impossible(x))
        if len(bad):
            row = int(bad[0])
            raise DataError(f"column {name!r} is {x[row]:g} in row {start + row}: a {cls.__name__} column {cls.holds}")

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Conjugate:
        """The prior without opinion; `strength` pseudo-counts a value where the family counts values."""
        raise NotImplementedError

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> Conjugate:
        """The prior worth `strength` rows of all groups together."""
        raise NotImplementedError

    @classmethod
    def table(cls, tally: Tally, column: Column = COLUMN) -> Floats | None:
        """Counts of values per group (values, groups) for a family that counts values; None for one that does not."""
        return None

    @classmethod
    def informative(cls, tally: Tally) -> bool:
        """Whether the column can tell groups apart at all."""
        return True

    @classmethod
    def _mle(cls, tally: Tally, column: Column) -> Self:
        raise NotImplementedError

    @classmethod
    def _of(cls, posterior: Any, estimate: Estimate) -> Distribution:
        raise NotImplementedError

    @classmethod
    def base_measure(cls, tally: Tally) -> Any:
        """The part of the log-likelihood that no parameter changes."""
        return 0.0

    @classmethod
    def tally(cls, x: ArrayLike, *, weights: ArrayLike | None = None, groups: ArrayLike | None = None) -> Tally:
        """The tally of some values; with `groups`, one tally per group's label."""
        raw: Any = as_column(x)
        n = len(raw)
        axis: Grid = Fixed(1)
        where: NDArray[np.integer] = np.zeros(n, np.int32)
        if groups is not None:
            coded = codes(as_column(groups))
            axis, where = coded.labels, coded.place[coded.codes]
        rows = Rows(where, len(axis), check_weights(weights, n))
        cells: Any = [numbers(raw, X) if cls.cells == "numbers" else codes(raw)]
        tally = Tally.of(axis, cls.leaves(cells, rows, {X: COLUMN}))
        return tally if weights is None else tally.trimmed()

    @classmethod
    def fit(
        cls,
        x: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        prior: Any = None,
        estimate: Estimate = "mean",
    ) -> Any:
        """The distribution estimated from some values; a null value is left out."""
        return cls.estimate(cls.tally(x, weights=weights), estimate, prior)

    @classmethod
    def estimate(
        cls, tally: Tally, estimate: Estimate = "mean", prior: Any = None, column: Column = COLUMN
    ) -> Distribution:
        """The distribution estimated from a tally of one column."""
        check_estimate(estimate)
        if estimate == "mle":
            return cls._mle(tally, column)
        return cls._of(cls.posterior(tally, prior, column), estimate)

    @classmethod
    def posterior(cls, data: Any, prior: Any = None, column: Column = COLUMN) -> Any:
        """What is known of the parameters after seeing the data (values, or their tally)."""
        tally = data if isinstance(data, Tally) else cls.tally(data)
        return (cls.flat_prior() if prior is None else prior) + tally

    @classmethod
    def log_evidence(cls, data: Any, prior: Any = None) -> Any:
        """The log probability of the data with the parameters integrated out: the product of sequential predictives."""
        tally = data if isinstance(data, Tally) else cls.tally(data)
        start = cls.flat_prior() if prior is None else prior
        if not start.proper:
            raise ValueError(
                f"{start!r} does not integrate to 1, so it gives the data no probability; use a proper prior"
            )
        if hasattr(start, "log_evidence"):
            return start.log_evidence(cls, tally)
        return tidy((start + tally).log_normaliser() - start.over(tally).log_normaliser() + cls.base_measure(tally))

    def log_likelihood(self, tally: Tally) -> Any:
        """Σ log p(x) over the rows of a tally, without the rows."""
        raise NotImplementedError

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log p(x_i | group), (rows, groups), of many cells at once: each with its own row taken from its group."""
        raise NotImplementedError

    @classmethod
    def confidence(cls, data: Any, level: float = 0.95) -> tuple[Any, Any]:
        """The exact frequentist interval of the parameter: whatever it is, the interval covers it this often."""
        raise NotImplementedError


def check_estimate(estimate: str) -> None:
    """Refuse the name of an estimate that is none."""
    if estimate not in ESTIMATES:
        raise ValueError(f"estimate={estimate!r}: expected one of {', '.join(map(repr, ESTIMATES))}")


def not_negative(**parameters: Any) -> None:
    """Refuse a prior whose pseudo-counts are negative."""
    for name, value in parameters.items():
        if np.any(np.asarray(value) < 0):
            raise ValueError(f"{name}={brief(value)}: the pseudo-counts of a prior must not be negative")
