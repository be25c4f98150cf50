"""Many rows and much text by 1 and 2 workers, beside a plain scan of the same bytes; and on Spark, beside MLlib.

    python -m benchmarks.scale --save                                 # 50 million rows, 5 GB of text: about an hour
    python -m benchmarks.scale --only rows --rows 5000000             # four files at least
    python -m benchmarks.scale --only text --megabytes 450
    python -m benchmarks.scale --only mllib --megabytes 100           # needs Java 17 and pyspark

rows    Parquet of 10 mixed columns, a million rows a file: `evenodds fit --workers` over two files, a fifth of all, and
        all, which says what a start costs and whether a row costs the same. The scan reads every batch with pyarrow and
        does nothing else.
text    Parquet of documents of about 500 bytes, Zipf's words: the same.
mllib   the documents of the text part (at most 2 GB of them), learnt and then a tenth as many predicted, end to end,
        each a process of its own: MLlib's Tokenizer, HashingTF (2^18) and NaiveBayes in local[2]; evenodds on the same
        Spark; evenodds without it.

Memory is the highest of any one process (VmHWM), by looking at all of them twenty times a second; Java is not counted.
A job's time is that of the whole process. Files are read once before anything is timed.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import report
from benchmarks.memory import status
from benchmarks.timing import cached

FILE = 1_000_000  # rows of a file
DOCUMENTS = 200_000  # of a file
MOST = 2_000  # megabytes of text that MLlib is given
LEAST = 4  # files
PAUSE = 0.05  # seconds between two looks at memory
SCAN = """
import sys, multiprocessing, pyarrow.parquet as pq
def scan(path):
    return sum(batch.num_rows for batch in pq.ParquetFile(path).iter_batches(131072))
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(int(sys.argv[1])) as pool:
        print(sum(pool.imap_unordered(scan, sys.argv[2:])))
"""
SESSION = """
import os, sys, json
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 4g pyspark-shell"
train, test = sys.argv[1:]
"""
MLLIB = (
    SESSION
    + """
from evenodds.data.spark import session
from pyspark.ml import Pipeline
from pyspark.ml.classification import NaiveBayes
from pyspark.ml.feature import HashingTF, Tokenizer
spark = session("local[2]")
steps = [Tokenizer(inputCol="text", outputCol="words"), HashingTF(inputCol="words", outputCol="features")]
model = Pipeline(stages=[*steps, NaiveBayes()]).fit(spark.read.parquet(train))
said = model.transform(spark.read.parquet(test))
right = said.selectExpr("avg(cast(prediction = label as double)) as right").collect()[0].right
print(json.dumps({"accuracy": right}))
"""
)
ON_SPARK = (
    SESSION
    + """
import evenodds as eo
from evenodds.data.spark import scored, session
spark = session("local[2]")
nb = eo.NaiveBayes(columns={"text": eo.Words()}).fit(spark.read.parquet(train), "label")
said = scored(spark.read.parquet(test), nb.predict, ["prediction"])
right = said.selectExpr("avg(cast(prediction = label as double)) as right").collect()[0].right
print(json.dumps({"accuracy": right}))
"""
)
LOCAL = """
import sys, json
import numpy as np, pyarrow.parquet as pq
import evenodds as eo
train, test = sys.argv[1:]
nb = eo.NaiveBayes(columns={"text": eo.Words()}).fit(train, "label")
label = pq.read_table(test, columns=["label"])["label"].to_numpy()
print(json.dumps({"accuracy": float(np.mean(nb.predict(test) == label))}))
"""


def rows(number: int) -> pa.Table:
    """A million rows of ten columns and a label."""
    rng = np.random.default_rng([12, number])
    y = rng.integers(0, 3, FILE)
    columns: dict[str, Any] = {f"amount{j}": np.round(rng.lognormal(3 + 0.1 * y, 1), 2) for j in range(3)}
    columns |= {f"measured{j}": rng.normal(0.2 * y * (j + 1), 1) for j in range(2)}
    columns |= {f"count{j}": rng.poisson(3 + y) for j in range(2)}
    for j, levels in enumerate((5, 50, 2000)):
        codes = (rng.random(FILE) ** (1 + 0.2 * y) * levels).astype(np.int32)
        names = pa.array([f"value {j}-{i}" for i in range(levels)])
        columns[f"category{j}"] = pa.DictionaryArray.from_arrays(pa.array(codes), names).cast(pa.string())
    columns["label"] = pa.array(["low", "middle", "high"]).take(pa.array(y))
    return pa.table(columns)


def documents(number: int) -> pa.Table:
    """Documents of eight phrases each, which one class uses more than the other."""
    words = np.array([f"{'aeiou'[i % 5]}{i:x}" for i in range(200_000)])
    phrases = np.random.default_rng(13)
    drawn = np.minimum(phrases.zipf(1.3, (40_000, 10)) - 1 + phrases.integers(0, 40, (40_000, 10)), len(words) - 1)
    pool = np.array([" ".join(line) for line in words[drawn]], object)
    rng = np.random.default_rng([14, number])
    y = rng.integers(0, 2, DOCUMENTS)
    picked = (rng.random((DOCUMENTS, 8)) ** (1 + 0.5 * y[:, None]) * len(pool)).astype(np.int64)
    return pa.table({"label": y.astype(np.float64), "text": pa.array([" ".join(pool[line]) for line in picked])})


def make(folder: Path, part: Callable[[int], pa.Table], enough: Callable[[int, int], bool]) -> list[str]:
    """Files, one after the other, until there are enough."""
    folder.mkdir()
    paths: list[str] = []
    size = 0
    while not enough(len(paths), size):
        table, path = part(len(paths)), folder / f"part-{len(paths):04}.parquet"
        pq.write_table(table, path, row_group_size=1 << 18)
        paths.append(str(path))
        size += table.nbytes
    return paths


def measured(command: list[str]) -> dict[str, Any]:
    """The time of a process with all it starts, the memory of the largest of them, and what it printed."""
    start, peak = time.perf_counter(), 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(command, stdout=out, stderr=err) as process:
            while process.poll() is None:
                peak = max([peak, *map(_memory, _family(process.pid))])
                time.sleep(PAUSE)
        seconds = time.perf_counter() - start
        out.seek(0)
        err.seek(0)
        if process.returncode:
            raise RuntimeError(err.read())
        return {"seconds": seconds, "megabytes": peak / 1e6, "said": out.read()}


def _family(pid: int) -> list[int]:
    """A process and all that come from it, but for Java."""
    found = [pid]
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                found += _family(int(child))
        return [one for one in found if Path(f"/proc/{one}/comm").read_text().strip() != "java"]
    except OSError:
        return []


def _memory(pid: int) -> int:
    try:
        return status("VmHWM", pid)
    except OSError:
        return 0


def scaled(what: str, paths: list[str], options: list[str], folder: Path) -> list[dict[str, Any]]:
    """Fitting and scanning by one and two workers: the first two files, a fifth of all, and all."""
    if len(paths) < LEAST:
        raise SystemExit(f"{len(paths)} files of {what}: at least {LEAST} are needed to tell a start from the rest")
    scan = folder / "scan.py"
    scan.write_text(SCAN)
    fit = [sys.executable, "-m", "evenodds", "fit", "-t", "label", "-o", str(folder / "m.eo"), "-q", *options]
    measured([*fit, *paths[:2], "--workers", "2"])  # compiled code is on disk before anything is timed
    cached(*paths)
    found = []
    for workers in (1, 2):
        for job in ("scan", "fit"):
            for many in sorted({2, max(3, len(paths) // 5), len(paths)}):
                some = paths[:many]
                command = [sys.executable, str(scan), str(workers), *some]
                if job == "fit":
                    command = [*fit, *some, "--workers", str(workers), "--threads", "1"]
                line = measured(command)
                line.pop("said")
                rows = sum(pq.read_metadata(path).num_rows for path in some)
                size = sum(os.stat(path).st_size for path in some)
                line |= {"part": what, "job": job, "workers": workers, "files": many, "rows": rows, "bytes": size}
                print(f"{what}, {job}, {workers}, {many} files: {line['seconds']:.1f} s, {line['megabytes']:.0f} MB",
                      file=sys.stderr, flush=True)  # fmt: skip
                found.append(line)
    return found


def beside_mllib(paths: list[str], folder: Path) -> list[dict[str, Any]]:
    """The same documents learnt and others predicted, end to end, in three ways."""
    train, test = folder / "train", folder / "test"
    train.mkdir()
    test.mkdir()
    for path in paths:
        os.link(path, train / Path(path).name)
    pq.write_table(documents(10_000).slice(0, max(20_000, DOCUMENTS * len(paths) // 10)), test / "test.parquet")
    cached(*paths)
    found = []
    for job, script in (("evenodds", LOCAL), ("evenodds on Spark", ON_SPARK), ("Spark MLlib", MLLIB)):
        (folder / "job.py").write_text(script)
        places = (str(train), str(test))
        line = measured([sys.executable, str(folder / "job.py"), *places])
        said = json.loads(line.pop("said").strip().splitlines()[-1])
        line |= {"part": "mllib", "job": job, **said}
        print(f"{job}: {line['seconds']:.1f} s, accuracy {said['accuracy']:.4f}", file=sys.stderr, flush=True)
        found.append(line)
    return found


def rate(lines: list[dict[str, Any]], job: str, workers: int, first: int = 0, last: int = -1) -> tuple[float, float]:
    """Rows and megabytes a second, beyond what a shorter run took: without starting processes and loading code."""
    mine = [line for line in lines if (line["job"], line["workers"]) == (job, workers)]
    a, b = mine[first], mine[last]
    seconds = max(b["seconds"] - a["seconds"], 1e-9)
    return (b["rows"] - a["rows"]) / seconds, (b["bytes"] - a["bytes"]) / 1e6 / seconds


def shown(result: report.Result) -> str:
    """Seconds by one and two workers, and memory."""
    lines = result["results"]
    rows = []
    for job in ("fit", "scan"):
        for many in sorted({line["rows"] for line in lines}):
            both = [line for line in lines if (line["job"], line["rows"]) == (job, many)]
            cells = [f"{line['seconds']:.1f}" for line in both]
            rows.append([job, f"{many:,}", *cells, f"{max(line['megabytes'] for line in both):.0f}"])
    size = max(line["bytes"] for line in lines) / 1e9
    header = [f"seconds, files of {size:.1f} GB", "rows", "1 worker", "2 workers", "peak MB of a process"]
    return report.blocks(report.table(header, rows), _rates(lines))


def _rates(lines: list[dict[str, Any]]) -> str:
    """What a row costs beyond a start, by one worker and by two, and whether later ones cost more."""
    rates = {(job, n): rate(lines, job, n) for job in ("scan", "fit") for n in (1, 2)}
    (one, size), (two, _) = rates["fit", 1], rates["fit", 2]
    scan = rates["scan", 2][0] / rates["scan", 1][0]
    early, late = rate(lines, "fit", 1, 0, 1)[0], rate(lines, "fit", 1, 1, 2)[0]
    return report.paragraph(
        f"Beyond what a start takes, {one / 1e6:.2f} million rows a second are counted by one worker ({size:.0f} MB of",
        f"files) and {two / 1e6:.2f} by two: {two / one:.2f} times as many, a scan {scan:.2f} times. A row of the last",
        f"four fifths costs {early / late:.2f} times one of the first fifth. So 10 TB of such files on 1,000 cores are",
        f"10 TB / (1,000 × {size:.0f} MB/s), about {1e4 / size:.0f} seconds of counting, if the disks give",
        f"{size:.0f} GB/s.",
    )


def shown_mllib(result: report.Result) -> str:
    """Seconds and accuracies."""
    lines = result["results"]
    theirs = next(line["seconds"] for line in lines if "MLlib" in line["job"])
    rows = [
        [
            line["job"],
            f"{line['seconds']:.1f}",
            report.times(theirs / line["seconds"]),
            f"{line['accuracy']:.4f}",
            f"{line['megabytes']:.0f}",
        ]
        for line in lines
    ]
    return report.table(["job", "seconds", "times as fast as MLlib", "accuracy", "peak MB of a Python process"], rows)


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--only", choices=["rows", "text", "mllib"])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--megabytes", type=int, default=5_000, help="of text")
    parser.add_argument("--folder", type=Path, help="where to put the files; a temporary folder if not given")
    given = parser.parse_args()
    if given.only in (None, "rows"):
        with tempfile.TemporaryDirectory(dir=given.folder) as place:
            paths = make(Path(place) / "rows", rows, lambda files, _: files * FILE >= given.rows)
            report.finish("scale_rows", {"results": scaled("rows", paths, [], Path(place))}, shown, given.save)
    if given.only in (None, "text", "mllib"):
        size = given.megabytes if given.only != "mllib" else min(given.megabytes, MOST)
        with tempfile.TemporaryDirectory(dir=given.folder) as place:
            paths = make(Path(place) / "text", documents, lambda _, so_far: so_far >= size * 1_000_000)
            if given.only != "mllib":
                found = scaled("text", paths, ["--text", "text"], Path(place))
                report.finish("scale_text", {"results": found}, shown, given.save)
            if given.only != "text":
                few = max(1, min(len(paths), MOST * len(paths) // size))
                report.finish(
                    "scale_mllib", {"results": beside_mllib(paths[:few], Path(place))}, shown_mllib, given.save
                )


if __name__ == "__main__":
    main()
