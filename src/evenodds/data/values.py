"""What texts say: a sample's as numbers, true and false or categories, and the labels of a category in one spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evenodds import texts
from evenodds.cells import Coded, arrow_numbers
from evenodds.labels import Labels, canonical
from evenodds.texts import MISSING, Marks, Texts

_NOT_MEANT = re.compile(r"^\s*[+-]?(0\d|[tTfFyYnN])", re.MULTILINE)  # 007 and yes can be read as numbers, but are not
_WHOLE = re.compile("[+-]?[0-9]+")
DIGITS = 4000  # of a whole number, from which on Python does not read them


def typed(raw: Texts, marks: Marks) -> Any:
    """A sample's texts as what they say: whole numbers, numbers, true and false, or text.

    What is missing among numbers says nothing. Up to a twentieth of the other cells may be something else where at
    least 20 different numbers are there.
    """
    coded = Coded(*texts.codes(raw)[:3])
    found = coded.labels.texts()
    places = coded.places
    where = arrow_numbers(places, places < 0)
    values, _ = texts.numbers(Texts.cut(coded.labels.blob, coded.labels.ends.astype(np.int32)), marks)
    numeric = ~np.isnan(values)
    if _NOT_MEANT.search("\n".join(found)):
        numeric &= np.array([not _NOT_MEANT.match(text) for text in found], bool)
    counts = np.bincount(places[places >= 0], minlength=len(found))
    said = numeric.copy()
    for i in np.flatnonzero(~numeric).tolist():
        said[i] = found[i].strip() not in MISSING
    other = said & ~numeric
    if numeric.any() and (
        not other.any() or (numeric.sum() >= 20 and counts[other].sum() <= 0.05 * counts[said].sum())
    ):
        whole = all(_WHOLE.fullmatch(text.strip()) for text, number in zip(found, numeric) if number)
        return (_whole(found, numeric) if whole else arrow_numbers(values, ~numeric)).take(where)
    words = [text.strip().lower() if one else "" for text, one in zip(found, said)]
    if said.any() and all(word in ("true", "false", "") for word in words):
        return pa.array([word == "true" if word else None for word in words], pa.bool_()).take(where)
    return coded.arrow()


def _whole(found: list[str], numeric: NDArray[np.bool_]) -> Any:
    """Texts of whole numbers, exactly if they have up to 64 bits; null where one is no number."""
    null = np.array([not number or len(text) >= DIGITS for text, number in zip(found, numeric)], bool)
    values = [0 if missing else int(text) for text, missing in zip(found, null)]
    for type_ in (np.int64, np.uint64):
        try:
            return arrow_numbers(np.array(values, type_), null)
        except OverflowError:
            pass
    return arrow_numbers(np.array([float(value) for value in values]), null)


def as_kind(coded: Coded, kind: str, marks: Marks) -> Coded:
    """The same cells with each label in the canonical text of its kind; labels that are none are missing."""
    if kind == "text":
        return coded
    return _relabelled(coded, _values(coded.labels.texts(), kind, marks))


def as_written(coded: Coded, kind: str, marks: Marks) -> Coded:
    """The same with labels that are none as they are: a category that has been numbers so far may have any."""
    found = coded.labels.texts()
    return _relabelled(coded, [value or text for text, value in zip(found, _values(found, kind, marks))])


def _relabelled(coded: Coded, known: Sequence[str | None]) -> Coded:
    """The same cells under other labels; None is missing."""
    labels, found = Labels.coded([text for text in known if text is not None])
    place = np.full(len(known) + 1, -1, np.int64)
    place[:-1][[text is not None for text in known]] = found
    return Coded(coded.codes, labels, place[coded.place], coded.kind, coded.nullable)


def _values(found: list[str], kind: str, marks: Marks) -> list[str | None]:
    """The canonical texts of values, None where one is none of this kind: "1.0" is "1" among numbers.

    >>> _values(["1.0", "1.5", "--1", "-9007199254740993", "1e17"], "int", Marks())
    ['1', None, None, '-9007199254740993', '100000000000000000']
    >>> _values(["TRUE"], "bool", Marks())
    ['true']
    """
    if kind == "bool":
        words = (text.strip().lower() for text in found)
        return [word if word in ("true", "false") else None for word in words]
    values, _ = texts.numbers(Texts.of(found), marks)
    return [_number(text.strip(), value, kind) for text, value in zip(found, values.tolist())]


def _number(text: str, value: float, kind: str) -> str | None:
    """The canonical text of a number, of which this is the nearest double; NaN is none."""
    if kind == "number" and _NOT_MEANT.match(text):
        return None
    if kind != "float" and len(text) < DIGITS and _WHOLE.fullmatch(text):
        return canonical(int(text)) if kind != "int" or -(2**63) <= int(text) < 2**64 else None
    if np.isnan(value) or (kind == "int" and not (value.is_integer() and abs(value) < 2**63)):
        return None
    return canonical(int(value) if kind == "int" else value)
