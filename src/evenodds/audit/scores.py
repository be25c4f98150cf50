"""Predictions as anybody gives them: checked, and the logs of probabilities.

>>> log_of_second(np.array([0.25]))
array([[-0.28768207, -1.38629436]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from evenodds.cells import Coded
from evenodds.errors import DataError, listed
from evenodds.families.leaves import Floats

ROUNDING = 1e-5  # by which probabilities may miss 1: float32 adds up no better
PROBA = "give those of predict_proba"


def log_of(p: Floats) -> Floats:
    """log p of each class."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


def log_of_second(p: Floats) -> Floats:
    """log (1 - p) and log p."""
    with np.errstate(divide="ignore"):
        return np.column_stack([np.log1p(-p), np.log(p)])


def log_of_first(p: Floats) -> Floats:
    """log p and log (1 - p)."""
    return log_of_second(p)[:, ::-1]


def check_proba(p: Floats, name: str, where: Callable[[int], str] = "row {}".format) -> None:
    """Refuse what is no probability, of one class or of all (rows, classes); `where` says how to find a row again."""
    one = p.ndim == 1
    bad = np.argwhere(~((p >= 0) & (p <= (1 if one else 1 + ROUNDING))))
    if len(bad):
        place, value = f"{where(int(bad[0][0]))}, {name}", p[tuple(bad[0])]
        if np.isnan(value):
            raise DataError(f"{place}: there is no score; leave such rows out")
        cure = "for other scores decide first (decile >= 5) and give what was said as predicted" if one else PROBA
        raise DataError(f"{place}: {value:g} is no probability, expected 0 to 1; {cure}")
    sums = np.ones(1) if one else p.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > ROUNDING)
    if len(off):
        row = int(off[0])
        raise DataError(f"{where(row)}, {name}: the probabilities add up to {sums[row]:g}, expected 1; {PROBA}")


def check_said(said: Coded, name: str, where: Callable[[int], str] = "row {}".format) -> None:
    """Refuse rows of which nothing was said."""
    none = np.flatnonzero(said.places < 0)
    if len(none):
        raise DataError(f"{where(int(none[0]))}, {name}: nothing was said; leave such rows out")


def with_said(classes: set[str], said: Iterable[str], where: str) -> set[str]:
    """The classes, and what else was said; refused where nothing that was said is one of several classes."""
    every = set(said)
    if every and len(classes) > 1 and classes.isdisjoint(every):
        ours, theirs = (listed(sorted(some)) for some in (classes, every))
        raise DataError(
            f"{where} has {theirs}, and no row is of such a class: the classes are {ours}; write both in the same words"
        )
    return classes | every
