"""The distinct tokens of one document as a person reads them; numpy is not needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from evenodds.text.keys import bucket_key, encoded
from evenodds.text.tokenise import WORDS, Tokens, keys_of, texts_of, words

ReadAs: TypeAlias = Callable[[Iterable[bytes]], Mapping[bytes, bytes]]  # which of some words are read as others


class Listed(NamedTuple):
    """One of the distinct tokens of a document.

    text: as it is shown. times: how often it counts. key: of its weights. tokens: which of the document's tokens it is.
    """

    text: str
    times: int
    key: int
    tokens: tuple[int, ...]


STEEPEST = 16.0  # a shrink: to the power of more, the longest text's length would be no number


def shrunk(tokens: int, shrink: float) -> float:
    """How much each token of a text counts that has so many: tokens^-shrink."""
    return float(max(tokens, 1)) ** -shrink


def listed(
    document: str,
    options: Tokens = WORDS,
    *,
    buckets: int | None = None,
    distinct: bool = False,
    read_as: ReadAs | None = None,
) -> list[Listed]:
    """The distinct tokens of a document, in order of first appearance.

    With `distinct` each counts once; so does a bucket then, whichever of its tokens are there.

    >>> listed("Free beer, free lunch")[0]
    Listed(text='free', times=2, key=442457519294676164, tokens=(0, 2))
    >>> listed("fere lunch", read_as=lambda words: {b"fere": b"free"})[0].text
    'fere, read as free'
    """
    found = words(encoded(document), options)
    meant = found
    if read_as is not None:
        other = read_as(found)
        meant = [other.get(word, word) for word in found]
    found_here: dict[tuple[int, str], tuple[list[str], list[int]]] = {}
    each = zip(texts_of(found, options), texts_of(meant, options), keys_of(meant, options))
    for i, (text, as_text, key) in enumerate(each):
        shown = text if text == as_text else f"{text}, read as {as_text}"
        shown_so_far, tokens = found_here.setdefault((bucket_key(key, buckets), "" if distinct else shown), ([], []))
        tokens.append(i)
        if shown not in shown_so_far:
            shown_so_far.append(shown)
    return [
        Listed(" / ".join(shown), 1 if distinct else len(tokens), key, tuple(tokens))
        for (key, _), (shown, tokens) in found_here.items()
    ]
