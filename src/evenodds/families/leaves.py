"""Leaves: counting values per group, and reading a column's numbers back out of a tally."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds.cells import Coded, Raw, as_column, codes
from evenodds.errors import DataError
from evenodds.families.kernels import count_codes, count_pairs
from evenodds.labels import Fixed, Grid
from evenodds.tally import Numbers, Tally

Floats = NDArray[np.float64]
LIGHTEST, HEAVIEST = 1e-100, 1e100  # a row that counts: sums of its weight, and their squares, are numbers
PAIR = 2048  # cells of a table of two columns: eight such tables stay in the cache


@dataclass(frozen=True)
class Rows:
    """Which group each row belongs to, and how much it weighs."""

    groups: NDArray[np.integer]
    n_groups: int
    weights: Floats | None = None
    start: int = 0  # the number of the first row, for messages

    @property
    def whole(self) -> bool:
        """Whether all weights are integers, so that counts stay integers."""
        return self.weights is None or bool(np.all(self.weights == np.floor(self.weights)))


def check_weights(weights: Any, n: int) -> Floats | None:
    """Weights as doubles: one per row, finite, none negative."""
    if weights is None:
        return None
    try:
        w = np.asarray(weights, dtype=np.float64)
    except ValueError as error:
        named = f"the weights are the name {weights!r}" if isinstance(weights, str) else f"weights: {error}"
        raise DataError(f"{named}; give a number for each row of a table") from None
    if w.ndim == 0:
        w = np.full(n, w)
    if w.shape != (n,):
        raise DataError(f"{len(w)} weights for {n} rows: expected one weight per row")
    bad = np.flatnonzero(~usable(w))
    if len(bad):
        raise DataError(
            f"the weight of row {bad[0]} is {w[bad[0]]:g}: expected 0, or a number from {LIGHTEST:g} to {HEAVIEST:g}"
        )
    return w


def usable(weights: Floats) -> NDArray[np.bool_]:
    """Which weights rows can have."""
    return (weights == 0) | ((weights >= LIGHTEST) & (weights <= HEAVIEST))


def one_each(raw: Raw | Coded, n: int, what: str) -> Coded:
    """The classes or groups of some rows: one for each, none missing."""
    found = codes(raw, f"the {what}")
    if len(found.codes) != n:
        raise DataError(
            f"{len(found.codes)} {what} values for {n} rows (inconsistent numbers of samples: "
            f"[{n}, {len(found.codes)}]): give a {what} value for each row"
        )
    if found.nullable and found.codes.min(initial=0) < 0:
        row = int(np.argmax(found.codes < 0))
        said = "Input y contains NaN: " if what == "target" else ""  # as scikit-learn says it
        raise DataError(f"{said}the {what} is missing in row {row}; drop such rows")
    return found


def rows_of(n: int, weights: Any = None, groups: Any = None) -> tuple[Grid, Rows]:
    """The axis of the groups that some rows have, one group if they have none; each row's place on it, and weight."""
    axis: Grid = Fixed(1)
    where: NDArray[np.integer] = np.zeros(n, np.int32)
    if groups is not None:
        found = one_each(as_column(groups), n, "group")
        here = np.bincount(found.places, minlength=len(found.labels)) > 0  # a category need not occur
        axis, where = found.labels.take(np.flatnonzero(here)), (np.cumsum(here) - 1)[found.places]
    return axis, Rows(where, len(axis), check_weights(weights, n))


def share(part: Any, whole: Any) -> Any:
    """part / whole; of nothing it is 0."""
    return part / np.where(whole > 0, whole, 1.0)


def read(tally: Tally, leaf: str) -> Numbers:
    """The numbers of a leaf in the tally of one column, as doubles (axis, groups); plain (axis,) without groups."""
    numbers = tally[_find(tally, leaf)].astype(np.float64)
    return numbers[..., 0] if ungrouped(tally) else numbers


def read_exactly(tally: Tally, leaf: str) -> Floats:
    """The same as double-doubles, with their leading axis of 2."""
    numbers = tally.leaf(_find(tally, leaf)).numbers
    numbers = dd.of(numbers) if numbers.dtype.kind == "i" else numbers
    return numbers[..., 0] if ungrouped(tally) else numbers


def has(tally: Tally, leaf: str) -> bool:
    """Whether the tally of one column has such a leaf."""
    return any(name[1] == leaf for name in tally.layout.specs)


def axis_of(tally: Tally, leaf: str) -> Grid:
    """The axis of a leaf in the tally of one column."""
    return tally.layout.specs[_find(tally, leaf)].axis


def _find(tally: Tally, leaf: str) -> tuple[str, str]:
    found = [name for name in tally.layout.specs if name[1] == leaf]
    if len(found) != 1:
        raise ValueError(f"expected the tally of one column with {leaf!r}, got {tally!r}")
    return found[0]


def ungrouped(tally: Tally) -> bool:
    """Whether the tally is of one variable without groups."""
    return isinstance(tally.groups, Fixed) and len(tally.groups) == 1


def count_many(columns: Sequence[tuple[NDArray[np.integer], int]], rows: Rows) -> Iterator[Numbers]:
    """`count` of several columns, given as codes and their number of values.

    Two columns of few values are counted together, in a table of both, and told apart by its margins: half the work.
    """
    left = list(columns)
    while left:
        (a, n_a), *left = left
        cells = (n_a + 1) * (left[0][1] + 1) * rows.n_groups if left else 0
        if rows.weights is not None or not 0 < cells <= PAIR:
            yield count(a, n_a, rows)
            continue
        (b, n_b), *left = left
        tables = np.zeros((8, cells), np.int64)
        count_pairs(a, b, rows.groups, n_b + 1, rows.n_groups, tables)
        both = tables.sum(axis=0).reshape(n_a + 1, n_b + 1, rows.n_groups)
        yield both.sum(axis=1)[1:]
        yield both.sum(axis=0)[1:]


def count(where: NDArray[np.integer], values: int, rows: Rows) -> Numbers:
    """How often each value occurs in each group: (values, groups); codes below 0 are left out.

    Weights are summed in two parts, a coarse one whose sums are exact and a fine remainder, so that the result is a
    double-double; where all weights are integers it is an integer.
    """
    weights, shape = rows.weights, (values, rows.n_groups)
    if weights is None:
        cells = (values + 1) * rows.n_groups
        if 8 * cells > len(where):  # eight tables would cost more time than the rows
            counts = np.bincount((where.astype(np.int64) + 1) * rows.n_groups + rows.groups, minlength=cells)
        else:
            tables = np.zeros((8, cells), np.int64)
            count_codes(where, rows.groups, rows.n_groups, tables)
            counts = tables.sum(axis=0)
        return counts.reshape(values + 1, rows.n_groups)[1:]
    known = where >= 0
    at = where[known].astype(np.int64) * rows.n_groups + rows.groups[known]
    weights, size = weights[known], values * rows.n_groups
    unit = 2.0 ** (np.ceil(np.log2(max(weights.max(initial=0.0), 1e-300))) + np.ceil(np.log2(len(at) + 2)) - 52)
    coarse = np.round(weights / unit) * unit
    high = np.bincount(at, coarse, size).reshape(shape)
    if rows.whole and high.max(initial=0.0) < 2.0**52:
        return np.round(high + np.bincount(at, weights - coarse, size).reshape(shape)).astype(np.int64)
    low = np.bincount(at, weights - coarse, size).reshape(shape)
    return dd.add(dd.of(high), dd.of(low))
