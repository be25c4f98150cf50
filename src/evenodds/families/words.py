"""The words of a text: which they are, and how often each occurs.

    multinomial   p(text | c) ∝ Π θ_wc^(times w is there)                θ_wc = (n_wc + λ) / (n_c + λV)
    Bernoulli     p(text | c) = Π over all known words of p_wc or 1 - p_wc

Either is a sum of one weight a token, and perhaps a constant: Σ log(1 - p_wc) of a text without known words, from which
each word that is there departs by its log-odds. So no word that is not there is ever touched.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.cells import as_column
from evenodds.cells import texts as text_cells
from evenodds.families.base import COLUMN, Estimate, Family, X
from evenodds.families.bernoulli import Beta
from evenodds.families.categorical import Dirichlet
from evenodds.families.distribution import Distribution, LinearTerms
from evenodds.families.leaves import Floats, Rows, rows_of, share
from evenodds.families.left_out import How, Left
from evenodds.families.unseen import log_unseen
from evenodds.families.word_shares import Pseudo, Shares, filled, sides, unit_of
from evenodds.labels import Keys
from evenodds.schema import Column
from evenodds.tally import Tally
from evenodds.text.count import count
from evenodds.text.counts import Counts
from evenodds.text.listed import Listed, listed, shrunk
from evenodds.text.neighbours import Nearest
from evenodds.text.score import Scores, Weights
from evenodds.text.words import Words
from evenodds.texts import Texts

LEAF = "words"
PLAIN = Words()


def count_words(texts: Texts, rows: Rows, words: Words, threads: int = 1) -> Counts:
    """The words of some texts, per group."""
    normalised = words.length == "normalised"
    how = {"buckets": words.buckets, "distinct": words.distinct, "normalised": normalised, "threads": threads}
    return count(texts, rows.groups, rows.n_groups, words.tokens, weights=rows.weights, **how)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, repr=False)
class WordCounts(Family):
    """The weight of every known token in each class; an unknown one has none.

    >>> from evenodds import NaiveBayes
    >>> docs = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
    >>> nb = NaiveBayes(columns=Words(), prior="flat", smoothing=1).fit(docs, ["c", "c", "c", "j"])
    >>> print(f"{nb.predict_proba(['Chinese Chinese Chinese Tokyo Japan'])[0, 0]:.4f}")
    0.6898
    """

    weights: Weights
    constant: Floats
    words: Words = field(metadata={"batched": False})
    unseen: Floats | None = None  # the weight of a token that no class has seen, where it has one
    nearest: Nearest | None = None  # which known word an unknown one is read as
    shrink: float = field(default=0.0, metadata={"batched": False})  # a text says length^-shrink times as much
    name = "words"
    cells = "texts"
    linear_if = "its temper depends on the length of a text, which no weights of words do; temper=False is"

    @classmethod
    def tally(cls, x: Any, *, weights: Any = None, groups: Any = None, words: Words = PLAIN) -> Tally:
        """The tally of some texts; with `groups`, one list of words per group's label."""
        texts = Texts.of(x) if isinstance(x, (list, tuple)) else text_cells(as_column(x), X)
        axis, rows = rows_of(len(texts), weights, groups)
        tally = Tally.of(axis, {}, {(X, LEAF): count_words(texts, rows, words)})
        return tally if weights is None else tally.trimmed()

    @classmethod
    def counts(cls, tally: Tally) -> Counts:
        """The lists of one column's tally."""
        [counts] = tally.lists.values()
        return counts

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Any:
        """The same pseudo-count for every known word: the λ of (λ + count) / (λV + total)."""
        return Pseudo(strength, pooled=False)

    @classmethod
    def prior(cls, given: Any, strength: float = 1.0) -> Any:
        """The pseudo-counts that were given, or the same for every word; their settings stand in `Words`."""
        if given is not None and not isinstance(given, Pseudo):
            raise ValueError(f"prior={given!r}: words have none but Words(prior='flat' or 'pooled', smoothing=...)")
        return cls.flat_prior(strength) if given is None else given

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> Any:
        """As if so many words had been read before, with all classes' shares."""
        return Pseudo(strength, pooled=True)

    @classmethod
    def informative(cls, tally: Tally) -> bool:
        """Whether there are words at all."""
        return any(len(one.keys) for one in cls.counts(tally).lists)

    @classmethod
    def free(cls, tally: Tally, column: Column = COLUMN) -> int:
        """A share of each word in each class; shares of one class add up to 1, unless each word is a coin."""
        words, (keys, _) = column.words or PLAIN, cls._kept(tally, column)
        return len(tally.groups) * (len(keys) if words.events == "bernoulli" else max(len(keys) - 1, 0))

    def linear(self, tally: Tally) -> LinearTerms | None:
        """A weight for each token, unless longer texts say less."""
        if self.shrink:
            return None
        counts = self.counts(tally)
        return LinearTerms(
            [f"={counts.text(int(key))}" for key in self.weights.keys], self.weights.weights, self.constant
        )

    @classmethod
    def _kept(cls, tally: Tally, column: Column) -> tuple[Keys, Floats]:
        """The words that are often enough, and their counts."""
        keys, numbers = cls.counts(tally).matrix(np.float64)
        if column.words is not None and column.words.min_count > 1:
            often = numbers.sum(axis=1) >= column.words.min_count
            return keys[often], numbers[often]
        return keys, numbers

    @classmethod
    def shares(cls, tally: Tally, prior: Pseudo, column: Column) -> Shares:
        """What is known of the words."""
        words, counts = column.words or PLAIN, cls.counts(tally)
        keys, numbers = cls._kept(tally, column)
        if (unit := unit_of(counts, words)) != 1.0:  # a pass over what may be millions of words
            numbers *= unit
        bernoulli = words.events == "bernoulli"
        totals = counts.documents.astype(float) if bernoulli else numbers.sum(axis=0)
        if prior.pooled:
            pseudo = prior.strength * share(numbers.sum(axis=1, keepdims=True), totals.sum())
            weight = prior.strength
        else:
            pseudo = np.full((len(keys), 1), prior.strength)
            weight = 2 * prior.strength if bernoulli else prior.strength * len(keys)
        return Shares(keys, numbers, pseudo, totals, weight)

    @classmethod
    def _estimate(cls, tally: Tally, estimate: Estimate, prior: Any, column: Column) -> Distribution:
        """The weights of a column's words."""
        words, prior = column.words or PLAIN, Pseudo(0.0, False) if estimate == "mle" else cls.prior(prior)
        if estimate != "map" and not words.neighbours:
            found = _of_counted(cls.counts(tally), words, prior)
            if found is not None:
                return cls(found, np.zeros(len(tally.groups)), words)
        known = cls.shares(tally, prior, column)
        constant = np.zeros(known.counts.shape[1])
        with np.errstate(divide="ignore"):
            if words.events == "complement":
                others = known.counts.sum(axis=1, keepdims=True) - known.counts
                weights = np.log(known.totals.sum() - known.totals + known.weight) - np.log(others + known.prior)
            elif words.events == "bernoulli":
                there, absent = sides(known)
                if estimate == "map":
                    there = Beta(there, absent).mode
                    absent = 1.0 - there
                everywhere = ~absent.any(axis=1)  # there in every class, absent in none: says nothing of either
                absent[everywhere] = there[everywhere]
                weights = np.log(there) - np.log(absent)
                constant = (np.log(absent) - np.log(there + absent))[~everywhere].sum(axis=0)
            else:
                mass = filled(np.add(known.counts, known.prior, out=known.counts), known)
                if estimate == "map":
                    mass = Dirichlet(mass).mode
                totals = mass.sum(axis=0)
                weights = np.log(mass, out=mass)  # in place, as the sum above: there may be millions of words
                weights -= np.log(totals)
        if words.events in ("bernoulli", "complement"):
            _check_certain(weights, known, cls.counts(tally), words)
        nearest = _nearest(cls.counts(tally), known, words) if words.neighbours else None
        return cls(Weights(known.keys, weights, cls.counts(tally).buckets), constant, words, nearest=nearest)

    @classmethod
    def unseen_weight(cls, tally: Tally, prior: Pseudo, column: Column) -> Floats | None:
        """log of the smoothing mass of a token that no class has seen, where it has one."""
        words = column.words or PLAIN
        if prior.strength == 0 or words.events in ("bernoulli", "complement"):
            return None
        known = cls.shares(tally, prior, column)
        if not len(known.keys):
            return None
        return log_unseen(prior.strength, prior.pooled, len(known.keys), known.totals)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """Σ weights of each text's tokens, given as its bag, with its own row taken out."""
        from evenodds.families.left_words import LeftWords

        return LeftWords(tally, how).score

    def log_prob(self, x: Any) -> Floats:
        """Σ weights of a text's tokens (texts, classes), up to what no class changes; NaN for a null."""
        texts = x if isinstance(x, Texts) else Texts.of(x)
        total = np.zeros((len(self.constant), len(texts)))
        self.add_log_prob(texts, total)
        out = total.T.copy()
        out[~texts.known] = np.nan
        return out

    def add_log_prob(self, x: Any, total: Floats) -> None:
        """The same, added to a total (classes, texts); a null adds nothing."""
        scores = self.weights.score(x, self.words.tokens, distinct=self.words.distinct, read_as=self.nearest)
        self._add(scores, x.known, total)

    def add_message(self, raw: bytes, total: Floats) -> None:
        """The same of one text in UTF-8, sooner."""
        scores = self.weights.message(raw, self.words.tokens, distinct=self.words.distinct, read_as=self.nearest)
        self._add(scores, True, total)

    def _add(self, scores: Scores, known: Any, total: Floats) -> None:
        part = np.zeros_like(total) if self.shrink else total
        part += scores.sums.T
        if self.unseen is not None:
            part += self.unseen[:, None] * (scores.tokens - scores.known)
        if self.has_constant:
            part += np.where(known, self.constant[:, None], 0.0)
        if self.shrink:
            part *= [shrunk(n, self.shrink) for n in scores.tokens.tolist()]
            total += part

    @functools.cached_property
    def has_constant(self) -> bool:
        """Whether a text without known words already says something."""
        return bool(self.constant.any())

    def tokens(self, document: str | None) -> list[tuple[str, int, Floats | None]]:
        """The distinct tokens of one document, how often each is there, and its weights; None if it is not known."""
        return [] if document is None else [(one.text, one.times, self.of(one.key)) for one in self.listed(document)]

    def listed(self, document: str) -> list[Listed]:
        """The distinct tokens of one document, as they are weighed."""
        how = {"buckets": self.weights.buckets, "distinct": self.words.distinct, "read_as": self.nearest}
        return listed(document, self.words.tokens, **how)  # type: ignore[arg-type]

    def of(self, key: int) -> Floats | None:
        """The weights of a token, or of its bucket, by key."""
        found = self.weights.of(key)
        return self.unseen if found is None else found

    def __repr__(self) -> str:
        return f"WordCounts({len(self.weights.keys):,} tokens, {len(self.constant)} classes)"


def _of_counted(counts: Counts, words: Words, prior: Pseudo) -> Weights | None:
    """log (n + λ) - log (N + λV), where all words have the same λ and all classes some mass; None where they have not.

    Logs are taken of what is counted alone: most words are in few classes, and a class's others all weigh the same.
    """
    if prior.pooled or words.min_count > 1 or words.events in ("bernoulli", "complement"):
        return None
    keys, unit, strength = counts.keys(), unit_of(counts, words), prior.strength
    totals = unit * counts.tokens + strength * len(keys)
    if not totals.all():
        return None
    with np.errstate(divide="ignore"):
        whole = np.log(totals)
        others = np.log(strength) - whole
        mine = [np.log(unit * one.numbers + strength) - log for one, log in zip(counts.lists, whole)]

    def write(weights: Floats) -> None:
        weights[:] = others
        counts.spread(keys, mine, weights)

    return Weights.written(keys, len(totals), write, counts.buckets, counts.index)


def _nearest(counts: Counts, known: Shares, words: Words) -> Nearest:
    """What unknown words are read as: any word that is used, be it only in n-grams."""
    lexicon = counts.lexicon
    if words.tokens.lengths[0] == 1:  # then a word that is used is a token of its own
        lexicon = lexicon.take(np.flatnonzero(np.isin(lexicon.keys, known.keys)))
    return Nearest(lexicon, words.neighbours)


def _check_certain(weights: Floats, known: Shares, counts: Counts, words: Words) -> None:
    """Refuse words that would settle the class whatever else a text says."""
    certain = np.isposinf(weights).any(axis=1)
    if certain.any():
        word = counts.text(int(known.keys[np.argmax(certain)]))
        where = "all texts of a class" if words.events == "bernoulli" else "one class only"
        raise ValueError(
            f"the word {word!r} is in {where}: without smoothing that would settle everything under "
            f"events={words.events!r}; use smoothing above 0 and estimate='mean'"
        )
