"""A regression fitted to any source: the columns typed, surveyed in one pass, and the coefficients found.

Which solver, unless one is told: least squares by QR for the Gaussian without a prior (of a very wide or long design by
its Gram); Newton's method where the Hessian can be held; L-BFGS where it cannot. Where there are many rows in memory, a
first guess comes from a thinned table, which saves passes and changes nothing but the time.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.errors import DataError
from evenodds.families import Gaussian
from evenodds.models.alone import alone
from evenodds.models.glm import inference
from evenodds.models.glm.aliases import EXACT, condition, related
from evenodds.models.glm.asked import check_roles, schema_of
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.coefficients import GaussianPrior
from evenodds.models.glm.collinear import Collinear
from evenodds.models.glm.design import Design, rescaled
from evenodds.models.glm.jeffreys import jeffreys
from evenodds.models.glm.least_squares import least_squares
from evenodds.models.glm.losses import Squared
from evenodds.models.glm.minimise import WIDEST, minimise
from evenodds.models.glm.noise import noise
from evenodds.models.glm.notes import notes_of, totals_of
from evenodds.models.glm.null import null_cost
from evenodds.models.glm.plan import Plan, Roles
from evenodds.models.glm.problem import Minimum, Step, renumbered
from evenodds.models.glm.regression import Regression
from evenodds.models.glm.separated import Separated, separated, suspicious
from evenodds.models.glm.settings import RegressionSettings
from evenodds.models.glm.sums import Sums, evaluate
from evenodds.models.glm.survey import Found, standardised, surveyed
from evenodds.schema import Schema

QR_WORK = 4e11  # multiplications of a QR factorisation, above which the Gram is used
PATIENCE = 12  # Newton steps before separation is suspected


def regress(
    source: Source,
    roles: Roles,
    settings: RegressionSettings,
    columns: Any = None,
    schema: Schema | None = None,
    threads: int | None = None,
) -> tuple[Regression, Report]:
    """The regression of a source's rows, and what was wrong with some of them."""
    decided = schema or schema_of(source, roles, settings, columns)
    check_roles(roles, settings)
    plan = Plan(decided, roles, settings.family, settings.intercept, settings.missing, settings.reference)
    found, rows = surveyed(source, plan, threads)
    if not found.design.width:
        raise DataError("there is no column and no intercept: nothing to fit")
    if settings.prior == "jeffreys" and roles.trials is not None:
        raise DataError("prior='jeffreys' takes rows of successes and failures, not trials: give each its own row")
    with alone():
        return _Fit(found, rows, settings, threads).model(), found.report


@dataclasses.dataclass(eq=False)
class _Fit:
    """One fit, from the survey to the model."""

    found: Found
    rows: Any
    settings: RegressionSettings
    threads: int | None

    def __post_init__(self) -> None:
        self.loss = self.found.loss
        self.aliases: Collinear | None = None
        self.free = np.ones(self.found.design.width, bool)
        self.judged = False
        self.verdict: Separated | None = None  # of the linear program, once it has been asked

    # -- the model -----------------------------------------------------------------------------------------------------

    def model(self) -> Regression:
        """Fit, judge, and gather."""
        settings = self.settings
        if settings.family is Gaussian and settings.prior is None and settings.solver == "auto" and self._qr_pays():
            return self._by_qr()
        design = self._design()
        mean, precision = self._prior(design)
        dispersion = 1.0
        if settings.prior == "jeffreys":
            self.free = self._independent(evaluate(self.loss, self.rows, self._start(), 2, self.threads))
            minimum = jeffreys(self.rows, self._start(), self.free, settings.tolerance, settings.most, self.threads)
        elif settings.family is Gaussian:
            minimum, dispersion = self._linear(design, mean, precision)
        else:
            minimum = self._fitted(mean, precision)
        return self._gathered(design, minimum, precision, dispersion)

    def _design(self) -> Design:
        """The design: standardised for solvers that need it, and not centred where it is too wide for a matrix of that.

        Newton's method does not mind a column's unit, and not its mean either unless it is far from zero.
        """
        design, size = self.found.design, self.found.design.width * self.loss.outputs
        sparse = getattr(getattr(self.rows, "whole", None), "sparse", None) is not None
        if (self.settings.solver in ("ascent", "lbfgs") or self.settings.prior == "jeffreys") and not sparse:
            design = standardised(self.found, sparse)
        if size > WIDEST and self.settings.prior is not None and design.shift.any():
            design = rescaled(design, np.zeros_like(design.shift), design.scale)
        if design is not self.found.design:
            self.found = dataclasses.replace(self.found, design=design)
            self.rows = self.rows.recentred(design)
        return design

    def _prior(self, design: Design) -> tuple[Floats, Floats]:
        """The prior's mean and precision of the coefficients inside."""
        outputs, width = self.loss.outputs, design.width
        prior = self.settings.prior
        if not isinstance(prior, GaussianPrior):
            return np.zeros(width * outputs), np.zeros(width * outputs)
        mean, precision = prior.resolved(design, outputs)
        inside = design.scaled(mean.reshape(width, outputs, order="F")).ravel(order="F")
        diagonal, row = design.transform
        if precision.ndim == 1 and not row.any():
            return inside, precision * np.tile(diagonal, outputs) ** 2
        if precision.ndim == 1:
            precision = np.diag(precision)
        whole = np.kron(np.eye(outputs), design.matrix)
        return inside, whole.T @ precision @ whole

    def _start(self) -> Floats:
        """The coefficients of the target's mean: the intercept alone."""
        start = np.zeros((self.found.design.width, self.loss.outputs))
        if self.found.design.intercept:
            survey = self.found.survey
            with np.errstate(divide="ignore"):
                level = np.asarray(self.loss.score(self.found.mean), float)
            start[0] = np.clip(level, -30, 30) if self.settings.family is not Gaussian else level
            start[0] -= survey.offsets / survey.weight
        return start[:, 0] if self.loss.outputs == 1 else start

    def _fitted(self, mean: Floats, precision: Floats) -> Minimum:
        """Newton's method or another, from the target's mean or a thinned table's estimate."""
        settings = self.settings
        solve = functools.partial(
            minimise, self.loss, mean, precision, self.rows, solver=settings.solver, tolerance=settings.tolerance,
            rate=settings.rate, threads=self.threads,
        )  # fmt: skip
        stop = None
        if settings.prior is None:
            stop = lambda sums, steps: steps >= min(PATIENCE, settings.most) and suspicious(sums)  # noqa: E731
        start, near = self._pilot(mean, precision)
        found = solve(start=start, free=self._independent, most=settings.most, stop=stop, near=near)
        done = len(found.steps) - 1
        if stop is not None and not found.converged and suspicious(found.sums):
            self.judged, self.verdict = True, separated(self.rows, self.found, self.threads)
            if self.verdict is None and done < settings.most:  # the minimum is far, but it is there
                rest = solve(start=found.coefficients, free=self.free, most=settings.most - done)
                found = dataclasses.replace(rest, steps=(*found.steps[:-1], *renumbered(rest.steps, done)))
        return self._curved(found, precision)

    def _curved(self, found: Minimum, precision: Floats) -> Minimum:
        """The minimum with its Hessian, where the solver formed none and it can be held: for the standard errors."""
        if found.hessian is not None or found.coefficients.size > WIDEST:
            return found
        sums = evaluate(self.loss, self.rows, found.coefficients, 2, self.threads)
        assert sums.hessian is not None
        self._independent(sums)
        hessian = sums.hessian + (precision if precision.ndim == 2 else np.diag(precision))
        return dataclasses.replace(found, sums=sums, hessian=hessian)

    def _pilot(self, mean: Floats, precision: Floats) -> tuple[Floats, Floats | None]:
        """Where to start: the estimate of a thinned table and its Hessian, if it has one; else the target's mean."""
        nothing = self._start(), None
        found: tuple[Floats, Floats | None] = nothing
        for few in self.rows.thinned() if self.settings.solver == "auto" and nothing[0].size <= WIDEST else ():
            (start, near), found = found, nothing
            if few.whole.rows < 20 * start.size:
                continue
            weight = few.whole.rows if few.whole.weights is None else float(few.whole.weights.sum())
            share = weight / self.found.survey.weight
            near = None if near is None else near * share
            try:
                guess = minimise(
                    self.loss, mean, precision * share, few, start=start, tolerance=1e-3, most=10, threads=self.threads,
                    near=near,
                )  # fmt: skip
            except (DataError, ValueError):
                continue
            # columns that say the same share a coefficient in many ways, of which the sample's is none to start from
            clear = guess.converged and not suspicious(guess.sums)
            if clear and guess.hessian is not None and condition(guess.hessian) >= EXACT:
                found = guess.coefficients, guess.hessian / share
        return found

    def _independent(self, sums: Sums) -> Any:
        """Which columns are no combinations of others, judged by the first Hessian; a prior makes all of them."""
        width = self.found.design.width
        if sums.hessian is None or sums.hessian.ndim != 2 or sums.hessian.shape[0] < width:
            return self.free
        if isinstance(self.settings.prior, GaussianPrior):
            return self.free
        gram = sums.hessian[:width, :width]
        if condition(gram) < EXACT:
            found = related(gram, self.found.design)
            self.aliases = found if len(found.dropped) else None
            self.free = np.isin(np.arange(width), found.kept)
        return self.free

    # -- the Gaussian --------------------------------------------------------------------------------------------------

    def _qr_pays(self) -> bool:
        width = self.found.design.width
        sparse = getattr(getattr(self.rows, "whole", None), "sparse", None) is not None
        far = getattr(self.rows, "far", False)  # what is on other machines is not brought here, so the Gram is taken
        return not sparse and not far and 2.0 * self.found.survey.rows * width * width <= QR_WORK

    def _by_qr(self) -> Regression:
        """Least squares through the triangle of the columns as they came."""
        design = self.found.design
        plain = rescaled(design, np.zeros_like(design.shift), np.ones_like(design.scale))
        rows = self.rows.recentred(plain)

        def blocks() -> Iterator[tuple[Floats, Floats, Floats | None]]:
            for shard in rows.shards():
                for tile in rows.block(shard).tiles():
                    x = tile.columns()
                    x = x if isinstance(x, np.ndarray) else x.toarray()
                    yield np.ascontiguousarray(x), tile.y if tile.offset is None else tile.y - tile.offset, tile.weights

        fit = least_squares(blocks, design.names, 0 if design.intercept else None)
        self.aliases = fit.collinear if len(fit.collinear.dropped) else None
        self.free = np.isin(np.arange(design.width), fit.kept)
        self.found, self.rows = dataclasses.replace(self.found, design=plain), rows
        count = self.found.survey.count
        variance = self._variance(fit.rss, count - fit.rank)
        flat = np.zeros(design.width)
        sums = Sums(fit.rss / 2, flat, None, fit.weight, fit.rss, 0.0)
        steps = (Step(1, fit.rss / 2, 0.0, 1.0),)
        solver = f"least squares by QR{', refined in double-doubles' if fit.refined else ''}"
        minimum = Minimum(fit.coefficients, sums, None, True, solver, steps)
        return self._gathered(plain, minimum, flat, variance, bread=fit.covariance)

    def _variance(self, rss: float, spare: float) -> float:
        """The noise's: as told, or Σ w (y - mean)² / (rows - coefficients)."""
        if self.settings.variance is not None:
            return self.settings.variance
        return rss / spare if spare > 0 else np.nan

    def _linear(self, design: Design, mean: Floats, precision: Floats) -> tuple[Minimum, float]:
        """The Gaussian by its Gram, perhaps with a prior; the noise's variance is found with the coefficients.

        Under a prior the divisor is rows less the coefficients that the data determine, Σ of how much of each one's
        precision comes from them (MacKay 1992): without a prior, rows less coefficients.
        """
        settings, count = self.settings, self.found.survey.count
        solver = functools.partial(
            minimise, Squared(), mean, source=self.rows, start=self._start(), free=self._independent,
            solver=settings.solver, tolerance=settings.tolerance, most=settings.most, rate=settings.rate,
            threads=self.threads,
        )  # fmt: skip
        if not isinstance(settings.prior, GaussianPrior):
            found = self._curved(solver(prior_precision=precision), precision)
            rank = int(self.free.sum())
            return found, self._variance(2 * found.sums.cost, count - rank)
        variance = settings.variance
        if variance is None:
            variance = noise(self.found, self.rows, self._start(), mean, precision, self.threads)
        found = self._curved(solver(prior_precision=precision * variance), precision * variance)
        return found, variance

    # -- gathering -----------------------------------------------------------------------------------------------------

    def _gathered(
        self, design: Design, minimum: Minimum, precision: Floats, dispersion: float, bread: Floats | None = None
    ) -> Regression:
        settings, found, survey = self.settings, self.found, self.found.survey
        outputs, width = self.loss.outputs, design.width
        free = np.tile(self.free, outputs)
        if bread is None and minimum.hessian is not None:
            bread = inference.inverse(minimum.hessian, free)
        verdict = self._separation(minimum, bread)
        rank = int(free.sum())
        spread = None
        if bread is not None:
            if settings.errors == "model":
                spread = bread * dispersion
            else:
                spread = inference.sandwich(
                    bread, self.rows, self.loss, minimum.coefficients, settings.errors, survey.count, rank, self.threads
                )
        null = null_cost(found, self.rows, self._start(), self.threads)
        totals = totals_of(found, settings, minimum, null, dispersion, rank)
        outside = design.unscaled(minimum.coefficients.reshape(width, outputs))
        if self.aliases is not None:
            outside[~self.free] = 0.0
        notes = notes_of(minimum, totals, settings.tolerance, self.aliases, verdict, bread, survey.rows)
        return Regression(
            found.plan.schema,
            design,
            settings,
            found.plan.roles,
            found.labels,
            outside[:, 0] if outputs == 1 else outside,
            minimum.coefficients,
            spread,
            totals,
            tuple(design.names[j] for j in self.aliases.dropped) if self.aliases is not None else (),
            self.aliases.relations if self.aliases is not None else (),
            verdict.infinite if verdict is not None else np.zeros(0, np.int64),
            notes,
            minimum.steps,
        )

    def _separation(self, minimum: Minimum, bread: Floats | None) -> Separated | None:
        """Whether coefficients run to infinity, looked at where something suggests it."""
        if self.settings.family is Gaussian or self.settings.prior is not None:
            return None
        if self.judged:
            return self.verdict
        errors = 0.0 if bread is None else float(np.sqrt(np.nanmax(np.diag(bread), initial=0.0)))
        if minimum.converged and not suspicious(minimum.sums) and errors < 1e3:
            return None
        return separated(self.rows, self.found, self.threads)
