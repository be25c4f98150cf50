"""Learning curves of several models, and their pictures."""

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import evenodds as eo
from command import invoke
from evenodds.audit.compare import Comparison, compare, stratified
from evenodds.audit.contenders import CONTENDERS, RidgeLogistic
from evenodds.data.decide import decide
from evenodds.data.memory import table
from evenodds.data.titanic import titanic
from evenodds.plots import learning_curves, reliability, save
from evenodds.schema import Schema


def shifted(rows=600, columns=4, correlation=0.0, seed=0):
    """Two classes of Gaussian columns, whose means differ."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    own, common = rng.normal(size=(rows, columns)), rng.normal(size=(rows, 1))
    x = np.sqrt(1 - correlation) * own + np.sqrt(correlation) * common
    return x + np.where(y[:, None] == 1, 0.5, -0.5) * np.linspace(0.2, 1.8, columns), y


MODELS = {
    "gaussian": GaussianNB(),
    "logistic": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=3, max_features=2),
}


@pytest.fixture(scope="module")
def compared():
    return compare(*shifted(), MODELS, repeats=4, sizes=[20, 80, 300])


def test_the_same_for_any_number_of_threads_and_the_same_seed(compared):
    for threads in (1, 3):
        again = compare(*shifted(), MODELS, repeats=4, sizes=[20, 80, 300], threads=threads)
        for measure in ("accuracy", "log loss"):
            assert np.array_equal(again.scores[measure], compared.scores[measure])
    other = compare(*shifted(), MODELS, repeats=4, sizes=[20, 80, 300], random_state=1)
    assert not np.array_equal(other.scores["accuracy"], compared.scores["accuracy"])


def test_the_default_models_do_not_depend_on_threads_either():
    people = titanic()
    one, two = (compare(people, "survived", repeats=2, sizes=[100, 400], threads=n) for n in (1, 2))
    assert one.models == tuple(CONTENDERS)
    assert np.array_equal(one.scores["log loss"], two.scores["log loss"])


def test_a_score_is_that_of_a_plain_fit():
    X, y = shifted()
    found = compare(X, y, {"gaussian": GaussianNB()}, repeats=3, sizes=[50, 200], random_state=7)
    order = stratified(y, np.random.default_rng([7, 2]))
    test = order[400:]
    for s, size in enumerate((50, 200)):
        plain = GaussianNB().fit(X[order[:size]], y[order[:size]])
        assert found.scores["accuracy"][0, s, 2] == plain.score(X[test], y[test])
        log = plain.predict_log_proba(X[test])[np.arange(200), y[test]]
        assert found.scores["log loss"][0, s, 2] == pytest.approx(-log.mean(), rel=1e-12)
    assert found.held_out == 200


def test_prefixes_are_stratified():
    y = np.repeat([0, 1, 2], [700, 250, 50])
    order = stratified(y, np.random.default_rng(0))
    assert sorted(order) == list(range(1000))
    for size in (20, 100, 333, 900):
        counts = np.bincount(y[order[:size]], minlength=3)
        assert np.abs(counts - size * np.array([0.7, 0.25, 0.05])).max() <= 1


def test_a_class_never_learnt_has_probability_0():
    X, y = shifted(300)
    y[:3] = 2  # two rows of which are learnt at most
    found = compare(X, y, {"gaussian": GaussianNB()}, repeats=2, sizes=[20])
    assert np.isinf(found.scores["log loss"]).any()
    assert np.isfinite(found.scores["accuracy"]).all()
    repr(found)
    assert json.loads(json.dumps(found.to_dict()))["curves"][1]["mean"] is None


def test_without_a_column():
    people = titanic()
    found = compare(people, "survived", ["naive"], repeats=3, sizes=[1000], without=["sex", "age"])
    assert found.models == ("naive", "naive without sex", "naive without age")
    accuracy = found.mean("accuracy")[:, 0]
    assert accuracy[0] > accuracy[1] + 0.02
    by_hand = compare(people.drop_columns(["sex"]), "survived", ["naive"], repeats=3, sizes=[1000])
    assert np.array_equal(found.scores["log loss"][1], by_hand.scores["log loss"][0])


@pytest.mark.parametrize("make", ["pandas", "polars", "dicts"])
def test_any_table(make):
    people = titanic()
    X = {
        "pandas": lambda: people.to_pandas(),
        "polars": lambda: __import__("polars").from_arrow(people),
        "dicts": lambda: people.to_pylist(),
    }[make]()
    found = compare(X, "survived", ["naive"], repeats=2, sizes=[200], without=["sex"])
    known = compare(people, "survived", ["naive"], repeats=2, sizes=[200], without=["sex"])
    assert np.array_equal(found.scores["accuracy"], known.scores["accuracy"])


def test_a_mapping_of_columns_is_a_table_with_the_classes_in_it_or_apart():
    people = titanic().to_pydict()
    within = compare(people, "survived", ["naive"], repeats=2, sizes=[200])
    apart = compare(people, people.pop("survived"), ["naive"], repeats=2, sizes=[200])
    assert np.array_equal(within.scores["log loss"], apart.scores["log loss"])


def curves(one, other, repeats=12, noise=0.01):
    """A comparison with these mean log losses."""
    rng = np.random.default_rng(0)
    losses = np.array([one, other])[:, :, None] + rng.normal(0, noise, (2, len(one), repeats))
    return Comparison(("a", "b"), (10, 100, 1000), 500, 1000, {"accuracy": 1 - losses, "log loss": losses})


def test_a_crossover_is_found_where_it_is():
    found = curves([0.3, 0.25, 0.25], [0.5, 0.3, 0.1])
    crossover = found.crossovers[0]
    assert (crossover.before, crossover.after) == ("a", "b")
    assert 100 < crossover.size < 1000
    assert crossover.size == pytest.approx(100 * 10**0.25, rel=0.05)  # .05 of .2 of the way
    assert crossover.sure > 0.99
    assert "b has the smaller log loss than a" in repr(found)


def test_a_crossover_is_the_same_whichever_model_is_named_first():
    found = curves([0.3, 0.25, 0.25], [0.35, 0.3, 0.1], noise=0.05)
    losses = {measure: scores[::-1] for measure, scores in found.scores.items()}
    turned = Comparison(("b", "a"), found.sizes, found.held_out, found.learnt, losses)
    assert len(found.crossovers) == 2
    for one, other in zip(found.crossovers, turned.crossovers, strict=True):
        assert (one.before, one.after, one.measure) == (other.before, other.after, other.measure)
        assert (one.size, one.sure) == pytest.approx((other.size, other.sure), rel=1e-12)


def test_errors_of_repetitions_are_nadeaus_and_bengios():
    a, b = np.array([0.5, 0.3, 0.6, 0.4]), np.array([0.52, 0.36, 0.61, 0.45])
    losses = np.stack([a, b])[:, None]
    found = Comparison(("a", "b"), (100,), 500, 1000, {"accuracy": 1 - losses, "log loss": losses})
    wider = np.sqrt(1 / 4 + 500 / 1000)  # than 1 / sqrt(4) of repetitions that share no rows
    off = stats.t.ppf(0.975, 3) * np.std(a, ddof=1) * wider
    low, high = found.interval("log loss")
    assert (low[0, 0], high[0, 0]) == pytest.approx((0.45 - off, 0.45 + off))
    gains = b - a
    sure = stats.t.cdf(gains.mean() / (np.std(gains, ddof=1) * wider), 3)
    for measure in ("accuracy", "log loss"):
        assert found.better("a", "b", measure) == pytest.approx([sure])


def test_the_smallest_size_has_two_rows_of_the_second_class():
    """60 of 600 rows are: 25 have 2.5 of them, 12 would have 1.2."""
    X = np.random.default_rng(0).normal(size=(600, 1))
    found = compare(X, np.arange(600) % 10 == 0, {"gaussian": GaussianNB()}, repeats=2)
    assert found.sizes == (25, 50, 100, 200, 400)


def test_noise_is_no_sure_crossover():
    found = curves([0.3, 0.2, 0.1], [0.3, 0.2, 0.1], repeats=8, noise=0.05)
    assert [0.5 < crossover.sure < 0.9 for crossover in found.crossovers] == [True, True]
    assert "overtakes" not in json.dumps(learning_curves(found))
    apart = curves([0.3, 0.2, 0.1], [0.5, 0.4, 0.3])
    assert apart.crossovers == []
    assert (apart.better("a", "b") > 0.99).all()


def test_an_infinite_loss_is_the_worse_one():
    losses = np.full((2, 3, 4), 0.5)
    losses[0] = np.inf
    found = Comparison(("a", "b"), (10, 100, 1000), 500, 1000, {"accuracy": 1 - losses / 2, "log loss": losses})
    assert found.better("a", "b").tolist() == [0, 0, 0]
    assert found.better("b", "a").tolist() == [1, 1, 1]
    assert found.table("log loss")[0] == {"rows": 10, "a": "inf", "b": "0.5000 ± 0.0000 *"}


def test_better_is_a_probability_that_the_other_has_the_rest_of(compared):
    for measure in ("accuracy", "log loss"):
        one = compared.better("gaussian", "tree", measure)
        assert one + compared.better("tree", "gaussian", measure) == pytest.approx(1)


def test_intervals_hold_what_other_rows_of_the_kind_would_give():
    """The mean at one size, over many sets of rows, lies in the interval of one set in about 95 %: no less, no more."""
    how = {"models": {"g": GaussianNB()}, "sizes": [100]}
    others = [compare(*shifted(300, seed=seed), repeats=2, **how).mean("accuracy") for seed in range(1000, 1080)]
    truth = np.mean(others)
    inside = 0
    for seed in range(200):
        low, high = compare(*shifted(300, seed=seed), repeats=6, **how).interval("accuracy")
        inside += low[0, 0] < truth < high[0, 0]
    assert 182 <= inside <= 196


def test_an_interval_does_not_depend_on_the_other_sizes(compared):
    alone = compare(*shifted(), MODELS, repeats=4, sizes=[80])
    for measure in ("accuracy", "log loss"):
        for end, other in zip(alone.interval(measure), compared.interval(measure)):
            assert np.array_equal(end[:, 0], other[:, 1], equal_nan=True)
    assert alone.better("gaussian", "tree")[0] == compared.better("gaussian", "tree")[1]


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"sizes": [5000]}, "expected 2 to 400, the rows not held out"),
        ({"repeats": 1}, "2 or more"),
        ({"sizes": []}, "no sizes: expected 2 to 400, the rows not held out"),
        ({"models": ["naive", "guess"]}, "model 'guess' not found; the models are 'naive'"),
        ({"models": ["naiv"]}, "did you mean 'naive'"),
        ({"models": {}}, "no model to compare"),
        ({"models": [GaussianNB()]}, "models: expected names, such as \\['naive'\\], or estimators by name"),
        ({"models": GaussianNB()}, "models: expected names"),
        ({"models": ["naive"], "without": ["x9"]}, "'x9' not found"),
    ],
)
def test_what_cannot_be_compared(how, error):
    with pytest.raises(ValueError, match=error):
        compare(*shifted(), **how)


@pytest.mark.parametrize("models", [["naive"], {"gaussian": eo.NaiveBayes(eo.Gaussian)}, {"peer": GaussianNB()}])
def test_a_table_without_its_only_column_is_nothing_to_compare(models):
    X, y = shifted(columns=1)
    with pytest.raises(eo.DataError, match="without 'x0' there is no column left to learn from"):
        compare(X, y, models, without=["x0"])


def test_one_name_may_stand_alone():
    found = compare(titanic(), "survived", "naive", without="sex", sizes=[50], repeats=2)
    assert found.models == ("naive", "naive without sex")


def test_one_class_is_nothing_to_compare():
    with pytest.raises(ValueError, match="only one class"):
        compare(np.ones((30, 2)), np.ones(30), ["naive"])


def test_two_rows_are_too_few_to_compare():
    with pytest.raises(ValueError, match="2 rows are too few"):
        compare(np.ones((2, 2)), [0, 1], ["naive"])


# -- the opponent ----------------------------------------------------------------------------------------------------


def test_the_ridge_is_that_of_scikit_learn():
    X, y = shifted()
    found = RidgeLogistic(Schema(decide(table(X)), "class")).fit(X, y)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    known = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(z, y)
    assert found.predict_proba(X) == pytest.approx(known.predict_proba(z), abs=1e-6)
    assert np.array_equal(found.predict(X), known.predict(z))


def test_the_opponent_takes_holes_and_strangers():
    rows = [{"n": 1.0, "c": "a"}, {"n": None, "c": "b"}, {"n": 3.0, "c": None}, {"n": 4.0, "c": "b"}] * 5
    y = ["u", "v", "w", "v"] * 5
    model = RidgeLogistic(Schema(decide(table(rows)), "class")).fit(rows, y)
    p = model.predict_proba([{"n": 2.0, "c": "never seen"}, {"n": None, "c": None}])
    assert np.isfinite(p).all()
    assert p.sum(axis=1) == pytest.approx(1)


def test_text_leaves_the_logistic_regression_out():
    from evenodds.data.messages import messages

    with pytest.warns(UserWarning, match="column 'text' is text: logistic regression is left out"):
        found = compare(messages(), "label", ["naive", "logistic"], repeats=2, sizes=[100])
    assert found.models == ("naive",)


# -- pictures --------------------------------------------------------------------------------------------------------


def pictures(compared):
    from evenodds.audit.metrics import Metrics, tally

    X, y = shifted()
    model = GaussianNB().fit(X[:300], y[:300])
    m = Metrics.of(tally(y[300:], model.predict_log_proba(X[300:]), [0, 1]), [0, 1])
    yield learning_curves(compared, {"accuracy": 0.8})
    yield reliability({"as learnt": m.reliability[0], "again": m.reliability[0]})


def test_pictures_are_plain_dictionaries(compared, tmp_path):
    curves, honest = pictures(compared)
    titles = [panel["layer"][0]["encoding"]["y"]["axis"]["title"] for panel in curves["vconcat"]]
    assert titles == ["accuracy", "log loss"]
    assert json.dumps(curves).count("the best there is") == 1
    labels = [end["at"] for end in curves["vconcat"][0]["layer"][2]["data"]["values"]]
    low, high = curves["vconcat"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert np.diff(labels).min() >= 0.07 * (high - low)  # names do not cover each other
    assert low <= min(labels)
    assert max(labels) <= high
    save(honest, tmp_path / "honest.json")
    assert json.loads((tmp_path / "honest.json").read_text()) == honest
    with pytest.raises(ValueError, match=r"ends with \.json, \.svg, \.png, \.html"):
        save(honest, tmp_path / "honest.pdf")


def test_pictures_can_be_drawn(compared, tmp_path):
    pytest.importorskip("vl_convert")
    for i, picture in enumerate(pictures(compared)):
        for kind, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!DOCTYPE html>")):
            save(picture, tmp_path / f"{i}{kind}")
            written = (tmp_path / f"{i}{kind}").read_bytes()
            assert written.lstrip().startswith(start)
            assert b'src="http' not in written  # nothing is fetched
    drawn = (tmp_path / "0.svg").read_bytes()
    assert all(name.encode() in drawn for name in MODELS)


def test_without_vl_convert_it_is_said_how_to_get_it(compared, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    with pytest.raises(ValueError, match=r"pip install 'evenodds\[plots\]'"):
        save(learning_curves(compared), tmp_path / "curves.svg")
    assert not (tmp_path / "curves.svg").exists()


# -- the command line ------------------------------------------------------------------------------------------------


def test_the_command(tmp_path):
    def run(*words, code=0):
        return invoke(*words, code=code).output

    data, picture = tmp_path / "people.csv", tmp_path / "curves.json"
    run("demo", "--csv", data)
    how = ["compare", data, "-t", "survived", "--models", "naive", "--repeats", 2]
    how += ["--without", "sex", "--sizes", "100,400"]
    found = json.loads(run(*how, "--plot", picture, "--json"))
    assert [row["model"] for row in found["curves"]][:4] == ["naive", "naive", "naive without sex", "naive without sex"]
    assert json.loads(picture.read_text())["vconcat"]
    library = compare(titanic(), "survived", ["naive"], repeats=2, sizes=[100, 400])
    assert found["curves"][1]["mean"] == pytest.approx(library.mean("accuracy")[0, 1], rel=1e-11)
    assert "734 rows held out, 2 repetitions" in run(*how)
    assert "--sizes: expected whole numbers" in run(*how[:-1], "a", code=2)
    assert "model 'guess' not found" in run("compare", data, "-t", "survived", "--models", "guess", code=2)
    assert "ends with .svg" in run(*how, "--plot", tmp_path / "a.pdf", code=2)
    with open(data, "a") as file:
        file.write("1st,male\n")
    assert "note: 1 row has the wrong number of cells" in run(*how)
    assert json.loads(invoke(*how, "--json").stdout)["report"]["rows_with_wrong_number_of_cells"]["count"] == 1


def test_it_is_exported():
    assert eo.compare is compare
