"""Trees, learnt in one step: both are the heaviest spanning tree of mutual information.

`chow_liu` finds the tree of the highest likelihood, `tan` the best tree of the features below their class (Friedman,
Geiger and Goldszmidt 1997).
"""

from __future__ import annotations

import math

import numpy as np

from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net import kernels
from evenodds.models.bayes_net.reading import Encoded
from evenodds.models.bayes_net.structure import Structure

NONE = np.zeros(0)


def pairwise_information(rows: Encoded, given: str | None = None) -> Floats:
    """Mutual information of every pair of columns, in nats; given a column, within each of its values."""
    sizes = np.array(rows.sizes, np.int64)
    groups, many = np.zeros(rows.rows, np.int32), 1
    if given is not None:
        at = rows.names.index(given)
        groups, many = rows.codes[at], rows.sizes[at]
    largest = sorted(rows.sizes)[-2:]
    table, out = np.empty(many * math.prod(largest)), np.zeros((len(sizes), len(sizes)))
    weights = NONE if rows.weights is None else rows.weights
    kernels.pair_information.compiled(rows.codes, sizes, groups, many, weights, table, out)
    return out


def spanning_tree(weights: Floats, root: int, nodes: list[int]) -> dict[int, int]:
    """The heaviest tree over some nodes, as each one's parent (Prim 1957); the first of equals."""
    parent, best = dict[int, int](), {node: (weights[root, node], root) for node in nodes if node != root}
    while best:
        node = max(best, key=lambda one: best[one][0])
        parent[node] = best.pop(node)[1]
        for other in best:
            if weights[node, other] > best[other][0]:
                best[other] = (weights[node, other], node)
    return parent


def chow_liu(rows: Encoded, root: str | None = None) -> Structure:
    """The tree under which the rows are most probable, hung up by one of its nodes (Chow and Liu 1968)."""
    at = 0 if root is None else rows.place(root)
    parent = spanning_tree(pairwise_information(rows), at, list(range(len(rows.names))))
    return Structure({n: (rows.names[parent[i]],) if i in parent else () for i, n in enumerate(rows.names)})


def tan(rows: Encoded, target: str) -> Structure:
    """Naive Bayes with a tree: every feature has the class as its parent, and one other feature at most."""
    at = rows.place(target)
    features = [i for i in range(len(rows.names)) if i != at]
    if not features:
        raise DataError(f"there is no column beside the target {target!r}")
    parent = spanning_tree(pairwise_information(rows, target), features[0], features)
    found: dict[str, tuple[str, ...]] = {target: ()}
    for i in features:
        found[rows.names[i]] = (target, rows.names[parent[i]]) if i in parent else (target,)
    return Structure({name: found[name] for name in rows.names})
