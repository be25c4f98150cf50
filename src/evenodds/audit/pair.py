"""Two sources as one, whose target is where a row comes from: what differs between them is what naive Bayes learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.cells import Coded, codes
from evenodds.data.joined import joined
from evenodds.data.kept import Learnt
from evenodds.data.memory import Table
from evenodds.data.report import Report
from evenodds.data.source import Batch, Source
from evenodds.errors import DataError, did_you_mean
from evenodds.labels import Labels
from evenodds.texts import Marks

REFERENCE, NEW = "reference", "new"
WHERE = "source "  # a name that no column has: those are without blanks at their ends


@dataclass(frozen=True)
class Tagged:
    """A batch with one more column, which says where it comes from."""

    batch: Batch
    tag: str

    @property
    def rows(self) -> int:
        """How many."""
        return self.batch.rows

    @property
    def report(self) -> Report:
        """What was wrong."""
        return self.batch.report

    @property
    def marks(self) -> Marks:
        """How numbers are written."""
        return self.batch.marks

    def column(self, name: str) -> Any:
        """One column."""
        return _tags(self.tag, self.rows) if name == WHERE else self.batch.column(name)

    def where(self, row: int) -> str:
        """How to find a row again."""
        return f"{self.tag}, {self.batch.where(row)}"


@dataclass(frozen=True)
class Marked:
    """A source whose rows all say where they come from; their own classes need not be known."""

    source: Source
    tag: str

    @property
    def name(self) -> str:
        """What people call it."""
        return self.source.name

    def sample(self) -> Table:
        """The first rows."""
        return self.source.sample()

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        """All rows."""
        wanted = None if columns is None else [name for name in columns if name != WHERE]
        return (Tagged(batch, self.tag) for batch in self.source.batches(wanted))


@dataclass(frozen=True)
class Pair:
    """The rows of a reference, then new ones."""

    reference: Source
    new: Source
    without: tuple[str, ...] = ()  # columns left out, such as the target

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.reference.name} and {self.new.name}"

    def sample(self) -> Table:
        """The first rows of both."""
        parts = [(source.sample(), tag) for source, tag in ((self.reference, REFERENCE), (self.new, NEW))]
        here, there = (table.columns for table, _ in parts)
        for name in self.without:  # one that is not known yet may be missing there
            if name not in here and name not in there:
                raise DataError(f"{self.reference.name}: {did_you_mean(name, here)}")
        names = [name for name in here if name not in self.without]
        for name in names:
            if name not in there:
                raise DataError(f"{self.new.name}: {did_you_mean(name, there)}")
        learnt = [Learnt(Table({n: t[n] for n in names}, t.rows, t.named), _tags(tag, t.rows)) for t, tag in parts]
        both = joined(learnt)
        return Table({**both.rows.columns, WHERE: both.target}, both.rows.rows, both.rows.named)

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        """All rows of both."""
        yield from Marked(self.reference, REFERENCE).batches(columns)
        yield from Marked(self.new, NEW).batches(columns)


def _tags(tag: str, rows: int) -> Coded:
    labels = Labels.of([tag])
    return (
        Coded(np.zeros(rows, np.int8), labels, np.zeros(1, np.int64), nullable=False) if rows else codes(np.array([]))
    )
