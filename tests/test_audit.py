"""Audits by groups: the published numbers, scikit-learn's numbers, and the laws of a tally."""

import gc
import itertools
import json
import pickle
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import evenodds as eo
from evenodds import plots
from evenodds.audit import stand_ins
from evenodds.audit.delong import auc
from evenodds.audit.gaps import criterion, exceeds, gap, interval
from evenodds.audit.groups import BITS
from evenodds.audit.held_out import of_folds, of_model, of_rows
from evenodds.audit.label_shift import label_shift
from evenodds.audit.ranked import keys_of, odds_of
from evenodds.audit.rates import Rate, confusion, rates
from evenodds.data.files import read
from evenodds.data.titanic import titanic

# ProPublica's two-year COMPAS rows by race, what came true, and whether the decile was 5 or more (Broward County)
COMPAS = [
    ("African-American", 0, 0, 990), ("African-American", 0, 1, 805),
    ("African-American", 1, 0, 532), ("African-American", 1, 1, 1369),
    ("Asian", 0, 0, 21), ("Asian", 0, 1, 2), ("Asian", 1, 0, 3), ("Asian", 1, 1, 6),
    ("Caucasian", 0, 0, 1139), ("Caucasian", 0, 1, 349), ("Caucasian", 1, 0, 461), ("Caucasian", 1, 1, 505),
    ("Hispanic", 0, 0, 318), ("Hispanic", 0, 1, 87), ("Hispanic", 1, 0, 129), ("Hispanic", 1, 1, 103),
    ("Native American", 0, 0, 5), ("Native American", 0, 1, 3),
    ("Native American", 1, 0, 1), ("Native American", 1, 1, 9),
    ("Other", 0, 0, 208), ("Other", 0, 1, 36), ("Other", 1, 0, 90), ("Other", 1, 1, 43),
]  # fmt: skip
RACE = ("race",)
BETAS = [((806, 991), (350, 1140)), ((2, 1), (1, 2)), ((0.3, 4), (0.2, 9)), ((5e5, 5e5), (4e5, 6e5)),
         ((5e5, 5e5), (8, 12)), ((8, 12), (4e5, 6e5)), ((100, 100), (1, 200)), ((1, 200), (100, 100))]  # fmt: skip


def compas():
    return pd.DataFrame(COMPAS, columns=["race", "recid", "high", "count"])


def people(n=3000, seed=0, k=2):
    """Rows with groups, classes and probabilities that know something of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    score = rng.normal(size=(n, k)) + 1.5 * np.eye(k)[y]
    p = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    groups = {"sex": rng.choice(["f", "m"], n), "race": rng.choice(["a", "b", "c"], n, p=[0.7, 0.25, 0.05])}
    return y, p, groups


# The published numbers


def test_compas_has_the_published_rates():
    found = eo.Audit(by=["race"]).of_columns(compas(), "recid", predicted="high", sample_weight="count")
    rate = found.rates(RACE, "1")
    black, white = rate["FPR"]["African-American"], rate["FPR"]["Caucasian"]
    assert (black.k, black.n, white.k, white.n) == (805, 1795, 349, 1488)
    assert [round(r.rate, 4) for r in (black, white)] == [0.4485, 0.2345]
    assert [round(rate["FNR"][g].rate, 4) for g in ("African-American", "Caucasian")] == [0.2799, 0.4772]
    asian, native = rate["FPR"]["Asian"], rate["FPR"]["Native American"]
    assert (asian.k, asian.n, native.k, native.n) == (2, 23, 3, 8)
    assert asian.small
    assert native.small
    assert native.high - native.low > 0.5
    low, high = native.interval(0.95)
    assert high - low < native.high - native.low  # the others tell something of them
    assert found.gap("FPR", "African-American", "Caucasian").sure > 0.999
    assert "cannot all hold" in repr(found)


# Buolamwini and Gebru 2018: faces by skin and sex, and of which share each product takes the sex for the other
FACES = {("darker", "female"): 271, ("darker", "male"): 318, ("lighter", "female"): 296, ("lighter", "male"): 385}
WRONG = {"Microsoft": (20.8, 6.0, 1.7, 0.0), "Face++": (34.5, 0.7, 6.0, 0.8), "IBM": (34.7, 12.0, 7.1, 0.3)}


@pytest.mark.parametrize(("product", "best"), [("Microsoft", "lighter & male"), ("Face++", "darker & male"),
                                               ("IBM", "lighter & male")])  # fmt: skip
def test_gender_shades(product, best):
    rows = []
    for ((tone, sex), n), percent in zip(FACES.items(), WRONG[product]):
        wrong = round(n * percent / 100)
        rows += [(tone, sex, sex, n - wrong), (tone, sex, "male" if sex == "female" else "female", wrong)]
    table = pd.DataFrame(rows, columns=["tone", "sex", "said", "count"])
    found = eo.Audit(by=["tone", "sex"]).of_columns(table, "sex", predicted="said", sample_weight="count")
    worst = found.worst(("tone", "sex"), found.positive[0], "accuracy")
    assert (worst.high, worst.low) == (best, "darker & female")
    assert worst.gap == pytest.approx((WRONG[product][0] - min(WRONG[product])) / 100, abs=0.006)
    assert worst.sure > 0.999
    right = found.rates(("tone", "sex"), "male")["accuracy"]
    for (tone, sex), percent in zip(FACES, WRONG[product]):
        assert right[f"{tone} & {sex}"].rate == pytest.approx(1 - percent / 100, abs=0.002)


def test_waterbirds():
    counts = {("land", 0): 3498, ("water", 0): 184, ("land", 1): 56, ("water", 1): 1057}  # Sagawa et al. 2020, train
    table = [
        {"background": where, "bird": bird, "said": int(where == "water"), "count": n}
        for (where, bird), n in counts.items()
    ]
    found = eo.Audit(by="background").of_columns(table, "bird", predicted="said", sample_weight="count")
    rate = found.rates(("background",), "1")
    assert rate["accuracy"]["land"].k == 3498
    assert rate["TPR"]["land"].rate == 0.0
    assert rate["FPR"]["water"].rate == 1.0
    assert found.rates((), "1")["accuracy"]["everyone"].rate == pytest.approx((3498 + 1057) / 4795)


# What scikit-learn says


@pytest.mark.parametrize("weighted", [False, True])
def test_it_says_what_scikit_learn_says(weighted):
    y, p, groups = people()
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    p = np.round(p, 2)  # scores with ties, each in a bin of its own
    p[:, 0] = 1 - p[:, 1]
    p = np.clip(p, 0.01, 0.99)
    said = (p[:, 1] >= 0.3).astype(int)
    found = eo.Audit(by=["sex", "race"], threshold=0.3).of_predictions(
        y, groups, scores=p[:, 1], sample_weight=w if weighted else None
    )
    for by in found.subsets:
        rate, losses, aucs = found.rates(by, "1"), found.losses(by), found.aucs(by, "1")
        names, _ = found.groups(by)
        for name in names:
            mine = np.all([groups[c] == v for c, v in zip(by, name.split(" & "))], axis=0)
            args = {"sample_weight": w[mine]}
            t, s, q = y[mine], said[mine], p[mine, 1]
            assert rate["accuracy"][name].rate == pytest.approx(sk.accuracy_score(t, s, **args))
            assert rate["TPR"][name].rate == pytest.approx(sk.recall_score(t, s, **args))
            assert rate["PPV"][name].rate == pytest.approx(sk.precision_score(t, s, **args))
            tn, fp, fn, tp = sk.confusion_matrix(t, s, **args).ravel()
            assert rate["FPR"][name].rate == pytest.approx(fp / (fp + tn))
            assert rate["FNR"][name].rate == pytest.approx(fn / (fn + tp))
            assert losses[name].mean == pytest.approx(sk.log_loss(t, q, **args))
            assert aucs[name].auc == pytest.approx(sk.roc_auc_score(t, q, **args), abs=1e-9)
            assert found.mean_p(by, "1")[name] == pytest.approx(np.average(q, weights=w[mine]))


def test_the_auc_of_continuous_scores_is_right_to_a_hundred_thousandth():
    y, p, groups = people(20_000)
    found = eo.Audit(by="sex").of_predictions(y, groups["sex"], proba=p, classes=[0, 1])
    for sex, got in found.aucs(("sex",), "1").items():
        mine = groups["sex"] == sex
        assert got.auc == pytest.approx(sk.roc_auc_score(y[mine], p[mine, 1]), abs=1e-5)


def test_many_classes_each_against_the_rest():
    y, p, groups = people(k=4)
    found = eo.Audit(by="race").of_predictions(y, groups["race"], proba=p, classes=range(4))
    said = p.argmax(axis=1)
    assert found.positive == ("0", "1", "2", "3")
    for c in range(4):
        rate = found.rates(RACE, str(c))
        for race in "abc":
            mine = groups["race"] == race
            t, s = y[mine] == c, said[mine] == c
            assert rate["TPR"][race].rate == pytest.approx(sk.recall_score(t, s))
            assert rate["PPV"][race].rate == pytest.approx(sk.precision_score(t, s))
            assert rate["accuracy"][race].rate == pytest.approx(np.mean(y[mine] == said[mine]))
            odds = np.log(p[mine, c]) - np.log1p(-p[mine, c])
            rounded = odds_of(keys_of(odds, BITS))  # to a part in 256: what is nearer is a tie
            assert np.allclose(rounded, odds, rtol=2**-8)
            assert found.aucs(RACE, str(c))[race].auc == pytest.approx(sk.roc_auc_score(t, rounded))
    honest = json.loads(json.dumps(found.to_dict()))["calibration"]
    assert list(honest) == ["everyone", "race"]
    assert list(honest["everyone"]) == list(honest["race"]) == ["0", "1", "2", "3"]
    assert honest["race"]["0"]["b"]["ece"] == found.reliability("race", 0)["b"].ece


# Whatever people have


def test_models_estimators_arrays_tables_and_files_agree(tmp_path):
    y, p, groups = people(400)
    frame = pd.DataFrame({"x": p[:, 1] + np.random.default_rng(3).normal(0, 0.3, 400), **groups, "y": y})
    model = LogisticRegression().fit(frame[["x"]], y)
    audit = eo.Audit(by=["sex", "race"])
    one = audit.of(model, frame, "y")
    frame["score"] = model.predict_proba(frame[["x"]])[:, 1]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    two = audit.of_predictions(y, frame[["sex", "race"]], scores=frame["score"])
    for data in (
        frame,
        pl.from_pandas(frame),
        pa.table(dict(frame)),
        tmp_path / "rows.csv",
        str(tmp_path / "rows.csv"),
    ):
        three = audit.of_columns(data, "y", score="score")
        assert three.rates(RACE, "1") == one.rates(RACE, "1") == two.rates(RACE, "1")
        assert three.aucs(RACE, "1")["a"].auc == pytest.approx(one.aucs(RACE, "1")["a"].auc)
    labels = audit.of(RidgeClassifier().fit(frame[["x"]], y), frame, "y")
    assert not labels.scored
    assert labels.aucs(RACE, "1") == {}
    ours = eo.NaiveBayes().fit(frame[["x", "sex", "y"]], "y")
    from_file, from_table = audit.of(ours, str(tmp_path / "rows.csv")), audit.of(ours, frame)
    assert from_file.tally == from_table.tally
    outside = audit.of(ours, frame[["x", "sex"]], y, groups=frame[["sex", "race"]])
    assert outside.rates(RACE, "1") == from_table.rates(RACE, "1")


@pytest.mark.parametrize("positive", [0, 1])
def test_a_column_of_scores_is_of_the_class_that_is_meant(positive):
    y, p, groups = people(400)
    audit = eo.Audit(by="sex", positive=positive, threshold=0.3)
    column = audit.of_columns({**groups, "y": y, "p": p[:, positive]}, "y", score="p")
    assert column.tally == audit.of_predictions(y, groups["sex"], scores=p[:, positive]).tally
    both = audit.of_predictions(y, groups["sex"], proba=p, classes=[0, 1])
    assert column.rates("sex") == both.rates("sex")
    assert column.aucs("sex")["f"].auc == pytest.approx(both.aucs("sex")["f"].auc)


@pytest.mark.parametrize("positive", [None, 0])
def test_a_score_that_is_the_threshold_reaches_it(positive):
    """exp(log 0.35) is below 0.35: what was given is compared, not what became of it."""
    rows = {"g": ["a", "b"] * 2, "y": [0, 1, 1, 0]}
    for p in np.arange(1, 100) / 100:
        how = eo.Audit(by="g", threshold=float(p), positive=positive)
        for found in (
            how.of_predictions(rows["y"], rows["g"], [p] * 4),
            how.of_columns({**rows, "p": [p] * 4}, "y", "p"),
        ):
            assert found.rates(())["selection rate"]["everyone"].rate == 1, p


def test_a_rule_decides_what_is_said():
    y, p, groups = people(600)
    p[:, 1] = 1 - p[:, 0]
    rule = eo.LeastCost.of({(0, 1): 3}, [0, 1], unsure=0.4)
    said = rule.apply(p)
    assert set(said) == {0, 1, "unsure"}
    again = eo.Decision.from_dict(json.loads(json.dumps(rule.to_dict())))
    rows = {**groups, "y": y, "p": p[:, 1]}
    for threshold in (rule, again):
        audit = eo.Audit(by="sex", threshold=threshold)
        for found in (
            audit.of_columns(rows, "y", score="p"),
            audit.of_predictions(y, groups["sex"], proba=p, classes=[0, 1]),
        ):
            for sex in "fm":
                mine = groups["sex"] == sex
                assert found.rates("sex")["selection rate"][sex].k == np.sum(said[mine] == 1)
                assert found.rates("sex")["accuracy"][sex].k == np.sum(said[mine] == y[mine])
    other = eo.Audit(by="sex", threshold=eo.LeastCost.of({}, ["no", "yes"]))
    with pytest.raises(eo.DataError, match="the rule is for the classes 'no', 'yes', the model's are '0', '1'"):
        other.of_columns(rows, "y", score="p")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threshold", float("nan")), ("threshold", "0.5"), ("threshold", True), ("threshold", 1.5),
        ("margin", "5 %"), ("margin", None), ("small", "few"), ("small", float("nan")),
    ],
)  # fmt: skip
def test_settings_that_mean_nothing_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}: expected"):
        eo.Audit(by="sex", **{name: value})


def test_weights_and_groups_are_columns_or_arrays_for_every_model():
    y, p, groups = people(400)
    frame = pd.DataFrame({"x": p[:, 1], "sex": groups["sex"], "y": y, "w": np.arange(400) % 3})
    audit = eo.Audit(by="sex")
    ours = eo.NaiveBayes().fit(frame[["x", "y"]], "y")
    for model in (ours, ours.model_, LogisticRegression().fit(frame[["x"]], y)):
        told = audit.of(model, frame, "y", sample_weight="w")
        for weights in (frame["w"], frame["w"].to_numpy()):
            assert audit.of(model, frame, "y", sample_weight=weights).rates("sex") == told.rates("sex")
        assert told.rates("sex")["base rate"]["f"].n == frame["w"][frame["sex"] == "f"].sum()
        twice, once = audit.of(model, frame, "y", sample_weight=2), audit.of(model, frame, "y")
        assert twice.rates("sex")["TPR"]["f"][:2] == tuple(2 * k for k in once.rates("sex")["TPR"]["f"][:2])
        outside = audit.of(model, frame[["x"]], y, groups=frame["sex"])
        assert outside.rates("sex") == once.rates("sex")
        with pytest.raises(eo.DataError, match="'v' not found"):
            audit.of(model, frame, "y", sample_weight="v")
        with pytest.raises(eo.DataError, match="2 weights for 400 rows"):
            audit.of(model, frame, "y", sample_weight=[1, 2])


def test_folds_are_audited_too(tmp_path):
    y, p, groups = people(300)
    frame = pd.DataFrame({"x": p[:, 1], **groups, "y": y})
    held = of_folds(read(frame), "y", 5, by=("sex",))
    found = eo.Audit(by="sex").of_held_out(held)
    assert sum(r.n for r in found.rates(("sex",), "1")["accuracy"].values()) == 300


def test_rows_held_out_are_files_or_tables_and_their_groups_are_told_as_the_audits_are(tmp_path):
    titanic().to_pandas().to_csv(tmp_path / "people.csv", index=False)
    path, model = str(tmp_path / "people.csv"), eo.NaiveBayes().fit(titanic(), "survived").model_
    for held in (
        lambda rows: of_folds(rows, "survived", 3),
        lambda rows: of_model(model, rows),
        lambda rows: of_rows(model, rows),
    ):
        accuracies = {held(rows).metrics().accuracy for rows in (path, titanic(), titanic().to_pandas(), read(path))}
        assert len(accuracies) == 1
    assert label_shift(model, path, path).to_dict() == label_shift(model, titanic(), titanic()).to_dict()
    assert repr(stand_ins.of_model(model, path, "age")) == repr(stand_ins.of_model(model, titanic(), "age"))
    for by in ("sex", ["sex"], ("sex",)):
        found = eo.Audit(by="sex").of_held_out(of_folds(path, "survived", 3, by=by))
        assert found.rates("sex")["accuracy"]["male"].n == 1731


def test_folds_that_lack_a_class_gave_it_probability_0():
    """The only row of a class: the model of the other folds does not know it, and is asked about its own fold only."""
    n = 60
    rows = pd.DataFrame({"x": [*"ab" * (n // 2), "a"], "g": ["s", "s", "t"] * 20 + ["s"], "y": [*"uv" * (n // 2), "w"]})
    held = of_folds(read(rows), "y", 5, by=("g",))
    p, y, g = np.zeros((0, 3)), [], []
    for part in held:
        p = np.vstack([p, part.proba(held.classes.tolist())])
        y += [part.truth.labels.text(i) for i in part.truth.places]
        g += [part.by.labels.text(i) for i in part.by.places]
    assert (p[:, 2] == 0).any()
    found = eo.Audit(by="g").of_held_out(held)
    for c, name in enumerate("uvw"):
        for group in "st":
            mine = np.array(g) == group
            assert found.mean_p("g", name)[group] == pytest.approx(p[mine, c].mean())
            of, true = found._scores(("g",), name)[group], np.array(y)[mine] == name
            assert (of.own.sum(), of.rest.sum()) == (true.sum(), (~true).sum())
            if true.any():
                assert found.aucs("g", name)[group].auc == pytest.approx(sk.roc_auc_score(true, p[mine, c]), abs=1e-2)


# Laws


@given(st.lists(st.integers(0, 299), max_size=4), st.booleans())
def test_batches_add(cuts, scores):
    y, p, groups = people(300)
    audit = eo.Audit(by=["sex", "race"])

    def of(rows):
        given = {"scores": p[rows, 1]} if scores else {"predicted": p[rows, 1] > 0.4}
        known = {c: g[rows] for c, g in groups.items()}
        return audit.of_predictions(y[rows] > 0, known, classes=[False, True], **given)

    whole, ends = of(slice(None)), [0, *sorted({*cuts} - {0}), 300]
    both = sum(of(slice(a, b)) for a, b in itertools.pairwise(ends))
    assert both.rates(RACE, "true") == whole.rates(RACE, "true")
    if scores:
        assert both.aucs(RACE, "true") == whole.aucs(RACE, "true")


def test_threads_change_nothing():
    y, p, groups = people(300_000)
    one, two = (eo.Audit(by="sex").of_predictions(y, groups["sex"], scores=p[:, 1], threads=t) for t in (1, 3))
    assert np.array_equal(one.tally.sums, two.tally.sums)
    assert one.tally == two.tally


# Groups that are hard


def test_groups_of_no_rows_of_one_and_all_positive():
    frame = {"g": ["a"] * 50 + ["one"] + ["all"] * 40, "y": [0, 1] * 25 + [1] + [1] * 40}
    found = eo.Audit(by={"g": ["a", "all", "none", "one"]}).of_predictions(
        frame["y"], frame["g"], scores=np.linspace(0.1, 0.9, 91)
    )
    rate = found.rates(("g",), "1")
    none, one = rate["TPR"]["none"], rate["TPR"]["one"]
    assert (none.n, none.rate, none.small) == (0, None, True)
    assert (none.low, none.high) == pytest.approx((0.025, 0.975))
    assert (one.k, one.n) == (1, 1)
    assert (one.low, one.high) == pytest.approx((0.05**0.5, 1.0))  # θ² is 5 % below it
    assert rate["FPR"]["all"].n == 0
    assert rate["FPR"]["all"].rate is None
    assert found.aucs(("g",), "1")["all"] is None
    assert found.losses(("g",))["one"].interval is None
    assert "none" in repr(found)
    json.dumps(found.to_dict())


def test_rows_that_are_all_of_one_class_are_audited_once_both_are_named():
    y, g, p = [1] * 4, ["a", "a", "b", "b"], np.array([0.2, 0.9, 0.4, 0.8])
    both = np.column_stack([1 - p, p])
    audit = eo.Audit(by="g")
    with pytest.raises(eo.DataError, match="scores= is of two classes, y has 1: name both in classes="):
        audit.of_predictions(y, g, scores=p)
    with pytest.raises(eo.DataError, match=r"and 1 columns for the classes of y; if there are others, name all"):
        audit.of_predictions(y, g, proba=both)
    with pytest.raises(eo.DataError, match="no rows with a class"):
        audit.of_predictions([], [], scores=[])
    found = audit.of_predictions(y, g, scores=p, classes=[0, 1])
    assert repr(found) == repr(audit.of_predictions(y, g, proba=both, classes=[0, 1]))
    assert [(r.k, r.n) for r in found.rates(("g",), "1")["TPR"].values()] == [(1, 2), (1, 2)]


def test_missing_groups_are_a_group_of_their_own(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("g,y,s\na,1,.9\n,0,.2\nb,0,.1\n,1,.8\n")
    found = eo.Audit(by="g").of_columns(path, "y", score="s")
    assert {g: r.n for g, r in found.rates(("g",), "1")["base rate"].items()} == {"(missing)": 2, "a": 1, "b": 1}
    frame = pd.DataFrame({"g": ["a", None, "b", np.nan], "y": [1, 0, 0, 1], "s": [0.9, 0.2, 0.1, 0.8]})
    assert eo.Audit(by="g").of_columns(frame, "y", score="s").tally == found.tally


def test_a_text_is_one_column_and_a_number_a_class():
    y, p, groups = people(300)
    found = eo.Audit(by=["sex", "race"]).of_predictions(y, groups, scores=p[:, 1])
    for ask in (found.rates, found.aucs, found.mean_p, found.criteria):
        assert ask("sex", 1) == ask(["sex"], "1") == ask(("sex",)) == ask()
    assert repr(found.table("sex", 1)) == repr(found.table(("sex",), "1")) == repr(found.table())
    assert set(found.reliability("race")) == set(found.losses("race")) == set(found.groups("race")[0]) == set("abc")
    assert found.worst("sex", 1, "TPR") == found.worst(None, None, "TPR")
    assert found.gap("TPR", "f", "m", by="sex", positive=0) != found.gap("TPR", "f", "m")
    assert plots.groups(found, "TPR", by="sex", positive=1) == plots.groups(found, "TPR", ("sex",))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda found: found.gap("TPRR", "x", "y"), "measure 'TPRR' not found; did you mean 'TPR'"),
        (lambda found: found.worst("g", "a", "tpr"), "measure 'tpr' not found; did you mean 'TPR'"),
        (lambda found: plots.groups(found, "tpr"), "measure 'tpr' not found; did you mean 'TPR'"),
        (lambda found: found.gap("TPR", "xx", "y"), "group 'xx' not found"),
        (lambda found: found.rates("gg"), "column 'gg' not found"),
        (lambda found: found.table("g", "c"), "class 'c' not found; the classes are 'a', 'b'"),
    ],
)
def test_what_is_not_there_is_told_its_neighbour(ask, said):
    found = eo.Audit(by="g").of_predictions(["a", "b"] * 4, ["x", "x", "y", "y"] * 2, predicted=["a", "b"] * 4)
    with pytest.raises(eo.DataError, match=said):
        ask(found)


def test_audits_that_nobody_holds_are_freed():
    y, p, groups = people(60)

    def audited():
        found = eo.Audit(by="sex").of_predictions(y, groups["sex"], scores=p[:, 1])
        found.to_dict()
        return weakref.ref(found)

    left = audited()
    gc.collect()
    assert left() is None


def test_an_audit_that_was_read_can_still_be_pickled():
    y, p, groups = people(200)
    found = eo.Audit(by="sex").of_predictions(y, groups["sex"], scores=p[:, 1])
    said = found.to_dict()
    assert pickle.loads(pickle.dumps(found)).to_dict() == said


def test_a_regression_audits_a_table_and_says_so_of_files(tmp_path):
    glm = eo.GLM(eo.Bernoulli).fit(titanic(), "survived")
    assert eo.Audit(by="sex").of(glm, titanic(), "survived").gap("TPR", "female", "male").gap > 0.5
    with pytest.raises(eo.DataError, match="files can be audited by naive Bayes and the bridge"):
        eo.Audit(by="sex").of(glm, str(tmp_path / "people.csv"), "survived")


def test_a_regression_with_an_offset_is_audited_with_it():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.normal(size=90), "known": rng.normal(size=90), "g": np.tile(["a", "b", "c"], 30)})
    rows["y"] = (rng.random(90) < 1 / (1 + np.exp(-rows["x"] - rows["known"]))).astype(int)
    glm = eo.GLM(eo.Bernoulli).fit(rows[["x", "known", "y"]], "y", offset="known")
    audit = eo.Audit(by="g")
    told = audit.of_predictions(rows["y"], rows["g"], proba=glm.predict_proba(rows), classes=[0, 1])
    for table in (rows, pa.Table.from_pandas(rows), rows.to_dict("list")):
        assert audit.of(glm, table, "y").rates() == told.rates()


@pytest.mark.parametrize("model", [eo.NaiveBayes(), eo.NaiveBayes(temper=True), eo.NaiveLogistic(scale=1, strength=1)])
def test_the_column_of_the_classes_may_be_called_otherwise_than_at_fit(model, tmp_path):
    people = titanic().to_pandas()
    fitted = model.fit(people[["class", "sex", "age"]], people["survived"].to_numpy())  # whose target has no name
    people.to_csv(path := tmp_path / "people.csv", index=False)
    audit = eo.Audit(by="sex")
    told = audit.of(fitted, people, people["survived"]).rates()
    for rows in (people, str(path)):
        assert audit.of(fitted, rows, "survived").rates() == told
        with pytest.raises(eo.DataError, match="did you mean 'survived'"):
            audit.of(fitted, rows, "survivd")
        with pytest.raises(eo.DataError, match="y='class': the model reads this column"):
            audit.of(fitted, rows, "class")


@pytest.mark.parametrize("score", [1.5, -0.1, np.inf, np.nan])
def test_scores_that_are_no_probabilities_are_refused(score):
    with pytest.raises(eo.DataError, match=r"row 1, scores: .*(is no probability|there is no score)"):
        eo.Audit(by="g").of_predictions([0, 1], ["a", "b"], scores=[0.5, score])


def test_a_row_that_is_refused_can_be_found_again(tmp_path, monkeypatch):
    """By its file and line; in an array by its number among all rows, also where they are judged in parts."""
    how, lines = eo.Audit(by="g"), ["g,y,p,said", "a,1,0.5,1", "a,,0.5,0", "b,0,{},{}", "b,1,0.5,1"]
    path = tmp_path / "scored.csv"
    for p, said, match in (
        ("3", "0", r"'p': 3 is no probability"),
        ("", "0", r"'p': there is no"),
        ("0.5", "", "'said': nothing"),
    ):
        path.write_text("\n".join(lines).format(p, said))
        with pytest.raises(eo.DataError, match=rf"scored.csv, line 4, column {match}"):
            how.of_columns(path, "y", score="p", predicted="said")
    monkeypatch.setattr("evenodds.audit.groups.ROWS", 2)
    y, g, half = np.array([0, 1, 0, 1], object), list("abab"), np.full(4, 0.5)
    bad = np.where(np.arange(4) == 3, None, y)
    for said, match in (
        ({"scores": half, "y": bad}, "the target is missing in row 3"),
        ({"predicted": bad}, "row 3, predicted: nothing was said; leave such rows out"),
        ({"scores": [0.5, 0.5, 0.5, 2]}, "row 3, scores: 2 is no probability"),
        ({"proba": np.column_stack([half, [0.5, 0.5, 0.5, 0.4]])}, r"row 3, proba: .* add up to 0\.9"),
        ({"proba": half}, r"proba has the shape \(4,\): expected rows, and 2 columns"),
    ):
        with pytest.raises(eo.DataError, match=match):
            how.of_predictions(**{"y": y, "groups": g, **said})


def test_what_cannot_be_audited_is_said():
    with pytest.raises(eo.DataError, match="did you mean 'race'"):
        eo.Audit(by="rase").of_columns(compas(), "recid", predicted="high")
    with pytest.raises(eo.DataError, match="positive: class 'yes' not found"):
        eo.Audit(by="race", positive="yes").of_columns(compas(), "recid", predicted="high")
    with pytest.raises(eo.DataError, match="positive: class 'yes' not found; the classes are '0', '1'"):
        eo.Audit(by="race", positive="yes", threshold=0.5).of_columns(compas(), "recid", score="high")
    table = pd.DataFrame({"y": ["no", "yes"], "said": ["low", "high"], "g": ["a", "b"]})
    with pytest.raises(eo.DataError, match=r"'said' has 'high', 'low', .*: the classes are 'no', 'yes'; write both"):
        eo.Audit(by="g").of_columns(table, "y", predicted="said")
    for apart, where in (("y", "class"), ("g", "group")):
        with pytest.raises(eo.DataError, match=rf"the {where} 'a\\x1fb' holds the character U\+001F.*: rename it"):
            eo.Audit(by="g").of_columns(
                {"y": ["0", "1"], "g": ["c", "d"], "p": [0.2, 0.9], apart: ["a\x1fb", "c"]}, "y", "p"
            )
    with pytest.raises(eo.DataError, match="predicted= has 'high', 'low'"):
        eo.Audit(by="g").of_predictions(table["y"], table["g"], predicted=table["said"])
    for kind in ({"predicted": table["y"]}, {"predicted": table["y"], "scores": [0.1, 0.2]}):
        with pytest.raises(eo.DataError, match=r"threshold=0\.1 has no say"):
            eo.Audit(by="g", threshold=0.1).of_predictions(table["y"], table["g"], **kind)
    with pytest.raises(eo.DataError, match="give y"):
        eo.Audit(by="g").of(LogisticRegression(), pd.DataFrame({"g": ["a"]}))
    with pytest.raises(eo.DataError, match="Name a column"):
        eo.Audit(by="race").of_columns(compas(), "recid")
    with pytest.raises(ValueError, match="by="):
        eo.Audit(by=[])
    with pytest.raises(eo.DataError, match="two classes"):
        eo.Audit(by="g").of_predictions([0, 1, 2], ["a"] * 3, scores=[0.1, 0.2, 0.3])
    a, b = (eo.Audit(by="g", margin=m).of_predictions([0, 1], ["a", "b"], scores=[0.1, 0.2]) for m in (0.1, 0.2))
    with pytest.raises(eo.DataError, match="cannot be added"):
        _ = a + b


# Intervals


def test_delong_is_the_definition():
    rng = np.random.default_rng(4)
    own, rest = rng.integers(0, 9, 40) + 1, rng.integers(0, 9, 30)
    beats = (own[:, None] > rest).astype(float) + (own[:, None] == rest) / 2
    variance = beats.mean(axis=1).var(ddof=1) / 40 + beats.mean(axis=0).var(ddof=1) / 30
    found = auc(np.bincount(own, minlength=10).astype(float), np.bincount(rest, minlength=10).astype(float))
    assert found.auc == pytest.approx(beats.mean())
    assert found.error == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize("margin", [-0.1, 0.0, 0.05, 0.3])
@pytest.mark.parametrize(("high", "low"), BETAS)
def test_how_sure_a_gap_is_is_the_mean_over_a_fine_grid(high, low, margin):
    points = stats.beta.ppf((np.arange(20_000) + 0.5) / 20_000, *low)
    got = exceeds(Rate(0, 1, 0, 1, False, *high), Rate(0, 1, 0, 1, False, *low), margin)
    assert got == pytest.approx(stats.beta.sf(points + margin, *high).mean(), abs=5e-4)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_gap_of_two_rates_of_which_nothing_is_known_is_a_triangle(level):
    """P(gap > x) = (1 - x)² / 2: a tail of .025 begins where 1 - x is the root of .05."""
    nothing = Rate(0, 0, 0, 1, True, 1, 1)
    end = 1 - np.sqrt(1 - level)
    assert interval(nothing, nothing, level) == pytest.approx((-end, end), abs=1e-4)  # there is a corner at 0 and at 1


def test_a_criterion_is_broken_most_by_the_surest_gap_and_not_by_the_widest():
    few, many = ((4, 2), (2, 4)), ((600, 400), (500, 500))
    tpr, fpr = ({name: Rate(0, 1, 0, 1, False, *beta) for name, beta in zip("ab", pair)} for pair in (few, many))
    wide, sure = (gap(m, of, "a", "b", 0.05, 0.95) for m, of in (("TPR", tpr), ("FPR", fpr)))
    assert (wide.gap > sure.gap, wide.sure < sure.sure) == (True, True)
    assert criterion(("TPR", "FPR"), {"TPR": tpr, "FPR": fpr}, 0.05, 0.95) == sure


@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("other", [False, True])
def test_a_gap_is_that_of_a_small_group_if_either_is_small(one, other):
    known = {"a": Rate(0, 1, 0, 1, one, 3, 2), "b": Rate(0, 1, 0, 1, other, 2, 3)}
    assert gap("TPR", known, "a", "b", 0.0, 0.95).small is (one or other)


def test_a_group_is_small_below_so_many_rows():
    assert [rate.small for rate in rates(np.array([15.0, 15]), np.array([30.0, 29]), 0.95, 30)] == [False, True]


def test_rates_by_hand():
    """Of class y, among y and n: 5 of 6 are found, 3 of 9 others taken for it."""
    counts = np.array([[[5.0, 1], [3, 6]]])
    found = {name: (k.item(), n.item()) for name, (k, n) in confusion(counts, 0).items()}
    assert found == {
        "base rate": (6, 15),
        "selection rate": (8, 15),
        "TPR": (5, 6),
        "FPR": (3, 9),
        "FNR": (1, 6),
        "PPV": (5, 8),
        "accuracy": (11, 15),
    }


def test_a_small_group_is_drawn_to_the_others_by_two_rows_at_least():
    """However unlike the groups are: all of 200, none of 200, and all of 5, beside 205.5 of 407 on average."""
    last = rates(np.array([200.0, 0, 5]), np.array([200.0, 200, 5]), 0.95, 30)[2]
    assert last.a + last.b == pytest.approx(5 + 2, abs=1e-9)
    assert last.a == pytest.approx(5 + 2 * (205 + 1) / (405 + 2))


def test_intervals_cover():
    """Of 95 % intervals of rates drawn from the prior, 95 % hold the rate: exactly so, as these are posteriors."""
    rng = np.random.default_rng(6)
    held = 0
    for n in (5, 20, 100):
        p = rng.random(1000)
        found = rates(rng.binomial(n, p).astype(float), np.full(1000, float(n)), 0.95, 0)
        held += sum(r.low <= q <= r.high for r, q in zip(found, p))
        assert all(r.low <= r.rate <= r.high for r in found)
    assert 0.94 < held / 3000 < 0.96


def test_pooling_brings_small_groups_nearer_to_the_truth():
    rng = np.random.default_rng(7)
    alone, pooled, held = 0.0, 0.0, []
    for _ in range(20):
        p, n = rng.beta(20, 30, 40), np.full(40, 12.0)
        found = rates(rng.binomial(12, p).astype(float), n, 0.95, 30)
        alone += sum((r.rate - q) ** 2 for r, q in zip(found, p))
        pooled += sum((r.expected - q) ** 2 for r, q in zip(found, p))
        held += [r.interval(0.95)[0] <= q <= r.interval(0.95)[1] for r, q in zip(found, p)]
    assert pooled < 0.5 * alone
    assert 0.92 < np.mean(held) < 0.98


def test_the_interval_of_a_loss_is_students():
    y, group = np.array([1, 0, 1, 1, 0, 1, 0]), list("aaaabbb")
    p = np.array([0.9, 0.2, 0.6, 0.3, 0.5, 0.7, 0.4])
    found = eo.Audit(by="g").of_predictions(y, group, scores=p).losses("g")
    losses = -np.log(np.where(y == 1, p, 1 - p))
    for name, mine in (("a", losses[:4]), ("b", losses[4:])):
        assert found[name].mean == pytest.approx(mine.mean())
        low, high = stats.t.interval(0.95, len(mine) - 1, mine.mean(), stats.sem(mine))
        assert found[name].interval == pytest.approx((max(low, 0.0), high))


def test_delong_intervals_cover():
    from math import erf

    rng, held = np.random.default_rng(8), 0
    for _ in range(400):
        own, rest = rng.normal(1, 1, 60), rng.normal(0, 1, 60)
        scores, y = 1 / (1 + np.exp(-np.append(own, rest))), np.repeat([1, 0], 60)
        low, high = eo.Audit(by="g").of_predictions(y, ["a"] * 120, scores=scores).aucs(("g",), "1")["a"].interval
        held += low <= 0.5 * (1 + erf(0.5)) <= high
    assert 0.92 < held / 400 < 0.98
