"""Why a network gives a row its class: the prior, and what each finding adds to the log-odds, given those before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.labels import Ints
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.tables import place
from evenodds.models.explanation import Explanation, Term, difference, pair


def explain(network: Network, target: str, codes: Ints, of: Any = None, against: Any = None) -> list[Explanation]:
    """An Explanation for each row: of the most probable class, or of `of`; against the runner-up, or `against`.

    Findings are taken in the order of the graph, causes first. Their terms add up to the log-odds; in a star each is
    what naive Bayes says of the column.
    """
    states = network.states[target]
    if len(states) < 2:
        raise DataError(f"the target {target!r} has one state only: there is nothing to explain")
    values, at = network.values(target), network.places([target])[0]
    order = [node for node in network.structure.order if node != target]
    told = [None if state is None else place(target, state, states) for state in (of, against)]
    found = []
    for row in codes:
        seen = np.full((len(order) + 1, len(row)), -1, np.int64)
        for k, node in enumerate(order):
            i = network.places([node])[0]
            seen[k + 1 :, i] = row[i]
        log, impossible = network.inference.log_posterior(at, seen)
        if impossible.any():
            first = order[int(np.argmax(impossible)) - 1]
            raise DataError(
                f"the row has probability 0: its {first!r} is impossible given what is above it in the table"
            )
        a, b = pair(np.argsort(-log[-1], kind="stable").tolist(), *told)
        odds = [difference(one[a], one[b]) for one in log]
        terms = []
        for k, node in enumerate(order):
            code = row[network.places([node])[0]]
            value = network.states[node][code] if code >= 0 else None
            terms.append(Term(node, value, difference(odds[k + 1], odds[k])))
        found.append(Explanation(values[a], values[b], odds[0], tuple(terms), odds[-1], float(np.exp(log[-1, a])), ()))
    return found
