"""Policies played against worlds, many times: the same rewards for every policy, and what each of them lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import tail_of, whole
from evenodds.bandits import kernels
from evenodds.bandits.dice import Dice, seed_of
from evenodds.bandits.policies import Policy
from evenodds.bandits.worlds import World, world_of
from evenodds.errors import many
from evenodds.show import Figure, Frame
from evenodds.threads import in_order

Floats = NDArray[np.float64]
SHARD = 8  # runs that are played by one thread at a time
MARKS = 60  # rounds at which regret is noted


@dataclass(frozen=True, eq=False)
class Simulation:
    """What policies lost in some runs. Arrays are (policies, runs, marks): at the rounds that `marks` names.

    What ends with `_table` is their means, to be printed.

    regret    the best fixed arm in hindsight, minus what was earned: max_a Σ r_a - Σ r of the arms pulled
    pseudo    the same of the arms' means, without the luck of the rewards
    dynamic   the best arm of every single round, minus what was earned, of means
    """

    names: list[str]
    rounds: int
    marks: NDArray[np.int64]
    regret: Floats
    pseudo: Floats
    dynamic: Floats
    pulls: NDArray[np.int64]  # (policies, runs, arms)
    covered: NDArray[np.int64]  # (policies, 2, arms): rounds with the mean below UCB's index, and all; if asked for
    choices: NDArray[np.int64]  # (policies, runs, rounds), if they were asked for

    @property
    def runs(self) -> int:
        """How many."""
        return self.regret.shape[1]

    @cached_property
    def regret_table(self) -> Frame:
        """A line a policy: the mean regret with its standard error, and where 90 % of the runs lie."""
        rows = []
        for p, name in enumerate(self.names):
            last = self.regret[p, :, -1]
            of_means = self.pseudo[p, :, -1]
            numbers = {
                "regret": last.mean(), "±": error_of_mean(last),
                "5 %": np.quantile(last, 0.05), "95 %": np.quantile(last, 0.95),
                "pseudo-regret": of_means.mean(), "pseudo ±": error_of_mean(of_means),
            }  # fmt: skip
            rows.append({"policy": name, **{what: _figure(number) for what, number in numbers.items()}})
        return Frame(rows, f"{many(self.runs, 'run')} of {many(self.rounds, 'round')}")

    @cached_property
    def pulls_table(self) -> Frame:
        """A line a policy: how often it pulled each arm, on average."""
        means = self.pulls.mean(axis=1)
        return Frame(
            [
                {"policy": name, **{f"arm {a}": Figure(n, ",.1f") for a, n in enumerate(row)}}
                for name, row in zip(self.names, means)
            ]
        )

    @property
    def coverage_table(self) -> Frame:
        """Of UCB policies: in which share of the rounds an arm's mean was no higher than its index; None of none."""
        rows = []
        for name, counts in zip(self.names, self.covered):
            if counts.any():
                shares = [Figure(held / all_, ".5f") if all_ else None for held, all_ in counts.T]
                rows.append({"policy": name, **{f"arm {a}": share for a, share in enumerate(shares)}})
        return Frame(rows, "share of rounds in which mean ≤ index")

    def curves(self, level: float = 0.9) -> Frame:
        """A line for each policy and marked round: its mean regret, the standard error, the band of so many runs."""
        values = self.regret
        tail = tail_of(level)
        low, high = np.quantile(values, [tail, 1 - tail], axis=1)
        return Frame(
            [
                {"policy": name, "round": int(t), "mean": float(values[p, :, c].mean()),
                 "error": error_of_mean(values[p, :, c]), "low": float(low[p, c]), "high": float(high[p, c])}
                for p, name in enumerate(self.names)
                for c, t in enumerate(self.marks)
            ]
        )  # fmt: skip

    def difference(self, a: int, b: int) -> tuple[float, float | None]:
        """How much more policy a lost than policy b on the same rewards, and the standard error of that."""
        gap = self.regret[a, :, -1] - self.regret[b, :, -1]
        return float(gap.mean()), error_of_mean(gap)

    def __repr__(self) -> str:
        return repr(self.regret_table)


def simulate(
    policies: Sequence[Policy],
    arms: Any,
    rounds: int,
    runs: int = 200,
    *,
    random_state: int = 0,
    choices: bool = False,
    coverage: bool = False,
    threads: int | None = None,
) -> Simulation:
    """Play policies against a world (or Bernoulli arms of some means), all of them on the same rewards.

    The result depends on the random state alone, not on how many threads there are or which other policies play.
    `choices` are kept on demand, and the `coverage` of UCB's index is counted on demand.

    >>> from evenodds.bandits import Greedy, Thompson
    >>> played = simulate([Greedy(), Thompson()], arms=[0.6, 0.5], rounds=1000, runs=100)
    >>> [(row["policy"], round(row["regret"])) for row in played.regret_table]
    [('Greedy', 40), ('Thompson', 11)]
    """
    world = world_of(arms)
    if not isinstance(policies, Iterable):
        raise ValueError(f"{policies!r} is not a list: give the policies in one, such as [UCB()]")
    policies = list(policies)
    check_played(policies, rounds, runs, world.width)
    learnt, family = world.learnt
    settings = np.array([policy.settings(family) for policy in policies], float)
    seeds = np.array([seed_of(random_state, "rewards", run) for run in range(runs)], np.uint64)
    dice = np.array([seed_of(random_state, "dice", run) for run in range(runs)], np.uint64)
    marks = marked(rounds)
    means = world.table(rounds)

    def play(first: int) -> tuple[Any, ...]:
        some = slice(first, min(first + SHARD, runs))
        n, p = len(seeds[some]), len(policies)
        regrets = np.zeros((3, p, n, len(marks)))
        pulled, covered = (
            np.zeros((p, n, world.arms), np.int64),
            np.zeros((p, 2 if coverage else 0, world.arms), np.int64),
        )
        history = np.zeros((p, n, rounds) if choices else (0, 0, 0), np.int64)
        kernels.simulate.compiled(
            settings, seeds[some], np.tile(dice[some], (p, 1)), world.kind, learnt, means, world.spread, world.width,
            rounds, marks, *regrets, pulled, covered, history,
        )  # fmt: skip
        return *regrets, pulled, covered, history

    parts = list(zip(*in_order(play, range(0, runs, SHARD), threads)))
    regret, pseudo, dynamic, pulled = (np.concatenate(part, axis=1) for part in parts[:4])
    history = np.concatenate(parts[5], axis=1)
    names = [policy.name for policy in policies]
    return Simulation(names, rounds, marks, regret, pseudo, dynamic, pulled, sum(parts[4]), history)


def plainly(policy: Policy, arms: Any, rounds: int, run: int = 0, random_state: int = 0) -> list[int]:
    """The choices of one run by the policy's own lines, on the rewards and with the dice that `simulate` has.

    >>> from evenodds.bandits import UCB
    >>> fast = simulate([UCB()], [0.6, 0.5], rounds=50, runs=1, choices=True)
    >>> fast.choices[0, 0].tolist() == plainly(UCB(), [0.6, 0.5], rounds=50)
    True
    """
    world = world_of(arms)
    rewards, _, contexts = rewards_of(world, rounds, run, random_state)
    dice, chosen = Dice(seed_of(random_state, "dice", run)), []
    known = policy.start(world.learnt[1], world.arms, world.width)
    for t in range(1, rounds + 1):
        known = known.seeing(contexts[t - 1])
        chosen.append(policy.choose(known, float(t), dice))
        known = policy.learn(known, float(t), chosen[-1], float(rewards[t - 1, chosen[-1]]))
    return chosen


def rewards_of(world: World, rounds: int, run: int = 0, random_state: int = 0) -> tuple[Floats, Floats, Floats]:
    """What every arm would pay in every round of a run, with which mean, (rounds, arms), and the contexts."""
    rewards, truth, contexts = (np.empty((rounds, n)) for n in (world.arms, world.arms, world.width))
    start = np.array([seed_of(random_state, "rewards", run)], np.uint64)
    with np.errstate(over="ignore"):
        kernels.world(world.kind, world.table(rounds), world.spread, start[0], 0, rewards, truth, contexts)
    return rewards, truth, contexts


def marked(rounds: int) -> NDArray[np.int64]:
    """The rounds at which regret is noted: evenly on a log scale, and the last."""
    return np.unique(np.round(np.geomspace(1, rounds, MARKS)).astype(np.int64))


def _figure(number: float | None) -> Figure | None:
    return None if number is None else Figure(number, ".2f")


def error_of_mean(values: Floats) -> float | None:
    """The standard error of a mean over runs; None of one."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def check_played(policies: Sequence[Policy], rounds: int, runs: int, width: int) -> None:
    """Refuse what cannot be played in a world whose contexts have this width."""
    if not policies:
        raise ValueError("there are no policies to play; give at least one, such as UCB()")
    for what, number in (("rounds", rounds), ("runs", runs)):
        whole(what, number)
    for policy in policies:
        if not isinstance(policy, Policy):
            raise ValueError(f"{policy!r} is no policy: expected one such as UCB()")
        policy.check(width)
