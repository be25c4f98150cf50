"""How wide the kernels are: a number, or a rule that reads it off the points.

    silverman  0.9 · A · n^(-1/5), A the smaller of the standard deviation and the interquartile range / 1.34
    scott      1.06 · A · n^(-1/5)
    sj         Sheather and Jones (1991): the curvature that matters is estimated, not taken from a Gaussian
    isj        Botev, Grotowski and Kroese (2010): the same without any Gaussian in it, for several humps
    loo        the most probable points, each left out in turn: Σ log f without i (x_i)

n is Σ w: a weight of 2 is a value that is there twice. All but "loo" are for the Gaussian kernel; other kernels have
them wider, so as to be as smooth (`Shape.spread`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from evenodds.arguments import is_number
from evenodds.errors import DataError
from evenodds.families.density import binning, sums
from evenodds.families.density.points import Points, Sums
from evenodds.families.density.shapes import Bell, Shape
from evenodds.families.leaves import Floats
from evenodds.schema import RULES

IQR = 1.34  # of a Gaussian, in standard deviations, as Silverman (1986) rounds it
FINE, FINEST, PLACES = 200, 4000, 1_000_000  # places of a grid in one bandwidth, at least and at most; by all points
FEW = 256  # different values, up to which all pairs of them are soon counted without a compiler
GRID = 1 << 14  # places of Botev's grid, at least
LARGEST_GRID = 1 << 20
STAGES = 7
PATIENCE = 5  # halvings of a bandwidth, none of which is better


def bandwidth_of(rule: float | str, points: Points, shape: Shape | Bell) -> float:
    """The bandwidth: the number itself, or what a rule makes of the points."""
    if isinstance(rule, str):
        if rule not in RULES:
            raise ValueError(f"bandwidth={rule!r}: expected a number or one of {', '.join(map(repr, RULES))}")
        if len(points.x) < 2:
            raise DataError(f"bandwidth={rule!r}: all values are {points.x[0]:g}, which has no width; give a number")
        unit = 2.0 ** math.floor(math.log2(scale_of(points)))  # so that no power of a bandwidth is too large or small
        points = points.over(unit)
        if not math.isfinite(points.x[-1] - points.x[0]):
            raise DataError(f"bandwidth={rule!r}: the values lie too far apart for it; give a number")
        if rule == "loo":
            return leave_one_out(points, shape) * unit
        found = {"scott": scott, "silverman": silverman, "sj": sheather_jones, "isj": botev}[rule](points)
        return found * shape.spread * unit
    if not is_number(rule, above=0):
        raise ValueError(f"bandwidth={rule!r}: expected a number above 0, or one of {', '.join(map(repr, RULES))}")
    return float(rule)


def scott(points: Points) -> float:
    """1.06 · A · n^(-1/5)."""
    return 1.06 * scale_of(points) * points.total**-0.2


def silverman(points: Points) -> float:
    """0.9 · A · n^(-1/5)."""
    return 0.9 * scale_of(points) * points.total**-0.2


def scale_of(points: Points, iqr: float = IQR) -> float:
    """The smaller of the standard deviation and the interquartile range, as a Gaussian's standard deviation."""
    if points.total <= 1:
        raise DataError(f"the weights add up to {points.total:g}: a weight counts rows, and a rule needs more than one")
    deviation = math.sqrt(points.over(points.scale).moments[1]) * points.scale
    deviation *= math.sqrt(points.total / (points.total - 1))
    between = (points.quantile(0.75) - points.quantile(0.25)) / iqr
    return min(deviation, between) if between > 0 else deviation


def sheather_jones(points: Points) -> float:
    """The h of its own equation: h = (∫K² / (n ∫f''²))^(1/5), f'' estimated at a width that follows from h.

    R's `bw.SJ` counts pairs of points by their distance in 1/1000 of the range; here in a part of the bandwidth, so
    that one far point does not blur all others.

    >>> from evenodds.families.density.points import Points
    >>> round(sheather_jones(Points.of(np.linspace(0, 1, 96))), 4)
    0.111
    """
    n, scale = points.total, scale_of(points, 1.349)
    widest = 1.144 * scale * n**-0.2
    first, second = 1.24 * scale * n ** (-1 / 7), 1.23 * scale * n ** (-1 / 9)
    step = widest / min(max(PLACES / len(points.x), FINE), FINEST)
    lags = lag_counts(points, step, math.ceil(sums.FAR * 1.5 * max(first, second) / step))
    curve = functional(lags, step, second, n, 6)
    if curve >= 0:
        raise DataError("bandwidth='sj': the values are too sparse for it; use 'silverman'")
    ratio = 1.357 * (functional(lags, step, first, n, 4) / -curve) ** (1 / 7)

    def equation(h: float) -> float:
        roughness = functional(lags, step, ratio * h ** (5 / 7), n, 4)
        return float((1 / (2 * math.sqrt(math.pi) * n * roughness)) ** 0.2 - h) if roughness > 0 else math.inf

    return _root(equation, widest, "sj")


def lag_counts(points: Points, step: float, lags: int) -> Floats:
    """Σ w_i w_j over pairs that are so many steps apart, both orders; what is further apart is not counted."""
    gaps = np.minimum(np.diff(points.x) / step, 2.0 * lags)
    places = np.rint(np.concatenate([[0.0], np.cumsum(gaps)])).astype(np.int64)
    first = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
    counts = np.zeros(lags)
    count = binning.pair_counts.compiled if len(first) > FEW else binning.pair_counts
    count(places[first], np.add.reduceat(points.weights, first), counts)
    counts[1:] *= 2
    return counts


def functional(lags: Floats, step: float, width: float, n: float, order: int) -> float:
    """Σ_ij w_i w_j φ⁽ʳ⁾((x_i - x_j)/width) / (n (n-1) width^(r+1)), an estimate of ∫ f⁽ʳ⁾ f."""
    u = np.arange(len(lags)) * (step / width)
    square = np.square(u[u <= sums.FAR])
    hermite = (square - 6) * square + 3 if order == 4 else ((square - 15) * square + 45) * square - 15
    total = float((lags[: len(square)] * np.exp(-0.5 * square) * hermite).sum())
    return total / (sums.ROOT_TAU * n * (n - 1) * width ** (order + 1))


def botev(points: Points) -> float:
    """The improved Sheather-Jones bandwidth: the fixed point of seven stages, each of which smooths for the next.

    The points on a grid, as cosines; smoothing by a Gaussian is then a factor e^(-k²π²t/2) of the k-th.
    """
    from scipy.fft import dct

    low, high = points.x[0], points.x[-1]
    near = silverman(points)
    reach = (high - low) * 1.2
    size = GRID
    while size < LARGEST_GRID and reach / size > near / 32:
        size *= 2
    if not reach / size <= near / 4:
        raise DataError("bandwidth='isj': some values lie too far out for a grid as fine as the others need; use 'sj'")
    bins = np.zeros(size)
    step = reach / size
    binning.linear_bins(points.x, points.weights / points.total, low - reach / 12 + step / 2, step, bins)
    waves = np.square(dct(bins)[1:] / 2)
    squares = np.square(np.arange(1.0, size))

    def energy(stage: int, time: float) -> float:
        kept = squares[: math.ceil(min(size - 1, math.sqrt(700 / time) / math.pi))]  # beyond, e^-700
        terms = kept**stage * waves[: len(kept)] * np.exp(-kept * (math.pi**2 * time))
        return float(2 * math.pi ** (2 * stage) * terms.sum())

    def equation(h: float) -> float:
        time = (h / reach) ** 2
        found = energy(STAGES, time)
        for stage in range(STAGES - 1, 1, -1):
            if found <= 0:
                return math.nan
            odd = math.prod(range(1, 2 * stage, 2)) / sums.ROOT_TAU
            factor = (1 + 0.5 ** (stage + 0.5)) / 3
            found = energy(stage, (2 * factor * odd / points.total / found) ** (2 / (3 + 2 * stage)))
        return reach * (2 * points.total * math.sqrt(math.pi) * found) ** -0.2 - h if found > 0 else math.nan

    return _root(equation, near, "isj")


def _root(equation: Callable[[float], float], near: float, rule: str) -> float:
    """The largest h, around `near`, at which the equation falls through 0."""
    from scipy.optimize import brentq

    high, above = 0.0, math.nan
    for quarter in range(9, -25, -1):
        low = near * 2.0 ** (quarter / 4)
        below = equation(low)
        if above <= 0 < below < math.inf:
            return float(brentq(equation, low, high, xtol=near * 1e-12, rtol=1e-12))
        high, above = low, below
    raise DataError(f"bandwidth={rule!r}: its equation has no solution for these values; use 'silverman'")


def leave_one_out(points: Points, shape: Shape | Bell) -> float:
    """The h under which the points, each left out in turn, are most probable: halved while it pays."""
    from scipy.optimize import minimize_scalar

    if (points.weights >= 2).all():
        raise DataError(
            "bandwidth='loo': every value is there twice or more, so the narrower the better, without end; use 'sj'"
        )
    gaps = np.diff(points.x)
    alone = np.minimum(np.append(gaps, np.inf), np.append(np.inf, gaps))[points.weights < 2]
    least = float(alone.max()) * (1 + 1e-9) if isinstance(shape, Shape) else float(np.median(alone)) / 16
    widest = max(points.x[-1] - points.x[0], 2 * least)
    tried = np.geomspace(widest, least, max(3, math.ceil(math.log2(widest / least)) + 1))
    losses: list[float] = []
    for h in tried:
        losses.append(-log_likelihood(points, shape, float(h)))
        best = int(np.argmin(losses))
        if len(losses) > best + PATIENCE:
            break
    ends = np.log(tried[[min(best + 1, len(tried) - 1), max(best - 1, 0)]])
    found = minimize_scalar(
        lambda log_h: -log_likelihood(points, shape, math.exp(log_h)),
        bounds=(ends[0], ends[1]),
        method="bounded",
        options={"xatol": 1e-5},
    )
    return math.exp(found.x) if found.fun < losses[best] else float(tried[best])


def log_likelihood(points: Points, shape: Shape | Bell, h: float) -> float:
    """Σ w_i log f(x_i), one of the values at x_i taken out of f."""
    out = np.minimum(points.weights, 1.0)
    logs = Sums(points, shape, h).logs(points.x, np.arange(len(points.x)), out)
    return float(points.weights @ (logs - np.log(np.maximum(points.total - out, 0.0)) - math.log(h)))
