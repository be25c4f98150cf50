"""Exact answers: programs are compiled once for each kind of question, and kept.

A network whose tree of cliques is small answers most questions from that one tree, with evidence entered as
likelihoods; other questions get a program of their own, in which evidence is no axis of any table. Both say the same.
"""

from __future__ import annotations

import functools
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import Ints
from evenodds.logs import log_sum
from evenodds.models.bayes_net.program import Asked, Plan, Program
from evenodds.models.bayes_net.sampling import picked
from evenodds.models.patterns import Flags, patterns

KEPT = 256  # programs
SMALL = 1 << 15  # cells of the whole tree, up to which it answers instead of a program of its own
RARE = 50  # rows of one pattern of evidence, below which a program of their own is not worth its while
BLOCK = 1 << 12  # rows at once
FAINT = 1e-300  # of a probability: below it a double has lost digits, or is 0

Hard = Mapping[int, int]
Soft = Mapping[int, Floats]
NOTHING = np.zeros((1, 0), np.int64)


class Impossible(DataError):  # noqa: N818  it says what the evidence is
    """The evidence has probability 0, so nothing can be said given it."""


class Inference:
    """A network in numbers with its tables, and the programs that were compiled for it."""

    def __init__(self, plan: Plan, tables: Floats, states: Sequence[Sequence[str]] = ()) -> None:
        self.plan, self.tables, self.states = plan, tables, states  # states: of each node, for messages
        self._programs: OrderedDict[Asked, Program] = OrderedDict()
        self._whole: Program | DataError | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Inference], tuple[Plan, Floats, Sequence[Sequence[str]]]]:
        return Inference, (self.plan, self.tables, self.states)

    def program(self, asked: Asked) -> Program:
        """The program for a question; the last few hundred are kept."""
        with self._lock:
            found = self._programs.pop(asked, None)
        found = found or Program(self.plan, asked)
        with self._lock:
            self._programs[asked] = found
            while len(self._programs) > KEPT:
                self._programs.popitem(last=False)
        return found

    def _fitting(self, asked: Asked) -> Program:
        """The same, or a smaller one: without what the evidence separates, so that it is not known to be possible."""
        try:
            return self.program(asked)
        except DataError:
            return self.program(asked._replace(whole=False))

    @property
    def whole(self) -> Program:
        """The program of all marginals, in which evidence is entered as likelihoods."""
        if self._whole is None:
            every = tuple(range(len(self.plan.names)))
            try:
                self._whole = Program(self.plan, Asked(soft=every, want="marginals"))
            except DataError as error:
                self._whole = error
        if isinstance(self._whole, DataError):
            raise self._whole
        return self._whole

    @property
    def small(self) -> bool:
        """Whether the whole tree is small enough to answer every question."""
        try:
            return self.whole.tree.cells <= SMALL
        except DataError:
            return False

    # -- one question ------------------------------------------------------------------------------------------------

    def query(self, nodes: Sequence[int], hard: Hard, soft: Soft) -> Floats:
        """p(nodes | evidence), with an axis for each node."""
        if len(nodes) == 1 and self.small:
            out, log_p = self._from_whole(hard, soft)
            answer = out[self._slice(nodes[0])]
        else:
            program = self._fitting(Asked(tuple(nodes), tuple(hard), tuple(soft)))
            found, log, _ = program.run(self.tables, *entered(program, hard, soft))
            answer, log_p = found[0], float(log[0])
        if log_p == -math.inf or not math.isfinite(float(answer.sum())) or not answer.any():
            raise self._impossible(hard, soft)
        return answer.reshape([self.plan.sizes[i] for i in nodes]).copy()

    def log_evidence(self, hard: Hard, soft: Soft) -> float:
        """log p(evidence); -inf where it is impossible."""
        if self.small:
            return self._from_whole(hard, soft)[1]
        program = self.program(Asked((), tuple(hard), tuple(soft)))
        return float(program.run(self.tables, *entered(program, hard, soft))[1][0])

    def marginals(self, hard: Hard, soft: Soft) -> list[Floats]:
        """p(node | evidence) of every node; 0 and 1 for those whose value is given."""
        sizes = self.plan.sizes
        try:
            out, log_p = self._from_whole(hard, soft)
            found = [out[self._slice(i)] for i in range(len(sizes))]
        except DataError:
            if not hard:
                raise
            program = self.program(Asked((), tuple(hard), tuple(soft), "marginals"))
            answer, log, _ = program.run(self.tables, *entered(program, hard, soft))
            log_p = float(log[0])
            found = [np.eye(sizes[i])[hard.get(i, 0)] for i in range(len(sizes))]
            for node, at in program.out_at.items():
                found[node] = answer[0, at - program.at_out : at - program.at_out + sizes[node]]
        if log_p == -math.inf:
            raise self._impossible(hard, soft)
        return found

    def most_probable(self, hard: Hard, soft: Soft) -> list[int]:
        """The most probable values of all nodes together, given the evidence."""
        program = self.program(Asked((), tuple(hard), tuple(soft), "most"))
        _, log_p, work = program.run(self.tables, *entered(program, hard, soft))
        if log_p[0] == -math.inf:
            raise self._impossible(hard, soft)
        found = [hard.get(i, -1) for i in range(len(self.plan.sizes))]
        for i in reversed(range(len(program.tree.cliques))):
            members, start = program.members[i], program.starts[i]
            shape = [self.plan.sizes[node] for node in members]
            table = work[start : start + math.prod(shape)].reshape(shape)
            known = tuple(slice(None) if found[node] < 0 else found[node] for node in members)
            part = table[known]
            best = np.unravel_index(int(np.argmax(part)), part.shape)
            for node, value in zip([node for node in members if found[node] < 0], best):
                found[node] = int(value)
        return found

    def log_joint(self, codes: Ints) -> Floats:
        """log p of whole rows (rows, nodes): the sum of one cell of each table."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.tables)
        total = np.zeros(len(codes))
        for start, family in zip(self.plan.starts, self.plan.families):
            total += logs[start + codes[:, list(family)] @ np.array(self.plan.strides(family))]
        return total

    def _from_whole(self, hard: Hard, soft: Soft) -> tuple[Floats, float]:
        program, sizes = self.whole, self.plan.sizes
        given = np.ones((1, program.at_out - program.at_given))
        for node, value in hard.items():
            at = program.given_at[node] - program.at_given
            given[0, at : at + sizes[node]] = 0.0
            given[0, at + value] = 1.0
        for node, weights in soft.items():
            at = program.given_at[node] - program.at_given
            given[0, at : at + len(weights)] = weights
        out, log_p, _ = program.run(self.tables, NOTHING, given)
        return out[0], float(log_p[0])

    def _likelihoods(self, codes: Ints) -> Floats:
        """Rows (rows, nodes) as the whole tree takes them: 1 for what is seen, and for all where nothing is."""
        owner, state = self._places
        seen = codes[:, owner]
        return ((seen < 0) | (seen == state)).astype(np.float64)

    @functools.cached_property
    def _places(self) -> tuple[Ints, Ints]:
        """Of each likelihood that the whole tree takes, the node and which of its states it is of."""
        nodes = list(self.whole.given_at)
        sizes = [self.plan.sizes[node] for node in nodes]
        return np.repeat(nodes, sizes), np.concatenate([np.arange(size) for size in sizes])

    def _slice(self, node: int) -> slice:
        at = self.whole.out_at[node] - self.whole.at_out
        return slice(at, at + self.plan.sizes[node])

    def _impossible(self, hard: Hard, soft: Soft) -> Impossible:
        """Which finding made the evidence impossible: the first that has probability 0 given those before it."""
        names, so_far = self.plan.names, dict[int, int]()
        for node, value in hard.items():
            so_far[node] = value
            if self.log_evidence(so_far, {}) == -math.inf:
                others = ", ".join(self._said(other, so_far) for other in so_far if other != node)
                given = f" given {others}" if others else ""
                return Impossible(f"the evidence has probability 0: {self._said(node, so_far)} is impossible{given}")
        about = ", ".join(names[node] for node in soft)
        return Impossible(f"the evidence has probability 0: what is said of {about} is impossible")

    def _said(self, node: int, hard: Hard) -> str:
        value = self.states[node][hard[node]] if self.states else hard[node]
        return f"{self.plan.names[node]} = {value}"

    # -- many rows ---------------------------------------------------------------------------------------------------

    def posterior(self, target: int, codes: Ints) -> tuple[Floats, Flags]:
        """p(target | row) of many rows (rows, nodes), -1 where a cell is missing, and which rows are impossible."""
        others = codes.copy()
        others[:, target] = -1
        # what the evidence separates is looked at only where it may be impossible: it changes no answer
        found, log_p = self._rows((target,), others, whole=not self.tables.all())
        return found, log_p == -np.inf

    def log_posterior(self, target: int, codes: Ints) -> tuple[Floats, Flags]:
        """The log of it. Where a probability is too small for a double, p(value, row) is asked for of each value.

        Where that needs too large a table, a probability that is 0 as a double stays so.
        """
        found, impossible = self.posterior(target, codes)
        with np.errstate(divide="ignore"):
            logs = np.log(found)
        faint = np.flatnonzero(np.any(found < FAINT, axis=1) & ~impossible)
        if not len(faint):
            return logs, impossible
        values = found.shape[1]
        # of a large network some patterns of evidence may be too large, and others are not
        for rows in [faint] if self.small else [faint[some] for _, some in patterns(codes[faint] >= 0)]:
            each = np.repeat(codes[rows], values, axis=0)
            each[:, target] = np.tile(np.arange(values), len(rows))
            try:
                joint = self.log_prob(each).reshape(len(rows), values)
            except DataError:
                continue
            logs[rows] = joint - log_sum(joint)[:, None]
        return logs, impossible

    def log_prob(self, codes: Ints) -> Floats:
        """log p of many rows (rows, nodes), -1 where a cell is missing: it is integrated out."""
        found, known = np.empty(len(codes)), (codes >= 0).all(axis=1)
        found[known] = self.log_joint(codes[known])
        found[~known] = self._rows((), codes[~known])[1]
        return found

    def _rows(self, query: tuple[int, ...], codes: Ints, whole: bool = True) -> tuple[Floats, Floats]:
        """p(query | row) of a node or of none, and log p of what each row has: of all of it, if `whole`.

        Rows are grouped by which nodes are known; each group has its program, and rare groups share the whole tree.
        """
        found = np.empty((len(codes), math.prod([self.plan.sizes[i] for i in query])))
        log_p, rare = np.empty(len(codes)), []
        for pattern, rows in patterns(codes >= 0):
            if len(rows) < RARE and self.small:
                rare.append(rows)
                continue
            program = self._fitting(Asked(query, tuple(np.flatnonzero(pattern).tolist()), whole=whole))
            found[rows], log_p[rows], _ = program.run(self.tables, np.ascontiguousarray(codes[rows][:, pattern]))
        for rows in rare and np.array_split(np.concatenate(rare), -(-sum(map(len, rare)) // BLOCK)):
            nothing = np.zeros((len(rows), 0), np.int64)
            out, log_p[rows], _ = self.whole.run(self.tables, nothing, self._likelihoods(codes[rows]))
            for node in query:
                found[rows] = out[:, self._slice(node)]
        return found, log_p

    def draw(self, order: Sequence[int], hard: Hard, size: int, rng: np.random.Generator) -> Ints:
        """Rows (size, nodes) drawn given the evidence: node by node, each given all that was drawn before it."""
        codes = np.full((size, len(self.plan.names)), -1, np.int64)
        for node, value in hard.items():
            codes[:, node] = value
        known = tuple(hard)
        for node in order:
            if node in hard:
                continue
            asked = Asked((node,), known)
            first = len(known) == len(hard)  # which says whether the evidence is possible
            program = self._fitting(asked) if first else self.program(asked._replace(whole=False))
            p, log_p, _ = program.run(self.tables, np.ascontiguousarray(codes[:, list(known)]))
            if np.any(log_p == -np.inf):
                raise self._impossible(hard, {})
            codes[:, node] = picked(np.cumsum(p, axis=1), rng)
            known = (*known, node)
        return codes


def entered(program: Program, hard: Hard, soft: Soft) -> tuple[Ints, Floats]:
    """Evidence as a program takes it: the values that were seen, and the likelihoods, of one row."""
    evidence = np.array([[hard[i] for i in program.asked.hard]], np.int64).reshape(1, -1)
    return evidence, np.concatenate([np.ones(0), *(soft[i] for i in program.asked.soft)])[None]
