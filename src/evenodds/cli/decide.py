"""`evenodds decide`: from a model's odds to what is said, by what mistakes cost or how many there may be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command
from evenodds.cli.judging import held_out, held_out_rows, judging, learnt, otherwise
from evenodds.cli.output import BadDataError, WrongUsageError, print_json, print_lines
from evenodds.cli.paths import STREAM, Written, writing

if TYPE_CHECKING:
    from evenodds.audit.decisions import Decision
    from evenodds.audit.held_out import HeldOut
    from evenodds.show import Frame


@click.command(cls=Command, no_args_is_help=True)
@held_out_rows
@click.option(
    "--cost", "costs", multiple=True, metavar="TRUE:SAID=COST", help="What a mistake costs; 1 if not told. Repeatable."
)
@click.option("--unsure", metavar="COST", help="What it costs to say nothing; with --cost.")
@click.option(
    "--at-most", "limits", multiple=True, metavar="CLASS=SHARE", help="The most of a class to be lost. Repeatable."
)
@click.option(
    "--level",
    type=options.Between(0.5, 1, max_open=True),
    default=0.95,
    help="The confidence with which --at-most is promised.",
)
@click.option("-o", "--output", type=Written(stream=True), help="Write the rule, for predict --rule; - is stdout.")
@options.modelling
@options.reading
@options.as_json
def decide(
    paths: tuple[str, ...],
    folds: int | None,
    leave_one_out: bool,
    seed: int,
    tune: bool,
    bridge: bool,
    costs: tuple[str, ...],
    unsure: str | None,
    limits: tuple[str, ...],
    level: float,
    output: str | None,
    modelling: options.Modelling,
    reading: options.Input,
    as_json: bool,
) -> None:
    """What to say, given a model's odds: a rule, and what it does to rows that the model has not learnt.

    With --cost, what costs least on average. With --at-most, as much as can be said while no more than that share of a
    class is lost; that is promised, with the confidence of --level, from the rows held out. Two limits leave a band
    between them that is unsure. Which rows are held out is told as for `evaluate`.

    \b
      evenodds decide spam.eo more.csv --cost ham:spam=10
      evenodds decide spam.eo more.csv --at-most ham=0.001 -o rule.json
      evenodds predict spam.eo new.csv --rule rule.json
    """
    by_cost = bool(costs) or unsure is not None
    if by_cost == bool(limits):
        raise WrongUsageError("what makes a decision good? Give --cost, or --at-most")
    if modelling.weight is not None:
        raise WrongUsageError("--weight: a decision counts whole rows; leave it out")
    if as_json and output == STREAM:
        raise WrongUsageError("--json or --output -, not both: the rule is in the JSON")
    if by_cost:
        options.refuse("of --at-most", "level")
    prices = said.shares("--cost", costs, expected="TRUE:SAID")
    price = None if unsure is None else said.number("--unsure", unsure)
    promises = said.shares("--at-most", limits, expected="CLASS")
    for pair in prices:
        if ":" not in pair:
            raise WrongUsageError(f"--cost: expected TRUE:SAID=NUMBER, not {pair!r} before the =")
    for name, most in promises.items():
        if not 0 < most < 1:
            raise WrongUsageError(f"--at-most {name}={most:g}: expected a share between 0 and 1")
    source, predicted = held_out(paths, folds, leave_one_out, seed, tune, bridge, modelling, reading)
    source.rereadable()
    with judging(source, reading.quiet):
        held = predicted()
        rule, found = _by_cost(held, prices, price) if by_cost else _by_limits(held, promises, level)
        rows = sum(sum(counted.values()) for counted in _by_truth(found["counts"]).values())
        seen = learnt(paths[0], held.model, source, rows, None, reading.threads)
    if seen and promises:
        raise BadDataError(f"{seen}, so that nothing can be promised by them; {otherwise(held.model)}")
    data.say([f"{seen}; {otherwise(held.model)}"] if seen else [], reading.quiet)
    data.say_report(held.report, reading.quiet)
    if output is not None:
        with writing(output) as file:
            file.write(json.dumps(rule.to_dict(), indent=2, ensure_ascii=False).encode() + b"\n")
    if as_json:
        print_json(
            {
                "rule": repr(rule),
                **rule.to_dict(),
                **found,
                "counts": _by_truth(found["counts"]),
                "report": held.report.to_dict(),
            }
        )
        return
    from evenodds.audit.metrics import told

    counts = told(found["counts"])
    page = "\n".join(repr(rule).split("; ")) + (f"\n\n{counts}" if counts else "")
    if by_cost:
        page += f"\n\ncost a row: {found['cost']:.4g}; if the most probable class is said: {found['plain_cost']:.4g}"
    if output != STREAM or not reading.quiet:
        print_lines(page, err=output == STREAM)


def _by_cost(held: HeldOut, costs: dict[str, float], unsure: float | None) -> tuple[Decision, dict[str, Any]]:
    """The rule that costs least; its counts and cost, beside that of saying the most probable class."""
    from evenodds.audit.decisions import LeastCost
    from evenodds.labels import canonical

    names = [canonical(label) for label in held.classes.tolist()]
    told = {_pair(text, names): cost for text, cost in costs.items()}
    rule, plain = LeastCost.of(told, held.classes, unsure), LeastCost.of({}, held.classes)
    counts, usual = held.counts(rule, plain)
    costing = {"cost": rule.cost(counts), "plain_cost": rule.cost(usual), "thresholds": rule.thresholds}
    return rule, {"counts": rule.table(counts), **costing}


def _by_limits(held: HeldOut, limits: dict[str, float], level: float) -> tuple[Decision, dict[str, Any]]:
    """The rule that keeps within limits, and its counts."""
    from evenodds.audit.limits import AtMost

    rule = AtMost.from_tally(limits, held.tally(), held.classes, level)
    return rule, {
        "counts": rule.table(*held.counts(rule)),
        "rows_needed": [limit and limit.needed for limit in rule.limits],
    }


def _by_truth(counts: Frame) -> dict[str, dict[str, int]]:
    """{"ham": {"ham": 297, "spam": 4, "unsure": 0}, ...}."""
    true, *_ = counts.names
    return {row.pop(true): row for row in counts.to_dicts()}


def _pair(text: str, names: list[str]) -> tuple[str, str]:
    """Two classes from ham:spam, whose names may have colons too."""
    for at, letter in enumerate(text):
        if letter == ":" and text[:at] in names and text[at + 1 :] in names:
            return text[:at], text[at + 1 :]
    raise BadDataError(f"--cost: {text!r} is not TRUE:SAID, two of the classes {', '.join(names)}")
