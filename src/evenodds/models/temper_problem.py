"""How probable exponents make the classes of rows, and the most probable ones.

All numbers are in one vector: the logs of the exponents, the powers of lengths, the log of the class prior's exponent,
the classes' offsets. The steps are Newton's: a handful, where there are few enough numbers for a matrix of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from evenodds.families.leaves import Floats

WIDE = 0.7  # of the prior of log exponent
APART = 0.2  # the same of a table's column around the mean of all
SHRINKING = 0.4  # the same of a text's power of its length
BALANCE = 0.4  # the same of log of the class prior's exponent, and of the classes' offsets
CELLS = 1 << 17  # rows times classes times columns looked at together: what the cache holds
DIRECT = 100  # numbers, up to which the curvature is worth its price
DONE = 1e-6  # of log-likelihood, that a step would still gain: a thousandth of a standard error
STEPS, FLAT = 100, 1e-6
FAR, SHORT = 3.0, 1e-9  # what a step may change a log by, at most and at least


class Said(NamedTuple):
    """What some columns, believed alike, say of rows that are left out; of a text also how many tokens it has."""

    columns: tuple[str, ...]
    evidence: Floats  # (rows, classes)
    lengths: Floats | None = None


class Parts(NamedTuple):
    """The numbers, told apart."""

    logs: Floats  # of the exponents
    shrink: Floats
    prior: float  # log of its exponent
    offsets: Floats


class Problem:
    """-log of the probability of the rows' classes, and of the priors, as a function of all numbers.

    Classes come before rows in every array here: what is summed or compared over classes is then whole rows of memory.
    """

    def __init__(self, start: Floats, said: Sequence[Said], y: Any, weights: Floats) -> None:
        self.y, self.weights, self.groups, self.classes = np.asarray(y), weights, len(said), start.shape[1]
        self.says = np.empty((len(said) + 1, self.classes, len(y)))  # the groups', and last the class prior's
        for place, one in zip(self.says, [*(each.evidence for each in said), start]):
            place[:] = one.T
            place -= place.max(axis=0)
        self.texts = np.array([one.lengths is not None for one in said], bool)
        self.table = np.zeros(2 * len(said) + 1 + self.classes, bool)  # which numbers are a table's exponents
        self.table[: len(said)] = ~self.texts
        self.centres, self.logs = [0.0] * len(said), np.zeros((len(said) + 1, len(y)))
        for j, one in enumerate(said):  # around the mean length exponent and power are told apart
            if one.lengths is not None:
                log = np.log(np.maximum(one.lengths, 1.0))
                self.centres[j] = float((weights * log).sum() / max(weights.sum(), 1e-300))
                self.logs[j] = log - self.centres[j]

    def some(self, rows: slice) -> Problem:
        """The same of some of the rows."""
        new = object.__new__(Problem)
        new.__dict__ |= self.__dict__ | {"y": self.y[rows], "weights": self.weights[rows]}
        new.says, new.logs = self.says[..., rows], self.logs[:, rows]
        return new

    def parts(self, x: Floats) -> Parts:
        """The vector as what it means."""
        g = self.groups
        return Parts(x[:g], x[g : 2 * g], float(x[2 * g]), x[2 * g + 1 :])

    def first(self, exponent: float) -> Floats:
        """The vector that changes nothing but the groups' exponents."""
        x = np.zeros(len(self.table))
        x[: self.groups] = math.log(exponent)
        return x

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        """-log probability, and its slope."""
        cost, slope = self._prior(x)
        g = self.groups
        for part, terms, scores in self._pieces(x):
            own = part.y, np.arange(len(part.y))
            mine = scores[own]
            each = np.exp(scores, out=scores)
            whole = each.sum(axis=0)
            cost += float(part.weights @ (np.log(whole) - mine))
            each *= part.weights / whole
            each[own] -= part.weights  # d cost / d score
            along = np.einsum("ck,jck->jk", each, terms)
            logs = along.sum(axis=1)
            slope[:g] += logs[:g]
            slope[g : 2 * g] -= (along * part.logs).sum(axis=1)[:g]
            slope[2 * g] += logs[g]
            slope[2 * g + 1 :] += each.sum(axis=1)
        return cost, slope

    def curve(self, x: Floats) -> Floats:
        """The matrix of second derivatives."""
        curve, g, texts = self._bent(x), self.groups, np.flatnonzero(self.texts)
        inner, outer = np.array([*range(g), 2 * g, *(g + texts)]), np.arange(2 * g + 1, len(x))
        for part, terms, scores in self._pieces(x):
            p = np.exp(scores, out=scores)
            p /= p.sum(axis=0)
            share, many = p * part.weights, np.arange(len(part.y))
            mean = np.einsum("ck,jck->jk", p, terms)
            along = part.weights * (mean - terms[:, part.y, many])  # a term is its own derivative by its log
            terms -= mean[:, None, :]
            both = np.concatenate([terms, -terms[texts] * part.logs[texts, None, :]])
            weighed = both * share
            across, flat = weighed.sum(axis=2), (len(both), share.size)
            curve[np.ix_(inner, inner)] += weighed.reshape(flat) @ both.reshape(flat).T
            curve[np.ix_(inner, outer)] += across
            curve[np.ix_(outer, inner)] += across.T
            curve[np.ix_(outer, outer)] += np.diag(share.sum(axis=1)) - share @ p.T
            curve[inner[: g + 1], inner[: g + 1]] += along.sum(axis=1)
            lean = (along * part.logs).sum(axis=1)[texts]
            curve[texts, g + texts] -= lean
            curve[g + texts, texts] -= lean
            curve[g + texts, g + texts] += (along * part.logs**2).sum(axis=1)[texts]
        return curve

    def _pieces(self, x: Floats) -> Iterator[tuple[Problem, Floats, Floats]]:
        """Piece by piece of the rows: what each group and the prior say, as far as believed, and all of it."""
        found = self.parts(x)
        logs, shrink = np.append(found.logs, found.prior)[:, None], np.append(found.shrink, 0.0)[:, None]
        size = max(1, CELLS // self.says[..., :1].size)
        for first in range(0, len(self.y), size):
            part = self.some(slice(first, first + size))
            terms = part.says * np.exp(logs - shrink * part.logs)[:, None, :]
            scores = terms.sum(axis=0)
            scores += found.offsets[:, None]
            scores -= scores.max(axis=0)
            yield part, terms, scores

    def _apart(self, x: Floats) -> tuple[Floats, Floats, float]:
        """What the priors are of: each number, for a table's exponents less their mean; its width; and that mean."""
        g, apart = self.groups, x.copy()
        centre = float(x[self.table].mean()) if self.table.any() else 0.0
        apart[self.table] -= centre
        widths = np.repeat([WIDE, SHRINKING, BALANCE], [g, g, len(x) - 2 * g])
        widths[self.table] = APART
        return apart, widths, centre

    def _prior(self, x: Floats) -> tuple[float, Floats]:
        """-log of the priors: exponents of a table's columns lie around their mean, all else around no change."""
        apart, widths, centre = self._apart(x)
        cost, slope = float(2 * np.log1p((apart / widths) ** 2 / 3).sum()), apart * _pull(apart, widths)
        if self.table.any():
            cost += 2 * math.log1p((centre / WIDE) ** 2 / 3)
            slope[self.table] += (centre * _pull(centre, WIDE) - slope[self.table].sum()) / self.table.sum()
        return cost, slope

    def _bent(self, x: Floats) -> Floats:
        """The priors' second derivatives."""
        apart, widths, centre = self._apart(x)
        middle = self.table / max(int(self.table.sum()), 1)
        less = np.eye(len(x)) - np.outer(self.table, middle)
        return np.asarray((less.T * _bend(apart, widths)) @ less + _bend(centre, WIDE) * np.outer(middle, middle))


def _pull(x: Any, width: Any) -> Any:
    """The slope of -log density of Student's t with 3 degrees of freedom, over x."""
    return 4 / 3 / (width * width + x * x / 3)


def _bend(x: Any, width: Any) -> Any:
    """The second derivative of the same."""
    return _pull(x, width) * (1 - x * x / 2 * _pull(x, width))


def least(problem: Problem, x: Floats) -> Floats:
    """The vector of least cost, from one to begin with."""
    if len(x) > DIRECT:
        from scipy.optimize import minimize

        return np.asarray(minimize(problem, x, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x)
    cost, slope = problem(x)
    for _ in range(STEPS):
        bends, axes = np.linalg.eigh(problem.curve(x))
        step = -axes @ ((slope @ axes) / np.maximum(np.abs(bends), FLAT))  # down along every axis, also of a saddle
        if -slope @ step < DONE:
            break
        step *= min(1.0, FAR / np.abs(step).max())
        while True:
            new_cost, new_slope = problem(x + step)
            if new_cost <= cost + 1e-4 * float(slope @ step):
                break
            step /= 2
            if np.abs(step).max() < SHORT:
                return x
        x, cost, slope = x + step, new_cost, new_slope
    return x
