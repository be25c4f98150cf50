"""What a tally of predictions by protected groups says: rates, losses, ranks and honesty of every group, and gaps."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenodds.audit.delong import Auc, auc
from evenodds.audit.gaps import CRITERIA, Gap, criterion, gap, worst
from evenodds.audit.judge import RANKED, Scores, odds_of, scores_of
from evenodds.audit.judged import plain
from evenodds.audit.protected import AND, apart
from evenodds.audit.rates import MEASURES, Rate, confusion, rates
from evenodds.audit.reliability import Reliability
from evenodds.data.report import Report
from evenodds.data.sum import CLASSES
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import Ints, Labels
from evenodds.schema import did_you_mean
from evenodds.show import Figure, Frame
from evenodds.tally import Tally

BETWEEN = " × "  # columns of an intersection
SAID = "said"  # the mean of the probabilities of the class
EVERYONE = "everyone"


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

    def groups(self, by: tuple[str, ...]) -> tuple[list[str], Ints]:
        """The names of the groups by these columns, and the group of each of the finest ones."""
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

    @functools.cache  # noqa: B019  # of a value that does not change
    def rates(self, by: tuple[str, ...], positive: str) -> dict[str, dict[str, Rate]]:
        """Each measure of each group."""
        names, where = self.groups(by)
        counts = np.zeros((len(names), *self._confusion.shape[1:]))
        np.add.at(counts, where, self._confusion)
        if positive not in self.names:
            raise DataError(f"the class {positive!r} is not among {', '.join(map(repr, self.names))}")
        found = confusion(counts, self.names.index(positive), len(self.names))
        level, small = self.reads.level, self.reads.small
        return {m: dict(zip(names, rates(k, n, level, small))) for m, (k, n) in found.items()}

    @property
    def scored(self) -> bool:
        """Whether there were probabilities, not only decisions."""
        return ("", "log loss") in self.tally.layout.specs

    def losses(self, by: tuple[str, ...]) -> dict[str, Loss]:
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
            off = float(stdtrit(m - 1, (1 + self.reads.level) / 2) * spread) if m > 1 else np.nan
            found[name] = Loss(float(mean), (max(mean - off, 0.0), mean + off) if m > 1 else None)
        return found

    @functools.cache  # noqa: B019
    def _scores(self, by: tuple[str, ...], positive: str) -> dict[str, Scores]:
        """The rows of the class and all others, by its log-odds, of each group."""
        leaf, turned = scores_of(positive), False
        if leaf not in self.tally.layout.specs and len(self.classes) == 2 and positive in self.classes:
            leaf, turned = scores_of(self.classes[1 - self.classes.index(positive)]), True
        if leaf not in self.tally.layout.specs or len(self.classes) > RANKED:
            return {}
        names, where = self.groups(by)
        own = self._cells[2] == self.names.index(positive)
        counts, odds = self.tally[leaf].astype(float), odds_of(self.tally.leaf(leaf).axis.keys)
        mine, rest = (self._sum(counts * which, where, len(names)) for which in (own, ~own))
        if turned:
            odds, mine, rest = -odds[::-1], mine[:, ::-1], rest[:, ::-1]
        return {name: Scores(odds, mine[g], rest[g]) for g, name in enumerate(names)}

    def aucs(self, by: tuple[str, ...], positive: str) -> dict[str, Auc | None]:
        """The AUC of each group, with DeLong's interval."""
        found = self._scores(by, positive).items()
        return {name: auc(scores.own, scores.rest, self.reads.level) for name, scores in found}

    def reliability(self, by: tuple[str, ...], positive: str) -> dict[str, Reliability]:
        """How honest the probabilities of each group that has rows are."""
        found = self._scores(by, positive).items()
        return {n: Reliability(positive, s) for n, s in found if s.own.sum() + s.rest.sum() > 0}

    def said(self, by: tuple[str, ...], positive: str) -> dict[str, float]:
        """The mean of the probabilities of the class, in each group: to be held against its base rate."""
        leaf, turned = (scores_of(positive)[0], SAID), False
        if leaf not in self.tally.layout.specs and len(self.classes) == 2 and positive in self.classes:
            leaf, turned = (scores_of(self.classes[1 - self.classes.index(positive)])[0], SAID), True
        if leaf not in self.tally.layout.specs:
            return {}
        names, where = self.groups(by)
        n, total = (self._sum(self.tally[one].astype(float), where, len(names)) for one in (CLASSES, leaf))
        means = {name: float(total[g, 0] / n[g, 0]) for g, name in enumerate(names) if n[g, 0] > 0}
        return {name: 1 - mean if turned else mean for name, mean in means.items()}

    # -- gaps --------------------------------------------------------------------------------------------------------

    def worst(self, by: tuple[str, ...], positive: str, measure: str) -> Gap | None:
        """The pair of groups that is farthest apart in a measure."""
        return worst(measure, self.rates(by, positive)[measure], self.reads.margin, self.reads.level)

    def gap(self, measure: str, high: str, low: str, by: tuple[str, ...] | None = None) -> Gap:
        """How far two groups are apart in a measure, and how sure that is."""
        if measure not in MEASURES:
            raise DataError(did_you_mean(measure, MEASURES, "measure"))
        known = self.rates(by or self.reads.by[:1], self.positive[0])[measure]
        for name in (high, low):
            if name not in known:
                raise DataError(f"there is no group {name!r}: the groups are {', '.join(map(repr, known))}")
        return gap(measure, known, high, low, self.reads.margin, self.reads.level)

    @functools.cached_property
    def gaps(self) -> Frame:
        """The worst pair in every measure, by every column and intersection."""
        found = [
            {"by": BETWEEN.join(by), "class": c, **_line(g)}
            for by, c in itertools.product(self.subsets, self.positive)
            for measure in MEASURES
            if (g := self.worst(by, c, measure)) is not None
        ]
        return Frame(found)

    @functools.cache  # noqa: B019
    def criteria(self, by: tuple[str, ...], positive: str) -> dict[str, Gap | None]:
        """What is asked of even treatment, and the gap that breaks it most."""
        known = self.rates(by, positive)
        return {name: criterion(ms, known, self.reads.margin, self.reads.level) for name, ms in CRITERIA.items()}

    # -- as tables ---------------------------------------------------------------------------------------------------

    def table(self, by: tuple[str, ...], positive: str) -> Frame:
        """One line a group; a share after ~ is of so few rows that the others were asked too."""
        known = self.rates(by, positive)
        said, aucs, losses = self.said(by, positive), self.aucs(by, positive), self.losses(by)
        lines = []
        for name in self.groups(by)[0]:
            line: dict[str, Any] = {BETWEEN.join(by) or "group": name, "rows": plain(known["base rate"][name].n)}
            for measure in MEASURES:
                line[measure] = _shown(known[measure][name])
            if self.scored:
                found = aucs.get(name)
                line |= {"said": said.get(name), "AUC": found and found.auc, "log loss": losses[name].mean}
            lines.append(line)
        return Frame(lines)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every number with its interval, a line each: of everyone, each group, each intersection."""
        for by, c in itertools.product([(), *self.subsets], self.positive):
            where = {"by": BETWEEN.join(by), "class": c}
            for measure, known in self.rates(by, c).items():
                for name, r in known.items():
                    line = {**where, "group": name, "measure": measure, "k": plain(r.k), "n": plain(r.n)}
                    line |= {"rate": r.rate, "low": r.low, "high": r.high, "small": r.small}
                    if r.small:
                        low, high = r.interval(self.reads.level)
                        line |= {"pooled": r.expected, "pooled low": low, "pooled high": high}
                    yield line
            for name, a in self.aucs(by, c).items():
                if a is not None:
                    yield {**where, "group": name, "measure": "AUC", "rate": a.auc, **_ends(a.interval)}
            for name, loss in self.losses(by).items():
                yield {**where, "group": name, "measure": "log loss", "rate": loss.mean, **_ends(loss.interval)}
            for name, mean in self.said(by, c).items():
                yield {**where, "group": name, "measure": SAID, "rate": mean}

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        from evenodds.audit.plainly import sentences

        criteria = [
            {"by": BETWEEN.join(by), "class": c, "criterion": name, **(g.to_dict() if g else {})}
            for by, c in itertools.product(self.subsets, self.positive)
            for name, g in self.criteria(by, c).items()
        ]
        honest = {
            BETWEEN.join(by) or EVERYONE: {c: {n: r.to_dict() for n, r in self.reliability(by, c).items()}}
            for by, c in itertools.product([(), *self.subsets], self.positive)
            if self.scored
        }
        reads = {"by": list(self.reads.by), "level": self.reads.level, "margin": self.reads.margin}
        return {
            **reads,
            "small": self.reads.small,
            "classes": list(self.classes),
            "rates": list(self.lines()),
            "gaps": self.gaps.to_dicts(),
            "criteria": criteria,
            "calibration": honest,
            "sentences": sentences(self),
        }

    def __repr__(self) -> str:
        from evenodds.audit.plainly import page

        return page(self)


def _placed(numbers: Floats, cell: Ints, true: Ints, shape: tuple[int, ...]) -> Floats:
    """Numbers at (cell, true class)."""
    out = np.zeros(shape)
    np.add.at(out, (cell, true), numbers)
    return out


def _ends(interval: tuple[float, float] | None) -> dict[str, float | None]:
    return dict(zip(("low", "high"), interval or (None, None)))


def _shown(rate: Rate) -> Any:
    """A share as tables show it: after ~ if of few rows."""
    if rate.rate is None:
        return None
    return f"~{rate.rate:.4f}" if rate.small else Figure(rate.rate, ".4f")


def _line(g: Gap) -> dict[str, Any]:
    low, high = g.interval
    return {"measure": g.measure, "high": g.high, "low": g.low, "gap": g.gap, "from": low, "to": high, "sure": g.sure}
