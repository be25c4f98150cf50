"""Does the likelihood of a logistic or softmax regression have a maximum, or does it rise for ever?

If some direction of the weights separates the classes (complete separation), or separates some rows and leaves the
others where they are (quasi-complete), then the likelihood rises along it without end, and the estimate is infinite
(A. Albert & J. A. Anderson, Biometrika 71, 1984). Otherwise the rows overlap, and the maximum exists.

Four people, the number of hours they learnt, and whether they passed. Every one above 2.5 hours did:

>>> hours = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0], [1.0, 4.0]])
>>> separation(hours, ["failed", "failed", "passed", "passed"], ["intercept", "hours"])
complete separation: intercept → -∞, hours → +∞
>>> separation(hours, ["failed", "passed", "failed", "passed"]).verdict
'overlap'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evenodds.cells import Coded, Raw, as_column, target_kind
from evenodds.data.sum import target_codes
from evenodds.errors import DataError, several
from evenodds.families.leaves import Floats, check_weights
from evenodds.models.alone import alone
from evenodds.models.separators.cone import Cone, cone, solve
from evenodds.models.separators.vectors import Rows, largest
from evenodds.models.targets import check_two
from evenodds.schema import Schema

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
    classes      what is told apart, in the order of their values
    """

    verdict: Verdict
    direction: Floats
    infinite: tuple[Infinite, ...]
    rows: NDArray[np.int64]
    classes: tuple[Any, ...]

    def __bool__(self) -> bool:
        """Whether there is any separation."""
        return self.verdict != "overlap"

    def sentence(self) -> str:
        """The verdict in words; the classes are named where there are more than two."""
        if not self:
            return "the rows overlap: the estimates are finite"
        kind = "complete" if self.verdict == "complete" else "quasi-complete"
        many = len(self.classes) > 2
        listed = [f"{one} ({self.classes[one.group]})" if many else str(one) for one in self.infinite]
        return f"{kind} separation: {several(listed)}"

    def __repr__(self) -> str:
        return self.sentence()


def separation(X: Any, y: Any, names: Sequence[str] | None = None, sample_weight: Any = None) -> Separation:
    """Look for directions of the weights that separate classes, rows or both, in a design as it is.

    X (dense, scipy.sparse or a data frame) includes the column of ones if the model has an intercept; y has the class
    of each row. Rows of weight 0 are no rows. Columns that are combinations of earlier ones are left out: a direction
    that moves no row is not separation. The verdict is that of the doubles as they are, to their rounding errors.
    """
    check_numbers(X)
    given = X.column_names if isinstance(X, pa.Table) else getattr(X, "columns", None)
    given = given if names is None else names
    try:
        X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, float)
    except ValueError as error:
        raise DataError(f"X is no table of numbers ({error}): give an array or a data frame") from None
    if X.ndim != 2:
        raise DataError(f"X has the shape {X.shape}: give rows and columns, that of ones for an intercept among them")
    column = as_column(y)
    rows = len(column.codes if isinstance(column, Coded) else column)
    if X.shape[0] != rows:
        raise DataError(f"{rows} classes for a design of shape {X.shape}: give a class for each row")
    known = [f"x{j}" for j in range(X.shape[1])] if given is None else list(map(str, given))
    if len(known) != X.shape[1]:
        raise DataError(f"{len(known)} names for {X.shape[1]} columns: give a name for each column")
    classes, codes = classes_of_rows(column, rows)
    w = check_weights(sample_weight, rows)
    kept = np.arange(rows) if w is None else np.flatnonzero(w > 0)
    if not len(kept):
        raise DataError("no rows that count: a row of weight 0 is no row")
    if len(kept) < rows:
        there, codes = np.unique(codes[kept], return_inverse=True)
        X, classes = X[kept], classes[there]
    check_two(classes)
    found = judge(Rows(X, codes, len(classes)), known, tuple(classes.tolist()))
    return replace(found, rows=kept[found.rows])


def judge(rows: Rows, names: Sequence[str], classes: Sequence[Any] = (0, 1), found: Cone | None = None) -> Separation:
    """The same of rows whose classes are numbered, and may have none; `found` is their cone, if it is known."""
    if not rows.columns:
        raise DataError("the design has no columns: there is nothing to separate by")
    check_learnable(rows.X, names)
    found = cone(rows) if found is None else found
    held = found.held.reshape(rows.rows, rows.classes - 1)
    free = bool((~held).any())
    verdict: Verdict = "overlap" if not free else "quasi" if held.any() else "complete"
    direction = np.zeros(rows.dimensions)
    infinite: tuple[Infinite, ...] = ()
    if free:
        moved = _moved(rows, found)
        direction[moved] = found.direction[moved] / np.abs(found.direction[moved]).max()
        with alone():
            infinite = _infinite(rows, found, direction, moved, names)
    by_class = np.ascontiguousarray(direction.reshape(rows.classes - 1, -1).T)
    return Separation(verdict, by_class, infinite, np.flatnonzero(held.any(axis=1)), tuple(classes))


def classes_of_rows(y: Raw | Coded, rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes in the order of their values, and the number of each row's.

    >>> classes_of_rows(np.array([10.0, 9.0, 10.0]), 3)
    (array([ 9., 10.]), array([1, 0, 1]))
    """
    target = target_codes(y, rows)
    there, codes = np.unique(target.places, return_inverse=True)
    values = Schema({}, "", target_kind(y)).values(target.labels.take(there).texts())
    order = sorted(range(len(values)), key=values.__getitem__)
    return np.array([values[i] for i in order]), np.argsort(order)[codes]


def check_numbers(X: Any) -> None:
    """A sentence that names the columns of a data frame that hold no numbers."""
    kinds = zip(X.schema.names, X.schema.types) if isinstance(X, pa.Table) else ()
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        kinds = zip(X.columns, X.dtypes)
    if bad := [str(name) for name, kind in kinds if not _is_number(kind)]:
        one = len(bad) == 1
        raise DataError(
            f"{'column' if one else 'columns'} {several([repr(name) for name in bad], 5)} {'holds' if one else 'hold'} "
            f"no numbers: a line needs numbers; drop {'it' if one else 'them'}, or turn the values into columns of 0 "
            "and 1 (sklearn.preprocessing.OneHotEncoder)"
        )


def _is_number(kind: Any) -> bool:
    """Whether a data frame's column of this type holds numbers or flags."""
    if isinstance(kind, pa.DataType):
        return any(is_kind(kind) for is_kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean))
    if hasattr(kind, "is_numeric"):  # polars
        return bool(kind.is_numeric()) or str(kind) == "Boolean"
    return getattr(kind, "kind", "O") in "biuf"


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


def check_learnable(X: Any, names: Sequence[str]) -> None:
    """The same of rows that are learnt from, whose columns must not be too small either; a row to be told may be."""
    check_finite(X, names)
    if not X.shape[0]:
        return
    top = largest(X)
    small = [repr(names[j]) for j in np.flatnonzero((top > 0) & (top < 1e-150)).tolist()]
    if small:
        raise DataError(f"column {several(small, 5)} is too small to be squared; rescale")


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
