"""Probabilities as anybody gives them: checked, and their logs.

>>> log_of_second(np.array([0.25]), 0)
array([[-0.28768207, -1.38629436]])
"""

from __future__ import annotations

import numpy as np

from evenodds.errors import DataError
from evenodds.families.leaves import Floats


def log_of(p: Floats, start: int) -> Floats:
    """log p of each class."""
    check_proba(p, "proba", start)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


def log_of_second(p: Floats, start: int, name: str = "scores") -> Floats:
    """log (1 - p) and log p."""
    check_proba(p, name, start)
    with np.errstate(divide="ignore"):
        return np.column_stack([np.log1p(-p), np.log(p)])


def log_of_first(p: Floats, start: int) -> Floats:
    """log p and log (1 - p)."""
    return log_of_second(p, start)[:, ::-1]


def check_proba(p: Floats, name: str, start: int = 0) -> None:
    """Refuse what is no probability."""
    bad = np.argwhere(~((p >= 0) & (p <= 1)))
    if len(bad):
        row, value = start + int(bad[0][0]), p[tuple(bad[0])]
        if np.isnan(value):
            raise DataError(f"{name}: row {row} has no score; leave such rows out")
        raise DataError(
            f"{name}: row {row} has the score {value:g}, expected a probability, 0 to 1; for other scores decide first "
            "(decile >= 5) and give what was said as predicted"
        )
