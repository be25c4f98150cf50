"""Work done by other processes: they are started, replaced when one is killed, and ended here and nowhere else."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any, Self, TypeVar

from evenodds.errors import DataError

R = TypeVar("R")


class Workers:
    """Processes that work, started when there is something to do; whatever happens, none of them is left behind."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.pool: ProcessPoolExecutor | None = None

    def begin(self, name: str, task: Callable[..., R], *given: Any) -> Callable[[], R]:
        """Begin a task, by the name of what it is about; the result is called for later.

        A worker that was killed is replaced, once, by a process of its own: a task too large takes no other with it.
        """
        begun = self._submit(name, task, *given)

        def result() -> R:
            try:
                return begun.result()
            except BrokenProcessPool:
                return _again(name, task, *given)

        return result

    def _submit(self, name: str, task: Callable[..., R], *given: Any) -> Future[R]:
        for _ in range(2):
            self.pool = self.pool or ProcessPoolExecutor(self.many, multiprocessing.get_context("spawn"), _quiet)
            with suppress(BrokenProcessPool):
                return self.pool.submit(task, *given)
            self.pool.shutdown(wait=False)
            self.pool = None
        raise DataError(f"{name}: the processes that should count it do not live long enough")

    def kill(self) -> None:
        """End them at once, whatever they are doing; there are new ones when something is begun."""
        running = None if self.pool is None else self.pool._processes
        for process in list((running or {}).values()):
            process.kill()
        self.end()

    def end(self) -> None:
        """End them when they have done what they are doing."""
        pool, self.pool = self.pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            self.end()
        else:
            self.kill()


def _again(name: str, task: Callable[..., R], *given: Any) -> R:
    """The task done by a process of its own, after its first one died."""
    with Workers(1) as worker:
        try:
            return worker._submit(name, task, *given).result()
        except BrokenProcessPool:
            raise DataError(
                f"{name}: the process that counted it ended before it was done, twice: is there enough memory? "
                "(A script that starts workers is loaded by each: its work must stand under if __name__ == '__main__')"
            ) from None


def _quiet() -> None:
    """A worker that is interrupted goes without a word: its parent says what happened."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
