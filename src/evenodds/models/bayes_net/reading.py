"""Rows for a network, from any source: every node is a column of categories; numbers are cut where they are told."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import is_whole
from evenodds.cells import Coded, codes, numbers, target_kind
from evenodds.data.decide import VALUES
from evenodds.data.memory import Table
from evenodds.data.passes import Summed, added
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.source import Batch, Source
from evenodds.errors import DataError, as_word, did_you_mean, remedy
from evenodds.families import Binned, Categorical
from evenodds.families.leaves import Floats, check_weights
from evenodds.labels import Ints, Labels
from evenodds.models.bayes_net.counting import count_families
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.tables import States, check_values, checked_states
from evenodds.schema import Column, Schema, Values
from evenodds.show import free
from evenodds.tally import Tally
from evenodds.threads import in_order

PARTS = 8  # of a column of numbers that is cut, if nobody says where
MANY = 50  # different numbers of a column, from which on it must be cut
WEIGHTLESS = "all weights are zero: a row of weight 0 is no row"
Cells = dict[str, Coded]


@dataclass(frozen=True)
class Columns:
    """How the columns of a source are read: which are cut where, and what kind of values the others have."""

    kinds: Mapping[str, str]  # text, int, float or bool
    cuts: Mapping[str, tuple[float, ...]]

    @classmethod
    def decided(
        cls, source: Source, names: Sequence[str], cuts: Mapping[str, Any] | None = None, sample: Table | None = None,
        target: str | None = None, weights: str | None = None,
    ) -> Columns:  # fmt: skip
        """What the columns are, by the first rows: `cuts` has edges by column, or a number of parts of equal mass.

        Columns of many different numbers are cut into such parts where they are to tell a target; without one it is
        for people to say what a node's states are.
        """
        told = dict(cuts or {})
        sample = source.sample() if sample is None else sample
        for name in [*names, *told]:
            if name not in sample.columns:
                raise DataError(f"{source.name}: {did_you_mean(name, sample.columns)}")
        if unused := [name for name in told if name not in names]:
            raise DataError(
                f"column {unused[0]!r} is cut, but is none of the nodes: name it among them, or do not cut it"
            )
        mass = (
            np.ones(sample.rows) if weights is None else np.maximum(np.nan_to_num(numbers(sample[weights], weights)), 0)
        )
        edges = {name: _edges(name, told[name], sample[name], mass) for name in names if name in told}
        kinds = {name: "text" if name in edges else target_kind(sample[name]) for name in names}
        for name in names:
            if name in edges or kinds[name] not in ("int", "float"):
                continue
            places = codes(sample[name], f"column {name!r}").places
            many = len(np.unique(places[(places >= 0) & (mass > 0)]))
            if many > MANY and target not in (None, name):
                edges[name], kinds[name] = _edges(name, PARTS, sample[name], mass), "text"
            elif many > MANY:
                raise DataError(
                    f"column {name!r} has {many} different numbers: a node has a few states; cut it, as in "
                    + remedy(
                        f"cuts={{{name!r}: 5}} for five parts of equal mass, or cuts={{{name!r}: [5, 18]}}; or drop it",
                        f"--cut {as_word(name)}=5 for five parts of equal mass, or --cut {as_word(name)}=5,18; or name "
                        "the others with --columns",
                    )
                )
        return cls(kinds, edges)

    def schema(self, names: Iterable[str] | None = None) -> Schema:
        """The same as a schema: of all columns, or of these, known or not."""
        return Schema({name: self._column(name) for name in (self.kinds if names is None else names)}, "")

    def _column(self, name: str) -> Column:
        return _read_as(None if name in self.cuts else VALUES.get(self.kinds.get(name, "text"), "text"))

    def cells(self, name: str, raw: Any) -> Coded:
        """One column's cells."""
        if name not in self.cuts:
            return codes(raw, f"column {name!r}")
        labels, place = Labels.coded(parts(self.cuts[name]))
        x = numbers(raw, name)
        return Coded(np.where(np.isnan(x), -1, np.searchsorted(self.cuts[name], x, side="right")), labels, place)

    def state(self, name: str, value: Any) -> Any:
        """A value as a state of its node: of a column that is cut, the part that a number is in."""
        if name not in self.cuts:
            return value
        try:
            number = float(value)
        except (TypeError, ValueError):
            return value
        if math.isnan(number):  # the text "nan" too is in no part
            return value
        return parts(self.cuts[name])[int(np.searchsorted(self.cuts[name], number, side="right"))]

    def order(self, name: str, texts: Sequence[str]) -> tuple[str, ...]:
        """A node's states in the order of their values."""
        if name in self.cuts:
            return tuple(part for part in parts(self.cuts[name]) if part in set(texts))
        if self.kinds.get(name) in ("int", "float"):
            return tuple(sorted(texts, key=_as_number))
        return tuple(sorted(texts))


def weighed(rows: Table, weights: Any) -> tuple[Table, str | None]:
    """A table with the name of its column of weights: one that it has, or one of numbers that are given apart."""
    if weights is None or isinstance(weights, str):
        return rows, weights
    name = free("sample weight", rows.columns)
    return Table({**rows.columns, name: check_weights(weights, rows.rows)}, rows.rows, rows.named), name


def _as_number(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return math.inf, text


def _edges(name: str, told: Any, raw: Any, mass: Floats) -> tuple[float, ...]:
    if is_whole(told):
        if told < 2:
            raise DataError(f"{_cut(name, told)}: expected 2 parts or more, or a list of edges")
        x = numbers(raw, name)
        x, mass = x[known := np.isfinite(x) & (mass > 0)], mass[known]
        if not len(x):
            raise DataError(
                f"column {name!r} has no numbers in its first rows: say where it is cut, as in {_cut(name, [5, 18])}"
            )
        order = np.argsort(x, kind="stable")
        below = np.cumsum(mass[order])  # what is at or below each
        return tuple(np.unique(x[order[np.searchsorted(told * below, np.arange(1, told) * below[-1])]]).tolist())
    try:
        edges = tuple(float(edge) for edge in told)
    except (TypeError, ValueError):
        raise DataError(f"cuts={{{name!r}: {told!r:.80}}}: expected a number of parts, or a list of edges") from None
    if not edges or any(not math.isfinite(e) for e in edges) or any(b <= a for a, b in itertools.pairwise(edges)):
        raise DataError(f"{_cut(name, list(edges))}: expected ascending numbers")
    return edges


def _cut(name: str, where: Any) -> str:
    """A cut as it is told."""
    edges = ",".join(f"{edge:g}" for edge in where) if isinstance(where, list) else where
    return remedy(f"cuts={{{name!r}: {where}}}", f"--cut {as_word(name)}={edges}")


def parts(edges: Sequence[float]) -> list[str]:
    """The names of the parts between edges, with as many digits as tell them apart; an edge is in the part above it.

    >>> parts([5, 18]), parts([1e7, 1e7 + 0.5])
    (['below 5', '5 to 18', '18 and above'], ['below 10000000', '10000000 to 10000000.5', '10000000.5 and above'])
    """
    every = ([f"{edge:.{digits}g}" for edge in edges] for digits in range(6, 18))
    shown = next(names for names in every if len(set(names)) == len(edges))
    return [f"below {shown[0]}", *(f"{a} to {b}" for a, b in itertools.pairwise(shown)), f"{shown[-1]} and above"]


@functools.cache
def _read_as(values: Values | None) -> Column:
    """How a node's column is read, one column for all nodes of such values; None: numbers that are cut."""
    return Column(Binned) if values is None else Column(Categorical, values=values)


def batches(
    source: Source, columns: Columns, weights: str | None, threads: int | None, work: Any
) -> Iterator[tuple[Any, Report]]:
    """work(cells, weights) of every batch of a source, in order, and what was wrong with some rows."""
    reading = Reading(columns.schema(), target=False, weights=weights)
    yield from in_order(_worked(reading, columns, work), source.batches(reading.columns), threads)


def _worked(reading: Reading, columns: Columns, work: Any) -> Callable[[Batch], tuple[Any, Report]]:
    def one(batch: Batch) -> tuple[Any, Report]:
        read = reading(batch)
        cells = {name: columns.cells(name, read.table[name]) for name in columns.kinds}
        return work(cells, read.weights), read.report

    return one


def sum_families(
    source: Source, columns: Columns, families: Mapping[str, tuple[str, ...]], weights: str | None = None,
    threads: int | None = None,
) -> tuple[dict[str, Tally], Report]:  # fmt: skip
    """The tally of every family (a node and its parents) over all rows of a source, in one pass."""

    def work(cells: Cells, weigh: Floats | None) -> list[Tally]:
        counted = count_families(families, cells, weigh)
        return [counted[node] for node in families]

    reading = Reading(columns.schema(), target=False, weights=weights)
    one = _worked(reading, columns, work)
    found = added(lambda batch: Summed(*one(batch)), source.batches(reading.columns), threads, Summed.total)
    if found is None:
        return dict.fromkeys(families, Tally.nothing()), Report()
    return {node: tally.trimmed() for node, tally in zip(families, found.tallies)}, found.report


@dataclass(frozen=True)
class Encoded:
    """All rows in memory, as places among the nodes' states: (nodes, rows), -1 where a cell is missing."""

    names: tuple[str, ...]
    states: States
    codes: NDArray[np.int32]
    weights: Floats | None = None

    @property
    def rows(self) -> int:
        """How many rows."""
        return self.codes.shape[1]

    def place(self, name: str) -> int:
        """Where a node is among all."""
        if name not in self.names:
            raise DataError(did_you_mean(name, self.names, "node"))
        return self.names.index(name)

    @property
    def mass(self) -> float:
        """What they weigh."""
        return float(self.rows if self.weights is None else self.weights.sum())

    @property
    def sizes(self) -> list[int]:
        """How many states each node has."""
        return [len(self.states[name]) for name in self.names]


def encode(
    source: Source, columns: Columns, weights: str | None = None, threads: int | None = None,
    states: States | None = None,
) -> tuple[Encoded, Report]:  # fmt: skip
    """The rows of a source as codes, but for those of weight 0; states as given, or as the rows have them."""
    report, found = Report(), list[tuple[dict[str, tuple[Labels, Ints]], Any]]()

    def work(cells: Cells, weigh: Floats | None) -> Any:
        return {name: (one.labels, one.places) for name, one in cells.items()}, weigh

    for part, noted in batches(source, columns, weights, threads, work):
        found.append(part)
        report += noted
    names = tuple(columns.kinds)
    known: dict[str, tuple[str, ...]] = dict(states or {})
    rows = sum(len(next(iter(cells.values()))[1]) for cells, _ in found) if names else 0
    weighed = None if weights is None else np.concatenate([np.empty(0), *(w for _, w in found)])
    counts = np.ones(rows, bool) if weighed is None else weighed > 0
    if not counts.any():
        raise DataError(f"{source.name} has no rows to learn from" if weighed is None else WEIGHTLESS)
    codes = np.full((len(names), rows), -1, np.int32)
    for j, name in enumerate(names):
        seen = {text for cells, weigh in found for text in _occurring(*cells[name], weigh)}
        if name not in known:
            if not seen:
                raise DataError(f"column {name!r} has no values: name its states, or leave it out")
            known[name] = checked_states(name, columns.order(name, sorted(seen)))
        check_values(name, seen, known[name])
        place, at = {state: i for i, state in enumerate(known[name])}, 0
        for cells, _ in found:
            labels, places = cells[name]
            to = np.array([place.get(text, -1) for text in labels.texts()] + [-1], np.int32)
            codes[j, at : at + len(places)] = to[places]
            at += len(places)
    if weighed is not None and not counts.all():
        codes, weighed = codes[:, counts], weighed[counts]
    return Encoded(names, known, codes, weighed), report


def _occurring(labels: Labels, places: Ints, weights: Floats | None) -> list[str]:
    present = np.bincount(places + 1, weights, len(labels) + 1)[1:] > 0
    return [text for text, here in zip(labels.texts(), present) if here]


def families_of(encoded: Encoded, structure: Structure) -> dict[str, Tally]:
    """The tallies of rows in memory, rows with holes left out where a hole is."""
    cells = {}
    for j, name in enumerate(encoded.names):
        labels, place = Labels.coded(list(encoded.states[name]))
        cells[name] = Coded(encoded.codes[j], labels, place)
    tallies = count_families(structure.parents, cells, encoded.weights)
    return {node: tally.trimmed() for node, tally in tallies.items()}
