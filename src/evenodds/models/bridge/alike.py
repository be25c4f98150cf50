"""A number for each row that its cells alone decide, so that what is held out does not depend on the rows' order.

>>> from evenodds import Categorical, Column, Gaussian
>>> from evenodds.data.memory import table
>>> schema = Schema({"age": Column(Gaussian), "sex": Column(Categorical)}, "survived")
>>> rows = table({"age": [30.0, 40.0, 30.0], "sex": ["f", "f", "f"]})
>>> a, b, c = alike(rows, schema)
>>> bool(a == c), bool(a == b)
(True, False)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import Coded
from evenodds.data.memory import Table
from evenodds.data.sum import cells
from evenodds.keys import encoded, key
from evenodds.labels import GOLDEN, hash_texts, mixed
from evenodds.schema import Schema
from evenodds.texts import Texts

Hashes = NDArray[np.uint64]


def alike(rows: Table, schema: Schema, seed: int = 0) -> Hashes:
    """The hash of each row's cells and the seed."""
    total = np.full(rows.rows, np.uint64(seed), np.uint64)
    for name in sorted(schema.features):
        own = _bits(cells(rows, name, schema.features[name])) ^ np.uint64(key(name.encode()))
        total = mixed(total + mixed(own + GOLDEN) + GOLDEN)
    return total


def _bits(x: Any) -> Hashes:
    """64 bits of each cell; the same for all that are missing."""
    if isinstance(x, Coded):
        return np.append(x.labels.keys, np.uint64(0))[x.places]
    if isinstance(x, Texts):
        known = [x.text(i) for i in range(len(x))]
        return hash_texts([b"" if text is None else encoded(text) for text in known])
    return np.where(np.isnan(x), np.nan, x + 0.0).astype(np.float64).view(np.uint64)  # -0.0 is 0.0
