"""Is the bridge better than both its ends? NaiveLogistic beside tuned logistic regression and calibrated naive Bayes.

    python -m benchmarks.bridge [--sets sms,adult] [--sizes 30,100,300] [--seeds 3] [--minutes 8] [--save]
    python -m benchmarks.bridge --folds mr,subj [--shuffles 5]          accuracy, ten folds, bigrams
    python -m benchmarks.bridge --speed                                  20newsgroups against scikit-learn's solvers

A cell is a data set and a number of rows. For each seed that many rows are drawn, all sides learn the same, and are
judged on the same (up to 2,000) other rows whose class was seen. A number is the ratio of NaiveLogistic's log loss to
the better, on that seed, of its parents (`benchmarks/parents.py`).

Ratios are averaged over the seeds geometrically; accuracy is compared with the parent that has the higher mean over a
cell's seeds (`gain`), and with the higher of each draw, the higher of two noisy ones (`gain_by_draw`). Seeds below 10
were looked at while the bridge was tuned; the table uses others. What was measured is kept in a cache file, a line for
each run of a side, so that a long table is made in several goes; `--minutes` bounds one.
"""

import itertools
import json
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from benchmarks import report, text_data
from benchmarks.parents import BestNaiveBayes, Rows, TunedLogistic
from benchmarks.timing import once

TEXTS = ["mr", "subj", "sst", "trec", "20newsgroups", "r8", "webkb", "sms", "enron1"]
TABLES = [
    "adult", "spambase", "german_credit", "pima_diabetes", "vehicle", "segment", "waveform5000", "mushroom", "nursery",
    "car", "titanic",
]  # fmt: skip
SIZES = [30, 100, 300, 1_000, 3_000, 0]  # 0: all but the rows that are judged
JUDGED = 2_000
CACHE = Path(__file__).parent / "results" / "bridge_runs.jsonl"
MANY = 300  # rows, from which on a ratio is held to be good up to the second
CLOSE = {False: 1.10, True: 1.02}
SURE = 1e-3  # a log loss below which ratios say nothing
Cell = dict[str, Any]


def drawn(y: npt.NDArray[np.str_], size: int, seed: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The rows to learn and the rows to judge by; every class that is learnt has two rows at least."""
    order = np.random.default_rng(seed).permutation(len(y))
    judged = min(JUDGED, len(y) // 3)
    size = min(size or len(y), len(y) - judged)
    learnt, rest = order[:size], order[size : size + judged]
    known, counts = np.unique(y[learnt], return_counts=True)
    known = known[counts >= 2]
    return learnt[np.isin(y[learnt], known)], rest[np.isin(y[rest], known)]


def bridge(rows: Rows) -> Any:
    import evenodds as eo

    if rows.is_text:
        return eo.NaiveLogistic(eo.Words(ngrams=2))
    families = {"numeric": eo.Binned, "nominal": eo.Categorical}
    return eo.NaiveLogistic({name: families[kind] for name, kind in rows.table.types.items()})


SIDES: dict[str, Callable[[Rows], Any]] = {"bridge": bridge, "logistic": TunedLogistic, "bayes": BestNaiveBayes}
Run = tuple[str, int, int, str]  # a set, a number of rows, a seed, a side


def run(rows: Rows, size: int, seed: int, side: str) -> dict[str, Any]:
    """Log loss, accuracy and seconds of one side on one draw."""
    learnt, judged = drawn(rows.y, size, seed)
    x, y, z, t = rows.some(learnt), rows.y[learnt], rows.some(judged), rows.y[judged]

    def learn_and_judge() -> tuple[Any, Any]:
        model = SIDES[side](rows).fit(x, y)
        return model, np.asarray(model.predict_proba(z))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        took, (model, proba) = once(learn_and_judge)
    loss = float(log_loss(t, proba, labels=model.classes_))
    right = float(np.mean(model.classes_[proba.argmax(axis=1)] == t))
    found = {"set": rows.name, "size": size, "seed": seed, "side": side, "rows": len(learnt)}
    if isinstance(model, TunedLogistic):
        found["C"] = model.best
    return {**found, "log_loss": loss, "accuracy": right, "seconds": round(took.seconds, 2)}


def cached(path: Path) -> dict[Run, dict[str, Any]]:
    """What is known; of a run that was made twice, the later."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {(one["set"], one["size"], one["seed"], one["side"]): one for one in map(json.loads, lines)}


def measure(
    names: list[str], sizes: list[int], seeds: range, sides: list[str], path: Path, minutes: float
) -> dict[Run, dict[str, Any]]:
    """All runs: those of the cache, and as many new ones as there is time for, those of few rows first."""
    known, end = cached(path), time.monotonic() + 60 * minutes
    read: dict[str, Rows] = {}
    for size, seed, name in itertools.product(sizes, seeds, names):
        missing = [side for side in sides if (name, size, seed, side) not in known]
        if not missing or time.monotonic() > end:
            continue
        rows = read[name] if name in read else read.setdefault(name, Rows(name))
        if size > len(rows.y) - min(JUDGED, len(rows.y) // 3):
            continue  # as many as all: that cell is called so
        for side in missing:
            known[name, size, seed, side] = one = run(rows, size, seed, side)
            with path.open("a") as file:
                file.write(json.dumps(one) + "\n")
    return {at: one for at, one in known.items() if at[0] in names and at[1] in sizes and at[2] in seeds}


def cells(runs: dict[Run, dict[str, Any]]) -> dict[tuple[str, int], dict[str, float]]:
    """For each cell the geometric mean of the ratios, points of accuracy above the better parent, and mean losses."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for name, size in sorted({at[:2] for at in runs}, key=lambda c: (c[1] or math.inf, c[0])):
        seeds = sorted({at[2] for at in runs if at[:2] == (name, size)})
        seeds = [seed for seed in seeds if all((name, size, seed, side) in runs for side in SIDES)]
        if not seeds:
            continue
        loss = {side: np.array([runs[name, size, seed, side]["log_loss"] for seed in seeds]) for side in SIDES}
        right = {side: np.array([runs[name, size, seed, side]["accuracy"] for seed in seeds]) for side in SIDES}
        ratio = np.log(loss["bridge"] / np.minimum(loss["logistic"], loss["bayes"]))
        gain = right["bridge"] - np.maximum(right["logistic"], right["bayes"])
        better = np.mean(right["bridge"]) - max(np.mean(right["logistic"]), np.mean(right["bayes"]))
        found[name, size] = {
            "ratio": math.exp(ratio.mean()),
            "gain": 100 * float(better),
            "gain_by_draw": 100 * float(gain.mean()),
            "seeds": len(seeds),
            **{side: float(some.mean()) for side, some in loss.items()},
        }
    return found


def ten_folds(name: str, shuffles: int) -> list[float]:
    """Accuracy of bigrams over ten folds, of each shuffle."""
    import evenodds as eo

    documents, found = text_data.load(name), []
    splits = documents.splits(shuffles)
    for at in range(0, len(splits), text_data.FOLDS):
        right = []
        for train, test in splits[at : at + text_data.FOLDS]:
            (x, y), (z, t) = documents.some(train), documents.some(test)
            words = eo.Words(ngrams=2, min_length=1, punctuation=True)  # the sets' own tokens: words and marks
            right.append(np.mean(eo.NaiveLogistic(words).fit(x, y).predict(z) == t))
        found.append(100 * float(np.mean(right)))
        print(f"{name}, ten folds of bigrams, shuffle {len(found)}: {found[-1]:.2f}", flush=True)
    return found


def speed(only: list[str] | None) -> dict[str, Any]:
    """20newsgroups, words and bigrams: seconds to learn from texts, and log loss, one run each.

    NaiveLogistic chooses its scale and strength in that time; the others are given the C that is best on the rows they
    are judged by (of 100 and 1,000), and as many steps as bring them near.
    """
    documents = text_data.load("20newsgroups")
    [(train, test)] = documents.splits()
    (x, y), (z, t) = documents.some(train), documents.some(test)
    import evenodds as eo

    eo.NaiveLogistic(eo.Words(ngrams=2)).fit(x[::50], y[::50])  # what is compiled, compiled
    found: dict[str, Any] = {}
    classifiers = {
        "saga, 10 passes": LogisticRegression(solver="saga", C=1_000.0, tol=1e-4, max_iter=10),
        "saga, 30 passes": LogisticRegression(solver="saga", C=1_000.0, tol=1e-4, max_iter=30),
        **{
            f"liblinear, one class against the rest, tol {tol:g}": OneVsRestClassifier(
                LogisticRegression(solver="liblinear", dual=True, C=100.0, tol=tol)
            )
            for tol in (30.0, 3.0, 1.0)
        },
    }
    sides: dict[str, Any] = {"NaiveLogistic": eo.NaiveLogistic(eo.Words(ngrams=2))}
    for name, classifier in classifiers.items():
        columns = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
        sides[f"LogisticRegression, {name}"] = make_pipeline(columns, classifier)
    if only:
        sides = {name: model for name, model in sides.items() if any(part in name for part in only)}
    for side, model in sides.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            took, _ = once(lambda: model.fit(x, y))  # noqa: B023  called at once
        loss = float(log_loss(t, model.predict_proba(z), labels=model.classes_))
        found[side] = {"seconds": took.seconds, "processor_seconds": took.cpu, "log_loss": loss}
        print(side, found[side], flush=True)
    return found


def shown(result: report.Result) -> str:
    """By number of rows how the bridge does, and the cells where a parent is better."""
    cells = result["cells"]
    if not cells:
        return "No cell has runs of all three sides yet."
    by_size: dict[int, list[Cell]] = {}
    for cell in cells:
        by_size.setdefault(cell["rows"], []).append(cell)
    limits = f"up to {CLOSE[False]:.2f} below {MANY} rows, {CLOSE[True]:.2f} from there on"
    lines: dict[str, Callable[[list[Cell]], str]] = {
        "sets": lambda some: str(len(some)),
        "log loss, ratio to the better parent, geometric mean": _ratio,
        f"sets with a ratio {limits}": lambda some: str(sum(map(_close, some))),
        "accuracy against the parent that is better on average, points": lambda some: _gain(some, "gain"),
        "the same against the better of each draw": lambda some: _gain(some, "gain_by_draw"),
    }
    rows = [[what, *(told(some) for some in by_size.values())] for what, told in lines.items()]
    seeds = report.span((cell["seeds"] for cell in cells), "{:.0f}".format)
    left_out = [f"{cell['set']}, {_rows(cell)}" for cell in cells if not _doubtful(cell)]
    without = f" ({'; '.join(left_out)}: log losses below {SURE:g}, whose ratios say nothing, are not in the means)"
    behind = [
        f"- {cell['set']}, {_rows(cell)}: {cell['ratio']:.3f}, accuracy {cell['gain']:+.1f} points"
        for cell in sorted(cells, key=lambda cell: str(cell["set"]))
        if not _close(cell)
    ]
    return report.blocks(
        report.table(["rows", *(f"{size:,}" if size else "all" for size in by_size)], rows),
        report.paragraph(
            f"{len(cells)} cells of {seeds} draws each; the mean ratio of all is {_ratio(cells)}"
            + (f"{without}." if left_out else "."),
            "The ratio is above those limits in:" if behind else "",
        ),
        "\n".join(behind),
    )


def _rows(cell: Cell) -> str:
    return f"{cell['rows']:,} rows" if cell["rows"] else "all rows"


def _close(cell: Cell) -> bool:
    return bool(cell["ratio"] <= CLOSE[not 0 < cell["rows"] < MANY])


def _doubtful(cell: Cell) -> bool:
    return min(cell[side] for side in SIDES) >= SURE


def _ratio(cells: list[Cell]) -> str:
    logs = [math.log(cell["ratio"]) for cell in cells if _doubtful(cell)]
    return f"{math.exp(np.mean(logs)):.3f}" if logs else ""


def _gain(cells: list[Cell], which: str) -> str:
    return f"{np.mean([cell[which] for cell in cells]):+.2f}"


def shown_folds(result: report.Result) -> str:
    """Mean accuracy over the shuffles."""
    means = [f"{np.mean(shuffles):.1f} % on {name.upper()}" for name, shuffles in result["folds"].items()]
    return report.paragraph(f"Ten folds, words, marks and pairs of them, mean accuracy: {report.listed(means)}.")


def shown_speed(result: report.Result) -> str:
    """Seconds and log losses."""
    rows = [[side, f"{one['seconds']:.1f}", f"{one['log_loss']:.3f}"] for side, one in result["speed"].items()]
    return report.table(["", "seconds", "log loss"], rows)


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--sets", type=report.names, default=[*TEXTS, *TABLES], help="with commas between")
    parser.add_argument("--sizes", type=report.names, default=SIZES, help="numbers of rows; 0 is all")
    parser.add_argument("--seeds", type=int, default=10, help="how many")
    parser.add_argument("--first", type=int, default=10, help="the first of them; those below were used to tune")
    parser.add_argument(
        "--sides", type=report.names, default=list(SIDES), help="which to measure; a table needs all three"
    )
    parser.add_argument("--minutes", type=float, default=8.0, help="begin no new run after so long")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--folds", type=report.names, help="ten-fold accuracy of these sets instead")
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--speed", action="store_true", help="20newsgroups against scikit-learn's solvers instead")
    parser.add_argument("--only", type=report.names, help="of --speed, the sides whose name has one of these")
    given = parser.parse_args()
    if given.speed:
        report.finish("bridge_speed", {"speed": speed(given.only)}, shown_speed, given.save)
    elif given.folds:
        found = {name: ten_folds(name, given.shuffles) for name in given.folds}
        report.finish("bridge_folds", {"folds": found}, shown_folds, given.save)
    else:
        seeds = range(given.first, given.first + given.seeds)
        runs = measure(given.sets, list(map(int, given.sizes)), seeds, given.sides, given.cache, given.minutes)
        table = [{"set": name, "rows": size, **cell} for (name, size), cell in cells(runs).items()]
        report.finish("bridge", {"cells": table}, shown, given.save)


if __name__ == "__main__":
    main()
