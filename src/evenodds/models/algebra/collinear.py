"""Columns that other columns already say: which, and by what relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from evenodds.models.algebra.relation import Part, relation
from evenodds.models.algebra.triangle import triangle_of
from evenodds.models.alone import alone

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

EPSILON = 2.0**-52


def tolerance(columns: int) -> float:
    """How near to zero a combination of columns of length 1 must be to be zero: 64 · 2^-52 · sqrt(columns).

    A relation that holds in the data holds among their doubles to about 2^-53 a number (0.1 + 0.2 is not 0.3), the QR
    factors add a few roundings a column, which pile up like sqrt(columns), and batches add a few more. That is below
    this line by a factor of ten and more. The most ill-conditioned honest design of note, Filip's polynomial of degree
    10, is above it by a factor of ten thousand. The comparison is with the length of the whole relation, coefficients
    included, because a small difference of large columns carries the roundings of the large ones.
    """
    return 64 * EPSILON * columns**0.5


@dataclass(frozen=True, eq=False)
class Collinear:
    """Which columns of a design are combinations of earlier ones.

    `kept` and `dropped` are column numbers, ascending; a column is dropped when it is a combination of the columns
    before it (the intercept counts as the first). Column i of `null_space` (p, k) has 1 at dropped[i] and, at the kept
    columns, what takes it away again: X @ null_space is 0. `relations` says the same in words, in the same order.
    """

    names: tuple[str, ...]
    kept: Indices
    dropped: Indices
    null_space: Floats
    relations: tuple[str, ...]
    condition: float  # of the kept columns, each scaled to length 1: largest over smallest singular value

    @property
    def rank(self) -> int:
        """How many columns are independent."""
        return len(self.kept)

    def __bool__(self) -> bool:
        """Whether anything is collinear."""
        return len(self.dropped) > 0

    def __str__(self) -> str:
        return "; ".join(self.relations) if self.relations else "no column is a combination of others"


def collinear(
    factor: Floats, names: Sequence[str], intercept: int | None = None, *, rounding: float = 0.0
) -> Collinear:
    """Find the collinear columns of X from the triangle R of its QR factors (or from X itself).

    `rounding` is that of the entries of X'X, its columns of length 1, where the factor is a root of it.

    `intercept` is the number of the column of ones, if there is one; in the relations it is a number without a name.
    Columns are scaled to length 1 first, so their units do not matter. The tolerance is `tolerance(columns)`.

    >>> a, b = np.array([1.0, 2.0, 4.0, 3.0]), np.array([5.0, 1.0, 0.0, 2.0])
    >>> X = np.column_stack([np.ones(4), a, b, a + b])
    >>> print(collinear(X, ["intercept", "a", "b", "total"], intercept=0))
    `total` = `a` + `b`
    """
    factor = np.asarray(factor, np.float64)
    with alone():
        return _collinear(factor, tuple(names), intercept, tolerance(factor.shape[1]), rounding)


@dataclass(frozen=True, eq=False)
class Roots:
    """A Gram matrix X'WX by the eigenvalues and vectors it has when its columns are scaled to length 1.

    >>> X = np.column_stack([np.ones(4), [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> print(Roots.of(X.T @ X).collinear(["intercept", "left", "right"], intercept=0))
    `left` + `right` = 1
    """

    values: Floats  # (p,), ascending
    vectors: Floats  # (p, p)
    length: Floats  # of the columns

    @staticmethod
    def of(gram: Floats) -> Roots:
        """The eigenvalues of a Gram matrix."""
        length = np.sqrt(np.maximum(np.diag(gram), 0.0))
        safe = np.where(length > 0, length, 1.0)
        return Roots(*np.linalg.eigh(gram / safe / safe[:, None]), length)

    def factor(self, flat: int = 0) -> Floats:
        """A factor of the Gram matrix, its least eigenvalues, so many of them, taken for nothing."""
        values = np.where(np.arange(len(self.values)) < flat, 0.0, np.maximum(self.values, 0.0))
        return np.sqrt(values)[:, None] * self.vectors.T * self.length

    def collinear(self, names: Sequence[str], intercept: int | None = None) -> Collinear:
        """The collinear columns of X.

        Squaring has cost half of the digits: two columns whose angle is below about 1e-7 are taken for collinear here
        (the tolerance is the square root of the triangle's).
        """
        return _collinear(self.factor(), tuple(names), intercept, tolerance(len(self.values)) ** 0.5)

    def null_space(self, dropped: Indices) -> Floats:
        """As `Collinear` has it, of the directions with the least eigenvalues: as many as columns are dropped."""
        flat = self.vectors[:, : len(dropped)] / np.where(self.length > 0, self.length, 1.0)[:, None]
        null: Floats = flat @ np.linalg.inv(flat[dropped])
        null[dropped] = np.eye(len(dropped))
        return null


def _collinear(
    factor: Floats, names: tuple[str, ...], intercept: int | None, small: float, rounding: float = 0.0
) -> Collinear:
    """The verdict, for a given tolerance."""
    if len(names) != factor.shape[1]:
        raise ValueError(f"{len(names)} names for {factor.shape[1]} columns; give each column one name")
    length = lengths(factor)
    unit = _unit(factor, length)
    kept = _kept(unit, intercept, small)
    dropped = np.setdiff1d(np.arange(len(names)), kept)
    basis = unit[:, kept]
    null = np.zeros((len(names), len(dropped)))
    if not len(dropped):
        return Collinear(names, kept, dropped, null, (), _condition(basis))
    share, noise = _shares(basis, unit[:, dropped], small, rounding)
    with np.errstate(over="ignore", invalid="ignore"):  # units may be 1e400 apart where nothing is shared
        ratio = length[dropped] / length[kept][:, None]
        share, noise = np.where(share == 0, 0.0, share * ratio), np.where(share == 0, 0.0, noise * ratio)
    null[kept] = -share
    null[dropped, np.arange(len(dropped))] = 1.0
    crowded = len(kept) == unit.shape[0]
    relations = _relations(names, kept, dropped, share, noise, intercept, crowded)
    return Collinear(names, kept, dropped, null, relations, _condition(basis))


def independent(factor: Floats, intercept: int | None = None) -> Indices:
    """The numbers of the columns that are no combination of those before them, the intercept counting as the first.

    >>> independent(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    array([0, 2])
    """
    with alone():
        return _kept(_unit(factor, lengths(factor)), intercept, tolerance(factor.shape[1]))


def _unit(factor: Floats, length: Floats) -> Floats:
    """The columns scaled to length 1, by no more rows than columns."""
    unit = factor / np.where(length > 0, length, 1.0)
    return triangle_of(unit) if len(unit) > unit.shape[1] else unit


def _kept(unit: Floats, intercept: int | None, small: float) -> Indices:
    """The independent ones of columns of length 1."""
    rows, p = unit.shape
    order = list(range(p))
    if intercept is not None:
        order.insert(0, order.pop(intercept))
    singular = np.linalg.svd(unit, compute_uv=False)
    if rows >= p > 0 and singular[-1] > small:
        return np.arange(p)
    kept = _independent(unit, order, small)
    rank = int(np.count_nonzero(singular > small))
    if len(kept) < rank:  # no clean line between dependent and not: the columns that pivoting finds furthest apart
        pivoted = qr(unit, mode="r", pivoting=True)[1][:rank]
        kept = _well_conditioned(unit, sorted(pivoted.tolist()), small)
    return kept


def _shares(basis: Floats, columns: Floats, small: float, rounding: float) -> tuple[Floats, Floats]:
    """The coefficients (kept, columns) of columns in the basis, and how far each may be off.

    What is zero as far as one can know is left out, smallest first, and the rest solved again: without the others it
    is better conditioned. A term stays if the column is not reached without it.
    """
    share, noise, _ = _solve(basis, columns, small, rounding)
    for i, column in enumerate(columns.T):
        below = np.flatnonzero(np.abs(share[:, i]) <= noise[:, i])
        below = below[np.argsort(np.abs(share[below, i]))]
        support = np.arange(len(share))
        for out in [below, *below[:, None]] if column.any() else []:
            fewer = np.setdiff1d(support, out)
            less, error, reached = _solve(basis[:, fewer], column[:, None], small, rounding)
            missed = float(np.linalg.norm(basis[:, fewer] @ less[:, 0] - column))
            if missed <= reached * float(np.sqrt(1 + less[:, 0] @ less[:, 0])):
                support = fewer
                share[:, i], noise[:, i] = 0.0, 0.0
                share[support, i], noise[support, i] = less[:, 0], error[:, 0]
                if len(out) == len(below):
                    break
    return share, noise


def _solve(basis: Floats, columns: Floats, small: float, rounding: float) -> tuple[Floats, Floats, float]:
    """The combinations of the basis B nearest to the columns; how far each coefficient may be off; and how near is on.

    Of a triangle, a coefficient is known to the roundings of the columns (an eighth of the tolerance), times the length
    of the relation v, as the inverse of the basis enlarges them. Of a root of G = X'X it is G that is rounded: to first
    order v is off by G⁺ δG v, which (B'B)⁻¹ enlarges; and a column of the root is off by what B⁻¹ makes of δG.
    """
    q, r = np.linalg.qr(basis)
    inverse = solve_triangular(r, np.eye(len(r))) if r.size else r
    share: Floats = inverse @ (q.T @ columns)
    length = np.sqrt(1 + np.square(share).sum(axis=0))
    off = small / 8 * lengths(inverse.T)
    if rounding and r.size:
        off = off + rounding * lengths(inverse @ inverse.T)
        small = small + rounding * float(np.linalg.norm(inverse, 2))
    return share, off[:, None] * length, small


def _condition(basis: Floats) -> float:
    """The largest over the smallest singular value; 1 for no columns."""
    singular = np.linalg.svd(basis, compute_uv=False)
    return float(singular[0] / singular[-1]) if basis.shape[1] else 1.0


def lengths(columns: Floats) -> Floats:
    """The columns' Euclidean lengths, without overflow of the squares."""
    largest = np.abs(columns).max(axis=0, initial=0.0)
    safe = np.where(largest > 0, largest, 1.0)
    length: Floats = np.sqrt(np.square(columns / safe).sum(axis=0)) * largest
    return length


def _independent(unit: Floats, order: Sequence[int], small: float) -> Indices:
    """The columns, taken in order, that are no combination of those taken before.

    Gram and Schmidt's way, each column orthogonalised twice (twice is enough: Giraud, Langou and Rozloznik 2005). Its
    distance from the others is compared with the length of the relation that comes nearest.
    """
    rows, p = unit.shape
    q = np.zeros((rows, min(rows, p)))
    r = np.zeros((min(rows, p), min(rows, p)))
    kept: list[int] = []
    for j in order:
        n = len(kept)
        if n == len(r):
            break
        here = q[:, :n]
        along = here.T @ unit[:, j]
        rest = unit[:, j] - here @ along
        again = here.T @ rest
        rest, along = rest - here @ again, along + again
        distance = float(np.linalg.norm(rest))
        share = solve_triangular(r[:n, :n], along) if n else along
        if distance > small * float(np.sqrt(1 + share @ share)):
            q[:, n], r[:n, n], r[n, n] = rest / distance, along, distance
            kept.append(j)
    return _well_conditioned(unit, kept, small)


def _well_conditioned(unit: Floats, kept: list[int], small: float) -> Indices:
    """The kept columns, less the last one of any relation that only all of them together show."""
    while kept:
        _, singular, vectors = np.linalg.svd(unit[:, kept], full_matrices=False)
        if singular[-1] > small:
            break
        weight = np.abs(vectors[-1])
        kept.pop(int(np.flatnonzero(weight > 0.1 * weight.max())[-1]))
    return np.sort(np.array(kept, dtype=np.intp))


def _relations(
    names: tuple[str, ...],
    kept: Indices,
    dropped: Indices,
    share: Floats,
    noise: Floats,
    intercept: int | None,
    crowded: bool,
) -> tuple[str, ...]:
    """One sentence for each dropped column; `share` (kept, dropped) are its coefficients, right to within `noise`."""
    sentences = []
    for i, j in enumerate(dropped):
        support = np.flatnonzero(share[:, i])
        terms = [
            Part("" if k == intercept else names[k], share[n, i], noise[n, i]) for n, k in zip(support, kept[support])
        ]
        # a multiple of an earlier dropped column is shorter to say than the combination both are
        if len(terms) > 1 and not (crowded and len(terms) == len(kept)):
            n = support[np.argmax(np.abs(share[support, i]) / noise[support, i])]
            for twin in range(i):
                factor = share[n, i] / share[n, twin] if share[n, twin] else 0.0
                apart = np.abs(share[:, i] - factor * share[:, twin])
                if factor and np.all(apart <= noise[:, i] + abs(factor) * noise[:, twin]):
                    terms = [Part(names[dropped[twin]], factor, noise[n, i] / abs(share[n, twin]))]
                    break
        sentences.append(relation(names[j], terms, len(kept) if crowded else None))
    return tuple(sentences)
