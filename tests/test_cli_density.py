"""`evenodds density`: what it draws, prints and writes."""

import functools
import json

import numpy as np
import pandas as pd
import pytest

import evenodds as eo
from command import here as run

density = functools.partial(run, "density")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.gamma(3.0, size=120).round(3), "kind": rng.choice(["b", "a"], 120)})
    frame["copies"] = rng.integers(0, 3, 120)
    path = tmp_path_factory.mktemp("density") / "rows.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_it_draws_a_line_and_says_the_numbers(rows):
    frame, path = rows
    done = density(path, "--column", "size")
    assert done.returncode == 0, done.stderr
    line, axis, _, head, said = done.stdout.splitlines()
    assert "█" in line
    assert len(line) <= 60
    assert len(axis) == 60
    assert head.split() == [
        "size",
        "values",
        "bandwidth",
        *[part for share in (5, 25, 50, 75, 95) for part in (str(share), "%")],
    ]
    fitted = eo.KernelDensity("sj").fit(frame["size"])
    assert said.split()[:3] == ["all", "120", f"{fitted.bandwidth_:.4g}"]
    assert said.split()[5] == f"{fitted.quantile([0.5])[0]:.4g}"


def test_groups_share_an_axis_and_json_has_the_curves(rows, tmp_path):
    frame, path = rows
    picture = tmp_path / "sizes.json"
    done = density(path, "-c", "size", "--by", "kind", "--bandwidth", "0.4", "--low", "0", "--json", "--plot", picture)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [group["group"] for group in found["groups"]] == ["a", "b"]
    for group in found["groups"]:
        own = eo.KernelDensity(0.4, support=(0, None)).fit(frame["size"][frame["kind"] == group["group"]])
        assert own.pdf(group["x"]) == pytest.approx(group["density"], rel=1e-9, abs=1e-12)
        assert group["bandwidth"] == 0.4
        assert min(group["x"]) == 0
    drawn = json.loads(picture.read_text())
    assert {row["which"] for row in drawn["data"]["values"]} == {"a", "b"}
    text = density(path, "-c", "size", "--by", "kind").stdout.splitlines()
    assert [line.split()[0] for line in text[:2]] == ["a", "b"]


def test_weights_count_values(rows):
    frame, path = rows
    weighted = json.loads(density(path, "-c", "size", "--weight", "copies", "--kernel", "cosine", "--json").stdout)
    repeated = eo.KernelDensity("sj", kernel="cosine").fit(np.repeat(frame["size"], frame["copies"]))
    assert weighted["groups"][0]["bandwidth"] == pytest.approx(repeated.bandwidth_, rel=1e-9)
    assert weighted["groups"][0]["values"] == frame["copies"].sum()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ([], 2, "which column? Name it with --column"),
        (["-c", "sise"], 3, "did you mean 'size'?"),
        (["-c", "size", "--by", "sort"], 3, "column 'sort' not found"),
        (["-c", "size", "--bandwidth", "wide"], 2, "--bandwidth: expected a number above 0, or scott, silverman"),
        (["-c", "size", "--bandwidth", "0"], 2, "--bandwidth: expected a number above 0"),
        (["-c", "size", "--high", "1"], 3, "outside the support"),
        (["-c", "size", "--plot", "x.pdf"], 2, "expected a name that ends with .svg, .png"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(rows, words, code, says):
    done = density(rows[1], *words)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_one_value_needs_a_number(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("x,y\n3,a\n3,b\n")
    done = density(path, "-c", "x")
    assert (done.returncode, "column 'x': bandwidth='sj': all values are 3" in done.stderr) == (3, True)
    assert density(path, "-c", "x", "--bandwidth", "1").returncode == 0


def test_a_group_of_one_value_is_left_out_and_said(rows, tmp_path):
    path = tmp_path / "rows.csv"
    rows[0].assign(size=rows[0]["size"].where(rows[0]["kind"] == "a", 2.0)).to_csv(path, index=False)
    done = density(path, "-c", "size", "--by", "kind")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[3:]] == ["kind", "a"]
    assert done.stderr.startswith("note: column 'size' of 'b': ")
    assert done.stderr.endswith("; left out\n")
    path.write_text("size\n2\n2\n2\n")
    assert density(path, "-c", "size").returncode == 3
    path.write_text("size,kind\n1,a\n2,a\n" + "".join(f"2,{i}\n" for i in range(30)))
    told = density(path, "-c", "size", "--by", "kind").stderr.splitlines()  # no wall of notes
    assert (len(told), told[-1]) == (6, "note: so are 25 groups more")
