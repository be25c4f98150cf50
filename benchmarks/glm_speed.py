"""How fast, and in how much memory? Poisson and logistic regression beside glum, scikit-learn and statsmodels.

    python -m benchmarks.glm_speed [--rows 100000] [--only dense,table,categories,parquet] [--repeats 2] [--save]

The designs are those of `benchmarks/glm_designs.py`: 1,000,000 rows of 50 numbers, in units of their own or all alike,
and 600,000 rows of 320 one-hot columns. Every fit runs in a process of its own, first on a few rows, then on all of
them, the best of a few; what is measured is `fit` on what each library takes best.

No penalty. Equal accuracy: of each library the time is that of its default tolerance, or of the first of 1e-4, 1e-5 to
1e-12 in its own words (glum's gradient_tol, scikit-learn's tol, statsmodels' for the coefficients), at which the
coefficients are right: none, times its column's deviation, is off by more than 1e-6 of the largest such product,
beside a minimum found by plain Newton steps until they are rounding. Where no tolerance gets there, or a fit takes more
than half a minute, the nearest is shown with its error. Ours has its default. "default" is what a library's default
tolerance takes, and "its error" what that reaches. "scaled" is scikit-learn behind its StandardScaler, timed with it;
scikit-learn may take 1,000 steps (its default is 100). Ours forms the standard errors too, statsmodels as well; glum
and scikit-learn do not.

"of cores" are the seconds that all cores together worked for the fit, which neighbours on the machine change less.

Memory is by how much resident memory rose during `fit`, as a share of the design: of a dense one 8 bytes a number, also
where a library is given codes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.glm_designs import COLUMNS, NUMBERS, VALUES, data, deviations, error, fitter, minimum, prepared
from benchmarks.memory import forget_peak, status
from benchmarks.timing import ProcessError, Time, fresh, once, there

ROWS = {"table": 1_000_000, "dense": 1_000_000, "categories": 600_000, "parquet": 20_000_000}
DESIGNS = {"table": "mixed units, correlated", "dense": "independent normals", "categories": "categories"}
WARM = 5_000
FAMILIES = ("poisson", "logistic")
LIBRARIES = {
    "evenodds": "evenodds",
    "glum": "glum",
    "scikit-learn": "sklearn",
    "scaled": "sklearn",
    "statsmodels": "statsmodels",
}
TOLERANCES = tuple(10.0**-digits for digits in range(4, 13))
RIGHT = 1e-6
PATIENCE = 30  # seconds of one fit, above which no tighter tolerance is tried
LIMIT = 600  # seconds


def measure_here(library: str, design: str, family: str, rows: int, repeats: int) -> dict[str, Any]:
    """Time, memory and error of one fit, in this process, which should be a fresh one."""
    few, few_y = data(design, family, WARM)
    fitter(library, design, family, None)(prepared(library, design, few), few_y)
    x, y = data(design, family, rows)
    given, spread = prepared(library, design, x), deviations(design, x)
    width = NUMBERS if design != "categories" else COLUMNS * (VALUES - 1)
    best: Any = None
    tried = []
    for tolerance in (None, *(() if library == "evenodds" else TOLERANCES)):
        fit = fitter(library, design, family, tolerance)
        one = _timed(fit, given, y, 1)
        found = one.pop("found")
        best = minimum(design, family, x, y, found) if best is None else best
        tried.append({"tolerance": tolerance, **one, "error": error(spread, best, found)})
        if tried[-1]["error"] <= RIGHT or one["seconds"] > PATIENCE:
            break
    default = tried[0]
    right = [one for one in tried if one["error"] <= RIGHT]
    chosen = min(right or tried, key=lambda one: one["seconds"] if right else one["error"])
    if chosen["seconds"] < PATIENCE and repeats > 1:
        again = _timed(fitter(library, design, family, chosen["tolerance"]), given, y, repeats - 1)
        chosen = {**chosen, **{name: min(chosen[name], again[name]) for name in ("seconds", "cpu_seconds")}}
    return {
        **chosen,
        "extra_share": chosen["extra_bytes"] / (8 * rows * width),
        "default_seconds": default["seconds"],
        "default_error": default["error"],
        "tried": [[one["tolerance"], one["seconds"], one["error"]] for one in tried],
    }


def _timed(fit: Callable[[Any, Any], tuple[Any, float]], x: Any, y: Any, repeats: int) -> dict[str, Any]:
    """The best seconds of a few fits, by how much memory rose, and what was found."""
    best, extra, found = Time(float("inf"), float("inf")), 0, (np.zeros(1), 0.0)
    for _ in range(repeats):
        before = forget_peak()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a tolerance was not reached is seen by the error
            took, found = once(lambda: fit(x, y))
        best = Time(*map(min, best, took))
        extra = max(extra, status("VmHWM") - before)
    return {"seconds": best.seconds, "cpu_seconds": best.cpu, "extra_bytes": extra, "found": found}


def parquet(rows: int) -> dict[str, Any]:
    """A Poisson regression of a Parquet file, read again for every pass: seconds, and the process's highest memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        rng, size, writer = np.random.default_rng(0), 1 << 20, None
        towns = np.array([f"town {value:02d}" for value in range(20)])
        for start in range(0, rows, size):
            n = min(size, rows - start)
            numbers = {f"x{j}": rng.normal(size=n).astype(np.float32) for j in range(6)}
            town = rng.integers(0, 20, n)
            score = sum(0.1 * j * numbers[f"x{j}"] for j in range(6)) + 0.02 * town - 1
            columns = {**{name: pa.array(column) for name, column in numbers.items()}, "town": pa.array(towns[town])}
            part = pa.table({**columns, "visits": pa.array(rng.poisson(np.exp(score)))})
            writer = writer or pq.ParquetWriter(path, part.schema)
            writer.write_table(part)
        assert writer is not None
        writer.close()
        size_on_disk = path.stat().st_size
        command = [sys.executable, "-m", "evenodds", "regress", str(path), "-t", "visits", "-f", "poisson", "--json"]
        program = (
            "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode); print(done.stdout[-4000:])"
        )
        took, done = once(
            lambda: subprocess.run(
                [sys.executable, "-c", program, *command], capture_output=True, text=True, check=True
            )
        )
    peak, code = done.stdout.splitlines()[0].split()
    if code != "0":
        raise RuntimeError(done.stdout + done.stderr)
    return {"rows": rows, "seconds": took.seconds, "peak_bytes": int(peak) * 1024, "file_bytes": size_on_disk}


def in_a_process(library: str, design: str, family: str, rows: int, repeats: int) -> dict[str, Any]:
    """The same in a fresh process; a sentence where it fails."""
    told = ["--here", f"{library},{design},{family}", "--rows", str(rows), "--repeats", str(repeats)]
    try:
        found: dict[str, Any] = fresh("glm_speed", *told, timeout=LIMIT)
    except ProcessError as why:
        found = {"failed": str(why)}
    return {"library": library, "design": design, "family": family, "rows": rows, **found}


def shown(result: report.Result) -> str:
    """Seconds at which the coefficients are right; then memory, and what default tolerances reach."""
    fits = result["fits"]
    libraries = list(dict.fromkeys(one["library"] for one in fits))
    by_case: dict[str, dict[str, dict[str, Any]]] = {}
    for one in fits:
        case = f"{one['family']}, {DESIGNS[one['design']]}, {one['rows']:,} rows"
        by_case.setdefault(case, {})[one["library"]] = one

    def cell(one: dict[str, Any] | None) -> str:
        if one is None or "failed" in one:
            return "" if one is None else one["failed"][:60]
        return f"{one['seconds']:.2f}" + (f" ({_error(one['error'])})" if one["error"] > RIGHT else "")

    names = ["scikit-learn, scaled first" if library == "scaled" else library for library in libraries]
    rows = [[case, *(cell(some.get(library)) for library in libraries)] for case, some in by_case.items()]
    details = [
        [
            f"{one['family']}, {DESIGNS[one['design']]}: {one['library']}",
            f"{one['cpu_seconds']:.2f}",
            _error(one["error"]),
            f"{one['extra_share']:.2f}",
            f"{one['default_seconds']:.2f}",
            _error(one["default_error"]),
        ]
        for one in fits
        if "failed" not in one
    ]
    header = ["fit", "seconds of cores", "error", "memory / design", "seconds, default tolerance", "its error"]
    return report.blocks(report.table(["seconds", *names], rows), report.table(header, details))


def _error(error: float) -> str:
    return f"{error:.0e}" if error < 0.05 else f"{error:.1f}"


def shown_parquet(result: report.Result) -> str:
    """Seconds and memory of a file that is read again for every pass."""
    return report.paragraph(
        f"A Poisson regression of a Parquet file of {result['rows']:,} rows ({result['file_bytes'] / 1e6:,.0f} MB; 6 "
        f"numbers, a category of 20 values), which is read again for every pass: {result['seconds']:.0f} s, at most "
        f"{result['peak_bytes'] / 1e6:,.0f} MB of memory."
    )


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--only", type=report.names, default=list(ROWS), help=f"some of {','.join(ROWS)}")
    parser.add_argument(
        "--libraries", type=report.names, default=list(LIBRARIES), help=f"some of {','.join(LIBRARIES)}"
    )
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--here", type=report.names, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        library, design, family = given.here
        print(json.dumps(measure_here(library, design, family, given.rows, given.repeats)))
        return
    chosen = [library for library in given.libraries if there(LIBRARIES[library])]
    fits = []
    for design in [one for one in DESIGNS if one in given.only]:
        for family in FAMILIES:
            for library in chosen:
                fits.append(in_a_process(library, design, family, given.rows or ROWS[design], given.repeats))
                print(fits[-1], file=sys.stderr, flush=True)
    if fits:
        report.finish("glm_speed", {"fits": fits}, shown, given.save)
    if "parquet" in given.only:
        report.finish("glm_parquet", parquet(given.rows or ROWS["parquet"]), shown_parquet, given.save)


if __name__ == "__main__":
    main()
