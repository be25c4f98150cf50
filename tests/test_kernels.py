"""Every kernel does what its own Python does, bit for bit."""

import numpy as np
import pytest

from evenodds.families import kernels, numeric
from evenodds.families.base import Rows
from evenodds.kernel import product_error
from evenodds.labels import Fixed
from evenodds.schema import Column
from evenodds.tally import Tally

ROWS, COLUMNS, GROUPS = 5000, 3, 2  # more rows than a chunk


@pytest.fixture
def block():
    """Numbers over many powers of two, with holes, zeros of both signs, and whole numbers."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS)) * 2.0 ** rng.integers(-40, 40, (ROWS, COLUMNS))
    x[rng.random(x.shape) < 0.1] = np.nan
    x[rng.random(x.shape) < 0.1] = 0.0
    x[rng.random(x.shape) < 0.05] = -0.0
    x[:, 2] = np.round(x[:, 2])
    return x


@pytest.fixture
def groups():
    return np.random.default_rng(1).integers(0, GROUPS, ROWS).astype(np.int32)


@pytest.fixture
def weights():
    rng = np.random.default_rng(2)
    return np.where(rng.random(ROWS) < 0.1, 0.0, rng.random(ROWS) * 3)


def both(kernel, *arguments):
    """The arrays as the compiled kernel leaves them, and as its Python does."""
    results = []
    for run in (kernel.compiled, kernel.py_func):
        own = [a.copy() for a in arguments]
        results.append((run(*own), own))
    return results


def assert_same_bits(compiled, plain):
    assert compiled[0] == plain[0]
    for a, b in zip(compiled[1], plain[1]):
        assert a.tobytes() == b.tobytes()


def test_sum_rows_is_its_python(block, groups):
    n, sums = np.zeros((GROUPS, COLUMNS), np.int64), np.zeros((GROUPS, 4, COLUMNS))
    assert_same_bits(*both(kernels.sum_rows, block, groups, n, sums))


def empty(pages, weighted):
    """n, sums, origins, page table, pool of pages, and where to begin."""
    n = np.zeros((COLUMNS, GROUPS, 2)) if weighted else np.zeros((COLUMNS, GROUPS), np.int64)
    pool = np.zeros((pages, numeric.MANTISSAS, 2 * GROUPS if weighted else GROUPS), float if weighted else np.int64)
    page = np.full((COLUMNS, numeric.EXPONENTS), -1, np.int32)
    return n, np.zeros((COLUMNS, GROUPS, 4)), np.array([0.0, 3.5, 0.0]), page, pool, np.zeros(4, np.int64)


@pytest.mark.parametrize("pages", [400, 5], ids=["enough pages", "pages that run out"])
def test_sum_columns_is_its_python(block, groups, pages):
    assert_same_bits(*both(kernels.sum_columns, block, groups, *empty(pages, False)))


@pytest.mark.parametrize("pages", [400, 5], ids=["enough pages", "pages that run out"])
def test_sum_weighted_is_its_python(block, groups, weights, pages):
    assert_same_bits(*both(kernels.sum_weighted, block, groups, weights, *empty(pages, True)))


@pytest.mark.parametrize("run", ["compiled", "py_func"])
@pytest.mark.parametrize("weighted", [False, True], ids=["by rows", "by weight"])
def test_running_out_of_pages_and_coming_back_changes_nothing(block, groups, weights, weighted, run):
    count = getattr(kernels.sum_weighted if weighted else kernels.sum_columns, run)
    given = (block, groups, weights) if weighted else (block, groups)
    n, sums, origins, page, pool, at = empty(400, weighted)
    assert count(*given, n, sums, origins, page, pool, at)
    n2, sums2, _, page2, pool2, at2 = empty(1, weighted)
    returns = 0
    while not count(*given, n2, sums2, origins, page2, pool2, at2):
        pool2 = np.concatenate([pool2, np.zeros_like(pool2[:1])])
        returns += 1
    assert returns > 50
    assert n.tobytes() == n2.tobytes()
    assert sums.tobytes() == sums2.tobytes()
    for p, p2 in zip(page.ravel(), page2.ravel()):
        assert (p < 0) == (p2 < 0)
        if p >= 0:
            assert pool[p].tobytes() == pool2[p2].tobytes()


def test_rows_columns_and_unit_weights_give_the_same_moments(block, groups):
    by_rows, by_columns, by_weight = (np.zeros(shape) for shape in ((2, 4, 3), (3, 2, 4), (3, 2, 4)))
    n = [np.zeros((2, 3), np.int64), np.zeros((3, 2), np.int64), np.zeros((3, 2, 2))]
    nowhere = np.full((0, numeric.EXPONENTS), -1, np.int32), np.zeros((0, 128, 2)), np.zeros(4, np.int64)
    kernels.sum_rows(block, groups, n[0], by_rows)
    kernels.sum_columns(block, groups, n[1], by_columns, np.zeros(3), *nowhere)
    kernels.sum_weighted(
        block, groups, np.ones(ROWS), n[2], by_weight, np.zeros(3), *nowhere[:2], np.zeros(4, np.int64)
    )
    np.testing.assert_array_equal(by_rows.transpose(2, 0, 1), by_columns)
    np.testing.assert_array_equal(by_columns, by_weight)
    np.testing.assert_array_equal(n[0].T, n[1])
    np.testing.assert_array_equal(n[1], n[2][..., 0])


def test_the_tally_does_not_depend_on_the_kernel_being_compiled(block, groups, monkeypatch):
    def tally():
        columns = {"a": Column(), "b": Column(origin=3.5), "c": Column()}
        leaves = numeric.leaves(block, Rows(groups, GROUPS), columns, histogram=True)
        return Tally.of(Fixed(GROUPS), leaves).to_bytes()

    compiled = tally()
    monkeypatch.setattr(kernels.sum_columns, "compiled", kernels.sum_columns.py_func)
    assert tally() == compiled


def test_the_error_of_a_product_is_exact():
    from fractions import Fraction

    for a, b in np.random.default_rng(3).normal(size=(200, 2)) * 1e6:
        exact = Fraction(a) * Fraction(b) - Fraction(a * b)
        assert Fraction(product_error(a, b, a * b)) == exact
