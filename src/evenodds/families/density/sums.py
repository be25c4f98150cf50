"""Sums of a kernel over many points, at many places: Σ_i w_i K((x - x_i)/h) in O((n + m) log n), compiled.

Points are sorted and fall into cells, each at most h wide and counted from its own middle, so that nothing large is
subtracted from something large: however far the points lie from zero, or from each other.

A bounded kernel is a polynomial, or a wave, of x - x_i. Each cell has the running sums of its points' powers, so that
what any run of them adds up to is a difference of two; a place sees part of at most six cells.

The Gaussian e^(-(t-v)²/2) = e^(-t²/2) · e^(-v²/2) Σ_k (tv)^k / k!, a place t and a point v from a cell's middle, in
bandwidths: the points' part is summed once, a cell at a time (Greengard and Strain 1991). As |v| ≤ 1/2, the 28 terms
leave out less than 1e-23 of a cell's peak, and cells further than 11 are not looked at. Rounding: 64 points are added
plainly, such sums with their errors, so that a cell's is right to 64 + 28 + 10 units of 1.1e-16 of Σ w e^(|tv| - t²/2);
over all cells that is at most 5.6 · e^(1/4) times as much of the heaviest one's: below 1e-13 of the density's peak.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenodds.kernel import kernel

TERMS = 28
FAR = 11.0  # bandwidths to a cell, beyond which a Gaussian is nothing even beside 1e-10 of its peak: 1e-24
LANES = 32  # points that are summed side by side
PLAIN = 64  # and how many of them one after the other, before they are added to the cell's own sum
SURE = 40.0  # e^-40 of a sum is nothing beside it
ROOT_TAU = math.sqrt(2 * math.pi)
QUARTER = math.pi / 2


@kernel
def cut_cells(x: Any, width: float, starts: Any) -> int:
    """Where each cell begins among the sorted points: none is wider than `width`. Returns how many there are."""
    cells, first = 0, 0.0
    for i in range(len(x)):
        if i == 0 or x[i] - first > width:
            first = x[i]
            starts[cells] = i
            cells += 1
    return cells


@kernel
def running_powers(x: Any, weights: Any, starts: Any, middles: Any, h: float, wave: bool, sums: Any) -> None:
    """sums[i, k] = Σ w v^k, or of w, w cos(πv/2) and w sin(πv/2), over the points of a cell up to and with the i-th."""
    terms = sums.shape[1]
    total, error = np.empty(terms), np.empty(terms)
    for c in range(len(middles)):
        stop = starts[c + 1]
        total[:] = 0.0
        error[:] = 0.0
        for i in range(starts[c], stop):
            v, power = (x[i] - middles[c]) / h, weights[i]
            for k in range(terms):
                if wave and k == 1:
                    power = weights[i] * math.cos(QUARTER * v)
                elif wave and k == 2:
                    power = weights[i] * math.sin(QUARTER * v)
                t = total[k] + power
                b = t - total[k]
                error[k] += (total[k] - (t - b)) + (power - b)
                total[k] = t
                sums[i, k] = t + error[k]
                power *= v


@kernel
def window_sums(
    at: Any, x: Any, starts: Any, middles: Any, sums: Any, before: Any, h: float, terms: Any, wave: bool, out: Any
) -> None:
    """out[q] = Σ_i w_i Σ_k terms_k s_i^k with s_i = 1 - |at_q - x_i|/h, over the points with s_i ≥ 0.

    terms[0] are for points at or below the place, terms[1] for those above. As (rest ± v)^k = Σ_j C(k, j) rest^(k-j)
    (±v)^j, terms[side, j, k] = terms_k · C(k, j); of a wave terms[side, 0] as they are. Where there is before[i], the
    weight of all points before the i-th, that of the points below the window is added.
    """
    powers = terms.shape[2]
    ends = np.zeros(3, np.int64)
    for q in range(len(at)):
        y = at[q]
        if y != y:
            out[q] = np.nan
            continue
        for edge in range(3):  # the first point with y - x ≤ h; with x > y; with x - y > h
            low, high = 0, len(x)
            while low < high:
                i = (low + high) >> 1
                if edge == 0:
                    inside = y - x[i] <= h
                elif edge == 1:
                    inside = x[i] > y
                else:
                    inside = x[i] - y > h
                if inside:
                    high = i
                else:
                    low = i + 1
            ends[edge] = low
        total = before[ends[0]] if len(before) > 0 else 0.0
        for side in range(2):
            first, last = ends[side], ends[side + 1]
            if first >= last:
                continue
            low, high = 0, len(middles)
            while high - low > 1:
                c = (low + high) >> 1
                if starts[c] <= first:
                    low = c
                else:
                    high = c
            c = low
            while first < last:
                stop = min(last, starts[c + 1])
                t = (y - middles[c]) / h
                sign = 1.0 - 2.0 * side
                rest = 1.0 - sign * t  # s = rest + sign · v
                if wave:
                    cosine, sine = math.cos(QUARTER * rest), math.sin(QUARTER * rest)
                    for k in range(3):
                        found = sums[stop - 1, k] - (sums[first - 1, k] if first > starts[c] else 0.0)
                        if k == 0:
                            total += terms[side, 0, 0] * found
                        elif k == 1:
                            total += found * (terms[side, 0, 1] * cosine + terms[side, 0, 2] * sine)
                        else:
                            total += sign * found * (terms[side, 0, 2] * cosine - terms[side, 0, 1] * sine)
                else:
                    odd = 1.0
                    for j in range(powers):
                        value = 0.0
                        for back in range(powers - j):
                            value = value * rest + terms[side, j, powers - 1 - back]
                        found = sums[stop - 1, j] - (sums[first - 1, j] if first > starts[c] else 0.0)
                        total += odd * found * value
                        odd *= sign
                first = stop
                c += 1
        out[q] = total


@kernel
def window_each(at: Any, x: Any, weights: Any, h: float, terms: Any, wave: bool, own: Any, less: Any, out: Any) -> None:
    """out[q] = Σ_i w_i K(s_i), point by point: each term keeps its digits, however small the sum.

    Of the point own[q], if that is not -1, less[q] of its weight is left out.
    """
    for q in range(len(at)):
        y, low, high = at[q], 0, len(x)
        while low < high:
            i = (low + high) >> 1
            if y - x[i] <= h:
                high = i
            else:
                low = i + 1
        total = 0.0 if y == y else np.nan
        while low < len(x) and x[low] - y <= h:
            s = (h - abs(y - x[low])) / h
            value = 0.0
            if wave:
                value = terms[2] * math.sin(QUARTER * s)
            else:
                for back in range(len(terms)):
                    value = value * s + terms[len(terms) - 1 - back]
            total += (weights[low] - less[q] if low == own[q] else weights[low]) * value
            low += 1
        out[q] = total


@kernel
def bell_moments(x: Any, weights: Any, starts: Any, middles: Any, h: float, damped: bool, moments: Any) -> None:
    """moments[c, k] = Σ w v^k / k! over a cell's points; `damped`: times e^(-v²/2)."""
    terms = moments.shape[1]
    side, v, power = np.zeros((terms, LANES)), np.empty(LANES), np.empty(LANES)
    total, error = np.empty(terms), np.empty(terms)
    for c in range(len(middles)):
        stop, middle = starts[c + 1], middles[c]
        total[:] = 0.0
        error[:] = 0.0
        begin = starts[c]
        while begin < stop:
            end = min(stop, begin + LANES * PLAIN)
            lanes = min(LANES, end - begin)
            for first in range(begin, end, LANES):
                for lane in range(lanes):
                    known = first + lane < end
                    i = first + lane if known else first
                    d = (x[i] - middle) / h
                    v[lane] = d
                    power[lane] = (weights[i] if known else 0.0) * (math.exp(-0.5 * d * d) if damped else 1.0)
                for k in range(terms):
                    row = side[k]
                    for lane in range(lanes):
                        row[lane] += power[lane]
                        power[lane] *= v[lane]
            for k in range(terms):
                part = 0.0
                for lane in range(lanes):
                    part += side[k, lane]
                    side[k, lane] = 0.0
                t = total[k] + part
                b = t - total[k]
                error[k] += (total[k] - (t - b)) + (part - b)
                total[k] = t
            begin = end
        factorial = 1.0
        for k in range(terms):
            factorial *= max(k, 1)
            moments[c, k] = (total[k] + error[k]) / factorial


@kernel
def bell_sums(at: Any, middles: Any, moments: Any, h: float, out: Any) -> None:
    """out[q] = Σ_i w_i e^(-u²/2), u = (at_q - x_i)/h, out of the cells' damped moments."""
    half = moments.shape[1] // 2
    for q in range(len(at)):
        y = at[q]
        low = np.searchsorted(middles, y - FAR * h)
        total = 0.0 if y == y else np.nan
        while low < len(middles) and middles[low] - y <= FAR * h:
            t = (y - middles[low]) / h
            square, even, odd, row = t * t, 0.0, 0.0, moments[low]
            for back in range(half):
                k = 2 * (half - 1 - back)
                even = even * square + row[k]
                odd = odd * square + row[k + 1]
            total += math.exp(-0.5 * square) * (even + t * odd)
            low += 1
        out[q] = total


@kernel
def bell_masses(at: Any, middles: Any, moments: Any, before: Any, h: float, out: Any) -> None:
    """out[q] = Σ_i w_i Φ(u), u = (at_q - x_i)/h: Φ(t-v) = Φ(t) - φ(t) Σ_k≥1 He_k-1(t) v^k/k! in each cell."""
    for q in range(len(at)):
        y = at[q]
        low = np.searchsorted(middles, y - FAR * h)
        total = before[low] if y == y else np.nan
        while low < len(middles) and middles[low] - y <= FAR * h:
            t = (y - middles[low]) / h
            earlier, here, value = 0.0, 1.0, 0.0
            for k in range(1, moments.shape[1]):
                value += here * moments[low, k]
                earlier, here = here, t * here - (k - 1) * earlier
            whole = 0.5 * math.erfc(-t / math.sqrt(2.0))
            total += moments[low, 0] * whole - math.exp(-0.5 * t * t) / ROOT_TAU * value
            low += 1
        out[q] = total


@kernel
def bell_logs(at: Any, x: Any, weights: Any, h: float, own: Any, less: Any, out: Any) -> None:
    """out[q] = log Σ_i w_i e^(-u²/2), summed from the nearest point outwards until the rest is nothing beside it.

    Of the point own[q], if that is not -1, less[q] of its weight is left out.
    """
    everything = 0.0
    for i in range(len(weights)):
        everything += weights[i]
    for q in range(len(at)):
        y = at[q]
        up = np.searchsorted(x, y, side="right")
        down = up - 1
        total, least, enough = 0.0, 0.0, 0.0
        while up < len(x) or down >= 0:
            above = (x[up] - y) / h if up < len(x) else np.inf
            below = (y - x[down]) / h if down >= 0 else np.inf
            i = up if above < below else down
            if i < 0:
                i = up
            d = min(above, below)
            if i == up:
                up += 1
            else:
                down -= 1
            w = weights[i]
            if i == own[q]:
                w -= less[q]
            if w <= 0.0:
                continue
            square = 0.5 * d * d
            if total == 0.0:
                if square == np.inf:
                    break
                least, enough = square, square + SURE + math.log(everything / w)
            if square > enough:
                break
            total += w * math.exp(least - square)
        out[q] = (math.log(total) - least) if total > 0.0 else (np.nan if y != y else -np.inf)
