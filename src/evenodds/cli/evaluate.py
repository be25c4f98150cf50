"""`evenodds evaluate`: how good a model is on a file, or a kind of model by folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evenodds.cli import data, options
from evenodds.cli.output import BadDataError, WrongUsageError, print_json

if TYPE_CHECKING:
    from evenodds.audit.metrics import Metrics
    from evenodds.data.report import Report


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="[MODEL] DATA...")
@click.option(
    "-k", "--folds", type=click.IntRange(2, 1000), metavar="K", help="Learn and judge by K folds of the data."
)
@click.option("--leave-one-out", is_flag=True, help="Judge by the rows that were learnt, each without itself.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which rows go to which fold.")
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
    learns = folds is not None or (leave_one_out and modelling.target is not None)
    if folds is not None and leave_one_out:
        raise WrongUsageError("--folds and --leave-one-out: give one of them")
    if not learns and len(paths) < 2:
        raise WrongUsageError(
            "give a model and a file to judge it by; or --folds 10 and --target to learn from the file"
        )
    target, told, how, quiet = modelling.target, modelling.columns(), modelling.settings(), reading.quiet
    found: tuple[Metrics, Report]
    if not learns:
        from evenodds.audit import evaluate as judging
        from evenodds.models.settings import Settings

        if told or how != Settings() or target is not None or modelling.temper:
            raise WrongUsageError("--target, --role, --smoothing and the like need --folds: a saved model has its own")
        model, source = data.load_to_predict(paths[0]), reading.files(paths[1:])
        with data.notes(quiet), data.progress(source, "judging", quiet):
            judge = judging.leave_one_out if leave_one_out else judging.evaluate
            found = judge(model, source, modelling.weight, reading.threads)
    else:
        from evenodds.audit.evaluate import cross_validate
        from evenodds.audit.evaluate import leave_one_out as judge_each
        from evenodds.models.learn import learn

        if target is None:
            raise WrongUsageError("which column is to be predicted? Name it with --target")
        source = reading.files(paths).rereadable()
        with data.notes(quiet), data.progress(source, "judging", quiet):
            try:
                temper, threads = modelling.temper, reading.threads
                if folds is not None:
                    weight = modelling.weight
                    found = cross_validate(source, target, folds, told, how, weight, seed, threads, temper)
                else:
                    model, _ = learn(source, target, told, how, None, modelling.weight, threads, temper)
                    found = judge_each(model, source, modelling.weight, reading.threads)
            except ValueError as error:  # of the settings
                raise BadDataError(str(error)) from None
    metrics, report = found
    data.say_report(report, quiet)
    if as_json:
        print_json({"folds": folds, "leave_one_out": leave_one_out, **metrics.to_dict(), "report": report.to_dict()})
    else:
        click.echo(repr(metrics))
