"""`evenodds density`: the shape of a column of numbers, as a kernel density."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from evenodds.cli import data, options
from evenodds.cli.commands import Command
from evenodds.cli.output import WrongUsageError, print_json, print_lines
from evenodds.show import padded, percent, places, short, table

if TYPE_CHECKING:
    from evenodds.data.report import Report
    from evenodds.families.density.density import Density

WIDE = 60  # characters of a line that is drawn
BLOCKS = " ▁▂▃▄▅▆▇█"
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
PLACES = 129  # of the curve in JSON
TOLD = 5  # groups that are left out, each with its reason
KERNELS = ["gaussian", "boxcar", "triangular", "epanechnikov", "biweight", "cosine"]
EVERYTHING = "all"


class Grouped(NamedTuple):
    """The values of each group, their weights, and what was wrong with some rows."""

    groups: dict[str, tuple[Any, Any]]
    report: Report


@click.command(cls=Command, no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="FILES...")
@click.option("-c", "--column", metavar="COLUMN", help="The column of numbers.")
@click.option("--by", metavar="COLUMN", help="A density for each value of this column.")
@click.option("--bandwidth", default="sj", help="A number, or sj, isj, scott, silverman or loo.")
@click.option("--kernel", type=click.Choice(KERNELS), default="gaussian", help="The shape of the bumps.")
@click.option("--low", type=float, help="No value is below: mass is reflected there.")
@click.option("--high", type=float, help="No value is above: mass is reflected there.")
@options.weighted
@options.plot
@options.reading_alone
@options.as_json
def density(
    paths: tuple[str, ...],
    column: str | None,
    by: str | None,
    bandwidth: str,
    kernel: str,
    low: float | None,
    high: float | None,
    weight: str | None,
    plot: str | None,
    reading: options.Input,
    as_json: bool,
) -> None:
    """How a column of numbers is distributed: a bump on every value, drawn as a line.

    All lines have one axis and one height, so that groups can be compared. The bandwidth says how wide the bumps are:
    a number, or a rule that finds it for each group.

    \b
      evenodds density faithful.csv --column waiting
      evenodds density iris.csv -c petal_length --by species --plot petals.svg
    """
    if column is None:
        raise WrongUsageError("which column? Name it with --column")
    from evenodds.errors import DataError, many
    from evenodds.families.density.bandwidths import bandwidth_of
    from evenodds.families.density.density import Density, ends
    from evenodds.families.density.points import Points
    from evenodds.families.density.shapes import shape_of

    width = _width(bandwidth)
    read = _read(paths, column, by, weight, reading)
    found: dict[str, Density] = {}
    without: list[str] = []
    for name, (values, weights) in read.groups.items():
        try:
            points = Points.of(values, weights)
            found[name] = Density(points, kernel, bandwidth_of(width, points, shape_of(kernel)), ends((low, high)))
        except ValueError as error:
            without.append(f"column {column!r}" + (f" of {name!r}" if by is not None else "") + f": {error}")
    if not found and column in read.report.cells:
        raise DataError(f"column {column!r} holds no numbers (first: {read.report.cells[column].example!r})")
    if not found:
        raise DataError(without[0])
    data.say_report(read.report, reading.quiet)
    more = [f"so are {many(len(without) - TOLD, 'group')} more"] if len(without) > TOLD else []
    data.say([*(f"{why}; left out" for why in without[:TOLD]), *more], reading.quiet)
    if plot is not None:
        from evenodds.plots import densities, save

        values = sum(one.points.total for one in found.values())
        save(densities(found, column, f"{short(values)} values" + (f" by {by}" if by else "")), plot)
    if as_json:
        data_ = {"column": column, "by": by, "kernel": kernel, "groups": _as_data(found), "plot": plot}
        print_json({**data_, "report": read.report.to_dict()})
    else:
        print_lines(_as_text(found, column, by))


def _width(text: str) -> float | str:
    """The bandwidth: a number, or the name of a rule."""
    from evenodds.schema import RULES

    if text in RULES:
        return text
    try:
        width = float(text)
    except ValueError:
        width = 0.0
    if not 0 < width < float("inf"):
        raise WrongUsageError(f"--bandwidth: expected a number above 0, or {', '.join(RULES)}, not {text!r}")
    return width


def _read(paths: tuple[str, ...], column: str, by: str | None, weight: str | None, how: options.Input) -> Grouped:
    """The column's values, by group."""
    import numpy as np

    from evenodds.data.reading import Reading
    from evenodds.data.report import Report
    from evenodds.errors import DataError
    from evenodds.families import Kernel
    from evenodds.schema import Column, Schema

    source = how.files(paths).rereadable()
    reading = Reading(Schema({column: Column(Kernel)}, by or ""), by is not None, weight)
    parts: dict[str, list[tuple[Any, Any]]] = {}
    report = Report()
    with data.notes(how.quiet), data.progress(source, "reading", how.quiet):
        for batch in source.batches(reading.columns):
            cells = reading(batch)
            report += cells.report
            x, weights = cells.table[column], cells.weights
            if cells.target is None:
                parts.setdefault(EVERYTHING, []).append((x, weights))
                continue
            for place, label in enumerate(cells.target.labels.texts()):
                mine = cells.target.places == place
                if mine.any():
                    parts.setdefault(label, []).append((x[mine], None if weights is None else weights[mine]))
    if not parts:
        raise DataError(f"{source.name} has no rows" + (f" with a {by!r}" if by else ""))
    return Grouped(
        {
            name: (
                np.concatenate([x for x, _ in many]),
                None if weight is None else np.concatenate([w for _, w in many]),
            )
            for name, many in sorted(parts.items())
        },
        report,
    )


def _as_text(found: dict[str, Density], column: str, by: str | None) -> str:
    """A line for each group, the axis below, and numbers."""
    import numpy as np

    reach = [one.extent() for one in found.values()]
    low, high = min(one[0] for one in reach), max(one[1] for one in reach)
    at = low + (np.arange(WIDE) + 0.5) * ((high - low) / WIDE)
    curves = {name: one.pdf(at) for name, one in found.items()}
    most = min(max(float(curve.max()) for curve in curves.values()), float(np.finfo(float).max)) or 1.0
    margin = max(places(name) for name in found) if by is not None else 0
    gap = "  " if margin else ""
    lines = []
    for name, curve in curves.items():
        drawn = "".join(BLOCKS[int(np.ceil(8 * min(v / most, 1.0) - 0.02))] if v > 0 else " " for v in curve)
        lines.append(f"{padded(name, margin) if by is not None else ''}{gap}{drawn.rstrip()}")
    left, right = short(low), short(high)
    lines.append(" " * (margin + len(gap)) + left + right.rjust(WIDE - len(left)))
    head = [by or column, "values", "bandwidth", *map(percent, SHARES)]
    rows = [
        [name, short(one.points.total), short(one.bandwidth), *(short(float(q)) for q in one.quantile(SHARES))]
        for name, one in found.items()
    ]
    return "\n".join(lines) + "\n\n" + table([head, *rows])


def _as_data(found: dict[str, Density]) -> list[dict[str, object]]:
    import numpy as np

    groups = []
    for name, one in found.items():
        at = np.linspace(*one.extent(), PLACES)
        groups.append(
            {
                "group": name,
                "values": one.points.total,
                "bandwidth": one.bandwidth,
                "quantiles": {f"{p:g}": float(q) for p, q in zip(SHARES, one.quantile(SHARES))},
                "x": at.tolist(),
                "density": one.pdf(at).tolist(),
            }
        )
    return groups
