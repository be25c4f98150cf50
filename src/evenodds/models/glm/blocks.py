"""Rows of a design: what a fitter multiplies with.

The columns lie in three runs: dense ones (the intercept first), sparse ones, and one-hot columns kept as codes. A
`Block` holds some rows as they came; its `tiles` are what the cache holds of it, with the dense columns centred and
scaled on the way, so that no second copy of the table is ever made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenodds.data.passes import SHARD as SHARD
from evenodds.data.passes import added
from evenodds.models.glm.design_kernels import collect, count_pairs, gather, scatter, scatter_rows, spread
from evenodds.threads import in_order

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
R = TypeVar("R")

TILE = 1 << 19  # numbers of a tile: the cache holds them, and threads seldom wait for the interpreter's lock
LONGEST = 1 << 15  # rows of a tile
NEAREST = 1 << 15  # numbers that are weighted and multiplied at once: what is nearest to the processor holds
MANY = 1 << 17  # numbers multiplied, from which on threads should not wait for each other


@dataclass(frozen=True, eq=False)
class Tile:
    """A few rows of a design, ready to be multiplied, with their targets, weights and offsets."""

    ones: bool  # whether the first column is one of ones, which is not written out
    dense: Floats  # (rows, d)
    sparse: Any  # scipy's csr (rows, s), or None
    codes: Codes  # (rows, c): which column each category falls on; `width` for a reference category
    width: int  # of the whole design
    y: NDArray[Any]
    weights: Floats | None
    offset: Floats | None

    @property
    def runs(self) -> tuple[slice, slice, slice]:
        """Where the dense, the sparse and the one-hot columns are."""
        d = int(self.ones) + self.dense.shape[1]
        s = d + (0 if self.sparse is None else self.sparse.shape[1])
        return slice(int(self.ones), d), slice(d, s), slice(s, self.width)

    def score(self, coefficients: Floats) -> Floats:
        """offset + design @ coefficients, (rows,) or (rows, outputs)."""
        dense, sparse, _ = self.runs
        if self.dense.shape[1]:
            total: Floats = np.dot(self.dense, coefficients[dense])  # unlike @, it lets other threads run meanwhile
        else:
            total = np.zeros((len(self.y), *coefficients.shape[1:]))
        if self.ones:
            total += coefficients[0]
        if self.sparse is not None:
            total += _times(self.sparse, coefficients[sparse])
        if self.codes.shape[1]:
            for column, out in _columns(coefficients, total):
                gather(self.codes, np.append(column, 0.0), out)
        if self.offset is not None:
            total += self.offset if total.ndim == self.offset.ndim else self.offset[:, None]
        return total

    def pull(self, slopes: Floats) -> Floats:
        """Transposed design @ slopes: (width,) or (width, outputs)."""
        dense, sparse, _ = self.runs
        out = np.zeros((self.width, *slopes.shape[1:]))
        if self.ones:
            out[0] = slopes.sum(axis=0)
        if self.dense.shape[1]:
            out[dense] = np.dot(self.dense.T, slopes)
        if self.sparse is not None:
            _times_transposed(self.sparse, slopes, out[sparse])
        if self.codes.shape[1]:
            for column, into in _columns(slopes, out):
                whole = np.zeros(self.width + 1)
                scatter(self.codes, np.ascontiguousarray(column), whole)
                into += whole[:-1]
        return out

    def squares(self, weights: Floats) -> Floats:
        """Transposed (design, each number squared) @ weights: the diagonal of the Gram."""
        squared = dataclasses.replace(
            self, dense=self.dense * self.dense, sparse=None if self.sparse is None else self.sparse.power(2)
        )
        return squared.pull(weights)

    def columns(self) -> Any:
        """The rows of the design, every column written out: scipy's csr where most are zeros, else an array."""
        ones = np.ones((len(self.y), int(self.ones)))
        if self.sparse is None and not self.codes.shape[1]:
            return np.column_stack([ones, self.dense]) if self.ones else self.dense
        from scipy.sparse import csr_array, hstack

        parts = [csr_array(ones), csr_array(self.dense)]
        if self.sparse is not None:
            parts.append(csr_array(self.sparse))
        if self.codes.shape[1]:
            before = self.runs[2].start
            real = self.codes < self.width
            at = np.concatenate([[0], np.cumsum(real.sum(axis=1))])
            shape = (len(self.y), self.width - before)
            parts.append(csr_array((np.ones(int(at[-1])), self.codes[real] - before, at), shape))
        return hstack(parts, format="csr")

    def quadratic(self, matrix: Floats) -> Floats:
        """xᵀ matrix x of each row."""
        return next(self.quadratics([matrix]))

    def quadratics(self, matrices: Iterable[Floats]) -> Iterator[Floats]:
        """The same for several, one after the other."""
        x = self.columns()
        for matrix in matrices:
            if isinstance(x, np.ndarray):
                yield np.asarray(np.einsum("ij,ij->i", x @ matrix, x))
            else:
                yield np.asarray(x.multiply(x @ matrix).sum(axis=1)).ravel()


def _times(sparse: Any, coefficients: Floats) -> Floats:
    """Rows that are mostly zeros times coefficients, without the interpreter's lock where they are many."""
    if not _many(sparse, coefficients):
        return np.asarray(sparse @ coefficients)
    score = np.zeros((sparse.shape[0], *coefficients.shape[1:]))
    spread(sparse.indices, sparse.indptr, sparse.data, _wide(coefficients), _wide(score))
    return score


def _times_transposed(sparse: Any, slopes: Floats, out: Floats) -> None:
    """The same transposed, times slopes: added to zeros."""
    if _many(sparse, slopes):
        collect(sparse.indices, sparse.indptr, sparse.data, _wide(slopes), _wide(out))
    else:
        out += sparse.T @ slopes


def _many(sparse: Any, by: Floats) -> bool:
    return bool(sparse.nnz * by[:1].size >= MANY and sparse.format == "csr" and sparse.dtype == by.dtype == np.float64)


def _wide(x: Floats) -> Floats:
    """A vector as a matrix; the numbers of a row side by side."""
    return np.ascontiguousarray(x).reshape(len(x), -1)


def _columns(a: Floats, b: Floats) -> Iterator[tuple[Floats, Floats]]:
    """The columns of two arrays side by side; of vectors, the vectors themselves."""
    if a.ndim == 1:
        yield a, b
        return
    for k in range(a.shape[1]):
        column = np.ascontiguousarray(b[:, k])
        yield np.ascontiguousarray(a[:, k]), column
        b[:, k] = column


class Gram:
    """The sum over tiles of: transposed design @ diag(weights) @ design."""

    def __init__(self, width: int) -> None:
        self._sums = np.zeros((width + 1, width + 1))  # the last for reference categories, thrown away

    @property
    def lower(self) -> Floats:
        """The matrix (width, width), its lower triangle filled in."""
        return self._sums[:-1, :-1]

    def add(self, tile: Tile, weights: Floats) -> None:
        """Add a tile's; the weights may be negative."""
        dense, sparse, _ = tile.runs
        if tile.ones:
            self.lower[:, 0] += dataclasses.replace(tile, codes=tile.codes[:, :0]).pull(weights)
        if tile.dense.shape[1] and weights.min(initial=0.0) < 0:
            self.lower[dense, dense] += tile.dense.T @ (tile.dense * weights[:, None])
        elif tile.dense.shape[1]:
            self._add_dense(self.lower[dense, dense], tile.dense, np.sqrt(weights))
        if tile.sparse is not None:
            scaled = tile.sparse.multiply(weights[:, None]).tocsr()
            self.lower[sparse, dense] += scaled.T @ tile.dense
            self.lower[sparse, sparse] += (scaled.T @ tile.sparse).toarray()
        if tile.codes.shape[1]:
            self._add_codes(tile, np.ascontiguousarray(weights))

    @staticmethod
    def _add_dense(total: Floats, x: Floats, root: Floats) -> None:
        """The dense columns', each row times the root of its weight: of a matrix by itself numpy does half the work.

        scipy's dsyrk would do the same, but holds the interpreter's lock meanwhile.
        """
        rows, d = x.shape
        size = max(1, NEAREST // d)
        heavy = np.empty((min(size, rows), d))
        for start in range(0, rows, size):
            part = x[start : start + size]
            here = np.multiply(part, root[start : start + size, None], out=heavy[: len(part)])
            total += here.T @ here

    def _add_codes(self, tile: Tile, weights: Floats) -> None:
        """The one-hot columns' rows: counted, not multiplied."""
        first, d = int(tile.ones), tile.dense.shape[1]
        count_pairs(tile.codes, weights, self._sums)
        if first:
            alone = np.zeros(len(self._sums))
            scatter(tile.codes, weights, alone)
            self._sums[:, 0] += alone
        if d:
            part = np.zeros((len(self._sums), d))
            scatter_rows(tile.codes, tile.dense * weights[:, None], part)
            self._sums[:, first : first + d] += part


def mirrored(lower: Floats) -> Floats:
    """The symmetric matrix of a lower triangle."""
    whole = np.tril(lower)
    return whole + np.tril(whole, -1).T


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a design as they came."""

    dense: NDArray[Any]  # (rows, d), numbers as they are
    sparse: Any
    codes: Codes
    width: int
    y: NDArray[Any]
    weights: Floats | None = None
    offset: Floats | None = None
    intercept: bool = False  # whether a column of ones comes before the dense ones
    shift: Floats | None = None  # (d,): taken from the dense columns,
    scale: Floats | None = None  # and what they are then divided by

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.y)

    def tiles(self) -> Iterator[Tile]:
        """The rows a few at a time, the dense columns centred and scaled."""
        columns = self.dense.shape[1] + self.intercept + self.codes.shape[1]
        size = max(1, min(LONGEST, TILE // max(columns, 1)))
        factor = None if self.scale is None or np.all(self.scale == 1) else 1.0 / self.scale
        for start in range(0, self.rows, size):
            yield self._tile(slice(start, min(start + size, self.rows)), factor)

    def _tile(self, rows: slice, factor: Floats | None) -> Tile:
        dense, sparse = self.dense[rows], self.sparse
        if sparse is not None and rows != slice(0, self.rows):  # scipy copies what it cuts
            sparse = sparse[rows]
        if self.shift is not None and self.shift.any():
            dense = dense - self.shift
        if factor is not None:
            dense = dense * factor
        return Tile(
            self.intercept,
            dense,
            sparse,
            self.codes[rows],
            self.width,
            self.y[rows],
            None if self.weights is None else self.weights[rows],
            None if self.offset is None else self.offset[rows],
        )


class Rows(Protocol):
    """Where the rows of a design come from: as often as a fitter asks for them."""

    @property
    def width(self) -> int:
        """How many columns the design has."""

    def shards(self) -> Iterable[Any]:
        """All rows, in runs that do not depend on the number of threads."""

    def block(self, shard: Any) -> Block:
        """One of the runs, read."""


def passed(rows: Rows, work: Callable[[Block], R], threads: int | None = None) -> Iterator[R]:
    """One pass: work(block) for every run of rows, in their order, by a pool of threads."""
    return in_order(lambda shard: work(rows.block(shard)), rows.shards(), threads)


def summed(rows: Rows, work: Callable[[Block], R], threads: int | None = None) -> R:
    """One pass: the sum of work(block) over every run of rows, in their order."""
    found = added(lambda shard: work(rows.block(shard)), rows.shards(), threads)
    if found is None:
        raise ValueError("there are no rows")
    return found


@dataclass(frozen=True, eq=False)
class Matrix:
    """A design in memory: a matrix, dense or scipy's sparse, its columns used as they are.

    `y` is what the loss takes: a number a row, or for the softmax the number of its class.
    """

    x: Any
    y: NDArray[Any]
    weights: Floats | None = None
    offset: Floats | None = None

    @property
    def width(self) -> int:
        """How many columns."""
        return int(self.x.shape[1])

    def shards(self) -> list[slice]:
        """The rows in runs of a fixed length."""
        return [slice(start, min(start + SHARD, len(self.y))) for start in range(0, len(self.y), SHARD)]

    def block(self, shard: slice) -> Block:
        """Some rows."""
        sparse = hasattr(self.x, "tocsr")
        rows = self.x[shard]
        none = np.zeros((len(self.y[shard]), 0))
        return Block(
            none if sparse else np.asarray(rows),
            rows if sparse else None,
            none.astype(np.int32),
            self.width,
            self.y[shard],
            None if self.weights is None else self.weights[shard],
            None if self.offset is None else self.offset[shard],
        )
