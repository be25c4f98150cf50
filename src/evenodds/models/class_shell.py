"""What the shells of classifiers share: reading rows with their classes, and saying what the model says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from evenodds.cells import codes, numbers, target_kind
from evenodds.data.decide import decide
from evenodds.data.files import is_source, read
from evenodds.data.kept import Learnt
from evenodds.data.memory import Table
from evenodds.data.source import Batch
from evenodds.data.sum import target_codes
from evenodds.families.leaves import Floats, check_weights
from evenodds.logs import made_possible, warn_of_impossible
from evenodds.models.explanation import Explanations
from evenodds.models.learn import under
from evenodds.models.shell import (
    Shell,
    check_named,
    classes_of,
    eager,
    fractions,
    of_files,
    taken_out,
    target_name,
)
from evenodds.models.targets import Told, check_few, places_among, required
from evenodds.schema import Schema, check_schema
from evenodds.threads import in_order

R = TypeVar("R")


class ClassShell(Shell, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier around a model value that has log_joint, log_proba and log_start."""

    columns: Any
    schema: Schema | None
    threads: int | None
    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- reading what people have ------------------------------------------------------------------------------------

    def _decide(self, rows: Table, y: Any, kind: str) -> Schema:
        """What each column is."""
        name = target_name(y, rows.columns)
        check_schema(self.schema)
        if self.schema is not None:
            for column, how in self.schema.features.items():
                rows[how.source or column]
            return Schema(self.schema.columns, name, kind)
        return Schema(decide(rows, self.columns), name, kind)

    def _read(self, X: Any, y: Any, weights: Any = None, *, reset: bool) -> tuple[Learnt, str]:
        """Rows with their classes, and the target's type; scikit-learn's attributes are set or checked on the way."""
        X, named = taken_out(eager(X), y=y, weights=weights)
        if isinstance(weights, str):
            weights = numbers(named["weights"], weights)
        if isinstance(y, str):
            rows = self._features(X, reset=reset)
            fractions(named["y"])
            raw = codes(named["y"], f"the target {y!r}")
            if reset:
                check_few(len(raw.labels), len(raw.codes), f"the target {y!r}")
        else:
            required(y, self)
            rows = self._features(X, reset=reset)
            raw = classes_of(y)
        return Learnt(rows, target_codes(raw, rows.rows), check_weights(weights, rows.rows)), target_kind(raw)

    def _learnt(self, X: Any, y: Any, weights: Any, work: Callable[[Learnt], R]) -> Iterator[R]:
        """work(rows with their classes), of a table at once, of files batch by batch."""
        check_is_fitted(self)
        if not is_source(X):
            return iter([work(self._read(X, y, weights, reset=False)[0])])
        check_named(y=y, sample_weight=weights)
        reading = under(self.model_.schema, y, weights)

        def read_first(batch: Batch) -> R:
            found = reading(batch)
            assert found.target is not None
            return work(Learnt(found.table, found.target, found.weights))

        return in_order(read_first, read(X).batches(reading.columns), 1)

    # -- what it says ------------------------------------------------------------------------------------------------

    def _said(self, X: Any, say: Callable[[Any], Floats]) -> Floats:
        """What the model says of some rows, or of all rows of some files."""
        check_is_fitted(self)
        return of_files(X, self.model_.schema, say) if is_source(X) else say(self._features(X, reset=False))

    def _scores(self, rows: Any) -> Floats:
        """log p(c | x), up to what no class changes."""
        joint: Floats = self.model_.log_joint(rows, self.threads)
        if not np.isfinite(joint.sum()):  # some class is impossible: perhaps all of a row's are
            warn_of_impossible(made_possible(joint.T, self.model_.log_start)[1])
        return joint

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(c | x)."""
        return self._said(X, lambda rows: self.model_.log_proba(rows, self.threads))

    def predict_proba(self, X: Any) -> Floats:
        """p(c | x)."""
        log = self.predict_log_proba(X)
        return np.exp(log, out=log)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        best = self._said(X, self._scores).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is told. `y` is a column's name, or a value for each row."""

        def told(rows: Learnt) -> Told:
            best = self._scores(rows.rows).argmax(axis=1)
            return Told.of(best, places_among(self.classes_, rows.target), rows.target, rows.weights)

        return sum(self._learnt(X, y, sample_weight, told), Told()).share(self.classes_)

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of the second class against the first; with more classes, log p(c | x)."""
        check_is_fitted(self)
        if len(self.classes_) != 2:
            return self.predict_log_proba(X)
        scores = self._said(X, self._scores)
        return np.asarray(scores[:, 1] - scores[:, 0])

    def explain(self, X: Any, of: Any = None, against: Any = None) -> Explanations:
        """Why: the prior and one term per column or word, in log-odds, that add up to the answer. One for each row.

        Of the most probable class against the runner-up, or of and against those that are given.
        """
        check_is_fitted(self)
        return Explanations(self.model_.explain(self._features(X, reset=False), of, against))
