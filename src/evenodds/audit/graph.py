"""Is a prediction even, by a graph of what depends on what? Three criteria, each a question of d-separation.

    independence   A ⟂ Ŷ        the prediction tells nothing of the group
    separation     A ⟂ Ŷ | Y    nothing beyond what the truth tells: equal error rates
    sufficiency    A ⟂ Y | Ŷ    the prediction says all that the group would: one meaning for all groups

A path from the group to the prediction that nothing blocks is what breaks one; the input through which it enters the
prediction is a proxy.

>>> loans = "sex -> job; job, thrift -> repaid; job, thrift -> granted"
>>> for sentence in by_graph(loans, "sex", "repaid", predicted="granted").sentences():
...     print(sentence)
independence, sex ⟂ granted: no, a path is open: sex -> job -> granted.
separation, sex ⟂ granted given repaid: no, 2 paths are open: sex -> job -> granted; ...
sufficiency, sex ⟂ repaid given granted: no, 2 paths are open: sex -> job -> repaid; ...
granted gets to see sex through job. Without it, sex and granted would be independent; thrift would be left to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net.d_separation import Separation, d_separated, reachable
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.information import information
from evenodds.show import Frame

LIMITS = (
    "A graph is what somebody believes, or what a search found: what follows from it holds as far as it does.",
    "It says whether a path is open, not how much flows: an open path may carry nothing, two may cancel.",
    "A cause that is not in the graph opens paths that are not seen here.",
    "It does not say what is fair: a path through what the task needs may be right, one through a proxy wrong.",
)


@dataclass(frozen=True, eq=False, repr=False)
class GraphAudit:
    """Three criteria of even treatment, the open paths that break them, and the inputs through which they go."""

    structure: Structure
    by: str
    target: str
    predicted: str
    criteria: Mapping[str, Separation]
    proxies: Frame
    bits: Mapping[str, float]  # how much flows, where the tables of the network say so
    unknown: tuple[str, ...] = ()  # inputs that the graph does not have

    def sentences(self) -> list[str]:
        """In plain words, the criteria first."""
        found = []
        for name, one in self.criteria.items():
            given = f" given {', '.join(one.given)}" if one.given else ""
            start = f"{name}, {one.a[0]} ⟂ {one.b[0]}{given}"
            bits = f" ({self.bits[name]:.3g} bits)" if name in self.bits else ""
            if one:
                found.append(
                    f"{start}: yes, {'every path is blocked' if one.paths else 'no path connects them'}{bits}."
                )
                continue
            paths = [str(path).partition(":")[0] for path in one.paths if path.open]
            many = "a path is open" if len(paths) == 1 else f"{len(paths)} paths are open"
            more = "" if one.complete else " or more"
            shown = "; ".join(paths[:3]) + ("; …" if len(paths) > 3 or more else ".")
            found.append(f"{start}: no, {many}{more}{bits}: {shown}")
        found.append(self._inputs())
        if self.unknown:
            found.append(f"Of these inputs the graph says nothing: {', '.join(self.unknown)}.")
        return found

    def _inputs(self) -> str:
        used = self.by in self.structure.parents[self.predicted]
        through = [row["input"] for row in self.proxies if row["tells"]]
        left = [row["input"] for row in self.proxies if not row["tells"]]
        if not used and not through:
            return f"{self.predicted} does not get to see {self.by}, neither itself nor through an input."
        ways = [*(["directly"] if used else []), *([f"through {', '.join(through)}"] if through else [])]
        many = "it" if len(through) + used == 1 else "them"
        seen = f"{self.predicted} gets to see {self.by} {' and '.join(ways)}."
        if not d_separated(self.structure.with_parents(self.predicted, left), self.by, self.predicted):
            return f"{seen} Without {many} other paths would still be open."
        rest = f"{', '.join(left)} would be left to it" if left else "nothing would be left to it"
        return f"{seen} Without {many}, {self.by} and {self.predicted} would be independent; {rest}."

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        criteria = {
            name: {"holds": one.separated, "given": list(one.given), "bits": self.bits.get(name)}
            | {"paths": one.frame.to_dicts(), "complete": one.complete}
            for name, one in self.criteria.items()
        }
        names = {"by": self.by, "target": self.target, "predicted": self.predicted, "unknown": list(self.unknown)}
        more = {"proxies": self.proxies.to_dicts(), "sentences": self.sentences(), "limits": list(LIMITS)}
        return {"graph": str(self.structure), **names, "criteria": criteria, **more}

    def __repr__(self) -> str:
        paths = [f"{name}: {one!r}" for name, one in self.criteria.items()]
        proxies = [f"Inputs of {self.predicted}:\n{self.proxies}"] if len(self.proxies) else []
        return "\n\n".join(["\n".join(LIMITS), *paths, *proxies, "\n".join(self.sentences())])


def by_graph(
    graph: Any, by: str, target: str, predicted: str | None = None, inputs: Iterable[str] | None = None
) -> GraphAudit:
    """Whether a prediction is even by a graph: a structure, a string such as 'a -> b', or a network.

    The prediction is a node of the graph, `predicted`; or it is what a model makes of `inputs`: then it is added as
    their child. A network's tables say how much flows, in bits, to what is a node of it.
    """
    network = graph if isinstance(graph, Network) else getattr(graph, "network", None)
    structure = network.structure if isinstance(network, Network) else Structure.of(graph)
    structure.check(by, target)
    given = tuple(dict.fromkeys(inputs or ()))
    if (predicted is None) == (inputs is None):
        raise DataError("what is the prediction? Give predicted=, a node of the graph, or inputs=, what a model reads")
    for name in given:
        if name == target:
            raise DataError(f"{target!r} is what is predicted: it cannot be an input of the prediction")
    unknown = tuple(name for name in given if name not in structure.parents)
    if predicted is None:
        predicted = f"said {target}"
        if predicted in structure.parents:
            raise DataError(f"the graph has a node {predicted!r}: if it is the prediction, name it with predicted=")
        structure = Structure(
            {**structure.parents, predicted: tuple(name for name in given if name in structure.parents)}
        )
    structure.check(predicted)
    if len({by, target, predicted}) < 3:
        raise DataError(f"group {by!r}, target {target!r} and prediction {predicted!r}: expected three different nodes")
    questions = {
        "independence": d_separated(structure, by, predicted),
        "separation": d_separated(structure, by, predicted, given=target),
        "sufficiency": d_separated(structure, by, target, given=predicted),
    }
    tables = network if isinstance(network, Network) else None
    proxies = _proxies(structure, by, target, predicted, tables)
    return GraphAudit(structure, by, target, predicted, questions, proxies, _bits(tables, questions), unknown)


def _proxies(structure: Structure, group: str, target: str, said: str, network: Network | None) -> Frame:
    """The inputs of the prediction: whether each tells the group, at all and within a class, and how."""
    reach, within = reachable(structure, [group], set()), reachable(structure, [group], {target})
    found = []
    for name in structure.parents[said]:
        if name in (group, target):
            continue
        paths = [path for path in d_separated(structure, group, name).paths if path.open]
        line: dict[str, Any] = {"input": name, "tells": name in reach, "tells in class": name in within}
        if network is not None and name in network.states and group in network.states:
            joint = network.query(group, name).probabilities
            line["share of group"] = information(joint).nats / max(_entropy(joint.sum(axis=1)), 1e-300)
        found.append({**line, "by": str(paths[0]).partition(":")[0] if paths else ""})
    return Frame(found)


def _bits(network: Network | None, questions: Mapping[str, Separation]) -> dict[str, float]:
    """How much flows against each criterion: the (conditional) mutual information, in bits."""
    found = {}
    for name, one in questions.items():
        nodes = (*one.a, *one.b, *one.given)
        if network is not None and all(node in network.states for node in nodes):
            joint = network.query(*nodes).probabilities
            within = joint if joint.ndim == 2 else np.moveaxis(joint, -1, 0)  # a layer for each value that is given
            found[name] = information(within).nats / float(np.log(2))
    return found


def _entropy(p: Floats) -> float:
    some = p > 0
    return float(-(p[some] * np.log(p[some])).sum())
