"""scikit-learn's own checks, for every kind of covariance, and for numbers taken as categories."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from evenodds import Categorical, Mixture

ESTIMATORS = [
    Mixture(k=2),
    Mixture(k=2, covariance="tied", n_init=2),
    Mixture(k=2, covariance="diagonal", n_init=2),
    Mixture(k=2, covariance="spherical", n_init=2),
    Mixture(k=(1, 2), n_init=2),
    Mixture(Categorical, k=2, n_init=2),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_common_checks(estimator, check):
    check(estimator)
