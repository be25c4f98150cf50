"""`evenodds audit`: how evenly a model, or anybody's predictions in a file, treats groups."""

from __future__ import annotations

import click

from evenodds.cli import data, options
from evenodds.cli.judging import judging
from evenodds.cli.output import WrongUsageError, print_json


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="[MODEL] DATA...")
@click.option("--by", required=True, metavar="COLUMNS", help="The columns of the groups, with commas between.")
@click.option("--target", metavar="COLUMN", help="Without a model: the column of the true classes.")
@click.option("--score", metavar="COLUMN", help="Without a model: the probability of the positive class.")
@click.option("--predicted", metavar="COLUMN", help="Without a model: what was said.")
@click.option("--positive", metavar="CLASS", help="The class that is meant; the second of two if not given.")
@click.option("--threshold", type=click.FloatRange(0, 1), help="From which probability on it is said to be so.")
@click.option("--margin", type=click.FloatRange(0, 1, max_open=True), default=0.05, show_default=True,
              help="The gap that is asked about.")  # fmt: skip
@click.option("--small", type=click.FloatRange(min=0), default=30, show_default=True,
              help="Rows, below which a group is pooled with the others, and marked.")  # fmt: skip
@options.weighted
@options.reading
@options.as_json
def audit(
    paths: tuple[str, ...],
    by: str,
    target: str | None,
    score: str | None,
    predicted: str | None,
    positive: str | None,
    threshold: float | None,
    margin: float,
    small: float,
    weight: str | None,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Rates of every group and every intersection, with exact intervals; gaps, and how sure they are.

    Of a saved model on rows whose classes are known; or of predictions that stand in the file: give --target, and
    --score or --predicted.

    \b
      evenodds audit loans.eo people.csv --by sex,race
      evenodds audit scored.csv --by race --target repaid --score p
    """
    from evenodds.audit.groups import Audit

    how = Audit(
        by=tuple(one.strip() for one in by.split(",")),
        positive=positive,
        threshold=threshold,
        margin=margin,
        small=small,
    )
    if score is None and predicted is None:
        if len(paths) < 2:
            raise WrongUsageError("give a model and a file; or a file with --target, and --score or --predicted")
        if target is not None:
            raise WrongUsageError("--target: a saved model knows its own; it belongs to --score or --predicted")
        model, source = data.load_to_predict(paths[0]), reading.files(paths[1:])
        with judging(source, reading.quiet):
            found = how.of(model, source, weights=weight, threads=reading.threads)
    else:
        if target is None:
            raise WrongUsageError("which column holds the true classes? Name it with --target")
        source = reading.files(paths).rereadable()
        with judging(source, reading.quiet):
            found = how.of_columns(source, target, score, predicted, weight, reading.threads)
    data.say_report(found.report, reading.quiet)
    if as_json:
        print_json({**found.to_dict(), "report": found.report.to_dict()})
        return
    click.echo(repr(found))
