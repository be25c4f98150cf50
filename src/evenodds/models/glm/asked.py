"""What a regression is asked: which columns of a source are what, and whether that goes together."""

from __future__ import annotations

from typing import Any

from evenodds.cells import codes, target_kind
from evenodds.data.decide import decide
from evenodds.data.source import Memory, Source, no_column
from evenodds.errors import DataError, remedy, warn
from evenodds.families import Bernoulli, Categorical, Gaussian, Poisson, WordCounts
from evenodds.models.glm.plan import Roles
from evenodds.models.glm.settings import RegressionSettings
from evenodds.schema import Column, Schema, SchemaWarning


def schema_of(source: Source, roles: Roles, columns: Any) -> Schema:
    """What each column is, decided from the first rows, as in naive Bayes; a number is taken as it is."""
    sample = source.table if isinstance(source, Memory) else source.sample()
    for name in roles.names:
        if name not in sample.columns:
            raise no_column(source, name, sample.columns)
    kind = target_kind(sample[roles.target])
    features = sample.without(*roles.names)
    if not features.columns:  # the intercept alone
        return Schema({}, roles.target, kind)
    from evenodds.models.learn import as_told

    decided = decide(features if isinstance(source, Memory) else as_told(features, columns), columns, Gaussian)
    for name, how in decided.items():
        if how.family is WordCounts:
            if isinstance(columns, dict) and name in columns:
                raise DataError(f"column {name!r}: a regression takes numbers and categories, not text")
            warn(f"column {name!r} is text: left out", SchemaWarning)
            decided[name] = Column(role="ignore")
    if all(how.role == "ignore" for how in decided.values()):
        raise DataError("no column is left to regress on: text is for NaiveBayes and NaiveLogistic")
    return Schema(decided, roles.target, kind)


def likely_family(source: Source, roles: Roles) -> type[Gaussian | Bernoulli | Categorical | Poisson]:
    """The output distribution of a target of which nothing was told: two values are a yes or no, texts are classes,
    what has an exposure is a count, what has trials a number of successes; any other number is a number.

    >>> from evenodds.data.memory import table
    >>> likely_family(Memory(table([{"ill": "yes"}, {"ill": "no"}])), Roles("ill")).__name__
    'Bernoulli'
    """
    if roles.exposure is not None or roles.trials is not None:
        return Poisson if roles.exposure is not None else Bernoulli
    sample = source.table if isinstance(source, Memory) else source.sample()
    if roles.target not in sample.columns:
        raise no_column(source, roles.target, sample.columns)
    raw = sample[roles.target]
    if len(codes(raw, f"{source.name}: the target {roles.target!r}").labels) == 2:
        return Bernoulli
    return Categorical if target_kind(raw) == "text" else Gaussian


def check_roles(roles: Roles, settings: RegressionSettings) -> None:
    """Refuse what has no meaning for the output distribution."""
    if roles.exposure is not None and settings.family is not Poisson:
        raise DataError("an exposure is for a Poisson target; of others, an offset is added to the score")
    if roles.trials is not None and settings.family is not Bernoulli:
        raise DataError("trials are for a Bernoulli target: a number of successes among them")
    if roles.trials is not None and settings.prior == "jeffreys":
        prior = remedy("prior='jeffreys'", "--prior jeffreys")
        raise DataError(f"{prior} takes rows of successes and failures, not trials: give each its own row")
    if roles.offset is not None and settings.family is Categorical:
        raise DataError("an offset has no meaning where there are several scores a row")
