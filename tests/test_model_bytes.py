"""A model as bytes: read back, it is the same model, and nothing else is a model."""

import dataclasses

import numpy as np
import pytest

import evenodds as eo
from evenodds import file
from evenodds.families import FAMILIES, PRIORS, WordCounts, ZeroAndLog
from evenodds.labels import Fixed, Labels
from evenodds.models import header
from evenodds.models.settings import Settings
from evenodds.tally import Leaf
from tables import fitted

TABLES = [family for family in FAMILIES.values() if family is not WordCounts]  # words: test_words.py
ROWS = [
    {"colour": "red", "age": 30.5, "kicks": 0, "flag": "yes", "year": 1999.0, "fare": 0.0},
    {"colour": "blue", "age": None, "kicks": 2, "flag": "no", "year": 2003.0, "fare": 7.5},
    {"colour": "red", "age": 41.0, "kicks": 1, "flag": None, "year": 2010.0, "fare": 80.0},
    {"colour": None, "age": 29.0, "kicks": 5, "flag": "no", "year": 2001.0, "fare": 13.0},
    {"colour": "blue", "age": 35.0, "kicks": 1, "flag": "yes", "year": 1985.0, "fare": 26.0},
] * 4
Y = ["x", "y", "x", "y", "x"] * 4
COLUMNS = {
    "colour": eo.Column(eo.Categorical, prior=eo.Dirichlet({"red": 2, "green": 1})),
    "age": eo.Column(eo.Gaussian, variance="pooled", prior=eo.NormalInverseGamma(30.0, 1.0, 1.0, 50.0)),
    "kicks": eo.Column(eo.Poisson, prior=eo.Gamma(2.0, 1.0)),
    "flag": eo.Column(eo.Bernoulli, prior=eo.Beta(2, 3), smoothing=3.0),
    "year": eo.Column(eo.Binned, origin=2000.0, bins=3),
    "fare": eo.LogGaussian,
}
SETTINGS = [
    {},
    {"estimate": "mean", "smoothing": 2.0, "prior": "flat", "unseen": "prior", "class_prior": "uniform"},
    {"class_prior": {"x": 0.25, "y": 0.75}, "class_weight": {"x": 2.0}},
    {"class_prior": eo.Dirichlet(1.0), "class_weight": "balanced"},
    {"class_prior": eo.Dirichlet({"x": 3.0, "y": 1.0})},
    {"class_prior": [0.25, 0.75], "smoothing": np.float32(0.5)},
    {"class_prior": np.array([0.25, 0.75])},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 20)], ids=["rows", "weighted"])
def test_a_model_read_back_is_the_same_model(settings, weights):
    nb = eo.NaiveBayes(COLUMNS, **settings).fit(ROWS, Y, weights)
    back = eo.Model.from_bytes(nb.model_.to_bytes())
    assert back == nb.model_
    assert back.to_bytes() == nb.model_.to_bytes()
    np.testing.assert_array_equal(back.log_proba(ROWS), nb.model_.log_proba(ROWS))


@pytest.mark.parametrize("family", TABLES, ids=lambda family: family.name)
@pytest.mark.parametrize(
    "how",
    [{}, {"prior": True}, {"smoothing": "auto"}, {"smoothing": 0.5, "bins": 3, "origin": 7.0}, {"variance": 2.5}],
    ids=str,
)
def test_every_family_and_every_setting_of_a_column(family, how):
    how = how | ({"prior": family.flat_prior(2.0)} if "prior" in how else {})
    x = [0, 1, 1, 0, 1, 0, 0, 1]
    schema = eo.Schema({"x": eo.Column(family, **how), "left out": eo.Column(role="ignore")}, "class")
    model = eo.Model(schema, eo.Tally.nothing()).learn({"x": x}, np.array(["a", "b"] * 4))
    back = eo.Model.from_bytes(model.to_bytes())
    assert back == model
    np.testing.assert_array_equal(back.log_proba({"x": x}), model.log_proba({"x": x}))


@pytest.mark.parametrize(
    ("kind", "y"),
    [
        ("text", ["a", "ü", "a b", "1"]),
        ("int", [3, -1, 0, 2**62]),
        ("float", [0.5, -1.0, 1e22, 0.1]),
        ("bool", [True, False, True, False]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_type_of_target(kind, y):
    nothing = eo.Model(eo.Schema({"x": eo.Column(eo.Gaussian)}, "y", kind), eo.Tally.nothing())
    model = nothing.learn({"x": [1.0, 2.0, 3.0, 4.0]}, np.array(y))
    back = eo.Model.from_bytes(model.to_bytes())
    assert back == model
    assert back.classes.tolist() == sorted(set(y))


def test_a_model_of_no_rows():
    nothing = eo.Model(eo.Schema({"x": eo.Column(eo.Gaussian)}, "y"), eo.Tally.nothing())
    assert eo.Model.from_bytes(nothing.to_bytes()) == nothing
    forgotten = nothing.learn({"x": [1.0]}, ["a"]).forget({"x": [1.0]}, ["a"])
    assert eo.Model.from_bytes(forgotten.to_bytes()).learn({"x": [1.0]}, ["a"]).rows == 1


def test_a_model_of_the_classes_alone():
    none = eo.Model(eo.Schema({"a": eo.Column(role="ignore")}, "y"), eo.Tally.nothing())
    for model in (none, none.learn({"a": [1, 2, 3]}, ["u", "v", "u"])):
        assert eo.Model.from_bytes(model.to_bytes()) == model


def test_it_goes_on_learning_adding_and_forgetting():
    one, two = eo.NaiveBayes(COLUMNS).fit(ROWS[:8], Y[:8]), eo.NaiveBayes(COLUMNS).fit(ROWS[8:], Y[8:])
    back = eo.Model.from_bytes(one.model_.to_bytes())
    assert back + two.model_ == one.model_ + two.model_
    assert (back + two.model_ - one.model_).rows == 12
    assert back.learn(ROWS[8:], Y[8:]).forget(ROWS[8:], Y[8:]).rows == 8
    assert eo.NaiveBayes.of(back).predict(ROWS).tolist() == one.predict(ROWS).tolist()


def test_a_file_is_saved_and_loaded_by_the_model_the_estimator_and_the_package(tmp_path):
    nb = fitted(class_weight={"lo": 2.0})
    path = tmp_path / "level.eo"
    nb.save(path)
    assert path.read_bytes() == nb.model_.to_bytes()
    assert eo.load(path) == eo.Model.load(str(path)) == nb.model_
    back = eo.NaiveBayes.load(path)
    assert isinstance(back, eo.NaiveBayes)
    assert back.model_ == nb.model_
    assert back.get_params()["class_weight"] == {"lo": 2.0}
    nb.model_.save(path)
    assert eo.load(path) == nb.model_


def test_an_estimator_that_has_learnt_nothing_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        eo.NaiveBayes().save(tmp_path / "level.eo")


def test_every_field_of_a_column_and_of_the_settings_can_be_read():
    assert header.COLUMN.keys() == {field.name for field in dataclasses.fields(eo.Column)}
    assert header.SETTINGS.keys() == {field.name for field in dataclasses.fields(Settings)}
    assert {type(family.flat_prior()) for family in TABLES} == set(PRIORS.values())


def test_what_would_not_come_back_is_not_written(tmp_path):
    path = tmp_path / "model.eo"
    path.write_bytes(b"old")
    nothing = eo.Tally.nothing()
    for column, words in [
        (
            eo.Column(eo.Bernoulli, prior=eo.Quadrature(eo.Bernoulli, lambda p: p)),
            "of the kind Quadrature cannot be written",
        ),
        (eo.Column(eo.Bernoulli, prior=eo.Beta(np.array([1.0, 2.0]), 1.0)), "a ndarray cannot be written"),
        (eo.Column(eo.Bernoulli, prior=eo.Gamma(1.0, 1.0)), "expected a prior of the kind Beta|has no 'a'"),
        (eo.Column(eo.Bernoulli, prior=eo.Beta(1e101, 1.0)), "expected a number up to 1e\\+100, got 1e\\+101"),
        (eo.Column(eo.Binned, prior=eo.Binned.posterior([1.0, 2.0])), "a Dirichlet with a number for each"),
    ]:
        model = eo.Model(eo.Schema({"x": column}, "y"), nothing)
        with pytest.raises(eo.DataError, match=f"the model cannot be saved: column 'x': .*({words})"):
            model.save(path)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 nonsense"])
def test_what_is_no_model_is_refused_in_words(data):
    with pytest.raises(eo.DataError, match="is not an evenodds model"):
        eo.Model.from_bytes(data)


def test_a_tally_is_no_model_and_a_model_no_tally():
    with pytest.raises(eo.DataError, match="is not an evenodds model: it holds a 'tally'"):
        eo.Model.from_bytes(eo.Bernoulli.tally([1, 0]).to_bytes())
    with pytest.raises(eo.DataError, match="not a tally: the run of bytes holds something else"):
        eo.Tally.from_bytes(fitted().model_.to_bytes())


# Files that are whole, and not what a model is


def model():
    columns = COLUMNS | {
        "fare": eo.Column(eo.LogGaussian),
        "day": eo.Column(eo.Categorical, parts=("month",), source="d"),
    }
    rows = {name: [row[name] for row in ROWS] for name in ROWS[0]} | {"d": ["2024-03-01"] * 20}
    return eo.Model(eo.Schema(columns, "class"), eo.Tally.nothing()).learn(rows, np.array(Y))


def column(header, name):
    return next(column for column in header["schema"]["columns"] if column["name"] == name)


def leaf(header, column, leaf):
    return next(i for i, at in enumerate(header["tally"]["leaves"]) if (at["column"], at["leaf"]) == (column, leaf))


def put(mapping, **values):
    mapping.update(values)


def keys(header, column, name):
    return f"axis{leaf(header, column, name)}.keys"


def weighted(arrays, low=0.0, high=None):
    """Counts as double-doubles, one of them spoilt."""
    arrays["counts"] = np.stack([arrays["counts"].astype(float), np.zeros(len(arrays["counts"]))])
    arrays["counts"][1, 0] = low
    if high is not None:
        arrays["counts"][0, 0] = high


FORGED = {
    "no schema": (lambda a, h: h.pop("schema"), "its header has no 'schema'"),
    "something more": (lambda a, h: put(h, more=1), "its header has an unknown 'more'"),
    "rows of the wrong number": (lambda a, h: put(h, rows=21), "its header counts 21 rows, its tally 20"),
    "rows of the wrong type": (lambda a, h: put(h, rows="20"), "expected a number .*, got '20'"),
    "a schema that is a list": (lambda a, h: put(h, schema=[]), r"its schema is no object but \[\]"),
    "columns that are no list": (lambda a, h: put(h["schema"], columns={}), "expected a list"),
    "a column twice": (lambda a, h: h["schema"]["columns"].append(column(h, "age")), "column 'age' occurs twice"),
    "a name that is no text": (lambda a, h: put(column(h, "age"), name=3), "expected a text, got 3"),
    "a column without a name": (lambda a, h: column(h, "age").pop("name"), "its column has no 'name'"),
    "a target that is no text": (lambda a, h: put(h["schema"], target=None), "expected a text, got None"),
    "an unknown type of target": (lambda a, h: put(h["schema"], target_kind="date"), "unknown type 'date'"),
    "classes that are no integers": (lambda a, h: put(h["schema"], target_kind="int"), "its class '[xy]' is no int"),
    "classes that are no numbers": (lambda a, h: put(h["schema"], target_kind="float"), "its class '[xy]' is no float"),
    "classes that are no truths": (lambda a, h: put(h["schema"], target_kind="bool"), "its class '[xy]' is no bool"),
    "an unknown family": (lambda a, h: put(column(h, "age"), family="os.system"), "unknown family 'os.system'; the"),
    "a family that is no text": (lambda a, h: put(column(h, "age"), family=["gaussian"]), "expected a text, got"),
    "a feature of no family": (lambda a, h: column(h, "fare").pop("family"), "column 'fare': it has no family"),
    "a prior of no family": (lambda a, h: column(h, "kicks").pop("family"), "it has a prior and no family"),
    "another family": (lambda a, h: put(column(h, "fare"), family="poisson"), "'fare' has (no|an unknown) leaf"),
    "another role": (lambda a, h: put(column(h, "fare"), role="ignore"), "its column 'fare' has an unknown leaf"),
    "an unknown role": (lambda a, h: put(column(h, "fare"), role="target"), "column 'fare': .*role='target'"),
    "a column more": (
        lambda a, h: h["schema"]["columns"].append({"name": "more", "family": "bernoulli"}),
        "its column 'more' has no leaf 'sides'",
    ),
    "bins that are no integer": (lambda a, h: put(column(h, "year"), bins=2.5), "expected an integer, got 2.5"),
    "no bins": (lambda a, h: put(column(h, "year"), bins=0), "bins=0"),
    "an origin of infinity": (lambda a, h: put(column(h, "year"), origin=1e101), "a number up to 1e.100, got 1e.101"),
    "a variance below zero": (lambda a, h: put(column(h, "age"), variance=-1), "variance=-1"),
    "smoothing below zero": (lambda a, h: put(column(h, "age"), smoothing=-1), "smoothing=-1"),
    "smoothing that is true": (lambda a, h: put(column(h, "age"), smoothing=True), "expected a number .* got True"),
    "unknown parts": (lambda a, h: put(column(h, "day"), parts=["second"]), "parts="),
    "parts that are no list": (lambda a, h: put(column(h, "day"), parts="month"), "expected a list, got 'month'"),
    "a source without parts": (lambda a, h: column(h, "day").pop("parts"), "it is not one part of a date"),
    "an unknown field": (lambda a, h: put(column(h, "age"), colour="red"), "its column has an unknown 'colour'"),
    "the prior of another family": (
        lambda a, h: put(column(h, "age"), prior={"prior": "Beta", "a": 1, "b": 1}),
        "column 'age': its prior has no",
    ),
    "a prior of another name": (lambda a, h: put(column(h, "flag")["prior"], prior="Bet"), "kind Beta, got 'Bet'"),
    "a prior by class": (lambda a, h: put(column(h, "flag")["prior"], a=[1, 2]), r"expected a number .* got \[1, 2\]"),
    "a prior below zero": (lambda a, h: put(column(h, "flag")["prior"], a=-1), "a=-1: the pseudo-counts"),
    "an empty concentration": (
        lambda a, h: put(column(h, "year"), prior={"prior": "Dirichlet", "concentration": []}),
        "got an empty list",
    ),
    "a concentration of texts": (
        lambda a, h: put(column(h, "colour")["prior"], concentration={"by": {"red": "2"}}),
        "expected a number .* got '2'",
    ),
    "a concentration by nothing": (
        lambda a, h: put(column(h, "colour")["prior"], concentration={"by": [1]}),
        r"expected numbers by name, got \[1\]",
    ),
    "priors in a prior": (
        lambda a, h: put(column(h, "fare"), prior={"prior": "ZeroAndLog", "zero": {"prior": "ZeroAndLog"}, "log": 1}),
        "its prior has no 'a'|expected a prior of the kind Beta",
    ),
    "an unknown setting": (lambda a, h: put(h["settings"], colour="red"), "its settings has an unknown 'colour'"),
    "an unknown estimate": (lambda a, h: put(h["settings"], estimate="best"), "estimate='best'"),
    "an estimate that is a list": (lambda a, h: put(h["settings"], estimate=["mle"]), "setting 'estimate': expected"),
    "a class prior of texts": (lambda a, h: put(h["settings"], class_prior=["0.5"]), "setting 'class_prior': expected"),
    "a class prior of no kind": (
        lambda a, h: put(h["settings"], class_prior={"prior": "Beta", "a": 1, "b": 1}),
        "setting 'class_prior': its prior has no",
    ),
    "a class weight below zero": (lambda a, h: put(h["settings"], class_weight={"by": {"x": -1}}), "class_weight="),
    "a class weight that overflows": (
        lambda a, h: put(h["settings"], class_weight={"by": {"x": 1e90}}),
        "its class weights make more rows than can be counted",
    ),
    "a number next to nothing": (
        lambda a, h: put(column(h, "age"), variance=1e-308),
        "expected 0 or a number from 1e-100",
    ),
    "a class weight of a list": (lambda a, h: put(h["settings"], class_weight=[1, 2]), "its mapping is no object"),
    "a leaf less": (lambda a, h: h["tally"]["leaves"].pop(), "its numbers do not fit|belongs nowhere"),
    "a leaf of another column": (
        lambda a, h: put(h["tally"]["leaves"][leaf(h, "age", "rows")], column="aged"),
        "its column 'aged?' has (no|an unknown) leaf 'rows'",
    ),
    "a leaf that is a sum": (
        lambda a, h: put(h["tally"]["leaves"][leaf(h, "age", "rows")], sum=True),
        "its numbers do not fit",
    ),
    "a leaf of another axis": (
        lambda a, h: put(h["tally"]["leaves"][leaf(h, "age", "rows")], axis="grid"),
        "leaf 'rows' of its column 'age' is of the wrong kind",
    ),
    "classes without names": (
        lambda a, h: (
            [put(h["tally"], groups="fixed"), a.pop("groups.blob"), a.pop("groups.ends")]
            and put(a, **{"groups.keys": Fixed(2).keys})
        ),
        "its classes have no names",
    ),
    "a class of another key": (
        lambda a, h: put(a, **{"groups.keys": a["groups.keys"] + np.arange(2, dtype=np.uint64)}),
        "the keys of its classes are not those of their names",
    ),
    "a bin beyond all numbers": (
        lambda a, h: a.update({keys(h, "year", "histogram"): a[keys(h, "year", "histogram")] + 262_016}),
        "leaf 'histogram' of its column 'year' has a bin of no finite number",
    ),
    "counts below zero": (lambda a, h: put(a, counts=a["counts"] - 50), "less than nothing"),
    "counts that overflow": (lambda a, h: put(a, counts=a["counts"] + 2**60), "more than can be"),
    "a class without rows": (lambda a, h: put(a, counts=a["counts"] * 0), "it has a class without rows"),
    "counts out of shape": (lambda a, h: weighted(a, low=1.0), "counts that are no numbers of rows"),
    "counts that are no numbers": (lambda a, h: weighted(a, high=np.nan), "counts that are no numbers of rows"),
    "endless counts": (lambda a, h: weighted(a, high=np.inf), "counts that are no numbers of rows"),
    "too large counts": (lambda a, h: weighted(a, high=1e201), "counts that are no numbers of rows"),
    "weighted counts below zero": (lambda a, h: weighted(a, high=-1.0), "counts that are no numbers of rows"),
    "sums that are no numbers": (lambda a, h: put(a, sums=a["sums"] * np.nan), "it has sums that are no numbers"),
    "endless sums": (lambda a, h: put(a, sums=a["sums"] + np.inf), "it has sums that are no numbers"),
    "sums out of shape": (lambda a, h: put(a, sums=a["sums"][::-1]), "it has sums that are no numbers"),
    "texts cut within a letter": (
        lambda a, h: put(a, **{"groups.blob": np.frombuffer("ü".encode(), np.uint8)}),
        "the texts of groups are cut within a letter",
    ),
    "an array that belongs nowhere": (lambda a, h: put(a, more=np.zeros(3)), "belongs nowhere, 'more'"),
    "a fixed axis with gaps": (
        lambda a, h: a.update({keys(h, "flag", "sides"): np.array([0, 2], np.int32)}),
        "are not 0, 1, 2, …",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_no_schema_would_have_summed_is_refused(what):
    change, words = FORGED[what]
    arrays, header = file.unpack(model().to_bytes())
    assert eo.Model.from_bytes(file.pack(arrays, header)) == model()
    change(arrays, header)
    with pytest.raises(file.FileError, match=f"^the run of bytes is not an evenodds model: .*{words}"):
        eo.Model.from_bytes(file.pack(arrays, header))


def test_many_classes_one_of_them_with_an_endless_name_are_refused():
    """Numpy would give each of them the room of the longest: 20 GB for a file of one megabyte."""
    texts = [*map(str, range(10_000)), "x" * 500_000]
    groups = Labels.of(texts)
    ones = Leaf(Fixed(1), np.ones((1, len(groups)), np.int64))
    forged = eo.Model(eo.Schema({}, "y"), eo.Tally.of(groups, {("", "classes"): ones}))
    with pytest.raises(eo.DataError, match="its 10,001 classes have names of up to 500,000 bytes"):
        forged.to_bytes()


def test_weights_of_any_size_come_back():
    rows = {"x": [1.0, 2.0, 5.0, 9.0], "c": ["a", "b", "a", "c"]}
    schema = eo.Schema({"x": eo.Column(eo.Binned), "c": eo.Column(eo.Categorical)}, "y")
    nothing = eo.Model(schema, eo.Tally.nothing())
    for weights in ([1e-12, 0.1, 1 / 3, 1e12], [1e40, 1.0, 1e-40, 3.0], [2**40, 1, 3, 2**30]):
        model = nothing.learn(rows, np.array(["u", "v", "u", "v"]), weights).set(class_weight={"u": 2.0})
        for changed in (model, model + model, model.fade(0.1), model.fade(1 / 3) + model):
            assert eo.Model.from_bytes(changed.to_bytes()).to_bytes() == changed.to_bytes()


def test_settings_in_any_form_are_one_setting():
    assert Settings(class_prior={0: 0.25, 1: 0.75}) == Settings(class_prior={"0": 0.25, 1.0: np.float64(0.75)})
    assert Settings(class_prior=[0.25, 0.75]) == Settings(class_prior=np.array([0.25, 0.75]))
    for nonsense in (0.5, ["x"], {"a": "b"}, object(), None):
        with pytest.raises(ValueError, match=r"class_prior=.*: expected 'auto', 'estimated', 'uniform', or prob"):
            Settings(class_prior=nonsense)


def test_the_prior_of_a_log_gaussian_comes_back():
    prior = ZeroAndLog(eo.Beta(1, 2), eo.NormalInverseGamma(1.0, 2.0, 3.0, 4.0))
    model = eo.Model(eo.Schema({"x": eo.Column(eo.LogGaussian, prior=prior)}, "y"), eo.Tally.nothing())
    assert eo.Model.from_bytes(model.to_bytes()).schema.columns["x"].prior == prior
