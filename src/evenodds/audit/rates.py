"""What is said of a group, as shares of counts: each with what is known of it, a Beta.

The confusion counts of a class give every one of them:

base rate       (TP + FN) / n         is so
selection rate  (TP + FP) / n         is said to be so
TPR             TP / (TP + FN)        is said to be so, of those that are
FNR             FN / (TP + FN)        is said not to be so, of those that are
FPR             FP / (FP + TN)        is said to be so, of those that are not
PPV             TP / (TP + FP)        is so, of those of which it was said
accuracy        right / n
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenodds import double_double as dd
from evenodds.families import Bernoulli, Beta
from evenodds.families.base import COLUMN
from evenodds.families.leaves import Floats
from evenodds.families.smoothing import auto_smoothing
from evenodds.labels import Fixed
from evenodds.tally import Leaf, Tally

MEASURES = ("base rate", "selection rate", "TPR", "FPR", "FNR", "PPV", "accuracy")


class Rate(NamedTuple):
    """k of n, what is known of the share, and what the other groups add to that where n is small.

    low, high      the exact credible interval from this group's rows alone and a flat prior: central, but of none or
                   all from there on
    a, b           of the Beta that gaps are judged by: flat prior, or, if small, pooled with the other groups
    """

    k: float
    n: float
    low: float
    high: float
    small: bool
    a: float
    b: float

    @property
    def rate(self) -> float | None:
        """The share itself; None of nothing."""
        return self.k / self.n if self.n > 0 else None

    @property
    def expected(self) -> float:
        """The mean of what is known: of a small group drawn towards the others."""
        return self.a / (self.a + self.b)

    def interval(self, level: float) -> tuple[float, float]:
        """The credible interval of what is known: of a small group narrower than from its own rows alone."""
        return Beta(self.a, self.b).interval(level)


def confusion(counts: Floats, c: int) -> dict[str, tuple[Floats, Floats]]:
    """k and n of each measure of class c, from rows (groups, true, predicted), with the same classes along both."""
    n = counts.sum(axis=(1, 2))
    true, said = counts[:, c].sum(axis=1), counts[:, :, c].sum(axis=1)
    hit = counts[:, c, c]
    right = np.trace(counts, axis1=1, axis2=2)
    return {
        "base rate": (true, n),
        "selection rate": (said, n),
        "TPR": (hit, true),
        "FPR": (said - hit, n - true),
        "FNR": (true - hit, true),
        "PPV": (hit, said),
        "accuracy": (right, n),
    }


def rates(k: Floats, n: Floats, level: float, small: float) -> list[Rate]:
    """The share of each group. Small ones are pooled: a prior of all groups' share, as strong as the groups are alike.

    How strong is chosen as smoothing is: the rows of each group, left out, are to be predicted best.

    >>> one, two = rates(np.array([805.0, 2.0]), np.array([1795.0, 23.0]), 0.95, 30)
    >>> f"{one.rate:.4f} {one.low:.4f} {one.high:.4f}", f"{two.low:.4f} {two.high:.4f}", two.expected > two.rate
    ('0.4485 0.4256 0.4716', '0.0266 0.2700', True)
    """
    k, n = np.round(k, 9), np.round(n, 9)
    sides = Tally.of(Fixed(len(k)), {("", "sides"): Leaf(Fixed(2), dd.of(np.array([np.maximum(n - k, 0.0), k])))})
    grouped = Bernoulli.table(sides)  # (2, groups) also of one group
    alone = Beta(1.0 + grouped[1], 1.0 + grouped[0])
    low, high = map(np.atleast_1d, alone.span(level))
    few = n < small
    if few.any() and len(k) > 1 and n.sum() > 0:
        strength = max(auto_smoothing(Bernoulli, sides, "pooled", COLUMN), 2.0)  # no weaker than the flat prior
        share = Beta(1.0 + grouped[1].sum(), 1.0 + grouped[0].sum()).mean  # inside of 0 and 1, also of one side alone
        prior = Beta(strength * share, strength * (1 - share))
    else:
        prior = Beta(1.0, 1.0)
    a = np.where(few, prior.a, 1.0) + grouped[1]
    b = np.where(few, prior.b, 1.0) + grouped[0]
    columns = (k, n, low, high, few, a, b)
    return [Rate(*line) for line in zip(*(column.tolist() for column in columns))]
