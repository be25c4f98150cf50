"""The perceptron and the separator with scikit-learn's face: shells around their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from evenodds.arguments import flag, whole
from evenodds.errors import DataError, warn
from evenodds.families.leaves import Floats
from evenodds.models.separators.linear_rule import LinearRule
from evenodds.models.separators.perceptron import walk
from evenodds.models.separators.separation import check_finite, check_learnable, check_numbers, classes_of_rows
from evenodds.models.separators.separator import Certificate, separate
from evenodds.models.shell import accuracy, classes_of, drop, eager, has_frame, target_of
from evenodds.models.targets import check_two, required


class _LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the two share: reading rows, and the line they learnt."""

    rule_: LinearRule
    classes_: NDArray[Any]
    n_features_in_: int

    def _read(self, X: Any, y: Any) -> tuple[Floats, NDArray[np.int64]]:
        """Rows and class codes; `y` may be the name of a data frame's column."""
        X, y = _parted(X, y)
        required(y, self)
        check_numbers(X)
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite=False)
        self.classes_, codes = classes_of_rows(classes_of(y), len(X))
        check_learnable(X, self._names())
        check_two(self.classes_)
        return X, codes

    def _names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if known is None else [str(name) for name in known]

    def _rows(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = _frame(X)
        check_numbers(X)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite=False)
        check_finite(X, self._names())
        return np.asarray(X)

    @property
    def coef_(self) -> Floats:
        """The weights: (1, columns) for two classes, (classes, columns) for more."""
        check_is_fitted(self, "rule_")
        return self.rule_.weights

    @property
    def intercept_(self) -> Floats:
        """The constants: the last of the homogeneous weights."""
        check_is_fitted(self, "rule_")
        return self.rule_.constants

    def decision_function(self, X: Any) -> Floats:
        """w·x + b: of the second class for two, of each class for more."""
        rows = self._rows(X)
        return self.rule_.scores(rows)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class on whose side each row lies."""
        rows = self._rows(X)
        return self.rule_.predict(rows)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows on their own side; `y` may be the name of a data frame's column."""
        X, y = _parted(X, y)
        return accuracy(self.classes_, self.rule_.codes(self._rows(X)), X, y, sample_weight)


def _frame(X: Any) -> Any:
    """An array or a data frame, a lazy one collected."""
    rows = isinstance(X, Sequence) and len(X) and isinstance(X[0], Mapping)
    if rows or (isinstance(X, Mapping) and not hasattr(X, "shape")):  # some sparse matrices are mappings
        raise DataError("X is made of dicts: a line needs an array or a data frame; give pandas.DataFrame(X)")
    return eager(X)


def _parted(X: Any, y: Any) -> tuple[Any, Any]:
    """The features and the target, which may be the name of a data frame's column."""
    X = _frame(X)
    if not isinstance(y, str):
        return X, y
    if not hasattr(X, "columns"):
        raise DataError(f"y is the name {y!r}, but X has no named columns: give a class for each row")
    target = target_of(X, y)
    return drop(X, y) if has_frame(X) else X.drop_columns([y]), target


class Perceptron(_LinearClassifier):
    """The perceptron, with the bound on its mistakes beside their number.

    w = 0;  for u in random order:  if u·w ≤ 0 then w += u          u = y (x, 1)

    >>> line = Perceptron(random_state=0).fit([[1], [2], [3], [4]], ["low", "low", "high", "high"])
    >>> line.predict([[0], [5]])
    array(['low', 'high'], dtype='<U4')
    >>> line.separable_, line.mistakes_ <= line.bound_
    (True, True)

    Parameters
    ----------
    max_iter : int
        Epochs: how often all rows are looked at, at most.
    averaged : bool
        Whether the weights are the mean of all those on the way, which says more of rows not seen (Freund and Schapire
        1999), and need not separate the rows that were.
    bound : bool
        Whether a linear program finds out if any line separates, and with what margin. Without it `margin_` and
        `bound_` are None, and so is `separable_` if the walk has not ended.
    random_state : int, RandomState or None
        The seed of the order.

    After `fit`: `mistakes_`, `n_iter_`, `converged_`; `separable_` (True, False, or None: not known); `radius_` R,
    `margin_` γ and `bound_` (R / γ)² of the homogeneous u; `coef_`, `intercept_`, `classes_`.
    """

    def __init__(
        self, *, max_iter: int = 1000, averaged: bool = False, bound: bool = True, random_state: Any = None
    ) -> None:
        self.max_iter = max_iter
        self.averaged = averaged
        self.bound = bound
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Walk until no row is on the wrong side, or `max_iter` are over. `y` is a column's name or a vector."""
        X, codes = self._read(X, y)
        epochs = whole("max_iter", self.max_iter)
        averaged, bound = flag("averaged", self.averaged), flag("bound", self.bound)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        found = walk(X, codes, self.classes_, epochs, seed, averaged, bound)
        self.rule_, self.walk_ = found.rule, found
        self.mistakes_, self.n_iter_, self.converged_ = found.mistakes, found.epochs, found.converged
        self.separable_, self.radius_, self.margin_, self.bound_ = (
            found.separable, found.radius, found.margin, found.bound,
        )  # fmt: skip
        if not found.converged:
            self._warn()
        return self

    def _warn(self) -> None:
        so_far = f"the perceptron made {self.mistakes_:,} mistakes in {self.n_iter_:,} epochs and would make more"
        if self.separable_ is False:
            why = "no line separates the classes; LinearSeparator has the proof, and the line of least slack"
        elif self.separable_ is None:
            why = "whether a line separates the classes is not known: bound=True finds out"
        else:
            why = f"a line separates the classes, and at most {self.bound_:.3g} are needed: raise max_iter, or rescale"
        warn(f"{so_far}: {why}", ConvergenceWarning)


class LinearSeparator(_LinearClassifier):
    """The line that separates the classes with the largest distance, or the proof that none does.

    >>> line = LinearSeparator().fit([[0], [1], [3], [4]], ["a", "a", "b", "b"])
    >>> line.separable_, round(line.euclidean_margin_, 12), line.predict([[1.9], [2.1]]).tolist()
    (True, 1.0, ['a', 'b'])
    >>> none = LinearSeparator().fit([[0], [1], [2]], ["a", "b", "a"])
    >>> none.separable_, none.certificate_.rows.tolist(), none.certificate_.weights.round(12).tolist()
    (False, [0, 1, 2], [0.25, 0.5, 0.25])

    After `fit`: `separable_`; `margin_` in homogeneous coordinates and `euclidean_margin_`, the distance of the nearest
    row from the line (both None if none separates); `slack_`, the least total slack; `certificate_`, None or the convex
    combination that proves that there is none; `support_`, the rows that hold the line; `coef_`, `intercept_`,
    `classes_`. More than two classes have a line between every two of them, by the shortest weights Σ ‖w_k‖² with which
    every row scores its own class at least 1 above any other.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Find the line. `y` is a column's name or a vector."""
        X, codes = self._read(X, y)
        found = separate(X, codes, self.classes_)
        self.rule_, self.separator_ = found.rule, found
        self.separable_, self.margin_, self.euclidean_margin_ = found.separable, found.margin, found.euclidean_margin
        self.slack_, self.support_ = found.slack, found.support
        self.certificate_: Certificate | None = found.certificate
        return self
