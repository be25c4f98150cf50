"""What the intercept alone would cost, beside which a regression's deviance is judged."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from evenodds.families import Categorical, Gaussian
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.minimise import minimise
from evenodds.models.glm.survey import Found


def null_cost(found: Found, rows: Any, start: Floats, threads: int | None = None) -> float:
    """The cost of the intercept alone, or of no coefficient at all."""
    survey, loss, family = found.survey, found.loss, found.plan.family
    if found.plan.roles.offset is None and found.plan.roles.exposure is None:
        if family is Gaussian:
            mean = survey.y[0] / survey.weight if found.design.intercept else 0.0
            return 0.5 * float(survey.y[1] - 2 * mean * survey.y[0] + mean * mean * survey.weight)
        level = start[:1] if found.design.intercept else np.zeros_like(start[:1])
        if family is Categorical:
            classes = np.arange(len(found.counts))
            return float(found.counts @ loss.costs(np.repeat(level, len(classes), axis=0), classes))
        return survey.weight * float(loss.costs(level, np.array([found.mean]))[0])
    only = np.zeros(found.design.width, bool)
    only[0] = found.design.intercept
    begin = np.zeros_like(start)
    begin[:1] = start[:1] if found.design.intercept else 0.0
    return minimise(loss, 0.0, 0.0, _First(rows), start=begin[:1], free=only[:1], threads=threads).sums.cost


@dataclasses.dataclass(frozen=True, eq=False)
class _First:
    """A design's first column alone."""

    rows: Any
    width: int = 1

    def shards(self) -> Any:
        """As they are."""
        return self.rows.shards()

    def block(self, shard: Any) -> Any:
        """With no other column."""
        block = self.rows.block(shard)
        empty = np.empty((block.rows, 0))
        one = empty if block.intercept else np.zeros((block.rows, 1))
        return dataclasses.replace(
            block, dense=one, sparse=None, codes=empty.astype(np.int32), width=1, shift=None, scale=None
        )
