"""A regression's file, spoilt in a thousand ways: refused in a sentence, or a model that works."""

import functools
import warnings

import numpy as np
import pytest

import evenodds as eo
import spoilt
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


@pytest.mark.parametrize("which", range(4))
def test_the_originals_work(which):
    use(Regression.from_bytes(originals()[which]))
