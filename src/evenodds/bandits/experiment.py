"""The durable bandit: decisions that are the same for the same id, rewards that count once, both after any crash."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from evenodds.bandits import naming, store
from evenodds.bandits.arms import Arms, check_reward
from evenodds.bandits.dice import Dice, seed_of
from evenodds.bandits.kept_arm import SUMS, Arm, learn, read_arms
from evenodds.bandits.offline import Log
from evenodds.bandits.policies import Policy, Thompson
from evenodds.bandits.rules import Rules
from evenodds.bandits.store import Path
from evenodds.errors import DataError, did_you_mean
from evenodds.families import Family

GROWN = 0.02  # the probabilities are formed anew once there are so many more rewards than were known
MANY = 10_000  # arms at most


@dataclass(frozen=True)
class Choice:
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
    ...     create(path, ["green", "red"], random_state=1)
    ...     with Experiment(path) as button:
    ...         first = button.decide("visitor 7")
    ...         button.reward("visitor 7", 1), button.reward("visitor 7", 1), button.decide("visitor 7") == first
    (True, False, True)
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self._shares: tuple[list[Arm], list[float], float] | None = None  # the arms, how probable, until which reward
        self._rewarded, self._last = 0, 0.0  # how many rewards there are, and when the last thing happened
        self.arms: list[Arm] = []
        self._store = store.Store(path, durable, self._load)
        with self._store.explained():
            said = dict(self._execute("select name, value from settings"))
        try:
            self.rules = Rules.read(said)
        except DataError as error:
            self.close()
            raise self._store.damaged(error) from None

    def decide(self, id: str) -> Choice:
        """The arm for this id: chosen now and written down, or as it was when the id was first seen."""
        name = _checked_id(id)  # here, so that what cannot be fails nobody else's request
        return self._store.do(lambda: self._decide(name))

    def reward(self, id: str, reward: float) -> bool:
        """What the arm of an id has paid. True if that is news; a second time the same reward changes nothing."""
        return self.rewards({id: reward}) == 1

    def rewards(self, rewards: Mapping[str, float]) -> int:
        """The rewards of many ids, all of them or, if one cannot be, none. How many were news."""
        checked = {
            _checked_id(id): check_reward(self.rules.family, r, self.rules.low, self.rules.high)
            for id, r in rewards.items()
        }
        return self._store.do(lambda: self._reward(checked))

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

    def log(self) -> Log:
        """The decisions that were rewarded, for `evaluate` and `replay`."""
        rows = [row for row in self.export() if row["reward"] is not None]
        return Log.of(*([row[name] for row in rows] for name in ("arm", "reward", "propensity")))

    def export(self) -> list[dict[str, Any]]:
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
        try:
            self.arms = read_arms(self._execute("select * from arms order by place"), self.rules.family)
            self.rules.check_arms(sum(not arm.retired for arm in self.arms))
        except DataError as error:
            raise self._store.damaged(error) from None
        self._rewarded, self._last = sum(arm.rewarded for arm in self.arms), max(arm.last for arm in self.arms)
        self._shares = None

    def _probabilities(self) -> tuple[list[Arm], list[float]]:
        """The arms that can be chosen, and with which probability."""
        if self._shares is None or self._rewarded > self._shares[2]:
            active, known = [arm for arm in self.arms if not arm.retired], sum(arm.n for arm in self.arms)
            p = self.rules.policy.shares(_known(self.rules.family, active), 1.0 + known)
            shares = self.rules.minimum + (1 - len(active) * self.rules.minimum) * p
            self._shares = active, shares.tolist(), self._rewarded + GROWN * known  # what has faded is not known
        return self._shares[:2]

    def _decide(self, id: str) -> Choice:
        arms, p = self._probabilities()
        at = Dice(seed_of(self.rules.seed, id)).drawn(p)
        arm, now = arms[at], self._now()
        new = "insert into decisions values (?, ?, ?, ?, null, null, null) on conflict do nothing"
        if not self._execute(new, (id, arm.place, p[at], now)).rowcount:
            known = self._execute("select arm, propensity from decisions where id = ?", (id,)).fetchone()
            return Choice(id, self._arm(known[0]).name, known[1])
        arm.decided, arm.last = arm.decided + 1, now
        self._execute("update arms set decided = ?, last = ? where place = ?", (arm.decided, now, arm.place))
        return Choice(id, arm.name, p[at])

    def _now(self) -> float:
        """The time, which does not go back even where the clock does."""
        self._last = max(time.time(), self._last)
        return self._last

    def _reward(self, rewards: dict[str, float]) -> int:
        news = []
        for id, value in rewards.items():
            known = self._execute("select arm, reward from decisions where id = ?", (id,)).fetchone()
            if known is None:
                raise DataError(f"no decision was made for {id!r}, so it cannot be rewarded; decide first")
            if known[1] is None:
                news.append((id, self._arm(known[0]), value))
            elif known[1] != value:
                before = check_reward(self.rules.family, known[1])
                raise DataError(f"{id!r} was rewarded with {before:g} before; it cannot be {value:g} as well")
        changed: dict[int, Arm] = {}
        for id, arm, value in news:
            now = self._now()
            self._rewarded += 1
            arm.last = now
            changed |= {each.place: each for each in learn(self.arms, arm, value, self.rules.factor)}
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

    def _arm(self, place: Any) -> Arm:
        """The arm that a decision was for."""
        if not isinstance(place, int) or not 0 <= place < len(self.arms):
            raise self._store.damaged(f"a decision was for arm {place!r:.20}, which is not there")
        return self.arms[place]

    def _named(self, name: str) -> Arm | None:
        return next((arm for arm in self.arms if arm.name == name), None)

    def _add_arm(self, name: str) -> None:
        arm = self._named(name)
        if arm is not None and not arm.retired:
            raise DataError(f"there is an arm {name!r} already")
        active = sum(not each.retired for each in self.arms) + 1
        self.rules.check_arms(active)
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
            raise DataError(did_you_mean(name, [each.name for each in self.arms], "arm"))
        if all(each.retired or each is arm for each in self.arms):
            raise DataError(f"{name!r} is the last arm; add another one first")
        arm.retired = 1
        self._write(arm)
        self._shares = None

    def _recount(self) -> list[Arm]:
        again = [Arm(arm.place, arm.name, arm.retired, last=arm.last) for arm in self.arms]
        for place, n in self._execute("select arm, count(*) from decisions group by arm"):
            again[self._arm(place).place].decided = n
        for place, reward in self._execute("select arm, reward from decisions where reward is not null order by nth"):
            if not isinstance(reward, float):
                raise self._store.damaged(f"a reward is {reward!r:.20}, no number")
            learn(again, again[place], reward, self.rules.factor)
        return again

    def _report(self) -> dict[str, Any]:
        arms, p = self._probabilities()
        share = {arm.name: float(each) for arm, each in zip(arms, p)}
        rows: list[dict[str, Any]] = []
        for arm in self.arms:
            known = _known(self.rules.family, [arm])
            low, high = _interval(known)
            rows.append(
                {"arm": arm.name, "retired": bool(arm.retired), "decided": arm.decided, "rewarded": arm.rewarded,
                 "mean": float(known.mean[0]) if arm.n else None, "low": low, "high": high,
                 "share": share.get(arm.name, 0.0)}
            )  # fmt: skip
        decided, rewarded = (sum(row[what] for row in rows) for what in ("decided", "rewarded"))
        return {
            "policy": naming.write(self.rules.policy),
            "rewards": self.rules.rewards,
            "minimum": self.rules.minimum,
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
    random_state: int | None = None,
) -> None:
    """A new experiment. `rewards` are bernoulli, gaussian or poisson; `minimum` is the least share of every arm.

    Rewards outside of `low` and `high` are refused. The random state and an id decide an arm together with the shares
    of that moment; if it is not given it is thrown.
    """
    names, seed = check_names(arms), secrets.randbits(63) if random_state is None else random_state
    ends = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    rules = Rules(policy or Thompson(), rewards, float(minimum), *ends, str(seed))
    rules.check_arms(len(names))

    def fill(connection: Any) -> None:
        for place, name in enumerate(names):
            insert(connection, Arm(place, name))

    store.create(path, rules.written(), fill)


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
    if isinstance(arms, str):
        raise DataError(f"arms={arms!r:.80}: expected a list of names, such as [{arms!r:.80}, 'other']")
    names = list(arms)
    if not 1 <= len(names) <= MANY:
        raise DataError(f"{len(names)} arms: expected from 1 to {MANY:,}")
    for name in names:
        if not _is_text(name, 200) or not name.strip():
            raise DataError(f"an arm's name is a text of 1 to 200 characters, not {name!r:.80}")
    if len(set(names)) < len(names):
        raise DataError(f"two arms are named {Counter(names).most_common(1)[0][0]!r}")
    return names


def _checked_id(id: object) -> str:
    if not _is_text(id, 1000):
        raise DataError(f"an id is a text of 1 to 1,000 characters, not {id!r:.80}")
    return id


def _is_text(value: object, most: int) -> TypeGuard[str]:
    """Whether this is a text of some characters, all of which can be written: halves of a pair of UTF-16 cannot."""
    return isinstance(value, str) and 0 < len(value) <= most and not any("\ud800" <= c <= "\udfff" for c in value)


def _interval(known: Arms) -> tuple[float | None, float | None]:
    """Where an arm's mean lies with a probability of 95 %, under the flat prior; None while too little is known."""
    posterior = known.posterior()
    if not known.n[0] or not posterior.proper:
        return None, None
    low, high = posterior.span()
    return float(low), float(high)
