"""What is known of some arms: a tally of rewards whose groups are the arms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds.errors import DataError
from evenodds.families import Bernoulli, Family, Gaussian, Poisson, numeric
from evenodds.families.base import COLUMN, LARGEST
from evenodds.families.leaves import Rows, read_exactly
from evenodds.labels import Fixed
from evenodds.tally import Leaf, Tally

Floats = NDArray[np.float64]
FAMILIES: dict[str, type[Family]] = {family.name: family for family in (Bernoulli, Gaussian, Poisson)}
LEAVES: dict[type[Family], tuple[str, int]] = {Bernoulli: ("sides", 1), Poisson: ("events", 0)}  # where Σ reward is
REWARD = "reward"


@dataclass(frozen=True, eq=False)
class Arms:
    """The rewards of each arm, tallied: they add, are forgotten by subtracting, and fade by scaling.

    Two arms, the first of which was pulled three times and paid twice:

    >>> arms = Arms.nothing(Bernoulli, 2)
    >>> for arm, reward in [(0, 1), (0, 0), (1, 0), (0, 1)]:
    ...     arms = arms.learn(arm, reward)
    >>> arms.n, arms.mean.round(3)
    (array([3., 1.]), array([0.667, 0.   ]))
    """

    family: type[Family]
    tally: Tally
    past: tuple[tuple[int, float], ...] = ()  # the rewards in order, where a policy is to forget them in time

    @classmethod
    def nothing(cls, family: type[Family], arms: int) -> Arms:
        """Arms that were never pulled."""
        none = Rows(np.zeros(0, np.int32), arms)
        return cls(family, Tally.of(Fixed(arms), family.leaves([np.zeros(0)], none, {REWARD: COLUMN})))

    @classmethod
    def of_sums(cls, family: type[Family], n: Any, total: Any, squares: Any) -> Arms:
        """Arms whose number of rewards, Σ reward and Σ reward² are known, as numbers or double-doubles (2, arms)."""
        rows, sums, second = np.asarray(n)[None], _exactly(total), _exactly(squares)
        if family is Bernoulli:
            heads = dd.value(sums)
            leaves = {"sides": Leaf(Fixed(2), _counts(np.concatenate([rows - heads, heads])))}
        else:
            leaves = {"rows": Leaf(Fixed(1), _counts(rows))}
            if family is Poisson:
                second = np.zeros_like(sums)  # Σ log x!, which no rate depends on
            leaves["events" if family is Poisson else "moments"] = Leaf(
                Fixed(2), np.concatenate([sums, second], axis=1), is_sum=True
            )
        return cls(family, Tally.of(Fixed(rows.shape[1]), {(REWARD, name): leaf for name, leaf in leaves.items()}))

    def __len__(self) -> int:
        return len(self.tally.groups)

    def seeing(self, context: Floats) -> Arms:
        """The same: a context tells these arms nothing."""
        return self

    def learn(self, arm: int, reward: float, weight: float | None = None) -> Arms:
        """These arms and one more reward; with a weight, so much of it."""
        return replace(self, tally=self.tally + self.one(arm, reward, weight))

    def forget(self, arm: int, reward: float) -> Arms:
        """As if that reward had never been."""
        return replace(self, tally=self.tally - self.one(arm, reward, None))

    def fade(self, factor: float) -> Arms:
        """All rewards worth less."""
        return replace(self, tally=self.tally * factor)

    def one(self, arm: int, reward: float, weight: float | None) -> Tally:
        """The tally of one reward."""
        rows = Rows(np.array([arm], np.int32), len(self), None if weight is None else np.array([weight]))
        return Tally.of(Fixed(len(self)), self.family.leaves([np.array([float(reward)])], rows, {REWARD: COLUMN}))

    @cached_property
    def n(self) -> Floats:
        """How often each was rewarded."""
        leaf = "sides" if self.family is Bernoulli else "rows"
        return self.tally[REWARD, leaf].astype(float).sum(axis=0)

    @cached_property
    def total(self) -> Floats:
        """Σ reward of each."""
        leaf, row = LEAVES.get(self.family, ("moments", 0))
        return self.tally[REWARD, leaf].astype(float)[row]

    @cached_property
    def mean(self) -> Floats:
        """The mean reward of each; 0 where there is none."""
        if self.family is Gaussian:
            with np.errstate(invalid="ignore", divide="ignore"):
                sums, n = (read_exactly(self.tally, leaf) for leaf in ("moments", "rows"))
                mean = numeric.centred(n.reshape(2, len(self)), sums.reshape(2, 2, len(self)))[1]
            return np.where(self.n > 0, mean, 0.0)
        return np.divide(self.total, self.n, out=np.zeros(len(self)), where=self.n > 0)

    def posterior(self, prior: Any = None) -> Any:
        """What is known of each arm's mean: Beta, Gamma or NormalInverseGamma, batched over the arms."""
        with np.errstate(invalid="ignore", divide="ignore"):  # of an arm never pulled, a flat prior says nothing
            return self.family.posterior(self.tally, prior)


def check_reward(family: type[Family], reward: Any, low: float | None = None, high: float | None = None) -> float:
    """The reward as a number, if such an arm can give it."""
    try:
        value = float(reward)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"the reward {reward!r:.80} is no number, or too large for one") from None
    if LARGEST < abs(value) < np.inf:
        raise DataError(f"the reward {value:g} is too large: its square must be a number too, up to {LARGEST:g}")
    if np.isnan(value) or family.impossible(np.array([value]))[0]:
        raise DataError(
            f"the reward {value:g} cannot be: a {family.__name__} arm {family.holds.replace('holds', 'gives')}"
        )
    if (low is not None and value < low) or (high is not None and value > high):
        raise DataError(f"the reward {value:g} is out of range: expected {low:g} to {high:g}")
    return value


def _exactly(sums: Any) -> Floats:
    """Sums as double-doubles (2, 1, arms)."""
    numbers = np.asarray(sums, float)
    return (dd.of(numbers) if numbers.ndim == 1 else numbers)[:, None]


def _counts(numbers: Floats) -> NDArray[Any]:
    """Counts as integers while they are whole, as double-doubles once they have faded."""
    return numbers.astype(np.int64) if np.all(numbers == np.floor(numbers)) else dd.of(numbers.astype(float))
