"""A few Gaussians, mixed, from places that weigh something: EM, from quantiles on.

    share out   r_bk ∝ weight_k N(place_b; mean_k, variance_k) exp(-slack_b / (2 variance_k))
    estimate    weight_k, mean_k and variance_k of the places, each weighing count_b r_bk; and the mean slack with it

A value is known only to within a variance `slack_b`, so no bell is narrower than that, and what is climbed has a bound:

    Σ_b count_b log Σ_k weight_k N(place_b; mean_k, variance_k) exp(-slack_b / (2 variance_k))

is the expected log of each bell's density over a value's whereabouts. It never falls from one step to the next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenodds.families.leaves import Floats
from evenodds.families.normal_gamma import LOG_2PI
from evenodds.logs import log_sum

MOST = 5  # bells that are tried where BIC may choose
STEPS = 100
TOLERANCE = 1e-5  # nats a row: a step that gains less is the last


@dataclass(frozen=True, eq=False)
class Bells:
    """Weights, means and variances (k,), the shares (places, k) they were estimated from, and what was climbed."""

    weights: Floats
    means: Floats
    variances: Floats
    slack: Floats  # the part of each variance that is there because values are known only so well
    shares: Floats
    trace: tuple[float, ...]

    @staticmethod
    def of(shares: Floats, places: Floats, slack: Floats, counts: Floats, trace: tuple[float, ...] = ()) -> Bells:
        """What shares of the places estimate; a bell without any is left out."""
        mass = counts[:, None] * shares
        total = mass.sum(axis=0)
        if not total.all():
            return Bells.of(shares[:, total > 0], places, slack, counts, trace)
        means, known = places @ mass / total, slack @ mass / total
        variances = (np.square(places[:, None] - means) * mass).sum(axis=0) / total + known
        return Bells(total / total.sum(), means, variances, known, shares, trace)

    def shared_out(self, places: Floats, slack: Floats, counts: Floats) -> tuple[Floats, float]:
        """Each place's shares of the bells, and what is climbed."""
        apart = np.square(places[:, None] - self.means) + slack[:, None]
        logs = np.log(self.weights) - 0.5 * (LOG_2PI + np.log(self.variances)) - 0.5 * apart / self.variances
        whole = log_sum(logs)
        return np.exp(logs - whole[:, None]), float(counts @ whole)


def fitted(places: Floats, slack: Floats, counts: Floats, k: int) -> Bells:
    """So many bells, or fewer where values are too few to start them: EM from parts of equal mass on."""
    middle = np.cumsum(counts) - counts / 2
    part = np.minimum((k * middle / counts.sum()).astype(np.int64), k - 1)
    bells = Bells.of((part[:, None] == np.arange(k)).astype(float), places, slack, counts)
    while True:
        shares, objective = bells.shared_out(places, slack, counts)
        trace = (*bells.trace, objective)
        done = len(trace) > 1 and trace[-1] - trace[-2] <= TOLERANCE * counts.sum()
        bells = Bells.of(shares, places, slack, counts, trace)
        if done or len(trace) == STEPS or bells.shares.shape[1] == 1:
            return bells


def chosen(places: Floats, slack: Floats, counts: Floats, k: int | None) -> Bells:
    """So many bells, or as many as have the least BIC: (3k - 1) log n - 2 · what is climbed.

    >>> at, n = np.array([-1.0, 0.0, 1.0, 9.0, 10.0, 11.0]), np.array([20.0, 50.0, 20.0, 10.0, 30.0, 10.0])
    >>> chosen(at, np.full(6, 0.1), n, None).means.round(6)
    array([ 0., 10.])
    """
    if k is not None:
        return fitted(places, slack, counts, k)
    best, least, worse = None, math.inf, 0
    for many in range(1, MOST + 1):
        bells = fitted(places, slack, counts, many)
        price = (3 * len(bells.weights) - 1) * math.log(max(counts.sum(), 2.0)) - 2 * bells.trace[-1]
        if price < least:
            best, least, worse = bells, price, 0
        else:
            worse += 1
        if worse == 2:  # three humps may look like one wide one to two bells
            break
    assert best is not None
    return best
