"""Mixtures with scikit-learn's face: a shell around the `MixtureModel` value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from evenodds.arguments import is_whole
from evenodds.cells import Coded, numbers
from evenodds.data.files import Files, is_source, read
from evenodds.data.memory import table
from evenodds.data.sum import cells
from evenodds.families import Categorical, Gaussian, Gaussians, Poisson
from evenodds.families.distribution import Seed
from evenodds.families.leaves import Floats, check_weights
from evenodds.models.mixture.fit import fit_mixture
from evenodds.models.mixture.model import MixtureModel
from evenodds.models.mixture.rows import MixtureRows, Tabled, schema_of, streamed
from evenodds.models.mixture.settings import MixtureSettings, numbers_of_components
from evenodds.models.shell import Shell, check_named, eager, of_files, taken_out
from evenodds.schema import Column, Schema
from evenodds.show import Frame


class Mixture(Shell, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of k components of one family, fitted by EM.

    p(x) = Σ_k weight_k · p(x | component k)

    Old Faithful's eruptions, in minutes, are short or long:

    >>> minutes = [[1.8], [1.9], [2.0], [2.2], [1.7], [4.1], [4.5], [4.3], [3.9], [4.6], [4.4], [4.2]]
    >>> mixture = Mixture(k=2, random_state=0).fit(minutes)
    >>> mixture.means_.round(2).ravel().tolist(), mixture.weights_.round(2).tolist()
    ([4.29, 1.92], [0.58, 0.42])
    >>> mixture.predict([[2.1], [4.0]]).tolist()
    [1, 0]

    Missing cells are integrated out. Every step is one pass over the rows, in memory or in files.

    Parameters
    ----------
    family : Gaussian, Bernoulli, Poisson or Categorical
        What a column is, within a component.
    k : int, several ints, or "auto"
        How many components; of several, the criterion chooses one. "auto" is 1 to 9.
    covariance : {"full", "tied", "diagonal", "spherical"}
        Of Gaussians: a matrix a component, one for all, no covariances, one variance a component.
    prior : float or None
        How many pseudo-rows each component's shape starts with, against collapse; None: maximum likelihood.
    criterion : {"bic", "icl"}
        What chooses k.
    start : "k-means++", "random", rows, or a mixture
        Where EM starts: from rows far apart, from any, from a row given for each component, or from another mixture.
    n_init : int
        How many starts are tried, for a few steps; the best goes on.
    tol : float
        In nats a row: the fit is done when less is still to be gained.
    max_iter : int
        Steps at most.
    columns : list of names, optional
        The columns to use; all of them if not told.
    random_state : int, RandomState, Generator or None
        Of the starts.
    threads : int, optional
        How many threads to use; the result does not depend on it.
    """

    _value = MixtureModel

    def __init__(
        self,
        family: Any = Gaussian,
        k: Any = "auto",
        *,
        covariance: Any = "full",
        prior: float | None = 0.01,
        criterion: Any = "bic",
        start: Any = "k-means++",
        n_init: int = 10,
        tol: float = 1e-5,
        max_iter: int = 1000,
        columns: Any = None,
        random_state: Seed = None,
        threads: int | None = None,
    ) -> None:
        self.family = family
        self.k = k
        self.covariance = covariance
        self.prior = prior
        self.criterion = criterion
        self.start = start
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.columns = columns
        self.random_state = random_state
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = self.family is Categorical
        tags.input_tags.positive_only = self.family is Poisson
        return tags

    def as_column(self) -> Column:
        """The same as a column of naive Bayes, a mixture for each class, from the histogram and its own start."""
        auto = isinstance(self.k, str) and self.k == "auto"
        if self.family is not Gaussian or not (auto or is_whole(self.k)):
            raise ValueError(
                "as a column of naive Bayes a mixture is a mixture of Gaussians, with k a number or 'auto'"
            )
        return Column(Gaussians, components=None if auto else int(self.k))

    # -- fitting -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components of the rows of a table, or of files; `sample_weight` may be the name of a column."""
        given = not isinstance(self.start, str)
        settings = MixtureSettings(
            self.family, self.covariance, self.prior, self.criterion, "given" if given else self.start,
            self.n_init, self.tol, self.max_iter,
        )  # fmt: skip
        if not given and self.start == "given":
            raise ValueError("start='given': expected 'k-means++', 'random', a row for each component, or a mixture")
        ks = numbers_of_components(self.k)
        rows = self._files(X, sample_weight) if is_source(X) else self._table(X, sample_weight)
        start = self._start(rows.schema) if given else None
        if start is not None:
            many = len(start[0]) if isinstance(start, list) else start.k
            if self.k != "auto" and ks != [many]:
                raise ValueError(f"k={self.k!r}, but the start has {many} components")
            ks = [many]
        model, found = fit_mixture(rows, settings, ks, self.random_state, self.threads, start)
        if is_source(X):
            self._warn(found.report)._name(model)
        return self._keep(model)

    def _files(self, X: Any, weight: Any) -> MixtureRows:
        check_named(sample_weight=weight)
        source = read(X)
        source = source.rereadable() if isinstance(source, Files) else source
        return streamed(source, self.family, self.columns, weight)

    def _table(self, X: Any, weight: Any) -> MixtureRows:
        X, named = taken_out(_dense(eager(X)), weight=weight)
        if isinstance(weight, str):
            weight = numbers(named["weight"], weight)
        rows = self._features(X, reset=True)
        return Tabled(rows, schema_of(rows, self.family, self.columns), check_weights(weight, rows.rows))

    def _start(self, schema: Schema) -> Any:
        """The start that was given: another mixture's components, or each column of some rows."""
        if isinstance(self.start, Mixture | MixtureModel):
            model = self.start.model_ if isinstance(self.start, Mixture) else self.start
            mine = (self.family, self.covariance, list(schema.features))
            theirs = (model.settings.family, model.settings.covariance, model.names)
            if mine != theirs:
                raise ValueError("the mixture to start from has another family, covariance or other columns")
            return model.components
        rows = table(self.start, list(schema.features) if not hasattr(self.start, "columns") else None)
        found = []
        for name, how in schema.features.items():
            x = cells(rows, name, how)
            if isinstance(x, Coded):
                raise ValueError("a mixture of categories starts from another mixture, not from rows")
            self.family.check(x, name, 0)
            found.append(x)
        return found

    def _keep(self, model: MixtureModel) -> Self:
        self.model_ = model
        self.k_ = model.k
        self.n_iter_ = max(model.fit.steps or 0, 1)
        self.converged_ = bool(model.fit.converged)
        return self

    @classmethod
    def of(cls, model: MixtureModel) -> Self:
        """The estimator of a model value, such as a loaded one."""
        s = model.settings
        new = cls(
            s.family,
            model.k,
            covariance=s.covariance,
            prior=s.prior,
            criterion=s.criterion,
            start="k-means++" if s.start == "given" else s.start,
            n_init=s.n_init,
            tol=s.tol,
            max_iter=s.max_iter,
            columns=None if model.names == list(model.schema.columns) else model.names,
        )
        return new._name(model)._keep(model)

    # -- what it says ------------------------------------------------------------------------------------------------

    def _said(self, X: Any, say: Callable[[Any], Floats]) -> Floats:
        """What the model says of some rows, or of all rows of some files."""
        check_is_fitted(self)
        if is_source(X):
            return of_files(X, self.model_.schema, say)
        return say(self._features(_dense(eager(X)), reset=False))

    def predict_proba(self, X: Any) -> Floats:
        """p(component | row)."""
        return self._said(X, lambda rows: self.model_.shares(rows, self.threads))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most probable component of each row, counted from 0."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int64]:
        """Fit, and the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def score_samples(self, X: Any) -> Floats:
        """log p(row)."""
        return self._said(X, lambda rows: self.model_.log_prob(rows, self.threads))

    def score(self, X: Any, y: Any = None) -> float:
        """The average log p(row)."""
        return float(np.mean(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Draw rows, and which component each is from."""
        check_is_fitted(self)
        columns, component = self.model_.sample(n_samples, random_state)
        return np.column_stack(columns), component

    @property
    def weights_(self) -> Floats:
        """The components' weights."""
        check_is_fitted(self)
        return self.model_.weights

    @property
    def means_(self) -> Floats:
        """Each component's mean of each column, (k, columns); of categories there is none."""
        check_is_fitted(self)
        if self.family is Categorical:
            raise AttributeError("categories have no means; model_.column(name).shares are their shares")
        return np.array([self.model_.column(name).mean for name in self.model_.names]).T

    @property
    def covariances_(self) -> Floats:
        """Of Gaussians: each component's covariance matrix."""
        check_is_fitted(self)
        if self.family is not Gaussian:
            raise AttributeError(f"a {self.family.__name__} has no covariances")
        return self.model_.covariances

    @property
    def log_likelihood_(self) -> float:
        """Σ weight · log p(row) over the rows it was fitted to."""
        check_is_fitted(self)
        return float(self.model_.fit.log_likelihood)

    @property
    def bic_(self) -> float:
        """parameters · log rows - 2 · log-likelihood."""
        check_is_fitted(self)
        return float(self.model_.fit.bic)

    @property
    def icl_(self) -> float:
        """BIC and twice the entropy of the rows' shares."""
        check_is_fitted(self)
        return float(self.model_.fit.icl)

    @property
    def curve_(self) -> Frame:
        """Every k that was tried, with its BIC and ICL."""
        check_is_fitted(self)
        return self.model_.curve()


def _dense(X: Any) -> Any:
    """The rows, unless they are a sparse matrix: a component's mean has no zeros, so nothing would be saved."""
    if hasattr(X, "tocsr"):
        raise TypeError("Sparse data was passed, and a mixture takes dense rows: give it X.toarray()")
    return X
