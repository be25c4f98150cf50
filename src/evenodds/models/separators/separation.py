"""Does the likelihood of a logistic or softmax regression have a maximum, or does it rise for ever?

If some direction of the weights separates the classes (complete separation), or separates some rows and leaves the
others where they are (quasi-complete), then the likelihood rises along it without end, and the estimate is infinite
(A. Albert & J. A. Anderson, Biometrika 71, 1984). Otherwise the rows overlap, and the maximum exists.

Four people, the number of hours they learnt, and whether they passed. Every one above 2.5 hours did:

>>> hours = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]])
>>> found = separation(hours, np.array([0, 0, 1, 1]), 2, ["intercept", "hours"])
>>> found
complete separation: intercept → -∞, hours → +∞
>>> separation(hours, np.array([0, 1, 0, 1]), 2, ["intercept", "hours"]).verdict
'overlap'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, several
from evenodds.families.leaves import Floats
from evenodds.models.alone import alone
from evenodds.models.separators.cone import Cone, cone, solve
from evenodds.models.separators.vectors import Rows, largest

Verdict = Literal["overlap", "quasi", "complete"]
FINITE = 1e-9  # of a weight's share in the directions that separate: nothing but rounding
MOST = 64  # dimensions of directions up to which every sign is proved


@dataclass(frozen=True)
class Infinite:
    """A coefficient without a finite estimate.

    certain: every direction that separates has this sign (up to 64 dimensions of directions this is proved or refuted);
    otherwise it depends on the way, is written ±∞, and `sign` is that of `Separation.direction`.
    """

    column: int
    name: str
    group: int  # the class whose weights these are, against class 0
    sign: int  # +1 or -1
    certain: bool

    def __str__(self) -> str:
        return f"{self.name} → {'±' if not self.certain else '+' if self.sign > 0 else '-'}∞"


@dataclass(frozen=True, repr=False)
class Separation:
    """Whether classes are separated, how, and what that does to the coefficients.

    verdict      "overlap": a maximum exists; "quasi": some rows are separated; "complete": all are
    direction    (columns, classes - 1): weights of each class against class 0 along which the likelihood never falls
                 and somewhere rises; zeros if there are none. A column that is a combination of earlier ones has 0.
    infinite     the coefficients that run to infinity
    rows         the rows still overlapping: those that the direction leaves where they are
    """

    verdict: Verdict
    direction: Floats
    infinite: tuple[Infinite, ...]
    rows: NDArray[np.int64]
    n_classes: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns with an infinite coefficient, each once."""
        return tuple(dict.fromkeys(one.name for one in self.infinite))

    def __bool__(self) -> bool:
        """Whether there is any separation."""
        return self.verdict != "overlap"

    def sentence(self, classes: Sequence[Any] | None = None) -> str:
        """The verdict in words; `classes` names the classes where there are more than two."""
        if not self:
            return "the rows overlap: the estimates are finite"
        kind = "complete" if self.verdict == "complete" else "quasi-complete"
        names = range(self.n_classes) if classes is None else classes
        listed = [f"{one} ({names[one.group]})" if self.n_classes > 2 else str(one) for one in self.infinite]
        return f"{kind} separation: {several(listed)}"

    def __repr__(self) -> str:
        return self.sentence()


def separation(
    X: Any, y: NDArray[Any], n_classes: int, names: Sequence[str], weights: NDArray[Any] | None = None
) -> Separation:
    """Look for directions of the weights that separate classes, rows or both, in a design as it is.

    X (dense or scipy.sparse) includes the column of ones if the model has an intercept; y are class codes from 0. Rows
    of weight 0 are no rows. Columns that are combinations of earlier ones are left out: a direction that moves no row
    is not separation. The verdict is that of the doubles as they are, to their rounding errors.
    """
    if n_classes < 2:
        raise DataError(f"the target has {n_classes} class: there is nothing to separate")
    X, codes, kept = _used(X, np.asarray(y), n_classes, names, weights)
    rows = Rows(X, codes, n_classes)
    found = cone(rows)
    held = found.held.reshape(len(codes), n_classes - 1)
    free = bool((~held).any())
    verdict: Verdict = "overlap" if not free else "quasi" if held.any() else "complete"
    direction = np.zeros(rows.dimensions)
    infinite: tuple[Infinite, ...] = ()
    if free:
        moved = _moved(rows, found)
        direction[moved] = found.direction[moved] / np.abs(found.direction[moved]).max()
        with alone():
            infinite = _infinite(rows, found, direction, moved, names)
    by_class = np.ascontiguousarray(direction.reshape(n_classes - 1, -1).T)
    return Separation(verdict, by_class, infinite, kept[held.any(axis=1)], n_classes)


def _used(
    X: Any, y: NDArray[Any], n_classes: int, names: Sequence[str], weights: NDArray[Any] | None
) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """The rows that count, their codes, and their numbers; a sentence if they cannot be used."""
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, float)
    if X.ndim != 2 or X.shape[0] != len(y):
        raise DataError(f"{len(y)} classes for a design of shape {X.shape}: give a class for each row")
    if len(names) != X.shape[1]:
        raise DataError(f"{len(names)} names for {X.shape[1]} columns: give a name for each column")
    if not X.shape[1]:
        raise DataError("the design has no columns: there is nothing to separate by")
    check_finite(X, names)
    codes = y.astype(np.int64)
    if len(codes) and not (codes.min() >= 0 and codes.max() < n_classes):
        raise DataError(f"class codes from {codes.min()} to {codes.max()}: expected 0 to {n_classes - 1}")
    kept = np.arange(len(codes)) if weights is None else np.flatnonzero(np.asarray(weights) > 0)
    if not len(kept):
        raise DataError("no rows that count: a row of weight 0 is no row")
    return (X, codes, kept) if len(kept) == len(codes) else (X[kept], codes[kept], kept)


def check_finite(X: Any, names: Sequence[str]) -> None:
    """A sentence that names the columns with missing or infinite cells, or cells too large to be multiplied."""
    data = X.data if hasattr(X, "tocsr") else X
    if not data.size or np.abs(data).max() < 1e150:  # false for NaN too
        return
    cells = X.toarray() if hasattr(X, "tocsr") else X
    for wrong, what, cure in (
        (np.isnan(cells), "NaN", "drop those rows, or fill the cells and add a column that says so"),
        (np.isinf(cells), "infinity", "replace it"),
        (np.abs(np.nan_to_num(cells)) >= 1e150, "a value too large for dtype('float64') to be squared", "rescale"),
    ):
        if wrong.any():
            bad = [f"{names[j]!r} ({n} of {len(cells)} rows)" for j, n in enumerate(wrong.sum(axis=0)) if n]
            raise DataError(f"Input X contains {what}: column {several(bad, 5)}; {cure}")


def _moved(rows: Rows, found: Cone) -> NDArray[np.int64]:
    """The weights that some separating direction changes, judged in units in which all columns are of one size."""
    top = np.tile(largest(rows.X), rows.classes - 1)
    share = np.linalg.norm(np.linalg.qr(found.space * top[:, None])[0], axis=1)
    return np.flatnonzero(share > FINITE)


def _infinite(
    rows: Rows, found: Cone, direction: Floats, moved: NDArray[np.int64], names: Sequence[str]
) -> tuple[Infinite, ...]:
    """The coefficients that some direction moves, with their signs."""
    prove = found.space.shape[1] <= MOST
    signs = _Signs(rows, found)
    known: list[Infinite] = []
    for at in moved:
        group, column = divmod(int(at), rows.columns)
        sign = 1 if direction[at] >= 0 else -1
        known.append(Infinite(column, names[column], group + 1, sign, prove and signs.only(int(at), sign)))
    return tuple(known)


class _Signs:
    """Whether a weight has one sign in every direction of the cone: a linear program for each weight.

    The u that mattered for one weight are likely to matter for the next.
    """

    def __init__(self, rows: Rows, found: Cone) -> None:
        self.rows, self.T = rows, found.space
        self.free = np.flatnonzero(~found.held)
        scores, _ = rows.scores(found.direction)
        self.inside = scores[self.free]  # of a direction well inside the cone
        self.centre = np.linalg.lstsq(self.T, found.direction, rcond=None)[0]
        few = min(len(self.free), 10 * self.T.shape[1] + 40)
        self.work = self.free[np.argpartition(self.inside, few - 1)[:few]]

    def only(self, at: int, sign: int) -> bool:
        """Whether no direction of the cone gives this weight the other sign."""
        if self.T.shape[1] == 1:
            return True
        goal = sign * self.T[at]
        goal = goal / np.linalg.norm(goal)
        while True:
            A = self.rows.take(self.work) @ self.T
            A /= np.linalg.norm(A, axis=1, keepdims=True)
            k = len(goal)
            z = np.asarray(solve(goal, -A, np.zeros(len(A)), [(-1, 1)] * k).x)
            if goal @ z >= -1e-8:
                return True
            scores = self.rows.scores(self.T @ z)[0][self.free]
            # a step towards the inside mends what the LP's tolerance has left, unless it was more than that
            step = np.max(-scores / self.inside, initial=0.0)
            if goal @ (z + step * self.centre) < 0:
                return False
            low = self.free[scores < 0]
            low = low[~np.isin(low, self.work)]
            if not len(low):
                return True
            many = 10 * k + 40
            order = np.argsort(scores[np.searchsorted(self.free, low)])[:many]
            self.work = np.concatenate([self.work, low[order]])
