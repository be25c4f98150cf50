"""Measuring side by side: warm, in one process, in turns, the best of a few; or in a process of its own."""

import gc
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

Tasks = Mapping[str, Callable[[], object]]
ROOT = Path(__file__).resolve().parents[1]


class Time(NamedTuple):
    """Seconds by the clock, and those that all cores together worked, which other processes change less."""

    seconds: float
    cpu: float


def once(task: Callable[[], Any]) -> tuple[Time, Any]:
    """How long a task takes, and what it returns."""
    start, cpu = time.perf_counter(), time.process_time()
    found = task()
    return Time(time.perf_counter() - start, time.process_time() - cpu), found


def warm(tasks: Tasks) -> None:
    """Run every task once, unmeasured: compiled code, caches and thread pools are then there."""
    for task in tasks.values():
        task()


def best_of(tasks: Tasks, repeats: int = 3, patience: float = float("inf")) -> dict[str, Time]:
    """The best times of every task, the tasks taking turns so that a busy moment of the machine hits all alike.

    A result is freed before the next task starts, outside the measured time. One that took more seconds than there is
    patience is not run again.
    """
    best: dict[str, Time] = {}
    for _ in range(repeats):
        for name, task in tasks.items():
            if name in best and best[name].seconds > patience:
                continue
            gc.collect()
            now, result = once(task)
            del result
            best[name] = Time(*map(min, now, best.get(name, now)))
    return best


def best_of_many(task: Callable[[], object], seconds: float = 1.0) -> float:
    """The best seconds of one short task, repeated for about some time."""
    task()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best


class Neighbours:
    """How many cores other processes kept busy meanwhile: with more than a little, times are not to be trusted."""

    def __init__(self) -> None:
        self.start, self.before = time.perf_counter(), self._others()

    @staticmethod
    def _others() -> float:
        """CPU seconds of everyone but this process and its children, since boot (Linux; 0 elsewhere)."""
        stat = Path("/proc/stat")
        if not stat.exists():
            return 0.0
        user, nice, system, _idle, _wait, irq, soft, steal = map(int, stat.read_text().split()[1:9])
        return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])

    def cores(self) -> float:
        """The mean number of cores others have used since this was made."""
        return max(0.0, self._others() - self.before) / max(time.perf_counter() - self.start, 1e-9)


class ProcessError(RuntimeError):
    """Why a process of its own gave nothing."""


def fresh(
    module: str,
    *arguments: str,
    python: str = sys.executable,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Any:
    """What a benchmark, run in a fresh process, prints as its last line: JSON."""
    command = [python, "-m", f"benchmarks.{module}", *arguments]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    told = {**os.environ, "PYTHONPATH": paths, **(environment or {})}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=told, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ProcessError(f"more than {timeout:g} s") from None
    if done.returncode:
        raise ProcessError((done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def there(module: str) -> Any:
    """A library to run beside ours; or None, and a sentence."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        print(f"{module} is left out: {error}", file=sys.stderr)
        return None


def has(python: str, module: str) -> bool:
    """Whether an interpreter has a library; if not, a sentence."""
    found = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    if not found:
        print(f"{python} has no {module}", file=sys.stderr)
    return found


def cached(*paths: str) -> None:
    """Read files once, so that the system has them in memory if it can."""
    for path in paths:
        with open(path, "rb", buffering=0) as stream:
            while stream.read(1 << 24):
                pass
