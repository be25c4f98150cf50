"""How rows are read for a regression: features as numbers and codes, and what else is told of a row, checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import Coded, codes, numbers
from evenodds.data.memory import Table
from evenodds.data.reading import Reading
from evenodds.data.report import Report, Trouble
from evenodds.data.source import Memory
from evenodds.data.sum import cells
from evenodds.errors import DataError
from evenodds.families import Bernoulli, Categorical, Family, Gaussian
from evenodds.models.glm.blocks import SHARD, Floats
from evenodds.models.glm.design import stacked
from evenodds.schema import Column, Schema

HEAVIEST = 1e100  # of a weight, an offset or an exposure
NUMBER = Column(Gaussian)


@dataclass(frozen=True)
class Roles:
    """The columns that are no features: the target, and what else is told of a row, by name."""

    target: str
    weights: str | None = None
    offset: str | None = None  # added to the score
    exposure: str | None = None  # of a count: the time, people or miles it was counted over; its log is an offset
    trials: str | None = None  # of a Bernoulli target that counts successes: among how many

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [name for name in dataclasses.astuple(self) if name is not None]

    @property
    def numbers(self) -> list[str]:
        """Those that are numbers in any case."""
        return [name for name in (self.offset, self.exposure, self.trials) if name is not None]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows as they were read, before the design is known."""

    dense: NDArray[Any]
    sparse: Any
    coded: list[Coded]
    target: Any  # numbers, or Coded
    weights: Floats | None
    offset: Floats | None
    trials: Floats | None  # by which the weights have been multiplied
    extra: Floats  # (rows,): what the trials add to the negative log-likelihood
    where: Callable[[int], str]
    rows: int

    def take(self, rows: NDArray[np.int64] | slice) -> Chunk:
        """Some of the rows."""
        where, numbers = self.where, range(self.rows)[rows] if isinstance(rows, slice) else rows
        return Chunk(
            self.dense[rows],
            None if self.sparse is None else self.sparse[rows],
            [x[rows] for x in self.coded],
            self.target[rows],
            None if self.weights is None else self.weights[rows],
            None if self.offset is None else self.offset[rows],
            None if self.trials is None else self.trials[rows],
            self.extra[rows],
            lambda row: where(int(numbers[row])),
            len(numbers),
        )


@dataclass(frozen=True)
class Plan:
    """How rows are read for a regression, before and after the first pass."""

    schema: Schema
    roles: Roles
    family: type[Family]
    intercept: bool = True
    missing: str = "refuse"
    references: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_class(self) -> bool:
        """Whether the target is a class rather than a number."""
        return self.family is Categorical or (self.family is Bernoulli and self.roles.trials is None)

    @property
    def numeric(self) -> list[str]:
        """The columns that are numbers."""
        return [name for name, how in self.schema.features.items() if how.family is not Categorical]

    @property
    def categorical(self) -> list[str]:
        """The columns that are categories."""
        return [name for name, how in self.schema.features.items() if how.family is Categorical]

    def reading(self) -> Reading:
        """How batches of files are read: targets and offsets that are numbers as further columns."""
        more = [*self.roles.numbers, *([] if self.is_class else [self.roles.target])]
        columns = {**self.schema.columns, **dict.fromkeys(more, NUMBER)}
        return Reading(Schema(columns, self.roles.target, self.schema.target_kind), self.is_class, self.roles.weights)

    # -- one run of rows -----------------------------------------------------------------------------------------------

    def chunk(
        self, table: Table, target: Any, weights: Floats | None, where: Callable[[int], str], sparse: Any = None
    ) -> Chunk:
        """Rows as numbers and codes; what is told of them checked. Rows of weight 0 are left out."""
        roles, rows = self.roles, table.rows
        features = self.schema.features
        if sparse is None:
            dense = stacked([cells(table, name, features[name]) for name in self.numeric], rows)
        else:
            dense = np.empty((rows, 0))
        coded = [cells(table, name, features[name]) for name in self.categorical]
        extra, trials, offset = np.zeros(rows), None, None
        if roles.offset is not None:
            offset = _checked(numbers(table[roles.offset], roles.offset), "offset", roles.offset, where, -HEAVIEST)
        if roles.exposure is not None:
            exposure = numbers(table[roles.exposure], roles.exposure)
            _checked(exposure, "exposure", roles.exposure, where, 0.0)
            offset = np.log(exposure) + (0.0 if offset is None else offset)
        if roles.trials is not None:
            trials = _checked(numbers(table[roles.trials], roles.trials), "number of trials", roles.trials, where, 0.0)
            target, extra = _shares(target, trials, roles.target, where)
            if weights is not None:
                extra = extra * weights
            weights = trials if weights is None else weights * trials
        found = Chunk(dense, sparse, coded, target, weights, offset, trials, extra, where, rows)
        if weights is not None and not np.all(weights > 0):
            found = found.take(np.flatnonzero(weights > 0))
        return found

    def gaps(self, chunk: Chunk, numbers: bool = True) -> dict[str, tuple[int, str]]:
        """The columns with missing cells, how many, and where the first is; infinite ones are refused.

        Numbers are not looked at where it is known that all are finite.
        """
        found: dict[str, tuple[int, str]] = {}
        values = chunk.dense if chunk.sparse is None else chunk.sparse.data
        if numbers and not _all_finite(values):
            dense = chunk.dense if chunk.sparse is None else chunk.sparse.toarray()
            for j, name in enumerate(self.numeric):
                infinite = np.flatnonzero(np.isinf(dense[:, j]))
                if len(infinite):
                    raise DataError(
                        f"column {name!r} is infinite (inf) in {chunk.where(int(infinite[0]))}: "
                        "a regression needs finite numbers"
                    )
                rows = np.flatnonzero(np.isnan(dense[:, j]))
                if len(rows):
                    found[name] = (len(rows), chunk.where(int(rows[0])))
        for name, x in zip(self.categorical, chunk.coded):
            if x.nullable and (x.codes.min(initial=0) < 0 or np.any(x.place < 0)):
                rows = np.flatnonzero(x.places < 0)
                if len(rows):
                    found[name] = (len(rows), chunk.where(int(rows[0])))
        return found

    def whole(self, chunk: Chunk) -> Chunk:
        """The rows without missing cells."""
        usable = np.ones(chunk.rows, bool)
        if chunk.sparse is not None:
            bad = chunk.sparse.copy()
            bad.data = np.isnan(bad.data).astype(float)
            usable &= np.asarray(bad.sum(axis=1)).ravel() == 0
        elif chunk.dense.shape[1]:
            usable &= np.isfinite(chunk.dense.sum(axis=1))
        for x in chunk.coded:
            usable &= x.places >= 0
        return chunk if usable.all() else chunk.take(np.flatnonzero(usable))


@dataclass(frozen=True)
class SparseMemory(Memory):
    """A sparse matrix in memory as a source, with what is told of its rows as a table beside it."""

    matrix: Any = None


def chunk_of_memory(source: Memory, plan: Plan) -> Chunk:
    """The rows of a table in memory; what is wrong with their targets and weights is refused."""
    table, roles = source.table, plan.roles
    raw = table[roles.target]
    target: Any = codes(raw) if plan.is_class else numbers(raw, roles.target)
    missing = target.places < 0 if plan.is_class else np.isnan(target)
    if np.any(missing):
        row = int(np.argmax(missing))
        raise DataError(f"Input y contains NaN: the target {roles.target!r} is missing in row {row}; drop such rows")
    if not plan.is_class and np.any(np.isinf(target)):
        raise DataError(f"Input y contains infinity: the target {roles.target!r}; expected finite numbers")
    weights = None if roles.weights is None else numbers(table[roles.weights], roles.weights)
    if weights is not None:
        bad = np.flatnonzero(~((weights >= 0) & (weights < HEAVIEST)))
        if len(bad):
            raise DataError(f"the weight of row {bad[0]} is {weights[bad[0]]:g}: expected a finite number, 0 or more")
        if not np.any(weights > 0):
            raise DataError("all weights are zero: a row of weight 0 is no row")
        if np.all(weights == 1):
            weights = None
    sparse = source.matrix if isinstance(source, SparseMemory) else None
    return plan.chunk(table, target, weights, lambda row: f"row {row}", sparse)


def no_target(plan: Plan, read: Any, batch: Any) -> Report:
    """The rows of a batch that are left out because their target is no number."""
    if plan.is_class:
        return Report()
    gone = np.flatnonzero(np.isnan(numbers(read.table[plan.roles.target], plan.roles.target)))
    if not len(gone):
        return Report()
    row = int(gone[0])
    return Report(no_target=Trouble(len(gone), batch.where(row if read.kept is None else int(read.kept[row]))))


def chunk_of(plan: Plan, read: Any, batch: Any) -> Chunk:
    """The rows of a batch that have a target."""
    table, kept = read.table, read.kept
    target: Any = read.target
    if not plan.is_class:
        target = numbers(table[plan.roles.target], plan.roles.target)

    def where(row: int) -> str:
        return str(batch.where(row if kept is None else int(kept[row])))

    if not plan.is_class and np.isnan(target).any():
        known = np.flatnonzero(~np.isnan(target))
        inner = where
        table, target = table.take(known), target[known]
        weights = None if read.weights is None else read.weights[known]
        return plan.chunk(table, target, weights, lambda row: inner(int(known[row])))
    return plan.chunk(table, target, read.weights, where)


def reading_of(schema: Schema, roles: Roles, names: list[str]) -> Reading:
    """How rows to be predicted are read: the features, and the offset and exposure where they are among the names."""
    more = [name for name in (roles.offset, roles.exposure) if name is not None and name in names]
    return Reading(Schema({**schema.columns, **dict.fromkeys(more, NUMBER)}, schema.target, schema.target_kind), False)


def _checked(x: Floats, what: str, name: str, where: Callable[[int], str], above: float) -> Floats:
    bad = np.flatnonzero(~((x > above) & (x < HEAVIEST)))
    if len(bad):
        row = int(bad[0])
        expected = "a finite number" + (" above 0 (a row without any says nothing: leave it out)" if above == 0 else "")
        raise DataError(f"the {what} {name!r} is {x[row]:g} in {where(row)}: expected {expected}")
    return x


def _shares(successes: Floats, trials: Floats, name: str, where: Callable[[int], str]) -> tuple[Floats, Floats]:
    """Successes as shares of the trials, and the log of the number of ways they could have come, negative."""
    from scipy.special import gammaln

    bad = np.flatnonzero(~((successes >= 0) & (successes <= trials)))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"the target {name!r} is {successes[row]:g} in {where(row)}: "
            f"expected a number of successes, from 0 to the {trials[row]:g} trials"
        )
    ways = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    return successes / trials, -ways


def _all_finite(x: Any) -> bool:
    """Whether all numbers are finite: their sum is, or each is looked at."""
    for start in range(0, len(x), SHARD):
        part = x[start : start + SHARD]
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(part.sum()) and not np.isfinite(part).all():
                return False
    return True
