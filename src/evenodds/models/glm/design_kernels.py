"""Kernels over columns that are mostly zero: a row of c categories, or words, touches c numbers, never a row of zeros.

One-hot columns are kept as codes. A code is the place of its column among the coefficients. The place after the last
stands for a reference category: what is added there is thrown away, which is quicker than asking each time. Others are
scipy's rows (csr), whose own products hold the interpreter's lock, so that threads wait for each other.
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
    """out[a, b] += weight of each row whose columns fall on a and b, the later column's code first."""
    rows, columns = codes.shape
    for i in range(rows):
        weight = weights[i]
        for j in range(columns):
            line = out[codes[i, j]]
            for k in range(j + 1):
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


@kernel
def spread(places: Any, ends: Any, values: Any, coefficients: Any, score: Any) -> None:
    """score[i, :] += Σ_j values[j] · coefficients[places[j], :] over the entries j of row i."""
    outputs = score.shape[1]
    for i in range(len(score)):
        for j in range(ends[i], ends[i + 1]):
            value, line = values[j], coefficients[places[j]]
            for k in range(outputs):
                score[i, k] += value * line[k]


@kernel
def collect(places: Any, ends: Any, values: Any, slopes: Any, out: Any) -> None:
    """out[places[j], :] += values[j] · slopes[i, :] over the entries j of row i: the transposed design times slopes."""
    outputs = slopes.shape[1]
    for i in range(len(slopes)):
        for j in range(ends[i], ends[i + 1]):
            value, line = values[j], out[places[j]]
            for k in range(outputs):
                line[k] += value * slopes[i, k]
