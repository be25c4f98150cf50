"""Continuous values around a mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import tail_of
from evenodds.families import kernels, numeric
from evenodds.families.base import COLUMN, Estimate, Family, Reading
from evenodds.families.distribution import (
    Distribution,
    Formula,
    LinearTerms,
    Seed,
    generator,
    some,
    tidy,
)
from evenodds.families.leaves import Floats, Rows, read, share
from evenodds.families.left_out import How, Left
from evenodds.families.normal_gamma import LOG_2PI, NormalInverseGamma, StudentT, t_quantile
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally

SMALLEST = 1e-290  # of a mean square: below it doubles lose their digits


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Formula, Family):
    """A value around its mean, with the bell curve's tails.

    p(x) = exp(-(x-mean)²/(2·variance)) / sqrt(2π·variance)

    The mle divides by n, the mean by n-1; a billion does not drown the digits:

    >>> x = [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]
    >>> Gaussian.fit(x, estimate="mle").variance, Gaussian.fit(x).variance
    (22.5, 30.0)

    What is summed: n, Σx and Σx² in double-doubles; the variance is formed once, here. The prior is a
    NormalInverseGamma. `map` is the mode in the coordinates (mean, log variance), `mean` plugs in the posterior mean
    of the mean and of the precision, `predictive` is a StudentT. All of them exist only where the variance does.
    """

    mean: Any
    variance: Any
    name = "gaussian"
    as_it_lies = True
    wider = "Column(Gaussian, variance='pooled')"
    linear_if = "Column(Gaussian, variance='pooled') and estimate='mean' are"

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """Leaves "rows" and "moments" of the numeric tally."""
        return numeric.leaves(cells, rows, columns, histogram=False)

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> NormalInverseGamma:
        """Flat in the mean and in the log of the variance."""
        return NormalInverseGamma(0.0, 0.0, -0.5, 0.0)

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> NormalInverseGamma:
        """The within-group variance, worth `strength` rows, and a mean as wide as the pooled spread."""
        _, _, squares = numeric.moments(tally)
        return cls._pooled(np.sum(squares), numeric.moments(tally.pooled()), strength)

    @staticmethod
    def _pooled(within: Any, everything: tuple[Any, Any, Any], strength: float) -> NormalInverseGamma:
        """The same of Σ (x - mean)² within the groups, and of the moments of all values."""
        total, centre, overall = everything
        within = np.where(within > 0, within, overall)
        ratio = np.where(overall > 0, share(within, overall), 1.0)
        variance = share(within, total)
        return NormalInverseGamma(tidy(centre), tidy(ratio), strength / 2, tidy(strength / 2 * variance))

    @classmethod
    def free(cls, tally: Tally, column: Column = COLUMN) -> int:
        """A mean a group, and a variance where it is not shared or given."""
        groups = len(tally.groups)
        return groups + {"per_class": groups, "pooled": 1}.get(str(column.variance), 0)

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """The mean, its interval and the standard deviation."""
        for group, value, figures in super().readings(estimate, posterior, level):
            yield Reading(group, value, figures | {"sd": float(np.sqrt(estimate.variance[group]))})

    @classmethod
    def informative(cls, tally: Tally) -> bool:
        """Not where all values are one value: then every group's density is endless there."""
        pooled = tally.pooled()
        n, mean, squares = map(float, numeric.moments(pooled))
        if mean != 0 and read(pooled, "moments")[1] < SMALLEST * n:
            raise ValueError("its values are so small that their squares are no numbers: rescale it")
        return squares > 0

    @classmethod
    def _mle(cls, tally: Tally, column: Column) -> Self:
        n, mean, squares = numeric.moments(tally)
        return cls(tidy(mean), tidy(_variance(column, squares, some(n))))

    @classmethod
    def posterior(cls, data: Any, prior: Any = None, column: Column = COLUMN) -> Any:
        """What is known of the means and variances; a given variance is as good as known from a quadrillion values."""
        posterior = super().posterior(data, prior, column)
        return cls._shared(posterior, cls.prior(prior), column, np.size(posterior.mean))

    @staticmethod
    def _shared(
        posterior: NormalInverseGamma, start: NormalInverseGamma, column: Column, groups: Any
    ) -> NormalInverseGamma:
        """The posterior with the variance of all groups, or with a known one, where the column has it so."""
        if column.variance == "per_class":
            return posterior
        ones = np.ones(np.shape(posterior.mean))
        if column.variance != "pooled":
            return dataclasses.replace(posterior, shape=ones * 1e15, scale=ones * 1e15 * float(column.variance))
        flat = 0.5 * (groups - 1) if np.all(np.asarray(start.strength) == 0) else 0.0
        shape = start.shape + _over_groups(posterior.shape - start.shape) - flat
        scale = start.scale + _over_groups(posterior.scale - start.scale)
        return dataclasses.replace(posterior, shape=ones * shape, scale=ones * scale)

    @classmethod
    def _estimate(cls, tally: Tally, estimate: Estimate, prior: Any, column: Column) -> Distribution:
        """The distribution estimated from a numeric tally; `column.variance` says whose variance it has."""
        if estimate == "mle" or column.variance == "per_class":
            return super()._estimate(tally, estimate, prior, column)
        posterior = cls.posterior(tally, prior, column)
        return cls._of_column(posterior, estimate, column, np.size(posterior.mean))

    @classmethod
    def _of_column(cls, posterior: Any, estimate: Any, column: Column, groups: Any) -> Distribution:
        if column.variance == "per_class":
            return cls._of(posterior, estimate)
        if column.variance != "pooled":  # the variance is known: only the mean is uncertain
            known = np.full(np.shape(posterior.mean), float(column.variance))
            return cls(posterior.mean, known * (1 + 1 / posterior.strength) if estimate == "predictive" else known)
        if estimate == "map":
            return cls(posterior.mean, posterior.scale / (posterior.shape + 0.5 * groups))
        return cls._of(posterior, estimate)

    @classmethod
    def _of(cls, posterior: Any, estimate: Estimate) -> Distribution:
        m, k, a, b = posterior.mean, posterior.strength, posterior.shape, posterior.scale
        if estimate == "map" and np.all(np.asarray(a) > -0.5):
            return cls(*posterior.mode)
        if np.any(np.asarray(a) <= 0):
            raise ValueError("one value and a flat prior say nothing of a variance; use a proper prior, or more values")
        if estimate == "mean":
            return cls(m, b / a)
        if np.any(np.asarray(b) <= 0):
            raise ValueError("all values are the same and the prior is flat, so the variance is 0; use a proper prior")
        return StudentT(2 * a, m, np.sqrt(b * (k + 1) / (a * k)))

    @staticmethod
    def _log(x: Floats, mean: Floats, variance: Floats) -> Floats:
        _check_spread(variance)
        z = np.asarray(x - mean)
        z *= z
        z *= -0.5 / variance
        z += -0.5 * (LOG_2PI + np.log(variance))
        return z

    def add_log_prob(self, x: Any, total: Floats) -> None:
        """The same, added to total[group, value] in one pass over the values."""
        mean, variance = np.asarray(self.mean, float), np.asarray(self.variance, float)
        _check_spread(variance)
        kernels.add_gaussian(x, mean, 0.5 / variance, -0.5 * (LOG_2PI + np.log(variance)), total)

    def linear(self, tally: Tally) -> LinearTerms | None:
        """x · mean / variance - mean² / 2·variance, where the groups share the variance."""
        if not np.all(self.variance == self.variance[0]):
            return None
        return LinearTerms([""], (self.mean / self.variance)[None], -(self.mean**2) / (2 * self.variance))

    @property
    def endless(self) -> NDArray[np.bool_]:
        """Where the variance is 0."""
        return ~(np.atleast_1d(self.variance) > 0)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log density of each value with its own row taken out; 0 where all others are one value."""
        known = numeric.LeftMoments(tally)
        start = cls.prior(how.prior, how.strength)

        def evidence(x: Any, left: Left) -> Floats:
            everything = known.together(x, left)
            telling = np.flatnonzero(everything[2] > 0)
            if len(telling) < len(x):
                found = np.zeros((len(x), left.n_groups))
                if len(telling):
                    found[telling] = evidence(x[telling], left.some(telling))
                return found
            moments = known.groups(x, left)
            if how.estimate == "mle":
                return cls._mle_left_out(moments, everything, left, how.column).each(x)
            prior = start
            if how.pooled:
                within = moments[2].sum(axis=1, keepdims=True)
                n, centre, overall = (part[:, None] for part in everything)
                prior = cls._pooled(within, (n, centre, overall), how.strength)
            groups = left.n_groups - left.gone[:, None]
            posterior = cls._shared(prior.given(*moments), prior, how.column, groups)
            if left.gone.any():  # of a group that is not there, anything can be said
                here, lost = dataclasses.asdict(posterior), left.lost
                posterior = NormalInverseGamma(**{name: np.where(lost, 1.0, part) for name, part in here.items()})
            curve: Any = cls._of_column(posterior, how.estimate, how.column, groups)
            return curve.each(x)

        return evidence

    @classmethod
    def _mle_left_out(cls, moments: Any, everything: Any, left: Left, column: Column) -> Self:
        """The mle of each row's groups; one without values is like all together, one that is gone like anything."""
        n, lost = moments[0], left.lost
        like_all = (n == 0) & ~lost
        n, mean, squares = (np.where(like_all, all_[:, None], own) for own, all_ in zip(moments, everything))
        variance = _variance(column, squares, np.where(lost, 0.0, n))
        return cls(mean, np.where(lost, 1.0, variance))

    @classmethod
    def base_measure(cls, tally: Tally) -> Any:
        """-n/2 log 2π."""
        return -0.5 * LOG_2PI * numeric.moments(tally)[0]

    def log_likelihood(self, tally: Tally) -> Any:
        """-n/2 log 2πσ² - (Σ(x-x̄)² + n(x̄-μ)²) / 2σ²."""
        _check_spread(self.variance)
        n, average, squares = numeric.moments(tally)
        apart = squares + n * (average - self.mean) ** 2
        return -0.5 * (n * (LOG_2PI + np.log(self.variance)) + apart / self.variance)

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw values."""
        return generator(random_state).normal(self.mean, np.sqrt(self.variance), (size, *np.shape(self.mean)))

    @classmethod
    def confidence(cls, data: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Student's exact interval of the mean."""
        n, mean, squares = numeric.moments(cls.tallied(data))
        if np.any(np.asarray(n) <= 1):
            raise ValueError("one value says nothing of a variance, so its mean has no interval; give two or more")
        half = np.sqrt(squares / (n - 1) / n) * t_quantile(n - 1, 1 - tail_of(level))
        return tidy(mean - half, mean + half)


def _check_spread(variance: Any) -> None:
    """Refuse a bell that is a spike."""
    if not np.all(np.asarray(variance) > 0):
        raise ValueError("a Gaussian of variance 0 has no density: all its values were the same")


def _variance(column: Column, squares: Floats, n: Floats) -> Floats:
    """The mle variance: per group, of all groups around their own means, or as given."""
    if column.variance == "per_class":
        return squares / np.where(n > 0, n, 1.0)
    shared = _over_groups(squares) / _over_groups(n) if column.variance == "pooled" else float(column.variance)
    return np.ones(np.shape(n)) * shared


def _over_groups(numbers: Any) -> Any:
    """The sum over the groups, which are the last axis; a number alone is one group's."""
    return np.sum(numbers, axis=-1, keepdims=True) if np.ndim(numbers) else numbers
