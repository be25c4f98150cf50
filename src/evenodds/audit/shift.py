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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.arguments import tail_of
from evenodds.audit.counted import association, countable, counts_of, means, moments_of, moved, word_table
from evenodds.audit.delong import Auc, auc
from evenodds.audit.judge import tally
from evenodds.audit.pair import NEW, REFERENCE, WHERE, Pair
from evenodds.audit.ranked import scores
from evenodds.audit.word_tests import WordTests, bonferroni, by_texts, came, comparable, holm, word_tests
from evenodds.data.files import read
from evenodds.data.passes import number
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.sum import fold_of, sum_folds
from evenodds.errors import DataError, many
from evenodds.families import WordCounts
from evenodds.families.leaves import Floats
from evenodds.labels import Labels
from evenodds.models.learn import schema_of
from evenodds.models.naive_bayes import Model
from evenodds.schema import Schema, SchemaWarning
from evenodds.show import Figure, Frame, percent, plain
from evenodds.tally import Tally

WORDS = 10  # shown
Test = Callable[[Floats, Floats, float], WordTests]
NO_TESTS: Mapping[str, Test | None] = {}  # but Pearson's


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """What changed between two sources: a test and an effect size for every column, words, and the joint."""

    model: Model  # of where a row comes from
    columns: Frame
    words: Frame  # that came and went
    joint: Auc | None  # how well a model tells rows it has not learnt apart: 0.5 if it cannot
    joint_p: float | None
    level: float
    report: Report = field(default_factory=Report)  # what was wrong with some rows
    notes: tuple[str, ...] = ()  # what could not be told

    @property
    def changed(self) -> list[str]:
        """The columns that changed, so that with probability `level` none of them is a false alarm (Holm 1979)."""
        return [row["column"] for row in self.columns if row["changed"]]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        joint = None if self.joint is None else {**self.joint._asdict(), "p": self.joint_p}
        found = {"columns": self.columns.to_dicts(), "words": self.words.to_dicts(), "joint": joint}
        return {**found, "notes": list(self.notes)}

    def sentences(self) -> list[str]:
        """In plain words."""
        n = many(len(self.columns), "column")
        found = [f"{len(self.changed)} of {n} changed: {', '.join(self.changed)}." if self.changed else
                 f"None of {n} changed more than chance would have it."]  # fmt: skip
        found += [f"{row['column']}: {row['said']}." for row in self.columns if row["changed"]]
        found += [f"{note}." for note in self.notes]
        if self.joint is not None and self.joint_p is not None:
            told = "can" if self.joint_p < 2 * tail_of(self.level) else "cannot"
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
    before, after = map(read, (reference, new))
    pair = Pair(before, after, left_out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        schema = comparable(schema_of(pair, WHERE, columns))
    reading = Reading(schema)
    halves, report = sum_folds(pair, reading, 2, random_state, threads)
    model = Model(schema, halves[0] + halves[1])
    if len(model.classes) < 2:
        raise DataError("one of the two sources has no rows")
    joint = _joint(pair, reading, halves[0], random_state, level, threads)
    return Drift(model, *_compared(model, level), joint, _joint_p(joint), level, report)


def counted_to_compare(model: Model) -> Schema:
    """How new rows are counted, to be compared with what a model learnt: as its own were, but words by texts."""
    return by_texts(model.schema)


def drift_since(model: Model, new: Tally, level: float = 0.95) -> Drift:
    """What changed since a model was learnt, by its own tally: `new` is the tally of new rows, `counted_to_compare`.

    A model that counts the words of a text, and not the texts of a word, is told what came, and not what went.
    """
    sides = [
        part.pooled().picked(Labels.of([tag]), np.zeros(1, np.int64))
        for part, tag in ((model.tally, REFERENCE), (new, NEW))
    ]
    binned = comparable(model.schema).columns  # what has a histogram, or words
    has = {name for name, leaf in new.layout.specs if leaf == "histogram"} | set(model.schema.texts)
    columns = {name: binned[name] if name in has else column for name, column in model.schema.columns.items()}
    both = Model(Schema(columns, WHERE), sides[0] + sides[1])
    if len(both.classes) < 2 or not all(both.class_counts):
        raise DataError("the model, or the new source, has no rows")
    tests, notes = dict[str, Test | None](), list[str]()
    for name, words in model.schema.texts.items():
        if words.length == "normalised" or model.pruned:
            lost = "rare words were pruned" if model.pruned else "its texts were learnt as if of one length"
            notes.append(f"{name}: {lost}, so that nothing can be told of its words")
            tests[name] = None
        elif not words.distinct:
            notes.append(f"{name}: counted by words, not by texts, so that what came can be told, and not what went")
            tests[name] = came
    return Drift(both, *_compared(both, level, tests), None, None, level, notes=tuple(notes))


def _compared(model: Model, level: float, tests: Mapping[str, Test | None] = NO_TESTS) -> tuple[Frame, Frame]:
    """A line for each column that can be compared, those that changed most first; and the words that did."""
    lines, words = list[dict[str, Any]](), list[dict[str, Any]]()
    for name, column in model.schema.features.items():
        if column.words is not None:
            test = tests.get(name, word_tests)
            if test is None:
                continue
            line, some = _text(model, name, level, test)
            lines.append(line)
            words += some
        elif countable(model, name):
            lines.append(_column(model, name))
        elif (known := moments_of(model, name)) is not None:
            lines.append(_mean(name, *(part[_sides(model)] for part in known)))
    changed = holm([line["p"] for line in lines], level)
    judged = [{**line, "p": Figure(line["p"], ".3g"), "changed": yes} for line, yes in zip(lines, changed)]
    return Frame(sorted(judged, key=lambda line: line["p"])), Frame(words)


def _sides(model: Model) -> list[int]:
    """The places of the reference and of the new rows."""
    return [model.place(where) for where in (REFERENCE, NEW)]


def _column(model: Model, name: str) -> dict[str, Any]:
    """The test and the effect of one column."""
    names, table = counts_of(model, name)
    p, v, *_ = association(table)
    sides = table[:, _sides(model)]
    shares = sides / sides.sum(axis=0)
    more, distance = shares[:, 1] - shares[:, 0], moved(sides)
    up, down = int(np.argmax(more)), int(np.argmin(more))
    came = [n for n, (a, b) in zip(names, sides) if b > 0 and a == 0]
    went = [n for n, (a, b) in zip(names, sides) if a > 0 and b == 0]
    said = f"{percent(distance, 1)} of the rows moved"
    said += f", most to {names[up]!r} from {names[down]!r}" if more[up] > 0 else ""
    said += f"; new: {', '.join(came[:5])}" if came else ""
    said += f"; gone: {', '.join(went[:5])}" if went else ""
    return {"column": name, "distance": distance, "V": v, "p": p, "said": said}


def _mean(name: str, n: Floats, mean: Floats, variance: Floats) -> dict[str, Any]:
    """The test of a column that only its moments are kept of: of its mean."""
    found = means(n, mean, variance)
    said = f"{percent(found.distance, 1)} of the rows moved, its mean from {mean[0]:.4g} to {mean[1]:.4g}"
    return {"column": name, "distance": found.distance, "V": found.v, "p": found.p, "said": said}


def _text(model: Model, name: str, level: float, test: Test) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A column of text by its words: how far the share of one moved, and those that changed, the surest first.

    Those that came are before those that went.
    """
    counts = WordCounts.counts(model.column_tally(name))
    keys, table, totals = word_table(model, name)
    here, at = totals[_sides(model)], table[:, _sides(model)]
    found = test(at, here, level)
    sure = keys[found.which[found.sure]]  # there may be very many: only those that are shown are spelt
    shares = np.minimum(found.table[found.sure] / here, 1.0)
    far = np.abs(shares[:, 1] - shares[:, 0])
    line: dict[str, Any] = {
        "column": name,
        "distance": float(far.max(initial=0.0)),
        "V": None,
        "p": bonferroni(found.p),
    }
    said = ""
    if len(sure):
        most = int(np.argmax(far))
        said = (
            f"{many(len(sure), 'word')} {'came' if test is came else 'changed'}, "
            f"most {counts.text(int(sure[most]))!r}, from {'at most ' if test is came else ''}"
            f"{' to '.join(percent(p, 1) for p in shares[most].tolist())}"
        )
    ratio = np.diff(np.log((found.table[found.sure] + 0.5) / here), axis=1)[:, 0]
    words = []
    for sign, what in ((1, "came"), (-1, "went")):
        for w in np.flatnonzero(sign * ratio > 0)[:WORDS].tolist():
            before, after = map(plain, found.table[found.sure[w]].tolist())
            word = counts.text(int(sure[w]))
            one = {"column": name, "word": word, "change": what, "before": before, "after": after}
            words.append({**one, "log-ratio": float(ratio[w]), "p": Figure(float(found.p[found.sure[w]]), ".3g")})
    return {**line, "said": said}, words


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


def _joint_p(joint: Auc | None) -> float | None:
    """How probable such an AUC is by chance; where all rows are told apart, or none, its error is 0."""
    if joint is None or joint.error is None:
        return None
    from scipy.special import ndtr

    beyond = joint.auc - 0.5
    return float(ndtr(-beyond / joint.error)) if joint.error else float(1 - np.sign(beyond)) / 2
