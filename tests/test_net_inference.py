"""Exact answers: held to the table of all nodes together on thousands of networks, and to published numbers."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import evenodds as eo
from evenodds import BayesNet
from evenodds.errors import by_options
from evenodds.models.bayes_net import cliques, inference, kernels
from evenodds.models.bayes_net.classifier import NetworkWarning
from evenodds.models.bayes_net.cliques import Tree, check_size, tree_of
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.program import Asked, Program
from networks import ASIA, flag, joint, random_network


def asked_at_random(rng, network):
    """Some nodes, some evidence, some likelihoods."""
    nodes = rng.permutation(network.structure.nodes).tolist()
    query = nodes[: int(rng.integers(1, min(3, len(nodes)) + 1))]
    others = nodes[len(query) :]
    hard = {n: str(rng.choice(network.states[n])) for n in others if rng.random() < 0.4}
    soft = {n: rng.random(len(network.states[n])) + 0.01 for n in nodes if n not in hard and rng.random() < 0.2}
    return query, hard, soft


def brute_force(network, hard, soft):
    """The joint table, 0 where it is not as the evidence says, times the likelihoods."""
    table = joint(network)
    for j, node in enumerate(network.structure.nodes):
        like = np.ones(len(network.states[node]))
        if node in hard:
            like = np.array([float(state == hard[node]) for state in network.states[node]])
        elif node in soft:
            like = np.asarray(soft[node])
        table = table * like.reshape([-1 if i == j else 1 for i in range(table.ndim)])
    return table


def margin(network, table, nodes):
    """The sum over all other nodes, with the axes in the order of the nodes asked for."""
    every = list(network.structure.nodes)
    rest = tuple(i for i, node in enumerate(every) if node not in nodes)
    kept = [node for node in every if node in nodes]
    return np.moveaxis(table.sum(axis=rest), [kept.index(n) for n in nodes], range(len(nodes)))


@pytest.mark.parametrize("small", [True, False], ids=["one tree", "a program each"])
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_the_tree_is_the_joint_table(small, zeros, monkeypatch):
    if not small:
        monkeypatch.setattr(inference, "SMALL", -1)
    rng = np.random.default_rng(int(small) + int(10 * zeros))
    impossible = 0
    for _ in range(600):
        network = random_network(rng, int(rng.integers(1, 8)), zeros)
        query, hard, soft = asked_at_random(rng, network)
        evidence = {**hard, **soft}
        table = brute_force(network, hard, soft)
        total = table.sum()
        np.testing.assert_allclose(network.evidence_prob(evidence), total, rtol=1e-12, atol=1e-300)
        if total == 0:
            impossible += 1
            with pytest.raises(inference.Impossible, match="probability 0"):
                network.query(*query, given=evidence)
            with pytest.raises(inference.Impossible, match="probability 0"):
                network.marginals(evidence)
            continue
        wanted = margin(network, table, query) / total
        np.testing.assert_allclose(network.query(*query, given=evidence).probabilities, wanted, rtol=1e-12, atol=1e-15)
        for node, answer in network.marginals(evidence).items():
            np.testing.assert_allclose(
                answer.probabilities, margin(network, table, [node]) / total, rtol=1e-12, atol=1e-15
            )
        best = network.most_probable(evidence)
        at = tuple(network.states[n].index(best[n]) for n in network.structure.nodes)
        assert table[at] == pytest.approx(table.max(), rel=1e-12)
    assert (impossible > 0) == (zeros > 0)


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("rare", [0, 10**9], ids=["by their patterns' programs", "by the one tree"])
def test_many_rows_are_answered_as_one_by_one(rare, zeros, monkeypatch):
    rng = np.random.default_rng(3)
    monkeypatch.setattr(inference, "RARE", rare)
    never = 0
    for _ in range(20):
        network = random_network(rng, int(rng.integers(2, 8)), zeros)
        target = int(rng.integers(len(network.structure.nodes)))
        sizes = network.plan.sizes
        codes = np.array([[rng.integers(-1, size) for size in sizes] for _ in range(30)])
        found, impossible = network.inference.posterior(target, codes)
        log_p = network.inference.log_prob(codes)
        for row, answer, gone, log in zip(codes, found, impossible, log_p):
            seen = {i: int(v) for i, v in enumerate(row) if v >= 0}
            assert np.exp(log) == pytest.approx(np.exp(network.inference.log_evidence(seen, {})), rel=1e-12, abs=0)
            hard = {i: v for i, v in seen.items() if i != target}
            if network.inference.log_evidence(hard, {}) == -np.inf:
                never += 1
                assert gone
                with pytest.raises(inference.Impossible):
                    network.inference.draw(network.order, hard, 3, rng)
            else:
                assert not gone
                np.testing.assert_allclose(answer, network.inference.query([target], hard, {}), rtol=1e-12)
    assert (never > 0) == (zeros > 0)


def test_a_row_that_is_impossible_is_so_alone_and_among_many():
    rows = {"c": list("aaabbbab"), "x": list("00011110"), "z": list("00011110")}  # z is x
    net = BayesNet("c -> x -> z", target="c", estimate="mle").fit(rows)
    for many in (1, 60):
        with pytest.warns(NetworkWarning, match=f"{many} rows? of probability 0"):
            assert net.predict_proba({"x": ["1"] * many, "z": ["0"] * many}).tolist() == [[0.5, 0.5]] * many


def test_rows_whose_holes_all_differ_share_one_program():
    rng = np.random.default_rng(0)
    network = random_network(rng, 10)
    codes = np.array([[-1 if i >> j & 1 else 0 for j in range(10)] for i in range(1, 400)])
    network.inference.log_prob(codes)
    assert not network.inference._programs


def test_a_network_of_which_no_table_could_be_made_is_shown():
    names = [f"n{i}" for i in range(15_000)]
    flags = Network.given(dict.fromkeys(names, ()), {name: flag(0.5) for name in names})
    with pytest.raises(ValueError, match=r"the table of 'all' has about 10\^4515 cells"):
        Network.given(
            {**dict.fromkeys(names, ()), "all": names}, {"all": []}, dict.fromkeys([*names, "all"], ("a", "b"))
        )
    with pytest.raises(ValueError, match=r"with about 10\^903 cells, and about 10\^888 PB in all"):
        check_size(Tree([(1 << 3000) - 1], [-1], 1 << 3000), [2] * 3000, names)
    assert repr(flags) == "Network(15,000 nodes, 0 edges, 15,000 parameters; the full joint has about 10^4515)"


def test_lauritzen_and_spiegelhalter():
    found = {node: answer["yes"] for node, answer in ASIA.marginals().items()}
    for node, p in {"tub": 0.0104, "lung": 0.055, "either": 0.064828, "dysp": 0.435971, "xray": 0.11029}.items():
        assert found[node] == pytest.approx(p, abs=1e-6)
    assert ASIA.query("tub", asia="yes", xray="yes")["yes"] == pytest.approx(0.337716, abs=1e-6)
    assert ASIA.query("lung", asia="yes", xray="yes")["yes"] == pytest.approx(0.371487, abs=1e-6)


def test_compiled_is_plain():
    programs = [
        Program(ASIA.plan, Asked(want="marginals", soft=tuple(range(8)))),
        Program(ASIA.plan, Asked((1, 3), (0, 6))),
        Program(ASIA.plan, Asked(want="most", hard=(6,))),
        Program(ASIA.plan, Asked((), (0, 6), (), "expect")),
    ]
    for program in programs:
        found = []
        for how in (kernels.run.plain, kernels.run.compiled):
            rows = 3
            out, log_p = np.empty((rows, program.work_size - program.at_out)), np.empty(rows)
            expected = np.zeros(ASIA.plan.cells)
            evidence = np.array([[0, 0], [0, 1], [1, 0]])[:, : len(program.asked.hard)]
            given = np.random.default_rng(0).random((rows, program.at_out - program.at_given))
            how(
                ASIA.flat, program.steps, program.sizes, program.strides, program.offsets, np.ones(program.cells),
                np.empty(program.work_size), evidence, given, program.at_given, program.at_out, out, log_p,
                np.array([1.0, 2.0, 0.5]), expected,
            )  # fmt: skip
            found.append((out, log_p, expected))
        for plain, compiled in zip(*found):
            np.testing.assert_allclose(plain, compiled, rtol=1e-13)


def test_long_chains_and_wide_stars_do_not_vanish():
    many = 1200  # factors of about a half each: their product is no double
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(many)]
    states = {name: ["a", "b"] for name in [*names, "top"]}
    star = Network.given(
        {"top": (), **dict.fromkeys(names, ("top",))},
        {"top": [0.5, 0.5]} | {name: rng.dirichlet([20, 20], 2) for name in names}, states,
    )  # fmt: skip
    values = dict.fromkeys(names, "a")
    odds = sum(np.log(star.tables[name][0, 0] / star.tables[name][1, 0]) for name in names)
    log_p = np.logaddexp(*(np.log(0.5) + sum(np.log(star.tables[n][top, 0]) for n in names) for top in (0, 1)))
    at = star.places(["top"])[0]
    codes = np.zeros((1, many + 1), np.int64)
    for found in (star.query("top", given=values).probabilities, star.inference.posterior(at, codes)[0][0]):
        assert found[0] == pytest.approx(1 / (1 + np.exp(-odds)), rel=1e-9)
    assert star.log_evidence(values) == pytest.approx(log_p, rel=1e-12)
    assert star.marginals()["x7"]["a"] == pytest.approx(star.tables["x7"][:, 0].mean())
    chain = Network.given(
        {name: (names[i - 1],) if i else () for i, name in enumerate(names)},
        {name: np.array([[0.02, 0.98], [0.9, 0.1]]) if i else np.array([0.3, 0.7]) for i, name in enumerate(names)},
        {name: states[name] for name in names},
    )
    seen = {name: {"a": 1e-8, "b": 2e-8} for name in names[1:]}
    found = chain.marginals(seen)
    assert all(answer.probabilities.sum() == pytest.approx(1) for answer in found.values())
    forward = np.array([0.3, 0.7])
    log = 0.0
    for _ in names[1:]:
        forward = forward @ chain.tables["x1"] * [1e-8, 2e-8]
        log += np.log(forward.sum())
        forward = forward / forward.sum()
    np.testing.assert_allclose(found[names[-1]].probabilities, forward, rtol=1e-9)
    assert chain.log_evidence(seen) == pytest.approx(log, rel=1e-12)


@pytest.mark.parametrize("method", ["weighting", "gibbs"])
def test_draws_come_to_the_exact_answer(method):
    rng = np.random.default_rng(5)
    for seed in range(12):
        network = random_network(rng, 7)
        query, hard, soft = asked_at_random(rng, network)
        evidence = {**hard, **soft}
        exact = network.query(*query, given=evidence).probabilities
        drawn = network.query(*query, given=evidence, method=method, draws=40_000, random_state=seed)
        assert np.abs(drawn.probabilities - exact).max() < 0.03
    again = [network.query(*query, given=evidence, method=method, random_state=1).probabilities for _ in range(2)]
    assert np.array_equal(*again)


def test_an_answer_that_is_worth_few_draws_says_so():
    with pytest.warns(NetworkWarning, match=r"1,000 draws are worth 70: ask for more draws"):
        ASIA.query("lung", either="yes", method="weighting", draws=1000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ASIA.query("lung", either="yes", method="weighting", draws=10_000, random_state=0)
        ASIA.query("lung", smoke="yes", method="weighting", draws=10, random_state=0)


def test_chains_start_where_rare_evidence_holds():
    coins = [f"c{i}" for i in range(14)]
    every = np.zeros((*[2] * 14, 2))
    every[..., 1] = 1.0
    every[(0,) * 14] = [1.0, 0.0]  # all heads
    tables = {**{coin: [0.5, 0.5] for coin in coins}, "all": every}
    network = Network.given({**dict.fromkeys(coins, ()), "all": coins}, tables, {n: ["yes", "no"] for n in tables})
    drawn = network.query("c0", all="yes", method="gibbs", draws=60_000, random_state=0)
    assert drawn["yes"] == 1.0


def test_a_missing_value_of_any_width_is_no_evidence():
    network = eo.BayesNet("s -> age", cuts={"age": [5]}).fit({"s": ["y", "n"] * 2, "age": [1, 9, 2, 8]})
    for nothing in (None, float("nan"), np.float32("nan"), np.float64("nan")):
        assert network.query("s", age=nothing)["y"] == 0.5


def test_rows_are_drawn_in_the_right_shares():
    rows = ASIA.sample(40_000, random_state=0)
    assert rows.column_names == list(ASIA.structure.nodes)
    assert np.mean([v == "yes" for v in rows["dysp"].to_pylist()]) == pytest.approx(0.436, abs=0.01)
    given = ASIA.sample(20_000, {"xray": "yes"}, 0)
    assert set(given["xray"].to_pylist()) == {"yes"}
    share = np.mean([v == "yes" for v in given["lung"].to_pylist()])
    assert share == pytest.approx(ASIA.query("lung", xray="yes")["yes"], abs=0.015)


def test_a_clique_too_large_is_refused_with_its_size():
    nodes = [f"n{i}" for i in range(30)]
    pairs = {f"p{i}_{j}": (nodes[i], nodes[j]) for i in range(30) for j in range(i)}
    tables = {node: np.full(4, 0.25) for node in nodes} | {
        name: np.full((4, 4, 2), 0.5) for name in pairs
    }  # fmt: skip
    states = {node: range(4) for node in nodes} | {name: ["a", "b"] for name in pairs}
    network = Network.given({**dict.fromkeys(nodes, ()), **pairs}, tables, states)
    evidence = dict.fromkeys(pairs, "a")
    with pytest.raises(ValueError, match=r"a table of 30 nodes together \(n0, n1, .*1,152,921,504,606,846,976 cells"):
        network.query("n0", given=evidence)
    with pytest.raises(ValueError, match="method='weighting'"):
        network.marginals()
    with by_options(), pytest.raises(ValueError, match="ask with --method weighting or --method gibbs, or give more"):
        Network.given(network.structure, tables, states).marginals()
    assert network.query("n0", given=evidence, method="weighting", draws=1000, random_state=0)["1"] == pytest.approx(
        0.25, abs=0.1
    )
    assert network.query("n0")["1"] == 0.25  # what is below it is barren
    check_size(tree_of([0b10, 0b01], [2, 2]), [2, 2], ["a", "b"])


def test_a_graph_of_too_many_edges_is_refused_soon():
    """Its order of elimination is not looked for to the end, nor another one for longer than that may save."""
    rng, n = np.random.default_rng(0), 150
    near = [0] * n
    for i in range(1, n):
        for j in rng.choice(i, min(i, 12), replace=False).tolist():
            near[i] |= 1 << j
            near[j] |= 1 << i
    tree = tree_of(near, [2] * n)
    assert len(tree.cliques) == 1
    with pytest.raises(
        ValueError, match=r"a table of 2\d nodes together \(n.*, and 1.1 GB in all or more, above 537 MB"
    ):
        check_size(tree, [2] * n, [f"n{i}" for i in range(n)])


def test_a_star_of_many_leaves_is_soon_in_order():
    n = 2500
    hub = ((1 << n) - 1) << 1
    assert tree_of([hub, *[1] * n], [2] * (n + 1)).cells == 4 * n


def test_a_zero_beside_a_clique_too_large_is_told_in_logs_too(monkeypatch):
    monkeypatch.setattr(cliques, "LARGEST", 16)
    above = [f"n{i}" for i in range(5)]
    tables = {**{name: flag(0.5) for name in above}, "below": np.full((2,) * 6, 0.5)}
    tables |= {"t": flag(0.5), "x": {"yes": flag(1.0), "no": flag(0.5)}}
    graph = {**dict.fromkeys(above, ()), "below": above, "t": (), "x": ("t",)}
    net = BayesNet.of(Network.given(graph, tables, {"below": ["yes", "no"]}), "t")
    rows = {"x": ["no", "yes"], "below": ["yes", "yes"]}
    with pytest.raises(ValueError, match="a table of 5 nodes together"):
        net.log_prob(rows)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(net.predict_log_proba(rows), np.log([[0, 1], [2 / 3, 1 / 3]]), rtol=1e-12)
    assert [one.total for one in net.explain(rows)] == [np.inf, pytest.approx(np.log(2))]


def test_where_nothing_is_impossible_only_what_matters_is_looked_at():
    names = [f"n{i}" for i in range(30)]
    chain = {name: tuple(names[max(i - 1, 0) : i]) for i, name in enumerate(names)}
    tables = {name: [[0.9, 0.1], [0.2, 0.8]] if parents else [0.5, 0.5] for name, parents in chain.items()}
    network = Network.given(chain, tables, dict.fromkeys(names, ("a", "b")))
    codes = np.zeros((inference.RARE, 30), np.int64)
    found, impossible = network.inference.posterior(15, codes)
    (program,) = network.inference._programs.values()
    assert len(program.steps) < 10  # of the target's own table and its child's, not of 30
    np.testing.assert_allclose(found[0], [0.81 / 0.83, 0.02 / 0.83], rtol=1e-12)
    assert not impossible.any()


@pytest.mark.parametrize("hole", [False, True])
def test_logs_of_what_no_double_holds_are_normalised(hole):
    names = [f"x{i}" for i in range(500)]
    star = Network.given(
        {"top": (), **dict.fromkeys(names, ("top",))},
        {"top": flag(0.5)} | {name: {"yes": flag(0.9), "no": flag(0.1)} for name in names},
    )
    codes = np.zeros((1, 501), np.int64)
    codes[0, -1] -= hole
    logs, impossible = star.inference.log_posterior(0, codes)
    np.testing.assert_allclose(logs, [[0.0, -(500 - hole) * np.log(9)]], rtol=1e-12, atol=1e-9)
    assert not impossible.any()


def test_what_the_answer_looks_like():
    answer = ASIA.query("lung", "bronc", xray="yes")
    assert answer["yes", "no"] == pytest.approx(answer.to_dict()["yes", "no"])
    assert answer.most_probable == ("no", "no") == max(answer.to_dict(), key=answer.to_dict().get)
    assert len(answer.frame) == 4
    assert "<td>lung</td>" in answer._repr_html_()
    assert ASIA.query("lung", given={"xray": {"yes", "no"}})["yes"] == pytest.approx(0.055)
    assert ASIA.query("lung", given={"xray": [0.5, 0.5]})["yes"] == pytest.approx(0.055)
    assert ASIA.query("lung", xray=None, dysp=float("nan"))["yes"] == pytest.approx(0.055)
    assert ASIA.n_parameters == {"network": 18, "joint": 255}


def test_nodes_that_are_called_as_a_tables_figures_are():
    net = BayesNet("count -> p").fit({"count": ["one", "two"] * 10, "p": ["a", "b", "b", "a"] * 5})
    assert net.query("p").frame["p"] == ["a", "b"]
    assert net.query("p").frame["p_"] == pytest.approx([0.5, 0.5])
    shown = net.table("p")
    assert shown["count"] == ["one", "one", "two", "two"]
    assert shown["count_"] == [5, 5, 5, 5]
    independent = BayesNet.independent({"count": ["x", "y"] * 8, "b": ["x", "x", "y", "y"] * 4}, "count", "b")
    assert independent.frame["count"] == ["x", "x", "y", "y"]
    assert independent.frame["count_"] == [4, 4, 4, 4]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: ASIA.query("lungs"), "node 'lungs' not found; did you mean 'lung'?"),
        (lambda: ASIA.query(), "name a node"),
        (lambda: ASIA.query("lung", "lung"), "each once"),
        (lambda: ASIA.query("lung", lung="yes"), "asked for and given too"),
        (lambda: ASIA.query("lung", xray="yess"), "node 'xray': state 'yess' not found; did you mean 'yes'?"),
        (lambda: ASIA.query("lung", xrays="yes"), "did you mean 'xray'"),
        (lambda: ASIA.query("lung", given={"xray": "yes"}, xray="no"), "given twice"),
        (lambda: ASIA.query("lung", given={"xray": [1, 2, 3]}), "3 numbers for 2 states"),
        (lambda: ASIA.query("lung", given={"xray": {"yes": -1}}), "expected likelihoods"),
        (lambda: ASIA.query("lung", given={"xray": [0, 0]}), "not all 0"),
        (
            lambda: ASIA.query("lung", given={"xray": ["yes", "no"]}),
            "expected a likelihood for each state; where it is",
        ),
        (lambda: ASIA.query("lung", given={"xray": {"yes": "often"}}), "expected a likelihood for each state"),
        (lambda: ASIA.query("lung", method="gibbs", draws=0), "draws=0: expected a whole number, 1 or more"),
        (lambda: ASIA.query("lung", method="weighting", draws=-1), "draws=-1: expected"),
        (lambda: ASIA.query_interval("lung", draws=0), "draws=0: expected"),
        (lambda: ASIA.query_interval("lung", level=95), "level=95: expected a probability"),
        (lambda: ASIA.sample(-1), "n_samples=-1: expected a whole number, 0 or more"),
        (lambda: ASIA.query("dysp", either="no", lung="yes"), "lung = yes is impossible given either = no"),
        (lambda: ASIA.query("lung", method="guess"), "expected one of 'exact'"),
        (lambda: ASIA.query("lung", "bronc")["yes"], "give 2 values"),
        (lambda: ASIA.query("lung", either="no", tub="yes", method="weighting", draws=10), "probability 0 in all"),
    ],
)
def test_bad_questions(ask, sentence):
    with pytest.raises(ValueError) as refused:
        ask()
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("tables", "states", "sentence"),
    [
        ({"a": [0.5, 0.5]}, None, "the states of 'a' are not known"),
        ({"a": flag(0.5)}, None, "node 'b' has no table"),
        ({"a": flag(0.5), "b": [0.5, 0.5]}, {"b": ["x", "y"]}, "has the shape (2,): expected (2, 2), for a × b"),
        ({"a": flag(0.5), "b": {"yes": flag(0.1)}}, None, "no row given a=no"),
        ({"a": flag(0.5), "b": {"yes": flag(0.1), "noo": flag(0.1)}}, None, "did you mean 'no'"),
        ({"a": {"yes": 0.5, "no": 0.6}}, None, "adds up to 1.1"),
        ({"a": {"yes": -0.5, "no": 1.5}}, None, "holds -0.5"),
        ({"a": flag(0.5), "b": {("yes", "no"): flag(0.1)}}, None, "expected a value of a"),
        ({"a": ["x", "y"]}, {"a": ["x", "y"]}, "something else than numbers"),
        ({"a": {"yes": "half", "no": 0.5}}, None, "something else than numbers"),
        ({"a": flag(0.5), "b": {"yes": flag(0.1), "no": ["x", "y"]}}, None, "something else than numbers"),
        ({"a": flag(0.5), "b": {"yes": flag(0.1), ("yes",): flag(0.2)}}, None, "'b' has two rows given a=yes"),
        ({"a": flag(0.5)}, {"a": "yes"}, "expected a list of names"),
        ({"a": flag(0.5)}, {"a": ["yes", "yes"]}, "the state 'yes' twice"),
        ({"a": flag(0.5)}, {"a": []}, "no states"),
        ({"c": flag(0.5)}, None, "node 'c' not found"),
    ],
)
def test_bad_tables(tables, states, sentence):
    with pytest.raises(ValueError) as refused:
        Network.given("a -> b", tables, states)
    assert sentence in str(refused.value)


def test_threads_and_copies_answer_alike():
    network = Network.given(ASIA.structure, ASIA.tables, ASIA.states)
    wanted = ASIA.query("lung", xray="yes")["yes"]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: network.query("lung", xray="yes")["yes"], range(200)))
    assert found == [wanted] * 200
    assert pickle.loads(pickle.dumps(network)).query("lung", xray="yes")["yes"] == wanted
