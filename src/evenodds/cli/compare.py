"""`evenodds compare`: how good models get with more rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command, Listed
from evenodds.cli.output import BadDataError, WrongUsageError, print_json, print_lines

if TYPE_CHECKING:
    from evenodds.data.files import Files
    from evenodds.data.memory import Table
    from evenodds.data.report import Report
    from evenodds.schema import Schema


@click.command(cls=Command, no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-t", "--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option("--models", cls=Listed, metavar="NAMES", help="Which, as in naive,logistic; all if not given.")
@click.option("--without", multiple=True, metavar="COLUMN", help="Add the first model without a column. Repeatable.")
@click.option("--role", "roles", multiple=True, metavar="COLUMN=ROLE", help="What a column is, as for fit. Repeatable.")
@click.option(
    "--sizes", cls=Listed, metavar="N,N,...", help="Numbers of rows to learn from; halved again and again if not given."
)
@click.option("--repeats", type=click.IntRange(2, 1000), default=10, help="How many random orders are tried.")
@click.option("--seed", type=options.Whole(0, 2**63 - 1), default=0, help="Where the random orders start.")
@options.plot
@options.reading
@options.as_json
def compare(
    paths: tuple[str, ...],
    target: str,
    models: str | None,
    without: tuple[str, ...],
    roles: tuple[str, ...],
    sizes: str | None,
    repeats: int,
    seed: int,
    plot: str | None,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Accuracy and log loss of several models on rows held out, by how many rows they learnt from.

    Is there enough data? Which model is better with so much of it, and from how many rows on? What is a column worth?
    A third of the rows is held out, in another random order in each repetition.

    \b
      evenodds compare people.csv --target survived
      evenodds compare people.csv --target survived --without sex --plot curves.svg
    """
    from evenodds.audit.compare import compare as curves
    from evenodds.audit.contenders import CONTENDERS
    from evenodds.errors import did_you_mean
    from evenodds.plots import learning_curves, save
    from evenodds.text.words import Words

    chosen = None if models is None else said.names("--models", models)
    for name in chosen or ():
        if name not in CONTENDERS:
            raise WrongUsageError(f"--models: {did_you_mean(name, CONTENDERS, 'model')}")
    numbers = None if sizes is None else said.whole_numbers("--sizes", sizes)
    told = options.columns_of(roles, Words(), target) or None
    source = reading.files(paths).rereadable()
    with data.notes(reading.quiet), data.progress(source, "reading", reading.quiet):
        rows, truth, schema, report = _whole(source, target, told)
        try:
            found = curves(
                rows, truth, chosen, sizes=numbers, repeats=repeats, without=without, schema=schema,
                random_state=seed, threads=reading.threads,
            )  # fmt: skip
        except ValueError as error:
            raise BadDataError(str(error)) from None
    data.say_report(report, reading.quiet)
    if plot is not None:
        save(learning_curves(found), plot)
    if as_json:
        print_json({**found.to_dict(), "report": report.to_dict()})
    else:
        print_lines(repr(found))


def _whole(source: Files, target: str, columns: Any) -> tuple[Table, Any, Schema, Report]:
    """All rows that have a class, in memory, as they are read under the schema; their classes; what was wrong."""
    from evenodds.data.joined import joined
    from evenodds.data.kept import Learnt
    from evenodds.data.reading import Reading
    from evenodds.data.report import Report
    from evenodds.models.learn import schema_of

    schema = schema_of(source, target, columns)
    reading = Reading(schema)
    parts = [reading(batch) for batch in source.batches(reading.columns)]
    if not sum(part.table.rows for part in parts):
        raise BadDataError(f"{source.name} has no rows with a class")
    learnt = joined([Learnt(part.table, part.target) for part in parts if part.target is not None])
    return learnt.rows, learnt.target, schema, sum((part.report for part in parts), Report())
