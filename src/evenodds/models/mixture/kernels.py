"""What one pass of EM does with a tile of rows: densities under every component, their shares, and weighted sums.

A tile has the rows along its last axis, the components along its first. Sums run side by side and are folded in halves
at the end, so that a tile's length must be a power of two; rows that are none have weight 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenodds.kernel import kernel


@kernel
def add_normals(x: Any, means: Any, factors: Any, constants: Any, z: Any, total: Any) -> None:
    """z[g] = factors[g] (x - means[g]), a lower triangle times a vector, and total[g] += constants[g] - |z[g]|² / 2."""
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
            out[t] += constant
        for i in range(d):
            row = z[g, i]
            for t in range(n):
                out[t] -= 0.5 * row[t] * row[t]


@kernel
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
            width = n
            while width > 1:
                width //= 2
                for t in range(width):
                    part[t] += part[t + width]
            first[g, i] += part[0]
            low, high = heavy[:half], heavy[half:]
            for j in range(i + 1):
                below, above = z[g, j, :half], z[g, j, half:]
                for t in range(half):
                    part[t] = low[t] * below[t] + high[t] * above[t]
                width = half
                while width > 1:
                    width //= 2
                    for t in range(width):
                        part[t] += part[t + width]
                second[g, i, j] += part[0]


@kernel
def add_known(x: Any, means: Any, scales: Any, constants: Any, total: Any) -> None:
    """total[g] += constants[g] - scales[g] · (x - means[g])² of a column's known cells; a missing one adds nothing."""
    for g in range(len(means)):
        mean, scale, constant, out = means[g], scales[g], constants[g], total[g]
        for t in range(len(x)):
            apart = x[t] - mean
            out[t] += constant - scale * (apart * apart) if apart == apart else 0.0


@kernel
def add_deviations(x: Any, r: Any, means: Any, sums: Any) -> None:
    """sums[g] += Σ r, Σ r (x - means[g]) and Σ r (x - means[g])² over a column's known cells."""
    n = len(x)
    parts = np.empty((3, n))
    for g in range(len(means)):
        mean, share = means[g], r[g]
        for t in range(n):
            apart = x[t] - mean
            known = apart == apart
            weight, apart = share[t] if known else 0.0, apart if known else 0.0
            parts[0, t] = weight
            parts[1, t] = weight * apart
            parts[2, t] = weight * apart * apart
        for i in range(3):
            part, width = parts[i], n
            while width > 1:
                width //= 2
                for t in range(width):
                    part[t] += part[t + width]
            sums[g, i] += part[0]


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


@kernel
def share_out(total: Any, weights: Any, chances: Any, scores: Any, sums: Any) -> None:
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
