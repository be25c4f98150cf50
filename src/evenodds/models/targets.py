"""Targets that are classes: what may be one, where rows' classes stand among known ones, and how many are told."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.cells import Coded
from evenodds.errors import DataError, listed
from evenodds.families.leaves import Floats
from evenodds.labels import Ints, Labels, canonical

MANY = 100  # different values of a target, from which on they may not be half of the rows


def check_few(values: int, rows: float, what: str, otherwise: str = "") -> None:
    """Refuse a target whose values are as good as all different: they are no classes."""
    if MANY < values > rows / 2:
        raise DataError(f"{what} has {values:,} different values in {rows:,} rows: expected a few classes{otherwise}")


def check_two(classes: Any) -> None:
    """Refuse a target of which there is nothing to tell apart."""
    if len(classes) < 2:
        raise DataError(f"the target has only one class, {str(classes[0])!r}: there is nothing to tell apart")


def required(y: Any, estimator: object) -> None:
    """Refuse rows without a target, as scikit-learn does."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )


def places_among(classes: Any, target: Coded) -> Ints:
    """Where each row's class stands among known ones, by its canonical text; -1 where it is none of them."""
    known, place = Labels.coded([canonical(label) for label in np.asarray(classes).tolist()])
    order = np.empty(len(known) + 1, np.int64)
    order[place], order[-1] = np.arange(len(place)), -1
    return np.append(order[known.find(target.labels.keys)], -1)[target.places]


class Told:
    """Rows whose class was told rightly, of a known class, and all, by weight; a sum."""

    def __init__(self, right: float = 0.0, known: float = 0.0, rows: float = 0.0, theirs: tuple[str, ...] = ()) -> None:
        self.right, self.known, self.rows, self.theirs = right, known, rows, theirs

    @classmethod
    def of(cls, best: Ints, own: Ints, target: Coded, weights: Floats | None = None) -> Told:
        """What was told of some rows: `best` and `own` are places among the known classes."""
        w = np.ones(len(own)) if weights is None else weights
        return cls(float(w @ (best == own)), float(w @ (own >= 0)), float(w.sum()), tuple(target.labels.texts()))

    def __add__(self, other: Told) -> Told:
        theirs = tuple(dict.fromkeys([*self.theirs, *other.theirs]))
        return Told(self.right + other.right, self.known + other.known, self.rows + other.rows, theirs)

    def share(self, classes: Any) -> float:
        """The share of the rows that were told rightly; refused where none has a class that is known."""
        if not self.rows:
            raise DataError("there are no rows with a class and a weight to judge by")
        if not self.known:
            names = [canonical(label) for label in np.asarray(classes).tolist()]
            raise DataError(
                f"no row has a class that was learnt: here are {listed(sorted(self.theirs))}, learnt were "
                f"{listed(names)}; write both alike"
            )
        return self.right / self.rows
