"""Threads over shards of rows: work on each, its results in the shards' order, wherever the shards are."""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from evenodds.arguments import is_whole

T = TypeVar("T")
R = TypeVar("R")

PROCESSORS: int | None = None  # to run on, where another program shares them out among processes


def threads_for(threads: int | None) -> int:
    """How many threads to use: as many as asked for, or as there are processors to run on (None, or -1)."""
    if threads is not None and not (is_whole(threads) and threads >= -1):
        raise ValueError(
            f"threads={threads!r}: expected a whole number, or -1 or None for as many as there are processors"
        )
    every = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return PROCESSORS or (every if threads is None or threads < 1 else int(threads))


class Elsewhere(ABC):
    """Shards that are on other machines: work goes to them, and what it finds comes back."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows they have."""

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """The shards themselves, brought here one after the other."""

    @abstractmethod
    def each(self, work: Callable[[Any], Any]) -> Iterator[Any]:
        """work(shard) for every shard, in their order."""

    @abstractmethod
    def added(self, work: Callable[[Any], Any], total: Callable[[Sequence[Any]], Any]) -> Any:
        """The total of work(shard) over all shards; None if there are none."""

    @abstractmethod
    def flat(self, work: Callable[[Any], Iterable[Any]]) -> Elsewhere:
        """All that work gives for each shard, as shards."""

    @abstractmethod
    def numbered(self, exact: bool) -> Elsewhere:
        """Each shard with the number of rows before it."""


def in_order(
    work: Callable[[T], R], shards: Iterable[T], threads: int | None = None, ahead: int | None = None
) -> Iterator[R]:
    """work(shard) for every shard, in their order, by a pool of threads; few shards are held at once.

    `ahead` is how many are begun before the first is asked for, where more are wanted than there are threads.
    """
    if isinstance(shards, Elsewhere):
        yield from shards.each(work)
        return
    n, left = threads_for(threads), iter(shards)
    first = list(itertools.islice(left, 2 if n > 1 else 0))
    several, every = len(first) > 1, handed_on(first, left)
    if not several:  # one thread, or nothing for a second one to do
        yield from map(work, every)
        return
    pool = ThreadPoolExecutor(min(n, len(shards)) if isinstance(shards, Sequence) else n)
    try:
        yield from in_turn(lambda shard: pool.submit(work, shard).result, every, ahead or n)
    finally:
        pool.shutdown(cancel_futures=True)


def handed_on(taken: list[T], rest: Iterable[T]) -> Iterator[T]:
    """What was taken to be looked at before its turn, then the rest; none of it is held once it is handed on.

    >>> rest = iter("abcd")
    >>> taken = [next(rest), next(rest)]
    >>> list(handed_on(taken, rest)), taken
    (['a', 'b', 'c', 'd'], [])
    """
    while taken:
        yield taken.pop(0)
    yield from rest


def in_turn(begin: Callable[[T], Callable[[], R]], shards: Iterable[T], ahead: int) -> Iterator[R]:
    """What becomes of every shard, in their order: so many are begun before the first is asked for its result.

    >>> log = []
    >>> begin = lambda shard: log.append(shard) or (lambda: (shard, len(log)))
    >>> list(in_turn(begin, "abcd", ahead=1))
    [('a', 2), ('b', 3), ('c', 4), ('d', 4)]
    """
    waiting: deque[Callable[[], R]] = deque()
    for shard in shards:
        waiting.append(begin(shard))
        if len(waiting) > ahead:
            yield waiting.popleft()()
    while waiting:
        yield waiting.popleft()()
