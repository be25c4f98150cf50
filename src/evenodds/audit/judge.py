"""Judging is a sum too: what is counted of predictions, so that batches, files and folds add.

>>> forecast = np.log([[0.9, 0.1], [0.2, 0.8]])
>>> monday = tally(["dry", "wet"], forecast, ["dry", "wet"])
>>> tuesday = tally(["dry", "dry"], forecast, ["dry", "wet"])
>>> monday + tuesday == tally(["dry", "wet", "dry", "dry"], np.vstack([forecast, forecast]), ["dry", "wet"])
True

The groups of the tally are the true classes. Its leaves:

"classes"              counts  rows
"predicted"            counts  rows by predicted class: the confusion matrix
"log loss", "brier"    sums    Σ -log p(true class); Σ Σ_c (p(c) - [c is the true class])²
"impossible"           counts  rows whose true class got probability 0: a class known to the model, one never seen
"sure", "right"        counts  rows, and rows predicted right, by the probability of the predicted class, in 15 bins
"confidence"           sums    Σ of that probability, in the same bins
"tempered"             sums    of more than two classes: Σ of mean and variance of -log p under p^b, for each b of
                               SLOPES, and Σ -log p(true class); of rows that were possible
"scores" of a class    counts  rows by the log-odds of that class against all others, for the AUC

Of protected groups (`by`) the groups of the tally are a true class in a protected group each; the Brier score, the bins
of confidence and "tempered" are left out, and there are two more:

"squares"              sums    Σ of the squares of -log p(true class)
"p" of a class         sums    Σ of its probability
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds.audit.protected import crossed
from evenodds.audit.ranked import EXACT, keys_of, scores_of
from evenodds.audit.scores import ROUNDING
from evenodds.cells import Coded, as_column
from evenodds.data.sum import CLASSES, target_codes
from evenodds.errors import DataError
from evenodds.families.leaves import Floats, Rows, check_weights, count
from evenodds.labels import Fixed, Grid, Ints, Labels, canonical
from evenodds.logs import log_sum
from evenodds.tally import Leaf, Numbers, Tally
from evenodds.threads import in_order

BINS = 15  # of confidence, equally wide, each with its lower end
RANKED = 32  # classes up to which there is an AUC: k histograms of k groups each are kept for it
SLOPES = 2.0 ** np.arange(-6, 3.5, 0.5)  # exponents at which probabilities are tried; the next but one is the square
TEMPERED = ("slopes", "tempered")  # a column of its own: folds of two classes, which have none, add to others
BLOCK = 1 << 15  # rows judged at once: what the cache holds


def tally(
    y: Any,
    log_proba: Any,
    classes: Sequence[Any] | NDArray[Any],
    sample_weight: Any = None,
    by: Coded | None = None,
    said: Coded | None = None,
    bits: int = EXACT,
) -> Tally:
    """The tally of some predictions: the true classes, and log p(class | row) with a column for each of `classes`.

    A true class that is not among `classes` is allowed: its probability was 0. `said` is what was decided, where that
    is not the most probable class; with it, `log_proba` may be None: then only that is counted. `by` is each row's
    protected group. Scores are counted to so many bits of their log-odds.
    """
    known, place = labels_of(classes)
    log_p = None if log_proba is None else np.asarray(log_proba, dtype=np.float64)
    if log_p is not None and (log_p.ndim != 2 or log_p.shape[1] != len(place)):
        raise DataError(
            f"log_proba has the shape {log_p.shape}: expected rows, and {len(place)} columns for the classes"
        )
    column = as_column(y)
    target = target_codes(column, len(log_p) if log_p is not None else _length(column))
    n = len(target.codes)
    labels, groups = (target.labels, target.place[target.codes]) if by is None else crossed(target, by)
    rows = Rows(groups, len(labels), check_weights(sample_weight, n))
    one = np.zeros(n, np.int8)
    leaves = {CLASSES: Leaf(Fixed(1), count(one, 1, rows))}
    if said is not None:
        leaves["", "predicted"] = Leaf(said.labels, count(said.places, len(said.labels), rows))
    if log_p is not None:
        truth = columns_of(target, known, place)
        judged = _judge(log_p, truth, bits)
        if said is None:
            leaves["", "predicted"] = Leaf(known, count(place[judged.top], len(known), rows))
        leaves["", "log loss"] = Leaf(Fixed(1), _sum(one, 1, judged.log_loss, rows), is_sum=True)
        leaves["", "impossible"] = Leaf(Fixed(2), count(judged.impossible, 2, rows))
        if by is None:
            leaves |= _honest(judged, truth, rows)
        for c, keys in enumerate(judged.keys):
            name = scores_of(known.text(place[c]))
            leaves[name] = _histogram(keys, rows)
            if by is not None:
                leaves[name[0], "p"] = Leaf(Fixed(1), _sum(one, 1, np.exp(log_p[:, c]), rows), is_sum=True)
        if by is not None:
            leaves["", "squares"] = Leaf(Fixed(1), _sum(one, 1, judged.log_loss**2, rows), is_sum=True)
        elif len(known) > 2:
            leaves[TEMPERED] = Leaf(Fixed(2 * len(SLOPES) + 1), _tempered(log_p, judged, rows), is_sum=True)
    return Tally.of(labels, leaves).trimmed()


def _honest(judged: _Judged, truth: Ints, rows: Rows) -> dict[tuple[str, str], Leaf]:
    """The leaves of the Brier score and of confidence."""
    one = np.zeros(len(truth), np.int8)
    bins = np.minimum(judged.confidence * BINS, BINS - 1).astype(np.int8)
    return {
        ("", "brier"): Leaf(Fixed(1), _sum(one, 1, judged.brier, rows), is_sum=True),
        ("", "sure"): Leaf(Fixed(BINS), count(bins, BINS, rows)),
        ("", "right"): Leaf(Fixed(BINS), count(np.where(judged.top == truth, bins, -1), BINS, rows)),
        ("", "confidence"): Leaf(Fixed(BINS), _sum(bins, BINS, judged.confidence, rows), is_sum=True),
    }


def _length(column: Any) -> int:
    return len(column.codes) if isinstance(column, Coded) else len(column)


class _Judged(NamedTuple):
    """What is to be counted of each row."""

    top: Ints  # the column of the predicted class
    confidence: Floats  # its probability
    log_loss: Floats  # -log p(true class), 0 where that is infinite
    impossible: NDArray[np.int8]  # -1; 0 where the true class got probability 0; 1 where it is no column at all
    brier: Floats
    keys: NDArray[np.int32]  # (classes, rows): the log-odds of each class, as integers in the same order


def _judge(log_p: Floats, truth: Ints, bits: int) -> _Judged:
    n, k = log_p.shape
    ranked = k if k <= RANKED else 0
    out = _Judged(
        top=np.empty(n, np.int64),
        confidence=np.empty(n),
        log_loss=np.empty(n),
        impossible=np.empty(n, np.int8),
        brier=np.empty(n),
        keys=np.empty((ranked, n), np.int32),
    )

    def work(start: int) -> None:
        part = slice(start, start + BLOCK)
        log, true = log_p[part], truth[part]
        every, known = np.arange(len(true)), true >= 0
        with np.errstate(over="ignore"):
            p = np.exp(log)
        _check_sums(p.sum(axis=1), start)
        top = log.argmax(axis=1)
        own = np.where(known, log[every, true], -np.inf)
        possible = own > -np.inf
        out.top[part], out.confidence[part] = top, np.minimum(p[every, top], 1.0)
        out.log_loss[part] = np.where(possible, np.maximum(-own, 0.0), 0.0)  # p may be a rounding above 1
        out.impossible[part] = np.where(possible, -1, np.where(known, 0, 1))
        if ranked:
            out.keys[:, part] = keys_of(log_odds(log, p, top), bits).T
        p[every[known], true[known]] -= 1.0
        out.brier[part] = np.square(p).sum(axis=1) + ~known

    for _ in in_order(work, range(0, n, BLOCK)):
        pass
    return out


def _tempered(log_p: Floats, judged: _Judged, rows: Rows) -> Numbers:
    """Σ of the mean of -log p under p^b, of its variance, and of that of the true class, where that was possible."""
    n, one, possible = len(log_p), np.zeros(len(log_p), np.int8), judged.impossible < 0
    found = {2 * len(SLOPES): _sum(one, 1, judged.log_loss, rows)}
    for chain in (0, 1):
        powers = np.exp(SLOPES[chain] * (log_p - log_p.max(axis=1, keepdims=True)))
        for j in range(chain, len(SLOPES), 2):
            mean, variance = np.empty(n), np.empty(n)

            def work(start: int, mean: Floats = mean, variance: Floats = variance, powers: Floats = powers) -> None:
                part = slice(start, start + BLOCK)
                cost = np.where(powers[part] > 0, -log_p[part], 0.0)
                share = powers[part] / powers[part].sum(axis=1, keepdims=True)
                centre = np.maximum((share * cost).sum(axis=1), 0.0)  # p may be a rounding above 1
                mean[part] = np.where(possible[part], centre, 0.0)
                variance[part] = np.where(possible[part], (share * (cost - centre[:, None]) ** 2).sum(axis=1), 0.0)
                np.square(powers[part], out=powers[part])

            for _ in in_order(work, range(0, n, BLOCK)):
                pass
            found[j], found[j + len(SLOPES)] = _sum(one, 1, mean, rows), _sum(one, 1, variance, rows)
    parts = [dd.of(part) if part.dtype.kind == "i" else part for _, part in sorted(found.items())]
    return np.concatenate(parts, axis=-2)


def _check_sums(sums: Floats, start: int) -> None:
    bad = np.flatnonzero(~(np.abs(sums - 1.0) <= ROUNDING))  # NaN is bad too
    if len(bad):
        raise DataError(
            f"the probabilities of row {start + bad[0]} add up to {sums[bad[0]]:g}, expected 1: "
            "give log p(class | row), as predict_log_proba does"
        )


def log_odds(log: Floats, p: Floats, top: Ints) -> Floats:
    """log p - log (1 - p) of every class, without cancellation: 1 - p of the top class is the sum of the others."""
    every, others = np.arange(len(top)), log.copy()
    others[every, top] = -np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = log - np.log1p(-p)
        odds[every, top] = log[every, top] - log_sum(others)
    return odds


def _histogram(keys: NDArray[np.int32], rows: Rows) -> Leaf:
    distinct, where = np.unique(keys, return_inverse=True)
    return Leaf(Grid(distinct), count(where, len(distinct), rows))


def _sum(where: NDArray[np.integer], values: int, amounts: Floats, rows: Rows) -> Numbers:
    """Σ of amounts of 0 or more by value and group, exactly: a count whose weights they are."""
    weights = amounts if rows.weights is None else amounts * rows.weights
    return count(where, values, Rows(rows.groups, rows.n_groups, weights))


def labels_of(classes: Sequence[Any] | NDArray[Any]) -> tuple[Labels, Ints]:
    """The labels of the classes, and each class's place among them."""
    texts = [canonical(value) for value in np.asarray(classes).tolist()]
    labels, place = Labels.coded(texts)
    if len(labels) < max(len(texts), 1):
        raise DataError(f"classes={texts}: expected each class once, and at least one")
    return labels, place


def columns_of(truth: Coded, known: Labels, place: Ints) -> Ints:
    """The column of each row's true class, of classes as `labels_of` gives them; -1 for a class not among them."""
    return np.asarray(at(np.argsort(place), known.find(truth.labels.keys), missing=-1)[truth.place[truth.codes]])


def at(numbers: NDArray[Any], where: Ints, missing: float = 0) -> NDArray[Any]:
    """numbers[where] along the first axis; `missing` where there is none, which is at -1."""
    return np.concatenate([numbers, np.full_like(numbers, missing, shape=(1, *numbers.shape[1:]))])[where]
