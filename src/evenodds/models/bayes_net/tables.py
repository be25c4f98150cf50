"""Tables p(node | parents) given by hand: read, checked, and as arrays whose last axis is the node's own states."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evenodds.arguments import mapping
from evenodds.errors import DataError, did_you_mean
from evenodds.families.leaves import Floats
from evenodds.labels import canonical
from evenodds.models.bayes_net.structure import Structure
from evenodds.show import whole

States = Mapping[str, tuple[str, ...]]
NEAR = 1e-6  # how far from 1 a row may sum, as rounded numbers do
ROUNDING = 1e-13  # below which a sum is 1, and the row is left as it is: what is written is read back the same
CELLS = 1 << 26  # of one table, at most, and of all that one file gives


def read_states(states: Mapping[str, Iterable[Any]] | None) -> dict[str, tuple[str, ...]]:
    """States as given, each a canonical text: at least one, none twice."""
    found = {}
    for node, given in mapping("states", states, "{'rain': ['yes', 'no']}").items():
        if isinstance(given, str):
            raise DataError(f"the states of {node!r} are {given!r}: expected a list of names")
        found[node] = checked_states(node, [canonical(state) for state in given])
    return found


def checked_states(node: str, states: Iterable[str]) -> tuple[str, ...]:
    """The states of one node: at least one, none twice."""
    found = tuple(states)
    if not found:
        raise DataError(f"node {node!r} has no states: give it at least one")
    if len(set(found)) < len(found):
        twice = Counter(found).most_common(1)[0][0]
        raise DataError(f"node {node!r} has the state {twice!r} twice: name it once")
    return found


def check_values(node: str, values: Iterable[str], states: tuple[str, ...]) -> None:
    """Refuse values in the data that are none of the states a node was told to have."""
    for value in sorted(set(values) - set(states)):
        raise DataError(
            f"node {node!r} has the value {value!r} in the data, which is none of its states: name it in states=, or "
            "leave such rows out"
        )


def read_tables(
    structure: Structure, tables: Mapping[str, Any], states: States
) -> tuple[dict[str, tuple[str, ...]], dict[str, Floats]]:
    """States and arrays of tables given as arrays (parents' states..., own states), or as mappings.

    A mapping has the node's states as its keys or, for a node with parents, the parents' values (one, or a tuple in the
    order of the parents), each with a row: a mapping again, or a list.

    >>> alarm = Structure.of("burglary, earthquake -> alarm")
    >>> states, arrays = read_tables(
    ...     alarm,
    ...     {"burglary": {"yes": 0.001, "no": 0.999}, "earthquake": {"yes": 0.002, "no": 0.998},
    ...      "alarm": {("yes", "yes"): {"on": 0.95, "off": 0.05}, ("yes", "no"): {"on": 0.94, "off": 0.06},
    ...                ("no", "yes"): {"on": 0.29, "off": 0.71}, ("no", "no"): {"on": 0.001, "off": 0.999}}}, {})
    >>> states["alarm"], arrays["alarm"][1, 0]
    (('on', 'off'), array([0.29, 0.71]))
    """
    known, tables = dict(states), mapping("tables", tables, "{'rain': {'yes': 0.2, 'no': 0.8}}")
    structure.check(*states, *tables)
    for node in structure.order:
        if node in tables and node not in known:
            known[node] = _states_of(node, tables[node], bool(structure.parents[node]))
    arrays = {}
    for node, given in tables.items():
        for name in (node, *structure.parents[node]):
            if name not in known:
                raise DataError(f"the states of {name!r} are not known: name them in states=")
        arrays[node] = _array(node, structure.parents[node], given, known)
    return known, arrays


def _states_of(node: str, given: Any, conditional: bool) -> tuple[str, ...]:
    row = next(iter(given.values()), None) if isinstance(given, Mapping) and conditional else given
    if isinstance(row, Mapping):
        return checked_states(node, [canonical(state) for state in row])
    raise DataError(f"the states of {node!r} are not known: name them in states=, or give its table as a mapping")


def _array(node: str, parents: tuple[str, ...], given: Any, states: States) -> Floats:
    shape = (*(len(states[parent]) for parent in parents), len(states[node]))
    check_size(node, shape)
    if not isinstance(given, Mapping):
        array = _numbers(node, given)
        if array.shape != shape:
            axes = " × ".join((*parents, node))
            raise DataError(f"the table of {node!r} has the shape {array.shape}: expected {shape}, for {axes}")
        return normalised(node, array, parents, states)
    if not parents:
        return normalised(node, _row(node, given, states[node], ""), parents, states)
    array = np.full(shape, np.nan)
    for key, row in given.items():
        values = key if isinstance(key, tuple) else (key,)
        if len(values) != len(parents):
            raise DataError(f"the table of {node!r} has a row for {key!r}: expected a value of {', '.join(parents)}")
        where = tuple(place(parent, value, states[parent]) for parent, value in zip(parents, values))
        if not np.isnan(array[where]).all():
            raise DataError(f"the table of {node!r} has two rows{_given(parents, states, where)}: leave one out")
        array[where] = _row(node, row, states[node], f" given {key!r}")
    if np.isnan(array).any():
        lost = tuple(int(i) for i in np.argwhere(np.isnan(array))[0][:-1])
        raise DataError(f"the table of {node!r} has no row{_given(parents, states, lost)}: give one")
    return normalised(node, array, parents, states)


def _row(node: str, row: Any, states: tuple[str, ...], where: str) -> Floats:
    if isinstance(row, Mapping):
        values = np.zeros(len(states))
        values[[place(node, state, states) for state in row]] = _numbers(node, list(row.values()))
        return values
    values = _numbers(node, row)
    if values.shape != (len(states),):
        raise DataError(f"the table of {node!r}{where} has the shape {values.shape}: expected {len(states)} numbers")
    return values


def _numbers(node: str, given: Any) -> Floats:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the table of {node!r} holds something else than numbers") from None


def check_size(node: str, shape: tuple[int, ...], others: int = 0) -> None:
    """Refuse a table that would not fit into memory, alone or with the cells of others, before it is made."""
    if math.prod(shape) > CELLS:
        raise DataError(
            f"the table of {node!r} has {whole(math.prod(shape))} cells, more than {CELLS:,}: it needs fewer parents"
        )
    if math.prod(shape) + others > CELLS:
        raise DataError(
            f"the table of {node!r} has {whole(math.prod(shape))} cells, those before it {whole(others)}, more than "
            f"{CELLS:,} in all: leave nodes out, or give them fewer parents"
        )


def normalised(node: str, array: Floats, parents: tuple[str, ...], states: States) -> Floats:
    """The table with rows that sum to 1, if they do but for rounding."""
    bad = np.argwhere(~(array >= 0) | np.isinf(array))
    if len(bad):
        where = _given(parents, states, bad[0][:-1])
        raise DataError(f"the table of {node!r} holds {array[tuple(bad[0])]:g}{where}: expected probabilities")
    sums = array.sum(axis=-1, keepdims=True)
    off = np.argwhere(np.abs(sums - 1) > NEAR)
    if len(off):
        where = _given(parents, states, off[0][:-1])
        raise DataError(f"the table of {node!r} adds up to {sums[tuple(off[0])]:.9g}{where}: expected 1")
    return np.asarray(np.where(np.abs(sums - 1) > ROUNDING, array / sums, array))


def _given(parents: tuple[str, ...], states: States, where: Iterable[int]) -> str:
    shown = ", ".join(f"{parent}={states[parent][i]}" for parent, i in zip(parents, where))
    return f" given {shown}" if shown else ""


def place(node: str, value: Any, states: tuple[str, ...]) -> int:
    """Where a value is among a node's states."""
    try:
        return states.index(value if isinstance(value, str) else canonical(value))
    except ValueError:
        raise DataError(f"node {node!r}: {did_you_mean(canonical(value), states, 'state')}") from None


def configurations(parents: tuple[str, ...], states: States) -> Iterable[tuple[str, ...]]:
    """All values that the parents can have together, the last one changing first, as in the array."""
    return itertools.product(*(states[parent] for parent in parents))
