"""Documents weighed: per class the sum of their tokens' weights, added from left to right.

>>> texts = Texts.of(["free prize", "lunch"])
>>> from evenodds.labels import Labels
>>> words, weight = Labels.of(["free", "lunch"]), {"free": 2.0, "lunch": -1.0}
>>> weights = Weights(words.keys, np.array([[weight[word]] for word in words.texts()]))
>>> weights.score(texts).sums.ravel()
array([ 2., -1.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.kernel import frozen
from evenodds.labels import Ints, Keys, find_one
from evenodds.text import list_kernels
from evenodds.text.batches import BATCH, Level, Reader, bucket_bits, size_of
from evenodds.text.keys import MASK, bucket_shift
from evenodds.text.listed import ReadAs
from evenodds.text.shards import SHARD, at_once, replacing_table
from evenodds.text.tables import Index, first_rows
from evenodds.text.tokenise import WORDS, Tokens
from evenodds.texts import Texts

ROOM = 1 << 25  # weights of all buckets, known or not, that may be eight times those of the known; of more, twice
FEW = 1 << 14  # bytes of documents, up to which the reader is kept: for one message, making it takes most of the time

Floats = NDArray[np.float64]


class Scores(NamedTuple):
    """Of each document: its sums of weights per class, how many of its tokens have weights, and how many it has."""

    sums: Floats
    known: Ints
    tokens: Ints

    def slice(self, first: int, beyond: int) -> Scores:
        """Those of the documents from one place up to another."""
        return Scores(self.sums[first:beyond], self.known[first:beyond], self.tokens[first:beyond])


class Weights:
    """Sorted keys and their weights, (keys, classes), with what finds them.

    Where many buckets are known, all of them are the rows of a table; else a key lies beside its weights.
    """

    def __init__(self, keys: Keys, weights: Floats, buckets: int | None = None) -> None:
        weights = np.asarray(weights, np.float64)
        if weights.shape[:1] != keys.shape or weights.ndim != 2:
            raise ValueError(f"{len(keys)} keys but weights of shape {weights.shape}; expected one row a key")
        self._lay(keys, weights.shape[1], lambda room: np.copyto(room, weights), buckets, None)

    @classmethod
    def written(
        cls, keys: Keys, classes: int, write: Callable[[Floats], None], buckets: int | None, index: Index | None
    ) -> Weights:
        """Those that `write` writes into the room it is given, (keys, classes): where they stay, if that can be."""
        new = object.__new__(cls)
        new._lay(keys, classes, write, buckets, index)
        return new

    def _lay(
        self, keys: Keys, classes: int, write: Callable[[Floats], None], buckets: int | None, index: Index | None
    ) -> None:
        self.keys, self.classes, self.buckets = keys, classes, buckets
        self._bits = None if buckets is None else bucket_bits(buckets)
        self._shift: np.uint64 | None = None  # how far a key is shifted to be the number of its row
        if buckets is not None and (8 if buckets * classes <= ROOM else 2) * len(keys) >= buckets:
            weights = np.empty((len(keys), classes))
            write(weights)
            self._shift = np.uint64(bucket_shift(buckets))
            self._rows = np.full((buckets, classes), np.nan)
            self._rows[keys >> self._shift] = weights
            self._find: tuple[Any, ...] = (self._shift, frozen(self._rows.reshape(-1)))
        else:
            rows = np.empty((len(keys) + 1, classes + 1), np.uint64)
            rows[:-1, 0], rows[-1] = keys, MASK
            self._rows = rows[:-1, 1:].view(np.float64)
            write(self._rows)
            self._find = (*(index or first_rows(keys)), frozen(rows.reshape(-1)))
        self._spare: list[Reader] = []

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_spare": []}  # what is written into does not travel: its views would be copies

    @property
    def weights(self) -> Floats:
        """The weights of all keys, in their order."""
        return frozen(self._rows if self._shift is None else self._rows[self.keys >> self._shift])

    def of(self, key: int) -> Floats | None:
        """The weights of a key; None where it is not known."""
        at = find_one(self.keys, key)
        if at < 0:
            return None
        return frozen(self._rows[at if self._shift is None else self.keys[at] >> self._shift])

    def score(
        self,
        texts: Texts,
        options: Tokens = WORDS,
        *,
        distinct: bool = False,
        read_as: ReadAs | None = None,
        threads: int = 1,
        shard: int = SHARD,
    ) -> Scores:
        """Weigh every document; with `distinct` each of its tokens once; with `read_as` some words as others."""
        n = len(texts)
        scores = Scores(np.zeros((n, self.classes)), *np.zeros((2, n), np.int64))
        if n and size_of(texts.starts, texts.stops) <= min(FEW, shard):
            self._few(texts, options, distinct, read_as, scores)
            return scores
        replaced = replacing_table(texts, options, threads, read_as)

        def weigh(piece: tuple[int, int]) -> None:
            first, beyond = piece
            reader = Reader(texts[first:beyond], options, distinct=distinct, replaced=replaced, buckets=self.buckets)
            mine = scores.slice(first, beyond)
            for batch in reader.texts.pieces(BATCH):
                self._weigh(reader, batch, mine.slice(*batch))

        at_once(weigh, list(texts.pieces(shard)), threads)
        return scores

    def message(self, raw: bytes, options: Tokens, *, distinct: bool = False, read_as: ReadAs | None = None) -> Scores:
        """Weigh one document, given in UTF-8: what `score` says of it, sooner."""
        plain = read_as is None and options.stem is None and options.function is None and len(raw) <= FEW
        reader = self._kept(options, distinct) if plain else None
        if reader is None:
            return self.score(Texts.of_bytes([raw]), options, distinct=distinct, read_as=read_as)
        scores = Scores(np.zeros((1, self.classes)), np.zeros(1, np.int64), np.zeros(1, np.int64))
        self._add(reader.read_one(raw), reader.shortest, scores)
        self._spare.append(reader)
        return scores

    def _kept(self, options: Tokens, distinct: bool) -> Reader | None:
        """A reader that was made before for such documents and that no other thread has now."""
        try:
            reader = self._spare.pop()
        except IndexError:
            return None
        return reader if reader.options is options and reader.distinct is distinct else None

    def _few(self, texts: Texts, options: Tokens, distinct: bool, read_as: ReadAs | None, scores: Scores) -> None:
        """Weigh a few short documents by a reader that is kept for the next ones."""
        reader = self._kept(options, distinct)
        if reader is None:
            replaced = replacing_table(texts, options, 1)
            reader = Reader(texts, options, distinct=distinct, replaced=replaced, buckets=self.buckets)
        else:
            reader.over(texts)
        if options.stem is not None or read_as is not None:
            reader.replaced = replacing_table(texts, options, 1, read_as)
        self._weigh(reader, (0, len(texts)), scores)
        self._spare.append(reader)

    def _weigh(self, reader: Reader, batch: tuple[int, int], scores: Scores) -> None:
        self._add(reader.read(*batch), reader.shortest, scores)

    def _add(self, levels: list[Level], shortest: int, scores: Scores) -> None:
        for level in levels[shortest - 1 :]:
            if self._shift is not None:
                list_kernels.add_bucket_weights(level.keys, level.ends, *self._find, *scores)
            else:
                keys = level.keys if self._bits is None else level.keys & self._bits[0] | self._bits[1]
                list_kernels.add_weights(keys, level.ends, *self._find, *scores)
