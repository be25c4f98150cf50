"""Logistic regression on top of naive Bayes with scikit-learn's face: a shell around the `Bridge` value."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from evenodds.arguments import flag, is_whole
from evenodds.data.files import is_source, read
from evenodds.data.sum import sum_table
from evenodds.errors import DataError
from evenodds.models.bridge.bridge import Bridge
from evenodds.models.bridge.corrections import corrections
from evenodds.models.bridge.fit import more
from evenodds.models.bridge.learn import How, bridged, learn, most, some
from evenodds.models.class_shell import ClassShell
from evenodds.models.learn import check_classes
from evenodds.models.naive_bayes import Model
from evenodds.models.shell import check_named
from evenodds.schema import Schema
from evenodds.show import Frame


class NaiveLogistic(ClassShell):
    """Logistic regression that starts where naive Bayes ends: best of both on few rows and on many.

    log p(c | x)  ∝  scale · log p(c, x) by tempered naive Bayes + features(x) · weights_c,   weights ~ N(0, 1/strength)

    Each row is scored by naive Bayes without that row while the weights are fitted. Scale and strength are chosen, or
    averaged, by how well rows held out are foretold: from naive Bayes (scale 1, no weights) to ridge logistic
    regression (scale 0).

    >>> from evenodds import Words
    >>> texts = ["win a free prize", "free money now", "lunch at noon", "see you at lunch", "free lunch prize now"] * 4
    >>> model = NaiveLogistic(Words()).fit(texts, ["spam", "spam", "ham", "ham", "spam"] * 4)
    >>> model.predict(["a free prize", "lunch at noon?"])
    array(['spam', 'ham'], dtype='<U4')

    Parameters
    ----------
    columns : dict, family or Column, optional
        How columns are modelled, as in `NaiveBayes`.
    scale : float or "auto"
        How much of naive Bayes' log-odds is believed; "auto" chooses.
    strength : float or "auto"
        The precision of the weights' prior; `inf` allows no correction; "auto" chooses.
    quadratic : bool
        Whether the squares of Gaussian columns are among the features, so that naive Bayes' own form can be corrected.
    schema : Schema, optional
        Columns already decided, as in another model's `model_.schema`.
    random_state : int or None
        Which rows are held out together while scale and strength are chosen.
    threads : int, optional
        How many threads to use; the result does not depend on it.
    """

    _value = Bridge

    def __init__(
        self,
        columns: Any = None,
        *,
        scale: Any = "auto",
        strength: Any = "auto",
        quadratic: bool = True,
        schema: Schema | None = None,
        random_state: int | None = 0,
        threads: int | None = None,
    ) -> None:
        self.columns = columns
        self.scale = scale
        self.strength = strength
        self.quadratic = quadratic
        self.schema = schema
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a table from nothing. `y` is a column's name, or a value for each row.

        `X` may be the path of a file, or a glob; then `y` and `sample_weight` are names of its columns. Naive Bayes
        learns all rows in one pass; the correction at most 200,000 of them (50,000 where there is text), chosen by the
        hash of their number.
        """
        how = self._how()
        if is_source(X):
            check_named(y=y, sample_weight=sample_weight)
            model, report = learn(read(X), y, self.columns, None, self.schema, sample_weight, self.threads, how)
            return self._warn(report)._name(model)._keep(model)
        learnt, kind = self._read(X, y, sample_weight, reset=True)
        schema = self._decide(learnt.rows, y, kind)
        below = Model(schema, sum_table(learnt.rows, schema, learnt.target, learnt.weights, self.threads))
        check_classes(below)
        return self._keep(bridged(below, learnt, self.threads, how))

    def _how(self) -> How:
        seed = 0 if self.random_state is None else self.random_state
        if not is_whole(seed) or not 0 <= seed < 2**64:
            raise ValueError(f"random_state={seed!r}: expected a whole number from 0 to 2^64 - 1, or None")
        return How(*self._settings(), flag("quadratic", self.quadratic), int(seed))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn some more rows. Naive Bayes' tallies add; the weights so far are the prior of the new ones.

        Their prior is as sharp as the rows so far made it. Scale, strength, temper and the words that have weights stay
        those of the first call, so make that one large; `classes` need not be announced.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        if is_source(X):
            raise DataError("partial_fit takes rows in memory; of files, read them in parts or fit all of them at once")
        learnt, _ = self._read(X, y, sample_weight, reset=False)
        old: Bridge = self.model_
        model = old.model.learn(*learnt, self.threads)
        return self._keep(more(old, model, some(learnt, most(old.schema)), self.threads))

    @classmethod
    def of(cls, model: Bridge) -> Self:
        """The estimator of a bridge: of a loaded one."""
        new = cls(scale=model.scale, strength=model.strength, schema=model.schema)
        return new._name(model)._keep(model)

    def _keep(self, model: Bridge) -> Self:
        self.model_ = model
        self.classes_ = model.classes
        self.scale_, self.strength_ = model.scale, model.strength
        return self

    def _settings(self) -> tuple[float | None, float | None]:
        """Scale and strength, None where they are to be chosen."""
        found = []
        for name, least in (("scale", "0 or more"), ("strength", "above 0")):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)
            right = number and (0 <= value < math.inf if name == "scale" else value > 0)
            if not right and not (isinstance(value, str) and value == "auto"):
                raise ValueError(f"{name}={value!r}: expected a number, {least}, or 'auto'")
            found.append(float(value) if number else None)
        return found[0], found[1]

    @property
    def weights(self) -> Frame:
        """What logistic regression corrects most: a row for each of the strongest weights, a column for each class."""
        check_is_fitted(self)
        return corrections(self.model_)

    @property
    def tried_(self) -> Frame:
        """The scales and strengths that were tried, the log loss of rows held out, and their shares in the model."""
        check_is_fitted(self)
        return Frame([one._asdict() for one in self.model_.tried])
