"""Mixtures: one step against the books, the likelihood that never falls, other people's numbers, and hard cases."""

import functools
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

import evenodds as eo
from evenodds.cli.answers import OfMixture
from evenodds.data.geyser import geyser
from evenodds.data.memory import table
from evenodds.models.mixture import fit, kernels
from evenodds.models.mixture import rows as mixture_rows
from evenodds.models.mixture.em import em, expectation
from evenodds.models.mixture.model import MixtureModel
from evenodds.models.mixture.priors import CollapsedError, Prior
from evenodds.models.mixture.rows import survey
from evenodds.models.mixture.settings import COVARIANCES, MixtureSettings
from evenodds.models.mixture.start import chosen_rows, started
from mixture_oracle import counted_step, gaussian_joint, gaussian_step

# Postman, Huchra and Geller 1986, as Roeder 1990 has them: km/s, with the value that R's copy misprints
GALAXIES = """
9172 9350 9483 9558 9775 10227 10406 16084 16170 18419 18552 18600 18927 19052 19070 19330 19343 19349 19440 19473
19529 19541 19547 19663 19846 19856 19863 19914 19918 19973 19989 20166 20175 20179 20196 20215 20221 20415 20629 20795
20821 20846 20875 20986 21137 21492 21701 21814 21921 21960 22185 22209 22242 22249 22314 22374 22495 22746 22747 22888
22914 23206 23241 23263 23484 23538 23542 23666 23706 23711 24129 24285 24289 24366 24717 24990 25633 26690 26995 32065
32789 34279
"""
FAMILIES = [eo.Gaussian, eo.Bernoulli, eo.Poisson, eo.Categorical]
KINDS = [(eo.Gaussian, kind) for kind in COVARIANCES] + [(family, "full") for family in FAMILIES[1:]]
THEIRS = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}
IDS = [f"{family.__name__}-{kind}" for family, kind in KINDS]


def faithful():
    rows = geyser()
    return np.column_stack([rows["eruption"].to_numpy(), rows["wait"].to_numpy()])


def galaxies():
    return np.array([[float(x) / 1000] for x in GALAXIES.split()])


def made(family, n=80, d=3, k=3, missing=0.0, seed=0):
    """Rows of a mixture of this family, some cells missing."""
    rng = np.random.default_rng(seed)
    g = rng.integers(0, k, n)
    if family is eo.Gaussian:
        X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 4 * rng.normal(size=(k, d))[g]
    elif family is eo.Bernoulli:
        X = (rng.random((n, d)) < rng.random((k, d))[g]).astype(float)
    elif family is eo.Poisson:
        X = rng.poisson(rng.gamma(2, 4, size=(k, d))[g]).astype(float)
    else:
        X = np.array([[rng.choice(3, p=p) for p in ps] for ps in rng.dirichlet([0.5] * 3, size=(k, d))[g]], float)
    X[rng.random(X.shape) < missing] = np.nan
    X[0] = np.where(np.isnan(X[0]), np.nanmax(X, axis=0), X[0])  # no column is empty
    if family is eo.Categorical:
        return pd.DataFrame(X).replace({0.0: "a", 1.0: "b", 2.0: "c"}).astype(object).rename(columns=lambda j: f"x{j}")
    return X


def prepared(X, family, kind, k=3, prior=1.0, weights=None, seed=0):
    """Components to start from, the prior, and the survey."""
    settings = MixtureSettings(family, kind, prior)
    shell = eo.Mixture(family, k, covariance=kind, prior=prior)
    found = survey(shell._table(X, weights), None)
    believed = Prior(found.columns, prior, family)
    rows = chosen_rows(found.sample, k, believed, True, np.random.default_rng(seed))
    return started([x[rows] for x in found.sample.columns], believed, settings), believed, found


# -- one step, as the books have it ------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [None, 1.5])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("kind", COVARIANCES)
def test_a_step_of_gaussians_is_the_books(kind, missing, prior):
    X = made(eo.Gaussian, missing=missing)
    w = np.random.default_rng(5).choice([0.0, 1.0, 2.5], len(X), p=[0.1, 0.6, 0.3])
    w[np.isnan(X).all(axis=1)] = 0.0  # such a row says nothing
    begin, believed, found = prepared(X, eo.Gaussian, kind, prior=prior, weights=w)
    model = MixtureModel(found.schema, MixtureSettings(eo.Gaussian, kind, prior), begin, 1.0, (), ())
    means = np.array([model.column(name).mean for name in model.names]).T
    np.testing.assert_allclose(
        model.log_joint(X), gaussian_joint(X, begin.weights, means, model.covariances), rtol=1e-9
    )
    known = [(x[~np.isnan(x)], w[~np.isnan(x)]) for x in X.T]
    scale = (
        None if prior is None else np.array([np.cov(x, aweights=v, ddof=0) for x, v in known]) * 3 ** (-2 / len(X.T))
    )
    log, weights, means, covariances = gaussian_step(
        X, w, begin.weights, means, model.covariances, kind, prior or 0.0, scale
    )
    sums = expectation(begin, found.each)
    after = MixtureModel(found.schema, model.settings, begin.updated(sums, believed), 1.0, (), ())
    assert sums.log_likelihood == pytest.approx(log, rel=1e-10)
    np.testing.assert_allclose(after.weights, weights, rtol=1e-9)
    np.testing.assert_allclose(np.array([after.column(name).mean for name in model.names]).T, means, rtol=1e-8)
    np.testing.assert_allclose(after.covariances, covariances, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("prior", [None, 0.7])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("family", FAMILIES[1:])
def test_a_step_of_counts_is_the_families_own_tally_of_shared_rows(family, missing, prior):
    X = made(family, missing=missing)
    w = np.random.default_rng(5).choice([1.0, 2.5], len(X))
    w[pd.DataFrame(X).isna().all(axis=1)] = 0.0  # such a row says nothing
    begin, believed, found = prepared(X, family, "full", prior=prior, weights=w)
    cells = [[None if pd.isna(x) else x for x in X[name]] for name in X] if hasattr(X, "columns") else list(X.T)
    pseudo = [None if prior is None else believed.rows(name, 3).rename("x") for name in begin.columns]
    log, weights, columns = counted_step(family, cells, w, begin.weights, begin.columns.values(), pseudo)
    sums = expectation(begin, found.each)
    after = begin.updated(sums, believed)
    assert sums.log_likelihood == pytest.approx(log, rel=1e-10)
    np.testing.assert_allclose(after.weights, weights, rtol=1e-9)
    field = {eo.Bernoulli: "p", eo.Poisson: "rate", eo.Categorical: "shares"}[family]
    for mine, theirs in zip(after.columns.values(), columns, strict=True):
        np.testing.assert_allclose(getattr(mine, field), getattr(theirs, field), rtol=1e-9, atol=1e-12)


def test_one_column_is_the_same_whatever_its_covariance():
    x = galaxies()
    found = [
        eo.Mixture(k=3, covariance=c, random_state=0).fit(x).log_likelihood_ for c in ("full", "diagonal", "spherical")
    ]
    np.testing.assert_allclose(found, found[0], rtol=1e-10)


# -- laws --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=IDS)
@given(
    seed=st.integers(0, 10_000),
    missing=st.sampled_from([0.0, 0.2, 0.5]),
    weighted=st.booleans(),
    prior=st.sampled_from([None, 0.1, 3.0]),
)
def test_the_likelihood_never_falls(family, kind, seed, missing, weighted, prior):
    X = made(family, n=40, missing=missing, seed=seed)
    w = np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 4.0], len(X), p=[0.1, 0.2, 0.5, 0.2]) if weighted else None
    begin, believed, found = prepared(X, family, kind, k=3, prior=prior, weights=w, seed=seed)
    trace, components, collapsed = [], begin, False
    for _ in range(12):
        sums = expectation(components, found.each)
        trace.append(sums.log_likelihood + components.log_prior(believed))
        try:
            components = components.updated(sums, believed)
        except CollapsedError:
            collapsed = True
            break
    assert not collapsed or prior is None
    trace = np.array(trace)
    assert np.all(np.diff(trace) >= -1e-10 * np.abs(trace[1:]))


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=IDS)
def test_threads_and_shards_change_nothing(family, kind, monkeypatch):
    X = made(family, n=3000, missing=0.1)
    monkeypatch.setattr(mixture_rows, "SAMPLE", 300)
    monkeypatch.setattr(mixture_rows, "SHARD", 512)
    several = [
        eo.Mixture(family, 3, covariance=kind, random_state=1, threads=t, max_iter=12, tol=0, n_init=2) for t in (1, 4)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, four = (m.fit(X).model_ for m in several)
        assert one == four  # to the last bit
        held = mixture_rows.HELD
        monkeypatch.setattr(mixture_rows, "HELD", 0)  # rows are read again at every step
        assert several[1].fit(X).model_ == one
        monkeypatch.setattr(mixture_rows, "HELD", held)
        monkeypatch.setattr(mixture_rows, "SHARD", 1000)
        other = several[0].fit(X).model_
    np.testing.assert_allclose(other.trace, one.trace, rtol=1e-11)
    np.testing.assert_allclose(other.weights, one.weights, rtol=1e-7)


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=IDS)
def test_order_and_repeated_rows_change_nothing(family, kind):
    X = pd.DataFrame(made(family, n=60, missing=0.1)).rename(columns=str)
    w = np.random.default_rng(2).integers(0, 4, 60)
    repeated = X.loc[np.repeat(np.arange(60), w)].sample(frac=1, random_state=0)
    a = eo.Mixture(family, 2, covariance=kind, random_state=3).fit(X, sample_weight=w)
    b = eo.Mixture(family, 2, covariance=kind, random_state=3).fit(repeated)
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, rel=1e-12)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=IDS)
def test_the_order_of_columns_changes_nothing(family, kind):
    X = pd.DataFrame(made(family, n=60, missing=0.1))
    a = eo.Mixture(family, 2, covariance=kind, random_state=3).fit(X.set_axis(["a", "b", "c"], axis=1))
    b = eo.Mixture(family, 2, covariance=kind, random_state=3).fit(X.set_axis(["z", "y", "x"], axis=1))
    np.testing.assert_array_equal(a.weights_, b.weights_)
    assert a.log_likelihood_ == b.log_likelihood_


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=IDS)
def test_files_are_memory(family, kind, tmp_path, monkeypatch):
    X = pd.DataFrame(made(family, n=900, missing=0.1)).rename(columns=lambda j: f"c{j}")
    w = np.random.default_rng(2).choice([0.5, 1.0, 3.0], 900)
    X.assign(w=w, more="x").to_csv(tmp_path / "a.csv", index=False)
    monkeypatch.setattr(mixture_rows, "SAMPLE", 200)  # so that the rows are read again
    how = {"covariance": kind, "random_state": 3, "max_iter": 30, "columns": list(X.columns)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        memory = eo.Mixture(family, 2, **how).fit(X, sample_weight=w)
        for held in (mixture_rows.HELD, 0):
            monkeypatch.setattr(mixture_rows, "HELD", held)
            files = eo.Mixture(family, 2, **how).fit(str(tmp_path / "a.csv"), sample_weight="w")
            np.testing.assert_allclose(files.model_.trace, memory.model_.trace, rtol=1e-11)
            np.testing.assert_allclose(files.predict_proba(tmp_path / "a.csv"), memory.predict_proba(X), atol=1e-8)
            np.testing.assert_allclose(files.score_samples(tmp_path / "a.csv"), memory.score_samples(X), atol=1e-8)


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=IDS)
def test_what_was_saved_is_what_is_loaded(family, kind, tmp_path):
    X = made(family, missing=0.1)
    mixture = eo.Mixture(family, [1, 2], covariance=kind, random_state=0, prior=0.5).fit(X)
    mixture.save(tmp_path / "m.eo")
    again = eo.Mixture.load(tmp_path / "m.eo")
    assert again.model_ == mixture.model_ == eo.load(tmp_path / "m.eo")
    np.testing.assert_array_equal(again.predict_proba(X), mixture.predict_proba(X))
    assert again.curve_.rows == mixture.curve_.rows


@pytest.mark.parametrize(("family", "kind"), KINDS, ids=IDS)
def test_samples_look_like_the_mixture(family, kind):
    mixture = eo.Mixture(family, 2, covariance=kind, random_state=0).fit(made(family, n=200))
    X, g = mixture.sample(40_000, random_state=1)
    np.testing.assert_allclose(np.bincount(g) / len(g), mixture.weights_, atol=0.02)
    if family is eo.Categorical:
        column = mixture.model_.column("x0")
        for text, share in zip(column.labels.texts(), column.shares @ mixture.weights_):
            assert (X[:, 0] == text).mean() == pytest.approx(share, abs=0.02)
        return
    for k in range(2):
        np.testing.assert_allclose(X[g == k].mean(axis=0), mixture.means_[k], rtol=0.05, atol=0.05)
        if family is eo.Gaussian:
            np.testing.assert_allclose(np.cov(X[g == k].T), mixture.covariances_[k], rtol=0.1, atol=0.1)


def test_components_begin_with_the_spread_that_is_left_when_they_share_it():
    """Nine components in a plane have a third of each side each: of the variances, 1 and 9, a ninth."""
    prior = Prior({"a": eo.Gaussian.tally([0.0, 2.0]), "b": eo.Gaussian.tally([0.0, 6.0])}, 0.01, eo.Gaussian)
    assert [prior.scale(name, 9) for name in "ab"] == pytest.approx([1 / 9, 1.0])
    alone = Prior({"a": eo.Gaussian.tally([0.0, 2.0])}, 0.01, eo.Gaussian)
    assert alone.scale("a", 9) == pytest.approx(1 / 81)


def test_densities_integrate_to_one_and_masses_add_up_to_it():
    one = eo.Mixture(k=3, random_state=0).fit(galaxies())
    grid = np.linspace(-60, 120, 200_001)[:, None]
    assert np.exp(one.score_samples(grid)).sum() * (grid[1, 0] - grid[0, 0]) == pytest.approx(1, abs=1e-9)
    bits = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    coins = eo.Mixture(eo.Bernoulli, 2, random_state=0).fit(made(eo.Bernoulli, d=4))
    assert np.exp(coins.score_samples(bits)).sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", COVARIANCES)
def test_missing_cells_are_integrated_out(kind):
    mixture = eo.Mixture(k=2, covariance=kind, random_state=0).fit(made(eo.Gaussian, d=2, missing=0.1))
    grid = np.linspace(-60, 60, 20_001)
    rows = np.column_stack([np.full_like(grid, 1.3), grid])
    whole = np.exp(mixture.score_samples(rows)).sum() * (grid[1] - grid[0])
    assert mixture.score_samples([[1.3, np.nan]])[0] == pytest.approx(np.log(whole), rel=1e-6)
    np.testing.assert_allclose(mixture.predict_proba([[np.nan, np.nan]])[0], mixture.weights_)
    assert mixture.score_samples([[np.nan, np.nan]])[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["joint", "normals", "numbers", "known", "table", "counts", "share_out"])
def test_every_kernel_is_its_python(name):
    rng = np.random.default_rng(0)
    k, d, n = 3, 4, 1300  # tiles, and a part of one
    x, r, total = rng.normal(size=(d, n)), rng.random((k, n)), rng.normal(size=(k, n)) * 300
    total[:, 3] = -np.inf
    total[0, 4] = -np.inf
    x[1, 2] = np.nan
    codes, weights, chances = rng.integers(0, 6, (d, n)).astype(np.int32), r[0].copy(), np.full(k, 1 / k)
    means, factors, constants = rng.normal(size=(k, d)), np.tril(rng.normal(size=(k, d, d))), rng.normal(size=k)
    known, sums, counts = np.nan_to_num(x), np.zeros(2), np.zeros(k)
    curves = rng.normal(size=(d, k)), rng.random((d, k)), rng.normal(size=(d, k))
    arguments = {
        "joint": (kernels.joint_normals, known, weights, means, factors, constants, total),
        "normals": (
            kernels.expect_normals,
            *(known, weights, chances, means, factors, constants),
            *(sums, counts, np.zeros((k, d)), np.zeros((k, d, d))),
        ),
        "numbers": (kernels.expect_numbers, x, weights, chances, *curves, sums, counts, np.zeros((d, k, 3))),
        "known": (kernels.add_known, x[1], means[:, 0].copy(), r[:, 0].copy(), r[:, 1].copy(), total),
        "table": (kernels.add_table, codes, rng.normal(size=(k, 6)), total),
        "counts": (kernels.add_counts, codes, r, np.zeros((k, 6))),
        "share_out": (kernels.share_out, total, weights, chances, np.zeros(n), sums),
    }
    each, *given_ = arguments[name]
    results = []
    for run in (each.compiled, each.plain):
        own = [a.copy() for a in given_]
        run(*own)
        results.append(own)
    for a, b in zip(*results, strict=True):
        assert a.tobytes() == b.tobytes()


# -- other people's numbers --------------------------------------------------------------------------------------------


@functools.cache
def polished(which, k, kind):
    """Ours and scikit-learn's, from the same start, as far as EM goes."""
    X = {"faithful": faithful, "galaxies": galaxies}[which]()
    begin = eo.Mixture(k=k, covariance=kind, prior=None, random_state=1, max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        begin.fit(X)
    mine = eo.Mixture(k=k, covariance=kind, prior=None, start=begin, tol=0, max_iter=20_000).fit(X)
    precision = np.linalg.inv(begin.covariances_)
    theirs = GaussianMixture(
        k,
        covariance_type=THEIRS[kind],
        weights_init=begin.weights_,
        means_init=begin.means_,
        precisions_init={
            "full": precision,
            "tied": precision[0],
            "diagonal": np.einsum("gii->gi", precision),
            "spherical": precision[:, 0, 0],
        }[kind],
        reg_covar=0,
        tol=1e-14,
        max_iter=20_000,
    ).fit(X)
    return X, mine, theirs


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("kind", COVARIANCES)
@pytest.mark.parametrize("which", ["faithful", "galaxies"])
def test_scikit_learn_from_the_same_start(which, kind, k):
    X, mine, theirs = polished(which, k, kind)
    assert mine.log_likelihood_ == pytest.approx(theirs.score(X) * len(X), abs=1e-6)
    assert mine.bic_ == pytest.approx(theirs.bic(X), abs=1e-5)
    np.testing.assert_allclose(mine.score_samples(X), theirs.score_samples(X), atol=1e-4)
    np.testing.assert_allclose(mine.means_, theirs.means_, rtol=1e-3)


def test_old_faithful_as_mclust_has_it():
    """R's mclust: EEE with 3 components, BIC -2314.3 (its sign), before VVV with 2, log-likelihood -1130.264."""
    tied = eo.Mixture(covariance="tied", prior=None, random_state=0, k=range(1, 6)).fit(faithful())
    assert tied.k_ == 3
    assert tied.bic_ == pytest.approx(2314.3, abs=0.1)
    full = eo.Mixture(prior=None, random_state=0, k=2, tol=1e-9).fit(faithful())
    assert full.log_likelihood_ == pytest.approx(-1130.264, abs=1e-3)


def test_the_number_of_components_is_chosen_and_the_curve_is_told():
    mixture = eo.Mixture(random_state=0).fit(faithful())
    assert mixture.k_ == 2
    curve = mixture.curve_
    assert curve["k"] == list(range(1, 10))
    assert min(curve["bic"]) == curve["bic"][1] == mixture.bic_
    assert all(icl >= bic for icl, bic in zip(curve["icl"], curve["bic"]))
    assert curve["icl"][0] == curve["bic"][0]
    shares = mixture.predict_proba(faithful())
    assert mixture.icl_ - mixture.bic_ == pytest.approx(-2 * xlogy(shares, shares).sum(), rel=1e-9)
    wide = eo.Mixture(eo.Poisson, k=[1, 2, 3], criterion="icl", random_state=0).fit(made(eo.Poisson, n=300, k=2))
    assert wide.k_ == wide.curve_["k"][int(np.argmin(wide.curve_["icl"]))]


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["k-means++", "random"])
@pytest.mark.parametrize(("family", "kind"), KINDS, ids=IDS)
def test_starts_find_what_was_put_in(family, kind, start):
    X = made(family, n=600, d=6, k=2, seed=4)
    mixture = eo.Mixture(family, 2, covariance=kind, start=start, random_state=0).fit(X)
    alone = eo.Mixture(family, 1, covariance=kind).fit(X)
    assert mixture.converged_
    assert mixture.bic_ < alone.bic_
    assert np.all(np.diff(mixture.weights_) <= 0)  # the heaviest first


def test_the_same_seed_is_the_same_mixture():
    X = made(eo.Gaussian, n=500)
    a, b = (eo.Mixture(k=4, random_state=7).fit(X).model_ for _ in range(2))
    assert a == b


def test_a_start_of_rows_and_a_start_that_is_done():
    X = faithful()
    rows = eo.Mixture(start=[[2.0, 50.0], [4.5, 80.0]]).fit(X)
    assert rows.k_ == 2
    assert rows.means_[0, 0] < rows.means_[1, 0]  # in the order they were given
    done = eo.Mixture(start=rows).fit(X)
    np.testing.assert_allclose(done.means_, rows.means_, rtol=1e-3)
    with pytest.raises(ValueError, match="k=3, but the start has 2 components"):
        eo.Mixture(k=3, start=rows).fit(X)
    with pytest.raises(ValueError, match="another family"):
        eo.Mixture(start=rows, covariance="tied").fit(X)


@pytest.mark.parametrize("gone", [[], ["x"], ["y"], ["z"], ["x", "z"]])
@pytest.mark.parametrize("new", [[], ["w"], ["a", "zz"]])
def test_a_start_of_categories_is_read_by_their_names(gone, new):
    old = eo.Mixture(eo.Categorical, 2, random_state=0).fit({"a": list("xyzzyx") * 5, "b": list("uvuuvu") * 5})
    values = [one for one in "xyz" if one not in gone] + new
    rows = {"a": values * 8 + values[:1] * 8, "b": (["u", "v"] * 99)[: 8 * len(values) + 8]}
    for prior in (0.01, None):
        warm = eo.Mixture(eo.Categorical, start=old, prior=prior).fit(rows)
        column = warm.model_.column("a")
        assert sorted(column.labels.texts()) == sorted(values)
        assert warm.log_likelihood_ == pytest.approx(warm.score_samples(rows).sum())
        shares = dict(zip(column.labels.texts(), (column.shares @ warm.weights_).tolist()))
        total = 8 * len(values) + 8
        assert shares == pytest.approx({v: (16 if v == values[0] else 8) / total for v in values}, abs=0.01)


def test_a_start_leaves_a_new_value_its_share_of_all_rows():
    old = eo.Mixture(eo.Categorical, 1, prior=None).fit({"a": list("xxxy") * 5})
    new = eo.Mixture(eo.Categorical, start=old, prior=None).fit({"a": list("xyww") * 5})
    # half of the rows are w; what is left is shared as x and y were, three to one
    assert new.model_.trace[0] == pytest.approx(5 * np.log(3 / 8) + 5 * np.log(1 / 8) + 10 * np.log(1 / 2))


@pytest.mark.parametrize("prior", [0.01, None])
def test_rows_that_are_impossible_under_the_start_are_learnt(prior):
    flat, flags = np.array([[0.0, 0.0], [0.0, 1.0]] * 10), np.array(list(itertools.product([0.0, 1.0], repeat=2)) * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        old = eo.Mixture(eo.Bernoulli, 2, prior=prior, random_state=0).fit(flat)
        new = eo.Mixture(eo.Bernoulli, start=old, prior=prior).fit(flags)
    assert new.model_.trace[0] == -np.inf
    assert new.n_iter_ > 1
    np.testing.assert_allclose(new.means_[:, 0] @ new.weights_, 0.5, atol=0.01)
    assert np.isfinite(new.log_likelihood_)
    assert MixtureModel.from_bytes(new.model_.to_bytes()) == new.model_


def test_not_converged_is_told():
    with pytest.warns(ConvergenceWarning, match=r"not converged after 2 steps.*\(max_iter=\)"):
        mixture = eo.Mixture(k=3, max_iter=2, random_state=0).fit(faithful())
    assert not mixture.converged_
    assert mixture.n_iter_ == 2


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"family": eo.LogGaussian}, "expected Gaussian, Bernoulli, Poisson or Categorical"),
        ({"family": "poisson"}, r"Poisson or Categorical; give the class, not its name: Mixture\(Poisson\)"),
        ({"k": 0}, "expected a number of components"),
        ({"k": []}, "k is empty"),
        ({"k": "many"}, "expected a number of components"),
        ({"covariance": "round"}, "expected one of 'full', 'tied', 'diagonal', 'spherical'"),
        ({"family": eo.Poisson, "covariance": "tied"}, "is for Gaussians"),
        ({"prior": -1}, "pseudo-rows"),
        ({"prior": 1e200}, "pseudo-rows"),
        ({"tol": False}, "tol=False: expected a number, 0 or more"),
        ({"k": 2.0}, "expected a number of components"),
        ({"k": 10_001}, "expected a number of components"),
        ({"start": "best"}, "k-means"),
        ({"start": "given"}, "k-means"),
        ({"criterion": "aic"}, "'bic', 'icl'"),
        ({"columns": ["x0", "x7"]}, "column 'x7' not found"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(how, message):
    with pytest.raises(ValueError, match=message):
        eo.Mixture(**how).fit(np.arange(12.0).reshape(6, 2) ** 2)


# -- hard cases --------------------------------------------------------------------------------------------------------


def test_a_component_that_collapses_is_told_plainly():
    x = np.concatenate([np.zeros(20), np.linspace(1, 3, 20)])[:, None]
    with pytest.raises(eo.DataError, match=r"component . of 2 has collapsed: .* column 'x0'.*prior=0.01"):
        eo.Mixture(k=2, prior=None, random_state=0).fit(x)
    kept = eo.Mixture(k=2, random_state=0).fit(x)
    assert kept.covariances_.min() > 0
    told = eo.Mixture(k=[1, 2], prior=None, random_state=0).fit(x)
    assert told.k_ == 1
    assert "collapsed" in told.curve_["note"][1]


def test_the_prior_does_not_widen_components_that_lie_far_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + np.where(np.arange(400)[:, None] % 2, 100, 0)
    by_default, mle = (eo.Mixture(k=2, random_state=0, **how).fit(X) for how in ({}, {"prior": None}))
    np.testing.assert_allclose(by_default.covariances_, mle.covariances_, atol=0.1)
    assert eo.Mixture(k=range(1, 6), random_state=0).fit(X).k_ == 2


def test_columns_that_say_the_same():
    x = np.random.default_rng(0).normal(size=50)
    X = np.column_stack([x, 2 * x])
    with pytest.raises(eo.DataError, match="no spread left in column 'x1' beside 'x0', and"):
        eo.Mixture(k=1, prior=None).fit(X)
    assert np.isfinite(eo.Mixture(k=2, random_state=0).fit(X).score(X))


@pytest.mark.parametrize(
    ("X", "k", "message"),
    [
        ([[1.0]], 1, "column 'x0' is 1 in every row"),
        ([[1.0, 2.0], [1.0, 3.0], [1.0, 5.0]], 1, "column 'x0' is 1 in every row"),
        ([[1.0], [2.0], [4.0]], 5, "3 rows, 3 of them different, cannot tell 5 components apart: ask for at most 3"),
        ([[1.0], [2.0]] * 50, 3, "100 rows, 2 of them different"),
        ([[np.nan, np.nan]] * 4, 1, "every row has weight zero or no known cell"),
        ([[1.0, np.nan], [2.0, np.nan]], 1, "column 'x1' has no known cell"),
        ([[1.0], [1e300]], 1, "column 'x0' is 1e\\+300 in row 1"),
        ([[1.0], [np.inf]], 1, "column 'x0' is inf in row 1"),
        (np.empty((0, 2)), 1, "0 sample"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_a_sentence(X, k, message):
    with pytest.raises(ValueError, match=message):
        eo.Mixture(k=k, random_state=0).fit(np.array(X))


@pytest.mark.parametrize(
    ("family", "X", "message"),
    [
        (eo.Bernoulli, [[0.0], [2.0]], "column 'x0' is 2 in row 1"),
        (eo.Poisson, [[0.5], [2.0]], "column 'x0' is 0.5 in row 0"),
        (eo.Poisson, [[-1.0], [2.0]], "column 'x0' is -1 in row 0"),
        (eo.Bernoulli, [[1.0]] * 9, "cannot tell 2 components apart"),
    ],
)
def test_counts_that_are_none(family, X, message):
    with pytest.raises(eo.DataError, match=message):
        eo.Mixture(family, 2, random_state=0).fit(X)


def test_columns_that_are_called_as_a_tables_figures_are():
    X = pd.DataFrame(made(eo.Gaussian, d=2), columns=["weight", "component"])
    mixture = eo.Mixture(k=2, random_state=0).fit(X)
    shown = mixture.model_.table()
    assert shown.names == ["component_", "weight_", "weight", "weight ±", "component", "component ±"]
    assert shown["weight_"] == mixture.weights_.tolist()
    assert shown["weight"] == mixture.means_[:, 0].tolist()


def test_few_rows_far_from_zero_and_of_any_size():
    near = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])
    plain = eo.Mixture(k=2, random_state=0).fit(near)
    for shift, scale in ((1e9, 1.0), (0.0, 1e-80), (0.0, 1e80), (-1e6, 1e3)):
        moved = eo.Mixture(k=2, random_state=0).fit(near * scale + shift)
        np.testing.assert_allclose(moved.means_, plain.means_ * scale + shift, rtol=1e-7)
        np.testing.assert_allclose(moved.covariances_, plain.covariances_ * scale**2, rtol=1e-5)


def test_very_narrow_components_far_apart_keep_their_digits():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 2))
    X = np.where(np.arange(300)[:, None] % 2, 1e5, -1e5) + 0.1 * noise
    mixture = eo.Mixture(k=2, prior=None, random_state=0).fit(X)
    for g in range(2):
        mine = noise[mixture.predict(X) == g]
        np.testing.assert_allclose(mixture.covariances_[g], 0.01 * np.cov(mine.T, bias=True), rtol=1e-5, atol=1e-9)


def test_one_row_of_counts_and_a_constant_column_are_fine():
    assert eo.Mixture(eo.Poisson, 1).fit([[3.0]]).means_[0, 0] == pytest.approx(3)
    two = eo.Mixture(eo.Bernoulli, 2, random_state=0).fit([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose(two.means_[:, 0], 1)


def test_values_never_seen_say_nothing_and_impossible_ones_are_told():
    X = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v"] * 10})
    mixture = eo.Mixture(eo.Categorical, 2, random_state=0).fit(X)
    np.testing.assert_allclose(
        mixture.predict_proba(pd.DataFrame({"a": ["z", None], "b": ["u", "u"]})),
        mixture.predict_proba(pd.DataFrame({"a": [None, None], "b": ["u", "u"]})),
    )
    coins = eo.Mixture(eo.Bernoulli, 2, prior=None, random_state=0).fit([[1.0, 0.0], [1.0, 1.0]] * 5)
    assert coins.score_samples([[0.0, 0.0]])[0] == -np.inf
    np.testing.assert_allclose(coins.predict_proba([[0.0, 0.0]])[0], coins.weights_)


def test_em_stops_where_nothing_is_to_be_gained():
    begin, believed, found = prepared(galaxies(), eo.Gaussian, "full", k=3)
    run = em(begin, found.each, believed, 1e-9, 5000)
    assert run.converged
    longer = em(run.components, found.each, believed, 0.0, 2000)
    assert 0 <= longer.objective - run.objective < 82 * 1e-8


def test_a_table_is_read_once_and_answers_come_of_one_look(monkeypatch):
    X = pd.DataFrame(made(eo.Gaussian, n=9000), columns=list("abc"))
    made_blocks, looked, block_of, log_joint = [], [], mixture_rows.block_of, MixtureModel.log_joint
    monkeypatch.setattr(mixture_rows, "block_of", lambda *args: made_blocks.append(1) or block_of(*args))
    monkeypatch.setattr(MixtureModel, "log_joint", lambda self, *args: looked.append(1) or log_joint(self, *args))
    model = eo.Mixture(k=2, random_state=0, max_iter=5, tol=1).fit(X).model_
    assert len(model.trace) > 1
    assert len(made_blocks) == 2  # the sample, and all rows
    OfMixture(model, True).columns(table(X), 1, str)
    assert len(looked) == 1
    shares, log_p = model.shares_and_log_prob(X)
    np.testing.assert_array_equal(shares, model.shares(X))
    np.testing.assert_array_equal(log_p, model.log_prob(X))


def test_a_table_is_not_copied():
    X = made(eo.Gaussian, n=5000)
    tabled = eo.Mixture()._table(X, None)
    assert all(np.shares_memory(tabled.table[name], X) for name in tabled.table.columns)


def test_the_best_of_several_starts_goes_on(monkeypatch):
    calls, plain = [], fit.em

    def watched(begin, *how):
        run = plain(begin, *how)
        calls.append((begin, run))
        return run

    monkeypatch.setattr(fit, "em", watched)
    eo.Mixture(k=4, n_init=6, random_state=0).fit(np.random.default_rng(0).normal(size=(200, 2)))
    *starts, (begin, _) = calls
    objectives = [run.objective for _, run in starts]
    assert len({round(one, 3) for one in objectives}) > 1
    assert begin is starts[int(np.argmax(objectives))][1].components
