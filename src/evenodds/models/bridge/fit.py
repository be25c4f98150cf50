"""A bridge from rows: naive Bayes' left-out scores, the correction under each candidate, and how learning goes on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenodds.data.kept import Learnt
from evenodds.families.leaves import Floats
from evenodds.models.bridge.bridge import Bridge, Tried
from evenodds.models.bridge.correct import (
    FINE,
    Around,
    Problem,
    around_zero,
    correct,
    curvature,
    frequent,
    narrowed,
    roughly,
    widened,
)
from evenodds.models.bridge.features import Features, features_of
from evenodds.models.bridge.search import (
    SCALES,
    SLIGHT,
    STRENGTHS,
    Search,
    known,
    known_rows,
    shared,
    weights_under,
)
from evenodds.models.bridge.together import KEPT, One, small, together
from evenodds.models.left_out import leave_one_out
from evenodds.models.naive_bayes import Model

TRIED = 1 << 19  # weights that are searched with
FEW = 0.2  # if there are more weights, a smaller share of a candidate is none
LARGE = 1 << 16  # weights of all classes, from which on those kept are found no finer than those tried
COPIED = 20_000  # rows, up to which one that weighs 2 becomes two
NARROW, NARROWER = 500, 2_000  # rows, up to which a design becomes as narrow as it has rows; if it pays, up to which


def bridge(
    model: Model,
    learnt: Learnt,
    scale: float | None = None,
    strength: float | None = None,
    quadratic: bool = True,
    seed: int = 0,
    threads: int | None = None,
) -> Bridge:
    """A model and its correction by rows that it has learnt; scale and strength are chosen where they are None."""
    learnt = _weighty(learnt)
    design = features_of(model, learnt.rows, learnt.weights, quadratic, threads)
    problem = _problem(model, learnt, design, threads)
    whole = known(problem)
    learnt = learnt if len(whole.y) == len(problem.y) else learnt.some(known_rows(problem))
    narrow = narrowed(whole) if _long(whole) else whole
    scales = tuple(SCALES) if scale is None else (scale,)
    strengths = STRENGTHS if strength is None else (strength,)
    begin: dict[float, Floats] = {}
    factors: dict[tuple[float, float], float] = {}
    if len(scales) * len(strengths) == 1 or not len(whole.y):
        tried: tuple[Tried, ...] = (Tried(scales[0], strengths[0], np.nan, 1.0),)
    else:
        fewer, places = frequent(narrow, TRIED)
        search = Search(model, learnt, fewer, scales, strengths, seed, threads)
        losses = search.run()
        tried = shared(losses, search.judged, SLIGHT if fewer is narrow else FEW)
        for s, known_weights in search.begin.items():
            begin[s] = np.zeros((narrow.width, problem.classes))
            begin[s][places] = known_weights
        factors = search.sharpness(tried)
    used = [one for one in tried if one.share]
    weights, mean = np.zeros((narrow.width, problem.classes)), 0.0
    for one, found in zip(used, _fits(narrow, used, begin, threads)):
        factor = one.share * factors.get((one.scale, one.strength), 1.0)
        weights += factor * found
        mean += factor * one.scale
    finite = [(one.share, np.log(one.strength)) for one in tried if one.share and np.isfinite(one.strength)]
    shares = sum(share for share, _ in finite)
    strong = float(np.exp(sum(share * log for share, log in finite) / shares)) if finite else np.inf
    weights = weights if narrow is whole else widened(whole, narrow, weights)
    sure = curvature(whole, mean, weights, threads) if len(whole.y) else np.zeros_like(weights)
    return Bridge(model, design, mean, strong, weights, sure, tuple(tried))


def _fits(problem: Problem, used: list[Tried], begin: dict[float, Floats], threads: int | None) -> Iterator[Floats]:
    """The weights under each candidate; of few rows all of them as one, else each from where the one before ended."""
    if small(problem):
        finite = [one for one in used if np.isfinite(one.strength)]
        fits = [One(problem.y, one.scale * problem.offset, one.strength, begin.get(one.scale)) for one in finite]
        known = iter(together(problem.design, problem.weights, fits, KEPT))
        yield from (
            next(known) if np.isfinite(one.strength) else np.zeros((problem.width, problem.classes)) for one in used
        )
        return
    tolerance, last = FINE if problem.width * problem.classes <= LARGE else roughly(problem), dict(begin)
    for one in used:
        found = weights_under(problem, one.scale, one.strength, last.get(one.scale), tolerance, threads)
        last[one.scale] = found
        yield found


def more(old: Bridge, model: Model, learnt: Learnt, threads: int | None = None) -> Bridge:
    """The bridge after some more rows, which `model` has learnt too: what was known of the weights is their prior.

    A Gaussian at the old weights, as sharp as the rows so far made it. The scale, the strength and the words that have
    weights stay those of the first rows; a class that is new begins without weights.
    """
    learnt = _weighty(learnt)
    problem = _problem(model, learnt, old.features, threads)
    place = np.searchsorted(model.classes, old.classes)
    mean, sure = np.zeros((problem.width, problem.classes)), np.zeros((problem.width, problem.classes))
    mean[:, place], sure[:, place] = old.weights, old.curvature
    if np.isinf(old.strength):
        return Bridge(model, old.features, old.scale, old.strength, mean, sure, old.tried)
    problem = known(problem)
    if len(problem.y):
        prior = around_zero(old.strength, problem.width, problem.classes)
        # of weights that matter only by their differences a diagonal has but this part of the sharpness: of two classes
        # exactly, of more where they are even
        part = (problem.classes - 1) / problem.classes
        mean = correct(problem, old.scale, Around(mean, prior.precision + sure / part), threads=threads)
        sure = sure + curvature(problem, old.scale, mean, threads)
    return Bridge(model, old.features, old.scale, old.strength, mean, sure, old.tried)


def _weighty(learnt: Learnt) -> Learnt:
    """Without the rows of weight 0, which are none; rows of weight 2 twice; what is read when asked for, read."""
    weights = learnt.weights
    if weights is not None:
        copied = weights.sum() <= COPIED and np.all(weights == np.floor(weights))
        times = weights.astype(np.int64) if copied else weights > 0
        learnt = learnt.some(np.repeat(np.arange(len(weights)), times))
        learnt = learnt._replace(weights=None) if copied else learnt
    return learnt._replace(rows=learnt.rows.whole())


def _problem(model: Model, learnt: Learnt, design: Features, threads: int | None) -> Problem:
    y = model.places(learnt.target.labels)[learnt.target.places]
    offset = leave_one_out(model, *learnt.once, threads)
    return Problem(design.matrices(learnt.rows, model.schema, threads), y, offset, learnt.weights)


def _long(problem: Problem) -> bool:
    """Whether there are so many more columns than rows that as many as rows are the sooner."""
    rows = len(problem.y)
    return rows <= NARROW or (rows <= NARROWER and rows * rows <= 2 * problem.width * problem.classes)
