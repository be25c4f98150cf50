"""Do new rows look like those of before? Column by column, word by word, and all together.

A naive Bayes model of *where a row comes from* has everything in its tally: how often each value occurred here and
there. So one pass over both sources is enough, of any size, and tallies kept from last month do as well.

>>> rng = np.random.default_rng(0)
>>> before = {"age": rng.normal(40, 10, 2000), "city": rng.choice(["Rome", "Oslo"], 2000)}
>>> after = {"age": rng.normal(44, 10, 2000), "city": rng.choice(["Rome", "Oslo"], 2000)}
>>> found = drift(before, after)
>>> found.changed
['age']
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.audit.counted import association, countable, counts_of, means, moments_of, word_table
from evenodds.audit.delong import Auc, auc
from evenodds.audit.judge import scores, tally
from evenodds.audit.judged import plain
from evenodds.audit.pair import NEW, REFERENCE, WHERE, Pair
from evenodds.audit.word_tests import comparable, word_tests
from evenodds.data.files import read
from evenodds.data.passes import number
from evenodds.data.reading import Reading
from evenodds.data.sum import fold_of, sum_folds
from evenodds.errors import DataError
from evenodds.families import WordCounts
from evenodds.labels import Labels
from evenodds.models.learn import schema_of
from evenodds.models.naive_bayes import Model
from evenodds.schema import Schema, SchemaWarning
from evenodds.show import Figure, Frame
from evenodds.tally import Tally

WORDS = 10  # shown


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """What changed between two sources: a test and an effect size for every column, words, and the joint."""

    model: Model  # of where a row comes from
    columns: Frame
    words: Frame  # that came and went
    joint: Auc | None  # how well a model tells rows it has not learnt apart: 0.5 if it cannot
    joint_p: float | None
    level: float

    @property
    def changed(self) -> list[str]:
        """The columns that changed, so that with probability `level` none of them is a false alarm (Holm 1979)."""
        return [row["column"] for row in self.columns if row["changed"]]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        joint = None if self.joint is None else {**self.joint._asdict(), "p": self.joint_p}
        return {"columns": self.columns.to_dicts(), "words": self.words.to_dicts(), "joint": joint}

    def sentences(self) -> list[str]:
        """In plain words."""
        n = len(self.columns)
        found = [f"{len(self.changed)} of {n} columns changed: {', '.join(self.changed)}." if self.changed else
                 f"None of {n} columns changed more than chance would have it."]  # fmt: skip
        for row in self.columns:
            if row["changed"]:
                found.append(
                    f"{row['column']}: {row['distance']:.1%} of the rows moved{row['said']}.".replace("%", " %")
                )
        if self.joint is not None and self.joint_p is not None:
            told = "can" if self.joint_p < 1 - self.level else "cannot"
            found.append(
                f"All columns together: a model {told} tell new rows from old ones (AUC {self.joint.auc:.3f})."
            )
        return found

    def __repr__(self) -> str:
        shown = [{k: v for k, v in row.items() if k != "said"} for row in self.columns]
        parts = [f"{Frame(shown)}", *([f"{self.words}"] if len(self.words) else []), "\n".join(self.sentences())]
        return "\n\n".join(parts)


def drift(
    reference: Any,
    new: Any,
    target: str | None = None,
    columns: Any = None,
    level: float = 0.95,
    random_state: int = 0,
    threads: int | None = None,
) -> Drift:
    """What changed between a reference and new rows: tables, or files. A target is left out: it need not be known.

    Half of the rows, by chance, teach the model of where a row comes from; it then tells the other half apart.
    """
    left_out = () if target is None else (target,)
    before, after = (side if hasattr(side, "batches") else read(side) for side in (reference, new))
    pair = Pair(before, after, left_out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        schema = comparable(schema_of(pair, WHERE, columns))
    if not schema.features:
        raise DataError("there is no column to compare: all look like identifiers or dates; name some in columns=")
    reading = Reading(schema)
    halves, _ = sum_folds(pair, reading, 2, random_state, threads)
    model = Model(schema, halves[0] + halves[1])
    if len(model.classes) < 2:
        raise DataError("one of the two sources has no rows")
    found = [_column(model, name) for name in schema.features if countable(model, name)]
    words = [one for name in schema.features if schema.features[name].words for one in _words(model, name, level)]
    joint = _joint(pair, reading, halves[0], random_state, level, threads)
    p = None
    if joint is not None and joint.error:
        from scipy.special import ndtr

        p = float(ndtr(-(joint.auc - 0.5) / joint.error))
    return Drift(model, _judged(found, level), Frame(words), joint, p, level)


def drift_since(model: Model, new: Tally, level: float = 0.95) -> Drift:
    """What changed since a model was learnt, by its own tally: `new` is the tally of new rows under its schema."""
    sides = [
        part.pooled().picked(Labels.of([tag]), np.zeros(1, np.int64))
        for part, tag in ((model.tally, REFERENCE), (new, NEW))
    ]
    binned = comparable(model.schema).columns  # what has a histogram
    has = {name for name, leaf in new.layout.specs if leaf == "histogram"}
    columns = {name: binned[name] if name in has else column for name, column in model.schema.columns.items()}
    both = Model(Schema(columns, WHERE), sides[0] + sides[1])
    if len(both.classes) < 2:
        raise DataError("the model, or the new source, has no rows")
    features = both.schema.features
    found = [_column(both, name) if countable(both, name) else _mean(both, name) for name in features]
    found = [one for one in found if one]
    words = [one for name in features if features[name].words for one in _words(both, name, level)]
    return Drift(both, _judged(found, level), Frame(words), None, None, level)


def _column(model: Model, name: str) -> dict[str, Any]:
    """The test and the effect of one column."""
    names, table = counts_of(model, name)
    at = [model.classes.tolist().index(where) for where in (REFERENCE, NEW)]
    p, v, *_ = association(table)
    shares = table[:, at] / table[:, at].sum(axis=0)
    moved = shares[:, 1] - shares[:, 0]
    up, down = int(np.argmax(moved)), int(np.argmin(moved))
    came = [n for n, (a, b) in zip(names, table[:, at]) if b > 0 and a == 0]
    went = [n for n, (a, b) in zip(names, table[:, at]) if a > 0 and b == 0]
    said = f", most to {names[up]!r} from {names[down]!r}" if moved[up] > 0 else ""
    said += f"; new: {', '.join(came[:5])}" if came else ""
    said += f"; gone: {', '.join(went[:5])}" if went else ""
    return {"column": name, "distance": float(np.abs(moved).sum() / 2), "V": v, "p": p, "said": said}


def _mean(model: Model, name: str) -> dict[str, Any]:
    """The test of a column that only its moments are kept of: of its mean; nothing where those are not kept either."""
    known = moments_of(model, name)
    if known is None:
        return {}
    at = [model.classes.tolist().index(where) for where in (REFERENCE, NEW)]
    n, mean, variance = (part[at] for part in known)
    found = means(n, mean, variance)
    said = f", its mean from {mean[0]:.4g} to {mean[1]:.4g}"
    return {"column": name, "distance": found.distance, "V": found.v, "p": found.p, "said": said}


def _judged(found: list[dict[str, Any]], level: float) -> Frame:
    """The columns, those that changed most first; Holm's correction for many of them."""
    ordered, still = sorted(found, key=lambda row: row["p"]), True
    lines = []
    for i, row in enumerate(ordered):
        still = still and row["p"] * (len(ordered) - i) <= 1 - level
        lines.append({**row, "p": Figure(row["p"], ".3g"), "changed": still})
    return Frame(lines)


def _words(model: Model, name: str, level: float) -> Iterator[dict[str, Any]]:
    """The words whose share changed: those that came, then those that went, the surest first."""
    counts = WordCounts.counts(model.column_tally(name))
    keys, table, totals = word_table(model, name)
    at = [model.classes.tolist().index(where) for where in (REFERENCE, NEW)]
    found = word_tests(table[:, at], totals[at], level)
    ratio = np.log((found.table[:, 1] + 0.5) / totals[at[1]]) - np.log((found.table[:, 0] + 0.5) / totals[at[0]])
    for sign, what in ((1, "came"), (-1, "went")):
        for w in [w for w in found.sure if sign * ratio[w] > 0][:WORDS]:
            before, after = map(plain, found.table[w].tolist())
            line = {"word": counts.text(int(keys[found.which[w]])), "change": what, "before": before, "after": after}
            yield {"column": name, **line, "log-ratio": float(ratio[w]), "p": Figure(float(found.p[w]), ".3g")}


def _joint(pair: Pair, reading: Reading, learnt: Tally, seed: int, level: float, threads: int | None) -> Auc | None:
    """How well a model of one half of the rows tells the other half apart."""
    model = Model(reading.schema, learnt)
    if len(model.classes) < 2:
        return None
    parts = []
    for start, batch in number(pair.batches(reading.columns)):
        cells = reading(batch)
        mine = np.flatnonzero(fold_of(start, batch.rows, cells.kept, 2, seed) == 1)
        if len(mine):
            assert cells.target is not None
            log_p = model.log_proba(cells.table.take(mine), threads)
            parts.append(tally(cells.target[mine], log_p, model.classes))
    judged = scores(Tally.total(parts), NEW)
    return None if judged is None else auc(judged.own, judged.rest, level)
