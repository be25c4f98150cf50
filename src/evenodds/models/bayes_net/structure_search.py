"""The graph, learnt: trees in one step, or any graph by climbing.

`chow_liu` finds the tree of the highest likelihood, `tan` the best tree of the features below their class (Friedman,
Geiger and Goldszmidt 1997): both are the heaviest spanning tree of mutual information. `climb` adds, drops and turns
edges while the score rises, and goes on for some steps when it does not, never to a graph it has been at; then it
climbs again from near the best, some edges changed at random.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net import kernels
from evenodds.models.bayes_net.cliques import bits
from evenodds.models.bayes_net.reading import Encoded
from evenodds.models.bayes_net.scores import ESS, Score, check_score
from evenodds.models.bayes_net.structure import Structure, unknown

CELLS = 1 << 20  # of a table that is looked at while climbing
PATIENCE, PARENTS = 20, 8  # steps that do not raise the score; parents of a node, at most
RESTARTS, SEED, SHAKE = 2, 0, 0.3  # climbs from near the best, and the share of its edges that is changed
CLOSE = 1e-9  # a share of the score that counts as nothing
NONE = np.zeros(0)

Edges = Iterable[tuple[str, str]]


def information(rows: Encoded, given: str | None = None) -> Floats:
    """Mutual information of every pair of columns, in nats; given a column, within each of its values."""
    sizes = np.array(rows.sizes, np.int64)
    groups, many = np.zeros(rows.rows, np.int32), 1
    if given is not None:
        at = rows.names.index(given)
        groups, many = rows.codes[at], rows.sizes[at]
    largest = sorted(rows.sizes)[-2:]
    table, out = np.empty(many * math.prod(largest)), np.zeros((len(sizes), len(sizes)))
    weights = NONE if rows.weights is None else rows.weights
    kernels.pair_information.compiled(rows.codes, sizes, groups, many, weights, table, out)
    return out


def spanning_tree(weights: Floats, root: int, nodes: list[int]) -> dict[int, int]:
    """The heaviest tree over some nodes, as each one's parent (Prim 1957); the first of equals."""
    parent, best = dict[int, int](), {node: (weights[root, node], root) for node in nodes if node != root}
    while best:
        node = max(best, key=lambda one: best[one][0])
        parent[node] = best.pop(node)[1]
        for other in best:
            if weights[node, other] > best[other][0]:
                best[other] = (weights[node, other], node)
    return parent


def _known(rows: Encoded, name: str) -> int:
    if name not in rows.names:
        raise DataError(unknown("node", name, rows.names))
    return rows.names.index(name)


def chow_liu(rows: Encoded, root: str | None = None) -> Structure:
    """The tree under which the rows are most probable, hung up by one of its nodes (Chow and Liu 1968)."""
    at = 0 if root is None else _known(rows, root)
    parent = spanning_tree(information(rows), at, list(range(len(rows.names))))
    return Structure({n: (rows.names[parent[i]],) if i in parent else () for i, n in enumerate(rows.names)})


def tan(rows: Encoded, target: str, root: str | None = None) -> Structure:
    """Naive Bayes with a tree: every feature has the class as its parent, and one other feature at most."""
    at = _known(rows, target)
    features = [i for i in range(len(rows.names)) if i != at]
    if not features:
        raise DataError(f"there is no column beside the target {target!r}")
    top = features[0] if root is None else _known(rows, root)
    if top == at:
        raise DataError(f"the root of the tree is {root!r}, which is the target: name a feature")
    parent = spanning_tree(information(rows, target), top, features)
    found: dict[str, tuple[str, ...]] = {target: ()}
    for i in features:
        found[rows.names[i]] = (target, rows.names[parent[i]]) if i in parent else (target,)
    return Structure({name: found[name] for name in rows.names})


@dataclass(frozen=True)
class Climbed:
    """The graph that was found, its score, and how it was come by."""

    structure: Structure
    score: float
    steps: int
    families: int  # that were scored


def climb(
    rows: Encoded, score: Score = "bic", *, ess: float = ESS, start: Structure | None = None, required: Edges = (),
    forbidden: Edges = (), parents: int = PARENTS, patience: int = PATIENCE, restarts: int = RESTARTS,
) -> Climbed:  # fmt: skip
    """The best graph met on a climb from `start`, or from the required edges alone."""
    check_score(score, ess)
    must = {(_known(rows, a), _known(rows, b)) for a, b in required}
    never = {(_known(rows, a), _known(rows, b)) for a, b in forbidden}
    for a, b in must & never:
        raise DataError(f"the edge {rows.names[a]} -> {rows.names[b]} is required and forbidden: leave it out of one")
    first = Structure.of([*rows.names, *((rows.names[a], rows.names[b]) for a, b in sorted(must))])
    if start is not None:
        merged = {n: tuple(dict.fromkeys((*start.parents.get(n, ()), *first.parents[n]))) for n in rows.names}
        first = Structure(merged)
    return _Climb(rows, score, ess, must, never, parents).run(first, patience, restarts)


class _Climb:
    """Scores of families that were looked at, and the graph so far: each node's parents as the bits of an integer."""

    def __init__(
        self,
        rows: Encoded,
        score: Score,
        ess: float,
        must: set[tuple[int, int]],
        never: set[tuple[int, int]],
        most: int,
    ) -> None:
        self.rows, self.sizes = rows, rows.sizes
        self.must, self.never, self.most = must, never, most
        each = {"bic": math.log(max(rows.mass, 1.0)) / 2, "aic": 1.0, "bdeu": ess, "k2": 1.0, "log-likelihood": 0.0}
        self.kind, self.each = {"bdeu": 1, "k2": 2}.get(score, 0), each[score]
        self.cache: list[dict[int, float]] = [{} for _ in rows.names]
        self.table = np.empty(CELLS)
        self.weights = NONE if rows.weights is None else rows.weights

    def scores(self, node: int, parents: int, others: list[int]) -> list[float]:
        """The scores of a node with these parents and, one at a time, some others; -1 is no other."""
        cache = self.cache[node]
        wanted = [parents if k < 0 else parents | 1 << k for k in others]
        new = [k for k, family in zip(others, wanted) if family not in cache]
        if new:
            members = list(bits(parents))
            q = math.prod([self.sizes[i] for i in members])
            r = self.sizes[node]
            fits = [k for k in new if q * r * (1 if k < 0 else self.sizes[k]) <= CELLS]
            for k in new:
                cache[parents if k < 0 else parents | 1 << k] = -math.inf
            if fits:
                config = np.zeros(self.rows.rows, np.int32)
                for i in members:
                    column = self.rows.codes[i]
                    config = np.where((config >= 0) & (column >= 0), config * self.sizes[i] + column, -1).astype(
                        np.int32
                    )
                sizes = np.array([0 if k < 0 else self.sizes[k] for k in fits], np.int64)
                out = np.empty(len(fits))
                columns = self.rows.codes[[max(k, 0) for k in fits]]
                kernels.score_families.compiled(
                    config,
                    self.rows.codes[node],
                    columns,
                    sizes,
                    r,
                    q,
                    self.weights,
                    self.kind,
                    self.each,
                    self.rows.mass,
                    self.table,
                    out,
                )
                for k, value in zip(fits, out.tolist()):
                    cache[parents if k < 0 else parents | 1 << k] = value
        return [cache[family] for family in wanted]

    def run(self, start: Structure, patience: int, restarts: int) -> Climbed:
        """Climb from the start, and from near the best."""
        names = self.rows.names
        place = {name: i for i, name in enumerate(names)}
        graph = [sum(1 << place[p] for p in start.parents[name]) for name in names]
        best, score, steps = self.climb(graph, patience)
        rng = np.random.default_rng(SEED)
        for _ in range(restarts):
            found, value, more = self.climb(self._shaken(best, rng), patience)
            steps += more
            if value > score + CLOSE * abs(score):
                best, score = found, value
        found_graph = Structure({n: tuple(names[i] for i in bits(best[j])) for j, n in enumerate(names)})
        return Climbed(found_graph, score, steps, sum(map(len, self.cache)))

    def climb(self, start: list[int], patience: int) -> tuple[list[int], float, int]:
        """The best change at each step, whether it raises the score or not, to a graph not seen before."""
        graph, many = list(start), len(start)
        now = [self.scores(i, graph[i], [-1])[0] for i in range(many)]
        gains: list[dict[tuple[int, int], float]] = [self._gains(i, graph[i], now[i]) for i in range(many)]
        best, best_score, since, steps = list(graph), sum(now), 0, 0
        seen = {tuple(graph)}
        while since <= patience:
            gain, change = self._change(graph, gains, seen)
            if gain <= CLOSE * abs(best_score):
                change = self._swap(graph, now, CLOSE * abs(best_score)) or change
            if change is None:
                break
            for node, family in change.items():
                graph[node] = family
                now[node] = self.scores(node, family, [-1])[0]
                gains[node] = self._gains(node, family, now[node])
            seen.add(tuple(graph))
            steps += 1
            total = sum(now)
            if total > best_score + CLOSE * abs(best_score):
                best, best_score, since = list(graph), total, 0
            else:
                since += 1
        return best, best_score, steps

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

    def _gains(self, node: int, parents: int, now: float) -> dict[tuple[int, int], float]:
        """What adding (parent, 1) or dropping (parent, 0) an edge to a node gains."""
        many = len(self.sizes)
        found = {}
        if parents.bit_count() < self.most:
            add = [i for i in range(many) if i != node and not parents >> i & 1 and (i, node) not in self.never]
            found = {(i, 1): score - now for i, score in zip(add, self.scores(node, parents, add))}
        for i in range(many):
            if parents >> i & 1 and (i, node) not in self.must:
                found[i, 0] = self.scores(node, parents & ~(1 << i), [-1])[0] - now
        return found

    def _change(
        self, graph: list[int], gains: list[dict[tuple[int, int], float]], seen: set[tuple[int, ...]]
    ) -> tuple[float, dict[int, int] | None]:
        """What the best change gains, and the new parents of the nodes it is about; None if none is left."""
        above = _ancestors(graph)
        moves = []
        for node, mine in enumerate(gains):
            for (other, add), gain in mine.items():
                if add:
                    if not above[other] >> node & 1:
                        moves.append((gain, node, other, 1))
                    continue
                moves.append((gain, node, other, 0))
                turned = gains[other].get((node, 1))  # the edge other -> node becomes node -> other
                if turned is not None:
                    moves.append((gain + turned, node, other, 2))
        moves.sort(key=lambda move: (-move[0], move[1:]))
        for gain, node, other, how in moves:
            if gain == -math.inf:
                break
            change = {node: graph[node] | 1 << other if how == 1 else graph[node] & ~(1 << other)}
            if how == 2:
                change[other] = graph[other] | 1 << node
                if _reaches(graph, other, node):
                    continue
            new = tuple(change.get(i, family) for i, family in enumerate(graph))
            if new not in seen:
                return gain, change
        return -math.inf, None

    def _swap(self, graph: list[int], now: list[float], least: float) -> dict[int, int] | None:
        """One parent in place of another: what neither adding nor dropping it alone would show."""
        above, best, change = _ancestors(graph), least, None
        for node, parents in enumerate(graph):
            fine = [
                i for i in range(len(graph)) if i != node and not above[i] >> node & 1 and (i, node) not in self.never
            ]
            for old in bits(parents):
                others = [i for i in fine if not parents >> i & 1]
                if (old, node) in self.must or not others:
                    continue
                rest = parents & ~(1 << old)
                for other, score in zip(others, self.scores(node, rest, others)):
                    if score - now[node] > best:
                        best, change = score - now[node], {node: rest | 1 << other}
        return change


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
