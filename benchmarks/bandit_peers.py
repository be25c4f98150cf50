"""Simulated decisions per second of other packages: `PYTHON benchmarks/bandit_peers.py` prints them as JSON.

Run by `benchmarks.bandits`, perhaps in other environments, since not all of them bear the same numpy; so it imports
nothing of ours. Every package plays its own loop of pull and update, one decision at a time, as its documentation does.
"""

import contextlib
import importlib.metadata
import io
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

MEANS = [i / 10 for i in range(1, 10)]
SECONDS = 1.0  # for each policy
Step = Callable[[int], int]  # the arm of a round; what it paid has been learnt


def rewards() -> Any:
    return (np.random.default_rng(0).random((100_000, len(MEANS))) < MEANS).astype(float)


def smpybandits(paid: Any) -> dict[str, Callable[[], Step]]:
    from SMPyBandits import Policies

    def playing(make: Callable[[], Any]) -> Callable[[], Step]:
        def ready() -> Step:
            policy = make()
            policy.startGame()

            def step(t: int) -> int:
                arm = int(policy.choice())
                policy.getReward(arm, paid[t, arm])
                return arm

            return step

        return ready

    k = len(MEANS)
    return {
        "epsilon": playing(lambda: Policies.EpsilonGreedy(k, epsilon=0.1)),
        "ucb": playing(lambda: Policies.UCB(k)),
        "thompson": playing(lambda: Policies.Thompson(k)),
    }


def mabwiser(paid: Any) -> dict[str, Callable[[], Step]]:
    from mabwiser.mab import MAB, LearningPolicy

    arms = list(range(len(MEANS)))

    def playing(policy: Any) -> Callable[[], Step]:
        def ready() -> Step:
            learner = MAB(arms, policy, seed=1)
            learner.fit(arms, [0.0] * len(arms))

            def step(t: int) -> int:
                arm = int(learner.predict())
                learner.partial_fit([arm], [paid[t, arm]])
                return arm

            return step

        return ready

    return {
        "epsilon": playing(LearningPolicy.EpsilonGreedy(0.1)),
        "ucb": playing(LearningPolicy.UCB1(alpha=1.0)),
        "thompson": playing(LearningPolicy.ThompsonSampling()),
    }


def river(paid: Any) -> dict[str, Callable[[], Step]]:
    from river import bandit, proba, stats

    arms = list(range(len(MEANS)))

    def playing(make: Callable[[], Any]) -> Callable[[], Step]:
        def ready() -> Step:
            policy = make()

            def step(t: int) -> int:
                arm = int(policy.pull(arms))
                policy.update(arm, paid[t, arm])
                return arm

            return step

        return ready

    return {
        "epsilon": playing(lambda: bandit.EpsilonGreedy(epsilon=0.1, reward_obj=stats.Mean(), seed=1)),
        "ucb": playing(lambda: bandit.UCB(delta=1, reward_obj=stats.Mean(), seed=1)),
        "thompson": playing(lambda: bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=1)),
    }


def main() -> None:
    paid, found = rewards(), {}
    for package, make in (("SMPyBandits", smpybandits), ("mabwiser", mabwiser), ("river", river)):
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                policies = make(paid)
        except ImportError as error:
            print(f"{package} is left out: {error}", file=sys.stderr)
            continue
        speeds = {}
        for name, ready in policies.items():
            step, t, start, busy = ready(), 0, time.perf_counter(), time.process_time()
            while time.perf_counter() - start < SECONDS:
                for _ in range(50):
                    step(t % len(paid))
                    t += 1
            speeds[name] = {
                "a second": t / (time.perf_counter() - start),
                "a core's second": t / (time.process_time() - busy),
            }
        found[package] = {"version": importlib.metadata.version(package), "speeds": speeds}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
