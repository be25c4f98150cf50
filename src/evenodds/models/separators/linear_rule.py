"""A straight line between classes, as a value: what a perceptron and a separator learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats


@dataclass(frozen=True, eq=False)
class LinearRule:
    """A score w·x + b for the second of two classes, or one for each of more: the largest wins.

    In homogeneous coordinates, (x, 1), the constant b is the last weight.

    >>> rule = LinearRule(np.array(["low", "high"]), np.array([[1.0]]), np.array([-2.5]))
    >>> rule.predict(np.array([[2.0], [3.0]]))
    array(['low', 'high'], dtype='<U4')
    """

    classes: NDArray[Any]
    weights: Floats  # (1 or classes, columns)
    constants: Floats  # (1 or classes,)

    @classmethod
    def of(cls, classes: NDArray[Any], homogeneous: Floats) -> LinearRule:
        """The rule of homogeneous weights, the last of them the constant."""
        return cls(classes, np.ascontiguousarray(homogeneous[:, :-1]), homogeneous[:, -1].copy())

    def scores(self, X: Floats) -> Floats:
        """w·x + b: one number a row for two classes, one for each class for more."""
        found = X @ self.weights.T + self.constants
        return np.asarray(found[:, 0] if len(self.weights) == 1 else found)

    def codes(self, X: Floats) -> NDArray[np.int64]:
        """The number of each row's class; a row on the line belongs to the first."""
        scores = self.scores(X)
        return np.asarray(scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)).astype(np.int64)

    def predict(self, X: Floats) -> NDArray[Any]:
        """The class of each row."""
        return np.asarray(self.classes[self.codes(X)])

    def euclidean_margin(self, X: Floats, codes: NDArray[np.int64]) -> float:
        """The smallest distance of a row from a line that tells its class from another; below 0 on the wrong side."""
        scores = self.scores(X)
        if scores.ndim == 1:
            length = float(np.linalg.norm(self.weights))
            return float((np.where(codes == 1, scores, -scores)).min() / length) if length else 0.0
        lengths = np.linalg.norm(self.weights[:, None] - self.weights[None], axis=2)
        own = scores[np.arange(len(codes)), codes]
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = (own[:, None] - scores) / lengths[codes]
        distances[np.arange(len(codes)), codes] = np.inf
        return float(np.nan_to_num(distances, nan=0.0, posinf=np.inf).min())


def homogeneous(X: Floats) -> Floats:
    """(x, 1) for every row: the constant becomes a weight like the others."""
    return np.column_stack([X, np.ones(len(X))])
