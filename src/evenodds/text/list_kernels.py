"""Sorted lists of (key, number): their sum, what two of them share, finding keys by their top bits, sums of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.instructions import fetch_soon, text_kernel

ONE, TWO = np.uint64(1), np.uint64(2)  # a place that is unsigned is not looked at from the end
ROWS = 1 << 9
AHEAD = 16  # keys between asking for a slot and using it


@text_kernel
def merge(a: Any, x: Any, b: Any, y: Any, sign: int, lost: float, keys: Any, numbers: Any) -> int:
    """The sorted list of (key, x + sign · y) of two sorted lists, without those that come to 0.

    Of numbers that are not whole, 0 is all up to `lost` times the two. No branch depends on which key is smaller: that
    would be guessed wrong every other time.
    """
    i, j, n = 0, 0, 0
    while i < len(a) and j < len(b):
        p, q = a[i], b[j]
        from_a, from_b = p <= q, q <= p
        one, two = x[i] * from_a, y[j] * (from_b * sign)
        keys[n], numbers[n] = (p if from_a else q), one + two
        i += from_a
        j += from_b
        n += abs(one + two) > lost * (abs(one) + abs(two))
    for k in range(i, len(a)):
        keys[n], numbers[n] = a[k], x[k]
        n += x[k] != 0
    for k in range(j, len(b)):
        keys[n], numbers[n] = b[k], sign * y[k]
        n += y[k] != 0
    return n


@text_kernel
def unite(a: Any, x: Any, b: Any, y: Any, keys: Any, numbers: Any, ties: Any) -> tuple[int, int]:
    """The sorted list of the keys of two sorted lists; a key's number is the first list's where both have it.

    Returns how many there are, and how many in both: their two numbers are in `ties`.
    """
    i, j, n, both = 0, 0, 0, 0
    while i < len(a) and j < len(b):
        p, q = a[i], b[j]
        from_a, from_b = p <= q, q <= p
        keys[n], numbers[n] = (p if from_a else q), (x[i] if from_a else y[j])
        ties[both, 0], ties[both, 1] = x[i], y[j]
        both += from_a & from_b
        i += from_a
        j += from_b
        n += 1
    for k in range(i, len(a)):
        keys[n], numbers[n] = a[k], x[k]
        n += 1
    for k in range(j, len(b)):
        keys[n], numbers[n] = b[k], y[k]
        n += 1
    return n, both


@text_kernel
def among(keys: Any, others: Any) -> Any:
    """Which of these ascending keys are in another ascending list."""
    found, j = np.zeros(len(keys), np.bool_), 0
    for i in range(len(keys)):
        while j < len(others) and others[j] < keys[i]:
            j += 1
        found[i] = j < len(others) and others[j] == keys[i]
    return found


@text_kernel
def spread(keys: Any, own: Any, numbers: Any, at: Any, ends: Any, out: Any) -> None:
    """Write the numbers of ascending lists, end to end, into columns whose rows are the keys of them all.

    List c is own[at[c]:ends[c]]; at[c] moves on. A few rows are filled for all columns while they are in the caches.
    """
    for first in range(0, len(keys), ROWS):
        beyond = min(first + ROWS, len(keys))
        top = keys[beyond - 1]
        for c in range(len(ends)):
            row, i, end = first, at[c], ends[c]
            while i < end and own[i] <= top:
                while keys[row] != own[i]:
                    row += 1
                out[row, c] = numbers[i]
                i += 1
            at[c] = i


@text_kernel
def count_of(keys: Any, order: Any, own: Any, numbers: Any, spots: Any, counts: Any, group: int) -> None:
    """counts[order[i], group] = the number of keys[i] in an ascending list, and as much more in the last column.

    What both have is laid down first: no branch depends on which key is smaller. A step waits for the one before, so
    the two halves of the list are gone through in turns.
    """
    half, last = len(own) // 2, counts.shape[1] - 1
    middle = np.searchsorted(keys, own[half]) if half > 0 else 0
    i, j, n = 0, 0, 0
    x, y, m = middle, half, middle
    while i < middle and j < half and x < len(keys) and y < len(own):
        p, q, r, s = keys[i], own[j], keys[x], own[y]
        spots[n, 0], spots[n, 1], spots[m, 0], spots[m, 1] = i, j, x, y
        n += p == q
        i += p <= q
        j += q <= p
        m += r == s
        x += r <= s
        y += s <= r
    while i < middle and j < half:
        p, q = keys[i], own[j]
        spots[n, 0], spots[n, 1] = i, j
        n += p == q
        i += p <= q
        j += q <= p
    while x < len(keys) and y < len(own):
        r, s = keys[x], own[y]
        spots[m, 0], spots[m, 1] = x, y
        m += r == s
        x += r <= s
        y += s <= r
    for first, beyond in ((0, n), (middle, m)):
        for k in range(first, beyond):
            row, number = order[spots[k, 0]], numbers[spots[k, 1]]
            counts[row, group] = number
            counts[row, last] += number


@text_kernel
def first_rows(keys: Any, shift: Any, starts: Any) -> None:
    """starts[b] is the first of the ascending keys whose top bits are b or more."""
    row = 0
    for b in range(len(starts)):
        while row < len(keys) and keys[row] >> shift < np.uint64(b):
            row += 1
        starts[b] = row


@text_kernel
def find(keys: Any, starts: Any, shift: Any, known: Any, numbers: Any, rows: Any) -> int:
    """rows[t] = the number of keys[t], if it is among the ascending known ones, else -1; how many have a number.

    They are numbered as they appear, so that what is kept of them lies as it is asked for: numbers[i] is that of
    known[i], and -1 before.
    """
    n, many, last = 0, len(keys), len(known)
    for t in range(many):
        fetch_soon(starts, keys[min(t + 2 * AHEAD, many - 1)] >> shift)
        soon = starts[keys[min(t + AHEAD, many - 1)] >> shift]
        fetch_soon(known, soon)
        fetch_soon(numbers, soon)
        h = keys[t]
        at = np.int64(starts[h >> shift])
        while at < last and known[at] < h:
            at += 1
        if at == last or known[at] != h:
            rows[t] = -1
            continue
        number = numbers[at]
        new = number < 0
        number = n if new else number
        numbers[at] = rows[t] = number
        n += new
    return n


@text_kernel
def numbered(known: Any, numbers: Any, keys: Any, order: Any) -> None:
    """The known keys that have a number, in ascending order, and those numbers; there is room for one more."""
    n = 0
    for i in range(len(known)):  # no branch depends on which have one
        keys[n], order[n] = known[i], numbers[i]
        n += numbers[i] >= 0


@text_kernel
def add_weights(keys: Any, ends: Any, starts: Any, shift: Any, rows: Any, sums: Any, known: Any, tokens: Any) -> None:
    """sums[d] += the weights of document d's tokens, one after the other; tokens[d] += how many it has.

    known[d] += how many of them have weights. `rows` are a key and its weights, one after the other in the order of
    the keys, and at the end one with the largest key there is; starts[b] is the first whose top bits are b or more. A
    key and its weights lie side by side, and a word that is asked for often is one line of the machine's memory.
    """
    t, many, classes = 0, len(keys), sums.shape[1]
    wide = np.uint64(classes + 1)  # places are unsigned, or each would be asked whether it counts from the end
    last, weights = np.uint64(len(rows)) - wide, rows.view(np.float64)
    for d in range(len(ends)):
        tokens[d] += ends[d] - t
        one, two, found = 0.0, 0.0, 0
        if classes == 2:  # the two sums stay in registers
            one, two = sums[d, 0], sums[d, 1]
        while t < ends[d]:
            fetch_soon(starts, keys[min(t + 2 * AHEAD, many - 1)] >> shift)
            fetch_soon(rows, np.uint64(starts[keys[min(t + AHEAD, many - 1)] >> shift]) * wide)
            h = keys[t]
            at = np.uint64(starts[h >> shift]) * wide
            t += 1
            while rows[at] < h:
                at += wide
            if rows[at] != h or at == last:
                continue
            found += 1
            if classes == 2:
                one += weights[at + ONE]
                two += weights[at + TWO]
            else:
                for c in range(classes):
                    sums[d, c] += weights[at + ONE + np.uint64(c)]
        known[d] += found
        if classes == 2:
            sums[d, 0], sums[d, 1] = one, two


@text_kernel
def add_bucket_weights(keys: Any, ends: Any, shift: Any, rows: Any, sums: Any, known: Any, tokens: Any) -> None:
    """The same of buckets, which are the top bits of keys: `rows` are the weights of all of them, one after the other.

    The first weight of a bucket that is not known is no number.
    """
    t, many, classes = 0, len(keys), sums.shape[1]
    wide = np.uint64(classes)
    for d in range(len(ends)):
        tokens[d] += ends[d] - t
        one, two, found = 0.0, 0.0, 0
        if classes == 2:
            one, two = sums[d, 0], sums[d, 1]
        while t < ends[d]:
            fetch_soon(rows, (keys[min(t + AHEAD, many - 1)] >> shift) * wide)
            at = (keys[t] >> shift) * wide
            t += 1
            if np.isnan(rows[at]):
                continue
            found += 1
            if classes == 2:
                one += rows[at]
                two += rows[at + ONE]
            else:
                for c in range(classes):
                    sums[d, c] += rows[at + np.uint64(c)]
        known[d] += found
        if classes == 2:
            sums[d, 0], sums[d, 1] = one, two
