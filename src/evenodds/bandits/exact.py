"""Ten plays on two arms: what a policy earns on average, exactly, by going through everything that can happen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evenodds.bandits.arms import Arms
from evenodds.bandits.policies import Policy
from evenodds.bandits.simulation import check_played
from evenodds.bandits.worlds import bernoulli
from evenodds.families import Bernoulli

MOST = 2_000_000  # states that are gone through at most


def expected_reward(policy: Policy, means: ArrayLike, rounds: int) -> float:
    """The expected sum of rewards of Bernoulli arms.

    Histories that leave the same tally are one state; the chance of each state and of each choice in it is worked out,
    not thrown. Greedy pulls two arms of .6 and .5 once each, then falls for the worse one where it alone paid:

    >>> from evenodds.bandits import Greedy
    >>> round(expected_reward(Greedy(), [0.6, 0.5], 2), 12), round(expected_reward(Greedy(), [0.6, 0.5], 3), 12)
    (1.1, 1.655)
    """
    p = bernoulli(means).means[0]
    check_played([policy], rounds, 1, 0)
    states: dict[Any, tuple[Arms, float]] = {0: (policy.start(Bernoulli, len(p), 0), 1.0)}
    earned, seen = 0.0, 1
    for t in range(1, rounds + 1):
        after: dict[Any, tuple[Arms, float]] = {}
        for arms, chance in states.values():
            shares = policy.shares(arms, float(t))
            earned += chance * float(shares @ p)
            if t == rounds:
                continue
            for a in np.flatnonzero(shares):
                for reward, of_it in ((1.0, p[a]), (0.0, 1 - p[a])):
                    if of_it > 0:
                        new = policy.learn(arms, float(t), int(a), reward)
                        key = (new.tally.counts.tobytes(), new.past)
                        before = after[key][1] if key in after else 0.0
                        after[key] = (new, before + chance * float(shares[a]) * of_it)
        seen += len(after)
        if seen > MOST:
            raise ValueError(f"{rounds} rounds lead to more than {MOST:,} states; simulate them, or take fewer rounds")
        states = after
    return float(earned)
