"""How good are the odds of texts? Accuracy, log loss, time and memory on nine published sets, beside scikit-learn.

    python -m benchmarks.text_accuracy [--sets mr,sms] [--quick] [--peers FILE] [--save]

Published splits where there are any (20newsgroups by date, R8, WebKB, TREC); else StratifiedKFold(10, shuffle=True),
for MR and Subj, ours, five shuffles of it, as Wang & Manning (2012) report a mean: each word once a text, alpha 1, the
tokens that come with the sets, which are words and marks set apart. A number is the mean over splits.

scikit-learn tunes: alpha, or C, is chosen from a grid by 5 folds (3 for logistic regression) of the rows to learn, all
on one vectorisation of them. Its seconds are those of vectorising, choosing and fitting, as a user pays them; ours
those of fitting and of the first prediction with smoothing="auto", which chooses from the counts alone. Every pair of
a set and a contender is a process of its own, warmed on 200 documents; memory is the highest extra of its first split
(fit and predict).

The best alpha of the grid, for the gap of "auto", is chosen on the very rows that judge: no honest choice is as good.
With --peers FILE scikit-learn's results are kept in a file, and read from there when they are in it.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

from benchmarks import report, text_data
from benchmarks.memory import peak_extra
from benchmarks.timing import ProcessError, fresh, once

ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
STRENGTHS = {"counts": (0.03, 0.3, 3.0), "tf-idf": (1.0, 10.0, 100.0)}  # C
EVENTS = ("counts", "present", "bernoulli", "complement")
PUBLISHED = {"mr": 79.0, "subj": 93.6}  # Wang & Manning 2012, multinomial, (1,2)-grams
SHUFFLES = 5
QUICK = ["sms", "trec"]
WARM = 200  # documents

Result = dict[str, Any]
Make = Callable[[], Any]


def _bayes(kind: Any, ngrams: int, binary: bool) -> Make:
    def make() -> Any:
        search = GridSearchCV(kind(), {"alpha": ALPHAS}, cv=5)
        return make_pipeline(CountVectorizer(ngram_range=(1, ngrams), binary=binary), search)

    return make


def _logistic(vectors: Any, strengths: tuple[float, ...]) -> Make:
    def make() -> Any:
        search = GridSearchCV(LogisticRegression(max_iter=300, tol=1e-3), {"C": strengths}, cv=3)
        return make_pipeline(vectors(), search)

    return make


PEERS: dict[str, Make] = {
    f"{kind.__name__}, {what}, {'words' if ngrams == 1 else '(1,2)'}": _bayes(kind, ngrams, what == "0/1")
    for kind, what in (
        (MultinomialNB, "counts"),
        (MultinomialNB, "0/1"),
        (ComplementNB, "counts"),
        (ComplementNB, "0/1"),
        (BernoulliNB, "0/1"),
    )
    for ngrams in (1, 2)
}
PEERS |= {
    "LogisticRegression, counts, words": _logistic(CountVectorizer, STRENGTHS["counts"]),
    "LogisticRegression, tf-idf, words": _logistic(TfidfVectorizer, STRENGTHS["tf-idf"]),
}
OURS: dict[str, dict[str, Any]] = {
    f"ours, {e}, {'words' if n == 1 else '(1,2)'}": {"events": e, "ngrams": n} for e in EVENTS for n in (1, 2)
}
# as the published figures have them, for mr and subj alone: each word once a text; one-letter words, or marks, too;
# and texts of one length, which the published ones are not
SAME: dict[str, dict[str, Any]] = {
    "ours, present, (1,2), every word": {"events": "present", "ngrams": 2, "min_length": 1},
    "ours, present, (1,2), words and marks": {"events": "present", "ngrams": 2, "min_length": 1, "punctuation": True},
    "ours, present, (1,2), words and marks, normalised": {
        "events": "present",
        "ngrams": 2,
        "min_length": 1,
        "punctuation": True,
        "length": "normalised",
    },
}
OURS |= SAME


def ours(name: str) -> Any:
    """Our naive Bayes as it comes: smoothing="auto"."""
    import evenodds as eo

    return eo.NaiveBayes(columns=eo.Words(**OURS[name]))


def measure_here(set_: str, name: str, shuffles: int, most: int | None) -> Result:
    """One contender on one set, in this process, which should be a fresh one."""
    documents = text_data.load(set_)
    mine = name in OURS
    make: Make = (lambda: ours(name)) if mine else PEERS[name]
    some = documents.some(np.linspace(0, len(documents.texts) - 1, WARM).astype(np.intp))
    if mine:  # compiled code is then there
        ours(name).fit(*some).predict_proba(some[0])
    right: list[Any] = []
    found: dict[str, list[float]] = {"accuracy": [], "log_loss": [], "fit_seconds": [], "predict_seconds": []}
    grid: dict[float, list[Any]] = {alpha: [] for alpha in ALPHAS}
    extra = 0
    for train, test in documents.splits(shuffles)[:most]:
        (texts, y), (new, truth) = documents.some(train), documents.some(test)

        def learn_and_judge(texts: Any = texts, y: Any = y, new: Any = new) -> tuple[Any, Any, float, float]:
            fitted, model = once(lambda: make().fit(texts, y))
            judged, proba = once(lambda: np.asarray(model.predict_proba(new)))
            return model, proba, fitted.seconds, judged.seconds

        kept: list[Any] = []
        if extra:
            kept.append(learn_and_judge())
        else:
            extra = peak_extra(lambda: kept.append(learn_and_judge()))  # noqa: B023  called at once
        model, proba, fit_seconds, predict_seconds = kept[0]
        hit = model.classes_[proba.argmax(axis=1)] == truth
        right.append(hit)
        found["accuracy"].append(float(hit.mean()))
        found["log_loss"].append(float(log_loss(truth, proba, labels=model.classes_)))
        found["fit_seconds"].append(fit_seconds)
        found["predict_seconds"].append(predict_seconds)
        if mine:
            for alpha in ALPHAS:
                log_p = model.model_.set(smoothing=alpha).log_proba(new)
                grid[alpha].append(model.classes_[log_p.argmax(axis=1)] == truth)
    result: Result = {metric: float(np.mean(numbers)) for metric, numbers in found.items()}
    result |= {"set": set_, "contender": name, "splits": len(right), "extra_bytes": extra}
    return {**result, **(gap(np.concatenate(right), {a: np.concatenate(g) for a, g in grid.items()}) if mine else {})}


def gap(auto: Any, grid: dict[float, Any]) -> Result:
    """By how much the best alpha of the grid is more often right than "auto", and the standard error of that.

    >>> yes, no = np.ones(4, bool), np.zeros(4, bool)
    >>> found = gap(no, {0.1: no, 1.0: yes})
    >>> found["best_alpha"], found["gap"], found["gap_error"]
    (1.0, 1.0, 0.0)
    """
    best = max(grid, key=lambda alpha: grid[alpha].mean())
    difference = grid[best].astype(float) - auto
    return {
        "best_alpha": best,
        "best_accuracy": float(grid[best].mean()),
        "gap": float(difference.mean()),
        "gap_error": float(difference.std()) / math.sqrt(len(difference)),
    }


def measure(set_: str, name: str, most: int | None) -> Result:
    """One contender on one set, in a process of its own."""
    shuffles = SHUFFLES if name in OURS and set_ in PUBLISHED else 1
    told = ["--one", name, "--sets", set_, "--shuffles", str(shuffles), *(["--most", str(most)] if most else [])]
    # threads of BLAS wait for each other by spinning: with them logistic regression took 30 times as long on busy cores
    single = {} if name in OURS else {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        result: Result = fresh("text_accuracy", *told, environment=single)
    except ProcessError as error:
        return {"set": set_, "contender": name, "error": str(error)}
    return result


def collect(sets: list[str], names: list[str], most: int | None, cache: Path | None) -> list[Result]:
    """All results; those of peers are read from the cache where it has them, and kept in it."""
    known: dict[str, Result] = json.loads(cache.read_text()) if cache and cache.exists() else {}
    results = []
    for set_ in sets:
        for name in (name for name in names if name not in SAME or set_ in PUBLISHED):
            key = f"{set_}: {name}: {most}"
            if name in OURS or key not in known:
                known[key] = measure(set_, name, most)
            results.append(known[key])
            if cache:
                kept = {k: r for k, r in known.items() if r["contender"] in PEERS and "error" not in r}
                cache.write_text(json.dumps(kept, indent=1))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return results


def shown(result: report.Result) -> str:
    """Of every set the most accurate of each side; what was published; how good "auto" is."""
    results = [one for one in result["results"] if "error" not in one]
    errors = [f"- {one['contender']} on {one['set']}: {one['error']}" for one in result["results"] if "error" in one]
    rows = [
        [set_, *(_best(results, set_, kind) for kind in ("ours, ", "NB, ", "LogisticRegression, "))]
        for set_ in dict.fromkeys(one["set"] for one in results)
    ]
    published = [
        f"- {one['set'].upper()}, {one['contender'].removeprefix('ours, ')}: {100 * one['accuracy']:.2f} "
        f"(published {PUBLISHED[one['set']]}), {one['splits']} splits"
        for one in results
        if one["contender"] in SAME
    ]
    own = [one for one in results if "gap" in one]
    return report.blocks(
        report.table(["", "ours", "scikit-learn's best naive Bayes", "its best logistic regression"], rows, left=4),
        "As Wang and Manning (2012) have them, accuracy in %:" if published else "",
        "\n".join(published),
        _auto(own) if own else "",
        "\n".join(errors),
    )


def _best(results: list[Result], set_: str, kind: str) -> str:
    """The most accurate of one side: its accuracy, log loss, seconds to fit and memory."""
    own = [r for r in results if r["set"] == set_ and kind in r["contender"] and r["contender"] not in SAME]
    if not own:
        return ""
    best = max(own, key=lambda r: float(r["accuracy"]))
    who = best["contender"].removeprefix("ours, ").removeprefix("LogisticRegression, ").replace("NB,", ",")
    figures = f"{100 * best['accuracy']:.1f} %, {best['log_loss']:.2f}, {best['fit_seconds']:.2f} s"
    return f"{who}: {figures}, {best['extra_bytes'] / 1e6:,.0f} MB"


def _auto(own: list[Result]) -> str:
    """How far smoothing="auto" is from the best alpha of the grid."""
    mean, worst = float(np.mean([one["gap"] for one in own])), max(own, key=lambda one: float(one["gap"]))
    better = "better" if mean < 0 else "worse"
    return report.paragraph(
        f'`smoothing="auto"` is on the average {100 * abs(mean):.2f} points {better} than the best alpha of the grid,',
        f"which is chosen on the rows that judge; its largest gap is {100 * worst['gap']:.2f} ±",
        f"{100 * worst['gap_error']:.2f} points ({worst['set']}, {worst['contender'].removeprefix('ours, ')}).",
    )


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--sets", type=report.names, help=f"some of {','.join(text_data.FILES)}")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}, and one split of each")
    parser.add_argument("--only", choices=("ours", "peers"), help="one side alone")
    parser.add_argument("--peers", type=Path, help="a file that keeps scikit-learn's results between runs")
    parser.add_argument("--most", type=int, help="no more than so many splits of each set")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--shuffles", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    sets = given.sets or (QUICK if given.quick else list(text_data.FILES))
    if given.one:
        print(json.dumps(measure_here(sets[0], given.one, given.shuffles, given.most)))
        return
    most = given.most or (1 if given.quick else None)
    names = [*([] if given.only == "peers" else OURS), *([] if given.only == "ours" else PEERS)]
    results = collect(sets, names, most, given.peers)
    report.finish("text_accuracy", {"alphas": ALPHAS, "results": results}, shown, given.save)


if __name__ == "__main__":
    main()
