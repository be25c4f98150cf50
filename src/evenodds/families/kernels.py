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
def sum_columns(x: Any, groups: Any, n: Any, sums: Any, origins: Any, page: Any, pool: Any) -> Any:
    """The same column by column, in the form sums[j, g, :]; with pages to count in, a histogram of x - origin too."""
    rows, k = x.shape
    binned = page.shape[0] > 0
    used = 0
    low = np.uint64(127)
    for start in range(0, rows, CHUNK):
        stop = min(start + CHUNK, rows)
        for j in range(k):
            for i in range(start, stop):
                v = x[i, j]
                if v != v:
                    continue
                g = groups[i]
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
                if binned:
                    top = np.uint64(bits((v - origins[j]) + 0.0)) >> np.uint64(45)
                    p = page[j, top >> np.uint64(7)]
                    if p < 0:
                        p = used
                        page[j, top >> np.uint64(7)] = p
                        used += 1
                        if used > pool.shape[0]:
                            larger = np.zeros((2 * used, pool.shape[1], pool.shape[2]), pool.dtype)
                            larger[: pool.shape[0]] = pool
                            pool = larger
                    pool[p, top & low, g] += 1
    return pool


@kernel
def sum_weighted(x: Any, groups: Any, weights: Any, n: Any, sums: Any, origins: Any, page: Any, pool: Any) -> Any:
    """The same with a weight per row: n[j, g, :] and pool[p, bin, 2g:2g+2] are double-doubles as well."""
    rows, k = x.shape
    binned = page.shape[0] > 0
    used = 0
    low = np.uint64(127)
    for j in range(k):
        for i in range(rows):
            v = x[i, j]
            w = weights[i]
            if v != v or w == 0.0:
                continue
            g = groups[i]
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
            if binned:
                top = np.uint64(bits((v - origins[j]) + 0.0)) >> np.uint64(45)
                p = page[j, top >> np.uint64(7)]
                if p < 0:
                    p = used
                    page[j, top >> np.uint64(7)] = p
                    used += 1
                    if used > pool.shape[0]:
                        larger = np.zeros((2 * used, pool.shape[1], pool.shape[2]), pool.dtype)
                        larger[: pool.shape[0]] = pool
                        pool = larger
                s = pool[p, top & low, 2 * g]
                t = s + w
                b = t - s
                pool[p, top & low, 2 * g] = t
                pool[p, top & low, 2 * g + 1] += (s - (t - b)) + (w - b)
    return pool


@kernel
def bin_codes(x: Any, cuts: Any, codes: Any) -> None:
    """Which bin each value is in: the number of cuts at or below it; -1 for a missing one."""
    for i in range(len(x)):
        v = x[i]
        code = 0
        for j in range(len(cuts)):
            code += v >= cuts[j]
        codes[i] = code if v == v else -1
