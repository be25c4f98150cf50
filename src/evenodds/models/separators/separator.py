"""A line between classes by linear programming, or the proof that there is none.

In homogeneous coordinates u = y (x, 1), with y = ±1, a separator is a w with u·w > 0 for every u. Scaled, that is
u·v ≥ 1: a linear program. Where it has a solution, the one that keeps the largest distance is given; where it has none,
there are weights that prove it, a convex combination of some u that is 0 (one point in both classes' hulls), and the
line with the least total slack, min Σ s with u·v ≥ 1 - s, s ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evenodds.errors import several
from evenodds.families.leaves import Floats
from evenodds.models.separators.cone import Cone, cone, solve
from evenodds.models.separators.hard_margin import hard_margin
from evenodds.models.separators.linear_rule import LinearRule, homogeneous
from evenodds.models.separators.vectors import Rows, largest

Codes = NDArray[np.int64]
NOTHING = 1e-10  # of a score, beside the 1 that every row is to be away: the linear program knows no less


@dataclass(frozen=True, eq=False)
class Certificate:
    """Why no line separates: weights that add up to 1, and make the u of some rows add up to 0.

    If u·w > 0 held for all of them, the same combination of these numbers would be above 0; but it is 0·w = 0.

    rows, others   each u is a row, and the class from which its own is told apart
    weights        positive, and 1 in all
    residual       the largest entry of the sum of weights times u, beside the largest entry of its column: rounding
    """

    rows: Codes
    others: Codes
    weights: Floats
    residual: float
    points: Floats  # the rows themselves
    own: Codes  # their classes

    def point(self) -> Floats:
        """Of two classes: the point that lies in the hull of both."""
        of = self.own == self.own.max()
        if of.all():
            raise ValueError("a point in two hulls is of rows of two classes")
        return np.asarray(self.weights[of] @ self.points[of] / self.weights[of].sum())

    def sentence(self) -> str:
        """The proof in words."""
        listed = several([f"row {i} × {w:.4g}" for i, w in zip(self.rows, self.weights)], 4)
        return f"no line separates the classes: {listed} balance"


@dataclass(frozen=True, eq=False)
class Separator:
    """A line between classes, and how good it is.

    rule               the line
    separable          whether it separates all rows
    margin             the smallest u·w / ‖w‖ in homogeneous coordinates, the constant being in the norm
    euclidean_margin   the smallest distance of a row from the line; both are None if no line separates
    slack              Σ s, 0 if it separates
    certificate        why none does, or None
    support            the rows that hold the line where it is
    gap                by what share the margin's square could at most be larger: how well the program was solved
    """

    rule: LinearRule
    separable: bool
    margin: float | None
    euclidean_margin: float | None
    slack: float
    certificate: Certificate | None
    support: Codes
    gap: float


def separate(X: Floats, codes: Codes, classes: NDArray[Any], found: Cone | None = None) -> Separator:
    """The separator of largest Euclidean margin; without one, the line of least total slack, and the proof.

    `found` is the cone of the rows (x, 1), if it is known.

    Points 0, 1 and 3, 4 on a line: the middle between 1 and 3 is 2, at distance 1.

    >>> found = separate(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]), np.array(["a", "b"]))
    >>> print(round(found.euclidean_margin, 12), found.rule.weights.round(12), found.rule.constants.round(12))
    1.0 [[1.]] [-2.]
    >>> separate(np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0]), np.array(["a", "b"])).certificate.point()
    array([1.])
    """
    k = len(classes)
    whole = homogeneous(X)
    found = cone(Rows(whole, codes, k)) if found is None else found
    if found.first is not None:
        rule, slack, support = _least_slack(X, codes, classes)
        return Separator(rule, False, None, None, slack, _certificate(whole, codes, k, found), support, 0.0)
    return _largest_distance(X, codes, classes, found)


def centre_and_unit(X: Floats) -> tuple[Floats, float]:
    """A middle and one length for all columns: moved and scaled alike, distances keep their proportions."""
    centre = X.mean(axis=0)
    return centre, float(np.abs(X - centre).max()) or 1.0


def _largest_distance(X: Floats, codes: Codes, classes: NDArray[Any], found: Cone) -> Separator:
    k = len(classes)
    centre, unit = centre_and_unit(X)
    inside = homogeneous((X - centre) / unit)
    rows = Rows(inside, codes, k, reference=k == 2)
    start = found.direction.reshape(k - 1, -1) * np.append(np.full(X.shape[1], unit), 1.0)
    start[:, -1] += found.direction.reshape(k - 1, -1)[:, :-1] @ centre
    if k > 2:
        start = np.vstack([np.zeros((1, start.shape[1])), start])
        start -= start.mean(axis=0)
    in_norm = np.tile(np.append(np.ones(X.shape[1], bool), False), len(start))
    best = hard_margin(rows, start.ravel(), in_norm)
    weights = _heard(best.weights.reshape(len(start), -1), inside)
    if k > 2:
        weights = weights - weights.mean(axis=0)
    weights = weights / np.append(np.full(X.shape[1], unit), 1.0)
    weights[:, -1] -= weights[:, :-1] @ centre
    rule = LinearRule.of(classes, weights)
    scores = Rows(homogeneous(X), codes, k, reference=k == 2).scores(weights.ravel())[0]
    margin = float(scores.min() / np.linalg.norm(weights))
    support = np.unique(best.which // (k - 1))
    return Separator(rule, True, margin, rule.euclidean_margin(X, codes), 0.0, None, support, best.gap)


def _heard(weights: Floats, whole: Any, least: float = 0.0) -> Floats:
    """The weights, those at 0 that move no score by more than its own rounding, or the least: what is left of a 0."""
    terms = np.abs(weights) * largest(whole)
    return np.where(terms <= np.maximum(np.finfo(float).eps * terms.sum(axis=1, keepdims=True), least), 0.0, weights)


def _certificate(whole: Floats, codes: Codes, k: int, found: Cone) -> Certificate:
    assert found.first is not None
    which, weights = found.first.which, found.first.weights
    order = np.argsort(which)
    which, weights = which[order], weights[order]
    rows = Rows(whole, codes, k)
    u = rows.take(which)
    total = np.array([fsum(column) for column in (weights[:, None] * u).T])
    top = np.tile(np.maximum(largest(whole), np.finfo(float).tiny), k - 1)
    row, other = np.divmod(which, k - 1)
    others = rows.others[codes[row], other]
    return Certificate(row, others, weights, float(np.abs(total / top).max()), whole[row, :-1], codes[row])


def _least_slack(X: Floats, codes: Codes, classes: NDArray[Any]) -> tuple[LinearRule, float, Codes]:
    """min Σ s with u·v ≥ 1 - s for every u of a row, s ≥ 0; in columns of mean 0 and one size."""
    n, k = len(X), len(classes)
    centre = X.mean(axis=0)
    scale = np.maximum(np.abs(X - centre).max(axis=0), np.finfo(float).tiny)
    scale[np.abs(X - centre).max(axis=0) == 0] = 1.0
    rows = Rows(homogeneous((X - centre) / scale), codes, k)
    u = sparse.csr_array(rows.take(np.arange(rows.size)))
    slack = sparse.csr_array((np.ones(rows.size), (np.arange(rows.size), np.arange(rows.size) // (k - 1))))
    cost = np.append(np.zeros(rows.dimensions), np.ones(n))
    bounds = [(None, None)] * rows.dimensions + [(0, None)] * n
    found = solve(cost, -sparse.hstack([u, slack], format="csc"), -np.ones(rows.size), bounds)
    weights = np.asarray(found.x[: rows.dimensions]).reshape(k - 1, -1)
    weights = _heard(weights, rows.X, NOTHING) / np.append(scale, 1.0)
    weights[:, -1] -= weights[:, :-1] @ centre
    if k > 2:
        weights = np.vstack([np.zeros((1, weights.shape[1])), weights])
        weights -= weights.mean(axis=0)
    support = np.flatnonzero(np.asarray(found.x[rows.dimensions :]) > 1e-9)
    return LinearRule.of(classes, weights), float(found.fun), support
