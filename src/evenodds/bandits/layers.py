"""Layers of equal area under exp(-x²/2), from which normal numbers are drawn (Marsaglia & Tsang 2000)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LAYERS = 256
TAIL = 3.6541528853610088  # where the lowest of so many layers ends


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
