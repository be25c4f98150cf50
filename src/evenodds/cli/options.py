"""Options that several commands have, gathered: how data are read, and how they are modelled."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from evenodds.cli import said
from evenodds.cli.commands import Listed
from evenodds.cli.output import WrongUsageError, wrong_usage
from evenodds.cli.paths import PICTURES, Read, Written, check_outputs
from evenodds.text.words import EVENTS, Events

if TYPE_CHECKING:
    from evenodds.data.files import Files
    from evenodds.data.source import Source
    from evenodds.models.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
PARTS = ("month", "weekday")
ROLES = {
    "number": "Binned",
    "gaussian": "Gaussian",
    "gaussians": "Gaussians",
    "kernel": "Kernel",
    "log-gaussian": "LogGaussian",
    "exponential": "Exponential",
    "count": "Poisson",
    "flag": "Bernoulli",
    "category": "Categorical",
}
LEFT_OUT = ("ignore", "id")
OF_TEXT = ("ngrams", "events", "buckets", "neighbours")  # options that are settings of Words
OPTION = {
    "key": "key-file",
    "length": "normalise",
    "length_column": "length-column",
}  # whose names are not those of the settings
EVERY_ROLE = [*ROLES, "text", "date", *LEFT_OUT]


@dataclass(frozen=True)
class Input:
    """How data are read."""

    separator: str | None
    encoding: str | None
    header: bool | None
    engine: Literal["local", "spark"]
    master: str | None
    quiet: bool
    threads: int | None = None

    @property
    def on_spark(self) -> bool:
        """Whether Spark reads and counts."""
        return self.engine == "spark"

    def files(self, paths: tuple[str, ...], lines: str | None = None) -> Files:
        """The files that these paths name; Spark's rows, which are asked the same, where it reads them."""
        from evenodds.data.dialect import Dialect
        from evenodds.data.files import Files
        from evenodds.errors import DataError

        if self.master is not None and not self.on_spark:
            raise WrongUsageError("--master is Spark's: add --engine spark")
        separator = "\t" if self.separator in ("tab", "\\t") else self.separator  # as shells hand it over
        try:
            Dialect(
                "," if separator is None else separator, encoding="utf-8" if self.encoding is None else self.encoding
            )
        except DataError as error:  # which begins with the option's name
            raise WrongUsageError(f"--{error}") from None
        if self.on_spark:
            from evenodds.data.spark import rows_at

            if lines is not None or self.encoding is not None or self.header is not None:
                raise WrongUsageError(
                    "--lines, --encoding, --header: Spark reads UTF-8 with a header; use --engine local"
                )
            check_outputs(paths)
            return cast("Files", rows_at(paths, self.master, separator))
        found = Files(paths, separator, self.encoding, self.header, lines)
        check_outputs(found.paths)
        return found


@dataclass(frozen=True)
class Modelling:
    """What is learnt, and how."""

    target: str | None
    roles: tuple[str, ...]
    texts: tuple[str, ...]
    ngrams: int | None
    events: Events | None
    buckets: int | None
    key_file: str | None
    neighbours: int | None
    normalise: bool
    length_column: bool
    weight: str | None
    smoothing: str | None
    prior: Literal["pooled", "flat"] | None
    estimate: str | None
    class_prior: str | None
    unseen: str | None
    temper: bool

    def settings(self) -> Settings:
        """The settings that the options give; what is not given is the default."""
        from evenodds.models.settings import Settings

        given: dict[str, Any] = {"prior": self.prior, "estimate": self.estimate, "unseen": self.unseen}
        if self.smoothing is not None:
            auto = self.smoothing == "auto"
            given["smoothing"] = "auto" if auto else said.number("--smoothing", self.smoothing, "auto")
        if self.class_prior is not None:
            by_class = "=" in self.class_prior
            given["class_prior"] = (
                said.shares("--class-prior", self.class_prior.split(",")) if by_class else self.class_prior
            )
        with wrong_usage():
            return Settings(**{name: value for name, value in given.items() if value is not None})

    def columns(self, source: Source | None = None) -> dict[str, Any] | None:
        """The columns that the options give: age=number, day=date:weekday+hour, name=ignore; None if they give none.

        What is said of text alone is said of the columns named as text, or else of those of the source that look so.
        """
        from evenodds.text.words import Words

        given: dict[str, Any] = {name: getattr(self, name) for name in OF_TEXT}
        given |= {"length": "normalised" if self.normalise else None, "length_column": self.length_column or None}
        if self.key_file is not None:
            given["key"] = _secret(self.key_file)
        given = {name: value for name, value in given.items() if value is not None}
        with wrong_usage():
            words = Words(**given)
        found = columns_of(self.roles, words, self.target, self.weight, self.texts)
        if given and words not in found.values() and source is not None:
            found |= dict.fromkeys(self._texts_of(source, found), words)
        if given and words not in found.values():
            named = ", ".join(f"--{OPTION.get(name, name)}" for name in given)
            raise WrongUsageError(f"of text alone: {named}; name a column of text with --text")
        return found or None

    def _texts_of(self, source: Source, told: dict[str, Any]) -> list[str]:
        """The columns that look like text, of those of which nothing else is told."""
        from evenodds.kinds import kind

        others = {self.target, self.weight, *told}
        return [name for name, raw in source.sample().columns.items() if name not in others and kind(raw) == "text"]


def columns_of(
    roles: tuple[str, ...],
    words: Any,
    target: str | None = None,
    weight: str | None = None,
    texts: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The columns that --role and --text give; one of text is `words`. Target and weights are none of them."""
    told = said.pairs("--role", [*roles, *(f"{name}=text" for name in dict.fromkeys(texts))], "COLUMN=ROLE", last=True)
    for option, name in (("--target", target), ("--weight", weight)):
        if name in told:
            raise WrongUsageError(f"--role, --text: {name!r} is the column of {option}, and has no other role")
    return {name: words if role.strip() == "text" else _column(role.strip()) for name, role in told.items()}


def _column(text: str) -> Any:
    """The column of a role that is not text: number, date:weekday+hour, ignore."""
    import evenodds.families as families
    from evenodds.schema import Column, Part

    role, _, parts = text.partition(":")
    if role in ROLES:
        return Column(getattr(families, ROLES[role]))
    if role == "date":
        try:
            return Column(parts=cast(tuple[Part, ...], tuple(parts.split("+")) if parts else PARTS))
        except ValueError as error:
            raise WrongUsageError(f"--role: {error}") from None
    if role in LEFT_OUT:
        return Column(role="ignore")
    import difflib

    near = difflib.get_close_matches(role, EVERY_ROLE, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"expected {', '.join(EVERY_ROLE)}"
    raise WrongUsageError(f"--role: no role {role!r}; {hint}")


def _secret(path: str) -> bytes:
    """What is in a file, without the end of its last line: a secret on the command line could be seen by others."""
    from evenodds.file import small

    secret = small(path).rstrip(b"\r\n")
    if not secret:
        raise WrongUsageError(f"--key-file: {path} is empty")
    return secret


def refuse(why: str, *names: str) -> None:
    """Refuse those of the running command's options that were typed and would have no say."""
    if found := typed(*names):
        raise WrongUsageError(f"{', '.join(found)}: {why}")


def typed(*names: str) -> list[str]:
    """Those of the running command's options that were typed."""
    context = click.get_current_context()
    return [param.opts[-1] for param in context.command.params if param.name in names
            and context.get_parameter_source(param.name) is click.core.ParameterSource.COMMANDLINE]  # fmt: skip


def gathered(kind: type[Any], name: str, *options: Callable[[F], F]) -> Callable[[F], F]:
    """A decorator that gives a command these options as one argument of this kind."""
    fields = [field.name for field in dataclasses.fields(kind)]

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def run(**given: Any) -> Any:
            whole = kind(**{field: given.pop(field) for field in fields if field in given})
            return command(**given, **{name: whole})

        for option in reversed(options):
            run = option(cast(F, run))
        return cast(F, run)

    return decorate


class Whole(click.IntRange):
    """Click's range of whole numbers from here on, without those that are beyond anybody's patience or memory."""

    name = "n"

    def __init__(self, least: int = 1, most: int = 10**12) -> None:
        super().__init__(min=least)
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, if it is not too large."""
        found = super().convert(value, param, ctx)
        if found > self.most:
            self.fail(f"{value} is more than {self.most:,}.", param, ctx)
        return found


class Between(click.FloatRange):
    """Click's range of numbers, without nan, which no comparison says is outside, and without infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, if it is one."""
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is not a number.", param, ctx)
        return found


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Leave out notes and progress.")
plot = click.option(
    "--plot", type=Written(*PICTURES), metavar="FILE", help=f"A picture to write: {', '.join(PICTURES)}."
)
missing = click.option(
    "--missing",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    help="What to do with rows with missing cells.",
)
weighted = click.option("--weight", metavar="COLUMN", help="A column that says how much each row counts.")
_how_read = (
    click.option("--separator", metavar="CHAR", help="Of CSV cells; detected if not given. 'tab' is a tab."),
    click.option("--encoding", metavar="NAME", help="Of text files, such as latin-1; detected if not given."),
    click.option("--header/--no-header", default=None, help="Whether a CSV's first row names its columns; detected."),
    click.option(
        "--engine",
        type=click.Choice(["local", "spark"]),
        default="local",
        help="What reads and counts: this machine, or Spark.",
    ),
    click.option("--master", metavar="URL", help="Of Spark: local[2], spark://…, sc://…; all processors if not given."),
    quiet,
)
threads = click.option("--threads", type=Whole(), metavar="N", help="How many threads; the result is the same.")
reading = gathered(Input, "reading", *_how_read[:3], threads, *_how_read[3:])
reading_alone = gathered(Input, "reading", *_how_read)  # of a command that counts nothing, so that no thread helps
modelling = gathered(
    Modelling,
    "modelling",
    click.option("-t", "--target", metavar="COLUMN", help="The column to predict."),
    click.option(
        "--role",
        "roles",
        multiple=True,
        metavar="COLUMN=ROLE",
        help=f"What a column is: {', '.join(EVERY_ROLE)}. Repeatable; decided if not given.",
    ),
    click.option("--text", "texts", multiple=True, metavar="COLUMN", help="A column of text. Repeatable."),
    click.option("--ngrams", type=click.IntRange(1, 5), metavar="N", help="Of text: runs of up to N words."),
    click.option("--events", type=click.Choice(EVENTS), help="Of text: what is said of a word."),
    click.option("--buckets", type=int, metavar="N", help="Of text: hash words into N buckets, a power of two."),
    click.option("--key-file", type=Read(dir_okay=False), metavar="FILE", help="Of buckets: a secret they depend on."),
    click.option(
        "--neighbours",
        type=click.IntRange(1, 2),
        metavar="EDITS",
        help="Of text: read a word never seen as the known one up to so many edits away.",
    ),
    click.option("--normalise", is_flag=True, help="Of text: learn long texts and short ones as if of one length."),
    click.option("--length-column", is_flag=True, help="Of text: its number of words is a column too."),
    weighted,
    click.option("--smoothing", metavar="ROWS", help="Pseudo-rows of the prior, or auto (the default)."),
    click.option(
        "--prior",
        type=click.Choice(["pooled", "flat"]),
        help="What the pseudo-rows look like: all classes together, or flat.",
    ),
    click.option(
        "--estimate",
        type=click.Choice(["predictive", "mean", "map", "mle"]),
        help="What is made of each column's posterior.",
    ),
    click.option(
        "--class-prior", cls=Listed, metavar="PRIOR", help="auto (the default), estimated, uniform, or ham=.8,spam=.2."
    ),
    click.option(
        "--unseen",
        type=click.Choice(["ignore", "prior"]),
        help="What a value never seen says: nothing, or what the prior says.",
    ),
    click.option("--temper", is_flag=True, help="Believe as much of the evidence as serves the rows, each left out."),
)
