"""How fast, and in how much memory? Poisson and logistic regression beside glum, scikit-learn and statsmodels.

    python -m benchmarks.glm_speed [--rows 100000] [--only dense,categories,parquet] [--repeats 2] [--save]

Two designs: 1,000,000 rows of 50 numbers, and 600,000 rows of 8 categories of 41 values, so 320 one-hot columns and the
intercept. Every fit runs in a process of its own, first on a few rows, then on all of them, the best of a few; what is
measured is `fit` on what each library takes best: a numpy array, or a frame of pandas categoricals (glum and ours),
a sparse one-hot matrix (scikit-learn, which has no categories), a dense one (statsmodels, which has nothing else).

No penalty. Equal tolerance: each library is told to stop when no slope of the mean cost is above 1e-6, in its own words
(glum's gradient_tol, scikit-learn's tol); statsmodels stops when the deviance changes by less than 1e-8 of itself, its
default; ours is its own, 1e-7. The slope that was reached is measured for all in one way, and shown. Ours forms the
standard errors too, statsmodels as well; glum and scikit-learn do not.

Memory is by how much resident memory rose during `fit`, as a share of the design: of a dense one 8 bytes a number, also
where a library is given codes.
"""

import argparse
import gc
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.memory import _status
from benchmarks.timing import Neighbours

ROWS = {"dense": 1_000_000, "categories": 600_000, "parquet": 20_000_000}
WARM = 5_000
NUMBERS, COLUMNS, VALUES = 50, 8, 41
FAMILIES = ("poisson", "logistic")
LIBRARIES = ("evenodds", "glum", "scikit-learn", "statsmodels")
SLOPE = 1e-6
LIMIT = 600  # seconds


def data(design: str, family: str, rows: int) -> tuple[Any, Any]:
    """The columns and the target; the same for every library."""
    rng = np.random.default_rng(0)
    x: Any
    if design == "dense":
        x = rng.normal(size=(rows, NUMBERS))
        score = x @ (rng.normal(size=NUMBERS) * 0.15) - 0.5
    else:
        x = rng.integers(0, VALUES, (rows, COLUMNS)).astype(np.int8)
        effects = rng.normal(size=(COLUMNS, VALUES)) * 0.2
        score = sum(effects[j][x[:, j]] for j in range(COLUMNS)) - 0.5
    if family == "poisson":
        return x, rng.poisson(np.exp(score)).astype(float)
    return x, (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(float)


def frame(codes: Any) -> Any:
    """Codes as a frame of pandas categoricals."""
    import pandas as pd

    names = [f"v{value:02d}" for value in range(VALUES)]
    return pd.DataFrame({f"c{j}": pd.Categorical.from_codes(codes[:, j], names) for j in range(COLUMNS)})


def one_hot(codes: Any) -> Any:
    """Codes as a sparse matrix, the first value of each column left out."""
    from scipy.sparse import csr_matrix

    place = codes.astype(np.int32) - 1 + np.arange(COLUMNS, dtype=np.int32) * (VALUES - 1)
    real = codes > 0
    ends = np.concatenate([[0], np.cumsum(real.sum(axis=1))])
    return csr_matrix((np.ones(int(ends[-1])), place[real], ends), (len(codes), COLUMNS * (VALUES - 1)))


def prepared(library: str, design: str, x: Any) -> Any:
    """The columns as a library takes them best; not timed."""
    if design == "dense":
        return x
    if library == "scikit-learn":
        return one_hot(x)
    if library == "statsmodels":
        return one_hot(x).toarray()
    return frame(x)


def fitter(library: str, design: str, family: str) -> Callable[[Any, Any], tuple[Any, float]]:
    """What fits: it returns the coefficients without the intercept, in the order of the columns, and the intercept."""
    if library == "evenodds":
        import evenodds as eo

        glm = eo.GLM(eo.Poisson if family == "poisson" else eo.Bernoulli)

        def ours(x: Any, y: Any) -> tuple[Any, float]:
            found = glm.fit(x, y)
            return np.ravel(found.coef_), float(np.ravel(found.intercept_)[0])

        return ours
    if library == "glum":
        from glum import GeneralizedLinearRegressor

        kind = "poisson" if family == "poisson" else "binomial"
        peer = GeneralizedLinearRegressor(
            family=kind, alpha=0, gradient_tol=SLOPE, drop_first=design == "categories", max_iter=1000
        )
    elif library == "scikit-learn":
        from sklearn.linear_model import LogisticRegression, PoissonRegressor

        if family == "poisson":
            peer = PoissonRegressor(alpha=0, tol=SLOPE, max_iter=10_000)
        else:
            peer = LogisticRegression(C=np.inf, tol=SLOPE, max_iter=10_000)
    else:
        import statsmodels.api as sm

        kind = sm.families.Poisson() if family == "poisson" else sm.families.Binomial()

        def theirs(x: Any, y: Any) -> tuple[Any, float]:
            found = sm.GLM(y, sm.add_constant(x), kind).fit()
            return found.params[1:], float(found.params[0])

        return theirs

    def fit(x: Any, y: Any) -> tuple[Any, float]:
        found = peer.fit(x, y)
        return np.ravel(found.coef_), float(np.ravel(found.intercept_)[0])

    return fit


def slope(design: str, family: str, x: Any, y: Any, found: tuple[Any, float]) -> float:
    """The largest slope of the mean cost in a coefficient, of every library in one way."""
    columns = x if design == "dense" else one_hot(x)
    score = columns @ found[0] + found[1]
    away = (np.exp(score) if family == "poisson" else 1 / (1 + np.exp(-score))) - y
    return float(max(np.abs(columns.T @ away).max(), abs(away.sum())) / len(y))


def measure_here(library: str, design: str, family: str, rows: int, repeats: int) -> dict[str, Any]:
    """Time, memory and slope of one fit, in this process, which should be a fresh one."""
    fit = fitter(library, design, family)
    few, few_y = data(design, family, WARM)
    fit(prepared(library, design, few), few_y)
    x, y = data(design, family, rows)
    given = prepared(library, design, x)
    best, extra, found = float("inf"), 0, (np.zeros(1), 0.0)
    for _ in range(repeats):
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        start = time.perf_counter()
        found = fit(given, y)
        best = min(best, time.perf_counter() - start)
        extra = max(extra, _status("VmHWM") - before)
        if best > 60:
            break
    width = NUMBERS if design == "dense" else COLUMNS * (VALUES - 1)
    reached = slope(design, family, x, y, found)
    return {"seconds": best, "extra_bytes": extra, "extra_share": extra / (8 * rows * width), "slope": reached}


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
        start_at = time.perf_counter()
        program = (
            "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode); print(done.stdout[-4000:])"
        )
        done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - start_at
    peak, code = done.stdout.splitlines()[0].split()
    if code != "0":
        raise RuntimeError(done.stdout + done.stderr)
    return {"rows": rows, "seconds": seconds, "peak_bytes": int(peak) * 1024, "file_bytes": size_on_disk}


def in_a_process(library: str, design: str, family: str, rows: int, repeats: int) -> dict[str, Any]:
    """The same in a fresh process; a sentence where it fails."""
    arguments = ["--here", f"{library},{design},{family}", "--rows", str(rows), "--repeats", str(repeats)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.glm_speed", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"more than {LIMIT} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--only", default="dense,categories,parquet")
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--here")
    parser.add_argument("--save", action="store_true")
    args = parser.parse_args()
    if args.here:
        library, design, family = args.here.split(",")
        print(json.dumps(measure_here(library, design, family, args.rows, args.repeats)))
        return
    modules = {"scikit-learn": "sklearn"}
    chosen = []
    for library in args.libraries.split(","):
        try:
            importlib.import_module(modules.get(library, library))
            chosen.append(library)
        except ImportError:
            print(f"{library} is not installed and left out")
    others, results, lines = Neighbours(), [], []
    for design in [one for one in ("dense", "categories") if one in args.only.split(",")]:
        for family in FAMILIES:
            rows = args.rows or ROWS[design]
            for library in chosen:
                found = in_a_process(library, design, family, rows, args.repeats)
                results.append({"library": library, "design": design, "family": family, "rows": rows, **found})
                shown = (
                    [found["error"][:60], "", ""]
                    if "error" in found
                    else [f"{found['seconds']:.2f}", f"{found['extra_share']:.2f}", f"{found['slope']:.0e}"]
                )
                lines.append([f"{family}, {design}, {rows:,} rows", library, *shown])
                print(lines[-1], file=sys.stderr, flush=True)
    if lines:
        print(report.table(["fit", "library", "seconds", "memory / design", "slope"], lines))
    result: dict[str, Any] = {"fits": results}
    if "parquet" in args.only.split(","):
        result["parquet"] = parquet(args.rows or ROWS["parquet"])
        streamed = result["parquet"]
        print(
            f"\n{streamed['rows']:,} rows of Parquet ({streamed['file_bytes'] / 1e6:,.0f} MB): "
            f"{streamed['seconds']:.0f} s, highest memory {streamed['peak_bytes'] / 1e6:,.0f} MB"
        )
    result["others_cores"] = others.cores()
    print(f"other processes used {result['others_cores']:.1f} cores meanwhile")
    if args.save:
        print(report.save("glm_speed", result))


if __name__ == "__main__":
    main()
