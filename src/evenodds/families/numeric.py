"""The one numeric tally: moments, and a histogram on the floats' own grid.

A bin is a float's sign, exponent and first 7 bits of mantissa, about 0.8 % wide, the same for every column and every
model; zero is a bin of its own (with whatever is closer to it than 2^-1029). Gaussian, log-Gaussian, binned, kernel
and mixture densities are estimates of this tally: it adds, subtracts and fades, and they can be compared afterwards.

leaf "rows"       counts (1, groups)   the number of values
leaf "moments"    sums   (2, groups)   Σ x and Σ x², double-double
leaf "histogram"  counts (bins, groups)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds.families import kernels
from evenodds.families.base import Floats, Rows, axis_of, read_exactly
from evenodds.labels import Fixed, Grid, Ints
from evenodds.schema import Column, DataError
from evenodds.tally import Leaf, Numbers, Tally

EXPONENTS, MANTISSAS = 4096, 128
FIRST_PAGES = 48  # of a column: room for values over 48 powers of two before the kernel asks for more
LANES = 32  # values of one group that are summed side by side


def leaves(
    columns: Sequence[Floats], rows: Rows, named: dict[str, Column], *, histogram: bool
) -> dict[tuple[str, str], Leaf]:
    """The leaves of some columns of numbers."""
    found: dict[tuple[str, str], Leaf] = {}
    if rows.weights is None:
        counts, sums = _moments(columns, rows)
        bins = [_count_bins(x, rows, how.origin) for x, how in zip(columns, named.values())] if histogram else []
    else:
        weighted = [_weighted(x, rows, how.origin, histogram) for x, how in zip(columns, named.values())]
        counts, sums = [part[0] for part in weighted], [part[1] for part in weighted]
        bins = [part[2] for part in weighted if part[2] is not None]
    for j, name in enumerate(named):
        _check_finite(columns[j], sums[j], name, rows.start)
        found[name, "rows"] = Leaf(Fixed(1), counts[j][..., None, :])
        found[name, "moments"] = Leaf(Fixed(2), sums[j], is_sum=True)
        if histogram:
            found[name, "histogram"] = bins[j]
    return found


def _moments(columns: Sequence[Floats], rows: Rows) -> tuple[Sequence[Numbers], Sequence[Numbers]]:
    """Per column the number of values (groups,), and Σx and Σx² as double-doubles (2, 2, groups).

    Columns that are the columns of one row-major array are summed side by side as they lie. Any other column is first
    dealt out by group into rows of 32 of its values, and its 32 sums are added up at the end.
    """
    g, k = rows.n_groups, len(columns)
    together = block(columns)
    if together is not None and k >= LANES // 2:
        n, sums = np.zeros((g, k), np.int64), np.zeros((g, 4, k))
        kernels.sum_rows(together, rows.groups, n, sums)
        pairs = sums.reshape(g, 2, 2, k).transpose(2, 3, 1, 0)
        both = dd.add(dd.of(pairs[0]), dd.of(pairs[1]))
        return list(n.T), [both[:, j] for j in range(k)]
    place, groups = _deal(rows)
    dealt = np.full(len(groups) * LANES, np.nan)
    n, sums = np.zeros((k, g, LANES), np.int64), np.zeros((k, g, 4, LANES))
    for j, x in enumerate(columns):
        dealt[place] = x
        kernels.sum_rows(dealt.reshape(-1, LANES), groups, n[j], sums[j])
    pairs = sums.reshape(k, g, 2, 2, LANES).transpose(3, 4, 0, 2, 1)  # (2, lanes, columns, moments, groups)
    both = dd.add(dd.of(pairs[0]), dd.of(pairs[1]))
    while both.shape[1] > 1:
        both = dd.add(both[:, ::2], both[:, 1::2])
    return list(n.sum(axis=2)), [both[:, 0, j] for j in range(k)]


def _deal(rows: Rows) -> tuple[Ints, NDArray[np.integer]]:
    """Where each row's value goes so that values of a group lie in rows of 32, and the group of each such row."""
    small = rows.n_groups < 1 << 15
    groups = rows.groups.astype(np.int16) if small else rows.groups  # numpy sorts 16 bits by radix
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=rows.n_groups)
    blocks = -(-sizes // LANES)
    shift = np.cumsum(blocks) * LANES - blocks * LANES - (np.cumsum(sizes) - sizes)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) + np.repeat(shift, sizes)
    return place, np.repeat(np.arange(rows.n_groups, dtype=np.int32), blocks)


def block(columns: Sequence[Floats]) -> Floats | None:
    """Columns that lie side by side in one row-major array, as that array; None if they do not."""
    first = columns[0]
    step = first.itemsize
    if len(columns) < 2 or first.strides[0] != step * len(columns):
        return None
    address = first.__array_interface__["data"][0]
    for j, column in enumerate(columns):
        if column.strides != first.strides or column.__array_interface__["data"][0] != address + j * step:
            return None
    shape, strides = (len(first), len(columns)), (first.strides[0], step)
    return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)


def _count_bins(x: Floats, rows: Rows, origin: float) -> Leaf:
    page = np.full(EXPONENTS, -1, np.int32)
    pool: Numbers = np.zeros((FIRST_PAGES, MANTISSAS, rows.n_groups), np.int64)
    at = np.zeros(2, np.int64)
    while not kernels.count_bins(x, rows.groups, origin, page, pool, at):
        pool = np.concatenate([pool, np.zeros_like(pool)])
    return _histogram(page, pool)


def _weighted(x: Floats, rows: Rows, origin: float, histogram: bool) -> tuple[Numbers, Numbers, Leaf | None]:
    g = rows.n_groups
    n, sums = np.zeros((g, 2)), np.zeros((g, 4))
    page = np.full(EXPONENTS if histogram else 0, -1, np.int32)
    pool: Numbers = np.zeros((FIRST_PAGES, MANTISSAS, 2 * g))
    at = np.zeros(2, np.int64)
    while not kernels.sum_weighted(x, rows.groups, rows.weights, n, sums, origin, page, pool, at):
        pool = np.concatenate([pool, np.zeros_like(pool)])
    pairs = sums.reshape(g, 2, 2).transpose(2, 1, 0)
    both = dd.add(dd.of(pairs[0]), dd.of(pairs[1]))
    counts = _whole(pool.reshape(*pool.shape[:2], g, 2).transpose(3, 0, 1, 2), rows) if histogram else pool
    return _whole(n.T, rows), both, _histogram(page, counts) if histogram else None


def _whole(pairs: Floats, rows: Rows) -> Numbers:
    """Weighted counts as double-doubles, or as integers where all weights are."""
    numbers = dd.add(dd.of(pairs[0]), dd.of(pairs[1]))
    return dd.value(numbers).astype(np.int64) if rows.whole else numbers


def _histogram(page: NDArray[np.int32], pool: Numbers) -> Leaf:
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
