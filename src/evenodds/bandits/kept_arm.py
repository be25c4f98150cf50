"""What an experiment's file keeps of an arm, and how a reward changes it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from evenodds.double_double import two_sum
from evenodds.errors import DataError, brief
from evenodds.families import Bernoulli, Family, Gaussian
from evenodds.kernel import product_error

SUMS = ("n", "total", "total_low", "second", "second_low")
SLACK = 1e-3  # of a sum of rewards that fade: what rounding may take from or add to it
COUNTS = ("retired", "decided", "rewarded")


@dataclass
class Arm:
    """What is kept of an arm: its sums, in the order of the table's columns."""

    place: int
    name: str
    retired: int = 0
    decided: int = 0
    rewarded: int = 0
    n: float = 0.0
    total: float = 0.0
    total_low: float = 0.0
    second: float = 0.0
    second_low: float = 0.0
    last: float = 0.0

    def learn(self, reward: float) -> None:
        """Add a reward, and what rounding takes from the sums beside them."""
        square = reward * reward
        self.n += 1
        self.rewarded += 1
        self.total, low = two_sum(self.total, reward)
        self.total_low += low
        self.second, low = two_sum(self.second, square)
        self.second_low += low + product_error(reward, reward, square)

    def fade(self, factor: float) -> None:
        """All its rewards worth less."""
        for name in SUMS:
            setattr(self, name, getattr(self, name) * factor)


def read_arms(rows: Iterable[tuple[Any, ...]], family: type[Family]) -> list[Arm]:
    """The arms as the rows of the file's table have them; what no such rewards can have left is refused."""
    arms = [Arm(*row) for row in rows]
    for place, arm in enumerate(arms):
        if arm.place != place or not isinstance(arm.name, str):
            raise DataError(f"its arm {place} has no place or no name")
        counts = [getattr(arm, name) for name in COUNTS]
        numbers = [*(getattr(arm, name) for name in SUMS), arm.last]
        right = all(isinstance(n, int) and n >= 0 for n in counts)
        right = right and all(isinstance(x, float) and math.isfinite(x) for x in numbers)
        right = right and 0 <= arm.n <= arm.rewarded <= arm.decided
        low, high = -math.inf if family is Gaussian else 0.0, arm.n if family is Bernoulli else math.inf
        right = right and low <= arm.total <= high and low - SLACK <= arm.total + arm.total_low <= high + SLACK
        if not right:
            raise DataError(f"the sums of its arm {brief(arm.name)} are none")
    if all(arm.retired for arm in arms):
        raise DataError("it has no arm that can be chosen")
    return arms


def learn(arms: Collection[Arm], arm: Arm, reward: float, factor: float | None) -> Collection[Arm]:
    """Add a reward to one of some arms, after all of them have faded if they do; those that it changed."""
    if factor is None:
        arm.learn(reward)
        return (arm,)
    for each in arms:
        each.fade(factor)
    arm.learn(reward)
    return arms
