"""Rows drawn from a network, and answers from draws where an exact one is too large.

Ancestral sampling draws each node given its parents. Likelihood weighting sets the evidence and weighs each draw by how
probable it is there. Gibbs sampling draws each node in turn given its Markov blanket, over and over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenodds.errors import DataError
from evenodds.families.distribution import Seed, generator
from evenodds.families.leaves import Floats
from evenodds.labels import Ints
from evenodds.models.bayes_net import kernels
from evenodds.models.bayes_net.program import Plan

CHAINS, DISCARDED = 32, 0.2  # of Gibbs sampling: chains side by side, and the share of their steps that is thrown away
NUMBERS = 1 << 20  # drawn at once

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
        cumulative = np.cumsum(rows, axis=1)
        cumulative /= cumulative[:, -1:]
        u = rng.random(size)
        codes[:, node] = np.minimum((u[:, None] >= cumulative[where]).sum(axis=1), k - 1)
    return codes, weight


def weighted(
    plan: Plan, tables: Floats, order: Sequence[int], nodes: Sequence[int], hard: Hard, soft: Soft, size: int,
    random_state: Seed,
) -> tuple[Floats, float]:  # fmt: skip
    """p(nodes | evidence) by likelihood weighting, and how many draws without weights it is worth."""
    codes, weight = draw(plan, tables, order, size, random_state, hard)
    for node, likely in soft.items():
        with np.errstate(divide="ignore"):
            weight += np.log(likely)[codes[:, node]]
    if weight.max() == -np.inf:
        raise DataError(
            f"the evidence has probability 0 in all {size:,} draws: it is impossible, or so rare that more are needed"
        )
    share = np.exp(weight - weight.max())
    return _shares(plan, nodes, codes, share), float(share.sum() ** 2 / (share**2).sum())


def gibbs(
    plan: Plan, tables: Floats, order: Sequence[int], nodes: Sequence[int], hard: Hard, soft: Soft, size: int,
    random_state: Seed,
) -> tuple[Floats, float]:  # fmt: skip
    """p(nodes | evidence) by Gibbs sampling in chains that start at weighted draws, and how many draws were kept.

    Where tables hold zeros, a chain may never reach some of the possible rows; weighting has no such trouble.
    """
    rng = generator(random_state)
    codes, weight = draw(plan, tables, order, 100 * CHAINS, rng, hard)
    for node, likely in soft.items():
        with np.errstate(divide="ignore"):
            weight += np.log(likely)[codes[:, node]]
    if weight.max() == -np.inf:
        raise DataError("the evidence has probability 0 in all draws: no chain of Gibbs sampling can start from it")
    share = np.exp(weight - weight.max())
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
    return (counts / counts.sum()).reshape([plan.sizes[i] for i in nodes]), float(steps * CHAINS)


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
