"""A regression's file, spoilt in a thousand ways: refused in a sentence, or a model that works."""

import functools
import warnings

import numpy as np
import pytest

import evenodds as eo
import spoilt
from evenodds import file
from evenodds.models.glm.regression import Regression


@functools.cache
def originals():
    """Files of every kind of regression there is."""
    rng = np.random.default_rng(3)
    n = 60
    x, colour = rng.normal(size=n), rng.choice(["red", "green", "blue"], n)
    rows = {"x": x, "colour": colour, "years": rng.uniform(1, 2, n)}
    y = x + rng.normal(size=n)
    three = np.array(["a", "b", "c"])[np.clip(np.round(y + 1), 0, 2).astype(int)]
    prior = eo.GaussianPrior({"x": 1.0}, 2.0)
    models = [
        eo.GLM(eo.Gaussian, errors="HC3").fit(rows, y),
        eo.GLM(eo.Bernoulli, prior="jeffreys", reference={"colour": "red"}).fit(rows, y > 0),
        eo.GLM(eo.Poisson, prior=prior).fit(rows, rng.poisson(3, n), exposure="years"),
        eo.GLM(eo.Categorical, missing="drop").fit(rows, three),
    ]
    return [model.model_.to_bytes() for model in models]


def use(model):
    """All that can be asked of a regression."""
    rows = {"x": [0.5, -1.0], "colour": ["red", "blue"], "years": [1.0, 1.5]}
    repr(model.summary())
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.mean(rows)
        if model.covariance is not None:
            model.interval(rows)
    assert Regression.from_bytes(model.to_bytes()) == model


@pytest.mark.parametrize("seed", range(4))
def test_a_spoilt_file_is_refused_in_a_sentence_or_is_a_regression(seed):
    spoilt.check(Regression, originals(), use, seed)


def test_classes_without_a_beginning_are_refused():
    arrays, header = file.unpack(originals()[0])
    header.pop("format")
    spoilt = file.pack({**arrays, "classes.ends": np.empty(0, np.int64)}, header)
    with pytest.raises(file.FileError, match=r"classes\.ends does not cut 0 into"):
        Regression.from_bytes(spoilt)


def test_a_regression_on_a_column_of_words_is_refused():
    arrays, header = file.unpack(originals()[0])
    header.pop("format")
    for column in header["schema"]["columns"]:
        if column["name"] == "x":
            column["family"] = "words"
    with pytest.raises(file.FileError, match="its coefficients are not those of its columns"):
        Regression.from_bytes(file.pack(arrays, header))


def test_a_constant_that_cannot_be_squared_has_a_summary():
    arrays, header = file.unpack(originals()[0])
    header.pop("format")
    for name in ("coefficients", "inside"):
        arrays[name] = np.array([1e200, *arrays[name][1:]])
    assert "the columns give the target exactly" in repr(Regression.from_bytes(file.pack(arrays, header)).summary())


@pytest.mark.parametrize("which", range(4))
def test_the_originals_work(which):
    use(Regression.from_bytes(originals()[which]))
