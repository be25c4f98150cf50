"""Bayesian networks beside pgmpy and pyAgrum: the 14 networks of the data folder read, written, asked and learnt.

    python -m benchmarks.networks --save            # about ten minutes, most of them pgmpy's
    python -m benchmarks.networks --only networks,answers

networks  counts as in index.csv, the round trip, all marginals; how long to read them, and for all marginals
answers   100 random questions to each of five networks, held to pgmpy and pyAgrum; all have the same tables, for rows
          that sum to 1 but for rounding are renormalised here and not by pgmpy, and pyAgrum reads a BIF file's numbers
          in single precision
speed     fitting 100,000 rows of ALARM, TAN and hill-climbing on 5,000

Times are the best of a few, in turns, in one process. Who cannot be imported is left out, with a sentence.
"""

import csv
import logging
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.tables import data_folder
from benchmarks.timing import Tasks, best_of, once, there
from evenodds import BayesNet
from evenodds.data.memory import table
from evenodds.data.source import Memory
from evenodds.errors import DataError
from evenodds.models.bayes_net import kernels
from evenodds.models.bayes_net.bif import parse
from evenodds.models.bayes_net.climbing import climb
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.reading import Columns, Encoded, encode
from evenodds.models.bayes_net.structure_search import tan

ASKED = ("asia", "alarm", "insurance", "hailfinder", "win95pts")
PARTS = ("networks", "answers", "speed")
SIDES = {"evenodds": "evenodds", "pgmpy": "pgmpy", "pyagrum": "pyAgrum"}
ROWS, CLIMBED = 100_000, 5_000
PATIENT = 30.0  # seconds after which a side is not timed again


def timed(tasks: Tasks, repeats: int) -> dict[str, float]:
    """The best seconds of each side, in turns, and beside them the processor's; ours once before, to be compiled."""
    tasks["evenodds"]()
    best = best_of(tasks, repeats, PATIENT / repeats)
    return {name: took.seconds for name, took in best.items()} | {f"{name} cpu": t.cpu for name, t in best.items()}


def index() -> list[dict[str, str]]:
    with open(data_folder() / "bif" / "index.csv", newline="") as file:
        return list(csv.DictReader(file))


def read_pgmpy(path: str, network: Network | None = None) -> Any:
    """A file as pgmpy reads it; or a network of ours, written and read."""
    from pgmpy.readwrite import BIFReader

    return BIFReader(path).get_model() if network is None else BIFReader(string=network.to_bif()).get_model()


def all_of_pgmpy(model: Any) -> list[Any]:
    """All marginals by pgmpy."""
    from pgmpy.inference import VariableElimination

    return [VariableElimination(model).query([node], show_progress=False) for node in model.nodes()]


def opened(gum: Any, path: str) -> Any:
    """A file as pyAgrum reads it; None where it cannot: it knows no state like Asy/Patch."""
    try:
        return gum.loadBN(path)
    except Exception as error:
        print(f"pyAgrum cannot read {path}: {str(error).splitlines()[0]}")
        return None


def filled(bn: Any, network: Network) -> Any:
    """pyAgrum's network with our tables, in double precision."""
    for node, parents in network.structure.parents.items():
        for where in np.ndindex(network.tables[node].shape[:-1]):
            row = network.tables[node][where].tolist()
            if parents:
                bn.cpt(node)[{parent: network.states[parent][i] for parent, i in zip(parents, where)}] = row
            else:
                bn.cpt(node)[:] = row
    return bn


def networks(pgmpy: Any, gum: Any, repeats: int) -> list[dict[str, Any]]:
    """Each network: right or not, and times."""
    results = []
    for one in index():
        path = str(data_folder() / "bif" / one["file"])
        network = Network.read(path)
        counts = (len(network.structure.nodes), len(network.structure.edges)) == (int(one["nodes"]), int(one["arcs"]))
        states, parents, tables = parse(network.to_bif())
        same = (
            states == network.states
            and parents == dict(network.structure.parents)
            and all(np.array_equal(tables[node], network.tables[node]) for node in tables)
        )
        row: dict[str, Any] = {"network": one["network"], "counts": counts, "round_trip": same, "refused": ""}
        reads: dict[str, Callable[[], object]] = {"evenodds": partial(Network.read, path)}
        small = len(network.structure.nodes) < 100
        if pgmpy is not None and small:
            reads["pgmpy"] = partial(read_pgmpy, path)
        theirs = None if gum is None else opened(gum, path)
        if theirs is not None:
            reads["pyagrum"] = partial(gum.loadBN, path)
        row["read"] = timed(reads, repeats)
        try:
            network.marginals()
        except DataError as error:
            row["refused"] = str(error)
            results.append(row)
            continue
        asks: dict[str, Callable[[], object]] = {"evenodds": network.marginals}
        if pgmpy is not None and one["network"] in ASKED:
            asks["pgmpy"] = partial(all_of_pgmpy, read_pgmpy(path))
        if theirs is not None:
            asks["pyagrum"] = partial(all_of, gum, theirs)
        row["marginals"] = timed(asks, repeats)
        results.append(row)
        print(row, flush=True)
    return results


def all_of(gum: Any, bn: Any) -> list[Any]:
    """All marginals as pyAgrum has them."""
    asked = gum.LazyPropagation(bn)
    asked.makeInference()
    return [asked.posterior(node) for node in bn.names()]


def questions(network: Network, many: int, seed: int) -> list[tuple[str, dict[str, str]]]:
    """A node, and the values of up to five others in a row drawn from the network: they are possible."""
    rng = np.random.default_rng(seed)
    found = []
    for row in network.sample(many, random_state=rng).to_pylist():
        node, *others = rng.permutation(network.structure.nodes).tolist()
        found.append((node, {other: row[other] for other in others[: int(rng.integers(0, 6))]}))
    return found


def _ours(network: Network, node: str, given: dict[str, str]) -> Any:
    return network.query(node, given=given).probabilities


def answers(pgmpy: Any, gum: Any, many: int) -> list[dict[str, Any]]:
    """The largest difference of any probability, and the time of a question."""
    results = []
    for name in ASKED:
        path = str(data_folder() / "bif" / f"{name}.bif")
        network = Network.read(path)
        asked = questions(network, many, 1)
        network.query(asked[0][0], given=asked[0][1])
        sides: dict[str, Callable[[str, dict[str, str]], Any]] = {"evenodds": partial(_ours, network)}
        if pgmpy is not None:
            from pgmpy.inference import VariableElimination

            infer = VariableElimination(read_pgmpy(path, network))
            sides["pgmpy"] = partial(_pgmpy, infer, network)
        if gum is not None:
            bn = filled(gum.loadBN(path), network)
            sides["pyagrum"] = partial(_pyagrum, gum, bn, network)
        said: dict[str, list[Any]] = {side: [] for side in sides}
        seconds: dict[str, list[float]] = {side: [] for side in sides}
        for node, given in asked:
            for side, ask in sides.items():
                took, answer = once(lambda: np.asarray(ask(node, given)))  # noqa: B023  called at once
                said[side].append(answer)
                seconds[side].append(took.seconds)
        apart = {side: max(float(np.abs(a - b).max()) for a, b in zip(said["evenodds"], said[side])) for side in sides}
        median = {side: float(np.median(times)) for side, times in seconds.items()}
        results.append({"network": name, "apart": apart, "median_seconds": median})
        print(results[-1], flush=True)
    return results


def _pgmpy(infer: Any, network: Network, node: str, given: dict[str, str]) -> Any:
    found = infer.query([node], evidence=given, show_progress=False)
    return [found.get_value(**{node: state}) for state in network.states[node]]


def _pyagrum(gum: Any, bn: Any, network: Network, node: str, given: dict[str, str]) -> Any:
    asked = gum.LazyPropagation(bn)
    asked.setEvidence(given)
    asked.addTarget(node)
    asked.makeInference()
    found = asked.posterior(node)
    return [found[{node: state}] for state in network.states[node]]


def encoded(rows: Any) -> Encoded:
    source = Memory(table(rows))
    return encode(source, Columns.decided(source, list(source.sample().columns)))[0]


def speed(pgmpy: Any, repeats: int) -> dict[str, Any]:
    """Learning on rows drawn from ALARM: tables of 100,000 rows; TAN and climbing on 5,000."""
    network = Network.read(data_folder() / "bif" / "alarm.bif")
    frame = network.sample(ROWS, random_state=0).to_pandas().astype("category")
    some = frame.head(CLIMBED)
    fits: dict[str, Callable[[], object]] = {
        "evenodds": lambda: BayesNet(network.structure, estimate="mle").fit(frame).network.tables
    }
    trees: dict[str, Callable[[], object]] = {"evenodds": lambda: tan(encoded(some), "HYPOVOLEMIA")}
    found: dict[str, Any] = {}

    def ours() -> None:
        found["evenodds"] = climb(encoded(some), "bic").structure

    climbs: dict[str, Callable[[], object]] = {"evenodds": ours}
    if pgmpy is not None:
        from pgmpy.estimators import HillClimbSearch, TreeSearch
        from pgmpy.models import DiscreteBayesianNetwork

        def fit() -> None:
            model = DiscreteBayesianNetwork(network.structure.edges)
            model.add_nodes_from(network.structure.nodes)
            model.fit(frame)

        def theirs() -> None:
            dag = HillClimbSearch(some).estimate(scoring_method="bic-d", show_progress=False)
            edges = [(str(a), str(b)) for a, b in dag.edges()]
            found["pgmpy"] = BayesNet([*network.structure.nodes, *edges]).graph_

        fits["pgmpy"], climbs["pgmpy"] = fit, theirs
        trees["pgmpy"] = lambda: TreeSearch(some, root_node="HISTORY", n_jobs=1).estimate(
            estimator_type="tan", class_node="HYPOVOLEMIA", show_progress=False
        )
    result: dict[str, Any] = {}
    for what, tasks in (("fit", fits), ("tan", trees), ("climb", climbs)):
        result[what] = timed(tasks, repeats)
        print(what, result[what], flush=True)
    result["bic"] = {side: BayesNet(graph).fit(some).structure_score("bic") for side, graph in found.items()}
    result["bic"]["true graph"] = BayesNet(network.structure).fit(some).structure_score("bic")
    return result


def _cells(row: dict[str, float]) -> list[str]:
    """Milliseconds of each side that was timed."""
    return [report.milliseconds(row[side]) if side in row else "" for side in SIDES]


def shown_networks(result: report.Result) -> str:
    """Which networks are right and which are refused; milliseconds."""
    found = result["networks"]
    wrong = [row["network"] for row in found if not (row["counts"] and row["round_trip"])]
    refused = [row["network"] for row in found if row["refused"]]
    which = f"Of {len(found)} networks all but {report.listed(wrong)}" if wrong else f"All {len(found)} networks"
    said = f"{which} have the counts of `index.csv` and come back the same from a round trip."
    said += f" All marginals of {report.listed(refused)} are refused for their size." if refused else ""
    head = ["ms", *(f"{what}, {side}" for what in ("read", "all marginals") for side in SIDES.values())]
    rows = [[row["network"], *_cells(row["read"]), *_cells(row.get("marginals", {}))] for row in found]
    return report.blocks(report.paragraph(said), report.table(head, rows))


def shown_answers(result: report.Result) -> str:
    """How far the answers are apart; milliseconds of a question."""
    found = result["answers"]
    apart = {side: max(row["apart"][side] for row in found) for side in found[0]["apart"] if side != "evenodds"}
    far = [f"{SIDES[side]}'s by at most {most:.0e}" for side, most in apart.items()]
    said = report.paragraph(f"Probabilities differ from {report.listed(far)}.") if far else ""
    rows = [[row["network"], *_cells(row["median_seconds"])] for row in found]
    return report.blocks(said, report.table(["ms a question, median", *SIDES.values()], rows))


def shown_speed(result: report.Result) -> str:
    """Milliseconds of learning, and what was learnt."""
    found, bic = result["speed"], result["speed"]["bic"]
    rows = [
        [f"tables, {ROWS:,} rows", *_cells(found["fit"])],
        [f"TAN, {CLIMBED:,} rows", *_cells(found["tan"])],
        [f"hill-climbing, {CLIMBED:,} rows", *_cells(found["climb"])],
        ["BIC of what is climbed to", *(f"{bic[side]:,.0f}" if side in bic else "" for side in SIDES)],
    ]
    learners = list(SIDES.values())[:2]  # pyAgrum is not asked to learn
    return report.blocks(
        report.table(["ALARM, ms", *learners], [row[:3] for row in rows]),
        f"The graph that the rows were drawn from has a BIC of {bic['true graph']:,.0f}.",
    )


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--only", type=report.names, default=PARTS, help=f"some of {','.join(PARTS)}")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    pgmpy, gum = there("pgmpy"), there("pyagrum")
    kernels.run.compiled  # noqa: B018  so that the first few questions are not asked in plain Python
    if "networks" in given.only:
        found = {"networks": networks(pgmpy, gum, given.repeats)}
        report.finish("networks_networks", found, shown_networks, given.save)
    if "answers" in given.only:
        asked = {"answers": answers(pgmpy, gum, given.questions)}
        report.finish("networks_answers", asked, shown_answers, given.save)
    if "speed" in given.only:
        report.finish("networks_speed", {"speed": speed(pgmpy, given.repeats)}, shown_speed, given.save)


if __name__ == "__main__":
    main()
