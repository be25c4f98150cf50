"""The one numeric tally: moments, and a histogram on the floats' own grid.

A bin is a float's sign, exponent and first 7 bits of mantissa, about 0.8 % wide, the same for every column and every
model; zero is a bin of its own (with whatever is closer to it than 2^-1029). Gaussian, log-Gaussian, binned, kernel
and mixture densities are estimates of this tally: it adds, subtracts and fades, and they can be compared afterwards.

leaf "rows"       counts (1, groups)   the number of values
leaf "moments"    sums   (2, groups)   Σ x and Σ x², double-double
leaf "histogram"  counts (bins, groups)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenodds import double_double as dd
from evenodds.families import kernels
from evenodds.families.base import Floats, Rows, axis_of, read_exactly
from evenodds.labels import Fixed, Grid, Ints
from evenodds.schema import Column, DataError
from evenodds.tally import Leaf, Numbers, Tally

EXPONENTS, MANTISSAS = 4096, 128
FIRST_PAGES = 24  # a column: room for values over 24 powers of two before the kernel asks for more


def leaves(x: Floats, rows: Rows, columns: dict[str, Column], *, histogram: bool) -> dict[tuple[str, str], Leaf]:
    """The leaves of a block of columns (rows, columns)."""
    k, g = x.shape[1], rows.n_groups
    page = np.full((k if histogram else 0, EXPONENTS), -1, np.int32)
    origins = np.array([column.origin for column in columns.values()])
    pool: Numbers
    if rows.weights is not None:
        n, sums = np.zeros((k, g, 2)), np.zeros((k, g, 4))
        pool = np.zeros((FIRST_PAGES * len(page), MANTISSAS, 2 * g))
        pool = _grow(
            lambda pool, at: kernels.sum_weighted(x, rows.groups, rows.weights, n, sums, origins, page, pool, at), pool
        )
        counts, sums = _whole(n.transpose(2, 0, 1), rows), sums.transpose(0, 2, 1)
        pool = _whole(pool.reshape(*pool.shape[:2], g, 2).transpose(3, 0, 1, 2), rows)
    elif not histogram and x.flags.c_contiguous and k > 1:
        by_group, parts = np.zeros((g, k), np.int64), np.zeros((g, 4, k))
        kernels.sum_rows(x, rows.groups, by_group, parts)
        counts, sums = by_group.T, parts.transpose(2, 1, 0)
        pool = by_group
    else:
        counts, sums = np.zeros((k, g), np.int64), np.zeros((k, g, 4))
        pool = np.zeros((FIRST_PAGES * len(page), MANTISSAS, g), np.int64)
        totals = sums
        pool = _grow(
            lambda pool, at: kernels.sum_columns(x, rows.groups, counts, totals, origins, page, pool, at), pool
        )
        sums = sums.transpose(0, 2, 1)
    found: dict[tuple[str, str], Leaf] = {}
    for j, name in enumerate(columns):
        _check_finite(x[:, j], sums[j], name, rows.start)
        found[name, "rows"] = Leaf(Fixed(1), counts[..., j, None, :])
        moments = dd.add(dd.of(sums[j, [0, 2]]), dd.of(sums[j, [1, 3]]))
        found[name, "moments"] = Leaf(Fixed(2), moments, is_sum=True)
        if histogram:
            found[name, "histogram"] = _histogram(page[j], pool)
    return found


def _grow(count: Callable[[Numbers, Ints], bool], pool: Numbers) -> Numbers:
    """Count until done, with more pages whenever they run out."""
    at = np.zeros(4, np.int64)
    while not count(pool, at):
        pool = np.concatenate([pool, np.zeros_like(pool)])
    return pool


def _whole(pairs: Floats, rows: Rows) -> Numbers:
    """Weighted counts as double-doubles, or as integers where all weights are."""
    numbers = dd.add(dd.of(pairs[0]), dd.of(pairs[1]))
    return dd.value(numbers).astype(np.int64) if rows.whole else numbers


def _histogram(page: Ints, pool: Numbers) -> Leaf:
    exponents = np.flatnonzero(page >= 0)
    magnitude = (exponents & 2047)[:, None] * MANTISSAS + np.arange(MANTISSAS)
    keys = np.where(exponents[:, None] >= 2048, -magnitude, magnitude).ravel()
    numbers = pool[..., page[exponents], :, :]
    numbers = numbers.reshape(*numbers.shape[:-3], len(keys), numbers.shape[-1])
    used = np.flatnonzero((numbers if numbers.ndim == 2 else numbers[0]).any(axis=-1))
    used = used[np.argsort(keys[used])]
    return Leaf(Grid(keys[used]), numbers[..., used, :])


def _check_finite(x: Floats, sums: Floats, name: str, start: int) -> None:
    if np.isfinite(sums).all():
        return
    infinite = np.flatnonzero(np.isinf(x))
    if len(infinite):
        raise DataError(
            f"column {name!r} is infinite in row {start + infinite[0]}: replace it, or leave the cell empty"
        )
    raise DataError(f"column {name!r} has values up to {np.nanmax(np.abs(x)):.3g}, whose squares overflow: rescale it")


def edges(keys: Ints) -> tuple[Floats, Floats]:
    """The lower and upper ends of bins."""
    magnitude = np.abs(keys)
    inner = _float_at(magnitude)
    outer = _float_at(magnitude + 1)
    positive = keys >= 0
    lower = np.where(positive, inner, -outer)
    upper = np.where(positive, outer, -inner)
    return lower, upper


def _float_at(magnitude: Ints) -> Floats:
    return (magnitude.astype(np.uint64) << np.uint64(45)).view(np.float64)


def histogram(tally: Tally) -> tuple[Ints, Floats]:
    """The bins of a numeric tally and their counts as doubles (bins, groups)."""
    counts = dd.value(read_exactly(tally, "histogram"))
    return axis_of(tally, "histogram").keys, counts.reshape(len(counts), -1)


def moments(tally: Tally) -> tuple[Floats, Floats, Floats]:
    """n, mean and Σ (x - mean)² per group; the last is formed here, once, from double-double sums."""
    n = read_exactly(tally, "rows")[:, 0]
    return centred(n, read_exactly(tally, "moments"))


def centred(n: Floats, sums: Floats) -> tuple[Floats, Floats, Floats]:
    """n, mean and Σ (x - mean)² = Σx² - (Σx)²/n of double-double sums."""
    mean = dd.divide(sums[:, 0], n)
    squares = dd.value(dd.subtract(sums[:, 1], dd.multiply(sums[:, 0], mean)))
    return dd.value(n), dd.value(mean), np.maximum(squares, 0.0)
