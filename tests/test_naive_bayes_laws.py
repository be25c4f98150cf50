"""A naive Bayes model is a sum: the laws of DESIGN section 7 for the model and its shell."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenodds as eo
from evenodds.data import memory
from evenodds.schema import Schema
from laws import assert_same
from tables import COLUMNS, fitted, mixed

seeds = st.integers(0, 1000)
ESTIMATES = pytest.mark.parametrize("estimate", ["predictive", "mean", "map"])


@functools.cache
def schema() -> Schema:
    return fitted().model_.schema


def learner(**settings):
    return eo.NaiveBayes(schema=schema(), **settings)


def model(X, y, **settings):
    """The model of any rows, of one class too."""
    return learner(**settings).partial_fit(X, y).model_


def terms(X):
    """The tally with every row a class of its own: its sums are the terms that were added."""
    return [model(X, np.arange(len(X))).tally]


def assert_same_model(a, b, X, y):
    """Counts alike, sums to 1e-12 of the largest term, predictions to 1e-9."""
    assert a.schema == b.schema
    assert_same(a.tally, b.tally, terms(X))
    assert a.classes.tolist() == b.classes.tolist()
    np.testing.assert_allclose(a.log_proba(X), b.log_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(a.log_joint(X), b.log_joint(X), rtol=1e-9, atol=1e-9)


def parts(X, y, cuts):
    ends = [0, *sorted(cuts), len(X)]
    return [(X.iloc[a:b], y.iloc[a:b]) for a, b in itertools.pairwise(ends) if b > a]


cuts = st.lists(st.integers(1, 59), max_size=5, unique=True)


@settings(max_examples=15)
@given(seed=seeds, cuts=cuts)
def test_any_batches_are_one_fit(seed, cuts):
    X, y = mixed(60, seed)
    whole, stream = learner().fit(X, y), learner()
    for part in parts(X, y, cuts):
        stream.partial_fit(*part)
    assert_same_model(stream.model_, whole.model_, X, y)


def test_row_by_row_is_one_fit():
    X, y = mixed(60)
    stream = learner()
    for i in range(len(X)):
        stream.partial_fit(X.iloc[[i]], y.iloc[[i]])
    assert_same_model(stream.model_, learner().fit(X, y).model_, X, y)


@settings(max_examples=15)
@given(seed=seeds)
def test_the_order_of_rows_changes_nothing(seed):
    X, y = mixed(60, seed)
    order = np.random.default_rng(seed).permutation(len(X))
    assert_same_model(learner().fit(X.iloc[order], y.iloc[order]).model_, learner().fit(X, y).model_, X, y)


@settings(max_examples=15)
@given(seed=seeds, cuts=cuts)
def test_the_sum_of_the_parts_is_the_whole(seed, cuts):
    X, y = mixed(60, seed)
    models = [model(*part) for part in parts(X, y, cuts)]
    whole = model(X, y)
    assert_same_model(sum(models), whole, X, y)
    assert_same_model(functools.reduce(lambda a, b: b + a, models), whole, X, y)


def test_estimators_add_as_their_models_do():
    X, y = mixed(90)
    monday, tuesday, wednesday = (learner().fit(X[i : i + 30], y[i : i + 30]) for i in (0, 30, 60))
    week = sum([monday, tuesday, wednesday])
    assert isinstance(week, eo.NaiveBayes)
    assert_same_model(week.model_, learner().fit(X, y).model_, X, y)
    np.testing.assert_allclose(week.predict_proba(X), learner().fit(X, y).predict_proba(X), rtol=1e-9)


def test_the_sum_of_models_of_arrays_predicts_arrays_in_silence(recwarn):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    both = eo.NaiveBayes().fit(X[:20], y[:20]) + eo.NaiveBayes().fit(X[20:], y[20:])
    np.testing.assert_allclose(both.predict_proba(X), eo.NaiveBayes().fit(X, y).predict_proba(X))
    assert [str(warning.message) for warning in recwarn] == []


@settings(max_examples=15)
@given(seed=seeds, a=st.integers(0, 59), b=st.integers(0, 59))
def test_rows_forgotten_were_never_learnt(seed, a, b):
    X, y = mixed(60, seed)
    out = np.zeros(60, bool)
    out[min(a, b) : max(a, b)] = True
    rest = model(X, y).forget(X[out], _raw(y[out])) if out.any() else model(X, y)
    assert_same_model(rest, model(X[~out], y[~out]), X, y)


def _raw(y):
    return y.to_numpy()


@pytest.mark.parametrize("row", [0, 17, 59])
@ESTIMATES
def test_leaving_one_out_is_the_fit_without_it(row, estimate):
    X, y = mixed(60)
    keep = np.arange(60) != row
    without = learner(estimate=estimate).fit(X[keep], y[keep])
    forgetful = learner(estimate=estimate).fit(X, y).forget(X.iloc[[row]], y.iloc[[row]])
    assert_same_model(forgetful.model_, without.model_, X, y)


def test_all_rows_forgotten_leave_nothing():
    X, y = mixed(60)
    rest = model(X, y) - model(X, y)
    assert rest.rows == 0
    assert rest.classes.tolist() == []
    with pytest.raises(eo.DataError, match="no rows"):
        rest.log_proba(X)


def test_learning_after_forgetting_everything_starts_afresh():
    X, y = mixed(60)
    again = (model(X, y) - model(X, y)).learn(X, _raw(y))
    assert_same_model(again, model(X, y), X, y)


def test_what_was_never_learnt_cannot_be_forgotten_and_the_column_is_named():
    X, y = mixed(60)
    small, large = model(X[:30], y[:30]), model(X, y)
    with pytest.raises(eo.DataError, match=r"never learnt: column '\w+' would have -\d+ rows .*of class"):
        small - large


def test_a_category_that_was_never_there_cannot_be_forgotten():
    rows = [{"colour": "red"}, {"colour": "blue"}]
    nb = eo.NaiveBayes({"colour": eo.Categorical}).fit(rows, ["a", "b"])
    with pytest.raises(eo.DataError, match="column 'colour' would have -1 rows 'green' of class 'a'"):
        nb.forget([{"colour": "green"}], ["a"])


@settings(max_examples=15)
@given(seed=seeds, factor=st.sampled_from([0.5, 0.9, 0.3, 2.0]))
def test_fading_is_weighting_every_row(seed, factor):
    X, y = mixed(40, seed)
    faded = model(X, y).fade(factor)
    weighted = learner().partial_fit(X, y, sample_weight=np.full(40, factor)).model_
    assert_same(faded.tally, weighted.tally, terms(X), weight=2.0)
    np.testing.assert_allclose(faded.log_proba(X), weighted.log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("factor", [0.5, 0.1, 0.3])
def test_what_has_faded_can_be_forgotten_at_its_faded_weight(factor):
    X, y = mixed(60)
    rest = model(X, y).fade(factor).forget(X[:20], _raw(y[:20]), weights=np.full(20, factor))
    np.testing.assert_allclose(rest.log_proba(X), model(X[20:], y[20:]).fade(factor).log_proba(X), rtol=1e-9)


def test_fading_to_nothing_is_nothing():
    X, y = mixed(60)
    assert model(X, y).fade(0).rows == 0


@pytest.mark.parametrize("factor", [-1, float("nan"), float("inf"), "half", None, True])
def test_evidence_does_not_fade_backwards(factor):
    with pytest.raises(ValueError, match=r"factor=.*: expected a number, 0 or more"):
        fitted().model_.fade(factor)


def test_a_weight_of_two_is_two_rows_and_zero_is_none():
    X, y = mixed(60)
    weights = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weights)
    weighted = learner().fit(X, y, sample_weight=weights)
    assert_same_model(weighted.model_, learner().fit(X.iloc[repeated], y.iloc[repeated]).model_, X, y)
    assert weighted.model_.tally.counts.dtype == np.int64


def test_the_log_likelihood_is_the_labels_term_and_one_term_per_column():
    X, y = mixed(60)
    nb = learner(estimate="mean").fit(X, y)
    m = nb.model_
    own = np.searchsorted(m.classes, y.to_numpy().astype(str))
    from_rows = nb.predict_joint_log_proba(X)[np.arange(60), own].sum()
    labels = (m.class_counts * m.log_prior).sum()
    columns = sum(d.log_likelihood(m.column_tally(name)).sum() for name, d in m.distributions.items())
    assert labels + columns == pytest.approx(from_rows, rel=1e-10)


def test_the_log_likelihood_of_bins_knows_their_origin():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"year": 2000 + rng.integers(-9, 9, 200).astype(float)}), np.arange(200) % 2
    m = eo.NaiveBayes({"year": eo.Column(eo.Binned, origin=2000)}, estimate="mean").fit(X, y).model_
    binned = m.distributions["year"]
    from_rows = binned.log_prob(X["year"].to_numpy())[np.arange(200), y]
    from_tally = binned.log_likelihood(m.column_tally("year"))
    np.testing.assert_allclose(from_tally, [from_rows[y == c].sum() for c in (0, 1)], rtol=1e-10)


# Shards and threads


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(memory, "SHARD", 17)


def test_one_thread_and_two_give_the_same_bits(small_shards):
    X, y = mixed(300)
    one, two, four = (learner(threads=n).fit(X, y) for n in (1, 2, 4))
    assert one.model_.tally.to_bytes() == two.model_.tally.to_bytes() == four.model_.tally.to_bytes()
    assert one.predict_proba(X).tobytes() == two.predict_proba(X).tobytes()


def test_the_size_of_shards_changes_no_count(monkeypatch):
    X, y = mixed(120)
    whole = learner().fit(X, y).model_
    monkeypatch.setattr(memory, "SHARD", 17)
    assert_same_model(learner().fit(X, y).model_, whole, X, y)


def test_weighted_rows_in_shards_whole_here_and_fractional_there(small_shards):
    X, y = mixed(120)
    weights = np.where(np.arange(120) < 60, 1.0, 0.25)
    apart = model(X[:60], y[:60]) + model(X[60:], y[60:]).fade(0.25)
    together = learner().fit(X, y, sample_weight=weights).model_
    assert_same(together.tally, apart.tally, terms(X), weight=1.0)


@pytest.mark.parametrize("family", [eo.Gaussian, eo.Binned], ids=lambda family: family.__name__)
@pytest.mark.parametrize("k", [5, 40])
def test_values_side_by_side_and_column_by_column_are_the_same(family, k):
    values = np.random.default_rng(0).normal(size=(200, k))
    values[::7, 2] = np.nan
    y = np.arange(200) % 2
    every_other = np.zeros((200, 2 * k))
    every_other[:, ::2] = values
    rows = eo.NaiveBayes(family).fit(np.ascontiguousarray(values), y).model_.tally
    each = [eo.NaiveBayes(family).partial_fit(values, np.arange(200)).model_.tally]
    for other in (np.asfortranarray(values), every_other[:, ::2], values[:, ::-1].copy()[:, ::-1]):
        assert_same(eo.NaiveBayes(family).fit(other, y).model_.tally, rows, each)


# Adding what does not belong together


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({**COLUMNS, "age": eo.Gaussian}, "column 'age' is modelled differently"),
        ({**COLUMNS, "age": eo.Column(eo.Binned, bins=5)}, "column 'age' is modelled differently"),
        ({**COLUMNS, "kicks": eo.Column(eo.Poisson, prior=eo.Gamma(1, 1))}, "column 'kicks' is modelled differently"),
    ],
)
def test_models_that_differ_in_a_column_are_not_added(other, words):
    X, y = mixed(60)
    with pytest.raises(ValueError, match=words):
        fitted(60).model_ + eo.NaiveBayes(other).fit(X, y).model_
    with pytest.raises(ValueError, match=words):
        eo.NaiveBayes(other).fit(X, y) + fitted(60)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("estimate", "mean"),
        ("smoothing", 50.0),
        ("prior", "flat"),
        ("class_prior", {"hi": 0.2, "lo": 0.3, "mid": 0.5}),
        ("class_prior", eo.Dirichlet(1.0)),
        ("class_weight", "balanced"),
        ("unseen", "prior"),
    ],
)
def test_models_that_differ_in_a_setting_are_not_added_until_it_is_set(setting, value):
    """The first one's would hold, and a + b be another model than b + a."""
    a, b = fitted(60).model_, fitted(60).model_.set(**{setting: value})
    for one, other in ((a, b), (b, a), (eo.NaiveBayes.of(a), eo.NaiveBayes.of(b))):
        with pytest.raises(ValueError, match=rf"the models differ in {setting} .* model\.set\({setting}=\.\.\.\)"):
            one + other
    alike = a.set(**{setting: value})
    assert alike + b == b + alike
    assert b + b - alike == b


def test_models_of_different_columns_are_not_added():
    X, y = mixed(60)
    narrow = eo.NaiveBayes({k: v for k, v in COLUMNS.items() if k != "age"}).fit(X.drop(columns="age"), y)
    with pytest.raises(ValueError, match="column 'age' is in one model only"):
        narrow.model_ + fitted(60).model_


def test_models_whose_targets_differ_in_type_are_not_added():
    X, _ = mixed(60)
    numbered = eo.NaiveBayes(COLUMNS).fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"the targets differ in type \(text and int\)"):
        fitted(60).model_ + numbered.model_


def test_the_name_of_the_target_is_no_part_of_the_sum():
    X, y = mixed(60)
    named, unnamed = learner().fit(X, y), learner().fit(X, y.to_numpy())
    assert (named + unnamed).model_.rows == 120
    assert_same_model((named + unnamed).model_, (named + named).model_, X, y)


def test_a_model_is_not_added_to_a_number():
    with pytest.raises(TypeError, match="Model"):
        fitted().model_ + 1
    with pytest.raises(TypeError, match="NaiveBayes"):
        1 + fitted()


@pytest.mark.parametrize("rows", [3000, 100_000])
def test_a_constant_column_says_nothing_of_any_class(rows):
    y = np.where(np.arange(rows) < rows // 3, "a", "b")
    nb = eo.NaiveBayes(columns={"x": eo.Gaussian}, class_prior="uniform").fit({"x": np.full(rows, 0.1)}, y)
    assert nb.predict_proba({"x": [0.1, 0.2]}).tolist() == [[0.5, 0.5]] * 2
