"""Every kernel does what its own Python does, bit for bit."""

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from evenodds import kernel, label_kernels
from evenodds.families import Binned, Gaussian, StudentT, kernels, numeric
from evenodds.families.leaves import Rows, count, count_many
from evenodds.kernel import OFTEN, Kernel, product_error
from evenodds.labels import Fixed, Labels
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


def both(each, *arguments):
    """The arrays as the compiled kernel leaves them, and as its Python does."""
    results = []
    for run in (each.compiled, each.plain):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        results.append((run(*own), own))
    return results


def assert_same_bits(compiled, plain):
    assert compiled[0] == plain[0]
    for a, b in zip(compiled[1], plain[1]):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def arguments(groups, origins):
    place, rows, gaps = numeric._deal(groups, GROUPS)
    ends = np.array([[0, len(place)], [0, len(rows)], [0, len(gaps)]])
    bins = np.zeros((GROUPS, numeric.EXPONENTS * kernels.MANTISSAS), np.int32)
    n, sums = np.zeros((COLUMNS, GROUPS, numeric.LANES), np.int64), np.zeros((COLUMNS, GROUPS, 4, numeric.LANES))
    return place, rows, gaps, ends, np.zeros((len(rows), numeric.LANES)), np.array(origins), bins, n, sums


@pytest.mark.parametrize("origins", [[], [3.5] * COLUMNS], ids=["moments", "histograms"])
def test_tally_columns_is_its_python(block, groups, origins):
    compiled, plain = both(kernels.tally_columns, np.ascontiguousarray(block.T), *arguments(groups, origins))
    for a, b in zip((*compiled[0], *compiled[1]), (*plain[0], *plain[1])):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_tally_columns_counts_every_value_in_its_bin_and_leaves_the_bins_empty(block, groups):
    how = arguments(groups, [0.0] * COLUMNS)
    keys, numbers, stops = kernels.tally_columns(np.ascontiguousarray(block.T), *how)
    for j, (start, stop) in enumerate(zip([0, *stops], stops)):
        assert np.all(np.diff(keys[start:stop]) > 0)
        lower, upper = numeric.edges(keys[start:stop])
        for g in range(GROUPS):
            x = block[groups == g, j]
            inside = [
                int(np.sum((x >= low) & (x < up) if low >= 0 else (x > low) & (x <= up)))
                for low, up in zip(lower, upper)
            ]
            assert numbers[start:stop, g].tolist() == inside
    assert not how[6].any()


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_count_codes_is_its_python_and_counts(groups, dtype):
    codes = np.random.default_rng(4).integers(-1, 7, ROWS).astype(dtype)
    tables = np.zeros((8, 8 * GROUPS), np.int64)
    assert_same_bits(*both(kernels.count_codes, codes, groups, GROUPS, tables))
    kernels.count_codes(codes, groups, GROUPS, tables)
    expected = [[np.sum((codes == code) & (groups == g)) for g in range(GROUPS)] for code in range(-1, 7)]
    assert tables.sum(axis=0).reshape(8, GROUPS).tolist() == expected


def test_count_pairs_is_its_python(groups):
    a, b = (np.random.default_rng(seed).integers(-1, 5, ROWS).astype(np.int8) for seed in (4, 5))
    assert_same_bits(*both(kernels.count_pairs, a, b, groups, 6, GROUPS, np.zeros((8, 36 * GROUPS), np.int64)))


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weighted"])
def test_columns_counted_together_are_columns_counted_alone(groups, weights, weighted):
    rng = np.random.default_rng(11)
    columns = [(rng.integers(-1, n, ROWS), n) for n in (3, 5, 400, 2, 1, 7, 4)]
    rows = Rows(groups, GROUPS, weights if weighted else None)
    for together, (codes, values) in zip(count_many(columns, rows), columns, strict=True):
        np.testing.assert_array_equal(together, count(codes, values, rows))


def test_places_put_every_value_in_its_groups_rows(groups):
    place, rows, gaps = numeric._deal(groups, GROUPS)
    assert_same_bits(*both(kernels.places, groups, np.zeros(GROUPS, np.int64), place.copy()))
    dealt = np.full((len(rows), numeric.LANES), -1.0)
    dealt.reshape(-1)[place] = np.arange(ROWS)
    assert (dealt.reshape(-1)[gaps] == -1).all()
    for g in range(GROUPS):
        mine = dealt[rows == g].ravel()
        assert mine[mine >= 0].tolist() == np.flatnonzero(groups == g).tolist()


@pytest.mark.parametrize("zeros", [0.0, 30.0])
def test_bins_of_equal_masses_are_their_python(zeros):
    keys = np.arange(-40, 60)
    mass = np.random.default_rng(7).integers(1, 9, 100).astype(float)
    mass[40] += zeros
    (starts, _), (plain, _) = both(kernels.equal_masses, keys, mass, 12)
    assert starts.tolist() == plain.tolist()
    assert (40 in starts and 41 in starts) == (zeros > 0)  # zero stands alone where it is often enough
    each = np.add.reduceat(mass, starts)
    assert each.max() < mass.sum() / 12 + mass.max()


def test_add_gaussian_is_its_python(block):
    arguments = np.array([0.1, -2.0]), np.array([0.5, 3.0]), np.array([-1.0, 1.0])
    assert_same_bits(*both(kernels.add_gaussian, block[:, 0].copy(), *arguments, np.ones((2, ROWS))))


@pytest.mark.parametrize("inner", range(10))
@pytest.mark.parametrize("outer", [(-1.0, 2.0), (-1.0, 1.99), (-0.99, 2.0)])
def test_add_binned_is_its_python_and_looks_every_value_up(inner, outer):
    rng = np.random.default_rng(6)
    edges = np.array([outer[0], *np.sort(rng.uniform(-0.9, 1.9, inner)), outer[1]])
    x = np.concatenate([rng.uniform(-0.9, 1.9, ROWS), edges[1:-1], [np.nan, -1.0, 2.0, 0.0]])
    table = rng.normal(size=(3, inner + 2))
    (compiled, (*_, total)), (plain, (*_, expected)) = both(kernels.add_binned, x, edges, table, np.ones((3, len(x))))
    np.testing.assert_array_equal(total, expected)
    bins = np.where(np.isnan(x), inner + 1, np.searchsorted(edges[1:-1], x, side="right"))
    np.testing.assert_array_equal(total, 1 + table[:, bins])
    assert compiled == plain == (outer != (-1.0, 2.0))


@pytest.mark.parametrize("family", [Gaussian, Binned, StudentT], ids=lambda family: family.__name__)
def test_what_is_added_to_a_total_is_the_log_probability(family):
    rng = np.random.default_rng(7)
    x, groups = rng.normal(size=900), np.array(["a", "b", "c"])[rng.integers(0, 3, 900)]
    learner = Gaussian if family is StudentT else family
    estimate = "predictive" if family is StudentT else "mean"
    conditional = learner.estimate(learner.tally(x, groups=groups), estimate)
    assert isinstance(conditional, family)
    new = np.concatenate([rng.normal(size=5000) * 3, [np.nan, 50.0, -50.0]])
    total = np.full((3, len(new)), 2.0)
    conditional.add_log_prob(new, total)
    np.testing.assert_allclose(total.T - 2.0, conditional.log_prob(new), rtol=1e-12, atol=1e-12)


def texts(rng, n):
    """Texts of all lengths, some of them many times, with the empty text and letters of several bytes."""
    words = ["", "a", "ab", "eight by", "nine byte", "grün", "☃" * 9, *(f"w{i}" * (i % 7) for i in range(200))]
    return [words[i] for i in rng.integers(0, len(words), n)]


@pytest.mark.parametrize("run", ["compiled", "plain"])
def test_encoded_texts_are_the_texts(run, monkeypatch):
    monkeypatch.setattr(label_kernels.encode, "compiled", getattr(label_kernels.encode, run))
    monkeypatch.setattr(kernel, "FEW", 0)
    given = texts(np.random.default_rng(8), 3000)
    known = np.random.default_rng(9).random(len(given)) < 0.9
    blob = np.frombuffer("".join(given).encode(), np.uint8)
    ends = np.cumsum([0, *(len(text.encode()) for text in given)]).astype(np.int32)
    codes, labels, place = Labels.encode(blob, ends[:-1], ends[1:], known)
    assert labels == Labels.of([text for text, there in zip(given, known) if there])
    read = [labels.text(place[code]) if code >= 0 else None for code in codes]
    assert read == [text if there else None for text, there in zip(given, known)]


def test_a_table_of_texts_grows_when_it_is_half_full():
    given = [f"text number {i}" for i in range(5000)]
    ends = np.cumsum([0, *map(len, given)])
    blob = np.frombuffer("".join(given).encode(), np.uint8)
    codes, labels, place = Labels.encode(blob, ends[:-1], ends[1:], np.empty(0, bool))
    assert [labels.text(place[code]) for code in codes] == given


def empty(pages):
    """n and sums; then the origin, the page table, the pool and where to begin."""
    page, at = np.full(numeric.EXPONENTS, -1, np.int32), np.zeros(2, np.int64)
    return np.zeros((GROUPS, 2)), np.zeros((GROUPS, 4)), 3.5, page, np.zeros((pages, GROUPS, 2 * numeric.MANTISSAS)), at


@pytest.mark.parametrize("pages", [400, 5], ids=["enough pages", "pages that run out"])
def test_sum_weighted_is_its_python(block, groups, weights, pages):
    assert_same_bits(*both(kernels.sum_weighted, block[:, 0], groups, weights, *empty(pages)))


@pytest.mark.parametrize("run", ["compiled", "plain"])
def test_running_out_of_pages_and_coming_back_changes_nothing(block, groups, weights, run):
    count = getattr(kernels.sum_weighted, run)
    given = (block[:, 0].copy(), groups, weights)
    *sums, origin, page, pool, at = empty(400)
    assert count(*given, *sums, origin, page, pool, at)
    *sums2, _, page2, pool2, at2 = empty(1)
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


def test_moments_of_a_row_major_array_are_summed_as_it_lies(groups, monkeypatch):
    """Some rows of all columns at a time: those side by side in one call, one with another between in its own."""
    x = np.random.default_rng(5).normal(100, 30, (ROWS, 9))
    x[::11, 1] = np.nan

    def moments(columns):
        named = {f"x{j}": Column() for j in range(len(columns))}
        return Tally.of(Fixed(GROUPS), numeric.leaves(columns, Rows(groups, GROUPS), named, histogram=False))

    monkeypatch.setattr(numeric, "LYING", 64)
    some = [0, 1, 2, 3, 5, 6, 8]
    calls = []
    whole = kernels.tally_columns
    monkeypatch.setattr(kernels, "tally_columns", lambda *args: calls.append(args[0].shape) or whole(*args))
    lying = moments([x[:, j] for j in some])
    assert calls == [(4, ROWS), (2, ROWS), (1, ROWS)] * -(-ROWS // max(64, numeric.LANES * GROUPS))
    assert_same(lying, moments(list(np.asfortranarray(x[:, some]).T)), terms(x))


def test_more_groups_than_there_is_room_for_are_counted_some_at_a_time(monkeypatch):
    rng = np.random.default_rng(10)
    x, groups = list(rng.normal(size=(2, 700))), rng.integers(0, 9, 700).astype(np.int32)

    def count():
        leaves = numeric.leaves(x, Rows(groups, 9), {"a": Column(), "b": Column()}, histogram=True)
        return Tally.of(Fixed(9), leaves).to_bytes()

    at_once = count()
    monkeypatch.setattr(numeric, "MANY_GROUPS", 4)
    assert count() == at_once


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
    for each in (kernels.places, kernels.tally_columns, kernels.sum_weighted):
        monkeypatch.setattr(each, "compiled", each.plain)
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


def test_columns_side_by_side_are_columns_alone(groups):
    whole = np.random.default_rng(5).normal(size=(5, ROWS))
    rows = Rows(groups, GROUPS)
    names = {f"x{j}": Column(Binned) for j in range(5)}
    apart = [whole[j].copy() for j in range(5)]
    mixed = [whole[0], whole[1], apart[2], whole[4], whole[3]]
    assert len(numeric._together(list(whole))) == 1
    assert len(numeric._together(apart)) == 5
    assert len(numeric._together(mixed)) == 4
    for columns, order in ((list(whole), range(5)), (mixed, (0, 1, 2, 4, 3))):
        found = numeric.leaves(columns, rows, {f"x{j}": names[f"x{j}"] for j in order}, histogram=True)
        alone = numeric.leaves(apart, rows, names, histogram=True)
        for name, leaf in alone.items():
            assert found[name].axis == leaf.axis
            assert found[name].numbers.tobytes() == leaf.numbers.tobytes()


@pytest.mark.parametrize("weight", [None, 2.0, 0.5])
def test_what_is_just_below_zero_is_in_the_bin_of_zero(weight):
    x = np.array([-1e-310, 0.0, -0.0, 1e-310, -1.0])
    found = Binned.tally(x, weights=None if weight is None else np.full(5, weight))
    keys = found.layout.specs["x", "histogram"].axis.keys
    assert keys.tolist() == [-130944, 0]
    assert found["x", "histogram"].ravel().tolist() == [(weight or 1), 4 * (weight or 1)]


def test_the_compiler_is_loaded_without_scipy_linalg_and_multiplies_matrices_all_the_same():
    script = (
        "import sys, numpy as np; from evenodds.kernel import compiler; numba = compiler();"
        "print('scipy.linalg' in sys.modules); print(numba.njit(lambda a: a @ a)(2 * np.eye(2)).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False", "[[4.0, 0.0], [0.0, 4.0]]"]


def test_called_again_and_again_on_a_few_numbers_a_kernel_is_compiled(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    twice = Kernel(lambda x: "plain")
    monkeypatch.setattr(twice, "compiled", lambda x: "compiled", raising=False)
    said = [twice(np.zeros(1)) for _ in range(OFTEN + 1)]
    assert said == ["plain"] * OFTEN + ["compiled"]


def test_where_nothing_can_be_written_a_kernel_is_compiled_and_not_kept(monkeypatch):
    from numba.core import caching

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    twice = Kernel(lambda x: x + x)
    assert twice.compiled(np.array([1.5])).tolist() == [3.0]
    assert twice.compiled is not twice.plain
