"""Texts where they lie: cells cut out of one run of bytes, read as numbers or as codes.

A cell is a stretch of a block of CSV, or of an Arrow array; none becomes a Python string, except the few distinct ones
that are neither numbers nor missing.

>>> numbers(Texts.of(["1.5", " 2e2", "NA", "yes", "about 7", None]))
(array([  1.5, 200. ,   nan,   1. ,   nan,   nan]), array([4]))
>>> numbers(Texts.of(["1.234,5", "12"]), Marks(decimal=",", thousands="."))[0]
array([1234.5,   12. ])
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evenodds.keys import encoded
from evenodds.labels import Bytes, Ints, Labels, laid
from evenodds.number_kernels import JUNK, LONG, SCANNED, WORD, fives, lay, nearest, scan, short

MISSING_TEXT = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "null", "NULL", "?")  # in a column of texts
MISSING = ("", *MISSING_TEXT, "None", ".", "-")  # in a column of numbers
TRUE = ("true", "yes", "y", "t")
FALSE = ("false", "no", "n", "f")

REPEATED = 1000  # of an array's texts: if they are few, all are taken to come again and again

_WORDS = {**dict.fromkeys(TRUE, 1.0), **dict.fromkeys(FALSE, 0.0)}
_LONGEST = max(map(len, (*MISSING, *_WORDS)))


@dataclass(frozen=True)
class Marks:
    """How numbers are written: the mark before the decimals, and the one between thousands, if any."""

    decimal: str = "."
    thousands: str = ""


PLAIN = Marks()


@dataclass(frozen=True, eq=False)
class Texts:
    """Cell i is blob[starts[i]:stops[i]], in UTF-8; it is null where it stops before it starts."""

    blob: Bytes
    starts: NDArray[Any]
    stops: NDArray[Any]

    @classmethod
    def of(cls, texts: Iterable[str | bytes | None]) -> Texts:
        """Some Python strings, or their bytes.

        >>> [Texts.of(["ham", None, ""]).text(i) for i in range(3)]
        ['ham', None, '']
        """
        return cls.of_bytes([encoded(text) if isinstance(text, str) else text for text in texts])

    @classmethod
    def of_bytes(cls, texts: Sequence[bytes | None]) -> Texts:
        """Some runs of bytes, laid end to end."""
        if len(texts) == 1 and texts[0] is not None:  # one message need not wait for the rest
            return cls(np.frombuffer(texts[0], np.uint8), np.zeros(1, np.int64), np.array([len(texts[0])]))
        ends = np.cumsum([0, *(len(text or b"") for text in texts)])
        known = np.array([text is not None for text in texts], bool)
        return cls(
            np.frombuffer(b"".join(text or b"" for text in texts), np.uint8),
            ends[:-1],
            np.where(known, ends[1:], ends[:-1] - 1),
        )

    @classmethod
    def cut(cls, blob: Bytes, ends: NDArray[Any]) -> Texts:
        """Cells that lie end to end."""
        return cls(blob, ends[:-1], ends[1:])

    @classmethod
    def of_arrow(cls, raw: Any) -> Texts:
        """An Arrow array of texts, or a chunked one; one without nulls, in one chunk, as it lies."""
        if isinstance(raw, pa.ChunkedArray):
            if raw.num_chunks > 1:  # wide, because together they may be more than 2 GB
                raw = raw.cast(pa.large_string()).combine_chunks()
            else:
                raw = raw.chunk(0) if raw.num_chunks else pa.array([], raw.type)
        if not (pa.types.is_string(raw.type) or pa.types.is_large_string(raw.type)):
            raw = raw.cast(pa.large_string())
        _, offsets, data = raw.buffers()
        wide = np.int64 if pa.types.is_large_string(raw.type) else np.int32
        ends = np.frombuffer(offsets, wide)[raw.offset : raw.offset + len(raw) + 1] if len(raw) else np.zeros(1, wide)
        starts, stops = ends[:-1], ends[1:]
        if raw.null_count:
            stops = np.where(raw.is_valid().to_numpy(zero_copy_only=False), stops, starts - 1)
        return cls(np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8), starts, stops)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> Texts:
        """Some of the cells; their bytes stay where they are."""
        return Texts(self.blob, self.starts[rows], self.stops[rows])

    def lengths(self) -> Ints:
        """How many bytes each has; a null has none.

        >>> Texts.of(["ham", None, ""]).lengths()
        array([3, 0, 0])
        """
        return np.maximum(self.stops - self.starts, 0).astype(np.int64, copy=False)

    def pieces(self, size: int) -> Iterator[tuple[int, int]]:
        """Runs of cells (first, beyond the last) of about so many bytes each; always the same ones."""
        lengths = self.lengths()
        if len(lengths) and int(lengths.sum()) <= size:  # one message need not wait for the rest
            yield 0, len(lengths)
            return
        total = np.concatenate([[0], np.cumsum(lengths)])
        first = 0
        while first < len(lengths):
            beyond = max(first + 1, int(np.searchsorted(total, total[first] + size, "right")) - 1)
            yield first, beyond
            first = beyond

    def document(self, i: int | np.integer[Any]) -> bytes:
        """The bytes of one cell; a null has none."""
        start = self.starts[i]
        return self.blob[start : max(self.stops[i], start)].tobytes()

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which are not null."""
        return np.asarray(self.stops >= self.starts)

    def dense(self) -> Texts:
        """The same cells, without the bytes between them if these are the most."""
        if 2 * int(self.lengths().sum()) >= len(self.blob):
            return self
        blob, ends = laid(self.blob, self.starts, self.stops)
        return Texts(blob, ends[:-1], np.where(self.known, ends[1:], ends[:-1] - 1))

    def text(self, i: int | np.integer[Any]) -> str | None:
        """One cell; what is not UTF-8 in it is replaced by U+FFFD."""
        start, stop = self.starts[i], self.stops[i]
        return None if stop < start else self.blob[start:stop].tobytes().decode("utf-8", "replace")

    def texts(self) -> list[str | None]:
        """All of them."""
        return [self.text(i) for i in range(len(self))]


def joined(parts: Sequence[Texts]) -> Texts:
    """The cells of one after those of the other.

    >>> joined([Texts.of(["a", None]), Texts.of(["b"])]).texts()
    ['a', None, 'b']
    """
    if len(parts) == 1:
        return parts[0]
    dense = [part.dense() for part in parts]
    shifts = np.cumsum([0, *(len(part.blob) for part in dense)])
    return Texts(
        np.concatenate([np.empty(0, np.uint8), *(part.blob for part in dense)]),
        np.concatenate([np.empty(0, np.int64), *(part.starts + shift for part, shift in zip(dense, shifts))]),
        np.concatenate([np.empty(0, np.int64), *(part.stops + shift for part, shift in zip(dense, shifts))]),
    )


def by_blob(columns: Mapping[str, Texts]) -> list[list[str]]:
    """The names of those that are cut out of the same run of bytes, together."""
    found: dict[int, list[str]] = {}
    for name, texts in columns.items():
        found.setdefault(id(texts.blob), []).append(name)
    return list(found.values())


def side_by_side(columns: Sequence[Texts]) -> Texts:
    """The cells of one column after those of the other, all of the same run of bytes; the bytes stay where they are."""
    if len(columns) == 1:
        return columns[0]
    starts, stops = ([getattr(one, side) for one in columns] for side in ("starts", "stops"))
    return Texts(columns[0].blob, np.concatenate(starts), np.concatenate(stops))


def numbers(texts: Texts, marks: Marks = PLAIN, columns: int = 1) -> tuple[NDArray[np.float64], Ints]:
    """Cells as the doubles nearest to what they say, NaN where missing; and which are something else, NaN as well.

    A number is digits with a sign, a decimal part and a power of ten (e) where wanted; marks between thousands stand
    between groups of three digits. Yes, no, true and false are 1 and 0. Blanks around a cell do not matter. What is
    too large for a double is no number. Cells may be several columns, side by side: it is quicker if that is known.
    """
    cells, decimal = (texts.blob, texts.starts, texts.stops), ord(marks.decimal)
    values, rest = np.empty(len(texts)), np.empty(len(texts), np.int32)
    rest = rest[: short(*cells, len(texts) // columns, decimal, fives(), values, rest)]
    if not len(rest):
        return values, np.empty(0, np.int64)
    n, thousands = len(rest), np.frombuffer(marks.thousands.encode(), np.uint8)
    wholes, tens, how = np.empty(n, np.uint64), np.empty(n, np.int64), np.empty(n, np.uint8)
    scan(*cells, rest, decimal, thousands, _LONGEST, wholes, tens, values, how)
    if nearest(wholes, tens, how, fives(), rest, values):
        long, words = np.flatnonzero(how == LONG), np.flatnonzero(how == WORD)
        if len(long):
            values[rest[long]], how[long] = _rounded(texts[rest[long]], decimal)
        if len(words):
            values[rest[words]], how[words] = _words(texts[rest[words]], marks)
    return values, np.sort(rest[how == JUNK]).astype(np.int64)


def _rounded(texts: Texts, decimal: int) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Numbers of many digits, rounded by Arrow; and which are junk."""
    out = np.empty(int(np.sum(texts.stops - texts.starts, dtype=np.int64)), np.uint8)
    ends = np.empty(len(texts) + 1, np.int64)
    lay(texts.blob, texts.starts, texts.stops, decimal, out, ends)
    written = pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(out))
    values = written.cast(pa.float64()).to_numpy()
    infinite = np.isinf(values)
    return np.where(infinite, np.nan, values), np.where(infinite, JUNK, SCANNED).astype(np.uint8)


def _words(texts: Texts, marks: Marks) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Texts that are not plainly numbers, their distinct ones looked up as words; and which are junk."""
    codes, labels, place = encode(texts)
    words = [text.strip() for text in _decoded(labels)]
    values = np.array([_WORDS.get(word.lower(), np.nan) for word in words])
    junk = np.array([word not in MISSING and word.lower() not in _WORDS for word in words], bool)
    lengths = np.diff(labels.ends)
    bare = [i for i, word in enumerate(words) if junk[i] and len(word.encode()) < lengths[i]]
    if bare:  # blanks that only Unicode knows are off now
        values[bare], bad = numbers(Texts.of(words[i] for i in bare), marks)
        junk[bare] = np.isin(np.arange(len(bare)), bad)
    return values[place[codes]], np.where(junk[place[codes]], JUNK, SCANNED).astype(np.uint8)


def _decoded(labels: Labels) -> list[str]:
    cuts = zip(labels.ends, labels.ends[1:])
    return [labels.blob[start:stop].tobytes().decode("utf-8", "replace") for start, stop in cuts]


def encode(texts: Texts, complete: bool = False) -> tuple[NDArray[np.int32], Labels, Ints]:
    """Cells as codes (-1 is null), their labels, and the place of each code there; `complete` if none is null."""
    known = np.empty(0, np.bool_) if complete else texts.known
    return Labels.encode(texts.blob, texts.starts, texts.stops, known)


def codes(texts: Texts, missing: Sequence[str] = MISSING_TEXT) -> tuple[NDArray[np.int32], Labels, Ints, int]:
    """Cells as codes (-1 is null), their labels, the place of each code there (-1: missing), how many are not UTF-8.

    >>> cells, labels, place, garbled = codes(Texts.of(["ham", "?", "spam", "ham"]))
    >>> [labels.text(place[code]) if place[code] >= 0 else None for code in cells]
    ['ham', None, 'spam', 'ham']
    """
    found, labels, place = encode(texts)
    garbled = 0
    wrong = _not_utf8(labels)
    if len(wrong):
        garbled = int(np.bincount(place[found[found >= 0]], minlength=len(labels))[wrong].sum())
        labels, moved = Labels.coded(_decoded(labels))
        place = moved[place]
    gone = [i for i in labels.find(_keys(tuple(missing))) if i >= 0 and labels.text(i) in missing]
    if gone:
        kept = np.ones(len(labels), bool)
        kept[gone] = False
        labels, place = labels.take(np.flatnonzero(kept)), np.where(kept, np.cumsum(kept) - 1, -1)[place]
    return found, labels, place, garbled


def in_value_order(values: Sequence[str]) -> tuple[str, ...]:
    """Numbers by size, texts by the alphabet.

    >>> in_value_order(["10", "9", "2.5"])
    ('2.5', '9', '10')
    """
    try:
        return tuple(sorted(values, key=float))
    except ValueError:
        return tuple(sorted(values))


@functools.cache
def _keys(texts: tuple[str, ...]) -> Any:
    return Labels.of(texts).keys


def _not_utf8(labels: Labels) -> Ints:
    """The labels that are not UTF-8; all are, if the whole is and none begins inside a letter."""
    inside = labels.ends[:-1][np.diff(labels.ends) > 0]
    if not np.any(labels.blob[inside] & 0xC0 == 0x80) and _is_utf8(labels.blob):
        return np.empty(0, np.int64)
    cut = zip(labels.ends, labels.ends[1:])
    return np.flatnonzero([not _is_utf8(labels.blob[start:stop]) for start, stop in cut])


def _is_utf8(blob: Bytes) -> bool:
    try:
        str(blob.tobytes(), "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def of_numpy(x: NDArray[Any]) -> Any:
    """Texts of numpy, which pads all to one width, as Arrow has them; where they repeat, each is read once.

    >>> of_numpy(np.array(["no", "yes"])[np.arange(2000) % 2])[:3].to_pylist()
    ['no', 'yes', 'no']
    """
    if len(x) <= REPEATED or len(set(x[:REPEATED].tolist())) > REPEATED / 10:
        return pa.array(x)
    padded = np.ascontiguousarray(x)
    coded = pa.Array.from_buffers(pa.binary(x.itemsize), len(x), [None, pa.py_buffer(padded)]).dictionary_encode()
    distinct = np.frombuffer(coded.dictionary.buffers()[1], x.dtype, len(coded.dictionary))
    return pa.DictionaryArray.from_arrays(coded.indices, pa.array(distinct)).dictionary_decode()
