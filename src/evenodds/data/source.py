"""A source: rows from somewhere, in batches of bounded size.

In memory and in files the same verbs work: a source shows its first rows, by which its columns are typed, and hands out
its batches, as often as wanted (a pipe: once).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from evenodds.data.memory import Table
from evenodds.data.report import Report
from evenodds.errors import DataError, did_you_mean, remedy
from evenodds.schema import SAMPLE
from evenodds.texts import PLAIN, Marks

FINE = Report()


class Batch(Protocol):
    """Some consecutive rows as they came."""

    @property
    def rows(self) -> int:
        """How many."""

    @property
    def report(self) -> Report:
        """What was wrong with rows that are not among them."""

    @property
    def marks(self) -> Marks:
        """How numbers are written in its texts."""

    def column(self, name: str) -> Any:
        """One column: Texts, or as numpy or Arrow has it."""

    def where(self, row: int) -> str:
        """How to find a row again: "line 17"."""


class Source(Protocol):
    """Where rows come from."""

    @property
    def name(self) -> str:
        """What people call it: a path."""

    def sample(self) -> Table:
        """The first rows (10,000 of them, where there are as many), typed."""

    def batches(self, columns: list[str] | None = None) -> Iterable[Batch]:
        """All rows, with at least these columns."""


@dataclass(frozen=True)
class TableBatch:
    """A batch of a table in memory, or of a file that knows its columns' types."""

    table: Table
    start: int = 0  # rows before it
    report: Report = FINE
    marks: Marks = PLAIN
    file: str = ""

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.table.rows

    def column(self, name: str) -> Any:
        """A column as it is."""
        return self.table[name]

    def where(self, row: int) -> str:
        """Rows are counted from 1."""
        return f"{self.file + ', ' if self.file else ''}row {self.start + row + 1:,}"


@dataclass(frozen=True)
class Memory:
    """A table in memory as a source."""

    table: Table
    name: str = "the table"

    def sample(self) -> Table:
        """The first rows."""
        return self.table.slice(0, min(SAMPLE, self.table.rows))

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        """All rows, in shards."""
        needed(self.table.columns, columns, self.name)
        size = self.table.shard_size
        for start in range(0, self.table.rows, size):
            yield TableBatch(self.table.slice(start, min(start + size, self.table.rows)), start)


def no_column(source: Source, name: str, names: Iterable[str]) -> DataError:
    """The error for a column that is not there; where a file was taken to have no header, how to say it has one."""
    unnamed = any(not dialect.header for dialect in getattr(source, "dialects", {}).values())
    cure = remedy("Files(…, header=True)", "--header")
    hint = f" (line 1 was read as data; {cure} reads it as the columns' names)" if unnamed else ""
    return DataError(f"{source.name}: {did_you_mean(name, names)}{hint}")


def needed(names: Mapping[str, Any] | list[str], columns: list[str] | None, where: str) -> None:
    """Refuse a file that lacks a column."""
    known = frozenset(names)  # of a list of 100,000 names each would be looked for for minutes
    for name in columns or ():
        if name not in known:
            raise DataError(f"{where}: {did_you_mean(name, names)}")
