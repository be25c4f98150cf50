"""What a row's own cell says once the row is left out: the row's tally is taken from its group, then it is scored.

    n_vg - w,  N_g - w          the row's value and group without it; all other groups stay as they are

A prior given in numbers stays; one formed from all groups together is formed again without the row. A row of weight w
takes w with it. Everything here is for many rows at once: arrays are (rows, groups).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError
from evenodds.families.leaves import Floats, share
from evenodds.labels import Ints
from evenodds.schema import Column
from evenodds.text.leave_kernels import ROUNDING as ROUNDING

MANY = 1 << 22  # cells of a table looked at together


class How(NamedTuple):
    """How a column is estimated: what, under which settings, with which prior (None: formed from the strength)."""

    estimate: Literal["mle", "map", "mean", "predictive"]
    column: Column
    strength: float
    kind: Literal["pooled", "flat"]
    prior: Any = None
    unseen: bool = False  # whether a value that no other row has gets its smoothing mass

    @property
    def pooled(self) -> bool:
        """Whether the prior is formed from all groups, and so again without each row."""
        return self.prior is None and self.kind == "pooled"


@dataclass(frozen=True)
class Left:
    """Rows that are left out one by one: each one's group, what it weighs, and whether its group goes with it."""

    groups: Ints
    amounts: Floats
    n_groups: int
    gone: NDArray[np.bool_]

    def some(self, rows: Any) -> Left:
        """Some of the rows."""
        return Left(self.groups[rows], self.amounts[rows], self.n_groups, self.gone[rows])

    @property
    def own(self) -> tuple[Ints, Ints]:
        """Where each row's own group is in an array (rows, groups)."""
        return np.arange(len(self.groups)), self.groups

    @property
    def lost(self) -> NDArray[np.bool_]:
        """The groups that go with their only row, (rows, groups)."""
        found = np.zeros((len(self.groups), self.n_groups), bool)
        found[self.own] = self.gone
        return found

    @cached_property
    def alike(self) -> bool:
        """Whether all rows of a group weigh the same."""
        weight = np.zeros(self.n_groups)
        weight[self.groups] = self.amounts
        return bool((weight[self.groups] == self.amounts).all())

    def put(self, totals: Floats, own: Floats) -> Floats:
        """The groups' numbers, (groups,) or (rows, groups), with each row's own group's exchanged."""
        found = np.empty((len(self.groups), self.n_groups))
        found[:] = totals
        found[self.own] = own
        return found

    def without(self, totals: Floats) -> Floats:
        """The groups' counts with each row's weight taken from its own group."""
        found = np.empty((len(self.groups), self.n_groups))
        found[:] = totals
        found[self.own] = less(found[self.own], self.amounts)
        return found


def once_each(values: Ints, kinds: int, left: Left, says: Callable[[Ints, Left], Floats]) -> Floats:
    """What `says` has to say of each row's value, one of so many or -1, asked once for each value and group.

    Rows of one group that weigh the same and have the same value are told the same.
    """
    size = (kinds + 1) * left.n_groups
    if size > len(values) or not left.alike:
        return says(values, left)
    places = (values + 1) * left.n_groups + left.groups
    rows = np.zeros(size, np.int64)
    rows[places] = np.arange(len(values))
    return says(values[rows], left.some(rows)).take(places, axis=0)


def less(counts: Any, amounts: Floats) -> Floats:
    """Counts without the rows that are in them; what rounding leaves is nothing, and less than nothing is refused.

    One count stands for all: each row is taken from it alone.
    """
    rest = counts - amounts
    slack = ROUNDING * amounts
    below = np.flatnonzero(rest < -slack)
    if len(below):
        row = int(below[0])
        held, amount = (np.broadcast_to(part, rest.shape).flat[row] for part in (counts, amounts))
        raise DataError(
            f"it holds {held:g} rows like row {row}, which counts {amount:g}: "
            "only rows that were learnt can be left out"
        )
    return np.where(rest <= slack, 0.0, rest)


@dataclass(frozen=True)
class Counted:
    """Counts of values per group (values, groups), with what a prior in numbers gives each value.

    `stays`: which values are known without any row; the others are gone with their only one.
    """

    counts: Floats
    prior: Floats
    stays: NDArray[np.bool_]

    def cells(self, values: Ints, left: Left, how: How) -> tuple[Floats, Floats, Floats, Floats]:
        """Of each row: the counts of its value and of its groups without it, and the pseudo-counts of both."""
        n, total = left.without(self.counts[values]), left.without(self.counts.sum(axis=0))
        pooled = less(self.counts.sum(axis=1)[values], left.amounts)
        everything = less(self.counts.sum(), left.amounts)
        if how.estimate == "mle":  # a group without values is like all together
            empty = total == 0
            n, total = np.where(empty, pooled[:, None], n), np.where(empty, everything[:, None], total)
            return n, total, np.zeros((len(values), 1)), np.zeros((len(values), 1))
        if how.pooled:
            each = share(how.strength, everything)
            return n, total, (each * pooled)[:, None], (each * everything)[:, None]
        lost = (pooled == 0) & ~self.stays[values]
        prior = self.prior[values]
        weight = (self.prior * (self.stays | (self.counts.sum(axis=1) > 0))).sum() - np.where(lost, prior, 0.0)
        return n, total, prior[:, None], weight[:, None]

    def log_shares(self, values: Ints, left: Left, how: How) -> Floats:
        """log p of each row's value in each group, -inf where no other row has it anywhere."""
        n, total, prior, weight = self.cells(values, left, how)
        mass, whole, lost = n + prior, total + weight, self.lost(values, left)[:, None]
        if how.estimate == "map":
            above = np.maximum(mass - 1.0, 0.0)
            rest = self._above(values, left, how) + np.where(lost, 0.0, above)
            mass, whole = np.where(rest > 0, above, mass), np.where(rest > 0, rest, whole)
        mass = np.where(lost, 0.0, mass)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(mass) - np.log(np.where(whole > 0, whole, 1.0)))

    def lost(self, values: Ints, left: Left) -> NDArray[np.bool_]:
        """Which rows' values no other row has."""
        return np.asarray((less(self.counts.sum(axis=1)[values], left.amounts) == 0) & ~self.stays[values])

    def _above(self, values: Ints, left: Left, how: How) -> Floats:
        """Σ max(n + prior - 1, 0) over all values but the row's own, (rows, groups).

        A pooled prior is another one for each weight that is left out, and none else: the row's value is not in this.
        """
        pooled = self.counts.sum(axis=1)
        weights, which = np.unique(left.amounts, return_inverse=True)
        sums = np.empty((len(weights), left.n_groups))
        step = max(1, MANY // max(self.counts.size, 1))
        for first in range(0, len(weights), step):
            some = weights[first : first + step, None]
            shares = self.prior * (self.stays | (pooled > 0))
            if how.pooled:
                shares = how.strength * share(pooled, less(pooled.sum(), some))
            each = np.maximum(self.counts + np.broadcast_to(shares, (len(some), len(pooled)))[..., None] - 1.0, 0.0)
            sums[first : first + step] = each.sum(axis=1)
        own = self.prior[values]
        if how.pooled:
            own = how.strength * share(pooled[values], less(pooled.sum(), left.amounts))
        return np.asarray(np.maximum(sums[which] - np.maximum(self.counts[values] + own[:, None] - 1.0, 0.0), 0.0))
