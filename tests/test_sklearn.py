"""scikit-learn's own checks, its tools on data frames, and its naive Bayes where both mean the same."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import evenodds as eo
from tables import COLUMNS, fitted, mixed


@parametrize_with_checks([eo.NaiveBayes(), eo.NaiveBayes(eo.Gaussian)])
def test_common_checks(estimator, check):
    check(estimator)


# Its tools


def test_a_pipeline_of_frames():
    X, y = mixed(200)
    decades = FunctionTransformer(lambda frame: frame.assign(age=frame["age"] / 10))
    pipeline = make_pipeline(decades, eo.NaiveBayes(COLUMNS)).fit(X, y)
    alone = eo.NaiveBayes(COLUMNS).fit(decades.transform(X), y)
    np.testing.assert_array_equal(pipeline.predict_proba(X), alone.predict_proba(decades.transform(X)))


def test_a_pipeline_of_arrays_does_not_mind_the_scale():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)) * [1, 1e3, 1e-3] + 5, np.arange(100) % 2
    plain = eo.NaiveBayes(eo.Gaussian).fit(X, y)
    scaled = make_pipeline(StandardScaler(), eo.NaiveBayes(eo.Gaussian)).fit(X, y)
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


def test_a_grid_search_over_smoothing():
    X, y = mixed(200)
    search = GridSearchCV(eo.NaiveBayes(COLUMNS), {"smoothing": [0.1, 2.0, 50.0, "auto"]}, scoring="neg_log_loss", cv=3)
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert len(set(scores.round(6))) == 4


def test_a_grid_search_over_everything_else():
    X, y = mixed(150)
    grid = {"estimate": ["predictive", "mean"], "prior": ["pooled", "flat"], "class_prior": ["uniform", "estimated"]}
    search = GridSearchCV(eo.NaiveBayes(COLUMNS), grid, scoring="neg_log_loss", cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_clone_has_the_settings_and_not_the_rows():
    nb = eo.NaiveBayes(
        COLUMNS,
        estimate="map",
        smoothing=3.0,
        prior="flat",
        class_prior=[0.2, 0.3, 0.5],
        class_weight={"lo": 2},
        unseen="prior",
    ).fit(*mixed(50))
    copy = clone(nb)
    assert copy.get_params() == nb.get_params()
    assert not hasattr(copy, "model_")
    assert copy.fit(*mixed(50)).model_ == nb.model_


def test_cross_validated_predictions():
    X, y = mixed(200)
    p = cross_val_predict(eo.NaiveBayes(COLUMNS), X, y, method="predict_proba", cv=4)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (np.array(["hi", "lo", "mid"])[p.argmax(axis=1)] == y).mean() > 0.45


def test_cross_validation_is_the_model_without_the_fold():
    X, y = mixed(120)
    schema = fitted().model_.schema
    p = cross_val_predict(eo.NaiveBayes(schema=schema), X, y, method="predict_proba", cv=3)
    whole = eo.NaiveBayes(schema=schema).fit(X, y).model_
    for _, fold in StratifiedKFold(3).split(X, y):
        rest = whole.forget(X.iloc[fold], y.iloc[fold].to_numpy())
        np.testing.assert_allclose(np.exp(rest.log_proba(X.iloc[fold])), p[fold], rtol=1e-9)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_of_frames_with_holes_and_texts(method):
    X, y = mixed(300)
    calibrated = CalibratedClassifierCV(eo.NaiveBayes(COLUMNS), method=method, cv=3).fit(X, y)
    p = calibrated.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert calibrated.score(X, y) > 0.45


def test_sample_weights_are_routed():
    X, y = mixed(150)
    scores = cross_val_score(eo.NaiveBayes(COLUMNS), X, y, cv=3, params={"sample_weight": np.ones(150)})
    np.testing.assert_allclose(scores, cross_val_score(eo.NaiveBayes(COLUMNS), X, y, cv=3))


def test_pickles_predict_and_go_on_learning():
    X, y = mixed(120)
    nb = fitted(120)
    again = pickle.loads(pickle.dumps(nb))
    assert again.model_ == nb.model_
    np.testing.assert_array_equal(again.predict_proba(X), nb.predict_proba(X))
    assert again.partial_fit(X, y).model_ == nb.partial_fit(X, y).model_


def test_feature_names():
    X, y = mixed(60)
    nb = eo.NaiveBayes(COLUMNS).fit(X, y)
    assert nb.feature_names_in_.tolist() == list(X.columns)
    assert nb.n_features_in_ == len(COLUMNS)
    assert not hasattr(eo.NaiveBayes().fit(np.eye(4), [0, 1, 0, 1]), "feature_names_in_")


def test_feature_names_are_those_of_the_last_fit(tmp_path):
    X, y = mixed(60)
    (tmp_path / "rows.csv").write_text("x0,x1,y\n1,2,a\n2,3,b\n3,4,a\n4,5,b\n")
    for again in ((np.eye(4)[:, :2], [0, 1, 0, 1]), ([[1.0, 2], [3, 4]], [0, 1]), (tmp_path / "rows.csv", "y")):
        nb = eo.NaiveBayes().fit(X, y).fit(*again)
        assert not hasattr(nb, "feature_names_in_")
        assert nb.n_features_in_ == 2


def test_the_repr_is_short():
    assert repr(eo.NaiveBayes()) == "NaiveBayes()"
    assert repr(eo.NaiveBayes(smoothing=1.0)) == "NaiveBayes(smoothing=1.0)"


# Its naive Bayes, where both mean the same


def numbers(n=150, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 4)) * [1, 10, 0.1, 3] + y[:, None] * [0.5, 3, 0.1, 0], y


def test_agreement_with_gaussian_nb():
    X, y = numbers()
    theirs = GaussianNB(var_smoothing=0).fit(X, y)
    ours = eo.NaiveBayes(eo.Gaussian, estimate="mle").fit(X, y)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose([d.mean for d in ours.model_.distributions.values()], theirs.theta_.T, rtol=1e-9)
    np.testing.assert_allclose([d.variance for d in ours.model_.distributions.values()], theirs.var_.T, rtol=1e-9)


def test_agreement_with_gaussian_nb_weighted_and_with_given_priors():
    X, y = numbers()
    w = np.random.default_rng(1).random(150)
    theirs = GaussianNB(var_smoothing=0, priors=[0.2, 0.3, 0.5]).fit(X, y, sample_weight=w)
    ours = eo.NaiveBayes(eo.Gaussian, estimate="mle", class_prior=[0.2, 0.3, 0.5]).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 3.0])
def test_agreement_with_categorical_nb(alpha):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (200, 5)), np.arange(200) % 3
    X[:4] = np.arange(4)[:, None]  # every category occurs in every column
    theirs = CategoricalNB(alpha=alpha).fit(X, y)
    ours = eo.NaiveBayes(eo.Categorical, prior="flat", estimate="mean", smoothing=alpha).fit(X, y)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_agreement_with_bernoulli_nb(alpha, weighted):
    rng = np.random.default_rng(0)
    X, y = (rng.random((200, 6)) < 0.3).astype(int), np.arange(200) % 3
    w = rng.random(200) if weighted else None
    theirs = BernoulliNB(alpha=alpha).fit(X, y, sample_weight=w)
    ours = eo.NaiveBayes(eo.Bernoulli, prior="flat", estimate="mean", smoothing=alpha).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9)


def test_agreement_with_bernoulli_nb_in_its_weights():
    rng = np.random.default_rng(0)
    X, y = (rng.random((200, 6)) < 0.3).astype(int), np.arange(200) % 2
    theirs = BernoulliNB().fit(X, y)
    ours = eo.NaiveBayes(eo.Bernoulli, prior="flat", estimate="mean", smoothing=1.0).fit(X, y)
    log_p = theirs.feature_log_prob_
    log_odds = log_p - np.log1p(-np.exp(log_p))
    np.testing.assert_allclose(ours.coef_[0], log_odds[1] - log_odds[0], rtol=1e-9)


# Where scikit-learn is known to be wrong


def test_chunks_are_one_fit_and_no_column_widens_another():
    """GaussianNB adds 1e-9 of the widest column's variance to every column's, and chunk by chunk another amount.

    Of these rows it says that the first column's variance is 628 at once and 622 in four chunks; it is 1.
    """
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=200) + 3 * y, rng.normal(size=200) * np.repeat([1e6, 1.0], 100)])
    chunks, whole = eo.NaiveBayes(eo.Gaussian), eo.NaiveBayes(eo.Gaussian).fit(X, y)
    for rows in np.array_split(np.arange(200), 4):
        chunks.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(chunks.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-9)
    mle = chunks.model_.set(estimate="mle").distributions["x0"]
    np.testing.assert_allclose(mle.variance, [X[y == c, 0].var() for c in (0, 1)], rtol=1e-9)


@pytest.mark.parametrize("estimate", ["mle", "mean", "predictive"])
def test_scores_far_from_every_class_are_finite_and_ordered(estimate):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 50), rng.normal(1, 1, 50)]).reshape(-1, 1)
    nb = eo.NaiveBayes(eo.Gaussian, estimate=estimate).fit(X, np.repeat([0, 1], 50))
    far = np.array([[5.0], [38.0], [39.0], [1000.0]])
    joint = nb.predict_joint_log_proba(far)
    assert np.isfinite(joint).all()
    assert (np.diff(joint, axis=0) < 0).all()
    assert np.isfinite(nb.score_samples(far)).all()
    assert np.isfinite(nb.predict_log_proba(far)).all()


def test_scores_at_38_and_39_sigma_are_told_apart():
    X = np.array([[-1.0], [1.0], [-1.0], [1.0], [0.0], [2.0], [0.0], [2.0]])  # two classes of variance 1, means 0 and 1
    nb = eo.NaiveBayes(eo.Gaussian, estimate="mle").fit(X, np.repeat([0, 1], 4))
    z = nb.decision_function(np.array([[38.0], [39.0], [-38.0], [-39.0]]))
    np.testing.assert_allclose(z, [37.5, 38.5, -38.5, -39.5], rtol=1e-12)
    log_p = nb.predict_log_proba(np.array([[38.0], [39.0]]))
    np.testing.assert_allclose(log_p[:, 0], [-37.5, -38.5], rtol=1e-12)


def test_an_unseen_category_is_no_error():
    X, y = np.array([[0], [1], [0], [1]]), [0, 1, 0, 1]
    ours = eo.NaiveBayes(eo.Categorical).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(np.array([[2]])), [[0.5, 0.5]])


def test_a_class_with_one_row_has_a_finite_density():
    X, y = np.array([[1.0], [2.0], [3.0], [10.0]]), [0, 0, 0, 1]
    ours = eo.NaiveBayes(eo.Gaussian).fit(X, y)
    p = ours.predict_proba(np.array([[2.0], [10.0], [9.0]]))
    assert np.isfinite(p).all()
    assert p[0, 1] < p[2, 1]
    assert ours.predict(np.array([[2.0], [10.0], [9.0]])).tolist() == [0, 1, 1]


def test_strings_and_holes_are_no_error():
    X = pd.DataFrame({"c": ["a", None, "b", "a"], "x": [1.0, 2.0, np.nan, 4.0]})
    assert eo.NaiveBayes().fit(X, [0, 1, 1, 0]).predict(X).shape == (4,)


CLASSIFIERS = {
    "NaiveBayes": lambda: eo.NaiveBayes(),
    "NaiveLogistic": lambda: eo.NaiveLogistic(),
    "GLM": lambda: eo.GLM(eo.Bernoulli, prior=1.0),
    "BayesNet": lambda: eo.BayesNet(search="star", cuts={"x": 3}),
    "LinearSeparator": lambda: eo.LinearSeparator(),
    "Perceptron": lambda: eo.Perceptron(random_state=0),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_score_is_the_share_of_right_predictions_or_says_that_classes_are_written_otherwise(name):
    x = pd.DataFrame({"x": np.r_[np.linspace(-3, -0.5, 30), np.linspace(0.5, 3, 30)]})
    y = np.repeat([0, 1], 30)
    told = CLASSIFIERS[name]().fit(x, y)
    mixed = np.where(np.arange(60) % 7 == 0, 1 - y, y)
    for same in (mixed, mixed.astype(float), pd.Series(mixed), mixed.astype(str), mixed.astype(object)):
        assert told.score(x, same) == pytest.approx(np.mean(told.predict(x) == mixed))
    weights = np.arange(60.0)
    assert told.score(x, mixed, weights) == pytest.approx(np.average(told.predict(x) == mixed, weights=weights))
    assert told.score(x, np.where(mixed == 1, 1, 7)) == pytest.approx(np.mean((told.predict(x) == 1) & (mixed == 1)))
    with pytest.raises(eo.DataError, match="no row has a class that was learnt: here are 'false', 'true', learnt were"):
        told.score(x, mixed == 1)
    with pytest.raises(eo.DataError, match="missing in row 2"):
        told.score(x, [None if i == 2 else int(c) for i, c in enumerate(mixed)])
    with pytest.raises(eo.DataError, match="no rows with a class and a weight"):
        told.score(x, mixed, np.zeros(60))
