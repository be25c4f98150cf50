"""A density on a grid: the points shared between the places beside them, and folded with the kernel by Fourier."""

from __future__ import annotations

import math

import numpy as np

from evenodds.families.density import binning, sums
from evenodds.families.density.points import Points
from evenodds.families.density.shapes import Bell, Shape
from evenodds.families.leaves import Floats

FINE = 32  # places in a bandwidth, at least: then sharing a point between two of them hardly widens its bump
LARGEST = 1 << 21


def on_grid(points: Points, shape: Shape | Bell, h: float, low: float, high: float, size: int) -> Floats | None:
    """The density at `size` places from low to high; None where the kernel is too narrow for any grid."""
    from scipy.fft import irfft, next_fast_len, rfft

    step = (high - low) / (size - 1)
    finer = max(1, math.ceil(FINE * step / h)) if step / h < LARGEST else LARGEST
    step /= finer
    wide = math.ceil((sums.FAR if isinstance(shape, Bell) else 1.0) * h / step)
    many = finer * (size - 1) + 1 + 2 * wide  # points beyond the ends have bumps that reach in
    if not many <= LARGEST:
        return None
    bins = np.zeros(many)
    counts = np.empty(0) if points.counts is None else points.counts
    binning.linear_bins(points.values, counts, low - wide * step, step, bins)
    bump = shape.at(np.arange(-wide, wide + 1.0) * (step / h))
    bump /= bump.sum() * step  # mass 1 on the grid too
    long = next_fast_len(many + 2 * wide, real=True)
    folded = irfft(rfft(bins, long) * rfft(bump, long), long)[2 * wide : many : finer]
    return np.maximum(folded, 0.0) / points.total
