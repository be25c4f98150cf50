"""Files that know their columns' types: Parquet, Arrow, and JSON lines."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from evenodds.cells import as_column, is_text, type_of
from evenodds.data.encoding import in_utf8, unicode_of
from evenodds.data.memory import Table, check_named_once, table, unwrapped
from evenodds.data.report import Report, Trouble
from evenodds.data.source import TableBatch
from evenodds.errors import DataError
from evenodds.schema import SAMPLE
from evenodds.texts import Texts
from evenodds.threads import handed_on

CELLS = 5 << 17  # of a batch
LONG = 1 << 24  # bytes of a batch, where rows are long
FIRST = 1 << 10  # rows of a Parquet file that are looked at before it is read, and of a batch, at least
DIFFERENT = 64  # bytes of a text: longer ones are no categories, if most differ
MOST = 1 << 17  # rows of a batch
LINES = 1 << 26  # bytes of a batch of JSON lines, at most; and of one line


def _batch_rows(columns: int, most: int) -> int:
    return min(max(1 << 10, CELLS // max(columns, 1)), most)


def _looked(file: Any, wanted: list[str], groups: range) -> tuple[int, list[str]]:
    """How long a Parquet file's row is, by its first ones, and which columns are of long texts that differ.

    The footer would say more, but pyarrow ends the process over a spoilt one, when asked about a column.
    """
    few = next(file.iter_batches(FIRST, columns=wanted, row_groups=list(groups[:1]), use_threads=False), None)
    if few is None or not few.num_rows:
        return 0, []
    texts = [name for name, column in zip(few.schema.names, few.columns) if is_text(column.type)]
    long = [name for name in texts if few[name].nbytes > DIFFERENT * few.num_rows]
    return few.nbytes // few.num_rows, [
        name for name in long if 2 * pc.count_distinct(few[name]).as_py() > few.num_rows
    ]


def _names(schema: Any, where: str) -> list[str]:
    """The columns, each with a name of its own."""
    names = list(schema.names)
    check_named_once(names, f"{where}: ")
    return names


def _batch(part: Any, start: int, file: str) -> TableBatch:
    """A batch whose cells are what their types say: a file may hold offsets out of bounds, and text that is none."""
    columns, garbled = {}, {}
    for name in part.column_names:
        column = part.column(name)
        if pa.types.is_run_end_encoded(column.type):
            column.validate(full=True)  # before its runs are laid out
        column = unwrapped(column)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            if "UTF8" not in str(error) or not is_text(type_of(column)):
                raise
            column, count = _replaced(column)
            garbled[name] = Trouble(count, f"near {file}, row {start + 1:,}")
        columns[name] = column
    return TableBatch(table(pa.table(columns)), start, Report(encoding=garbled), file=file)


def _replaced(column: Any) -> tuple[Any, int]:
    """Texts with U+FFFD for what is not UTF-8, and how many were not."""
    count, texts = 0, []
    for chunk in map(_as_bytes, column.chunks):
        chunk.validate(full=True)  # of the offsets, now that any bytes will do
        for raw in chunk.to_pylist():
            text = None if raw is None else raw.decode("utf-8", "replace")
            count += text is not None and text.encode() != raw
            texts.append(text)
    return pa.chunked_array([pa.array(texts, pa.large_string())]), count


def _as_bytes(chunk: Any) -> Any:
    if pa.types.is_dictionary(chunk.type):
        return pa.DictionaryArray.from_arrays(chunk.indices, _as_bytes(chunk.dictionary), safe=False)
    views = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    return chunk.view(views[chunk.type])


class ParquetReader:
    """A Parquet file, in batches; only the columns that are needed are read."""

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        progress: Callable[[int], None] | None,
        most: int = MOST,
        groups: tuple[int, int] | None = None,
    ) -> None:
        import pyarrow.parquet as pq

        self.stream, self.name, self.progress, self.most, self.groups = stream, name, progress, most, groups
        stream.seek(0)
        self.schema = pq.read_schema(stream)
        self.names = _names(self.schema, name)

    def batches(self, columns: list[str] | None = None) -> Iterator[TableBatch]:
        """All rows."""
        import pyarrow.parquet as pq

        self.stream.seek(0)
        file = pq.ParquetFile(self.stream, pre_buffer=False, buffer_size=1 << 17)
        wanted, about = self.names if columns is None else columns, file.metadata
        groups = range(*(self.groups or (0, about.num_row_groups)))
        length, different = _looked(file, wanted, groups)
        # of texts that repeat, the file has codes; a dictionary of texts that do not would hold all of them. A sample's
        # texts stay texts, so that what it has in codes was written as a category
        texts = [field.name for field in self.schema if is_text(field.type) and self.most > SAMPLE]
        known = [name for name in texts if name not in different]
        self.stream.seek(0)
        file = pq.ParquetFile(self.stream, read_dictionary=known, pre_buffer=False, buffer_size=1 << 17)
        size = self.stream.seek(0, os.SEEK_END)
        rows = sum(about.row_group(group).num_rows for group in range(groups.start))
        few = {"columns": wanted, "use_threads": False, "row_groups": list(groups)}
        step = min(_batch_rows(len(wanted), self.most), max(FIRST, LONG // max(length, 1)))
        for batch in file.iter_batches(step, **few):
            if batch.num_rows:
                yield _batch(pa.Table.from_batches([batch]), rows, self.name)
            if self.progress is not None:
                total = max(about.num_rows, 1)
                self.progress(size * (rows + batch.num_rows) // total - size * rows // total)
            rows += batch.num_rows


class ArrowReader:
    """An Arrow file or stream, in batches; a file on disk is mapped, not read."""

    def __init__(self, stream: BinaryIO, name: str, progress: Callable[[int], None] | None, most: int = MOST) -> None:
        self.name, self.progress, self.most = name, progress, most
        path = getattr(stream, "name", None)
        stream.seek(0)
        start = stream.read(6)
        self.size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        on_disk = isinstance(path, str) and os.path.isfile(path)
        source: Any = pa.memory_map(path) if on_disk else pa.py_buffer(stream.read())
        self.reader = pa.ipc.open_file(source) if start == b"ARROW1" else pa.ipc.open_stream(source)
        self.names = _names(self.reader.schema, name)

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
            whole.validate()  # that its buffers are as long as they say, before it is cut
            part = pa.Table.from_batches([whole]).select(wanted)  # pa.table ends names at a NUL
            step = _batch_rows(len(wanted), self.most)
            for start in range(0, part.num_rows, step):
                piece = part.slice(start, step)
                yield _batch(piece, rows, self.name)
                rows += piece.num_rows
            if self.progress is not None:
                self.progress(int(self.size * share) - told)
                told = int(self.size * share)


def _line(stream: Any, name: str, number: int, what: str, begun: bytes = b"") -> bytes:
    """The next line with its end, nothing where there is none; one that is too long is refused before it is read.

    Where one has been begun, all of it.
    """
    line: bytes = begun + stream.readline(LINES - len(begun))
    if len(line) >= LINES and line[-1:] != b"\n":
        raise DataError(f"{name}, line {number:,}: longer than {LINES >> 20} MB; expected one {what} a line")
    return line


class JsonReader:
    """JSON objects, one to a line (or a JSON array of objects): a key is a column; a line that is none is left out."""

    def __init__(self, stream: Any, name: str, encoding: str | None = None) -> None:
        self.stream, self.name, self._line = in_utf8(stream, encoding, unicode_of), name, 1
        self._begun = False  # a file is an array if its first line with something on it begins one; no later line does
        self._parts = self._every()
        self._first = list(itertools.islice(self._parts, 1))
        if not self._first:
            raise DataError(f"{name} is empty")
        rows, bad = self._first[0]
        if 10 * len(bad) > len(rows) + len(bad):
            among = f"and {len(bad):,} of the first {len(rows) + len(bad):,} lines are like that; "
            raise DataError(f"{name}, line {bad[0]:,} is not a JSON object, {among}expected one a line, in UTF-8")
        self.names: list[str] = list(dict.fromkeys(key for row in rows for key in row))
        self.nested = {key for key in self.names if all(_is_nested(row.get(key)) for row in rows)}

    def _every(self) -> Iterator[tuple[list[dict[str, Any]], list[int]]]:
        """All lines, up to 10,000 at a time: their rows, and the numbers of the lines that are none."""
        while any(part := self._take()):
            yield part

    def _take(self) -> tuple[list[dict[str, Any]], list[int]]:
        rows: list[dict[str, Any]] = []
        bad: list[int] = []
        size = 0
        while len(rows) + len(bad) < SAMPLE and size < LINES:
            text = _line(self.stream, self.name, self._line, "JSON object")
            if not text:
                break
            if text.strip():
                size += len(text)
                begun, self._begun = self._begun, True
                if not begun and text.lstrip()[:1] == b"[":
                    return self._array(text), []
                row = _object(text)
                if row is None:
                    bad.append(self._line)
                else:
                    rows.append(row)
            self._line += 1
        return rows, bad

    def _array(self, start: bytes) -> list[dict[str, Any]]:
        found = _loaded(start)
        if not isinstance(found, list):  # it goes on in the next lines
            found = _loaded(start + self.stream.read())
        elif self.stream.read(1 << 10).strip():  # lines of arrays, of which there may be very many
            found = [None]
        if not isinstance(found, list):
            raise DataError(f"{self.name} starts as a JSON array and is none")
        rows = [row for row in found if isinstance(row, dict)]
        if len(rows) < len(found):
            raise DataError(f"{self.name}: expected JSON objects, one a line or in an array")
        return rows

    def batches(self, columns: list[str] | None = None) -> Iterator[TableBatch]:
        """All rows."""
        keys, start = self.names if columns is None else columns, 0
        for rows, bad in handed_on(self._first, self._parts):
            trouble = Trouble(len(bad), f"{self.name}, line {bad[0]:,}") if bad else None
            cells = {key: _cells([row.get(key) for row in rows], key in self.nested) for key in keys}
            yield TableBatch(Table(cells, len(rows)), start, Report(broken=trouble), file=self.name)
            start += len(rows)


def _object(text: bytes) -> dict[str, Any] | None:
    found = _loaded(text)
    return found if isinstance(found, dict) else None


def _loaded(text: bytes) -> Any:
    """What a text of JSON says; None if it is none. Half a letter (a lone surrogate) is replaced by U+FFFD.

    >>> _loaded(b'{"a": "\\\\ud83d\\\\ude00 \\\\ud83d"}')["a"][2:] == chr(0xFFFD) * 3, _loaded(b"{")
    (True, None)
    """
    try:
        found = json.loads(str(text, "utf-8"))
        if b"\\ud" in text or b"\\uD" in text:
            written = json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogatepass")
            found = json.loads(written.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found


def _is_nested(value: Any) -> bool:
    return value is None or isinstance(value, (list, dict))


def _cells(values: list[Any], nested: bool) -> Any:
    """A column of JSON values. A list or an object among others is its text, so that batches do not matter."""
    if not nested:
        values = [json.dumps(v, ensure_ascii=False) if isinstance(v, (list, dict)) else v for v in values]
    return as_column(values)


class LineReader:
    """A text on every line: one column without a header."""

    def __init__(self, stream: Any, name: str, column: str, encoding: str | None = None) -> None:
        self.stream, self.name, self.names = in_utf8(stream, encoding), name, [column]

    def batches(self, columns: list[str] | None = None) -> Iterator[TableBatch]:
        """All lines."""
        start = 0
        while lines := self._some(start):
            texts = Texts.of_bytes([line.rstrip(b"\r") for line in lines])
            yield TableBatch(Table({self.names[0]: texts}, len(texts)), start, file=self.name)
            start += len(texts)

    def _some(self, start: int) -> list[bytes]:
        """The next lines: those of a batch, cut out of one piece, which takes half as long as reading each."""
        lines: list[bytes] = self.stream.read(LINES >> 4).split(b"\n")
        if last := lines.pop():
            lines.append(_line(self.stream, self.name, start + len(lines) + 1, "text", last).removesuffix(b"\n"))
        return lines
