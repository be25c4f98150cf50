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
    every = pa.array(written, pa.string())
    whole = all_dates(every) if written else None
    if whole is not None:
        return whole
    one_by_one = [all_dates(every.slice(i, 1)) for i in range(len(written))]
    return pa.array([None if one is None else one[0].as_py() for one in one_by_one], pa.timestamp("us"))


def all_dates(values: Any) -> Any | None:
    """Texts as times where all of them are ISO 8601 dates, otherwise None; of a zone, what its clock showed.

    So the hour of 2024-03-01T23:30+09:00 is 23, as it is of Arrow's times of a zone.
    """
    if not pc.all(pc.match_substring_regex(values, _DATE)).as_py():
        return None
    try:
        return pc.cast(pc.replace_substring_regex(values, _DATE, r"\1\3\5\7"), pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
