"""Is the bridge better than both its ends? NaiveLogistic beside tuned logistic regression and calibrated naive Bayes.

    python -m benchmarks.bridge [--sets sms,adult] [--sizes 30,100,300] [--seeds 3] [--minutes 8] [--save]
    python -m benchmarks.bridge --folds mr,subj [--shuffles 5]          accuracy, ten folds, bigrams
    python -m benchmarks.bridge --speed                                  20newsgroups against scikit-learn's solvers

A cell is a data set and a number of rows. For each seed that many rows are drawn, all sides learn the same, and are
judged on the same (up to 2,000) other rows whose class was seen. A number is the ratio of NaiveLogistic's log loss to
the better, on that seed, of

- logistic regression: tf-idf of words and bigrams, or one-hot categories and standardised numbers (missing ones are the
  mean, missing categories a value of their own); C of 0.01 to 10,000 by five-fold cross-validated log loss;
- naive Bayes: of scikit-learn's five (on text the three that take counts), that of the lowest cross-validated log loss
  after sigmoid calibration (`CalibratedClassifierCV`).

Ratios are averaged over the seeds geometrically. What was measured is kept in a cache file, a line for each run, so
that a long table is made in several goes; `--minutes` bounds one.
"""

import argparse
import json
import math
import time
import warnings
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from benchmarks import report, tables, text_data
from benchmarks.contenders import PEERS

TEXTS = ["mr", "subj", "sst", "trec", "20newsgroups", "r8", "webkb", "sms", "enron1"]
TABLES = [
    "adult", "spambase", "german_credit", "pima_diabetes", "vehicle", "segment", "waveform5000", "mushroom", "nursery",
    "titanic",
]  # fmt: skip
SIZES = [30, 100, 300, 1_000, 3_000, 0]  # 0: all but the rows that are judged
JUDGED = 2_000
STRENGTHS = [0.01, 0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0]  # scikit-learn's C
CACHE = Path(__file__).parent / "results" / "bridge_runs.jsonl"
LIMITS = {True: (1.02, 0.90), False: (1.10, 0.85)}  # of cells from 300 rows on, and below: a ratio, a share of cells


class Rows:
    """A set's rows, which can be picked by number, and their classes."""

    def __init__(self, name: str) -> None:
        self.name, self.is_text = name, name in TEXTS
        if self.is_text:
            self.documents = text_data.load(name)
            self.y = self.documents.y.astype(str)
        else:
            self.table = tables.load(name)
            self.y = self.table.y.astype(str)

    def some(self, at: npt.NDArray[np.intp]) -> Any:
        """Some of them."""
        return [self.documents.texts[i] for i in at] if self.is_text else self.table.frame.iloc[at]


def drawn(y: npt.NDArray[np.str_], size: int, seed: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The rows to learn and the rows to judge by; every class that is learnt has two rows at least."""
    order = np.random.default_rng(seed).permutation(len(y))
    judged = min(JUDGED, len(y) // 3)
    size = min(size or len(y), len(y) - judged)
    learnt, rest = order[:size], order[size : size + judged]
    known, counts = np.unique(y[learnt], return_counts=True)
    known = known[counts >= 2]
    return learnt[np.isin(y[learnt], known)], rest[np.isin(y[rest], known)]


def folds_of(y: npt.NDArray[np.str_]) -> StratifiedKFold:
    return StratifiedKFold(int(max(2, min(5, np.unique(y, return_counts=True)[1].min()))), shuffle=True, random_state=0)


def logistic_regression(rows: Rows, y: npt.NDArray[np.str_]) -> Any:
    classifier = LogisticRegression(max_iter=2_000, tol=1e-4)
    if rows.is_text:
        pipe = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), classifier)
    else:
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        values = make_pipeline(
            SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(handle_unknown="ignore")
        )
        columns = (numbers, rows.table.of_type("numeric")), (values, rows.table.of_type("nominal"))
        pipe = make_pipeline(make_column_transformer(*columns), classifier)
    grid = {"logisticregression__C": STRENGTHS}
    return GridSearchCV(pipe, grid, scoring="neg_log_loss", cv=folds_of(y), error_score=-1e9)


class BestNaiveBayes:
    """The calibrated naive Bayes of the lowest cross-validated log loss."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def fit(self, x: Any, y: npt.NDArray[np.str_]) -> "BestNaiveBayes":
        """Choose, and learn all rows."""
        if self.rows.is_text:
            kinds = (MultinomialNB(), ComplementNB(), BernoulliNB())
            made = [make_pipeline(CountVectorizer(ngram_range=(1, 2)), kind) for kind in kinds]
        else:
            peers = [(peer.make(self.rows.table), peer.columns(self.rows.table)) for peer in PEERS]
            made = [make_pipeline(FunctionTransformer(itemgetter(names)), peer) for peer, names in peers if names]
        least, self.best = math.inf, None
        outer = folds_of(y)
        fewest = np.unique(y, return_counts=True)[1].min()
        inner = int(min(5, fewest * (outer.n_splits - 1) // outer.n_splits))
        for pipe in made:  # a class with two or three rows leaves none to calibrate by
            one = CalibratedClassifierCV(pipe, cv=inner, ensemble=False) if inner >= 2 else pipe
            loss = log_loss(y, cross_val_predict(one, x, y, cv=outer, method="predict_proba"), labels=np.unique(y))
            if loss < least:
                least, self.best = loss, one
        assert self.best is not None
        self.best.fit(x, y)
        self.classes_ = self.best.classes_
        return self

    def predict_proba(self, x: Any) -> Any:
        """What the chosen one says."""
        assert self.best is not None
        return self.best.predict_proba(x)


def bridge(rows: Rows) -> Any:
    import evenodds as eo

    if rows.is_text:
        return eo.NaiveLogistic(eo.Words(ngrams=2))
    families = {"numeric": eo.Binned, "nominal": eo.Categorical}
    return eo.NaiveLogistic({name: families[kind] for name, kind in rows.table.types.items()})


def run(rows: Rows, size: int, seed: int) -> dict[str, Any]:
    """Log loss, accuracy and seconds of all sides on one draw."""
    learnt, judged = drawn(rows.y, size, seed)
    x, y, z, t = rows.some(learnt), rows.y[learnt], rows.some(judged), rows.y[judged]
    found: dict[str, Any] = {"set": rows.name, "size": size, "seed": seed, "rows": len(learnt)}
    sides = {"bridge": bridge(rows), "logistic": logistic_regression(rows, y), "bayes": BestNaiveBayes(rows)}
    for side, model in sides.items():
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proba = np.asarray(model.fit(x, y).predict_proba(z))
        seconds = time.perf_counter() - begin
        right = float(np.mean(model.classes_[proba.argmax(axis=1)] == t))
        found[side] = {"log_loss": log_loss(t, proba, labels=model.classes_), "accuracy": right, "seconds": seconds}
    return found


def cached(path: Path) -> dict[tuple[str, int, int], dict[str, Any]]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {(one["set"], one["size"], one["seed"]): one for one in map(json.loads, lines)}


def measure(names: list[str], sizes: list[int], seeds: int, path: Path, minutes: float) -> list[dict[str, Any]]:
    """All runs: those of the cache, and as many new ones as there is time for."""
    known, end = cached(path), time.monotonic() + 60 * minutes
    for seed in range(seeds):  # all cells once, then again
        for size in sizes:
            for name in names:
                if (name, size, seed) in known or time.monotonic() > end:
                    continue
                rows = Rows(name)
                if size > len(rows.y) - min(JUDGED, len(rows.y) // 3):
                    continue  # as many as all: that cell is called so
                known[name, size, seed] = one = run(rows, size, seed)
                with path.open("a") as file:
                    file.write(json.dumps(one) + "\n")
                print(".", end="", flush=True)
    print()
    return [one for (name, size, seed), one in known.items() if name in names and size in sizes and seed < seeds]


def cells(runs: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, float]]:
    """For each cell the geometric mean of the ratios, points of accuracy above the better parent, and mean losses."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for cell in sorted({(one["set"], one["size"]) for one in runs}, key=lambda c: (c[1] or math.inf, c[0])):
        some = [one for one in runs if (one["set"], one["size"]) == cell]
        ratio = [
            math.log(one["bridge"]["log_loss"] / min(one[side]["log_loss"] for side in ("logistic", "bayes")))
            for one in some
        ]
        gain = [
            one["bridge"]["accuracy"] - max(one[side]["accuracy"] for side in ("logistic", "bayes")) for one in some
        ]
        mean = {
            side: float(np.mean([one[side]["log_loss"] for one in some])) for side in ("bridge", "logistic", "bayes")
        }
        found[cell] = {
            "ratio": math.exp(np.mean(ratio)),
            "gain": 100 * float(np.mean(gain)),
            "seeds": len(some),
            **mean,
        }
    return found


def summary(found: dict[tuple[str, int], dict[str, float]]) -> list[str]:
    lines = []
    for many, (limit, share) in LIMITS.items():
        some = [cell["ratio"] for (_, size), cell in found.items() if (size == 0 or size >= 300) == many]
        if some:
            within = float(np.mean(np.array(some) <= limit))
            what = "from 300 rows on" if many else "below 300 rows"
            told = f"{within:.0%} of {len(some)} cells {what} have a ratio up to {limit} (wanted {share:.0%})"
            lines.append(f"{'yes' if within >= share else 'NO '}  {told}")
    if found:
        mean = math.exp(float(np.mean([math.log(cell["ratio"]) for cell in found.values()])))
        lines.append(
            f"{'yes' if mean < 0.97 else 'NO '}  the geometric mean of all ratios is {mean:.3f} (wanted: below 0.97)"
        )
    for size in sorted({size for _, size in found}, key=lambda n: n or math.inf):
        gain = float(np.mean([cell["gain"] for (_, n), cell in found.items() if n == size]))
        told = f"n = {size or 'all'}: accuracy {gain:+.2f} points against the better parent (wanted: -0.5 or more)"
        lines.append(f"{'yes' if gain >= -0.5 else 'NO '}  {told}")
    return lines


def ten_folds(name: str, shuffles: int) -> list[float]:
    """Accuracy of bigrams over ten folds, of each shuffle."""
    import evenodds as eo

    documents, found = text_data.load(name), []
    splits = documents.splits(shuffles)
    for at in range(0, len(splits), text_data.FOLDS):
        right = []
        for train, test in splits[at : at + text_data.FOLDS]:
            (x, y), (z, t) = documents.some(train), documents.some(test)
            right.append(np.mean(eo.NaiveLogistic(eo.Words(ngrams=2)).fit(x, y).predict(z) == t))
        found.append(100 * float(np.mean(right)))
        print(f"{name}, ten folds of bigrams, shuffle {len(found)}: {found[-1]:.2f}", flush=True)
    return found


def speed() -> dict[str, Any]:
    """20newsgroups, words and bigrams: seconds and log loss, one run each."""
    documents = text_data.load("20newsgroups")
    [(train, test)] = documents.splits()
    (x, y), (z, t) = documents.some(train), documents.some(test)
    import evenodds as eo

    found: dict[str, Any] = {}
    sides: dict[str, Any] = {"NaiveLogistic": eo.NaiveLogistic(eo.Words(ngrams=2))}
    for solver in ("saga", "lbfgs", "newton-cg"):
        classifier = LogisticRegression(solver=solver, C=100.0, tol=1e-2, max_iter=50)
        sides[f"LogisticRegression {solver}"] = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), classifier)
    for side, model in sides.items():
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x, y)
        seconds = time.perf_counter() - begin
        proba = model.predict_proba(z)
        found[side] = {"seconds": seconds, "log_loss": log_loss(t, proba, labels=model.classes_)}
        print(f"{side}: {seconds:.1f} s, log loss {found[side]['log_loss']:.4f}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="NaiveLogistic beside its parents")
    parser.add_argument("--sets", default=",".join([*TEXTS, *TABLES]), help="with commas between")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of rows; 0 is all")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=8.0, help="begin no new run after so long")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--folds", help="ten-fold accuracy of these sets instead")
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--speed", action="store_true", help="20newsgroups against scikit-learn's solvers instead")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/bridge.json")
    options = parser.parse_args()
    if options.speed:
        found: dict[str, Any] = {"speed": speed()}
    elif options.folds:
        found = {"folds": {name: ten_folds(name, options.shuffles) for name in options.folds.split(",")}}
    else:
        sizes = [int(size) for size in options.sizes.split(",")]
        table = cells(measure(options.sets.split(","), sizes, options.seeds, options.cache, options.minutes))
        names = ["ratio", "gain", "bridge", "logistic", "bayes", "seeds"]
        rows = [[name, str(size or "all"), *(f"{cell[n]:.4g}" for n in names)] for (name, size), cell in table.items()]
        print(report.table(["set", "rows", *names], rows))
        lines = summary(table)
        print("\n".join(lines))
        found = {"cells": [{"set": n, "rows": size, **cell} for (n, size), cell in table.items()], "summary": lines}
    if options.save:
        print(f"wrote {report.save('bridge', found)}")


if __name__ == "__main__":
    main()
