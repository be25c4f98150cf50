"""What a column is: a sample of its cells looked at."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenodds.cells import Coded, Raw, arrow_numbers, as_arrow, is_text, type_of, without_views
from evenodds.dates import all_dates
from evenodds.texts import FALSE, TRUE

Kind = Literal["number", "flag", "category", "date", "span", "id", "text", "empty", "nested"]

MANY = 100  # values that must all differ before a column is taken for an identifier


def kind(raw: Raw | Coded, *, named: bool = True) -> Kind:
    """What a sample of a column holds. Only text and integers of named sources can be identifiers."""
    if isinstance(raw, Coded):
        return "category" if np.any(raw.codes >= 0) else "empty"
    if isinstance(raw, np.ndarray):
        if not named:
            return "number"
        raw = as_arrow(raw)
    raw = without_views(raw)
    values = raw.drop_null()
    if not len(values):
        return "empty"
    type_, t = type_of(raw), pa.types
    if t.is_boolean(type_):
        return "flag"
    if t.is_temporal(type_):
        return "date" if t.is_timestamp(type_) or t.is_date(type_) else "span"
    if t.is_integer(type_) or t.is_floating(type_) or t.is_decimal(type_):
        numbers = values.cast(pa.float64(), safe=False)
        if pc.all(pc.is_in(numbers, arrow_numbers(np.array([0.0, 1.0])))).as_py():
            return "flag"
        distinct = pc.count_distinct(values).as_py()
        holes = len(values) < len(raw)  # pandas writes integers with holes as floats
        whole = t.is_integer(type_) or (holes and pc.all(pc.equal(numbers, pc.floor(numbers))).as_py())
        return "id" if named and distinct == len(values) >= MANY and whole else "number"
    if is_text(type_):
        return _text_kind(values)
    return "nested"


def _text_kind(values: Any) -> Kind:
    distinct = pc.unique(values)
    words = {text.strip().lower() for text in distinct.to_pylist()} if len(distinct) <= 8 else set()
    if words and words <= {*TRUE, *FALSE}:
        return "flag"
    if all_dates(distinct) is not None:
        return "date"
    often = len(values) / len(distinct)
    mostly = often < 2 and len(distinct) >= MANY  # a subject line may come again, as a reply
    nearly = often < 1 / 0.9 and len(values) >= MANY / 2
    if (mostly or nearly) and words_of(values) >= 3:
        return "text"
    return "id" if nearly else "category"


def words_of(values: Any) -> float:
    """How many words a cell has on average, as spaces tell them apart."""
    return 1.0 + float(pc.mean(pc.count_substring(values, " ")).as_py())
