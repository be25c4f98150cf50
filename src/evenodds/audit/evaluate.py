"""A model judged on a source's rows; or a kind of model, by folds or row by row: each predicted without itself."""

from __future__ import annotations

from typing import Any

from evenodds.audit.held_out import HeldOut, of_folds, of_model, of_rows
from evenodds.audit.metrics import Metrics
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings


def evaluate(
    model: Model, source: Source, weights: str | None = None, threads: int | None = None
) -> tuple[Metrics, Report]:
    """How good a model is on rows whose classes are known, and what was wrong with some of them."""
    return judge(of_model(model, source, weights, threads))


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
    """How good such a model is on rows it has not seen: two passes over the source, whatever the number of folds."""
    return judge(of_folds(source, target, folds, columns, settings, weights, random_state, threads, temper))


def leave_one_out(
    model: Model, source: Source, weights: str | None = None, threads: int | None = None
) -> tuple[Metrics, Report]:
    """How good a model is on the rows it was learnt from, each predicted without itself."""
    return judge(of_rows(model, source, weights, threads))


def judge(held: HeldOut) -> tuple[Metrics, Report]:
    """How good predictions of rows held out are, and what was wrong with some of the rows."""
    judged = held.tally()
    return Metrics.of(judged, held.classes), held.report
