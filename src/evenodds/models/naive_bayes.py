"""Naive Bayes as a value: a schema, a tally and settings.

    log p(c, x) = log p(c) + Σ_j log p(x_j | c)

Everything the model knows is in the tally, so models add, subtract and fade; priors and estimates are formed from it
when they are needed, and settings can be changed without another pass over the data.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.cells import Coded, as_column, target_kind
from evenodds.data.memory import Table, in_order, threads_for
from evenodds.data.memory import table as as_table
from evenodds.data.sum import CLASSES, cells, sum_table, target_codes
from evenodds.errors import DataError
from evenodds.families import Categorical, Dirichlet, Distribution, Family, Gaussian, LogGaussian, WordCounts
from evenodds.families.base import look_up
from evenodds.families.leaves import Floats, check_weights
from evenodds.families.smoothing import WEAK, PriorKind, auto_smoothing
from evenodds.labels import Fixed, Grid, Labels, canonical
from evenodds.models.settings import Settings, normalise
from evenodds.replacing import Path
from evenodds.schema import Column, Schema
from evenodds.tally import Leaf, Tally
from evenodds.text.counts import Counts
from evenodds.texts import Texts

BLOCK = 1 << 15  # rows scored at once: what the cache holds
MESSAGES = 1 << 8  # texts scored at once, at least


@dataclass(frozen=True, eq=False)
class Model:
    """A naive Bayes model: immutable, safe to share between threads, and a sum."""

    schema: Schema
    tally: Tally
    settings: Settings = dataclasses.field(default_factory=Settings)

    # -- a model is a sum --------------------------------------------------------------------------------------------

    def __add__(self, other: Model) -> Model:
        if not isinstance(other, Model):
            return NotImplemented
        self.schema.check(other.schema)
        return self._with(self.tally + other.tally)

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
        counts = whole.counts if whole.counts.ndim == 1 else whole.counts[0]
        if np.any(counts < 0) or any(_less(one) is not None for one in whole.lists.values()):
            raise DataError(f"cannot forget what was never learnt: {_negative(whole)}")
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
            and self.tally == other.tally
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Model({self.rows:,} rows, {len(self.classes)} classes of {self.schema.target!r})\n{self.schema!r}"

    def _with(self, tally: Tally) -> Model:
        return Model(self.schema, tally, self.settings)

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

    def save(self, path: Path) -> None:
        """Write the model to one safe file: arrays and a header, no code. An old file is replaced whole, or not."""
        from evenodds.models.store import save

        save(self, path)

    @staticmethod
    def load(path: Path) -> Model:
        """The model that was saved in a file; it goes on learning, adding and forgetting."""
        from evenodds.models.store import load

        return load(path)

    def to_bytes(self) -> bytes:
        """The bytes of the file that `save` writes."""
        from evenodds.models.store import to_bytes

        return to_bytes(self)

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """The model that `to_bytes` wrote."""
        from evenodds.models.store import from_bytes

        return from_bytes(data)

    def set(self, **settings: Any) -> Model:
        """The same tally under other settings; no pass over the data."""
        return Model(self.schema, self.tally, dataclasses.replace(self.settings, **settings))

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
        if not len(self.classes):
            raise DataError("the model has seen no rows yet")
        counts = self.class_masses
        prior = self.class_prior
        if isinstance(prior, str) and prior == "estimated":
            shares = counts / counts.sum()
        elif isinstance(prior, str) and prior == "uniform":
            shares = np.full(len(counts), 1 / len(counts))
        elif isinstance(prior, Dirichlet):
            shares = self.smoothed(prior, counts)
            shares = shares / shares.sum()
        else:
            shares = self._given_prior(prior)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares))

    @property
    def class_prior(self) -> Any:
        """The setting; "auto" becomes "uniform" where a column of text is told by the words of the other classes.

        What those say is no likelihood, and outweighs or is outweighed by a prior at random.
        """
        if not isinstance(self.settings.class_prior, str) or self.settings.class_prior != "auto":
            return self.settings.class_prior
        words = (column.words for column in self.schema.features.values())
        complement = any(one is not None and one.events == "complement" for one in words)
        return "uniform" if complement else "estimated"

    @functools.cached_property
    def class_masses(self) -> Floats:
        """What the rows of each class weigh, with the classes' factors."""
        weighed: Floats = self._weighted[CLASSES][0].astype(float)
        return weighed

    def smoothed(self, prior: Dirichlet, counts: Floats) -> Floats:
        """The rows of each class with the prior's pseudo-rows."""
        labels, place = Labels.coded([canonical(label) for label in self.classes])
        ordered = np.zeros((2, len(labels), 1))
        ordered[0, place, 0] = counts
        posterior = prior + Tally.of(Fixed(1), {("class", "labels"): Leaf(labels, ordered)})
        assert posterior.labels is not None
        known: Floats = np.asarray(posterior.concentration)[posterior.labels.find(labels.keys)][place]
        return known

    def _given_prior(self, prior: Any) -> Floats:
        if isinstance(prior, Mapping):
            given = {canonical(label): float(p) for label, p in prior.items()}
            missing = [label for label in self.classes.tolist() if canonical(label) not in given]
            if missing:
                raise ValueError(f"class_prior has no probability for class {missing[0]!r}")
            shares = np.array([given[canonical(label)] for label in self.classes])
        else:
            shares = np.asarray(prior, float)
        if shares.shape != self.classes.shape:
            raise ValueError(f"class_prior has {len(shares)} probabilities for {len(self.classes)} classes")
        if np.any(shares < 0) or not np.isclose(shares.sum(), 1.0):
            raise ValueError(f"class_prior adds up to {shares.sum():g}: expected probabilities that add up to 1")
        return shares

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
        family = _family(column)
        tally, strength = self.column_tally(name), self.smoothing(name)
        if self.prior_kind(column) == "flat":
            return family.flat_prior(strength)
        return family.pooled_prior(tally, strength, column)

    def prior_kind(self, column: Column) -> PriorKind:
        """Whether a column's prior is made of pseudo-rows of all classes, or of a pseudo-count for every value."""
        return column.words.prior if column.words is not None else self.settings.prior

    def smoothing(self, name: str) -> float:
        """How many pseudo-rows a column's prior is worth."""
        return self._smoothing[name]

    @functools.cached_property
    def _smoothing(self) -> dict[str, float]:
        found = {}
        for name, column in self.schema.features.items():
            wanted = self.settings.smoothing if column.smoothing is None else column.smoothing
            tally = self.column_tally(name)
            if wanted == "auto" and _counts(tally).any():
                found[name] = auto_smoothing(_family(column), tally, self.prior_kind(column), column)
            else:
                found[name] = WEAK if wanted == "auto" else float(wanted)
        return found

    @functools.cached_property
    def distributions(self) -> dict[str, Distribution]:
        """p(x_j | c) of every column that can tell classes apart, batched over the classes."""
        found = {}
        for name, column in sorted(self.schema.features.items()):  # so that the columns' order changes no bit
            family, tally = _family(column), self.column_tally(name)
            if not _counts(tally).any() or not family.informative(tally):
                continue
            try:
                if self.settings.estimate == "mle":
                    found[name] = family.estimate(_filled(tally), "mle", None, column)
                else:
                    found[name] = family.estimate(tally, self.settings.estimate, self.column_prior(name), column)
            except ValueError as error:
                raise DataError(f"column {name!r}: {error}") from None
            self._check_spread(name, found[name])
            one = found[name]
            if isinstance(one, WordCounts) and self.settings.unseen == "prior" and self.settings.estimate != "mle":
                mass = WordCounts.unseen_weight(tally, self.column_prior(name), column)
                found[name] = dataclasses.replace(one, unseen=mass)
        return found

    def _check_spread(self, name: str, distribution: Distribution) -> None:
        """Refuse a density that is endless in one class because all its values there are the same."""
        curve = distribution.log if isinstance(distribution, LogGaussian) else distribution
        if isinstance(curve, Gaussian) and not np.all(curve.variance > 0):
            where = self.classes[int(np.argmin(curve.variance))]
            raise DataError(
                f"column {name!r}: all values of class {str(where)!r} are the same, so its Gaussian has no width; "
                "use prior='pooled' (and no 'mle'), or Column(Gaussian, variance='pooled')"
            )

    # -- what it says of rows ----------------------------------------------------------------------------------------

    def log_joint(self, x: Any, threads: int | None = None) -> Floats:
        """log p(c, x) of each row and class; a missing cell is integrated out."""
        return self._blocks(x, threads, lambda total: total)

    def log_proba(self, x: Any, threads: int | None = None) -> Floats:
        """log p(c | x) of each row and class."""
        return self._blocks(x, threads, lambda total: normalise(total, self.log_prior))

    def _blocks(self, x: Any, threads: int | None, finish: Callable[[Floats], Floats]) -> Floats:
        """finish(log p(c, x)) block by block, as (rows, classes)."""
        if self.is_message(x):
            return finish(self._message(x[0])).T
        rows = as_table(x)
        if not len(self.classes):
            raise DataError("the model has seen no rows yet")
        out = np.empty((rows.rows, len(self.classes)))
        self.distributions  # noqa: B018  estimated once, before the threads start
        size = self.block_size(rows, threads)

        def work(start: int) -> None:
            stop = min(start + size, rows.rows)
            out[start:stop] = finish(self._score(rows.slice(start, stop), start)).T

        for _ in in_order(work, range(0, rows.rows, size), threads):
            pass
        return out

    def is_message(self, x: Any) -> bool:
        """Whether this is one text, and text all that the model reads: then it need not become a table first."""
        return type(x) is list and len(x) == 1 and type(x[0]) is str and self._words is not None

    @functools.cached_property
    def _words(self) -> WordCounts | None:
        """The words of a model that has nothing else."""
        if len(self.schema.columns) != 1 or len(self.distributions) != 1:
            return None
        [only] = self.distributions.values()
        return only if isinstance(only, WordCounts) else None

    def _message(self, text: str) -> Floats:
        """log p(c, text), as (classes, 1)."""
        assert self._words is not None
        total = self.log_prior[:, None].copy()
        self._words.add_message(text.encode("utf-8", "surrogatepass"), total)
        if math.isfinite(np.add.reduce(total, axis=None)):
            return total
        return self._score(Table({next(iter(self.schema.columns)): Texts.of([text])}, 1))

    def block_size(self, rows: Table, threads: int | None) -> int:
        """How many rows are scored at once."""
        size = min(BLOCK, rows.shard_size)
        if any(_family(column).cells == "texts" for column in self.schema.features.values()):
            size = max(MESSAGES, min(size, -(-rows.rows // (4 * threads_for(threads)))))
        return size

    def leave_one_out(self, x: Any, y: Any, weights: Any = None, threads: int | None = None) -> Floats:
        """log p(c | x) of rows that were learnt, each by the model without it: `forget(row)`, for all rows at once.

        The strength of the smoothing, the cuts of binned columns and balanced class weights stay those of all rows.
        """
        from evenodds.models.left_out import leave_one_out

        return leave_one_out(self, x, y, weights, threads)

    def _score(self, rows: Table, start: int = 0) -> Floats:
        """log p(c, x) of one block, as (classes, rows): numpy's inner loops run along the rows."""
        total = self._start(rows)
        for name, distribution in self.distributions.items():
            x = cells(rows, name, self.schema.features[name])
            if isinstance(x, Coded):
                total += self._category_evidence(name, x).T
            else:
                distribution.add_log_prob(x, total)
        if np.isfinite(total.sum()):
            return total
        total = self._start(rows)  # a cell is missing, or impossible: look at each
        for name in self.distributions:
            total += self.evidence(name, rows, start).T
        return total

    def _start(self, rows: Table) -> Floats:
        return np.repeat(self.log_prior[:, None], rows.rows, axis=1)

    def evidence(self, name: str, rows: Table, start: int = 0) -> Floats:
        """log p(x_j | c) of one column's cells (rows, classes); 0 for a missing, unseen or impossible cell."""
        x = cells(rows, name, self.schema.features[name])
        if isinstance(x, Coded):
            return self._category_evidence(name, x)
        if isinstance(x, Texts):
            log_p = self.distributions[name].log_prob(x)
            log_p[~x.known | np.isneginf(log_p.max(axis=1))] = 0.0
            return log_p
        infinite = np.flatnonzero(np.isinf(x))
        if len(infinite):
            raise DataError(f"column {name!r} is infinite in row {start + infinite[0]}")
        log_p = self.distributions[name].log_prob(x)
        log_p[np.isnan(x) | np.isneginf(log_p.max(axis=1))] = 0.0
        return log_p

    def _category_evidence(self, name: str, x: Coded) -> Floats:
        table, labels = self._log_tables[name]
        place = labels.find(x.labels.keys)
        rows = np.append(np.where(place < 0, len(table) - 2, place)[x.place], len(table) - 1)
        rows = np.where(np.append(x.place, 0) < 0, len(table) - 1, rows)
        return look_up(table[rows], x.codes)

    @functools.cached_property
    def _log_tables(self) -> dict[str, tuple[Floats, Labels]]:
        """log p(value | class) of each categorical column, with a row for the unseen and one for the missing."""
        tables = {}
        for name, distribution in self.distributions.items():
            if isinstance(distribution, Categorical):
                with np.errstate(divide="ignore"):
                    table = np.log(distribution.shares)
                table[np.isneginf(table.max(axis=1))] = 0.0
                extra = np.zeros((2, table.shape[1]))
                if self.settings.unseen == "prior":
                    extra[0] = self._unseen(name, len(table))
                tables[name] = np.concatenate([table, extra]), distribution.labels
        return tables

    def _unseen(self, name: str, values: int) -> Floats:
        """log of the smoothing mass of a value that no class has seen: λ/(λV + n_c), or λ/(N + 1) of λ + n_c."""
        counts = Categorical.table(self.column_tally(name))
        n, strength = counts.sum(axis=0), self.smoothing(name)
        if strength == 0 or self.settings.estimate == "mle":
            return np.zeros(len(n))
        if self.settings.prior == "flat":
            return np.asarray(np.log(strength) - np.log(strength * values + n))
        return np.asarray(np.log(strength / (n.sum() + 1)) - np.log(strength + n))

    def log_density(self, x: Any, threads: int | None = None) -> Floats:
        """log p(x) of each row: Σ over classes of p(c) p(x | c)."""
        joint = self.log_joint(x, threads)
        top = joint.max(axis=1)
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(safe + np.log(np.exp(joint - safe[:, None]).sum(axis=1)))


def _family(column: Column) -> type[Family]:
    assert column.family is not None
    return column.family


def _counts(tally: Tally) -> Floats:
    """How many values one column has in each class."""
    for counts in tally.lists.values():
        return np.asarray(counts.documents, float)
    for name, spec in tally.layout.specs.items():
        if not spec.is_sum:
            return np.asarray(tally[name].sum(axis=0), float)
    return np.zeros(len(tally.groups))


def _filled(tally: Tally) -> Tally:
    """The tally with every class that has no values of its own given all classes' values: it can say nothing new."""
    empty = np.flatnonzero(_counts(tally) == 0)
    if not len(empty):
        return tally
    pooled, leaves = tally.pooled(), {}
    for name in tally.layout.specs:
        axis, numbers, is_sum = tally.leaf(name)
        numbers = numbers.copy()
        numbers[..., empty] = pooled.leaf(name).numbers
        leaves[name] = Leaf(axis, numbers, is_sum)
    lists = {}
    for name, counts in tally.lists.items():
        everything = counts.grouped(1, np.zeros(len(tally.groups), np.int64))
        lists[name] = sum((everything.grouped(len(tally.groups), np.array([at])) for at in empty), counts)
    return Tally.of(tally.groups, leaves, lists)


def _less(words: Counts) -> tuple[str, int, float] | None:
    """A word that is counted less than never: the word, its group and the number."""
    for group, (keys, numbers) in enumerate(words.lists):
        below = np.flatnonzero(numbers < 0)
        if len(below):
            return words.text(int(keys[below[0]])), group, float(numbers[below[0]])
    return None


def _negative(tally: Tally) -> str:
    for (column, _), words in tally.lists.items():
        less = _less(words)
        if less is not None and isinstance(tally.groups, Labels):
            text, group, number = less
            return f"column {column!r} would have {text!r} {number:g} times in class {tally.groups.text(group)!r}"
    for name, spec in sorted(tally.layout.specs.items(), key=lambda item: item[0] == CLASSES):
        if not spec.is_sum and np.any(tally[name] < 0):
            row, group = np.argwhere(tally[name] < 0)[0]
            groups = tally.groups
            where = f" of class {groups.text(int(group))!r}" if isinstance(groups, Labels) else ""
            value = f" {spec.axis.text(int(row))!r}" if isinstance(spec.axis, Labels) else ""
            return f"column {name[0]!r} would have {tally[name][row, group]:g} rows{value}{where}"
    return "a count would be negative"
