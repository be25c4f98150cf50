"""`evenodds bandit`: act while learning. Simulations, logs, and experiments in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import Group, options
from evenodds.cli.bandit_experiment import add, create, decide, export, report, reward, wrong_usage
from evenodds.cli.output import WrongUsageError, print_json

if TYPE_CHECKING:
    from evenodds.bandits.offline import Log
    from evenodds.bandits.policies import Policy
    from evenodds.bandits.worlds import World

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


for command in (create, decide, reward, report, export, add):
    bandit.add_command(command)


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
    with wrong_usage():
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
    with wrong_usage():
        results = [asdict(offline.replay(policy, log, seed=seed)) for policy in _policies(policies or "")]
    _show(Frame(results), as_json)


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
