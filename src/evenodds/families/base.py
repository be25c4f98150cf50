"""What every family can do.

A family is a class, a distribution an instance: `Poisson.fit(kicks)` gives `Poisson(rate=0.61)`. All that is particular
to a family is in its file: what it sums, its estimates, how it reads in a table, its weights where it is linear.

The four estimates, the same for every family:

mle         the parameters under which the data are most probable
map         the mode of the posterior: the most probable parameters, given data and prior
mean        the posterior mean of the parameters
predictive  no parameters at all: they are integrated out, p(x | data) = ∫ p(x | θ) p(θ | data) dθ
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.arguments import one_of
from evenodds.cells import as_column, codes, numbers
from evenodds.errors import DataError, as_word, remedy
from evenodds.families.distribution import Conjugate, Distribution, tidy
from evenodds.families.leaves import Floats, Rows, rows_of
from evenodds.families.left_out import How, Left
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally

Estimate = Literal["mle", "map", "mean", "predictive"]
ESTIMATES: tuple[Estimate, ...] = ("mle", "map", "mean", "predictive")
X = "x"  # the column's name in the tally of a single variable
COLUMN = Column()
LARGEST = 1e149  # of a number: its square must not overflow, nor when it is split into two halves


class Reading(NamedTuple):
    """What a person reads of a group: of one value, or (None) of the parameters themselves."""

    group: int
    value: Any
    figures: dict[str, Any]


class Family(Distribution):
    """What one variable can be: tally its values, estimate its parameters."""

    cells: ClassVar[Literal["numbers", "codes", "texts"]] = "numbers"
    name: ClassVar[str]
    holds: ClassVar[str] = "holds numbers"
    as_it_lies: ClassVar[bool] = False  # whether columns of a row-major array are tallied without copying them out
    held: ClassVar[str] = ""  # what stays as all rows have it when one of them is left out
    wider: ClassVar[str] = ""  # what else to ask for where all values of a group are the same
    linear_if: ClassVar[str] = "Bernoulli, Categorical, Poisson and pooled-variance Gaussian columns are"

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
            how = remedy(f"columns={{{name!r}: Binned}}", f"--role {as_word(name)}=number")
            raise DataError(
                f"column {name!r} is {x[row]:g} in row {start + row}: {_one(cls)} column {cls.holds}; correct the "
                f"cell, or give the column another family, as in {how}"
            )

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
    def free(cls, tally: Tally, column: Column = COLUMN) -> int:
        """How many free numbers the groups' distributions have together."""
        table = cls.table(tally, column)
        return len(tally.groups) * (1 if table is None else len(table) - 1)

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """What a person reads of each group: its mean, and where the parameter lies with this probability."""
        low, high = posterior.interval(level)
        for group, mean in enumerate(np.broadcast_to(estimate.mean, np.shape(low))):
            yield Reading(group, None, {"mean": mean, "low": low[group], "high": high[group]})

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
        cells: Any = [numbers(raw, X) if cls.cells == "numbers" else codes(raw)]
        axis, rows = rows_of(len(raw), weights, groups)
        tally = Tally.of(axis, cls.leaves(cells, rows, {X: COLUMN}))
        return tally if weights is None else tally.trimmed()

    @classmethod
    def fit(
        cls,
        x: ArrayLike | Tally,
        *,
        weights: ArrayLike | None = None,
        prior: Any = None,
        estimate: Estimate = "mean",
    ) -> Any:
        """The distribution estimated from some values (or their tally); a null value is left out."""
        return cls.estimate(cls.tallied(x, weights), estimate, prior)

    @classmethod
    def estimate(
        cls, tally: Tally, estimate: Estimate = "mean", prior: Any = None, column: Column = COLUMN
    ) -> Distribution:
        """The distribution estimated from a tally of one column."""
        check_estimate(estimate)
        return cls._estimate(tally, estimate, prior, column)

    @classmethod
    def _estimate(cls, tally: Tally, estimate: Estimate, prior: Any, column: Column) -> Distribution:
        if estimate == "mle":
            return cls._mle(tally, column)
        return cls._of(cls.posterior(tally, prior, column), estimate)

    @classmethod
    def tallied(cls, data: Any, weights: ArrayLike | None = None) -> Tally:
        """The tally of some data, which may be one already."""
        if not isinstance(data, Tally):
            return cls.tally(data, weights=weights)
        if weights is not None:
            raise ValueError("a tally has its weights in it: give weights= with the values, or to `tally`")
        return data

    @classmethod
    def prior(cls, given: Any, strength: float = 1.0) -> Any:
        """The prior that was given, or the flat one; one over the parameters of another family is refused."""
        flat = cls.flat_prior(strength)
        if given is None:
            return flat
        if not isinstance(given, type(flat)) and getattr(given, "family", None) is not cls:  # a Quadrature has its own
            kind = type(flat).__name__
            raise ValueError(f"prior={given!r} is none of {_one(cls)}: expected a {kind}, such as {flat!r}")
        return given

    @classmethod
    def posterior(cls, data: Any, prior: Any = None, column: Column = COLUMN) -> Any:
        """What is known of the parameters after seeing the data (values, or their tally)."""
        return cls.prior(prior) + cls.tallied(data)

    @classmethod
    def log_evidence(cls, data: Any, prior: Any = None) -> Any:
        """The log probability of the data with the parameters integrated out: the product of sequential predictives."""
        tally, start = cls.tallied(data), cls.prior(prior)
        if not start.proper:
            raise ValueError(
                f"{start!r} does not integrate to 1, so it gives the data no probability; use a proper prior"
            )
        return tidy(start.log_evidence(tally) + cls.base_measure(tally))

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
        raise NotImplementedError(f"{_one(cls)} has no exact interval; use posterior(data).interval(level)")


def _one(family: type[Family]) -> str:
    """Its name with an article."""
    return f"{'an' if family.__name__[0] in 'AEIOU' else 'a'} {family.__name__}"


def check_estimate(estimate: str) -> None:
    """Refuse the name of an estimate that is none."""
    one_of("estimate", estimate, ESTIMATES)
