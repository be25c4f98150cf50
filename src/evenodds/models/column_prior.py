"""What is known of each column's parameters before its rows: a prior that was told, or one of the model's strength."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenodds.families import Dirichlet
from evenodds.families.smoothing import WEAK, PriorKind, auto_smoothing
from evenodds.models.estimated import counts_of, family_of
from evenodds.schema import Column

if TYPE_CHECKING:
    from evenodds.models.naive_bayes import Model


def column_prior(model: Model, name: str) -> Any:
    """The prior of a column's parameters: its own, or formed from the pooled data."""
    column = model.schema.features[name]
    if column.prior is not None:
        return column.prior
    family, strength = family_of(column), model.smoothing(name)
    if prior_kind(model, column) == "flat":
        return family.flat_prior(strength)
    return family.pooled_prior(model.column_tally(name), strength, column)


def prior_kind(model: Model, column: Column) -> PriorKind:
    """Whether a column's prior is made of pseudo-rows of all classes, or of a pseudo-count for every value."""
    return model.settings.prior if column.words is None else column.words.prior


def strengths(model: Model) -> dict[str, float]:
    """How many pseudo-rows each column's prior is worth."""
    found = {}
    for name, column in model.schema.features.items():
        wanted = model.settings.smoothing if column.smoothing is None else column.smoothing
        tally = model.column_tally(name)
        if wanted == "auto" and counts_of(tally).any():
            found[name] = auto_smoothing(family_of(column), tally, prior_kind(model, column), column)
        else:
            found[name] = WEAK if wanted == "auto" else float(wanted)
    return found


def unseen_strength(model: Model, name: str) -> tuple[float, PriorKind]:
    """What the prior of a column of categories gives a value that nobody has seen, and of which kind it is.

    A Dirichlet of one number gives that to every value; one that names its values gives others nothing.
    """
    column = model.schema.features[name]
    prior = column.prior
    if not isinstance(prior, Dirichlet):
        return model.smoothing(name), prior_kind(model, column)
    named = prior.labels is not None or np.ndim(prior.concentration) > 0
    return 0.0 if named else float(prior.concentration), "flat"
