"""Many small corrections of the same rows, fitted as one: the weights of all of them side by side in one design.

    minimise  Σ_k [ Σ_i w_i · -log softmax_{y_ik}(offset_ik + features_i · W_k)  +  ½ strength_k · |W_k|² ]

A fold is a fit in which the rows held out have no class. Of a hundred rows a step of one fit alone is all overhead:
the ten folds under four scales take as long as one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.kernel import kernel
from evenodds.models.bridge.correct import FREE, Blocks, Problem, Symmetric
from evenodds.models.bridge.features import Matrices
from evenodds.models.glm.blocks import Block
from evenodds.models.glm.minimise import minimise

NONE = -1  # the class of a row that is not among those of a fit
TRIED, KEPT = 3e-3, 1e-5  # tolerances
ROWS = 2_000  # up to which many fits are made as one
MOST = 1 << 16  # weights of all of them


class One(NamedTuple):
    """A fit: the rows' classes, what naive Bayes says of them, times its scale, the prior's strength, and a start."""

    y: NDArray[np.int64]  # NONE: no row of this fit
    offset: Floats  # (rows, classes)
    strength: float
    start: Floats | None = None


@kernel
def softmaxes(score: Any, y: Any, p: Any, first: Any) -> Any:
    """-log p of each row's classes, summed over the fits; p and its slope are written, 0 where a row is of no fit.

    score[i, k, c] is that of row i in fit k for class c, y[i, k] the row's class there.
    """
    rows, fits, classes = score.shape
    cost = np.zeros(rows)
    for i in range(rows):
        for k in range(fits):
            own = y[i, k]
            if own == NONE:
                for c in range(classes):
                    p[i, k, c] = first[i, k, c] = 0.0
                continue
            top = score[i, k, 0]
            for c in range(1, classes):
                top = max(top, score[i, k, c])
            total = 0.0
            for c in range(classes):
                p[i, k, c] = np.exp(score[i, k, c] - top)
                total += p[i, k, c]
            cost[i] += top + np.log(total) - score[i, k, own]
            for c in range(classes):
                p[i, k, c] /= total
                first[i, k, c] = p[i, k, c]
            first[i, k, own] -= 1.0
    return cost


class Softmaxes(Symmetric):
    """Several softmaxes side by side, of as many classes each; `y` has a column for each."""

    def __init__(self, many: int, classes: int) -> None:
        super().__init__(many * classes)
        self.shape = many, classes

    def _first(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        each = np.ascontiguousarray(score).reshape(-1, *self.shape)
        p, first = np.empty_like(each), np.empty_like(each)
        cost = softmaxes(each, y, p, first)
        return cost, first.reshape(score.shape), p.reshape(score.shape)


def small(problem: Problem) -> bool:
    """Whether several fits of the same rows are made sooner as one."""
    return problem.design.sparse is None and len(problem.y) <= ROWS


def together(design: Matrices, weights: Floats | None, fits: Sequence[One], tolerance: float) -> list[Floats]:
    """The weights of each fit, (1 + columns, classes); strengths are finite."""
    if not fits:
        return []
    size = (1 + design.dense.shape[1]) * fits[0].offset.shape[1]
    most = max(1, MOST // size)
    found = [_one_go(design, weights, fits[at : at + most], tolerance) for at in range(0, len(fits), most)]
    return [one for some in found for one in some]


def _one_go(design: Matrices, weights: Floats | None, fits: Sequence[One], tolerance: float) -> list[Floats]:
    width, (rows, classes) = 1 + design.dense.shape[1], fits[0].offset.shape
    y = np.stack([one.y for one in fits], axis=1)
    offset = np.concatenate([one.offset for one in fits], axis=1)
    precision = np.tile(np.repeat([one.strength for one in fits], classes), (width, 1))
    precision[0] = FREE
    nothing = np.zeros((width, classes))
    start = np.concatenate([nothing if one.start is None else one.start for one in fits], axis=1)
    block = Block(design.dense, None, np.empty((rows, 0), np.int32), width, y, weights, offset, True)
    loss = Softmaxes(len(fits), classes)
    found = minimise(
        loss, 0.0, precision, Blocks([block], width), start=start, solver="lbfgs", tolerance=tolerance, threads=1
    )
    return np.split(found.coefficients, len(fits), axis=1)
