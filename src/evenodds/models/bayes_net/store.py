"""A network as one safe file: its tallies' arrays, tables given by hand, and a header with the graph.

What is read is checked until nothing can be wrong with it later: states against tallies, shapes against each other,
rows against adding up to 1.
"""

from __future__ import annotations

import dataclasses
import itertools
import reprlib
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.models.arrays import plain_texts, texts
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.reading import Columns
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.tables import checked_states, normalised
from evenodds.models.bayes_net.tallies import LABELS, Settings
from evenodds.models.header import a_flag, a_list, a_number, a_text, a_whole, expect
from evenodds.tally import Tally

KINDS = ("text", "int", "float", "bool")


def parts_of(network: Network) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the header of a network."""
    places = {node: i for i, node in enumerate(network.structure.nodes)}
    states = {**network.states, **network.told}
    nodes, arrays = [], plain_texts("states", [state for node in places for state in states[node]])
    for node, i in places.items():
        about: dict[str, Any] = {
            "name": node,
            "parents": [places[parent] for parent in network.structure.parents[node]],
            "states": len(states[node]),
            "told": node in network.told,
        }
        if node in network.columns.kinds:
            about["kind"] = network.columns.kinds[node]
        if node in network.columns.cuts:
            about["cuts"] = list(network.columns.cuts[node])
        if node in network.tallies:
            own, about["tally"] = network.tallies[node].arrays()
            arrays |= {f"n{i}.{part}": array for part, array in own.items()}
        else:
            arrays[f"n{i}.table"] = network.by_hand[node]
        nodes.append(about)
    settings = network.settings
    smoothing = settings.smoothing if isinstance(settings.smoothing, str) else float(settings.smoothing)
    chosen = {"estimate": settings.estimate, "prior": settings.prior, "smoothing": smoothing}
    told = {} if network.target is None else {"target": places[network.target]}
    return arrays, {"nodes": nodes, "settings": chosen, **told}


def model_of(arrays: dict[str, Any], header: dict[str, Any]) -> Network:
    """The network of a file's arrays and header; whatever does not fit together is refused."""
    expect(header, "header", {"format", "kind", "nodes", "settings"}, frozenset({"target"}))
    return _read(dict(arrays), header)


def _read(arrays: dict[str, Any], header: dict[str, Any]) -> Network:
    nodes = [
        expect(one, "node", {"name", "parents", "states"}, frozenset({"told", "kind", "cuts", "tally"}))
        for one in a_list(header["nodes"])
    ]
    names = [a_text(one["name"]) for one in nodes]
    if len(set(names)) < len(names) or not names:
        raise ValueError("its nodes have no names of their own")
    parents = {}
    for one, name in zip(nodes, names):
        above = [a_whole(i) for i in a_list(one["parents"])]
        if any(not 0 <= i < len(names) for i in above):
            raise ValueError(f"the node {reprlib.repr(name)} has a parent that is not there")
        parents[name] = tuple(names[i] for i in above)
    structure = Structure(parents)
    states = _states(arrays, {name: a_whole(one["states"]) for name, one in zip(names, nodes)})
    kinds, cuts, tallies, tables = dict[str, str](), dict[str, Any](), dict[str, Tally](), dict[str, Any]()
    for i, (name, one) in enumerate(zip(names, nodes)):
        if "kind" in one:
            kinds[name] = a_text(one["kind"])
            if kinds[name] not in KINDS:
                raise ValueError(f"the node {reprlib.repr(name)} is of an unknown kind")
        if "cuts" in one:
            cuts[name] = tuple(float(a_number(edge)) for edge in a_list(one["cuts"]))
            if not cuts[name] or any(b <= a for a, b in itertools.pairwise(cuts[name])) or kinds.get(name) != "text":
                raise ValueError(f"the node {reprlib.repr(name)} is cut out of order")
        shape = tuple(len(states[other]) for other in (*parents[name], name))
        if "tally" not in one:
            table = arrays.pop(f"n{i}.table")
            if table.dtype != np.float64 or table.shape != shape:
                raise ValueError(f"the table of {reprlib.repr(name)} is {table.dtype} {table.shape}, expected {shape}")
            tables[name] = normalised(name, table, parents[name], states)
            continue
        own = {part.partition(".")[2]: arrays.pop(part) for part in list(arrays) if part.startswith(f"n{i}.")}
        tallies[name] = _checked(Tally.from_arrays(own, one["tally"]), name, parents[name])
    if arrays:
        raise ValueError(f"it has an array that belongs nowhere, {min(arrays)!r}")
    told = expect(header["settings"], "settings", {"estimate", "prior", "smoothing"})
    smoothing = told["smoothing"] if isinstance(told["smoothing"], str) else a_number(told["smoothing"])
    settings = Settings(a_text(told["estimate"]), a_text(told["prior"]), smoothing)  # type: ignore[arg-type]
    target = None if "target" not in header else a_whole(header["target"])
    if target is not None and not 0 <= target < len(names):
        raise ValueError("its target is not there")
    network = Network(
        structure, {}, tables, tallies, settings, Columns(kinds, cuts), None if target is None else names[target]
    )
    network = dataclasses.replace(network, told=_told(network, states, dict(zip(names, nodes))))
    for name in network.fixed:
        if network.states[name] != states[name]:
            raise ValueError(f"a table is given for other states of {reprlib.repr(name)} than were learnt")
    if all(network.states.values()):
        network.tables  # noqa: B018  that they can be made is checked now
    return network


def _states(arrays: dict[str, Any], many: dict[str, int]) -> dict[str, tuple[str, ...]]:
    every, at, found = texts(arrays, "states"), 0, {}
    del arrays["states.blob"], arrays["states.ends"]
    if min(many.values()) < 0 or sum(many.values()) != len(every):
        raise ValueError("its states do not end where they should")
    for name, size in many.items():
        found[name] = checked_states(name, every[at : at + size]) if size else ()
        at += size
    return found


def _told(
    network: Network, states: dict[str, tuple[str, ...]], nodes: dict[str, dict[str, Any]]
) -> dict[str, tuple[str, ...]]:
    """The states that were told; those of other nodes must be the ones that occur.

    A file that does not say which were told has all that are not the ones that occur.
    """
    found = {}
    for name, listed in states.items():
        if a_flag(nodes[name].get("told", name in network.fixed or listed != network.states[name])):
            found[name] = checked_states(name, listed)
        elif name in network.fixed or listed != network.states[name]:
            raise ValueError(f"the states of {reprlib.repr(name)} are not those that it has learnt")
    return found


def _checked(tally: Tally, name: str, parents: tuple[str, ...]) -> Tally:
    """A tally that has the counts of one node, by its parents' values, and nothing else, none below 0."""
    if set(tally.layout.specs) - {(name, LABELS)} or tally.lists:
        raise DataError(f"the tally of {reprlib.repr(name)} holds something else")
    for spec in tally.layout.specs.values():
        if spec.is_sum or spec.axis.kind != "labels":
            raise DataError(f"the tally of {reprlib.repr(name)} holds no counts")
    if tally.groups.kind != "labels" if parents else tally.groups.kind != "fixed" or len(tally.groups) > 1:
        raise DataError(f"the tally of {reprlib.repr(name)} is not grouped by the values of its parents")
    numbers = tally.counts if tally.counts.ndim == 1 else tally.counts[0]
    if not np.isfinite(tally.counts).all() or np.any(numbers < 0):
        raise DataError(f"the tally of {reprlib.repr(name)} holds counts below 0, or none at all")
    return tally
