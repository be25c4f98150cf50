"""An audit of 10 million rows by three columns, beside fairlearn's MetricFrame; and that both say the same.

    python -m benchmarks.audit --save                          # ours: time and memory
    python -m benchmarks.audit --rows 1000000                  # fewer rows
    PEER=/path/to/venv/bin/python python -m benchmarks.audit   # and fairlearn, of that environment, beside it
    PEER=... python -m benchmarks.audit --finest               # which is asked for the finest groups alone, once

Both start with the same arrays in memory: true classes, probabilities, and three columns of groups (2, 5 and 4 values).
Ours makes one pass, and gives all rates, the log loss and the AUC of 7 margins and intersections. MetricFrame gives the
rates of one set of columns at a time, so it is asked 7 times, for seven metrics, without a log loss or an AUC. Memory
is the process at its highest (VmHWM) less what it had with the arrays alone.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = ("sex", "race", "age")


def rows(n: int) -> tuple[Any, Any, dict[str, Any]]:
    """True classes, probabilities, and groups as small integers."""
    rng = np.random.default_rng(11)
    groups = {name: rng.integers(0, k, n).astype(np.int8) for name, k in zip(COLUMNS, (2, 5, 4))}
    y = (rng.random(n) < 0.3 + 0.1 * groups["sex"]).astype(np.int8)
    return y, 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * y - 0.75))), groups


def memory(what: str) -> float:
    """Megabytes of this process: VmHWM, the most it ever had, or VmRSS, what it has."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if what in line) * 1024 / 1e6


def ours(n: int, finest: bool) -> dict[str, Any]:
    """One pass by Audit, which gives all of them anyway; compiled once before on few rows."""
    import evenodds as eo

    y, p, groups = rows(n)
    audit = eo.Audit(by=COLUMNS)
    audit.of_predictions(y[:5000], {k: v[:5000] for k, v in groups.items()}, scores=p[:5000])
    before, start = memory("VmRSS"), time.perf_counter()
    found = audit.of_predictions(y, groups, scores=p)
    lines = list(found.lines())
    seconds = time.perf_counter() - start
    kept = {
        f"{line['by']}|{line['group']}|{line['measure']}": line["rate"] for line in lines if line["by"] and "n" in line
    }
    return {"seconds": seconds, "megabytes": memory("VmHWM") - before, "numbers": len(lines), "rates": kept}


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
    before, start = memory("VmRSS"), time.perf_counter()
    for size in (3,) if finest else (1, 2, 3):
        for by in itertools.combinations(COLUMNS, size):
            table = fm.MetricFrame(metrics=wanted, y_true=y, y_pred=said, sensitive_features=frame[list(by)]).by_group
            for group, line in table.iterrows():
                values = group if isinstance(group, tuple) else (group,)
                kept |= {f"{' × '.join(by)}|{' & '.join(map(str, values))}|{m}": float(v) for m, v in line.items()}
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "megabytes": memory("VmHWM") - before, "numbers": len(kept), "rates": kept}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--finest", action="store_true")
    parser.add_argument("--job", choices=["ours", "peer"])
    args = parser.parse_args()
    if args.job:
        print(json.dumps({"ours": ours, "peer": peer}[args.job](args.rows, args.finest)))
        return
    from benchmarks import report

    found = {}
    for job, python in (("ours", sys.executable), ("peer", os.environ.get("PEER"))):
        if python:
            command = [python, __file__, "--job", job, "--rows", str(args.rows), *(["--finest"] if args.finest else [])]
            found[job] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    rates = {job: each.pop("rates") for job, each in found.items()}
    if "peer" in rates:
        apart = max(abs(rates["ours"][name] - value) for name, value in rates["peer"].items())
        found["largest difference"] = apart
        found["times faster"] = found["peer"]["seconds"] / found["ours"]["seconds"]
    lines = [
        [job, f"{each['seconds']:.1f} s", f"{each['megabytes']:.0f} MB", str(each["numbers"])]
        for job, each in found.items()
        if isinstance(each, dict)
    ]
    print(report.table(["who", "time", "memory", "numbers"], lines))
    print({name: value for name, value in found.items() if not isinstance(value, dict)})
    if args.save:
        report.save("audit_finest" if args.finest else "audit", {"rows": args.rows, **found})


if __name__ == "__main__":
    main()
