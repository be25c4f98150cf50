"""`evenodds mixture`: which groups are the rows made of, and how many?"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options
from evenodds.cli.output import WrongUsageError, print_json, print_lines

if TYPE_CHECKING:
    from evenodds.data.memory import Table

FAMILIES = {"gaussian": "Gaussian", "bernoulli": "Bernoulli", "poisson": "Poisson", "categorical": "Categorical"}
FITTING = {  # what a column may hold, to be taken without being named
    "gaussian": ("number",),
    "poisson": ("number", "flag"),
    "bernoulli": ("flag",),
    "categorical": ("category", "flag"),
}


@click.command(no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-c", "--columns", metavar="A,B", help="The columns, by commas; all that fit the family if not given.")
@click.option("-k", "k", default="auto", show_default=True, metavar="K", help="How many components: 3, 2-6, or auto.")
@click.option("-f", "--family", type=click.Choice(list(FAMILIES)), default="gaussian", show_default=True)
@click.option(
    "--covariance",
    type=click.Choice(["full", "tied", "diagonal", "spherical"]),
    default="full",
    show_default=True,
    help="Of Gaussians.",
)
@click.option("--criterion", type=click.Choice(["bic", "icl"]), default="bic", show_default=True, help="Chooses K.")
@click.option("--prior", default="0.01", show_default=True, metavar="ROWS", help="Pseudo-rows a component, or none.")
@click.option("--starts", type=click.IntRange(min=1), default=10, show_default=True, help="How many starts are tried.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the starts.")
@options.weighted
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A model file to write, for `evenodds predict`.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="A picture: .svg, .png, .html or .json.")
@options.reading
@options.as_json
def mixture(
    paths: tuple[str, ...],
    columns: str | None,
    k: str,
    family: str,
    covariance: Any,
    criterion: str,
    prior: str,
    starts: int,
    seed: int,
    weight: str | None,
    output: str | None,
    plot: str | None,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Find the components that rows are a mixture of, by EM, and print them with BIC and ICL for each number tried.

    Files of any size are read once for each step; missing cells are integrated out.

    \b
      evenodds mixture geyser.csv --columns eruption,wait -k auto
      evenodds mixture visits.csv -f poisson -k 2-6 --criterion icl -o visits.eo
      evenodds predict visits.eo new.csv
    """
    from evenodds import families
    from evenodds.models.mixture.fit import fit_mixture
    from evenodds.models.mixture.rows import streamed
    from evenodds.models.mixture.settings import MixtureSettings

    kind: Any = getattr(families, FAMILIES[family])
    try:
        settings = MixtureSettings(kind, covariance, _prior(prior), criterion, starts=starts)
        ks = _numbers(k)
    except ValueError as error:
        raise WrongUsageError(str(error)) from None
    if plot is not None:
        from evenodds.plots.save import check_kind, save

        check_kind(plot)
    started = time.perf_counter()
    source = reading.files(paths).rereadable()
    with data.notes(reading.quiet), data.progress(source, "fitting", reading.quiet):
        names = _named(columns) if columns is not None else _fitting(source.sample(), family, weight)
        rows = streamed(source, kind, names, weight)
        model, found = fit_mixture(rows, settings, ks, seed, reading.threads)
    if output is not None:
        model.save(output)
    if plot is not None:
        from evenodds.plots.mixture import mixture as picture

        save(picture(model, found.sample), plot)
    data.say_report(found.report, reading.quiet)
    data.say([note for note in model.notes if model.fit.converged], reading.quiet)
    if as_json:
        seconds = time.perf_counter() - started
        print_json({**model.to_dict(), "model": output, "report": found.report.to_dict(), "seconds": seconds})
    else:
        print_lines(model.describe())


def _named(columns: str) -> list[str]:
    """Names between commas; a comma within quotes belongs to a name.

    >>> _named('a, "b,c",d')
    ['a', 'b,c', 'd']
    """
    import csv

    return [name.strip() for name in next(csv.reader([columns], skipinitialspace=True))]


def _fitting(sample: Table, family: str, weight: str | None) -> list[str]:
    """The columns whose cells fit the family; which are left out is told."""
    from evenodds.cells import kind
    from evenodds.errors import DataError

    kinds = {name: kind(raw) for name, raw in sample.columns.items() if name != weight}
    chosen = [name for name, what in kinds.items() if what in FITTING[family]]
    if not chosen:
        shown = ", ".join(f"{name} ({what})" for name, what in list(kinds.items())[:8])
        raise DataError(f"no column fits a {FAMILIES[family]}: {shown}; name some with --columns")
    if left := [name for name in kinds if name not in chosen]:
        import warnings

        from evenodds.schema import SchemaWarning

        warnings.warn(f"left out, as they do not fit: {', '.join(left)}", SchemaWarning, stacklevel=2)
    return chosen


def _prior(text: str) -> float | None:
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise WrongUsageError(f"--prior: expected a number of rows or none, not {text!r}") from None


def _numbers(text: str) -> list[int]:
    """The numbers of components that -k asks for.

    >>> _numbers("3"), _numbers("2-4"), _numbers("2,5")
    ([3], [2, 3, 4], [2, 5])
    """
    from evenodds.models.mixture.settings import numbers_of_components

    if text == "auto":
        return numbers_of_components("auto")
    if re.fullmatch(r"\d{1,4}-\d{1,4}", text):
        low, high = map(int, text.split("-"))
        return numbers_of_components(range(low, high + 1))
    if re.fullmatch(r"\d{1,5}(,\d{1,5})*", text):
        return numbers_of_components([int(one) for one in text.split(",")])
    raise WrongUsageError(f"-k: expected a number such as 3, some such as 2-6, or auto, not {text!r}")
