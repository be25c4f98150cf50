"""scikit-learn's own checks, for every output distribution."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import evenodds as eo


@pytest.mark.filterwarnings("ignore::evenodds.RegressionWarning")
@parametrize_with_checks([eo.GLM(), eo.GLM(eo.Bernoulli), eo.GLM(eo.Categorical), eo.GLM(eo.Poisson)])
def test_common_checks(estimator, check):
    check(estimator)
