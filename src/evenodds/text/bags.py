"""Documents as bags: the distinct tokens of each, and how often each is there.

>>> bags(Texts.of(["free beer free", "lunch"])).times
array([2, 1, 1])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.labels import Ints, Keys
from evenodds.text.batches import BATCH, Reader
from evenodds.text.shards import SHARD, Pool, replacing_table
from evenodds.text.tokenise import WORDS, Tokens
from evenodds.texts import Texts


class Bags(NamedTuple):
    """The distinct tokens of each document, and how often each is there; document d's end at ends[d].

    tokens[d] is how many it has, those that are there several times counted so often.
    """

    keys: Keys
    times: Ints
    ends: Ints
    tokens: Ints

    def lengths(self, distinct: bool) -> NDArray[np.float64]:
        """How many tokens each document has, or with `distinct` how many different ones."""
        return (np.diff(self.ends, prepend=0) if distinct else self.tokens).astype(float)


def bags(
    texts: Texts, options: Tokens = WORDS, *, buckets: int | None = None, threads: int = 1, shard: int = SHARD
) -> Bags:
    """The distinct tokens of each document in order of first appearance, words before n-grams."""
    with Pool(threads) as pool:
        replaced = replacing_table(texts, options, pool)

        def read(piece: tuple[int, int]) -> list[Bags]:
            reader = Reader(texts.slice(*piece), options, replaced=replaced)
            return [_bag(reader, first, beyond, buckets) for first, beyond in reader.texts.pieces(BATCH)]

        every = [bag for some in pool.map(read, texts.pieces(shard)) for bag in some]
    before = np.cumsum([0, *(len(bag.keys) for bag in every)])
    keys = [np.empty(0, np.uint64), *(bag.keys for bag in every)]
    times = [np.empty(0, np.int64), *(bag.times for bag in every)]
    ends = [np.empty(0, np.int64), *(bag.ends + at for bag, at in zip(every, before))]
    tokens = [np.empty(0, np.int64), *(bag.tokens for bag in every)]
    return Bags(np.concatenate(keys), np.concatenate(times), np.concatenate(ends), np.concatenate(tokens))


def _bag(reader: Reader, first: int, beyond: int, buckets: int | None) -> Bags:
    """The bags of one batch: words before n-grams."""
    levels = reader.read(first, beyond)[reader.shortest - 1 :]
    tokens = np.diff(np.sum([level.ends for level in levels], axis=0), prepend=0)
    once = reader.bags(levels, buckets)
    return Bags(once.keys.copy(), once.times.copy(), once.ends, tokens)
