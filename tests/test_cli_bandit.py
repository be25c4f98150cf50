"""`evenodds bandit`, as people type it."""

import json
from pathlib import Path

import pytest

from command import invoke
from evenodds.bandits import Thompson, simulate
from evenodds.plots import regret


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def go(*words, stdin=None, code=0):
        done = invoke("bandit", *words, stdin=stdin, code=code)
        return done.stdout if code == 0 else done.stderr

    return go


def test_simulate(run):
    words = ("simulate", ".6,.5", "--policies", "ucb1,thompson,ucb@window=50", "--rounds", "200", "--runs", "20")
    text = run(*words, "--plot", "regret.svg")
    assert "20 runs of 200 rounds" in text
    assert "Windowed(policy=UCB(c=2), window=50)" in text
    found = json.loads(run(*words, "--json", "--threads", "1"))
    assert [row["policy"] for row in found["policies"]][:2] == ["UCB1", "Thompson"]
    assert found["curves"][-1]["round"] == 200
    assert Path("regret.svg").read_text().startswith("<svg")
    assert json.loads(run(*words, "--json", "--threads", "3")) == found


def test_simulate_in_other_worlds(run):
    for more in (
        ["2,3", "--rewards", "gaussian", "--spread", ".5"],
        ["2,3", "--rewards", "poisson"],
        [".9,.1/.1,.9", "--at", "50"],
        [".9,.1/.1,.9", "--at", "50", "--drift"],
    ):
        assert "Thompson" in run("simulate", *more, "--rounds", "100", "--runs", "4")


def test_exactly(run):
    rows = json.loads(run("simulate", ".6,.5", "--rounds", "10", "--exact", "--policies", "greedy", "--json"))
    assert json.loads(run("simulate", ".6,.5", "--exact", "--policies", "greedy", "--json")) == rows  # not of 1,000
    assert rows[0]["expected reward"] == pytest.approx(5.56, abs=0.005)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", ".6,x"], "MEANS: 'x' is not a number"),
        (["simulate", ".6,.5/.5,.6", "--at", "x"], "--at: expected whole numbers"),
        (["simulate", ".6,1.5"], "1.5 is no probability"),
        (["simulate", ".6,.5", "--policies", "ubc"], "did you mean 'ucb'?"),
        (["simulate", ".6,.5", "--policies", "explore"], "explore needs a number"),
        (["simulate", ".6,.5", "--policies", "greedy=3"], "greedy takes no number"),
        (["simulate", ".6,.5", "--policies", "ucb=x"], "expected a number, not 'x'"),
        (["simulate", ".6,.5", "--policies", "ucb@slide=3"], "window=ROUNDS or fade=FACTOR"),
        (["simulate", ".6,.5/.1", "--at", "5"], "a mean for every arm"),
        (["simulate", ".6,.5/.1,.2"], "growing numbers of rounds"),
        (["simulate", "2,3/4,5", "--at", "5", "--rewards", "poisson"], "only Bernoulli arms change"),
        (["simulate", ".6,.5", "--policies", "linucb"], "'linucb' not found"),
        (["simulate", "2,3", "--exact", "--rewards", "poisson"], "--exact is for Bernoulli arms"),
        (["simulate", ".6,.5", "--exact", "--runs", "5", "--seed", "1"], "--runs, --seed: --exact is for"),
        (["simulate", ".6,.5", "--spread", "2"], "--spread: of gaussian rewards"),
        (["simulate", ".6,.5", "--plot", "regret.pdf"], "ends with .svg, .png, .html, .json"),
        (["replay", "x.csv"], "either --other"),
        (["replay", "x.csv", "--policies", "ubc"], "did you mean 'ucb'?"),
        (["replay", "x.csv", "--policies", "linucb"], "'linucb' not found"),
        (["replay", "x.csv", "--policies", "ucb", "--uniform", "--propensity", "p"], "not both"),
        (["replay", "x.csv", "--other", "x.csv", "--seed", "3"], "--seed: of --policies"),
        (["arms", "x"], "--add and --retire"),
        (["create", "x", "a", "a"], "two arms are named 'a'"),
        (["create", "x", "a", "--policy", "exp3"], "cannot be kept in a file"),
        (["reward", "x", "id"], "expected an ID and a REWARD"),
    ],
)
def test_wrong_usage_is_2(run, words, said):
    assert said in run(*words, code=2)


def test_an_experiment(run):
    run("create", "button", "green", "red", "--seed", "1", "--minimum", ".1")
    arms = run("decide", "button", "v1", "v2").split()
    assert run("decide", "button", stdin="v1\nv2\n").split() == arms
    found = [json.loads(line) for line in run("decide", "button", "v1", "v2", "--json").splitlines()]
    assert [(one["id"], one["arm"], one["propensity"]) for one in found] == [("v1", arms[0], 0.5), ("v2", arms[1], 0.5)]
    assert run("reward", "button", "v1", "1") == ""
    assert json.loads(run("reward", "button", "v1", "1", "--json")) == {"given": 1, "new": 0}
    assert run("reward", "button", stdin="v1,1\nv2,0\n") == "1 of 2 rewards were new\n"
    assert "no decision was made for 'v9'" in run("reward", "button", "v9", "1", code=3)
    assert "cannot be" in run("reward", "button", "v2", "nan", code=3)
    assert "'v1' has two rewards" in run("reward", "button", stdin="v1,1\nv1,0\n", code=3)
    assert "line 1: expected ID,REWARD" in run("reward", "button", stdin="v1\n", code=3)
    assert "2 decided, 2 rewarded, 0 without" in run("arms", "button", "--add", "blue")
    report = json.loads(run("arms", "button", "--retire", "red", "--json"))
    assert {row["arm"]: row["retired"] for row in report["arms"]} == {"green": False, "red": True, "blue": False}
    assert json.loads(run("report", "button", "--json")) == report
    assert "arm 'pink' not found; the arms are 'green', 'red', 'blue'" in run(
        "arms", "button", "--retire", "pink", code=3
    )
    assert run("export", "button").splitlines()[0] == "id,arm,propensity,time,reward,rewarded"
    assert [json.loads(line)["id"] for line in run("export", "button", "--json").splitlines()] == ["v1", "v2"]
    assert "create it first" in run("report", "nothing", code=1)
    assert "File exists" in run("create", "button", "a", code=1)


def test_lines_that_are_no_text_are_bad_data(run):
    run("create", "button", "green", "red")
    assert "standard input: expected lines in utf-8" in run("decide", "button", stdin=b"\xff\n", code=3)
    assert "standard input: expected lines in utf-8" in run("reward", "button", stdin=b"\xff,1\n", code=3)


def test_ids_that_cannot_be_written_are_bad_data(run):
    run("create", "button", "green", "red")
    assert "an id is a text" in run("decide", "button", "v\udcff", code=3)
    assert "an id is a text" in run("reward", "button", "v\udcff", "1", code=3)


@pytest.mark.parametrize("text", [b"minimum", b"TABLE arms"])
def test_a_file_whose_texts_are_spoilt_is_bad_data(run, text):
    run("create", "button", "green", "red")
    whole = Path("button").read_bytes()
    assert text in whole
    Path("button").write_bytes(whole.replace(text, b"\xff" + text[1:]))
    assert "button is damaged or not an experiment of evenodds" in run("report", "button", code=3)


def test_experiments_add(run):
    for name in ("a", "b"):
        run("create", name, "x", "y")
        run("decide", name, f"only {name}")
    run("add", "a", "b", "-o", "both")
    assert "2 decided" in run("report", "both")
    assert "File exists" in run("add", "a", "b", "-o", "both", code=1)


def test_logs(run):
    with open("log.csv", "w") as file:
        file.write("arm,reward,propensity,place\n" + "x,1,0.5,1\ny,0,0.5,1\nx,,0.5,1\n" * 30)
    with open("other.csv", "w") as file:
        file.write("arm,reward,place\n" + "x,1,1\nx,1,1\nx,0,1\ny,0,1\n")
    with open("y.csv", "w") as file:
        file.write("arm,reward\ny,1\ny,0\n")
    found = json.loads(run("replay", "log.csv", "--other", "other.csv", "--by", "place", "--json"))
    assert [row["value"] for row in found["estimates"]] == [0.75, 0.75]
    assert "earned in other.csv: 0.5 a decision" in run("replay", "log.csv", "--other", "other.csv")
    assert json.loads(run("replay", "log.csv", "--policies", "thompson", "--json"))["policies"][0]["value"] > 0.8
    same = invoke("bandit", "replay", "other.csv", "--uniform", "--other", "y.csv", "--json")
    assert "all brought the same: nothing tells how rewards vary, so there are no errors" in same.stderr
    assert [row["error"] for row in json.loads(same.stdout)["estimates"]] == [None, None]
    assert "no propensities" in run("replay", "other.csv", "--policies", "ucb", code=3)
    assert "expected different columns" in run("replay", "log.csv", "--reward", "arm", "--policies", "ucb", code=2)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (",1,.5\n", "note: 1 row without arm was left out (first: log.csv, line 42)"),
        (
            "y,oops,.5\n",
            "note: column 'reward': 1 cell could not be read and counts as missing (first: log.csv, line 42",
        ),
        ("y\n", "note: 1 row has the wrong number of cells and was left out (first: log.csv, line 42"),
    ],
)
def test_what_is_wrong_with_rows_of_a_log_is_said_with_its_line(run, bad, said):
    Path("log.csv").write_text("arm,reward,propensity\n" + "x,1,.5\ny,0,.5\n" * 20 + bad)
    done = invoke("bandit", "replay", "log.csv", "--policies", "thompson", "--json")
    assert json.loads(done.stdout)["policies"][0]["rows"] == 40  # the others, none of which is an arm called None
    assert said in done.stderr


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("x,,.5\nx,1,.5\ny,1,0\n", "log.csv, line 4: 'propensity' is 0, expected a probability above 0, up to 1"),
        ("x,1,.5\ny,1,\n", "log.csv, line 3: 'propensity' is missing, expected a probability"),
        ("x,1,.5\n", "only 1 of 1 rows could be replayed"),
        ("x,,.5\ny,,.5\n", "log.csv has no decision with a reward, a number in column 'reward'"),
    ],
)
def test_a_log_that_says_nothing_is_bad_data(run, lines, said):
    Path("log.csv").write_text("arm,reward,propensity\n" + lines)
    assert said in run("replay", "log.csv", "--policies", "thompson", code=3)


def test_numbers_of_a_log_are_read_as_those_of_any_file(run):
    Path("log.csv").write_text("arm;reward;propensity\n" + "x;1,5;0,5\ny;0,5;0,5\n" * 10)
    found = json.loads(run("replay", "log.csv", "--policies", "explore=5", "--json"))
    assert 0.5 < found["policies"][0]["value"] < 1.5


def test_the_picture_has_a_line_and_a_band_for_each_policy():
    played = simulate([Thompson()], [0.6, 0.5], 100, 8)
    drawn = regret(played)
    assert [layer["mark"]["type"] for layer in drawn["layer"]] == ["area", "line"]
    assert {row["policy"] for row in drawn["data"]["values"]} == {"Thompson"}
    assert drawn["data"]["values"][-1]["mean"] == pytest.approx(played.regret[0, :, -1].mean())
