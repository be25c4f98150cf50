"""What a smoothed table keeps for values that nobody has seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.families.leaves import Floats


def log_unseen(strength: float, pooled: bool, values: Any, n: Floats) -> Floats:
    """log of the smoothing mass of such a value in each group, of n rows: λ of λV + n, or λ/(N + 1) of λ + n.

    V values are known, and N rows of all groups. Where there is no mass at all nothing is said: 0.

    >>> np.exp(log_unseen(1.0, False, 3, np.array([1.0, 5.0]))), np.exp(log_unseen(2.0, True, 3, np.array([1.0, 2.0])))
    (array([0.25 , 0.125]), array([0.16666667, 0.125     ]))
    """
    if strength == 0:
        return np.zeros(n.shape)
    each = strength / (n.sum(axis=-1, keepdims=True) + 1) if pooled else np.full(1, strength)
    mass = n + (strength if pooled else strength * values)
    return np.asarray(np.log(each) - np.log(np.where(mass > 0, mass, each)))
