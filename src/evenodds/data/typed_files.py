"""Files that know their columns' types: Parquet, Arrow, and JSON lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from evenodds.cells import as_column, is_text
from evenodds.data.memory import Table, table
from evenodds.data.report import Report, Trouble
from evenodds.data.source import TableBatch
from evenodds.errors import DataError
from evenodds.schema import SAMPLE

CELLS = 1 << 21  # of a batch
LINES = 1 << 26  # bytes of a batch of JSON lines, at most; and of one line


def _batch_rows(columns: int) -> int:
    return max(1 << 10, min(1 << 17, CELLS // max(columns, 1)))


class ParquetReader:
    """A Parquet file, in batches; only the columns that are needed are read."""

    def __init__(self, stream: BinaryIO, name: str, progress: Callable[[int], None] | None) -> None:
        import pyarrow.parquet as pq

        self.stream, self.name, self.progress = stream, name, progress
        stream.seek(0)
        self.names: list[str] = list(pq.read_schema(stream).names)

    def batches(self, columns: list[str] | None = None) -> Iterator[TableBatch]:
        """All rows."""
        import pyarrow.parquet as pq

        self.stream.seek(0)
        schema = pq.read_schema(self.stream)
        text = [field.name for field in schema if is_text(field.type)]
        self.stream.seek(0)
        file = pq.ParquetFile(self.stream, read_dictionary=text, pre_buffer=False, buffer_size=1 << 20)
        wanted = self.names if columns is None else columns
        size, rows = self.stream.seek(0, os.SEEK_END), 0
        for batch in file.iter_batches(_batch_rows(len(wanted)), columns=wanted, use_threads=False):
            if batch.num_rows:
                yield TableBatch(table(pa.table(batch)), rows, file=self.name)
            if self.progress is not None:
                total = max(file.metadata.num_rows, 1)
                self.progress(size * (rows + batch.num_rows) // total - size * rows // total)
            rows += batch.num_rows


class ArrowReader:
    """An Arrow file or stream, in batches; a file on disk is mapped, not read."""

    def __init__(self, stream: BinaryIO, name: str, progress: Callable[[int], None] | None) -> None:
        self.name, self.progress = name, progress
        path = getattr(stream, "name", None)
        stream.seek(0)
        start = stream.read(6)
        self.size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        on_disk = isinstance(path, str) and os.path.isfile(path)
        source: Any = pa.memory_map(path) if on_disk else pa.py_buffer(stream.read())
        self.reader = pa.ipc.open_file(source) if start == b"ARROW1" else pa.ipc.open_stream(source)
        self.names: list[str] = list(self.reader.schema.names)

    def _whole(self) -> Iterator[tuple[Any, float]]:
        if hasattr(self.reader, "num_record_batches"):
            n = self.reader.num_record_batches
            yield from ((self.reader.get_batch(i), (i + 1) / n) for i in range(n))
        else:
            yield from ((batch, 1.0) for batch in self.reader)

    def batches(self, columns: list[str] | None = None) -> Iterator[TableBatch]:
        """All rows."""
        rows = told = 0
        wanted = self.names if columns is None else columns
        for whole, share in self._whole():
            part = pa.table(whole).select(wanted)
            step = _batch_rows(len(wanted))
            for start in range(0, part.num_rows, step):
                piece = part.slice(start, step)
                yield TableBatch(table(piece), rows, file=self.name)
                rows += piece.num_rows
            if self.progress is not None:
                self.progress(int(self.size * share) - told)
                told = int(self.size * share)


class JsonReader:
    """JSON objects, one to a line (or a JSON array of objects): a key is a column; a line that is none is left out."""

    def __init__(self, stream: Any, name: str) -> None:
        self.stream, self.name = stream, name
        self.first = self._take(1)
        if not self.first[0]:
            bad = self.first[2]
            raise DataError(f"{name}: line {bad[0]:,} is not a JSON object" if bad else f"{name} is empty")
        self.names: list[str] = list(dict.fromkeys(str(key) for row in self.first[0] for key in row))

    def _take(self, line: int) -> tuple[list[dict[str, Any]], int, list[int]]:
        """Up to 10,000 rows from a line on: the rows, the number of the next line, and the lines that are none."""
        rows: list[dict[str, Any]] = []
        bad: list[int] = []
        size = 0
        while len(rows) < SAMPLE and size < LINES:
            text = self.stream.readline(LINES)
            if not text:
                break
            if len(text) == LINES and text[-1:] != b"\n":
                where = f"{self.name}, line {line:,}"
                raise DataError(f"{where}: longer than {LINES >> 20} MB; expected one JSON object a line")
            size += len(text)
            if line == 1 and text.lstrip()[:1] == b"[":
                return self._array(text), 2, []
            if text.strip():
                row = _object(text)
                if row is None:
                    bad.append(line)
                else:
                    rows.append(row)
            line += 1
        return rows, line, bad

    def _array(self, start: bytes) -> list[dict[str, Any]]:
        try:
            found = json.loads(start + self.stream.read())
        except (ValueError, RecursionError):
            raise DataError(f"{self.name} starts as a JSON array and is none") from None
        rows = [row for row in found if isinstance(row, dict)]
        if len(rows) < len(found):
            raise DataError(f"{self.name}: expected an array of JSON objects")
        return rows

    def batches(self, columns: list[str] | None = None) -> Iterator[TableBatch]:
        """All rows."""
        (rows, line, bad), start = self.first, 0
        keys = self.names if columns is None else columns
        while rows or bad:
            trouble = Trouble(len(bad), f"{self.name}, line {bad[0]:,}", "not a JSON object") if bad else None
            cells = {key: as_column([row.get(key) for row in rows]) for key in keys}
            yield TableBatch(Table(cells, len(rows)), start, Report(ragged=trouble), file=self.name)
            start += len(rows)
            rows, line, bad = self._take(line)


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
