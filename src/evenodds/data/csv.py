"""CSV, cut into cells where it lies: no copy, no Python object, one pass, in blocks of bounded size.

>>> import io
>>> reader = CsvReader(io.BytesIO(b"name,age\\nAnna,7\\nBernd,\\n"), "people.csv")
>>> reader.names, str(reader.dialect)
(['name', 'age'], 'separated by ,')
>>> [batch.column("age").texts() for batch in reader.batches()]
[['7', None]]
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Unpack

import numpy as np
from numpy.typing import NDArray

from evenodds.data.csv_kernels import AT, LINE, ODD, OPEN, RAGGED, ROWS, SPARE, split, stitch, turn
from evenodds.data.dialect import Dialect, Told, detect
from evenodds.data.encoding import SAMPLE, Utf8, exactly
from evenodds.data.memory import check_named_once
from evenodds.data.report import Report, Trouble
from evenodds.errors import DataError, remedy
from evenodds.instructions import WIDE
from evenodds.labels import Bytes, Ints
from evenodds.texts import Marks, Texts

BLOCK = 8 << 20  # bytes read at once
LONGEST = 64 << 20  # bytes of one row
MOST_ROWS = 1 << 19  # of a batch
MOST_RAGGED = 1 << 12  # of a batch
FIRST = 10_000  # rows of which a tenth may be ragged; more are no accident
QUOTE = ord('"')
_NONE = "\xff"  # a byte that is in no text


@dataclass(frozen=True, eq=False)
class CsvBatch:
    """Some rows of a file; their cells are stretches of `block`, and so are the rows themselves."""

    block: Bytes
    cells: NDArray[np.int32]  # (columns, 2, rows): where each starts and stops
    spans: NDArray[np.int32]  # (rows, 2): the same of each row, without its line end
    lines: Ints  # in which each row begins, counted from 1
    ragged: list[tuple[int, int]]  # rows left out: their line, and how many cells they have
    places: Mapping[str, int]  # of the columns, by name
    dialect: Dialect
    file: str

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.lines)

    @property
    def bytes(self) -> int:
        """How long the rows are, all together."""
        return int(self.spans[-1, 1] - self.spans[0, 0]) if self.rows else 0

    @property
    def marks(self) -> Marks:
        """How its numbers are written."""
        return self.dialect.marks

    @property
    def report(self) -> Report:
        """The rows that were left out."""
        if not self.ragged:
            return Report()
        line, cells = self.ragged[0]
        return Report(ragged=Trouble(len(self.ragged), f"{self.file}, line {line:,}", f"{cells:,} cells"))

    def texts(self, column: int) -> Texts:
        """A column by its number."""
        starts, stops = self.cells[column]
        return Texts(self.block, starts, stops)

    def column(self, name: str) -> Texts:
        """A column by its name."""
        return self.texts(self.places[name])

    def where(self, row: int) -> str:
        """How to find a row again."""
        return f"{self.file}, line {self.lines[row]:,}"

    def append(self, extra: Sequence[builtins.bytes]) -> builtins.bytes:
        """Every row as it is in the file, then its extra bytes (a separator and a cell, say), then a line end."""
        if len(extra) != self.rows:
            raise ValueError(f"{len(extra):,} pieces for {self.rows:,} rows: expected one each")
        ends = np.concatenate([[0], np.cumsum(np.fromiter(map(len, extra), np.int64, len(extra)))])
        out = np.empty(int(np.diff(self.spans).sum() + ends[-1]) + len(extra), np.uint8)
        stitch(self.block, self.spans, np.frombuffer(b"".join(extra), np.uint8), ends, out)
        return out.tobytes()


class CsvReader:
    """A CSV file as a stream of bytes, which is read once, from its beginning to its end.

    separator, decimal, thousands, encoding, header, strip   how it is written; detected where it is not told
    """

    def __init__(self, stream: BinaryIO, name: str, *, block: int = BLOCK, **told: Unpack[Told]) -> None:
        self.name, self._step = name, block
        sample = exactly(stream, SAMPLE)
        try:
            self.dialect: Dialect = detect(sample, **told)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        self._source = Utf8(sample, stream, self.dialect.encoding)
        self._block, self._size, self._ended = np.zeros(64, np.uint8), 0, False
        self._state = np.array([0, 1, 64, 0, 0, 0, 0])
        self._spare = False  # whether there are cells that do not lie in one piece, and so must be put together
        self._scratch = np.empty(0, np.int32)  # used again and again: fresh memory is slower than the cutting
        self._read_on()
        self._columns, first, line = self._first_row()
        named = [text or "" for text in first] if self.dialect.header else [""] * self._columns
        self.names = [text.strip() or f"x{j}" for j, text in enumerate(named)]
        self._places = {text: j for j, text in enumerate(self.names)}
        check_named_once(self.names, f"{name}, line {line}: ")

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[CsvBatch]:
        """All rows, in their order, with all columns: those that nobody asks for cost next to nothing."""
        seen, wrong, first = 0, 0, (0, 0)
        while True:
            batch = CsvBatch(*self._split(MOST_ROWS, MOST_RAGGED, self._columns), self._places, self.dialect, self.name)
            if seen < FIRST and (batch.rows or batch.ragged):
                among = np.sort(np.concatenate([batch.lines, [line for line, _ in batch.ragged]]))[: FIRST - seen]
                first = first if wrong or not batch.ragged else batch.ragged[0]
                wrong += sum(line <= among[-1] for line, _ in batch.ragged)
                seen += len(among)
            done = self._ended and self._state[AT] == self._size
            if wrong > seen / 10 and (seen == FIRST or done):
                raise DataError(
                    f"{self.name}, line {first[0]:,}: {first[1]:,} cells, expected {self._columns:,} as in the first "
                    f"row, and {wrong:,} of the first {seen:,} rows are like that; "
                    f"is the separator {self.dialect.separator!r}? {remedy('separator=', '--separator')} tells another"
                )
            if batch.rows or batch.ragged:
                yield batch
                del batch  # before the next one is cut
            elif done:
                return
            else:
                self._read_on()

    def _first_row(self) -> tuple[int, list[str | None], int]:
        """How many columns there are, the names, if the first row has them, and its line."""
        while True:
            before = self._state.copy()
            *_, ragged = self._split(1, 1, 0)  # a row of no cells there is none: the first is ragged
            if ragged:
                break
            if self._ended:
                raise DataError(f"{self.name} is empty")
            self._read_on()
        line, columns = ragged[0]
        self._state[:3] = before[:3]
        if not self.dialect.header:
            return columns, [], line
        block, cells, *_ = self._split(1, 1, columns)
        return columns, Texts(block, cells[:, 0, 0], cells[:, 1, 0]).texts(), line

    def _split(self, rows: int, ragged: int, columns: int) -> tuple[Bytes, Any, Any, Any, list[tuple[int, int]]]:
        """The block and its next rows: their cells by column, the rows themselves, their lines; and those left out."""
        room = min(rows, (self._size - int(self._state[AT])) // max(columns, 1) + 1)
        sizes = 2 * room, 2 * room, room, room * columns + WIDE, 2 * room * columns
        if len(self._scratch) < sum(sizes):
            self._scratch = np.empty(sum(sizes), np.int32)
        lines, spans, odd, ends, cells = np.split(self._scratch[: sum(sizes)], np.cumsum(sizes[:-1]))
        lines, spans, cells = lines.view(np.int64), spans.reshape(room, 2), cells.reshape(room, columns, 2)
        separator, strip, wrong = ord(self.dialect.separator or _NONE), self.dialect.strip, np.empty((ragged, 2), int)
        into = ends, spans, lines, odd, cells, wrong, self._state
        begun = self._state[: LINE + 1].copy()
        split(self._block, self._size, separator, QUOTE, strip, self._ended, *into)
        if self._state[OPEN] < 0:  # the first cell that must be put together: from now on there is room for them
            self._state[: LINE + 1], self._spare = begun, True
            self._lay(self._block[: self._size + 1], self._size)
            return self._split(rows, ragged, columns)
        if self._ended and self._state[OPEN]:
            raise DataError(f"{self.name}, line {self._state[OPEN]:,}: a quote is opened here and never closed")
        n, k = self._state[ROWS], self._state[RAGGED]
        by_column = np.empty((columns, 2, n), np.int32)
        turn(self._block, ends, spans, odd[: self._state[ODD]], cells, strip, by_column)
        left_out = [(int(line), int(count)) for line, count in wrong[:k]]
        return self._block, by_column, spans[:n].copy(), lines[:n].copy(), left_out

    def _read_on(self) -> None:
        """A new block: what is left of the last one, a row that is not complete, and what follows in the file."""
        left = self._block[self._state[AT] : self._size].copy()
        self._block = left  # who has the old one may be done with it
        if len(left) > LONGEST:
            raise DataError(
                f"{self.name}, line {self._state[LINE]:,}: a row longer than {LONGEST >> 20} MB; is a quote left open?"
            )
        # as much again, so that a long row is not looked at again and again
        room = len(left) + max(self._step, min(len(left), LONGEST - len(left)))
        self._lay(left, room)
        self._size = len(left) + self._source.readinto(self._block[len(left) : room].data)
        self._ended = self._size < room
        self._block[self._size] = self._state[AT] = 0

    def _lay(self, text: Bytes, room: int) -> None:
        """A block that begins with this text and has room for so much; and for as much again, put together."""
        block = np.empty((2 if self._spare else 1) * room + WIDE, np.uint8)
        block[: len(text)] = text
        self._block, self._state[SPARE] = block, room + WIDE
