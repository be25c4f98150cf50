"""How a batch is read into cells under a schema.

Texts are typed here: a cell that cannot be what its column is counts as missing and is reported, so that no file breaks
on row 3,000,001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from evenodds.data.values import as_kind, as_written
from evenodds.dates import as_dates
from evenodds.errors import DataError
from evenodds.families.leaves import Floats, usable
from evenodds.labels import canonical
from evenodds.schema import LENGTH, Column, Schema
from evenodds.texts import Texts


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
        target = [self.schema.target] if self.target else []
        weights = [] if self.weights is None else [self.weights]
        return list(dict.fromkeys([*self.schema.sources, *target, *weights]))

    def __call__(self, batch: Batch) -> Cells:
        """One batch, read."""
        bad: dict[str, Trouble] = {}
        garbled: dict[str, Trouble] = {}
        features = self.schema.features.items()
        plain = [name for name, how in features if how.source is None and how.family and how.family.cells == "numbers"]
        numbered = _numbers(batch, plain, bad)
        columns: dict[str, Any] = dict(numbered)
        for name, how in features:
            source = how.source or name
            if name in numbered:
                columns[name] = _possible(batch, name, how, numbered[name], bad)
            elif source not in columns:
                columns[source] = _read(batch, source, how, bad, garbled)
        table, target, weights, report = Table(columns, batch.rows), None, None, Report()
        kept = np.ones(batch.rows, bool)
        if self.target:
            kind = self.schema.target_kind
            target = replace(as_kind(_codes(batch, self.schema.target, garbled), kind, batch.marks), kind=kind)
            kept = target.places >= 0
            report = Report(no_target=_left_out(batch, ~kept))
        if self.weights is not None:
            weights = _numbers(batch, [self.weights], bad)[self.weights]
            has = usable(weights)
            report += Report(no_weight=_left_out(batch, kept & ~has))
            kept &= has
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
    return found if how.values == "text" else as_written(found, how.values, batch.marks)


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
        return codes(raw, f"column {name!r}")
    if replaced:
        _note(garbled, name, replaced, f"near {batch.where(0)}", "")
    return Coded(found, labels, place)


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
