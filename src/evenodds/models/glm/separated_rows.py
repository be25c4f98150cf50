"""Any files as rows and classes to be separated: numbers as they are, categories by the regressions' design."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.data.passes import number
from evenodds.data.report import Report
from evenodds.data.source import Batch, Source
from evenodds.families import Categorical
from evenodds.families.leaves import Floats
from evenodds.models.glm.asked import schema_of
from evenodds.models.glm.plan import Plan, Roles
from evenodds.models.glm.rows import block_of, read_again
from evenodds.models.glm.survey import surveyed
from evenodds.models.separators.cone import cone
from evenodds.models.separators.separation import Separation, judge
from evenodds.models.separators.separator import Separator, separate
from evenodds.models.separators.vectors import Rows, dense
from evenodds.threads import in_order


@dataclass(frozen=True, eq=False)
class ClassRows:
    """A design with its column of ones first, the class of each row, its number in the files, and what was wrong."""

    X: Floats
    codes: NDArray[np.int64]
    numbers: NDArray[np.int64]  # from 0, those that were left out counted too
    names: list[str]
    classes: list[Any]
    report: Report

    def judged(self, shown: Callable[[str], str] = str) -> tuple[Separation, Separator]:
        """What becomes of a regression's estimates, and the line or the proof that there is none: by one search.

        `shown` is how the verdict names columns and classes.
        """
        rows = Rows(self.X, self.codes, len(self.classes))
        found = cone(rows)
        line = separate(
            np.ascontiguousarray(self.X[:, 1:]), self.codes, np.array(self.classes, object), found.turned(rows.columns)
        )
        return judge(rows, [shown(name) for name in self.names], [shown(str(c)) for c in self.classes], found), line


def read_rows(source: Source, target: str, columns: Any, drop: bool = False, threads: int | None = None) -> ClassRows:
    """All rows of a source that can be read again."""
    roles = Roles(target)
    plan = Plan(schema_of(source, roles, columns), roles, Categorical, True, "drop" if drop else "refuse")
    found, _ = surveyed(source, plan, threads)
    plain, reading = replace(found, design=found.design.plain), plan.reading()

    def read(numbered: tuple[int, Batch]) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        start, batch = numbered
        chunk = read_again(plan, reading, batch)
        block = block_of(chunk, plain)
        parts = [dense(tile.columns()) for tile in block.tiles()]
        x = np.concatenate(parts) if parts else np.empty((0, block.width))
        return x, block.y.astype(np.int64), start + np.asarray(chunk.numbers, np.int64)

    X, codes, numbers = map(np.concatenate, zip(*in_order(read, number(source.batches(reading.columns)), threads)))
    return ClassRows(X, codes, numbers, list(found.design.names), list(found.labels), found.report)
