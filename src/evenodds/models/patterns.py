"""Rows by what they have: which of a table's rows have holes at the same places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenodds.labels import Ints

Flags = NDArray[np.bool_]


def patterns(known: Flags) -> list[tuple[Flags, Ints]]:
    """The different rows of a table of yes and no, and which rows are like each.

    >>> [(flags.tolist(), rows.tolist()) for flags, rows in patterns(np.array([[1, 1], [1, 0], [1, 1]]) > 0)]
    [([True, False], [1]), ([True, True], [0, 2])]
    """
    if not len(known):
        return []
    packed = np.packbits(known, axis=1)
    first = packed[0]
    if np.array_equal(packed, np.broadcast_to(first, packed.shape)):
        return [(known[0], np.arange(len(known)))]
    whole = packed.view(f"V{packed.shape[1]}").ravel()  # a row is one thing: sorted several times as fast as by axis=0
    _, start, where = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(where, kind="stable")
    cuts = np.cumsum(np.bincount(where))[:-1]
    return [(known[i], rows) for i, rows in zip(start, np.split(order, cuts))]
