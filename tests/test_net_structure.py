"""The graph of a network: how it is written, what it refuses; and what it says of independence, with reasons."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.models.bayes_net.d_separation import d_separated, independences, moral, reachable, separating_sets
from evenodds.models.bayes_net.structure import Structure, edges_of
from networks import ASIA, random_structure

SEEDS = st.integers(0, 2**32 - 1)


def test_a_structure_is_read_from_a_string_edges_or_a_mapping():
    wanted = {"rain": (), "sprinkler": ("rain",), "wet": ("rain", "sprinkler")}
    edges = [("rain", "sprinkler"), ("rain", "wet"), ("sprinkler", "wet")]
    for written in (
        "rain -> sprinkler; rain, sprinkler -> wet",
        "rain → sprinkler\nwet <- rain; sprinkler -> wet",
        edges,
        wanted,
        {"sprinkler": "rain", "wet": ["rain", "sprinkler"]},
    ):
        assert dict(Structure.of(written).parents) == wanted
    assert Structure.of("a -> b -> c; d").edges == [("a", "b"), ("b", "c")]
    assert Structure.of("a -> b -> c; d").nodes == ("a", "b", "c", "d")
    assert Structure.of("home town -> \"a, b; -> 'c'\"").edges == [("home town", "a, b; -> 'c'")]
    assert Structure.of(["lone", ("a", "b")]).nodes == ("lone", "a", "b")


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("a -> b; b -> c; c -> a", "the graph has a cycle: a -> b -> c -> a"),
        ("x -> a -> b -> a", "the graph has a cycle: a -> b -> a"),
        ("a -> a", "cycle: a -> a"),
        ("a -> b; a -> b", "a -> b is there twice"),
        ("a ->", "an arrow without a node"),
        ("-> a", "an arrow without a node"),
        (", a", "a comma without a node before it"),
        ("", "empty"),
        (" ; \n", "empty"),
        ('a "b" -> c', "nothing between 'a' and 'b'"),
        ('a -> "b', "cannot be read at"),
        ([("a", "b", "c")], "has 3 ends"),
        ({"a": ["b", "b"]}, "the parent 'b' twice"),
        ([("a", "b"), ("b", "a")], "cycle: a -> b -> a"),
    ],
)
def test_what_is_no_graph_is_refused(written, sentence):
    with pytest.raises(ValueError) as refused:
        Structure.of(written)
    assert sentence in str(refused.value)


@given(SEEDS)
def test_a_graph_is_written_as_it_is_read(seed):
    rng = np.random.default_rng(seed)
    graph = random_structure(rng, int(rng.integers(1, 9)))
    assert Structure.of(str(graph)) == graph
    assert Structure.of(graph.edges + list(graph.nodes)) == graph
    strange = {f'{node} "\\;->': tuple(f'{p} "\\;->' for p in parents) for node, parents in graph.parents.items()}
    assert dict(Structure.of(str(Structure(strange))).parents) == strange
    place = {node: i for i, node in enumerate(graph.order)}
    assert all(place[a] < place[b] for a, b in graph.edges)


@given(SEEDS)
def test_separated_is_separated_in_the_moral_graph_and_no_path_is_open(seed):
    rng = np.random.default_rng(seed)
    graph = random_structure(rng, int(rng.integers(2, 8)))
    a, b, *others = rng.permutation(graph.nodes).tolist()
    known = {node for node in others if rng.random() < 0.4}
    found = d_separated(graph, a, b, known, most=10_000)
    assert found.complete
    assert bool(found) == (not any(path.open for path in found.paths))
    first = d_separated(graph, a, b, known, most=1).paths
    assert bool(found) == (not any(path.open for path in first))  # one that is open is shown before all others
    assert all(len(set(path.nodes)) == len(path.nodes) for path in first)
    near, seen, waiting = moral(graph, graph.ancestors([a, b, *known])), {a}, [a]
    while waiting:  # the other definition: a wall of what is given, in the moral graph of what is above
        for other in near[waiting.pop()] - known - seen:
            seen.add(other)
            waiting.append(other)
    assert bool(found) == (b not in seen)
    assert (b in reachable(graph, [a], known)) == (a in reachable(graph, [b], known))


@given(SEEDS)
def test_every_minimal_separating_set_is_found_and_is_minimal(seed):
    rng = np.random.default_rng(seed)
    graph = random_structure(rng, int(rng.integers(2, 7)))
    a, b, *others = rng.permutation(graph.nodes).tolist()
    separate = [
        set(some) for k in range(len(others) + 1) for some in itertools.combinations(others, k)
        if b not in reachable(graph, [a], set(some))
    ]  # fmt: skip
    minimal = [one for one in separate if not any(other < one for other in separate)]
    found = [set(one) for one in separating_sets(graph, a, b, 1000)]
    assert all(one in minimal for one in found)
    assert bool(found) == bool(minimal)
    # minimal by leaving any one node out, as promised, and complete among those above the two
    above = graph.ancestors([a, b])
    assert all(one in found for one in minimal if one <= above)


@given(SEEDS)
def test_all_implied_independences_are_listed(seed):
    rng = np.random.default_rng(seed)
    graph = random_structure(rng, int(rng.integers(2, 6)))
    listed = {(row["a"], row["b"], row["given"]) for row in independences(graph)}
    for a, b in itertools.combinations(graph.nodes, 2):
        others = [node for node in graph.nodes if node not in (a, b)]
        for k in range(len(others) + 1):
            for some in itertools.combinations(others, k):
                assert ((a, b, ", ".join(some)) in listed) == bool(d_separated(graph, a, b, some))


def test_paths_are_explained_in_words():
    assert repr(ASIA.d_separated("asia", "smoke")) == (
        "asia and smoke are separated: every path is blocked\n"
        "asia -> tub -> either <- lung <- smoke: blocked "
        "(either is a common effect, and neither it nor any effect of it is given)\n"
        "asia -> tub -> either -> dysp <- bronc <- smoke: blocked "
        "(dysp is a common effect, and neither it nor any effect of it is given)"
    )
    opened = ASIA.d_separated("asia", "smoke", "dysp")
    assert not opened
    assert [(path.open, path.by) for path in opened.paths] == [(True, "dysp"), (True, "dysp")]
    assert "either is a common effect, and dysp, an effect of it, is given" in repr(opened)
    blocked = ASIA.d_separated("lung", "bronc", given=["smoke"])
    assert "smoke is a common cause, and is given" in repr(blocked)
    assert "they are connected by an edge" in repr(ASIA.d_separated("smoke", "lung"))
    assert "no path connects them" in repr(d_separated(Structure.of("a; b"), "a", "b"))
    assert opened.frame[0]["by"] == "dysp"


def test_paths_are_capped_and_it_is_said():
    complete = Structure.of([(f"n{i}", f"n{j}") for i in range(12) for j in range(i + 1, 12)])
    found = d_separated(complete, "n0", "n11", most=5)
    assert not found
    assert len(found.paths) == 5
    assert repr(found).endswith("and more paths")
    blocked = d_separated(complete, "n0", "n11", [f"n{i}" for i in range(1, 11)])  # all but the edge itself
    assert str(blocked.paths[0]) == "n0 -> n11: open (they are connected by an edge, which nothing blocks)"
    assert sum(path.open for path in blocked.paths) == 1
    with pytest.raises(ValueError, match="statements to look at"):
        independences(Structure.of([f"n{i}" for i in range(30)]))


def test_edges_are_pairs_of_names():
    assert edges_of([("a", "b"), ["b", 1]]) == (("a", "b"), ("b", "1"))
    for written in (["a -> b"], ["ab"], [("a", "b", "c")], [("a",)]):
        with pytest.raises(ValueError, match=r"the edge .* has \d ends?: expected a pair \(parent, child\)"):
            edges_of(written)


def test_bad_questions_about_the_graph():
    for ask, sentence in (
        (lambda: ASIA.d_separated("asia", "asia"), "on both sides"),
        (lambda: ASIA.d_separated("asia", "tub", given="tub"), "given too"),
        (lambda: ASIA.d_separated("asia", "tubb"), "did you mean 'tub'"),
        (lambda: ASIA.d_separated("asia", []), "on each side"),
        (lambda: ASIA.separating_sets("asia", "asia"), "two nodes"),
        (lambda: ASIA.blanket("smok"), "did you mean 'smoke'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ask()
    assert ASIA.blanket("lung") == ["smoke", "either", "tub"]
    assert ASIA.separating_sets("asia", "tub") == []
