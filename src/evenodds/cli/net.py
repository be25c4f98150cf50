"""`evenodds net`: Bayesian networks from files, asked, drawn from, and turned into other formats."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options
from evenodds.cli.output import WrongUsageError, print_json

if TYPE_CHECKING:
    from evenodds.models.bayes_net.learn import Learnt, Search
    from evenodds.models.bayes_net.network import Network
    from evenodds.models.bayes_net.structure import Structure

SEARCHES = ("star", "tan", "chow-liu", "hill-climbing")
METHODS = ("exact", "weighting", "gibbs")


@click.group(no_args_is_help=True)
def net() -> None:
    """Bayesian networks: fit, learn, query, separated, show, sample, convert.

    A NETWORK is a file: .bif, or .eo as `net fit` writes it.

    \b
      evenodds net fit people.csv --graph "survived -> sex, class" -o people.eo
      evenodds net query people.eo survived --given sex=male
      evenodds net separated people.eo sex class --given survived
    """


def _load(path: str) -> Network:
    """The network in a file, whichever of the two it is."""
    from evenodds.models.bayes_net.network import Network

    with open(path, "rb") as file:
        begin = file.read(64)
    return Network.load(path) if b'{"__metadata__"' in begin else Network.read(path)


def _given(pairs: tuple[str, ...]) -> dict[str, Any]:
    """What --given says: node=value."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise WrongUsageError(f"--given: expected NODE=VALUE, not {pair!r}")
        if name in found:
            raise WrongUsageError(f"--given: {name!r} is given twice")
        found[name] = value
    return found


def _likely(pairs: tuple[str, ...]) -> dict[str, Any]:
    """What --likely says: node=value:likelihood,value:likelihood."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, listed = pair.partition("=")
        try:
            if not equals:
                raise ValueError
            parts = [part.rpartition(":") for part in listed.split(",")]
            found[name] = {value: float(weight) for value, _, weight in parts}
        except ValueError:
            raise WrongUsageError(f"--likely: expected NODE=VALUE:NUMBER,VALUE:NUMBER, not {pair!r}") from None
    return found


def _cuts(texts: tuple[str, ...]) -> dict[str, Any]:
    """What --cut says: column=parts, or column=edge,edge."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, where = text.rpartition("=")
        try:
            if not equals:
                raise ValueError
            found[name] = (
                int(where) if where.isdecimal() and "," not in where else [float(e) for e in where.split(",") if e]
            )
        except ValueError:
            raise WrongUsageError(f"--cut: expected COLUMN=PARTS or COLUMN=EDGE,EDGE, not {text!r}") from None
    return found


@dataclass(frozen=True)
class Tables:
    """How tables are learnt."""

    target: str | None
    cuts: tuple[str, ...]
    missing: Any
    prior: Any
    smoothing: str
    estimate: Any
    weight: str | None


tables = options.gathered(
    Tables,
    "tables",
    click.option("-t", "--target", metavar="COLUMN", help="The column of the classes."),
    click.option("--cut", "cuts", multiple=True, metavar="COLUMN=EDGES", help="Cut numbers: age=5,18; or age=4 parts."),
    click.option(
        "--missing",
        type=click.Choice(["ignore", "em"]),
        default="ignore",
        help="Missing cells: left out, or filled in.",
    ),
    click.option(
        "--prior",
        type=click.Choice(["pooled", "flat", "bdeu", "k2"]),
        default="pooled",
        help="What pseudo-rows look like.",
    ),
    click.option("--smoothing", metavar="ROWS", default="auto", help="How many they are, or auto (the default)."),
    click.option(
        "--estimate",
        type=click.Choice(["predictive", "mean", "map", "mle"]),
        default="predictive",
        help="Of each table.",
    ),
    options.weighted,
)
sources = click.argument("paths", nargs=-1, required=True, metavar="DATA...")


@net.command(no_args_is_help=True)
@click.option("-g", "--graph", help="The graph: 'rain -> wet', or a .bif or .eo file that has it.")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="The .eo or .bif file to write.")
@tables
@options.reading
@options.as_json
@sources
def fit(
    graph: str | None, output: str, paths: tuple[str, ...], tables: Tables, reading: options.Input, as_json: bool
) -> None:
    """Learn the tables of a graph from files, in one pass, and save the network.

    With a target and no graph it is naive Bayes: a star.

    \b
      evenodds net fit titanic.csv -g "survived -> sex, class" -o titanic.eo
      evenodds net fit titanic.csv -t survived --cut age=5,18 --missing em -o titanic.eo
    """
    if graph is None and tables.target is None:
        raise WrongUsageError("which graph? Write it with --graph 'a -> b', or name a --target for a star")
    found = _learn(_structure(graph) if graph else None, None if graph else "star", {}, paths, tables, reading)
    _save(found, output, as_json, reading.quiet)


@net.command(no_args_is_help=True)
@click.option("--search", type=click.Choice(SEARCHES), default="hill-climbing", help="How the graph is found.")
@click.option(
    "--criterion", type=click.Choice(["bic", "aic", "bdeu", "k2"]), default="bic", help="What climbing raises."
)
@click.option("--ess", type=float, default=10.0, help="Pseudo-rows of bdeu.")
@click.option("--require", "required", multiple=True, metavar="EDGES", help="Edges that must be there: 'a -> b'.")
@click.option("--forbid", "forbidden", multiple=True, metavar="EDGES", help="Edges that must not.")
@click.option("--max-parents", type=click.IntRange(min=1), default=8, help="Of a node, at most.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The .eo or .bif file to write.")
@tables
@options.reading
@options.as_json
@sources
def learn(
    search: Any, criterion: str, ess: float, required: tuple[str, ...], forbidden: tuple[str, ...], max_parents: int,
    output: str | None, paths: tuple[str, ...], tables: Tables, reading: options.Input, as_json: bool,
) -> None:  # fmt: skip
    """Learn the graph too, print it with its score, and save the network if told where.

    \b
      evenodds net learn titanic.csv --search tan -t survived -o titanic.eo
      evenodds net learn patients.csv --criterion bdeu --forbid "symptom -> disease"
    """
    from evenodds.models.bayes_net.structure import edges_of

    if search in ("star", "tan") and tables.target is None:
        raise WrongUsageError(f"--search {search} needs the column of the classes: name it with --target")
    more = {
        "score": criterion, "ess": ess, "max_parents": max_parents, "required": edges_of("; ".join(required)),
        "forbidden": edges_of("; ".join(forbidden)),
    }  # fmt: skip
    found = _learn(None, search, more, paths, tables, reading)
    _save(found, output, as_json, reading.quiet)


def _structure(graph: str) -> Structure:
    """A graph as it is written, or as a file has it."""
    from evenodds.models.bayes_net.structure import Structure

    return _load(graph).structure if os.path.exists(graph) else Structure.of(graph)


def _learn(
    structure: Structure | None, search: Search | None, more: dict[str, Any], paths: tuple[str, ...], tables: Tables,
    reading: options.Input,
) -> Learnt:  # fmt: skip
    from evenodds.models.bayes_net.learn import Wanted
    from evenodds.models.bayes_net.learn import learn as learn_from
    from evenodds.models.bayes_net.tallies import Settings

    try:
        strength: Any = tables.smoothing if tables.smoothing == "auto" else float(tables.smoothing)
        settings = Settings(tables.estimate, tables.prior, strength)
        wanted = Wanted(structure, search, tables.target, missing=tables.missing, cuts=_cuts(tables.cuts), **more)
    except ValueError as error:
        raise WrongUsageError(str(error)) from None
    source = reading.files(paths).rereadable()
    with data.notes(reading.quiet), data.progress(source, "learning", reading.quiet):
        found = learn_from(source, wanted, settings, weights=tables.weight, threads=reading.threads)
        found.network.tables  # noqa: B018  what they cannot be made of is said now
    data.say_report(found.report, reading.quiet)
    return found


def _save(found: Learnt, output: str | None, as_json: bool, quiet: bool) -> None:
    network = found.network
    if output is not None:
        _write(network, output)
    score = None if network.by_hand else network.structure_score()
    if as_json:
        print_json(
            {"rows": network.rows, "graph": str(network.structure), "edges": network.structure.edges,
             "parameters": network.n_parameters["network"], "bic": score, "steps": len(found.objective),
             "report": found.report.to_dict()}
        )  # fmt: skip
        return
    click.echo(str(network.structure))
    if not quiet:
        steps = f", missing cells filled in by {len(found.objective)} steps" if found.objective else ""
        where = f" → {output}" if output else ""
        click.echo(f"{network.rows:,.10g} rows{steps}; {network!r}; BIC {score:,.1f}{where}", err=True)


def _write(network: Network, path: str) -> None:
    if path.lower().endswith(".bif"):
        network.write_bif(path)
    elif path.lower().endswith(".svg"):
        from evenodds.replacing import replacing

        with replacing(path) as file:
            file.write(network.picture().encode())
    else:
        network.save(path)


@net.command(no_args_is_help=True)
@click.argument("network")
@click.argument("nodes", nargs=-1)
@click.option("-g", "--given", "pairs", multiple=True, metavar="NODE=VALUE", help="What was seen. Repeatable.")
@click.option("--likely", multiple=True, metavar="NODE=VALUE:P,...", help="Soft evidence: how likely in each state.")
@click.option("--interval", is_flag=True, help="With what the tables leave open: 95 % intervals.")
@click.option("--most-probable", is_flag=True, help="The most probable values of all nodes together.")
@click.option("--method", type=click.Choice(METHODS), default="exact", help="Exact, or by draws.")
@click.option("--draws", type=click.IntRange(min=1), default=100_000, help="Of a method by draws.")
@click.option("--seed", type=int, default=0, help="Of the draws.")
@options.as_json
def query(
    network: str, nodes: tuple[str, ...], pairs: tuple[str, ...], likely: tuple[str, ...], interval: bool,
    most_probable: bool, method: Any, draws: int, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """p(NODES | what was seen), of several nodes together; without NODES, of every node.

    \b
      evenodds net query asia.bif lung --given xray=yes
      evenodds net query asia.bif lung tub --given xray=yes --given asia=yes --json
    """
    model, given = _load(network), {**_given(pairs), **_likely(likely)}
    if most_probable:
        best = model.most_probable(given)
        print_json(best) if as_json else click.echo("\n".join(f"{node} = {value}" for node, value in best.items()))
        return
    if not nodes:
        found = model.marginals(given)
        if as_json:
            print_json({"p_evidence": model.evidence_prob(given), "nodes": {n: a.to_dict() for n, a in found.items()}})
            return
        click.echo("\n\n".join(repr(answer) for answer in found.values()))
        return
    if interval:
        answer = model.query_interval(*nodes, given=given, random_state=seed)
    else:
        answer = model.query(*nodes, given=given, method=method, draws=draws, random_state=seed)
    if as_json:
        p_evidence = model.evidence_prob(given) if method == "exact" else None
        print_json({"p_evidence": p_evidence, "answer": answer.frame.to_dicts()})
    else:
        click.echo(repr(answer))


@net.command(no_args_is_help=True)
@click.argument("graph")
@click.argument("a")
@click.argument("b")
@click.option("-g", "--given", multiple=True, metavar="NODE", help="What is known. Repeatable.")
@click.option("--paths", type=click.IntRange(min=1), default=50, help="Shown, at most.")
@options.as_json
def separated(graph: str, a: str, b: str, given: tuple[str, ...], paths: int, as_json: bool) -> None:
    """Does the graph make A and B independent, given some nodes? Path by path, why.

    GRAPH is a network's file, or a graph as 'rain -> wet'.

    \b
      evenodds net separated asia.bif asia smoke --given dysp
      evenodds net separated "rain -> coat, accident" coat accident --given rain
    """
    from evenodds.models.bayes_net.d_separation import d_separated, separating_sets

    structure = _structure(graph)
    found = d_separated(structure, a, b, given, paths)
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
    click.echo(repr(found))
    if not found and cuts:
        shown = "; ".join("{" + ", ".join(cut) + "}" for cut in cuts[:5])
        click.echo(f"they are separated given {shown}" if cuts[0] else "they are separated given nothing")


@net.command(no_args_is_help=True)
@click.argument("network")
@click.argument("nodes", nargs=-1)
@click.option("--svg", type=click.Path(dir_okay=False), metavar="FILE", help="Write a picture of the graph.")
@options.as_json
def show(network: str, nodes: tuple[str, ...], svg: str | None, as_json: bool) -> None:
    """A network's graph and size; with NODES, their tables, with 95 % intervals where they were learnt.

    \b
      evenodds net show asia.bif
      evenodds net show asia.bif dysp --svg asia.svg
    """
    model = _load(network)
    model.structure.check(*nodes)
    if svg is not None:
        _write(model, svg if svg.lower().endswith(".svg") else f"{svg}.svg")
    shown = {node: model.table(node) for node in nodes}
    if as_json:
        print_json(
            {"graph": str(model.structure), "nodes": {n: list(s) for n, s in model.states.items()},
             "edges": model.structure.edges, "parameters": model.n_parameters["network"],
             "tables": {node: table.to_dicts() for node, table in shown.items()}}
        )  # fmt: skip
        return
    if not nodes:
        click.echo(f"{model!r}\n{model.structure}")
    else:
        click.echo("\n\n".join(map(repr, shown.values())))


@net.command(no_args_is_help=True)
@click.argument("network")
@click.option("-n", "--rows", type=click.IntRange(min=0), default=10, help="How many; 10 if not given.")
@click.option("-g", "--given", "pairs", multiple=True, metavar="NODE=VALUE", help="Rows that have these values.")
@click.option("--seed", type=int, help="So that the same rows are drawn again.")
@options.as_json
def sample(network: str, rows: int, pairs: tuple[str, ...], seed: int | None, as_json: bool) -> None:
    """Rows drawn from a network, as CSV, or as JSON lines with --json.

    \b
      evenodds net sample asia.bif -n 1000 --seed 1 > asia.csv
    """
    import csv
    import io

    drawn = _load(network).sample(rows, seed, _given(pairs))
    if as_json:
        for row in drawn.to_pylist():
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(drawn.column_names)
    writer.writerows(zip(*(drawn[name].to_pylist() for name in drawn.column_names)))
    click.echo(text.getvalue(), nl=False)


@net.command(no_args_is_help=True)
@click.argument("network")
@click.argument("output", type=click.Path(dir_okay=False))
@click.option("--encoding", metavar="NAME", help="Of a .bif file that is read; detected if not given.")
def convert(network: str, output: str, encoding: str | None) -> None:
    """Write a network as another kind of file: .bif, .eo, or .svg for a picture.

    \b
      evenodds net convert asia.bif asia.eo
    """
    from evenodds.models.bayes_net.network import Network

    _write(Network.read(network, encoding) if encoding is not None else _load(network), output)
