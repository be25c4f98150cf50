"""Logistic regression on top of naive Bayes, as a value.

    score of class c  =  scale · log p(c, x) by naive Bayes  +  intercept_c  +  features(x) · weights_c

A scale of 1 without weights is naive Bayes, a scale of 0 ridge logistic regression: naive Bayes wins on few rows,
logistic regression on many, and what lies between them wins on both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenodds.data.memory import table as as_table
from evenodds.errors import many
from evenodds.families.leaves import Floats
from evenodds.labels import Labels
from evenodds.logs import normalise, warn_of_impossible
from evenodds.models.bridge.features import Features
from evenodds.models.naive_bayes import Model
from evenodds.models.saved import Saved
from evenodds.models.temper import Temper
from evenodds.schema import Schema
from evenodds.threads import in_order

if TYPE_CHECKING:
    from evenodds.models.explanation import Explanation

BLOCK = 1 << 12  # rows scored at once


class Tried(NamedTuple):
    """A scale and a strength that were tried, the log loss of rows held out, and how much of it is in the model."""

    scale: float
    strength: float
    log_loss: float
    share: float


@dataclass(frozen=True, eq=False)
class Bridge(Saved):
    """A naive Bayes model and what logistic regression adds to it; immutable."""

    kind = "bridge"
    model: Model
    features: Features
    scale: float
    strength: float  # 1 / variance of the prior of the weights
    weights: Floats  # (1 + columns of the design, classes): the intercept first
    curvature: Floats  # of the rows' log-likelihood, of the same shape: how sure each weight is
    tried: tuple[Tried, ...] = ()

    @property
    def schema(self) -> Schema:
        """Columns and roles."""
        return self.model.schema

    @property
    def classes(self) -> Any:
        """The classes, in the order of their values."""
        return self.model.classes

    @property
    def names(self) -> list[str]:
        """What each class is known by: its canonical text."""
        return self.model.names

    def place(self, label: Any) -> int:
        """Where a class stands among `classes`, given as its value or its name."""
        return self.model.place(label)

    def places(self, labels: Labels) -> Any:
        """Where other labels stand among `classes`; -1 where they are none."""
        return self.model.places(labels)

    @property
    def class_counts(self) -> Floats:
        """Rows of each class."""
        return self.model.class_counts

    @property
    def rows(self) -> float:
        """How many rows it has seen, by weight."""
        return self.model.rows

    @property
    def temper(self) -> Temper | None:
        """How much of its evidence naive Bayes believes itself."""
        return self.model.temper

    @property
    def untempered(self) -> Model:
        """Naive Bayes below, believing all: what it is judged beside."""
        return self.model.untempered

    @property
    def pruned(self) -> bool:
        """Whether rare words were dropped."""
        return self.model.pruned

    @property
    def log_prior(self) -> Floats:
        """log p(c) of each class by naive Bayes."""
        return self.model.log_prior

    @property
    def log_start(self) -> Floats:
        """What is said of the classes before any column."""
        return self.scaled(self.model.log_start) + self.weights[0]

    def scaled(self, evidence: Floats) -> Floats:
        """As much of naive Bayes' evidence as is believed; none of it where the scale is 0, be it infinite."""
        return np.zeros_like(evidence) if self.scale == 0 else np.asarray(self.scale * evidence)

    def log_joint(self, x: Any, threads: int | None = None) -> Floats:
        """The scores: log p(c | x) up to what all classes of a row share."""
        rows = as_table(x)
        size = min(BLOCK, rows.shard_size)

        def work(start: int) -> Floats:
            some = rows.slice(start, min(start + size, rows.rows))
            total = self.features.matrices(some, self.schema, 1, start).scores(self.weights)
            return total if self.scale == 0 else total + self.scaled(self.model.scorer.block(some, start).T)

        parts = in_order(work, range(0, rows.rows, size), threads)
        return np.concatenate([np.empty((0, len(self.classes))), *parts])

    def log_proba(self, x: Any, threads: int | None = None) -> Floats:
        """log p(c | x) of each row and class."""
        found, impossible = normalise(self.log_joint(x, threads).T, self.log_start)
        warn_of_impossible(impossible)
        return found.T

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Bridge)
            and self.model == other.model
            and self.features == other.features
            and (self.scale, self.strength) == (other.scale, other.strength)
            and np.array_equal(self.tried, other.tried, equal_nan=True)  # what was told has no log loss
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.curvature, other.curvature)
        )

    def __repr__(self) -> str:
        rows, classes = many(self.rows, "row"), f"{many(len(self.classes), 'class')} of {self.schema.target!r}"
        return (
            f"Bridge({rows}, {classes}: {self.scale:.2g} of naive Bayes, {self.features.width:,} weights of strength "
            f"{self.strength:.2g})\n{self.schema!r}"
        )

    def explain(self, x: Any, of: Any = None, against: Any = None) -> list[Explanation]:
        """Why it says what it says of each row: of the most probable class against the runner-up, or of those given."""
        from evenodds.models.bridge.explain import explain

        return explain(self, as_table(x), of, against)
