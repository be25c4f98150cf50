"""Coefficients that run to infinity: looked for by a linear program where a fit suggests them.

Rows beyond what the program takes at once are added where they contradict its direction, until none does: a part of
the rows that overlaps proves that all do, and a direction that all rows agree with proves that they do not. For counts,
a row of 0 may be pushed down for ever, and the other rows must stay where they are.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families import Bernoulli, Categorical, Poisson
from evenodds.models.glm.blocks import Block, Rows, Tile, passed
from evenodds.models.glm.sums import Sums
from evenodds.models.glm.survey import Found
from evenodds.models.separators.separation import Separation, separation

FAR = 15.0  # a score beyond which a probability is within 1e-6 of 0 or 1
MANY = 20_000  # rows that the program takes at first
MORE = 2_000  # rows that are added at a time, of each block
ROUNDS = 50
SMALL = 1e-10  # of a score, beside the sizes of its terms: as exact as the program
EITHER = 2  # of a coefficient that is infinite, with a sign that depends on the way there


@dataclass(frozen=True, eq=False)
class Separated:
    """A verdict, in words, and the sign of each coefficient that is infinite; or that there is none."""

    sentence: str
    infinite: NDArray[np.int64]  # (n,): -1, 0, 1 or EITHER, class after class


def suspicious(sums: Sums) -> bool:
    """Whether some row's score is so far out that it might be on its way to infinity."""
    return sums.largest > FAR


def separated(rows: Rows, found: Found, threads: int | None = None) -> Separated | None:
    """The verdict of the linear program; None where the rows overlap."""
    try:
        verdict = _judged(rows, found, threads)
    except ArithmeticError as no:  # of numbers too close to tell, or a program without end
        nothing = np.zeros(found.design.width * found.loss.outputs, np.int64)
        return Separated(
            f"whether coefficients are infinite was not found out: {no}; a prior keeps them finite", nothing
        )
    return _said(verdict, found) if verdict else None


def _judged(rows: Rows, found: Found, threads: int | None) -> Separation:
    """The program's answer for some rows that no other row contradicts."""
    chosen = [_first(block, found) for block in _blocks(rows)]
    x, y = _joined(chosen)
    for _ in range(ROUNDS):
        verdict = _program(x, y, found)
        if not verdict:
            return verdict
        against = list(passed(rows, functools.partial(_against, found=found, verdict=verdict), threads))
        if not sum(len(part[1]) for part in against):
            return verdict
        more_x, more_y = _joined([part for part in against if len(part[1])])
        x, y = _stack([x, more_x]), np.concatenate([y, more_y])
    raise ArithmeticError(f"after {ROUNDS} rounds rows still contradicted the program")


def _blocks(rows: Rows) -> Any:
    for shard in rows.shards():
        yield rows.block(shard)


def _first(block: Block, found: Found) -> tuple[Any, NDArray[Any]]:
    """Some rows of a block at equal distances, in the columns as they came but for their scale."""
    step = max(1, -(-found.survey.rows // MANY))
    return _joined([(_columns(tile, found)[::step], tile.y[::step]) for tile in block.tiles()])


def _columns(tile: Tile, found: Found) -> Any:
    """The design's rows, with what was subtracted inside added again: the intercept's sign depends on it."""
    design = found.design
    if not design.shift.any() or tile.sparse is not None:
        return tile.columns()
    return dataclasses.replace(tile, dense=tile.dense + design.shift / design.scale).columns()


def _joined(parts: list[tuple[Any, NDArray[Any]]]) -> tuple[Any, NDArray[Any]]:
    return _stack([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def _stack(parts: list[Any]) -> Any:
    if all(isinstance(x, np.ndarray) for x in parts):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def _program(x: Any, y: NDArray[Any], found: Found) -> Separation:
    names, family = found.design.names, found.plan.family
    if family is Categorical:
        return separation(x, y.astype(np.int64), len(found.labels), names)
    up = y > 0
    down = y < 1 if family is Bernoulli else np.ones(len(y), bool)
    # a share between 0 and 1, and a count above 0, must stay where it is: it is on both sides
    at = np.concatenate([np.flatnonzero(up), np.flatnonzero(down)])
    codes = np.repeat([1, 0], [int(up.sum()), int(down.sum())])
    return separation(x[at], codes, 2, names)


def _against(block: Block, found: Found, verdict: Separation) -> tuple[Any, NDArray[Any]]:
    """The rows of a block that the direction would push the wrong way, the worst first."""
    parts = []
    for tile in block.tiles():
        x = _columns(tile, found)
        pushed = np.asarray(x @ verdict.direction)
        size = np.asarray(abs(x) @ np.abs(verdict.direction)) + 1e-300
        y = tile.y
        if found.plan.family is Categorical:
            scores = np.column_stack([np.zeros(len(y)), pushed])
            own = scores[np.arange(len(y)), y.astype(np.int64)]
            wrong = (scores - own[:, None]).max(axis=1) / size.max(axis=1)
        else:
            along, size = pushed[:, 0], size[:, 0]
            stays = (y > 0) & (y < 1) if found.plan.family is Bernoulli else y > 0
            wrong = np.where(stays, np.abs(along), np.where(y > 0, -along, along)) / size
        worst = np.flatnonzero(wrong > SMALL)
        if len(worst):
            worst = worst[np.argsort(-wrong[worst])[:MORE]]
            parts.append((x[worst], y[worst]))
    if not parts:
        return np.zeros((0, block.width)), np.zeros(0)
    return _joined(parts)


def _said(verdict: Separation, found: Found) -> Separated:
    """The verdict with the cure."""
    infinite = np.zeros((found.design.width, found.loss.outputs), np.int64)
    for one in verdict.infinite:
        infinite[one.column, max(one.group - 1, 0)] = one.sign if one.certain else EITHER
    what = verdict.sentence(found.labels if found.plan.family is Categorical else None)
    if found.plan.family is Poisson:
        what = what.replace("quasi-complete separation", "rows of 0 alone").replace("complete separation", "only 0")
        cure = "a prior (prior=1.0) keeps them finite"
    elif found.plan.family is Bernoulli:
        cure = "a prior keeps them finite: prior='jeffreys', or prior=1.0"
    else:
        cure = "a prior (prior=1.0) keeps them finite"
    return Separated(f"{what}; there is no finite estimate of these: {cure}", infinite.ravel(order="F"))
