"""The separator that keeps the largest distance from every row: a quadratic program, by its active rows.

    min ½ ‖w‖²   with   u·w ≥ 1 for every u        then 1 / ‖w‖ is the largest margin any separator has

Some weights, such as the constant, may be left out of the norm. The method starts from any separator and moves along
the rows that bind: each step is the best point at which they stay at 1, or goes as far as the first row in the way
(R. Fletcher, Practical Methods of Optimization, 1987, section 10.3). At the end the rows' multipliers are all positive,
and their sum is ‖w‖² (duality): how far it is from it is the gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.models.alone import alone
from evenodds.models.separators.vectors import Rows

ZERO = 1e-11  # of a step or a multiplier beside the weights: nothing but rounding
FREE = 1e-9  # of a direction beside its part in the norm: all constants moved together, say, which changes nothing


@dataclass(frozen=True)
class HardMargin:
    """The weights, the u that bind, and by how much at most ‖w‖² could still be smaller, as a share."""

    weights: Floats
    which: NDArray[np.int64]
    gap: float


def hard_margin(rows: Rows, start: Floats, in_norm: NDArray[np.bool_], most: int = 10_000) -> HardMargin:
    """The shortest weights with u·w ≥ 1, from some with u·w > 0."""
    with alone():
        return _shortest(rows, start, in_norm, most)


def _shortest(rows: Rows, start: Floats, in_norm: NDArray[np.bool_], most: int) -> HardMargin:
    w = start / rows.scores(start)[0].min()
    scores = rows.scores(w)[0]
    active: list[int] = [int(np.argmin(scores))]
    gap = np.inf
    for _ in range(most):
        A = rows.take(np.array(active, np.int64))
        step = _step(A, w, in_norm)
        if np.linalg.norm(step[in_norm]) <= ZERO * np.linalg.norm(w[in_norm]):
            pull = np.where(in_norm, w, 0.0)
            multipliers = np.linalg.lstsq(A.T, pull, rcond=None)[0]
            square = float(pull @ pull)
            gap = abs(1 - float(np.maximum(multipliers, 0).sum()) / square) if square else 0.0
            worst = int(np.argmin(multipliers)) if active else 0
            if not active or multipliers[worst] >= -ZERO * np.abs(multipliers).max():
                break
            active.pop(worst)
            continue
        change = rows.scores(step)[0]
        falls = change < -ZERO * np.abs(change).max()
        falls[active] = False
        at = np.flatnonzero(falls)
        length, blocking = 1.0, -1
        if len(at):
            lengths = np.maximum(scores[at] - 1, 0) / -change[at]
            if lengths.min() < 1:
                blocking = int(at[np.argmin(lengths)])
                length = float(lengths.min())
        w = w + length * step
        scores = rows.scores(w)[0]
        if blocking >= 0:
            active.append(blocking)
    return HardMargin(w / rows.scores(w)[0].min(), np.array(active, np.int64), gap)


def _step(A: Floats, w: Floats, in_norm: NDArray[np.bool_]) -> Floats:
    """From w to the shortest weights with the same A w."""
    Q = np.linalg.qr(A.T, mode="complete")[0] if len(A) else np.eye(len(w))
    Z = Q[:, len(A) :]
    if not Z.shape[1]:
        return np.zeros(len(w))
    return np.asarray(Z @ np.linalg.lstsq(Z[in_norm], -w[in_norm], rcond=FREE)[0])
