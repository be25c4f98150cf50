"""Networks that the tests ask questions of, and the answers by brute force."""

import itertools

import numpy as np

from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.structure import Structure

YES = {"yes": 1.0, "no": 0.0}


def flag(p):
    """A row of a table whose states are yes and no."""
    return {"yes": p, "no": 1 - p}


ASIA = Network.given(  # Lauritzen and Spiegelhalter 1988
    "asia -> tub; smoke -> lung, bronc; lung, tub -> either; either -> xray; bronc, either -> dysp",
    {
        "asia": flag(0.01),
        "tub": {"yes": flag(0.05), "no": flag(0.01)},
        "smoke": flag(0.5),
        "lung": {"yes": flag(0.1), "no": flag(0.01)},
        "bronc": {"yes": flag(0.6), "no": flag(0.3)},
        "either": {(a, b): flag(float("yes" in (a, b))) for a in YES for b in YES},
        "xray": {"yes": flag(0.98), "no": flag(0.05)},
        "dysp": {
            ("yes", "yes"): flag(0.9),
            ("yes", "no"): flag(0.8),
            ("no", "yes"): flag(0.7),
            ("no", "no"): flag(0.1),
        },
    },
)


def random_structure(rng, nodes, parents=3):
    """A graph without cycles whose nodes are not named in their order."""
    names = [f"n{i}" for i in range(nodes)]
    order = rng.permutation(nodes)
    found = {}
    for i, node in enumerate(order):
        many = int(rng.integers(0, min(i, parents) + 1))
        found[names[node]] = tuple(names[j] for j in rng.choice(order[:i], many, replace=False)) if many else ()
    return Structure({name: found[name] for name in names})


def random_network(rng, nodes, zeros=0.0, structure=None):
    """A network of random tables, some of whose cells may be 0; nodes have 1 to 3 states."""
    structure = structure or random_structure(rng, nodes)
    sizes = {node: int(rng.choice([1, 2, 2, 3])) for node in structure.nodes}
    tables, states = {}, {node: [f"s{i}" for i in range(size)] for node, size in sizes.items()}
    for node, parents in structure.parents.items():
        shape = [sizes[parent] for parent in parents]
        table = rng.dirichlet(np.ones(sizes[node]), size=shape)
        table[(rng.random(table.shape) < zeros) & (table < table.max(axis=-1, keepdims=True))] = 0.0
        tables[node] = table / table.sum(axis=-1, keepdims=True)
    return Network.given(structure, tables, states)


def joint(network):
    """The table of all nodes together, an axis for each in the order of the nodes: the definition, word for word."""
    nodes = network.structure.nodes
    sizes = [len(network.states[node]) for node in nodes]
    found = np.ones(sizes)
    for values in itertools.product(*map(range, sizes)):
        at = dict(zip(nodes, values))
        for node, parents in network.structure.parents.items():
            found[values] *= network.tables[node][tuple(at[name] for name in (*parents, node))]
    return found
