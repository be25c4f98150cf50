"""One of several named values: a port, a colour, a class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from evenodds.cells import Coded, as_column, codes
from evenodds.errors import DataError
from evenodds.families.base import COLUMN, Estimate, Family, Reading
from evenodds.families.bernoulli import Beta
from evenodds.families.distribution import (
    Conjugate,
    LinearTerms,
    Seed,
    drawn,
    generator,
    look_up,
    not_negative,
    six_digits,
    some,
    tidy,
)
from evenodds.families.leaves import Floats, Rows, axis_of, count_many, read, share
from evenodds.families.left_out import Counted, How, Left, once_each
from evenodds.families.unseen import log_unseen
from evenodds.labels import Grid, Ints, Labels, canonical
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally


@dataclass(frozen=True, eq=False, repr=False)
class Dirichlet(Conjugate):
    """What is known of the shares of several values: p(θ) ∝ Π θ_i^(a_i - 1). Each a_i counts value i plus one.

    One number stands for every value alike; a mapping gives each its own.

    >>> Dirichlet(1) + Categorical.tally(["a", "b", "a"])
    Dirichlet(a=3, b=2)
    >>> Dirichlet({"a": 1, "c": 5}) + Categorical.tally(["a", "b", "a"])
    Dirichlet(a=3, b=1, c=5)
    """

    concentration: Any = 1.0
    labels: Grid | None = field(default=None, metadata={"batched": False})

    def __post_init__(self) -> None:
        if isinstance(self.concentration, Mapping):
            labels, place = Labels.coded([canonical(key) for key in self.concentration])
            values = np.empty(len(place))
            values[place] = list(self.concentration.values())
            object.__setattr__(self, "concentration", values)
            object.__setattr__(self, "labels", labels)
        not_negative(concentration=self.concentration)

    def over(self, tally: Tally) -> Self:
        """The same prior with a number for every label and group of a tally, and for its own labels."""
        return self._with(tally, 0.0)

    def __add__(self, tally: Tally) -> Self:
        return self._with(tally, 1.0)

    def _with(self, tally: Tally, times: float) -> Self:
        axis, counts, prior = self.aligned(axis_of(tally, "labels"), read(tally, "labels"))
        prior = prior[:, None] if counts.ndim > 1 and prior.ndim == 1 else prior
        return type(self)(prior + times * counts, axis)

    def aligned(self, axis: Grid, counts: Floats) -> tuple[Grid, Floats, Floats]:
        """The labels of some counts and its own, and of each the counts and the pseudo-counts."""
        prior = np.asarray(self.concentration, float)
        if self.labels is None or self.labels == axis:
            return axis, counts, np.broadcast_to(prior, (len(axis), *prior.shape[1:]))
        union, mine, theirs = self.labels.merge(axis)
        aligned, wide = np.zeros((len(union), *counts.shape[1:])), np.zeros((len(union), *prior.shape[1:]))
        aligned[theirs], wide[mine] = counts, prior
        return union, aligned, wide

    def log_evidence(self, tally: Tally) -> Any:
        """The log probability of a tally's values; -inf where one is among them that the prior gives no mass."""
        before, after = self.over(tally).concentration, (self + tally).concentration
        impossible = ((before == 0) & (after > 0)).any(axis=0)
        return np.where(impossible, -np.inf, super().log_evidence(tally))

    @property
    def proper(self) -> bool:
        """Whether it integrates to 1: not without any mass at all."""
        return bool(np.all(np.any(np.asarray(self.concentration) > 0, axis=0)))

    def log_normaliser(self) -> Any:
        """Σ log Γ(a_i) - log Γ(Σ a_i)."""
        from scipy.special import gammaln

        a = np.where(self.concentration > 0, self.concentration, 1.0)
        return gammaln(a).sum(axis=0) - gammaln(np.sum(self.concentration, axis=0))

    @property
    def mean(self) -> Any:
        """a_i / Σ a."""
        return self.concentration / np.sum(self.concentration, axis=0)

    @property
    def mode(self) -> Any:
        """(a_i - 1) / Σ (a - 1), values with a_i of 1 or less at the border; the mean where none is above 1."""
        above = np.maximum(np.asarray(self.concentration) - 1.0, 0.0)
        total = above.sum(axis=0)
        return np.where(total > 0, above / np.where(total > 0, total, 1.0), self.mean)

    @property
    def variance(self) -> Any:
        """m (1 - m) / (Σ a + 1)."""
        return self.mean * (1 - self.mean) / (np.sum(self.concentration, axis=0) + 1)

    def log_prob(self, x: Any) -> Floats:
        """log density at the shares x, given along the first axis in the order of the labels."""
        from scipy.special import xlogy

        powers = xlogy(np.asarray(self.concentration) - 1.0, np.asarray(x, float))
        return np.asarray(powers.sum(axis=0) - self.log_normaliser())

    def quantile(self, q: Any) -> Any:
        """Below which each share lies with the probability q: one value against the rest is a Beta."""
        a = np.asarray(self.concentration, float)
        return Beta(a, np.maximum(a.sum(axis=0) - a, 0.0)).quantile(q)

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw shares: Gammas that are normalised, in logs, for those of a small shape are less than any double.

        Γ(a) is Γ(a + 1) · U^(1/a) with U uniform (Marsaglia and Tsang 2000).
        """
        rng, a = generator(random_state), np.asarray(self.concentration, float)
        shape = (size, *a.shape)
        with np.errstate(divide="ignore"):
            logs = np.log(rng.gamma(a + 1.0, size=shape)) + np.log(rng.random(shape)) / a
        draws = np.exp(logs - logs.max(axis=1, keepdims=True))
        return draws / draws.sum(axis=1, keepdims=True)

    def __repr__(self) -> str:
        return _named("Dirichlet", self.concentration, self.labels)


@dataclass(frozen=True, eq=False, repr=False)
class Categorical(Family):
    """Value i with probability θ_i.

    The theorem behind every table of shares: for counts c, Σ c_i log q_i is largest at q_i = c_i / Σ c.

    >>> Categorical.fit(["red", "blue", "red", "red"], estimate="mle")
    Categorical(blue=0.25, red=0.75)
    >>> Categorical.fit(["red", "blue", "red", "red"])
    Categorical(blue=0.333333, red=0.666667)

    What is summed: how often each value occurs. The prior is a Dirichlet; `mean` and `predictive` are one
    distribution. A value that is not in the list has probability 0.
    """

    shares: Any
    labels: Labels = field(metadata={"batched": False})
    name = "categorical"
    cells = "codes"

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """Leaf "labels": how often each value occurs; values that do not are no labels."""
        tables = count_many([(column.codes, len(column.place)) for column in cells], rows)
        return {(name, "labels"): cls._leaf(column, table) for name, column, table in zip(columns, cells, tables)}

    @staticmethod
    def _leaf(cells: Coded, local: Any) -> Leaf:
        """Counts of local codes as counts of labels."""
        numbers = np.zeros((*local.shape[:-2], len(cells.labels), local.shape[-1]), local.dtype)
        real = cells.place >= 0
        if np.count_nonzero(real) == len(cells.labels):  # one code a label
            numbers[..., cells.place[real], :] = local[..., real, :]
        else:
            np.add.at(np.moveaxis(numbers, -2, 0), cells.place[real], np.moveaxis(local[..., real, :], -2, 0))
        kept = numbers.any(axis=-1) if numbers.ndim == 2 else numbers.any(axis=(0, -1))
        if kept.all():
            return Leaf(cells.labels, numbers)
        return Leaf(cells.labels.take(np.flatnonzero(kept)), numbers[..., kept, :])

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Dirichlet:
        """The same pseudo-count for every known value: flat at 1; the λ of (λ + count) / (λV + total)."""
        return Dirichlet(strength)

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> Dirichlet:
        """As if `strength` rows had been seen before, with all groups' shares."""
        counts = cls.table(tally).sum(axis=1)
        return Dirichlet(strength * share(counts, counts.sum()), axis_of(tally, "labels"))

    @classmethod
    def table(cls, tally: Tally, column: Column = COLUMN) -> Floats:
        """Counts per value and group."""
        return read(tally, "labels").reshape(len(axis_of(tally, "labels")), len(tally.groups))

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """The share of each value with its interval, in alphabetical order."""
        texts = estimate.labels.texts()
        return shares_read(texts, sorted(range(len(texts)), key=texts.__getitem__), estimate, posterior, level)

    def linear(self, tally: Tally) -> LinearTerms:
        """log θ_i of the value that is there."""
        texts = self.labels.texts()
        order = sorted(range(len(texts)), key=texts.__getitem__)
        return LinearTerms([f"={texts[i]}" for i in order], np.log(self.shares[order]), 0.0)

    @classmethod
    def _mle(cls, tally: Tally, column: Column) -> Self:
        counts = read(tally, "labels")
        return cls(counts / some(counts.sum(axis=0)), axis_of(tally, "labels"))  # type: ignore[arg-type]

    @classmethod
    def _of(cls, posterior: Any, estimate: Estimate) -> Self:
        return cls(posterior.mode if estimate == "map" else posterior.mean, posterior.labels)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log θ of each value with its own row taken out; one that no other row has is unseen."""
        start = cls.prior(how.prior, how.strength)
        labels, counts, prior = start.aligned(axis_of(tally, "labels"), cls.table(tally))
        stays = np.zeros(len(labels), bool) if start.labels is None else start.labels.find(labels.keys) >= 0
        table = Counted(counts, prior, stays)

        def evidence(x: Coded, left: Left) -> Floats:
            values = labels.find(x.labels.keys)[x.places]
            strange = (values < 0) & (left.amounts > 0)
            if strange.any():
                text = x.labels.text(int(x.places[np.argmax(strange)]))
                raise DataError(f"the value {text!r} was never learnt: only rows that were learnt can be left out")
            return once_each(values, len(labels), left, says)

        def says(values: Ints, left: Left) -> Floats:
            strange = values < 0
            log_p = table.log_shares(np.where(strange, 0, values), left, how)
            log_p[strange] = -np.inf
            if how.unseen:
                never = np.flatnonzero(strange | table.lost(np.where(strange, 0, values), left))
                some = left.some(never)
                kept = (stays | (counts.sum(axis=1) > 0)).sum() - (some.amounts[:, None] > 0)
                log_p[never] = log_unseen(how.strength, how.kind == "pooled", kept, some.without(counts.sum(axis=0)))
            return log_p

        return evidence

    def log_prob(self, x: Any) -> Floats:
        """log θ of each value; -inf for a value that is not in the list, NaN for a null."""
        return self.said_of(codes(as_column(x)), self.log_table(unseen=-np.inf, missing=np.nan))

    def log_table(self, unseen: Any, missing: float) -> Floats:
        """log θ of each value; then what is said of one that is not in the list, and of a null."""
        with np.errstate(divide="ignore"):
            table = np.log(self.shares)
        rest = np.empty((2, *table.shape[1:]))
        rest[0], rest[1] = unseen, missing
        return np.concatenate([table, rest])

    def said_of(self, cells: Coded, table: Floats) -> Floats:
        """The row of such a table for each cell."""
        place, unseen, missing = self.labels.find(cells.labels.keys), len(table) - 2, len(table) - 1
        rows = np.append(np.where(place < 0, unseen, place), missing)  # of each label; a place of -1 is a null
        return look_up(table[rows[np.append(cells.place, -1)]], cells.codes)

    def log_likelihood(self, tally: Tally) -> Any:
        """Σ count_i log θ_i."""
        from scipy.special import xlogy

        counts = read(tally, "labels")
        where = self.labels.find(axis_of(tally, "labels").keys)
        shares = np.where((where >= 0).reshape(-1, *(1,) * (np.ndim(self.shares) - 1)), self.shares[where], 0.0)
        return tidy(xlogy(counts, shares).sum(axis=0))

    @property
    def mean(self) -> Any:
        """The shares: the expected value of an indicator of each label."""
        return self.shares

    @property
    def variance(self) -> Any:
        """θ (1 - θ), label by label."""
        return self.shares * (1 - self.shares)

    def sample(self, size: int, random_state: Seed = None) -> Any:
        """Draw values, as texts."""
        return np.array(self.labels.texts(), dtype=object)[drawn(generator(random_state), self.shares, size)]

    def __repr__(self) -> str:
        return _named("Categorical", self.shares, self.labels)


def shares_read(
    values: Sequence[str], order: Iterable[int], estimate: Any, posterior: Any, level: float
) -> Iterator[Reading]:
    """The share of each value in each group, with its interval."""
    low, high = posterior.interval(level)
    rows = list(order)
    for group in range(estimate.shares.shape[1]):
        for v in rows:
            shares = {"p": estimate.shares[v, group], "low": low[v, group], "high": high[v, group]}
            yield Reading(group, values[v], shares)


def _named(name: str, values: Any, labels: Any) -> str:
    if not isinstance(labels, Labels):
        return f"{name}({six_digits(values)})"
    pairs = sorted(zip(labels.texts(), values))
    shown = ", ".join(f"{text}={six_digits(value)}" for text, value in pairs[:8])
    return f"{name}({shown}{', …' if len(pairs) > 8 else ''})"
