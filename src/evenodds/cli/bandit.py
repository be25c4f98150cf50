"""`evenodds bandit`: act while learning. Simulations, logs, and experiments in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import Group, data, options, said
from evenodds.cli.bandit_experiment import add, arms, create, decide, export, report, reward
from evenodds.cli.commands import Listed
from evenodds.cli.output import WrongUsageError, print_json, print_lines, wrong_usage
from evenodds.cli.paths import Read
from evenodds.errors import DataError, many

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenodds.bandits.offline import Log
    from evenodds.bandits.policies import Policy
    from evenodds.bandits.worlds import World
    from evenodds.data.report import Report
    from evenodds.data.source import Batch
    from evenodds.families.leaves import Floats

PLAYS = 10  # rounds of which all that can happen is soon gone through
POLICIES = "greedy, explore=T0, epsilon=E, ucb[=C], ucb1, thompson, exp3; @window=N or @fade=F behind it forgets"


@click.group(cls=Group, no_args_is_help=True)
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
@click.option("--policies", cls=Listed, default="greedy,epsilon,ucb,ucb1,thompson", help=POLICIES + ".")
@click.option(
    "--rewards",
    type=click.Choice(["bernoulli", "gaussian", "poisson"]),
    default="bernoulli",
    help="What arms pay: yes or no, numbers, or counts.",
)
@click.option("--spread", type=float, default=1.0, help="Standard deviation of gaussian rewards.")
@click.option(
    "--at", cls=Listed, metavar="N,N,...", help="After how many rounds the means change to the next after a /."
)
@click.option("--drift", is_flag=True, help="The means go there in straight lines.")
@click.option("--rounds", type=options.Whole(), default=1000, help="How many rounds a run has; 10 with --exact.")
@click.option("--runs", type=options.Whole(), default=200, help="How many times it is played.")
@click.option("--seed", type=options.Whole(0, 2**63 - 1), default=0, help="Where rewards and dice start.")
@click.option("--exact", is_flag=True, help="Work out the expected reward instead: for ten rounds or so.")
@click.option("--coverage", is_flag=True, help="Count how often UCB's index holds the mean; it takes longer.")
@options.plot
@options.threads
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
    coverage: bool,
    plot: str | None,
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
    from evenodds.plots import regret, save
    from evenodds.show import Frame

    if exact:
        options.refuse(
            "--exact is for Bernoulli arms that stay as they are, and draws nothing",
            "rewards", "at", "drift", "runs", "seed", "coverage", "threads", "plot",
        )  # fmt: skip
    if rewards != "gaussian":
        options.refuse("of gaussian rewards", "spread")
    if "/" not in means:
        options.refuse("the means do not change: give those they go to behind a /", "at", "drift")
    with wrong_usage():
        world = _world(means, rewards, spread, at, drift)
        chosen = _policies(policies)
        if exact:
            rounds = rounds if options.typed("rounds") else PLAYS
            expected = [bandits.expected_reward(policy, world.means[0], rounds) for policy in chosen]
            best = float(world.means[0].max()) * rounds
            rows = [
                {"policy": policy.name, "expected reward": value, "regret of means": best - value}
                for policy, value in zip(chosen, expected)
            ]
            _show(Frame(rows, f"{rounds} rounds, exactly"), as_json)
            return
        played = bandits.simulate(chosen, world, rounds, runs, random_state=seed, coverage=coverage, threads=threads)
    if plot is not None:
        save(regret(played), plot)
    if as_json:
        curves = played.curves().to_dicts()
        print_json(
            {"rounds": rounds, "runs": runs, "seed": seed, "policies": played.regret_table.to_dicts(),
             "pulls": played.pulls_table.to_dicts(), "coverage": played.coverage_table.to_dicts(), "curves": curves}
        )  # fmt: skip
        return
    click.echo(repr(played))
    click.echo("\npulls\n" + repr(played.pulls_table))
    if len(played.coverage_table):
        click.echo("\n" + repr(played.coverage_table))


@bandit.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="LOG...")
@click.option("--arm", default="arm", metavar="COLUMN", help="The arm that was chosen.")
@click.option("--reward", default="reward", metavar="COLUMN", help="What it paid.")
@click.option("--propensity", metavar="COLUMN", help="With which probability; 'propensity' if there is such a column.")
@click.option("--uniform", is_flag=True, help="All arms were equally probable.")
@click.option("--by", metavar="COLUMN", help="Where it was chosen, such as a position.")
@click.option(
    "--other", type=Read(), metavar="LOG", help="Evaluate the policy of this other log: its arms' shares in each group."
)
@click.option("--policies", cls=Listed, metavar="NAMES", help="Let these learn from the log: " + POLICIES + ".")
@click.option("--seed", type=options.Whole(0, 2**63 - 1), default=0, help="Where the policies' dice start.")
@options.reading_alone
@options.as_json
def replay(
    paths: tuple[str, ...],
    arm: str,
    reward: str,
    propensity: str | None,
    uniform: bool,
    by: str | None,
    other: str | None,
    policies: str | None,
    seed: int,
    reading: options.Input,
    as_json: bool,
) -> None:
    """What another policy would have earned, from logged decisions and their probabilities.

    \b
      evenodds bandit replay log.csv --policies ucb,thompson
      evenodds bandit replay random.csv --other other.csv --by position
    """
    from dataclasses import asdict

    from evenodds.bandits import offline
    from evenodds.show import Frame

    if (other is None) == (policies is None):
        raise WrongUsageError("expected either --other, another log, or --policies that are to learn")
    if uniform and propensity is not None:
        raise WrongUsageError("--uniform or --propensity, not both")
    if other is not None:
        options.refuse("of --policies, which throw dice", "seed")
    with wrong_usage():
        learning = _policies(policies) if policies is not None else []
    log, report = _log(reading, paths, arm, reward, propensity, uniform, by)
    if other is not None:
        theirs, of_theirs = _log(reading, (other,), arm, reward, None, True, by)
        found = offline.evaluate(log, offline.frequencies(theirs) if by else _plain(offline.frequencies(theirs)))
        truth = float(theirs.rewards.mean())
        if found["error"][0] is None:
            same = f"the decisions of {paths[0]} that {other} may have made all brought the same"
            data.say([f"{same}: nothing tells how rewards vary, so there are no errors"], reading.quiet)
        if as_json:
            told = {"estimates": found.to_dicts(), "earned in the other log": truth, "rows": len(theirs)}
            print_json({**told, "report": (report + of_theirs).to_dict()})
        else:
            print_lines(f"{found!r}\n\nearned in {other}: {truth:.4g} a decision, {len(theirs):,} decisions")
        return
    results = Frame([asdict(offline.replay(policy, log, random_state=seed)) for policy in learning])
    if as_json:
        print_json({"policies": results.to_dicts(), "report": report.to_dict()})
    else:
        print_lines(repr(results))


for command in (create, decide, reward, report, arms, export, add):
    bandit.add_command(command)


def _policies(text: str) -> list[Policy]:
    from evenodds.bandits import naming

    return [naming.parse(name) for name in said.names("--policies", text)]


def _world(text: str, rewards: str, spread: float, at: str | None, drift: bool) -> World:
    """MEANS, and after a / the means that they change to."""
    from evenodds.bandits import worlds

    rows = [said.numbers("MEANS", row) for row in text.split("/")]
    times = [] if at is None else said.whole_numbers("--at", at)
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
    by: str | None,
) -> tuple[Log, Report]:
    """A log from files, and what was wrong with some rows.

    Decisions without a reward are left out; so are those without an arm or a place, and said.
    """
    import numpy as np

    from evenodds.bandits.offline import Log
    from evenodds.data.reading import Reading
    from evenodds.data.report import Report, Trouble
    from evenodds.families import Categorical, Gaussian
    from evenodds.schema import Column, Schema

    source = reading.files(paths).rereadable()
    if propensity is None and not uniform and "propensity" in source.sample().columns:
        propensity = "propensity"
    numbers = [name for name in (reward, propensity) if name is not None]
    names = [name for name in (arm, by) if name is not None]
    if len({*numbers, *names}) < len(numbers + names):
        raise WrongUsageError("--arm, --reward, --propensity, --by: expected different columns")
    columns = {**dict.fromkeys(names, Column(Categorical)), **dict.fromkeys(numbers, Column(Gaussian))}
    cells = Reading(Schema(columns, ""), target=False)
    found: dict[str, list[Any]] = {name: [] for name in columns}
    report, nameless = Report(), Trouble(0, "")
    for batch in source.batches(cells.columns):
        read = cells(batch)
        report += read.report
        table: Mapping[str, Any] = read.table.columns
        rewarded, places = ~np.isnan(table[reward]), {name: table[name].places for name in names}
        named = np.all([place >= 0 for place in places.values()], axis=0)
        if len(lost := np.flatnonzero(rewarded & ~named)):
            here = Trouble(len(lost), batch.where(int(lost[0])))
            nameless = nameless + here if nameless.count else here
        rows = np.flatnonzero(rewarded & named)
        if propensity is not None:
            _check_propensities(batch, propensity, table[propensity], rows)
        for name in names:
            texts = table[name].labels.texts()
            found[name] += [texts[place] for place in places[name][rows].tolist()]
        for name in numbers:
            found[name] += table[name][rows].tolist()
    data.say_report(report, reading.quiet)
    if nameless.count:
        left = f"without {' or '.join(names)} {'was' if nameless.count == 1 else 'were'} left out"
        data.say([f"{many(nameless.count, 'row')} {left} (first: {nameless.where})"], reading.quiet)
    if not found[reward]:
        raise DataError(f"{source.name} has no decision with a reward, a number in column {reward!r}")
    chances = None if propensity is None else found[propensity]
    return Log.of(found[arm], found[reward], chances, None if by is None else found[by], uniform=uniform), report


def _check_propensities(batch: Batch, name: str, p: Floats, rows: NDArray[np.int64]) -> None:
    """Refuse a decision that says no probability with which it was made: nothing follows from it."""
    for row in rows[~((p[rows] > 0) & (p[rows] <= 1))].tolist():
        what = "is missing" if p[row] != p[row] else f"is {p[row]:g}"
        raise DataError(f"{batch.where(row)}: {name!r} {what}, expected a probability above 0, up to 1")


def _plain(shares: dict[tuple[str, str], float]) -> dict[str, float]:
    return {arm: p for (_, arm), p in shares.items()}


def _show(frame: Any, as_json: bool) -> None:
    if as_json:
        print_json(frame.to_dicts())
    else:
        click.echo(repr(frame))
