"""Missing cells filled in by expectation and maximisation: each row counts as all the rows it may be, in their shares.

    expect      what each table would count, under the tables so far     one exact answer a row
    maximise    the tables of these counts, and of the pseudo-counts

No step lowers log p(rows) + Σ pseudo-count · log p (Dempster, Laird and Rubin 1977). Pseudo-counts that depend on the
counts are those of the counts in the end: they are formed anew, and steps taken again, until they stay. A mode has one
pseudo-count less than its prior, or none. Cells below which nothing is known are not filled in: they say nothing of any
table (they are barren). A node that no row has is hidden; its tables start at random.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenodds.errors import DataError
from evenodds.families.distribution import Seed, generator
from evenodds.families.leaves import Floats
from evenodds.labels import Fixed, Ints, Labels
from evenodds.models.bayes_net.program import Asked, Plan, Program
from evenodds.models.bayes_net.reading import Encoded
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.tables import States, check_size, configurations
from evenodds.models.bayes_net.tallies import LABELS, Settings, joined, pseudo_counts, table_of
from evenodds.models.patterns import patterns
from evenodds.tally import Leaf, Tally

STEPS, CLOSE = 1000, 1e-9  # at most so many; enough where a step gains less than this share
ROUNDS, SAME = 50, 1e-7  # of priors, at most; of a pseudo-count: what changes by less stays
SHARES = Settings("mle")


@dataclass(frozen=True)
class Filled:
    """Expected counts of each table, (parents' values, states), and what every step came to under the last prior."""

    counts: dict[str, Floats]
    objective: list[float]
    converged: bool


def fill_in(
    structure: Structure, rows: Encoded, settings: Settings, by_hand: Mapping[str, Floats] | None = None,
    random_state: Seed = 0,
) -> Filled:  # fmt: skip
    """Expected counts of all rows, missing cells and all, at the tables that they make most probable."""
    by_hand = by_hand or {}
    plan = Plan.of(dict(structure.parents), {node: len(rows.states[node]) for node in structure.nodes})
    for node in structure.nodes:
        check_size(node, tuple(len(rows.states[name]) for name in (*structure.parents[node], node)))
    places = [rows.names.index(node) for node in structure.nodes]
    codes, weights = _distinct(np.ascontiguousarray(rows.codes[places].T), rows.weights)
    known, static = [], np.zeros(plan.cells)
    for pattern, some in patterns(codes >= 0):
        hard = tuple(np.flatnonzero(pattern).tolist())
        program = Program(plan, Asked((), hard, (), "expect"))
        here, weigh = np.ascontiguousarray(codes[some][:, pattern], dtype=np.int64), weights[some]
        _add_known(plan, program, codes[some], weigh, static)
        known.append((program, here, weigh))
    rng = generator(random_state)
    hidden = {node for node, at in zip(structure.nodes, places) if not np.any(rows.codes[at] >= 0)}
    prior = _prior(structure, plan, static, settings, by_hand)
    tables = _start(structure, plan, static + prior, by_hand, hidden, rng)

    def steps(tables: Floats, prior: Floats) -> tuple[Floats, Floats, list[float], bool]:
        """The tables in the end, the counts expected under them, what every step came to, and if it was enough."""
        history = list[float]()
        for _ in range(STEPS):
            counts, total = static.copy(), 0.0
            for program, here, weigh in known:
                _, log_p, _ = program.run(tables, here, None, weigh, counts)
                total += float(weigh @ log_p)
            if total == -math.inf:
                raise DataError(
                    "some rows have probability 0 under the tables: use a prior, or check tables given by hand"
                )
            history.append(total + _log_prior(prior, tables))
            if len(history) > 1 and abs(history[-1] - history[-2]) <= CLOSE * max(abs(history[-1]), 1.0):
                return tables, counts, history, True
            tables = _maximise(structure, plan, counts + prior, by_hand)
        return tables, counts, history, False

    for _ in range(ROUNDS):
        tables, counts, history, converged = steps(tables, prior)
        before, prior = prior, _prior(structure, plan, counts, settings, by_hand)
        stays = np.abs(prior - before).max(initial=0.0) <= SAME * max(float(prior.max(initial=0.0)), 1.0)
        if stays or not converged:
            break
    found = {node: part for node, part in zip(structure.nodes, _split(plan, counts)) if node not in by_hand}
    return Filled(found, history, converged and bool(stays))


def _distinct(codes: Ints, weights: Floats | None) -> tuple[Ints, Floats]:
    """The different rows, and what all that are alike weigh."""
    if not len(codes):
        raise DataError("there are no rows to learn from")
    distinct, where = np.unique(codes, axis=0, return_inverse=True)
    return distinct, np.bincount(where.ravel(), weights, len(distinct)).astype(np.float64)


def _add_known(plan: Plan, program: Program, codes: Ints, weights: Floats, counts: Floats) -> None:
    """Add the families that have no missing cell."""
    for node, family in enumerate(plan.families):
        if not any(program.free >> i & 1 for i in family) and np.all(codes[0, list(family)] >= 0):
            at = plan.starts[node] + codes[:, list(family)] @ np.array(plan.strides(family))
            counts += np.bincount(at, weights, len(counts))


def _split(plan: Plan, flat: Floats) -> list[Floats]:
    """One run of numbers as the tables of all nodes."""
    ends = [*plan.starts[1:], plan.cells]
    return [flat[a:b].reshape(-1, size) for a, b, size in zip(plan.starts, ends, plan.sizes)]


def _prior(
    structure: Structure, plan: Plan, counts: Floats, settings: Settings, by_hand: Mapping[str, Floats]
) -> Floats:
    """The pseudo-counts beside some counts."""
    parts = []
    for node, part in zip(structure.nodes, _split(plan, counts)):
        none = node in by_hand or settings.estimate == "mle"
        pseudo = np.zeros(part.shape) if none else pseudo_counts(part, settings)
        parts.append((np.maximum(pseudo - 1, 0.0) if settings.estimate == "map" else pseudo).ravel())
    return np.concatenate(parts)


def _start(
    structure: Structure, plan: Plan, counts: Floats, by_hand: Mapping[str, Floats], hidden: set[str],
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Tables to start from: those of the cells that are known, and of pseudo-counts."""
    tables = []
    for node, part in zip(structure.nodes, _split(plan, counts)):
        if node in by_hand:
            tables.append(by_hand[node].ravel())
        elif hidden & {node, *structure.parents[node]}:
            tables.append(rng.dirichlet(np.ones(part.shape[1]), len(part)).ravel())
        else:  # nothing that is missing is impossible at the start
            tables.append(table_of(part + 1 / part.size, SHARES).ravel())
    return np.concatenate(tables)


def _maximise(structure: Structure, plan: Plan, counts: Floats, by_hand: Mapping[str, Floats]) -> Floats:
    tables = []
    for node, part in zip(structure.nodes, _split(plan, counts)):
        tables.append((by_hand[node] if node in by_hand else table_of(part, SHARES)).ravel())
    return np.concatenate(tables)


def _log_prior(prior: Floats, tables: Floats) -> float:
    """Σ pseudo-count · log p: the log of the prior density, but for what no table changes."""
    used = prior > 0
    return float(prior[used] @ np.log(tables[used]))


def tally_of(node: str, parents: tuple[str, ...], counts: Floats, states: States) -> Tally:
    """Expected counts (parents' values, states) as a tally."""
    labels, place = Labels.coded(list(states[node]))
    numbers = np.zeros((2, len(labels), len(counts)))
    numbers[0][place] = counts.T
    if not parents:
        return Tally.of(Fixed(1), {(node, LABELS): Leaf(labels, numbers)}).trimmed()
    groups, where = Labels.coded([joined(values) for values in configurations(parents, states)])
    ordered = np.zeros_like(numbers)
    ordered[..., where] = numbers
    return Tally.of(groups, {(node, LABELS): Leaf(labels, ordered)}).trimmed()
