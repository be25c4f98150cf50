"""Evaluation from logs: unbiased, with intervals that cover; the world where bandits end."""

import math
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats

from evenodds.bandits import (
    UCB,
    Experiment,
    LinUCB,
    Log,
    States,
    Thompson,
    create,
    evaluate,
    frequencies,
    replay,
)
from evenodds.bandits.offline import weights
from evenodds.errors import DataError

MEANS = np.array([0.1, 0.3, 0.5, 0.2])
LOGGED = np.array([0.4, 0.3, 0.1, 0.2])
TARGET = {"0": 0.1, "1": 0.2, "2": 0.6, "3": 0.1}
TRUTH = float(MEANS @ list(TARGET.values()))


def simulated(seed, n=1500):
    rng = np.random.default_rng(seed)
    arms = rng.choice(4, n, p=LOGGED)
    return Log.of(arms, (rng.random(n) < MEANS[arms]).astype(float), LOGGED[arms])


def test_estimators_are_unbiased_and_intervals_cover():
    found = [list(evaluate(simulated(seed), TARGET)) for seed in range(400)]
    for e in range(2):
        values = np.array([each[e]["value"] for each in found])
        covered = np.mean([each[e]["low"] <= TRUTH <= each[e]["high"] for each in found])
        assert abs(values.mean() - TRUTH) < 4 * values.std() / math.sqrt(400)
        assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 400)
        errors = np.array([each[e]["error"] for each in found])
        assert errors.mean() == pytest.approx(values.std(), rel=0.15)


def test_snips_beside_its_bootstrap():
    log, rng = simulated(1), np.random.default_rng(2)
    w, r = weights(log, TARGET), log.rewards
    again = [w[i] @ r[i] / w[i].sum() for i in rng.integers(0, len(w), (2000, len(w)))]
    low, high = np.quantile(again, [0.025, 0.975])
    ours = evaluate(log, TARGET)[1]
    assert ours["high"] - ours["low"] == pytest.approx(high - low, rel=0.06)
    assert ours["effective rows"] == pytest.approx(w.sum() ** 2 / (w**2).sum())


def test_four_decisions_by_hand():
    """Weights 2, 2, 0, 0: what they bring is 2, 0, 0, 0, with mean 1/2 and standard deviation 1."""
    ips, snips = evaluate(Log.of("aabb", [1, 0, 1, 1], [0.5] * 4), {"a": 1.0})
    z = stats.norm.ppf(0.975)
    assert (ips["value"], ips["error"]) == pytest.approx((0.5, 1 / math.sqrt(4)))
    assert (snips["value"], snips["error"]) == pytest.approx((0.5, math.sqrt(1 + 1) / 4))
    for row in (ips, snips):
        assert (row["low"], row["high"]) == pytest.approx((0.5 - z * row["error"], 0.5 + z * row["error"]))
        assert (row["rows"], row["effective rows"], row["largest weight"]) == (4, 2, 2)


def test_a_policy_evaluated_on_its_own_log_is_what_it_earned():
    log = Log.of("aabab", [1, 0, 0, 1, 1], [0.6, 0.6, 0.4, 0.6, 0.4])
    assert evaluate(log, frequencies(log))["value"] == pytest.approx([0.6, 0.6])


def test_groups_are_kept_apart():
    log = Log.of("abab", [1, 0, 0, 1], [0.5] * 4, groups=[1, 1, 2, 2])
    for one, two in (("1", "2"), (1, 2), (1.0, np.int64(2))):
        assert evaluate(log, {(one, "a"): 1.0, (two, "b"): 1.0})["value"] == [1.0, 1.0]
    assert frequencies(log)["1", "a"] == 0.5
    with pytest.raises(DataError, match="says nothing of '2', where 2 decisions were logged"):
        evaluate(log, {(1, "a"): 1.0})
    with pytest.raises(DataError, match="never chose 'c in 1'"):
        evaluate(log, {(1, "c"): 1.0, (2, "b"): 1.0})


def test_an_arm_is_called_alike_in_the_log_and_in_the_target():
    log = Log.of(np.array([1.0, 2.0, 1.0]), [1, 0, 0], [0.5] * 3)
    assert evaluate(log, {1: 1.0})["value"] == evaluate(log, {"1": 1.0})["value"]


@pytest.mark.parametrize("policy", [Thompson(), UCB(0.2)], ids=str)
def test_replay_is_what_the_policy_would_have_earned(policy):
    """On a log whose propensities depend on a context: a policy that is sure of an arm earns its mean."""
    rng, n = np.random.default_rng(0), 40_000
    context = rng.integers(0, 2, n)
    p = np.where(context == 1, 0.8, 0.3)  # of arm 1
    arms = (rng.random(n) < p).astype(int)
    pays = np.where(arms == 1, np.where(context == 1, 0.9, 0.5), 0.3)
    log = Log.of(arms, (rng.random(n) < pays).astype(float), np.where(arms == 1, p, 1 - p), groups=context)
    found = replay(policy, log)
    assert abs(found.value - 0.7) < 0.02 + 3 * found.error
    assert found.accepted > 5000


def test_a_few_rows_that_all_brought_the_same_are_no_certainty():
    log = Log.of("ab" * 40, [0, 1, 0, 0] * 20, uniform=True)
    found = evaluate(log, {"a": 1.0})
    assert found["value"] == [0.0, 0.0]
    assert found["error"] == found["low"] == found["high"] == [None, None]
    assert None not in evaluate(log, {"a": 0.5, "b": 0.5})["error"]
    never = replay(Thompson(), Log.of("ab" * 20, [0] * 40, uniform=True))
    assert (never.value, never.low) == (0.0, 0.0)
    assert never.high == pytest.approx(1 - 0.05 ** (1 / (never.accepted + 1)))  # of a flat prior's Beta(1, 1 + n)
    some = replay(Thompson(), log)
    assert 0 < some.low < some.value < some.high < 1


class First(UCB):
    """Takes the first arm, and writes down in which round it was asked and told."""

    rounds: ClassVar[list[tuple[str, float]]] = []

    def choose(self, arms, t, dice):
        self.rounds.append(("asked", t))
        return 0

    def learn(self, arms, t, arm, reward):
        self.rounds.append(("told", t))
        return super().learn(arms, t, arm, reward)


def test_replay_asks_and_tells_of_each_round_in_turn():
    First.rounds.clear()
    found = replay(First(), Log.of("abaab", [1.5, 1, 0, 1.5, 0], [0.5] * 5))
    told = [(what, t) for t in (1, 2, 3) for what in ("asked", "told")]
    assert First.rounds == [*told, ("asked", 4)]
    error = 1.5 * math.sqrt(1 / 3) / math.sqrt(3)  # of 1.5, 0, 1.5
    assert (found.accepted, found.rows) == (3, 5)
    assert (found.value, found.error) == pytest.approx((1.0, error))
    assert found.high - found.value == pytest.approx(stats.norm.ppf(0.975) * error)


def test_logs_that_say_nothing_are_refused():
    with pytest.raises(DataError, match="no propensities"):
        Log.of("ab", [1, 0])
    assert Log.of("ab", [1, 0], uniform=True).propensities.tolist() == [0.5, 0.5]
    for arguments, words in (
        (("ab", [1, 0], [0.5, 0]), "row 1 has the propensity 0"),
        (("ab", [1, math.nan], [0.5, 0.5]), "row 1 has the reward nan"),
        (("ab", [1], [0.5, 0.5]), "2 arms, 1 rewards, .* give each decision one of each"),
        (("", [], []), "no rows"),
    ):
        with pytest.raises(DataError, match=words):
            Log.of(*arguments)
    log, long = (Log.of("ab" * times, [1, 0] * times, [0.5, 0.5] * times) for times in (1, 50))
    assert repr(log) == "Log(2 decisions among 2 arms, mean reward 0.5)"
    for target, words in (
        ({"a": 0.5}, "add up to 0.5"),
        ({"a": 0.5, "c": 0.5}, "never chose 'c'"),
        ({"a": 2.0, "b": -1.0}, "expected one from 0 to 1"),
        ({}, "add up to 0"),
        ({"a": 0.5, ("g", "b"): 0.5}, "give one or the other"),
    ):
        with pytest.raises(DataError, match=words):
            evaluate(log, target)
    with pytest.raises(DataError, match="too few"):
        replay(UCB(), log)
    for ask in (lambda: evaluate(log, {"a": 1.0}, level=95), lambda: replay(UCB(), long, level=95)):
        with pytest.raises(ValueError, match="level=95: expected a probability"):
            ask()
    with pytest.raises(DataError, match="only 1 row; too few"):
        evaluate(Log.of("a", [1], [0.5]), {"a": 1.0})


def test_an_experiment_is_a_log(tmp_path):
    create(tmp_path / "x", ["a", "b"], minimum=0.1, random_state=1)
    rng = np.random.default_rng(0)
    with Experiment(tmp_path / "x", durable=False) as one:
        for i in range(400):
            arm = one.decide(str(i)).arm
            if i % 10:
                one.reward(str(i), int(rng.random() < {"a": 0.3, "b": 0.6}[arm]))
        log = one.log()
    assert len(log) == 360
    for arm, mean in (("a", 0.3), ("b", 0.6)):
        ips = evaluate(log, {arm: 1.0})[0]
        assert abs(ips["value"] - mean) < 4 * ips["error"]


def test_where_bandits_end():
    field = States([[0.9, 0.3], [0.2, 0.3]], [[1, 0], [1, 0]])
    assert field.best() == (pytest.approx(0.6), (0, 1))
    rows = {row["policy"]: row["a round"] for row in field.play([UCB(), Thompson()], 400, 6)}
    assert max(rows["UCB(c=2)"], rows["Thompson"]) < 0.5 < rows["best rule that sees the state"]
    for play, words in (
        (lambda: field.play([LinUCB()], 10), "needs contexts"),
        (lambda: field.play([UCB()], 0), "rounds=0"),
        (lambda: field.play([UCB()], 10, runs=0), "runs=0"),
    ):
        with pytest.raises(ValueError, match=words):
            play()
    for pays, leads in (([[0.5]], [[1]]), ([[2.0]], [[0]]), ([[0.5]], [[0, 0]])):
        with pytest.raises(ValueError, match="payment"):
            States(pays, leads)
