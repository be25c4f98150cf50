"""Dates that are written as ISO 8601 says."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_DATE = r"^(\d{4}-\d\d-\d\d)(([T ]\d\d:\d\d)((:\d\d)((\.\d{1,6})\d*)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"


def as_dates(written: list[str]) -> Any:
    """Texts as times, null where one is no ISO 8601 date.

    >>> as_dates(["2024-02-29", "2023-02-29", "soon"]).to_pylist()
    [datetime.datetime(2024, 2, 29, 0, 0), None, None]
    """
    cells = pa.array(written, pa.string())
    like = pc.match_substring_regex(cells, _DATE)
    return _possible(_shown(pc.if_else(like, cells, pa.scalar(None, pa.string()))))


def _possible(shown: Any) -> Any:
    """Times as the clock shows them, null where there is no such day: halved until each part is all times, or one."""
    try:
        return pc.cast(shown, pa.timestamp("us"))
    except pa.ArrowInvalid:
        if len(shown) == 1:
            return pa.nulls(1, pa.timestamp("us"))
        half = len(shown) // 2
        return pa.concat_arrays([_possible(shown[:half]), _possible(shown[half:])])


def _shown(dates: Any) -> Any:
    """What the clock showed, without the zone."""
    return pc.replace_substring_regex(dates, _DATE, r"\1\3\5\7")


def all_dates(values: Any) -> Any | None:
    """Texts as times where all of them are ISO 8601 dates, otherwise None; of a zone, what its clock showed.

    So the hour of 2024-03-01T23:30+09:00 is 23, as it is of Arrow's times of a zone. Nulls alone are no dates, but not
    wrong either.
    """
    if not pc.all(pc.match_substring_regex(values, _DATE), min_count=0).as_py():
        return None
    try:
        return pc.cast(_shown(values), pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
