"""A question compiled: the tree of cliques for it, and the products and sums that answer it.

What is asked decides what is needed. A node that is neither asked for nor evidence, nor above one that is, cannot
matter (it is barren), and is left out. A node of evidence is no axis of any table: each table is entered at the value
seen. What is then not connected with the nodes asked for is left out too, unless the evidence's own probability is
wanted.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from evenodds.families.leaves import Floats
from evenodds.labels import Ints
from evenodds.models.bayes_net import kernels
from evenodds.models.bayes_net.cliques import bits, check_size, rooted, tree_of

Want = Literal["query", "marginals", "most", "expect"]
FACTORS = 8  # of a clique, after which it is scaled
FEW = 1 << 16  # cells walked in one process, up to which loading the compiler would have cost more than it saves


@dataclass(frozen=True)
class Plan:
    """A network in numbers: sizes, each node's family (its parents, then itself), and where its table is among all."""

    names: list[str]
    sizes: list[int]
    families: list[tuple[int, ...]]
    starts: list[int]
    cells: int

    @classmethod
    def of(cls, parents: dict[str, tuple[str, ...]], sizes: dict[str, int]) -> Plan:
        """The plan of a graph whose nodes have so many states."""
        names = list(parents)
        place = {name: i for i, name in enumerate(names)}
        families = [tuple(place[one] for one in (*above, node)) for node, above in parents.items()]
        many = [sizes[name] for name in names]
        lengths = [math.prod([many[i] for i in family]) for family in families]
        starts = list(itertools.accumulate(lengths, initial=0))
        return cls(names, many, families, starts[:-1], starts[-1])

    def strides(self, family: tuple[int, ...]) -> list[int]:
        """How far apart the cells of a table are along each of its axes."""
        found = [1] * len(family)
        for i in range(len(family) - 2, -1, -1):
            found[i] = found[i + 1] * self.sizes[family[i + 1]]
        return found

    def above(self, mask: int) -> int:
        """These nodes and all above them."""
        found = 0
        while mask:
            found |= mask
            new = 0
            for node in bits(mask):
                for parent in self.families[node][:-1]:
                    new |= 1 << parent
            mask = new & ~found
        return found


class Asked(NamedTuple):
    """What is asked: joint of which nodes, given which nodes' values, given likelihoods of which nodes."""

    query: tuple[int, ...] = ()
    hard: tuple[int, ...] = ()
    soft: tuple[int, ...] = ()
    want: Want = "query"
    whole: bool = True  # whether the evidence's own probability is wanted


class Program:
    """The steps for one kind of question; see `kernels.run`."""

    walked: ClassVar[int] = 0  # cells, by all programs of this process

    def __init__(self, plan: Plan, asked: Asked) -> None:
        self.plan, self.asked = plan, asked
        self._steps: list[tuple[int, ...]] = []
        self._sizes: list[int] = []
        self._strides: list[int] = []
        self._offsets: list[tuple[int, int]] = []
        self._at = 0
        self._column = {node: j for j, node in enumerate(asked.hard)}  # of the evidence
        hard = _mask(asked.hard)
        everything = (1 << len(plan.names)) - 1
        seen = _mask(asked.query) | hard | _mask(asked.soft)
        relevant = everything if asked.want in ("marginals", "most") else plan.above(seen)
        self.free = relevant & ~hard
        families = list(bits(relevant))
        near = self._neighbours(families, _mask(asked.query))
        if not asked.whole and asked.query:
            self.free = _connected(near, _mask(asked.query)) & self.free
            families = [i for i in families if self._scope(i)]
        tree = tree_of(near, plan.sizes, self.free)
        check_size(tree, plan.sizes, plan.names)
        wanted = _mask(asked.query)
        if wanted:
            root = min(
                (i for i, c in enumerate(tree.cliques) if wanted & ~c == 0), key=lambda i: tree.cliques[i].bit_count()
            )
            tree = rooted(tree, root)
        self.tree = tree
        self._holders: dict[int, list[int]] = {}
        for i, clique in enumerate(tree.cliques):
            for node in bits(clique):
                self._holders.setdefault(node, []).append(i)
        self._factors = [0] * len(tree.cliques)
        self._lay_out()
        self._begin(families)
        self._prepared = len(self._steps)
        self._collect(kernels.MOST if asked.want == "most" else kernels.SUM)
        self._finish(families)
        self._pack()

    # -- the tables of the tree --------------------------------------------------------------------------------------

    def _scope(self, node: int) -> int:
        return _mask(self.plan.families[node]) & self.free

    def _neighbours(self, families: Iterable[int], together: int) -> list[int]:
        near = [0] * len(self.plan.names)
        for mask in [*(self._scope(node) for node in families), together]:
            for node in bits(mask):
                near[node] |= mask & ~(1 << node)
        return near

    def _lay_out(self) -> None:
        """Where each table is in `work`: cliques first, then what passes between them, evidence, and the answer."""
        tree, sizes = self.tree, self.plan.sizes
        self.members: list[list[int]] = []
        self.starts: list[int] = []
        self.shared: list[list[int]] = []
        wanted = list(self.asked.query)
        for clique, parent in zip(tree.cliques, tree.parent):
            common = clique & tree.cliques[parent] if parent >= 0 else 0
            shared = list(bits(common))
            first = wanted if parent < 0 and _mask(wanted) & ~clique == 0 else shared
            self.shared.append(shared)
            self.members.append([*first, *bits(clique & ~_mask(first))])
            self.starts.append(self._room(math.prod([sizes[i] for i in self.members[-1]])))
        self.cells = self._at
        self.passed = [self._room(math.prod([sizes[i] for i in shared])) for shared in self.shared]
        self.ratios = [self._room(math.prod([sizes[i] for i in shared])) for shared in self.shared]
        self.at_given = self._at
        self.given_at = {node: self._room(sizes[node]) for node in self.asked.soft}
        self.at_out = self._at
        if self.asked.want == "marginals":
            self.out_at = {node: self._room(sizes[node]) for node in bits(self.free)}
        elif self.asked.want == "query":
            self._room(math.prod([sizes[i] for i in wanted]))
        self.work_size = self._at

    def _room(self, size: int) -> int:
        self._at += size
        return self._at - size

    # -- steps -------------------------------------------------------------------------------------------------------

    def _walk(
        self, kind: int, clique: int, beside: int, steps: dict[int, int], offsets: Sequence[tuple[int, int]] = ()
    ) -> None:
        """A step that walks a clique and, beside it, a table with these distances along the clique's axes."""
        sizes, strides = list[int](), list[int]()
        for node in self.members[clique]:
            size, stride = self.plan.sizes[node], steps.get(node, 0)
            if size == 1:
                continue
            if sizes and strides[-1] == stride * size:  # both axes are walked as one
                sizes[-1] *= size
                strides[-1] = stride
            else:
                sizes.append(size)
                strides.append(stride)
        first, many = len(self._sizes), max(len(sizes), 1)
        self._sizes += sizes or [1]
        self._strides += strides or [0]
        self._steps.append((kind, self.starts[clique], beside, many, first, len(offsets), len(self._offsets)))
        self._offsets += offsets

    def _along(self, nodes: Sequence[int]) -> dict[int, int]:
        """The distances along the axes of a table of these nodes."""
        return dict(zip(nodes, self.plan.strides(tuple(nodes))))

    def _plain(self, kind: int, at: int, size: int, beside: int = 0) -> None:
        self._steps.append((kind, at, beside, size, 0, 0, 0))

    def _holder(self, scope: int) -> int:
        """The smallest clique that has all of these nodes."""
        some = min((self._holders[node] for node in bits(scope)), key=len)
        cliques = self.tree.cliques
        return min((cliques[i].bit_count(), i) for i in some if scope & ~cliques[i] == 0)[1]

    def _multiply(self, kind: int, clique: int, beside: int, along: dict[int, int], offsets: Any = ()) -> None:
        """A factor of a clique; after every few of them the clique is scaled, so that no product becomes 0."""
        self._walk(kind, clique, beside, along, offsets)
        self._factors[clique] += 1
        if self._factors[clique] % FACTORS == 0:
            self._plain(
                kernels.SCALE, self.starts[clique], math.prod([self.plan.sizes[i] for i in self.members[clique]])
            )

    def _root(self) -> int:
        """The clique of the nodes asked for, which is the root of its part of the tree."""
        wanted, parents = _mask(self.asked.query), self.tree.parent
        return next(i for i, c in enumerate(self.tree.cliques) if parents[i] < 0 and wanted & ~c == 0)

    def _entered(self, node: int) -> tuple[dict[int, int], list[tuple[int, int]]]:
        """How a node's table is walked: its distances along free axes, and along those of the evidence."""
        family = self.plan.families[node]
        along = dict(zip(family, self.plan.strides(family)))
        return along, [(self._column[one], step) for one, step in along.items() if one in self._column]

    def _begin(self, families: Sequence[int]) -> None:
        for node in families:
            along, offsets = self._entered(node)
            scope = self._scope(node)
            if scope:
                self._multiply(kernels.TABLE, self._holder(scope), self.plan.starts[node], along, offsets)
            else:
                start = self.plan.starts[node]
                self._steps.append((kernels.CONSTANT, 0, start, 0, 0, len(offsets), len(self._offsets)))
                self._offsets += offsets

    def _collect(self, kind: int) -> None:
        for node, at in self.given_at.items():
            if self.free >> node & 1:
                self._multiply(kernels.TIMES, self._holder(1 << node), at, {node: 1})
        for i, parent in enumerate(self.tree.parent):
            along = self._along(self.shared[i])
            self._walk(kind, i, self.passed[i], along)
            self._plain(kernels.SCALE, self.passed[i], math.prod([self.plan.sizes[j] for j in self.shared[i]]))
            if parent >= 0:
                self._multiply(kernels.TIMES, parent, self.passed[i], along)

    def _finish(self, families: Sequence[int]) -> None:
        want, sizes = self.asked.want, self.plan.sizes
        if want in ("marginals", "expect"):
            for i in reversed(range(len(self.tree.parent))):
                parent, along = self.tree.parent[i], self._along(self.shared[i])
                if parent >= 0:
                    size = math.prod([sizes[j] for j in self.shared[i]])
                    self._walk(kernels.SUM, parent, self.ratios[i], along)
                    self._plain(kernels.NORM, self.ratios[i], size)
                    self._plain(kernels.RATIO, self.passed[i], size, self.ratios[i])
                    self._walk(kernels.TIMES, i, self.ratios[i], along)
        if want == "marginals":
            for node, at in self.out_at.items():
                self._walk(kernels.SUM, self._holder(1 << node), at, {node: 1})
                self._plain(kernels.NORM, at, sizes[node])
        elif want == "query":
            query = self.asked.query
            if query:
                self._walk(kernels.SUM, self._root(), self.at_out, self._along(query))
            self._plain(kernels.NORM, self.at_out, math.prod([sizes[i] for i in query]))
        elif want == "expect":
            for node in families:
                along, offsets = self._entered(node)
                scope = self._scope(node)
                if scope:
                    self._walk(kernels.EXPECT, self._holder(scope), self.plan.starts[node], along, offsets)

    def _pack(self) -> None:
        self.steps = np.array(self._steps, np.int64).reshape(-1, 7)
        self.sizes, self.strides = np.array(self._sizes, np.int64), np.array(self._strides, np.int64)
        self.offsets = np.array(self._offsets, np.int64).reshape(-1, 2)
        self._multiplied: tuple[Any, Floats, float] = (None, np.ones(self.cells), 0.0)

    # -- running it --------------------------------------------------------------------------------------------------

    def run(
        self, tables: Floats, evidence: Ints, given: Floats | None = None, weights: Floats | None = None,
        expected: Floats | None = None,
    ) -> tuple[Floats, Floats, Floats]:  # fmt: skip
        """The answers (rows, cells), each row's log p(evidence), and what is left in `work` after the last row."""
        given = np.ones((len(evidence), self.at_out - self.at_given)) if given is None else given
        start, (of, base, log) = 0, self._multiplied
        if not self.asked.hard:  # the tables are multiplied once, whatever the likelihoods
            start = self._prepared
            if of is not tables:
                ones = np.ones(self.cells)
                _, logs, work = self._run(tables, self.steps[:start], ones, evidence[:1], given[:1], None, None)
                base, log = work[: self.cells].copy(), float(logs[0])
                self._multiplied = tables, base, log
        out, log_p, work = self._run(tables, self.steps[start:], base, evidence, given, weights, expected)
        return out, log_p + log, work

    def _run(
        self, tables: Floats, steps: Ints, base: Floats, evidence: Ints, given: Floats, weights: Floats | None,
        expected: Floats | None,
    ) -> tuple[Floats, Floats, Floats]:  # fmt: skip
        rows = len(given)
        work = np.empty(self.work_size)
        out, log_p = np.empty((rows, self.work_size - self.at_out)), np.empty(rows)
        weights = np.ones(rows) if weights is None else weights
        expected = np.zeros(0) if expected is None else expected
        Program.walked += 6 * self.cells * rows  # about
        few = Program.walked < FEW and "numba" not in sys.modules
        how = kernels.run.plain if few else kernels.run.compiled
        how(
            tables, steps, self.sizes, self.strides, self.offsets, base, work, evidence, given,
            self.at_given, self.at_out, out, log_p, weights, expected,
        )  # fmt: skip
        return out, log_p, work


def _mask(nodes: Iterable[int]) -> int:
    found = 0
    for node in nodes:
        found |= 1 << node
    return found


def _connected(near: Sequence[int], mask: int) -> int:
    """All nodes that can be reached from these."""
    found = 0
    while mask:
        found |= mask
        new = 0
        for node in bits(mask):
            new |= near[node]
        mask = new & ~found
    return found
