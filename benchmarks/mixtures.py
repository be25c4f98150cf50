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
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import report
from benchmarks.memory import peak_extra
from benchmarks.timing import fresh, once

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
        mixture = eo.Mixture(k=COMPONENTS, prior=None, start=start, tol=0, max_iter=steps, threads=threads).fit(rows)
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
        one, _ = once(lambda: fit(1))
        several, found = once(lambda: fit(1 + steps))
        short, best = min(short, one.seconds), min(best, several.seconds)
    return {
        "library": library,
        "seconds_a_step": (best - short) / steps,
        "seconds_first": short,
        "log_likelihood": found,
        "extra_megabytes": extra / 1e6,
    }


def shown(result: report.Result) -> str:
    """Seconds, log-likelihoods and memory."""
    rows = [
        [
            one["library"],
            f"{one['seconds_a_step']:.3f}",
            f"{one['log_likelihood']:.10f}",
            f"{one['extra_megabytes']:,.0f}",
        ]
        for one in result["fits"]
    ]
    return report.table(["", "seconds a step", "log-likelihood a row", "MB above the rows"], rows)


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", default=";".join(LIBRARIES))
    parser.add_argument("--here", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measure_here(given.here, given.rows, given.steps, given.repeats, given.folder)))
        return
    told = ["--rows", str(given.rows), "--steps", str(given.steps), "--repeats", str(given.repeats)]
    with tempfile.TemporaryDirectory() as folder:
        libraries = given.only.split(";")
        fits = [fresh("mixtures", "--here", library, "--folder", folder, *told) for library in libraries]
    report.finish("mixtures", {"rows": given.rows, "fits": fits}, shown, given.save)


if __name__ == "__main__":
    main()
