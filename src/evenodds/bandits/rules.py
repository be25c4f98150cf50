"""What an experiment goes by from its first decision to its last, as its file has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenodds.bandits import naming
from evenodds.bandits.arms import FAMILIES
from evenodds.bandits.forgetting import Fading
from evenodds.bandits.policies import UCB, EpsilonGreedy, Greedy, Policy, Thompson
from evenodds.errors import DataError
from evenodds.families import Family


@dataclass(frozen=True)
class Rules:
    """The policy; what rewards are, and from where to where they go; the least share of an arm; where dice start.

    >>> rules = Rules(Thompson(), "bernoulli", 0.1, 0.0, 1.0, "7")
    >>> Rules.read(rules.written()) == rules
    True
    """

    policy: Policy
    rewards: str
    minimum: float
    low: float
    high: float
    seed: str

    def __post_init__(self) -> None:
        inner = self.policy.policy if isinstance(self.policy, Fading) else self.policy
        if not isinstance(inner, Greedy | EpsilonGreedy | UCB | Thompson):
            raise DataError(
                f"{self.policy.name} cannot be kept in a file; take Thompson, UCB, EpsilonGreedy, Greedy or Fading of "
                "one"
            )
        if self.rewards not in FAMILIES:
            raise DataError(f"rewards={self.rewards!r}: expected one of {', '.join(FAMILIES)}")
        for number in self.policy.settings(self.family):  # a prior of another family is refused here
            float(number)  # as is an integer that no double can hold
        if not self.low < self.high:
            raise DataError(f"low={self.low:g}, high={self.high:g}: expected a range of rewards")
        self.check_arms(1)

    @property
    def family(self) -> type[Family]:
        """What an arm's rewards are."""
        return FAMILIES[self.rewards]

    @property
    def factor(self) -> float | None:
        """By which all rewards fade with each new one; None where they do not."""
        return self.policy.factor if isinstance(self.policy, Fading) else None

    def check_arms(self, many: int) -> None:
        """Refuse so many arms that they cannot all have the least share."""
        if not 0 <= self.minimum * many <= 1:
            raise DataError(
                f"a minimum share of {self.minimum:g} is too much for {many} arms; expected 0 to {1 / many:.4g}"
            )

    def written(self) -> dict[str, str]:
        """As texts, by their names."""
        return {
            "policy": json.dumps(naming.write(self.policy)), "rewards": self.rewards, "minimum": repr(self.minimum),
            "low": repr(self.low), "high": repr(self.high), "seed": self.seed,
        }  # fmt: skip

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Rules:
        """The rules that such texts say."""
        try:
            policy = naming.read(json.loads(said["policy"]))
            minimum, low, high = (float(said[name]) for name in ("minimum", "low", "high"))
            return cls(policy, said["rewards"], minimum, low, high, str(said["seed"]))
        except KeyError as error:
            raise DataError(f"it does not say its {error.args[0]}") from None
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise DataError(str(error)) from None
