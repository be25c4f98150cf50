"""What rows say of a direction: one vector for each other class, made when it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
EPS = float(np.finfo(float).eps)
ROUNDING = 16 * EPS  # of a sum of products, beside the sum of their sizes
SURE = 1e-13  # of a convex combination of vectors of length 1: nothing but rounding
CELLS = 1 << 21  # of a block: 16 MB


class Rows:
    """The vectors u of a table, made when they are needed: number i (classes - 1) + a is row i against another class.

    With more classes and without a reference they are Kesler's (N. J. Nilsson, Learning Machines, 1965).

    >>> Rows(np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([0, 1]), 2).take(np.array([0, 1]))
    array([[-1., -2.],
           [ 1.,  3.]])
    """

    def __init__(self, X: Any, codes: NDArray[Any], n_classes: int, reference: bool = True) -> None:
        self.X, self.codes, self.classes = X, codes, n_classes
        self.first = int(reference)  # the first class that has weights; those of a reference are 0
        self.rows, self.columns = X.shape
        self.size, self.dimensions = self.rows * (n_classes - 1), self.columns * (n_classes - self.first)
        every = np.arange(n_classes)
        self.others = np.array([every[every != c] for c in every])  # by class: the classes it is told apart from

    def take(self, which: Indices) -> Floats:
        """Some u, as they are."""
        row, other = np.divmod(which, self.classes - 1)
        x = dense(self.X[row])
        u = np.zeros((len(which), self.classes, self.columns))
        at, own = np.arange(len(which)), self.codes[row]
        u[at, own] = x
        u[at, self.others[own, other]] = -x
        return u[:, self.first :].reshape(len(which), -1)

    def times(self, T: Floats, sizes: Floats) -> Iterator[tuple[slice, Floats, Floats]]:
        """u T in blocks: which u, the products, and |u| sizes, which bound them."""
        width = T.shape[1]
        flat, sizes = self._by_class(T), self._by_class(sizes)
        step = max(1, CELLS // (self.classes * width))
        for start in range(0, self.rows, step):
            x = self.X[start : start + step]
            own = self.codes[start : start + step]
            scores = _product(x, flat).reshape(-1, self.classes, width)
            bounds = _product(abs(x), sizes).reshape(-1, self.classes, width)
            at = np.arange(len(own))
            others = self.others[own]
            product = scores[at, own][:, None] - scores[at[:, None], others]
            bound = bounds[at, own][:, None] + bounds[at[:, None], others]
            first = start * (self.classes - 1)
            which = slice(first, first + product.shape[0] * product.shape[1])
            yield which, product.reshape(-1, width), bound.reshape(-1, width)

    def _by_class(self, T: Floats) -> Floats:
        """The weights of each class side by side, those of a reference being 0."""
        full = np.zeros((self.classes, self.columns, T.shape[1]))
        full[self.first :] = T.reshape(self.classes - self.first, self.columns, -1)
        return full.transpose(1, 0, 2).reshape(self.columns, -1)

    def scores(self, b: Floats) -> tuple[Floats, Floats]:
        """u·b for every u, and the bound of its rounding error."""
        found, error = np.empty(self.size), np.empty(self.size)
        for which, product, bound in self.times(b[:, None], np.abs(b)[:, None]):
            found[which], error[which] = product[:, 0], ROUNDING * bound[:, 0]
        return found, error


@dataclass(frozen=True)
class Combination:
    """Weights that add up to 1 and make some u add up to 0: the proof that no direction separates them all."""

    which: Indices
    weights: Floats


def largest(X: Any) -> Floats:
    """The largest size in each column."""
    top = abs(X).max(axis=0)
    return np.asarray(top.todense() if hasattr(top, "todense") else top, float).ravel()


def dense(X: Any) -> Floats:
    """As an array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, float)


def _product(X: Any, B: Floats) -> Floats:
    return np.asarray(X @ B)
