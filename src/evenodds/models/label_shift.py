"""New class shares: how often each class occurs among rows whose classes are not known.

If only the shares changed and p(x | c) did not, then of every row

    p'(c | x)  ∝  p(c | x) · share'(c) / share(c)

and the shares that make the rows most probable are found by taking the mean of p' again and again (Saerens, Latinne
and Decaestecker 2002). How well they are known is read off the curvature of that likelihood.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenodds.errors import DataError
from evenodds.families.leaves import Floats

if TYPE_CHECKING:
    from evenodds.models.naive_bayes import Model

STEPS, CLOSE = 10_000, 1e-10
WIDEST = 0.15  # standard error of a share, from which on the rows say too little of it


class Balance(NamedTuple):
    """The classes' shares among new rows, and their standard errors."""

    shares: Floats
    errors: Floats
    steps: int


def new_balance(log_p: Floats, log_prior: Floats) -> Balance:
    """The shares under which rows with log p(c | x) under the old shares are most probable.

    >>> log_p = np.log([[0.9, 0.1]] * 62 + [[0.2, 0.8]] * 38)
    >>> found = new_balance(log_p, np.log([0.5, 0.5]))
    >>> found.shares.round(3), found.errors.round(3)
    (array([0.779, 0.221]), array([0.071, 0.071]))
    """
    if not len(log_p):
        raise DataError("there are no rows to adapt to")
    known = log_prior > -np.inf
    odds = log_p[:, known] - log_prior[known]
    ratio = np.exp(odds - odds.max(axis=1, keepdims=True))  # p(x | c), up to a factor of the row
    shares = np.exp(log_prior[known])
    steps, moved = 0, 1.0
    while moved >= CLOSE and steps < STEPS:
        joint = ratio * shares
        new = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
        moved, shares, steps = float(np.abs(new - shares).max()), new, steps + 1
    found, errors = np.zeros(len(log_prior)), np.zeros(len(log_prior))
    found[known], errors[known] = shares, _errors(ratio, shares)
    return Balance(found, errors, steps)


def _errors(ratio: Floats, shares: Floats) -> Floats:
    """Standard errors from the observed information of the shares that are free: all but the largest."""
    last = int(np.argmax(shares))
    free = [c for c in range(len(shares)) if c != last]
    slope = (ratio[:, free] - ratio[:, [last]]) / (ratio @ shares)[:, None]
    information = slope.T @ slope
    errors = np.full(len(shares), np.inf)
    if not free or np.linalg.matrix_rank(information) < len(free):
        return np.zeros(len(shares)) if not free else errors
    covariance = np.linalg.inv(information)
    errors[free] = np.sqrt(np.diag(covariance))
    errors[last] = np.sqrt(covariance.sum())
    return errors


def adapted(model: Model, log_p: Floats) -> tuple[Model, Balance]:
    """The model under the class shares of new rows, of which it says log p(c | x); refused where they tell too little.

    A temper believes the prior only so far: the shares are then set so that it says the new ones.
    """
    names, old = model.names, model.log_prior
    found = new_balance(log_p, old)
    check(found, names)
    believed = 1.0 if model.temper is None else model.temper.prior
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(found.shares > 0, (np.log(found.shares) - old) / believed, -np.inf)
    shares = np.exp(old + moved)
    return model.set(class_prior=dict(zip(names, (shares / shares.sum()).tolist()))), found


def check(balance: Balance, classes: list[str]) -> None:
    """Refuse shares that the rows say next to nothing of."""
    worst = int(np.argmax(balance.errors))
    if not balance.errors[worst] <= WIDEST:
        wide = f"{balance.errors[worst]:.2f}" if np.isfinite(balance.errors[worst]) else "unbounded"
        raise DataError(
            f"these rows do not tell how often {classes[worst]!r} occurs (standard error {wide}): the model hardly "
            "tells the classes apart on them, or they are too few; give more rows, or keep the old shares"
        )
