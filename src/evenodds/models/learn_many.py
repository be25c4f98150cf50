"""A model learnt from files by several processes, shard by shard; a run that died goes on, a folder may grow."""

from __future__ import annotations

import dataclasses
from typing import Any

from evenodds.data.files import Files
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.shards import Many, OnError, sum_shards
from evenodds.errors import DataError
from evenodds.models.checkpoint import Checkpoint
from evenodds.models.learn import check_classes, schema_of
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.replacing import Path
from evenodds.schema import Schema


def learn_many(
    source: Files,
    target: str,
    columns: Any = None,
    settings: Settings | None = None,
    schema: Schema | None = None,
    weights: str | None = None,
    workers: int = 1,
    checkpoint: Path | None = None,
    on_error: OnError = "stop",
    threads: int | None = None,
) -> tuple[Model, Report]:
    """The model of the rows of some files, and what was wrong with them; with a checkpoint, only new files are read.

    The result is the same to the last bit for any number of workers, and whether a run was interrupted or not.
    """
    source.check_files("several workers, or a checkpoint,")
    stored = None
    if checkpoint is not None:
        how: dict[str, Any] = {"target": target, "weights": weights, "lines": source.lines}
        how |= {"separator": source.separator, "encoding": source.encoding, "header": source.header}
        stored = Checkpoint(checkpoint, {name: value for name, value in how.items() if value is not None})
        schema = schema or (stored.schema if columns is None else None)
    try:
        decided = schema_of(source, target, columns, schema, weights)
    except DataError:
        if on_error == "stop":
            raise
        decided = schema_of(_readable(source), target, columns, schema, weights)
    if stored is not None:
        stored.begin(decided)
    tally, report = sum_shards(source, Reading(decided, weights=weights), Many(workers, stored, on_error, threads))
    if stored is not None:
        stored.note()
    model = Model(decided, tally, settings or Settings())
    check_classes(model, source.name)
    return model, report


def _readable(source: Files) -> Files:
    """Those of the files whose first rows can be read."""

    def opens(path: str) -> bool:
        try:
            dataclasses.replace(source, paths=(path,), names=(), dialects={}).sample()
        except DataError:
            return False
        return True

    found = tuple(path for path in source.paths if opens(path))
    if not found:
        raise DataError(f"{source.name}: none of the {len(source.paths)} files can be read")
    return dataclasses.replace(source, paths=found, names=())
