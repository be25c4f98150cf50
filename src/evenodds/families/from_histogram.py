"""What smooth densities of the numeric tally share: the histogram's bins as places that weigh something."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenodds import double_double as dd
from evenodds.errors import DataError
from evenodds.families import numeric
from evenodds.families.base import COLUMN, Family
from evenodds.families.categorical import Dirichlet
from evenodds.families.distribution import tidy
from evenodds.families.leaves import Floats, Rows, read_exactly, share
from evenodds.families.left_out import Left
from evenodds.labels import Fixed, Ints, Labels
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally


class Bins(NamedTuple):
    """Where the histogram's bins stand, how wide they are, and how many values of each group each has."""

    keys: Ints
    at: Floats
    widths: Floats
    counts: Floats  # (bins, groups)
    origin: float

    @staticmethod
    def of(tally: Tally, column: Column) -> Bins:
        """Every value at the same part of its bin: the one at which the mean of all is right."""
        keys, counts = numeric.histogram(tally)
        lower, upper = numeric.edges(keys)
        inner, width = np.where(keys < 0, upper, lower), np.where(keys < 0, lower - upper, upper - lower)
        width = np.where(keys == 0, 0.0, width)
        each = counts.sum(axis=1)
        summed = float(dd.value(read_exactly(tally, "moments")).reshape(2, -1)[0].sum())
        total, reach = summed - column.origin * float(each.sum()), float(each @ width)
        away = float(each @ np.abs(width))
        part = 0.5
        if away > 0:  # outwards from zero: the part of a bin's width at which Σ x is right
            part = (total - float(each @ inner)) / reach if abs(reach) > 1e-3 * away else 0.5
        at = inner + min(max(part, 0.0), 1.0) * width + column.origin
        return Bins(keys, at, np.abs(width), counts, column.origin)

    @staticmethod
    def some(tally: Tally, column: Column) -> Bins:
        """The same, refused where there are none."""
        found = Bins.of(tally, column)
        if not len(found.at):
            raise DataError("no values, so there is no density")
        return found

    def bins(self, x: Floats) -> Ints:
        """In which of the bins each value is."""
        found = np.searchsorted(numeric.spans(self.keys)[0], x - self.origin + 0.0, side="right") - 1
        return np.maximum(found, 0)

    def pseudo_rows(self, prior: Dirichlet) -> Floats:
        """How many rows a prior puts at each place."""
        return np.broadcast_to(np.asarray(prior.concentration, float), len(self.at))


def as_labels(counts: Floats, tally: Tally) -> Tally:
    """Counts per bin and group as a Dirichlet's tally."""
    return Tally.of(tally.groups, {("bins", "labels"): Leaf(Fixed(len(counts)), dd.of(counts))})


def or_all(found: Floats, n: Floats, left: Left, others: Floats, all_n: Floats) -> Floats:
    """log density of each row's value, from log (count · density); a group without values is like all together."""
    empty = (n == 0) & ~left.lost
    return np.asarray(np.where(empty, others[:, None], found) - np.log(np.where(empty, all_n[:, None], n)))


def blended(found: Floats, n: Floats, pseudo: Floats, weight: Floats) -> Floats:
    """The same with so many pseudo-rows in each group, of which log (count · density) is `pseudo`."""
    total = n + weight[:, None]
    return np.asarray(np.logaddexp(found, pseudo[:, None]) - np.log(np.where(total > 0, total, 1.0)))


def summed(each: Floats, counts: Floats) -> Any:
    """Σ count_b log p_b of each group; a place that none of a group's values have may be impossible there."""
    single, seen = each.ndim == 1, counts > 0
    found = np.where(seen, counts * np.where(seen, each[:, None] if single else each, 0.0), 0.0).sum(axis=0)
    return tidy(found[0]) if single else found


class FromHistogram(Family):
    """A density read off the histogram; its prior is a Dirichlet over the bins."""

    origin: float

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """The numeric tally: leaves "rows", "moments" and "histogram"."""
        return numeric.leaves(cells, rows, columns, histogram=True)

    @classmethod
    def flat_prior(cls, strength: float = 1.0) -> Dirichlet:
        """No pseudo-rows at all: such a density has no other that is without opinion."""
        return Dirichlet(0.0)

    @classmethod
    def prior(cls, given: Any, strength: float = 1.0) -> Any:
        """The prior that was given, or the flat one; bins have no names."""
        found = super().prior(given, strength)
        if isinstance(found.labels, Labels):
            raise ValueError(f"prior={given!r} names its values, and bins have no names: give one number for all")
        return found

    @classmethod
    def pooled_prior(cls, tally: Tally, strength: float, column: Column = COLUMN) -> Dirichlet:
        """As if `strength` rows had been seen before, with all groups' density."""
        counts = cls.bins(tally, column).sum(axis=1)
        return Dirichlet(strength * share(counts, counts.sum()))

    @classmethod
    def bins(cls, tally: Tally, column: Column) -> Floats:
        """How many values of each group each bin has, (bins, groups)."""
        return numeric.histogram(tally)[1]

    @classmethod
    def informative(cls, tally: Tally) -> bool:
        """Not where all values are in one bin: then nothing is known of their spread."""
        return len(numeric.bins(tally)) > 1

    @classmethod
    def posterior(cls, data: Any, prior: Any = None, column: Column = COLUMN) -> Any:
        """The Dirichlet of the bins' shares."""
        tally = cls.tallied(data)
        return cls.prior(prior) + as_labels(cls.bins(tally, column), tally)

    @classmethod
    def log_evidence(cls, data: Any, prior: Any = None) -> Any:
        """There is none: the widths are read off the values."""
        raise ValueError(f"a {cls.name} density gives its own data no evidence: its width is read off them")

    def log_likelihood(self, tally: Tally) -> Any:
        """Σ count_b log p(place_b); exact where the values stand at the bins' places."""
        places = Bins.of(tally, Column(origin=self.origin))
        return summed(self.log_prob(places.at), places.counts)
