"""Cells: a table's columns turned into numbers, codes and texts.

A null is NaN among numbers and -1 among codes. Everything goes through Arrow or numpy; no cell becomes a Python object
(the few distinct labels of a column do).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evenodds import texts as text_cells
from evenodds.errors import DataError, brief
from evenodds.labels import Ints, Labels, canonical
from evenodds.texts import Texts

Raw: TypeAlias = Any  # a numpy array, or an Arrow array or chunked array (pyarrow has no types)


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


def is_null(value: Any) -> bool:
    """Whether a value is none: None, NaN, NaT, or pandas' NA, of which not even that can be said.

    >>> is_null(None), is_null(float("nan")), is_null(0), is_null("")
    (True, True, False, False)
    """
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA != NA is NA
        return True
    except ValueError:  # an array: of each of its values
        return False


def as_arrow(x: Any) -> Any:
    """Values as Arrow has them. Numbers and texts mixed are texts, and so are whole numbers beyond 64 bits; intervals
    and periods, of which Arrow makes structures, are as pandas writes them.

    >>> as_arrow([1, "x", None]).to_pylist(), as_arrow([1, 2**63]).type, as_arrow([2**70]).to_pylist()
    (['1', 'x', None], DataType(uint64), ['1180591620717411303424'])
    """
    try:
        if isinstance(x, np.ndarray) and x.dtype.kind == "U":
            return text_cells.of_numpy(x)
        cells = pa.array(_in_seconds(x), from_pandas=True)
        if not isinstance(type_of(cells), pa.ExtensionType):
            return cells
    except OverflowError:
        try:
            return pa.array(x, pa.uint64(), from_pandas=True)
        except (OverflowError, pa.ArrowInvalid, TypeError):
            pass
    except (pa.ArrowInvalid, TypeError, NotImplementedError, UnicodeError):  # what Arrow has no type for
        if getattr(getattr(x, "dtype", None), "kind", "") == "f":
            return pa.array(np.asarray(x, np.float64), from_pandas=True)
    return pa.array([None if is_null(value) else _readable(canonical(value)) for value in x], pa.string())


def _in_seconds(x: Any) -> Any:
    """Times of numpy in units that Arrow knows: it has no hours or years, and takes steps of 15 seconds for seconds.

    >>> as_arrow(np.array(["2024-03-01T23"], "M8[h]")).type, as_arrow(np.array(["2024-03"], "M8[M]")).type
    (TimestampType(timestamp[s]), DataType(date32[day]))
    """
    if not (isinstance(x, np.ndarray) and x.dtype.kind in "Mm"):
        return x
    unit, steps = np.datetime_data(x.dtype)
    if x.dtype.kind == "M" and unit in "YMWD":
        return x.astype("M8[D]")
    if unit in "WDhm" or (steps > 1 and unit == "s"):
        return x.astype(f"{x.dtype.kind}8[s]")
    return x


def _readable(text: str) -> str:
    """A text that can be written: half a pair of surrogates, of which UTF-8 has no bytes, is read as �."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_column(x: Any) -> Raw | Coded:
    """One column as numpy or Arrow has it: lists, arrays, series."""
    if isinstance(x, (Coded, pa.Array, pa.ChunkedArray)):
        return x
    x = unmasked(x)
    if type(getattr(x, "dtype", None)).__name__ == "SparseDtype":  # of pandas: numbers, of which Arrow knows nothing
        x = np.asarray(x)
    if isinstance(x, np.ndarray) and x.ndim != 1:
        if x.ndim != 2 or x.shape[1] != 1:
            raise DataError(f"expected one column of values, got an array of shape {x.shape}")
        x = x[:, 0]
    if isinstance(x, np.ndarray) and x.dtype.kind in "biuf":
        return x
    numpy_number = isinstance(getattr(x, "dtype", None), np.dtype) and x.dtype.kind in "biuf"
    if numpy_number and hasattr(x, "to_numpy"):
        return np.asarray(x.to_numpy())
    if hasattr(x, "__arrow_c_stream__") and type(x).__module__.partition(".")[0] != "pandas":
        return pa.chunked_array(x)
    if hasattr(x, "__array__") and not isinstance(x, np.ndarray) and not hasattr(x, "dtype"):
        return as_column(np.asarray(x))
    return as_arrow(x)


def unmasked(x: Any) -> Any:
    """A masked array of numpy's with nothing where it is masked: NaN among numbers, None among others.

    >>> as_column(np.ma.array([1, 2, 900], mask=[False, False, True]))
    array([ 1.,  2., nan])
    """
    if not isinstance(x, np.ma.MaskedArray):
        return x
    if not np.any(x.mask):
        return x.data
    nothing: Any = np.nan if x.dtype.kind in "biuf" else None
    return np.where(x.mask, nothing, x.data)


def type_of(raw: Any) -> Any:
    """The Arrow type of cells, be they listed in a dictionary or not."""
    return raw.type.value_type if pa.types.is_dictionary(raw.type) else raw.type


def is_text(type_: Any) -> bool:
    """Whether an Arrow type holds text."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


def without_views(raw: Any) -> Any:
    """Views of text and of bytes, which few of Arrow's functions take, as text and bytes."""
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(raw.type)
    return raw if plain is None else raw.cast(plain)


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
        raw = as_arrow(raw)
    type_, t = type_of(raw), pa.types
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
        raise DataError(
            f"column {name!r} holds {brief(str(cells.text(bad[0])))}, expected a number; is it a Categorical column?"
        )
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
        raw = as_arrow(raw)
    if pa.types.is_null(raw.type):
        raw = raw.cast(pa.string())
    if not is_text(type_of(raw)):
        raise DataError(f"column {name!r} holds {raw.type}, not text; leave Words out, or give it as text")
    return Texts.of_arrow(raw)


def codes(raw: Raw | Coded, where: str = "a column") -> Coded:
    """Cells as codes with labels. The label of a number is its shortest text: 1, 1.0 and "1" are one category.

    >>> codes(as_arrow([["a", "b"], ["c"]]), "column 'tags'")
    Traceback (most recent call last):
    evenodds.errors.DataError: column 'tags' holds list<item: string>: expected texts, numbers or dates
    """
    if isinstance(raw, Coded):
        return raw
    try:
        return _codes(raw)
    except (NotImplementedError, pa.ArrowInvalid, OverflowError):
        kind = raw.dtype if isinstance(raw, np.ndarray) else raw.type
        raise DataError(f"{where} holds {kind}: expected texts, numbers or dates") from None


def _codes(raw: Raw) -> Coded:
    if isinstance(raw, np.ndarray):
        small = _small_integers(raw)
        if small is not None:
            return small
        raw = as_arrow(raw)
    if is_text(raw.type):
        return Coded(*text_cells.encode(Texts.of_arrow(raw), complete=not raw.null_count))
    encoded = _listed(raw)
    indices = encoded.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(-1)
    where = _where_they_lie(indices)
    if is_text(encoded.dictionary.type) and not encoded.dictionary.null_count:
        listed = _codes(encoded.dictionary)
        return dataclasses.replace(listed, codes=where, place=listed.places)
    values = _values(encoded.dictionary)
    real = np.array([not is_null(value) for value in values], bool)
    if not real.all():
        shift = np.append(np.where(real, np.cumsum(real) - 1, -1), -1)
        where, values = shift[where], [value for value, keep in zip(values, real) if keep]
    labels, place = Labels.coded([canonical(value) for value in values])
    return Coded(where, labels, place, target_kind(encoded))


def _listed(raw: Any) -> Any:
    """Cells as Arrow lists them in one dictionary. It can bring those of several chunks into line if they are of texts,
    without a null among them; others it refuses, or garbles, as it does narrow floats.
    """
    if isinstance(raw, pa.ChunkedArray):
        chunks, one, listed = raw.chunks, type_of(raw), pa.types.is_dictionary(raw.type)
        if listed and pa.types.is_string_view(one):
            one = pa.large_string()
            chunks = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary.cast(one)) for c in chunks]
        if len(chunks) == 1:
            raw = chunks[0]
        elif listed and is_text(one) and chunks and not any(c.dictionary.null_count for c in chunks):
            raw = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
        else:
            parts = [chunk.dictionary_decode() if listed else chunk for chunk in chunks]
            raw = pa.concat_arrays(parts or [pa.array([], one)])
    return raw if pa.types.is_dictionary(raw.type) else raw.dictionary_encode()


def _values(dictionary: Any) -> list[Any]:
    """The values of a dictionary; of narrow floats such that their text is the shortest one."""
    values: list[Any] = dictionary.to_pylist()
    if not pa.types.is_floating(dictionary.type) or dictionary.type.bit_width == 64:
        return values
    return [value if value is None else dictionary.type.to_pandas_dtype()(value) for value in values]


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
        local = (local.astype(np.uint64) - np.uint64(low % 2**64)).astype(np.int32)  # modulo 2^64, of any integers
        present = np.bincount(local, minlength=high - low + 1) > 0
    values: list[Any] = [low + int(i) for i in np.flatnonzero(present)]
    if raw.dtype.kind == "b":
        values = [bool(value) for value in values]
    labels, order = Labels.coded([canonical(value) for value in values])
    place = np.full(len(present), -1, np.int64)
    place[present] = order
    return Coded(local, labels, place, target_kind(raw), nullable=False)


def target_kind(raw: Raw | Coded) -> str:
    """The type of a target column's values: text, int, float or bool."""
    if isinstance(raw, Coded):
        return raw.kind
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "biuf":
        return {"b": "bool", "i": "int", "u": "int", "f": "float"}[raw.dtype.kind]
    type_ = type_of(as_arrow(raw) if isinstance(raw, np.ndarray) else raw)
    if pa.types.is_decimal(type_):
        return "float" if type_.scale > 0 else "int"
    for name, test in (("bool", pa.types.is_boolean), ("int", pa.types.is_integer), ("float", pa.types.is_floating)):
        if test(type_):
            return name
    return "text"
