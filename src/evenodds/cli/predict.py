"""`evenodds predict`: a file's rows with the predictions added, as they stream by."""

from __future__ import annotations

import glob
import itertools
import os
import shlex
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options
from evenodds.cli.commands import Command
from evenodds.cli.output import WrongUsageError
from evenodds.cli.paths import Read, Written, kind_of, writing

if TYPE_CHECKING:
    from evenodds.data.report import Report


JSON_LINES = (".jsonl", ".ndjson", ".json")
OTHERS = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".gz", ".zst", ".bz2", ".xz")  # read, not written


@click.command(cls=Command, no_args_is_help=True)
@click.argument("model", type=Read())
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-o", "--output", type=Written(stream=True), help="A file to write; standard output if not given, or -.")
@click.option("--all", "every", is_flag=True, help="Add the probability of every class.")
@click.option("--rule", type=Read(dir_okay=False), metavar="FILE", help="Say what a rule of `decide` says.")
@click.option("--only", is_flag=True, help="Leave out the columns that were read.")
@click.option("--lines", is_flag=True, help="Every line of DATA is one text.")
@options.reading
@options.as_json
def predict(
    model: str,
    paths: tuple[str, ...],
    output: str | None,
    every: bool,
    rule: str | None,
    only: bool,
    lines: bool,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Add to each row the most probable class and its probability.

    CSV rows are passed on as they are, with two cells added; rows of other files are written as CSV too, or with --json
    as JSON objects, one to a line. The columns are named after the target: label_predicted, label_probability. A
    regression adds the mean and its 95 % interval: claims_mean, claims_low, claims_high. A mixture adds the most
    probable component, its probability, and the row's log density.

    \b
      evenodds predict spam.eo new.csv > judged.csv
      evenodds predict spam.eo - --all < new.csv | head
      evenodds predict spam.eo - --lines < messages.txt
      evenodds predict spam.eo new.csv --rule rule.json
    """
    from evenodds.cli.answers import OfClasses, OfMixture, OfRegression
    from evenodds.cli.rows import writer_for
    from evenodds.data.passes import flat
    from evenodds.data.report import Report
    from evenodds.data.source import needed
    from evenodds.threads import Elsewhere, handed_on

    _check_kind(output, as_json)
    found: Any = data.load_any(model)
    answers: OfClasses | OfRegression | OfMixture
    if found.kind == "mixture":
        if lines or rule:
            raise WrongUsageError("--lines and --rule are for models of classes; this is a mixture")
        answers, source = OfMixture(found, every), reading.files(paths)
    elif found.kind != "regression":
        answers = OfClasses(data.able(found, model), every, None if rule is None else data.load_rule(rule, found))
        _no_texts(found, model, paths, reading)
        source = reading.files(paths, data.text_column(found, model, lines) if lines else None)
    elif lines or every or rule:
        raise WrongUsageError("--lines, --all and --rule are for models of naive Bayes; this is a regression")
    else:
        answers, source = OfRegression(found), reading.files(paths)
    quiet, report = reading.quiet, Report()
    with ExitStack() as stack:
        out = stack.enter_context(writing(output))
        stack.enter_context(data.notes(quiet))
        stack.enter_context(data.progress(source, "predicting", quiet))
        batches: Any = source.batches(answers.needs if only else None)
        if not isinstance(batches, Elsewhere):  # the columns of files are known once there is a batch
            batches = handed_on(list(itertools.islice(batches, 1)), batches)
        cells, writer = answers.reading(list(source.names)), writer_for(source, answers.names, only, as_json)
        needed(list(source.names), cells.columns, source.name)
        out.write(writer.head)
        for written, noted in flat(partial(_answered, cells, writer, answers, reading.threads), batches):
            out.write(written)
            report += noted
    data.say_report(report, quiet)


def _no_texts(found: Any, model: str, paths: tuple[str, ...], reading: options.Input) -> None:
    """Refuse a text where a file is expected, and say what takes one."""
    missing = [path for path in paths if path != "-" and not reading.on_spark and not os.path.exists(path)]
    if missing and not glob.has_magic(missing[0]) and any(how.words for how in found.schema.features.values()):
        raise click.ClickException(
            f"there is no file {missing[0]!r}; of a text, `evenodds explain {model} {shlex.quote(missing[0])}` says "
            "what it is, and why; many texts are read from a file, one a line, with --lines (- is standard input)"
        )


def _check_kind(output: str | None, as_json: bool) -> None:
    """Refuse a name that says it is what is not written."""
    kind = kind_of(output or "")
    if kind in OTHERS or (kind in JSON_LINES and not as_json):
        cure = "add --json" if kind in JSON_LINES else "name it .csv, or .jsonl and add --json"
        raise WrongUsageError(f"--output {output}: what is written is CSV, or with --json JSON lines: {cure}")


def _answered(cells: Any, writer: Any, answers: Any, threads: int | None, batch: Any) -> list[tuple[bytes, Report]]:
    """A batch with its answers, as it is written; and what was wrong with some rows."""
    read = cells(batch)
    return [(writer.rows(batch, answers.columns(read.table, threads, batch.where)), read.report)]
