"""How probable exponents make the classes of rows, and the most probable ones.

All numbers are in one vector: the logs of the exponents and of the class prior's, the powers of texts' lengths, the
classes' offsets. The steps are Newton's: a handful, where there are few enough numbers for a matrix of them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evenodds.families.leaves import Floats
from evenodds.kernel import kernel

WIDE = 0.7  # of the prior of log exponent
APART = 0.2  # the same of a table's column around the mean of all
SHRINKING = 0.4  # the same of a text's power of its length
BALANCE = 0.4  # the same of log of the class prior's exponent, and of the classes' offsets
DIRECT = 100  # numbers, up to which the curvature is worth its price
NEAR = 0.01  # of log-likelihood, that the last step gains: what it leaves is less by far, a thousandth of an error
NEVER = -1e5  # stands for log 0: no row is lost to it, no number overflows
LEAST = -30.0  # a log of probability, below which it is 0: of a million million rows one
DOUBT = 1e-8  # the probability of other classes, below which a row has no curvature worth adding
STEPS, FLAT = 100, 1e-6
USUAL = 0.7  # power of a text's length, to begin with
FAR, SHORT = 1.0, 1e-9  # what a step may change a log by, at most and at least


class Said(NamedTuple):
    """What some columns, believed alike, say of rows that are left out; of a text also how many tokens it has."""

    columns: tuple[str, ...]
    evidence: Floats  # (rows, classes)
    lengths: Floats | None = None
    times: int = 1  # that it is said, by columns that are copies of each other


class Parts(NamedTuple):
    """The numbers, told apart."""

    logs: Floats  # of the exponents
    shrink: Floats
    prior: float  # log of its exponent
    offsets: Floats


@kernel
def against(evidence: Any, y: Any, says: Any) -> None:
    """says[i, o] = what is said of row i for another class than its own (the o-th of them) and against its own."""
    for i in range(len(y)):
        own = y[i]
        mine = max(evidence[i, own], NEVER)
        for o in range(says.shape[1]):
            says[i, o] = max(evidence[i, o + (o >= own)], NEVER) - mine


@kernel
def weigh(
    says: Any,
    logs: Any,
    texts: Any,
    y: Any,
    weights: Any,
    exponents: Any,
    shrink: Any,
    offsets: Any,
    slope: Any,
    curve: Any,
) -> float:
    """-log of the probability of the rows' classes; its derivatives are added to `slope` and, if it has room, `curve`.

    says[i, o, j] is what group j says of row i for the o-th of the other classes, and against its own; logs[i, k] is
    the log of the length of the text in group texts[k]. The curve is symmetric: only its diagonal and what is left of
    it are added.
    """
    n, others, groups = says.shape
    inner, bent = groups + len(texts), len(curve) > 0
    each, p, mean = np.empty((others, inner)), np.empty(others), np.empty(inner)
    believed, cost = np.exp(exponents), 0.0
    for i in range(n):
        own, w, most = y[i], weights[i], 0.0
        for k in range(len(texts)):
            believed[texts[k]] = np.exp(exponents[texts[k]] - shrink[k] * logs[i, k])
        for o in range(others):
            for j in range(groups):
                each[o, j] = believed[j] * says[i, o, j]  # its own slope by the log of its exponent
            a, b, c, d = offsets[o + (o >= own)] - offsets[own], 0.0, 0.0, 0.0
            for j in range(0, groups - 3, 4):  # four sums, none of which waits for another
                a, b, c, d = a + each[o, j], b + each[o, j + 1], c + each[o, j + 2], d + each[o, j + 3]
            for j in range(groups - groups % 4, groups):
                a += each[o, j]
            p[o] = a + b + (c + d)
            most = max(most, p[o])
        mine = whole = np.exp(-most)
        for o in range(others):
            p[o] = np.exp(p[o] - most) if p[o] - most > LEAST else 0.0
            whole += p[o]
        cost += w * (most + np.log(whole))
        mine /= whole
        slope[inner + own] += w * (mine - 1.0)
        mean[:] = 0.0
        for o in range(others):
            p[o] /= whole
            if p[o] == 0.0:
                continue
            slope[inner + o + (o >= own)] += w * p[o]
            for k in range(len(texts)):
                each[o, groups + k] = -logs[i, k] * each[o, texts[k]]
            for a in range(inner):
                mean[a] += p[o] * each[o, a]
        for a in range(inner):
            slope[a] += w * mean[a]
        if not bent or 1.0 - mine < DOUBT:
            continue
        for j in range(groups):
            curve[j, j] += w * mean[j]
        for k in range(len(texts)):
            b = groups + k
            curve[b, texts[k]] += w * mean[b]
            curve[b, b] -= w * logs[i, k] * mean[b]
        curve[inner + own, inner + own] += w * mine * (1.0 - mine)
        for a in range(inner):
            curve[inner + own, a] -= w * mine * mean[a]
        for o in range(others):
            share, c = w * p[o], o + (o >= own)
            if share == 0.0:
                continue
            curve[inner + c, inner + c] += share * (1.0 - p[o])
            curve[inner + max(c, own), inner + min(c, own)] -= share * mine
            for d in range(o):
                curve[inner + c, inner + d + (d >= own)] -= share * p[d]
            for a in range(inner):
                curve[inner + c, a] += share * (each[o, a] - mean[a])
            if others == 1:
                share *= mine
            for a in range(inner):
                far = share * each[o, a]
                for b in range(a + 1):
                    curve[a, b] += far * each[o, b]
        if others > 1:
            for a in range(inner):
                far = w * mean[a]
                for b in range(a + 1):
                    curve[a, b] -= far * mean[b]
    return cost


class Problem:
    """-log of the probability of the rows' classes, and of the priors, as a function of all numbers."""

    def __init__(self, start: Floats, said: Sequence[Said], y: Any, weights: Floats) -> None:
        n, self.classes = start.shape
        self.y, self.weights, self.groups = np.asarray(y, np.int64), weights, len(said)
        self.says = np.empty((n, self.classes - 1, len(said) + 1))  # the groups', and last the class prior's
        for j, evidence in enumerate([*(one.evidence for one in said), start]):
            against(evidence, self.y, self.says[:, :, j])
        lengths = {j: one.lengths for j, one in enumerate(said) if one.lengths is not None}
        self.texts = np.array(list(lengths), np.int64)
        self.centres, self.logs = [0.0] * len(said), np.zeros((n, len(lengths)))
        for k, (j, length) in enumerate(lengths.items()):  # around the mean length exponent and power are told apart
            log = np.log(np.maximum(length, 1.0))
            self.centres[j] = float((weights * log).sum() / max(weights.sum(), 1e-300))
            self.logs[:, k] = log - self.centres[j]
        sizes = len(said), 1, len(self.texts), self.classes
        self.widths = np.repeat([WIDE, BALANCE, SHRINKING, BALANCE], sizes)
        self.table = np.zeros(len(self.widths), bool)  # which numbers are a table's exponents
        self.table[: len(said)] = [one.lengths is None for one in said]
        self.widths[self.table] = APART
        self.middle = self.table / max(int(self.table.sum()), 1)

    def some(self, rows: slice) -> Problem:
        """The same of some of the rows."""
        new = object.__new__(Problem)
        held = {name: np.ascontiguousarray(getattr(self, name)[rows]) for name in ("y", "weights", "says", "logs")}
        new.__dict__ |= self.__dict__ | held
        return new

    def parts(self, x: Floats) -> Parts:
        """The vector as what it means."""
        g, shrink = self.groups, np.zeros(self.groups)
        shrink[self.texts] = x[g + 1 : g + 1 + len(self.texts)]
        return Parts(x[:g], shrink, float(x[g]), x[g + 1 + len(self.texts) :])

    def first(self, exponent: float) -> Floats:
        """Where to begin: these exponents, and lengths that matter as they do in most collections."""
        x = np.zeros(len(self.widths))
        x[: self.groups] = math.log(exponent)
        x[self.groups + 1 : self.groups + 1 + len(self.texts)] = USUAL
        return x

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """-log probability, and its slope."""
        cost, slope = self._prior(x)
        return cost + self._rows(x, slope, np.empty((0, 0))), slope

    def bent(self, x: Floats) -> tuple[float, Floats, Floats]:
        """The same, and the matrix of second derivatives."""
        (cost, slope), curve = self._prior(x), np.zeros((len(x), len(x)))
        cost += self._rows(x, slope, curve)
        return cost, slope, curve + np.tril(curve, -1).T + self._bend(x)

    def _rows(self, x: Floats, slope: Floats, curve: Floats) -> float:
        return float(weigh(*self.arguments(x), slope, curve))

    def arguments(self, x: Floats) -> tuple[Any, ...]:
        """The rows and the numbers, as kernels take them."""
        found, rows = self.parts(x), (self.says, self.logs, self.texts, self.y, self.weights)
        return *rows, np.append(found.logs, found.prior), found.shrink[self.texts], found.offsets.copy()

    def _apart(self, x: Floats) -> tuple[Floats, float]:
        """What the priors are of: each number, for a table's exponents less their mean; and that mean."""
        centre = float(self.middle @ x)
        return x - centre * self.table, centre

    def _prior(self, x: Floats) -> tuple[float, Floats]:
        """-log of the priors: exponents of a table's columns lie around their mean, all else around no change."""
        apart, centre = self._apart(x)
        cost, slope = float(price(apart, self.widths).sum()), apart * pull(apart, self.widths)
        cost += float(price(centre, WIDE))
        return cost, slope + self.middle * (centre * pull(centre, WIDE) - slope[self.table].sum())

    @functools.cached_property
    def _less(self) -> Floats:
        """The matrix that takes the mean from a table's exponents."""
        return np.eye(len(self.table)) - np.outer(self.table, self.middle)

    def _bend(self, x: Floats) -> Floats:
        """The priors' second derivatives."""
        apart, centre = self._apart(x)
        own = (self._less.T * _bend(apart, self.widths)) @ self._less
        return np.asarray(own + _bend(centre, WIDE) * np.outer(self.middle, self.middle))


def price(x: Any, width: Any) -> Any:
    """-log density of Student's t with 3 degrees of freedom, but for a constant."""
    return 2 * np.log1p((x / width) ** 2 / 3)


def pull(x: Any, width: Any) -> Any:
    """The slope of the same, over x."""
    return 4 / 3 / (width * width + x * x / 3)


def _bend(x: Any, width: Any) -> Any:
    """The second derivative of the same."""
    return pull(x, width) * (1 - x * x / 2 * pull(x, width))


class Least(NamedTuple):
    """The numbers of least cost, what it is, and how it bends there, if that was looked at."""

    x: Floats
    cost: float
    curve: Floats | None = None


def least(problem: Problem, x: Floats, near: float = NEAR) -> Least:
    """The least cost, from a vector to begin with; within a step that gains less than `near`, and taking it."""
    if len(x) > DIRECT:
        from scipy.optimize import minimize

        found = minimize(problem, x, jac=True, method="L-BFGS-B", options={"maxiter": 200})
        return Least(np.asarray(found.x), float(found.fun))
    cost, slope, curve = problem.bent(x)
    for _ in range(STEPS):
        bends, axes = np.linalg.eigh(curve)
        step = -axes @ ((slope @ axes) / np.maximum(np.abs(bends), FLAT))  # down along every axis, also of a saddle
        if -slope @ step < near:
            return Least(x + step, cost, curve)
        step *= min(1.0, FAR / np.abs(step).max())
        while True:
            new = problem.bent(x + step)
            if new[0] <= cost + 1e-4 * float(slope @ step):
                break
            step /= 2
            if np.abs(step).max() < SHORT:
                return Least(x, cost, curve)
        x, (cost, slope, curve) = x + step, new
    return Least(x, cost, curve)
