"""`evenodds mixture`: which groups are the rows made of, and how many?"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command, Listed
from evenodds.cli.output import WrongUsageError, print_json, print_lines, wrong_usage
from evenodds.cli.paths import Written
from evenodds.errors import warn

if TYPE_CHECKING:
    from evenodds.data.memory import Table

FAMILIES = {"gaussian": "Gaussian", "bernoulli": "Bernoulli", "poisson": "Poisson", "categorical": "Categorical"}
FITTING = {  # what a column may hold, to be taken without being named
    "gaussian": ("number",),
    "bernoulli": ("flag",),
    "poisson": ("number", "flag"),
    "categorical": ("category", "flag"),
}


@click.command(cls=Command, no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option(
    "-c", "--columns", cls=Listed, metavar="A,B", help="The columns, by commas; all that fit the family if not given."
)
@click.option(
    "-k", "k", cls=Listed, default="auto", show_default=True, metavar="K", help="How many components: 3, 2-6, or auto."
)
@click.option(
    "-f",
    "--family",
    type=click.Choice(list(FAMILIES)),
    default="gaussian",
    show_default=True,
    help="What a column is within a component.",
)
@click.option(
    "--covariance",
    type=click.Choice(["full", "tied", "diagonal", "spherical"]),
    default="full",
    show_default=True,
    help="Of Gaussians: a matrix a component, one for all, no covariances, or one variance.",
)
@click.option(
    "--criterion", type=click.Choice(["bic", "icl"]), default="bic", show_default=True, help="What chooses K."
)
@click.option("--prior", default="0.01", show_default=True, metavar="ROWS", help="Pseudo-rows a component, or none.")
@click.option("--n-init", type=options.Whole(), default=10, show_default=True, help="How many starts are tried.")
@click.option("--max-iter", type=options.Whole(), default=1000, show_default=True, help="Steps of EM, at most.")
@click.option("--seed", type=options.Whole(0, 2**63 - 1), default=0, show_default=True, help="Where chance starts.")
@options.weighted
@click.option("-o", "--output", type=Written(), help="A model file to write, for `evenodds predict`.")
@options.plot
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
    n_init: int,
    max_iter: int,
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
    with wrong_usage():
        settings = MixtureSettings(kind, covariance, _prior(prior), criterion, n_init=n_init, max_iter=max_iter)
        ks = _numbers(k)
    started = time.perf_counter()
    source = reading.files(paths).rereadable()
    with data.notes(reading.quiet), data.progress(source, "fitting", reading.quiet):
        names = said.names("--columns", columns) if columns is not None else _fitting(source.sample(), family, weight)
        rows = streamed(source, kind, names, weight)
        model, found = fit_mixture(rows, settings, ks, seed, reading.threads)
    if output is not None:
        model.save(output)
    if plot is not None:
        from evenodds.plots import mixture as picture
        from evenodds.plots import save

        save(picture(model, found.sample), plot)
    data.say_report(found.report, reading.quiet)
    data.say([note for note in model.notes if model.fit.converged], reading.quiet)
    if as_json:
        seconds = time.perf_counter() - started
        print_json({**model.to_dict(), "model": output, "report": found.report.to_dict(), "seconds": seconds})
    else:
        print_lines(model.describe())


def _fitting(sample: Table, family: str, weight: str | None) -> list[str]:
    """The columns whose cells fit the family; which are left out is told."""
    from evenodds.errors import DataError, several
    from evenodds.kinds import kind

    kinds = {name: kind(raw) for name, raw in sample.columns.items() if name != weight}
    chosen = [name for name, what in kinds.items() if what in FITTING[family]]
    if not chosen:
        shown = several([f"{name} ({what})" for name, what in kinds.items()])
        fits = {other: sum(what in fitting for what in kinds.values()) for other, fitting in FITTING.items()}
        best = max(fits, key=lambda other: fits[other])  # of equals the first: flags are no counts
        cure = f"--family {best} takes {fits[best]} of them" if fits[best] else "name some with --columns"
        raise DataError(f"no column fits a {FAMILIES[family]}: {shown}; {cure}")
    if left := [name for name in kinds if name not in chosen]:
        from evenodds.schema import SchemaWarning

        warn(f"left out, as they do not fit: {several(left)}", SchemaWarning)
    return chosen


def _prior(text: str) -> float | None:
    return None if text == "none" else said.number("--prior", text, "none")


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
