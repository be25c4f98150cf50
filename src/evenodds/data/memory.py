"""Tables in memory: numpy, scipy.sparse, pandas, polars, pyarrow, lists of dicts, anything that speaks Arrow.

A `Table` is named columns, each as numpy or Arrow already has it: nothing is copied here. Sums over it are made shard
by shard, in a pool of threads, and added in order: the same bits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evenodds.cells import Coded, Raw, arrow_numbers, as_arrow, as_column, codes, is_text, unmasked, without_views
from evenodds.errors import DataError, did_you_mean
from evenodds.texts import Texts

SHARD = 1 << 19  # rows; fixed, so that sums do not depend on the machine
TEXT = "text"  # the column's name of texts that are not in a table
FEW = 64  # categories that are looked up before they are read
TILE = 1 << 13  # rows copied out of a row-major array at once


@dataclass(frozen=True)
class Table:
    """Named columns of equal length. `named` is False for plain arrays, whose columns have no names of their own."""

    columns: Mapping[str, Raw | Coded]
    rows: int
    named: bool = True
    dense: Callable[[Any], NDArray[Any]] | None = None  # rows of a sparse matrix, as they are needed: a slice, or some

    def __getitem__(self, name: str) -> Raw | Coded:
        if name not in self.columns:
            raise DataError(did_you_mean(name, self.columns))
        return self.columns[name]

    def slice(self, start: int, stop: int, lying: Container[str] = ()) -> Table:
        """Some consecutive rows; columns of a row-major array copied out, but for those that may stay as they lie."""
        if self.dense is not None:
            block = self.dense(slice(start, stop))
            return Table({name: block[:, j] for j, name in enumerate(self.columns)}, len(block), self.named)
        parts = {name: _slice(raw, start, stop) for name, raw in self.columns.items()}
        return Table(_contiguous(parts, stop - start, lying), stop - start, self.named)

    def whole(self) -> Table:
        """The same rows, those of a sparse matrix made dense."""
        return self if self.dense is None else self.slice(0, self.rows)

    def take(self, rows: NDArray[np.int64]) -> Table:
        """Some rows, by their numbers."""
        if (dense := self.dense) is not None:
            return Table(self.columns, len(rows), self.named, lambda places: dense(rows[places]))
        return Table({name: _take(raw, rows) for name, raw in self.columns.items()}, len(rows), self.named)

    def without(self, *names: str) -> Table:
        """The other columns."""
        kept = {name: raw for name, raw in self.columns.items() if name not in names}
        return Table(kept, self.rows, self.named, self.dense)

    @property
    def shard_size(self) -> int:
        """How many rows a shard has: fewer where rows must be made dense first."""
        return SHARD if self.dense is None else max(1, min(SHARD, (1 << 23) // max(len(self.columns), 1)))


def _contiguous(columns: dict[str, Any], rows: int, lying: Container[str]) -> dict[str, Any]:
    """The same columns, those of a row-major array copied out unless they may lie, some rows of all of them at a time.

    The copies lie one after the other in one array: large enough that its memory comes in large pages.
    """
    strided = [
        name
        for name, x in columns.items()
        if isinstance(x, np.ndarray) and len(x) > 1 and x.strides[0] != x.itemsize and name not in lying
    ]
    copies: dict[str, Any] = {}
    for dtype in {columns[name].dtype for name in strided}:
        names = [name for name in strided if columns[name].dtype == dtype]
        copies |= dict(zip(names, np.empty((len(names), rows), dtype)))
    for start in range(0, rows if strided else 0, TILE):
        stop = start + TILE
        for name, copy in copies.items():
            copy[start:stop] = columns[name][start:stop]
    return {**columns, **copies}


def _slice(raw: Raw | Coded, start: int, stop: int) -> Raw | Coded:
    return raw.slice(start, stop - start) if isinstance(raw, (pa.Array, pa.ChunkedArray)) else raw[start:stop]


def _take(raw: Raw | Coded, rows: NDArray[np.int64]) -> Raw | Coded:
    return without_views(raw).take(arrow_numbers(rows)) if isinstance(raw, (pa.Array, pa.ChunkedArray)) else raw[rows]


def table(x: Any, names: Sequence[str] | None = None) -> Table:
    """Any table in memory as named columns; `names` for arrays that have none."""
    if isinstance(x, Table):
        return x
    if isinstance(x, np.ndarray) and x.dtype.names:  # records
        x = {name: x[name] for name in x.dtype.names}
    x = unmasked(x)
    if (documents := _documents(x)) is not None:
        return Table({TEXT: documents}, len(documents))
    if is_array(x):
        return _of_array(np.asarray(x), names)
    if hasattr(x, "tocsr") and hasattr(x, "shape"):
        return _of_sparse(x, names)
    if type(x).__module__.partition(".")[0] == "pandas":
        return _of_pandas(x)
    if isinstance(x, Sequence) and not isinstance(x, (str, bytes)):
        if all(isinstance(row, Mapping) for row in x):
            keys = dict.fromkeys(str(key) for row in x for key in row)
            return Table({key: as_column([row.get(key) for row in x]) for key in keys}, len(x))
        return _of_array(_as_array(x), names)
    if isinstance(x, Mapping):
        for name, values in x.items():
            if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
                raise DataError(f"column {name!r} is {values!r}: give a list of cells, or the row in a list")
        lengths = {str(name): len(values) for name, values in x.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns of different lengths: {lengths}")
        columns = {str(name): _column(values, str(name)) for name, values in x.items()}
        return Table(columns, next(iter(lengths.values()), 0))
    if isinstance(x, pa.RecordBatch):
        x = pa.Table.from_batches([x])
    if hasattr(x, "__arrow_c_stream__"):
        arrow = x if isinstance(x, pa.Table) else _arrow_of_stream(x)
        return _of_arrow(arrow, arrow.num_rows)
    text = " (a text? give it in a list, [text])" if isinstance(x, str) else ""
    raise DataError(
        f"cannot read a table from {type(x).__name__}: expected a data frame, an array, a sparse matrix, "
        f"a list of dicts, or anything with the Arrow stream interface{text}"
    )


def _arrow_of_stream(x: Any) -> pa.Table:
    if len(getattr(x, "shape", ())) == 1 and hasattr(x, "to_frame"):  # one column of polars
        x = x.to_frame(x.name or "x0")
    try:
        return pa.table(x)
    except pa.ArrowInvalid as error:
        raise DataError(f"Arrow cannot read a column of this table ({error}): give it another type") from None


def _documents(x: Any) -> Any | None:
    """Texts that are not in a table: a list of strings, an array, a series."""
    if isinstance(x, (list, tuple)):
        texts = x and any(isinstance(one, str) for one in x) and all(one is None or isinstance(one, str) for one in x)
        return as_arrow(x) if texts else None
    if isinstance(x, (pa.Array, pa.ChunkedArray)):
        return x if is_text(x.type) else None
    if isinstance(x, Texts):
        return x
    if len(getattr(x, "shape", ())) == 1 and not hasattr(x, "columns") and hasattr(x, "dtype"):
        column = as_column(x)
        return column if isinstance(column, (pa.Array, pa.ChunkedArray)) and is_text(column.type) else None
    return None


def is_array(x: Any) -> bool:
    """Whether this is an array without column names, or can become one."""
    return hasattr(x, "__array__") and not hasattr(x, "columns") and not hasattr(x, "__arrow_c_stream__")


def _as_array(x: Any) -> NDArray[Any]:
    array = np.asarray(x)
    return np.asarray(x, dtype=object) if array.dtype.kind == "U" else array


def _of_array(x: NDArray[Any], names: Sequence[str] | None) -> Table:
    if x.ndim == 1 and len(x) and isinstance(x[0], bytes):
        raise DataError("these are bytes, not texts: decode them, as in [one.decode('utf-8') for one in texts]")
    if x.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {x.ndim}D array instead: a table has rows and columns. "
            "Reshape your data with array.reshape(-1, 1) if it has one column, array.reshape(1, -1) if it has one row"
        )
    _check_real(x.dtype)
    names = [f"x{j}" for j in range(x.shape[1])] if names is None else names
    if x.dtype.kind in "OUST":
        columns = {name: _of_objects(x[:, j], name) for j, name in enumerate(names)}
        return Table(columns, len(x), named=any(isinstance(c, pa.Array) for c in columns.values()))
    if x.dtype.kind not in "biuf":
        return Table({name: _column(x[:, j], name) for j, name in enumerate(names)}, len(x))
    return Table({name: x[:, j] for j, name in enumerate(names)}, len(x), named=False)


def _of_objects(x: NDArray[Any], name: str) -> Raw:
    if x.dtype.kind == "O":
        for value in x:
            if isinstance(value, (Mapping, list, tuple, set)):
                raise TypeError(f"column {name!r}: argument must be a string or a real number, not {value!r:.80}")
    try:
        return x.astype(np.float64)
    except (TypeError, ValueError):
        return as_arrow(x)


def _of_sparse(x: Any, names: Sequence[str] | None) -> Table:
    rows = x.tocsr()
    names = [f"x{j}" for j in range(rows.shape[1])] if names is None else names
    _check_real(rows.dtype)
    columns: dict[str, Any] = dict.fromkeys(names)
    return Table(
        columns, rows.shape[0], named=False, dense=lambda places: np.asarray(rows[places].toarray(), np.float64)
    )


def _of_pandas(x: Any) -> Table:
    if not hasattr(x, "columns"):
        x = x.to_frame(name="x0" if x.name is None else x.name)
    columns: dict[str, Any] = {}
    read: dict[tuple[Any, ...], Coded] = {}  # categories that columns share are read once
    check_named_once(map(str, x.columns))
    for name, series in x.items():
        if hasattr(series.array, "categories"):
            columns[str(name)] = _of_categories(series.array, read)
        else:
            columns[str(name)] = _column(series, str(name))
    return Table(columns, len(x))


def _of_categories(cells: Any, read: dict[tuple[Any, ...], Coded]) -> Coded:
    """The codes of a pandas categorical as they lie, with its categories' labels."""
    categories = as_arrow(cells.categories)
    key = (categories.type, *categories.to_pylist()) if len(categories) < FEW else (id(cells),)
    if (labels := read.get(key)) is None:
        labels = read[key] = codes(categories)
    return Coded(cells.codes, labels.labels, labels.place[labels.codes], labels.kind)


def _check_real(dtype: Any, where: str = "") -> None:
    if getattr(dtype, "kind", "") == "c":
        raise DataError(f"{where}Complex data not supported: give the real and the imaginary part as two columns")


def _of_arrow(x: pa.Table, rows: int) -> Table:
    check_named_once(x.column_names)
    return Table({name: _column(x.column(i), name) for i, name in enumerate(x.column_names)}, rows)


def check_named_once(names: Iterable[str], where: str = "") -> None:
    """Refuse columns of which two have one name."""
    seen = set[str]()
    for name in names:
        if name in seen:
            raise DataError(f"{where}two columns are named {name!r}: rename one")
        seen.add(name)


def _column(x: Any, name: str) -> Raw | Coded:
    """A column of any table as it is used; what a dictionary lists as codes, its labels hashed once for all of it."""
    _check_real(getattr(x, "dtype", None), f"column {name!r}: ")
    raw = unwrapped(as_column(x))
    listed = not isinstance(raw, np.ndarray | Coded) and pa.types.is_dictionary(raw.type)
    return codes(raw, f"column {name!r}") if listed else raw


def unwrapped(raw: Any) -> Any:
    """Cells without what Arrow may wrap them in, which few of its functions take: runs, types of other programs, and
    decimals of less than 128 bits.
    """
    if not isinstance(raw, pa.Array | pa.ChunkedArray):
        return raw
    type_ = raw.type
    if pa.types.is_decimal(type_) and type_.bit_width < 128:
        return raw.cast(pa.decimal128(type_.precision, type_.scale))
    if pa.types.is_run_end_encoded(type_):
        return unwrapped(pc.run_end_decode(raw))
    if isinstance(type_, pa.BaseExtensionType):
        chunks = raw.chunks if isinstance(raw, pa.ChunkedArray) else [raw]
        return unwrapped(pa.chunked_array([chunk.storage for chunk in chunks], type_.storage_type))
    return raw
