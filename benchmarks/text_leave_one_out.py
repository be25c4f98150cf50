"""What does it take to score every text that was learnt by the model without it, in passes of counting?

    python -m benchmarks.text_leave_one_out [--megabytes 50] [--save]

Posts and mail (`text_data.corpus`) from Arrow, in 2 and in 20 classes, words and (1,2)-grams, the four kinds of events,
on one core. A pass is what counting the same words takes (`Model.count`); leave-one-out begins with a model that has
predicted before, and makes its own tables. The second run of each in a process is timed, the best of three.
"""

from typing import Any

from benchmarks import report
from benchmarks.text_data import Corpus, corpus
from benchmarks.timing import best_of, warm

EVENTS = ("counts", "present", "bernoulli", "complement")


def measure(text: Corpus, classes: int, ngrams: int, events: str) -> dict[str, Any]:
    """The seconds of a pass, of predicting and of leaving each text out."""
    import evenodds as eo

    documents, y = {"text": text.arrow()}, text.classes(classes)
    words = eo.Words(events=events, ngrams=ngrams)  # type: ignore[arg-type]
    model = eo.NaiveBayes(columns=words, threads=1).fit(documents, y).model_
    tasks = {
        "counting": lambda: model.count(documents, y, threads=1),
        "predicting": lambda: model.log_proba(documents, threads=1),
        "leaving": lambda: model.leave_one_out(documents, y, threads=1),
    }
    seconds = {}
    for name, task in tasks.items():  # one after the other: each warm, and the best of three
        warm({name: task})
        seconds[name] = best_of({name: task})[name].seconds
    return {
        "classes": classes,
        "ngrams": ngrams,
        "events": events,
        "megabytes": len(text.blob) / 1e6,
        **{f"{name}_seconds": took for name, took in seconds.items()},
        "passes": seconds["leaving"] / seconds["counting"],
    }


def shown(result: report.Result) -> str:
    """Seconds, and passes."""
    rows = [
        [
            f"{r['classes']} classes, {'words' if r['ngrams'] == 1 else '(1,2)-grams'}, {r['events']}",
            *(f"{r[f'{what}_seconds']:.2f}" for what in ("counting", "predicting", "leaving")),
            f"{r['passes']:.2f}",
        ]
        for r in result["results"]
    ]
    return report.table(["seconds on one core", "counting", "predicting", "leave-one-out", "passes of counting"], rows)


def passes(result: report.Result) -> str:
    """The passes in a sentence."""
    some = result["results"]
    span = report.span((one["passes"] for one in some), "{:.1f}".format)
    return report.paragraph(
        f"All texts of {some[0]['megabytes']:.0f} MB are left out in the time of {span} passes of counting their words",
        "([benchmarks](../benchmarks/README.md#text-every-text-left-out)).",
    )


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--megabytes", type=float, default=50)
    given = parser.parse_args()
    text = corpus(int(given.megabytes * 1e6))
    results = [measure(text, c, n, e) for c in (2, 20) for n in (1, 2) for e in EVENTS]
    report.finish("text_leave_one_out", {"results": results}, shown, given.save)


if __name__ == "__main__":
    main()
