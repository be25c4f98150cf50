"""Vocabularies: tables of keys that count or replace, and the texts of words.

A table is one array of slots (key, number), 16 bytes each, key 0 where free. A key's top bits say where it stands, or
the next free slot after that: so a sweep over the table meets the keys nearly in order, and making a sorted list of it
is a small correction. The slots go on a little beyond the last that the top bits can name, and the last is never taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.instructions import fetch_soon, shared, text_kernel

ONE, TWO, ZERO = np.uint64(1), np.uint64(2), np.uint64(0)  # a place that is unsigned is not looked at from the end
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
AHEAD = 16  # keys between asking for a slot and using it: about as many as the machine waits for at once


@shared
def place_of(slots: Any, shift: Any, h: Any) -> Any:
    """Where a key stands in a table, or the free slot where it would."""
    at = (h >> shift) << ONE
    while slots[at] != h and slots[at] != ZERO:
        at += TWO
    return at


@text_kernel
def count_keys(
    keys: Any, first: int, last: int, slots: Any, shift: Any, room: int, used: int, fresh: Any
) -> tuple[int, int, int]:
    """Count keys[first:last] in a table whose numbers are (order of appearance) · 2^32 + count.

    Returns how far it came (it stops where a new key finds no room), how many keys the table now has, and how many of
    them are new; fresh[i] is the place in `keys` of the i-th new one.
    """
    new = 0
    end = np.uint64(len(slots) - 2)
    for t in range(first, last):
        fetch_soon(slots, (keys[min(t + AHEAD, last - 1)] >> shift) << ONE)
        h = keys[t]
        at = place_of(slots, shift, h)
        if slots[at] == ZERO:
            if used >= room or at >= end:
                return t, used, new
            slots[at], slots[at + ONE] = h, np.uint64(used) << HALF
            fresh[new] = t
            used += 1
            new += 1
        slots[at + ONE] += ONE
    return last, used, new


@text_kernel
def count_buckets(keys: Any, shift: Any, counts: Any) -> None:
    """Count keys by their top bits alone."""
    for t in range(len(keys)):
        counts[keys[t] >> shift] += 1


@text_kernel
def refill(slots: Any, larger: Any, shift: Any) -> bool:
    """Move a table into a larger one; False where the larger has no room either."""
    end = np.uint64(len(larger) - 2)
    for i in range(0, len(slots), 2):
        if slots[i] != ZERO:
            at = place_of(larger, shift, slots[i])
            if at >= end:
                return False
            larger[at], larger[at + ONE] = slots[i], slots[i + 1]
    return True


@text_kernel
def sort_table(slots: Any, keys: Any, numbers: Any) -> int:
    """The keys of a table in ascending order, and their numbers."""
    n = 0
    for i in range(0, len(slots), 2):
        h = slots[i]
        if h != ZERO:
            at = n
            while at > 0 and keys[at - 1] > h:
                keys[at], numbers[at] = keys[at - 1], numbers[at - 1]
                at -= 1
            keys[at], numbers[at] = h, slots[i + 1]
            n += 1
    return n


@text_kernel
def index_keys(keys: Any, numbers: Any, slots: Any, shift: Any) -> bool:
    """Fill a table with keys and their numbers; False where it has no room."""
    end = np.uint64(len(slots) - 2)
    for i in range(len(keys)):
        if keys[i] != ZERO:
            at = place_of(slots, shift, keys[i])
            if at >= end:
                return False
            slots[at], slots[at + ONE] = keys[i], numbers[i]
    return True


@text_kernel
def keep_texts(folded: Any, places: Any, blob: Any, end: int, stops: Any, first: int) -> int:
    """Append the texts at these places to a blob; stops[first + i] is where the i-th ends there."""
    for i in range(len(places)):
        start, length = int(places[i] >> HALF), int(places[i] & LOW)
        for k in range(length):
            blob[end + k] = folded[start + k]
        end += length
        stops[first + i] = end
    return end


@text_kernel
def differ(ties: Any, blob: Any, starts: Any, stops: Any) -> int:
    """The first of these pairs of pieces blob[start:stop] that are not the same bytes, or -1."""
    for t in range(len(ties)):
        i, j = np.int64(ties[t, 0]), np.int64(ties[t, 1])
        size = stops[i] - starts[i]
        if stops[j] - starts[j] != size:
            return t
        for k in range(size):
            if blob[starts[i] + k] != blob[starts[j] + k]:
                return t
    return -1


@text_kernel
def replace(keys: Any, places: Any, ends: Any, slots: Any, shift: Any) -> int:
    """Put other keys in place of some, by a table of (key, other key); where the other is 0 the token is left out."""
    n, t = 0, 0
    for d in range(len(ends)):
        while t < ends[d]:
            h = keys[t]
            at = place_of(slots, shift, h)
            other = slots[at + ONE] if slots[at] == h else h
            keys[n], places[n] = other, places[t]
            n += other != ZERO
            t += 1
        ends[d] = n
    return n


@text_kernel
def distinct(
    keys: Any, at: Any, ends: Any, once: Any, first: Any, times: Any, beyond: Any, seen: Any, shift: Any, stamp: Any
) -> int:
    """once[i] = the key of the i-th of the documents' different tokens, times[i] = how often it is there.

    first[i], where there is room for it, is where it first stands in `keys`.

    Document d has its tokens of each level l side by side: keys[at[l]:ends[l, d]], whence at[l] moves on; beyond[d] is
    how many different ones there are up to it. `seen` is a table of (key, document's stamp and token's number), with
    room for twice the longest document's tokens; a slot with another document's stamp is free, and is not cleared.
    """
    n, last = 0, np.uint64(len(seen) - 2)
    for d in range(ends.shape[1]):
        stamp += ONE
        for level in range(len(at)):
            for t in range(at[level], ends[level, d]):
                h = keys[t]
                slot = (h >> shift) << ONE
                while seen[slot + ONE] >> HALF == stamp and seen[slot] != h:
                    slot = slot + TWO if slot < last else ZERO
                if seen[slot + ONE] >> HALF == stamp:
                    times[seen[slot + ONE] & LOW] += 1
                else:
                    seen[slot], seen[slot + ONE] = h, (stamp << HALF) | np.uint64(n)
                    once[n], times[n] = h, 1
                    if n < len(first):
                        first[n] = t
                    n += 1
            at[level] = ends[level, d]
        beyond[d] = n
    return n
