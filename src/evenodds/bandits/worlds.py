"""Worlds: what every arm would pay in every round."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.arguments import is_number
from evenodds.bandits import kernels
from evenodds.families import Bernoulli, Family, Gaussian, Poisson

Floats = NDArray[np.float64]
LEARNT: dict[int, tuple[int, type[Family]]] = {
    kernels.BERNOULLI: (kernels.BERNOULLI, Bernoulli),
    kernels.POISSON: (kernels.POISSON, Poisson),
}


@dataclass(frozen=True, eq=False)
class World:
    """Arms, and how their rewards come about. Make one with `bernoulli`, `gaussian`, `switching`, ...

    means  (rows, arms): row i holds from round at[i] on; where it is `smooth`, means go in straight lines to the next
    """

    kind: int
    means: Floats
    spread: float = 1.0
    at: tuple[int, ...] = (0,)
    smooth: bool = False

    @property
    def arms(self) -> int:
        """How many."""
        return len(self.means) if self.kind == kernels.LINEAR else self.means.shape[1]

    @property
    def width(self) -> int:
        """How many numbers a context has; none in a world without contexts."""
        return self.means.shape[1] if self.kind == kernels.LINEAR else 0

    @property
    def learnt(self) -> tuple[int, type[Family]]:
        """What a policy takes the rewards for: the kernels' number for it, and the family."""
        if self.kind == kernels.GIVEN and np.isin(self.means, (0.0, 1.0)).all():
            return kernels.BERNOULLI, Bernoulli
        return LEARNT.get(self.kind, (kernels.GAUSSIAN, Gaussian))

    def table(self, rounds: int) -> Floats:
        """The means as the kernels want them: a row for each round, or one row for all of them."""
        if self.kind == kernels.GIVEN and len(self.means) < rounds:
            raise ValueError(f"the sequence has {len(self.means):,} rounds, {rounds:,} were asked for")
        if self.kind in (kernels.GIVEN, kernels.LINEAR) or len(self.means) == 1:
            return self.means
        t = np.arange(rounds)
        if self.smooth:
            return np.column_stack([np.interp(t, self.at, column) for column in self.means.T])
        return self.means[np.searchsorted(self.at, t, side="right") - 1]


def bernoulli(means: ArrayLike) -> World:
    """Arms that pay 1 with these probabilities, and otherwise nothing."""
    return World(kernels.BERNOULLI, _probabilities(_row(means)))


def gaussian(means: ArrayLike, spread: float = 1.0) -> World:
    """Arms that pay about these means, with this standard deviation."""
    return World(kernels.GAUSSIAN, _arms(_row(means)), _spread(spread))


def poisson(means: ArrayLike) -> World:
    """Arms that pay counts with these means."""
    rates = _arms(_row(means))
    if (rates < 0).any() or (rates > 500).any():
        raise ValueError("the means of counts must be from 0 to 500")
    return World(kernels.POISSON, rates)


def switching(means: Sequence[ArrayLike], at: Sequence[int]) -> World:
    """Bernoulli arms whose means are the first of some rows, and change at once after these numbers of rounds.

    >>> switching([[0.9, 0.1], [0.1, 0.9]], at=[2]).table(4)[:, 0]
    array([0.9, 0.9, 0.1, 0.1])
    """
    rows = _probabilities(np.array([np.asarray(row, float) for row in means]))
    return World(kernels.BERNOULLI, rows, at=_times(rows, at))


def drifting(means: Sequence[ArrayLike], at: Sequence[int]) -> World:
    """Bernoulli arms whose means go in straight lines from row to row, and reach them after these numbers of rounds.

    >>> drifting([[0.9, 0.1], [0.1, 0.9]], at=[4]).table(5)[:, 0]
    array([0.9, 0.7, 0.5, 0.3, 0.1])
    """
    rows = _probabilities(np.array([np.asarray(row, float) for row in means]))
    return World(kernels.BERNOULLI, rows, at=_times(rows, at), smooth=True)


def adversarial(rewards: ArrayLike) -> World:
    """The rewards themselves, (rounds, arms), thought out by someone else: the same in every run."""
    given = _arms(np.asarray(rewards, float))
    if not np.isfinite(given).all():
        raise ValueError("rewards must be finite numbers")
    return World(kernels.GIVEN, given)


def linear(coefficients: ArrayLike, spread: float = 0.1) -> World:
    """Arms whose means depend on a context x that is seen before each round: mean of arm a = coefficients[a] · x.

    The first number of x is 1, the others are between -1 and 1.
    """
    return World(kernels.LINEAR, _arms(np.asarray(coefficients, float).T).T.copy(), _spread(spread))


def world_of(arms: Any) -> World:
    """A world as it is, or Bernoulli arms of these means."""
    return arms if isinstance(arms, World) else bernoulli(arms)


def _row(means: ArrayLike) -> Floats:
    """The means of arms that stay as they are, as the one row of a table."""
    row = np.atleast_1d(np.asarray(means, float))
    if row.ndim != 1:
        raise ValueError(
            f"the means have the shape {row.shape}: expected one for each arm; arms that change are made by switching "
            "or drifting"
        )
    return row[None]


def _arms(means: Floats) -> Floats:
    if means.ndim != 2 or means.shape[1] < 1 or not np.isfinite(means).all():
        raise ValueError(f"expected the means of at least one arm, finite numbers, not {means.tolist()!r:.60}")
    return np.ascontiguousarray(means)


def _probabilities(means: Floats) -> Floats:
    bad = means[~((means >= 0) & (means <= 1))]
    if bad.size:
        raise ValueError(f"the mean {bad.flat[0]:g} is no probability: Bernoulli arms have means from 0 to 1")
    return _arms(means)


def _spread(spread: float) -> float:
    if not (is_number(spread) and spread >= 0):
        raise ValueError(f"spread={spread!r}: expected a standard deviation, 0 or more")
    return float(spread)


def _times(rows: Floats, at: Sequence[int]) -> tuple[int, ...]:
    times = (0, *(int(t) for t in at))
    if len(times) != len(rows) or any(b <= a for a, b in itertools.pairwise(times)):
        raise ValueError(
            f"at={list(at)!r}: expected {len(rows) - 1} growing numbers of rounds, one for each row but one"
        )
    return times
