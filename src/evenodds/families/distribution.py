"""What a distribution can do, batched over groups or not, and what all of them share.

Parameters may be batched over groups (the group axis is last): the same object is then a conditional distribution, and
`log_prob` of n values has shape (n, groups).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import tail_of
from evenodds.families.leaves import Floats
from evenodds.labels import Grid
from evenodds.tally import Tally

Seed = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: Seed) -> np.random.Generator:
    """A numpy generator from whatever scikit-learn accepts as random_state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


class LinearTerms(NamedTuple):
    """log p(x | group) = constant + Σ weight · feature, but for what is the same in every group."""

    names: list[str]  # of the features: "" is the number itself, "=red" whether it is red
    weights: Floats  # (features, groups)
    constant: Any  # (groups,)


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

    def linear(self, tally: Tally) -> LinearTerms | None:
        """log p(x | group) as weights, where it is linear in x; the tally it comes from may know names."""
        return None

    @property
    def endless(self) -> NDArray[np.bool_]:
        """In which groups the density is endless, because all values there are the same."""
        return np.zeros(1, bool)

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

    def __repr__(self) -> str:
        fields = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self) if f.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={six_digits(value)}' for name, value in fields)})"


def tidy(*values: Any) -> Any:
    """Numbers as plain floats where they are single, as arrays where they are batched."""
    tidied = tuple(float(v) if np.ndim(v) == 0 else np.asarray(v) for v in values)
    return tidied if len(tidied) > 1 else tidied[0]


def some(n: Any) -> Any:
    """The numbers of values, if every group has some: from none, nothing can be estimated without a prior."""
    if not np.all(np.asarray(n) > 0):
        raise ValueError("no values, so there is no maximum-likelihood estimate; use a proper prior")
    return n


def drawn(rng: np.random.Generator, shares: Any, size: int) -> NDArray[np.int64]:
    """Places drawn by their shares (places, groups), which need not add up to 1: (size, groups)."""
    cumulative = np.cumsum(shares, axis=0)
    if not len(cumulative):
        raise ValueError("no values were seen, so none can be drawn")
    u = rng.random((size, *cumulative.shape[1:])) * cumulative[-1]
    found = np.empty(u.shape, np.int64)
    for group in np.ndindex(u.shape[1:]):
        found[:, *group] = np.searchsorted(cumulative[:, *group], u[:, *group], side="right")
    return np.minimum(found, len(cumulative) - 1)


def with_axes_of(x: Any, parameter: Any) -> Floats:
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


def six_digits(value: Any) -> str:
    """A parameter as repr shows it: six digits."""
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return f"{float(value):.6g}"
    if isinstance(value, np.ndarray):
        return str(np.array2string(value, precision=6, separator=", ", threshold=12))
    return repr(value)


class Formula(Distribution):
    """A distribution whose log p(x) is a formula of x and of its fields, the same in every group."""

    _log: ClassVar[Callable[..., Floats]]

    @property
    def _numbers(self) -> tuple[Any, ...]:
        """What the formula takes beside x."""
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))  # type: ignore[arg-type]

    def log_prob(self, x: Any) -> Floats:
        """log p, a density or a mass; -inf where x cannot be, NaN where it is missing."""
        x, *numbers = by_group(x, *self._numbers)
        return groups_last(self._log(x, *numbers), x)

    def each(self, x: Floats) -> Floats:
        """log p of the i-th value under the i-th parameters, (values, groups)."""
        return self._log(x[:, None], *map(np.asarray, self._numbers))


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

    def log_evidence(self, tally: Tally) -> Any:
        """The log probability of a tally's data, but for what no parameter changes."""
        return (self + tally).log_normaliser() - self.over(tally).log_normaliser()

    @property
    def proper(self) -> bool:
        """Whether it integrates to 1 at all; a flat prior over an endless range does not."""
        raise NotImplementedError

    def interval(self, level: float = 0.95) -> tuple[Any, Any]:
        """The central credible interval: the parameter lies in it with this probability."""
        tail = tail_of(level)
        return tidy(self.quantile(tail), self.quantile(1 - tail))

    def span(self, level: float = 0.95) -> tuple[Any, Any]:
        """The credible interval that leaves out nothing more probable: where the end of the range is, from there on."""
        return self.interval(level)

    def quantile(self, q: Any) -> Any:
        """The parameter below which it lies with the probability q."""
        raise NotImplementedError


def not_negative(**parameters: Any) -> None:
    """Refuse a prior whose pseudo-counts are negative, or no numbers."""
    for name, value in parameters.items():
        try:
            numbers = np.asarray(value, float)
        except (TypeError, ValueError, OverflowError):
            numbers = np.full(1, np.nan)
        if not np.all((numbers >= 0) & (numbers < np.inf)):
            raise ValueError(f"{name}={six_digits(value)}: the pseudo-counts of a prior must be 0 or more, and finite")
