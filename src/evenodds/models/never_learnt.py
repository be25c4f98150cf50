"""What a tally would have less than nothing of: what is forgotten must have been learnt."""

from __future__ import annotations

import numpy as np

from evenodds.data.sum import CLASSES
from evenodds.labels import Labels
from evenodds.tally import Tally
from evenodds.text.counts import Counts


def never_learnt(tally: Tally) -> str | None:
    """What there is less than none of, in words; None where every count is 0 or more."""
    counts = tally.counts if tally.counts.ndim == 1 else tally.counts[0]
    if np.any(counts < 0) or any(_less(one) is not None for one in tally.lists.values()):
        return _negative(tally)
    return None


def _less(words: Counts) -> tuple[str, int, float] | None:
    """A word that is counted less than never: the word, its group and the number."""
    for group, (keys, numbers) in enumerate(words.lists):
        below = np.flatnonzero(numbers < 0)
        if len(below):
            return words.text(int(keys[below[0]])), group, float(numbers[below[0]])
    return None


def _negative(tally: Tally) -> str:
    for (column, _), words in tally.lists.items():
        less = _less(words)
        if less is not None and isinstance(tally.groups, Labels):
            text, group, number = less
            return f"column {column!r} would have {text!r} {number:g} times in class {tally.groups.text(group)!r}"
    for name, spec in sorted(tally.layout.specs.items(), key=lambda item: item[0] == CLASSES):
        if not spec.is_sum and np.any(tally[name] < 0):
            row, group = np.argwhere(tally[name] < 0)[0]
            groups = tally.groups
            where = f" of class {groups.text(int(group))!r}" if isinstance(groups, Labels) else ""
            value = f" {spec.axis.text(int(row))!r}" if isinstance(spec.axis, Labels) else ""
            return f"column {name[0]!r} would have {tally[name][row, group]:g} rows{value}{where}"
    return "a count would be negative"
