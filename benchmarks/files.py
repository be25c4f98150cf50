"""Fitting a file from end to end, beside reading it with pandas and scanning it with polars.

    python -m benchmarks.files --save                # 2 GB files: about 7 minutes and 4 GB of disk
    python -m benchmarks.files --megabytes 200

The rows are a mix as people have it: amounts with two decimals, measurements with all 17 digits, counts, and five
columns of categories; the target is one of three classes. Every job is a process of its own, `evenodds fit` as a person
would start it: its time includes starting Python, and its memory is the whole process at its highest (VmHWM). A file is
read once before anything is timed, so that it is in the page cache, and of two runs of each job the faster one counts.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchmarks import report
from benchmarks.timing import cached, once

CHUNK = 250_000  # rows
RUNS = 2  # of each job, of which the faster counts
EVENODDS = str(Path(sys.executable).parent / "evenodds")
WATCH = """
import json, runpy, sys
from pathlib import Path
code = 0
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    code = end.code or 0
peak = next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
print(json.dumps({"megabytes": peak * 1024 / 1e6, "code": code}), file=sys.stderr)
"""
PEERS = {
    "pandas.read_csv": "import pandas; print(len(pandas.read_csv({path!r})))",
    "pandas.read_csv, pyarrow engine": "import pandas; print(len(pandas.read_csv({path!r}, engine='pyarrow')))",
    "polars.scan_csv, means and counts": (
        "import polars as pl; frame = pl.scan_csv({path!r});"
        "names = frame.collect_schema();"
        "print(frame.group_by('label').agg(*[pl.col(n).mean() if t.is_numeric() else pl.col(n).n_unique()"
        " for n, t in names.items() if n != 'label']).collect(engine='streaming'))"
    ),
    "polars.scan_parquet, means and counts": (
        "import polars as pl; frame = pl.scan_parquet({path!r});"
        "names = frame.collect_schema();"
        "print(frame.group_by('label').agg(*[pl.col(n).mean() if t.is_numeric() else pl.col(n).n_unique()"
        " for n, t in names.items() if n != 'label']).collect(engine='streaming'))"
    ),
}


def chunk(number: int) -> pa.Table:
    """Some rows."""
    rng = np.random.default_rng([7, number])
    n = CHUNK
    y = rng.integers(0, 3, n)
    columns: dict[str, Any] = {}
    for j in range(6):
        columns[f"amount{j}"] = np.round(rng.lognormal(3 + 0.1 * y, 1, n), 2)
    for j in range(4):
        columns[f"measured{j}"] = rng.normal(0.2 * y * j, 1, n)
    for j in range(4):
        columns[f"count{j}"] = rng.poisson(3 + y, n)
    for j, levels in enumerate((2, 5, 20, 200, 2000)):
        codes = (rng.random(n) ** (1 + 0.2 * y) * levels).astype(np.int32)
        names = pa.array([f"value {j}-{i}" for i in range(levels)])
        columns[f"category{j}"] = pa.DictionaryArray.from_arrays(pa.array(codes), names).cast(pa.string())
    columns["label"] = pa.array(["low", "middle", "high"]).take(pa.array(y))
    return pa.table(columns)


def make(folder: Path, size: int) -> dict[str, Any]:
    """A CSV and a Parquet file of about `size` bytes each."""
    paths = {"csv": folder / "rows.csv", "parquet": folder / "rows.parquet"}
    rows = {"csv": 0, "parquet": 0}
    first = chunk(0)
    with pa_csv.CSVWriter(paths["csv"], first.schema) as out:
        number = 0
        while paths["csv"].stat().st_size < size:
            out.write_table(chunk(number))
            rows["csv"], number = rows["csv"] + CHUNK, number + 1
    with pq.ParquetWriter(paths["parquet"], first.schema) as out:
        number = 0
        while paths["parquet"].stat().st_size < size:
            out.write_table(chunk(number), row_group_size=1 << 20)
            rows["parquet"], number = rows["parquet"] + CHUNK, number + 1
    return {kind: {"path": str(path), "rows": rows[kind], "bytes": path.stat().st_size} for kind, path in paths.items()}


def measured(command: list[str]) -> dict[str, Any]:
    """The time and memory of a process, its modules' byte code kept on disk as that of an installed package is."""
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *command], capture_output=True, text=True, check=False, env=kept
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stderr.strip().splitlines()[-1])
    if found.pop("code"):
        raise RuntimeError(done.stderr)
    return found


def timed(job: str, command: list[str], source: dict[str, Any]) -> dict[str, Any]:
    """The faster of two runs."""
    runs = [once(lambda: measured(command)) for _ in range(RUNS)]
    took, found = min(runs, key=lambda run: run[0])
    print(f"{job}: {took.seconds:.1f} s, {found['megabytes']:.0f} MB", file=sys.stderr, flush=True)
    return {"job": job, "seconds": took.seconds, **found, "rows_per_second": source["rows"] / took.seconds}


def shown(result: report.Result) -> str:
    """Seconds, speed and memory."""
    sources = [
        f"{one['rows'] / 1e6:.1f} million rows of {kind} ({one['bytes'] / 1e9:.1f} GB)"
        for kind, one in (("CSV", result["sources"]["csv"]), ("Parquet", result["sources"]["parquet"]))
    ]
    rows = [
        [line["job"], f"{line['seconds']:.1f}", f"{line['rows_per_second'] / 1e6:.2f}", f"{line['megabytes']:,.0f}"]
        for line in result["results"]
    ]
    return report.blocks(
        report.paragraph(f"{report.listed(sources)}:"), report.table(["job", "s", "million rows/s", "peak MB"], rows)
    )


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--folder", type=Path, help="where to put the files; a temporary folder if not given")
    parser.add_argument("--only", choices=["csv", "parquet"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        folder = Path(place)
        sources = make(folder, given.megabytes * 1_000_000)
        os.sync()
        small = folder / "small.csv"  # compiled code is on disk before anything is timed
        pa_csv.write_csv(chunk(0), small)
        fit = [EVENODDS, "fit", "-t", "label", "-o", str(folder / "m.eo"), "-q"]
        measured([*fit, str(small)])
        results = []
        for kind, source in sources.items():
            if given.only not in (None, kind):
                continue
            cached(source["path"])
            jobs = [
                (f"evenodds fit, {kind}", [*fit, source["path"]]),
                (f"evenodds fit, {kind}, 1 thread", [*fit, source["path"], "--threads", "1"]),
            ]
            for i, (name, script) in enumerate(PEERS.items()):
                if kind in name:
                    peer = folder / f"peer{i}.py"
                    peer.write_text(script.format(path=source["path"]))
                    jobs.append((name, [str(peer)]))
            results += [timed(name, command, source) for name, command in jobs]
    kept = {kind: {k: v for k, v in source.items() if k != "path"} for kind, source in sources.items()}
    report.finish("files", {"sources": kept, "results": results}, shown, given.save)


if __name__ == "__main__":
    main()
