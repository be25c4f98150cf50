"""What is known of the words of some texts: their counts per class, and the pseudo-counts of a prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.families.distribution import not_negative
from evenodds.families.leaves import Floats
from evenodds.text.counts import Counts
from evenodds.text.words import Words


@dataclass(frozen=True)
class Pseudo:
    """A prior of words: pseudo-counts for every known word alike, or so many tokens of all classes together."""

    strength: float
    pooled: bool

    def __post_init__(self) -> None:
        not_negative(strength=self.strength)


@dataclass(frozen=True)
class Shares:
    """The words of a column that are used: their keys, counts (words, classes), pseudo-counts, and totals of both."""

    keys: Any
    counts: Floats
    prior: Floats  # (words, 1)
    totals: Floats  # (classes,): tokens, or documents for Bernoulli events
    weight: float  # pseudo-counts of one class: of all words, or of one document being there and not there


def unit_of(counts: Counts, words: Words) -> float:
    """How many tokens what is counted stands for: 1, or of texts that were normalised about what their words are worth.

    A text of n different words counts 1/√n for each, √n in all; so √n of what it counts is a token. Pseudo-counts, and
    what is left out to choose them, are then of tokens too.
    """
    if words.length == "as is":
        return 1.0
    documents = float(counts.documents.sum())
    return float(counts.tokens.sum()) / documents if documents > 0 else 1.0


def filled(mass: Floats, known: Shares) -> Floats:
    """The same (words, classes), with a class that has neither tokens nor pseudo-counts like all together."""
    empty = known.totals + known.weight == 0
    if empty.any():
        mass[:, empty] = mass.sum(axis=1, keepdims=True)
    return mass


def sides(known: Shares) -> tuple[Floats, Floats]:
    """How many documents of each class have a word, and how many have not, with the pseudo-counts of both."""
    there = filled(known.counts + known.prior, known)
    absent = filled((known.totals - known.counts) + (known.weight - known.prior), known)
    return there, np.maximum(absent, 0.0)  # weights that are no whole numbers do not cancel to the last digit
