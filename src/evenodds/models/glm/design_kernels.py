"""Kernels over one-hot columns that are kept as codes: a row of c categories touches c numbers, never a row of zeros.

A code is the place of its column among the coefficients. The place after the last stands for a reference category: what
is added there is thrown away, which is quicker than asking each time.
"""

from __future__ import annotations

from typing import Any

from evenodds.kernel import kernel


@kernel
def gather(codes: Any, coefficients: Any, score: Any) -> None:
    """score[i] += Σ_j coefficients[codes[i, j]]."""
    rows, columns = codes.shape
    for i in range(rows):
        total = score[i]
        for j in range(columns):
            total += coefficients[codes[i, j]]
        score[i] = total


@kernel
def scatter(codes: Any, slopes: Any, out: Any) -> None:
    """out[codes[i, j]] += slopes[i]: the transposed design times a vector."""
    rows, columns = codes.shape
    for i in range(rows):
        for j in range(columns):
            out[codes[i, j]] += slopes[i]


@kernel
def count_pairs(codes: Any, weights: Any, out: Any) -> None:
    """out[a, b] += weight of each row whose columns fall on a and b, the earlier column's code first."""
    rows, columns = codes.shape
    for i in range(rows):
        weight = weights[i]
        for j in range(columns):
            line = out[codes[i, j]]
            for k in range(j, columns):
                line[codes[i, k]] += weight


@kernel
def scatter_rows(codes: Any, weighted: Any, out: Any) -> None:
    """out[codes[i, j], :] += weighted[i, :]: one-hot columns times dense ones."""
    rows, columns = codes.shape
    width = weighted.shape[1]
    for i in range(rows):
        for j in range(columns):
            line = out[codes[i, j]]
            for k in range(width):
                line[k] += weighted[i, k]
