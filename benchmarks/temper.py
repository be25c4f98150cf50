"""Log loss and accuracy of naive Bayes before and after tempering, beside temperature calibration by scikit-learn.

    python -m benchmarks.temper --save
    python -m benchmarks.temper --tables --save

Texts are words and pairs (`Words(ngrams=2)`), judged on the published test set or on the first of ten folds; how honest
the odds are (excess ECE, slope), on that test set or on all ten folds, each held out in turn, the mean of five
shuffles: 600 mails of which five are judged wrongly say little of it, and 6,000 not enough (slopes of .88 to .98 on
Enron 4). Where a test set is published, the same is told of ten random folds of all rows ("random"): what is wrong
there is the temper's fault, what is wrong only on the test set is a change between the two. The error of a slope is
that of rows drawn again with replacement. The time of tempering is that of a fit with it less that of one without,
beside the time of the fit and its estimate ("a pass"), on one thread, by the processor's clock: the fastest of fifteen
of each, in turns.

`--tables` tells how honest the odds are on tables and one collection more, tempered and of the bridge, and the time of
tempering: of a table in memory, of its CSV file, and in memory of its rows repeated until they are a million.
"""

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import evenodds as eo
from benchmarks import report, text_data
from benchmarks.bridge import TABLES, bridge
from benchmarks.parents import Rows
from benchmarks.timing import once
from evenodds.audit.metrics import Metrics, tally

SETS = ("sms", "enron1", "enron4", "subj", "mr", "trec", "webkb", "r8", "20newsgroups")
SHUFFLES = 5
WORDS = eo.Words(ngrams=2)
MANY = 1_000_000  # rows of a table that is repeated
FEW = 2_000  # rows, of which one shuffle says little
FAR = 0.01  # excess calibration errors above it are told one by one
DRAWS = 20  # of labels from the model's own probabilities


def fitted(x: Any, y: Any, temper: bool, columns: Any = WORDS) -> tuple[Any, float]:
    """A model that is ready to answer, and how long that took."""

    def estimated() -> Any:
        model = eo.NaiveBayes(columns, temper=temper, threads=1).fit(x, y)
        model.model_.scorer  # noqa: B018
        return model

    took, model = once(estimated)
    return model, took.cpu


def passes(x: Any, y: Any, columns: Any = WORDS, turns: int = 15) -> dict[str, float]:
    """The seconds of a pass, and those that tempering adds to it. No model stays: its memory serves the next."""
    each = [[fitted(x, y, temper, columns)[1] for temper in (False, True)] for _ in range(turns)]
    plain, tempered = map(min, zip(*each))
    return {"pass": plain, "temper": tempered - plain}


def ece(classes: Any, truth: Any, log_p: Any) -> float:
    """The calibration error of the most probable class."""
    return float(Metrics.of(tally(pa.array(truth), log_p, classes), classes).ece)


def excess(classes: Any, truth: Any, log_p: Any, seed: int = 0) -> float:
    """The calibration error, less the mean of what labels drawn from the model's own probabilities show."""
    rng = np.random.default_rng(seed)
    edges = np.exp(log_p).cumsum(axis=1)
    drawn = [
        ece(classes, classes[np.minimum((edges < rng.random((len(edges), 1))).sum(axis=1), len(classes) - 1)], log_p)
        for _ in range(DRAWS)
    ]
    return ece(classes, truth, log_p) - float(np.mean(drawn))


def slope(y: Any, log_p: Any) -> float:
    """The power of the odds under which the truth is most probable: 1 for honest ones."""
    from scipy.optimize import minimize_scalar

    own = np.arange(len(y)), y

    def cost(a: float) -> float:
        z = a * log_p
        z = z - z.max(axis=1, keepdims=True)
        return float((np.log(np.exp(z).sum(axis=1)) - z[own]).mean())

    return float(minimize_scalar(cost, bounds=(0.02, 5), method="bounded").x)


def honesty(documents: text_data.Documents, temper: bool, shuffles: int = 1) -> dict[str, float]:
    """How far the odds of all rows that are held out are to be believed: the mean over shuffles into ten folds."""
    splits = documents.splits(shuffles)
    folds = len(splits) // shuffles
    slopes, excesses, error = [], [], 0.0
    for first in range(0, len(splits), folds):
        labels, found = [], []
        for train, test in splits[first : first + folds]:
            texts, y = documents.some(train)
            model = fitted(pa.array(texts), y, temper)[0]
            new, truth = documents.some(test)
            found.append(model.predict_log_proba(new))
            labels.append(truth)
        classes, truth, log_p = model.classes_, np.concatenate(labels), np.concatenate(found)
        codes, rng = np.searchsorted(classes, truth), np.random.default_rng(0)
        slopes.append(slope(codes, log_p))
        excesses.append(excess(classes, truth, log_p))
        if first == 0:  # the rows are the same in every shuffle: their error does not become less
            drawn = rng.integers(0, len(codes), (DRAWS, len(codes)))
            error = float(np.std([slope(codes[rows], log_p[rows]) for rows in drawn]))
    return {
        "excess_ece": float(np.mean(excesses)),
        "slope": float(np.mean(slopes)),
        "slope_error": error,
        "judged": len(truth),
    }


def measure(name: str, peer: bool) -> dict[str, Any]:
    """One set."""
    documents = text_data.load(name)
    train, test = documents.splits()[0]
    (texts, y), (new, truth) = documents.some(train), documents.some(test)
    column = pa.array(texts)
    out: dict[str, Any] = {"set": name, "rows": len(y), **passes(column, y)}
    for label, temper in (("plain", False), ("tempered", True)):
        model = fitted(column, y, temper)[0]
        log_p = model.predict_log_proba(new)
        codes = np.searchsorted(model.classes_, truth)
        out[label] = {
            "log_loss": float(-log_p[np.arange(len(truth)), codes].mean()),
            "accuracy": float((log_p.argmax(axis=1) == codes).mean()),
            **honesty(documents, temper, SHUFFLES if documents.held_out is None else 1),
        }
    if documents.held_out is not None:
        out["random"] = honesty(documents._replace(held_out=None), True)
    if peer:
        base = make_pipeline(CountVectorizer(ngram_range=(1, 2)), MultinomialNB())
        found = CalibratedClassifierCV(base, method="temperature", cv=5, ensemble=False).fit(texts, y)
        p = found.predict_proba(new)
        scores = log_loss(truth, p, labels=found.classes_), accuracy_score(truth, found.classes_[p.argmax(axis=1)])
        out["temperature"] = dict(zip(("log_loss", "accuracy"), map(float, scores)))
    return out


def held_out(rows: Rows, make: Callable[[], Any], shuffles: int) -> dict[str, float]:
    """How far the odds of a set's rows are to be believed, each held out in one of ten folds: the mean of shuffles."""
    classes, slopes, excesses, wrong = np.unique(rows.y), [], [], []
    truth = np.searchsorted(classes, rows.y)
    for seed in range(shuffles):
        log_p = np.full((len(rows.y), len(classes)), -700.0)
        for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(rows.y, rows.y):
            model = make().fit(rows.some(train), rows.y[train])
            known = np.searchsorted(classes, model.classes_)
            log_p[np.ix_(test, known)] = np.maximum(model.predict_log_proba(rows.some(test)), -700.0)
        slopes.append(slope(truth, log_p))
        excesses.append(excess(classes, rows.y, log_p))
        wrong.append((log_p.argmax(axis=1) != truth).sum())
    means = np.mean([excesses, slopes, wrong], axis=1).tolist()
    return dict(zip(("excess_ece", "slope", "wrong"), means))


def of_table(name: str, shuffles: int) -> dict[str, Any]:
    """One table, or one collection more."""
    rows = Rows(name)
    families = {"numeric": eo.Binned, "nominal": eo.Categorical}
    columns = WORDS if rows.is_text else {x: families[kind] for x, kind in rows.table.types.items()}
    out: dict[str, Any] = {"set": name, "rows": len(rows.y)}
    out["tempered"] = held_out(rows, lambda: eo.NaiveBayes(columns, temper=True), shuffles)
    out["bridge"] = held_out(rows, lambda: bridge(rows), shuffles if len(rows.y) < FEW else 1)
    if not rows.is_text:
        table = pa.Table.from_pandas(rows.some(np.arange(len(rows.y))), preserve_index=False)
        many = -(-MANY // len(rows.y))
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "rows.csv")
            csv.write_csv(table.append_column("its class", pa.array(map(str, rows.y))), file)
            out["file"] = passes(file, "its class", columns)
        out["memory"] = passes(table, rows.y, columns)
        repeated = pa.concat_tables([table] * many).combine_chunks()
        out["million"] = passes(repeated, np.tile(rows.y, many), columns, 3)
    return out


def _passes(one: dict[str, float]) -> float:
    """What tempering takes, in fits without it."""
    return one["temper"] / one["pass"]


def _honest(one: dict[str, float] | None) -> str:
    """Excess calibration error and slope."""
    if one is None:
        return ""
    error = f" ± {one['slope_error']:.2f}" if "slope_error" in one else ""
    return f"{one['excess_ece']:+.3f}, {one['slope']:.2f}{error}"


def shown(result: report.Result) -> str:
    """Every set."""
    head = ["set", "rows", "plain", "scikit-learn, temperature", "tempered", "excess ECE, slope", "random", "passes"]
    rows = []
    for one in result["results"]:
        sides = [one["plain"], one.get("temperature"), one["tempered"]]
        scores = [f"{x['log_loss']:.3f} / {100 * x['accuracy']:.1f}" if x else "" for x in sides]
        honest = [_honest(one["tempered"]), _honest(one.get("random"))]
        rows.append([one["set"], f"{one['rows']:,}", *scores, *honest, f"{_passes(one):.2f}"])
    return report.table(head, rows)


def shown_tables(result: report.Result) -> str:
    """Every table."""
    head = ["set", "rows", "tempered: excess ECE, slope", "bridge", "passes: CSV file", "in memory", "a million rows"]
    rows = []
    for one in result["results"]:
        times = [
            f"{1e3 * one[x]['temper']:.0f} / {1e3 * one[x]['pass']:.0f} ms = {_passes(one[x]):.2f}" if x in one else ""
            for x in ("file", "memory", "million")
        ]
        rows.append([one["set"], f"{one['rows']:,}", _honest(one["tempered"]), _honest(one["bridge"]), *times])
    return report.table(head, rows)


def honest_texts(result: report.Result) -> str:
    """How far tempered odds of texts are to be believed, in sentences."""

    def told(one: dict[str, Any]) -> str:
        folds = f"; on ten random folds of all its rows {_honest(one['random'])}" if "random" in one else ""
        return f"{one['set']}: {_honest(one['tempered'])}{folds}."

    return _within(result["results"], "set", told)


def honest_tables(result: report.Result) -> str:
    """The same of tables, and of the bridge; and what tempering takes."""
    found = result["results"]

    def told(one: dict[str, Any]) -> str:
        return f"{one['set']}, {one['rows']:,} rows: {_honest(one['tempered'])}; the bridge {_honest(one['bridge'])}."

    sure = [one["set"] for one in found if not one["bridge"]["wrong"]]
    slopes = [one["bridge"]["slope"] for one in found if one["set"] not in sure]
    of_bridge = [
        "The odds of [`NaiveLogistic`](bridge.md) are within",
        f"{max(abs(one['bridge']['excess_ece']) for one in found):.3f} on all of them, with slopes of",
        report.span(slopes, "{:.2f}".format)
        + (f"; {report.listed(sure)} it tells without a mistake, so that no slope is steep enough." if sure else "."),
    ]
    file, memory = (
        report.span((_passes(one[how]) for one in found if how in one), "{:.2f}".format) for how in ("file", "memory")
    )
    learnt = report.span((1e3 * one["memory"]["pass"] for one in found if "memory" in one), "{:.0f}".format)
    cost = [
        f"Tempering adds {file} of the time of a fit to tables in CSV files, and {memory} of it to the same tables in",
        f"memory, which are learnt in {learnt} ms.",
    ]
    return report.blocks(_within(found, "table", told), report.paragraph(*of_bridge), report.paragraph(*cost))


def _within(found: list[dict[str, Any]], what: str, told: Callable[[dict[str, Any]], str]) -> str:
    """What holds of most, and those of which it does not, one by one."""
    far = [one for one in found if abs(one["tempered"]["excess_ece"]) > FAR]
    near = [one["tempered"] for one in found if one not in far]
    worst = max(abs(one["excess_ece"]) for one in near)
    slopes = report.span((one["slope"] for one in near), "{:.2f}".format)
    but = f", but for {len(far)} {what}{'s' * (len(far) > 1)}:" if far else "."
    most = report.paragraph(
        f"Of rows that are held out, the calibration error is within {worst:.3f} of what labels drawn from the model's",
        f"own probabilities show, and slopes are {slopes}{but}",
    )
    return report.blocks(most, "\n".join(f"- {told(one)}" for one in far))


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--sets", type=report.names, help="some, with commas between")
    parser.add_argument("--no-peer", action="store_true", help="without scikit-learn's calibration")
    parser.add_argument("--tables", action="store_true", help="tables instead of texts")
    given = parser.parse_args()
    if given.tables:
        results = [of_table(name, 3) for name in given.sets or ("sst", *TABLES)]
        report.finish("temper_tables", {"results": results}, shown_tables, given.save)
        return
    some = text_data.load("sms").texts[:500]
    eo.NaiveBayes(WORDS, temper=True).fit(some, ["a", "b"] * 250).predict_proba(some)  # compiled
    results = [measure(name, not given.no_peer) for name in given.sets or SETS]
    report.finish("temper", {"results": results}, shown, given.save)


if __name__ == "__main__":
    main()
