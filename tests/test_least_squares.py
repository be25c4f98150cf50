"""Least squares: certified digits, exact rational arithmetic, batches, weights, dropped columns."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import evenodds as eo
from evenodds import double_double as dd
from evenodds.errors import DataError
from evenodds.models.glm import refine
from evenodds.models.glm.factor import Factor
from evenodds.models.glm.inference import standard_errors
from evenodds.models.glm.least_squares import ILL_CONDITIONED, SEVERE, least_squares, powers

# Longley (J. Am. Stat. Assoc. 62, 1967) and Wampler (ibid. 65, 1970), with the values certified by NIST's Statistical
# Reference Datasets: public domain. y, then the GNP deflator, GNP, unemployed, armed forces, population, year.
LONGLEY = np.array(
    [
        [60323, 83.0, 234289, 2356, 1590, 107608, 1947],
        [61122, 88.5, 259426, 2325, 1456, 108632, 1948],
        [60171, 88.2, 258054, 3682, 1616, 109773, 1949],
        [61187, 89.5, 284599, 3351, 1650, 110929, 1950],
        [63221, 96.2, 328975, 2099, 3099, 112075, 1951],
        [63639, 98.1, 346999, 1932, 3594, 113270, 1952],
        [64989, 99.0, 365385, 1870, 3547, 115094, 1953],
        [63761, 100.0, 363112, 3578, 3350, 116219, 1954],
        [66019, 101.2, 397469, 2904, 3048, 117388, 1955],
        [67857, 104.6, 419180, 2822, 2857, 118734, 1956],
        [68169, 108.4, 442769, 2936, 2798, 120445, 1957],
        [66513, 110.8, 444546, 4681, 2637, 121950, 1958],
        [68655, 112.6, 482704, 3813, 2552, 123366, 1959],
        [69564, 114.2, 502601, 3931, 2514, 125368, 1960],
        [69331, 115.7, 518173, 4806, 2572, 127852, 1961],
        [70551, 116.9, 554894, 4007, 2827, 130081, 1962],
    ]
)
LONGLEY_ESTIMATES = np.array(
    [
        -3482258.63459582,
        15.0618722713733,
        -0.358191792925910e-01,
        -2.02022980381683,
        -1.03322686717359,
        -0.511041056535807e-01,
        1829.15146461355,
    ]
)
LONGLEY_ERRORS = np.array(
    [
        890420.383607373,
        84.9149257747669,
        0.334910077722432e-01,
        0.488399681651699,
        0.214274163161675,
        0.226073200069370,
        455.478499142212,
    ]
)
# fmt: off
WAMPLER4 = np.array([
    75901, -204794, 204863, -204436, 253665, -200894, 214131, -185192, 221249, -138370, 315911, -27644,
    455253, 197434, 783995, 608816, 1370781, 1303798, 2205519, 2408860, 3444321,
], dtype=float)
# fmt: on
WAMPLER4_ERRORS = np.array(
    [215232.624678170, 236355.173469681, 77934.3524331583, 10147.5507550350, 564.566512170752, 11.2324854679312]
)


def fit(X, y, weights=None, intercept=None, batch=None):
    """Least squares in memory, in batches of some rows."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    rows = len(y)

    def blocks():
        for start in range(0, rows, batch or rows):
            here = slice(start, start + (batch or rows))
            yield X[..., here, :], y[here], None if weights is None else np.asarray(weights, float)[here]

    return least_squares(blocks, [f"x{j}" for j in range(X.shape[-1])], intercept)


def digits(found, certified):
    """The fewest correct digits (log relative error)."""
    return -np.log10(np.max(np.abs(np.asarray(found) / certified - 1)) + 1e-16)


def errors_of(found):
    """The standard errors, and the residual standard deviation."""
    variance = found.rss / (found.rows - found.rank)
    return np.sqrt(variance * np.diag(found.covariance)), variance**0.5


def test_longley_to_the_certified_digits():
    model = eo.GLM().fit(LONGLEY[:, 1:], LONGLEY[:, 0]).model_
    assert digits(model.coefficients, LONGLEY_ESTIMATES) > 13
    assert digits(standard_errors(model), LONGLEY_ERRORS) > 11
    assert digits(model.totals.dispersion**0.5, 304.854073561965) > 13
    assert model.totals.solver == "least squares by QR, refined in double-doubles"
    assert model.totals.rank == 7


def test_wampler_polynomials():
    X = powers(np.arange(21), 5)
    for truth in (np.ones(6), 10.0 ** -np.arange(6)):
        y = X[0] @ truth  # rounded, which moves the coefficients: those of the rounded numbers are held to
        found = fit(X, y)
        assert digits(found.coefficients, truth) > 11
        assert digits(found.coefficients, solve_exactly(X[0].tolist(), y.tolist())[0]) > 13
        errors, deviation = errors_of(found)
        assert deviation < 1e-9
        assert np.all(errors < 1e-9)
    found = fit(X, WAMPLER4)
    errors, deviation = errors_of(found)
    assert digits(found.coefficients, np.ones(6)) > 13
    assert digits(errors, WAMPLER4_ERRORS) > 11
    assert digits(deviation, 236014.502379268) > 13


def solve_exactly(X, y, weights=None):
    """Coefficients and (X'WX)^-1 of whole or rational numbers, by elimination in rationals."""
    rows = [[Fraction(v) for v in row] for row in X]
    w = [Fraction(1)] * len(rows) if weights is None else [Fraction(v) for v in weights]
    p = len(rows[0])
    table = [
        [sum(u * r[i] * r[j] for u, r in zip(w, rows)) for j in range(p)]
        + [sum(u * r[i] * Fraction(t) for u, r, t in zip(w, rows, y))]
        + [Fraction(i == j) for j in range(p)]
        for i in range(p)
    ]
    for i in range(p):
        pivot = next((k for k in range(i, p) if table[k][i]), None)
        if pivot is None:
            return None
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [v / table[i][i] for v in table[i]]
        for k in range(p):
            if k != i:
                factor = table[k][i]
                table[k] = [a - factor * b for a, b in zip(table[k], table[i])]
    b = [row[p] for row in table]
    rss = sum(u * (Fraction(t) - sum(c * v for c, v in zip(b, r))) ** 2 for u, r, t in zip(w, rows, y))
    inverse = np.array([[float(v) for v in row[p + 1 :]] for row in table])
    return np.array([float(v) for v in b]), inverse, float(rss)


@st.composite
def ill_conditioned(draw):
    """Whole-number designs with condition numbers from 1 to beyond 1e10: columns far from zero, or nearly others."""
    rows = draw(st.integers(5, 9))
    whole = st.lists(st.integers(-9, 9), min_size=rows, max_size=rows)
    columns = [np.ones(rows, int), np.array(draw(whole)) + draw(st.sampled_from([0, 10**3, 10**6, 10**9]))]
    if draw(st.booleans()):
        columns.append(draw(st.sampled_from([1, 10**4, 10**8])) * columns[1] + np.array(draw(whole)))
    return (
        np.column_stack(columns),
        np.array(draw(whole)),
        np.array(draw(st.lists(st.integers(1, 5), min_size=rows, max_size=rows))),
    )


@settings(max_examples=200, deadline=None)
@given(ill_conditioned())
def test_as_in_exact_rational_arithmetic(case):
    X, y, weights = case
    exact = solve_exactly(X.tolist(), y.tolist(), weights.tolist())
    assume(exact is not None)
    b, inverse, rss = exact
    error = np.sqrt(np.diag(inverse))
    length = np.sqrt((weights[:, None] * X.astype(float) ** 2).sum(axis=0))
    assume(np.max(error * length) <= 1e10)  # the condition number, to within a factor of sqrt(3)
    found = fit(X, y, weights)
    assert found.rank == X.shape[1]
    assert np.allclose(found.coefficients, b, rtol=1e-12, atol=1e-13 * error.min() * np.sqrt(float(y @ y)))
    assert np.allclose(found.covariance / error / error[:, None], inverse / error / error[:, None], rtol=0, atol=1e-10)
    assert np.isclose(found.rss, rss, rtol=1e-10, atol=1e-24 * float(y @ y))


@pytest.mark.parametrize("offset", [1e2, 1e4, 1e7, 1e10])
def test_a_column_far_from_zero(offset):
    """Condition numbers up to 1e10 with large residuals, where a QR solution alone keeps no digit of the slope."""
    x, y = np.arange(12) + offset, np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    X = np.column_stack([np.ones(12), x])
    b, inverse, rss = solve_exactly(X.tolist(), y.tolist())
    found = fit(X, y, intercept=0)
    assert found.condition > offset / 10
    assert np.allclose(found.coefficients, b, rtol=1e-12, atol=0)
    assert np.allclose(np.diag(found.covariance), np.diag(inverse), rtol=1e-10, atol=0)
    assert np.isclose(found.rss, rss, rtol=1e-12, atol=0)
    triangle = found.factor * found.scale
    assert np.allclose(triangle.T @ triangle, X.T @ X, rtol=1e-12, atol=0)


RNG = np.random.default_rng(11)
WELL = np.column_stack([np.ones(300), RNG.normal(size=(300, 3)) * [1, 1e6, 1e-6]])
ILL = np.column_stack([np.ones(300), 1e7 + RNG.normal(size=300), RNG.normal(size=300)])
TARGET = RNG.normal(size=300)


@pytest.mark.parametrize("X", [WELL, ILL, np.column_stack([WELL, WELL[:, 1] + WELL[:, 0]])])
def test_the_size_of_batches_changes_nothing(X):
    weights = RNG.integers(0, 3, 300).astype(float)
    whole = fit(X, TARGET, weights)
    for batch in (1, 7, 64, 299):
        parts = fit(X, TARGET, weights, batch=batch)
        assert np.allclose(parts.coefficients, whole.coefficients, rtol=1e-12, atol=0)
        assert np.allclose(parts.covariance, whole.covariance, rtol=1e-10, atol=0, equal_nan=True)
        assert parts.rss == pytest.approx(whole.rss, rel=1e-12)
        assert (parts.rows, parts.weight, parts.kept.tolist()) == (whole.rows, whole.weight, whole.kept.tolist())


@pytest.mark.parametrize("X", [WELL, ILL])
def test_weight_two_is_a_row_twice_and_weight_nothing_is_no_row(X):
    weights = RNG.integers(0, 4, 300)
    weighted = fit(X, TARGET, weights)
    repeated = fit(np.repeat(X, weights, axis=0), np.repeat(TARGET, weights))
    assert np.allclose(weighted.coefficients, repeated.coefficients, rtol=1e-12, atol=0)
    assert np.allclose(weighted.covariance, repeated.covariance, rtol=1e-10, atol=0)
    assert weighted.rss == pytest.approx(repeated.rss, rel=1e-12)
    assert weighted.rows == np.count_nonzero(weights)
    assert weighted.weight == repeated.rows


def test_fitted_values_do_not_depend_on_what_is_dropped():
    X = np.column_stack([ILL, ILL[:, 1] - ILL[:, 2], 3 * ILL[:, 0]])
    found = fit(X, TARGET, intercept=0)
    assert found.collinear.relations == ("`x3` = `x1` - `x2`", "`x4` is constant (already in the intercept)")
    assert np.isnan(found.covariance[3:]).all()
    assert np.array_equal(found.coefficients[3:], [0, 0])
    fitted = ILL @ fit(ILL, TARGET).coefficients
    assert np.allclose(X @ found.coefficients, fitted, rtol=0, atol=1e-8)  # the sum itself rounds at 1e7 · 2^-53
    for j in range(2):
        moved = found.coefficients + 0.1 * found.collinear.null_space[:, j]
        assert np.allclose(X @ moved, fitted, rtol=0, atol=1e-8)
    backwards = fit(X[:, ::-1], TARGET, intercept=4)
    assert backwards.rss == pytest.approx(found.rss, rel=1e-10)


def test_fewer_rows_than_columns_and_no_row_to_spare():
    X, y = RNG.normal(size=(3, 5)), np.array([1.0, 2.0, 3.0])
    found = fit(X, y)
    assert found.rank == 3
    assert np.allclose(X @ found.coefficients, y, rtol=1e-12, atol=0)
    assert fit(X[:1], y[:1]).rank == 1
    assert fit(np.zeros((3, 1)), y).rss == pytest.approx(14.0, rel=1e-14)


@pytest.mark.parametrize("scale", [2.0**-400, 2.0**-40, 2.0**40, 2.0**400])
def test_units_do_not_matter(scale):
    plain, scaled = fit(ILL, TARGET), fit(ILL * [1, scale, 1], TARGET / scale)
    assert np.allclose(scaled.coefficients * [scale, scale * scale, scale], plain.coefficients, rtol=1e-15, atol=0)
    assert scaled.passes == plain.passes


def test_where_the_digits_come_from():
    """Each threshold is crossed with no step in what comes out: just below and just above agree."""
    for limit in (ILL_CONDITIONED, SEVERE):
        for offset in (limit * 0.1, limit * 10):
            x = np.arange(8) + np.round(offset)
            X, y = np.column_stack([np.ones(8), x]), np.array([2.0, 7, 1, 8, 2, 8, 1, 8])
            b, inverse, _ = solve_exactly(X.tolist(), y.tolist())
            found = fit(X, y)
            assert np.allclose(found.coefficients, b, rtol=1e-11, atol=0)
            assert np.allclose(found.covariance, inverse, rtol=1e-9, atol=0)


def test_powers_are_right_to_thirty_digits():
    x = np.array([0.1, -3.7, 1e5, 0.0, 1 / 3])
    high, low = powers(x, 8)
    for i, v in enumerate(x):
        for k in range(9):
            exact = Fraction(v) ** k
            assert abs(Fraction(high[i, k]) + Fraction(low[i, k]) - exact) <= abs(exact) / 10**30


def test_a_polynomial_of_high_degree_with_its_powers_kept_or_rounded():
    """Filip's kind, condition above 1e8: either design is solved as exactly as it was given, and they differ."""
    x = -9 + np.arange(24) * 0.26
    y = np.round(np.cos(x), 4)
    X = powers(x, 9)
    exact, inverse, rss = solve_exactly([[Fraction(v) ** k for k in range(10)] for v in x], y.tolist())
    rounded, inverse_rounded, _ = solve_exactly(X[0].tolist(), y.tolist())
    kept, plain = fit(X, y), fit(X[0], y)
    assert kept.condition > 1e8
    assert digits(kept.coefficients, exact) > 11
    assert digits(kept.rss, rss) > 11
    assert digits(np.diag(kept.covariance), np.diag(inverse)) > 10
    assert digits(plain.coefficients, rounded) > 11
    assert digits(np.diag(plain.covariance), np.diag(inverse_rounded)) > 10
    assert digits(rounded, exact) < 9


def test_square_root_of_double_doubles():
    for v in (2.0, 1e-20, 0.1, 0.0):
        root = dd.square_root(dd.of(np.array(v)))
        assert abs((Fraction(float(root[0])) + Fraction(float(root[1]))) ** 2 - Fraction(v)) <= Fraction(v) / 10**30


@pytest.mark.parametrize("extended", [False, True])
def test_kernels_do_what_their_python_does(extended):
    X = powers(RNG.normal(size=40), 3)
    high, low = refine.parts(X if extended else X[0])
    y, w, shrink, b = RNG.normal(size=40), RNG.random(40), np.array([1.0, 0.5, 2.0, 0.25]), RNG.normal(size=(2, 4))
    b[1] *= 1e-17
    for kernel, args, shapes in [
        (refine.residual_sums, (high, low, y, w, shrink, b), [(2, 4), (2,)]),
        (refine.gram_sums, (high, low, w, shrink), [(2, 4, 4)]),
    ]:
        plain, compiled = [np.zeros(s) for s in shapes], [np.zeros(s) for s in shapes]
        kernel.plain(*args, *plain)
        kernel.compiled(*args, *compiled)
        for a, c in zip(plain, compiled):
            assert np.allclose(dd.value(a), dd.value(c), rtol=1e-15, atol=0)
            assert np.allclose(dd.value(dd.subtract(a, c)), 0, atol=1e-29 * 40)


def test_many_shards_are_summed_in_order():
    """More rows than a shard of either kind holds; the same bits whenever it is run."""
    n = 40_000
    x = 1e6 + np.arange(n) / 7
    X = np.column_stack([np.ones(n), x, RNG.normal(size=n)])
    y = RNG.normal(size=n)
    one, again, parts = fit(X, y), fit(X, y), fit(X, y, batch=9_999)
    assert one.coefficients.tobytes() == again.coefficients.tobytes()
    assert one.covariance.tobytes() == again.covariance.tobytes()
    assert np.allclose(parts.coefficients, one.coefficients, rtol=1e-12, atol=0)


def test_factors_add():
    a, b = Factor.of(WELL[:100], TARGET[:100]), Factor.of(WELL[100:], TARGET[100:])
    whole, ab, ba = Factor.of(WELL, TARGET), a + b, b + a
    for other in (ab, ba, whole + Factor.nothing(4)):
        gram = whole.triangle.T @ whole.triangle
        size = np.sqrt(np.diag(gram))
        assert np.allclose((other.triangle.T @ other.triangle - gram) / size / size[:, None], 0, atol=1e-13)
        assert other.rows == 300


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_a_number_is_named(bad):
    X, y = WELL.copy(), TARGET.copy()
    X[17, 2] = bad
    with pytest.raises(DataError, match=rf"column 'x2' holds {bad} \(row 17 of its batch, 1 such\)"):
        fit(X, y)
    y[3] = bad
    with pytest.raises(DataError, match="the target holds"):
        fit(WELL, y)


def test_what_blocks_must_be():
    with pytest.raises(DataError, match="no row of positive weight"):
        fit(WELL, TARGET, np.zeros(300))
    with pytest.raises(DataError, match="weights must be"):
        fit(WELL, TARGET, -np.ones(300))
    with pytest.raises(ValueError, match="a column for each name"):
        least_squares(lambda: [(WELL, TARGET, None)], ["a"])
    once = iter([(ILL, TARGET, None)])
    with pytest.raises(ValueError, match="the same rows every time"):
        least_squares(lambda: once, ["a", "b", "c"])
