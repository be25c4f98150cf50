"""Does tuning pay? Log loss of `NaiveBayes(tune="loo")` on the 26 tables, beside scikit-learn's five and the default.

    python -m benchmarks.tune_tables [--tables titanic,iris] [--folds 10] [--save]
    python -m benchmarks.tune_tables --repeated [--save]

The folds are those of `benchmarks.accuracy_tables`, whose saved results give the best of scikit-learn's five pipelines
(`best five`) and our untempered default; with fewer folds these are still the means of all ten. Columns are typed as
there, by their dtype (float or category), so that tuning is free to choose.

`--repeated`: each column of a table 1, 12 and 25 times; the default, tempered, and scikit-learn's GaussianNB under
`CalibratedClassifierCV(method="temperature")`, on the numeric tables of which each makes sense.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from benchmarks import report, tables
from benchmarks.contenders import PEERS
from benchmarks.tables import FOLDS, Table, splits
from benchmarks.timing import once

REPEATED = ["iris", "wine", "pima_diabetes", "breast_w", "heart_statlog", "vehicle", "segment", "waveform5000"]
TIMES = (1, 12, 25)


def typed(table: Table) -> pd.DataFrame:
    """The table with its types told by dtype alone."""
    return table.frame.astype(dict.fromkeys(table.of_type("nominal"), "category"))


def measure(name: str, folds: int) -> dict[str, Any]:
    """Mean log loss over the folds: tempered and tuned; the seconds that tuning takes; what was left out."""
    import evenodds as eo

    table = tables.load(name)
    frame, y = typed(table), table.y
    labels = np.unique(y)
    losses: dict[str, list[float]] = {"tempered": [], "tuned": []}
    seconds, left_out = [], []
    for train, test in splits(y, folds):
        rows, classes = frame.iloc[train], y[train]
        plain = eo.NaiveBayes().fit(rows, classes)
        tempered = eo.NaiveBayes.of(plain.model_.tempered(rows, classes))
        took, tuned = once(lambda: eo.NaiveBayes(tune="loo").fit(rows, classes))  # noqa: B023  called at once
        seconds.append(took.seconds)
        left_out.append(len(table.types) - len(tuned.model_.schema.features))
        for which, model in (("tempered", tempered), ("tuned", tuned)):
            losses[which].append(float(log_loss(y[test], model.predict_proba(frame.iloc[test]), labels=labels)))
    means = {which: round(float(np.mean(some)), 6) for which, some in losses.items()}
    return {**means, "seconds": round(float(np.mean(seconds)), 2), "left_out": float(np.mean(left_out))}


def repeated(name: str) -> dict[str, dict[str, float]]:
    """Mean log loss over five folds with each column several times: default, tempered, scikit-learn's temperature."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.naive_bayes import GaussianNB

    import evenodds as eo

    table = tables.load(name)
    frame, y = table.frame[table.of_type("numeric")], table.y
    frame, labels = frame.fillna(frame.mean()), np.unique(y)
    found: dict[str, dict[str, float]] = {}
    for times in TIMES:
        wide = pd.concat([frame.add_suffix(f" {k}") for k in range(times)], axis=1)
        losses: dict[str, list[float]] = {"default": [], "tempered": [], "GaussianNB, temperature": []}
        for train, test in splits(y, 5):
            rows, classes, new = wide.iloc[train], y[train], wide.iloc[test]
            plain = eo.NaiveBayes().fit(rows, classes)
            peer = CalibratedClassifierCV(GaussianNB(), method="temperature", ensemble=False).fit(rows, classes)
            for which, model in (
                ("default", plain),
                ("tempered", eo.NaiveBayes.of(plain.model_.tempered(rows, classes))),
                ("GaussianNB, temperature", peer),
            ):
                losses[which].append(float(log_loss(y[test], model.predict_proba(new), labels=labels)))
        found[str(times)] = {which: round(float(np.mean(some)), 6) for which, some in losses.items()}
    return found


def saved() -> dict[str, dict[str, float]]:
    """By table the log losses of `benchmarks.accuracy_tables`: the best of scikit-learn's five, and our default."""
    scores = report.load("accuracy_tables")["scores"]
    peers = [scores[peer.name] for peer in PEERS]
    return {
        name: {
            "best five": min(peer[name]["log_loss"] for peer in peers if name in peer),
            "default": scores["ours, default"][name]["log_loss"],
        }
        for name in scores["baseline"]
    }


def shown(result: report.Result) -> str:
    """On how many tables tuning pays, and every table."""
    found = result["tables"]
    behind = [name for name, row in found.items() if row["tuned"] >= row["best five"]]
    better = sum(row["tuned"] < row["tempered"] for row in found.values())
    ratio = np.exp(np.mean([np.log(row["tuned"] / row["tempered"]) for row in found.values()]))
    sentence = report.paragraph(
        f"Tuned is below the best of five on {len(found) - len(behind)} of {len(found)} tables"
        + (f" (not on {report.listed(behind)})" if behind else "")
        + f", below the tempered default on {better}, and {ratio:.2f} times that in the geometric mean."
    )
    columns = {"best five": "best of five", "default": "default", "tempered": "tempered", "tuned": "tuned"}
    rows = [
        [name, *(f"{row[column]:.3f}" for column in columns), f"{row['seconds']:.1f}", f"{row['left_out']:.1f}"]
        for name, row in found.items()
    ]
    return report.blocks(
        sentence, report.table(["log loss", *columns.values(), "seconds to tune", "columns left out"], rows)
    )


def shown_repeated(result: report.Result) -> str:
    """How much is lost by repeating every column."""
    found = result["tables"]
    worst = max(row[str(k)]["tempered"] / row["1"]["tempered"] - 1 for row in found.values() for k in TIMES)
    which = list(next(iter(found.values()))["1"])
    head = ["log loss", *(f"{one} ×{times}" for one in which for times in TIMES)]
    rows = [[n, *(f"{row[str(times)][one]:.3f}" for one in which for times in TIMES)] for n, row in found.items()]
    sentence = f"Repeated columns change the tempered log loss by at most {100 * max(worst, 0.0):.2f} %."
    return report.blocks(report.paragraph(sentence), report.table(head, rows))


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--tables", type=report.names, help="only these tables, with commas between")
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the ten folds")
    parser.add_argument("--repeated", action="store_true", help="each column 1, 12 and 25 times")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message="column ")
    if given.repeated:
        several = {name: repeated(name) for name in given.tables or REPEATED}
        report.finish("tune_repeated", {"folds": 5, "tables": several}, shown_repeated, given.save)
        return
    known, found = saved(), {}
    for name in given.tables or tables.names():
        found[name] = known[name] | measure(name, given.folds)
        print(name.ljust(16), "  ".join(f"{column} {value:.3f}" for column, value in found[name].items()), flush=True)
    report.finish("tune_tables", {"folds": given.folds, "tables": found}, shown, given.save)


if __name__ == "__main__":
    main()
