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
FAR, STEP = 1e100, 4.0  # of means without ends: how many scales out they are looked at, and in which steps
CELLS = 1 << 20  # nodes times arms, at once
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)


def best_shares(posterior: Any) -> Floats:
    """How probable it is of each arm that its mean is the highest; an arm of which nothing is known takes all.

    Two coins, one of which fell 6 heads in 10, the other 2 in 5:

    >>> best_shares(Beta(np.array([7, 3]), np.array([5, 4]))).round(4)
    array([0.7534, 0.2466])
    """
    unknown = np.atleast_1d(_unknown(posterior))
    if len(unknown) == 1:
        return np.ones(1)
    if unknown.any():
        return unknown / unknown.sum()
    if isinstance(posterior, NormalInverseGamma):
        posterior = _students(posterior)
        if not np.any(posterior.scale):  # every arm has always paid the same: there is nothing to be unsure of
            best = posterior.mean == posterior.mean.max()
            return best / best.sum()
    quantiles = _quantiles(posterior)
    low = quantiles[0].max()  # the best mean is above it, almost surely
    able = quantiles[-1] > low
    shares = np.zeros(len(able))
    if able.sum() == 1:
        return able.astype(float)
    cuts = np.unique(np.concatenate([_cuts(quantiles[:, able]), _ends(posterior, quantiles)]))
    cuts = cuts[cuts >= (low if low > 1e-3 or isinstance(posterior, StudentT) else 0.0)]
    wide = np.diff(cuts) > 1e-13 * np.abs(cuts[1:])  # between neighbouring doubles there is no room for nodes
    start, half = cuts[:-1][wide, None], np.diff(cuts)[wide, None] / 2
    x, weights = (start + half + half * NODES).ravel(), (half * WEIGHTS).ravel()
    some = posterior._each(lambda numbers: numbers[able])
    for nodes in np.array_split(np.arange(len(x)), -(-len(x) * int(able.sum()) // CELLS)):
        shares[able] += weights[nodes] @ (some.prob(x[nodes]) * _others(some.cdf(x[nodes, None])))
    last = some.cdf(cuts[-1:, None])
    shares[able] += ((1 - last) * _others(last))[0]  # one that is above all cuts
    return shares / shares.sum()


def _others(below: Floats) -> Floats:
    """The product of all others' probabilities, (places, arms), for each arm."""
    ones = np.ones((len(below), 1))
    before = np.cumprod(np.hstack([ones, below[:, :-1]]), axis=1)
    return np.asarray(before * np.cumprod(np.hstack([ones, below[:, :0:-1]]), axis=1)[:, ::-1])


def _quantiles(posterior: Any) -> Floats:
    """Of all arms, (breaks, arms); of means that may be anywhere, as far as their squares are numbers."""
    with np.errstate(over="ignore"):
        found = posterior.quantile(BREAKS[:, None])
    return np.clip(found, -FAR * posterior.scale, FAR * posterior.scale) if isinstance(posterior, StudentT) else found


def _ends(posterior: Any, quantiles: Floats) -> Floats:
    """Where means end; where they do not, steps on either side, as the tails of few rewards fall off by powers."""
    if not isinstance(posterior, StudentT):
        return np.array([0.0, 1.0] if isinstance(posterior, Beta) else [0.0])
    unit = float(posterior.scale.min())
    steps = unit * STEP ** np.arange(np.log(np.abs(quantiles).max() / unit) / np.log(STEP))
    return np.concatenate([-steps, steps])


def _cuts(quantiles: Floats) -> Floats:
    """The quantiles of all arms, each moved by an eighth of the way to its neighbours at most, so that arms share them.

    Else hundreds of arms would have each other's densities looked at around the quantiles of every one of them.
    """
    apart = np.diff(quantiles, axis=0, prepend=-np.inf, append=np.inf)
    way = np.minimum(apart[1:], apart[:-1])
    grain = np.exp2(np.floor(np.log2(np.where(way > 0, way, 1.0))) - 2)
    return np.where(way > 0, np.rint(quantiles / grain) * grain, quantiles).ravel()


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
