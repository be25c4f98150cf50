"""`evenodds regress`, and what `predict` and `show` make of its models."""

import csv
import io
import json

import numpy as np
import pytest

import evenodds as eo
from command import here as run
from command import run as process
from test_glm import TARGETS, features, table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("regress")
    frame = table(200)
    for target in TARGETS:
        features(frame).assign(**{target: frame[target]}).to_csv(path / f"{target}.csv", index=False)
    features(frame).assign(visits=frame["visits"], days=1.0 + np.arange(200) % 3).to_csv(path / "days.csv", index=False)
    return path


@pytest.mark.parametrize("target", TARGETS)
def test_it_prints_the_summary_and_saves_the_model(target, folder):
    family = TARGETS[target]
    out = folder / f"{target}.eo"
    done = run("regress", folder / f"{target}.csv", "-t", target, "-f", family.__name__.lower(), "-o", out)
    assert done.returncode == 0, done.stderr
    frame = table(200)
    glm = eo.GLM(family).fit(features(frame), frame[target])
    np.testing.assert_allclose(eo.load(out).coefficients, glm.model_.coefficients, rtol=1e-10, atol=1e-12)
    assert done.stdout.startswith(f"{family.__name__} regression of '{target}'")
    assert "town[Ulm]" in done.stdout
    assert run("show", out).stdout == done.stdout

    rows = list(csv.DictReader(io.StringIO(run("predict", out, folder / f"{target}.csv").stdout)))
    assert len(rows) == 200
    low, high = glm.predict_interval(features(frame))
    if family in (eo.Bernoulli, eo.Categorical):
        assert [row[f"{target}_predicted"] for row in rows] == glm.predict(features(frame)).tolist()
        best = glm.predict_proba(features(frame)).argmax(axis=1)
        low, high = low[np.arange(200), best], high[np.arange(200), best]
    else:
        mean = [float(row[f"{target}_mean"]) for row in rows]
        np.testing.assert_allclose(mean, glm.predict(features(frame)), rtol=5e-6)
    np.testing.assert_allclose([float(row[f"{target}_low"]) for row in rows], low, rtol=5e-6)
    np.testing.assert_allclose([float(row[f"{target}_high"]) for row in rows], high, rtol=5e-6)


def test_json_has_what_the_page_has(folder):
    command = ["regress", folder / "days.csv", "-t", "visits", "-f", "poisson", "--exposure", "days", "--json"]
    done = run(*command, "--errors", "HC1", "--reference", "town=Ulm", "--role", "year=ignore", "--level", "0.9")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    frame = table(200)
    glm = eo.GLM(eo.Poisson, errors="HC1", reference={"town": "Ulm"})
    glm.fit(features(frame).drop(columns="year"), frame["visits"], exposure=1.0 + np.arange(200) % 3)
    assert [row["coefficient"] for row in found["coefficients"]] == glm.summary().table["coefficient"]
    for name in ("estimate", "error", "p", "low", "high"):
        theirs = [row[name] for row in found["coefficients"]]
        np.testing.assert_allclose(theirs, glm.model_.table(0.9)[name], rtol=1e-10, atol=1e-12)
    assert found["references"] == {"town": "Ulm"}
    assert found["log_likelihood"] == pytest.approx(glm.model_.totals.log_likelihood, rel=1e-11)
    assert (repr(found["rows"]), repr(found["residual_degrees_of_freedom"])) == ("200", str(200 - found["rank"]))


def test_predictions_use_the_exposure_of_each_row(folder, tmp_path):
    out = tmp_path / "m.eo"
    fitted = run("regress", folder / "days.csv", "-t", "visits", "-f", "poisson", "--exposure", "days", "-o", out)
    assert fitted.returncode == 0
    lines = run("predict", out, folder / "days.csv", "--json", "--only").stdout.splitlines()
    model = eo.load(out)
    frame = features(table(200))
    expected = model.mean(frame, exposure=1.0 + np.arange(200) % 3)
    np.testing.assert_allclose([json.loads(line)["visits_mean"] for line in lines], expected, rtol=5e-6)


def test_a_pipe_is_read_as_often_as_needed(folder):
    text = (folder / "ill.csv").read_text()
    piped = process("regress", "-", "-t", "ill", "-f", "bernoulli", stdin=text)
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout == process("regress", folder / "ill.csv", "-t", "ill", "-f", "bernoulli").stdout


@pytest.mark.parametrize("target", [*TARGETS, "days"])
def test_what_the_target_is_may_be_guessed_and_is_said(target, folder):
    """A count is known as one by its exposure alone."""
    count, kind = target == "days", {"ill": "bernoulli", "kind": "categorical"}.get(target, "gaussian")
    name, kind = ("visits", "poisson") if count else (target, kind)
    words = ["regress", folder / f"{target}.csv", "-t", name, *(["--exposure", "days"] if count else [])]
    guessed, told = run(*words), run(*words, "-f", kind)
    assert guessed.stdout == told.stdout
    assert f"note: {name!r} is taken as {kind}; --family says otherwise: " in guessed.stderr
    assert "is taken as" not in told.stderr


def test_missing_cells_are_named_or_left_out(folder, tmp_path):
    lines = (folder / "weight.csv").read_text().splitlines()
    lines[3] = "," + lines[3].partition(",")[2]
    path = tmp_path / "holes.csv"
    path.write_text("\n".join(lines) + "\n")
    refused = run("regress", path, "-t", "weight", "-f", "gaussian")
    assert refused.returncode == 3
    assert "column 'age' (1, first in " in refused.stderr
    assert "line 4)" in refused.stderr
    out = tmp_path / "m.eo"
    assert run("regress", folder / "weight.csv", "-t", "weight", "-f", "gaussian", "-o", out).returncode == 0
    unasked = run("predict", out, path)
    assert unasked.returncode == 3
    assert "column 'age' is missing (NaN) in " in unasked.stderr
    assert "holes.csv, line 4: fill it" in unasked.stderr
    dropped = run("regress", path, "-t", "weight", "-f", "gaussian", "--missing", "drop", "-o", out)
    assert dropped.returncode == 0
    assert "199 rows" in dropped.stdout
    assert "1 row with missing cells was left out" in dropped.stdout
    answered = run("predict", out, path).stdout.splitlines()
    assert answered[3].endswith(",,,")
    assert not answered[4].endswith(",,,")


def test_what_is_told_plainly_is_a_note(tmp_path):
    path = tmp_path / "four.csv"
    path.write_text("hours,passed\n1,no\n2,no\n3,yes\n4,yes\n")
    done = run("regress", path, "-t", "passed", "-f", "bernoulli")
    assert done.returncode == 0
    assert done.stdout.count("note: complete separation: ") == 1
    assert "hours → +∞" in done.stdout
    assert "complete separation" not in done.stderr
    in_json = run("regress", path, "-t", "passed", "-f", "bernoulli", "--json")
    assert "note: complete separation: " in in_json.stderr
    finite = run("regress", path, "-t", "passed", "-f", "bernoulli", "--prior", "jeffreys")
    assert "Jeffreys' prior" in finite.stdout
    assert not finite.stderr


def test_remedies_are_in_the_words_of_the_entrance(tmp_path):
    holes, dates = tmp_path / "holes.csv", tmp_path / "dates.csv"
    holes.write_text("x,y\n1,2\n,3\n3,4\n4,1\n")
    dates.write_text("day one,x,y\n2024-03-01,1,a\n2024-03-02,2,b\n")
    done = run("regress", holes, "-t", "y", "-f", "gaussian")
    assert "--missing drop" in done.stderr
    assert "missing=" not in done.stderr
    done = run("fit", dates, "-t", "y", "-o", tmp_path / "m.eo")
    assert "'day one' is a date: left out (--role 'day one'=date:month+weekday uses its parts)" in done.stderr
    with pytest.raises(eo.DataError, match=r"leave such rows out: missing='drop'$"):
        eo.GLM().fit(holes, "y")
    with pytest.warns(eo.SchemaWarning, match=r"is a date: left out .Column.parts="):
        eo.NaiveBayes().fit(dates, "y")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-t", "visits", "-f", "poison"], 2, "poisson"),
        (["-t", "visit", "-f", "poisson"], 3, "did you mean 'visits'"),
        (
            ["-t", "visits", "-f", "poisson", "--prior", "strong"],
            2,
            "--prior: 'strong' is not a number; expected .001, 1/1000 or 0.1%, or jeffreys",
        ),
        (["-t", "visits", "-f", "poisson", "--prior", "jeffreys"], 2, "for the Bernoulli"),
        (["-t", "visits", "-f", "poisson", "--reference", "town"], 2, "COLUMN=VALUE"),
        (["-t", "visits", "-f", "poisson", "--exposure", "age_"], 3, "did you mean 'age'"),
        (["-t", "visits", "-f", "gaussian", "--exposure", "year"], 3, "for a Poisson"),
        (["-t", "town", "-f", "poisson"], 3, "not a number: of classes"),
    ],
)
def test_wrong_usage_is_2_and_bad_data_are_3(words, code, message, folder):
    done = run("regress", folder / "visits.csv", *words)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
