"""Positive values whose logs are Gaussian, with a lump at zero: incomes, fares, sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenodds import double_double as dd
from evenodds.errors import DataError
from evenodds.families import numeric
from evenodds.families.base import COLUMN, Estimate, Family, Reading
from evenodds.families.bernoulli import Bernoulli, Beta
from evenodds.families.distribution import (
    Conjugate,
    Distribution,
    Seed,
    by_group,
    generator,
    groups_last,
    six_digits,
    tidy,
)
from evenodds.families.gaussian import Gaussian
from evenodds.families.leaves import Floats, Rows, count, has, read_exactly
from evenodds.families.left_out import How, Left
from evenodds.families.normal_gamma import NormalInverseGamma
from evenodds.labels import Fixed
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally


@dataclass(frozen=True, eq=False, repr=False)
class ZeroAndLog(Conjugate):
    """What is known of the share of zeros (a Beta) and of the logs of the rest (a NormalInverseGamma)."""

    zero: Beta
    log: NormalInverseGamma

    def __add__(self, tally: Tally) -> Self:
        zeros, logs = parts(tally)
        return type(self)(self.zero + zeros, self.log + logs)

    def log_normaliser(self) -> Any:
        """Of both."""
        return self.zero.log_normaliser() + self.log.log_normaliser()

    @property
    def proper(self) -> bool:
        """Whether both integrate to 1."""
        return self.zero.proper and self.log.proper

    def quantile(self, q: Any) -> Any:
        """Below which the median of the values above zero, e^μ, lies with the probability q."""
        return np.exp(self.log.quantile(q))


@dataclass(frozen=True, eq=False, repr=False)
class LogGaussian(Family):
    """0 with probability `zero`; otherwise e^y with y Gaussian.

    p(0) = zero;  p(x) = (1 - zero) · N(log x) / x

    >>> LogGaussian.fit([0.0, 1.0, np.e, np.e**2], estimate="mle")
    LogGaussian(zero=0.25, mean_log=1, variance_log=0.666667)

    What is summed: zeros and others, Σ log x and Σ (log x)². It can also be estimated from the numeric tally, with
    each value's log taken at its bin's middle: then the mean of the logs is right to 0.004, and mostly to much less.
    The prior is a Beta for the zeros and a NormalInverseGamma for the logs; the estimates are theirs.
    """

    log: Any
    zero: Any
    name = "log_gaussian"
    holds = "is never negative, nor infinite"
    wider = "Column(LogGaussian, variance='pooled')"

    @classmethod
    def impossible(cls, x: Floats) -> NDArray[np.bool_]:
        """Anything below 0."""
        return (x < 0) | np.isinf(x)

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """Leaf "zeros": the number of zeros and of others; leaf "logs": Σ log x and Σ (log x)²."""
        found = {}
        for j, name in enumerate(columns):
            x = cells[j]
            cls.check(x, name, rows.start)
            side = np.where(x > 0, 1, np.where(x == 0, 0, -1)).astype(np.int8)
            logs = np.log(np.where(x > 0, x, np.nan))
            found[name, "zeros"] = Leaf(Fixed(2), count(side, 2, rows))
            found[name, "logs"] = numeric.leaves([logs], rows, {name: COLUMN}, histogram=False)[name, "moments"]
        return found

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> ZeroAndLog:
        """Flat in the share of zeros, in the mean of the logs and in the log of their variance."""
        return ZeroAndLog(Bernoulli.flat_prior(strength), Gaussian.flat_prior())

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> ZeroAndLog:
        """`strength` rows of all groups' share of zeros, and of the logs' within-group variance."""
        zeros, logs = parts(tally)
        return ZeroAndLog(Bernoulli.pooled_prior(zeros, strength), Gaussian.pooled_prior(logs, strength))

    @classmethod
    def free(cls, tally: Tally, column: Column = COLUMN) -> int:
        """The share of zeros in each group, and the logs' Gaussian."""
        return len(tally.groups) + Gaussian.free(tally, column)

    @classmethod
    def readings(cls, estimate: Any, posterior: Any, level: float) -> Iterator[Reading]:
        """The share of zeros, and the median of the rest with its interval."""
        low, high = posterior.interval(level)
        for group, centre in enumerate(np.exp(estimate.log.mean).tolist()):
            figures = {"zero": estimate.zero[group], "median": centre, "low": low[group], "high": high[group]}
            yield Reading(group, None, figures)

    @classmethod
    def informative(cls, tally: Tally) -> bool:
        """Not where all values above zero are one value."""
        return Gaussian.informative(parts(tally)[1])

    @classmethod
    def base_measure(cls, tally: Tally) -> Any:
        """The logs' own, and -Σ log x: the stretching of the axis."""
        _, logs = parts(tally)
        return Gaussian.base_measure(logs) + _stretching(logs)

    @classmethod
    def posterior(cls, data: Any, prior: Any = None, column: Column = COLUMN) -> ZeroAndLog:
        """What is known of the share of zeros, and of the logs as of a Gaussian column's values."""
        start, (zeros, logs) = cls.prior(prior), parts(cls.tallied(data), column.origin)
        return ZeroAndLog(start.zero + zeros, Gaussian.posterior(logs, start.log, column))

    @classmethod
    def _mle(cls, tally: Tally, column: Column) -> Self:
        zeros, logs = parts(tally, column.origin)
        return cls(Gaussian.estimate(logs, "mle", None, column), Bernoulli.estimate(zeros, "mle").p)  # type: ignore[attr-defined]

    @classmethod
    def _estimate(cls, tally: Tally, estimate: Estimate, prior: Any, column: Column) -> Distribution:
        """The distribution estimated from its own tally, or from a numeric one."""
        if estimate == "mle":
            return super()._estimate(tally, estimate, prior, column)
        start = cls.prior(prior)
        zeros, logs = parts(tally, column.origin)
        p: Any = Bernoulli.estimate(zeros, estimate, start.zero)
        return cls(Gaussian.estimate(logs, estimate, start.log, column), p.p)

    @classmethod
    def left_out(cls, tally: Tally, how: How) -> Callable[[Any, Left], Floats]:
        """log p of each value with its own row taken out; 0 where all others above zero are one value."""
        zeros, logs = parts(tally)
        of_zero = of_log = how
        if how.prior is not None:
            of_zero, of_log = how._replace(prior=how.prior.zero), how._replace(prior=how.prior.log)
        zero, log = Bernoulli.left_out(zeros, of_zero), Gaussian.left_out(logs, of_log)

        def evidence(x: Any, left: Left) -> Floats:
            found = zero((x == 0).astype(float), left)
            above = np.flatnonzero(x > 0)
            density = log(np.log(x[above]), left.some(above))
            # of a density that is 0 in all groups, not even that it is above zero
            says = np.any(density, axis=1, keepdims=True)
            found[above] = np.where(says, found[above] + density - np.log(x[above])[:, None], 0.0)
            return found

        return evidence

    def log_prob(self, x: Any) -> Floats:
        """log of the lump at zero, or of the density above it; -inf below."""
        x, zero = by_group(x, self.zero)
        logs = np.log(np.where(x > 0, x, 1.0))
        with np.errstate(divide="ignore"):
            at_zero, above = np.log(zero), np.log1p(-zero)
        density = self.log.log_prob(logs)
        density = above + (np.moveaxis(density, -1, 0) if zero.ndim > x.ndim else density) - logs
        other = np.where(np.isnan(x), np.nan, -np.inf)
        return groups_last(np.where(x > 0, density, np.where(x == 0, at_zero, other)), x)

    @property
    def endless(self) -> NDArray[np.bool_]:
        """Where the logs are all the same."""
        found: NDArray[np.bool_] = self.log.endless
        return found

    def log_likelihood(self, tally: Tally) -> Any:
        """The zeros' term, the logs' term and the stretching of the axis."""
        zeros, logs = parts(tally)
        return Bernoulli(self.zero).log_likelihood(zeros) + self.log.log_likelihood(logs) + _stretching(logs)

    @property
    def mean(self) -> Any:
        """(1 - zero) · e^(μ + σ²/2); infinite for the predictive, whose logs have a Student t's tails."""
        if not isinstance(self.log, Gaussian):
            return tidy(np.full(np.shape(self.zero), np.inf))
        return (1 - self.zero) * np.exp(self.log.mean + self.log.variance / 2)

    @property
    def variance(self) -> Any:
        """E[x²] - mean²; infinite for the predictive."""
        if not isinstance(self.log, Gaussian):
            return tidy(np.full(np.shape(self.zero), np.inf))
        return (1 - self.zero) * np.exp(2 * self.log.mean + 2 * self.log.variance) - self.mean**2

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw values."""
        rng = generator(random_state)
        values = np.exp(self.log.sample(size, rng))
        return np.where(rng.random(values.shape) < self.zero, 0.0, values)

    def __repr__(self) -> str:
        log = self.log
        shown = {"zero": self.zero, "mean_log": log.mean, "variance_log": log.variance}
        return f"LogGaussian({', '.join(f'{name}={six_digits(value)}' for name, value in shown.items())})"


def _stretching(logs: Tally) -> Any:
    """-Σ log x."""
    n, average, _ = numeric.moments(logs)
    return -n * average


def parts(tally: Tally, origin: float = 0.0) -> tuple[Tally, Tally]:
    """The tally of "is it zero?", and the numeric tally of the logs of what is not."""
    if has(tally, "logs"):
        sides, logs = read_exactly(tally, "zeros"), read_exactly(tally, "logs")
    else:
        if origin:
            raise DataError(f"{tally.columns[0]!r} was counted from {origin:g}: its histogram does not tell its logs")
        keys, counts = numeric.histogram(tally)
        if len(keys) and keys[0] < 0:
            raise DataError(f"{tally.columns[0]!r} has negative values: they have no log")
        lower, upper = numeric.edges(keys)
        above = keys > 0
        middle = np.log(np.where(above, (lower + upper) / 2, 1.0))[:, None]
        sides = dd.of(np.stack([counts[~above].sum(axis=0), counts[above].sum(axis=0)]))
        logs = dd.of(np.stack([(counts * middle).sum(axis=0), (counts * middle**2).sum(axis=0)]))
    sides, logs = (numbers.reshape(2, 2, len(tally.groups)) for numbers in (sides, logs))
    zeros = Tally.of(tally.groups, {("x", "sides"): Leaf(Fixed(2), sides[:, ::-1])})
    rows = Leaf(Fixed(1), sides[:, 1:])
    return zeros, Tally.of(tally.groups, {("x", "rows"): rows, ("x", "moments"): Leaf(Fixed(2), logs, is_sum=True)})
