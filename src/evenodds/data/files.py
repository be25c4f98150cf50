"""Files: CSV, TSV, JSONL, Parquet and Arrow, plain or compressed; globs; standard input. In batches."""

from __future__ import annotations

import codecs
import dataclasses
import glob
import io
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import pyarrow as pa

from evenodds.cells import Coded, codes
from evenodds.data.memory import Table, table
from evenodds.data.query import Query, is_query
from evenodds.data.source import Batch, Memory, Source, needed
from evenodds.data.spark import Spark, is_spark
from evenodds.data.streams import Counted, Progress, buffered, decompressed, opened, said, uncompressed
from evenodds.data.typed_files import MOST, ArrowReader, JsonReader, LineReader, ParquetReader
from evenodds.data.values import typed
from evenodds.errors import DataError, remedy, several
from evenodds.file import AT, BEGINS
from evenodds.labels import canonical
from evenodds.schema import SAMPLE
from evenodds.texts import PLAIN, Marks, Texts, joined
from evenodds.threads import handed_on

SAMPLE_BYTES = 1 << 26  # of a sample whose rows are very long
_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
SEEKING = ("parquet", "arrow")  # formats that are read from both ends


@dataclass
class Files:
    """One or several files as a source: `paths` may hold globs, and "-" is standard input.

    separator, encoding, header   of CSV; None: detected from the first rows
    lines                         every line is one text; the name of the column they make
    progress                      called with the number of bytes read, as they are read
    groups                        of a Parquet file: the row groups from one number to another; None: all of them
    """

    paths: tuple[str, ...]
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    lines: str | None = None
    progress: Progress | None = None
    groups: tuple[int, int] | None = None
    names: tuple[str, ...] = ()  # of the columns, once a file has been opened
    dialects: dict[str, Any] = field(default_factory=dict)  # by file of CSV: how it is written
    _started: tuple[list[Batch], Iterator[Batch]] | None = field(default=None, init=False)  # of a pipe, by its sample
    _spooled: dict[str, tuple[str, Any]] = field(default_factory=dict, init=False)  # copies of pipes: their names

    def __post_init__(self) -> None:
        self.paths = tuple(found for path in self.paths for found in _expand(os.fspath(path)))
        if self.paths.count("-") > 1:
            raise DataError("- is standard input, which can be read once only: give it once")

    @property
    def name(self) -> str:
        """The files' names as people read them."""
        return several([self._shown(path) for path in self.paths], 1)

    def _shown(self, path: str) -> str:
        """What people call a file; that of which it is a copy, if it is one."""
        return self._spooled[path][0] if path in self._spooled else "standard input" if path == "-" else path

    @property
    def size(self) -> int | None:
        """Bytes in all; None where it is not known, as of a pipe."""
        if self._once:
            return None
        return sum(os.stat(path).st_size for path in self.paths)

    @property
    def _once(self) -> bool:
        """Whether it can be read once only."""
        return any(map(_is_pipe, self.paths))

    def check_files(self, who: str) -> None:
        """Refuse what can be read once only, where it is read by several."""
        if self._once:
            raise DataError(f"{self.name} can be read once only: {who} need files")

    def rereadable(self) -> Files:
        """The same files such that they can be read twice: a pipe is copied to a temporary file."""
        self.paths = tuple(self._spool(path) if _is_pipe(path) else path for path in self.paths)
        return self

    def _spool(self, path: str) -> str:
        copy = tempfile.NamedTemporaryFile(prefix="evenodds-", suffix=os.path.splitext(path)[1])  # noqa: SIM115
        with opened(path) as stream:
            while block := stream.read(1 << 20):
                copy.write(block)
        copy.flush()
        self._spooled[copy.name] = self._shown(path), copy  # which is deleted with this object
        return copy.name

    def sample(self) -> Table:
        """The first rows, typed; those of a pipe are kept for the pass over it."""
        taken, rest = self._started or self._start()
        if self._once:
            self._started = taken, rest
        rows = sum(batch.rows for batch in taken)
        if not rows:
            raise DataError(f"{self.name} has no rows")
        marks = [batch.marks for batch in taken]
        columns = {name: _sampled([batch.column(name) for batch in taken], marks) for name in self.names}
        return Table(columns, min(rows, SAMPLE))

    def _start(self) -> tuple[list[Batch], Iterator[Batch]]:
        """The batches that the first rows are in, and the rest."""
        taken, rest = list[Batch](), self._read(None, None, SAMPLE)
        rows = size = 0
        for batch in rest:
            taken.append(batch)
            rows, size = rows + batch.rows, size + getattr(batch, "bytes", 0)
            if rows >= SAMPLE or size >= SAMPLE_BYTES:
                break
        return taken, rest

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        """All rows, in one pass."""
        if self._started is not None:
            (taken, rest), self._started = self._started, None
            needed(list(self.names), columns, self.name)
            yield from handed_on(taken, rest)
        else:
            yield from self._read(columns, self.progress)

    def _read(self, columns: list[str] | None, progress: Progress | None, most: int = MOST) -> Iterator[Batch]:
        for path in self.paths:
            shown = self._shown(path)
            with said(shown), opened(path) as raw:
                reader = self._reader(path, shown, raw, progress, most)
                if not self.names:
                    self.names = tuple(reader.names)
                needed(reader.names, list(self.names) if columns is None else columns, shown)
                yield from reader.batches(columns)

    def _reader(self, path: str, shown: str, raw: BinaryIO, progress: Progress | None, most: int) -> Any:
        plain = buffered(Counted(raw, progress))
        stream, ending = decompressed(plain, path)
        if self.lines is not None:
            return LineReader(stream, shown, self.lines, self.encoding)
        start = stream.peek(AT)[:AT]
        if start[8:] == BEGINS:
            raise DataError(f"{shown} is a model, and rows were to be read: give a file of rows")
        start = start[:8]
        format_ = _FORMATS.get(ending, "csv")
        if start[:4] == b"PAR1":
            format_ = "parquet"
        elif start[:6] == b"ARROW1" or start[:4] == b"\xff\xff\xff\xff":
            format_ = "arrow"
        elif format_ in SEEKING:
            raise DataError(f"{shown} is not a file of {format_.title()}" if start else f"{shown} is empty")
        elif _first_letter(start) in (b"{", b"[") and ending not in (".csv", ".tsv"):
            format_ = "json"
        if format_ == "csv":
            from evenodds.data import csv

            tab = "\t" if ending in (".tsv", ".tab") else None
            separator = tab if self.separator is None else self.separator
            told = {"separator": separator, "encoding": self.encoding, "header": self.header}
            told = {name: value for name, value in told.items() if value is not None}
            if shown in self.dialects:  # read a second time, it is written as before
                told = dataclasses.asdict(self.dialects[shown])
            reader = csv.CsvReader(stream, shown, block=csv.BLOCK, **told)  # type: ignore[arg-type]
            self.dialects[shown] = reader.dialect
            return reader
        if format_ == "json":
            return JsonReader(stream, shown, self.encoding)
        whole = raw if stream is plain and not _is_pipe(path) else io.BytesIO(stream.read())
        if format_ == "parquet":
            return ParquetReader(whole, shown, progress, most, self.groups)
        return ArrowReader(whole, shown, progress, most)


def _is_pipe(path: str) -> bool:
    """Whether it can be read once only: standard input, and what is no file on a disk."""
    return path == "-" or not stat.S_ISREG(os.stat(path).st_mode)


def _expand(path: str) -> list[str]:
    """The files that a path or a glob names."""
    if path == "-" or os.path.exists(path):
        if not os.path.isdir(path):
            return [path]
        found = sorted(_within(path))
        if not found:
            raise DataError(f"{path} is a directory without files of {', '.join(sorted(_FORMATS))}")
        return found
    text = remedy(" (a text to be read? give it in a list, [text])", "") if " " in path else ""
    if glob.has_magic(path):
        found = sorted(file for file in glob.glob(path, recursive=True) if not os.path.isdir(file))
        if not found:
            raise DataError(f"no file matches {path!r}{text}")
        return found
    raise FileNotFoundError(2, "there is no such file" + text, path)


def _within(folder: str) -> Iterator[str]:
    """The files of data in a folder and below it; not what is hidden, nor the parts that a model keeps beside it."""

    def fail(error: OSError) -> None:  # of a folder that cannot be looked into, which os.walk would pass over
        raise error

    for where, below, names in os.walk(folder, onerror=fail):
        below[:] = [name for name in below if not name.startswith(".") and not name.endswith(".parts")]
        for name in names:
            if not name.startswith(".") and os.path.splitext(uncompressed(name))[1].lower() in _FORMATS:
                yield os.path.join(where, name)


def _first_letter(start: bytes) -> bytes:
    """The first that is no blank and no byte order mark, of ASCII in any encoding.

    >>> _first_letter('{"a": 1}'.encode("utf-16"))
    b'{'
    """
    return start.lstrip(codecs.BOM_UTF8 + codecs.BOM_UTF16 + b"\0").replace(b"\0", b"").lstrip()[:1]


def _sampled(parts: list[Any], marks: list[Marks]) -> Any:
    """The first rows of a column that came in parts."""
    if len(set(marks)) == 1 and all(isinstance(part, Texts) for part in parts):
        return typed(joined(parts)[:SAMPLE], marks[0])
    if all(isinstance(part, Coded) for part in parts):  # a category in the file, as it would be in memory
        kinds = {part.kind for part in parts}
        whole = codes(pa.chunked_array([part.arrow() for part in parts]).slice(0, SAMPLE))
        return dataclasses.replace(whole, kind=kinds.pop() if len(kinds) == 1 else "text")
    arrays = [_arrow(part, how) for part, how in zip(parts, marks)]
    try:
        whole = pa.chunked_array([chunk for array in arrays for chunk in array.chunks])
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):  # different types in different files, or lines of JSON
        texts = [None if value is None else canonical(value) for array in arrays for value in array.to_pylist()]
        return typed(Texts.of(texts[:SAMPLE]), PLAIN)
    return whole.slice(0, SAMPLE)


def _arrow(raw: Any, marks: Any) -> Any:
    if isinstance(raw, Texts):
        raw = typed(raw, marks)
    elif isinstance(raw, Coded):
        raw = raw.arrow()
    return raw if isinstance(raw, pa.ChunkedArray) else pa.chunked_array([raw])


def is_source(x: Any) -> bool:
    """Whether this names files, or is a query or a DataFrame of Spark: rows that are read batch by batch."""
    return isinstance(x, (str, os.PathLike)) or hasattr(x, "batches") or is_query(x) or is_spark(x)


def read(x: Any) -> Source:
    """Anything as a source: paths as files, queries and tables as they are."""
    if hasattr(x, "batches"):
        found: Source = x
        return found
    if is_query(x):
        return Query(x)
    if is_spark(x):
        return Spark(x)
    return Files((os.fspath(x),)) if isinstance(x, (str, os.PathLike)) else Memory(table(x))
