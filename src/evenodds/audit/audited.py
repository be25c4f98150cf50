"""What a tally of predictions by protected groups says: rates, losses, ranks and honesty of every group, and gaps."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenodds.arguments import tail_of
from evenodds.audit import listed, plainly
from evenodds.audit.delong import Auc, auc
from evenodds.audit.gaps import CRITERIA, Gap, criterion, gap, worst
from evenodds.audit.judge import RANKED
from evenodds.audit.protected import AND, CROSS, EVERYONE, apart
from evenodds.audit.ranked import Scores, scores_by, scores_of
from evenodds.audit.rates import MEASURES, Rate, confusion, rates
from evenodds.audit.reliability import Reliability
from evenodds.data.report import Report
from evenodds.data.sum import CLASSES
from evenodds.errors import DataError, did_you_mean
from evenodds.families.leaves import Floats
from evenodds.labels import Ints, Labels, canonical
from evenodds.show import Frame
from evenodds.tally import Tally

Columns = tuple[str, ...]
By = str | Sequence[str]  # a column of groups, or those of an intersection; of none, everyone


class Loss(NamedTuple):
    """The mean of -log p(true class), in nats a row, with its interval; infinite where a true class had p = 0."""

    mean: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Reads:
    """How a tally is read: the columns of the groups, which class is meant, how sure, how far apart, how small."""

    by: tuple[str, ...]
    positive: str | None = None
    level: float = 0.95
    margin: float = 0.05
    small: float = 30
    declared: Mapping[str, tuple[str, ...]] | None = None  # groups that should be there, rows or not


@dataclass(frozen=True, eq=False, repr=False)
class Audited:
    """How evenly predictions treat groups, read off their tally; those of batches and of files add."""

    reads: Reads
    tally: Tally
    classes: tuple[str, ...]
    report: Report = dataclasses.field(default_factory=Report)

    def __add__(self, other: Audited) -> Audited:
        if not isinstance(other, Audited):
            return NotImplemented
        if (self.reads, self.classes) != (other.reads, other.classes):
            raise DataError("audits of different groups, classes or settings cannot be added: use one Audit for both")
        return Audited(self.reads, self.tally + other.tally, self.classes, self.report + other.report)

    def __radd__(self, other: object) -> Audited:  # sum() starts from 0
        return self if other == 0 else NotImplemented

    def __getstate__(self) -> dict[str, Any]:
        """Without what was read off before: the memory of a method cannot be pickled."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}

    # -- the groups --------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _cells(self) -> tuple[list[tuple[str, ...]], Ints, Ints]:
        """The values of the finest groups; and of each group of the tally, its cell, and its true class."""
        groups = self.tally.groups
        if not isinstance(groups, Labels) or not self.tally[CLASSES].sum() > 0:
            raise DataError("there are no predictions to audit: tally some rows, with weights above 0")
        pairs = [apart(text) for text in groups.texts()]
        cells = sorted({pair[1:] for pair in pairs})
        place, name = {cell: i for i, cell in enumerate(cells)}, {c: i for i, c in enumerate(self.names)}
        return cells, np.array([place[pair[1:]] for pair in pairs]), np.array([name[pair[0]] for pair in pairs])

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The classes; behind them, what was true or said and is none of them."""
        groups, said = self.tally.groups, self.tally.leaf(("", "predicted")).axis
        assert isinstance(groups, Labels)
        assert isinstance(said, Labels)
        more = {apart(text)[0] for text in groups.texts()} | set(said.texts())
        return (*self.classes, *sorted(more - set(self.classes)))

    @functools.cached_property
    def _confusion(self) -> Floats:
        """Rows by (cell, true class, what was said)."""
        cells, cell, true = self._cells
        said = self.tally.leaf(("", "predicted")).axis
        assert isinstance(said, Labels)
        found = np.zeros((len(cells), len(self.names), len(self.names)))
        counts = self.tally["", "predicted"].astype(float)
        for p, text in enumerate(said.texts()):
            found[:, :, self.names.index(text)] += _placed(counts[p], cell, true, found.shape[:2])
        return found

    @property
    def positive(self) -> tuple[str, ...]:
        """The classes that are audited: the one that is meant, the second of two, or each of more."""
        if self.reads.positive is not None:
            return (self.reads.positive,)
        return self.classes[1:2] if len(self.classes) == 2 else self.classes

    @property
    def subsets(self) -> list[tuple[str, ...]]:
        """The columns alone, then every intersection of two, of three, …"""
        by = self.reads.by
        return [some for size in range(1, len(by) + 1) for some in itertools.combinations(by, size)]

    def asked(self, by: By | None = None, positive: Any = None, measure: str = MEASURES[0]) -> tuple[Columns, str]:
        """The columns and the class that are meant, if there are such; of None the first that are audited."""
        columns = self.reads.by[:1] if by is None else (by,) if isinstance(by, str) else tuple(by)
        for column in columns:
            if column not in self.reads.by:
                raise DataError(did_you_mean(column, self.reads.by))
        meant = self.positive[0] if positive is None else canonical(positive)
        if meant not in self.names:
            raise DataError(did_you_mean(meant, self.names, "class"))
        if measure not in MEASURES:
            raise DataError(did_you_mean(measure, MEASURES, "measure"))
        return columns, meant

    def groups(self, by: By | None = None) -> tuple[list[str], Ints]:
        """The names of the groups by these columns, and the group of each of the finest ones."""
        by, _ = self.asked(by)
        at = [self.reads.by.index(column) for column in by]
        values = [tuple(cell[j] for j in at) for cell in self._cells[0]]
        declared = self.reads.declared or {}
        alone = [(value,) for value in declared.get(by[0], ())] if len(by) == 1 else []
        every = sorted({*values, *alone})
        place = {value: i for i, value in enumerate(every)}
        return [AND.join(value) if by else EVERYONE for value in every], np.array([place[value] for value in values])

    def _sum(self, numbers: Floats, where: Ints, groups: int) -> Floats:
        """Numbers (axis, groups of the tally) added up by group: (groups, axis)."""
        total = np.zeros((groups, len(numbers)))
        np.add.at(total, where[self._cells[1]], numbers.T)
        return total

    # -- what is known of each ---------------------------------------------------------------------------------------

    def rates(self, by: By | None = None, positive: Any = None) -> dict[str, dict[str, Rate]]:
        """Each measure of each group."""
        return self._rates(*self.asked(by, positive))

    @functools.cached_property
    def _rates(self) -> Callable[[Columns, str], dict[str, dict[str, Rate]]]:
        return functools.cache(self._find_rates)

    def _find_rates(self, by: Columns, positive: str) -> dict[str, dict[str, Rate]]:
        names, where = self.groups(by)
        counts = np.zeros((len(names), *self._confusion.shape[1:]))
        np.add.at(counts, where, self._confusion)
        found = confusion(counts, self.names.index(positive))
        level, small = self.reads.level, self.reads.small
        return {m: dict(zip(names, rates(k, n, level, small))) for m, (k, n) in found.items()}

    @property
    def scored(self) -> bool:
        """Whether there were probabilities, not only decisions."""
        return ("", "log loss") in self.tally.layout.specs

    def losses(self, by: By | None = None) -> dict[str, Loss]:
        """The log loss of each group, with the interval of Student's t: a Gaussian's mean under a flat prior."""
        from scipy.special import stdtrit

        names, where = self.groups(by)
        if not self.scored:
            return {}
        leaves = (CLASSES, ("", "log loss"), ("", "squares"), ("", "impossible"))
        n, total, squares, lost = (self._sum(self.tally[leaf].astype(float), where, len(names)) for leaf in leaves)
        found = {}
        for g, name in enumerate(names):
            m = n[g, 0]
            if lost[g].sum() or not m:
                found[name] = Loss(np.inf if m else np.nan, None)
                continue
            mean = total[g, 0] / m
            spread = np.sqrt(max(squares[g, 0] / m - mean**2, 0.0) / (m - 1)) if m > 1 else np.nan
            off = float(stdtrit(m - 1, 1 - tail_of(self.reads.level)) * spread) if m > 1 else np.nan
            found[name] = Loss(float(mean), (max(mean - off, 0.0), mean + off) if m > 1 else None)
        return found

    @functools.cached_property
    def _scores(self) -> Callable[[Columns, str], dict[str, Scores]]:
        """The rows of the class and all others, by its log-odds, of each group."""
        return functools.cache(self._find_scores)

    def _find_scores(self, by: Columns, positive: str) -> dict[str, Scores]:
        names, where = self.groups(by)
        _, cell, true = self._cells
        own = true == self.names.index(positive)
        found = scores_by(self.tally, positive, own, where[cell], len(names)) if len(self.classes) <= RANKED else []
        return dict(zip(names, found))

    def aucs(self, by: By | None = None, positive: Any = None) -> dict[str, Auc | None]:
        """The AUC of each group, with DeLong's interval."""
        found = self._scores(*self.asked(by, positive)).items()
        return {name: auc(scores.own, scores.rest, self.reads.level) for name, scores in found}

    def reliability(self, by: By | None = None, positive: Any = None) -> dict[str, Reliability]:
        """How honest the probabilities of each group that has rows are."""
        by, positive = self.asked(by, positive)
        found = self._scores(by, positive).items()
        return {n: Reliability(positive, s) for n, s in found if s.own.sum() + s.rest.sum() > 0}

    def mean_p(self, by: By | None = None, positive: Any = None) -> dict[str, float]:
        """The mean of the probabilities of the class, in each group: to be held against its base rate."""
        by, positive = self.asked(by, positive)
        leaf = scores_of(positive)[0], "p"
        if leaf not in self.tally.layout.specs:
            return {}
        names, where = self.groups(by)
        n, total = (self._sum(self.tally[one].astype(float), where, len(names)) for one in (CLASSES, leaf))
        return {name: float(total[g, 0] / n[g, 0]) for g, name in enumerate(names) if n[g, 0] > 0}

    # -- gaps --------------------------------------------------------------------------------------------------------

    def worst(self, by: By | None, positive: Any, measure: str) -> Gap | None:
        """The pair of groups that is farthest apart in a measure."""
        known = self._rates(*self.asked(by, positive, measure))[measure]
        return worst(measure, known, self.reads.margin, self.reads.level)

    def gap(self, measure: str, high: str, low: str, by: By | None = None, positive: Any = None) -> Gap:
        """How far two groups are apart in a measure, and how sure that is."""
        known = self._rates(*self.asked(by, positive, measure))[measure]
        for name in (high, low):
            if name not in known:
                raise DataError(did_you_mean(name, known, "group"))
        return gap(measure, known, high, low, self.reads.margin, self.reads.level)

    @functools.cached_property
    def gaps(self) -> Frame:
        """The worst pair in every measure, by every column and intersection."""
        found = [
            {"by": CROSS.join(by), "class": c, **g.to_dict()}
            for by, c in itertools.product(self.subsets, self.positive)
            for measure in MEASURES
            if (g := self.worst(by, c, measure)) is not None
        ]
        return Frame(found)

    def criteria(self, by: By | None = None, positive: Any = None) -> dict[str, Gap | None]:
        """What is asked of even treatment, and the gap that breaks it most."""
        return self._criteria(*self.asked(by, positive))

    @functools.cached_property
    def _criteria(self) -> Callable[[Columns, str], dict[str, Gap | None]]:
        return functools.cache(self._find_criteria)

    def _find_criteria(self, by: Columns, positive: str) -> dict[str, Gap | None]:
        known = self._rates(by, positive)
        return {name: criterion(ms, known, self.reads.margin, self.reads.level) for name, ms in CRITERIA.items()}

    # -- for people and programs ---------------------------------------------------------------------------------------

    def table(self, by: By | None = None, positive: Any = None) -> Frame:
        """One line a group; a share after ~ is of so few rows that the others were asked too."""
        return listed.table(self, *self.asked(by, positive))

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every number with its interval, a line each: of everyone, each group, each intersection."""
        return listed.lines(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return listed.to_dict(self)

    def __repr__(self) -> str:
        return plainly.page(self)


def _placed(numbers: Floats, cell: Ints, true: Ints, shape: tuple[int, ...]) -> Floats:
    """Numbers at (cell, true class)."""
    out = np.zeros(shape)
    np.add.at(out, (cell, true), numbers)
    return out
