"""`evenodds mixture`, and what `predict` and `show` make of its files."""

import csv
import io
import json

import numpy as np
import pytest

import evenodds as eo
from command import here as run
from evenodds.data.geyser import geyser


def test_columns_of_text_are_named_where_numbers_are_needed(tmp_path):
    path = tmp_path / "crabs.csv"
    path.write_text("color,width\n" + "dark,1.5\nmedium,2.5\n" * 10)
    for command in (["mixture", path, "-c", "color,width", "-k", "2"], ["density", path, "-c", "color"]):
        done = run(*command)
        assert done.returncode == 3
        assert "column 'color' holds no numbers (first: 'dark')" in done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("mixture")
    assert run("demo", "--geyser", path / "geyser.csv").returncode == 0
    rng = np.random.default_rng(0)
    lines = [f"{rng.poisson(1 + 9 * (i % 2))},{'xy'[i % 2]},{i % 2},{1 + i % 3}" for i in range(200)]
    lines[7] = "many,x,1,1"
    (path / "visits.csv").write_text("visits,town,yes,w\n" + "\n".join(lines) + "\n")
    return path


def test_it_prints_the_components_and_saves_them(folder):
    out = folder / "m.eo"
    done = run("mixture", folder / "geyser.csv", "--columns", "eruption,wait", "-k", "1-3", "-o", out)
    assert done.returncode == 0, done.stderr
    rows = {name: geyser()[name].to_numpy() for name in ("eruption", "wait")}
    mixture = eo.Mixture(k=[1, 2, 3], random_state=0).fit(rows)
    np.testing.assert_allclose(eo.load(out).weights, mixture.weights_, rtol=1e-9)
    assert done.stdout == mixture.model_.describe() + "\n"
    assert "\nthe least BIC of 3 numbers of components:\n" in done.stdout
    cut = run("mixture", folder / "geyser.csv", "--columns", "eruption,wait", "-k", "1,2").stdout
    assert "numbers of components; none above 2 was tried, and some may have less:" in cut  # the end is no minimum
    assert done.stdout.startswith("2 full Gaussian components of eruption, wait: 272 rows")
    assert run("show", out).stdout == done.stdout
    assert json.loads(run("show", out, "--json").stdout)["k"] == 2

    answered = run("predict", out, folder / "geyser.csv", "--all")
    lines = list(csv.DictReader(io.StringIO(answered.stdout)))
    assert [int(line["component"]) - 1 for line in lines] == mixture.predict(rows).tolist()
    np.testing.assert_allclose([float(line["log_density"]) for line in lines], mixture.score_samples(rows), rtol=1e-4)
    shares = [[float(line[f"p(component={g})"]) for g in (1, 2)] for line in lines]
    np.testing.assert_allclose(shares, mixture.predict_proba(rows), atol=1e-5)


def test_components_of_many_columns_are_told_side_by_side(tmp_path):
    path, names = tmp_path / "wide.csv", [f"reading{j}" for j in range(9)]
    rows = np.random.default_rng(0).normal(np.arange(60)[:, None] % 2 * 9, 1, (60, 9))
    path.write_text("\n".join([",".join(names), *(",".join(f"{x:.3f}" for x in row) for row in rows)]) + "\n")
    out = tmp_path / "wide.eo"
    done = run("mixture", path, "-k", "2", "--covariance", "diagonal", "-o", out)
    assert done.returncode == 0, done.stderr
    head, *lines = done.stdout.split("\n\n")[1].splitlines()
    assert head.split() == ["component", "1", "2"]
    one, other = eo.load(out).table()
    expected = [[name, f"{one[name]:.4f}", f"{other[name]:.4f}"] for name in one if name != "component"]
    assert [[part.strip() for part in line.rsplit(maxsplit=2)] for line in lines] == expected


def test_json_weights_families_and_pictures(folder):
    picture = folder / "p.json"
    done = run(
        "mixture", folder / "visits.csv", "-f", "poisson", "-c", "visits", "-k", "1,2", "--weight", "w",
        "--criterion", "icl", "--prior", "none", "--n-init", "3", "--max-iter", "500", "--plot", picture, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["k"] == 2
    assert found["rows"] == pytest.approx(sum(1 + i % 3 for i in range(200) if i != 7))
    assert [one["k"] for one in found["curve"]] == [1, 2]
    assert found["prior"] is None
    assert "many" in done.stderr  # a cell that is no number is missing, and told
    drawn = json.loads(picture.read_text())
    assert [len(panel) > 0 for panel in drawn["vconcat"]] == [True, True]


@pytest.mark.parametrize("columns", ["eruption", "eruption,wait"])
def test_pictures_of_gaussians_can_be_made(folder, columns):
    picture = folder / "p.svg"
    done = run("mixture", folder / "geyser.csv", "-c", columns, "-k", "2", "-q", "--plot", picture)
    assert done.returncode == 0, done.stderr
    assert picture.read_text().startswith("<svg")
    run("mixture", folder / "geyser.csv", "-c", columns, "-k", "2", "-q", "--plot", folder / "p.json")
    layers = json.loads((folder / "p.json").read_text())["vconcat"][0]["layer"]
    by = {channel for layer in layers for channel, of in layer["encoding"].items() if of.get("field") == "component"}
    assert by > {"color"}  # colour is never the only signal


def test_columns_that_do_not_fit_are_left_out_and_named(folder):
    done = run("mixture", folder / "visits.csv", "-f", "bernoulli", "-k", "1")
    assert done.returncode == 0, done.stderr
    assert "Bernoulli component of yes" in done.stdout
    assert "left out, as they do not fit: visits, town, w" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-k", "some"], 2, "-k: expected a number such as 3"),
        (["-k", "4-2"], 2, "k is empty"),
        (["--prior", "weak"], 2, "--prior: 'weak' is not a number; expected .001, 1/1000 or 0.1%, or none"),
        (["-f", "poisson", "--covariance", "tied"], 2, "is for Gaussians"),
        (["-c", "wiat"], 3, "did you mean 'wait'"),
        (
            ["-f", "categorical"],
            3,
            "no column fits a Categorical: eruption (number), wait (number); --family gaussian takes 2",
        ),
        (["-c", "wait", "-k", "100"], 3, "cannot tell 100 components apart"),
        (["-c", "wait", "--plot", "x.gif"], 2, "expected a name that ends with"),
    ],
)
def test_wrong_usage_is_2_and_bad_data_are_3(folder, words, code, message):
    done = run("mixture", folder / "geyser.csv", *words)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_other_commands_say_what_it_is(folder):
    out = folder / "one.eo"
    assert run("mixture", folder / "geyser.csv", "-c", "wait", "-k", "2", "-o", out).returncode == 0
    for words in (["evaluate", out, folder / "geyser.csv"], ["explain", out, "wait=50"]):
        done = run(*words)
        assert done.returncode == 3
        assert "holds a mixture: this command asks naive Bayes" in done.stderr
    done = run("predict", out, folder / "geyser.csv", "--lines")
    assert done.returncode == 2
    assert "this is a mixture" in done.stderr
