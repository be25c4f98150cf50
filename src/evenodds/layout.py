"""Which leaf of a tally stands where in its two vectors, and how layouts are brought into line."""

from __future__ import annotations

import functools
import reprlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evenodds.exact import Numbers
from evenodds.labels import Fixed, Grid, Labels, check_texts, union
from evenodds.text.counts import Counts

Name = tuple[str, str]
AXES: dict[str, type[Grid]] = {axis.kind: axis for axis in (Fixed, Grid, Labels)}


class Leaf(NamedTuple):
    """Numbers on an axis: shape (axis, groups) for integer counts, (2, axis, groups) for double-doubles."""

    axis: Grid
    numbers: Numbers
    is_sum: bool = False


class Spec(NamedTuple):
    """Where one leaf lies: in the counts or the sums, from `start`, len(axis) × groups numbers."""

    axis: Grid
    is_sum: bool
    start: int
    stop: int


class Layout:
    """Which leaf stands where in the two vectors."""

    def __init__(self, groups: Grid, axes: Mapping[Name, tuple[Grid, bool]]) -> None:
        self.groups = groups
        self.specs: dict[Name, Spec] = {}
        sizes = [0, 0]
        for name in sorted(axes):
            axis, is_sum = axes[name]
            start = sizes[is_sum]
            sizes[is_sum] += len(axis) * len(groups)
            self.specs[name] = Spec(axis, is_sum, start, sizes[is_sum])
        self.n_counts, self.n_sums = sizes

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Layout)
            and self.groups == other.groups
            and self.specs.keys() == other.specs.keys()
            and self._numbered == other._numbered
            and all(a is b or a == b for a, b in zip(self._labelled, other._labelled))
        )

    @functools.cached_property
    def _numbered(self) -> tuple[list[tuple[str, int, bool]], bytes]:
        """The kind and the length of each axis and what is on it, and the keys of those without texts, end to end:
        quick to compare.
        """
        specs = self.specs.values()
        return [(spec.axis.kind, len(spec.axis), spec.is_sum) for spec in specs], b"".join(
            spec.axis.keys.tobytes() for spec in specs if type(spec.axis) is Grid
        )

    @functools.cached_property
    def _labelled(self) -> list[Grid]:
        """The axes with texts."""
        return [spec.axis for spec in self.specs.values() if isinstance(spec.axis, Labels)]

    @staticmethod
    def union(layouts: Sequence[Layout]) -> Layout:
        """The layout that has room for all of these."""
        first = layouts[0]
        if all(layout == first for layout in layouts[1:]):
            return first
        axes: dict[Name, list[Spec]] = {}
        for layout in layouts:
            for name, spec in layout.specs.items():
                axes.setdefault(name, []).append(spec)
        for layout in layouts:
            columns = {name[0] for name in layout.specs}
            for column, leaf in axes:
                if column in columns and (column, leaf) not in layout.specs:
                    raise ValueError(f"tallies of column {column!r} are of different kinds: one has no {leaf!r}")
        for (column, leaf), specs in axes.items():
            like = specs[0]
            for spec in specs[1:]:
                if spec.is_sum != like.is_sum or (isinstance(like.axis, Fixed) and spec.axis != like.axis):
                    raise ValueError(f"tallies of column {column!r} differ in their {leaf!r}: they cannot be added")
        groups = [layout.groups for layout in layouts if len(layout.groups)] or [first.groups]
        if isinstance(groups[0], Fixed) and any(other != groups[0] for other in groups[1:]):
            raise ValueError("tallies of different groups cannot be added")
        return Layout(
            union(groups), {name: (union([s.axis for s in many]), many[0].is_sum) for name, many in axes.items()}
        )


def layout_of(arrays: Mapping[str, Numbers], header: Any) -> tuple[Layout, dict[Name, Counts]]:
    """The layout that the header of some arrays describes, and the lists; every array must have a place in it."""
    if not isinstance(header, dict) or header.keys() - {"lists"} != {"groups", "leaves"}:
        raise ValueError("its header does not list its leaves")
    known, axes = {"counts", "sums"}, {}
    for i, leaf in enumerate(_listed(header, "leaves", {"column", "leaf", "axis", "sum"})):
        if not isinstance(leaf["sum"], bool):
            raise ValueError(f"the description of leaf {i} is of the wrong type")
        axes[leaf["column"], leaf["leaf"]] = (axis_of(leaf["axis"], f"axis{i}", arrays, known), leaf["sum"])
    groups = axis_of(header["groups"], "groups", arrays, known)
    lists, parts_of = {}, defaultdict[str, dict[str, Numbers]](dict)
    for name, found in arrays.items():
        whole, _, part = name.partition(".")
        parts_of[whole][part] = found
    for i, one in enumerate(_listed(header, "lists", {"column", "leaf", "buckets", "pruned"})):
        parts = parts_of[f"list{i}"]
        known |= {f"list{i}.{part}" for part in parts}
        place = one["column"], one["leaf"]
        if place in axes:
            raise ValueError(f"leaf {reprlib.repr(place)} occurs twice")
        try:
            lists[place] = Counts.from_arrays(parts, len(groups), one["buckets"], one["pruned"])
        except ValueError as error:
            raise ValueError(f"list {i}: {error}") from None
    if arrays.keys() > known:
        raise ValueError(f"it has an array that belongs nowhere, {min(arrays.keys() - known)!r}")
    return Layout(groups, axes), lists


def _listed(header: Mapping[str, Any], what: str, keys: set[str]) -> list[dict[str, Any]]:
    """The descriptions of leaves or lists, each with these keys, no two of one name."""
    found = header.get(what, [])
    if not isinstance(found, list):
        raise ValueError("its header does not list its leaves")
    names = set()
    for i, one in enumerate(found):
        if not isinstance(one, dict) or one.keys() != keys:
            raise ValueError(f"leaf {i} is not described by {', '.join(sorted(keys))}")
        name = (one["column"], one["leaf"])
        if not all(isinstance(part, str) for part in name):
            raise ValueError(f"the description of leaf {i} is of the wrong type")
        if name in names:
            raise ValueError(f"leaf {reprlib.repr(name)} occurs twice")
        names.add(name)
    return found


def axis_of(kind: Any, name: str, arrays: Mapping[str, Numbers], known: set[str]) -> Grid:
    """One axis, and the names of its arrays added to those that are known."""
    if not isinstance(kind, str) or kind not in AXES:
        raise ValueError(f"unknown axis {reprlib.repr(kind)}")
    known.add(f"{name}.keys")
    keys = array(arrays, f"{name}.keys")
    if keys.ndim != 1 or keys.dtype != AXES[kind].dtype or np.any(keys[1:] <= keys[:-1]):
        raise ValueError(f"the keys of {name} are not in order")
    if kind == "fixed" and len(keys) and (keys[0] != 0 or keys[-1] != len(keys) - 1):
        raise ValueError(f"the keys of {name} are not 0, 1, 2, …")
    if kind != "labels":
        return AXES[kind](keys)
    known |= {f"{name}.blob", f"{name}.ends"}
    blob, ends = array(arrays, f"{name}.blob"), array(arrays, f"{name}.ends")
    check_texts(name, blob, ends, len(keys))
    return Labels(keys, blob, ends)


def array(arrays: Mapping[str, Numbers], name: str) -> Numbers:
    """One of the arrays."""
    if name not in arrays:
        raise ValueError(f"{name} is missing")
    return arrays[name]
