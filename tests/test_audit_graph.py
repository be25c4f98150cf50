"""Evenness by a graph: three criteria as d-separation, held against exact probabilities; proxies; limits first."""

import json

import numpy as np
import pytest

import evenodds as eo
from command import invoke as run
from evenodds.audit.graph import LIMITS, by_graph
from evenodds.models.bayes_net.d_separation import d_separated
from evenodds.models.bayes_net.network import Network
from evenodds.models.information import information
from networks import flag, random_network, random_structure

LOANS = "sex -> job; job, thrift -> repaid"


def holds(found):
    return {name: bool(one) for name, one in found.criteria.items()}


@pytest.mark.parametrize(
    ("graph", "said", "expected"),
    [
        # nothing leads from the group to the prediction
        ("sex -> job; thrift -> repaid; thrift -> granted", "granted", (True, True, True)),
        # the prediction sees the truth and nothing else: separation, but neither of the others
        ("sex -> repaid; repaid -> granted", "granted", (False, True, False)),
        # the truth depends on the group through the prediction alone: sufficiency
        ("sex -> granted; granted -> repaid", "granted", (False, False, True)),
        # the group enters through a proxy
        (f"{LOANS}; job -> granted", "granted", (False, False, False)),
        # independent of the group, but not once the truth is known: a common effect is given
        ("sex -> repaid; thrift -> repaid; thrift -> granted", "granted", (True, False, False)),
    ],
)
def test_the_three_criteria(graph, said, expected):
    assert holds(by_graph(graph, "sex", "repaid", predicted=said)) == dict(
        zip(("independence", "separation", "sufficiency"), expected)
    )


def test_the_prediction_of_a_model_is_a_child_of_what_it_reads():
    found = by_graph(LOANS, "sex", "repaid", inputs=["job", "thrift", "shoe size"])
    assert found.structure.parents["said repaid"] == ("job", "thrift")
    assert found.unknown == ("shoe size",)
    lines = {row["input"]: row for row in found.proxies}
    assert (lines["job"]["tells"], lines["thrift"]["tells"]) == (True, False)
    assert lines["thrift"]["tells in class"]  # the truth is a common effect of job and thrift
    assert lines["job"]["by"] == "sex -> job"
    said = found.sentences()
    assert "sex through job" in said[-2]
    assert "thrift would be left to it" in said[-2]
    assert "shoe size" in said[-1]


def test_limits_come_first():
    found = by_graph(LOANS, "sex", "repaid", inputs=["job"])
    assert repr(found).startswith(LIMITS[0])
    assert found.to_dict()["limits"] == list(LIMITS)


@pytest.mark.parametrize("seed", range(40))
def test_what_the_graph_separates_carries_no_bits(seed):
    """A criterion that holds by the graph holds exactly in any network of it; one with bits is broken."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, 6)
    group, target, said = rng.permutation(network.structure.nodes)[:3]
    found = by_graph(network, group, target, predicted=said)
    for name, one in found.criteria.items():
        assert one.separated == bool(d_separated(network.structure, one.a, one.b, one.given))
        if one:
            assert found.bits[name] == pytest.approx(0.0, abs=1e-12)
    joint = network.query(group, said).probabilities
    assert found.bits["independence"] == pytest.approx(information(joint).nats / np.log(2))


@pytest.mark.parametrize("seed", range(60))
def test_without_its_proxies_a_prediction_is_independent_of_the_group(seed):
    rng = np.random.default_rng(seed)
    structure = random_structure(rng, 7)
    group, target, *others = rng.permutation(structure.nodes).tolist()
    inputs = others[: int(rng.integers(1, 6))]
    found = by_graph(structure, group, target, inputs=inputs)
    left = [row["input"] for row in found.proxies if not row["tells"]]
    assert by_graph(structure, group, target, inputs=left).criteria["independence"].separated
    for row in found.proxies:
        alone = by_graph(structure, group, target, inputs=[row["input"]])
        assert alone.criteria["independence"].separated != row["tells"]
        assert alone.criteria["separation"].separated != row["tells in class"]


def test_a_prediction_that_the_group_depends_on_is_not_said_to_be_cured():
    found = by_graph(
        "granted -> town; town -> sex; sex, job -> granted2; job -> repaid", "sex", "repaid", predicted="granted"
    )
    assert not found.criteria["independence"]
    looped = by_graph("job -> granted; sex -> job; granted -> sex2; repaid", "sex", "repaid", predicted="granted")
    assert "would be independent" in looped.sentences()[-1]
    below = by_graph(
        "a -> job; job -> granted; granted -> sex; a -> sex; job -> repaid", "sex", "repaid", predicted="granted"
    )
    assert "other paths would still be open" in below.sentences()[-1]


def test_how_much_flows():
    network = Network.given(
        "sex -> job; job -> granted; job -> repaid",
        {
            "sex": flag(0.5),
            "job": {"yes": flag(1.0), "no": flag(0.0)},
            "granted": {"yes": flag(1.0), "no": flag(0.0)},
            "repaid": {"yes": flag(0.5), "no": flag(0.5)},
        },
    )
    found = by_graph(network, "sex", "repaid", predicted="granted")
    assert found.bits["independence"] == pytest.approx(1.0)  # a coin's worth: granted is sex
    assert found.bits["sufficiency"] == pytest.approx(0.0)
    assert not found.criteria["sufficiency"]  # open, and empty
    [job] = found.proxies
    assert job["share of group"] == pytest.approx(1.0)


def test_what_cannot_be_asked_is_said():
    with pytest.raises(eo.DataError, match="did you mean 'sex'"):
        by_graph(LOANS, "sax", "repaid", inputs=["job"])
    with pytest.raises(eo.DataError, match="predicted=, a node"):
        by_graph(LOANS, "sex", "repaid")
    with pytest.raises(eo.DataError, match="cannot be an input"):
        by_graph(LOANS, "sex", "repaid", inputs=["repaid"])
    with pytest.raises(eo.DataError, match="name it with predicted="):
        by_graph(f"{LOANS}; job -> said repaid", "sex", "repaid", inputs=["job"])
    with pytest.raises(eo.DataError, match="three different nodes"):
        by_graph(LOANS, "sex", "repaid", predicted="repaid")


def test_the_command(tmp_path):
    asked = ["net", "fair", LOANS, "--by", "sex", "--target", "repaid"]
    found = json.loads(run(*asked, "--inputs", "job, thrift", "--json").stdout)
    assert found["criteria"]["independence"]["holds"] is False
    assert [row["input"] for row in found["proxies"]] == ["job", "thrift"]
    text = run(*asked, "--inputs", "thrift").output
    assert text.startswith(LIMITS[0])
    assert "independence, sex ⟂ said repaid: yes" in text
    for wrong, code, said in (
        ([], 2, "Give one of"),
        (["--inputs", "job", "--predicted", "job"], 2, "Give one of"),
        (["--predicted", "jobb"], 3, "did you mean 'job'"),
    ):
        assert said in run(*asked, *wrong, code=code).stderr
    rng = np.random.default_rng(0)
    rows = {"sex": rng.choice(["f", "m"], 300), "job": rng.choice(["a", "b"], 300), "repaid": rng.integers(0, 2, 300)}
    eo.NaiveBayes().fit(rows, "repaid").save(tmp_path / "m.eo")
    done = run(*asked, "--model", tmp_path / "m.eo")
    assert "gets to see sex directly and through job" in done.output
    eo.BayesNet("sex -> job; job -> repaid").fit(rows).save(tmp_path / "n.eo")
    done = run("net", "fair", tmp_path / "n.eo", "--by", "sex", "--target", "repaid", "--predicted", "job")
    assert "bits" in done.output
