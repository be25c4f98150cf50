"""How a batch is read into cells under a schema.

Texts are typed here: a cell that cannot be what its column is counts as missing and is reported, so that no file breaks
on row 3,000,001.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evenodds import cells, texts
from evenodds.cells import Coded, arrow_numbers, codes, is_text, numbers
from evenodds.data.memory import Table
from evenodds.data.report import Report, Trouble
from evenodds.data.source import Batch
from evenodds.dates import as_dates
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import Labels, canonical
from evenodds.schema import LENGTH, Column, Schema
from evenodds.texts import Marks, Texts

LIGHTEST, HEAVIEST, MOST = 1e-100, 2.0**50, 2.0**53  # a row that counts, and a batch of them: sums must not overflow
_NOT_MEANT = re.compile(r"^\s*[+-]?(0\d|[tTfFyYnN])", re.MULTILINE)  # 007 and yes can be read as numbers, but are not
DIGITS = 4000  # of a whole number, from which on Python does not read them


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
        return list(dict.fromkeys([*wanted, *extra, *([self.weights] if self.weights is not None else [])]))

    def __call__(self, batch: Batch) -> Cells:
        """One batch, read."""
        bad: dict[str, Trouble] = {}
        garbled: dict[str, Trouble] = {}
        features = self.schema.features.items()
        plain = [name for name, how in features if how.source is None and how.family and how.family.cells == "numbers"]
        columns: dict[str, Any] = dict(_numbers(batch, plain, bad))
        for name, how in features:
            source = how.source or name
            if name in plain:
                columns[name] = _possible(batch, name, how, columns[name], bad)
            elif source not in columns:
                columns[source] = _read(batch, source, how, bad, garbled)
        table, target, weights, report = Table(columns, batch.rows), None, None, Report()
        kept = np.ones(batch.rows, bool)
        if self.target:
            target = _as_kind(_codes(batch, self.schema.target, garbled), self.schema.target_kind, batch.marks)
            kept = target.places >= 0
            report = Report(no_target=_left_out(batch, ~kept))
        if self.weights is not None:
            weights = _numbers(batch, [self.weights], bad)[self.weights]
            usable = (weights == 0) | ((weights >= LIGHTEST) & (weights <= HEAVIEST))
            if weights[usable].sum() > MOST:
                raise DataError(f"the weights in column {self.weights!r} are too large to be summed: rescale it")
            report += Report(no_weight=_left_out(batch, kept & ~usable))
            kept &= usable
        rows = None
        if not kept.all():
            rows = np.flatnonzero(kept)
            table = table.take(rows)
            target = None if target is None else target[rows]
            weights = None if weights is None else weights[rows]
        report = batch.report + report + Report(batch.rows, bad, garbled)
        return Cells(table, target, weights, report, rows)


def _left_out(batch: Batch, which: NDArray[np.bool_]) -> Trouble | None:
    gone = np.flatnonzero(which)
    return Trouble(len(gone), batch.where(int(gone[0]))) if len(gone) else None


def _read(batch: Batch, name: str, how: Column, bad: dict[str, Trouble], garbled: dict[str, Trouble]) -> Any:
    """A column that is not numbers."""
    assert how.family is not None
    if how.parts and how.parts != (LENGTH,):
        return _dates(batch, name, bad)
    if how.parts or how.family.cells == "texts":
        return cells.texts(batch.column(name), name)
    found = _codes(batch, name, garbled)
    return found if how.values == "text" else _as_kind(found, how.values, batch.marks)


def _possible(batch: Batch, name: str, how: Column, x: Floats, bad: dict[str, Trouble]) -> Floats:
    """Numbers that the column's family can be; others are missing and noted."""
    assert how.family is not None
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


def is_arrow_text(raw: Any) -> bool:
    """Whether this is an Arrow array of texts."""
    return isinstance(raw, (pa.Array, pa.ChunkedArray)) and is_text(raw.type)


def _numbers(batch: Batch, names: Sequence[str], bad: dict[str, Trouble]) -> dict[str, Floats]:
    """Columns as numbers; those that lie in one block of text are read together, since few long calls of a kernel
    leave the interpreter's lock to other threads for longer than many short ones.
    """
    found: dict[str, Floats] = {}
    written: dict[str, Texts] = {}
    for name in names:
        raw = batch.column(name)
        if is_arrow_text(raw):
            raw = Texts.of_arrow(raw)
        if isinstance(raw, Coded):
            raw = Texts.of_arrow(raw.arrow())
        if isinstance(raw, Texts):
            written[name] = raw
        else:
            found[name] = numbers(raw, name)
    for some in texts.by_blob(written):
        together = texts.side_by_side([written[name] for name in some])
        values, wrong = texts.numbers(together, batch.marks, len(some))
        column, row = np.divmod(wrong, max(batch.rows, 1))
        for j, name in enumerate(some):
            found[name] = values[j * batch.rows : (j + 1) * batch.rows]
            mine = row[column == j]
            if len(mine):
                first = int(mine[0])
                _note(bad, name, len(mine), batch.where(first), written[name].text(first) or "")
    return found


def _codes(batch: Batch, name: str, garbled: dict[str, Trouble]) -> Coded:
    raw = batch.column(name)
    if is_arrow_text(raw):  # a file that has nulls of its own means NA where it says so
        found, labels, place, replaced = texts.codes(Texts.of_arrow(raw), missing=())
    elif isinstance(raw, Texts):
        found, labels, place, replaced = texts.codes(raw)
    else:
        return coded(raw, f"column {name!r}")
    if replaced:
        _note(garbled, name, replaced, f"near {batch.where(0)}", "")
    return Coded(found, labels, place)


def coded(raw: Any, where: str) -> Coded:
    """Cells of a type of their own as codes; a sentence if they are nothing that can be told apart."""
    try:
        return codes(raw)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, OverflowError):
        raise DataError(f"{where} holds {raw.type}: expected texts, numbers or dates") from None


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

    >>> [_value(text, "int", Marks()) for text in ("1.0", "1.5", "-9007199254740993", "1e17")]
    ['1', None, '-9007199254740993', '100000000000000000']
    >>> _value("TRUE", "bool", Marks())
    'true'
    """
    if kind == "bool":
        word = text.strip().lower()
        return word if word in ("true", "false") else None
    whole = text.strip()
    if kind != "float" and len(whole) < DIGITS and whole.lstrip("+-").isdecimal() and whole.isascii():
        return canonical(int(whole)) if kind != "int" or -(2**63) <= int(whole) < 2**64 else None
    values, wrong = texts.numbers(Texts.of([text]), marks)
    value = float(values[0])
    if len(wrong) or np.isnan(value) or (kind == "int" and not (value.is_integer() and abs(value) < 2**63)):
        return None
    return canonical(int(value) if kind == "int" else value)


def _dates(batch: Batch, name: str, bad: dict[str, Trouble]) -> Any:
    raw = batch.column(name)
    if not (isinstance(raw, (Texts, Coded)) or is_arrow_text(raw) or _plain_number(raw)):
        _check_zone(raw, name)
        return raw
    coded = _codes(batch, name, {})
    place = coded.places
    dates = as_dates(coded.labels.texts()).take(arrow_numbers(place, place < 0))
    wrong = np.flatnonzero(dates.is_null().to_numpy(zero_copy_only=False) & (place >= 0))
    if len(wrong):
        row = int(wrong[0])
        _note(bad, name, len(wrong), batch.where(row), coded.labels.text(int(place[row])))
    return dates


def _plain_number(raw: Any) -> bool:
    """Whether these are cells of JSON that are no texts, so no dates."""
    t = pa.types
    return isinstance(raw, (pa.Array, pa.ChunkedArray)) and (
        t.is_null(raw.type) or t.is_boolean(raw.type) or t.is_integer(raw.type) or t.is_floating(raw.type)
    )


def _check_zone(raw: Any, name: str) -> None:
    type_ = getattr(raw, "type", None)
    if type_ is not None and pa.types.is_timestamp(type_) and type_.tz is not None:
        try:
            pc.year(raw.slice(0, 1))
        except pa.ArrowInvalid:
            raise DataError(f"column {name!r} holds times of the unknown zone {type_.tz!r}: leave it out") from None


def typed(raw: Any, marks: Marks) -> Any:
    """A sample's texts as what they say: whole numbers, numbers, true and false, or text.

    Up to a twentieth of a column's cells may be something else where at least 20 different numbers are there.
    """
    if not isinstance(raw, Texts):
        return raw
    coded = Coded(*texts.codes(raw)[:3])
    found = coded.labels.texts()
    places = coded.places
    where = arrow_numbers(places, places < 0)
    values, _ = texts.numbers(Texts.cut(coded.labels.blob, coded.labels.ends.astype(np.int32)), marks)
    numeric = ~np.isnan(values)
    if _NOT_MEANT.search("\n".join(found)):
        numeric &= np.array([not _NOT_MEANT.match(text) for text in found], bool)
    counts = np.bincount(places[places >= 0], minlength=len(found))
    if len(found) and (numeric.all() or (numeric.sum() >= 20 and counts[~numeric].sum() <= 0.05 * counts.sum())):
        whole = all(text.strip().lstrip("+-").isdecimal() for text, number in zip(found, numeric) if number)
        return (_whole(found, numeric) if whole else arrow_numbers(values, ~numeric)).take(where)
    if len(found) and all(text.strip().lower() in ("true", "false") for text in found):
        return pa.array([text.strip().lower() == "true" for text in found]).take(where)
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
