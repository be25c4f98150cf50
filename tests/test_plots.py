"""Pictures are made of the numbers, and vl-convert can draw each of them."""

import numpy as np
import pytest

import evenodds as eo
from evenodds import plots
from evenodds.audit.judge import scores, tally
from evenodds.audit.metrics import Metrics
from evenodds.audit.shift import drift
from evenodds.models.learnt import Tables
from evenodds.plots.model import points
from evenodds.plots.save import svg

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
        "waterfall": plots.waterfall(model.explain({"x": [1.0], "color": ["red"]})),
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


def test_a_waterfall_ends_at_the_total(made):
    rows = made["waterfall"]["data"]["values"]
    assert rows[-2]["stop"] == pytest.approx(rows[-1]["stop"])


def test_a_nomogram_adds_up_to_the_log_odds(made):
    model = made["model"].model_
    by = {(row["column"], row["value"]): row["log-odds"] for row in points(model)}
    said = made["model"].explain({"x": [None], "color": ["red"]}, of=1, against=0)
    assert by["color", "red"] == pytest.approx(next(t.log_odds for t in said.terms if t.column == "color"))


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
