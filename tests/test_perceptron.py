"""The perceptron: its laws at every step, its bound, and scikit-learn's face."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import evenodds as eo
from evenodds.errors import DataError
from evenodds.models.separators.linear_rule import homogeneous
from evenodds.models.separators.perceptron import learn, walk
from evenodds.models.separators.vectors import Rows


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([eo.Perceptron(), eo.Perceptron(averaged=True, bound=False)])
def test_common_checks(estimator, check):
    check(estimator)


def separable(seed, n_classes, p=2, n=12):
    """Whole numbers that some whole weights separate, and those rows only."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(n, p)).astype(float)
    scores = homogeneous(X) @ rng.integers(-3, 4, size=(p + 1, n_classes))
    order = np.sort(scores, axis=1)
    keep = order[:, -1] > order[:, -2]
    classes, y = np.unique(scores[keep].argmax(axis=1), return_inverse=True)
    assume(len(classes) == n_classes)
    return X[keep], y.astype(np.int64)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_the_laws_hold_at_every_step(seed, n_classes):
    X, y = separable(seed, n_classes)
    found = walk(X, y, np.arange(n_classes), seed=seed)
    assert found.separable
    assert found.converged
    assert found.mistakes <= found.bound * (1 + 1e-9)
    # the same walk, a look at a time
    whole = homogeneous(X)
    rng = np.random.default_rng(seed)
    W, late, T = np.zeros((n_classes, 3)), np.zeros((n_classes, 3)), 0
    for _ in range(found.epochs):
        for i in rng.permutation(len(X)):
            T += learn.py_func(whole, y, np.array([i]), W, late, 0)
            w = W[1:] if n_classes == 2 else W
            assert (w * found.best).sum() >= T * found.margin * (1 - 1e-9) - 1e-9
            assert (w * w).sum() <= T * found.radius**2 * (1 + 1e-12)
    assert found.mistakes == T
    np.testing.assert_array_equal(w, found.weights)
    scores = Rows(whole, y, n_classes, reference=n_classes == 2).scores(w.ravel())[0]
    assert (scores > 0).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_no_direction_has_a_larger_margin(seed, n_classes):
    X, y = separable(seed, n_classes)
    found = walk(X, y, np.arange(n_classes), seed=0)
    rows = Rows(homogeneous(X), y, n_classes, reference=n_classes == 2)
    assert np.linalg.norm(found.best) == pytest.approx(1, rel=1e-14)
    rng = np.random.default_rng(seed)
    others = rng.normal(size=(200, rows.dimensions))
    others = np.vstack([others, found.best.ravel() + 0.05 * others, found.weights.ravel()])
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert max(rows.scores(w)[0].min() for w in others) <= found.margin * (1 + 1e-9)


def test_by_hand():
    # u = (-1,-1), (2,1) in this order: the first look is a mistake (0 ≤ 0), w = (-1,-1); u·w = -3, w = (1,0); then 0
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    whole, W, late = homogeneous(X), np.zeros((2, 2)), np.zeros((2, 2))
    assert learn.py_func(whole, y, np.array([0, 1]), W, late, 0) == 2
    np.testing.assert_array_equal(W[1], [1, 0])
    np.testing.assert_array_equal(W[0], -W[1])
    assert learn.py_func(whole, y, np.array([0]), W, late, 2) == 1  # u·w = -1
    np.testing.assert_array_equal(W[1], [0, -1])
    np.testing.assert_array_equal(late[1], 0 * whole[0] + 1 * whole[1] - 2 * whole[0])


def test_the_mean_of_all_weights_on_the_way():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, size=30)
    found = walk(X, y, np.arange(3), max_epochs=4, seed=9, averaged=True, bound=False)
    order, W, late, seen = np.random.default_rng(9), np.zeros((3, 4)), np.zeros((3, 4)), []
    for _ in range(4):
        for i in order.permutation(30):
            learn.py_func(homogeneous(X), y, np.array([i]), W, late, 0)
            seen.append(W.copy())
    np.testing.assert_allclose(found.weights, np.mean(seen, axis=0), rtol=1e-12)


def test_the_compiled_kernel_is_the_plain_one():
    rng = np.random.default_rng(1)
    X, y, order = homogeneous(rng.normal(size=(50, 4))), rng.integers(0, 3, size=50), rng.permutation(50)
    plain, compiled = (np.zeros((3, 5)), np.zeros((3, 5))), (np.zeros((3, 5)), np.zeros((3, 5)))
    assert learn.py_func(X, y, order, *plain, 7) == learn.compiled(X, y, order, *compiled, 7)
    np.testing.assert_allclose(plain, compiled, rtol=1e-12)


def test_digits_4_and_9():
    digits = load_digits()
    some = np.isin(digits.target, [4, 9])
    X, y = digits.data[some], digits.target[some]
    line = eo.Perceptron(random_state=0).fit(X, y)
    assert (line.separable_, line.converged_, line.score(X, y)) == (True, True, 1.0)
    assert line.mistakes_ <= line.bound_
    assert line.radius_ == pytest.approx(max(np.linalg.norm(u) for u in homogeneous(X)), rel=1e-14)
    signed = np.where(y == 9, 1, -1) * (homogeneous(X) @ line.walk_.best.ravel())
    assert line.margin_ == pytest.approx(signed.min(), rel=1e-12)
    assert line.bound_ == pytest.approx(142.3318707194, rel=1e-9)
    again = eo.Perceptron(random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.coef_, line.coef_)
    assert (eo.Perceptron(random_state=1).fit(X, y).coef_ != line.coef_).any()


def test_one_perceptron_per_class_would_not_do():
    # the middle class cannot be told from the other two by a line, yet all three can be told apart
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "c"])
    line = eo.Perceptron(random_state=0).fit(X, y)
    assert line.separable_
    assert line.predict(X).tolist() == ["a", "b", "c"]
    assert line.mistakes_ <= line.bound_
    with pytest.warns(ConvergenceWarning):
        assert eo.Perceptron(random_state=0).fit(X, y == "b").separable_ is False


def test_without_a_separator_it_says_so_and_is_usable():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    with pytest.warns(ConvergenceWarning, match="no line separates the classes; LinearSeparator has the proof"):
        line = eo.Perceptron(max_iter=20, random_state=0).fit(X, y)
    assert (line.separable_, line.margin_, line.bound_, line.converged_) == (False, None, np.inf, False)
    assert line.predict(X).shape == (3,)
    with pytest.warns(ConvergenceWarning, match="not known: bound=True"):
        line = eo.Perceptron(max_iter=20, bound=False, random_state=0).fit(X, y)
    assert line.separable_ is None
    far = np.array([[1000.0], [1000.1]])
    with pytest.warns(ConvergenceWarning, match="a line separates the classes, and at most .* raise max_iter"):
        line = eo.Perceptron(max_iter=2, random_state=0).fit(far, [0, 1])
    assert line.separable_ is True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert eo.Perceptron(bound=False, random_state=0).fit([[0.0], [1.0]], [0, 1]).separable_ is True


def test_frames_and_names():
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "flag": [True, False, True, False], "y": ["a", "a", "b", "b"]})
    line = eo.Perceptron(random_state=0).fit(frame, "y")
    assert list(line.feature_names_in_) == ["x", "flag"]
    polars = eo.Perceptron(random_state=0).fit(pl.from_pandas(frame), "y")
    np.testing.assert_array_equal(polars.coef_, line.coef_)
    with pytest.raises(DataError, match="did you mean 'y'"):
        eo.Perceptron().fit(frame, "yy")


def test_any_frame_and_the_target_of_a_score_by_its_name():
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": ["a", "a", "b", "b"]})
    for rows in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), pa.Table.from_pandas(frame)):
        line = eo.Perceptron(random_state=0).fit(rows, "y")
        assert line.score(rows, "y") == 1
    assert eo.Perceptron().fit([[1.0], [2.0]], pa.array(["a", "b"])).classes_.tolist() == ["a", "b"]
    with pytest.raises(DataError, match="column 'yy' not found; did you mean 'y'"):
        eo.Perceptron().fit(pa.Table.from_pandas(frame), "yy")


def test_bad_input_is_one_sentence():
    frame = pd.DataFrame({"x": [1.0, np.nan, 3, 4], "colour": ["r", "g", "b", "r"], "y": [0, 0, 1, 1]})
    with pytest.raises(DataError, match=r"column 'colour' holds no numbers: .*OneHotEncoder"):
        eo.Perceptron().fit(frame, "y")
    with pytest.raises(DataError, match=r"column 'colour' holds no numbers: .*OneHotEncoder"):
        eo.Perceptron().fit(pa.Table.from_pandas(frame), "y")
    for line in (eo.Perceptron(), eo.LinearSeparator()):
        with pytest.raises(DataError, match="column 'x0' is too small to be squared; rescale"):
            line.fit(np.array([[1e-200, 1.0], [2e-200, 2.0], [3e-200, 0.0]]), [0, 1, 1])
    with pytest.raises(DataError, match=r"NaN: column 'x' \(1 of 4 rows\); drop those rows, or fill"):
        eo.Perceptron().fit(frame[["x"]], frame["y"])
    for y in (
        np.array(["a", None, "b"], object),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series([True, None, False], dtype="boolean"),
        [1.0, np.nan, 2.0],
    ):
        for line in (eo.Perceptron(), eo.LinearSeparator()):
            with pytest.raises(DataError, match="the target is missing in row 1"):
                line.fit([[1.0], [2.0], [3.0]], y)
    with pytest.raises(DataError, match="only one class, '1'"):
        eo.Perceptron().fit([[1.0], [2.0]], [1, 1])
    for dicts in ([{"x": 1.0}, {"x": 2.0}], {"x": [1.0, 2.0]}):
        with pytest.raises(DataError, match="X is made of dicts: a line needs an array or a data frame"):
            eo.Perceptron().fit(dicts, [0, 1])
    with pytest.raises(ValueError, match="max_iter=0: expected a whole number, 1 or more"):
        eo.Perceptron(max_iter=0).fit([[1.0], [2.0]], [0, 1])


def test_constant_and_duplicate_columns_change_no_verdict():
    X = np.random.default_rng(3).normal(size=(20, 2))
    y = (X @ [1.0, 2.0] > 0.1).astype(int)
    wide = np.column_stack([X, X[:, 0], np.full(len(X), 7.0)])
    line = eo.Perceptron(random_state=0).fit(wide, y)
    assert line.separable_
    assert line.score(wide, y) == 1
    assert line.mistakes_ <= line.bound_
