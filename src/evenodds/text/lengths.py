"""How long texts are, in words.

>>> lengths(Texts.of(["Free lunch, at 1!", None, ""]))
array([ 4., nan,  0.])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenodds.text.batches import BATCH, Reader
from evenodds.text.shards import replacing_table
from evenodds.text.tokenise import Tokens
from evenodds.texts import Texts

EVERY_WORD = Tokens(min_length=1)


def lengths(texts: Texts) -> NDArray[np.float64]:
    """How many words each text has, those of one letter too, whatever is made of them elsewhere; NaN for a null."""
    reader = Reader(texts, EVERY_WORD)
    found = np.empty(len(texts))
    for first, beyond in texts.pieces(BATCH):
        found[first:beyond] = np.diff(reader.read(first, beyond)[0].ends, prepend=0)
    found[~texts.known] = np.nan
    return found


def token_counts(
    texts: Texts, options: Tokens, *, distinct: bool = False, buckets: int | None = None
) -> NDArray[np.float64]:
    """How many tokens each text has, words and n-grams together, as they are weighed; 0 for a null."""
    replaced = replacing_table(texts, options, 1)
    reader = Reader(texts, options, distinct=distinct, replaced=replaced, buckets=buckets)
    found = np.empty(len(texts))
    for first, beyond in texts.pieces(BATCH):
        levels = reader.read(first, beyond)[options.lengths[0] - 1 :]
        found[first:beyond] = sum(np.diff(level.ends, prepend=0) for level in levels)
    return found
