"""Coefficients that run to infinity: looked for by a linear program where a fit suggests them.

Rows beyond what the program takes at once are added where they contradict its direction, until none does: a part of
the rows that overlaps proves that all do, and a direction that all rows agree with proves that they do not. For counts,
a row of 0 may be pushed down for ever, and the other rows must stay where they are.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import remedy
from evenodds.families import Bernoulli, Categorical, Poisson
from evenodds.models.glm.blocks import Block, Tile, passed
from evenodds.models.glm.newton import solve
from evenodds.models.glm.problem import Minimum, Prior
from evenodds.models.glm.rows import Held, Streamed
from evenodds.models.glm.sums import Sums
from evenodds.models.glm.survey import Found
from evenodds.models.separators.separation import Separation, judge
from evenodds.models.separators.vectors import Rows

FAR = 15.0  # a score beyond which a probability is within 1e-6 of 0 or 1
STEP = 0.1  # of a score, that Newton's next step may move a row by where it has arrived; on the way to infinity it is 1
MANY = 20_000  # rows that the program takes at first
MORE = 2_000  # rows that are added at a time, of each block
ROUNDS = 50
SMALL = 1e-10  # of a score, beside the sizes of its terms: as exact as the program
Columns = NDArray[np.intp]  # of a design, by their places
Parts = list[tuple[Any, NDArray[Any]]]  # rows in such columns, and their targets
EITHER = 2  # of a coefficient that is infinite, with a sign that depends on the way there


@dataclass(frozen=True, eq=False)
class Separated:
    """A verdict, in words, and the sign of each coefficient that is infinite; or that there is none."""

    sentence: str
    infinite: NDArray[np.int64]  # (n,): -1, 0, 1 or EITHER, class after class


def suspicious(sums: Sums) -> bool:
    """Whether some row's score is so far out that it might be on its way to infinity."""
    return sums.largest > FAR


def unsettled(minimum: Minimum, prior: Prior, found: Found, free: Any) -> bool:
    """Whether Newton's next step would still move some row's score: a slope is small also where all is flat.

    Of rows pushed towards infinity slope and curvature are the same share of their number, e^-score, so every step is
    as long as the one before it; but beside the curvature of other rows in the same columns the slope is soon nothing.
    """
    if minimum.hessian is None:
        return False
    slope = minimum.sums.gradient.ravel(order="F") + prior.pull(minimum.coefficients.ravel(order="F"))
    step = solve(minimum.hessian, slope, np.tile(free, found.loss.outputs))
    return float(np.abs(step) @ np.tile(found.largest, found.loss.outputs)) > STEP


def separated(
    rows: Held | Streamed, found: Found, loose: NDArray[np.bool_], threads: int | None = None
) -> Separated | None:
    """The verdict of the linear program on the loose columns as they came; None where the rows overlap in them."""
    at = np.flatnonzero(loose)
    if not len(at):
        return None
    try:
        verdict = _judged(rows.recentred(found.design.plain), found, at, threads)
    except ArithmeticError as no:  # of numbers too close to tell, or a program without end
        nothing = np.zeros(found.design.width * found.loss.outputs, np.int64)
        return Separated(
            f"whether coefficients are infinite was not found out: {no}; a prior keeps them finite", nothing
        )
    return _said(verdict, found, at) if verdict else None


def _judged(rows: Held | Streamed, found: Found, at: Columns, threads: int | None) -> Separation:
    """The program's answer for some rows that no other row contradicts."""
    names = [found.design.names[j] for j in at]
    x, y = _joined(passed(rows, functools.partial(_first, found=found, at=at), threads))
    for _ in range(ROUNDS):
        verdict = _program(x, y, found, names)
        if not verdict:
            return verdict
        against = list(passed(rows, functools.partial(_against, found=found, at=at, verdict=verdict), threads))
        if not any(against):
            return verdict
        x, y = _joined([[(x, y)], *against])
    raise ArithmeticError(f"after {ROUNDS} rounds rows still contradicted the program")


def _first(block: Block, found: Found, at: Columns) -> Parts:
    """Some rows of a block at equal distances."""
    step = max(1, -(-found.survey.rows // MANY))
    return [(_columns(tile, at)[::step], tile.y[::step]) for tile in block.tiles()]


def _columns(tile: Tile, at: Columns) -> Any:
    """The rows of a tile in some of its columns."""
    x = tile.columns()
    return x if len(at) == tile.width else x[:, at]


def _joined(parts: Iterable[Parts]) -> tuple[Any, NDArray[Any]]:
    """Rows and targets of all blocks, of which some may have none."""
    x, y = zip(*itertools.chain.from_iterable(parts))
    if all(isinstance(part, np.ndarray) for part in x):
        return np.concatenate(x), np.concatenate(y)
    from scipy.sparse import vstack

    return vstack(x, format="csr"), np.concatenate(y)


def _program(x: Any, y: NDArray[Any], found: Found, names: list[str]) -> Separation:
    family = found.plan.family
    if family is Categorical:
        return judge(Rows(x, y.astype(np.int64), len(found.labels)), names, found.labels)
    up = y > 0
    down = y < 1 if family is Bernoulli else np.ones(len(y), bool)
    # a share between 0 and 1, and a count above 0, must stay where it is: it is on both sides
    at = np.concatenate([np.flatnonzero(up), np.flatnonzero(down)])
    codes = np.repeat([1, 0], [int(up.sum()), int(down.sum())])
    return judge(Rows(x[at], codes, 2), names)


def _against(block: Block, found: Found, at: Columns, verdict: Separation) -> Parts:
    """The rows of a block that the direction would push the wrong way, the worst first."""
    parts = []
    for tile in block.tiles():
        x = _columns(tile, at)
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
    return parts


def _said(verdict: Separation, found: Found, at: Columns) -> Separated:
    """The verdict with the cure."""
    infinite = np.zeros((found.design.width, found.loss.outputs), np.int64)
    for one in verdict.infinite:
        infinite[at[one.column], max(one.group - 1, 0)] = one.sign if one.certain else EITHER
    what = verdict.sentence()
    if found.plan.family is Poisson:
        what = what.replace("quasi-complete separation", "rows of 0 alone").replace("complete separation", "only 0")
    if len(at) < found.design.width:
        cure = "a prior that is on them too keeps them finite"
    elif found.plan.family is Bernoulli:
        priors = remedy("prior='jeffreys', or prior=1.0", "--prior jeffreys, or --prior 1")
        cure = f"a prior keeps them finite: {priors}"
    else:
        cure = f"a prior ({remedy('prior=1.0', '--prior 1')}) keeps them finite"
    return Separated(f"{what}; there is no finite estimate of these: {cure}", infinite.ravel(order="F"))
