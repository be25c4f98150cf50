"""The most telling of all results: a dozen lines for the README of the project, each with a link to its section."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks import report
from benchmarks.contenders import PEERS
from benchmarks.densities import POINTS
from benchmarks.report import Result, span, times

Said = tuple[str, str]  # beside whom, and how it compares; of nobody "" if it ran alone


class Headline(NamedTuple):
    """What is compared (with settings of the result in braces), where it is told, of which result, what that says."""

    what: str
    where: str
    file: str
    says: Callable[[Result], Said]


def _ratios(result: Result, part: str, job: str) -> str:
    return span((one["ratio"] for one in result[part] if job in one["job"]), times)


def fit(result: Result) -> Said:
    full = _ratios(result, "fit", "Binned")
    return "GaussianNB", f"{_ratios(result, 'fit', 'Gaussian)')} times as fast; {full} with a histogram of each column"


def predict(result: Result) -> Said:
    return "GaussianNB", f"{_ratios(result, 'predict', 'ours')} times as fast"


def strings(result: Result) -> Said:
    return "polars' group-by", f"{_ratios(result, 'strings', 'ours')} times as fast"


def text(result: Result) -> Said:
    some = [one for one in result["results"] if "error" not in one and not one["hashed"]]
    theirs = {(o["classes"], o["ngrams"]): o["seconds"] for o in some if o["who"] == "scikit-learn"}
    ours = [(o["cores"], theirs[o["classes"], o["ngrams"]] / o["seconds"]) for o in some if o["who"] == "ours"]
    one, two = (span((ratio for cores, ratio in ours if cores == many), times) for many in (1, 2))
    return "CountVectorizer, MultinomialNB", f"{one} times as fast on one core, {two} on two"


def files(result: Result) -> Said:
    jobs = {one["job"]: one for one in result["results"]}
    ours, theirs = jobs["evenodds fit, csv"], jobs["pandas.read_csv"]
    memory = f"{ours['megabytes']:,.0f} MB of memory instead of {theirs['megabytes']:,.0f}"
    size = f"{result['sources']['csv']['bytes'] / 1e9:.0f} GB"
    return "`pandas.read_csv` alone", f"{size}: {times(theirs['seconds'] / ours['seconds'])} times as fast, {memory}"


def regressions(result: Result) -> Said:
    by_case: dict[str, dict[str, float]] = {}
    for one in result["fits"]:
        if one["design"] == "table" and "failed" not in one:
            by_case.setdefault(one["family"], {})[one["library"]] = one["seconds"]
    said = {
        name: span((case[library] / case["evenodds"] for case in by_case.values() if library in case), times)
        for library, name in (("glum", "glum"), ("scaled", "scikit-learn, scaled first"))
        if any(library in case for case in by_case.values())
    }
    return "; ".join(said), f"{'; '.join(said.values())} times as fast"


def mixtures(result: Result) -> Said:
    steps = {one["library"]: one["seconds_a_step"] for one in result["fits"]}
    return "GaussianMixture", f"{times(steps['scikit-learn'] / steps['evenodds'])} times as fast"


def densities(result: Result) -> Said:
    ratios = [one["times ours"] for one in result["speed"].values() if "times ours" in one]
    return "scipy, scikit-learn", f"{span(ratios, times)} times as fast"


def networks(result: Result) -> Said:
    rows = [one["median_seconds"] for one in result["answers"]]
    said = {
        name: span((row[side] / row["evenodds"] for row in rows), times)
        for side, name in (("pgmpy", "pgmpy"), ("pyagrum", "pyAgrum"))
        if all(side in row for row in rows)
    }
    return "; ".join(said), f"{'; '.join(said.values())} times as fast"


def bandits(result: Result) -> Said:
    speeds = dict(result["decisions"])
    ours = speeds.pop("ours")
    ratios = [ours[name]["a second"] / found["a second"] for its in speeds.values() for name, found in its.items()]
    return ", ".join(name.split()[0] for name in speeds), f"{span(ratios or [1.0], times)} times as many a second"


def accuracy(result: Result) -> Said:
    def mean(contender: str, metric: str) -> float:
        return float(np.mean([one[metric] for one in result["scores"][contender].values()]))

    every = [peer.name for peer in PEERS if len(result["scores"][peer.name]) == len(result["scores"]["ours, default"])]
    loss, right = min(mean(name, "log_loss") for name in every), max(mean(name, "accuracy") for name in every)
    ours = f"log loss {mean('ours, default', 'log_loss'):.3f} instead of {loss:.3f}"
    share = f"accuracy {100 * mean('ours, default', 'accuracy'):.1f} % instead of {100 * right:.1f} %"
    return "the best of scikit-learn's that take all", f"{len(result['scores'][every[0]])} tables: {ours}, {share}"


def tuned(result: Result) -> Said:
    found = result["tables"].values()
    below = sum(one["tuned"] < one["best five"] for one in found)
    return "the best of scikit-learn's five on each", f"log loss lower on {below} of {len(found)} tables"


PAGE = "benchmarks/README.md"
HEADLINES = [
    Headline("learning {rows:,} × 20 numbers", f"{PAGE}#tables-speed", "speed_tables", fit),
    Headline("predicting them", f"{PAGE}#tables-speed", "speed_tables", predict),
    Headline("counting 10 columns of strings", f"{PAGE}#tables-speed", "speed_tables", strings),
    Headline("{megabytes:.0f} MB of text, words and pairs, to a model", f"{PAGE}#text-speed", "text_speed_fit", text),
    Headline("fitting a CSV file", f"{PAGE}#files", "files", files),
    Headline("regressions on columns of mixed units", f"{PAGE}#regressions-speed", "glm_speed", regressions),
    Headline("a step of EM, {rows:,} × 8", f"{PAGE}#mixtures", "mixtures", mixtures),
    Headline(f"a kernel density of {POINTS:,} points", f"{PAGE}#densities", "densities", densities),
    Headline("a question to a Bayesian network", f"{PAGE}#networks", "networks_answers", networks),
    Headline("simulated decisions of a bandit", "docs/bandits.md#what-it-costs", "bandits_speed", bandits),
    Headline("the odds of tables, {folds} folds", f"{PAGE}#tables-accuracy-and-log-loss", "accuracy_tables", accuracy),
    Headline('the same with `tune="loo"`', f"{PAGE}#tuning", "tune_tables", tuned),
]


def shown(results: dict[str, Result]) -> str:
    """A line each; what was not measured, or beside nobody, has none."""
    rows = []
    for one in HEADLINES:
        if one.file in results:
            beside, said = one.says(results[one.file])
            rows += [[f"[{one.what.format(**results[one.file])}]({one.where})", beside, said]] if beside else []
    return report.table(["", "beside", ""], rows, left=3)
