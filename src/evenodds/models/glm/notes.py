"""What the fit was like: in numbers, and in sentences where a person should know something."""

from __future__ import annotations

import numpy as np

from evenodds.errors import many, remedy, several, warn
from evenodds.families import Gaussian
from evenodds.models.algebra.collinear import Collinear
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.problem import Minimum
from evenodds.models.glm.separated import Separated
from evenodds.models.glm.settings import RegressionSettings, Totals
from evenodds.models.glm.survey import Found

RELATIONS = 5  # that a sentence tells; the model has all of them


class RegressionWarning(UserWarning):
    """Something about a fit that a person should know: columns that say the same, classes that are separated."""


def notes_of(
    minimum: Minimum,
    totals: Totals,
    tolerance: float,
    aliases: Collinear | None,
    verdict: Separated | None,
    bread: Floats | None,
    rows: int,
) -> tuple[str, ...]:
    """What a person should know, warned about too."""
    found: list[str] = []
    if aliases:
        found.append(_nothing_new(aliases, rows))
    if verdict is not None:
        found.append(verdict.sentence)
    elif not totals.converged:
        found.append(
            f"not converged after {totals.steps} steps: the slope is {totals.slope:.1e}, the tolerance "
            f"{tolerance:g}; "
            + remedy("allow more steps (max_iter=), or choose another solver", "a --prior makes it converge sooner")
        )
    if bread is None:
        found.append(f"no standard errors: the Hessian of {minimum.coefficients.size:,} coefficients is not formed")
    elif verdict is None and totals.rank and np.isnan(bread).all():
        found.append(
            "no standard errors: some columns say the same as far as doubles tell, and the prior is too weak to tell "
            "them apart; leave one out, or give a stronger prior"
        )
    for sentence in found:
        warn(sentence, RegressionWarning)
    if gone := totals.dropped_rows:
        found.append(f"{many(gone, 'row')} with missing cells {'were' if gone > 1 else 'was'} left out")
    return tuple(found)


def _nothing_new(aliases: Collinear, rows: int) -> str:
    """Which columns are left out, and why: by what relation, or because the rows are too few for so many."""
    out = [f"`{aliases.names[j]}`" for j in aliases.dropped]
    if aliases.rank >= rows:
        enough = f"{many(rows, 'row')} {'tell' if rows > 1 else 'tells'} at most {many(rows, 'coefficient')}"
        return f"{enough}, not {len(aliases.names):,}: {several(out)} left out; a Gaussian prior on them keeps them"
    more = len(out) > 1
    return (
        f"{several(aliases.relations, RELATIONS, '; ')}: the column{'s say' if more else ' says'} nothing new and "
        f"{'are' if more else 'is'} left out; a Gaussian prior on {'them keeps them' if more else 'it keeps it'}"
    )


def totals_of(
    found: Found, settings: RegressionSettings, minimum: Minimum, null: float, dispersion: float, rank: int
) -> Totals:
    """What the fit was like, in numbers."""
    survey, cost = found.survey, minimum.sums.cost
    if settings.family is Gaussian:
        n, rss = survey.count, 2 * cost
        variance = settings.variance if settings.variance is not None else rss / n
        with np.errstate(divide="ignore"):
            log = float(-0.5 * n * np.log(2 * np.pi * variance) - (0.5 * rss / variance if variance else 0.0))
    else:
        log = -(cost + survey.fixed)
    last = minimum.steps[-1]
    return Totals(
        survey.count,
        rank,
        log,
        max(2 * (cost - survey.least), 0.0),
        max(2 * (null - survey.least), 0.0),
        minimum.sums.pearson,
        float(dispersion),
        last.cost,
        last.slope,
        len(minimum.steps) - 1 if len(minimum.steps) > 1 else 1,
        minimum.solver,
        minimum.converged,
        survey.dropped,
    )
