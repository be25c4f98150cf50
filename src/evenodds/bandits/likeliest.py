"""The probability that each arm is the best one, given what is known of all of them.

P(a is best) = ∫ f_a(x) Π_{b≠a} F_b(x) dx, by Gauss and Legendre between the quantiles of all arms
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families import Beta, Gamma, NormalInverseGamma, StudentT

Floats = NDArray[np.float64]
TAILS = 10.0 ** -np.arange(1, 13)
BREAKS = np.concatenate([TAILS[::-1], [0.25, 0.5, 0.75], 1 - TAILS])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)


def best_shares(posterior: Any) -> Floats:
    """How probable it is of each arm that its mean is the highest; an arm of which nothing is known takes all.

    Two coins, one of which fell 6 heads in 10, the other 2 in 5:

    >>> best_shares(Beta(np.array([7, 3]), np.array([5, 4]))).round(4)
    array([0.7534, 0.2466])
    """
    unknown = _unknown(posterior)
    if unknown.any():
        return unknown / unknown.sum()
    if isinstance(posterior, NormalInverseGamma):
        posterior = _students(posterior)
        if not np.any(posterior.scale):  # every arm has always paid the same: there is nothing to be unsure of
            best = posterior.mean == posterior.mean.max()
            return best / best.sum()
    quantiles = posterior.quantile(BREAKS[:, None])  # (breaks, arms)
    low = quantiles[0].max()  # the best mean is above it, almost surely
    able = quantiles[-1] > low
    shares = np.zeros(len(able))
    if able.sum() == 1:
        return able.astype(float)
    ends = {Beta: [0.0, 1.0], Gamma: [0.0]}.get(type(posterior), [])
    cuts = np.unique(np.concatenate([quantiles[:, able].ravel(), ends]))
    cuts = cuts[cuts >= (low if low > 1e-3 or not ends else 0.0)]
    wide = np.diff(cuts) > 1e-13 * np.abs(cuts[1:])  # between neighbouring doubles there is no room for nodes
    start, half = cuts[:-1][wide, None], np.diff(cuts)[wide, None] / 2
    x = (start + half + half * NODES).ravel()
    weights = (half * WEIGHTS).ravel()
    some = posterior._each(lambda numbers: numbers[able])
    below, density = some.cdf(x[:, None]), some.prob(x)
    ones = np.ones((len(x), 1))
    before = np.cumprod(np.hstack([ones, below[:, :-1]]), axis=1)
    after = np.cumprod(np.hstack([ones, below[:, :0:-1]]), axis=1)[:, ::-1]
    shares[able] = weights @ (density * before * after)
    return shares / shares.sum()


def _unknown(posterior: Any) -> NDArray[np.bool_]:
    """Of which arms a mean cannot be drawn."""
    if isinstance(posterior, Beta):
        return np.zeros(np.shape(posterior.a), bool)
    if isinstance(posterior, Gamma):
        return ~((np.asarray(posterior.rate) > 0) & (np.asarray(posterior.shape) > 0))
    return ~((np.asarray(posterior.strength) > 0) & (np.asarray(posterior.shape) > 0))


def _students(known: NormalInverseGamma) -> StudentT:
    """The means' own distributions, with the largest at 0; an arm that has always paid the same is very narrow."""
    scale = np.sqrt(np.asarray(known.scale) / (known.shape * known.strength))
    mean = np.asarray(known.mean, float)
    return StudentT(2 * known.shape, mean - mean.max(), np.maximum(scale, 1e-9 * scale.max()))
