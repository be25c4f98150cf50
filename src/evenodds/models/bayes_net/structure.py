"""The graph of a network: which node has which parents. It has no cycles, and it knows an order in which parents come
before their children.

>>> lawn = Structure.of("rain -> sprinkler; rain, sprinkler -> wet")
>>> lawn.parents["wet"]
('rain', 'sprinkler')
>>> lawn.edges
[('rain', 'sprinkler'), ('rain', 'wet'), ('sprinkler', 'wet')]
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evenodds.errors import DataError, brief, did_you_mean

_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|(->|<-|→|←|[,;\n])|((?:(?!->|<-|→|←)[^",;\n])+)|(.)', re.DOTALL)


@dataclass(frozen=True)
class Structure:
    """Each node's parents; the nodes in the order in which they were named."""

    parents: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for node, parents in self.parents.items():
            for parent in parents:
                if parent not in self.parents:
                    raise DataError(f"node {node!r} has the parent {parent!r}, which is no node")
            if len(set(parents)) < len(parents):
                twice = next(parent for parent in parents if parents.count(parent) > 1)
                raise DataError(f"node {node!r} has the parent {twice!r} twice: name it once")
        self.order  # noqa: B018  a cycle is refused here

    @classmethod
    def of(cls, what: Any) -> Structure:
        """A structure from a string, from edges (pairs of names, or names of nodes alone), or from {node: parents}."""
        if isinstance(what, Structure):
            return what
        if isinstance(what, str):
            return cls(_parse(what))
        if isinstance(what, Mapping):
            given = {str(node): _listed(parents) for node, parents in what.items()}
            return cls({**{p: () for parents in given.values() for p in parents if p not in given}, **given})
        found: dict[str, list[str]] = {}
        for edge in _several(what):
            names = _ends(edge, 1)
            for name in names:
                found.setdefault(name, [])
            if len(names) == 2:
                _connect(found, *names)
        return cls({node: tuple(parents) for node, parents in found.items()})

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes' names."""
        return tuple(self.parents)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(parent, child) of every edge."""
        return [(parent, node) for node, parents in self.parents.items() for parent in parents]

    @functools.cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """Each node's children."""
        found: dict[str, list[str]] = {node: [] for node in self.parents}
        for parent, child in self.edges:
            found[parent].append(child)
        return {node: tuple(children) for node, children in found.items()}

    @functools.cached_property
    def order(self) -> tuple[str, ...]:
        """The nodes with parents before their children; otherwise in the order they were named in."""
        waiting = {node: len(parents) for node, parents in self.parents.items()}
        found = [node for node, many in waiting.items() if not many]
        for node in found:  # it grows meanwhile
            for child in self.children[node]:
                waiting[child] -= 1
                if not waiting[child]:
                    found.append(child)
        if len(found) < len(self.parents):
            raise DataError(
                f"the graph has a cycle: {' -> '.join(self._cycle(set(found)))}; leave one of its edges out"
            )
        return tuple(found)

    def _cycle(self, fine: set[str]) -> list[str]:
        """Walk from parent to parent among the nodes that are in no order, until one comes up again."""
        node = next(node for node in self.parents if node not in fine)
        walk: list[str] = []
        while node not in walk:
            walk.append(node)
            node = next(parent for parent in self.parents[node] if parent not in fine)
        return [node, *reversed(walk[walk.index(node) :])]

    def check(self, *names: str) -> None:
        """Refuse a name that is no node."""
        for name in names:
            if name not in self.parents:
                raise DataError(did_you_mean(str(name), self.parents, "node"))

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """These nodes, their parents, and so on up."""
        return _reached(names, self.parents)

    def descendants(self, names: Iterable[str]) -> set[str]:
        """These nodes, their children, and so on down."""
        return _reached(names, self.children)

    def blanket(self, node: str) -> list[str]:
        """The Markov blanket: parents, children and the children's other parents. Given these, nothing else matters."""
        self.check(node)
        around = [*self.parents[node], *self.children[node]]
        around += [parent for child in self.children[node] for parent in self.parents[child] if parent != node]
        return list(dict.fromkeys(around))

    def with_parents(self, node: str, parents: Iterable[str]) -> Structure:
        """The same graph, but one node has other parents."""
        return Structure({**self.parents, node: tuple(parents)})

    def __str__(self) -> str:
        lone = [quoted(node) for node in self.nodes if not self.parents[node] and not self.children[node]]
        lines = [
            f"{', '.join(map(quoted, parents))} -> {quoted(node)}" for node, parents in self.parents.items() if parents
        ]
        return "; ".join(lone + lines)


def _reached(names: Iterable[str], to: Mapping[str, tuple[str, ...]]) -> set[str]:
    found, waiting = set[str](), list(names)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += to[node]
    return found


def _listed(parents: Any) -> tuple[str, ...]:
    return (parents,) if isinstance(parents, str) else tuple(map(str, _several(parents)))


def _several(what: Any) -> list[Any]:
    try:
        return list(what)
    except TypeError:
        raise DataError(f"expected edges, 'rain -> wet' or pairs (parent, child), not {what!r:.80}") from None


def _ends(edge: Any, least: int = 2) -> list[str]:
    """The names at an edge's ends; a text is one name, however many letters it has."""
    names = [edge] if isinstance(edge, str) else [str(name) for name in _several(edge)]
    if not least <= len(names) <= 2:
        many = f"{len(names)} end{'' if len(names) == 1 else 's'}"
        raise DataError(f"the edge {edge!r} has {many}: expected a pair (parent, child)")
    return names


def _connect(found: dict[str, list[str]], parent: str, child: str) -> None:
    if parent == child:
        raise DataError(f"the graph has a cycle: {parent} -> {child}; leave one of its edges out")
    if parent in found[child]:
        raise DataError(f"the edge {parent} -> {child} is there twice: name it once")
    found[child].append(parent)


def _parse(text: str) -> dict[str, tuple[str, ...]]:
    """Statements `a, b -> c -> d`, apart by ; or a new line; a name in quotes may hold anything."""
    found: dict[str, list[str]] = {}
    sides: list[list[str]] = [[]]
    arrows: list[str] = []
    named = False  # whether the last thing was a name

    def end() -> None:
        nonlocal sides, arrows
        if arrows and not all(sides):
            raise DataError(f"the structure {brief(text)} has an arrow without a node at one end: write 'a -> b'")
        for left, arrow, right in zip(sides, arrows, sides[1:]):
            above, below = (left, right) if arrow == "->" else (right, left)
            for parent in above:
                for child in below:
                    _connect(found, parent, child)
        sides, arrows = [[]], []

    for part in _PART.finditer(text):
        quote, mark, name, wrong = part.groups()
        if name is not None and not name.strip():
            continue
        if wrong is not None:
            raise DataError(f"the structure {brief(text)} cannot be read at {brief(text[part.start(4) :])}")
        if mark in (";", "\n"):
            end()
        elif mark == ",":
            if not sides[-1]:
                raise DataError(f"the structure {brief(text)} has a comma without a node before it")
        elif mark is not None:
            arrows.append({"→": "->", "←": "<-"}.get(mark, mark))
            sides.append([])
        else:
            node = re.sub(r"\\(.)", r"\1", quote) if quote is not None else name.strip()
            if named:
                raise DataError(f"the structure {brief(text)} has nothing between {sides[-1][-1]!r} and {node!r}")
            found.setdefault(node, [])
            sides[-1].append(node)
        named = mark is None
    end()
    if not found:
        raise DataError("the structure is empty: name at least one node, as in 'rain -> wet'")
    return {node: tuple(parents) for node, parents in found.items()}


def edges_of(what: Any) -> tuple[tuple[str, str], ...]:
    """Edges from a string, or from pairs (parent, child); they may form cycles, as forbidden ones do.

    >>> edges_of("a -> b; b -> a")
    (('b', 'a'), ('a', 'b'))
    """
    if isinstance(what, str):
        found = _parse(what) if what.strip() else {}
        return tuple((parent, node) for node, parents in found.items() for parent in parents)
    return tuple((a, b) for a, b in map(_ends, _several(what)))


def quoted(name: str) -> str:
    """A node's name as a structure's string has it.

    >>> quoted("wet"), quoted("a, b")
    ('wet', '"a, b"')
    """
    plain = re.fullmatch(r"[^\s\",;]+", name) and not re.search("->|<-|→|←", name)
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return name if plain else f'"{escaped}"'
