"""The words that some lists of counts speak of, as one list: two texts with one key are refused.

>>> one_lexicon([Labels.of(["free", "beer"]), Labels.of(["free", "lunch"])]).texts()
['free', 'beer', 'lunch']
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenodds.errors import DataError, brief
from evenodds.kernel import frozen
from evenodds.labels import Labels, laid
from evenodds.text import table_kernels
from evenodds.text.tables import Links, fold_pairs

RANGES = 4  # of keys, which threads may join apart
FEW = 1 << 12  # words, below which that gains nothing


def one_lexicon(parts: Sequence[Labels]) -> Labels:
    """The words of any of these lexicons; two texts with one key are refused."""
    if len(parts) < 2:
        return parts[0] if parts else Labels.of([])
    blob = np.concatenate([part.blob for part in parts])
    before = np.cumsum([0, *(len(part.blob) for part in parts[:-1])])
    starts = np.concatenate([part.ends[:-1] + at for part, at in zip(parts, before)])
    stops = np.concatenate([part.ends[1:] + at for part, at in zip(parts, before)])
    first = np.cumsum([0, *(len(part) for part in parts[:-1])])
    lists = [Links(part.keys, np.arange(at, at + len(part), dtype=np.uint64)) for part, at in zip(parts, first)]

    def join(a: Links, b: Links) -> Links:
        both, ties = a.union(b)
        wrong = table_kernels.differ(ties, frozen(blob), starts, stops)
        if wrong >= 0:
            one, other = (blob[starts[i] : stops[i]].tobytes().decode() for i in ties[wrong].astype(np.int64))
            raise DataError(
                f"words {brief(one)} and {brief(other)} have the same 64-bit key; leave one out as a stop word"
            )
        return both

    keys, where = fold_pairs(lists, join)
    rows = where.view(np.int64)
    return Labels(keys, *laid(blob, starts[rows], stops[rows]))


def in_ranges(parts: Sequence[Labels]) -> list[list[Labels]]:
    """Lexicons cut by their keys into ranges, the same in each; `one_lexicon` of each range gives the whole in turn."""
    if sum(map(len, parts)) < FEW:
        return [list(parts)]
    tops = np.arange(1, RANGES, dtype=np.uint64) << np.uint64(62)
    cuts = [[0, *np.searchsorted(part.keys, tops).tolist(), len(part)] for part in parts]
    return [[_piece(part, cut[i], cut[i + 1]) for part, cut in zip(parts, cuts)] for i in range(RANGES)]


def end_to_end(ranges: Sequence[Labels]) -> Labels:
    """Lexicons whose keys come one after the other, as one."""
    if len(ranges) < 2:
        return ranges[0] if ranges else Labels.of([])
    before = np.cumsum([0, *(len(part.blob) for part in ranges[:-1])])
    ends = np.concatenate([[0], *(part.ends[1:] + at for part, at in zip(ranges, before))])
    return Labels(np.concatenate([part.keys for part in ranges]), np.concatenate([part.blob for part in ranges]), ends)


def _piece(part: Labels, first: int, beyond: int) -> Labels:
    start, stop = part.ends[first], part.ends[beyond]
    return Labels(part.keys[first:beyond], part.blob[start:stop], part.ends[first : beyond + 1] - start)
