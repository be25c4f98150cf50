"""Words counted per class: what text adds to a tally.

>>> texts = Texts.of(["free prize", "free free beer", "see you at lunch"])
>>> counts = count(texts, np.array([1, 1, 0]), 2, Tokens(ngrams=2))
>>> counts.table(1)
{'free': 3, 'beer': 1, 'prize': 1, 'free beer': 1, 'free free': 1, 'free prize': 1}
>>> counts - counts == Counts.nothing(2)
True

The counting knows no classes: documents are brought together by class, cut into shards, and each shard is counted by
itself into a sorted list. Whole numbers added are the same in any order, so neither threads nor batches change a bit,
and shards may be as large as leaves each thread two of them: joining their lists takes as long as a third of counting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.labels import Ints, Keys
from evenodds.text.bags import bags
from evenodds.text.batches import replacing
from evenodds.text.counts import NAMED, Counts
from evenodds.text.lexicon import end_to_end, in_ranges, one_lexicon
from evenodds.text.shards import SHARD, Job, Part, at_once, count_shard, word_replacements
from evenodds.text.stored import checked_buckets
from evenodds.text.tables import Links, Sorted
from evenodds.text.tokenise import WORDS, Tokens
from evenodds.texts import Texts
from evenodds.threads import in_order

FRACTION = 1 << 20  # of a token: what counts of documents of one length are rounded to
LARGEST = 1 << 27  # bytes of a shard
SAMPLED, AT_MOST = 1 << 18, 1 << 20  # bytes of documents that buckets are named by: a 64th of all, within these


def count(
    texts: Texts,
    classes: NDArray[Any],
    n_classes: int,
    options: Tokens = WORDS,
    *,
    buckets: int | None = None,
    distinct: bool = False,
    weights: NDArray[Any] | None = None,
    normalised: bool = False,
    threads: int = 1,
    shard: int | None = None,
) -> Counts:
    """How often each token occurs in each class; a null document, or one of class -1, is left out.

    buckets: None keeps every word; a power of two counts keys by their top bits alone, in constant memory.
    distinct: count the documents that have a token, not its occurrences.
    weights: how often each document counts, 0 or more; what is counted is whole where all of them are.
    normalised: a document's counts are divided by their Euclidean norm.
    """
    if len(classes) != len(texts):
        raise ValueError(f"{len(texts)} documents but {len(classes)} classes; expected one class for each")
    if len(classes) and int(np.max(classes)) >= n_classes:
        raise ValueError(f"a class is {int(np.max(classes))}, expected less than {n_classes}; -1 leaves a document out")
    checked_buckets(buckets)
    classes = np.where(texts.known, np.asarray(classes, np.int64), -1)
    if weights is not None:
        weights = _exact(weights)
        classes = np.where(weights > 0, classes, -1)
    other, stems = word_replacements(texts, options, threads)
    replaced = replacing(other) if other else None
    jobs = []
    order = np.argsort(classes, kind="stable")
    borders = np.searchsorted(classes[order], np.arange(n_classes + 1))
    shard = shard or min(max(int(texts.lengths().sum()) // (2 * threads), SHARD), LARGEST)
    size = shard if buckets is None else max(shard, 16 * buckets)
    for group in range(n_classes):
        some = texts[order[borders[group] : borders[group + 1]]]
        for first, beyond in some.pieces(size):
            jobs.append(Job(group, some[first:beyond], options, distinct, replaced, buckets))
    if buckets is None:
        parts = at_once(count_shard, jobs, threads)
    else:
        parts = _by_class(in_order(count_shard, jobs, threads))
    words = [part.lexicon for part in parts] if options.stem is None else [stems]
    ranges = in_ranges(words) if buckets is None else []
    own = [[s for part in parts if part.group == group for s in part.counts] for group in range(n_classes)]
    calls: list[Callable[[], Any]] = [
        partial(Links.all, [link for part in parts for link in part.links]),  # the longest first
        *(partial(one_lexicon, some) for some in ranges),
        *(partial(Sorted.total, some) for some in own),
    ]
    links, *joined = at_once(lambda call: call(), calls, threads)
    lexicon, lists = end_to_end(joined[: len(ranges)]), tuple(joined[len(ranges) :])
    counts = Counts(lists, np.diff(borders).astype(np.int64), lexicon, links, buckets)
    if buckets is not None and not options.seed:  # who hides words in buckets wants none beside them
        rows = _some(texts, np.flatnonzero(classes >= 0))
        how = None if weights is None else weights[rows]
        sample = count(texts[rows], classes[rows], n_classes, options, distinct=distinct, weights=how, threads=threads)
        counts = replace(counts, sample=sample.most(NAMED))
    if options.stem is not None or options.lengths[0] > 1:  # more was read than is counted
        counts = counts.trimmed()
    if weights is None and not normalised:
        return counts
    weights = np.ones(len(texts), np.int64) if weights is None else weights
    keys, amounts, ends = _amounts(texts, classes, options, buckets, distinct, normalised, threads, shard)
    return _weighted(counts, keys, amounts, ends, classes[classes >= 0], weights[classes >= 0])


def _by_class(parts: Iterable[Part]) -> list[Part]:
    """One part a class, added as they come: shards of buckets are all of one size, and few are held at once."""
    found: dict[int, Part] = {}
    for part in parts:
        before = found[part.group].counts if part.group in found else []
        found[part.group] = part._replace(counts=[Sorted.total([*before, *part.counts])])
    return list(found.values())


def _some(texts: Texts, rows: Ints) -> Ints:
    """All of these documents, or if they are long some of them, evenly, to name buckets by."""
    sizes = texts.lengths()[rows]
    total = int(sizes.sum())
    size = min(max(SAMPLED, total // 64), AT_MOST)  # so that the room it takes does not grow with the documents
    if total <= size:
        return rows
    every = rows[:: -(-total // size)]
    return every[np.cumsum(texts.lengths()[every]) <= 2 * size]


def _exact(weights: NDArray[Any]) -> NDArray[Any]:
    """Weights as integers where all are whole, else as doubles."""
    whole = np.all(weights == np.floor(weights)) and weights.max(initial=0) < 2**53
    return weights.astype(np.int64 if whole else np.float64)


def _amounts(
    texts: Texts,
    classes: Ints,
    options: Tokens,
    buckets: int | None,
    distinct: bool,
    normalised: bool,
    threads: int,
    shard: int,
) -> tuple[Keys, NDArray[Any], Ints]:
    """The distinct tokens of the documents that have a class, how much each counts there, and each document's end."""
    some = texts[np.flatnonzero(classes >= 0)]
    keys, times, ends, _ = bags(some, options, buckets=buckets, threads=threads, shard=shard)
    amounts = np.ones_like(times) if distinct else times
    return keys, to_unit(amounts, ends) if normalised else amounts, ends


def to_unit(amounts: NDArray[Any], ends: Ints) -> NDArray[np.float64]:
    """The counts of each document, which ends at `ends`, divided by the root of the sum of their squares."""
    document = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    norms = np.sqrt(np.bincount(document, amounts * amounts, len(ends)))
    # so many bits and no more: sums of such numbers are exact, and so the same in any order
    return np.asarray(np.rint(amounts / norms[document] * FRACTION) / FRACTION)


def _weighted(
    counts: Counts, keys: Keys, amounts: NDArray[Any], ends: Ints, classes: Ints, weights: NDArray[Any]
) -> Counts:
    """The same tokens with other numbers: each document's, times its weight, one document after the other."""
    sizes = np.diff(ends, prepend=0)
    amounts = np.repeat(weights, sizes) * amounts
    lists, groups = [], np.repeat(classes, sizes)
    for group, (own, _) in enumerate(counts.lists):
        mine = np.flatnonzero(groups == group)
        numbers = np.zeros(len(own), amounts.dtype)
        np.add.at(numbers, np.searchsorted(own, keys[mine]), amounts[mine])
        lists.append(Sorted(own, numbers))
    documents = np.zeros(len(lists), weights.dtype)
    np.add.at(documents, classes, weights)
    return replace(counts, lists=tuple(lists), documents=documents)
