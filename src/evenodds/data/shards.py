"""Files counted by many processes: shards, which can be counted apart, and their tallies added in order.

A shard is a file, or some row groups of a Parquet file: what it is depends on the files alone. So the sum is the same
to the last bit for any number of workers, and a shard that was counted before need not be counted again.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self, TypeVar

from evenodds.data.files import Files
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.sum import sum_source
from evenodds.errors import DataError
from evenodds.tally import Tally

ROWS = 1 << 20  # of a Parquet file that make a shard, at least
OnError = Literal["stop", "skip"]
Part = tuple[Tally, Report]
R = TypeVar("R")
Counting = Future[tuple[bytes, Report]]


@dataclass(frozen=True)
class Shard:
    """A file, or the row groups from one number to another of a Parquet file; and how many bytes that is."""

    path: str
    groups: tuple[int, int] | None
    size: int

    @property
    def name(self) -> str:
        """What people call it."""
        return self.path if self.groups is None else f"{self.path}, row groups {self.groups[0]} to {self.groups[1] - 1}"


class Stored(Protocol):
    """Where shards that were counted are kept."""

    def get(self, shard: Shard) -> Part | None:
        """The tally of a shard that was counted before."""

    def put(self, shard: Shard, part: Part) -> None:
        """Keep the tally of a shard."""


@dataclass(frozen=True)
class Many:
    """How many processes count, where what they have counted is kept, and what happens to files that are broken.

    One worker is this process, with its threads.
    """

    workers: int = 1
    stored: Stored | None = None
    on_error: OnError = "stop"
    threads: int | None = None


def shards_of(files: Files) -> list[Shard]:
    """The shards of some files, in their order."""
    found: list[Shard] = []
    for path in files.paths:
        size = os.stat(path).st_size
        groups = list(_row_groups(path))
        if len(groups) < 2:
            found.append(Shard(path, None, size))
        else:
            found += [Shard(path, one, size // len(groups)) for one in groups]
    return found


def _row_groups(path: str) -> Iterator[tuple[int, int]]:
    """Runs of row groups with enough rows; none of a file that is no Parquet file, or a broken one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open(path, "rb") as stream:
        if stream.read(4) != b"PAR1":
            return
    try:
        about = pq.read_metadata(path)
    except (pa.ArrowInvalid, OSError):
        return  # what is wrong with it is said when it is read
    first = rows = 0
    for group in range(about.num_row_groups):
        rows += about.row_group(group).num_rows
        if rows >= ROWS or group == about.num_row_groups - 1:
            yield first, group + 1
            first, rows = group + 1, 0


def sum_shards(files: Files, reading: Reading, many: Many) -> Part:
    """The tally of all rows of some files, and what was wrong with some of them."""
    totals, reports = Tally.nothing(), Report()
    for shard, part in _counted(files, reading, many):
        tally, report = part
        totals, reports = totals + tally, reports + report
        if files.progress is not None:
            files.progress(shard.size)
    return totals, reports


def _counted(files: Files, reading: Reading, many: Many) -> Iterator[tuple[Shard, Part]]:
    """The shards with their tallies, in order; few are held at once."""
    waiting: deque[tuple[Shard, Part | Counting]] = deque()

    def first() -> tuple[Shard, Part]:
        shard, found = waiting.popleft()
        if isinstance(found, Future):
            found = _result(shard, found, files, reading, many.on_error)
            if many.stored is not None and not found[1].skipped:
                many.stored.put(shard, found)
        return shard, found

    with Workers(many.workers) as workers:
        for shard in shards_of(files):
            known = None if many.stored is None else many.stored.get(shard)
            found: Part | Counting | None = known
            if found is None and many.workers == 1:
                found = _here(shard, files, reading, many.threads)
            waiting.append((shard, found or workers.submit(shard, _count, shard, plain(files), reading, 1)))
            if len(waiting) > (many.workers + 1 if many.workers > 1 else 0):
                yield first()
        while waiting:
            yield first()


def _result(shard: Shard, found: Counting, files: Files, reading: Reading, on_error: OnError) -> Part:
    """What a worker found; one that was killed is replaced by another, once."""
    try:
        try:
            raw, report = found.result()
        except BrokenProcessPool:
            raw, report = twice(shard, _count, shard, plain(files), reading, 1)
    except (DataError, OSError) as error:
        if on_error == "stop":
            raise
        return Tally.nothing(), Report(skipped={shard.name: str(error)})
    return Tally.from_bytes(raw), report


def twice(shard: Shard, task: Callable[..., R], *given: Any) -> R:
    """The task done by a process of its own, after its first one died."""
    with Workers(1) as worker:
        try:
            return worker.submit(shard, task, *given).result()
        except BrokenProcessPool:
            raise DataError(
                f"{shard.name}: the process that counted it was killed, twice: is there enough memory?"
            ) from None


def _here(shard: Shard, files: Files, reading: Reading, threads: int | None) -> Counting:
    """A shard counted by this process and its threads."""
    counting: Counting = Future()
    try:
        counting.set_result(_count(shard, plain(files), reading, threads))
    except (DataError, OSError) as error:
        counting.set_exception(error)
    return counting


def _count(shard: Shard, files: Files, reading: Reading, threads: int | None) -> tuple[bytes, Report]:
    """The tally of one shard, as the bytes in which it travels."""
    mine = dataclasses.replace(files, paths=(shard.path,), groups=shard.groups)
    tally, report = sum_source(mine, reading, threads)
    return tally.to_bytes(), report


def plain(files: Files) -> Files:
    """How files are read, without what belongs to this process."""
    return dataclasses.replace(files, paths=(), progress=None, names=(), dialects={}, _started=None, _spooled={})


class Workers:
    """Processes to count shards; whatever happens, none of them is left behind."""

    def __init__(self, many: int) -> None:
        self.many, self.before = many, set(multiprocessing.active_children())
        self.pool: ProcessPoolExecutor | None = None

    def _started(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.many, multiprocessing.get_context("spawn"), _quiet)

    def submit(self, shard: Shard, task: Callable[..., R], *given: Any) -> Future[R]:
        """Begin a task for a shard; where a worker was killed, there are new ones first."""
        for _ in range(2):
            self.pool = self.pool or self._started()
            with suppress(BrokenProcessPool):
                return self.pool.submit(task, *given)
            self.pool.shutdown(wait=False)
            self.pool = None
        raise DataError(f"{shard.name}: the processes that should count it do not live long enough")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is not None:
            for child in set(multiprocessing.active_children()) - self.before:
                child.kill()
        if self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)


def _quiet() -> None:
    """A worker that is interrupted goes without a word: its parent says what happened."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
