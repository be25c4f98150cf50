"""`evenodds bayes` and the command line's frame."""

import json
import os
import subprocess
import sys

import click
import pytest

from command import invoke as run
from command import loaded
from evenodds.cli import COMMANDS, main

RARE = ["bayes", "--prior", "disease=.001"]


def answer(*args: str) -> dict:
    return json.loads(run("bayes", *args, "--json").stdout)


# The frame


@pytest.mark.parametrize("arguments", [["--help"], [*RARE, "--test", "1,.01"]])
def test_the_command_line_starts_without_the_heavy_libraries(arguments):
    heavy = {"numpy", "scipy", "sklearn", "pyarrow", "numba", "pandas", "polars", "rich"}
    program = f"from evenodds.cli import main; main({arguments!r}, standalone_mode=False)"
    assert loaded(program) & heavy == set()


def test_help_lists_every_command():
    result = run("--help")
    assert all(name in result.stdout and summary in result.stdout for name, (_, summary) in COMMANDS.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_in_the_table_loads(name):
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert f"Usage: evenodds {name} " in run(name, "--help").stdout


def test_a_misspelt_command_is_told_its_neighbour():
    assert "no command 'bays'; did you mean 'bayes'?" in run("bays", code=2).stderr
    assert "the commands are demo, fit" in run("xyzzy", code=2).stderr


def test_a_pipe_without_the_arrow_gets_a_question_mark():
    done = subprocess.run(
        [sys.executable, "-c", "from evenodds.cli import main; main()", *RARE, "--test", "1,.01"],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"}, capture_output=True, encoding="cp1252", check=True,
    )  # fmt: skip
    assert "0.001 ? 0.0910" in done.stdout


# The table


def test_one_test():
    result = run(*RARE, "--test", "sensitivity=1,false-positives=.01")
    assert result.stdout.splitlines() == [
        "evidence         P(evidence)  P(disease)      odds × likelihood ratio  people",
        "test 1 positive  0.01099      0.001 → 0.0910  1:999 × 100 = 1:9.99     1 in 11 (of 1,000)",
        "",
        "Of 1,000 people, 11 show this evidence: 1 disease and 10 not disease, so 1 in 11.",
    ]
    assert result.stderr == ""


def test_the_same_test_twice_comes_with_the_caveat():
    text = run(*RARE, "--test", "1,.01", "--test", "1,.01").stdout
    assert "P(disease) = 0.909 if the results are independent given each hypothesis," in text
    assert "P(disease) = 0.0910 if a repetition only repeats the first result." in text


def test_the_same_test_with_both_results_cannot_be_a_repetition():
    arguments = ["--prior", "disease=.001", "--test", ".9,.05", "--test", ".9,.05,negative"]
    assert "here they contradict each other" in run("bayes", *arguments).stdout
    assert answer(*arguments)["repeated"]["posterior_if_it_repeats_itself"] is None


def test_different_tests_come_without_the_caveat():
    for second in (".9,.05", "other lab: 1,.01"):
        text = run(*RARE, "--test", "1,.01", "--test", second).stdout
        assert "more than once" not in text


def test_three_hypotheses_have_a_line_each():
    text = run("bayes", "--prior", "a=1/3,b=1/3,c=1/3", "--evidence", "door 3: a=1/2,b=1,c=0").stdout
    assert "b           0.333 → 0.667  1:2 × 4 = 2:1            333 in 500 (of 1,000)" in text
    assert "Of 1,000 cases, 500 show this evidence: 167 a, 333 b and 0 c, so 167 in 500." in text


def test_people():
    assert "(of 50,000)" in run(*RARE, "--test", "1,.01", "--people", "50000").stdout


def test_certainty():
    text = run("bayes", "--prior", "a=1", "--test", "1,.3").stdout
    assert "1:0 × anything = 1:0" in text
    text = run("bayes", "--prior", "a=.5", "--test", "1,0").stdout
    assert "1:1 × ∞ = 1:0" in text


def test_very_long_odds_are_never_called_certain():
    text = run("bayes", "--prior", "a=.5", *["--test", "1,1e-5"] * 200).stdout
    assert "1 - 10^-1000" in text
    assert "10^1000:1" in text


# JSON


def test_json_in_sequence():
    data = answer("--prior", "disease=.001", "--test", "1,.01", "--test", ".9,.05")
    first, second = data["steps"]
    assert first["evidence"] == "test 1 positive"
    assert first["probability_of_evidence"] == 0.01099
    assert first["posterior"]["disease"] == pytest.approx(0.0910, abs=5e-5)
    assert first["people"] == {"population": 1000, "counts": {"disease": 1, "not disease": 9.99}}
    assert second["prior"] == first["posterior"]
    assert second["likelihood_ratio"]["disease"] == 18
    assert data["posterior"] == second["posterior"]
    assert data["posterior"]["disease"] == pytest.approx(0.643, abs=5e-4)
    assert "repeated" not in data


def test_json_of_a_repeated_test():
    repeated = answer("--prior", "disease=.001", "--test", "1,.01", "--test", "1,.01")["repeated"]
    assert repeated["evidence"] == ["test 1"]
    assert repeated["posterior_if_independent"]["disease"] == pytest.approx(0.909, abs=5e-4)
    assert repeated["posterior_if_it_repeats_itself"]["disease"] == pytest.approx(0.0910, abs=5e-5)


def test_json_has_null_for_infinite_odds():
    step = answer("--prior", "a=.5", "--test", "1,0")["steps"][0]
    assert step["posterior_odds"] == {"a": None, "not a": 0}


def test_evidence_and_tests_together():
    data = answer("--prior", "spam=.2,ham=.8", "--evidence", "prince: spam=.05, ham=.0025", "--test", "filter: .9,.1")
    assert [step["evidence"] for step in data["steps"]] == ["filter positive", "prince"]
    assert data["steps"][1]["posterior_odds"]["spam"] == pytest.approx(0.25 * 9 * 20)


@pytest.mark.parametrize(
    "test",
    [".9,.05", "sensitivity=.9, specificity=.95", "90%,5%", "9/10,1/20", "x: false-positives=.05,sensitivity=.9"],
)
def test_ways_to_write_a_test(test):
    assert answer("--prior", "disease=1/1000", "--test", test)["posterior"]["disease"] == pytest.approx(
        0.0177, abs=5e-5
    )


def test_priors_may_be_given_one_by_one():
    assert answer("--prior", "a=.2", "--prior", "b=.8", "--test", ".5,.5")["posterior"] == {"a": 0.2, "b": 0.8}


# Errors: one sentence each


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "a=.2"], "there is no evidence to learn from: add --test or --evidence"),
        (["--prior", "a=.2,b=.7", "--test", "1,.1"], "the priors must add up to 1; a 0.2 + b 0.7 = 0.9"),
        (["--prior", "a=1.2", "--test", "1,.1"], "prior: a = 1.2 is not a probability; expected a number from 0 to 1"),
        (["--prior", "a=x", "--test", "1,.1"], "--prior: 'x' is not a number; expected .001, 1/1000 or 0.1%"),
        (["--prior", "a=1/0", "--test", "1,.1"], "--prior: '1/0' is not a number; expected .001, 1/1000 or 0.1%"),
        (["--prior", "a", "--test", "1,.1"], "--prior: expected NAME=NUMBER, not 'a'"),
        (["--prior", "a=.1,a=.9", "--test", "1,.1"], "--prior: 'a' is given twice"),
        (
            ["--prior", "a=.2", "--test", "1"],
            "--test: expected sensitivity and false-positives (or specificity), not '1'",
        ),
        (
            ["--prior", "a=.2", "--test", "1,.1,sensitivity=1"],
            "--test: sensitivity is given twice in '1,.1,sensitivity=1'",
        ),
        (
            ["--prior", "a=.2", "--test", "1,.1,no"],
            "--test: expected positive or negative after the two rates, not 'no'",
        ),
        (
            ["--prior", "a=.2", "--test", "1,2"],
            "test: false positives = 2 is not a probability; expected a number from 0 to 1",
        ),
        (
            ["--prior", "a=.2,b=.7,c=.1", "--test", "1,.1"],
            "--test: a test tells 2 hypotheses apart, not 3; use --evidence instead",
        ),
        (
            ["--prior", "a=.2", "--test", "x: 1,.1", "--test", "x: 1,.2"],
            "--test: 'x' is given twice with different numbers; give the second another name",
        ),
        (["--prior", "a=.2", "--evidence", "x: a=.2"], "x: no likelihood for hypothesis 'not a'; give P(x | not a)"),
        (
            ["--prior", "a=.2,b=.8", "--evidence", "x: a=.2,b=.1,c=1"],
            "x: 'c' is not a hypothesis; the hypotheses are 'a', 'b'",
        ),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(arguments, message):
    result = run("bayes", *arguments, code=2)
    assert (result.stdout, result.stderr) == ("", f"Error: {message}\n")


def test_impossible_evidence_is_one_sentence_and_exit_code_3():
    result = run("bayes", "--prior", "a=.5", "--evidence", "x: a=0, not a=0", code=3)
    assert result.stderr == "Error: impossible evidence: every hypothesis gives 'x' probability 0\n"
    assert result.stdout == ""
