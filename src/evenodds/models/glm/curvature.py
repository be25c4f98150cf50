"""A Hessian by the Cholesky factor that it has when its columns are scaled to a diagonal of 1: units cost no digits."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack

from evenodds.models.glm.blocks import Floats


class Curvature:
    """A symmetric matrix that curves upwards everywhere; one that does not is a LinAlgError.

    >>> steep = Curvature(np.array([[4.0, 0.0], [0.0, 1e20]]))
    >>> steep.divide(np.array([8.0, 1e20])), round(steep.log_determinant, 4)
    (array([2., 1.]), 47.438)
    """

    def __init__(self, hessian: Floats, prop: float = 0.0) -> None:
        """Factor it; `prop` is added to the scaled diagonal."""
        diagonal = np.diag(hessian)
        self._scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        self._unit = hessian * self._scale * self._scale[:, None] + prop * np.eye(len(hessian))
        self._factor = cho_factor(self._unit, lower=True)

    def divide(self, v: Floats) -> Floats:
        """hessian⁻¹ v."""
        return self._scale * np.asarray(cho_solve(self._factor, self._scale * v))

    @cached_property
    def inverse(self) -> Floats:
        """hessian⁻¹, symmetric."""
        found = np.asarray(cho_solve(self._factor, np.eye(len(self._unit))))
        return (found + found.T) / 2 * self._scale * self._scale[:, None]

    @property
    def log_determinant(self) -> float:
        """log det of the matrix."""
        return float(2 * (np.log(np.diag(self._factor[0])) - np.log(self._scale)).sum())

    @property
    def condition(self) -> float:
        """The reciprocal condition of the scaled matrix."""
        if not len(self._unit):  # of which LAPACK would complain on the terminal
            return 1.0
        found, _ = lapack.dpocon(self._factor[0], float(np.abs(self._unit).sum(axis=0).max()), uplo="L")
        return float(found)
