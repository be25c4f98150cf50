"""Least squares to the last digit: residuals, and the Gram matrix, summed to 32 digits.

Björck (BIT 7, 1967) solves for the residuals and the coefficients together,

    r + X b = y,    X' W r = 0,

computes what an approximate solution leaves of both equations in twice the digits, and solves for the correction with
the triangle that is there already. Here r is formed anew from b, row by row and to 32 digits, wherever it is needed; so
the first equation holds, nothing as long as the rows is stored, and the correction d is what the second one leaves:

    R' R d = X' W (y - X b)

Each step leaves about condition · 2^-53 of the error before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from evenodds import double_double as dd
from evenodds.kernel import kernel, product_error
from evenodds.threads import in_order

Floats = NDArray[np.float64]
Block = tuple[Floats, Floats, Floats | None]
Blocks = Callable[[], Iterable[Block]]

_SHARD = 1 << 14  # rows that one call of a kernel takes
_STEPS = 10  # each step is a pass over the rows; two or three are enough where the condition is below 1e12
_CLOSE = 2.0**-54
_NOTHING = 2.0**-90  # beside a y of length 1: what is left of a fit without residuals is no longer worth a pass


@kernel
def residual_sums(high: Any, low: Any, y: Any, weights: Any, shrink: Any, b: Any, left: Any, squares: Any) -> None:
    """Add X'W(y - Xb) to left (2, p) and Σw(y - xb)² to squares (2,), in double-doubles.

    X is high + low (low has no rows if there is none) with column j times shrink[j], powers of two; b is a
    double-double. Errors of sums and products are gathered beside them (Ogita, Rump and Oishi, SIAM J. Sci. Comput.
    26, 2005): as if all were computed in 32 digits and then rounded.
    """
    rows, p = high.shape
    extended = low.shape[0] > 0
    for i in range(rows):
        total = y[i]
        error = 0.0
        for j in range(p):
            x = high[i, j] * shrink[j]
            term = -x * b[0, j]
            gone = product_error(-x, b[0, j], term) - x * b[1, j]
            if extended:
                gone -= low[i, j] * shrink[j] * b[0, j]
            s = total + term
            t = s - total
            error += ((total - (s - t)) + (term - t)) + gone
            total = s
        r = total + error
        r_low = error - (r - total)
        weighted = weights[i] * r
        weighted_low = product_error(weights[i], r, weighted) + weights[i] * r_low
        for j in range(p):
            x = high[i, j] * shrink[j]
            term = x * weighted
            gone = product_error(x, weighted, term) + x * weighted_low
            if extended:
                gone += low[i, j] * shrink[j] * weighted
            s = left[0, j] + term
            t = s - left[0, j]
            left[1, j] += ((left[0, j] - (s - t)) + (term - t)) + gone
            left[0, j] = s
        term = weighted * r
        gone = product_error(weighted, r, term) + weighted * r_low + weighted_low * r
        s = squares[0] + term
        t = s - squares[0]
        squares[1] += ((squares[0] - (s - t)) + (term - t)) + gone
        squares[0] = s


@kernel
def gram_sums(high: Any, low: Any, weights: Any, shrink: Any, gram: Any) -> None:
    """Add X'WX to the lower triangle of gram (2, p, p), in double-doubles; the arguments are those of residual_sums."""
    rows, p = high.shape
    extended = low.shape[0] > 0
    for i in range(rows):
        for j in range(p):
            x = high[i, j] * shrink[j]
            weighted = weights[i] * x
            weighted_low = product_error(weights[i], x, weighted)
            if extended:
                weighted_low += weights[i] * (low[i, j] * shrink[j])
            for k in range(j + 1):
                z = high[i, k] * shrink[k]
                term = weighted * z
                gone = product_error(weighted, z, term) + weighted_low * z
                if extended:
                    gone += weighted * (low[i, k] * shrink[k])
                s = gram[0, j, k] + term
                t = s - gram[0, j, k]
                gram[1, j, k] += ((gram[0, j, k] - (s - t)) + (term - t)) + gone
                gram[0, j, k] = s


class Residuals(NamedTuple):
    """What one pass over the rows finds at some coefficients: X'W(y - Xb), the sum of squares left, the rows."""

    left: Floats
    squares: float
    rows: int


def parts(X: Floats) -> tuple[Floats, Floats]:
    """A design as its high and low parts, row by row in memory; the low part of plain doubles has no rows."""
    if X.ndim == 3:
        return np.ascontiguousarray(X[0]), np.ascontiguousarray(X[1])
    return np.ascontiguousarray(X), np.zeros((0, X.shape[1]))


def residuals(blocks: Blocks, shrink: Floats, b: Floats, threads: int | None = None) -> Residuals:
    """One pass over the rows; y is taken times the last of `shrink`, column j times shrink[j]."""
    p = b.shape[1]

    def work(high: Floats, low: Floats, y: Floats, weights: Floats) -> Floats:
        out = np.zeros((2, p + 1))
        left, squares = out[:, :p].copy(), out[:, p].copy()
        residual_sums(high, low, y * shrink[p], weights, shrink[:p], b, left, squares)
        return np.concatenate([left, squares[:, None]], axis=1)

    total, rows = _total(blocks, work, np.zeros((2, p + 1)), threads)
    sums = dd.value(total)
    return Residuals(sums[:p], float(sums[p]), rows)


def gram(blocks: Blocks, shrink: Floats, threads: int | None = None) -> Floats:
    """X'WX as double-doubles (2, p, p), by one pass over the rows."""
    p = len(shrink) - 1

    def work(high: Floats, low: Floats, y: Floats, weights: Floats) -> Floats:
        out = np.zeros((2, p, p))
        gram_sums(high, low, weights, shrink[:p], out)
        return out

    lower, _ = _total(blocks, work, np.zeros((2, p, p)), threads)
    whole: Floats = lower + np.swapaxes(np.tril(lower, -1), 1, 2)
    return whole


def _total(blocks: Blocks, work: Callable[..., Floats], total: Floats, threads: int | None) -> tuple[Floats, int]:
    """work(high, low, y, weights) summed over shards of the blocks, in their order; and how many rows counted."""
    counted = 0
    for X, y, weights in blocks():
        high, low = parts(X)
        rows = len(y)
        w = np.ones(rows) if weights is None else weights
        counted += int(np.count_nonzero(w))

        def shard(start: int, high: Floats = high, low: Floats = low, y: Floats = y, w: Floats = w) -> Floats:
            here = slice(start, start + _SHARD)
            return work(high[here], low[here], y[here], w[here])

        for part in in_order(shard, range(0, rows, _SHARD), threads):
            total = dd.add(total, part)
    return total, counted


def refine(
    blocks: Blocks, shrink: Floats, kept: Any, b: Floats, inverse: Floats, threads: int | None = None
) -> tuple[Floats, Residuals, int]:
    """Correct the coefficients of the kept columns until they stand; also the last pass' sums and how many there were.

    `inverse` is the inverse of the kept columns' triangle. The steps end when the next would change nothing, or when
    they no longer get shorter: then what is left is the 32nd digit's, enlarged by the square of the condition.
    """
    full = np.zeros((2, len(shrink) - 1))
    full[0, kept] = b
    before = np.inf
    for step in range(1, _STEPS + 1):  # noqa: B007 - it is returned
        sums = residuals(blocks, shrink, full, threads)
        along = inverse.T @ sums.left[kept]
        change = inverse @ along
        length = float(np.linalg.norm(along))
        if not length < 0.5 * before:
            break
        full[:, kept] = dd.add(full[:, kept], dd.of(change))
        before = length
        settled = np.all(np.abs(change) <= _CLOSE * np.abs(full[0, kept]))
        if settled and (length**2 <= _CLOSE * sums.squares or length <= _NOTHING):
            break
    return dd.value(full)[kept], sums, step


def inverse_triangle(gram: Floats) -> Floats:
    """The inverse of the upper triangle R with R'R = gram, by Cholesky's way in double-doubles; its columns rounded.

    Its relative error is about condition² · 2^-104, where the triangle of a QR factorisation has condition · 2^-53.
    """
    p = gram.shape[-1]
    rest = gram.copy()
    lower = np.zeros_like(gram)
    inverse = np.zeros_like(gram)  # of the lower triangle L = R'
    for j in range(p):
        pivot = dd.square_root(rest[:, j, j])
        lower[:, j:, j] = dd.divide(rest[:, j:, j], pivot[:, None])
        product = dd.multiply(lower[:, j:, j, None], lower[:, None, j:, j])
        rest[:, j:, j:] = dd.subtract(rest[:, j:, j:], product)
    unit = np.stack([np.eye(p), np.zeros((p, p))])
    for j in range(p):  # forward substitution, a row of the inverse at a time
        inverse[:, j] = dd.divide(unit[:, j], lower[:, j, j, None])
        taken = dd.multiply(lower[:, j + 1 :, j, None], inverse[:, None, j])
        unit[:, j + 1 :] = dd.subtract(unit[:, j + 1 :], taken)
    return dd.value(inverse).T


def plain_inverse(triangle: Floats) -> Floats:
    """The inverse of an upper triangle, in doubles."""
    inverse: Floats = solve_triangular(triangle, np.eye(len(triangle)))
    return inverse
