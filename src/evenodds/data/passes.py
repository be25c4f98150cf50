"""One pass over rows: work that goes to every shard, and what it finds, in order or added up.

Shards are here (a list, batches of a file) or elsewhere (partitions on other machines): the same three verbs reach
both, so a model that asks for its sums through them learns from any source.

>>> added(lambda shard: sum(shard), [[1, 2], [3], [4, 5]], 1)
15
>>> list(flat(lambda shard: iter(shard), [[1, 2], [3]]))
[1, 2, 3]
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from evenodds.data.kept import Kept, Picked
from evenodds.data.ranges import cut
from evenodds.data.report import Report
from evenodds.data.source import Batch
from evenodds.tally import Tally, folded
from evenodds.threads import Elsewhere, in_order

SHARD = 1 << 16  # rows in memory that are passed over at once; fixed, so that sums do not depend on the threads
HELD = 1 << 26  # bytes of what is read from files, up to which it is kept for the next pass
T = TypeVar("T")
R = TypeVar("R")


def plus(many: Sequence[R]) -> R:
    """All of them added, in their order."""
    return functools.reduce(operator.add, many)


def added(
    work: Callable[[T], R],
    shards: Iterable[T],
    threads: int | None = None,
    total: Callable[[Sequence[R]], R] = plus,
    arrived: Callable[[R], R] | None = None,
) -> R | None:
    """The sum of work(shard) over all shards, in their order; None if there are none. Few parts are held at once.

    `arrived` sees every part that is found here, before it is added.
    """
    if isinstance(shards, Elsewhere):
        found: R | None = shards.added(work, total)
        return found if found is None or arrived is None else arrived(found)
    more = in_order(work, shards, threads)
    return folded(more if arrived is None else map(arrived, more), total)


def flat(work: Callable[[T], Iterable[R]], shards: Iterable[T]) -> Iterable[R]:
    """All that work gives for each shard, one after the other, as shards for a further pass."""
    return shards.flat(work) if isinstance(shards, Elsewhere) else itertools.chain.from_iterable(map(work, shards))


def number(batches: Iterable[Batch], exact: bool = True) -> Iterable[tuple[int, Batch]]:
    """Each batch with the number of rows before it; where those are elsewhere, it takes a pass to know it exactly."""
    return batches.numbered(exact) if isinstance(batches, Elsewhere) else _numbered(batches)


def _numbered(batches: Iterable[Batch]) -> Iterator[tuple[int, Batch]]:
    start = 0
    for batch in batches:
        before, start = start, start + batch.rows
        yield before, batch
        del batch  # before the next one is read


def made(
    batches: Iterable[Any], steps: Sequence[Callable[[Any], Iterable[Any]]], before: int, numbers: bool
) -> Iterator[Any]:
    """Batches, each with its number if wanted, and what steps make of them: for those who carry out work elsewhere."""
    start = before
    for batch in batches:
        found: Iterable[Any] = [(start, batch) if numbers else batch]
        for step in steps:
            found = itertools.chain.from_iterable(map(step, found))
        yield from found
        start += batch.rows


def keeping(keep: Kept, batches: Iterable[Any]) -> Kept:
    """The same keeper, told how many rows there are where they are elsewhere: it cannot see them pass by."""
    if isinstance(batches, Elsewhere):
        keep.expect(batches.rows)
    return keep


def kept_by(keep: Kept) -> Callable[[Summed], Summed]:
    """What takes the rows that were picked out of a sum, and keeps them."""

    def take(found: Summed) -> Summed:
        for picked in found.picked:
            keep.add(*picked)
        return replace(found, picked=())

    return take


@dataclass(frozen=True, eq=False)
class Summed:
    """Tallies of some rows, and what comes with them: what was wrong, other numbers that add, rows that are kept."""

    tallies: Sequence[Tally]
    report: Report = field(default_factory=Report)
    numbers: Any = 0
    picked: tuple[Picked, ...] = ()

    @staticmethod
    def total(many: Sequence[Summed]) -> Summed:
        """All of them added, in their order."""
        return Summed(
            [Tally.total(tallies) for tallies in zip(*(one.tallies for one in many))],
            sum((one.report for one in many), Report()),
            sum(one.numbers for one in many),
            tuple(itertools.chain.from_iterable(one.picked for one in many)),
        )

    def cut(self) -> dict[int, Summed]:
        """The same sum in parts by ranges of the labels' keys, which add up to it; the first has what has no labels."""
        parts = [cut(tally) for tally in self.tallies]
        found = {}
        for at in sorted({0}.union(*parts)):
            tallies = [part.get(at, Tally.nothing()) for part in parts]
            found[at] = Summed(tallies) if at else Summed(tallies, self.report, self.numbers, self.picked)
        return found
