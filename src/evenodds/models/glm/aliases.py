"""Columns that are combinations of others, seen in the Hessian of a fit."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from evenodds.models.algebra.collinear import EPSILON, Collinear, Indices, Roots, collinear
from evenodds.models.glm.blocks import SHARD, Floats
from evenodds.models.glm.curvature import Curvature
from evenodds.models.glm.design import Design
from evenodds.models.glm.sums import Sums

Flags = NDArray[np.bool_]

EXACT = 1e-11  # of the reciprocal condition of the Gram, below which columns are looked at one by one


class Independent:
    """Which columns are no combinations of others: judged by the first Hessian that it is shown.

    Only those are judged that no prior holds: one that it holds has an estimate whatever the others say.
    """

    def __init__(self, design: Design, outputs: int, loose: Flags, rows: int) -> None:
        self.aliases: Collinear | None = None
        self._design, self._outputs, self._rows, self._loose = design, outputs, rows, np.flatnonzero(loose)

    @property
    def free(self) -> Flags:
        """Of each column, whether it may move."""
        free = np.ones(self._design.width, bool)
        if self.aliases is not None:
            free[self.aliases.dropped] = False
        return free

    def __call__(self, sums: Sums) -> Flags:
        """The same, once the sums at some coefficients are known."""
        width = self._design.width
        size = width * self._outputs
        # a pass for the slope alone has the Hessian's diagonal
        if len(self._loose) and sums.hessian is not None and sums.hessian.shape == (size, size):
            gram = sums.hessian[np.ix_(self._loose, self._loose)]
            if condition(gram) < EXACT:
                self.aliases = related(gram, self._design, self._loose, self._rows)
        return self.free


def condition(gram: Floats) -> float:
    """The reciprocal condition of a Gram whose columns are scaled to length 1; 0 where it has no Cholesky factor."""
    if not np.isfinite(gram).all():
        return 0.0
    try:
        return Curvature(gram).condition
    except LinAlgError:
        return 0.0


def _rounding(columns: int, rows: int) -> float:
    """How far the entries of a Gram may be off, relative to their columns' lengths.

    Where rows repeat, the same number is added again and again and rounded to the same side, by an eighth of 2^-52 of
    the whole sum on average; a shard's rows are added one after the other.
    """
    return EPSILON / 8 * min(rows, SHARD) * columns**0.5


def related(gram: Floats, design: Design, at: Indices, rows: int) -> Collinear:
    """The relations among some of a design's columns, as they came: flat directions are set to nothing and taken back.

    The null space is that of the columns inside, where no digit is lost to a mean far from zero.
    """
    names, roots = [design.names[j] for j in at], Roots.of(gram)
    intercept = 0 if design.intercept and at[0] == 0 else None
    inside = roots.collinear(names, intercept)
    # inside = outside · matrix⁻¹, so a factor of the one is a factor of the other times the inverse
    outside = np.linalg.solve(design.matrix[np.ix_(at, at)].T, roots.factor(len(inside.dropped)).T).T
    found = collinear(np.asarray(outside, float), names, intercept, rounding=_rounding(len(at), rows))
    found = found if len(found.dropped) == len(inside.dropped) else inside
    null_space = np.zeros((design.width, len(found.dropped)))
    null_space[at] = roots.null_space(found.dropped)
    return dataclasses.replace(
        found, names=tuple(design.names), kept=at[found.kept], dropped=at[found.dropped], null_space=null_space
    )
