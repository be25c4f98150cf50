"""What two columns tell of each other, as counted: mutual information, within each of the values of others if so asked.

    I(a; b | z) = Σ p(a, b, z) log( p(a, b | z) / (p(a | z) p(b | z)) )

2 n I is about a chi-squared variable with (|a| - 1)(|b| - 1) degrees of freedom for each z, where a and b are
independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenodds.families.leaves import Floats


class Information(NamedTuple):
    """n · I in nats, where n is what was counted, and its degrees of freedom."""

    nats: float
    degrees: float

    @property
    def excess(self) -> float:
        """What is beyond chance, which gives half of the degrees of freedom on average (Miller 1955)."""
        return max(self.nats - self.degrees / 2, 0.0)

    @property
    def p_value(self) -> float:
        """How often independent columns would come to more, by the likelihood-ratio test."""
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, 2 * self.nats)) if self.degrees else 1.0


def information(counts: Floats) -> Information:
    """What the last two sides of a table tell of each other: Σ n log(n / expected), over all of its layers.

    >>> information(np.array([[30.0, 10.0], [10.0, 30.0]]))
    Information(nats=10.46..., degrees=1.0)
    >>> round(information(np.array([[30.0, 10.0], [10.0, 30.0]])).p_value, 6)
    5e-06
    """
    seen = counts > 0
    some, told = counts[seen], expected(counts)[seen]
    free = [np.maximum(np.count_nonzero(counts.any(axis=side), axis=-1) - 1, 0) for side in (-1, -2)]
    return Information(max(float(some @ np.log(some / told)), 0.0), float(np.sum(free[0] * free[1])))


def expected(counts: Floats) -> Floats:
    """What each cell would count if the sides of every layer were independent: its margins' outer product."""
    total = counts.sum(axis=(-2, -1), keepdims=True)
    product = counts.sum(axis=-1, keepdims=True) * counts.sum(axis=-2, keepdims=True)
    return np.asarray(product / np.where(total > 0, total, 1.0))
