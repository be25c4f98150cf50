"""Some rows of a source, kept while all of them pass by.

A row is chosen by a hash of its number, so neither batches nor threads matter: those with the lowest hashes, one in 128
(with texts, in 8), but at least 8,000 (2,000) and at most as many as are wanted.

>>> chosen(100_000)[:5]
array([ 0,  3, 33, 34, 42])
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import Coded
from evenodds.data.memory import Table
from evenodds.families.leaves import Floats
from evenodds.labels import GOLDEN, Ints, mixed
from evenodds.texts import Texts

Hashes = NDArray[np.uint64]
Picked = tuple[int, tuple[Hashes, "Learnt"]]  # of a batch: how many rows it had, and those that may be wanted
PART, PART_TEXTS = 128, 8  # of a table, and of one with texts: a pass over it takes longer by far
LEAST, LEAST_TEXTS = 8_000, 2_000
MOST, MOST_TEXTS = 200_000, 20_000


class Learnt(NamedTuple):
    """Rows with their classes and weights."""

    rows: Table
    target: Coded
    weights: Floats | None = None

    def some(self, rows: Any) -> Learnt:
        """Some of them, by their numbers; nothing else is held on to."""
        table = self.rows.take(rows)
        if table.dense is None:
            columns = {name: x.dense() if isinstance(x, Texts) else x for name, x in table.columns.items()}
            table = Table(columns, table.rows, table.named)
        return Learnt(table, self.target[rows], None if self.weights is None else self.weights[rows])

    @property
    def once(self) -> Learnt:
        """What of each row is left out: of one that weighs 2.5, one of its copies."""
        return self if self.weights is None else self._replace(weights=np.minimum(self.weights, 1.0))


def row_hash(start: int, rows: int, seed: int = 0) -> Hashes:
    """A hash of each row's number and the seed."""
    return mixed(np.arange(start, start + rows, dtype=np.uint64) * GOLDEN + np.uint64(seed % 2**64))


def how_many(rows: int, most: int = MOST, part: int = PART, least: int = LEAST) -> int:
    """How many of so many rows are kept: one in `part`, but not too few and not too many."""
    return min(rows, most, max(least, rows // part))


def chosen(rows: int, most: int = MOST, part: int = PART, least: int = LEAST) -> Ints:
    """The numbers of the rows that are kept, in their order."""
    return np.sort(_lowest(row_hash(0, rows), how_many(rows, most, part, least)))


def _enough(many: int) -> int:
    """How many are kept while others may come: so many are among them but for one time in 10^9."""
    return many + 6 * math.isqrt(many) + 6


def _limit(many: int, rows: int) -> np.uint64:
    """The hash up to which these are, of so many rows."""
    return np.uint64(min(1.0, _enough(many) / rows) * (2**64 - 2**12))


def _lowest(hashes: Hashes, many: int) -> Ints:
    """Where the lowest are; hashes of different numbers differ."""
    if not 0 < many < len(hashes):
        return np.arange(min(len(hashes), many))
    some = np.flatnonzero(hashes <= _limit(many, len(hashes)))
    if len(some) < many:
        some = np.arange(len(hashes))
    return some[np.argpartition(hashes[some], many - 1)[:many]]


class Kept:
    """The rows that are kept so far."""

    def __init__(self, most: int = MOST, part: int = PART, least: int = LEAST) -> None:
        self.most, self.part, self.least, self.seen = most, part, least, 0
        self._limit = np.uint64(2**64 - 1)  # of the hashes that may still be wanted: they get fewer as rows pass by
        self._parts: list[tuple[Hashes, Learnt]] = []

    def _wanted(self, rows: int) -> int:
        return how_many(rows, self.most, self.part, self.least)

    def expect(self, rows: int) -> None:
        """Say how many rows there will be, so that few more are picked than are wanted."""
        many = self._wanted(rows)
        if many < rows:
            self._limit = _limit(many, rows)

    def pick(self, start: int, rows: int, kept: Ints | None, learnt: Learnt) -> tuple[Hashes, Learnt]:
        """Those of a batch that may be wanted; `kept` are their numbers in it, where some were left out."""
        hashes = row_hash(start, rows)
        hashes = hashes if kept is None else hashes[kept]
        some = np.flatnonzero(hashes <= self._limit)
        return hashes[some], learnt.some(some)

    def add(self, rows: int, picked: tuple[Hashes, Learnt]) -> None:
        """Keep what was picked from a batch of so many rows."""
        self.seen += rows
        if len(picked[0]):
            self._parts.append(picked)
        if sum(len(hashes) for hashes, _ in self._parts) > 2 * self._wanted(self.seen):
            self._drop(_enough(self._wanted(self.seen)))

    def _drop(self, many: int) -> None:
        every = np.concatenate([hashes for hashes, _ in self._parts])
        if many >= len(every):
            return
        self._limit = np.uint64(np.partition(every, many - 1)[many - 1])
        parts = [(hashes, learnt, np.flatnonzero(hashes <= self._limit)) for hashes, learnt in self._parts]
        self._parts = [(hashes[some], learnt.some(some)) for hashes, learnt, some in parts if len(some)]

    def parts(self, most: int | None = None) -> list[Learnt]:
        """The rows, in their order, in pieces; with `most`, no more than that."""
        if self._parts:
            self._drop(min(self._wanted(self.seen), self.most if most is None else most))
        return [learnt for _, learnt in self._parts]
