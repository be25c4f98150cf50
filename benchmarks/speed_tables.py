"""How fast, and in how much memory? Fitting and predicting big made-up tables, beside scikit-learn and polars.

    python -m benchmarks.speed_tables [--rows 5000000] [--only fit,predict,...] [--peers-only] [--save]

One run, one process, warm, the sides in turns, the best of three. All sides get the same container; for an Arrow table
scikit-learn gets the pandas frame made from it and polars its own frame, and neither conversion is counted.
OrdinalEncoder runs on a tenth of the rows and is scaled by ten, for a short run.

Memory is the peak extra memory of one call, as a share of its input, in a process of its own. It first runs the job on
a few rows (imports and compiled code are then there), makes the input, resets the kernel's high-water mark, runs the
job, and reads the mark. What the job returns is counted too: probabilities of 2 classes are 0.1 of 20 float columns.
"""

import json
from collections.abc import Callable
from typing import Any

import pandas as pd

from benchmarks import jobs, memory, report, synthetic
from benchmarks.timing import best_of, best_of_many, fresh, warm

NUMERIC = ("pandas, row-major", "pandas, column-wise", "pyarrow")
CODES = ("pandas categoricals", "pyarrow dictionaries")
STRINGS = ("pyarrow strings", "pyarrow long strings", "pandas strings")
HEADER = ["input", "job", "seconds", "times as fast"]
PARTS = ("fit", "codes", "strings", "predict", "memory", "bits", "add")
Line = dict[str, Any]  # one measurement beside its peer


def line(source: str, job: str, seconds: float, peer: str, peer_seconds: float) -> Line:
    """A measurement beside its peer, and how many times as fast it is."""
    told = {"source": source, "job": job, "seconds": seconds, "peer": peer, "peer_seconds": peer_seconds}
    return {**told, "ratio": peer_seconds / seconds}


def race(source: str, rows: int, peer: str, own: list[str], peers_only: bool) -> list[Line]:
    """Jobs on one input, in turns with their peer."""
    chosen = [peer, *([] if peers_only else own)]
    small = synthetic.INPUTS[source](synthetic.WARM_ROWS)
    warm({job: jobs.JOBS[job](small, synthetic.classes(synthetic.WARM_ROWS)) for job in chosen})
    table, y = synthetic.INPUTS[source](rows), synthetic.classes(rows)
    best = best_of({job: jobs.JOBS[job](table, y) for job in chosen})
    return [line(source, job, best[job].seconds, peer, best[peer].seconds) for job in chosen]


def numeric_fit(rows: int, peers_only: bool) -> list[Line]:
    """Moments alone and the full numeric tally beside GaussianNB.fit."""
    own = ["ours, fit moments (Gaussian)", "ours, fit full tally (Binned)"]
    return [one for source in NUMERIC for one in race(source, rows, "GaussianNB, fit", own, peers_only)]


def predict(rows: int, peers_only: bool) -> list[Line]:
    """Probabilities beside GaussianNB.predict_proba."""
    own = ["ours, predict plug-in Gaussian", "ours, predict Binned", "ours, predict Student-t"]
    return [one for source in NUMERIC for one in race(source, rows, "GaussianNB, predict", own, peers_only)]


def _encoded(source: str, rows: int) -> float:
    """Seconds of OrdinalEncoder + CategoricalNB, run on a tenth of the rows and scaled."""
    few = max(1000, rows // 10)
    job = jobs.JOBS["OrdinalEncoder + CategoricalNB, fit"](synthetic.INPUTS[source](few), synthetic.classes(few))
    return best_of({"it": job}, repeats=2)["it"].seconds * rows / few


def codes_fit(rows: int, peers_only: bool) -> list[Line]:
    """Categorical columns from dictionary codes beside CategoricalNB, which is given plain integer codes."""
    peer, our = "CategoricalNB, fit", "ours, fit (Categorical)"
    few, y = synthetic.WARM_ROWS, synthetic.classes(rows)
    lines = []
    for source in CODES:
        tasks = {peer: jobs.JOBS[peer](synthetic.INPUTS["integer codes"](rows), y)}
        if not peers_only:
            warm({our: jobs.JOBS[our](synthetic.INPUTS[source](few), synthetic.classes(few))})
            tasks[our] = jobs.JOBS[our](synthetic.INPUTS[source](rows), y)
        best = best_of(tasks)
        theirs = best[peer].seconds
        lines.append(line("integer codes", peer, theirs, peer, theirs))
        lines += [line(source, our, best[our].seconds, peer, theirs)] if our in best else []
    encoded = _encoded("pandas categoricals", rows)
    return [*lines, line("pandas categoricals", "OrdinalEncoder + CategoricalNB (scaled)", encoded, peer, theirs)]


def strings_fit(rows: int, peers_only: bool) -> list[Line]:
    """Categorical columns from strings beside polars' group-by."""
    peer, lines = "polars group-by", list[Line]()
    for source in STRINGS:
        lines += race(source, rows, peer, ["ours, fit (Categorical)"], peers_only)
        if source != "pyarrow long strings":
            encoded, polars_seconds = _encoded(source, rows), lines[-1]["peer_seconds"]
            lines.append(line(source, "OrdinalEncoder + CategoricalNB (scaled)", encoded, peer, polars_seconds))
    return lines


def weigh(rows: int, peers_only: bool) -> list[dict[str, Any]]:
    """Peak extra memory of every job on every input it takes."""
    numeric = [job for job in jobs.JOBS if "Categorical" not in job and "polars" not in job]
    strings = ["ours, fit (Categorical)", "polars group-by"]
    pairs = [(job, source) for source in NUMERIC for job in numeric]
    pairs += [("CategoricalNB, fit", "integer codes"), *(("ours, fit (Categorical)", source) for source in CODES)]
    pairs += [(job, source) for source in STRINGS for job in strings]
    return [
        fresh("speed_tables", "--job", job, "--input", source, "--rows", str(rows))
        for job, source in pairs
        if not (peers_only and job.startswith("ours"))
    ]


def weigh_here(job: str, source: str, rows: int) -> dict[str, Any]:
    """One of them in this process, which should be a fresh one."""
    make, prepare = synthetic.INPUTS[source], jobs.JOBS[job]
    prepare(make(synthetic.WARM_ROWS), synthetic.classes(synthetic.WARM_ROWS))()
    table, y = make(rows), synthetic.classes(rows)
    call = prepare(table, y)
    size = synthetic.nbytes(table)
    extra = memory.peak_extra(call)
    return {"job": job, "input": source, "input_bytes": size, "extra_bytes": extra, "share": extra / size}


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
        results.append({"models": name, "milliseconds": seconds * 1e3, "bins_a_column": bins})
    return results


def shown(result: report.Result) -> str:
    """What was measured, a table a part."""
    rows, parts = result["rows"], list[str]()
    for part, title in {
        "fit": f"Fitting {rows:,} × 20 numbers",
        "codes": f"Fitting {rows:,} × 10 categories from codes",
        "strings": f"Fitting {rows:,} × 10 categories from strings",
        "predict": f"Predicting {rows:,} × 20 numbers",
    }.items():
        if part in result:
            parts += [f"### {title}", report.table(HEADER, _cells(result[part]), left=2)]
    if "memory" in result:
        weights = [[one["input"], one["job"], f"{one['share']:.2f}"] for one in result["memory"]]
        parts += [
            "### Peak extra memory, as a share of the input",
            report.table(["input", "job", "share"], weights, left=2),
        ]
    if "same_bits" in result:
        same = result["same_bits"]
        apart = [name for name, equal in same.items() if not equal]
        sentence = (
            f"1 and 2 threads learn the same model, to the bit, from {len(same) - len(apart)} of {len(same)} inputs"
        )
        parts += ["### Bits", report.paragraph(sentence + (f"; not from {report.listed(apart)}." if apart else "."))]
    if "add" in result:
        cells = [[a["models"], f"{a['bins_a_column']:,.0f}", f"{a['milliseconds']:.3f}"] for a in result["add"]]
        added = report.table(["models", "bins a numeric column", "milliseconds"], cells)
        parts += ["### Adding two models of 20 columns where nothing is new", added]
    return report.blocks(*parts)


def _cells(lines: list[Line]) -> list[list[str]]:
    return [
        [
            one["source"],
            one["job"],
            f"{one['seconds']:.3f}",
            "" if one["job"] == one["peer"] else report.times(one["ratio"]),
        ]
        for one in lines
    ]


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--only", type=report.names, default=PARTS, help=f"some of {','.join(PARTS)}")
    parser.add_argument("--peers-only", action="store_true", help="without evenodds")
    parser.add_argument("--job", choices=jobs.JOBS, help="weigh one job in this process")
    parser.add_argument("--input", choices=synthetic.INPUTS)
    given = parser.parse_args()
    rows, only, peers_only = given.rows, given.only, given.peers_only
    if given.job:
        print(json.dumps(weigh_here(given.job, given.input, rows)))
        return
    result: dict[str, Any] = {"rows": rows}
    measures: dict[str, Callable[[int, bool], Any]] = {
        "fit": numeric_fit, "codes": codes_fit, "strings": strings_fit, "predict": predict, "memory": weigh
    }  # fmt: skip
    for part, measure in measures.items():
        if part in only:
            print(f"{part} ...", flush=True)
            result[part] = measure(rows, peers_only)
    if "bits" in only and not peers_only:
        result["same_bits"] = same_bits(rows)
    if "add" in only and not peers_only:
        result["add"] = additions(rows // 5)
    report.finish("speed_tables", result, shown, given.save)


if __name__ == "__main__":
    main()
