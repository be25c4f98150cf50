"""BayesNet: a network that is written down, read or learnt; asked anything; and a classifier of one of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from evenodds.arguments import mapping
from evenodds.data.files import is_source, read
from evenodds.data.memory import Table
from evenodds.data.source import Memory
from evenodds.errors import DataError, warn
from evenodds.families.base import Estimate
from evenodds.families.leaves import Floats
from evenodds.labels import Ints, canonical
from evenodds.models.bayes_net.classifier import NetworkClassifier, features, in_memory
from evenodds.models.bayes_net.climbing import PARENTS
from evenodds.models.bayes_net.independence import Independence, independent
from evenodds.models.bayes_net.learn import Learnt, Missing, Search, Wanted, learn
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.questions import Questions
from evenodds.models.bayes_net.reading import weighed
from evenodds.models.bayes_net.scores import ESS, Criterion
from evenodds.models.bayes_net.structure import Structure, edges_of
from evenodds.models.bayes_net.tables import read_states, read_tables
from evenodds.models.bayes_net.tallies import PriorKind, Settings
from evenodds.models.explanation import Explanations
from evenodds.models.shell import accuracy, check_named, check_scored, classes_of, eager, of_files, target_name
from evenodds.replacing import Path
from evenodds.schema import SchemaWarning


class BayesNet(Questions, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian network over columns of categories.

    >>> net = BayesNet("rain -> sprinkler; rain, sprinkler -> wet", tables={
    ...     "rain": {"yes": 0.2, "no": 0.8},
    ...     "sprinkler": {"yes": {"on": 0.01, "off": 0.99}, "no": {"on": 0.4, "off": 0.6}},
    ...     "wet": {("yes", "on"): {"yes": 0.99, "no": 0.01}, ("yes", "off"): {"yes": 0.8, "no": 0.2},
    ...             ("no", "on"): {"yes": 0.9, "no": 0.1}, ("no", "off"): {"yes": 0.0, "no": 1.0}}})
    >>> round(net.query("rain", wet="yes")["yes"], 4)
    0.3577

    Parameters
    ----------
    graph : str, edges, mapping or Structure, optional
        "rain -> wet", pairs (parent, child), or {node: parents}. Where a graph is searched for by climbing, which looks
        at all columns, its start.
    target : str, optional
        The node that `predict` tells.
    tables, states : mapping, optional
        Tables given by hand, which stay as they are, and nodes' states; other tables are learnt, other states are those
        in the data.
    estimate : {"predictive", "mean", "map", "mle"}
        What is made of each table's posterior ("predictive" and "mean" are one here).
    prior : {"pooled", "flat", "bdeu", "k2"}
        `smoothing` pseudo-rows with the node's own shares for each of the parents' values, as in naive Bayes; or
        `smoothing` pseudo-counts a cell; or `smoothing` pseudo-rows over the whole table; or one a cell.
    smoothing : float or "auto"
        Its strength; "auto" is chosen by leave-one-out, and is 1 of "bdeu".
    search : {None, "star", "tan", "chow-liu", "hill-climbing"}
        How the graph is found, if it is; "star" is naive Bayes, and what is taken where only a target is told.
    criterion : {"bic", "aic", "bdeu", "k2"}
        What climbing raises, so that more is better; `ess` are the pseudo-rows of "bdeu".
    required, forbidden : edges
        Which edges a climb must have, or must not, whatever its start has.
    max_parents : int
        How many parents a climb gives a node, at most.
    missing : {"ignore", "em"}
        Missing cells: a table leaves out the rows that lack a cell of it; or they are filled in, step by step.
    cuts : mapping
        Where columns of numbers are cut: edges, or a number of parts of equal mass.
    threads : int, optional
        How many threads read and count.
    random_state : int or Generator
        Of the start of hidden nodes' tables.

    Attributes
    ----------
    model_ : Network
        The network as a value: it adds, subtracts and is saved.
    classes_ : array
        The target's values.
    objective_ : list
        What each step of filling in missing cells came to: log p(rows) and the prior's part.
    """

    model_: Network
    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def __init__(
        self,
        graph: Any = None,
        target: str | None = None,
        *,
        tables: Mapping[str, Any] | None = None,
        states: Mapping[str, Any] | None = None,
        estimate: Estimate = "predictive",
        prior: PriorKind = "pooled",
        smoothing: Any = "auto",
        search: Search | None = None,
        criterion: Criterion = "bic",
        ess: float = ESS,
        required: Any = (),
        forbidden: Any = (),
        max_parents: int = PARENTS,
        missing: Missing = "ignore",
        cuts: Mapping[str, Any] | None = None,
        threads: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.graph = graph
        self.target = target
        self.tables = tables
        self.states = states
        self.estimate = estimate
        self.prior = prior
        self.smoothing = smoothing
        self.search = search
        self.criterion = criterion
        self.ess = ess
        self.required = required
        self.forbidden = forbidden
        self.max_parents = max_parents
        self.missing = missing
        self.cuts = cuts
        self.threads = threads
        self.random_state = random_state

    @classmethod
    def of(cls, network: Network, target: str | None = None) -> Self:
        """The estimator of a network, such as one from a file."""
        how = network.settings
        target = target or network.target
        new = cls(
            network.structure, target, tables=network.by_hand or None, states=network.told or None,
            estimate=how.estimate, prior=how.prior, smoothing=how.smoothing, cuts=dict(network.columns.cuts) or None,
        )  # fmt: skip
        return new._keep(network, target)

    @classmethod
    def read(cls, path: Path, target: str | None = None, encoding: str | None = None) -> Self:
        """The network in a BIF file."""
        return cls.of(Network.read(path, encoding), target)

    @classmethod
    def load(cls, path: Path, target: str | None = None) -> Self:
        """The network that was saved in a file."""
        return cls.of(Network.load(path), target)

    def save(self, path: Path) -> None:
        """Write the network to one safe file, which replaces an old one whole, or not at all."""
        self.network.save(path)

    @staticmethod
    def independent(
        data: Any, a: str, b: str, given: Any = (), *, sample_weight: Any = None, level: float = 0.95, cuts: Any = None
    ) -> Independence:
        """Whether the data let two columns be independent given others: mutual information with its interval."""
        return independent(data, a, b, given, sample_weight=sample_weight, level=level, cuts=cuts)

    @property
    def network(self) -> Network:
        """The network that was learnt, or whose tables are all given."""
        if hasattr(self, "model_"):
            return self.model_
        if self.graph is None or self.tables is None:
            raise NotFittedError("this BayesNet has no tables yet: call fit, or give them as tables=")
        told = (self.graph, self.tables, self.states)
        kept: Any = getattr(self, "_given", None)  # what was told, and the network of it
        if kept is None or any(a is not b for a, b in zip(kept[0], told)):
            kept = self._given = (told, Network.given(*told))
        return kept[1]

    @property
    def graph_(self) -> Structure:
        """The graph, which may be asked before there are tables."""
        if not hasattr(self, "model_") and self.graph is not None:
            return Structure.of(self.graph)
        return self.network.structure

    # -- learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the tables, and the graph if it is searched for. `X` may be the path of a file, or a glob.

        The target is a column of `X`, named by `y` or by `target`; or `y` has a value for each row. Weights are a
        column's name, or a number for each row.
        """
        found, target = self._learn(X, y, sample_weight)
        self.objective_ = list(found.objective)
        return self._keep(found.network, target)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn some more rows: their tallies are added. The graph stays, and so do the cuts of the first rows.

        `classes` are values of the target that later rows may have.
        """
        known = getattr(self, "model_", None)
        if known is not None and self.missing != "ignore":
            raise DataError("what was filled in by steps does not add: fit all rows together")
        found, target = self._learn(X, y, sample_weight, known)
        network = found.network if known is None else known + found.network
        if classes is not None and target is not None:
            network = network.expecting(target, [canonical(label) for label in np.asarray(classes).tolist()])
        return self._keep(network, getattr(self, "target_", target))

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows out again, as if they had never been learnt."""
        if self.missing != "ignore":
            raise DataError("what was filled in by steps does not subtract: fit the other rows")
        less, _ = self._learn(X, y, sample_weight, self.network)
        return self._keep(self.network - less.network, getattr(self, "target_", None))

    def _learn(self, X: Any, y: Any, weights: Any, like: Network | None = None) -> tuple[Learnt, str | None]:
        """What some rows say; of a network they are to be added to, the graph and how its columns are read."""
        source, target, weigh = self._source(X, y, weights, like)
        wanted = self._wanted(target, like)
        states, tables = read_states(self.states), dict[str, Any]()
        if wanted.graph is not None:
            states, tables = read_tables(wanted.graph, self.tables or {}, states)
        elif self.tables:
            raise ValueError("tables are given for the nodes of a graph: give it as well, and search for none")
        settings = Settings(self.estimate, self.prior, self.smoothing) if like is None else like.settings
        found = learn(source, wanted, settings, states, tables, weigh, self.threads)
        for sentence in found.report.sentences():
            warn(sentence, SchemaWarning)
        return found, target

    def _wanted(self, target: str | None, like: Network | None) -> Wanted:
        if like is not None:
            return Wanted(like.structure, target=target, missing=self.missing, columns=like.columns)
        structure = None if self.graph is None else Structure.of(self.graph)
        return Wanted(
            structure, self.search, target, self.criterion, self.ess, edges_of(self.required),
            edges_of(self.forbidden), self.max_parents, self.missing, mapping("cuts", self.cuts, "{'age': [5, 18]}"),
            random_state=self.random_state,
        )  # fmt: skip

    def _source(self, X: Any, y: Any, weights: Any, like: Network | None) -> tuple[Any, str | None, str | None]:
        """Where rows come from, and the names of the target and of the weights in it."""
        if not isinstance(self.target, str | None):
            raise ValueError(f"target={self.target!r:.80}: expected the name of a column")
        target = y if isinstance(y, str) else self.target or (None if like is None else like.target)
        if is_source(X):
            check_named(**({} if y is None else {"y": y}), sample_weight=weights)
            return read(X), target, weights
        rows = in_memory(eager(X), like)
        columns: dict[str, Any] = dict(rows.columns)
        if y is not None and not isinstance(y, str):
            target = target or target_name(y, columns)
            columns[target] = classes_of(y)
            if len(columns[target]) != rows.rows:
                raise DataError(f"{len(columns[target])} target values for {rows.rows} rows: give one for each row")
        rows, weights = weighed(Table(columns, rows.rows, rows.named), weights)
        return Memory(rows), target, weights

    def _keep(self, network: Network, target: str | None) -> Self:
        self.model_ = network.telling(target)
        for name in ("target_", "classes_", "feature_names_in_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if target is not None:
            self.target_, self.classes_ = target, np.array(network.values(target))
        names = features(self.model_)
        self.n_features_in_ = len(names)
        if names != [f"x{j}" for j in range(len(names))]:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    # -- a classifier ------------------------------------------------------------------------------------------------

    def _target(self) -> str:
        target = getattr(self, "target_", None) or self.target
        if target is None:
            raise NotFittedError("this BayesNet has no target: name one, as in BayesNet(..., target='class')")
        self.network.structure.check(target)
        return str(target)

    def _classifier(self) -> NetworkClassifier:
        if not hasattr(self, "model_") and self.tables is None:
            check_is_fitted(self)
        network = self.network.telling(self._target())
        return NetworkClassifier(network, self._target())

    def predict_proba(self, X: Any) -> Floats:
        """p(target | row) of every row; missing cells, and values that are no states, are integrated out."""
        model = self._classifier()
        return self._said(X, model.features, model.proba)

    def score_samples(self, X: Any) -> Floats:
        """log p(row) of every row, as scikit-learn calls it: of its columns that are nodes, others integrated out."""
        return self._said(X, self.network.structure.nodes, self.network.log_prob)

    def _said(self, X: Any, names: Iterable[str], say: Callable[[Table], Floats]) -> Floats:
        """What is said of some rows, or of all rows of some files; columns may be missing."""
        if not is_source(X):
            return say(in_memory(eager(X), self.network.telling(getattr(self, "target_", self.target))))
        source = read(X)  # once: it may be a pipe
        known = source.sample().columns
        return of_files(source, self.network.columns.schema(name for name in names if name in known), say)

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(target | row), however small p is."""
        model = self._classifier()
        return self._said(X, model.features, model.log_proba)

    def predict(self, X: Any) -> NDArray[Any]:
        """The target's most probable value of each row."""
        return np.array(self.network.values(self._target()))[self._best(X)]

    def _best(self, X: Any) -> Ints:
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose target is told. `y` is a column's name, or a value for each row; of files, that."""
        check_scored(X, y)
        X = eager(X)  # read for what is said, and for what is so
        return accuracy(self.classes_, self._best(X), X, y, sample_weight)

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of the second class against the first; with more classes, log p(c | x)."""
        log = self.predict_log_proba(X)
        return np.asarray(log[:, 1] - log[:, 0]) if log.shape[1] == 2 else log

    def explain(self, X: Any, of: Any = None, against: Any = None) -> Explanations:
        """Why each row is given its value: the prior and what each finding adds, in log-odds that add up."""
        model = self._classifier()
        return Explanations(model.explain(in_memory(eager(X), model.network), of, against))
