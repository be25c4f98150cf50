"""Policies for worlds that change: old rewards are forgotten, or fade. The tally does both; the policy stays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import is_number, is_whole
from evenodds.bandits import kernels
from evenodds.bandits.arms import Arms
from evenodds.bandits.dice import Dice
from evenodds.bandits.policies import UCB, EpsilonGreedy, Greedy, Policy, Thompson
from evenodds.families import Family

Floats = NDArray[np.float64]


class _Remembers(Policy):
    """A policy that sees a part of the past; its round is one more than the rewards it still knows."""

    policy: Policy

    def __post_init__(self) -> None:
        if not isinstance(self.policy, Greedy | EpsilonGreedy | UCB | Thompson):
            name = self.policy.name if isinstance(self.policy, Policy) else repr(self.policy)
            raise ValueError(f"{name} has no form that forgets; take Greedy, EpsilonGreedy, UCB or Thompson")

    def index(self, arms: Arms, t: float) -> Floats:
        """Its policy's."""
        return self.policy.index(arms, 1.0 + float(arms.n.sum()))

    def choose(self, arms: Arms, t: float, dice: Dice) -> int:
        """Its policy's choice."""
        return self.policy.choose(arms, 1.0 + float(arms.n.sum()), dice)

    def shares(self, arms: Arms, t: float) -> Floats:
        """Its policy's."""
        return self.policy.shares(arms, 1.0 + float(arms.n.sum()))


@dataclass(frozen=True)
class Windowed(_Remembers):
    """A policy that knows the last rounds alone (Garivier and Moulines 2011): the oldest reward is subtracted.

    >>> from evenodds.families import Bernoulli
    >>> short = Windowed(Greedy(), 2)
    >>> arms = Arms.nothing(Bernoulli, 2)
    >>> for t, (arm, reward) in enumerate([(0, 1), (1, 0), (1, 1)], 1):
    ...     arms = short.learn(arms, t, arm, reward)
    >>> arms.n  # of three rewards, the last two
    array([0., 2.])
    """

    policy: Policy
    window: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_whole(self.window) and self.window >= 1):
            raise ValueError(f"window={self.window}: expected a whole number of rounds from 1 on")

    def learn(self, arms: Arms, t: float, arm: int, reward: float) -> Arms:
        """The new reward in, the oldest out."""
        past = (*arms.past, (arm, reward))
        if len(past) > self.window:
            arms, past = arms.forget(*past[0]), past[1:]
        return replace(self.policy.learn(arms, t, arm, reward), past=past)

    def settings(self, family: type[Family]) -> list[float]:
        """Its policy's, and the window."""
        row = self.policy.settings(family)
        row[kernels.WINDOW] = float(self.window)
        return row


@dataclass(frozen=True)
class Fading(_Remembers):
    """A policy for which every reward is worth a little less each round: the tally is scaled (discounted UCB, ...)."""

    policy: Policy
    factor: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_number(self.factor, above=0) and self.factor < 1):
            raise ValueError(f"factor={self.factor!r}: expected a number between 0 and 1, such as 0.999")

    def learn(self, arms: Arms, t: float, arm: int, reward: float) -> Arms:
        """All rewards scaled, then the new one added."""
        return self.policy.learn(arms.fade(self.factor), t, arm, reward)

    def settings(self, family: type[Family]) -> list[float]:
        """Its policy's, and the factor."""
        row = self.policy.settings(family)
        row[kernels.DISCOUNT] = self.factor
        return row
