"""What a model says of rows, as columns to be added to them: texts or numbers, None where a row has no answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenodds.labels import canonical

if TYPE_CHECKING:
    from evenodds.audit.decisions import Decision
    from evenodds.data.memory import Table
    from evenodds.data.reading import Reading
    from evenodds.models.glm.regression import Regression
    from evenodds.models.mixture.model import MixtureModel
    from evenodds.models.naive_bayes import Model

Columns = list[list[Any]]


@dataclass(frozen=True)
class OfClasses:
    """Naive Bayes: the most probable class and its probability; with `every`, those of all classes.

    With a rule, what it says in place of the most probable class, and the probability of that; none if it is unsure.
    """

    model: Model
    every: bool
    rule: Decision | None = None

    @property
    def names(self) -> list[str]:
        """Of the columns that are added."""
        target = self.model.schema.target
        each = [f"p({target}={label})" for label in self.model.names] if self.every else []
        return [f"{target}_predicted", f"{target}_probability", *each]

    @property
    def needs(self) -> list[str] | None:
        """The columns that are read, where that is known beforehand."""
        return self.reading([]).columns

    def reading(self, names: list[str]) -> Reading:
        """How batches are read that have these columns."""
        from evenodds.data.reading import Reading

        return Reading(self.model.schema, target=False)

    def columns(self, table: Table, threads: int | None, where: Callable[[int], str]) -> Columns:
        """The answers for some rows."""
        p = np.exp(log_p := self.model.log_proba(table, threads))
        best, labels = log_p.argmax(axis=1), self.model.names
        every = p.T.tolist() if self.every else []
        if self.rule is not None:
            from evenodds.audit.decisions import UNSURE

            best, labels = self.rule.choose(p), [*labels, UNSURE]
        top = p[np.arange(len(p)), best].tolist()
        return [[labels[c] for c in best.tolist()], [p if c >= 0 else None for p, c in zip(top, best.tolist())], *every]


@dataclass(frozen=True)
class OfRegression:
    """A regression: the mean with its interval; of classes, the most probable one with its probability and interval."""

    model: Regression

    @property
    def names(self) -> list[str]:
        """Of the columns that are added."""
        said = ["predicted", "probability"] if self.model.classes else ["mean"]
        return [f"{self.model.schema.target}_{what}" for what in (*said, "low", "high")]

    @property
    def needs(self) -> list[str] | None:
        """None: offset and exposure are read where they are there."""
        return None

    def reading(self, names: list[str]) -> Reading:
        """How batches are read that have these columns."""
        from evenodds.models.glm.plan import reading_of

        return reading_of(self.model.schema, self.model.roles, names)

    def columns(self, table: Table, threads: int | None, where: Callable[[int], str]) -> Columns:
        """The answers for some rows."""
        model = self.model
        mean, known = model.mean(table, threads=threads, where=where), model.covariance is not None
        low, high = model.interval(table, threads=threads, where=where) if known else (mean * np.nan,) * 2
        if mean.ndim == 1:
            return [_known(column) for column in (mean, low, high)]
        best, each = model.best(mean), np.arange(len(mean))
        labels = [None if c < 0 else canonical(model.classes[c]) for c in best.tolist()]
        return [labels, *(_known(column[each, best]) for column in (mean, low, high))]


@dataclass(frozen=True)
class OfMixture:
    """A mixture: the most probable component, its probability and log p(row); with `every`, those of all components."""

    model: MixtureModel
    every: bool

    @property
    def names(self) -> list[str]:
        """Of the columns that are added."""
        each = [f"p(component={g + 1})" for g in range(self.model.k)] if self.every else []
        return ["component", "component_probability", "log_density", *each]

    @property
    def needs(self) -> list[str] | None:
        """The columns that are read."""
        return self.reading([]).columns

    def reading(self, names: list[str]) -> Reading:
        """How batches are read that have these columns."""
        from evenodds.data.reading import Reading

        return Reading(self.model.schema, target=False)

    def columns(self, table: Table, threads: int | None, where: Callable[[int], str]) -> Columns:
        """The answers for some rows."""
        shares, log_p = self.model.shares_and_log_prob(table, threads)
        best = shares.argmax(axis=1)
        said = [(best + 1).tolist(), shares[np.arange(len(best)), best].tolist(), log_p.tolist()]
        return [[str(g) for g in said[0]], *said[1:], *(shares.T.tolist() if self.every else [])]


def _known(column: Any) -> list[float | None]:
    return [None if math.isnan(value) else value for value in column.tolist()]
