"""Any table as rows and classes to be separated: numbers as they are, categories by the regressions' design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.families import Categorical
from evenodds.families.leaves import Floats
from evenodds.models.glm.asked import schema_of
from evenodds.models.glm.plan import Plan, Roles
from evenodds.models.glm.settings import RegressionSettings
from evenodds.models.glm.survey import surveyed


@dataclass(frozen=True, eq=False)
class ClassRows:
    """A design with its column of ones first, the class of each row, and what was wrong with some."""

    X: Floats
    codes: NDArray[np.int64]
    names: list[str]
    classes: list[Any]
    report: Report


def read_rows(source: Source, target: str, columns: Any, drop: bool = False, threads: int | None = None) -> ClassRows:
    """All rows of a source that can be read again."""
    roles, settings = Roles(target), RegressionSettings(Categorical, missing="drop" if drop else "refuse")
    plan = Plan(schema_of(source, roles, settings, columns), roles, Categorical, True, settings.missing)
    found, rows = surveyed(source, plan, threads)
    parts, codes = [], []
    for shard in rows.shards():
        for tile in rows.block(shard).tiles():
            x = tile.columns()
            parts.append(np.asarray(x.toarray() if hasattr(x, "toarray") else x, float))
            codes.append(tile.y.astype(np.int64))
    X = np.concatenate(parts)
    numbers = slice(1, 1 + len(found.design.numbers))
    X[:, numbers] = X[:, numbers] * found.design.scale + found.design.shift
    return ClassRows(X, np.concatenate(codes), list(found.design.names), list(found.labels), found.report)
