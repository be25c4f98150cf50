"""Random numbers for kernels: bits, uniform, normal and gamma, each from a state of 64 bits that goes on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenodds.instructions import shared

GOLDEN, MIX1, MIX2 = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
S30, S27, S31, S11, S8, BYTE = (np.uint64(s) for s in (30, 27, 31, 11, 8, 255))
LAYERS = 256
TAIL = 3.6541528853610088  # where the lowest of 256 layers of equal area under exp(-x²/2) ends (Marsaglia & Tsang 2000)


def _layers() -> tuple[Any, Any]:
    """The layers' right ends, and the curve's height there."""
    area = TAIL * math.exp(-TAIL * TAIL / 2) + math.sqrt(math.pi / 2) * math.erfc(TAIL / math.sqrt(2))
    x, y = np.zeros(LAYERS + 1), np.zeros(LAYERS + 1)
    x[0], x[1] = area / math.exp(-TAIL * TAIL / 2), TAIL
    y[1] = math.exp(-TAIL * TAIL / 2)
    for i in range(2, LAYERS):
        y[i] = y[i - 1] + area / x[i - 1]
        x[i] = math.sqrt(-2 * math.log(y[i]))
    y[LAYERS] = 1.0
    return x, y


ENDS, HEIGHTS = _layers()


@shared
def bits(state: Any) -> Any:
    """The next 64 bits (splitmix64; Steele, Lea and Flood 2014)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> S30)) * MIX1
    z = (z ^ (z >> S27)) * MIX2
    return z ^ (z >> S31)


@shared
def uniform(state: Any) -> float:
    """A number from 0 to below 1."""
    return np.int64(bits(state) >> S11) * 1.1102230246251565e-16  # signed, for which there is an instruction


@shared
def below(state: Any, n: int) -> int:
    """0, 1, ..., n - 1, each as probable as the others to 2^-50."""
    return int(uniform(state) * n)


@shared
def normal(state: Any) -> float:
    """A standard normal number, by layers of equal area."""
    while True:
        b = bits(state)
        i = int(b & BYTE)
        x = (np.int64(b >> S11) * 2.220446049250313e-16 - 1.0) * ENDS[i]
        if abs(x) < ENDS[i + 1]:
            return x
        if i == 0:  # the tail
            while True:
                far = -math.log(1.0 - uniform(state)) / TAIL
                if -2.0 * math.log(1.0 - uniform(state)) > far * far:
                    return TAIL + far if x > 0 else -TAIL - far
        elif HEIGHTS[i] + uniform(state) * (HEIGHTS[i + 1] - HEIGHTS[i]) < math.exp(-0.5 * x * x):
            return x


@shared
def gamma(state: Any, shape: float) -> float:
    """A Gamma(shape, 1) number (Marsaglia & Tsang 2000)."""
    if shape < 1.0:
        power = (1.0 - uniform(state)) ** (1.0 / shape)
        shape += 1.0
    else:
        power = 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = 1.0 - uniform(state)
            if u < 1.0 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v * power
