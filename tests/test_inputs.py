"""Every kind of table gives the same model."""

import copy
import itertools
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import accuracy_score

import evenodds as eo
from evenodds import texts
from evenodds.cells import Coded, codes
from evenodds.data import memory
from evenodds.data.memory import table
from evenodds.dates import as_dates
from evenodds.kinds import kind
from evenodds.texts import Texts
from tables import COLUMNS, mixed


class OnlyStream:
    """A table of some other library: nothing but the Arrow stream interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def arrow(X):
    return pa.table({name: pa.array(X[name], from_pandas=True) for name in X})


def chunked(X):
    """The same Arrow table in pieces of different lengths."""
    table = arrow(X)
    return pa.concat_tables([table.slice(0, 7), table.slice(7, 1), table.slice(8, 0), table.slice(8)])


def dictionary_encoded(X):
    table = chunked(X)
    encoded = pa.chunked_array([chunk.dictionary_encode() for chunk in table["colour"].chunks])
    return table.set_column(table.column_names.index("colour"), "colour", encoded)


def nullable(X):
    """pandas' own nullable types."""
    types = {"colour": "string", "flag": "boolean", "kicks": "Int64", "height": "Float64", "fare": "Float64"}
    return X.astype(types)


def list_of_dicts(X):
    return [{k: v for k, v in row.items() if v is not None and v == v} for row in X.to_dict("records")]


KINDS = {
    "pandas": lambda X: X,
    "pandas with nullable types": nullable,
    "pandas with categories": lambda X: X.astype({"colour": "category"}),
    "pandas with strings": lambda X: X.astype({"colour": "str"}),
    "pandas on Arrow": lambda X: arrow(X).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with another index": lambda X: X.set_index(np.arange(len(X))[::-1]),
    "polars": lambda X: pl.from_pandas(X),
    "polars with categories": lambda X: pl.from_pandas(X).with_columns(pl.col("colour").cast(pl.Categorical)),
    "a lazy polars frame": lambda X: pl.from_pandas(X).lazy(),
    "an Arrow table": arrow,
    "an Arrow table in chunks": chunked,
    "an Arrow table with dictionaries": dictionary_encoded,
    "an Arrow record batch": lambda X: arrow(X).combine_chunks().to_batches()[0],
    "an Arrow stream": lambda X: OnlyStream(chunked(X)),
    "a dict of columns": lambda X: {name: list(X[name]) for name in X},
    "a list of dicts": list_of_dicts,
    "an array of objects": lambda X: X.to_numpy(dtype=object),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_gives_the_same_model(kind):
    X, y = mixed(120)
    whole = eo.NaiveBayes(COLUMNS).fit(X, y)
    if kind == "an array of objects":
        X = X.rename(columns=dict(zip(X, [f"x{j}" for j in range(X.shape[1])])))
        columns = dict(zip(X, COLUMNS.values()))
        whole = eo.NaiveBayes(columns).fit(X, y)
    else:
        columns = COLUMNS
    same = eo.NaiveBayes(columns).fit(KINDS[kind](X), y)
    assert same.model_.tally.to_bytes() == whole.model_.tally.to_bytes()
    assert same.n_features_in_ == len(COLUMNS)
    np.testing.assert_array_equal(same.predict_proba(KINDS[kind](X)), whole.predict_proba(X))


NAMED = [kind for kind in KINDS if kind not in ("an array of objects", "a list of dicts")]


@pytest.mark.parametrize("kind", NAMED)
def test_the_schema_is_decided_alike(kind):
    X, y = mixed(120)
    decided = eo.NaiveBayes().fit(KINDS[kind](X), y).model_.schema
    assert {name: column.family.name for name, column in decided.features.items()} == {
        "colour": "categorical",
        "flag": "bernoulli",
        "kicks": "binned",
        "height": "binned",
        "fare": "binned",
        "wait": "binned",
        "age": "binned",
    }


@pytest.mark.parametrize("kind", NAMED)
def test_the_target_may_be_a_column(kind):
    X, y = mixed(120)
    both = KINDS[kind](X.assign(level=y))
    nb = eo.NaiveBayes(COLUMNS).fit(both, "level")
    whole = eo.NaiveBayes(COLUMNS).fit(X, y)
    assert nb.model_.tally.to_bytes() == whole.model_.tally.to_bytes()
    assert nb.n_features_in_ == len(COLUMNS)
    np.testing.assert_array_equal(nb.predict_proba(KINDS[kind](X)), whole.predict_proba(X))


@pytest.mark.parametrize("model", [eo.NaiveLogistic(), eo.NaiveBayes(temper=True), eo.NaiveBayes(tune="loo")], ids=str)
def test_texts_of_polars_can_be_taken_row_by_row(model):
    """Polars hands its texts over as views, which Arrow cannot pick rows from."""
    X, y = mixed(120)
    frames = X[["colour", "height"]], pl.from_pandas(X[["colour", "height"]])
    np.testing.assert_array_equal(*(model.fit(frame, y).predict_proba(frame) for frame in frames))


def people():
    """Fares in bins of pandas.cut, texts and a class."""
    fares = pd.Series([5.0, 12.0, 30.0, None, 7.0, 40.0, 8.0, 25.0] * 5)
    sex = ["m", "f"] * 20
    return pd.DataFrame({"fare": pd.cut(fares, [0, 10, 20, 50]), "sex": sex, "saved": ["no", "no", "yes", "yes"] * 10})


def test_intervals_are_categories_as_pandas_writes_them():
    frame = people()
    nb = eo.NaiveBayes().fit(frame, "saved")
    assert {row["fare"] for row in nb.tables["fare"]} == {"(0, 10]", "(10, 20]", "(20, 50]"}
    plain = eo.NaiveBayes().fit(frame.astype({"fare": "interval[float64, right]"}), "saved")
    assert {row["fare"] for row in plain.tables["fare"]} == {"(0.0, 10.0]", "(10.0, 20.0]", "(20.0, 50.0]"}
    known = frame.dropna()
    assert eo.NaiveBayes().fit(known[["sex"]], known["fare"]).classes_.tolist() == ["(0, 10]", "(10, 20]", "(20, 50]"]


def test_periods_are_categories_as_pandas_writes_them():
    months = pd.Series(pd.period_range("2024-01", periods=4, freq="M")).repeat(10)
    nb = eo.NaiveBayes().fit(people()[["sex"]], months)
    assert nb.classes_.tolist() == ["2024-01", "2024-02", "2024-03", "2024-04"]


@pytest.mark.parametrize("kind", [lambda X: X, pl.from_pandas, pa.Table.from_pandas, lambda X: X.to_dict("records")])
@pytest.mark.parametrize("saved", ["str", "category"])
def test_a_score_takes_the_name_of_the_target(kind, saved):
    frame = people()[["sex", "saved"]].astype({"saved": saved})
    for model in (eo.NaiveBayes(), eo.NaiveLogistic(), eo.GLM(eo.Bernoulli), eo.BayesNet(target="saved")):
        model.fit(frame, "saved")
        assert model.score(kind(frame), "saved") == model.score(frame[["sex"]], frame["saved"])


def test_a_score_takes_the_name_of_a_target_of_categories_that_are_numbers():
    frame = people().assign(saved=pd.Categorical([0, 0, 1, 1] * 10))[["sex", "saved"]]
    nb = eo.NaiveBayes().fit(frame, "saved")
    assert nb.score(frame, "saved") == nb.score(frame[["sex"]], frame["saved"]) > 0
    with pytest.raises(eo.DataError, match="the target is missing in row 2; drop such rows"):
        nb.score(frame.assign(saved=frame["saved"].where(frame.index != 2)), "saved")


@pytest.mark.parametrize("model", [eo.NaiveBayes(COLUMNS), eo.NaiveLogistic(COLUMNS)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_score_is_the_share_of_rows_that_are_told_in_memory_and_in_a_file(model, weighted, tmp_path):
    X, y = mixed(90)
    weights = np.arange(90) % 3 if weighted else None
    rows = X.assign(level=y, weight=np.arange(90) % 3)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    model.fit(X, y)
    wanted = accuracy_score(y, model.predict(X), sample_weight=weights)
    assert model.score(X, y, weights) == pytest.approx(wanted, rel=1e-12)
    assert model.score(tmp_path / "rows.csv", "level", "weight" if weighted else None) == pytest.approx(
        wanted, rel=1e-12
    )
    assert model.score(X, np.where(np.array(y) == "hi", "never", y)) < 1.0  # a class never learnt is never told


@pytest.mark.parametrize("named", ["label", "other"])
def test_a_file_may_call_the_target_otherwise(named, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,label,other\n1.0,a,b\n2.0,a,b\n5.0,b,a\n6.5,b,a\n")
    rows = pd.read_csv(path)
    y = list("aabb")
    nb = eo.NaiveBayes({"x": eo.Gaussian}).fit(rows[["x"]], y)
    twice = copy.deepcopy(nb).partial_fit(path, named)
    assert twice.model_ == copy.deepcopy(nb).partial_fit(rows[["x"]], rows[named].tolist()).model_
    assert twice.forget(path, named).model_ == nb.model_
    np.testing.assert_array_equal(nb.leave_one_out(path, "label"), nb.leave_one_out(rows[["x"]], y))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_an_array_of_anything_has_the_columns_of_the_frame_that_was_learnt():
    X, y = mixed(60)
    nb = eo.NaiveBayes(COLUMNS).fit(X, y)
    np.testing.assert_array_equal(nb.predict_proba(X.to_numpy(dtype=object)), nb.predict_proba(X))
    np.testing.assert_array_equal(nb.predict_proba(X.to_numpy(dtype=object).tolist()), nb.predict_proba(X))


@pytest.mark.parametrize(
    "model",
    [eo.NaiveBayes(), eo.NaiveLogistic(), eo.GLM(eo.Bernoulli, prior=1.0), eo.Perceptron(), eo.LinearSeparator()],
)
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_frame_has_the_columns_of_the_array_that_was_learnt(model, kind):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model.fit(X, X[:, 2] > 0)
    frame = kind(dict(zip("abc", X.T)))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(model.predict(frame), model.predict(X))


@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
def test_names_are_read_where_there_are_some_be_they_like_those_of_an_array(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = np.column_stack([rng.normal(size=60) + 6 * y, rng.normal(size=60) - 50])
    of_array = eo.NaiveBayes(eo.Gaussian).fit(X, y)
    pd.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "y": y}).to_csv(tmp_path / "rows.csv", index=False)
    of_file = eo.NaiveBayes({"x0": eo.Gaussian, "x1": eo.Gaussian}).fit(tmp_path / "rows.csv", "y")
    turned = {"x1": X[:, 1], "x0": X[:, 0]}
    forms = [turned, pa.table(turned), pd.DataFrame(turned), [{"x1": b, "x0": a} for a, b in X.tolist()]]
    for nb in (of_array, of_file):
        for form in forms:
            np.testing.assert_array_equal(nb.predict_proba(form), nb.predict_proba(X))
    frame = pd.DataFrame(X)
    of_numbers = eo.NaiveBayes(eo.Gaussian).fit(frame, y)
    np.testing.assert_array_equal(of_numbers.predict_proba(frame[[1, 0]]), of_numbers.predict_proba(frame))
    of_turned = eo.NaiveBayes(eo.Gaussian).fit(pd.DataFrame(turned), y)
    for form in (X[:, ::-1], X[:, ::-1].astype(object), X[:, ::-1].tolist()):  # no names: by their places
        np.testing.assert_array_equal(of_turned.predict_proba(form), of_turned.predict_proba(pd.DataFrame(turned)))
    some = of_array.predict_proba([{"x0": 1.0}])  # and x1 is missing
    np.testing.assert_array_equal(some, of_array.predict_proba([[1.0, np.nan]]))


def test_a_series_of_polars_is_a_column():
    texts = ["a free prize", "lunch at noon", "free money now", "see you at lunch"] * 5
    nb = eo.NaiveBayes(eo.Words()).fit(pl.Series(texts), pl.Series(["spam", "ham"] * 10))
    assert nb.predict(pl.Series(["free prize"])).tolist() == ["spam"]
    numbers = pl.Series("wait", [1.0, 2.0, 8.0, 9.0])
    assert eo.NaiveBayes().fit(numbers, [0, 0, 1, 1]).feature_names_in_.tolist() == ["wait"]


def test_a_stream_that_can_be_read_once_is_read_once():
    X, y = mixed(120)
    table = arrow(X.assign(level=y))
    nb = eo.NaiveBayes(COLUMNS).fit(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(17)), "level")
    assert nb.model_ == eo.NaiveBayes(COLUMNS).fit(X, y).model_


TARGETS = {
    "a pandas series": lambda y: y,
    "a list": list,
    "an array of objects": lambda y: y.to_numpy(dtype=object),
    "an array of texts": lambda y: y.to_numpy().astype(str),
    "a pandas category": lambda y: y.astype("category"),
    "pandas strings": lambda y: y.astype("string"),
    "a polars series": lambda y: pl.Series("level", y.to_list()),
    "an Arrow array": lambda y: pa.array(y),
    "Arrow chunks": lambda y: pa.chunked_array([pa.array(y[:7]), pa.array(y[7:])]),
    "an Arrow dictionary": lambda y: pa.array(y).dictionary_encode(),
    "a frame of one column": lambda y: y.to_frame(),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_every_target_gives_the_same_classes(kind):
    X, y = mixed(120)
    whole, same = eo.NaiveBayes(COLUMNS).fit(X, y), eo.NaiveBayes(COLUMNS).fit(X, TARGETS[kind](y))
    assert same.classes_.tolist() == ["hi", "lo", "mid"]
    np.testing.assert_array_equal(same.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("kind", ["an array", "csr", "csc", "coo", "pandas"])
@pytest.mark.parametrize("family", [eo.Gaussian, eo.Binned, eo.Poisson, eo.Categorical], ids=lambda f: f.__name__)
def test_sparse_and_dense_arrays_give_the_same_model(kind, family):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.4, (300, 8)).astype(float), np.arange(300) % 2
    as_kind = {
        "an array": lambda a: a,
        "csr": sp.csr_array,
        "csc": sp.csc_matrix,
        "coo": sp.coo_array,
        "pandas": lambda a: pd.DataFrame(a, columns=[f"x{j}" for j in range(8)]),
    }[kind]
    whole, same = eo.NaiveBayes(family).fit(X, y), eo.NaiveBayes(family).fit(as_kind(X), y)
    assert same.model_.tally.to_bytes() == whole.model_.tally.to_bytes()
    np.testing.assert_array_equal(same.predict_proba(as_kind(X)), whole.predict_proba(X))


def test_some_rows_of_a_sparse_matrix_are_made_dense_at_once(monkeypatch):
    x = np.random.default_rng(0).poisson(0.4, (300, 8))
    calls, toarray = [], sp.csr_array.toarray
    monkeypatch.setattr(sp.csr_array, "toarray", lambda rows: calls.append(1) or toarray(rows))
    some = table(sp.csr_array(x)).take(np.arange(0, 300, 2)).take(np.array([7, 3, 3, 149])).slice(1, 4)
    np.testing.assert_array_equal(np.column_stack(list(some.columns.values())), x[[6, 6, 298]])
    assert len(calls) == 1


@pytest.mark.parametrize("dtype", [float, int])
@pytest.mark.parametrize("kind", [lambda X: X, lambda X: {"x0": X[:, 0], "x1": X[:, 1]}], ids=["an array", "columns"])
def test_what_is_masked_is_missing(dtype, kind):
    x = np.random.default_rng(0).integers(0, 9, (60, 2)).astype(dtype)
    y = x[:, 0] > 4
    masked = np.ma.masked_greater(x, 7)
    known = eo.NaiveBayes().fit(kind(np.where(x > 7, np.nan, x)), y).model_
    assert eo.NaiveBayes().fit(kind(masked), y).model_ == known
    bare = eo.NaiveBayes().fit(kind(np.ma.array(x)), y).model_
    assert bare == eo.NaiveBayes().fit(kind(x), y).model_ != known


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64", "uint16", "bool"])
def test_the_type_of_numbers_changes_nothing(dtype):
    X = np.random.default_rng(0).integers(0, 2, (100, 3))
    y = np.arange(100) % 2
    for family in (eo.Bernoulli, eo.Gaussian, eo.Poisson):
        whole = eo.NaiveBayes(family).fit(X.astype(float), y)
        assert eo.NaiveBayes(family).fit(X.astype(dtype), y).model_.tally.to_bytes() == whole.model_.tally.to_bytes()


@pytest.mark.parametrize(
    "ones", [np.array([1, 2, 1, 2]), np.array([1.0, 2.0, 1.0, 2.0]), np.array(["1", "2", "1", "2"]), [1, "2", "1", 2.0]]
)
def test_one_and_one_point_nought_and_the_text_are_one_category(ones):
    rows = [{"c": value} for value in (ones.tolist() if isinstance(ones, np.ndarray) else map(str, [1, 2, 1, 2]))]
    whole = eo.NaiveBayes({"c": eo.Categorical}).fit([{"c": c} for c in "1212"], ["a", "b", "b", "a"])
    assert eo.NaiveBayes({"c": eo.Categorical}).fit(rows, ["a", "b", "b", "a"]).model_ == whole.model_
    frame = pd.DataFrame({"c": ones})
    assert eo.NaiveBayes({"c": eo.Categorical}).fit(frame, ["a", "b", "b", "a"]).model_ == whole.model_


@pytest.mark.parametrize("first", [3_000_000_000, -3_000_000_000, 2**62, 0])
def test_large_integers_are_categories_and_classes_too(first):
    values = np.array([first, first + 1, first + 1, first])
    nb = eo.NaiveBayes({"c": eo.Categorical}).fit(pd.DataFrame({"c": values}), values)
    assert nb.classes_.tolist() == [first, first + 1]
    assert nb.predict(pd.DataFrame({"c": values})).tolist() == values.tolist()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 2.0, 1.0, 1.0, 1.0]], ids=["alike", "weighed"])
def test_categories_on_both_sides_of_zero_are_those_of_their_texts(dtype, weights):
    values = np.array([-100, 0, 100, -100, 100, 127]).astype(dtype)
    texts = eo.NaiveBayes({"c": eo.Categorical}).fit({"c": [str(int(v)) for v in values]}, list("abcabc"), weights)
    numbers = eo.NaiveBayes({"c": eo.Categorical}).fit(pd.DataFrame({"c": values}), list("abcabc"), weights)
    assert numbers.model_.tally == texts.model_.tally
    assert eo.NaiveBayes().fit({"x": np.arange(6.0)}, values).classes_.tolist() == [-100, 0, 100, 127]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_weighed_categories_of_numbers_without_a_sign_are_those_of_their_texts(dtype):
    y, weights = list("abab"), [0.5, 1.5, 2.0, 1.0]
    texts = eo.NaiveBayes({"c": eo.Categorical}).fit({"c": list("0121")}, y, weights)
    numbers = eo.NaiveBayes({"c": eo.Categorical}).fit({"c": np.array([0, 1, 2, 1], dtype)}, y, weights)
    assert numbers.model_.tally == texts.model_.tally


@pytest.mark.parametrize(
    "same",
    [
        pa.array([Decimal("1.00"), Decimal("2.50"), Decimal("1.00"), None]),
        pl.Series([Decimal("1.00"), Decimal("2.50"), Decimal("1.00"), None], dtype=pl.Decimal(10, 2)),
        np.array([1, 2.5, 1, np.nan], np.float32),
        pa.array([1, 2.5, 1, None], pa.float32()),
        [Decimal("1.00"), Decimal("2.5"), 1, None],
    ],
    ids=["Arrow's decimals", "polars' decimals", "narrow floats", "Arrow's narrow floats", "decimals and numbers"],
)
def test_decimals_and_narrow_floats_are_the_categories_of_their_numbers(same):
    whole = eo.NaiveBayes({"c": eo.Categorical}).fit({"c": [1, 2.5, 1, None]}, list("abba"))
    assert eo.NaiveBayes({"c": eo.Categorical}).fit({"c": same}, list("abba")).model_ == whole.model_


@pytest.mark.parametrize(("scale", "classes"), [(2, [1.0, 2.0]), (0, [1, 2])])
def test_classes_that_are_decimals_are_numbers(scale, classes):
    y = pa.array([Decimal(1), Decimal(2)] * 5, pa.decimal128(10, scale))
    found = eo.NaiveBayes().fit({"x": np.arange(10.0)}, y).classes_.tolist()
    assert (found, type(found[0])) == (classes, type(classes[0]))


NOT_OF_ONE_TYPE = {
    "texts, numbers and none": [1, "x", None, 1, "x", 2],
    "texts, numbers and NaN": [1, "x", float("nan"), 1, "x", 2],
    "texts, numbers and NA": [1, "x", pd.NA, 1, "x", 2],
    "texts, numbers and NaT": [1, "x", pd.NaT, 1, "x", 2],
    "beyond 63 bits": [2**63, 2**63 + 1, None, 2**63, 2**63 + 1, 2],
    "beyond 64 bits": [2**70, 2**70 + 1, None, 2**70, 2**70 + 1, 2],
}


@pytest.mark.parametrize("values", NOT_OF_ONE_TYPE)
def test_values_of_several_types_are_categories_however_they_come(values):
    x, y = NOT_OF_ONE_TYPE[values], list("ababab")
    as_texts = [None if v is None or v is pd.NaT or v is pd.NA or v != v else str(v) for v in x]
    whole = eo.NaiveBayes({"c": eo.Categorical}).fit({"c": as_texts}, y).model_
    objects = np.empty(6, object)
    objects[:] = x
    for rows in ({"c": x}, [{"c": v} for v in x], pd.DataFrame({"c": pd.Series(x, dtype=object)}), {"c": objects}):
        assert eo.NaiveBayes({"c": eo.Categorical}).fit(rows, y).model_ == whole
    array = eo.NaiveBayes({"x0": eo.Categorical}).fit(np.array(["c", *objects], object)[1:, None], y)
    if "texts" in values:  # alone, large numbers are numbers
        assert array.model_.tally.rename("c") == whole.tally.rename("c")


def test_a_pandas_category_of_several_types_is_a_category():
    mixed = pd.DataFrame({"c": pd.Categorical([1, "x", 1, "x"])})
    texts = eo.NaiveBayes().fit(pd.DataFrame({"c": pd.Categorical(["1", "x", "1", "x"])}), list("abba"))
    assert eo.NaiveBayes().fit(mixed, list("abba")).model_ == texts.model_


def test_booleans_and_yes_and_no_are_flags():
    y = ["a", "b", "b", "a"]
    truth = eo.NaiveBayes().fit(pd.DataFrame({"f": [True, False, False, True]}), y)
    assert truth.model_.schema.columns["f"].family is eo.Bernoulli
    for words in (["yes", "no", "no", "yes"], ["True", "False", "False", "True"], ["T", "F", "F", "T"], [1, 0, 0, 1]):
        assert eo.NaiveBayes().fit(pd.DataFrame({"f": words}), y).model_ == truth.model_


@pytest.mark.parametrize("type_", ["str", "object", "string", "string[pyarrow]", "rows", "arrow", "parquet", "json"])
def test_texts_of_digits_are_a_category_where_cells_have_types(type_, tmp_path):
    frame = pd.DataFrame({"year": ["60", "65", "70", "75"] * 10, "y": [0, 1, 1, 0] * 10})
    rows, table = frame.to_dict("records"), pa.table({"year": frame["year"].tolist(), "y": frame["y"].tolist()})
    pq.write_table(table, tmp_path / "rows.parquet")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = {"parquet": tmp_path / "rows.parquet", "json": tmp_path / "rows.jsonl", "rows": rows, "arrow": table}
    X = files[type_] if type_ in files else frame.astype({"year": type_})
    assert eo.NaiveBayes().fit(X, "y").model_.schema.columns["year"].family is eo.Categorical
    names = ["intercept", "year[65]", "year[70]", "year[75]"]
    assert eo.GLM(eo.Gaussian).fit(X, "y").model_.names == names


def test_texts_of_many_numbers_are_a_category_with_a_warning_that_has_the_cure():
    frame = pd.DataFrame({"age": [str(i % 40) for i in range(200)]})
    with pytest.warns(eo.SchemaWarning, match="'age' holds numbers, but its type says text: .*columns={'age': Binned}"):
        eo.NaiveBayes().fit(frame, [0, 1] * 100)
    cells = np.array([[str(i % 40), "a"] for i in range(200)])  # an array has one type for all its columns
    assert eo.NaiveBayes().fit(cells, [0, 1] * 100).model_.schema.columns["x0"].family is eo.Binned


def test_a_column_told_to_be_dates_that_has_none_is_refused():
    frame = pd.DataFrame({"day": ["11/07/2024", "12/07/2024"] * 5, "x": range(10)})
    with pytest.raises(eo.DataError, match=r"'day' is told to be dates, and none .*'11/07/2024'.; expected 2024-03-01"):
        eo.NaiveBayes({"day": eo.Column(parts=("month",))}).fit(frame, [0, 1] * 5)


def test_a_text_or_bytes_alone_are_told_how_to_be_given():
    nb = eo.NaiveBayes().fit(["free prize now", "see you there"], ["spam", "ham"])
    with pytest.raises(FileNotFoundError, match=r"a text to be read\? give it in a list, \[text\]"):
        nb.predict("hello there")
    with pytest.raises(eo.DataError, match=r"no file matches 'are you there\?' \(a text to be read"):
        nb.predict("are you there?")
    with pytest.raises(eo.DataError, match=r"cannot read a table from str: .* \(a text\? give it in a list, \[text\]"):
        nb.explain("hello there")
    with pytest.raises(eo.DataError, match=r"these are bytes, not texts: decode them"):
        eo.NaiveBayes().fit([b"free prize", b"see you"], ["spam", "ham"])


def test_short_texts_that_mostly_differ_are_text_and_many_values_of_few_words_are_noted():
    subjects = [f"re : meeting {i % 160} moved" for i in range(200)]
    towns = [f"Town {i % 110}" for i in range(200)]
    frame = pd.DataFrame({"subject": subjects, "town": towns, "note": ["to be seen again", "it is all right"] * 100})
    with pytest.warns(eo.SchemaWarning, match="'town' has 110 different values of .*columns={'town': Words"):
        found = eo.NaiveBayes().fit(frame, [0, 1] * 100).model_.schema.columns
    families = [found[name].family.__name__ for name in frame]
    assert families == ["WordCounts", "Categorical", "Categorical"]


@pytest.mark.parametrize(
    ("town", "rows", "noted"),
    [("Town {}", 439, True), ("Town {}", 440, False), ("Town{}", 439, False)],
    ids=["few rows for each", "four rows for each", "one word"],
)
def test_a_category_is_doubted_of_more_than_a_quarter_as_many_values_as_rows_and_of_several_words(
    town, rows, noted, recwarn
):
    frame = pd.DataFrame({"town": [town.format(i % 110) for i in range(rows)]})
    assert eo.NaiveBayes().fit(frame, np.arange(rows) % 2).model_.schema.columns["town"].family is eo.Categorical
    assert len(recwarn) == noted


@pytest.mark.parametrize(("values", "noted"), [(19, False), (20, True)])
def test_texts_of_numbers_are_doubted_from_twenty_different_ones_on(values, noted, recwarn):
    frame = pd.DataFrame({"age": [str(i % values) for i in range(200)]})
    eo.NaiveBayes().fit(frame, [0, 1] * 100)
    assert len(recwarn) == noted


def test_numbers_as_text_are_numbers_where_they_are_told_to_be():
    frame = pd.DataFrame({"n": ["1.5", "2", None, "-3e2"]})
    nb = eo.NaiveBayes({"n": eo.Binned}).fit(frame, ["a", "b", "b", "a"])
    numbers = eo.NaiveBayes().fit(pd.DataFrame({"n": [1.5, 2, np.nan, -300]}), ["a", "b", "b", "a"])
    assert nb.model_.tally == numbers.model_.tally


def test_numbers_with_leading_zeros_are_not_numbers():
    frame = pd.DataFrame({"zip": ["01234", "98765", "01234", "98765"]})
    assert eo.NaiveBayes().fit(frame, list("abba")).model_.schema.columns["zip"].family is eo.Categorical


# Dates, identifiers, free text


def dates(n=100):
    return pd.DataFrame({"day": pd.date_range("2024-01-01", periods=n), "x": np.arange(n) % 7.0})


@pytest.mark.parametrize("as_text", [False, True])
def test_dates_are_left_out_with_a_note(as_text):
    frame = dates()
    frame["day"] = frame["day"].dt.strftime("%Y-%m-%d") if as_text else frame["day"]
    with pytest.warns(eo.SchemaWarning, match="column 'day' is a date: left out"):
        nb = eo.NaiveBayes().fit(frame, np.arange(100) % 2)
    assert list(nb.model_.schema.features) == ["x"]


@pytest.mark.parametrize("as_text", [False, True])
def test_parts_of_dates_are_categories_on_request(as_text):
    frame = dates()
    weekend = (frame["day"].dt.day_of_week >= 5).to_numpy()
    frame["day"] = frame["day"].dt.strftime("%Y-%m-%d") if as_text else frame["day"]
    nb = eo.NaiveBayes({"day": eo.Column(parts=("weekday", "month"))}).fit(frame[["day"]], weekend)
    assert list(nb.model_.schema.features) == ["day.weekday", "day.month"]
    assert (nb.predict(frame[["day"]]) == weekend).all()
    days = {row["day.weekday"] for row in nb.tables["day.weekday"]}
    assert days == {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}


@pytest.mark.parametrize("order", [["day", "day.month"], ["day.month", "day"]])
def test_a_part_of_a_date_has_its_name_alone(order):
    frame = dates().assign(**{"day.month": ["x", "y"] * 50})[order]
    with pytest.raises(eo.DataError, match=r"'day' and 'day\.month': the second is the month of the first; rename it"):
        eo.NaiveBayes({"day": eo.Column(parts=("month",))}).fit(frame, np.arange(100) % 2)


def test_a_few_cells_that_are_no_dates_do_not_make_all_be_read_one_by_one(monkeypatch):
    cells = [f"2024-01-01 {i // 3600:02}:{i // 60 % 60:02}:{i % 60:02}" for i in range(4096)]
    known = as_dates(cells)
    cast, calls = pc.cast, []
    monkeypatch.setattr(pc, "cast", lambda *given: calls.append(1) or cast(*given))
    for wrong in ("soon", "2023-02-29", ""):
        found = as_dates([*cells[:1000], wrong, *cells[1000:]]).to_pylist()
        assert found == [*known[:1000].to_pylist(), None, *known[1000:].to_pylist()]
    assert len(calls) < 100


def test_a_missing_date_has_no_parts():
    frame = dates()
    nb = eo.NaiveBayes({"day": eo.Column(parts=("weekday",))}).fit(frame[["day"]], np.arange(100) % 2)
    nowhen = pd.DataFrame({"day": pd.to_datetime([None])})
    np.testing.assert_allclose(nb.predict_proba(nowhen), [[0.5, 0.5]])
    for type_ in (pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.null()):
        np.testing.assert_allclose(nb.predict_proba(pa.table({"day": pa.array([None], type_)})), [[0.5, 0.5]])


def test_codes_are_of_integers_of_any_width():
    for low in (-(2**63), -100, 2**62, 2**63 - 200, 2**63 + 5):
        y = np.array([low, low + 150, low], np.int64 if low < 2**63 - 200 else np.uint64)
        found = codes(y)
        assert [found.labels.text(place) for place in found.places] == [str(low), str(low + 150), str(low)]
    found = codes(np.array([-128, 127], np.int8))
    assert [found.labels.text(place) for place in found.places] == ["-128", "127"]


def test_an_array_of_what_is_no_category_is_refused_by_name():
    with pytest.raises(eo.DataError, match="column 'tags' holds object: expected texts, numbers or dates"):
        codes(np.array([["a", "b"], ["c"]], dtype=object), "column 'tags'")


@pytest.mark.parametrize("type_", [pa.duration("s"), pa.time64("us")], ids=str)
def test_a_length_of_time_is_no_date(type_):
    spans = pa.table({"span": pa.array([0, 3600, 7200, 0], pa.int64()).cast(type_), "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.warns(eo.SchemaWarning, match="column 'span' is a time of day or a length of time: left out"):
        eo.NaiveBayes().fit(spans, [0, 0, 1, 1])


@pytest.mark.parametrize("ids", [np.arange(200), [f"person {i}" for i in range(200)]], ids=["numbers", "texts"])
def test_identifiers_are_left_out_with_a_note(ids):
    frame = pd.DataFrame({"id": ids, "x": np.arange(200) % 7.0})
    with pytest.warns(eo.SchemaWarning, match="column 'id' has almost no value twice"):
        nb = eo.NaiveBayes().fit(frame, np.arange(200) % 2)
    assert list(nb.model_.schema.features) == ["x"]


def test_whole_numbers_with_holes_are_identifiers_in_a_frame_as_in_its_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,x,half,y\n" + "".join(f"{'' if i % 3 else i},{i % 7},{i}.5,{i % 2}\n" for i in range(600)))
    with pytest.warns(eo.SchemaWarning, match="column 'id' has almost no value twice"):
        found = eo.NaiveBayes().fit(pd.read_csv(path), "y").model_
    with pytest.warns(eo.SchemaWarning, match="column 'id' has almost no value twice"):
        assert found == eo.NaiveBayes().fit(path, "y").model_
    assert list(found.schema.features) == ["x", "half"]


def test_a_column_with_a_family_is_never_left_out():
    frame = pd.DataFrame({"id": np.arange(200), "x": np.arange(200) % 7.0})
    nb = eo.NaiveBayes({"id": eo.Gaussian}).fit(frame, np.arange(200) % 2)
    assert list(nb.model_.schema.features) == ["id", "x"]


def test_the_columns_of_an_array_are_never_identifiers(recwarn):
    nb = eo.NaiveBayes().fit(np.arange(400).reshape(200, 2), np.arange(200) % 2)
    assert list(nb.model_.schema.features) == ["x0", "x1"]
    assert len(recwarn) == 0


def test_free_text_is_read_word_by_word(recwarn):
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["a", "b", "c", "d", "e", "f"], 12)) for _ in range(200)]
    frame = pd.DataFrame({"note": words, "x": np.arange(200) % 7.0})
    nb = eo.NaiveBayes().fit(frame, np.arange(200) % 2)
    assert nb.model_.schema.columns["note"].words == eo.Words()
    assert len(recwarn) == 0


def test_an_ignored_column_is_left_out_in_silence(recwarn):
    nb = eo.NaiveBayes({"day": eo.Column(role="ignore")}).fit(dates(), np.arange(100) % 2)
    assert list(nb.model_.schema.features) == ["x"]
    assert len(recwarn) == 0


def test_a_column_far_from_zero_is_told_its_origin():
    year = pd.DataFrame({"year": 2000.0 + np.arange(200) % 23})
    with pytest.warns(eo.SchemaWarning, match=r"column 'year' .* origin=2000"):
        eo.NaiveBayes().fit(year, np.arange(200) % 2)


@pytest.mark.parametrize(("step", "noted"), [(4, True), (6, False)])
def test_an_origin_is_told_where_bins_hold_two_different_values_each_or_more(step, noted, recwarn):
    """Two bins, from 2000 and from 2008 on: of the years 2000, 2004, 2008, 2012; of 2000, 2006, 2012."""
    years = np.resize(np.arange(2000.0, 2016.0, step), 100)
    eo.NaiveBayes().fit(pd.DataFrame({"year": years}), np.arange(100) % 2)
    assert len(recwarn) == noted


def test_an_origin_tells_values_far_from_zero_apart(recwarn):
    seconds = np.arange(200) % 40 + 1.7e9
    y = np.arange(200) % 40 < 20
    near = eo.NaiveBayes({"t": eo.Column(eo.Binned, origin=1.7e9)}).fit(pd.DataFrame({"t": seconds}), y)
    assert near.score(pd.DataFrame({"t": seconds}), y) == 1.0
    assert len(recwarn) == 0


def test_the_schema_is_decided_by_the_first_rows_and_not_by_the_batch(monkeypatch):
    import evenodds.data.decide as decide

    monkeypatch.setattr(decide, "SAMPLE", 50)
    frame = pd.DataFrame({"x": [0.0, 1.0] * 25 + [0.0, 1.0, 0.0]})
    assert eo.NaiveBayes().fit(frame, np.arange(53) % 2).model_.schema.columns["x"].family is eo.Bernoulli
    frame.loc[52, "x"] = 5.0
    with pytest.raises(eo.DataError, match="column 'x' is 5 in row 52: a Bernoulli column holds 0 and 1 only"):
        eo.NaiveBayes().fit(frame, np.arange(53) % 2)


def test_a_missing_date_among_categories_is_missing():
    days = ["2024-03-01", None, "2024-04-01", "2024-03-01"] * 5
    y = ["a", "b", "a", "b"] * 5
    how = {"day": eo.Column(parts=("month",))}
    plain = eo.NaiveBayes(how).fit(pa.table({"day": days}), y)
    coded = eo.NaiveBayes(how).fit(pa.table({"day": pa.array(days).dictionary_encode()}), y)
    assert coded.model_ == plain.model_
    assert coded.model_.column_tally("day.month")["day.month", "labels"].sum() == 15


def test_a_time_of_a_zone_is_what_its_clock_showed_and_nanoseconds_are_a_time(tmp_path):
    """What pandas and most programs write, read from a file and in memory as Arrow's own times of that zone."""
    written = [f"2024-03-0{1 + i % 7} {i % 24:02}:30:00.123456789+09:00" for i in range(200)]
    clocks = pa.array(np.array([text[:19] for text in written], "datetime64[us]"))
    y, how = ["a", "b"] * 100, {"at": eo.Column(parts=("weekday", "hour"))}
    path = tmp_path / "times.csv"
    path.write_text("at,y\n" + "".join(f"{text},{label}\n" for text, label in zip(written, y, strict=True)))
    zoned = pc.assume_timezone(clocks, "Asia/Tokyo")
    models = [eo.NaiveBayes(how).fit(pa.table({"at": at, "y": y}), "y").model_ for at in (clocks, zoned, written)]
    assert models[0] == models[1] == models[2] == eo.NaiveBayes(how).fit(path, "y").model_
    assert kind(pa.array(["2024-03-01T10:00Z", "2024-03-01T10:00:00.5-0330", "2024-03-01"])) == "date"
    assert kind(pa.array(["2024-03-01-05", "2024-03-02-05"])) == "category"


def test_records_are_columns():
    frame = pd.DataFrame({"size": [1.5, 2.0, 3.0, 4.5] * 20, "kind": ["x", "y", "x", "z"] * 20})
    y, records = ["a", "b", "a", "b"] * 20, frame.to_records(index=False)
    nb = eo.NaiveBayes().fit(records, y)
    assert nb.model_ == eo.NaiveBayes().fit(frame, y).model_
    assert nb.predict(records).tolist() == y


def test_texts_without_a_table_are_the_one_column_that_was_learnt():
    frame = pd.DataFrame({"message": ["free prize", "lunch at noon"] * 5, "number": range(10)})
    nb = eo.NaiveBayes({"message": eo.Words(), "number": eo.Column(role="ignore")}).fit(frame, list("ab") * 5)
    assert nb.predict(["free lunch prize", "noon"]).tolist() == ["a", "b"]
    assert np.array_equal(
        nb.predict_proba(pd.Series(["free", "at"])), nb.predict_proba(frame.iloc[:2].assign(message=["free", "at"]))
    )


def test_one_row_of_a_frame_is_not_taken_for_texts():
    frame = pd.DataFrame({"height": [1.0, 2.0] * 5, "colour": ["red", "blue"] * 5})
    nb = eo.NaiveBayes().fit(frame, list("ab") * 5)
    with pytest.raises(eo.DataError, match=r"has learnt 2 columns: .* frame\.iloc\[\[0\]\]"):
        nb.predict(frame.iloc[0])
    assert nb.predict(frame.iloc[[0]]).tolist() == ["a"]


def test_a_class_that_is_masked_is_missing():
    y = np.ma.array([0, 1, 0, 1], mask=[False, False, False, True])
    with pytest.raises(eo.DataError, match="the target is missing in row 3; drop such rows"):
        eo.NaiveBayes().fit([[1.0], [2.0], [3.0], [4.0]], y)


def test_lists_are_no_categories():
    frame = pd.DataFrame({"tags": [["a"], ["b"], ["a"], ["c"]]})
    with pytest.raises(eo.DataError, match=r"column 'tags' holds list<.*>: expected texts, numbers or dates"):
        eo.NaiveBayes({"tags": eo.Categorical}).fit(frame, list("xyxy"))
    with pytest.raises(eo.DataError, match="holds struct<a: int64>: expected texts, numbers or dates"):
        eo.Categorical.fit([{"a": 1}])


@pytest.mark.parametrize("family", [eo.Categorical, eo.Binned, None])
def test_numbers_that_arrow_has_no_type_for_are_numbers(family):
    x, y = [1.0, 2.0, 2.5, 4.0], list("xyxy")
    models = [
        eo.NaiveBayes(None if family is None else {"x": family}).fit(pd.DataFrame({"x": same}), y).model_
        for same in (x, np.array(x, np.longdouble))
    ]
    assert models[0] == models[1]


def test_a_decimal_may_be_infinite():
    found = eo.Categorical.fit([Decimal("Infinity"), Decimal("1.50"), Decimal("NaN")], estimate="mle")
    assert found == eo.Categorical.fit(["inf", "1.5"], estimate="mle")


@pytest.mark.parametrize("wrong", ["2024-13-01", "2023-02-29", "soon"])
def test_a_text_that_is_no_date_is_named(wrong):
    at = pd.Series(["2024-03-01", None, wrong, "2024-03-01 12:30:00"])
    for same in (at, at.astype("category")):
        with pytest.raises(eo.DataError, match=f"column 'at' holds '{wrong}', expected dates like 2024-03-01 or"):
            eo.NaiveBayes({"at": eo.Column(parts=("month",))}).fit(pd.DataFrame({"at": same}), list("xyxy"))


def test_a_category_that_means_missing_is_missing_to_a_distribution_too():
    shares = eo.Categorical.fit(["ham", "spam", "spam"], estimate="mle")
    cells, labels, place, _ = texts.codes(Texts.of(["ham", "?", "eggs", None, "spam"]))
    log_p = shares.log_prob(Coded(cells, labels, place))
    np.testing.assert_allclose(np.exp(log_p), [1 / 3, np.nan, 0.0, np.nan, 2 / 3])


LISTED = pa.array(["yes", "no", "yes"] * 100).dictionary_encode()
LISTINGS = {
    "texts": LISTED,
    "whole numbers": pa.array([1, 2, 3] * 100).dictionary_encode(),
    "truths": pa.array([True, False, True] * 100).dictionary_encode(),
    "categories of pandas": pd.Categorical([1, 2, 3] * 100),
    "categories of polars": pl.Series(["a", "b", "c"] * 100, dtype=pl.Categorical),
    "kinds of polars": pl.Series(["a", "b", "c"] * 100, dtype=pl.Enum(["a", "b", "c"])),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([100, 300], pa.int32()), pa.array(["q", "r"])),
    "runs of numbers": pa.RunEndEncodedArray.from_arrays(pa.array([100, 300], pa.int32()), pa.array([1.5, 2.5])),
    "another program's type": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, 1] * 100, pa.int8())),
    "narrow decimals": pa.array([Decimal("1.25"), Decimal("3.5"), None] * 100, pa.decimal32(5, 2)),
}


@pytest.mark.parametrize("kind", LISTINGS)
@pytest.mark.parametrize("told", [None, eo.Categorical])
def test_a_column_is_the_same_in_a_dict_of_columns_and_in_a_table(kind, told):
    y, cells, columns = ["a", "b"] * 150, LISTINGS[kind], told and {"v": told}
    own = cells.to_frame("v") if isinstance(cells, pl.Series) else cells
    whole = pd.DataFrame({"v": cells}) if isinstance(cells, pd.Categorical) else own
    whole = pa.table({"v": cells}) if isinstance(cells, pa.Array) else whole
    fitted = eo.NaiveBayes(columns=columns).fit({"v": cells}, y)
    assert fitted.model_ == eo.NaiveBayes(columns=columns).fit(whole, y).model_
    assert fitted.predict_proba({"v": cells[7:9]}) == pytest.approx(fitted.predict_proba(whole)[7:9])


CHUNKS = {
    "narrow floats": pa.array(np.array([0.1, 2.5, 3.5], np.float16)),
    "narrow floats, listed": pa.array(np.array([0.1, 2.5, 3.5], np.float16)).dictionary_encode(),
    "a null among the listed": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["x", None, "y"])),
    "views, listed": pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["x", "y"], pa.string_view())),
    "days, listed": pa.array(np.array(["2024-03-01", "2024-03-02", "2024-03-01"], "M8[D]")).dictionary_encode(),
    "texts, listed": LISTED[:3],
    "nothing": pa.nulls(3),
    "bytes": pa.array([b"x", b"y", None]),
}


@pytest.mark.parametrize("kind", CHUNKS)
def test_categories_are_the_same_in_one_piece_in_several_and_in_none(kind):
    whole, other = CHUNKS[kind], CHUNKS[kind][1:]
    if pa.types.is_dictionary(whole.type):  # listed in another order
        listed, backwards = whole.dictionary, np.arange(len(whole.dictionary))[::-1]
        indices = pa.array([None if i is None else len(listed) - 1 - i for i in other.indices.to_pylist()], pa.int64())
        turned = pa.array([listed[int(i)].as_py() for i in backwards], listed.type)
        other = pa.DictionaryArray.from_arrays(indices.cast(whole.type.index_type), turned)
    cells, expected = codes(pa.chunked_array([whole, whole[:0], other])), codes(whole)
    texts_of = [expected.labels.text(i) if i >= 0 else None for i in expected.places]
    assert [cells.labels.text(i) if i >= 0 else None for i in cells.places] == [*texts_of, *texts_of[1:]]
    assert len(codes(pa.chunked_array([], whole.type)).codes) == 0


def test_a_category_missing_in_all_rows_of_several_pieces_is_missing():
    model = eo.NaiveBayes().fit({"v": ["x", "y", "x", "z"] * 5}, ["a", "b", "a", "b"] * 5)
    missing = pa.table({"v": pa.chunked_array([pa.nulls(2), pa.nulls(3)])})
    assert model.predict_proba(missing) == pytest.approx(np.full((5, 2), 0.5))


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool"])
def test_sparse_columns_of_pandas_are_the_numbers_that_they_hold(dtype):
    dense, y = pd.DataFrame({"v": [0, 0, 1, 0, 1, 1] * 10}).astype(dtype), ["a", "b", "a"] * 20
    sparse = dense.astype(pd.SparseDtype(dtype, dense["v"].iloc[0]))
    expected = eo.NaiveBayes().fit(dense, y).model_
    assert eo.NaiveBayes().fit(sparse, y).model_ == eo.NaiveBayes().fit({"v": sparse["v"]}, y).model_ == expected


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "15m", "s", "30s", "ms"])
def test_times_of_numpy_are_times_in_any_unit(unit):
    days = np.array([f"20{10 + i % 9}-0{1 + i % 9}-07T01:30" for i in range(60)], f"M8[{unit}]")
    columns = {"v": eo.Column(parts=("year", "month"))}
    expected = eo.NaiveBayes(columns=columns).fit({"v": days.astype("M8[ms]")}, ["a", "b"] * 30).model_.tally
    assert eo.NaiveBayes(columns=columns).fit({"v": days}, ["a", "b"] * 30).model_.tally == expected
    assert kind(days) == "date"
    with pytest.warns(eo.SchemaWarning, match="'x1' is a date"):
        both = eo.NaiveBayes(columns={"x0": eo.Categorical}).fit(np.stack([days, days], 1), ["a", "b"] * 30)
    assert both.model_.schema.columns["x1"].role == "ignore"
    assert unit in "YM" or kind(days - days[0]) == "span"  # a year has no length


def test_complex_numbers_in_a_dict_of_columns_are_refused():
    with pytest.raises(eo.DataError, match="column 'v': Complex data not supported"):
        eo.NaiveBayes().fit({"v": np.arange(4) * 1j}, ["a", "b"] * 2)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_each_column_of_a_frame_is_read_once(frame, monkeypatch):
    rows = frame({"v": ["x", "y", "z"] * 20, "w": ["p", "q"] * 30, "y": ["a", "b", "c", "d"] * 15})
    read, column = [], memory._column
    monkeypatch.setattr(memory, "_column", lambda x, name: read.append(name) or column(x, name))
    model = eo.NaiveBayes().fit(rows, "y")
    assert sorted(read) == ["v", "w", "y"]
    read.clear()
    model.score(rows, "y")
    assert read.count("w") == read.count("v") == 1


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        *itertools.product(["parquet", "arrow", "several"], ["yes or no", "days", "long texts"]),
        *itertools.product(["arrow", "several"], ["numbers", "truths"]),  # Parquet's categories are of texts
    ],
)
@pytest.mark.parametrize("as_target", [False, True])
def test_a_category_of_a_table_is_one_in_a_file_of_it(form, kind, as_target, tmp_path):
    i = np.arange(300)
    cells = {
        "yes or no": np.where(i % 3, "yes", "no"),
        "days": np.where(i % 3, "2024-03-01", "2024-03-02"),
        "long texts": np.char.add("a long text of many words, the number ", (i % 150).astype(str)),
        "numbers": i % 3,
        "truths": i % 3 == 0,
    }
    own, plain = pa.array(cells[kind]).dictionary_encode(), pa.array(cells["yes or no"])
    rows = pa.table({"v": own, "plain": plain, "x": i % 7 + 0.5})
    target = "v" if as_target else "plain"
    files = [tmp_path / f"{n}.{'parquet' if form == 'parquet' else 'arrow'}" for n in range(1 + (form == "several"))]
    for n, path in enumerate(files):
        part = rows if len(files) == 1 else rows.slice(150 * n, 150)
        if form == "parquet":
            pq.write_table(part, path)
        else:
            with pa.ipc.new_file(path, rows.schema) as out:
                out.write_table(part)
    expected = eo.NaiveBayes().fit(rows, target)
    found = eo.NaiveBayes().fit(tmp_path, target)
    assert found.model_ == expected.model_
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert found.predict_proba(tmp_path) == pytest.approx(expected.predict_proba(rows))


@pytest.mark.parametrize("form", ["dict", "pandas", "polars", "arrow", "stream"])
@pytest.mark.parametrize(
    "estimator",
    [
        eo.NaiveBayes(), eo.NaiveBayes(temper=True), eo.NaiveLogistic(scale=1, strength=1), eo.GLM(eo.Bernoulli),
        eo.BayesNet("y -> a, b"),
    ],
    ids=repr,
)  # fmt: skip
def test_weights_may_be_a_column_as_the_target_may(estimator, form):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    rows = {
        "a": np.where(rng.random(60) < 0.3 + 0.4 * y, "on", "off").tolist(),
        "b": rng.integers(0, 3, 60).astype(str),
    }
    weights = rng.integers(0, 4, 60)
    whole = {**rows, "b": rows["b"].tolist(), "y": np.where(y, "yes", "no").tolist(), "w": weights.tolist()}
    frame = pa.table(whole)

    def table():  # a stream is read once
        if form == "stream":
            return frame.to_reader()
        return {"dict": whole, "pandas": frame.to_pandas(), "polars": pl.from_arrow(frame), "arrow": frame}[form]

    by_name = clone(estimator).fit(table(), "y", sample_weight="w")
    by_number = clone(estimator).fit(frame.drop_columns("w"), "y", sample_weight=weights)
    given = frame.select(["a", "b"])
    np.testing.assert_allclose(by_name.predict_proba(given), by_number.predict_proba(given), rtol=1e-12)
    judged = by_name.score(table(), "y", sample_weight="w")
    assert judged == pytest.approx(by_number.score(frame, "y", sample_weight=weights))
    assert judged != by_number.score(frame, "y")
