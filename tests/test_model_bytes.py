"""A model as bytes: read back, it is the same model, and nothing else is a model."""

import contextlib

import numpy as np
import pytest

import evenodds as eo

ROWS = [
    {"colour": "red", "age": 30.5, "kicks": 0, "flag": "yes", "year": 1999.0, "fare": 0.0},
    {"colour": "blue", "age": None, "kicks": 2, "flag": "no", "year": 2003.0, "fare": 7.5},
    {"colour": "red", "age": 41.0, "kicks": 1, "flag": None, "year": 2010.0, "fare": 80.0},
    {"colour": None, "age": 29.0, "kicks": 5, "flag": "no", "year": 2001.0, "fare": 13.0},
    {"colour": "blue", "age": 35.0, "kicks": 1, "flag": "yes", "year": 1985.0, "fare": 26.0},
] * 4
Y = ["x", "y", "x", "y", "x"] * 4
COLUMNS = {
    "colour": eo.Column(eo.Categorical, prior=eo.Dirichlet({"red": 2, "green": 1})),
    "age": eo.Column(eo.Gaussian, variance="pooled", prior=eo.NormalInverseGamma(30.0, 1.0, 1.0, 50.0)),
    "kicks": eo.Column(eo.Poisson, prior=eo.Gamma(2.0, 1.0)),
    "flag": eo.Column(eo.Bernoulli, prior=eo.Beta(2, 3), smoothing=3.0),
    "year": eo.Column(eo.Binned, origin=2000.0, bins=3),
    "fare": eo.LogGaussian,
}
SETTINGS = [
    {},
    {"estimate": "mean", "smoothing": 2.0, "prior": "flat", "unseen": "prior", "class_prior": "uniform"},
    {"class_prior": {"x": 0.25, "y": 0.75}, "class_weight": {"x": 2.0}},
    {"class_prior": eo.Dirichlet(1.0), "class_weight": "balanced"},
    {"class_prior": eo.Dirichlet({"x": 3.0, "y": 1.0})},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 20)], ids=["rows", "weighted"])
def test_a_model_read_back_is_the_same_model(settings, weights):
    nb = eo.NaiveBayes(COLUMNS, **settings).fit(ROWS, Y, weights)
    back = eo.Model.from_bytes(nb.model_.to_bytes())
    assert back == nb.model_
    assert back.to_bytes() == nb.model_.to_bytes()
    np.testing.assert_array_equal(back.log_proba(ROWS), nb.model_.log_proba(ROWS))


def test_it_goes_on_learning_adding_and_forgetting():
    one, two = eo.NaiveBayes(COLUMNS).fit(ROWS[:8], Y[:8]), eo.NaiveBayes(COLUMNS).fit(ROWS[8:], Y[8:])
    back = eo.Model.from_bytes(one.model_.to_bytes())
    assert back + two.model_ == one.model_ + two.model_
    assert (back + two.model_ - one.model_).rows == 12
    assert back.learn(ROWS[8:], Y[8:]).forget(ROWS[8:], Y[8:]).rows == 8
    assert eo.NaiveBayes.of(back).predict(ROWS).tolist() == one.predict(ROWS).tolist()


def test_what_is_no_model_is_refused_in_words():
    data = eo.NaiveBayes(COLUMNS).fit(ROWS, Y).model_.to_bytes()
    for nonsense in (b"", b"PK\x03\x04 nonsense", data[:100], eo.Bernoulli.tally([1, 0]).to_bytes()):
        with pytest.raises(ValueError, match="not a"):
            eo.Model.from_bytes(nonsense)
    newer = data.replace(b'\\"format\\": 1', b'\\"format\\": 9')
    with pytest.raises(eo.DataError, match="format 9; this version reads up to 1: upgrade"):
        eo.Model.from_bytes(newer)


def test_bytes_changed_at_random_are_read_or_refused_never_worse():
    data = eo.NaiveBayes(COLUMNS).fit(ROWS, Y).model_.to_bytes()
    rng = np.random.default_rng(0)
    for _ in range(200):
        spoilt = bytearray(data)
        for at in rng.integers(0, len(data), 3):
            spoilt[at] = rng.integers(0, 256)
        with contextlib.suppress(ValueError):
            eo.Model.from_bytes(bytes(spoilt))
