"""Does tuning pay? Log loss of `NaiveBayes(tune="loo")` on the 26 tables, beside scikit-learn's five and the default.

    python -m benchmarks.tune_tables [--tables titanic,iris] [--folds 10] [--save]
    python -m benchmarks.tune_tables --repeated [--save]

The folds are those of `benchmarks.accuracy_tables`, whose saved results give the best of scikit-learn's five pipelines
(`best five`) and our untempered default; with fewer folds these are still the means of all ten. Columns are typed as
there, by their dtype (float or category), so that tuning is free to choose.

`--repeated`: each column of a table 1, 12 and 25 times; the default, tempered, and scikit-learn's GaussianNB under
`CalibratedClassifierCV(method="temperature")`, on the numeric tables of which each makes sense.
"""

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks import report, tables
from benchmarks.contenders import PEERS
from benchmarks.tables import Table

FOLDS = 10
MUST = 23  # of 26 tables
REPEATED = ["iris", "wine", "pima_diabetes", "breast_w", "heart_statlog", "vehicle", "segment", "waveform5000"]
TIMES = (1, 12, 25)


def typed(table: Table) -> pd.DataFrame:
    """The table with its types told by dtype alone."""
    return table.frame.astype(dict.fromkeys(table.of_type("nominal"), "category"))


def splits(frame: pd.DataFrame, y: Any, folds: int) -> list[tuple[Any, Any]]:
    """The first of the ten folds."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, y))[:folds]


def measure(name: str, folds: int) -> dict[str, Any]:
    """Mean log loss over the folds: tempered and tuned; the seconds that tuning takes; what was left out."""
    import evenodds as eo

    table = tables.load(name)
    frame, y = typed(table), table.y
    labels = np.unique(y)
    losses: dict[str, list[float]] = {"tempered": [], "tuned": []}
    seconds, left_out = [], []
    for train, test in splits(frame, y, folds):
        rows, classes = frame.iloc[train], y[train]
        plain = eo.NaiveBayes().fit(rows, classes)
        tempered = eo.NaiveBayes.of(plain.model_.tempered(rows, classes))
        start = time.perf_counter()
        tuned = eo.NaiveBayes(tune="loo").fit(rows, classes)
        seconds.append(time.perf_counter() - start)
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
        for train, test in splits(wide, y, 5):
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
    scores = json.loads((report.RESULTS / "accuracy_tables.json").read_text())["scores"]
    peers = [scores[peer.name] for peer in PEERS]
    return {
        name: {
            "best five": min(peer[name]["log_loss"] for peer in peers if name in peer),
            "default": scores["ours, default"][name]["log_loss"],
        }
        for name in scores["baseline"]
    }


def compare(names: list[str], folds: int, save: bool) -> None:
    """Print the table, line by line as it comes, and the verdicts."""
    known, found = saved(), {}
    columns = ["best five", "default", "tempered", "tuned", "seconds", "left_out"]
    for name in names:
        found[name] = known[name] | measure(name, folds)
        print(name.ljust(16), "  ".join(f"{column} {found[name][column]:.3f}" for column in columns), flush=True)
    print(report.table(["log loss", *columns], [[n, *(f"{row[c]:.3f}" for c in columns)] for n, row in found.items()]))
    behind = [name for name, row in found.items() if row["tuned"] >= row["best five"]]
    must = MUST * len(names) / len(tables.names())
    better = [name for name, row in found.items() if row["tuned"] < row["tempered"]]
    ratio = np.exp(np.mean([np.log(row["tuned"] / row["tempered"]) for row in found.values()]))
    print(
        f"{'yes' if len(names) - len(behind) >= must else 'NO '}  tuned below the best of scikit-learn's five on "
        f"{len(names) - len(behind)} of {len(names)}; not on: {', '.join(behind) or '-'}\n"
        f"     tuned below tempered on {len(better)} of {len(names)}; ratio of the two, geometric mean: {ratio:.3f}"
    )
    if save:
        print(f"wrote {report.save('tune_tables', {'folds': folds, 'tables': found})}")


def compare_repeated(names: list[str], save: bool) -> None:
    """Print how much is lost by repeating every column."""
    found = {name: repeated(name) for name in names}
    which = list(next(iter(found.values()))["1"])
    head = ["columns repeated", *(f"{one} ×{times}" for one in which for times in TIMES)]
    lines = [[n, *(f"{row[str(times)][one]:.3f}" for one in which for times in TIMES)] for n, row in found.items()]
    print(report.table(head, lines))
    worst = max(row[str(k)]["tempered"] / row["1"]["tempered"] - 1 for row in found.values() for k in TIMES)
    print(f"{'yes' if worst <= 0.02 else 'NO '}  tempered: at most {worst:+.2%} by repeating columns (2 % asked)")
    if save:
        print(f"wrote {report.save('tune_repeated', {'folds': 5, 'tables': found})}")


def main() -> None:
    parser = argparse.ArgumentParser(description="log loss of tuned naive Bayes on tables")
    parser.add_argument("--tables", help="only these tables, with commas between")
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the ten folds")
    parser.add_argument("--repeated", action="store_true", help="each column 1, 12 and 25 times")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/tune_*.json")
    options = parser.parse_args()
    names = options.tables.split(",") if options.tables else REPEATED if options.repeated else tables.names()
    warnings.filterwarnings("ignore", message="column ")
    if options.repeated:
        compare_repeated(names, options.save)
    else:
        compare(names, options.folds, options.save)


if __name__ == "__main__":
    main()
