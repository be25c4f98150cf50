"""The dice that policies throw, in plain Python: the same numbers as the compiled ones, from the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.bandits import kernels
from evenodds.keys import key

Floats = NDArray[np.float64]


def seed_of(*parts: object) -> int:
    """A 64-bit start for dice, from anything that has a text: the seed, a policy, a run.

    >>> seed_of(0, "run", 1) == seed_of(0, "run", 1), seed_of(0, "run", 1) == seed_of(0, "run", 2)
    (True, False)
    """
    return key("\0".join(map(str, parts)).encode())


class Dice:
    """Random numbers that a seed decides.

    >>> dice = Dice(7)
    >>> [dice.below(6) + 1 for _ in range(8)]
    [3, 1, 6, 4, 3, 2, 3, 2]
    >>> Dice(7).best([0.5, 0.9, 0.9])
    1
    """

    def __init__(self, seed: int) -> None:
        self.place = np.uint64(seed)

    def _throw(self, how: Any, *arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # 64-bit numbers that run over are what makes the dice
            number, self.place = how(*arguments)
        return number

    def uniform(self) -> float:
        """A number from 0 to below 1."""
        return float(self._throw(kernels.uniform, self.place))

    def below(self, n: int) -> int:
        """One of 0, 1, ..., n - 1."""
        return int(self._throw(kernels.below, self.place, n))

    def normal(self) -> float:
        """A standard normal number."""
        return float(self._throw(kernels.normal, self.place))

    def gammas(self, *shapes: float) -> list[float]:
        """A Gamma(shape, 1) number for each shape; 0 where a shape is not above 0."""
        known = np.zeros((kernels.ROWS, len(shapes)))
        for j, shape in enumerate(shapes):
            kernels.shaped(known, j, shape)
        self._throw(lambda: (0, kernels.gammas(known, self.place)))
        return [float(number) for number in known[kernels.GAMMA]]

    def best(self, index: Sequence[float] | Floats) -> int:
        """The place of the largest number; thrown between equals."""
        return int(self._throw(kernels.best, np.asarray(index, float), self.place))

    def drawn(self, shares: Sequence[float] | Floats) -> int:
        """A place with these probabilities."""
        return int(self._throw(kernels.drawn, shares, self.place))
