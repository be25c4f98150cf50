"""Policies that see a context before each round: linear regression for each arm, from its Gram tally."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds.arguments import is_number
from evenodds.bandits import kernels
from evenodds.bandits.dice import Dice
from evenodds.bandits.policies import Policy, even, settings_row
from evenodds.errors import DataError
from evenodds.families import Family
from evenodds.labels import Fixed
from evenodds.tally import Leaf, Tally

Floats = NDArray[np.float64]
X = "context"


@dataclass(frozen=True, eq=False)
class LinearArms:
    """The sums of linear regression for each arm, Σ x x' and Σ r x: they add, subtract and fade as all tallies do.

    >>> arms = LinearArms.nothing(1, 2).learn_at([1.0, 2.0], 0, 3.0).learn_at([1.0, 0.0], 0, 1.0)
    >>> arms.gram[0].tolist(), arms.cross[0].tolist()
    ([[2.0, 2.0], [2.0, 4.0]], [4.0, 6.0])
    """

    tally: Tally
    context: Floats

    @classmethod
    def nothing(cls, arms: int, width: int) -> LinearArms:
        """Arms that were never pulled."""
        return cls(_tally(np.zeros(width), 0.0, arms, 0), np.zeros(width))

    def __len__(self) -> int:
        return len(self.tally.groups)

    def seeing(self, context: Floats) -> LinearArms:
        """The same arms before a round of this context."""
        return replace(self, context=np.asarray(context, float))

    def learn(self, arm: int, reward: float) -> LinearArms:
        """These arms and one more reward, in the context that is seen."""
        return self.learn_at(self.context, arm, reward)

    def learn_at(self, context: Any, arm: int, reward: float) -> LinearArms:
        """These arms and one more reward, in some context."""
        return replace(self, tally=self.tally + _tally(np.asarray(context, float), float(reward), len(self), arm))

    @cached_property
    def gram(self) -> Floats:
        """Σ x x', (arms, width, width)."""
        width = len(self.tally[X, "cross"])
        return self.tally[X, "gram"].T.reshape(len(self), width, width)

    @cached_property
    def cross(self) -> Floats:
        """Σ r x, (arms, width)."""
        return self.tally[X, "cross"].T


def _tally(x: Floats, reward: float, arms: int, arm: int) -> Tally:
    """The sums of one reward of an arm in context x: products of two doubles, and what rounding took from them."""
    width = len(x)
    gram, cross = np.zeros((2, width * width, arms)), np.zeros((2, width, arms))
    gram[:, :, arm] = dd.multiply(dd.of(np.repeat(x, width)), dd.of(np.tile(x, width)))
    cross[:, :, arm] = dd.multiply(dd.of(x), dd.of(np.full(width, reward)))
    leaves = {
        (X, "gram"): Leaf(Fixed(width * width), gram, is_sum=True),
        (X, "cross"): Leaf(Fixed(width), cross, is_sum=True),
    }
    return Tally.of(Fixed(arms), leaves)


@dataclass(frozen=True)
class LinUCB(Policy):
    """Optimism with contexts (Li, Chu, Langford and Schapire 2010): the arm whose mean at x could be highest.

    x·w + c · sqrt(x'A⁻¹x),   A = ridge·I + Σ x x',   w = A⁻¹ Σ r x

    >>> arms = LinearArms.nothing(2, 2).learn_at([1.0, 1.0], 0, 1.0).seeing([1.0, 0.0])
    >>> LinUCB().index(arms, 2).round(4)
    array([1.1498, 1.    ])
    """

    c: float = 1.0
    ridge: float = 1.0

    def __post_init__(self) -> None:
        if not (is_number(self.c) and self.c >= 0 and is_number(self.ridge, above=0)):
            raise ValueError(
                f"c={self.c!r}, ridge={self.ridge!r}: expected a c from 0 and a ridge above 0, both finite"
            )

    def check(self, width: int) -> None:
        """It needs contexts."""
        if not width:
            raise DataError(f"{self.name} needs contexts, and this world has none; take a world made with linear(...)")

    def start(self, family: type[Family], arms: int, width: int) -> LinearArms:
        """Nothing known."""
        return LinearArms.nothing(arms, width)

    def scores(self, arms: LinearArms) -> tuple[Floats, Floats]:
        """Each arm's estimate at the context, and its standard error in units of the noise."""
        along = np.linalg.solve(arms.gram + self.ridge * np.eye(len(arms.context)), arms.context[:, None])[..., 0]
        return np.sum(along * arms.cross, axis=1), np.sqrt(np.maximum(along @ arms.context, 0.0))

    def index(self, arms: LinearArms, t: float) -> Floats:
        """The upper bound."""
        mean, error = self.scores(arms)
        return mean + self.c * error

    def shares(self, arms: LinearArms, t: float) -> Floats:  # type: ignore[override]
        """All on the best."""
        return even(self.index(arms, t))

    def learn(self, arms: LinearArms, t: float, arm: int, reward: float) -> Any:  # type: ignore[override]
        """The reward at its context."""
        return arms.learn(arm, reward)

    def settings(self, family: type[Family]) -> list[float]:
        """The constant and the ridge."""
        return settings_row(kernels.LIN_UCB, self.c, self.ridge)


@dataclass(frozen=True)
class LinThompson(LinUCB):
    """Thompson sampling with contexts (Agrawal and Goyal 2013): w drawn from N(A⁻¹ Σ r x, c² A⁻¹) for each arm.

    Of the draw only x·w matters, which is normal with mean x·A⁻¹Σrx and variance c² x'A⁻¹x.
    """

    def choose(self, arms: LinearArms, t: float, dice: Dice) -> int:  # type: ignore[override]
        """The arm whose draw is highest."""
        return dice.best([m + self.c * e * dice.normal() for m, e in zip(*self.scores(arms))])

    def shares(self, arms: LinearArms, t: float) -> Floats:  # type: ignore[override]
        """The probability that each draw is the highest."""
        from evenodds.bandits.likeliest import best_shares
        from evenodds.families import NormalInverseGamma

        mean, error = self.scores(arms)
        ones = np.ones(len(mean))  # a Student t of so many degrees is a normal distribution
        return best_shares(
            NormalInverseGamma(mean, 1 / np.maximum(error, 1e-150) ** 2, ones * 1e9, ones * 1e9 * self.c**2)
        )

    def settings(self, family: type[Family]) -> list[float]:
        """The constant and the ridge."""
        return settings_row(kernels.LIN_THOMPSON, self.c, self.ridge)
