"""How a batch is read into cells under a schema.

Texts are typed here: a cell that cannot be what its column is counts as missing and is reported, so that no file breaks
on row 3,000,001.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evenodds import texts
from evenodds.cells import Coded, as_dates, codes, is_text, numbers
from evenodds.data.memory import Table
from evenodds.data.report import Report, Trouble
from evenodds.data.source import Batch
from evenodds.families.leaves import Floats
from evenodds.labels import Labels, canonical
from evenodds.schema import Column, Schema
from evenodds.texts import Marks, Texts


@dataclass(frozen=True)
class Cells:
    """A batch as a model takes it: the features, the target, the weights, and what was wrong."""

    table: Table
    target: Coded | None
    weights: Floats | None
    report: Report
    kept: NDArray[np.int64] | None  # the rows' numbers in the batch, where some were left out


@dataclass(frozen=True)
class Reading:
    """How batches are read under a schema: `target` with its classes or without, and perhaps a column of weights."""

    schema: Schema
    target: bool = True
    weights: str | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that are needed."""
        wanted = [how.source or name for name, how in self.schema.features.items()]
        extra = [self.schema.target] if self.target else []
        return list(dict.fromkeys([*wanted, *extra, *([self.weights] if self.weights else [])]))

    def __call__(self, batch: Batch) -> Cells:
        """One batch, read."""
        bad: dict[str, Trouble] = {}
        garbled: dict[str, Trouble] = {}
        columns: dict[str, Any] = {}
        for name, how in self.schema.features.items():
            source = how.source or name
            if source not in columns:
                columns[source] = _read(batch, source, how, bad, garbled)
        table, target, weights, report = Table(columns, batch.rows), None, None, Report()
        kept = np.ones(batch.rows, bool)
        if self.target:
            target = _as_kind(_codes(batch, self.schema.target, garbled), self.schema.target_kind, batch.marks)
            kept = np.append(target.place, -1)[target.codes] >= 0
            report = Report(no_target=_left_out(batch, ~kept))
        if self.weights is not None:
            weights = _numbers(batch, self.weights, bad)
            usable = (weights >= 0) & np.isfinite(weights)
            report += Report(no_weight=_left_out(batch, kept & ~usable))
            kept &= usable
        rows = None
        if not kept.all():
            rows = np.flatnonzero(kept)
            table = table.take(rows)
            target = None if target is None else dataclasses.replace(target, codes=target.codes[rows])
            weights = None if weights is None else weights[rows]
        report = batch.report + report + Report(batch.rows, bad, garbled)
        return Cells(table, target, weights, report, rows)


def _left_out(batch: Batch, which: NDArray[np.bool_]) -> Trouble | None:
    gone = np.flatnonzero(which)
    return Trouble(len(gone), batch.where(int(gone[0]))) if len(gone) else None


def _read(batch: Batch, name: str, how: Column, bad: dict[str, Trouble], garbled: dict[str, Trouble]) -> Any:
    assert how.family is not None
    if how.source is not None:
        return _dates(batch, name, bad)
    if how.family.cells == "codes":
        found = _codes(batch, name, garbled)
        return found if how.values == "text" else _as_kind(found, how.values, batch.marks)
    x = _numbers(batch, name, bad)
    impossible = np.flatnonzero(how.family.impossible(x))
    if len(impossible):
        row = int(impossible[0])
        _note(bad, name, len(impossible), batch.where(row), canonical(float(x[row])))
        x = x.copy()
        x[impossible] = np.nan
    return x


def _note(bad: dict[str, Trouble], name: str, count: int, where: str, example: str) -> None:
    trouble = Trouble(count, where, example if len(example) <= 40 else example[:39] + "…")
    bad[name] = bad[name] + trouble if name in bad else trouble


def _arrow_text(raw: Any) -> bool:
    return isinstance(raw, (pa.Array, pa.ChunkedArray)) and is_text(raw.type)


def _numbers(batch: Batch, name: str, bad: dict[str, Trouble]) -> Floats:
    raw = batch.column(name)
    if _arrow_text(raw):
        raw = Texts.of_arrow(raw)
    if isinstance(raw, Coded):
        raw = Texts.of(_texts(raw))
    if not isinstance(raw, Texts):
        return numbers(raw, name)
    x, wrong = texts.numbers(raw, batch.marks)
    if len(wrong):
        row = int(wrong[0])
        _note(bad, name, len(wrong), batch.where(row), raw.text(row) or "")
    return x


def _texts(coded: Coded) -> list[str | None]:
    texts: list[str | None] = [*coded.labels.texts(), None]
    return [texts[i] for i in np.append(coded.place, -1)[coded.codes].tolist()]


def _codes(batch: Batch, name: str, garbled: dict[str, Trouble]) -> Coded:
    raw = batch.column(name)
    if _arrow_text(raw):  # a file that has nulls of its own means NA where it says so
        found, labels, place, replaced = texts.codes(Texts.of_arrow(raw), missing=())
    elif isinstance(raw, Texts):
        found, labels, place, replaced = texts.codes(raw)
    else:
        return codes(raw)
    if replaced:
        _note(garbled, name, replaced, f"near {batch.where(0)}", "")
    return Coded(found, labels, place)


def _as_kind(coded: Coded, kind: str, marks: Marks) -> Coded:
    """The same cells with each label in the canonical text of its kind; labels that are none are missing."""
    if kind == "text":
        return coded
    known = [_value(text, kind, marks) for text in coded.labels.texts()]
    labels, found = Labels.coded([text for text in known if text is not None])
    place = np.full(len(known) + 1, -1, np.int64)
    place[:-1][[text is not None for text in known]] = found
    return Coded(coded.codes, labels, place[coded.place], coded.kind, coded.nullable)


def _value(text: str, kind: str, marks: Marks) -> str | None:
    """The canonical text of a value: "1.0" is "1" among numbers.

    >>> _value("1.0", "int", Marks()), _value("1.5", "int", Marks()), _value("TRUE", "bool", Marks())
    ('1', None, 'true')
    """
    if kind == "bool":
        word = text.strip().lower()
        return word if word in ("true", "false") else None
    if text.strip().isdecimal():
        return canonical(int(text))
    values, wrong = texts.numbers(Texts.of([text]), marks)
    value = float(values[0])
    if len(wrong) or np.isnan(value) or (kind == "int" and not value.is_integer()):
        return None
    return canonical(value)


def _dates(batch: Batch, name: str, bad: dict[str, Trouble]) -> Any:
    raw = batch.column(name)
    if not (isinstance(raw, (Texts, Coded)) or _arrow_text(raw)):
        return raw
    coded = _codes(batch, name, {})
    place = np.append(coded.place, -1)[coded.codes]
    dates = as_dates(coded.labels.texts()).take(pa.array(place, mask=place < 0))
    wrong = np.flatnonzero(dates.is_null().to_numpy(zero_copy_only=False) & (place >= 0))
    if len(wrong):
        row = int(wrong[0])
        _note(bad, name, len(wrong), batch.where(row), coded.labels.text(int(place[row])))
    return dates


def typed(raw: Any, marks: Marks) -> Any:
    """A sample's texts as what they say: whole numbers, numbers, true and false, or text.

    Up to a twentieth of a column's cells may be something else where at least 20 different numbers are there.
    """
    if not isinstance(raw, Texts):
        return raw
    coded = Coded(*texts.codes(raw)[:3])
    found = coded.labels.texts()
    places = np.append(coded.place, -1)[coded.codes]
    where = pa.array(places, mask=places < 0)
    values, _ = texts.numbers(Texts.of(found), marks)
    numeric = np.array([_is_number(text) for text in found], bool) & ~np.isnan(values)
    counts = np.bincount(places[places >= 0], minlength=len(found))
    if len(found) and (numeric.all() or (numeric.sum() >= 20 and counts[~numeric].sum() <= 0.05 * counts.sum())):
        whole = all(text.strip().lstrip("+-").isdecimal() for text, number in zip(found, numeric) if number)
        known = pa.array(np.where(numeric, values, 0.0), mask=~numeric)
        return (known.cast(pa.int64()) if whole and np.abs(values[numeric]).max() < 2**53 else known).take(where)
    if len(found) and all(text.strip().lower() in ("true", "false") for text in found):
        return pa.array([text.strip().lower() == "true" for text in found]).take(where)
    return pa.array(found, pa.string()).take(where)


def _is_number(text: str) -> bool:
    """Whether a text that can be read as a number is meant as one: 007 and yes are not."""
    digits = text.strip().lstrip("+-")
    return digits[:1] not in ("", *"tTfFyYnN") and not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit())
