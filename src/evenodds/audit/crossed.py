"""The tally of every class in every group, or at every site: one sum, from which both sides can be read."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenodds.audit.protected import apart, crossed, groups_of
from evenodds.cells import Coded
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.data.sum import sum_table
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import Labels
from evenodds.models.naive_bayes import Model
from evenodds.schema import Schema
from evenodds.tally import Tally


@dataclass(frozen=True, eq=False)
class Crossed:
    """A tally whose groups are class × group."""

    schema: Schema
    by: str
    tally: Tally

    @functools.cached_property
    def wide(self) -> Model:
        """A model whose classes are the pairs."""
        return Model(Schema(self.schema.columns, self.schema.target), self.tally)

    @functools.cached_property
    def pairs(self) -> list[tuple[str, ...]]:
        """(class, group) of each class of the wide model."""
        return [apart(str(label)) for label in self.wide.classes.tolist()]

    @functools.cached_property
    def classes(self) -> list[str]:
        """The classes."""
        return sorted({pair[0] for pair in self.pairs})

    @functools.cached_property
    def groups(self) -> list[str]:
        """The groups."""
        return sorted({pair[1] for pair in self.pairs})

    @functools.cached_property
    def whole(self) -> Model:
        """The model of all groups together."""
        return self._model(range(len(self.pairs)))

    def without(self, group: str) -> Model:
        """The model of all other groups."""
        return self._model([i for i, pair in enumerate(self._texts) if apart(pair)[1] != group])

    @property
    def _texts(self) -> list[str]:
        groups = self.tally.groups
        assert isinstance(groups, Labels)
        return groups.texts()

    def _model(self, which: range | list[int]) -> Model:
        """The model of some of the tally's pairs, those of one class added."""
        texts, parts = self._texts, list[Tally]()
        for name in sorted({apart(texts[i])[1] for i in which}):
            mine = [i for i in which if apart(texts[i])[1] == name]
            labels, place = Labels.coded([apart(texts[i])[0] for i in mine])
            ordered = np.empty(len(mine), np.int64)
            ordered[place] = mine
            parts.append(self.tally.picked(labels, ordered).trimmed())
        return Model(self.schema, Tally.total(parts))

    def by_group(self, table: Floats) -> Floats:
        """Columns of the pairs, added up by group."""
        return np.stack([table[:, [p[1] == g for p in self.pairs]].sum(axis=1) for g in self.groups], axis=1)

    def within(self, table: Floats) -> list[Floats]:
        """Columns of the pairs, class by class: those of its groups."""
        return [table[:, [p[0] == c for p in self.pairs]] for c in self.classes]

    def by_class(self, table: Floats) -> Floats:
        """Columns of the pairs, added up by class."""
        return np.stack([table[:, [p[0] == c for p in self.pairs]].sum(axis=1) for c in self.classes], axis=1)


def cross(
    source: Source, schema: Schema, by: str, weights: str | None = None, threads: int | None = None
) -> tuple[Crossed, Report]:
    """The classes of a source's rows by the values of a column, which the model need not have; in one pass."""
    reading, reports = Reading(schema, weights=weights), list[Report]()

    def parts() -> Iterator[Tally]:
        for batch in source.batches(list(dict.fromkeys([*reading.columns, by]))):
            read = reading(batch)
            reports.append(read.report)
            if read.table.rows:
                assert read.target is not None
                labels, place = crossed(read.target, groups_of(batch, read, (by,)))
                pairs = Coded(place, labels, np.arange(len(labels)), nullable=False)
                yield sum_table(read.table, schema, pairs, read.weights, threads)

    tally = Tally.total(parts())
    if not tally.columns:
        raise DataError(f"{source.name} has no rows with a class")
    return Crossed(schema, by, tally), sum(reports, Report())
