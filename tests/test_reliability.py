"""How honest probabilities are, read off the tally of predictions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from command import invoke
from evenodds.audit.judge import tally
from evenodds.audit.metrics import Metrics, beside
from evenodds.audit.ranked import scores
from evenodds.audit.reliability import Reliability, distance


def drawn(n, seed, slope=1.0, intercept=0.0, wide=2.0):
    """Log-odds said, and what is true of them if the line is so."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, wide, n)
    return odds, rng.random(n) < 1 / (1 + np.exp(-(intercept + slope * odds)))


def two(odds):
    return np.column_stack([-np.logaddexp(0, odds), -np.logaddexp(0, -odds)])


def reliability(odds, y, bins=10, weights=None):
    return Reliability("true", scores(tally(y, two(odds), [False, True], weights), "true"), bins)


def metrics(odds, y):
    return Metrics.of(tally(y, two(odds), [False, True]), [False, True])


@given(st.integers(0, 100), st.integers(1, 25), st.integers(5, 400))
def test_the_parts_of_the_brier_score_add_up(seed, bins, n):
    odds, y = drawn(n, seed, 0.5, 0.3)
    of = reliability(odds, y, bins)
    odds = of.scores.odds  # as the tally has them, to 7 digits
    p, q = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(odds))
    direct = (of.scores.own @ q**2 + of.scores.rest @ p**2) / n
    assert abs(of.brier.score - direct) < 1e-12
    assert of.brier.score == pytest.approx(metrics(*drawn(n, seed, 0.5, 0.3)).brier, abs=1e-6)
    assert of.brier.reliability >= 0
    assert of.brier.uncertainty == pytest.approx(y.mean() * (1 - y.mean()))


def test_without_spread_inside_the_bins_the_parts_are_murphys():
    p = np.repeat([0.1, 0.4, 0.8], 100)
    y = np.random.default_rng(0).random(300) < p**2
    parts = reliability(np.log(p / (1 - p)), y, bins=3).brier
    seen = y.reshape(3, 100).mean(axis=1)
    assert parts.within == pytest.approx(0, abs=1e-7)
    assert parts.reliability == pytest.approx(np.mean((seen - [0.1, 0.4, 0.8]) ** 2), abs=1e-6)
    assert parts.resolution == pytest.approx(np.mean((seen - y.mean()) ** 2), abs=1e-6)


def test_the_parts_of_several_classes_add_up():
    p = np.random.default_rng(0).dirichlet([1, 2, 3, 4], 500)
    y = np.random.default_rng(1).integers(0, 4, 500)
    m = Metrics.of(tally(y, np.log(p), range(4)), range(4))
    assert len(m.reliability) == 4
    assert m.brier_parts.score == pytest.approx(m.brier, abs=1e-6)


def test_bins_that_say_nearly_the_same_are_one_and_a_chain_of_them_is_not():
    odds = np.repeat([0.0, 0.15, 0.3, 0.45, 2.0], 40)
    table = reliability(odds, np.arange(200) % 2 == 0, bins=5).table
    assert [row["rows"] for row in table] == [80, 80, 40]


def test_bins_are_of_equal_mass():
    odds, y = drawn(1000, 0)
    table = reliability(odds, y).table
    assert [row["rows"] for row in table] == [100] * 10
    order = np.argsort(odds)
    assert table["seen"] == pytest.approx(y[order].reshape(10, 100).mean(axis=1))
    assert table["said"] == pytest.approx((1 / (1 + np.exp(-odds[order]))).reshape(10, 100).mean(axis=1), abs=1e-6)
    for row in table:
        assert row["low"] <= row["seen"] <= row["high"]
        assert len(next(v for v in row.values() if isinstance(v, str))) <= 33


def test_rows_of_one_score_are_in_the_bin_of_their_middle():
    """Of 60 and 40 rows the middles lie at .3 and .8: one in each half. Turned round, the halves are the same."""
    for rows in ([60, 40], [40, 60], [20, 25, 55]):
        odds = np.repeat(np.arange(len(rows)) - 1.0, rows)
        y = np.arange(len(odds)) % 3 == 0
        middles = (np.cumsum(rows) - np.array(rows) / 2) / 100
        wanted = [sum(n for n, at in zip(rows, middles) if half == int(2 * at)) for half in (0, 1)]
        assert reliability(odds, y, bins=2).table["rows"] == wanted
        assert reliability(-odds, ~y, bins=2).table["rows"] == wanted[::-1]


def test_rows_that_are_alike_share_a_bin():
    """Folds predict rows that are alike by models that differ a little: those must not be told apart."""
    odds = np.repeat([-1.8, -1.75, -1.7, 0.5], 100)
    table = reliability(odds, np.arange(400) % 3 == 0).table
    assert [row["rows"] for row in table] == [300, 100]


def test_honest_probabilities_have_no_excess_error():
    found = [reliability(*drawn(200, seed)) for seed in range(300)]
    excess = np.array([of.excess_ece for of in found])
    assert np.mean([of.ece for of in found]) > 0.04  # what could be read as dishonesty
    assert abs(excess.mean()) < 4 * excess.std() / np.sqrt(len(excess))
    dishonest = reliability(*drawn(200, 0, slope=0.3, wide=3))
    assert dishonest.excess_ece > 0.1


def test_the_error_of_confidence_by_chance():
    found = [metrics(*drawn(200, seed)) for seed in range(300)]
    gap = np.array([m.ece - m.ece_by_chance for m in found])
    assert abs(gap.mean()) < 0.002


@pytest.mark.parametrize("n", [1, 2, 7, 50, 1000])
@pytest.mark.parametrize("p", [0.0, 0.001, 0.3, 0.5, 0.97, 1.0])
def test_the_mean_distance_is_that_of_the_binomial(n, p):
    from scipy.stats import binom

    k = np.arange(n + 1)
    exact = float(binom.pmf(k, n, p) @ np.abs(k - n * p))
    assert distance(np.array([n * 1.0]), np.array([n * p]), np.array([n * p * (1 - p)]))[0] == pytest.approx(
        exact, rel=1e-9, abs=1e-15
    )


def test_the_mean_distance_of_flags_of_different_probability():
    rng = np.random.default_rng(0)
    for spread in (0.5, 3.0):
        p = rng.beta(spread, 2 * spread, 40)
        draws = np.abs((rng.random((100_000, 40)) < p).sum(axis=1) - p.sum())
        found = distance(np.array([40.0]), np.array([p.sum()]), np.array([p @ (1 - p)]))[0]
        assert found == pytest.approx(draws.mean(), rel=0.01)


@pytest.mark.parametrize(("slope", "intercept"), [(1.0, 0.0), (0.4, -0.5), (2.0, 1.0)])
def test_the_line_is_found(slope, intercept):
    odds, y = drawn(20_000, 3, slope, intercept)
    line = reliability(odds, y).line
    assert line.slope_interval[0] < slope < line.slope_interval[1]
    assert line.intercept_interval[0] < intercept < line.intercept_interval[1]

    def loss(b):
        z = b[0] + b[1] * odds
        return np.logaddexp(0, np.where(y, -z, z)).mean()

    best = minimize(loss, [0.0, 1.0], tol=1e-12).x
    assert [line.intercept, line.slope] == pytest.approx(best, abs=1e-5)
    assert metrics(odds, y).slope == line.slope


def test_there_is_no_line_where_rows_are_separated_or_impossible():
    odds, y = drawn(50, 0)
    assert reliability(odds, odds > 0).line is None
    assert reliability(odds, np.ones(50, bool)).line is None
    never = two(odds)
    never[0] = [0.0, -np.inf]
    y[0] = True
    assert Metrics.of(tally(y, never, [False, True]), [False, True]).slope is None
    y[0] = False  # a certainty that came true says nothing of the slope
    without = reliability(odds[1:], y[1:]).line
    assert Metrics.of(tally(y, never, [False, True]), [False, True]).slope == pytest.approx(without.slope)


@pytest.mark.parametrize("true_slope", [0.03, 0.2, 0.7, 1.0, 1.9, 5.0])
@pytest.mark.parametrize("k", [3, 6])
def test_the_slope_of_several_classes_is_that_of_a_search(k, true_slope):
    rng = np.random.default_rng(k)
    log_p = rng.normal(0, 1.5 / true_slope, (4000, k))  # the surer they are said, the less they should be believed
    log_p -= np.logaddexp.reduce(log_p, axis=1, keepdims=True)
    tempered = true_slope * log_p
    tempered -= np.logaddexp.reduce(tempered, axis=1, keepdims=True)
    y = (rng.random((4000, 1)) > np.exp(tempered).cumsum(axis=1)).sum(axis=1).clip(0, k - 1)

    def loss(b):
        return (np.logaddexp.reduce(b * log_p, axis=1) - b * log_p[np.arange(4000), y]).mean()

    best = minimize_scalar(loss, bounds=(0.01, 9), options={"xatol": 1e-9}).x
    parts = [tally(y[at], log_p[at], range(k)) for at in (slice(0, 1000), slice(1000, 4000))]
    found = Metrics.of(parts[0] + parts[1], range(k)).slope
    assert found == pytest.approx(best, rel=1e-3)
    assert found == pytest.approx(true_slope, rel=0.15)


def test_weights_count_rows():
    odds, y = drawn(300, 0, 0.5)
    weights = np.random.default_rng(1).integers(1, 4, 300)
    one = reliability(odds, y, weights=weights)
    other = reliability(np.repeat(odds, weights), np.repeat(y, weights))
    assert one.to_dict() == other.to_dict()


def test_two_sets_of_probabilities_side_by_side():
    odds, y = drawn(2000, 0, slope=0.5)
    before, after = metrics(odds, y), metrics(odds / 2, y)
    frame = beside({"as learnt": before, "tempered": after})
    lines = {row[""]: (row["as learnt"], row["tempered"]) for row in frame}
    assert lines["accuracy"][0] == lines["accuracy"][1]
    assert lines["log loss"][0] > lines["log loss"][1]
    assert lines["slope"][1] == pytest.approx(2 * lines["slope"][0], rel=1e-4)
    assert lines["- reliability"][0] > lines["- reliability"][1]


def test_as_json():
    odds, y = drawn(500, 0, 0.5)
    found = json.loads(json.dumps(metrics(odds, y).to_dict()))["reliability"]["true"]
    assert found["brier"]["score"] == pytest.approx(metrics(odds, y).brier, abs=1e-6)
    assert len(found["bins"]) == 10
    assert found["excess_ece"] == pytest.approx(found["ece"] - found["ece_by_chance"])
    many = [str(c) for c in range(40)]
    log_p = np.log(np.full((80, 40), 1 / 40))
    assert Metrics.of(tally(many * 2, log_p, many), many).brier_parts is None  # too many to keep scores of


def test_evaluate_puts_two_models_side_by_side(tmp_path):
    def run(*words, code=0):
        done = invoke(*words, code=code)
        return done.stdout or done.stderr

    data, one, two = tmp_path / "people.csv", tmp_path / "one.eo", tmp_path / "two.eo"
    run("demo", "--csv", data)
    run("fit", data, "-q", "-t", "survived", "-o", one)
    run("fit", data, "-q", "-t", "survived", "--role", "sex=ignore", "-o", two)
    found = json.loads(run("evaluate", one, data, "--beside", two, "--json"))["beside"]
    assert found[str(one)]["accuracy"] > found[str(two)]["accuracy"]
    alone = json.loads(run("evaluate", one, data, "--json"))
    assert found[str(one)] == {name: alone[name] for name in found[str(one)]}
    assert str(two) in run("evaluate", one, data, "--beside", two, "--leave-one-out").splitlines()[0]
    assert "two saved models" in run("evaluate", data, "-t", "survived", "--folds", 3, "--beside", two, code=2)
    other, more = tmp_path / "other.eo", tmp_path / "more.csv"
    run("fit", data, "-q", "-t", "sex", "-o", other)
    refused = run("evaluate", one, data, "--beside", other, code=3)
    assert "predicts the column 'survived'" in refused
    assert "other.eo 'sex': they cannot be compared" in refused
    more.write_text("class,sex,age,survived\n1st,male,adult,perhaps\n")
    run("learn", two, more)
    assert "two.eo ['no', 'perhaps', 'yes']" in run("evaluate", one, data, "--beside", two, code=3)
    run("fit", data, "-q", "-t", "survived", "--bridge", "-o", other)
    assert "other.eo is a bridge" in run("evaluate", one, data, "--leave-one-out", "--beside", other, code=2)
    assert "--seed: needs --folds" in run("evaluate", one, data, "--seed", 3, code=2)
