"""Cells: a table's columns turned into numbers and codes.

`kind` looks at a sample of a column and says what it holds; `numbers` and `codes` read a run of its cells. A null is
NaN among numbers and -1 among codes. Everything goes through Arrow or numpy; no cell becomes a Python object (the few
distinct labels of a column do).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evenodds import texts as text_cells
from evenodds.dates import all_dates
from evenodds.errors import DataError
from evenodds.labels import Ints, Labels, canonical
from evenodds.text.lengths import lengths
from evenodds.texts import FALSE, TRUE, Texts

MANY = 100  # values that must all differ before a column is taken for an identifier

Raw: TypeAlias = Any  # a numpy array, or an Arrow array or chunked array (pyarrow has no types)
Kind = Literal["number", "flag", "category", "date", "span", "id", "text", "empty", "nested"]

_NUMBER = r"^\s*[+-]?(0|[1-9][0-9]*|[0-9]*\.[0-9]+|(0|[1-9][0-9]*)\.[0-9]*)([eE][+-]?[0-9]+)?\s*$"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Coded:
    """Cells of categories: codes into a local list (-1 is null), and where each local label is in `labels`."""

    codes: NDArray[np.integer]
    labels: Labels
    place: Ints
    kind: str = "text"  # what the labels are the texts of: text, int, float or bool
    nullable: bool = True  # whether a code may be -1

    def __getitem__(self, rows: slice | Ints) -> Coded:
        return dataclasses.replace(self, codes=self.codes[rows])

    @property
    def places(self) -> Ints:
        """Where each cell's label is in `labels`; -1 where it is null."""
        return np.append(self.place, -1)[self.codes]

    def arrow(self) -> Any:
        """The cells as Arrow has texts."""
        places = self.places
        labels = pa.LargeStringArray.from_buffers(
            len(self.labels), pa.py_buffer(self.labels.ends), pa.py_buffer(self.labels.blob)
        )
        return labels.cast(pa.string()).take(arrow_numbers(places, places < 0))


def arrow_numbers(x: NDArray[Any], null: NDArray[np.bool_] | None = None) -> Any:
    """Numbers as Arrow has them, where they lie: `pa.array` would load pandas to see whether they are its own.

    >>> arrow_numbers(np.array([1, 2]), null=np.array([True, False])).to_pylist()
    [None, 2]
    """
    known = None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little"))
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(x.dtype), len(x), [known, pa.py_buffer(np.ascontiguousarray(x))], -1
    )


def arrow_of(x: Any) -> Any:
    """A series as Arrow has it; intervals and periods, of which Arrow makes structures, as pandas writes them."""
    cells = pa.array(x, from_pandas=True)
    if not isinstance(_type(cells), pa.ExtensionType):
        return cells
    return pa.array([None if v is None or v != v else str(v) for v in x], pa.string())


def as_column(x: Any) -> Raw | Coded:
    """One column as numpy or Arrow has it: lists, arrays, series. Numbers and texts mixed are texts."""
    if isinstance(x, (Coded, pa.Array, pa.ChunkedArray)) or (isinstance(x, np.ndarray) and x.dtype.kind in "biuf"):
        return x
    numpy_number = isinstance(getattr(x, "dtype", None), np.dtype) and x.dtype.kind in "biuf"
    if numpy_number and hasattr(x, "to_numpy"):
        return np.asarray(x.to_numpy())
    if hasattr(x, "__arrow_c_stream__") and type(x).__module__.partition(".")[0] != "pandas":
        return pa.chunked_array(x)
    if hasattr(x, "__array__") and not isinstance(x, np.ndarray) and not hasattr(x, "dtype"):
        return as_column(np.asarray(x))
    try:
        return arrow_of(x)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if v is None or v != v else canonical(v) for v in x], pa.string())


def _type(raw: Raw) -> Any:
    kind = raw.type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(type_: Any) -> bool:
    """Whether an Arrow type holds text."""
    t = pa.types
    return bool(t.is_string(type_) or t.is_large_string(type_) or t.is_string_view(type_))


def plain(raw: Any) -> Any:
    """Views of text, which few of Arrow's functions take, as text."""
    return raw.cast(pa.large_string()) if pa.types.is_string_view(raw.type) else raw


def kind(raw: Raw | Coded, *, named: bool = True) -> Kind:
    """What a sample of a column holds. Only text and integers of named sources can be identifiers."""
    if isinstance(raw, Coded):
        return "category" if np.any(raw.codes >= 0) else "empty"
    if isinstance(raw, np.ndarray):
        if not named:
            return "number"
        raw = pa.array(raw, from_pandas=True)
    raw = plain(raw)
    values = raw.drop_null()
    if not len(values):
        return "empty"
    type_, t = _type(raw), pa.types
    if t.is_boolean(type_):
        return "flag"
    if t.is_temporal(type_):
        return "date" if t.is_timestamp(type_) or t.is_date(type_) else "span"
    if t.is_integer(type_) or t.is_floating(type_) or t.is_decimal(type_):
        numbers = values.cast(pa.float64(), safe=False)
        if pc.all(pc.is_in(numbers, arrow_numbers(np.array([0.0, 1.0])))).as_py():
            return "flag"
        distinct = pc.count_distinct(values).as_py()
        return "id" if t.is_integer(type_) and named and distinct == len(values) >= MANY else "number"
    if is_text(type_):
        return _text_kind(values)
    return "nested"


def _text_kind(values: Any) -> Kind:
    distinct = pc.unique(values)
    words = {text.strip().lower() for text in distinct.to_pylist()} if len(distinct) <= 8 else set()
    if words and words <= {*TRUE, *FALSE}:
        return "flag"
    if pc.all(pc.match_substring_regex(distinct, _NUMBER)).as_py():
        return "number"
    if all_dates(distinct) is not None:
        return "date"
    if len(values) >= MANY / 2 and len(distinct) > 0.9 * len(values):
        spaces = pc.mean(pc.count_substring(values, " ")).as_py()
        return "text" if spaces >= 2 else "id"
    return "category"


def numbers(raw: Raw | Coded, name: str) -> NDArray[np.float64]:
    """Cells as doubles, NaN where there is none. Text is read as a number, or as a yes or no."""
    if isinstance(raw, Coded):
        values = np.append(_numbers(Texts.of(raw.labels.texts()), name), np.nan)
        read: NDArray[np.float64] = values[raw.places]
        return read
    if isinstance(raw, np.ndarray):
        if raw.dtype == np.float64:
            return raw
        if raw.dtype.kind in "biuf":
            return raw.astype(np.float64)
        raw = pa.array(raw, from_pandas=True)
    type_, t = _type(raw), pa.types
    if t.is_dictionary(raw.type):
        return numbers(codes(raw), name)
    if is_text(type_):
        return _numbers(Texts.of_arrow(raw), name)
    if t.is_boolean(type_):
        raw = raw.cast(pa.uint8())
    elif t.is_decimal(type_):
        raw = raw.cast(pa.float64())
    elif t.is_null(type_):
        return np.full(len(raw), np.nan)
    elif not (t.is_integer(type_) or t.is_floating(type_)):
        raise DataError(f"column {name!r} holds {raw.type}, not numbers; leave it out with Column(role='ignore')")
    chunks = raw.chunks if isinstance(raw, pa.ChunkedArray) else [raw]
    parts = [_doubles(chunk) for chunk in chunks if len(chunk)]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])


def _doubles(raw: Any) -> NDArray[np.float64]:
    """Numbers of an Arrow array as doubles, NaN where null."""
    x = _where_they_lie(raw).astype(np.float64, copy=False)
    if not raw.null_count:
        return x
    known = np.unpackbits(np.frombuffer(raw.buffers()[0], np.uint8), bitorder="little")
    return np.where(known[raw.offset : raw.offset + len(raw)], x, np.nan)


def _where_they_lie(raw: Any) -> NDArray[Any]:
    """The numbers of an Arrow array, anything where null; its own `to_numpy` would load pandas."""
    data = raw.buffers()[1]
    every = np.frombuffer(b"" if data is None else data, raw.type.to_pandas_dtype())
    return every[raw.offset : raw.offset + len(raw)]


def _numbers(cells: Texts, name: str) -> NDArray[np.float64]:
    values, bad = text_cells.numbers(cells)
    if len(bad):
        raise DataError(f"column {name!r} holds {cells.text(bad[0])!r}, expected a number; is it a Categorical column?")
    return values


def texts(raw: Raw | Coded, name: str) -> Texts:
    """Cells as texts where they lie; null where there is none."""
    if isinstance(raw, Texts):
        return raw
    if isinstance(raw, Coded):
        place = raw.places
        starts, stops = np.append(raw.labels.ends[:-1], 0)[place], np.append(raw.labels.ends[1:], -1)[place]
        return Texts(raw.labels.blob, starts, stops)
    if isinstance(raw, np.ndarray):
        raw = pa.array(raw, from_pandas=True)
    if pa.types.is_null(raw.type):
        raw = raw.cast(pa.string())
    if not is_text(_type(raw)):
        raise DataError(f"column {name!r} holds {raw.type}, not text; leave Words out, or give it as text")
    return Texts.of_arrow(raw)


def codes(raw: Raw | Coded) -> Coded:
    """Cells as codes with labels. The label of a number is its shortest text: 1, 1.0 and "1" are one category."""
    if isinstance(raw, Coded):
        return raw
    if isinstance(raw, np.ndarray):
        small = _small_integers(raw)
        if small is not None:
            return small
        raw = pa.array(raw, from_pandas=True)
    if is_text(raw.type):
        return _codes_of_text(plain(raw))
    encoded = raw if pa.types.is_dictionary(raw.type) else raw.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks() if encoded.num_chunks != 1 else encoded.chunk(0)
    if isinstance(encoded, pa.ChunkedArray):  # no rows at all
        return Coded(np.empty(0, np.int32), Labels.of([]), np.empty(0, np.int64))
    indices = encoded.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(-1)
    where = _where_they_lie(indices)
    if is_text(encoded.dictionary.type) and not encoded.dictionary.null_count:
        listed = _codes_of_text(plain(encoded.dictionary))
        return dataclasses.replace(listed, codes=where, place=listed.places)
    values = encoded.dictionary.to_pylist()
    if any(value is None or value != value for value in values):
        real = np.array([value is not None and value == value for value in values])
        shift = np.append(np.where(real, np.cumsum(real) - 1, -1), -1)
        where, values = shift[where], [value for value, keep in zip(values, real) if keep]
    labels, place = Labels.coded([canonical(value) for value in values])
    return Coded(where, labels, place, target_kind(encoded))


def _codes_of_text(raw: Any) -> Coded:
    """Texts as codes, read from Arrow's own bytes."""
    if isinstance(raw, pa.ChunkedArray):
        raw = raw.chunk(0) if raw.num_chunks == 1 else raw.combine_chunks()
    if isinstance(raw, pa.ChunkedArray) or not len(raw):
        return Coded(np.empty(0, np.int32), Labels.of([]), np.empty(0, np.int64))
    _, offsets, data = raw.buffers()
    wide = np.int64 if pa.types.is_large_string(raw.type) else np.int32
    ends = np.frombuffer(offsets, wide)[raw.offset : raw.offset + len(raw) + 1]
    blob = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    known = raw.is_valid().to_numpy(zero_copy_only=False) if raw.null_count else np.empty(0, np.bool_)
    return Coded(*Labels.encode(blob, ends[:-1], ends[1:], known))


def _small_integers(raw: NDArray[Any]) -> Coded | None:
    """Integers of a small range need no dictionary, and from zero on no copy: the value is the code."""
    if raw.dtype.kind not in "biu" or not len(raw):
        return None
    local = raw.view(np.uint8) if raw.dtype.kind == "b" else raw
    if 0 <= (every := int(np.bitwise_or.reduce(local))) < 64:  # the bits of all values: none is negative, none above
        low, present = 0, np.ones(every + 1, bool)
    else:
        low, high = int(raw.min()), int(raw.max())
        if high - low >= 1 << 16:
            return None
        local = (local - local.dtype.type(low)).astype(np.int32)
        present = np.bincount(local, minlength=high - low + 1) > 0
    values: list[Any] = [low + int(i) for i in np.flatnonzero(present)]
    if raw.dtype.kind == "b":
        values = [bool(value) for value in values]
    labels, order = Labels.coded([canonical(value) for value in values])
    place = np.full(len(present), -1, np.int64)
    place[present] = order
    return Coded(local, labels, place, target_kind(raw), nullable=False)


def part_of_date(raw: Raw | Coded, part: str, name: str) -> Any:
    """A part of a date as category cells: the weekday's name, or the number of the year, month, day or hour."""
    raw = raw.arrow() if isinstance(raw, Coded) else raw
    raw = plain(pa.array(raw) if isinstance(raw, np.ndarray) else raw)
    if is_text(_type(raw)):
        parsed = all_dates(raw.cast(pa.string()) if pa.types.is_dictionary(raw.type) else raw)
        if parsed is None:
            raise DataError(f"column {name!r}: dates as text must be like 2024-03-01 or 2024-03-01 12:30:00")
        raw = parsed
    if not (pa.types.is_timestamp(raw.type) or pa.types.is_date(raw.type)):
        raise DataError(f"column {name!r} holds {raw.type}, not dates: it has no {part}")
    if part == "hour" and pa.types.is_date(raw.type):
        raise DataError(f"column {name!r} holds days without a time: it has no hour")
    if part == "weekday":
        return pc.take(pa.array(_WEEKDAYS), pc.day_of_week(raw))
    return getattr(pc, part)(raw).cast(pa.string())


def part_of(raw: Raw | Coded, part: str, name: str) -> Any:
    """What a column is the source of: a part of its dates, as categories, or the length of its texts, as numbers."""
    return lengths(texts(raw, name)) if part == "length" else part_of_date(raw, part, name)


def target_kind(raw: Raw | Coded) -> str:
    """The type of a target column's values: text, int, float or bool."""
    if isinstance(raw, Coded):
        return raw.kind
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "biuf":
        return {"b": "bool", "i": "int", "u": "int", "f": "float"}[raw.dtype.kind]
    type_ = _type(pa.array(raw, from_pandas=True) if isinstance(raw, np.ndarray) else raw)
    for name, test in (("bool", pa.types.is_boolean), ("int", pa.types.is_integer), ("float", pa.types.is_floating)):
        if test(type_):
            return name
    return "text"
