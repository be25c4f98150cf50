"""Regressions: published numbers, closed forms, laws, what is told plainly, and the file."""

import itertools
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, PoissonRegressor

import evenodds as eo
from evenodds import threads
from evenodds.models.glm.design import Design
from evenodds.models.glm.inference import covariance, standard_errors
from evenodds.models.glm.regression import Regression
from evenodds.models.separators.separation import separation
from tables import mixed

MENARCHE = np.array(
    [
        (9.21, 376, 0), (10.21, 200, 0), (10.58, 93, 0), (10.83, 120, 2), (11.08, 90, 2), (11.33, 88, 5),
        (11.58, 105, 10), (11.83, 111, 17), (12.08, 100, 16), (12.33, 93, 29), (12.58, 100, 39), (12.83, 108, 51),
        (13.08, 99, 47), (13.33, 106, 67), (13.58, 105, 81), (13.83, 117, 88), (14.08, 98, 79), (14.33, 97, 90),
        (14.58, 120, 113), (14.83, 102, 95), (15.08, 122, 117), (15.33, 111, 107), (15.58, 94, 92), (15.83, 114, 112),
        (17.58, 1049, 1049),
    ]
)  # fmt: skip
BERKELEY = pd.DataFrame(
    {
        "admit": ["Admitted", "Rejected"] * 12,
        "gender": ["Male", "Male", "Female", "Female"] * 6,
        "dept": np.repeat(list("ABCDEF"), 4),
        "freq": [512, 313, 89, 19, 353, 207, 17, 8, 120, 205, 202, 391, 138, 279, 131, 244, 53, 138, 94, 299, 22, 351,
                 24, 317],
    }
)  # fmt: skip


def table(n=400, seed=0):
    """Numbers, a flag, a category; a count, a class and a measurement that depend on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, n),
            "smoker": rng.integers(0, 2, n),
            "town": rng.choice(["Bonn", "Köln", "Ulm"], n),
            "year": 2000.0 + rng.integers(0, 20, n),
        }
    )
    score = -1 + 0.02 * frame["age"] + 0.5 * frame["smoker"] + 0.4 * (frame["town"] == "Ulm")
    frame["visits"] = rng.poisson(np.exp(score))
    frame["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    frame["kind"] = rng.choice(["a", "b", "c"], n)
    frame["weight"] = score + rng.normal(size=n)
    return frame


TARGETS = {"visits": eo.Poisson, "ill": eo.Bernoulli, "kind": eo.Categorical, "weight": eo.Gaussian}


def features(frame):
    return frame.drop(columns=list(TARGETS))


@pytest.fixture(params=TARGETS, scope="module")
def case(request):
    frame = table()
    return TARGETS[request.param], features(frame), frame[request.param]


# Published numbers


def test_menarche():
    age, total, reached = MENARCHE.T  # Venables and Ripley 2002, section 7.2: -21.226 and 1.632
    glm = eo.GLM(eo.Bernoulli).fit(pd.DataFrame({"age": age}), reached, trials=total)
    model = glm.model_
    errors = [0.7706858843874104, 0.058953174618688514]
    np.testing.assert_allclose(model.coefficients, [-21.22639490516735, 1.6319683482275735], rtol=1e-12)
    np.testing.assert_allclose(standard_errors(model), errors, rtol=1e-7)
    assert model.totals.deviance == pytest.approx(26.703451635764843, rel=1e-12)
    assert model.totals.null_deviance == pytest.approx(3693.8835747941544, rel=1e-13)
    assert model.totals.log_likelihood == pytest.approx(-55.37762715655259, rel=1e-12)
    assert model.totals.spare == 23
    finer = eo.GLM(eo.Bernoulli, tol=1e-11).fit(pd.DataFrame({"age": age}), reached, trials=total)
    np.testing.assert_allclose(standard_errors(finer.model_), errors, rtol=1e-10)


def test_berkeley_by_independence():
    reference = {"admit": "Rejected", "gender": "Male"}
    glm = eo.GLM(eo.Poisson, reference=reference).fit(BERKELEY, "freq")
    expected = {
        "intercept": (5.827849244050267, 0.03691083420979943),
        "admit[Admitted]": (-0.45673940896301257, 0.030507066694471546),
        "gender[Female]": (-0.3828683902382368, 0.030274877295985277),
        "dept[B]": (-0.4667933536154895, 0.05273720764640396),
        "dept[F]": (-0.26752223850776125, 0.04972294827448474),
    }
    finer = eo.GLM(eo.Poisson, reference=reference, tol=1e-11).fit(BERKELEY, "freq").model_
    errors = dict(zip(finer.names, standard_errors(finer)))
    for name, (coefficient, error) in expected.items():
        assert glm.model_[name] == pytest.approx(coefficient, rel=1e-12)
        assert errors[name] == pytest.approx(error, rel=1e-9)
    assert glm.model_.totals.deviance == pytest.approx(2097.6712124170704, rel=1e-12)


# Closed forms


def test_two_groups_are_their_own_logs_and_odds():
    frame = pd.DataFrame({"g": ["a"] * 10 + ["b"] * 20})
    count = [2] * 10 + [5] * 20
    poisson = eo.GLM(eo.Poisson, tol=1e-12).fit(frame, count).model_
    np.testing.assert_allclose(poisson.coefficients, [np.log(2), np.log(2.5)], rtol=1e-14)
    np.testing.assert_allclose(standard_errors(poisson), [np.sqrt(1 / 20), np.sqrt(1 / 20 + 1 / 100)], rtol=1e-12)
    flag = [1] * 4 + [0] * 6 + [1] * 15 + [0] * 5
    logistic = eo.GLM(eo.Bernoulli).fit(frame, flag).model_
    np.testing.assert_allclose(logistic.coefficients, [np.log(4 / 6), np.log(3) - np.log(4 / 6)], rtol=1e-12)
    softmax = eo.GLM(eo.Categorical).fit(frame, ["x"] * 2 + ["y"] * 3 + ["z"] * 5 + ["x"] * 10 + ["y"] * 6 + ["z"] * 4)
    np.testing.assert_allclose(softmax.model_.coefficients[0], np.log([3 / 2, 5 / 2]), rtol=1e-12)
    np.testing.assert_allclose(softmax.model_.coefficients[1], np.log([0.6 / 1.5, 0.4 / 2.5]), rtol=1e-12)


def test_linear_regression_is_what_the_textbook_says():
    frame = table()
    model = eo.GLM(eo.Gaussian).fit(features(frame), frame["weight"]).model_
    X = np.column_stack(
        [np.ones(400), frame["age"], frame["smoker"], frame["year"], frame["town"] == "Köln", frame["town"] == "Ulm"]
    ).astype(float)
    y = frame["weight"].to_numpy()
    b, rss = np.linalg.lstsq(X, y, rcond=None)[:2]
    assert model.names == ["intercept", "age", "smoker", "year", "town[Köln]", "town[Ulm]"]
    np.testing.assert_allclose(model.coefficients, b, rtol=1e-10)
    variance = rss[0] / 394
    np.testing.assert_allclose(standard_errors(model) ** 2, variance * np.diag(np.linalg.inv(X.T @ X)), rtol=1e-9)
    rows = model.table()
    ratio = rows["t"][1]
    assert rows["p"][1] == pytest.approx(2 * stats.t.sf(abs(ratio), 394), rel=1e-12)
    assert rows["high"][1] == pytest.approx(rows["estimate"][1] + stats.t.ppf(0.975, 394) * rows["error"][1], rel=1e-12)
    log = stats.norm.logpdf(y, X @ b, np.sqrt(rss[0] / 400)).sum()
    assert model.totals.log_likelihood == pytest.approx(log, rel=1e-12)
    assert model.aic == pytest.approx(-2 * log + 2 * 7, rel=1e-12)
    assert model.bic == pytest.approx(-2 * log + np.log(400) * 7, rel=1e-12)


@pytest.mark.parametrize("family", [eo.Poisson, eo.Bernoulli])
def test_scikit_learn_finds_the_same(family):
    frame = table()
    X = features(frame)[["age", "smoker"]]
    if family is eo.Poisson:
        y, peer = frame["visits"], PoissonRegressor(alpha=0, tol=1e-12, solver="newton-cholesky")
    else:
        y, peer = frame["ill"], LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky")
    glm, peer = eo.GLM(family).fit(X, y), peer.fit(X, y)
    np.testing.assert_allclose(glm.coef_, peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(glm.intercept_, peer.intercept_, rtol=1e-9)
    np.testing.assert_allclose(glm.score(X, y), peer.score(X, y), rtol=1e-10)


# Laws


def test_log_likelihood_is_that_of_the_rows(case):
    family, X, y = case
    glm = eo.GLM(family).fit(X, y)
    if family is eo.Poisson:
        log = stats.poisson.logpmf(y, glm.predict(X)).sum()
    elif family is eo.Gaussian:
        away = y - glm.predict(X)
        log = stats.norm.logpdf(away, scale=np.sqrt((away**2).mean())).sum()
    else:
        p = glm.predict_log_proba(X)
        log = p[np.arange(len(y)), np.searchsorted(glm.classes_, y)].sum()
        np.testing.assert_allclose(np.exp(p), glm.predict_proba(X), rtol=1e-12)
    assert glm.model_.totals.log_likelihood == pytest.approx(log, rel=1e-12)


def test_weight_two_is_counted_twice_and_weight_zero_is_no_row(case):
    family, X, y = case
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weights)
    weighted = eo.GLM(family).fit(X, y, weights).model_
    repeated = eo.GLM(family).fit(X.iloc[again], y.iloc[again]).model_
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(standard_errors(weighted), standard_errors(repeated), rtol=1e-12)
    for name in ("rows", "log_likelihood", "deviance", "null_deviance", "pearson", "dispersion"):
        assert getattr(weighted.totals, name) == pytest.approx(getattr(repeated.totals, name), rel=1e-12)
    for errors in ("HC0", "HC1"):
        weighted, repeated = (
            eo.GLM(family, errors=errors, tol=1e-11).fit(*rows).model_
            for rows in ((X, y, weights), (X.iloc[again], y.iloc[again]))
        )
        np.testing.assert_allclose(standard_errors(weighted), standard_errors(repeated), rtol=1e-9)


@pytest.mark.parametrize("errors", ["model", "HC0", "HC1", "HC2", "HC3"])
def test_trials_are_rows_written_out(errors):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "town": rng.choice(["Bonn", "Ulm"], 40)})
    trials, often = rng.integers(1, 30, 40), rng.integers(1, 3, 40)
    successes = rng.binomial(trials, 1 / (1 + np.exp(-0.3 - 0.8 * frame["x"])))
    told = eo.GLM(eo.Bernoulli, errors=errors, tol=1e-11).fit(frame, successes, often, trials=trials).model_
    again = np.repeat(np.arange(40), trials * often)
    each = [np.tile(np.arange(n) < k, w) for n, k, w in zip(trials, successes, often)]
    written = eo.GLM(eo.Bernoulli, errors=errors, tol=1e-11).fit(frame.iloc[again], np.concatenate(each)).model_
    np.testing.assert_allclose(told.coefficients, written.coefficients, rtol=1e-12)
    np.testing.assert_allclose(standard_errors(told), standard_errors(written), rtol=1e-12)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_memory(case, ending, tmp_path, monkeypatch):
    family, X, y = case
    whole = X.assign(**{y.name: y})
    for part in range(2):
        rows = whole.iloc[part * 200 : (part + 1) * 200]
        path = tmp_path / f"{part}.{ending}"
        rows.to_csv(path, index=False) if ending == "csv" else rows.to_parquet(path)
    memory = eo.GLM(family).fit(whole, y.name)
    for held in (1 << 26, 0):  # kept, and read again for every pass
        monkeypatch.setattr("evenodds.models.glm.rows.HELD", held)
        files = eo.GLM(family).fit(str(tmp_path / f"*.{ending}"), y.name)
        assert files.model_.names == memory.model_.names
        np.testing.assert_allclose(files.model_.coefficients, memory.model_.coefficients, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(standard_errors(files.model_), standard_errors(memory.model_), rtol=1e-12)
        assert files.model_.totals.deviance == pytest.approx(memory.model_.totals.deviance, rel=1e-12)
        np.testing.assert_allclose(
            files.predict_mean(str(tmp_path / f"*.{ending}")), memory.predict_mean(X), rtol=1e-11
        )


def test_frames_arrays_and_sparse_matrices_are_one(case):
    family, X, y = case
    X = X[["age", "smoker", "year"]].astype(float)
    told = dict.fromkeys(X.columns, eo.Gaussian)
    frame = eo.GLM(family, columns=told).fit(X, y).model_
    for other in (X.to_numpy(), np.asfortranarray(X.to_numpy())):
        model = eo.GLM(family).fit(other, y).model_
        np.testing.assert_allclose(model.coefficients, frame.coefficients, rtol=1e-12)
        np.testing.assert_allclose(standard_errors(model), standard_errors(frame), rtol=1e-12)
        np.testing.assert_allclose(model.mean(other), frame.mean(X), rtol=1e-12)
    sparse = eo.GLM(family).fit(csr_array(X.to_numpy()), y).model_  # whose columns are not centred
    np.testing.assert_allclose(sparse.coefficients, frame.coefficients, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(standard_errors(sparse), standard_errors(frame), rtol=1e-8)
    np.testing.assert_allclose(sparse.mean(csr_array(X.to_numpy())), frame.mean(X), rtol=1e-9)


def test_the_reference_changes_the_coefficients_and_not_the_fit(case):
    family, X, y = case
    one, other = (eo.GLM(family, reference=r).fit(X, y) for r in (None, {"town": "Ulm"}))
    assert "town[Bonn]" in other.model_.names
    assert "town[Ulm]" not in other.model_.names
    np.testing.assert_allclose(one.predict_mean(X), other.predict_mean(X), rtol=1e-10)
    low, high = one.predict_interval(X)
    again = other.predict_interval(X)
    np.testing.assert_allclose(low, again[0], rtol=1e-8)
    np.testing.assert_allclose(high, again[1], rtol=1e-8)


@pytest.mark.parametrize("target", TARGETS)
def test_threads_change_nothing_and_are_as_many_as_told(target, monkeypatch):
    asked, inner = set(), threads.threads_for
    monkeypatch.setattr(threads, "threads_for", lambda n: asked.add(n) or inner(n))
    frame = table(140_000)  # three shards, and as many more of a factor's
    X, y = features(frame).assign(far=1e4 + frame["age"] % 1), frame[target]  # whose squares need 32 digits
    found = []
    for n in (1, 3):
        asked.clear()
        found.append(eo.GLM(TARGETS[target], threads=n).fit(X, y))
        found[-1].predict_interval(X)
        assert asked == {n}
    one, three = (glm.model_ for glm in found)
    np.testing.assert_array_equal(one.coefficients, three.coefficients)
    np.testing.assert_array_equal(one.covariance, three.covariance)


@pytest.mark.parametrize("solver", ["lbfgs", "ascent"])
def test_solvers_find_the_same_also_where_columns_say_the_same(case, solver):
    family, X, y = case
    newton = eo.GLM(family, solver="newton", tol=1e-11).fit(X, y).model_
    error = standard_errors(newton)
    found = eo.GLM(family, solver=solver, tol=1e-8).fit(X, y).model_
    np.testing.assert_allclose((found.coefficients - newton.coefficients) / error, 0, atol=1e-5)
    np.testing.assert_allclose(standard_errors(found), error, rtol=1e-7)
    twice = X.assign(double=2 * X["age"] + 1)
    with pytest.warns(eo.RegressionWarning, match="`double` = 2 `age` . 1"):
        shared = eo.GLM(family, solver=solver, tol=1e-8).fit(twice, y)
    kept = [shared.model_.names.index(name) for name in newton.names]
    np.testing.assert_allclose((shared.model_.coefficients[kept] - newton.coefficients) / error, 0, atol=1e-5)
    assert not np.any(shared.model_["double"])
    np.testing.assert_allclose(shared.predict_mean(twice), found.mean(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("classes", [3, 8])
def test_a_softmax_too_wide_for_its_hessian_drops_no_column(classes, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X @ rng.normal(size=(4, classes)) + 2 * rng.gumbel(size=(300, classes))).argmax(axis=1)
    newton = eo.GLM(eo.Categorical).fit(X, y)
    for module in ("minimise", "task"):
        monkeypatch.setattr(f"evenodds.models.glm.{module}.WIDEST", 5)
    with pytest.warns(eo.RegressionWarning, match="no standard errors") as told:
        wide = eo.GLM(eo.Categorical).fit(X, y)
    assert len(told) == 1
    assert wide.model_.totals.solver == "lbfgs"
    np.testing.assert_allclose(wide.coef_, newton.coef_, rtol=0, atol=1e-5)


def test_a_thinned_first_guess_changes_nothing_but_the_time(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3))
    y = (rng.random(9000) < 1 / (1 + np.exp(-X @ [1, -1, 0.5]))).astype(int)
    plain = eo.GLM(eo.Bernoulli).fit(X, y).model_
    monkeypatch.setattr("evenodds.models.glm.rows.PILOT", 500)
    guessed = eo.GLM(eo.Bernoulli).fit(X, y).model_
    assert guessed.totals.steps < plain.totals.steps
    np.testing.assert_allclose(guessed.coefficients, plain.coefficients, rtol=1e-11)


@pytest.mark.parametrize("prior", [None, 30.0])
@pytest.mark.parametrize("family", [eo.Bernoulli, eo.Poisson, eo.Categorical])
def test_a_sample_that_leads_agrees_with_passes_over_all_rows(monkeypatch, family, prior):
    rng = np.random.default_rng(4)
    rows = 60_000
    X = {"a": rng.normal(size=rows), "b": 5 + rng.gamma(2.0, size=rows), "c": rng.choice(["x", "y", "z"], rows)}
    score = 0.8 * X["a"] - 0.2 * X["b"] + 0.5 * (X["c"] == "y")
    rate = np.exp(score)
    y = rng.poisson(rate) if family is eo.Poisson else (rng.random(rows) < rate / (1 + rate)).astype(int)
    y = y + (rng.random(rows) < 0.3) if family is eo.Categorical else y
    w = rng.integers(0, 3, rows)
    plain = eo.GLM(family, prior=prior, solver="newton", tol=1e-11).fit(X, y, sample_weight=w).model_
    monkeypatch.setattr("evenodds.models.glm.rows.PILOT", 4800)
    one, three = (eo.GLM(family, prior=prior, threads=n).fit(X, y, sample_weight=w).model_ for n in (1, 3))
    np.testing.assert_array_equal(one.coefficients, three.coefficients)
    np.testing.assert_array_equal(one.covariance, three.covariance)
    error = np.sqrt(np.diag(plain.covariance))
    apart = (one.coefficients - plain.coefficients).ravel(order="F")
    np.testing.assert_allclose(apart / error, 0.0, atol=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(one.covariance)), error, rtol=1e-7)
    assert one.totals.log_likelihood == pytest.approx(plain.totals.log_likelihood, rel=1e-12)
    assert one.totals.pearson == pytest.approx(plain.totals.pearson, rel=1e-8)


def test_a_first_guess_does_not_share_a_coefficient_among_columns_that_say_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3))
    y = (rng.random(9000) < 1 / (1 + np.exp(-X @ [1, -1, 0.5]))).astype(int)
    twice = np.column_stack([X, 2 * X[:, 0] + X[:, 1]])
    monkeypatch.setattr("evenodds.models.glm.rows.PILOT", 500)
    with pytest.warns(eo.RegressionWarning, match="`x3` = 2 `x0` . `x1`"):
        found = eo.GLM(eo.Bernoulli).fit(twice, y).model_
    np.testing.assert_allclose(found.coefficients[:-1], eo.GLM(eo.Bernoulli).fit(X, y).model_.coefficients, rtol=1e-11)
    assert found.coefficients[-1] == 0


def test_an_exposure_is_an_offset_and_scales_the_rate():
    frame = table()
    X, y = features(frame), frame["visits"]
    time = np.random.default_rng(0).uniform(0.5, 3, len(y))
    exposed = eo.GLM(eo.Poisson).fit(X, y, exposure=time)
    moved = eo.GLM(eo.Poisson).fit(X, y, offset=np.log(time))
    np.testing.assert_allclose(exposed.model_.coefficients, moved.model_.coefficients, rtol=1e-12)
    tripled = eo.GLM(eo.Poisson).fit(X, y, exposure=3 * time)
    expected = exposed.model_.coefficients - np.eye(6)[0] * np.log(3)
    np.testing.assert_allclose(tripled.model_.coefficients, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(exposed.predict(X, exposure=2 * time), 2 * exposed.predict(X, exposure=time), rtol=1e-12)
    np.testing.assert_allclose(exposed.predict(X), exposed.predict(X, exposure=1.0), rtol=1e-12)
    rate = y.sum() / time.sum()
    null = stats.poisson.logpmf(y, rate * time).sum() - stats.poisson.logpmf(y, y).sum()
    assert exposed.model_.totals.null_deviance == pytest.approx(-2 * null, rel=1e-12)
    named = eo.GLM(eo.Poisson).fit(X.assign(days=time), y, exposure="days")
    np.testing.assert_allclose(named.model_.coefficients, exposed.model_.coefficients, rtol=1e-12)
    np.testing.assert_allclose(named.predict(X.assign(days=time)), exposed.predict(X, exposure=time), rtol=1e-12)


def test_offset_and_exposure_of_predictions_are_numbers_or_names_of_columns(tmp_path):
    frame = table()
    X = features(frame).assign(days=np.random.default_rng(0).uniform(0.5, 3, 400), known=frame["age"] / 100)
    glm = eo.GLM(eo.Poisson).fit(X.assign(visits=frame["visits"]), "visits", exposure="days", offset="known")
    at_fit = glm.predict(X)
    other = X.rename(columns={"days": "time", "known": "told"})
    X.to_csv(tmp_path / "at_fit.csv", index=False)
    other.to_csv(tmp_path / "other.csv", index=False)
    plain, named = other.drop(columns=["time", "told"]), {"exposure": "time", "offset": "told"}
    for found in (
        glm.predict(plain, offset=X["known"], exposure=X["days"].tolist()),
        glm.predict(other, **named),
        glm.predict(tmp_path / "at_fit.csv"),
        glm.predict(tmp_path / "other.csv", **named),
        glm.predict_interval(tmp_path / "other.csv", 1e-9, **named)[0],
    ):
        np.testing.assert_allclose(found, at_fit, rtol=1e-8)
    with pytest.raises(eo.DataError, match="the rows are in a file: give exposure as the name of one of its columns"):
        glm.predict(tmp_path / "other.csv", offset="told", exposure=10.0)
    for rows, told, message in (
        (other, {"offset": "told", "exposure": "tiem"}, "column 'tiem' not found; did you mean 'time'"),
        (tmp_path / "other.csv", {"offset": "told", "exposure": "tiem"}, "column 'tiem' not found"),
        (plain, {"offset": 0.0, "exposure": [1.0, 2.0]}, "2 values of exposure for 400 rows"),
        (plain, {"offset": 0.0, "exposure": np.arange(400.0)}, "exposure 'days' is 0 in row 0: expected a finite numb"),
        (plain, {"exposure": 1.0}, "fitted with the offset 'known'"),
    ):
        with pytest.raises(eo.DataError, match=message):
            glm.predict(rows, **told)


def test_an_offset_whose_power_of_e_is_no_number_is_refused_with_its_row_and_a_cure(tmp_path):
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 1.5], "service": [127.0, 63.0, 44882.0, 1095.0]})
    X.assign(y=[0, 1, 3, 1]).to_csv(tmp_path / "ships.csv", index=False)
    says = (
        "offset 'service' is 44,882 in {}: e.44,882 is too large to be fitted; give what was counted over as the expos"
    )
    with pytest.raises(eo.DataError, match=says.format("row 2")):
        eo.GLM(eo.Poisson).fit(X, [0, 1, 3, 1], offset="service")
    with pytest.raises(eo.DataError, match=says.format(".*line 4")):
        eo.GLM(eo.Poisson).fit(tmp_path / "ships.csv", "y", offset="service")
    with pytest.raises(eo.DataError, match="too small to be fitted; the offset of classes is in log-odds"):
        eo.GLM(eo.Bernoulli).fit(X[["x"]], [0, 1, 1, 0], offset=-X["service"])
    assert np.isfinite(eo.GLM(eo.Gaussian).fit(X, [0, 1, 3, 1], offset="service").coef_).all()


def test_the_score_is_the_share_of_the_deviance_that_is_explained(case):
    family, X, y = case
    glm = eo.GLM(family).fit(X, y, np.arange(400) % 3)
    if family in (eo.Bernoulli, eo.Categorical):
        right = glm.predict(X) == y
        assert glm.score(X, y, np.arange(400) % 3) == pytest.approx(np.average(right, weights=np.arange(400) % 3))
        return
    totals = glm.model_.totals
    assert glm.score(X, y, np.arange(400) % 3) == pytest.approx(1 - totals.deviance / totals.null_deviance, rel=1e-11)
    assert glm.score(X.assign(y=y), "y") == glm.score(X, y)


@pytest.mark.parametrize("level", [0.0, 1e4, 1e9, -1e12])
@pytest.mark.parametrize("ordered", [False, True])
def test_the_null_deviance_keeps_its_digits_where_the_target_is_far_from_zero(level, ordered, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = level + np.round(x + rng.normal(size=300), 3) + (1000 * np.arange(300) if ordered else 0.0)
    w = rng.integers(1, 4, 300)
    exact, often = [Fraction(v) for v in y.tolist()], w.tolist()
    mean = sum(n * v for n, v in zip(often, exact)) / sum(often)
    null = float(sum(n * (v - mean) ** 2 for n, v in zip(often, exact)))
    glm = eo.GLM().fit({"x": x}, y, w)
    assert glm.model_.totals.null_deviance == pytest.approx(null, rel=1e-13)
    assert f"R² {glm.score({'x': x}, y, w):.4f}"[:8] in repr(glm.summary())
    whole = pd.DataFrame({"x": x, "y": y, "w": w})
    for part in range(3):
        whole[part * 100 : (part + 1) * 100].to_parquet(tmp_path / f"{part}.parquet")
    files = eo.GLM().fit(str(tmp_path / "*.parquet"), "y", "w")
    assert files.model_.totals.null_deviance == pytest.approx(null, rel=1e-13)


def test_without_an_intercept_the_null_model_says_0(tmp_path):
    rng = np.random.default_rng(0)
    x, y, w = rng.normal(size=300), rng.normal(5, 1, 300), rng.integers(1, 4, 300)
    for part in range(3):
        rows = slice(part * 100, (part + 1) * 100)
        pd.DataFrame({"x": x[rows], "y": y[rows], "w": w[rows]}).to_parquet(tmp_path / f"{part}.parquet")
    for told in (({"x": x}, y, w), (str(tmp_path / "*.parquet"), "y", "w")):
        totals = eo.GLM(intercept=False).fit(*told).model_.totals
        assert totals.null_deviance == pytest.approx(w @ y**2, rel=1e-12)
    flags = (y > 5).astype(int)
    totals = eo.GLM(eo.Bernoulli, intercept=False).fit({"x": x}, flags, w).model_.totals
    assert totals.null_deviance == pytest.approx(2 * w.sum() * np.log(2), rel=1e-12)


def test_the_null_deviance_of_counts_has_no_largest_mean():
    rng = np.random.default_rng(0)
    y = rng.poisson(50, 100) * 1e13  # a mean above e^30
    totals = eo.GLM(eo.Poisson).fit(rng.normal(size=(100, 1)), y).model_.totals
    assert totals.null_deviance == pytest.approx(2 * float((y * np.log(y / y.mean())).sum()), rel=1e-10)
    nothing = eo.GLM(eo.Poisson, prior=1.0).fit(rng.normal(size=(10, 1)), np.zeros(10)).model_.totals
    assert nothing.null_deviance == 0


def test_the_score_knows_of_exposures_offsets_and_trials(tmp_path):
    rng = np.random.default_rng(0)
    X, years = pd.DataFrame({"x": rng.normal(size=80)}), rng.uniform(0.1, 10, 80)
    claims = rng.poisson(years * np.exp(0.3 * X["x"]))
    counted = eo.GLM(eo.Poisson).fit(X, claims, exposure=years, offset=X["x"] / 10)
    totals = counted.model_.totals
    expected = 1 - totals.deviance / totals.null_deviance
    assert counted.score(X, claims, offset=X["x"] / 10, exposure=years) == pytest.approx(expected, rel=1e-11)
    moved = eo.GLM().fit(X, claims, offset=years)
    expected = 1 - moved.model_.totals.deviance / moved.model_.totals.null_deviance
    assert moved.score(X, claims, offset=years) == pytest.approx(expected, rel=1e-11)
    trials = rng.integers(20, 60, 80)
    successes = rng.binomial(trials, 1 / (1 + np.exp(-X["x"])))
    shares = eo.GLM(eo.Bernoulli).fit(X.assign(n=trials), successes, trials="n")
    expected = 1 - shares.model_.totals.deviance / shares.model_.totals.null_deviance
    for rows, told in ((X, {"trials": trials}), (X.assign(n=trials), {}), (X.assign(m=trials), {"trials": "m"})):
        assert shares.score(rows, successes, **told) == pytest.approx(expected, rel=1e-11)
    with pytest.raises(eo.DataError, match="fitted with trials: give trials="):
        shares.score(X, successes)
    X.assign(years=years, told=X["x"] / 10).to_csv(tmp_path / "x.csv", index=False)
    of_file = counted.score(tmp_path / "x.csv", claims, offset="told", exposure="years")
    assert of_file == pytest.approx(counted.score(X, claims, offset=X["x"] / 10, exposure=years), rel=1e-11)
    assert shares.score(tmp_path / "x.csv", successes, trials=trials) == shares.score(X, successes, trials=trials)
    with pytest.raises(eo.DataError, match="trials is the name 'n': give a number for each row"):
        shares.score(tmp_path / "x.csv", successes, trials="n")


def test_a_fold_of_zeros_has_a_score():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 4
    counted = eo.GLM(eo.Poisson).fit(X, y)
    assert counted.score(X[:3], [0, 0, 0]) == 0
    assert counted.score(X[:3], [0, 0, 0], exposure=2.0) == 0
    assert eo.GLM(eo.Bernoulli).fit(X, y, trials=np.full(12, 3)).score(X[:2], [3, 3], trials=3) == 0


def test_a_fold_of_one_value_is_told_all_or_not_at_all():
    flat = eo.GLM().fit([[0.0], [1.0], [2.0]], [0.0, 0.0, 0.0])
    assert flat.score([[3.0], [4.0]], [0.0, 0.0]) == 1
    assert flat.score([[3.0], [4.0]], [2.0, 2.0]) == 0


def test_a_line_through_the_origin():
    frame = table()
    X = frame[["age", "smoker"]].to_numpy(float)
    model = eo.GLM(eo.Gaussian, intercept=False).fit(X, frame["weight"]).model_
    np.testing.assert_allclose(model.coefficients, np.linalg.lstsq(X, frame["weight"], rcond=None)[0], rtol=1e-11)
    assert model.names == ["x0", "x1"]
    assert model.totals.null_deviance == pytest.approx((frame["weight"] ** 2).sum(), rel=1e-12)
    logistic = eo.GLM(eo.Bernoulli, intercept=False).fit(X, frame["ill"])
    assert logistic.intercept_ == [0.0]
    assert logistic.model_.totals.null_deviance == pytest.approx(2 * 400 * np.log(2), rel=1e-12)


# Inference


def by_hand(frame, errors):
    """The sandwich of a Poisson regression, row by row."""
    X = np.column_stack([np.ones(len(frame)), frame["age"], frame["smoker"]])
    y = frame["visits"].to_numpy()
    b = eo.GLM(eo.Poisson, tol=1e-11).fit(frame[["age", "smoker"]], y).model_.coefficients
    rate = np.exp(X @ b)
    bread = np.linalg.inv((X.T * rate) @ X)
    h = rate * np.einsum("ij,jk,ik->i", X, bread, X)
    n, p = X.shape
    r2 = (y - rate) ** 2 * {"HC0": 1, "HC1": n / (n - p), "HC2": 1 / (1 - h), "HC3": 1 / (1 - h) ** 2}[errors]
    return bread @ ((X.T * r2) @ X) @ bread


@pytest.mark.parametrize("errors", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_errors_are_the_sandwich(errors):
    frame = table(60)
    model = eo.GLM(eo.Poisson, errors=errors, tol=1e-11).fit(frame[["age", "smoker"]], frame["visits"]).model_
    np.testing.assert_allclose(covariance(model), by_hand(frame, errors), rtol=1e-10)


@pytest.mark.parametrize("errors", ["model", "HC0", "HC1"])
def test_errors_of_three_classes_are_those_of_the_sums_written_out(errors):
    frame = table(80)
    names = ["age", "smoker"]
    model = eo.GLM(eo.Categorical, errors=errors, tol=1e-11).fit(frame[names], frame["kind"]).model_
    X = np.column_stack([np.ones(80), frame[names]])
    bread, filling = np.zeros((6, 6)), np.zeros((6, 6))
    for x, own in zip(X, np.searchsorted(["a", "b", "c"], frame["kind"])):
        raised = np.exp(np.append(0.0, x @ model.coefficients))
        p = (raised / raised.sum())[1:]
        first = p - (np.arange(1, 3) == own)
        bread += np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x))
        filling += np.kron(np.outer(first, first), np.outer(x, x))
    inverse = np.linalg.inv(bread)
    robust = inverse @ filling @ inverse * {"HC1": 80 / (80 - 6)}.get(errors, 1.0)
    np.testing.assert_allclose(covariance(model), inverse if errors == "model" else robust, rtol=1e-9)


@pytest.mark.parametrize("family", [eo.Poisson, eo.Bernoulli, eo.Gaussian])
def test_intervals_of_the_mean_cover_it(family):
    rng = np.random.default_rng(0)
    new, b, inside = pd.DataFrame({"x": [1.2]}), np.array([0.3, -0.8]), 0
    for _ in range(300):
        x = rng.normal(size=100)
        score = b[0] + b[1] * x
        if family is eo.Poisson:
            y, truth = rng.poisson(np.exp(score)), np.exp(b[0] + 1.2 * b[1])
        elif family is eo.Gaussian:
            y, truth = score + rng.normal(size=100), b[0] + 1.2 * b[1]
        else:
            p = 1 / (1 + np.exp(-score))
            y, truth = (rng.random(100) < p).astype(int), 1 / (1 + np.exp(-b[0] - 1.2 * b[1]))
        low, high = eo.GLM(family).fit(pd.DataFrame({"x": x}), y).predict_interval(new, 0.9)
        inside += np.ravel(low)[-1] <= truth <= np.ravel(high)[-1]
    assert 0.85 <= inside / 300 <= 0.95  # three standard errors of a share of 300 draws


def test_a_softmax_interval_is_the_delta_method_on_the_log_odds():
    frame = table()
    X, y = frame[["age"]], frame["kind"]
    model = eo.GLM(eo.Categorical).fit(X, y).model_
    V, row = covariance(model), np.array([1.0, 50.0])

    def log_odds(flat, c):
        score = np.concatenate([[0], row @ flat.reshape(2, 2, order="F")])
        p = np.exp(score) / np.exp(score).sum()
        return np.log(p[c] / (1 - p[c]))

    low, high = model.interval(pd.DataFrame({"age": [50.0]}))
    b = model.coefficients.ravel(order="F")
    for c in range(3):
        slope = np.array([(log_odds(b + d, c) - log_odds(b - d, c)) / 2e-6 for d in 1e-6 * np.eye(4)])
        wide = stats.norm.ppf(0.975) * np.sqrt(slope @ V @ slope)
        centre = log_odds(b, c)
        assert low[0, c] == pytest.approx(1 / (1 + np.exp(wide - centre)), rel=1e-9)
        assert high[0, c] == pytest.approx(1 / (1 + np.exp(-wide - centre)), rel=1e-9)


def test_an_interval_reads_the_rows_once(monkeypatch):
    frame, read, inner = table(), [], Design.read
    glm = eo.GLM(eo.Categorical).fit(features(frame), frame["kind"])
    monkeypatch.setattr(Design, "read", lambda *rows: read.append(rows) or inner(*rows))
    assert glm.predict_interval(features(frame))[0].shape == (400, 3)
    assert len(read) == 1


def test_the_interval_of_a_class_that_is_all_but_sure_is_finite_and_holds_its_probability():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = (np.column_stack([0 * x, 2 * x, -2 * x]) + rng.gumbel(size=(600, 3))).argmax(axis=1)
    glm = eo.GLM(eo.Categorical).fit({"x": x}, y)
    new = {"x": [-300.0, -20.0, 0.0, 5.0, 15.0, 20.0, 50.0, 300.0]}
    low, high = glm.predict_interval(new)
    p = glm.predict_proba(new)
    assert np.all((low <= p * (1 + 1e-12)) & (p <= high * (1 + 1e-12)))
    assert np.all((low >= 0) & (high <= 1))
    # so far out all but one of the other classes are nothing, and the interval is that of the odds against that one
    V, b, row = covariance(glm.model_), glm.model_.coefficients.ravel(order="F"), np.array([1.0, 20.0])
    wide = stats.norm.ppf(0.975) * np.sqrt(row @ V[:2, :2] @ row)
    np.testing.assert_allclose(high[5, 0], 1 / (1 + np.exp(row @ b[:2] - wide)), rtol=1e-10)
    np.testing.assert_allclose(1 - low[5, 1], 1 / (1 + np.exp(row @ b[:2] - wide)), atol=1e-15)


@pytest.mark.filterwarnings("error")
def test_a_row_that_is_told_for_certain_has_no_residual():
    """p (1 - p) is 0 there, as y - p is: what varies so little is off by as little."""
    model = eo.GLM(eo.Bernoulli).fit({"x": [1, 2, 3, 4, 5, 6]}, [0, 0, 1, 0, 1, 1]).model_
    assert model.residuals({"x": [1e4, -1e4]}, [1, 0], "pearson").tolist() == [0, 0]


def test_residuals_add_up_to_what_they_stand_for(case):
    family, X, y = case
    model = eo.GLM(family).fit(X, y).model_
    if family is eo.Categorical:
        with pytest.raises(eo.DataError, match="predict_proba"):
            model.residuals(X, y)
        return
    assert (model.residuals(X, y, "deviance") ** 2).sum() == pytest.approx(model.totals.deviance, rel=1e-12)
    assert (model.residuals(X, y, "pearson") ** 2).sum() == pytest.approx(model.totals.pearson, rel=1e-8)
    assert model.residuals(X, y, "response").sum() == pytest.approx(0, abs=1e-9)
    for kind in ("deviance", "pearson"):  # a weight of 4 is a row four times, the root of which is 2
        np.testing.assert_allclose(
            model.residuals(X, y, kind, weights=np.full(400, 4.0)), 2 * model.residuals(X, y, kind)
        )
    mean = model.loss.mean(model.score(X))
    slope = {eo.Gaussian: 1.0, eo.Bernoulli: mean * (1 - mean), eo.Poisson: mean}[family]  # of the mean in the score
    np.testing.assert_allclose(model.residuals(X, y, "working"), model.residuals(X, y, "response") / slope, rtol=1e-9)


# Priors


def test_a_prior_pulls_from_the_data_to_its_mean(case):
    family, X, y = case
    free = eo.GLM(family).fit(X, y).model_.coefficients
    none = eo.GLM(family, prior=1e-9).fit(X, y).model_.coefficients
    np.testing.assert_allclose(none, free, rtol=1e-7, atol=1e-10)
    firm = eo.GLM(family, prior=eo.GaussianPrior(0.25, 1e9)).fit(X, y).model_.coefficients
    np.testing.assert_allclose(firm[1:], 0.25, atol=1e-4)
    one = eo.GLM(family, prior=eo.GaussianPrior({"town": 3.0}, {"town": 1e9})).fit(X, y).model_.coefficients
    np.testing.assert_allclose(one[4:], 3.0, atol=1e-6)


@pytest.mark.parametrize("family", [eo.Poisson, eo.Bernoulli])
def test_map_is_penalised_likelihood(family):
    frame = table()
    X = (frame[["age", "smoker"]] - [40, 0]) / [12, 1]
    if family is eo.Poisson:
        y, peer = frame["visits"], PoissonRegressor(alpha=2.0 / 400, tol=1e-12, solver="newton-cholesky")
    else:
        y, peer = frame["ill"], LogisticRegression(C=1 / 2.0, tol=1e-12, solver="newton-cholesky")
    np.testing.assert_allclose(eo.GLM(family, prior=2.0).fit(X, y).coef_, peer.fit(X, y).coef_, rtol=1e-9)


def test_yesterdays_posterior_is_todays_prior():
    frame = table()
    X, y = features(frame), frame["weight"]
    whole = eo.GLM(eo.Gaussian, variance=1.0, prior=0.5).fit(X, y).model_
    monday = eo.GLM(eo.Gaussian, variance=1.0, prior=0.5).fit(X[:200], y[:200]).model_
    tuesday = eo.GLM(eo.Gaussian, variance=1.0, prior=monday.posterior).fit(X[200:], y[200:]).model_
    np.testing.assert_allclose(tuesday.coefficients, whole.coefficients, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(standard_errors(tuesday), standard_errors(whole), rtol=1e-10)


@pytest.mark.parametrize("told", [30.0, None], ids=["told", "estimated"])
def test_a_gaussian_prior_and_the_rows_are_weighed_by_the_variance_of_the_noise(told):
    """(XᵀX/v + P) b = Xᵀy/v + P m; and of a v that is estimated, MacKay's rss / (rows - what the rows determine)."""
    frame = table(60)
    X, y = np.column_stack([np.ones(60), frame["age"] - 40, frame["smoker"]]), frame["weight"].to_numpy()
    m, P = np.array([0.0, 0.5, -4.0]), np.diag([0.0, 0.2, 3.0])
    prior = eo.GaussianPrior(m, np.diag(P))
    model = eo.GLM(variance=told, prior=prior).fit(X[:, 1:], y).model_
    v = model.totals.dispersion
    whole = X.T @ X / v + P
    b = np.linalg.solve(whole, X.T @ y / v + P @ m)
    np.testing.assert_allclose(model.coefficients, b, rtol=1e-9)
    np.testing.assert_allclose(covariance(model), np.linalg.inv(whole), rtol=1e-9)
    determined = np.trace(np.linalg.solve(whole, X.T @ X / v))
    assert 1.5 < determined < 2.9
    assert v == pytest.approx(told or np.sum((y - X @ b) ** 2) / (60 - determined), rel=1e-9)


def test_the_variance_under_a_weak_prior_is_that_without():
    frame = table()
    X, y = features(frame), frame["weight"]
    weak, none = (eo.GLM(prior=p).fit(X, y).model_.totals.dispersion for p in (1e-10, None))
    assert weak == pytest.approx(none, rel=1e-10)


@pytest.mark.parametrize("how", [{"prior": 0.5}, {"variance": 30.0}], ids=str)
def test_coefficients_under_a_prior_or_a_told_variance_are_judged_by_the_normal_distribution(how):
    frame = table(40)
    model = eo.GLM(**how).fit(features(frame), frame["weight"]).model_
    for row in model.table(0.9):
        assert row["z"] == pytest.approx(row["estimate"] / row["error"])
        assert row["p"] == pytest.approx(2 * stats.norm.sf(abs(row["z"])))
        off = stats.norm.ppf(0.95) * row["error"]
        assert (row["low"], row["high"]) == pytest.approx((row["estimate"] - off, row["estimate"] + off))


@pytest.mark.parametrize(("off", "noted"), [(12, False), (13, True)])
def test_counts_that_vary_half_as_much_again_as_they_should_are_noted(off, noted):
    """200 counts of 100 ± off: Pearson's statistic is 200 off² / 100, over 198."""
    y = 100 + off * np.tile([1, -1, -1, 1], 50)
    notes = eo.GLM(eo.Poisson).fit({"x": np.tile([0.0, 0, 1, 1], 50)}, y).summary().notes
    assert [note.partition(" times")[0] for note in notes] == ["the counts vary 1.7"] * noted


def test_a_variance_that_is_told_is_that_of_the_likelihood_and_no_parameter():
    frame = table()
    X, y = features(frame), frame["weight"].to_numpy()
    told = eo.GLM(variance=30.0).fit(X, y)
    log = stats.norm.logpdf(y, told.predict(X), np.sqrt(30.0)).sum()
    assert told.model_.totals.log_likelihood == pytest.approx(log, rel=1e-12)
    assert told.model_.aic == pytest.approx(-2 * log + 2 * 6, rel=1e-12)
    assert told.model_.bic == pytest.approx(-2 * log + np.log(400) * 6, rel=1e-12)


def test_jeffreys_adds_half_a_success_and_half_a_failure():
    ones = pd.DataFrame({"x": np.zeros(10)})
    with pytest.warns(eo.RegressionWarning, match="constant|zero"):
        model = eo.GLM(eo.Bernoulli, prior="jeffreys", tol=1e-12).fit(ones, [1] * 8 + [0] * 2).model_
    assert model.mean(ones)[0, 1] == pytest.approx(8.5 / 11, rel=1e-11)


def test_under_jeffreys_prior_weight_two_is_counted_twice():
    frame = table(80)
    X, y, often = frame[["age", "smoker"]], frame["ill"], np.arange(80) % 3
    again = np.repeat(np.arange(80), often)
    weighted = eo.GLM(eo.Bernoulli, prior="jeffreys", tol=1e-11).fit(X, y, often).model_
    repeated = eo.GLM(eo.Bernoulli, prior="jeffreys", tol=1e-11).fit(X.iloc[again], y.iloc[again]).model_
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, rtol=1e-9)
    np.testing.assert_allclose(standard_errors(weighted), standard_errors(repeated), rtol=1e-9)
    assert not np.allclose(weighted.coefficients, eo.GLM(eo.Bernoulli).fit(X, y, often).model_.coefficients, rtol=1e-3)


def test_jeffreys_is_the_highest_point_of_its_posterior():
    frame = table(80)
    X = np.column_stack([np.ones(80), frame["age"], frame["smoker"]])
    y = (frame["ill"] == "yes").to_numpy()
    model = eo.GLM(eo.Bernoulli, prior="jeffreys").fit(frame[["age", "smoker"]], y).model_

    def cost(b):
        score = X @ b
        p = 1 / (1 + np.exp(-score))
        return (np.logaddexp(0, score) - y * score).sum() - 0.5 * np.linalg.slogdet((X.T * (p * (1 - p))) @ X)[1]

    here = cost(model.coefficients)
    for direction in np.eye(3) * [0.01, 0.0003, 0.01]:
        assert cost(model.coefficients + direction) > here
        assert cost(model.coefficients - direction) > here
        slope = (cost(model.coefficients + direction / 100) - cost(model.coefficients - direction / 100)) * 50
        assert abs(slope) < 1e-7


# Told plainly


def test_four_rows_that_are_separated():
    with pytest.warns(eo.RegressionWarning, match=r"complete separation.*hours → \+∞.*jeffreys"):
        model = eo.GLM(eo.Bernoulli).fit({"hours": [1.0, 2.0, 3.0, 4.0]}, [0, 0, 1, 1]).model_
    assert model.infinite.tolist() == [-1, 1]
    assert model.table()["estimate"] == [-np.inf, np.inf]
    assert "∞" in repr(model.summary())
    finite = eo.GLM(eo.Bernoulli, prior="jeffreys").fit({"hours": [1.0, 2.0, 3.0, 4.0]}, [0, 0, 1, 1])
    assert finite.model_["hours"] == pytest.approx(1.309903, rel=1e-6)


def test_iris_setosa_is_separated_and_the_others_are_not():
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.warns(eo.RegressionWarning, match="complete separation"):
        eo.GLM(eo.Bernoulli).fit(X, y == 0)
    rest = eo.GLM(eo.Bernoulli).fit(X[y > 0], y[y > 0])
    assert not rest.model_.infinite.any()
    with pytest.warns(eo.RegressionWarning, match="quasi-complete separation"):
        eo.GLM(eo.Categorical).fit(X, y)


def test_one_value_without_failures_has_the_one_infinite_coefficient():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "g": rng.choice(["a", "b", "c"], 200)})
    y = (rng.random(200) < 0.5) | (frame["g"] == "c")
    with pytest.warns(eo.RegressionWarning, match=r"quasi-complete separation: g\[c\] → \+∞; "):
        model = eo.GLM(eo.Bernoulli).fit(frame, y).model_
    assert model.infinite.tolist() == [0, 0, 0, 1]
    errors = standard_errors(model)
    assert np.isnan(errors[3])
    overlap = frame["g"] != "c"
    alone = eo.GLM(eo.Bernoulli).fit(frame[overlap], y[overlap]).model_
    np.testing.assert_allclose(model.coefficients[:3], alone.coefficients, rtol=0, atol=1e-10)
    np.testing.assert_allclose(errors[:3], standard_errors(alone), rtol=1e-5)


@pytest.mark.parametrize("how", [{}, {"tol": 1e-3}, {"tol": 1e-2}, {"solver": "lbfgs", "tol": 1e-4}])
@pytest.mark.parametrize("only", ["a", "c"])
@pytest.mark.parametrize("family", [eo.Bernoulli, eo.Poisson, eo.Categorical])
def test_separation_is_seen_at_any_tolerance_and_where_the_reference_is_what_is_separated(family, only, how):
    """The curvature that other rows give a reference's columns makes the slope small long before a score is far."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=1000), "g": rng.choice(["a", "b", "c"], 1000, p=[0.1, 0.8, 0.1])})
    y = rng.integers(0, 3 if family is eo.Categorical else 2, 1000)
    y[frame["g"] == only] = 0
    with pytest.warns(eo.RegressionWarning, match="quasi-complete separation|rows of 0 alone"):
        model = eo.GLM(family, **how).fit(frame, y).model_
    infinite = [-1, 0, 1, 1] if only == "a" else [0, 0, 0, -1]
    assert model.infinite.tolist() == infinite * (2 if family is eo.Categorical else 1)


def test_counts_that_are_all_zero_in_one_group():
    frame = pd.DataFrame({"g": ["a"] * 20 + ["b"] * 20})
    with pytest.warns(eo.RegressionWarning, match=r"g\[b\] → -∞"):
        model = eo.GLM(eo.Poisson).fit(frame, [1, 2, 3, 4] * 5 + [0] * 20).model_
    assert model.infinite.tolist() == [0, -1]
    assert model["intercept"] == pytest.approx(np.log(2.5), rel=1e-10)


@pytest.mark.parametrize("family", [eo.Gaussian, eo.Bernoulli, eo.Poisson])
def test_more_columns_than_rows_are_one_sentence(family):
    rng = np.random.default_rng(0)
    with pytest.warns(eo.RegressionWarning) as told:
        model = eo.GLM(family).fit(rng.normal(size=(10, 30)), [0, 1] * 5).model_
    about_columns = [str(one.message) for one in told if "∞" not in str(one.message)]
    assert about_columns == [
        "10 rows tell at most 10 coefficients, not 31: `x9`, `x10`, `x11`, `x12`, `x13`, `x14`, `x15`, `x16` "
        "and 13 more left out; a Gaussian prior on them keeps them"
    ]
    assert len(model.relations) == len(model.dropped) == 21


def test_many_relations_are_told_by_the_model_and_few_by_the_sentence():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=50)} | {f"k{i}": np.full(50, float(i)) for i in range(2, 9)})
    with pytest.warns(eo.RegressionWarning, match=r"`k6` is constant \(already in the intercept\) and 2 more: the col"):
        model = eo.GLM(eo.Gaussian).fit(frame, rng.normal(size=50)).model_
    assert [relation.partition(" ")[0] for relation in model.relations] == [f"`k{i}`" for i in range(2, 9)]


def test_far_scores_alone_are_no_separation():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=300), [-60.0, 60.0]])
    y = np.concatenate([rng.random(300) < 1 / (1 + np.exp(-x[:300])), [False, True]])
    model = eo.GLM(eo.Bernoulli).fit({"x": x}, y).model_
    assert model.totals.converged
    assert not model.notes


def test_separation_of_many_rows_is_found_from_few(monkeypatch):
    monkeypatch.setattr("evenodds.models.glm.separated.MANY", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = X @ [1, 2, -1] > 0
    with pytest.warns(eo.RegressionWarning, match="complete separation"):
        eo.GLM(eo.Bernoulli).fit(X, y)
    flipped = y.copy()
    flipped[np.argsort(np.abs(X @ [1, 2, -1]))[:12]] ^= True
    whole = separation(np.column_stack([np.ones(3000), X]), flipped.astype(int), ["1", "a", "b", "c"])
    assert whole.verdict == "overlap"
    glm = eo.GLM(eo.Bernoulli, max_iter=200).fit(X, flipped)
    assert np.abs(glm.decision_function(X)).max() > 15  # so it was looked at
    assert not glm.model_.infinite.any()
    assert glm.model_.totals.converged
    assert not glm.model_.notes


def test_separation_is_found_in_files_of_which_some_have_no_whole_row(tmp_path, monkeypatch):
    monkeypatch.setattr("evenodds.models.glm.rows.HELD", 0)  # read again for every pass
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{i},{'yes' if i > 20 else 'no'}\n" for i in range(40)))
    (tmp_path / "b.csv").write_text("x,y\n" + ",yes\n,no\n" * 10)
    with pytest.warns(eo.RegressionWarning, match=r"complete separation: intercept → -∞, x → \+∞"):
        eo.GLM(eo.Bernoulli, missing="drop").fit(tmp_path / "*.csv", "y")


@pytest.mark.parametrize("target", TARGETS)
def test_collinear_columns_are_named_with_their_relation(target):
    frame = table()
    X = features(frame).assign(lived=lambda f: f["year"] - f["age"], constant=3.0)
    with pytest.warns(eo.RegressionWarning, match="`lived` = `year` - `age`") as caught:
        glm = eo.GLM(TARGETS[target]).fit(X, frame[target])
    assert "`constant` is constant" in str(caught[0].message)
    assert glm.model_.dropped == ("lived", "constant")
    plain = eo.GLM(TARGETS[target]).fit(features(frame), frame[target])
    np.testing.assert_allclose(glm.predict_mean(X), plain.predict_mean(features(frame)), rtol=1e-11)
    assert glm.model_.totals.rank == plain.model_.totals.rank


def test_a_column_called_intercept_does_not_hide_ours_and_other_twins_by_name_are_told_apart(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    town = rng.choice(["Bonn", "Köln", "Ulm"], 50)
    frame = {"intercept": np.ones(50), "x": x, "town[Ulm]": 2 * x, "town": town}
    with pytest.warns(eo.RegressionWarning, match=r"`intercept` is constant .*; `town\[Ulm\]` = 2 `x`"):
        glm = eo.GLM().fit(frame, 3 + 2 * x + rng.normal(size=50))
    glm.save(tmp_path / "twins.eo")
    for model in (glm.model_, eo.load(tmp_path / "twins.eo")):
        assert model.dropped == ("intercept", "town[Ulm]")
        rows = [(row["coefficient"], row["estimate"] is None) for row in model.table().to_dicts()]
        assert rows == [
            ("intercept", False), ("intercept", True), ("x", False), ("town[Ulm]", True), ("town[Köln]", False),
            ("town[Ulm]", False),
        ]  # fmt: skip
    own = eo.GLM(prior=eo.GaussianPrior({"town": 5.0}, {"town": 1e12}), variance=1.0).fit(frame, x).model_
    np.testing.assert_allclose(own.coefficients[-2:], 5.0, rtol=1e-6)
    assert abs(own["town[Ulm]"]) < 1
    ridge = eo.GLM(prior=1e12, variance=1.0, intercept=False).fit({"intercept": x}, x).model_
    assert abs(ridge["intercept"]) < 1e-6  # a column of that name is no intercept


def test_more_columns_than_rows_is_said_and_a_prior_cures_it():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 30)), rng.normal(size=10)
    with pytest.warns(eo.RegressionWarning, match="10 rows tell at most 10"):
        glm = eo.GLM().fit(X, y)
    np.testing.assert_allclose(glm.predict(X), y, rtol=0, atol=1e-11)
    assert "unknown" in repr(glm.summary())
    assert eo.GLM(prior=1.0, variance=1.0).fit(X, y).model_.totals.rank == 31


def test_overdispersed_counts_are_told():
    rng = np.random.default_rng(0)
    y = rng.negative_binomial(1, 0.1, 300)
    assert "errors='HC1'" in repr(eo.GLM(eo.Poisson).fit(rng.normal(size=(300, 2)), y).summary())


def test_a_target_that_columns_give_exactly_is_told():
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(5, 1, 50), "b": rng.normal(0, 10, 50)}
    told = "the columns give the target exactly"
    assert told in repr(eo.GLM().fit(X, X["a"] - X["b"]).summary())
    assert told in repr(eo.GLM().fit(X, np.full(50, 0.1)).summary())
    for noise in (1e-9, 1.0):
        assert told not in repr(eo.GLM().fit(X, X["a"] - X["b"] + noise * rng.normal(size=50)).summary())


def test_how_much_counts_vary_is_pearsons_statistic_over_what_is_left_of_the_rows():
    """Means of 6 and 9: (36 + 36) / 6 and (49 + 121 + 16) / 9, over six rows less two coefficients."""
    model = eo.GLM(eo.Poisson).fit({"g": list("aaabbb")}, [0, 6, 12, 2, 20, 5]).model_
    assert model.totals.pearson == pytest.approx(72 / 6 + 186 / 9)
    told = "the counts vary 8.2 times as much as a Poisson's (Pearson's statistic / 4), so these errors are too small"
    assert f"\nnote: {told}; " in repr(model.summary())
    assert [note.partition("; ")[0] for note in model.summary().to_dict()["notes"]] == [told]


def test_each_bad_input_is_one_sentence():
    frame = table(50)
    X = features(frame)
    holes = X.assign(age=X["age"].where(X.index > 3), town=X["town"].where(X.index != 7))
    for what, rows, y, more, message in (
        (eo.Poisson, X, -frame["visits"] - 1, {}, "in row 0: expected a count, 0 or more"),
        (
            eo.Poisson,
            X,
            frame["visits"],
            {"exposure": np.full(50, np.inf)},
            "exposure.*inf in row 0: expected a finite",
        ),
        (eo.Poisson, X, frame["visits"], {"exposure": np.zeros(50)}, "above 0"),
        (eo.Poisson, X, frame["visits"], {"offset": np.full(50, np.nan)}, "offset.*nan in row 0"),
        (eo.Bernoulli, X, frame["kind"], {}, "GLM\\(Categorical\\)"),
        (eo.Bernoulli, X, np.full(50, 3), {"trials": np.full(50, 2)}, "from 0 to the 2 trials"),
        (eo.Gaussian, holes, frame["weight"], {}, "'age' \\(4, first in row 0\\), 'town' \\(1, first in row 7\\)"),
        (eo.Gaussian, X, frame["weight"], {"exposure": np.ones(50)}, "exposure is for a Poisson"),
        (eo.Gaussian, X, frame["weight"][:-1], {}, "49 values of target for 50 rows"),
        (eo.Categorical, X, ["a"] * 50, {}, "only one class"),
        (eo.Gaussian, X, frame["weight"], {"sample_weight": np.zeros(50)}, "all weights are zero"),
        (eo.Gaussian, X.assign(age=np.inf), frame["weight"], {}, "'age' is infinite"),
    ):
        with pytest.raises(eo.DataError, match=message) as error:
            eo.GLM(what).fit(rows, y, **more)
        assert "\n" not in str(error.value)


def test_rows_with_holes_can_be_left_out():
    X, y = mixed(200)
    y = (y == "hi").to_numpy()
    whole = X.notna().all(axis=1).to_numpy()
    dropped = eo.GLM(eo.Bernoulli, missing="drop").fit(X, y).model_
    clean = eo.GLM(eo.Bernoulli).fit(X[whole], y[whole]).model_
    np.testing.assert_allclose(dropped.coefficients, clean.coefficients, rtol=1e-12)
    assert dropped.totals.dropped_rows == (~whole).sum()
    p = dropped.mean(X)
    np.testing.assert_array_equal(np.isnan(p).any(axis=1), ~whole)


@pytest.mark.parametrize("how", ["classes", "trials"])
def test_no_class_is_told_of_a_row_with_a_hole(how, tmp_path):
    """Its probabilities are NaN, of which none is the largest; the command line leaves its cells empty."""
    X = pd.DataFrame({"x": np.arange(20.0), "town": ["Bonn", "Ulm"] * 10})
    y = np.arange(20) % 7 > 3
    more = {"trials": np.full(20, 5)} if how == "trials" else {}
    glm = eo.GLM(eo.Bernoulli, missing="drop").fit(X, y.astype(int) if more else y, **more)
    new = pd.DataFrame({"x": [1.0, 2.0, np.nan], "town": ["Bonn", "Rome", "Ulm"]})
    np.testing.assert_array_equal(np.isnan(glm.predict_proba(new)), [[False] * 2, [True] * 2, [True] * 2])
    np.testing.assert_array_equal(np.isnan(glm.predict_log_proba(new)), [[False] * 2, [True] * 2, [True] * 2])
    assert glm.predict(new[:1]).shape == (1,)
    with pytest.raises(eo.DataError, match=r"no class can be told in row 1: .* fill it, leave the row out, or"):
        glm.predict(new)
    new.to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(eo.DataError, match=r"new\.csv, line 3"):
        glm.predict(tmp_path / "new.csv")
    number = eo.GLM(missing="drop").fit(X, np.arange(20.0))
    np.testing.assert_array_equal(np.isnan(number.predict(new)), [False, True, True])


def test_predictions_refuse_what_was_never_seen():
    frame = table(50)
    glm = eo.GLM().fit(features(frame), frame["weight"])
    new = features(frame).head(2).assign(town=["Bonn", "Rome"])
    with pytest.raises(eo.DataError, match="'town' is 'Rome' in row 1, never seen at fit; its values were 'Bonn'"):
        glm.predict(new)
    with pytest.raises(eo.DataError, match="'age' is missing"):
        glm.predict(new.assign(town="Ulm", age=np.nan))


def test_the_row_of_a_file_that_is_refused_is_named_by_its_place_in_it(tmp_path):
    frame = table(50)
    glm = eo.GLM().fit(features(frame), frame["weight"])
    for part, rows in enumerate(
        (features(frame).head(30), features(frame).head(9).assign(town=["Ulm"] * 8 + ["Rome"]))
    ):
        rows.to_csv(tmp_path / f"{part}.csv", index=False)
    with pytest.raises(eo.DataError, match=r"'town' is 'Rome' in .*1\.csv, line 10, never seen"):
        glm.predict(tmp_path / "*.csv")
    features(frame).head(9).assign(age=[1.0] * 7 + [np.nan] * 2).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(eo.DataError, match=r"'age' is missing .* in .*1\.parquet, row 8"):
        glm.predict_interval(tmp_path / "1.parquet")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": eo.Binned}, "family=Binned: expected one of Gaussian"),
        ({"family": "Poisson"}, r"family='Poisson': .*; give the class, not its name: GLM\(Poisson\)"),
        ({"prior": "flat"}, "prior='flat'"),
        ({"prior": -1.0}, "0 or more"),
        ({"prior": "jeffreys"}, "for the Bernoulli"),
        ({"errors": "HC9"}, "errors='HC9'"),
        ({"solver": "sgd"}, "solver='sgd'"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0: expected a whole number, 1 or more"),
        ({"reference": {"town": "Rome"}}, "'Rome' does not occur"),
        ({"reference": {"towm": "Ulm"}}, "did you mean 'town'"),
        ({"prior": eo.GaussianPrior({"aeg": 1.0})}, "did you mean 'age'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    frame = table(50)
    with pytest.raises(ValueError, match=message):
        eo.GLM(**settings).fit(features(frame), frame["weight"])


# What the lectures teach


def test_pooled_gaussians_and_the_logistic_have_one_limit():
    rng = np.random.default_rng(0)
    n = 200_000
    y = rng.random(n) < 0.4
    X = pd.DataFrame({"a": rng.normal(y * 1.0, 1.0), "b": rng.normal(y * -0.5, 2.0)})
    pooled = {name: eo.Column(eo.Gaussian, variance="pooled") for name in X}
    bayes = eo.NaiveBayes(pooled, estimate="mle").fit(X, y)
    logistic = eo.GLM(eo.Bernoulli).fit(X, y)
    # two estimates of one truth, each off by the chance of 200,000 rows
    assert np.abs(bayes.coef_ - logistic.coef_).max() < 0.005
    assert np.abs(bayes.intercept_ - logistic.intercept_).max() < 0.005
    conditional = [m.predict_log_proba(X)[np.arange(n), y.astype(int)].sum() for m in (bayes, logistic)]
    assert conditional[1] > conditional[0]


def test_each_is_best_at_what_it_maximises():
    X, y = load_breast_cancer(return_X_y=True)
    X, rows = X[:, [0, 1, 4, 8]], np.arange(len(y))
    bayes = eo.NaiveBayes(eo.Column(eo.Gaussian, variance="pooled"), estimate="mle").fit(X, y)
    logistic = eo.GLM(eo.Bernoulli).fit(X, y)
    assert logistic.predict_log_proba(X)[rows, y].sum() > bayes.predict_log_proba(X)[rows, y].sum()
    # among Gaussians of one variance a column: the means that give the logistic's weights, w = (m1 - m0) / variance
    names = list(bayes.model_.distributions)
    variance = np.array([bayes.model_.distributions[name].variance[0] for name in names])
    centre, shift = X.mean(axis=0), variance * logistic.coef_[0]
    share = y.mean()
    means = np.stack([centre - share * shift, centre + (1 - share) * shift])
    log = stats.norm.logpdf(X, means[y], np.sqrt(variance)).sum() + np.log(np.where(y, share, 1 - share)).sum()
    assert bayes.predict_joint_log_proba(X)[rows, y].sum() > log


def test_gradient_ascent_can_be_watched():
    frame = table()
    watched = eo.GLM(eo.Bernoulli, solver="ascent", tol=1e-5).fit(frame[["age", "smoker"]], frame["ill"])
    newton = eo.GLM(eo.Bernoulli).fit(frame[["age", "smoker"]], frame["ill"])
    np.testing.assert_allclose(watched.coef_, newton.coef_, rtol=2e-4)
    steps = watched.model_.steps
    assert len(steps) > 10 > len(newton.model_.steps)
    assert all(b <= a for a, b in itertools.pairwise(steps["cost"]))


# Wide


def test_a_wide_sparse_design_goes_to_lbfgs():
    rng = np.random.default_rng(0)
    X = csr_array((rng.random((300, 3000)) < 0.01).astype(float))
    y = rng.integers(0, 2, 300)
    with pytest.warns(eo.RegressionWarning, match="no standard errors"):
        glm = eo.GLM(eo.Bernoulli, prior=1.0, tol=1e-10).fit(X, y)
    assert glm.model_.totals.solver == "lbfgs"
    assert glm.model_.totals.converged
    peer = LogisticRegression(C=1.0, tol=1e-10, solver="newton-cg").fit(X, y)
    np.testing.assert_allclose(glm.coef_, peer.coef_, rtol=0, atol=1e-7)
    with pytest.raises(eo.DataError, match="no interval"):
        glm.predict_interval(X)


# The file


@pytest.mark.parametrize("prior", [None, 1.0, "arrays"])
def test_load_of_save_is_the_model(case, prior, tmp_path):
    family, X, y = case
    if prior == "arrays":
        prior = eo.GaussianPrior(np.zeros(6), np.linspace(0, 2, 6))
    model = eo.GLM(family, prior=prior, errors="HC1", reference={"town": "Ulm"}).fit(X, y).model_
    path = tmp_path / "model.eo"
    model.save(path)
    again = eo.load(path)
    assert again == model
    np.testing.assert_array_equal(again.mean(X), model.mean(X))
    assert repr(again.summary()) == repr(model.summary())
    glm = eo.GLM.load(path)
    np.testing.assert_array_equal(glm.predict(X), eo.GLM.of(model).predict(X))
    assert Regression.from_bytes(model.to_bytes()) == model


def test_a_file_of_the_first_format_opens_and_is_written_as_it_was():
    """A Poisson regression with an exposure, robust errors, a column left out and at most 50 steps."""
    path = Path(__file__).parent / "golden" / "regression-1.eo"
    model = eo.load(path)
    assert model.settings.max_iter == 50
    assert model.dropped == ("double",)
    assert model.names == ["intercept", "x", "double", "town[Bonn]", "town[Köln]"]
    rows = {"x": [1.0, 2.0], "double": [2.0, 4.0], "town": ["Bonn", "Ulm"], "years": [1.0, 3.0]}
    rate = [np.exp(0.05399049904392504 + 0.0020387498138671988 + 0.49924487365542763), 3.0 * np.exp(0.0580679986716594)]
    np.testing.assert_allclose(model.mean(rows), rate, rtol=1e-14)
    assert model.to_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["p", "error", "z", "coefficient"])
def test_a_softmax_s_table_has_the_classes_whatever_the_target_is_called(name):
    frame = table(60)
    X = features(frame).assign(**{name: frame["kind"]})
    rows = eo.GLM(eo.Categorical).fit(X, name).model_.table()
    assert rows[f"{name}_"] == ["b"] * 6 + ["c"] * 6
    assert rows["coefficient"][:2] == ["intercept", "age"]
    assert all(0 < p < 1 for p in rows["p"])


def test_a_regression_is_no_naive_bayes_and_the_other_way_round(tmp_path):
    frame = table(50)
    eo.GLM().fit(features(frame), frame["weight"]).save(tmp_path / "glm.eo")
    eo.NaiveBayes().fit(features(frame), frame["kind"]).save(tmp_path / "nb.eo")
    with pytest.raises(eo.DataError, match="regression"):
        eo.Model.load(tmp_path / "glm.eo")
    with pytest.raises(eo.DataError, match="holds a 'naive bayes' model: expected one of 'regression'"):
        Regression.load(tmp_path / "nb.eo")
    assert isinstance(eo.load(tmp_path / "nb.eo"), eo.Model)


def test_a_spoilt_regression_is_refused_in_words():
    from evenodds import file

    frame = table(50)
    arrays, header = file.unpack(eo.GLM(eo.Poisson).fit(features(frame), frame["visits"]).model_.to_bytes())
    header.pop("format")
    for name, value in (
        ("coefficients", arrays["coefficients"][:-1]),
        ("coefficients", arrays["coefficients"] * np.nan),
        ("covariance", arrays["covariance"][:2]),
        ("covariance", -arrays["covariance"]),
        ("scale", arrays["scale"] * 0),
        ("category.0.ends", arrays["category.0.ends"][::-1]),
        ("dropped", np.array([99])),
        ("infinite", np.full(6, 7)),
    ):
        with pytest.raises(eo.DataError, match="not an evenodds model"):
            Regression.from_bytes(file.pack({**arrays, name: np.ascontiguousarray(value)}, header))
    for name, value in (("rank", 99), ("numbers", []), ("solver", 3), ("settings", {}), ("roles", {})):
        with pytest.raises(eo.DataError, match="not an evenodds model"):
            Regression.from_bytes(file.pack(arrays, {**header, name: value}))
    fewer = {name: array for name, array in arrays.items() if name != "inside"}
    with pytest.raises(eo.DataError, match="inside"):
        Regression.from_bytes(file.pack(fewer, header))


def test_the_summary_in_a_notebook_escapes_names():
    frame = pd.DataFrame({"<b>": np.arange(10.0), "y": np.arange(10.0) ** 2})
    page = eo.GLM().fit(frame, "y").summary()._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


# Separation that is hard to see


@pytest.mark.parametrize("away", [1e-8, -1e-8], ids=["one row contradicts by 1e-8", "one row agrees by 1e-8"])
def test_one_row_of_thirty_thousand_decides_as_it_does_in_the_program_of_all_rows(away):
    rng = np.random.default_rng(0)
    X = np.repeat([[1.0, 1.0]], 30_000, axis=0)  # both classes lie on the diagonal: only (1, -1) is left
    y = rng.integers(0, 2, 30_000)
    X[y == 1, 0] += np.where(rng.random((y == 1).sum()) < 0.5, 0.5, 0.0)
    X[y == 0, 1] += np.where(rng.random((y == 0).sum()) < 0.5, 0.5, 0.0)
    X[12_345], y[12_345] = [1.0, 1.0 + away], 1  # not among the rows that the program is shown first
    verdict = separation(X, y, ["a", "b"])
    assert bool(verdict) == (away < 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = eo.GLM(eo.Bernoulli, intercept=False).fit(X, y).model_
    assert model.infinite.any() == bool(verdict)
    assert any("separation" in note for note in model.notes) == bool(verdict)


def test_a_sign_that_depends_on_the_way_is_shown_as_either_and_kept_in_a_file(tmp_path):
    X, y = np.array([[1.0, 0], [2, 1], [3, 0], [4, 1]]), [0, 0, 1, 1]
    with pytest.warns(eo.RegressionWarning, match="x0 → .∞, x1 → ±∞") as told:
        glm = eo.GLM(eo.Bernoulli).fit(X, y)
    assert told[0].filename == __file__  # a warning points at the line that called
    shown = [line.split() for line in repr(glm.summary()).splitlines()]
    assert ["intercept", "-inf"] in shown
    assert ["x1", "±inf"] in shown
    glm.save(tmp_path / "four.eo")
    again = eo.GLM.load(tmp_path / "four.eo")
    assert repr(again.summary()) == repr(glm.summary())


def test_a_program_without_an_answer_is_said_plainly(monkeypatch):
    def stuck(*_):
        raise ArithmeticError("the linear program was not solved: it would take too long")

    monkeypatch.setattr("evenodds.models.glm.separated.judge", stuck)
    with pytest.warns(eo.RegressionWarning, match="whether coefficients are infinite was not found out: the linear"):
        found = eo.GLM(eo.Bernoulli).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]).model_
    assert not found.infinite.any()


def test_what_is_all_but_impossible_keeps_its_digits():
    x = np.linspace(-1, 1, 40)[:, None]
    glm = eo.GLM(eo.Bernoulli).fit(x, (np.sin(9 * x[:, 0]) + 2 * x[:, 0] > 0).astype(int))
    far = 60 / glm.model_["x0"]
    np.testing.assert_allclose(
        glm.predict_proba([[far], [-far]]), np.exp(glm.predict_log_proba([[far], [-far]])), rtol=1e-12
    )
    assert glm.predict_proba([[far]])[0, 0] > 0
    for low, high, p in zip(*glm.predict_interval([[far]]), glm.predict_proba([[far]])):
        assert np.all((low < p) & (p <= high))


def test_a_name_that_two_coefficients_have_is_asked_back():
    frame = {"intercept": [0.0, 1.0, 2.0, 3.0], "x": [1.0, 0.0, 1.0, 1.0]}
    with pytest.raises(eo.DataError, match="prior: there are two coefficients 'intercept', and either may be meant"):
        eo.GLM(prior=eo.GaussianPrior(precision={"intercept": 1.0})).fit(frame, [1.0, 2.0, 4.0, 3.0])


def test_the_reference_may_be_a_class_of_the_target():
    X, y = np.array([[1.0], [2.0], [3.0], [4.0], [2.5], [3.5]]), np.array(["no", "no", "yes", "yes", "yes", "no"])
    plain, turned = (eo.GLM(eo.Bernoulli, reference=r).fit(X, y) for r in (None, {"target": "yes"}))
    assert turned.classes_.tolist() == ["yes", "no"]
    np.testing.assert_allclose(turned.coef_, -plain.coef_, rtol=1e-8)
    np.testing.assert_allclose(turned.predict_proba(X)[:, ::-1], plain.predict_proba(X), rtol=1e-8)
    assert turned.predict(X).tolist() == plain.predict(X).tolist()
    again = type(turned.model_).from_bytes(turned.model_.to_bytes())
    assert again.classes == ("yes", "no")
    three = np.array(["a", "b", "c", "b", "c", "a"])
    several = eo.GLM(eo.Categorical, prior=1.0, reference={"target": "c"}).fit(X, three)
    assert several.classes_.tolist() == ["c", "a", "b"]
    with pytest.raises(eo.DataError, match="the reference 'd' does not occur; its classes are 'a', 'b', 'c'"):
        eo.GLM(eo.Categorical, reference={"target": "d"}).fit(X, three)


def test_a_reference_of_what_is_no_category_says_what_it_is():
    rows = [{"wife": flag, "age": age, "town": town} for flag, age, town in zip([0, 1] * 4, range(30, 38), "aabbaabb")]
    for name, message in (
        ("wife", r"'wife' is a flag, of which 1 .*columns={'wife': Categorical}"),
        ("age", r"'age' is a number; as a category"),
        ("twon", "column 'twon' not found; did you mean 'town'"),
    ):
        with pytest.raises(eo.DataError, match=message):
            eo.GLM(reference={name: "1"}).fit(rows, range(8))


def test_without_an_intercept_the_page_does_not_speak_of_one():
    rows = [[0.0], [1.0], [2.0], [3.0]]
    page = repr(eo.GLM(eo.Bernoulli, intercept=False).fit(rows, [0, 1, 0, 1]).summary())
    assert f"of no coefficient {8 * np.log(2):.4f}" in page
    assert "of the intercept alone" in repr(eo.GLM(eo.Bernoulli).fit(rows, [0, 1, 0, 1]).summary())


def test_of_nothing_explained_the_page_says_0():
    with pytest.warns(eo.RegressionWarning, match="constant"):
        page = repr(eo.GLM().fit([[1.0], [1.0], [1.0]], [2.0, 3.0, 4.0]).summary())
    assert "R² 0.0000" in page


def test_classes_of_an_earlier_fit_do_not_stay():
    x = np.arange(6.0)[:, None]
    glm = eo.GLM(eo.Bernoulli, prior=1.0).fit(x, [0, 1, 0, 1, 1, 1])
    assert glm.classes_.tolist() == [0, 1]
    assert not hasattr(glm.set_params(family=eo.Gaussian).fit(x, x[:, 0] ** 2), "classes_")
