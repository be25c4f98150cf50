"""How fast text is counted and weighed, beside scikit-learn in the same run: `python -m benchmarks.text_kernels`.

20 newsgroups and Enron mail, repeated; MB are of UTF-8. Each figure is the best of a few runs in a warm process, the
two libraries taking turns. One core is measured in processor seconds, two in seconds: on a machine with other work to
do the second say little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.naive_bayes import MultinomialNB

from benchmarks.tables import data_folder
from evenodds.labels import Keys
from evenodds.text.count import count
from evenodds.text.counts import Counts
from evenodds.text.score import Weights, bags
from evenodds.text.tables import Links, Sorted
from evenodds.text.tokenise import Tokens
from evenodds.texts import Texts

FILES = {
    "20newsgroups": ["20newsgroups/20ng_bydate_train.csv.gz", "20newsgroups/20ng_bydate_test.csv.gz"],
    "enron": ["enron_spam/enron1.csv.gz", "enron_spam/enron4.csv.gz"],
}


def load(name: str) -> tuple[list[str], np.ndarray[Any, Any]]:
    """The documents of a set, and their classes as codes."""
    table = pd.concat([pd.read_csv(data_folder() / file) for file in FILES[name]])
    return table["text"].fillna("").astype(str).tolist(), pd.factorize(table["label"])[0]


Run = Callable[[], object]


def best(runs: dict[str, Run], repeat: int) -> dict[str, tuple[float, float]]:
    """The least processor time and the least time of each, the runs taking turns."""
    times = {name: (float("inf"), float("inf")) for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            cpu, wall = time.process_time(), time.perf_counter()
            run()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            times[name] = (min(times[name][0], cpu), min(times[name][1], wall))
    return times


def fit(texts: Texts, classes: np.ndarray[Any, Any], n: int, **how: Any) -> tuple[Keys, np.ndarray[Any, Any]]:
    """Counts to smoothed log-probabilities: all that MultinomialNB does in its fit."""
    keys, weights = count(texts, classes, n, **how).matrix(np.float64)
    weights += 1.0
    totals = weights.sum(axis=0)
    np.log(weights, out=weights)
    weights -= np.log(totals)
    return keys, weights


def compare(name: str, classes: int, repeat: int, copies: int) -> None:
    some, codes = load(name)
    codes = codes if classes > 2 else (codes > codes.max() // 2).astype(np.int64)
    n, documents, codes = int(codes.max()) + 1, some * copies, np.tile(codes, copies)
    texts = Texts.of(documents)
    size = len(texts.blob) / 1e6
    print(f"\n{name}, {n} classes, {size:.0f} MB")
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
        show(title, size, best(runs, repeat))
    vectors = CountVectorizer()
    model = MultinomialNB().fit(vectors.fit_transform(documents), codes)
    weights = Weights(*fit(texts, codes, n))
    runs = {"theirs": lambda: model.predict_log_proba(vectors.transform(documents))}
    runs |= {f"{t}": partial(weights.score, texts, threads=t) for t in (1, 2)}
    show("predict, words", size, best(runs, repeat))
    times = best({"bags": partial(bags, texts), "count": partial(count, texts, codes, n)}, repeat)
    print(f"  distinct words of each document: {times['bags'][0] / times['count'][0]:.1f} times a count")


def learn(vectors: Any, documents: list[str], codes: np.ndarray[Any, Any]) -> None:
    MultinomialNB().fit(vectors.fit_transform(documents), codes)


def show(title: str, size: float, times: dict[str, tuple[float, float]]) -> None:
    figures = []
    for cores in (1, 2):
        theirs, speed = size / times["theirs"][cores - 1], size / times[f"{cores}"][cores - 1]
        figures.append(f"{cores} cores {speed:.0f} to {theirs:.1f} MB/s ({speed / theirs:.0f}x)")
    print(f"  {title}: {', '.join(figures)}", flush=True)


def named(text: str) -> tuple[str, int]:
    name, classes = text.split(":")
    return name, int(classes)


def add(entries: int, repeat: int) -> None:
    """Two vocabularies of many n-grams, three quarters of them in both."""
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(1, 2**64 - 1, entries * 4 // 3, dtype=np.uint64))
    sides = []
    for _ in range(2):
        own = np.sort(rng.choice(keys, entries, replace=False))
        one = Sorted(own, np.ones(len(own), np.int64))
        nothing = Counts.nothing(1)
        sides.append(Counts((one,), nothing.documents, nothing.lexicon, Links(own, own * np.uint64(3))))
    times = best({"+": lambda: sides[0] + sides[1], "-": lambda: sides[0].lists[0].plus(sides[1].lists[0], -1)}, repeat)
    total, alone = times["+"][0], times["-"][0]
    print(f"\n{entries:,} n-grams + {entries:,}: {total:.2f} s with their links; the list alone {alone:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--copies", type=int, default=1, help="how often the texts are repeated")
    parser.add_argument("--set", dest="sets", action="append", type=named, help="such as enron:2 or 20newsgroups:20")
    given = parser.parse_args()
    for name, classes in given.sets or [("20newsgroups", 2), ("20newsgroups", 20), ("enron", 2)]:
        compare(name, classes, given.repeat, given.copies)
    add(7_000_000, given.repeat)
