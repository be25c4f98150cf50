"""What a word is, in plain Python: bytes to tokens, and their keys. The kernels do the same.

A document is UTF-8; every part of it that is not is read as one � (as `bytes.decode(errors="replace")` does: one for
each longest piece that could have begun a character, so three for an encoded surrogate). Words are then runs of what
`re` calls `\\w`, in lower case:

>>> words("The café's 2 CAFÉS — 50% off!".encode())
[b'the', b'caf\\xc3\\xa9', b'caf\\xc3\\xa9s', b'50', b'off']
>>> texts("Free prize inside", Tokens(ngrams=2))
['free', 'prize', 'inside', 'free prize', 'prize inside']
>>> texts("Café no. 12!", Tokens(accents=False, digits=False, punctuation=True))
['cafe', 'no', '.', '00', '!']
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from evenodds.text import unicode
from evenodds.text.keys import LONGEST, MASK, encoded, join, key, sealed

_STEMMERS = threading.local()
MARKED = "\x01"  # stands before a mark that is a token by itself; a control character is never part of a word


class _Settings(NamedTuple):
    """The settings of `Tokens` and their defaults: no dataclass, which a process for one message would wait for."""

    min_length: int = 2
    case: bool = False
    accents: bool = True
    digits: bool = True
    punctuation: bool = False
    ngrams: int | tuple[int, int] = 1
    characters: tuple[int, int] | None = None
    stop_words: frozenset[str] = frozenset()
    stem: str | None = None
    function: Callable[[str], Iterable[str]] | None = None
    seed: int = 0


class Tokens(_Settings):
    """How a document is cut into tokens.

    min_length: words of fewer characters are left out (marks are not).
    case, accents, digits, punctuation: whether these are kept. Without accents is NFKD less the combining marks;
    without digits every digit is 0; with punctuation every mark, symbol and emoji is a token of its own.
    ngrams: runs of words up to this length, or (shortest, longest).
    characters: instead of words, runs of (shortest, longest) characters of the words set apart by single spaces.
    stop_words: words left out, before n-grams are formed. stem: a language of snowballstemmer, as "english".
    function: a callable from text to tokens, instead of the first five; the tokens are taken as they come.
    seed: a secret of 64 bits that the words' keys are mixed with, so that others cannot look words up in buckets.
    """

    __slots__ = ()

    def __new__(cls, *settings: Any, **named: Any) -> Tokens:
        """Settings that can be used together, or a ValueError which says what is wrong."""
        self = super().__new__(cls, *settings, **named)
        if self.min_length < 1:
            raise ValueError(f"min_length is {self.min_length}, expected 1 or more characters")
        low, high = self.lengths
        if not 1 <= low <= high <= LONGEST:
            raise ValueError(
                f"ngrams is {self.ngrams}, expected a number of words, or (shortest, longest), from 1 to {LONGEST}"
            )
        if not 0 <= self.seed <= MASK:
            raise ValueError("seed is not a whole number from 0 to 2^64 - 1; take secrets.randbits(64)")
        if self.characters is not None:
            if not 1 <= self.characters[0] <= self.characters[1] <= LONGEST:
                raise ValueError(f"characters is {self.characters}, expected (shortest, longest) from 1 to {LONGEST}")
            if self.stem is not None:
                raise ValueError("characters and stem are both given: runs of characters are of unchanged words")
            if high > 1:
                raise ValueError("characters and ngrams are both given: n-grams are of characters or of words")
        if isinstance(self.stop_words, str):
            raise ValueError(f"stop_words is the text {self.stop_words!r}, expected a set of words")
        return self if type(self.stop_words) is frozenset else self.but(stop_words=frozenset(self.stop_words))

    def but(self, **settings: Any) -> Tokens:
        """The same with other settings."""
        return Tokens(**{**self._asdict(), **settings})

    def __repr__(self) -> str:
        shown = {name: value for name, value in self._asdict().items() if name != "seed"}  # a secret
        return f"Tokens({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @property
    def lengths(self) -> tuple[int, int]:
        """The shortest and the longest n-grams of words."""
        return (1, self.ngrams) if isinstance(self.ngrams, int) else self.ngrams

    @property
    def orders(self) -> int:
        """How many tokens begin at one place of a text: as many as there are lengths of n-grams."""
        low, high = self.characters or self.lengths
        return high - low + 1


WORDS = Tokens()


class _Fold(dict[int, str]):
    """What becomes of each code point, worked out when it is first met: itself folded, or a space."""

    def __init__(self, options: Tokens) -> None:
        self.options = options

    def __missing__(self, point: int) -> str:
        self[point] = piece = "".join(map(self._one, folded(point, self.options)))
        return piece

    def _one(self, part: tuple[int, int]) -> str:
        point, kind = part
        if kind == unicode.MARK and self.options.punctuation:
            return f" {MARKED}{chr(point)} "
        return chr(point) if kind in (unicode.LETTER, unicode.DIGIT) else " "


def folded(point: int, options: Tokens) -> list[tuple[int, int]]:
    """The code points that one turns into, each with its kind: lower case first, then accents, then digits."""
    point = point if options.case else unicode.lower(point)
    parts = [(ord(c), unicode.kind(ord(c))) for c in (chr(point) if options.accents else unicode.bare(point))]
    return [(ord("0"), kind) if kind == unicode.DIGIT and not options.digits else (part, kind) for part, kind in parts]


@functools.lru_cache(maxsize=64)
def fold_of(options: Tokens) -> _Fold:
    """What becomes of each code point under these options, for `str.translate`."""
    return _Fold(options)


def cut(document: bytes, options: Tokens = WORDS) -> list[bytes]:
    """The tokens of a document before stop words are left out and words are stemmed."""
    text = document.decode("utf-8", "replace")
    if options.function is not None:
        return [token.encode("utf-8", "replace") for token in options.function(text) if token]
    few, found = options.min_length, []
    for token in text.translate(fold_of(options)).split(" "):
        if len(token) >= few and token[0] != MARKED:
            found.append(token.encode())
        elif token and token[0] == MARKED:
            found.append(token[1:].encode())
    return found


@functools.lru_cache(maxsize=64)
def stopped(options: Tokens) -> frozenset[bytes]:
    """The stop words as they look in a document that has been cut."""
    whole = Tokens(1, options.case, options.accents, options.digits, options.punctuation, function=options.function)
    return frozenset(token for word in options.stop_words for token in cut(encoded(word), whole))


def stemmer(language: str) -> Callable[[str], str]:
    """The function that stems a word of this language; each thread has its own, for it keeps the word it works on."""
    known: dict[str, Callable[[str], str]] = _STEMMERS.__dict__
    if language not in known:
        known[language] = _new_stemmer(language)
    return known[language]


def _new_stemmer(language: str) -> Callable[[str], str]:
    try:
        snowballstemmer: Any = import_module("snowballstemmer")
    except ImportError:
        raise ImportError(f"stem={language!r} needs the package snowballstemmer: pip install snowballstemmer") from None
    if language not in snowballstemmer.algorithms():
        known = ", ".join(snowballstemmer.algorithms())
        raise ValueError(f"stem={language!r} is not a language of snowballstemmer; it has {known}")
    stem: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stem


def words(document: bytes, options: Tokens = WORDS) -> list[bytes]:
    """The words of a document, in order: cut, without stop words, stemmed."""
    found = cut(document, options)
    if options.stop_words:
        stop = stopped(options)
        found = [word for word in found if word not in stop]
    if options.stem is not None:
        stem = stemmer(options.stem)
        found = [stem(word.decode()).encode() for word in found]
    return found


def _runs(found: Sequence[bytes], shortest: int, longest: int) -> list[bytes]:
    """The runs of characters of the words, set apart by single spaces: the short ones first."""
    text = b" ".join([b"", *found, b""]).decode()
    return [text[i : i + n].encode() for n in range(shortest, longest + 1) for i in range(len(text) - n + 1)]


def keys(document: bytes, options: Tokens = WORDS) -> list[int]:
    """The keys of a document's tokens: of the words in order, then of the pairs, then of the triples."""
    return keys_of(words(document, options), options)


def keys_of(found: Sequence[bytes], options: Tokens) -> list[int]:
    """The keys of the tokens that these words of a document make."""
    if options.characters is not None:
        return _sealed(_runs(found, *options.characters) if found else [], options.seed)
    shortest, longest = options.lengths
    level = single = _sealed(found, options.seed)
    every = [] if shortest > 1 else list(single)
    for n in range(2, longest + 1):
        level = [join(prefix, word) for prefix, word in zip(level, single[n - 1 :])]
        if n >= shortest:
            every += level
    return every


def _sealed(tokens: Iterable[bytes], seed: int) -> list[int]:
    """The keys of tokens, sealed; 0 is no key."""
    every = [h for h in map(key, tokens) if h]
    return [h for h in (sealed(h, seed) for h in every) if h] if seed else every


def texts(document: str, options: Tokens = WORDS) -> list[str]:
    """The tokens of a document as text, in the order of `keys`."""
    return texts_of(words(encoded(document), options), options)


def texts_of(found: Sequence[bytes], options: Tokens) -> list[str]:
    """The tokens that these words of a document make, as text, in the order of `keys_of`."""
    if options.characters is not None:
        return [run.decode() for run in (_runs(found, *options.characters) if found else [])]
    low, high = options.lengths
    return [b" ".join(found[i : i + n]).decode() for n in range(low, high + 1) for i in range(len(found) - n + 1)]
