"""Tables and graphs learnt: one sum, four estimates, missing cells filled in, scores and searches."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.cells import Coded
from evenodds.data.memory import table
from evenodds.data.source import Memory
from evenodds.data.titanic import counts as titanic_counts
from evenodds.data.titanic import titanic
from evenodds.labels import Labels
from evenodds.models.bayes_net import kernels
from evenodds.models.bayes_net.climbing import FamilyScores, climb
from evenodds.models.bayes_net.counting import count_families, count_family, together
from evenodds.models.bayes_net.estimator import BayesNet
from evenodds.models.bayes_net.learn import NetworkWarning
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.reading import Columns, encode, families_of
from evenodds.models.bayes_net.scores import SCORES, family_score
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.structure_search import chow_liu, information, tan
from evenodds.models.bayes_net.tallies import Settings, dense
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
    assert all(star.model_.tallies[name] == nb.model_.tally.column(name) for name in ("class", "sex", "age"))
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


def test_the_titanic_network_has_9_parameters_of_23():
    weighted = BayesNet("survived -> sex; survived -> age; survived -> class").fit(
        titanic_counts(), sample_weight="people"
    )
    rows = BayesNet(weighted.graph).fit(titanic())
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
    at = [[net.network.states[n].index(v) for v in data[n]] for n in net.graph.nodes]
    np.add.at(seen, tuple(at), 1 / 40)
    np.testing.assert_allclose(table_, seen, atol=1e-15)


@given(SEEDS)
def test_a_network_is_a_sum(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 4)
    rows = with_holes(rng, network.sample(60, random_state=rng), 0.1)
    settings, states = Settings(prior="bdeu"), dict(network.states)

    def learnt(part, weights=None):  # fmt: skip
        return BayesNet(network.structure, states=states, prior="bdeu").fit(part, sample_weight=weights).model_

    parts = [learnt(rows.slice(a, b)) for a, b in ((0, 25), (25, 35))]
    whole = learnt(rows)
    assert parts[0] + parts[1] == whole == parts[1] + parts[0] == sum(parts)
    assert whole - parts[1] == parts[0]
    assert learnt(rows, np.full(60, 2.0)) == whole + whole == whole.fade(2.0)
    assert learnt(rows.take(pa.array(rng.permutation(60)))) == whole
    assert whole.settings == settings
    with pytest.raises(ValueError, match="never learnt"):
        parts[1] - whole


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


@pytest.mark.parametrize("how", [{"estimate": "mle"}, {"prior": "k2"}, {"prior": "bdeu", "smoothing": 3}])
def test_filling_in_never_lowers_the_likelihood(how):
    rng = np.random.default_rng(9)
    for _ in range(30):
        network = random_network(rng, int(rng.integers(2, 6)))
        rows = with_holes(rng, network.sample(40, random_state=rng), 0.3)
        net = BayesNet(network.structure, states=dict(network.states), missing="em", **how).fit(rows)
        steps = np.diff(net.objective_)
        assert np.all(steps >= -1e-9 * abs(net.objective_[-1]))
        if "prior" not in how:
            assert net.objective_[-1] == pytest.approx(net.log_prob(rows).sum(), rel=1e-6, abs=1e-6)


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
        for score in SCORES:
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


def test_chow_liu_is_the_best_of_all_trees():
    import itertools

    rng = np.random.default_rng(8)
    network = random_network(rng, 5, structure=Structure.of("n0 -> n1 -> n2; n1 -> n3; n0 -> n4"))
    rows = rows_of(network.sample(400, random_state=rng))
    pairs = information(rows)
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
    with pytest.warns(NetworkWarning, match="1 rows have probability 0"):
        assert net.predict_proba({"x": ["0"], "y": ["1"]}).tolist() == [[0.5, 0.5]]


def test_more_rows_and_fewer():
    rows = ASIA.sample(200, random_state=8)
    net = BayesNet(ASIA.structure).fit(rows.slice(0, 100))
    net.partial_fit(rows.slice(100))
    whole = BayesNet(ASIA.structure).fit(rows).model_
    assert all(net.model_.tallies[node] == tally for node, tally in whole.tallies.items())
    net.forget(rows.slice(100))
    assert net.model_.tallies["dysp"] == BayesNet(ASIA.structure).fit(rows.slice(0, 100)).model_.tallies["dysp"]


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


def test_spoilt_files_are_refused_in_words():
    from evenodds import file

    learnt = BayesNet("smoke -> lung").fit(ASIA.sample(50, random_state=1)).model_
    arrays, header = file.unpack(learnt.to_bytes())
    for change, sentence in (
        (lambda a, h: h["nodes"][0].update(parents=[1]), "cycle"),
        (lambda a, h: h["nodes"][0].update(parents=[7]), "a parent that is not there"),
        (lambda a, h: h["nodes"][0].update(states=3), "do not end where they should"),
        (lambda a, h: h["nodes"][0].update(name="lung"), "no names of their own"),
        (lambda a, h: h["nodes"][0].update(kind="int"), "are no int"),
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
    alone = BayesNet.independent(rows, "sex", "admitted", weights="n")
    assert not alone
    assert "depend" in repr(alone)
    small = [row for row in rows if row["dept"] != "A"]
    within = BayesNet.independent(small, "sex", "admitted", given="dept", weights="n")
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


def test_the_picture_has_every_node_and_plates_for_those_that_repeat():
    from xml.etree import ElementTree

    from evenodds.models.bayes_net.picture import plated

    drawn = ElementTree.fromstring(ASIA.picture())
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted(ASIA.structure.nodes)
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}line"))) == len(ASIA.structure.edges)
    words = plated(Structure.of("class -> word1, word2, word3, length; length -> <odd> & \"'"[:43]))
    assert words.plates == {"1 … 3": ("word",)}
    nested = plated(Structure.of("a -> x1, x2; x1 -> y1; x2 -> y2"))
    assert nested.nodes == ("a", "x", "y")
    assert nested.edges == (("a", "x"), ("x", "y"))
    assert nested.plates == {"1 … 2": ("x", "y")}
    different = plated(Structure.of("a -> x1; b -> x2"))
    assert different.plates == {}
    ElementTree.fromstring(BayesNet({"a<b>&": (), '"c"': ("a<b>&",)}).picture())
