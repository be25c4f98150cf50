"""A network learnt from any source: its tables in one sum, or by steps where cells are missing; its graph too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

import numpy as np

from evenodds.arguments import one_of
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.errors import DataError, did_you_mean, warn
from evenodds.families.distribution import Seed
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net.answers import NetworkWarning
from evenodds.models.bayes_net.climbing import PARENTS, climb
from evenodds.models.bayes_net.em import fill_in, tally_of
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.reading import WEIGHTLESS, Columns, Encoded, encode, families_of, sum_families
from evenodds.models.bayes_net.scores import ESS, Criterion, check_criterion
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.structure_search import chow_liu, tan
from evenodds.models.bayes_net.tables import States
from evenodds.models.bayes_net.tallies import Settings
from evenodds.tally import Tally

Search = Literal["star", "tan", "chow-liu", "hill-climbing"]
SEARCHES: tuple[Search, ...] = ("star", "tan", "chow-liu", "hill-climbing")
Missing = Literal["ignore", "em"]


@dataclass(frozen=True)
class Wanted:
    """What is to be learnt: a graph that is given, or how it is searched for; and what becomes of missing cells.

    Of a climb `structure` is the start. Where neither is told, the graph is a star. Without a graph `nodes` are the
    columns that it is to have, beside the target; all of them if not told.
    """

    structure: Structure | None = None
    search: Search | None = None
    target: str | None = None
    criterion: Criterion = "bic"
    ess: float = ESS
    required: tuple[tuple[str, str], ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()
    max_parents: int = PARENTS
    missing: Missing = "ignore"
    cuts: Mapping[str, Any] = field(default_factory=dict)
    columns: Columns | None = None  # as other rows were read, where these are to be added to them
    random_state: Seed = 0
    nodes: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.search is not None:
            one_of("search", self.search, SEARCHES)
        if self.missing not in ("ignore", "em"):
            raise ValueError(f"missing={self.missing!r}: expected 'ignore' or 'em'")
        if self.structure is None and self.search in (None, "star", "tan") and self.target is None:
            raise DataError(
                "no graph is given: name one, as in 'rain -> wet', or say how it is searched for, search='tan', which "
                "needs a target: this BayesNet estimator requires y to be passed, but the target y is None"
            )
        check_criterion(self.criterion, self.ess)
        if not (isinstance(self.max_parents, Real) and self.max_parents >= 1):
            raise ValueError(f"max_parents={self.max_parents!r}: expected a number, 1 or more")
        if self.search == "hill-climbing":
            return
        if self.structure is not None and self.search is not None:
            raise ValueError(
                f"search={self.search!r} would find another graph than the one that is given: leave one out"
            )
        if self.required or self.forbidden or self.max_parents != PARENTS:
            raise ValueError("required and forbidden edges and max_parents are for search='hill-climbing'")

    @property
    def graph(self) -> Structure | None:
        """The graph, where it is not searched for."""
        return self.structure if self.search is None else None


@dataclass(frozen=True)
class Learnt:
    """A network, what was wrong with some rows, and what each step of filling in missing cells came to."""

    network: Network
    report: Report
    objective: tuple[float, ...] = ()


def learn(
    source: Source, wanted: Wanted, settings: Settings, states: States | None = None,
    by_hand: Mapping[str, Floats] | None = None, weights: str | None = None, threads: int | None = None,
) -> Learnt:  # fmt: skip
    """The network of a source's rows."""
    given, tables = dict(states or {}), dict(by_hand or {})
    sample = source.sample()
    names = _nodes(sample.columns, wanted, weights)
    for name in given:
        if name not in names:
            raise DataError(did_you_mean(name, names, "node"))
    if len(tables) == len(names):
        raise DataError("all tables are given, and stay as they are: BayesNet(net.graph_).fit(...) learns them")
    hidden = [name for name in names if name not in sample.columns and name in given and wanted.missing == "em"]
    seen = [name for name in names if name not in hidden]
    columns = wanted.columns or Columns.decided(source, seen, wanted.cuts, sample, wanted.target, weights)
    if wanted.search in (None, "star") and wanted.missing == "ignore":
        structure = wanted.graph or _star(names, wanted.target)
        families = {node: parents for node, parents in structure.parents.items() if node not in tables}
        tallies, report = sum_families(source, columns, families, weights, threads)
        _check_rows(source, tallies, weights)
        network = Network.learnt(structure, tallies, settings, columns, given, tables)
        return Learnt(network.telling(wanted.target), report)
    rows, report = encode(source, columns, weights, threads, given)
    structure = find_structure(rows, wanted)
    if wanted.missing == "ignore":
        tallies = {node: tally for node, tally in families_of(rows, structure).items() if node not in tables}
        network = Network.learnt(structure, tallies, settings, columns, given, tables)
        return Learnt(network.telling(wanted.target), report)
    if hidden:
        empty = np.full((len(hidden), rows.rows), -1, np.int32)
        rows = Encoded((*rows.names, *hidden), rows.states, np.concatenate([rows.codes, empty]), rows.weights)
    filled = fill_in(structure, rows, settings, tables, wanted.random_state)
    if not filled.converged:
        warn(
            f"the tables still changed after {len(filled.objective)} steps of filling in missing cells", NetworkWarning
        )
    expected = {
        node: tally_of(node, structure.parents[node], counts, rows.states) for node, counts in filled.counts.items()
    }  # fmt: skip
    network = Network.learnt(structure, expected, settings, columns, given, tables)
    return Learnt(network.telling(wanted.target), report, tuple(filled.objective))


def _nodes(columns: Iterable[str], wanted: Wanted, weights: str | None) -> list[str]:
    """Which columns the nodes are."""
    if wanted.graph is not None:
        return [*wanted.graph.nodes]
    if wanted.nodes is not None:
        columns = dict.fromkeys((*wanted.nodes, *([] if wanted.target is None else [wanted.target])))
    return [name for name in columns if name != weights]


def find_structure(rows: Encoded, wanted: Wanted) -> Structure:
    """The graph that is given, or that is found in the rows."""
    if wanted.search in (None, "star"):
        return wanted.graph or _star(list(rows.names), wanted.target)
    if wanted.search == "tan":
        assert wanted.target is not None
        return tan(rows, wanted.target)
    if wanted.search == "chow-liu":
        return chow_liu(rows, wanted.target)
    return climb(
        rows, wanted.criterion, ess=wanted.ess, start=wanted.structure, required=wanted.required,
        forbidden=wanted.forbidden, parents=wanted.max_parents,
    ).structure  # fmt: skip


def _star(names: list[str], target: str | None) -> Structure:
    """Naive Bayes: the class is every other node's only parent."""
    assert target is not None
    if target not in names:
        raise DataError(did_you_mean(target, names))
    return Structure({name: () if name == target else (target,) for name in names})


def _check_rows(source: Source, tallies: Mapping[str, Tally], weights: str | None) -> None:
    if weights is not None and not any(tally.counts.size for tally in tallies.values()):
        raise DataError(WEIGHTLESS)
    for node, tally in tallies.items():
        if not tally.counts.size:
            raise DataError(
                f"{source.name} has no row with a value of {node!r} and of its parents: nothing can be learnt"
            )
