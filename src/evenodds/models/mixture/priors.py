"""What is believed of a component's shape before any row: pseudo-rows that keep it from collapsing.

A column of counts starts with `strength` rows of all rows' shares, in every component; a column of Gaussians with a
variance that is worth `strength` rows, the pooled one divided by k^(2/d): the part of the spread that is left when k
components share it (Fraley and Raftery 2007). Means and weights have no prior. The default is a hundredth of a row: it
keeps a component from collapsing, and where components lie far apart next to their own spread, one row of the pooled
variance would widen all of them. The estimate is the mode, in log-odds,
log rates, and logs of variances.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.families import Family, Gaussian, NormalInverseGamma, numeric
from evenodds.families.leaves import Floats, axis_of
from evenodds.models.mixture.expected import components
from evenodds.tally import Tally

FLOOR = 2.0**-80  # of the pooled variance: a component that is narrower has collapsed onto one value
EMPTY = 1e-12  # of all rows: a component that has a smaller part of them has none


class CollapsedError(Exception):
    """A component has shrunk onto too few different rows (in a column), or lost all of them (no column)."""

    def __init__(self, component: int, column: str | None = None, before: str = "") -> None:
        super().__init__(component, column, before)
        self.component, self.column, self.before = component, column, before

    def sentence(self, k: int, strength: float | None) -> str:
        """What happened, and what to do."""
        cure = "use fewer components" + ("" if strength else ", or prior=0.01, which gives each a part of a pseudo-row")
        which = f"component {self.component + 1} of {k}"
        if self.column is None:
            return f"{which} has lost all its rows to the others: {cure}"
        return (
            f"{which} has collapsed: it has no spread left in column {self.column!r}{self.before}, "
            f"and the likelihood has no bound; {cure}"
        )


@dataclass(frozen=True, eq=False)
class Prior:
    """The pooled tally of each column, and how many pseudo-rows of it a component starts with."""

    columns: dict[str, Tally]
    strength: float | None
    family: type[Family]
    _rows: dict[tuple[str, int], Tally] = field(default_factory=dict, init=False)

    @functools.cached_property
    def _moments(self) -> dict[str, tuple[float, float]]:
        found = {}
        for name, tally in self.columns.items():
            n, mean, squares = (float(part) for part in numeric.moments(tally))
            found[name] = mean, squares / n
        return found

    @property
    def means(self) -> dict[str, float]:
        """Of Gaussians: each column's mean."""
        return {name: mean for name, (mean, _) in self._moments.items()}

    @functools.cached_property
    def variances(self) -> dict[str, float]:
        """Of Gaussians: each column's variance; a column without any is refused."""
        for name, (mean, variance) in self._moments.items():
            if not variance > 0:
                raise DataError(
                    f"column {name!r} is {mean:g} in every row (one sample, or a constant): "
                    "a Gaussian of it has no density; leave the column out"
                )
        return {name: variance for name, (_, variance) in self._moments.items()}

    @functools.cached_property
    def labels(self) -> dict[str, Any]:
        """Of categories: each column's values."""
        return {name: axis_of(tally, "labels") for name, tally in self.columns.items()}

    def scale(self, name: str, k: int) -> float:
        """The variance that a Gaussian component starts with."""
        return self.variances[name] * k ** (-2.0 / len(self.columns))

    def gaussian(self, name: str, k: int) -> NormalInverseGamma:
        """The prior of a Gaussian column: nothing of the mean, a variance that is worth `strength` rows."""
        if self.strength is None:
            return Gaussian.flat_prior()
        s = self.strength
        return NormalInverseGamma(0.0, 0.0, (s - 1) / 2, s / 2 * self.scale(name, k))

    def rows(self, name: str, k: int) -> Tally:
        """The pseudo-rows of a column of counts, the same for every component."""
        if (name, k) not in self._rows:
            assert self.strength is not None
            pooled = self.columns[name]
            leaf = next(leaf for _, leaf in pooled.layout.specs if leaf in ("sides", "labels", "rows"))
            shares = pooled * (self.strength / float(np.sum(pooled[name, leaf])))  # of the known cells
            self._rows[name, k] = shares.picked(components(k), np.zeros(k, np.int64))
        return self._rows[name, k]

    def estimate(self, family: type[Family], tally: Tally, name: str, k: int) -> Any:
        """The family's estimate of a column's expected tally."""
        try:
            if family is Gaussian:
                return family.estimate(tally, "map", self.gaussian(name, k))
            return family.estimate(tally if self.strength is None else tally + self.rows(name, k), "mle")
        except ValueError:  # a component without a known cell in this column
            raise CollapsedError(0, name) from None

    def check(self, counts: Floats) -> None:
        """Refuse a component without rows."""
        empty = np.flatnonzero(~(counts > EMPTY * counts.sum()))
        if len(empty):
            raise CollapsedError(int(empty[0]))
