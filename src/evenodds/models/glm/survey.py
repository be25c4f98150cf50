"""The first pass of a regression: what its columns hold, what its target is, and whether anything is wrong with them.

Then the rows, as often as the fitter wants them: held in memory if they were there or are few, otherwise read again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import Coded, codes, numbers
from evenodds.data.memory import Table, in_order
from evenodds.data.reading import Reading
from evenodds.data.report import Report, Trouble
from evenodds.data.source import Memory, Source
from evenodds.data.sum import cells, number
from evenodds.errors import DataError
from evenodds.families import Bernoulli, Categorical, Family, Gaussian
from evenodds.labels import Labels
from evenodds.models.glm.blocks import SHARD, Block, Codes, Floats
from evenodds.models.glm.design import Design, Places, Term, check_references, stacked, term_of
from evenodds.models.glm.losses import Loss, loss_for
from evenodds.schema import Column, Schema

HELD = 1 << 26  # bytes of a design that is read from files and kept
HEAVIEST = 1e100  # of a weight, an offset or an exposure
PILOT = 1 << 16  # rows on which a first fit is tried
FAR = 30.0  # standard deviations from 0, beyond which a column's mean is taken off before it is squared
NUMBER = Column(Gaussian)


@dataclass(frozen=True)
class Roles:
    """The columns that are no features: the target, and what else is told of a row, by name."""

    target: str
    weights: str | None = None
    offset: str | None = None  # added to the score
    exposure: str | None = None  # of a count: the time, people or miles it was counted over; its log is an offset
    trials: str | None = None  # of a Bernoulli target that counts successes: among how many

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [name for name in dataclasses.astuple(self) if name is not None]

    @property
    def numbers(self) -> list[str]:
        """Those that are numbers in any case."""
        return [name for name in (self.offset, self.exposure, self.trials) if name is not None]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows as they were read, before the design is known."""

    dense: NDArray[Any]
    sparse: Any
    coded: list[Coded]
    target: Any  # numbers, or Coded
    weights: Floats | None
    offset: Floats | None
    trials: Floats | None  # by which the weights have been multiplied
    extra: Floats  # (rows,): what the trials add to the negative log-likelihood
    where: Callable[[int], str]
    rows: int

    def take(self, rows: NDArray[np.int64]) -> Chunk:
        """Some of the rows."""
        where = self.where
        return Chunk(
            self.dense[rows],
            None if self.sparse is None else self.sparse[rows],
            [x[rows] for x in self.coded],
            self.target[rows],
            None if self.weights is None else self.weights[rows],
            None if self.offset is None else self.offset[rows],
            None if self.trials is None else self.trials[rows],
            self.extra[rows],
            lambda row: where(int(rows[row])),
            len(rows),
        )


@dataclass(frozen=True)
class Survey:
    """What the first pass found. Surveys of batches add."""

    rows: int = 0
    weight: float = 0.0  # Σ w, trials included
    count: float = 0.0  # Σ w, trials not included: how many rows there are, each as often as it counts
    moments: Any = None  # (3, numbers): origin, Σ (x - origin), Σ (x - origin)²
    labels: tuple[Labels, ...] = ()  # of each category
    classes: Mapping[str, float] = field(default_factory=dict)  # weight of each, where the target is a class
    y: Any = None  # (2,): Σ w y, Σ w y²
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
            _moved(self.moments, self.weight, other.moments, other.weight),
            tuple(a.merge(b)[0] for a, b in zip(self.labels, other.labels)) if other.rows else self.labels,
            classes,
            self.y + other.y,
            self.fixed + other.fixed,
            self.least + other.least,
            self.offsets + other.offsets,
            missing,
            self.dropped + other.dropped,
        )


def _moved(a: Any, n: float, b: Any, m: float) -> Any:
    """Moments of two runs of rows about the first one's origin."""
    if not n or not m:
        return a if n else b
    step = b[0] - a[0]
    return np.stack([a[0], a[1] + b[1] + m * step, a[2] + b[2] + 2 * step * b[1] + m * step * step])


@dataclass(frozen=True)
class Plan:
    """How rows are read for a regression, before and after the first pass."""

    schema: Schema
    roles: Roles
    family: type[Family]
    intercept: bool = True
    missing: str = "refuse"
    references: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_class(self) -> bool:
        """Whether the target is a class rather than a number."""
        return self.family is Categorical or (self.family is Bernoulli and self.roles.trials is None)

    @property
    def numeric(self) -> list[str]:
        """The columns that are numbers."""
        return [name for name, how in self.schema.features.items() if how.family is not Categorical]

    @property
    def categorical(self) -> list[str]:
        """The columns that are categories."""
        return [name for name, how in self.schema.features.items() if how.family is Categorical]

    def reading(self) -> Reading:
        """How batches of files are read: targets and offsets that are numbers as further columns."""
        more = [*self.roles.numbers, *([] if self.is_class else [self.roles.target])]
        columns = {**self.schema.columns, **dict.fromkeys(more, NUMBER)}
        return Reading(Schema(columns, self.roles.target, self.schema.target_kind), self.is_class, self.roles.weights)

    # -- one run of rows -----------------------------------------------------------------------------------------------

    def chunk(
        self, table: Table, target: Any, weights: Floats | None, where: Callable[[int], str], sparse: Any = None
    ) -> Chunk:
        """Rows as numbers and codes; what is told of them checked. Rows of weight 0 are left out."""
        roles, rows = self.roles, table.rows
        features = self.schema.features
        if sparse is None:
            dense = stacked([cells(table, name, features[name]) for name in self.numeric], rows)
        else:
            dense = np.empty((rows, 0))
        coded = [cells(table, name, features[name]) for name in self.categorical]
        extra, trials, offset = np.zeros(rows), None, None
        if roles.offset is not None:
            offset = _checked(numbers(table[roles.offset], roles.offset), "offset", roles.offset, where, -HEAVIEST)
        if roles.exposure is not None:
            exposure = numbers(table[roles.exposure], roles.exposure)
            _checked(exposure, "exposure", roles.exposure, where, 0.0)
            offset = np.log(exposure) + (0.0 if offset is None else offset)
        if roles.trials is not None:
            trials = _checked(numbers(table[roles.trials], roles.trials), "number of trials", roles.trials, where, 0.0)
            target, extra = _shares(target, trials, roles.target, where)
            if weights is not None:
                extra = extra * weights
            weights = trials if weights is None else weights * trials
        found = Chunk(dense, sparse, coded, target, weights, offset, trials, extra, where, rows)
        if weights is not None and not np.all(weights > 0):
            found = found.take(np.flatnonzero(weights > 0))
        return found

    def look(self, chunk: Chunk, loss: Loss) -> Survey:
        """What some rows hold."""
        gone = self.gaps(chunk)
        if gone and self.missing == "refuse":
            return Survey(missing=gone)
        kept = self.whole(chunk) if gone else chunk
        dropped, chunk = chunk.rows - kept.rows, kept
        if not chunk.rows:
            return Survey(dropped=dropped)
        w = chunk.weights
        weight = float(chunk.rows if w is None else w.sum())
        count = float(weight if chunk.trials is None or w is None else (w / chunk.trials).sum())
        counts: dict[str, float] = {}
        y, fixed, least = np.zeros(2), 0.0, 0.0
        if isinstance(chunk.target, Coded):
            found = np.bincount(chunk.target.places, w, len(chunk.target.labels))
            counts = {t: float(n) for t, n in zip(chunk.target.labels.texts(), found) if n > 0}
        else:
            loss.check(chunk.target, self.roles.target, chunk.where)
            t = chunk.target
            y = np.array([_sum(t, w), _sum(t * t, w)])
            fixed = _sum(loss.constant(t), w) + float(chunk.extra.sum())
            least = _sum(loss.least(t), w)
        labels = tuple(_present(x) for x in chunk.coded)
        offsets = 0.0 if chunk.offset is None else _sum(chunk.offset, w)
        return Survey(chunk.rows, weight, count, _moments(chunk), labels, counts, y, fixed, least, offsets, {}, dropped)

    def gaps(self, chunk: Chunk) -> dict[str, tuple[int, str]]:
        """The columns with missing or infinite cells, how many, and where the first is."""
        found: dict[str, tuple[int, str]] = {}
        values = chunk.dense if chunk.sparse is None else chunk.sparse.data
        if not _all_finite(values):
            if chunk.sparse is not None:
                dense, names = chunk.sparse.toarray(), self.numeric
            else:
                dense, names = chunk.dense, self.numeric
            for j, name in enumerate(names):
                infinite = np.flatnonzero(np.isinf(dense[:, j]))
                if len(infinite):
                    raise DataError(
                        f"column {name!r} is infinite (inf) in {chunk.where(int(infinite[0]))}: "
                        "a regression needs finite numbers"
                    )
                rows = np.flatnonzero(np.isnan(dense[:, j]))
                if len(rows):
                    found[name] = (len(rows), chunk.where(int(rows[0])))
        for name, x in zip(self.categorical, chunk.coded):
            if x.nullable and (x.codes.min(initial=0) < 0 or np.any(x.place < 0)):
                rows = np.flatnonzero(x.places < 0)
                if len(rows):
                    found[name] = (len(rows), chunk.where(int(rows[0])))
        return found

    def whole(self, chunk: Chunk) -> Chunk:
        """The rows without missing cells."""
        usable = np.ones(chunk.rows, bool)
        if chunk.sparse is not None:
            bad = chunk.sparse.copy()
            bad.data = np.isnan(bad.data).astype(float)
            usable &= np.asarray(bad.sum(axis=1)).ravel() == 0
        elif chunk.dense.shape[1]:
            usable &= np.isfinite(chunk.dense.sum(axis=1))
        for x in chunk.coded:
            usable &= x.places >= 0
        return chunk if usable.all() else chunk.take(np.flatnonzero(usable))

    def block(self, chunk: Chunk, found: Found) -> Block:
        """The rows in the design's columns."""
        design = found.design
        if self.missing == "drop":
            chunk = self.whole(chunk)
        codes = np.empty((chunk.rows, len(chunk.coded)), np.int32)
        for j, x in enumerate(chunk.coded):
            codes[:, j] = design.places[j].find(x)
        target = chunk.target
        y = found.classes.find(target) if isinstance(target, Coded) and found.classes is not None else target
        y = np.asarray(y, np.int32 if found.loss.outputs > 1 else np.float64)
        return self._block(chunk.dense, chunk.sparse, codes, y, chunk.weights, chunk.offset, design)

    @staticmethod
    def _block(dense: Any, sparse: Any, codes: Codes, y: Any, weights: Any, offset: Any, design: Design) -> Block:
        if sparse is not None:
            return Block(np.empty((len(y), 0)), sparse, codes, design.width, y, weights, offset, design.intercept)
        return Block(dense, None, codes, design.width, y, weights, offset, design.intercept, design.shift, design.scale)


def _checked(x: Floats, what: str, name: str, where: Callable[[int], str], above: float) -> Floats:
    bad = np.flatnonzero(~((x > above) & (x < HEAVIEST)))
    if len(bad):
        row = int(bad[0])
        expected = "a finite number" + (" above 0 (a row without any says nothing: leave it out)" if above == 0 else "")
        raise DataError(f"the {what} {name!r} is {x[row]:g} in {where(row)}: expected {expected}")
    return x


def _shares(successes: Floats, trials: Floats, name: str, where: Callable[[int], str]) -> tuple[Floats, Floats]:
    """Successes as shares of the trials, and the log of the number of ways they could have come, negative."""
    from scipy.special import gammaln

    bad = np.flatnonzero(~((successes >= 0) & (successes <= trials)))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"the target {name!r} is {successes[row]:g} in {where(row)}: "
            f"expected a number of successes, from 0 to the {trials[row]:g} trials"
        )
    ways = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    return successes / trials, -ways


def _sum(x: Floats, w: Floats | None) -> float:
    return float(x.sum() if w is None else x @ w)


def _all_finite(x: Any) -> bool:
    """Whether all numbers are finite: their sum is, or each is looked at."""
    for start in range(0, len(x), SHARD):
        part = x[start : start + SHARD]
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(part.sum()) and not np.isfinite(part).all():
                return False
    return True


def _present(x: Coded) -> Labels:
    """The labels that occur."""
    found = np.flatnonzero(np.bincount(x.places, minlength=len(x.labels)) > 0)
    return x.labels if len(found) == len(x.labels) else x.labels.take(found)


def _moments(chunk: Chunk) -> Any:
    """Origin, Σ (x - origin) and Σ (x - origin)² of each number; of sparse columns about 0."""
    if chunk.sparse is not None:
        each = np.ones(chunk.rows) if chunk.weights is None else chunk.weights
        squares = chunk.sparse.power(2).T @ each
        return np.stack([np.zeros_like(squares), chunk.sparse.T @ each, squares])
    origin, w = np.array(chunk.dense[0], np.float64), chunk.weights
    total, squares = np.zeros_like(origin), np.zeros_like(origin)
    for start in range(0, chunk.rows, 1 << 12):
        part = chunk.dense[start : start + (1 << 12)] - origin
        heavy = part if w is None else part * w[start : start + (1 << 12), None]
        total += heavy.sum(axis=0)
        squares += np.einsum("ij,ij->j", part, heavy)
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
        return float(self.survey.y[0] / self.survey.weight)


def reading_of(schema: Schema, roles: Roles, names: list[str]) -> Reading:
    """How rows to be predicted are read: the features, and the offset and exposure where they are among the names."""
    more = [name for name in (roles.offset, roles.exposure) if name is not None and name in names]
    return Reading(Schema({**schema.columns, **dict.fromkeys(more, NUMBER)}, schema.target, schema.target_kind), False)


def surveyed(source: Source, plan: Plan, threads: int | None = None) -> tuple[Found, Any]:
    """The first pass over a source: what was found, and its rows in the design's columns."""
    loss = loss_for(plan.family)
    check_references(plan.references, plan.categorical)
    if isinstance(source, Memory):
        chunk = _chunk_of_memory(source, plan)
        if plan.missing == "drop" and plan.gaps(chunk):
            whole = plan.whole(chunk)
            lost, chunk = chunk.rows - whole.rows, whole
        else:
            lost = 0
        starts = range(0, chunk.rows, SHARD)
        parts = in_order(lambda start: plan.look(_slice(chunk, start), loss), starts, threads)
        survey = dataclasses.replace(sum(parts, Survey()), dropped=lost)
        found = _decided(plan, survey, Report(chunk.rows), source.name, chunk.sparse is not None)
        return found, Held(plan.block(chunk, found))
    reading = plan.reading()
    reports: list[Report] = []
    total = Survey()

    def work(numbered: tuple[int, Any]) -> tuple[Survey, Report]:
        batch = numbered[1]
        read = reading(batch)
        return plan.look(_chunk_of(plan, read, batch), loss), read.report + _no_target(plan, read, batch)

    for part, report in in_order(work, number(source.batches(reading.columns)), threads):
        total += part
        reports.append(report)
    found = _decided(plan, total, sum(reports, Report()), source.name, False)
    return found, Streamed(source, plan, found, reading)


def _slice(chunk: Chunk, start: int) -> Chunk:
    """A shard of a chunk in memory."""
    rows, where = slice(start, min(start + SHARD, chunk.rows)), chunk.where
    return Chunk(
        chunk.dense[rows],
        None if chunk.sparse is None else chunk.sparse[rows],
        [x[rows] for x in chunk.coded],
        chunk.target[rows],
        None if chunk.weights is None else chunk.weights[rows],
        None if chunk.offset is None else chunk.offset[rows],
        None if chunk.trials is None else chunk.trials[rows],
        chunk.extra[rows],
        lambda row: where(start + row),
        rows.stop - rows.start,
    )


@dataclass(frozen=True)
class SparseMemory(Memory):
    """A sparse matrix in memory as a source, with what is told of its rows as a table beside it."""

    matrix: Any = None


def _chunk_of_memory(source: Memory, plan: Plan) -> Chunk:
    table, roles = source.table, plan.roles
    raw = table[roles.target]
    target: Any = codes(raw) if plan.is_class else numbers(raw, roles.target)
    missing = target.places < 0 if plan.is_class else np.isnan(target)
    if np.any(missing):
        row = int(np.argmax(missing))
        raise DataError(f"Input y contains NaN: the target {roles.target!r} is missing in row {row}; drop such rows")
    if not plan.is_class and np.any(np.isinf(target)):
        raise DataError(f"Input y contains infinity: the target {roles.target!r}; expected finite numbers")
    weights = None if roles.weights is None else numbers(table[roles.weights], roles.weights)
    if weights is not None:
        bad = np.flatnonzero(~((weights >= 0) & (weights < HEAVIEST)))
        if len(bad):
            raise DataError(f"the weight of row {bad[0]} is {weights[bad[0]]:g}: expected a finite number, 0 or more")
        if not np.any(weights > 0):
            raise DataError("all weights are zero: a row of weight 0 is no row")
        if np.all(weights == 1):
            weights = None
    sparse = source.matrix if isinstance(source, SparseMemory) else None
    return plan.chunk(table, target, weights, lambda row: f"row {row}", sparse)


def _no_target(plan: Plan, read: Any, batch: Any) -> Report:
    """The rows of a batch that are left out because their target is no number."""
    if plan.is_class:
        return Report()
    gone = np.flatnonzero(np.isnan(numbers(read.table[plan.roles.target], plan.roles.target)))
    if not len(gone):
        return Report()
    row = int(gone[0])
    return Report(no_target=Trouble(len(gone), batch.where(row if read.kept is None else int(read.kept[row]))))


def _chunk_of(plan: Plan, read: Any, batch: Any) -> Chunk:
    """The rows of a batch that have a target."""
    table, kept = read.table, read.kept
    target: Any = read.target
    if not plan.is_class:
        target = numbers(table[plan.roles.target], plan.roles.target)

    def where(row: int) -> str:
        return str(batch.where(row if kept is None else int(kept[row])))

    if not plan.is_class and np.isnan(target).any():
        known = np.flatnonzero(~np.isnan(target))
        inner = where
        table, target = table.take(known), target[known]
        weights = None if read.weights is None else read.weights[known]
        return plan.chunk(table, target, weights, lambda row: inner(int(known[row])))
    return plan.chunk(table, target, read.weights, where)


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
    loss, counts, classes = loss_for(plan.family), np.zeros(0), None
    labels: tuple[Any, ...] = ()
    if plan.is_class:
        texts = list(survey.classes)
        values = plan.schema.values(texts)
        order = sorted(range(len(values)), key=values.__getitem__)
        labels, texts = tuple(values[i] for i in order), [texts[i] for i in order]
        counts = np.array([survey.classes[text] for text in texts])
        if len(labels) < 2:
            raise DataError(f"the target has only one class, {str(labels[0])!r}: there is nothing to tell apart")
        if plan.family is Bernoulli and len(labels) > 2:
            raise DataError(
                f"Only binary classification is supported. The type of the target is multiclass: {len(labels)} "
                "classes; choose GLM(Categorical), the softmax"
            )
        classes, loss = Places.of(texts, range(len(texts))), loss_for(plan.family, len(labels))
    shift, scale = _standard(survey, sparse or not plan.intercept)
    categories = [term_of(name, x.texts(), plan.references) for name, x in zip(plan.categorical, survey.labels)]
    numeric = tuple(Term(name) for name in plan.numeric)
    far = np.abs(shift) > FAR * scale
    design = Design(numeric, tuple(categories), plan.intercept, np.where(far, shift, 0.0), np.ones_like(scale))
    return Found(plan, survey, design, loss, labels, counts, classes, report)


def _standard(survey: Survey, about_zero: bool) -> tuple[Floats, Floats]:
    """The mean of each number and its standard deviation, or its size where there is no intercept; 0 for a constant."""
    origin, total, squares = survey.moments
    n = survey.weight
    mean = origin + total / n
    variance = np.maximum(squares / n - (total / n) ** 2, 0.0)
    spread = np.sqrt(variance)
    spread = np.where(spread <= 1e-14 * np.abs(mean), 0.0, spread)
    return (np.zeros_like(mean), np.sqrt(variance + mean**2)) if about_zero else (mean, spread)


def standardised(found: Found, sparse: bool) -> Design:
    """The design with every number centred and scaled, for solvers that depend on it."""
    shift, scale = _standard(found.survey, sparse or not found.design.intercept)
    scale = np.ones_like(scale) if sparse else np.where(scale > 0, scale, 1.0)
    return dataclasses.replace(found.design, shift=shift, scale=scale)


def _refuse_missing(missing: Mapping[str, tuple[int, str]]) -> None:
    shown = [f"{name!r} ({count:,}, first in {where})" for name, (count, where) in list(missing.items())[:8]]
    more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
    columns = "column" if len(missing) == 1 else "columns"
    raise DataError(
        f"missing cells (NaN) in {columns} {', '.join(shown)}{more}: fill them, leave the column out, "
        "or leave such rows out with missing='drop'"
    )


# -- the rows, as often as they are wanted -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Held:
    """All rows in memory."""

    whole: Block

    @property
    def width(self) -> int:
        """How many columns the design has."""
        return self.whole.width

    def shards(self) -> list[slice]:
        """Runs of a fixed length."""
        return [slice(at, min(at + SHARD, self.whole.rows)) for at in range(0, self.whole.rows, SHARD)]

    def block(self, shard: slice) -> Block:
        """One run."""
        return _part(self.whole, shard)

    def recentred(self, design: Design) -> Held:
        """The same rows with numbers centred and scaled otherwise."""
        if self.whole.sparse is not None:
            return self
        return Held(dataclasses.replace(self.whole, shift=design.shift, scale=design.scale))

    def thinned(self) -> Held | None:
        """Rows at equal distances, enough for a first guess; none where there are few."""
        step = self.whole.rows // PILOT
        return None if step < 8 else Held(_part(self.whole, slice(step // 2, self.whole.rows, step)))


def _part(whole: Block, rows: slice) -> Block:
    return dataclasses.replace(
        whole,
        dense=whole.dense[rows],
        sparse=None if whole.sparse is None else whole.sparse[rows],
        codes=whole.codes[rows],
        y=whole.y[rows],
        weights=None if whole.weights is None else whole.weights[rows],
        offset=None if whole.offset is None else whole.offset[rows],
    )


@dataclass(eq=False)
class Streamed:
    """Rows of files, read again for every pass; kept when they are few."""

    source: Source
    plan: Plan
    found: Found
    reading: Reading
    kept: list[Block] | None = None

    @property
    def width(self) -> int:
        """How many columns the design has."""
        return self.found.design.width

    @property
    def few(self) -> bool:
        """Whether the design is small enough to be kept."""
        design = self.found.design
        return self.found.survey.rows * (8 * len(design.numbers) + 4 * len(design.categories) + 24) <= HELD

    def shards(self) -> Iterable[Any]:
        """Batches, or what was kept of them."""
        if self.kept is None and self.few:
            batches = self.source.batches(self.reading.columns)
            self.kept = [block for block in map(self._read, batches) if block.rows]
        return self.source.batches(self.reading.columns) if self.kept is None else self.kept

    def block(self, shard: Any) -> Block:
        """One batch, read."""
        return shard if isinstance(shard, Block) else self._read(shard)

    def _read(self, batch: Any) -> Block:
        return self.plan.block(_chunk_of(self.plan, self.reading(batch), batch), self.found)

    def recentred(self, design: Design) -> Streamed:
        """The same rows with numbers centred and scaled otherwise."""
        found = dataclasses.replace(self.found, design=design)
        return Streamed(self.source, self.plan, found, self.reading)

    def thinned(self) -> Held | None:
        """None: to thin files would take a pass of its own, so the fit starts from the target's mean."""
        return None
