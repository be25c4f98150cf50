"""Where the tokens of a document stand in it, so that it can be shown with them marked."""

from __future__ import annotations

import re
from typing import TypeAlias

from evenodds.text.keys import encoded
from evenodds.text.tokenise import MARKED, WORDS, Tokens, fold_of, stopped

Span: TypeAlias = tuple[int, int]
_RUN = re.compile("[^ ]+")


def places(document: str, options: Tokens = WORDS) -> tuple[str, list[list[Span]]]:
    """The document as it is read, and where the words (or characters) of each of its tokens are, as `keys` has them.

    What is not UTF-8 is read as �. Tokens that a function of the caller's own made stand nowhere.

    >>> places("Free prizes!", Tokens(ngrams=2))
    ('Free prizes!', [[(0, 4)], [(5, 11)], [(0, 4), (5, 11)]])
    """
    text = encoded(document).decode("utf-8", "replace")
    if options.function is not None:
        return text, []
    words = _words(text, options)
    if options.characters is not None:
        return text, _runs(words, *options.characters)
    spans = [(word[0], word[-1] + 1) for word in words]
    low, high = options.lengths
    return text, [spans[i : i + n] for n in range(low, high + 1) for i in range(len(spans) - n + 1)]


def _words(text: str, options: Tokens) -> list[list[int]]:
    """For every letter of every word where in the text it comes from; folding may make several letters of one."""
    fold, stop = fold_of(options), stopped(options) if options.stop_words else frozenset()
    pieces = [fold[ord(letter)] for letter in text]
    origin = [i for i, piece in enumerate(pieces) for _ in piece]
    found = []
    for run in _RUN.finditer("".join(pieces)):
        word, first = run.group(), run.start()
        if word[0] == MARKED:
            word, first = word[1:], first + 1
        elif len(word) < options.min_length:
            continue
        if word.encode() not in stop:
            found.append(origin[first : run.end()])
    return found


def _runs(words: list[list[int]], shortest: int, longest: int) -> list[list[Span]]:
    """The letters of each run of characters; the spaces that set words apart stand nowhere."""
    letters: list[list[Span]] = [[]] if words else []
    for word in words:
        letters += [[(i, i + 1)] for i in word] + [[]]
    return [
        [span for letter in letters[i : i + n] for span in letter]
        for n in range(shortest, longest + 1)
        for i in range(len(letters) - n + 1)
    ]
