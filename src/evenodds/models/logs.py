"""Sums of probabilities that are held as logs: none overflows, and what is impossible stays so."""

from __future__ import annotations

import numpy as np

from evenodds.errors import many, warn
from evenodds.families.leaves import Floats


def normalise(joint: Floats, log_prior: Floats) -> Floats:
    """joint - logsumexp(joint) over the classes, (classes, rows), in place.

    A row that is impossible in every class is left with the class prior, (classes,) or each row's own.
    """
    return log_shares(joint, made_possible(joint, log_prior))


def made_possible(joint: Floats, log_prior: Floats) -> Floats:
    """The prior, in place, for rows that are impossible in every class; what is returned is each row's largest."""
    top = np.maximum.reduce(joint)  # the methods max and sum take longer to start than a short message to weigh
    if np.fmin.reduce(top, initial=0.0) == -np.inf:
        impossible = top == -np.inf
        prior = log_prior[:, None] if log_prior.ndim == 1 else log_prior[:, impossible]
        joint[:, impossible] = prior
        top[impossible] = prior.max(axis=0)
        warn(
            f"{many(impossible.sum(), 'row')} impossible in every class (a probability of 0 was estimated): "
            "the answer is the class prior; smoothing above 0 avoids this",
            UserWarning,
        )
    return np.asarray(top)


def log_shares(joint: Floats, top: Floats) -> Floats:
    """The same, given each row's largest, where every row is possible in some class.

    >>> np.exp(log_shares(np.log([[1.0], [3.0]]), np.log([3.0]))).round(3).ravel()
    array([0.25, 0.75])
    """
    joint -= top
    joint -= np.log(np.add.reduce(np.exp(joint)))
    return joint


def log_sum(joint: Floats) -> Floats:
    """log Σ e^x over the last axis; -inf where all are.

    >>> log_sum(np.log([[1.0, 3.0], [0.25, 0.75]])).round(3)
    array([1.386, 0.   ])
    """
    top = joint.max(axis=-1, initial=-np.inf)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(np.isfinite(top), safe + np.log(np.exp(joint - safe[..., None]).sum(axis=-1)), top))
