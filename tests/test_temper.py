"""Tempering: as much of the evidence is believed as serves rows that are left out."""

import copy
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.base import clone

import evenodds as eo
from command import here as run
from evenodds.data.kept import Kept, Learnt, chosen, how_many
from evenodds.data.messages import messages
from evenodds.data.titanic import titanic as passengers
from evenodds.models.left_out import LeftOut, leave_one_out
from evenodds.models.naive_bayes import Model
from evenodds.models.optimism import leave_out, power
from evenodds.models.temper import Said, Temper, fit
from evenodds.models.temper_problem import Problem, least, weigh
from evenodds.text import quick


def correlated(n: int, copies: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two Gaussian columns that tell two classes apart, each repeated."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 2)) + y[:, None]
    return pd.DataFrame({f"{j}-{k}": x[:, j] for j in range(2) for k in range(copies)}), y


def log_loss(p: np.ndarray, y: np.ndarray) -> float:
    return float(-np.log(p[np.arange(len(y)), y]).mean())


def mixed(n: int = 300, seed: int = 1) -> tuple[pa.Table, list[str]]:
    """A number, a category with holes and a text, all about one class of three."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n)
    words = {"a": ["sun", "sea", "sand"], "b": ["rain", "sea", "mud"], "c": ["snow", "ice", "mud"]}
    texts = [" ".join(rng.choice([*words[c], "the", "of"], rng.integers(1, 12))) for c in y]
    number = rng.normal(size=n) + (y == "a")
    category = np.where(rng.random(n) < 0.6, y, rng.choice(["a", "b", "c"], n))
    hole = rng.random(n) < 0.2
    columns = {"number": number, "category": pa.array(category, mask=hole), "text": texts}
    return pa.table(columns), y.tolist()


COLUMNS = {"text": eo.Words()}


@pytest.mark.parametrize("copies", [12, 25])
def test_repeated_columns_are_not_believed_more(copies):
    (x, y), (once, _), (new, truth) = correlated(1000, copies), correlated(1000, 1), correlated(4000, copies, 5)
    single = eo.NaiveBayes(columns=eo.Gaussian, temper=True).fit(once, y)
    many = eo.NaiveBayes(columns=eo.Gaussian, temper=True).fit(x, y)
    plain = eo.NaiveBayes(columns=eo.Gaussian).fit(x, y)
    want = log_loss(single.predict_proba(new[[c for c in new if c.endswith("-0")]]), truth)
    assert log_loss(many.predict_proba(new), truth) == pytest.approx(want, rel=1e-9)
    assert log_loss(plain.predict_proba(new), truth) > 1.5 * want
    assert_allclose(copies * many.model_.temper.exponents["0-0"], single.model_.temper.exponents["0-0"], rtol=1e-9)


@pytest.mark.parametrize("copies", [2, 12, 40])
def test_copies_of_columns_change_nothing_at_all(copies):
    """Whatever the columns differ in: a copy of one says nothing new, so that the odds stay what they were."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 120)
    x = rng.normal(size=(120, 3)) * [1.0, 2.0, 3.0] + np.stack([y, y == 1, np.zeros(120)], axis=1)
    single = eo.NaiveBayes(columns=eo.Gaussian, temper=True).fit(x, y)
    many = eo.NaiveBayes(columns=eo.Gaussian, temper=True).fit(np.tile(x, copies), y)
    assert_allclose(many.predict_proba(np.tile(x, copies)), single.predict_proba(x), rtol=0, atol=1e-10)


def test_tempers_are_averaged_by_their_rows_and_exponents_by_their_logs():
    """Of 300 rows and of 100: three quarters of the one, a quarter of the other, whose exponents are 1."""
    both = Temper({"x": 4.0}, {"x": 0.5}, 2.0, {"c": 1.0}, 300.0) + Temper(
        {"x": 1.0}, {"x": 0.1}, 1.0, {"c": -1.0}, 100.0
    )
    assert (both.exponents["x"], both.prior) == pytest.approx((4**0.75, 2**0.75))
    assert (both.shrink["x"], both.offsets["c"], both.rows) == pytest.approx((0.4, 0.5, 400))


def test_thirty_rows_are_left_nearly_as_they_are():
    """Where nothing is repeated, little is changed by what thirty rows happen to say."""
    worse = []
    for seed in range(20):
        (x, y), (new, truth) = correlated(30, 1, seed), correlated(2000, 1, 99)
        nb = eo.NaiveBayes(columns=eo.Gaussian)
        plain = log_loss(nb.fit(x, y).predict_proba(new), truth)
        worse.append(log_loss(nb.set_params(temper=True).fit(x, y).predict_proba(new), truth) / plain)
        nb.set_params(temper=False)
    assert np.mean(worse) < 1.02


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("columns", [1, 5])
def test_slope_and_curve_are_the_derivatives(classes, columns):
    rng = np.random.default_rng(0)
    y, n = rng.integers(0, classes, 50), 50
    says = rng.normal(size=(1 + columns, n, classes))
    says[:, :6] *= 100  # some rows are told without doubt, rightly or wrongly
    text = Said(("t",), says[0], rng.integers(0, 40, n).astype(float))
    said = [text, *(Said((f"x{j}",), one) for j, one in enumerate(says[1:]))]
    problem = Problem(np.log(rng.dirichlet(np.ones(classes), n)), said, y, rng.random(n))
    for _ in range(5):
        at = 0.3 * rng.normal(size=1 + columns + 1 + 1 + classes)
        assert_allclose(problem(at)[1], approx_fprime(at, lambda x: problem(x)[0], 1e-6), rtol=1e-4, atol=1e-4)
        cost, slope, curve = problem.bent(at)
        assert (cost, slope.tolist()) == (problem(at)[0], problem(at)[1].tolist())
        assert_allclose(curve, approx_fprime(at, lambda x: problem(x)[1], 1e-6), rtol=1e-4, atol=1e-4)


def two_texts_and_a_table(n: int = 400) -> Problem:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, n)
    says = [5 * rng.normal(size=(n, 3)) + 3 * np.eye(3)[y] for _ in range(4)]
    lengths = [rng.integers(0, 400, n).astype(float), rng.integers(1, 9, n).astype(float), None, None]
    said = [Said((str(j),), one, length) for j, (one, length) in enumerate(zip(says, lengths))]
    return Problem(np.log(rng.dirichlet(np.ones(3), n)), said, y, rng.random(n))


def test_both_ways_down_come_to_the_same_numbers(monkeypatch):
    """Newton's steps where there are few numbers, and those without a matrix where there are many."""
    problem = two_texts_and_a_table()
    found = least(problem, problem.first(0.5), 1e-6).x
    monkeypatch.setattr("evenodds.models.temper_problem.DIRECT", 0)
    other = least(problem, problem.first(0.5)).x
    assert abs(problem(found)[0] - problem(other)[0]) < 1e-6
    assert_allclose(found, other, rtol=0, atol=2e-4)
    assert np.abs(problem(found)[1]).max() < 1e-4


def test_compiled_and_plain_rows_agree():
    problem = two_texts_and_a_table(50)
    x, n = problem.first(0.3), len(problem.widths)
    rows = (problem.says, problem.logs, problem.texts, problem.y, problem.weights)
    numbers = np.append(x[:4], x[4]), np.array([0.3, -0.2, 0.0, 0.0, 0.0]), np.array([0.1, -0.1, 0.2])
    seen = []
    for one in (weigh.plain, weigh.compiled):
        slope, curve = np.zeros(n), np.zeros((n, n))
        seen.append((one(*rows, *numbers, slope, curve), slope, curve))
    for one, two in zip(*seen):
        assert_allclose(one, two, rtol=1e-12, atol=1e-12)


def without_fitting(problem: Problem, x, rows):
    """The odds of some rows' other classes, as fitted and with each row left out, and what fitting without it gives."""
    curve = problem.bent(x)[2]
    bends, axes = np.linalg.eigh(curve)
    few = problem.some(rows)
    n, others = few.says.shape[:2]
    odds, left, apart = np.empty((others, n)), np.empty((others, n)), np.empty((others, n))
    leave_out(*few.arguments(x), axes / np.sqrt(bends), odds, left)
    for k, i in enumerate(range(len(problem.y))[rows]):
        rest = problem.some(slice(None))
        rest.weights = problem.weights.copy()
        rest.weights[i] -= min(rest.weights[i], 1.0)
        arguments = problem.some(slice(i, i + 1)).arguments(least(rest, x, 1e-9).x)
        leave_out(*arguments, np.zeros_like(curve), apart[:, k : k + 1], np.empty((others, 1)))
    return odds, left, apart


@pytest.mark.parametrize("weights", [1.0, 0.4, 3.0])
def test_a_row_left_out_of_the_exponents_is_one_they_were_not_fitted_on(weights):
    problem = two_texts_and_a_table(120)
    problem.weights = np.full(120, weights)
    x = least(problem, problem.first(0.5), 1e-9).x
    odds, left, apart = without_fitting(problem, x, slice(None, None, 4))
    sure = np.exp(odds).sum(axis=0) < 1e-3
    assert (left[:, sure] == odds[:, sure]).all()
    moved, truth = (left - odds)[:, ~sure], (apart - odds)[:, ~sure]
    assert np.abs(truth).max() > 0.02
    assert np.abs(moved - truth).max() < 0.2 * np.abs(truth).max()
    assert np.corrcoef(moved.ravel(), truth.ravel())[0, 1] > 0.98


def test_a_row_is_left_out_by_one_of_newtons_steps():
    """d = A (p + W d): what all other rows lack of slope and of curve, in the odds of the row itself."""
    problem = two_texts_and_a_table(60)
    x = least(problem, problem.first(0.5), 1e-9).x
    curve = problem.bent(x)[2]
    bends, axes = np.linalg.eigh(curve)
    root = axes / np.sqrt(bends)

    def odds(at, root):
        found = np.empty((2, 2, 60))
        leave_out(*problem.arguments(at), root, *found)
        return found

    z, left = odds(x, root)
    steps = 1e-5 * np.eye(len(x))
    slopes = np.stack([odds(x + e, root)[0] - odds(x - e, root)[0] for e in steps], axis=-1) / 2e-5
    p = np.exp(z) / (1 + np.exp(z).sum(axis=0))
    doubtful = np.flatnonzero(p.sum(axis=0) > 0.01)
    assert len(doubtful) > 20
    for i in doubtful:
        a = min(problem.weights[i], 1.0) * slopes[:, i] @ np.linalg.inv(curve) @ slopes[:, i].T
        bend = np.diag(p[:, i]) - np.outer(p[:, i], p[:, i])
        assert_allclose((left - z)[:, i], np.linalg.solve(np.eye(2) - a @ bend, a @ p[:, i]), rtol=0.01, atol=1e-4)


def test_compiled_and_plain_rows_are_left_out_alike():
    problem = two_texts_and_a_table(60)
    x = problem.first(0.3)
    bends, axes = np.linalg.eigh(problem.bent(x)[2])
    seen = []
    for one in (leave_out.plain, leave_out.compiled):
        found = np.empty((2, 2, 60))
        one(*problem.arguments(x), axes / np.sqrt(np.abs(bends)), *found)
        seen.append(found)
    assert_allclose(*seen, rtol=1e-10, atol=1e-12)


def test_the_power_of_odds_is_found():
    """Odds that were doubled want a half; all of them right wants ever more, and is held."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1, 20_000)) * 2
    own = np.where(rng.random(20_000) < 1 / (1 + np.exp(z[0])), 1.0, -1.0)  # of the classes, the one that it is
    odds = own * z
    assert power(odds, np.ones(20_000)) == pytest.approx(1.0, abs=0.05)
    assert power(2 * odds, np.ones(20_000)) == pytest.approx(0.5 * power(odds, np.ones(20_000)), rel=1e-3)


def test_many_exponents_of_few_rows_are_believed_less():
    """Forty columns of which four tell something, two hundred rows: other rows are told honest odds."""
    slopes = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 4200)
        x = rng.normal(size=(4200, 40)) + np.outer(y, np.r_[np.full(4, 1.0), np.zeros(36)])
        nb = eo.NaiveBayes(columns=eo.Gaussian, temper=True).fit(x[:200], y[:200])
        log_p = nb.predict_log_proba(x[200:])
        against = (log_p[:, 1] - log_p[:, 0]) * np.where(y[200:] == 0, 1, -1)
        slopes.append(power(against[None], np.ones(4000)))
    assert 0.9 < np.mean(slopes) < 1.1


def test_it_is_fitted_on_rows_that_are_left_out():
    """The sum of what columns say, each row left out, under the exponents, is what leave-one-out reports."""
    table, y = mixed(200)
    model = eo.NaiveBayes(columns=COLUMNS, temper=True).fit(table, y).model_
    temper, plain = model.temper, model.untempered
    learnt = Learnt(*_read(table, y))
    split = np.array([len(text.split()) for text in table["text"].to_pylist()])

    def summed(lengths, first, says):
        assert lengths["text"].tolist() == split.tolist()
        total = temper.prior * first + [temper.offsets[c] for c in model.classes]
        for name, evidence in says.items():
            far = np.maximum(split, 1.0) ** -temper.shrink[name] if name in temper.shrink else np.ones(len(y))
            total = total + temper.exponents[name] * far[:, None] * evidence
        return total

    [total] = LeftOut(plain).blocks(learnt, summed, 1)
    want = total - np.log(np.exp(total).sum(axis=1, keepdims=True))
    assert_allclose(leave_one_out(model, table, y), want, rtol=0, atol=1e-11)


def test_leaving_out_a_row_is_forgetting_it_under_the_same_temper():
    table, y = mixed(60)
    columns = {**COLUMNS, "number": eo.Gaussian}  # the cuts of binned columns stay those of all rows
    model = eo.NaiveBayes(columns=columns, smoothing=1.0, temper=True).fit(table, y).model_
    got = model.leave_one_out(table, y)
    for i in range(0, 60, 7):
        rest = model.forget(table.slice(i, 1), y[i : i + 1])
        assert_allclose(got[i], rest.log_proba(table.slice(i, 1))[0], rtol=0, atol=1e-11)


def _read(table, y):
    from evenodds.cells import as_column
    from evenodds.data.memory import table as as_table
    from evenodds.data.sum import target_codes

    rows = as_table(table)
    return rows, target_codes(as_column(y), rows.rows)


@pytest.mark.parametrize("events", ["counts", "present", "bernoulli", "complement"])
def test_explanations_of_tempered_texts_add_up(events):
    table, y = mixed()
    nb = eo.NaiveBayes(columns={"text": eo.Words(events=events)}, temper=True).fit(table, y)
    p = nb.predict_proba(table.slice(0, 20))
    for row, found in zip(p, nb.explain(table.slice(0, 20))):
        a, b = (int(np.flatnonzero(nb.classes_ == c)[0]) for c in (found.of, found.against))
        assert_allclose(found.total, np.log(row[a] / row[b]), rtol=0, atol=1e-12)
        assert_allclose(found.prior + sum(term.log_odds for term in found.terms), found.total, rtol=0, atol=1e-11)


def test_weights_of_a_tempered_table_are_those_of_its_answers():
    people = passengers()
    x = people.drop_columns("survived").to_pandas()
    nb = eo.NaiveBayes(columns=eo.Categorical, estimate="mean", temper=True).fit(x, people["survived"].to_pandas())
    one_hot = pd.get_dummies(x, prefix_sep="=")[nb.coef_names_].to_numpy(float)
    assert_allclose(one_hot @ nb.coef_[0] + nb.intercept_[0], nb.decision_function(x), rtol=0, atol=1e-12)
    text, y = mixed()
    with pytest.raises(AttributeError, match="length of a text"):
        _ = eo.NaiveBayes(columns=COLUMNS, temper=True).fit(text.select(["text"]), y).coef_


def test_the_density_of_a_row_is_not_tempered():
    table, y = mixed()
    nb = eo.NaiveBayes(columns=COLUMNS)
    want = nb.fit(table, y).score_samples(table)
    assert_allclose(nb.set_params(temper=True).fit(table, y).score_samples(table), want, rtol=1e-12)


def test_adding_averages_and_commutes():
    table, y = mixed()
    half = len(y) // 2
    schema = eo.NaiveBayes(columns=COLUMNS).fit(table, y).model_.schema
    a = eo.NaiveBayes(schema=schema, temper=True).fit(table.slice(0, half), y[:half])
    b = eo.NaiveBayes(schema=schema, temper=True).fit(table.slice(half), y[half:])
    assert (a + b).model_ == (b + a).model_
    both, one, two = (nb.model_.temper for nb in (a + b, a, b))
    assert both.rows == len(y)
    assert_allclose(np.log(both.exponents["text"]), np.mean(np.log([one.exponents["text"], two.exponents["text"]])))
    assert (a + eo.NaiveBayes(schema=schema).fit(table, y)).model_.temper == one
    assert (a.model_.learn(table, y) - a.model_.untempered).temper == one


def test_associative():
    a, b, c = (Temper({"x": e}, {"x": s}, p, {"k": o}, n) for e, s, p, o, n in
               [(0.5, 0.1, 1.0, 0.3, 10), (0.2, 0.4, 0.8, -0.3, 30), (1.5, 0.0, 1.2, 0.0, 60)])  # fmt: skip
    left, right = (a + b) + c, a + (b + c)
    for one, two in [(left.exponents, right.exponents), (left.shrink, right.shrink), (left.offsets, right.offsets)]:
        assert one == pytest.approx(two, rel=1e-12)
    assert left.prior == pytest.approx(right.prior, rel=1e-12)
    assert left.rows == right.rows == 100


def test_nothing_learnt_about_a_class_of_one_row():
    temper = fit(
        np.log([[0.5, 0.5], [1.0, 1e-300]]), [Said(("x",), np.array([[0.0, 1.0], [3.0, 0.0]]))], np.array([1, 0])
    )
    assert temper.rows == 2
    with np.errstate(divide="ignore"):
        lost = np.log([[0.5, 0.5], [0.0, 1.0]])
    assert fit(lost, [Said(("x",), np.array([[0.0, 1.0], [-np.inf, 0.0]]))], np.array([1, 0])).rows == 1


def test_saved_and_loaded(tmp_path):
    table, y = mixed()
    nb = eo.NaiveBayes(columns=COLUMNS, temper=True).fit(table, y)
    nb.save(tmp_path / "m.eo")
    again = eo.NaiveBayes.load(tmp_path / "m.eo")
    assert again.model_ == nb.model_
    assert again.model_.temper == nb.model_.temper
    assert again.temper is True
    np.testing.assert_array_equal(again.predict_proba(table), nb.predict_proba(table))


@pytest.mark.parametrize("spoilt", [
    {"exponents": {"by": {"text": 0.0}}}, {"exponents": {"by": {"text": -1.0}}}, {"prior": 0.0}, {"rows": -1},
    {"prior": "1"}, {"shrink": {"by": {"text": "x"}}}, {"extra": 1}, {"exponents": 3},
])  # fmt: skip
def test_a_spoilt_temper_is_refused(spoilt):
    from evenodds import file

    table, y = mixed()
    arrays, header = file.unpack(eo.NaiveBayes(columns=COLUMNS, temper=True).fit(table, y).model_.to_bytes())
    header = {name: value for name, value in header.items() if name != "format"}
    assert isinstance(Model.from_bytes(file.pack(arrays, header)), Model)
    header["temper"] |= spoilt
    with pytest.raises(file.FileError, match="is not an evenodds model"):
        Model.from_bytes(file.pack(arrays, header))


@pytest.mark.parametrize("words", [eo.Words(), eo.Words(ngrams=2, events="present"), eo.Words(events="bernoulli"),
                                   eo.Words(buckets=2**10, ngrams=2, events="present")])  # fmt: skip
def test_one_message_by_the_small_process_has_the_same_bits(words, tmp_path):
    table = messages()
    texts, y = table["text"].to_pylist(), table["label"].to_pylist()
    nb = eo.NaiveBayes(columns=words, temper=True).fit(texts, y)
    assert nb.model_.temper.shrink["text"]
    nb.save(tmp_path / "m.eo")
    small = quick.load(tmp_path / "m.eo")
    for text in [*texts[:40], "", "never seen zzzz"]:
        assert small.log_joint(text) == nb.predict_joint_log_proba([text])[0].tolist()
        assert small.log_joint(text) == nb.model_.log_joint(pa.table({"text": [text]}))[0].tolist()


def test_files_pipes_and_memory_agree(tmp_path):
    """The rows that are kept are chosen by their numbers, whatever the file, the batches and the threads."""
    x, y = correlated(30_000, 2)
    frame = x.assign(y=y)
    frame.to_csv(tmp_path / "x.csv", index=False)
    pa.parquet.write_table(
        pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "x.parquet", row_group_size=777
    )
    schema = eo.NaiveBayes(columns=eo.Gaussian).fit(frame, "y").model_.schema
    want = eo.NaiveBayes(schema=schema, temper=True).fit(frame, "y").model_.temper
    assert want.rows == how_many(30_000) == 8_000
    for path in ("x.csv", "x.parquet"):
        for threads in (1, 2):
            got = (
                eo.NaiveBayes(schema=schema, temper=True, threads=threads).fit(str(tmp_path / path), "y").model_.temper
            )
            assert got.rows == want.rows
            assert_allclose(list(got.exponents.values()), list(want.exponents.values()), rtol=1e-9)


def test_what_is_kept_does_not_depend_on_batches():
    x, y = correlated(50_000, 1)
    rows, target = _read(pa.Table.from_pandas(x), y)
    learnt = Learnt(rows, target)
    found = []
    for step in (700, 9_999, 50_000):
        keep = Kept()
        for start in range(0, 50_000, step):
            stop = min(start + step, 50_000)
            part = Learnt(rows.slice(start, stop), target[start:stop])
            keep.add(stop - start, keep.pick(start, stop - start, None, part))
        found.append(np.concatenate([np.asarray(part.rows["0-0"]) for part in keep.parts()]))
    want = np.asarray(learnt.some(chosen(50_000)).rows["0-0"])
    assert len(want) == 8_000
    for got in found:
        assert np.array_equal(got, want)
    assert len(np.concatenate([part.rows["0-0"] for part in keep.parts(100)])) == 100


def test_sparse_rows_are_tempered_too():
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = (rng.random((400, 30)) < 0.1 + 0.2 * y[:, None]).astype(float)
    dense = eo.NaiveBayes(columns=eo.Bernoulli, temper=True).fit(x, y)
    sparse = eo.NaiveBayes(columns=eo.Bernoulli, temper=True).fit(sp.csr_matrix(x), y)
    assert_allclose(sparse.predict_proba(sp.csr_matrix(x)), dense.predict_proba(x), rtol=1e-10)


def test_the_first_rows_tell_how_much_to_believe_and_later_ones_leave_it(tmp_path):
    x, y = correlated(600, 3)
    frame = pd.DataFrame(x).assign(y=y)
    frame[:300].to_csv(tmp_path / "first.csv", index=False)
    frame[300:].to_csv(tmp_path / "rest.csv", index=False)
    first, rest = tmp_path / "first.csv", tmp_path / "rest.csv"
    nb = eo.NaiveBayes({str(name): eo.Gaussian for name in frame.columns[:-1]}, temper=True)
    temper = clone(nb).fit(frame[:300], "y").model_.temper
    for some, others in ((frame[:300], frame[300:]), (frame[:300], rest), (first, frame[300:]), (first, rest)):
        later = clone(nb).partial_fit(some, "y").partial_fit(others, "y")
        assert later.model_.rows == 600
        assert later.model_.temper == temper
    plain = clone(nb).set_params(temper=False).fit(frame[:300], "y")
    untold = [copy.deepcopy(plain).set_params(temper=True).partial_fit(one, "y").model_ for one in (frame[300:], rest)]
    assert untold[0].temper == untold[1].temper
    assert untold[0].temper.rows == 300
    assert later.set_params(temper=False).partial_fit(rest, "y").model_.temper is None


def test_no_rows_tell_nothing(tmp_path):
    x, y = correlated(60, 3)
    nb = eo.NaiveBayes(eo.Gaussian).fit(x, y)
    assert nb.model_.tempered(x[:0], y[:0]) == nb.model_
    (tmp_path / "empty.csv").write_text(",".join([*nb.feature_names_in_, "y"]) + "\n")
    assert nb.set_params(temper=True).partial_fit(tmp_path / "empty.csv", "y").model_.temper is None


def test_a_pruned_model_goes_on_learning():
    texts, y = ["free prize now", "lunch at noon", "free money", "see you at lunch"] * 10, ["spam", "ham"] * 20
    nb = eo.NaiveBayes(eo.Words(), temper=True).fit(texts, y).prune(2)
    temper = nb.model_.temper
    assert nb.partial_fit(texts, y).model_.rows == 80
    assert nb.model_.temper == temper


def test_command_line(tmp_path):
    table, y = mixed()
    pa.csv.write_csv(table.append_column("y", pa.array(y)), tmp_path / "x.csv")
    model, path = str(tmp_path / "m.eo"), str(tmp_path / "x.csv")
    done = run("fit", path, "-t", "y", "--text", "text", "-o", model, "--temper")
    assert done.returncode == 0
    assert "each counts as" in done.stderr
    shown = run("show", model)
    assert "how much is believed" in shown.stdout
    assert json.loads(run("show", model, "--json").stdout)["temper"]["rows"] == 300
    folds = ["evaluate", path, "-t", "y", "--text", "text", "--folds", "5", "--json"]
    plain, tempered = (json.loads(run(*folds, *more).stdout)["log_loss"] for more in ([], ["--temper"]))
    assert tempered < plain
    assert run("evaluate", model, path, "--temper").returncode == 2


def test_rows_of_weight_0_change_nothing_even_where_they_alone_tell_copies_apart():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (40, 1)).astype(float)
    X = np.repeat(x, 4, axis=1)
    y, weights = (x[:, 0] + (rng.random(40) < 0.2)) % 2, np.ones(40)
    X[:5] = rng.integers(0, 2, (5, 4))
    weights[:5] = 0.0
    model = eo.NaiveBayes(eo.Categorical).fit(X[5:], y[5:]).model_
    assert model.tempered(X, y, weights).temper == model.tempered(X[5:], y[5:]).temper


@pytest.mark.parametrize("temper", ["x", None, 0.5])
def test_tempering_is_wanted_or_not(temper, tmp_path):
    x, y = correlated(40, 1)
    x.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    for rows, target in ((x, y), (tmp_path / "rows.csv", "y")):
        with pytest.raises(ValueError, match=r"temper=.*: expected True or False"):
            eo.NaiveBayes(temper=temper).fit(rows, target)


def test_rows_of_one_class_do_not_tell_how_much_to_believe(tmp_path):
    x, y = correlated(400, 2)
    frame = x.assign(y=y).sort_values("y", kind="stable")
    no, yes, both = frame[frame.y == 0], frame[frame.y == 1], frame.sample(frac=1, random_state=0)
    yes.to_csv(tmp_path / "yes.csv", index=False)
    nb = eo.NaiveBayes(dict.fromkeys(x.columns, eo.Gaussian), temper=True)
    for second in (yes, tmp_path / "yes.csv"):  # the model has two classes then, these rows have one
        later = clone(nb).partial_fit(no, "y").partial_fit(second, "y")
        assert later.model_.temper is None
        later.partial_fit(both, "y")
        assert later.model_.temper.rows == 400
        assert_allclose(later.predict_proba(x).mean(axis=0), np.bincount(y) / 400, atol=0.02)


def test_a_temper_that_no_text_could_be_weighed_by_is_refused():
    assert Temper({"x": 1.0}, {"x": 16.0}).shrink == {"x": 16.0}
    with pytest.raises(ValueError, match="shrink beyond 16"):
        Temper({"x": 1.0}, {"x": -1e308})
