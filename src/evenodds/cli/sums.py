"""`evenodds add`, `learn` and `forget`: models are sums. And `prune`, after which there is no forgetting."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenodds.cli import data, options
from evenodds.cli.commands import Command
from evenodds.cli.output import BadDataError, print_json, print_lines
from evenodds.cli.paths import Written

if TYPE_CHECKING:
    from evenodds.data.report import Report
    from evenodds.models.naive_bayes import Model

F = TypeVar("F", bound=Callable[..., Any])


@click.command(cls=Command, no_args_is_help=True)
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("-o", "--output", required=True, type=Written(), help="The model file to write.")
@options.quiet
@options.as_json
def add(models: tuple[str, ...], output: str, quiet: bool, as_json: bool) -> None:
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
    _save(total, output, as_json, quiet)


def _changing(command: F) -> F:
    """The arguments and options of a command that changes a model by the rows of files."""
    to = click.option("-o", "--output", type=Written(), help="Where to write; the same file if not given.")
    which = click.argument("paths", nargs=-1, required=True, metavar="DATA...")
    whole = to(options.weighted(options.reading(options.as_json(command))))
    return click.argument("model", type=click.Path())(which(whole))


@click.command(cls=Command, no_args_is_help=True)
@_changing
def learn(
    model: str, paths: tuple[str, ...], output: str | None, weight: str | None, reading: options.Input, as_json: bool
) -> None:
    """Teach a model more rows. New classes and categories may turn up.

    \b
      evenodds learn spam.eo tuesday.csv
    """
    old, new, report = _counted(model, paths, weight, reading, "learning")
    total = old + new
    if total.rows:
        data.check_prior(total, model)
    _save(total, model if output is None else output, as_json, reading.quiet, report)


@click.command(cls=Command, no_args_is_help=True)
@_changing
def forget(
    model: str, paths: tuple[str, ...], output: str | None, weight: str | None, reading: options.Input, as_json: bool
) -> None:
    """Make a model forget rows, as if it had never seen them. What was never learnt cannot be forgotten.

    \b
      evenodds forget spam.eo withdrawn.csv
    """
    old, gone, report = _counted(model, paths, weight, reading, "forgetting")
    _save(old - gone, model if output is None else output, as_json, reading.quiet, report)


@click.command(cls=Command, no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.option(
    "--min-count",
    type=options.Between(min=0),
    default=2,
    help="Words that occur less often, in all classes together, are dropped.",
)
@click.option("-o", "--output", required=True, type=Written(), help="The model file to write.")
@options.quiet
@options.as_json
def prune(model: str, min_count: float, output: str, quiet: bool, as_json: bool) -> None:
    """Drop a model's rare words. The file gets smaller, and can go on learning, but it can no longer forget.

    \b
      evenodds prune spam.eo --min-count 2 -o small.eo
    """
    _save(data.load(model).prune(min_count), output, as_json, quiet)


def _counted(
    model: str, paths: tuple[str, ...], weight: str | None, reading: options.Input, what: str
) -> tuple[Model, Model, Report]:
    """The model in a file, the model of some files' rows under its schema, and what was wrong with some of them."""
    from evenodds.models.learn import more

    source, quiet = reading.files(paths), reading.quiet
    old = data.load(model)
    with data.notes(quiet), data.progress(source, what, quiet):
        part, report = more(old, source, old.schema.target, weight, reading.threads)
    data.say_report(report, quiet)
    return old, part, report


def _save(model: Model, path: str, as_json: bool, quiet: bool, report: Report | None = None) -> None:
    model.save(path)
    if as_json:
        read = {} if report is None else {"report": report.to_dict()}
        print_json({"model": path, "rows": model.rows, "classes": data.classes(model), **read})
    elif not quiet:
        print_lines(data.summary(model, path), err=True)
