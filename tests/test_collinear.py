"""Collinear columns: exact verdicts, and relations one can read."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenodds as eo
from evenodds.models.algebra.collinear import Roots, collinear
from evenodds.models.algebra.relation import Part, number, relation
from evenodds.models.glm.aliases import related
from evenodds.models.glm.design import Design, Term
from evenodds.models.glm.factor import Factor
from evenodds.models.glm.notes import RegressionWarning

N = 60
rng = np.random.default_rng(4)
ONE = np.ones(N)
A, B, C = rng.normal(size=(3, N)) * [[1.0], [10.0], [0.1]]
COLOUR = np.eye(3)[rng.integers(0, 3, N)].T
SEX = np.eye(2)[rng.integers(0, 2, N)].T


def say(columns, intercept=0):
    """The relations, found from the rows, from their triangle and from their Gram matrix."""
    X = np.column_stack(list(columns.values()))
    names = list(columns)
    found = collinear(X, names, intercept).relations
    assert collinear(Factor.of(X, np.arange(len(X), dtype=float)).triangle[:, :-1], names, intercept).relations == found
    assert Roots.of(X.T @ X).collinear(names, intercept).relations == found
    return found


@pytest.mark.parametrize(
    ("columns", "relations"),
    [
        ({"i": ONE, "a": A, "b": B}, ()),
        ({"i": ONE, "a": A, "b": A}, ("`b` = `a`",)),
        ({"i": ONE, "c": 5 * ONE, "a": A}, ("`c` is constant (already in the intercept)",)),
        ({"i": ONE, "a": A, "b": B, "total": A + B}, ("`total` = `a` + `b`",)),
        ({"i": ONE, "total": A + B, "a": A, "b": B}, ("`b` = `total` - `a`",)),
        ({"i": ONE, "a": A, "d": 2 * A + 3}, ("`d` = 2 `a` + 3",)),
        ({"i": ONE, "a": A, "d": A / 3 - 0.5}, ("`d` = 1/3 `a` - 1/2",)),
        ({"i": ONE, "inch": A, "cm": 2.54 * A}, ("`cm` = 2.54 `inch`",)),
        ({"i": ONE, "a": A, "d": np.pi * A}, ("`d` ≈ 3.14159 `a`",)),
        ({"i": ONE, "a": A, "b": B, "d": -A - B}, ("`d` = -`a` - `b`",)),
        ({"i": ONE, "a": A, "z": 0 * A}, ("`z` is zero in every row",)),
        ({"i": ONE, "red": COLOUR[0], "green": COLOUR[1], "blue": COLOUR[2]}, ("`red` + `green` + `blue` = 1",)),
        ({"i": ONE, "a": A, "b": B, "t": A + B, "u": 2 * A + 2 * B}, ("`t` = `a` + `b`", "`u` = 2 `t`")),
        (
            {"i": ONE, "r": COLOUR[0], "g": COLOUR[1], "b": COLOUR[2], "m": SEX[0], "f": SEX[1]},
            ("`r` + `g` + `b` = 1", "`m` + `f` = 1"),
        ),
    ],
)
def test_relations(columns, relations):
    assert say(columns) == relations


def test_without_an_intercept_two_sets_of_indicators_add_up_to_the_same():
    columns = {"r": COLOUR[0], "g": COLOUR[1], "b": COLOUR[2], "m": SEX[0], "f": SEX[1]}
    assert say(columns, None) == ("`m` + `f` = `r` + `g` + `b`",)
    assert say({"five": 5 * ONE, "a": A}, None) == ()


def test_the_intercept_is_kept_wherever_it_stands():
    X = np.column_stack([5 * ONE, A, ONE])
    found = collinear(X, ["c", "a", "i"], intercept=2)
    assert found.kept.tolist() == [1, 2]
    assert found.relations == ("`c` is constant (already in the intercept)",)


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e200])
def test_units_do_not_matter(scale):
    columns = {"i": ONE, "a": A * scale, "b": B, "c": C / scale}
    assert not collinear(np.column_stack(list(columns.values())), list(columns), 0)
    columns["d"] = 2 * columns["a"]
    assert collinear(np.column_stack(list(columns.values())), list(columns), 0).relations == ("`d` = 2 `a`",)


def test_a_large_column_hides_no_small_term():
    assert collinear(np.column_stack([ONE, A * 1e12, 2e12 * A + 3]), ["i", "a", "b"], 0).relations == (
        "`b` = 2 `a` + 3",
    )


def test_decimals_that_cancel():
    """The difference of two columns near a million, in thousandths, carries roundings of 1e-7 of its own size."""
    left, right = np.round(rng.normal(1e6, 1, size=(2, N)), 3)
    X = np.column_stack([ONE, left, right, np.round(left - right, 3)])
    assert collinear(X, ["i", "left", "right", "d"], 0).relations == ("`d` = `left` - `right`",)


@pytest.mark.parametrize("digits", [6, 9, 11])
def test_nearly_is_not_collinear(digits):
    X = np.column_stack([ONE, A, np.round(A, digits)])
    found = collinear(X, ["i", "a", "rounded"], 0)
    assert not found
    assert found.condition > 10.0 ** (digits - 1)


def test_years_and_their_powers_are_honest_columns():
    year = np.arange(1960.0, 2020.0)
    X = np.column_stack([ONE, year, year**2, year**3])
    assert collinear(X, ["i", "year", "squared", "cubed"], 0).rank == 4


def test_more_columns_than_rows():
    X = rng.normal(size=(4, 6))
    X[:, 2] = X[:, 0] + X[:, 1]
    found = collinear(X, list("abcdef"))
    assert found.kept.tolist() == [0, 1, 3, 4]
    assert found.relations[0] == "`c` = `a` + `b`"
    assert "4 rows" in found.relations[1]
    assert abs(X @ found.null_space).max() < 1e-12


def test_many_more_columns_than_rows_is_quick_and_right():
    X = rng.normal(size=(20, 1000))
    found = collinear(X, [f"x{j}" for j in range(1000)])
    assert found.kept.tolist() == list(range(20))
    assert abs(X @ found.null_space).max() < 1e-10


def test_gradual_dependence_is_found():
    """Kahan's matrix: no column is near the span of those before it, and all together are collinear."""
    n, c = 120, 0.4
    s = np.sqrt(1 - c * c)
    kahan = s ** np.arange(n)[:, None] * (np.eye(n) - c * np.triu(np.ones((n, n)), 1))
    found = collinear(kahan, [f"x{j}" for j in range(n)])
    assert 0 < len(found.dropped) < 5
    unit = kahan[:, found.kept] / np.linalg.norm(kahan[:, found.kept], axis=0)
    assert np.linalg.svd(unit, compute_uv=False)[-1] > 1e-14


def test_no_columns_and_wrong_names():
    assert collinear(np.zeros((3, 0)), []).rank == 0
    with pytest.raises(ValueError, match="2 names for 3 columns"):
        collinear(np.eye(3), ["a", "b"])


def exact_independent(X):
    """The columns that are no combination of those before, by elimination in rationals."""
    columns = [[Fraction(int(v)) for v in column] for column in X.T]
    basis, kept = [], []
    for j, column in enumerate(columns):
        for pivot, other in basis:
            factor = column[pivot] / other[pivot]
            column = [a - factor * b for a, b in zip(column, other)]
        where = next((i for i, v in enumerate(column) if v), None)
        if where is not None:
            basis.append((where, column))
            kept.append(j)
    return kept


@st.composite
def designs(draw):
    """Small whole numbers, with some columns made of others."""
    rows, p = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    X = np.array(draw(st.lists(st.lists(st.integers(-3, 3), min_size=p, max_size=p), min_size=rows, max_size=rows)))
    for _ in range(draw(st.integers(0, 2))):
        weights = draw(st.lists(st.integers(-2, 2), min_size=X.shape[1], max_size=X.shape[1]))
        X = np.column_stack([X, X @ np.array(weights)])
    return X


@settings(max_examples=300, deadline=None)
@given(designs())
def test_the_verdict_is_that_of_exact_arithmetic(X):
    names = [f"x{j}" for j in range(X.shape[1])]
    by_gram = Roots.of((X.T @ X).astype(float)).collinear(names)
    for found, near in ((collinear(X.astype(float), names), 1e-12), (by_gram, 1e-9)):
        assert found.kept.tolist() == exact_independent(X)
        assert found.rank + len(found.dropped) == X.shape[1]
        assert np.allclose(X @ found.null_space, 0, rtol=0, atol=near)
        assert np.array_equal(found.null_space[found.dropped], np.eye(len(found.dropped)))


@settings(max_examples=100, deadline=None)
@given(designs(), st.lists(st.integers(-40, 40), min_size=8, max_size=8))
def test_scaling_columns_changes_no_verdict(X, exponents):
    names = [f"x{j}" for j in range(X.shape[1])]
    scaled = X * 10.0 ** np.array(exponents[: X.shape[1]])
    assert collinear(scaled, names).kept.tolist() == exact_independent(X)


@pytest.mark.parametrize("mean", [0.0, 1e8, 1e12, 1e17])
def test_the_null_space_of_centred_columns_is_theirs_however_far_from_zero_they_were(mean):
    X = np.column_stack([ONE, A - A.mean(), B, 2 * (A - A.mean()) - 3 * B])
    design = Design(tuple(map(Term, "abc")), (), True, np.array([mean, 0.0, mean]), np.ones(3))
    found = related(X.T @ X, design, np.arange(4), len(X))
    assert found.dropped.tolist() == [3]
    np.testing.assert_allclose(X @ found.null_space, 0, atol=1e-12)
    np.testing.assert_allclose(found.null_space[:, 0], [0, -2, 3, 1], rtol=0, atol=1e-13)


def test_a_number_is_believed_only_as_far_as_it_is_known():
    assert number(3.0004, 1e-3) == "3"
    assert number(0.334, 0.01) is None  # 1/3, but also 0.33, 0.34, 3/9, ...
    assert number(1 / 7, 1e-12) == "1/7"
    assert number(2.0000001, 1e-12) is None
    assert number(2.0000001, 1e-6) == "2"
    assert relation("a", [Part(f"x{j}", np.sqrt(j + 2), 1e-12) for j in range(13)]).startswith(
        "`a` is a combination of 13 columns"
    )


@pytest.mark.parametrize("family", [eo.Poisson, eo.Bernoulli])
@pytest.mark.parametrize("seed", range(3))
def test_rounding_in_sums_of_repeated_rows_is_no_coefficient(family, seed):
    rng = np.random.default_rng([33, seed])
    for weights in (None, rng.integers(1, 9, 3000).astype(float), rng.uniform(0.1, 3, 3000)):
        kind = rng.choice([1, 2, 3], 3000, p=[0.75, 0.2, 0.05])
        flags = rng.random((3000, 4)) < rng.uniform(0.02, 0.98, 4)
        X = np.column_stack([flags, kind, kind == 1, kind == 2, kind == 3]).astype(float)
        y = np.minimum(rng.poisson(np.exp(0.2 * kind)), 20 if family is eo.Poisson else 1)
        with pytest.warns(RegressionWarning, match="nothing new"):
            model = eo.GLM(family).fit(X, y, weights).model_
        assert model.relations == ("`x6` = 3 - `x4` - 2 `x5`", "`x7` = `x4` + `x5` - 2")
