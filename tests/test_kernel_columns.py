"""Kernel densities as columns of naive Bayes: from the histogram, near the exact ones."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import evenodds as eo
from evenodds.errors import DataError
from evenodds.families import Dirichlet, Gaussian, Kernel
from evenodds.families.density.density import Density
from evenodds.families.density.points import Points
from evenodds.models.kernel_density import KernelDensity

STEEPEST = 1 / math.sqrt(2 * math.pi * math.e)  # of the Gaussian kernel: 0.242
SAMPLES = {
    "gamma": lambda rng: rng.gamma(2.0, 3.0, 2000),
    "both signs": lambda rng: rng.normal(0.5, 2.0, 2000),
    "below zero": lambda rng: -rng.lognormal(0.0, 1.0, 2000),
    "whole": lambda rng: rng.poisson(30.0, 2000).astype(float),
    "cents": lambda rng: np.round(rng.exponential(50.0, 2000), 2),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_error_against_the_exact_density_is_bounded(name):
    x = SAMPLES[name](np.random.default_rng(0))
    found = Kernel.fit(x, estimate="mle")
    exact = Density(Points.of(x), "gaussian", found.bandwidth)
    at = np.linspace(x.min(), x.max(), 400)
    error = np.abs(found.prob(at) - exact.pdf(at))
    assert error.max() <= STEEPEST / found.bandwidth**2 * np.mean(np.abs(x)) / 128
    assert error.max() <= 0.004 * exact.pdf(at).max()  # and mostly by much less
    assert found.mean == pytest.approx(x.mean(), rel=1e-12)
    rule = KernelDensity("silverman").fit(x).bandwidth_
    assert found.bandwidth == pytest.approx(rule, rel=0.01)
    if name == "whole":
        assert error.max() <= 1e-13


def test_an_origin_makes_it_finer():
    x = 1e9 + np.random.default_rng(0).normal(size=500)
    column = eo.Column(Kernel, origin=1e9)
    model = eo.NaiveBayes({"x": column}).fit(pd.DataFrame({"x": x}), np.arange(500) % 2).model_
    near = Kernel.estimate(model.column_tally("x").pooled(), "mle", None, column)
    exact = Density(Points.of(x), "gaussian", near.bandwidth)
    at = 1e9 + np.linspace(-3, 3, 50)
    assert near.prob(at) == pytest.approx(exact.pdf(at), abs=0.01 * exact.pdf(at).max())


def test_the_width_of_groups_is_their_geometric_mean_each_by_its_rows():
    few, many = [1.0, 2.0, 4.0], [10.0, 20.0, 30.0, 50.0, 80.0, 90.0]
    apart = [Kernel.width(Kernel.tally(x)) for x in (few, many)]
    together = Kernel.width(Kernel.tally([*few, *many], groups=["a"] * 3 + ["b"] * 6))
    assert together == pytest.approx(apart[0] ** (3 / 9) * apart[1] ** (6 / 9), rel=1e-12)


def test_the_way_to_the_next_value_is_that_of_most_values():
    """One value each at 0, 1 and 3, five at 7: of the ways 1, 2 and 4, most values have the last."""
    assert Kernel.least_width(Kernel.tally([0.0, 1.0, 3.0, *[7.0] * 5])) == 4.0
    assert Kernel.least_width(Kernel.tally([0.0, 0.0, 0.0, 1.0, 1.0, 3.0, 7.0])) == 1.0
    assert Kernel.least_width(Kernel.tally([2.0, 2.0])) == 0.0


@pytest.mark.parametrize("prior", [None, Dirichlet(0.7)], ids=["flat", "proper"])
@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
def test_it_has_all_the_probability_and_the_moments_of_what_it_draws(estimate, prior):
    found = Kernel.fit(np.random.default_rng(0).gamma(2.0, 3.0, 200), estimate=estimate, prior=prior)
    mass, spread = (
        sum(quad(lambda v, k=k: (v - found.mean) ** k * float(found.prob(v)), a, a + 5)[0] for a in range(-20, 60, 5))
        for k in (0, 2)
    )
    assert mass == pytest.approx(1, abs=1e-8)
    assert found.variance == pytest.approx(spread, rel=1e-7)
    drawn = found.sample(100_000, random_state=0)
    assert drawn.mean() == pytest.approx(found.mean, abs=5 * math.sqrt(found.variance / 100_000))
    assert drawn.var() == pytest.approx(found.variance, rel=0.03)


def two_humps(n=600, seed=0):
    """One class has two humps, the other one between them: a Gaussian each says little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = np.where(y == 0, rng.normal(10 + 6 * rng.choice([-1, 1], n), 1.0), rng.normal(10, 1.5, n))
    return pd.DataFrame({"x": x}), y


def held_out_loss(columns):
    (X, y), (new, then) = two_humps(), two_humps(seed=1)
    p = eo.NaiveBayes(columns).fit(X, y).predict_log_proba(new)
    return -p[np.arange(len(then)), then].mean()


def test_kernels_see_two_humps():
    assert held_out_loss(Kernel) < 0.7 * held_out_loss(Gaussian)
    assert held_out_loss(eo.Column(Kernel, bandwidth="sj")) < 0.7 * held_out_loss(Gaussian)


def test_an_estimator_stands_for_a_column():
    X, y = two_humps(100)
    one = eo.NaiveBayes({"x": KernelDensity("isj")}).fit(X, y)
    assert one.model_.schema.columns["x"] == eo.Column(Kernel, bandwidth="isj")
    with pytest.raises(ValueError, match="is Gaussian and has no support"):
        eo.NaiveBayes({"x": KernelDensity("isj", kernel="boxcar")}).fit(X, y)


@given(cut=st.integers(20, 80))
def test_it_is_learnt_in_parts_and_forgotten(cut):
    X, y = two_humps(100)
    whole = eo.NaiveBayes(Kernel).fit(X, y).model_
    schema = whole.schema
    first, second = (
        eo.NaiveBayes(schema=schema).fit(X[part], y[part]).model_ for part in (slice(0, cut), slice(cut, 100))
    )
    added = first + second
    assert added.log_proba(X) == pytest.approx(whole.log_proba(X), abs=1e-9)
    back = whole.forget(X[cut:], y[cut:])
    assert back.log_proba(X) == pytest.approx(first.log_proba(X), abs=1e-9)


def test_saved_it_says_the_same(tmp_path):
    X, y = two_humps(100)
    model = eo.NaiveBayes({"x": eo.Column(Kernel, bandwidth="sj", smoothing=1.0)}).fit(X, y).model_
    model.save(tmp_path / "m.eo")
    again = eo.load(tmp_path / "m.eo")
    assert again.schema.columns == model.schema.columns
    assert np.array_equal(again.log_proba(X), model.log_proba(X))


def test_its_table_and_what_it_says_of_one_value():
    X, y = two_humps(100)
    nb = eo.NaiveBayes(Kernel).fit(X, y)
    table = nb.tables["x"]
    assert [row["bandwidth"] for row in table] == [nb.model_.distributions["x"].bandwidth] * 2
    assert table[0]["sd"] == pytest.approx(math.sqrt(nb.model_.distributions["x"].variance[0]))
    same = eo.NaiveBayes(Kernel).fit(pd.DataFrame({"x": np.full(50, 3.0), "z": np.arange(50.0)}), np.arange(50) % 2)
    assert list(same.model_.distributions) == ["z"]
    assert np.isfinite(nb.predict_log_proba(pd.DataFrame({"x": [1e6, -1e6, 10.0]}))).all()


@pytest.mark.parametrize("bandwidth", [0, -1.0, math.inf, "best"])
def test_a_width_that_is_none_is_refused(bandwidth):
    with pytest.raises(ValueError, match=r"bandwidth=.*: expected a number above 0, or one of 'scott'"):
        eo.Column(Kernel, bandwidth=bandwidth)


def test_there_is_no_density_of_nothing():
    with pytest.raises(DataError, match="no values"):
        Kernel.fit([])
    with pytest.raises(ValueError, match="gives its own data no evidence"):
        Kernel.log_evidence([1.0, 2.0])
