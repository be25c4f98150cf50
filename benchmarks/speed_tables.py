"""How fast, and in how much memory? Fitting and predicting big made-up tables, beside scikit-learn and polars.

    python -m benchmarks.speed_tables [--rows 5000000] [--only fit,predict,...] [--peers-only] [--save]

One run, one process, warm, the sides in turns, the best of three. All sides get the same container; for an Arrow table
scikit-learn gets the pandas frame made from it and polars its own frame, and neither conversion is counted
(scikit-learn's is shown). OrdinalEncoder runs on a tenth of the rows and is scaled by ten, for a short run. Memory
is measured in processes of their own (`benchmarks/memory.py`).
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from benchmarks import jobs, memory, report, synthetic
from benchmarks.timing import Neighbours, best_of, best_of_many, warm

NUMERIC = ("pandas, row-major", "pandas, column-wise", "pyarrow")
CODES = ("pandas categoricals", "pyarrow dictionaries")
STRINGS = ("pyarrow strings", "pyarrow long strings", "pandas strings")


class Line(NamedTuple):
    """One measurement beside its peer; `target` is the least ratio to meet (times faster than the peer)."""

    source: str
    job: str
    seconds: float
    peer: str
    peer_seconds: float
    target: float | None = None

    @property
    def ratio(self) -> float:
        """How many times faster than the peer."""
        return self.peer_seconds / self.seconds

    def cells(self) -> list[str]:
        """The line, to be read."""
        verdict = "" if self.target is None else "yes" if self.ratio >= self.target else "NO"
        wanted = "" if self.target is None else f"{self.target:.2f}"
        ratio = "" if self.job == self.peer else f"{self.ratio:.2f}"
        return [self.source, self.job, f"{self.seconds:.3f}", ratio, wanted, verdict]


def race(source: str, rows: int, peer: str, targets: dict[str, float | None], peers_only: bool) -> list[Line]:
    """Jobs on one input, in turns with their peer."""
    chosen = [peer, *(job for job in targets if not (peers_only and job.startswith("ours")))]
    small = synthetic.INPUTS[source](synthetic.WARM_ROWS)
    warm({job: jobs.JOBS[job](small, synthetic.classes(synthetic.WARM_ROWS)) for job in chosen})
    table, y = synthetic.INPUTS[source](rows), synthetic.classes(rows)
    if isinstance(table, pa.Table) and peer.startswith("GaussianNB"):
        start = time.perf_counter()
        table.to_pandas()
        print(f"(pyarrow to pandas, not counted: {time.perf_counter() - start:.3f} s)", flush=True)
    seconds = best_of({job: jobs.JOBS[job](table, y) for job in chosen})
    return [Line(source, job, seconds[job], peer, seconds[peer], targets.get(job)) for job in chosen]


def numeric_fit(rows: int, peers_only: bool) -> list[Line]:
    """Moments alone and the full numeric tally beside GaussianNB.fit."""
    targets = {"ours, fit moments (Gaussian)": 8.0, "ours, fit full tally (Binned)": 4.0}
    return [line for source in NUMERIC for line in race(source, rows, "GaussianNB, fit", {**targets}, peers_only)]


def predict(rows: int, peers_only: bool) -> list[Line]:
    """Probabilities beside GaussianNB.predict_proba."""
    targets = {
        "ours, predict plug-in Gaussian": 5.0,
        "ours, predict Binned": 5.0,
        "ours, predict Student-t": 2.0,
    }
    return [line for source in NUMERIC for line in race(source, rows, "GaussianNB, predict", {**targets}, peers_only)]


def _encoded(source: str, rows: int) -> float:
    """Seconds of OrdinalEncoder + CategoricalNB, run on a tenth of the rows and scaled."""
    few = max(1000, rows // 10)
    job = jobs.JOBS["OrdinalEncoder + CategoricalNB, fit"](synthetic.INPUTS[source](few), synthetic.classes(few))
    return best_of({"it": job}, repeats=2)["it"] * rows / few


def codes_fit(rows: int, peers_only: bool) -> list[Line]:
    """Categorical columns from dictionary codes beside CategoricalNB, which is given plain integer codes."""
    peer, our = "CategoricalNB, fit", "ours, fit (Categorical)"
    y, lines = synthetic.classes(rows), []
    for source in CODES:
        tasks = {peer: jobs.JOBS[peer](synthetic.INPUTS["integer codes"](rows), y)}
        if not peers_only:
            warm(
                {
                    our: jobs.JOBS[our](
                        synthetic.INPUTS[source](synthetic.WARM_ROWS), synthetic.classes(synthetic.WARM_ROWS)
                    )
                }
            )
            tasks[our] = jobs.JOBS[our](synthetic.INPUTS[source](rows), y)
        seconds = best_of(tasks)
        lines.append(Line("integer codes", peer, seconds[peer], peer, seconds[peer]))
        lines += [Line(source, our, seconds[our], peer, seconds[peer], 40.0)] if our in seconds else []
    encoded = _encoded("pandas categoricals", rows)
    lines.append(Line("pandas categoricals", "OrdinalEncoder + CategoricalNB (scaled)", encoded, peer, seconds[peer]))
    return lines


def strings_fit(rows: int, peers_only: bool) -> list[Line]:
    """Categorical columns from strings beside polars' group-by: at most 1.3 times its time."""
    peer, lines = "polars group-by", []
    for source in STRINGS:
        lines += race(source, rows, peer, {"ours, fit (Categorical)": 1 / 1.3}, peers_only)
        if source != "pyarrow long strings":
            encoded, polars_seconds = _encoded(source, rows), lines[-1].peer_seconds
            lines.append(Line(source, "OrdinalEncoder + CategoricalNB (scaled)", encoded, peer, polars_seconds))
    return lines


def weigh(rows: int, peers_only: bool) -> list[dict[str, Any]]:
    """Peak extra memory of every job on every input it takes."""
    numeric = [job for job in jobs.JOBS if "Categorical" not in job and "polars" not in job]
    strings = ["ours, fit (Categorical)", "polars group-by"]
    pairs = [(job, source) for source in NUMERIC for job in numeric]
    pairs += [("CategoricalNB, fit", "integer codes"), *(("ours, fit (Categorical)", source) for source in CODES)]
    pairs += [(job, source) for source in STRINGS for job in strings]
    return [memory.measure(job, source, rows) for job, source in pairs if not (peers_only and job.startswith("ours"))]


def same_bits(rows: int) -> dict[str, bool]:
    """Do 1 and 2 threads learn the same model, to the bit?"""
    y = synthetic.classes(rows)
    cases = [(source, family) for source in NUMERIC for family in ("Gaussian", "Binned")]
    cases += [(source, "Categorical") for source in (*CODES, *STRINGS)]
    same = {}
    for source, family in cases:
        table = synthetic.INPUTS[source](rows)
        one, two = (jobs.ours(family, threads=threads).fit(table, y).model_.tally.to_bytes() for threads in (1, 2))
        same[f"{source}, {family}"] = one == two
    return same


def additions(rows: int) -> list[dict[str, Any]]:
    """Adding two models of 20 columns where nothing is new (both have seen the same values)."""
    import evenodds as eo

    numeric, nominal = synthetic.numeric_columns(rows), synthetic.codes_pandas(rows)
    mixed = pd.concat([numeric.iloc[:, :10], nominal.add_prefix("k")], axis=1)
    mixed_columns = {name: eo.Categorical if name.startswith("k") else eo.Binned for name in mixed.columns}
    y = synthetic.classes(rows)
    cases: dict[str, Callable[[], Any]] = {
        "20 numeric, moments alone (Gaussian)": lambda: jobs.ours("Gaussian").fit(numeric, y).model_,
        "20 numeric, full tally (Binned)": lambda: jobs.ours("Binned").fit(numeric, y).model_,
        "10 numeric (Binned), 10 categorical": lambda: eo.NaiveBayes(columns=mixed_columns).fit(mixed, y).model_,
    }
    results = []
    for name, fit in cases.items():
        a, b = fit(), fit()
        seconds = best_of_many(lambda a=a, b=b: a + b)  # type: ignore[misc]
        axes = {column: len(spec.axis) for (column, leaf), spec in a.tally.layout.specs.items() if leaf == "histogram"}
        bins = sum(axes.values()) / len(axes) if axes else 0.0
        results.append({"models": name, "milliseconds": seconds * 1e3, "target": 0.2, "bins_a_column": bins})
    return results


def _show_lines(title: str, lines: list[Line]) -> list[dict[str, Any]]:
    print(f"\n## {title}\n", flush=True)
    print(report.table(["input", "job", "seconds", "times faster", "wanted", "met"], [line.cells() for line in lines]))
    return [{**line._asdict(), "ratio": line.ratio} for line in lines]


def main() -> None:
    parts = ("fit", "codes", "strings", "predict", "memory", "bits", "add")
    parser = argparse.ArgumentParser(description="speed and memory on big tables, beside scikit-learn and polars")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--only", default=",".join(parts), help=f"some of {','.join(parts)}")
    parser.add_argument("--peers-only", action="store_true", help="without evenodds")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/speed_tables.json")
    options = parser.parse_args()
    rows, only, peers_only = options.rows, options.only.split(","), options.peers_only
    result: dict[str, Any] = {"rows": rows}
    neighbours = Neighbours()

    timed: dict[str, tuple[str, Callable[[int, bool], list[Line]]]] = {
        "fit": (f"numeric fit, {rows:,} × 20", numeric_fit),
        "codes": (f"categorical fit from codes, {rows:,} × 10", codes_fit),
        "strings": (f"categorical fit from strings, {rows:,} × 10", strings_fit),
        "predict": (f"predict_proba, {rows:,} × 20", predict),
    }
    for part, (title, run) in timed.items():
        if part in only:
            result[part] = _show_lines(title, run(rows, peers_only))
    if "memory" in only:
        result["memory"] = weights = weigh(rows, peers_only)
        print("\n## peak extra memory, as a share of the input (ours: below 0.3)\n")
        print(report.table(["input", "job", "share"], [[w["input"], w["job"], f"{w['share']:.2f}"] for w in weights]))
    if "bits" in only and not peers_only:
        result["same_bits"] = bits = same_bits(rows)
        print("\n## 1 and 2 threads give the same bits\n")
        print(report.table(["input", "same"], [[case, "yes" if same else "NO"] for case, same in bits.items()]))
    if "add" in only and not peers_only:
        result["add"] = added = additions(rows // 5)
        print("\n## adding two models where nothing is new (below 0.2 ms)\n")
        cells = [[a["models"], f"{a['bins_a_column']:,.0f}", f"{a['milliseconds']:.3f}"] for a in added]
        print(report.table(["models", "bins a numeric column", "milliseconds"], cells))
    result["cores_used_by_others"] = round(neighbours.cores(), 2)
    print(f"\nother processes kept {result['cores_used_by_others']} cores busy during the run")
    if options.save:
        print(f"wrote {report.save('speed_tables', result)}")


if __name__ == "__main__":
    main()
