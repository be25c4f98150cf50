"""Leave-one-out of all rows at once is forgetting each row and scoring it, for every family, setting and event."""

import dataclasses
import gc
import json
import weakref
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenodds as eo
from command import invoke
from evenodds.audit.held_out import of_rows
from evenodds.cells import as_column, codes
from evenodds.data.files import read
from evenodds.data.kept import Learnt
from evenodds.data.memory import table as as_table
from evenodds.families import Binned, Categorical, Gaussians, Kernel, left_words
from evenodds.families import words as words_family
from evenodds.families.left_out import Left, once_each
from evenodds.families.word_shares import unit_of
from evenodds.models.left_out import LeftOut
from evenodds.models.naive_bayes import Model
from evenodds.tally import Tally
from evenodds.text import leave_kernels, list_kernels, table_kernels, whole_kernels
from evenodds.text.words import EVENTS
from laws import LEARNERS
from tables import COLUMNS, mixed
from test_words_laws import document, learn

ESTIMATES = ["predictive", "mean", "map", "mle"]
CLASSES = ["a", "b", "c"]
EXACT = [learner for learner in LEARNERS if learner.family not in (Binned, Gaussians, Kernel)]  # cuts and widths stay
OPEN = {eo.Categorical: [eo.Dirichlet(0.7), eo.Dirichlet({"red": 2.0})]}  # priors of values that they do not name
TEXTS = [
    {},
    {"ngrams": 2, "prior": "pooled"},
    {"min_count": 2},
    {"buckets": 256, "ngrams": (2, 3)},
    {"buckets": 256, "ngrams": 2, "prior": "pooled", "min_count": 2},
    {"punctuation": True, "stem": "english", "min_length": 1},
    {"stop_words": ["the"], "characters": (2, 3), "prior": "pooled"},
    {"length": "normalised"},
    {"length": "normalised", "ngrams": 2, "prior": "pooled", "min_count": 0.5},
]
KINDS = [  # a Bernoulli word is there or not, whatever the length
    (events, words) for events in EVENTS for words in TEXTS if events != "bernoulli" or "length" not in words
]


def without_each(model: Model, table: pa.Table, y: list, weights=None):
    """What leave-one-out means: learn all other rows, then score this one; a class that is gone has probability 0."""
    found = np.full((len(y), len(model.classes)), -np.inf)
    for i in range(len(y)):
        others = np.delete(np.arange(len(y)), i)
        theirs = None if weights is None else np.asarray(weights)[others]
        rest = Model(model.schema, Tally.nothing(), model.settings)
        rest = rest.learn(table.take(others), [y[j] for j in others], theirs)
        if len(rest.classes):
            found[i, np.isin(model.classes, rest.classes)] = rest.log_proba(table.slice(i, 1))[0]
    return found


def fixed(model: Model) -> Model:
    """The same model with every choice made of its rows written down as a number."""
    columns = {
        name: dataclasses.replace(column, smoothing=model.smoothing(name))
        for name, column in model.schema.features.items()
    }
    weights = dict(zip(model.classes.tolist(), model.class_factors.tolist()))
    weights = weights if model.settings.class_weight is not None else None
    schema = eo.Schema(columns, model.schema.target, model.schema.target_kind)
    return Model(schema, model.tally, dataclasses.replace(model.settings, class_weight=weights))


def coarseness(model: Model, table: pa.Table, y: list):
    """How far apart the numbers are of which each row's log-odds are differences: an outlier's log density of -3e11 is
    known to 6e-5, whoever computes it."""
    found = np.zeros((len(y), 1))
    for i in range(len(y)):
        joint = model.forget(table.slice(i, 1), [y[i]]).log_joint(table.slice(i, 1))
        found[i] = np.spacing(np.abs(joint[np.isfinite(joint)]).max(initial=0.0))
    return found


def assert_close(got, want, coarse=lambda: 0.0):
    """Equal; how coarse the numbers may be is asked only where they differ."""
    assert np.array_equal(np.isneginf(got), np.isneginf(want))
    known = np.isfinite(want)
    away, allowed = np.abs(got[known] - want[known]), 1e-8 + 1e-8 * np.abs(want[known])
    if (away > allowed).any():
        allowed += np.broadcast_to(4 * coarse(), want.shape)[known]
    assert (away <= allowed).all(), f"{got} is not {want}"


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("learner", EXACT, ids=lambda learner: learner.name)
@settings(max_examples=12)
@given(data=st.data())
def test_every_family_forgets_the_row_it_scores(learner, estimate, data):
    rows = data.draw(st.lists(st.tuples(learner.value, st.sampled_from(CLASSES)), min_size=6, max_size=14))
    values, y = [value for value, _ in rows], [label for _, label in rows]
    if learner.family.cells == "numbers":
        values = [None if value != value else round(value, 3) for value in values]
    column = eo.Column(
        learner.family,
        prior=data.draw(st.sampled_from([None, learner.prior, *OPEN.get(learner.family, [])])),
        variance=data.draw(st.sampled_from(["per_class", "pooled", 2.5])),
    )
    how = {
        "prior": data.draw(st.sampled_from(["pooled", "flat"])),
        "smoothing": data.draw(st.sampled_from([0.3, 2.0])),
        "class_prior": data.draw(st.sampled_from(["estimated", "uniform", eo.Dirichlet(1.0)])),
        "class_weight": data.draw(st.sampled_from([None, {"a": 2.0, "b": 0.3}])),
        "unseen": data.draw(st.sampled_from(["ignore", "prior"])),
    }
    table = pa.table({"x": pa.array(values, pa.string() if learner.family.cells == "codes" else pa.float64())})
    nb = eo.NaiveBayes(schema=eo.Schema({"x": column}, "class"), estimate=estimate, **how)
    model = nb.partial_fit(table, y).model_
    try:
        want = without_each(model, table, y)
    except (ValueError, RuntimeWarning):  # one of these has no variance, or no rate: there is no leaving out either
        return
    assert_close(model.leave_one_out(table, y), want, lambda: coarseness(model, table, y))


def test_an_outlier_is_scored_as_exactly_as_its_density_is_known():
    """122,111 left out of a model of 0 and 0.5: densities of e^-(3e11), the same in every class."""
    table, y = pa.table({"x": pa.array([None, None, None, 0.0, 122_111.0, 0.5])}), list("aacbab")
    schema = eo.Schema({"x": eo.Column(eo.Gaussian, variance="pooled")}, "class")
    nb = eo.NaiveBayes(schema=schema, estimate="map", smoothing=0.3).partial_fit(table, y)
    coarse = coarseness(nb.model_, table, y)
    assert coarse[4] == 2.0**-14
    assert (np.delete(coarse, 4) < 1e-12).all()
    assert_close(nb.model_.leave_one_out(table, y), without_each(nb.model_, table, y), lambda: coarse)


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("prior", ["pooled", "flat"])
def test_a_mixed_table_with_holes(estimate, prior):
    frame, y = mixed(90)
    frame = frame.drop(columns="age")
    columns = {name: family for name, family in COLUMNS.items() if name != "age"}
    weights = np.random.default_rng(1).integers(0, 3, 90).astype(float)
    nb = eo.NaiveBayes(columns, estimate=estimate, prior=prior, class_weight="balanced")
    model = fixed(nb.fit(frame, y, sample_weight=weights).model_)
    got = nb.leave_one_out(frame, y, sample_weight=weights)
    assert_close(got, without_each(model, pa.Table.from_pandas(frame), y.tolist(), weights))


@pytest.mark.parametrize("weights", ["alike", "alike in a class", "of rows"])
def test_rows_of_one_value_and_class_are_told_the_same_once(weights):
    rng, asked = np.random.default_rng(3), []
    values, groups = rng.integers(-1, 5, 300), rng.integers(0, 3, 300)
    amounts = {"alike": np.ones(300), "alike in a class": 1.0 + groups, "of rows": 1.0 + rng.random(300)}[weights]

    def says(values, left):
        asked.append(len(values))
        return values[:, None] + np.outer(left.amounts, np.arange(3)) + 10.0 * (left.groups[:, None] == np.arange(3))

    left = Left(groups, amounts, 3, np.zeros(300, bool))
    assert once_each(values, 5, left, says).tolist() == says(values, left).tolist()
    assert asked[0] == (300 if weights == "of rows" else 18)


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("prior", ["pooled", "flat"])
def test_binned_columns_keep_their_cuts(estimate, prior):
    """The bins of all rows as categories: leaving out under their cuts is leaving out of these."""
    frame, y = mixed(80)
    x = frame["age"].to_numpy()
    nb = eo.NaiveBayes(eo.Binned, estimate=estimate, prior=prior, smoothing=1.5).fit(frame[["age"]], y)
    bins = nb.model_.distributions["age"].codes(x)
    names = pd.DataFrame({"age": pd.Series([None if b < 0 else f"bin {b}" for b in bins], dtype=object)})
    same = eo.NaiveBayes(eo.Categorical, estimate=estimate, prior=prior, smoothing=1.5).fit(names, y)
    assert_close(
        nb.leave_one_out(frame[["age"]], y), without_each(same.model_, pa.Table.from_pandas(names), y.tolist())
    )


@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("prior", ["pooled", "flat", eo.Dirichlet(0.3)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", [eo.Column(Kernel), eo.Column(Gaussians, components=1)], ids=repr)
def test_smooth_densities_of_a_given_width_forget_the_row_they_score(how, estimate, prior, weighted):
    """Whole numbers stand where they are, whatever the other rows; the width is told, and one bell has all rows."""
    rng = np.random.default_rng(5)
    y = rng.choice(CLASSES, 60, p=[0.6, 0.3, 0.1])
    x = np.where(rng.random(60) < 0.1, np.nan, rng.poisson(np.where(y == "a", 4.0, 9.0)).astype(float))
    weights = rng.integers(1, 4, 60).astype(float) if weighted else None
    own = prior if isinstance(prior, eo.Dirichlet) else None
    kind = "pooled" if own is not None else prior
    column = dataclasses.replace(how, bandwidth=0.8, smoothing=1.5, prior=own)
    nb = eo.NaiveBayes({"x": column}, estimate=estimate, prior=kind)
    frame = pd.DataFrame({"x": x})
    model = nb.fit(frame, y, sample_weight=weights).model_
    got = nb.leave_one_out(frame, y, sample_weight=weights)
    assert_close(got, without_each(model, pa.Table.from_pandas(frame), y.tolist(), weights))


@pytest.mark.parametrize(("events", "words"), KINDS, ids=repr)
@settings(max_examples=12)
@given(data=st.data())
def test_every_kind_of_words_forgets_the_text_it_scores(events, words, data):
    rows = data.draw(st.lists(st.tuples(document | st.none(), st.sampled_from(CLASSES)), min_size=1, max_size=10))
    weights = data.draw(
        st.none()
        | st.lists(st.integers(0, 3).map(float), min_size=len(rows), max_size=len(rows))
        | st.lists(st.sampled_from([0.25, 0.75, 1.5]), min_size=len(rows), max_size=len(rows))
    )
    if weights is not None:
        weights = np.array(weights)
        if not weights.any():
            return
    smoothing, factors = data.draw(st.sampled_from([0.2, 1.0])), data.draw(st.sampled_from([None, {"a": 3.0}]))
    unseen = data.draw(st.sampled_from(["ignore", "prior"]))
    model = learn(rows, eo.Words(events, **words), weights, smoothing=smoothing, class_weight=factors, unseen=unseen)
    table, y = pa.table({"text": pa.array([text for text, _ in rows], pa.string())}), [label for _, label in rows]
    counts = next(iter(model.tally.lists.values()), None)
    unit = 1.0 if counts is None else unit_of(counts, eo.Words(events, **words))
    held = [mock.patch.object(module, "unit_of", return_value=unit) for module in (words_family, left_words)]
    with held[0], held[1]:  # the unit of normalised texts
        assert_close(model.leave_one_out(table, y, weights), without_each(model, table, y, weights))


def test_texts_beside_other_columns_on_any_number_of_threads(monkeypatch):
    texts = ["free prize now", "lunch at noon", None, "free lunch", "", "prize prize", "noon at the office"] * 30
    table = pa.table({"text": texts, "sender": ["new", "known", "known", None, "new", "new", "known"] * 30})
    y = [*(["spam", "ham", "ham", "spam", "ham", "spam", "ham"] * 30)[:-1], "spam"]
    nb = eo.NaiveBayes({"text": eo.Words(), "sender": eo.Categorical}).fit(table, y)
    got = nb.leave_one_out(table, y)
    assert_close(got, without_each(fixed(nb.model_), table, y))
    monkeypatch.setattr("evenodds.models.scorer.MESSAGES", 7)
    learnt = Learnt(as_table(table), codes(as_column(y)))
    for threads in (1, 2, 5):
        assert len(list(LeftOut(nb.model_).blocks(learnt, lambda *said: None, threads))) == threads
        assert nb.model_.leave_one_out(table, y, threads=threads).tobytes() == got.tobytes()


@pytest.mark.parametrize("how", [{}, {"ngrams": 2, "min_count": 2}, {"ngrams": 2, "buckets": 256}], ids=str)
def test_some_texts_are_left_out_as_all_are(how):
    """The words of the others are in the counts and not asked for."""
    texts = ["free prize now", "lunch at noon", "zebra prize", "free lunch", "aardvark at noon", "prize prize"] * 4
    y = ["spam", "ham", "spam", "ham", "ham", "spam"] * 4
    nb = eo.NaiveBayes({"text": eo.Words(**how)}).fit(pa.table({"text": texts}), y)
    every = nb.leave_one_out(pa.table({"text": texts}), y)
    for some in ([2, 5], [4], [0, 3, 5, 11]):
        table = pa.table({"text": pa.array([texts[i] for i in some], pa.string())})
        np.testing.assert_array_equal(nb.leave_one_out(table, [y[i] for i in some]), every[some])


def test_a_class_whose_only_row_is_left_out_is_unknown():
    table, y = pa.table({"x": ["p", "q", "p", "q", "r"]}), ["a", "b", "a", "b", "c"]
    nb = eo.NaiveBayes(eo.Categorical, smoothing=1, class_prior={"a": 0.5, "b": 0.3, "c": 0.2}).fit(table, y)
    log_p = nb.leave_one_out(table, y)
    assert log_p[4, 2] == -np.inf  # c, and with it the value r: what is left is the prior of a and b
    np.testing.assert_allclose(np.exp(log_p[4, :2]), [0.5 / 0.8, 0.3 / 0.8])
    assert np.isfinite(log_p[:4]).all()


@pytest.mark.parametrize("prior", ["flat", "pooled"])
def test_the_only_value_of_a_column_says_nothing_once_it_is_left_out(prior):
    table, y = pa.table({"x": pa.array(["red", None, None, None], pa.string())}), ["a", "a", "b", "b"]
    nb = eo.NaiveBayes(eo.Categorical, prior=prior, unseen="prior", smoothing=0.3).fit(table, y)
    np.testing.assert_allclose(np.exp(nb.leave_one_out(table, y)), [[1 / 3, 2 / 3]] * 2 + [[2 / 3, 1 / 3]] * 2)


def test_rounding_decides_no_draw():
    """Without the second row one 0 and one 1 of weight 0.3 are left: the mode is in the middle, not at 0 or 1."""
    table, y = pa.table({"x": pa.array([None, 0.0, None, None, 0.0, 1.0])}), list("abaabb")
    schema = eo.Schema({"x": eo.Column(eo.Bernoulli)}, "class")
    how = {"estimate": "map", "prior": "flat", "smoothing": 0.3, "class_weight": {"a": 2.0, "b": 0.3}}
    model = eo.NaiveBayes(schema=schema, **how).partial_fit(table, y).model_
    assert_close(model.leave_one_out(table, y), without_each(model, table, y))


def test_a_class_of_prior_nought_has_none_under_a_temper_either():
    rng = np.random.default_rng(0)
    y, table = rng.choice(list("abc"), 60), pa.table({"x": rng.choice(list("pqr"), 60)})
    nb = eo.NaiveBayes(eo.Categorical, temper=True, class_prior={"a": 0.5, "b": 0.5, "c": 0.0}).fit(table, y)
    for log_p in (nb.leave_one_out(table, y), nb.predict_log_proba(table)):
        assert np.isneginf(log_p[:, 2]).all()
        np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1.0)


def test_leaving_out_takes_no_python_for_each_row(monkeypatch):
    """As many steps for 40,000 rows as there are blocks, whatever the rows."""
    calls = []
    some = Left.some
    monkeypatch.setattr(Left, "some", lambda self, rows: calls.append(1) or some(self, rows))
    frame, y = mixed(40_000, holes=0.0)
    eo.NaiveBayes(COLUMNS).fit(frame, y).leave_one_out(frame, y)
    assert len(calls) < 60


def test_only_what_was_learnt_can_be_left_out():
    nb = eo.NaiveBayes({"text": eo.Words(), "x": eo.Categorical}).fit(
        pa.table({"text": ["aa bb", "bb cc", "cc"], "x": ["p", "q", "q"]}), ["y", "z", "z"]
    )
    with pytest.raises(eo.DataError, match="class 'w' of row 0 was never learnt"):
        nb.leave_one_out(pa.table({"text": ["aa"], "x": ["p"]}), ["w"])
    with pytest.raises(eo.DataError, match=r"column 'text'.* text 0 has a word that was never learnt"):
        nb.leave_one_out(pa.table({"text": ["dd"], "x": ["q"]}), ["z"])
    with pytest.raises(eo.DataError, match=r"column 'text'.* text 0 has a word more often than its class"):
        nb.leave_one_out(pa.table({"text": ["aa"], "x": ["q"]}), ["z"])
    with pytest.raises(eo.DataError, match=r"column 'x'.*0 rows like row 0"):
        nb.leave_one_out(
            pa.table({"text": [None], "x": ["p"]}, schema=pa.schema({"text": "string", "x": "string"})), ["z"]
        )
    with pytest.raises(eo.DataError, match="the value 'r' was never learnt"):
        nb.leave_one_out(pa.table({"text": ["cc"], "x": ["r"]}), ["z"])
    with pytest.raises(eo.DataError, match="which counts 5"):
        nb.leave_one_out(pa.table({"text": ["cc"], "x": ["q"]}), ["z"], sample_weight=[5.0])


def test_texts_are_not_left_out_under_estimates_that_have_no_closed_form():
    for how in ({"estimate": "mle"}, {"estimate": "map"}):
        nb = eo.NaiveBayes(eo.Words(), **how).fit(["aa bb", "bb cc", "cc"], list("yzz"))
        with pytest.raises(eo.DataError, match="use 'mean' or 'predictive'"):
            nb.leave_one_out(["cc"], ["z"])


@pytest.mark.parametrize(
    "name",
    [
        "distinct",
        "find",
        "count_of",
        "drop_lost",
        "multinomial",
        "whole_multinomial",
        "pooled_multinomial",
        "complement",
        "bernoulli",
    ],
)
def test_compiled_and_plain_kernels_agree(name, monkeypatch):
    module = next(one for one in (leave_kernels, list_kernels, table_kernels, whole_kernels) if name in vars(one))
    kernel = getattr(module, name)
    asked = []

    def both(*args):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        plain, compiled = kernel.plain(*copies), kernel.compiled(*args)
        asked.append(name)
        assert plain == compiled
        for a, b in zip(copies, args):
            if isinstance(a, np.ndarray) and a.dtype.kind == "f":
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
            elif isinstance(a, np.ndarray):
                assert np.array_equal(a, b)
        return compiled

    monkeypatch.setattr(module, name, both)
    texts, y = ["free prize now free", "lunch at noon", "free lunch", "", "noon prize"] * 3, list("xyyxz") * 3
    for events in EVENTS:
        for prior in ("flat", "pooled"):
            for weights in (None, np.full(len(y), 2.0)):
                nb = eo.NaiveBayes(eo.Words(events, ngrams=2, prior=prior), smoothing=0.5).fit(texts, y, weights)
                nb.leave_one_out(texts, y, weights)
    assert asked


@pytest.mark.parametrize("classes", [3, 12])
def test_whole_counts_are_weighed_as_all_counts_are(classes, monkeypatch):
    kernel, asked = whole_kernels.whole_multinomial, []

    def both(rows, times, taken, ends, counts, groups, distinct, table, *found):
        others = [each.copy() for each in found]
        how = (counts.astype(float), groups, np.ones(len(ends)), 0.0, 0.5, distinct, table)
        assert leave_kernels.multinomial(rows, times, taken, ends, *how, *others) == -1
        assert kernel(rows, times, taken, ends, counts, groups, distinct, table, *found) == -1
        for a, b in zip(found, others):
            assert np.array_equal(a, b)
        asked.append(len(ends))
        return -1

    monkeypatch.setattr(whole_kernels, "whole_multinomial", both)
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{w}" for w in rng.geometric(0.1, rng.integers(1, 30))) for _ in range(300)]
    y = rng.integers(0, classes, 300)
    for events in ("counts", "present"):
        eo.NaiveBayes(eo.Words(events, ngrams=2), smoothing=0.5).fit(texts, y).leave_one_out(texts, y)
    assert asked


def test_a_text_with_a_word_more_often_than_its_class_was_never_learnt():
    nb = eo.NaiveBayes(eo.Words(), smoothing=1).fit(["aa bb", "aa cc", "cc"], list("yzz"))
    with pytest.raises(eo.DataError, match="more often than its class"):
        nb.leave_one_out(["aa aa bb"], ["y"])


def test_whole_counts_say_of_the_other_classes_what_all_counts_do(monkeypatch):
    kernel, asked = leave_kernels.complement, []

    def both(*args):
        *same, whole, sums = args
        other = sums.copy()
        kernel(*same, False, other)
        kernel(*same, whole, sums)
        asked.append(whole)
        assert np.array_equal(sums, other)

    monkeypatch.setattr(leave_kernels, "complement", both)
    texts, y = ["free prize now free", "lunch at noon", "free lunch", "", "noon prize"] * 3, list("xyyxz") * 3
    nb = eo.NaiveBayes(eo.Words("complement", ngrams=2), smoothing=0.5)
    nb.fit(texts, y).leave_one_out(texts, y)
    half = np.full(len(y), 1.5)
    nb.fit(texts, y, sample_weight=half).leave_one_out(texts, y, sample_weight=half)
    assert asked == [True, False]


def test_files_and_the_command_line(tmp_path):
    frame, y = mixed(200)
    path, model = tmp_path / "rows.csv", tmp_path / "m.eo"
    frame.assign(level=y).to_csv(path, index=False)
    nb = eo.NaiveBayes().fit(str(path), "level")
    nb.save(model)
    log_p = nb.leave_one_out(str(path), "level")
    assert log_p.shape == (200, 3)
    held = of_rows(nb.model_, read(str(path)))
    metrics, report = held.metrics(), held.report
    assert metrics.rows == 200 == report.rows
    assert metrics.accuracy == (nb.classes_[log_p.argmax(axis=1)] == y.to_numpy()).mean()
    said = []
    for args in ([model, path], [path, "--target", "level"]):
        said.append(json.loads(invoke("evaluate", *args, "--leave-one-out", "--json", "-q").stdout))
    assert said[0] == said[1]
    assert said[0]["leave_one_out"] is True
    assert said[0]["accuracy"] == metrics.accuracy
    for wrong in (["--leave-one-out", "--folds", "3", "--target", "level"], ["--leave-one-out"]):
        assert "Error: " in invoke("evaluate", path, *wrong, code=2).stderr


def test_pruned_counts_cannot_be_left_out_of():
    model = eo.NaiveBayes(eo.Words()).fit(["aa bb", "bb cc", "cc"], list("yzz")).model_
    [(name, counts)] = model.tally.lists.items()
    tally = type(model.tally)(model.tally.layout, model.tally.counts, model.tally.sums, {name: counts.prune(2)})
    with pytest.raises(eo.DataError, match="pruned"):
        Model(model.schema, tally, model.settings).leave_one_out(pa.table({"text": ["bb"]}), ["z"])


def test_a_weighted_value_leaves_no_spread_behind():
    """The logs of 1 and 2 in a class of weight 0.3: without the 2 the spread is none, not what rounding left of it."""
    table, y = pa.table({"x": [0.0, 0.0, 0.0, 0.0, 1.0, 2.0]}), list("aaaabb")
    nb = eo.NaiveBayes(columns={"x": eo.LogGaussian}, class_weight={"a": 2.0, "b": 0.3}, smoothing=0.3).fit(table, y)
    assert_close(nb.model_.leave_one_out(table, y), without_each(nb.model_, table, y))


def test_a_prior_of_a_number_for_each_value_is_left_out_of_as_well():
    rows, y = {"c": ["u", "v", "w", "u", "v", "u"]}, ["a", "a", "a", "b", "b", "b"]
    given = {"c": eo.Column(eo.Categorical, prior=eo.Dirichlet([1, 2, 3]))}
    order = Categorical.tally(rows["c"]).leaf(("x", "labels")).axis.texts()  # what the numbers stand for
    named = {"c": eo.Column(eo.Categorical, prior=eo.Dirichlet(dict(zip(order, [1, 2, 3]))))}
    one, other = (eo.NaiveBayes(columns=columns).fit(rows, y) for columns in (given, named))
    left, known = one.leave_one_out(rows, y), other.leave_one_out(rows, y)
    np.testing.assert_allclose(np.delete(left, 2, 0), np.delete(known, 2, 0), rtol=1e-12)  # row 2 alone has its value


def test_what_is_left_out_of_goes_with_its_model():
    texts, y = ["a b", "b c", "c d", "d a"] * 3, ["u", "v"] * 6
    nb = eo.NaiveBayes(eo.Words(events="bernoulli")).fit(texts, y)
    counts = weakref.ref(nb.model_.tally.lists[next(iter(nb.model_.tally.lists))])
    nb.leave_one_out(texts, y)
    del nb
    gc.collect()
    assert counts() is None
