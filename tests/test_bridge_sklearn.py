"""scikit-learn's own checks of logistic regression on top of naive Bayes."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import evenodds as eo


@pytest.mark.filterwarnings("ignore::evenodds.SchemaWarning")
@parametrize_with_checks([eo.NaiveLogistic()])
def test_common_checks(estimator, check):
    check(estimator)
