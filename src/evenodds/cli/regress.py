"""`evenodds regress`: a regression of one column on the others, with standard errors and intervals."""

from __future__ import annotations

import time
import warnings
from typing import Any

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command
from evenodds.cli.output import print_json, print_lines, wrong_usage
from evenodds.cli.paths import Written

FAMILIES = {"gaussian": "Gaussian", "bernoulli": "Bernoulli", "categorical": "Categorical", "poisson": "Poisson"}


@click.command(cls=Command, no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-t", "--target", required=True, metavar="COLUMN", help="The column to predict.")
@click.option(
    "-f",
    "--family",
    type=click.Choice(list(FAMILIES)),
    help="What the target is: a number, a yes or no, one of several classes, a count. Guessed, and said, if not given.",
)
@click.option("--exposure", metavar="COLUMN", help="Of a count: the time, people or miles it was counted over.")
@click.option("--offset", metavar="COLUMN", help="A column that is added to the score.")
@click.option("--trials", metavar="COLUMN", help="Of a bernoulli target that counts successes: among how many.")
@options.weighted
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="COLUMN=ROLE",
    help="What a column is: number, category, flag, date, ignore. Repeatable; decided if not given.",
)
@click.option(
    "--reference",
    "references",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="The value of a category, or class of the target, that others are compared with; else the first. Repeatable.",
)
@click.option(
    "--prior", metavar="PRECISION", help="The precision of a Gaussian prior on each coefficient; or jeffreys."
)
@click.option(
    "--errors",
    type=click.Choice(["model", "HC0", "HC1", "HC2", "HC3"]),
    default="model",
    help="Standard errors: the model's, or robust ones, HC0 to HC3.",
)
@click.option("--no-intercept", is_flag=True, help="Leave out the column of ones.")
@options.missing
@click.option(
    "--level", type=options.Between(0, 1, True, True), default=0.95, help="The probability that an interval holds."
)
@click.option("-o", "--output", type=Written(), help="A model file to write, for `evenodds predict`.")
@options.reading
@options.as_json
def regress(
    paths: tuple[str, ...],
    target: str,
    family: str | None,
    exposure: str | None,
    offset: str | None,
    trials: str | None,
    weight: str | None,
    roles: tuple[str, ...],
    references: tuple[str, ...],
    prior: str | None,
    errors: str,
    no_intercept: bool,
    missing: str,
    level: float,
    output: str | None,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Fit a generalised linear model, and print its coefficients with errors, p-values and intervals.

    Linear (gaussian), logistic (bernoulli), softmax (categorical) or Poisson regression, of files of any size.

    \b
      evenodds regress births.csv --target weight
      evenodds regress claims.csv -t claims -f poisson --exposure years --role zone=category -o claims.eo
      evenodds predict claims.eo new.csv
    """
    from evenodds import families
    from evenodds.models.glm.asked import likely_family
    from evenodds.models.glm.notes import RegressionWarning
    from evenodds.models.glm.plan import Roles
    from evenodds.models.glm.regress import regress as fit
    from evenodds.text.words import Words

    told = options.columns_of(roles, Words(), target, weight) or None
    asked = Roles(target, weight, offset, exposure, trials)
    started = time.perf_counter()
    source = reading.files(paths).rereadable()
    guessed = likely_family(source, asked) if family is None else getattr(families, FAMILIES[family])
    settings = _settings(guessed, prior, errors, not no_intercept, missing, references)
    if family is None:
        others = ", ".join(name for name, kind in FAMILIES.items() if kind != guessed.__name__)
        data.say(
            [f"{target!r} is taken as {guessed.__name__.lower()}; --family says otherwise: {others}"], reading.quiet
        )
    with data.notes(reading.quiet), data.progress(source, "fitting", reading.quiet), warnings.catch_warnings():
        if not as_json:  # the page says them
            warnings.simplefilter("ignore", RegressionWarning)
        model, report = fit(source, asked, settings, told, None, reading.threads)
    if output is not None:
        model.save(output)
    data.say_report(report, reading.quiet)
    summary = model.summary(level)
    if as_json:
        seconds = time.perf_counter() - started
        print_json({**summary.to_dict(), "model": output, "report": report.to_dict(), "seconds": seconds})
    else:
        print_lines(repr(summary))


def _settings(
    family: Any, prior: str | None, errors: Any, intercept: bool, missing: Any, references: tuple[str, ...]
) -> Any:
    """The settings that the options give."""
    from evenodds.models.glm.settings import RegressionSettings

    believed: Any = prior if prior in (None, "jeffreys") else said.number("--prior", str(prior), "jeffreys")
    named = said.pairs("--reference", references)
    with wrong_usage():
        return RegressionSettings(family, believed, intercept, errors, missing=missing, reference=named)
