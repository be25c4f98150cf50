"""Bandits: the lectured table, speed beside other packages, live decisions, kill -9, and a real log.

    python -m benchmarks.bandits --save --peers /tmp/a/bin/python --peers /tmp/b/bin/python    # some ten minutes
    python -m benchmarks.bandits --only speed --peers ...        # table growth speed live kill log

`--peers` names interpreters that have MABWiser, river or SMPyBandits (which needs numpy below 2 and scipy below 1.12);
they take turns with ours. Live speeds depend on how long the disk takes to sync, which is measured beside them.
"""

import argparse
import contextlib
import csv
import functools
import gzip
import importlib.util
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.bandit_peers import MEANS
from benchmarks.tables import data_folder
from benchmarks.timing import Neighbours
from evenodds import bandits as eo
from evenodds.bandits.offline import weights

CLIENTS = Path(__file__).parents[1] / "tests" / "bandit_clients.py"
LECTURED = {"Greedy": 452, "ExploreThenExploit": 256, "EpsilonGreedy": 429, "UCB": 562, "UCB1": 331, "Thompson": 41}
POLICIES = [eo.Greedy(), eo.ExploreThenExploit(450), eo.EpsilonGreedy(0.1), eo.UCB(), eo.UCB1(), eo.Thompson()]


def table(given: Any) -> dict[str, Any]:
    """Regret on means .1 ... .9 after 10,000 rounds, beside the lectures'."""
    played = eo.simulate(POLICIES, MEANS, 10_000, 400)
    rows = []
    for row, lectured in zip(played.regret, LECTURED.values()):
        rows.append({"policy": row["policy"], "regret": row["regret"], "error": row["±"], "lectured": lectured})
    print(report.table(["policy", "regret", "±", "lectured"], [
        [r["policy"], f"{r['regret']:.1f}", f"{r['error']:.1f}", str(r["lectured"])] for r in rows]))  # fmt: skip
    return {"table": rows, "runs": 400}


def growth(given: Any) -> dict[str, Any]:
    """How regret grows to 100,000 rounds, and where UCB overtakes ε-greedy."""
    played = eo.simulate([eo.EpsilonGreedy(0.1), eo.UCB(), eo.UCB1(), eo.Thompson()], MEANS, 100_000, 100)
    found = eo.growth(played).to_dicts()
    crossing = {name: eo.crossing(played, p, 0) for p, name in enumerate(played.names) if p}
    for row in found:
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()})
    print("overtake ε-greedy in round", crossing)
    return {"growth": found, "overtakes epsilon-greedy": crossing, "regret": played.regret.to_dicts()}


def speed(given: Any) -> dict[str, Any]:
    """Simulated decisions per second: ours and the others', in turns; the best of three."""
    ours = {"epsilon": eo.EpsilonGreedy(0.1), "ucb": eo.UCB(), "thompson": eo.Thompson()}
    eo.simulate(list(ours.values()), MEANS, 1000, 8)  # compiled
    neighbours = Neighbours()
    speeds: dict[str, dict[str, dict[str, float]]] = {"ours": {}}
    for _ in range(3):
        for name, policy in ours.items():
            runs = 64 if name == "thompson" else 256
            start, busy = time.perf_counter(), time.process_time()
            eo.simulate([policy], MEANS, 20_000, runs)
            rounds = runs * 20_000
            now = {
                "a second": rounds / (time.perf_counter() - start),
                "a core's second": rounds / (time.process_time() - busy),
            }
            speeds["ours"][name] = _better(now, speeds["ours"].get(name, now))
        for python in given.peers:
            script = str(Path(__file__).with_name("bandit_peers.py"))
            done = subprocess.run([python, script], capture_output=True, text=True, check=True)
            for package, its in json.loads(done.stdout.splitlines()[-1]).items():
                kept = speeds.setdefault(f"{package} {its['version']}", its["speeds"])
                for name, now in its["speeds"].items():
                    kept[name] = _better(now, kept[name])
    for unit in ("a second", "a core's second"):
        lines = []
        for who, each in speeds.items():
            ratios = {name: speeds["ours"][name][unit] / each[name][unit] for name in ours}
            lines.append([who, *(f"{each[n][unit]:,.0f} ({ratios[n]:,.0f}x)" for n in ours)])
        print(report.table([f"decisions {unit}", *ours], lines))
    cores = neighbours.cores()
    print(f"others kept {cores:.1f} cores busy meanwhile")
    return {"decisions": speeds, "cores of others": cores}


def _better(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    return {unit: max(a[unit], b[unit]) for unit in a}


def live(given: Any) -> dict[str, Any]:
    """decide + reward per second: batched in one thread, and every answer on the disk before it is given."""
    found: dict[str, Any] = {"sync_ms": _sync_ms()}
    for name, durable, clients, pairs in (
        ("batched, 1 client", False, 1, 20_000), ("durable, 1 client", True, 1, 300),
        ("durable, 8 clients", True, 8, 2400), ("durable, 32 clients", True, 32, 6400),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            path = os.path.join(folder, "x.bandit")
            eo.create(path, ["a", "b", "c"], seed=1)
            with eo.Experiment(path, durable=durable) as one:
                start, busy = time.perf_counter(), time.process_time()
                _together(clients, functools.partial(_pairs, one, pairs // clients))
                found[name] = pairs / (time.perf_counter() - start)
                found[f"{name}, a core's second"] = pairs / (time.process_time() - busy)
                assert one.recount() == one.arms
        of_a_core = found[f"{name}, a core's second"]
        print(f"{name}: {found[name]:,.0f} decide + reward per second, {of_a_core:,.0f} per second of a core")
    print(f"a sync of the disk takes {found['sync_ms']:.2f} ms")
    return {"live": found}


def _pairs(one: eo.Experiment, n: int, k: int) -> None:
    rng = random.Random(k)
    for i in range(n):
        arm = one.decide(f"{k}-{i}").arm
        one.reward(f"{k}-{i}", int(rng.random() < {"a": 0.1, "b": 0.2, "c": 0.3}[arm]))


def _together(n: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _sync_ms() -> float:
    with tempfile.NamedTemporaryFile() as file:
        start = time.perf_counter()
        for _ in range(50):
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
        return (time.perf_counter() - start) / 50 * 1000


def kill(given: Any) -> dict[str, Any]:
    """Four clients decide and reward; the process is killed at random moments; nothing acknowledged is lost."""
    rng, told = random.Random(0), {"d": dict[str, str](), "r": dict[str, str]()}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = os.path.join(folder, "x.bandit")
        eo.create(path, ["a", "b", "c"])
        for turn in range(given.kills):
            told_lines = _killed(path, str(turn), bool(turn % 2), rng.random() * 0.5)  # durable every other time
            for line in told_lines.decode().splitlines():
                kind, name, answer = line.split()
                told[kind][name] = answer
            with eo.Experiment(path) as one:
                assert one.recount() == one.arms, f"after kill {turn}"
        with eo.Experiment(path) as one:
            rows = {row["id"]: row for row in one.log()}
            lost = sum(rows[name]["arm"] != arm for name, arm in told["d"].items() if name in rows)
            lost += sum(name not in rows for name in told["d"])
            wrong = sum(str(int(rows[name]["reward"] or 0)) != reward for name, reward in told["r"].items())
            missing = sum(rows[name]["reward"] is None for name in told["r"])
            kept = one.report()
    result = {
        "kills": given.kills, "acknowledged decisions": len(told["d"]), "acknowledged rewards": len(told["r"]),
        "decisions in the file": kept["decided"], "rewards in the file": kept["rewarded"], "lost": lost + missing,
        "wrong": wrong,
    }  # fmt: skip
    print(result)
    return {"kill -9": result}


def _killed(path: str, turn: str, durable: bool, after: float) -> bytes:
    """What four clients were told in a process that was killed some time after its first answer."""
    ours, theirs = os.pipe()
    child = os.fork()  # nothing is imported anew: a kill takes a third of a second, not three
    if child == 0:
        os.close(ours)
        _clients().work(path, turn, durable, theirs)
        threading.Event().wait()
    os.close(theirs)
    with open(ours, "rb") as pipe:
        parts = [pipe.readline()]
        reader = threading.Thread(target=lambda: parts.append(pipe.read()))
        reader.start()
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        reader.join()
    return b"".join(parts)


def _clients() -> Any:
    spec = importlib.util.spec_from_file_location("bandit_clients", CLIENTS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def log(given: Any) -> dict[str, Any]:
    """The uniform log of Open Bandit (men) evaluates the policy of the Thompson log."""
    uniform, other = _open_bandit("random"), _open_bandit("bts")
    target = eo.frequencies(other)
    found = eo.evaluate(uniform, target)
    w, r, rng = weights(uniform, target), uniform.rewards, np.random.default_rng(0)
    again = [w[i] @ r[i] / w[i].sum() for i in (rng.integers(0, len(w), len(w)) for _ in range(4000))]
    low, high = np.quantile(again, [0.025, 0.975])
    print(found, f"\nsnips by bootstrap: {low:.5f} to {high:.5f}; truth {other.rewards.mean():.5f}")
    return {
        "open bandit, men": found.to_dicts(), "bootstrap of snips": [float(low), float(high)],
        "truth": float(other.rewards.mean()),
    }  # fmt: skip


def _open_bandit(name: str) -> eo.Log:
    with gzip.open(data_folder() / "open_bandit_men" / f"{name}.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    return eo.Log.of(
        [row["item_id"] for row in rows],
        [float(row["click"]) for row in rows],
        [float(row["propensity_score"]) for row in rows],
        [row["position"] for row in rows],
    )


PARTS = {"table": table, "growth": growth, "speed": speed, "live": live, "kill": kill, "log": log}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--peers", action="append", default=[], help="an interpreter that has other packages")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--folder", help="where experiments are written; a disk, not memory")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    results: dict[str, Any] = {}
    old = report.RESULTS / "bandits.json"
    if given.save and old.exists():  # parts that are not run again stay
        with contextlib.suppress(ValueError):
            results = {k: v for k, v in json.loads(old.read_text()).items() if k != "environment"}
    for name in given.only:
        print(f"\n## {name}\n", flush=True)
        results |= PARTS[name](given)
    if given.save:
        report.save("bandits", results)


if __name__ == "__main__":
    main()
