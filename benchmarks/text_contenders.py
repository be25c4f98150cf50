"""Who is timed on text: ours, scikit-learn, Vowpal Wabbit, fastText and river; each makes a call of a text and a case.

scikit-learn: CountVectorizer or HashingVectorizer, then MultinomialNB; it uses one core. Vowpal Wabbit: one pass, 2^20
weights, --oaa for 20 classes; writing its file is counted. fastText: one pass, 10 dimensions, likewise. river:
learn_one for each document.
"""

import dataclasses
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.text_data import Corpus

BUCKETS = 1 << 20
Call = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """What is measured: who does what, with what text, on how many cores."""

    who: str
    job: str  # fit, predict, message, process or memory
    classes: int = 2
    ngrams: int = 1
    hashed: bool = False
    source: str = "list"
    cores: int = 1
    smoothing: str = "auto"
    size: int = 0  # bytes; 0: the whole corpus

    def __str__(self) -> str:
        grams = "words" if self.ngrams == 1 else "(1,2)-grams"
        cores = f"{self.cores} core{'s' * (self.cores > 1)}"
        how = "hashed" if self.hashed else "exact"
        return f"{self.classes} classes, {how} {grams}, {self.source}, {cores}: {self.who}"

    @staticmethod
    def of(result: dict[str, Any]) -> "Case":
        """What a result is of."""
        return Case(**{field.name: result[field.name] for field in dataclasses.fields(Case)})


def texts(text: Corpus, case: Case) -> Any:
    """The documents in the container asked for."""
    return text.strings() if case.source == "list" else text.arrow()


def ours(case: Case) -> Any:
    import evenodds as eo

    words = eo.Words(ngrams=case.ngrams, buckets=BUCKETS if case.hashed else None)
    smoothing = case.smoothing if case.smoothing == "auto" else float(case.smoothing)
    return eo.NaiveBayes(columns=words, smoothing=smoothing, prior="flat", threads=case.cores)


def our_fit(text: Corpus, case: Case) -> Call:
    documents, y = texts(text, case), text.classes(case.classes)

    def call() -> object:
        model = ours(case).fit(documents, y)
        model.predict_proba(["free prize"])  # the weights are made when they are first needed
        return model

    return call


def our_predict(text: Corpus, case: Case) -> Call:
    documents = texts(text, case)
    model = ours(case).fit(documents, text.classes(case.classes))
    return lambda: model.predict_proba(documents)


def theirs(case: Case) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    grams = (1, case.ngrams)
    exact = CountVectorizer(ngram_range=grams)
    hashed = HashingVectorizer(ngram_range=grams, n_features=BUCKETS, alternate_sign=False, norm=None)
    return make_pipeline(hashed if case.hashed else exact, MultinomialNB())


def sklearn_fit(text: Corpus, case: Case) -> Call:
    documents, y = text.strings(), text.classes(case.classes)
    return lambda: theirs(case).fit(documents, y)


def sklearn_predict(text: Corpus, case: Case) -> Call:
    documents = text.strings()
    model = theirs(case).fit(documents, text.classes(case.classes))
    return lambda: model.predict_proba(documents)


def vowpal_fit(text: Corpus, case: Case) -> Call:
    vowpalwabbit: Any = importlib.import_module("vowpalwabbit")
    documents, y = text.strings(), text.classes(case.classes).tolist()
    names = ["-1", "1"] if case.classes == 2 else [str(i + 1) for i in range(case.classes)]
    kind = [] if case.classes == 2 else ["--oaa", str(case.classes)]
    plain = str.maketrans(":|\n\r", "    ")  # what is syntax in its files
    path = _file()
    words = ["-d", path, "-b", "20", "--loss_function", "logistic", "--quiet", *kind]
    words += ["--ngram", "2"] if case.ngrams == 2 else []

    def call() -> object:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{names[i]} | {document.translate(plain)}\n" for i, document in zip(y, documents))
        model = vowpalwabbit.Workspace(arg_list=words)
        model.finish()
        return model

    return call


def fasttext_fit(text: Corpus, case: Case) -> Call:
    fasttext: Any = importlib.import_module("fasttext")
    documents, y = text.strings(), text.classes(case.classes).tolist()
    plain = str.maketrans("\n\r", "  ")
    path = _file()

    def call() -> object:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"__label__{i} {document.translate(plain)}\n" for i, document in zip(y, documents))
        how = {"epoch": 1, "dim": 10, "wordNgrams": case.ngrams, "bucket": BUCKETS, "thread": case.cores, "verbose": 0}
        return fasttext.train_supervised(path, **how)

    return call


def river_fit(text: Corpus, case: Case) -> Call:
    feature_extraction: Any = importlib.import_module("river.feature_extraction")
    naive_bayes: Any = importlib.import_module("river.naive_bayes")
    documents, y = text.strings(), text.classes(case.classes).tolist()

    def call() -> object:
        model = feature_extraction.BagOfWords(ngram_range=(1, case.ngrams)) | naive_bayes.MultinomialNB()
        for document, i in zip(documents, y):
            model.learn_one(document, i)
        return model

    return call


def _file() -> str:
    """A file that lasts as long as this process's folder, which the parent takes away."""
    return str(Path(os.environ["TMPDIR"]) / f"{os.getpid()}.txt")


FIT: dict[str, Callable[[Corpus, Case], Call]] = {
    "ours": our_fit,
    "scikit-learn": sklearn_fit,
    "Vowpal Wabbit": vowpal_fit,
    "fastText": fasttext_fit,
    "river": river_fit,
}
PREDICT = {"ours": our_predict, "scikit-learn": sklearn_predict}
