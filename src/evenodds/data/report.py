"""What was wrong with some rows: cells that could not be read, rows left out. Reports add, as tallies do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evenodds.errors import many, remedy


@dataclass(frozen=True)
class Trouble:
    """How often something was met, where first, and what it looked like there."""

    count: int
    where: str
    example: str = ""

    def __add__(self, other: Trouble) -> Trouble:
        return Trouble(self.count + other.count, self.where, self.example)


@dataclass(frozen=True)
class Report:
    """Rows read, and what was wrong with them.

    >>> one = Report(10, ragged=Trouble(1, "line 3", "5 cells"))
    >>> print(*(one + Report(20, cells={"age": Trouble(2, "line 14", "old")})).sentences(), sep="\\n")
    1 row has the wrong number of cells and was left out (first: line 3, 5 cells)
    column 'age': 2 cells could not be read and count as missing (first: line 14, 'old')
    """

    rows: int = 0
    cells: Mapping[str, Trouble] = field(default_factory=dict)  # by column: not a number, not a date
    encoding: Mapping[str, Trouble] = field(default_factory=dict)  # by column: text that is not in the file's encoding
    ragged: Trouble | None = None  # rows with too few or too many cells
    broken: Trouble | None = None  # lines that are no JSON objects
    no_target: Trouble | None = None  # rows whose class is missing
    no_weight: Trouble | None = None  # rows whose weight is missing or negative
    skipped: Mapping[str, str] = field(default_factory=dict)  # files that were not counted, and why

    def __add__(self, other: Report) -> Report:
        return Report(
            self.rows + other.rows,
            _merge(self.cells, other.cells),
            _merge(self.encoding, other.encoding),
            _plus(self.ragged, other.ragged),
            _plus(self.broken, other.broken),
            _plus(self.no_target, other.no_target),
            _plus(self.no_weight, other.no_weight),
            {**self.skipped, **other.skipped},
        )

    def sentences(self) -> list[str]:
        """What a person should know, one sentence each; nothing if all was well."""
        found = [
            f"{many(trouble.count, noun)} {what} and {'was' if trouble.count == 1 else 'were'} left out "
            f"(first: {trouble.where}{', ' + trouble.example if trouble.example else ''})"
            for trouble, noun, one, several in (
                (self.ragged, "row", "has the wrong number of cells", "have the wrong number of cells"),
                (self.broken, "line", "is not a JSON object", "are not JSON objects"),
                (self.no_target, "row", "has no target value", "have no target value"),
                (self.no_weight, "row", "has no weight that can be used", "have no weight that can be used"),
            )
            if trouble is not None
            for what in (one if trouble.count == 1 else several,)
        ]
        for column, t in self.cells.items():
            counts = "counts as" if t.count == 1 else "count as"
            found.append(
                f"column {column!r}: {many(t.count, 'cell')} could not be read and {counts} missing "
                f"(first: {t.where}, {t.example!r})"
            )
        found += [f"{file} was not counted: {why}" for file, why in self.skipped.items()]
        for column, t in self.encoding.items():
            found.append(
                f"column {column!r}: {many(t.count, 'cell')} not in the file's encoding, read with replacement marks "
                f"(first: {t.where}); {remedy('encoding=', '--encoding')} names another"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""

        def plain(trouble: Trouble | None) -> dict[str, Any] | None:
            return None if trouble is None else dict(vars(trouble))

        return {
            "rows": self.rows,
            "unreadable_cells": {name: plain(t) for name, t in self.cells.items()},
            "not_in_encoding": {name: plain(t) for name, t in self.encoding.items()},
            "rows_with_wrong_number_of_cells": plain(self.ragged),
            "lines_that_are_no_objects": plain(self.broken),
            "rows_without_target": plain(self.no_target),
            "rows_without_weight": plain(self.no_weight),
            "files_not_counted": dict(self.skipped),
        }


def _plus(a: Trouble | None, b: Trouble | None) -> Trouble | None:
    return a + b if a is not None and b is not None else a or b


def _merge(a: Mapping[str, Trouble], b: Mapping[str, Trouble]) -> dict[str, Trouble]:
    return {**a, **{name: a[name] + trouble if name in a else trouble for name, trouble in b.items()}}
