"""What the shells of classifiers share: reading rows with their classes, and saying what the model says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from evenodds.cells import Coded, target_kind
from evenodds.data.decide import decide
from evenodds.data.files import is_source, read
from evenodds.data.memory import Table, table
from evenodds.data.reading import Reading
from evenodds.data.sum import target_codes
from evenodds.data.threads import in_order
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import canonical
from evenodds.models.explanation import Explanation
from evenodds.models.naive_bayes import Model
from evenodds.models.shell import Shell, classes_of, drop, eager, has_frame, target_of
from evenodds.schema import Schema, first_of


class ClassShell(Shell, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier around a model value that has log_joint and log_proba."""

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
        name = y if isinstance(y, str) else str(getattr(y, "name", None) or "class")
        while name in rows.columns:
            name += "_"
        if self.schema is not None:
            for column, how in self.schema.features.items():
                rows[how.source or column]
            return Schema(self.schema.columns, name, kind)
        return Schema(decide(rows, self.columns), name, kind)

    def _read(self, X: Any, y: Any, *, reset: bool) -> tuple[Table, Coded, str]:
        """Features, target codes and the target's type; scikit-learn's attributes are set or checked on the way."""
        X = eager(X)
        if isinstance(y, str):
            whole = table(X)
            raw = whole[y]
            rows = self._features(drop(X, y) if has_frame(X) else whole.without(y), reset=reset)
        else:
            if y is None:
                raise ValueError(
                    f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
                )
            rows, raw = self._features(X, reset=reset), classes_of(y)
        return rows, target_codes(raw, rows.rows), target_kind(raw)

    # -- what it says ------------------------------------------------------------------------------------------------

    def _score(self, X: Any, score: Callable[[Any], Floats]) -> Floats:
        """What the model says of some rows, or of all rows of some files, batch by batch."""
        check_is_fitted(self)
        if not is_source(X):
            return score(self._features(X, reset=False))
        reading = Reading(self.model_.schema, target=False)
        batches = read(X).batches(reading.columns)
        return np.concatenate(list(in_order(lambda batch: score(reading(batch).table), batches, 1)))

    def _joint(self, X: Any) -> Floats:
        """The classes' scores, up to what no class changes."""
        return self._score(X, lambda rows: self.model_.log_joint(rows, self.threads))

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(c | x)."""
        return self._score(X, lambda rows: self.model_.log_proba(rows, self.threads))

    def predict_proba(self, X: Any) -> Floats:
        """p(c | x)."""
        log = self.predict_log_proba(X)
        return np.exp(log, out=log)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        joint = self._joint(X)
        best: NDArray[Any] = self.classes_[joint.argmax(axis=1)]
        return best

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is told. `y` is a column's name, or a value for each row."""
        return float(super().score(X, target_of(X, y), sample_weight))

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of the second class against the first; with more classes, log p(c | x)."""
        check_is_fitted(self)
        if len(self.classes_) != 2:
            return self.predict_log_proba(X)
        joint = self._joint(X)
        return np.asarray(joint[:, 1] - joint[:, 0])

    def explain(self, X: Any, of: Any = None, against: Any = None) -> Explanation | list[Explanation]:
        """Why: the prior and one term per column or word, in log-odds, that add up to the answer. One for each row."""
        check_is_fitted(self)
        found: list[Explanation] = self.model_.explain(self._features(X, reset=False), of, against)
        return found[0] if len(found) == 1 else found


def check_classes_of(model: Model) -> None:
    """Refuse a table that has nothing to tell apart."""
    if not len(model.classes):
        raise DataError("all weights are zero: a row of weight 0 is no row")
    if len(model.classes) < 2:
        only = str(model.classes[0])
        raise DataError(f"the target has only one class, {only!r}: there is nothing to tell apart")


def check_weights_of(model: Model) -> None:
    """Refuse factors by class of which one is for no class, where a class has none: a slip of the pen."""
    weight = model.settings.class_weight
    if isinstance(weight, Mapping):
        known = [canonical(label) for label in model.classes.tolist()]
        strange = [label for label in weight if label not in known]
        if strange and not set(known) <= set(weight):
            raise DataError(
                f"class_weight has a factor for {strange[0]!r}, which is no class; the classes are {first_of(known)}"
            )
