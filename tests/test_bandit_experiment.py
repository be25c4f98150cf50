"""The durable bandit: idempotent, addable, and whole after every fault."""

import errno
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evenodds.bandits import EXP3, UCB, EpsilonGreedy, Fading, Greedy, Thompson, Windowed
from evenodds.bandits import experiment as module
from evenodds.bandits.adding import add
from evenodds.bandits.experiment import Experiment, create
from evenodds.errors import DataError
from evenodds.families import Beta, Gamma

HERE = Path(__file__).parent


@pytest.fixture
def path(tmp_path):
    return tmp_path / "button.bandit"


def state(experiment):
    return [vars(arm) for arm in experiment.recount()], [vars(arm) for arm in experiment.arms], experiment.export()


def assert_whole(experiment):
    """What is kept equals a recount of the log."""
    again, kept, _ = state(experiment)
    assert again == kept


def test_the_same_id_gets_the_same_arm_and_a_reward_counts_once(path):
    create(path, ["green", "red"], random_state=1)
    with Experiment(path) as button:
        first = [button.decide(f"v{i}") for i in range(30)]
        assert [button.decide(f"v{i}") for i in range(30)] == first
        assert button.reward("v3", 1) is True
        assert button.reward("v3", 1) is False
        report = button.report()
        assert (report["decided"], report["rewarded"], report["waiting"]) == (30, 1, 29)
        json.dumps(report)
        assert all(row["propensity"] == 0.5 for row in button.export())
        assert_whole(button)
    with Experiment(path, durable=False) as again:
        assert [again.decide(f"v{i}") for i in range(30)] == first
        assert again.rewards({f"v{i}": i % 2 for i in range(30) if i != 3}) == 29
        assert_whole(again)
    assert sorted(os.listdir(path.parent)) == ["button.bandit"]


def test_a_seed_decides(tmp_path):
    chosen = []
    for name in ("a", "b"):
        create(tmp_path / name, ["x", "y", "z"], random_state=5)
        with Experiment(tmp_path / name, durable=False) as one:
            chosen.append([one.decide(str(i)).arm for i in range(50)])
    assert chosen[0] == chosen[1]
    assert set(chosen[0]) == {"x", "y", "z"}


@pytest.mark.parametrize(
    ("rewards", "words"),
    [
        ({"nobody": 1}, "no decision was made for 'nobody'"),
        ({"v1": float("nan")}, "the reward nan cannot be"),
        ({"v1": 0.5}, "a Bernoulli arm gives 0 and 1 only"),
        ({"v1": "much"}, "no number"),
        ({"v1": None}, "no number"),
        ({"v0": 0}, "rewarded with 1 before; it cannot be 0"),
        ({"v1": 1, "v2": 7}, "gives 0 and 1 only"),
        ({"v1": 1, "nobody": 1}, "no decision was made"),
        ({"": 1}, "an id is a text"),
    ],
)
def test_what_cannot_be_rewarded_changes_nothing(path, rewards, words):
    create(path, ["green", "red"])
    with Experiment(path, durable=False) as button:
        for i in range(3):
            button.decide(f"v{i}")
        button.reward("v0", 1)
        before = state(button)
        with pytest.raises(DataError, match=words):
            button.rewards(rewards)
        assert state(button) == before
        assert_whole(button)


def test_measured_and_counted_rewards_and_their_range(tmp_path):
    create(tmp_path / "m", ["a", "b"], rewards="gaussian", low=0, high=1e9)
    with Experiment(tmp_path / "m", durable=False) as money:
        for i in range(40):
            money.decide(str(i))
            money.reward(str(i), 1e8 + random.Random(i).random())
        for bad in (-1, 2e9, float("inf")):
            with pytest.raises(DataError, match=r"out of range: expected 0 to 1e\+09|cannot be"):
                money.reward("1", bad)
        assert_whole(money)
        for row in money.report()["arms"]:
            paid = np.array([each["reward"] - 1e8 for each in money.export() if each["arm"] == row["arm"]])
            low, high = stats.t.interval(0.95, len(paid) - 1, paid.mean(), stats.sem(paid))
            assert (row["low"] - 1e8, row["high"] - 1e8) == pytest.approx((low, high), abs=1e-7)
    create(tmp_path / "c", ["a", "b"], UCB(), rewards="poisson")
    with Experiment(tmp_path / "c", durable=False) as clicks:
        arm = clicks.decide("x").arm
        clicks.reward("x", 3)
        assert clicks.shares()[arm] == 0.0  # the other arm is still to be tried
        with pytest.raises(DataError, match="cannot be"):
            clicks.reward("x", 1.5)
        with pytest.raises(DataError, match=r"the reward 1e\+200 is too large"):
            clicks.reward("x", 1e200)


@pytest.mark.parametrize("rewards", ["bernoulli", "gaussian", "poisson"])
def test_one_arm_is_enough_and_so_is_one_reward(path, rewards):
    create(path, ["a", "b"], rewards=rewards)
    with Experiment(path, durable=False) as one:
        one.retire("b")
        for i in range(3):
            assert one.decide(str(i)).propensity == 1.0
            one.reward(str(i), 1)
            row = one.report()["arms"][0]
            assert (row["rewarded"], row["mean"], row["share"]) == (i + 1, 1.0, 1.0)
            # a spread is not known of one reward, nor of such as are all the same
            assert (row["low"] is None) == (rewards == "gaussian")
        assert_whole(one)


def test_arms_come_and_go(path):
    create(path, ["green", "red"], minimum=0.2, random_state=3)
    with Experiment(path, durable=False) as button:
        old = {button.decide(f"v{i}").arm for i in range(20)}
        assert old == {"green", "red"}
        button.retire("red")
        assert button.shares() == {"green": 1.0}
        assert {button.decide(f"w{i}").arm for i in range(20)} == {"green"}
        red = next(row["id"] for row in button.export() if row["arm"] == "red")
        assert button.reward(red, 1)  # late
        button.add_arm("blue")
        assert set(button.shares()) == {"green", "blue"}
        button.add_arm("red")
        assert all(share >= 0.2 for share in button.shares().values())
        assert sum(button.shares().values()) == pytest.approx(1)
        for words, call in (
            ("already", lambda: button.add_arm("blue")),
            ("arm 'pink' not found; the arms are", lambda: button.retire("pink")),
            ("an arm's name", lambda: button.add_arm(" ")),
        ):
            with pytest.raises(DataError, match=words):
                call()
        button.add_arm("grey")
        button.add_arm("brown")
        with pytest.raises(DataError, match="too much for 6 arms"):
            button.add_arm("black")
        for name in ("red", "blue", "grey", "brown"):
            button.retire(name)
        with pytest.raises(DataError, match="the last arm"):
            button.retire("green")
        assert_whole(button)


def test_thompson_learns_live_and_propensities_are_those_of_the_draw(path):
    create(path, ["bad", "good"], minimum=0.05, random_state=1)
    rng = random.Random(0)
    with Experiment(path, durable=False) as button:
        for i in range(600):
            arm = button.decide(str(i)).arm
            button.reward(str(i), int(rng.random() < {"bad": 0.2, "good": 0.6}[arm]))
        log = button.export()
        assert sum(row["arm"] == "good" for row in log[300:]) > 250
        weights = [1 / row["propensity"] for row in log if row["arm"] == "bad"]
        assert sum(weights) == pytest.approx(600, rel=0.35)  # propensities add up to the decisions, on average
        assert min(row["propensity"] for row in log) >= 0.05 - 1e-12
        assert_whole(button)


@pytest.mark.parametrize("policy", [Greedy(), EpsilonGreedy(0.2), UCB(), Thompson(Beta(2, 2)), Fading(Thompson(), 0.9)])
def test_policies_are_kept_in_the_file(path, policy):
    create(path, ["a", "b"], policy)
    with Experiment(path, durable=False) as one:
        assert one.rules.policy == policy
        for i in range(60):
            one.reward(one.decide(str(i)).id, i % 2)
        assert_whole(one)
        if isinstance(policy, Fading):
            assert sum(arm.n for arm in one.arms) == pytest.approx((1 - 0.9**60) / 0.1)


def test_a_fading_experiment_turns_where_the_world_does(path):
    """Of 3,000 rewards it knows ten: forty more are all that it knows, if not 2 % of what it was ever told."""
    create(path, ["a", "b"], Fading(Thompson(), 0.9), minimum=0.1, random_state=1)
    with Experiment(path, durable=False) as one:
        arms = [one.decide(str(i)).arm for i in range(3040)]
        one.rewards({str(i): int(arm == "a") for i, arm in enumerate(arms[:3000])})
        assert one.shares()["a"] > 0.8
        one.rewards({str(i): int(arm == "b") for i, arm in enumerate(arms[3000:], 3000)})
        assert one.shares()["b"] > 0.8


def test_shares_are_formed_anew_when_there_are_2_percent_more_rewards(path):
    create(path, ["a", "b"], random_state=1)
    with Experiment(path, durable=False) as one:
        for i in range(110):
            one.decide(str(i))
        one.rewards({str(i): i % 2 for i in range(100)})
        before = one.shares()
        one.rewards({"100": 1, "101": 0})
        assert one.shares() == before
        one.reward("102", 1)
        assert one.shares() != before


BAD = ["\ud800", "a\udcff", "", 7, "x" * 1001]


@pytest.mark.parametrize("bad", BAD)
def test_what_cannot_be_an_id_fails_nobody_else(path, bad):
    create(path, ["a", "b"])
    with Experiment(path, durable=False) as one, ThreadPoolExecutor(8) as clients:
        asked = [(clients.submit(one.decide, f"v{i}"), clients.submit(one.decide, bad)) for i in range(40)]
        for i, (good, refused) in enumerate(asked):
            assert good.result().id == f"v{i}"
            with pytest.raises(DataError, match="an id is a text of 1 to 1,000 characters"):
                refused.result()
        rewarded = [
            (clients.submit(one.reward, f"v{i}", 1), clients.submit(one.reward, f"v{i}", 10**400)) for i in range(40)
        ]
        for good, refused in rewarded:
            assert good.result() is True
            with pytest.raises(DataError, match="too large"):
                refused.result()
        assert_whole(one)


def test_a_closed_experiment_says_so(path):
    create(path, ["a", "b"])
    one = Experiment(path)
    one.close()
    with pytest.raises(ValueError, match="is closed; open the experiment again"):
        one.decide("late")


def test_experiments_add(tmp_path):
    a, b, both = (tmp_path / name for name in ("a", "b", "both"))
    for path, names in ((a, ["x", "y"]), (b, ["y", "z"])):
        create(path, names, random_state=1)
        with Experiment(path, durable=False) as one:
            for i in range(20):
                arm = one.decide(f"{path.name}{i}").arm
                if i % 4:
                    one.reward(f"{path.name}{i}", int(arm == "y"))
    add([a, b], both)
    with Experiment(both) as sum_, Experiment(a) as one, Experiment(b) as two:
        assert_whole(sum_)
        rows = {row["arm"]: row for row in sum_.report()["arms"]}
        assert set(rows) == {"x", "y", "z"}
        assert sum_.report()["decided"] == 40
        for what in ("decided", "rewarded"):
            parts = [row[what] for part in (one, two) for row in part.report()["arms"] if row["arm"] == "y"]
            assert rows["y"][what] == sum(parts)
        assert sorted(row["id"] for row in sum_.export()) == sorted(row["id"] for row in one.export() + two.export())
    with pytest.raises(FileExistsError):
        add([a, b], both)


def test_what_contradicts_itself_is_not_added(tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c", "d")]
    for path, names, decided in zip(paths, (["x"], ["y"], ["x"], ["x"]), ("same", "same", "same", "other")):
        create(path, names, UCB() if path.name == "d" else None)
        with Experiment(path, durable=False) as one:
            one.decide(decided)
            one.reward(decided, int(path.name == "a"))
    for others, words in (
        (paths[:2], "'same' was decided differently: 'x' before, 'y' in"),
        (paths[::2], "'same' was rewarded differently: 1 before, 0 in"),
        ([paths[0], paths[3]], "another policy"),
        (paths[:1], "its own sum"),
    ):
        with pytest.raises(DataError, match=words):
            add(others, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    add([paths[0], paths[0]], tmp_path / "twice")  # the same file is no contradiction, and counts once
    with Experiment(tmp_path / "twice") as one:
        assert one.report()["rewarded"] == 1


@pytest.mark.parametrize("durable", [True, False])
def test_killed_at_random_moments(path, durable):
    """No acknowledged decision or reward is lost or counted twice; benchmarks/bandits.py does the same 200 times."""
    create(path, ["a", "b", "c"])
    rng, acknowledged = random.Random(1), {"d": {}, "r": {}}
    for turn in range(4):
        killed(path, turn, durable, 0.2 + rng.random(), acknowledged)
    assert_nothing_lost(path, acknowledged)


def killed(path, turn, durable, after, acknowledged):
    """Let four clients work for some time after their first answer, kill them, and note what they were told."""
    command = [sys.executable, str(HERE / "bandit_clients.py"), str(path), str(turn), str(int(durable))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        told = [process.stdout.readline()]
        reader = threading.Thread(target=lambda: told.append(process.stdout.read()))
        reader.start()
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        reader.join()
    for line in b"".join(told).decode().splitlines():
        kind, name, answer = line.split()
        acknowledged[kind][name] = answer


def assert_nothing_lost(path, acknowledged):
    with Experiment(path) as one:
        assert_whole(one)
        rows = {row["id"]: row for row in one.export()}
        assert len(acknowledged["d"]) > 20
        assert {name: rows[name]["arm"] for name in acknowledged["d"]} == acknowledged["d"]
        assert {name: str(int(rows[name]["reward"])) for name in acknowledged["r"]} == acknowledged["r"]
        for name, arm in acknowledged["d"].items():
            assert one.decide(name).arm == arm


def test_two_processes_on_one_file(path):
    """Both write; neither loses or doubles what the other has written."""
    create(path, ["a", "b"])
    script = (
        "import sys; from evenodds.bandits.experiment import Experiment\n"
        "with Experiment(sys.argv[1], durable=False) as one:\n"
        "    for i in range(150):\n"
        "        one.decide(f'{sys.argv[2]}{i}'); one.decide(f'both{i}'); one.reward(f'both{i}', i % 2)\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in "xy"]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    with Experiment(path) as one:
        assert_whole(one)
        report = one.report()
        assert (report["decided"], report["rewarded"]) == (450, 150)


def test_another_process_that_writes_for_too_long(path, monkeypatch):
    create(path, ["a", "b"])
    monkeypatch.setattr("evenodds.bandits.store.WAIT", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    with Experiment(path) as one:
        one.decide("x")
        other.execute("begin immediate")
        with pytest.raises(TimeoutError, match="another process has been writing"):
            one.decide("y")
        other.execute("rollback")
        assert one.decide("y").id == "y"
        assert len(one.export()) == 2
        assert_whole(one)
    other.close()


def many(experiment, word):
    for i in range(2000):
        experiment.decide(f"{word} {i} {'x' * 900}")


def test_a_full_disk_changes_nothing(path):
    create(path, ["a", "b"])
    with Experiment(path) as one:
        for i in range(20):
            one.decide(f"before {i}")
        connection = one._store.connection
        pages = connection.execute("pragma page_count").fetchone()[0]
        connection.execute(f"pragma max_page_count = {pages}")
        with pytest.raises(OSError, match="the disk is full; nothing was changed") as raised:
            many(one, "more")
        assert raised.value.errno == errno.ENOSPC
        before = len(one.export())
        assert_whole(one)
        with pytest.raises(OSError, match="the disk is full"):
            many(one, "again")
        connection.execute("pragma max_page_count = 1000000")
        one.decide("after")
        assert one.reward("before 1", 1)
        assert len(one.export()) > before
        assert_whole(one)


def test_a_file_that_may_not_grow_changes_nothing(path):
    """The write itself fails, in the log beside the file, as on a disk without room."""
    create(path, ["a", "b"])
    script = (
        "import resource, signal, sys; from evenodds.bandits.experiment import Experiment\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "one = Experiment(sys.argv[1]); resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, -1))\n"
        "try:\n"
        "    for i in range(1000): one.decide(str(i)); print(i, flush=True)\n"
        "except OSError as error: print(error.strerror)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))\n"
        "assert one.recount() == one.arms\n"
        "one.decide('after'); one.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    *acknowledged, said = done.stdout.splitlines()
    assert "nothing was changed" in said
    with Experiment(path) as one:
        assert {row["id"] for row in one.export()} >= {*acknowledged, "after"}
        assert_whole(one)


def test_a_clock_that_goes_back(path, monkeypatch):
    create(path, ["a", "b"])
    with Experiment(path, durable=False) as one:
        one.decide("first")
        now = time.time()
        monkeypatch.setattr(module.time, "time", lambda: now - 86400)
        one.decide("second")
        one.reward("first", 1)
        rows = {row["id"]: row for row in one.export()}
        assert rows["second"]["time"] >= rows["first"]["time"]
        assert rows["first"]["rewarded"] >= rows["first"]["time"]
        assert_whole(one)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: create(path, []), "0 arms"),
        (lambda path: create(path, "green"), "expected a list of names"),
        (lambda path: create(path, ["a"], minimum=float("nan")), "a minimum share of nan"),
        (lambda path: create(path, ["a"], low=float("nan")), "expected a range"),
        (lambda path: create(path, ["a", "a"]), "two arms are named 'a'"),
        (lambda path: create(path, ["a", ""]), "an arm's name"),
        (lambda path: create(path, ["a", "\ud800"]), "an arm's name"),
        (lambda path: create(path, ["a", "b"], minimum=0.6), "too much for 2 arms"),
        (lambda path: create(path, ["a"], EXP3()), "cannot be kept in a file"),
        (lambda path: create(path, ["a"], Windowed(UCB(), 5)), "cannot be kept in a file"),
        (lambda path: create(path, ["a"], rewards="money"), "expected one of bernoulli"),
        (lambda path: create(path, ["a"], low=1, high=0), "expected a range"),
        (lambda path: create(path, ["a"], Thompson(Gamma(1, 1))), "none of Bernoulli rewards"),
    ],
)
def test_what_cannot_be_created_is_refused_in_words(path, make, words):
    with pytest.raises(ValueError, match=words):
        make(path)
    assert not path.exists()


DO = {
    "decide": lambda one: one.decide("v1"),
    "decide anew": lambda one: one.decide("new"),
    "reward": lambda one: one.reward("v3", 1),
    "reward again": lambda one: one.reward("v1", 1),
    "report": lambda one: one.report(),
    "export": lambda one: one.export(),
    "recount": lambda one: one.recount(),
    "add": lambda one: one.add_arm("c"),
}
POLICY = "update settings set value = '{}' where name = 'policy'"


@pytest.mark.parametrize(
    "change",
    [
        *(f"delete from settings where name = '{name}'" for name in ("policy", "rewards", "minimum", "low", "seed")),
        *(
            POLICY.replace("{}", said)
            for said in ("{", "[1]", "{}", '{"policy": "EXP3"}', '{"policy": "UCB", "c": NaN}')
        ),
        POLICY.replace("{}", '{"policy": "Thompson", "prior": {"Gamma": {"shape": 1, "rate": 1}}}'),
        POLICY.replace("{}", f'{{"policy": "UCB", "c": 1{"0" * 400}}}'),  # no double is as large
        POLICY.replace("{}", '{"policy": "Fading", "factor": 0.5, "of":' * 2000 + "1" + "}" * 2000),
        "update settings set value = x'ff' where name = 'policy'",
        "update settings set value = 'zebra' where name = 'rewards'",
        *(f"update settings set value = '{said}' where name = 'minimum'" for said in ("x", "nan", "0.6")),
        "update settings set value = 'nan' where name = 'low'",
        "delete from arms",
        *(f"update arms set {what} where place = 1" for what in ("place = 7", "n = 'x'", "n = -5", "n = 9e999")),
        *(
            f"update arms set {what}"
            for what in (
                "last = 'z'",
                "retired = 1",
                "decided = -3",
                "total = 77",
                "total_low = -1e308",
                "total_low = 1.5",
            )
        ),
        *(f"update decisions set arm = {place}" for place in (9, -1, "'x'")),
        "update decisions set reward = 'x' where id = 'v1'",
        "drop table decisions",
        "drop table arms; create view arms as select 1 as place",
        "alter table decisions drop column nth",
        "alter table arms add column more",
        "create trigger t after insert on decisions begin delete from arms; end",
    ],
)
def test_a_file_that_was_changed_by_hand_is_refused_in_a_sentence(path, change):
    create(path, ["a", "b"], random_state=1)
    with Experiment(path) as one:
        for i in range(6):
            one.decide(f"v{i}")
        one.rewards({"v1": 1, "v2": 0})
    with sqlite3.connect(path) as connection:
        connection.executescript(change)
    connection.close()
    said = []
    for work in DO.values():
        try:
            with Experiment(path) as one:
                work(one)
        except DataError as error:
            said.append(str(error))
    assert said
    assert all("button.bandit is damaged" in sentence or "reward 'x' is no number" in sentence for sentence in said)


def test_a_file_of_someone_else_is_left_as_it_is(tmp_path):
    with sqlite3.connect(tmp_path / "theirs") as connection:
        connection.execute("create table x (y)")
    connection.close()
    (tmp_path / "empty").touch()
    for name in ("theirs", "empty"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(DataError, match="not an experiment"):
            Experiment(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["empty", "theirs"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        Experiment(tmp_path / "folder")


def test_files_that_are_no_experiments(tmp_path):
    with pytest.raises(FileNotFoundError, match="create it first"):
        Experiment(tmp_path / "nothing")
    (tmp_path / "text").write_text("no database at all, but long enough to look at " * 50)
    with pytest.raises(DataError, match="not an experiment"):
        Experiment(tmp_path / "text")
    sqlite3.connect(tmp_path / "other").execute("create table x (y)").connection.close()
    with pytest.raises(DataError, match="not an experiment"):
        Experiment(tmp_path / "other")
    create(tmp_path / "one", ["a"])
    with pytest.raises(FileExistsError):
        create(tmp_path / "one", ["a"])


def test_a_name_that_sqlite_takes_for_something_else_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    create(":memory:", ["a", "b"], random_state=0)
    with Experiment(":memory:") as one:
        arm = one.decide("x")
    with Experiment(tmp_path / ":memory:") as again:
        assert again.decide("x") == arm
