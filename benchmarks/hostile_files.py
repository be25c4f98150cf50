"""Spoilt model files: each must be refused in a sentence, or be a model that works. `--mutations 10000`, `--save`.

Half of the files are spoilt as accidents spoil them: bits flipped, ends lost or added, pieces of other files. The other
half are forged: the header or the arrays are changed, and the checksums made right again. No file may lead to an
exception other than a sentence about it, nor to memory beyond a small multiple of its own length.
"""

import collections
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import evenodds as eo
from benchmarks import report
from benchmarks.spoiling import ROWS, N, Spoilt, models, spoil
from evenodds.data.memory import table as as_table
from evenodds.models.explain import explain
from evenodds.models.learnt import Tables, n_parameters, sample

PEAK = 4_000_000, 64  # bytes, and bytes for every byte of the file, that reading a file may take
OUTCOMES = ("refused", "read and used", "failed to read", "failed in use")


class Outcome(NamedTuple):
    """What became of it: refused, or read and used; or an exception there should not be. And the memory it took."""

    what: str
    sentence: str
    peak: int


def uses(model: eo.Model) -> list[Callable[[], Any]]:
    """What one does with a model; little, with one that has seen no rows."""
    rows = as_table(ROWS)
    always: list[Callable[[], Any]] = [
        lambda: repr(model),
        lambda: model.log_proba(ROWS),
        lambda: (model + model).rows,
        lambda: _saved_and_loaded(model),
    ]
    if not len(model.classes):
        return always
    return [
        *always,
        lambda: model.log_density(ROWS),
        lambda: repr(explain(model, rows)),
        lambda: repr(Tables(model)),
        lambda: n_parameters(model),
        lambda: sample(model, 3, random_state=0),
        lambda: (model + model).log_proba(ROWS),
        lambda: (model - model).rows,
        lambda: model.fade(0.5).class_counts,
        lambda: model.learn(ROWS, model.classes[np.zeros(N, int)]),
    ]


def _saved_and_loaded(model: eo.Model) -> None:
    if eo.Model.from_bytes(model.to_bytes()) != model:
        raise AssertionError("a model saved and loaded is another model")


def judge(data: bytes) -> Outcome:
    """Read a spoilt file, and use it if it can be read."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]

    def outcome(what: str, sentence: str = "") -> Outcome:
        return Outcome(what, sentence, max(tracemalloc.get_traced_memory()[1] - before, 0))

    try:
        model = eo.Model.from_bytes(data)
    except eo.DataError as error:
        return outcome("refused", str(error))
    except Exception as error:
        return outcome("failed to read", repr(error))
    read = outcome("read and used")
    for use in uses(model):
        try:
            use()
        except ValueError:  # a DataError is one too
            continue
        except Exception as error:
            return outcome("failed in use", repr(error))
    return read


def fine(spoilt: Spoilt, outcome: Outcome, originals: list[bytes]) -> bool:
    """Whether a file came to a good end, at a bounded cost: an accident that changed anything is always refused."""
    if outcome.peak > PEAK[0] + PEAK[1] * len(spoilt.data) or outcome.what.startswith("failed"):
        return False
    return outcome.what == "refused" or "change" in spoilt.how or spoilt.data in originals


def shown(result: report.Result) -> str:
    """What became of them, by how they were spoilt."""
    rows = [[how, *(f"{counts[what]:,}" for what in OUTCOMES)] for how, counts in result["outcomes"].items()]
    failures = result["failures"]
    end = f"{len(failures)} came to a bad end:" if failures else "none came to a bad end."
    return report.blocks(
        report.table(["spoilt by", *OUTCOMES], rows),
        report.paragraph(
            f"Of {result['mutations']:,} files {end} Reading one took at most {result['peak_bytes'] / 1e6:.1f} MB."
        ),
        "\n".join(f"- {failure}" for failure in failures),
    )


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    originals = [model.to_bytes() for model in models()]
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    worst, failures, start = 0, [], time.perf_counter()
    tracemalloc.start()
    for i in range(given.mutations):
        how, data = spoilt = spoil(originals, given.seed, i)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = judge(data)
        found[how, outcome.what] += 1
        worst = max(worst, outcome.peak)
        if not fine(spoilt, outcome, originals):
            failures.append(f"{i} ({spoilt.how}): {outcome.what}, {outcome.peak:,} bytes: {outcome.sentence}")
    result = {
        "mutations": given.mutations,
        "seed": given.seed,
        "outcomes": {how: {what: found[how, what] for what in OUTCOMES} for how in sorted({how for how, _ in found})},
        "peak_bytes": worst,
        "failures": failures,
        "seconds": round(time.perf_counter() - start, 1),
    }
    report.finish("hostile_files", result, shown, given.save)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
