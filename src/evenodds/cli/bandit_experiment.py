"""Experiments in a file: create one, decide, reward, and see how it goes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import options
from evenodds.cli.commands import Command
from evenodds.cli.output import BadDataError, WrongUsageError, print_json, print_json_line, wrong_usage
from evenodds.cli.paths import Written

if TYPE_CHECKING:
    from evenodds.bandits.experiment import Experiment

EXPERIMENT = click.argument("path", type=click.Path(dir_okay=False), metavar="EXPERIMENT")


def _lines() -> Iterator[str]:
    """The lines of standard input, without their ends."""
    try:
        for line in sys.stdin:
            yield line.rstrip("\r\n")
    except UnicodeDecodeError:
        raise BadDataError(f"standard input: expected lines in {sys.stdin.encoding}; save them so") from None


@click.command(cls=Command, no_args_is_help=True)
@EXPERIMENT
@click.argument("arms", nargs=-1, required=True, metavar="ARM...")
@click.option("--policy", default="thompson", help="thompson, ucb[=C], epsilon=E, greedy; @fade=F.")
@click.option(
    "--rewards",
    type=click.Choice(["bernoulli", "gaussian", "poisson"]),
    default="bernoulli",
    help="What arms pay: yes or no, numbers, or counts.",
)
@click.option("--minimum", type=float, default=0.0, help="The least share of every arm.")
@click.option("--low", type=float, help="Smaller rewards are refused.")
@click.option("--high", type=float, help="Larger rewards are refused.")
@click.option(
    "--seed", type=options.Whole(0, 2**63 - 1), help="Decides arms together with the ids; thrown if not given."
)
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
        experiment.create(path, arms, chosen, rewards=rewards, minimum=minimum, low=low, high=high, random_state=seed)


@click.command(cls=Command, no_args_is_help=True)
@EXPERIMENT
@click.argument("ids", nargs=-1, metavar="ID...")
@options.as_json
def decide(path: str, ids: tuple[str, ...], as_json: bool) -> None:
    """The arm for each ID: chosen now, or as it was. Without IDs they are read from stdin, one to a line.

    An answer is on the disk before it is printed; with --json each is an object on a line of its own.
    """
    from evenodds.bandits.experiment import Experiment

    with Experiment(path) as one:
        for id in ids or _lines():
            found = one.decide(id)
            if as_json:
                print_json_line({"id": found.id, "arm": found.arm, "propensity": found.propensity})
            else:
                click.echo(found.arm, color=True)  # as it is, on a pipe too


@click.command(cls=Command, no_args_is_help=True)
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
                raise BadDataError(f"line {number}: expected ID,REWARD, not {line.rstrip()!r}")
            if pairs.get(name, value) != value:
                raise BadDataError(f"line {number}: {name!r} has two rewards, {pairs[name]} and {value}")
            pairs[name] = value
    with Experiment(path) as one:
        news = one.rewards(pairs)
    if as_json:
        print_json({"given": len(pairs), "new": news})
    elif id is None:
        click.echo(f"{news:,} of {len(pairs):,} rewards were new")


@click.command(cls=Command, no_args_is_help=True)
@EXPERIMENT
@options.as_json
def report(path: str, as_json: bool) -> None:
    """What an EXPERIMENT knows of its arms."""
    from evenodds.bandits.experiment import Experiment

    with Experiment(path) as one:
        _show(one, as_json)


@click.command(cls=Command, no_args_is_help=True)
@EXPERIMENT
@click.option("--add", "added", multiple=True, metavar="ARM", help="A new arm, or a retired one again. Repeatable.")
@click.option("--retire", "retired", multiple=True, metavar="ARM", help="An arm not to be chosen any more. Repeatable.")
@options.as_json
def arms(path: str, added: tuple[str, ...], retired: tuple[str, ...], as_json: bool) -> None:
    """Add arms to an EXPERIMENT, or retire some, and print what it knows of them.

    \b
      evenodds bandit arms button.bandit --add blue --retire red
    """
    from evenodds.bandits.experiment import Experiment

    if not added and not retired:
        raise WrongUsageError("which arms? Name them with --add and --retire; `evenodds bandit report` shows all")
    with Experiment(path) as one:
        for name in added:
            one.add_arm(name)
        for name in retired:
            one.retire(name)
        _show(one, as_json)


def _show(one: Experiment, as_json: bool) -> None:
    """What an experiment knows."""
    from evenodds.show import Frame

    found, name = one.report(), one.rules.policy.name
    if as_json:
        print_json(found)
        return
    waiting = f"{found['waiting']:,} without a reward yet"
    click.echo(f"{name}: {found['decided']:,} decided, {found['rewarded']:,} rewarded, {waiting}\n")
    rows = [{**row, "retired": "yes" if row["retired"] else "no"} for row in found["arms"]]
    click.echo(repr(Frame(rows)))


@click.command(cls=Command, no_args_is_help=True)
@EXPERIMENT
@options.as_json
def export(path: str, as_json: bool) -> None:
    """The log of an EXPERIMENT as CSV, or as JSON lines: for `evenodds bandit replay` and others."""
    import csv

    from evenodds.bandits.experiment import Experiment

    with Experiment(path) as one:
        rows = one.export()
    if as_json:
        for row in rows:
            print_json_line(row)
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["id", "arm", "propensity", "time", "reward", "rewarded"])
    writer.writerows(row.values() for row in rows)


@click.command(cls=Command, no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, type=click.Path(dir_okay=False), metavar="EXPERIMENT...")
@click.option("-o", "--output", required=True, type=Written(), metavar="FILE", help="The new one.")
def add(paths: tuple[str, ...], output: str) -> None:
    """Add the EXPERIMENTs of several servers: the experiment of all their decisions and rewards."""
    from evenodds.bandits.adding import add as added

    added(paths, output)
