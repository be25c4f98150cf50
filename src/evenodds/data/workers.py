"""Files whose rows are worked on by several processes: whatever is a sum over batches, shard by shard.

What a shard is depends on the files alone, and shards' sums are added in their order: the same bits for any number of
workers. Work may be any function, so it travels as cloudpickle has it.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cloudpickle

from evenodds.data.files import Files
from evenodds.data.memory import Table
from evenodds.data.passes import added, made
from evenodds.data.processes import Workers
from evenodds.data.shards import Shard, how_read, shards_of
from evenodds.threads import Elsewhere, in_turn


@dataclass(eq=False)
class Sharded:
    """Some files as a source whose passes are made by so many processes."""

    files: Files
    workers: int

    def __reduce__(self) -> Any:
        """What travels with work knows how files are read, not which."""
        return Sharded, (how_read(self.files), self.workers)

    @property
    def name(self) -> str:
        """The files'."""
        return self.files.name

    @functools.cached_property
    def pool(self) -> Workers:
        """The processes, kept from pass to pass; they end with this source."""
        workers = Workers(self.workers)
        weakref.finalize(self, workers.end)
        return workers

    @functools.cached_property
    def shards(self) -> list[Shard]:
        """Of all files, in their order."""
        return shards_of(self.files)

    @functools.cached_property
    def rows(self) -> list[int]:
        """How many rows each shard has; a pass of its own over those that do not say it."""
        untold = [shard for shard in self.shards if shard.rows is None]
        counted = iter(list(Near(self, None).run(_rows_of_all, untold)))
        return [next(counted) if shard.rows is None else shard.rows for shard in self.shards]

    def sample(self) -> Table:
        """The first rows."""
        return self.files.sample()

    def batches(self, columns: list[str] | None = None) -> Near:
        """All rows, where they are read."""
        return Near(self, columns)


@dataclass(frozen=True, eq=False)
class Near(Elsewhere):
    """Batches of files, or what is made of them, in other processes."""

    source: Sharded
    columns: list[str] | None
    steps: tuple[Callable[[Any], Iterable[Any]], ...] = ()
    numbers: bool = False  # whether a shard is a batch with its number
    exact: bool = False

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(self.source.rows)

    def numbered(self, exact: bool) -> Near:
        """Each batch with the number of rows before it; if that need not be exact, before it in its shard."""
        return dataclasses.replace(self, numbers=True, exact=exact)

    def flat(self, work: Callable[[Any], Iterable[Any]]) -> Near:
        """All that work gives for each batch."""
        return dataclasses.replace(self, steps=(*self.steps, work))

    def __iter__(self) -> Iterator[Any]:
        return made(self.source.files.batches(self.columns), self.steps, 0, self.numbers)

    def each(self, work: Callable[[Any], Any]) -> Iterator[Any]:
        """work(batch) for every batch, in their order."""
        return itertools.chain.from_iterable(self.run(functools.partial(_each, work), self.source.shards))

    def added(self, work: Callable[[Any], Any], total: Callable[[Sequence[Any]], Any]) -> Any:
        """The total of work(batch) over all batches: added for each shard, and then here."""
        parts = self.run(functools.partial(_added, work, total), self.source.shards)
        return added(lambda part: part, (part for part in parts if part is not None), 1, total)

    def run(self, work: Callable[[Iterator[Any]], Any], shards: Sequence[Shard]) -> Iterator[Any]:
        """work(batches) of each of these shards, in their order; a worker that was killed is replaced, once."""
        task, progress = cloudpickle.dumps((self, work)), self.source.files.progress
        befores = itertools.accumulate(self.source.rows, initial=0) if self.exact else itertools.repeat(0)
        workers = self.source.pool

        def begin(job: tuple[Shard, int]) -> Callable[[], bytes]:
            shard, before = job
            return workers.begin(shard.name, _task, task, shard, before)

        found = in_turn(begin, zip(shards, befores), workers.many + 1)
        try:
            for shard, raw in zip(shards, found):
                if progress is not None:
                    progress(shard.size)
                yield cloudpickle.loads(raw)
        except BaseException:  # also of whoever asks for no more
            workers.kill()
            raise


def _task(task: bytes, shard: Shard, before: int) -> bytes:
    """What a worker does: the work on the batches of one shard."""
    near, work = cloudpickle.loads(task)
    batches = shard.of(near.source.files).batches(near.columns)
    return bytes(cloudpickle.dumps(work(made(batches, near.steps, before, near.numbers))))


def _each(work: Callable[[Any], Any], batches: Iterator[Any]) -> list[Any]:
    return [work(batch) for batch in batches]


def _added(work: Callable[[Any], Any], total: Any, batches: Iterator[Any]) -> Any:
    return added(work, batches, 1, total)


def _rows_of_all(batches: Iterator[Any]) -> int:
    return sum(batch.rows for batch in batches)
