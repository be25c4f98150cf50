"""`evenodds evaluate`: how good a model is on a file, or a kind of model by folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options
from evenodds.cli.commands import Command
from evenodds.cli.judging import held_out, held_out_rows, judging, learnt, otherwise, to_judge
from evenodds.cli.output import BadDataError, WrongUsageError, print_json, print_lines
from evenodds.cli.paths import Read

if TYPE_CHECKING:
    from evenodds.audit.held_out import HeldOut


@click.command(cls=Command, no_args_is_help=True)
@held_out_rows
@click.option("--beside", type=Read(), metavar="MODEL", help="Another model, judged by the same rows.")
@options.modelling
@options.reading
@options.as_json
def evaluate(
    paths: tuple[str, ...],
    folds: int | None,
    leave_one_out: bool,
    seed: int,
    tune: bool,
    bridge: bool,
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
      evenodds evaluate people.csv --target survived --folds 10 --tune
      evenodds evaluate titanic.eo people.csv --leave-one-out
      evenodds evaluate before.eo more-people.csv --beside after.eo
    """
    from evenodds.audit.held_out import of_model, of_rows
    from evenodds.audit.metrics import beside as in_columns

    if beside is not None and (folds is not None or modelling.target is not None):
        raise WrongUsageError("--beside is for two saved models: leave out --folds and --target")
    source, predicted = held_out(paths, folds, leave_one_out, seed, tune, bridge, modelling, reading)
    rival = None if beside is None else to_judge(beside, leave_one_out)
    judged = {}
    with judging(source if beside is None else source.rereadable(), reading.quiet):
        held = predicted()
        if rival is not None:
            _check_alike(held, rival, paths[0], str(beside))
        metrics, report = held.metrics(), held.report
        saved = [(paths[0], held.model)] + ([] if beside is None or held.model is None else [(beside, rival)])
        rows, weight = metrics.rows, modelling.weight
        seen = [(learnt(path, model, source, rows, weight, reading.threads), model) for path, model in saved]
        if held.plain is not None and beside is None:
            judged = {"as learnt": held.plain.metrics(), "tempered": metrics}
        if beside is not None and rival is not None:
            other = (of_rows if leave_one_out else of_model)(rival, source, modelling.weight, reading.threads)
            judged = {paths[0]: metrics, beside: other.metrics()}
    data.say([f"{one}; {otherwise(model)}" for one, model in seen if one], reading.quiet)
    data.say_report(report, reading.quiet)
    columns = {"beside": {name: each.to_dict() for name, each in judged.items()}} if judged else {}
    found = columns if beside is not None else {**metrics.to_dict(), **columns}
    if as_json:
        print_json({"folds": folds, "leave_one_out": leave_one_out, **found, "report": report.to_dict()})
        return
    page = [] if beside is not None else [repr(metrics)]
    print_lines("\n\n".join([*page, *([repr(in_columns(judged))] if judged else [])]))


def _check_alike(held: HeldOut, rival: Any, one: str, other: str) -> None:
    """Refuse to put numbers side by side that are of different things."""
    for what, mine, its in (
        ("the column", held.reading.schema.target, rival.schema.target),
        ("the classes", held.classes.tolist(), rival.classes.tolist()),
    ):
        if mine != its:
            raise BadDataError(f"--beside: {one} predicts {what} {mine!r}, {other} {its!r}: they cannot be compared")
