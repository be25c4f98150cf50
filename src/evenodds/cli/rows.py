"""Rows with predictions added, as CSV or as JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evenodds.cells import Coded
from evenodds.cli.output import as_json_line
from evenodds.labels import canonical
from evenodds.show import free
from evenodds.texts import Texts

if TYPE_CHECKING:
    from evenodds.cli.answers import Columns
    from evenodds.data.files import Files
    from evenodds.data.source import Batch


@dataclass(frozen=True)
class Writer:
    """Writes rows with a model's answers behind them."""

    names: list[str]  # of the columns that are passed on
    added: list[str]
    header: bool
    separator: str = ","
    decimal: str = "."

    @property
    def head(self) -> bytes:
        """The first line."""
        return self._bytes(self.separator.join(self._cells([*self.names, *self.added])) + "\n") if self.header else b""

    def _bytes(self, text: str) -> bytes:
        return text.encode("utf-8", "surrogatepass")

    def _cells(self, column: Sequence[str | None]) -> Sequence[str]:
        """Texts as CSV has them: nothing for null, quotes around empty text, and around a lone carriage return."""
        marks = (self.separator, '"', "\n", "\r")

        def cell(text: str | None) -> str:
            if text is None:
                return ""
            odd = not text or any(mark in text for mark in marks)
            return '"' + text.replace('"', '""') + '"' if odd else text

        whole = "".join(filter(None, column))
        as_they_are = None not in column and "" not in column and not any(mark in whole for mark in marks)
        return column if as_they_are else list(map(cell, column))  # type: ignore[return-value]

    def _shown(self, column: list[Any]) -> list[str | None]:
        """Answers as CSV has them: numbers to six digits, with the file's decimal mark."""
        return [f"{x:.6g}".replace(".", self.decimal) if isinstance(x, float) else x for x in column]


class Echo(Writer):
    """CSV rows passed on byte by byte, with cells added."""

    def rows(self, batch: Any, answers: Columns) -> bytes:
        """Some rows."""
        mark, cells = self.separator, [self._cells(self._shown(column)) for column in answers]
        return bytes(batch.append([self._bytes("".join(mark + cell for cell in row)) for row in zip(*cells)]))


class Table(Writer):
    """Rows of any file as CSV."""

    def rows(self, batch: Batch, answers: Columns) -> bytes:
        """Some rows."""
        columns = [*(_texts(batch.column(name)) for name in self.names), *map(self._shown, answers)]
        lines = map(self.separator.join, zip(*map(self._cells, columns)))
        return self._bytes("".join(f"{line}\n" for line in lines))


class Json(Writer):
    """Rows of any file as JSON objects, one to a line."""

    def rows(self, batch: Batch, answers: Columns) -> bytes:
        """Some rows."""
        columns = [values(batch.column(name)) for name in self.names]
        rounded = [[float(f"{x:.6g}") if isinstance(x, float) else x for x in column] for column in answers]
        names = [*self.names, *self.added]
        lines = [as_json_line(dict(zip(names, row))) for row in zip(*columns, *rounded)]
        return self._bytes("".join(f"{line}\n" for line in lines))


def writer_for(source: Files, added: list[str], only: bool, as_json: bool) -> Echo | Table | Json:
    """The writer for the rows of a source: CSV as it is, where it is one file; otherwise from its cells.

    So are those of a file of one column without a separator: its commas go into quotes.
    """
    names = list(source.names)
    kept, added = [] if only else names, [free(name, names) for name in added]
    if as_json:
        return Json(kept, added, False)
    dialect = next(iter(source.dialects.values()), None)
    if dialect is None:
        return Table(kept, added, True)
    as_it_is = len(source.paths) == 1 and not only and dialect.separator
    return (Echo if as_it_is else Table)(kept, added, dialect.header, dialect.separator or ",", dialect.decimal)


def _texts(raw: Any) -> list[Any]:
    """A column's cells as texts; lists and structures as JSON."""
    return [
        None if value is None else as_json_line(value) if isinstance(value, (list, dict)) else canonical(value)
        for value in values(raw)
    ]


def _listed(raw: Any) -> list[Any]:
    """Arrow's cells; as Arrow writes them, where Python has no such dates."""
    try:
        return list(raw.to_pylist())
    except (ValueError, OverflowError):
        if pa.types.is_timestamp(raw.type):  # of a zone that nobody knows
            raw = raw.cast(pa.timestamp(raw.type.unit))
        return list(raw.cast(pa.string()).to_pylist())


def values(raw: Any) -> list[Any]:
    """A column's cells as Python has them; None where there is none."""
    if isinstance(raw, Texts):
        return [raw.text(i) for i in range(len(raw))]
    if isinstance(raw, Coded):
        return list(raw.arrow().to_pylist())
    if isinstance(raw, (pa.Array, pa.ChunkedArray)):
        return [None if value != value else value for value in _listed(raw)]
    return [None if value != value else value for value in raw.tolist()]
