"""Is this commit slower than an earlier one? Our main jobs by the code of both, in turns.

    python -m benchmarks.before [--revision e030096] [--only moments,words] [--turns 7] [--starts 3] [--save]

The earlier commit is laid into a folder of its own. A job runs in two processes, one for each side, that make ready and
run it once unmeasured; then they take turns, so that a busy moment of the machine hits both alike. Where a process has
its memory may cost a tenth, so both are started anew a few times, and the best time of each side counts. Data are
generated, the same on both sides, and the jobs use names only that both commits have.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.jobs import JOBS, Call
from benchmarks.timing import ROOT, ProcessError, once

SIDES = ("before", "now")


# -- the jobs, each made ready: a call to measure ----------------------------------------------------------------------


def numbers(job: str, order: Any = "F") -> Call:
    rng, rows = np.random.default_rng(0), 1_000_000
    y = rng.integers(0, 3, rows)
    return JOBS[job](np.asarray(rng.normal(size=(rows, 20)) + y[:, None] / 4, order=order), y)


def categories(strings: bool) -> Call:
    import pyarrow as pa

    rng, rows = np.random.default_rng(0), 2_000_000
    labels = pa.array([f"value {i}" for i in range(12)])
    columns = [
        pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 12, rows), pa.int32()), labels) for _ in range(10)
    ]
    table = pa.table({f"c{j}": one.dictionary_decode() if strings else one for j, one in enumerate(columns)})
    return JOBS["ours, fit (Categorical)"](table, rng.integers(0, 3, rows))


def texts(predict: bool = False, leave_one_out: bool = False, **words: Any) -> Call:
    import evenodds as eo

    rng = np.random.default_rng(0)
    known = np.array(["".join(rng.choice(list("abcdefghij"), rng.integers(2, 9))) for _ in range(50_000)])
    said = [" ".join(known[(50_000 * rng.random(60) ** 3).astype(int)]) for _ in range(40_000)]
    y = rng.integers(0, 4, len(said))
    model = eo.NaiveBayes(eo.Words(**words)).fit(said, y)
    if leave_one_out:
        return lambda: model.leave_one_out(said, y)
    return (lambda: model.predict_proba(said)) if predict else (lambda: eo.NaiveBayes(eo.Words(**words)).fit(said, y))


def file(folder: Path) -> Call:
    import evenodds as eo

    rng, rows = np.random.default_rng(0), 200_000
    towns = np.array(["Ulm", "Bonn", "Trier", "Essen"])[rng.integers(0, 4, rows)]
    some = zip(rng.normal(size=(rows, 8)).round(4).tolist(), towns, rng.integers(0, 2, rows))
    lines = [f"{','.join(map(str, x))},{town},{'ny'[y]}\n" for x, town, y in some]
    path = folder / "rows.csv"
    path.write_text(",".join("abcdefgh") + ",town,y\n" + "".join(lines))
    return lambda: eo.NaiveBayes().fit(str(path), "y")


def regression(family: str, towns: bool = False) -> Call:
    import pandas as pd

    import evenodds as eo

    rng, rows = np.random.default_rng(0), 200_000
    x = rng.normal(size=(rows, 20))
    z = x[:, :5].sum(1) / 4
    draw = {"Bernoulli": lambda: z + rng.logistic(size=rows) > 0, "Poisson": lambda: rng.poisson(np.exp(z))}
    y = draw.get(family, lambda: z + rng.normal(size=rows))()
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(20)])
    if towns:
        frame["town"] = pd.Categorical.from_codes(rng.integers(0, 50, rows), [f"town {i}" for i in range(50)])
    return lambda: eo.GLM(getattr(eo, family)).fit(frame, y)


def people(rows: int) -> tuple[Any, Any]:
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    frame = pd.DataFrame(rng.normal(size=(rows, 6)) + y[:, None] / 2, columns=list("abcdef"))
    for name in ("g", "h", "i"):
        frame[name] = np.array(["red", "green", "blue", "white"])[np.minimum(rng.poisson(1 + y), 3)]
    return frame, y


def tables(rows: int, estimator: str = "NaiveBayes", **settings: Any) -> Call:
    import evenodds as eo

    frame, y = people(rows)
    return lambda: getattr(eo, estimator)(**settings).fit(frame, y)


def mixture() -> Call:
    import evenodds as eo

    rng = np.random.default_rng(0)
    x = rng.normal(size=(100_000, 6)) + 3 * rng.integers(0, 4, 100_000)[:, None]
    return lambda: eo.Mixture(k=4, random_state=0).fit(x)


def network(ask: bool) -> Call:
    import pandas as pd

    import evenodds as eo

    rng, rows = np.random.default_rng(0), 200_000
    codes = np.cumsum(rng.integers(0, 3, (rows, 12)), axis=1) % 3
    frame = pd.DataFrame({f"n{j}": pd.Categorical.from_codes(codes[:, j], list("xyz")) for j in range(12)})
    chain = "; ".join(f"n{j} -> n{j + 1}" for j in range(11))
    if not ask:
        return lambda: eo.BayesNet(chain).fit(frame)
    net = eo.BayesNet(chain).fit(frame)
    return lambda: [net.query("n11", n0=state) for state in "xyz" for _ in range(200)]


def density() -> Call:
    import evenodds as eo

    x = np.random.default_rng(0).normal(size=200_000)
    return lambda: eo.KernelDensity().fit(x).score_samples(x[:50_000, None])


def bandits() -> Call:
    from evenodds.bandits import UCB, Thompson, simulate

    return lambda: simulate([UCB(), Thompson()], arms=[0.6, 0.5, 0.4], rounds=2_000, runs=500)


def audit() -> Call:
    import evenodds as eo

    rng, rows = np.random.default_rng(0), 500_000
    y, p, groups = rng.integers(0, 2, rows), rng.random(rows), np.array(["a", "b", "c"])[rng.integers(0, 3, rows)]
    return lambda: str(eo.Audit(by="group").of_predictions(y, groups, scores=p))


def message(folder: Path, own_process: bool) -> Call:
    import evenodds as eo

    texts = ["you have won a free prize", "shall we meet at noon", "a prize for you", "see you on monday"] * 50
    path, said = str(folder / "spam.eo"), "you have won a free prize, shall we meet"
    eo.NaiveBayes(eo.Words()).fit(texts, ["spam", "ham"] * 100).save(path)
    if own_process:
        return process("-m", "evenodds", "explain", path, said)
    model = eo.NaiveBayes.load(path)
    return lambda: [model.predict_proba([said]) for _ in range(1_000)]


def process(*words: str) -> Call:
    installed = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # what is installed is compiled once
    return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True, env=installed)


def jobs(folder: Path) -> dict[str, Any]:
    """Every job by its name; called, it makes ready."""
    return {
        "moments": lambda: numbers("ours, fit moments (Gaussian)"),
        "moments by row": lambda: numbers("ours, fit moments (Gaussian)", "C"),
        "histograms": lambda: numbers("ours, fit full tally (Binned)"),
        "predict Student-t": lambda: numbers("ours, predict Student-t"),
        "predict plug-in": lambda: numbers("ours, predict plug-in Gaussian"),
        "codes": lambda: categories(strings=False),
        "strings": lambda: categories(strings=True),
        "words": texts,
        "pairs": lambda: texts(ngrams=2),
        "hashed pairs": lambda: texts(ngrams=2, buckets=1 << 20),
        "predict words": lambda: texts(predict=True),
        "words left out": lambda: texts(leave_one_out=True),
        "a thousand messages": lambda: message(folder, own_process=False),
        "a message's process": lambda: message(folder, own_process=True),
        "CSV": lambda: file(folder),
        "linear": lambda: regression("Gaussian"),
        "logistic": lambda: regression("Bernoulli"),
        "Poisson": lambda: regression("Poisson"),
        "logistic of towns": lambda: regression("Bernoulli", towns=True),
        "tempered": lambda: tables(50_000, temper=True),
        "tuned": lambda: tables(5_000, tune="loo"),
        "bridge": lambda: tables(5_000, "NaiveLogistic"),
        "mixture": mixture,
        "network": lambda: network(ask=False),
        "network's answers": lambda: network(ask=True),
        "density": density,
        "bandits": bandits,
        "audit": audit,
        "import": lambda: process("-c", "import evenodds"),
        "help": lambda: process("-m", "evenodds", "fit", "--help"),
    }


# -- two sides ---------------------------------------------------------------------------------------------------------


def serve(name: str) -> None:
    """Make a job ready and warm; then run it once for every line that is read, and say how long it took."""
    with tempfile.TemporaryDirectory() as folder:
        call = jobs(Path(folder))[name]()
        call()
        print("ready", flush=True)
        for _ in sys.stdin:
            print(json.dumps(once(call)[0].seconds), flush=True)


@contextlib.contextmanager
def earlier(revision: str) -> Iterator[Path]:
    """A folder with an earlier commit."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--detach", "-f", folder, revision], cwd=ROOT, check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def started(tree: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.before", "--serve", name]
    paths = os.pathsep.join([str(tree / "src"), str(ROOT)])
    side = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": paths}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert side.stdout is not None
    if side.stdout.readline().strip() != "ready":
        raise ProcessError(f"{name} is left out: it does not run in {tree}")
    return side


def taken(name: str, trees: dict[str, Path], turns: int, starts: int) -> dict[str, Any]:
    """The best seconds of both sides."""
    best = dict.fromkeys(trees, float("inf"))
    for _ in range(starts):
        sides = {side: started(tree, name) for side, tree in trees.items()}
        for turn in range(turns):
            for side in list(sides)[:: 1 if turn % 2 else -1]:
                pipes = sides[side]
                assert pipes.stdin is not None
                assert pipes.stdout is not None
                print("once", file=pipes.stdin, flush=True)
                best[side] = min(best[side], json.loads(pipes.stdout.readline()))
        for one in sides.values():
            one.communicate()
    return {"job": name, **best}


def shown(result: report.Result) -> str:
    rows = [
        [row["job"], *(f"{1e3 * row[side]:.1f}" for side in SIDES), f"{row['now'] / row['before']:.2f}"]
        for row in result["jobs"]
    ]
    header = ["job", f"{result['revision']}, ms", "this commit, ms", "ratio"]
    return report.table(header, rows)


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--revision", default="HEAD~1", help="the earlier commit")
    parser.add_argument("--only", type=report.names, help="jobs, with commas between")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--starts", type=int, default=3, help="of both processes")
    parser.add_argument("--serve", help="a job to be run in this process, once for every line of standard input")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
        return
    asked = ["git", "rev-parse", "--short", given.revision]
    revision = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    found = []
    with earlier(revision) as folder:
        trees = dict(zip(SIDES, (folder, ROOT)))
        for name in given.only or jobs(ROOT):
            try:
                found.append(taken(name, trees, given.turns, given.starts))
            except ProcessError as error:
                print(error, file=sys.stderr)
                continue
            print(shown({"revision": revision, "jobs": found[-1:]}).splitlines()[-1], flush=True)
    result = {"revision": revision, "turns": given.turns, "starts": given.starts, "jobs": found}
    report.finish("before", result, shown, given.save)


if __name__ == "__main__":
    main()
