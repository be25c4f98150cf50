"""Sums that do not round away: a number as the unevaluated sum of two doubles, high + low (about 32 digits).

An array of them has a leading axis of length 2. Σx² of values near 1e12 loses every ordinary value in plain doubles;
here an outlier can be added and taken away again, and what remains is right.

The algorithms are Dekker's and Knuth's error-free transformations (T. J. Dekker, Numer. Math. 18, 1971).

>>> import numpy as np
>>> big_and_small = add(of(1e16), of(1.0))
>>> float(value(subtract(big_and_small, of(1e16))))
1.0
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.kernel import product_error

Floats = NDArray[np.float64]


def of(x: ArrayLike) -> Floats:
    """Plain numbers as double-doubles. Integers above 2^53 keep all their digits."""
    x = np.asarray(x)
    high = x.astype(np.float64)
    low = (x - high.astype(x.dtype)).astype(np.float64) if x.dtype.kind in "iu" else np.zeros_like(high)
    return np.stack([high, low])


def value(a: Floats) -> Floats:
    """The nearest doubles."""
    nearest: Floats = a[0] + a[1]
    return nearest


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """a + b exactly, as a rounded sum and its error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a · b exactly, as a rounded product and its error."""
    p = a * b
    return p, product_error(a, b, p)


def _renormalise(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    s = high + low
    return s, low - (s - high)


def add(a: Floats, b: Floats) -> Floats:
    """a + b, right to 2^-104 even where the two cancel."""
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = _renormalise(s, e + t)
    return np.stack(_renormalise(s, e + f))


def subtract(a: Floats, b: Floats) -> Floats:
    """a - b."""
    return add(a, -b)


def multiply(a: Floats, b: Floats) -> Floats:
    """a · b."""
    p, e = two_product(a[0], b[0])
    return np.stack(_renormalise(p, e + (a[0] * b[1] + a[1] * b[0])))


def divide(a: Floats, b: Floats) -> Floats:
    """a / b by one step of long division; 0 / 0 is 0, as an empty group's mean."""
    empty = b[0] == 0
    divisor = np.stack([np.where(empty, 1.0, b[0]), np.where(empty, 0.0, b[1])])
    q = a[0] / divisor[0]
    rest = subtract(a, multiply(np.stack([q, np.zeros_like(q)]), divisor))
    return np.stack(_renormalise(q, value(rest) / divisor[0]))


def square_root(a: Floats) -> Floats:
    """The root of a positive number by one step of Newton's; of 0 it is 0."""
    root = np.sqrt(a[0])
    rest = subtract(a, np.stack(two_product(root, root)))
    return np.stack(_renormalise(root, value(rest) / np.where(root > 0, 2 * root, 1.0)))
