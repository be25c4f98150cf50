"""`evenodds report`: one page about your data, your model, and how it treats groups."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command, Listed
from evenodds.cli.judging import judging
from evenodds.cli.output import WrongUsageError, as_json_text
from evenodds.cli.paths import PAGES, Read, Written, kind_of, writing
from evenodds.show import size

if TYPE_CHECKING:
    from evenodds.plots.paper import Paper


@click.command(cls=Command, no_args_is_help=True)
@click.argument("model", type=Read())
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-o", "--output", required=True, type=Written(*PAGES), help=f"A file: {', '.join(PAGES)}.")
@click.option("--by", cls=Listed, metavar="COLUMNS", help="The columns of protected groups, with commas between.")
@click.option("--positive", metavar="CLASS", help="The class that is meant; the second of two if not given.")
@click.option("--graph", metavar="GRAPH", help="A network's file, or 'sex -> job': are groups even by d-separation?")
@options.reading
def report(
    model: str, paths: tuple[str, ...], output: str, by: str | None, positive: str | None, graph: str | None,
    reading: options.Input,
) -> None:  # fmt: skip
    """A page to mail: your data, your model, how good and how even it is, and what changed since it was learnt.

    The HTML page needs nothing else: no script, no request. Every picture has its numbers below it.

    \b
      evenodds report loans.eo people.csv --by sex,race -o report.html
    """
    from evenodds.audit.groups import Audit
    from evenodds.cli.net_learn import graph_of
    from evenodds.plots.report import report as made

    if graph is not None and by is None:
        raise WrongUsageError("--graph: name the groups with --by, nodes of the graph")
    if by is None:
        options.refuse("is of an audit by groups: add --by", "positive")
    columns = tuple(said.names("--by", by)) if by else ()
    source = reading.files(paths).rereadable()
    learnt = data.load_to_predict(model)
    if learnt.kind == "network":
        raise WrongUsageError(f"{model} is a network: evenodds evaluate and audit take it, report does not")
    with judging(source, reading.quiet):
        audit = Audit(by=columns, positive=positive) if columns else None
        drawn = graph_of(graph) if graph is not None else None
        found = made(learnt, source, audit, reading.threads, drawn)
    write(found, output, reading.quiet)


def write(paper: Paper, output: str, quiet: bool) -> None:
    """A page to a file, as HTML, Markdown or JSON."""
    if kind_of(output) == ".json":
        text = as_json_text(dict(paper.data))
    else:
        text = paper.html() if kind_of(output) == ".html" else paper.markdown()
    with writing(output) as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    data.say([f"{paper.title} → {output} ({size(os.stat(output).st_size)})"], quiet)
