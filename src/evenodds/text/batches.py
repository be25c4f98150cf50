"""Documents read in batches that stay in the near caches: bytes in, lists of keys out.

>>> reader = Reader(Texts.of(["Free prize", "free free beer"]), Tokens(ngrams=2))
>>> words, pairs = reader.read(0, 2)
>>> words.ends, pairs.ends
(array([2, 5]), array([1, 3]))
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.kernel import frozen
from evenodds.labels import Bytes, Ints, Keys, hash_texts
from evenodds.text import kernels, table_kernels, unicode
from evenodds.text.tables import Rows32, lookup
from evenodds.text.tokenise import Tokens, cut, folded, stemmer, stopped
from evenodds.texts import Texts

BATCH = 1 << 18  # bytes of text that are read at once
_AT_MOST = 1 << 31  # folded bytes of one document, whose places are 32 bits


_FIRST = frozen(np.zeros(1, np.int64))
Replacing = tuple[Keys, np.uint64]


class Level(NamedTuple):
    """Tokens of one length: their keys, where their texts are (or their prefixes' keys), and each document's end."""

    keys: Keys
    places: Keys
    ends: Ints


class Once(NamedTuple):
    """Each document's different tokens: their keys, where they first stood, how often they were there, their end.

    All but the ends last until the next call.
    """

    keys: Keys
    first: Ints
    times: Rows32
    ends: Ints


class Folding(NamedTuple):
    """What `kernels.words` needs to know: a number for every code point, and the lists of those that become several."""

    table: NDArray[np.uint32]
    pool: NDArray[np.uint32]
    growth: int  # bytes that one byte may become


@functools.lru_cache(maxsize=8)
def folding(case: bool, accents: bool, digits: bool) -> Folding:
    """The table of code points for these options, from the frozen one."""
    options, frozen = Tokens(case=case, accents=accents, digits=digits), unicode.table()
    kinds = np.frombuffer(frozen.kinds, np.uint8).reshape(-1, unicode.BLOCK)[np.array(frozen.blocks)].ravel()
    table = np.arange(unicode.POINTS, dtype=np.uint32) | (kinds.astype(np.uint32) << kernels.KIND)
    if not digits:
        table[kinds == unicode.DIGIT] = (unicode.DIGIT << kernels.KIND) | ord("0")
    changed = set() if case else set(frozen.upper)
    if not accents:
        changed |= {*frozen.accented, *range(unicode.HANGUL, unicode.HANGUL_END)}
    pool: list[int] = []
    for point in changed:
        parts = [part | (kind << kernels.KIND) for part, kind in folded(point, options)]
        if len(parts) == 1:
            table[point] = parts[0]
        else:
            table[point] = kernels.MANY | len(pool)
            pool += [len(parts), *parts]
    return Folding(table, np.array([*pool, 0], np.uint32), 6 if accents else 12)


def size_of(starts: Ints, stops: Ints) -> int:
    """How many bytes these documents have."""
    if len(starts) == 1:  # one message need not wait for three passes over arrays
        return max(int(stops[0]) - int(starts[0]), 0)
    return int(np.maximum(stops - starts, 0).sum())


def _ready(texts: Texts) -> Texts:
    """The same documents in the one form that the kernels are compiled for."""
    starts, stops = (frozen(np.ascontiguousarray(places, np.int64)) for places in (texts.starts, texts.stops))
    return Texts(frozen(texts.blob), starts, stops)


class Reader:
    """The steps from bytes to keys, with the arrays they write into: one for each thread."""

    def __init__(
        self,
        texts: Texts,
        options: Tokens,
        *,
        distinct: bool = False,
        replaced: Replacing | None = None,
        buckets: int | None = None,
    ) -> None:
        self.texts = _ready(texts)
        self.options, self.distinct, self.replaced, self.buckets = options, distinct, replaced, buckets
        self.shortest, self._longest = options.lengths
        self.folded: Bytes = np.empty(0, np.uint8)
        self.stamp = 0
        self._folding = folding(options.case, options.accents, options.digits)
        case, zero = np.uint8(0 if options.case else 32), np.uint8(not options.digits)
        self._how = (case, zero, int(options.punctuation), options.min_length)
        self._growth = 2 if options.accents and not options.punctuation else self._folding.growth
        self._length = np.zeros(1, np.int64)
        self._stop = frozen(self._length)
        self._ends = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self._room = -1
        self._made: tuple[Bytes, Keys, NDArray[np.uint32], Keys, Keys]
        self._arrays: dict[str, NDArray[Any]] = {}

    def over(self, texts: Texts) -> Reader:
        """This reader with its arrays, over other documents."""
        self.texts = _ready(texts)
        return self

    def _array(self, name: str, size: int, dtype: type[Any]) -> NDArray[Any]:
        """An array of at least this size, kept from batch to batch."""
        array = self._arrays.get(name)
        if array is None or len(array) < size:
            array = self._arrays[name] = np.empty(size + size // 4, dtype)
        return array

    def _rooms(self, room: int) -> tuple[Bytes, Keys, NDArray[np.uint32], Keys, Keys]:
        """What so many folded bytes are written into: themselves, their bits, the edges, keys and places of words."""
        if room > self._room:
            self._room = room + room // 4
            half = self._room // 2 + 1
            self._made = (
                np.empty(self._room, np.uint8),
                np.empty(self._room // 64 + 2, np.uint64),
                np.empty(self._room + kernels.EDGES, np.uint32),
                np.empty(half, np.uint64),
                np.empty(half, np.uint64),
            )
        return self._made

    def read(self, first: int, beyond: int) -> list[Level]:
        """The tokens of a run of documents, level by level: words, pairs, triples. They last until the next call."""
        return self._levels(
            self._words(first, beyond) if self.options.function is None else self._called(first, beyond)
        )

    def read_one(self, raw: bytes) -> list[Level]:
        """The same of one document, which need not wait for what many have to go through."""
        self._length[0] = len(raw)
        return self._levels(self._cut(np.frombuffer(raw, np.uint8), _FIRST, self._stop, len(raw), *self._ends))

    def _levels(self, level: Level) -> list[Level]:
        options = self.options
        if self.replaced is not None:
            n = table_kernels.replace(*level, *self.replaced)
            level = Level(level.keys[:n], level.places[:n], level.ends)
        if options.characters is not None:
            level = self._spelt(level, *options.characters)
        if options.seed:
            n = kernels.seal(*level, np.uint64(options.seed))
            level = Level(level.keys[:n], level.places[:n], level.ends)
        levels = [level]
        for n in range(2, self._longest + 1):
            levels.append(self._longer(n, levels[-1], levels[0]))
        if not self.distinct:
            return levels
        if self.buckets is not None:  # a bucket counts once a document, whichever of its tokens are there
            once = self.bags(levels[self.shortest - 1 :], self.buckets)
            return [*levels[: self.shortest - 1], Level(once.keys, once.keys, once.ends)]
        return [self._once(level) for level in levels]

    def _words(self, first: int, beyond: int) -> Level:
        starts, stops = self.texts.starts[first:beyond], self.texts.stops[first:beyond]
        size = size_of(starts, stops)
        if size > _AT_MOST // self._growth:
            raise ValueError(f"document {first} has {size:,} bytes, expected less than 2^31 once folded; cut it")
        return self._cut(self.texts.blob, starts, stops, size, *np.empty((2, beyond - first), np.int64))

    def _cut(self, blob: Bytes, starts: Ints, stops: Ints, size: int, doc_ends: Ints, ends: Ints) -> Level:
        """The words of these documents, which have so many bytes; the ends are written into."""
        table, pool, _ = self._folding
        folded, bits, edges, keys, places = self._rooms(self._growth * size + len(starts) + kernels.SLACK + 1)
        self.folded = folded
        n = kernels.words(
            blob, starts, stops, table, pool, *self._how, folded, bits, doc_ends, edges, keys, places, ends
        )  # fmt: skip
        return Level(keys[:n], places[:n], ends)

    def _called(self, first: int, beyond: int) -> Level:
        """The tokens that the caller's own function gives."""
        texts = self.texts[first:beyond]
        every = [cut(texts.document(d), self.options) if known else [] for d, known in enumerate(texts.known)]
        tokens = [token for document in every for token in document]
        lengths = np.array([len(token) for token in tokens], np.uint64)
        self.folded = np.frombuffer(b"".join(tokens) + bytes(kernels.SLACK), np.uint8).copy()
        places = ((np.cumsum(lengths, dtype=np.uint64) - lengths) << np.uint64(32)) | lengths
        return Level(hash_texts(tokens), places, np.cumsum([len(document) for document in every], dtype=np.int64))

    def _spelt(self, level: Level, shortest: int, longest: int) -> Level:
        size = int((level.places & kernels.LENGTH).sum()) + len(level.keys) + len(level.ends) + kernels.SLACK
        many = size * (longest - shortest + 1)
        text, points = self._array("text", size, np.uint8), self._array("points", size, np.uint32)
        keys, places = self._array("runs", many, np.uint64), self._array("spots", many, np.uint64)
        ends = np.empty(len(level.ends), np.int64)
        n = kernels.spell(self.folded, level.places, level.ends, shortest, longest, text, points, keys, places, ends)
        self.folded = text
        return Level(keys[:n], places[:n], ends)

    def _longer(self, n: int, level: Level, single: Level) -> Level:
        keys = self._array(f"keys{n}", len(level.keys), np.uint64)
        prefixes = self._array(f"prefixes{n}", len(level.keys), np.uint64)
        ends = np.empty(len(level.ends), np.int64)
        many = kernels.pair(level.keys, level.ends, single.keys, single.ends, keys, prefixes, ends)
        return Level(keys[:many], prefixes[:many], ends)

    def _once(self, level: Level) -> Level:
        once = self.bags([level])
        return Level(once.keys.copy(), level.places[once.first], once.ends)

    def bags(
        self, levels: Sequence[Level], buckets: int | None = None, into: tuple[Keys, Rows32] | None = None
    ) -> Once:
        """Each document's tokens, or their buckets, once: level after level, in order of first appearance.

        They last until the next call, unless there is something they and their times are written into.
        """
        keys, many = levels[0].keys, sum(len(level.keys) for level in levels)
        if len(levels) > 1:
            keys = np.concatenate([level.keys for level in levels], out=self._array("every", many, np.uint64)[:many])
        keys = keys if buckets is None else bucket_keys(keys, buckets)
        at = np.cumsum([0, *(len(level.keys) for level in levels[:-1])])
        ends = np.stack([level.ends for level in levels]) + at[:, None]
        longest = len(keys)
        if longest > 512:
            longest = int(np.diff(ends, axis=1, prepend=at[:, None]).sum(axis=0).max())
        size = max(10, (2 * longest - 1).bit_length())
        documents = ends.shape[1]
        if len(self._arrays.get("seen", ())) < 2 << size or self.stamp + documents >= 1 << 32:
            self._arrays["seen"], self.stamp = np.zeros(2 << size, np.uint64), 0
        seen = self._arrays["seen"]
        shift = np.uint64(65 - (len(seen) - 1).bit_length())
        once, times = into or (self._array("once", many, np.uint64), self._array("times", many, np.int32))
        first = self._array("first", many if into is None else 0, np.int64)
        beyond = np.empty(documents, np.int64)
        n = table_kernels.distinct(
            frozen(keys), at, ends, once, first, times, beyond, seen, shift, np.uint64(self.stamp)
        )
        self.stamp += documents
        return Once(once[:n], first[:n], times[:n], beyond)


def bucket_bits(buckets: int) -> tuple[np.uint64, np.uint64]:
    """The bits of a key that its bucket's has; and the one that is set beside them."""
    return np.uint64(2**64 - 2**64 // buckets), np.uint64(1)


def bucket_keys(keys: Keys, buckets: int) -> Keys:
    """The keys of the buckets that these keys fall into."""
    top, mark = bucket_bits(buckets)
    return keys & top | mark


def replacements(options: Tokens, vocabulary: Iterable[bytes]) -> dict[bytes, bytes]:
    """What becomes of words: b"" where a stop word is left out, else the stem."""
    stop = stopped(options)
    other = dict.fromkeys(stop, b"")
    if options.stem is not None:
        stem = stemmer(options.stem)
        other |= {word: stem(word.decode()).encode() for word in vocabulary if word not in stop}
    return other


def replacing(other: dict[bytes, bytes]) -> Replacing:
    """The table of these replacements that `table_kernels.replace` reads."""
    to = hash_texts(list(other.values()))
    to[np.array([not text for text in other.values()], bool)] = 0
    keys = hash_texts(list(other))
    return lookup(keys, to)
