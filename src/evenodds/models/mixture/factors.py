"""Components whose columns are independent: a family's distribution for each column, batched over the components."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from evenodds import double_double as dd
from evenodds.cells import Coded
from evenodds.families import Categorical, Family, Gaussian, NormalInverseGamma
from evenodds.families.base import COLUMN as _PLAIN
from evenodds.families.distribution import Seed, generator
from evenodds.families.leaves import Floats, Rows
from evenodds.families.normal_gamma import LOG_2PI
from evenodds.labels import Fixed
from evenodds.models.mixture import kernels
from evenodds.models.mixture.blocks import Block
from evenodds.models.mixture.expected import Expected, components, expected
from evenodds.models.mixture.priors import FLOOR, CollapsedError, Prior
from evenodds.tally import Leaf, Name, Tally


@dataclass(frozen=True, eq=False)
class Factors:
    """Weights, and for each column a distribution whose parameters have a number for every component."""

    weights: Floats
    columns: dict[str, Any]
    spherical: bool = False  # of Gaussians: one variance for all columns

    @property
    def k(self) -> int:
        """How many components."""
        return len(self.weights)

    @functools.cached_property
    def gaussian(self) -> bool:
        """Whether the columns are Gaussians; otherwise they have values that can be counted."""
        return isinstance(next(iter(self.columns.values())), Gaussian)

    # -- the E-step --------------------------------------------------------------------------------------------------

    def log_joint(self, block: Block) -> Floats:
        """log weight + log p(row | component), (components, rows)."""
        with np.errstate(divide="ignore"):
            total = np.repeat(np.log(self.weights)[:, None], block.rows, axis=1)
        if self.gaussian:
            for x, column in zip(block.columns, self.columns.values()):
                kernels.add_known(np.ascontiguousarray(x, float), *_curve(column), total)
        else:
            values, codes = block.counted
            kernels.add_table(codes, self._table(values), total)
        return total

    def expect(self, block: Block) -> Expected:
        """The sums over a block."""
        return self._expect_numbers(block) if self.gaussian else self._expect_values(block)

    def _expect_numbers(self, block: Block) -> Expected:
        curves = map(np.array, zip(*(_curve(column) for column in self.columns.values())))
        sums, counts, moments = np.zeros(2), np.zeros(self.k), np.zeros((len(self.columns), self.k, 3))
        kernels.expect_numbers(*block.picked(), self.weights, *curves, sums, counts, moments)
        leaves: dict[Name, Leaf] = {}
        for (name, column), sum_ in zip(self.columns.items(), moments):
            leaves |= _moments(name, np.asarray(column.mean), sum_)
        return expected(sums, counts, leaves)

    def _expect_values(self, block: Block) -> Expected:
        values, codes = block.counted
        total = self.log_joint(block)
        sums, found = np.zeros(2), np.zeros((self.k, sum(map(len, values)) + 1))
        kernels.share_out(total, block.weights, self.weights, np.empty(block.rows), sums)
        kernels.add_counts(codes, total, found)
        leaves: dict[Name, Leaf] = {}
        at = 0
        for (name, column), here in zip(self.columns.items(), values):
            counts = found[:, at : at + len(here)]
            at += len(here)
            leaves |= counted(name, column, here, counts)
        return expected(sums, total.sum(axis=1), leaves)

    def _table(self, values: list[Any]) -> Floats:
        """log p of each column's values, one column after the other, (components, values); 0 at the end: missing."""
        parts = [
            column.log_prob(_cells(column, here)).T.reshape(self.k, len(here))
            for column, here in zip(self.columns.values(), values)
        ]
        return np.concatenate([*parts, np.zeros((self.k, 1))], axis=1)

    # -- the M-step --------------------------------------------------------------------------------------------------

    def updated(self, found: Expected, prior: Prior) -> Factors:
        """The parameters that the expected tallies estimate."""
        counts = found.counts
        prior.check(counts)
        tallies = found.tally.by_column()
        new = {name: prior.estimate(type(column), tallies[name], name, self.k) for name, column in self.columns.items()}
        if self.gaussian:
            if self.spherical:
                new = _one_variance(new, {name: tallies[name] for name in new}, prior)
            for name, column in new.items():
                flat = np.flatnonzero(~(column.variance > FLOOR * prior.variances[name]))
                if len(flat):
                    raise CollapsedError(int(flat[0]), name)
        return Factors(counts / counts.sum(), new, self.spherical)

    def log_prior(self, prior: Prior) -> float:
        """The prior's log density, but for a constant, of these parameters."""
        if prior.strength is None:
            return 0.0
        if self.gaussian:
            return sum(
                -0.5 * prior.strength * float(np.sum(np.log(v) + prior.scale(name, self.k) / v))
                for name, v in ((name, np.asarray(column.variance)) for name, column in self.columns.items())
            )
        return sum(float(np.sum(c.log_likelihood(prior.rows(name, self.k)))) for name, c in self.columns.items())

    @property
    def parameters(self) -> int:
        """How many numbers are free."""
        each = sum(len(c.shares) - 1 if isinstance(c, Categorical) else 1 for c in self.columns.values())
        if self.gaussian:
            each += 1 if self.spherical else len(self.columns)
        return self.k - 1 + self.k * each

    def ordered(self, order: Any) -> Factors:
        """The same components in another order."""
        return Factors(self.weights[order], {n: _picked(c, order) for n, c in self.columns.items()}, self.spherical)

    def sample(self, component: Any, random_state: Seed) -> list[Any]:
        """A row of each of these components: each column's values."""
        rng = generator(random_state)
        rows = np.arange(len(component))
        return [column.sample(len(component), rng)[rows, component] for column in self.columns.values()]


def _curve(column: Any) -> tuple[Floats, Floats, Floats]:
    """The mean, 1 / 2 variance, and log density at the mean, of Gaussians."""
    variance = np.asarray(column.variance, float)
    return np.asarray(column.mean, float), 0.5 / variance, -0.5 * (LOG_2PI + np.log(variance))


def _picked(column: Any, order: Any) -> Any:
    return column._each(lambda value: value[..., order])


def _cells(column: Any, values: Any) -> Any:
    """Different values as the family takes cells."""
    if isinstance(column, Categorical):
        return Coded(values, column.labels, np.arange(len(column.labels)))
    return values.astype(float)


def counted(name: str, column: Any, values: Any, counts: Floats) -> dict[Name, Leaf]:
    """The family's own leaves of these values, each in every component, weighing counts (components, values)."""
    k = len(counts)
    each = np.repeat(np.arange(len(values)), k)
    rows = Rows(np.tile(np.arange(k, dtype=np.int32), len(values)), k, np.ascontiguousarray(counts.T).ravel())
    family = cast(type[Family], type(column))
    return family.leaves([_cells(column, values[each])], rows, {name: _PLAIN})


def _moments(name: str, means: Floats, sums: Floats) -> dict[Name, Leaf]:
    """The numeric tally of deviations from known means: Σx = n·mean + Σ(x - mean), and so on, in double-doubles."""
    n, first, second = (dd.of(np.ascontiguousarray(part)) for part in sums.T)
    mean = dd.of(means)
    level = dd.multiply(n, mean)
    twice = dd.multiply(dd.add(level, dd.add(first, first)), mean)  # n·mean² + 2·mean·Σ(x - mean)
    both = np.stack([dd.add(level, first), dd.add(twice, second)], axis=1)
    return {(name, "rows"): Leaf(Fixed(1), n[:, None]), (name, "moments"): Leaf(Fixed(2), both, is_sum=True)}


def _one_variance(columns: dict[str, Any], tallies: dict[str, Tally], prior: Prior) -> dict[str, Any]:
    """One variance a component: what the columns' posteriors know of theirs, together."""
    known: list[NormalInverseGamma] = [
        Gaussian.posterior(tallies[name], prior.gaussian(name, len(tallies[name].groups))) for name in columns
    ]
    shape = sum(np.asarray(one.shape) + 0.5 for one in known)
    scale = sum(np.asarray(one.scale) for one in known)
    return {name: dataclasses.replace(c, variance=np.asarray(scale / shape)) for name, c in columns.items()}


def over(start: Factors, prior: Prior) -> Factors:
    """The same components over the values that the rows have; one that they do not know has its share of all rows."""
    columns = dict(start.columns)
    for name, column in start.columns.items():
        if isinstance(column, Categorical) and column.labels != prior.labels[name]:
            every: Any = Categorical.estimate(prior.columns[name], "mle")
            labels, pooled = prior.labels[name], every.shares.reshape(-1, 1)
            where = column.labels.find(labels.keys)[:, None]
            shares = np.where(where >= 0, column.shares[where[:, 0]], 0.0)
            total, rest = shares.sum(axis=0), float(pooled[where >= 0].sum())
            there = (where >= 0) & (total > 0)
            shares = np.where(there, rest * shares / np.where(total > 0, total, 1.0), pooled)
            columns[name] = Categorical(shares, labels)
    return dataclasses.replace(start, columns=columns)


def start_of(family: type[Family], rows: list[Any], prior: Prior, spherical: bool, names: list[str]) -> Factors:
    """Components that look like one row each, mixed with one that looks like all rows."""
    k = len(rows[0])
    columns: dict[str, Any] = {}
    for name, x in zip(names, rows):
        if family is Gaussian:
            scale = np.full(k, prior.scale(name, k))
            centre = np.where(np.isnan(x), prior.means[name], x)
            columns[name] = Gaussian(centre, scale)
            continue
        cells = Coded(x, prior.labels[name], np.arange(len(prior.labels[name]))) if family is Categorical else x
        leaves = family.leaves([cells], Rows(np.arange(k, dtype=np.int32), k), {name: _PLAIN})
        tally = Tally.of(components(k), leaves) + dataclasses.replace(prior, strength=1.0).rows(name, k)
        columns[name] = family.estimate(tally, "mle")
    if spherical:
        variance = np.mean([c.variance for c in columns.values()], axis=0)
        columns = {name: dataclasses.replace(c, variance=variance) for name, c in columns.items()}
    return Factors(np.full(k, 1 / k), columns, spherical)
