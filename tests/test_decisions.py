"""From odds to what is said: by costs, and within limits."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from command import invoke
from evenodds.audit.judge import tally
from evenodds.audit.limits import Limit, rows_needed, upper
from evenodds.families import Bernoulli

SEEN = "of rows that it has not seen fewer are judged right"


def probabilities(n, k, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.5), n)


def drawn(p, seed):
    """A class for each row, drawn from its probabilities."""
    u = np.random.default_rng(seed).random((len(p), 1))
    return (u > p.cumsum(axis=1)).sum(axis=1).clip(0, p.shape[1] - 1)


# -- costs -----------------------------------------------------------------------------------------------------------


@given(st.integers(2, 5), st.integers(0, 50), st.integers(-20, 20))
def test_costs_scaled_change_nothing(k, seed, power):
    costs = np.random.default_rng(seed).random((k, k))
    p = probabilities(200, k, seed)
    one = eo.LeastCost.of(costs, range(k), unsure=0.3)
    other = eo.LeastCost.of(costs * 2.0**power, range(k), unsure=0.3 * 2.0**power)
    assert np.array_equal(one.choose(p), other.choose(p))


@given(st.integers(2, 5), st.integers(0, 50))
def test_costs_of_a_truth_may_be_counted_from_anywhere(k, seed):
    rng = np.random.default_rng(seed)
    costs, p = rng.random((k, k)), probabilities(200, k, seed)
    shifted = costs + rng.integers(0, 8, (k, 1))  # what cannot be helped
    assert np.array_equal(eo.LeastCost.of(costs, range(k)).choose(p), eo.LeastCost.of(shifted, range(k)).choose(p))


@pytest.mark.parametrize("seed", range(20))
def test_a_threshold_is_told_wherever_there_is_one(seed):
    """Also where saying the truth costs something: 8 for a mistake is more than 0 for the truth, 12 more than 10."""
    rng = np.random.default_rng(seed)
    right = rng.integers(0, 9, 2).astype(float)
    costs = np.diag(right) + np.fliplr(np.diag(right + rng.integers(1, 9, 2)))
    rule = eo.LeastCost.of(costs, ["ham", "spam"])
    low, high = rule.thresholds
    assert low == high
    for p, said in ((low - 1e-6, "ham"), (low + 1e-6, "spam")):
        assert rule.apply([[1 - p, p]]).tolist() == [said]
    assert repr(rule).startswith("say spam where p(spam) > ")


def test_nothing_told_is_the_most_probable_class():
    p = probabilities(1000, 4)
    assert np.array_equal(eo.LeastCost.of({}, range(4)).choose(p), p.argmax(axis=1))


def test_the_least_cost_is_least():
    p = probabilities(500, 3)
    costs = 1 - np.eye(3) + np.random.default_rng(1).random((3, 3)) / 4
    rule = eo.LeastCost.of(costs, list("abc"), unsure=0.35)
    every = np.column_stack([p @ costs, np.full(500, 0.35)])
    assert np.array_equal(rule.choose(p) % 4, every.argmin(axis=1))
    assert set(rule.apply(p)) == {"a", "b", "c", "unsure"}


def test_the_threshold_rises_with_the_cost_of_being_wrong_above_it():
    costs = [0.1, 0.5, 1, 2, 10, 1000]
    rules = [eo.LeastCost.of({("ham", "spam"): c}, ["ham", "spam"]) for c in costs]
    thresholds = [rule.thresholds[0] for rule in rules]
    assert thresholds == sorted(thresholds)
    assert thresholds == pytest.approx([c / (c + 1) for c in costs])
    p = probabilities(1000, 2)
    said = [(rule.choose(p) == 1).sum() for rule in rules]
    assert said == sorted(said, reverse=True)
    for rule, t in zip(rules, thresholds):
        assert np.array_equal(rule.choose(p) == 1, p[:, 1] > t)


def test_the_band_is_where_nothing_is_said():
    p = probabilities(2000, 2)
    for right, band in (((0.0, 0.0), (0.5, 0.95)), ((0.3, 0.1), (2 / 7, 9.5 / 9.9))):
        rule = eo.LeastCost.of([[right[0], 10], [1, right[1]]], ["ham", "spam"], unsure=0.5)
        low, high = rule.thresholds
        assert (low, high) == pytest.approx(band)
        assert np.array_equal(rule.apply(p) == "unsure", (p[:, 1] > low) & (p[:, 1] < high))
    dear = eo.LeastCost.of({("ham", "spam"): 10}, ["ham", "spam"], unsure=5)
    assert dear.thresholds == pytest.approx((10 / 11, 10 / 11))
    assert "unsure" not in dear.apply(p)


def test_at_the_ends_of_the_band_a_class_is_said():
    rule = eo.LeastCost.of({}, ["ham", "spam"], unsure=0.25)
    assert repr(rule).startswith("say spam where p(spam) ≥ 0.75, ham where it is ≤ 0.25, otherwise unsure")
    assert rule.apply([[0.25, 0.75], [0.75, 0.25], [0.5, 0.5]]).tolist() == ["spam", "ham", "unsure"]


def test_tiny_probabilities_are_not_rounded_away():
    rule = eo.LeastCost.of({("ham", "spam"): 1e30}, ["ham", "spam"])
    assert rule.apply([[1e-40, 1.0], [1e-20, 1.0]]).tolist() == ["spam", "ham"]


def test_the_average_cost():
    rule = eo.LeastCost.of({("ham", "spam"): 10}, ["ham", "spam"], unsure=0.5)
    counts = rule.counts(["ham", "ham", "spam", "other"], [[0, 1.0], [0.4, 0.6], [1.0, 0], [1.0, 0]])
    assert counts.tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert rule.cost(counts) == pytest.approx((10 + 0.5 + 1) / 3)
    assert rule.table(counts)[2]["true ↓ predicted →"] == "classes not known"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: eo.LeastCost.of({("ham", "spma"): 1}, ["ham", "spam"]), "class 'spma' not found; did you mean 'spam'"),
        (lambda: eo.LeastCost.of(np.eye(3), ["ham", "spam"]), "expected 2 × 2 finite numbers"),
        (lambda: eo.LeastCost.of({}, ["ham", "unsure"]), "a class is named 'unsure'"),
        (lambda: eo.LeastCost.of({}, ["ham", "ham"]), "each once"),
        (lambda: eo.LeastCost.of({}, ["ham", "spam"], unsure=np.nan), "unsure=nan"),
        (lambda: eo.LeastCost.of({}, ["ham", "spam"]).apply([[0.5, 0.2, 0.3]]), "a column for each of ham, spam"),
        (
            lambda: eo.LeastCost.of({}, ["ham", "spam"]).apply([[0.5, 0.2]]),
            "row 0, proba: the probabilities add up to 0.7, expected 1",
        ),
        (lambda: eo.Decision.from_dict({"decision": "coin"}), "no decision: 'decision' is 'coin'"),
    ],
)
def test_what_cannot_be_is_said(make, error):
    with pytest.raises(ValueError, match=error):
        make()


# -- limits ----------------------------------------------------------------------------------------------------------


def test_the_bound_of_the_rate_is_that_of_the_coin():
    assert upper(3, 100, 0.95) == Bernoulli.confidence([1] * 3 + [0] * 97, 0.9)[1]
    assert rows_needed(0.001, 0.95) == int(np.ceil(np.log(0.05) / np.log(1 - 0.001)))
    assert upper(0, 2995, 0.95) <= 0.001 < upper(0, 2994, 0.95)


def test_the_promise_is_kept():
    """Of 500 sets of rows, in at most about 5 % is the true rate above the limit."""
    limit, n = 0.02, 600
    rng = np.random.default_rng(0)
    broken, said = 0, []
    for _ in range(500):
        spam = rng.random(2 * n)
        y = np.where(rng.random(2 * n) < spam, "spam", "ham")
        rule = eo.AtMost.of({"ham": limit}, y, np.column_stack([1 - spam, spam]), ["ham", "spam"])
        bound = 1 / (1 + np.exp(-rule.limits[0].bound))
        true_rate = bound**2  # of hams, whose p(ham) has the density 2p
        broken += true_rate > limit
        said.append(true_rate)
    assert broken <= 25 + 3 * np.sqrt(500 * 0.05 * 0.95)
    assert broken >= 5  # it is not kept by saying next to nothing
    assert np.mean(said) > limit / 2


def test_the_promise_is_kept_where_many_rows_are_alike():
    """A few different probabilities only, as of a table of categories."""
    rng = np.random.default_rng(1)
    levels, share = np.array([0.02, 0.1, 0.3, 0.6, 0.95]), np.array([0.3, 0.3, 0.2, 0.1, 0.1])
    ham = share * levels / (share * levels).sum()  # p(level | ham)
    broken = 0
    for _ in range(500):
        p = rng.choice(levels, 1500, p=share)
        y = np.where(rng.random(1500) < p, "ham", "spam")
        rule = eo.AtMost.of({"ham": 0.1}, y, np.column_stack([p, 1 - p]), ["ham", "spam"])
        out = rule.choose(np.column_stack([levels, 1 - levels])) == 1
        broken += ham[out].sum() > 0.1
    assert broken <= 25 + 3 * np.sqrt(500 * 0.05 * 0.95)


def test_a_stricter_limit_rules_out_less():
    p = probabilities(20_000, 2)
    y = drawn(p, 1)
    rules = [eo.AtMost.of({0: a}, y, p, [0, 1]) for a in (0.001, 0.01, 0.05, 0.2, 0.5)]
    bounds = [rule.limits[0].bound for rule in rules]
    assert bounds == sorted(bounds)
    firmer = [eo.AtMost.of({0: 0.01}, y, p, [0, 1], level=c).limits[0].bound for c in (0.5, 0.9, 0.95, 0.999)]
    assert firmer == sorted(firmer, reverse=True)


def test_it_does_to_the_rows_what_it_says():
    p = probabilities(20_000, 2)
    y = drawn(p, 1)
    rule = eo.AtMost.of({0: 0.01, 1: 0.02}, y, p, [0, 1])
    counts = rule.counts(y, p)
    assert counts[0, 1] == rule.limits[0].lost
    assert counts[1, 0] == rule.limits[1].lost
    assert upper(counts[0, 1], rule.limits[0].rows, 0.95) <= 0.01 < upper(counts[0, 1] + 1, rule.limits[0].rows, 0.95)
    assert counts[:2, 2].all()  # a band between


def test_rounding_does_not_lose_the_row_that_is_spared():
    p = np.repeat([[0.3, 0.7], [0.8, 0.2]], [100, 400], axis=0)
    y = np.array(["ham"] * 500)
    rule = eo.AtMost.of({"ham": 0.2}, y, p, ["ham", "spam"])
    assert rule.limits[0].lost == 0
    for wobble in (1 - 1e-9, 1 + 1e-9):
        q = p[:, 0] * wobble
        assert (rule.choose(np.column_stack([q, 1 - q])) == 0).all()


def test_rows_of_which_nothing_was_in_doubt_are_spared():
    p = np.repeat([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4]], [400, 100, 20], axis=0)
    y = np.array(["ham"] * 400 + ["spam"] * 120)
    rule = eo.AtMost.of({"ham": 0.01}, y, p, ["ham", "spam"])
    assert rule.counts(y, p)[:2, :2].tolist() == [[400, 0], [0, 120]]
    assert rule.limits[0].lost == 0
    assert "say spam where p(ham) < 1, otherwise ham" in repr(rule)
    assert eo.Decision.from_dict(json.loads(json.dumps(rule.to_dict(), allow_nan=False))) == rule


def test_limits_that_cross_leave_no_band():
    p = probabilities(20_000, 2)
    rule = eo.AtMost.of({0: 0.4, 1: 0.4}, drawn(p, 1), p, [0, 1])
    assert (rule.choose(p) >= 0).all()
    assert "the more probable where both" in repr(rule)


def test_one_class_of_many_is_guarded():
    p = probabilities(30_000, 5)
    y = drawn(p, 2)
    rule = eo.AtMost.of({3: 0.01}, y, p, range(5))
    said = rule.choose(p)
    assert (said[y == 3] != 3).sum() == rule.limits[3].lost > 0
    others = np.delete(p, 3, axis=1)
    assert np.array_equal(np.delete(np.arange(5), 3)[others.argmax(axis=1)][said != 3], said[said != 3])
    assert set(said) == {0, 1, 2, 3, 4}


def test_too_few_rows_are_told_and_nothing_is_guessed():
    p = probabilities(3000, 2)
    y = drawn(p, 1)
    rule = eo.AtMost.of({0: 0.0001}, y, p, [0, 1])
    assert rule.limits[0].bound is None
    assert "that takes 29,956 rows even if none is lost" in repr(rule)
    assert set(rule.apply(p)) == {0, "unsure"}
    assert np.array_equal(rule.choose(p) == 0, p.argmax(axis=1) == 0)
    one = eo.AtMost.of({0: 0.0001, 1: 0.05}, y, p, [0, 1])  # the other limit can be kept, and is
    assert set(one.choose(p)) == {0, -1}
    assert one.counts(y, p)[1, 0] <= one.limits[1].lost


def test_a_class_without_rows_or_with_impossible_ones_is_not_promised():
    p = np.array([[0.0, 1.0]] * 60 + [[0.5, 0.5]] * 40)
    rule = eo.AtMost.of({"ham": 0.05}, ["ham"] * 100, p, ["ham", "spam"])
    assert rule.limits[0] == Limit(0.05, 0.95, 100, 60, None)
    assert "given probability 0" in repr(rule)
    assert eo.AtMost.of({"spam": 0.05}, ["ham"] * 100, p, ["ham", "spam"]).limits[1].rows == 0


def test_tallies_of_rows_held_out_add():
    p = probabilities(4000, 2)
    y = drawn(p, 1)
    parts = [tally(y[at], np.log(p[at]), [0, 1]) for at in (slice(0, 1500), slice(1500, 4000))]
    assert eo.AtMost.from_tally({0: 0.01}, sum(parts[1:], parts[0]), [0, 1]) == eo.AtMost.of({0: 0.01}, y, p, [0, 1])


@pytest.mark.parametrize(
    ("limits", "level", "error"),
    [
        ({"ham": 0}, 0.95, "expected a share between 0 and 1"),
        ({"ham": 0.1}, 1.0, "level=1.0"),
        ({"eggs": 0.1}, 0.9, "class 'eggs' not found"),
        ({}, 0.9, "at least one limit"),
    ],
)
def test_limits_that_cannot_be(limits, level, error):
    with pytest.raises(ValueError, match=error):
        eo.AtMost.of(limits, ["ham", "spam"], [[1, 0], [0, 1]], ["ham", "spam"], level)


def test_weights_are_no_rows():
    judged = tally(["ham", "spam"], np.log([[0.5, 0.5], [0.5, 0.5]]), ["ham", "spam"], [300.5, 1])
    with pytest.raises(ValueError, match="a promise counts whole rows"):
        eo.AtMost.from_tally({"ham": 0.1}, judged, ["ham", "spam"])


@pytest.mark.parametrize("classes", [["ham", "spam"], [0, 1], [False, True]])
def test_a_decision_goes_through_json(classes):
    p = probabilities(2000, 2)
    y = np.array(classes)[drawn(p, 1)]
    for rule in (
        eo.LeastCost.of({(classes[0], classes[1]): 10}, classes, unsure=0.1),
        eo.AtMost.of({classes[0]: 0.02}, y, p, classes),
        eo.AtMost.of({classes[0]: 0.0001, classes[1]: 0.05}, y, p, classes),
    ):
        again = eo.Decision.from_dict(json.loads(json.dumps(rule.to_dict())))
        assert again == rule
        assert repr(again) == repr(rule)
        assert np.array_equal(again.apply(p), rule.apply(p))


# -- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    place = tmp_path_factory.mktemp("decide")
    data, model = str(place / "messages.csv"), str(place / "spam.eo")

    def run(*words, code=0):
        return invoke(*words, code=code).output

    run("demo", "--messages", data)
    run("fit", data, "-q", "--target", "label", "--text", "text", "-o", model)
    return run, data, model, place


@pytest.mark.parametrize("rows", [["--leave-one-out"], []])
def test_decide_counts_what_predict_says(messages, rows):
    run, data, model, place = messages
    rule = str(place / "rule.json")
    said = json.loads(run("decide", model, data, *rows, "--cost", "ham:spam=10", "-o", rule, "--json", "-q"))
    assert said["thresholds"] == pytest.approx([10 / 11] * 2)
    assert said["cost"] <= said["plain_cost"]
    predicted = [line.split(",")[0] for line in run("predict", model, data, "--only", "--rule", rule).split()[1:]]
    if not rows:
        assert predicted.count("spam") == sum(line["spam"] for line in said["counts"].values())


def test_nothing_is_promised_by_rows_that_were_learnt(messages, tmp_path):
    run, data, model, _ = messages
    said = run("decide", model, data, "--at-most", "ham=0.1", code=3)
    assert "was learnt from these very rows" in said
    assert "--leave-one-out" in said
    for words in (("decide", "--cost", "ham:spam=10"), ("evaluate",), ("audit", "--by", "label")):
        assert "note: " in run(words[0], model, data, *words[1:])
        assert "very rows" in run(words[0], model, data, *words[1:])
    assert run("evaluate", model, data, "--beside", model).count("very rows") == 2
    some = tmp_path / "some.csv"
    some.write_text("\n".join(Path(data).read_text().splitlines()[:-1]))
    for words in (("decide", "--at-most", "ham=0.1"), ("evaluate",), ("audit", "--by", "label")):
        assert "very rows" not in run(words[0], model, some, *words[1:])


def test_nothing_is_promised_by_rows_that_a_network_was_learnt_from(tmp_path):
    data, some, bridge = (str(tmp_path / name) for name in ("people.csv", "some.csv", "bridge.eo"))
    invoke("demo", "--csv", data)
    Path(some).write_text("\n".join(Path(data).read_text().splitlines()[:-1]) + "\n")
    for search in ("fit", "learn"):
        model = str(tmp_path / f"{search}.eo")
        invoke("net", search, data, "--target", "survived", "-o", model)
        assert f"learnt from these very rows: {SEEN}; a network is" in invoke("evaluate", model, data).output
        assert "nothing can be promised" in invoke("decide", model, data, "--at-most", "no=0.1", code=3).output
        assert "very rows" not in invoke("decide", model, some, "--at-most", "no=0.1").output
    invoke("fit", data, "-q", "--target", "survived", "--bridge", "-o", bridge)
    assert f"learnt from these very rows: {SEEN}; a bridge is" in invoke("evaluate", bridge, data).output


def test_decide_by_limits_and_folds(messages):
    run, data, _, _ = messages
    how = ["decide", data, "--target", "label", "--text", "text", "--folds", "5"]
    said = json.loads(run(*how, "--at-most", "ham=0.02", "--at-most", "spam=0.05", "--json"))
    assert [limit["at_most"] for limit in said["limits"]] == [0.02, 0.05]
    assert said["counts"]["ham"]["spam"] == said["limits"][0]["lost"]
    text = run(*how, "--at-most", "ham=0.001")
    assert "2,995 rows even if none is lost" in text
    assert "unsure" in text


def test_a_rule_goes_to_standard_output_alone(messages, monkeypatch):
    _, data, model, place = messages
    monkeypatch.chdir(place)
    done = invoke("decide", model, data, "--leave-one-out", "--at-most", "ham=.1", "--level", ".9", "-o", "-")
    assert json.loads(done.stdout)["limits"][0]["level"] == 0.9
    assert "with 90 % confidence" in done.stderr
    assert not (place / "-").exists()


def test_what_decide_and_predict_refuse(messages):
    run, data, model, place = messages
    assert "Give --cost, or --at-most" in run("decide", model, data, code=2)
    assert "Give --cost, or --at-most" in run(
        "decide", model, data, "--cost", "ham:spam=2", "--at-most", "ham=.1", code=2
    )
    assert "not TRUE:SAID" in run("decide", model, data, "--cost", "ham:eggs=2", code=3)
    for wrong, said in (
        (["--cost", "ham:spam"], "--cost: expected TRUE:SAID=NUMBER, not 'ham:spam'"),
        (["--cost", "ham=2"], "--cost: expected TRUE:SAID"),
        (["--cost", "ham:spam=nan"], "--cost: 'nan' is not a number"),
        (["--unsure", "inf"], "--unsure: 'inf' is not a number"),
        (["--at-most", "ham=2"], "--at-most ham=2: expected a share"),
        (["--at-most", "ham=.1", "--at-most", "ham=.2"], "'ham' is given twice"),
        (["--cost", "ham:spam=2", "--level", ".9"], "--level: of --at-most"),
        (["--cost", "ham:spam=2", "-o", "-", "--json"], "not both"),
        (["--cost", "ham:spam=2", "--seed", "1"], "--seed: needs --folds"),
    ):
        assert said in run("decide", model, data, *wrong, code=2)
    assert "class 'eggs' not found" in run("decide", model, data, "--at-most", "eggs=.1", code=3)
    assert "leave it out" in run("decide", model, data, "--at-most", "ham=.1", "--weight", "w", code=2)
    other = place / "other.json"
    other.write_text(json.dumps(eo.LeastCost.of({}, ["a", "b"]).to_dict()))
    assert "is a rule for the classes ['a', 'b']" in run("predict", model, data, "--rule", str(other), code=3)
    other.write_text("{}")
    assert "is not a rule" in run("predict", model, data, "--rule", str(other), code=3)


def test_folds_that_lack_a_class(tmp_path):
    """A class of one row is unknown to the model of the other folds: probability 0, and counted."""
    from evenodds.audit.held_out import of_folds
    from evenodds.data.files import read

    lines = ["x,y"] + [f"{'ab'[i % 2]},{'uv'[i % 2]}" for i in range(60)] + ["a,w"]
    (tmp_path / "rare.csv").write_text("\n".join(lines) + "\n")
    held = of_folds(read(str(tmp_path / "rare.csv")), "y", 5)
    counts = held.counts(eo.LeastCost.of({}, held.classes))[0]
    assert held.classes.tolist() == ["u", "v", "w"]
    assert counts.sum(axis=1).tolist() == [30, 30, 1, 0]
    assert counts[2, 2] == 0


def test_of_many_classes_the_most_frequent_mistakes_are_told(tmp_path):
    data, classes = tmp_path / "many.csv", [f"a class called {c:02}" for c in range(30)]
    lines = [f"{classes[i % 30]},{i % 29}" for i in range(1200)] + [f"{classes[3]},4"] * 50
    data.write_text("class,x\n" + "\n".join(lines) + "\n")
    how = ["decide", str(data), "--target", "class", "--role", "x=category", "--folds", "3", "--unsure", "0.8"]
    counts = json.loads(invoke(*how, "--json").output)["counts"]
    wrong = {(true, said): n for true, row in counts.items() for said, n in row.items() if true != said and n}
    page = invoke(*how).output
    assert max(map(len, page.splitlines())) <= 100
    told = page.split("The most frequent mistakes:\n")[1].split("\n\n")[0].splitlines()[1:]
    found = [line.rsplit("  ", 1) for line in told]
    assert [int(n) for _, n in found] == sorted(wrong.values(), reverse=True)[:12]
    assert all(wrong[tuple(part.strip() for part in pair.split("  ", 1))] == int(n) for pair, n in found)
