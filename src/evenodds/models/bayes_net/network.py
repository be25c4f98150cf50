"""A Bayesian network as a value: a graph, the states of its nodes, and a table for each.

    p(all nodes) = Π p(node | parents)

What was learnt is in its tallies, one for each table, so networks of one graph add, subtract and fade; tables are
formed from them when they are needed. Tables given by hand have no tally, and stay as they are.

>>> network = Network.given("burglary, earthquake -> alarm; alarm -> john, mary", {
...     "burglary": {"yes": 0.001, "no": 0.999},
...     "earthquake": {"yes": 0.002, "no": 0.998},
...     "alarm": {("yes", "yes"): {"yes": 0.95, "no": 0.05}, ("yes", "no"): {"yes": 0.94, "no": 0.06},
...               ("no", "yes"): {"yes": 0.29, "no": 0.71}, ("no", "no"): {"yes": 0.001, "no": 0.999}},
...     "john": {"yes": {"yes": 0.9, "no": 0.1}, "no": {"yes": 0.05, "no": 0.95}},
...     "mary": {"yes": {"yes": 0.7, "no": 0.3}, "no": {"yes": 0.01, "no": 0.99}}})
>>> network.query("burglary", john="yes", mary="yes")
burglary       p
yes       0.2842
no        0.7158
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.arguments import amount
from evenodds.data.memory import table as as_table
from evenodds.errors import DataError, many
from evenodds.families import Dirichlet
from evenodds.families.leaves import Floats
from evenodds.labels import Ints, values_of
from evenodds.models.bayes_net import bif
from evenodds.models.bayes_net.answers import likelihood
from evenodds.models.bayes_net.inference import Inference, entered
from evenodds.models.bayes_net.program import Asked, Plan
from evenodds.models.bayes_net.questions import Questions
from evenodds.models.bayes_net.reading import Columns
from evenodds.models.bayes_net.scores import ESS, Criterion, check_criterion, family_score
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.tables import States, check_size, check_values, read_states, read_tables
from evenodds.models.bayes_net.tallies import Settings, dense, drawn_from, occurring, posterior_of, table_of
from evenodds.models.never_learnt import never_learnt
from evenodds.models.saved import Saved
from evenodds.replacing import Path
from evenodds.show import whole
from evenodds.tally import Tally

NO_COLUMNS = Columns({}, {})


@dataclass(frozen=True, eq=False)
class Network(Questions, Saved):
    """A graph with a table for each node; immutable, safe to share between threads, and a sum of what it has learnt."""

    structure: Structure
    told: States  # the states that some nodes have in any case, and their order
    by_hand: Mapping[str, Floats] = field(default_factory=dict)  # tables that are not learnt
    tallies: Mapping[str, Tally] = field(default_factory=dict)  # of all other nodes
    settings: Settings = field(default_factory=Settings)
    columns: Columns = NO_COLUMNS  # how the nodes' columns are read
    target: str | None = None  # the node that is told from the others, if one is
    kind = "network"

    @classmethod
    def given(
        cls, structure: Any, tables: Mapping[str, Any], states: Mapping[str, Iterable[Any]] | None = None
    ) -> Network:
        """A network whose tables are all given."""
        graph = Structure.of(structure)
        known, arrays = read_tables(graph, tables, read_states(states))
        for node in graph.nodes:
            if node not in arrays:
                raise DataError(f"node {node!r} has no table: give one, or fit the network")
        return cls(graph, {node: known[node] for node in graph.nodes}, arrays)

    @classmethod
    def read(cls, path: Path, encoding: str | None = None) -> Network:
        """The network in a BIF file."""
        states, parents, tables = bif.read(path, encoding)
        try:
            return cls(Structure.of(parents), states, tables)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None

    @classmethod
    def learnt(
        cls, structure: Structure, tallies: Mapping[str, Tally], settings: Settings, columns: Columns,
        states: States | None = None, by_hand: Mapping[str, Floats] | None = None,
    ) -> Network:  # fmt: skip
        """The network of some tallies; states that are not told are those that occur."""
        told = dict(states or {})
        for node, known in told.items():
            check_values(node, occurring(structure, tallies, node), known)
        return cls(structure, told, dict(by_hand or {}), dict(tallies), settings, columns)

    @functools.cached_property
    def states(self) -> dict[str, tuple[str, ...]]:
        """Each node's states: those that were told, and those that occur; none of a node of which nothing is known."""
        every = {node: occurring(self.structure, self.tallies, node) for node in self.structure.nodes}
        return {node: self._states(node, self.told.get(node, ()), found) for node, found in every.items()}

    def _states(self, node: str, known: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
        """The states that are known, with more of them in their place among these."""
        return known if set(more) <= set(known) else self.columns.order(node, sorted({*known, *more}))

    def expecting(self, node: str, states: Iterable[str]) -> Network:
        """The same network, which has these states of a node whether they occur or not."""
        return dataclasses.replace(
            self, told={**self.told, node: self._states(node, self.told.get(node, ()), set(states))}
        )

    @property
    def network(self) -> Network:
        """Itself."""
        return self

    # -- a network is a sum ------------------------------------------------------------------------------------------

    def __add__(self, other: Network) -> Network:
        return self._plus(other, 1)

    def __radd__(self, other: object) -> Network:  # sum() starts from 0
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Network) -> Network:
        return self._plus(other, -1)

    def _plus(self, other: Network, sign: int) -> Network:
        if not isinstance(other, Network):
            return NotImplemented
        if self.structure != other.structure or not self.tallies or self.tallies.keys() != other.tallies.keys():
            raise DataError("networks add where they have learnt the tables of one graph")
        if any(self.states[node] != other.states[node] for node in self.fixed) or any(
            not np.array_equal(table, other.by_hand[node]) for node, table in self.by_hand.items()
        ):
            raise DataError("networks add where their tables given by hand are the same")
        if self.columns != other.columns:
            raise DataError("the columns of the two networks are read differently: cut and type them alike")
        target = self.target
        if sign > 0:
            self.settings.check(other.settings)
            target = self.target or other.target
            if other.target not in (None, target):
                raise DataError(f"one network tells {target!r}, the other {other.target!r}: let both tell the same")
        found = {}
        for node, mine in self.tallies.items():
            theirs = other.tallies[node]
            found[node] = mine + theirs if sign > 0 else mine - theirs
            if sign < 0 and (less := never_learnt(found[node])) is not None:
                raise DataError(f"cannot forget what was never learnt: {less}")
        told = dict(self.told)
        for node, states in other.told.items() if sign > 0 else ():
            told[node] = self._states(node, told[node], states) if node in told else states
        return dataclasses.replace(self, told=told, tallies=found, target=target)

    @property
    def fixed(self) -> set[str]:
        """The nodes whose states are those of tables given by hand."""
        return {name for node in self.by_hand for name in (*self.structure.parents[node], node)}

    def fade(self, factor: float) -> Network:
        """All evidence so far, worth `factor` times as much."""
        factor = amount("factor", factor)
        tallies = {node: (tally * factor).trimmed() for node, tally in self.tallies.items()}
        return dataclasses.replace(self, tallies=tallies)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Network)
            and dict(self.structure.parents) == dict(other.structure.parents)
            and dict(self.states) == dict(other.states)
            and self.by_hand.keys() == other.by_hand.keys()
            and all(np.array_equal(table, other.by_hand[node]) for node, table in self.by_hand.items())
            and dict(self.tallies) == dict(other.tallies)
            and self.settings == other.settings
            and self.columns == other.columns
            and self.target == other.target
        )

    def __repr__(self) -> str:
        size = self.n_parameters
        return (
            f"Network({many(len(self.structure.nodes), 'node')}, {many(len(self.structure.edges), 'edge')}, "
            f"{many(size['network'], 'parameter')}; the full joint has {whole(size['joint'], 10**9)})"
        )

    def telling(self, target: str | None) -> Network:
        """The same network, which tells a node from the others."""
        if target is not None:
            self.structure.check(target)
        return self if target == self.target else dataclasses.replace(self, target=target)

    # -- tables ------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def counts(self) -> dict[str, Floats]:
        """What was counted for each table that was learnt, (parents' values, states)."""
        found, cells = {}, 0
        for node, tally in self.tallies.items():
            check_size(node, self._shape(node), cells)
            found[node] = dense(tally, node, self.structure.parents[node], self.states)
            cells += found[node].size
        return found

    def _shape(self, node: str) -> tuple[int, ...]:
        return tuple(len(self.states[name]) for name in (*self.structure.parents[node], node))

    @functools.cached_property
    def tables(self) -> dict[str, Floats]:
        """p(node | parents) of every node, with an axis for each parent and the last for the node itself."""
        found = {}
        for node in self.structure.nodes:
            if node in self.by_hand:
                found[node] = self.by_hand[node]
                continue
            if not self.states[node]:
                raise DataError(f"node {node!r} has no states: nothing that is left was learnt of it")
            found[node] = table_of(self.counts[node], self.settings).reshape(self._shape(node))
        return found

    def posterior(self, node: str) -> Dirichlet | None:
        """What is known of each row of a learnt table, its values along the first axis; None of a table by hand."""
        if node not in self.tallies:
            return None
        return Dirichlet(posterior_of(self.counts[node], self.settings).T)

    @property
    def rows(self) -> float:
        """How many rows were learnt, by weight: those of the table that has most."""
        return max((float(counts.sum()) for counts in self.counts.values()), default=0.0)

    def structure_score(self, criterion: Criterion = "bic", ess: float = ESS) -> float:
        """How well the graph fits what was learnt; more is better."""
        check_criterion(criterion, ess)
        if self.by_hand or not self.tallies:
            raise DataError("a graph is scored by what was counted: fit all of its tables")
        rows = self.rows
        return sum(family_score(counts, criterion, rows, ess) for counts in self.counts.values())

    # -- in numbers --------------------------------------------------------------------------------------------------

    @functools.cached_property
    def plan(self) -> Plan:
        """The graph in numbers."""
        return Plan.of(dict(self.structure.parents), {node: len(states) for node, states in self.states.items()})

    @functools.cached_property
    def flat(self) -> Floats:
        """All tables end to end."""
        return np.concatenate([self.tables[node].ravel() for node in self.structure.nodes])

    @functools.cached_property
    def order(self) -> list[int]:
        """The nodes' places, parents before their children."""
        return self.places(self.structure.order)

    @functools.cached_property
    def inference(self) -> Inference:
        """What answers exactly."""
        return Inference(self.plan, self.flat, [self.states[node] for node in self.structure.nodes])

    @functools.cached_property
    def _place(self) -> dict[str, int]:
        return {node: i for i, node in enumerate(self.structure.nodes)}

    def places(self, nodes: Iterable[str]) -> list[int]:
        """Where these nodes are among all."""
        nodes = list(nodes)
        try:
            return [self._place[node] for node in nodes]
        except (KeyError, TypeError):
            self.structure.check(*map(str, nodes))
            raise DataError(f"{nodes!r} are no names of nodes") from None

    def evidence(
        self, given: Mapping[str, Any] | None, more: Mapping[str, Any]
    ) -> tuple[dict[int, int], dict[int, Floats]]:
        """Evidence in numbers: values that were seen, and likelihoods; of a missing value nothing."""
        hard, soft = dict[int, int](), dict[int, Floats]()
        for node, value in {**(given or {}), **more}.items():
            if node not in self._place:
                self.structure.check(str(node))
            if given and node in given and node in more:
                raise DataError(f"node {node!r} is given twice: leave one out")
            if value is None or (isinstance(value, (float, np.floating)) and value != value):
                continue
            found = likelihood(node, value, self.states[node], self.columns.state)
            if isinstance(found, int):
                hard[self._place[node]] = found
            else:
                soft[self._place[node]] = found
        return hard, soft

    def values(self, node: str) -> list[Any]:
        """A node's states as the values they are the texts of."""
        return values_of(self.columns.kinds.get(node, "text"), self.states[node])

    def codes(self, X: Any, wanted: Iterable[str] | None = None) -> Ints:
        """Rows (rows, nodes) as places among the states; -1 where a cell is missing, or its value is no state."""
        rows = as_table(X)
        found = np.full((rows.rows, len(self.structure.nodes)), -1, np.int64)
        for node in self.structure.nodes if wanted is None else wanted:
            if node not in rows.columns:
                continue
            cells = self.columns.cells(node, rows[node])
            place = {state: i for i, state in enumerate(self.states[node])}
            to = np.array([place.get(text, -1) for text in cells.labels.texts()] + [-1], np.int64)
            found[:, self._place[node]] = to[cells.places]
        return found

    def log_prob(self, X: Any) -> Floats:
        """log p(row) of every row; missing cells are integrated out."""
        return self.inference.log_prob(self.codes(X))

    def redrawn(
        self, nodes: list[int], hard: Mapping[int, int], soft: Mapping[int, Floats], draws: int,
        rng: np.random.Generator,
    ) -> Floats:  # fmt: skip
        """The answers to one question under many tables, drawn from what is known of them."""
        program = self.inference.program(Asked(tuple(nodes), tuple(hard), tuple(soft), whole=False))
        evidence = entered(program, hard, soft)
        known = {node: self.posterior(node) for node in self.structure.nodes}
        answers = []
        for _ in range(draws):
            parts = []
            for node, posterior in known.items():
                drawn = self.tables[node] if posterior is None else drawn_from(posterior, self.tables[node], rng)
                parts.append(drawn.ravel())
            answers.append(program.run(np.concatenate(parts), *evidence)[0][0])
        return np.array(answers).reshape(draws, *(self.plan.sizes[i] for i in nodes))
