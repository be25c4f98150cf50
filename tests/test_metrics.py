"""Metrics as sums: what scikit-learn says of the rows, the tally says without them; and tallies obey the laws."""

import functools
import json
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    confusion_matrix,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)

from evenodds.audit import judge
from evenodds.audit.groups import Audit
from evenodds.audit.metrics import Metrics, tally
from evenodds.audit.ranked import keys_of, scores
from evenodds.audit.reliability import Reliability
from evenodds.errors import DataError
from evenodds.families import Beta

CLOSE = {"rel": 1e-9, "abs": 1e-9}
WEIGHTS = {
    "none": lambda rng, n: None,
    "whole": lambda rng, n: rng.integers(0, 4, n),
    "parts": lambda rng, n: rng.random(n) * 3,
}


def forecast(k, n=400, seed=0, ties=False):
    """True classes c0, c1, …, and log-probabilities that know something of them."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=np.arange(1, k + 1) / np.arange(1, k + 1).sum())
    score = rng.normal(size=(n, k)) + 1.5 * np.eye(k)[y]
    log_p = np.round(score) if ties else score
    log_p -= np.log(np.exp(log_p).sum(axis=1, keepdims=True))
    return np.array([f"c{i}" for i in y]), log_p, [f"c{i}" for i in range(k)]


def same(a, b):
    """Whether two tallies are equal: integers exactly, sums (and counts of fractions) to 1e-12."""
    gap = a + -1 * b
    if gap.counts.dtype.kind == "i":
        assert not gap.counts.any()
    largest = max(np.abs(part).max(initial=0.0) for part in (gap.counts, gap.sums))
    return largest <= 1e-12 * max(np.abs(a.sums).max(initial=0.0), 1.0)


# What scikit-learn says


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("k", [2, 5])
def test_it_says_what_scikit_learn_says(k, ties, weights):
    y, log_p, classes = forecast(k, ties=ties)
    w = WEIGHTS[weights](np.random.default_rng(1), len(y))
    p, said = np.exp(log_p), np.array(classes)[log_p.argmax(axis=1)]
    ranks = p.round(13)  # what differs by a rounding is a tie
    m = Metrics.of(tally(y, log_p, classes, w), classes)
    assert m.rows == pytest.approx(len(y) if w is None else w.sum())
    assert m.accuracy == pytest.approx(accuracy_score(y, said, sample_weight=w), **CLOSE)
    assert m.log_loss == pytest.approx(log_loss(y, p, sample_weight=w, labels=classes), **CLOSE)
    if k == 2:
        brier = brier_score_loss(y, p[:, 1], pos_label="c1", sample_weight=w)
        auc = roc_auc_score(y == "c1", ranks[:, 1], sample_weight=w)
    else:
        brier = brier_score_loss(y, p, sample_weight=w, labels=classes)
        auc = np.mean([roc_auc_score(y == c, ranks[:, i], sample_weight=w) for i, c in enumerate(classes)])
    assert m.brier == pytest.approx(brier, **CLOSE)
    assert m.auc == pytest.approx(auc, abs=1e-6)
    for c, name in enumerate(classes):
        assert m.per_class[c]["auc"] == pytest.approx(roc_auc_score(y == name, ranks[:, c], sample_weight=w), abs=1e-6)
    matrix = np.array([[row[name] for name in classes] for row in m.confusion])
    assert matrix == pytest.approx(confusion_matrix(y, said, sample_weight=w), **CLOSE)
    for name, score in {"precision": precision_score, "recall": recall_score, "f1": f1_score}.items():
        assert m.per_class[name] == pytest.approx(score(y, said, sample_weight=w, average=None), **CLOSE)


def test_the_auc_of_small_integers_is_exact():
    """Positives at 0, 1, 1; negatives at 0, 0, 1: of 9 pairs 4 are won, 4 tied."""
    z = np.array([0, 1, 1, 0, 0, 1.0])
    log_p = np.stack([-np.log1p(np.exp(z)), -np.log1p(np.exp(-z))], axis=1)
    assert Metrics.of(tally([1, 1, 1, 0, 0, 0], log_p, [0, 1]), [0, 1]).auc == (4 + 4 / 2) / 9


def test_ranks_are_told_apart_where_probabilities_are_all_1():
    z = np.array([50.0, 60.0, 70.0, 80.0])  # p = 1 in doubles; the log-odds still differ
    log_p = np.stack([-z, np.zeros(4)], axis=1)
    assert Metrics.of(tally([0, 0, 1, 1], log_p, [0, 1]), [0, 1]).auc == 1.0


def test_one_half_is_a_tie_whatever_the_other_classes_share():
    p = np.array([[0.5, 0.3, 0.2], [0.5, 0.1, 0.4], [0.5, 0.25, 0.25], [0.5, 0.49, 0.01], [0.5, 0.17, 0.33]])
    m = Metrics.of(tally(["a", "b", "a", "c", "b"], np.log(p), ["a", "b", "c"]), ["a", "b", "c"])
    assert m.per_class[0]["auc"] == 0.5


def test_a_row_whose_probability_is_the_threshold_reaches_it():
    p = np.arange(1, 100) / 100
    found = scores(tally(["no", "yes"] * 49 + ["no"], np.log(np.column_stack([1 - p, p])), ["no", "yes"]), "yes")
    for threshold in p:
        assert sum(found.above(threshold)) == (p >= threshold).sum(), threshold


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=30))
def test_keys_are_in_the_order_of_the_log_odds(odds):
    odds = np.sort(odds)
    keys = keys_of(odds).astype(int)
    assert np.all(np.diff(keys) >= 0)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.diff(odds) > np.maximum(2e-9, 1.3e-7 * np.abs(odds[1:]))
        apart |= np.diff(odds) > np.maximum(2e-9, 1.3e-7 * np.abs(odds[:-1]))
    assert np.all(np.diff(keys)[apart & (np.abs(odds[1:]) < 1e38) & (np.abs(odds[:-1]) < 1e38)] > 0)


def test_the_calibration_error_by_hand():
    y, log_p, classes = forecast(3, ties=True)
    bins = [[] for _ in range(15)]
    for true, row in zip(y, np.exp(log_p)):
        bins[min(int(row.max() * 15), 14)].append((row.max(), classes[row.argmax()] == true))
    gaps = [abs(sum(sure for sure, _ in rows) - sum(right for _, right in rows)) for rows in bins]
    m = Metrics.of(tally(y, log_p, classes), classes)
    assert m.ece == pytest.approx(sum(gaps) / len(y), abs=1e-12)
    assert m.ece > 0.01
    assert m.calibration["rows"] == [len(rows) for rows in bins if rows]
    assert m.calibration["accuracy"] == pytest.approx([np.mean([r for _, r in rows]) for rows in bins if rows])
    assert m.calibration["confidence"] == pytest.approx([np.mean([p for p, _ in rows]) for rows in bins if rows])


def test_the_credible_interval_is_the_coins():
    y, log_p, classes = forecast(2)
    m = Metrics.of(tally(y, log_p, classes), classes)
    right = round(m.accuracy * 400)
    assert m.accuracy_interval == Beta(1 + right, 1 + 400 - right).interval(0.95)


@pytest.mark.parametrize(("right", "ends"), [(40, (0.9295, 1)), (0, (0, 0.0705)), (39, (0.8714, 0.9940))])
def test_an_interval_of_a_share_never_leaves_out_what_was_seen(right, ends):
    y = np.repeat([1, 0], [right, 40 - right])
    judged = tally(y, np.log(np.tile([0.1, 0.9], (40, 1))), [0, 1])
    assert Metrics.of(judged, [0, 1]).accuracy_interval == pytest.approx(ends, abs=1e-4)
    audited = Audit(by="g").of_predictions(y, {"g": ["a"] * 40}, predicted=np.ones(40, int))
    rate = audited.rates(("g",), "1")["accuracy"]["a"]
    assert (rate.low, rate.high) == Metrics.of(judged, [0, 1]).accuracy_interval


def test_the_baseline_is_the_class_shares_alone():
    log_p = np.log(np.full((4, 2), 0.5))
    baseline = Metrics.of(tally(["a", "a", "a", "b"], log_p, ["a", "b"]), ["a", "b"]).baseline
    assert baseline.accuracy == 0.75
    assert baseline.log_loss == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))


# The laws


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("k", [2, 5])
def test_batches_add(k, weights):
    y, log_p, classes = forecast(k)
    w = WEIGHTS[weights](np.random.default_rng(1), len(y))
    parts = [slice(0, 1), slice(1, 150), slice(150, 150), slice(150, 400)]
    tallies = [tally(y[at], log_p[at], classes, None if w is None else w[at]) for at in parts]
    whole = tally(y, log_p, classes, w)
    assert same(functools.reduce(operator.add, tallies), whole)
    assert same(whole - tallies[3], tallies[0] + tallies[1])


def test_order_changes_nothing():
    y, log_p, classes = forecast(3)
    shuffled = np.random.default_rng(2).permutation(len(y))
    assert same(tally(y[shuffled], log_p[shuffled], classes), tally(y, log_p, classes))
    turned = tally(y, log_p[:, ::-1], classes[::-1])  # the classes in another order
    assert same(turned, tally(y, log_p, classes))


def test_weight_2_is_counted_twice_and_weight_0_is_no_row():
    y, log_p, classes = forecast(3)
    once = tally(y, log_p, classes)
    assert same(tally(y, log_p, classes, np.full(len(y), 2.0)), once + once)
    assert same(once * 2, once + once)
    none = np.where(y == "c1", 0, 1)
    assert same(tally(y, log_p, classes, none), tally(y[y != "c1"], log_p[y != "c1"], classes))


def test_fading_changes_no_share():
    y, log_p, classes = forecast(3)
    whole, faded = (Metrics.of(t, classes) for t in (tally(y, log_p, classes), tally(y, log_p, classes) * 0.3))
    assert faded.rows == pytest.approx(120)
    for name in ("accuracy", "log_loss", "brier", "ece", "auc"):
        assert getattr(faded, name) == pytest.approx(getattr(whole, name), abs=1e-12)


def test_weights_that_are_fractions_leave_no_row_that_was_never_scored():
    for seed in range(20):
        y, log_p, classes = forecast(2, seed=seed)
        judged = tally(y, log_p, classes, np.random.default_rng(seed).random(len(y)))
        for name in classes:
            of = scores(judged, name)
            assert of.own[0] == of.rest[0] == 0.0
            assert Reliability(name, of).line is not None


def test_many_rows_are_judged_in_blocks(monkeypatch):
    y, log_p, classes = forecast(3)
    whole = tally(y, log_p, classes)
    monkeypatch.setattr(judge, "BLOCK", 7)
    assert tally(y, log_p, classes) == whole


def test_bytes_and_back():
    y, log_p, classes = forecast(3)
    whole = tally(y, log_p, classes)
    assert type(whole).from_bytes(whole.to_bytes()) == whole


def test_targets_of_any_type_are_their_canonical_texts():
    y, log_p, _ = forecast(2)
    flag = y == "c1"
    as_int = tally(flag.astype(int), log_p, [0, 1])
    assert same(as_int, tally(flag.astype(float), log_p, np.array([0.0, 1.0])))
    assert same(as_int, tally(flag.astype(int).astype(str).tolist(), log_p, ["0", "1"]))
    assert Metrics.of(tally(flag, log_p, [False, True]), np.array([False, True])).classes == ("false", "true")


# Folds whose models know different classes


def test_folds_of_models_with_different_classes_add():
    """A model that does not know a class gives it probability 0: scikit-learn is given that column of zeros."""
    y, log_p, classes = forecast(3)
    first = log_p[:200, :2] - np.log(np.exp(log_p[:200, :2]).sum(axis=1, keepdims=True))
    y[:200][y[:200] == "c2"] = "c1"  # so that nothing is impossible
    both = tally(y[:200], first, classes[:2]) + tally(y[200:], log_p[200:], classes)
    p = np.exp(np.vstack([np.column_stack([first, np.full(200, -np.inf)]), log_p[200:]]))
    m = Metrics.of(both, classes)
    assert m.log_loss == pytest.approx(log_loss(y, p, labels=classes), **CLOSE)
    assert m.brier == pytest.approx(brier_score_loss(y, p, labels=classes), **CLOSE)
    assert m.auc == pytest.approx(roc_auc_score(y, p, multi_class="ovr"), abs=1e-6)
    alone = both - tally(y[200:], log_p[200:], classes)  # what is left knows nothing of c2
    assert Metrics.of(alone, classes).accuracy == Metrics.of(tally(y[:200], first, classes[:2]), classes[:2]).accuracy


def test_a_class_that_no_model_knew_ranks_no_row_above_another():
    p, thirds = np.log([[0.6, 0.4], [0.3, 0.7]]), np.log(np.full((1, 3), 1 / 3))
    known = tally(["c"], thirds, ["a", "b", "c"])
    left = tally(["a", "c"], p, ["a", "b"]) + known - known  # nobody was scored for c any more
    assert Metrics.of(left, ["a", "b", "c"]).per_class[2]["auc"] == 0.5


def test_not_scored_and_scored_0_is_a_tie():
    with np.errstate(divide="ignore"):
        zero = np.log([[0.5, 0.5, 0.0]])
    both = tally(["c"], zero[:, :2], ["a", "b"]) + tally(["a"], zero, ["a", "b", "c"])
    assert Metrics.of(both, ["a", "b", "c"]).per_class[2]["auc"] == 0.5


def test_a_probability_a_rounding_above_1_is_1():
    m = Metrics.of(tally(["a"], [[1e-6, -20.0]], ["a", "b"]), ["a", "b"])
    assert (m.log_loss, m.ece) == (0.0, 0.0)


def test_a_class_the_model_never_saw():
    log_p = np.log([[0.9, 0.1], [0.2, 0.8], [0.75, 0.25]])
    m = Metrics.of(tally(["a", "b", "new"], log_p, ["a", "b"]), ["a", "b"])
    assert (m.unknown, m.impossible, m.log_loss) == (1, 0, np.inf)
    assert m.log_loss_possible == pytest.approx(-np.log(0.9 * 0.8) / 2)
    assert m.accuracy == 2 / 3
    assert m.brier == pytest.approx(((0.1**2 + 0.2**2) * 2 + 0.75**2 + 0.25**2 + 1) / 3 / 2)
    assert m.per_class[2] == dict(zip(m.per_class.names, ("new", 1, None, 0.0, 0.0, None)))
    assert m.confusion[2] == {"true ↓ predicted →": "new", "a": 1, "b": 0}
    assert "1 row of classes the model never saw: probability 0." in repr(m)
    assert f"without them it is {m.log_loss_possible:.4f}" in repr(m)


def test_a_known_class_of_probability_0():
    with np.errstate(divide="ignore"):
        log_p = np.log([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    m = Metrics.of(tally(["a", "b", "b"], log_p, ["a", "b"]), ["a", "b"])
    assert (m.unknown, m.impossible, m.log_loss, m.log_loss_possible) == (0, 1, np.inf, 0.0)
    assert m.auc == 0.75
    assert "1 row of classes it knew were given probability 0." in repr(m)
    good = tally(["a", "b"], log_p[:2], ["a", "b"])
    worse = good + tally(["b"], log_p[2:], ["a", "b"])
    assert same(worse - tally(["b"], log_p[2:], ["a", "b"]), good)
    assert Metrics.of(good, ["a", "b"]).log_loss == 0.0


def test_what_cannot_be_said_is_none():
    log_p = np.log([[0.6, 0.4], [0.7, 0.3]])
    m = Metrics.of(tally(["a", "a"], log_p, ["a", "b"]), ["a", "b"])
    assert m.auc is None
    assert m.per_class[1] == dict(zip(m.per_class.names, ("b", 0, None, None, None, None)))
    assert "none: all rows are of one class" in repr(m)


def test_many_classes_have_no_auc():
    y, log_p, classes = forecast(33)
    m = Metrics.of(tally(y, log_p, classes), classes)
    assert m.auc is None
    assert "none for more than 32 classes" in repr(m)
    assert m.accuracy == pytest.approx(np.mean(np.array(classes)[log_p.argmax(axis=1)] == y))
    y, log_p, classes = forecast(32)
    assert Metrics.of(tally(y, log_p, classes), classes).auc > 0.5


# The page, and JSON


@pytest.mark.parametrize("k", [2, 5, 12, 33])
@pytest.mark.parametrize("name", ["c", "a class whose name is much longer than any table has room for "])
def test_the_page_fits_80_columns(k, name):
    y, log_p, classes = forecast(k)
    named = [name + c for c in classes]
    true = [*(name + c for c in y), name + "never seen"]
    m = Metrics.of(tally(true, log_p[[*range(len(y)), 0]], named, 12345.678), named)
    page = repr(m).splitlines()
    assert max(map(len, page)) <= 80
    assert len(page) < 45
    assert any(line.split()[:2] == ["accuracy", f"{m.accuracy:.4f}"] for line in page)


def test_a_page():
    log_p = np.log([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]])
    m = Metrics.of(tally(["dry", "dry", "wet", "wet"], log_p, ["dry", "wet"]), ["dry", "wet"])
    assert repr(m).splitlines() == [
        "4 rows, 2 classes",
        "           model  class shares",
        "accuracy  0.7500        0.5000  95 % credible: 0.2836 to 0.9473",
        "log loss  0.5108        0.6931  nats a row",
        "brier     0.1750                squared error of the probabilities",
        "ece       0.3500                |confidence - accuracy|; 0.3500 by chance",
        "auc       0.7500                of wet",
        "",
        "class  rows  precision  recall      f1     auc",
        "dry       2     0.6667  1.0000  0.8000  0.7500",
        "wet       2     1.0000  0.5000  0.6667  0.7500",
        "",
        "true ↓ predicted →  dry  wet",
        "dry                   2    0",
        "wet                   1    1",
        "",
        "How honest is p(wet)? ○ said, ● seen, 95 % confidence",
        "  said    seen     low    high  rows  0               ½               1",
        "0.1000  0.0000  0.0000  0.9750     1  ●──○────────────────────────────",
        "0.3000  1.0000  0.0250  1.0000     1   ─────────○─────────────────────●",
        "0.4000  0.0000  0.0000  0.9750     1  ●────────────○──────────────────",
        "0.8000  1.0000  0.0250  1.0000     1   ─────────────────────────○─────●",
        "",
        "reliability  0.1750  of the brier score: what honesty would save",
        "resolution   0.2500  what telling rows apart has saved",
        "uncertainty  0.2500  what the class shares alone would cost",
        "excess ece   0.0000  0.3500 in these bins, 0.3500 by chance",
        "slope        1.4302  95 %: -1.5180 to 4.3784; 1 if honest, below if too sure",
        "intercept    0.8278  95 %: -2.3238 to 3.9795; 0 if honest",
    ]


def test_a_model_worse_than_the_class_shares_is_told_what_helps():
    log_p = np.log([[0.999, 0.001], [0.999, 0.001], [0.001, 0.999], [0.999, 0.001]])
    tempered = np.log([[0.8, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.2]])
    pages = [
        repr(Metrics.of(tally(["dry", "dry", "wet", "wet"], p, ["dry", "wet"]), ["dry", "wet"]))
        for p in (log_p, tempered)
    ]
    assert ["temper=True" in page for page in pages] == [True, False]
    assert max(map(len, pages[0].splitlines())) <= 80


def test_as_json():
    y, log_p, classes = forecast(3)
    m = Metrics.of(tally(y, log_p, classes), classes)
    data = json.loads(json.dumps(m.to_dict()))
    assert data["accuracy"] == m.accuracy
    assert data["accuracy_interval"] == list(m.accuracy_interval)
    assert data["baseline"] == {"accuracy": m.baseline.accuracy, "log_loss": m.baseline.log_loss}
    assert data["confusion"]["c0"]["c1"] == m.confusion[0]["c1"]
    assert [row["class"] for row in data["per_class"]] == data["classes"] == classes
    assert sum(row["rows"] for row in data["calibration"]) == data["rows"] == 400
    assert [name for name, value in data.items() if value == m.slope] == ["slope"]  # under one name


# What is refused


HALVES = np.log(np.full((2, 2), 0.5))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], HALVES, ["a", "b"]), "1 target values for 2 rows"),
        ((["a", None], HALVES, ["a", "b"]), "target is missing in row 1"),
        ((["a", "b"], HALVES, ["a", "b", "c"]), r"shape \(2, 2\): expected rows, and 3 columns for the classes"),
        ((["a", "b"], HALVES[0], ["a", "b"]), r"shape \(2,\)"),
        ((["a", "b"], HALVES, ["a", "a"]), "expected each class once, and at least one"),
        ((["a", "b"], HALVES[:, :0], []), "expected each class once, and at least one"),
        ((["a", "b"], np.exp(HALVES), ["a", "b"]), "probabilities of row 0 add up to 3.29744, expected 1"),
        ((["a", "b"], HALVES + 1000, ["a", "b"]), "probabilities of row 0 add up to inf, expected 1"),
        ((["a", "b"], [[-0.1, np.nan], [0, -np.inf]], ["a", "b"]), "probabilities of row 0 add up to nan"),
        ((["a", "b"], HALVES, ["a", "b"], [1, -1]), "the weight of row 1 is -1"),
    ],
)
def test_bad_predictions_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        tally(*arguments)


def test_the_row_of_a_bad_prediction_is_its_number_in_all(monkeypatch):
    monkeypatch.setattr(judge, "BLOCK", 2)
    log_p = np.vstack([HALVES, HALVES, [[0.0, 0.0]]])
    with pytest.raises(DataError, match="row 4 add up to 2"):
        tally(list("ababa"), log_p, ["a", "b"])


def test_no_rows_have_no_metrics():
    nothing = tally([], np.empty((0, 2)), ["a", "b"])
    some = tally(["a", "b"], HALVES, ["a", "b"])
    assert nothing + some == some
    for empty in (nothing, some - some, tally(["a", "b"], HALVES, ["a", "b"], 0), type(some).nothing()):
        with pytest.raises(DataError, match="there are no predictions to judge"):
            Metrics.of(empty, ["a", "b"])


def test_a_predicted_class_must_be_among_the_classes():
    with pytest.raises(DataError, match="class 'a' was predicted, but is not among the classes"):
        Metrics.of(tally(["a", "b"], HALVES, ["a", "b"]), ["b", "c"])


def test_the_tally_of_a_model_is_none_of_predictions():
    from evenodds import NaiveBayes

    model = NaiveBayes().fit([{"x": "u"}, {"x": "v"}], ["a", "b"]).model_
    with pytest.raises(DataError, match="there are no predictions to judge"):
        Metrics.of(model.tally, ["a", "b"])
    with pytest.raises(ValueError, match="of different kinds"):
        model.tally + tally(["a", "b"], HALVES, ["a", "b"])
