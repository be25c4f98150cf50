"""Fitting classes and counts: by Newton's method or another, and asking whether there is an estimate at all.

Where there are many rows in memory, a first guess comes from a thinned table, which saves passes and changes nothing
but the time.
"""

from __future__ import annotations

import dataclasses

from evenodds.errors import DataError
from evenodds.models.glm.aliases import EXACT, condition
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.jeffreys import jeffreys
from evenodds.models.glm.minimise import WIDEST, minimise
from evenodds.models.glm.problem import renumbered
from evenodds.models.glm.separated import separated, suspicious, unsettled
from evenodds.models.glm.task import Fitted, Task

PATIENCE = 12  # Newton steps before separation is suspected


def by_jeffreys(task: Task) -> Fitted:
    """The Bernoulli under Jeffreys' prior."""
    columns, how = task.independent(), task.settings
    return Fitted(task, jeffreys(task.rows, task.start, columns, how.tol, how.max_iter, task.threads), columns)


def most_probable(task: Task) -> Fitted:
    """The highest point of the likelihood, or of the posterior, if there is one: a prior may leave columns loose.

    The linear program is asked where a score runs away or the next step would still move one: before more steps are
    taken, if many have been.
    """
    most, solve = task.settings.max_iter, task.solver(task.prior)
    columns, (start, near) = task.independent(), _pilot(task)
    found = solve(
        start=start, free=columns, most=most, near=near,
        stop=lambda sums, steps: steps >= min(PATIENCE, most) and suspicious(sums),
    )  # fmt: skip
    done = len(found.steps) - 1
    if not found.converged and suspicious(found.sums):
        verdict = separated(task.rows, task.found, task.loose, task.threads)
        if verdict is None and done < most:  # the minimum is far, but it is there
            rest = solve(start=found.coefficients, free=columns.free, most=most - done)
            found = dataclasses.replace(rest, steps=(*found.steps[:-1], *renumbered(rest.steps, done)))
        return Fitted(task, task.with_hessian(found, task.prior, columns), columns, verdict=verdict)
    found = task.with_hessian(found, task.prior, columns)
    doubtful = not found.converged or suspicious(found.sums) or unsettled(found, task.prior, task.found, columns.free)
    verdict = separated(task.rows, task.found, task.loose, task.threads) if doubtful else None
    return Fitted(task, found, columns, verdict=verdict)


def _pilot(task: Task) -> tuple[Floats, Floats | None]:
    """Where to start: the estimate of a thinned table and its Hessian, if it has one; else the target's mean."""
    nothing: tuple[Floats, Floats | None] = task.start, None
    found, prior = nothing, task.prior
    for few in task.rows.thinned() if task.settings.solver == "auto" and task.start.size <= WIDEST else ():
        (start, near), found = found, nothing
        if few.whole.rows < 20 * start.size:
            continue
        weight = few.whole.rows if few.whole.weights is None else float(few.whole.weights.sum())
        share = weight / task.found.survey.weight
        near = None if near is None else near * share
        try:
            guess = minimise(
                task.loss, prior.mean, prior.precision * share, few, start=start, tolerance=1e-3, most=10,
                threads=task.threads, near=near,
            )  # fmt: skip
        except (DataError, ValueError):
            continue
        # columns that say the same share a coefficient in many ways, of which the sample's is none to start from
        clear = guess.converged and not suspicious(guess.sums)
        if clear and guess.hessian is not None and condition(guess.hessian) >= EXACT:
            found = guess.coefficients, guess.hessian / share
    return found
