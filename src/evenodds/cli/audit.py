"""`evenodds audit`: how evenly a model, or anybody's predictions in a file, treats groups."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command, Listed
from evenodds.cli.judging import judging, learnt
from evenodds.cli.output import WrongUsageError, print_json, print_lines
from evenodds.cli.paths import PAGES, Written, check_outputs
from evenodds.cli.report import write

if TYPE_CHECKING:
    from evenodds.audit.audited import Audited
    from evenodds.data.files import Files
    from evenodds.plots.groups_page import Groups


@click.command(cls=Command, no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="[MODEL] DATA...")
@click.option(
    "--by", cls=Listed, required=True, metavar="COLUMNS", help="The columns of the groups, with commas between."
)
@click.option("-t", "--target", metavar="COLUMN", help="Without a model: the column of the true classes.")
@click.option("--score", metavar="COLUMN", help="Without a model: the probability of the positive class.")
@click.option("--predicted", metavar="COLUMN", help="Without a model: what was said.")
@click.option("--positive", metavar="CLASS", help="The class that is meant; the second of two if not given.")
@click.option("--threshold", type=options.Between(0, 1), help="From which probability on it is said to be so.")
@click.option("--margin", type=options.Between(0, 1, max_open=True), default=0.05,
              help="The gap that is asked about.")  # fmt: skip
@click.option("--small", type=options.Between(min=0), default=30,
              help="Rows, below which a group is pooled with the others, and marked.")  # fmt: skip
@click.option("--stand-ins", is_flag=True, help="Of a model: which of its columns and words tell the group?")
@click.option("--graph", metavar="GRAPH", help="Of a model: a network's file, or 'sex -> job', for d-separation.")
@click.option("-o", "--output", type=Written(*PAGES), help=f"A page to write: {', '.join(PAGES)}.")
@options.weighted
@options.reading
@options.as_json
def audit(
    paths: tuple[str, ...],
    by: str,
    target: str | None,
    score: str | None,
    predicted: str | None,
    positive: str | None,
    threshold: float | None,
    margin: float,
    small: float,
    stand_ins: bool,
    graph: str | None,
    output: str | None,
    weight: str | None,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Rates of every group and every intersection, with exact intervals; gaps, and how sure they are.

    Of a saved model on rows whose classes are known; or of predictions that stand in the file: give --target, and
    --score or --predicted. A page also says of a model which columns and words stand in for the groups.

    \b
      evenodds audit loans.eo people.csv --by sex,race
      evenodds audit loans.eo people.csv --by sex -o audit.html
      evenodds audit scored.csv --by race --target repaid --score p
    """
    from evenodds.audit.groups import Audit
    from evenodds.audit.protected import EVERYONE

    if output is not None and as_json:
        raise WrongUsageError("--json or a page with --output, not both; the page may be a .json file")
    more = bool(output or graph or stand_ins)
    columns = tuple(said.names("--by", by))
    how = Audit(by=columns, positive=positive, threshold=threshold, margin=margin, small=small)
    if score is None and predicted is None:
        if len(paths) < 2:
            raise WrongUsageError("give a model and a file; or a file with --target, and --score or --predicted")
        if target is not None:
            raise WrongUsageError("--target: a saved model knows its own; it belongs to --score or --predicted")
        check_outputs(paths[:1])
        model, source = data.load_to_predict(paths[0]), reading.files(paths[1:])
        source = source if not more else source.rereadable()
        with judging(source, reading.quiet):
            found = how.of(model, source, sample_weight=weight, threads=reading.threads)
            rows = found.rates((), found.positive[0])["base rate"][EVERYONE].n
            seen = learnt(paths[0], model, source, rows, weight, reading.threads)
    else:
        model, seen = None, ""
        if graph is not None or stand_ins:
            raise WrongUsageError("--graph and --stand-ins are for a model, which has columns; see also net fair")
        if predicted is not None:
            options.refuse("--predicted has what was said, of which no threshold decides", "threshold")
        if target is None:
            raise WrongUsageError("which column holds the true classes? Name it with --target")
        source = reading.files(paths).rereadable()
        with judging(source, reading.quiet):
            found = how.of_columns(source, target, score, predicted, weight, reading.threads)
    data.say([seen] if seen else [], reading.quiet)
    data.say_report(found.report, reading.quiet)
    told = _told(found, model, source, weight, graph, bool(output) or stand_ins, reading) if more else None
    if output is not None and told is not None:
        title = f"Audit by {', '.join(how.columns)}: {os.path.basename(source.name)}"
        write(told.paper(title), output, reading.quiet)
        return
    if as_json:
        print_json({**(told or found).to_dict(), "report": found.report.to_dict()})
        return
    also = [] if told is None else [*told.stand_ins, *told.graphs]
    print_lines("\n\n".join(map(repr, [found, *also])))


def _told(
    found: Audited, model: Any, source: Files, weight: str | None, graph: str | None, stand_ins: bool,
    reading: options.Input,
) -> Groups:  # fmt: skip
    """The audit with what else is known of its groups."""
    from evenodds.cli.net_learn import graph_of
    from evenodds.plots.groups_page import Groups

    with judging(source, reading.quiet):
        drawn = graph_of(graph) if graph is not None else None
        return Groups.of(found, model, source, weight, reading.threads, drawn, stand_ins)
