"""What one pass of EM sums: expected tallies at the current parameters.

The group axis of the tally is the component. A row counts in each component's tally as much as it is expected to
belong to it: that is the family's own tally of the row, once for each component, weighted by its shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenodds import double_double as dd
from evenodds.data.sum import CLASSES
from evenodds.families.leaves import Floats
from evenodds.labels import Fixed, Grid
from evenodds.tally import Leaf, Name, Tally


@dataclass(frozen=True, eq=False)
class Expected:
    """The sum over some rows: their log-likelihood, how mixed their shares are, and the components' tallies."""

    log_likelihood: float
    entropy: float
    tally: Tally

    def __add__(self, other: Expected) -> Expected:
        return Expected(
            self.log_likelihood + other.log_likelihood, self.entropy + other.entropy, self.tally + other.tally
        )

    @property
    def counts(self) -> Floats:
        """How many rows each component is expected to have."""
        return np.asarray(self.tally[CLASSES][0], float)


def expected(sums: Floats, counts: Floats, leaves: dict[Name, Leaf]) -> Expected:
    """The sums of log-likelihood and entropy, the rows of each component, and its columns' leaves."""
    tally = Tally.of(components(len(counts)), {CLASSES: Leaf(Fixed(1), dd.of(counts[None])), **leaves})
    return Expected(float(sums[0]), float(sums[1]), tally)


def components(k: int) -> Grid:
    """The group axis: component 0, 1, 2, …"""
    return Grid(np.arange(k))
