"""What a solver is given and what it gives back: a cost to be made least, its prior, the steps and the minimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenodds.models.glm.blocks import Floats, Rows
from evenodds.models.glm.losses import Loss
from evenodds.models.glm.sums import Sums, evaluate

HALVINGS = 40  # of a step
ROUNDING = 1e-13  # of the cost: a rise below it is none


@dataclass(frozen=True)
class Step:
    """One step of a solver, for people to look at."""

    number: int
    cost: float  # before the step
    slope: float  # the convergence test: the largest |g_j| / sqrt(H_jj Σw)
    length: float  # the part of the full step that was taken


def renumbered(steps: tuple[Step, ...], done: int) -> tuple[Step, ...]:
    """Steps that were taken after others."""
    return tuple(replace(step, number=step.number + done) for step in steps)


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where the cost is least, what it is there, and how it was found."""

    coefficients: Floats  # (columns,), or (columns, outputs)
    sums: Sums  # of the data alone, at the coefficients
    hessian: Floats | None  # of data and prior, (n, n); None where it was not formed
    converged: bool
    solver: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Prior:
    """A Gaussian over all coefficients, in one vector."""

    mean: Floats  # (n,)
    precision: Floats  # (n, n), or its diagonal (n,)

    @staticmethod
    def of(mean: Any, precision: Any, size: int) -> Prior:
        """From numbers, vectors or a matrix."""
        whole = np.broadcast_to(np.asarray(mean, float).ravel(order="F"), (size,)) if np.ndim(mean) else mean
        matrix = np.asarray(precision, float)
        if matrix.ndim == 2 and matrix.shape != (size, size):
            matrix = matrix.ravel(order="F")
        if matrix.ndim < 2:
            matrix = np.broadcast_to(matrix, (size,))
        return Prior(np.broadcast_to(np.asarray(whole, float), (size,)), matrix)

    def pull(self, b: Floats) -> Floats:
        """precision (b - mean): the slope."""
        away = b - self.mean
        return self.precision @ away if self.precision.ndim == 2 else self.precision * away

    @property
    def diagonal(self) -> Floats:
        """Of the precision."""
        return np.diag(self.precision) if self.precision.ndim == 2 else self.precision

    def plus(self, hessian: Floats) -> Floats:
        """The Hessian of data and prior."""
        return hessian + (self.precision if self.precision.ndim == 2 else np.diag(self.precision))


@dataclass(eq=False)
class Problem:
    """What is minimised, and which coefficients may move."""

    loss: Loss
    source: Rows
    prior: Prior
    told: Any
    shape: tuple[int, ...]
    tolerance: float
    threads: int | None
    unit: float = 1.0  # the size of an error of a score: slopes are told in it
    free: Any = None  # (n,), known from the first pass on

    def at(self, flat: Floats, order: int, curves: bool = True) -> tuple[float, Floats, Sums]:
        """The cost of data and prior, its gradient, and the data's sums."""
        sums = evaluate(self.loss, self.source, self.shaped(flat), order, self.threads, curves)
        pull = self.prior.pull(flat)
        gradient = sums.gradient.ravel(order="F") + pull
        if self.free is None:
            columns = self.told(sums) if callable(self.told) else self.told
            columns = np.ones(self.source.width, bool) if columns is None else np.asarray(columns, bool)
            self.free = np.tile(columns, self.loss.outputs)
        return sums.cost + 0.5 * float((flat - self.prior.mean) @ pull), np.where(self.free, gradient, 0.0), sums

    def shaped(self, flat: Floats) -> Floats:
        """The coefficients as the design multiplies with them."""
        return flat.reshape(self.shape, order="F")

    def slope(self, gradient: Floats, diagonal: Floats, weight: float) -> float:
        """The convergence test: the largest |g_j| / sqrt(H_jj Σw), in its unit."""
        moving = self.free & (gradient != 0)
        if not moving.any():
            return 0.0
        room = np.sqrt(np.maximum(diagonal[moving], np.finfo(float).tiny) * max(weight, np.finfo(float).tiny))
        return float((np.abs(gradient[moving]) / room).max() / self.unit)
