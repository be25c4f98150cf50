"""The verdict on separation: 100,000 rows of 20 columns, two classes and three, separated and not.

    python -m benchmarks.separation --save           # about a minute
    python -m benchmarks.separation --rows 10000

`separation` names the coefficients that are infinite, which takes a linear program for each where all are; `verdict` is
the cone alone, which is what says whether any is.
"""

from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.timing import once
from evenodds.models.separators.cone import cone
from evenodds.models.separators.separation import separation
from evenodds.models.separators.vectors import Rows


def cases(rows: int, columns: int, classes: int) -> dict[str, tuple[Any, Any]]:
    """Designs with an intercept, and classes: separated, by one row not, noisy, and separated by one rare flag."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(rows), rng.normal(size=(rows, columns - 1))])
    scores = X @ rng.normal(size=(columns, classes))
    sure = scores.argmax(axis=1)
    flipped = sure.copy()
    flipped[5] = (flipped[5] + 1) % classes
    noisy = (scores + 2 * rng.gumbel(size=scores.shape)).argmax(axis=1)
    flagged = X.copy()
    flagged[:, -1] = rng.random(rows) < 0.01
    only = np.where(flagged[:, -1] > 0, 1, noisy)
    return {"complete": (X, sure), "one row less": (X, flipped), "overlap": (X, noisy), "quasi": (flagged, only)}


def shown(result: report.Result) -> str:
    """Verdicts and seconds."""
    header = ["case", "classes", "found", "infinite", "verdict, s", "with names, s"]
    rows = [
        [r["case"], str(r["classes"]), r["found"], str(r["infinite"]), f"{r['verdict']:.2f}", f"{r['named']:.2f}"]
        for r in result["results"]
    ]
    return report.table(header, rows)


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=20)
    given = parser.parse_args()
    results = []
    for classes in (2, 3):
        for name, (X, y) in cases(given.rows, given.columns, classes).items():
            alone, _ = once(lambda: cone(Rows(X, y, classes)))  # noqa: B023  called at once
            named, found = once(lambda: separation(X, y))  # noqa: B023
            told = {"classes": classes, "case": name, "found": found.verdict, "infinite": len(found.infinite)}
            results.append({**told, "verdict": alone.seconds, "named": named.seconds})
            print(results[-1], flush=True)
    report.finish("separation", {"rows": given.rows, "columns": given.columns, "results": results}, shown, given.save)


if __name__ == "__main__":
    main()
