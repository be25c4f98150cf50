"""One pass over numbers: counts, double-double sums and a histogram on the floats' own grid, per group.

The running sums are Neumaier's: each addition's rounding error is kept in a second double, so that a value of 1e12 can
be forgotten again. A histogram bin is a float's sign, exponent and first 7 bits of mantissa.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.kernel import bits, kernel, product_error

RUN = 512  # values that stay in the nearest cache
SIGN, MANTISSAS = 2048, 128  # of the first 12 bits, and the number of bins they share
BELOW_ZERO = np.uint64(SIGN * MANTISSAS)  # the bin of -0.0


@kernel
def sum_rows(x: Any, groups: Any, n: Any, sums: Any) -> None:
    """Moments of a row-major block: n[g, j] += 1; sums[g, :, j] += (x, its error, x², its error).

    The columns of the block are independent, so the machine adds many at once.
    """
    rows, k = x.shape
    for i in range(rows):
        g = groups[i]
        for j in range(k):
            v = x[i, j]
            known = v == v
            n[g, j] += known
            v = v if known else 0.0
            square = v * v
            s = sums[g, 0, j]
            t = s + v
            b = t - s
            sums[g, 0, j] = t
            sums[g, 1, j] += (s - (t - b)) + (v - b)
            s = sums[g, 2, j]
            t = s + square
            b = t - s
            sums[g, 2, j] = t
            sums[g, 3, j] += ((s - (t - b)) + (square - b)) + product_error(v, v, square)


@kernel
def count_codes(codes: Any, groups: Any, n_groups: int, tables: Any) -> None:
    """tables[lane, (code + 1) · n_groups + group] += 1; code -1 is null.

    There are eight lanes, so that a row need not wait for the one before it to be written.
    """
    whole = len(codes) - len(codes) % 8
    for start in range(0, whole, 8):
        for lane in range(8):
            i = start + lane
            tables[lane, np.uint64((np.int64(codes[i]) + 1) * n_groups + groups[i])] += 1
    for i in range(whole, len(codes)):
        tables[0, np.uint64((np.int64(codes[i]) + 1) * n_groups + groups[i])] += 1


@kernel
def count_pairs(a: Any, b: Any, groups: Any, n_b: int, n_groups: int, tables: Any) -> None:
    """tables[lane, ((a + 1) · n_b + b + 1) · n_groups + group] += 1: two columns at once, to be told apart later."""
    whole = len(a) - len(a) % 8
    for start in range(0, whole, 8):
        for lane in range(8):
            i = start + lane
            cell = ((np.int64(a[i]) + 1) * n_b + np.int64(b[i]) + 1) * n_groups + groups[i]
            tables[lane, np.uint64(cell)] += 1
    for i in range(whole, len(a)):
        tables[0, np.uint64(((np.int64(a[i]) + 1) * n_b + np.int64(b[i]) + 1) * n_groups + groups[i])] += 1


@kernel
def places(groups: Any, free: Any, place: Any) -> None:
    """place[i] = the next free place of row i's group."""
    for i in range(len(groups)):
        g = groups[i]
        place[i] = free[g]
        free[g] += 1


@kernel
def deal(x: Any, place: Any, dealt: Any) -> None:
    """dealt[place[i]] = x[i]."""
    for i in range(len(x)):
        dealt[place[i]] = x[i]


@kernel
def count_bins(x: Any, groups: Any, origin: float, counts: Any, seen: Any) -> None:
    """The histogram of x - origin, of a block whose rows each belong to one group: counts[group, bin] += 1.

    A bin is the float's first 19 bits, and seen[its first 12] is set: all but a few of the 4096 runs of 128 bins stay
    as empty as they were, and no memory is spent on them. What is just below zero is in the bin of zero.
    """
    zero, seven, shift = np.uint64(0), np.uint64(7), np.uint64(45)
    for r in range(x.shape[0]):
        g = groups[r]
        for i in range(x.shape[1]):
            v = x[r, i]
            if v == v:
                top = np.uint64(bits((v - origin) + 0.0)) >> shift
                top = zero if top == BELOW_ZERO else top
                seen[top >> seven] = 1
                counts[g, top] += 1


@kernel
def take_bins(counts: Any, exponents: Any, keys: Any, numbers: Any) -> int:
    """The bins that count something, of these exponents, which are in the order of their values; they are 0 afterwards.

    numbers[k, g] is the count of bin keys[k] in group g; returns how many there are.
    """
    used = 0
    for e in range(len(exponents)):
        negative = exponents[e] >= SIGN
        magnitude = (exponents[e] & (SIGN - 1)) * MANTISSAS
        for i in range(MANTISSAS):
            m = MANTISSAS - 1 - i if negative else i
            found, bin_ = 0, exponents[e] * MANTISSAS + m
            for g in range(len(counts)):
                numbers[used, g] = counts[g, bin_]
                found |= counts[g, bin_]
                counts[g, bin_] = 0
            keys[used] = -(magnitude + m) if negative else magnitude + m
            used += found != 0
    return used


@kernel
def add_gaussian(x: Any, mean: Any, scale: Any, constant: Any, total: Any) -> None:
    """total[g, i] += constant_g - scale_g · (x_i - mean_g)²."""
    for g in range(len(mean)):
        for i in range(len(x)):
            d = x[i] - mean[g]
            total[g, i] += constant[g] - scale[g] * (d * d)


@kernel
def add_binned(x: Any, cuts: Any, table: Any, total: Any) -> None:
    """total[g, i] += table[g, b], b the number of cuts at or below x_i; the table's last column is for the missing."""
    codes = np.empty(RUN, np.int64)
    for start in range(0, len(x), RUN):
        values = x[start : start + RUN]
        n = len(values)
        for i in range(n):
            codes[i] = 0 if values[i] == values[i] else table.shape[1] - 1
        for j in range(len(cuts)):
            cut = cuts[j]
            for i in range(n):
                codes[i] += 1 if values[i] >= cut else 0
        for g in range(table.shape[0]):
            row, out = table[g], total[g, start : start + n]
            for i in range(n):
                out[i] += row[codes[i]]


@kernel
def sum_weighted(
    x: Any, groups: Any, weights: Any, n: Any, sums: Any, origin: float, page: Any, pool: Any, at: Any
) -> bool:
    """Moments of one column, and its histogram if there are pages, with a weight per row.

    n[g, :] and pool[p, g, 2·bin:2·bin+2] are double-doubles as the sums[g, :] are; pages of 128 bins are made as
    exponents turn up. `at` holds the row to begin with and the number of pages used. Where the pool is full they are
    kept there and False is returned: come back with a larger one.
    """
    zero, low, seven, shift = np.uint64(0), np.uint64(127), np.uint64(7), np.uint64(45)
    used = at[1]
    for i in range(at[0], len(x)):
        v = x[i]
        w = weights[i]
        if v != v or w == 0.0:
            continue
        g = groups[i]
        if len(page) > 0:
            top = np.uint64(bits((v - origin) + 0.0)) >> shift
            top = zero if top == BELOW_ZERO else top
            p = page[top >> seven]
            if p < 0:
                if used == pool.shape[0]:
                    at[0], at[1] = i, used
                    return False
                p = used
                page[top >> seven] = p
                used += 1
            m = np.int64(top & low)
            s = pool[p, g, 2 * m]
            t = s + w
            b = t - s
            pool[p, g, 2 * m] = t
            pool[p, g, 2 * m + 1] += (s - (t - b)) + (w - b)
        s = n[g, 0]
        t = s + w
        b = t - s
        n[g, 0] = t
        n[g, 1] += (s - (t - b)) + (w - b)
        first = w * v
        e = product_error(w, v, first)
        s = sums[g, 0]
        t = s + first
        b = t - s
        sums[g, 0] = t
        sums[g, 1] += ((s - (t - b)) + (first - b)) + e
        second = first * v
        e = product_error(first, v, second) + e * v
        s = sums[g, 2]
        t = s + second
        b = t - s
        sums[g, 2] = t
        sums[g, 3] += ((s - (t - b)) + (second - b)) + e
    at[1] = used
    return True
