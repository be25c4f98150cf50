"""`evenodds shift`: drift, sites and labels from files, as the library says it."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import evenodds as eo
from command import invoke
from evenodds.audit.environments import environments
from evenodds.audit.invented import marked_scans
from evenodds.audit.shift import drift


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shift")
    scans = pd.DataFrame(marked_scans(2000))
    scans.to_csv(folder / "scans.csv", index=False)
    old, new = scans[:1000], scans[1000:]
    new = new[(new["sick"] == 0) | (np.random.default_rng(0).random(len(new)) < 0.3)]
    old.to_csv(folder / "old.csv", index=False)
    new.drop(columns="sick").to_csv(folder / "new.csv", index=False)
    new.to_csv(folder / "known.csv", index=False)
    eo.NaiveBayes().fit(old.drop(columns="hospital"), "sick").save(folder / "model.eo")
    gaussian = eo.NaiveBayes(columns={"mark": eo.Bernoulli, "opacity": eo.Gaussian})
    gaussian.fit(old.drop(columns="hospital"), "sick").save(folder / "gaussian.eo")
    return folder


@pytest.fixture
def run(made, monkeypatch):
    monkeypatch.chdir(made)
    return partial(invoke, "shift")


def test_two_files(run, made):
    done = run("drift", "old.csv", "new.csv", "--target", "sick", "--json")
    found, same = json.loads(done.stdout), drift("old.csv", "new.csv", "sick")
    assert {row["column"]: row["changed"] for row in found["columns"]} == {
        row["column"]: row["changed"] for row in same.columns
    }
    assert found["joint"]["auc"] == pytest.approx(same.joint.auc)
    text = run("drift", "old.csv", "new.csv", "--target", "sick").output
    assert "columns changed" in text
    assert "All columns together" in text


@pytest.mark.parametrize("reference", ["old.csv", "model.eo"])
def test_cells_that_could_not_be_read_are_said(run, made, reference):
    lines = (made / "new.csv").read_text().splitlines()
    cells = lines[3].split(",")
    cells[lines[0].split(",").index("opacity")] = "oops"
    (made / "spoilt.csv").write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:]]) + "\n")
    more = ["--target", "sick"] if reference == "old.csv" else []
    done = run("drift", reference, "spoilt.csv", *more)
    assert "column 'opacity': 1 cell could not be read and counts as missing" in done.stderr
    assert run("drift", reference, "spoilt.csv", *more, "-q").stderr == ""


def test_a_file_beside_the_tally_of_a_model(run, made):
    done = run("drift", "model.eo", "new.csv", "--json", "--plot", made / "d.json")
    found = {row["column"]: row for row in json.loads(done.stdout)["columns"]}
    direct = {row["column"]: row for row in drift("old.csv", "new.csv", "sick").columns}
    assert found["mark"]["p"] == pytest.approx(direct["mark"]["p"])
    assert found["opacity"]["p"] == pytest.approx(direct["opacity"]["p"])
    assert "vega-lite" in (made / "d.json").read_text()
    same = json.loads(run("drift", "model.eo", "old.csv", "--json").stdout)
    assert all(row["distance"] == 0 and row["p"] == 1 for row in same["columns"])


def test_a_gaussian_is_compared_by_its_mean(run):
    text = run("drift", "gaussian.eo", "new.csv").output
    assert "its mean from" in text


def test_sites(run, made):
    done = run("sites", "scans.csv", "--target", "sick", "--site", "hospital", "--json")
    found, same = json.loads(done.stdout), environments(pd.read_csv(made / "scans.csv"), "sick", "hospital")
    assert [row["left out"] for row in found["sites"]] == pytest.approx([row["left out"] for row in same.sites])
    text = run("sites", "scans.csv", "--target", "sick", "--site", "hospital").output
    assert "Worst at A" in text
    assert "Give the site away: mark" in text


def test_labels_and_the_model_that_believes_them(run, made):
    done = run("labels", "model.eo", "new.csv", "--known", "known.csv", "-o", "adapted.eo", "--json", "-q")
    found = json.loads(done.stdout)
    share = (pd.read_csv(made / "known.csv")["sick"] == 1).mean()
    for way in ("likeliest", "confusion"):
        sick = found[way][1]
        assert sick["class"] == "1"
        assert sick["low"] < share < sick["high"]
    adapted = eo.NaiveBayes.load(made / "adapted.eo")
    assert np.exp(adapted.model_.log_prior)[1] == pytest.approx(found["likeliest"][1]["now"])
    rows = pd.read_csv(made / "new.csv")[["mark", "opacity"]]
    direct = eo.NaiveBayes.load(made / "model.eo").adapt(rows)
    assert adapted.predict_proba(rows) == pytest.approx(direct.predict_proba(rows))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["drift", "old.csv", "nowhere.csv"], 1, "no such file"),
        (["drift", "model.eo", "new.csv", "--target", "sick"], 2, "a model knows its own"),
        (["drift", "old.csv", "new.csv"], 3, "sick"),
        (["drift", "old.csv", "new.csv", "--plot", "x.gif"], 2, "expected a name that ends with"),
        (["sites", "scans.csv", "--target", "sick", "--site", "hospitl"], 3, "did you mean 'hospital'"),
        (["sites", "scans.csv", "--target", "sik", "--site", "hospital"], 3, "did you mean 'sick'"),
        (["sites", "scans.csv", "--target", "sick"], 2, "--site"),
        (["labels", "old.csv", "new.csv"], 3, "old.csv"),
        (["labels", "model.eo", "scans.csv", "--level", "1"], 2, "--level"),
    ],
)
def test_what_cannot_be_done_is_said(run, words, code, said):
    assert said in run(*words, code=code).stderr
