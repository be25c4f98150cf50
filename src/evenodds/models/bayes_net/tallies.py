"""Tables as tallies: a table p(node | parents) is the Categorical family, its groups the parents' values.

The group of a node with one parent is the parent's value, so the tallies of a star are those of naive Bayes. With
several parents it is their values with commas between them.

>>> joined(("yes", "a, b")), parted(joined(("yes", "a, b")))
('yes,a\\\\, b', ['yes', 'a, b'])
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenodds.arguments import one_of, smoothing_of
from evenodds.errors import DataError, brief
from evenodds.families import Categorical, Dirichlet, Estimate
from evenodds.families.base import COLUMN, check_estimate
from evenodds.families.leaves import Floats
from evenodds.families.smoothing import WEAK, auto_smoothing
from evenodds.labels import Grid, Ints, Labels
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.tables import States, check_size
from evenodds.tally import Leaf, Tally

PriorKind = Literal["pooled", "flat", "bdeu", "k2"]
PRIORS: tuple[PriorKind, ...] = ("pooled", "flat", "bdeu", "k2")
LABELS = "labels"


@dataclass(frozen=True)
class Settings:
    """How tallies become tables; none of it needs another pass over the data.

    estimate   "predictive", "mean" (which are one here), "map" or "mle"
    prior      "pooled": `smoothing` pseudo-rows for each row of a table, with the node's own shares; a node without
               parents has its shares. "flat": `smoothing` pseudo-counts a cell. "k2": one a cell (Cooper and Herskovits
               1992). "bdeu": `smoothing` pseudo-rows over the whole table (Heckerman et al. 1995)
    smoothing  a number, or "auto": chosen by leave-one-out; of "bdeu", 1
    """

    estimate: Estimate = "predictive"
    prior: PriorKind = "pooled"
    smoothing: float | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        check_estimate(self.estimate)
        one_of("prior", self.prior, PRIORS)
        object.__setattr__(self, "smoothing", smoothing_of(self.smoothing))

    def check(self, other: Settings) -> None:
        """Refuse other settings: tables of a sum would depend on which network came first."""
        for name, mine in vars(self).items():
            theirs = getattr(other, name)
            if mine != theirs:
                raise DataError(f"the networks differ in {name}, {mine!r} and {theirs!r}: let both have the same")


def joined(values: Sequence[str]) -> str:
    """The parents' values as one text."""
    return values[0] if len(values) == 1 else ",".join(map(escaped, values))


def escaped(value: str) -> str:
    """A value that can stand beside others."""
    return value.replace("\\", "\\\\").replace(",", "\\,")


def parted(text: str, many: int = 2) -> list[str]:
    """The parents' values that one text stands for."""
    if many == 1:
        return [text]
    parts, whole = text.split(","), True
    if "\\" in text:
        parts, letters = [""], iter(text)
        for letter in letters:
            if letter == ",":
                parts.append("")
            else:
                parts[-1] += next(letters, "") if letter == "\\" else letter
        whole = joined(parts) == text
    if len(parts) != many or not whole:
        raise ValueError(f"{brief(text)} does not stand for the values of {many} parents")
    return parts


def values_of_groups(tally: Tally, many: int) -> list[tuple[str, ...]]:
    """Of each of so many parents the values that the groups of a tally stand for, group by group."""
    groups = tally.groups
    if not isinstance(groups, Labels):
        return []
    return tally.once("parents' values", lambda: list(zip(*(parted(text, many) for text in groups.texts()))))


def dense(tally: Tally, node: str, parents: tuple[str, ...], states: States) -> Floats:
    """A family's counts (parents' values, states), with a place for every value that the states name."""
    shape = (*(len(states[parent]) for parent in parents), len(states[node]))
    check_size(node, shape)
    counts = np.zeros((math.prod(shape[:-1]), shape[-1]))
    if (node, LABELS) not in tally.layout.specs:
        return counts
    axis, numbers = tally.layout.specs[node, LABELS].axis, tally[node, LABELS]
    assert isinstance(axis, Labels)
    columns = _places(axis.texts(), states[node])
    if not parents:
        counts[0, columns] = numbers.sum(axis=1)  # of one group, or of none where nothing is left
        return counts
    rows = np.zeros(len(tally.groups), np.int64)
    for parent, texts in zip(parents, values_of_groups(tally, len(parents))):
        rows = rows * len(states[parent]) + _places(texts, states[parent])
    counts[rows[:, None], columns] = numbers.T
    return counts


def _places(texts: Sequence[str], states: tuple[str, ...]) -> Ints:
    place = {state: i for i, state in enumerate(states)}
    return np.array([place[text] for text in texts], np.int64)


def of_counts(counts: Floats) -> Tally:
    """Counts (parents' values, states) as the tally that the family takes, states in their order."""
    numbers = np.zeros((2, *counts.T.shape))
    numbers[0] = counts.T
    return Tally.of(Grid(np.arange(len(counts))), {("node", LABELS): Leaf(Grid(np.arange(counts.shape[1])), numbers)})


def prior_of(tally: Tally, settings: Settings) -> Dirichlet | None:
    """The prior of a table's rows, formed from its counts where it is pooled; None of one row that is all there is."""
    kind, told = settings.prior, settings.smoothing
    counts = Categorical.table(tally)
    if kind == "pooled" and counts.shape[1] == 1:
        return None
    if kind == "k2":
        return Categorical.flat_prior(1.0)
    if kind == "bdeu":
        return Categorical.flat_prior((1.0 if told == "auto" else float(told)) / counts.size)
    if told != "auto":
        strength = float(told)
    else:
        strength = auto_smoothing(Categorical, tally, kind, COLUMN) if counts.any() else WEAK
    if kind == "flat" or not counts.any():  # nothing to pool
        return Categorical.flat_prior(strength if kind == "flat" else strength / len(counts))
    return Categorical.pooled_prior(tally, strength)


def table_of(counts: Floats, settings: Settings) -> Floats:
    """The estimated table (parents' values, states) of some counts.

    Parents' values that no row has say nothing: without a prior they get the shares of all rows, or equal ones.
    """
    tally = None if settings.estimate == "mle" else of_counts(counts)
    prior = None if tally is None else prior_of(tally, settings)
    if tally is None or prior is None:
        whole, pooled = counts.sum(axis=1), counts.sum(axis=0)
        if not whole.all():
            counts = np.where(whole[:, None] > 0, counts, pooled if pooled.any() else 1.0)
        found: Any = Categorical._of(Dirichlet(counts.T), "mean")  # the shares themselves: a prior of nothing
    else:
        found = Categorical.estimate(tally, settings.estimate, prior)
    shares = np.ascontiguousarray(np.asarray(found.shares).T)
    empty = ~(shares.sum(axis=1) > 0)  # no rows, and a prior of nothing
    if empty.any():
        shares[empty] = 1 / counts.shape[1]
    return shares


def posterior_of(counts: Floats, settings: Settings) -> Floats:
    """The concentration (parents' values, states) of the Dirichlet that is known of each row of a table."""
    return counts + pseudo_counts(counts, settings)


def pseudo_counts(counts: Floats, settings: Settings) -> Floats:
    """What the prior adds to counts (parents' values, states)."""
    tally = of_counts(counts)
    prior = prior_of(tally, settings)
    return np.zeros(counts.shape) if prior is None else np.asarray(prior.over(tally).concentration).T


def occurring(structure: Structure, tallies: Mapping[str, Tally], node: str) -> set[str]:
    """The values of a node that its own tally has, and those that its children's have as groups."""
    found = set[str]()
    own = tallies[node].layout.specs.get((node, LABELS)) if node in tallies else None
    if own is not None and isinstance(own.axis, Labels):
        found |= set(own.axis.texts())
    for child in structure.children[node]:
        parents = structure.parents[child]
        values = values_of_groups(tallies[child], len(parents)) if child in tallies else []
        found.update(values[parents.index(node)] if values else ())
    return found


def drawn_from(posterior: Dirichlet, table: Floats, rng: np.random.Generator) -> Floats:
    """A table drawn row by row; a row of which nothing is known, or whose draw is too small for doubles, as it is."""
    drawn = rng.gamma(np.asarray(posterior.concentration).T)
    total = drawn.sum(axis=1, keepdims=True)
    return np.where(total > 0, drawn / np.where(total > 0, total, 1.0), table.reshape(drawn.shape))
