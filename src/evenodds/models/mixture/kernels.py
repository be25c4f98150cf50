"""What one pass of EM does with rows: densities under every component, their shares, and weighted sums.

Rows are gone through a tile at a time, which the nearest cache holds: a tile has the rows along its last axis, the
components along its first. A whole block is one call, so that threads do not wait for each other's interpreter between
tiles. Sums run side by side and are folded in halves at the end, so a tile's length is a power of two; rows that are
none have weight 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenodds.instructions import shared, text_kernel
from evenodds.kernel import kernel

TILE = 512  # rows


@shared
def length(n: int) -> int:
    """Of the tiles of n rows: a power of two."""
    wide = 2
    while wide < n and wide < TILE:
        wide *= 2
    return wide


@shared
def take(x: Any, weights: Any, start: int, cells: Any, heavy: Any) -> None:
    """A tile of the columns x and of the weights, filled up with rows of weight 0."""
    size = min(heavy.shape[0], x.shape[1] - start)
    for t in range(size):
        heavy[t] = weights[start + t]
    for t in range(size, heavy.shape[0]):
        heavy[t] = 0.0
    for j in range(x.shape[0]):
        column, out = x[j], cells[j]
        for t in range(size):
            out[t] = column[start + t]
        for t in range(size, heavy.shape[0]):
            out[t] = 0.0


@shared
def fold(part: Any) -> float:
    """The sum, in halves."""
    width = part.shape[0]
    while width > 1:
        width //= 2
        for t in range(width):
            part[t] += part[t + width]
    return part[0]


@shared
def whiten(x: Any, means: Any, factors: Any, constants: Any, z: Any, total: Any) -> None:
    """z[g] = factors[g] (x - means[g]), a lower triangle times a vector, and total[g] = constants[g] - |z[g]|² / 2."""
    d, n = x.shape
    for g in range(len(means)):
        for i in range(d):
            row, column, mean = z[g, i], x[i], means[g, i]
            for t in range(n):
                row[t] = column[t] - mean
        for i in range(d - 1, -1, -1):  # from below, so that what is above is still what it was
            row, factor = z[g, i], factors[g, i, i]
            for t in range(n):
                row[t] *= factor
            for j in range(i):
                factor, above = factors[g, i, j], z[g, j]
                for t in range(n):
                    row[t] += factor * above[t]
        out, constant = total[g], constants[g]
        for t in range(n):
            out[t] = constant
        for i in range(d):
            row = z[g, i]
            for t in range(n):
                out[t] -= 0.5 * row[t] * row[t]


@shared
def add_products(z: Any, r: Any, first: Any, second: Any) -> None:
    """first[g] += Σ r z, and the lower triangle of second[g] += Σ r z zᵀ, over a tile's rows."""
    k, d, n = z.shape
    heavy, part, half = np.empty(n), np.empty(n), n // 2
    for g in range(k):
        share = r[g]
        for i in range(d):
            row = z[g, i]
            for t in range(n):
                heavy[t] = share[t] * row[t]
                part[t] = heavy[t]
            first[g, i] += fold(part)
            low, high, sums = heavy[:half], heavy[half:], part[:half]
            for j in range(i + 1):
                below, above = z[g, j, :half], z[g, j, half:]
                for t in range(half):
                    sums[t] = low[t] * below[t] + high[t] * above[t]
                second[g, i, j] += fold(sums)


@shared
def add_curve(x: Any, means: Any, scales: Any, constants: Any, total: Any) -> None:
    """total[g] += constants[g] - scales[g] · (x - means[g])² of a column's known cells; a missing one adds nothing."""
    for g in range(len(means)):
        mean, scale, constant, out = means[g], scales[g], constants[g], total[g]
        for t in range(len(x)):
            apart = x[t] - mean
            out[t] += constant - scale * (apart * apart) if apart == apart else 0.0


@shared
def add_deviations(x: Any, r: Any, means: Any, parts: Any, sums: Any) -> None:
    """sums[g] += Σ r, Σ r (x - means[g]) and Σ r (x - means[g])² over a column's known cells."""
    for g in range(len(means)):
        mean, share = means[g], r[g]
        for t in range(len(x)):
            apart = x[t] - mean
            known = apart == apart
            weight, apart = share[t] if known else 0.0, apart if known else 0.0
            parts[0, t] = weight
            parts[1, t] = weight * apart
            parts[2, t] = weight * apart * apart
        for i in range(3):
            sums[g, i] += fold(parts[i])


@shared
def shares(total: Any, weights: Any, chances: Any, scores: Any, sums: Any) -> None:
    """Log densities of the components become each row's shares of them, times its weight.

    scores[t] = log Σ_g e^total[g, t]; sums[0] += Σ weight · score; sums[1] += Σ weight · entropy of the shares. A row
    that is impossible under every component is shared out by their `chances`.
    """
    k, n = total.shape
    for t in range(n):
        top = total[0, t]
        for g in range(1, k):
            top = max(top, total[g, t])
        weight = weights[t]
        if top == -math.inf:
            scores[t] = top
            for g in range(k):
                total[g, t] = weight * chances[g]
            if weight > 0.0:
                sums[0] += top
            continue
        whole, mixed = 0.0, 0.0
        for g in range(k):
            apart = total[g, t] - top
            share = math.exp(apart)
            whole += share
            if share > 0.0:
                mixed += share * apart
            total[g, t] = share
        log = math.log(whole)
        scores[t] = top + log
        if weight > 0.0:
            sums[0] += weight * scores[t]
            sums[1] += weight * (log - mixed / whole)
        factor = weight / whole
        for g in range(k):
            total[g, t] *= factor


@kernel
def add_table(codes: Any, table: Any, total: Any) -> None:
    """total[g, t] += table[g, code] for the code of each column in row t."""
    for g in range(len(table)):
        row, out = table[g], total[g]
        for j in range(len(codes)):
            column = codes[j]
            for t in range(len(column)):
                out[t] += row[column[t]]


@kernel
def add_counts(codes: Any, r: Any, counts: Any) -> None:
    """counts[g, code] += r[g, t] for the code of each column in row t."""
    for g in range(len(r)):
        share, out = r[g], counts[g]
        for j in range(len(codes)):
            column = codes[j]
            for t in range(len(column)):
                out[column[t]] += share[t]


@text_kernel
def add_known(x: Any, means: Any, scales: Any, constants: Any, total: Any) -> None:
    """The same of many rows."""
    add_curve(x, means, scales, constants, total)


@text_kernel
def share_out(total: Any, weights: Any, chances: Any, scores: Any, sums: Any) -> None:
    """The same of many rows."""
    shares(total, weights, chances, scores, sums)


@text_kernel
def joint_normals(x: Any, weights: Any, means: Any, factors: Any, constants: Any, total: Any) -> None:
    """total[g] = log density of each row x[:, t], of Gaussians whose columns hang together."""
    d, n = x.shape
    k, wide = len(means), length(n)
    cells, heavy, z, part = np.empty((d, wide)), np.empty(wide), np.empty((k, d, wide)), np.empty((k, wide))
    for start in range(0, n, wide):
        take(x, weights, start, cells, heavy)
        whiten(cells, means, factors, constants, z, part)
        for g in range(k):
            for t in range(min(wide, n - start)):
                total[g, start + t] = part[g, t]


@text_kernel
def expect_normals(
    x: Any,
    weights: Any,
    chances: Any,
    means: Any,
    factors: Any,
    constants: Any,
    sums: Any,
    counts: Any,
    first: Any,
    second: Any,
) -> None:
    """All that a step of EM sums over rows x[:, t] of Gaussians whose columns hang together."""
    d, n = x.shape
    k, wide = len(means), length(n)
    cells, heavy, scores = np.empty((d, wide)), np.empty(wide), np.empty(wide)
    z, total = np.empty((k, d, wide)), np.empty((k, wide))
    for start in range(0, n, wide):
        take(x, weights, start, cells, heavy)
        whiten(cells, means, factors, constants, z, total)
        shares(total, heavy, chances, scores, sums)
        add_products(z, total, first, second)
        for g in range(k):
            counts[g] += fold(total[g])


@text_kernel
def expect_numbers(
    x: Any,
    weights: Any,
    chances: Any,
    means: Any,
    scales: Any,
    constants: Any,
    sums: Any,
    counts: Any,
    moments: Any,
) -> None:
    """The same of independent columns, each with its own means, scales, constants and moments; cells may be missing."""
    d, n = x.shape
    k, wide = means.shape[1], length(n)
    cells, heavy, scores = np.empty((d, wide)), np.empty(wide), np.empty(wide)
    total, parts = np.empty((k, wide)), np.empty((3, wide))
    for start in range(0, n, wide):
        take(x, weights, start, cells, heavy)
        for g in range(k):
            chance = math.log(chances[g]) if chances[g] > 0.0 else -math.inf
            for t in range(wide):
                total[g, t] = chance
        for j in range(d):
            add_curve(cells[j], means[j], scales[j], constants[j], total)
        shares(total, heavy, chances, scores, sums)
        for j in range(d):
            add_deviations(cells[j], total, means[j], parts, moments[j])
        for g in range(k):
            counts[g] += fold(total[g])
