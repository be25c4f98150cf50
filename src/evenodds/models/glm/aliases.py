"""Columns that are combinations of others, seen in the Hessian of a fit."""

from __future__ import annotations

import numpy as np

from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.collinear import Collinear, collinear, collinear_gram
from evenodds.models.glm.design import Design

EXACT = 1e-11  # of the reciprocal condition of the Gram, below which columns are looked at one by one


def condition(gram: Floats) -> float:
    """The reciprocal condition of a Gram whose columns are scaled to length 1; 0 where it has no Cholesky factor."""
    from scipy.linalg import lapack

    diagonal = np.diag(gram)
    if not np.all(diagonal > 0) or not np.isfinite(gram).all():
        return 0.0
    scale = 1.0 / np.sqrt(diagonal)
    unit = gram * scale * scale[:, None]
    factor, failed = lapack.dpotrf(unit, lower=1)
    if failed:
        return 0.0
    found, _ = lapack.dpocon(factor, float(np.abs(unit).sum(axis=0).max()), uplo="L")
    return float(found)


def related(gram: Floats, design: Design) -> Collinear:
    """The relations, in the columns as they came: flat directions inside are set to nothing and taken back."""
    intercept = 0 if design.intercept else None
    inside = collinear_gram(gram, design.names, intercept)
    if not len(inside.dropped):
        return inside
    length = np.sqrt(np.maximum(np.diag(gram), 0.0))
    safe = np.where(length > 0, length, 1.0)
    values, vectors = np.linalg.eigh(gram / safe / safe[:, None])
    values[: len(inside.dropped)] = 0.0
    factor = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T * length
    # inside = outside · matrix⁻¹, so a factor of the one is a factor of the other times the inverse
    outside = np.linalg.solve(design.matrix.T, factor.T).T
    found = collinear(outside, design.names, intercept)
    return found if len(found.dropped) == len(inside.dropped) else inside
