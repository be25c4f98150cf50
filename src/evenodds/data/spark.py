"""Rows of a Spark DataFrame: work goes to its partitions, sums come back.

Nothing here needs Spark to be imported before there is a DataFrame, or a `session` is wanted. No RDDs: what runs on the
executors is `mapInArrow`, and sums that are large are merged there, tree-wise, by `applyInArrow`.

    a partition   batches are gathered, worked on, and their sums added: one sum
    its chunks    the sum by ranges of keys, each cut into pieces of at most 8 MB: rows of a small DataFrame
    the tree      while all chunks together are long, eight partitions' chunks of one range are added into one's
    the driver    adds what is left
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from evenodds import threads as pool
from evenodds.data.memory import Table, table
from evenodds.data.passes import made
from evenodds.data.source import TableBatch, needed
from evenodds.data.spark_session import said, session
from evenodds.data.travel import FAILED, SCHEMA, carried, chunks, gathered, merge, order, pieces, runs, values
from evenodds.data.values import typed
from evenodds.errors import DataError, several
from evenodds.schema import SAMPLE
from evenodds.tally import folded
from evenodds.texts import PLAIN, Texts
from evenodds.threads import Elsewhere

PIECE = 1 << 23  # bytes of a sum that travel as one cell
HERE = 1 << 27  # bytes of sums that the driver adds itself
FAN_IN = 8  # partitions whose sums are added into one


def is_spark(x: Any) -> bool:
    """Whether this is a DataFrame of Spark, which need not be installed to know."""
    kind = type(x)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql")


@dataclass(eq=False)
class Spark:
    """The rows of a DataFrame as a source.

    texts   whether every cell is a text of which the type is still to be found, as in CSV
    piece, here, fan_in   how sums travel: see above
    """

    frame: Any
    name: str = "the DataFrame"
    texts: bool = False
    piece: int = PIECE
    here: int = HERE
    fan_in: int = FAN_IN
    progress: Any = None
    dialects: dict[str, Any] = field(default_factory=dict)
    _rows: dict[tuple[str, ...], dict[int, int]] = field(default_factory=dict)  # by columns: of each partition

    size = None  # bytes: not known

    def __reduce__(self) -> Any:
        """What travels with work has no DataFrame: it is where the rows are."""
        return Spark, (None, self.name, self.texts)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(self.frame.columns)

    def rereadable(self) -> Spark:
        """It is."""
        return self

    def sample(self) -> Table:
        """The first rows."""
        with said(self.name):
            found = table(self.frame.limit(SAMPLE).toArrow())
        if not found.rows:
            raise DataError(f"{self.name} has no rows")
        if not self.texts:
            return found
        columns = {name: typed(Texts.of_arrow(raw), PLAIN) for name, raw in found.columns.items()}
        return Table(columns, found.rows)

    def batches(self, columns: list[str] | None = None) -> Far:
        """All rows, where they are."""
        needed(list(self.names), columns, self.name)
        return Far(self, self.names if columns is None else tuple(columns))

    def rows(self, columns: tuple[str, ...]) -> dict[int, int]:
        """How many rows each partition has; a pass of its own."""
        if columns not in self._rows:
            with said(self.name):
                found = _in_arrow(self.frame, columns, _count, "place long, rows long").collect()
            self._rows[columns] = {row.place: row.rows for row in sorted(found, key=lambda row: row.place)}
        return self._rows[columns]


def _in_arrow(frame: Any, columns: Sequence[str], work: Callable[[Iterator[Any]], Iterator[Any]], schema: Any) -> Any:
    """What work makes of these columns; Spark's own mapInArrow takes a dot in a name for a part of a column."""
    chosen = frame.select(*("`" + name.replace("`", "``") + "`" for name in columns))
    plain = chosen.toDF(*(f"c{i}" for i in range(len(columns))))
    return plain.mapInArrow(partial(_named, list(columns), work), schema)


def _named(columns: list[str], work: Callable[[Iterator[Any]], Iterator[Any]], batches: Iterator[Any]) -> Iterator[Any]:
    return work(pa.RecordBatch.from_arrays(batch.columns, columns) for batch in batches)


def _count(batches: Iterator[Any]) -> Iterator[Any]:
    """How many rows a partition has."""
    rows = sum(batch.num_rows for batch in batches)
    yield pa.record_batch([pa.array([_place()], pa.int64()), pa.array([rows], pa.int64())], ["place", "rows"])


def _place() -> int:
    """The number of the partition that is worked on here."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


@dataclass(frozen=True)
class TextBatch(TableBatch):
    """A batch whose cells are texts, read as those of CSV."""

    def column(self, name: str) -> Any:
        """A column's texts."""
        return Texts.of_arrow(self.table[name])


@dataclass(frozen=True, eq=False)
class Far(Elsewhere):
    """Batches of a DataFrame, or what is made of them, on the executors."""

    source: Spark
    columns: tuple[str, ...]
    steps: tuple[Callable[[Any], Iterable[Any]], ...] = ()  # one after the other, of every numbered batch
    starts: dict[int, tuple[int, int]] | None = None  # by partition: rows before it, and in it
    numbers: bool = False  # whether a shard is a batch with its number

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(self.source.rows(self.columns).values())

    def numbered(self, exact: bool) -> Far:
        """Each batch with the number of rows before it; if that need not be exact, before it in its partition."""
        starts, before = dict[int, tuple[int, int]](), 0
        for place, rows in self.source.rows(self.columns).items() if exact else ():
            starts[place] = (before, rows)
            before += rows
        return replace(self, numbers=True, starts=starts if exact else None)

    def flat(self, work: Callable[[Any], Iterable[Any]]) -> Far:
        """All that work gives for each shard."""
        return replace(self, steps=(*self.steps, work))

    def __iter__(self) -> Iterator[Any]:
        """The shards, brought here partition by partition."""
        with said(self.source.name):
            rows = self._mapped(_whole, None).toLocalIterator(prefetchPartitions=True)
            yield from values(row.asDict() for row in rows)

    def each(self, work: Callable[[Any], Any]) -> Iterator[Any]:
        """work(shard) for every shard, in their order."""
        with said(self.source.name):
            rows = [row.asDict() for row in self._mapped(work, None).collect()]
        yield from values(sorted(rows, key=order))

    def added(self, work: Callable[[Any], Any], total: Callable[[Sequence[Any]], Any]) -> Any:
        """The total of work(shard) over all shards: added in each partition, tree-wise, and here at last."""
        parts = self._mapped(work, total).persist()
        held = [parts]
        try:
            with said(self.source.name):
                sizes = _sizes(parts)
                while sum(size for size, _ in sizes.values()) > self.source.here and FAILED not in sizes:
                    if max(place for _, place in sizes.values()) == 0:
                        break
                    parts = self._merged(parts, total).persist()
                    held.append(parts)
                    sizes = _sizes(parts)
                found: list[Any] = []
                for low, high in runs({at: size for at, (size, _) in sizes.items()}):
                    rows = parts.filter(f"range between {low} and {high}").collect()
                    found += values(sorted((row.asDict() for row in rows), key=order))
        finally:
            for frame in held:
                frame.unpersist()
        return total(found) if found else None

    def _mapped(self, work: Callable[[Any], Any], total: Any) -> Any:
        """What work finds, in pieces; of every shard, or with a total, of every partition."""
        task = partial(_task, self, work, total, self.source.piece)
        return _in_arrow(self.source.frame, self.columns, task, SCHEMA)

    def _merged(self, parts: Any, total: Any) -> Any:
        """One level of the tree."""
        piece, fan_in = self.source.piece, self.source.fan_in
        together = parts.groupBy("range", (parts["place"] / fan_in).cast("long"))
        return together.applyInArrow(lambda rows: merge(total, piece, fan_in, rows), SCHEMA)

    # -- on an executor ------------------------------------------------------------------------------------------------

    def shards(self, batches: Iterator[Any], place: int) -> Iterator[Any]:
        """The shards of a partition."""
        before, expected = (0, None) if self.starts is None else self.starts.get(place, (0, 0))
        start = 0

        def read() -> Iterator[TableBatch]:
            nonlocal start
            for rows in gathered(batches):
                yield (TextBatch if self.source.texts else TableBatch)(table(rows), start, file=f"partition {place}")
                start += rows.num_rows

        yield from made(read(), self.steps, before, self.numbers)
        if expected is not None and start != expected:
            raise DataError(
                f"{self.source.name}: partition {place} had {expected:,} rows, and {start:,} when it was read again: "
                "persist the DataFrame first"
            )


def _whole(shard: Any) -> Any:
    return shard


def _task(far: Far, work: Any, total: Any, piece: int, batches: Iterator[Any]) -> Iterator[Any]:
    """What work finds in a partition; what goes wrong is found, too, and raised by the driver."""
    pool.PROCESSORS = 1  # Spark itself gives a task to each
    place, number = _place(), 0
    found = map(work, far.shards(batches, place))
    try:
        if total is None:
            for number, one in enumerate(found):
                yield from pieces(0, place, number, one, piece)
        elif (whole := folded(found, total)) is not None:
            yield from chunks(place, 0, whole, piece)
    except Exception as error:
        error.add_note(traceback.format_exc())
        yield from pieces(FAILED, place, number, carried(error), piece)


def _sizes(parts: Any) -> dict[int, tuple[int, int]]:
    """Of each range: how many bytes its chunks have, and the last of their partitions."""
    from pyspark.sql import functions as f

    about = parts.groupBy("range").agg(f.sum(f.length("data")).alias("size"), f.max("place").alias("last"))
    return {row["range"]: (row["size"], row["last"]) for row in about.collect()}


def scored(frame: Any, say: Callable[[pa.Table], Any], names: Sequence[str]) -> Any:
    """The DataFrame with columns of numbers added, under these names: what is said of its rows, on the executors.

    `say` takes a table and gives a number for each row, or one for each name: an estimator's `predict_proba`.
    """
    from pyspark.sql.types import DoubleType, StructField, StructType

    schema = StructType([*frame.schema.fields, *(StructField(name, DoubleType()) for name in names)])
    with said("the DataFrame"):
        return _in_arrow(frame, frame.columns, partial(_scored, say, list(names)), schema)


def _scored(say: Any, names: list[str], batches: Iterator[Any]) -> Iterator[Any]:
    pool.PROCESSORS = 1
    for rows in gathered(batches):
        found = np.asarray(say(rows), np.float64).reshape(rows.num_rows, len(names))
        for name, column in zip(names, found.T):
            rows = rows.append_column(name, pa.array(np.ascontiguousarray(column)))
        yield from rows.to_batches()


def rows_at(paths: Sequence[str], master: str | None = None, separator: str | None = None) -> Spark:
    """The rows of files, read by Spark: Parquet, ORC, JSON lines, or CSV with a first row of names."""
    reader, first = session(master).read, paths[0]
    ending = os.path.splitext(first.removesuffix(".gz").rstrip("/"))[1].lower()
    name = several(paths, 1)
    with said(name):
        if ending in (".csv", ".tsv"):
            how = {"sep": separator or ("\t" if ending == ".tsv" else ","), "header": True, "escape": '"'}
            return Spark(reader.csv(list(paths), multiLine=True, **how), name, texts=True)
        if ending in (".json", ".jsonl", ".ndjson"):
            return Spark(reader.json(list(paths)), name)
        return Spark(reader.orc(list(paths)) if ending == ".orc" else reader.parquet(*paths), name)
