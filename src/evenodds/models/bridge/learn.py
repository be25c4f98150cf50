"""A bridge learnt from rows in memory, or from any source in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

from evenodds.data.joined import joined
from evenodds.data.kept import Kept, Learnt, chosen
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.models.bridge.bridge import Bridge
from evenodds.models.bridge.fit import bridge
from evenodds.models.learn import in_one_pass, schema_of
from evenodds.models.left_out import tempered
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.schema import Schema

MOST, MOST_TEXTS = 200_000, 50_000  # rows that the correction is fitted on; naive Bayes learns all
TEMPERING = 5_000  # of them that naive Bayes is tempered by


class How(NamedTuple):
    """How the correction is fitted; scale and strength are chosen where they are None."""

    scale: float | None = None
    strength: float | None = None
    quadratic: bool = True
    seed: int = 0


def learn(
    source: Source,
    target: str,
    columns: Any = None,
    settings: Settings | None = None,
    schema: Schema | None = None,
    weights: str | None = None,
    threads: int | None = None,
    how: How | None = None,
) -> tuple[Bridge, Report]:
    """The bridge of a source's rows, and what was wrong with some of them."""
    decided = schema_of(source, target, columns, schema, weights)
    keep = Kept(most(decided), part=1)
    model, report = in_one_pass(source, decided, settings, weights, threads, keep)
    return bridged(model, joined(keep.parts()), threads, how), report


def bridged(model: Model, learnt: Learnt, threads: int | None = None, how: How | None = None) -> Bridge:
    """A model tempered and corrected by rows that it has learnt, or by as many of them as serve."""
    learnt = some(learnt, most(model.schema))
    model = tempered(model, [some(learnt, TEMPERING)], threads)
    return bridge(model, learnt, *(how or How()), threads)


def most(schema: Schema) -> int:
    """How many rows the correction is fitted on, at most."""
    return MOST_TEXTS if schema.texts else MOST


def some(learnt: Learnt, many: int) -> Learnt:
    """So many of the rows, chosen by the hashes of their numbers; all where they are fewer."""
    return learnt if learnt.rows.rows <= many else learnt.some(chosen(learnt.rows.rows, many, part=1))
