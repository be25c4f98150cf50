"""What people give beside the rows of a regression, read: vectors, columns of the rows, and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from evenodds.cells import as_column, numbers
from evenodds.data.files import read
from evenodds.data.memory import table
from evenodds.data.threads import in_order
from evenodds.errors import DataError
from evenodds.families.leaves import check_weights
from evenodds.models.glm.plan import reading_of
from evenodds.models.glm.regression import Regression
from evenodds.models.shell import classes_of, eager


def told(name: str, value: Any, rows: int, is_class: bool) -> Any:
    """A vector that was given, one cell a row."""
    if name == "weights":
        return check_weights(value, rows)
    if name == "target" and is_class:
        raw = classes_of(value)
    elif name == "target":
        raw = as_column(column_or_1d(eager(value), warn=True) if not hasattr(value, "__arrow_c_stream__") else value)
    else:
        raw = np.broadcast_to(np.asarray(value, float), (rows,)) if np.ndim(value) == 0 else as_column(value)
    if len(raw.codes if hasattr(raw, "codes") else raw) != rows:
        raise DataError(
            f"{len(raw)} values of {name} for {rows} rows (inconsistent numbers of samples: [{rows}, {len(raw)}]): "
            "give one for each row"
        )
    return raw


def extras(model: Regression, X: Any) -> dict[str, Any]:
    """The offset and the exposure, where the rows still have the columns they were at fit."""
    names = {"offset": model.roles.offset, "exposure": model.roles.exposure}
    if not any(names.values()) or hasattr(X, "tocsr"):
        return {}
    columns = table(X).columns
    return {what: numbers(columns[name], name) for what, name in names.items() if name is not None and name in columns}


def each(model: Regression, path: Any, say: Callable[[Any], Any]) -> list[Any]:
    """What is said of the rows of files, batch by batch, as the model reads them."""
    source = read(path)
    reading = reading_of(model.schema, model.roles, list(source.sample().columns))
    return list(in_order(lambda batch: say(reading(batch).table), source.batches(reading.columns), 1))


def joined(parts: list[Any]) -> Any:
    """What was said of batches, as of one."""
    if parts and isinstance(parts[0], tuple):
        return tuple(np.concatenate(some) for some in zip(*parts))
    return np.concatenate(parts) if parts else np.zeros(0)
