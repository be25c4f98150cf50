"""What all benchmarks share: a table for people, and a JSON file that names the machine and the versions."""

import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("evenodds", "numpy", "numba", "scikit-learn", "pandas", "polars", "pyarrow")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with aligned columns: the first to the left, the others to the right.

    >>> print(table(["name", "n"], [["coin", "2"], ["die", "6"]]))
    | name |  n |
    |:-----|---:|
    | coin |  2 |
    | die  |  6 |
    """
    body = [list(row) for row in rows]
    widths = [max(2, *(len(row[i]) for row in [list(header), *body])) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        first, *others = (cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths)))
        return "| " + " | ".join([first, *others]) + " |"

    rule = "|:" + "-" * (widths[0] + 1) + "|" + "".join("-" * (w + 1) + ":|" for w in widths[1:])
    return "\n".join([line(header), rule, *map(line, body)])


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _commit() -> str:
    """The commit of the source, with a "+" if src/ differs from it."""

    def git(*words: str) -> str:
        root = Path(__file__).resolve().parents[1]
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "src") else "")


COMMIT = _commit()  # read when a benchmark starts: the source may change while it runs


def environment() -> dict[str, Any]:
    """The machine and the versions a result belongs to."""
    return {
        "commit": COMMIT,
        "date": datetime.date.today().isoformat(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str:
    """Of a package; one that is run from its source, or that a peer's environment lacks, has none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def save(name: str, result: dict[str, Any]) -> Path:
    """Write `benchmarks/results/<name>.json`; the results are kept in git."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"environment": environment(), **result}, indent=1) + "\n")
    return path
