"""Known words that look like an unknown one: what it may borrow its weight from.

>>> known = Lookalikes(Labels.of(["free", "tree", "three", "prize", "price"]))
>>> known.near(b"frea")
['free']
>>> known.near(b"rpice", distance=2)
['price', 'prize']
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evenodds.labels import Ints, Labels, hash_texts

_LETTERS = np.uint64(63)  # letters are told apart by their last six bits
_EDIT = 4  # letters of a word for each edit: a third of all three-letter words are one edit from another
_REMEMBERED = 1 << 16


class Lookalikes:
    """The words of a lexicon by their length and by the set of their letters: few have both nearly as another has."""

    def __init__(self, lexicon: Labels) -> None:
        self.lexicon = lexicon
        letters = _points(lexicon.blob.tobytes().decode("utf-8", "surrogatepass"))
        self._letters = np.append(letters, np.uint32(0))  # there is always one to point at
        begun = np.concatenate([[0], np.cumsum(lexicon.blob & 0xC0 != 0x80)])
        ends = begun[lexicon.ends]
        self._starts, self._lengths = ends[:-1], np.diff(ends)
        self._sets = np.zeros(len(lexicon), np.uint64)
        some = np.flatnonzero(self._lengths)
        if len(some):
            self._sets[some] = np.bitwise_or.reduceat(_bit(letters), self._starts[some])

    def near(self, word: bytes, distance: int = 1) -> list[str]:
        """The known words that become this one by at most so many edits, the most similar first.

        An edit puts a letter in, takes one out, replaces one, or swaps two that stand side by side. Of words equally
        far, those with the longer common beginning come first, then by the alphabet.
        """
        if distance not in (1, 2):
            raise ValueError(f"distance is {distance}, expected 1 or 2")
        text = word.decode("utf-8", "replace")
        letters = _points(text)
        longer = np.abs(self._lengths - len(letters))
        # an edit changes the length by one and one letter of the set, or not the length and two letters
        differ = np.bitwise_count(self._sets ^ np.bitwise_or.reduce(_bit(letters), initial=np.uint64(0)))
        rows = np.flatnonzero((longer <= distance) & (differ <= 2 * distance - longer))
        if not len(rows):
            return []
        places = self._starts[rows, None] + np.arange(len(letters) + distance)
        others = self._letters[np.minimum(places, len(self._letters) - 1)]
        apart = edits(letters, others, self._lengths[rows])
        found = []
        for i in np.flatnonzero((apart > 0) & (apart <= distance)):
            other = self.lexicon.text(rows[i])
            found.append((int(apart[i]), -_common(text, other), other))
        return [other for _, _, other in sorted(found)]


class Nearest:
    """Which known word an unknown one is read as: the most similar, if one is near enough.

    A word must have four letters for each edit, and no digits: 2019 is not 2018 spelt wrong. What was found is
    remembered, so that a word met again is looked up, not searched.

    >>> nearest = Nearest(Labels.of(["winner", "dinner"]), 1)
    >>> nearest([b"winnner", b"winner", b"thinner"])
    {b'winnner': b'winner'}
    """

    def __init__(self, lexicon: Labels, distance: int) -> None:
        self.distance = distance
        self._known = Lookalikes(lexicon)
        self._found: dict[bytes, bytes] = {}

    def __call__(self, words: Iterable[bytes]) -> dict[bytes, bytes]:
        """Those of some words that are not known and are read as known ones."""
        every = list(dict.fromkeys(words))
        if not every:
            return {}
        unknown = [every[i] for i in np.flatnonzero(self._known.lexicon.find(hash_texts(every)) < 0)]
        found = self._found
        if len(found) + len(unknown) > _REMEMBERED:
            self._found = found = {}  # another thread may go on with the old ones
        for word in unknown:
            if word not in found:
                found[word] = self._nearest(word)
        return {word: found[word] for word in unknown if found[word]}

    def _nearest(self, word: bytes) -> bytes:
        text = word.decode("utf-8", "replace")
        distance = min(self.distance, len(text) // _EDIT)
        if not distance or any(map(str.isdigit, text)):
            return b""
        near = self._known.near(word, distance)
        return near[0].encode() if near else b""


def _points(text: str) -> NDArray[np.uint32]:
    """A text's code points."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32, copy=False)


def _bit(letters: NDArray[np.uint32]) -> NDArray[np.uint64]:
    return np.uint64(1) << (letters.astype(np.uint64) & _LETTERS)


def _common(a: str, b: str) -> int:
    """How many letters two texts begin with in common."""
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def edits(word: NDArray[np.uint32], others: NDArray[np.uint32], lengths: Ints) -> NDArray[np.int32]:
    """How many edits make a word each of the others (one a row, so many letters of it), no letter edited twice.

    The usual table, for all others at once: a row for each letter of the word, a cell the fewest edits up to there.

    >>> others = np.array([[ord(c) for c in text] for text in ("receive", "relieve", "sevens ")], np.uint32)
    >>> edits(_points("recieve"), others, np.array([7, 7, 6]))
    array([1, 1, 5], dtype=int32)
    """
    many, width = others.shape
    columns = others.T
    row = np.repeat(np.arange(width + 1, dtype=np.int32)[:, None], many, axis=1)
    before = last = row
    for i, letter in enumerate(word):
        last, before, row = before, row, np.empty_like(row)
        row[0] = i + 1
        same = columns == letter
        for j in range(width):
            fewest = np.minimum(np.minimum(before[j + 1], row[j]) + 1, before[j] + ~same[j])
            if i and j:  # two letters swapped
                swapped = same[j - 1] & (columns[j] == word[i - 1])
                fewest = np.where(swapped, np.minimum(fewest, last[j - 1] + 1), fewest)
            row[j + 1] = fewest
    return row[lengths, np.arange(many)]
