"""`evenodds compare`: how good models get with more rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options
from evenodds.cli.output import BadDataError, WrongUsageError, print_json, print_lines

if TYPE_CHECKING:
    from evenodds.data.files import Files
    from evenodds.data.memory import Table
    from evenodds.schema import Schema


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-t", "--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option("--models", metavar="NAMES", help="Which, as in naive,logistic; all if not given.")
@click.option("--without", multiple=True, metavar="COLUMN", help="Add the first model without a column. Repeatable.")
@click.option("--role", "roles", multiple=True, metavar="COLUMN=ROLE", help="What a column is, as for fit. Repeatable.")
@click.option("--sizes", metavar="N,N,...", help="Numbers of rows to learn from; halved again and again if not given.")
@click.option("--repeats", type=click.IntRange(2, 1000), default=10, show_default=True, help="Repetitions.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the rows' random order.")
@click.option("--save", type=click.Path(dir_okay=False), metavar="FILE", help="A picture: .svg, .png, .html or .json.")
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
    save: str | None,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Accuracy and log loss of several models on rows held out, by how many rows they learnt from.

    Is there enough data? Which model is better with so much of it, and from how many rows on? What is a column worth?
    A third of the rows is held out, in another random order in each repetition.

    \b
      evenodds compare people.csv --target survived
      evenodds compare people.csv --target survived --without sex --save curves.svg
    """
    from evenodds.audit.compare import compare as curves
    from evenodds.plots import learning_curves
    from evenodds.plots import save as write
    from evenodds.plots.save import check_kind
    from evenodds.text.words import Words

    if save is not None:
        check_kind(save)
    chosen = None if models is None else [name.strip() for name in models.split(",")]
    try:
        numbers = None if sizes is None else [int(size) for size in sizes.split(",")]
    except ValueError:
        raise WrongUsageError(f"--sizes: expected whole numbers with commas between, not {sizes!r}") from None
    source = reading.files(paths).rereadable()
    with data.notes(reading.quiet), data.progress(source, "reading", reading.quiet):
        rows, truth, schema = _whole(source, target, options.columns_of(roles, Words()) or None)
        try:
            found = curves(
                rows, truth, chosen, sizes=numbers, repeats=repeats, without=without, schema=schema,
                random_state=seed, threads=reading.threads,
            )  # fmt: skip
        except ValueError as error:
            raise BadDataError(str(error)) from None
    if save is not None:
        write(learning_curves(found), save)
    if as_json:
        print_json(found.to_dict())
    else:
        print_lines(repr(found))


def _whole(source: Files, target: str, columns: Any) -> tuple[Table, Any, Schema]:
    """All rows that have a class, in memory, as they are read under the schema; their classes; and the schema."""
    import numpy as np
    import pyarrow as pa

    from evenodds import texts
    from evenodds.cells import Coded
    from evenodds.data.memory import Table
    from evenodds.data.reading import Reading
    from evenodds.models.learn import schema_of
    from evenodds.texts import Texts

    schema = schema_of(source, target, columns)
    reading = Reading(schema)
    parts = [reading(batch) for batch in source.batches(reading.columns)]

    def joined(cells: list[Any]) -> Any:
        if isinstance(cells[0], np.ndarray):
            return np.concatenate(cells)
        if isinstance(cells[0], Texts):
            return texts.joined(cells)
        arrow = [c.arrow() if isinstance(c, Coded) else c for c in cells]
        return pa.chunked_array([chunk for c in arrow for chunk in getattr(c, "chunks", [c])])

    if not sum(part.table.rows for part in parts):
        raise BadDataError(f"{source.name} has no rows with a class")
    names = parts[0].table.columns
    table = Table({n: joined([p.table.columns[n] for p in parts]) for n in names}, sum(p.table.rows for p in parts))
    return table, joined([part.target for part in parts]), schema
