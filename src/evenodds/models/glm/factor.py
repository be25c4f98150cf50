"""The tally of a linear regression that loses no digits: the triangular factor of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError
from evenodds.models.algebra.triangle import triangle_of
from evenodds.models.alone import alone
from evenodds.threads import in_order

Floats = NDArray[np.float64]

_SHARD = 512  # rows factored at once: a shard of fifty columns stays in the processor's cache
_STACK = 16  # shards whose triangles are set upon each other


@dataclass(frozen=True, eq=False)
class Factor:
    """All that least squares needs to know of some rows: the triangle R of the QR factors of [X y].

        sqrt(W) [X y] = Q R,    so    [X y]' W [X y] = R' R

    Factors add: the triangle of two together is that of one set upon the other (TSQR; Demmel, Grigori, Hoemmen and
    Langou, SIAM J. Sci. Comput. 34, 2012). They do not subtract: taking rows away from a triangle ("downdating") loses
    the digits it was kept for; the Gram matrix X'WX does subtract, and has half the digits. Scales of columns do not
    matter: the error of each column of R is a rounding error of that column's own size.

    The points (0, 1), (1, 3) and (2, 5) lie on a line, so nothing is left of y below the triangle of X:

    >>> ones, x, y = np.ones(3), np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])
    >>> points = Factor.of(np.column_stack([ones, x]), y)
    >>> bool(abs(points.triangle[2, 2]) < 1e-15)
    True
    >>> twice = points + points
    >>> twice.rows, np.round(twice.triangle[0, 0] ** 2, 12).item()
    (6, 6.0)
    """

    triangle: Floats  # (at most p + 1, p + 1), the last column that of y; trapezoidal while the rows are few
    rows: int  # of positive weight: a row of weight 0 is no row
    weight: float

    @staticmethod
    def nothing(columns: int) -> Factor:
        """The factor of no rows."""
        return Factor(np.zeros((0, columns + 1)), 0, 0.0)

    @staticmethod
    def of(
        X: Floats,
        y: Floats,
        weights: Floats | None = None,
        names: Sequence[str] | None = None,
        threads: int | None = None,
    ) -> Factor:
        """The factor of some rows; in shards of a few hundred, so that it takes little memory besides them."""
        rows, p = X.shape
        size = max(_SHARD, 8 * (p + 1))

        def triangle(start: int) -> Floats:
            here = slice(start, min(start + size, rows))
            block = np.column_stack([X[here], y[here]])
            if weights is not None:
                block *= np.sqrt(weights[here])[:, None]
            return triangle_of(block)

        def stacked(start: int) -> Floats:
            shards = range(start, min(start + _STACK * size, rows), size)
            return triangle_of(np.concatenate([triangle(shard) for shard in shards]))

        if rows <= size:
            whole = triangle(0)
        else:
            with alone():
                whole = triangle_of(np.concatenate(list(in_order(stacked, range(0, rows, _STACK * size), threads))))
        if not np.isfinite(whole).all():
            raise _not_finite(X, y, names)
        counted = rows if weights is None else int(np.count_nonzero(weights))
        return Factor(whole, counted, float(rows) if weights is None else float(np.sum(weights)))

    def __add__(self, other: Factor) -> Factor:
        """The factor of the rows of both."""
        stacked = np.concatenate([self.triangle, other.triangle])
        return Factor(triangle_of(stacked), self.rows + other.rows, self.weight + other.weight)


def _not_finite(X: Floats, y: Floats, names: Sequence[str] | None) -> DataError:
    """The error for a design that is not all numbers."""
    for j in range(X.shape[1]):
        bad = np.flatnonzero(~np.isfinite(X[:, j]))
        if len(bad):
            name = names[j] if names is not None else f"x{j}"
            return DataError(
                f"column '{name}' holds {X[bad[0], j]} (row {bad[0]} of its batch, {len(bad)} such); "
                "least squares needs finite numbers: fill the cells or leave the rows out"
            )
    bad = np.flatnonzero(~np.isfinite(y))
    if len(bad):
        return DataError(
            f"the target holds {y[bad[0]]} (row {bad[0]} of its batch, {len(bad)} such); leave those rows out"
        )
    return DataError("the columns are too large to be squared and added; divide them by a power of ten")
