"""What one pass over the rows finds at some coefficients: the cost, its gradient and its Hessian, each a sum."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenodds.models.glm.blocks import Block, Floats, Gram, Rows, Tile, mirrored, summed
from evenodds.models.glm.losses import Loss


@dataclass(frozen=True, eq=False)
class Sums:
    """What one pass finds at some coefficients."""

    cost: float
    gradient: Floats
    hessian: Floats | None  # or its diagonal, where the matrix is not wanted
    weight: float  # Σ w
    pearson: float  # Σ w (y - mean)² / variance of the output; NaN where no curves are wanted
    largest: float  # |score| of all rows

    def __add__(self, other: Sums) -> Sums:
        hessian = None if self.hessian is None or other.hessian is None else self.hessian + other.hessian
        return Sums(
            self.cost + other.cost,
            self.gradient + other.gradient,
            hessian,
            self.weight + other.weight,
            self.pearson + other.pearson,
            max(self.largest, other.largest),
        )


def evaluate(
    loss: Loss, rows: Rows, coefficients: Floats, order: int = 2, threads: int | None = None, curves: bool = True
) -> Sums:
    """One pass: the cost (order 0), its gradient (1) and its Hessian (2).

    Of order 1 the Hessian's diagonal too, unless its `curves` are not wanted: they take as long as the gradient.
    """
    b = np.ascontiguousarray(coefficients)  # once: every block needs a row's numbers side by side
    found = summed(rows, functools.partial(_sums, loss, b, order, curves), threads)
    if order < 2 or found.hessian is None:
        return found
    return replace(found, hessian=whole(found.hessian, loss.outputs))


def _sums(loss: Loss, b: Floats, order: int, curves: bool, block: Block) -> Sums:
    """What a block adds. Softmax coefficients are taken class by class: those of class 1 first."""
    cost = weight = pearson = largest = 0.0
    gradient = np.zeros_like(b)
    grams = Grams(block.width, 1 if b.ndim == 1 else b.shape[1]) if order == 2 else None
    diagonal = np.zeros_like(b)
    for tile in block.tiles():
        w = tile.weights
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # an infinite cost is a step too far
            score = tile.score(b)
            if order == 2:
                costs, first, second = loss.slopes(score, tile.y)
            elif curves:
                costs, first, second = loss.curves(score, tile.y)
            else:
                (costs, first), second = loss.gradient(score, tile.y), np.zeros(len(score))
            pearson += _pearson(first, second, tile.y, loss, w, score) if curves else np.nan
            if w is not None:
                costs, first = costs * w, (first.T * w).T
                second = (second.T * w).T
            cost += float(costs.sum())
        weight += float(len(costs) if w is None else w.sum())
        largest = max(largest, float(np.abs(score).max(initial=0.0)))
        if not np.isfinite(cost):
            return Sums(np.inf, gradient, np.zeros((b.size, b.size)) if order == 2 else None, weight, np.nan, largest)
        if order:
            gradient += tile.pull(first)
        if grams is not None:
            each = [second] if b.ndim == 1 else (np.ascontiguousarray(second[:, k, m]) for k, m in grams.pairs)
            grams.add(tile, each)
        elif order == 1 and curves:
            diagonal += tile.squares(second)
    hessian: Floats | None = None
    if grams is not None:
        hessian = grams.lower
    elif order == 1 and curves:
        hessian = diagonal
    return Sums(cost, gradient, hessian, weight, pearson, largest)


def _pearson(first: Floats, second: Floats, y: Any, loss: Loss, w: Floats | None, score: Floats) -> float:
    """Σ w (y - mean)² / variance; of classes, that of each class's share."""
    if np.ndim(y) == 2:  # several softmaxes side by side
        return np.nan
    if first.ndim == 2:
        p = loss.mean(score)
        hit = np.take_along_axis(p, np.asarray(y, np.int64)[:, None], axis=1)[:, 0]
        terms = 1.0 / hit - 1.0
    else:
        terms = np.where(first == 0, 0.0, first * first / second)
    return float(terms.sum() if w is None else (terms * w).sum())


class Grams:
    """A Gram of each pair of outputs, which together make the Hessian of all outputs' coefficients."""

    def __init__(self, width: int, outputs: int) -> None:
        self._width, self._outputs = width, outputs
        self.pairs = [(k, m) for k in range(outputs) for m in range(k + 1)]
        self._each = [Gram(width) for _ in self.pairs]

    def add(self, tile: Tile, weights: Iterable[Floats]) -> None:
        """Add a tile's, weighted for each of the pairs."""
        for gram, w in zip(self._each, weights):
            gram.add(tile, w)

    @property
    def lower(self) -> Floats:
        """The Hessian, of each pair the lower triangle: `whole` makes it symmetric."""
        width, size = self._width, self._width * self._outputs
        if self._outputs == 1:
            return self._each[0].lower
        hessian = np.zeros((size, size))
        for (k, m), gram in zip(self.pairs, self._each):
            hessian[k * width : (k + 1) * width, m * width : (m + 1) * width] = gram.lower
        return hessian


def whole(hessian: Floats, outputs: int) -> Floats:
    """The symmetric matrix of what was assembled: once for all blocks, because it takes a while."""
    width = len(hessian) // outputs
    for k in range(outputs):
        for m in range(k + 1):
            part = mirrored(hessian[k * width : (k + 1) * width, m * width : (m + 1) * width])
            hessian[k * width : (k + 1) * width, m * width : (m + 1) * width] = part
            hessian[m * width : (m + 1) * width, k * width : (k + 1) * width] = part
    return np.ascontiguousarray(hessian)
