"""The probabilities of the classes before any column is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evenodds.errors import DataError
from evenodds.families import Dirichlet
from evenodds.families.leaves import Floats
from evenodds.labels import Fixed, Labels
from evenodds.tally import Leaf, Tally

if TYPE_CHECKING:
    from evenodds.models.naive_bayes import Model


def log_prior(model: Model) -> Floats:
    """log p(c) of each class: its share of the rows, or what was told instead."""
    if not len(model.classes):
        raise DataError("the model has seen no rows yet")
    prior, counts = class_prior(model), model.class_masses
    if prior == "estimated":
        shares = counts / counts.sum()
    elif prior == "uniform":
        shares = np.full(len(counts), 1 / len(counts))
    elif isinstance(prior, Dirichlet):
        shares = counts + pseudo_rows(prior, model.names, counts)
        shares = shares / shares.sum()
    else:
        shares = _given(prior, model.names)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


def class_prior(model: Model) -> Any:
    """The setting; "auto" becomes "uniform" where a column of text is told by the words of the other classes.

    What those say is no likelihood, and outweighs or is outweighed by a prior at random.
    """
    told = model.settings.class_prior
    if told != "auto":
        return told
    return "uniform" if any(words.events == "complement" for words in model.schema.texts.values()) else "estimated"


def pseudo_rows(prior: Dirichlet, classes: list[str], counts: Floats) -> Floats:
    """What a Dirichlet adds to the rows of each class."""
    labels, place = Labels.coded(classes)
    ordered = np.zeros((2, len(labels), 1))
    ordered[0, place, 0] = counts
    posterior = prior + Tally.of(Fixed(1), {("class", "labels"): Leaf(labels, ordered)})
    assert posterior.labels is not None
    known: Floats = np.asarray(posterior.concentration)[posterior.labels.find(labels.keys)][place]
    return known - counts


def _given(prior: Any, classes: list[str]) -> Floats:
    if isinstance(prior, Mapping):
        missing = [name for name in classes if name not in prior]
        if missing:
            raise ValueError(f"class_prior has no probability for class {missing[0]!r}")
        prior = [prior[name] for name in classes]
    shares = np.asarray(prior, float)
    if shares.shape != (len(classes),):
        raise ValueError(f"class_prior has {len(shares)} probabilities for {len(classes)} classes")
    if np.any(shares < 0) or not np.isclose(shares.sum(), 1.0):
        raise ValueError(f"class_prior adds up to {shares.sum():g}: expected probabilities that add up to 1")
    return np.asarray(shares / shares.sum())
