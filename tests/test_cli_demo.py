"""`evenodds demo`."""

import json
import math
from functools import partial

import pytest

from command import invoke
from evenodds.data.titanic import counts, titanic

run = partial(invoke, "demo")


@pytest.fixture(scope="module")
def text() -> str:
    return run().stdout


@pytest.fixture(scope="module")
def data() -> dict:
    return json.loads(run("--json").stdout)


def test_it_answers_on_stdout_alone():
    result = run()
    assert result.stdout
    assert not result.stderr


def test_the_page_fits_80_columns_without_colour(text):
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_json_is_one_object_with_every_number(data):
    assert data["rows"] == 2201
    assert data["classes"] == {"no": 1490, "yes": 711}
    assert data["parameters"] == {"naive": 11, "joint": 31}


def test_wrong_usage_writes_nothing(tmp_path):
    run("--csv", tmp_path / "people.csv", "--json", code=2)
    assert list(tmp_path.iterdir()) == []


def test_the_sums_hold(data, text):
    assert data["halves_add_up_to_the_whole"] is True
    assert data["forgetting_gives_the_half_back"] is True
    assert text.count("yes, exactly") == 2


def test_it_predicts_people_it_has_not_seen_better_than_the_class_shares(data):
    model, baseline = data["held_out"]
    assert model["accuracy"] > baseline["accuracy"] == pytest.approx(1490 / 2201)
    assert model["log_loss"] < baseline["log_loss"] == pytest.approx(entropy(711 / 2201), abs=1e-3)


def test_each_fold_is_scored_by_a_model_that_never_saw_it(data):
    """The same folds, each predicted by a model refitted from the other nine."""
    import numpy as np
    import pyarrow as pa

    from evenodds import NaiveBayes
    from evenodds.data.sum import fold_of

    people, loss = titanic(), []
    folds = fold_of(0, people.num_rows, None, 10, 0)
    for k in range(10):
        held_out = pa.array(folds == k)
        fold, rest = people.filter(held_out), people.filter(pa.compute.invert(held_out))
        log_p = NaiveBayes().fit(rest, "survived").predict_log_proba(fold)
        loss += [-log_p[i, int(truth == "yes")] for i, truth in enumerate(fold["survived"].to_pylist())]
    assert data["held_out"][0]["log_loss"] == pytest.approx(np.mean(loss), abs=1e-10)


def test_the_explanation_adds_up_and_misses_the_age(data):
    why = data["explanation"]
    assert why["prior"] + sum(term["log_odds"] for term in why["terms"]) == pytest.approx(why["total"])
    assert why["probability"] == pytest.approx(1 / (1 + math.exp(-why["total"])))
    assert {term["column"]: term["note"] for term in why["terms"]}["age"] == "missing: no evidence"
    assert (why["survivors_alike"], why["people_alike"]) == (90, 196)


def test_the_tables_have_intervals_around_the_shares(data):
    [row] = [row for row in data["tables"]["sex"] if (row["survived"], row["sex"]) == ("yes", "female")]
    assert row["low"] < 344 / 711 < row["high"]
    assert row["p"] == pytest.approx(344 / 711, abs=0.01)


def test_the_naive_assumption_is_doubted(data):
    assert {data["most_dependent"][0]["a"], data["most_dependent"][0]["b"]} == {"class", "sex"}
    died = data["women_who_died"]
    assert (died["people"], died["in_3rd_class"], round(died["expected_if_independent"])) == (126, 106, 45)


def test_the_counts_as_weights_are_the_same_evidence_as_the_people():
    from evenodds import NaiveBayes

    cells = counts()
    weights = [cell.pop("people") for cell in cells]
    assert NaiveBayes().fit(cells, "survived", weights).model_ == NaiveBayes().fit(titanic(), "survived").model_


def entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log(1 - p)
