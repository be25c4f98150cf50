"""The triangle of some rows: all that products of their columns need to know of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.families.leaves import Floats


def triangle_of(block: Floats) -> Floats:
    """R of the block's QR factors."""
    r: Any = np.linalg.qr(block, mode="r")
    return r
