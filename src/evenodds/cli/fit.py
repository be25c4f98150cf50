"""`evenodds fit`: learn a model from files, and save it."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from evenodds.cli import data, options
from evenodds.cli.commands import Command
from evenodds.cli.output import WrongUsageError, print_json, print_lines
from evenodds.cli.paths import Read, Written

if TYPE_CHECKING:
    from evenodds.data.files import Files


@click.command(cls=Command, no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-o", "--output", required=True, type=Written(), help="The model file to write.")
@click.option("--like", type=Read(), metavar="MODEL", help="Type the columns as this model does, so they add.")
@click.option(
    "--tune",
    is_flag=True,
    help="Choose what each column is modelled as by how well the rows' classes are told, each row left out.",
)
@click.option("--bridge", is_flag=True, help="Logistic regression on top of naive Bayes: a NaiveLogistic.")
@click.option("--workers", type=options.Whole(1, 1024), help="Processes that count files, or row groups of Parquet.")
@click.option(
    "--checkpoint",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Keep each file's counts there; a run that died goes on.",
)
@click.option("--on-error", type=click.Choice(["stop", "skip"]), help="What to do with a broken file; stop by default.")
@options.modelling
@options.reading
@options.as_json
def fit(
    paths: tuple[str, ...],
    output: str,
    like: str | None,
    tune: bool,
    bridge: bool,
    workers: int | None,
    checkpoint: str | None,
    on_error: Literal["stop", "skip"] | None,
    modelling: options.Modelling,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Learn a naive Bayes model from CSV, TSV, JSONL, Parquet or Arrow files, and save it.

    Files may be compressed (gz, zst, bz2, xz), named by globs, and of any size; - is standard input. What each column
    is gets decided from the first 10,000 rows and is shown; --role decides otherwise. Of a folder all files are learnt,
    and each one's part is kept beside the model, in MODEL.parts: next time only new files are counted.

    \b
      evenodds fit mail.csv --target label -o spam.eo
      evenodds fit 'days/*.parquet' -t sold -o shop.eo --role zip=category --role day=date:weekday+month
      zcat big.csv.gz | evenodds fit - -t y -o big.eo
      evenodds fit logs/ -t click -o clicks.eo --workers 8 --on-error skip
    """
    started, quiet = time.perf_counter(), reading.quiet
    if bridge and (tune or modelling.temper):
        other = "tune" if tune else "temper"
        raise WrongUsageError(
            f"--bridge and --{other}: give one of them" + ("; a bridge is tempered" if not tune else "")
        )
    how, source = modelling.settings(), reading.files(paths)
    told = modelling.columns(source if like is None else None)
    if like is not None and told:
        raise WrongUsageError("--role and --text have no say where --like decides what each column is")
    pattern = None if like is None else data.load(like).schema
    target = modelling.target
    if target is None and pattern is not None:
        target = pattern.target
    if target is None:
        raise WrongUsageError("which column is to be predicted? Name it with --target")
    if pattern is not None and target != pattern.target:
        raise WrongUsageError(f"--target {target}: the model that --like names predicts {pattern.target!r}")
    from evenodds.models.learn import learn

    if reading.on_spark and (workers or checkpoint or on_error):
        raise WrongUsageError("--workers, --checkpoint and --on-error are of the local engine: Spark retries by itself")
    if checkpoint is None and not reading.on_spark and any(map(os.path.isdir, paths)):
        checkpoint = f"{output}.parts"
    rows, many = source, workers is not None or checkpoint is not None or on_error is not None
    if many and (tune or bridge or modelling.temper):
        if checkpoint is not None or on_error is not None:
            raise WrongUsageError(
                "--tune, --bridge and --temper look at some rows again, of which nothing is stored: not with "
                "--checkpoint or --on-error, nor of a folder (name its files: 'folder/*')"
            )
        from evenodds.data.workers import Sharded

        source.check_files("several workers")
        rows, many = cast("Files", Sharded(source, workers or 1)), False
    tuned = None
    with data.notes(quiet), data.progress(source, "learning", quiet):
        weight, temper = modelling.weight, modelling.temper
        model: Any
        if tune:
            from evenodds.models.tune import learn_tuned

            tuned, report = learn_tuned(rows, target, told, how, pattern, weight, reading.threads)
            model = tuned.model
        elif bridge:
            from evenodds.models.bridge.learn import learn as learn_bridge

            model, report = learn_bridge(rows, target, told, how, pattern, weight, reading.threads)
        elif many:
            from evenodds.models.learn_many import learn_many

            parts = (workers or 1, checkpoint, on_error or "stop", reading.threads)
            model, report = learn_many(source, target, told, how, pattern, weight, *parts)
        else:
            model, report = learn(rows, target, told, how, pattern, weight, reading.threads, temper)
    if not bridge:
        model.distributions  # noqa: B018  so that what cannot be estimated is said now, not later
    model.save(output)
    seconds = time.perf_counter() - started
    data.say_report(report, quiet)
    if as_json:
        found = as_data(model, report, {file: str(how) for file, how in source.dialects.items()}, output, seconds)
        print_json(found if tuned is None else found | {"tuning": tuned.record.to_dicts()})
    elif not quiet:
        for file, dialect in source.dialects.items():
            print_lines(f"{file}: {dialect}", err=True)
        if tuned is not None:
            print_lines(repr(tuned.summary), err=True)
        for sentence in [] if model.temper is None else model.temper.sentences():
            print_lines(sentence, err=True)
        print_lines(f"{model.schema!r}\n{data.summary(model, output)} in {seconds:.1f} s", err=True)


def as_data(model: Any, report: Any, described: dict[str, str], output: str, seconds: float) -> dict[str, object]:
    """What was learnt, for JSON."""
    return {
        "model": output,
        "target": model.schema.target,
        "rows": model.rows,
        "classes": data.classes(model),
        "columns": {name: c.described for name, c in model.schema.columns.items()},
        "temper": None if model.temper is None else dataclasses.asdict(model.temper),
        "files": described,
        "report": report.to_dict(),
        "seconds": seconds,
    }
