"""What a column is the source of: a part of its dates, as categories, or the length of its texts, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenodds.cells import Coded, Raw, as_arrow, is_text, texts, type_of, without_views
from evenodds.dates import all_dates, as_dates
from evenodds.errors import DataError, brief
from evenodds.text.lengths import lengths

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def part_of(raw: Raw | Coded, part: str, name: str) -> Any:
    """A part of each date, as categories, or the length of each text, as numbers."""
    return lengths(texts(raw, name)) if part == "length" else _of_date(raw, part, name)


def _of_date(raw: Raw | Coded, part: str, name: str) -> Any:
    """A part of a date as category cells: the weekday's name, or the number of the year, month, day or hour."""
    raw = raw.arrow() if isinstance(raw, Coded) else raw
    raw = without_views(as_arrow(raw) if isinstance(raw, np.ndarray) else raw)
    if is_text(type_of(raw)):
        written = raw.cast(pa.string()) if pa.types.is_dictionary(raw.type) else raw
        raw = all_dates(written)
        if raw is None:
            distinct = pc.unique(written).drop_null().to_pylist()
            wrong = distinct[as_dates(distinct).is_null().index(True).as_py()]
            raise DataError(
                f"column {name!r} holds {brief(wrong)}, expected dates like 2024-03-01 or 2024-03-01 12:30:00"
            )
    elif pa.types.is_null(raw.type):
        raw = pa.nulls(len(raw), pa.timestamp("us"))
    if not (pa.types.is_timestamp(raw.type) or pa.types.is_date(raw.type)):
        raise DataError(f"column {name!r} holds {raw.type}, not dates: it has no {part}")
    if part == "hour" and pa.types.is_date(raw.type):
        raise DataError(f"column {name!r} holds days without a time: it has no hour")
    if part == "weekday":
        return pc.take(pa.array(WEEKDAYS), pc.day_of_week(raw))
    return getattr(pc, part)(raw).cast(pa.string())
