"""A target, a column or a class that is called like a figure of a table wrecks no table."""

import numpy as np
import pandas as pd
import pytest

import evenodds as eo
from command import invoke as run
from evenodds import plots
from evenodds.families import Binned, Categorical, Exponential, Gaussian, Gaussians, Kernel, LogGaussian, Poisson
from evenodds.models.learnt import top_words

PLAIN = "harmless"
OF_TABLES = ["p", "low", "high", "mean", "sd", "rate", "median", "zero", "weight", "bandwidth", "rows", "share"]
OF_WORDS = ["word", "p", "log-odds", "low", "high", "count"]
OF_GROUPS = [
    "rows",
    "base rate",
    "selection",
    "accuracy",
    "AUC",
    "log loss",
    "mean p",
    "k",
    "of",
    "rate",
    "low",
    "note",
]
FAMILIES = [Categorical, Binned, Gaussian, LogGaussian, Poisson, Exponential, Kernel, Gaussians]

RNG = np.random.default_rng(0)
Y = RNG.choice(["no", "yes"], 120)
N = RNG.integers(1, 6, 120) + (Y == "yes")
TEXTS = np.where(Y == "yes", "sun and light", "rain and cloud")


def values(frame):
    """The cells of a table, line by line, whatever its columns are called."""
    return [list(row.values()) for row in frame]


def table(target, column, family):
    return eo.NaiveBayes({column: family}).fit(pd.DataFrame({column: N, target: Y}), target).tables[column]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", OF_TABLES)
def test_tables_hold_the_same_whatever_the_target_and_the_column_are_called(name, family):
    expected = values(table(PLAIN, "x", family))
    assert values(table(name, "x", family)) == values(table(PLAIN, name, family)) == expected


@pytest.mark.parametrize("name", OF_WORDS)
def test_words_hold_the_same_whatever_the_target_is_called(name):
    def words(target):
        model = eo.NaiveBayes({"text": eo.Words()}).fit(pd.DataFrame({"text": TEXTS, target: Y}), target).model_
        found = list(top_words(model, "text"))
        drawn = plots.words(found, target)["data"]["values"]
        return values(found), values(drawn)

    assert words(name) == words(PLAIN) != ([], [])


@pytest.mark.parametrize("name", OF_GROUPS)
def test_an_audit_holds_the_same_whatever_its_groups_are_called(name):
    said = np.where(N > 3, "yes", "no")
    groups = np.where(np.arange(120) % 2, "a", "b")
    found = eo.Audit(by=name).of_predictions(Y, {name: groups}, predicted=said).table()
    plain = eo.Audit(by=PLAIN).of_predictions(Y, {PLAIN: groups}, predicted=said).table()
    assert values(found) == values(plain)


@pytest.mark.parametrize("name", ["p", "value", "column"])
def test_corrections_of_a_bridge_hold_classes_called_like_their_columns(name):
    rows = pd.DataFrame({"x": N, "y": np.where(Y == "yes", name, np.where(N % 2, "other", "third"))})
    from evenodds.models.bridge.corrections import corrections

    found = corrections(eo.NaiveLogistic().fit(rows, "y").model_)
    assert all(row["column"] == "x" and len(row) == 5 for row in found)


@pytest.mark.parametrize(("target", "column"), [("low", "p"), ("p", "high"), ("rows", "share")])
def test_a_report_of_such_names_is_made(tmp_path, target, column):
    rows = tmp_path / "rows.csv"
    pd.DataFrame({column: np.where(N > 3, "many", "few"), "group": TEXTS, target: Y}).to_csv(rows, index=False)
    run("fit", rows, "-t", target, "-o", tmp_path / "m.eo")
    run("report", tmp_path / "m.eo", rows, "--by", column, "-o", tmp_path / "r.md")
    page = (tmp_path / "r.md").read_text()
    assert f"| {target} | {'rows_' if target == 'rows' else 'rows'} |" in page
    odds = plots.nomogram(eo.load(tmp_path / "m.eo"))["vconcat"][0]["data"]["values"]
    assert {row["value"] for row in odds if row["column"] == column} == {"few", "many"}
