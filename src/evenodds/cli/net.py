"""`evenodds net`: Bayesian networks from files, asked, drawn from, and turned into other formats."""

from __future__ import annotations

from typing import Any

import click

from evenodds.cli import Group, data, options, said
from evenodds.cli.net_fair import fair
from evenodds.cli.net_learn import KINDS, fit, learn, load_network, structure_of, write_network
from evenodds.cli.output import WrongUsageError, print_json, print_json_line, print_lines
from evenodds.cli.paths import Read, Written, check_outputs

PICTURES = (".svg", ".png")  # of a graph
METHODS = ("exact", "weighting", "gibbs")


@click.group(cls=Group, no_args_is_help=True)
def net() -> None:
    """Bayesian networks: fit, learn, query, separated, fair, show, sample, convert.

    A NETWORK is a file: .bif, or .eo as `net fit` writes it.

    \b
      evenodds net fit people.csv --graph "survived -> sex, class" -o people.eo
      evenodds net query people.eo survived --given sex=male
      evenodds net separated people.eo sex class --given survived
    """


net.add_command(fit)
net.add_command(learn)


def _given(pairs: tuple[str, ...]) -> dict[str, Any]:
    """What --given says: node=value."""
    return dict(said.pairs("--given", pairs, "NODE=VALUE"))


def _likely(pairs: tuple[str, ...]) -> dict[str, Any]:
    """What --likely says: node=value:likelihood,value:likelihood."""
    found = said.pairs("--likely", pairs, "NODE=VALUE:NUMBER,VALUE:NUMBER")
    return {name: said.shares("--likely", listed.split(","), ":", "NODE=VALUE") for name, listed in found.items()}


@net.command(no_args_is_help=True)
@click.argument("network")
@click.argument("nodes", nargs=-1)
@click.option("-g", "--given", "pairs", multiple=True, metavar="NODE=VALUE", help="What was seen. Repeatable.")
@click.option("--likely", multiple=True, metavar="NODE=VALUE:P,...", help="Soft evidence: how likely in each state.")
@click.option("--interval", is_flag=True, help="With what the tables leave open: 95 % intervals.")
@click.option("--most-probable", is_flag=True, help="The most probable values of all nodes together.")
@click.option("--method", type=click.Choice(METHODS), default="exact", help="Exact, or by draws.")
@click.option(
    "--draws", type=options.Whole(), help="Of a method by draws (100,000 if not given), or of --interval (1,000)."
)
@click.option("--seed", type=options.Whole(0, 2**63 - 1), default=0, help="Where the draws start.")
@options.as_json
def query(
    network: str, nodes: tuple[str, ...], pairs: tuple[str, ...], likely: tuple[str, ...], interval: bool,
    most_probable: bool, method: Any, draws: int | None, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """p(NODES | what was seen), of several nodes together; without NODES, of every node.

    \b
      evenodds net query asia.bif lung --given xray=yes
      evenodds net query asia.bif lung tub --given xray=yes --given asia=yes --json
    """
    drawn = interval or method != "exact"
    if most_probable and (nodes or drawn):
        raise WrongUsageError(
            "--most-probable is of all nodes together, and exact: leave out NODES, --interval, --method"
        )
    if drawn and not nodes:
        raise WrongUsageError("--interval and --method are for the NODES that are asked for: name them")
    if interval and method != "exact":
        raise WrongUsageError("--interval is that of exact answers: leave out --method")
    if draws is not None and not drawn:
        raise WrongUsageError("--draws is for --interval, and for --method weighting and gibbs")
    if not drawn:
        options.refuse("an exact answer draws nothing", "seed")
    model, given, soft = load_network(network), _given(pairs), _likely(likely)
    if twice := given.keys() & soft.keys():
        raise WrongUsageError(f"{min(twice)!r} is given with --given and with --likely: leave one out")
    given |= soft
    if most_probable:
        best = model.most_probable(given)
        print_json(best) if as_json else print_lines("\n".join(f"{node} = {value}" for node, value in best.items()))
        return
    if not nodes:
        found = model.marginals(given)
        if as_json:
            print_json({"p_evidence": model.evidence_prob(given), "nodes": {n: a.to_dict() for n, a in found.items()}})
            return
        print_lines("\n\n".join(repr(answer) for answer in found.values()))
        return
    if interval:
        answer = model.query_interval(*nodes, given=given, draws=draws or 1000, random_state=seed)
    else:
        with data.notes():
            answer = model.query(*nodes, given=given, method=method, draws=draws or 100_000, random_state=seed)
    if as_json:
        p_evidence = model.evidence_prob(given) if method == "exact" else None
        print_json({"p_evidence": p_evidence, "answer": answer.frame.to_dicts()})
    else:
        print_lines(repr(answer))


@net.command(no_args_is_help=True)
@click.argument("graph")
@click.argument("a")
@click.argument("b")
@click.option("-g", "--given", multiple=True, metavar="NODE", help="What is known. Repeatable.")
@click.option("-n", "--most", type=options.Whole(), default=50, help="How many paths are shown, at most.")
@options.as_json
def separated(graph: str, a: str, b: str, given: tuple[str, ...], most: int, as_json: bool) -> None:
    """Does the graph make A and B independent, given some nodes? Path by path, why.

    GRAPH is a network's file, or a graph as 'rain -> wet'.

    \b
      evenodds net separated asia.bif asia smoke --given dysp
      evenodds net separated "rain -> coat, accident" coat accident --given rain
    """
    from evenodds.models.bayes_net.d_separation import d_separated, separating_sets

    structure = structure_of(graph)
    found = d_separated(structure, a, b, given, most)
    cuts = separating_sets(structure, a, b)
    if as_json:
        print_json(
            {
                "separated": found.separated,
                "paths": found.frame.to_dicts(),
                "complete": found.complete,
                "separating_sets": cuts,
            }
        )
        return
    print_lines(repr(found))
    if not found and cuts:
        shown = "; ".join("{" + ", ".join(cut) + "}" for cut in cuts[:5])
        print_lines(f"they are separated given {shown}" if cuts[0] else "they are separated given nothing")


net.add_command(fair)


@net.command(no_args_is_help=True)
@click.argument("network", type=Read())
@click.argument("nodes", nargs=-1)
@click.option("--plot", type=Written(*PICTURES), metavar="FILE", help=f"A picture of the graph: {', '.join(PICTURES)}.")
@options.as_json
def show(network: str, nodes: tuple[str, ...], plot: str | None, as_json: bool) -> None:
    """A network's graph and size; with NODES, their tables, with 95 % intervals where they were learnt.

    \b
      evenodds net show asia.bif
      evenodds net show asia.bif dysp --plot asia.svg
    """
    check_outputs()
    model = load_network(network)
    model.structure.check(*nodes)
    if plot is not None:
        from evenodds.plots.save import save_drawn

        save_drawn(model.picture(), plot)
    shown = {node: model.table(node) for node in nodes}
    if as_json:
        print_json(
            {"graph": str(model.structure), "nodes": {n: list(s) for n, s in model.states.items()},
             "edges": model.structure.edges, "parameters": model.n_parameters["network"],
             "tables": {node: table.to_dicts() for node, table in shown.items()}}
        )  # fmt: skip
        return
    if not nodes:
        print_lines(f"{model!r}\n{model.structure}")
    else:
        print_lines("\n\n".join(map(repr, shown.values())))


@net.command(no_args_is_help=True)
@click.argument("network")
@click.option("-n", "--rows", type=options.Whole(0), default=10, help="How many rows to draw.")
@click.option("-g", "--given", "pairs", multiple=True, metavar="NODE=VALUE", help="Rows that have these values.")
@click.option("--seed", type=options.Whole(0, 2**63 - 1), help="So that the same rows are drawn again.")
@options.as_json
def sample(network: str, rows: int, pairs: tuple[str, ...], seed: int | None, as_json: bool) -> None:
    """Rows drawn from a network, as CSV, or as JSON lines with --json.

    \b
      evenodds net sample asia.bif -n 1000 --seed 1 > asia.csv
    """
    import csv
    import io

    drawn = load_network(network).sample(rows, _given(pairs), seed)
    if as_json:
        for row in drawn.to_pylist():
            print_json_line(row)
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(drawn.column_names)
    writer.writerows(zip(*(drawn[name].to_pylist() for name in drawn.column_names)))
    click.echo(text.getvalue(), nl=False, color=True)  # cells as they are, on a pipe too


@net.command(no_args_is_help=True)
@click.argument("network")
@click.argument("output", type=Written(*KINDS))
@click.option("--encoding", metavar="NAME", help="Of a .bif file that is read; detected if not given.")
@click.option("-t", "--target", metavar="NODE", help="The node that `evenodds predict` tells; kept in an .eo file.")
def convert(network: str, output: str, encoding: str | None, target: str | None) -> None:
    """Write a network as another kind of file: .bif or .eo; `net show --plot` draws it.

    \b
      evenodds net convert asia.bif asia.eo
      evenodds net convert asia.bif asia.eo --target lung
    """
    from evenodds.models.bayes_net.network import Network

    model = Network.read(network, encoding) if encoding is not None else load_network(network)
    write_network(model if target is None else model.telling(target), output)
