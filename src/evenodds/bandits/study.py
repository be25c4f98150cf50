"""Questions to a simulation: how does regret grow, when does one policy overtake another, what does a setting do?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenodds.bandits.policies import Policy
from evenodds.bandits.simulation import Simulation, simulate
from evenodds.show import Frame


def growth(played: Simulation) -> Frame:
    """Does regret grow like log T or like T? Both lines are fitted from a tenth of the rounds on, by least squares.

    The closer line is named: its R² is larger. `per round` and `per log round` are the slopes.
    """
    late = played.marks >= 0.1 * played.rounds
    if late.sum() < 3:
        raise ValueError(f"{played.rounds} rounds are too few to see how regret grows; play some thousand")
    t, rows = played.marks[late].astype(float), []
    for name, values in zip(played.names, played.pseudo.mean(axis=1)):
        y = values[late]
        fits = {what: _line(x, y) for what, x in (("T", t), ("log T", np.log(t)))}
        like = max(fits, key=lambda what: fits[what][1])
        rows.append(
            {"policy": name, "like": like, "per round": fits["T"][0], "R² of T": fits["T"][1],
             "per log round": fits["log T"][0], "R² of log T": fits["log T"][1]}
        )  # fmt: skip
    return Frame(rows)


def _line(x: Any, y: Any) -> tuple[float, float]:
    """The slope of the closest line, and its R²."""
    slope, constant = np.polyfit(x, y, 1)
    rest = float(np.sum((y - slope * x - constant) ** 2))
    all_ = float(np.sum((y - y.mean()) ** 2))
    return float(slope), 1 - rest / all_ if all_ > 0 else 1.0


def crossing(played: Simulation, a: int, b: int) -> int | None:
    """The marked round from which on policy a has lost less than policy b, on average; None if it does not."""
    ahead = played.pseudo[a].mean(axis=0) < played.pseudo[b].mean(axis=0)
    if not ahead[-1]:
        return None
    behind = np.flatnonzero(~ahead)
    return int(played.marks[behind[-1] + 1] if len(behind) else played.marks[0])


def sensitivity(
    policy: Policy,
    setting: str,
    values: Sequence[float],
    arms: Any,
    rounds: int,
    runs: int = 200,
    *,
    random_state: int = 0,
) -> Frame:
    """What one setting of a policy does to its regret, on the same rewards: T0, epsilon, c, a window.

    >>> from evenodds.bandits import UCB
    >>> found = sensitivity(UCB(), "c", [0.5, 2.0], arms=[0.6, 0.5], rounds=1000, runs=50)
    >>> [(row["c"], round(row["regret"])) for row in found]
    [(0.5, 9), (2.0, 31)]
    """
    fields = [field.name for field in dataclasses.fields(policy)]  # type: ignore[arg-type]
    if setting not in fields:
        raise ValueError(f"{policy.name} has no setting {setting!r}; it has {', '.join(fields) or 'none'}")
    policies = [dataclasses.replace(policy, **{setting: value}) for value in values]  # type: ignore[type-var]
    played = simulate(policies, arms, rounds, runs, random_state=random_state)
    return Frame(
        [{setting: value, "regret": row["regret"], "±": row["±"]} for value, row in zip(values, played.regret_table)]
    )
