"""Where EM starts: k rows, far from each other or not, each the middle of a component.

The rows are taken from sorted ones by points on the scale of their summed weights, so that neither their order nor
whether a row is counted twice or repeated makes a difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families import Gaussian, Poisson
from evenodds.families.leaves import Floats
from evenodds.labels import Ints
from evenodds.models.mixture import factors, normals
from evenodds.models.mixture.blocks import Block, known
from evenodds.models.mixture.em import Components
from evenodds.models.mixture.priors import Prior
from evenodds.models.mixture.settings import MixtureSettings


def chosen_rows(sample: Block, k: int, prior: Prior, far: bool, rng: np.random.Generator) -> Ints:
    """The numbers of k rows: any, or by k-means++, each far from those before it (Arthur and Vassilvitskii 2007)."""
    points = _points(sample, prior)
    found: list[int] = []
    nearest = np.full(sample.rows, np.inf)
    for _ in range(k):
        left = sample.weights * (nearest > 0)
        if far and found:
            left = sample.weights * nearest
        row = _at(left if left.any() else sample.weights, rng.random())
        found.append(row)
        nearest = np.minimum(nearest, _distances(points, row))
    return np.array(found)


def _at(weights: Floats, u: float) -> int:
    """The row at the part u of the summed weights."""
    scale = np.cumsum(weights)
    return int(np.searchsorted(scale, u * scale[-1], side="right").clip(0, len(weights) - 1))


def _points(sample: Block, prior: Prior) -> list[NDArray[Any]]:
    """Columns in which distances mean the same: numbers over their spread, roots of counts, codes."""
    if prior.family is Gaussian:
        scales = [prior.variances[name] ** 0.5 for name in prior.columns]
        return [x / scale for x, scale in zip(sample.columns, scales)]
    return [np.sqrt(x) for x in sample.columns] if prior.family is Poisson else list(sample.columns)


def _distances(points: list[NDArray[Any]], row: int) -> Floats:
    """Squared distances from a row over the cells that both have; different categories are 1 apart."""
    total, cells = np.zeros(len(points[0])), np.zeros(len(points[0]))
    for x in points:
        both = known(x) & known(x[row : row + 1])
        apart = (x != x[row]).astype(float) if x.dtype.kind == "i" else np.square(x - x[row])
        total += np.where(both, apart, 0.0)
        cells += both
    return np.where(cells > 0, total * len(points) / np.maximum(cells, 1), 0.0)


def started(rows: list[Any], prior: Prior, settings: MixtureSettings) -> Components:
    """Components around some rows, given as a list of their columns."""
    names = list(prior.columns)
    if settings.joint:
        return normals.start_of(rows, prior, settings.covariance == "tied", names)
    return factors.start_of(settings.family, rows, prior, settings.covariance == "spherical", names)
