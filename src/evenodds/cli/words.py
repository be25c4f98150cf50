"""`evenodds words`: the words that tell a model's classes apart."""

from __future__ import annotations

import click

from evenodds.cli import data, options
from evenodds.cli.output import print_json, print_lines


@click.command(no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.option("-c", "--class", "only", metavar="CLASS", help="One class only.")
@click.option("--column", metavar="COLUMN", help="Which column of text; all if not given.")
@click.option("-n", "--most", type=click.IntRange(min=1), default=15, show_default=True, help="Words a class.")
@options.as_json
def words(model: str, only: str | None, column: str | None, most: int, as_json: bool) -> None:
    """The words that tell each class from the rest.

    By P(w) · log( P(w | class) / P(w | rest) ): a word must be telling and frequent. Log-odds are given with
    their 95 % credible interval.

    \b
      evenodds words spam.eo
      evenodds words spam.eo --class spam -n 50
    """
    from evenodds.errors import DataError
    from evenodds.families import WordCounts
    from evenodds.labels import canonical
    from evenodds.models.learnt import top_words
    from evenodds.schema import did_you_mean
    from evenodds.show import Frame

    learnt = data.load(model)
    texts = [name for name, how in learnt.schema.features.items() if how.family is WordCounts]
    if not texts:
        raise DataError(f"{model} has no column of text: `evenodds show` has its tables")
    if column is not None and column not in texts:
        raise DataError(f"{model}: {did_you_mean(column, texts)}")
    classes = [canonical(label) for label in learnt.classes.tolist()]
    if only is not None and only not in classes:
        raise DataError(f"{model}: no class {only!r}; the classes are {', '.join(map(repr, classes))}")
    target = learnt.schema.target
    shown = {
        name: [row for row in top_words(learnt, name, most) if only is None or canonical(row[target]) == only]
        for name in texts
        if column in (None, name) and name in learnt.distributions
    }
    if as_json:
        print_json({name: Frame(rows).to_dicts() for name, rows in shown.items()})
    else:
        print_lines("\n\n".join(repr(Frame(rows, f"p({name} | {target})")) for name, rows in shown.items()))
