"""What would another policy have earned? Answered from decisions that were logged with their probabilities.

ips    mean of w r,           w = target's probability of the logged arm / probability with which it was logged
snips  Σ w r / Σ w            the same, self-normalised: a little bias, less variance
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.arguments import normal_width
from evenodds.bandits.arms import check_reward
from evenodds.bandits.dice import Dice, seed_of
from evenodds.bandits.policies import Policy
from evenodds.errors import DataError, many, remedy
from evenodds.families import Bernoulli, Beta, Family, Gaussian
from evenodds.labels import canonical
from evenodds.show import Figure, Frame

Floats = NDArray[np.float64]
Key = tuple[str, str]  # the group (position, page, ...), "" without groups, and the arm


@dataclass(frozen=True, eq=False)
class Log:
    """Logged decisions: the arm, its reward, the probability with which it was chosen, and perhaps a group.

    >>> log = Log.of(["a", "b", "a", "b"], [1, 0, 0, 1], [0.5, 0.5, 0.5, 0.5])
    >>> evaluate(log, {"a": 1.0})["value"]
    [0.5, 0.5]
    """

    arms: list[str]
    rewards: Floats
    propensities: Floats
    groups: list[str]

    @classmethod
    def of(
        cls,
        arms: Sequence[Any],
        rewards: ArrayLike,
        propensities: ArrayLike | None = None,
        groups: Sequence[Any] | None = None,
        *,
        uniform: bool = False,
    ) -> Log:
        """A log from its columns; without propensities only if it is said that every arm was equally probable."""
        names, gains = [_text(arm) for arm in arms], np.asarray(rewards, float)
        if propensities is None:
            if not uniform:
                raise DataError(
                    "the log has no propensities, so nothing follows for another policy; give the probability with "
                    "which each arm was chosen, or say that all arms were equally probable: "
                    + remedy("uniform=True", "--uniform")
                )
            propensities = np.full(len(names), 1 / max(len(set(names)), 1))
        p = np.asarray(propensities, float)
        places = [""] * len(names) if groups is None else [_text(group) for group in groups]
        if not len(names) == len(gains) == len(p) == len(places):
            lengths = f"{len(names)} arms, {len(gains)} rewards, {len(p)} propensities, {len(places)} groups"
            raise DataError(f"{lengths}: give each decision one of each")
        bad = np.flatnonzero(~((p > 0) & (p <= 1)))
        if len(bad):
            raise DataError(f"row {bad[0]} has the propensity {p[bad[0]]:g}: expected a probability above 0, up to 1")
        bad = np.flatnonzero(~np.isfinite(gains))
        if len(bad):
            raise DataError(f"row {bad[0]} has the reward {gains[bad[0]]:g}: leave out decisions without a reward")
        if not names:
            raise DataError("the log has no rows")
        return cls(names, gains, p, places)

    def __len__(self) -> int:
        return len(self.arms)

    def __repr__(self) -> str:
        made, arms = many(len(self), "decision"), many(len(set(self.arms)), "arm")
        return f"Log({made} among {arms}, mean reward {self.rewards.mean():.4g})"

    @property
    def family(self) -> type[Family]:
        """What the rewards are taken for."""
        return Bernoulli if np.isin(self.rewards, (0.0, 1.0)).all() else Gaussian


def frequencies(log: Log) -> dict[Key, float]:
    """How often a log's policy chose each arm in each group: a policy that another log can evaluate."""
    counts: dict[Key, int] = {}
    totals: dict[str, int] = {}
    for group, arm in zip(log.groups, log.arms):
        counts[group, arm] = counts.get((group, arm), 0) + 1
        totals[group] = totals.get(group, 0) + 1
    return {key: n / totals[key[0]] for key, n in counts.items()}


def evaluate(log: Log, target: Mapping[Any, float], level: float = 0.95) -> Frame:
    """What a fixed policy earns a decision, by ips and by snips, each with its interval and effective sample size.

    `target` gives the probability of each arm, or of each (group, arm) in every group of the log. The intervals are
    those of a mean (ips) and of a ratio (snips, linearised); the effective sample size is (Σw)² / Σw². Where the rows
    that the target may have chosen all brought the same, nothing tells how rewards vary: these are None.
    """
    w = weights(log, target)
    if len(log) < 2:
        raise DataError("the log has only 1 row; too few to say anything")
    n, r = len(log), log.rewards
    ips = float(np.mean(w * r))
    snips = float(w @ r / w.sum())
    errors = np.std(w * r, ddof=1) / np.sqrt(n), np.sqrt(np.sum((w * (r - snips)) ** 2)) / w.sum()
    varied = np.ptp(r[w > 0]) > 0
    z = normal_width(level)
    effective = Figure(w.sum() ** 2 / (w @ w), ",.1f")
    return Frame(
        [
            {"estimator": name, "value": value, "error": float(error) if varied else None,
             "low": float(value - z * error) if varied else None, "high": float(value + z * error) if varied else None,
             "rows": n, "effective rows": effective, "largest weight": float(w.max())}
            for name, value, error in zip(("ips", "snips"), (ips, snips), errors)
        ]
    )  # fmt: skip


def weights(log: Log, target: Mapping[Any, float]) -> Floats:
    """The target's probability of each logged arm, over that of the log."""
    by_group = {isinstance(key, tuple) for key in target}
    if len(by_group) > 1:
        raise DataError("the target has arms and (group, arm) pairs: give one or the other")
    chosen = {
        (_text(key[0]), _text(key[1])) if isinstance(key, tuple) else ("", _text(key)): float(p)
        for key, p in target.items()
    }
    for key, p in chosen.items():
        if not 0 <= p <= 1:
            raise DataError(f"the target gives {key} the probability {p:g}: expected one from 0 to 1")
    groups = log.groups if True in by_group else [""] * len(log)
    totals: dict[str, float] = {}
    for (group, _), p in chosen.items():
        totals[group] = totals.get(group, 0.0) + p
    for group in sorted({*groups, *totals}):
        if group not in totals and group:
            raise DataError(
                f"the target says nothing of {group!r}, where {groups.count(group):,} decisions were logged: say what "
                "it would choose there, or leave them out of the log"
            )
        total = totals.get(group, 0.0)
        if abs(total - 1) > 1e-6:
            raise DataError(
                f"the target's probabilities{f' of {group!r}' if group else ''} add up to {total:g}, not to 1"
            )
    logged = set(zip(groups, log.arms))
    never = sorted(key for key, p in chosen.items() if p > 0 and key not in logged)
    if never:
        raise DataError(f"the log never chose {' in '.join(filter(None, never[0][::-1]))!r}, which the target does")
    pi = np.array([chosen.get(key, 0.0) for key in zip(groups, log.arms)])
    w: Floats = pi / log.propensities
    return w


@dataclass(frozen=True)
class Replay:
    """What a policy that learns would have earned a decision, from the logged rows that it would have chosen itself.

    Of rewards of 0 and 1 the interval is that of a share, a flat prior's: a few rows without a reward are no certainty.
    """

    policy: str
    value: float
    error: float
    low: float
    high: float
    accepted: int
    rows: int


def replay(policy: Policy, log: Log, *, random_state: int = 0, level: float = 0.95) -> Replay:
    """Let a policy learn from a log, as if it had been there (Li, Chu, Langford and Wang 2011).

    It chooses an arm and waits for the next row in which that arm was logged; other rows are skipped. Where the arm was
    more probable than at other times, rows are skipped at random, so that contexts come as often as they do.
    """
    names = sorted(set(log.arms))
    place = {name: a for a, name in enumerate(names)}
    codes = [place[arm] for arm in log.arms]
    family = log.family
    for reward in np.unique(log.rewards):
        check_reward(family, reward)
    least = np.full(len(names), np.inf)
    np.minimum.at(least, codes, log.propensities)
    policy.check(0)
    dice, known = Dice(seed_of(random_state, "replay")), policy.start(family, len(names), 0)
    earned: list[float] = []
    arm = policy.choose(known, 1.0, dice)
    for a, reward, p in zip(codes, log.rewards.tolist(), log.propensities.tolist()):
        if a == arm and (p <= least[a] or dice.uniform() < least[a] / p):
            earned.append(reward)
            known = policy.learn(known, float(len(earned)), arm, reward)
            arm = policy.choose(known, float(len(earned) + 1), dice)
    if len(earned) < 2:
        raise DataError(f"only {len(earned)} of {len(log):,} rows could be replayed; too few to say anything")
    value, error = float(np.mean(earned)), float(np.std(earned, ddof=1) / np.sqrt(len(earned)))
    if family is Bernoulli:
        low, high = Beta(1 + sum(earned), 1 + len(earned) - sum(earned)).span(level)
    else:
        z = normal_width(level)
        low, high = value - z * error, value + z * error
    return Replay(policy.name, value, error, low, high, len(earned), len(log))


def _text(value: object) -> str:
    """What an arm or a group is called: 1, 1.0 and "1" are one."""
    return str(canonical(value))
