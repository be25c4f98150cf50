"""`evenodds evaluate`: how good a model is on a file, or a kind of model by folds."""

from __future__ import annotations

import click

from evenodds.cli import data, options
from evenodds.cli.judging import held_out, held_out_rows, judging
from evenodds.cli.output import print_json


@click.command(no_args_is_help=True)
@held_out_rows
@options.modelling
@options.reading
@options.as_json
def evaluate(
    paths: tuple[str, ...],
    folds: int | None,
    leave_one_out: bool,
    seed: int,
    modelling: options.Modelling,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Accuracy, log loss, Brier score, calibration error, AUC and confusion matrix.

    Of a saved model on rows whose classes are known; or, with --folds, of the model that `fit` would learn: every fold
    is predicted by the sum of the others. With --leave-one-out every row is predicted by the model without it: give the
    model and the rows it was learnt from, or --target to learn from them first.

    \b
      evenodds evaluate titanic.eo more-people.csv
      evenodds evaluate people.csv --target survived --folds 10
      evenodds evaluate titanic.eo people.csv --leave-one-out
    """
    from evenodds.audit.evaluate import judge

    source, predicted = held_out(paths, folds, leave_one_out, seed, modelling, reading)
    with judging(source, reading.quiet):
        metrics, report = judge(predicted())
    data.say_report(report, reading.quiet)
    if as_json:
        print_json({"folds": folds, "leave_one_out": leave_one_out, **metrics.to_dict(), "report": report.to_dict()})
    else:
        click.echo(repr(metrics))
