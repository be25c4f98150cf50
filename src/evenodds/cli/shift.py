"""`evenodds shift`: do new rows look like those of before, does a model hold elsewhere, have the class shares moved?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import Group, data, options
from evenodds.cli.judging import judging
from evenodds.cli.output import BadDataError, WrongUsageError, print_json, print_lines
from evenodds.cli.paths import Read, Written

if TYPE_CHECKING:
    from evenodds.audit.shift import Drift

level = click.option("--level", type=options.Between(0, 1, min_open=True, max_open=True), default=0.95,
                     help="How sure: of tests and intervals.")  # fmt: skip
roles = click.option("--role", "roles", multiple=True, metavar="COLUMN=ROLE",
                     help="What a column is, as for fit. Repeatable; decided if not given.")  # fmt: skip
rows = click.argument("paths", nargs=-1, required=True, metavar="DATA...")


@click.group(cls=Group, no_args_is_help=True)
def shift() -> None:
    """Does it still hold? drift, sites, labels.

    \b
      evenodds shift drift march.csv april.csv
      evenodds shift sites scans.csv --target sick --site hospital
      evenodds shift labels spam.eo april.csv -o april.eo
    """


@shift.command(no_args_is_help=True)
@click.argument("reference", type=Read())
@rows
@click.option("-t", "--target", metavar="COLUMN", help="A column that is left out: it need not be known yet.")
@roles
@level
@click.option("--seed", type=options.Whole(0, 2**63 - 1), default=0, help="Which half of the rows teaches the other.")
@options.plot
@options.reading
@options.as_json
def drift(
    reference: str, paths: tuple[str, ...], target: str | None, roles: tuple[str, ...], level: float, seed: int,
    plot: str | None, reading: options.Input, as_json: bool,
) -> None:  # fmt: skip
    """What changed between a REFERENCE and new rows: each column, words that came and went, and all together.

    REFERENCE is a file, or a model: then the new rows are compared with what it learnt, of which it kept the tally.

    \b
      evenodds shift drift march.csv april.csv --target label
      evenodds shift drift spam.eo april.csv
    """
    found = _drift(reference, paths, target, roles, level, seed, reading)
    data.say_report(found.report, reading.quiet)
    if plot is not None:
        from evenodds.plots import drifted, save

        save(drifted(found), plot)
    _show(found, as_json)


def _drift(
    reference: str, paths: tuple[str, ...], target: str | None, roles: tuple[str, ...], level: float, seed: int,
    reading: options.Input,
) -> Drift:  # fmt: skip
    from evenodds.audit import shift
    from evenodds.audit.pair import NEW, WHERE, Marked
    from evenodds.data.reading import Reading
    from evenodds.data.sum import sum_source
    from evenodds.file import is_model
    from evenodds.schema import Schema
    from evenodds.text.words import Words

    told = options.columns_of(roles, Words(), target) or None
    by_model = is_model(reference)
    if by_model and (told or target is not None):
        raise WrongUsageError("--role and --target are for a file as reference: a model knows its own columns")
    new = reading.files(paths).rereadable()
    with judging(new, reading.quiet):
        if by_model:
            options.refuse("a model as reference is compared column by column: nothing is drawn", "seed")
            model = data.load(reference)
            by_source = Reading(Schema(shift.counted_to_compare(model).columns, WHERE))
            tally, report = sum_source(Marked(new, NEW), by_source, reading.threads)
            return replace(shift.drift_since(model, tally, level), report=report)
        before = reading.files((reference,)).rereadable()
        return shift.drift(before, new, target, told, level, seed, reading.threads)


@shift.command(no_args_is_help=True)
@rows
@click.option("-t", "--target", required=True, metavar="COLUMN", help="The column of the classes.")
@click.option("--site", required=True, metavar="COLUMN", help="Where a row is from; the model does not get to see it.")
@roles
@level
@options.reading
@options.as_json
def sites(
    paths: tuple[str, ...], target: str, site: str, roles: tuple[str, ...], level: float, reading: options.Input,
    as_json: bool,
) -> None:  # fmt: skip
    """How good a model is at each site: when it learnt there too, and when it never saw it; and what gives it away.

    \b
      evenodds shift sites scans.csv --target sick --site hospital
    """
    from evenodds.audit.environments import environments
    from evenodds.text.words import Words

    told = options.columns_of(roles, Words(), target) or None
    source = reading.files(paths).rereadable()
    with judging(source, reading.quiet):
        found = environments(source, target, site, told, level, reading.threads)
    data.say_report(found.report, reading.quiet)
    _show(found, as_json)


@shift.command(no_args_is_help=True)
@click.argument("model", type=click.Path())
@rows
@click.option("--known", type=click.Path(), metavar="FILE",
              help="Rows it has not learnt, with their classes: for the confusion matrix.")  # fmt: skip
@click.option("-o", "--output", type=Written(), help="Write the model that believes the new shares.")
@level
@options.reading
@options.as_json
def labels(
    model: str, paths: tuple[str, ...], known: str | None, output: str | None, level: float, reading: options.Input,
    as_json: bool,
) -> None:  # fmt: skip
    """How often each class occurs among new rows, whose classes are not known; right if only that has changed.

    \b
      evenodds shift labels spam.eo april.csv -o april.eo
      evenodds shift labels spam.eo april.csv --known march.csv
    """
    from evenodds.audit.label_shift import label_shift

    learnt = data.able(data.load(model), model)
    source = reading.files(paths)
    with judging(source, reading.quiet):
        other = reading.files((known,)) if known is not None else None
        found = label_shift(learnt, source, other, level, reading.threads)
    data.say_report(found.report, reading.quiet)
    if output is not None:
        try:
            found.adapted.save(output)
        except ValueError as error:
            raise BadDataError(str(error)) from None
        data.say([f"the model under these shares → {output}"], reading.quiet)
    _show(found, as_json)


def _show(found: Any, as_json: bool) -> None:
    print_json({**found.to_dict(), "report": found.report.to_dict()}) if as_json else print_lines(repr(found))
