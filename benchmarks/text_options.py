"""What options of `Words` do to accuracy and log loss, everything else at its default.

    python -m benchmarks.text_options [--sets trec,r8] [--folds 5] [--quick] [--save]

Published splits; of sets without one, the first five of ten folds. These are the numbers of docs/text.md.
"""

from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from benchmarks import report, text_data

SETS = ("trec", "r8", "webkb", "20newsgroups", "sms", "mr")
OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "counts": ({}, {}),
    "counts, normalised": ({"length": "normalised"}, {}),
    "counts, length column": ({"length_column": True}, {}),
    "counts, neighbours=1": ({"neighbours": 1}, {}),
    "complement": ({"events": "complement"}, {}),
    "complement, normalised": ({"events": "complement", "length": "normalised"}, {}),
    "complement, estimated class prior": ({"events": "complement"}, {"class_prior": "estimated"}),
}


def measure(documents: text_data.Documents, words: dict[str, Any], settings: dict[str, Any], folds: int) -> list[float]:
    """The mean accuracy in % and log loss over the splits."""
    import evenodds as eo

    found = []
    for learn, judge in documents.splits()[:folds]:
        texts, y = documents.some(learn)
        new, truth = documents.some(judge)
        nb = eo.NaiveBayes(columns={"text": eo.Words(**words)}, **settings).fit({"text": texts}, y)
        p = nb.predict_proba({"text": new})
        loss = log_loss(truth, np.clip(p, 1e-300, None), labels=nb.classes_)
        found.append((100 * float(np.mean(nb.classes_[p.argmax(axis=1)] == truth)), loss))
    return [float(mean) for mean in np.mean(found, axis=0)]


NAMES = {
    "trec": "TREC questions", "r8": "R8", "webkb": "WebKB", "20newsgroups": "20 newsgroups", "sms": "SMS", "mr": "MR"
}  # fmt: skip


def _table(result: report.Result, title: str, options: dict[str, str], metric: str) -> str:
    """Some options, a line each, by set: accuracy in %, or log loss."""
    found = {(one["set"], one["option"]): one[metric] for one in result["results"]}
    sets = dict.fromkeys(one["set"] for one in result["results"])
    digits = 1 if metric == "accuracy" else 3
    rows = [[said, *(f"{found[name, option]:.{digits}f}" for name in sets)] for option, said in options.items()]
    return report.table([title, *(NAMES.get(name, name) for name in sets)], rows)


def shown(result: report.Result) -> str:
    """Every option."""
    every = {option: option for option in OPTIONS}
    return report.blocks(
        _table(result, "accuracy, %", every, "accuracy"), _table(result, "log loss", every, "log_loss")
    )


def class_prior(result: report.Result) -> str:
    """The complement with the classes' shares and without."""
    options = {"complement": "without", "complement, estimated class prior": '`class_prior="estimated"`'}
    return _table(result, 'accuracy, %; `"complement"`', options, "accuracy")


def lengths(result: report.Result) -> str:
    """Texts as they are, and normalised."""
    options = {
        "counts": '`"counts"`, as is',
        "counts, normalised": "normalised",
        "complement": '`"complement"`, as is',
        "complement, normalised": "normalised",
    }
    return _table(result, "accuracy, %", options, "accuracy")


def length_column(result: report.Result) -> str:
    """The length as one more column."""
    return _table(result, "log loss", {"counts": "words", "counts, length column": "`length_column=True`"}, "log_loss")


def neighbours(result: report.Result) -> str:
    """By how much nearest words change accuracy."""
    found = {(one["set"], one["option"]): one["accuracy"] for one in result["results"]}
    changes = [found[name, "counts, neighbours=1"] - a for (name, option), a in found.items() if option == "counts"]
    return report.paragraph(
        f"On {len(changes)} collections `neighbours=1` changed accuracy by",
        f"{report.span(changes, '{:+.1f}'.format)} points",
        "([benchmarks](../benchmarks/README.md#text-options)).",
    )


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--sets", type=report.names, default=SETS, help=f"some of {','.join(text_data.FILES)}")
    parser.add_argument("--folds", type=int, default=5, help="of a set without a published split, how many of ten")
    parser.add_argument("--quick", action="store_true", help="trec and one fold of sms")
    given = parser.parse_args()
    sets, folds = (["trec", "sms"], 1) if given.quick else (given.sets, given.folds)
    results = []
    for name in sets:
        documents = text_data.load(name)
        for option, (words, settings) in OPTIONS.items():
            accuracy, loss = measure(documents, words, settings, folds)
            results.append({"set": name, "option": option, "accuracy": accuracy, "log_loss": loss})
    report.finish("text_options", {"results": results}, shown, given.save)


if __name__ == "__main__":
    main()
