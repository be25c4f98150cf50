"""Documents scored without themselves where all counts are whole: `leave_kernels.multinomial`, in half the time.

Every count has its log in `table`, and a document weighs 1: nothing is rounded, and no branch depends on a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.instructions import fetch_soon, text_kernel

AHEAD = 16  # keys between asking for a slot and using it
FEW = 8  # classes, up to which weighing a word that is lost takes less than guessing wrong whether it is


@text_kernel
def whole_multinomial(
    rows: Any,
    times: Any,
    taken: Any,
    ends: Any,
    counts: Any,
    groups: Any,
    distinct: bool,
    table: Any,
    totals: Any,
    words: Any,
    known: Any,
    sums: Any,
) -> int:
    """sums[d, k] = Σ log mass(w, k), and the rest, as of `multinomial`; what is lost with a document is all its own."""
    t, many, wide = 0, len(rows), counts.shape[1]
    classes = wide - 1
    each, skipped = np.empty(classes), classes if classes > FEW else 0
    for d in range(len(ends)):
        g, there, less, lost = groups[d], 0.0, 0, 0
        each[:] = 0.0
        while t < ends[d]:
            fetch_soon(counts, max(rows[min(t + AHEAD, many - 1)], 0) * wide)
            row, own, x = rows[t], taken[t], 1.0 if distinct else float(times[t])
            t += 1
            if row < 0:
                continue
            line = counts[row]
            rest, gone = np.int64(line[g]) - own, line[classes] == own
            if rest < 0:
                return d
            less += own
            lost += gone
            x = 0.0 if gone else x
            there += x
            mine = each[g] + x * table[np.uint64(rest)]
            for k in range(classes - skipped * gone):
                each[k] += x * table[line[k]]
            each[g] = mine
        sums[d] = each
        totals[d, g] += less
        words[d] += lost
        known[d] = there
    return -1
