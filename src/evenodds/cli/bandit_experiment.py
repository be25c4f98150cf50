"""Experiments in a file: create one, decide, reward, and see how it goes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import click

from evenodds.cli import options
from evenodds.cli.output import BadDataError, WrongUsageError, print_json

EXPERIMENT = click.argument("path", type=click.Path(dir_okay=False), metavar="EXPERIMENT")


@contextlib.contextmanager
def wrong_usage() -> Iterator[None]:
    """What a policy or a world cannot be is wrong usage, in its own words."""
    try:
        yield
    except ValueError as error:
        raise WrongUsageError(str(error)) from None


def _lines() -> Iterator[str]:
    """The lines of standard input, without their ends."""
    try:
        for line in sys.stdin:
            yield line.rstrip("\r\n")
    except UnicodeDecodeError:
        raise BadDataError(f"standard input: expected lines in {sys.stdin.encoding}; save them so") from None


@click.command(no_args_is_help=True)
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

    with wrong_usage():
        chosen = naming.parse(policy)
        experiment.create(path, arms, chosen, rewards=rewards, minimum=minimum, low=low, high=high, seed=seed)


@click.command(no_args_is_help=True)
@EXPERIMENT
@click.argument("ids", nargs=-1, metavar="ID...")
@options.as_json
def decide(path: str, ids: tuple[str, ...], as_json: bool) -> None:
    """The arm for each ID: chosen now, or as it was. Without IDs they are read from stdin, one to a line.

    An answer is on the disk before it is printed.
    """
    from evenodds.bandits.experiment import Experiment

    with Experiment(path) as one:
        for id in ids or _lines():
            found = one.decide(id)
            if as_json:
                print_json({"id": found.id, "arm": found.arm, "propensity": found.propensity})
            else:
                click.echo(found.arm)


@click.command(no_args_is_help=True)
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
        for number, line in enumerate(_lines(), 1):
            name, comma, value = line.rpartition(",")
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


@click.command(no_args_is_help=True)
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


@click.command(no_args_is_help=True)
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


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, type=click.Path(dir_okay=False), metavar="EXPERIMENT...")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), metavar="FILE", help="The new one.")
def add(paths: tuple[str, ...], output: str) -> None:
    """Add the EXPERIMENTs of several servers: the experiment of all their decisions and rewards."""
    from evenodds.bandits.adding import add as added

    added(paths, output)
