"""Protected groups: the values of some columns put together, and taken apart again.

>>> from evenodds.cells import as_column, codes
>>> cells = together([codes(as_column(["f", "m", None])), codes(as_column(["old", "old", "young"]))])
>>> sorted(apart(text) for text in cells.labels.texts())
[('(missing)', 'young'), ('f', 'old'), ('m', 'old')]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import Coded, codes
from evenodds.data.reading import Cells, Reading
from evenodds.data.source import Batch
from evenodds.errors import DataError
from evenodds.families import Categorical
from evenodds.labels import Ints, Labels
from evenodds.schema import Column, Schema

SEPARATOR = "\x1f"  # the separator of units: no value holds it
AND = " & "  # between the values of an intersection, as people read it
CROSS = " × "  # between its columns
EVERYONE = "everyone"  # the group by no column
MISSING = "(missing)"  # a group of its own: who did not say is treated somehow, too
MOST = 1 << 14  # groups


def together(columns: Sequence[Coded]) -> Coded:
    """Each row's values of all columns as one label; a missing value is one of its own."""
    combined, texts = np.zeros(len(columns[0].codes), np.int64), [""]
    for j, column in enumerate(columns):
        names = [*_whole(column.labels, "group"), MISSING]
        combined = combined * len(names) + column.places % len(names)  # a missing one is at -1: the last
        present, combined = _numbered(combined, len(texts) * len(names))
        head = SEPARATOR if j else ""
        texts = [texts[at // len(names)] + head + names[at % len(names)] for at in present.tolist()]
        if len(texts) > MOST:
            raise DataError(f"there are more than {MOST:,} groups: audit by fewer columns, or by coarser ones")
    labels, place = Labels.coded(texts)
    return Coded(combined, labels, place, nullable=False)


def groups_of(batch: Batch, read: Cells, by: tuple[str, ...]) -> Coded:
    """The protected group of each row of a batch that was read: the columns need not be among the model's."""
    found = Reading(Schema({name: Column(Categorical) for name in by}, ""), target=False)(batch).table
    groups = together([codes(found[name]) for name in by])
    return groups if read.kept is None else groups[read.kept]


def apart(text: str) -> tuple[str, ...]:
    """The values that a label was put together from."""
    return tuple(text.split(SEPARATOR))


def crossed(target: Coded, by: Coded) -> tuple[Labels, Ints]:
    """The labels of each true class in each group, and each row's place among them."""
    if len(by.codes) != len(target.codes):
        raise DataError(f"{len(by.codes)} groups for {len(target.codes)} rows: expected one for each row")
    classes, groups = _whole(target.labels, "class"), by.labels.texts()
    labels, place = Labels.coded([f"{c}{SEPARATOR}{g}" for c in classes for g in groups])
    at = target.place[target.codes] * len(groups) + by.places
    return labels, place[at]


def _whole(labels: Labels, what: str) -> list[str]:
    """The names of groups or classes, of which none would fall apart."""
    names = labels.texts()
    for name in names:
        if SEPARATOR in name:
            raise DataError(f"the {what} {name!r} holds the character U+001F, which keeps groups apart: rename it")
    return names


def _numbered(codes: Ints, most: int) -> tuple[Ints, NDArray[np.int64]]:
    """The numbers that occur, in order, and each row's place among them."""
    if most > 1 << 22:
        present, where = np.unique(codes, return_inverse=True)
        return present, where.astype(np.int64)
    seen = np.bincount(codes, minlength=most) > 0
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[codes]
