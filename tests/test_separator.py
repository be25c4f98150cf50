"""The separator of largest distance, the least slack, and the proof where none separates; on the command line too."""

import json
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import evenodds as eo
from command import invoke as run
from evenodds.errors import DataError
from evenodds.models.separators.cone import cone
from evenodds.models.separators.hard_margin import hard_margin
from evenodds.models.separators.linear_rule import homogeneous
from evenodds.models.separators.separator import Certificate
from evenodds.models.separators.vectors import Rows


@parametrize_with_checks([eo.LinearSeparator()])
def test_common_checks(estimator, check):
    check(estimator)


def blobs(seed, n_classes, apart=6.0, n=40, p=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, p)) + apart * np.eye(max(p, n_classes))[y][:, :p], y


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.5, 20))
def test_the_margin_is_the_support_vector_machines(seed, apart):
    X, y = blobs(seed, 2, apart)
    line = eo.LinearSeparator().fit(X, y)
    if not line.separable_:
        assert line.certificate_.residual < 1e-14
        return
    assert line.score(X, y) == 1
    assert line.separator_.gap < 1e-8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peer, which does not always get there
        peer = SVC(kernel="linear", C=1e8, tol=1e-7, max_iter=100_000).fit(X, y)
    if peer.score(X, y) == 1:
        distance = (np.where(y == 1, 1, -1) * peer.decision_function(X)).min() / np.linalg.norm(peer.coef_)
        assert line.euclidean_margin_ >= distance * (1 - 1e-7)
    scores = np.where(y == 1, 1, -1) * line.decision_function(X)
    assert line.euclidean_margin_ == pytest.approx(scores.min() / np.linalg.norm(line.coef_), rel=1e-12)
    w = np.append(line.coef_[0], line.intercept_)
    assert line.margin_ == pytest.approx(scores.min() / np.linalg.norm(w), rel=1e-12)
    # optimal (Karush, Kuhn, Tucker): the multipliers of the rows on the margin make up w, and balance
    on = line.support_
    signed = np.where(y[on] == 1, 1, -1)
    A = np.column_stack([signed[:, None] * X[on], signed])
    multipliers = np.linalg.lstsq(A.T, np.append(line.coef_[0], 0), rcond=None)[0]
    room = 1e-8 * np.abs(line.coef_).max()
    np.testing.assert_allclose(multipliers @ A, np.append(line.coef_[0], 0), rtol=0, atol=room)
    assert multipliers.min() > -1e-8 * multipliers.max()


def test_three_classes_have_the_shortest_weights():
    X, y = blobs(1, 3)
    line = eo.LinearSeparator().fit(X, y)
    assert line.separable_
    assert line.coef_.shape == (3, 3)
    assert line.score(X, y) == 1
    assert line.separator_.gap < 1e-10
    assert line.euclidean_margin_ > 0
    np.testing.assert_allclose(line.coef_.sum(axis=0), 0, atol=1e-12)
    scores = line.decision_function(X)
    own = scores[np.arange(len(y)), y]
    rest = np.where(np.eye(3, dtype=bool)[y], -np.inf, scores).max(axis=1)
    assert (own - rest).min() == pytest.approx(1, rel=1e-9)
    # no other weights with a score of at least 1 above the others are shorter: towards any, the norm grows
    rng = np.random.default_rng(0)
    rows = Rows(homogeneous(X), y, 3, reference=False)
    w = np.column_stack([line.coef_, line.intercept_]).ravel()
    inside = np.tile([True, True, True, False], 3)
    tried = 0
    for _ in range(300):
        other = w + rng.normal(size=w.size) * rng.choice([0.01, 0.1, 1])
        least = rows.scores(other)[0].min()
        if least > 0:
            tried += 1
            assert np.linalg.norm((other / least)[inside]) >= np.linalg.norm(w[inside]) * (1 - 1e-9)
    assert tried > 50


def test_iris():
    iris = load_iris()
    line = eo.LinearSeparator().fit(iris.data, iris.target == 0)
    assert line.euclidean_margin_ == pytest.approx(0.8175557693, rel=1e-9)  # libsvm: .81756 at its tolerance
    all_three = eo.LinearSeparator().fit(iris.data, iris.target)
    assert not all_three.separable_
    assert set(iris.target[all_three.certificate_.rows]) == {1, 2}
    assert all_three.score(iris.data, iris.target) > 0.97


def test_the_gap_is_open_until_the_margin_is_the_largest():
    rng, y = np.random.default_rng(3), np.arange(60) % 2
    rows = Rows(np.column_stack([np.ones(60), rng.normal(size=(60, 8)) + 3 * np.eye(8)[y]]), y, 2)
    start, in_norm = cone(rows).direction, np.arange(9) > 0
    tried = [hard_margin(rows, start, in_norm, most) for most in range(1, 30)]
    least = float(np.square(tried[-1].weights[in_norm]).sum())
    for one in tried:
        could = 1 - least / float(np.square(one.weights[in_norm]).sum())
        assert could <= one.gap + 1e-12
    assert any(0.01 < one.gap < 1 for one in tried)
    assert tried[-1].gap < 1e-12


def test_three_wines_with_columns_of_very_different_units():
    """Constants that are moved together change nothing, and must not run away."""
    wine = load_wine()
    line = eo.LinearSeparator().fit(wine.data, wine.target)
    assert line.separable_
    assert line.score(wine.data, wine.target) == 1
    assert line.separator_.gap < 1e-10
    assert line.euclidean_margin_ == pytest.approx(0.291311300, rel=1e-8)


def test_digits_4_and_9():
    digits = load_digits()
    some = np.isin(digits.target, [4, 9])
    line = eo.LinearSeparator().fit(digits.data[some], digits.target[some])
    assert line.separable_
    assert line.euclidean_margin_ == pytest.approx(6.015501082142, rel=1e-9)
    assert line.separator_.gap < 1e-10


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_a_certificate_proves_it_in_fractions(seed, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(14, 2)).astype(float)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, size=14 - n_classes)])
    line = eo.LinearSeparator().fit(X, y)
    if line.separable_:
        assert line.certificate_ is None
        assert line.score(X, y) == 1
        return
    proof = line.certificate_
    assert (proof.weights > 0).all()
    assert abs(sum(map(Fraction, proof.weights.tolist())) - 1) < Fraction(1, 10**14)
    total = [[Fraction(0)] * 3 for _ in range(n_classes)]
    for row, other, weight in zip(proof.rows.tolist(), proof.others.tolist(), proof.weights.tolist()):
        assert other != y[row]
        for j, value in enumerate([*X[row].tolist(), 1.0]):
            total[y[row]][j] += Fraction(weight) * Fraction(value)
            total[other][j] -= Fraction(weight) * Fraction(value)
    assert max(abs(value) for line_ in total for value in line_) < Fraction(1, 10**13)
    assert proof.residual < 1e-14
    if n_classes == 2:
        point = proof.point()
        of = y[proof.rows] == 0
        np.testing.assert_allclose(
            point, proof.weights[of] @ X[proof.rows[of]] / proof.weights[of].sum(), rtol=0, atol=1e-12
        )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_no_line_has_less_slack(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, size=30)
    line = eo.LinearSeparator().fit(X, y)
    if line.separable_:
        return
    u = np.where(y == 1, 1, -1)[:, None] * homogeneous(X)
    w = np.append(line.coef_[0], line.intercept_)
    assert np.maximum(1 - u @ w, 0).sum() == pytest.approx(line.slack_, rel=1e-8)
    # its dual: max Σ a with Σ a u = 0, 0 ≤ a ≤ 1
    dual = linprog(-np.ones(30), A_eq=u.T, b_eq=np.zeros(3), bounds=[(0, 1)] * 30)
    assert -dual.fun == pytest.approx(line.slack_, rel=1e-8)


def test_a_shift_and_a_scale_change_the_margin_only_by_the_scale():
    X, y = blobs(5, 2)
    plain = eo.LinearSeparator().fit(X, y).euclidean_margin_
    assert eo.LinearSeparator().fit(1000 * X + 1e6, y).euclidean_margin_ == pytest.approx(1000 * plain, rel=1e-10)
    assert eo.LinearSeparator().fit(1e-9 * X, y).euclidean_margin_ == pytest.approx(1e-9 * plain, rel=1e-9)


def test_a_weight_that_moves_no_score_beyond_its_rounding_is_zero():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.integers(0, 3, (60, 6)), rng.integers(700, 5000, 60)]).astype(float)
        weights = np.abs(eo.LinearSeparator().fit(X, X[:, -1] < 2500).coef_[0])
        assert np.all((weights == 0) | (weights > 1e-7))
        assert np.any(weights == 0)


def test_touching_classes_are_not_separable():
    line = eo.LinearSeparator().fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert not line.separable_
    assert line.certificate_.rows.tolist() == [1, 2]
    np.testing.assert_allclose(line.certificate_.weights, 0.5, rtol=1e-14)
    assert line.certificate_.point() == pytest.approx([1.0], rel=1e-14)
    assert line.certificate_.sentence() == "no line separates the classes: row 1 × 0.5, row 2 × 0.5 balance"


def test_constant_duplicate_and_too_many_columns():
    X, y = blobs(2, 2)
    plain = eo.LinearSeparator().fit(X, y)
    wide = np.column_stack([X, np.full(len(X), 3.0), X[:, 0]])
    line = eo.LinearSeparator().fit(wide, y)
    assert line.score(wide, y) == 1
    assert line.euclidean_margin_ > plain.euclidean_margin_  # a column twice counts twice
    few = np.random.default_rng(0).normal(size=(6, 30))
    assert eo.LinearSeparator().fit(few, [0, 1, 0, 1, 2, 2]).separable_


def test_bad_input_is_one_sentence():
    X = pd.DataFrame({"a": [1.0, np.nan, 2], "b": [1.0, 2, 3]})
    with pytest.raises(DataError, match=r"column 'a' \(1 of 3 rows\); drop those rows, or fill"):
        eo.LinearSeparator().fit(X, [0, 1, 1])
    with pytest.raises(DataError, match="only one class"):
        eo.LinearSeparator().fit(X[["b"]], [1, 1, 1])
    line = eo.LinearSeparator().fit(X[["b"]], [0, 1, 1])
    alone = Certificate(np.array([0]), np.array([1]), np.ones(1), 0.0, np.ones((1, 1)), np.array([0]))
    with pytest.raises(ValueError, match="a point in two hulls"):
        alone.point()
    with pytest.raises(DataError, match="NaN: column 'b'"):
        line.predict(pd.DataFrame({"b": [np.nan]}))


@pytest.mark.parametrize("line", [eo.Perceptron(), eo.LinearSeparator()], ids=lambda line: type(line).__name__)
def test_a_cell_too_small_to_learn_from_is_told_its_class(line):
    line = line.fit([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 1.0]], [0, 0, 1, 1])
    tiny, zero = [[1e-200, 1.0], [1e-200, 5e-324]], [[0.0, 1.0], [0.0, 0.0]]
    np.testing.assert_array_equal(line.decision_function(tiny), line.decision_function(zero))
    np.testing.assert_array_equal(line.predict(tiny), line.predict(zero))


def test_the_quadratic_program_starts_anywhere():
    X, y = blobs(9, 2)
    rows = Rows(homogeneous(X), y, 2)
    inside = np.array([True, True, True, False])
    line = eo.LinearSeparator().fit(X, y)
    best = np.append(line.coef_[0], line.intercept_)
    rng = np.random.default_rng(0)
    starts = [s for s in best + rng.normal(size=(200, 4)) * 0.2 if rows.scores(s)[0].min() > 0]
    assert len(starts) > 3
    for start in starts[:10]:
        np.testing.assert_allclose(hard_margin(rows, start, inside).weights, best, rtol=1e-9, atol=1e-12)


# On the command line


@pytest.fixture
def hours(tmp_path):
    path = tmp_path / "hours.csv"
    path.write_text(
        "hours,when,passed\n"
        + "".join(f"{h / 10},{['day', 'evening', 'night'][h % 3]},{'yes' if h > 25 else 'no'}\n" for h in range(60))
    )
    return path


def test_separate_says_it_in_words_and_in_json(hours):
    result = run("separate", hours, "-t", "passed")
    assert result.stdout.splitlines()[0].split() == ["column", "weight"]
    assert "when[night]" in result.stdout
    assert "separable         yes" in result.stdout
    assert "complete separation: intercept → -∞, hours → +∞, when[evening] → ±∞, when[night] → ±∞" in result.stdout
    found = json.loads(run("separate", hours, "-t", "passed", "--json").stdout)
    assert (found["separable"], found["verdict"], found["classes"]) == (True, "complete", ["no", "yes"])
    assert found["columns"] == ["hours", "when[evening]", "when[night]"]
    assert found["certificate"] is None
    assert run("separate", hours, "-t", "passed", "-q").stderr == ""
    piped = run("separate", "-", "-t", "passed", "--json", stdin=hours.read_text())
    assert json.loads(piped.stdout)["euclidean_margin"] == found["euclidean_margin"]


def test_separate_proves_that_none_does(hours, tmp_path):
    mixed = tmp_path / "mixed.csv"
    mixed.write_text(hours.read_text() + "0.5,day,yes\n")
    result = run("separate", mixed, "-t", "passed")
    assert "separable    no" in result.stdout
    assert "add up to 0" in result.stdout
    found = json.loads(run("separate", mixed, "-t", "passed", "--json").stdout)
    assert found["verdict"] == "overlap"
    assert 61 in found["certificate"]["rows"]
    assert sum(found["certificate"]["weights"]) == pytest.approx(1, rel=1e-11)


def test_the_rows_of_a_proof_are_those_of_the_files(tmp_path):
    for part, rows in enumerate(("1,a\n,a\n5,\n", "2,b\n3,a\n")):  # a hole, a row without a class
        (tmp_path / f"{part}.csv").write_text("x,y\n" + rows)
    result = run("separate", tmp_path / "0.csv", tmp_path / "1.csv", "-t", "y", "--missing", "drop")
    assert "0.25 × row 1, 0.5 × row 4, 0.25 × row 5 add up to 0" in result.stdout
    found = json.loads(run("separate", tmp_path / "*.csv", "-t", "y", "--missing", "drop", "--json").stdout)
    assert found["certificate"]["rows"] == [1, 4, 5]


def test_one_search_serves_the_line_and_the_verdict(hours, monkeypatch):
    searched = []
    for module in ("glm.separated_rows", "separators.separation", "separators.separator"):
        monkeypatch.setattr(f"evenodds.models.{module}.cone", lambda rows: searched.append(rows) or cone(rows))
    found = json.loads(run("separate", hours, "-t", "passed", "--json").stdout)
    assert len(searched) == 1
    frame = pd.get_dummies(pd.read_csv(hours), columns=["when"], drop_first=True)
    line = eo.LinearSeparator().fit(frame, "passed")
    assert found["euclidean_margin"] == pytest.approx(line.euclidean_margin_, rel=1e-11)
    np.testing.assert_allclose(found["weights"], line.coef_, rtol=1e-10)


def test_what_cannot_be_decided_is_one_sentence(hours, monkeypatch):
    monkeypatch.setattr("evenodds.models.separators.cone.LONGEST", 0)  # no step of a program is allowed
    assert "the linear program was not solved" in run("separate", hours, "-t", "passed", code=3).stderr
    for line in (eo.LinearSeparator(), eo.Perceptron()):
        with pytest.raises(DataError, match="the linear program was not solved"):
            line.fit([[0.0], [1.0], [1.5], [3.0]], [0, 0, 1, 1])


def test_separate_refuses_with_a_sentence(hours, tmp_path):
    assert "Name it with --target" in run("separate", hours, code=2).stderr
    assert "did you mean 'passed'" in run("separate", hours, "-t", "pased", code=3).stderr
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("x,y\n1,a\n,a\n3,b\n4,b\n")
    assert "missing" in run("separate", gaps, "-t", "y", code=3).stderr
    assert json.loads(run("separate", gaps, "-t", "y", "--missing", "drop", "--json").stdout)["rows"] == 3
    one = tmp_path / "one.csv"
    one.write_text("x,y\n1,a\n2,a\n")
    assert "only one class" in run("separate", one, "-t", "y", code=3).stderr


@pytest.mark.parametrize("seed", [4, 6])
def test_where_no_line_helps_all_weights_are_0(seed):
    """Of classes that nothing tells, what the program leaves of its zeros would choose a class by its rounding."""
    rng = np.random.default_rng(0)
    for _ in range(seed + 1):
        X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    line = eo.LinearSeparator().fit(X, y)
    assert line.slack_ == pytest.approx(60)
    assert not line.coef_.any()
    assert not line.intercept_.any()
    assert not line.predict(X).any()
