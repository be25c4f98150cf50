"""What one pass over the rows finds at some coefficients: the cost, its gradient and its Hessian, each a sum."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenodds.models.glm.blocks import Block, Floats, Gram, Rows, mirrored, summed
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
    outputs = 1 if b.ndim == 1 else b.shape[1]
    pairs = [(k, m) for k in range(outputs) for m in range(k + 1)] if order == 2 else []
    grams = [Gram(block.width) for _ in pairs] if order == 2 else []
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
        if order == 2:
            for (k, m), gram in zip(pairs, grams):
                gram.add(tile, second if b.ndim == 1 else np.ascontiguousarray(second[:, k, m]))
        elif order == 1 and curves:
            diagonal += tile.squares(second)
    hessian: Floats | None = None
    if order == 2:
        hessian = assembled(pairs, grams, block.width, outputs)
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


def assembled(pairs: list[tuple[int, int]], grams: list[Gram], width: int, outputs: int) -> Floats:
    """The Hessian of all outputs' coefficients from that of each pair of outputs: of each the lower triangle."""
    if outputs == 1:
        return grams[0].lower
    hessian = np.zeros((width * outputs, width * outputs))
    for (k, m), gram in zip(pairs, grams):
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
