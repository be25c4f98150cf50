"""What is to be fitted, what a solver makes of it, and what came of it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.models.glm.aliases import Independent
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.design import Design
from evenodds.models.glm.losses import Loss
from evenodds.models.glm.minimise import WIDEST, minimise
from evenodds.models.glm.prior import GaussianPrior
from evenodds.models.glm.problem import Minimum, Prior
from evenodds.models.glm.rows import Held, Streamed
from evenodds.models.glm.separated import Separated
from evenodds.models.glm.settings import RegressionSettings
from evenodds.models.glm.sums import evaluate
from evenodds.models.glm.survey import Found, standardised


@dataclass(frozen=True, eq=False)
class Task:
    """Rows in the columns of a design, and how they are to be fitted."""

    found: Found
    rows: Held | Streamed
    settings: RegressionSettings
    threads: int | None

    @property
    def loss(self) -> Loss:
        """What a wrong score costs."""
        return self.found.loss

    @property
    def design(self) -> Design:
        """The columns."""
        return self.found.design

    def within(self, design: Design) -> Task:
        """The same rows with numbers centred and scaled otherwise."""
        found = dataclasses.replace(self.found, design=design)
        return dataclasses.replace(self, found=found, rows=self.rows.recentred(design))

    def for_solver(self) -> Task:
        """The same, standardised for solvers that need it, and not centred where it is too wide for a matrix of that.

        Newton's method does not mind a column's unit, and not its mean either unless it is far from zero.
        """
        design, size = self.design, self.design.width * self.loss.outputs
        if (self.settings.solver in ("ascent", "lbfgs") or self.settings.prior == "jeffreys") and not self.rows.sparse:
            design = standardised(self.found)
        if size > WIDEST and self.settings.prior is not None and design.shift.any():
            design = dataclasses.replace(design, shift=np.zeros_like(design.shift))
        return self if design is self.design else self.within(design)

    @functools.cached_property
    def prior(self) -> Prior:
        """That of the coefficients inside."""
        design, outputs, prior = self.design, self.loss.outputs, self.settings.prior
        if not isinstance(prior, GaussianPrior):
            return Prior.of(0.0, 0.0, design.width * outputs)
        mean, precision = prior.resolved(design, outputs)
        inside = design.scaled(mean.reshape(design.width, outputs, order="F")).ravel(order="F")
        diagonal, row = design.transform
        if precision.ndim == 1 and not row.any():
            return Prior(inside, precision * np.tile(diagonal, outputs) ** 2)
        if precision.ndim == 1:
            precision = np.diag(precision)
        whole = np.kron(np.eye(outputs), design.matrix)
        return Prior(inside, whole.T @ precision @ whole)

    @functools.cached_property
    def start(self) -> Floats:
        """The coefficients of the target's mean: the intercept alone."""
        start = np.zeros((self.design.width, self.loss.outputs))
        if self.design.intercept:
            survey = self.found.survey
            level = np.asarray(self.loss.score(self.found.mean), float)
            start[0] = np.nan_to_num(level, posinf=30.0, neginf=-30.0)  # of nothing but successes, or of none
            start[0] -= survey.offsets / survey.weight
        return start[:, 0] if self.loss.outputs == 1 else start

    @functools.cached_property
    def loose(self) -> NDArray[np.bool_]:
        """Of each column, whether no Gaussian prior holds it: only such a one may be one too many, or run away."""
        outputs, prior = self.loss.outputs, self.settings.prior
        if not isinstance(prior, GaussianPrior):
            return np.ones(self.design.width, bool)
        return self._without(prior.resolved(self.design, outputs)[1])

    def independent(self) -> Independent:
        """What judges the columns: those that no prior holds inside, where one on the intercept holds centred ones."""
        return Independent(self.design, self.loss.outputs, self._without(self.prior.precision), self.found.survey.rows)

    def _without(self, precision: Floats) -> NDArray[np.bool_]:
        """Of each column, whether it has no precision for any output."""
        held = precision.reshape(self.loss.outputs, self.design.width, -1) != 0
        return ~held.any(axis=(0, 2))

    def solver(self, prior: Prior) -> Callable[..., Minimum]:
        """`minimise`, as it was asked for."""
        how = self.settings
        return functools.partial(
            minimise, self.loss, prior.mean, prior.precision, self.rows, solver=how.solver, tolerance=how.tol,
            rate=how.rate, threads=self.threads, unit=self.found.unit,
        )  # fmt: skip

    def with_hessian(self, minimum: Minimum, prior: Prior, columns: Independent) -> Minimum:
        """The minimum with its Hessian, where the solver formed none and it can be held: for the standard errors."""
        if minimum.hessian is not None or minimum.coefficients.size > WIDEST:
            return minimum
        sums = evaluate(self.loss, self.rows, minimum.coefficients, 2, self.threads)
        assert sums.hessian is not None
        columns(sums)
        return dataclasses.replace(minimum, sums=sums, hessian=prior.plus(sums.hessian))


@dataclass(frozen=True, eq=False)
class Fitted:
    """What came of a task."""

    task: Task
    minimum: Minimum
    columns: Independent
    dispersion: float = 1.0
    bread: Floats | None = None  # (X'WX)⁻¹, where it is known to more digits than the Hessian has
    robust: Floats | None = None  # the sandwich, where it is known to more digits than that bread gives
    verdict: Separated | None = None
