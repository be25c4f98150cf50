"""The bytes of files: opened, counted as they are read, without compression; and what is wrong with them, said."""

from __future__ import annotations

import errno
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa

from evenodds.data.encoding import BUFFER
from evenodds.errors import DataError

Progress = Callable[[int], None]  # told how many bytes have been read since it was last told
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ": "xz"}


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file as it is; "-" is standard input."""
    if path == "-":
        if sys.stdin is None:  # the shell has closed it
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard input")
        yield sys.stdin.buffer
    else:
        with open(path, "rb") as stream:
            yield stream


def uncompressed(name: str) -> str:
    """The name of a file without what compression adds to it."""
    root, ending = os.path.splitext(name)
    return root if ending.lower() in (".gz", ".zst", ".bz2", ".xz") else name


class Counted(io.RawIOBase):
    """A stream that says how much of it has been read."""

    def __init__(self, raw: BinaryIO, progress: Progress | None) -> None:
        self.raw, self.progress = raw, progress

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read on."""
        n = self.raw.readinto(buffer) or 0  # type: ignore[attr-defined]
        if self.progress is not None and n:
            self.progress(n)
        return n


def buffered(stream: io.RawIOBase) -> Any:
    """The same stream, read in long pieces."""
    return io.BufferedReader(stream, BUFFER)


def decompressed(stream: Any, path: str) -> tuple[Any, str]:
    """The stream without its compression, known by its first bytes; and the name's ending before that of it."""
    start = stream.peek(8)
    how = next((how for magic, how in _MAGIC.items() if start.startswith(magic)), None)
    root, ending = os.path.splitext(path)
    if how is None:
        return stream, ending.lower()
    inner: Any
    if how == "gzip":
        import gzip

        inner = gzip.GzipFile(fileobj=stream)
    elif how == "zstd":
        inner = pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd")
    elif how == "bz2":
        import bz2

        inner = bz2.BZ2File(stream)
    else:
        import lzma

        inner = lzma.LZMAFile(stream)  # noqa: SIM115
    return buffered(Counted(inner, None)), os.path.splitext(root)[1].lower()


@contextmanager
def said(name: str) -> Iterator[None]:
    """What libraries say of a broken file, as one sentence with its name."""
    import lzma

    try:
        yield
    except UnicodeError as error:
        raise DataError(f"{name} is not in the encoding that was told: {_first(error)}") from None
    except (EOFError, zlib.error, lzma.LZMAError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{name} is damaged or cut short: {_first(error)}") from None
    except OSError as error:
        if error.errno is not None:
            error.filename = error.filename or name
            raise
        raise DataError(f"{name} is damaged or cut short: {_first(error)}") from None


def _first(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200] or type(error).__name__
