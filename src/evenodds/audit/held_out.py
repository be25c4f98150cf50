"""Rows predicted by models that have not learnt them: another file's, fold by fold, or each without itself.

Learning is a sum, so k folds need no k fits: every fold is tallied once, in one pass, and the model without fold k is
the sum of the other folds' tallies. The finest folds are single rows: each is judged by the model it is taken out of.
Metrics, reliability and decisions all read what is predicted here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import is_whole
from evenodds.audit.decisions import Decision
from evenodds.audit.judge import tally
from evenodds.audit.metrics import Metrics
from evenodds.audit.protected import groups_of
from evenodds.cells import Coded
from evenodds.data.files import read as source_of
from evenodds.data.passes import Summed, added, flat, number
from evenodds.data.reading import Cells, Reading
from evenodds.data.report import Report
from evenodds.data.source import Batch, Source
from evenodds.data.sum import fold_of, sum_folds, sum_source
from evenodds.errors import DataError, listed
from evenodds.families.leaves import Floats
from evenodds.labels import canonical
from evenodds.models.learn import check_classes, looked_at, schema_of, to_look_at, under
from evenodds.models.left_out import tempered
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.schema import Schema
from evenodds.tally import Tally

Counts = NDArray[np.int64]
MOST = 1000  # folds, of each of which the tallies are held


class Predicted(NamedTuple):
    """Some rows: their true classes, and log p(class | row) with a column for each of `classes`."""

    truth: Coded
    log_p: Floats | None  # None where only what was said is known
    classes: NDArray[Any]
    weights: Floats | None
    rows: NDArray[np.int64] | None = None  # which of the rows that were read; None: all
    by: Coded | None = None  # the protected group of each
    said: Coded | None = None  # what was decided, where that is not the most probable class
    report: Report | None = None  # what was wrong with some rows, where nobody has said so before

    def proba(self, classes: Sequence[Any]) -> Floats:
        """p(class | row) with a column for each of these classes; 0 for one that the model did not know."""
        assert self.log_p is not None
        place = {canonical(label): c for c, label in enumerate(classes)}
        mine = [canonical(label) for label in self.classes.tolist()]
        if set(mine) - set(place):
            raise DataError(f"the rule is for the classes {listed(list(place))}, the model's are {listed(mine)}")
        p = np.zeros((len(self.log_p), len(place)))
        p[:, [place[label] for label in mine]] = np.exp(self.log_p)
        return p


@dataclass
class HeldOut:
    """Predictions of a source's rows, made anew in every pass over it; `report` is what was wrong in the last sum."""

    source: Source
    reading: Reading
    classes: NDArray[Any]
    predict: Callable[[int, Batch, Cells], Iterator[Predicted]]
    plain: HeldOut | None = None  # the same rows, predicted without the temper, where there is one
    by: tuple[str, ...] = ()  # columns of protected groups, which need not be among the model's
    report: Report = field(default_factory=Report)
    numbered: bool = False  # whether it matters which row is which
    model: Any = None  # the one that predicts all of them, as rows that it has not learnt

    def parts(self) -> Iterable[Predicted]:
        """What is predicted, batch by batch, here or where the rows are."""
        columns = dict.fromkeys([*self.reading.columns, *self.by])
        return flat(self._predicted, number(self.source.batches(list(columns)), self.numbered))

    def __iter__(self) -> Iterator[Predicted]:
        return iter(part for part in self.parts() if len(part.truth.codes))

    def _predicted(self, numbered: tuple[int, Batch]) -> Iterator[Predicted]:
        start, batch = numbered
        read = self.reading(batch)
        assert read.target is not None
        yield Predicted(read.target[:0], None, self.classes, None, report=read.report)
        if read.table.rows:
            by = groups_of(batch, read, self.by) if self.by else None
            for part in self.predict(start, batch, read):
                yield part if by is None else part._replace(by=by if part.rows is None else by[part.rows])

    def total(self, judge: Callable[[Predicted], Tally | Counts], threads: int | None = None) -> Summed:
        """The sum of what is judged of all rows, in one pass."""
        found = added(functools.partial(_judged, judge), self.parts(), threads, Summed.total)
        found = found or Summed([Tally.nothing()])
        self.report = found.report
        return found

    def tally(self) -> Tally:
        """The judgement of all rows, in one pass."""
        judged = self.total(_tallied, 1).tallies[0]
        if not judged.columns:
            raise DataError(f"{self.source.name} has no rows with a class to judge by")
        return judged

    def metrics(self) -> Metrics:
        """How good the predictions are, in one pass; `report` is then what was wrong with some rows."""
        return Metrics.of(self.tally(), self.classes)

    def counts(self, *rules: Decision) -> list[NDArray[np.int64]]:
        """What each rule says of the rows, counted as `Decision.counts` does, in one pass."""
        classes, k = self.classes.tolist(), len(self.classes) + 1

        def count(part: Predicted) -> Counts:
            p = part.proba(classes)
            return np.array([rule.counts(part.truth, p) for rule in rules])

        return list(np.zeros((len(rules), k, k), np.int64) + self.total(count, 1).numbers)


def _tallied(part: Predicted) -> Tally:
    return tally(*part[:4])


def _judged(judge: Callable[[Predicted], Tally | Counts], part: Predicted) -> Summed:
    """What is judged of some rows; of none, what was wrong with those that were read."""
    if not len(part.truth.codes):
        return Summed([Tally.nothing()], part.report or Report())
    found = judge(part)
    return Summed([found]) if isinstance(found, Tally) else Summed([Tally.nothing()], numbers=found)


def of_model(
    model: Model, source: Any, sample_weight: str | None = None, threads: int | None = None,
    by: str | Sequence[str] = (), target: str | None = None,
) -> HeldOut:  # fmt: skip
    """The rows of files or of a table, which the model has not learnt, predicted by it.

    `target` is what the column of their classes is called, if it is not what it was.
    """

    def log_p(model: Model, read: Cells) -> Floats:
        return model.log_proba(read.table, threads)

    held = _of(model, source_of(source), sample_weight, _columns(by), log_p, target)
    held.model = model
    return held


def of_rows(model: Model, source: Any, sample_weight: str | None = None, threads: int | None = None) -> HeldOut:
    """The rows that the model was learnt from, in files or a table, each predicted without itself."""
    return _of(
        model, source_of(source), sample_weight, (),
        lambda model, read: model.leave_one_out(read.table, read.target, read.weights, threads),
    )  # fmt: skip


def were_learnt(
    model: Any, source: Source, rows: float, sample_weight: str | None = None, threads: int | None = None
) -> bool:
    """Whether a source's rows, so many by weight, are the very ones that a model was learnt from: one pass, if at all.

    Then they have its tally, which is summed only if there are as many of them.
    """
    if hasattr(model, "has_learnt"):  # a network, which need not be imported to ask
        return bool(model.has_learnt(source, rows, sample_weight, threads))
    base = model if isinstance(model, Model) else getattr(model, "untempered", None)
    if not isinstance(base, Model) or not math.isclose(rows, base.rows):
        return False
    return sum_source(source, Reading(base.schema, weights=sample_weight), threads)[0] == base.tally


def _of(
    model: Model,
    source: Source,
    sample_weight: str | None,
    by: tuple[str, ...],
    log_p: Callable[[Model, Cells], Floats],
    target: str | None = None,
) -> HeldOut:
    reading = under(model.schema, target or model.schema.target, sample_weight)

    def predict(start: int, batch: Batch, read: Cells) -> Iterator[Predicted]:
        assert read.target is not None
        yield Predicted(read.target, log_p(model, read), model.classes, read.weights)

    plain = None if model.temper is None else _of(model.untempered, source, sample_weight, by, log_p, target)
    return HeldOut(source, reading, model.classes, predict, plain, by)


def of_folds(
    source: Any,
    target: str,
    folds: int = 10,
    columns: Any = None,
    settings: Settings | None = None,
    sample_weight: str | None = None,
    random_state: int = 0,
    threads: int | None = None,
    temper: bool = False,
    by: str | Sequence[str] = (),
) -> HeldOut:
    """Each fold of the rows of files or of a table, predicted by the sum of the others, all tallied here in one pass.

    A temper is chosen once, by rows of all folds, each left out: a few numbers that all folds then share.
    """
    check_folds(folds)
    source = source_of(source)
    schema = schema_of(source, target, columns, None, sample_weight)
    reading = Reading(schema, weights=sample_weight)
    keep = to_look_at(schema) if temper else None
    parts, _ = sum_folds(source, reading, folds, random_state, threads, keep)
    models = _without_each(parts, schema, settings or Settings())
    for model in models:
        check_classes(model, f"{source.name}, without one of {folds} folds")
    whole = Model(schema, Tally.total(parts), settings or Settings())

    def held(models: list[Model], plain: HeldOut | None = None) -> HeldOut:
        def predict(start: int, batch: Batch, read: Cells) -> Iterator[Predicted]:
            assert read.target is not None
            fold = fold_of(start, batch.rows, read.kept, folds, random_state)
            for k, model in enumerate(models):
                mine = np.flatnonzero(fold == k)
                if len(mine):
                    weights = None if read.weights is None else read.weights[mine]
                    log_p = model.log_proba(read.table.take(mine), threads)
                    yield Predicted(read.target[mine], log_p, model.classes, weights, mine)

        return HeldOut(source, reading, whole.classes, predict, plain, _columns(by), numbered=True)

    if keep is None:
        return held(models)
    chosen = tempered(whole, looked_at(whole, keep), threads).temper
    return held(models) if chosen is None else held([model.believing(chosen) for model in models], held(models))


def check_folds(folds: int) -> None:
    """Refuse what is no number of folds."""
    if not is_whole(folds) or not 2 <= folds <= MOST:
        raise ValueError(f"folds={folds!r}: expected 2 to {MOST:,}")


def _columns(by: str | Sequence[str]) -> tuple[str, ...]:
    return (by,) if isinstance(by, str) else tuple(by)


def _without_each(parts: Sequence[Tally], schema: Schema, settings: Settings) -> list[Model]:
    """For each fold the model of all the others: sums from the left and from the right, so that none is subtracted."""
    left, right = [Tally.nothing()], [Tally.nothing()]
    for part in parts[:-1]:
        left.append(left[-1] + part)
    for part in parts[:0:-1]:
        right.append(part + right[-1])
    return [Model(schema, (a + b).trimmed(), settings) for a, b in zip(left, reversed(right))]
