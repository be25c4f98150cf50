"""The models that `compare` compares if none are told, each under the columns as they were decided from all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from evenodds.cells import Coded
from evenodds.data.memory import Table, table
from evenodds.data.sum import cells
from evenodds.errors import DataError, did_you_mean, warn
from evenodds.families import Bernoulli, Categorical
from evenodds.families.leaves import Floats
from evenodds.models.bridge.estimator import NaiveLogistic
from evenodds.models.classifier import NaiveBayes
from evenodds.models.glm.estimator import GLM
from evenodds.models.glm.prior import GaussianPrior
from evenodds.schema import Schema, SchemaWarning


class RidgeLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression of the same columns that naive Bayes has, with a standard Gaussian prior: a fair opponent.

    Numbers are centred and scaled, a missing one is the mean; a category is a column of 0 and 1 for each of its values,
    none of which is 1 where it is missing or was never seen. `schema` says what each column is.
    """

    def __init__(self, schema: Schema | None = None, threads: int | None = None) -> None:
        self.schema = schema
        self.threads = threads

    def fit(self, X: Any, y: Any) -> Self:
        """Find the coefficients."""
        rows = table(X)
        if self.schema is None:
            raise DataError("RidgeLogistic: tell with schema= what the columns are")
        self.columns_ = {name: _scale(_cells(rows, name, self.schema)) for name in self.schema.features}
        family = Bernoulli if len(set(np.asarray(y).tolist())) == 2 else Categorical
        prior = GaussianPrior(precision=1.0)
        self.model_ = GLM(family, prior=prior, threads=self.threads).fit(self._design(rows), np.asarray(y))
        self.classes_ = self.model_.classes_
        return self

    def predict_log_proba(self, X: Any) -> Floats:
        """log p(c | x)."""
        return np.asarray(self.model_.predict_log_proba(self._design(table(X))))

    def predict_proba(self, X: Any) -> Floats:
        """p(c | x)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        return np.asarray(self.classes_[self.predict_log_proba(X).argmax(axis=1)])

    def _design(self, rows: Table) -> Floats:
        """All columns as numbers."""
        assert self.schema is not None
        return np.column_stack([_columns(_cells(rows, name, self.schema), how) for name, how in self.columns_.items()])


def _cells(rows: Table, name: str, schema: Schema) -> Any:
    column = schema.features[name]
    if column.words is not None:
        raise DataError(f"column {name!r} is text: logistic regression takes numbers and categories")
    return cells(rows, name, column)


def _scale(x: Floats | Coded) -> Any:
    """What is to be known of a column: the values of a category, or the mean and spread of a number."""
    if isinstance(x, Coded):
        return [text for i, text in enumerate(x.labels.texts()) if (x.places == i).any()]
    known = x[np.isfinite(x)]
    return (known.mean(), known.std() or 1.0) if len(known) else (0.0, 1.0)


def _columns(x: Floats | Coded, how: Any) -> Floats:
    if isinstance(x, Coded):
        texts = [*x.labels.texts(), None]
        here = np.array([how.index(text) if text in how else -1 for text in texts])[x.places]
        return (here[:, None] == np.arange(len(how))).astype(np.float64)
    mean, spread = how
    return np.nan_to_num((x - mean) / spread, nan=0.0, posinf=0.0, neginf=0.0)[:, None]


# name: how it is made, given what the columns are. A new contender is one new line.
CONTENDERS: dict[str, Callable[[Schema], Any]] = {
    "naive": lambda schema: NaiveBayes(schema=schema),
    "tempered": lambda schema: NaiveBayes(schema=schema, temper=True),
    "bridge": lambda schema: NaiveLogistic(schema=schema),
    "logistic": lambda schema: RidgeLogistic(schema),
}


def contenders(names: list[str], schema: Schema) -> dict[str, Any]:
    """The models of these names; those that cannot take text are left out where there is text."""
    for name in names:
        if name not in CONTENDERS:
            raise DataError(did_you_mean(name, CONTENDERS, "model"))
    text = list(schema.texts)
    if text and "logistic" in names:
        names = [name for name in names if name != "logistic"]
        warn(f"column {text[0]!r} is text: logistic regression is left out", SchemaWarning)
    return {name: CONTENDERS[name](schema) for name in names}
