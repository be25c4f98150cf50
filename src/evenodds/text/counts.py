"""Counts of tokens per class that add and subtract: one sorted list of (key, count) a class, and one lexicon.

Only words have texts. An n-gram is linked to its prefix (all its words but the last), whose key and its own give its
last word's; so its text is read back through the words.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.kernel import frozen
from evenodds.labels import Keys, Labels, find_one
from evenodds.text import list_kernels
from evenodds.text.batches import bucket_keys
from evenodds.text.keys import bucket_shift, last
from evenodds.text.lexicon import one_lexicon
from evenodds.text.stored import last_words, restored, stored
from evenodds.text.tables import Index, Links, Sorted, first_rows, fold_pairs

NAMED = 1 << 14  # tokens of a sample that buckets are named by
SAMPLE = "sample."


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each token occurs in each class.

    lists: per class the sorted keys and their counts. documents: how many there are of each class. lexicon: the words.
    links: the n-grams' prefixes. buckets: None, or how many there are in a hashed vocabulary; a bucket's key is its
    number in the top bits, and then 1. pruned: whether rare tokens were dropped. Counts and documents are whole
    numbers, or doubles once a document or a class has been weighed by a fraction; of these, what is left of two that
    cancel to 12 digits is gone. sample: of buckets, exact counts of the most frequent tokens of some documents, which
    say what a bucket is called. Which documents they are depends on the batches, so they are no part of what is equal.
    """

    lists: tuple[Sorted, ...]
    documents: NDArray[Any]
    lexicon: Labels
    links: Links
    buckets: int | None = None
    pruned: bool = False
    sample: Counts | None = None

    @classmethod
    def nothing(cls, n_classes: int, buckets: int | None = None) -> Counts:
        """The counts of no documents."""
        lists = tuple(Sorted.nothing() for _ in range(n_classes))
        return cls(lists, np.zeros(n_classes, np.int64), Labels.of([]), Links.nothing(), buckets)

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], n_classes: int, buckets: int | None = None, pruned: bool = False
    ) -> Counts:
        """The counts that `arrays` gave; whatever does not fit together is refused."""
        if not isinstance(pruned, bool):
            raise ValueError("pruned is neither true nor false")
        part = {name.removeprefix(SAMPLE): found for name, found in arrays.items() if name.startswith(SAMPLE)}
        if part and buckets is None:
            raise ValueError("a sample of words belongs to buckets")
        rest = {name: found for name, found in arrays.items() if not name.startswith(SAMPLE)}
        sample = cls(*restored(part, n_classes, None)) if part else None
        return cls(*restored(rest, n_classes, buckets), buckets, pruned, sample)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file stores; `buckets` and `pruned` go into its header."""
        whole = stored(self.lists, self.documents, self.lexicon, self.links)
        part = {} if self.sample is None else self.sample.arrays()
        return {**whole, **{SAMPLE + name: found for name, found in part.items()}}

    @property
    def tokens(self) -> NDArray[Any]:
        """How many tokens each class has."""
        return np.array([numbers.sum() for _, numbers in self.lists], self._type)

    @property
    def is_whole(self) -> bool:
        """Whether nothing was weighed by a fraction."""
        return self._type.kind == "i"

    @property
    def _type(self) -> np.dtype[Any]:
        """What holds all numbers."""
        return np.result_type(self.documents, *(numbers for _, numbers in self.lists))

    def __add__(self, other: Counts) -> Counts:
        return self._plus(other, 1) if isinstance(other, Counts) else NotImplemented

    def __sub__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.pruned or other.pruned:
            raise ValueError("pruned counts cannot be subtracted: their rare tokens are gone; count again, then prune")
        return self._plus(other, -1).trimmed()

    def _plus(self, other: Counts, sign: int) -> Counts:
        if self.buckets != other.buckets:
            mine, theirs = (c.buckets or "all words" for c in (self, other))
            raise ValueError(f"counts over {mine} and over {theirs} buckets cannot be added; count both the same way")
        if len(self.lists) != len(other.lists):
            raise ValueError(f"counts of {len(self.lists)} and {len(other.lists)} classes; bring them in line first")
        lists = tuple(a.plus(b, sign) for a, b in zip(self.lists, other.lists))
        lexicon = one_lexicon([self.lexicon, other.lexicon])
        documents, links = self.documents + sign * other.documents, Links.all([self.links, other.links])
        sample = self.sample or other.sample
        if self.sample is not None and other.sample is not None:
            sample = self.sample._plus(other.sample, sign).most(NAMED)
        return Counts(lists, documents, lexicon, links, self.buckets, self.pruned or other.pruned, sample)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            (self.buckets, self.pruned) == (other.buckets, other.pruned)
            and np.array_equal(self.documents, other.documents)
            and len(self.lists) == len(other.lists)
            and all(_same(a, b) for a, b in zip(self.lists, other.lists))
            and self.lexicon == other.lexicon
            and _same(self.links, other.links)
        )

    def keys(self) -> Keys:
        """The keys that occur in any class, in ascending order."""
        return self._keys

    @functools.cached_property
    def _keys(self) -> Keys:
        return frozen(_either([keys for keys, _ in self.lists]))

    @functools.cached_property
    def index(self) -> Index:
        """What finds one of these keys."""
        return first_rows(self.keys())

    def pooled(self) -> Sorted:
        """All classes added."""
        return Sorted.total(self.lists)

    def matrix(self, type_: type[np.number[Any]] | None = None) -> tuple[Keys, NDArray[Any]]:
        """The keys of all classes, and the counts of each, (keys, classes); at once as doubles if so asked."""
        keys, held = self.keys(), self._type if type_ is None else np.dtype(type_)
        out = np.zeros((len(keys), len(self.lists)), held)
        self.spread(keys, [one.numbers for one in self.lists], out)
        return keys, out

    def spread(self, keys: Keys, numbers: Sequence[NDArray[Any]], out: NDArray[Any]) -> None:
        """Write what each class has for its own tokens into its column, (keys, classes); all else stays as it is."""
        own = np.concatenate([np.empty(0, np.uint64), *(one.keys for one in self.lists)])
        every = np.concatenate([np.empty(0, out.dtype), *numbers], dtype=out.dtype)
        ends = np.cumsum([0, *(len(one.keys) for one in self.lists)])
        list_kernels.spread(keys, own, every, ends[:-1].copy(), ends[1:].copy(), out)

    def trimmed(self) -> Counts:
        """Without the words and links that no counted token needs."""
        needed = self.keys()
        links = self.links
        while True:  # an n-gram needs its prefix and its last word; a prefix may be an n-gram itself
            used = list_kernels.among(frozen(links.keys), frozen(needed))
            keys, prefixes = links.keys[used], links.numbers[used]
            more = _either([needed, np.unique(prefixes), np.unique(last_words(keys, prefixes))])
            if len(more) == len(needed):
                break
            needed = more
        rows = np.flatnonzero(list_kernels.among(frozen(self.lexicon.keys), frozen(needed)))
        lexicon = self.lexicon if len(rows) == len(self.lexicon) else self.lexicon.take(rows)
        sample = self.sample
        if sample is not None and self.buckets is not None:
            sample = sample._in_buckets(self.keys(), self.buckets)
        return replace(self, lexicon=lexicon, links=Links(keys, prefixes), sample=sample)

    def _in_buckets(self, buckets: Keys, many: int) -> Counts:
        """The tokens alone that fall into these of so many buckets."""
        lists = [one.kept(np.isin(bucket_keys(one.keys, many), buckets)) for one in self.lists]
        return replace(self, lists=tuple(lists)).trimmed()

    def most(self, many: int) -> Counts:
        """The most frequent tokens of all classes together, at most so many, that are there at all."""
        lists = tuple(one.kept(one.numbers > 0) for one in self.lists)
        keys, totals = replace(self, lists=lists).pooled()
        kept = frozen(keys)
        if len(keys) > many:
            kept = frozen(np.sort(keys[np.lexsort((keys, -totals))[:many]]))
        lists = tuple(one.kept(list_kernels.among(frozen(one.keys), kept)) for one in lists)
        return replace(self, lists=lists).trimmed()

    def scaled(self, factors: NDArray[Any]) -> Counts:
        """Each class times its own factor; the numbers stay whole where all factors are."""
        factors = np.asarray(factors)
        if factors.shape != (len(self.lists),) or not np.isfinite(factors).all():
            raise ValueError(
                f"factors of shape {factors.shape}, expected a number for each of {len(self.lists)} classes"
            )
        largest = max(
            (float(np.abs(n).max(initial=0)) for n in (self.documents, *(n for _, n in self.lists))), default=0
        )
        whole = np.all(factors == np.floor(factors)) and largest * float(np.abs(factors).max(initial=0)) < 2.0**62
        factors = factors.astype(np.int64 if whole else np.float64)
        lists = [Sorted(keys, numbers * factor) for (keys, numbers), factor in zip(self.lists, factors)]
        kept, documents = tuple(s.kept(s.numbers != 0) for s in lists), self.documents * factors
        sample = None if self.sample is None else self.sample.scaled(factors)
        scaled = replace(self, lists=kept, documents=documents, sample=sample)
        return scaled if factors.all() else scaled.trimmed()

    def prune(self, min_count: float) -> Counts:
        """Without the tokens that occur less than so often in all classes together; these cannot be subtracted."""
        return replace(self, lists=self.frequent(min_count), pruned=True).trimmed()

    def frequent(self, min_count: float) -> tuple[Sorted, ...]:
        """The lists without those tokens."""
        keys, totals = self.pooled()
        enough = frozen(keys[totals >= min_count])
        return tuple(one.kept(list_kernels.among(frozen(one.keys), enough)) for one in self.lists)

    def select(self, classes: Sequence[int]) -> Counts:
        """Some of the classes, in this order."""
        lists = tuple(self.lists[c] for c in classes)
        sample = None if self.sample is None else self.sample.select(classes)
        chosen = replace(self, lists=lists, documents=self.documents[list(classes)], sample=sample)
        left = set(range(len(self.lists))) - set(classes)
        return chosen.trimmed() if any(len(self.lists[c].keys) for c in left) else chosen

    def grouped(self, n_classes: int, places: NDArray[Any]) -> Counts:
        """The same counts with class i standing at places[i] of other classes."""
        lists, documents = [Sorted.nothing()] * n_classes, np.zeros(n_classes, self.documents.dtype)
        for at, one, many in zip(places, self.lists, self.documents):
            lists[at], documents[at] = lists[at].plus(one), documents[at] + many
        sample = None if self.sample is None else self.sample.grouped(n_classes, places)
        return replace(self, lists=tuple(lists), documents=documents, sample=sample)

    @functools.cached_property
    def _names(self) -> tuple[Keys, Keys]:
        """The buckets that have a name, in order, and the most frequent token of the sample in each."""
        if self.sample is None or self.buckets is None:
            return np.empty(0, np.uint64), np.empty(0, np.uint64)
        keys, totals = self.sample.pooled()
        buckets = bucket_keys(keys, self.buckets)
        order = np.lexsort((keys, -totals, buckets))
        found, first = np.unique(buckets[order], return_index=True)
        return found, keys[order][first]

    def text(self, key: int) -> str:
        """The text of a word or an n-gram; of a bucket, its most frequent token in the sample, or else its number."""
        if self.buckets is not None:
            named, tokens = self._names
            row = find_one(named, int(key))
            if self.sample is not None and row >= 0:
                return self.sample.text(int(tokens[row]))
            return f"#{int(key) >> bucket_shift(self.buckets)}"
        words: list[str] = []
        while (row := find_one(self.links.keys, int(key))) >= 0:
            prefix = int(self.links.numbers[row])
            words.append(self._word(last(int(key), prefix)))
            key = prefix
        return " ".join([self._word(int(key)), *reversed(words)])

    def _word(self, key: int) -> str:
        row = find_one(self.lexicon.keys, key)
        if row < 0:
            raise KeyError(f"no word has the key {key:#x}")
        return self.lexicon.text(row)

    def table(self, group: int) -> dict[str, float]:
        """The tokens of a class with their counts: words before n-grams, the frequent first, then by text."""
        pairs = [(self.text(int(key)), number.item()) for key, number in zip(*self.lists[group])]
        return dict(sorted(pairs, key=lambda pair: (pair[0].count(" "), -pair[1], pair[0])))

    def __repr__(self) -> str:
        kind = "tokens" if self.buckets is None else f"of {self.buckets:,} buckets"
        return (
            f"Counts({len(self.lists)} classes, {len(self.keys()):,} {kind}, {self.documents.sum().item():,} documents)"
        )


def _same(a: tuple[NDArray[Any], NDArray[Any]], b: tuple[NDArray[Any], NDArray[Any]]) -> bool:
    return np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])


def _either(many: Sequence[Keys]) -> Keys:
    """The keys in any of these ascending lists, in ascending order: merged, for there may be millions; sorting them, as
    axes do, takes four times as long.
    """
    return fold_pairs(many or [np.empty(0, np.uint64)], _both)


def _both(a: Keys, b: Keys) -> Keys:
    return Links(a, a).union(Links(b, b))[0].keys
