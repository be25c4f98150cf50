"""An audit of 10 million rows by three columns, beside fairlearn's MetricFrame; and that both say the same.

    python -m benchmarks.audit [--rows 1000000] [--save]
    python -m benchmarks.audit --finest --rows 1000000          # fairlearn beside it, for the finest groups alone
    python -m benchmarks.audit --peers /path/to/python ...      # an interpreter that has fairlearn, if not this one

Both start with the same arrays in memory: true classes, probabilities, and three columns of groups (2, 5 and 4 values).
Ours makes one pass, and gives all rates, the log loss and the AUC of 7 margins and intersections. MetricFrame gives the
rates of one set of columns at a time, so it is asked 7 times, for seven metrics, without a log loss or an AUC: of 10
million rows that takes it many minutes, so it is asked of a million, for the finest groups alone, once. Memory is the
process at its highest (VmHWM) less what it had with the arrays alone.
"""

import argparse
import itertools
import json
import sys
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.memory import status
from benchmarks.timing import fresh, has, once

COLUMNS = ("sex", "race", "age")


def rows(n: int) -> tuple[Any, Any, dict[str, Any]]:
    """True classes, probabilities, and groups as small integers."""
    rng = np.random.default_rng(11)
    groups = {name: rng.integers(0, k, n).astype(np.int8) for name, k in zip(COLUMNS, (2, 5, 4))}
    y = (rng.random(n) < 0.3 + 0.1 * groups["sex"]).astype(np.int8)
    return y, 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * y - 0.75))), groups


def ours(n: int, finest: bool) -> dict[str, Any]:
    """One pass by Audit, which gives all of them anyway; compiled once before on few rows."""
    import evenodds as eo

    y, p, groups = rows(n)
    audit = eo.Audit(by=COLUMNS)
    audit.of_predictions(y[:5000], {k: v[:5000] for k, v in groups.items()}, scores=p[:5000])
    before = status("VmRSS")
    took, lines = once(lambda: list(audit.of_predictions(y, groups, scores=p).lines()))
    kept = {
        f"{line['by']}|{line['group']}|{line['measure']}": line["rate"] for line in lines if line["by"] and "n" in line
    }
    return {
        "seconds": took.seconds,
        "megabytes": (status("VmHWM") - before) / 1e6,
        "numbers": len(lines),
        "rates": kept,
    }


def peer(n: int, finest: bool) -> dict[str, Any]:
    """MetricFrame, once for each set of columns, or for all three alone."""
    import pandas as pd
    from fairlearn import metrics as fm
    from sklearn.metrics import accuracy_score, precision_score

    y, p, groups = rows(n)
    said = (p > 0.5).astype(np.int8)
    frame = pd.DataFrame(groups)
    wanted = {
        "selection rate": fm.selection_rate,
        "TPR": fm.true_positive_rate,
        "FPR": fm.false_positive_rate,
        "FNR": fm.false_negative_rate,
        "PPV": precision_score,
        "accuracy": accuracy_score,
        "base rate": lambda y_true, y_pred: np.mean(y_true),
    }
    kept: dict[str, float] = {}

    def asked() -> None:
        for size in (3,) if finest else (1, 2, 3):
            for by in itertools.combinations(COLUMNS, size):
                groups_of = frame[list(by)]
                table = fm.MetricFrame(metrics=wanted, y_true=y, y_pred=said, sensitive_features=groups_of).by_group
                for group, line in table.iterrows():
                    values = group if isinstance(group, tuple) else (group,)
                    where = f"{' × '.join(by)}|{' & '.join(map(str, values))}"
                    kept.update({f"{where}|{m}": float(v) for m, v in line.items()})

    before = status("VmRSS")
    took, _ = once(asked)
    return {"seconds": took.seconds, "megabytes": (status("VmHWM") - before) / 1e6, "numbers": len(kept), "rates": kept}


def shown(result: report.Result) -> str:
    """Seconds and memory of both, and whether they say the same."""
    who = {"ours": "evenodds", "peer": "fairlearn"}
    rows = [
        [name, f"{one['seconds']:.1f}", f"{one['megabytes']:,.0f}", str(one["numbers"])]
        for job, name in who.items()
        if (one := result.get(job))
    ]
    found = report.table([f"{result['rows']:,} rows", "seconds", "MB beside the arrays", "numbers"], rows)
    if "peer" not in result:
        return found
    ratio = report.times(result["peer"]["seconds"] / result["ours"]["seconds"])
    apart = result["largest difference"]
    same = "say the same to the last bit" if apart == 0 else f"differ by at most {apart:.0e}"
    return report.blocks(found, f"Ours is {ratio} times as fast; both {same}.")


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--peers", action="append", default=[], help="an interpreter that may have fairlearn")
    parser.add_argument("--finest", action="store_true", help="for the finest groups alone, fairlearn beside ours")
    parser.add_argument("--job", choices=["ours", "peer"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps({"ours": ours, "peer": peer}[given.job](given.rows, given.finest)))
        return
    told = ["--rows", str(given.rows), *(["--finest"] if given.finest else [])]
    beside = given.peers or ([sys.executable] if given.finest else [])
    theirs = next((python for python in beside if has(python, "fairlearn")), None)
    sides = {"ours": sys.executable} | ({"peer": theirs} if theirs else {})
    found = {job: fresh("audit", "--job", job, *told, python=python) for job, python in sides.items()}
    rates = {job: each.pop("rates") for job, each in found.items()}
    if "peer" in rates:
        found["largest difference"] = max(abs(rates["ours"][name] - value) for name, value in rates["peer"].items())
    report.finish("audit_finest" if given.finest else "audit", {"rows": given.rows, **found}, shown, given.save)


if __name__ == "__main__":
    main()
