"""The bridge's parents at their best, and their rows: logistic regression, its C chosen; calibrated naive Bayes.

- logistic regression: tf-idf of words and bigrams, or one-hot categories and standardised numbers (missing ones are the
  mean, missing categories a value of their own); C of 0.01 to 100,000,000, to the second that is worse than the best,
  by five-fold cross-validated log loss; by Newton's steps, which end at the same weights as L-BFGS, sooner, and of
  texts in the products of rows (benchmarks/softmax.py), where the best weights are the same;
- naive Bayes: of scikit-learn's five (on text the three that take counts), that of the lowest cross-validated log loss
  after sigmoid calibration (`CalibratedClassifierCV`).
"""

import math
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from benchmarks import tables, text_data
from benchmarks.contenders import PEERS
from benchmarks.softmax import FINE, ROUGH, Softmax

SOLVER = "newton-cg"
STRENGTHS = [10.0**k for k in range(-2, 9)]  # scikit-learn's C


class Rows:
    """A set's rows, which can be picked by number, and their classes."""

    def __init__(self, name: str) -> None:
        self.name, self.is_text = name, name in text_data.FILES
        if self.is_text:
            self.documents = text_data.load(name)
            self.y = self.documents.y.astype(str)
        else:
            self.table = tables.load(name)
            self.y = self.table.y.astype(str)

    def some(self, at: npt.NDArray[np.intp]) -> Any:
        """Some of them."""
        return [self.documents.texts[i] for i in at] if self.is_text else self.table.frame.iloc[at]


def folds_of(y: npt.NDArray[np.str_]) -> StratifiedKFold:
    return StratifiedKFold(int(max(2, min(5, np.unique(y, return_counts=True)[1].min()))), shuffle=True, random_state=0)


class TunedLogistic:
    """Logistic regression with the C of the lowest cross-validated log loss; each fold's columns are made once."""

    def __init__(self, rows: Rows) -> None:
        if rows.is_text:
            self.columns: Any = make_pipeline(Known(), TfidfTransformer(sublinear_tf=True))
        else:
            numbers = make_pipeline(SimpleImputer(), StandardScaler())
            values = make_pipeline(
                SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(handle_unknown="ignore")
            )
            self.columns = make_column_transformer(
                (numbers, rows.table.of_type("numeric")), (values, rows.table.of_type("nominal"))
            )
        self.words = CountVectorizer(ngram_range=(1, 2)) if rows.is_text else None
        self.rows = rows

    def fit(self, x: Any, y: npt.NDArray[np.str_]) -> "TunedLogistic":
        """Choose, and learn all rows."""
        x = x.reset_index(drop=True) if self.words is None else self.words.fit_transform(x)
        made = []
        for kept, out in folds_of(y).split(y, y):
            columns = clone(self.columns)
            fitted = self._one(columns.fit_transform(_some(x, kept)), y[kept], ROUGH)
            made.append((fitted, columns.transform(_some(x, out)), y[out]))
        losses: list[float] = []
        # each strength begins with the weights of the last, and past the best there is no more to see
        for self.best in STRENGTHS:
            said = [(t, fit(self.best), z) for fit, z, t in made]
            losses.append(sum(log_loss(t, m.predict_proba(z), labels=m.classes_) for t, m, z in said))
            if len(losses) > 2 and min(losses[-2:]) > min(losses):
                break
        self.best, self.classes_ = STRENGTHS[int(np.argmin(losses))], np.unique(y)
        self.model = self._one(self.columns.fit_transform(x), y, FINE)(self.best)
        return self

    def _one(self, x: Any, y: npt.NDArray[np.str_], tolerance: float) -> Callable[[float], Any]:
        """What fits these rows for one C after the other."""
        if self.rows.is_text:
            return Softmax(x, y, tolerance).fit
        model = LogisticRegression(solver=SOLVER, max_iter=2_000, tol=1e-7, warm_start=True)
        return lambda strength: model.set_params(C=strength).fit(x, y)

    def predict_proba(self, x: Any) -> Any:
        """What the chosen one says, once it has learnt all rows."""
        x = x if self.words is None else self.words.transform(x)
        return self.model.predict_proba(self.columns.transform(x))


def _some(x: Any, at: npt.NDArray[np.intp]) -> Any:
    return x[at] if issparse(x) else x.iloc[at]


class Known(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of counts that have any at fit: as if the texts had been cut into words then."""

    def fit(self, x: Any, y: Any = None) -> "Known":
        """See which those are."""
        self.kept_ = np.flatnonzero(x.getnnz(axis=0))
        return self

    def transform(self, x: Any) -> Any:
        """Those alone."""
        return x[:, self.kept_]


class BestNaiveBayes:
    """The calibrated naive Bayes of the lowest cross-validated log loss."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def fit(self, x: Any, y: npt.NDArray[np.str_]) -> "BestNaiveBayes":
        """Choose, and learn all rows."""
        self.words = CountVectorizer(ngram_range=(1, 2)) if self.rows.is_text else None
        if self.words is not None:  # texts are cut once; each fold knows the words of its own
            x = self.words.fit_transform(x)
            made = [make_pipeline(Known(), kind) for kind in (MultinomialNB(), ComplementNB(), BernoulliNB())]
        else:
            peers = [(peer.make(self.rows.table), peer.columns(self.rows.table)) for peer in PEERS]
            made = [make_pipeline(FunctionTransformer(itemgetter(names)), peer) for peer, names in peers if names]
        least, self.best = math.inf, None
        outer = folds_of(y)
        fewest = np.unique(y, return_counts=True)[1].min()
        inner = int(min(5, fewest * (outer.n_splits - 1) // outer.n_splits))
        for pipe in made:  # a class with two or three rows leaves none to calibrate by
            one = CalibratedClassifierCV(pipe, cv=inner, ensemble=False) if inner >= 2 else pipe
            loss = log_loss(y, cross_val_predict(one, x, y, cv=outer, method="predict_proba"), labels=np.unique(y))
            if loss < least:
                least, self.best = loss, one
        assert self.best is not None
        self.best.fit(x, y)
        self.classes_ = self.best.classes_
        return self

    def predict_proba(self, x: Any) -> Any:
        """What the chosen one says."""
        assert self.best is not None
        return self.best.predict_proba(x if self.words is None else self.words.transform(x))
