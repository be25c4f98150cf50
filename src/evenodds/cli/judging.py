"""What `evaluate` and `decide` share: which rows are predicted, and by what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenodds.cli import data, options
from evenodds.cli.output import BadDataError, WrongUsageError
from evenodds.cli.paths import check_outputs

if TYPE_CHECKING:
    from evenodds.audit.held_out import HeldOut
    from evenodds.data.files import Files

F = TypeVar("F", bound=Callable[..., Any])


def held_out_rows(command: F) -> F:
    """The argument and the options that say which rows are judged, and by what, as six of the command's arguments."""
    for option in (
        click.option("--bridge", is_flag=True, help="With --folds: judge a NaiveLogistic, as fit --bridge learns it."),
        click.option("--tune", is_flag=True, help="With --folds: judge tuned models, as fit --tune learns them."),
        click.option("--seed", type=options.Whole(0, 2**63 - 1), default=0, help="Which rows go to which fold."),
        click.option("--leave-one-out", is_flag=True, help="Judge by the rows that were learnt, each without itself."),
        click.option(
            "-k", "--folds", type=click.IntRange(2, 1000), metavar="K", help="Learn and judge by K folds of the data."
        ),
        click.argument("paths", nargs=-1, required=True, metavar="[MODEL] DATA..."),
    ):
        command = option(command)
    return command


def held_out(
    paths: tuple[str, ...],
    folds: int | None,
    leave_one_out: bool,
    seed: int,
    tune: bool,
    bridge: bool,
    modelling: options.Modelling,
    reading: options.Input,
) -> tuple[Files, Callable[[], HeldOut]]:
    """The files, and what predicts their rows, which reads them for folds: to be called where progress is shown."""
    learns = folds is not None or (leave_one_out and modelling.target is not None)
    if folds is not None and leave_one_out:
        raise WrongUsageError("--folds and --leave-one-out: give one of them")
    if not learns and len(paths) < 2:
        raise WrongUsageError(
            "give a model and a file to judge it by; or --folds 10 and --target to learn from the file"
        )
    if folds is None:
        options.refuse("needs --folds", "seed", "tune", "bridge")
    if tune and bridge:
        raise WrongUsageError("--bridge and --tune: give one of them")
    if tune or bridge:
        options.refuse("--tune and --bridge temper in any case", "temper")
    target, how = modelling.target, modelling.settings()
    weight, threads = modelling.weight, reading.threads
    if not learns:
        from evenodds.models.settings import Settings

        if modelling.columns() or how != Settings() or target is not None or modelling.temper:
            raise WrongUsageError("--target, --role, --smoothing and the like need --folds: a saved model has its own")
        check_outputs(paths[:1])
        model, source = to_judge(paths[0], leave_one_out), reading.files(paths[1:])
        if model.temper is not None:  # judged without it too
            source = source.rereadable()

        def of_a_model() -> HeldOut:
            from evenodds.audit.held_out import of_model, of_rows

            return (of_rows if leave_one_out else of_model)(model, source, weight, threads)

        return source, of_a_model
    from evenodds.file import is_model

    if models := [path for path in paths if is_model(path)]:
        raise BadDataError(
            f"{models[0]} is a model, but with --folds or --target one is learnt from the rows: leave out either"
        )
    if target is None:
        raise WrongUsageError("which column is to be predicted? Name it with --target")
    source = reading.files(paths).rereadable()
    told = modelling.columns(source)

    def of_the_data() -> HeldOut:
        from evenodds.audit.held_out import of_folds, of_rows
        from evenodds.models.learn import learn

        if folds is not None and (tune or bridge):
            from evenodds.audit.refitted import bridged, of_refits, tuned

            learn_one = (bridged if bridge else tuned)(target, told, how, weight, threads)
            return of_refits(source, target, folds, learn_one, told, weight, seed, threads)
        if folds is not None:
            return of_folds(source, target, folds, told, how, weight, seed, threads, modelling.temper)
        model, _ = learn(source, target, told, how, None, weight, threads, modelling.temper)
        return of_rows(model, source, weight, threads)

    return source, of_the_data


def to_judge(path: str, leave_one_out: bool) -> Any:
    """The model of classes in a file; one that can leave rows out, where that is asked for."""
    model = data.load_to_predict(path)
    if leave_one_out and not hasattr(model, "leave_one_out"):
        fitted = ", fitted on such rows" if model.kind == "bridge" else ""
        raise WrongUsageError(f"--leave-one-out is for models of naive Bayes; {path} is a {model.kind}{fitted}")
    return model


def learnt(path: str, model: Any, source: Files, rows: float, weight: str | None, threads: int | None) -> str:
    """A sentence where the rows that were judged are the very ones that the model was learnt from; otherwise none.

    A pipe is gone by then, and nothing is said of it.
    """
    from evenodds.audit.held_out import were_learnt

    if model is None or source.size is None or not were_learnt(model, source, rows, weight, threads):
        return ""
    return f"{path} was learnt from these very rows: of rows that it has not seen fewer are judged right"


def otherwise(model: Any) -> str:
    """How a model can be judged that was judged by the rows it has learnt."""
    if hasattr(model, "leave_one_out"):
        return "--leave-one-out judges each by the model without it"
    return f"a {model.kind} is judged by rows that it has not seen"


@contextmanager
def judging(source: Files, quiet: bool) -> Iterator[None]:
    """Notes and progress while rows are judged; what the settings cannot do ends in a sentence."""
    with data.notes(quiet), data.progress(source, "judging", quiet):
        try:
            yield
        except ValueError as error:
            raise BadDataError(str(error)) from None
