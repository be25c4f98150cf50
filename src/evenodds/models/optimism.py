"""How much less the odds should be believed of rows that the exponents were not fitted on.

Each row's evidence is that of a model which never saw it, but the exponents did: fitted to few rows that leave a doubt,
they are a little too sure of those. So every row is left out of them too, by one of Newton's steps, which the curve at
the end of the fit makes cheap; the power of all odds that serves these rows, over the one that serves them as fitted,
is the answer. Mushrooms, of which a hundredth is in doubt, are believed a tenth less, most tables a fiftieth.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenodds.families.leaves import Floats
from evenodds.kernel import kernel
from evenodds.models.temper_problem import FLAT, STEPS, Problem

SURE = 1e-3  # the odds against a class, below which its row cannot have moved them
LARGE = 30.0  # log-odds beside which 1 is nothing
ROUNDS = 8  # until a row's odds without it stay as they are: each leaves less than half of what was missing
LOWEST = 0.5  # power: a fit that is worse than that is of too few rows to tell


@kernel
def leave_out(
    says: Any,
    logs: Any,
    texts: Any,
    y: Any,
    weights: Any,
    exponents: Any,
    shrink: Any,
    offsets: Any,
    root: Any,
    odds: Any,
    left: Any,
) -> None:
    """odds[o, i] = log-odds of row i's o-th other class against its own; left[o, i] = the same had it not been fitted.

    Without row i, whose slope is J'p and curve J'WJ, Newton's step from the numbers as they are moves its odds by
    d = A (p + W d), where A = J H⁻¹ J' and root root' = H⁻¹; no row is worth more than one.
    """
    n, others, groups = says.shape
    inner, size = groups + len(texts), len(root)
    each, u = np.empty(inner), np.empty((others, size))
    p, push, moved, a = np.empty(others), np.empty(others), np.empty(others), np.empty((others, others))
    believed = np.exp(exponents)
    for i in range(n):
        own, w = y[i], min(weights[i], 1.0)
        whole = 1.0
        for k in range(len(texts)):
            believed[texts[k]] = np.exp(exponents[texts[k]] - shrink[k] * logs[i, k])
        for o in range(others):
            total = offsets[o + (o >= own)] - offsets[own]
            for j in range(groups):
                total += believed[j] * says[i, o, j]
            odds[o, i] = left[o, i] = total
            p[o] = np.exp(min(total, LARGE))
            whole += p[o]
        if whole - 1.0 < SURE:
            continue
        for o in range(others):
            p[o] /= whole
            c = inner + o + (o >= own)
            for b in range(size):
                u[o, b] = root[c, b] - root[inner + own, b]
            for j in range(groups):
                each[j] = believed[j] * says[i, o, j]
            for k in range(len(texts)):
                each[groups + k] = -logs[i, k] * each[texts[k]]
            for j in range(inner):
                for b in range(size):
                    u[o, b] += each[j] * root[j, b]
        a[:] = 0.0
        for b in range(size):
            for o in range(others):
                for d in range(others):
                    a[o, d] += w * u[o, b] * u[d, b]
        moved[:] = 0.0
        for _ in range(ROUNDS):
            along = 0.0
            for o in range(others):
                along += p[o] * moved[o]
            for o in range(others):
                push[o] = p[o] * (1.0 + moved[o] - along)
            for o in range(others):
                moved[o] = 0.0
                for d in range(others):
                    moved[o] += a[o, d] * push[d]
        for o in range(others):
            left[o, i] += moved[o]


def power(odds: Floats, weights: Floats) -> float:
    """The power of the odds of others against the own class under which the own classes are most probable."""
    s = 1.0
    for _ in range(STEPS):
        z = s * odds
        top = np.maximum(z.max(axis=0), 0.0)
        p = np.exp(z - top)
        p /= np.exp(-top) + p.sum(axis=0)
        mean = (p * odds).sum(axis=0)
        step = float(weights @ mean / max(weights @ ((p * odds * odds).sum(axis=0) - mean * mean), 1e-300))
        s *= math.exp(min(max(-step / s, -1.0), 1.0))
        if abs(step) < 1e-3:
            break
    return s


def optimism(problem: Problem, x: Floats, curve: Floats) -> float:
    """The power of all odds, at most 1, for rows that the numbers were not fitted on.

    `curve` is that of all rows which were; the problem may have some of them.
    """
    bends, axes = np.linalg.eigh(curve)
    root = np.ascontiguousarray(axes / np.sqrt(np.maximum(np.abs(bends), FLAT)))
    odds, left = np.empty((2, *problem.says.shape[1::-1]))
    leave_out(*problem.arguments(x), root, odds, left)
    return min(max(power(left, problem.weights) / power(odds, problem.weights), LOWEST), 1.0)
