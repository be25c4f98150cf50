"""Hash tables and sorted lists of (key, number): how they grow, and how two of them become one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenodds.kernel import frozen
from evenodds.labels import Ints, Keys
from evenodds.text import list_kernels as lists
from evenodds.text import table_kernels as run

_SPARE = 64  # slots beyond the last that the top bits can name; more where keys crowd there
_LOW = np.uint64(0xFFFFFFFF)
_LOST = 2.0**-40  # what is left of two numbers that are not whole, relative to them, is taken for rounding

Index = tuple[NDArray[np.uint32], np.uint64]
Rows32 = NDArray[np.int32]


def empty(bits: int, spare: int = _SPARE) -> tuple[Keys, np.uint64]:
    """A table of 2^bits slots and a few to spare, and how far a key is shifted to find its own."""
    return np.zeros(2 * ((1 << bits) + spare), np.uint64), np.uint64(64 - bits)


def lookup(keys: Keys, numbers: Keys) -> tuple[Keys, np.uint64]:
    """A table that finds the numbers of these keys."""
    bits, spare = max(4, (2 * len(keys)).bit_length()), _SPARE
    while True:
        slots, shift = empty(bits, spare)
        if run.index_keys(frozen(keys), frozen(numbers), slots, shift):
            return slots, shift
        spare *= 4


def first_rows(keys: Keys) -> Index:
    """For all top bits the first of these ascending keys that has them or higher; and how far a key is shifted."""
    bits = max(4, (2 * len(keys)).bit_length())
    starts, shift = np.empty(1 << bits, np.uint32), np.uint64(64 - bits)
    lists.first_rows(frozen(keys), shift, starts)
    return frozen(starts), shift


class Asked(NamedTuple):
    """Known keys numbered by when they are first asked for: each token's number, the ascending keys, their numbers."""

    rows: Rows32
    keys: Keys
    numbers: Rows32


def asked_for(keys: Keys, known: Keys, index: Index) -> Asked:
    """Which of the ascending known keys these are; one that is none has the number -1.

    >>> known = np.array([2, 5, 6, 7], np.uint64)
    >>> asked_for(np.array([7, 5, 7, 3], np.uint64), known, first_rows(known)).rows
    array([ 0,  1,  0, -1], dtype=int32)
    """
    rows, numbers = np.empty(len(keys), np.int32), np.full(len(known), -1, np.int32)
    many = lists.find(frozen(keys), *index, frozen(known), numbers, rows)
    own, order = np.empty(many + 1, np.uint64), np.empty(many + 1, np.int32)
    lists.numbered(frozen(known), numbers, own, order)
    return Asked(rows, own[:many], order[:many])


class Counter:
    """Keys being counted: a table that grows, with the keys numbered in order of appearance."""

    def __init__(self, bits: int) -> None:
        self.bits, self.spare, self.used = bits, _SPARE, 0
        self.slots, self.shift = empty(bits)
        self._fresh: Ints = np.empty(0, np.int64)

    def count(self, keys: Keys) -> Ints:
        """Count these; where in `keys` those stand that are new."""
        if len(self._fresh) < len(keys):
            self._fresh = np.empty(2 * len(keys), np.int64)
        first, new = 0, 0
        while True:
            room = (1 << self.bits) // 2
            first, self.used, more = run.count_keys(
                keys, first, len(keys), self.slots, self.shift, room, self.used, self._fresh[new:]
            )
            new += more
            if first == len(keys):
                return self._fresh[:new]
            self._grow()

    def _grow(self) -> None:
        if self.used >= (1 << self.bits) // 2:
            self.bits += 2 if self.bits < 20 else 1
        else:  # it was the end of the table that was full
            self.spare *= 4
        while True:
            larger, self.shift = empty(self.bits, self.spare)
            if run.refill(self.slots, larger, self.shift):
                self.slots = larger
                return
            self.spare *= 4

    def sorted(self) -> tuple[Keys, Ints, Ints]:
        """The keys in ascending order, how often each was counted, and its number in order of appearance."""
        keys, numbers = np.empty(self.used, np.uint64), np.empty(self.used, np.uint64)
        run.sort_table(self.slots, keys, numbers)
        return keys, (numbers & _LOW).view(np.int64), (numbers >> np.uint64(32)).view(np.int64)


class Sorted(NamedTuple):
    """Keys in ascending order, and a number for each that is not 0: whole, or a double where weights are not."""

    keys: Keys
    numbers: NDArray[Any]

    @classmethod
    def nothing(cls) -> Sorted:
        """The list without entries."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64))

    @classmethod
    def total(cls, many: Sequence[Sorted]) -> Sorted:
        """All of these lists added."""
        return fold_pairs(many or [cls.nothing()], cls.plus)

    def plus(self, other: Sorted, sign: int = 1) -> Sorted:
        """The two lists added, or the other taken away; what comes to 0 is gone."""
        size = len(self.keys) + len(other.keys)
        type_ = np.result_type(self.numbers, other.numbers)
        keys, numbers = np.empty(size, np.uint64), np.empty(size, type_)
        one, two = (frozen(side.numbers.astype(type_, copy=False)) for side in (self, other))
        lost = _LOST if type_ == np.float64 else 0
        n = lists.merge(frozen(self.keys), one, frozen(other.keys), two, sign, lost, keys, numbers)
        return Sorted(keys[:n], numbers[:n])

    def kept(self, rows: NDArray[np.bool_]) -> Sorted:
        """Some of the entries."""
        return self if rows.all() else Sorted(self.keys[rows], self.numbers[rows])


class Links(NamedTuple):
    """Keys in ascending order, and for each what it stands for: a prefix's key, or a text's place."""

    keys: Keys
    numbers: Keys

    @classmethod
    def nothing(cls) -> Links:
        """The list without entries."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.uint64))

    @classmethod
    def all(cls, many: Sequence[Links]) -> Links:
        """The links in any of these; one n-gram with two prefixes is refused."""
        return fold_pairs(many or [cls.nothing()], cls._agreeing)

    def _agreeing(self, other: Links) -> Links:
        both, ties = self.union(other)
        if not np.array_equal(ties[:, 0], ties[:, 1]):
            raise ValueError("two n-grams have the same 64-bit key; count shorter n-grams, or into buckets")
        return both

    def union(self, other: Links) -> tuple[Links, Keys]:
        """The keys of either, and the two numbers of each key that both have."""
        size = len(self.keys) + len(other.keys)
        keys, numbers = np.empty(size, np.uint64), np.empty(size, np.uint64)
        ties = np.empty((min(len(self.keys), len(other.keys)) + 1, 2), np.uint64)
        n, both = lists.unite(*map(frozen, (*self, *other)), keys, numbers, ties)
        return Links(keys[:n], numbers[:n]), ties[:both]


Item = TypeVar("Item")


def fold_pairs(items: Sequence[Item], join: Callable[[Item, Item], Item]) -> Item:
    """Join neighbours until one is left: each entry is moved log2(n) times, not n."""
    while len(items) > 1:
        items = [join(*items[i : i + 2]) if i + 1 < len(items) else items[i] for i in range(0, len(items), 2)]
    return items[0]
