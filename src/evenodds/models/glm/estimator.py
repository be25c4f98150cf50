"""Generalised linear models with scikit-learn's face: a shell around the `Regression` value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from evenodds.cells import target_kind
from evenodds.data.files import Files, is_source, read
from evenodds.data.source import Source
from evenodds.errors import DataError
from evenodds.families import Bernoulli, Categorical, Gaussian, Poisson
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.given import beside, in_memory_of, said_of_files
from evenodds.models.glm.null import explained, scored
from evenodds.models.glm.plan import NUMBER, Roles, SparseMemory, in_memory
from evenodds.models.glm.regress import regress
from evenodds.models.glm.regression import Regression
from evenodds.models.glm.scoring import Where
from evenodds.models.glm.settings import RegressionSettings
from evenodds.models.glm.summary import Summary
from evenodds.models.shell import Shell, accuracy, check_named, check_scored, eager, taken_out, target_of, weights_of
from evenodds.models.targets import required
from evenodds.schema import Schema, check_schema


def _tells_classes(estimator: Any) -> bool:
    """Whether the output is a class."""
    return estimator.family in (Bernoulli, Categorical)


class GLM(Shell, BaseEstimator):  # type: ignore[misc]
    """A generalised linear model: choose the output distribution, and the likelihood is maximised.

        Gaussian      linear regression       mean = score
        Bernoulli     logistic regression     p = 1 / (1 + e^-score)
        Categorical   softmax regression      p_k = e^score_k / Σ_j e^score_j
        Poisson       Poisson regression      rate = e^score

    Columns are typed as in naive Bayes: numbers are taken as they are, categories one-hot against a reference.

    >>> rows = [{"dose": d} for d in (1, 2, 3, 4, 5, 6)]
    >>> glm = GLM(Bernoulli).fit(rows, ["no", "no", "yes", "no", "yes", "yes"])
    >>> glm.predict([{"dose": 1}, {"dose": 6}])
    array(['no', 'yes'], dtype='<U3')
    >>> round(glm.model_["dose"], 3)
    1.214

    Parameters
    ----------
    family : Gaussian, Bernoulli, Categorical or Poisson
        The output distribution. Its transfer function is its own.
    prior : float, GaussianPrior, "jeffreys" or None
        The precision of a Gaussian prior on every coefficient but the intercept; any Gaussian; Jeffreys' prior for the
        Bernoulli; or none: maximum likelihood.
    columns : dict, family or Column, optional
        How columns are read: a name to `Categorical`, `Gaussian` (a number), or a `Column`; decided if not told.
    intercept : bool
        Whether there is a column of ones.
    errors : {"model", "HC0", "HC1", "HC2", "HC3"}
        Standard errors by the model, or robust ones.
    solver : {"auto", "newton", "lbfgs", "ascent"}
        How the minimum is found; "auto" chooses, and `summary()` tells.
    tol : float
        When the fit is done: |slope_j| ≤ tol · sqrt(curvature_j · rows), for every coefficient.
    max_iter : int
        Steps of Newton's at most; of L-BFGS and ascent, 50 times as many.
    rate : float, optional
        Of gradient ascent.
    missing : {"refuse", "drop"}
        What happens to rows with missing cells.
    reference : dict, optional
        The reference value of a category, by column; its first value if not told. Of a target of classes, the class
        that the others are compared with: of two, the other one is the "1".
    variance : float, optional
        The Gaussian's noise, where it is known.
    schema : Schema, optional
        Columns already decided.
    threads : int, optional
        How many threads to use; the result does not depend on it.
    """

    _value = Regression

    def __init__(
        self,
        family: Any = Gaussian,
        *,
        prior: Any = None,
        columns: Any = None,
        intercept: bool = True,
        errors: Any = "model",
        solver: Any = "auto",
        tol: float = 1e-7,
        max_iter: int = 100,
        rate: float | None = None,
        missing: Any = "refuse",
        reference: Any = None,
        variance: float | None = None,
        schema: Schema | None = None,
        threads: int | None = None,
    ) -> None:
        self.family = family
        self.prior = prior
        self.columns = columns
        self.intercept = intercept
        self.errors = errors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.rate = rate
        self.missing = missing
        self.reference = reference
        self.variance = variance
        self.schema = schema
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if _tells_classes(self):
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=self.family is Categorical)
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
            tags.target_tags.positive_only = self.family is Poisson
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- fitting -----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
        trials: Any = None,
    ) -> Self:
        """Find the coefficients. `y` is a column's name, or a value for each row; the others too.

        `exposure` is what a Poisson count was counted over, `trials` among how many a Bernoulli's successes are,
        `offset` is added to the score. `X` may be the path of a file, or a glob; then all are names of its columns.
        """
        settings = self._settings()
        source, roles = self._source(X, y, sample_weight, offset, exposure, trials)
        schema = None
        check_schema(self.schema)
        if self.schema is not None:
            schema = Schema(self.schema.columns, roles.target, self.schema.target_kind)
        elif isinstance(source, SparseMemory):
            names = [f"x{j}" for j in range(source.matrix.shape[1])]
            schema = Schema(dict.fromkeys(names, NUMBER), roles.target, target_kind(source.table[roles.target]))
        model, report = regress(source, roles, settings, self.columns, schema, self.threads)
        if is_source(X):
            self._warn(report)._name(model)
        return self._keep(model)

    def _settings(self) -> RegressionSettings:
        return RegressionSettings(
            self.family, self.prior, self.intercept, self.errors, self.solver, self.tol, self.max_iter, self.rate,
            self.missing, self.reference, self.variance,
        )  # fmt: skip

    def _source(self, X: Any, y: Any, weights: Any, offset: Any, exposure: Any, trials: Any) -> tuple[Source, Roles]:
        """Where the rows are, and the names of the columns that are no features."""
        more = {"weights": weights, "offset": offset, "exposure": exposure, "trials": trials}
        required(y, self)
        if is_source(X):
            check_named(y=y, sample_weight=weights, offset=offset, exposure=exposure, trials=trials)
            source = read(X)
            return source.rereadable() if isinstance(source, Files) else source, Roles(y, **more)
        given = {"target": y, **more}
        X, taken = taken_out(eager(X), **given)
        rows = self._features(X, reset=True)
        return in_memory_of(X, rows, given, taken, _tells_classes(self) and trials is None)

    def _keep(self, model: Regression) -> Self:
        self.model_ = model
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if _tells_classes(self):
            self.classes_ = np.array(model.classes) if model.classes else np.array([0, 1])
        self.n_iter_ = max(model.totals.steps, 1)
        return self

    @classmethod
    def of(cls, model: Regression) -> Self:
        """The estimator of a model value, such as a loaded one."""
        s = model.settings
        new = cls(
            s.family,
            prior=s.prior,
            intercept=s.intercept,
            errors=s.errors,
            solver=s.solver,
            tol=s.tol,
            max_iter=s.max_iter,
            rate=s.rate,
            missing=s.missing,
            reference=s.reference,
            variance=s.variance,
            schema=model.schema,
        )
        return new._name(model)._keep(model)

    # -- what it says ------------------------------------------------------------------------------------------------

    def _said(self, X: Any, offset: Any, exposure: Any, say: Callable[..., Any]) -> Any:
        """What the model says of some rows, or of all rows of some files, batch by batch."""
        check_is_fitted(self)
        if is_source(X):
            return said_of_files(self.model_, X, say, offset=offset, exposure=exposure)
        X = eager(X)
        told = beside(self.model_, X, offset=offset, exposure=exposure)
        rows = self._features(X, reset=False)
        return say(X if hasattr(X, "tocsr") and rows.dense is not None else rows, **told)

    def predict_mean(self, X: Any, offset: Any = None, exposure: Any = None) -> Floats:
        """The output's mean: a mean, a rate, or the probability of each class. An exposure that is not told is 1.

        Offset and exposure may be names of columns; of files they are.
        """
        return self._said(X, offset, exposure, lambda rows, **t: self.model_.mean(rows, **t, threads=self.threads))

    def predict_interval(
        self, X: Any, level: float = 0.95, offset: Any = None, exposure: Any = None
    ) -> tuple[Floats, Floats]:
        """The interval of the mean, low and high; of classes, (rows, classes) each."""
        return self._said(
            X, offset, exposure, lambda rows, **t: self.model_.interval(rows, level, **t, threads=self.threads)
        )

    def predict(self, X: Any, offset: Any = None, exposure: Any = None) -> NDArray[Any]:
        """The mean of each row; of classes, the most probable one.

        With missing="drop" the mean of a row with a hole is NaN, and a class of it is refused.
        """
        if not _tells_classes(self):
            return self.predict_mean(X, offset, exposure)
        best = self._best(X, offset, exposure)
        return np.asarray(self.classes_[best])

    def _best(self, X: Any, offset: Any = None, exposure: Any = None) -> NDArray[np.int64]:
        """The number of each row's most probable class."""

        def say(rows: Any, where: Where = in_memory, **told: Any) -> NDArray[np.int64]:
            best = self.model_.best(self.model_.mean(rows, **told, threads=self.threads, where=where))
            if np.any(best < 0):
                raise DataError(
                    f"no class can be told in {where(int(np.argmax(best < 0)))}: a cell is missing (NaN) or was never "
                    "seen at fit; fill it, leave the row out, or ask for predict_proba, which is NaN there"
                )
            return best

        return self._said(X, offset, exposure, say).astype(np.int64)

    @available_if(_tells_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, offset: Any = None) -> Floats:
        """p(c | x); NaN with missing="drop" where a cell is."""
        mean = self.predict_mean(X, offset)
        return mean if mean.ndim == 2 else np.column_stack([1 - mean, mean])  # of successes among trials

    @available_if(_tells_classes)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, offset: Any = None) -> Floats:
        """log p(c | x)."""
        score = self._scores(X, offset)
        costs = [self.model_.loss.costs(score, np.full(len(score), c)) for c in range(len(self.classes_))]
        return -np.column_stack(costs)

    @available_if(_tells_classes)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, offset: Any = None) -> Floats:
        """The log-odds of the second class against the first; with more classes, log p(c | x)."""
        check_is_fitted(self)
        return self.predict_log_proba(X, offset) if len(self.classes_) > 2 else self._scores(X, offset)

    def _scores(self, X: Any, offset: Any) -> Floats:
        return self._said(X, offset, None, lambda rows, **t: self.model_.score(rows, **t, threads=self.threads))

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None, trials: Any = None
    ) -> float:
        """Accuracy of classes; of numbers, the share of the deviance that is explained (R² for the Gaussian).

        The whole is the deviance of the one score that is best for all of these rows, offsets added. Where there is
        none, all targets being the same, it is 0, as scikit-learn has it.
        """
        check_is_fitted(self)
        check_scored(X, y)
        X = eager(X)  # read for what is said, and for what is so
        if self.model_.classes:
            best = self._best(X, offset)
            return accuracy(self.classes_, best, X, y, sample_weight)
        y = target_of(X, y)
        say = functools.partial(scored, self.model_, threads=self.threads)
        score, added = self._said(X, offset, exposure, say).T
        if not is_source(X):
            trials = beside(self.model_, eager(X), trials=trials)["trials"]
        return explained(self.model_, score, added, y, weights_of(X, sample_weight, len(score)), trials)

    def summary(self, level: float = 0.95) -> Summary:
        """What was fitted, how well, and each coefficient with its error and interval."""
        check_is_fitted(self)
        return Summary(self.model_, level)

    @property
    def coef_(self) -> Floats:
        """The coefficients without the intercept: (columns,), or of classes (1 or classes - 1, columns)."""
        check_is_fitted(self)
        found = self.model_.coefficients[int(self.model_.design.intercept) :]
        return np.atleast_2d(found.T) if _tells_classes(self) else found

    @property
    def intercept_(self) -> Any:
        """The intercept; 0 where there is none."""
        check_is_fitted(self)
        found = self.model_.coefficients[0] if self.model_.design.intercept else 0.0
        return np.atleast_1d(found) if _tells_classes(self) else float(found)

    @property
    def coef_names_(self) -> list[str]:
        """What each number of `coef_` belongs to."""
        check_is_fitted(self)
        return self.model_.names[int(self.model_.design.intercept) :]
