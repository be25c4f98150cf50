"""What the commands that read data share: options, progress, and telling people what was wrong with some rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenodds.cli.output import BadDataError, WrongUsageError

if TYPE_CHECKING:
    from evenodds.data.files import Files
    from evenodds.data.report import Report
    from evenodds.models.naive_bayes import Model
    from evenodds.models.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
WORTH_A_BAR = 1 << 24  # bytes
PARTS = ("month", "weekday")
ROLES = {
    "number": "Binned",
    "gaussian": "Gaussian",
    "log-gaussian": "LogGaussian",
    "count": "Poisson",
    "flag": "Bernoulli",
    "category": "Categorical",
    "text": "WordCounts",
}
LEFT_OUT = ("ignore", "id")
EVENTS = ("counts", "present", "bernoulli", "complement")


def _together(*options: Callable[[F], F]) -> Callable[[F], F]:
    def apply(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
reading = _together(
    click.option("--separator", metavar="CHAR", help="Of CSV cells; detected if not given. 'tab' is a tab."),
    click.option("--encoding", metavar="NAME", help="Of text files; detected if not given."),
    click.option("--header/--no-header", default=None, help="Whether a CSV's first row names its columns; detected."),
    click.option("--threads", type=click.IntRange(min=1), metavar="N", help="How many; the result is the same."),
    click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
)
modelling = _together(
    click.option("-t", "--target", metavar="COLUMN", help="The column to predict."),
    click.option(
        "--role",
        "roles",
        multiple=True,
        metavar="COLUMN=ROLE",
        help=f"What a column is: {', '.join([*ROLES, 'date', *LEFT_OUT])}. Repeatable; decided if not given.",
    ),
    click.option(
        "--text", "texts", multiple=True, metavar="COLUMN", help="A column of text, by its words. Repeatable."
    ),
    click.option("--ngrams", type=click.IntRange(1, 5), metavar="N", help="Of text: runs of up to N words."),
    click.option("--events", type=click.Choice(EVENTS), help="Of text: what is said of a word."),
    click.option("--weight", metavar="COLUMN", help="A column that says how much each row counts."),
    click.option("--smoothing", metavar="ROWS", help="Pseudo-rows of the prior, or auto (the default)."),
    click.option("--prior", type=click.Choice(["pooled", "flat"]), help="What the pseudo-rows look like."),
    click.option("--estimate", type=click.Choice(["predictive", "mean", "map", "mle"]), help="Of each column."),
    click.option("--class-prior", metavar="PRIOR", help="estimated (the default), uniform, or ham=.8,spam=.2."),
    click.option("--unseen", type=click.Choice(["ignore", "prior"]), help="What a value never seen says."),
)


def files(
    paths: tuple[str, ...],
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    lines: str | None = None,
) -> Files:
    """The files these paths and options name."""
    from evenodds.data.files import Files

    separator = {"tab": "\t", "\\t": "\t"}.get(separator, separator) if separator else None
    if separator is not None and (len(separator.encode()) != 1 or separator in '"\r\n\0'):
        raise WrongUsageError(f"--separator: expected one character, not {separator!r}")
    if encoding is not None:
        try:
            b"x".decode(encoding, "replace")  # of codecs it takes those of text alone
        except (LookupError, ValueError):
            raise WrongUsageError(f"--encoding: there is no encoding {encoding!r}") from None
    return Files(paths, separator, encoding, header, lines)


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
    """Warnings of the library, as lines on stderr when the work is done."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    found += dict.fromkeys(str(warning.message) for warning in caught)
    say(found, quiet)


def say(lines: list[str], quiet: bool = False) -> None:
    """Lines for people."""
    for line in () if quiet else lines:
        click.echo(f"note: {line}", err=True)


def say_report(report: Report, quiet: bool = False) -> None:
    """What was wrong with some rows."""
    say(report.sentences(), quiet)


def load(path: str) -> Model:
    """The model in a file."""
    from evenodds.models.naive_bayes import Model

    return Model.load(path)


def load_to_predict(path: str) -> Model:
    """The model in a file, which must be able to answer."""
    model = load(path)
    check_prior(model, path)
    return model


def check_prior(model: Model, where: str) -> None:
    """Refuse a model without classes, and a prior that was given for others than it has."""
    try:
        model.log_prior  # noqa: B018
    except ValueError as error:
        raise BadDataError(f"{where}: {error}") from None


def text_column(model: Model, where: str) -> str:
    """The column that a text alone is: the model's only one."""
    features = list(model.schema.features.items())
    if len(features) != 1 or features[0][1].words is None:
        raise BadDataError(f"{where} has other columns than one of text: give rows as COLUMN=VALUE, or a file")
    return features[0][0]


def settings(
    smoothing: str | None, prior: str | None, estimate: str | None, class_prior: str | None, unseen: str | None
) -> Settings:
    """The settings that options give; what is not given is the default."""
    from evenodds.models.settings import Settings

    given: dict[str, Any] = {"prior": prior, "estimate": estimate, "unseen": unseen}
    if smoothing is not None:
        given["smoothing"] = smoothing if smoothing == "auto" else _number("--smoothing", smoothing)
    if class_prior is not None:
        given["class_prior"] = class_prior
        if "=" in class_prior:
            pairs = [pair.rpartition("=") for pair in class_prior.split(",")]
            given["class_prior"] = {name.strip(): _number("--class-prior", p) for name, _, p in pairs}
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValueError as error:
        raise WrongUsageError(str(error)) from None


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise WrongUsageError(f"{option}: {text!r} is not a number") from None


def columns(
    roles: tuple[str, ...], texts: tuple[str, ...] = (), ngrams: int | None = None, events: str | None = None
) -> dict[str, Any]:
    """The columns that options give: age=number, day=date:weekday+hour, name=ignore; and those of text."""
    import evenodds.families as families
    from evenodds.schema import Column
    from evenodds.text.words import Words

    given = {name: value for name, value in (("ngrams", ngrams), ("events", events)) if value is not None}
    texts += tuple(role.rpartition("=")[0] for role in roles if role.endswith("=text"))
    if given and not texts:
        raise WrongUsageError("--ngrams and --events are of text: name its column with --text")
    found: dict[str, Any] = {name: Words(**given) for name in texts}  # type: ignore[arg-type]
    for text in roles:
        name, equals, role = text.rpartition("=")
        role, _, parts = role.strip().partition(":")
        if not equals:
            raise WrongUsageError(f"--role: expected COLUMN=ROLE, not {text!r}")
        if role == "text":
            continue
        if role in ROLES:
            found[name] = Column(getattr(families, ROLES[role]))
        elif role == "date":
            try:
                found[name] = Column(parts=tuple(parts.split("+")) if parts else PARTS)  # type: ignore[arg-type]
            except ValueError as error:
                raise WrongUsageError(f"--role: {error}") from None
        elif role in LEFT_OUT:
            found[name] = Column(role="ignore")
        else:
            import difflib

            near = difflib.get_close_matches(role, [*ROLES, "date", *LEFT_OUT], 1)
            hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join([*ROLES, 'date', *LEFT_OUT])}"
            raise WrongUsageError(f"--role: no role {role!r}; {hint}")
    return found


def classes(model: Model) -> dict[str, float]:
    """How many rows of each class."""
    from evenodds.labels import canonical

    return {canonical(label): float(n) for label, n in zip(model.classes.tolist(), model.class_counts)}


def summary(model: Model, path: str | None = None) -> str:
    """One line: 2,201 rows of 2 classes (no 1,490, yes 711) → titanic.eo (3 KB)."""
    import os

    counted = classes(model)
    shown = ", ".join(f"{name} {n:,.0f}" for name, n in list(counted.items())[:8]) + (", …" if len(counted) > 8 else "")
    where = "" if path is None else f" → {path} ({_size(os.stat(path).st_size)})"
    return f"{model.rows:,.0f} rows of {len(counted)} classes of {model.schema.target!r} ({shown}){where}"


def _size(n: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"
