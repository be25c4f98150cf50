"""Naive Bayes with scikit-learn's face: a shell around the `Model` value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from evenodds.arguments import flag
from evenodds.data.files import is_source, read
from evenodds.data.kept import Kept, Learnt
from evenodds.data.sum import sum_table
from evenodds.families.leaves import Floats
from evenodds.models.alternatives import told_of, widened
from evenodds.models.class_shell import ClassShell
from evenodds.models.learn import check_classes, learn, looked_at, more, schema_of, to_look_at
from evenodds.models.learnt import Tables, check, coefficients, n_parameters, sample
from evenodds.models.left_out import tempered
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.models.shell import check_named
from evenodds.models.tune import Tuned, learn_tuned, tune_table
from evenodds.schema import Schema
from evenodds.show import Frame
from evenodds.tally import Tally


class NaiveBayes(ClassShell):
    """Naive Bayes over any table: numbers, categories, flags and counts, mixed freely, with holes.

    p(c, x) = p(c) Π_j p(x_j | c)

    >>> rows = [{"fever": "high", "age": 71}, {"fever": "none", "age": 33}, {"fever": "high"}, {"fever": "none"}]
    >>> nb = NaiveBayes().fit(rows, ["ill", "well", "ill", "well"])
    >>> nb.predict([{"fever": "high"}, {"fever": "none", "age": 30}])
    array(['ill', 'well'], dtype='<U4')

    Parameters
    ----------
    columns : dict, family or Column, optional
        How columns are modelled: a name to a family (`Gaussian`) or a `Column`; one family for all columns; what is
        not told is decided from the first 10,000 rows.
    estimate : {"predictive", "mean", "map", "mle"}
        What is made of each column's posterior.
    smoothing : float or "auto"
        How many pseudo-rows the prior is worth; "auto" lets each column that counts values choose by leave-one-out.
    prior : {"pooled", "flat"}
        Whether pseudo-rows are like all classes together, or `smoothing` pseudo-counts for every value.
    class_prior : "auto", "estimated", "uniform", dict, array or Dirichlet
        The probabilities of the classes before any column is looked at; "auto" is estimated, or uniform where text is
        modelled by its complement.
    class_weight : dict, "balanced" or None
        A factor on the rows of each class.
    unseen : {"ignore", "prior"}
        What a value never seen in any class says: nothing, or its smoothing mass.
    temper : bool
        Whether the evidence is taken to powers (one for each column; of a text, by its length too) under which the
        learnt rows, each left out, are most probable.
    tune : {None, "loo"}
        Whether it is chosen what each column is modelled as, by how well the learnt rows' classes are told, each row
        left out: the family and bins of numbers, events and n-grams of text, smoothing, and which columns are left out.
        What is told in `columns` stays. What was tried is `tuning_`; the model is tempered.
    schema : Schema, optional
        Columns already decided, as in another model's `model_.schema`.
    threads : int, optional
        How many threads to use; the result does not depend on it.
    """

    _value = Model

    def __init__(
        self,
        columns: Any = None,
        *,
        estimate: Any = "predictive",
        smoothing: Any = "auto",
        prior: Any = "pooled",
        class_prior: Any = "auto",
        class_weight: Any = None,
        unseen: Any = "ignore",
        temper: bool = False,
        tune: Any = None,
        schema: Schema | None = None,
        threads: int | None = None,
    ) -> None:
        self.columns = columns
        self.estimate = estimate
        self.smoothing = smoothing
        self.prior = prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.unseen = unseen
        self.temper = temper
        self.tune = tune
        self.schema = schema
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a table from nothing. `y` is a column's name, or a value for each row.

        `X` may be the path of a file, or a glob; then `y` and `sample_weight` are names of its columns.
        """
        how, temper, tune = self._settings(), self._tempering(), self._tuning()
        if is_source(X):
            check_named(y=y, sample_weight=sample_weight)
            if tune:
                tuned, report = learn_tuned(read(X), y, self.columns, how, self.schema, sample_weight, self.threads)
                return self._warn(report)._name(tuned.model)._keep_tuned(tuned)
            model, report = learn(read(X), y, self.columns, how, self.schema, sample_weight, self.threads, temper)
            return self._warn(report)._name(model)._keep_untuned(model)
        learnt, kind = self._read(X, y, sample_weight, reset=True)
        schema = self._decide(learnt.rows, y, kind)
        told = told_of(self.columns, self.schema, schema)
        if tune:
            schema = widened(schema, told)
        model = Model(schema, sum_table(learnt.rows, schema, learnt.target, learnt.weights, self.threads), how)
        check_classes(model)
        if tune:
            return self._keep_tuned(tune_table(model, learnt, self.threads, told))
        return self._keep_untuned(self._tempered(model, learnt) if temper else model)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn some more rows. New classes and categories may appear at any time; `classes` need not be announced.

        How much of the evidence is believed was told by the first rows that had two classes, and stays.
        """
        first, tune = not hasattr(self, "model_"), self._tuning()
        if first and tune:
            return self.fit(X, y, sample_weight)
        how, wanted = self._settings(), self._tempering() or tune
        learnt: Kept | Learnt
        if is_source(X):
            check_named(y=y, sample_weight=sample_weight)
            told = (source := read(X), y, self.columns, self.schema, sample_weight)
            old = Model(schema_of(*told), Tally.nothing()) if first else self.model_
            learnt = to_look_at(old.schema)
            keep = learnt if wanted and old.temper is None else None
            part, report = more(old, source, y, sample_weight, self.threads, keep)
            self._warn(report)
            if first:
                self._name(old)
        else:
            learnt, kind = self._read(X, y, sample_weight, reset=first)
            old = Model(self._decide(learnt.rows, y, kind), Tally.nothing()) if first else self.model_
            part = Model(old.schema, old.count(*learnt, self.threads))
        new = Model(old.schema, old.tally + part.tally, how, old.temper if wanted else None)
        telling = len(part.classes) > 1  # rows of one class, whatever was learnt before, ask for that class only
        return self._keep(self._tempered(new, learnt) if wanted and new.temper is None and telling else new)

    def _tuning(self) -> bool:
        if self.tune not in (None, "loo"):
            raise ValueError(f"tune={self.tune!r}: expected None or 'loo'")
        return self.tune is not None

    def _tempering(self) -> bool:
        return flag("temper", self.temper)

    def _tempered(self, model: Model, learnt: Kept | Learnt) -> Model:
        """The model, tempered by some of the rows it has just learnt."""
        return tempered(model, looked_at(model, learnt), self.threads)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out again, as if they had never been learnt."""
        check_is_fitted(self)
        if is_source(X):
            check_named(y=y, sample_weight=sample_weight)
            part, report = more(self.model_, read(X), y, sample_weight, self.threads)
            return self._warn(report)._keep(self.model_ - part)
        learnt, _ = self._read(X, y, sample_weight, reset=False)
        return self._keep(self.model_.forget(*learnt, self.threads))

    @classmethod
    def of(cls, model: Model) -> Self:
        """The estimator of a model value: of a sum, or of a loaded one."""
        s = model.settings
        new = cls(
            estimate=s.estimate,
            smoothing=s.smoothing,
            prior=s.prior,
            class_prior=s.class_prior,
            class_weight=s.class_weight,
            unseen=s.unseen,
            temper=model.temper is not None,
            schema=model.schema,
        )
        return new._name(model)._keep(model)

    def __add__(self, other: Any) -> Self:
        if not isinstance(other, NaiveBayes):
            return NotImplemented
        return type(self).of(self.model_ + other.model_)

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Any) -> Self:
        if not isinstance(other, NaiveBayes):
            return NotImplemented
        return type(self).of(self.model_ - other.model_)

    def fade(self, factor: float) -> Self:
        """All evidence so far, worth `factor` times as much."""
        check_is_fitted(self)
        return self._keep(self.model_.fade(factor))

    def prune(self, min_count: float) -> Self:
        """Drop the words that occur less than so often, in all classes together; nothing can be forgotten any more."""
        check_is_fitted(self)
        return self._keep(self.model_.prune(min_count))

    def adapt(self, X: Any) -> Self:
        """The same model under the class shares of new rows, whose classes need not be known."""
        check_is_fitted(self)
        return self.of(self.model_.adapt(self._features(X, reset=False), self.threads))

    def _keep_tuned(self, tuned: Tuned) -> Self:
        self.tuning_ = tuned.record
        return self._keep(tuned.model)

    def _keep_untuned(self, model: Model) -> Self:
        self.__dict__.pop("tuning_", None)  # of an earlier fit
        return self._keep(model)

    def _keep(self, model: Model) -> Self:
        self.model_ = model
        self.classes_ = model.classes
        self.class_count_ = model.class_counts
        return self

    def _settings(self) -> Settings:
        prior, weight = self.class_prior, self.class_weight
        return Settings(self.estimate, self.smoothing, self.prior, prior, weight, self.unseen)

    # -- what it says ------------------------------------------------------------------------------------------------

    def _said(self, X: Any, say: Callable[[Any], Floats]) -> Floats:
        """What the model says of a message, of some rows, or of all rows of some files."""
        if not hasattr(self, "model_"):  # what scikit-learn's own check asks takes longer than a short message
            check_is_fitted(self)
        if self.model_.scorer.is_message(X):
            return say(X)
        return super()._said(X, say)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """log p(c, x), up to what no class changes."""
        return self._said(X, lambda rows: self.model_.log_joint(rows, self.threads))

    def score_samples(self, X: Any) -> Floats:
        """log p(x): how probable a row is under the model, whatever its class."""
        return self._said(X, lambda rows: self.model_.log_density(rows, self.threads))

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """log p(c | x) of rows that were learnt, each by the model without it: `forget(row)`, for all rows at once.

        The strength of the smoothing, the cuts of binned columns and balanced class weights stay those of all rows. Of
        a file, the rows that have a class, in its order; `y` and `sample_weight` are then names of its columns.
        """
        found = self._learnt(X, y, sample_weight, lambda rows: self.model_.leave_one_out(*rows, self.threads))
        return np.concatenate([np.empty((0, len(self.model_.classes))), *found])

    @property
    def tables(self) -> Tables:
        """What was learnt: for each column, p(value | class) with credible intervals."""
        check_is_fitted(self)
        return Tables(self.model_)

    @property
    def coef_(self) -> Floats:
        """The weights of the linear discriminant, where the model is one."""
        check_is_fitted(self)
        return coefficients(self.model_).weights

    @property
    def intercept_(self) -> Floats:
        """The constant of the linear discriminant, where the model is one."""
        check_is_fitted(self)
        return coefficients(self.model_).constants

    @property
    def coef_names_(self) -> list[str]:
        """What each weight belongs to: a column, or a column's value."""
        check_is_fitted(self)
        return coefficients(self.model_).names

    @property
    def n_parameters_(self) -> dict[str, int | None]:
        """Free parameters of this model, and of the full joint distribution of the same columns."""
        check_is_fitted(self)
        return n_parameters(self.model_)

    def sample(self, n_samples: int = 1, given: Any = None, random_state: Any = None) -> pa.Table:
        """Draw rows of a class (or of all): what does each class look like?"""
        check_is_fitted(self)
        return sample(self.model_, n_samples, given, random_state)

    def check(self, X: Any, y: Any, most: int = 10) -> Frame:
        """The column pairs most dependent given the class: where the naive assumption is most wrong."""
        check_is_fitted(self)
        learnt, _ = self._read(X, y, reset=False)
        return check(self.model_, learnt.rows.whole(), learnt.target, most)
