"""The directions that no row objects to, by one linear program.

A row x of class c objects to a direction b (a column of weights b_k for each class k) if x·(b_c - b_k) < 0 for another
class k. So every row gives one vector u for each other class, and the directions without objection are a cone:

    { b : u·b ≥ 0 for every u }        two classes: u = x for the second class, -x for the first

The LP asks for the largest t ≤ 1 with u·b ≥ t for every u and -1 ≤ b ≤ 1. Either t > 0, and b separates all rows; or
t = 0, and the LP's dual gives weights that prove it: a convex combination of some u that is 0 (Gordan's theorem). On
those u every direction of the cone is 0 itself; so the search goes on among the directions that are 0 there, which have
fewer dimensions, until the rest is separated or nothing is left (facial reduction: Borwein & Wolkowicz 1981). The
verdict is that of K. Konis's LP (DPhil thesis, Oxford 2007), max Σ u·b, whose optimum is 0 if and only if nothing is.

HiGHS is right to about 1e-9. Nothing here is believed because the LP says so: a separating direction is multiplied out
over all rows against the bound of its rounding errors, a combination is worked out again by least squares, and where
neither holds the space is stretched along the direction in question and the LP asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linprog, nnls

from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.alone import alone
from evenodds.models.separators.face import Face, triangle
from evenodds.models.separators.likely import likely
from evenodds.models.separators.vectors import EPS, ROUNDING, SURE, Combination, Flags, Indices, Rows

CLOSE = 1e-6  # of a margin: small enough to ask whether it is 0
STRETCHES = 8  # of the space, each by up to nine digits: more than a double has
LONGEST = 20  # steps of a linear program for each of its rows and columns
WIDE = 64  # dimensions from which on Newton's method is tried before a linear program
MANY = 24  # dimensions from which on it pays to look for many u that are held, not for a few


class UndecidedError(DataError, ArithmeticError):
    """Neither a direction nor a proof that there is none could be found in double precision."""


@dataclass(frozen=True)
class Doubt:
    """No answer that could be checked: the direction along which some u are too close to 0 to tell."""

    direction: Floats


@dataclass(frozen=True)
class Cone:
    """What is left of the space when every u has been heard.

    direction    a direction without objection, of which every free u says > 0; zeros if there is none
    space        (dimensions, k): a basis of the smallest space that holds all such directions, in whose coordinates
                 the free u are well scaled
    held         which u every such direction leaves at 0
    first        the first convex combination of some u that is 0; None if all are separated
    """

    direction: Floats
    space: Floats
    held: Flags
    first: Combination | None

    def turned(self, columns: int) -> Cone:
        """The same for rows whose first column comes last: a design's ones, in homogeneous coordinates."""

        def turn(x: Floats) -> Floats:
            return np.roll(x.reshape(len(x) // columns, columns, *x.shape[1:]), -1, axis=1).reshape(x.shape)

        return replace(self, direction=turn(self.direction), space=turn(self.space))


def cone(rows: Rows) -> Cone:
    """Hear every u: separate what can be separated, and hold what cannot, until all is one or the other."""
    with alone():
        return _heard(rows)


def _heard(rows: Rows) -> Cone:
    face = Face.whole(rows)
    held, stretched, first = np.zeros(rows.size, bool), 0, None
    while True:
        face, lengths = _isotropic(rows, face, held)
        if first is None and held.any():
            first = Combination(np.flatnonzero(held)[:1], np.ones(1))  # a u that is 0 itself
        if held.all():
            return Cone(np.zeros(rows.dimensions), np.zeros((rows.dimensions, 0)), held, first)
        sure = likely(rows, face, lengths, held) if face.matrix.shape[1] >= WIDE else None
        if isinstance(sure, Combination):
            after = face.across_many(rows.take(sure.which))
            if after is not None:
                held[sure.which] = True
                face, first = after, first or sure
                continue
            sure = None
        found = _search(rows, face, lengths, held) if sure is None else sure
        if isinstance(found, Doubt):
            stretched += 1
            if stretched > STRETCHES:
                raise UndecidedError(
                    "the rows cannot be told to be separated or not in double precision: round the columns, or leave "
                    "out rows that all but coincide"
                )
            face = _stretched(face, found.direction, rows, lengths, held)
        elif isinstance(found, Combination):
            first = first or found
            more = _overlapping(rows, face, lengths, held) if face.matrix.shape[1] >= MANY else None
            if more is None:
                held[found.which] = True
                face = face.across(rows.take(found.which))
            else:
                face = more
        else:
            return Cone(face.matrix @ found, face.matrix, held, first)


def _isotropic(rows: Rows, face: Face, held: Flags) -> tuple[Face, Floats]:
    """Coordinates in which the free u, each of length about 1, point everywhere alike; u of length 0 become held."""
    lengths, k = np.ones(rows.size), face.matrix.shape[1]
    if not k:
        held[:] = True
        return face, lengths
    gram = np.zeros((k, k))
    for which, product, bound in rows.times(face.matrix, face.sizes):
        size = np.linalg.norm(product, axis=1)
        held[which] |= size <= ROUNDING * np.linalg.norm(bound, axis=1)
        free = ~held[which]
        lengths[which][free] = size[free]
        unit = product[free] / size[free, None]
        gram += unit.T @ unit
    if held.all():
        return face, lengths
    squares, axes = np.linalg.eigh(gram)
    if squares[0] > 1e-8 * squares[-1]:
        spread = np.sqrt(squares)
    else:  # half of the digits are gone in the squares: the triangular factor has them
        blocks = (
            (product / lengths[which, None])[~held[which]] for which, product, _ in rows.times(face.matrix, face.sizes)
        )
        _, spread, axes_by_row = np.linalg.svd(triangle(blocks, k), full_matrices=False)
        some = spread > 64 * k * EPS * spread[0]
        spread, axes = spread[some], axes_by_row[some].T
    return face.moved(axes * (np.linalg.norm(spread) / spread / np.sqrt(len(spread)))), lengths


def _search(rows: Rows, face: Face, lengths: Floats, held: Flags) -> Floats | Combination | Doubt:
    """A direction (in T's coordinates) of which every free u says > 0, or a combination of free u that is 0.

    Only the u that matter are in the LP: those that object most to its answer join it, until none does.
    """
    free = np.flatnonzero(~held)
    T, k = face.matrix, face.matrix.shape[1]
    many = 10 * k + 40
    work = np.random.default_rng(0).choice(free, min(len(free), many), replace=False)
    while True:
        A = rows.take(work) @ T / lengths[work, None]
        b, t, weights = _largest_margin(A)
        found, error = rows.scores(T @ b)
        margins, sure = found[free] / lengths[free], error[free] / lengths[free]
        if (margins > sure).all():
            return b
        if t < CLOSE:
            checked = _checked(A, weights, rows, face, work, lengths)
            if checked is not None:
                which, share = work[checked[0]], checked[1] / lengths[work[checked[0]]]
                return Combination(which, share / share.sum())
        low = free[margins < t - 1e-10]
        low = low[~np.isin(low, work)]
        if not len(low):
            return Doubt(np.linalg.svd(A[weights > 0])[2][-1])
        if len(low) > many:
            low = low[np.argpartition(found[low] / lengths[low], many)[:many]]
        work = np.concatenate([work, low])


def _overlapping(rows: Rows, face: Face, lengths: Floats, held: Flags) -> Face | None:
    """The face after a sample of the free u that overlap among themselves, by Konis's LP; None if that is not sure.

    If max Σ u·b is 0, its dual has a weight of at least 1 for every u, and all are held. If not, the u above 0 leave.
    """
    free = np.flatnonzero(~held)
    T, k = face.matrix, face.matrix.shape[1]
    work = np.random.default_rng(1).choice(free, min(len(free), 6 * k + 40), replace=False)
    while len(work):
        A = rows.take(work) @ T / lengths[work, None]
        found = solve(-A.sum(axis=0), -A, np.zeros(len(A)), [(-1, 1)] * k)
        above = A @ found.x > CLOSE
        if not above.any():
            break
        work = work[~above]
    if not len(work):
        return None
    weights = 1 + np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
    # a small change of the weights makes the sum exactly 0: then they are positive still, and prove it
    change, _, _, _ = np.linalg.lstsq(A.T, -(weights @ A), rcond=1e-9)
    if np.abs(change).max() > 0.5 or np.linalg.norm((weights + change) @ A) > SURE * weights.sum():
        return None
    after = face.across_many(rows.take(work))
    if after is not None:
        held[work] = True
    return after


def _largest_margin(A: Floats) -> tuple[Floats, float, Floats]:
    """max t with A b ≥ t, -1 ≤ b ≤ 1, t ≤ 1; the direction b, t, and the rows' dual weights."""
    m, k = A.shape
    found = solve(
        np.append(np.zeros(k), -1.0), np.column_stack([-A, np.ones(m)]), np.zeros(m), [(-1, 1)] * k + [(None, 1)]
    )
    weights = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
    return np.asarray(found.x[:k]), float(found.x[k]), weights


def solve(c: Floats, A: Any, b: Floats, bounds: Any) -> Any:
    """min c·x with A x ≤ b by HiGHS, as exactly as it goes; a program without end is given up."""
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for more in (exact, {}):
        options = {"maxiter": LONGEST * (len(b) + len(c)), **more}
        found = linprog(c, A_ub=A, b_ub=b, bounds=bounds, method="highs", options=options)
        if found.status == 0:
            return found
    raise UndecidedError(f"the linear program was not solved: {found.message}")


def _checked(
    A: Floats, weights: Floats, rows: Rows, face: Face, work: Indices, lengths: Floats
) -> tuple[Indices, Floats] | None:
    """The dual weights worked out again, if they are a convex combination that is 0 as far as doubles can tell."""
    some = np.flatnonzero(weights > 1e-10 * max(1.0, weights.max(initial=0.0)))
    if not len(some):
        return None
    # least squares knows the weights to full precision where the LP's are good to 1e-9
    fit, _ = nnls(np.vstack([A[some].T, np.ones(len(some))]), np.append(np.zeros(A.shape[1]), 1.0))
    positive = fit > SURE
    some, fit = some[positive], fit[positive] / fit[positive].sum()
    off = float(np.linalg.norm(fit @ A[some]))
    sizes = np.abs(rows.take(work[some])) @ face.sizes / lengths[work[some], None]
    if off > SURE + ROUNDING * float(fit @ np.linalg.norm(sizes, axis=1)):
        return None
    return some, fit


def _stretched(face: Face, b: Floats, rows: Rows, lengths: Floats, held: Flags) -> Face:
    """The space drawn out along a direction to which some u are almost at right angles, so that they show a side."""
    margins = np.abs(rows.scores(face.matrix @ b)[0][~held] / lengths[~held])
    near = margins[margins < CLOSE]
    factor = 1 / max(float(near.max(initial=0.0)), 1e-10)
    return face.moved(np.eye(len(b)) + np.outer(b, b) * (factor - 1))
