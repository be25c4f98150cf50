"""Files counted by many processes: shards, which can be counted apart, and their tallies added in order.

A shard is a file, or some row groups of a Parquet file: what it is depends on the files alone. So the sum is the same
to the last bit for any number of workers, and a shard that was counted before need not be counted again.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from evenodds.data.files import Files
from evenodds.data.processes import Workers
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.sum import sum_source
from evenodds.errors import DataError
from evenodds.tally import Tally
from evenodds.threads import in_turn

ROWS = 1 << 20  # of a Parquet file that make a shard, at least
OnError = Literal["stop", "skip"]
Part = tuple[Tally, Report]


@dataclass(frozen=True)
class Shard:
    """A file, or the row groups from one number to another of a Parquet file; and how large that is."""

    path: str
    groups: tuple[int, int] | None
    size: int  # bytes
    rows: int | None = None  # where the file says it

    @property
    def name(self) -> str:
        """What people call it."""
        return self.path if self.groups is None else f"{self.path}, row groups {self.groups[0]} to {self.groups[1] - 1}"

    def of(self, files: Files) -> Files:
        """What it has of some files, as a source of its own."""
        return dataclasses.replace(files, paths=(self.path,), groups=self.groups)


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
        runs = list(_row_groups(path))
        if len(runs) < 2:
            found.append(Shard(path, None, size, runs[0][1] if runs else None))
        else:
            found += [Shard(path, groups, size // len(runs), rows) for groups, rows in runs]
    return found


def _row_groups(path: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Runs of row groups with enough rows, and how many; none of a file that is no Parquet file, or a broken one."""
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
            yield (first, group + 1), rows
            first, rows = group + 1, 0


def sum_shards(files: Files, reading: Reading, many: Many) -> Part:
    """The tally of all rows of some files, and what was wrong with some of them."""
    totals, reports = Tally.nothing(), Report()
    with Workers(many.workers) as workers:
        ahead = many.workers + 1 if many.workers > 1 else 0
        begin = functools.partial(_begin, workers, files, reading, many)
        for tally, report in in_turn(begin, shards_of(files), ahead):
            totals, reports = totals + tally, reports + report
    return totals, reports


def _begin(workers: Workers, files: Files, reading: Reading, many: Many, shard: Shard) -> Callable[[], Part]:
    """What gives a shard's tally: known from before, counted by another process from now on, or here when called."""
    known = None if many.stored is None else many.stored.get(shard)
    if many.workers > 1 and known is None:
        count = workers.begin(shard.name, _count, shard, how_read(files), reading, 1)
    else:
        count = functools.partial(_count, shard, how_read(files), reading, many.threads)

    def part() -> Part:
        found = known or _part(shard, count, many)
        if files.progress is not None:
            files.progress(shard.size)
        return found

    return part


def _part(shard: Shard, count: Callable[[], tuple[bytes, Report]], many: Many) -> Part:
    """The tally of a shard once it is counted, which is then kept; nothing, of a broken one that is left out."""
    try:
        raw, report = count()
    except (DataError, OSError) as error:
        if many.on_error == "stop":
            raise
        return Tally.nothing(), Report(skipped={shard.name: str(error)})
    found = Tally.from_bytes(raw), report
    if many.stored is not None:
        many.stored.put(shard, found)
    return found


def _count(shard: Shard, files: Files, reading: Reading, threads: int | None) -> tuple[bytes, Report]:
    """The tally of one shard, as the bytes in which it travels."""
    tally, report = sum_source(shard.of(files), reading, threads)
    return tally.to_bytes(), report


def how_read(files: Files) -> Files:
    """How files are read, without what belongs to this process."""
    return dataclasses.replace(files, paths=(), progress=None, names=(), dialects={})
