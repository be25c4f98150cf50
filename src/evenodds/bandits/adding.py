"""Two servers' experiments, added: one experiment with the decisions and rewards of both."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any

from evenodds.bandits import store
from evenodds.bandits.experiment import Experiment, insert
from evenodds.bandits.kept_arm import Arm, learn
from evenodds.bandits.store import Path
from evenodds.errors import DataError


def add(paths: Sequence[Path], out: Path) -> None:
    """A new experiment of all that was decided and rewarded in some others; those stay as they are.

    An id may have been decided in several of them, if it got the same arm in each, and the same reward where there is
    one; otherwise it is named and nothing is made. An arm is retired if no experiment that has it uses it any more.
    """
    if len(paths) < 2:
        raise DataError("one experiment alone is its own sum; give two or more")
    with contextlib.ExitStack() as stack:
        parts = [stack.enter_context(Experiment(path)) for path in paths]
        first = parts[0]
        said = first.rules.written()
        for path, part in zip(paths[1:], parts[1:]):
            for name, text in part.rules.written().items():
                if text != said[name] and name != "seed":
                    raise DataError(
                        f"{os.fspath(path)} has another {name} than {os.fspath(paths[0])}: {text}, not {said[name]}"
                    )
        arms: dict[str, Arm] = {}
        decided: dict[str, dict[str, Any]] = {}
        for path, part in zip(paths, parts):
            rows = part.export()
            for arm in part.arms:
                mine = arms.setdefault(arm.name, Arm(len(arms), arm.name, retired=1))
                mine.retired, mine.last = mine.retired & arm.retired, max(mine.last, arm.last)
            for row in rows:
                _join(decided, row, os.fspath(path))
        first.rules.check_arms(sum(not arm.retired for arm in arms.values()))
        rewarded = sorted(
            (r for r in decided.values() if r["reward"] is not None), key=lambda r: (r["rewarded"], r["id"])
        )
        order = {row["id"]: nth for nth, row in enumerate(rewarded, 1)}
        for row in decided.values():
            arms[row["arm"]].decided += 1
        for row in rewarded:
            learn(arms.values(), arms[row["arm"]], row["reward"], first.rules.factor)

        def fill(connection: Any) -> None:
            for arm in arms.values():
                insert(connection, arm)
            connection.executemany(
                "insert into decisions values (?, ?, ?, ?, ?, ?, ?)",
                (
                    (row["id"], arms[row["arm"]].place, row["propensity"], row["time"], row["reward"], row["rewarded"],
                     order.get(row["id"]))
                    for row in decided.values()
                ),
            )  # fmt: skip

        store.create(out, said, fill)


def _join(decided: dict[str, dict[str, Any]], row: dict[str, Any], path: str) -> None:
    """Put a decision to the others; what contradicts one of them is refused."""
    before = decided.setdefault(row["id"], row)
    if before is row:
        return
    if before["arm"] != row["arm"]:
        raise DataError(
            f"{row['id']!r} was decided differently: {before['arm']!r} before, {row['arm']!r} in {path}; "
            "nothing was added"
        )
    if row["reward"] is None:
        return
    if before["reward"] is None:
        decided[row["id"]] = {**before, "reward": row["reward"], "rewarded": row["rewarded"]}
    elif before["reward"] != row["reward"]:
        raise DataError(
            f"{row['id']!r} was rewarded differently: {before['reward']:g} before, {row['reward']:g} in {path}; "
            "nothing was added"
        )
