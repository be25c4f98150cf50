"""Rows predicted fold by fold by models that are no sums: tuned ones and bridges, learnt anew without each fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.audit.held_out import HeldOut, Predicted, check_folds
from evenodds.data.memory import Table
from evenodds.data.passes import flat, number
from evenodds.data.reading import Cells, Reading
from evenodds.data.report import Report
from evenodds.data.source import FINE, Batch, Source
from evenodds.data.sum import fold_of
from evenodds.errors import DataError
from evenodds.models.learn import schema_of
from evenodds.texts import Marks


@dataclass(frozen=True)
class Some:
    """Some rows of a batch."""

    batch: Batch
    numbers: NDArray[np.int64]
    report: Report = FINE

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.numbers)

    @property
    def marks(self) -> Marks:
        """How numbers are written in its texts."""
        return self.batch.marks

    def column(self, name: str) -> Any:
        """One column of these rows."""
        return Table({name: self.batch.column(name)}, self.batch.rows).take(self.numbers)[name]

    def where(self, row: int) -> str:
        """How to find a row again."""
        return self.batch.where(int(self.numbers[row]))


@dataclass(frozen=True)
class Without:
    """A source's rows without those of a fold."""

    source: Source
    fold: int
    folds: int
    seed: int

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.source.name}, without one of {self.folds} folds"

    def sample(self) -> Table:
        """The first rows of all, so that every fold's columns are typed alike."""
        return self.source.sample()

    def batches(self, columns: list[str] | None = None) -> Iterable[Batch]:
        """The other folds' rows."""
        return flat(self._others, number(self.source.batches(columns)))

    def _others(self, numbered: tuple[int, Batch]) -> Iterator[Batch]:
        start, batch = numbered
        fold = fold_of(start, batch.rows, None, self.folds, self.seed)
        yield Some(batch, np.flatnonzero(fold != self.fold), batch.report)


def of_refits(
    source: Source,
    target: str,
    folds: int,
    learn: Callable[[Source], Any],
    columns: Any,
    sample_weight: str | None,
    random_state: int,
    threads: int | None,
) -> HeldOut:
    """Each fold of a source's rows, predicted by what `learn` makes of the others; every one takes its own passes."""
    check_folds(folds)
    models = [learn(Without(source, k, folds, random_state)) for k in range(folds)]
    classes = models[0].classes
    if any(model.classes.tolist() != classes.tolist() for model in models):
        raise DataError(f"{source.name}: a class is in one fold alone; give fewer folds, or another seed")
    reading = Reading(schema_of(source, target, columns, None, sample_weight), weights=sample_weight)

    def predict(start: int, batch: Batch, read: Cells) -> Iterator[Predicted]:
        assert read.target is not None
        rows = np.arange(batch.rows) if read.kept is None else read.kept
        fold = fold_of(start, batch.rows, read.kept, folds, random_state)
        for k, model in enumerate(models):
            mine = np.flatnonzero(fold == k)
            if len(mine):
                features = Reading(model.schema, target=False)(Some(batch, rows[mine])).table
                some = None if read.weights is None else read.weights[mine]
                yield Predicted(read.target[mine], model.log_proba(features, threads), classes, some, mine)

    return HeldOut(source, reading, classes, predict, numbered=True)


def tuned(target: str, columns: Any, settings: Any, weights: str | None, threads: int | None) -> Any:
    """What learns a tuned model of a source."""
    from evenodds.models.tune import learn_tuned

    return lambda source: learn_tuned(source, target, columns, settings, None, weights, threads)[0].model


def bridged(target: str, columns: Any, settings: Any, weights: str | None, threads: int | None) -> Any:
    """What learns a bridge of a source."""
    from evenodds.models.bridge.learn import learn

    return lambda source: learn(source, target, columns, settings, None, weights, threads)[0]
