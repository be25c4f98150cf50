"""How fast text is counted and weighed, beside scikit-learn in the same run; and two vocabularies added.

    python -m benchmarks.text_kernels [--set enron:2] [--copies 3] [--repeat 3] [--save]

20 newsgroups and Enron mail, repeated; MB are of UTF-8. Each figure is the best of a few runs in a warm process, the
two libraries taking turns. One core is measured in processor seconds, two in seconds: on a machine with other work to
do the second say little.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.naive_bayes import MultinomialNB

from benchmarks import report, text_data
from benchmarks.tables import data_folder
from benchmarks.timing import Time, best_of
from evenodds.labels import Keys
from evenodds.text.bags import bags
from evenodds.text.count import count
from evenodds.text.counts import Counts
from evenodds.text.score import Weights
from evenodds.text.tables import Links, Sorted
from evenodds.text.tokenise import Tokens
from evenodds.texts import Texts

FILES = {
    "20newsgroups": text_data.FILES["20newsgroups"],
    "enron": [*text_data.FILES["enron1"], *text_data.FILES["enron4"]],
}
ENTRIES = 7_000_000  # n-grams of a vocabulary
Run = Callable[[], object]


def load(name: str) -> tuple[list[str], np.ndarray[Any, Any]]:
    """The documents of a set, and their classes as codes."""
    table = pd.concat([pd.read_csv(data_folder() / file) for file in FILES[name]])
    return table["text"].fillna("").astype(str).tolist(), pd.factorize(table["label"])[0]


def fit(texts: Texts, classes: np.ndarray[Any, Any], n: int, **how: Any) -> tuple[Keys, np.ndarray[Any, Any]]:
    """Counts to smoothed log-probabilities: all that MultinomialNB does in its fit."""
    keys, weights = count(texts, classes, n, **how).matrix(np.float64)
    weights += 1.0
    totals = weights.sum(axis=0)
    np.log(weights, out=weights)
    weights -= np.log(totals)
    return keys, weights


def learn(vectors: Any, documents: list[str], codes: np.ndarray[Any, Any]) -> None:
    MultinomialNB().fit(vectors.fit_transform(documents), codes)


def compare(name: str, classes: int, repeat: int, copies: int) -> dict[str, Any]:
    """Megabytes a second of ours and of theirs, on one core and on two."""
    some, codes = load(name)
    codes = codes if classes > 2 else (codes > codes.max() // 2).astype(np.int64)
    n, documents, codes = int(codes.max()) + 1, some * copies, np.tile(codes, copies)
    texts = Texts.of(documents)
    size = len(texts.blob) / 1e6
    found: dict[str, Any] = {"set": name, "classes": n, "megabytes": size, "speeds": {}}
    pairs = Tokens(ngrams=2)
    settings: dict[str, tuple[Any, dict[str, Any]]] = {
        "exact words": (CountVectorizer(), {}),
        "exact (1,2)-grams": (CountVectorizer(ngram_range=(1, 2)), {"options": pairs}),
        "hashed (1,2)-grams": (
            HashingVectorizer(ngram_range=(1, 2), alternate_sign=False, norm=None),
            {"options": pairs, "buckets": 1 << 20},
        ),
    }
    for title, (vectors, how) in settings.items():
        runs: dict[str, Run] = {"theirs": partial(learn, vectors, documents, codes)}
        runs |= {f"{t}": partial(fit, texts, codes, n, threads=t, **how) for t in (1, 2)}
        found["speeds"][title] = speeds(size, best_of(runs, repeat))
    vectors = CountVectorizer()
    model = MultinomialNB().fit(vectors.fit_transform(documents), codes)
    weights = Weights(*fit(texts, codes, n))
    runs = {"theirs": lambda: model.predict_log_proba(vectors.transform(documents))}
    runs |= {f"{t}": partial(weights.score, texts, threads=t) for t in (1, 2)}
    found["speeds"]["predict, words"] = speeds(size, best_of(runs, repeat))
    times = best_of({"bags": partial(bags, texts), "count": partial(count, texts, codes, n)}, repeat)
    return {**found, "bags": times["bags"].cpu / times["count"].cpu}


def speeds(size: float, times: dict[str, Time]) -> dict[str, list[float]]:
    """By who: on one core by its seconds of the processor, on two by the clock."""
    theirs = times["theirs"]
    return {
        "ours": [size / times["1"].cpu, size / times["2"].seconds],
        "scikit-learn": [size / theirs.cpu, size / theirs.seconds],
    }


def add(entries: int, repeat: int) -> dict[str, float]:
    """Seconds to add two vocabularies of many n-grams, three quarters in both; with their links, and lists alone."""
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(1, 2**64 - 1, entries * 4 // 3, dtype=np.uint64))
    sides = []
    for _ in range(2):
        own = np.sort(rng.choice(keys, entries, replace=False))
        one = Sorted(own, np.ones(len(own), np.int64))
        nothing = Counts.nothing(1)
        sides.append(Counts((one,), nothing.documents, nothing.lexicon, Links(own, own * np.uint64(3))))
    runs: dict[str, Run] = {
        "with links": lambda: sides[0] + sides[1],
        "lists": lambda: sides[0].lists[0].plus(sides[1].lists[0], -1),
    }
    return {name: time.cpu for name, time in best_of(runs, repeat).items()}


def shown(result: report.Result) -> str:
    """Megabytes a second, and the seconds of an addition."""
    rows = [
        [f"{one['set']}, {one['classes']} classes, {what}", *cells(found)]
        for one in result["sets"]
        for what, found in one["speeds"].items()
    ]
    bag = report.span((one["bags"] for one in result["sets"]), "{:.1f}".format)
    both = result["add"]
    return report.blocks(
        report.table(["MB a second", "1 core", "scikit-learn", "2 cores", "scikit-learn"], rows),
        report.paragraph(
            f"The distinct words of each document are found in {bag} times the time of counting. Adding two",
            f"vocabularies of {result['entries']:,} n-grams takes {both['with links']:.2f} s, their lists alone",
            f"{both['lists']:.2f} s.",
        ),
    )


def cells(found: dict[str, list[float]]) -> list[str]:
    pairs = zip(found["ours"], found["scikit-learn"])
    return [cell for ours, theirs in pairs for cell in (f"{ours:.0f} ({ours / theirs:.0f} times)", f"{theirs:.1f}")]


def named(text: str) -> tuple[str, int]:
    name, classes = text.split(":")
    return name, int(classes)


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--copies", type=int, default=1, help="how often the texts are repeated")
    parser.add_argument("--set", dest="sets", action="append", type=named, help="such as enron:2 or 20newsgroups:20")
    given = parser.parse_args()
    sets = given.sets or [("20newsgroups", 2), ("20newsgroups", 20), ("enron", 2)]
    found = [compare(name, classes, given.repeat, given.copies) for name, classes in sets]
    result = {"sets": found, "entries": ENTRIES, "add": add(ENTRIES, given.repeat)}
    report.finish("text_kernels", result, shown, given.save)


if __name__ == "__main__":
    main()
