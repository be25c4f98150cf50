"""The one verb: sum. Rows in, a tally out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import Coded, Raw, codes, numbers, texts
from evenodds.data.kept import Kept, Learnt, row_hash
from evenodds.data.memory import Table
from evenodds.data.passes import Summed, added, keeping, kept_by, number
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.source import Batch, Source
from evenodds.families.leaves import Floats, Rows, count, one_each
from evenodds.families.words import LEAF, count_words
from evenodds.labels import Fixed, Grid
from evenodds.parts import part_of
from evenodds.schema import Column, Schema
from evenodds.tally import Leaf, Tally
from evenodds.text.counts import Counts
from evenodds.threads import in_order, threads_for

CLASSES = ("", "classes")  # the target's leaf: how many rows of each class; no family has a leaf of that name


def cells(table: Table, name: str, column: Column) -> Any:
    """A column's cells as its family takes them: numbers (rows,) or Coded."""
    raw: Any = table[column.source or name]
    if column.source is not None and column.parts:
        raw = part_of(raw, column.parts[0], column.source)
    assert column.family is not None
    if column.family.cells == "texts":
        return texts(raw, name)
    return numbers(raw, name) if column.family.cells == "numbers" else codes(raw, f"column {name!r}")


def sum_table(
    table: Table, schema: Schema, target: Coded, weights: Floats | None = None, threads: int | None = None
) -> Tally:
    """The tally of a table: counts of the classes, and each column's leaves per class."""
    place = target.place.astype(np.int32)
    size = table.shard_size
    starts = range(0, table.rows, size)

    def work(start: int) -> Tally:
        stop = min(start + size, table.rows)
        part = None if weights is None else weights[start:stop]
        rows = Rows(place.take(target.codes[start:stop], mode="clip"), len(target.labels), part, start)
        return _sum_shard(table.slice(start, stop, lying), schema, target.labels, rows, within)

    lying = {name for name, one in schema.features.items() if weights is None and one.family and one.family.as_it_lies}
    within = threads_for(threads) if len(starts) == 1 else 1
    tally = Tally.total(in_order(work, starts, threads))
    return tally.trimmed()


def _sum_shard(table: Table, schema: Schema, labels: Grid, rows: Rows, threads: int = 1) -> Tally:
    leaves = {CLASSES: Leaf(Fixed(1), count(np.zeros(table.rows, np.int32), 1, rows))}
    together: dict[type[Any], dict[str, Any]] = {}
    for name, column in schema.features.items():
        assert column.family is not None
        together.setdefault(column.family, {})[name] = cells(table, name, column)
    lists: dict[tuple[str, str], Counts] = {}
    for family, columns in together.items():
        if family.cells == "texts":
            lists |= {(name, LEAF): count_words(x, rows, schema.texts[name], threads) for name, x in columns.items()}
            continue
        leaves |= family.leaves(list(columns.values()), rows, {name: schema.features[name] for name in columns})
    return Tally.of(labels, leaves, lists)


def sum_source(
    source: Source, reading: Reading, threads: int | None = None, keep: Kept | None = None
) -> tuple[Tally, Report]:
    """The tally of all rows of a source, and what was wrong with some of them; in one pass, batch by batch."""
    [tally], report = sum_folds(source, reading, 1, 0, threads, keep)
    return tally, report


def sum_folds(
    source: Source, reading: Reading, folds: int, seed: int, threads: int | None = None, keep: Kept | None = None
) -> tuple[list[Tally], Report]:
    """The tallies of the rows of each fold, in the same one pass, in which some rows may be kept."""

    def work(numbered: tuple[int, Batch]) -> Summed:
        start, batch = numbered
        read = reading(batch)
        assert read.target is not None
        target, fold = read.target, fold_of(start, batch.rows, read.kept, folds, seed)
        classes = target.place.take(target.codes, mode="clip") * folds + fold
        rows = Rows(classes.astype(np.int32), len(target.labels) * folds, read.weights, start)
        groups = target.labels if folds == 1 else Grid(np.arange(rows.n_groups))
        tally = _sum_shard(read.table, reading.schema, groups, rows)
        learnt = Learnt(read.table, target, read.weights)
        picked = () if keep is None else ((batch.rows, keep.pick(start, batch.rows, read.kept, learnt)),)
        every = [tally]
        if folds > 1:
            every = [tally.picked(target.labels, np.arange(k, len(tally.groups), folds)) for k in range(folds)]
        return Summed(every, read.report, picked=picked)

    shards = number(source.batches(reading.columns), folds > 1 or keep is not None)
    keep = None if keep is None else keeping(keep, shards)
    found = added(work, shards, threads, Summed.total, None if keep is None else kept_by(keep))
    if found is None:
        return [Tally.nothing()] * folds, Report()
    return [tally.trimmed() for tally in found.tallies], found.report


def fold_of(start: int, rows: int, kept: NDArray[np.int64] | None, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row: a hash of its number and the seed, so that it does not depend on the batches."""
    if folds == 1:
        return np.zeros(rows if kept is None else len(kept), np.int64)
    found = (row_hash(start, rows, seed) % np.uint64(folds)).astype(np.int64)
    return found if kept is None else found[kept]


def target_codes(y: Raw | Coded, rows: int) -> Coded:
    """The classes of some rows: one for each, none missing."""
    return one_each(y, rows, "target")
