"""Learning curves: how good several models are on rows held out, by the number of rows they learnt from.

In every repetition the rows are put in a random order, each class spread evenly over it. The last rows are held out,
and the first n are learnt: the sets are nested, stratified, and the same for all models, which are compared in pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evenodds.arguments import LEVEL, tail_of
from evenodds.audit.contenders import CONTENDERS, contenders
from evenodds.cells import Coded, as_column
from evenodds.data.decide import decide
from evenodds.data.memory import Table, table
from evenodds.data.sum import target_codes
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import canonical
from evenodds.models.shell import drop, eager, has_frame
from evenodds.schema import Schema, SchemaWarning
from evenodds.show import Frame, percent
from evenodds.threads import in_order

MEASURES = ("accuracy", "log loss")
MOST = 8  # sizes, each twice the one before
SURE = 0.9  # from which on a crossover is one


@dataclass(frozen=True)
class Crossover:
    """Where one model overtakes another: from about so many rows on; `sure` is the lesser of before and after."""

    measure: str
    before: str
    after: str
    size: float
    sure: float

    def __str__(self) -> str:
        gain = "is more often right" if self.measure == "accuracy" else "has the smaller log loss"
        sure = percent(min(self.sure, 0.999), 1)
        return f"from about {_round(self.size):,} rows on, {self.after} {gain} than {self.before} ({sure} sure)"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Accuracy and log loss on rows held out, of each model at each size in each repetition."""

    models: tuple[str, ...]
    sizes: tuple[int, ...]
    held_out: int  # rows
    learnt: int  # rows, of which the first so many of a size are learnt
    scores: Mapping[str, Floats]  # of each measure, (models, sizes, repetitions)

    def mean(self, measure: str) -> Floats:
        """Over repetitions: (models, sizes). A log loss may be infinite."""
        with np.errstate(all="ignore"):
            return np.asarray(self.scores[measure].mean(axis=2))

    def interval(self, measure: str) -> tuple[Floats, Floats]:
        """The 95 % interval of the mean, for repetitions that share rows (Nadeau and Bengio 2003); NaN if infinite."""
        with np.errstate(all="ignore"):
            mean, off = self.mean(measure), self._error(self.scores[measure]) * self._quantile
            return mean - off, mean + off

    @property
    def _quantile(self) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.scores["accuracy"].shape[2] - 1, 1 - tail_of(LEVEL)))

    def _error(self, scores: Floats) -> Floats:
        """The standard error of a mean over repetitions, which split all rows; infinite where some score is."""
        repeats = scores.shape[-1]
        with np.errstate(all="ignore"):
            spread = np.nan_to_num(scores.std(axis=-1, ddof=1), nan=np.inf)
            return np.asarray(spread * np.sqrt(1 / repeats + self.held_out / self.learnt))

    def better(self, one: str, other: str, measure: str = "log loss") -> Floats:
        """For each size, how sure it is that one model is better than another: the t-test of the pairs."""
        from scipy.special import stdtr

        a, b = (self.scores[measure][self.models.index(name)] for name in (one, other))
        with np.errstate(all="ignore"):
            gains = a - b if measure == "accuracy" else b - a
            gain = np.where(np.isnan(gains), 0.0, gains).mean(axis=1)  # both infinite: neither is better
            t = np.where(np.isinf(gain), gain, gain / self._error(gains))
        return np.asarray(stdtr(gains.shape[1] - 1, np.where(np.isnan(t), 0.0, t)))

    @property
    def crossovers(self) -> list[Crossover]:
        """Where the order of two models changes, at most once for each pair and measure; the surest first."""
        found = []
        for measure in MEASURES:
            for i, one in enumerate(self.models):
                for other in self.models[i + 1 :]:
                    best = self._crossover(measure, one, other)
                    found += [best] if best is not None else []
        return sorted(found, key=lambda crossover: -crossover.sure)

    def _crossover(self, measure: str, one: str, other: str) -> Crossover | None:
        mean, sure = self.mean(measure), self.better(one, other, measure)
        gain = mean[self.models.index(one)] - mean[self.models.index(other)]
        places = [j for j in range(len(gain) - 1) if gain[j] * gain[j + 1] < 0 and np.isfinite(gain[j : j + 2]).all()]
        found = []
        for j in places:
            ahead = sure[j] > 0.5  # one is ahead before
            before, after = sure[: j + 1].max(), (1 - sure[j + 1 :]).max()
            if not ahead:
                before, after = (1 - sure[: j + 1]).max(), sure[j + 1 :].max()
            share = gain[j] / (gain[j] - gain[j + 1])
            size = np.exp(np.log(self.sizes[j]) * (1 - share) + np.log(self.sizes[j + 1]) * share)
            names = (one, other) if ahead else (other, one)
            found.append(Crossover(measure, *names, float(size), float(min(before, after))))
        return max(found, key=lambda crossover: crossover.sure, default=None)

    def table(self, measure: str) -> Frame:
        """A line for each size: the mean of each model with half the width of its interval; the best has a star."""
        mean, (_, high) = self.mean(measure), self.interval(measure)
        best = mean.argmax(axis=0) if measure == "accuracy" else mean.argmin(axis=0)
        with np.errstate(invalid="ignore"):
            off = high - mean
        return Frame(
            [
                {"rows": size}
                | {
                    name: _shown(mean[m, s], off[m, s]) + (" *" if best[s] == m else "")
                    for m, name in enumerate(self.models)
                }
                for s, size in enumerate(self.sizes)
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "held_out": self.held_out,
            "repeats": self.scores["accuracy"].shape[2],
            "curves": self.rows(),
            "crossovers": [vars(crossover) for crossover in self.crossovers],
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row for each measure, model and size, as pictures take them; None for what is infinite."""
        found = []
        for measure in MEASURES:
            mean, (low, high) = self.mean(measure), self.interval(measure)
            error = self._error(self.scores[measure])
            for m, name in enumerate(self.models):
                for s, size in enumerate(self.sizes):
                    numbers = {"mean": mean[m, s], "low": low[m, s], "high": high[m, s], "error": error[m, s]}
                    found.append(
                        {"measure": measure, "model": name, "rows": size}
                        | {what: float(x) if np.isfinite(x) else None for what, x in numbers.items()}
                    )
        return found

    def __repr__(self) -> str:
        sure = [f"{crossover}" for crossover in self.crossovers if crossover.sure >= SURE]
        repeats = self.scores["accuracy"].shape[2]
        head = f"{self.held_out:,} rows held out, {repeats} repetitions; ± is 95 %, * the best"
        tables = [f"{measure}\n{self.table(measure)}" for measure in MEASURES]
        return "\n\n".join([head, *tables, *(["\n".join(sure)] if sure else [])])


def compare(
    X: Any,
    y: Any,
    models: Mapping[str, Any] | Sequence[str] | str | None = None,
    *,
    sizes: Sequence[int] | None = None,
    repeats: int = 10,
    held_out: float = 1 / 3,
    without: str | Sequence[str] = (),
    schema: Schema | None = None,
    random_state: int = 0,
    threads: int | None = None,
) -> Comparison:
    """How good models get with more rows. `y` is a column's name, or a class for each row.

    `models` are estimators by name, any with `fit` and `predict_proba`, or names of those that are compared by default.
    Each column of `without` adds the first model once more, without that column. `held_out` is a share of the rows.
    """
    X, raw = _parted(eager(X), y)
    rows = table(X).rows
    truth = target_codes(as_column(raw), rows)
    if not 0 < held_out < 1 or repeats < 2:
        raise ValueError(f"held_out={held_out}, repeats={repeats}: expected a share of the rows, and 2 or more")
    without = [without] if isinstance(without, str) else without
    if not isinstance(models, Mapping):
        named = _named(models or CONTENDERS)
        if schema is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SchemaWarning)
                schema = Schema(decide(table(X)), "class")
        models = contenders(named, schema)
    if not models:
        raise DataError("there is no model to compare")
    runs = {name: (model, X) for name, model in models.items()}
    first = next(iter(models))
    runs |= {f"{first} without {column}": _without(models[first], X, column) for column in without}
    pool = rows - max(round(rows * held_out), 1)
    sizes = _sizes(sizes, pool, truth)
    values = _values(raw)
    names, rank = np.unique(truth.labels.texts(), return_inverse=True)
    places = rank[truth.places]

    def work(job: tuple[int, str]) -> list[tuple[float, float]]:
        seed, name = job
        model, table_of = runs[name]
        order = stratified(places, np.random.default_rng([random_state, seed]))
        judged = order[pool:]
        found = []
        for size in sizes:
            fitted = _made(model, random_state + seed).fit(_rows(table_of, order[:size]), values[order[:size]])
            found.append(_judged(fitted, _rows(table_of, judged), places[judged], names.tolist()))
        return found

    jobs = [(seed, name) for seed in range(repeats) for name in runs]
    done = np.array(list(in_order(work, jobs, threads))).reshape(repeats, len(runs), len(sizes), 2)
    scores = {measure: done[..., i].transpose(1, 2, 0) for i, measure in enumerate(MEASURES)}
    return Comparison(tuple(runs), tuple(sizes), rows - pool, pool, scores)


def stratified(classes: NDArray[np.integer], random: np.random.Generator) -> NDArray[np.int64]:
    """A random order in which every run of rows has about the classes' shares.

    >>> stratified(np.repeat([0, 1], [6, 3]), np.random.default_rng(0)) // 6  # 0 is the first class
    array([0, 1, 0, 0, 1, 0, 0, 1, 0])
    """
    place = np.empty(len(classes))
    for label in np.unique(classes):
        mine = np.flatnonzero(classes == label)
        place[mine] = (random.permutation(len(mine)) + random.random()) / len(mine)
    return np.argsort(place, kind="stable")


def _sizes(sizes: Sequence[int] | None, pool: int, truth: Coded) -> list[int]:
    """Sizes as told, or halved again and again while every class but the rarest ones has a row."""
    counts = np.sort(np.bincount(truth.places))[::-1]
    if (counts > 0).sum() < 2:
        raise DataError("the target has only one class: there is nothing to tell apart")
    if pool < 2:
        raise DataError(
            f"{len(truth.places)} rows are too few to compare: some are held out, and two must be left to learn"
        )
    least = max(10, int(np.ceil(2 * counts.sum() / counts[1])))
    if sizes is None:
        sizes = [pool >> j for j in range(MOST) if pool >> j >= least] or [pool]
    found = sorted({int(size) for size in sizes})
    if not found or found[0] < 2 or found[-1] > pool:
        told = f"sizes from {found[0]:,} to {found[-1]:,}" if found else "no sizes"
        raise DataError(f"{told}: expected 2 to {pool:,}, the rows not held out")
    return found


def _judged(model: Any, X: Any, truth: NDArray[np.integer], names: Sequence[str]) -> tuple[float, float]:
    """Accuracy and log loss. A class that was not learnt has probability 0."""
    with np.errstate(divide="ignore"):
        told = hasattr(model, "predict_log_proba")
        log = np.asarray(model.predict_log_proba(X) if told else np.log(model.predict_proba(X)), float)
    known = [canonical(value) for value in np.asarray(model.classes_).tolist()]
    column = np.array([known.index(name) if name in known else -1 for name in names])[truth]
    own = np.where(column >= 0, log[np.arange(len(log)), column], -np.inf)
    return float((log.argmax(axis=1) == column).mean()), float(-own.mean())


def _made(model: Any, seed: int) -> Any:
    """A fresh copy of an estimator, its seed set where it has one that is not."""
    from sklearn.base import clone

    fresh = clone(model)
    if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
        fresh.set_params(random_state=seed)
    return fresh


def _parted(X: Any, y: Any) -> tuple[Any, Any]:
    """The features and the target."""
    if not isinstance(y, str):
        return table(X) if isinstance(X, Mapping) else X, y
    whole = table(X)
    return (drop(X, y) if has_frame(X) else whole.without(y)), whole[y]


def _named(models: Any) -> list[str]:
    """Names of models, of which one may stand alone."""
    found = list(models) if isinstance(models, Iterable) and not isinstance(models, str) else [models]
    if not all(isinstance(name, str) for name in found):
        raise DataError("models: expected names, such as ['naive'], or estimators by name, {'mine': NaiveBayes()}")
    return found


def _without(model: Any, X: Any, column: str) -> tuple[Any, Any]:
    """The model for a table without a column, and that table."""
    whole = table(X)
    whole[column]  # is it there?
    fresh = _made(model, 0) if not hasattr(model, "schema") else model.__class__(**model.get_params())
    some = len(whole.columns) > 1
    if getattr(fresh, "schema", None) is not None:
        left = {name: how for name, how in fresh.schema.columns.items() if column not in (name, how.source)}
        fresh.set_params(schema=Schema(left, fresh.schema.target, fresh.schema.target_kind))
        some = bool(fresh.schema.features)
    if not some:
        raise DataError(f"without {column!r} there is no column left to learn from")
    return fresh, drop(X, column) if has_frame(X) else whole.without(column)


def _rows(X: Any, which: NDArray[np.int64]) -> Any:
    """Some rows of any table, as what it is."""
    from sklearn.utils import _safe_indexing

    return X.take(which) if isinstance(X, (Table, pa.Table)) else _safe_indexing(X, which)


def _values(raw: Any) -> NDArray[Any]:
    """The target as numpy has it."""
    if isinstance(raw, Coded):
        raw = raw.arrow()
    if isinstance(raw, (pa.Array, pa.ChunkedArray)):
        return np.asarray(raw.to_numpy(zero_copy_only=False) if isinstance(raw, pa.Array) else raw.to_numpy())
    return np.asarray(raw)


def _shown(mean: float, off: float) -> str:
    return f"{mean:.4f} ± {off:.4f}" if np.isfinite(off) else f"{mean:.4f}"


def _round(size: float) -> int:
    """Two digits, which is more than is known."""
    return int(float(f"{size:.2g}"))
