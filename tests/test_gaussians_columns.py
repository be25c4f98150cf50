"""Mixtures of Gaussians as columns of naive Bayes: EM on the histogram, whose tally adds, forgets and is saved."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.mixture import GaussianMixture

import evenodds as eo
from evenodds.data.geyser import geyser
from evenodds.errors import DataError
from evenodds.families import Dirichlet, Gaussian, Gaussians, gaussians
from evenodds.families.density import bells
from evenodds.families.from_histogram import Bins
from evenodds.families.left_out import How, Left
from test_kernel_columns import held_out_loss, two_humps

NARROW = eo.Column(Gaussians, bandwidth=0.3)


@given(
    places=st.lists(st.integers(-40, 40), min_size=2, max_size=30, unique=True).map(sorted),
    k=st.integers(1, 6),
    slack=st.floats(0.01, 4),
    seed=st.integers(0, 1000),
)
def test_what_is_climbed_never_falls(places, k, slack, seed):
    counts = np.random.default_rng(seed).integers(1, 9, len(places)).astype(float)
    at, loose = np.array(places, float), np.full(len(places), slack)
    found = bells.fitted(at, loose, counts, k)
    assert np.all(np.diff(found.trace) >= -1e-9 * np.abs(found.trace[0]))
    assert np.all(found.variances >= slack * (1 - 1e-12))
    assert found.weights.sum() == pytest.approx(1)
    assert found.weights @ found.means == pytest.approx(np.average(at, weights=counts), abs=1e-9)


def test_without_slack_it_is_maximum_likelihood(monkeypatch):
    """Old Faithful's waits, two bells: scikit-learn's log-likelihood from the same start."""
    monkeypatch.setattr(bells, "TOLERANCE", 1e-13)
    monkeypatch.setattr(bells, "STEPS", 5000)
    waits = np.sort(np.asarray(geyser()["wait"], float))
    at, counts = np.unique(waits, return_counts=True)
    mine = bells.fitted(at, np.zeros(len(at)), counts.astype(float), 2)
    theirs = GaussianMixture(2, tol=1e-14, reg_covar=0, max_iter=5000, means_init=[[54.0], [80.0]]).fit(waits[:, None])
    assert mine.trace[-1] == pytest.approx(theirs.score(waits[:, None]) * len(waits), rel=1e-9)
    assert mine.means == pytest.approx(np.sort(theirs.means_.ravel()), abs=1e-4)


def by_definition(at, slack, counts, k, steps):
    """The slow readable EM: row by row, bell by bell."""
    middles, total = np.cumsum(counts) - counts / 2, counts.sum()
    shares = [[float(int(k * middle / total) == j) for j in range(k)] for middle in middles]
    for _ in range(steps):
        weights, means, variances = [], [], []
        for j in range(k):
            n = sum(c * r[j] for c, r in zip(counts, shares))
            mean = sum(c * r[j] * x for c, r, x in zip(counts, shares, at)) / n
            more = sum(c * r[j] * ((x - mean) ** 2 + s) for c, r, x, s in zip(counts, shares, at, slack))
            weights.append(n / total)
            means.append(mean)
            variances.append(more / n)
        for row, (x, s) in enumerate(zip(at, slack)):
            each = [
                w * math.exp(-((x - m) ** 2 + s) / (2 * v)) / math.sqrt(2 * math.pi * v)
                for w, m, v in zip(weights, means, variances)
            ]
            shares[row] = [one / sum(each) for one in each]
    return weights, means, variances


def test_em_is_its_definition(monkeypatch):
    monkeypatch.setattr(bells, "TOLERANCE", -math.inf)
    monkeypatch.setattr(bells, "STEPS", 7)
    rng = np.random.default_rng(0)
    at, counts = np.sort(rng.normal(size=40) * 3), rng.integers(1, 5, 40).astype(float)
    slack = rng.random(40)
    mine = bells.fitted(at, slack, counts, 3)
    weights, means, variances = by_definition(at, slack, counts, 3, 8)  # the start estimates once before the first step
    assert mine.weights == pytest.approx(weights, rel=1e-12)
    assert mine.means == pytest.approx(means, rel=1e-12)
    assert mine.variances == pytest.approx(variances, rel=1e-12)


def test_there_are_as_many_bells_as_have_the_least_bic():
    numbers = []
    for seed in range(12):
        x = np.random.default_rng(seed).gamma(2.0, 3.0, 150).round(1)
        at, counts = np.unique(x, return_counts=True)
        slack, n = np.full(len(at), 0.05), counts.astype(float)
        tried = [bells.fitted(at, slack, n, k) for k in range(1, 6)]
        best = min(tried, key=lambda one: (3 * len(one.weights) - 1) * math.log(150) - 2 * one.trace[-1])
        numbers.append(len(best.weights))
        assert bells.chosen(at, slack, n, None).weights == pytest.approx(best.weights)
    assert set(numbers) >= {2, 3}


@pytest.mark.parametrize("prior", [None, Dirichlet(0.7)], ids=["flat", "proper"])
@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
def test_it_has_all_the_probability_and_the_moments_of_what_it_draws(estimate, prior):
    x = np.random.default_rng(0).gamma(2.0, 3.0, 300)
    found = Gaussians.fit(x, estimate=estimate, prior=prior)
    mass = sum(quad(lambda v: float(found.prob(v)), a, a + 5)[0] for a in range(-40, 80, 5))
    assert mass == pytest.approx(1, abs=1e-8)
    drawn = found.sample(100_000, random_state=0)
    assert drawn.mean() == pytest.approx(found.mean, abs=5 * math.sqrt(found.variance / 100_000))
    assert drawn.var() == pytest.approx(found.variance, rel=0.03)
    if estimate == "mle":
        assert found.mean == pytest.approx(x.mean(), rel=1e-12)
        places = Bins.of(Gaussians.tally(x), eo.Column())
        known = gaussians._fitted(Gaussians.tally(x), eo.Column())[1]
        spread = np.average((places.at - x.mean()) ** 2 + known, weights=places.counts[:, 0])
        assert found.variance == pytest.approx(spread, rel=1e-9)


def test_a_mixture_sees_two_humps_and_says_which():
    assert held_out_loss(Gaussians) < 0.7 * held_out_loss(Gaussian)
    assert held_out_loss(eo.Column(Gaussians, components=2)) < 0.7 * held_out_loss(Gaussian)
    X, y = two_humps()
    found = eo.NaiveBayes(NARROW, smoothing=0.0).fit(X, y)
    rows = [row for row in found.tables["x"] if row["class"] == 0]
    assert [round(row["mean"]) for row in rows] == [4, 16]
    assert [row["sd"] for row in rows] == pytest.approx([1.0, 1.0], abs=0.15)
    assert sum(row["weight"] for row in rows) == pytest.approx(1)


def test_an_estimator_stands_for_a_column():
    X, y = two_humps(100)
    one = eo.NaiveBayes({"x": eo.Mixture(k=2)}).fit(X, y)
    assert one.model_.schema.columns["x"] == eo.Column(Gaussians, components=2)
    assert eo.Mixture().as_column() == eo.Column(Gaussians)
    with pytest.raises(ValueError, match=r"a mixture of Gaussians, with k a number or 'auto'"):
        eo.NaiveBayes({"x": eo.Mixture(eo.Poisson, k=2)}).fit(X, y)
    with pytest.raises(ValueError, match=r"a mixture of Gaussians, with k a number or 'auto'"):
        eo.NaiveBayes({"x": eo.Mixture(k=[2, 3])}).fit(X, y)


@given(cut=st.integers(20, 80))
def test_it_is_learnt_in_parts_and_forgotten(cut):
    X, y = two_humps(100)
    whole = eo.NaiveBayes(Gaussians).fit(X, y).model_
    first, second = (
        eo.NaiveBayes(schema=whole.schema).fit(X[part], y[part]).model_ for part in (slice(0, cut), slice(cut, 100))
    )
    assert (first + second).log_proba(X) == pytest.approx(whole.log_proba(X), abs=1e-9)
    back = whole.forget(X[cut:], y[cut:])
    assert back.log_proba(X) == pytest.approx(first.log_proba(X), abs=1e-9)


def test_saved_it_says_the_same(tmp_path):
    X, y = two_humps(100)
    model = eo.NaiveBayes({"x": eo.Column(Gaussians, components=3, bandwidth=0.2)}).fit(X, y).model_
    model.save(tmp_path / "m.eo")
    again = eo.load(tmp_path / "m.eo")
    assert again.schema.columns == model.schema.columns
    assert np.array_equal(again.log_proba(X), model.log_proba(X))


@pytest.mark.parametrize("estimate", ["mle", "mean"])
@pytest.mark.parametrize("kind", ["pooled", "flat"])
def test_leaving_out_is_estimating_without_the_row_what_was_shared_out_with_it(estimate, kind):
    """Bells share the places out as all rows would have it; then the row's own weight is not there."""
    rng = np.random.default_rng(3)
    x, groups = rng.poisson(rng.choice([4.0, 20.0], 60)).astype(float), rng.integers(0, 2, 60)
    weights = rng.integers(1, 3, 60).astype(float)
    column = eo.Column(Gaussians, components=2, bandwidth=0.7)
    tally = Gaussians.tally(x, weights=weights, groups=groups.astype(str))
    groups = np.array([tally.groups.texts().index(str(g)) for g in groups])
    places, slack, fitted = gaussians._fitted(tally, column)
    how = How(estimate, column, 1.5, kind)
    got = Gaussians.left_out(tally, how)(x, Left(groups, weights, 2, np.zeros(60, bool)))
    for i in range(60):
        counts = places.counts.copy()
        counts[places.at == x[i], groups[i]] -= weights[i]
        for g in range(2):
            one = bells.Bells.of(fitted[g].shares, places.at, slack, counts[:, g])
            parts = [one.weights, one.means, one.variances]
            if estimate != "mle" and kind == "pooled":
                pooled, n = counts.sum(axis=1), counts[:, g].sum()
                mean = np.average(places.at, weights=pooled)
                spread = np.average((places.at - mean) ** 2 + slack, weights=pooled)
                parts = [
                    np.append(one.weights * n, 1.5) / (n + 1.5),
                    np.append(one.means, mean),
                    np.append(one.variances, spread),
                ]
            assert got[i, g] == pytest.approx(float(Gaussians(*parts).log_prob(x[i])), abs=1e-9)


def test_leaving_out_is_near_learning_the_others():
    X, y = two_humps(200)
    nb = eo.NaiveBayes({"x": eo.Column(Gaussians, bandwidth=0.5, smoothing=1.0)}).fit(X, y)
    left, said = nb.leave_one_out(X, y), nb.predict_log_proba(X)
    again = np.array([nb.model_.forget(X[i : i + 1], y[i : i + 1]).log_proba(X[i : i + 1])[0] for i in range(200)])
    rows = np.arange(200)
    truth, held, seen = (-p[rows, y].mean() for p in (again, left, said))
    assert truth > seen
    assert held == pytest.approx(truth, abs=0.2 * (truth - seen))


def test_a_row_that_was_never_learnt_cannot_be_left_out():
    X, y = two_humps(100)
    nb = eo.NaiveBayes(Gaussians).fit(X, y)
    with pytest.raises(DataError, match="only rows that were learnt can be left out"):
        nb.leave_one_out(X + 50, y)


def test_lumps_outliers_and_classes_of_one_value():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    lumps = np.where(rng.random(300) < 0.3 + 0.4 * y, 0.0, rng.gamma(2.0, 3.0, 300))
    X = pd.DataFrame({"lump": lumps, "one": np.where(y == 0, 5.0, rng.normal(size=300)), "wide": rng.normal(size=300)})
    X.loc[0, "wide"], X.loc[1, "lump"] = 1e149, np.nan
    nb = eo.NaiveBayes(Gaussians).fit(X, y)
    assert np.isfinite(nb.predict_log_proba(X)).all()
    assert np.isfinite(nb.leave_one_out(X, y)).all()
    alone = eo.NaiveBayes({"lump": Gaussians}).fit(X[["lump"]], y)
    p = alone.predict_proba(pd.DataFrame({"lump": [0.0, math.nan]}))
    share = (lumps[y == 1] == 0).mean() / ((lumps[y == 1] == 0).mean() + (lumps[y == 0] == 0).mean())
    assert p[0, 1] == pytest.approx(share, abs=0.1)  # a lump has the same width in both classes
    assert p[1] == pytest.approx(np.bincount(y) / 300)


def test_the_same_bells_whatever_the_unit():
    x = np.random.default_rng(0).gamma(2.0, 3.0, 300)
    once, scaled = Gaussians.fit(x), Gaussians.fit(x * 2.0**300)
    assert scaled.means == pytest.approx(once.means * 2.0**300, rel=1e-9)
    assert scaled.variances == pytest.approx(once.variances * 2.0**600, rel=1e-9)


@pytest.mark.parametrize("components", [0, -1, 2.5, 101, "many"])
def test_a_number_of_bells_that_is_none_is_refused(components):
    with pytest.raises(ValueError, match=r"components=.*: expected a whole number, 1 to 100"):
        eo.Column(Gaussians, components=components)


def test_there_is_no_density_of_nothing():
    with pytest.raises(DataError, match="no values"):
        Gaussians.fit([])
    with pytest.raises(DataError, match="has no width"):
        Gaussians.fit([3.0])
    with pytest.raises(ValueError, match="gives its own data no evidence"):
        Gaussians.log_evidence([1.0, 2.0])


def test_its_free_numbers_are_those_of_its_bells():
    tally = Gaussians.tally([1.0, 2.0, 3.0, 50.0, 51.0, 52.0] * 10)
    assert Gaussians.free(tally, dataclasses.replace(NARROW, components=2)) == 5
