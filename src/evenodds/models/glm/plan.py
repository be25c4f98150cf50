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
from evenodds.data.reading import Cells, Reading
from evenodds.data.report import Report, Trouble
from evenodds.data.source import Batch, Memory
from evenodds.data.sum import cells
from evenodds.errors import DataError, as_word, remedy
from evenodds.families import Bernoulli, Categorical, Family, Gaussian, Poisson
from evenodds.models.glm.blocks import SHARD, Floats
from evenodds.models.glm.design import stacked
from evenodds.schema import Column, Schema

Numbers = range | NDArray[np.int64]  # of rows

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
    numbers: Numbers  # (rows,): of the rows, among those that they were read with
    named: Callable[[int], str]  # by that number: how to find the row again

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.numbers)

    def where(self, row: int) -> str:
        """How to find a row again."""
        return self.named(int(self.numbers[row]))

    def take(self, rows: NDArray[np.int64] | slice) -> Chunk:
        """Some of the rows."""
        return Chunk(
            self.dense[rows],
            None if self.sparse is None else self.sparse[rows],
            [x[rows] for x in self.coded],
            self.target[rows],
            None if self.weights is None else self.weights[rows],
            None if self.offset is None else self.offset[rows],
            None if self.trials is None else self.trials[rows],
            self.extra[rows],
            self.numbers[rows] if isinstance(rows, slice) else np.asarray(self.numbers)[rows],
            self.named,
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
        self,
        table: Table,
        target: Any,
        weights: Floats | None,
        numbered: Numbers,
        named: Callable[[int], str],
        sparse: Any = None,
    ) -> Chunk:
        """Rows as numbers and codes; what is told of them checked. Rows of weight 0 are no rows, whatever they hold."""
        if weights is not None and not np.all(weights > 0):
            kept = np.flatnonzero(weights > 0)
            table, target, weights, numbered = table.take(kept), target[kept], weights[kept], np.asarray(numbered)[kept]
            sparse = None if sparse is None else sparse[kept]
        roles, rows, where = self.roles, table.rows, lambda row: named(int(numbered[row]))
        features = self.schema.features
        if sparse is None:
            dense = stacked([cells(table, name, features[name]) for name in self.numeric], rows)
        else:
            dense = np.empty((rows, 0))
        coded = [cells(table, name, features[name]) for name in self.categorical]
        extra, trials, offset = np.zeros(rows), None, None
        if roles.offset is not None:
            offset = checked(numbers(table[roles.offset], roles.offset), "offset", roles.offset, where)
            if self.family is not Gaussian:
                check_offset(offset, roles.offset, where, self.family is Poisson)
        if roles.exposure is not None:
            exposure = numbers(table[roles.exposure], roles.exposure)
            checked(exposure, "exposure", roles.exposure, where, above=0.0)
            offset = np.log(exposure) + (0.0 if offset is None else offset)
        if roles.trials is not None:
            trials = numbers(table[roles.trials], roles.trials)
            checked(trials, "number of trials", roles.trials, where, above=0.0)
            target, extra = shares(target, trials, roles.target, where)
            if weights is not None:
                extra = extra * weights
            weights = trials if weights is None else weights * trials
        return Chunk(dense, sparse, coded, target, weights, offset, trials, extra, numbered, named)

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
    weights = None if roles.weights is None else numbers(table[roles.weights], roles.weights)
    if weights is not None:
        bad = np.flatnonzero(~((weights >= 0) & (weights < HEAVIEST)))
        if len(bad):
            raise DataError(f"the weight of row {bad[0]} is {weights[bad[0]]:g}: expected a finite number, 0 or more")
        if not np.any(weights > 0):
            raise DataError("all weights are zero: a row of weight 0 is no row")
        if np.all(weights == 1):
            weights = None
    raw = table[roles.target]
    target: Any = codes(raw) if plan.is_class else numbers(raw, roles.target)
    check_target(target, roles.target, weights)
    sparse = source.matrix if isinstance(source, SparseMemory) else None
    return plan.chunk(table, target, weights, range(table.rows), in_memory, sparse)


def check_target(target: Floats | Coded, name: str, weights: Floats | None = None) -> None:
    """Refuse rows that count and have no target, or an infinite one."""
    missing = target.places < 0 if isinstance(target, Coded) else np.isnan(target)
    infinite = np.zeros(0, bool) if isinstance(target, Coded) else np.isinf(target)
    for bad, what, word in ((missing, "NaN", "missing"), (infinite, "infinity", "infinite")):
        rows = np.flatnonzero(bad)
        rows = rows if weights is None else rows[weights[rows] > 0]
        if len(rows):
            raise DataError(f"Input y contains {what}: the target {name!r} is {word} in row {rows[0]}; drop such rows")


def in_memory(row: int) -> str:
    """How a row of a table is found again."""
    return f"row {row}"


def chunk_of(plan: Plan, read: Cells, batch: Batch) -> tuple[Chunk, Report]:
    """The rows of a batch that have a target; and those that are left out because theirs is no number."""
    table, weights, report = read.table, read.weights, Report()
    kept: Numbers = range(table.rows) if read.kept is None else read.kept
    target: Any = read.target
    if not plan.is_class:
        target = numbers(table[plan.roles.target], plan.roles.target)
        gone = np.isnan(target)
        if gone.any():
            report = Report(no_target=Trouble(int(gone.sum()), batch.where(int(kept[int(np.argmax(gone))]))))
            known = np.flatnonzero(~gone)
            table, target, kept = table.take(known), target[known], np.asarray(kept)[known]
            weights = None if weights is None else weights[known]
    return plan.chunk(table, target, weights, kept, batch.where), report


def reading_of(schema: Schema, roles: Roles, names: list[str]) -> Reading:
    """How rows to be predicted are read: the features, and the offset and exposure where they are among the names."""
    more = [name for name in (roles.offset, roles.exposure) if name is not None and name in names]
    return Reading(Schema({**schema.columns, **dict.fromkeys(more, NUMBER)}, schema.target, schema.target_kind), False)


def checked(x: Floats, what: str, name: str, where: Callable[[int], str], above: float | None = None) -> Floats:
    """Numbers told of rows, finite and perhaps above 0; the first that is not is named."""
    bad = np.flatnonzero(~((x > (-HEAVIEST if above is None else above)) & (x < HEAVIEST)))
    if len(bad):
        row = int(bad[0])
        expected = "a finite number" + (" above 0 (a row without any says nothing: leave it out)" if above == 0 else "")
        raise DataError(f"the {what} {name!r} is {x[row]:g} in {where(row)}: expected {expected}")
    return x


def check_offset(offset: Floats, name: str, where: Callable[[int], str], counts: bool) -> None:
    """Refuse an offset beyond the log of any exposure: e^offset times a rate or odds is no number to be fitted."""
    bad = np.flatnonzero(np.abs(offset) > np.log(HEAVIEST))
    if len(bad):
        row, exposure = int(bad[0]), (f"exposure={name!r}", f"--exposure {as_word(name)}")
        cure = (
            f"give what was counted over as the exposure, whose log is the offset: {remedy(*exposure)}"
            if counts
            else "the offset of classes is in log-odds: divide it, or take its log"
        )
        raise DataError(
            f"the offset {name!r} is {offset[row]:,.6g} in {where(row)}: e^{offset[row]:,.6g} is too "
            f"{'large' if offset[row] > 0 else 'small'} to be fitted; {cure}"
        )


def shares(successes: Floats, trials: Floats, name: str, where: Callable[[int], str]) -> tuple[Floats, Floats]:
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
