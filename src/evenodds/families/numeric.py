"""The one numeric tally: moments, and a histogram on the floats' own grid.

A bin is a float's sign, exponent and first 7 bits of mantissa, about 0.8 % wide, the same for every column and every
model; zero is a bin of its own (with whatever is closer to it than 2^-1029). Gaussian, log-Gaussian, binned, kernel
and mixture densities are estimates of this tally: it adds, subtracts and fades, and they can be compared afterwards.

leaf "rows"       counts (1, groups)   the number of values
leaf "moments"    sums   (2, groups)   Σ x and Σ x², double-double
leaf "histogram"  counts (bins, groups)
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds.errors import DataError
from evenodds.families import kernels
from evenodds.families.kernels import MANTISSAS
from evenodds.families.leaves import Floats, Rows, axis_of, read_exactly
from evenodds.families.left_out import Left, less
from evenodds.labels import Fixed, Grid, Ints, union
from evenodds.schema import Column
from evenodds.tally import Leaf, Numbers, Tally

EXPONENTS = 2 * kernels.SIGN
FIRST_PAGES = 48  # of a column: room for values over 48 powers of two before the kernel asks for more
LANES = 32  # values of one group that are summed side by side
FEW_GROUPS = 32  # whose room for bins is kept
MANY_GROUPS = 512  # at once: each needs 2 MB of room (not memory) for its bins
LARGEST = 1e299  # of a sum: it must not overflow when it is split into two halves
ROUNDING = 2.0**-86  # of Σx²: what sums of half a million squares leave of a spread that is none, and some room
RUN, LYING = 1 << 16, 1 << 13  # rows that are dealt out at once: what the cache holds of a column, and of many
_kept = threading.local()
_NO_DEAL = (np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.int64))


def leaves(
    columns: Sequence[Floats], rows: Rows, named: dict[str, Column], *, histogram: bool
) -> dict[tuple[str, str], Leaf]:
    """The leaves of some columns of numbers."""
    found: dict[tuple[str, str], Leaf] = {}
    origins = [how.origin for how in named.values()]
    if rows.weights is None:
        counts, sums, bins = _count(columns, rows, origins if histogram else [])
    else:
        weighted = [_weighted(x, rows, origin, histogram) for x, origin in zip(columns, origins)]
        counts, sums = [part[0] for part in weighted], [part[1] for part in weighted]
        bins = [part[2] for part in weighted if part[2] is not None]
    for j, name in enumerate(named):
        check_finite(columns[j], sums[j], name, rows.start)
        found[name, "rows"] = Leaf(Fixed(1), counts[j][..., None, :])
        found[name, "moments"] = Leaf(Fixed(2), sums[j], is_sum=True)
        if histogram:
            found[name, "histogram"] = bins[j]
    return found


def _count(
    columns: Sequence[Floats], rows: Rows, origins: Sequence[float]
) -> tuple[list[Numbers], list[Numbers], list[Leaf]]:
    """Per column the number of values (groups,), Σx and Σx² as double-doubles (2, 2, groups), and the histogram.

    A column is dealt out, a run of rows at a time, by group into rows of 32 of its values; 32 sums run side by side and
    are added up at the end. Of a row-major array, one run of all columns goes before the next: its rows are read once.
    """
    g, k = rows.n_groups, len(columns)
    if g > MANY_GROUPS:
        return _count_by_groups(columns, rows, origins)
    n, sums = np.zeros((k, g, LANES), np.int64), np.zeros((k, g, 4, LANES))
    lying = not origins and any(x.strides[0] != x.itemsize for x in columns)
    run = max(LYING if lying else RUN, LANES * g)
    deals = [_deal(rows.groups[start : start + run], g) for start in range(0, len(rows.groups), run)]
    place, groups, gaps = map(np.concatenate, zip(*deals)) if deals else _NO_DEAL
    ends = np.cumsum([[0, 0, 0], *([len(part) for part in deal] for deal in deals)], axis=0).T.copy()
    dealt = np.empty((max((len(deal[1]) for deal in deals), default=0), LANES))
    bins = _bins(g)
    histograms: list[Leaf] = []
    runs = [ends[:, r : r + 2].copy() for r in range(len(deals))] if lying else [ends]
    for ends, some in itertools.product(runs, _together(columns)):
        own = np.array(origins[some], float)
        arguments = (place, groups, gaps, ends, dealt, own, bins, n[some], sums[some])
        try:
            keys, numbers, stops = kernels.tally_columns(_matrix(columns[some]), *arguments)
        except BaseException:  # an interrupt: what was counted so far is still in the room that is kept
            vars(_kept).clear()
            raise
        if len(own):
            at = [0, *stops.tolist()]
            histograms += [Leaf(Grid(keys[i:j]), numbers[i:j]) for i, j in itertools.pairwise(at)]
    both = _pairs(sums.transpose(3, 0, 2, 1))  # (2, lanes, columns, moments, groups)
    while both.shape[1] > 1:
        both = dd.add(both[:, ::2], both[:, 1::2])
    return list(n.sum(axis=2)), [both[:, 0, j] for j in range(k)], histograms


def bins_of(x: Floats, origin: float = 0.0) -> int:
    """How many bins of the histogram finite values fall into.

    >>> bins_of(np.array([1.0, 1.001, 2.0])), bins_of(np.array([1e6 + 1, 1e6 + 2])), bins_of(np.array([1.0, 2.0]), 0.5)
    (2, 1, 2)
    """
    top = ((x - origin) + 0.0).view(np.uint64) >> np.uint64(45)
    return len(np.unique(np.where(top == kernels.BELOW_ZERO, kernels.ZERO, top)))


def _bins(groups: int) -> NDArray[np.int32]:
    """Room for the bins of so many groups, all 0; memory is only spent on those that are used.

    A thread keeps its own for the next batch, since fresh memory takes longer than counting does.
    """
    if groups > FEW_GROUPS:
        return np.zeros((groups, EXPONENTS * MANTISSAS), np.int32)
    if not hasattr(_kept, "bins"):
        _kept.bins = np.zeros((FEW_GROUPS, EXPONENTS * MANTISSAS), np.int32)
    bins: NDArray[np.int32] = _kept.bins[:groups]
    return bins


def _count_by_groups(
    columns: Sequence[Floats], rows: Rows, origins: Sequence[float]
) -> tuple[list[Numbers], list[Numbers], list[Leaf]]:
    """The same for so many groups that there is no room to count them all at once: some of them at a time."""
    parts = []
    for first in range(0, rows.n_groups, MANY_GROUPS):
        mine = (rows.groups >= first) & (rows.groups < first + MANY_GROUPS)
        some = Rows(rows.groups[mine] - first, min(MANY_GROUPS, rows.n_groups - first))
        parts.append(_count([x[mine] for x in columns], some, origins))
    counts = [np.concatenate(many, axis=-1) for many in zip(*(part[0] for part in parts))]
    sums = [np.concatenate(many, axis=-1) for many in zip(*(part[1] for part in parts))]
    return counts, sums, [_side_by_side(many) for many in zip(*(part[2] for part in parts))]


def _side_by_side(leaves: Sequence[Leaf]) -> Leaf:
    """Histograms of different groups as one."""
    axis = union([leaf.axis for leaf in leaves])
    numbers = np.zeros((len(axis), sum(leaf.numbers.shape[-1] for leaf in leaves)), np.int64)
    at = 0
    for leaf in leaves:
        wide = leaf.numbers.shape[-1]
        numbers[axis.find(leaf.axis.keys), at : at + wide] = leaf.numbers
        at += wide
    return Leaf(axis, numbers)


def _pairs(sums: Floats) -> Floats:
    """(…, 4, groups) of sums and their errors as double-doubles (2, …, 2, groups)."""
    return dd.add(dd.of(sums[..., ::2, :]), dd.of(sums[..., 1::2, :]))


def _deal(groups: NDArray[np.integer], n_groups: int) -> tuple[NDArray[np.uint32], NDArray[np.int32], Ints]:
    """Where each row's value goes so that values of a group lie in rows of 32; the group of each such row; the gaps."""
    sizes = np.bincount(groups, minlength=n_groups)
    blocks = -(-sizes // LANES)
    ends = np.cumsum(blocks) * LANES
    place = np.empty(len(groups), np.uint32)  # unsigned: none is counted from the end
    kernels.places(groups, ends - blocks * LANES, place)
    empty = blocks * LANES - sizes
    gaps = np.arange(empty.sum()) + np.repeat(ends - empty - (np.cumsum(empty) - empty), empty)
    return place, np.repeat(np.arange(n_groups, dtype=np.int32), blocks), gaps


def _together(columns: Sequence[Floats]) -> list[slice]:
    """Runs of columns that lie evenly in one array, as those of a file do: one call tallies them all."""
    runs = [slice(0, 1)]
    for j in range(1, len(columns)):
        before, x = columns[j - 1], columns[j]
        alike = x.base is before.base is not None and x.strides == before.strides
        if alike and _address(x) - _address(before) == _apart(x):
            runs[-1] = slice(runs[-1].start, j + 1)
        else:
            runs.append(slice(j, j + 1))
    return runs if columns else []


def _address(x: Floats) -> int:
    return int(x.__array_interface__["data"][0])


def _apart(x: Floats) -> int:
    """How many bytes lie between a column and the next: its own, or in a row-major array one number's."""
    return x.nbytes if x.strides[0] == x.itemsize else x.itemsize


def _matrix(columns: Sequence[Floats]) -> Floats:
    """Columns that lie evenly as one array (columns, rows)."""
    first, shape = columns[0], (len(columns), len(columns[0]))
    return np.lib.stride_tricks.as_strided(first, shape, (_apart(first), first.strides[0]), writeable=False)


def _weighted(x: Floats, rows: Rows, origin: float, histogram: bool) -> tuple[Numbers, Numbers, Leaf | None]:
    g = rows.n_groups
    n, sums = np.zeros((g, 2)), np.zeros((g, 4))
    page = np.full(EXPONENTS if histogram else 0, -1, np.int32)
    pool: Numbers = np.zeros((FIRST_PAGES, g, 2 * MANTISSAS))
    at = np.zeros(2, np.int64)
    while not kernels.sum_weighted(x, rows.groups, rows.weights, n, sums, origin, page, pool, at):
        pool = np.concatenate([pool, np.zeros_like(pool)])
    if not histogram:
        return _whole(n.T, rows), _pairs(sums.T), None
    exponents = np.flatnonzero(page >= 0)
    counts = pool.reshape(len(pool), g, MANTISSAS, 2)[page[exponents]].transpose(3, 0, 2, 1)
    return _whole(n.T, rows), _pairs(sums.T), _histogram(exponents, _whole(counts, rows))


def _whole(pairs: Floats, rows: Rows) -> Numbers:
    """Weighted counts as double-doubles, or as integers where all weights are."""
    numbers = dd.add(dd.of(pairs[0]), dd.of(pairs[1]))
    counts = dd.value(numbers)
    return counts.astype(np.int64) if rows.whole and counts.max(initial=0.0) < 2.0**52 else numbers


def _histogram(exponents: Ints, numbers: Numbers) -> Leaf:
    """The bins that count something, in the order of their values; numbers (exponents, mantissas, groups)."""
    magnitude = (exponents & (kernels.SIGN - 1))[:, None] * MANTISSAS + np.arange(MANTISSAS)
    keys = np.where(exponents[:, None] >= kernels.SIGN, -magnitude, magnitude).ravel()
    numbers = numbers.reshape(*numbers.shape[:-3], len(keys), numbers.shape[-1])
    used = np.flatnonzero((numbers if numbers.ndim == 2 else numbers[0]).any(axis=-1))
    used = used[np.argsort(keys[used])]
    return Leaf(Grid(keys[used]), numbers[..., used, :])


def check_finite(x: Floats, sums: Any, name: str, start: int) -> None:
    """Refuse a column whose sums of values and of squares are infinite, or so large that doing sums with them is."""
    if (np.abs(sums) < LARGEST).all():
        return
    check_no_infinity(x, name, start)
    raise DataError(f"column {name!r} has values up to {np.nanmax(np.abs(x)):.3g}, whose squares overflow: rescale it")


def check_no_infinity(x: Floats, name: str, start: int) -> None:
    """Refuse infinite cells, naming the first."""
    infinite = np.flatnonzero(np.isinf(x))
    if len(infinite):
        raise DataError(
            f"column {name!r} is infinite in row {start + infinite[0]}: replace it, or leave the cell empty"
        )


def edges(keys: Ints) -> tuple[Floats, Floats]:
    """The lower and upper ends of bins."""
    inner, outer = nearest(keys), nearest(np.abs(keys) + 1)
    positive = keys >= 0
    lower = np.where(positive, inner, -outer)
    upper = np.where(positive, outer, -inner)
    return lower, upper


def spans(keys: Ints) -> tuple[Floats, Floats]:
    """The first number of each bin and the first beyond it: below zero a bin has its upper end, not its lower one."""
    below, (lower, upper) = keys < 0, edges(keys)
    return np.where(below, np.nextafter(lower, np.inf), lower), np.where(below, np.nextafter(upper, np.inf), upper)


def from_origin(cuts: Floats, origin: float) -> Floats:
    """The least numbers that are at or above cuts when they are counted from the origin, rounded as it comes.

    >>> float(from_origin(np.array([0.25]), 10.0)[0])
    10.25
    """
    if origin == 0:
        return cuts
    wide = 4 * np.spacing(np.maximum(np.abs(cuts), abs(origin)))
    low, high = cuts + origin - wide, cuts + origin + wide
    while True:
        middle = low + (high - low) / 2
        if np.all((middle <= low) | (middle >= high)):
            return high
        above = middle - origin >= cuts
        low, high = np.where(above, low, middle), np.where(above, middle, high)


def nearest(keys: Ints) -> Floats:
    """How near to zero bins begin."""
    return (np.abs(keys).astype(np.uint64) << np.uint64(45)).view(np.float64)


def bins(tally: Tally) -> Ints:
    """The bins of a numeric tally."""
    return axis_of(tally, "histogram").keys


def histogram(tally: Tally) -> tuple[Ints, Floats]:
    """The bins of a numeric tally and their counts as doubles (bins, groups)."""
    counts = dd.value(read_exactly(tally, "histogram"))
    return bins(tally), counts.reshape(len(counts), len(tally.groups))


def moments(tally: Tally) -> tuple[Floats, Floats, Floats]:
    """n, mean and Σ (x - mean)² per group; the last is formed here, once, from double-double sums."""
    n = read_exactly(tally, "rows")[:, 0]
    return centred(n, read_exactly(tally, "moments"))


class LeftMoments:
    """n, mean and Σ (x - mean)² of a tally's groups, and of all values together, without each of some values."""

    def __init__(self, tally: Tally) -> None:
        pooled = tally.pooled()
        self.counts, self.sums = read_exactly(tally, "rows")[:, 0], read_exactly(tally, "moments")
        self.all = read_exactly(pooled, "rows"), read_exactly(pooled, "moments")[..., None]
        self.known = centred(self.counts, self.sums)

    def together(self, x: Floats, left: Left) -> tuple[Floats, Floats, Floats]:
        """Of all values, each array (rows,)."""
        return left_out(*self.all, x, left.amounts)

    def groups(self, x: Floats, left: Left) -> list[Floats]:
        """Of every group, each array (rows, groups): a row's value is missing in its own."""
        own = left_out(self.counts[:, left.groups], self.sums[..., left.groups], x, left.amounts)
        return [left.put(part, mine) for part, mine in zip(self.known, own)]


def left_out(n: Floats, sums: Floats, x: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """n, mean and Σ (x - mean)² of double-double sums without one value x of some weight, for many x at once."""
    each, value = dd.of(weights), dd.of(x)
    first = dd.multiply(each, value)
    rest = dd.subtract(sums, np.stack([first, dd.multiply(first, value)], axis=1))
    count = dd.subtract(n, each)
    left = less(dd.value(n) + np.zeros(len(x)), weights)
    _, mean, squares = centred(count, rest)
    some = (left > 0) & (squares > ROUNDING * dd.value(sums)[1])  # less is what the subtraction left over
    return left, np.where(left > 0, mean, 0.0), np.where(some, squares, 0.0)


def centred(n: Floats, sums: Floats) -> tuple[Floats, Floats, Floats]:
    """n, mean and Σ (x - mean)² = Σx² - (Σx)²/n of double-double sums."""
    mean = dd.divide(sums[:, 0], n)
    squares = dd.value(dd.subtract(sums[:, 1], dd.multiply(sums[:, 0], mean)))
    return dd.value(n), dd.value(mean), np.where(squares > ROUNDING * dd.value(sums)[1], squares, 0.0)
