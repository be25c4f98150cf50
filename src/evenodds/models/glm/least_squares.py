"""Least squares whose digits can be relied on, from any number of batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds import double_double as dd
from evenodds.errors import DataError
from evenodds.models.algebra.collinear import Collinear, collinear, lengths
from evenodds.models.algebra.triangle import triangle_of
from evenodds.models.glm.factor import Factor
from evenodds.models.glm.refine import Block, Blocks, gram, inverse_triangle, plain_inverse, refine

Floats = NDArray[np.float64]

# A QR solution is off by about condition² · 2^-53 where the residuals are large: below this one, by 1e-12 or so.
ILL_CONDITIONED = 100.0
# The triangle's inverse, and so the standard errors, are off by condition · 2^-53: below this one, by 1e-11 or so.
SEVERE = 1e5


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The coefficients that leave the least (weighted) sum of squares Σ w (y - x·b)², and how well they are known.

    (X'WX)^-1 = S^-1 T T' S^-1,    T = `inverse`, the inverse of the triangle `factor` of the kept columns, and S their
                                   scales, powers of two that bring each column to a length between 1/2 and 1

    `inverse` is kept beside `factor` because, for an ill-conditioned design, it has digits that inverting the rounded
    triangle would lose. A column that is a combination of others is dropped: its coefficient is 0, its covariances
    NaN; `collinear` names it and says the relation. The fitted values are the same whichever columns are dropped.
    """

    names: tuple[str, ...]
    coefficients: Floats  # (p,)
    collinear: Collinear
    factor: Floats  # (k, k), of the kept columns divided by `scale`
    inverse: Floats  # (k, k)
    scale: Floats  # (k,)
    rss: float
    rows: int  # of positive weight
    weight: float  # the sum of the weights
    passes: int  # over the rows, to refine the solution; 0 if it was good as it came

    @property
    def kept(self) -> NDArray[np.intp]:
        """The numbers of the independent columns, ascending."""
        return self.collinear.kept

    @property
    def rank(self) -> int:
        """How many columns are independent."""
        return self.collinear.rank

    @property
    def condition(self) -> float:
        """The condition number of the kept columns, each scaled to length 1."""
        return self.collinear.condition

    @property
    def refined(self) -> bool:
        """Whether residuals in double-doubles were needed."""
        return self.passes > 0

    @cached_property
    def covariance(self) -> Floats:
        """(X'WX)^-1, (p, p), NaN in the rows and columns of dropped ones: times the variance, the coefficients' own."""
        whole = np.full((len(self.names), len(self.names)), np.nan)
        root = self.root[self.kept]
        whole[np.ix_(self.kept, self.kept)] = root @ root.T
        return whole

    @cached_property
    def root(self) -> Floats:
        """(p, k), 0 in the rows of dropped columns: (X'WX)^-1 = root rootᵀ."""
        whole = np.zeros((len(self.names), self.rank))
        whole[self.kept] = self.inverse / self.scale[:, None]
        return whole


def least_squares(
    blocks: Blocks, names: Sequence[str], intercept: int | None = None, threads: int | None = None
) -> LeastSquares:
    """Least squares over the rows that `blocks()` gives, as often as it is called: (X, y, weights or None) each.

    X has one column for each name, the column of ones included if there is to be one; `intercept` is its number. X may
    also be double-doubles, (2, rows, columns), as `powers` makes them. The rows are read once where the design is well
    conditioned, and a few times more, summing to 32 digits, where it is not; the digits that come out are those of the
    doubles that went in. A factor of rows adds, so the size of the batches does not matter; it does not subtract.

    The distance a car needs to stop goes with its speed (Ezekiel 1930, five of the fifty rows):

    >>> speed = np.array([4.0, 10, 15, 20, 25])
    >>> stopping = np.array([2.0, 26, 54, 64, 85])
    >>> X = np.column_stack([np.ones(5), speed])
    >>> fit = least_squares(lambda: [(X, stopping, None)], ["intercept", "speed"], intercept=0)
    >>> [round(b, 4) for b in fit.coefficients.tolist()]
    [-11.9616, 3.9298]
    >>> errors = np.sqrt(fit.rss / (5 - 2) * np.diag(fit.covariance))
    >>> [round(e, 4) for e in errors.tolist()]
    [4.5907, 0.2777]
    """
    p = len(names)
    checked = _checked(blocks, names)
    total = Factor.nothing(p)
    for X, y, weights in checked():
        total = total + Factor.of(X if X.ndim == 2 else X[0], y, weights, names, threads)
    if not total.rows:
        raise DataError("no row of positive weight to fit; give at least one")
    found = collinear(total.triangle[:, :p], names, intercept)
    kept = found.kept
    scale = _powers_of_two(lengths(total.triangle))
    kept_triangle = total.triangle[:, [*kept, p]] / scale[[*kept, p]]
    triangle = np.zeros((len(kept) + 1, len(kept) + 1))
    square = triangle_of(kept_triangle)
    triangle[: len(square)] = square
    factor, along, rest = triangle[:-1, :-1], triangle[:-1, -1], float(triangle[-1, -1])
    inverse = plain_inverse(factor)
    b, squares, passes = inverse @ along, rest * rest, 0
    if found.condition > ILL_CONDITIONED:
        if found.condition > SEVERE:
            inverse = inverse_triangle(gram(checked, 1 / scale, threads)[:, kept[:, None], kept])
        b, sums, passes = refine(checked, 1 / scale, kept, b, inverse, threads)
        squares = sums.squares
        if sums.rows != total.rows:
            raise ValueError(
                f"blocks() gave {total.rows} rows of positive weight at the first call and {sums.rows} at a later one; "
                "it must give the same rows every time"
            )
    coefficients = np.zeros(p)
    coefficients[kept] = b * (scale[p] / scale[kept])
    rss = squares * float(scale[p]) * float(scale[p])
    return LeastSquares(
        tuple(names), coefficients, found, factor, inverse, scale[kept], rss, total.rows, total.weight, passes
    )


def powers(x: ArrayLike, degree: int) -> Floats:
    """The columns 1, x, x², ... to the given degree as double-doubles (2, rows, degree + 1), for `least_squares`.

    A power of a double is rarely a double. Rounding the powers moves the points off the polynomial they came from, and
    an ill-conditioned design enlarges that: of Filip's certified coefficients, 7 digits can be had from rounded powers
    by whatever method, and 14 from these.

    >>> high, low = powers([0.1], 2)[:, 0]
    >>> float(high[2]), float(low[2])  # 0.1² is not this double, but this sum of two (to 32 digits)
    (0.010000000000000002, -8.326672684688674e-19)
    """
    x = dd.of(np.asarray(x, np.float64))
    columns = [dd.of(np.ones(x.shape[1]))]
    for _ in range(degree):
        columns.append(dd.multiply(columns[-1], x))
    return np.stack(columns, axis=-1)


def _powers_of_two(length: Floats) -> Floats:
    """The power of two next above each length (1 for 0): to divide by it takes no digit away."""
    _, exponent = np.frexp(length)
    scale: Floats = np.ldexp(1.0, np.clip(exponent, -1000, 1000))
    return np.where(length > 0, scale, 1.0)


def _checked(blocks: Blocks, names: Sequence[str]) -> Blocks:
    """The same blocks, as arrays of doubles of matching shapes."""

    def again() -> Iterator[Block]:
        for X, y, weights in blocks():
            X, y = np.asarray(X, np.float64), np.asarray(y, np.float64)
            w = None if weights is None else np.asarray(weights, np.float64)
            if X.shape[-1] != len(names) or X.ndim not in (2, 3) or y.shape != X.shape[-2:-1]:
                raise ValueError(
                    f"a block's X has shape {X.shape} and its y {y.shape}; "
                    f"expected (rows, {len(names)}), a column for each name, and (rows,)"
                )
            if w is not None and (w.shape != y.shape or not np.isfinite(w).all() or (w < 0).any()):
                raise DataError("weights must be finite, at least 0, and one for each row")
            yield X, y, w

    return again
