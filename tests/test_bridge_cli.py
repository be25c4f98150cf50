"""`evenodds fit --bridge`, and what the other commands make of its file."""

import json

import numpy as np
import pytest

import evenodds as eo
from command import invoke as run
from test_bridge import texts


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bridge")
    x, y = texts(60)
    data, model = folder / "mail.csv", folder / "spam.eo"
    data.write_text("label,text\n" + "".join(f"{label},{text}\n" for label, text in zip(y, x)))
    run("fit", data, "-t", "label", "--text", "text", "--bridge", "-o", model)
    return data, model


def test_the_file_is_what_the_estimator_learns(files):
    data, path = files
    estimator = eo.NaiveLogistic({"text": eo.Words()}).fit(data, "label")
    assert eo.load(path) == estimator.model_


def test_predict_explain_show_and_evaluate(files):
    data, path = files
    model = eo.NaiveLogistic.load(path)
    lines = run("predict", path, data).stdout.splitlines()
    assert lines[0] == "label,text,label_predicted,label_probability"
    answers = [line.split(",")[2] for line in lines[1:]]
    assert answers == model.predict([line.split(",")[1] for line in lines[1:]]).tolist()
    [why] = json.loads(run("explain", path, "text=free prize", "--json").stdout)
    assert why["prior"] + sum(term["log_odds"] for term in why["terms"]) == pytest.approx(why["total"], rel=1e-10)
    assert why["total"] == pytest.approx(model.explain({"text": ["free prize"]})[0].total, rel=1e-11)
    shown = json.loads(run("show", path, "--json").stdout)
    assert shown["scale"] == pytest.approx(model.scale_, rel=1e-11)
    assert "of naive Bayes" in run("show", path).stdout
    judged = json.loads(run("evaluate", path, data, "--json").stdout)
    p = model.predict_proba([line.split(",")[1] for line in lines[1:]])
    own = [p[i, model.classes_.tolist().index(line.split(",")[0])] for i, line in enumerate(lines[1:])]
    assert judged["log_loss"] == pytest.approx(-np.log(own).mean(), rel=1e-11)


def test_what_a_bridge_cannot_do_is_said(files):
    data, path = files
    assert "holds a 'bridge'" in run("add", path, path, "-o", path.with_name("sum.eo"), code=3).stderr
    assert "is a bridge" in run("evaluate", path, data, "--leave-one-out", code=2).stderr
    assert "shown whole" in run("show", path, "text", code=2).stderr
