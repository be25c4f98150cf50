"""What does it take to score every text that was learnt by the model without it, in passes of counting?

    python -m benchmarks.text_leave_one_out [--megabytes 50] [--save]

Posts and mail (`text_data.corpus`) from Arrow, in 2 and in 20 classes, words and (1,2)-grams, the four kinds of events,
on one core. A pass is what counting the same words takes (`Model.count`); leave-one-out begins with a model that has
predicted before, and makes its own tables. The second run of each in a process is timed, the best of three.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

from benchmarks import report
from benchmarks.text_data import Corpus, corpus

WANTED = 5.0  # passes
EVENTS = ("counts", "present", "bernoulli", "complement")


def best(call: Callable[[], Any], times: int = 3) -> float:
    """The shortest of a few runs, after one that is not counted."""
    call()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def measure(text: Corpus, classes: int, ngrams: int, events: str) -> dict[str, Any]:
    """The seconds of a pass, of predicting and of leaving each text out."""
    import evenodds as eo

    documents, y = {"text": text.arrow()}, text.classes(classes)
    words = eo.Words(events=events, ngrams=ngrams)  # type: ignore[arg-type]
    model = eo.NaiveBayes(columns=words, threads=1).fit(documents, y).model_
    counting = best(lambda: model.count(documents, y, threads=1))
    predicting = best(lambda: model.log_proba(documents, threads=1))
    leaving = best(lambda: model.leave_one_out(documents, y, threads=1))
    return {
        "classes": classes,
        "ngrams": ngrams,
        "events": events,
        "megabytes": len(text.blob) / 1e6,
        "counting_seconds": counting,
        "predicting_seconds": predicting,
        "leaving_seconds": leaving,
        "passes": leaving / counting,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/text_leave_one_out.json")
    options = parser.parse_args()
    text = corpus(int(options.megabytes * 1e6))
    results = [measure(text, c, n, e) for c in (2, 20) for n in (1, 2) for e in EVENTS]
    rows = [
        [
            f"{r['classes']} classes, {'words' if r['ngrams'] == 1 else '(1,2)-grams'}, {r['events']}",
            *(f"{r[f'{what}_seconds']:.2f}" for what in ("counting", "predicting", "leaving")),
            f"{r['passes']:.2f}",
        ]
        for r in results
    ]
    print(report.table(["one core", "counting s", "predicting s", "leave-one-out s", "passes"], rows))
    worst = max(r["passes"] for r in results)
    print(f"\n{'yes' if worst <= WANTED else 'NO '}  at most {WANTED:g} passes: {worst:.2f} at worst")
    if options.save:
        print(f"wrote {report.save('text_leave_one_out', {'results': results})}")


if __name__ == "__main__":
    main()
