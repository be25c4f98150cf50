"""Where a mixture's rows are: a table in memory, or files that are read again for every step."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from evenodds.cells import Coded
from evenodds.data.decide import decide
from evenodds.data.kept import Kept, Learnt
from evenodds.data.memory import Table
from evenodds.data.passes import HELD as HELD
from evenodds.data.passes import SHARD, Summed, added, keeping, kept_by, number
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.data.sum import cells
from evenodds.errors import DataError, did_you_mean, remedy
from evenodds.families import Categorical, Family
from evenodds.families.leaves import Floats, axis_of
from evenodds.families.leaves import Rows as InGroups
from evenodds.labels import Fixed, Labels
from evenodds.models.mixture.blocks import Block
from evenodds.schema import Column, Schema
from evenodds.tally import Tally
from evenodds.threads import in_order

SAMPLE = 1 << 13  # rows on which starts are tried
ONE_CLASS = Labels.of([""])
R = TypeVar("R")


@dataclass(frozen=True)
class Part:
    """Some rows as they were read."""

    table: Table
    weights: Floats | None
    start: int
    read: int  # rows, before some were left out
    kept: Any = None  # the numbers of those that were not
    report: Report = field(default_factory=Report)


class MixtureRows(Protocol):
    """Rows, as often as EM wants them."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    def shards(self, exact: bool = False) -> Iterable[Any]:
        """All of them, in runs that do not depend on the number of threads."""

    def part(self, shard: Any) -> Part:
        """One of the runs, read."""


@dataclass(frozen=True, eq=False)
class Tabled:
    """Rows in memory."""

    table: Table
    schema: Schema
    weights: Floats | None = None

    def shards(self, exact: bool = False) -> list[slice]:
        """Runs of a fixed length."""
        size = min(SHARD, self.table.shard_size)
        return [slice(at, min(at + size, self.table.rows)) for at in range(0, self.table.rows, size)]

    def part(self, shard: slice) -> Part:
        """One run; numbers that no such variable can be are refused."""
        table = self.table.slice(shard.start, shard.stop)
        for name, how in self.schema.features.items():
            if how.family is not None and how.family.cells == "numbers":
                how.family.check(cells(table, name, how), name, shard.start)
        weights = None if self.weights is None else self.weights[shard]
        return Part(table, weights, shard.start, table.rows)


@dataclass(frozen=True, eq=False)
class Streamed:
    """Rows of files; numbers that no such variable can be count as missing, and are reported."""

    source: Source
    reading: Reading

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.reading.schema

    def shards(self, exact: bool = False) -> Iterable[Any]:
        """Batches, and how many rows are before each; elsewhere, perhaps not exactly."""
        return number(self.source.batches(self.reading.columns), exact)

    def part(self, shard: Any) -> Part:
        """One batch, read."""
        start, batch = shard
        read = self.reading(batch)
        return Part(read.table, read.weights, start, batch.rows, read.kept, read.report)


def schema_of(rows: Table, family: type[Family], columns: Sequence[str] | None) -> Schema:
    """The columns that were told, or all, each of one family; the others are left out."""
    if isinstance(columns, str) or not isinstance(columns, Iterable | None):
        raise ValueError(f"columns={columns!r:.80}: expected a list of names, as in columns=['x', 'y']")
    wanted = list(rows.columns) if columns is None else [str(name) for name in columns]
    for name in wanted:
        if name not in rows.columns:
            raise DataError(did_you_mean(name, rows.columns))
    told = {name: family if name in wanted else Column(role="ignore") for name in rows.columns}
    return Schema(decide(rows, told), "")


def streamed(source: Source, family: type[Family], columns: Sequence[str] | None, weight: str | None) -> Streamed:
    """The rows of files, one of whose columns may hold the weights."""
    sample = source.sample()
    if weight is not None:
        sample[weight]  # refused in a sentence where it is not there
        sample = sample.without(weight)
    return Streamed(source, Reading(schema_of(sample, family, columns), False, weight))


def block_of(part: Part, schema: Schema, labels: dict[str, Labels]) -> Block:
    """Rows as columns of numbers, or of codes into the labels; a label that is not among them is missing."""
    columns = []
    for name, how in schema.features.items():
        x = cells(part.table, name, how)
        if isinstance(x, Coded):
            columns.append(np.append(labels[name].find(x.labels.keys), -1)[x.places])
        else:
            columns.append(x)
    return Block(columns, np.ones(part.table.rows) if part.weights is None else part.weights)


@dataclass(frozen=True, eq=False)
class Survey:
    """What a first pass finds: each column's tally, how many rows there are, and some of them to start with."""

    schema: Schema
    rows: MixtureRows
    columns: dict[str, Tally]
    weight: float  # Σ w of the rows that say something
    telling: int  # how many those are
    sample: Block  # different ones, some of them or all
    small: bool  # whether the sample is all rows there are
    report: Report
    threads: int | None
    _held: list[Block] = field(default_factory=list)

    @property
    def labels(self) -> dict[str, Labels]:
        """The values of each column of categories."""
        return labels_of(self.schema, self.columns)

    def each(self, work: Callable[[Block], R]) -> Iterator[R]:
        """What work finds in all rows, in parts to be added in this order; few rows are kept as they were read."""
        if self.small:
            yield work(self.sample)
            return
        rows, schema, labels = self.rows, self.schema, self.labels

        def read(shard: Any) -> Block:
            return block_of(rows.part(shard), schema, labels).telling

        few = self.telling * 8 * (len(self.columns) + 2) <= HELD
        if few and not self._held:
            self._held.extend(in_order(read, rows.shards(), self.threads))
        if self._held:
            yield from in_order(work, self._held, self.threads)
        elif (found := added(lambda shard: work(read(shard)), rows.shards(), self.threads)) is not None:
            yield found


def labels_of(schema: Schema, columns: dict[str, Tally]) -> dict[str, Labels]:
    """The values of each column of categories, as its tally has them."""
    found: dict[str, Any] = {
        name: axis_of(columns[name], "labels") for name, how in schema.features.items() if how.family is Categorical
    }
    return found


def survey(rows: MixtureRows, threads: int | None) -> Survey:
    """One pass: tally each column, and keep some rows."""
    keep, schema = Kept(SAMPLE, 1), rows.schema
    features = schema.features
    family: Any = next(iter(features.values())).family
    shards = rows.shards(True)
    keep = keeping(keep, shards)

    def work(shard: Any) -> Summed:
        part = rows.part(shard)
        together = InGroups(np.zeros(part.table.rows, np.int32), 1, part.weights, part.start)
        read = {name: cells(part.table, name, how) for name, how in features.items()}
        tally = Tally.of(Fixed(1), family.leaves(list(read.values()), together, features))
        there = np.array([x.places >= 0 if isinstance(x, Coded) else x == x for x in read.values()])
        if part.weights is not None:
            there &= part.weights > 0
        some = there.any(axis=0)
        heavy = float(some.sum() if part.weights is None else part.weights[some].sum())
        one_class = Coded(np.zeros(part.table.rows, np.int8), ONE_CLASS, np.zeros(1, np.int64))
        picked = keep.pick(part.start, part.read, part.kept, Learnt(part.table, one_class, part.weights))
        numbers = np.array([*there.sum(axis=1), some.sum(), heavy])
        return Summed([tally], part.report, numbers, ((part.read, picked),))

    seen = added(work, shards, threads, Summed.total, kept_by(keep))
    numbers = [] if seen is None else list(zip(features, seen.numbers))
    for name, some in numbers:
        if not some and seen is not None and name in seen.report.cells:
            cell, cure = seen.report.cells[name].example, remedy("Mixture(Categorical, …)", "--family categorical")
            raise DataError(
                f"column {name!r} holds no numbers (first: {cell!r}): leave it out; for columns of texts alone "
                f"there is {cure}"
            )
    if seen is None or not seen.numbers[-2]:
        raise DataError("every row has weight zero or no known cell: there is nothing to learn from")
    for name, some in numbers:
        if not some:
            raise DataError(f"column {name!r} has no known cell: leave it out")
    by_column, telling, weight = seen.tallies[0].by_column(), int(seen.numbers[-2]), float(seen.numbers[-1])
    columns = {name: by_column[name] for name in features}  # in the table's order
    found = Survey(schema, rows, columns, weight, telling, Block([], np.zeros(0)), False, seen.report, threads)
    blocks = [
        block_of(Part(learnt.rows, learnt.weights, 0, learnt.rows.rows), schema, found.labels)
        for learnt in keep.parts()
    ]
    sample = Block.joined(blocks).telling
    return dataclasses.replace(found, sample=sample.different, small=sample.rows == telling)
