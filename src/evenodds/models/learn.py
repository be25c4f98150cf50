"""A model learnt from any source: a table in memory, files of any size, a pipe. One pass, batch by batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from evenodds.cells import codes, target_kind
from evenodds.data.decide import decide
from evenodds.data.kept import LEAST, LEAST_TEXTS, MOST, MOST_TEXTS, PART, PART_TEXTS, Kept, Learnt, chosen
from evenodds.data.memory import Table
from evenodds.data.reading import Reading, is_arrow_text
from evenodds.data.report import Report
from evenodds.data.source import Source, no_column
from evenodds.data.sum import sum_source
from evenodds.errors import DataError, listed
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.models.targets import check_few, check_two
from evenodds.schema import Column, Schema, check_schema
from evenodds.texts import Texts, numbers

MANY_SCORES = 1 << 23  # of rows that are kept, for all classes and columns


def learn(
    source: Source,
    target: str,
    columns: Any = None,
    settings: Settings | None = None,
    schema: Schema | None = None,
    weights: str | None = None,
    threads: int | None = None,
    temper: bool = False,
) -> tuple[Model, Report]:
    """The model of a source's rows, and what was wrong with some of them; tempered by some of them if wanted."""
    decided = schema_of(source, target, columns, schema, weights)
    keep = to_look_at(decided) if temper else None
    model, report = in_one_pass(source, decided, settings, weights, threads, keep)
    if keep is not None:
        from evenodds.models.left_out import tempered

        model = tempered(model, looked_at(model, keep), threads)
    return model, report


def in_one_pass(
    source: Source,
    schema: Schema,
    settings: Settings | None = None,
    weights: str | None = None,
    threads: int | None = None,
    keep: Kept | None = None,
) -> tuple[Model, Report]:
    """The model of a source's rows under a schema, some of which may be kept; one that tells nothing is refused."""
    tally, report = sum_source(source, Reading(schema, weights=weights), threads, keep)
    model = Model(schema, tally, settings or Settings())
    check_classes(model, source.name)
    return model, report


def to_look_at(schema: Schema) -> Kept:
    """What keeps the rows that tell how much to believe, while all of them pass by."""
    return Kept(*_bounds(schema))


def looked_at(model: Model, learnt: Kept | Learnt) -> list[Learnt]:
    """The rows that tell how much to believe: those that were kept, or of a table those that would have been."""
    most = max(LEAST_TEXTS, MANY_SCORES // max(len(model.classes) * len(model.schema.features), 1))
    if isinstance(learnt, Kept):
        return learnt.parts(most)
    wanted, part, least = _bounds(model.schema)
    rows = chosen(learnt.rows.rows, min(most, wanted), part, least)
    return [learnt if len(rows) == learnt.rows.rows else learnt.some(rows)]


def _bounds(schema: Schema) -> tuple[int, int, int]:
    """At most how many rows, one in how many, and at least how many."""
    return (MOST_TEXTS, PART_TEXTS, LEAST_TEXTS) if schema.texts else (MOST, PART, LEAST)


def schema_of(
    source: Source, target: str, columns: Any = None, schema: Schema | None = None, weights: str | None = None
) -> Schema:
    """What each column is, decided from the source's first rows; or as another model has it."""
    check_schema(schema)
    sample, told = source.sample(), [target] if weights is None else [target, weights]
    for name in told:
        if name not in sample.columns:
            raise no_column(source, name, sample.columns)
    kind = _target_kind(sample, target, source.name)
    if schema is not None:
        return Schema(schema.columns, target, schema.target_kind if target == schema.target else kind)
    features = as_told(sample.without(*told), columns)
    return Schema(decide(features, columns), target, kind)


def as_told(sample: Table, columns: Any) -> Table:
    """The sample with numbers where they are told: a cell that is none is missing, as it will be when it is read."""
    found: dict[str, Any] = dict(sample.columns)
    for name, raw in sample.columns.items():
        told = columns.get(name) if isinstance(columns, Mapping) else columns
        family = told.family if isinstance(told, Column) else told
        if getattr(family, "cells", None) == "numbers" and is_arrow_text(raw):
            found[name] = numbers(Texts.of_arrow(raw))[0]
    return Table(found, sample.rows, sample.named, sample.dense)


def _target_kind(sample: Table, target: str, where: str) -> str:
    raw = sample[target]
    classes = codes(raw, f"{where}: the target {target!r}")
    if not (classes.codes >= 0).any():
        raise DataError(f"{where}: the target {target!r} has no values in the first rows")
    check_few(len(classes.labels), int((classes.codes >= 0).sum()), f"{where}: the target {target!r}")
    return target_kind(raw)


def check_classes(model: Model, where: str = "") -> None:
    """Refuse a model that has nothing to tell apart, or was told of other classes than it has.

    `where` its rows were, if they were no table in memory.
    """
    if not len(model.classes):
        none = f"{where} has no rows with a class and a weight"
        raise DataError(none if where else "all weights are zero: a row of weight 0 is no row")
    try:
        check_two(model.classes)
        _check_factors(model)
        model.log_prior  # noqa: B018
    except ValueError as error:
        raise DataError(f"{where}: {error}" if where else str(error)) from None


def _check_factors(model: Model) -> None:
    """Refuse factors by class of which one is for no class, where a class has none: a slip of the pen."""
    weight, known = model.settings.class_weight, model.names
    strange = [label for label in weight if label not in known] if isinstance(weight, Mapping) else []
    if strange and not set(known) <= set(weight):
        raise DataError(
            f"class_weight has a factor for {strange[0]!r}, which is no class; the classes are {listed(known)}"
        )


def more(
    model: Model,
    source: Source,
    target: str,
    weights: str | None = None,
    threads: int | None = None,
    keep: Kept | None = None,
) -> tuple[Model, Report]:
    """The model of a source's rows alone, under another model's schema: to be added to it, or taken from it.

    It is not tempered: what is added to a model leaves its exponents as they are.
    """
    tally, report = sum_source(source, under(model.schema, target, weights), threads, keep)
    return Model(model.schema, tally, model.settings), report


def under(schema: Schema, target: str, weights: str | None = None) -> Reading:
    """How rows are read as a model's were, their classes in a column that may be called otherwise."""
    return Reading(dataclasses.replace(schema, target=target), weights=weights)
