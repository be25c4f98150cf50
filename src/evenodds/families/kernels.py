"""One pass over numbers: counts, double-double sums and a histogram on the floats' own grid, per group.

Of a running sum each addition's rounding error is kept in a second double (Neumaier), so that a value of 1e12 can be
forgotten again. Where what is added has an error itself, as a square has, the two are brought back into order at every
step: else the second would be rounded too, and the same value many times over seem to be spread. A histogram bin is a
float's sign, exponent and first 7 bits of mantissa.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.kernel import bits, kernel, product_error

RUN, CELLS = 512, 256  # values that stay in the nearest cache, and cells of tables that do beside them
SIGN, MANTISSAS = 2048, 128  # of the first 12 bits, and the number of bins they share
ZERO, BELOW_ZERO = np.uint64(0), np.uint64(SIGN * MANTISSAS)  # the bins of 0.0 and of -0.0


@kernel
def count_codes(codes: Any, groups: Any, n_groups: int, tables: Any) -> None:
    """tables[lane, (code + 1) · n_groups + group] += 1; code -1 is null.

    The cells of a run are found many at a time; then there are eight lanes, so that a row need not wait for the one
    before it to be written.
    """
    cells, one, times = np.empty(CELLS, np.uint32), np.int32(1), np.int32(n_groups)
    for start in range(0, len(codes), CELLS):
        a, g = codes[start : start + CELLS], groups[start : start + CELLS]
        for i in range(len(a)):
            cells[i] = np.uint32((np.int32(a[i]) + one) * times + np.int32(g[i]))
        whole = len(a) - len(a) % 8
        for first in range(0, whole, 8):
            for lane in range(8):
                tables[lane, cells[first + lane]] += 1
        for i in range(whole, len(a)):
            tables[0, cells[i]] += 1


@kernel
def count_pairs(a: Any, b: Any, groups: Any, n_b: int, n_groups: int, tables: Any) -> None:
    """tables[lane, ((a + 1) · n_b + b + 1) · n_groups + group] += 1: two columns at once, to be told apart later."""
    cells, one, wide, times = np.empty(CELLS, np.uint32), np.int32(1), np.int32(n_b), np.int32(n_groups)
    for start in range(0, len(a), CELLS):
        x, z, g = a[start : start + CELLS], b[start : start + CELLS], groups[start : start + CELLS]
        for i in range(len(x)):
            cells[i] = np.uint32(((np.int32(x[i]) + one) * wide + np.int32(z[i]) + one) * times + np.int32(g[i]))
        whole = len(x) - len(x) % 8
        for first in range(0, whole, 8):
            for lane in range(8):
                tables[lane, cells[first + lane]] += 1
        for i in range(whole, len(x)):
            tables[0, cells[i]] += 1


@kernel
def places(groups: Any, free: Any, place: Any) -> None:
    """place[i] = the next free place of row i's group."""
    for i in range(len(groups)):
        g = groups[i]
        place[i] = free[g]
        free[g] += 1


@kernel
def tally_columns(
    x: Any, place: Any, groups: Any, gaps: Any, ends: Any, dealt: Any, origins: Any, counts: Any, n: Any, sums: Any
) -> Any:
    """Moments and histograms of columns x (columns, rows), a run of rows at a time; bins of no origins are not counted.

    Run r is the rows ends[0, r] to ends[0, r + 1]. Its values are dealt out, value i to place[i], so that each row of
    `dealt` has 32 values of one group (from groups[ends[1, r]] on); the places from gaps[ends[2, r]] on stay empty.
    32 sums run side by side: n[j, g, lane] += 1; sums[j, g, :, lane] += (x, its error, x², its error).

    A bin of the histogram of x - origin is the float's first 19 bits; all but a few of the 4096 runs of 128 bins stay
    empty in counts[g, bin], and no memory is spent on them. What is just below zero is in the bin of zero.
    Returns the keys of the bins that count something, in the order of their values, their counts (bins, groups), and
    where each column's end; `counts` is 0 as it was.
    """
    seven, shift, lanes = np.uint64(7), np.uint64(45), dealt.shape[1]
    columns, n_groups, flat, binned = x.shape[0], counts.shape[0], dealt.reshape(dealt.size), len(origins) > 0
    seen = np.zeros(2 * SIGN, np.uint8)
    keys, numbers = np.empty(16 * MANTISSAS, np.int32), np.empty((16 * MANTISSAS, n_groups), np.int64)
    stops, used = np.zeros(columns, np.int64), 0
    for j in range(columns):
        for r in range(ends.shape[1] - 1):
            for i in range(ends[2, r], ends[2, r + 1]):
                flat[gaps[i]] = np.nan
            values, own = x[j, ends[0, r] : ends[0, r + 1]], place[ends[0, r] : ends[0, r + 1]]
            for i in range(len(values)):
                flat[own[i]] = values[i]
            mine = groups[ends[1, r] : ends[1, r + 1]]
            for i in range(len(mine)):
                g, row = mine[i], dealt[i]
                count, first, error, second, error2 = (
                    n[j, g],
                    sums[j, g, 0],
                    sums[j, g, 1],
                    sums[j, g, 2],
                    sums[j, g, 3],
                )
                for lane in range(lanes):
                    v = row[lane]
                    known = v == v
                    count[lane] += known
                    v = v if known else 0.0
                    square = v * v
                    s = first[lane]
                    t = s + v
                    b = t - s
                    first[lane] = t
                    error[lane] += (s - (t - b)) + (v - b)
                    s = second[lane]
                    t = s + square
                    b = t - s
                    e = error2[lane] + (((s - (t - b)) + (square - b)) + product_error(v, v, square))
                    second[lane] = s = t + e
                    error2[lane] = e - (s - t)
            if binned:
                origin = origins[j]
                for i in range(len(mine)):
                    row, bins = dealt[i], counts[mine[i]]
                    for lane in range(lanes):
                        v = row[lane]
                        if v == v:
                            top = np.uint64(bits((v - origin) + 0.0)) >> shift
                            top = ZERO if top == BELOW_ZERO else top
                            seen[top >> seven] = 1
                            bins[top] += 1
        for e in range(2 * SIGN if binned else 0):
            exponent = 2 * SIGN - 1 - e if e < SIGN else e - SIGN  # in the order of the values
            if seen[exponent] == 0:
                continue
            seen[exponent] = 0
            if used + MANTISSAS > len(keys):
                more_keys, more = np.empty(2 * len(keys), np.int32), np.empty((2 * len(keys), n_groups), np.int64)
                more_keys[:used], more[:used] = keys[:used], numbers[:used]
                keys, numbers = more_keys, more
            for i in range(MANTISSAS):
                m = MANTISSAS - 1 - i if e < SIGN else i
                found = 0
                for g in range(n_groups):
                    here = counts[g, exponent * MANTISSAS + m]
                    numbers[used, g] = here
                    found |= here
                    counts[g, exponent * MANTISSAS + m] = 0
                magnitude = (exponent & (SIGN - 1)) * MANTISSAS + m
                keys[used] = -magnitude if e < SIGN else magnitude
                used += found != 0
        stops[j] = used
    return keys[:used], numbers[:used], stops


@kernel
def add_gaussian(x: Any, mean: Any, scale: Any, constant: Any, total: Any) -> None:
    """total[g, i] += constant_g - scale_g · (x_i - mean_g)²."""
    for g in range(len(mean)):
        for i in range(len(x)):
            d = x[i] - mean[g]
            total[g, i] += constant[g] - scale[g] * (d * d)


@kernel
def add_binned(x: Any, edges: Any, table: Any, total: Any) -> bool:
    """total[g, i] += table[g, b], b the number of inner edges at or below x_i; the table's last column is for the
    missing. Says whether a value lies beyond the outer edges.
    """
    low, high, last, beyond = edges[0], edges[-1], len(edges) - 1, False
    codes = np.empty(RUN, np.int64)
    for start in range(0, len(x), RUN):
        values = x[start : start + RUN]
        n = len(values)
        for i in range(n):
            codes[i] = 0 if values[i] == values[i] else table.shape[1] - 1
            beyond |= (values[i] < low) | (values[i] > high)
        for j in range(1, last, 4):  # four edges a round: codes are fetched and kept less often
            a = edges[j]
            b = edges[j + 1] if j + 1 < last else np.nan  # nothing lies above what is none
            c = edges[j + 2] if j + 2 < last else np.nan
            d = edges[j + 3] if j + 3 < last else np.nan
            for i in range(n):
                v = values[i]
                codes[i] += (1 if v >= a else 0) + (1 if v >= b else 0) + (1 if v >= c else 0) + (1 if v >= d else 0)
        for g in range(table.shape[0]):
            row, out = table[g], total[g, start : start + n]
            for i in range(n):
                out[i] += row[codes[i]]
    return beyond


@kernel
def sum_weighted(
    x: Any, groups: Any, weights: Any, n: Any, sums: Any, origin: float, page: Any, pool: Any, at: Any
) -> bool:
    """Moments of one column, and its histogram if there are pages, with a weight per row.

    n[g, :] and pool[p, g, 2·bin:2·bin+2] are double-doubles as the sums[g, :] are; pages of 128 bins are made as
    exponents turn up. `at` holds the row to begin with and the number of pages used. Where the pool is full they are
    kept there and False is returned: come back with a larger one.
    """
    low, seven, shift = np.uint64(127), np.uint64(7), np.uint64(45)
    used = at[1]
    for i in range(at[0], len(x)):
        v = x[i]
        w = weights[i]
        if v != v or w == 0.0:
            continue
        g = groups[i]
        if len(page) > 0:
            top = np.uint64(bits((v - origin) + 0.0)) >> shift
            top = ZERO if top == BELOW_ZERO else top
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
        second = first * v
        e2 = product_error(first, v, second) + e * v
        s = sums[g, 0]
        t = s + first
        b = t - s
        e += sums[g, 1] + ((s - (t - b)) + (first - b))
        sums[g, 0] = s = t + e
        sums[g, 1] = e - (s - t)
        s = sums[g, 2]
        t = s + second
        b = t - s
        e2 += sums[g, 3] + ((s - (t - b)) + (second - b))
        sums[g, 2] = s = t + e2
        sums[g, 3] = e2 - (s - t)
    at[1] = used
    return True


@kernel
def equal_masses(keys: Any, mass: Any, bins: int) -> Any:
    """Where each of so many bins begins among the histogram's: each takes its part of the mass that is left.

    Zero stands alone if it has half a bin's mass.
    """
    cumulative = np.concatenate((np.zeros(1), np.cumsum(mass)))
    total, at, found = cumulative[-1], 0, 1
    starts = np.zeros(min(bins, len(keys)), np.int64)
    zero = np.searchsorted(keys, 0)
    lump = zero < len(keys) and keys[zero] == 0 and mass[zero] * 2 * bins >= total
    for left in range(bins, 1, -1):
        goal = cumulative[at] + (total - cumulative[at]) / left
        stop = np.searchsorted(cumulative, goal)
        if stop > at + 1 and goal - cumulative[stop - 1] < cumulative[stop] - goal:
            stop -= 1
        stop = max(stop, at + 1)
        if lump and at <= zero < stop:
            stop = zero if at < zero else zero + 1
        if stop >= len(keys):
            break
        starts[found] = at = stop
        found += 1
    return starts[:found]
