"""A regression fitted to any source: the columns typed, surveyed in one pass, and the coefficients found.

Which solver, unless one is told: least squares by QR for the Gaussian without a prior (of a very wide or long design by
its Gram); Newton's method where the Hessian can be held; L-BFGS where it cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.errors import DataError
from evenodds.families import Gaussian
from evenodds.models.alone import alone
from evenodds.models.glm import inference
from evenodds.models.glm.asked import check_roles, schema_of
from evenodds.models.glm.curved import by_jeffreys, most_probable
from evenodds.models.glm.linear import by_gram, by_qr, qr_pays
from evenodds.models.glm.notes import notes_of, totals_of
from evenodds.models.glm.null import null_cost
from evenodds.models.glm.plan import Plan, Roles
from evenodds.models.glm.regression import Regression
from evenodds.models.glm.settings import RegressionSettings
from evenodds.models.glm.survey import surveyed
from evenodds.models.glm.task import Fitted, Task
from evenodds.schema import Schema


def regress(
    source: Source,
    roles: Roles,
    settings: RegressionSettings,
    columns: Any = None,
    schema: Schema | None = None,
    threads: int | None = None,
) -> tuple[Regression, Report]:
    """The regression of a source's rows, and what was wrong with some of them."""
    decided = schema or schema_of(source, roles, columns)
    check_roles(roles, settings)
    plan = Plan(decided, roles, settings.family, settings.intercept, settings.missing, settings.reference)
    found, rows = surveyed(source, plan, threads)
    if not found.design.width:
        raise DataError("there is no column and no intercept: nothing to fit")
    with alone():
        return _gathered(_fitted(Task(found, rows, settings, threads))), found.report


def _fitted(task: Task) -> Fitted:
    """By the way that suits."""
    if task.settings.family is Gaussian:
        return by_qr(task) if qr_pays(task) else by_gram(task.for_solver())
    fit = by_jeffreys if task.settings.prior == "jeffreys" else most_probable
    return fit(task.for_solver())


def _gathered(fitted: Fitted) -> Regression:
    """The model, and what a person should know of it."""
    task, minimum, verdict = fitted.task, fitted.minimum, fitted.verdict
    found, settings, design, aliases = task.found, task.settings, task.design, fitted.columns.aliases
    outputs, width = task.loss.outputs, design.width
    free = np.tile(fitted.columns.free, outputs)
    rank, bread, spread = int(free.sum()), fitted.bread, fitted.robust
    if bread is None and minimum.hessian is not None:
        bread = inference.inverse(minimum.hessian, free)
    if bread is not None and settings.errors == "model":
        spread = bread * fitted.dispersion
    elif bread is not None and spread is None:
        spread = inference.sandwich(
            bread, task.rows, task.loss, minimum.coefficients, settings.errors, found.survey.weight, rank, task.threads
        )
    null = null_cost(found, task.rows, task.start, task.threads)
    totals = totals_of(found, settings, minimum, null, fitted.dispersion, rank)
    inside = minimum.coefficients.reshape(width, outputs)
    if aliases:  # what a solver has shared among columns that say the same goes to the kept ones
        inside = inside - aliases.null_space @ inside[aliases.dropped]
    outside = design.unscaled(inside)
    notes = notes_of(minimum, totals, settings.tol, aliases, verdict, bread, found.survey.rows)
    return Regression(
        found.plan.schema,
        design,
        settings,
        found.plan.roles,
        found.labels,
        outside[:, 0] if outputs == 1 else outside,
        inside[:, 0] if outputs == 1 else inside,
        spread,
        totals,
        tuple(aliases.dropped.tolist()) if aliases else (),
        aliases.relations if aliases else (),
        verdict.infinite if verdict is not None else np.zeros(0, np.int64),
        notes,
        minimum.steps,
    )
