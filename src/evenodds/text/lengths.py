"""How long texts are, in words.

>>> lengths(Texts.of(["Free lunch, at 1!", None, ""]))
array([ 4., nan,  0.])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenodds.text.batches import BATCH, Reader
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
