"""What people read: tables whose columns meet, numbers that say no more than they know, plurals."""

import numpy as np
import pandas as pd
import pytest

import evenodds as eo
from command import here as run
from evenodds.audit.environments import environments
from evenodds.audit.invented import marked_scans
from evenodds.audit.judge import tally
from evenodds.audit.metrics import Metrics
from evenodds.families import Binned
from evenodds.models.explanation import Explanation, Term
from evenodds.models.separators.separation import check_numbers
from evenodds.show import Frame, cell, places


def test_columns_meet_where_letters_are_wide():
    lines = repr(Frame([{"city": "東京", "rows": 5}, {"city": "Osaka", "rows": 12}])).split("\n")
    assert len({places(line) for line in lines}) == 1
    why = Explanation("a", "b", 0.0, (Term("city", "東京", 1.0), Term("age", 3, 0.5)), 1.5, 0.8)
    shown = [line.split("+")[0] for line in repr(why).split("\n") if line.startswith(("  city", "  age"))]
    assert len({places(line) for line in shown}) == 1


@pytest.mark.parametrize(("number", "said"), [(-0.0, "0.0000"), (2.2250738585072014e-308, "0.0000"), (-0.5, "-0.5000")])
def test_nothing_is_nothing(number, said):
    assert cell(number) == said


def test_an_empty_text_is_not_missing():
    why = Explanation("a", "b", 0.0, (Term("x", "", 1.0), Term("y", None, 0.5)), 1.5, 0.8)
    assert [line for line, _, _ in why.lines()] == ["prior", "x = ''", "y = missing"]


def test_losses_of_one_class_and_of_classes_never_seen_are_said_plainly():
    log_p = np.log([[0.9, 0.1]] * 3)
    assert "-0.0000" not in repr(Metrics.of(tally(["a"] * 3, log_p, ["a", "b"]), ["a", "b"]))
    never = repr(Metrics.of(tally(["c"] * 3, log_p, ["a", "b"]), ["a", "b"]))
    assert "So the log loss is infinite." in never
    some = repr(Metrics.of(tally(["a", "c", "a"], log_p, ["a", "b"]), ["a", "b"]))
    assert "without them it is 0.1054." in some


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([0, 0, 0, 0, 1, 1, 2, 3, 4, 7], ["0", "1", "2 to 3", "4 to 7"]),
        ([-3, -2, -1, -1, 1, 1, 2, 2], ["-3 to -2", "-1 to 0", "1", "2"]),
        ([1.5, 2, 3, 4, 5, 6, 7, 8], None),
        ([150.5, 160.5, 170.5, 180.5], None),
    ],
)
def test_bins_of_whole_numbers_are_said_as_whole_numbers(values, names):
    found = eo.NaiveBayes({"x": eo.Column(Binned, bins=4)}).fit(
        {"x": np.array(values, float)}, [0, 1] * (len(values) // 2)
    )
    said = found.model_.distributions["x"].names()
    assert said == names if names else any("." in name for name in said)


def test_no_key_of_json_ends_with_a_blank_and_gaps_have_one_shape():
    found = environments(marked_scans(), "sick", "hospital").to_dict()
    assert all(key == key.strip() for name in ("sites", "flips", "leaks") for row in found[name] for key in row)
    said, groups = ["y"] * 30 + ["n"] * 10, ["a"] * 20 + ["b"] * 20
    audit = eo.Audit(by="g").of_predictions(["y", "n"] * 20, {"g": groups}, predicted=said)
    told = audit.to_dict()
    shape = {"measure", "higher", "lower", "gap", "low", "high", "margin", "sure", "small"}
    assert {frozenset(row) - {"by", "class"} for row in told["gaps"]} == {frozenset(shape)}
    gaps = [row for row in told["criteria"] if "gap" in row]
    assert {frozenset(row) - {"by", "class", "criterion"} for row in gaps} == {frozenset(shape)}


def test_one_of_a_thing_is_one_and_several_are_several(tmp_path):
    network = eo.BayesNet("a -> b").fit({"a": ["x", "y"], "b": ["x", "y"]})
    assert "2 nodes, 1 edge, 3 parameters" in repr(network.model_)
    assert "1 coefficient)" in repr(
        eo.GLM(intercept=False).fit(np.array([[1.0], [2.0], [4.0]]), [1.0, 2.0, 3.0]).model_
    )
    with pytest.raises(ValueError, match="columns 'a', 'b' hold no numbers"):
        check_numbers(pd.DataFrame({"a": ["x"], "b": ["y"]}))
    rows = tmp_path / "rows.csv"
    rows.write_text("x,y\n" + '1,"Yes, won"\n2,No\n' * 20)
    assert "(No 20, 'Yes, won' 20)" in run("fit", rows, "-t", "y", "-o", tmp_path / "m.eo").stderr
