"""A step of EM on 1,000,000 rows of 8 numbers, 10 components with full covariances, beside scikit-learn.

    python -m benchmarks.mixtures --save             # about 3 minutes and 2 GB
    python -m benchmarks.mixtures --rows 100000

Both start from the same weights, means and covariances, without a prior. A step's time is that of a fit of several
steps less that of a fit of one, divided by the steps between; the best of a few, each library in a process of its own.
Memory is what the process takes at its highest during a fit, above the rows and what was there before. The same rows in
a Parquet file are fitted too, batch by batch: the log-likelihood must be that of the rows in memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import report
from benchmarks.memory import peak_extra
from benchmarks.timing import Neighbours

COLUMNS, COMPONENTS, WARM = 8, 10, 20_000
LIBRARIES = ("evenodds", "evenodds, 1 thread", "evenodds, file", "scikit-learn")


def made(rows: int) -> Any:
    """Overlapping clusters, each with a covariance of its own."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, COMPONENTS, rows)
    centres, shapes = 3 * rng.normal(size=(COMPONENTS, COLUMNS)), rng.normal(size=(COMPONENTS, COLUMNS, COLUMNS)) / 3
    x = rng.normal(size=(rows, COLUMNS))
    for k in range(COMPONENTS):
        mine = which == k
        x[mine] = centres[k] + x[mine] + x[mine] @ shapes[k]
    return x


def fitting(library: str, x: Any, path: Path) -> Callable[[int], float]:
    """A function that fits so many steps from the same start and returns the log-likelihood a row."""
    start = x[:COMPONENTS]
    if library == "scikit-learn":
        from sklearn.mixture import GaussianMixture

        scale = x.var(axis=0) * COMPONENTS ** (-2 / COLUMNS)
        precisions = np.repeat(np.diag(1 / scale)[None], COMPONENTS, axis=0)
        weights = np.full(COMPONENTS, 1 / COMPONENTS)

        def theirs(steps: int) -> float:
            model = GaussianMixture(
                COMPONENTS, tol=0, reg_covar=0, max_iter=steps, weights_init=weights, means_init=start,
                precisions_init=precisions, init_params="random_from_data",
            )  # fmt: skip
            return float(model.fit(x).lower_bound_)  # before the last step

        return theirs
    import evenodds as eo

    threads = 1 if "1 thread" in library else None
    rows: Any = path if "file" in library else x

    def ours(steps: int) -> float:
        mixture = eo.Mixture(k=COMPONENTS, prior=None, start=start, tolerance=0, most=steps, threads=threads).fit(rows)
        return mixture.model_.trace[-2] / mixture.model_.rows

    return ours


def measure_here(library: str, rows: int, steps: int, repeats: int, folder: Path) -> dict[str, Any]:
    """Time and memory of one library, in this process, which should be a fresh one."""
    warnings.simplefilter("ignore")
    x = made(rows)
    path = folder / "rows.parquet"
    small = folder / "few.parquet"
    for where, some in ((path, x), (small, x[:WARM])):
        if "file" in library and not where.exists():
            pq.write_table(pa.table({f"x{j}": some[:, j] for j in range(COLUMNS)}), where)
    fitting(library, x[:WARM], small)(2)
    if "file" in library:
        from evenodds.models.mixture import rows as held

        held.HELD = 0  # so that the file is read again for every step
        x = x[:COMPONENTS].copy()
    fit = fitting(library, x, path)
    extra, best, short, found = peak_extra(lambda: fit(1)), float("inf"), float("inf"), 0.0
    for _ in range(repeats):
        before = time.perf_counter()
        fit(1)
        middle = time.perf_counter()
        found = fit(1 + steps)
        after = time.perf_counter()
        short, best = min(short, middle - before), min(best, after - middle)
    return {
        "library": library,
        "seconds_a_step": (best - short) / steps,
        "seconds_first": short,
        "log_likelihood": found,
        "extra_megabytes": extra / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="EM beside scikit-learn")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", default=";".join(LIBRARIES))
    parser.add_argument("--here")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--save", action="store_true")
    args = parser.parse_args()
    if args.here:
        print(json.dumps(measure_here(args.here, args.rows, args.steps, args.repeats, args.folder)))
        return
    others, results = Neighbours(), []
    with tempfile.TemporaryDirectory() as folder:
        for library in args.only.split(";"):
            command = [
                sys.executable, "-m", "benchmarks.mixtures", "--here", library, "--rows", str(args.rows),
                "--steps", str(args.steps), "--repeats", str(args.repeats), "--folder", folder,
            ]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
            if done.returncode:
                raise RuntimeError(done.stderr)
            results.append(json.loads(done.stdout))
    lines = [
        [
            one["library"],
            f"{one['seconds_a_step']:.3f}",
            f"{one['log_likelihood']:.10f}",
            f"{one['extra_megabytes']:,.0f}",
        ]
        for one in results
    ]
    print(report.table(["", "seconds a step", "log-likelihood a row", "MB above the rows"], lines))
    result: dict[str, Any] = {"rows": args.rows, "fits": results, "others_cores": others.cores()}
    print(f"other processes used {result['others_cores']:.1f} cores meanwhile")
    if args.save:
        print(report.save("mixtures", result))


if __name__ == "__main__":
    main()
