"""`evenodds evaluate`: how good a model is on a file, or a kind of model by folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evenodds.cli import data
from evenodds.cli.output import BadDataError, WrongUsageError, print_json

if TYPE_CHECKING:
    from evenodds.audit.metrics import Metrics
    from evenodds.data.report import Report


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="[MODEL] DATA...")
@click.option(
    "-k", "--folds", type=click.IntRange(2, 1000), metavar="K", help="Learn and judge by K folds of the data."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which rows go to which fold.")
@data.modelling
@data.reading
@data.as_json
def evaluate(
    paths: tuple[str, ...],
    folds: int | None,
    seed: int,
    target: str | None,
    roles: tuple[str, ...],
    texts: tuple[str, ...],
    ngrams: int | None,
    events: str | None,
    weight: str | None,
    smoothing: str | None,
    prior: str | None,
    estimate: str | None,
    class_prior: str | None,
    unseen: str | None,
    separator: str | None,
    encoding: str | None,
    header: bool | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Accuracy, log loss, Brier score, calibration error, AUC and confusion matrix.

    Of a saved model on rows whose classes are known; or, with --folds, of the model that `fit` would learn: every fold
    is predicted by the sum of the others.

    \b
      evenodds evaluate titanic.eo more-people.csv
      evenodds evaluate people.csv --target survived --folds 10
    """
    if folds is None and len(paths) < 2:
        raise WrongUsageError(
            "give a model and a file to judge it by; or --folds 10 and --target to learn from the file"
        )
    if folds is not None and target is None:
        raise WrongUsageError("which column is to be predicted? Name it with --target")
    how = data.settings(smoothing, prior, estimate, class_prior, unseen)
    told = data.columns(roles, texts, ngrams, events)
    found: tuple[Metrics, Report]
    if folds is None:
        if told or how != data.settings(None, None, None, None, None) or target is not None:
            raise WrongUsageError("--target, --role, --smoothing and the like need --folds: a saved model has its own")
        model = data.load_to_predict(paths[0])
        source = data.files(paths[1:], separator, encoding, header)
        from evenodds.audit.evaluate import evaluate as judge

        with data.notes(quiet), data.progress(source, "judging", quiet):
            found = judge(model, source, weight, threads)
    else:
        source = data.files(paths, separator, encoding, header).rereadable()
        from evenodds.audit.evaluate import cross_validate

        assert target is not None
        with data.notes(quiet), data.progress(source, "judging", quiet):
            try:
                found = cross_validate(source, target, folds, told or None, how, weight, seed, threads)
            except ValueError as error:  # of the settings
                raise BadDataError(str(error)) from None
    metrics, report = found
    data.say_report(report, quiet)
    if as_json:
        print_json({"folds": folds, **metrics.to_dict(), "report": report.to_dict()})
    else:
        click.echo(repr(metrics))
