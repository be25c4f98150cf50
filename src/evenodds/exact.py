"""The numbers of a tally: integers while all weights are, otherwise double-doubles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd

Numbers = NDArray[Any]  # int64, or float64 with a leading axis of 2: double-doubles


def like(numbers: Numbers, vector: Numbers) -> Numbers:
    """Counts in the form of the vector they go to: integers become double-doubles among weighted counts."""
    return dd.of(numbers) if vector.ndim == 2 and numbers.dtype.kind == "i" else numbers


def add(a: Numbers, b: Numbers, sign: int = 1) -> Numbers:
    """a + b, or with a sign of -1 a - b."""
    if a.dtype.kind == "i" and b.dtype.kind == "i":
        return a + b if sign > 0 else a - b
    a, b = (dd.of(x) if x.dtype.kind == "i" else x for x in (a, b))
    return dd.add(a, b if sign > 0 else -b)


def scale(numbers: Numbers, factors: NDArray[Any]) -> Numbers:
    """Each number times its factor; integers stay integers while factors are and there is room."""
    if numbers.dtype.kind == "i":
        if factors.dtype.kind == "i" and _largest(numbers) * _largest(factors) < 2**62:
            return numbers * factors
        numbers = dd.of(numbers)
    doubles = np.broadcast_to(factors.astype(np.float64), numbers.shape[1:])
    return dd.multiply(numbers, np.stack([doubles, np.zeros_like(doubles)]))


def _largest(numbers: Numbers) -> int:
    return int(np.abs(numbers).max(initial=0))


def equal(a: Numbers, b: Numbers) -> bool:
    """Counts to the last digit; sums as doubles, since the digits beyond depend on the order of adding."""
    if a.dtype.kind == "i" and b.dtype.kind == "i":
        return np.array_equal(a, b)
    a, b = (dd.of(x) if x.dtype.kind == "i" else x for x in (a, b))
    apart = np.abs(dd.value(dd.subtract(a, b)))
    return bool(np.all(apart <= 2.0**-53 * np.maximum(np.abs(dd.value(a)), np.abs(dd.value(b)))))
