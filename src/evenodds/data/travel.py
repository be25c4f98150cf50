"""How sums travel between processes that share nothing: pickled, cut into pieces, as rows of a small table.

    range   of the keys that a piece is about: those of one range are added apart from the others'
    place   where it was found: the number of a partition
    number  which of several values of that place it is
    piece   which part of the value's bytes these are
    data    the bytes

What went wrong travels in the same way, under a range of its own, and is raised where the rows are put together.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

SCHEMA = "range int, place long, number long, piece int, data binary"
FAILED = -1  # the range of what went wrong
COLUMNS = pa.schema(
    [("range", pa.int32()), ("place", pa.int64()), ("number", pa.int64()), ("piece", pa.int32()), ("data", pa.binary())]
)
ROWS, BYTES = 1 << 17, 1 << 25  # of a batch, which is gathered from Spark's, at most
SOME = 1 << 28  # bytes of sums that are brought to the driver at once


def carried(error: Exception) -> Exception:
    """An error that can travel."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def chunks(place: int, number: int, value: Any, piece: int) -> Iterator[Any]:
    """A sum in pieces: whole if it is short, else by ranges of keys where it can be cut so."""
    short = not hasattr(value, "cut") or len(pickle.dumps(value, 5)) <= piece
    for at, part in ({0: value} if short else value.cut()).items():
        yield from pieces(at, place, number, part, piece)


def pieces(at: int, place: int, number: int, value: Any, piece: int) -> Iterator[Any]:
    """A value in pieces of so many bytes."""
    data = pickle.dumps(value, 5)
    for i, start in enumerate(range(0, len(data), piece)):
        cells = ([at], [place], [number], [i], [data[start : start + piece]])
        yield pa.record_batch([pa.array(cell, one.type) for cell, one in zip(cells, COLUMNS)], schema=COLUMNS)


def merge(total: Callable[[Sequence[Any]], Any], piece: int, fan_in: int, rows: Any) -> Any:
    """The sums of some partitions in one range of keys, added."""
    found = sorted(rows.to_pylist(), key=order)
    if found[0]["range"] == FAILED:
        return rows
    about = found[0]["range"]  # what was cut no further so far may now fall into other ranges, beside what is there
    parts = chunks(found[0]["place"] // fan_in, about, total(list(values(found))), piece)
    return pa.Table.from_batches(list(parts), COLUMNS)


def order(row: dict[str, Any]) -> tuple[int, int, int, int]:
    """Where a row belongs."""
    return row["range"], row["place"], row["number"], row["piece"]


def values(rows: Iterable[dict[str, Any]]) -> Iterator[Any]:
    """What the pieces say, put together; rows are in order. What went wrong is raised."""
    key: Any = None
    data: list[bytes] = []
    for row in rows:
        if (now := order(row)[:3]) != key and data:
            yield _value(key, data)
            data = []
        key = now
        data.append(bytes(row["data"]))
    if data:
        yield _value(key, data)


def _value(key: tuple[int, int, int], data: list[bytes]) -> Any:
    value = pickle.loads(b"".join(data))
    if key[0] == FAILED:
        raise value
    return value


def gathered(batches: Iterator[Any]) -> Iterator[Any]:
    """Tables of many rows, of Spark's short batches."""
    some: list[Any] = []
    rows = size = 0
    for batch in batches:
        if batch.num_rows:
            some.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= ROWS or size >= BYTES:
            yield pa.Table.from_batches(some)
            some, rows, size = [], 0, 0
    if some:
        yield pa.Table.from_batches(some)


def runs(sizes: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Ranges that are brought to the driver at once: a few of those that are long."""
    low, size = None, 0
    ordered = sorted(sizes)
    for at, after in zip(ordered, [*ordered[1:], None]):
        low, size = at if low is None else low, size + sizes[at]
        if after is None or size + sizes[after] > SOME:
            yield low, at
            low, size = None, 0
