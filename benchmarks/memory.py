"""Peak extra memory of one call, as a share of its input, measured in a process of its own.

    python -m benchmarks.memory --job "GaussianNB, fit" --input pyarrow --rows 5000000

The process first runs the job on a few rows (imports and compiled code are then there), makes the input, notes its
resident memory, resets the kernel's high-water mark, runs the job, and reads the mark (VmHWM of Linux; not ru_maxrss,
which a child inherits from a big parent). What the job returns is counted too: probabilities of 2 classes are 0.1 of
20 float columns. Turning an Arrow table into scikit-learn's or polars' frame is not counted.
"""

import argparse
import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import jobs, synthetic


def _status(field: str) -> int:
    """A field of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


def peak_extra(call: Callable[[], object]) -> int:
    """The bytes by which resident memory rose at its highest during a call."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    Path("/proc/self/clear_refs").write_text("5")  # sets VmHWM to VmRSS
    before = _status("VmRSS")
    result = call()
    extra = _status("VmHWM") - before
    del result
    return max(0, extra)


def measure_here(job: str, source: str, rows: int) -> dict[str, Any]:
    """Measure a job in this process, which should be a fresh one."""
    make, prepare = synthetic.INPUTS[source], jobs.JOBS[job]
    prepare(make(synthetic.WARM_ROWS), synthetic.classes(synthetic.WARM_ROWS))()
    table, y = make(rows), synthetic.classes(rows)
    call = prepare(table, y)
    size = synthetic.nbytes(table)
    extra = peak_extra(call)
    return {"job": job, "input": source, "input_bytes": size, "extra_bytes": extra, "share": extra / size}


def measure(job: str, source: str, rows: int) -> dict[str, Any]:
    """Measure a job in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.memory", "--job", job, "--input", source, "--rows", str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{job} on {source}: {done.stderr.strip().splitlines()[-1]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="peak extra memory of one job")
    parser.add_argument("--job", required=True, choices=jobs.JOBS)
    parser.add_argument("--input", required=True, choices=synthetic.INPUTS)
    parser.add_argument("--rows", type=int, default=5_000_000)
    options = parser.parse_args()
    print(json.dumps(measure_here(options.job, options.input, options.rows)))


if __name__ == "__main__":
    main()
