"""The one verb: sum. Rows in, a tally out."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.cells import Coded, DataError, Raw, codes, numbers, part_of_date
from evenodds.data.memory import Table, in_order
from evenodds.families.leaves import Floats, Rows, count
from evenodds.labels import Fixed, Labels
from evenodds.schema import Column, Schema
from evenodds.tally import Leaf, Tally

CLASSES = ("", "classes")  # the target's leaf: how many rows of each class; no family has a leaf of that name


def cells(table: Table, name: str, column: Column) -> Any:
    """A column's cells as its family takes them: numbers (rows,) or Coded."""
    raw: Any = table[column.source or name]
    if column.source is not None:
        raw = part_of_date(raw, column.parts[0], column.source)
    assert column.family is not None
    return numbers(raw, name) if column.family.cells == "numbers" else codes(raw)


def sum_table(
    table: Table, schema: Schema, target: Coded, weights: Floats | None = None, threads: int | None = None
) -> Tally:
    """The tally of a table: counts of the classes, and each column's leaves per class."""
    place = target.place.astype(np.int32)
    size = table.shard_size
    starts = range(0, table.rows, size)

    def work(start: int) -> Tally:
        stop = min(start + size, table.rows)
        part = None if weights is None else weights[start:stop]
        rows = Rows(place.take(target.codes[start:stop], mode="clip"), len(target.labels), part, start)
        return _sum_shard(table.slice(start, stop), schema, target.labels, rows)

    tally = Tally.total(in_order(work, starts, threads))
    return tally.trimmed()


def _sum_shard(table: Table, schema: Schema, labels: Labels, rows: Rows) -> Tally:
    leaves = {CLASSES: Leaf(Fixed(1), count(np.zeros(table.rows, np.int8), 1, rows))}
    together: dict[type[Any], dict[str, Any]] = {}
    for name, column in schema.features.items():
        assert column.family is not None
        together.setdefault(column.family, {})[name] = cells(table, name, column)
    for family, columns in together.items():
        leaves |= family.leaves(list(columns.values()), rows, {name: schema.features[name] for name in columns})
    return Tally.of(labels, leaves)


def target_codes(y: Raw | Coded, rows: int) -> Coded:
    """The classes of some rows: one for each, none missing."""
    target = codes(y)
    if len(target.codes) != rows:
        raise DataError(
            f"{len(target.codes)} target values for {rows} rows (inconsistent numbers of samples: "
            f"[{rows}, {len(target.codes)}]): give a target value for each row"
        )
    if target.nullable and target.codes.min(initial=0) < 0:
        row = int(np.argmax(target.codes < 0))
        raise DataError(f"Input y contains NaN: the target is missing in row {row}; drop such rows")
    return target
