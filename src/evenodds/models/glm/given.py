"""What people give beside the rows of a regression, read: vectors, columns of the rows, and files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from evenodds.cells import as_column, numbers
from evenodds.data.files import read
from evenodds.data.memory import Table, table
from evenodds.data.source import Memory, Source
from evenodds.families.leaves import check_weights
from evenodds.models.glm.plan import Roles, SparseMemory, reading_of
from evenodds.models.glm.regression import Regression
from evenodds.models.glm.scoring import check_length, one_each
from evenodds.models.shell import check_named, classes_of, eager, of_batches
from evenodds.show import free


def told(name: str, value: Any, rows: int, is_class: bool) -> Any:
    """A vector that was given, one cell a row."""
    if name == "weights":
        return check_weights(value, rows)
    if name != "target":
        return one_each(name, value, rows)
    if is_class:
        raw = classes_of(value)
    else:
        raw = as_column(column_or_1d(eager(value), warn=True) if not hasattr(value, "__arrow_c_stream__") else value)
    check_length(name, raw, rows)
    return raw


def in_memory_of(
    X: Any, rows: Table, given: dict[str, Any], taken: dict[str, Any], is_class: bool
) -> tuple[Source, Roles]:
    """Features in memory with what is given beside them, vectors or the columns that were taken out, as a source.

    A vector without a name of its own is called after what it is; none hides a feature.
    """
    columns: dict[str, Any] = {}
    roles: dict[str, str] = {}
    for what, value in given.items():
        if value is None:
            continue
        label = value if what in taken else str(getattr(value, "name", None) or what)
        label = free(label, {*rows.columns, *columns})
        raw = taken[what] if what in taken else told(what, value, rows.rows, is_class)
        columns[label], roles[what] = raw, label
    if hasattr(X, "tocsr") and rows.dense is not None:
        return SparseMemory(Table(columns, rows.rows), matrix=X.tocsr().astype(np.float64)), Roles(**roles)
    return Memory(Table({**rows.columns, **columns}, rows.rows, rows.named)), Roles(**roles)


def beside(model: Regression, X: Any, **told: Any) -> dict[str, Any]:
    """What is told of rows in memory: names of their columns as those columns, and where nothing is told and the rows
    still have the column that it was at fit, that column.
    """
    for what, value in told.items():
        name = getattr(model.roles, what) if value is None else value
        if isinstance(name, str) and not hasattr(X, "tocsr"):
            rows = table(X)
            if value is not None or name in rows.columns:
                told[what] = numbers(rows[name], name)
    return told


def said_of_files(model: Regression, path: Any, say: Callable[..., Any], **told: Any) -> Any:
    """What is said of the rows of files, read batch by batch as the model reads them; told are names of columns."""
    check_named(**told)
    source = read(path)
    roles = dataclasses.replace(model.roles, **{what: name for what, name in told.items() if name is not None})
    reading = reading_of(model.schema, roles, list(source.sample().columns))
    return of_batches(source, reading, lambda rows, where: say(rows, **told, where=where))
