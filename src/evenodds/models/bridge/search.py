"""How much of naive Bayes to believe, and how strong to keep the correction's prior: by rows held out.

Naive Bayes is formed again without the rows held out (it is a sum, so they are taken out of it), and the rows that stay
are scored by it with their own tallies left out: offsets of one naive Bayes for all folds would have seen the classes
of the rows held out, and then corrections look worse than they are (SMS, 300 messages: all were refused; measured).

Candidates are averaged, in their scores, with shares

    share  ∝  (likelihood of the rows held out) ^ (1/3)  ·  prior of the candidate

so few rows weigh many candidates and many rows pick one. The prior is for a quarter of naive Bayes and for a strength
of about 10, a factor of 10 one deviation: thirty rows that happen to be easy should not make it bold. Plain naive Bayes
(scale 1, infinite strength) and plain ridge logistic regression (scale 0) are among the candidates.

A mean of scores is as bold as the boldest candidate wants; a mean of probabilities is not, but is no linear model. So
where rows are few the mean of the scores is moderated: times the factor, at most 1, that brings it nearest to the mean
of the probabilities on the rows held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.data.kept import Learnt
from evenodds.families.leaves import Floats
from evenodds.models.bridge.alike import alike
from evenodds.models.bridge.bridge import Tried
from evenodds.models.bridge.correct import ROUGH, Problem, Symmetric, around_zero, correct, costs, scores
from evenodds.models.left_out import leave_one_out, tempered
from evenodds.models.naive_bayes import Model

SCALES = {1.0: -1.0, 0.5: 0.0, 0.25: np.log(2), 0.0: 0.0}  # with the log of how probable each is, before any row
STRENGTHS = (np.inf, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
EVERY = 400  # rows, up to which every scale is tried, and their mean moderated
SHARPNESS = 1 / 3  # the power of the likelihood
USUAL, WEAKEST = 10.0, 300.0  # strengths: the most probable, and what no correction at all counts as
SLIGHT = 0.01  # a smaller share is none
FARTHEST = -50.0  # log p of a class that naive Bayes thinks impossible, as an offset
FOLDS = ((200, 10), (2_000, 5), (10_000, 3))  # rows up to which there are so many folds
HELD_OUT = 5  # of more rows, one part in so many is held out, once
WIDE = 1 << 19  # the same, from which on every second strength is tried, until one is worse

Candidate = tuple[float, float]  # a scale and a strength


class Fold(NamedTuple):
    """Rows to fit on and rows to judge by, with what naive Bayes without the latter says of both."""

    fitted: Problem
    judged: Problem


def shared(losses: dict[Candidate, float], n: float, one: bool) -> tuple[Tried, ...]:
    """The candidates with their shares in the model of n rows; `one` of them has all."""
    loss = np.array(list(losses.values()))
    log = -SHARPNESS * n * loss + [_log_prior(*at) for at in losses]
    share = np.exp(log - log.max())
    share /= share.sum()
    share = np.where((share < share.max()) if one else (share < SLIGHT), 0.0, share)
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
        self.scales, self.strengths, self.threads = scales, strengths[::2] if self.wide else strengths, threads
        self.folds = list(_folds(model, learnt, whole, seed, threads))
        self.every = whole.mass <= EVERY
        self.losses: dict[Candidate, float] = {}
        self.begin: dict[float, Floats] = {}  # by scale, the weights of the first fold that were best
        self._said: dict[Candidate, list[Floats]] = {}  # scores of the rows held out, where rows are few
        self._last: dict[tuple[int, float], Floats] = {}  # weights to start from, by fold and scale

    def run(self) -> dict[Candidate, float]:
        """The candidates that were tried, those of a scale side by side, the strongest first."""
        if not self.folds:
            return {(self.scales[0], self.strengths[0]): 0.0}
        best = np.inf
        for scale in self.scales:
            before, best = best, min(best, self._path(scale))
            if not self.every and best == before:  # a smaller scale was worse: so are those beyond
                break
        return dict(sorted(self.losses.items(), key=lambda item: (-item[0][0], -item[0][1])))

    def _path(self, scale: float) -> float:
        """The least loss of a scale: down the strengths until it rises, from about where the last scale was best."""
        begin = 0
        if self.losses and not self.every:
            _, strength = min(self.losses, key=lambda at: self.losses[at])
            begin = max(self.strengths.index(strength) - (0 if self.wide else 1), 0)
        least, worse = np.inf, 0
        for strength in self.strengths[begin:]:
            if np.isinf(strength) and (scale == 0 or (scale != 1 and len(self.scales) > 1)):
                continue  # naive Bayes alone is one candidate
            loss = self._loss(scale, strength)
            if loss < least:
                least, worse, self.begin[scale] = loss, 0, self._last[0, scale]
                continue
            worse += 1
            if worse == (1 if self.wide else 2):
                break
        return least

    def _loss(self, scale: float, strength: float) -> float:
        cost = weight = 0.0
        for k, (fitted, judged) in enumerate(self.folds):
            found = weights_under(fitted, scale, strength, self._last.get((k, scale)), ROUGH, self.threads)
            self._last[k, scale] = found
            score = scores(judged, scale, found)
            if self.every:
                self._said.setdefault((scale, strength), []).append(score)
            each = costs(judged, score)
            w = np.ones(len(each)) if judged.weights is None else judged.weights
            cost, weight = cost + float(w @ each), weight + float(w.sum())
        self.losses[scale, strength] = cost / weight
        return cost / weight

    def moderated(self, tried: tuple[Tried, ...]) -> float:
        """The factor, at most 1, that brings the mean of the scores nearest to the mean of the probabilities."""
        from scipy.optimize import minimize_scalar

        shares = {(one.scale, one.strength): one.share for one in tried if one.share}
        if not self._said or len(shares) == 1:
            return 1.0
        said = [(share, np.concatenate(self._said[at])) for at, share in shares.items()]
        mean = np.sum([share * score for share, score in said], axis=0)
        loss = Symmetric(mean.shape[1])
        p = np.sum([share * loss.mean(score) for share, score in said], axis=0)
        weights = np.concatenate(
            [np.ones(len(some.y)) if some.weights is None else some.weights for _, some in self.folds]
        )

        def apart(factor: float) -> float:
            score = factor * mean
            return float(weights @ (loss.total(score) - (p * score).sum(axis=1)))

        return float(minimize_scalar(apart, bounds=(0.0, 1.0), method="bounded").x)


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

    rest = learnt.some(kept)
    if whole.mass <= EVERY:  # of few rows a temper knows those it was fitted on
        without = tempered(without, [rest], threads)
    said = leave_one_out(without, rest.rows, rest.target, one_copy(rest.weights), threads)
    fitted = known(whole.some(kept)._replace(offset=wide(said)))
    judged = known(whole.some(gone)._replace(offset=wide(without.log_proba(learnt.some(gone).rows, threads))))
    return Fold(fitted, judged) if len(fitted.y) and len(judged.y) else None


def weights_under(
    problem: Problem, scale: float, strength: float, start: Floats | None, tolerance: float, threads: int | None
) -> Floats:
    """The correction under one candidate; nothing under an infinite strength."""
    shape = (problem.width, problem.classes)
    if np.isinf(strength):
        return np.zeros(shape)
    return correct(problem, scale, around_zero(strength, *shape), start=start, tolerance=tolerance, threads=threads)


def one_copy(weights: Floats | None) -> Floats | None:
    """What of each row is left out: of one that weighs 2.5, one of its copies."""
    return None if weights is None else np.minimum(weights, 1.0)


def known_rows(problem: Problem) -> NDArray[np.int64]:
    """The rows whose class others have too."""
    return np.flatnonzero(problem.offset[np.arange(len(problem.y)), problem.y] > -np.inf)


def known(problem: Problem) -> Problem:
    """Those rows; what naive Bayes thinks impossible, as an offset that can be corrected."""
    rows = known_rows(problem)
    found = problem if len(rows) == len(problem.y) else problem.some(rows)
    return found._replace(offset=np.maximum(found.offset, FARTHEST))
