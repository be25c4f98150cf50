"""Every kernel does what its own Python does, bit for bit."""

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from evenodds.families import kernels, numeric
from evenodds.families.base import Rows
from evenodds.kernel import product_error
from evenodds.labels import Fixed
from evenodds.schema import Column
from evenodds.tally import Tally
from laws import assert_same

ROWS, COLUMNS, GROUPS = 5000, 3, 2


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
    for run in (kernel.compiled, kernel.plain):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        results.append((run(*own), own))
    return results


def assert_same_bits(compiled, plain):
    assert compiled[0] == plain[0]
    for a, b in zip(compiled[1], plain[1]):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_sum_rows_is_its_python(block, groups):
    n, sums = np.zeros((GROUPS, COLUMNS), np.int64), np.zeros((GROUPS, 4, COLUMNS))
    assert_same_bits(*both(kernels.sum_rows, block, groups, n, sums))


def empty(pages, weighted):
    """n and sums where weights are summed too; then the origin, the page table, the pool and where to begin."""
    page, at = np.full(numeric.EXPONENTS, -1, np.int32), np.zeros(2, np.int64)
    if weighted:
        pool = np.zeros((pages, numeric.MANTISSAS, 2 * GROUPS))
        return np.zeros((GROUPS, 2)), np.zeros((GROUPS, 4)), 3.5, page, pool, at
    return 3.5, page, np.zeros((pages, numeric.MANTISSAS, GROUPS), np.int64), at


@pytest.mark.parametrize("pages", [400, 5], ids=["enough pages", "pages that run out"])
def test_count_bins_is_its_python(block, groups, pages):
    assert_same_bits(*both(kernels.count_bins, block[:, 0], groups, *empty(pages, False)))


@pytest.mark.parametrize("pages", [400, 5], ids=["enough pages", "pages that run out"])
def test_sum_weighted_is_its_python(block, groups, weights, pages):
    assert_same_bits(*both(kernels.sum_weighted, block[:, 0], groups, weights, *empty(pages, True)))


@pytest.mark.parametrize("run", ["compiled", "plain"])
@pytest.mark.parametrize("weighted", [False, True], ids=["by rows", "by weight"])
def test_running_out_of_pages_and_coming_back_changes_nothing(block, groups, weights, weighted, run):
    count = getattr(kernels.sum_weighted if weighted else kernels.count_bins, run)
    given = (block[:, 0].copy(), groups, weights) if weighted else (block[:, 0].copy(), groups)
    *sums, origin, page, pool, at = empty(400, weighted)
    assert count(*given, *sums, origin, page, pool, at)
    *sums2, _, page2, pool2, at2 = empty(1, weighted)
    returns = 0
    while not count(*given, *sums2, origin, page2, pool2, at2):
        pool2 = np.concatenate([pool2, np.zeros_like(pool2[:1])])
        returns += 1
    assert returns > 50
    for a, b in zip(sums, sums2):
        assert a.tobytes() == b.tobytes()
    for p, p2 in zip(page, page2):
        assert (p < 0) == (p2 < 0)
        if p >= 0:
            assert pool[p].tobytes() == pool2[p2].tobytes()


def tally(columns, groups, weights=None):
    named = {f"x{j}": Column(origin=3.5 * (j == 1)) for j in range(len(columns))}
    leaves = numeric.leaves(columns, Rows(groups, GROUPS, weights), named, histogram=True)
    return Tally.of(Fixed(GROUPS), leaves)


def terms(x):
    """The sums of each value alone."""
    return [tally([column[i : i + 1] for column in x.T], np.zeros(1, np.int32)) for i in range(0, len(x), 97)] + [
        tally([column[[np.nanargmax(np.abs(column))]] for column in x.T], np.zeros(1, np.int32))
    ]


@pytest.mark.parametrize("k", [3, 40], ids=["a few columns", "many columns"])
def test_side_by_side_one_by_one_and_by_unit_weights_the_tally_is_the_same(groups, k):
    x = np.random.default_rng(5).normal(100, 30, (ROWS, k))
    x[::11, 1] = np.nan
    side_by_side, one_by_one = np.ascontiguousarray(x), np.asfortranarray(x)
    whole = tally(list(side_by_side.T), groups)
    assert_same(whole, tally(list(one_by_one.T), groups), terms(x))
    assert_same(whole, tally(list(one_by_one.T), groups, np.ones(ROWS)), terms(x))


def test_the_moments_are_the_exact_fractions(block, groups):
    whole = tally(list(np.asfortranarray(block).T), groups)
    for j in range(COLUMNS):
        for g in range(GROUPS):
            x = [Fraction(v) for v in block[groups == g, j] if v == v]
            assert whole[f"x{j}", "rows"][0, g] == len(x)
            for power in (1, 2):
                exact, largest = sum(v**power for v in x), max(abs(v) for v in x) ** power
                assert abs(Fraction(float(whole[f"x{j}", "moments"][power - 1, g])) - exact) <= largest * Fraction(
                    1e-12
                )


def test_the_tally_does_not_depend_on_the_kernels_being_compiled(block, groups, weights, monkeypatch):
    def learn():
        return [tally(list(block.T), groups, w).to_bytes() for w in (None, weights)]

    compiled = learn()
    for kernel in (kernels.sum_rows, kernels.count_bins, kernels.sum_weighted):
        monkeypatch.setattr(kernel, "compiled", kernel.plain)
    assert learn() == compiled


def test_the_error_of_a_product_is_exact():
    for a, b in np.random.default_rng(3).normal(size=(200, 2)) * 1e6:
        exact = Fraction(a) * Fraction(b) - Fraction(a * b)
        assert Fraction(product_error(a, b, a * b)) == exact


PROGRAM = """
import hashlib, sys
{}
import numpy as np
from evenodds.models.classifier import NaiveBayes
x = np.random.default_rng(0).normal(size=(3000, 2))
nb = NaiveBayes().fit(x, np.arange(3000) % 100)
print(hashlib.sha256(nb.model_.tally.to_bytes()).hexdigest())
"""


def learn(first_line, cache):
    """The hash of a model's tally learnt in a fresh interpreter, whose kernels are not on disk yet."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM.format(first_line)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def test_kernels_compiled_afresh_and_no_compiler_at_all_learn_the_same_model(tmp_path):
    without, afresh = learn("sys.modules['numba'] = None", tmp_path), learn("import numba", tmp_path)
    assert len(without) > 60
    assert without == afresh
    assert list(tmp_path.rglob("*.nbi")), "nothing was compiled"
