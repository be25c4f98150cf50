"""Rows with a regression's predictions and intervals added, as CSV or JSON lines; empty where a row has no answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenodds.cli.rows import Writer, _free, _json, _texts, _values
from evenodds.labels import canonical

if TYPE_CHECKING:
    from evenodds.data.files import Files
    from evenodds.models.glm.regression import Regression

Answers = list[list[Any]]  # one list a column: texts, or numbers, None where there is none


def answers(model: Regression, rows: Any, threads: int | None) -> Answers:
    """The mean with its interval; of classes, the most probable one with its probability and interval."""
    mean = model.mean(rows, threads=threads)
    low, high = model.interval(rows, threads=threads) if model.covariance is not None else (mean * np.nan,) * 2
    if mean.ndim == 1:
        return [_numbers(column) for column in (mean, low, high)]
    best = np.nan_to_num(mean).argmax(axis=1)
    each = np.arange(len(best))
    gone: list[bool] = np.asarray(np.isnan(mean).any(axis=1)).tolist()
    labels = [None if lost else canonical(model.classes[c]) for c, lost in zip(best.tolist(), gone)]
    return [labels, *(_numbers(column[each, best]) for column in (mean, low, high))]


def _numbers(column: Any) -> list[Any]:
    return [None if math.isnan(value) else float(f"{value:.6g}") for value in column.tolist()]


def _shown(column: list[Any]) -> list[str | None]:
    return [value if value is None or isinstance(value, str) else f"{value:.6g}" for value in column]


@dataclass(frozen=True)
class Rows(Writer):
    """Writes rows with the answers behind them."""

    as_json: bool = False
    as_it_is: bool = False  # whether the rows of a CSV are passed on byte by byte

    def rows(self, batch: Any, found: Answers) -> bytes:
        """Some rows."""
        if self.as_json:
            columns = [_values(batch.column(name)) for name in self.names]
            names = [*self.names, *self.added]
            lines = [_json(dict(zip(names, row))) for row in zip(*columns, *found)]
            return self._bytes("".join(f"{line}\n" for line in lines))
        cells = [self._cells(_shown(column)) for column in found]
        if self.as_it_is:
            mark = self.separator
            return bytes(batch.append([self._bytes("".join(mark + cell for cell in row)) for row in zip(*cells)]))
        texts = [self._cells(_texts(batch.column(name))) for name in self.names]
        return self._bytes("".join(f"{self.separator.join(row)}\n" for row in zip(*texts, *cells)))


def writer_for(source: Files, model: Regression, only: bool, as_json: bool) -> Rows:
    """The writer for the rows of a source."""
    target, names = model.schema.target, list(source.names)
    said = ["predicted", "probability"] if model.classes else ["mean"]
    added = [_free(f"{target}_{what}", names) for what in (*said, "low", "high")]
    kept = [] if only else names
    dialect = next(iter(source.dialects.values()), None)
    if as_json:
        return Rows(kept, added, False, [], False, as_json=True)
    if dialect is None:
        return Rows(kept, added, True, [], False)
    whole = len(source.paths) == 1 and not only
    return Rows(kept, added, dialect.header, [], False, dialect.separator, as_it_is=whole)
