"""The first pass of a regression: what its columns hold, what its target is, and what is wrong with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.cells import Coded
from evenodds.data.passes import added
from evenodds.data.report import Report
from evenodds.data.source import Memory, Source
from evenodds.errors import DataError, listed, remedy, several
from evenodds.families import Bernoulli, Gaussian
from evenodds.labels import Labels, canonical
from evenodds.models.glm.blocks import SHARD, Floats
from evenodds.models.glm.design import Design, Places, Term, check_references, term_of
from evenodds.models.glm.losses import Loss, loss_for
from evenodds.models.glm.plan import Chunk, Plan, chunk_of, chunk_of_memory
from evenodds.models.glm.rows import Held, Streamed, block_of
from evenodds.models.targets import check_few, check_two
from evenodds.threads import in_order

STRIP = 1 << 9  # rows whose moments are added at once
FAR = 30.0  # standard deviations from 0, beyond which a column's mean is taken off before it is squared
LARGEST = 1e140  # a column's size, beyond which, or below whose inverse, its squares and their inverses are no doubles


@dataclass(frozen=True)
class Survey:
    """What the first pass found. Surveys of batches add."""

    rows: int = 0
    weight: float = 0.0  # Σ w, trials included
    count: float = 0.0  # Σ w, trials not included: how many rows there are, each as often as it counts
    lightest: float = np.inf  # the least w
    moments: Any = None  # (3, numbers): origin, Σ (x - origin), Σ (x - origin)²
    labels: tuple[Labels, ...] = ()  # of each category
    classes: Mapping[str, float] = field(default_factory=dict)  # weight of each, where the target is a class
    y: Any = field(default_factory=lambda: np.zeros(3))  # the target's moments, where it is a number
    fixed: float = 0.0  # Σ w of what the target alone adds to the negative log-likelihood
    least: float = 0.0  # Σ w of the least cost there could be
    offsets: float = 0.0  # Σ w offset
    missing: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    dropped: int = 0

    def __add__(self, other: Survey) -> Survey:
        if not self.rows and not self.missing:
            return dataclasses.replace(other, dropped=self.dropped + other.dropped)
        if not other.rows and not other.missing:
            return dataclasses.replace(self, dropped=self.dropped + other.dropped)
        missing = dict(self.missing)
        for name, (count, where) in other.missing.items():
            seen = missing.get(name)
            missing[name] = (count, where) if seen is None else (seen[0] + count, seen[1])
        classes = dict(self.classes)
        for name, weight in other.classes.items():
            classes[name] = classes.get(name, 0.0) + weight
        return Survey(
            self.rows + other.rows,
            self.weight + other.weight,
            self.count + other.count,
            min(self.lightest, other.lightest),
            _moved(self.moments, self.weight, other.moments, other.weight),
            tuple(a.merge(b)[0] for a, b in zip(self.labels, other.labels)) if other.rows else self.labels,
            classes,
            _moved(self.y, self.weight, other.y, other.weight),
            self.fixed + other.fixed,
            self.least + other.least,
            self.offsets + other.offsets,
            missing,
            self.dropped + other.dropped,
        )


@dataclass(frozen=True)
class Looked:
    """What the first pass found, and what was wrong with some rows."""

    survey: Survey = field(default_factory=Survey)
    report: Report = field(default_factory=Report)

    def __add__(self, other: Looked) -> Looked:
        return Looked(self.survey + other.survey, self.report + other.report)


def _moved(a: Any, n: float, b: Any, m: float) -> Any:
    """Moments of two runs of rows about the first one's origin."""
    if not n or not m:
        return a if n else b
    with np.errstate(over="ignore", invalid="ignore"):
        step = b[0] - a[0]
        return np.stack([a[0], a[1] + b[1] + m * step, a[2] + b[2] + 2 * step * b[1] + m * step * step])


def look(plan: Plan, chunk: Chunk, loss: Loss) -> Survey:
    """What some rows hold."""
    moments = _moments(chunk)
    gone = plan.gaps(chunk, numbers=not np.isfinite(moments).all())
    if gone and plan.missing == "refuse":
        return Survey(missing=gone)
    kept = plan.whole(chunk) if gone else chunk
    dropped, chunk = chunk.rows - kept.rows, kept
    if dropped:
        moments = _moments(chunk)
    if not chunk.rows:
        return Survey(dropped=dropped)
    w = chunk.weights
    weight, lightest = (float(chunk.rows), 1.0) if w is None else (float(w.sum()), float(w.min()))
    count = float(weight if chunk.trials is None or w is None else (w / chunk.trials).sum())
    counts: dict[str, float] = {}
    y, fixed, least = np.zeros(3), 0.0, 0.0
    if isinstance(chunk.target, Coded):
        found = np.bincount(chunk.target.places, w, len(chunk.target.labels))
        counts = {t: float(n) for t, n in zip(chunk.target.labels.texts(), found) if n > 0}
    else:
        loss.check(chunk.target, plan.roles.target, chunk.where)
        t, often = _counted(chunk.target, w)
        y = _about_mean(t, often)
        fixed = _sum(loss.constant(t), often) + float(chunk.extra.sum())
        least = _sum(loss.least(t), often)
    labels = tuple(_present(x) for x in chunk.coded)
    offsets = 0.0 if chunk.offset is None else _sum(chunk.offset, w)
    return Survey(chunk.rows, weight, count, lightest, moments, labels, counts, y, fixed, least, offsets, {}, dropped)


def _sum(x: Floats, w: Floats | None) -> float:
    return float(x.sum() if w is None else x @ w)


def _about_mean(x: Floats, w: Floats | None) -> Floats:
    """Moments with the mean, to rounding, as origin: squares of what is left keep the digits of a spread far from 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        origin = _sum(x, w) / (len(x) if w is None else float(w.sum()))
        away = x - origin
        return np.array([origin, _sum(away, w), _sum(away * away, w)])


def _counted(y: Floats, w: Floats | None) -> tuple[Floats, Floats | None]:
    """Numbers and the weight of each; of small counts, each number once."""
    if y.min() >= 0 and y.max() < len(y):
        places = y.astype(np.int64)
        if np.array_equal(places, y):
            often = np.bincount(places, w).astype(np.float64)
            return np.arange(len(often), dtype=np.float64), often
    return y, w


def _present(x: Coded) -> Labels:
    """The labels that occur; no cell is missing."""
    found = np.unique(x.place[np.bincount(x.codes, minlength=len(x.place)) > 0])
    return x.labels if len(found) == len(x.labels) else x.labels.take(found)


def _moments(chunk: Chunk) -> Any:
    """Origin, Σ (x - origin) and Σ (x - origin)² of each number; of sparse columns about 0."""
    if chunk.sparse is not None:
        each = np.ones(chunk.rows) if chunk.weights is None else chunk.weights
        with np.errstate(over="ignore"):
            squares = chunk.sparse.power(2).T @ each
        return np.stack([np.zeros_like(squares), chunk.sparse.T @ each, squares])
    origin = np.array(chunk.dense[:1], np.float64).sum(axis=0)  # of no rows, 0
    total, squares = np.zeros_like(origin), np.zeros_like(origin)
    even, strip, first = np.ones(STRIP), np.empty((STRIP, len(origin))), np.tile(origin, (STRIP, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, chunk.rows, STRIP):
            rows = chunk.dense[start : start + STRIP]
            part = np.subtract(rows, first[: len(rows)], out=strip[: len(rows)])
            w = even[: len(rows)] if chunk.weights is None else chunk.weights[start : start + STRIP]
            total += np.dot(w, part)  # unlike @, it lets other threads run meanwhile
            squares += np.dot(w, np.multiply(part, part, out=part))
    return np.stack([origin, total, squares])


@dataclass(frozen=True, eq=False)
class Found:
    """What the first pass decided."""

    plan: Plan
    survey: Survey
    design: Design
    loss: Loss
    labels: tuple[Any, ...]  # the classes' values, in their order; none where the target is a number
    counts: Floats  # weight of each class
    classes: Places | None
    report: Report

    @property
    def mean(self) -> Any:
        """The target's mean; of classes, their shares."""
        if self.loss.outputs > 1:
            return self.counts / self.counts.sum()
        if self.plan.is_class:
            return float(self.counts[1] / self.counts.sum())
        origin, total, _ = self.survey.y
        return float(origin + total / self.survey.weight)

    @property
    def unit(self) -> float:
        """The size of an error of a score: how far a Gaussian's targets spread; that of others has no unit."""
        if self.plan.family is not Gaussian:
            return 1.0
        origin, total, squares = self.survey.y
        away = total / self.survey.weight
        spread = float(np.sqrt(max(squares / self.survey.weight - away * away, 0.0)))
        return max(spread, 1e-6 * abs(float(origin + away))) or 1.0  # of a constant, what rounding leaves of it

    @property
    def largest(self) -> Floats:
        """What no number x of a column of the design is beyond: x² ≤ Σ w x² / least w; of one-hot columns, 1."""
        design, (origin, total, squares) = self.design, self.survey.moments
        away, n = design.shift - origin, self.survey.weight
        weighed = np.maximum(squares - 2 * away * total + away * away * n, 0.0)
        found, first = np.ones(design.width), int(design.intercept)
        found[first : first + len(origin)] = np.sqrt(weighed / self.survey.lightest) / design.scale
        return found


def surveyed(source: Source, plan: Plan, threads: int | None = None) -> tuple[Found, Held | Streamed]:
    """The first pass over a source: what was found, and its rows in the design's columns."""
    loss, target = loss_for(plan.family), plan.roles.target
    features = {name: plan.schema.features[name] for name in (*plan.numeric, *plan.categorical)}
    check_references(
        {name: value for name, value in plan.references.items() if name != target or not plan.is_class}, features
    )
    if isinstance(source, Memory):
        chunk = chunk_of_memory(source, plan)
        if plan.missing == "drop" and plan.gaps(chunk):
            whole = plan.whole(chunk)
            lost, chunk = chunk.rows - whole.rows, whole
        else:
            lost = 0
        starts = range(0, chunk.rows, SHARD)
        parts = in_order(lambda start: look(plan, chunk.take(slice(start, start + SHARD)), loss), starts, threads)
        survey = dataclasses.replace(sum(parts, Survey()), dropped=lost)
        found = _decided(plan, survey, Report(chunk.rows), source.name, chunk.sparse is not None)
        return found, Held(block_of(chunk, found))
    reading = plan.reading()

    def work(batch: Any) -> Looked:
        read = reading(batch)
        chunk, without = chunk_of(plan, read, batch)
        return Looked(look(plan, chunk, loss), read.report + without)

    seen = added(work, source.batches(reading.columns), threads) or Looked()
    found = _decided(plan, seen.survey, seen.report, source.name, False)
    return found, Streamed(source, plan, found, reading)


def _decided(plan: Plan, survey: Survey, report: Report, where: str, sparse: bool) -> Found:
    """The design and the classes, now that all rows have been seen."""
    if survey.missing:
        _refuse_missing(survey.missing)
    if not survey.rows:
        unread = report.cells.get(plan.roles.target)
        if unread is not None:
            raise DataError(
                f"the target {plan.roles.target!r} is {unread.example!r} in {unread.where}, not a number: "
                "of classes the family is Bernoulli or Categorical"
            )
        raise DataError(f"{where} has no rows to learn from" + (" without missing cells" if survey.dropped else ""))
    _refuse_sizes(plan, survey, where)
    loss, counts, classes = loss_for(plan.family), np.zeros(0), None
    labels: tuple[Any, ...] = ()
    if plan.is_class:
        texts = list(survey.classes)
        values = plan.schema.values(texts)
        first = _reference(plan, values)
        order = sorted(range(len(values)), key=lambda i: (values[i] != first, values[i]))
        labels, texts = tuple(values[i] for i in order), [texts[i] for i in order]
        counts = np.array([survey.classes[text] for text in texts])
        check_two(labels)
        what = f"{where}: the target {plan.roles.target!r}"
        check_few(len(labels), survey.rows, what, ", or a number (Gaussian) or a count (Poisson)")
        if plan.family is Bernoulli and len(labels) > 2:
            raise DataError(
                f"Only binary classification is supported. The type of the target is multiclass: {len(labels)} "
                f"classes; choose the softmax, {remedy('GLM(Categorical)', '--family categorical')}"
            )
        classes, loss = Places.of(texts, range(len(texts))), loss_for(plan.family, len(labels))
    shift, scale = _standard(survey, sparse or not plan.intercept)
    categories = [term_of(name, x.texts(), plan.references) for name, x in zip(plan.categorical, survey.labels)]
    numeric = tuple(Term(name) for name in plan.numeric)
    far = np.abs(shift) > FAR * scale
    design = Design(numeric, tuple(categories), plan.intercept, np.where(far, shift, 0.0), np.ones_like(scale))
    return Found(plan, survey, design, loss, labels, counts, classes, report)


def _reference(plan: Plan, values: list[Any]) -> Any:
    """The class that the others are compared with: the one that is told, or else the first."""
    told = plan.references.get(plan.roles.target)
    if told is None:
        return min(values)
    found = [value for value in values if canonical(value) == canonical(told)]
    if not found:
        classes = listed(sorted(values))
        raise DataError(
            f"the target {plan.roles.target!r}: the reference {told!r} does not occur; its classes are {classes}"
        )
    return found[0]


def _standard(survey: Survey, about_zero: bool) -> tuple[Floats, Floats]:
    """The mean of each number and its standard deviation, or its size where there is no intercept; 0 for a constant."""
    origin, total, squares = survey.moments
    n = survey.weight
    mean = origin + total / n
    variance = np.maximum(squares / n - (total / n) ** 2, 0.0)
    spread = np.sqrt(variance)
    spread = np.where(spread <= 1e-14 * np.abs(mean), 0.0, spread)
    return (np.zeros_like(mean), np.sqrt(variance + mean**2)) if about_zero else (mean, spread)


def standardised(found: Found) -> Design:
    """The design with every number centred and scaled, for solvers that depend on it."""
    shift, scale = _standard(found.survey, not found.design.intercept)
    return dataclasses.replace(found.design, shift=shift, scale=np.where(scale > 0, scale, 1.0))


def _refuse_sizes(plan: Plan, survey: Survey, where: str) -> None:
    """Name a number whose squares are beyond doubles: neither its estimate nor the error of that could be told."""
    names = [*(f"column {name!r}" for name in plan.numeric), f"the target {plan.roles.target!r}"]
    origin, total, squares = np.column_stack([survey.moments, survey.y])
    sizes = np.maximum(np.abs(origin + total / survey.weight), np.sqrt(np.maximum(squares, 0.0) / survey.weight))
    for name, size in zip(names, sizes):
        if size and size < 1 / LARGEST:
            raise DataError(f"{where}: {name} is too small to be squared: multiply it by a power of ten")
        if not size < LARGEST:
            raise DataError(f"{where}: {name} is too large to be squared: divide it by a power of ten")


def _refuse_missing(missing: Mapping[str, tuple[int, str]]) -> None:
    files = {where.rpartition(", ")[0] for _, where in missing.values()}
    file = files.pop() if len(files) == 1 else ""  # its name is told once
    listed = [
        f"{name!r} ({count:,}, first in {where.removeprefix(file + ', ')})" for name, (count, where) in missing.items()
    ]
    columns = "column" if len(missing) == 1 else "columns"
    raise DataError(
        f"{file and file + ': '}missing cells (NaN) in {columns} {several(listed)}: fill them, leave the column out, "
        "or leave such rows out: " + remedy("missing='drop'", "--missing drop")
    )
