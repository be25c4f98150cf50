"""Timing side by side: warm, in one process, in turns, the best of a few."""

import gc
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

Tasks = Mapping[str, Callable[[], object]]


def warm(tasks: Tasks) -> None:
    """Run every task once, unmeasured: compiled code, caches and thread pools are then there."""
    for task in tasks.values():
        task()


def best_of(tasks: Tasks, repeats: int = 3) -> dict[str, float]:
    """The best seconds of every task, the tasks taking turns so that a busy moment of the machine hits all alike.

    A result is freed before the next task starts, outside the measured time.
    """
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeats):
        for name, task in tasks.items():
            gc.collect()
            start = time.perf_counter()
            result = task()
            best[name] = min(best[name], time.perf_counter() - start)
            del result
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


def best_of_many(task: Callable[[], object], seconds: float = 1.0) -> float:
    """The best seconds of one short task, repeated for about some time."""
    task()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best
