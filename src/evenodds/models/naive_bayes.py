"""Naive Bayes as a value: a schema, a tally and settings.

    log p(c, x) = log p(c) + Σ_j log p(x_j | c)

Everything the model knows is in the tally, so models add, subtract and fade; priors and estimates are formed from it
when they are needed, and settings can be changed without another pass over the data.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenodds.arguments import amount
from evenodds.cells import as_column, target_kind
from evenodds.data.memory import table as as_table
from evenodds.data.sum import CLASSES, sum_table, target_codes
from evenodds.errors import DataError, did_you_mean, listed, many
from evenodds.families import Distribution, WordCounts
from evenodds.families.leaves import Floats, check_weights
from evenodds.labels import Grid, Labels, canonical
from evenodds.logs import log_sum
from evenodds.models.class_prior import log_prior
from evenodds.models.column_prior import column_prior, strengths
from evenodds.models.estimated import estimated
from evenodds.models.never_learnt import never_learnt
from evenodds.models.saved import Saved
from evenodds.models.scorer import Scorer
from evenodds.models.settings import Settings
from evenodds.models.temper import Temper
from evenodds.schema import Schema
from evenodds.show import plain
from evenodds.tally import Tally

if TYPE_CHECKING:
    from evenodds.models.explanation import Explanation


@dataclass(frozen=True, eq=False)
class Model(Saved):
    """A naive Bayes model: immutable, safe to share between threads, and a sum."""

    kind = "naive bayes"
    schema: Schema
    tally: Tally
    settings: Settings = dataclasses.field(default_factory=Settings)
    temper: Temper | None = None  # how much of what its columns say is believed; None: all of it

    # -- a model is a sum --------------------------------------------------------------------------------------------

    def __add__(self, other: Model) -> Model:
        if not isinstance(other, Model):
            return NotImplemented
        self.schema.check(other.schema)
        self.settings.check(other.settings)
        both = self.temper is not None and other.temper is not None
        temper = self.temper + other.temper if both else self.temper or other.temper  # type: ignore[operator]
        return Model(self.schema, self.tally + other.tally, self.settings, temper)

    def __radd__(self, other: object) -> Model:  # sum() starts from 0
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Model) -> Model:
        if not isinstance(other, Model):
            return NotImplemented
        self.schema.check(other.schema)
        if self.pruned or other.pruned:
            raise DataError("a pruned model cannot forget: its rare words are gone; learn all rows again, then prune")
        rest = whole = self.tally - other.tally
        if len(rest.groups) < len(self.tally.groups):  # with a class, what it has less than nothing of is gone too
            whole = self.tally + -other.tally
        wrong = never_learnt(whole)
        if wrong is not None:
            raise DataError(f"cannot forget what was never learnt: {wrong}")
        return self._with(rest)

    def fade(self, factor: float) -> Model:
        """All evidence so far, worth `factor` times as much: 0.5 halves it."""
        return self._with((self.tally * amount("factor", factor)).trimmed())

    def prune(self, min_count: float) -> Model:
        """Without the words that occur less than so often, in all classes together: smaller, and it cannot forget.

        It answers as `Words(min_count=...)` does, which only looks away from rare words; and it may go on learning.
        """
        if not self.tally.lists:
            raise DataError("the model has no words to prune: none of its columns is text")
        least = amount("min_count", min_count)
        lists = {name: counts.prune(least) for name, counts in self.tally.lists.items()}
        return self._with(Tally(self.tally.layout, self.tally.counts, self.tally.sums, lists))

    @property
    def pruned(self) -> bool:
        """Whether rare words were dropped, so that nothing can be forgotten any more."""
        return any(counts.pruned for counts in self.tally.lists.values())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Model)
            and self.schema == other.schema
            and self.settings == other.settings
            and self.temper == other.temper
            and self.tally == other.tally
        )

    def __reduce__(self) -> tuple[Any, ...]:  # what was estimated from it is estimated again
        return Model, (self.schema, self.tally, self.settings, self.temper)

    def __repr__(self) -> str:
        rows, classes = many(self.rows, "row"), f"{many(len(self.classes), 'class')} of {self.schema.target!r}"
        return f"Model({rows}, {classes})\n{self.schema!r}"

    def _with(self, tally: Tally) -> Model:
        return Model(self.schema, tally, self.settings, self.temper)

    def learn(self, x: Any, y: Any, weights: Any = None, threads: int | None = None) -> Model:
        """The model that has seen these rows too."""
        return self._with(self.tally + self.count(x, y, weights, threads))

    def forget(self, x: Any, y: Any, weights: Any = None, threads: int | None = None) -> Model:
        """The model that has never seen these rows."""
        return self - self._with(self.count(x, y, weights, threads))

    def count(self, x: Any, y: Any, weights: Any = None, threads: int | None = None) -> Tally:
        """The tally of some rows under this model's schema."""
        rows = as_table(x)
        column = as_column(y)
        if target_kind(column) != self.schema.target_kind:
            kinds = f"{self.schema.target_kind} by the schema and {target_kind(column)} here"
            raise DataError(f"the target is {kinds}: convert it")
        target = target_codes(column, rows.rows)
        return sum_table(rows, self.schema, target, check_weights(weights, rows.rows), threads)

    def set(self, **settings: Any) -> Model:
        """The same tally under other settings; no pass over the data."""
        return Model(self.schema, self.tally, dataclasses.replace(self.settings, **settings), self.temper)

    def tempered(self, x: Any, y: Any, weights: Any = None, threads: int | None = None) -> Model:
        """The same model, believing as much of its evidence as serves rows that it has learnt, each one left out.

        An exponent for each column, near a common one, and for each text one with a power of its length.
        """
        from evenodds.models.left_out import learnt_of, tempered

        return tempered(self, [learnt_of(x, y, weights)], threads)

    @functools.cached_property
    def untempered(self) -> Model:
        """The same model, believing all."""
        return self if self.temper is None else Model(self.schema, self.tally, self.settings)

    def believing(self, temper: Temper) -> Model:
        """The same model under a temper; what was estimated already is not estimated again."""
        new = dataclasses.replace(self.untempered, temper=temper)
        new.__dict__["untempered"] = self.untempered
        return new

    # -- what it has learnt ------------------------------------------------------------------------------------------

    @property
    def rows(self) -> float:
        """How many rows it has seen, by weight."""
        return plain(self.class_counts.sum())

    @functools.cached_property
    def _order(self) -> Any:
        values = self.schema.values(self._labels.texts())
        return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.intp)

    @property
    def _labels(self) -> Labels:
        groups = self.tally.groups
        return groups if isinstance(groups, Labels) else Labels.of([])

    @functools.cached_property
    def classes(self) -> Any:
        """The classes, in the order of their values."""
        values = self.schema.values(self.names)
        return np.array(values) if values else np.array([], dtype=object)

    @functools.cached_property
    def names(self) -> list[str]:
        """What each class is known by, whatever type its value has: its canonical text, in the order of `classes`."""
        texts = self._labels.texts()
        return [texts[i] for i in self._order]

    def place(self, label: Any) -> int:
        """Where a class stands among `classes`, given as its value or its name."""
        if canonical(label) not in self.names:
            raise DataError(did_you_mean(canonical(label), self.names, "class"))
        return self.names.index(canonical(label))

    @functools.cached_property
    def class_counts(self) -> Floats:
        """Rows of each class, in the order of `classes`."""
        if not self.tally.columns:
            return np.zeros(0)
        counts: Floats = self.tally[CLASSES][0].astype(float)[self._order]
        return counts

    @functools.cached_property
    def _weighted(self) -> Tally:
        """The tally with the classes weighted, in the order of `classes`."""
        tally = self.tally
        if self.settings.class_weight is not None:
            factors = np.empty(len(self._order))
            factors[self._order] = self.class_factors
            tally = tally * factors
        return tally.picked(Grid(np.arange(len(self._order))), self._order)

    @functools.cached_property
    def class_factors(self) -> Floats:
        """How much a row of each class counts, in the order of `classes`."""
        weight, counts = self.settings.class_weight, self.class_counts
        if weight is None:
            return np.ones(len(counts))
        if isinstance(weight, str):
            return counts.sum() / (len(counts) * counts)
        factors = np.array([weight.get(name, 1.0) for name in self.names])
        if len(factors) and not factors.any():
            raise DataError(f"class_weight is 0 for {listed(self.names)}, so no row counts: give one a factor above 0")
        return factors

    def places(self, labels: Labels) -> Any:
        """Where other labels stand among `classes`; -1 where they are none."""
        place = np.full(len(self._order) + 1, -1)
        place[self._order] = np.arange(len(self._order))
        return place[self._labels.find(labels.keys)]

    @functools.cached_property
    def log_prior(self) -> Floats:
        """log p(c) of each class."""
        return log_prior(self)

    @functools.cached_property
    def log_start(self) -> Floats:
        """What is said of the classes before any column: log p(c), or what a temper makes of it."""
        if self.temper is None:
            return self.log_prior
        return np.asarray(self.temper.prior * self.log_prior + self.class_offsets)

    @property
    def class_offsets(self) -> Floats:
        """What a temper adds to the log-odds of each class."""
        offsets = {} if self.temper is None else self.temper.offsets
        return np.array([offsets.get(name, 0.0) for name in self.names])

    def exponent(self, name: str) -> float:
        """How much of what a column says is believed."""
        return 1.0 if self.temper is None else self.temper.exponents.get(name, 1.0)

    @functools.cached_property
    def class_masses(self) -> Floats:
        """What the rows of each class weigh, with the classes' factors."""
        return self.class_counts * self.class_factors

    def column_tally(self, name: str) -> Tally:
        """One column's tally, per class in the order of `classes` (and weighted, if classes are)."""
        return self._columns[name]

    @functools.cached_property
    def _columns(self) -> dict[str, Tally]:
        nothing = Tally.of(self._weighted.groups, {})
        return dict.fromkeys(self.schema.features, nothing) | self._weighted.by_column()

    def column_prior(self, name: str) -> Any:
        """The prior of a column's parameters: its own, or formed from the pooled data."""
        return column_prior(self, name)

    def smoothing(self, name: str) -> float:
        """How many pseudo-rows a column's prior is worth."""
        return self.untempered._smoothing[name]

    @functools.cached_property
    def _smoothing(self) -> dict[str, float]:
        return strengths(self)

    @functools.cached_property
    def distributions(self) -> dict[str, Distribution]:
        """p(x_j | c) of every column that can tell classes apart, batched over the classes."""
        if self.temper is not None:
            shrink = self.temper.shrink
            return {
                name: dataclasses.replace(one, shrink=shrink.get(name, 0.0)) if isinstance(one, WordCounts) else one
                for name, one in self.untempered.distributions.items()
            }
        return estimated(self)

    # -- what it says of rows ----------------------------------------------------------------------------------------

    @functools.cached_property
    def scorer(self) -> Scorer:
        """What weighs rows."""
        return Scorer(self)

    def log_joint(self, x: Any, threads: int | None = None) -> Floats:
        """log p(c, x) of each row and class; a missing cell is integrated out."""
        return self.scorer.log_joint(x, threads)

    def log_proba(self, x: Any, threads: int | None = None) -> Floats:
        """log p(c | x) of each row and class."""
        return self.scorer.log_proba(x, threads)

    def log_density(self, x: Any, threads: int | None = None) -> Floats:
        """log p(x) of each row: Σ over classes of p(c) p(x | c)."""
        return log_sum(self.untempered.log_joint(x, threads))

    def leave_one_out(self, x: Any, y: Any, weights: Any = None, threads: int | None = None) -> Floats:
        """log p(c | x) of rows that were learnt, each by the model without it: `forget(row)`, for all rows at once.

        The strength of the smoothing, the cuts of binned columns and balanced class weights stay those of all rows.
        """
        from evenodds.models.left_out import leave_one_out

        return leave_one_out(self, x, y, weights, threads)

    def adapt(self, x: Any, threads: int | None = None) -> Model:
        """The same model under the class shares of new rows, whose classes need not be known.

        Right if only the shares changed: see `label_shift`. Refused where the rows do not tell them.
        """
        from evenodds.models.label_shift import adapted

        return adapted(self, self.log_proba(x, threads))[0]

    def explain(self, x: Any, of: Any = None, against: Any = None) -> list[Explanation]:
        """Why it says what it says of each row: of the most probable class against the runner-up, or of those given."""
        from evenodds.models.explain import explain

        return explain(self, as_table(x), of, against)
