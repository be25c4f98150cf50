"""Pictures are made of the numbers, and vl-convert can draw each of them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import evenodds as eo
from evenodds import plots
from evenodds.audit.judge import tally
from evenodds.audit.metrics import Metrics
from evenodds.audit.ranked import Scores, scores
from evenodds.audit.reliability import Reliability
from evenodds.audit.shift import drift
from evenodds.models.bayes_net.picture import picture
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.explanation import Explanation, Term
from evenodds.models.glm.notes import RegressionWarning
from evenodds.models.learnt import Tables
from evenodds.models.mixture.blocks import Block
from evenodds.plots.model import labelled, scales
from evenodds.plots.save import svg
from evenodds.plots.style import told

APART, SIDES = [[0.0, 0], [1, 0], [0, 1], [3, 3], [4, 3], [3, 4]], [0, 0, 0, 1, 1, 1]


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    rows = {"x": rng.normal(y), "color": np.where(rng.random(400) < 0.3 + 0.4 * y, "red", "blue").tolist()}
    model = eo.NaiveBayes().fit(rows, y)
    log_p = model.predict_log_proba(rows)
    judged = tally(y, log_p, model.classes_)
    audited = eo.Audit(by="color").of_predictions(y, rows["color"], scores=np.exp(log_p[:, 1]))
    plane = rng.normal(size=(200, 2)) + y[:200, None]
    flat = eo.NaiveBayes(columns=eo.Gaussian).fit(plane, y[:200])
    spam = eo.NaiveBayes(columns={"text": eo.Words()}).fit(
        {"text": ["free prize"] * 9 + ["lunch now"] * 9}, [1] * 9 + [0] * 9
    )
    of = scores(judged, "1")
    return {
        "roc": plots.roc(of, "1", 0.4),
        "precision_recall": plots.precision_recall(of, "1"),
        "confusion": plots.confusion(Metrics.of(judged, [0, 1]).confusion),
        "waterfall": plots.waterfall(model.explain({"x": [1.0], "color": ["red"]})[0]),
        "nomogram": plots.nomogram(model.model_),
        "words": plots.words(Tables(spam.model_)["text"], spam.model_.schema.target),
        "groups": plots.groups(audited, "TPR"),
        "drifted": plots.drifted(drift(rows, {**rows, "x": rows["x"] + 1})),
        "boundary": plots.boundary(flat, plane, y[:200]),
        "margin": plots.boundary(eo.LinearSeparator().fit(APART, SIDES), APART, SIDES),
        "model": model,
        "audited": audited,
        "scores": of,
    }  # fmt: skip


@pytest.mark.parametrize(("sizes", "said"), [((20,), "20 rows"), ((20, 20), "20 rows each"), ((20, 30), "50 rows")])
def test_how_many_rows_a_picture_of_honesty_is_of(sizes, said):
    """Of two groups of one size there are as many rows in each."""
    rng = np.random.default_rng(0)
    found = {}
    for n in sizes:
        y, p = np.arange(n) % 2, rng.uniform(0.2, 0.8, n)
        found[f"{len(found)}"] = Reliability("1", scores(tally(y, np.log(np.column_stack([1 - p, p])), [0, 1]), "1"))
    assert plots.reliability(found)["title"]["subtitle"].startswith(f"{said};")


@pytest.mark.parametrize("rows", [2000, 2001, 3999, 4001])
def test_a_picture_of_a_mixture_has_so_many_points_at_most(rows):
    x = np.random.default_rng(0).normal(size=(rows, 2))
    model = eo.Mixture(k=1, random_state=0).fit(x[:100]).model_
    points, _ = plots.mixture(model, Block([x[:, 0], x[:, 1]], np.ones(rows)))["vconcat"][0]["layer"]
    assert 1000 <= len(points["data"]["values"]) <= 2000


PICTURES = [
    "roc",
    "precision_recall",
    "confusion",
    "waterfall",
    "nomogram",
    "words",
    "groups",
    "drifted",
    "boundary",
    "margin",
]


@pytest.mark.parametrize("name", PICTURES)
def test_it_can_be_drawn(made, name):
    drawn = svg(made[name], name)
    assert drawn.startswith("<svg")
    assert "NaN" not in drawn
    assert f'id="{name}-' in drawn or 'id="' not in drawn
    assert drawn.count("<path") > 3


def test_the_mark_is_at_the_threshold(made):
    of, picture = made["scores"], made["roc"]
    above = of.odds >= np.log(0.4 / 0.6)
    [mark] = picture["layer"][2]["data"]["values"]
    assert mark["y"] == pytest.approx(of.own[above].sum() / of.own.sum())
    assert mark["x"] == pytest.approx(of.rest[above].sum() / of.rest.sum())


def test_curves_go_through_their_points_the_surest_rows_first():
    """Of the class 1, 1 and 2 rows at three scores, of the rest 2, 1 and 1."""
    of = Scores(np.array([-1.0, 0, 1]), np.array([1.0, 1, 2]), np.array([2.0, 1, 1]))
    for drawn, points in (
        (plots.roc(of, "c"), [(0, 0), (1 / 4, 2 / 4), (2 / 4, 3 / 4), (1, 1)]),
        (plots.precision_recall(of, "c"), [(2 / 4, 2 / 3), (3 / 4, 3 / 5), (1, 4 / 8)]),
    ):
        line = sorted(drawn["layer"][1]["data"]["values"], key=lambda point: point["order"])
        assert [(point["x"], point["y"]) for point in line] == points


class Slanted:
    """Decides by whether the first column is more than twice the second."""

    classes_ = np.array(["less", "more"])

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(2 * X[:, 1] - X[:, 0]))
        return np.column_stack([1 - p, p])


def test_each_cell_of_a_boundary_has_the_class_that_is_said_there():
    drawn = plots.boundary(Slanted(), np.array([[0.0, -5], [9.0, 6]]), ["less", "more"])
    cells = drawn["layer"][0]["data"]["values"]
    middles = np.array([[cell["a"] + cell["b"], cell["c"] + cell["d"]] for cell in cells]) / 2
    p = Slanted().predict_proba(middles)
    assert [cell["class"] for cell in cells] == Slanted.classes_[p.argmax(axis=1)].tolist()
    assert [cell["sure"] for cell in cells] == np.where(p.max(axis=1) >= 0.75, "sure", "unsure").tolist()
    ends = middles.min(axis=0).round(1).tolist(), middles.max(axis=0).round(1).tolist()
    assert ends == ([-0.4, -5.5], [9.4, 6.5])


def test_no_mark_where_no_row_reaches_the_threshold(made):
    of = made["scores"]
    drawn = plots.precision_recall(of, "1", 0.4)
    [mark] = drawn["layer"][2]["data"]["values"]
    hits, alarms = of.above(0.4)
    assert mark == {"x": hits / of.own.sum(), "y": hits / (hits + alarms)}
    beyond = plots.precision_recall(of, "1", 1 - 1e-12)
    assert beyond["layer"][2]["data"]["values"] == []
    assert "no row reaches the threshold" in beyond["title"]["subtitle"]
    assert svg(beyond, "beyond").startswith("<svg")


def test_a_waterfall_ends_at_the_total(made):
    rows = made["waterfall"]["data"]["values"]
    assert rows[-2]["stop"] == pytest.approx(rows[-1]["stop"])


def test_a_waterfall_has_the_lines_of_its_explanation(made):
    many = eo.NaiveBayes().fit({f"c{j}": [0.0, 1, 1, 0] * 5 for j in range(30)}, [0, 1] * 10)
    for model, row in (
        (made["model"], {"x": [None], "color": ["red"]}),
        (many, {f"c{j}": [j % 2] for j in range(30)}),
    ):
        [said] = model.explain(row)
        rows = plots.waterfall(said)["data"]["values"]
        assert [step["what"] for step in rows] == [*(text for text, _, _ in said.lines()), "total"]
        assert rows[-2]["stop"] == pytest.approx(rows[-1]["stop"])
    assert "x = missing" in {
        step["what"] for step in plots.waterfall(made["model"].explain({"x": [None]})[0])["data"]["values"]
    }


@pytest.mark.parametrize("classes", [[False, True], [0.0, 1.0], ["no", "yes"]])
def test_rows_and_regions_call_a_class_by_one_name(classes):
    X = np.array([[0.0, 0], [1, 0], [0, 1], [3, 3], [4, 3], [3, 4]])
    model = eo.NaiveBayes(columns=eo.Gaussian).fit(X, np.repeat(classes, 3))
    cells, _, dots = plots.boundary(model, X, [*np.repeat(classes, 3).tolist()[:-1], None])["layer"]
    legend = cells["encoding"]["color"]["scale"]["domain"]
    assert {cell["class"] for cell in cells["data"]["values"]} == set(legend)
    assert [dot["class"] for dot in dots["data"]["values"]] == np.repeat(legend, [3, 2]).tolist()  # one has no class


@pytest.mark.parametrize(("names", "titles"), [(None, ["x0", "x1"]), (["tall", 7], ["tall", "7"])])
def test_the_axes_of_a_boundary_have_the_columns_names(names, titles):
    rows = APART if names is None else pd.DataFrame(APART, columns=names)
    ends = plots.boundary(eo.LinearSeparator().fit(APART, SIDES), rows, SIDES)["layer"][0]["encoding"]
    assert [ends[side]["axis"]["title"] for side in "xy"] == titles


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("model", [eo.GLM(eo.Bernoulli), LogisticRegression(), eo.LinearSeparator()])
def test_a_boundary_asks_for_a_frame_what_was_learnt_of_one(model, frame):
    rows = frame(dict(zip(("a", "b"), zip(*APART))))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # that X has no valid feature names
        warnings.simplefilter("ignore", RegressionWarning)
        drawn = plots.boundary(clone(model).fit(rows, SIDES), rows, SIDES)
        plain = plots.boundary(clone(model).fit(APART, SIDES), APART, SIDES)
    assert drawn["layer"][0]["data"] == plain["layer"][0]["data"]


def test_a_nomogram_adds_up_to_the_log_odds(made):
    model = made["model"].model_
    by = {(row["column"], row["value"]): row["log-odds"] for some in scales(model).values() for row in some}
    [said] = made["model"].explain({"x": [None], "color": ["red"]}, of=1, against=0)
    assert by["color", "red"] == pytest.approx(next(t.log_odds for t in said.terms if t.column == "color"))


def test_a_nomogram_says_what_it_has_no_place_for():
    rng = np.random.default_rng(4)
    y = np.arange(600) % 2
    town = np.where(rng.random(600) < 0.5, "z", [f"a{i % 40}" for i in range(600)])
    rows = {"town": town, "age": rng.normal(y), "text": ["a b", "c"] * 300}
    model = eo.NaiveBayes(columns={"age": eo.Gaussian, "text": eo.Words()}).fit(rows, y).model_
    drawn = plots.nomogram(model)
    assert drawn["title"]["subtitle"][1] == "not in it: age, text"
    values = drawn["vconcat"][0]["data"]["values"]
    assert {row["column"] for row in values} == {"town (12 of 41)"}
    assert "z" in {row["value"] for row in values}  # the most frequent ones, not the first


def test_labels_of_wide_letters_keep_apart():
    """German credit: '<0' and '0<=X<200' are 0.41 apart on a scale of 3, too near for one side of the line."""
    odds = {"<0": -0.81, "0<=X<200": -0.4, ">=200": 0.4, "no checking": 1.16}
    rows = [{"column": "checking", "value": value, "log-odds": x} for value, x in odds.items()]
    ends = [{"column": "other", "value": value, "log-odds": x} for value, x in (("a", -1.37), ("b", 1.55))]
    sides = {row["value"]: "above" if row["above"] else "below" for row in labelled([*rows, *ends])}
    assert sides["<0"] != sides["0<=X<200"]


def test_a_row_without_a_place_is_not_drawn(made):
    X, y = np.vstack([APART, [[np.nan, 1.0]]]), [*SIDES, SIDES[0]]
    drawn = plots.boundary(eo.LinearSeparator().fit(APART, SIDES), X, y)
    assert drawn == made["margin"]
    with pytest.raises(eo.DataError, match="no row has a place"):
        plots.boundary(made["model"], np.full((2, 2), np.nan), [0, 1])


def test_a_group_is_drawn_at_its_rate_within_its_interval():
    """Of 90 men none is said to be so: the line begins where the point is, and is that of the table."""
    y, sex = [0, 1] * 90, ["f", "m"] * 90
    audited = eo.Audit(by="sex").of_predictions(
        y, sex, predicted=[i // 2 % 2 if s == "f" else 0 for i, s in enumerate(sex)]
    )
    [women, men] = plots.groups(audited, "selection rate")["data"]["values"]
    known = audited.rates("sex")["selection rate"]["m"]
    assert (men["rate"], men["low"], men["high"]) == (0.0, 0.0, known.high)
    assert women["low"] < women["rate"] < women["high"]


def test_a_margin_is_as_wide_as_it_is(made):
    """The line between (1, 0), (0, 1) and (3, 3) has a margin of 5 / √8: so far from it every place is pale."""
    cells = made["margin"]["layer"][0]["data"]["values"]
    far = [abs((c["a"] + c["b"]) / 2 + (c["c"] + c["d"]) / 2 - 3.5) / np.sqrt(2) for c in cells]
    margin = 5 / np.sqrt(8)
    assert {c["sure"] for c, d in zip(cells, far) if d < margin - 1e-9} == {"unsure"}
    assert {c["sure"] for c, d in zip(cells, far) if d > margin + 1e-9} == {"sure"}


def test_a_line_is_straight_where_the_log_odds_are_linear_and_bent_where_they_are_not():
    rng = np.random.default_rng(3)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) * np.where(y, 3.0, 0.7)[:, None]

    def bend(column):
        """How far the line is from the straight one through its points."""
        model = eo.NaiveBayes(columns=column).fit(X, y)
        line = plots.boundary(model, X, y)["layer"][1]["data"]["values"]
        ends = np.array([[part["a"], part["c"]] for part in line])
        return np.linalg.svd(ends - ends.mean(axis=0), compute_uv=False)[-1] / np.sqrt(len(ends))

    X[:, 0] += 2.0 * y
    assert bend(eo.Column(eo.Gaussian, variance="pooled")) < 0.2 < 0.8 < bend(eo.Gaussian)


def test_without_vl_convert_there_is_no_picture(made, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    assert svg(made["roc"], "roc") is None


def test_what_cannot_be_drawn_is_said(made):
    many = eo.Perceptron().fit([[0.0, 0], [5, 0], [0, 5]] * 3, [0, 1, 2] * 3)
    with pytest.raises(eo.DataError, match="two classes"):
        plots.boundary(many, np.zeros((3, 2)), [0, 1, 2])
    with pytest.raises(eo.DataError, match="two columns"):
        plots.boundary(made["model"], np.zeros((3, 3)), [0, 1, 0])
    three = eo.NaiveBayes().fit({"x": [1.0, 2, 3] * 5}, [0, 1, 2] * 5)
    with pytest.raises(eo.DataError, match="two classes"):
        plots.nomogram(three.model_)


def test_no_probability_is_a_rounded_one():
    why = Explanation("spam", "ham", 0.0, (Term("text", "prize", 12.0),), 12.0, 1 / (1 + np.exp(-12.0)))
    assert plots.waterfall(why)["title"]["subtitle"] == "p = 0.9999939; + is for it"
    assert "p(spam) = 0.9999939;" in repr(why)
    assert "p(spam) = 0.9999939<" in why._repr_html_()
    sure = why._replace(total=40.0, probability=1.0)
    assert "p(spam) = 1 - 4.25e-18;" in repr(sure)


@pytest.mark.parametrize("channel", ["strokeDash", "shape"])
def test_no_two_of_many_series_are_alike_and_seven_need_no_colour(channel):
    many = told("model", [str(i) for i in range(49)], ("color", channel))
    ways = [str(one) for one in many[channel]["scale"]["range"]]
    assert len(set(ways[:7])) == 7
    assert len(set(zip(many["color"]["scale"]["range"], ways))) == 49


def test_lines_say_their_names_beside_the_picture_and_in_black():
    density = eo.KernelDensity().fit(np.arange(9.0)).density_
    drawn = plots.densities({"a": density, "b": density})["encoding"]
    assert drawn["color"]["legend"] == drawn["strokeDash"]["legend"]
    assert drawn["color"]["legend"]["orient"] == "right"
    rows = {"x": np.arange(60.0)}
    found = eo.compare(rows, ["a", "b"] * 30, models=["naive"], sizes=[10], repeats=2)
    labels = [layer for layer in plots.learning_curves(found)["vconcat"][0]["layer"] if layer["mark"]["type"] == "text"]
    assert not any("color" in layer["encoding"] for layer in labels)


def test_a_network_is_drawn_on_white():
    assert '<rect width="100%" height="100%" fill="white"/>' in picture(Structure.of("rain -> wet"))
