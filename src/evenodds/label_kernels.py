"""The key of `labels.key`, compiled; and texts turned into codes by it, without a Python string for any of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.kernel import eight_bytes, kernel

STEP, MIX, HALF = np.uint64(0x9FB21C651E98DF25), np.uint64(0xD6E8FEB86659FD93), np.uint64(32)


@kernel
def hash_blob(blob: Any, ends: Any) -> Any:
    """The keys of the texts blob[ends[i]:ends[i+1]]."""
    keys = np.empty(len(ends) - 1, np.uint64)
    for t in range(len(keys)):
        h = np.uint64(0)
        start, stop = ends[t], ends[t + 1]
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
def encode(blob: Any, ends: Any, known: Any, codes: Any, slots: Any, keys: Any, first: Any) -> int:
    """codes[t] = the number of the t-th text among the distinct ones, in order of appearance; -1 where it is null.

    `slots` is a table of such numbers, -1 where free, found by the key's first bits; `keys` and `first` are the keys
    and first rows of the distinct texts. Returns how many there are, or -1 where the table is half full. Texts are
    told apart by their keys alone.
    """
    distinct = 0
    mask = np.uint64(len(slots) - 1)
    for t in range(len(codes)):
        if len(known) > 0 and not known[t]:
            codes[t] = -1
            continue
        h = np.uint64(0)
        start, stop = ends[t], ends[t + 1]
        for i in range(start, stop, 8):
            h = (h ^ eight_bytes(blob, i, stop)) * STEP
            h ^= h >> HALF
        h ^= np.uint64(stop - start)
        h = h * MIX
        h ^= h >> HALF
        h = h * MIX
        h ^= h >> HALF
        at = h & mask
        while slots[at] >= 0 and keys[slots[at]] != h:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            if 2 * distinct >= len(slots):
                return -1
            slots[at] = distinct
            keys[distinct] = h
            first[distinct] = t
            distinct += 1
        codes[t] = slots[at]
    return distinct
