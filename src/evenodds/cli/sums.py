"""`evenodds add`, `learn` and `forget`: models are sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evenodds.cli import data
from evenodds.cli.output import BadDataError, print_json

if TYPE_CHECKING:
    from evenodds.data.files import Files
    from evenodds.models.naive_bayes import Model


@click.command(no_args_is_help=True)
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="The model file to write.")
@data.as_json
def add(models: tuple[str, ...], output: str, as_json: bool) -> None:
    """Add models: the result is the model of all their rows, whoever learnt them.

    \b
      evenodds add monday.eo tuesday.eo -o week.eo
    """
    total = data.load(models[0])
    for path in models[1:]:
        try:
            total = total + data.load(path)
        except ValueError as error:
            raise BadDataError(f"{models[0]} and {path} cannot be added: {error}") from None
    _save(total, output, as_json, quiet=False)


@click.command(no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where to write; the same file if not given.")
@click.option("--weight", metavar="COLUMN", help="A column that says how much each row counts.")
@data.reading
@data.as_json
def learn(
    model: str,
    paths: tuple[str, ...],
    output: str | None,
    weight: str | None,
    separator: str | None,
    encoding: str | None,
    header: bool | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Teach a model more rows. New classes and categories may turn up.

    \b
      evenodds learn spam.eo tuesday.csv
    """
    source = data.files(paths, separator, encoding, header)
    old = data.load(model)
    new = _count(old, source, weight, threads, quiet, "learning")
    total = old + new
    if total.rows:
        data.check_prior(total, model)
    _save(total, output or model, as_json, quiet)


@click.command(no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where to write; the same file if not given.")
@click.option("--weight", metavar="COLUMN", help="A column that says how much each row counts.")
@data.reading
@data.as_json
def forget(
    model: str,
    paths: tuple[str, ...],
    output: str | None,
    weight: str | None,
    separator: str | None,
    encoding: str | None,
    header: bool | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Make a model forget rows, as if it had never seen them. What was never learnt cannot be forgotten.

    \b
      evenodds forget spam.eo withdrawn.csv
    """
    source = data.files(paths, separator, encoding, header)
    old = data.load(model)
    gone = _count(old, source, weight, threads, quiet, "forgetting")
    _save(old - gone, output or model, as_json, quiet)


def _count(model: Model, source: Files, weight: str | None, threads: int | None, quiet: bool, what: str) -> Model:
    from evenodds.models.learn import more

    with data.notes(quiet), data.progress(source, what, quiet):
        part, report = more(model, source, weight, threads)
    data.say_report(report, quiet)
    return part


def _save(model: Model, path: str, as_json: bool, quiet: bool) -> None:
    model.save(path)
    if as_json:
        print_json({"model": path, "rows": model.rows, "classes": data.classes(model)})
    elif not quiet:
        click.echo(data.summary(model, path), err=True)
