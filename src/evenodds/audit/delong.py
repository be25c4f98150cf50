"""The AUC with its error by DeLong, DeLong and Clarke-Pearson (1988), from counts of scores alone.

A row of the class is placed at the share of other rows that it outranks, a tie being half; another row, at the share of
rows of the class that outrank it. The AUC is the mean of the placements, and its variance

    s²(placements of the class) / m  +  s²(placements of the rest) / n
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenodds.arguments import normal_width
from evenodds.families.leaves import Floats


class Auc(NamedTuple):
    """The chance that a row of the class outranks another, and its interval; None where it has none."""

    auc: float
    error: float | None
    interval: tuple[float, float] | None


def auc(own: Floats, rest: Floats, level: float = 0.95) -> Auc | None:
    """The AUC of rows counted by their scores, lowest first; None where rows of one kind are missing.

    Four of the class at the scores 1, 2, 3, 3, three others at 0, 1, 2:

    >>> found = auc(np.array([0.0, 1, 1, 2]), np.array([1.0, 1, 1, 0]))
    >>> round(found.auc, 4), round(found.error, 4)
    (0.8333, 0.1614)
    """
    width = normal_width(level)
    m, n = float(own.sum()), float(rest.sum())
    if m <= 0 or n <= 0:
        return None
    below = np.cumsum(rest) - rest / 2
    placed, others = below / n, 1 - (np.cumsum(own) - own / 2) / m
    mean = float(own @ below / (m * n))
    if m <= 1 or n <= 1:
        return Auc(mean, None, None)
    variance = float(own @ (placed - mean) ** 2 / (m - 1) / m + rest @ (others - mean) ** 2 / (n - 1) / n)
    error = float(np.sqrt(variance))
    off = width * error
    return Auc(mean, error, (max(mean - off, 0.0), min(mean + off, 1.0)))
