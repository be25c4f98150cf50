"""`evenodds net`: what each of its commands prints, writes and refuses."""

import csv
import io
import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import evenodds as eo
from command import invoke as run
from evenodds.data.titanic import counts
from evenodds.models.bayes_net.network import Network
from networks import ASIA


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("net")
    ASIA.write_bif(path / "asia.bif")
    rows = counts()
    with open(path / "titanic.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_fit_query_and_show(folder):
    graph = "survived -> sex, class, age"
    done = run("net", "fit", folder / "titanic.csv", "--graph", graph, "--weight", "people", "-o", folder / "t.eo")
    assert done.stdout == "survived -> sex; survived -> class; survived -> age\n"
    assert "2,201 rows" in done.stderr
    assert "11 parameters; the full joint has 31" in done.stderr
    assert "; BIC -5,498.2 (more is better) →" in done.stderr
    net = eo.BayesNet(graph).fit(counts(), sample_weight="people")
    assert Network.load(folder / "t.eo").tallies == net.model_.tallies
    answer = json.loads(run("net", "query", folder / "t.eo", "survived", "--given", "sex=male", "--json").stdout)
    assert answer["answer"][1]["p"] == pytest.approx(net.query("survived", sex="male")["yes"])
    assert answer["p_evidence"] == pytest.approx(net.evidence_prob(sex="male"))
    assert run("net", "query", folder / "t.eo", "survived", "-g", "sex=male").stdout.startswith("survived")
    assert "low" in run("net", "query", folder / "t.eo", "survived", "-g", "sex=male", "--interval").stdout
    shown = run("net", "show", folder / "t.eo", "sex").stdout
    assert "p(sex | survived)" in shown
    assert "count" in shown
    every = json.loads(run("net", "query", folder / "t.eo", "--json").stdout)
    assert set(every["nodes"]) == {"survived", "sex", "class", "age"}
    assert eo.load(folder / "t.eo") == Network.load(folder / "t.eo")


def test_the_graph_is_learnt(folder):
    done = run(
        "net", "learn", folder / "titanic.csv", "--weight", "people", "--search", "tan", "-t", "survived", "--json",
        "-o", folder / "tan.eo",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["rows"] == 2201
    assert len(found["edges"]) == 5
    climbed = run(
        "net", "learn", folder / "titanic.csv", "--weight", "people", "--forbid", "survived -> sex; sex -> survived"
    )
    edges = eo.BayesNet(climbed.stdout.strip()).graph_.edges
    assert ("survived", "sex") not in edges
    assert ("sex", "survived") not in edges
    assert "; BIC -" in climbed.stderr
    for criterion, name in (("bdeu", "BDeu"), ("k2", "K2"), ("aic", "AIC")):
        told = ["net", "learn", folder / "titanic.csv", "--weight", "people", "--search", "chow-liu"]
        told += ["--ess", "7"] if criterion == "bdeu" else []
        done = run(*told, "--criterion", criterion)
        found = json.loads(run(*told, "--criterion", criterion, "--json").stdout)
        graph = eo.BayesNet(found["graph"]).fit(counts(), sample_weight="people")
        assert found["score"] == pytest.approx(graph.structure_score(criterion, ess=7))
        assert f"; {name} {found['score']:,.1f} (more is better)" in done.stderr
    star = run("net", "fit", folder / "titanic.csv", "-t", "survived", "--weight", "people", "-o", folder / "star.bif")
    assert "survived -> class" in star.stdout
    assert Network.read(folder / "star.bif").query("survived")["yes"] == pytest.approx(711 / 2201)


def test_the_nodes_are_the_columns_that_are_named(folder):
    path = folder / "titanic.csv"
    people = ["--weight", "people"]
    for learnt in (("learn", "--search", "tan"), ("learn", "--missing", "em"), ("fit",)):
        out = folder / "some.eo"
        run("net", *learnt, path, "-t", "survived", "-c", "sex,class", *people, "-o", out)
        assert set(Network.load(out).states) == {"sex", "class", "survived"}, learnt
    again = json.loads(run("net", "learn", path, "-c", "sex", "--columns", "class", *people, "--json").stdout)
    assert len(again["edges"]) == 1
    named = run("net", "learn", path, "-c", "sex,clas", *people, code=3)
    assert "titanic.csv: column 'clas' not found; did you mean 'class'?" in named.stderr
    both = run("net", "fit", path, "--graph", "sex -> class", "-c", "sex", "-o", folder / "some.eo", code=2)
    assert "--columns: the --graph says which columns are nodes" in both.stderr
    numbers = folder / "numbers.csv"
    numbers.write_text("id,a,b\n" + "".join(f"{i},{i % 2},{i % 3}\n" for i in range(60)))
    assert "; or name the others with --columns" in run("net", "learn", numbers, code=3).stderr
    run("net", "learn", numbers, "--columns", "a,b")


def test_separated_says_why(folder):
    shown = run("net", "separated", folder / "asia.bif", "asia", "smoke", "--given", "dysp").stdout
    assert shown.startswith("asia and smoke are not separated given dysp: 2 paths are open\n")
    assert shown.endswith("they are separated given nothing\n")
    told = json.loads(
        run("net", "separated", "rain -> coat, accident", "coat", "accident", "-g", "rain", "--json").stdout
    )
    assert told["separated"] is True
    assert told["paths"][0]["by"] == "rain"
    assert "given {rain}" in run("net", "separated", "rain -> coat, accident", "coat", "accident").stdout


def test_sample_and_convert(folder):
    drawn = run("net", "sample", folder / "asia.bif", "-n", "50", "--seed", "3", "-g", "smoke=yes").stdout
    rows = list(csv.DictReader(io.StringIO(drawn)))
    assert len(rows) == 50
    assert {row["smoke"] for row in rows} == {"yes"}
    assert drawn == run("net", "sample", folder / "asia.bif", "-n", "50", "--seed", "3", "-g", "smoke=yes").stdout
    lines = run("net", "sample", folder / "asia.bif", "-n", "2", "--json").stdout.splitlines()
    assert set(json.loads(lines[1])) == set(ASIA.structure.nodes)
    run("net", "convert", folder / "asia.bif", folder / "asia.eo")
    assert Network.load(folder / "asia.eo") == ASIA
    run("net", "convert", folder / "asia.eo", folder / "again.bif")
    assert (folder / "again.bif").read_text() == (folder / "asia.bif").read_text()
    run("net", "show", folder / "asia.bif", "--plot", folder / "asia.svg")
    ElementTree.parse(folder / "asia.svg")
    run("net", "show", folder / "asia.bif", "--plot", folder / "asia.png")
    assert (folder / "asia.png").read_bytes().startswith(b"\x89PNG")
    best = json.loads(run("net", "query", folder / "asia.bif", "--most-probable", "-g", "xray=yes", "--json").stdout)
    assert best == ASIA.most_probable(xray="yes")
    soft = json.loads(
        run("net", "query", folder / "asia.bif", "lung", "--likely", "xray=yes:.9,no:.2", "--json").stdout
    )
    assert soft["answer"][0]["p"] == pytest.approx(ASIA.query("lung", xray={"yes": 0.9, "no": 0.2})["yes"])
    by_draws = run("net", "query", folder / "asia.bif", "lung", "--method", "weighting", "--draws", "1000").stdout
    assert by_draws.startswith("lung")
    weighting = ("net", "query", folder / "asia.bif", "lung", "--method", "weighting", "-g", "either=yes", "--draws")
    assert "note: the evidence is so rare that 1,000 draws are worth" in run(*weighting, "1000").stderr
    assert run(*weighting, "10000").stderr == ""
    learnt = run("net", "query", folder / "t.eo", "survived", "-g", "sex=male", "--interval", "--draws", "50").stdout
    assert learnt != run("net", "query", folder / "t.eo", "survived", "-g", "sex=male", "--interval").stdout


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("query", "asia.bif", "lungs"), 3, "did you mean 'lung'"),
        (("query", "asia.bif", "lung", "-g", "xray=maybe"), 3, "state 'maybe' not found"),
        (("query", "asia.bif", "lung", "-g", "xray"), 2, "expected NODE=VALUE"),
        (("query", "asia.bif", "lung", "-g", "xray=yes", "-g", "xray=no"), 2, "given twice"),
        (("query", "asia.bif", "lung", "--likely", "xray=yes"), 2, "--likely: expected"),
        (("query", "asia.bif", "dysp", "-g", "either=no", "-g", "lung=yes"), 3, "probability 0"),
        (("query", "none.bif", "lung"), 1, "No such file"),
        (("query", "titanic.csv", "lung"), 3, "line 1"),
        (("fit", "titanic.csv", "-o", "x.eo"), 2, "which graph?"),
        (("fit", "titanic.csv", "--graph", "a -> b -> a", "-o", "x.eo"), 2, "cycle: a -> b -> a"),
        (("fit", "titanic.csv", "--graph", "sex -> ages", "-o", "x.eo"), 3, "did you mean 'age'"),
        (("fit", "titanic.csv", "-t", "sex", "--cut", "people=some", "-o", "x.eo"), 2, "--cut: 'some' is not a number"),
        (("learn", "titanic.csv", "--search", "tan", "-t", "sex", "--forbid", "sex -> age"), 2, "hill-climbing"),
        (("fit", "titanic.csv", "-t", "sex", "--smoothing", "much", "-o", "x.eo"), 2, "--smoothing: 'much' is not"),
        (("fit", "titanic.csv", "-t", "sex", "--cut", "people", "-o", "x.eo"), 2, "--cut: expected"),
        (("fit", "titanic.csv", "-t", "sex", "--cut", "people=x", "-o", "x.eo"), 2, "--cut: 'x' is not a number"),
        (("query", "asia.bif", "lung", "--most-probable"), 2, "--most-probable is of all nodes together"),
        (("query", "asia.bif", "--most-probable", "--interval"), 2, "--most-probable is of all nodes together"),
        (("query", "asia.bif", "--interval"), 2, "are for the NODES that are asked for"),
        (("query", "asia.bif", "--method", "gibbs"), 2, "are for the NODES that are asked for"),
        (("query", "asia.bif", "lung", "--interval", "--method", "gibbs"), 2, "leave out --method"),
        (("query", "asia.bif", "lung", "--draws", "5"), 2, "--draws is for --interval"),
        (("query", "asia.bif", "lung", "--seed", "5"), 2, "--seed: an exact answer draws nothing"),
        (("query", "asia.bif", "lung", "-g", "xray=yes", "--likely", "xray=yes:.9,no:.2"), 2, "leave one out"),
        (("learn", "titanic.csv", "--forbid", "sex ->"), 2, "sex"),
        (("learn", "titanic.csv", "--search", "tan"), 2, "needs the column of the classes"),
        (("separated", "a -> b", "a", "c"), 3, "node 'c' not found"),
        (("show", "asia.bif", "nobody"), 3, "node 'nobody' not found"),
    ],
)
def test_what_is_wrong_is_one_sentence(folder, words, code, sentence, monkeypatch):
    monkeypatch.chdir(folder)
    done = run("net", *words, code=code)
    assert sentence in done.stderr
    assert done.stderr.startswith("Error: ")


def test_a_network_may_come_through_a_pipe(folder):
    command = f"'{sys.executable}' -m evenodds net query <(cat asia.bif) lung --json"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout == run("net", "query", folder / "asia.bif", "lung", "--json").stdout, done.stderr


def test_other_commands_send_a_network_here(folder):
    run("net", "convert", folder / "asia.bif", folder / "a.eo")
    for words in (("show", "a.eo"), ("predict", "a.eo", "titanic.csv"), ("explain", "a.eo", "x=1")):
        done = run(words[0], *(folder / word if "." in word else word for word in words[1:]), code=2)
        assert "is a network: evenodds net show, query and sample take it" in done.stderr
    assert (
        "holds a 'network' model: expected one of 'naive bayes'"
        in run("add", folder / "a.eo", folder / "a.eo", "-o", folder / "b.eo", code=3).stderr
    )
