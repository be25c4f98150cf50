"""The 64-bit key of a text, in plain Python integers: one hash for categories, classes and words."""

from __future__ import annotations

STEP, MIX = 0x9FB21C651E98DF25, 0xD6E8FEB86659FD93
MASK = (1 << 64) - 1


def encoded(text: str) -> bytes:
    """A text in UTF-8; a lone surrogate, which UTF-8 has no bytes for, as three that are not UTF-8."""
    return text.encode("utf-8", "surrogatepass")


def key(text: bytes) -> int:
    """The key of a text: eight bytes at a time, multiplied and folded; its length last.

    >>> hex(key(b"spam"))
    '0xbff91c32ca08083d'
    """
    h = 0
    for i in range(0, len(text), 8):
        h = ((h ^ int.from_bytes(text[i : i + 8], "little")) * STEP) & MASK
        h ^= h >> 32
    h ^= len(text)
    h = (h * MIX) & MASK
    h ^= h >> 32
    h = (h * MIX) & MASK
    return h ^ (h >> 32)
