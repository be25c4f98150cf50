"""The .eo file: named arrays and a small header in the layout of safetensors, none of it code.

    8 bytes   the length of the header, little-endian
    header    JSON, padded with spaces to a multiple of 8 bytes
    data      the arrays, end to end, the widest numbers first so that every array is aligned

A header begins with what tells a whole file from a damaged one, in this and in every later format:

    {"__metadata__":{"checksum":"8c736521","data":"04d7a8f3","bytes":"5678","evenodds":"{…}"},"counts":{…},…}

checksum  crc32 of the length and the header, with these eight digits read as zeros
data      crc32 of the data: apart, so that a header can be believed without reading what may be a gigabyte
bytes     the length of the whole file
evenodds  JSON text: the format's number, the kind of thing the file holds, and what that kind says of itself

A file is hostile until it is parsed. The parser needs the standard library only and allocates nothing by a number that
it has not held against the file's size; numpy is loaded where arrays are made, over the file's own bytes.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import reprlib
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from evenodds.arguments import is_whole
from evenodds.errors import DataError
from evenodds.replacing import Path, replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

Bytes: TypeAlias = bytes | mmap.mmap

FORMAT = 1
LONGEST = 100_000_000  # bytes of a header; safetensors has the same limit
SMALL = 1 << 20  # bytes of a file that is read rather than mapped: a map keeps a file open
DIMENSIONS = 8
DTYPES = {"F64": "<f8", "I64": "<i8", "U64": "<u8", "I32": "<i4", "U8": "|u1"}
CODES = {numpy_name: code for code, numpy_name in DTYPES.items()}
WIDTHS = {"F64": 8, "I64": 8, "U64": 8, "I32": 4, "U8": 1}
UNNAMED = "the run of bytes"  # what has no path is called, in messages

BEGINS = b'{"__metadata__":{"checksum":"'
AT = 8 + len(BEGINS)  # where the checksum stands
HEAD = BEGINS + b'%s","data":"%s","bytes":"%s","evenodds":"'
HEX = frozenset(b"0123456789abcdef")


class FileError(DataError):
    """The file is damaged, cut short, newer than this program, or no model at all; the message says which."""


class Entry(NamedTuple):
    """One array of a file: its type and shape, and where in the file it begins."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


class Contents(NamedTuple):
    """What a header says: of the thing in the file, of its arrays, where the data begin and their checksum."""

    header: dict[str, Any]
    table: dict[str, Entry]
    start: int
    checksum: bytes


# -- reading -----------------------------------------------------------------------------------------------------------


def small(path: Path) -> bytes:
    """All bytes of what is small: of a device without an end no more than of the longest header."""
    with open(path, "rb") as file:
        found = file.read(LONGEST + 1)
    if len(found) > LONGEST:
        raise DataError(f"{os.fspath(path)} has more than {LONGEST:,} bytes: is it the right file?")
    return found


def is_model(path: Path) -> bool:
    """Whether a file begins as ours do. Of a pipe nothing is read: what is taken out of it is gone."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(AT)[8:] == BEGINS


def describe(path: Path) -> dict[str, Any]:
    """What a file's header says of it: its format, the kind of thing in it, how many rows that has seen, its length."""
    data = _bytes_of(path)
    header = parse(data, os.fspath(path)).header
    return {**{name: header.get(name) for name in ("format", "kind", "rows")}, "bytes": len(data)}


def read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the header of a file; the arrays of a large one stay in it, mapped and not to be written to."""
    return unpack(_bytes_of(path), os.fspath(path))


def unpack(data: Bytes, name: str = UNNAMED) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the header that `pack` was given.

    >>> import numpy as np
    >>> packed = pack({"counts": np.array([1, 2, 3])}, {"kind": "tally"})
    >>> unpack(packed)
    ({'counts': array([1, 2, 3])}, {'format': 1, 'kind': 'tally'})
    >>> unpack(packed[:-1])
    Traceback (most recent call last):
    evenodds.file.FileError: the run of bytes is cut short: 231 of 232 bytes
    """
    header, table, start, checksum = parse(data, name)
    with memoryview(data) as view, view[start:] as rest:
        if _digits(zlib.crc32(rest)) != checksum:
            raise damaged(name)
    import numpy as np

    arrays = {
        array: np.frombuffer(data, DTYPES[dtype], math.prod(shape), offset).reshape(shape)
        for array, (dtype, shape, offset) in table.items()
    }
    return arrays, header


def parse(data: Bytes, name: str = UNNAMED) -> Contents:
    """The header of a file, checked; the data, of which only the length is known to be right, are left alone."""
    size, begin = len(data), _begin(bytes(data[8 : AT + 128]))
    if begin is None:
        raise FileError(f"{name} {_stranger(bytes(data[: AT + 128]), size)}")
    checksum, rest, whole, end = begin
    length = int.from_bytes(data[:8], "little")
    if size != whole:
        fault = "is cut short" if size < whole else "has more bytes than were written"
        raise FileError(f"{name} {fault}: {size:,} of {whole:,} bytes")
    start = 8 + length
    if length > LONGEST or length % 8 or not 8 + end <= start <= size:
        raise FileError(f"{name} is damaged: its header cannot be {length:,} bytes long")
    head = bytes(data[:start])
    if _digits(_checksum(head)) != checksum:
        raise FileError(f"{name} is damaged: its checksum does not match")
    try:
        table = _json(head[8:].decode())
        metadata = table.pop("__metadata__")
        header = _header(metadata["evenodds"])
        found = header["format"]
        if found > FORMAT:
            newer = f"was written by a newer evenodds (format {found}; this one reads up to {FORMAT})"
            raise FileError(f"{name} {newer}: upgrade evenodds")
        if list(metadata) != ["checksum", "data", "bytes", "evenodds"]:
            raise ValueError("its header has more metadata than evenodds writes")
        if not isinstance(header.get("kind"), str):
            raise ValueError("it does not say what it holds")
        return Contents(header, _table(table, start, size), start, rest)
    except FileError:
        raise
    except UnicodeDecodeError:
        raise no_model(name, "its header is not UTF-8") from None
    except ValueError as error:
        raise no_model(name, str(error)) from None


def no_model(name: str, reason: str) -> FileError:
    """The error for what is whole and yet no model; a hostile reason is not repeated at length."""
    return FileError(f"{name} is not an evenodds model: {reason if len(reason) < 400 else reason[:399] + '…'}")


def damaged(name: str) -> FileError:
    """The error for data that are not those whose checksum was written."""
    return FileError(f"{name} is damaged: the checksum of its data does not match")


def _begin(head: bytes) -> tuple[bytes, bytes, int, int] | None:
    """The checksums of header and data, the length of the whole, and where these end; None of a stranger.

    By hand: to import and compile a regular expression takes longer than all else that is done for one message.
    """
    parts = head.split(b'"', 14)
    if len(parts) < 15:
        return None
    checksum, data, whole = parts[5], parts[9], parts[13]
    begin = HEAD % (checksum, data, whole)
    right = head.startswith(begin) and len(checksum) == len(data) == 8 and HEX.issuperset(checksum + data)
    if not (right and len(whole) < 20 and whole.isdigit() and whole[:1] != b"0"):
        return None
    return checksum, data, int(whole), len(begin)


def _stranger(begin: bytes, size: int) -> str:
    """What is wrong with bytes that do not begin as ours do."""
    if not size:
        return "is not an evenodds model: it is empty"
    text = begin[8 : 8 + len(BEGINS)]
    if text == BEGINS and size >= AT + 128:
        return "is damaged: its header does not begin as it was written"
    if text and BEGINS.startswith(text):
        return f"is cut short: {size:,} bytes are not even its header"
    if text.startswith(b'{"'):
        return "is not an evenodds model: it looks like the safetensors file of another program"
    return "is not an evenodds model: it does not begin like one"


def _checksum(head: bytes) -> int:
    with memoryview(head) as view:
        return zlib.crc32(view[AT + 8 :], zlib.crc32(b"00000000", zlib.crc32(view[:AT])))


def _digits(checksum: int) -> bytes:
    return b"%08x" % checksum


def _json(text: str) -> dict[str, Any]:
    """An object of JSON: no name twice, no number beyond 64 bits or infinite, no nesting without end."""
    try:
        read = json.loads(
            text, object_pairs_hook=_once, parse_int=_integer, parse_float=_float, parse_constant=_no_number
        )
    except RecursionError:
        raise ValueError("its header is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"its header is not JSON ({error.msg})") from None
    if not isinstance(read, dict):
        raise ValueError("its header is not an object")
    return read


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("a name occurs twice in its header")
    return read


def _integer(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise ValueError(f"the number {reprlib.repr(digits)} in its header is too large")
    return int(digits)


def _float(digits: str) -> float:
    if math.isinf(float(digits)):
        raise ValueError(f"the number {reprlib.repr(digits)} in its header is too large")
    return float(digits)


def _no_number(name: str) -> Any:
    raise ValueError(f"its header has {name} for a number")


def _header(text: str) -> dict[str, Any]:
    header = _json(text)
    found = header.get("format")
    if not is_whole(found) or found < 1:
        raise ValueError(f"its format is {reprlib.repr(found)}, not a number")
    return header


def _table(table: dict[str, Any], start: int, size: int) -> dict[str, Entry]:
    """Where each array is: one behind the other, from the data's first byte to the last."""
    found, at = {}, start
    for name, entry in table.items():
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"its array {reprlib.repr(name)} has not just a type, a shape and a place")
        dtype, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(dtype, str) or dtype not in WIDTHS:
            raise ValueError(f"its array {reprlib.repr(name)} is of the unknown type {reprlib.repr(dtype)}")
        if not _naturals(shape) or len(shape) > DIMENSIONS or any(length > size for length in shape):
            raise ValueError(f"its array {reprlib.repr(name)} has the impossible shape {reprlib.repr(shape)}")
        if not _naturals(place) or len(place) != 2 or start + place[0] != at or (at - start) % WIDTHS[dtype]:
            raise ValueError(f"its array {reprlib.repr(name)} does not begin where the one before it ends")
        if place[1] - place[0] != math.prod(shape) * WIDTHS[dtype]:
            raise ValueError(f"its array {reprlib.repr(name)} has not as many bytes as its shape says")
        found[name], at = Entry(dtype, tuple(shape), at), start + place[1]
    if at != size:
        raise ValueError("its arrays do not end where the file does")
    return found


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(is_whole(number) and number >= 0 for number in value)


def _bytes_of(path: Path) -> Bytes:
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size < SMALL:
            start = file.read(SMALL)  # a pipe or a device says no size: what does not begin as ours do may never end
            return start + file.read() if start[8:AT] == BEGINS else start
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


# -- writing -----------------------------------------------------------------------------------------------------------


def pack(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> bytes:
    """Arrays and a header as one run of bytes."""
    head, parts = _lay_out(arrays, header)
    return b"".join([head, *parts])


def write(path: Path, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> None:
    """Arrays and a header as a file, which replaces an old one only when all of it is on the disk."""
    head, parts = _lay_out(arrays, header)
    with replacing(path) as file:
        file.write(head)
        for part in parts:
            file.write(part)


def _lay_out(arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> tuple[bytes, list[memoryview]]:
    """The length and the header, and the arrays' own bytes in the order they are written: no copy of them is made."""
    import numpy as np

    whole = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    table, parts, at, checksum = {}, [], 0, 0
    for name in sorted(whole, key=lambda name: (-whole[name].itemsize, name)):
        array, end = whole[name], at + whole[name].nbytes
        table[name] = {"dtype": CODES[array.dtype.str], "shape": array.shape, "data_offsets": [at, end]}
        parts.append(array.reshape(-1).view(np.uint8).data)
        at, checksum = end, zlib.crc32(parts[-1], checksum)
    text = json.dumps({"format": FORMAT, **header}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    listed = json.dumps(table, separators=(",", ":"))[1:].encode()
    rest = json.dumps(text).encode() + (b"}," if table else b"}") + listed
    begin = BEGINS + b'00000000","data":"' + _digits(checksum) + b'","bytes":"%d","evenodds":'
    length = -(-(len(begin) + 20 + len(rest)) // 8) * 8  # 20: the digits of the file's length, which depends on this
    if length > LONGEST:
        raise DataError(
            f"too many columns to be saved: the header would have {length:,} bytes, at most {LONGEST:,} can"
        )
    head = length.to_bytes(8, "little") + (begin % (8 + length + at) + rest).ljust(length)
    return head[:AT] + _digits(_checksum(head)) + head[AT + 8 :], parts
