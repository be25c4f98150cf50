"""What each column is modelled as, chosen by how well the rows' classes are told, each row left out in turn.

    Σ_i -log p(c_i | x_i, the other rows)      of the whole model, tempered

Not by how probable the column's values are: a density may fit well and say nothing of the class. Starting from the
defaults, one column at a time is exchanged for the alternative that lowers this log loss most, or left out, until none
lowers it by more than chance might. All alternatives are in one tally of one pass (`widened`), and the chosen model's
is picked out of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from evenodds.data.kept import Kept, Learnt, chosen
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.models.alone import alone
from evenodds.models.alternatives import alternatives, narrow, smoothed, told_of, widened
from evenodds.models.descent import Descent
from evenodds.models.learn import in_one_pass, schema_of
from evenodds.models.left_out import tempered
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.schema import Schema
from evenodds.show import Frame

ROWS = 20_000  # that are left out to choose by; of a file they are kept while it is read
TEXTS = 5_000  # the same where there are texts, which take longer
NUMBERS = 1 << 25  # of all alternatives' evidence that are held


class Tuned(NamedTuple):
    """The model of what was chosen, tempered; and what was tried."""

    model: Model
    record: Frame

    @property
    def summary(self) -> Frame:
        """A line for each column: what it is, and the log loss if it were as by default, or left out."""
        columns: dict[str, list[dict[str, Any]]] = {}
        for row in self.record:
            columns.setdefault(row["column"], []).append(row)
        return Frame(
            [
                {
                    "column": name,
                    "as": next(row["as"] for row in rows if row["chosen"]),
                    "log loss": next(row["log loss"] for row in rows if row["chosen"]),
                    "by default": rows[0]["log loss"],
                    "left out": next((row["log loss"] for row in rows if row["as"] == "left out"), None),
                    "tried": len(rows),
                }
                for name, rows in columns.items()
            ]
        )


def tune(
    wide: Model,
    learnt: Sequence[Learnt],
    threads: int | None = None,
    told: Collection[str] = (),
) -> Tuned:
    """The best model in a wide one, by rows that it has learnt."""
    every = alternatives(wide, told)
    room = NUMBERS // (max(1, sum(map(len, every.values()))) * len(wide.classes))
    rows = _sampled(learnt, min(room, TEXTS if wide.schema.texts else ROWS))
    with alone():
        descent = Descent(wide, every, rows, threads)
        descent.run()
        for name, one in descent.chosen.items():
            descent.add(name, smoothed(wide, name, one))
        descent.run()
        model = tempered(narrow(wide, descent.chosen), learnt, threads)
        return Tuned(model, descent.record())


def learn_tuned(
    source: Source,
    target: str,
    columns: Any = None,
    settings: Settings | None = None,
    schema: Schema | None = None,
    weights: str | None = None,
    threads: int | None = None,
) -> tuple[Tuned, Report]:
    """The tuned model of a source's rows, in one pass, and what was wrong with some of them."""
    decided = schema_of(source, target, columns, schema, weights)
    told, keep = told_of(columns, schema, decided), Kept(ROWS, part=1)
    wide, report = in_one_pass(source, widened(decided, told), settings, weights, threads, keep)
    return tune(wide, keep.parts(), threads, told), report


def tune_table(wide: Model, learnt: Learnt, threads: int | None, told: Collection[str]) -> Tuned:
    """The same of a table that was learnt; by the same rows as if it were a file."""
    return tune(wide, [learnt.some(chosen(learnt.rows.rows, ROWS, part=1))], threads, told)


def _sampled(learnt: Sequence[Learnt], most: int) -> list[Learnt]:
    """The same rows, or as many of them as there is room for: by the hash of their number, for they may be in order."""
    many = sum(part.rows.rows for part in learnt)
    if many <= most:
        return list(learnt)
    some, start, found = chosen(many, most, part=1), 0, []
    for part in learnt:
        mine = some[(some >= start) & (some < start + part.rows.rows)] - start
        found.append(part.some(mine))
        start += part.rows.rows
    return found
