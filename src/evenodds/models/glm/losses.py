"""What a wrong score costs: the negative log-likelihood of each output distribution under its own transfer function.

    distribution  transfer                    cost of a score s          first derivative   second
    Gaussian      mean = s                    (y - s)² / 2               s - y              1
    Bernoulli     p = 1 / (1 + e^-s)          log(1 + e^s) - y s         p - y              p (1 - p)
    Poisson       rate = e^s                  e^s - y s                  rate - y           rate
    Categorical   p_k = e^s_k / Σ_j e^s_j     log Σ_j e^s_j - s_y        p_k - [y = k]      p_k [k = l] - p_k p_l

What y alone decides is left out of the cost and kept in `constant`; the Gaussian's is for a variance of 1. The first of
the Categorical's classes is the reference: its score is 0. Every second derivative is that of a convex function.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError
from evenodds.families import Bernoulli, Categorical, Family, Gaussian, Poisson

Floats = NDArray[np.float64]


class Loss:
    """The cost of scores, with its first two derivatives."""

    family: ClassVar[type[Family]]
    transfer: ClassVar[str]
    outputs: int = 1  # scores a row

    def costs(self, score: Floats, y: NDArray[Any]) -> Floats:
        """The cost of each row."""
        return self.gradient(score, y)[0]

    def slopes(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """The cost of each row, and its first and second derivative in the score."""
        raise NotImplementedError

    def gradient(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats]:
        """The first two of `slopes`; where the third is large, sooner."""
        cost, first, _ = self.slopes(score, y)
        return cost, first

    def curves(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """`slopes`, of the second derivatives only those in one score each, of the shape of the scores."""
        return self.slopes(score, y)

    def mean(self, score: Floats) -> Floats:
        """The transfer function: the output's mean."""
        raise NotImplementedError

    def score(self, mean: Any) -> Any:
        """The transfer function's inverse."""
        raise NotImplementedError

    def constant(self, y: NDArray[Any]) -> Floats:
        """What y alone adds to the negative log-likelihood."""
        return np.zeros(len(y))

    def least(self, y: NDArray[Any]) -> Floats:
        """The cost of the best score there could be: that of a mean of y itself."""
        return np.zeros(len(y))

    def spread(self, y: NDArray[Any]) -> Floats:
        """The variance of the outcomes that a target stands for: 0, but for a share of many."""
        return np.zeros(len(y))

    def check(self, y: Floats, name: str, where: Any) -> None:
        """Refuse targets outside the distribution's support, naming the first."""

    def __repr__(self) -> str:
        return f"{self.family.__name__}, {self.transfer}"


def _refuse(bad: NDArray[np.bool_], y: Floats, name: str, where: Any, what: str) -> None:
    rows = np.flatnonzero(bad)
    if len(rows):
        row = int(rows[0])
        raise DataError(f"the target {name!r} is {y[row]:g} in {where(row)}: {what}")


class Squared(Loss):
    """The Gaussian's: half the squared error."""

    family = Gaussian
    transfer = "mean = score"

    def slopes(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """(y - s)² / 2, s - y, 1."""
        error = score - y
        return 0.5 * error * error, error, np.ones_like(error)

    def mean(self, score: Floats) -> Floats:
        """The score itself."""
        return score

    def score(self, mean: Any) -> Any:
        """The mean itself."""
        return mean


class Logistic(Loss):
    """The Bernoulli's: y may be a share of successes, the weight then being the number of trials.

    >>> loss = Logistic()
    >>> loss.mean(np.array([0.0])).item(), round(loss.costs(np.array([0.0]), np.array([1.0])).item(), 4)
    (0.5, 0.6931)
    """

    family = Bernoulli
    transfer = "p = 1 / (1 + e^-score)"

    def slopes(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """log(1 + e^s) - y s, p - y, p (1 - p); nothing overflows."""
        small = np.exp(-np.abs(score))
        below = 1.0 / (1.0 + small)
        above = small * below
        cost = np.maximum(score, 0.0) + np.log1p(small) - y * score
        return cost, np.where(score >= 0, below, above) - y, below * above

    def mean(self, score: Floats) -> Floats:
        """1 / (1 + e^-s)."""
        small = np.exp(-np.abs(score))
        return np.where(score >= 0, 1.0, small) / (1.0 + small)

    def score(self, mean: Any) -> Any:
        """The log-odds."""
        with np.errstate(divide="ignore"):
            return np.log(mean) - np.log1p(-np.asarray(mean))

    def least(self, y: NDArray[Any]) -> Floats:
        """The entropy of a share; nothing for a plain 0 or 1."""
        from scipy.special import entr

        return np.asarray(entr(y) + entr(1.0 - y))

    def spread(self, y: NDArray[Any]) -> Floats:
        """y (1 - y): a share is that of so many successes, the others being failures."""
        return np.asarray(y * (1.0 - y))

    def check(self, y: Floats, name: str, where: Any) -> None:
        """Shares are from 0 to 1."""
        _refuse(~((y >= 0) & (y <= 1)), y, name, where, "expected 0 or 1, or a share of the trials")


class Count(Loss):
    """The Poisson's: y is a count, or any number of 0 or more."""

    family = Poisson
    transfer = "rate = e^score"

    def slopes(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """e^s - y s, e^s - y, e^s; infinite where e^s is."""
        with np.errstate(over="ignore"):
            rate = np.exp(score)
        return rate - y * score, rate - y, rate

    def mean(self, score: Floats) -> Floats:
        """e^s."""
        with np.errstate(over="ignore"):
            return np.exp(score)

    def score(self, mean: Any) -> Any:
        """log of the rate."""
        with np.errstate(divide="ignore"):
            return np.log(mean)

    def constant(self, y: NDArray[Any]) -> Floats:
        """log y!."""
        from scipy.special import gammaln

        return np.asarray(gammaln(y + 1.0))

    def least(self, y: NDArray[Any]) -> Floats:
        """y - y log y."""
        from scipy.special import entr

        return np.asarray(y + entr(y))

    def check(self, y: Floats, name: str, where: Any) -> None:
        """Counts are 0 or more."""
        _refuse(~((y >= 0) & (y < np.inf)), y, name, where, "expected a count, 0 or more")


class Softmax(Loss):
    """The Categorical's: y is the number of the class; class 0 is the reference, whose score is 0."""

    family = Categorical
    transfer = "p_k = e^score_k / Σ_j e^score_j"

    def __init__(self, classes: int) -> None:
        self.outputs = classes - 1

    def slopes(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """log Σ e^s - s_y; p - [y]; diag(p) - p pᵀ, one matrix a row."""
        cost, first, p = self._first(score, y)
        second = -p[:, :, None] * p[:, None, :]
        each = np.arange(self.outputs)
        second[:, each, each] += p
        return cost, first, second

    def gradient(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats]:
        """log Σ e^s - s_y; p - [y]."""
        return self._first(score, y)[:2]

    def curves(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        """log Σ e^s - s_y; p - [y]; p - p²: of twenty classes, a twentieth of the numbers."""
        cost, first, p = self._first(score, y)
        return cost, first, p - p * p

    def _first(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        p, cost = self._shares(score)
        rows, classes = np.arange(len(y)), y.astype(np.int64) - 1
        chosen = classes >= 0
        cost = cost - np.where(chosen, score[rows, classes], 0.0)
        first = p.copy()
        first[rows[chosen], classes[chosen]] -= 1.0
        return cost, first, p

    @staticmethod
    def _shares(score: Floats) -> tuple[Floats, Floats]:
        """p of every class but the reference, and log Σ_j e^s_j."""
        top = np.maximum(score.max(axis=1), 0.0)
        raised = np.exp(score - top[:, None])
        total = raised.sum(axis=1) + np.exp(-top)
        return raised / total[:, None], top + np.log(total)

    def mean(self, score: Floats) -> Floats:
        """p of every class, the reference first."""
        p, total = self._shares(score)
        return np.column_stack([np.exp(-total), p])

    def score(self, mean: Any) -> Any:
        """log p_k / p_0."""
        with np.errstate(divide="ignore"):
            return np.log(mean[1:]) - np.log(mean[0])


def loss_for(family: type[Family], classes: int = 2) -> Loss:
    """The loss of an output distribution; the softmax of two classes is the logistic."""
    if family is Categorical:
        return Softmax(classes) if classes > 2 else Logistic()
    for kind in (Squared, Logistic, Count):
        if kind.family is family:
            return kind()
    raise ValueError(f"family={getattr(family, '__name__', family)}: expected {', '.join(FAMILIES)}")


FAMILIES = {family.__name__: family for family in (Gaussian, Bernoulli, Categorical, Poisson)}
