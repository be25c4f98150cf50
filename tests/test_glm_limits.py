"""Regressions at their limits: units, rows of weight 0, priors on some columns only, flat curvature, wrong targets."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import evenodds as eo
from evenodds.data.memory import table
from evenodds.data.source import Memory
from evenodds.models.glm.asked import schema_of
from evenodds.models.glm.curvature import Curvature
from evenodds.models.glm.plan import Plan, Roles
from evenodds.models.glm.regression import Regression
from evenodds.models.glm.survey import surveyed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
SCORE = 1 + X @ [0.5, -0.3, 0.2]
NUMBERS, COUNTS = SCORE + RNG.normal(size=60), RNG.poisson(np.exp(SCORE))
CLASSES = RNG.random(60) < 1 / (1 + np.exp(1 - SCORE))


def quiet(glm, *rows, **told):
    """A fit whose notes are looked at, not its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eo.RegressionWarning)
        return glm.fit(*rows, **told).model_


# Units


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6, 1e15])
@pytest.mark.parametrize("how", [{"solver": "newton"}, {"solver": "lbfgs"}, {"solver": "ascent"}, {"prior": 1.0}])
def test_the_unit_of_a_target_changes_the_unit_of_its_coefficients_and_no_more(how, unit):
    plain = eo.GLM(**how).fit(X, NUMBERS, offset=X[:, 0]).model_
    other = {**how, "prior": 1 / unit**2} if "prior" in how else how
    moved = eo.GLM(**other).fit(X, NUMBERS * unit, offset=X[:, 0] * unit).model_
    assert moved.totals.converged
    np.testing.assert_allclose(moved.coefficients / unit, plain.coefficients, rtol=1e-6)
    assert moved.totals.steps <= 1.1 * plain.totals.steps + 1
    assert moved.totals.null_deviance / unit**2 == pytest.approx(plain.totals.null_deviance, rel=1e-11)
    assert eo.GLM.of(moved).score(X, NUMBERS * unit, offset=X[:, 0] * unit) == pytest.approx(
        eo.GLM.of(plain).score(X, NUMBERS, offset=X[:, 0]), rel=1e-9
    )


@pytest.mark.parametrize("power", [4, 6, 8])
def test_the_units_of_columns_change_no_variance_under_a_prior(power):
    units = np.array([1, 10.0**power, 10.0**-power])

    def fitted(units):
        prior = eo.GaussianPrior(0, {f"x{j}": 0.5 * unit**2 for j, unit in enumerate(units)})
        return eo.GLM(prior=prior).fit(X * units, NUMBERS).model_

    plain, moved = fitted(np.ones(3)), fitted(units)
    assert moved.totals.dispersion == pytest.approx(plain.totals.dispersion, rel=1e-10)
    np.testing.assert_allclose(moved.coefficients[1:] * units, plain.coefficients[1:], rtol=1e-10)


@pytest.mark.parametrize(("family", "y"), [(eo.Gaussian, NUMBERS), (eo.Bernoulli, CLASSES), (eo.Poisson, COUNTS)])
@pytest.mark.parametrize(("size", "cure"), [(1e160, "large to be squared: divide"), (1e-160, "small.*: multiply")])
def test_a_column_whose_squares_are_no_doubles_is_named(family, y, size, cure, tmp_path):
    frame = pd.DataFrame({"plain": X[:, 0], "odd": X[:, 1] * size, "y": y})
    with pytest.raises(eo.DataError, match=f"column 'odd' is too {cure}"):
        eo.GLM(family).fit(frame, "y")
    if size < 1:  # what is larger is no number in a file
        frame.to_csv(tmp_path / "odd.csv", index=False)
        with pytest.raises(eo.DataError, match=rf"odd\.csv: column 'odd' is too {cure}"):
            eo.GLM(family).fit(tmp_path / "odd.csv", "y")
    if family is not eo.Bernoulli:
        with pytest.raises(eo.DataError, match=f"the target 'y' is too {cure}"):
            eo.GLM(family).fit(frame.assign(y=y * size).drop(columns="odd"), "y")


def test_counts_of_any_size_begin_at_their_mean():
    plain, many = (eo.GLM(eo.Poisson).fit(X, COUNTS * unit).model_ for unit in (1, 1e14))
    assert many.totals.steps <= plain.totals.steps + 1
    np.testing.assert_allclose(many.coefficients[1:], plain.coefficients[1:], rtol=1e-8)


# Weights


@pytest.mark.parametrize("form", ["memory", "file"])
def test_a_row_of_weight_zero_is_no_row_whatever_it_holds(form, tmp_path):
    frame = pd.DataFrame({"x": X[:, 0], "y": COUNTS, "far": 1.0, "off": 0.1, "often": 1.0})
    odd = pd.DataFrame({"x": [np.nan, 1.0, 1.0], "y": [1, 1, -1], "far": [1, 0, 1], "off": [0, 0, np.nan], "often": 0})
    told = {"exposure": "far", "offset": "off", "sample_weight": "often"}
    clean, whole = frame, pd.concat([frame, odd, frame])
    if form == "file":
        whole.to_csv(tmp_path / "rows.csv", index=False)
        whole = tmp_path / "rows.csv"
    found = eo.GLM(eo.Poisson).fit(whole, "y", **told).model_
    expected = eo.GLM(eo.Poisson).fit(pd.concat([clean, clean]), "y", **told).model_
    np.testing.assert_allclose(found.coefficients, expected.coefficients, rtol=1e-12)
    assert found.totals.rows == 120
    absent = pd.concat([frame, frame.head(1).assign(y=np.nan, often=0.0)])
    assert eo.GLM().fit(absent[["x", "y", "often"]], "y", sample_weight="often").model_.totals.rows == 60


@pytest.mark.parametrize("weight", [1.0, 1e-3, 1e-7])
def test_separation_is_seen_in_rows_that_hardly_count(weight):
    n = 4000
    rng = np.random.default_rng(0)
    x, only = rng.normal(size=n), (np.arange(n) < 5).astype(float)
    y = (rng.random(n) < 1 / (1 + np.exp(-x))) | (only > 0)
    model = quiet(eo.GLM(eo.Bernoulli), {"x": x, "only": only}, y, sample_weight=np.where(only, weight, 1.0))
    assert "only → +∞" in " ".join(model.notes)


def test_the_largest_number_of_a_column_is_bounded_by_its_squares_about_what_is_taken_off():
    x, often = np.array([-4.0, 3.0, 8.0, 9.0]), np.array([1.0, 2.0, 4.0, 0.5])
    source, roles = Memory(table({"x": x, "y": np.arange(4.0), "often": often})), Roles("y", weights="often")
    found, _ = surveyed(source, Plan(schema_of(source, roles, None), roles, eo.Poisson))
    for shift in (0.0, 5.0):
        design = dataclasses.replace(found.design, shift=np.array([shift]), scale=np.array([2.0]))
        bound = dataclasses.replace(found, design=design).largest
        np.testing.assert_allclose(bound, [1.0, np.sqrt(often @ (x - shift) ** 2 / 0.5) / 2])
        assert bound[1] >= np.abs(x - shift).max() / 2


def test_a_leverage_that_no_whole_row_has_is_refused():
    weights = np.array([0.8, 1.0, 0.3, 0.4, 0.6])
    rows, y = {"x": [-1.5, -1.5, -0.4, -0.1, 0.5]}, [18, 19, 27, 28, 19]
    with pytest.raises(eo.DataError, match=r"errors='HC3': a row of weight 0\.6 has a leverage above 1.*errors='HC1'"):
        eo.GLM(eo.Poisson, errors="HC3").fit(rows, y, sample_weight=weights)
    assert np.all(
        np.array(eo.GLM(eo.Poisson, errors="HC1").fit(rows, y, sample_weight=weights).summary().table["error"]) < 1
    )


@pytest.mark.parametrize("errors", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_errors_of_rows_that_fit_exactly_can_be_saved(errors):
    rows = {"c0": [True, False, True, True, False], "c1": list("pqqpr")}
    offset = [-1.4722264779429874, -0.8277545819312312, -1.6532843227593836, -1.3774589009477136, 0.7919119853788631]
    y = [0.8761199849266014, -0.04796588953074758, 0.8324542803866863, 0.5918694059125758, 0.8301106774221455]
    model = eo.GLM(errors=errors).fit(rows, y, offset=offset).model_
    assert np.all(np.diag(model.covariance) >= 0)
    assert Regression.from_bytes(model.to_bytes()) == model


@pytest.mark.parametrize("errors", ["HC0", "HC3"])
@pytest.mark.parametrize("away", [1e3, 1e6])
def test_robust_intervals_do_not_lose_a_column_far_from_zero(errors, away):
    moved = X + np.array([0, 0, away])
    near, far = eo.GLM(errors=errors).fit(X, NUMBERS), eo.GLM(errors=errors).fit(moved, NUMBERS)
    for there, here in zip(far.predict_interval(moved), near.predict_interval(X)):
        np.testing.assert_allclose(there, here, atol=1e-3)
    np.testing.assert_allclose(far.summary().table["error"][1:], near.summary().table["error"][1:], rtol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("errors", ["model", "HC0"])
def test_an_interval_of_which_no_digit_is_left_is_not_one_without_width(errors):
    away = X + np.array([0, 0, 1e9])
    low, high = eo.GLM(errors=errors).fit(away, NUMBERS).predict_interval(away)
    assert not np.any(low == high)


@pytest.mark.filterwarnings("error")
def test_the_interval_of_a_row_that_alone_has_a_column_has_no_width_by_robust_errors():
    alone = np.column_stack([X[:, 0], np.arange(60) == 7])
    low, high = eo.GLM(errors="HC0").fit(alone, NUMBERS).predict_interval(alone[[7]])
    np.testing.assert_allclose([low, high], NUMBERS[7], atol=1e-6)


def test_what_has_no_columns_is_not_flat():
    model = quiet(eo.GLM(eo.Poisson, intercept=False), np.zeros((5, 1)), np.arange(5))
    assert model.dropped == ("x0",)
    assert Curvature(np.zeros((0, 0))).condition == 1


# Priors on some columns


def test_a_prior_on_the_intercept_holds_centred_columns_too():
    far = 1e6 + X[:, 0]
    prior = eo.GaussianPrior(0, {"intercept": 1.0})
    model = quiet(eo.GLM(eo.Bernoulli, prior=prior), {"far": far, "twin": 2 * far + 3}, CLASSES)
    assert model.relations == ()
    plain = quiet(eo.GLM(eo.Bernoulli, prior=prior), {"x": X[:, 0], "twin": 2 * X[:, 0]}, CLASSES)
    assert plain.relations == ("`twin` = 2 `x`",)


def test_a_prior_on_one_column_leaves_others_separated():
    rows, y = {"x": np.arange(6.0), "z": [1, 0, 1, 0, 1, 0]}, [0, 0, 0, 1, 1, 1]
    model = quiet(eo.GLM(eo.Bernoulli, prior=eo.GaussianPrior(0, {"z": 1.0})), rows, y)
    assert "complete separation: intercept → -∞, x → +∞; " in model.notes[0]
    assert "a prior that is on them too keeps them finite" in model.notes[0]
    held = quiet(eo.GLM(eo.Bernoulli, prior=eo.GaussianPrior(0, {"x": 1.0})), rows, y)
    assert held.notes == ()
    assert held.totals.converged


def test_counts_of_zero_alone_have_no_intercept_under_a_prior():
    model = quiet(eo.GLM(eo.Poisson, prior=1.0), {"x": [1.0, 2.0, 3.0]}, [0, 0, 0])
    assert "only 0: intercept → -∞" in model.notes[0]
    assert Regression.from_bytes(model.to_bytes()) == model


@pytest.mark.parametrize(("family", "y"), [(eo.Gaussian, NUMBERS), (eo.Bernoulli, CLASSES), (eo.Poisson, COUNTS)])
def test_columns_that_say_the_same_are_left_out_unless_a_prior_holds_them(family, y):
    rows = {"x": X[:, 0], "twin": 2 * X[:, 0] + 1, "z": X[:, 1]}
    loose = quiet(eo.GLM(family, prior=eo.GaussianPrior(0, {"z": 3.0})), rows, y)
    alone = eo.GLM(family, prior=eo.GaussianPrior(0, {"z": 3.0})).fit({"x": X[:, 0], "z": X[:, 1]}, y).model_
    assert loose.notes[0].startswith("`twin` = 2 `x` + 1: the column says nothing new and is left out")
    kept = [0, 1, 3]
    np.testing.assert_allclose(loose.coefficients[kept], alone.coefficients, rtol=1e-8)
    np.testing.assert_allclose(loose.interval(rows), alone.interval({"x": X[:, 0], "z": X[:, 1]}), rtol=1e-6)
    held = eo.GLM(family, prior=eo.GaussianPrior(0, {"twin": 3.0})).fit(rows, y).model_
    assert held.notes == ()
    assert held["twin"] == pytest.approx(0, abs=1e-9)


def test_where_the_curvature_is_flat_there_are_no_errors_and_no_interval():
    rows = {"x": X[:, 0], "twin": X[:, 0]}
    both = np.zeros((3, 3))
    both[1:, 1:] = 1.0  # of the sum, which the rows tell too; of the difference nothing
    model = quiet(eo.GLM(eo.Bernoulli, prior=eo.GaussianPrior(np.zeros(3), both)), rows, CLASSES)
    assert "no standard errors" in model.notes[0]
    assert np.isnan(model.interval(rows)).all()
    assert not np.isnan(model.mean(rows)).any()


# Jeffreys' prior


@pytest.mark.parametrize("light", [1.0, 1e-3])
@pytest.mark.parametrize("seed", range(6))
def test_jeffreys_needs_few_steps_where_rows_are_few_or_light(seed, light):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(5), rng.normal(size=(5, 2))])
    y, w = np.array([0, 0, 1, 1, 0]), light * rng.uniform(0.5, 1.5, 5)
    model = eo.GLM(eo.Bernoulli, prior="jeffreys").fit(Z[:, 1:], y, sample_weight=w).model_
    assert model.totals.converged
    assert model.totals.steps <= 40

    def cost(b):
        score, p = Z @ b, 1 / (1 + np.exp(-Z @ b))
        information = (Z.T * (w * p * (1 - p))) @ Z
        return w @ (np.logaddexp(0, score) - y * score) - 0.5 * np.linalg.slogdet(information)[1]

    least = minimize(cost, model.coefficients, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}).fun
    assert cost(model.coefficients) <= least + 1e-10


def test_jeffreys_says_so_where_the_information_is_flat():
    rows = {
        "c0": [99997.64844432987, 99999.70161735459, 99999.12684321209], "c1": list("qrq"), "c2": [0.0, 1.0, 1.0],
        "c3": list("prr"), "twin": [199996.29688865974, 200000.40323470917, 199999.25368642417],
    }  # fmt: skip
    model = quiet(eo.GLM(eo.Bernoulli, prior="jeffreys", intercept=False), rows, [0, 0, 1])
    assert any(note.startswith("not converged") for note in model.notes)


# Judging with targets that are wrong


def test_a_score_refuses_what_it_cannot_judge_by(tmp_path):
    frame = pd.DataFrame(X, columns=list("abc"))
    counted, measured, told = (
        eo.GLM(family).fit(frame, y)
        for family, y in ((eo.Poisson, COUNTS), (eo.Gaussian, NUMBERS), (eo.Bernoulli, CLASSES))
    )
    frame.assign(y=NUMBERS).to_csv(tmp_path / "rows.csv", index=False)
    hole = np.where(np.arange(60) == 3, np.nan, NUMBERS)
    dropping = eo.GLM(missing="drop").fit(frame, NUMBERS)
    for judge, message in (
        (lambda: measured.score(frame, hole), "'target' is missing in row 3"),
        (lambda: measured.score(frame, np.where(np.isnan(hole), np.inf, hole)), "'target' is infinite in row 3"),
        (lambda: counted.score(frame, -COUNTS - 1), "in row 0: expected a count, 0 or more"),
        (lambda: measured.score(frame, NUMBERS, sample_weight=np.zeros(60)), "all weights are zero"),
        (lambda: told.score(frame, CLASSES, sample_weight=np.zeros(60)), "no rows with a class and a weight"),
        (lambda: told.score(frame, CLASSES, sample_weight="a"), r"the weight of row \d+ is -"),
        (lambda: told.score(tmp_path / "rows.csv", CLASSES, sample_weight="a"), "the weights are the name 'a'"),
        (lambda: measured.score(tmp_path / "rows.csv", "y"), "y is the name 'y', and the rows are in a file"),
        (lambda: dropping.score(frame.assign(a=hole), NUMBERS), "no mean can be told in row 3"),
    ):
        with pytest.raises(eo.DataError, match=message):
            judge()


def test_residuals_refuse_targets_that_are_none():
    rows, many = {"x": X[:, 0]}, np.full(60, 5)
    told = eo.GLM(eo.Bernoulli).fit(rows, np.where(CLASSES, "yes", "no")).model_
    trials = eo.GLM(eo.Bernoulli).fit(rows, CLASSES * 2, trials=many).model_
    for judge, message in (
        (
            lambda: told.residuals(rows, ["perhaps"] * 60),
            "'perhaps' in row 0, never seen at fit; its values were 'no', 'y",
        ),
        (lambda: told.residuals(rows, ["yes"] * 3), "3 values of target for 60 rows"),
        (lambda: trials.residuals(rows, CLASSES * 2), "in row [0-9]+: expected 0 or 1, or a share of the trials"),
        (lambda: trials.residuals(rows, CLASSES, weights=[1, 2]), "2 weights for 60 rows"),
    ):
        with pytest.raises(eo.DataError, match=message):
            judge()
    away = trials.residuals(rows, CLASSES * 2 / 5, weights=many)
    assert away @ away == pytest.approx(trials.totals.deviance, rel=1e-10)


def test_one_is_one_and_no_deviance_is_below_nothing():
    assert (
        quiet(eo.GLM(), {"a": [1.0]}, [2.0]).notes[0].startswith("1 row tells at most 1 coefficient, not 2: `a` left")
    )
    holed = eo.GLM(missing="drop").fit({"a": [1.0, 2.0, np.nan, 3.0, 5.0]}, [1.0, 2, 3, 5, 4]).model_
    assert holed.notes == ("1 row with missing cells was left out",)
    exact = eo.GLM(eo.Poisson).fit({"a": [0.1, 0.7, 0.4], "g": list("yyz")}, [1, 1, 4]).model_
    assert exact.totals.deviance >= 0
