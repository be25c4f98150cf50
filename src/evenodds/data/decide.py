"""The schema, decided once from the first rows of a source: what each column is, and the family that models it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenodds.cells import numbers, target_kind
from evenodds.data.memory import Table
from evenodds.errors import DataError, did_you_mean, warn
from evenodds.families import FAMILIES, Bernoulli, Binned, Categorical, Family, Gaussians, Kernel, WordCounts
from evenodds.families.numeric import bins_of, check_finite
from evenodds.kinds import kind
from evenodds.schema import LENGTH, SAMPLE, Column, Part, SchemaWarning, Values
from evenodds.text.words import Words

DEFAULTS: dict[str, type[Family]] = {
    "number": Binned,
    "flag": Bernoulli,
    "category": Categorical,
    "text": WordCounts,
}
LEFT_OUT = {
    "date": "is a date: left out (Column(parts=('month', 'weekday')) uses its parts)",
    "span": "is a time of day or a length of time: left out (turn it into a number, such as hours, to use it)",
    "id": "has almost no value twice, so it looks like an identifier: left out (give it a family to use it, or --role)",
    "empty": "has no values in the first rows: left out",
    "nested": "holds lists or structures: left out",
}
VALUES: dict[str, Values] = {"int": "number", "float": "number", "bool": "bool"}
PLAIN = Column()
COLUMNS: dict[str, Column] = {}
SOME = 256  # values that mostly show it
FEW_BINS = 16  # histogram bins, below which a column far from zero needs an origin


def decide(
    table: Table, columns: Mapping[str, Any] | type[Family] | Column | None = None, number: type[Family] = Binned
) -> dict[str, Column]:
    """A Column for every column of the table: as told, or by what the first 10,000 rows hold; `number` for numbers."""
    sample = table.slice(0, min(SAMPLE, table.rows))
    told = _told(sample, columns)
    decided: dict[str, Column] = {}
    left: dict[str, list[str]] = {}
    for name, raw in sample.columns.items():
        column = told.get(name, PLAIN)
        if column.role == "ignore":
            decided[name] = column
        elif column.parts:
            decided[name] = dataclasses.replace(column, role="ignore")
            decided |= _parts(name, column.parts, sample)
        elif column.family is not None:
            values = VALUES.get(target_kind(raw), "text") if column.family.cells == "codes" else "text"
            decided[name] = column if values == column.values else dataclasses.replace(column, values=values)
        else:
            what = kind(raw, named=sample.named)
            if what in LEFT_OUT:
                left.setdefault(what, []).append(name)
                decided[name] = dataclasses.replace(column, role="ignore")
            else:
                family = number if what == "number" else DEFAULTS[what]
                decided[name] = of_family(family) if column == PLAIN else dataclasses.replace(column, family=family)
        final = decided[name]
        if final.words is not None and final.words.length_column and final.role == "feature":
            decided |= _parts(name, (LENGTH,), sample)
        if final.family in (Binned, Gaussians, Kernel) and sample.named:
            _check_origin(name, final, raw)
    for reason, names in left.items():
        which = f"column {names[0]!r}" if len(names) == 1 else f"each of the columns {', '.join(map(repr, names))}"
        warn(f"{which} {LEFT_OUT[reason]}", SchemaWarning)
    if all(column.role == "ignore" for column in decided.values()):
        raise DataError(
            "no column is left to learn from: give one a family, as in columns={'name': Categorical} or "
            "--role name=category"
        )
    return decided


def _parts(name: str, parts: Sequence[Part], sample: Table) -> dict[str, Column]:
    """The columns that are parts of another one: the month of a date, the length of a text."""
    for part in parts:
        if f"{name}.{part}" in sample.columns:
            raise DataError(f"columns {name!r} and '{name}.{part}': the second is the {part} of the first; rename it")
    return {
        f"{name}.{part}": Column(Binned if part == LENGTH else Categorical, parts=(part,), source=name)
        for part in parts
    }


def of_family(family: type[Family]) -> Column:
    """The column that a bare family stands for: one object, so that comparing two schemas is quick."""
    if family not in FAMILIES.values():
        return Column(family)
    return COLUMNS.setdefault(family.name, Column(family))


def _told(table: Table, columns: Any) -> dict[str, Column]:
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        return dict.fromkeys(table.columns, _column("columns", columns))
    told = {}
    for name, what in columns.items():
        if str(name) not in table.columns:
            raise DataError(did_you_mean(str(name), table.columns))
        told[str(name)] = _column(f"column {str(name)!r}", what)
    return told


def _column(where: str, what: Any) -> Column:
    if isinstance(what, Column) and what.words is not None and what.family is None:
        return dataclasses.replace(what, family=WordCounts)
    if isinstance(what, Column):
        if isinstance(what.parts, list):
            return dataclasses.replace(what, parts=tuple(what.parts))
        return what
    if what is Words:
        return of_family(WordCounts)
    if hasattr(what, "as_column"):  # an estimator that can be one column of a table: KernelDensity("sj")
        return _column(where, what.as_column())
    if isinstance(what, Words):
        return Column(WordCounts, words=what)
    if isinstance(what, type) and issubclass(what, Family):
        return of_family(what)
    raise DataError(f"{where}: expected a family such as Gaussian, Words or a Column, got {what!r}")


def _check_origin(name: str, column: Column, raw: Any) -> None:
    """Warn where a column's values share so many leading digits that the histogram cannot tell them apart.

    Values too large to be squared are refused.
    """
    x = numbers(raw, name)
    x = x[np.isfinite(x)]
    with np.errstate(over="ignore"):
        check_finite(x, x @ x, name, 0)
    if not len(x) or bins_of(x[:SOME], column.origin) >= FEW_BINS:
        return
    bins = bins_of(x, column.origin)
    if bins < FEW_BINS and len(np.unique(x)) >= 2 * bins:
        family: type[Family] = Binned if column.family is None else column.family
        near = float(f"{np.median(x):.2g}")
        warn(
            f"column {name!r} lies far from zero for its spread, so its histogram has only {bins} bins: "
            f"Column({family.__name__}, origin={near:g}) tells its values apart",
            SchemaWarning,
        )
