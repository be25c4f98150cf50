"""What a text says of its class once the text itself is left out: its own words are taken from its class's counts.

The words of all other texts stay as they are, so a text needs nothing but its own words' counts: it is read, its
distinct words are looked up, and what is left of their counts is weighed. A word that only this text has is unseen.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.families.leaves import Floats, share
from evenodds.families.left_out import How, Left
from evenodds.families.unseen import log_unseen
from evenodds.families.word_shares import Pseudo, unit_of
from evenodds.families.words import PLAIN, WordCounts
from evenodds.kernel import frozen
from evenodds.labels import Ints
from evenodds.tally import Tally
from evenodds.text import leave_kernels as run
from evenodds.text import list_kernels, whole_kernels
from evenodds.text.bags import Bags
from evenodds.text.count import to_unit
from evenodds.text.tables import Rows32, Sorted, asked_for

TABLE = 1 << 16  # whole numbers whose logs are kept, at most: few words count more
SMALL = run.ROUNDING


class LeftWords:
    """The counts of all texts, ready to have one text's taken out."""

    def __init__(self, tally: Tally, how: How) -> None:
        self.words, self.how = how.column.words or PLAIN, how
        prior = how.prior if how.prior is not None else Pseudo(how.strength, how.kind == "pooled")
        if how.estimate in ("mle", "map"):
            raise ValueError(f"texts are not left out under estimate={how.estimate!r}; use 'mean' or 'predictive'")
        if self.words.events in ("bernoulli", "complement") and prior.strength == 0:
            raise ValueError(f"without smoothing a text of events={self.words.events!r} can be impossible; use some")
        if WordCounts.counts(tally).pruned:
            raise ValueError("its counts are pruned: the rare words of a text are gone, so it cannot be left out")
        self.prior: Pseudo = prior
        self.unit = unit_of(WordCounts.counts(tally), self.words)
        self._counts = used = WordCounts.counts(tally)
        if self.words.min_count > 1:
            self._counts = used = replace(used, lists=used.frequent(self.words.min_count))
        self._size = len(used.keys())  # words that count
        bernoulli = self.words.events == "bernoulli"
        self.totals = used.documents.astype(float) if bernoulli else self.unit * used.tokens.astype(float)
        self._most = float(self.totals.sum())  # that is counted
        if self.words.events in ("counts", "present"):
            self._most = float(max((one.numbers.max(initial=0) for one in used.lists), default=0))
        with np.errstate(divide="ignore"):
            self._table = np.log(np.arange(min(TABLE, int(self._most) + 2)) + prior.strength)
        self._whole = used.is_whole and self.words.length == "as is"

    def score(self, texts: Bags, left: Left) -> Floats:
        """Σ of the weights of each text's words in each class, (texts, classes), without the text's own counts."""
        sums, (rows, counts) = np.zeros((len(texts.ends), left.n_groups)), self._own(texts)
        self._check(texts, rows, left)
        self._weigh(texts, rows, frozen(counts), left, sums)
        return sums

    def _own(self, texts: Bags) -> tuple[Rows32, Any]:
        """Where each token stands among the texts' own words, -1 where it counts nothing; and those words' counts.

        Of each class, and last of all: side by side in the caches, and small where all are whole. What no text has is
        not looked at.
        """
        rows, keys, order = asked_for(texts.keys, self._counts.keys(), self._counts.index)
        small = self._counts.is_whole and self.unit == 1.0 and self._counts.tokens.sum() < 2**31
        counts: Any = np.zeros((len(keys), len(self.totals) + 1), np.uint32 if small else np.float64)
        spots = np.empty((len(keys) + 1, 2), np.int32)
        for k, one in enumerate(self._counts.lists):
            list_kernels.count_of(keys, order, frozen(one.keys), frozen(one.numbers), spots, counts, k)
        if self.unit != 1.0:
            counts *= self.unit
        return rows, counts

    def _weigh(self, texts: Bags, rows: Rows32, counts: Any, left: Left, sums: Floats) -> None:
        words, distinct, times, ends = self.words, self.words.distinct, texts.times, texts.ends
        lost = np.zeros(len(sums), np.int64)
        less = np.zeros((len(sums), left.n_groups))
        enough = float(words.min_count) * self.unit if words.min_count > 1 else 0.0
        own, taken = (counts, left.groups, left.amounts, enough), self._taken(times, ends)
        how, there = (self.prior.strength, self.prior.pooled), np.empty(len(sums))
        at_once = words.events in ("counts", "present") and not self.prior.pooled and self.prior.strength > 0
        if at_once and self._has_logs(counts, left, enough):
            of_whole = (counts, left.groups, distinct, self._table)
            wrong = whole_kernels.whole_multinomial(rows, times, taken, ends, *of_whole, less, lost, there, sums)
        elif at_once:
            masses = (self.prior.strength, distinct, self._table, less, lost, there, sums)
            wrong = run.multinomial(rows, times, taken, ends, *own, *masses)
        else:
            gone = np.empty(len(rows))
            wrong = run.drop_lost(rows, taken, ends, *own, gone, less, lost)
        if wrong >= 0:
            raise DataError(f"text {wrong} has a word more often than its class: {_NEVER}")
        if words.events == "bernoulli":
            self._absent(left, sums)
            many = self._summed(left.amounts)
            of = (counts, left.groups, gone, self.totals, left.amounts)
            run.bernoulli(rows, ends, *of, *how, self._table, many, sums)
            return
        totals = np.maximum(self.totals - less, 0.0)
        totals[totals <= SMALL * less] = 0.0
        weights = np.full(len(sums), self.prior.strength)
        if not self.prior.pooled:
            weights *= self._size - lost
        if at_once:
            mass = totals + weights[:, None]  # 0 where there are no words any more
            sums -= there[:, None] * np.log(np.where(mass > 0, mass, 1.0))
        elif words.events == "complement":
            whole = self._whole and bool((left.amounts == np.floor(left.amounts)).all())
            of = (counts, left.groups, gone, totals, weights)
            run.complement(rows, times, ends, *of, *how, distinct, self._table, whole, sums)
            return
        else:
            of = (counts, left.groups, gone, totals, weights)
            run.pooled_multinomial(rows, times, ends, *of, self.prior.strength, distinct, there, sums)
        if self.how.unseen and self.prior.strength > 0:
            mass = log_unseen(self.prior.strength, self.prior.pooled, (self._size - lost)[:, None], totals)
            sums += (texts.lengths(distinct) - there)[:, None] * mass

    def _has_logs(self, counts: Any, left: Left, enough: float) -> bool:
        """Whether all counts, and what is left of each without a text, are whole numbers of the table."""
        whole = self._whole and counts.dtype == np.uint32 and self._most < len(self._table)
        return bool(whole and enough == 0.0 and (left.amounts == 1.0).all())

    def _taken(self, times: Rows32, ends: Ints) -> Rows32 | Floats:
        """How much each token of a text was counted when the text was learnt."""
        amounts = np.ones_like(times) if self.words.distinct else times
        return amounts if self.words.length == "as is" else self.unit * to_unit(amounts, ends)

    def _check(self, texts: Bags, rows: Rows32, left: Left) -> None:
        """Refuse a text with a word that was never learnt."""
        if self.words.min_count > 1 or not (rows < 0).any():
            return
        text = np.searchsorted(texts.ends, np.flatnonzero(rows < 0), side="right")
        text = text[left.amounts[text] > 0]
        if len(text):
            raise DataError(f"text {text[0]} has a word that was never learnt: {_NEVER}")

    def _absent(self, left: Left, sums: Floats) -> None:
        """sums[d, k] = Σ log(how many texts of class k, but d, have not the word), over the words of `_summed`."""
        for amount in np.unique(left.amounts):
            mine = np.flatnonzero(left.amounts == amount)
            others, own = self._bases(float(amount))
            sums[mine] = others
            sums[mine, left.groups[mine]] = own[left.groups[mine]]

    @functools.cached_property
    def _bases(self) -> Callable[[float], tuple[Floats, Floats]]:
        return functools.lru_cache(maxsize=64)(self._find_bases)

    def _find_bases(self, amount: float) -> tuple[Floats, Floats]:
        """The sums of a class that has not the text, and of the class that has it, for a text of this weight."""
        found = np.zeros((2, len(self.totals)))
        whole = max(float(self.totals.sum()) - amount, 0.0)
        for k, (n, pooled, many) in enumerate(self._alike):
            pseudo = self.prior.strength * np.ones(len(n))
            summed = np.ones(len(n), bool)
            if self.prior.pooled:
                pseudo = self.prior.strength * (1.0 - share(pooled, whole))
                summed = pooled < whole - SMALL
            for own, size in enumerate((self.totals[k], max(self.totals[k] - amount, 0.0))):
                some = summed & (size - n > -SMALL)
                found[own, k] = many[some] @ np.log(np.maximum(size - n[some], 0.0) + pseudo[some])
        return found[0], found[1]

    def _summed(self, amounts: Floats) -> Ints:
        """How many words the sum of absences is over, for texts of these weights."""
        if not self.prior.pooled:
            return np.full(len(amounts), self._size)
        ordered = np.sort(self._pooled.numbers)
        return np.searchsorted(ordered, self.totals.sum() - amounts - SMALL, side="left").astype(np.int64)

    @functools.cached_property
    def _pooled(self) -> Sorted:
        """All classes' counts together."""
        keys, numbers = self._counts.pooled()
        return Sorted(keys, self.unit * numbers)

    @functools.cached_property
    def _alike(self) -> list[tuple[Floats, Floats, Floats]]:
        """Per class the different counts of words, those words' counts in all classes, and how many such words."""
        found = []
        for one in self._counts.lists:
            if self.prior.pooled:
                n = np.zeros(self._size)
                n[np.searchsorted(self._pooled.keys, one.keys)] = self.unit * one.numbers
                pairs, many = np.unique(n + 1j * self._pooled.numbers, return_counts=True)
                found.append((pairs.real, pairs.imag, many.astype(float)))
            else:
                values, many = np.unique(self.unit * one.numbers, return_counts=True)
                values, many = np.append(values, 0.0), np.append(many, self._size - len(one.keys))
                found.append((values, values, many.astype(float)))
        return found


_NEVER = "only rows that were learnt can be left out"
