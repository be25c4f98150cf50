"""Rows drawn from a network, and answers from draws where an exact one is too large.

Ancestral sampling draws each node given its parents. Likelihood weighting sets the evidence and weighs each draw by how
probable it is there. Gibbs sampling draws each node in turn given its Markov blanket, over and over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenodds.errors import DataError, remedy, warn
from evenodds.families.distribution import Seed, generator
from evenodds.families.leaves import Floats
from evenodds.labels import Ints
from evenodds.models.bayes_net import kernels
from evenodds.models.bayes_net.answers import NetworkWarning
from evenodds.models.bayes_net.program import Plan

CHAINS, DISCARDED = 32, 0.2  # of Gibbs sampling: chains side by side, and the share of their steps that is thrown away
NUMBERS = 1 << 20  # drawn at once
FEW = 100  # draws: an answer that is worth fewer is told

Hard = Mapping[int, int]
Soft = Mapping[int, Floats]


def draw(
    plan: Plan, tables: Floats, order: Sequence[int], size: int, random_state: Seed, hard: Hard | None = None
) -> tuple[Ints, Floats]:
    """Rows (size, nodes) with the evidence as given, and the log weight of each: log p(evidence | what was drawn)."""
    rng, hard = generator(random_state), hard or {}
    codes, weight = np.empty((size, len(plan.names)), np.int64), np.zeros(size)
    for node in order:
        family, k = plan.families[node], plan.sizes[node]
        parents, strides = list(family[:-1]), np.array(plan.strides(family)[:-1], np.int64)
        table = tables[plan.starts[node] : plan.starts[node] + int(np.prod([plan.sizes[i] for i in family]))]
        rows = table.reshape(-1, k)
        where = codes[:, parents] @ strides // k if parents else np.zeros(size, np.int64)
        if node in hard:
            codes[:, node] = hard[node]
            with np.errstate(divide="ignore"):
                weight += np.log(rows[where, hard[node]])
            continue
        codes[:, node] = picked(np.cumsum(rows, axis=1)[where], rng)
    return codes, weight


def picked(cumulative: Floats, rng: np.random.Generator) -> Ints:
    """A place in each line of shares that were summed up from the left."""
    u = rng.random(len(cumulative)) * cumulative[:, -1]
    return np.minimum((u[:, None] >= cumulative).sum(axis=1), cumulative.shape[1] - 1)


def weighted(
    plan: Plan, tables: Floats, order: Sequence[int], nodes: Sequence[int], hard: Hard, soft: Soft, size: int,
    random_state: Seed,
) -> Floats:  # fmt: skip
    """p(nodes | evidence) by likelihood weighting; told where it is worth few draws without weights."""
    codes, share = _weighed(plan, tables, order, hard, soft, size, random_state)
    worth = float(share.sum() ** 2 / (share**2).sum())
    if worth < min(FEW, size):
        warn(
            f"the evidence is so rare that {size:,} draws are worth {worth:,.0f}: ask for more draws, or with "
            + remedy("method='gibbs'", "--method gibbs"),
            NetworkWarning,
        )
    return _shares(plan, nodes, codes, share)


def _weighed(
    plan: Plan, tables: Floats, order: Sequence[int], hard: Hard, soft: Soft, size: int, random_state: Seed
) -> tuple[Ints, Floats]:
    """Rows with the evidence as given, and what each weighs next to the heaviest."""
    codes, weight = draw(plan, tables, order, size, random_state, hard)
    for node, likely in soft.items():
        with np.errstate(divide="ignore"):
            weight += np.log(likely)[codes[:, node]]
    if weight.max() == -np.inf:
        raise DataError(
            f"the evidence has probability 0 in all {size:,} draws: it is impossible, or so rare that more are needed"
        )
    return codes, np.exp(weight - weight.max())


def gibbs(
    plan: Plan, tables: Floats, order: Sequence[int], nodes: Sequence[int], hard: Hard, soft: Soft, size: int,
    random_state: Seed,
) -> Floats:  # fmt: skip
    """p(nodes | evidence) by Gibbs sampling in chains that start at weighted draws.

    Where tables hold zeros, a chain may never reach some of the possible rows; weighting has no such trouble.
    """
    rng = generator(random_state)
    codes, share = _weighed(plan, tables, order, hard, soft, max(100 * CHAINS, size), rng)
    state = codes[rng.choice(len(codes), CHAINS, p=share / share.sum())]
    free = np.array([i for i in order if i not in hard], np.int64)
    steps = max(-(-size // CHAINS), 1)
    skipped = int(np.ceil(steps * DISCARDED))
    likely = np.ones(sum(plan.sizes))
    starts = np.concatenate([[0], np.cumsum(plan.sizes)])
    for node, given in soft.items():
        likely[starts[node] : starts[node + 1]] = given
    flat, ends, strides, children, child_ends = _laid_out(plan)
    counts = np.zeros(int(np.prod([plan.sizes[i] for i in nodes])))
    asked, along = np.array(nodes, np.int64), np.array(plan.strides(tuple(nodes)), np.int64)
    left, block = steps + skipped, max(NUMBERS // (CHAINS * max(len(free), 1)), 1)
    while left:
        now = min(block, left)
        kernels.gibbs.compiled(
            tables, state, free, np.array(plan.sizes), np.array(plan.starts), flat, ends, strides, children, child_ends,
            likely, starts, asked, along, rng.random((now, CHAINS, max(len(free), 1))), skipped, counts,
        )  # fmt: skip
        left, skipped = left - now, max(skipped - now, 0)
    return np.asarray(counts / counts.sum()).reshape([plan.sizes[i] for i in nodes])


def _laid_out(plan: Plan) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Families and their strides end to end, and each node's children."""
    below: list[list[int]] = [[] for _ in plan.names]
    for node, family in enumerate(plan.families):
        for parent in family[:-1]:
            below[parent].append(node)

    def ends(lists: Sequence[Sequence[int]]) -> Ints:
        return np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)

    def flat(lists: Sequence[Sequence[int]]) -> Ints:
        return np.array([i for one in lists for i in one], np.int64)

    steps = [plan.strides(family) for family in plan.families]
    return flat(plan.families), ends(plan.families), flat(steps), flat(below), ends(below)


def _shares(plan: Plan, nodes: Sequence[int], codes: Ints, weight: Floats) -> Floats:
    shape = [plan.sizes[i] for i in nodes]
    at = np.ravel_multi_index(tuple(codes[:, i] for i in nodes), shape)
    counts = np.bincount(at, weight, int(np.prod(shape)))
    return np.asarray(counts / counts.sum()).reshape(shape)
