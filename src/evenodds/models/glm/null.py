"""What one score for all rows would cost, beside which a regression's deviance is judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.special import entr

from evenodds.cells import numbers
from evenodds.errors import DataError
from evenodds.families import Categorical, Gaussian
from evenodds.families.leaves import check_weights
from evenodds.models.glm.blocks import Block, Floats, Matrix, Rows, Tile
from evenodds.models.glm.losses import Loss, Squared
from evenodds.models.glm.minimise import minimise
from evenodds.models.glm.plan import checked, in_memory, shares
from evenodds.models.glm.regression import Regression
from evenodds.models.glm.scoring import Where, each, one_each, targets
from evenodds.models.glm.survey import Found


def null_cost(found: Found, rows: Rows, start: Floats, threads: int | None = None) -> float:
    """The cost of the intercept alone, or of no coefficient at all."""
    n, loss, level = found.survey.weight, found.loss, found.design.intercept
    if found.plan.roles.offset is not None or found.plan.roles.exposure is not None:
        begin = start[:1] if level else np.zeros_like(start[:1])
        one = minimise(loss, 0.0, 0.0, _First(rows), start=begin, free=[level], threads=threads, unit=found.unit)
        return one.sums.cost
    if found.plan.family is Gaussian:
        origin, total, squares = found.survey.y
        return 0.5 * float(squares - total * total / n if level else squares + (2 * total + n * origin) * origin)
    if found.plan.family is Categorical:
        return n * float(entr(found.counts / found.counts.sum()).sum() if level else np.log(len(found.counts)))
    mean = np.array([found.mean])
    return n * float((loss.least(mean) if level else loss.costs(np.zeros(1), mean))[0])


def scored(
    model: Regression, x: Any, offset: Any, exposure: Any, threads: int | None = None, where: Where = in_memory
) -> Floats:
    """The score of each row, and what of it is offset: (rows, 2)."""

    def both(tile: Tile) -> Floats:
        return np.column_stack(
            [tile.score(model.inside), np.zeros(len(tile.y)) if tile.offset is None else tile.offset]
        )

    return each(model, x, offset, exposure, both, threads, where)


def explained(
    model: Regression, score: Floats, offset: Floats, y: Any, weights: Any = None, trials: Any = None
) -> float:
    """The share of the deviance that scores explain: of that of the one score that is best for all rows, offsets added.

    0 where that has none to explain, all targets being the same, unless nothing is wrong.
    """
    rows, loss, w = len(score), model.loss, counting(weights, len(score))
    if np.isnan(score).any():
        raise DataError(
            f"no mean can be told in row {np.argmax(np.isnan(score))}: a cell is missing; leave the row out"
        )
    if trials is not None:
        among = checked(
            numbers(one_each("trials", trials, rows), "trials"), "number of trials", "trials", in_memory, 0.0
        )
        successes = numbers(one_each("target", y, rows), model.roles.target)
        target, w = shares(successes, among, model.roles.target, in_memory)[0], w * among
    elif model.roles.trials is not None:
        raise DataError("the model was fitted with trials: give trials= to score too")
    else:
        target = targets(model, y, rows)
    least = float(w @ loss.least(target))
    left, whole = float(w @ loss.costs(score, target)) - least, _level_cost(loss, target, w, offset) - least
    return 1 - left / whole if whole > 0 else float(left <= 0)


def counting(weights: Any, rows: int) -> Floats:
    """How often each row counts: once, if nothing is told; some row must."""
    w = check_weights(weights, rows)
    if w is not None and not w.any():
        raise DataError("all weights are zero: a row of weight 0 is no row")
    return np.ones(rows) if w is None else w


def _level_cost(loss: Loss, y: Floats, w: Floats, offset: Floats) -> float:
    """The cost of the one score that is best for all rows, their offsets added."""
    level = float(loss.score(np.average(y, weights=w)))
    if not np.isfinite(level):  # all are 0, or all are successes: the best score is without end, and costs nothing
        return float(w @ loss.least(y))
    start = np.array([level - np.average(offset, weights=w)])
    if isinstance(loss, Squared):  # which the mean minimises
        return float(w @ loss.costs(start + offset, y))
    return minimise(loss, 0.0, 0.0, Matrix(np.ones((len(y), 1)), y, w, offset), start=start).sums.cost


@dataclasses.dataclass(frozen=True, eq=False)
class _First:
    """A design's first column alone."""

    rows: Rows
    width: int = 1

    def shards(self) -> Iterable[Any]:
        """As they are."""
        return self.rows.shards()

    def block(self, shard: Any) -> Block:
        """With no other column."""
        block = self.rows.block(shard)
        empty = np.empty((block.rows, 0))
        one = empty if block.intercept else np.zeros((block.rows, 1))
        return dataclasses.replace(
            block, dense=one, sparse=None, codes=empty.astype(np.int32), width=1, shift=None, scale=None
        )
