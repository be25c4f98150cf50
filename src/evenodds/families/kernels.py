"""One pass over numbers: counts, double-double sums and a histogram on the floats' own grid, per group.

The running sums are Neumaier's: each addition's rounding error is kept in a second double, so that a value of 1e12 can
be forgotten again. A histogram bin is a float's sign, exponent and first 7 bits of mantissa; one page of 128 bins is
made for each exponent that occurs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.kernel import bits, kernel, product_error

CHUNK = 2048  # rows that stay in the cache while every column of a row-major block is read


@kernel
def sum_rows(x: Any, groups: Any, n: Any, sums: Any) -> None:
    """Moments of a row-major block: n[g, j] += 1; sums[g, :, j] += (x, its error, x², its error)."""
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
def sum_columns(x: Any, groups: Any, n: Any, sums: Any, origins: Any, page: Any, pool: Any, at: Any) -> bool:
    """The same column by column, in the form sums[j, g, :]; with pages to count in, a histogram of x - origin too.

    `at` holds the place to begin (row, column, row within the chunk) and the number of pages used. Where the pool is
    full the place is kept there and False is returned: come back with a larger one.
    """
    rows, k = x.shape
    binned = page.shape[0] > 0
    low, seven, shift = np.uint64(127), np.uint64(7), np.uint64(45)
    used = at[3]
    for start in range(at[0], rows, CHUNK):
        stop = min(start + CHUNK, rows)
        for j in range(at[1], k):
            for i in range(max(start, at[2]), stop):
                v = x[i, j]
                if v != v:
                    continue
                g = groups[i]
                if binned:
                    top = np.uint64(bits((v - origins[j]) + 0.0)) >> shift
                    p = page[j, top >> seven]
                    if p < 0:
                        if used == pool.shape[0]:
                            at[0], at[1], at[2], at[3] = start, j, i, used
                            return False
                        p = used
                        page[j, top >> seven] = p
                        used += 1
                    pool[p, top & low, g] += 1
                n[j, g] += 1
                square = v * v
                s = sums[j, g, 0]
                t = s + v
                b = t - s
                sums[j, g, 0] = t
                sums[j, g, 1] += (s - (t - b)) + (v - b)
                s = sums[j, g, 2]
                t = s + square
                b = t - s
                sums[j, g, 2] = t
                sums[j, g, 3] += ((s - (t - b)) + (square - b)) + product_error(v, v, square)
            at[2] = 0
        at[1] = 0
    at[3] = used
    return True


@kernel
def sum_weighted(
    x: Any, groups: Any, weights: Any, n: Any, sums: Any, origins: Any, page: Any, pool: Any, at: Any
) -> bool:
    """The same with a weight per row: n[j, g, :] and pool[p, bin, 2g:2g+2] are double-doubles as well."""
    rows, k = x.shape
    binned = page.shape[0] > 0
    low, seven, shift = np.uint64(127), np.uint64(7), np.uint64(45)
    used = at[3]
    for j in range(at[1], k):
        for i in range(at[2], rows):
            v = x[i, j]
            w = weights[i]
            if v != v or w == 0.0:
                continue
            g = groups[i]
            if binned:
                top = np.uint64(bits((v - origins[j]) + 0.0)) >> shift
                p = page[j, top >> seven]
                if p < 0:
                    if used == pool.shape[0]:
                        at[1], at[2], at[3] = j, i, used
                        return False
                    p = used
                    page[j, top >> seven] = p
                    used += 1
                s = pool[p, top & low, 2 * g]
                t = s + w
                b = t - s
                pool[p, top & low, 2 * g] = t
                pool[p, top & low, 2 * g + 1] += (s - (t - b)) + (w - b)
            s = n[j, g, 0]
            t = s + w
            b = t - s
            n[j, g, 0] = t
            n[j, g, 1] += (s - (t - b)) + (w - b)
            first = w * v
            e = product_error(w, v, first)
            s = sums[j, g, 0]
            t = s + first
            b = t - s
            sums[j, g, 0] = t
            sums[j, g, 1] += ((s - (t - b)) + (first - b)) + e
            second = first * v
            e = product_error(first, v, second) + e * v
            s = sums[j, g, 2]
            t = s + second
            b = t - s
            sums[j, g, 2] = t
            sums[j, g, 3] += ((s - (t - b)) + (second - b)) + e
        at[2] = 0
    at[3] = used
    return True
