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

from evenodds.cells import as_column, target_kind
from evenodds.data.memory import table as as_table
from evenodds.data.sum import CLASSES, sum_table, target_codes
from evenodds.errors import DataError
from evenodds.families import Distribution, WordCounts
from evenodds.families.leaves import Floats, check_weights
from evenodds.families.smoothing import WEAK, PriorKind, auto_smoothing
from evenodds.labels import Grid, Labels, canonical
from evenodds.models.class_prior import log_prior
from evenodds.models.estimated import counts_of, estimated, family_of
from evenodds.models.never_learnt import never_learnt
from evenodds.models.saved import Saved
from evenodds.models.scorer import Scorer
from evenodds.models.settings import Settings
from evenodds.models.temper import Temper
from evenodds.schema import Column, Schema
from evenodds.tally import Tally

if TYPE_CHECKING:
    from evenodds.models.explanation import Explanation

BLOCK = 1 << 15  # rows scored at once: what the cache holds
MESSAGES = 1 << 8  # texts scored at once, at least


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
        if not 0 <= factor < np.inf:
            raise ValueError(f"fade({factor}): expected a factor of 0 or more")
        return self._with((self.tally * factor).trimmed())

    def prune(self, min_count: float) -> Model:
        """Without the words that occur less than so often, in all classes together: smaller, and it cannot forget.

        It answers as `Words(min_count=...)` does, which only looks away from rare words; and it may go on learning.
        """
        if not self.tally.lists:
            raise DataError("the model has no words to prune: none of its columns is text")
        if not 0 <= min_count < np.inf:
            raise ValueError(f"prune({min_count}): expected a number of occurrences, 0 or more")
        lists = {name: counts.prune(min_count) for name, counts in self.tally.lists.items()}
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

    def __repr__(self) -> str:
        return f"Model({self.rows:,} rows, {len(self.classes)} classes of {self.schema.target!r})\n{self.schema!r}"

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
        if target_kind(column) != self.schema.target_kind and len(self.classes):
            kinds = f"{self.schema.target_kind} so far and is {target_kind(column)} now"
            raise DataError(f"the target was {kinds}: convert it")
        target = target_codes(column, rows.rows)
        return sum_table(rows, self.schema, target, check_weights(weights, rows.rows), threads)

    def set(self, **settings: Any) -> Model:
        """The same tally under other settings; no pass over the data."""
        return Model(self.schema, self.tally, dataclasses.replace(self.settings, **settings), self.temper)

    def tempered(self, x: Any, y: Any, weights: Any = None, threads: int | None = None) -> Model:
        """The same model, believing as much of its evidence as serves rows that it has learnt, each one left out.

        An exponent for each column, near a common one, and for each text one with a power of its length.
        """
        from evenodds.models.left_out import Learnt, tempered

        rows = as_table(x)
        learnt = Learnt(rows, target_codes(as_column(y), rows.rows), check_weights(weights, rows.rows))
        return tempered(self, [learnt], threads)

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
        total = self.class_counts.sum()
        return int(total) if float(total).is_integer() else float(total)

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
        values = self.schema.values(self._labels.texts())
        ordered = [values[i] for i in self._order]
        return np.array(ordered) if ordered else np.array([], dtype=object)

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
        given = {canonical(label): float(factor) for label, factor in dict(weight).items()}
        texts = self._labels.texts()
        return np.array([given.get(texts[i], 1.0) for i in self._order])

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
        offsets = [self.temper.offsets.get(canonical(label), 0.0) for label in self.classes.tolist()]
        return np.asarray(self.temper.prior * self.log_prior + offsets)

    def exponent(self, name: str) -> float:
        """How much of what a column says is believed."""
        return 1.0 if self.temper is None else self.temper.exponents.get(name, 1.0)

    @functools.cached_property
    def class_masses(self) -> Floats:
        """What the rows of each class weigh, with the classes' factors."""
        weighed: Floats = self._weighted[CLASSES][0].astype(float)
        return weighed

    def column_tally(self, name: str) -> Tally:
        """One column's tally, per class in the order of `classes` (and weighted, if classes are)."""
        return self._columns[name]

    @functools.cached_property
    def _columns(self) -> dict[str, Tally]:
        nothing = Tally.of(self._weighted.groups, {})
        return dict.fromkeys(self.schema.features, nothing) | self._weighted.by_column()

    def column_prior(self, name: str) -> Any:
        """The prior of a column's parameters: its own, or formed from the pooled data."""
        column = self.schema.features[name]
        if column.prior is not None:
            return column.prior
        family = family_of(column)
        tally, strength = self.column_tally(name), self.smoothing(name)
        if self.prior_kind(column) == "flat":
            return family.flat_prior(strength)
        return family.pooled_prior(tally, strength, column)

    def prior_kind(self, column: Column) -> PriorKind:
        """Whether a column's prior is made of pseudo-rows of all classes, or of a pseudo-count for every value."""
        return column.words.prior if column.words is not None else self.settings.prior

    def smoothing(self, name: str) -> float:
        """How many pseudo-rows a column's prior is worth."""
        return self.untempered._smoothing[name]

    @functools.cached_property
    def _smoothing(self) -> dict[str, float]:
        found = {}
        for name, column in self.schema.features.items():
            wanted = self.settings.smoothing if column.smoothing is None else column.smoothing
            tally = self.column_tally(name)
            if wanted == "auto" and counts_of(tally).any():
                found[name] = auto_smoothing(family_of(column), tally, self.prior_kind(column), column)
            else:
                found[name] = WEAK if wanted == "auto" else float(wanted)
        return found

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
        joint = self.untempered.log_joint(x, threads)
        top = joint.max(axis=1)
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(safe + np.log(np.exp(joint - safe[:, None]).sum(axis=1)))

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
