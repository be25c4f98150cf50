"""One shard of documents counted by itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from evenodds.labels import Bytes, Ints, Keys, Labels, laid
from evenodds.text import table_kernels
from evenodds.text.batches import BATCH, Reader, Replacing, replacements, replacing
from evenodds.text.keys import bucket_shift, sealed
from evenodds.text.lexicon import one_lexicon
from evenodds.text.listed import ReadAs
from evenodds.text.tables import Counter, Links, Sorted
from evenodds.text.tokenise import Tokens
from evenodds.texts import Texts
from evenodds.threads import in_order

SHARD = 1 << 24
T = TypeVar("T")
R = TypeVar("R")


class Job(NamedTuple):
    """One shard to be counted."""

    group: int
    texts: Texts
    options: Tokens
    distinct: bool = False
    replaced: Replacing | None = None
    buckets: int | None = None


class Part(NamedTuple):
    """What was counted in one shard."""

    group: int
    counts: list[Sorted]
    links: list[Links]
    lexicon: Labels


def at_once(work: Callable[[T], R], jobs: Sequence[T], threads: int) -> list[R]:
    """work(job) of all jobs, none of which waits for another: however long they take, no thread is idle."""
    return list(in_order(work, jobs, threads, len(jobs)))


def word_replacements(
    texts: Texts, options: Tokens, threads: int, read_as: ReadAs | None = None
) -> tuple[dict[bytes, bytes], Labels]:
    """What becomes of stop words, words to be stemmed and words read as others, each looked up once; and the stems."""
    vocabulary: list[bytes] = []
    if options.stem is not None or read_as is not None:
        plain = options.but(stem=None, stop_words=frozenset(), ngrams=1, seed=0)
        jobs = [Job(0, texts[first:beyond], plain) for first, beyond in texts.pieces(SHARD)]
        words = one_lexicon([part.lexicon for part in at_once(count_shard, jobs, threads)])
        vocabulary = [text.encode() for text in words.texts()]
    other = replacements(options, vocabulary)
    if read_as is not None:
        left = {word: other.get(word, word) for word in vocabulary}
        near = read_as(word for word in left.values() if word)
        other |= {word: near[now] for word, now in left.items() if now in near}
    return other, _sealed(Labels.of({text.decode() for text in other.values() if text}), options.seed)


def replacing_table(texts: Texts, options: Tokens, threads: int, read_as: ReadAs | None = None) -> Replacing | None:
    """The table of stop words, stems and words read as others for these documents."""
    if options.stem is None and read_as is None:
        return _stopping(options) if options.stop_words else None
    other = word_replacements(texts, options, threads, read_as)[0]
    return replacing(other) if other else None


@functools.lru_cache(maxsize=64)
def _stopping(options: Tokens) -> Replacing:
    """The table of stop words alone."""
    return replacing(replacements(options, []))


def _sealed(labels: Labels, seed: int) -> Labels:
    """The same texts under sealed keys."""
    keys = np.array([sealed(int(h), seed) for h in labels.keys], np.uint64)
    order = np.argsort(keys)
    return Labels(keys[order], *laid(labels.blob, labels.ends[:-1][order], labels.ends[1:][order]))


def count_shard(job: Job) -> Part:
    """Count one shard."""
    group, texts, options, distinct, replaced, buckets = job
    reader = Reader(texts, options, distinct=distinct, replaced=replaced, buckets=buckets)
    if buckets is not None:
        return _hashed(group, reader, buckets)
    size = int(texts.lengths().sum())
    guess = max(8, (size >> 8).bit_length())
    shortest, longest = options.lengths
    counters = [Counter(guess + (0 if n == 1 else 5)) for n in range(1, longest + 1)]
    prefixes: list[list[Keys]] = [[] for _ in counters]
    found = Found()
    for first, beyond in texts.pieces(BATCH):
        for n, level in enumerate(reader.read(first, beyond)):
            fresh = level.places[counters[n].count(level.keys)]
            if n:
                prefixes[n].append(fresh)
            else:
                found.add(reader.folded, fresh)
    counts, links, lexicon = [], [], Labels.of([])
    for n, counter in enumerate(counters):
        keys, numbers, order = counter.sorted()
        if n + 1 >= shortest:
            counts.append(Sorted(keys, numbers))
        if n:
            links.append(Links(keys, np.concatenate(prefixes[n])[order] if prefixes[n] else keys))
        else:
            lexicon = Labels(keys, *found.texts(order))
    return Part(group, counts, links, lexicon)


def _hashed(group: int, reader: Reader, buckets: int) -> Part:
    """Count one shard by the keys' top bits."""
    shift = np.uint64(bucket_shift(buckets))
    counts = np.zeros(buckets, np.int32)
    shortest = reader.shortest
    for first, beyond in reader.texts.pieces(BATCH):
        for level in reader.read(first, beyond)[shortest - 1 :]:
            table_kernels.count_buckets(level.keys, shift, counts)
    occupied = np.flatnonzero(counts)
    keys = (occupied.astype(np.uint64) << shift) | np.uint64(1)
    return Part(group, [Sorted(keys, counts[occupied].astype(np.int64))], [], Labels.of([]))


class Found:
    """The texts of the words of one shard, in order of appearance."""

    def __init__(self) -> None:
        self._blob: Bytes = np.empty(1 << 12, np.uint8)
        self._stops: Ints = np.zeros(1 << 9, np.int64)
        self._end, self._many = 0, 0

    def add(self, folded: Bytes, places: Keys) -> None:
        """Keep the texts at these places."""
        size, many = self._end + int((places & table_kernels.LOW).sum()), self._many + len(places)
        if size > len(self._blob):
            self._blob = np.concatenate([self._blob, np.empty(size, np.uint8)])
        if many >= len(self._stops):
            self._stops = np.concatenate([self._stops, np.zeros(many, np.int64)])
        self._end = table_kernels.keep_texts(folded, places, self._blob, self._end, self._stops, self._many + 1)
        self._many = many

    def texts(self, order: Ints) -> tuple[Bytes, Ints]:
        """The texts in this order, end to end, and their ends."""
        return laid(self._blob, self._stops[order], self._stops[order + 1])
