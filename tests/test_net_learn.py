"""Tables and graphs learnt: one sum, four estimates, missing cells filled in, scores and searches."""

import math
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import evenodds as eo
from evenodds.cells import Coded
from evenodds.data.memory import table
from evenodds.data.source import Memory
from evenodds.data.titanic import counts as titanic_counts
from evenodds.data.titanic import titanic
from evenodds.labels import Labels
from evenodds.models.bayes_net import kernels, tables
from evenodds.models.bayes_net.climbing import FamilyScores, climb
from evenodds.models.bayes_net.counting import count_families, count_family, together
from evenodds.models.bayes_net.estimator import BayesNet
from evenodds.models.bayes_net.learn import NetworkWarning
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.reading import Columns, encode, families_of
from evenodds.models.bayes_net.scores import CRITERIA, family_score
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.structure_search import chow_liu, pairwise_information, tan
from evenodds.models.bayes_net.tallies import Settings, dense
from evenodds.models.information import information
from networks import ASIA, joint, random_network, random_structure

SEEDS = st.integers(0, 2**32 - 1)
KAGGLE = [  # Survived, Sex, Pclass and how many of the 891 of Kaggle's Titanic
    (0, "female", 1, 3), (1, "female", 1, 91), (0, "female", 2, 6), (1, "female", 2, 70), (0, "female", 3, 72),
    (1, "female", 3, 72), (0, "male", 1, 77), (1, "male", 1, 45), (0, "male", 2, 91), (1, "male", 2, 17),
    (0, "male", 3, 300), (1, "male", 3, 47),
]  # fmt: skip
PASSENGERS = [{"Survived": a, "Sex": b, "Pclass": c, "n": n} for a, b, c, n in KAGGLE]


def rows_of(data, names=None, weights=None):
    source = Memory(table(data))
    names = names or [name for name in source.sample().columns if name != weights]
    return encode(source, Columns.decided(source, names), weights)[0]


def with_holes(rng, rows, share):
    """The same table with some cells missing."""
    columns = {}
    for name in rows.column_names:
        lost = rng.random(rows.num_rows) < share
        columns[name] = [None if gone else v for v, gone in zip(rows[name].to_pylist(), lost)]
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def test_scores_of_kaggles_titanic():
    net = BayesNet("Sex, Pclass -> Survived").fit(PASSENGERS, sample_weight="n")
    for score, wanted in (("bic", -1896.7250), ("k2", -1891.0631), ("aic", -1875.1595)):
        assert net.structure_score(score) == pytest.approx(wanted, abs=5e-5)
    assert net.structure_score("bdeu", ess=25) == pytest.approx(-1892.7383, abs=5e-5)
    with pytest.raises(ValueError, match="expected one of 'bic'"):
        net.structure_score("mdl")
    with pytest.raises(ValueError, match="above 0"):
        net.structure_score("bdeu", ess=0)


@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
@pytest.mark.parametrize("prior", [{}, {"smoothing": 2.5}, {"prior": "flat", "smoothing": 1.5}])
def test_a_star_is_naive_bayes(estimate, prior):
    people = titanic()
    star = BayesNet(target="survived", estimate=estimate, **prior).fit(people)
    more = (
        {"class_prior": eo.Dirichlet(1.5)}
        if prior.get("prior") == "flat" and estimate in ("mean", "predictive")
        else {}
    )
    if prior.get("prior") == "flat" and estimate == "map":
        more = {"class_prior": eo.Dirichlet(0.5)}  # the mode under 1.5 is the mean under 0.5
    nb = eo.NaiveBayes(columns=eo.Categorical, estimate=estimate, **prior, **more).fit(people, "survived")
    assert all(star.model_.tallies[name] == nb.model_.tally.by_column()[name] for name in ("class", "sex", "age"))
    assert list(star.classes_) == list(nb.classes_)
    rows = people.drop_columns(["survived"])
    np.testing.assert_allclose(star.predict_proba(rows), nb.predict_proba(rows), rtol=1e-13)
    assert np.array_equal(star.predict(rows), nb.predict(rows))
    first = rows.slice(0, 3)
    for mine, theirs in zip(star.explain(first), nb.explain(first)):
        assert mine.prior == pytest.approx(theirs.prior)
        assert {t.column: pytest.approx(t.log_odds, abs=1e-12) for t in mine.terms} == {
            t.column: t.log_odds for t in theirs.terms
        }


def test_a_star_of_many_columns_is_naive_bayes_beyond_the_smallest_double():
    """Log-odds of 900: what is too small for a double has a logarithm, and every finding its own term."""
    y = np.arange(20) % 2
    rows = {f"c{j}": np.array(["u", "v"])[y] for j in range(120)}
    star = BayesNet(target="y", smoothing=0.01).fit({**rows, "y": y})
    nb = eo.NaiveBayes(columns=eo.Categorical, smoothing=0.01).fit({**rows, "y": y}, "y")
    log = star.predict_log_proba(rows)
    assert log.min() < -800
    np.testing.assert_allclose(log, nb.predict_log_proba(rows), rtol=1e-12)
    np.testing.assert_allclose(star.decision_function(rows), nb.decision_function(rows), rtol=1e-12)
    mine, theirs = (one.explain({name: cells[:1] for name, cells in rows.items()})[0] for one in (star, nb))
    np.testing.assert_allclose([t.log_odds for t in mine.terms], [t.log_odds for t in theirs.terms], atol=1e-9)
    assert mine.total == pytest.approx(theirs.total)


def test_the_titanic_network_has_9_parameters_of_23():
    weighted = BayesNet("survived -> sex; survived -> age; survived -> class").fit(
        titanic_counts(), sample_weight="people"
    )
    rows = BayesNet(weighted.graph_).fit(titanic())
    assert weighted.model_ == rows.model_
    three = BayesNet("survived -> sex; survived -> age; survived -> class").fit(
        [row for row in titanic_counts() if row["class"] != "crew"], sample_weight="people"
    )
    assert three.n_parameters == {"network": 9, "joint": 23}
    assert rows.n_parameters == {"network": 11, "joint": 31}


def test_estimates_and_priors_of_one_table():
    rows = {"a": ["x"] * 4 + ["y"] * 2, "b": ["u", "u", "u", "v", "v", "v"]}

    def p(**how):
        return BayesNet("a -> b", **how).fit(rows).network.tables["b"]  # fmt: skip

    np.testing.assert_allclose(p(estimate="mle"), [[0.75, 0.25], [0, 1]])
    np.testing.assert_allclose(p(prior="k2"), [[4 / 6, 2 / 6], [1 / 4, 3 / 4]])
    np.testing.assert_allclose(p(prior="flat", smoothing=2), [[5 / 8, 3 / 8], [2 / 6, 4 / 6]])
    np.testing.assert_allclose(p(prior="flat", smoothing=2, estimate="map"), [[4 / 6, 2 / 6], [1 / 4, 3 / 4]])
    np.testing.assert_allclose(p(prior="bdeu", smoothing=4), [[4 / 6, 2 / 6], [1 / 4, 3 / 4]])
    np.testing.assert_allclose(p(prior="pooled", smoothing=2), [[4 / 6, 2 / 6], [1 / 4, 3 / 4]])
    unseen = BayesNet("a -> b", states={"a": ["x", "y", "z"]}, estimate="mle").fit(rows)
    np.testing.assert_allclose(unseen.network.tables["b"][2], [0.5, 0.5])  # nothing is known: the shares of all rows
    assert unseen.query("a")["z"] == 0
    for how, sentence in (
        ({"prior": "jeffreys"}, "prior="),
        ({"smoothing": -1}, "smoothing="),
        ({"estimate": "x"}, "x"),
    ):
        with pytest.raises(ValueError, match=sentence):
            p(**how)


@given(SEEDS)
def test_a_complete_graph_in_any_order_is_the_empirical_joint(seed):
    rng = np.random.default_rng(seed)
    names = [f"c{i}" for i in range(int(rng.integers(1, 5)))]
    data = {name: rng.integers(0, 3, 40).astype(str) for name in names}
    order = rng.permutation(names).tolist()
    net = BayesNet({name: order[:i] for i, name in enumerate(order)}, estimate="mle").fit(data)
    table_ = joint(net.network)
    seen = np.zeros_like(table_)
    at = [[net.network.states[n].index(v) for v in data[n]] for n in net.graph_.nodes]
    np.add.at(seen, tuple(at), 1 / 40)
    np.testing.assert_allclose(table_, seen, atol=1e-15)


@given(SEEDS)
def test_a_network_is_a_sum(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 4)
    rows = with_holes(rng, network.sample(60, random_state=rng), 0.1)
    told = {"states": dict(network.states)} if rng.random() < 0.3 else {}
    weights = rng.random(60) * (rng.random(60) < 0.9) if rng.random() < 0.5 else np.ones(60)
    order = rng.permutation(60)

    def learnt(part, weights):
        return BayesNet(network.structure, prior="bdeu", **told).fit(part, sample_weight=weights).model_

    parts = [learnt(rows.slice(a, b - a), weights[a:b]) for a, b in ((0, 25), (25, 60))]
    whole = learnt(rows, weights)
    assert parts[0] + parts[1] == whole == parts[1] + parts[0] == sum(parts)
    assert whole - parts[1] == parts[0]
    assert whole - parts[1] - parts[0] + whole == whole
    assert learnt(rows, 2 * weights) == whole + whole == whole.fade(2.0)
    assert learnt(rows.take(pa.array(order)), weights[order]) == whole
    assert whole.settings == Settings(prior="bdeu")
    with pytest.raises(ValueError, match=r"never learnt: column 'n.' would have"):
        parts[1] - whole
    for backwards in (-1, float("nan"), "half", None):
        with pytest.raises(ValueError, match=r"factor=.*: expected a number, 0 or more"):
            whole.fade(backwards)


def test_networks_that_would_say_something_else_in_another_order_do_not_add():
    rows = {"a": ["x", "y", "x"], "b": ["u", "v", "u"]}
    plain = BayesNet("a -> b").fit(rows).model_
    for other, sentence in (
        (BayesNet("a -> b", smoothing=2.0).fit(rows).model_, "the networks differ in smoothing, 'auto' and 2.0"),
        (BayesNet("a -> b", prior="flat").fit(rows).model_, "differ in prior"),
    ):
        with pytest.raises(ValueError, match=sentence):
            plain + other
        assert (plain + plain - other).settings == plain.settings  # what is forgotten says nothing of the rest
    telling = plain.telling("a")
    assert plain + telling == telling + plain
    with pytest.raises(ValueError, match="one network tells 'a', the other 'b'"):
        telling + plain.telling("b")
    numbers, texts = (BayesNet("a -> b").fit({"a": some, "b": ["u", "v"]}).model_ for some in ([1, 2], ["1", "2"]))
    assert numbers != texts  # their states are called alike, and are no values of one kind


def test_a_star_of_thousands_of_columns_is_laid_out_at_once():
    star = {"y": (), **{f"c{j}": ("y",) for j in range(5000)}}
    begun = time.process_time()
    found = together(star, dict.fromkeys(star, 3))
    assert time.process_time() - begun < 2  # each family looks at the tables that have room, not at all of them
    assert sorted(node for _, nodes in found for node in nodes) == sorted(star)
    assert len(found) == 1000


def test_files_are_learnt_as_tables_are(tmp_path):
    rows = ASIA.sample(3000, random_state=1)
    from pyarrow import csv, parquet

    csv.write_csv(rows, tmp_path / "a.csv")
    parquet.write_table(rows, tmp_path / "a.parquet")
    nets = [BayesNet(ASIA.structure).fit(source) for source in (rows, tmp_path / "a.csv", str(tmp_path / "*.parquet"))]
    assert nets[0].model_ == nets[1].model_ == nets[2].model_
    nets[0].target_ = nets[1].target_ = "dysp"
    np.testing.assert_allclose(nets[1].predict_proba(tmp_path / "a.csv"), nets[0].predict_proba(rows), rtol=1e-14)
    assert BayesNet(ASIA.structure).fit(rows.to_pandas()).model_ == nets[0].model_
    as_categories = rows.to_pandas().astype("category")
    assert BayesNet(ASIA.structure).fit(as_categories).model_ == nets[0].model_


def test_learnt_tables_near_those_drawn_from_and_their_intervals_hold_them():
    rows = ASIA.sample(20_000, random_state=2)
    net = BayesNet(ASIA.structure, prior="bdeu", states=ASIA.states).fit(rows)
    inside = total = 0
    for node in ASIA.structure.nodes:
        for line, truth in zip(net.table(node), ASIA.table(node)):
            total += 1
            inside += line["low"] - 1e-12 <= truth["p"] <= line["high"] + 1e-12
    assert inside / total > 0.85
    answer = net.query_interval("lung", xray="yes", dysp="yes", draws=300)
    exact = ASIA.query("lung", xray="yes", dysp="yes")["yes"]
    assert answer.low[0] < exact < answer.high[0]
    assert answer.low[0] < answer["yes"] < answer.high[0]
    fixed = ASIA.query_interval("lung", xray="yes", draws=3)
    np.testing.assert_allclose(fixed.low, fixed.high)


def test_the_interval_of_a_root_is_the_dirichlets():
    rows = {"a": ["x"] * 30 + ["y"] * 70}
    net = BayesNet("a", prior="k2").fit(rows)
    low, high = eo.Dirichlet({"x": 31, "y": 71}).interval()
    assert [line["low"] for line in net.table("a")] == pytest.approx(sorted(low))
    drawn = net.query_interval("a", draws=4000)
    np.testing.assert_allclose(sorted(drawn.high), sorted(high), atol=0.01)
    low, high = eo.Dirichlet({"x": 30, "y": 70}).interval()
    for smoothing in ("auto", 1000):  # pseudo-rows of its own shares would say what is known already
        line = BayesNet("a", smoothing=smoothing).fit(rows).table("a")[0]
        assert (line["low"], line["high"]) == pytest.approx((min(low), min(high)))


@pytest.mark.parametrize(
    "how",
    [
        {"estimate": "mle"},
        {"prior": "k2"},
        {"prior": "bdeu", "smoothing": 3},
        {"estimate": "map"},
        {"estimate": "map", "prior": "k2"},
        {"estimate": "map", "prior": "flat", "smoothing": 2.5},
    ],
)
def test_filling_in_never_lowers_the_likelihood(how):
    rng = np.random.default_rng(9)
    for _ in range(30):
        network = random_network(rng, int(rng.integers(2, 6)))
        rows = with_holes(rng, network.sample(40, random_state=rng), 0.3)
        net = BayesNet(network.structure, states=dict(network.states), missing="em", **how).fit(rows)
        steps = np.diff(net.objective_)
        assert np.all(steps >= -1e-9 * abs(net.objective_[-1]))
        if how == {"estimate": "mle"}:
            assert net.objective_[-1] == pytest.approx(net.log_prob(rows).sum(), rel=1e-6, abs=1e-6)


def test_the_mode_under_a_flat_prior_is_filled_in_as_the_largest_likelihood_is():
    rng = np.random.default_rng(0)
    b = rng.choice(["x", "y"], 500, p=[0.55, 0.45])
    a = np.where(rng.random(500) < np.where(b == "x", 0.8, 0.15), "u", "v")
    seen = [None if one == "u" and rng.random() < 0.8 else other for one, other in zip(a, b)]
    rows = {"a": a, "b": seen, "c": np.where(a == "u", "s", "t")}  # c is a, so its table has zeros
    mle, mode = (BayesNet("b -> a -> c", missing="em", estimate=e, prior="k2").fit(rows) for e in ("mle", "map"))
    assert mode.query("b")["x"] == pytest.approx(mle.query("b")["x"], rel=1e-9)
    assert mode.objective_ == pytest.approx(mle.objective_)


def test_filling_in_is_counting_where_nothing_is_missing():
    rows = ASIA.sample(500, random_state=3)
    counted = BayesNet(ASIA.structure, prior="k2").fit(rows)
    filled = BayesNet(ASIA.structure, prior="k2", missing="em").fit(rows)
    for node, table_ in counted.network.tables.items():
        np.testing.assert_allclose(filled.network.tables[node], table_, rtol=1e-12)


def test_filling_in_finds_what_leaving_out_does_not():
    # whether b is seen depends on a, so the rows that have b are no fair sample of all
    rng = np.random.default_rng(0)
    truth = Network.given(
        "a -> b", {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]}, {"a": "uv", "b": ["x", "y"]} | {"a": ["u", "v"]}
    )
    data = truth.sample(20_000, random_state=rng).to_pydict()
    data["b"] = [None if a == "u" and rng.random() < 0.8 else b for a, b in zip(data["a"], data["b"])]
    net = BayesNet("b -> a", missing="em", estimate="mle").fit(data)
    left = BayesNet("b -> a", estimate="mle").fit(data)
    assert net.query("b")["x"] == pytest.approx(0.55, abs=0.02)
    assert abs(left.query("b")["x"] - 0.55) > 0.1


def test_a_hidden_node_is_found():
    truth = Network.given(
        "kind -> t1, t2, t3, t4",
        {"kind": [0.3, 0.7]} | {f"t{i}": [[0.9, 0.1], [0.15, 0.85]] for i in (1, 2, 3, 4)},
        {"kind": ["a", "b"]} | {f"t{i}": ["yes", "no"] for i in (1, 2, 3, 4)},
    )
    rows = truth.sample(5000, random_state=0).drop_columns(["kind"])
    net = BayesNet(truth.structure, states={"kind": ["a", "b"]}, missing="em", prior="k2", random_state=1).fit(rows)
    assert sorted(net.query("kind").to_dict().values()) == pytest.approx([0.3, 0.7], abs=0.05)
    with pytest.raises(ValueError, match="'kind' not found"):
        BayesNet(truth.structure).fit(rows)


@given(SEEDS)
def test_families_counted_together_count_as_they_do_alone(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 7)
    drawn = network.sample(60, random_state=rng)
    rows = rows_of(with_holes(rng, drawn, 0.2) if rng.random() < 0.7 else drawn)
    cells = {}
    for j, name in enumerate(rows.names):
        labels, place = Labels.coded(list(rows.states[name]))
        if rng.random() < 0.2:  # a text that is no value
            place = np.where(np.arange(len(place)) == 0, -1, place)
        cells[name] = Coded(rows.codes[j], labels, place)
    families = network.structure.parents
    found = count_families(families, cells)
    sizes = {name: len(states) + 1 for name, states in rows.states.items()}
    assert sorted(node for _, nodes in together(families, sizes) for node in nodes) == sorted(families)
    for node, parents in families.items():
        assert found[node].trimmed() == count_family(node, parents, cells).trimmed()
        by_weight = count_family(node, parents, cells, np.ones(60)).trimmed()
        assert found[node].trimmed() == by_weight
        inside = all(len(cells[name].labels) for name in (node, *parents))
        known = np.all([cells[name].places >= 0 for name in (node, *parents)], axis=0)
        assert not inside or found[node].counts.sum() == known.sum()


def test_a_table_too_large_to_be_laid_out_counts_what_occurs(monkeypatch):
    rows = ASIA.sample(200, random_state=3)
    whole = BayesNet(ASIA.structure).fit(rows).model_
    monkeypatch.setattr("evenodds.models.bayes_net.counting.DENSE", 6)
    monkeypatch.setattr("evenodds.models.bayes_net.counting.PAIR", 6)
    assert BayesNet(ASIA.structure).fit(rows).model_ == whole


@given(SEEDS)
def test_the_kernel_scores_as_the_family_does(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 5)
    rows = rows_of(with_holes(rng, network.sample(50, random_state=rng), 0.1))
    names, (node, other, *parents) = rows.names, rng.permutation(5).tolist()
    parents = [i for i in parents if rng.random() < 0.5]
    weights = rng.integers(1, 4, 50).astype(float)
    for given_weights in (None, weights):
        rows = type(rows)(rows.names, rows.states, rows.codes, given_weights)
        structure = Structure(dict.fromkeys(names, ())).with_parents(names[node], [names[i] for i in [*parents, other]])
        tally = families_of(rows, structure)[names[node]]
        counts = dense(tally, names[node], structure.parents[names[node]], rows.states)
        for score in CRITERIA:
            scores = FamilyScores(rows, score, 7.0)
            [found] = scores.more(node, sum(1 << i for i in parents), [other])
            assert found == pytest.approx(family_score(counts, score, rows.mass, 7.0), rel=1e-10, abs=1e-9)
            whole = FamilyScores(rows, score, 7.0).one(node, sum(1 << i for i in [*parents, other]))
            assert found == pytest.approx(whole, rel=1e-12, abs=1e-12)
            scores.table = np.empty(counts.size - 1)
            assert scores._counted(node, sum(1 << i for i in parents), [other]) == [-np.inf]


def test_kernels_of_the_search_compiled_are_plain():
    rows = rows_of(ASIA.sample(200, random_state=4))
    groups, sizes = np.zeros(200, np.int32), np.array(rows.sizes)
    found = []
    for how in (kernels.pair_information.plain, kernels.pair_information.compiled):
        out = np.zeros((8, 8))
        how(rows.codes, sizes, groups, 1, np.zeros(0), np.empty(4), out)
        found.append(out)
    np.testing.assert_allclose(*found, rtol=1e-12)
    found = []
    codes = np.ascontiguousarray(rows.codes.T)
    for how in (kernels.score_families.plain, kernels.score_families.compiled):
        for kind in (0, 1, 2):
            for room in (8, 16, 64):  # for one table, for two, for all
                out = np.zeros(4)
                parents, others = np.array([1]), np.array([2, 3, -1, 4])
                how(codes, sizes, 0, parents, others, np.zeros(0), kind, 1.5, 200.0, np.empty(room), out)
                found.append(out)
    for some in (found[:3], found[3:6], found[6:9]):
        np.testing.assert_array_equal(some[0], some[1])
        np.testing.assert_array_equal(some[0], some[2])
    np.testing.assert_allclose(found[:9], found[9:], rtol=1e-12)


@given(SEEDS)
def test_the_kernel_of_information_says_what_the_table_says(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 4)
    rows = rows_of(with_holes(rng, network.sample(50, random_state=rng), 0.1))
    weights = rng.random(50) if rng.random() < 0.5 else None
    rows = type(rows)(rows.names, rows.states, rows.codes, weights)
    codes, sizes = rows.codes, rows.sizes
    alone, within = pairwise_information(rows), pairwise_information(rows, rows.names[3])
    for i, j in ((0, 1), (0, 2), (2, 1)):
        for found, some in ((alone[i, j], [i, j]), (within[i, j], [3, i, j])):
            known = (codes[some] >= 0).all(axis=0)
            table_ = np.zeros([sizes[k] for k in some])
            np.add.at(table_, tuple(codes[some][:, known]), 1.0 if weights is None else weights[known])
            told = information(table_)
            assert found == pytest.approx(told.nats / max(table_.sum(), 1e-300), abs=1e-12)


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2", "aic"])
def test_climbing_gives_a_graph_that_scores_at_least_as_well_as_the_true_one(score):
    rows = rows_of(ASIA.sample(3000, random_state=5))
    found = climb(rows, score)
    true = sum(
        family_score(dense(t, n, ASIA.structure.parents[n], rows.states), score, rows.mass)
        for n, t in families_of(rows, ASIA.structure).items()
    )
    learnt = Network.learnt(
        found.structure, families_of(rows, found.structure), Settings(), Columns({}, {}), rows.states
    )
    assert found.score == pytest.approx(learnt.structure_score(score), rel=1e-10)
    assert found.score >= true - 1e-6


@given(SEEDS)
def test_every_graph_that_is_found_has_no_cycle_and_keeps_to_what_is_told(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 6)
    rows = rows_of(network.sample(80, random_state=rng))
    wanted = random_structure(rng, 6, 1).edges
    never = [edge for edge in random_structure(rng, 6).edges if edge not in wanted]
    found = climb(
        rows, "aic", required=wanted, forbidden=never, parents=2, patience=5
    ).structure  # a cycle would be refused
    assert set(wanted) <= set(found.edges)
    assert not set(never) & set(found.edges)
    assert all(len(parents) <= 2 for parents in found.parents.values())
    tree = chow_liu(rows)
    assert len(tree.edges) == 5
    below = tan(rows, "n0")
    assert set(below.children["n0"]) == {f"n{i}" for i in range(1, 6)}
    assert len(below.edges) == 9


def test_the_start_of_a_climb_is_only_a_start():
    rng = np.random.default_rng(0)
    a = rng.choice(["0", "1"], 400)
    rows = {"a": a, "b": np.where(rng.random(400) < 0.9, a, "0"), "c": rng.choice(["0", "1"], 400)}
    found = BayesNet("c -> b", search="hill-climbing").fit(rows).graph_
    assert set(found.nodes) == {"a", "b", "c"}
    assert len(found.edges) == 1
    never = BayesNet("a -> b", search="hill-climbing", forbidden="a -> b; b -> a").fit(rows)
    assert not never.graph_.edges
    again = never.partial_fit(rows).network  # the graph stays, whatever the climb was told
    assert again.rows == 800


def test_states_are_what_their_texts_say_with_a_graph_and_without():
    rows = {"flag": [True, False] * 20, "half": [0.5, 1.0] * 20, "y": ["n", "n", "y", "n"] * 10}
    for graph in (None, "y -> flag, half"):
        net = BayesNet(graph, "y", states={"flag": [True, False], "half": [1.0, 0.5, 2]}, estimate="mle").fit(rows)
        assert net.query("flag").to_dict() == {"true": 0.5, "false": 0.5}
        assert net.network.states["half"] == ("1", "0.5", "2")


def test_chow_liu_is_the_best_of_all_trees():
    import itertools

    rng = np.random.default_rng(8)
    network = random_network(rng, 5, structure=Structure.of("n0 -> n1 -> n2; n1 -> n3; n0 -> n4"))
    rows = rows_of(network.sample(400, random_state=rng))
    pairs = pairwise_information(rows)
    best = -math.inf
    for parents in itertools.product(range(5), repeat=4):  # of nodes 1 to 4; a cycle is no tree
        try:
            Structure.of([(f"n{p}", f"n{i + 1}") for i, p in enumerate(parents)])
        except ValueError:
            continue
        best = max(best, sum(pairs[p, i + 1] for i, p in enumerate(parents)))
    tree = chow_liu(rows, "n0")
    total = sum(pairs[rows.names.index(a), rows.names.index(b)] for a, b in tree.edges)
    assert total == pytest.approx(best)


def test_tables_given_by_hand_stay():
    rows = ASIA.sample(300, random_state=6)
    net = BayesNet("smoke -> lung", tables={"smoke": {"yes": 0.25, "no": 0.75}}).fit(rows)
    assert net.query("smoke")["yes"] == pytest.approx(0.25)
    assert net.network.tables["lung"].shape == (2, 2)


def test_numbers_are_cut_where_told():
    people = {"age": [2, 4.9, 5, 17, 18, 60, None, 30], "out": ["y", "y", "n", "n", "n", "n", "y", "n"]}
    net = BayesNet(target="out", cuts={"age": [5, 18]}, estimate="mle").fit(people)
    assert net.network.states["age"] == ("below 5", "5 to 18", "18 and above")
    assert net.network.tables["age"].tolist() == [[0, 0.4, 0.6], [1, 0, 0]]
    assert net.predict({"age": [3, 40]}).tolist() == ["y", "n"]
    equal = BayesNet(target="out", cuts={"age": 2}).fit(people)
    assert equal.network.states["age"] == ("below 17", "17 and above")
    for cuts, sentence in (
        ({"age": 1}, "2 parts or more"),
        ({"age": [5, 5]}, "ascending"),
        ({"ages": [1]}, "did you mean"),
    ):
        with pytest.raises(ValueError, match=sentence):
            BayesNet(target="out", cuts=cuts).fit(people)
    with pytest.raises(ValueError, match=r"column 'x' has 51 different numbers.*cuts=\{'x': 5\}"):
        BayesNet("x").fit({"x": np.arange(51)})
    with pytest.raises(ValueError, match=r"column 'x' has no numbers in its first rows.*cuts=\{'x': \[5, 18\]\}"):
        BayesNet("x -> y", cuts={"x": 4}).fit({"x": [None, np.nan], "y": ["a", "b"]})


def test_parts_of_numbers_far_from_zero_have_names_of_their_own():
    rng = np.random.default_rng(0)
    for x in (1e7 + rng.normal(size=500), 52.51 + 3e-4 * rng.random(500), 1.7e9 + np.arange(500) / 7):
        net = BayesNet(target="y").fit({"x": x, "y": rng.choice(["no", "yes"], 500)})
        assert len(net.network.states["x"]) == 8
        assert net.predict({"x": x}).shape == (500,)


@given(SEEDS)
def test_numbers_are_cut_where_repeated_rows_would_be(seed):
    rng = np.random.default_rng(seed)
    rows = {"x": rng.integers(0, 90, 120).astype(float), "y": rng.choice(["no", "yes"], 120)}
    weights, parts = rng.integers(0, 4, 120), int(rng.integers(2, 10))
    rows["x"][rng.random(120) < 0.1] = np.nan
    repeated = {name: np.repeat(values, weights) for name, values in rows.items()}
    for cuts in ({"x": parts}, {}):
        weighed = BayesNet(target="y", cuts=cuts).fit(rows, sample_weight=weights)
        assert weighed.model_ == BayesNet(target="y", cuts=cuts).fit(repeated).model_


def test_a_number_is_evidence_of_the_part_that_it_is_in():
    rows = {"age": [2, 4, 5, 17, 18, 60], "out": ["y", "y", "n", "n", "n", "y"]}
    net = BayesNet("age -> out", cuts={"age": [5, 18]}).fit(rows)
    for number, part in ((4.9, "below 5"), (5, "5 to 18"), ("7", "5 to 18"), (np.int64(18), "18 and above")):
        assert net.query("out", age=number).to_dict() == net.query("out", age=part).to_dict()
    with pytest.raises(ValueError, match="'nan'"):
        net.query("out", age="nan")
    assert net.query("out", age={3, 20}).to_dict() == net.query("out", age={"below 5", "18 and above"}).to_dict()
    soft = {"below 5": 0.9, "18 and above": 0.2}
    assert net.query("out", age={3: 0.9, 20: 0.2}).to_dict() == net.query("out", age=soft).to_dict()
    with pytest.raises(ValueError, match="state 'old' not found"):
        net.query("out", age="old")


def test_a_classifier_with_holes_and_values_never_seen():
    rows = ASIA.sample(2000, random_state=7).to_pandas()
    net = BayesNet(ASIA.structure, target="lung").fit(rows)
    some = rows.drop(columns="lung").head(4).astype(object)
    some.loc[0, "xray"] = None
    some.loc[1, "smoke"] = "sometimes"
    found = net.predict_proba(some)
    given0 = {k: v for k, v in some.iloc[0].items() if k != "xray"}
    np.testing.assert_allclose(found[0], net.query("lung", given=given0).probabilities)
    given1 = {k: v for k, v in some.iloc[1].items() if k != "smoke"}
    np.testing.assert_allclose(found[1], net.query("lung", given=given1).probabilities)
    np.testing.assert_allclose(np.exp(net.predict_log_proba(some)), found)
    explained = net.explain(some.head(1))[0]
    assert explained.prior + sum(term.log_odds for term in explained.terms) == pytest.approx(explained.total)
    assert 0.8 < net.score(rows.drop(columns="lung"), rows["lung"]) <= 1
    tree = BayesNet(search="tan").fit(rows.drop(columns="lung"), rows["lung"])
    assert tree.target_ == "lung"
    with pytest.raises(ValueError, match="none of the columns"):
        net.predict({"other": [1]})


def test_impossible_rows_get_the_targets_own_probabilities():
    net = BayesNet(target="c", estimate="mle").fit({"c": ["a", "b"], "x": ["0", "1"], "y": ["0", "1"]})
    with pytest.warns(NetworkWarning, match="1 row of probability 0"):
        assert net.predict_proba({"x": ["0"], "y": ["1"]}).tolist() == [[0.5, 0.5]]


def test_more_rows_and_fewer():
    rows = ASIA.sample(200, random_state=8)
    net = BayesNet(ASIA.structure).fit(rows.slice(0, 100))
    net.partial_fit(rows.slice(100))
    whole = BayesNet(ASIA.structure).fit(rows).model_
    assert all(net.model_.tallies[node] == tally for node, tally in whole.tallies.items())
    net.forget(rows.slice(100))
    assert net.model_.tallies["dysp"] == BayesNet(ASIA.structure).fit(rows.slice(0, 100)).model_.tallies["dysp"]


def test_a_saved_network_goes_on_learning_as_one_that_was_not(tmp_path):
    rows, more = {"a": ["x", "y"] * 5, "b": ["u", "v"] * 5}, {"a": ["z", "x"], "b": ["u", "w"]}
    for how in ({}, {"states": {"a": ["z", "y", "x"]}}, {"tables": {"a": {"x": 0.25, "y": 0.5, "z": 0.25}}}):
        alive = BayesNet("a -> b", prior="k2", **how).fit(rows)
        before = alive.model_
        alive.save(tmp_path / "net.eo")
        loaded = BayesNet.load(tmp_path / "net.eo")
        assert loaded.network.told == before.told
        assert loaded.partial_fit(more).model_ == alive.partial_fit(more).model_ != before
        assert set(loaded.network.states["a"]) == {"x", "y", "z"}
        assert loaded.forget(more).model_ == alive.forget(more).model_ == before
    told = BayesNet("a -> b", states={"a": ["x", "y"]}).fit(rows)
    before = told.model_
    with pytest.raises(ValueError, match="node 'a' has the value 'z' in the data, which is none of its states"):
        told.partial_fit(more)
    assert told.model_ is before


def test_what_is_forgotten_whole_can_be_learnt_again():
    rows = {"a": ["x", "y"] * 5, "b": ["u", "v"] * 5}
    net = BayesNet("a -> b").fit(rows)
    before = net.model_
    net.forget(rows)
    assert Network.from_bytes(net.model_.to_bytes()) == net.model_
    assert net.n_parameters == {"network": 0, "joint": 0}
    with pytest.raises(ValueError, match="node 'a' has no states: nothing that is left"):
        net.query("a")
    assert net.partial_fit(rows).model_ == before
    assert BayesNet("a", states={"a": ["x", "y"]}).fit(rows).forget(rows).query("a").to_dict() == {"x": 0.5, "y": 0.5}


@pytest.mark.parametrize("how", [{}, {"search": "tan"}, {"search": "hill-climbing"}, {"missing": "em"}])
def test_a_row_of_weight_0_is_no_row(how):
    rng = np.random.default_rng(0)
    rows = {name: rng.choice(values, 60) for name, values in (("f", ["a", "b"]), ("g", ["u", "v"]), ("y", ["n", "s"]))}
    more = {name: np.append(x, "ghost") for name, x in rows.items()}
    for one in more:  # in one column, and in all
        ghost = {name: more[name] if name == one else np.append(x, x[0]) for name, x in rows.items()}
        for table_ in (ghost, more):
            net = BayesNet(target="y", prior="k2", **how).fit(table_, sample_weight=np.append(np.ones(60), 0.0))
            assert net.model_ == BayesNet(target="y", prior="k2", **how).fit(rows).model_
    with pytest.raises(ValueError, match="all weights are zero"):
        BayesNet(target="y", **how).fit(rows, sample_weight=np.zeros(60))


def test_networks_whose_tables_by_hand_are_about_other_states_do_not_add():
    rows, table_ = {"a": ["x", "y"], "b": ["u", "v"]}, {"x": 0.5, "y": 0.5}
    one, other = (
        BayesNet("a -> b", tables={"a": t}).fit(rows).model_ for t in (table_, dict(reversed(table_.items())))
    )
    with pytest.raises(ValueError, match="given by hand are the same"):
        one + other


def test_a_file_that_does_not_say_which_states_were_told_says_what_it_said():
    from evenodds import file

    rows = {"a": ["x", "y"] * 5, "b": ["u", "v"] * 5}
    for how in ({}, {"states": {"a": ["z", "y", "x"]}}, {"tables": {"a": {"x": 0.25, "y": 0.75}}}):
        network = BayesNet("a -> b", prior="k2", **how).fit(rows).model_
        arrays, header = file.unpack(network.to_bytes())
        header.pop("format")
        header["nodes"] = [{k: v for k, v in one.items() if k != "told"} for one in header["nodes"]]
        old = Network.from_bytes(file.pack(arrays, header))
        assert old == network
        assert old.told == network.told


def test_a_saved_network_is_the_same(tmp_path):
    rows = with_holes(np.random.default_rng(0), ASIA.sample(300, random_state=9), 0.1)
    age = pa.array(np.random.default_rng(1).integers(0, 90, 300))
    learnt = BayesNet("age -> smoke; smoke -> lung", cuts={"age": [18, 40]}, prior="bdeu", smoothing=2).fit(
        rows.append_column("age", age)
    )
    filled = BayesNet("smoke -> lung", missing="em").fit(rows)
    mixed = BayesNet("smoke -> lung", tables={"smoke": {"yes": 0.25, "no": 0.75}}).fit(rows)
    for network in (ASIA, learnt.model_, filled.model_, mixed.model_):
        network.save(tmp_path / "net.eo")
        again = Network.load(tmp_path / "net.eo")
        assert again == network == eo.load(tmp_path / "net.eo")
        assert again.to_bytes() == network.to_bytes()
        assert again.columns == network.columns
        node = network.structure.nodes[-1]
        assert np.array_equal(again.query(node).probabilities, network.query(node).probabilities)
    assert (Network.from_bytes(learnt.model_.to_bytes()) + learnt.model_).rows == 2 * learnt.model_.rows


def test_whole_numbers_that_later_are_none_or_no_numbers_at_all(tmp_path):
    rows = {"rooms": [1, 2, 3, 2], "dear": ["n", "n", "y", "y"]}
    net = BayesNet("rooms -> dear").fit(rows).partial_fit({"rooms": [1.5, 2.0], "dear": ["n", "n"]})
    assert net.network.values("rooms") == [1.0, 1.5, 2.0, 3.0]
    assert Network.from_bytes(net.model_.to_bytes()) == net.model_
    assert set(net.sample(50, random_state=0)["rooms"].to_pylist()) == {1.0, 1.5, 2.0, 3.0}
    told = BayesNet("rooms -> dear", states={"rooms": [1, 2, 3, "unknown"]}, target="rooms", prior="k2").fit(rows)
    assert told.classes_.tolist() == ["1", "2", "3", "unknown"]
    assert Network.from_bytes(told.model_.to_bytes()) == told.model_
    lines = "".join(f"{i % 4},{'ny'[i % 2]}\n" for i in range(10_000))  # the rows that say what a column is
    (tmp_path / "rooms.csv").write_text(f"rooms,dear\n{lines}1.5,n\n")
    read = BayesNet("rooms -> dear").fit(tmp_path / "rooms.csv").model_
    assert Network.from_bytes(read.to_bytes()) == read
    assert read.states["rooms"] == ("0", "1", "1.5", "2", "3")


def test_spoilt_files_are_refused_in_words():
    from evenodds import file

    learnt = BayesNet("smoke -> lung").fit(ASIA.sample(50, random_state=1)).model_
    arrays, header = file.unpack(learnt.to_bytes())
    for change, sentence in (
        (lambda a, h: h["nodes"][0].update(parents=[1]), "cycle"),
        (lambda a, h: h["nodes"][0].update(parents=[7]), "a parent that is not there"),
        (lambda a, h: h["nodes"][0].update(states=3), "do not end where they should"),
        (lambda a, h: h["nodes"][0].update(told="yes"), "yes"),
        (lambda a, h: a.update({"states.blob": a["states.blob"][::-1].copy()}), "are not those that it has learnt"),
        (lambda a, h: h["nodes"][0].update(name="lung"), "no names of their own"),
        (lambda a, h: h["nodes"][0].update(kind="date"), "of an unknown kind"),
        (lambda a, h: h["nodes"][0].pop("tally"), "no array 'n0.table'"),
        (lambda a, h: h["settings"].update(prior="x"), "prior="),
        (lambda a, h: h.update(kind="tally"), "holds a 'tally'"),
        (lambda a, h: a.update(extra=np.zeros(1)), "belongs nowhere"),
        (lambda a, h: a.update({"n0.counts": -a["n0.counts"]}), "below 0"),
    ):
        import copy

        some, told = dict(arrays), copy.deepcopy(header)
        change(some, told)
        told.pop("format")
        with pytest.raises(ValueError) as refused:
            Network.from_bytes(file.pack(some, told))
        assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BayesNet().fit(PASSENGERS), "no graph is given"),
        (lambda: BayesNet(search="tan").fit(PASSENGERS), "needs a target"),
        (lambda: BayesNet(search="best", target="Sex").fit(PASSENGERS), "expected one of 'star'"),
        (lambda: BayesNet("Sex -> Age").fit(PASSENGERS), "column 'Age' not found"),
        (lambda: BayesNet("Sex", missing="drop").fit(PASSENGERS), "missing='drop'"),
        (lambda: BayesNet("Sex").fit([]), "no rows"),
        (lambda: BayesNet("Sex", states={"Sex": ["male"]}).fit(PASSENGERS), "'female' in the data, which is none of"),
        (lambda: BayesNet("Sex").query("Sex"), "call fit"),
        (lambda: BayesNet("Sex").fit(PASSENGERS).predict(PASSENGERS), "no target"),
        (lambda: BayesNet("Sex").fit(PASSENGERS, sample_weight=[1]), "weights"),
        (lambda: BayesNet(target="Sx").fit(PASSENGERS), "did you mean 'Sex'"),
        (lambda: BayesNet(target="Sex").fit({"Sex": [None, None], "b": ["x", "y"]}), "no row with a value of 'Sex'"),
        (lambda: BayesNet("Sex -> n", search="hill-climbing", required=[("Sex", "n")], forbidden=[("Sex", "n")]).fit(
            {"Sex": ["a", "b"], "n": ["c", "d"]}), "required and forbidden"),
        (lambda: BayesNet("Sex -> n", "n", search="star").fit(PASSENGERS), "search='star' would find another graph"),
        (lambda: BayesNet("Sex -> n", "n", search="tan", missing="em").fit(PASSENGERS), "would find another graph"),
        (lambda: BayesNet(search="tan", target="n", forbidden="n -> Sex").fit(PASSENGERS), "are for search="),
        (lambda: BayesNet(search="chow-liu", required="n -> Sex").fit(PASSENGERS), "for search='hill-climbing'"),
        (lambda: BayesNet("Sex -> n", max_parents=2).fit(PASSENGERS), "for search='hill-climbing'"),
        (lambda: BayesNet(target="n", tables={"n": [1.0]}).fit(PASSENGERS), "for the nodes of a graph"),
        (lambda: BayesNet("Sex", search="hill-climbing", tables={"Sex": [1.0]}).fit(PASSENGERS), "search for none"),
        (lambda: BayesNet("Sexes -> n", search="hill-climbing").fit(PASSENGERS), "did you mean 'Sex'"),
        (lambda: BayesNet(search="tan", target="n", criterion="mdl").fit(PASSENGERS), "criterion='mdl': expected"),
        (lambda: BayesNet(target="n", states={"Sexes": ["a"]}).fit(PASSENGERS), "did you mean 'Sex'"),
        (lambda: BayesNet.of(ASIA).fit(ASIA.sample(9)), "all tables are given, and stay as they are"),
        (lambda: BayesNet(search="hill-climbing", max_parents=0).fit(PASSENGERS), "max_parents=0: expected"),
        (lambda: BayesNet(search="hill-climbing", max_parents=2.5).fit(PASSENGERS), "max_parents=2.5: expected"),
        (lambda: BayesNet(search="hill-climbing", ess="10").fit(PASSENGERS), "ess='10': expected a number"),
        (lambda: BayesNet("Sex", missing="guess").fit(PASSENGERS), "missing='guess': expected one of 'ignore', 'em'"),
        (lambda: BayesNet("Sex", cuts={"Sex": "many"}).fit(PASSENGERS), "expected a number of parts, or a list of"),
        (lambda: BayesNet("Sex", cuts={"Sex": 2.5}).fit(PASSENGERS), "expected a number of parts, or a list of edges"),
        (lambda: BayesNet("Sex", states={"Sex": ["male"]}, missing="em").fit(PASSENGERS),
         "node 'Sex' has the value 'female' in the data, which is none of its states"),
    ],
)  # fmt: skip
def test_what_cannot_be_learnt_is_said(make, sentence):
    with pytest.raises(ValueError) as refused:
        make().network.tables  # noqa: B018
    assert sentence in str(refused.value)


def test_independence_from_the_data():
    admissions = {  # Bickel, Hammel and O'Connell 1975: men admitted, rejected; women admitted, rejected
        "A": (512, 313, 89, 19), "B": (353, 207, 17, 8), "C": (120, 205, 202, 391),
        "D": (138, 279, 131, 244), "E": (53, 138, 94, 299), "F": (22, 351, 24, 317),
    }  # fmt: skip
    rows = [
        {"dept": d, "sex": s, "admitted": a, "n": n}
        for d, counts in admissions.items()
        for (s, a), n in zip((("m", "yes"), ("m", "no"), ("f", "yes"), ("f", "no")), counts)
    ]
    alone = BayesNet.independent(rows, "sex", "admitted", sample_weight="n")
    assert not alone
    assert "depend" in repr(alone)
    same = BayesNet.independent(rows, "sex", "admitted", sample_weight=[row["n"] for row in rows])
    assert (repr(same), repr(same.frame)) == (repr(alone), repr(alone.frame))
    small = [row for row in rows if row["dept"] != "A"]
    within = BayesNet.independent(small, "sex", "admitted", given="dept", sample_weight="n")
    assert within
    assert within.low == 0.0 < within.information < within.high
    assert "may be independent given dept" in repr(within)
    first = alone.frame[0]
    assert first["if independent"] == pytest.approx(
        sum(r["n"] for r in rows if r["sex"] == first["sex"])
        * sum(r["n"] for r in rows if r["admitted"] == first["admitted"])
        / 4526
    )
    for ask, sentence in (
        (lambda: BayesNet.independent(rows, "sex", "sex"), "once"),
        (lambda: BayesNet.independent(rows, "sex", "x"), "not found"),
        (lambda: BayesNet.independent(rows, "sex", "dept", level=2), "level"),
        (lambda: BayesNet.independent({"a": [None], "b": ["x"]}, "a", "b"), "no values"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ask()


def test_the_interval_of_the_information_holds_the_true_one():
    rng = np.random.default_rng(0)
    truth = np.array([[0.3, 0.2], [0.15, 0.35]])
    wanted = float((truth * np.log(truth / np.outer(truth.sum(1), truth.sum(0)))).sum())
    inside = 0
    for _ in range(200):
        cells = rng.choice(4, 500, p=truth.ravel())
        found = BayesNet.independent({"a": cells // 2, "b": cells % 2}, "a", "b")
        inside += found.low <= wanted <= found.high
    assert 180 <= inside <= 199


def test_the_ends_of_an_information_are_those_under_which_so_much_or_so_little_is_rare():
    """2 n I is a chi-squared number shifted by 2 n times the true one: at each end a tail of 5 % is beyond it."""
    counts = {("x", "u"): 40, ("x", "v"): 20, ("y", "u"): 15, ("y", "v"): 45}
    rows = [{"a": a, "b": b, "n": n} for (a, b), n in counts.items()]
    found = BayesNet.independent(rows, "a", "b", sample_weight="n", level=0.9)
    n, of_b = 120, {"u": 55, "v": 65}
    told = sum(m / n * math.log(m * n / (60 * of_b[b])) for (_, b), m in counts.items())
    assert found.information == pytest.approx(told)
    seen = 2 * n * found.information
    assert stats.ncx2.sf(seen, 1, 2 * n * found.low) == pytest.approx(0.05, rel=1e-6)
    assert stats.ncx2.cdf(seen, 1, 2 * n * found.high) == pytest.approx(0.05, rel=1e-6)


def test_the_picture_has_every_node_and_plates_for_those_that_repeat():
    from xml.etree import ElementTree

    from evenodds.models.bayes_net.picture import plated

    drawn = ElementTree.fromstring(ASIA.picture())
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted(ASIA.structure.nodes)
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}line"))) == len(ASIA.structure.edges)
    words = plated(Structure.of("class -> word1, word2, word3, length"))
    assert words.plates == {"1 … 3": ("word",)}
    assert words.nodes == ("class", "word", "length")
    nested = plated(Structure.of("a -> x1, x2; x1 -> y1; x2 -> y2"))
    assert nested.nodes == ("a", "x", "y")
    assert nested.edges == (("a", "x"), ("x", "y"))
    assert nested.plates == {"1 … 2": ("x", "y")}
    different = plated(Structure.of("a -> x1; b -> x2"))
    assert different.plates == {}
    ElementTree.fromstring(BayesNet({"a<b>&": (), '"c"': ("a<b>&",)}).picture())


def test_independence_within_layers_is_tested_as_scipy_tests_each_of_them():
    layers = np.random.default_rng(3).integers(1, 20, (4, 3, 5)).astype(float)
    each = [stats.chi2_contingency(layer, lambda_="log-likelihood") for layer in layers]
    found, statistic = information(layers), sum(one.statistic for one in each)
    assert 2 * found.nats == pytest.approx(statistic, rel=1e-12)
    assert found.degrees == sum(one.dof for one in each) == 4 * 2 * 4
    assert found.p_value == pytest.approx(stats.chi2.sf(statistic, found.degrees), rel=1e-12)


@pytest.mark.parametrize(
    "how", [{}, {"smoothing": 5.0}, {"prior": "flat"}, {"prior": "bdeu", "smoothing": 3.0}], ids=str
)
def test_tables_are_those_that_filling_in_came_to(how):
    """Filled in once more, under the network's own tables, the rows count what they were counted."""
    rng = np.random.default_rng(3)
    a = rng.choice(["x", "y", "z"], 80, p=[0.5, 0.3, 0.2])
    b = np.where(rng.random(80) < 0.8, np.where(a == "x", "p", "q"), "r")
    rows = {
        "a": np.where(rng.random(80) < 0.5, a, None).tolist(),
        "b": np.where(rng.random(80) < 0.7, b, None).tolist(),
    }
    net = eo.BayesNet("a -> b", missing="em", **how).fit(rows).model_
    joint, counted = net.query("a", "b").probabilities, np.zeros((3, 3))
    for one, other in zip(rows["a"], rows["b"]):
        if one is not None or other is not None:  # a row of which nothing is known says nothing
            some = joint.copy()
            if one is not None:
                some[[state != one for state in net.states["a"]]] = 0
            if other is not None:
                some[:, [state != other for state in net.states["b"]]] = 0
            counted += some / some.sum()
    mine, theirs = net.counts["a"].ravel(), counted.sum(axis=1)
    np.testing.assert_allclose(mine / mine.sum(), theirs / theirs.sum(), atol=1e-3)


def test_a_network_that_is_worth_nothing_is_one_without_rows():
    net = eo.BayesNet("a -> b").fit({"a": list("xyxy"), "b": list("ppqq")}).model_
    assert net.fade(0) == net - net


def test_many_parents_are_counted_by_what_occurs():
    """Of 3 ** 21 combinations, with a place for a missing cell in each, only those of the rows are looked at."""
    rows = {f"x{i}": [f"{(i + row) % 2}" for row in range(6)] for i in range(23)}
    names = list(rows)
    network = BayesNet({names[22]: names[:21]}).fit(rows).model_
    assert network.tables["x22"].shape == (2,) * 22
    assert network.rows == 6
    several = dict.fromkeys(names[20:], names[:20])
    assert BayesNet(several).fit(rows).model_.rows == 6


@pytest.mark.parametrize(("many", "sentence"), [(40, "the table of 'y' has 2,199,023,255,552 cells"), (70, "y|many")])
def test_more_parents_than_can_be_are_refused(many, sentence):
    rows = {**{f"x{i}": ["a", "b"] for i in range(many)}, "y": ["u", "v"]}
    with pytest.raises(eo.DataError, match=sentence):
        BayesNet({"y": list(rows)[:many]}).fit(rows)
    with pytest.raises(eo.DataError, match="70 columns are too many to be counted together: leave edges out"):
        BayesNet({"y": [f"x{i}" for i in range(70)]}).fit({f"x{i}": ["a"] for i in range(70)} | {"y": ["u"]})


def test_tables_that_are_too_large_together_are_refused(monkeypatch):
    monkeypatch.setattr(tables, "CELLS", 20)
    rows = {name: list("abab") for name in "uvwxy"}
    assert BayesNet("u, v -> w").fit(rows).model_.tables["w"].size == 8
    network = BayesNet("u, v -> w, x, y").fit(rows).model_
    with pytest.raises(eo.DataError, match="the table of 'y' has 8 cells, those before it 20, more than 20 in all"):
        network.tables  # noqa: B018


def test_a_cut_of_no_node_is_refused():
    rows = {"a": ["x", "y"] * 20, "b": ["u", "v", "v", "u"] * 10, "n": list(range(40))}
    with pytest.raises(eo.DataError, match="column 'n' is cut, but is none of the nodes"):
        BayesNet("a -> b", cuts={"n": 3}).fit(rows)
    with pytest.raises(eo.DataError, match="column 'm' not found"):
        BayesNet("a -> b", cuts={"m": 3}).fit(rows)
    states = BayesNet("a -> b; n", cuts={"n": 3}).fit(rows).network.states
    assert states["n"] == ("below 13", "13 to 26", "26 and above")


@pytest.mark.parametrize(("more", "may"), [(4, True), (7, True), (8, False)])
def test_columns_may_be_independent_where_chance_alone_comes_to_as_much_once_in_forty(more, may):
    """200 rows, of which 50 and so many more or fewer are in each cell: p is .26, .047 and .023."""
    cells = [("x", "u", 50 + more), ("x", "v", 50 - more), ("y", "u", 50 - more), ("y", "v", 50 + more)]
    found = BayesNet.independent([{"a": a, "b": b, "n": n} for a, b, n in cells], "a", "b", sample_weight="n")
    assert (found.p_value > 0.025, found.low == 0.0, bool(found)) == (may, may, may)
