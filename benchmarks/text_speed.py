"""How fast is text learnt and judged, and in how much memory? Beside scikit-learn, Vowpal Wabbit, fastText and river.

    python -m benchmarks.text_speed [--megabytes 200] [--only fit,predict,message,process,memory] [--match X] [--save]

Posts and mail (`text_data.corpus`), in 2 and in 20 classes; words and (1,2)-grams; exact, and hashed into 2^20 buckets;
from list[str] and from Arrow; on 1 core and on 2. Every job is a process of its own, held to its cores, the text in
memory before the clock starts. A fit ends when it can predict: words, smoothing ("auto" unless --smoothing) and weights
are made. "First" is the first fit in the process, compiled code being on disk; the other figure the best of those after
it. MB are of UTF-8. Memory is the highest extra of one fit after a warm-up on 1 MB. A process is `evenodds explain` of
one message, from its start to its end: the median of 25, the model's file in the system's cache, and driven out of it.

scikit-learn: CountVectorizer or HashingVectorizer, then MultinomialNB; it uses one core. Vowpal Wabbit: one pass, 2^20
weights, --oaa for 20 classes; writing its file is counted. fastText: one pass, 10 dimensions, likewise. river:
learn_one for each document of the first 5 MB. What cannot be imported is left out, and said.
"""

import argparse
import dataclasses
import importlib
import importlib.metadata
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.text_data import Corpus, corpus
from benchmarks.timing import Neighbours

BUCKETS = 1 << 20
WARM = 1_000_000  # bytes
RIVER = 5_000_000  # bytes: it is slow, and as slow on more
MESSAGE = 100  # characters
PROCESSES = 25
PEER_PACKAGES = {"Vowpal Wabbit": "vowpalwabbit", "fastText": "fasttext-wheel", "river": "river"}

Result = dict[str, Any]
Call = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """What is measured: who does what, with what text, on how many cores."""

    who: str
    job: str  # fit, predict, message, process or memory
    classes: int = 2
    ngrams: int = 1
    hashed: bool = False
    source: str = "list"
    cores: int = 1
    smoothing: str = "auto"
    size: int = 0  # bytes; 0: the whole corpus

    def __str__(self) -> str:
        grams = "words" if self.ngrams == 1 else "(1,2)-grams"
        cores = f"{self.cores} core{'s' * (self.cores > 1)}"
        how = "hashed" if self.hashed else "exact"
        return f"{self.classes} classes, {how} {grams}, {self.source}, {cores}: {self.who}"

    @staticmethod
    def of(result: Result) -> "Case":
        """What a result is of."""
        return Case(**{field.name: result[field.name] for field in dataclasses.fields(Case)})


# -- the contenders: each makes, of a text and a case, a call to be timed ---------------------------------------------


def texts(text: Corpus, case: Case) -> Any:
    """The documents in the container asked for."""
    return text.strings() if case.source == "list" else text.arrow()


def _ours(case: Case) -> Any:
    import evenodds as eo

    words = eo.Words(ngrams=case.ngrams, buckets=BUCKETS if case.hashed else None)
    smoothing = case.smoothing if case.smoothing == "auto" else float(case.smoothing)
    return eo.NaiveBayes(columns=words, smoothing=smoothing, prior="flat", threads=case.cores)


def our_fit(text: Corpus, case: Case) -> Call:
    documents, y = texts(text, case), text.classes(case.classes)

    def call() -> object:
        model = _ours(case).fit(documents, y)
        model.predict_proba(["free prize"])  # the weights are made when they are first needed
        return model

    return call


def our_predict(text: Corpus, case: Case) -> Call:
    documents = texts(text, case)
    model = _ours(case).fit(documents, text.classes(case.classes))
    return lambda: model.predict_proba(documents)


def _theirs(case: Case) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    grams = (1, case.ngrams)
    exact = CountVectorizer(ngram_range=grams)
    hashed = HashingVectorizer(ngram_range=grams, n_features=BUCKETS, alternate_sign=False, norm=None)
    return make_pipeline(hashed if case.hashed else exact, MultinomialNB())


def sklearn_fit(text: Corpus, case: Case) -> Call:
    documents, y = text.strings(), text.classes(case.classes)
    return lambda: _theirs(case).fit(documents, y)


def sklearn_predict(text: Corpus, case: Case) -> Call:
    documents = text.strings()
    model = _theirs(case).fit(documents, text.classes(case.classes))
    return lambda: model.predict_proba(documents)


def vowpal_fit(text: Corpus, case: Case) -> Call:
    vowpalwabbit: Any = importlib.import_module("vowpalwabbit")
    documents, y = text.strings(), text.classes(case.classes).tolist()
    names = ["-1", "1"] if case.classes == 2 else [str(i + 1) for i in range(case.classes)]
    kind = [] if case.classes == 2 else ["--oaa", str(case.classes)]
    plain = str.maketrans(":|\n\r", "    ")  # what is syntax in its files
    path = _file()
    words = ["-d", path, "-b", "20", "--loss_function", "logistic", "--quiet", *kind]
    words += ["--ngram", "2"] if case.ngrams == 2 else []

    def call() -> object:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{names[i]} | {document.translate(plain)}\n" for i, document in zip(y, documents))
        model = vowpalwabbit.Workspace(arg_list=words)
        model.finish()
        return model

    return call


def fasttext_fit(text: Corpus, case: Case) -> Call:
    fasttext: Any = importlib.import_module("fasttext")
    documents, y = text.strings(), text.classes(case.classes).tolist()
    plain = str.maketrans("\n\r", "  ")
    path = _file()

    def call() -> object:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"__label__{i} {document.translate(plain)}\n" for i, document in zip(y, documents))
        how = {"epoch": 1, "dim": 10, "wordNgrams": case.ngrams, "bucket": BUCKETS, "thread": case.cores, "verbose": 0}
        return fasttext.train_supervised(path, **how)

    return call


def river_fit(text: Corpus, case: Case) -> Call:
    feature_extraction: Any = importlib.import_module("river.feature_extraction")
    naive_bayes: Any = importlib.import_module("river.naive_bayes")
    documents, y = text.strings(), text.classes(case.classes).tolist()

    def call() -> object:
        model = feature_extraction.BagOfWords(ngram_range=(1, case.ngrams)) | naive_bayes.MultinomialNB()
        for document, i in zip(documents, y):
            model.learn_one(document, i)
        return model

    return call


def _file() -> str:
    """A file that lasts as long as this process's folder, which the parent takes away."""
    return str(Path(os.environ["TMPDIR"]) / f"{os.getpid()}.txt")


FIT: dict[str, Callable[[Corpus, Case], Call]] = {
    "ours": our_fit,
    "scikit-learn": sklearn_fit,
    "Vowpal Wabbit": vowpal_fit,
    "fastText": fasttext_fit,
    "river": river_fit,
}
PREDICT = {"ours": our_predict, "scikit-learn": sklearn_predict}


# -- measuring: one case in this process, or in a fresh one ---------------------------------------------------------


def measure_here(case: Case, path: Path, repeats: int) -> Result:
    """One case in this process, which should be a fresh one."""
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: case.cores]))
    text = Corpus.read(path)
    text = text.first(case.size) if case.size else text
    megabytes = len(text.blob) / 1e6
    if case.job == "message":
        return {"megabytes": megabytes, "microseconds": one_message(text, case)}
    if case.job == "process":
        return {"megabytes": megabytes, **one_process(text, case)}
    if case.job == "memory":
        from benchmarks.memory import peak_extra

        FIT[case.who](text.first(WARM), case)()
        call = FIT[case.who](text, case)
        return {"megabytes": megabytes, "extra_bytes": peak_extra(call)}
    call = (FIT if case.job == "fit" else PREDICT)[case.who](text, case)
    seconds, processor = [], []
    for _ in range(1 + repeats):
        cpu, start = time.process_time(), time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - cpu)
        del result
    later = seconds[1:] or seconds
    return {"megabytes": megabytes, "first": seconds[0], "seconds": min(later), "cpu": min(processor[1:] or processor)}


def one_message(text: Corpus, case: Case) -> float:
    """The median time of predict_proba of one short message in a warm process, in microseconds."""
    documents = text.strings()
    model = (_ours if case.who == "ours" else _theirs)(case).fit(documents, text.classes(case.classes))
    messages = [[document[:MESSAGE]] for document in documents if len(document) >= MESSAGE][:1000]
    seconds = []
    for message in messages[:100] + messages * (1 + 2000 // len(messages)):
        start = time.perf_counter()
        model.predict_proba(message)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[100:]) * 1e6


def one_process(text: Corpus, case: Case) -> Result:
    """The median time of a whole process that explains one message, in milliseconds; and how large its file is.

    Beside it, in turns, a Python that starts and does nothing: what no program in it can go below.
    """
    documents = text.strings()
    model = _ours(case).fit(documents, text.classes(case.classes))
    message = next(document[:MESSAGE] for document in documents if len(document) >= MESSAGE).replace("\n", " ")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "model.eo"
        model.save(path)
        script = Path(sys.executable).parent / "evenodds"
        program = [str(script)] if script.exists() else [sys.executable, "-m", "evenodds"]
        command = [*program, "explain", str(path), message]
        installed = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        found: dict[bool, list[float]] = {True: [], False: []}
        bare = []
        for at in range(2 * PROCESSES + 2):
            cached = at % 2 == 0
            with path.open("rb") as file:
                if cached:
                    file.read()
                else:
                    os.fsync(file.fileno())
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=installed)
            found[cached].append(time.perf_counter() - start)
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], check=True, env=installed)
            bare.append(time.perf_counter() - start)
        size = path.stat().st_size
    warm, cold = (statistics.median(found[cached][1:]) * 1e3 for cached in (True, False))
    nothing = statistics.median(bare) * 1e3
    return {"milliseconds": warm, "milliseconds_not_cached": cold, "milliseconds_bare": nothing, "file_bytes": size}


def measure(case: Case, path: Path, repeats: int) -> Result:
    """One case in a fresh process; an error is a result too."""
    command = [sys.executable, "-m", "benchmarks.text_speed", "--case", json.dumps(dataclasses.asdict(case))]
    command += ["--corpus", str(path), "--repeats", str(repeats)]
    threads = {name: str(case.cores) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    environment = {**os.environ, **threads, "TMPDIR": str(path.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    result: Result = dataclasses.asdict(case)
    if done.returncode:
        result["error"] = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    else:
        result |= json.loads(done.stdout.strip().splitlines()[-1])
    print(f"{case.job}, {case}: {result.get('error', '')}", file=sys.stderr, flush=True)
    return result


def missing() -> dict[str, str]:
    """The peers that cannot be imported, each with a sentence."""
    modules = {"Vowpal Wabbit": "vowpalwabbit", "fastText": "fasttext", "river": "river"}
    absent = {}
    for who, module in modules.items():
        done = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, text=True, check=False)
        if done.returncode:
            why = done.stderr.strip().splitlines()[-1]
            absent[who] = f"{who} is left out: {why}; pip install -r benchmarks/requirements.txt"
    return absent


# -- what is run, and what was wanted -------------------------------------------------------------------------------


def cases(job: str, absent: dict[str, str], peers_only: bool, smoothing: str, size: int) -> list[Case]:
    """All cases of one job: the peers first, for the others to be beside."""
    kinds = [(classes, ngrams, hashed) for classes in (2, 20) for ngrams in (1, 2) for hashed in (False, True)]
    peers, own = [], []
    for classes, ngrams, hashed in kinds:
        same: dict[str, Any] = {"job": job, "classes": classes, "ngrams": ngrams, "hashed": hashed}
        if job in ("memory", "message", "process"):
            if classes == 20:
                continue
            halves = (size // 2, size) if job == "memory" else (min(size, 20_000_000),)
            peers += [Case("scikit-learn", **same, size=size) for size in halves if job != "process"]
            own += [Case("ours", **same, smoothing=smoothing, source="arrow", size=size) for size in halves]
            continue
        peers.append(Case("scikit-learn", **same))
        if job == "fit":
            alone = [who for who in ("Vowpal Wabbit", "fastText") if who not in absent and hashed]
            peers += [Case(who, **same, cores=cores) for who in alone for cores in (1, 2)]
            peers += [Case("river", **same, size=RIVER)] if "river" not in absent and not hashed else []
        own += [
            Case("ours", **same, source=source, cores=cores, smoothing=smoothing)
            for source in ("list", "arrow")
            for cores in (1, 2)
        ]
    return peers + ([] if peers_only else own)


def wanted(case: Case) -> tuple[float | None, float | None]:
    """How many times as fast as scikit-learn, and as Vowpal Wabbit, ours should be."""
    if case.job == "predict":
        return (20.0 if case.cores == 2 or case.classes == 2 else 12.0), None
    if case.ngrams == 2:
        return (25.0 if case.cores == 2 else None, None) if case.hashed else (30.0, 1.0)
    if case.hashed:
        return None, None
    return {("arrow", 1): 20.0, ("arrow", 2): 40.0, ("list", 1): 15.0, ("list", 2): 30.0}[case.source, case.cores], 3.0


def line(result: Result, results: list[Result]) -> list[str]:
    """A measurement to be read, beside scikit-learn and Vowpal Wabbit on the same classes and n-grams."""
    case = Case.of(result)
    if "error" in result:
        return [str(case), "error", "", "", "", "", ""]
    speeds = [f"{result['megabytes'] / result[kind]:.1f}" for kind in ("first", "seconds")]
    ratios = []
    for who, least in zip(("scikit-learn", "Vowpal Wabbit"), wanted(case)):
        kind = {"who": who, "job": case.job, "classes": case.classes, "ngrams": case.ngrams}
        kind |= {"hashed": case.hashed} if who == "scikit-learn" else {"cores": case.cores}
        peer = next((r for r in results if kind.items() <= r.items() and "seconds" in r), None)
        if case.who != "ours" or peer is None:
            ratios += ["", ""]
            continue
        ratio = peer["seconds"] / result["seconds"]
        ratios += [f"{ratio:.1f}", "" if least is None else f"{least:g} {'yes' if ratio >= least else 'NO'}"]
        result[f"times {who}"], result[f"wanted {who}"] = ratio, least
    return [str(case), *speeds, *ratios]


def show(job: str, results: list[Result]) -> None:
    print(f"\n## {job}\n")
    if job in ("fit", "predict"):
        header = ["MB/s", "first", "later", "× scikit-learn", "wanted", "× Vowpal Wabbit", "wanted"]
        print(report.table(header, [line(result, results) for result in results]), flush=True)
        return
    unit = {
        "message": "µs for one message (p50)",
        "process": "ms for a process (p50), not cached, of a Python doing nothing; MB of file",
        "memory": "extra MB",
    }[job]
    rows = []
    for result in results:
        case = Case.of(result)
        kinds = ("milliseconds", "milliseconds_not_cached", "milliseconds_bare")
        names = ("microseconds", *kinds, "file_bytes", "extra_bytes")
        figures = [result[name] / (1e6 if "bytes" in name else 1) for name in names if name in result]
        said = "error" if "error" in result else ", ".join(f"{figure:.1f}" for figure in figures)
        rows.append([str(case), f"{case.size / 1e6:.0f}", said])
    print(report.table(["case", "MB of text", unit], rows), flush=True)


def main() -> None:
    jobs = ("fit", "predict", "message", "process", "memory")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--only", default=",".join(jobs), help=f"some of {','.join(jobs)}")
    parser.add_argument("--peers-only", action="store_true", help="without evenodds")
    parser.add_argument("--smoothing", default="auto", help='ours: "auto", or a number as MultinomialNB\'s alpha')
    parser.add_argument("--repeats", type=int, default=3, help="fits after the first (scikit-learn and others: none)")
    parser.add_argument("--match", default="", help="only cases whose name this matches; the saved others stay")
    parser.add_argument("--folder", type=Path, help="where to put the text; a temporary folder if not given")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/text_speed.json")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(measure_here(Case(**json.loads(options.case)), options.corpus, options.repeats)))
        return
    absent, neighbours, size = missing(), Neighbours(), int(options.megabytes * 1e6)
    found: dict[str, Any] = {"megabytes": options.megabytes, "smoothing": options.smoothing, "left_out": absent}
    found["peers"] = {p: importlib.metadata.version(p) for who, p in PEER_PACKAGES.items() if who not in absent}
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        path = Path(place) / "corpus.npz"
        corpus(size).save(path)
        for job in options.only.split(","):
            chosen = cases(job, absent, options.peers_only, options.smoothing, size)
            chosen = [case for case in chosen if re.search(options.match, str(case))]
            if not options.peers_only and job in ("fit", "predict"):  # code compiled and on disk before it is timed
                measure(Case("ours", job, ngrams=2, size=WARM), path, 0)
            found[job] = [measure(case, path, options.repeats if case.who == "ours" else 0) for case in chosen]
            show(job, found[job])
    print("\n".join(["", *absent.values()]))
    found["cores_used_by_others"] = round(neighbours.cores(), 2)
    print(f"other processes kept {found['cores_used_by_others']} cores busy during the run")
    if options.save:
        saved = report.RESULTS / "text_speed.json"
        before = json.loads(saved.read_text()) if saved.exists() else {}
        for job in jobs:
            found[job] = list({Case.of(one): one for one in [*before.get(job, []), *found.get(job, [])]}.values())
        print(f"wrote {report.save('text_speed', found)}")


if __name__ == "__main__":
    main()
