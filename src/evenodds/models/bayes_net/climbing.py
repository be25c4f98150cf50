"""The graph, learnt by climbing: edges are added, dropped, turned and swapped while the score rises.

The climb goes on for some steps when no change raises the score, never to a graph it has been at; then it starts again
from near the best, some edges changed at random. What a change gains is known from the scores of the one or two
families it is about; scores are kept, and gains are arrays over (node, parent).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net import kernels
from evenodds.models.bayes_net.cliques import bits
from evenodds.models.bayes_net.reading import Encoded
from evenodds.models.bayes_net.scores import ESS, Criterion, check_criterion, price
from evenodds.models.bayes_net.structure import Structure

CELLS = 1 << 20  # of a table that is looked at while climbing
PATIENCE, PARENTS = 20, 8  # steps that do not raise the score; parents of a node, at most
RESTARTS, SEED, SHAKE = 2, 0, 0.3  # climbs from near the best, and the share of its edges that is changed
CLOSE = 1e-9  # a share of the score that counts as nothing
NONE = np.zeros(0)

Edges = Iterable[tuple[str, str]]
Pairs = set[tuple[int, int]]


@dataclass(frozen=True)
class Climbed:
    """The graph that was found, and its score."""

    structure: Structure
    score: float


def climb(
    rows: Encoded, criterion: Criterion = "bic", *, ess: float = ESS, start: Structure | None = None,
    required: Edges = (), forbidden: Edges = (), parents: int = PARENTS, patience: int = PATIENCE,
) -> Climbed:  # fmt: skip
    """The best graph met on a climb from `start`, or from the required edges alone."""
    check_criterion(criterion, ess)
    must = {(rows.place(a), rows.place(b)) for a, b in required}
    never = {(rows.place(a), rows.place(b)) for a, b in forbidden}
    for a, b in must & never:
        raise DataError(f"the edge {rows.names[a]} -> {rows.names[b]} is required and forbidden: leave it out of one")
    known = {} if start is None else {name: rows.place(name) for name in start.nodes}
    begin = set() if start is None else {(known[a], known[b]) for a, b in start.edges} - never
    first = Structure.of([*rows.names, *((rows.names[a], rows.names[b]) for a, b in sorted(begin | must))])
    return _Climb(FamilyScores(rows, criterion, ess), must, never, parents).run(first, patience)


class FamilyScores:
    """Scores of families, a node and the bits of its parents; each is counted once."""

    def __init__(self, rows: Encoded, criterion: Criterion, ess: float) -> None:
        self.names, self.sizes, self.mass = rows.names, np.array(rows.sizes, np.int64), rows.mass
        pseudo = {"bdeu": (1, ess), "k2": (2, 1.0)}
        self.kind, self.each = pseudo[criterion] if criterion in pseudo else (0, price(criterion, rows.mass))
        narrow = np.int16 if max(rows.sizes) < 1 << 15 else np.int32
        self.codes = np.ascontiguousarray(rows.codes.T, narrow)  # a row's cells side by side
        self.weights = NONE if rows.weights is None else rows.weights
        self.cache: list[dict[int, float]] = [{} for _ in rows.names]
        self.table = np.empty(CELLS)

    def one(self, node: int, parents: int) -> float:
        """The score of a node with these parents."""
        if parents not in self.cache[node]:
            self.cache[node][parents] = self._counted(node, parents, [-1])[0]
        return self.cache[node][parents]

    def more(self, node: int, parents: int, others: list[int]) -> list[float]:
        """The scores of a node with these parents and, one at a time, some others."""
        cache = self.cache[node]
        new = [k for k in others if parents | 1 << k not in cache]
        if new:
            for k, value in zip(new, self._counted(node, parents, new)):
                cache[parents | 1 << k] = value
        return [cache[parents | 1 << k] for k in others]

    def _counted(self, node: int, parents: int, others: list[int]) -> list[float]:
        out = np.empty(len(others))
        members = np.fromiter(bits(parents), np.int64)
        kernels.score_families.compiled(
            self.codes, self.sizes, node, members, np.array(others, np.int64), self.weights, self.kind, self.each,
            self.mass, self.table, out,
        )  # fmt: skip
        return out.tolist()


class _Climb:
    """The graph so far: each node's parents as the bits of an integer, and what every change of it would gain."""

    def __init__(self, scores: FamilyScores, must: Pairs, never: Pairs, most: int) -> None:
        self.scores, self.must, self.never, self.most = scores, must, never, most
        self.many = len(scores.names)
        self.free = ~np.eye(self.many, dtype=bool)  # (node, parent) that are not forbidden
        for parent, node in never:
            self.free[node, parent] = False
        # the scores of a node with some parents and one more, as far as they were looked at
        self.lines: list[dict[int, Floats]] = [{} for _ in scores.names]

    def run(self, start: Structure, patience: int) -> Climbed:
        """Climb from the start, and from near the best."""
        names = self.scores.names
        place = {name: i for i, name in enumerate(names)}
        graph = [sum(1 << place[p] for p in start.parents[name]) for name in names]
        best, score = self.climb(graph, patience)
        rng = np.random.default_rng(SEED)
        for _ in range(RESTARTS):
            found, value = self.climb(self._shaken(best, rng), patience)
            if value > score + CLOSE * abs(score):
                best, score = found, value
        return Climbed(Structure({n: tuple(names[i] for i in bits(best[j])) for j, n in enumerate(names)}), score)

    def climb(self, start: list[int], patience: int) -> tuple[list[int], float]:
        """The best change at each step, whether it raises the score or not, to a graph not seen before."""
        graph = list(start)
        now = [self.scores.one(i, parents) for i, parents in enumerate(graph)]
        adds, drops = np.empty((self.many, self.many)), np.empty((self.many, self.many))
        for i in range(self.many):
            adds[i], drops[i] = self._gains(i, graph[i], now[i])
        best, best_score, since = list(graph), sum(now), 0
        seen = {tuple(graph)}
        while since <= patience:
            open_ = self.free & ~_matrix(_ancestors(graph), self.many).T  # (node, parent): no cycle would arise
            gain, change = _change(graph, adds, drops, open_, seen)
            if gain <= CLOSE * abs(best_score):
                change = self._swap(graph, now, open_, CLOSE * abs(best_score)) or change
            if change is None:
                break
            for node, family in change.items():
                graph[node] = family
                now[node] = self.scores.one(node, family)
                adds[node], drops[node] = self._gains(node, family, now[node])
            seen.add(tuple(graph))
            total = sum(now)
            if total > best_score + CLOSE * abs(best_score):
                best, best_score, since = list(graph), total, 0
            else:
                since += 1
        return best, best_score

    def _shaken(self, graph: list[int], rng: np.random.Generator) -> list[int]:
        """The graph with some edges dropped or turned, as far as that is allowed."""
        new = list(graph)
        edges = [(i, j) for j in range(len(graph)) for i in bits(graph[j]) if (i, j) not in self.must]
        for i, j in edges:
            u = rng.random()
            if u < SHAKE:
                new[j] &= ~(1 << i)
                turned = new[i].bit_count() < self.most and (j, i) not in self.never
                if u < SHAKE / 2 and turned and not _reaches(new, i, j):
                    new[i] |= 1 << j
        return new

    def _line(self, node: int, parents: int, wanted: NDArray[np.bool_]) -> Floats:
        """The scores of a node with these parents and one more, of those wanted at least; of others perhaps not."""
        line = self.lines[node].get(parents)
        if line is None:
            line = self.lines[node][parents] = np.full(self.many, np.nan)
        new = np.flatnonzero(wanted & np.isnan(line))
        if len(new):
            line[new] = self.scores.more(node, parents, new.tolist())
        return line

    def _gains(self, node: int, parents: int, now: float) -> tuple[Floats, Floats]:
        """What adding each edge to a node gains, and dropping it; -inf where it cannot be."""
        adds, drops = np.full(self.many, -math.inf), np.full(self.many, -math.inf)
        mine = list(bits(parents))
        if len(mine) < self.most:
            wanted = self.free[node].copy()
            wanted[mine] = False
            adds[wanted] = self._line(node, parents, wanted)[wanted] - now
        for i in mine:
            if (i, node) not in self.must:
                drops[i] = self.scores.one(node, parents & ~(1 << i)) - now
        return adds, drops

    def _swap(self, graph: list[int], now: list[float], open_: Any, least: float) -> dict[int, int] | None:
        """One parent in place of another: what neither adding nor dropping it alone would show."""
        swaps, gains = list[tuple[int, int]](), list[Floats]()
        wanted = open_ & ~_matrix(graph, self.many)
        for node, parents in enumerate(graph):
            for old in bits(parents) if wanted[node].any() else ():
                if (old, node) not in self.must:
                    rest = parents & ~(1 << old)
                    swaps.append((node, rest))
                    gains.append(np.where(wanted[node], self._line(node, rest, wanted[node]) - now[node], -math.inf))
        if not gains:
            return None
        best = int(np.argmax(gains))
        (node, rest), other = swaps[best // self.many], best % self.many
        return {node: rest | 1 << other} if gains[best // self.many][other] > least else None


def _change(
    graph: list[int], adds: Floats, drops: Floats, open_: NDArray[np.bool_], seen: set[tuple[int, ...]]
) -> tuple[float, dict[int, int] | None]:
    """What the best change gains, and the new parents of the nodes it is about; None if none is left."""
    # of every edge other -> node: dropped, added, and turned, which is dropped there and added at its other end
    moves = np.stack([drops, np.where(open_, adds, -math.inf), drops + adds.T], axis=-1)
    flat = moves.ravel()
    while (gain := float(flat[at := int(flat.argmax())])) > -math.inf:
        flat[at] = -math.inf
        node, other, how = at // 3 // len(graph), at // 3 % len(graph), at % 3
        change = {node: graph[node] | 1 << other if how == 1 else graph[node] & ~(1 << other)}
        if how == 2:
            change[other] = graph[other] | 1 << node
            if _reaches(graph, other, node):
                continue
        if tuple(change.get(i, family) for i, family in enumerate(graph)) not in seen:
            return gain, change
    return -math.inf, None


def _matrix(masks: list[int], many: int) -> NDArray[np.bool_]:
    """Bits as a matrix of yes and no."""
    width = (many + 7) // 8
    packed = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), np.uint8)
    return np.unpackbits(packed.reshape(-1, width), axis=1, count=many, bitorder="little").astype(bool)


def _ancestors(graph: list[int]) -> list[int]:
    """All nodes above each node, as bits."""
    found, done, waiting = list(graph), 0, list(range(len(graph)))
    while waiting:
        later = []
        for node in waiting:
            if graph[node] & ~done:
                later.append(node)
                continue
            for parent in bits(graph[node]):
                found[node] |= found[parent]
            done |= 1 << node
        waiting = later
    return found


def _reaches(graph: list[int], top: int, bottom: int) -> bool:
    """Whether a way leads from top down to bottom other than the edge between them."""
    rest, seen = graph[bottom] & ~(1 << top), 0
    while rest:
        low = rest & -rest
        rest ^= low
        if low == 1 << top:
            return True
        seen |= low
        rest |= graph[low.bit_length() - 1] & ~seen
    return False
