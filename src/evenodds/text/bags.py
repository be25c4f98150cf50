"""Documents as bags: the distinct tokens of each, and how often each is there.

>>> bags(Texts.of(["free beer free", "lunch"])).times
array([2, 1, 1], dtype=int32)
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenodds.labels import Ints, Keys
from evenodds.text.batches import BATCH, Reader, size_of
from evenodds.text.shards import SHARD, at_once, replacing_table
from evenodds.text.tables import Rows32
from evenodds.text.tokenise import WORDS, Tokens
from evenodds.texts import Texts

Number = TypeVar("Number", bound=np.generic)


class Bags(NamedTuple):
    """The distinct tokens of each document, and how often each is there; document d's end at ends[d].

    tokens[d] is how many it has, those that are there several times counted so often.
    """

    keys: Keys
    times: Rows32
    ends: Ints
    tokens: Ints

    def lengths(self, distinct: bool) -> NDArray[np.float64]:
        """How many tokens each document has, or with `distinct` how many different ones."""
        return (np.diff(self.ends, prepend=0) if distinct else self.tokens).astype(float)


def bags(
    texts: Texts, options: Tokens = WORDS, *, buckets: int | None = None, threads: int = 1, shard: int = SHARD
) -> Bags:
    """The distinct tokens of each document in order of first appearance, words before n-grams."""
    replaced = replacing_table(texts, options, threads)

    def read(piece: tuple[int, int]) -> Bags:
        return _read(Reader(texts[slice(*piece)], options, replaced=replaced), buckets)

    every = at_once(read, list(texts.pieces(shard)), threads)
    if len(every) == 1:
        return every[0]
    before = np.cumsum([0, *(len(bag.keys) for bag in every)])
    keys = [np.empty(0, np.uint64), *(bag.keys for bag in every)]
    times = [np.empty(0, np.int32), *(bag.times for bag in every)]
    ends = [np.empty(0, np.int64), *(bag.ends + at for bag, at in zip(every, before))]
    tokens = [np.empty(0, np.int64), *(bag.tokens for bag in every)]
    return Bags(np.concatenate(keys), np.concatenate(times), np.concatenate(ends), np.concatenate(tokens))


def _read(reader: Reader, buckets: int | None) -> Bags:
    """The bags of all documents of a reader: batch after batch written into arrays that grow."""
    keys, times, n = np.empty(0, np.uint64), np.empty(0, np.int32), 0
    starts, stops = reader.texts.starts, reader.texts.stops
    ends, tokens = np.empty((2, len(starts)), np.int64)
    for first, beyond in reader.texts.pieces(BATCH):
        levels = reader.read(first, beyond)[reader.shortest - 1 :]
        room = n + sum(len(level.keys) for level in levels)
        if room > len(keys):  # as many more as there are bytes to come
            part = size_of(starts[:beyond], stops[:beyond]) / max(size_of(starts, stops), 1)
            room = max(room, int(room * 1.125 / max(part, 1e-3)))
            keys, times = _longer(keys[:n], room), _longer(times[:n], room)
        once = reader.bags(levels, buckets, (keys[n:], times[n:]))
        ends[first:beyond] = n + once.ends
        tokens[first:beyond] = np.diff(np.sum([level.ends for level in levels], axis=0), prepend=0)
        n += len(once.keys)
    return Bags(keys[:n], times[:n], ends, tokens)


def _longer(array: NDArray[Number], room: int) -> NDArray[Number]:
    """The same, and room for more; what is not written yet costs no memory."""
    longer = np.empty(room, array.dtype)
    longer[: len(array)] = array
    return longer
