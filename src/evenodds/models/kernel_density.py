"""KernelDensity: the shape of one variable, as scikit-learn has its estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from evenodds.arguments import whole
from evenodds.cells import as_column, numbers
from evenodds.data.memory import table
from evenodds.errors import DataError
from evenodds.families import Kernel
from evenodds.families.density.bandwidths import bandwidth_of
from evenodds.families.density.density import Density, ends
from evenodds.families.density.points import Points
from evenodds.families.density.shapes import shape_of
from evenodds.families.distribution import Seed
from evenodds.families.leaves import Floats
from evenodds.schema import Column


class KernelDensity(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """The density of one variable, a bump of the kernel's shape on every value.

    p(x) = 1/(n h) Σ_i K((x - x_i)/h)

    Minutes between 16 eruptions of Old Faithful:

    >>> waits = [79, 54, 74, 62, 85, 55, 88, 85, 51, 85, 54, 84, 78, 47, 83, 52]
    >>> KernelDensity(bandwidth=5).fit(waits).pdf([54, 67, 83]).round(4)
    array([0.0269, 0.0064, 0.0343])

    kernel     "gaussian", "boxcar", "triangular", "epanechnikov", "biweight" or "cosine"
    bandwidth  h, the Gaussian's standard deviation and half the width of all others; or a rule that finds one:
               "sj", "isj", "scott", "silverman" or "loo" (`evenodds.families.density.bandwidths`)
    support    (low, high), either of which may be None: mass beyond is reflected

    After `fit`, `bandwidth_` is the number and `density_` the distribution. A missing value is left out; a weight of 2
    is a value that is there twice.
    """

    def __init__(
        self,
        bandwidth: float | str = "sj",
        *,
        kernel: str = "gaussian",
        support: tuple[float | None, float | None] | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.support = support

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from values: a column, or a table of one column."""
        points = Points.of(_column(X), sample_weight)
        shape = shape_of(self.kernel)
        self.bandwidth_ = bandwidth_of(self.bandwidth, points, shape)
        self.density_ = Density(points, self.kernel, self.bandwidth_, ends(self.support))
        return self

    def as_column(self) -> Column:
        """The same as a column of naive Bayes, a density for each class: Gaussian, without ends, from the histogram."""
        if self.kernel != "gaussian" or self.support is not None:
            raise ValueError("as a column of naive Bayes a kernel density is Gaussian and has no support")
        return Column(Kernel, bandwidth=self.bandwidth)

    def _of(self) -> Density:
        check_is_fitted(self)
        density: Density = self.density_
        return density

    def pdf(self, x: Any) -> Floats:
        """The density at some places, to 1e-13 of its peak."""
        return self._of().pdf(_column(x))

    def log_prob(self, x: Any) -> Floats:
        """log of the density, right in the tails too."""
        return self._of().log_prob(_column(x))

    def cdf(self, x: Any) -> Floats:
        """The mass below some places."""
        return self._of().cdf(_column(x))

    def quantile(self, p: Any) -> Floats:
        """The places below which the shares p of the mass lie."""
        return self._of().quantile(p)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> Floats:
        """Draw values."""
        return self._of().sample(whole("n_samples", n_samples, least=0), random_state)

    def grid(self, size: int = 1024, low: float | None = None, high: float | None = None) -> tuple[Floats, Floats]:
        """Evenly spaced places and the density there, quickly."""
        return self._of().grid(size, low, high)

    def score_samples(self, X: Any) -> Floats:
        """log of the density at some places, as scikit-learn calls it."""
        return self.log_prob(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Σ log p(x): the log-likelihood of values, best of such that were not learnt from."""
        return float(np.nansum(self.log_prob(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        return tags


def _column(x: Any) -> Floats:
    """The numbers of a column, or of a table that has only one."""
    rows = isinstance(x, Sequence) and len(x) > 0 and isinstance(x[0], (Mapping, list, tuple))
    if rows or isinstance(x, Mapping) or len(getattr(x, "shape", ())) == 2:
        columns = table(x).whole().columns
        if len(columns) != 1:
            raise DataError(f"a table of {len(columns)} columns: a kernel density is of one; pick it by its name")
        (x,) = columns.values()
    x = np.atleast_1d(x) if np.isscalar(x) else x
    return np.ascontiguousarray(numbers(as_column(x), "x"), dtype=float)
