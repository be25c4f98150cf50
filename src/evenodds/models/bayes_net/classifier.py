"""A network that tells one of its nodes from the others: what predicting, explaining and judging take of any model."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.data.memory import Table, table
from evenodds.data.source import Source
from evenodds.errors import DataError, many, warn
from evenodds.families.leaves import Floats
from evenodds.labels import Ints
from evenodds.models.bayes_net.answers import NetworkWarning
from evenodds.models.bayes_net.explain import explain
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.reading import sum_families
from evenodds.models.explanation import Explanation
from evenodds.models.patterns import Flags
from evenodds.schema import Schema


def features(network: Network) -> list[str]:
    """The nodes that the target is told from."""
    return [node for node in network.structure.nodes if node != network.target]


def in_memory(X: Any, like: Network | None = None) -> Table:
    """A table in memory; where its columns have no names of their own, they have those of a network's nodes."""
    rows = table(X)
    if rows.rows == 0:
        raise DataError(f"the table has no rows: Found array with 0 sample(s) (shape=(0, {len(rows.columns)}))")
    if not rows.columns:
        raise DataError(f"0 feature(s) (shape=({rows.rows}, 0)) while a minimum of 1 is required.")
    if rows.dense is not None:
        raise DataError("a sparse matrix has no columns of categories: give a data frame")
    if like is None or rows.named:
        return rows
    names = features(like)
    if len(rows.columns) != len(names):
        raise DataError(
            f"X has {len(rows.columns)} features, but BayesNet is expecting {len(names)} features as input."
        )
    return Table(dict(zip(names, rows.columns.values())), rows.rows, False)


@dataclass(frozen=True)
class NetworkClassifier:
    """p(target | the other nodes) of a network; it has the face of every model of classes.

    >>> network = Network.given("ill -> fever", {"ill": {"yes": 0.1, "no": 0.9},
    ...     "fever": {"yes": {"high": 0.8, "none": 0.2}, "no": {"high": 0.1, "none": 0.9}}})
    >>> np.exp(NetworkClassifier(network, "ill").log_proba({"fever": ["high", None]})).round(3)
    array([[0.471, 0.529],
           [0.1  , 0.9  ]])
    """

    network: Network
    target: str
    kind = "network"
    temper = None

    def __post_init__(self) -> None:
        self.network.structure.check(self.target)

    @functools.cached_property
    def features(self) -> list[str]:
        """The nodes that rows can have: all others, or those that the learnt rows had."""
        known = self.network.columns.kinds
        return [n for n in self.network.structure.nodes if n != self.target and (n in known or not known)]

    @functools.cached_property
    def schema(self) -> Schema:
        """How rows are read."""
        columns = self.network.columns
        return Schema(columns.schema(self.features).columns, self.target, columns.kinds.get(self.target, "text"))

    @functools.cached_property
    def classes(self) -> Any:
        """The target's values."""
        return np.array(self.network.values(self.target))

    @property
    def names(self) -> list[str]:
        """What each of them is known by: its text."""
        return list(self.network.states[self.target])

    @property
    def log_prior(self) -> Floats:
        """log p(target), of a row of which nothing is known."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.network.query(self.target).probabilities))

    def has_learnt(self, source: Source, rows: float, weights: str | None = None, threads: int | None = None) -> bool:
        """Whether a source's rows, so many by weight, have the very tallies that the network was learnt from."""
        network = self.network
        if not network.tallies or network.rows > rows * (1 + 1e-9):
            return False
        families = {node: network.structure.parents[node] for node in network.tallies}
        return sum_families(source, network.columns, families, weights, threads)[0] == dict(network.tallies)

    def proba(self, x: Any) -> Floats:
        """p(target | row) of every row; missing cells, and values that are no states, are integrated out."""
        found, impossible = self.network.inference.posterior(*self._asked(x))
        if self._told(impossible):
            found[impossible] = np.exp(self.log_prior)
        return found

    def log_proba(self, x: Any, threads: int | None = None) -> Floats:
        """log p(target | row), however small p is; one thread answers, whatever `threads` says."""
        found, impossible = self.network.inference.log_posterior(*self._asked(x))
        if self._told(impossible):
            found[impossible] = self.log_prior
        return found

    def _asked(self, x: Any) -> tuple[int, Ints]:
        """The place of the target among the nodes, and the rows in numbers."""
        rows = table(x)
        if self.features and not set(self.features) & set(rows.columns):
            raise DataError(f"the rows have none of the columns {', '.join(map(repr, self.features[:8]))}")
        return self.network.places([self.target])[0], self.network.codes(rows, self.features)

    def _told(self, impossible: Flags) -> bool:
        """Whether any row is impossible; if so it is told."""
        if impossible.any():
            warn(
                f"{many(impossible.sum(), 'row')} of probability 0 under these tables: the answer is p({self.target}); "
                "a prior avoids this",
                NetworkWarning,
            )
        return bool(impossible.any())

    def explain(self, x: Any, of: Any = None, against: Any = None) -> list[Explanation]:
        """Why each row is given its value: the prior and what each finding adds, in log-odds that add up."""
        return explain(self.network, self.target, self.network.codes(table(x), self.features), of, against)
