"""scikit-learn's own checks, and its tools on data frames."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import evenodds as eo


@parametrize_with_checks([eo.NaiveBayes(), eo.NaiveBayes(eo.Gaussian)])
def test_common_checks(estimator, check):
    check(estimator)
