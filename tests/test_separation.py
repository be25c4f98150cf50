"""Complete, quasi-complete or overlap: held to an enumeration in whole numbers, and to tables whose answer is known."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

import evenodds as eo
from evenodds.errors import DataError
from evenodds.models.separators.cone import cone, solve
from evenodds.models.separators.separation import judge, separation
from evenodds.models.separators.vectors import Rows


def names(p):
    return [f"x{j}" for j in range(p)]


def signs(found):
    return {(one.name, one.group): one.sign for one in found.infinite}


# The oracle: every extreme direction of the cone, in whole numbers


def rank(matrix):
    """The rank, by elimination in fractions."""
    rows = [[Fraction(int(v)) for v in row] for row in matrix]
    r = 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(r, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[r], rows[pivot] = rows[pivot], rows[r]
        for i in range(r + 1, len(rows)):
            factor = rows[i][j] / rows[r][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[r])]
        r += 1
    return r


def determinants(matrices):
    """Of many small whole matrices, by Leibniz' formula: exact in 64 bits."""
    n = matrices.shape[-1]
    total = np.zeros(len(matrices), np.int64)
    for order in permutations(range(n)):
        sign = (-1) ** sum(a > b for a, b in combinations(order, 2))
        term = np.full(len(matrices), sign, np.int64)
        for i, j in enumerate(order):
            term = term * matrices[:, i, j]
        total += term
    return total


def vectors(X, y, n_classes):
    """The u of a table whose columns are independent, by their definition."""
    found = []
    for x, c in zip(X, y):
        for k in range(n_classes):
            if k != c:
                u = np.zeros((n_classes, len(x)), np.int64)
                u[c] += x
                u[k] -= x
                found.append(u[1:].ravel())
    return np.array(found)


def extreme_directions(U):
    """Every direction that is 0 on (dimensions - 1) independent u, and of which no u says < 0.

    Every direction of the cone is a sum of these (Rockafellar 1969: elementary vectors), since the columns are
    independent.
    """
    d = U.shape[1]
    every = list(combinations(range(len(U)), d - 1))
    chosen = U[np.array(every, int).reshape(len(every), d - 1)]
    minors = [determinants(np.delete(chosen, j, axis=2)) * (-1) ** j for j in range(d)]
    b = np.stack(minors, axis=1)
    b = b[b.any(axis=1)]
    b = np.concatenate([b, -b])
    return b[(b @ U.T >= 0).all(axis=1)]


def oracle(X, y, n_classes):
    """Verdict, separated u, and (column, class) → the signs its weight has in the extreme directions."""
    kept = []
    for j in range(X.shape[1]):
        if rank(X[:, [*kept, j]].T) > len(kept):
            kept.append(j)
    if not kept:
        return "overlap", np.zeros(len(X) * (n_classes - 1), bool), {}
    U = vectors(X[:, kept], y, n_classes)
    rays = extreme_directions(U)
    free = (rays @ U.T > 0).any(axis=0)
    verdict = "overlap" if not free.any() else "complete" if free.all() else "quasi"
    found = {}
    for at in range(U.shape[1]):
        here = set(np.sign(rays[:, at]).tolist()) - {0}
        if here:
            group, column = divmod(at, len(kept))
            found[kept[column], group + 1] = here
    return verdict, free, found


def random_set(rng):
    n_classes = int(rng.choice([2, 2, 3]))
    p = int(rng.integers(1, 5 if n_classes == 2 else 3))
    n = int(rng.integers(2, 11 if n_classes == 2 else 7))
    top = int(rng.choice([1, 2, 3]))
    X = rng.integers(-top, top + 1, size=(n, p))
    if rng.random() < 0.6:
        X[:, 0] = 1
    if p > 2 and rng.random() < 0.3:
        X[:, -1] = X[:, 0] + X[:, 1]
    score = X @ rng.integers(-2, 3, size=(p, n_classes)) + rng.normal(
        scale=rng.choice([0.1, 1, 3]), size=(n, n_classes)
    )
    return X, score.argmax(axis=1), n_classes


@pytest.mark.parametrize(("many", "wide", "sets"), [(24, 64, 1000), (0, 64, 300), (24, 0, 300)])
def test_a_thousand_small_sets_agree_with_the_definition(monkeypatch, many, wide, sets):
    """As they are told by default; and some as wide tables are: many held at once, or by Newton's method first."""
    monkeypatch.setattr("evenodds.models.separators.cone.MANY", many)
    monkeypatch.setattr("evenodds.models.separators.cone.WIDE", wide)
    rng = np.random.default_rng(1984)
    seen = dict.fromkeys(("overlap", "quasi", "complete"), 0)
    for number in range(sets):
        X, y, n_classes = random_set(rng)
        verdict, free, weights = oracle(X, y, n_classes)
        found = judge(Rows(X.astype(float), y, n_classes), names(X.shape[1]), range(n_classes))
        assert found.verdict == verdict, (number, X, y)
        held = ~free.reshape(len(X), n_classes - 1)
        assert found.rows.tolist() == np.flatnonzero(held.any(axis=1)).tolist(), (number, X, y)
        assert {(one.column, one.group) for one in found.infinite} == set(weights), (number, X, y)
        for one in found.infinite:
            assert one.certain == (len(weights[one.column, one.group]) == 1), (number, X, y, one)
            assert one.sign in weights[one.column, one.group]
        seen[verdict] += 1
    assert min(seen.values()) > sets / 10, seen


def test_the_cone_itself_agrees():
    rng = np.random.default_rng(7)
    for _ in range(200):
        X, y, n_classes = random_set(rng)
        verdict, free, _ = oracle(X, y, n_classes)
        found = cone(Rows(X.astype(float), y, n_classes))
        np.testing.assert_array_equal(~found.held, free)
        assert (found.first is None) == (verdict == "complete")
        if found.first is not None:
            u = Rows(X.astype(float), y, n_classes).take(found.first.which)
            assert (found.first.weights > 0).all()
            assert found.first.weights.sum() == pytest.approx(1, abs=1e-15)
            np.testing.assert_allclose(found.first.weights @ u, 0, atol=1e-14)


def wide_set(rng):
    """A wide table of two classes or three: separated, overlapping, or with a flag that only one class has."""
    n_classes, p = int(rng.choice([2, 3])), 26
    X = np.column_stack([np.ones(600), rng.normal(size=(600, p - 2)), rng.random(600) < 0.05])
    score = X @ rng.normal(size=(p, n_classes))
    kind = rng.choice(["complete", "overlap", "quasi"])
    y = (score + (0 if kind == "complete" else 12 * rng.gumbel(size=score.shape))).argmax(axis=1)
    if kind == "quasi":
        y[X[:, -1] > 0] = 1
    return X, y, n_classes


def test_wide_tables_are_told_without_a_linear_program_as_with_it(monkeypatch):
    rng = np.random.default_rng(3)
    sets = [wide_set(rng) for _ in range(12)]
    monkeypatch.setattr("evenodds.models.separators.cone.WIDE", 20)
    by_newton = [cone(Rows(X, y, n)) for X, y, n in sets]
    monkeypatch.setattr("evenodds.models.separators.cone.likely", lambda *_: None)
    by_program = [cone(Rows(X, y, n)) for X, y, n in sets]
    verdicts = set()
    for one, other in zip(by_newton, by_program):
        np.testing.assert_array_equal(one.held, other.held)
        assert one.space.shape == other.space.shape
        verdicts.add((bool(one.held.any()), bool(one.held.all())))
    assert len(verdicts) == 3


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_newtons_method_alone_settles_wide_tables(monkeypatch, kind):
    def small(goal, *more):
        assert len(goal) < 5, "the linear program of the whole table was asked"
        return solve(goal, *more)

    monkeypatch.setattr("evenodds.models.separators.cone.solve", small)
    monkeypatch.setattr("evenodds.models.separators.cone.WIDE", 20)
    rng = np.random.default_rng(kind)
    X = np.column_stack([np.ones(900), rng.normal(size=(900, 28)), rng.random(900) < 0.05])
    score = X @ rng.normal(size=30)
    y = (score + 8 * kind * rng.normal(size=900) > 0).astype(int)
    if kind == 1:
        y[X[:, -1] > 0] = 1
    found = cone(Rows(X, y, 2))
    assert (found.held.any(), found.held.all()) == [(False, False), (True, False), (True, True)][kind]


# Tables whose answer is known


def test_a_toy_of_four_rows():
    X = np.column_stack([np.ones(4), [1.0, 2, 3, 4]])
    found = separation(X, np.array([0, 0, 1, 1]), ["intercept", "hours"])
    assert found.verdict == "complete"
    assert signs(found) == {("intercept", 1): -1, ("hours", 1): 1}
    assert all(one.certain for one in found.infinite)
    assert len(found.rows) == 0
    assert repr(found) == "complete separation: intercept → -∞, hours → +∞"


def test_setosa_against_the_rest():
    iris = load_iris()
    X = np.column_stack([np.ones(150), iris.data])
    labels = ["intercept", *iris.feature_names]
    found = separation(X, (iris.target == 0).astype(int), labels)
    assert found.verdict == "complete"
    assert [one.name for one in found.infinite] == labels
    assert (np.where(iris.target == 0, 1, -1) * (X @ found.direction[:, 0]) > 0).all()
    assert separation(X, (iris.target == 1).astype(int), labels).verdict == "overlap"
    assert separation(X, (iris.target == 2).astype(int), labels).verdict == "overlap"


def test_softmax_on_iris_is_quasi_separated():
    iris = load_iris()
    X = np.column_stack([np.ones(150), iris.data])
    found = separation(X, iris.target, ["intercept", *iris.feature_names])
    assert found.verdict == "quasi"
    assert found.direction.shape == (5, 2)
    assert set(np.unique(iris.target[found.rows])) == {1, 2}
    # versicolor and virginica overlap: along the direction their weights go together
    np.testing.assert_allclose(found.direction[:, 0], found.direction[:, 1], rtol=0, atol=1e-12)
    assert len(found.infinite) == 10


def test_one_infinite_coefficient():
    # of the treated everyone recovered; of the others some did, whatever their age
    treated = np.repeat([0.0, 0.0, 1.0], 6)
    age = np.tile([30.0, 40, 50, 60, 70, 80], 3)
    y = np.concatenate([[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0], np.ones(6)]).astype(int)
    X = np.column_stack([np.ones(18), age, treated])
    found = separation(X, y, ["intercept", "age", "treated"])
    assert found.verdict == "quasi"
    assert repr(found) == "quasi-complete separation: treated → +∞"
    assert found.infinite[0].certain
    np.testing.assert_array_equal(found.direction[:, 0], [0, 0, 1])
    assert found.rows.tolist() == list(range(12))
    other = separation(X, 1 - y, ["intercept", "age", "treated"])
    assert signs(other) == {("treated", 1): -1}


def test_softmax_with_one_infinite_coefficient():
    group = np.repeat([0.0, 1.0], 6)
    y = np.array(["red", "green", "blue"])[[2, 1, 0] * 2 + [2, 1] * 3]  # red never in the second group
    X = np.column_stack([np.ones(12), group])
    found = separation(X, y, ["intercept", "group"])
    assert found.verdict == "quasi"
    assert signs(found) == {("group", 2): -1}
    assert repr(found) == "quasi-complete separation: group → -∞ (red)"


def test_classes_and_names_are_found_out():
    """Whatever tells the classes apart: their order is that of their values, and columns have the names of a frame."""
    hours = [1.0, 2.0, 3.0, 4.0]
    frame = pd.DataFrame({"one": 1.0, "hours": hours})
    told = "complete separation: one → -∞, hours → +∞"
    for y in ([False, False, True, True], [9, 9, 10, 10], [0.5, 0.5, 0.75, 0.75], pd.Series(["a", "a", "b", "b"])):
        assert repr(separation(frame, y)) == told
        assert separation(frame, y).classes == tuple(dict.fromkeys(y))
    assert repr(separation(frame.to_numpy(), ["no", "no", "yes", "yes"])) == "complete separation: x0 → -∞, x1 → +∞"
    assert repr(separation(frame, ["b", "b", "a", "a"])) == "complete separation: one → +∞, hours → -∞"
    assert eo.separation is separation


def test_rank_deficient_designs():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40))
    one = np.ones(40)
    y = (rng.random(40) < 0.5).astype(int)
    X = np.column_stack([one, a, b, a + b, 3 * one, np.zeros(40)])
    found = separation(X, y, ["intercept", "a", "b", "total", "three", "nothing"])
    assert found.verdict == "overlap"
    assert found.infinite == ()
    assert len(found.rows) == 40
    separated = separation(X, (a > 0.1).astype(int), ["intercept", "a", "b", "total", "three", "nothing"])
    assert separated.verdict == "complete"
    assert [one.name for one in separated.infinite] == ["intercept", "a", "b"]
    assert (separated.direction[3:] == 0).all()


def test_more_columns_than_rows_are_separated():
    X = np.random.default_rng(0).normal(size=(5, 12))
    found = separation(X, np.array([0, 1, 0, 1, 1]), names(12))
    assert found.verdict == "complete"
    assert [one.name for one in found.infinite] == names(5)  # the first five span the rows: more say nothing new


def test_a_design_without_rank_overlaps():
    assert separation(np.zeros((4, 2)), np.array([0, 1, 0, 1]), names(2)).verdict == "overlap"


# As exact as doubles are


@pytest.mark.parametrize("gap", [1e-3, 1e-7, 1e-9, 1e-10, 1e-11])
@pytest.mark.parametrize("offset", [1.0, -3.0])
def test_a_gap_below_the_lps_tolerance(gap, offset):
    x = offset + np.array([0, 0.25 * gap, 1.0 * gap, 2.0 * gap])
    X = np.column_stack([np.ones(4), x])
    assert separation(X, np.array([0, 0, 1, 1]), names(2)).verdict == "complete"
    assert separation(X, np.array([0, 1, 0, 1]), names(2)).verdict == "overlap"
    assert separation(X[[0, 1, 1, 2]], np.array([0, 0, 1, 1]), names(2)).verdict == "quasi"


@pytest.mark.parametrize("gap", [1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
def test_a_narrow_gap_between_wide_classes(gap):
    rng = np.random.default_rng(3)
    x, along = np.sort(rng.random(200)), rng.normal(size=200)
    y = (np.arange(200) >= 100).astype(int)
    middle = x[99]
    x[100] = middle + gap
    X = np.column_stack([np.ones(200), x, along])
    assert separation(X, y, names(3)).verdict == "complete"
    x[100] = middle - gap
    again = np.column_stack([np.ones(200), x, np.zeros(200)])
    assert separation(again, y, names(3)).verdict == "overlap"
    x[100] = middle
    found = separation(np.column_stack([np.ones(200), x]), y, names(2))
    assert found.verdict == "quasi"
    assert found.rows.tolist() == [99, 100]


@pytest.mark.parametrize("factors", [(1, 1, 1), (1e-8, 1e8, 1), (1e12, 1, 1e-12), (1e-30, 1e20, 1e40)])
def test_the_units_of_a_column_do_not_matter(factors):
    treated = np.repeat([0.0, 0.0, 1.0], 6)
    age = np.tile([30.0, 40, 50, 60, 70, 80], 3)
    y = np.concatenate([[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0], np.ones(6)]).astype(int)
    X = np.column_stack([np.ones(18), age, treated]) * np.array(factors, float)
    found = separation(X, y, ["intercept", "age", "treated"])
    assert (found.verdict, signs(found)) == ("quasi", {("treated", 1): 1})


def test_decimals_on_the_line_are_on_the_line():
    # 0.1 + 0.2 is not 0.3 in doubles; the rows on a + b = 0.3 belong to both classes
    a = np.array([0.1, 0.2, 0.1, 0.2, 0.0, 0.3])
    b = np.array([0.2, 0.1, 0.1, 0.2, 0.3, 0.0])
    y = np.array([0, 1, 0, 1, 1, 0])
    found = separation(np.column_stack([np.ones(6), a, b]), y, ["intercept", "a", "b"])
    assert found.verdict == "quasi"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_the_order_of_rows_and_a_change_of_columns_change_nothing(seed, p):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(12), rng.integers(-2, 3, size=(12, p))]).astype(float)
    y = (X @ rng.integers(-2, 3, size=p + 1) + rng.normal(size=12) > 0).astype(int)
    found = judge(Rows(X, y, 2), names(p + 1))
    order = rng.permutation(12)
    again = judge(Rows(X[order], y[order], 2), names(p + 1))
    assert again.verdict == found.verdict
    assert sorted(order[again.rows]) == found.rows.tolist()
    change = np.eye(p + 1) + np.triu(rng.integers(-3, 4, size=(p + 1, p + 1)), 1)
    assert judge(Rows(X @ change, y, 2), names(p + 1)).verdict == found.verdict


def test_sparse_designs_are_the_same():
    rng = np.random.default_rng(5)
    for _ in range(20):
        X = rng.integers(0, 2, size=(30, 6)) * rng.integers(0, 2, size=(30, 6)).astype(float)
        y = rng.integers(0, 3, size=30)
        dense, thin = separation(X, y, names(6)), separation(sparse.csr_array(X), y, names(6))
        assert (dense.verdict, signs(dense), dense.rows.tolist()) == (thin.verdict, signs(thin), thin.rows.tolist())


def test_rows_of_weight_zero_are_no_rows():
    X = np.column_stack([np.ones(5), [1.0, 2, 3, 4, 9]])
    y = np.array([0, 0, 1, 1, 0])
    assert separation(X, y, names(2)).verdict == "overlap"
    found = separation(X, y, names(2), sample_weight=np.array([1, 1, 2, 0.5, 0]))
    assert found.verdict == "complete"
    quasi = separation(X[[4, 0, 2, 2]], y[[4, 0, 2, 0]], names(2), sample_weight=np.array([0, 1, 1, 1]))
    assert quasi.rows.tolist() == [2, 3]


def test_many_rows_in_blocks_are_the_same():
    rng = np.random.default_rng(2)
    X = np.column_stack([np.ones(30_000), rng.normal(size=(30_000, 9))])
    score = X @ rng.normal(size=10)
    assert separation(X, (score > 0).astype(int), names(10)).verdict == "complete"
    y = (score > 0).astype(int)
    y[17] = 1 - y[17]
    assert separation(X, y, names(10)).verdict == "overlap"


# Bad input


def test_what_cannot_be_used_is_said_in_a_sentence():
    X = np.ones((3, 2))
    y = np.array([0, 1, 0])
    with pytest.raises(DataError, match="column 'b' \\(1 of 3 rows\\); drop those rows, or fill"):
        separation(np.array([[1, 2], [1, np.nan], [1, 3]]), y, ["a", "b"])
    with pytest.raises(DataError, match="infinity: column 'a'"):
        separation(np.array([[np.inf, 2], [1, 0], [1, 3]]), y, ["a", "b"])
    with pytest.raises(DataError, match="the target has only one class, '0': there is nothing to tell apart"):
        separation(X, np.zeros(3, int), ["a", "b"])
    with pytest.raises(DataError, match="only one class, '1'"):
        separation(X, np.array([0, 1, 1]), sample_weight=[0, 1, 1])
    with pytest.raises(DataError, match="the target is missing in row 1; drop such rows"):
        separation(X, ["a", None, "b"])
    with pytest.raises(DataError, match="2 classes for a design"):
        separation(X, np.array([0, 1]), ["a", "b"])
    with pytest.raises(DataError, match="1 names for 2 columns"):
        separation(X, y, ["a"])
    with pytest.raises(DataError, match="no rows that count"):
        separation(X, y, ["a", "b"], sample_weight=np.zeros(3))
    with pytest.raises(DataError, match=r"X has the shape \(3,\): give rows and columns"):
        separation(X[:, 0], y)
    with pytest.raises(DataError, match="X is no table of numbers"):
        separation("rows.csv", y)
    text = pd.DataFrame({"one": 1.0, "town": ["Bonn", "Ulm", "Bonn"]})
    for frame in (text, pa.Table.from_pandas(text)):
        with pytest.raises(DataError, match="column 'town' holds no numbers"):
            separation(frame, y)


def test_columns_of_any_frame_have_their_own_names():
    frame = pd.DataFrame({"one": 1.0, "hours": [1.0, 2.0, 3.0, 4.0]})
    for rows in (frame, pa.Table.from_pandas(frame), pl.from_pandas(frame)):
        assert str(separation(rows, [0, 0, 1, 1])) == "complete separation: one → -∞, hours → +∞"
