"""Bad input: an exception of the right type whose sentence names the column or row, and the cure."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import evenodds as eo
from evenodds.data import memory
from evenodds.families import FAMILIES, Gaussians, Kernel
from tables import COLUMNS, fitted, mixed

Y = ["a", "b", "a", "b"]


def frame(**columns):
    return pd.DataFrame(columns)


def refused(words, kind=eo.DataError):
    return pytest.raises(kind, match=words)


# Tables


@pytest.mark.parametrize(
    "empty",
    [
        [],
        np.empty((0, 3)),
        pd.DataFrame({"x": []}),
        pa.table({"x": pa.array([], pa.float64())}),
        sp.csr_array((0, 3)),
        pa.table({"c": pa.array([], pa.string())}),
    ],
    ids=["list", "numpy", "pandas", "pyarrow", "sparse", "texts"],
)
def test_a_table_without_rows(empty):
    with refused(r"0 sample\(s\)"):
        eo.NaiveBayes().fit(empty, [])


@pytest.mark.parametrize("empty", [np.empty((4, 0)), pd.DataFrame(index=range(4)), [{}, {}, {}, {}]])
def test_a_table_without_columns(empty):
    with refused(r"0 feature\(s\).* minimum of 1 is required"):
        eo.NaiveBayes().fit(empty, Y)


def test_a_table_that_is_the_target_only():
    with refused("0 feature"):
        eo.NaiveBayes().fit(frame(y=Y), "y")


@pytest.mark.parametrize("what", [5, object(), None], ids=["number", "object", "None"])
def test_what_is_no_table(what):
    with refused("cannot read a table from"):
        eo.NaiveBayes().fit(what, Y)


def test_a_text_is_the_name_of_a_file():
    with pytest.raises(FileNotFoundError, match=r"there is no such file .*in a list, .text..: 'a text'"):
        eo.NaiveBayes().fit("a text", "y")


@pytest.mark.parametrize("row", [{"colour": "red"}, {"colour": "red", "age": 30.0}, {"age": 30.0}], ids=str)
def test_a_single_dict_is_no_table_of_letters(row):
    with refused("column"):
        fitted().predict(row)


def test_a_single_column_of_numbers_is_no_table():
    with refused("Expected 2D array, got 1D array instead.*reshape"):
        eo.NaiveBayes().fit(np.arange(4.0), Y)
    with refused("Expected 2D array, got 3D"):
        eo.NaiveBayes().fit(np.zeros((4, 2, 2)), Y)


def test_two_columns_of_one_name():
    two = pd.DataFrame([[1.0, 2.0]] * 4, columns=["x", "x"])
    with refused("two columns are named 'x': rename one"):
        eo.NaiveBayes().fit(two, Y)
    with refused("two columns are named 'x': rename one"):
        eo.NaiveBayes().fit(pa.Table.from_arrays([pa.array([1, 2, 3, 4])] * 2, names=["x", "x"]), Y)


def test_two_columns_whose_names_are_one_text():
    with refused("two columns are named '1': rename one"):
        eo.NaiveBayes().fit(pd.DataFrame([[1.0, 2.0]] * 4, columns=["1", 1]).set_axis(["1", 1], axis=1), Y)


def test_complex_numbers():
    with refused("Complex data not supported"):
        eo.NaiveBayes().fit(np.zeros((4, 2), complex), Y)
    with refused("Complex data not supported"):
        eo.NaiveBayes().fit(sp.csr_array(np.eye(4, dtype=complex)), Y)
    with refused("'z'"):
        eo.NaiveBayes().fit(frame(z=np.array([1j, 2, 3, 4]), x=[1.0, 2, 3, 4]), Y)


@pytest.mark.parametrize("cells", [[[1], [2], [3], [1]], [{"a": 1}] * 4], ids=["lists", "structures"])
def test_nested_columns_are_left_out_with_a_note(cells):
    table = pa.table({"nested": cells, "x": [1.0, 2.0, 3.0, 4.0]})
    for X in (table, table.to_pandas()):
        with pytest.warns(eo.SchemaWarning, match="column 'nested' holds lists, structures or bytes: left out"):
            assert list(eo.NaiveBayes().fit(X, Y).model_.schema.features) == ["x"]


def test_a_nested_column_with_a_family_is_refused():
    table = pa.table({"nested": [[1], [2], [3], [1]]})
    with refused("column 'nested'"):
        eo.NaiveBayes({"nested": eo.Gaussian}).fit(table, Y)


def test_a_table_of_nothing_usable():
    with pytest.warns(eo.SchemaWarning), refused("no column"):
        eo.NaiveBayes().fit(frame(day=pd.date_range("2024-01-01", periods=4)), Y)


# Nulls and infinities


@pytest.mark.parametrize("named", [True, False])
def test_a_column_of_nulls_says_nothing(named):
    X = frame(x=[1.0, 2.0, 3.0, 4.0], hole=[np.nan] * 4)
    if named:
        with pytest.warns(eo.SchemaWarning, match="column 'hole' has no values in the first rows: left out"):
            nb = eo.NaiveBayes().fit(X, Y)
    else:
        X = X.to_numpy()
        nb = eo.NaiveBayes().fit(X, Y)
    without = eo.NaiveBayes().fit(np.array([[1.0], [2.0], [3.0], [4.0]]), Y)
    np.testing.assert_allclose(nb.predict_proba(X), without.predict_proba(np.array([[1.0], [2.0], [3.0], [4.0]])))


@pytest.mark.parametrize("family", list(COLUMNS.values()), ids=lambda family: family.__name__)
@pytest.mark.parametrize("estimate", ["predictive", "mean", "map", "mle"])
def test_a_column_of_nulls_with_a_family_says_nothing(family, estimate):
    X = pa.table({"hole": pa.nulls(4, pa.string() if family is eo.Categorical else pa.float64())})
    nb = eo.NaiveBayes({"hole": family}, estimate=estimate).fit(X, ["a", "b", "a", "a"])
    np.testing.assert_allclose(nb.predict_proba(X), [[0.75, 0.25]] * 4)
    value = "x" if family is eo.Categorical else 1.0
    np.testing.assert_allclose(nb.predict_proba([{"hole": value}]), [[0.75, 0.25]])


NUMERIC = [eo.Bernoulli, eo.Poisson, eo.Gaussian, eo.LogGaussian, eo.Binned, Kernel, Gaussians]


@pytest.mark.parametrize("family", NUMERIC, ids=lambda family: family.__name__)
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 1.0]])
def test_infinity_at_fit(family, weights):
    X = frame(x=[1.0, 0.0, np.inf, 1.0])
    with refused("column 'x' is inf.* in row 2"):
        eo.NaiveBayes({"x": family}).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("family", NUMERIC, ids=lambda family: family.__name__)
@pytest.mark.parametrize("sign", [1, -1])
def test_infinity_at_predict(family, sign):
    known = [1.0, 0.0, 2.0, 3.0] if family is eo.LogGaussian else [1.0, 0.0, 1.0, 0.0]
    nb = eo.NaiveBayes({"x": family}).fit(frame(x=known), Y)
    with refused("column 'x' is inf.* in row 1"):
        nb.predict_proba(frame(x=[1.0, sign * np.inf]))


def test_the_row_that_is_named_is_the_tables_not_the_shards(monkeypatch):
    monkeypatch.setattr(memory, "SHARD", 10)
    x = np.arange(50.0) % 3
    y = np.arange(50) % 2
    for family, value in ((eo.Gaussian, np.inf), (eo.Poisson, 1.5), (eo.Bernoulli, 5.0), (eo.LogGaussian, -2.0)):
        bad = x % 2
        bad[34] = value
        with refused("in row 34"):
            eo.NaiveBayes({"x": family}).fit(frame(x=bad), y)


def test_values_whose_squares_overflow():
    with refused("column 'x' has values up to 1e\\+200, whose squares overflow: rescale it"):
        eo.NaiveBayes({"x": eo.Gaussian}).fit(frame(x=[1.0, 2.0, 1e200, 3.0]), Y)


@pytest.mark.parametrize(
    ("family", "value", "words"),
    [
        (eo.Bernoulli, 2.0, r"column 'x' is 2 in row 1: a Bernoulli column holds 0 and 1 only; .*columns=.'x': Binned"),
        (eo.Poisson, -1.0, "column 'x' is -1 in row 1: a Poisson column holds counts 0, 1, 2"),
        (eo.Poisson, 0.5, "column 'x' is 0.5 in row 1: a Poisson column holds counts 0, 1, 2"),
        (eo.Exponential, -1.0, "column 'x' is -1 in row 1: an Exponential column is never negative, nor above 1e"),
        (eo.Exponential, 1e200, "column 'x' is 1e.200 in row 1: an Exponential column is never negative, nor above 1e"),
        (eo.LogGaussian, -3.0, "column 'x' is -3 in row 1: a LogGaussian column is never negative"),
    ],
    ids=str,
)
def test_values_outside_a_familys_support(family, value, words):
    with refused(words):
        eo.NaiveBayes({"x": family}).fit(frame(x=[1.0, value, 0.0, 1.0]), Y)
    with refused(words):
        family.fit([1.0, value, 0.0, 1.0])


def test_a_text_where_a_number_was_expected():
    with refused("column 'x' holds 'red', expected a number; is it a Categorical column"):
        eo.NaiveBayes({"x": eo.Gaussian}).fit(frame(x=["1", "2", "red", "3"]), Y)
    nb = eo.NaiveBayes({"x": eo.Gaussian}).fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y)
    with refused("column 'x' holds 'red', expected a number"):
        nb.predict(frame(x=["red"]))


# Columns


def test_an_unknown_column_in_the_settings_is_told_its_neighbour():
    with refused("column 'lenght' not found; did you mean 'length'?"):
        eo.NaiveBayes({"lenght": eo.Gaussian}).fit(frame(length=[1.0, 2.0, 3.0, 4.0]), Y)


def test_an_unknown_target_is_told_its_neighbour():
    with refused("column 'survive' not found; did you mean 'survived'?"):
        eo.NaiveBayes().fit(frame(x=[1.0, 2.0, 3.0, 4.0], survived=Y), "survive")
    with refused("column 'zzz' not found; the columns are 'x'"):
        eo.NaiveBayes().fit(frame(x=[1.0, 2.0, 3.0, 4.0]), "zzz")


@pytest.mark.parametrize("kind", ["pandas", "dicts", "pyarrow"])
def test_an_unknown_column_at_predict_is_named(kind):
    X, _ = mixed(5)
    wrong = X.rename(columns={"colour": "color"})
    given = {
        "pandas": wrong,
        "dicts": wrong.to_dict("records"),
        "pyarrow": pa.table({name: pa.array(wrong[name], from_pandas=True) for name in wrong}),
    }[kind]
    with refused("colou?r", ValueError):
        fitted().predict(given)


def test_a_table_of_other_columns_at_predict():
    with refused("colour", ValueError):
        fitted().predict(pa.table({"something": [1.0], "else": [2.0]}))


def test_an_array_of_another_width_at_predict():
    nb = eo.NaiveBayes().fit(np.random.default_rng(0).normal(size=(4, 3)), Y)
    with refused("X has 2 features, but NaiveBayes is expecting 3 features", ValueError):
        nb.predict(np.zeros((1, 2)))


def test_the_keys_of_dicts_may_come_in_any_order():
    X, _ = mixed(20)
    rows = X.to_dict("records")
    backwards = [dict(reversed(row.items())) for row in rows]
    np.testing.assert_array_equal(fitted().predict_proba(backwards), fitted().predict_proba(X))


def test_a_schema_for_other_columns():
    with refused("column 'colour' not found"):
        eo.NaiveBayes(schema=fitted().model_.schema).fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y)


@pytest.mark.parametrize("what", ["gaussian", 3, eo.Beta(1, 1)])
def test_what_is_no_family(what):
    with refused("column 'x': expected a family such as Gaussian, Words or a Column, got"):
        eo.NaiveBayes({"x": what}).fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y)


def test_a_word_of_the_command_line_is_no_family():
    with refused(r"got 'ignore'; Column\(role='ignore'\) leaves a column out$"):
        eo.NaiveBayes({"x": "ignore"}).fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y)
    nb = eo.NaiveBayes({"x": eo.Column(role="ignore")}).fit(frame(x=[1.0, 2.0, 3.0, 4.0], z=[1, 2, 2, 1]), Y)
    assert nb.tables.keys() == {"z"}


# Targets


def test_a_target_of_another_length():
    with refused(r"inconsistent numbers of samples: \[4, 3\].*a target value for each row"):
        eo.NaiveBayes().fit(np.eye(4), Y[:3])


@pytest.mark.parametrize(
    "missing", [[1.0, np.nan, 0.0, 1.0], ["a", None, "b", "a"], pd.array([1, None, 0, 1], "Int64")]
)
def test_a_missing_target_names_its_row(missing):
    with refused("the target is missing in row 1"):
        eo.NaiveBayes().fit(np.eye(4), missing)


@pytest.mark.parametrize("y", [3, 0.5, pl.col("y")], ids=["int", "float", "expression"])
def test_a_target_that_is_neither_a_name_nor_values(y):
    with refused("give the name of a column, as text, or a value for each row"):
        eo.NaiveBayes().fit(frame(x=[1.0, 2.0, 3.0, 4.0]), y)


def test_a_weight_of_what_is_no_class():
    """A slip of the pen would otherwise leave a class at weight 1, unsaid."""
    X, y = frame(x=[1.0, 2.0, 3.0, 4.0]), ["no", "no", "yes", "yes"]
    with refused("class_weight has a factor for 'yess', which is no class; the classes are 'no', 'yes'"):
        eo.NaiveBayes(class_weight={"no": 1, "yess": 3}).fit(X, y)
    eo.NaiveBayes(class_weight={"yes": 3}).fit(X, y)
    eo.NaiveBayes(class_weight={"no": 1, "yes": 3, "unsure": 2}).fit(X, y)
    eo.NaiveBayes(class_weight={"yes": 3}).partial_fit(X[:2], y[:2]).partial_fit(X, y)


def test_a_column_that_arrow_does_not_know():
    wide = pl.DataFrame({"x": [1, 2, 3, 4]}).cast(pl.Int128)
    with refused("Arrow cannot read a column of this table"):
        eo.NaiveBayes().fit(wide, Y)


def test_one_class():
    with refused("the target has only one class, 'a': there is nothing to tell apart"):
        eo.NaiveBayes().fit(np.eye(4), ["a"] * 4)


def test_no_target():
    with refused("requires y to be passed, but the target y is None", ValueError):
        eo.NaiveBayes().fit(np.eye(4), None)


@pytest.mark.parametrize(
    "several",
    [
        np.eye(4),
        np.eye(4)[:, :2].astype(int),
        [["a", "b"], ["a"], ["b"], []],
        pd.DataFrame({"a": [0, 1, 0, 1], "b": [1, 0, 1, 0]}),
        sp.csr_array(np.eye(4)),
        [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b")],
    ],
    ids=["one-hot", "indicators", "lists", "frame", "sparse", "tuples"],
)
def test_several_labels_a_row(several):
    with refused("one class per row"):
        eo.NaiveBayes().fit(np.eye(4), several)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array, pd.Categorical])
def test_a_target_on_a_scale_is_no_class(kind):
    with refused("Unknown label type", ValueError):
        eo.NaiveBayes().fit(np.eye(4), kind([0.1, 0.2, 0.3, 0.5]))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
@pytest.mark.parametrize("model", [eo.NaiveBayes(), eo.NaiveLogistic()])
def test_a_column_on_a_scale_is_no_class_in_memory_nor_in_a_file(model, kind, tmp_path):
    x = np.random.default_rng(0).normal(size=300)
    columns = {"x": x.round(1), "price": x}
    with refused("the target 'price' has 300 different values in 300 rows: expected a few classes"):
        model.fit(kind(columns), "price")
    frame(**columns).to_csv(tmp_path / "rows.csv", index=False)
    with refused("the target 'price' has 300 different values in 300 rows: expected a few classes"):
        model.fit(tmp_path / "rows.csv", "price")
    columns["price"] = np.where(x > 0, np.inf, 1.5)
    with refused("Input y contains infinity"):
        model.fit(kind(columns), "price")
    columns["price"] = np.where(x > 0, 2.5, 1.5)
    assert model.fit(kind(columns), "price").classes_.tolist() == [1.5, 2.5]


@pytest.mark.parametrize("model", [eo.NaiveBayes(), eo.NaiveLogistic()])
def test_a_named_target_that_is_no_list_of_values_is_refused_by_its_name(model):
    with refused("the target 'y' holds list<.*>: expected texts, numbers or dates"):
        model.fit({"x": [1, 2], "y": [["a"], ["b"]]}, "y")


@pytest.mark.parametrize("model", [eo.NaiveBayes(), eo.NaiveLogistic()])
def test_rows_of_a_file_have_their_target_and_weights_in_columns(model, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1.0,a\n2.0,a\n5.0,b\n6.5,b\n")
    model.set_params(columns={"x": eo.Gaussian}).fit(path, "y")
    verbs = [model.fit, model.score]
    if isinstance(model, eo.NaiveBayes):
        verbs += [model.partial_fit, model.forget, model.leave_one_out]
    for verb in verbs:
        for y, weights in ((list("aabb"), None), (np.array(list("aabb")), None), (None, None), ("y", np.ones(4))):
            with refused("the rows are in a file: give (y|sample_weight) as the name of one of its columns"):
                verb(path, y, sample_weight=weights)
    path.write_text("x,y\n")
    for verb in (model.predict, model.predict_proba):
        with refused("rows.csv has no rows"):
            verb(path)


@pytest.mark.parametrize(
    "how", [{"bins": True}, {"components": True}, {"bins": 2.0}, {"variance": np.nan}, {"smoothing": "much"}], ids=str
)
def test_a_column_of_what_is_no_number(how):
    with refused(f"Column: {next(iter(how))}=", ValueError):
        eo.Column(eo.Gaussian, **how)


# Weights


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, -1, 1, 1], "the weight of row 1 is -1: expected 0, or a number from 1e-100"),
        ([1, 1, np.nan, 1], "the weight of row 2 is nan"),
        ([1, 1, 1, np.inf], "the weight of row 3 is inf"),
        ([1, 1e160, 1, 1], "the weight of row 1 is 1e\\+160: expected 0, or a number from 1e-100 to 1e\\+100"),
        ([1, 1e-120, 1, 1], "the weight of row 1 is 1e-120"),
        ([1, 1], "2 weights for 4 rows"),
        ([0, 0, 0, 0], "all weights are zero"),
        ("w", "column 'w' not found"),
        (["a"] * 4, "weights: could not convert string to float: 'a'; give a number for each row"),
    ],
    ids=str,
)
def test_weights_that_are_none(weights, words):
    with refused(words):
        eo.NaiveBayes().fit(np.eye(4), Y, sample_weight=weights)


def test_weights_that_are_a_table():
    with refused("weight", ValueError):
        eo.NaiveBayes().fit(np.eye(4), Y, sample_weight=np.ones((4, 2)))


# Settings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"estimate": "best"}, "estimate='best': expected one of 'mle', 'map', 'mean', 'predictive'"),
        ({"prior": "jeffreys"}, "prior='jeffreys': expected one of 'pooled', 'flat'"),
        ({"unseen": "panic"}, "unseen='panic': expected one of 'ignore', 'prior'"),
        ({"smoothing": -1}, "smoothing=-1: expected 0 or more, or 'auto'"),
        ({"smoothing": "much"}, "smoothing='much'"),
        ({"smoothing": float("nan")}, "smoothing=nan"),
        ({"smoothing": True}, "smoothing=True"),
        ({"class_prior": "fair"}, "class_prior='fair': expected 'auto', 'estimated', 'uniform'"),
        ({"class_weight": "fair"}, "class_weight='fair': expected 'balanced', or a factor by class"),
        ({"class_weight": {"a": -1.0}}, "class_weight"),
        ({"class_weight": [1.0, 2.0]}, r"class_weight=\[1.0, 2.0\]: expected 'balanced', or a factor by class"),
    ],
    ids=str,
)
def test_unknown_settings_are_refused_at_fit(settings, words):
    with refused(words, ValueError):
        eo.NaiveBayes(**settings).fit(np.eye(4), Y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"variance": "shared"}, "variance='shared'"),
        ({"variance": -1.0}, "variance=-1"),
        ({"variance": float("inf")}, "variance=inf"),
        ({"variance": True}, "variance=True"),
        ({"origin": True}, "origin=True"),
        ({"bandwidth": float("nan")}, "bandwidth=nan"),
        ({"role": "target"}, "role='target'"),
        ({"smoothing": -2}, "smoothing=-2"),
        ({"bins": 0}, "bins=0"),
        ({"origin": float("nan")}, "origin=nan"),
    ],
    ids=str,
)
def test_unknown_column_settings_are_refused(settings, words):
    with refused(words, ValueError):
        eo.NaiveBayes({"x": eo.Column(eo.Gaussian, **settings)}).fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y)


def test_an_unknown_part_of_a_date_is_refused():
    with refused("'minute'", ValueError):
        column = eo.Column(parts=("minute",))
        eo.NaiveBayes({"t": column}).fit(frame(t=pd.date_range("2024-01-01", periods=4)), Y)


def test_a_time_of_day_has_no_month():
    times = pa.table({"t": pa.array([0, 3600, 7200, 0], pa.int32()).cast(pa.time32("s"))})
    with refused("column 't'"):
        eo.NaiveBayes({"t": eo.Column(parts=("month",))}).fit(times, Y)


def test_parts_of_what_is_no_date_are_refused():
    with refused("'x'"):
        eo.NaiveBayes({"x": eo.Column(parts=("month",))}).fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y)


def test_a_prior_of_another_family_is_refused():
    column = eo.Column(eo.Gaussian, prior=eo.Beta(1, 1))
    with refused("column 'x'", ValueError):
        eo.NaiveBayes({"x": column}).fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y).predict(frame(x=[1.0]))


def test_the_name_of_a_family_is_no_family():
    with refused("Column: family='gaussian': expected a family", ValueError):
        eo.Column("gaussian")


@pytest.mark.parametrize("variance", ["per_class", "pooled", 2.0])
@pytest.mark.parametrize("family", list(FAMILIES.values()), ids=lambda family: family.__name__)
def test_an_unknown_estimate_of_a_family(family, variance):
    tally = family.tally({"numbers": [0.0, 1.0, 1.0], "codes": list("abb"), "texts": ["a", "b", "b"]}[family.cells])
    with refused("estimate='best': expected one of", ValueError):
        family.estimate(tally, "best", column=eo.Column(family, variance=variance))


@pytest.mark.parametrize(
    "prior",
    [
        lambda: eo.Beta(-1, 2),
        lambda: eo.Beta(np.nan, 1),
        lambda: eo.Gamma(1, np.inf),
        lambda: eo.Gamma(-1, 1),
        lambda: eo.Dirichlet(-1),
        lambda: eo.NormalInverseGamma(0, -1, 1, 1),
    ],
    ids=["Beta", "Beta of none", "endless Gamma", "Gamma", "Dirichlet", "NormalInverseGamma"],
)
def test_a_prior_of_negative_counts_is_refused(prior):
    with refused("the pseudo-counts of a prior must be 0 or more, and finite", ValueError):
        prior()


def test_predicting_before_fitting():
    from sklearn.exceptions import NotFittedError

    with refused("is not fitted yet", NotFittedError):
        eo.NaiveBayes().predict(np.eye(4))


def test_arguments_that_are_none_are_told():
    rows = frame(x=[1.0, 2.0, 3.0, 4.0])
    with refused("^columns: expected a family such as Gaussian, Words or a Column, got 'x'"):
        eo.NaiveBayes("x").fit(rows, Y)
    for threads in ("x", -2):
        with pytest.raises(ValueError, match=f"threads={threads!r}: expected a whole number, or -1 or None"):
            eo.NaiveBayes(threads=threads).fit(rows, Y)


@pytest.mark.parametrize("many", [-1, 2.5, "3", None, True])
@pytest.mark.parametrize(
    "fitted",
    [
        lambda: eo.NaiveBayes().fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y),
        lambda: eo.Mixture(k=1).fit(np.arange(8.0)[:, None]),
        lambda: eo.KernelDensity().fit(np.arange(8.0)),
        lambda: eo.BayesNet("a -> b").fit(frame(a=list("xyxy"), b=list("uuvv"))),
    ],
    ids=["NaiveBayes", "Mixture", "KernelDensity", "BayesNet"],
)
def test_no_rows_are_drawn_of_what_is_no_number_of_rows(fitted, many):
    with refused(rf"^n_samples={many!r}: expected a whole number, 0 or more", ValueError):
        fitted().sample(many)


def test_a_regression_on_text_alone_is_told_who_takes_it():
    texts = frame(said=[f"some words of number {i}" for i in range(120)])
    with pytest.warns(eo.SchemaWarning), refused("no column is left to regress on: text is for NaiveBayes"):
        eo.GLM(eo.Gaussian).fit(texts, np.arange(120) % 7)


def test_a_cell_of_a_million_letters_is_not_repeated_whole():
    with refused("holds 'xxx") as told:
        eo.NaiveBayes(columns={"a": eo.Gaussian}).fit({"a": ["x" * 10**6, 1, 2, 3]}, Y)
    assert len(str(told.value)) < 200


def test_half_a_letter_of_utf_16_is_read_as_what_it_is_not():
    nb = eo.NaiveBayes().fit({"a": ["\ud800", "\ud83d\ude00", "\ud800", "b"]}, Y)
    assert set(nb.tables["a"]["a"]) == {"�", "😀", "b"}
    np.testing.assert_array_equal(nb.predict_proba({"a": ["\ud800"]}), nb.predict_proba({"a": ["�"]}))
    words = eo.NaiveBayes(columns=eo.Words()).fit(["\ud800 a", "x b", "y", "x"], Y)
    np.testing.assert_array_equal(words.predict_proba(["\ud800 a"]), words.predict_proba(["� a"]))


@pytest.mark.parametrize("value", [10**400, -1, "some", np.nan])
def test_pseudo_counts_are_finite_numbers(value):
    for prior in (lambda: eo.Beta(value, 1), lambda: eo.Gamma(1, value), lambda: eo.Dirichlet(value)):
        with refused("the pseudo-counts of a prior must be 0 or more, and finite", ValueError):
            prior()
    with pytest.raises(ValueError, match="smoothing="):
        eo.NaiveBayes(smoothing=value).fit(frame(x=[1.0, 2.0, 3.0, 4.0]), Y)


def test_more_bins_than_memory_holds_are_as_many_as_there_are_values():
    x = [1.0, 2.0, 5.0, 9.0]
    many, more = (eo.Binned.estimate(eo.Binned.tally(x), column=eo.Column(eo.Binned, bins=b)) for b in (100, 10**13))
    assert many == more


XYZ = np.random.default_rng(0).normal(size=(40, 3))
KINDS = frame(a=list("xyxx") * 10, b=list("uvw") * 13 + ["u"], c=list("pq") * 20)


def on_numbers(estimator):
    return lambda **settings: estimator(**settings).fit(XYZ, np.where(XYZ[:, 0] > 0, "p", "q"))


def on_counts(**settings):
    return eo.GLM(eo.Poisson, **settings).fit(XYZ, np.arange(40) % 7)


def on_kinds(**settings):
    return eo.BayesNet(settings.pop("graph", "a -> b"), **settings).fit(KINDS)


@pytest.mark.parametrize(
    ("fit", "settings", "words"),
    [
        (on_numbers(eo.NaiveBayes), {"temper": "no"}, "temper='no': expected True or False"),
        (on_numbers(eo.NaiveBayes), {"temper": np.ones(2)}, r"temper=array\(.*: expected True or False"),
        (on_numbers(eo.NaiveLogistic), {"quadratic": "no"}, "quadratic='no': expected True or False"),
        (on_numbers(eo.Perceptron), {"averaged": "no"}, "averaged='no': expected True or False"),
        (on_numbers(eo.Perceptron), {"bound": None}, "bound=None: expected True or False"),
        (on_counts, {"intercept": 2}, "intercept=2: expected True or False"),
        (on_counts, {"intercept": "no"}, "intercept='no': expected True or False"),
        (on_counts, {"intercept": np.inf}, "intercept=inf: expected True or False"),
        (on_counts, {"tol": None}, "tol=None: expected a number above 0"),
        (on_counts, {"reference": 5}, "reference=5: expected a mapping such as"),
        (on_counts, {"schema": 5}, "schema=5: expected a Schema"),
        (on_numbers(eo.NaiveBayes), {"schema": {}}, "schema={}: expected a Schema"),
        (on_numbers(eo.NaiveLogistic), {"schema": "x"}, "schema='x': expected a Schema"),
        (on_kinds, {"target": 1}, "target=1: expected the name of a column"),
        (on_kinds, {"states": 1}, "states=1: expected a mapping such as"),
        (on_kinds, {"tables": [1]}, r"tables=\[1\]: expected a mapping such as"),
        (on_kinds, {"tables": {1: {}}}, "node '1' not found"),
        (on_kinds, {"cuts": "a"}, "cuts='a': expected a mapping such as"),
        (on_kinds, {"graph": 5}, "expected edges, 'rain -> wet' or pairs"),
        (on_kinds, {"graph": None, "search": "hill-climbing", "required": [1]}, "expected edges, .* not 1"),
        (
            on_kinds,
            {"graph": None, "search": "hill-climbing", "max_parents": "2"},
            "max_parents='2': expected a whole number",
        ),
        (on_kinds, {"graph": None, "search": "hill-climbing", "ess": "2"}, "ess='2': expected a number"),
    ],
)
def test_settings_of_a_wrong_kind_are_named(fit, settings, words):
    with refused(words, ValueError):
        fit(**settings)


def test_columns_of_a_mixture_are_a_list_of_names():
    for columns in ("wait", 5):
        with refused(f"columns={columns!r}: expected a list of names", ValueError):
            eo.Mixture(k=1, columns=columns).fit(frame(wait=XYZ[:, 0]))


def test_a_schema_that_is_none_is_refused_before_a_file_is_read(tmp_path):
    (tmp_path / "rows.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20)
    with refused("schema=5: expected a Schema", ValueError):
        eo.NaiveBayes(schema=5).fit(str(tmp_path / "rows.csv"), "y")


def test_columns_of_bytes_are_left_out_of_a_bridge_too():
    rows = pl.DataFrame({"x": XYZ[:, 0], "raw": [b"a", b"\xff"] * 20})
    with pytest.warns(eo.SchemaWarning, match="raw"):
        fitted = eo.NaiveLogistic().fit(rows, np.where(XYZ[:, 0] > 0.2, "p", "q"))
    assert set(fitted.model_.schema.features) == {"x"}
