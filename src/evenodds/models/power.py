"""By how much evidence is multiplied so that rows' classes are told best: one number, or of texts two, in a few steps.

    scores = base + exponent · length^(-shrink) · evidence

The whole temper (`models.temper`) has a number for every text and class more; this is its inner step, while columns are
exchanged and the rest stays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.models.temper_problem import SHRINKING, WIDE, price, pull

CLOSE = 0.01  # nats, to which a power is found
STEPS = 20
SHORT = 1e-4  # a step of the log of an exponent


class Rows(NamedTuple):
    """The rows' classes, and how much each row counts."""

    y: NDArray[np.integer[Any]]
    weights: Floats

    @property
    def own(self) -> tuple[Any, Any]:
        """Where each row's own class is in an array (rows, classes)."""
        return np.arange(len(self.y)), self.y


def powers(power: Floats, logs: Floats | None) -> Any:
    """What evidence is multiplied by: an exponent, or of texts one with a power of their length."""
    return np.exp(power[0]) if logs is None else np.exp(power[0] - power[1] * (logs - logs.mean()))[:, None]


def believed(base: Floats, total: Floats, logs: Floats | None, rows: Rows, start: Floats) -> tuple[Floats, Floats]:
    """The rows' losses under base + power · total, with the power under which they are least; and that power.

    Fisher scoring: one number or two, a few steps. The prior of the power is that of `temper.fit`.
    """
    along = np.ones((len(total), 1)) if logs is None else np.stack([np.ones(len(total)), logs.mean() - logs], axis=1)
    k, widths = along.shape[1], np.array([WIDE, SHRINKING])

    def at(power: Floats) -> tuple[Floats, Floats, Floats]:
        term = powers(power, logs) * total
        scores = base + term
        scores -= scores.max(axis=1, keepdims=True)
        own = scores[rows.own]
        each = np.exp(scores, out=scores)
        sums = each.sum(axis=1)
        mean = np.einsum("ij,ij->i", each, term) / sums
        spread = np.einsum("ij,ij,ij->i", each, term, term) / sums - mean**2
        losses = rows.weights * (np.log(sums) - own)
        return (
            np.append(losses, price(power, widths).sum()),
            rows.weights * (mean - term[rows.own]),
            rows.weights * spread,
        )

    power, (losses, slope, bend) = start, at(start)
    for _ in range(STEPS):
        pulled = pull(power, widths)
        gradient = along.T @ slope + (pulled * power)[:k]
        hessian = along.T @ (along * bend[:, None]) + np.diag(pulled[:k])
        step = np.append(np.clip(np.linalg.solve(hessian, gradient), -2, 2), np.zeros(2 - k))
        found = at(power - step)
        while found[0].sum() > losses.sum() and np.abs(step).max() > SHORT:
            step = step / 4
            found = at(power - step)
        gained = float(losses.sum() - found[0].sum())
        if gained > 0:
            power, (losses, slope, bend) = power - step, found
        if gained < CLOSE:
            break
    return losses, power
