"""The schema, decided once from the first rows of a source: what each column is, and the family that models it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from evenodds.cells import Coded, as_arrow, is_text, numbers, target_kind, type_of, without_views
from evenodds.data.memory import Table
from evenodds.data.values import typed
from evenodds.dates import as_dates
from evenodds.errors import DataError, as_word, did_you_mean, remedy, warn
from evenodds.families import FAMILIES, Bernoulli, Binned, Categorical, Family, Gaussians, Kernel, WordCounts
from evenodds.families.numeric import bins_of, check_finite
from evenodds.kinds import MANY, kind, words_of
from evenodds.schema import LENGTH, SAMPLE, Column, Part, SchemaWarning, Values
from evenodds.text.words import Words
from evenodds.texts import PLAIN, Texts

DEFAULTS: dict[str, type[Family]] = {
    "number": Binned,
    "flag": Bernoulli,
    "category": Categorical,
    "text": WordCounts,
}
LEFT_OUT = {  # why, and what to do about it, in Python and on the command line
    "date": (
        "is a date",
        "Column(parts=('month', 'weekday')) uses its parts",
        "--role {}=date:month+weekday uses its parts",
    ),
    "span": ("is a time of day or a length of time", *2 * ("turn it into a number, such as hours, to use it",)),
    "id": (
        "has almost no value twice, so it looks like an identifier",
        "give it a family to use it: Categorical, Words or Binned",
        "--role {}=category, =text or =number uses it",
    ),
    "empty": ("has no values in the first rows", "", ""),
    "nested": ("holds lists, structures or bytes", "", ""),
}
VALUES: dict[str, Values] = {"int": "number", "float": "number", "bool": "bool"}
OPEN = Column()  # nothing of it is told
COLUMNS: dict[str, Column] = {}
FEW_VALUES = 20  # of texts, below which a category is plausible whatever they are
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
        column = told.get(name, OPEN)
        if column.role == "ignore":
            decided[name] = column
        elif column.parts:
            if column.parts != (LENGTH,):
                _check_dates(name, raw)
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
                decided[name] = of_family(family) if column == OPEN else dataclasses.replace(column, family=family)
                if what == "category" and not isinstance(raw, Coded):
                    _doubt(name, as_arrow(raw))
        final = decided[name]
        if final.words is not None and final.words.length_column and final.role == "feature":
            decided |= _parts(name, (LENGTH,), sample)
        if final.family in (Binned, Gaussians, Kernel) and sample.named:
            _check_origin(name, final, raw)
    for reason, names in left.items():
        which = f"column {names[0]!r}" if len(names) == 1 else f"each of the columns {', '.join(map(repr, names))}"
        why, *cures = LEFT_OUT[reason]
        cure = remedy(*cures).format(as_word(names[0]))
        warn(f"{which} {why}: left out" + (f" ({cure})" if cure else ""), SchemaWarning)
    if all(column.role == "ignore" for column in decided.values()):
        raise DataError(
            "no column is left to learn from: give one a family, as in "
            + remedy("columns={'name': Categorical}", "--role name=category")
        )
    return decided


def _check_dates(name: str, raw: Any) -> None:
    """Refuse a column that is told to be dates and has texts of which none is one."""
    if isinstance(raw, np.ndarray | Coded) or not is_text(type_of(raw)):
        return
    found = pc.unique(without_views(raw).drop_null())
    if len(found) and not as_dates(found.to_pylist()).drop_null():
        raise DataError(
            f"column {name!r} is told to be dates, and none of its first rows is one (first: {found[0].as_py()!r}); "
            "expected 2024-03-01 or 2024-03-01 23:30:00"
        )


def _doubt(name: str, raw: Any) -> None:
    """Warn where texts of so many values were taken for a category that they may be meant as something else."""
    cells = without_views(raw)
    distinct = pc.unique(cells).drop_null()
    if len(distinct) < FEW_VALUES:
        return
    values = cells.drop_null()
    if not is_text(typed(Texts.of_arrow(values), PLAIN).type):
        cure = remedy(f"columns={{{name!r}: Binned}}, or astype(float)", f"--role {as_word(name)}=number")
        what = "holds numbers, but its type says text: taken as a category"
    elif 4 * len(distinct) > len(values) and len(distinct) >= MANY and words_of(values) >= 2:
        cure = remedy(f"columns={{{name!r}: Words()}}", f"--role {as_word(name)}=text")
        what = f"has {len(distinct):,} different values of several words: taken as a category"
    else:
        return
    warn(f"column {name!r} {what} ({cure} takes it otherwise)", SchemaWarning)


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
    cure = "; Column(role='ignore') leaves a column out" if isinstance(what, str) else ""  # a word for --role
    raise DataError(f"{where}: expected a family such as Gaussian, Words or a Column, got {what!r}{cure}")


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
            + remedy(
                f"Column({family.__name__}, origin={near:g}) tells its values apart",
                f"take off {near:g} first, or --role {as_word(name)}=category",
            ),
            SchemaWarning,
        )
