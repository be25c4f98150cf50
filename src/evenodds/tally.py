"""The vector that adds: everything a model needs to know about some rows.

A tally's *leaves* are numbers on an axis, per group: the counts of a column's categories per class, the sums of a
column per class. They are keyed by (column, leaf) and all share one group axis. A leaf holds *counts* (integers while
the weights are) or *sums* (double-doubles); all counts lie end to end in one vector, all sums in another, and the
layout says where. So adding two tallies is adding two vectors, once their layouts agree; where they differ, labels
are aligned first. No leaf has a merge rule of its own. Words are too many for that: their leaves are lists of (key,
count), one sorted list a group, which are added by merging.

>>> monday = Tally.of(Fixed(1), {("coin", "sides"): Leaf(Fixed(2), np.array([[1], [2]]))})
>>> tuesday = Tally.of(Fixed(1), {("coin", "sides"): Leaf(Fixed(2), np.array([[3], [0]]))})
>>> (monday + tuesday)["coin", "sides"].ravel()
array([4, 2])
>>> monday + tuesday - tuesday == monday
True
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds import exact, file
from evenodds.exact import Numbers
from evenodds.labels import Fixed, Grid, Ints
from evenodds.layout import Layout, Leaf, Name, array, layout_of
from evenodds.text.counts import Counts
from evenodds.text.tables import fold_pairs

__all__ = ["Layout", "Leaf", "Name", "Numbers", "Tally"]

T = TypeVar("T")
MANY = 16  # sums of batches that are held at once: a file of any size needs no more memory


class Tally:
    """An immutable vector of counts and sums: `+`, `-`, scaling by a number, and reading a leaf."""

    __slots__ = ("_made", "counts", "layout", "lists", "sums")

    def __init__(
        self, layout: Layout, counts: Numbers, sums: Numbers, lists: Mapping[Name, Counts] | None = None
    ) -> None:
        counts.flags.writeable = sums.flags.writeable = False
        self.layout, self.counts, self.sums, self.lists = layout, counts, sums, dict(lists or {})
        self._made: dict[Hashable, Any] = {}

    @classmethod
    def of(cls, groups: Grid, leaves: Mapping[Name, Leaf], lists: Mapping[Name, Counts] | None = None) -> Tally:
        """The tally made of these leaves."""
        layout = Layout(groups, {name: (leaf.axis, leaf.is_sum) for name, leaf in leaves.items()})
        whole = all(leaf.is_sum or leaf.numbers.dtype.kind == "i" for leaf in leaves.values())
        counts = np.zeros(layout.n_counts, np.int64) if whole else np.zeros((2, layout.n_counts))
        sums = np.zeros((2, layout.n_sums))
        for name, (_, is_sum, start, stop) in layout.specs.items():
            numbers, vector = leaves[name].numbers, sums if is_sum else counts
            vector[..., start:stop] = exact.like(numbers, vector).reshape(*vector.shape[:-1], stop - start)
        return cls(layout, counts, sums, lists)

    @classmethod
    def nothing(cls) -> Tally:
        """The tally of no rows at all."""
        return cls.of(Fixed(0), {})

    @property
    def groups(self) -> Grid:
        """The group axis: the classes, the parents' values, the arms."""
        return self.layout.groups

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that have leaves."""
        return tuple(dict.fromkeys(column for column, _ in [*self.layout.specs, *self.lists]))

    def leaf(self, name: Name) -> Leaf:
        """One leaf with its axis."""
        spec = self.layout.specs[name]
        vector = self.sums if spec.is_sum else self.counts
        shape = (*vector.shape[:-1], len(spec.axis), len(self.groups))
        return Leaf(spec.axis, vector[..., spec.start : spec.stop].reshape(shape), spec.is_sum)

    def __getitem__(self, name: Name) -> Numbers:
        """The numbers of one leaf, as (axis, groups): integers, or the nearest doubles."""
        numbers = self.leaf(name).numbers
        return numbers if numbers.dtype.kind == "i" else dd.value(numbers)

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Something worked out of the numbers, kept for the next who asks: they never change."""
        if what not in self._made:
            self._made[what] = make()
        found: T = self._made[what]
        return found

    def by_column(self) -> dict[str, Tally]:
        """The parts of the tally that are about each column, in one pass over its leaves."""
        leaves: dict[str, dict[Name, Leaf]] = {}
        for name in self.layout.specs:
            leaves.setdefault(name[0], {})[name] = self.leaf(name)
        lists: dict[str, dict[Name, Counts]] = {}
        for name, counts in self.lists.items():
            lists.setdefault(name[0], {})[name] = counts
        return {one: Tally.of(self.groups, leaves.get(one, {}), lists.get(one)) for one in self.columns}

    def rename(self, column: str) -> Tally:
        """The same leaves under another column's name; for the tally of a single column."""
        lists = {(column, leaf): counts for (_, leaf), counts in self.lists.items()}
        return Tally.of(self.groups, {(column, leaf): self.leaf((old, leaf)) for old, leaf in self.layout.specs}, lists)

    def picked(self, groups: Grid, places: NDArray[np.integer]) -> Tally:
        """The groups at these places alone, in this order, under another group axis."""
        leaves = {}
        for name in self.layout.specs:
            axis, numbers, is_sum = self.leaf(name)
            leaves[name] = Leaf(axis, numbers[..., places], is_sum)
        lists = {name: counts.select(places.tolist()) for name, counts in self.lists.items()}
        return Tally.of(groups, leaves, lists)

    def pooled(self) -> Tally:
        """All groups added into one."""
        leaves = {}
        for name in self.layout.specs:
            axis, numbers, is_sum = self.leaf(name)
            if numbers.dtype.kind == "i":
                leaves[name] = Leaf(axis, numbers.sum(axis=-1, keepdims=True), is_sum)
            else:
                parts = (numbers[..., g : g + 1] for g in range(numbers.shape[-1]))
                leaves[name] = Leaf(axis, functools.reduce(dd.add, parts, np.zeros((2, len(axis), 1))), is_sum)
        together = np.zeros(len(self.groups), np.int64)
        return Tally.of(Fixed(1), leaves, {name: counts.grouped(1, together) for name, counts in self.lists.items()})

    def __add__(self, other: Tally) -> Tally:
        return self._plus(other, 1) if isinstance(other, Tally) else NotImplemented

    def __radd__(self, other: object) -> Tally:  # sum() starts from 0
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Tally) -> Tally:
        return self._plus(other, -1).trimmed() if isinstance(other, Tally) else NotImplemented

    def _plus(self, other: Tally, sign: int) -> Tally:
        a, b = self, other
        if self.layout != other.layout:
            layout = Layout.union([self.layout, other.layout])
            a, b = self._aligned(layout), other._aligned(layout)
        lists = dict(a.lists)
        for name, counts in b.lists.items():
            if sign > 0:
                lists[name] = lists[name] + counts if name in lists else counts
            else:
                lists[name] = lists[name] - counts if name in lists else counts.scaled(np.full(len(a.groups), -1))
        return Tally(a.layout, exact.add(a.counts, b.counts, sign), exact.add(a.sums, b.sums, sign), lists)

    def __mul__(self, factor: float | NDArray[np.float64]) -> Tally:
        """Every number times the factor; or each group's numbers times its own."""
        factors = np.broadcast_to(np.asarray(factor), (len(self.groups),))
        if not np.isfinite(factors).all():
            raise ValueError(f"a tally times {factor}: expected a finite number, or one for each group")
        if np.all((factors == np.floor(factors)) & (np.abs(factors) < 2**62)):
            factors = factors.astype(np.int64)
        return Tally.of(
            self.groups,
            {
                name: Leaf(leaf.axis, exact.scale(leaf.numbers, factors), leaf.is_sum)
                for name in self.layout.specs
                for leaf in (self.leaf(name),)
            },
            {name: counts.scaled(factors) for name, counts in self.lists.items()},
        )

    __rmul__ = __mul__

    def __neg__(self) -> Tally:
        return self * -1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        try:
            layout = Layout.union([self.layout, other.layout])
        except ValueError:  # of different kinds
            return False
        a, b = self._aligned(layout), other._aligned(layout)
        return exact.equal(a.counts, b.counts) and exact.equal(a.sums, b.sums) and _equal_lists(a.lists, b.lists)

    def __repr__(self) -> str:
        sizes = {name: len(spec.axis) for name, spec in self.layout.specs.items()}
        sizes |= {name: len(counts.keys()) for name, counts in self.lists.items()}
        parts = ", ".join(f"{column}.{leaf}[{size}]" for (column, leaf), size in sizes.items())
        groups = len(self.groups)
        return f"Tally({groups} group{'s' if groups != 1 else ''}: {parts})"

    def _aligned(self, layout: Layout) -> Tally:
        if layout is self.layout or layout == self.layout:
            return self
        return _spread(self, layout, layout.groups.find(self.groups.keys))

    def trimmed(self) -> Tally:
        """Without the labels and groups that count zero; what remains of their sums goes with them. Places that are
        given, as a coin's sides and a bandit's arms are, stay, and are empty.
        """
        if self.counts.size and (self.counts if self.counts.ndim == 1 else self.counts[0]).all():
            return self  # nothing counts zero
        if not self.lists and all(spec.is_sum for spec in self.layout.specs.values()):
            return self  # nothing is counted
        alive = np.zeros(len(self.groups), bool)
        for name, spec in self.layout.specs.items():
            if not spec.is_sum:
                alive |= self[name].any(axis=0)
        for counts in self.lists.values():
            alive |= counts.documents != 0
        given = isinstance(self.groups, Fixed)
        groups = np.arange(len(self.groups)) if given else np.flatnonzero(alive)
        kept = self if len(groups) == len(self.groups) else self.picked(self.groups.take(groups), groups)
        leaves = {}
        for name in kept.layout.specs:
            axis, numbers, is_sum = kept.leaf(name)
            if not isinstance(axis, Fixed):
                rows = np.flatnonzero(numbers.any(axis=-1) if numbers.ndim == 2 else numbers.any(axis=(0, -1)))
                if len(rows) < len(axis):
                    axis, numbers = axis.take(rows), numbers[..., rows, :]
            leaves[name] = Leaf(axis, np.where(alive, numbers, 0.0) if given and is_sum else numbers, is_sum)
        return Tally.of(kept.groups, leaves, kept.lists)

    @staticmethod
    def total(tallies: Iterable[Tally]) -> Tally:
        """The sum of many, in their order, with few alignments and no copies in between."""
        found = folded(tallies, _total)
        return Tally.nothing() if found is None else found

    def to_bytes(self) -> bytes:
        """One safe run of bytes: arrays and a small JSON header, as in a model's file."""
        arrays, layout = self.arrays()
        return file.pack(arrays, {"kind": "tally", "tally": layout})

    @classmethod
    def from_bytes(cls, data: bytes) -> Tally:
        """The tally that `to_bytes` wrote; whatever does not fit together is refused."""
        try:
            arrays, header = file.unpack(data)
        except file.FileError as error:
            raise file.FileError(f"not a tally: {error}") from None
        if header["kind"] != "tally" or header.keys() != {"format", "kind", "tally"}:
            raise file.FileError(f"not a tally: {file.UNNAMED} holds something else")
        return cls.from_arrays(arrays, header["tally"])

    def arrays(self) -> tuple[dict[str, Numbers], dict[str, Any]]:
        """The arrays of the tally by name, and the header that says what they are."""
        arrays: dict[str, Numbers] = {"counts": self.counts, "sums": self.sums}
        arrays |= {f"groups.{part}": array for part, array in self.groups.arrays().items()}
        leaves = []
        for i, ((column, leaf), spec) in enumerate(self.layout.specs.items()):
            arrays |= {f"axis{i}.{part}": array for part, array in spec.axis.arrays().items()}
            leaves.append({"column": column, "leaf": leaf, "axis": spec.axis.kind, "sum": spec.is_sum})
        header: dict[str, Any] = {"groups": self.groups.kind, "leaves": leaves}
        for i, ((column, leaf), counts) in enumerate(sorted(self.lists.items())):
            arrays |= {f"list{i}.{part}": array for part, array in counts.arrays().items()}
            header.setdefault("lists", []).append(
                {"column": column, "leaf": leaf, "buckets": counts.buckets, "pruned": counts.pruned}
            )
        return arrays, header

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Numbers], header: Any) -> Tally:
        """The tally of these arrays; whatever does not fit together is refused."""
        try:
            layout, lists = layout_of(arrays, header)
            counts, sums = array(arrays, "counts"), array(arrays, "sums")
            if counts.shape not in {(layout.n_counts,), (2, layout.n_counts)} or sums.shape != (2, layout.n_sums):
                raise ValueError("its numbers do not fit its axes")
            if counts.dtype != (np.int64 if counts.ndim == 1 else np.float64) or sums.dtype != np.float64:
                raise ValueError("its numbers are of the wrong type")
        except ValueError as error:
            raise file.FileError(f"not a tally: {error}") from None
        return cls(layout, counts, sums, lists)


def folded(parts: Iterable[T], total: Callable[[Sequence[T]], T]) -> T | None:
    """The total of any number of parts, in their order, of which few are held at once; None if there are none.

    >>> folded(range(100), sum)
    4950
    """
    held: list[T] = []
    for part in parts:
        held.append(part)
        if len(held) > MANY:
            held = [total(held)]
    return total(held) if len(held) > 1 else next(iter(held), None)


def _total(many: Sequence[Tally]) -> Tally:
    layout = Layout.union([t.layout for t in many])
    whole = all(t.counts.dtype.kind == "i" for t in many)
    counts, sums = np.zeros(layout.n_counts, np.int64), np.zeros((2, layout.n_sums))
    lists: dict[Name, list[Counts]] = {}
    for t in many:  # brought into line one by one: a copy of each at once would be as much again
        t = t._aligned(layout)
        counts = np.add(counts, t.counts, out=counts) if whole else exact.add(counts, t.counts)
        sums = exact.add(sums, t.sums)
        for name, one in t.lists.items():
            lists.setdefault(name, []).append(one)
    return Tally(layout, counts, sums, {name: fold_pairs(every, operator.add) for name, every in lists.items()})


def _equal_lists(a: Mapping[Name, Counts], b: Mapping[Name, Counts]) -> bool:
    return all(
        a[name] == b[name] if name in a and name in b else not (a.get(name) or b[name]).documents.any()
        for name in {**a, **b}
    )


def _spread(tally: Tally, layout: Layout, places: Ints) -> Tally:
    """The tally's numbers at their places in a larger layout."""
    counts = np.zeros((*tally.counts.shape[:-1], layout.n_counts), tally.counts.dtype)
    sums = np.zeros((2, layout.n_sums))
    same = len(places) == len(layout.groups) and bool(np.all(places == np.arange(len(places))))
    for name in tally.layout.specs:
        axis, numbers, is_sum = tally.leaf(name)
        spec = layout.specs[name]
        rows: Any = slice(None) if axis == spec.axis else np.searchsorted(spec.axis.keys, axis.keys)
        vector = sums if is_sum else counts
        target = vector[..., spec.start : spec.stop].reshape(*vector.shape[:-1], len(spec.axis), len(layout.groups))
        if same:
            target[..., rows, :] = numbers
        else:
            target[..., np.arange(len(spec.axis))[rows, None], places] = numbers
    lists = {name: one.grouped(len(layout.groups), places) for name, one in tally.lists.items()}
    return Tally(layout, counts, sums, lists)
