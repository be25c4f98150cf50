"""What a page says of groups: their sizes, rates and criteria, what stands in for them, and what a graph says."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from evenodds import plots
from evenodds.audit import graph as by_graph
from evenodds.audit.audited import Audited
from evenodds.audit.graph import GraphAudit
from evenodds.audit.plainly import RECORDED, criteria, sentences
from evenodds.audit.protected import CROSS, EVERYONE
from evenodds.audit.rates import Rate
from evenodds.audit.stand_ins import StandIns, of_model
from evenodds.data.source import Source
from evenodds.errors import several
from evenodds.plots.paper import Paper, Picture, Section
from evenodds.show import Frame, apart, plain

SHOWN = ("selection rate", "TPR", "FPR", "PPV")
HONEST = 6  # groups whose honesty fits into one picture
LIMITS = (
    "An audit says how groups are treated, not what is fair.",
    RECORDED,
    "Small groups have wide intervals; that no gap is sure does not say that there is none.",
    "Of many pairs the farthest is named: how sure it is was not corrected for having been picked.",
)


@dataclass(frozen=True)
class Groups:
    """An audit, and for a model of ours what stands in for its groups; with a graph, what that says."""

    audited: Audited
    stand_ins: tuple[StandIns, ...] = ()
    graphs: tuple[GraphAudit, ...] = ()

    @classmethod
    def of(
        cls,
        audited: Audited,
        model: Any,
        source: Source,
        sample_weight: str | None = None,
        threads: int | None = None,
        graph: Any = None,
        stand_ins: bool = True,
    ) -> Groups:
        """What can be said of the groups that were audited, of any model of ours, or of none.

        Stand-ins are looked for among the columns that the model reads: a pass over the rows for each column of groups.
        """
        by = audited.reads.by
        if model is None:
            return cls(audited)
        schema, level = model.schema, audited.reads.level
        found = [of_model(model, source, name, sample_weight, level, threads) for name in by if stand_ins]
        drawn = by if graph is not None else ()
        told = [by_graph.by_graph(graph, name, schema.target, inputs=schema.sources) for name in drawn]
        return cls(audited, tuple(found), tuple(told))

    @property
    def sections(self) -> list[Section]:
        """For people."""
        return [_treated(self.audited), *([_stand_ins(self.stand_ins)] if self.stand_ins else []),
                *([_by_graph(self.graphs)] if self.graphs else [])]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        more = {
            "stand_ins": [one.to_dict() for one in self.stand_ins],
            "graphs": [one.to_dict() for one in self.graphs],
        }
        return {**self.audited.to_dict(), **{name: value for name, value in more.items() if value}}

    def paper(self, title: str) -> Paper:
        """The audit alone, as a page."""
        first = Section("What it can say", LIMITS)
        who = Section("Who was audited", (), [group_sizes(self.audited)])
        return Paper(title, [first, who, *self.sections], self.to_dict())


def group_sizes(audited: Audited) -> Frame:
    """How many rows each group has."""
    lines = [
        {"by": CROSS.join(one), "group": name, "rows": plain(r.n), **_few(r)}
        for one in audited.subsets
        for name, r in audited.rates(one, audited.positive[0])["base rate"].items()
    ]
    return Frame(lines, "Groups")


def _counted(r: Rate) -> dict[str, Any]:
    return {"k": plain(r.k), "of": plain(r.n), "rate": r.rate, "low": r.low, "high": r.high, **_few(r)}


def _few(rate: Rate) -> dict[str, str]:
    return {"note": "few rows"} if rate.small else {}


def _treated(audited: Audited) -> Section:
    """Rates of every group, the criteria side by side."""
    within = []
    for by, c in itertools.product(audited.subsets, audited.positive):
        judged = criteria(audited, by, c)
        parts: list[Picture | Frame] = [judged] if len(judged.names) > 1 else []
        for measure in SHOWN:
            lines = [
                {CROSS.join(by): name, **apart(_counted(r), (CROSS.join(by),))}
                for name, r in audited.rates(by, c)[measure].items()
            ]
            alt = f"{measure} of {c!r} by {CROSS.join(by)}, with intervals."
            parts.append(Picture(plots.groups(audited, measure, by, c), alt, Frame(lines), measure))
        parts += _honest(audited, by, c)
        parts.append(Frame(audited.table(by, c).rows, "All rates"))
        title = CROSS.join(by) + (f": {c}" if len(audited.positive) > 1 else "")
        within.append(Section(title, (), parts))
    said = [(c, audited.rates((), c)["selection rate"][EVERYONE]) for c in audited.positive]
    counts = several([f"{whole.k:,.0f} {'' if i else 'are said to be '}{c!r}" for i, (c, whole) in enumerate(said)])
    start = f"Of all {said[0][1].n:,.0f} rows, {counts}."
    return Section("How it treats groups", [start, *sentences(audited)], (), within)


def _honest(audited: Audited, by: tuple[str, ...], c: str) -> list[Picture | Frame]:
    """How honest the probabilities are in each group, of groups that fit into one picture."""
    found = audited.reliability(by, c) if audited.scored and len(by) == 1 else {}
    if not 0 < len(found) <= HONEST:
        return []
    lines = [{by[0]: name, **row} for name, each in found.items() for row in each.numbers]
    alt = f"Probability said of {c!r} against the share seen, by {by[0]}."
    return [Picture(plots.reliability(found), alt, Frame(lines), "honesty")]


def _stand_ins(found: tuple[StandIns, ...]) -> Section:
    """What tells a group, and its share of the evidence."""
    within = [
        Section(f"Instead of {one.by}", one.sentences(), [one.columns, *([one.words] if len(one.words) else [])])
        for one in found
    ]
    return Section("What stands in for a group", (), (), within)


def _by_graph(found: tuple[GraphAudit, ...]) -> Section:
    """Limits first, then the three criteria and their paths."""
    within = []
    for one in found:
        paths = [
            {"criterion": name, **{k: v for k, v in row.items() if k != "by"}}
            for name, each in one.criteria.items()
            for row in each.frame
        ]
        tables = [Frame(one.proxies.rows, f"Inputs of {one.predicted}"), Frame(paths, "Paths")]
        within.append(Section(f"{one.by} in the graph", one.sentences(), tables))
    return Section("What the graph says", by_graph.LIMITS, (), within)
