"""From a graph to a tree of cliques: eliminate the nodes one by one, each time connecting the neighbours.

Sets of nodes are the bits of an integer: a union is an or, and a subset is one comparison. The next node is the one
whose clique has the least cells (its weight), so that the tables of the tree stay small; where they do not, another
order is tried, by what the new links weigh.

>>> tree = tree_of([0b0110, 0b1001, 0b1001, 0b0110], [2, 2, 2, 2])  # a square: 0-1, 0-2, 1-3, 2-3
>>> [bin(clique) for clique in tree.cliques], tree.parent
(['0b111', '0b1110'], [1, -1])
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from typing import NamedTuple

from evenodds.errors import DataError, remedy, several
from evenodds.show import size, whole

LARGE = 1 << 13  # cells, from which on another order of elimination is tried
LARGEST = 1 << 26  # cells of all cliques together: half a gigabyte of doubles
LINKS = 1 << 20, 1 << 24  # looked at for another order: as many as the tree has cells, but so many at least and at most


class Tree(NamedTuple):
    """Cliques with children before their parents; -1 is the parent of a root."""

    cliques: list[int]
    parent: list[int]
    cells: int  # of all cliques


def bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set, ascending.

    >>> list(bits(0b1011))
    [0, 1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _TooLongError(Exception):
    """An order of elimination takes longer to find than it could save."""


def eliminate(
    neighbours: list[int], sizes: list[int], nodes: int, by_links: int | None = None
) -> tuple[list[int], list[int]]:
    """The nodes in the order of elimination, and each one's clique; a clique larger than all may be is the last.

    Next is the node whose clique is the lightest or, `by_links`, the one that needs the lightest new links. So many are
    looked at; a node has links between all of its neighbours, and some have thousands of these.
    """
    near, links_left = list(neighbours), by_links or 0
    logs = [math.log2(size) for size in sizes]

    def rank(node: int) -> tuple[float, float, int]:
        nonlocal links_left
        around = near[node]
        members = list(bits(around))
        weight = sum([logs[other] for other in members], logs[node])
        if by_links is None:
            return weight, len(members), node
        links = 0.0
        for other in members:
            missing = around & ~near[other] & ~((2 << other) - 1)  # each link once
            links_left -= 1 + missing.bit_count()
            if links_left < 0:
                raise _TooLongError
            if missing:
                links += logs[other] * sum([logs[one] for one in bits(missing)])
        return links, weight, node

    waiting = {node: rank(node) for node in bits(nodes)}
    heap = list(waiting.values())  # ranks that have changed since stay in it, and are passed over
    heapq.heapify(heap)
    order, cliques = [], []
    while waiting:
        first = heapq.heappop(heap)
        node = first[2]
        if waiting.get(node) != first:
            continue
        del waiting[node]
        around, me = near[node], 1 << node
        order.append(node)
        cliques.append(around | me)
        if cells(around | me, sizes) > LARGEST:
            break
        changed = around
        for other in bits(around):
            if by_links is not None and around & ~near[other] & ~(1 << other):
                changed |= near[other]
            near[other] = (near[other] | around) & ~me & ~(1 << other)
        for other in bits(changed & ~me):
            now = rank(other)
            if waiting[other] != now:
                waiting[other] = now
                heapq.heappush(heap, now)
    return order, cliques


def tree_of(neighbours: list[int], sizes: list[int], nodes: int | None = None) -> Tree:
    """The tree of the cliques; where it is large, the better of two orders of elimination.

    Of one that is too large for any memory, this is a clique that is.
    """
    nodes = (1 << len(neighbours)) - 1 if nodes is None else nodes
    tree = _tree(*eliminate(neighbours, sizes, nodes), sizes)
    if tree.cells < LARGE:
        return tree
    least, most = LINKS
    try:
        other = _tree(*eliminate(neighbours, sizes, nodes, min(max(tree.cells, least), most)), sizes)
    except _TooLongError:
        return tree
    return other if other.cells < tree.cells else tree


def _tree(order: list[int], cliques: list[int], sizes: list[int]) -> Tree:
    """The tree of the maximal cliques: a clique that is part of a child's is taken up by that child."""
    if cliques and (many := cells(cliques[-1], sizes)) > LARGEST:
        return Tree(cliques[-1:], [-1], many)
    position = {node: i for i, node in enumerate(order)}
    stands = list(range(len(order)))  # for each elimination clique, the clique of the tree that it is part of
    above: dict[int, int] = {}
    for i, node in enumerate(order):
        rest = cliques[i] & ~(1 << node)
        if not rest:
            continue
        j = min(position[other] for other in bits(rest))
        here = stands[i]
        if cliques[j] & ~cliques[here] == 0 and stands[j] == j:
            stands[j] = here
        else:
            above[here] = j
    kept = [i for i in range(len(order)) if stands[i] == i]
    place = {i: k for k, i in enumerate(kept)}
    parent = [place[stands[above[i]]] if i in above else -1 for i in kept]
    found = [cliques[i] for i in kept]
    return Tree(*_sorted(found, parent), sum(cells(clique, sizes) for clique in found))


def cells(clique: int, sizes: list[int]) -> int:
    """How many cells the table of a clique has."""
    return math.prod([sizes[node] for node in bits(clique)])


def _sorted(cliques: list[int], parent: list[int]) -> tuple[list[int], list[int]]:
    """The same tree with every clique before its parent."""
    children: list[list[int]] = [[] for _ in cliques]
    for child, above in enumerate(parent):
        if above >= 0:
            children[above].append(child)
    down = [i for i, above in enumerate(parent) if above < 0]
    for i in down:  # it grows meanwhile
        down += children[i]
    down.reverse()
    place = {i: k for k, i in enumerate(down)}
    return [cliques[i] for i in down], [place[parent[i]] if parent[i] >= 0 else -1 for i in down]


def rooted(tree: Tree, root: int) -> Tree:
    """The same tree, hung up by another clique: the edges on the way to the old root are turned around."""
    parent = list(tree.parent)
    here, above = root, parent[root]
    parent[root] = -1
    while above >= 0:
        parent[above], here, above = here, above, parent[above]
    return Tree(*_sorted(tree.cliques, parent), tree.cells)


def check_size(tree: Tree, sizes: list[int], names: list[str]) -> None:
    """Refuse a tree that would not fit into memory, naming its largest clique."""
    if tree.cells <= LARGEST:
        return
    largest = max(tree.cliques, key=lambda clique: cells(clique, sizes))
    members = [names[node] for node in bits(largest)]
    shown = several(members, 6)
    raise DataError(
        f"an exact answer needs a table of {len(members)} nodes together ({shown}) with {whole(cells(largest, sizes))} "
        f"cells, and {size(8 * tree.cells)} in all or more, above {size(8 * LARGEST)}: ask with "
        + remedy("method='weighting' or method='gibbs'", "--method weighting or --method gibbs")
        + ", or give more evidence"
    )
