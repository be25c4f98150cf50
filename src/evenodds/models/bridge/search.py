"""How much of naive Bayes to believe, and how strong to keep the correction's prior: by rows held out.

Naive Bayes is formed again without the rows held out (it is a sum, so they are taken out of it), and the rows that stay
are scored by it with their own tallies left out: offsets of one naive Bayes for all folds would have seen the classes
of the rows held out, and then corrections look worse than they are (SMS, 300 messages: all were refused; measured).

Candidates are averaged, in their scores, with shares

    share  ∝  (likelihood of the rows held out) ^ (1/3)  ·  prior of the candidate

so few rows weigh many candidates and many rows pick one. Where nearly every row is told without doubt (a log loss below
.02), what a candidate gains is little beside a wrong row and much beside the loss itself, on every row alike: there the
power rises as the loss falls. The prior is for a quarter of naive Bayes and for a strength
of about 10, a factor of 10 one deviation: thirty rows that happen to be easy should not make it bold. Plain naive Bayes
(scale 1, infinite strength) and plain ridge logistic regression (scale 0) are among the candidates.

Where weights are many, a factor makes each candidate's scores as sharp as the rows held out want them (`sharpness`).

A mean of scores is as bold as the boldest candidate wants; a mean of probabilities is not, but is no linear model. So
where rows are few the mean of the scores is moderated: times the factor, at most 1, that brings it nearest to the mean
of the probabilities on the rows held out.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.data.kept import Learnt
from evenodds.families.leaves import Floats
from evenodds.kernel import compiler
from evenodds.models.bridge.alike import alike
from evenodds.models.bridge.bridge import Tried
from evenodds.models.bridge.correct import WIDE, Problem, around_zero, correct, roughly, scores
from evenodds.models.bridge.sharpness import costs, moderated, sharpest
from evenodds.models.bridge.together import NONE, TRIED, One, small, together
from evenodds.models.left_out import LeftOut, leave_one_out, tempered
from evenodds.models.naive_bayes import Model

SCALES = {1.0: -1.0, 0.5: 0.0, 0.25: np.log(2), 0.0: 0.0}  # with the log of how probable each is, before any row
USEFUL = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
STRENGTHS = (np.inf, *USEFUL, 1e-5, 1e-6, 1e-7, 1e-8)  # the last for rows that are told without a mistake
EVERY = 400  # rows, up to which every scale is tried, and their mean moderated
SHARPNESS = 1 / 3  # the power of the likelihood
EASY = 0.02  # a log loss, below which it rises
USUAL, WEAKEST = 10.0, 300.0  # strengths: the most probable, and what no correction at all counts as
SLIGHT = 0.01  # a smaller share is none
TINY = 1e-12
FARTHEST = -50.0  # log p of a class that naive Bayes thinks impossible, as an offset
FOLDS = ((200, 10), (2_000, 5), (10_000, 3))  # rows up to which there are so many folds
HELD_OUT = 5  # of more rows, one part in so many is held out, once
MIDDLE = 0.5, 3.0  # a scale and a strength to begin from

Candidate = tuple[float, float]  # a scale and a strength


class Fold(NamedTuple):
    """Rows to fit on and rows to judge by, with what naive Bayes without the latter says of both."""

    fitted: Problem
    judged: Problem
    rows: NDArray[np.int64]  # which those to fit on are


def shared(losses: dict[Candidate, float], n: float, least: float = SLIGHT) -> tuple[Tried, ...]:
    """The candidates with their shares in the model, by n rows held out; shares below the least are none."""
    loss = np.array(list(losses.values()))
    power = SHARPNESS * max(1.0, EASY / max(float(loss.min()), TINY))
    log = -power * n * loss + [_log_prior(*at) for at in losses]
    share = np.exp(log - log.max())
    share /= share.sum()
    share = np.where(share < min(least, share.max()), 0.0, share)
    return tuple(Tried(*at, float(a), float(b)) for at, a, b in zip(losses, loss, share / share.sum()))


def _log_prior(scale: float, strength: float) -> float:
    """How probable a candidate is before any row is seen."""
    away = np.log10(min(strength, WEAKEST)) - np.log10(USUAL)
    return float(-0.5 * away * away + SCALES.get(scale, 0.0))


class Search:
    """The log loss of candidates on the rows held out: of all of them where rows are few, else of the promising."""

    def __init__(
        self,
        model: Model,
        learnt: Learnt,
        whole: Problem,
        scales: tuple[float, ...],
        strengths: tuple[float, ...],
        seed: int,
        threads: int | None,
    ) -> None:
        self.wide = whole.width * whole.classes > WIDE and len(strengths) > 1
        self.scales, self.strengths, self.threads = scales, strengths, threads
        compiler()  # for hundreds of calls, be they small
        self.whole, self.folds = whole, list(_folds(model, learnt, whole, seed, threads))
        self.every = whole.mass <= EVERY
        self.losses: dict[Candidate, float] = {}
        self.begin: dict[float, Floats] = {}  # by scale, the weights of the first fold that were best
        self.factors: dict[Candidate, float] = {}  # of the scores, where weights are many
        self._said: dict[Candidate, Floats] = {}  # scores of the rows held out, where rows are few
        self._last: dict[tuple[int, float], Floats] = {}  # weights to start from, by fold and scale

    def run(self) -> dict[Candidate, float]:
        """The candidates that were tried, those of a scale side by side, the strongest first."""
        if not self.folds:
            return {(self.scales[0], self.strengths[0]): 0.0}
        if self.wide:
            self._climb()
        else:
            self._down(self.scales if self.every else self.scales[:1], 0)
            self._less()
        return dict(sorted(self.losses.items(), key=lambda item: (-item[0][0], -item[0][1])))

    def _down(self, scales: tuple[float, ...], begin: int) -> None:
        """Down the strengths, each scale until its loss has risen twice."""
        least, worse = dict.fromkeys(scales, np.inf), dict.fromkeys(scales, 0)
        for strength in self.strengths[begin:]:
            on = [scale for scale in scales if worse[scale] < 2 and self._sensible(scale, strength)]
            self._try(on, strength)
            for scale in on:
                loss = self.losses[scale, strength]
                least[scale], worse[scale] = min(least[scale], loss), 0 if loss < least[scale] else worse[scale] + 1

    def _less(self) -> None:
        """Smaller scales, from about the strength that was best, until one is worse than those before."""
        for scale in self.scales:
            if all(other != scale for other, _ in self.losses):
                best = min(self.losses, key=lambda at: self.losses[at])
                before = self.losses[best]
                self._down((scale,), max(self.strengths.index(best[1]) - 1, 0))
                if min(self.losses.values()) == before:
                    break

    def _climb(self) -> None:
        """From the middle to better neighbours, until none is: weaker or stronger, more of naive Bayes or less."""
        scale, strength = (
            min(some, key=lambda x: abs(x - at)) for some, at in zip((self.scales, self.strengths), MIDDLE)
        )
        here = scale, strength
        if self._sensible(1.0, np.inf) and 1.0 in self.scales and np.inf in self.strengths:
            self._try([1.0], np.inf)  # costs nothing
        self._try([scale], strength)
        moved = True
        while moved:
            moved = False
            for side, step in itertools.product((1, 0), (-1, 1)):
                while (there := self._beside(here, side, step)) is not None:
                    if there not in self.losses:
                        self._try([there[0]], there[1])
                    if self.losses[there] >= self.losses[here]:
                        break
                    here, moved = there, True

    def _beside(self, here: Candidate, side: int, step: int) -> Candidate | None:
        """The next scale (side 0) or strength (side 1), if there is one."""
        along = (self.scales, self.strengths)[side]
        at = along.index(here[side]) + step
        if not 0 <= at < len(along):
            return None
        there = (along[at], here[1]) if side == 0 else (here[0], along[at])
        return there if self._sensible(*there) else None

    def _sensible(self, scale: float, strength: float) -> bool:
        """Whether it is a candidate: naive Bayes alone is one, whatever its scale, and nothing at all is none."""
        return bool(np.isfinite(strength) or scale == 1 or (scale and len(self.scales) == 1))

    def _try(self, scales: list[float], strength: float) -> None:
        """The losses of some scales under a strength, and how sharp their scores should be."""
        fits = list(itertools.product(scales, range(len(self.folds))))
        self._last |= zip(((k, scale) for scale, k in fits), self._weights(fits, strength))
        y, weights = self._judged
        for scale in scales:
            each = [scores(judged, scale, self._last[k, scale]) for k, (_, judged, _) in enumerate(self.folds)]
            score, at = np.concatenate(each), (scale, strength)
            if self.every:
                self._said[at] = score
            if self.wide:
                self.factors[at], self.losses[at] = sharpest(score, y, weights)
            else:
                self.losses[at] = float(weights @ costs(score, y) / weights.sum())
            if at == min((other for other in self.losses if other[0] == scale), key=lambda o: self.losses[o]):
                self.begin[scale] = self._last[0, scale]

    @property
    def judged(self) -> float:
        """How many rows are held out, by weight."""
        return float(self._judged[1].sum()) if self.folds else 0.0

    @functools.cached_property
    def _judged(self) -> tuple[NDArray[np.int64], Floats]:
        """The classes and weights of all rows held out."""
        judged = [fold.judged for fold in self.folds]
        weights = [np.ones(len(some.y)) if some.weights is None else some.weights for some in judged]
        return np.concatenate([some.y for some in judged]), np.concatenate(weights)

    def _weights(self, fits: list[tuple[float, int]], strength: float) -> Iterator[Floats]:
        """The weights of some scales and folds; of few rows, all of them as one."""
        starts = [self._start(k, scale) for scale, k in fits]
        if np.isinf(strength) or not small(self.whole) or len(self.folds) == 1:
            for (scale, k), start in zip(fits, starts):
                yield weights_under(self.folds[k].fitted, scale, strength, start, roughly(self.whole), self.threads)
            return
        ones = []
        for (scale, k), start in zip(fits, starts):
            y, offset = np.full(len(self.whole.y), NONE), np.zeros_like(self.whole.offset)
            fitted, _, rows = self.folds[k]
            y[rows], offset[rows] = fitted.y, scale * fitted.offset
            ones.append(One(y, offset, strength, start))
        yield from together(self.whole.design, self.whole.weights, ones, TRIED)

    def _start(self, k: int, scale: float) -> Floats | None:
        """Weights to start from: those of the fold under the same scale, or the nearest."""
        known = [other for fold, other in self._last if fold == k]
        return self._last[k, min(known, key=lambda other: abs(other - scale))] if known else None

    def sharpness(self, tried: tuple[Tried, ...]) -> dict[Candidate, float]:
        """The factors of candidates' scores: of few rows one for all of them, that moderates their mean."""
        shares = {(one.scale, one.strength): one.share for one in tried if one.share}
        if not self._said or len(shares) == 1:
            return self.factors
        factor = moderated([(share, self._said[at]) for at, share in shares.items()], self._judged[1])
        return dict.fromkeys(shares, factor)


def _folds(model: Model, learnt: Learnt, whole: Problem, seed: int, threads: int | None) -> Iterator[Fold]:
    """Folds with about equal shares of the classes; which rows they have is decided by the cells, not by the order."""
    parts, some = next(((k, k) for most, k in FOLDS if whole.mass <= most), (HELD_OUT, 1))
    weights = np.ones(len(whole.y)) if whole.weights is None else whole.weights
    fold = np.empty(len(whole.y), np.int64)
    fold[np.lexsort((weights, alike(learnt.rows, model.schema, seed), whole.y))] = np.arange(len(fold)) % parts
    for k in range(some):
        found = _fold(model, learnt, whole, fold == k, threads)
        if found is not None:
            yield found


def _fold(model: Model, learnt: Learnt, whole: Problem, out: NDArray[np.bool_], threads: int | None) -> Fold | None:
    """One of them; None where too little is left to learn from, or no row can be judged."""
    kept, gone = np.flatnonzero(~out), np.flatnonzero(out)
    without = model.forget(*learnt.some(gone), threads)
    place = np.searchsorted(model.classes, without.classes)
    if len(place) < 2:
        return None

    def wide(found: Floats) -> Floats:
        offset = np.full((len(found), whole.classes), -np.inf)
        offset[:, place] = found
        return offset

    rest, left = learnt.some(kept), LeftOut(without)
    if whole.mass <= EVERY:  # of few rows a temper knows those it was fitted on
        without = tempered(without, [rest], threads, left)
    said = leave_one_out(without, *rest.once, threads, left)
    fitted = whole.some(kept)._replace(offset=wide(said))
    kept = kept[known_rows(fitted)]
    fitted = known(fitted)
    judged = known(whole.some(gone)._replace(offset=wide(without.log_proba(learnt.some(gone).rows, threads))))
    return Fold(fitted, judged, kept) if len(fitted.y) and len(judged.y) else None


def weights_under(
    problem: Problem, scale: float, strength: float, start: Floats | None, tolerance: float, threads: int | None
) -> Floats:
    """The correction under one candidate; nothing under an infinite strength."""
    shape = (problem.width, problem.classes)
    if np.isinf(strength):
        return np.zeros(shape)
    return correct(problem, scale, around_zero(strength, *shape), start=start, tolerance=tolerance, threads=threads)


def known_rows(problem: Problem) -> NDArray[np.int64]:
    """The rows whose class others have too."""
    return np.flatnonzero(problem.offset[np.arange(len(problem.y)), problem.y] > -np.inf)


def known(problem: Problem) -> Problem:
    """Those rows; what naive Bayes thinks impossible, as an offset that can be corrected."""
    rows = known_rows(problem)
    found = problem if len(rows) == len(problem.y) else problem.some(rows)
    return found._replace(offset=np.maximum(found.offset, FARTHEST))
