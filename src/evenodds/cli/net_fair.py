"""`evenodds net fair`: is a prediction even, by a graph of what depends on what?"""

from __future__ import annotations

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command, Listed
from evenodds.cli.net_learn import graph_of
from evenodds.cli.output import WrongUsageError, print_json, print_lines
from evenodds.cli.paths import Read


@click.command(cls=Command, no_args_is_help=True)
@click.argument("graph")
@click.option("--by", required=True, metavar="NODE", help="The protected group.")
@click.option("-t", "--target", required=True, metavar="NODE", help="What is true.")
@click.option("--predicted", metavar="NODE", help="What is predicted, if it is a node of the graph.")
@click.option("--inputs", cls=Listed, metavar="NODES", help="Or what a prediction is made from, with commas between.")
@click.option("--model", type=Read(), metavar="MODEL", help="Or the model that makes it: its columns are inputs.")
@options.as_json
def fair(
    graph: str, by: str, target: str, predicted: str | None, inputs: str | None, model: str | None, as_json: bool
) -> None:
    """Independence, separation and sufficiency by d-separation: open paths, and the inputs they go through.

    GRAPH is a network's file, whose tables then say how much flows, or a graph as 'sex -> job; job -> repaid'.

    \b
      evenodds net fair "sex -> job; job, thrift -> repaid" --by sex --target repaid --inputs job
      evenodds net fair people.eo --by sex --target survived --model titanic.eo
    """
    from evenodds.audit.graph import by_graph

    if sum(one is not None for one in (predicted, inputs, model)) != 1:
        raise WrongUsageError("what is the prediction? Give one of --predicted, --inputs and --model")
    names = None if inputs is None else said.names("--inputs", inputs)
    if model is not None:
        names = data.load_to_predict(model).schema.sources
    found = by_graph(graph_of(graph), by, target, predicted, names)
    print_json(found.to_dict()) if as_json else print_lines(repr(found))
