"""`evenodds words`: the words that tell a model's classes apart."""

from __future__ import annotations

import click

from evenodds.cli import data, options
from evenodds.cli.commands import Command
from evenodds.cli.output import print_json, print_lines


@click.command(cls=Command, no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.option("--class", "only", metavar="CLASS", help="Show one class only.")
@click.option("-c", "--column", metavar="COLUMN", help="Which column of text; all if not given.")
@click.option("-n", "--most", type=options.Whole(), default=15, help="How many words a class.")
@options.as_json
def words(model: str, only: str | None, column: str | None, most: int, as_json: bool) -> None:
    """The words that tell each class from the rest.

    By P(w) · log( P(w | class) / P(w | rest) ): a word must be telling and frequent. Log-odds are given with
    their 95 % credible interval.

    \b
      evenodds words spam.eo
      evenodds words spam.eo --class spam -n 50
    """
    from evenodds.errors import DataError, did_you_mean
    from evenodds.models.learnt import top_words
    from evenodds.show import Frame

    learnt = data.load(model)
    texts = learnt.schema.texts
    if not texts:
        raise DataError(f"{model} has no column of text: `evenodds show` has its tables")
    if column is not None and column not in texts:
        raise DataError(f"{model}: {did_you_mean(column, texts)}")
    target, wanted = learnt.schema.target, learnt.classes.tolist()
    if only is not None:
        if only not in learnt.names:
            raise DataError(f"{model}: {did_you_mean(only, learnt.names, 'class')}")
        wanted = [wanted[learnt.place(only)]]
    shown = {
        name: [row for row in top_words(learnt, name, most) if row[target] in wanted]
        for name in texts
        if column in (None, name) and name in learnt.distributions
    }
    if as_json:
        print_json({name: Frame(rows).to_dicts() for name, rows in shown.items()})
    else:
        print_lines("\n\n".join(repr(Frame(rows, f"p({name} | {target})")) for name, rows in shown.items()))
