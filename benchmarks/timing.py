"""Timing side by side: warm, in one process, in turns, the best of a few."""

import gc
import time
from collections.abc import Callable, Mapping

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


def best_of_many(task: Callable[[], object], seconds: float = 1.0) -> float:
    """The best seconds of one short task, repeated for about some time."""
    task()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best
