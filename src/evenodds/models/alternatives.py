"""What each column could be modelled as: the alternatives that `tune` chooses from, and the one tally of them all.

Of numbers: 4, 8, 16 or 32 bins, a Gaussian per class or of one variance, the same of their logs where none is below 0,
a Poisson where all are counts, Gaussian kernels of three widths, none narrower than the values are apart; a mixture of
Gaussians where `Column(components=...)` asks for one. Of a text: what is said of its words (counts, present, bernoulli,
complement), of single words or of pairs too. Of all that counts values: smoothing some times weaker or stronger than
"auto". And any column may be left out. A column that was told stays as told, but for a strength of smoothing that was
left open; a bare `Words()` tells no more than that it is text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from evenodds.data.sum import CLASSES
from evenodds.families import Binned, Family, Gaussian, Gaussians, Kernel, LogGaussian, Poisson, numeric
from evenodds.families.leaves import Rows, count, read
from evenodds.labels import Fixed
from evenodds.models.naive_bayes import Model
from evenodds.schema import Column, Schema
from evenodds.tally import Leaf, Name, Tally
from evenodds.text.counts import Counts
from evenodds.text.words import EVENTS, Words

BINS = (4, 8, 16, 32)
WIDTHS: tuple[float, ...] = (1.0, 1 / 2, 1 / 4)  # of a Kernel, times the width that "silverman" finds
BELLS: tuple[
    int | None, ...
] = ()  # of Gaussians; None: as BIC has it. None tried unasked: little gained in twice the time
FACTORS = (1 / 16, 1 / 4, 4.0, 16.0)  # times the strength of smoothing that "auto" finds
NGRAMS = (1, 2)
LEAVES: dict[type[Any], set[str]] = {
    Binned: {"rows", "moments", "histogram"},
    Gaussian: {"rows", "moments"},
    Gaussians: {"rows", "moments", "histogram"},
    Kernel: {"rows", "moments", "histogram"},
    LogGaussian: {"zeros", "logs"},
    Poisson: {"rows", "events"},
}
OTHERS = "others"  # leaf: how many numbers are below 0, and how many of the others are not whole
BESIDE = "\0"  # in the name of a column that is a text's second tally: no table has it in a name


class Numbers(Family):
    """Numbers whose family is still to be chosen: all that any of them sums, in one pass."""

    name = "numbers"

    @classmethod
    def leaves(cls, cells: Any, rows: Rows, columns: dict[str, Column]) -> dict[tuple[str, str], Leaf]:
        """The numeric tally, that of the logs and that of counts, each of the values that can be such."""
        found = numeric.leaves(cells, rows, columns, histogram=True)
        for x, (name, column) in zip(cells, columns.items()):
            below, no_count = x < 0, Poisson.impossible(x)
            found |= LogGaussian.leaves([np.where(below, np.nan, x)], rows, {name: column})
            events = Poisson.leaves([np.where(no_count, np.nan, x)], rows, {name: column})
            found[name, "events"] = events[name, "events"]
            side = np.where(below, 0, np.where(no_count, 1, -1)).astype(np.int8)
            found[name, OTHERS] = Leaf(Fixed(2), count(side, 2, rows))
        return found


class Alternative(NamedTuple):
    """One way to model a column, with its tally."""

    column: Column
    tally: Tally
    kind: str = ""  # what other columns can be too

    @property
    def used(self) -> bool:
        """Whether the column is modelled at all."""
        return self.column.role == "feature"


def widened(schema: Schema, told: Collection[str] = ()) -> Schema:
    """The schema whose tally holds those of all alternatives; a column in `told` has no others."""
    columns: dict[str, Column] = {}
    for name, column in schema.columns.items():
        columns[name] = column
        if column.role == "ignore" or not _is_open(name, column, told):
            continue
        if column.family is Binned:
            columns[name] = dataclasses.replace(column, family=Numbers)
        elif column.words is not None:
            columns |= {
                beside: dataclasses.replace(column, words=one.words, source=name)
                for one, beside in _texts(name, column)
                if beside != name and one.words is not None and one.words.events in ("counts", "present")
            }
    return Schema(columns, schema.target, schema.target_kind)


def told_of(columns: Any, schema: Schema | None, decided: Schema) -> set[str]:
    """The columns that were told, by `columns=` with a family or as text, or all of them by `schema=`."""
    if schema is not None:
        return set(decided.columns)
    if not isinstance(columns, Mapping):
        columns = {} if columns is None else dict.fromkeys(decided.columns, columns)
    return {
        str(name)
        for name, what in columns.items()
        if not isinstance(what, Column) or what.family is not None or what.words is not None or what.parts
    }


def alternatives(wide: Model, told: Collection[str] = ()) -> dict[str, list[Alternative]]:
    """What each column of a wide model could be; what it is by default comes first."""
    tallies, nothing = wide.tally.by_column(), Tally.of(wide.tally.groups, {})
    found = {}
    for name, column in sorted(wide.schema.features.items()):
        if BESIDE in name:
            continue
        tally = tallies.get(name, nothing)
        every = [Alternative(column, tally)]
        if column.family is Numbers:
            every = [Alternative(one, _picked(tally, one), one.described) for one in _numbers(column, tally)]
        elif column.words is not None and _is_open(name, column, told):
            every = [Alternative(one, tallies.get(from_, nothing).rename(name)) for one, from_ in _texts(name, column)]
        if not _is_told(name, column, told):
            every.append(Alternative(dataclasses.replace(every[0].column, role="ignore"), nothing))
        found[name] = every
    return found


def smoothed(wide: Model, name: str, now: Alternative) -> list[Alternative]:
    """The same column with other strengths of smoothing, where "auto" chose it and values are counted."""
    column = now.column
    chosen = column.smoothing in (None, "auto") and wide.settings.smoothing == "auto" and column.prior is None
    if not (chosen and now.used and column.family is not None):
        return []
    if column.words is None and column.family.table(now.tally, column) is None:
        return []
    auto = narrow(wide, {name: now}).smoothing(name)
    found = []
    for factor in FACTORS:
        other = dataclasses.replace(column, smoothing=float(f"{factor * auto:.3g}"))
        found.append(Alternative(other, now.tally, f"smoothing × {factor:g}"))
    return found


def narrow(wide: Model, chosen: Mapping[str, Alternative]) -> Model:
    """The model of these columns, its tally picked out of the wide one; of the others, those that are left out."""
    leaves: dict[Name, Leaf] = {CLASSES: wide.tally.leaf(CLASSES)}
    lists: dict[Name, Counts] = {}
    for one in chosen.values():
        leaves |= {leaf: one.tally.leaf(leaf) for leaf in one.tally.layout.specs}
        lists |= one.tally.lists
    columns = {
        name: chosen[name].column if name in chosen else column
        for name, column in wide.schema.columns.items()
        if name in chosen or column.role == "ignore"
    }
    schema = Schema(columns, wide.schema.target, wide.schema.target_kind)
    return Model(schema, Tally.of(wide.tally.groups, leaves, lists), wide.settings)


def _is_told(name: str, column: Column, told: Collection[str]) -> bool:
    return name in told or column.source in told


def _is_open(name: str, column: Column, told: Collection[str]) -> bool:
    """Whether more than its smoothing may be chosen."""
    if column.words is None:
        return not _is_told(name, column, told)
    return dataclasses.replace(column.words, smoothing=None) == Words()


def _numbers(asked: Column, tally: Tally) -> Iterator[Column]:
    """What some numbers can be; first what they are by default."""
    column = dataclasses.replace(asked, components=None)
    below, fractions = read(tally, OTHERS).sum(axis=-1)
    for bins in dict.fromkeys([column.bins, *BINS]):
        yield dataclasses.replace(column, family=Binned, bins=bins)
    for family in (Gaussian, *([LogGaussian] if below == 0 else [])):
        yield dataclasses.replace(column, family=family)
        yield dataclasses.replace(column, family=family, variance="pooled")
    if below == 0 and fractions == 0:
        yield dataclasses.replace(column, family=Poisson)
    kernel = dataclasses.replace(column, family=Kernel)
    if Kernel.informative(_picked(tally, kernel)):
        auto, least = (find(_picked(tally, kernel), kernel) for find in (Kernel.width, Kernel.least_width))
        for factor in (factor for factor in WIDTHS if factor * auto >= least):
            yield dataclasses.replace(kernel, bandwidth=None if factor == 1 else float(f"{factor * auto:.3g}"))
        for bells in (*BELLS, *([asked.components] if asked.components is not None else [])):
            yield dataclasses.replace(column, family=Gaussians, components=bells)


def _texts(name: str, column: Column) -> Iterator[tuple[Column, str]]:
    """What can be said of a text's words, and which column of the wide schema counts what that needs."""
    assert column.words is not None
    words = column.words
    for n in NGRAMS:
        for events in EVENTS:
            one = dataclasses.replace(words, ngrams=n, events=events)
            of_counts = dataclasses.replace(one, events="present" if one.distinct else "counts")
            beside = name if of_counts == words else f"{name}{BESIDE}{of_counts.events}{n}"
            yield dataclasses.replace(column, words=one), beside


def _picked(tally: Tally, column: Column) -> Tally:
    """The leaves of one family out of the tally of numbers."""
    assert column.family is not None
    kept = {leaf: tally.leaf(leaf) for leaf in tally.layout.specs if leaf[1] in LEAVES[column.family]}
    return Tally.of(tally.groups, kept)
