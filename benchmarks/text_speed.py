"""How fast is text learnt and judged, and in how much memory? Beside scikit-learn, Vowpal Wabbit, fastText and river.

    python -m benchmarks.text_speed [--megabytes 200] [--only fit,predict,message,process,memory] [--match X] [--save]

Posts and mail (`text_data.corpus`), in 2 and in 20 classes; words and (1,2)-grams; exact, and hashed into 2^20 buckets;
from list[str] and from Arrow; on 1 core and on 2. Every job is a process of its own, held to its cores, the text in
memory before the clock starts. A fit ends when it can predict: words, smoothing ("auto" unless --smoothing) and weights
are made. "First" is the first fit in the process, compiled code being on disk; the other figure the best of those after
it. MB are of UTF-8. Memory is the highest extra of one fit after a warm-up on 1 MB. A process is `evenodds explain` of
one message, from its start to its end: the median of 25, the model's file in the system's cache, and driven out of it.

How the others are run is told in `benchmarks/text_contenders.py`; river learns the first 5 MB. What cannot be imported
is left out, and said.
"""

import argparse
import dataclasses
import importlib.metadata
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.text_contenders import FIT, PREDICT, Case, ours, theirs
from benchmarks.text_data import Corpus, corpus
from benchmarks.timing import ProcessError, fresh, once, there

WARM = 1_000_000  # bytes
RIVER = 5_000_000  # bytes: it is slow, and as slow on more
MESSAGE = 100  # characters
PROCESSES = 25
JOBS = ("fit", "predict", "message", "process", "memory")
PEERS = {"Vowpal Wabbit": "vowpalwabbit", "fastText": "fasttext", "river": "river"}
PACKAGES = {"vowpalwabbit": "vowpalwabbit", "fasttext": "fasttext-wheel", "river": "river"}
PLACES = (("arrow", 1), ("arrow", 2), ("list", 1), ("list", 2))

Result = dict[str, Any]


# -- measuring: one case in this process, or in a fresh one ------------------------------------------------------------


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
        took, result = once(call)
        del result
        seconds.append(took.seconds)
        processor.append(took.cpu)
    later = seconds[1:] or seconds
    return {"megabytes": megabytes, "first": seconds[0], "seconds": min(later), "cpu": min(processor[1:] or processor)}


def one_message(text: Corpus, case: Case) -> float:
    """The median time of predict_proba of one short message in a warm process, in microseconds."""
    documents = text.strings()
    model = (ours if case.who == "ours" else theirs)(case).fit(documents, text.classes(case.classes))
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
    model = ours(case).fit(documents, text.classes(case.classes))
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
    told = ["--case", json.dumps(dataclasses.asdict(case)), "--corpus", str(path), "--repeats", str(repeats)]
    threads = {name: str(case.cores) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    result: Result = dataclasses.asdict(case)
    try:
        result |= fresh("text_speed", *told, environment={**threads, "TMPDIR": str(path.parent)})
    except ProcessError as error:
        result["error"] = str(error)
    print(f"{case.job}, {case}: {result.get('error', '')}", file=sys.stderr, flush=True)
    return result


def cases(job: str, present: list[str], peers_only: bool, smoothing: str, size: int) -> list[Case]:
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
            alone = [who for who in ("Vowpal Wabbit", "fastText") if who in present and hashed]
            peers += [Case(who, **same, cores=cores) for who in alone for cores in (1, 2)]
            peers += [Case("river", **same, size=RIVER)] if "river" in present and not hashed else []
        own += [
            Case("ours", **same, source=source, cores=cores, smoothing=smoothing)
            for source in ("list", "arrow")
            for cores in (1, 2)
        ]
    return peers + ([] if peers_only else own)


# -- what is shown -----------------------------------------------------------------------------------------------------


def _kind(one: Result) -> str:
    return f"{one['classes']} classes, {_words(one)}"


def _words(one: Result) -> str:
    return f"{'hashed' if one['hashed'] else 'exact'} {'words' if one['ngrams'] == 1 else '(1,2)-grams'}"


def _by_kind(results: list[Result]) -> dict[str, list[Result]]:
    kinds: dict[str, list[Result]] = {}
    for one in results:
        kinds.setdefault(_kind(one), []).append(one)
    return kinds


def _one(results: list[Result], **such: Any) -> Result | None:
    """The first result of such a case that is no error."""
    return next((one for one in results if such.items() <= one.items() and "error" not in one), None)


def _ratios(results: list[Result]) -> str:
    """How many times as fast as scikit-learn, in brackets as Vowpal Wabbit on the same classes, n-grams and cores."""
    rows = []
    for kind, some in _by_kind(results).items():
        peer, cells = _one(some, who="scikit-learn"), list[str]()
        for source, cores in PLACES:
            mine = _one(some, who="ours", source=source, cores=cores)
            if mine is None or peer is None:
                cells.append("")
                continue
            such = {name: mine[name] for name in ("classes", "ngrams", "cores")}
            vowpal = _one(results, who="Vowpal Wabbit", **such)
            beside = f" ({report.times(vowpal['seconds'] / mine['seconds'])})" if vowpal else ""
            cells.append(report.times(peer["seconds"] / mine["seconds"]) + beside)
        rows.append([kind, *cells])
    return report.table(["times as fast", *map(_place, PLACES)], rows)


def _place(place: tuple[str, int]) -> str:
    source, cores = place
    return f"{'Arrow' if source == 'arrow' else source}, {cores} core{'s' * (cores > 1)}"


def _speeds(results: list[Result]) -> str:
    """Megabytes a second of everybody."""
    others = [
        (who, cores) for who in ("scikit-learn", *PEERS) for cores in (1, 2) if _one(results, who=who, cores=cores)
    ]
    header = [*map(_place, PLACES), *(who if who in ("scikit-learn", "river") else f"{who}, {c}" for who, c in others)]
    rows = []
    for kind, some in _by_kind(results).items():
        mine = [_one(some, who="ours", source=source, cores=cores) for source, cores in PLACES]
        every = [*mine, *(_one(some, who=who, cores=cores) for who, cores in others)]
        rows.append([kind, *(report.times(one["megabytes"] / one["seconds"]) if one else "" for one in every)])
    return report.table(["MB a second", *header], rows)


def _errors(results: list[Result]) -> str:
    return "\n".join(f"- {Case.of(one)}: {one['error']}" for one in results if "error" in one)


def shown_fit(result: report.Result) -> str:
    """Ratios, and megabytes a second."""
    results = result["results"]
    firsts = [one["megabytes"] / one["first"] for one in results if one["who"] == "ours" and "first" in one]
    told = (
        f"Our first fit in a process, which loads the compiled code: {report.span(firsts, report.times)} MB a second."
    )
    return report.blocks(_ratios(results), _speeds(results), report.paragraph(told) if firsts else "", _errors(results))


def shown_predict(result: report.Result) -> str:
    """Ratios, and megabytes a second."""
    return report.blocks(_ratios(result["results"]), _speeds(result["results"]), _errors(result["results"]))


def shown_message(result: report.Result) -> str:
    """Microseconds."""
    rows = []
    for words, some in _by_words(result["results"]).items():
        both = [_one(some, who=who) for who in ("ours", "scikit-learn")]
        rows.append([words, *(f"{one['microseconds']:,.0f}" if one else "" for one in both)])
    return report.table(["one message, µs", "ours", "scikit-learn"], rows)


def shown_process(result: report.Result) -> str:
    """Milliseconds."""
    kinds = ("milliseconds", "milliseconds_not_cached", "milliseconds_bare")
    rows = [
        [_words(one), *(f"{one[kind]:.0f}" for kind in kinds), f"{one['file_bytes'] / 1e6:.0f}"]
        for one in result["results"]
        if "error" not in one
    ]
    return report.table(["a process, ms", "file cached", "not cached", "Python doing nothing", "MB of file"], rows)


def shown_memory(result: report.Result) -> str:
    """Megabytes of memory by megabytes of text."""
    results = result["results"]
    sizes = sorted({one["size"] for one in results})
    rows = [
        [f"{words}, {who}", *(f"{one['extra_bytes'] / 1e6:,.0f}" if one else "" for one in every)]
        for words, some in _by_words(results).items()
        for who in ("ours", "scikit-learn")
        if any(every := [_one(some, who=who, size=size) for size in sizes])
    ]
    return report.table(["extra MB", *(f"{size / 1e6:,.0f} MB of text" for size in sizes)], rows)


def _by_words(results: list[Result]) -> dict[str, list[Result]]:
    kinds: dict[str, list[Result]] = {}
    for one in results:
        kinds.setdefault(_words(one), []).append(one)
    return kinds


SHOWN = {
    "fit": shown_fit,
    "predict": shown_predict,
    "message": shown_message,
    "process": shown_process,
    "memory": shown_memory,
}


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--only", type=report.names, default=JOBS, help=f"some of {','.join(JOBS)}")
    parser.add_argument("--peers-only", action="store_true", help="without evenodds")
    parser.add_argument("--smoothing", default="auto", help='ours: "auto", or a number as MultinomialNB\'s alpha')
    parser.add_argument("--repeats", type=int, default=3, help="fits after the first (scikit-learn and others: none)")
    parser.add_argument("--match", default="", help="only cases whose name this matches")
    parser.add_argument("--folder", type=Path, help="where to put the text; a temporary folder if not given")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        print(json.dumps(measure_here(Case(**json.loads(given.case)), given.corpus, given.repeats)))
        return
    present, size = [who for who, module in PEERS.items() if there(module)], int(given.megabytes * 1e6)
    versions = {PACKAGES[PEERS[who]]: importlib.metadata.version(PACKAGES[PEERS[who]]) for who in present}
    told = {"megabytes": given.megabytes, "smoothing": given.smoothing, "peers": versions}
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        path = Path(place) / "corpus.npz"
        corpus(size).save(path)
        for job in given.only:
            chosen = cases(job, present, given.peers_only, given.smoothing, size)
            chosen = [case for case in chosen if re.search(given.match, str(case))]
            if not given.peers_only and job in ("fit", "predict"):  # code compiled and on disk before it is timed
                measure(Case("ours", job, ngrams=2, size=WARM), path, 0)
            results = [measure(case, path, given.repeats if case.who == "ours" else 0) for case in chosen]
            report.finish(f"text_speed_{job}", {**told, "results": results}, SHOWN[job], given.save)


if __name__ == "__main__":
    main()
