"""What options of `Words` do to accuracy and log loss, everything else at its default.

    python -m benchmarks.text_options [--sets trec,r8] [--folds 5] [--quick] [--save]

Published splits; of sets without one, the first five of ten folds. These are the numbers of docs/text.md.
"""

import argparse
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS), help=f"some of {','.join(text_data.FILES)}")
    parser.add_argument("--folds", type=int, default=5, help="of a set without a published split, how many of ten")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/text_options.json")
    parser.add_argument("--quick", action="store_true", help="trec and one fold of sms")
    options = parser.parse_args()
    sets, folds = (["trec", "sms"], 1) if options.quick else (options.sets.split(","), options.folds)
    results = []
    for name in sets:
        documents = text_data.load(name)
        for option, (words, settings) in OPTIONS.items():
            accuracy, loss = measure(documents, words, settings, folds)
            results.append({"set": name, "option": option, "accuracy": accuracy, "log_loss": loss})
    lines = [[f"{r['set']}: {r['option']}", f"{r['accuracy']:.1f}", f"{r['log_loss']:.3f}"] for r in results]
    print(report.table(["set: option", "accuracy %", "log loss"], lines))
    if options.save:
        print(f"wrote {report.save('text_options', {'results': results})}")


if __name__ == "__main__":
    main()
