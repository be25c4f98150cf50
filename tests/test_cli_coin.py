"""`evenodds coin`: the numbers of the lectures, and what it says where a number does not exist."""

import json
import math
from functools import partial

import pytest
from scipy.stats import beta

from command import invoke
from evenodds.cli.coin import MOST

run = partial(invoke, "coin")


def answer(*args: str) -> dict:
    return json.loads(run(*args, "--json").stdout)


@pytest.mark.parametrize(
    ("tosses", "prior", "mle", "map_", "mean"),
    [
        (("3", "7"), "1,1", 0.3, 0.3, 4 / 12),
        (("55", "45"), "2,2", 0.55, 56 / 102, 57 / 104),
        (("2", "0"), "2,2", 1, 3 / 4, 4 / 6),
        (("0", "2"), "1/2,1/2", 0, 0, 1 / 6),
        (("0", "2"), "1.5,1.5", 0, 1 / 6, 1.5 / 5),
        (("2", "0"), "1,1", 1, 1, 3 / 4),
        (("0", "0"), "2,2", None, 1 / 2, 1 / 2),
        (("0", "0"), "1,1", None, None, 1 / 2),
        (("0", "0"), ".5,.5", None, None, 1 / 2),
        (("0", "0"), "1,3", None, 0, 1 / 4),
        (("0", "0"), "2,.5", None, 1, 2 / 2.5),
    ],
)
def test_the_three_estimates(tosses, prior, mle, map_, mean):
    data = answer(*tosses, "--prior", prior)
    assert data["maximum_likelihood"] == (None if mle is None else pytest.approx(mle))
    assert data["map"] == (None if map_ is None else pytest.approx(map_))
    assert data["mean"] == data["probability_of_heads_next"] == pytest.approx(mean)


def test_the_posterior_and_its_intervals():
    data = answer("3", "7", "--prior", "2,3")
    assert data["posterior"] == {"a": 5, "b": 10}
    credible, exact = data["credible_interval"], data["confidence_interval"]
    assert (credible["level"], credible["kind"]) == (0.95, "equal tails")
    assert [credible["low"], credible["high"]] == pytest.approx(beta(5, 10).ppf([0.025, 0.975]))
    assert [exact["low"], exact["high"]] == pytest.approx([beta(3, 8).ppf(0.025), beta(4, 7).ppf(0.975)])


def test_the_evidence_is_the_product_of_the_predictions():
    assert answer("2", "0", "--prior", "2,2")["evidence"] == pytest.approx(2 / 4 * 3 / 5)
    flat = answer("2", "0")
    assert flat["evidence"] == pytest.approx(1 / 3)  # exchangeable, not independent: not 1/4
    assert flat["log_evidence"] == pytest.approx(-math.log(3))
    assert flat["bayes_factor_against_fair"] == pytest.approx(4 / 3)
    assert answer("9", "1")["bayes_factor_against_fair"] == pytest.approx(9.3091, abs=1e-4)


def test_numbers_no_float_has_room_for_are_null_but_their_logs_are_there():
    data = answer("1000000", "1000000")
    assert data["evidence"] is None
    assert data["log_evidence"] == pytest.approx(-2e6 * math.log(2), rel=1e-4)
    data = answer("100000", "0")
    assert data["bayes_factor_against_fair"] is None
    assert data["log_bayes_factor_against_fair"] == pytest.approx(1e5 * math.log(2) - math.log(100_001))
    assert "10^30098 times as much as from a fair coin" in run("100000", "0").stdout


def test_the_next_toss_alone():
    result = run("2", "0", "--prior", "2,2", "--prob-of-heads-next")
    assert (result.stdout, result.stderr) == ("0.666666666667\n", "")


def test_the_page():
    result = run("2", "0", "--prior", "2,2")
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "2 heads and 0 tails",
        "prior Beta(2, 2), posterior Beta(4, 2)",
        "",
        "P(heads)",
        "maximum likelihood  1                 the share of heads",
        "MAP                 0.75              the most probable value",
        "posterior mean      0.6667            and P(next toss is heads)",
        "95 % credible       0.2836 to 0.9473  equal tails, 2.5 % each",
        "95 % confidence     0.1581 to 1       exact (Clopper-Pearson)",
        "",
        "Evidence: the tosses in order had probability 0.3 (log -1.204),",
        "1.2 times as much as from a fair coin.",
        "",
        "                                  ▁▂▃▄▅▆▆▇▇████▇▇▆▅▃▁",
        "                            ▁▂▄▅▆▇███████████████████▇▅▂",
        "                     ▁▂▃▄▅▇█████████████████████████████▇▃",
        "       ▁▁▁▁▂▂▃▃▄▅▅▆▇██████████████████████████████████████▇▂",
        "0                            0.5                           1",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["0", "0"], "maximum likelihood  none            no tosses"),
        (["0", "0"], "MAP                 none            every value is equally probable"),
        (["0", "0", "--prior", ".5,.5"], "endless both at 0 and at 1"),
        (["0", "2"], "most probable: the border"),
        (["1", "0"], "1 head and 0 tails"),
        (["0", "1"], "as much as from a fair coin."),
        (["55", "45"], f"from a fair coin {101 * math.comb(100, 55) / 2**100:.4g} times as much."),
        (["999999999", "0"], "1 - 1e-09"),
    ],
)
def test_words(arguments, sentence):
    page = run(*arguments).stdout
    assert sentence in page
    assert max(map(len, page.splitlines())) <= 80


@pytest.mark.parametrize(
    "arguments", [["0", "0"], [f"{MOST}", f"{MOST}"], [f"{MOST}", "0"], ["0", "3", "--prior", ".01,.01"]]
)
def test_the_picture_is_as_high_as_there_is_room(arguments):
    picture = run(*arguments).stdout.splitlines()[-5:-1]
    assert "█" in picture[0]
    assert max(map(len, picture)) <= 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1.5", "2"], "HEADS: '1.5' is not a whole number; expected 0, 1, 2, ..."),
        (["1", "two"], "TAILS: 'two' is not a whole number; expected 0, 1, 2, ..."),
        (["1", "²"], "TAILS: '²' is not a whole number; expected 0, 1, 2, ..."),
        (["9" * 5000, "1"], f"HEADS: {'9' * 5000} are too many; expected at most 1,000,000,000"),
        (["1", "1000000001"], "TAILS: 1000000001 are too many; expected at most 1,000,000,000"),
        (
            ["2", "0", "--json", "--prob-of-heads-next"],
            "--prob-of-heads-next is a bare number: leave out --json, which has it among the others",
        ),
        *(
            (
                ["1", "1", "--prior", prior],
                f"--prior: {prior!r} is no Beta prior; expected two numbers above 0, as in 2,2 or 1/2,1/2",
            )
            for prior in ("1", "1,2,3", "0,1", "1,-1", "a,b", "inf,1", "nan,1", "")
        ),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(arguments, message):
    result = run(*arguments, code=2)
    assert (result.stdout, result.stderr) == ("", f"Error: {message}\n")


def test_a_negative_number_is_wrong_usage_too():
    assert "-1" in run("-1", "2", code=2).stderr
