"""The fitter: derivatives against finite differences, three solvers and three kinds of columns that must agree."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize
from scipy.sparse import csr_array

from evenodds.models.glm import blocks, design_kernels
from evenodds.models.glm.blocks import Block, Gram, Matrix, mirrored
from evenodds.models.glm.losses import Count, Logistic, Softmax, Squared
from evenodds.models.glm.minimise import minimise
from evenodds.models.glm.sums import evaluate

LOSSES = [Squared(), Logistic(), Count(), Softmax(4)]


def problem(loss, rows=60, columns=4, seed=0, weights=True, offset=False):
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(rows), rng.normal(size=(rows, columns - 1))])
    if isinstance(loss, Softmax):
        y = rng.integers(0, loss.outputs + 1, rows)
    elif isinstance(loss, Logistic):
        y = rng.integers(0, 2, rows).astype(float)
    elif isinstance(loss, Count):
        y = rng.poisson(2.0, rows).astype(float)
    else:
        y = rng.normal(size=rows)
    w = rng.uniform(0.5, 2, rows) if weights else None
    return Matrix(x, y, w, rng.normal(size=rows) * 0.3 if offset else None)


def numerical(function, at, step=1e-5):
    out = []
    for j in range(at.size):
        move = np.zeros(at.size)
        move[j] = step
        out.append((function(at + move) - function(at - move)) / (2 * step))
    return np.array(out)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(seed=st.integers(0, 10**6))
def test_derivatives_in_the_score_are_those_of_the_cost(loss, seed):
    rng = np.random.default_rng(seed)
    rows = problem(loss, 20, 2, seed)
    shape = (20,) if loss.outputs == 1 else (20, loss.outputs)
    score = rng.normal(size=shape) * 2
    cost, first, second = loss.slopes(score, rows.y)
    np.testing.assert_allclose(cost, loss.costs(score, rows.y), rtol=1e-12)
    for k in range(loss.outputs):
        move = np.zeros(shape)
        move[(...,) if loss.outputs == 1 else (..., k)] = 1e-5
        up, down = loss.slopes(score + move, rows.y), loss.slopes(score - move, rows.y)
        along = (up[0] - down[0]) / 2e-5
        np.testing.assert_allclose(along, first if loss.outputs == 1 else first[:, k], atol=1e-9, rtol=1e-8)
        bend = (up[1] - down[1]) / 2e-5
        np.testing.assert_allclose(bend, second if loss.outputs == 1 else second[:, k], atol=1e-9, rtol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(seed=st.integers(0, 10**6))
def test_gradient_and_hessian_are_those_of_the_sum_and_curve_upwards(loss, seed):
    rows = problem(loss, 40, 3, seed, offset=loss.outputs == 1)
    shape = (3,) if loss.outputs == 1 else (3, loss.outputs)
    b = np.random.default_rng(seed).normal(size=3 * loss.outputs) * 0.5
    at = evaluate(loss, rows, b.reshape(shape, order="F"))
    gradient = numerical(lambda v: evaluate(loss, rows, v.reshape(shape, order="F"), 0).cost, b)
    np.testing.assert_allclose(at.gradient.ravel(order="F"), gradient, rtol=1e-7, atol=1e-7)
    slopes = numerical(lambda v: evaluate(loss, rows, v.reshape(shape, order="F"), 1).gradient.ravel(order="F"), b)
    np.testing.assert_allclose(at.hessian, slopes, rtol=1e-7, atol=1e-7)
    assert np.linalg.eigvalsh(at.hessian).min() > -1e-9
    only = evaluate(loss, rows, b.reshape(shape, order="F"), 1)
    np.testing.assert_allclose(only.hessian.ravel(order="F"), np.diag(at.hessian), rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_transfer_function_and_its_inverse(loss):
    if loss.outputs > 1:
        p = np.array([0.1, 0.2, 0.3, 0.4])
        np.testing.assert_allclose(loss.mean(loss.score(p)[None])[0], p, rtol=1e-14)
    else:
        mean = np.array([0.2, 0.7])
        np.testing.assert_allclose(loss.mean(loss.score(mean)), mean, rtol=1e-14)


@pytest.mark.parametrize("score", [-800.0, -40.0, 40.0, 800.0])
def test_extreme_scores_cost_what_they_should(score):
    cost, first, second = Logistic().slopes(np.array([score]), np.array([1.0]))
    assert cost[0] == pytest.approx(max(-score, 0.0), abs=1e-15)
    assert first[0] == pytest.approx(-1.0 if score < 0 else 0.0, abs=1e-15)
    assert 0 <= second[0] < 1e-15


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("precision", [0.0, 0.7])
def test_three_solvers_agree_with_one_another_and_with_scipy(loss, precision):
    rows = problem(loss)
    size = 4 * loss.outputs
    mean = np.linspace(-1, 1, size)
    shape = (4,) if loss.outputs == 1 else (4, loss.outputs)

    def sums(v):
        return evaluate(loss, rows, v.reshape(shape, order="F"))

    peer = scipy_minimize(
        lambda v: sums(v).cost + 0.5 * precision * (v - mean) @ (v - mean),
        np.zeros(size),
        jac=lambda v: sums(v).gradient.ravel(order="F") + precision * (v - mean),
        hess=lambda v: sums(v).hessian + precision * np.eye(size),
        method="trust-exact",
        options={"gtol": 1e-10},
    ).x
    for solver, tolerance, near in (("newton", 1e-7, 1e-9), ("lbfgs", 1e-8, 1e-6), ("ascent", 1e-8, 1e-6)):
        found = minimise(loss, mean, precision, rows, solver=solver, tolerance=tolerance)
        assert found.converged
        assert found.solver == solver
        np.testing.assert_allclose(found.coefficients.ravel(order="F"), peer, rtol=0, atol=near)
        costs = [step.cost for step in found.steps]
        assert all(b <= a + 1e-9 for a, b in itertools.pairwise(costs))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_slope_is_zero_at_the_minimum_for_any_prior(loss):
    rows, size = problem(loss), 4 * loss.outputs
    rng = np.random.default_rng(3)
    root = rng.normal(size=(size, size))
    precision, mean = root @ root.T, rng.normal(size=size)
    found = minimise(loss, mean, precision, rows)
    b = found.coefficients.ravel(order="F")
    slope = evaluate(loss, rows, found.coefficients).gradient.ravel(order="F") + precision @ (b - mean)
    np.testing.assert_allclose(slope, 0, atol=1e-10)
    np.testing.assert_allclose(found.hessian, found.sums.hessian + precision, rtol=1e-12)


def test_newton_survives_a_start_from_which_a_full_step_overshoots():
    x = np.column_stack([np.ones(50), np.linspace(-3, 3, 50)])
    y = np.exp(1 + 1.5 * x[:, 1])
    found = minimise(Count(), 0.0, 0.0, Matrix(x, y), start=np.array([-20.0, 10.0]))
    assert found.converged
    np.testing.assert_allclose(found.coefficients, [1, 1.5], rtol=1e-12)


def test_sparse_is_dense():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 30)) * (rng.random((200, 30)) < 0.1)
    y = rng.integers(0, 2, 200).astype(float)
    for solver, near in (("newton", 1e-13), ("lbfgs", 1e-8)):
        dense = minimise(Logistic(), 0.0, 1.0, Matrix(x, y), solver=solver)
        sparse = minimise(Logistic(), 0.0, 1.0, Matrix(csr_array(x), y), solver=solver)
        np.testing.assert_allclose(sparse.coefficients, dense.coefficients, rtol=0, atol=near)


# One-hot columns as codes


def coded(rows=500, seed=0):
    """The same rows with one-hot columns as codes, and written out."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, 2))
    codes = np.column_stack([rng.integers(3, 7, rows), rng.integers(7, 10, rows)]).astype(np.int32)
    codes[rng.random(rows) < 0.2, 0] = 10  # the reference
    written = np.zeros((rows, 10))
    written[:, 0] = 1
    written[:, 1:3] = dense
    for j in range(2):
        real = codes[:, j] < 10
        written[np.flatnonzero(real), codes[real, j]] = 1
    block = Block(dense, None, codes, 10, np.zeros(rows), None, None, intercept=True)
    return block, written


def test_products_with_codes_are_those_with_the_columns_written_out():
    block, written = coded()
    rng = np.random.default_rng(1)
    for tile in block.tiles():
        np.testing.assert_array_equal(tile.columns().toarray(), written)
        for shape in ((), (3,)):
            b, r = rng.normal(size=(10, *shape)), rng.normal(size=(500, *shape))
            np.testing.assert_allclose(tile.score(b), written @ b, rtol=0, atol=1e-12)
            np.testing.assert_allclose(tile.pull(r), written.T @ r, rtol=0, atol=1e-12)
        for w in (rng.random(500), rng.normal(size=500)):
            gram = Gram(10)
            gram.add(tile, w)
            np.testing.assert_allclose(mirrored(gram.lower), written.T @ (w[:, None] * written), rtol=0, atol=1e-11)
        np.testing.assert_allclose(tile.squares(w), (written**2).T @ w, rtol=0, atol=1e-11)
        m = rng.normal(size=(10, 10))
        np.testing.assert_allclose(tile.quadratic(m), np.einsum("ij,jk,ik->i", written, m, written), rtol=0, atol=1e-12)


def test_kernels_compiled_are_kernels_in_python():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, (50, 3)).astype(np.int32)
    w, dense = rng.normal(size=50), rng.normal(size=(50, 2))
    x = csr_array(rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.4))
    entries = (x.indices, x.indptr, x.data)
    for kernel, args, shape in (
        (design_kernels.gather, (codes, rng.normal(size=6)), (50,)),
        (design_kernels.scatter, (codes, w), (6,)),
        (design_kernels.count_pairs, (codes, w), (6, 6)),
        (design_kernels.scatter_rows, (codes, dense), (6, 2)),
        (design_kernels.spread, (*entries, rng.normal(size=(6, 2))), (50, 2)),
        (design_kernels.collect, (*entries, dense), (6, 2)),
    ):
        plain, compiled = np.zeros(shape), np.zeros(shape)
        kernel.py_func(*args, plain)
        kernel.compiled(*args, compiled)
        np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-13)


@pytest.mark.parametrize("outputs", [(), (3,)])
def test_products_of_many_sparse_rows_are_those_of_few(outputs, monkeypatch):
    rng = np.random.default_rng(1)
    x = csr_array(rng.normal(size=(80, 12)) * (rng.random((80, 12)) < 0.3))
    block = Block(np.empty((80, 0)), x, np.empty((80, 0), np.int32), 13, np.zeros(80), None, None, True)
    b, slopes = rng.normal(size=(13, *outputs)), rng.normal(size=(80, *outputs))
    [tile] = block.tiles()
    few = tile.score(b), tile.pull(slopes)
    monkeypatch.setattr(blocks, "MANY", 1)
    np.testing.assert_array_equal(tile.score(np.asfortranarray(b)), few[0])
    np.testing.assert_array_equal(tile.pull(slopes), few[1])


def test_centred_tiles_are_the_rows_less_their_means():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 3)) + 7
    none = np.empty((5000, 0), np.int32)
    block = Block(x, None, none, 4, np.zeros(5000), None, None, True, x.mean(axis=0), x.std(axis=0))
    whole = np.concatenate([tile.columns() for tile in block.tiles()])
    np.testing.assert_allclose(whole[:, 1:], (x - x.mean(axis=0)) / x.std(axis=0), rtol=0, atol=1e-12)


def test_the_bits_do_not_depend_on_the_threads():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200_000, 5))
    rows = Matrix(x, (rng.random(200_000) < 0.4).astype(float))
    one, four = (minimise(Logistic(), 0.0, 0.0, rows, threads=n) for n in (1, 4))
    np.testing.assert_array_equal(one.coefficients, four.coefficients)
    np.testing.assert_array_equal(one.hessian, four.hessian)


def test_a_rate_too_large_is_said():
    with pytest.raises(ValueError, match="smaller rate"):
        minimise(Squared(), 0.0, 0.0, problem(Squared()), solver="ascent", rate=10.0)


# A Hessian that is known from elsewhere


@pytest.mark.parametrize("loss", [Logistic(), Count(), Softmax(4)], ids=repr)
@pytest.mark.parametrize("wrong", [1.0, 1.1, 3.0, -1.0], ids=["right", "nearly", "far off", "no Hessian at all"])
def test_a_hessian_from_elsewhere_changes_nothing_but_the_way(loss, wrong):
    rows = problem(loss, 400, offset=loss.outputs == 1)
    plain = minimise(loss, 0.1, 0.5, rows)
    bent = plain.hessian * wrong + np.diag(np.linspace(0, 0.1, len(plain.hessian))) * np.diag(plain.hessian)
    found = minimise(loss, 0.1, 0.5, rows, start=plain.coefficients + 0.02, near=bent)
    assert found.converged
    np.testing.assert_allclose(found.coefficients, plain.coefficients, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.hessian, plain.hessian, rtol=0, atol=1e-7 * plain.hessian.max())


def test_with_a_hessian_that_is_nearly_right_only_the_last_pass_forms_one(monkeypatch):
    rows, orders = problem(Logistic(), 4000), []
    near = minimise(Logistic(), 0.0, 0.0, problem(Logistic(), 4000, seed=1)).hessian
    count = lambda loss, rows, b, order, *more: orders.append(order) or evaluate(loss, rows, b, order, *more)  # noqa: E731
    monkeypatch.setattr("evenodds.models.glm.problem.evaluate", count)
    assert minimise(Logistic(), 0.0, 0.0, rows, start=np.full(4, 0.02), near=near).converged
    assert orders[-1] == 2
    assert orders.count(2) == 1
