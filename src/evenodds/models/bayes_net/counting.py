"""Counting: how often the values of a node occur with each of its parents' values.

Rows are counted by the codes they have, with a place for a missing cell before them; only the small tables of counts
are brought into the order of the labels. A table of several families together costs little more than one of them, and
each is a margin of it, so families are counted together as long as their table is small.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenodds.cells import Coded
from evenodds.errors import DataError
from evenodds.families.kernels import count_codes
from evenodds.families.leaves import PAIR, Floats, Rows, count
from evenodds.labels import Fixed, Labels
from evenodds.models.bayes_net.kernels import combine
from evenodds.models.bayes_net.tables import check_size
from evenodds.models.bayes_net.tallies import LABELS, escaped
from evenodds.tally import Leaf, Tally

DENSE = 1 << 18  # cells that are counted in place; of more, those that occur
NEW = 3  # columns that a family may bring along to be counted with others: with more it is quicker alone

Cells = Mapping[str, Coded]
Families = Mapping[str, tuple[str, ...]]


def count_families(families: Families, cells: Cells, weights: Floats | None = None) -> dict[str, Tally]:
    """The tally of each node with its parents; a row that lacks a cell of a family is left out of it."""
    found = {}
    sizes = {name: len(column.place) + 1 for name, column in cells.items()}
    for columns, nodes in together(families, sizes) if weights is None else ():
        first, *others = columns
        group, many = _combined(others, cells)
        lanes = np.zeros((8, sizes[first] * many), np.int64)
        count_codes(cells[first].codes, group, many, lanes)
        table = lanes.sum(axis=0).reshape([sizes[name] for name in columns])
        for node in nodes:
            family = (node, *families[node])
            rest = tuple(i for i, name in enumerate(columns) if name not in family)
            left = [name for name in columns if name in family]
            margin = table.sum(axis=rest).transpose([left.index(name) for name in family])
            known = margin[(slice(1, None),) * len(family)]
            found[node] = _tally(family, cells, known.reshape(sizes[node] - 1, math.prod(known.shape[1:])))
    return {n: found[n] if n in found else count_family(n, p, cells, weights) for n, p in families.items()}


def count_family(node: str, parents: tuple[str, ...], cells: Cells, weights: Floats | None = None) -> Tally:
    """The tally of one node with its parents, alone; of a table that could not be, none is made."""
    check_size(node, tuple(len(cells[name].labels) for name in (*parents, node)))
    group, many = _combined(parents, cells)
    values, sizes = len(cells[node].place), [len(cells[parent].place) for parent in parents]
    if many * (values + 1) > DENSE:
        occurs, group = np.unique(group, return_inverse=True)
    else:
        occurs = np.arange(many)
    numbers = count(cells[node].codes, values, Rows(group, len(occurs), weights))
    if parents:  # without the missing cells
        at = np.stack(np.unravel_index(occurs, [size + 1 for size in sizes])) - 1
        known = at.min(axis=0) >= 0
        numbers, occurs = numbers[..., known], np.ravel_multi_index(tuple(at[:, known]), sizes)
    return _tally((node, *parents), cells, numbers, occurs if len(occurs) < math.prod(sizes) else None)


def together(families: Families, sizes: Mapping[str, int]) -> list[tuple[list[str], list[str]]]:
    """Columns to be counted in one table, and the nodes whose families are in it.

    >>> together({"a": (), "b": ("a",), "c": ("a",)}, {"a": 3, "b": 3, "c": 3})
    [(['b', 'a', 'c'], ['b', 'c', 'a'])]
    """
    tables: list[tuple[list[str], list[str]]] = []
    having: dict[str, list[int]] = {}  # the tables that have a column
    room: dict[str, list[int]] = {}  # of these, the ones that may get another: of a star's tables, the last
    least = min(sizes.values(), default=1)
    cells = {node: math.prod([sizes[name] for name in (node, *parents)]) for node, parents in families.items()}
    for node in sorted(families, key=lambda one: -cells[one]):  # largest first: what is within another comes later
        family = (node, *families[node])
        fits = []
        near = [having.get(node, ()), *(room.get(name, ()) for name in family)]  # what has all of it has the node
        for i in dict.fromkeys(itertools.chain(*near)):
            new = [name for name in family if name not in tables[i][0]]
            size = math.prod([sizes[name] for name in (*tables[i][0], *new)])
            if not new or (len(new) <= NEW and size <= PAIR):
                fits.append((len(new), size, i))
        if not fits and cells[node] > DENSE:
            continue
        i = min(fits)[-1] if fits else len(tables)
        if not fits:
            tables.append(([], []))
        tables[i][1].append(node)
        for name in family:
            if name not in tables[i][0]:
                tables[i][0].append(name)
                having.setdefault(name, []).append(i)
                room.setdefault(name, []).append(i)
        if math.prod([sizes[name] for name in tables[i][0]]) * least > PAIR:
            for name in tables[i][0]:
                room[name] = [other for other in room[name] if other != i]
    return tables


def _combined(columns: Sequence[str], cells: Cells) -> tuple[Any, int]:
    """The values of some columns together, as one number a row, and how many there can be; a missing cell is the
    first value of its column.
    """
    sizes = [len(cells[name].place) + 1 for name in columns]
    many = math.prod(sizes)
    if many >= 2**63:  # though each has but one value, and may be missing
        raise DataError(f"{len(columns)} columns are too many to be counted together: leave edges out")
    rows = len(next(iter(cells.values())).codes)
    group: Any = np.zeros(rows, np.int32 if many < 2**31 else np.int64)
    for name, size in zip(columns, sizes):
        combine(cells[name].codes, size, group)
    return group, many


def _tally(family: tuple[str, ...], cells: Cells, numbers: Any, occurs: Any = None) -> Tally:
    """Counts by code (..., the node's values, the parents' values together) as a tally; of the latter all are there, or
    those that occur.
    """
    node, *parents = family
    axis = cells[node].labels
    numbers = _placed(numbers, cells[node].place, len(axis), -2)
    if not parents:
        return Tally.of(Fixed(1), {(node, LABELS): Leaf(axis, numbers)})
    above = [cells[parent] for parent in parents]
    if len(parents) == 1 and occurs is None:
        groups = above[0].labels
        return Tally.of(groups, {(node, LABELS): Leaf(axis, _placed(numbers, above[0].place, len(groups), -1))})
    seen = np.flatnonzero(numbers.any(axis=tuple(range(numbers.ndim - 1))))
    at = np.unravel_index(seen if occurs is None else occurs[seen], [len(column.place) for column in above])
    places = np.stack([column.place[which] for column, which in zip(above, at)])
    if places.min(initial=0) < 0:  # codes whose texts are no values
        known = places.min(axis=0) >= 0
        seen, places = seen[known], places[:, known]
    texts = [column.labels.texts() for column in above]
    if len(parents) > 1:  # as `joined` does, but each text once
        texts = [[escaped(text) for text in some] for some in texts]
    values = zip(*([some[i] for i in place] for some, place in zip(texts, places.tolist())))
    labels, where = Labels.coded(list(map(",".join, values)))
    return Tally.of(labels, {(node, LABELS): Leaf(axis, _placed(numbers[..., seen], where, len(labels), -1))})


def _placed(numbers: Any, place: Any, size: int, axis: int) -> Any:
    """Numbers along one axis at their places; those that share one are added, those of none (-1) left out."""
    shape = list(numbers.shape)
    shape[axis] = size
    found = np.zeros(shape, numbers.dtype)
    if len(place) == size and place.min(initial=0) >= 0:  # one each
        found[(..., place) if axis == -1 else (..., place, slice(None))] = numbers
    else:
        real = place >= 0
        np.add.at(np.moveaxis(found, axis, 0), place[real], np.moveaxis(numbers, axis, 0)[real])
    return found
