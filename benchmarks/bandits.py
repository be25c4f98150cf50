"""Bandits: a table of regrets, speed beside other packages, live decisions, kill -9, and a real log.

    python -m benchmarks.bandits --save --peers /tmp/a/bin/python --peers /tmp/b/bin/python    # some ten minutes
    python -m benchmarks.bandits --only speed --peers ...        # table,growth,speed,live,kill,log

`--peers` names interpreters that have MABWiser, river or SMPyBandits (which needs numpy below 2 and scipy below 1.12),
if not the one that runs this; they take turns with ours. Live speeds depend on how long the disk takes to sync, which
is measured beside them.
"""

import csv
import functools
import gzip
import importlib.util
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.bandit_peers import MEANS
from benchmarks.report import Result
from benchmarks.tables import data_folder
from benchmarks.timing import fresh, once
from evenodds import bandits as eo
from evenodds.bandits.offline import weights

CLIENTS = Path(__file__).parents[1] / "tests" / "bandit_clients.py"
POLICIES = [eo.Greedy(), eo.ExploreThenExploit(450), eo.EpsilonGreedy(0.1), eo.UCB(), eo.UCB1(), eo.Thompson()]
ROUNDS, LONG = 10_000, 100_000
OF_A_CORE = ", a core's second"


def table(given: Any) -> Result:
    """Regret on means .1 ... .9."""
    played = eo.simulate(POLICIES, MEANS, ROUNDS, given.runs)
    rows = [{"policy": row["policy"], "regret": row["regret"], "error": row["±"]} for row in played.regret_table]
    return {"table": rows, "runs": given.runs}


def growth(given: Any) -> Result:
    """How regret grows in ten times as many rounds, and where others overtake ε-greedy."""
    runs = given.runs // 4
    played = eo.simulate([eo.EpsilonGreedy(0.1), eo.UCB(), eo.UCB1(), eo.Thompson()], MEANS, LONG, runs)
    crossing = {name: eo.crossing(played, p, 0) for p, name in enumerate(played.names) if p}
    found = {"growth": eo.growth(played).to_dicts(), "overtakes epsilon-greedy": crossing, "runs": runs}
    return {**found, "regret": played.regret_table.to_dicts()}


def speed(given: Any) -> Result:
    """Simulated decisions per second: ours and the others', in turns; the best of three."""
    ours = {"epsilon": eo.EpsilonGreedy(0.1), "ucb": eo.UCB(), "thompson": eo.Thompson()}
    eo.simulate(list(ours.values()), MEANS, 1000, 8)  # compiled
    speeds: dict[str, dict[str, dict[str, float]]] = {"ours": {}}
    for _ in range(3):
        for name, policy in ours.items():
            runs = 64 if name == "thompson" else 256
            took, _played = once(lambda: eo.simulate([policy], MEANS, 20_000, runs))  # noqa: B023  called at once
            now = {"a second": runs * 20_000 / took.seconds, "a core's second": runs * 20_000 / took.cpu}
            speeds["ours"][name] = _better(now, speeds["ours"].get(name, now))
        for python in given.peers or [sys.executable]:
            for package, its in fresh("bandit_peers", python=python).items():
                kept = speeds.setdefault(f"{package} {its['version']}", its["speeds"])
                for name, now in its["speeds"].items():
                    kept[name] = _better(now, kept[name])
    return {"decisions": speeds}


def _better(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    return {unit: max(a[unit], b[unit]) for unit in a}


def live(given: Any) -> Result:
    """decide + reward per second: batched in one thread, and every answer on the disk before it is given."""
    found: dict[str, Any] = {"sync_ms": _sync_ms()}
    for name, durable, clients, pairs in (
        ("batched, 1 client", False, 1, 20_000), ("durable, 1 client", True, 1, 300),
        ("durable, 8 clients", True, 8, 2400), ("durable, 32 clients", True, 32, 6400),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            path = os.path.join(folder, "x.bandit")
            eo.create(path, ["a", "b", "c"], random_state=1)
            with eo.Experiment(path, durable=durable) as one:
                work = functools.partial(_pairs, one, pairs // clients)
                took, _ = once(functools.partial(_together, clients, work))
                found[name], found[name + OF_A_CORE] = pairs / took.seconds, pairs / took.cpu
                assert one.recount() == one.arms
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


def kill(given: Any) -> Result:
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
            rows = {row["id"]: row for row in one.export()}
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


def log(given: Any) -> Result:
    """The uniform log of Open Bandit (men) evaluates the policy of the Thompson log."""
    uniform, other = _open_bandit("random"), _open_bandit("bts")
    target = eo.frequencies(other)
    found = eo.evaluate(uniform, target)
    w, r, rng = weights(uniform, target), uniform.rewards, np.random.default_rng(0)
    again = [w[i] @ r[i] / w[i].sum() for i in (rng.integers(0, len(w), len(w)) for _ in range(4000))]
    low, high = np.quantile(again, [0.025, 0.975])
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


def shown_table(result: Result) -> str:
    """Regrets."""
    rows = [[f"`{row['policy']}`", f"{row['regret']:.0f} ± {row['error']:.0f}"] for row in result["table"]]
    return report.table([f"{ROUNDS:,} rounds, {result['runs']} runs", "regret"], rows)


def shown_growth(result: Result) -> str:
    """Like T or like log T, by how much, and where ε-greedy is overtaken."""
    rows = []
    for row in result["growth"]:
        linear = row["like"] == "T"
        slope = f"{row['per round']:.3f} a round" if linear else f"{row['per log round']:.1f} an e-fold of rounds"
        overtakes = result["overtakes epsilon-greedy"].get(row["policy"])
        fits = f"{row['R² of T' if linear else 'R² of log T']:.4f}"
        rows.append([f"`{row['policy']}`", row["like"], slope, fits, f"{overtakes:,}" if overtakes else ""])
    header = [f"{LONG:,} rounds, {result['runs']} runs", "grows like", "slope", "R²", "overtakes ε-greedy in round"]
    return report.table(header, rows)


def shown_speed(result: Result) -> str:
    """Millions of decisions a second, and how many times less than ours they are."""
    speeds = result["decisions"]
    ours = speeds["ours"]

    def cell(who: str, name: str) -> str:
        mine, theirs = ours[name]["a second"], speeds[who][name]["a second"]
        return f"{mine / 1e6:.1f}" if who == "ours" else f"{theirs / 1e6:.2g} ({mine / theirs:,.0f})"

    rows = [[who, *(cell(who, name) for name in ours)] for who in speeds]
    return report.table(["million decisions a second", "ε-greedy", "UCB", "Thompson"], rows)


def shown_live(result: Result) -> str:
    """Pairs of decide and reward a second."""
    found = result["live"]
    names = [name for name in found if name + OF_A_CORE in found]
    rows = [[name, f"{found[name]:,.0f}", f"{found[name + OF_A_CORE]:,.0f}"] for name in names]
    return report.blocks(
        report.table(["`decide` and `reward`", "a second", "for each second of a core"], rows),
        f"A sync of the disk took {found['sync_ms']:.1f} ms just before.",
    )


def shown_kill(result: Result) -> str:
    """What was lost."""
    found = result["kill -9"]
    bad = found["lost"] + found["wrong"]
    return report.paragraph(
        f"After {found['kills']} kills, of {found['acknowledged decisions']:,} acknowledged decisions and",
        f"{found['acknowledged rewards']:,} acknowledged rewards {f'{bad:,} were' if bad else 'none was'} lost,",
        "changed or counted twice, and the kept sums equalled a recount after every kill.",
    )


def shown_log(result: Result) -> str:
    """What the estimators say of the other log, and what is so."""
    found = result["open bandit, men"]
    low, high = result["bootstrap of snips"]
    rows = [
        [
            one["estimator"],
            f"{one['value']:.4f}",
            f"{one['low']:.4f} to {one['high']:.4f}",
            f"{one['effective rows']:,.0f} of {one['rows']:,}",
        ]
        for one in found
    ]
    rows.append(["snips by bootstrap, 4,000 times", "", f"{low:.4f} to {high:.4f}", ""])
    rows.append(["truth: the Thompson log itself", f"{result['truth']:.4f}", "", ""])
    snips = next(one for one in found if one["estimator"] == "snips")
    where = "inside" if snips["low"] <= result["truth"] <= snips["high"] else "outside"
    widths = f"our interval of snips is {snips['high'] - snips['low']:.5f} wide, the bootstrap's {high - low:.5f}"
    return report.blocks(
        report.table(["", "clicks a decision", "95 % interval", "effective rows"], rows),
        report.paragraph(f"The truth is {where}, and {widths}."),
    )


PARTS: dict[str, tuple[Callable[[Any], Result], Callable[[Result], str]]] = {
    "table": (table, shown_table),
    "growth": (growth, shown_growth),
    "speed": (speed, shown_speed),
    "live": (live, shown_live),
    "kill": (kill, shown_kill),
    "log": (log, shown_log),
}


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--only", type=report.names, default=list(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--peers", action="append", default=[], help="an interpreter that has other packages")
    parser.add_argument("--runs", type=int, default=400, help="of the table; a quarter of them to see regrets grow")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--folder", help="where experiments are written; a disk, not memory")
    given = parser.parse_args()
    for part in given.only:
        measure, shown = PARTS[part]
        report.finish(f"bandits_{part}", measure(given), shown, given.save)


if __name__ == "__main__":
    main()
