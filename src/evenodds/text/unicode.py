"""The frozen Unicode table: which characters make words, and what they are in lower case and without accents.

It is read from `unicode.bin` (written by `make_table.py`), never from the running Python's own Unicode, so that a
model's words stay its words. Two characters are lowered otherwise than by `str.lower`, which looks at their neighbours
or makes two of one: Σ is always σ (at a word's end too), and İ is i, without the dot that would end the word there.

>>> version()
'14.0.0'
>>> [kind(ord(c)) for c in "a7! "] == [LETTER, DIGIT, MARK, GAP]
True
>>> chr(lower(ord("Σ"))), chr(lower(ord("İ"))), bare(ord("é")), bare(ord("½")), len(bare(ord("한")))
('σ', 'i', 'e', '1⁄2', 3)
"""

from __future__ import annotations

import functools
import sys
import zlib
from array import array
from bisect import bisect_left
from itertools import pairwise
from os.path import dirname, join
from typing import NamedTuple

GAP, LETTER, DIGIT, MARK = range(4)
POINTS, BLOCK = 0x110000, 128
TABLE = join(dirname(__file__), "unicode.bin")
HANGUL, HANGUL_END = 0xAC00, 0xD7A4


class Table(NamedTuple):
    """The arrays of the file: kinds in two stages, then sorted lists of the characters that change."""

    version: str
    blocks: array[int]
    upper: array[int]
    lower: array[int]
    accented: array[int]
    ends: array[int]
    bare: array[int]
    kinds: bytes


@functools.cache
def table() -> Table:
    """The table, read once."""
    with open(TABLE, "rb") as file:
        return read(file.read())


def read(file: bytes) -> Table:
    """The table that is in the bytes of such a file."""
    title, body = file.split(b"\n", 1)
    data = zlib.decompress(body)
    sizes = _numbers(data[: 4 * 7])
    ends = [4 * 7 + 4 * sum(sizes[:i]) for i in range(7)]
    blocks, upper, lowered, accented, cuts, bared = (_numbers(data[a:b]) for a, b in pairwise(ends))
    return Table(title.decode().split()[-1], blocks, upper, lowered, accented, cuts, bared, data[ends[-1] :])


def _numbers(data: bytes) -> array[int]:
    numbers = array("I", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def version() -> str:
    """The version of Unicode that the table holds."""
    return table().version


def kind(point: int) -> int:
    """Whether a code point is a gap between words, a letter, a digit, or a mark (punctuation, symbols, emoji)."""
    t = table()
    return t.kinds[t.blocks[point // BLOCK] * BLOCK + point % BLOCK]


def lower(point: int) -> int:
    """A code point in lower case."""
    t = table()
    i = bisect_left(t.upper, point)
    return t.lower[i] if i < len(t.upper) and t.upper[i] == point else point


def bare(point: int) -> str:
    """A code point without accents, as NFKD less the combining marks; it may be several, or none."""
    if HANGUL <= point < HANGUL_END:
        syllable = point - HANGUL
        tail = syllable % 28
        return chr(0x1100 + syllable // 588) + chr(0x1161 + syllable % 588 // 28) + (chr(0x11A7 + tail) if tail else "")
    t = table()
    i = bisect_left(t.accented, point)
    if i == len(t.accented) or t.accented[i] != point:
        return chr(point)
    return "".join(map(chr, t.bare[t.ends[i] : t.ends[i + 1]]))
