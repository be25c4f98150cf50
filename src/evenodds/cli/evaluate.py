"""`evenodds evaluate`: how good a model is on a file, or a kind of model by folds."""

from __future__ import annotations

import click

from evenodds.cli import data, options
from evenodds.cli.judging import held_out, held_out_rows, judging
from evenodds.cli.output import WrongUsageError, print_json, print_lines


@click.command(no_args_is_help=True)
@held_out_rows
@click.option("--beside", type=click.Path(), metavar="MODEL", help="Another model, judged by the same rows.")
@options.modelling
@options.reading
@options.as_json
def evaluate(
    paths: tuple[str, ...],
    folds: int | None,
    leave_one_out: bool,
    seed: int,
    beside: str | None,
    modelling: options.Modelling,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Accuracy, log loss, Brier score, AUC, confusion matrix, and how honest the probabilities are.

    Of a saved model on rows whose classes are known; or, with --folds, of the model that `fit` would learn: every fold
    is predicted by the sum of the others. With --leave-one-out every row is predicted by the model without it: give the
    model and the rows it was learnt from, or --target to learn from them first. A tempered model is put beside what it
    would say without.

    \b
      evenodds evaluate titanic.eo more-people.csv
      evenodds evaluate people.csv --target survived --folds 10
      evenodds evaluate titanic.eo people.csv --leave-one-out
      evenodds evaluate before.eo more-people.csv --beside after.eo
    """
    from evenodds.audit.evaluate import judge
    from evenodds.audit.held_out import of_model, of_rows
    from evenodds.audit.metrics import beside as in_columns

    if beside is not None and (folds is not None or modelling.target is not None):
        raise WrongUsageError("--beside is for two saved models: leave out --folds and --target")
    source, predicted = held_out(paths, folds, leave_one_out, seed, modelling, reading)
    judged = {}
    with judging(source if beside is None else source.rereadable(), reading.quiet):
        held = predicted()
        metrics, report = judge(held)
        if held.plain is not None and beside is None:
            judged = {"as learnt": judge(held.plain)[0], "tempered": metrics}
        if beside is not None:
            other = (of_rows if leave_one_out else of_model)(
                data.load_to_predict(beside), source, modelling.weight, reading.threads
            )
            judged = {paths[0]: metrics, beside: judge(other)[0]}
    data.say_report(report, reading.quiet)
    columns = {"beside": {name: each.to_dict() for name, each in judged.items()}} if judged else {}
    found = columns if beside is not None else {**metrics.to_dict(), **columns}
    if as_json:
        print_json({"folds": folds, "leave_one_out": leave_one_out, **found, "report": report.to_dict()})
        return
    page = [] if beside is not None else [repr(metrics)]
    print_lines("\n\n".join([*page, *([repr(in_columns(judged))] if judged else [])]))
