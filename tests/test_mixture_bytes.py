"""A mixture's file, spoilt in a thousand ways: refused in a sentence, or a model that works."""

import functools
import warnings

import numpy as np
import pytest

import evenodds as eo
import spoilt
from evenodds import file
from evenodds.models.mixture.model import MixtureModel


@functools.cache
def originals():
    """Files of every kind of mixture there is."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2)) + 3 * (np.arange(60) % 2)[:, None]
    counts, flags = rng.poisson(3, (60, 2)), rng.integers(0, 2, (60, 2)).astype(float)
    words = {"a": rng.choice(["x", "y"], 60), "b": rng.choice(["u", "v", "wé"], 60)}
    fitted = [
        eo.Mixture(k=[1, 2], random_state=0).fit(X),
        eo.Mixture(k=2, covariance="tied", random_state=0, prior=None).fit(X),
        eo.Mixture(k=2, covariance="diagonal", random_state=0).fit(X),
        eo.Mixture(k=2, covariance="spherical", random_state=0, criterion="icl").fit(X),
        eo.Mixture(eo.Poisson, 2, random_state=0, start="random").fit(counts),
        eo.Mixture(eo.Bernoulli, 2, random_state=0).fit(flags),
        eo.Mixture(eo.Categorical, 2, random_state=0).fit(words),
    ]
    return [one.model_.to_bytes() for one in fitted]


def use(model):
    """All that can be asked of a mixture."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = {name: ["1", "0"] for name in model.names}
        model.shares(rows)
        model.log_prob(rows)
        model.sample(3, 0)
        model.describe()
        model.to_dict()
    assert MixtureModel.from_bytes(model.to_bytes()) == model


@pytest.mark.parametrize("seed", range(4))
def test_a_spoilt_file_is_refused_in_a_sentence_or_is_a_mixture(seed):
    spoilt.check(MixtureModel, originals(), use, seed)


def test_settings_are_called_in_the_file_as_they_were():
    _, header = file.unpack(eo.Mixture(k=1, n_init=3, max_iter=77).fit([[1.0], [2.0], [4.0]]).model_.to_bytes())
    assert (header["settings"]["starts"], header["settings"]["most"]) == (3, 77)


@pytest.mark.parametrize("cut", [1, 3])
def test_a_trace_of_other_steps_than_are_told_is_refused(cut):
    arrays, header = file.unpack(originals()[0])
    header["tried"] = [{**one, "converged": False} for one in header["tried"]]
    header.pop("format")
    with pytest.raises(ValueError, match="it has no steps, or such as never were"):
        MixtureModel.from_bytes(file.pack({**arrays, "trace": arrays["trace"][:cut]}, header))


@pytest.mark.parametrize("which", range(7))
def test_the_originals_work(which):
    use(MixtureModel.from_bytes(originals()[which]))
