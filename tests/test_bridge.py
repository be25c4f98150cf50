"""Logistic regression on top of naive Bayes: its ends, its sums, and its file."""

import dataclasses
import functools

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import evenodds as eo
from evenodds.data.kept import Learnt
from evenodds.data.memory import table
from evenodds.data.sum import target_codes
from evenodds.models.bridge.bridge import Bridge
from evenodds.models.bridge.correct import (
    Problem,
    Symmetric,
    around_zero,
    correct,
    curvature,
    frequent,
    narrowed,
    scores,
    widened,
)
from evenodds.models.bridge.features import Matrices
from evenodds.models.bridge.fit import bridge
from evenodds.models.bridge.search import shared
from evenodds.models.bridge.sharpness import WIDTH, costs, moderated, sharpest
from evenodds.models.bridge.together import NONE, One, Softmaxes, together
from evenodds.models.glm.blocks import Matrix
from evenodds.models.glm.losses import Logistic, Softmax
from evenodds.models.glm.minimise import minimise

WORDS = ["free", "prize", "win", "lunch", "noon", "see", "you", "now", "money", "home"]


def texts(n, seed=0, classes=("ham", "spam")):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(classes), n)
    tilt = rng.normal(size=(len(classes), len(WORDS)))
    p = np.exp(tilt) / np.exp(tilt).sum(axis=1, keepdims=True)
    x = [" ".join(rng.choice(WORDS, rng.integers(1, 12), p=p[c])) for c in y]
    return x, np.array(classes)[y]


def mixed(n, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    age = 40 + 6 * y + 10 * rng.normal(size=n)
    age[rng.random(n) < 0.1] = np.nan
    town = np.array(["A", "B", "C"])[(y + rng.integers(0, 2, n)) % 3]
    notes, _ = texts(n, seed + 1)
    rows = {"age": age, "pay": age + rng.normal(size=n), "town": town.tolist(), "note": notes}
    return rows, np.array(["no", "yes", "maybe", "never"])[y]


COLUMNS = {"age": eo.Binned, "pay": eo.Gaussian, "town": eo.Categorical, "note": eo.Words(ngrams=2)}


@functools.cache  # a search takes seconds, and no test changes what it finds
def fitted(n=120, classes=2, **how):
    rows, y = mixed(n, classes=classes)
    return eo.NaiveLogistic(COLUMNS, **how).fit(rows, y), rows, y


@pytest.mark.parametrize("classes", [2, 4])
def test_all_of_naive_bayes_and_no_correction_is_tempered_naive_bayes(classes):
    model, rows, y = fitted(classes=classes, scale=1, strength=np.inf)
    nb = eo.NaiveBayes(COLUMNS).fit(rows, y).model_.tempered(rows, y)
    assert model.model_.model == nb
    np.testing.assert_allclose(model.predict_log_proba(rows), nb.log_proba(rows), rtol=0, atol=1e-12)


def test_none_of_naive_bayes_is_ridge_logistic_regression(monkeypatch):
    monkeypatch.setattr("evenodds.models.bridge.fit.KEPT", 1e-9)
    rows, y = mixed(150)
    model = eo.NaiveLogistic(COLUMNS, scale=0, strength=3.0).fit(rows, y)
    dense, sparse = model.model_.features.matrices(table(rows), model.model_.schema)
    design = np.column_stack([np.ones(150), dense, sparse.toarray()])
    precision = np.full(design.shape[1], 3.0 / 2)  # of the difference of two classes' weights
    precision[0] = 1e-3 / 2
    found = minimise(Logistic(), 0.0, precision, Matrix(design, (y == "yes").astype(float))).coefficients
    np.testing.assert_allclose(model.decision_function(rows), design @ found, rtol=0, atol=1e-7)


def random_problem(n, width, classes, seed=0):
    rng = np.random.default_rng(seed)
    sparse = csr_array(rng.random((n, width)) * (rng.random((n, width)) < 0.3))
    design = Matrices(rng.normal(size=(n, 3)), sparse)
    return Problem(design, rng.integers(0, classes, n), rng.normal(size=(n, classes)), rng.random(n) + 0.5)


def test_two_of_many_classes_are_the_two_class_case():
    """A third class that is all but impossible leaves the other two as if they were alone."""
    two = random_problem(60, 12, 2)
    three = two._replace(offset=np.column_stack([two.offset, np.full(60, -80.0)]))
    w2 = correct(two, 1.0, around_zero(2.0, two.width, 2), tolerance=1e-9)
    w3 = correct(three, 1.0, around_zero(2.0, two.width, 3), tolerance=1e-9)
    np.testing.assert_allclose(w3[:, :2], w2, rtol=0, atol=1e-10)
    np.testing.assert_allclose(w3[:, 2], 0.0, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_as_many_columns_as_rows_say_the_same_as_all(classes):
    problem = random_problem(25, 80, classes)
    narrow = narrowed(problem)
    assert narrow.width <= 26 < problem.width
    prior = [around_zero(0.7, p.width, classes) for p in (problem, narrow)]
    wide = correct(problem, 0.5, prior[0], tolerance=1e-9)
    back = widened(problem, narrow, correct(narrow, 0.5, prior[1], tolerance=1e-9))
    np.testing.assert_allclose(back, wide, rtol=0, atol=1e-10)
    np.testing.assert_allclose(scores(problem, 0.5, back), scores(problem, 0.5, wide), rtol=0, atol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_columns_at_right_angles_say_the_same_as_all(classes):
    problem = random_problem(60, 8, classes)
    narrow = narrowed(problem)
    products = narrow.design.dense.T @ narrow.design.dense
    np.testing.assert_allclose(products - np.diag(np.diag(products)), 0.0, atol=1e-12)
    prior = [around_zero(0.7, p.width, classes) for p in (problem, narrow)]
    wide = correct(problem, 0.5, prior[0], tolerance=1e-9)
    back = widened(problem, narrow, correct(narrow, 0.5, prior[1], tolerance=1e-9))
    np.testing.assert_allclose(back, wide, rtol=0, atol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_fits_made_as_one_are_those_made_alone(classes):
    """Folds, scales and strengths side by side: what is held out of one is no row of it."""
    problem = narrowed(random_problem(50, 9, classes))
    fits, alone = [], []
    for k, (scale, strength) in enumerate([(1.0, 3.0), (0.5, 0.3), (0.0, 10.0)]):
        kept = np.flatnonzero(np.arange(50) % 4 != k)
        y = np.full(50, NONE)
        y[kept] = problem.y[kept]
        fits.append(One(y, scale * problem.offset, strength))
        prior = around_zero(strength, problem.width, classes)
        alone.append(correct(problem.some(kept), scale, prior, tolerance=1e-9))
    for found, expected in zip(together(problem.design, problem.weights, fits, 1e-10), alone):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
        # what all classes have in common is held by the prior alone, and changes no probability
        apart = found - expected
        np.testing.assert_allclose(apart - apart.mean(axis=1, keepdims=True), 0, atol=1e-6)
    assert together(problem.design, problem.weights, [], 1e-8) == []


def test_side_by_side_costs_slopes_and_curves_are_those_of_each():
    rng = np.random.default_rng(2)
    score, y = rng.normal(size=(7, 2, 3)), rng.integers(0, 3, (7, 2))
    y[2, 1] = NONE
    cost, first, second = Softmaxes(2, 3).curves(score.reshape(7, 6), y)
    each = [Symmetric(3).curves(score[:, k], np.maximum(y[:, k], 0)) for k in range(2)]
    known = y != NONE
    np.testing.assert_allclose(cost, sum(known[:, k] * one[0] for k, one in enumerate(each)), rtol=1e-14)
    for found, part in ((first, 1), (second, 2)):
        expected = [known[:, [k]] * one[part] for k, one in enumerate(each)]
        np.testing.assert_allclose(found, np.concatenate(expected, axis=1), rtol=0, atol=1e-15)


def test_the_most_frequent_columns_are_kept_and_known():
    problem = random_problem(40, 30, 2)
    fewer, places = frequent(problem, 2 * (1 + 3 + 10))
    assert fewer.width == len(places) == 14
    counts = np.diff(problem.design.sparse.tocsc().indptr)
    assert counts[places[4:] - 4].min() >= np.sort(counts)[-10]
    weights = np.random.default_rng(0).normal(size=(14, 2))
    whole = np.zeros((problem.width, 2))
    whole[places] = weights
    np.testing.assert_allclose(scores(problem, 1.0, whole), scores(fewer, 1.0, weights), rtol=0, atol=1e-12)
    assert frequent(problem, 10_000)[0] is problem


@pytest.mark.parametrize("classes", [2, 3])
def test_the_curvature_is_that_of_the_cost(classes):
    problem = random_problem(40, 6, classes)
    weights = np.random.default_rng(1).normal(size=(problem.width, classes)) / 5
    found = curvature(problem, 1.0, weights)

    def slope(w):
        raised = np.exp(scores(problem, 1.0, w))
        away = raised / raised.sum(axis=1, keepdims=True) - np.eye(classes)[problem.y]
        design = np.column_stack([np.ones(40), problem.design.dense, problem.design.sparse.toarray()])
        return design.T @ (problem.weights[:, None] * away)

    for at in [(0, 0), (2, 1), (5, classes - 1)]:
        step = np.zeros_like(weights)
        step[at] = 1e-5
        second = (slope(weights + step) - slope(weights - step))[at] / 2e-5
        assert found[at] == pytest.approx(second, rel=1e-8)


def test_a_factor_is_the_most_probable_one_and_few_rows_hold_it_near_1():
    """Rows that are all told rightly would have it as large as it may be."""
    score, y, w = np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.5]]), np.array([1, 0, 1]), np.array([1.0, 2.0, 1.0])
    factor, cost = sharpest(score, y, w)

    def slope(log, h=1e-4):
        return float(w @ (costs(np.exp(log + h) * score, y) - costs(np.exp(log - h) * score, y))) / (2 * h)

    assert slope(np.log(factor)) + np.log(factor) / WIDTH**2 == pytest.approx(0, abs=1e-3)
    assert 1 < factor < 1.5
    assert cost == pytest.approx(w @ costs(factor * score, y) / 4)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(
    "words", [eo.Words(ngrams=2), eo.Words(buckets=256), eo.Words(events="bernoulli", neighbours=1)]
)
def test_an_explanation_adds_up(classes, words):
    rows, y = mixed(80, classes=classes)
    model = eo.NaiveLogistic({**COLUMNS, "note": words}, scale=0.7, strength=0.5).fit(rows, y)
    some = {name: list(x[:12]) for name, x in rows.items()}
    some["note"][3], some["town"][4], some["note"][5] = None, "elsewhere", "prise and nothing known"
    joint = model.model_.log_joint(table(some))
    for i, one in enumerate(model.explain(some)):
        assert one.prior + sum(term.log_odds for term in one.terms) == pytest.approx(one.total, abs=1e-12)
        order = np.sort(joint[i])
        assert one.total == pytest.approx(order[-1] - order[-2], abs=1e-12)
    [against] = model.explain({name: x[:1] for name, x in some.items()}, of="no", against="yes")
    assert (against.of, against.against) == ("no", "yes")


@pytest.mark.parametrize("classes", [2, 4])
def test_what_is_loaded_is_what_was_saved(tmp_path, classes):
    model, rows, _ = fitted(n=60 if classes > 2 else 120, classes=classes)
    path = tmp_path / "bridge.eo"
    model.save(path)
    assert eo.load(path) == model.model_
    again = eo.NaiveLogistic.load(path)
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert Bridge.from_bytes(model.model_.to_bytes()) == model.model_
    assert dataclasses.replace(model.model_, scale=2.0) != model.model_
    assert dataclasses.replace(model.model_, tried=()) != model.model_


def test_what_was_told_and_not_tried_is_loaded_too():
    rows, y = mixed(40)
    told = eo.NaiveLogistic(COLUMNS, scale=0.5, strength=1.0).fit(rows, y).model_
    assert np.isnan(told.tried[0].log_loss)
    assert Bridge.from_bytes(told.to_bytes()) == told


def test_a_file_that_does_not_fit_together_is_refused():
    from evenodds import file

    model, *_ = fitted(60)
    arrays, header = file.unpack(model.model_.to_bytes())
    header.pop("format")

    def spoiled(change):
        more, head = dict(arrays), {**header, "features": [dict(one) for one in header["features"]]}
        change(more, head)
        return file.pack(more, head)

    def set_array(name, value):
        return lambda more, head: more.__setitem__(name, value)

    blob = next(name for name in arrays if name.startswith("bridge.") and name.endswith("blob"))
    changes = {
        "weights": set_array("bridge.weights", arrays["bridge.weights"][:-1]),
        "numbers that are none": set_array("bridge.weights", np.full_like(arrays["bridge.weights"], np.nan)),
        "curvature below 0": set_array("bridge.curvature", arrays["bridge.curvature"] - 1e9),
        "strength": set_array("bridge.scales", np.array([1.0, 0.0])),
        "tried": set_array("bridge.tried", -np.ones((2, 4))),
        "no array": lambda more, head: more.pop("bridge.weights"),
        "corrects a column": lambda more, head: head["features"][0].__setitem__("column", "agee"),
        "corrects the column": lambda more, head: head["features"][0].__setitem__("as", "words"),
        "has no array '0.keys'": lambda more, head: head["features"].reverse(),
        "not those of the naive Bayes": lambda more, head: head.__setitem__("rows", 3),
        "are not UTF-8": lambda more, head: more.__setitem__(blob, np.full_like(more[blob], 255)),
        "no naive Bayes": lambda more, head: head.__setitem__("below", []),
    }
    for reason, change in changes.items():
        with pytest.raises(eo.DataError, match=reason):
            Bridge.from_bytes(spoiled(change))


def test_threads_and_the_order_of_rows_change_nothing():
    rows, y = mixed(60, classes=3)
    one = eo.NaiveLogistic(COLUMNS, threads=1).fit(rows, y)
    two = eo.NaiveLogistic(COLUMNS, threads=2).fit(rows, y)
    assert one.model_ == two.model_
    turned = {name: x[::-1] for name, x in rows.items()}
    other = eo.NaiveLogistic(COLUMNS).fit(turned, y[::-1])
    np.testing.assert_allclose(other.predict_proba(rows), one.predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "values", [["no", "yes"], [0, 1], [False, True], [0.5, 1.5]], ids=["text", "int", "bool", "float"]
)
def test_files_are_as_memory(tmp_path, form, values):
    rows, y = mixed(200)
    frame = pd.DataFrame({**rows, "answer": np.array(values)[(y == "yes").astype(int)]})
    path = tmp_path / f"rows.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=60)
    files = eo.NaiveLogistic(COLUMNS).fit(path, "answer")
    memory = eo.NaiveLogistic(COLUMNS).fit(frame, "answer")
    assert files.classes_.tolist() == memory.classes_.tolist() == values
    np.testing.assert_allclose(files.predict_proba(path), memory.predict_proba(rows), rtol=0, atol=1e-12)


def test_it_is_no_worse_than_both_its_ends():
    """On data where the words repeat each other, rows held out are foretold better than by either parent, or nearly."""
    x, y = texts(400, seed=3)
    doubled = [f"{text} {text}" for text in x]
    train, test = slice(0, 200), slice(200, 400)
    losses = {}
    for name, how in {"bridge": {}, "bayes": {"scale": 1, "strength": np.inf}, "ridge": {"scale": 0}}.items():
        model = eo.NaiveLogistic(eo.Words(ngrams=2), **how).fit(doubled[train], y[train])
        p = model.predict_proba(doubled[test])[np.arange(200), np.searchsorted(model.classes_, y[test])]
        losses[name] = -np.log(p).mean()
    assert losses["bridge"] < 1.02 * min(losses["bayes"], losses["ridge"])


def test_learning_goes_on():
    x, y = texts(600, seed=5)
    model = eo.NaiveLogistic(eo.Words(), scale=0.5, strength=1.0).fit(x[:200], y[:200])
    first = model.model_
    model.partial_fit(x[200:400], y[200:400])
    assert model.model_.rows == 400
    assert model.model_.model.tally == eo.NaiveBayes(eo.Words()).fit(x[:400], y[:400]).model_.tally
    assert np.all(model.model_.curvature >= first.curvature)
    whole = eo.NaiveLogistic(eo.Words(), scale=0.5, strength=1.0).fit(x[:400], y[:400])
    apart = np.abs(model.decision_function(x[400:]) - whole.decision_function(x[400:])).mean()
    before = np.abs(eo.NaiveLogistic.of(first).decision_function(x[400:]) - whole.decision_function(x[400:])).mean()
    assert apart < before  # nearer to the fit of all rows than without the second half
    model.partial_fit(["you win"] * 3, ["new"] * 3)
    assert model.classes_.tolist() == ["ham", "new", "spam"]
    assert model.predict_proba(["you win"]).shape == (1, 3)


def test_one_class_alone_and_strange_settings_are_refused():
    with pytest.raises(eo.DataError, match="only one class"):
        eo.NaiveLogistic().fit([[1.0], [2.0]], ["a", "a"])
    for how in ({"scale": -1}, {"strength": 0}, {"scale": "some"}, {"strength": np.nan}):
        with pytest.raises(ValueError, match="expected a number"):
            eo.NaiveLogistic(**how).fit([[1.0], [2.0]], ["a", "b"])
    for seed in (-1, 0.5, True, "some", np.random.RandomState(0)):
        with pytest.raises(ValueError, match=r"random_state=.*: expected a whole number from 0"):
            eo.NaiveLogistic(random_state=seed).fit([[1.0], [2.0]], ["a", "b"])


@pytest.mark.parametrize("scale", [0.0, 0.5])
def test_an_infinite_cell_is_named_by_its_row_wherever_that_is(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 2))
    model = eo.NaiveLogistic(scale=scale, strength=1.0).fit(X[:200], X[:200, 0] > 0)
    X[8500, 1] = np.inf
    with pytest.raises(eo.DataError, match="column 'x1' is infinite in row 8500: replace it, or leave the cell empty"):
        model.predict(X)


def test_weights_are_told_by_name():
    model, *_ = fitted()
    named = {row["column"] for row in model.weights}  # of the strongest
    assert named
    assert named <= set(COLUMNS)
    assert sum(one["share"] for one in model.tried_) == pytest.approx(1.0, rel=1e-14)


def test_a_class_with_one_row_is_no_trouble():
    rows, y = mixed(40)
    y = y.astype(object)
    y[7] = "once"
    nb = eo.NaiveBayes(COLUMNS).fit(rows, y).model_
    learnt = Learnt(table(rows), target_codes(y.astype(str), 40))
    found = bridge(nb.tempered(rows, y), learnt)
    assert np.isfinite(found.log_proba(rows)).all()


def test_the_curves_are_the_diagonal_of_the_second_derivatives():
    rng = np.random.default_rng(0)
    score, y = rng.normal(size=(9, 4)), rng.integers(0, 4, 9)
    for loss in (Symmetric(4), Softmax(5)):
        cost, first, second = loss.slopes(score, y)
        found = loss.curves(score, y)
        np.testing.assert_array_equal(found[0], cost)
        np.testing.assert_array_equal(found[1], first)
        np.testing.assert_allclose(found[2], np.einsum("ikk->ik", second), rtol=0, atol=1e-15)


def test_candidates_that_disagree_are_moderated_and_those_that_agree_are_not():
    """A bold candidate and one that knows nothing: 20 of log-odds and 0 are not 10, whose odds are 22,000 to 1."""
    rng = np.random.default_rng(0)
    score = rng.choice([-10.0, 10.0], 30)[:, None] * np.array([-1.0, 1.0])

    def factor(other):
        return moderated([(0.5, score), (0.5, other)], np.ones(30))

    assert factor(score) == pytest.approx(1.0, abs=1e-4)
    mean = 10.0 * factor(np.zeros_like(score))  # in log-odds; the mean of the probabilities is 3/4
    assert mean == pytest.approx(np.log(3), rel=1e-3)


def test_few_rows_share_and_many_pick_one():
    losses = {(1.0, 3.0): 0.30, (1.0, 1.0): 0.29, (0.5, 1.0): 0.31}
    assert sum(one.share > 0.1 for one in shared(losses, 30)) == 3
    assert sum(one.share > 0 for one in shared(losses, 30, 0.36)) == 1  # none but the best is above the least
    assert [one.share for one in shared(losses, 3_000)] == [0.0, 1.0, 0.0]


def test_what_earlier_rows_said_of_two_classes_counts_in_full():
    """partial_fit == Laplace: the later rows' own cost, and a Gaussian as sharp as the earlier rows made it."""
    rng = np.random.default_rng(0)

    def rows(slope):
        x = rng.normal(size=(2000, 1))
        return x, (rng.random(2000) < 1 / (1 + np.exp(-slope * x[:, 0]))).astype(int)

    (x, y), (later, z) = rows(2.0), rows(0.0)
    first = eo.NaiveLogistic(eo.Gaussian, scale=0.0, strength=1e-3, quadratic=False).fit(x, y)
    [part] = first.model_.features.parts

    def design(x):
        return np.column_stack([np.ones(len(x)), np.clip((x[:, 0] - part.shift) / part.scale, -4, 4)])

    def weights(model):
        return model.weights[:, 1] - model.weights[:, 0]

    old, D = weights(first.model_), design(x)
    p = 1 / (1 + np.exp(-D @ old))
    sharp, b, D = (np.square(D) * (p * (1 - p))[:, None]).sum(axis=0), old.copy(), design(later)
    for _ in range(30):
        p = 1 / (1 + np.exp(-D @ b))
        slope = D.T @ (p - z) + sharp * (b - old)
        b -= np.linalg.solve(D.T @ (D * (p * (1 - p))[:, None]) + np.diag(sharp), slope)
    np.testing.assert_allclose(weights(first.partial_fit(later, z).model_), b, rtol=1e-4, atol=1e-5)
