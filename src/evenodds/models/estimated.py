"""What a model's tally says of each column: p(x_j | c), estimated under its settings and priors."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from evenodds.errors import DataError
from evenodds.families import Distribution, Family, WordCounts
from evenodds.families.leaves import Floats
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally

if TYPE_CHECKING:
    from evenodds.models.naive_bayes import Model


def estimated(model: Model) -> dict[str, Distribution]:
    """p(x_j | c) of every column that can tell classes apart, batched over the classes."""
    found = {}
    for name, column in sorted(model.schema.features.items()):  # so that the columns' order changes no bit
        family, tally = family_of(column), model.column_tally(name)
        if not counts_of(tally).any():
            continue
        try:
            if not family.informative(tally):
                continue
            if model.settings.estimate == "mle":
                found[name] = family.estimate(_filled(tally), "mle", None, column)
            else:
                found[name] = family.estimate(tally, model.settings.estimate, model.column_prior(name), column)
        except ValueError as error:
            raise DataError(f"column {name!r}: {error}") from None
        _check_spread(model, name, found[name])
        one = found[name]
        if isinstance(one, WordCounts) and model.settings.unseen == "prior" and model.settings.estimate != "mle":
            mass = WordCounts.unseen_weight(tally, model.column_prior(name), column)
            found[name] = dataclasses.replace(one, unseen=mass)
    return found


def _check_spread(model: Model, name: str, distribution: Distribution) -> None:
    """Refuse a density that is endless in one class because all its values there are the same."""
    if distribution.endless.any():
        where, family = model.classes[int(np.argmax(distribution.endless))], family_of(model.schema.features[name])
        raise DataError(
            f"column {name!r}: all values of class {str(where)!r} are the same, so its {family.__name__} has no width; "
            f"use prior='pooled' (and no 'mle'){', or ' + family.wider if family.wider else ''}"
        )


def family_of(column: Column) -> type[Family]:
    """The family of a feature."""
    assert column.family is not None
    return column.family


def counts_of(tally: Tally) -> Floats:
    """How many values one column has in each class."""
    for counts in tally.lists.values():
        return np.asarray(counts.documents, float)
    for name, spec in tally.layout.specs.items():
        if not spec.is_sum:
            return np.asarray(tally[name].sum(axis=0), float)
    return np.zeros(len(tally.groups))


def _filled(tally: Tally) -> Tally:
    """The tally with every class that has no values of its own given all classes' values: it can say nothing new."""
    empty = np.flatnonzero(counts_of(tally) == 0)
    if not len(empty):
        return tally
    pooled, leaves = tally.pooled(), {}
    for name in tally.layout.specs:
        axis, numbers, is_sum = tally.leaf(name)
        numbers = numbers.copy()
        numbers[..., empty] = pooled.leaf(name).numbers
        leaves[name] = Leaf(axis, numbers, is_sum)
    lists = {}
    for name, counts in tally.lists.items():
        everything = counts.grouped(1, np.zeros(len(tally.groups), np.int64))
        lists[name] = sum((everything.grouped(len(tally.groups), np.array([at])) for at in empty), counts)
    return Tally.of(tally.groups, leaves, lists)
