"""The durable bandit: decisions that are the same for the same id, rewards that count once, both after any crash."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.bandits import naming, store
from evenodds.bandits.arms import FAMILIES, Arms, check_reward
from evenodds.bandits.dice import Dice, seed_of
from evenodds.bandits.forgetting import Fading
from evenodds.bandits.kept_arm import SUMS, Arm
from evenodds.bandits.policies import UCB, EpsilonGreedy, Greedy, Policy, Thompson
from evenodds.bandits.store import Path
from evenodds.errors import DataError
from evenodds.families import Family

GROWN = 0.02  # the probabilities are formed anew once there are so many more rewards
MANY = 10_000  # arms at most


@dataclass(frozen=True)
class Decision:
    """The arm for an id, and the probability with which it was chosen."""

    id: str
    arm: str
    propensity: float


class Experiment:
    """An experiment in a file, open for deciding and rewarding by any number of threads.

    With `durable`, an answer is on the disk before it is given. Otherwise it is in the system's hands, where it
    survives the end of this process however sudden, and on the disk a tenth of a second later.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "button.bandit")
    ...     create(path, ["green", "red"], seed=1)
    ...     with Experiment(path) as button:
    ...         first = button.decide("visitor 7")
    ...         button.reward("visitor 7", 1), button.reward("visitor 7", 1), button.decide("visitor 7") == first
    (True, False, True)
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self._shares: tuple[list[Arm], list[float], int] | None = None  # the arms, how probable, after how many rewards
        self._rewarded, self._last = 0, 0.0  # how many rewards there are, and when the last thing happened
        self.arms: list[Arm] = []
        self._store = store.Store(path, durable, self._load)
        with self._store.explained():
            self.settings = dict(self._store.connection.execute("select name, value from settings"))
        self.policy: Policy = naming.read(json.loads(self.settings["policy"]))
        self.family: type[Family] = FAMILIES[self.settings["rewards"]]
        self.minimum = float(self.settings["minimum"])
        self.low, self.high = (float(self.settings[end]) for end in ("low", "high"))
        self.factor = self.policy.factor if isinstance(self.policy, Fading) else None

    def decide(self, id: str) -> Decision:
        """The arm for this id: chosen now and written down, or as it was when the id was first seen."""
        return self._store.do(lambda: self._decide(_checked_id(id)))

    def reward(self, id: str, reward: float) -> bool:
        """What the arm of an id has paid. True if that is news; a second time the same reward changes nothing."""
        return self.rewards({id: reward}) == 1

    def rewards(self, rewards: Mapping[str, float]) -> int:
        """The rewards of many ids, all of them or, if one cannot be, none. How many were news."""
        return self._store.do(lambda: self._reward(dict(rewards)))

    def add_arm(self, name: str) -> None:
        """One more arm from now on, or a retired one again."""
        self._store.do(lambda: self._add_arm(name))

    def retire(self, name: str) -> None:
        """No new ids for an arm; late rewards of old ones still count."""
        self._store.do(lambda: self._retire(name))

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Experiment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def shares(self) -> dict[str, float]:
        """The probability with which the next new id gets each arm."""
        return self._store.do(lambda: {arm.name: float(p) for arm, p in zip(*self._probabilities())})

    def report(self) -> dict[str, Any]:
        """All that is known, ready for JSON: each arm's decisions, rewards, mean, interval, share from now on."""
        return self._store.do(self._report)

    def log(self) -> list[dict[str, Any]]:
        """Every decision with its propensity, time and reward (None while there is none), by time."""
        names = ("id", "arm", "propensity", "time", "reward", "rewarded")

        def read() -> list[dict[str, Any]]:
            rows = self._store.connection.execute(
                "select id, a.name, propensity, time, reward, d.rewarded "
                "from decisions d join arms a on d.arm = a.place order by time, id"
            )
            return [dict(zip(names, row)) for row in rows]

        return self._store.do(read)

    def recount(self) -> list[Arm]:
        """The arms counted again from the log: what is kept must equal it, and the tests say that it does."""
        return self._store.do(self._recount)

    # what is done inside a transaction

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._store.connection.execute(sql, values)

    def _load(self) -> None:
        self.arms = [Arm(*row) for row in self._execute("select * from arms order by place")]
        self._rewarded, self._last = sum(arm.rewarded for arm in self.arms), max(arm.last for arm in self.arms)
        self._shares = None

    def _probabilities(self) -> tuple[list[Arm], list[float]]:
        """The arms that can be chosen, and with which probability."""
        if self._shares is None or self._rewarded > self._shares[2] * (1 + GROWN):
            active = [arm for arm in self.arms if not arm.retired]
            p = self.policy.shares(_known(self.family, active), 1.0 + sum(arm.n for arm in self.arms))
            shares = self.minimum + (1 - len(active) * self.minimum) * p
            self._shares = active, shares.tolist(), self._rewarded
        return self._shares[:2]

    def _decide(self, id: str) -> Decision:
        arms, p = self._probabilities()
        at = Dice(seed_of(self.settings["seed"], id)).drawn(p)
        arm, now = arms[at], self._now()
        new = "insert into decisions values (?, ?, ?, ?, null, null, null) on conflict do nothing"
        if not self._execute(new, (id, arm.place, p[at], now)).rowcount:
            known = self._execute("select arm, propensity from decisions where id = ?", (id,)).fetchone()
            return Decision(id, self.arms[known[0]].name, known[1])
        arm.decided, arm.last = arm.decided + 1, now
        self._execute("update arms set decided = ?, last = ? where place = ?", (arm.decided, now, arm.place))
        return Decision(id, arm.name, p[at])

    def _now(self) -> float:
        """The time, which does not go back even where the clock does."""
        self._last = max(time.time(), self._last)
        return self._last

    def _reward(self, rewards: dict[str, float]) -> int:
        news = []
        for id, reward in rewards.items():
            value = check_reward(self.family, reward, self.low, self.high)
            known = self._execute("select arm, reward from decisions where id = ?", (_checked_id(id),)).fetchone()
            if known is None:
                raise DataError(f"no decision was made for {id!r}, so it cannot be rewarded; decide first")
            if known[1] is None:
                news.append((id, self.arms[known[0]], value))
            elif known[1] != value:
                raise DataError(f"{id!r} was rewarded with {known[1]:g} before; it cannot be {value:g} as well")
        changed: dict[int, Arm] = {}
        for id, arm, value in news:
            now = self._now()
            self._rewarded += 1
            for each in self.arms if self.factor else ():
                each.fade(self.factor or 1.0)
                changed[each.place] = each
            arm.learn(value)
            arm.last, changed[arm.place] = now, arm
            self._execute(
                "update decisions set reward = ?, rewarded = ?, nth = ? where id = ?", (value, now, self._rewarded, id)
            )
        for arm in changed.values():
            self._write(arm)
        return len(news)

    def _write(self, arm: Arm) -> None:
        self._execute(
            "update arms set retired = ?, rewarded = ?, n = ?, total = ?, total_low = ?, second = ?, second_low = ?, "
            "last = ? where place = ?",
            (arm.retired, arm.rewarded, *(getattr(arm, name) for name in SUMS), arm.last, arm.place),
        )

    def _named(self, name: str) -> Arm | None:
        return next((arm for arm in self.arms if arm.name == name), None)

    def _add_arm(self, name: str) -> None:
        arm = self._named(name)
        if arm is not None and not arm.retired:
            raise DataError(f"there is an arm {name!r} already")
        active = sum(not each.retired for each in self.arms) + 1
        check_minimum(self.minimum, active)
        if arm is None:
            arm = Arm(len(self.arms), check_names([name])[0], last=self._now())
            insert(self._store.connection, arm)
            self.arms.append(arm)
        else:
            arm.retired = 0
            self._write(arm)
        self._shares = None

    def _retire(self, name: str) -> None:
        arm = self._named(name)
        if arm is None:
            raise DataError(f"there is no arm {name!r}; there are {', '.join(each.name for each in self.arms)}")
        if all(each.retired or each is arm for each in self.arms):
            raise DataError(f"{name!r} is the last arm; add another one first")
        arm.retired = 1
        self._write(arm)
        self._shares = None

    def _recount(self) -> list[Arm]:
        again = [Arm(arm.place, arm.name, arm.retired, last=arm.last) for arm in self.arms]
        for place, n in self._execute("select arm, count(*) from decisions group by arm"):
            again[place].decided = n
        for place, reward in self._execute("select arm, reward from decisions where reward is not null order by nth"):
            for each in again if self.factor else ():
                each.fade(self.factor or 1.0)
            again[place].learn(reward)
        return again

    def _report(self) -> dict[str, Any]:
        arms, p = self._probabilities()
        share = {arm.name: float(each) for arm, each in zip(arms, p)}
        rows: list[dict[str, Any]] = []
        for arm in self.arms:
            known = _known(self.family, [arm])
            low, high = _interval(known)
            rows.append(
                {"arm": arm.name, "retired": bool(arm.retired), "decided": arm.decided, "rewarded": arm.rewarded,
                 "mean": float(known.mean[0]) if arm.n else None, "low": low, "high": high,
                 "share": share.get(arm.name, 0.0)}
            )  # fmt: skip
        decided, rewarded = (sum(row[what] for row in rows) for what in ("decided", "rewarded"))
        return {
            "policy": json.loads(self.settings["policy"]),
            "rewards": self.settings["rewards"],
            "minimum": self.minimum,
            "decided": decided,
            "rewarded": rewarded,
            "waiting": decided - rewarded,
            "arms": rows,
        }


def create(
    path: Path,
    arms: Sequence[str],
    policy: Policy | None = None,
    *,
    rewards: str = "bernoulli",
    minimum: float = 0.0,
    low: float | None = None,
    high: float | None = None,
    seed: int | None = None,
) -> None:
    """A new experiment. `rewards` are bernoulli, gaussian or poisson; `minimum` is the least share of every arm.

    Rewards outside of `low` and `high` are refused. The seed and an id decide an arm together with the shares of that
    moment; without a seed it is thrown.
    """
    names, policy = check_names(arms), policy or Thompson()
    inner = policy.policy if isinstance(policy, Fading) else policy
    if not isinstance(inner, Greedy | EpsilonGreedy | UCB | Thompson):
        raise DataError(
            f"{policy.name} cannot be kept in a file; take Thompson, UCB, EpsilonGreedy, Greedy or Fading of one"
        )
    if rewards not in FAMILIES:
        raise DataError(f"rewards={rewards!r}: expected one of {', '.join(FAMILIES)}")
    policy.settings(FAMILIES[rewards])  # a prior of another family is refused here
    check_minimum(minimum, len(names))
    ends = -np.inf if low is None else low, np.inf if high is None else high
    if not ends[0] < ends[1]:
        raise DataError(f"low={low}, high={high}: expected a range of rewards")
    settings = {
        "policy": json.dumps(naming.write(policy)), "rewards": rewards, "minimum": repr(float(minimum)),
        "low": repr(float(ends[0])), "high": repr(float(ends[1])),
        "seed": str(secrets.randbits(63) if seed is None else seed),
    }  # fmt: skip

    def fill(connection: Any) -> None:
        for place, name in enumerate(names):
            insert(connection, Arm(place, name))

    store.create(path, settings, fill)


def _known(family: type[Family], arms: list[Arm]) -> Arms:
    """What is kept of some arms, as a tally."""
    n, *sums = ([getattr(arm, name) for arm in arms] for name in SUMS)
    return Arms.of_sums(family, n, sums[:2], sums[2:])


def insert(connection: Any, arm: Arm) -> None:
    """Write a new arm."""
    values = list(vars(arm).values())
    connection.execute(f"insert into arms values ({', '.join('?' * len(values))})", values)


def check_names(arms: Sequence[str]) -> list[str]:
    """Arms' names, if they can be."""
    names = list(arms)
    if not 1 <= len(names) <= MANY:
        raise DataError(f"{len(names)} arms: expected from 1 to {MANY:,}")
    for name in names:
        if not isinstance(name, str) or not name.strip() or len(name) > 200:
            raise DataError(f"an arm's name is a text of 1 to 200 characters, not {name!r:.80}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"two arms are named {twice[0]!r}")
    return names


def check_minimum(minimum: float, arms: int) -> None:
    """Refuse a least share that so many arms cannot all have."""
    if not 0 <= minimum * arms <= 1:
        raise DataError(f"a minimum share of {minimum:g} is too much for {arms} arms; expected 0 to {1 / arms:.4g}")


def _checked_id(id: object) -> str:
    if not isinstance(id, str) or not id or len(id) > 1000:
        raise DataError(f"an id is a text of 1 to 1,000 characters, not {id!r:.80}")
    return id


def _interval(known: Arms) -> tuple[float | None, float | None]:
    """Where an arm's mean lies with a probability of 95 %, under the flat prior; None while nothing is known."""
    posterior = known.posterior().at(0) if np.ndim(known.n) and known.n[0] else None
    if posterior is None:
        return None, None
    with np.errstate(all="ignore"):
        low, high = posterior.interval()
    return (float(low), float(high)) if np.isfinite([low, high]).all() else (None, None)
