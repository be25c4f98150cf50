"""A model judged on a source's rows; or a kind of model, by folds: each predicted by the sum of the others.

Learning is a sum, so k folds need no k fits: every fold is tallied once, in one pass, and the model without fold k is
the sum of the other folds' tallies. The finest folds are single rows: each is judged by the model it is taken out of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evenodds.audit.metrics import Metrics, tally
from evenodds.data.kept import Kept
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.data.sum import fold_of, number, sum_folds
from evenodds.errors import DataError
from evenodds.models.learn import check_classes, most_kept, most_rows, schema_of
from evenodds.models.left_out import tempered
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.schema import Schema
from evenodds.tally import Tally

MOST = 1000  # folds, of each of which the tallies are held


def evaluate(
    model: Model, source: Source, weights: str | None = None, threads: int | None = None
) -> tuple[Metrics, Report]:
    """How good a model is on rows whose classes are known, and what was wrong with some of them."""
    reports: list[Report] = []
    judged = Tally.total(_judged([model], source, Reading(model.schema, weights=weights), 0, threads, reports))
    return _metrics(judged, model.classes, source), sum(reports, Report())


def cross_validate(
    source: Source,
    target: str,
    folds: int = 10,
    columns: Any = None,
    settings: Settings | None = None,
    weights: str | None = None,
    random_state: int = 0,
    threads: int | None = None,
    temper: bool = False,
) -> tuple[Metrics, Report]:
    """How good such a model is on rows it has not seen: two passes over the source, whatever the number of folds.

    A temper is chosen once, by rows of all folds, each left out: a few numbers that all folds then share.
    """
    if not 2 <= folds <= MOST:
        raise ValueError(f"folds={folds}: expected 2 to {MOST:,}")
    schema = schema_of(source, target, columns, None, weights)
    reading = Reading(schema, weights=weights)
    keep = Kept(most_kept(schema)) if temper else None
    parts, report = sum_folds(source, reading, folds, random_state, threads, keep)
    models = _without_each(parts, schema, settings or Settings())
    for model in models:
        check_classes(model, f"{source.name}, without one of {folds} folds")
    whole = Model(schema, Tally.total(parts), settings or Settings())
    if keep is not None:
        whole = tempered(whole, keep.parts(most_rows(whole)), threads)
        models = [model.believing(whole.temper) for model in models if whole.temper is not None]
    judged = Tally.total(_judged(models, source, reading, random_state, threads, []))
    return _metrics(judged, whole.classes, source), report


def leave_one_out(
    model: Model, source: Source, weights: str | None = None, threads: int | None = None
) -> tuple[Metrics, Report]:
    """How good a model is on the rows it was learnt from, each predicted without itself."""
    reading, reports = Reading(model.schema, weights=weights), list[Report]()

    def judged() -> Iterator[Tally]:
        for batch in source.batches(reading.columns):
            read = reading(batch)
            reports.append(read.report)
            assert read.target is not None
            if read.table.rows:
                log_p = model.leave_one_out(read.table, read.target, read.weights, threads)
                yield tally(read.target, log_p, model.classes, read.weights)

    return _metrics(Tally.total(judged()), model.classes, source), sum(reports, Report())


def _without_each(parts: Sequence[Tally], schema: Schema, settings: Settings) -> list[Model]:
    """For each fold the model of all the others: sums from the left and from the right, so that none is subtracted."""
    left, right = [Tally.nothing()], [Tally.nothing()]
    for part in parts[:-1]:
        left.append(left[-1] + part)
    for part in parts[:0:-1]:
        right.append(part + right[-1])
    return [Model(schema, (a + b).trimmed(), settings) for a, b in zip(left, reversed(right))]


def _judged(
    models: Sequence[Model],
    source: Source,
    reading: Reading,
    seed: int,
    threads: int | None,
    reports: list[Report],
) -> Iterator[Tally]:
    """The tallies of predictions, batch by batch; with several models, the rows of fold k are predicted by model k."""
    for start, batch in number(source.batches(reading.columns)):
        read = reading(batch)
        reports.append(read.report)
        assert read.target is not None
        fold = fold_of(start, batch.rows, read.kept, len(models), seed)
        for k, model in enumerate(models):
            mine = np.flatnonzero(fold == k)
            if len(mine):
                rows = read.table.take(mine)
                truth = read.target[mine]
                weights = None if read.weights is None else read.weights[mine]
                yield tally(truth, model.log_proba(rows, threads), model.classes, weights)


def _metrics(judged: Tally, classes: Any, source: Source) -> Metrics:
    if not judged.columns:
        raise DataError(f"{source.name} has no rows with a class to judge by")
    return Metrics.of(judged, classes)
