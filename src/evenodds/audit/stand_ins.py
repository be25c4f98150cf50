"""What stands in for a group, or gives a site away: columns and words that tell it, beside what they tell of the class.

Leaving the group's column out of a model does not make it blind: what tells the group is still there. How much of the
evidence for the class it carries is what leaving it out as well would cost. An association is no cause: a column may
tell the group and still be right to use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.audit.counted import association, association_within, countable, counts_of, word_table
from evenodds.audit.crossed import Crossed, cross
from evenodds.audit.word_tests import bonferroni, comparable, holm, word_tests
from evenodds.data.files import read as source_of
from evenodds.families import WordCounts
from evenodds.families.leaves import Floats
from evenodds.models.information import information
from evenodds.models.naive_bayes import Model
from evenodds.show import Figure, Frame, percent

TELLS = 0.1  # Cramér's V from which on a column is said to stand in for the group: a small effect (Cohen 1988)
WORDS = 20  # shown


@dataclass(frozen=True, eq=False, repr=False)
class StandIns:
    """Columns by how well they tell the group, and words that do, each with its share of the evidence for the class."""

    by: str
    target: str
    columns: Frame
    words: Frame
    level: float

    @property
    def named(self) -> list[str]:
        """The columns that stand in for the group: surely (Holm 1979), and by more than next to nothing."""
        return [row["column"] for row in self.columns if row["stands in"]]

    @property
    def share(self) -> float:
        """How much of the evidence for the class those columns carry."""
        return sum(row["evidence"] for row in self.columns if row["column"] in self.named)

    def sentences(self) -> list[str]:
        """In plain words."""
        own = [row["evidence"] for row in self.columns if row["column"] == self.by]
        found = [f"{self.by} itself carries {percent(own[0], 0)} of the evidence for {self.target}."] if own else []
        if not self.named:
            found.append(f"No other column tells {self.by}: none stands in for it.")
        else:
            found.append(
                f"{', '.join(self.named)} {'tells' if len(self.named) == 1 else 'tell'} {self.by}, and "
                f"{'carries' if len(self.named) == 1 else 'together carry'} {percent(self.share, 0)} of the evidence "
                f"for {self.target}: a model without {self.by} still has that."
            )
        if len(self.words):
            shown = ", ".join(f"{row['word']} ({row['group']})" for row in self.words.rows[:5])
            share = sum(row["evidence"] for row in self.words)
            found.append(f"Words that tell {self.by}, with {percent(share, 0)} of the evidence: {shown}.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        plain = {"by": self.by, "target": self.target, "named": self.named, "share": self.share}
        return {**plain, "columns": self.columns.to_dicts(), "words": self.words.to_dicts()}

    def __repr__(self) -> str:
        tables = [f"{self.columns}", *([f"{self.words}"] if len(self.words) else [])]
        return "\n\n".join([*tables, "\n".join(self.sentences())])


def of_model(
    model: Model,
    source: Any,
    by: str,
    sample_weight: str | None = None,
    level: float = 0.95,
    threads: int | None = None,
) -> StandIns:
    """What stands in for a group among a model's columns, on these rows: of a table, or of files."""
    found, _ = cross(source_of(source), comparable(model.schema), by, sample_weight, threads)
    return stand_ins(found, level)


def stand_ins(of: Crossed, level: float = 0.95) -> StandIns:
    """What tells the group of every class in every group.

    The evidence of a column is what it tells of the class, in nats a row (mutual information, less what chance gives);
    naive Bayes adds these up, so that shares of the sum make sense.
    """
    lines, words = list[dict[str, Any]](), list[dict[str, Any]]()
    for name, column in of.schema.features.items():
        if column.words is not None:
            line, some = _text(of, name, level)
            lines.append(line)
            words += some
        elif countable(of.wide, name):
            _, counts = counts_of(of.wide, name)
            alone, within = association(of.by_group(counts)), association_within(of.within(counts))
            line = {"column": name, "V": alone.v, "p": alone.p, "V in class": within.v, "p in class": within.p}
            lines.append({**line, "evidence": evidence(of.by_class(counts))})
    total = sum(line["evidence"] for line in lines) or 1.0
    shown = sorted(words, key=lambda line: line["p"])[:WORDS]
    shares = [{**line, "evidence": line["evidence"] / total, "p": Figure(line["p"], ".3g")} for line in shown]
    return StandIns(of.by, of.schema.target, _judged(lines, total, level, of.by), Frame(shares), level)


def _judged(lines: list[dict[str, Any]], total: float, level: float, by: str) -> Frame:
    """The columns that tell most first, and whether each stands in for the group: at all, and within a class.

    The group's own column does not stand in for itself.
    """
    ordered = sorted(lines, key=lambda line: (-(line["V"] or 0.0), line["p"]))
    at_all, within = (_sure(lines, which, level) - {by} for which in ("", " in class"))
    return Frame(
        [
            {
                **line,
                **{name: Figure(line[name], ".3g") for name in ("p", "p in class")},
                "evidence": line["evidence"] / total,
                "stands in": line["column"] in at_all,
                "in class": line["column"] in within,
            }
            for line in ordered
        ]
    )


def _sure(lines: list[dict[str, Any]], which: str, level: float) -> set[str]:
    """The columns that tell the group surely (Holm 1979), and by more than next to nothing."""
    sure = holm([line[f"p{which}"] for line in lines], level)
    effects = [line[f"V{which}"] for line in lines]
    return {line["column"] for line, yes, v in zip(lines, sure, effects) if yes and (v is None or v >= TELLS)}


def _text(of: Crossed, name: str, level: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A column of text by its words, and those of them that tell the group.

    What it tells of the class is the sum over the words that surely tell it: of thousands, chance would add up.
    """
    keys, table, totals = word_table(of.wide, name)
    sides, [texts] = of.by_class(table), of.by_class(totals[None])
    tell = word_tests(sides, texts, level)
    told = {int(w): evidence(np.stack([sides[w], texts - sides[w]])) for w in tell.which[tell.sure]}
    tests = word_tests(of.by_group(table), of.by_group(totals[None])[0], level)
    shares, counts = (tests.table + 0.5) / (tests.totals + 1), WordCounts.counts(of.wide.column_tally(name))
    strata = zip(of.within(table), of.within(totals[None]))
    within = np.concatenate([word_tests(one, of_all[0], level).p for one, of_all in strata])
    words = []
    for i in tests.sure[:WORDS].tolist():
        top, w = int(np.argmax(shares[i])), int(tests.which[i])
        rest = (tests.table[i].sum() - tests.table[i, top] + 0.5) / (tests.totals.sum() - tests.totals[top] + 1)
        line: dict[str, Any] = {"column": name, "word": counts.text(int(keys[w])), "group": of.groups[top]}
        line |= {"log-ratio": float(np.log(shares[i, top] / rest)), "p": float(tests.p[i])}
        words.append({**line, "evidence": told.get(w, 0.0)})
    return _line(name, tests.p, within, sum(told.values())), words


def _line(name: str, p: Floats, within: Floats, evidence: float) -> dict[str, Any]:
    """A column of text: its p is the smallest of its words', times how many they are."""
    least, inside = bonferroni(p), bonferroni(within)
    return {"column": name, "V": None, "p": least, "V in class": None, "p in class": inside, "evidence": evidence}


def evidence(table: Floats) -> float:
    """What a column's values tell of the classes, in nats a row: mutual information, less what chance alone gives.

    >>> round(evidence(np.array([[50.0, 0], [0, 50]])), 4), evidence(np.array([[25.0, 25], [25, 25]]))
    (0.6881, 0.0)
    """
    n = float(table.sum())
    return information(table).excess / n if n > 0 else 0.0
