"""A network that tells one of its nodes from the others: what predicting, explaining and judging take of any model."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.data.memory import Table, table
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net.explain import explain
from evenodds.models.bayes_net.network import Network
from evenodds.models.explanation import Explanation
from evenodds.schema import Schema


class NetworkWarning(UserWarning):
    """Something about a network that a person should know."""


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
        columns, kinds = self.network.columns, self.network.columns.kinds
        mine = type(columns)({name: kinds.get(name, "text") for name in self.features}, columns.cuts)
        return Schema(mine.schema().columns, self.target, kinds.get(self.target, "text"))

    @functools.cached_property
    def classes(self) -> Any:
        """The target's values."""
        return np.array(self.network.values(self.target))

    @property
    def log_prior(self) -> Floats:
        """log p(target), of a row of which nothing is known."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.network.query(self.target).probabilities))

    def proba(self, x: Any) -> Floats:
        """p(target | row) of every row; missing cells, and values that are no states, are integrated out."""
        rows, network = table(x), self.network
        if self.features and not set(self.features) & set(rows.columns):
            raise DataError(f"the rows have none of the columns {', '.join(map(repr, self.features[:8]))}")
        at = network.places([self.target])[0]
        found, impossible = network.inference.posterior(at, network.codes(rows, self.features))
        if impossible.any():
            found[impossible] = network.inference.marginals({}, {})[at]
            warnings.warn(
                f"{int(impossible.sum())} rows have probability 0 under these tables: they get p({self.target}); "
                "a prior avoids this",
                NetworkWarning,
                stacklevel=3,
            )
        return found

    def log_proba(self, x: Any, threads: int | None = None) -> Floats:
        """log p(target | row); one thread answers, whatever `threads` says."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.proba(x)))

    def explain(self, x: Any, of: Any = None, against: Any = None) -> list[Explanation]:
        """Why each row is given its value: the prior and what each finding adds, in log-odds that add up."""
        return explain(self.network, self.target, self.network.codes(table(x), self.features), of, against)
