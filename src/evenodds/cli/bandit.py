"""`evenodds bandit`: act while learning. Simulations, logs, and experiments in a file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import options
from evenodds.cli.output import WrongUsageError, print_json

if TYPE_CHECKING:
    from evenodds.bandits.offline import Log
    from evenodds.bandits.policies import Policy
    from evenodds.bandits.worlds import World

POLICIES = "greedy, explore=T0, epsilon=E, ucb[=C], ucb1, thompson, exp3; @window=N or @fade=F behind it forgets"
EXPERIMENT = click.argument("path", type=click.Path(dir_okay=False), metavar="EXPERIMENT")


@click.group(no_args_is_help=True)
def bandit() -> None:
    """Choose between arms while learning what they pay.

    \b
    Which policy loses least?
      evenodds bandit simulate .6,.5 --policies ucb,thompson
    A running experiment: an arm for a visitor, and what came of it.
      evenodds bandit create button.bandit green red
      evenodds bandit decide button.bandit visitor-7
      evenodds bandit reward button.bandit visitor-7 1
      evenodds bandit report button.bandit
    """


@bandit.command(no_args_is_help=True)
@click.argument("means", metavar="MEANS[/MEANS...]")
@click.option("--policies", default="greedy,epsilon,ucb,ucb1,thompson", show_default=True, help=POLICIES + ".")
@click.option(
    "--rewards", type=click.Choice(["bernoulli", "gaussian", "poisson"]), default="bernoulli", help="Of arms."
)
@click.option("--spread", type=float, default=1.0, show_default=True, help="Standard deviation of gaussian rewards.")
@click.option("--at", metavar="N,N,...", help="After how many rounds the means change to the next after a /.")
@click.option("--drift", is_flag=True, help="The means go there in straight lines.")
@click.option("--rounds", type=click.IntRange(min=1), default=1000, show_default=True, help="Of each run.")
@click.option("--runs", type=click.IntRange(min=1), default=200, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of rewards and dice.")
@click.option("--exact", is_flag=True, help="Work out the expected reward instead: for about ten rounds.")
@click.option("--save", type=click.Path(dir_okay=False), metavar="FILE", help="A picture: .svg, .png, .html or .json.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="How many; the result is the same.")
@options.as_json
def simulate(
    means: str,
    policies: str,
    rewards: str,
    spread: float,
    at: str | None,
    drift: bool,
    rounds: int,
    runs: int,
    seed: int,
    exact: bool,
    save: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Play policies on arms of these MEANS, all on the same rewards, and say what they lost.

    \b
      evenodds bandit simulate .1,.5,.6 --rounds 10000
      evenodds bandit simulate .9,.1/.1,.9 --at 500 --policies ucb,ucb@window=100
      evenodds bandit simulate .6,.5 --rounds 10 --exact
    """
    from evenodds import bandits
    from evenodds.plots import regret
    from evenodds.plots import save as write
    from evenodds.plots.save import check_kind
    from evenodds.show import Frame

    if save is not None:
        check_kind(save)
    with _wrong_usage():
        world = _world(means, rewards, spread, at, drift)
        chosen = _policies(policies)
        if exact:
            if save is not None or rewards != "bernoulli" or at is not None:
                raise WrongUsageError("--exact is for Bernoulli arms that stay as they are, and draws no picture")
            expected = [bandits.expected_reward(policy, world.means[0], rounds) for policy in chosen]
            best = float(world.means[0].max()) * rounds
            rows = [
                {"policy": policy.name, "expected reward": value, "regret of means": best - value}
                for policy, value in zip(chosen, expected)
            ]
            _show(Frame(rows, f"{rounds} rounds, exactly"), as_json)
            return
        played = bandits.simulate(chosen, world, rounds, runs, seed=seed, coverage=True, threads=threads)
    if save is not None:
        write(regret(played), save)
    if as_json:
        curves = played.curves().to_dicts()
        print_json(
            {"rounds": rounds, "runs": runs, "seed": seed, "policies": played.regret.to_dicts(),
             "pulls": played.pulls.to_dicts(), "coverage": played.coverage.to_dicts(), "curves": curves}
        )  # fmt: skip
        return
    click.echo(repr(played))
    click.echo("\npulls\n" + repr(played.pulls))
    if len(played.coverage):
        click.echo("\n" + repr(played.coverage))


@bandit.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="LOG...")
@click.option("--arm", default="arm", show_default=True, metavar="COLUMN", help="The arm that was chosen.")
@click.option("--reward", default="reward", show_default=True, metavar="COLUMN", help="What it paid.")
@click.option("--propensity", metavar="COLUMN", help="With which probability; 'propensity' if there is such a column.")
@click.option("--uniform", is_flag=True, help="All arms were equally probable.")
@click.option("--group", metavar="COLUMN", help="Where it was chosen, such as a position.")
@click.option("--target", metavar="LOG", help="Evaluate the policy of this other log: its arms' shares in each group.")
@click.option("--policies", metavar="NAMES", help="Let these learn from the log: " + POLICIES + ".")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the policies' dice.")
@options.reading
@options.as_json
def replay(
    paths: tuple[str, ...],
    arm: str,
    reward: str,
    propensity: str | None,
    uniform: bool,
    group: str | None,
    target: str | None,
    policies: str | None,
    seed: int,
    reading: options.Input,
    as_json: bool,
) -> None:
    """What another policy would have earned, from logged decisions and their probabilities.

    \b
      evenodds bandit replay log.csv --policies ucb,thompson
      evenodds bandit replay random.csv --target other.csv --group position
    """
    from dataclasses import asdict

    from evenodds.bandits import offline
    from evenodds.show import Frame

    if (target is None) == (policies is None):
        raise WrongUsageError("expected either --target, another log, or --policies that are to learn")
    log = _log(reading, paths, arm, reward, propensity, uniform, group)
    if target is not None:
        other = _log(reading, (target,), arm, reward, None, True, group)
        found = offline.evaluate(log, offline.frequencies(other) if group else _plain(offline.frequencies(other)))
        truth = float(other.rewards.mean())
        if as_json:
            print_json({"estimates": found.to_dicts(), "earned in the other log": truth, "rows": len(other)})
        else:
            click.echo(f"{found!r}\n\nearned in {target}: {truth:.4g} a decision, {len(other):,} decisions")
        return
    with _wrong_usage():
        results = [asdict(offline.replay(policy, log, seed=seed)) for policy in _policies(policies or "")]
    _show(Frame(results), as_json)


@bandit.command(no_args_is_help=True)
@EXPERIMENT
@click.argument("arms", nargs=-1, required=True, metavar="ARM...")
@click.option("--policy", default="thompson", show_default=True, help="thompson, ucb[=C], epsilon=E, greedy; @fade=F.")
@click.option(
    "--rewards", type=click.Choice(["bernoulli", "gaussian", "poisson"]), default="bernoulli", help="Of arms."
)
@click.option("--minimum", type=float, default=0.0, show_default=True, help="The least share of every arm.")
@click.option("--low", type=float, help="Smaller rewards are refused.")
@click.option("--high", type=float, help="Larger rewards are refused.")
@click.option("--seed", type=click.IntRange(min=0), help="Decides arms together with the ids; thrown if not given.")
def create(
    path: str,
    arms: tuple[str, ...],
    policy: str,
    rewards: str,
    minimum: float,
    low: float | None,
    high: float | None,
    seed: int | None,
) -> None:
    """A new EXPERIMENT with these arms, in one file."""
    from evenodds.bandits import experiment, naming

    with _wrong_usage():
        chosen = naming.parse(policy)
        experiment.create(path, arms, chosen, rewards=rewards, minimum=minimum, low=low, high=high, seed=seed)


@bandit.command(no_args_is_help=True)
@EXPERIMENT
@click.argument("ids", nargs=-1, metavar="ID...")
@options.as_json
def decide(path: str, ids: tuple[str, ...], as_json: bool) -> None:
    """The arm for each ID: chosen now, or as it was. Without IDs they are read from stdin, one to a line.

    An answer is on the disk before it is printed.
    """
    from evenodds.bandits.experiment import Experiment

    with Experiment(path) as one:
        for id in ids or (line.rstrip("\r\n") for line in sys.stdin):
            found = one.decide(id)
            if as_json:
                print_json({"id": found.id, "arm": found.arm, "propensity": found.propensity})
            else:
                click.echo(found.arm)


@bandit.command(no_args_is_help=True)
@EXPERIMENT
@click.argument("id", required=False)
@click.argument("reward", required=False)
@options.as_json
def reward(path: str, id: str | None, reward: str | None, as_json: bool) -> None:
    """What the arm of an ID has paid. Without ID, from stdin: ID,REWARD lines, all of them or none."""
    from evenodds.bandits.experiment import Experiment

    if (id is None) != (reward is None):
        raise WrongUsageError("expected an ID and a REWARD, or neither and lines of ID,REWARD on stdin")
    pairs: dict[str, Any] = {}
    if id is not None and reward is not None:
        pairs[id] = reward
    else:
        for number, line in enumerate(sys.stdin, 1):
            name, comma, value = line.rstrip("\r\n").rpartition(",")
            if not comma:
                raise WrongUsageError(f"line {number}: expected ID,REWARD, not {line.rstrip()!r}")
            if pairs.get(name, value) != value:
                raise WrongUsageError(f"line {number}: {name!r} has two rewards, {pairs[name]} and {value}")
            pairs[name] = value
    with Experiment(path) as one:
        news = one.rewards(pairs)
    if as_json:
        print_json({"given": len(pairs), "new": news})
    elif id is None:
        click.echo(f"{news:,} of {len(pairs):,} rewards were new")


@bandit.command(no_args_is_help=True)
@EXPERIMENT
@click.option("--add", "added", multiple=True, metavar="ARM", help="Add an arm first, or a retired one again.")
@click.option("--retire", "retired", multiple=True, metavar="ARM", help="Retire an arm first.")
@options.as_json
def report(path: str, added: tuple[str, ...], retired: tuple[str, ...], as_json: bool) -> None:
    """What an EXPERIMENT knows of its arms."""
    from evenodds.bandits.experiment import Experiment
    from evenodds.show import Frame

    with Experiment(path) as one:
        for name in added:
            one.add_arm(name)
        for name in retired:
            one.retire(name)
        found = one.report()
        name = one.policy.name
    if as_json:
        print_json(found)
        return
    waiting = f"{found['waiting']:,} without a reward yet"
    click.echo(f"{name}: {found['decided']:,} decided, {found['rewarded']:,} rewarded, {waiting}\n")
    rows = [{**row, "retired": "yes" if row["retired"] else "no"} for row in found["arms"]]
    click.echo(repr(Frame(rows)))


@bandit.command(no_args_is_help=True)
@EXPERIMENT
@options.as_json
def export(path: str, as_json: bool) -> None:
    """The log of an EXPERIMENT as CSV, or as JSON lines: for `evenodds bandit replay` and others."""
    import csv
    import json

    from evenodds.bandits.experiment import Experiment

    with Experiment(path) as one:
        rows = one.log()
    if as_json:
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["id", "arm", "propensity", "time", "reward", "rewarded"])
    writer.writerows(row.values() for row in rows)


@bandit.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, type=click.Path(dir_okay=False), metavar="EXPERIMENT...")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), metavar="FILE", help="The new one.")
def add(paths: tuple[str, ...], output: str) -> None:
    """Add the EXPERIMENTs of several servers: the experiment of all their decisions and rewards."""
    from evenodds.bandits.adding import add as added

    added(paths, output)


def _policies(text: str) -> list[Policy]:
    from evenodds.bandits import naming

    return [naming.parse(name.strip()) for name in text.split(",")]


def _world(text: str, rewards: str, spread: float, at: str | None, drift: bool) -> World:
    """MEANS, and after a / the means that they change to."""
    from evenodds.bandits import worlds

    try:
        rows = [[float(mean) for mean in row.split(",")] for row in text.split("/")]
        times = [] if at is None else [int(t) for t in at.split(",")]
    except ValueError:
        raise WrongUsageError(f"expected numbers with commas between, as in .6,.5, not {text!r}, {at!r}") from None
    if len({len(row) for row in rows}) > 1:
        raise WrongUsageError("expected a mean for every arm behind each /")
    if len(rows) > 1 or times or drift:
        if rewards != "bernoulli":
            raise WrongUsageError("only Bernoulli arms change; leave out --rewards")
        return (worlds.drifting if drift else worlds.switching)(rows, times)
    if rewards == "gaussian":
        return worlds.gaussian(rows[0], spread)
    return worlds.poisson(rows[0]) if rewards == "poisson" else worlds.bernoulli(rows[0])


def _log(
    reading: options.Input,
    paths: tuple[str, ...],
    arm: str,
    reward: str,
    propensity: str | None,
    uniform: bool,
    group: str | None,
) -> Log:
    """A log from files; decisions without a reward are left out."""
    from evenodds.bandits.offline import Log
    from evenodds.cli.rows import values
    from evenodds.errors import DataError

    source = reading.files(paths).rereadable()
    source.sample()
    if propensity is None and "propensity" in source.names and not uniform:
        propensity = "propensity"
    names = [name for name in (arm, reward, propensity, group) if name is not None]
    cells: dict[str, list[Any]] = {name: [] for name in names}
    for batch in source.batches(names):
        for name in names:
            cells[name] += values(batch.column(name))
    known = [i for i, value in enumerate(cells[reward]) if value not in (None, "")]
    try:
        gains = [float(cells[reward][i]) for i in known]
        chances = None if propensity is None else [float(cells[propensity][i]) for i in known]
    except (TypeError, ValueError) as error:
        raise DataError(f"{source.name}: {error}; rewards and propensities are numbers") from None
    arms, groups = ([cells[name][i] for i in known] if name else None for name in (arm, group))
    return Log.of(arms or [], gains, chances, groups, uniform=uniform)


def _plain(shares: dict[tuple[str, str], float]) -> dict[str, float]:
    return {arm: p for (_, arm), p in shares.items()}


def _show(frame: Any, as_json: bool) -> None:
    if as_json:
        print_json(frame.to_dicts())
    else:
        click.echo(repr(frame))


@contextlib.contextmanager
def _wrong_usage() -> Iterator[None]:
    """What a policy or a world cannot be is wrong usage, in its own words."""
    try:
        yield
    except ValueError as error:
        raise WrongUsageError(str(error)) from None
