"""`evenodds net fair`: is a prediction even, by a graph of what depends on what?"""

from __future__ import annotations

import os
from typing import Any

import click

from evenodds.cli import data, options
from evenodds.cli.net_learn import load_network, structure_of
from evenodds.cli.output import WrongUsageError, print_json, print_lines


@click.command(no_args_is_help=True)
@click.argument("graph")
@click.option("--group", required=True, metavar="NODE", help="The protected group.")
@click.option("-t", "--target", required=True, metavar="NODE", help="What is true.")
@click.option("--said", metavar="NODE", help="What is predicted, if it is a node of the graph.")
@click.option("--inputs", metavar="NODES", help="Or what a prediction is made from, with commas between.")
@click.option("--model", type=click.Path(), metavar="MODEL", help="Or the model that makes it: its columns are inputs.")
@options.as_json
def fair(
    graph: str, group: str, target: str, said: str | None, inputs: str | None, model: str | None, as_json: bool
) -> None:
    """Independence, separation and sufficiency by d-separation: open paths, and the inputs they go through.

    GRAPH is a network's file, whose tables then say how much flows, or a graph as 'sex -> job; job -> repaid'.

    \b
      evenodds net fair "sex -> job; job, thrift -> repaid" --group sex --target repaid --inputs job
      evenodds net fair people.eo --group sex --target survived --model titanic.eo
    """
    from evenodds.audit.graph import by_graph

    if sum(one is not None for one in (said, inputs, model)) != 1:
        raise WrongUsageError("what is the prediction? Give one of --said, --inputs and --model")
    names = None if inputs is None else tuple(one.strip() for one in inputs.split(","))
    if model is not None:
        names = inputs_of(data.load_to_predict(model))
    found = by_graph(graph_of(graph), group, target, said, names)
    print_json(found.to_dict()) if as_json else print_lines(repr(found))


def graph_of(text: str) -> Any:
    """The network in a file, or the graph that a text spells."""
    return load_network(text) if os.path.isfile(text) else structure_of(text)


def inputs_of(model: Any) -> tuple[str, ...]:
    """The columns that a model reads."""
    return tuple(dict.fromkeys(how.source or name for name, how in model.schema.features.items()))
