"""Naive Bayes: what it says of rows, and what it has learnt."""

import math
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy import stats

import evenodds as eo
from evenodds.data.titanic import titanic
from evenodds.models.bridge.fit import bridge
from evenodds.models.left_out import learnt_of
from tables import COLUMNS, fitted, mixed


def sharp(columns, **settings):
    """Shares as counted: no smoothing."""
    return eo.NaiveBayes(columns, estimate="mle", **settings)


# Explanations add up


@pytest.mark.parametrize("estimate", ["predictive", "mean", "map", "mle"])
def test_explanations_add_up_to_the_log_odds_that_predict_proba_reports(estimate):
    X, y = mixed(80)
    nb = eo.NaiveBayes(COLUMNS, estimate=estimate).fit(X, y)
    log_p = nb.predict_log_proba(X)
    for i, why in enumerate(nb.explain(X)):
        of, against = nb.classes_.tolist().index(why.of), nb.classes_.tolist().index(why.against)
        assert why.of == nb.predict(X.iloc[[i]])[0]
        assert why.probability == pytest.approx(math.exp(log_p[i, of]), rel=1e-9)
        assert why.prior + sum(term.log_odds for term in why.terms) == pytest.approx(why.total, abs=1e-9)
        if np.isfinite(log_p[i, [of, against]]).all():
            assert why.total == pytest.approx(log_p[i, of] - log_p[i, against], abs=1e-9)


def test_two_classes_explain_the_decision_function():
    X, y = mixed(80)
    nb = eo.NaiveBayes(COLUMNS).fit(X, y == "hi")
    for why, z in zip(nb.explain(X, of=True), nb.decision_function(X)):
        assert why.total == pytest.approx(z, abs=1e-9)
        assert why.probability == pytest.approx(1 / (1 + math.exp(-z)), rel=1e-9)


def test_one_row_has_one_explanation_and_names_the_missing():
    nb = fitted()
    [why] = nb.explain(pd.DataFrame({"colour": ["red"], "age": [30.0]}, columns=list(COLUMNS)))
    notes = {term.column: term.note for term in why.terms if term.note}
    assert notes == dict.fromkeys(("flag", "kicks", "height", "fare", "wait"), "missing: no evidence")
    assert "colour = red" in repr(why)
    assert why.to_dict()["terms"][0]["column"] == "colour"


def test_a_flag_is_explained_by_the_word_that_was_given():
    rows = [{"surgery": word, "age": 30 + i % 7} for i, word in enumerate(["yes", "no"] * 20)]
    nb = eo.NaiveBayes().fit(rows, [word["surgery"] == "yes" for word in rows])
    assert nb.model_.schema.columns["surgery"].family is eo.Bernoulli
    said = {words: nb.explain([{"surgery": words}])[0].terms for words in ("no", "yes", "true", None)}
    shown = {given: next(term.value for term in terms if term.column == "surgery") for given, terms in said.items()}
    assert shown == {"no": "no", "yes": "yes", "true": "true", None: None}
    assert next(t.value for t in nb.explain([{"surgery": 1, "age": 31}])[0].terms if t.column == "surgery") == 1


def test_a_number_is_explained_as_it_was_written():
    rows = {"year": [1993, 2001] * 4, "income": [250_000.0, 1_234_567.5] * 4, "fever": [38.5, 41.0] * 4}
    nb = eo.NaiveBayes(dict.fromkeys(rows, eo.Gaussian)).fit(pd.DataFrame(rows), [0, 1, 1, 0] * 2)
    for row, said in enumerate((("1993", "250000", "38.5"), ("2001", "1234567.5", "41"))):
        [why] = nb.explain(pd.DataFrame(rows)[row : row + 1])
        assert {line.split("  ")[1] for line in repr(why).split("\n")[2:-1]} == set(map(" = ".join, zip(rows, said)))


def test_a_class_may_be_explained_against_another():
    X, _ = mixed(5)
    [why] = fitted().explain(X.iloc[[0]], of="hi", against="lo")
    [back] = fitted().explain(X.iloc[[0]], of="lo", against="hi")
    assert (why.of, why.against) == ("hi", "lo")
    assert why.total == pytest.approx(-back.total)
    with pytest.raises(eo.DataError, match="class 'high' not found; did you mean 'hi'"):
        fitted().explain(X.iloc[[0]], of="high")


@pytest.mark.parametrize("model", [eo.NaiveBayes(), eo.NaiveLogistic(), eo.BayesNet()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_no_class_is_explained_against_itself(model, classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 60)
    rows = pd.DataFrame(
        {"port": np.array(list("abc"))[(y + rng.integers(0, 2, 60)) % 3], "sex": rng.choice(["m", "f"], 60)}
    )
    model.fit(rows, y)
    some, first = rows.head(6), int(model.predict(rows)[0])
    for why, other in zip(model.explain(some), model.explain(some, against=first)):
        assert why.of != why.against
        assert other.against == first
        assert other.of == (why.against if why.of == first else why.of)
    for why in model.explain(some, of=1):
        assert why.of == 1 != why.against
    with pytest.raises(eo.DataError, match="a class has no log-odds against itself"):
        model.explain(some, of=1, against=1)


@pytest.mark.parametrize("model", [eo.NaiveBayes(), eo.NaiveLogistic(), eo.BayesNet()], ids=lambda m: type(m).__name__)
def test_explanations_are_a_list_of_one_for_each_row(model):
    rows = [{"port": "a"}, {"port": "b"}] * 10
    why = model.fit(rows, ["x", "y"] * 10).explain(rows[:2])
    assert repr(why) == f"{why[0]!r}\n\n{why[1]!r}"
    assert why._repr_html_().count("<hr>") == 1
    one = model.explain(rows[:1])
    assert one == why[:1]
    assert repr(one) == repr(why[0])
    assert one._repr_html_() == why[0]._repr_html_()


@pytest.mark.parametrize("model", [eo.NaiveBayes(eo.Bernoulli), eo.NaiveLogistic(eo.Bernoulli)])
def test_a_sparse_matrix_is_explained_as_a_dense_one(model):
    X, y = (np.random.default_rng(0).random((50, 4)) < 0.4).astype(float), np.arange(50) % 2
    model.fit(sp.csr_array(X), y)
    assert model.explain(sp.csr_array(X)[:3]) == model.explain(X[:3])
    if isinstance(model, eo.NaiveBayes):
        assert model.check(sp.csr_array(X), y).to_dicts() == model.check(X, y).to_dicts()


# Missing, unseen, impossible


HOLES = [{"c": "a", "f": 1}, {"c": "b", "f": None}, {"c": None, "f": 0}, {"c": "a", "f": 0}, {"c": "b", "f": 1}]
HOLES_Y = ["x", "x", "x", "y", "y"]


def test_nulls_are_left_out_at_fit():
    nb = sharp({"c": eo.Categorical, "f": eo.Bernoulli}).fit(HOLES, HOLES_Y)
    shares = {(row["class"], row["c"]): row["p"] for row in nb.tables["c"]}
    assert shares == {("x", "a"): 0.5, ("x", "b"): 0.5, ("y", "a"): 0.5, ("y", "b"): 0.5}
    assert [row["p"] for row in nb.tables["f"]] == [0.5, 0.5]
    assert nb.class_count_.tolist() == [3, 2]


def test_nulls_are_integrated_out_at_predict():
    nb = eo.NaiveBayes({"c": eo.Categorical, "f": eo.Bernoulli}, smoothing=1.0, prior="flat").fit(HOLES, HOLES_Y)
    np.testing.assert_allclose(nb.predict_proba([{"c": None, "f": None}]), [[0.6, 0.4]])
    # f alone: x has one of two, y one of two, each with one pseudo-count a side.
    np.testing.assert_allclose(nb.predict_proba([{"c": None, "f": 1}]), [[0.6, 0.4]])
    whole = nb.predict_joint_log_proba([{"c": "a", "f": 1}])[0]
    alone = nb.predict_joint_log_proba([{"f": 1}])[0]
    shares = {(row["class"], row["c"]): row["p"] for row in nb.tables["c"]}
    np.testing.assert_allclose(whole - alone, np.log([shares["x", "a"], shares["y", "a"]]))


@pytest.mark.parametrize("name", COLUMNS)
def test_the_model_without_a_cell_is_the_model_without_its_column(name):
    X, y = mixed(80)
    blank = X.copy()
    blank[name] = None if name == "colour" else np.nan
    rest = {column: family for column, family in COLUMNS.items() if column != name}
    without = eo.NaiveBayes(rest).fit(X.drop(columns=name), y)
    np.testing.assert_allclose(fitted(80).predict_log_proba(blank), without.predict_log_proba(X.drop(columns=name)))


def test_an_unseen_category_is_no_evidence_and_explain_says_so():
    nb = eo.NaiveBayes({"c": eo.Categorical}).fit([{"c": c} for c in "abaab"], HOLES_Y)
    np.testing.assert_allclose(nb.predict_proba([{"c": "never"}]), [[0.6, 0.4]])
    (term,) = nb.explain([{"c": "never"}])[0].terms
    assert (term.value, term.log_odds, term.note) == ("never", 0.0, "never seen: no evidence")


@pytest.mark.parametrize("prior", ["flat", "pooled"])
def test_an_unseen_category_may_have_its_smoothing_mass(prior):
    rows, y = [{"c": c} for c in "aaabab"], list("xxxxyy")
    nb = eo.NaiveBayes({"c": eo.Categorical}, prior=prior, smoothing=0.5, unseen="prior").fit(rows, y)
    joint = np.exp(nb.predict_joint_log_proba([{"c": "never"}])[0])
    if prior == "flat":
        expected = [4 / 6 * 0.5 / (0.5 * 2 + 4), 2 / 6 * 0.5 / (0.5 * 2 + 2)]
    else:  # one more row in N + 1: the pooled share of a value seen once
        expected = [4 / 6 * (0.5 / 7) / (0.5 + 4), 2 / 6 * (0.5 / 7) / (0.5 + 2)]
    np.testing.assert_allclose(joint, expected)
    assert nb.explain([{"c": "never"}])[0].terms[0].note == "never seen: its smoothing mass"


@pytest.mark.parametrize(
    ("prior", "masses"), [(eo.Dirichlet(1.0), [1 / (2 + 4), 1 / (2 + 2)]), (eo.Dirichlet({"a": 1, "b": 1}), [1.0, 1.0])]
)
def test_an_unseen_value_has_the_mass_of_its_columns_own_prior(prior, masses):
    """One that names its values gives others nothing: no evidence."""
    rows, y = [{"c": c} for c in "aaabab"], list("xxxxyy")
    nb = eo.NaiveBayes({"c": eo.Column(eo.Categorical, prior=prior)}, unseen="prior").fit(rows, y)
    got = np.exp(nb.predict_joint_log_proba([{"c": "never"}])[0])
    np.testing.assert_allclose(got, [4 / 6 * masses[0], 2 / 6 * masses[1]])


def test_evidence_that_is_impossible_in_every_class_is_no_evidence():
    nb = eo.NaiveBayes({"n": eo.Poisson, "s": eo.LogGaussian}).fit(
        [{"n": 1, "s": 2.0}, {"n": 3, "s": 1.0}, {"n": 2, "s": 4.0}, {"n": 0, "s": 3.0}], list("xxxy")
    )
    np.testing.assert_allclose(nb.predict_proba([{"n": 1.5}, {"n": -1}, {"s": -2.0}]), [[0.75, 0.25]] * 3)


def test_a_number_that_is_impossible_in_every_class_is_no_evidence_and_the_other_cells_are():
    X = {"size": [1.0, 2, 3, 5, 8, 9], "z": [0.0, 1, 2, 2, 3, 5]}  # no size is 0
    nb = eo.NaiveBayes({"size": eo.LogGaussian, "z": eo.Gaussian}, estimate="mle").fit(X, list("aaabbb"))
    none, missing = (nb.predict_log_proba({"size": [size], "z": [1.0]}) for size in (0.0, np.nan))
    np.testing.assert_array_equal(none, missing)
    assert missing[0, 0] > missing[0, 1]


def test_the_information_of_two_columns_given_the_class_by_hand():
    """In either class 30, 10, 10 and 30 rows: 160 log-ratios of 1.5 and .5, less half a degree of freedom a class."""
    a, b = np.repeat([0, 0, 1, 1], [30, 10, 10, 30]), np.repeat([0, 1, 0, 1], [30, 10, 10, 30])
    X = pd.DataFrame({"a": np.tile(a, 2), "b": np.tile(b, 2)})
    nb = eo.NaiveBayes(eo.Bernoulli)
    y = np.repeat([0, 1], 80)
    [pair] = nb.fit(X, y).check(X, y)
    nats = 2 * (60 * np.log(1.5) + 20 * np.log(0.5))
    assert (pair["information"], pair["rows"]) == (pytest.approx(nats / 160), 160)
    assert pair["excess"] == pytest.approx((nats - 2 / 2) / 160)


def test_a_row_that_is_impossible_in_every_class_gets_the_prior_and_a_warning():
    nb = sharp({"a": eo.Categorical, "b": eo.Categorical}).fit(
        [{"a": "1", "b": "1"}, {"a": "1", "b": "1"}, {"a": "2", "b": "2"}], list("xxy")
    )
    with pytest.warns(UserWarning, match="1 row impossible in every class"):
        p = nb.predict_proba([{"a": "1", "b": "2"}])
    np.testing.assert_allclose(p, [[2 / 3, 1 / 3]])


@pytest.mark.filterwarnings("ignore:1 row impossible")
@pytest.mark.parametrize("scale", [None, 0.0, 0.5])
def test_of_an_impossible_row_every_answer_is_that_of_its_odds(scale):
    """Here the second class is the more frequent one: what is said of it must not be said of the first."""
    rows = [{"a": "1", "b": "1", "text": "one"}] * 2 + [{"a": "2", "b": "2", "text": "two"}] * 3
    columns = {"a": eo.Categorical, "b": eo.Categorical, "text": eo.Words() if scale is None else eo.Categorical}
    nb = sharp(columns).fit(rows, list("xxyyy"))
    if scale is not None:
        nb = eo.NaiveLogistic.of(bridge(nb.model_, learnt_of(rows, list("xxyyy")), scale, 1.0))
    row = [{"a": "1", "b": "2", "text": "one two"}]
    p, [z], [why] = nb.predict_proba(row)[0], nb.decision_function(row), nb.explain(row)
    if scale != 0:
        np.testing.assert_allclose(p, [0.4, 0.6] if scale is None else np.exp(normal(nb.model_.log_start)))
        assert [term.log_odds for term in why.terms] == [0.0] * len(why.terms)
    assert nb.predict(row).tolist() == [why.of] == [nb.classes_[p.argmax()]]
    assert nb.score(row, [why.of]) == 1.0
    assert z == pytest.approx(np.log(p[1] / p[0]), abs=1e-9)
    assert why.prior + sum(term.log_odds for term in why.terms) == pytest.approx(why.total, abs=1e-9)
    assert (why.total, why.probability) == pytest.approx((abs(z), p.max()), abs=1e-9)


def normal(log):
    return log - np.log(np.exp(log).sum())


def test_what_is_impossible_is_said_of_the_cells_that_are_there():
    nb = sharp({"a": eo.Categorical, "b": eo.Categorical, "c": eo.Categorical}).fit(
        [{"a": "1", "b": "1", "c": "1"}, {"a": "2", "b": "2", "c": "2"}], list("xy")
    )
    with pytest.warns(UserWarning, match="impossible in every class"):
        [why] = nb.explain([{"a": "1", "b": "2"}])
    there, missing = "with the other cells impossible in every class: no evidence", "missing: no evidence"
    assert [term.note for term in why.terms] == [there, there, missing]


def test_a_number_beyond_any_seen_is_rare_and_not_impossible():
    nb = eo.NaiveBayes({"x": eo.Binned}).fit([{"x": float(v)} for v in range(40)], [v < 20 for v in range(40)])
    assert np.isfinite(nb.predict_joint_log_proba([{"x": 1e6}, {"x": -1e6}])).all()
    assert nb.predict([{"x": 1e6}, {"x": -1e6}]).tolist() == [False, True]


# Streams


def test_a_class_may_appear_mid_stream():
    X, y = mixed(90)
    order = np.argsort(y.to_numpy() == "mid", kind="stable")
    stream = eo.NaiveBayes(COLUMNS)
    for rows in np.array_split(order, 9):
        stream.partial_fit(X.iloc[rows], y.iloc[rows])
    np.testing.assert_allclose(stream.predict_proba(X), fitted(90).predict_proba(X), rtol=1e-9)


def test_one_class_so_far_is_certain():
    X, y = mixed(90)
    only = y == "hi"
    stream = eo.NaiveBayes(COLUMNS).partial_fit(X[only], y[only])
    np.testing.assert_array_equal(stream.predict_proba(X), np.ones((90, 1)))
    assert stream.predict(X).tolist() == ["hi"] * 90


def test_a_stream_may_begin_with_one_class_in_a_file_as_in_memory(tmp_path):
    X, y = mixed(90)
    only = y == "hi"
    X[only].assign(level=y[only]).to_csv(tmp_path / "first.csv", index=False)
    stream = eo.NaiveBayes(COLUMNS).partial_fit(tmp_path / "first.csv", "level")
    assert stream.classes_.tolist() == ["hi"]
    assert stream.feature_names_in_.tolist() == list(COLUMNS)
    stream.partial_fit(X[~only].assign(level=y[~only]), "level")
    np.testing.assert_allclose(stream.predict_proba(X), fitted(90).predict_proba(X), rtol=1e-9)


def test_a_category_may_appear_mid_stream():
    nb = eo.NaiveBayes({"c": eo.Categorical}).partial_fit([{"c": "a"}, {"c": "b"}], ["x", "y"])
    nb.partial_fit([{"c": "new"}], ["y"])
    assert nb.predict([{"c": "new"}]).tolist() == ["y"]


def test_a_stream_does_not_change_the_type_of_its_target():
    nb = eo.NaiveBayes().partial_fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(eo.DataError, match="the target is int by the schema and text here: convert it"):
        nb.partial_fit([[1.0]], ["a"])


@pytest.mark.parametrize(("kind", "y", "wrong"), [("text", ["m", "f"], [1, 0]), ("int", [1, 0], ["m", "f"])])
def test_a_model_that_knows_nothing_yet_knows_the_type_of_its_target(kind, y, wrong):
    empty = eo.Model(eo.Schema({"height": eo.Column(eo.Gaussian)}, "sex", kind), eo.Tally.nothing())
    with pytest.raises(eo.DataError, match=f"the target is {kind} by the schema"):
        empty.learn({"height": [1.85, 1.6]}, wrong)
    assert empty.learn({"height": [1.85, 1.6]}, y).learn({"height": [1.85, 1.6]}, y).classes.tolist() == sorted(y)


@pytest.mark.parametrize(
    ("y", "names"),
    [
        ([10, 9, 10, 9], ["9", "10"]),
        ([True, False] * 2, ["false", "true"]),
        ([2.0, 1.0] * 2, ["1", "2"]),
        (list("baba"), ["a", "b"]),
    ],
)
def test_a_class_is_found_by_its_value_and_by_its_name(y, names):
    nb = eo.NaiveBayes().fit(np.eye(4), y)
    assert nb.model_.names == names
    for model in (nb.model_, eo.NaiveLogistic().fit(np.eye(4), y).model_):
        assert [model.place(name) for name in model.names] == [0, 1]
        assert [model.place(label) for label in model.classes.tolist()] == [0, 1]
        with pytest.raises(eo.DataError, match="class 'never' not found; the classes are "):
            model.place("never")


def test_fit_forgets_what_came_before():
    X, y = mixed(90)
    nb = eo.NaiveBayes(COLUMNS).fit(X[:30], y[:30])
    assert nb.fit(X[30:], y[30:]).model_ == eo.NaiveBayes(COLUMNS).fit(X[30:], y[30:]).model_


def test_learning_is_checked_on_the_value_as_on_its_shell():
    X, y = mixed(30)
    model = fitted(30).model_
    assert model.learn(X, y.to_numpy()) == model.learn(X, y.to_list()) == model.learn(X, y)
    missing = y.to_numpy(dtype=object).copy()
    missing[3] = None
    with pytest.raises(eo.DataError, match="missing in row 3"):
        model.learn(X, missing)
    with pytest.raises(eo.DataError, match="29 target values for 30 rows"):
        model.learn(X, y.to_numpy()[:29])


# Class priors and weights


def priors(**settings):
    rows = [{"c": "a"}] * 6 + [{"c": "b"}] * 4
    nb = eo.NaiveBayes({"c": eo.Categorical}, **settings).fit(rows, ["x"] * 2 + ["y"] * 8)
    return np.exp(nb.model_.log_prior)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        ("auto", [0.2, 0.8]),
        ("estimated", [0.2, 0.8]),
        ("uniform", [0.5, 0.5]),
        ({"y": 0.3, "x": 0.7}, [0.7, 0.3]),
        ([0.1, 0.9], [0.1, 0.9]),
        (np.array([0.1, 0.9]), [0.1, 0.9]),
        (eo.Dirichlet(1), [3 / 12, 9 / 12]),
        (eo.Dirichlet({"x": 5, "y": 1}), [7 / 16, 9 / 16]),
    ],
    ids=str,
)
def test_class_priors(prior, expected):
    np.testing.assert_allclose(priors(class_prior=prior), expected)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ({"x": 0.5}, "no probability for class 'y'"),
        ([0.5, 0.4], "adds up to 0.9"),
        ([1.0], "1 probabilities for 2 classes"),
        ([1.5, -0.5], "probabilities"),
    ],
    ids=str,
)
def test_class_priors_that_are_none(prior, words, tmp_path):
    rows = pd.DataFrame({"colour": ["red", "blue"], "label": ["x", "y"]})
    rows.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    for given in (rows, tmp_path / "rows.jsonl"):  # it is said at once
        with pytest.raises(eo.DataError, match=words):
            eo.NaiveBayes({"colour": eo.Categorical}, class_prior=prior).fit(given, "label")


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
def test_a_class_weight_is_a_weight_on_the_rows_of_the_class(estimate):
    X, y = mixed(80)
    weights = {"lo": 0.5, "hi": 3.0}
    by_class = eo.NaiveBayes(COLUMNS, class_weight=weights, estimate=estimate).fit(X, y)
    by_row = eo.NaiveBayes(COLUMNS, estimate=estimate).fit(X, y, sample_weight=y.map(weights).fillna(1.0))
    np.testing.assert_allclose(by_class.predict_log_proba(X), by_row.predict_log_proba(X), rtol=1e-9)


def test_a_class_weight_of_0_leaves_a_class_out_but_not_every_class(tmp_path):
    X, y = mixed(80)
    nb = eo.NaiveBayes(COLUMNS, class_weight={"lo": 0.0}).fit(X, y)
    np.testing.assert_array_equal(nb.predict_proba(X)[:, 1], 0.0)
    nothing = dict.fromkeys(["lo", "mid", "hi"], 0.0)
    words = "class_weight is 0 for 'hi', 'lo', 'mid', so no row counts: give one a factor above 0"
    with pytest.raises(eo.DataError, match=words):
        eo.NaiveBayes(COLUMNS, class_weight=nothing).fit(X, y)
    with pytest.raises(eo.DataError, match=words):
        nb.model_.set(class_weight=nothing).log_proba(X)


def test_a_class_weight_for_no_class_is_refused_of_rows_in_memory_and_in_files(tmp_path):
    X, y = mixed(80)
    X.assign(level=y).to_csv(tmp_path / "rows.csv", index=False)
    for tune in (None, "loo"):
        for rows in (X.assign(level=y), tmp_path / "rows.csv"):
            with pytest.raises(eo.DataError, match="class_weight has a factor for 'low', which is no class"):
                eo.NaiveBayes(COLUMNS, class_weight={"low": 2.0}, tune=tune).fit(rows, "level")


def test_balanced_classes_weigh_the_same():
    X, y = mixed(80)
    nb = eo.NaiveBayes(COLUMNS, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(np.exp(nb.model_.log_prior), [1 / 3] * 3)
    each = len(y) / (3 * y.value_counts())
    by_row = eo.NaiveBayes(COLUMNS).fit(X, y, sample_weight=y.map(each))
    np.testing.assert_allclose(nb.predict_log_proba(X), by_row.predict_log_proba(X), rtol=1e-9)


# Classes in value order


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([10, 2, 10, 2], [2, 10]),
        ([10.0, 2.0, 10.0, -1.0], [-1.0, 2.0, 10.0]),
        ([True, False, True, True], [False, True]),
        (["b", "a", "c", "a"], ["a", "b", "c"]),
        (["10", "2", "10", "2"], ["10", "2"]),
        (pd.Categorical([10, 2, 10, 2]), [2, 10]),
        (pd.Series([10, 2, 10, 2], dtype="Int64"), [2, 10]),
        (pd.Series([True, False, True, True], dtype="boolean"), [False, True]),
        (pa.array([10, 2, 10, 2]).dictionary_encode(), [2, 10]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_classes_are_in_the_order_of_their_values(y, classes):
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    nb = eo.NaiveBayes({"x": eo.Gaussian}).fit(X, y)
    assert nb.classes_.tolist() == classes
    assert type(nb.classes_.tolist()[0]) is type(classes[0])
    assert set(nb.predict(X).tolist()) <= set(classes)


@pytest.mark.parametrize("as_category", [False, True])
def test_a_target_column_keeps_its_type(as_category):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [10, 2, 10, 2]})
    frame = frame.astype({"y": "category"}) if as_category else frame
    assert eo.NaiveBayes({"x": eo.Gaussian}).fit(frame, "y").classes_.tolist() == [2, 10]


# Tables, samples, counts of parameters


def test_tables_have_shares_with_credible_intervals():
    rows = [{"c": "a"}] * 3 + [{"c": "b"}] * 7 + [{"c": "b"}] * 2
    nb = eo.NaiveBayes({"c": eo.Categorical}, prior="flat", smoothing=1.0).fit(rows, ["x"] * 10 + ["y"] * 2)
    found = {(row["class"], row["c"]): (row["p"], row["low"], row["high"]) for row in nb.tables["c"]}
    low, high = stats.beta(4, 8).interval(0.95)
    assert found["x", "a"] == pytest.approx((4 / 12, low, high))
    assert found["y", "a"] == pytest.approx((1 / 4, *stats.beta(1, 3).interval(0.95)))


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("estimate", ["predictive", "mean", "map", "mle"])
def test_every_columns_table_has_an_interval_that_is_one(name, estimate):
    table = fitted(estimate=estimate).tables[name]
    assert len(table) >= 3
    for row in table:
        assert row["low"] < row["high"]
    assert {row["level"] for row in table} == {"hi", "lo", "mid"}


def test_the_table_of_a_column_that_has_the_targets_default_name():
    rows = [{"class": "first"}, {"class": "third"}, {"class": "third"}]
    nb = sharp({"class": eo.Categorical}).fit(rows, ["saved", "lost", "lost"])
    assert "saved" in repr(nb.tables["class"])
    assert "third" in repr(nb.tables["class"])


def test_an_unknown_table_is_told_its_neighbour():
    with pytest.raises(KeyError, match="did you mean 'colour'"):
        fitted().tables["color"]


def test_the_interval_of_a_mean_with_a_known_variance():
    x = np.array([4.0, 6.0, 8.0, 20.0, 22.0])
    column = eo.Column(eo.Gaussian, variance=9.0)
    nb = eo.NaiveBayes({"x": column}, prior="flat").fit(pd.DataFrame({"x": x}), list("aaabb"))
    row = nb.tables["x"][0]
    half = 1.959964 * 3 / math.sqrt(3)
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((6, 6 - half, 6 + half), rel=1e-6)


def test_samples_of_a_class_look_like_the_class():
    nb = fitted(600, estimate="mean")
    drawn = nb.sample(4000, given="hi", random_state=0).to_pandas()
    own = nb.model_.classes.tolist().index("hi")
    assert set(drawn["level"]) == {"hi"}
    for name in ("flag", "kicks", "height", "fare"):
        alone = nb.model_.distributions[name].at(own)
        z = (drawn[name].mean() - alone.mean) / math.sqrt(alone.variance / len(drawn))
        assert abs(z) < 4.5
    for colour, share in zip(
        nb.model_.distributions["colour"].labels.texts(), nb.model_.distributions["colour"].shares
    ):
        assert abs((drawn["colour"] == colour).mean() - share[own]) < 0.04


def test_samples_have_the_classes_shares():
    nb = fitted(600)
    drawn = nb.sample(6000, random_state=0)["level"].to_pylist()
    for label, log_p in zip(nb.classes_, nb.model_.log_prior):
        p = math.exp(log_p)
        assert abs(drawn.count(label) / 6000 - p) < 4.5 * math.sqrt(p * (1 - p) / 6000)


def test_a_model_learns_its_own_samples():
    nb = fitted(600)
    again = eo.NaiveBayes(COLUMNS).fit(nb.sample(5000, random_state=1), "level")
    X, _ = mixed(200, 9)
    assert (nb.predict(X) == again.predict(X)).mean() > 0.9


def test_samples_of_no_class():
    with pytest.raises(eo.DataError, match="class 'high' not found"):
        fitted().sample(1, given="high")


@pytest.mark.parametrize("estimate", ["predictive", "mean"])
def test_score_samples_is_the_log_of_the_sum_over_classes(estimate):
    X, _ = mixed(50)
    nb = fitted(estimate=estimate)
    joint = nb.predict_joint_log_proba(X)
    np.testing.assert_allclose(nb.score_samples(X), np.logaddexp.reduce(joint, axis=1), rtol=1e-12)
    np.testing.assert_allclose(joint - nb.score_samples(X)[:, None], nb.predict_log_proba(X), atol=1e-9)


def test_the_probability_of_all_rows_of_a_small_table_is_1():
    nb = eo.NaiveBayes({"c": eo.Categorical, "f": eo.Bernoulli}).fit(HOLES, HOLES_Y)
    every = [{"c": c, "f": f} for c in "ab" for f in (0, 1)]
    assert np.exp(nb.score_samples(every)).sum() == pytest.approx(1)


def test_parameters_are_counted():
    X, y = mixed(200)
    finite = {name: COLUMNS[name] for name in ("colour", "flag")}
    both = eo.NaiveBayes(finite).fit(X[list(finite)], y)
    assert both.n_parameters_ == {"naive": 2 + 3 * 3 + 3 * 1, "joint": 3 * 4 * 2 - 1}
    numbers = {"kicks": eo.Poisson, "height": eo.Gaussian, "fare": eo.LogGaussian}
    nb = eo.NaiveBayes(numbers).fit(X[list(numbers)], y)
    assert nb.n_parameters_ == {"naive": 2 + 3 + 6 + 9, "joint": None}
    shared = eo.NaiveBayes(eo.Column(eo.Gaussian, variance="pooled")).fit(X[["height"]], y)
    given = eo.NaiveBayes(eo.Column(eo.Gaussian, variance=2.0)).fit(X[["height"]], y)
    assert (shared.n_parameters_["naive"], given.n_parameters_["naive"]) == (2 + 3 + 1, 2 + 3)


def test_check_names_a_planted_pair():
    rng = np.random.default_rng(0)
    X, y = mixed(1000)
    X["echo"] = X["height"] + rng.normal(0, 2, 1000)
    found = eo.NaiveBayes(COLUMNS).fit(X, y).check(X, y)
    assert {found[0]["a"], found[0]["b"]} == {"height", "echo"}
    assert found[0]["p_value"] < 1e-9
    assert found[0]["excess"] > 10 * found[1]["excess"]
    assert len(eo.NaiveBayes(COLUMNS).fit(X, y).check(X, y, most=3)) == 3
    with pytest.raises(ValueError, match="most=-1: expected a whole number, 0 or more"):
        eo.NaiveBayes(COLUMNS).fit(X, y).check(X, y, most=-1)


def test_check_finds_nothing_where_there_is_nothing():
    X, y = mixed(3000, holes=0.2)
    pairs = eo.NaiveBayes(COLUMNS).fit(X, y).check(X, y, most=15)
    assert len(pairs) == 15
    assert min(pair["p_value"] for pair in pairs) > 0.05 / 15


@pytest.mark.parametrize("family", [eo.Bernoulli, eo.Poisson, eo.Binned], ids=lambda family: family.__name__)
def test_check_sees_rare_ones(family):
    rare = (np.arange(1000) % 20 == 0).astype(float)
    X, y = pd.DataFrame({"a": rare, "b": rare, "c": np.arange(1000) % 3 == 0}), np.arange(1000) % 7 == 0
    found = eo.NaiveBayes({"a": family, "b": family}).fit(X, y).check(X, y)
    assert {found[0]["a"], found[0]["b"]} == {"a", "b"}
    assert found[0]["p_value"] < 1e-9


def test_the_information_of_a_pair_by_hand():
    rows = [{"a": "0", "b": "0"}, {"a": "1", "b": "1"}] * 2
    pairs = eo.NaiveBayes({"a": eo.Categorical, "b": eo.Categorical}).fit(rows, [0, 0, 1, 1]).check(rows, [0, 0, 1, 1])
    assert pairs[0]["information"] == pytest.approx(math.log(2))


# Linear discriminants


def one_hot(X, names):
    columns = []
    for name in names:
        column, _, value = name.partition("=")
        columns.append((X[column] == value).astype(float) if value else X[column])
    return np.column_stack(columns)


LINEAR = {
    "colour": eo.Categorical,
    "flag": eo.Bernoulli,
    "kicks": eo.Poisson,
    "height": eo.Column(eo.Gaussian, variance="pooled"),
    "age": eo.Column(eo.Gaussian, variance=100.0),
}


@pytest.mark.parametrize("temper", [False, True])
@pytest.mark.parametrize("estimate", ["mean", "map", "mle"])
@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_reproduce_the_decision_function(estimate, classes, temper):
    X, y = mixed(120, holes=0.0)
    X = X[list(LINEAR)]
    y = y if classes == 3 else y == "hi"
    nb = eo.NaiveBayes(LINEAR, estimate=estimate, temper=temper).fit(X, y)
    z = one_hot(X, nb.coef_names_) @ nb.coef_.T + nb.intercept_
    if classes == 2:
        assert nb.coef_.shape == (1, 4 + 4)
        np.testing.assert_allclose(z[:, 0], nb.decision_function(X), rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_allclose(z - np.logaddexp.reduce(z, axis=1)[:, None], nb.predict_log_proba(X), atol=1e-9)


@pytest.mark.parametrize("name", ["flag", "colour"])
def test_flags_and_categories_are_linear_under_the_default_estimate_too(name):
    X, y = mixed(120, holes=0.0)
    nb = eo.NaiveBayes({name: COLUMNS[name]}).fit(X[[name]], y == "hi")
    z = one_hot(X, nb.coef_names_) @ nb.coef_.T + nb.intercept_
    np.testing.assert_allclose(z[:, 0], nb.decision_function(X[[name]]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("column", "estimate"),
    [
        (eo.Gaussian, "mean"),
        (eo.Column(eo.Gaussian, variance="pooled"), "predictive"),
        (eo.Column(eo.Gaussian, variance=100.0), "predictive"),
        (eo.Binned, "mean"),
        (eo.LogGaussian, "mean"),
        (eo.Poisson, "predictive"),
    ],
    ids=str,
)
def test_a_model_that_is_not_linear_has_no_coefficients(column, estimate):
    X, y = mixed(120, holes=0.0)
    nb = eo.NaiveBayes({"kicks": column}, estimate=estimate).fit(X[["kicks"]], y)
    with pytest.raises(AttributeError, match="the model is not linear: column 'kicks'"):
        nb.coef_  # noqa: B018
    assert not hasattr(nb, "intercept_")


# Smoothing


def leave_one_out(columns, rows, y, strength, **settings):
    """Σ log p(x_i | c_i, all other rows): each row forgotten, then asked about."""
    nb = eo.NaiveBayes(columns, smoothing=strength, **settings).fit(rows, y)
    total = 0.0
    for i in range(len(rows)):
        rest = nb.model_.forget(rows[i : i + 1], np.array(y[i : i + 1]))
        own = rest.classes.tolist().index(y[i])
        total += float((rest.log_joint(rows[i : i + 1]) - rest.log_prior)[0, own])
    return total


@pytest.mark.parametrize("prior", ["pooled", "flat"])
@pytest.mark.parametrize("family", [eo.Categorical, eo.Bernoulli], ids=lambda family: family.__name__)
def test_auto_smoothing_is_brute_force_leave_one_out(prior, family):
    rng = np.random.default_rng(4)
    y = (np.arange(60) % 3).tolist()
    rows = [{"c": int(rng.random() < 0.3 + 0.1 * c)} for c in y]
    if family is eo.Categorical:
        rows = [{"c": "abcde"[min(int(rng.exponential(1 + c)), 4)]} for c in y]
    chosen = eo.NaiveBayes({"c": family}, smoothing="auto", prior=prior).fit(rows, y).model_.smoothing("c")

    def score(strength):
        """Leave-one-out, and the log-normal prior of the strength itself: 2 pseudo-rows, give or take e²."""
        brute = leave_one_out({"c": family}, rows, y, strength, prior=prior)
        return brute - (math.log(strength / 2) / 2) ** 2 / 2

    best = score(chosen)
    assert best >= max(score(strength) for strength in np.logspace(-2, 3, 21)) - 1e-9
    assert best >= max(score(chosen * 1.1), score(chosen / 1.1))


@pytest.mark.parametrize("family", [eo.Poisson, eo.Gaussian, eo.LogGaussian], ids=lambda family: family.__name__)
def test_auto_smoothing_of_families_that_count_no_values_is_two_rows(family):
    X, y = mixed(120)
    model = eo.NaiveBayes({"kicks": family}, smoothing="auto").fit(X[["kicks"]], y).model_
    assert model.smoothing("kicks") == 2.0


def test_each_column_may_have_its_own_smoothing():
    X, y = mixed(60)
    columns = {"colour": eo.Column(eo.Categorical, smoothing=5.0), "flag": eo.Bernoulli}
    model = eo.NaiveBayes(columns, smoothing=1.0).fit(X[["colour", "flag"]], y).model_
    assert (model.smoothing("colour"), model.smoothing("flag")) == (5.0, 1.0)


def test_pooled_smoothing_is_so_many_rows_of_all_classes():
    rows, y = [{"c": c} for c in "aaabab"], list("xxxxyy")
    nb = eo.NaiveBayes({"c": eo.Categorical}, smoothing=3.0).fit(rows, y)
    shares = {(row["class"], row["c"]): row["p"] for row in nb.tables["c"]}
    assert shares["x", "a"] == pytest.approx((3 + 3 * 4 / 6) / (4 + 3))
    assert shares["y", "b"] == pytest.approx((1 + 3 * 2 / 6) / (2 + 3))


def test_a_columns_own_prior_is_used():
    rows, y = [{"f": f} for f in (1, 1, 0, 1)], list("xxyy")
    nb = eo.NaiveBayes({"f": eo.Column(eo.Bernoulli, prior=eo.Beta(2, 2))}).fit(rows, y)
    assert [row["p"] for row in nb.tables["f"]] == pytest.approx([4 / 6, 3 / 6])


# Columns that say nothing


@pytest.mark.parametrize("family", list(COLUMNS.values()), ids=lambda family: family.__name__)
@pytest.mark.parametrize("estimate", ["predictive", "mean", "map", "mle"])
def test_a_constant_column_says_nothing_to_classes_of_equal_size(family, estimate):
    value = "a" if family is eo.Categorical else 1.0
    rows = [{"c": value, "f": i % 2} for i in range(8)]
    nb = eo.NaiveBayes({"c": family, "f": eo.Bernoulli}, estimate=estimate).fit(rows, list("xxxxyyyy"))
    assert np.isfinite(nb.predict_proba(rows)).all()
    for why in nb.explain(rows):
        assert {term.column: term.log_odds for term in why.terms}["c"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("family", list(COLUMNS.values()), ids=lambda family: family.__name__)
@pytest.mark.parametrize("estimate", ["predictive", "mean", "map", "mle"])
def test_a_class_whose_cells_are_all_missing_is_still_predicted(family, estimate):
    values = list("abba") if family is eo.Categorical else [0.0, 1.0, 1.0, 0.0]
    if family is eo.LogGaussian:
        values = [1.0, 2.0, 2.5, 1.5]
    rows = [{"c": value} for value in values] + [{"c": None}] * 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nb = eo.NaiveBayes({"c": family}, estimate=estimate).fit(rows, list("xxxxyyyy"))
        p = nb.predict_proba(rows)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p[4:], 0.5)


@pytest.mark.parametrize("estimate", ["predictive", "mean", "map"])
@pytest.mark.parametrize("family", list(COLUMNS.values()), ids=lambda family: family.__name__)
def test_a_class_of_one_row_is_predicted(family, estimate):
    values = list("abbab") if family is eo.Categorical else [0.0, 1.0, 1.0, 0.0, 1.0]
    if family is eo.LogGaussian:
        values = [1.0, 2.0, 2.5, 1.5, 3.0]
    rows = [{"c": value} for value in values]
    nb = eo.NaiveBayes({"c": family}, estimate=estimate).fit(rows, list("xxxxy"))
    assert np.isfinite(nb.predict_proba(rows)).all()
    np.testing.assert_allclose(nb.predict_proba(rows).sum(axis=1), 1)


def test_a_column_that_a_table_has_not_is_told_its_neighbour():
    table = eo.NaiveBayes().fit(titanic(), "survived").tables["sex"]
    assert len(table["p"]) == len(table) == 4
    assert table[np.int64(0)] == table.rows[0]
    with pytest.raises(KeyError, match="column 'hihg' not found; did you mean 'high'"):
        table["hihg"]


def test_probabilities_of_classes_that_add_up_to_1_by_rounding_do_so_exactly():
    nb = eo.NaiveBayes(class_prior=[0.333333] * 3).fit({"x": ["a", "b", "c"] * 3}, ["u", "v", "w"] * 3)
    assert np.exp(nb.model_.log_prior).sum() == pytest.approx(1.0, abs=1e-15)
    assert len(nb.sample(5, random_state=0)) == 5


def test_rows_impossible_in_every_class_are_told_once_and_where_it_was_asked():
    nb = eo.NaiveBayes(eo.Categorical, smoothing=0).fit({"a": list("uv") * 2, "b": list("uv") * 2}, list("xy") * 2)
    rows = {"a": ["u"] * 70_000, "b": ["v"] * 70_000}
    for ask in (nb.predict_proba, nb.predict, nb.predict_log_proba):
        with pytest.warns(UserWarning, match="70,000 rows impossible in every class") as told:
            ask(rows)
        assert [one.filename for one in told] == [__file__]


def test_a_named_target_of_values_as_good_as_all_different_is_refused_in_memory_as_in_files():
    with pytest.raises(
        eo.DataError, match="the target 'y' has 300 different values in 300 rows: expected a few classes"
    ):
        eo.NaiveBayes().fit({"x": list(range(300)), "y": [f"c{i}" for i in range(300)]}, "y")
