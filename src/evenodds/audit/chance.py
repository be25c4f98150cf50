"""What chance alone does to a count: how far it is from its mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.families.leaves import Floats


def deviation(n: Floats, p: Any) -> Floats:
    """E|count - np| of n flags, each of which is so with probability p (de Moivre 1730).

    2 (m + 1) C(n, m + 1) p^(m+1) (1 - p)^(n-m), where m = floor(np); a coin tossed twice is ½ off on average:

    >>> deviation(np.array([2.0, 0.0]), 0.5)
    array([0.5, 0. ])
    """
    from scipy.special import gammaln, xlog1py, xlogy

    m = np.minimum(np.floor(n * p), np.maximum(n - 1, 0))
    log = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m) + xlogy(m + 1, p) + xlog1py(n - m, -p)
    return np.asarray(2 * np.exp(log))
