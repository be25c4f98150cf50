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

import argparse
import contextlib
import csv
import logging
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.tables import data_folder
from benchmarks.timing import Neighbours
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
CLOSE = 1e-9
ROWS, CLIMBED = 100_000, 5_000
PATIENT = 30.0  # seconds after which a side is not timed again


def peers() -> tuple[Any, Any]:
    """pgmpy and pyAgrum, where they are installed."""
    found: list[Any] = []
    for name in ("pgmpy", "pyagrum"):
        try:
            found.append(__import__(name))
        except ImportError:
            print(f"{name} is not installed: left out")
            found.append(None)
    return found[0], found[1]


def best_of(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The best seconds of each task, in turns; one that takes long is run once.

    Beside them, under "... cpu", the seconds of processor time, which other processes change less.
    """
    best = dict.fromkeys([*tasks, *(f"{name} cpu" for name in tasks)], float("inf"))
    for name, task in tasks.items():
        task() if name == "evenodds" else None  # its kernels are compiled, or loaded, once
    for turn in range(repeats):
        for name, task in tasks.items():
            if turn and best[name] > PATIENT / repeats:
                continue
            start, cpu = time.perf_counter(), time.process_time()
            task()
            best[f"{name} cpu"] = min(best[f"{name} cpu"], time.process_time() - cpu)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


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
        row["read"] = best_of(reads, repeats)
        try:
            network.marginals()
        except DataError as error:
            row["refused"] = str(error)
            results.append(row)
            print(f"{one['network']}: refused, {error}", flush=True)
            continue
        asks: dict[str, Callable[[], object]] = {"evenodds": network.marginals}
        if pgmpy is not None and one["network"] in ASKED:
            asks["pgmpy"] = partial(all_of_pgmpy, read_pgmpy(path))
        if theirs is not None:
            asks["pyagrum"] = partial(all_of, gum, theirs)
        row["marginals"] = best_of(asks, repeats)
        results.append(row)
        shown = {k: f"{1e3 * v:.3g} ms" for k, v in row["marginals"].items()}
        print(f"{one['network']}: counts {counts}, round trip {same}, marginals {shown}", flush=True)
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
                start = time.perf_counter()
                said[side].append(np.asarray(ask(node, given)))
                seconds[side].append(time.perf_counter() - start)
        apart = {side: max(float(np.abs(a - b).max()) for a, b in zip(said["evenodds"], said[side])) for side in sides}
        median = {side: float(np.median(times)) for side, times in seconds.items()}
        results.append({"network": name, "apart": apart, "median_seconds": median})
        shown = {side: f"{1e3 * t:.3g} ms" for side, t in median.items()}
        print(f"{name}: apart {apart}, a question {shown}", flush=True)
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
            found["pgmpy"] = BayesNet([*network.structure.nodes, *edges]).graph

        fits["pgmpy"], climbs["pgmpy"] = fit, theirs
        trees["pgmpy"] = lambda: TreeSearch(some, root_node="HISTORY", n_jobs=1).estimate(
            estimator_type="tan", class_node="HYPOVOLEMIA", show_progress=False
        )
    result: dict[str, Any] = {}
    for what, tasks in (("fit", fits), ("tan", trees), ("climb", climbs)):
        result[what] = best_of(tasks, repeats)
        print(what, {side: f"{1e3 * t:.4g} ms" for side, t in result[what].items()}, flush=True)
    result["bic"] = {side: BayesNet(graph).fit(some).structure_score("bic") for side, graph in found.items()}
    result["bic"]["true graph"] = BayesNet(network.structure).fit(some).structure_score("bic")
    print("BIC of the graph", result["bic"], flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="networks,answers,speed")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    pgmpy, gum = peers()
    kernels.run.compiled  # noqa: B018  so that the first few questions are not asked in plain Python
    others, result = Neighbours(), dict[str, Any]()
    only = given.only.split(",")
    if "networks" in only:
        result["networks"] = networks(pgmpy, gum, given.repeats)
        fine = all(row["counts"] and row["round_trip"] for row in result["networks"])
        refused = [row["network"] for row in result["networks"] if row["refused"]]
        print(f"counts and round trips right: {fine}; refused for size: {refused}")
    if "answers" in only:
        result["answers"] = answers(pgmpy, gum, given.questions)
        print(f"within {CLOSE:g}: {all(d <= CLOSE for row in result['answers'] for d in row['apart'].values())}")
    if "speed" in only:
        result["speed"] = speed(pgmpy, given.repeats)
    with contextlib.suppress(KeyError):
        print(report.table(["network", "read", "pgmpy", "pyAgrum", "all marginals", "pgmpy", "pyAgrum"], lines(result)))
    print(f"cores that others kept busy: {others.cores():.1f}")
    for part, found in result.items() if given.save else ():
        report.save(f"networks_{part}", {part: found, "other_cores_busy": others.cores()})


def lines(result: dict[str, Any]) -> list[list[str]]:
    columns = [(what, side) for what in ("read", "marginals") for side in ("evenodds", "pgmpy", "pyagrum")]

    def cell(row: dict[str, Any], what: str, side: str) -> str:
        return f"{1e3 * row[what][side]:.3g} ms" if side in row.get(what, {}) else ""

    return [[row["network"], *(cell(row, *column) for column in columns)] for row in result["networks"]]


if __name__ == "__main__":
    main()
