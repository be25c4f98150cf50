"""Which nodes are independent given others, read off the graph alone; and why.

A path between two nodes is blocked by a node on it: in a chain a -> b -> c and a fork a <- b -> c, by b when b is
given; in a collider a -> b <- c, by b when neither b nor anything below it is given. Two nodes are separated when every
path is blocked (Pearl 1988).

>>> taxi = Structure.of("rain -> coat; rain -> accident")
>>> d_separated(taxi, "coat", "accident")
coat and accident are not separated: a path is open
coat <- rain -> accident: open (rain is a common cause, and is not given)
>>> bool(d_separated(taxi, "coat", "accident", given="rain"))
True
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from evenodds.errors import DataError
from evenodds.models.bayes_net.structure import Structure
from evenodds.show import Frame

PATHS = 50  # shown, at most
WALKS = 200_000  # steps taken to find them
STATEMENTS = 1_000_000  # looked at, at most

Names = str | Iterable[str]
Ball = tuple[str, bool]  # the node it is at, and whether it came there from a child


class Path(NamedTuple):
    """A path between two nodes, whether it is open, and which node decides that, and why."""

    nodes: tuple[str, ...]
    arrows: tuple[str, ...]
    open: bool
    by: str
    why: str

    def __str__(self) -> str:
        text = self.nodes[0] + "".join(f" {arrow} {node}" for arrow, node in zip(self.arrows, self.nodes[1:]))
        return f"{text}: {'open' if self.open else 'blocked'} ({self.why})"


@dataclass(frozen=True)
class Separation:
    """Whether nodes are separated; as a truth value, that; printed, every path and the node that decides it."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    given: tuple[str, ...]
    separated: bool
    paths: tuple[Path, ...]
    complete: bool  # whether these are all paths

    def __bool__(self) -> bool:
        return self.separated

    def __repr__(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        many = sum(path.open for path in self.paths)
        if self.separated:
            why = "every path is blocked" if self.paths else "no path connects them"
            head = f"{', '.join(self.a)} and {', '.join(self.b)} are separated{given}: {why}"
        else:
            why = "a path is open" if many < 2 else f"{many}{'' if self.complete else ' or more'} paths are open"
            head = f"{', '.join(self.a)} and {', '.join(self.b)} are not separated{given}: {why}"
        tail = [] if self.complete else ["and more paths"]
        return "\n".join([head, *map(str, self.paths), *tail])

    @property
    def frame(self) -> Frame:
        """A line for every path."""
        return Frame([{"path": str(path).partition(":")[0], "open": path.open, "by": path.by, "why": path.why}
                      for path in self.paths])  # fmt: skip


def names_of(structure: Structure, names: Names | None) -> tuple[str, ...]:
    """One name or several as a tuple of nodes."""
    found = () if names is None else (names,) if isinstance(names, str) else tuple(names)
    structure.check(*found)
    return tuple(dict.fromkeys(found))


def d_separated(structure: Structure, a: Names, b: Names, given: Names | None = None, most: int = PATHS) -> Separation:
    """Whether a and b are independent given some nodes in every network of this graph, and path by path why."""
    left, right, known = (names_of(structure, names) for names in (a, b, given))
    for name in left:
        if name in right:
            raise DataError(f"node {name!r} is on both sides: it is not independent of itself")
    for name in (*left, *right):
        if name in known:
            raise DataError(f"node {name!r} is asked about and given too: leave it out on one side")
    if not left or not right:
        raise DataError("name a node on each side")
    separated = not reachable(structure, left, set(known)) & set(right)
    paths, complete = _paths(structure, left, right, set(known), most)
    return Separation(left, right, known, separated, paths, complete)


def reachable(structure: Structure, start: Iterable[str], given: set[str]) -> set[str]:
    """The nodes that an open path leads to."""
    return {node for node, _ in _rolled(structure, start, given) if node not in given}


def _rolled(structure: Structure, start: Iterable[str], given: set[str]) -> dict[Ball, Ball | None]:
    """A ball rolls along edges and bounces by the rules (Shachter 1998): where it gets to, and from where it came.

    It tries the nearest first, so that the way back from any place is the shortest, on which no node comes twice.
    """
    above = structure.ancestors(given)
    came: dict[Ball, Ball | None] = {(node, True): None for node in start}
    waiting = list(came)
    for ball in waiting:  # it grows meanwhile
        node, from_child = ball
        ways: list[Ball] = []
        if node not in given:
            ways += [(child, False) for child in structure.children[node]]
        if node not in given if from_child else node in above:  # a collider that is given, or is above something given
            ways += [(parent, True) for parent in structure.parents[node]]
        for way in ways:
            if way not in came:
                came[way] = ball
                waiting.append(way)
    return came


def _paths(
    structure: Structure, a: tuple[str, ...], b: tuple[str, ...], given: set[str], most: int
) -> tuple[tuple[Path, ...], bool]:
    """Paths without a node twice, up to a number of them and of steps; the open ones first, the short ones first.

    Of those that are open the shortest is among them, however many others there are.
    """
    # a path with a side of its own in the middle is two paths: its ends are the first and the last of their sides
    goal, sides = set(b), set(a) | set(b)
    nearest = _shortest(_rolled(structure, a, given), goal)
    found = [] if nearest is None else [_judged(structure, *nearest, given)]
    steps, complete = 0, True
    for start in a:
        stack: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((start,), ())]
        while stack:
            nodes, arrows = stack.pop()
            steps += 1
            if len(found) >= 4 * most or steps > WALKS:
                complete = False
                break
            here = nodes[-1]
            if here in goal:
                if (nodes, arrows) != nearest:
                    found.append(_judged(structure, nodes, arrows, given))
                continue
            ways = [(child, "->") for child in structure.children[here]]
            ways += [(parent, "<-") for parent in structure.parents[here]]
            for node, arrow in reversed(ways):
                if node not in nodes and (node not in sides or node in goal):
                    stack.append(((*nodes, node), (*arrows, arrow)))
    found.sort(key=lambda path: (not path.open, len(path.nodes)))
    return tuple(found[:most]), complete and len(found) <= most


def _shortest(came: dict[Ball, Ball | None], goal: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The nodes and arrows of the shortest open path that leads to one of these nodes, if one does."""
    ball = next((ball for ball in came if ball[0] in goal), None)
    nodes, arrows = list[str](), list[str]()
    while ball is not None:
        nodes.append(ball[0])
        arrows.append("<-" if ball[1] else "->")
        ball = came[ball]
    return (tuple(reversed(nodes)), tuple(reversed(arrows[:-1]))) if nodes else None


def _judged(structure: Structure, nodes: tuple[str, ...], arrows: tuple[str, ...], given: set[str]) -> Path:
    """A path with the node that blocks it, or the one that opens it, and why in words."""
    opened = None
    for i in range(1, len(nodes) - 1):
        node, into, out = nodes[i], arrows[i - 1], arrows[i]
        if into == "->" and out == "<-":
            below = sorted(structure.descendants([node]) & given, key=structure.nodes.index)
            if not below:
                return Path(
                    nodes,
                    arrows,
                    False,
                    node,
                    f"{node} is a common effect, and neither it nor any effect of it is given",
                )
            opened = (node, f"{node} is a common effect, and is given") if node in below else (
                below[0], f"{node} is a common effect, and {below[0]}, an effect of it, is given")  # fmt: skip
        elif node in given:
            role = "a common cause" if into == "<-" and out == "->" else "between them"
            return Path(nodes, arrows, False, node, f"{node} is {role}, and is given")
    if opened is not None:
        return Path(nodes, arrows, True, *opened)
    if len(nodes) == 2:
        return Path(nodes, arrows, True, nodes[1], "they are connected by an edge, which nothing blocks")
    i = next((i for i in range(1, len(nodes) - 1) if (arrows[i - 1], arrows[i]) == ("<-", "->")), 1)
    role = "a common cause" if (arrows[i - 1], arrows[i]) == ("<-", "->") else "between them"
    return Path(nodes, arrows, True, nodes[i], f"{nodes[i]} is {role}, and is not given")


# -- statements and separating sets ------------------------------------------------------------------------------------


def independences(structure: Structure, largest: int | None = None) -> Frame:
    """Every pair of nodes and every set of up to `largest` others given which the graph makes them independent.

    >>> independences(Structure.of("rain -> coat; rain -> accident"))
    a     b         given
    coat  accident  rain
    """
    nodes = structure.nodes
    many = max(len(nodes) - 2, 0)
    size = many if largest is None else min(largest, many)
    pairs = [pair for pair in itertools.combinations(nodes, 2) if not adjacent(structure, *pair)]
    statements = len(pairs) * sum(math.comb(many, k) for k in range(size + 1))
    if statements > STATEMENTS:
        raise DataError(
            f"there are {statements:,} statements to look at: name the largest set to be given, as in largest=1"
        )
    rows = []
    for k in range(size + 1):
        for given in itertools.combinations(nodes, k):
            known = set(given)
            reach = {node: reachable(structure, [node], known) for node in nodes if node not in known}
            for a, b in pairs:
                if a not in known and b not in known and b not in reach[a]:
                    rows.append({"a": a, "b": b, "given": ", ".join(given)})
    return Frame(rows)


def adjacent(structure: Structure, a: str, b: str) -> bool:
    """Whether an edge connects two nodes."""
    return a in structure.parents[b] or b in structure.parents[a]


def separating_sets(structure: Structure, a: str, b: str, most: int = PATHS) -> list[tuple[str, ...]]:
    """The minimal sets of nodes that separate two nodes: without one of its nodes, none of them does. Small ones first.

    They are the minimal cuts between the two in the moral graph of what is above them; from one cut the next is found
    by stepping over one of its nodes (Berry, Bordat and Cogis 2000).

    >>> separating_sets(Structure.of("a -> b -> d; a -> c -> d"), "a", "d")
    [('b', 'c')]
    """
    structure.check(a, b)
    if a == b:
        raise DataError(f"node {a!r} is not independent of itself: name two nodes")
    if adjacent(structure, a, b):
        return []
    near = moral(structure, structure.ancestors([a, b]))
    first = _boundary(near, b, near[a])
    found, waiting = {first}, [first]
    while waiting and len(found) < most:
        cut = waiting.pop(0)
        for node in sorted(cut, key=structure.nodes.index):
            if b in near[node]:
                continue
            new = _boundary(near, b, cut | near[node])
            if new not in found:
                found.add(new)
                waiting.append(new)
    ordered = [tuple(sorted(cut, key=structure.nodes.index)) for cut in found]
    ordered = [cut for cut in ordered if _minimal(structure, a, b, cut)]
    return sorted(ordered, key=lambda cut: (len(cut), [structure.nodes.index(node) for node in cut]))[:most]


def _minimal(structure: Structure, a: str, b: str, cut: tuple[str, ...]) -> bool:
    return all(b in reachable(structure, [a], set(cut) - {node}) for node in cut)


def moral(structure: Structure, nodes: set[str]) -> dict[str, set[str]]:
    """The graph without arrows, with parents of one child connected, of some nodes."""
    near: dict[str, set[str]] = {node: set() for node in nodes}
    for node in nodes:
        family = [*(parent for parent in structure.parents[node] if parent in nodes), node]
        for one, other in itertools.permutations(family, 2):
            near[one].add(other)
    return near


def _boundary(near: dict[str, set[str]], b: str, walls: set[str] | frozenset[str]) -> frozenset[str]:
    """The walls that can be touched from b."""
    touched, seen, waiting = set[str](), {b}, [b]
    while waiting:
        for other in near[waiting.pop()]:
            if other in walls:
                touched.add(other)
            elif other not in seen:
                seen.add(other)
                waiting.append(other)
    return frozenset(touched)
