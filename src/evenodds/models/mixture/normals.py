"""Gaussian components whose columns hang together: a mean vector and a covariance matrix each.

p(x) = exp(-½ (x-mean)ᵀ covariance⁻¹ (x-mean)) / sqrt(det 2π·covariance)

Rows are whitened: z = L⁻¹ (x - mean) with covariance = L Lᵀ. EM sums Σ r z and Σ r z zᵀ, so that what is summed has the
size of 1 whatever the columns' units, and means that move little are known to the last digit. With missing cells the
same is done for the cells that are there, pattern by pattern; what is expected of the others follows from the sums:

    given the known cells o:  x - mean = A z + noise,   A = covariance[:, o] L_o⁻ᵀ,   noise ~ N(0, covariance - A Aᵀ)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from evenodds import double_double as dd
from evenodds.families.distribution import Seed, generator
from evenodds.families.leaves import Floats
from evenodds.families.normal_gamma import LOG_2PI
from evenodds.labels import Fixed, Ints
from evenodds.models.mixture import kernels
from evenodds.models.mixture.blocks import Block
from evenodds.models.mixture.expected import Expected, expected
from evenodds.models.mixture.priors import FLOOR, CollapsedError, Prior
from evenodds.tally import Leaf

FLAT = 2.0**-46  # of a column's variance: what rounding may leave of it when it follows from the others
FIRST, SECOND = ("", "deviations"), ("", "products")  # the leaves: Σ r (x - mean) and Σ r (x - mean)(x - mean)ᵀ


@dataclass(frozen=True, eq=False)
class Normals:
    """Weights (k,), means (k, d) and covariances (k, d, d); tied ones are all the same."""

    weights: Floats
    names: tuple[str, ...]
    means: Floats
    covariances: Floats
    tied: bool = False

    @property
    def k(self) -> int:
        """How many components."""
        return len(self.weights)

    # -- the E-step --------------------------------------------------------------------------------------------------

    def log_joint(self, block: Block) -> Floats:
        """log weight + log p(row | component), (components, rows)."""
        found = np.empty((self.k, block.rows))
        for columns, rows in block.patterns:
            seen, (cells, weights) = self._seen(columns), block.picked(columns, rows)
            total = np.empty((self.k, len(weights)))
            kernels.joint_normals(cells, weights, seen.means, seen.factors, seen.constants, total)
            if rows is None:
                return total
            found[:, rows] = total
        return found

    def expect(self, block: Block) -> Expected:
        """The sums over a block, one pattern of known cells after the other."""
        d = len(self.names)
        sums, counts = np.zeros(2), np.zeros(self.k)
        first, second = np.zeros((self.k, d)), np.zeros((self.k, d, d))
        for columns, rows in block.patterns:
            seen, wide = self._seen(columns), len(columns)
            own, one, two = np.zeros(self.k), np.zeros((self.k, wide)), np.zeros((self.k, wide, wide))
            cells, weights = block.picked(columns, rows)
            shape = (seen.means, seen.factors, seen.constants)
            kernels.expect_normals(cells, weights, self.weights, *shape, sums, own, one, two)
            two += np.tril(two, -1).transpose(0, 2, 1)
            counts += own
            first += (seen.lift @ one[:, :, None])[:, :, 0]
            second += seen.lift @ two @ seen.lift.transpose(0, 2, 1)
            if wide < d:
                second += own[:, None, None] * seen.rest
        leaves = {
            FIRST: Leaf(Fixed(d), dd.of(first.T), is_sum=True),
            SECOND: Leaf(Fixed(d * d), dd.of(second.reshape(self.k, d * d).T), is_sum=True),
        }
        return expected(sums, counts, leaves)

    # -- the M-step --------------------------------------------------------------------------------------------------

    def updated(self, found: Expected, prior: Prior) -> Normals:
        """The means and covariances that the expected sums estimate."""
        d, k, n = len(self.names), self.k, found.counts
        prior.check(n)
        moved = found.tally[FIRST].T / n[:, None]
        spread = found.tally[SECOND].T.reshape(k, d, d) - n[:, None, None] * moved[:, :, None] * moved[:, None, :]
        strength = 0.0 if prior.strength is None else prior.strength
        if self.tied:
            spread, n = np.repeat(spread.sum(axis=0)[None], k, axis=0), np.full(k, n.sum())
        believed = strength * np.diag([prior.scale(name, k) for name in self.names]) if strength else np.zeros((d, d))
        covariances = (spread + believed) / (n + strength)[:, None, None]
        covariances = (covariances + covariances.transpose(0, 2, 1)) / 2
        new = Normals(found.counts / found.counts.sum(), self.names, self.means + moved, covariances, self.tied)
        new.check(prior)
        return new

    def check(self, prior: Prior) -> None:
        """Refuse a component without any spread, next to all rows', or flat, so that a column follows from others."""
        own = np.einsum("gii->gi", self.covariances)
        least = np.maximum(FLOOR * np.array([prior.variances[name] for name in self.names]), FLAT * own)
        try:
            left = np.einsum("gii->gi", np.linalg.cholesky(self.covariances)) ** 2  # of each column, given those before
        except np.linalg.LinAlgError:
            left = np.array([_left(covariance) for covariance in self.covariances])
        flat = np.argwhere(~(left > least))
        if len(flat):
            g, j = flat[0].tolist()
            raise CollapsedError(g, self.names[j], f" beside {', '.join(map(repr, self.names[:j]))}" if j else "")

    def log_prior(self, prior: Prior) -> float:
        """The prior's log density, but for a constant, of these covariances."""
        if prior.strength is None:
            return 0.0
        scale = np.array([prior.scale(name, self.k) for name in self.names])
        roots = self._whole.factors[:1] if self.tied else self._whole.factors
        logs = -2 * np.log(np.einsum("gii->gi", roots)).sum()
        return float(-0.5 * prior.strength * (logs + np.sum(roots**2 * scale)))  # tr(scale · covariance⁻¹)

    @functools.cached_property
    def _whole(self) -> Seen:
        return Seen.of(self, np.arange(len(self.names)))

    def _seen(self, columns: Ints) -> Seen:
        return self._whole if len(columns) == len(self.names) else Seen.of(self, columns)

    @property
    def parameters(self) -> int:
        """How many numbers are free."""
        d = len(self.names)
        return self.k - 1 + self.k * d + (1 if self.tied else self.k) * (d * (d + 1) // 2)

    def ordered(self, order: Any) -> Normals:
        """The same components in another order."""
        return Normals(self.weights[order], self.names, self.means[order], self.covariances[order], self.tied)

    def sample(self, component: Any, random_state: Seed) -> list[Any]:
        """A row of each of these components: each column's values."""
        noise = generator(random_state).normal(size=(len(component), len(self.names)))
        roots = np.linalg.cholesky(self.covariances)
        rows = self.means[component] + np.einsum("nij,nj->ni", roots[component], noise)
        return list(rows.T)


@dataclass(frozen=True, eq=False)
class Seen:
    """The components as some columns see them: the marginal of these, and what they say of the others."""

    means: Floats  # (k, o)
    factors: Floats  # (k, o, o): L⁻¹, lower triangles
    constants: Floats  # log weight, and the log density at the mean
    lift: Floats  # (k, d, o): A
    rest: Floats  # (k, d, d): covariance - A Aᵀ

    @staticmethod
    def of(whole: Normals, columns: Ints) -> Seen:
        """The marginal of these columns."""
        inner = whole.covariances[:, columns[:, None], columns]
        factors = np.empty_like(inner)
        for g, root in enumerate(np.linalg.cholesky(inner) if len(columns) else ()):  # LAPACK takes no empty matrix
            factors[g] = dtrtri(root, lower=1)[0]
        lift = whole.covariances[:, :, columns] @ factors.transpose(0, 2, 1)
        rest = whole.covariances - lift @ lift.transpose(0, 2, 1)
        rest[:, columns, :] = 0.0
        rest[:, :, columns] = 0.0
        with np.errstate(divide="ignore"):
            logs = np.log(whole.weights) + np.log(np.einsum("gii->gi", factors)).sum(axis=1)
        return Seen(whole.means[:, columns], factors, logs - 0.5 * len(columns) * LOG_2PI, lift, rest)


def _left(covariance: Floats) -> Floats:
    """The variance of each column, given those before it; 0 from the first on that has none."""
    root, first = dpotrf(covariance, lower=1)
    left: Floats = np.diag(root) ** 2
    if first:
        left[first - 1 :] = 0.0
    return left


def start_of(rows: list[Any], prior: Prior, tied: bool, names: list[str]) -> Normals:
    """Components around one row each, as wide as the part of the spread that is left to them."""
    k = len(rows[0])
    means = np.array([np.where(np.isnan(x), prior.means[name], x) for name, x in zip(names, rows)]).T
    one = np.diag([prior.scale(name, k) for name in names])
    return Normals(np.full(k, 1 / k), tuple(names), np.ascontiguousarray(means), np.repeat(one[None], k, axis=0), tied)
