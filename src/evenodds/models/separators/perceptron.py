"""The perceptron: start at 0, look at the rows one by one, and add those that are on the wrong side.

    w = 0;  for u in random order:  if u·w ≤ 0 then w += u          u = y (x, 1), y = ±1

If some w* of length 1 has u·w* ≥ γ for every u, and no u is longer than R, then after T mistakes

    w·w* ≥ T γ    (each adds at least γ)        w·w ≤ T R²    (each adds at most R², as u·w ≤ 0)

so T γ ≤ w·w* ≤ ‖w‖ ≤ √T R, and T ≤ (R / γ)²: the walk ends (A. B. J. Novikoff 1962). R and γ are those of u, the
constant being inside.

More than two classes have a w for each, and the u of Kesler's construction (N. J. Nilsson, Learning Machines, 1965):
the row under its own class, and less the row under another. These are one perceptron in a larger space, so the bound
holds as it stands whenever the classes can be told apart; one perceptron per class would need every class to be
separable from all others together, which is more.

What it learns depends on the order of the rows: it is no sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.kernel import kernel
from evenodds.models.separators.cone import cone
from evenodds.models.separators.hard_margin import hard_margin
from evenodds.models.separators.linear_rule import LinearRule, homogeneous
from evenodds.models.separators.vectors import Rows

Codes = NDArray[np.int64]
PATIENCE = 5  # epochs after which the compiler's third of a second pays


@dataclass(frozen=True, eq=False)
class Walk:
    """What a perceptron learnt, and what it was bound to.

    weights     (1 or classes, columns + 1): w, in homogeneous coordinates
    mistakes    T, how often a row was added
    converged   whether a whole epoch had none
    radius      R, of the longest u
    separable   whether any line separates; None if that was not asked
    margin      γ, the largest that any w* has; None if none separates, or it was not asked
    best        w*, of length 1, that has it
    """

    rule: LinearRule
    weights: Floats
    mistakes: int
    epochs: int
    converged: bool
    radius: float
    separable: bool | None
    margin: float | None
    best: Floats | None

    @property
    def bound(self) -> float | None:
        """(R / γ)², which the mistakes never exceed; infinite if no line separates."""
        if self.separable is False:
            return float("inf")
        return None if self.margin is None else (self.radius / self.margin) ** 2


def walk(
    X: Floats,
    codes: Codes,
    classes: NDArray[Any],
    max_epochs: int = 1000,
    seed: Any = None,
    averaged: bool = False,
    bound: bool = True,
) -> Walk:
    """Walk through the rows, in a new random order each epoch, until one epoch has no mistake.

    Four points on a line, two on each side of 2.5:

    >>> found = walk(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1]), np.array(["a", "b"]), seed=0)
    >>> found.converged, found.mistakes <= found.bound
    (True, True)
    """
    k = len(classes)
    whole = np.ascontiguousarray(homogeneous(X))
    W, late = np.zeros((k, whole.shape[1])), np.zeros((k, whole.shape[1]))
    rng = np.random.default_rng(seed)
    mistakes = epochs = 0
    converged = False
    while epochs < max_epochs and not converged:
        run = learn if epochs < PATIENCE else learn.compiled
        made = run(whole, codes, rng.permutation(len(whole)), W, late, epochs * len(whole))
        mistakes, epochs, converged = mistakes + int(made), epochs + 1, made == 0
    if averaged and epochs:
        W = W - late / (epochs * len(whole))
    weights = W[1:] if k == 2 else W
    radius = float(np.linalg.norm(whole, axis=1).max()) * (1.0 if k == 2 else np.sqrt(2.0))
    separable, margin, best = _best(whole, codes, k) if bound else (True if converged else None, None, None)
    return Walk(LinearRule.of(classes, weights), weights, mistakes, epochs, converged, radius, separable, margin, best)


def _best(whole: Floats, codes: Codes, k: int) -> tuple[bool, float | None, Floats | None]:
    """Whether a line separates, the largest γ, and the w* that has it."""
    found = cone(Rows(whole, codes, k))
    if found.first is not None:
        return False, None, None
    rows = Rows(whole, codes, k, reference=k == 2)
    start = found.direction if k == 2 else np.concatenate([np.zeros(whole.shape[1]), found.direction])
    w = hard_margin(rows, start, np.ones(rows.dimensions, bool)).weights
    w = w / np.linalg.norm(w)
    return True, float(rows.scores(w)[0].min()), w.reshape(-1, whole.shape[1])


@kernel
def learn(X: Any, codes: Any, order: Any, W: Any, late: Any, before: int) -> int:
    """Look at some rows in this order, add those on the wrong side, and count them.

    Each class has its own weights; of two, the second's are w and the first's -w, so that u·w ≤ 0 is what is asked.
    `late` adds each change times the number of looks before it: the mean of W over n looks is W - late / n.
    """
    mistakes = 0
    classes, width = W.shape
    for look in range(len(order)):
        i = order[look]
        own = codes[i]
        worst, best = -1, 0.0
        score = 0.0
        for j in range(width):
            score += W[own, j] * X[i, j]
        for c in range(classes):
            if c != own:
                other = 0.0
                for j in range(width):
                    other += W[c, j] * X[i, j]
                if worst < 0 or other > best:
                    worst, best = c, other
        if score <= best:
            mistakes += 1
            for j in range(width):
                W[own, j] += X[i, j]
                W[worst, j] -= X[i, j]
                late[own, j] += (before + look) * X[i, j]
                late[worst, j] -= (before + look) * X[i, j]
    return mistakes
