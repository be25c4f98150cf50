"""The key of `keys.key`, compiled; and texts turned into codes by it, without a Python string for any of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds import keys as plain
from evenodds.instructions import fetch_soon, load_eight, text_kernel
from evenodds.kernel import eight_bytes, kernel

AHEAD = 16  # texts of a column lie far from each other: they are fetched while others are hashed
BYTE, ONE = np.uint64(8), np.uint64(1)
STEP, MIX, HALF = np.uint64(plain.STEP), np.uint64(plain.MIX), np.uint64(32)


@text_kernel
def hash_blob(blob: Any, starts: Any, stops: Any) -> Any:
    """The keys of the texts blob[starts[i]:stops[i]], hashed where they lie; one that stops before it starts is as good
    as empty.
    """
    keys = np.empty(len(starts), np.uint64)
    for t in range(len(keys)):
        h = np.uint64(0)
        start, stop = starts[t], max(stops[t], starts[t])
        fetch_soon(blob, starts[min(t + AHEAD, len(keys) - 1)])
        if stop + 8 <= len(blob):
            for i in range(start, stop, 8):
                word = load_eight(blob, i)
                h = (h ^ (word if stop - i >= 8 else word & ((ONE << (BYTE * np.uint64(stop - i))) - ONE))) * STEP
                h ^= h >> HALF
        else:
            for i in range(start, stop, 8):
                h = (h ^ eight_bytes(blob, i, stop)) * STEP
                h ^= h >> HALF
        h ^= np.uint64(stop - start)
        h = h * MIX
        h ^= h >> HALF
        h = h * MIX
        keys[t] = h ^ (h >> HALF)
    return keys


@kernel
def encode(keys: Any, known: Any, codes: Any, slots: Any, distinct: Any, first: Any) -> int:
    """codes[t] = the number of the t-th key among the distinct ones, in order of appearance; -1 where it is null.

    `slots` is a table of such numbers, -1 where free, found by the key's last bits; `distinct` and `first` are the
    distinct keys and their first rows. Returns how many there are, or -1 where the table is half full.
    """
    n = 0
    mask, one = np.uint64(len(slots) - 1), np.uint64(1)
    for t in range(len(keys)):
        if len(known) > 0 and not known[t]:
            codes[t] = -1
            continue
        at = keys[t] & mask
        while slots[at] >= 0 and distinct[slots[at]] != keys[t]:
            at = (at + one) & mask
        if slots[at] < 0:
            if 2 * n >= len(slots):
                return -1
            slots[at] = n
            distinct[n] = keys[t]
            first[n] = t
            n += 1
        codes[t] = slots[at]
    return n


@kernel
def pack(blob: Any, starts: Any, stops: Any, out: Any) -> None:
    """The texts blob[starts[i]:stops[i]] end to end; one that stops before it starts is as good as empty."""
    n = 0
    for t in range(len(starts)):
        for i in range(starts[t], stops[t]):
            out[n] = blob[i]
            n += 1
