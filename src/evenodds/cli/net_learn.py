"""`evenodds net fit` and `learn`: networks from files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options, said
from evenodds.cli.commands import Command, Listed
from evenodds.cli.output import WrongUsageError, print_json, print_lines, wrong_usage
from evenodds.cli.paths import Written, check_outputs, kind_of

if TYPE_CHECKING:
    from evenodds.models.bayes_net.learn import Learnt, Search
    from evenodds.models.bayes_net.network import Network
    from evenodds.models.bayes_net.structure import Structure

KINDS = (".eo", ".bif")  # of files that hold a network
SEARCHES = ("star", "tan", "chow-liu", "hill-climbing")
CRITERIA = {"bic": "BIC", "aic": "AIC", "bdeu": "BDeu", "k2": "K2"}


def load_network(path: str) -> Network:
    """The network in a file, whichever of the two it is."""
    from evenodds.file import is_model
    from evenodds.models.bayes_net.network import Network

    return Network.load(path) if is_model(path) else Network.read(path)


def _cuts(texts: tuple[str, ...]) -> dict[str, Any]:
    """What --cut says: a number of parts, or edges with commas between them; a comma behind the only one.

    >>> _cuts(("age=4", "age of wife=5,18", "height=18,"))
    {'age': 4, 'age of wife': [5.0, 18.0], 'height': [18.0]}
    """
    found = said.pairs("--cut", texts, "COLUMN=PARTS, COLUMN=EDGE,EDGE or COLUMN=EDGE, (with a comma)", last=True)
    return {
        name: int(where) if where.isdecimal() else [said.number("--cut", edge) for edge in where.split(",") if edge]
        for name, where in found.items()
    }


@dataclass(frozen=True)
class Tables:
    """How tables are learnt."""

    target: str | None
    columns: str | None
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
    click.option(
        "-c", "--columns", cls=Listed, metavar="A,B", help="The nodes, by commas, beside the target; all if not given."
    ),
    click.option(
        "--cut",
        "cuts",
        multiple=True,
        metavar="COLUMN=EDGES",
        help="Cut numbers at edges, age=5,18 or age=18, (the comma makes it an edge); or age=4 into 4 parts.",
    ),
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
    click.option("--smoothing", metavar="ROWS", default="auto", help="How many pseudo-rows, or auto (the default)."),
    click.option(
        "--estimate",
        type=click.Choice(["predictive", "mean", "map", "mle"]),
        default="predictive",
        help="What is made of each table's posterior.",
    ),
    options.weighted,
)
sources = click.argument("paths", nargs=-1, required=True, metavar="DATA...")


@click.command(cls=Command, no_args_is_help=True)
@click.option("--graph", help="The graph: 'rain -> wet', or a .bif or .eo file that has it.")
@click.option("-o", "--output", required=True, type=Written(*KINDS), help="The .eo or .bif file to write.")
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
      evenodds net fit titanic.csv --graph "survived -> sex, class" -o titanic.eo
      evenodds net fit titanic.csv -t survived --cut age=5,18 --missing em -o titanic.eo
    """
    if graph is None and tables.target is None:
        raise WrongUsageError("which graph? Write it with --graph 'a -> b', or name a --target for a star")
    if graph is not None:
        options.refuse("the --graph says which columns are nodes", "columns")
    found = _learn(structure_of(graph) if graph else None, None, {}, paths, tables, reading)
    _save(found, "bic", found.network.structure_score(), output, as_json, reading.quiet)


@click.command(cls=Command, no_args_is_help=True)
@click.option("--search", type=click.Choice(SEARCHES), default="hill-climbing", help="How the graph is found.")
@click.option(
    "--criterion",
    type=click.Choice(list(CRITERIA)),
    default="bic",
    help="What climbing raises, and what is printed of the graph; of all of them more is better.",
)
@click.option("--ess", type=float, default=10.0, help="Of the criterion bdeu: how many pseudo-rows.")
@click.option("--require", "required", multiple=True, metavar="EDGES", help="Edges that must be there: 'a -> b'.")
@click.option("--forbid", "forbidden", multiple=True, metavar="EDGES", help="Edges that must not be there.")
@click.option("--max-parents", type=options.Whole(), default=8, help="How many parents a node may have.")
@click.option("-o", "--output", type=Written(*KINDS), help="The .eo or .bif file to write.")
@tables
@options.reading
@options.as_json
@sources
def learn(
    search: Any, criterion: Any, ess: float, required: tuple[str, ...], forbidden: tuple[str, ...], max_parents: int,
    output: str | None, paths: tuple[str, ...], tables: Tables, reading: options.Input, as_json: bool,
) -> None:  # fmt: skip
    """Learn the graph too, print it with its score, and save the network if told where.

    --require, --forbid and --max-parents are for hill-climbing.

    \b
      evenodds net learn titanic.csv --search tan -t survived -o titanic.eo
      evenodds net learn people.csv --columns age,smokes,ill --cut age=4
      evenodds net learn patients.csv --criterion bdeu --forbid "symptom -> disease"
    """
    from evenodds.models.bayes_net.structure import edges_of

    if criterion != "bdeu":
        options.refuse("the pseudo-rows of --criterion bdeu", "ess")
    if search != "hill-climbing":
        options.refuse("of --search hill-climbing", "required", "forbidden", "max_parents")
    if not 0 < ess < float("inf"):
        raise WrongUsageError(f"--ess: expected a number of pseudo-rows above 0, not {ess}")
    if search in ("star", "tan") and tables.target is None:
        raise WrongUsageError(f"--search {search} needs the column of the classes: name it with --target")
    with wrong_usage():
        edges = {"required": edges_of("; ".join(required)), "forbidden": edges_of("; ".join(forbidden))}
    more = {"criterion": criterion, "ess": ess, "max_parents": max_parents, **edges}
    found = _learn(None, search, more, paths, tables, reading)
    _save(found, criterion, found.network.structure_score(criterion, ess), output, as_json, reading.quiet)


def graph_of(text: str) -> Network | Structure:
    """The network in a file, or the graph that a text spells."""
    from evenodds.models.bayes_net.structure import Structure

    if os.path.exists(text) and not os.path.isdir(text):
        check_outputs((text,))
        return load_network(text)
    with wrong_usage():
        return Structure.of(text)


def structure_of(text: str) -> Structure:
    """The graph alone, as a file has it or as it is written."""
    from evenodds.models.bayes_net.network import Network

    found = graph_of(text)
    return found.structure if isinstance(found, Network) else found


def _learn(
    structure: Structure | None, search: Search | None, more: dict[str, Any], paths: tuple[str, ...], tables: Tables,
    reading: options.Input,
) -> Learnt:  # fmt: skip
    from evenodds.models.bayes_net.learn import Wanted
    from evenodds.models.bayes_net.learn import learn as learn_from
    from evenodds.models.bayes_net.tallies import Settings

    auto, text = tables.smoothing == "auto", tables.smoothing
    strength: Any = text if auto else said.number("--smoothing", text, "auto")
    nodes = None if tables.columns is None else tuple(said.names("--columns", tables.columns))
    with wrong_usage():
        settings = Settings(tables.estimate, tables.prior, strength)
        more = {**more, "missing": tables.missing, "cuts": _cuts(tables.cuts), "nodes": nodes}
        wanted = Wanted(structure, search, tables.target, **more)
    source = reading.files(paths).rereadable()
    with data.notes(reading.quiet), data.progress(source, "learning", reading.quiet):
        found = learn_from(source, wanted, settings, weights=tables.weight, threads=reading.threads)
        found.network.tables  # noqa: B018  what they cannot be made of is said now
    data.say_report(found.report, reading.quiet)
    return found


def _save(found: Learnt, criterion: str, score: float, output: str | None, as_json: bool, quiet: bool) -> None:
    network = found.network
    if output is not None:
        write_network(network, output)
    if as_json:
        print_json(
            {"rows": network.rows, "graph": str(network.structure), "edges": network.structure.edges,
             "parameters": network.n_parameters["network"], "criterion": criterion, "score": score,
             "steps": len(found.objective), "model": output, "report": found.report.to_dict()}
        )  # fmt: skip
        return
    print_lines(str(network.structure))
    if not quiet:
        steps = f", missing cells filled in by {len(found.objective)} steps" if found.objective else ""
        where = f" → {output}" if output else ""
        fits = f"{CRITERIA[criterion]} {score:,.1f} (more is better)"
        print_lines(f"{network.rows:,.10g} rows{steps}; {network!r}; {fits}{where}", err=True)


def write_network(network: Network, path: str) -> None:
    """A network into a file, by the name's ending."""
    if kind_of(path) == ".bif":
        network.write_bif(path)
    else:
        network.save(path)
