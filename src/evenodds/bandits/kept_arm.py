"""What an experiment's file keeps of an arm."""

from __future__ import annotations

from dataclasses import dataclass

from evenodds.double_double import two_sum
from evenodds.kernel import product_error

SUMS = ("n", "total", "total_low", "second", "second_low")


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
