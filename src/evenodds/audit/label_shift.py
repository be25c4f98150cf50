"""New class shares, with an interval: those under which new rows are most probable, or by the confusion matrix.

What is said of new rows is a mixture of what is said of each class: said = C · share, C(said | class) counted on rows
whose classes are known (Lipton, Wang and Smola 2018). The counts of C and of what is said are known up to chance, a
Dirichlet each; drawing from those gives the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.arguments import normal_width, tail_of
from evenodds.audit.held_out import of_model
from evenodds.audit.judged import Judged
from evenodds.data.files import read as source_of
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.errors import DataError
from evenodds.families.distribution import Seed, generator
from evenodds.families.leaves import Floats
from evenodds.models.label_shift import adapted
from evenodds.models.naive_bayes import Model
from evenodds.show import Frame
from evenodds.tally import Tally

WORST = 0.1  # smallest singular value of C, below which what is said does not tell the classes' shares
DRAWS = 4000


@dataclass(frozen=True, eq=False, repr=False)
class Shares:
    """The classes' shares among new rows, with credible intervals."""

    classes: tuple[str, ...]
    before: Floats
    shares: Floats
    low: Floats
    high: Floats
    level: float

    @property
    def table(self) -> Frame:
        """A line a class."""
        rows = zip(self.classes, self.before, self.shares, self.low, self.high)
        return Frame([dict(zip(("class", "before", "now", "low", "high"), row)) for row in rows])

    def __repr__(self) -> str:
        return repr(self.table)


@dataclass(frozen=True, eq=False, repr=False)
class LabelShift:
    """The classes' shares among new rows, by both ways, and the model that believes the first."""

    adapted: Model
    likeliest: Shares  # those under which the new rows are most probable
    confusion: Shares | None  # those that explain what is said, given rows whose classes are known
    report: Report

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        other = None if self.confusion is None else self.confusion.table.to_dicts()
        return {"likeliest": self.likeliest.table.to_dicts(), "confusion": other}

    def __repr__(self) -> str:
        other = [] if self.confusion is None else [f"By the confusion matrix:\n{self.confusion}"]
        return "\n\n".join([f"By likelihood:\n{self.likeliest}", *other])


def label_shift(
    model: Model, new: Any, known: Any = None, level: float = 0.95, threads: int | None = None
) -> LabelShift:
    """How often each class occurs in a table or in files, whose classes need not be there; right if only that changed.

    `known` is rows that the model has not learnt and whose classes are known, for the confusion matrix.
    """
    width = normal_width(level)
    reading, parts, reports = Reading(model.schema, target=False), list[Floats](), list[Report]()
    for batch in source_of(new).batches(reading.columns):
        read = reading(batch)
        reports.append(read.report)
        parts.append(model.log_proba(read.table, threads))
    log_p = np.concatenate(parts) if parts else np.empty((0, len(model.classes)))
    adapted_, balance = adapted(model, log_p)
    off = width * balance.errors
    names = tuple(model.names)
    ends = np.clip(balance.shares - off, 0.0, 1.0), np.clip(balance.shares + off, 0.0, 1.0)
    likeliest = Shares(names, np.exp(model.log_prior), balance.shares, *ends, level)
    confusion = None
    if known is not None:
        said = np.bincount(log_p.argmax(axis=1), minlength=len(names))
        confusion = label_shares(of_model(model, known, None, threads).tally(), said, model.classes, level)
    return LabelShift(adapted_, likeliest, confusion, sum(reports, Report()))


def label_shares(
    judged: Tally, said: Any, classes: Sequence[Any], level: float = 0.95, random_state: Seed = 0
) -> Shares:
    """The shares of the classes among new rows, of which `said` counts what is said, in the order of `classes`.

    `judged` is the tally of predictions of rows whose classes are known.

    >>> from evenodds.audit.judge import tally
    >>> forecast = np.repeat([[0.9, 0.1], [0.1, 0.9]], 100, axis=0)
    >>> weather = np.array(["dry"] * 80 + ["wet"] * 20 + ["dry"] * 10 + ["wet"] * 90)
    >>> label_shares(tally(weather, np.log(forecast), ["dry", "wet"]), [300, 700], ["dry", "wet"])
    class  before     now     low    high
    dry    0.4500  0.1671  0.0539  0.2530
    wet    0.5500  0.8329  0.7470  0.9461
    """
    read, tail = Judged(judged, classes), tail_of(level)
    k, counts, new = read.k, read.confusion[: read.k, : read.k], np.asarray(said, float)
    if new.shape != (k,):
        raise DataError(f"said has {len(new)} counts for {k} classes: expected one for each")
    if not new.sum() > 0 or np.any(counts.sum(axis=1) <= 0):
        raise DataError("every class needs rows whose class is known, and there must be new rows")
    matrix = (counts / counts.sum(axis=1, keepdims=True)).T
    smallest = float(np.linalg.svd(matrix, compute_uv=False)[-1])
    if smallest < WORST:
        raise DataError(
            f"what is said hardly depends on the class (smallest singular value {smallest:.3f}): "
            "it does not tell the classes' shares; a better model is needed"
        )
    random = generator(random_state)
    columns = np.stack([random.dirichlet(counts[c] + 1 / k, DRAWS) for c in range(k)], axis=-1)
    draws = _solved(columns, random.dirichlet(new + 1 / k, DRAWS))
    names = tuple(read.names[:k])
    never = np.flatnonzero((draws < 0).all(axis=0))
    if len(never):
        raise DataError(
            f"no shares of the classes lead to what is said of the new rows: of {names[never[0]]!r} there would have "
            "to be fewer than none. The rows of known classes are not like the new ones, in more than these shares"
        )
    low, high = np.quantile(_possible(draws), [tail, 1 - tail], axis=0)
    now = _possible(_solved(matrix, new / new.sum()))
    return Shares(names, counts.sum(axis=1) / counts.sum(), now, low, high, level)


def _solved(matrix: Floats, said: Floats) -> Floats:
    """The shares that lead to what is said, some perhaps below 0; of many matrices at once."""
    return np.asarray((np.linalg.pinv(matrix) @ said[..., None])[..., 0])


def _possible(shares: Floats) -> Floats:
    """Shares of which none is below 0."""
    above = np.maximum(shares, 0.0)
    return np.asarray(above / above.sum(axis=-1, keepdims=True))
