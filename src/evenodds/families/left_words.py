"""What a text says of its class once the text itself is left out: its own words are taken from its class's counts.

The words of all other texts stay as they are, so a text needs nothing but its own words' counts: it is read, its
distinct words are looked up, and what is left of their counts is weighed. A word that only this text has is unseen.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError
from evenodds.families import words as family
from evenodds.families.leaves import Floats
from evenodds.families.left_out import How, Left
from evenodds.families.words import PLAIN, Pseudo, WordCounts
from evenodds.labels import Ints
from evenodds.tally import Tally
from evenodds.text import leave_kernels as run
from evenodds.text.batches import BATCH, Level, Reader, bucket_keys
from evenodds.text.count import to_unit
from evenodds.text.shards import Pool, replacing_table
from evenodds.text.tables import frozen, lookup
from evenodds.texts import Texts

TABLE = 1 << 19  # whole numbers whose logs are kept, at most: what frequent words count, too
SMALL = run.ROUNDING


def left_out(tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
    """The evidence of texts, each with its own words taken out of its class."""
    return LeftWords(tally, how).score


class LeftWords:
    """The counts of all texts, made ready to take one text's out."""

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
        self.unit = family.unit_of(WordCounts.counts(tally), self.words)
        known = WordCounts.shares(tally, prior, how.column)
        self.keys, self.totals, classes = known.keys, known.totals, known.counts.shape[1]
        self.counts = np.empty((len(known.keys), classes + 1))  # of each class, and of all: side by side in the caches
        self.counts[:, :-1] = known.counts
        self.counts[:, -1] = known.counts.sum(axis=1)
        self._places = lookup(known.keys, np.arange(len(known.keys), dtype=np.uint64))
        with np.errstate(divide="ignore"):
            self._table = np.log(np.arange(min(TABLE, int(self.totals.sum()) + 2)) + prior.strength)
        self._whole = WordCounts.counts(tally).is_whole and self.words.length == "as is"

    @functools.cached_property
    def _logs(self) -> Floats:
        """What each word says of each class if nothing is left out; under a pooled prior every text has its own."""
        if self.prior.pooled:
            return np.zeros((0, len(self.totals)))
        counts, strength = self.counts[:, :-1], self.prior.strength
        words, classes = np.nonzero(counts)  # most words are in few classes
        n = counts[words, classes]
        with np.errstate(divide="ignore"):
            found = np.full(counts.shape, np.log(strength))
            found[words, classes] = np.log(n + strength)
            if self.words.events == "bernoulli":
                found -= np.log(self.totals + strength)
                absent = np.maximum(self.totals[classes] - n, 0.0)
                found[words, classes] = np.log(n + strength) - np.log(absent + strength)
        return found

    def score(self, texts: Texts, left: Left) -> Floats:
        """Σ of the weights of each text's words in each class, (texts, classes), without the text's own counts."""
        words, sums = self.words, np.zeros((len(texts), left.n_groups))
        replaced = replacing_table(texts, words.tokens, Pool(1))
        reader = Reader(texts, words.tokens, replaced=replaced)
        for first, beyond in reader.texts.pieces(BATCH):
            level, times = reader.bags(self._level(reader.read(first, beyond)))
            rows = np.empty(len(level.keys), np.int64)
            run.find_rows(level.keys, *self._places, rows)
            self._batch(level, times, rows, left.some(slice(first, beyond)), first, sums[first:beyond])
        return sums

    def _level(self, levels: list[Level]) -> Level:
        """All tokens of each text, words and n-grams end to end, or their buckets."""
        whole, *more = levels[self.words.tokens.lengths[0] - 1 :]
        for level in more:
            keys, ends = np.empty(len(whole.keys) + len(level.keys), np.uint64), np.empty(len(level.ends), np.int64)
            run.lay_beside(whole.keys, whole.ends, level.keys, level.ends, keys, ends)
            whole = Level(keys, np.empty(len(keys), np.uint64), ends)
        if self.words.buckets is None:
            return whole
        return Level(bucket_keys(whole.keys, self.words.buckets), whole.places, whole.ends)

    def _batch(self, level: Level, times: Ints, rows: Ints, left: Left, first: int, sums: Floats) -> None:
        words, distinct, counts = self.words, self.words.distinct, frozen(self.counts)
        self._check(level, rows, left, first)
        gone, lost = np.empty(len(rows)), np.zeros(len(sums), np.int64)
        less = np.zeros((len(sums), left.n_groups))
        enough = float(words.min_count) * self.unit if words.min_count > 1 else 0.0
        own = (counts, left.groups, left.amounts, enough)
        wrong = run.drop_lost(rows, self._taken(times, level.ends), level.ends, *own, gone, less, lost)
        if wrong >= 0:
            raise DataError(f"text {first + wrong} has a word more often than its class: {_NEVER}")
        how = (self.prior.strength, self.prior.pooled)
        if words.events == "bernoulli":
            self._absent(left, sums)
            many = self._summed(left.amounts)
            of = (counts, left.groups, gone, self.totals, left.amounts)
            run.bernoulli(rows, level.ends, *of, *how, self._table, frozen(self._logs), many, sums)
            return
        totals = np.maximum(self.totals - less, 0.0)
        totals[totals <= SMALL * less] = 0.0
        weights = np.full(len(sums), self.prior.strength)
        if not self.prior.pooled:
            weights *= len(self.keys) - lost
        args = (counts, left.groups, gone, totals, weights, *how, distinct, self._table)
        if words.events == "complement":
            whole = self._whole and bool((left.amounts == np.floor(left.amounts)).all())
            run.complement(rows, times, level.ends, *args, whole, sums)
            return
        there = np.empty(len(sums))
        run.multinomial(rows, times, level.ends, *args, frozen(self._logs), there, sums)
        if self.how.unseen and self.prior.strength > 0:
            tokens = np.diff(level.ends, prepend=0) if distinct else _sums(times, level.ends)
            share = self.prior.strength / (totals.sum(axis=1) + 1) if self.prior.pooled else self.prior.strength
            whole = totals + weights[:, None]  # 0 where no text has a word any more: then nothing is said
            mass = np.log(np.broadcast_to(share, len(sums)))[:, None] - np.log(np.where(whole > 0, whole, 1.0))
            sums += (tokens - there)[:, None] * mass

    def _taken(self, times: Ints, ends: Ints) -> Floats:
        """How much each token of a text was counted when the text was learnt."""
        amounts = np.ones(len(times)) if self.words.distinct else times.astype(float)
        return amounts if self.words.length == "as is" else self.unit * to_unit(amounts, ends)

    def _check(self, level: Level, rows: Ints, left: Left, first: int) -> None:
        """Refuse a text with a word that was never learnt."""
        if self.words.min_count > 1 or not (rows < 0).any():
            return
        text = np.searchsorted(level.ends, np.flatnonzero(rows < 0), side="right")
        text = text[left.amounts[text] > 0]
        if len(text):
            raise DataError(f"text {first + text[0]} has a word that was never learnt: {_NEVER}")

    def _absent(self, left: Left, sums: Floats) -> None:
        """sums[d, k] = Σ log(how many texts of class k, but d, have not the word), over the words of `_summed`."""
        for amount in np.unique(left.amounts):
            mine = np.flatnonzero(left.amounts == amount)
            others, own = self._bases(float(amount))
            sums[mine] = others
            sums[mine, left.groups[mine]] = own[left.groups[mine]]

    @functools.lru_cache(maxsize=64)  # noqa: B019  as long as the counts are there
    def _bases(self, amount: float) -> tuple[Floats, Floats]:
        """The sums of a class that has not the text, and of the class that has it, for a text of this weight."""
        found = np.zeros((2, len(self.totals)))
        whole = max(float(self.totals.sum()) - amount, 0.0)
        for k, (n, pooled, many) in enumerate(self._alike):
            pseudo = self.prior.strength * np.ones(len(n))
            summed = np.ones(len(n), bool)
            if self.prior.pooled:
                pseudo = self.prior.strength - self.prior.strength * pooled / (whole or 1.0)
                summed = pooled < whole - SMALL
            for own, size in enumerate((self.totals[k], max(self.totals[k] - amount, 0.0))):
                some = summed & (size - n > -SMALL)
                found[own, k] = many[some] @ np.log(np.maximum(size - n[some], 0.0) + pseudo[some])
        return found[0], found[1]

    def _summed(self, amounts: Floats) -> Ints:
        """How many words the sum of absences is over, for texts of these weights."""
        if not self.prior.pooled:
            return np.full(len(amounts), len(self.keys))
        ordered = np.sort(self.counts[:, -1])
        return np.searchsorted(ordered, self.totals.sum() - amounts - SMALL, side="left").astype(np.int64)

    @functools.cached_property
    def _alike(self) -> list[tuple[Floats, Floats, Floats]]:
        """Per class the different counts of words, those words' counts in all classes, and how many such words."""
        found = []
        for k in range(len(self.totals)):
            n = self.counts[:, k]
            if self.prior.pooled:
                pairs, many = np.unique(n + 1j * self.counts[:, -1], return_counts=True)
                found.append((pairs.real, pairs.imag, many.astype(float)))
            else:
                there = n[n > 0]
                values, many = np.unique(there, return_counts=True)
                values, many = np.append(values, 0.0), np.append(many, len(n) - len(there))
                found.append((values, values, many.astype(float)))
        return found


_NEVER = "only rows that were learnt can be left out"


def _sums(numbers: Ints, ends: Ints) -> NDArray[Any]:
    """The sum of the numbers of each run that ends at `ends`."""
    so_far = np.concatenate([[0], np.cumsum(numbers)])
    return np.diff(so_far[ends], prepend=0)
