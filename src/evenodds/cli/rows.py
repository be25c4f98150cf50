"""Rows with predictions added, as CSV or as JSON lines."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from evenodds.cells import Coded
from evenodds.labels import canonical
from evenodds.texts import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evenodds.data.files import Files
    from evenodds.data.source import Batch
    from evenodds.models.naive_bayes import Model


@dataclass(frozen=True)
class Writer:
    """Writes rows with the model's answers behind them."""

    names: list[str]  # of the columns that are passed on
    added: list[str]
    header: bool
    labels: list[str]
    every: bool  # class's probability, or only that of the most probable
    separator: str = ","

    @property
    def head(self) -> bytes:
        """The first line."""
        return self._line([*self.names, *self.added]) if self.header else b""

    def _answers(self, log_p: NDArray[np.float64]) -> tuple[NDArray[np.int64], list[list[float]]]:
        """The most probable class of each row, and the probabilities that are written."""
        best = log_p.argmax(axis=1)
        p = np.exp(log_p)
        top = p[np.arange(len(p)), best]
        return best, [top.tolist(), *(p.T.tolist() if self.every else [])]

    def _line(self, cells: list[Any]) -> bytes:
        line = io.StringIO()
        csv.writer(line, delimiter=self.separator, lineterminator="\n").writerow(cells)
        return line.getvalue().encode("utf-8", "surrogatepass")


class Echo(Writer):
    """CSV rows passed on byte by byte, with cells added."""

    def rows(self, batch: Any, log_p: NDArray[np.float64]) -> bytes:
        """Some rows."""
        best, probabilities = self._answers(log_p)
        separator = self.separator.encode()
        labels = [separator + self._line([label]).rstrip(b"\n") + separator for label in self.labels]
        shown = [separator.join(b"%.6g" % p for p in row) for row in zip(*probabilities)]
        return batch.append([labels[c] + text for c, text in zip(best.tolist(), shown)])


class Table(Writer):
    """Rows of any file as CSV."""

    def rows(self, batch: Batch, log_p: NDArray[np.float64]) -> bytes:
        """Some rows."""
        best, probabilities = self._answers(log_p)
        columns = [_texts(batch.column(name)) for name in self.names]
        answers = [[self.labels[c] for c in best.tolist()], *([f"{p:.6g}" for p in row] for row in probabilities)]
        lines = io.StringIO()
        csv.writer(lines, delimiter=self.separator, lineterminator="\n").writerows(zip(*columns, *answers))
        return lines.getvalue().encode("utf-8", "surrogatepass")


class Json(Writer):
    """Rows of any file as JSON objects, one to a line."""

    def rows(self, batch: Batch, log_p: NDArray[np.float64]) -> bytes:
        """Some rows."""
        best, probabilities = self._answers(log_p)
        columns = [_values(batch.column(name)) for name in self.names]
        answers = [
            [self.labels[c] for c in best.tolist()],
            *([float(f"{p:.6g}") for p in row] for row in probabilities),
        ]
        names = [*self.names, *self.added]
        lines = [json.dumps(dict(zip(names, row)), ensure_ascii=False, default=str) for row in zip(*columns, *answers)]
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def writer_for(source: Files, model: Model, every: bool, only: bool, as_json: bool) -> Echo | Table | Json:
    """The writer for the rows of a source: CSV as it is, where it is one file; otherwise from its cells."""
    target, names = model.schema.target, list(source.names)
    labels = [canonical(label) for label in model.classes.tolist()]
    added = [f"{target}_predicted", f"{target}_probability"]
    added += [f"p({target}={label})" for label in labels] if every else []
    added = [_free(name, names) for name in added]
    kept = [] if only else names
    if as_json:
        return Json(kept, added, False, labels, every)
    dialect = next(iter(source.dialects.values()), None)
    if dialect is None:
        return Table(kept, added, True, labels, every)
    as_it_is = len(source.paths) == 1 and not only
    return (Echo if as_it_is else Table)(kept, added, dialect.header, labels, every, dialect.separator)


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _texts(raw: Any) -> list[Any]:
    return ["" if value is None else canonical(value) for value in _values(raw)]


def _values(raw: Any) -> list[Any]:
    """A column's cells as Python has them; None where there is none."""
    if isinstance(raw, Texts):
        return [raw.text(i) for i in range(len(raw))]
    if isinstance(raw, Coded):
        texts = [*raw.labels.texts(), None]
        return [texts[i] for i in np.append(raw.place, -1)[raw.codes].tolist()]
    if isinstance(raw, (pa.Array, pa.ChunkedArray)):
        return [None if value != value else value for value in raw.to_pylist()]
    return [None if value != value else value for value in raw.tolist()]
