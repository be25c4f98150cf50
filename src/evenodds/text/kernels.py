"""From bytes to the keys of words, pairs and runs of characters: the compiled twin of `tokenise.py`.

A batch of documents goes through small steps, each one loop over arrays that stay in the near caches: `fold` writes the
documents in lower case and one bit for every byte, set where the byte belongs to a word; `cut` finds the runs of such
bits and hashes them; `seal`, `pair` and `spell` (and `table_kernels.replace` and `distinct`, which look keys up) turn
lists of keys into others. A list of tokens is `keys`, with `ends[d]` the place after document d's last one, and beside
each key `places`: where its text is in the folded bytes (start · 2^32 + length), or for an n-gram its prefix's key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.instructions import (
    WIDE,
    bits_set,
    fold_ascii,
    load_eight,
    not_ascii,
    shared,
    text_kernel,
    trailing_zeros,
)
from evenodds.label_kernels import HALF, MIX, STEP

ALL, ONE, TWO, ZERO = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(1), np.uint64(2), np.uint64(0)
SIGNS = np.uint64(0x8080808080808080)
SPACE, MARKED = np.uint8(32), np.uint8(1)
KIND, MANY, POINT = 21, 1 << 23, (1 << 21) - 1  # a folded code point: its kind above it, or a list's place in the pool
UNREADABLE = 0xFFFD
SLACK = 2 * WIDE  # bytes that may be written or read beyond the last one
EDGES = 24  # edges of words written per 64 bytes without asking how many there are
LENGTH, BEYOND = np.uint64(0xFFFFFFFF), np.uint32(0xFFFFFFFF)


@shared
def decode(blob: Any, i: int, stop: int) -> tuple[int, int]:
    """The code point at i and where the next begins; � for each longest piece that is no UTF-8 (Unicode 3.9)."""
    lead = int(blob[i])
    i += 1
    if lead < 0x80:
        return lead, i
    if lead < 0xC2 or lead > 0xF4:
        return UNREADABLE, i
    low, high = 0x80, 0xBF
    if lead < 0xE0:
        point, more = lead & 0x1F, 1
    elif lead < 0xF0:
        point, more = lead & 0x0F, 2
        low = 0xA0 if lead == 0xE0 else low
        high = 0x9F if lead == 0xED else high
    else:
        point, more = lead & 0x07, 3
        low = 0x90 if lead == 0xF0 else low
        high = 0x8F if lead == 0xF4 else high
    for _ in range(more):
        if i >= stop or blob[i] < low or blob[i] > high:
            return UNREADABLE, i
        point = (point << 6) | (int(blob[i]) & 0x3F)
        low, high = 0x80, 0xBF
        i += 1
    return point, i


@shared
def put(byte: int, word: int, out: Any, bits: Any, j: int) -> int:
    """Write one byte and its bit; the next place."""
    out[j] = byte
    bits[j >> 6] |= np.uint64(word) << np.uint64(j & 63)
    j += 1
    if j & 63 == 0:
        bits[j >> 6] = ZERO
    return j


@shared
def put_point(entry: int, marks: int, out: Any, bits: Any, j: int) -> int:
    """Write one folded code point: as UTF-8 where it is of a word or a mark to be kept, else a space."""
    kind, point = (entry >> KIND) & 3, entry & POINT
    if kind == 0 or (kind == 3 and not marks):
        return put(SPACE, 0, out, bits, j)
    if kind == 3:
        j = put(MARKED, 0, out, bits, put(SPACE, 0, out, bits, j))
    if point < 0x80:
        j = put(point, 1, out, bits, j)
    elif point < 0x800:
        j = put(0xC0 | (point >> 6), 1, out, bits, j)
        j = put(0x80 | (point & 0x3F), 1, out, bits, j)
    else:
        if point < 0x10000:
            j = put(0xE0 | (point >> 12), 1, out, bits, j)
        else:
            j = put(0xF0 | (point >> 18), 1, out, bits, j)
            j = put(0x80 | ((point >> 12) & 0x3F), 1, out, bits, j)
        j = put(0x80 | ((point >> 6) & 0x3F), 1, out, bits, j)
        j = put(0x80 | (point & 0x3F), 1, out, bits, j)
    return put(SPACE, 0, out, bits, j) if kind == 3 else j


@shared
def fold(
    blob: Any,
    starts: Any,
    stops: Any,
    table: Any,
    pool: Any,
    case: int,
    zero: int,
    marks: int,
    out: Any,
    bits: Any,
    ends: Any,
) -> int:
    """Write the documents blob[start:stop] folded, a space between them, and a bit for every byte of a word.

    ASCII is folded 64 bytes at a time, all else by the table of code points (`Folding`); with marks, everything.
    Returns where the writing ended; ends[d] is where document d did.
    """
    tail = np.zeros(WIDE, np.uint8)
    bits[0] = ZERO
    j = put(SPACE, 0, out, bits, 0)
    for d in range(len(starts)):
        i, stop = starts[d], stops[d]
        while i < stop:
            if not marks:
                if i + WIDE <= len(blob):
                    high = not_ascii(blob, i)
                    word = fold_ascii(blob, i, out, j, case, zero)
                else:  # the last bytes there are: nothing may be read beyond them
                    tail[: stop - i] = blob[i:stop]
                    high = not_ascii(tail, 0)
                    word = fold_ascii(tail, 0, out, j, case, zero)
                n = min(stop - i, trailing_zeros(high))
                if n < WIDE:
                    word &= (ONE << np.uint64(n)) - ONE
                bits[j >> 6] |= word << np.uint64(j & 63)
                bits[(j >> 6) + 1] = (word >> ONE) >> np.uint64(63 - (j & 63))
                j += n
                i += n
            while i < stop and (marks or blob[i] >= 0x80):
                point, i = decode(blob, i, stop)
                entry = int(table[point])
                if entry < MANY:
                    j = put_point(entry, marks, out, bits, j)
                else:
                    first = (entry & POINT) + 1
                    for part in range(first, first + int(pool[first - 1])):
                        j = put_point(int(pool[part]), marks, out, bits, j)
        j = put(SPACE, 0, out, bits, j)
        ends[d] = j
    return j


@shared
def finish(h: Any, length: Any) -> Any:
    """The last steps of `keys.key`."""
    h = (h ^ np.uint64(length)) * MIX
    h = (h ^ (h >> HALF)) * MIX
    return h ^ (h >> HALF)


@shared
def first_bytes(word: Any, many: Any) -> Any:
    """The first so many of eight bytes, at least one."""
    return word & (ALL >> np.uint64(64 - 8 * min(many, 8)))


@shared
def hash_from(h: Any, out: Any, start: Any, stop: Any) -> Any:
    """Go on with the hash of `keys.key`, from a multiple of eight bytes on; the last steps are still to do."""
    for i in range(start, stop, 8):
        h = (h ^ first_bytes(load_eight(out, i), stop - i)) * STEP
        h ^= h >> HALF
    return h


@shared
def cut(
    bits: Any,
    out: Any,
    size: int,
    doc_ends: Any,
    min_length: int,
    marks: int,
    edges: Any,
    keys: Any,
    places: Any,
    ends: Any,
) -> int:
    """The words of the folded bytes: their keys, places, and how many there are up to each document's end."""
    many, carry = 0, ZERO
    for block in range((size >> 6) + 1):
        here = bits[block]
        edge = here ^ ((here << ONE) | carry)
        carry = here >> np.uint64(63)
        found, base = bits_set(edge), block << 6
        # most often there are fewer than 24 edges: writing them all takes no branch that could be guessed wrong
        for k in range(EDGES):
            edges[many + k] = base + trailing_zeros(edge)
            edge &= edge - ONE
        for k in range(EDGES, found):
            edges[many + k] = base + trailing_zeros(edge)
            edge &= edge - ONE
        many += found
    edges[many] = BEYOND
    n, t = ZERO, ZERO  # unsigned: a place is not looked at from the end
    for d in range(len(doc_ends)):
        end = doc_ends[d]
        while edges[t] < end:
            start, stop = np.int64(edges[t]), np.int64(edges[t + ONE])
            t += TWO
            length = stop - start
            word = first_bytes(load_eight(out, start), length)
            h = word * STEP
            h ^= h >> HALF
            if length > 8:
                h = hash_from(h, out, start + 8, stop)
            # a byte 10xxxxxx goes on with a character begun before it
            characters = length - bits_set(word & ~(word << ONE) & SIGNS)
            if min_length > 2 and length > 8:
                for i in range(start + 8, stop):
                    characters -= (out[i] & 0xC0) == 0x80
            h = finish(h, length)
            keys[n] = h
            places[n] = (np.uint64(start) << HALF) | np.uint64(length)
            kept = (characters >= min_length) | ((marks != 0) & (out[start - 1] == MARKED))
            n += np.uint64(kept & (h != ZERO))
        ends[d] = n
    return int(n)


@text_kernel
def words(
    blob: Any,
    starts: Any,
    stops: Any,
    table: Any,
    pool: Any,
    case: int,
    zero: int,
    marks: int,
    min_length: int,
    out: Any,
    bits: Any,
    doc_ends: Any,
    edges: Any,
    keys: Any,
    places: Any,
    ends: Any,
) -> int:
    """`fold`, then `cut`, in one call: to be called takes longer than a short message does."""
    size = fold(blob, starts, stops, table, pool, case, zero, marks, out, bits, doc_ends)
    return cut(bits, out, size, doc_ends, min_length, marks, edges, keys, places, ends)


@text_kernel
def seal(keys: Any, places: Any, ends: Any, seed: Any) -> int:
    """Mix every key with a secret, as `keys.sealed`; the one that becomes 0 is no key."""
    n, t = 0, 0
    other = (seed << HALF) | (seed >> HALF)
    for d in range(len(ends)):
        while t < ends[d]:
            h = (keys[t] ^ seed) * STEP
            h = ((h ^ (h >> HALF)) ^ other) * MIX
            h = ((h ^ (h >> HALF)) ^ seed) * STEP
            h ^= h >> HALF
            keys[n], places[n] = h, places[t]
            n += h != ZERO
            t += 1
        ends[d] = n
    return n


@text_kernel
def pair(keys: Any, ends: Any, words: Any, word_ends: Any, out: Any, prefixes: Any, out_ends: Any) -> int:
    """Runs of one word more: each of these n-grams joined to the word that follows it in its document."""
    n, start, word_start = 0, 0, 0
    for d in range(len(ends)):
        many = max(ends[d] - start - 1, 0)
        # an n-gram at place i is followed by the word at place i + its length
        length = (word_ends[d] - word_start) - (ends[d] - start) + 1
        before, after = keys[start : start + many], words[word_start + length : word_start + length + many]
        joined, prefix = out[n : n + many], prefixes[n : n + many]
        for i in range(many):
            h = before[i] * STEP
            joined[i] = (h ^ (h >> HALF)) + after[i]
            prefix[i] = before[i]
        n += many
        start, word_start = ends[d], word_ends[d]
        out_ends[d] = n
    return n


@text_kernel
def spell(
    folded: Any,
    places: Any,
    ends: Any,
    shortest: int,
    longest: int,
    text: Any,
    points: Any,
    out: Any,
    spots: Any,
    out_ends: Any,
) -> int:
    """Runs of characters of the words of each document, set apart by single spaces: the short ones first.

    `text` receives the spaced words, `points` where their characters begin.
    """
    n, t, size = 0, 0, 0
    for d in range(len(ends)):
        first = size
        if t < ends[d]:
            text[size] = SPACE
            size += 1
        while t < ends[d]:
            start, length = np.int64(places[t] >> HALF), np.int64(places[t] & LENGTH)
            for i in range(start, start + length):
                text[size] = folded[i]
                size += 1
            text[size] = SPACE
            size += 1
            t += 1
        many = 0
        for i in range(first, size):
            points[many] = i
            many += (text[i] & 0xC0) != 0x80
        points[many] = size
        for k in range(shortest, longest + 1):
            for i in range(many - k + 1):
                start, stop = np.int64(points[i]), np.int64(points[i + k])
                h = finish(hash_from(ZERO, text, start, stop), stop - start)
                out[n] = h
                spots[n] = (np.uint64(start) << HALF) | np.uint64(stop - start)
                n += h != ZERO
        out_ends[d] = n
    return n
