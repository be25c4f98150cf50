"""Policies: which arm to pull, given what is known of all of them.

Each is a few lines over (arms, t, dice): the tallied rewards, the number of the round to be decided, and the dice. An
arm that was never pulled counts as +∞ and so comes first; the dice decide between equals. The compiled twins in
`kernels.py` make the same choices from the same dice.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import is_number, is_whole
from evenodds.bandits import kernels
from evenodds.bandits.arms import Arms
from evenodds.bandits.dice import Dice
from evenodds.bandits.likeliest import best_shares
from evenodds.families import Bernoulli, Beta, Family, Poisson

Floats = NDArray[np.float64]


class Policy:
    """How arms are chosen, and what is remembered of their rewards."""

    def check(self, width: int) -> None:
        """Refuse a world whose contexts have a width that it cannot use; most policies look at none."""

    def start(self, family: type[Family], arms: int, width: int) -> Any:
        """What is known before the first round: nothing."""
        return Arms.nothing(family, arms)

    def index(self, arms: Any, t: float) -> Floats:
        """What the arms are worth to it in round t; the largest is pulled."""
        raise NotImplementedError

    def choose(self, arms: Arms, t: float, dice: Dice) -> int:
        """The arm to pull in round t."""
        return dice.best(self.index(arms, t))

    def shares(self, arms: Arms, t: float) -> Floats:
        """The probability with which it pulls each arm in round t."""
        return even(self.index(arms, t))

    def learn(self, arms: Arms, t: float, arm: int, reward: float) -> Arms:
        """What is known after round t."""
        return arms.learn(arm, reward)

    def settings(self, family: type[Family]) -> list[float]:
        """Itself as the compiled policies read it: a code, four numbers, the window, the factor of fading."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Its name with its settings, as tables show it."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        parts = [f"{name}={_brief(value)}" for name, value in values.items() if value != math.inf]
        return f"{type(self).__name__}({', '.join(parts)})" if parts else type(self).__name__


def _share(x: float, y: float, p: Beta, dice: Dice) -> float:
    """A Beta number from two Gamma numbers; where both are too small for a double it is 0 or 1."""
    return x / (x + y) if x + y > 0 else float(dice.uniform() * (p.a + p.b) < p.a)


def even(index: Floats) -> Floats:
    """All probability on the largest, shared evenly among equals."""
    top = index == index.max()
    return top / top.sum()


def _brief(value: Any) -> str:
    if isinstance(value, Policy):
        return value.name
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def settings_row(code: int, *numbers: float) -> list[float]:
    """A code and four numbers at most, of a policy that forgets nothing."""
    return [float(code), *numbers, *[0.0] * (4 - len(numbers)), 0.0, 1.0]


@dataclass(frozen=True)
class Greedy(Policy):
    """Each arm once, then always the one with the best mean so far.

    The trap: arms that pay .6 and .5; the first is pulled and pays nothing, the second pays. That has probability
    .4 · .5 = .2, and the first arm is never pulled again, for its mean is 0 for good:

    >>> arms = Arms.nothing(Bernoulli, 2).learn(0, 0).learn(1, 1)
    >>> Greedy().choose(arms, 3, Dice(0)), Greedy().choose(arms.learn(1, 0).learn(1, 0), 5, Dice(0))
    (1, 1)
    """

    def index(self, arms: Arms, t: float) -> Floats:
        """The mean."""
        return np.where(arms.n > 0, arms.mean, np.inf)

    def settings(self, family: type[Family]) -> list[float]:
        """No numbers."""
        return settings_row(kernels.GREEDY)


@dataclass(frozen=True)
class ExploreThenExploit(Policy):
    """All arms evenly for T0 rounds, then for ever the one that was best.

    The arm pulled least is next, so that T0/K rounds go to each of K arms; where T0 is no multiple of K, some arms that
    the dice choose get one round more. Nothing is learnt after T0. An arm without a round (T0 < K) is never chosen.
    """

    T0: int

    def __post_init__(self) -> None:
        if not (is_whole(self.T0) and self.T0 >= 1):
            raise ValueError(f"T0={self.T0}: expected a whole number; at least one round is needed to explore")

    def index(self, arms: Arms, t: float) -> Floats:
        """How rarely it was pulled; after T0, its mean."""
        return -arms.n if t <= self.T0 else np.where(arms.n > 0, arms.mean, -np.inf)

    def learn(self, arms: Arms, t: float, arm: int, reward: float) -> Arms:
        """Rewards, up to round T0."""
        return arms.learn(arm, reward) if t <= self.T0 else arms

    def settings(self, family: type[Family]) -> list[float]:
        """T0."""
        return settings_row(kernels.EXPLORE, float(self.T0))


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Each arm once, then any arm with probability ε, and otherwise the best so far.

    ε stays as it is; with `since` it is ε · since/t from that round on, so that exploring costs but log T.

    >>> EpsilonGreedy(0.1).shares(Arms.nothing(Bernoulli, 2).learn(0, 1).learn(1, 0), 3)
    array([0.95, 0.05])
    """

    epsilon: float = 0.1
    since: float = math.inf

    def __post_init__(self) -> None:
        if not (is_number(self.epsilon) and 0 <= self.epsilon <= 1):
            raise ValueError(f"epsilon={self.epsilon!r}: expected a probability, from 0 to 1")
        if not (is_number(self.since, above=0) or self.since == math.inf):
            raise ValueError(f"since={self.since!r}: expected a number of rounds above 0")

    def index(self, arms: Arms, t: float) -> Floats:
        """The mean, as Greedy sees it."""
        return Greedy().index(arms, t)

    def exploring(self, t: float) -> float:
        """ε in round t."""
        return self.epsilon * min(1.0, self.since / t)

    def choose(self, arms: Arms, t: float, dice: Dice) -> int:
        """The best, or with probability ε any."""
        best = dice.best(self.index(arms, t))
        if arms.n.all() and dice.uniform() < self.exploring(t):
            return dice.below(len(arms))
        return best

    def shares(self, arms: Arms, t: float) -> Floats:
        """ε/K each, the rest to the best."""
        best = even(self.index(arms, t))
        return (1 - self.exploring(t)) * best + self.exploring(t) / len(arms) if arms.n.all() else best

    def settings(self, family: type[Family]) -> list[float]:
        """ε, and since when it shrinks."""
        return settings_row(kernels.EPSILON, self.epsilon, self.since)


@dataclass(frozen=True)
class UCB(Policy):
    """Optimism: the arm whose mean could be highest.

    mean + c · sqrt(ln t / n)

    After 10 pulls with mean .6 and 5 with mean .4, in round 16, the arm that is known less is pulled:

    >>> arms = Arms.of_sums(Bernoulli, [10, 5], [6, 2], [6, 2])
    >>> UCB().index(arms, 16).round(5)
    array([1.65311, 1.88932])

    For rewards from 0 to 1; for others take c in their units.
    """

    c: float = 2.0

    def __post_init__(self) -> None:
        if not (is_number(self.c) and self.c >= 0):
            raise ValueError(f"c={self.c!r}: expected a finite number from 0 on")

    def index(self, arms: Arms, t: float) -> Floats:
        """The upper confidence bound."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(arms.n > 0, arms.mean + self.c * np.sqrt(math.log(t) / arms.n), np.inf)

    def settings(self, family: type[Family]) -> list[float]:
        """The constant."""
        return settings_row(kernels.UCB, self.c)


@dataclass(frozen=True)
class UCB1(UCB):
    """UCB with the constant of Auer, Cesa-Bianchi and Fischer (2002): mean + sqrt(2 ln t / n)."""

    c: float = math.sqrt(2)

    @property
    def name(self) -> str:
        """Without the constant, while it is the usual one."""
        return "UCB1" if self.c == math.sqrt(2) else super().name


@dataclass(frozen=True)
class Thompson(Policy):
    """Draw every arm's mean from what is known of it, and pull the arm whose draw is highest.

    So an arm is pulled as often as it is probable that it is the best one. What is known is the posterior of the
    rewards' family: a Beta for Bernoulli rewards, a Gamma for Poisson counts, a NormalInverseGamma for measured ones.

    >>> arms = Arms.of_sums(Bernoulli, [10, 5], [6, 2], [6, 2])
    >>> Thompson().shares(arms, 16).round(4)  # the probability that each arm is the best
    array([0.7534, 0.2466])
    """

    prior: Any = None

    def choose(self, arms: Arms, t: float, dice: Dice) -> int:
        """One draw for each arm; an arm of which nothing is known comes first."""
        return dice.best(self.draws(arms, dice))

    def draws(self, arms: Arms, dice: Dice) -> list[float]:
        """A mean that each arm may have; endless where nothing is known of it."""
        p = arms.posterior(self.settled(arms.family))
        each = [p.at(a) for a in range(len(arms))]
        if arms.family is Bernoulli:
            gammas = dice.gammas(*(shape for q in each for shape in (q.a, q.b)))
            return [_share(x, y, q, dice) for x, y, q in zip(gammas[::2], gammas[1::2], each)]
        if arms.family is Poisson:
            known = [q.rate > 0 and q.shape > 0 for q in each]
            gammas = dice.gammas(*(q.shape if yes else 0.0 for q, yes in zip(each, known)))
            return [x / q.rate if yes else math.inf for x, q, yes in zip(gammas, each, known)]
        gammas = dice.gammas(*(q.shape if q.strength > 0 else 0.0 for q in each))
        return [
            q.mean + math.sqrt(q.scale / x / q.strength) * dice.normal() if x > 0 else math.inf
            for x, q in zip(gammas, each)
        ]

    def shares(self, arms: Arms, t: float) -> Floats:
        """The probability that each arm is the best."""
        return best_shares(arms.posterior(self.settled(arms.family)))

    def settled(self, family: type[Family]) -> Any:
        """The prior: as given, or flat."""
        prior: Any = family.flat_prior() if self.prior is None else self.prior
        if type(prior) is not type(family.flat_prior()):
            raise ValueError(f"prior={prior!r} is none of {family.__name__} rewards; try {family.flat_prior()!r}")
        if isinstance(prior, Beta) and not (prior.a > 0 and prior.b > 0):
            raise ValueError(f"prior={prior!r}: both numbers must be above 0, or no mean can be drawn")
        return prior

    def settings(self, family: type[Family]) -> list[float]:
        """The prior's numbers."""
        prior = self.settled(family)
        return settings_row(kernels.THOMPSON, *(float(getattr(prior, f.name)) for f in dataclasses.fields(prior)))

    @property
    def name(self) -> str:
        """Without the prior, while it is flat."""
        return "Thompson" if self.prior is None else f"Thompson({self.prior!r})"


@dataclass(frozen=True)
class EXP3(Policy):
    """Against an adversary: shares that grow with what each arm would have gained (Auer et al. 2002).

    share/K for each of K arms; the rest in proportion to exp(share/K · Σ reward / probability)

    A reward is divided by the probability of its pull, so the sum is that of the arm in all rounds, on average. Rewards
    are from 0 to 1. Without a `share`, it is sqrt(K ln K / ((e-1) t)) in round t, at most 1.
    """

    share: float | None = None

    def __post_init__(self) -> None:
        if self.share is not None and not (is_number(self.share, above=0) and self.share <= 1):
            raise ValueError(f"share={self.share!r}: expected a number above 0 and up to 1")

    def shares(self, arms: Arms, t: float) -> Floats:
        """The probabilities of round t."""
        out = np.empty(len(arms))
        kernels.exp3(arms.total, math.nan if self.share is None else self.share, t, out)
        return out

    def choose(self, arms: Arms, t: float, dice: Dice) -> int:
        """An arm with these probabilities."""
        return dice.drawn(self.shares(arms, t))

    def learn(self, arms: Arms, t: float, arm: int, reward: float) -> Arms:
        """The reward, weighted by 1 / probability."""
        return arms.learn(arm, reward, 1 / float(self.shares(arms, t)[arm]))

    def settings(self, family: type[Family]) -> list[float]:
        """The share that explores."""
        return settings_row(kernels.EXP3, math.nan if self.share is None else self.share)

    @property
    def name(self) -> str:
        """Without the share, while it follows the round."""
        return "EXP3" if self.share is None else super().name
