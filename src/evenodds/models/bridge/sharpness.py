"""How sharp scores should be: the factor that serves the rows held out.

A strong prior of the weights makes scores smaller than they should be, and a weak one makes weights noisier than
they need be. A factor on the scores takes the one from the other:

    log p(c | x)  ∝  factor · (scale · log p(c, x) by naive Bayes + features(x) · weights_c)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.models.bridge.correct import Symmetric

WIDTH = 0.5  # of the prior of the log of a factor
FARTHEST = 1.5  # log of one
CLOSE = 1e-4


def costs(score: Floats, y: NDArray[np.int64]) -> Floats:
    """-log p of each row's class."""
    return Symmetric(score.shape[1]).gradient(score, y)[0]


def sharpest(score: Floats, y: NDArray[np.int64], weights: Floats) -> tuple[float, float]:
    """The factor under which the rows' classes are most probable, and their mean cost then.

    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(size=4000)
    >>> y = (rng.random(4000) < 1 / (1 + np.exp(-2 * log_odds))).astype(np.int64)
    >>> factor, _ = sharpest(np.stack([0 * log_odds, log_odds], axis=1), y, np.ones(4000))
    >>> round(factor, 1)
    2.0
    """

    def cost(log: float) -> float:
        return float(weights @ costs(np.exp(log) * score, y)) + 0.5 * (log / WIDTH) ** 2

    log = _least(cost, -FARTHEST, FARTHEST)
    return float(np.exp(log)), float(weights @ costs(np.exp(log) * score, y) / weights.sum())


def moderated(said: list[tuple[float, Floats]], weights: Floats) -> float:
    """The factor, at most 1, that brings the mean of candidates' scores nearest to the mean of their probabilities.

    `said` has each candidate's share and its scores of the rows held out.
    """
    mean = np.sum([share * score for share, score in said], axis=0)
    loss = Symmetric(mean.shape[1])
    p = np.sum([share * loss.mean(score) for share, score in said], axis=0)

    def apart(factor: float) -> float:
        score = factor * mean
        return float(weights @ (loss.total(score) - (p * score).sum(axis=1)))

    return _least(apart, 0.0, 1.0)


def _least(cost: Any, low: float, high: float) -> float:
    from scipy.optimize import minimize_scalar

    return float(minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": CLOSE}).x)
