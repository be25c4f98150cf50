"""Sums of probabilities that are held as logs: none overflows, and what is impossible stays so."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import many, warn

Floats = NDArray[np.float64]


def normalise(joint: Floats, log_prior: Floats) -> tuple[Floats, int]:
    """joint - logsumexp(joint) over the classes, (classes, rows), in place; and how many rows were impossible.

    A row that is impossible in every class is left with the class prior, (classes,) or each row's own.
    """
    top, impossible = made_possible(joint, log_prior)
    return log_shares(joint, top), impossible


def made_possible(joint: Floats, log_prior: Floats) -> tuple[Floats, int]:
    """The prior, in place, for rows that are impossible in every class; each row's largest, and how many they were."""
    top = np.maximum.reduce(joint)  # the methods max and sum take longer to start than a short message to weigh
    if np.fmin.reduce(top, initial=0.0) != -np.inf:
        return np.asarray(top), 0
    impossible = top == -np.inf
    prior = log_prior[:, None] if log_prior.ndim == 1 else log_prior[:, impossible]
    joint[:, impossible] = prior
    top[impossible] = prior.max(axis=0)
    return np.asarray(top), int(impossible.sum())


def warn_of_impossible(rows: int) -> None:
    """Say how many rows were impossible, once for all blocks of them, and where the caller sees it."""
    if rows:
        warn(
            f"{many(rows, 'row')} impossible in every class (a probability of 0 was estimated): "
            "the answer is the class prior; smoothing above 0 avoids this",
            UserWarning,
        )


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
