"""Does it hold elsewhere? Hospitals, schools, months: how good a model is at a site that it never saw, and why not.

The tally of every class at every site is one sum. The model without a site is the sum of the others, so leaving every
site out costs no more than leaving none. A second pass asks both models of every row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.audit.counted import countable, counts_of, word_table
from evenodds.audit.crossed import Crossed, cross
from evenodds.audit.protected import groups_of
from evenodds.audit.rates import rates
from evenodds.audit.stand_ins import stand_ins
from evenodds.audit.word_tests import comparable
from evenodds.cells import Coded
from evenodds.data.files import read as source_of
from evenodds.data.memory import Table
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.errors import DataError, did_you_mean
from evenodds.families import WordCounts
from evenodds.families.leaves import Floats
from evenodds.models.learn import schema_of
from evenodds.models.naive_bayes import Model
from evenodds.schema import Column, SchemaWarning
from evenodds.show import Frame, percent

MOST = 100  # sites: each of them once more is judged by a model of all others
SURE = 3.3  # standard errors on both sides of zero, from which on a sign flips: one in a thousand by chance


@dataclass(frozen=True, eq=False, repr=False)
class Environments:
    """How good a model is at each site, seen and never seen; what flips; what gives the site away."""

    sites: Frame
    flips: Frame  # values whose evidence points to one class at a site, to the other elsewhere
    leaks: Frame  # columns by how well they tell the site, beside their share of the evidence
    words: Frame  # that tell the site
    report: Report

    @property
    def worst(self) -> dict[str, Any]:
        """The site where the model that never saw it is least often right."""
        known = [row for row in self.sites if row["left out"] is not None]
        if not known:
            raise DataError("no site could be left out: the others lack a class")
        return min(known, key=lambda row: row["left out"])

    def sentences(self) -> list[str]:
        """In plain words."""
        found = []
        if any(row["left out"] is not None for row in self.sites):
            worst = self.worst
            found.append(
                f"Worst at {worst['site']}: of 100 rows there {100 * worst['seen']:.0f} are judged right by a model "
                f"that learnt them too, {100 * worst['left out']:.0f} by one that never saw {worst['site']}."
            )
        leaks = [row for row in self.leaks if row["gives away"]]
        if leaks:
            share = sum(row["evidence"] for row in leaks)
            names = ", ".join(row["column"] for row in leaks)
            found.append(f"Give the site away: {names}, with {percent(share, 0)} of the evidence.")
        if len(self.flips):
            names = ", ".join(dict.fromkeys(row["column"] for row in self.flips))
            found.append(f"Evidence that points to one class at one site, to the other at another: {names}.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        names = ("sites", "flips", "leaks", "words")
        return {**{name: getattr(self, name).to_dicts() for name in names}, "sentences": self.sentences()}

    def __repr__(self) -> str:
        flips = [f"Evidence that flips:\n{self.flips}"] if len(self.flips) else []
        words = [f"{self.words}"] if len(self.words) else []
        return "\n\n".join([f"{self.sites}", *flips, f"{self.leaks}", *words, "\n".join(self.sentences())])


def environments(
    data: Any, target: str, site: str, columns: Any = None, level: float = 0.95, threads: int | None = None
) -> Environments:
    """A model of `target` at each `site`, a column that the model does not get to see: of a table, or of files."""
    source = source_of(data)
    names = source.sample().columns
    for name in (target, site):
        if name not in names:
            raise DataError(f"{source.name}: {did_you_mean(name, names)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        schema = comparable(schema_of(source, target, {**(columns or {}), site: Column(role="ignore")}))
    of, report = cross(source, schema, site, None, threads)
    if len(of.groups) > MOST:
        raise DataError(
            f"{source.name}: {site!r} has {len(of.groups):,} values, of which each would be left out in turn: at most "
            f"{MOST} sites are compared; put some together first"
        )
    sites = _sites(of, source, level, threads)
    found = stand_ins(of, level)
    leaks = [
        {"column": row["column"], "V with site": row["V"], "V in class": row["V in class"], "p": row["p in class"]}
        | {"evidence": row["evidence"], "gives away": row["in class"]}
        for row in found.columns
    ]
    words = [{name.replace("group", "site"): value for name, value in row.items()} for row in found.words]
    return Environments(sites, _flips(of), Frame(leaks), Frame(words), report)


def _sites(of: Crossed, source: Source, level: float, threads: int | None) -> Frame:
    """How often the model is right at each site: each row left out, and with the whole site left out."""
    whole, others = of.whole, {name: of.without(name) for name in of.groups if len(of.groups) > 1}
    right = {name: np.zeros(3) for name in of.groups}  # rows, right with the site seen, right without it
    reading = Reading(of.schema)
    for batch in source.batches(list(dict.fromkeys([*reading.columns, of.by]))):
        read = reading(batch)
        if not read.table.rows:
            continue
        assert read.target is not None
        where = groups_of(batch, read, (of.by,))
        seen = _right(whole, whole.leave_one_out(read.table, read.target, None, threads), read.target)
        for g, name in enumerate(where.labels.texts()):
            mine = np.flatnonzero(where.places == g)
            found = _elsewhere(others.get(name), read.table.take(mine), read.target[mine], threads)
            right[name] += len(mine), seen[mine].sum(), found
    lines = []
    for name, (n, here, left) in right.items():
        [one, other] = rates(np.array([here, np.nan_to_num(left)]), np.array([n, n]), level, 0)
        line = {"site": name, "rows": int(n), "seen": one.rate, "low": one.low, "high": one.high}
        known = not np.isnan(left)
        more = {"left out": other.rate, "left out low": other.low, "left out high": other.high}
        lines.append({**line, **(more if known else dict.fromkeys(more))})
    return Frame(lines)


def _right(model: Model, log_p: Floats, truth: Coded) -> Any:
    return log_p.argmax(axis=1) == model.places(truth.labels)[truth.places]


def _elsewhere(model: Model | None, rows: Table, truth: Coded, threads: int | None) -> float:
    """How many rows of a site a model that has not seen it judges right; nan if it knows of one class only."""
    if model is None or len(model.classes) < 2:
        return np.nan
    return float(_right(model, model.log_proba(rows, threads), truth).sum()) if rows.rows else 0.0


def _flips(of: Crossed) -> Frame:
    """Values and words that speak for the second of two classes at one site, against it at another, for sure."""
    names = of.classes
    found: list[dict[str, Any]] = []
    if len(names) != 2:
        return Frame(found)
    sites = [s for s in of.groups if all((c, s) in of.pairs for c in names)]
    at = np.array([[of.pairs.index((c, s)) for c in names] for s in sites]).reshape(-1, 2)
    for name in of.schema.features:
        known = _counted(of, name)
        if known is None or not len(at):
            continue
        called, table, totals = known
        here, rest = table[:, at] + 0.5, totals[at] - table[:, at] + 0.5  # values, sites, classes
        odds = np.log(here[..., 1] / rest[..., 1]) - np.log(here[..., 0] / rest[..., 0])
        z = odds / np.sqrt((1 / here + 1 / rest).sum(axis=-1))
        for v in np.flatnonzero((z.max(axis=1) > SURE) & (z.min(axis=1) < -SURE)).tolist():
            top, low = int(np.argmax(z[v])), int(np.argmin(z[v]))
            line = {"column": name, "value": called(v), f"for {names[1]} at": sites[top], "log-odds": odds[v, top]}
            found.append({**line, f"for {names[0]} at": sites[low], "log-odds there": odds[v, low]})
    return Frame(found)


def _counted(of: Crossed, name: str) -> tuple[Callable[[int], str], Floats, Floats] | None:
    """A column's values or words: what each is called, its counts in each class at each site, and of how many."""
    if of.schema.features[name].words is not None:
        keys, table, totals = word_table(of.wide, name)
        counts = WordCounts.counts(of.wide.column_tally(name))
        return (lambda v: counts.text(int(keys[v]))), table, totals
    if not countable(of.wide, name):
        return None
    values, table = counts_of(of.wide, name)
    return values.__getitem__, table, table.sum(axis=0)
