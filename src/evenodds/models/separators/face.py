"""The directions that are left when some vectors are held at 0, in coordinates that keep their digits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from evenodds.families.leaves import Floats
from evenodds.models.algebra.collinear import independent
from evenodds.models.algebra.triangle import triangle_of
from evenodds.models.separators.vectors import CELLS, Rows, dense, largest


@dataclass(frozen=True)
class Face:
    """The directions that are 0 on some vectors, in coordinates that may change; all from one basis, once for all.

    A direction is basis N M z: N holds the vectors at 0, M are the coordinates. `sizes` are those of the terms before
    they cancelled: what is less than their rounding is 0.
    """

    basis: Floats  # (dimensions, r): of all weights
    at_zero: Floats  # (m, r): the vectors held at 0, in the basis
    rank: int  # of those vectors
    N: Floats  # (r, k)
    M: Floats  # (k, k)
    doubt: float = 1.0  # how many times rounding errors are magnified in N

    @classmethod
    def whole(cls, rows: Rows) -> Face:
        """All directions."""
        basis = _coordinates(rows)
        r = basis.shape[1]
        return cls(basis, np.zeros((0, r)), 0, np.eye(r), np.eye(r))

    @cached_property
    def matrix(self) -> Floats:
        """Weights from coordinates."""
        return self.basis @ self.N @ self.M

    @cached_property
    def sizes(self) -> Floats:
        """The sums of the sizes of its terms. An entry of N is right to rounding beside 1, not beside itself."""
        N = np.abs(self.N) + (1.0 if self.rank else 0.0)
        return self.doubt * (np.abs(self.basis) @ N @ np.abs(self.M))

    def moved(self, change: Floats) -> Face:
        """The same directions in other coordinates."""
        return replace(self, M=self.M @ change)

    def across(self, u: Floats) -> Face:
        """The directions that are 0 on these vectors too, of which each is a combination of the others."""
        vectors = self._with(u)
        rank = min(self.rank + len(u) - 1, self.basis.shape[1])
        _, values, axes = np.linalg.svd(vectors, full_matrices=True)
        doubt = float(values[0] / values[rank - 1]) if rank else 1.0
        N = axes[rank:].T
        return Face(self.basis, vectors, rank, N, np.eye(N.shape[1]), doubt)

    def across_many(self, u: Floats) -> Face | None:
        """The same of any vectors, if their rank is beyond doubt."""
        vectors = triangle(iter([self._with(u)]), self.basis.shape[1])
        _, values, axes = np.linalg.svd(vectors, full_matrices=True)
        rank = int((values > 1e-6 * values[0]).sum())
        if rank < len(values) and values[rank] > 1e-12 * values[0]:
            return None
        N = axes[rank:].T
        return Face(self.basis, vectors, rank, N, np.eye(N.shape[1]), float(values[0] / values[rank - 1]))

    def _with(self, u: Floats) -> Floats:
        """The vectors held at 0, and these, each of length 1 in the basis."""
        vectors = u @ self.basis
        return np.vstack([self.at_zero, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)])


def _coordinates(rows: Rows) -> Floats:
    """A basis of the weights' space without the columns that say nothing new: collinear ones keep the weight 0."""
    top = np.maximum(largest(rows.X), np.finfo(float).tiny)
    scale = np.exp2(-np.round(np.log2(top)))  # powers of two: no digit is lost
    step = max(1, CELLS // rows.columns)
    blocks = (dense(rows.X[at : at + step]) * scale for at in range(0, rows.rows, step))
    R = triangle(blocks, rows.columns)
    kept = independent(R)
    one = np.zeros((rows.columns, len(kept)))
    if len(kept):
        factor = np.linalg.qr(R[:, kept], mode="r")
        one[kept] = solve_triangular(factor, np.eye(len(kept)))
    return np.kron(np.eye(rows.classes - 1), scale[:, None] * one)


def triangle(blocks: Iterator[Floats], width: int) -> Floats:
    """The triangular factor of a tall matrix given in blocks of rows: factors stack."""
    R = np.zeros((0, width))
    for block in blocks:
        R = triangle_of(np.vstack([R, block]))
    return R
