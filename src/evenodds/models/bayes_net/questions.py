"""What can be asked of a network, learnt or given: the same of the value and of the estimator around it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenodds.arguments import one_of, tail_of, whole
from evenodds.errors import DataError
from evenodds.families.distribution import Seed, generator
from evenodds.models.bayes_net import d_separation
from evenodds.models.bayes_net.answers import Answer
from evenodds.models.bayes_net.sampling import draw, gibbs, weighted
from evenodds.models.bayes_net.scores import ESS, Criterion
from evenodds.models.bayes_net.tables import configurations
from evenodds.show import Frame, apart, plain

if TYPE_CHECKING:
    from evenodds.models.bayes_net.d_separation import Names, Separation
    from evenodds.models.bayes_net.network import Network
    from evenodds.models.bayes_net.structure import Structure

Method = Literal["exact", "weighting", "gibbs"]
METHODS: tuple[Method, ...] = ("exact", "weighting", "gibbs")
DRAWS = 100_000  # of an answer that is not exact
Evidence = Mapping[str, Any] | None


class Questions:
    """Questions to a network. Evidence is `given`, a mapping, or names and values behind it: `sex="male"`.

    A value is seen; a mapping of states to likelihoods is soft evidence; a set is one of these.
    """

    @property
    def network(self) -> Network:
        """The network that answers."""
        raise NotImplementedError

    @property
    def graph_(self) -> Structure:
        """The graph alone."""
        return self.network.structure

    # -- probabilities -----------------------------------------------------------------------------------------------

    def query(
        self, *nodes: str, given: Evidence = None, method: Method = "exact", draws: int = DRAWS,
        random_state: Seed = None, **evidence: Any,
    ) -> Answer:  # fmt: skip
        """p(nodes | evidence): of one node, or of several together.

        `method` "weighting" and "gibbs" answer from so many draws where an exact answer would be too large.
        """
        network = self.network
        asked = network.places(nodes)
        if not nodes or len(set(nodes)) < len(nodes):
            raise DataError(
                "name the nodes that are asked for, each once" if nodes else "name a node that is asked for"
            )
        hard, soft = network.evidence(given, evidence)
        for node, place in zip(nodes, asked):
            if place in hard:
                raise DataError(f"node {node!r} is asked for and given too: leave it out on one side")
        if method == "exact":
            found = network.inference.query(asked, hard, soft)
        else:
            one_of("method", method, METHODS)
            draws = whole("draws", draws)
            how = weighted if method == "weighting" else gibbs
            found = how(network.plan, network.flat, network.order, asked, hard, soft, draws, random_state)
        return Answer(tuple(nodes), tuple(network.states[node] for node in nodes), found)

    def query_interval(
        self, *nodes: str, given: Evidence = None, level: float = 0.95, draws: int = 1000, random_state: Seed = 0,
        **evidence: Any,
    ) -> Answer:  # fmt: skip
        """p(nodes | evidence) with an interval for each: what is not known of the tables, carried to the answer.

        Tables are drawn from what their tallies leave open, and the question is asked of each; tables given by hand
        are taken as certain.
        """
        network = self.network
        tail = tail_of(level)
        draws = whole("draws", draws)
        answer = self.query(*nodes, given=given, **evidence)
        hard, soft = network.evidence(given, evidence)
        found = network.redrawn(network.places(nodes), hard, soft, draws, generator(random_state))
        low, high = np.quantile(found, [tail, 1 - tail], axis=0)
        return Answer(answer.nodes, answer.states, answer.probabilities, low, high)

    def log_evidence(self, given: Evidence = None, **evidence: Any) -> float:
        """log p(evidence); -inf where it is impossible."""
        return self.network.inference.log_evidence(*self.network.evidence(given, evidence))

    def evidence_prob(self, given: Evidence = None, **evidence: Any) -> float:
        """p(evidence); of soft evidence, its expected likelihood."""
        return math.exp(self.log_evidence(given, **evidence))

    def marginals(self, given: Evidence = None, **evidence: Any) -> dict[str, Answer]:
        """p(node | evidence) of every node, all at once."""
        network = self.network
        found = network.inference.marginals(*network.evidence(given, evidence))
        return {
            node: Answer((node,), (network.states[node],), p) for node, p in zip(network.structure.nodes, found)
        }  # fmt: skip

    def most_probable(self, given: Evidence = None, **evidence: Any) -> dict[str, str]:
        """The most probable values of all nodes together, given the evidence."""
        network = self.network
        found = network.inference.most_probable(*network.evidence(given, evidence))
        return {node: network.states[node][i] for node, i in zip(network.structure.nodes, found)}

    def sample(self, n_samples: int = 1, given: Evidence = None, random_state: Seed = None) -> Any:
        """Rows drawn from the network, a pyarrow Table; with evidence, from the rows that have it."""
        import pyarrow as pa

        network = self.network
        hard, soft = network.evidence(given, {})
        rng = generator(random_state)
        n_samples = whole("n_samples", n_samples, least=0)
        if soft:
            raise DataError("rows are drawn given values, not given likelihoods")
        if hard:
            codes = network.inference.draw(network.order, hard, n_samples, rng)
        else:
            codes, _ = draw(network.plan, network.flat, network.order, n_samples, rng)
        columns = {}
        for j, node in enumerate(network.structure.nodes):
            values = pa.array(network.values(node))
            columns[node] = values.take(pa.array(codes[:, j]))
        return pa.table(columns)

    # -- independence ------------------------------------------------------------------------------------------------

    def d_separated(self, a: Names, b: Names, given: Names | None = None, most: int = d_separation.PATHS) -> Separation:
        """Whether the graph makes a and b independent given some nodes; printed, path by path why."""
        return d_separation.d_separated(self.graph_, a, b, given, most)

    def independences(self, largest: int | None = None) -> Frame:
        """All independences that the graph implies, given up to `largest` nodes."""
        return d_separation.independences(self.graph_, largest)

    def separating_sets(self, a: str, b: str, most: int = d_separation.PATHS) -> list[tuple[str, ...]]:
        """The minimal sets of nodes given which a and b are independent; none where an edge connects them."""
        return d_separation.separating_sets(self.graph_, a, b, most)

    def blanket(self, node: str) -> list[str]:
        """The nodes that are all one needs to know of to know about a node: its Markov blanket."""
        return self.graph_.blanket(node)

    # -- what it is made of ------------------------------------------------------------------------------------------

    @property
    def n_parameters(self) -> dict[str, int]:
        """How many numbers the tables need, beside what a table of all nodes together would."""
        network = self.network
        sizes = [max(size, 1) for size in network.plan.sizes]  # of a node that was forgotten nothing is left
        tables = sum(
            math.prod([sizes[i] for i in family[:-1]]) * (sizes[family[-1]] - 1) for family in network.plan.families
        )
        return {"network": tables, "joint": math.prod(sizes) - 1}

    def table(self, node: str, level: float = 0.95) -> Frame:
        """p(node | parents), line by line; with intervals where it was learnt."""
        network = self.network
        network.structure.check(node)
        parents, states, posterior = network.structure.parents[node], network.states, network.posterior(node)
        table = network.tables[node].reshape(-1, len(states[node]))
        low, high = (None, None) if posterior is None else posterior.interval(level)
        lines = []
        for i, values in enumerate(configurations(parents, states)):
            for j, state in enumerate(states[node]):
                figures: dict[str, Any] = {"p": table[i, j]}
                if low is not None and high is not None:
                    figures |= {"low": low[j, i], "high": high[j, i], "count": plain(network.counts[node][i, j])}
                lines.append({**dict(zip(parents, values)), node: state, **apart(figures, (*parents, node))})
        return Frame(lines, f"p({node} | {', '.join(parents)})" if parents else f"p({node})")

    def structure_score(self, criterion: Criterion = "bic", ess: float = ESS) -> float:
        """How well the graph fits what was learnt: see `scores`. More is better, of BIC too."""
        return self.network.structure_score(criterion, ess)

    def to_bif(self) -> str:
        """The network as text in the Bayesian interchange format."""
        from evenodds.models.bayes_net.bif import to_text

        return to_text(self.network.structure, self.network.states, self.network.tables)

    def write_bif(self, path: Any) -> None:
        """Write the network as a BIF file."""
        from evenodds.models.bayes_net.bif import write

        write(path, self.to_bif())

    def picture(self) -> str:
        """The graph as SVG; nodes that are alike but for a number at their end are drawn once, on a plate."""
        from evenodds.models.bayes_net.picture import picture

        return picture(self.graph_)

    def log_prob(self, X: Any) -> Any:
        """log p(row) of every row, missing cells integrated out."""
        return self.network.log_prob(X)
