"""What the commands that read data share: progress, models, and telling people what was wrong with some rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import click

from evenodds.cli.output import BadDataError, WrongUsageError
from evenodds.errors import listed, many
from evenodds.show import escaped

if TYPE_CHECKING:
    from evenodds.audit.decisions import Decision
    from evenodds.data.files import Files
    from evenodds.data.report import Report
    from evenodds.models.bayes_net.classifier import NetworkClassifier
    from evenodds.models.bridge.bridge import Bridge
    from evenodds.models.glm.regression import Regression
    from evenodds.models.mixture.model import MixtureModel
    from evenodds.models.naive_bayes import Model

WORTH_A_BAR = 1 << 24  # bytes


@contextmanager
def progress(source: Files, what: str, quiet: bool = False) -> Iterator[None]:
    """A bar of the bytes read, on a terminal only, and only where there is something to wait for."""
    size = source.size
    if quiet or sys.stderr is None or not sys.stderr.isatty() or (size is not None and size < WORTH_A_BAR):
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn(what), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=size)
        source.progress = lambda n: bar.advance(task, n)
        try:
            yield
        finally:
            source.progress = None


@contextmanager
def notes(quiet: bool = False) -> Iterator[list[str]]:
    """Warnings of the library, as lines on stderr when the work is done, or has failed."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield found
        finally:  # where the work failed they may say why
            found += dict.fromkeys(str(warning.message) for warning in caught)
            say(found, quiet)


def say(lines: list[str], quiet: bool = False) -> None:
    """Lines for people."""
    for line in () if quiet else lines:
        click.echo(f"note: {escaped(line)}", err=True)


def say_report(report: Report, quiet: bool = False) -> None:
    """What was wrong with some rows."""
    say(report.sentences(), quiet)


def load_any(path: str) -> Model | Bridge | Regression | MixtureModel | NetworkClassifier:
    """The model in a file, whatever its kind; a network as what it tells, one that tells nothing is refused."""
    from evenodds.models.saved import load

    found: Any = load(path)
    if found.kind == "network":
        from evenodds.models.bayes_net.classifier import NetworkClassifier

        if found.target is None:
            raise WrongUsageError(
                f"{path} is a network: evenodds net show, query and sample take it; the node that it is to tell from "
                "the others is named with --target where it is fitted, or by `evenodds net convert`"
            )
        found = NetworkClassifier(found, found.target)
    return cast("Model | Bridge | Regression | MixtureModel | NetworkClassifier", found)


def load(path: str) -> Model:
    """The model in a file."""
    from evenodds.models.naive_bayes import Model

    return Model.load(path)


def load_to_predict(path: str) -> Any:
    """The model of classes in a file, naive Bayes or a bridge, which must be able to answer."""
    found = load_any(path)
    if found.kind in ("regression", "mixture"):
        raise BadDataError(
            f"{path} holds a {found.kind}: this command asks naive Bayes, bridges and networks for a class; "
            f"`evenodds show` prints it, `evenodds predict` takes new rows"
        )
    return able(found, path)


def able(model: Any, path: str) -> Any:
    """The model, if it can answer."""
    check_prior(model, path)
    return model


def load_rule(path: str, model: Any) -> Decision:
    """The rule that `decide` wrote to a file, which must be for the model's classes."""
    import json

    from evenodds.audit.decisions import Decision
    from evenodds.file import small

    text = small(path)
    try:
        rule = Decision.from_dict(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadDataError(f"{path} is not a rule as `evenodds decide -o` writes it: {error}") from None
    if list(rule.classes) != model.classes.tolist():
        raise BadDataError(
            f"{path} is a rule for the classes {list(rule.classes)}, the model has {model.classes.tolist()}"
        )
    return rule


def check_prior(model: Any, where: str) -> None:
    """Refuse a model without classes, and a prior that was given for others than it has."""
    try:
        model.log_prior  # noqa: B018
    except ValueError as error:
        raise BadDataError(f"{where}: {error}") from None


def text_column(model: Any, where: str, lines: bool = False) -> str:
    """The column that a text alone is, or each of the `lines` of a file: the model's only one."""
    texts = list(model.schema.texts)
    if len(texts) != 1 or model.schema.sources != texts:
        cells = "give rows as COLUMN=VALUE" + (f", as in {texts[0]}=TEXT" if texts else "") + ", or a file"
        cure = f"give a file with the columns {listed(model.schema.sources)}, without --lines" if lines else cells
        raise BadDataError(f"{where} has other columns than one of text: {cure}")
    return texts[0]


def classes(model: Model) -> dict[str, float]:
    """How many rows of each class."""
    return dict(zip(model.names, model.class_counts.tolist()))


def summary(model: Model, path: str | None = None) -> str:
    """One line: 2,201 rows of 2 classes (no 1,490, yes 711) → titanic.eo (3 KB)."""
    import os

    from evenodds.show import printed, size

    counted = classes(model)
    names = [(repr(printed(name)) if "," in name else printed(name), n) for name, n in list(counted.items())[:8]]
    shown = ", ".join(f"{name} {n:,.0f}" for name, n in names) + (", …" if len(counted) > 8 else "")
    where = "" if path is None else f" → {path} ({size(os.stat(path).st_size)})"
    pruned = ", pruned" if model.pruned else ""
    each = f" ({shown}{pruned})" if shown else ""
    rows, of = many(round(model.rows), "row"), many(len(counted), "class")
    return f"{rows} of {of} of {model.schema.target!r}{each}{where}"
