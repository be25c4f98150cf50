"""Where bandits end: a world in which an action changes what the next ones pay."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.bandits.dice import Dice, seed_of
from evenodds.bandits.policies import Policy
from evenodds.bandits.simulation import check_played, error_of_mean
from evenodds.families import Bernoulli
from evenodds.show import Frame

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class States:
    """pays[state, arm] is the probability of a reward, leads[state, arm] the state after it. Policies see no states.

    A field that is rested (state 0) or tired (1), and may be harvested (arm 0) or left alone (arm 1):

    >>> field = States([[0.9, 0.3], [0.2, 0.3]], [[1, 0], [1, 0]])
    >>> [round(field.always(arm), 3) for arm in (0, 1)]
    [0.2, 0.3]
    >>> value, rule = field.best()  # harvest when rested, let it rest when tired
    >>> round(value, 3), rule
    (0.6, (0, 1))
    """

    pays: ArrayLike
    leads: ArrayLike

    def __post_init__(self) -> None:
        pays, leads = np.asarray(self.pays, float), np.asarray(self.leads, int)
        if pays.shape != leads.shape or pays.ndim != 2 or not ((leads >= 0) & (leads < len(pays))).all():
            raise ValueError("expected a payment and a next state for every state and arm")
        if not ((pays >= 0) & (pays <= 1)).all():
            raise ValueError("payments are probabilities, from 0 to 1")
        object.__setattr__(self, "pays", pays)
        object.__setattr__(self, "leads", leads)

    def value(self, rule: tuple[int, ...]) -> float:
        """What a rule (an arm for each state) earns a round in the long run, from state 0 on."""
        pays, leads = np.asarray(self.pays), np.asarray(self.leads)
        path, state = [0], 0
        while True:
            state = int(leads[state, rule[state]])
            if state in path:  # from here on it goes in a circle
                circle = path[path.index(state) :]
                return float(np.mean([pays[s, rule[s]] for s in circle]))
            path.append(state)

    def always(self, arm: int) -> float:
        """What one arm earns a round, pulled for ever: the best of these is all that regret compares with."""
        return self.value((arm,) * len(np.asarray(self.pays)))

    def best(self) -> tuple[float, tuple[int, ...]]:
        """The rule that earns most a round, with what it earns; it needs to see the state."""
        states, arms = np.asarray(self.pays).shape
        rules = itertools.product(range(arms), repeat=states)
        return max(((self.value(rule), rule) for rule in rules), key=lambda pair: pair[0])

    def play(self, policies: list[Policy], rounds: int, runs: int = 20, random_state: int = 0) -> Frame:
        """What policies earn a round, beside the best fixed arm and the best rule."""
        check_played(policies, rounds, runs, 0)
        rows: list[dict[str, object]] = []
        for policy in policies:
            earned = np.array([self._earned(policy, rounds, run, random_state) for run in range(runs)]) / rounds
            rows.append({"policy": policy.name, "a round": float(earned.mean()), "±": error_of_mean(earned)})
        arms = range(np.asarray(self.pays).shape[1])
        rows.append({"policy": "best fixed arm", "a round": max(self.always(arm) for arm in arms), "±": None})
        rows.append({"policy": "best rule that sees the state", "a round": self.best()[0], "±": None})
        return Frame(rows)

    def _earned(self, policy: Policy, rounds: int, run: int, random_state: int) -> float:
        pays, leads = np.asarray(self.pays), np.asarray(self.leads)
        luck, dice = Dice(seed_of(random_state, "rewards", run)), Dice(seed_of(random_state, "dice", run))
        known, state, total = policy.start(Bernoulli, pays.shape[1], 0), 0, 0.0
        for t in range(1, rounds + 1):
            arm = policy.choose(known, float(t), dice)
            reward = float(luck.uniform() < pays[state, arm])
            known, state, total = policy.learn(known, float(t), arm, reward), int(leads[state, arm]), total + reward
        return total
