"""How a column of text is modelled: what a word is, and what is said of it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from evenodds.arguments import is_number, is_whole, native, one_of, smoothing_of
from evenodds.text.keys import LONGEST, MASK, encoded, is_buckets
from evenodds.text.tokenise import Tokens

Events = Literal["counts", "present", "bernoulli", "complement"]
FLAGS = ("length_column", "case", "accents", "digits", "punctuation")
EVENTS: tuple[Events, ...] = ("counts", "present", "bernoulli", "complement")


@dataclass(frozen=True)
class Words:
    """The column for text: `NaiveBayes(columns={"body": Words(ngrams=2)})`.

    events       "counts": every occurrence of a word counts (multinomial); "present": once a document; "bernoulli":
                 a word is in the document or not, and its absence counts too; "complement": a class is told by the
                 words of the others (Rennie et al. 2003)
    ngrams       runs of words up to this length, or (shortest, longest)
    buckets      None: every word is kept; a power of two: words are hashed into so many buckets, in constant memory
    key          of buckets: a secret text, bytes, or number of 64 bits; which bucket a word falls into depends on it.
                 What is kept, and written to a file, is the 64-bit seed made of it
    min_count    words counted less often, in all classes together, are not used
    smoothing    pseudo-counts, or "auto"; None: the model's
    length       "as is": a long text counts for more than a short one; "normalised": the counts of each text that is
                 learnt are divided by their Euclidean norm (Rennie et al. 2003)
    length_column  whether the number of words is a column of its own beside them, "text.length" beside "text"
    prior        "flat": `smoothing` pseudo-counts for every word; "pooled": so many tokens of all classes together
    neighbours   1 or 2: a word never seen is read as the known one most like it, if that is so many edits away
    function     a callable from text to tokens, instead of what follows
    min_length, case, accents, digits, punctuation, characters, stop_words, stem   what a word is: see `text.Tokens`
    """

    events: Events = "counts"
    ngrams: int | tuple[int, int] = 1
    buckets: int | None = None
    key: str | bytes | int | None = None
    min_count: float = 1
    smoothing: float | Literal["auto"] | None = None
    length: Literal["as is", "normalised"] = "as is"
    length_column: bool = False
    prior: Literal["flat", "pooled"] = "flat"
    neighbours: Literal[0, 1, 2] = 0
    function: Callable[[str], Iterable[str]] | None = None
    min_length: int = 2
    case: bool = False
    accents: bool = True
    digits: bool = True
    punctuation: bool = False
    characters: tuple[int, int] | None = None
    stop_words: frozenset[str] = frozenset()
    stem: str | None = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = native(getattr(self, field.name))
            if field.name in ("ngrams", "characters") and isinstance(value, (list, tuple)):
                value = tuple(map(native, value))
            object.__setattr__(self, field.name, value)
        one_of("Words: events", self.events, EVENTS)
        one_of("Words: prior", self.prior, ("flat", "pooled"))
        one_of("Words: length", self.length, ("as is", "normalised"))
        if self.smoothing is not None:
            object.__setattr__(self, "smoothing", smoothing_of(self.smoothing, "Words: "))
        if self.length == "normalised" and self.events == "bernoulli":
            raise ValueError("Words: length='normalised' and events='bernoulli': a word there or not has no length")
        if not is_buckets(self.buckets):
            raise ValueError(f"Words: buckets={self.buckets!r}: expected a power of two from 2^8 to 2^24, or None")
        if isinstance(self.key, (str, bytes)) and self.key:
            object.__setattr__(self, "key", _seed(self.key))
        if self.key is not None and not (is_whole(self.key) and 0 < int(self.key) <= MASK):
            raise ValueError(
                "Words: key is no secret: expected a text, bytes, or a number such as secrets.randbits(64)"
            )
        if self.key is not None and self.buckets is None:
            raise ValueError(
                "Words: key without buckets: a file holds the words themselves then; give buckets=2**20 too"
            )
        if isinstance(self.stop_words, Collection) and not isinstance(self.stop_words, (str, bytes, frozenset)):
            object.__setattr__(self, "stop_words", frozenset(self.stop_words))
        for name, right, expected in (
            ("min_count", is_number(self.min_count) and self.min_count >= 0, "0 or more"),
            ("ngrams", is_whole(self.ngrams) or _is_pair(self.ngrams), "a number of words, or (shortest, longest)"),
            (
                "characters",
                self.characters is None or (_is_pair(self.characters) and max(self.characters) <= LONGEST),
                f"(shortest, longest) up to {LONGEST}, or None",
            ),
            ("neighbours", is_whole(self.neighbours) and 0 <= self.neighbours <= 2, "0, 1 or 2 edits"),
            ("min_length", is_whole(self.min_length) and self.min_length <= LONGEST, f"a number from 1 to {LONGEST}"),
            ("stop_words", _are_texts(self.stop_words), "a set of words"),
            ("stem", self.stem is None or isinstance(self.stem, str), "a language, as 'english', or None"),
            ("function", self.function is None or callable(self.function), "a callable from text to tokens, or None"),
            *((name, isinstance(getattr(self, name), bool), "True or False") for name in FLAGS),
        ):
            if not right:
                raise ValueError(f"Words: {name}={getattr(self, name)!r}: expected {expected}")
        if self.neighbours and self.buckets is not None:
            raise ValueError("Words: neighbours and buckets are both given: buckets keep no words to be alike")
        if self.neighbours and self.characters is not None:
            raise ValueError("Words: neighbours and characters are both given: words alike share their characters")
        try:
            self.tokens  # noqa: B018  refuses what is no way to cut words
        except ValueError as error:
            raise ValueError(f"Words: {error}") from None

    @functools.cached_property
    def tokens(self) -> Tokens:
        """How a document is cut into tokens."""
        return Tokens(**{name: getattr(self, name) for name in Tokens._fields if hasattr(self, name)})

    @property
    def seed(self) -> int:
        """What the words' keys are mixed with; 0 where there is no secret."""
        return self.key if isinstance(self.key, int) else 0

    @property
    def distinct(self) -> bool:
        """Whether a word counts once a document."""
        return self.events in ("present", "bernoulli")

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={'…' if field.name == 'key' else _brief(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"Words({', '.join(changed)})"


def _seed(secret: str | bytes) -> int:
    """64 bits that no one can turn back into the secret; never 0, which stands for none."""
    from hashlib import blake2b

    raw = encoded(secret) if isinstance(secret, str) else secret
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little") or 1


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(map(is_whole, value))


def _are_texts(value: Any) -> bool:
    return isinstance(value, frozenset) and all(isinstance(word, str) for word in value)


def _brief(value: Any) -> str:
    return f"{len(value)} words" if isinstance(value, frozenset) else repr(value)
