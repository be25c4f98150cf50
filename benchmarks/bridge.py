"""Is the bridge better than both its ends? NaiveLogistic beside tuned logistic regression and calibrated naive Bayes.

    python -m benchmarks.bridge [--sets sms,adult] [--sizes 30,100,300] [--seeds 3] [--minutes 8] [--save]
    python -m benchmarks.bridge --folds mr,subj [--shuffles 5]          accuracy, ten folds, bigrams
    python -m benchmarks.bridge --speed                                  20newsgroups against scikit-learn's solvers

A cell is a data set and a number of rows. For each seed that many rows are drawn, all sides learn the same, and are
judged on the same (up to 2,000) other rows whose class was seen. A number is the ratio of NaiveLogistic's log loss to
the better, on that seed, of

- logistic regression: tf-idf of words and bigrams, or one-hot categories and standardised numbers (missing ones are the
  mean, missing categories a value of their own); C of 0.01 to 100,000,000, to the second that is worse than the best,
  by five-fold cross-validated log loss; by Newton's steps, which end at the same weights as L-BFGS, sooner, and of
  texts in the products of rows (benchmarks/softmax.py), where the best weights are the same;
- naive Bayes: of scikit-learn's five (on text the three that take counts), that of the lowest cross-validated log loss
  after sigmoid calibration (`CalibratedClassifierCV`).

Ratios are averaged over the seeds geometrically; accuracy is compared with the parent that has the higher mean over a
cell's seeds (`gain`), and with the higher of each draw, the higher of two noisy ones (`gain_by_draw`). Seeds below 10
were looked at while the bridge was tuned; the table uses others. What was measured is kept in a cache file, a line for
each run of a side, so that a long table is made in several goes; `--minutes` bounds one.
"""

import argparse
import itertools
import json
import math
import time
import warnings
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from benchmarks import report, tables, text_data
from benchmarks.contenders import PEERS
from benchmarks.softmax import FINE, ROUGH, Softmax

TEXTS = ["mr", "subj", "sst", "trec", "20newsgroups", "r8", "webkb", "sms", "enron1"]
TABLES = [
    "adult", "spambase", "german_credit", "pima_diabetes", "vehicle", "segment", "waveform5000", "mushroom", "nursery",
    "car", "titanic",
]  # fmt: skip
SIZES = [30, 100, 300, 1_000, 3_000, 0]  # 0: all but the rows that are judged
JUDGED = 2_000
SOLVER = "newton-cg"
STRENGTHS = [10.0**k for k in range(-2, 9)]  # scikit-learn's C
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


class TunedLogistic:
    """Logistic regression with the C of the lowest cross-validated log loss; each fold's columns are made once."""

    def __init__(self, rows: Rows) -> None:
        if rows.is_text:
            self.columns: Any = make_pipeline(Known(), TfidfTransformer(sublinear_tf=True))
        else:
            numbers = make_pipeline(SimpleImputer(), StandardScaler())
            values = make_pipeline(
                SimpleImputer(strategy="constant", fill_value="missing"), OneHotEncoder(handle_unknown="ignore")
            )
            self.columns = make_column_transformer(
                (numbers, rows.table.of_type("numeric")), (values, rows.table.of_type("nominal"))
            )
        self.words = CountVectorizer(ngram_range=(1, 2)) if rows.is_text else None
        self.rows = rows

    def fit(self, x: Any, y: npt.NDArray[np.str_]) -> "TunedLogistic":
        """Choose, and learn all rows."""
        x = x.reset_index(drop=True) if self.words is None else self.words.fit_transform(x)
        made = []
        for kept, out in folds_of(y).split(y, y):
            columns = clone(self.columns)
            fitted = self._one(columns.fit_transform(_some(x, kept)), y[kept], ROUGH)
            made.append((fitted, columns.transform(_some(x, out)), y[out]))
        losses: list[float] = []
        # each strength begins with the weights of the last, and past the best there is no more to see
        for self.best in STRENGTHS:
            said = [(t, fit(self.best), z) for fit, z, t in made]
            losses.append(sum(log_loss(t, m.predict_proba(z), labels=m.classes_) for t, m, z in said))
            if len(losses) > 2 and min(losses[-2:]) > min(losses):
                break
        self.best, self.classes_ = STRENGTHS[int(np.argmin(losses))], np.unique(y)
        self.model = self._one(self.columns.fit_transform(x), y, FINE)(self.best)
        return self

    def _one(self, x: Any, y: npt.NDArray[np.str_], tolerance: float) -> Callable[[float], Any]:
        """What fits these rows for one C after the other."""
        if self.rows.is_text:
            return Softmax(x, y, tolerance).fit
        model = LogisticRegression(solver=SOLVER, max_iter=2_000, tol=1e-7, warm_start=True)
        return lambda strength: model.set_params(C=strength).fit(x, y)

    def predict_proba(self, x: Any) -> Any:
        """What the chosen one says, once it has learnt all rows."""
        x = x if self.words is None else self.words.transform(x)
        return self.model.predict_proba(self.columns.transform(x))


def _some(x: Any, at: npt.NDArray[np.intp]) -> Any:
    return x[at] if issparse(x) else x.iloc[at]


class Known(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of counts that have any at fit: as if the texts had been cut into words then."""

    def fit(self, x: Any, y: Any = None) -> "Known":
        """See which those are."""
        self.kept_ = np.flatnonzero(x.getnnz(axis=0))
        return self

    def transform(self, x: Any) -> Any:
        """Those alone."""
        return x[:, self.kept_]


class BestNaiveBayes:
    """The calibrated naive Bayes of the lowest cross-validated log loss."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def fit(self, x: Any, y: npt.NDArray[np.str_]) -> "BestNaiveBayes":
        """Choose, and learn all rows."""
        self.words = CountVectorizer(ngram_range=(1, 2)) if self.rows.is_text else None
        if self.words is not None:  # texts are cut once; each fold knows the words of its own
            x = self.words.fit_transform(x)
            made = [make_pipeline(Known(), kind) for kind in (MultinomialNB(), ComplementNB(), BernoulliNB())]
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
        return self.best.predict_proba(x if self.words is None else self.words.transform(x))


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
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SIDES[side](rows).fit(x, y)
        proba = np.asarray(model.predict_proba(z))
    seconds = time.perf_counter() - begin
    loss = float(log_loss(t, proba, labels=model.classes_))
    right = float(np.mean(model.classes_[proba.argmax(axis=1)] == t))
    found = {"set": rows.name, "size": size, "seed": seed, "side": side, "rows": len(learnt)}
    if isinstance(model, TunedLogistic):
        found["C"] = model.best
    return {**found, "log_loss": loss, "accuracy": right, "seconds": round(seconds, 2)}


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
        drawn = float(np.mean([cell["gain_by_draw"] for (_, n), cell in found.items() if n == size]))
        told = f"n = {size or 'all'}: accuracy {gain:+.2f} points against the better parent (wanted: -0.5 or more)"
        told += f"; {drawn:+.2f} where the better parent is named anew for each draw"
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
            words = eo.Words(ngrams=2, min_length=1, punctuation=True)  # the sets' own tokens: words and marks
            right.append(np.mean(eo.NaiveLogistic(words).fit(x, y).predict(z) == t))
        found.append(100 * float(np.mean(right)))
        print(f"{name}, ten folds of bigrams, shuffle {len(found)}: {found[-1]:.2f}", flush=True)
    return found


def speed(only: str) -> dict[str, Any]:
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
        sides = {name: model for name, model in sides.items() if any(part in name for part in only.split(","))}
    for side, model in sides.items():
        begin, busy = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x, y)
        seconds, processor = time.perf_counter() - begin, time.process_time() - busy
        loss = float(log_loss(t, model.predict_proba(z), labels=model.classes_))
        found[side] = {"seconds": seconds, "processor_seconds": processor, "log_loss": loss}
        print(f"{side}: {seconds:.1f} s, of the processor {processor:.1f} s, log loss {loss:.4f}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="NaiveLogistic beside its parents")
    parser.add_argument("--sets", default=",".join([*TEXTS, *TABLES]), help="with commas between")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of rows; 0 is all")
    parser.add_argument("--seeds", type=int, default=10, help="how many")
    parser.add_argument("--first", type=int, default=10, help="the first of them; those below were used to tune")
    parser.add_argument("--sides", default=",".join(SIDES), help="which to measure; a table needs all three")
    parser.add_argument("--minutes", type=float, default=8.0, help="begin no new run after so long")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--folds", help="ten-fold accuracy of these sets instead")
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--speed", action="store_true", help="20newsgroups against scikit-learn's solvers instead")
    parser.add_argument(
        "--only", default="", help="of --speed, the sides whose name has one of these, with commas between"
    )
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/bridge.json")
    options = parser.parse_args()
    if options.speed:
        found: dict[str, Any] = {"speed": speed(options.only)}
    elif options.folds:
        found = {"folds": {name: ten_folds(name, options.shuffles) for name in options.folds.split(",")}}
    else:
        sizes = [int(size) for size in options.sizes.split(",")]
        seeds = range(options.first, options.first + options.seeds)
        told = (options.sets.split(","), sizes, seeds, options.sides.split(","))
        table = cells(measure(*told, options.cache, options.minutes))
        names = ["ratio", "gain", "gain_by_draw", "bridge", "logistic", "bayes", "seeds"]
        rows = [[name, str(size or "all"), *(f"{cell[n]:.4g}" for n in names)] for (name, size), cell in table.items()]
        print(report.table(["set", "rows", *names], rows))
        lines = summary(table)
        print("\n".join(lines))
        found = {"cells": [{"set": n, "rows": size, **cell} for (n, size), cell in table.items()], "summary": lines}
    if options.save:
        old = report.RESULTS / "bridge.json"
        known = json.loads(old.read_text()) if old.exists() else {}
        kept = {name: part for name, part in known.items() if name != "environment"}  # folds and speed are other goes
        for name, part in found.items():
            kept[name] = {**kept.get(name, {}), **part} if isinstance(part, dict) else part
        found = kept
        print(f"wrote {report.save('bridge', found)}")


if __name__ == "__main__":
    main()
