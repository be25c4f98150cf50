"""One machine for all exact answers: it runs a program of products and sums over one flat run of doubles.

A clique's table is walked cell by cell; beside it walks a smaller table over some of its axes, with a step for each
axis, 0 for one that it has not. Axes that can be walked as one are one. A step of the program is a line of `steps`:

    kind, at, beside, axes, first axis, offsets, first offset

`at` is where the clique begins in `work`; `beside` where the smaller table begins, in `work` or among the network's own
tables; to it is added, for each of its offsets, evidence[row, column] · step, so that the same program serves every row
whose evidence is about the same nodes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenodds.kernel import kernel

TABLE, TIMES, SUM, MOST, SCALE, RATIO, CONSTANT, EXPECT, NORM = range(9)


@kernel
def run(
    tables: Any, steps: Any, sizes: Any, strides: Any, offsets: Any, base: Any, work: Any, evidence: Any, given: Any,
    at_given: Any, at_out: Any, out: Any, log_p: Any, weights: Any, expected: Any,
) -> None:  # fmt: skip
    """Run the program for every row: given[row] goes to work[at_given:], work[at_out:] comes out; log p(evidence).

    TABLE     clique *= a table of the network          TIMES  clique *= a table in `work`
    SUM       a table in `work` = the clique's sums     MOST   = the clique's largest cells
    SCALE     a table is divided by its sum, and log_p takes the log of it
    RATIO     a table and the one before it: (old, new) become (new, new / old), 0 / 0 being 0
    CONSTANT  log_p takes the log of one cell of a table of the network
    EXPECT    expected counts += weight · the clique, which is divided by its sum
    NORM      a table is divided by its sum
    """
    count = np.zeros(64, np.int64)
    for row in range(out.shape[0]):
        for i in range(len(base)):
            work[i] = base[i]
        for i in range(given.shape[1]):
            work[at_given + i] = given[row, i]
        log_p[row] = 0.0
        for s in range(len(steps)):
            kind, at, small, axes, first = steps[s, 0], steps[s, 1], steps[s, 2], steps[s, 3], steps[s, 4]
            for i in range(steps[s, 6], steps[s, 6] + steps[s, 5]):
                small += evidence[row, offsets[i, 0]] * offsets[i, 1]
            if kind == CONSTANT:
                log_p[row] += np.log(tables[small]) if tables[small] > 0 else -np.inf
                continue
            if kind in (SCALE, NORM):
                total = 0.0
                for i in range(at, at + axes):
                    total += work[i]
                if kind == SCALE:
                    log_p[row] += np.log(total) if total > 0 else -np.inf
                if total > 0:
                    for i in range(at, at + axes):
                        work[i] /= total
                continue
            if kind == RATIO:
                for i in range(axes):
                    old, new = work[at + i], work[small + i]
                    work[at + i] = new
                    work[small + i] = new / old if old > 0 else 0.0
                continue
            last = first + axes - 1
            inner, step = sizes[last], strides[last]
            outer = 1
            for d in range(first, last):
                outer *= sizes[d]
                count[d - first] = 0
            if kind in (SUM, MOST):
                # the smaller table starts at 0: all products are 0 or more
                size = 1
                for d in range(first, last + 1):
                    if strides[d] > 0:
                        size *= sizes[d]
                for i in range(small, small + size):
                    work[i] = 0.0
            share = 0.0
            if kind == EXPECT:
                total = 0.0
                for i in range(at, at + outer * inner):
                    total += work[i]
                share = weights[row] / total if total > 0 else 0.0
            for _ in range(outer):
                if kind == TIMES:
                    if step == 0:
                        factor = work[small]
                        for k in range(inner):
                            work[at + k] *= factor
                    else:
                        for k in range(inner):
                            work[at + k] *= work[small + k * step]
                elif kind == TABLE:
                    if step == 0:
                        factor = tables[small]
                        for k in range(inner):
                            work[at + k] *= factor
                    else:
                        for k in range(inner):
                            work[at + k] *= tables[small + k * step]
                elif kind == SUM:
                    if step == 0:
                        total = 0.0
                        for k in range(inner):
                            total += work[at + k]
                        work[small] += total
                    else:
                        for k in range(inner):
                            work[small + k * step] += work[at + k]
                elif kind == MOST:
                    for k in range(inner):
                        work[small + k * step] = max(work[small + k * step], work[at + k])
                else:
                    for k in range(inner):
                        expected[small + k * step] += share * work[at + k]
                at += inner
                d = axes - 2
                while d >= 0:
                    count[d] += 1
                    small += strides[first + d]
                    if count[d] < sizes[first + d]:
                        break
                    small -= strides[first + d] * sizes[first + d]
                    count[d] = 0
                    d -= 1
        for i in range(out.shape[1]):
            out[row, i] = work[at_out + i]


@kernel
def gibbs(
    tables: Any, state: Any, free: Any, sizes: Any, starts: Any, families: Any, ends: Any, strides: Any, children: Any,
    child_ends: Any, likely: Any, likely_starts: Any, asked: Any, along: Any, uniform: Any, skipped: Any, counts: Any,
) -> None:  # fmt: skip
    """Draw every free node given its Markov blanket, step by step in each chain; count what is asked for."""
    p = np.empty(sizes.max())
    for step in range(uniform.shape[0]):
        for chain in range(state.shape[0]):
            for f in range(len(free)):
                node = free[f]
                total = 0.0
                for value in range(sizes[node]):
                    state[chain, node] = value
                    weight = likely[likely_starts[node] + value]
                    at = starts[node]
                    for i in range(ends[node], ends[node + 1]):
                        at += state[chain, families[i]] * strides[i]
                    weight *= tables[at]
                    for c in range(child_ends[node], child_ends[node + 1]):
                        child = children[c]
                        at = starts[child]
                        for i in range(ends[child], ends[child + 1]):
                            at += state[chain, families[i]] * strides[i]
                        weight *= tables[at]
                    p[value] = weight
                    total += weight
                u, value = uniform[step, chain, f] * total, 0
                while value < sizes[node] - 1 and u >= p[value]:
                    u -= p[value]
                    value += 1
                while value > 0 and p[value] == 0:  # where rounding has led past the last that is possible
                    value -= 1
                state[chain, node] = value
            if step >= skipped:
                at = 0
                for i in range(len(asked)):
                    at += state[chain, asked[i]] * along[i]
                counts[at] += 1.0


@kernel
def score_families(
    codes: Any, sizes: Any, node: Any, parents: Any, others: Any, weights: Any, kind: Any, each: Any, mass: Any,
    table: Any, out: Any,
) -> None:  # fmt: skip
    """The score of a node with its parents and one more, for each of some others: see `scores.family_score`.

    `codes` are (rows, nodes), -1 where a cell is missing: such rows are left out. Another of -1 is no other. `kind` 0:
    the log-likelihood less `each` a parameter; 1 and 2: the evidence under `each` pseudo-rows over the table, or `each`
    a cell. What the rows say is scaled up to `mass` rows. A table that is too large scores -inf.

    Tables of many others are filled side by side, so that a row need not wait for the one before it to be written.
    """
    r, q = sizes[node], 1
    for p in parents:
        q = min(q * sizes[p], len(table) + 1)
    cells, starts = np.empty(len(others), np.int64), np.empty(len(others), np.int64)
    for k in range(len(others)):
        cells[k] = q * r * (sizes[others[k]] if others[k] >= 0 else 1)
    first = 0
    while first < len(others):
        last, used = first, 0
        while last < len(others) and used + min(cells[last], len(table)) <= len(table):
            starts[last] = used
            used += cells[last] if cells[last] <= len(table) else 0
            last += 1
        for i in range(used):
            table[i] = 0.0
        for i in range(codes.shape[0]):
            y, c = np.int64(codes[i, node]), np.int64(0)
            known = y >= 0
            for p in parents:
                known = known and codes[i, p] >= 0
                c = c * sizes[p] + codes[i, p]
            if known:
                w = weights[i] if len(weights) else 1.0
                for k in range(first, last):
                    o = others[k]
                    x = np.int64(codes[i, o]) if o >= 0 else np.int64(0)
                    if x >= 0 and cells[k] <= len(table):
                        width = sizes[o] if o >= 0 else np.int64(1)
                        table[np.uint64(starts[k] + (c * width + x) * r + y)] += w
        for k in range(first, last):
            if cells[k] > len(table):
                out[k] = -np.inf
                continue
            total, used_mass = 0.0, 0.0
            a = each / cells[k] if kind == 1 else each
            for j in range(starts[k], starts[k] + cells[k], r):
                rows = 0.0
                for m in table[j : j + r]:
                    if m > 0:
                        rows += m
                        total += m * math.log(m) if kind == 0 else math.lgamma(a + m) - math.lgamma(a)
                if rows > 0:
                    used_mass += rows
                    total -= rows * math.log(rows) if kind == 0 else math.lgamma(r * a + rows) - math.lgamma(r * a)
            if 0 < used_mass < mass:
                total *= mass / used_mass
            out[k] = total - each * (cells[k] // r) * (r - 1) if kind == 0 else total
        first = last


@kernel
def pair_information(codes: Any, sizes: Any, groups: Any, many: Any, weights: Any, table: Any, out: Any) -> None:
    """out[i, j] = I(i; j | group), in nats, of all pairs of columns (columns, rows); rows with -1 are left out."""
    n = codes.shape[1]
    for i in range(len(sizes)):
        for j in range(i):
            a, b = sizes[i], sizes[j]
            cells = many * a * b
            for c in range(cells):
                table[c] = 0.0
            for row in range(n):
                x, y, g = codes[i, row], codes[j, row], groups[row]
                if x >= 0 and y >= 0 and g >= 0:
                    table[(g * a + x) * b + y] += weights[row] if len(weights) else 1.0
            total, found = 0.0, 0.0
            for g in range(many):
                here = 0.0
                for x in range(a):
                    rows = 0.0
                    for y in range(b):
                        m = table[(g * a + x) * b + y]
                        rows += m
                        found += m * math.log(m) if m > 0 else 0.0
                    found -= rows * math.log(rows) if rows > 0 else 0.0
                    here += rows
                for y in range(b):
                    rows = 0.0
                    for x in range(a):
                        rows += table[(g * a + x) * b + y]
                    found -= rows * math.log(rows) if rows > 0 else 0.0
                found += here * math.log(here) if here > 0 else 0.0
                total += here
            out[i, j] = out[j, i] = max(found / total, 0.0) if total > 0 else 0.0


@kernel
def combine(codes: Any, size: Any, group: Any) -> None:
    """group = group · size + code + 1, in place: a missing cell (-1) is the first of `size` values."""
    for i in range(len(codes)):
        group[i] = group[i] * size + codes[i] + 1
