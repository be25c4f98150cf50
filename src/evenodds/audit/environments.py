"""Does it hold elsewhere? Hospitals, schools, months: how good a model is at a site that it never saw, and why not.

The tally of every class at every site is one sum. The model without a site is the sum of the others, so leaving every
site out costs no more than leaving none.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.audit.protected import BETWEEN, crossed, together
from evenodds.audit.rates import rates
from evenodds.audit.shift import association, counts_of
from evenodds.cells import codes
from evenodds.data.memory import Table, table
from evenodds.data.source import Memory
from evenodds.data.sum import sum_table, target_codes
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import Labels
from evenodds.models.learn import schema_of
from evenodds.models.naive_bayes import Model
from evenodds.schema import Column, Schema, SchemaWarning
from evenodds.show import Figure, Frame
from evenodds.tally import Tally

SURE = 3.3  # standard errors on both sides of zero, from which on a sign flips: one in a thousand by chance


@dataclass(frozen=True, eq=False, repr=False)
class Environments:
    """How good a model is at each site, seen and never seen; what flips; what gives the site away."""

    sites: Frame
    flips: Frame  # values whose evidence points to one class at a site, to the other elsewhere
    leaks: Frame  # columns by how well they tell the site, beside their share of the evidence

    @property
    def worst(self) -> dict[str, Any]:
        """The site where the model that never saw it is least often right."""
        known = [row for row in self.sites if row["left out"] is not None]
        if not known:
            raise DataError("no site could be left out: the others lack a class")
        return min(known, key=lambda row: row["left out"])

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {"sites": self.sites.to_dicts(), "flips": self.flips.to_dicts(), "leaks": self.leaks.to_dicts()}

    def __repr__(self) -> str:
        parts = [
            f"{self.sites}",
            *([f"Evidence that flips:\n{self.flips}"] if len(self.flips) else []),
            f"{self.leaks}",
        ]
        return "\n\n".join(parts)


def environments(
    data: Any, target: str, site: str, columns: Any = None, level: float = 0.95, threads: int | None = None
) -> Environments:
    """A model of `target` at each `site`, a column that the model does not get to see."""
    rows = table(data)
    told = {**(columns or {}), site: Column(role="ignore")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        schema = schema_of(Memory(rows), target, told)
    truth, where = target_codes(rows[target], rows.rows), together([codes(rows[site])])
    labels, place = crossed(truth, where)
    both = codes(np.array([labels.text(i) for i in range(len(labels))], dtype=object)[place])
    wide = Model(Schema(schema.columns, target), sum_table(rows, schema, both, None, threads))
    pairs = [str(label).split(BETWEEN) for label in wide.classes.tolist()]
    sites = sorted({name for _, name in pairs})
    alone = {name: _at(wide.tally, schema, name) for name in sites}
    whole = sum(alone[name] for name in sites[1:]) + alone[sites[0]] if len(sites) > 1 else alone[sites[0]]
    seen = whole.leave_one_out(rows, truth, None, threads).argmax(axis=1) == whole.places(truth.labels)[truth.places]
    lines = []
    for name in sites:
        mine = np.flatnonzero(where.places == where.labels.texts().index(name))
        others = [alone[other] for other in sites if other != name]
        known = _right(sum(others[1:], others[0]), rows.take(mine), truth[mine], threads) if others else None
        right = float(seen[mine].sum())
        [rate] = rates(np.array([right]), np.array([float(len(mine))]), level, 0)
        line = {"site": name, "rows": len(mine), "seen": rate.rate, "low": rate.low, "high": rate.high}
        lines.append({**line, "left out": known})
    return Environments(Frame(lines), _flips(wide, pairs, truth.labels), _leaks(wide, whole, pairs, sites))


def _at(tally: Tally, schema: Schema, site: str) -> Model:
    """The model of one site."""
    groups = tally.groups
    assert isinstance(groups, Labels)
    texts = groups.texts()
    mine = [i for i, text in enumerate(texts) if text.split(BETWEEN)[1] == site]
    labels, place = Labels.coded([texts[i].split(BETWEEN)[0] for i in mine])
    ordered = np.empty(len(mine), np.int64)
    ordered[place] = mine
    return Model(schema, tally.picked(labels, ordered).trimmed())


def _right(model: Model, rows: Table, truth: Any, threads: int | None) -> float | None:
    """The accuracy of a model at a site it has not seen; None if it knows of one class only."""
    if len(model.classes) < 2:
        return None
    return float(np.mean(model.log_proba(rows, threads).argmax(axis=1) == model.places(truth.labels)[truth.places]))


def _flips(wide: Model, pairs: list[list[str]], classes: Labels) -> Frame:
    """Values that speak for the second of two classes at one site, and against it at another, for sure."""
    names = sorted(classes.texts())
    found: list[dict[str, Any]] = []
    if len(names) != 2:
        return Frame(found)
    sites = [s for s in sorted({s for _, s in pairs}) if all([c, s] in pairs for c in names)]
    for name, column in wide.schema.features.items():
        if column.words is not None:
            continue
        values, counts = counts_of(wide, name)
        at = np.array([[pairs.index([c, s]) for c in names] for s in sites]).reshape(-1, 2)
        here = counts[:, at] + 0.5  # values, sites, classes
        rest = counts.sum(axis=0)[at] - counts[:, at] + 0.5
        odds = np.log(here[..., 1] / rest[..., 1]) - np.log(here[..., 0] / rest[..., 0])
        error = np.sqrt((1 / here + 1 / rest).sum(axis=-1))
        for v, value in enumerate(values):
            z = odds[v] / error[v]
            if len(z) and z.max() > SURE and z.min() < -SURE:
                top, low = int(np.argmax(z)), int(np.argmin(z))
                line = {"column": name, "value": value, f"for {names[1]} at": sites[top], "log-odds": odds[v, top]}
                found.append({**line, f"for {names[0]} at": sites[low], "log-odds ": odds[v, low]})
    return Frame(found)


def _leaks(wide: Model, whole: Model, pairs: list[list[str]], sites: list[str]) -> Frame:
    """How well each column tells the site (Cramér's V), and its share of the evidence for the class."""
    group = np.array([sites.index(site) for _, site in pairs])
    classes = sorted({c for c, _ in pairs})
    of_class = np.array([classes.index(c) for c, _ in pairs])
    found: list[dict[str, Any]] = []
    for name, column in wide.schema.features.items():
        if column.words is not None:
            continue
        _, counts = counts_of(wide, name)
        by_site = np.stack([counts[:, group == s].sum(axis=1) for s in range(len(sites))], axis=1)
        by_class = np.stack([counts[:, of_class == c].sum(axis=1) for c in range(len(classes))], axis=1)
        p, v, _ = association(by_site)
        found.append({"column": name, "V with site": v, "p": Figure(p, ".3g"), "evidence": _information(by_class)})
    total = sum(line["evidence"] for line in found) or 1.0
    shares = [{**line, "evidence": line["evidence"] / total} for line in found]
    return Frame(sorted(shares, key=lambda line: -line["V with site"]))


def _information(table: Floats) -> float:
    """The mutual information of a table's two sides, in nats."""
    p = table / table.sum()
    expected = np.outer(p.sum(axis=1), p.sum(axis=0))
    some = p > 0
    return float((p[some] * np.log(p[some] / expected[some])).sum())


def school_grades(pupils: int = 4000, pull: float = 0.6, random_state: int = 0) -> dict[str, Any]:
    """Invented pupils whose grades an algorithm pulls to their school's history, the more the larger the cohort.

    Each pupil's true grade is passing or not; the algorithm mixes the teacher's estimate with the school's past share.
    """
    random = np.random.default_rng(random_state)
    kinds = np.array(["small private", "large state"])
    kind = random.integers(0, 2, pupils)
    past = np.where(kind == 0, 0.85, 0.45)
    able = random.random(pupils) < 0.7
    teacher = np.where(able, 0.8, 0.3) + random.normal(0, 0.08, pupils)
    weight = np.where(kind == 0, 0.1, pull)  # of few pupils the teacher is believed, of many the history
    return {
        "school": kinds[kind].tolist(),
        "able": able.astype(int),
        "grade": ((1 - weight) * teacher + weight * past > 0.55).astype(int),
    }


def marked_scans(scans: int = 6000, random_state: int = 0) -> dict[str, Any]:
    """Invented scans of three hospitals; one marks its scans, and has most of the sick; the mark is no disease."""
    random = np.random.default_rng(random_state)
    hospital = random.integers(0, 3, scans)
    sick = random.random(scans) < np.array([0.8, 0.1, 0.15])[hospital]
    mark = np.where(hospital == 0, random.random(scans) < 0.95, random.random(scans) < 0.02)
    return {
        "hospital": np.array(["A", "B", "C"])[hospital].tolist(),
        "mark": mark.astype(int),
        "opacity": random.normal(sick * 1.0, 1.0),
        "sick": sick.astype(int),
    }


__all__ = ["Environments", "environments", "marked_scans", "school_grades"]
