"""The key of `labels.key`, compiled: for label lists too long to hash one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenodds.kernel import kernel
from evenodds.labels import _MIX, _STEP

STEP, MIX = np.uint64(_STEP), np.uint64(_MIX)


@kernel
def hash_blob(blob: NDArray[np.uint8], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The keys of the texts blob[ends[i]:ends[i+1]]."""
    n = len(ends) - 1
    keys = np.empty(n, np.uint64)
    half = np.uint64(32)
    for t in range(n):
        h = np.uint64(0)
        start, stop = ends[t], ends[t + 1]
        for i in range(start, stop, 8):
            word = np.uint64(0)
            for j in range(i, min(i + 8, stop)):
                word |= np.uint64(blob[j]) << np.uint64(8 * (j - i))
            h = (h ^ word) * STEP
            h ^= h >> half
        h ^= np.uint64(stop - start)
        h = h * MIX
        h ^= h >> half
        h = h * MIX
        keys[t] = h ^ (h >> half)
    return keys
