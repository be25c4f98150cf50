"""Points counted by a grid: how far apart pairs of them are, and each shared between the two places beside it."""

from __future__ import annotations

from typing import Any

from evenodds.kernel import kernel


@kernel
def pair_counts(places: Any, counts: Any, lags: Any) -> None:
    """lags[d] += Σ counts_i counts_j over pairs i ≤ j of sorted places that lie d apart."""
    for i in range(len(places)):
        j = i
        while j < len(places) and places[j] - places[i] < len(lags):
            lags[places[j] - places[i]] += counts[i] * counts[j]
            j += 1


@kernel
def linear_bins(x: Any, weights: Any, low: float, step: float, bins: Any) -> None:
    """Share each value, with its weight if there are any, between the two places low + k·step beside it."""
    last = len(bins) - 1
    for i in range(len(x)):
        v = (x[i] - low) / step
        if not 0.0 <= v <= last:
            continue
        k = min(int(v), last - 1)
        part, w = v - k, weights[i] if len(weights) > 0 else 1.0
        bins[k] += w * (1.0 - part)
        bins[k + 1] += w * part
