"""What all benchmarks share: options, Markdown for people, and JSON that names the machine and the versions."""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.timing import Neighbours

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("evenodds", "numpy", "numba", "scikit-learn", "pandas", "polars", "pyarrow")
WIDTH = 120  # of a line of text
Result = dict[str, Any]


# -- options -----------------------------------------------------------------------------------------------------------


def options(about: str | None) -> argparse.ArgumentParser:
    """The options of a script, told by its docstring; all can keep their results."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help="keep the results in benchmarks/results")
    return parser


def names(text: str) -> list[str]:
    """An option of several names, with commas between."""
    return text.split(",")


# -- Markdown ----------------------------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table with aligned columns: the first ones to the left, the others to the right.

    >>> print(table(["name", "n"], [["coin", "2"], ["die", "6"]]))
    | name |  n |
    |:-----|---:|
    | coin |  2 |
    | die  |  6 |
    """
    body = [list(row) for row in rows]
    widths = [max(2, *(len(row[i]) for row in [list(header), *body])) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, widths))]
        return f"| {' | '.join(padded)} |"

    rules = [":" + "-" * (w + 1) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)]
    return "\n".join([line(header), f"|{'|'.join(rules)}|", *map(line, body)])


def paragraph(*sentences: str) -> str:
    """Sentences in lines of one width."""
    return textwrap.fill(" ".join(sentences), WIDTH, break_long_words=False, break_on_hyphens=False)


def blocks(*some: str) -> str:
    """Paragraphs and tables, one after the other; empty ones are left out."""
    return "\n\n".join(block for block in some if block)


def listed(some: Iterable[str]) -> str:
    """Names in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *most, last = some
    return f"{', '.join(most)} and {last}" if most else last


def span(numbers: Iterable[float], form: Callable[[float], str]) -> str:
    """From the least to the largest.

    >>> span([3, 1, 2], "{:.1f}".format), span([2, 2.01], "{:.1f}".format)
    ('1.0 to 3.0', '2.0')
    """
    some = list(numbers)
    low, high = form(min(some)), form(max(some))
    return low if low == high else f"{low} to {high}"


def times(ratio: float) -> str:
    """How many times: two digits, or all before the point.

    >>> [times(x) for x in (0.0721, 1.214, 47.67, 3213.4)]
    ['0.07', '1.2', '48', '3,213']
    """
    return f"{ratio:.2f}" if ratio < 0.95 else f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"


def milliseconds(seconds: float) -> str:
    """In milliseconds, three digits, or all before the point.

    >>> [milliseconds(x) for x in (0.0000526, 0.00331, 0.0104, 9.17)]
    ['0.053', '3.31', '10.4', '9,170']
    """
    ms = 1e3 * seconds
    digits = 3 if ms < 0.1 else 2 if ms < 10 else 1 if ms < 100 else 0
    return f"{ms:,.{digits}f}"


# -- results -----------------------------------------------------------------------------------------------------------


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


# both begin when a benchmark starts: the source may change while it runs, and others may work beside it
COMMIT = _commit()
NEIGHBOURS = Neighbours()


def environment() -> Result:
    """The machine and the versions a result belongs to, and how many cores other processes kept busy meanwhile."""
    return {
        "commit": COMMIT,
        "date": datetime.date.today().isoformat(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {package: _version(package) for package in PACKAGES},
        "busy": round(NEIGHBOURS.cores(), 2),
    }


def _version(package: str) -> str:
    """Of a package; one that is run from its source, or that a peer's environment lacks, has none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def measured(where: Result) -> str:
    """A result's environment in a sentence: at which commit, on what machine, beside what other work."""
    cpu = where["cpu"].replace("(R)", "").replace(" Processor", "")
    beside = where.get("busy", 0.0)
    others = f"; other processes kept {beside:.1f} of them busy" if beside >= 0.1 else ""
    return f"Measured at `{where['commit']}` on {cpu}, {where['cores']} cores{others}."


def finish(name: str, result: Result, shown: Callable[[Result], str], to_file: bool) -> None:
    """Print what a page shows of a result, and keep it in `benchmarks/results/<name>.json`, which is in git."""
    print(f"\n{shown(result)}\n", flush=True)
    if to_file:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{name}.json"
        path.write_text(json.dumps({"environment": environment(), **result}, indent=1) + "\n")
        print(f"wrote {path}", flush=True)


def load(name: str) -> Result:
    """A result that was kept."""
    found: Result = json.loads((RESULTS / f"{name}.json").read_text())
    return found
