"""Streams of text in UTF-8, whatever encoding they come in.

>>> import io
>>> in_utf8(io.BytesIO("größe\\n7\\n".encode("cp1252"))).readlines()
[b'gr\\xc3\\xb6\\xc3\\x9fe\\n', b'7\\n']
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from typing import Any

from evenodds.errors import DataError

SAMPLE = 1 << 18  # bytes looked at; fewer are taken for the whole file
BUFFER = 1 << 20  # bytes read at once

_BOMS = (  # the longer first: that of UTF-16 is the beginning of that of UTF-32
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_AS_IT_IS = ("utf-8", "utf-8-sig", "ascii")


def encoding_of(sample: bytes) -> str:
    """The encoding of a text that begins with these bytes.

    As Unicode says it; UTF-8 if it is valid; otherwise cp1252, or latin-1 where cp1252 has no such letters.
    """
    valid = (encoding for encoding in ("utf-8", "cp1252") if _decoded(sample, encoding) is not None)
    return unicode_of(sample) or next(valid, "latin-1")


def unicode_of(sample: bytes) -> str | None:
    """Which of Unicode's encodings it is: by its mark, or UTF-16 without one by the NULs at every other byte."""
    for bom, encoding in _BOMS:
        if sample.startswith(bom):
            return encoding
    for encoding, low, high in (("utf-16-le", 0, 1), ("utf-16-be", 1, 0)):
        nuls = sample[high::2].count(0)
        if nuls and 0 not in sample[low::2]:
            text = _decoded(sample, encoding) or "\0"
            if not _CONTROL.search(text) and ("\n" in text or "\r" in text or 4 * nuls >= len(sample)):
                return encoding
    return None


def _decoded(sample: bytes, encoding: str) -> str | None:
    """The sample's text, if it is in this encoding; its last letter may be cut in two."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def check_encoding(encoding: str) -> None:
    """Refuse a name that is none of an encoding of text."""
    try:
        b"x".decode(encoding, "replace")
    except (LookupError, ValueError):
        raise DataError(f"encoding={encoding!r} is not known; expected one such as 'cp1252'") from None


def exactly(stream: Any, n: int) -> bytes:
    """The next n bytes, or as many as there are."""
    parts = []
    while n and (part := stream.read(n)):
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def in_utf8(
    stream: Any, encoding: str | None = None, detect: Callable[[bytes], str | None] = encoding_of
) -> io.BufferedReader:
    """A stream of lines in UTF-8; in which encoding it comes is detected where it is not told."""
    head = exactly(stream, SAMPLE)
    return io.BufferedReader(Utf8(head, stream, encoding or detect(head) or "utf-8"), BUFFER)


class Utf8(io.RawIOBase):
    """A stream in UTF-8, without a byte order mark: its first bytes, which have been read, and what follows them."""

    def __init__(self, head: bytes, stream: Any, encoding: str) -> None:
        check_encoding(encoding)
        self._stream: Any = stream
        self._decoder: Any = None
        self._over = False
        if codecs.lookup(encoding).name not in _AS_IT_IS:
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")
            head = self._recoded(head)
        self._ready = memoryview(head.removeprefix(codecs.BOM_UTF8))

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, or as much of it as there is left; returns how much."""
        view, done = memoryview(buffer), 0
        while done < len(view):
            if self._decoder is not None and not self._ready:
                self._decode()
            if self._ready:
                n = min(len(self._ready), len(view) - done)
                view[done : done + n], self._ready = self._ready[:n], self._ready[n:]
            else:
                n = 0 if self._over else self._stream.readinto(view[done:]) or 0
                if not n:
                    break
            done += n
        return done

    def _decode(self) -> None:
        while not self._ready and not self._over:
            part = self._stream.read(BUFFER)
            self._over = not part
            self._ready = memoryview(self._recoded(part, self._over))

    def _recoded(self, part: bytes, last: bool = False) -> bytes:
        return bytes(self._decoder.decode(part, last).encode("utf-8", "replace"))
