"""A tally in parts, by ranges of its labels' keys: parts of one range can be added apart from those of others.

A key is a hash, so ranges of equal width hold about as many words each. The parts add up to the tally, whichever way
each was cut: what is short goes whole with the first range.

>>> from evenodds.labels import Labels
>>> from evenodds.tally import Leaf
>>> towns = Labels.of(f"town {i}" for i in range(10_000))
>>> tally = Tally.of(Fixed(1), {("town", "labels"): Leaf(towns, np.ones((10_000, 1), np.int64))})
>>> parts = cut(tally)
>>> len(parts), Tally.total(parts.values()) == tally
(64, True)
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from evenodds.labels import Fixed, Keys, Labels
from evenodds.tally import Leaf, Name, Tally
from evenodds.text.counts import Counts
from evenodds.text.tables import Links, Sorted

BITS = 6  # of a key that name its range
LONG = 1 << 12  # labels, from which on a column's leaves are cut


def cut(tally: Tally) -> dict[int, Tally]:
    """The parts that are not empty, by the number of their range; the first has all that is not cut."""
    leaves, lists = _leaves(tally), {name: _counts(one) for name, one in tally.lists.items()}
    return {
        at: Tally.of(
            tally.groups,
            leaves.get(at, {}),
            {name: parts[at] for name, parts in lists.items() if at in parts},
        )
        for at in sorted({0}.union(leaves, *lists.values()))
    }


def _places(keys: Keys) -> list[int]:
    """Where each range begins among keys in their order, and where the last one ends."""
    starts = np.arange(1 << BITS, dtype=np.uint64) << np.uint64(64 - BITS)
    return [*np.searchsorted(keys, starts).tolist(), len(keys)]


def _leaves(tally: Tally) -> dict[int, dict[Name, Leaf]]:
    """The leaves of each range; a part of a column has all the column's leaves, some of them with zeros."""
    whole = {name: tally.leaf(name) for name in tally.layout.specs}
    long = {name[0] for name, leaf in whole.items() if isinstance(leaf.axis, Labels) and len(leaf.axis) >= LONG}
    found: dict[int, dict[Name, Leaf]] = {0: {name: leaf for name, leaf in whole.items() if name[0] not in long}}
    for name, leaf in whole.items():
        if name[0] not in long:
            continue
        ends = _places(leaf.axis.keys) if isinstance(leaf.axis, Labels) else []
        for at in range(1 << BITS):
            numbers: Any = leaf.numbers
            if ends:
                rows = np.arange(ends[at], ends[at + 1])
                part = Leaf(leaf.axis.take(rows), numbers[..., rows, :], leaf.is_sum)
            elif isinstance(leaf.axis, Fixed):
                part = Leaf(leaf.axis, numbers if at == 0 else np.zeros_like(numbers), leaf.is_sum)
            else:
                rows = np.arange(len(leaf.axis) if at == 0 else 0)
                part = Leaf(leaf.axis.take(rows), numbers[..., rows, :], leaf.is_sum)
            found.setdefault(at, {})[name] = part
    return found


def _counts(counts: Counts) -> dict[int, Counts]:
    """Words by their keys: each range has its part of the lists, the words' texts and the links."""
    lists, words, links = [_places(one.keys) for one in counts.lists], _places(counts.lexicon.keys), counts.links
    linked, nobody, found = _places(links.keys), np.zeros_like(counts.documents), {}
    for at in range(1 << BITS):
        part = [
            Sorted(one.keys[e[at] : e[at + 1]], one.numbers[e[at] : e[at + 1]]) for one, e in zip(counts.lists, lists)
        ]
        here = slice(linked[at], linked[at + 1])
        known = counts.lexicon.take(np.arange(words[at], words[at + 1]))
        if at and not len(known) and not any(len(one.keys) for one in part) and here.start == here.stop:
            continue
        found[at] = dataclasses.replace(
            counts,
            lists=tuple(part),
            documents=nobody if at else counts.documents,
            lexicon=known,
            links=Links(links.keys[here], links.numbers[here]),
            sample=None if at else counts.sample,
        )
    return found
