"""`evenodds explain`: why a model says what it says of a row."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command
from evenodds.cli.output import BadDataError, WrongUsageError, print_json, print_lines
from evenodds.cli.paths import STREAM, Read, Written, check_outputs, writing
from evenodds.errors import did_you_mean, many

if TYPE_CHECKING:
    from evenodds.data.files import Files
    from evenodds.data.memory import Table
    from evenodds.data.source import Batch
    from evenodds.models.explanation import Explanation
    from evenodds.models.naive_bayes import Model

FIRST = 3  # rows of a file that are explained if none is asked for


@click.command(cls=Command, no_args_is_help=True)
@click.argument("model", type=Read())
@click.argument("row", nargs=-1, metavar="[COLUMN=VALUE... | DATA | TEXT]")
@click.option(
    "--row",
    "numbers",
    type=options.Whole(),
    multiple=True,
    help=f"Which row of DATA; repeatable; the first {FIRST} if not given.",
)
@click.option("--of", "of", metavar="CLASS", help="The class to explain; the most probable if not given.")
@click.option("--against", metavar="CLASS", help="The class it is held against; the runner-up if not given.")
@click.option("--html", type=Written(stream=True), metavar="FILE", help="Write a page instead; - is stdout.")
@options.reading_alone
@options.as_json
def explain(
    model: str,
    row: tuple[str, ...],
    numbers: tuple[int, ...],
    of: str | None,
    against: str | None,
    html: str | None,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Why? The prior and one term per column, in log-odds, that add up to the answer.

    \b
      evenodds explain titanic.eo sex=female class=3rd
      evenodds explain titanic.eo people.csv --row 17 --row 42
      head -2 people.csv | evenodds explain titanic.eo -
      evenodds explain spam.eo "you have won a free prize"
      evenodds explain spam.eo "you have won a free prize" --html why.html
    """
    if as_json and html:
        raise WrongUsageError("--json or --html, not both")
    check_outputs()
    learnt = data.load_to_predict(model)
    cells = [text for text in row if _is_cell(text, learnt)]
    paths = tuple(text for text in row if text not in cells)
    if learnt.schema.texts and paths and not any(path == STREAM or os.path.exists(path) for path in paths):
        if len(paths) > 1:
            text = shlex.quote(" ".join(paths))
            raise click.ClickException(
                f"there is no file {paths[0]!r}; a text goes in quotes: evenodds explain {model} {text}"
            )
        texts, (name, equals, _) = list(learnt.schema.texts), paths[0].partition("=")
        if equals and " " not in name.strip() and learnt.schema.sources != texts:
            raise BadDataError(f"{model}: {did_you_mean(name, learnt.schema.sources)}")
        cells, paths = [f"{data.text_column(learnt, model)}={paths[0]}"], ()
    if cells and paths:
        raise WrongUsageError(f"give a row as COLUMN=VALUE, or a file, not both: {paths[0]!r} has no =")
    if paths:
        rows = _rows(learnt, reading.files(paths), numbers, reading.quiet)
    else:
        options.refuse("is for the rows of a file", "numbers", "separator", "encoding", "header", "engine", "master")
        rows = [_row(learnt, cells, model, reading.quiet)]
    found = [one for table in rows for one in learnt.explain(table, of, against)]
    if as_json:
        print_json([one.to_dict() for one in found])
    elif html is not None:
        _write_page(found, model, html, reading.quiet)
    else:
        click.echo("\n\n".join(one.coloured() for one in found))


def _write_page(found: list[Explanation], model: str, path: str, quiet: bool) -> None:
    """The explanations as one page."""
    from evenodds.models.explanation_html import page

    with writing(path) as file:
        file.write(page(found, f"evenodds explain {os.path.basename(model)}").encode("utf-8", "replace"))
    if path != STREAM and not quiet:
        print_lines(f"{many(len(found), 'explanation')} → {path}", err=True)


def _is_cell(text: str, model: Model) -> bool:
    """Whether this is COLUMN=VALUE; in a model of text, only if there is such a column."""
    name, equals, _ = text.partition("=")
    return bool(equals) and not os.path.exists(text) and (name in model.schema.sources or not model.schema.texts)


def _row(model: Model, cells: list[str], where: str, quiet: bool) -> Table:
    """One row from COLUMN=VALUE; a column that is not named is missing."""
    from evenodds.data.memory import Table
    from evenodds.data.reading import Reading
    from evenodds.data.source import TableBatch
    from evenodds.errors import DataError
    from evenodds.texts import Texts

    given, names = said.pairs("the row", cells), model.schema.sources
    for name in given:
        if name not in names:
            raise DataError(f"{where}: {did_you_mean(name, names)}")
    columns = {name: Texts.of([given.get(name)]) for name in names}
    batch = TableBatch(Table(columns, 1))
    read = Reading(model.schema, target=False)(batch)
    data.say_report(read.report, quiet)
    return _as_written(read.table, batch, 0, model)


def _as_written(row: Table, batch: Batch, at: int, model: Model) -> Table:
    """A row whose flags are words again, as "yes", where the batch has words."""
    import pyarrow as pa

    from evenodds.data.memory import Table
    from evenodds.families import Bernoulli
    from evenodds.texts import Texts

    columns: dict[str, Any] = dict(row.columns)
    for name, how in model.schema.features.items():
        if how.family is Bernoulli and how.source is None:
            raw, value = batch.column(name), columns[name][0]
            if isinstance(raw, Texts) and value == value:
                columns[name] = pa.array([raw.text(at)])
    return Table(columns, row.rows)


def _rows(model: Model, source: Files, numbers: tuple[int, ...], quiet: bool) -> list[Table]:
    """The rows of a file with these numbers, counted from 1; the first few if there are none."""
    from evenodds.data.passes import number
    from evenodds.data.reading import Reading
    from evenodds.data.report import Report
    from evenodds.errors import DataError

    wanted = sorted(set(numbers)) or list(range(1, FIRST + 1))
    reading = Reading(model.schema, target=False)
    found: list[Table] = []
    rows, report = 0, Report()
    for start, batch in number(source.batches(reading.columns)):
        rows = start + batch.rows
        here = [n - 1 - start for n in wanted if start < n <= rows]
        if here:
            read = reading(batch)
            report += read.report
            found += [_as_written(read.table.slice(i, i + 1), batch, i, model) for i in here]
        if rows >= wanted[-1]:
            break
    if not found or (numbers and rows < wanted[-1]):
        raise DataError(f"{source.name} has {rows:,} rows: there is no row {wanted[-1] if numbers else 1}")
    data.say_report(report, quiet)
    return found
