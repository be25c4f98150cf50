"""From rows to the columns of a regression: numbers as they are, categories one-hot against a named reference.

    intercept  age  fare  class[2nd]  class[3rd]          reference of class: 1st

The numbers come first, then the categories, each in the schema's order; a category's column is kept as one code a row.
Inside, a number may be centred and scaled, where that makes a solver's work easier or keeps its digits; it changes no
answer: `unscaled` takes coefficients back, `scaled` takes them there.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import Coded
from evenodds.data.memory import Table
from evenodds.data.sum import cells
from evenodds.errors import DataError, as_word, did_you_mean, listed, remedy
from evenodds.families import Bernoulli, Categorical
from evenodds.labels import Labels, canonical
from evenodds.models.glm.blocks import Codes, Floats
from evenodds.schema import Column, Schema
from evenodds.texts import in_value_order

INTERCEPT = "intercept"


@dataclass(frozen=True)
class Term:
    """What one column of the table adds: a number, or a column for each of its values but the reference.

    >>> Term("class", ("1st", "2nd", "3rd"), "1st").names
    ['class[2nd]', 'class[3rd]']
    """

    column: str
    values: tuple[str, ...] | None = None  # of a category, in the order of their values
    reference: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of its coefficients."""
        if self.values is None:
            return [self.column]
        return [f"{self.column}[{value}]" for value in self.values if value != self.reference]


@dataclass(frozen=True, eq=False)
class Design:
    """Which columns a regression has, and how numbers are centred and scaled inside."""

    numbers: tuple[Term, ...]
    categories: tuple[Term, ...]
    intercept: bool
    shift: Floats  # (numbers,)
    scale: Floats

    @functools.cached_property
    def names(self) -> list[str]:
        """The coefficients' names, in their order."""
        found = [name for term in (*self.numbers, *self.categories) for name in term.names]
        return [INTERCEPT, *found] if self.intercept else found

    @property
    def width(self) -> int:
        """How many columns."""
        return len(self.names)

    @property
    def plain(self) -> Design:
        """The same with every number as it came."""
        return dataclasses.replace(self, shift=np.zeros_like(self.shift), scale=np.ones_like(self.scale))

    @property
    def moved(self) -> bool:
        """Whether numbers are centred or scaled inside."""
        return bool(self.shift.any() or np.any(self.scale != 1))

    @property
    def references(self) -> dict[str, str]:
        """The reference of each category."""
        return {term.column: term.reference for term in self.categories if term.reference is not None}

    def shown(self, schema: Schema) -> list[int]:
        """The coefficients' places in the order of the table's columns, as people expect them."""
        order = {name: at for at, name in enumerate(schema.columns)}
        owners = [*([-1] if self.intercept else [])]
        owners += [order.get(t.column, len(order)) for t in (*self.numbers, *self.categories) for _ in t.names]
        return sorted(range(self.width), key=owners.__getitem__)

    @functools.cached_property
    def transform(self) -> tuple[Floats, Floats]:
        """The matrix that takes scaled coefficients back, as its diagonal and its first row."""
        first, d = int(self.intercept), len(self.numbers)
        diagonal, row = np.ones(self.width), np.zeros(self.width)
        diagonal[first : first + d] = 1.0 / self.scale
        if self.intercept:
            row[first : first + d] = -self.shift / self.scale
        return diagonal, row

    def unscaled(self, inside: Floats) -> Floats:
        """Coefficients of the columns as they came, from those of the scaled columns; (width, ...)."""
        diagonal, row = self.transform
        out = (inside.T * diagonal).T
        if self.intercept:
            out[0] += row @ inside
        return out

    def scaled(self, outside: Floats) -> Floats:
        """The way back."""
        diagonal, _ = self.transform
        inside = (outside.T / diagonal).T
        if self.intercept:
            first, d = 1, len(self.numbers)
            inside[0] += self.shift @ outside[first : first + d]
        return inside

    @functools.cached_property
    def matrix(self) -> Floats:
        """`unscaled` as a matrix (width, width)."""
        return self.unscaled(np.eye(self.width))

    # -- rows --------------------------------------------------------------------------------------------------------

    def read(self, table: Table, schema: Schema) -> tuple[NDArray[Any], Codes, NDArray[np.bool_]]:
        """A table's numbers, the codes of its categories, and which rows have a cell missing or never seen."""
        columns = [cells(table, term.column, schema.features[term.column]) for term in self.numbers]
        dense = stacked(columns, table.rows)
        codes = np.empty((table.rows, len(self.categories)), np.int32)
        empty = np.zeros(table.rows, bool)
        for j, term in enumerate(self.categories):
            x = cells(table, term.column, schema.features[term.column])
            codes[:, j] = self.places[j].find(x)
            empty |= codes[:, j] < 0
        return dense, codes, empty | ~np.isfinite(dense).all(axis=1)

    @functools.cached_property
    def places(self) -> list[Places]:
        """Where each category's values go."""
        found, at = [], int(self.intercept) + len(self.numbers)
        for term in self.categories:
            assert term.values is not None
            where = []
            for value in term.values:
                where.append(self.width if value == term.reference else at)
                at += value != term.reference
            found.append(Places.of(term.values, where))
        return found


@dataclass(frozen=True, eq=False)
class Places:
    """The column of each value of a category."""

    labels: Labels
    columns: NDArray[np.int64]

    @staticmethod
    def of(values: Sequence[str], columns: Sequence[int]) -> Places:
        """Values and their columns, in any order."""
        labels, place = Labels.coded(list(values))
        ordered = np.empty(len(values), np.int64)
        ordered[place] = columns
        return Places(labels, ordered)

    def find(self, x: Coded) -> Codes:
        """The column of each cell: -1 where it is missing, -2 where its value is not known."""
        return self.columns_of(x).take(x.codes, mode="wrap")

    def columns_of(self, x: Coded) -> Codes:
        """The same of each code, the last being that of -1."""
        known = self.labels.find(x.labels.keys)
        by_label = np.where(known < 0, -2, np.append(self.columns, -2)[known])
        return np.append(np.where(x.place < 0, -1, np.append(by_label, -1)[x.place]), -1).astype(np.int32)


def stacked(columns: list[Any], rows: int) -> NDArray[Any]:
    """Columns as one matrix: the very array they lie in, if they lie in one at equal distances; otherwise a copy.

    >>> x = np.arange(6.0).reshape(3, 2)
    >>> np.shares_memory(stacked([x[:, 0], x[:, 1]], 3), x)
    True
    """
    if not columns:
        return np.empty((rows, 0))
    first = columns[0]
    if all(x.dtype == np.float64 and x.strides == first.strides for x in columns) and _same_array(columns):
        at = [x.__array_interface__["data"][0] for x in columns]
        step = at[1] - at[0] if len(at) > 1 else first.itemsize
        if step > 0 and all(b - a == step for a, b in itertools.pairwise(at)):
            return np.lib.stride_tricks.as_strided(
                first, (rows, len(columns)), (first.strides[0], step), writeable=False
            )
    out = np.empty((rows, len(columns)))
    for start in range(0, rows, 1 << 12):
        part = slice(start, start + (1 << 12))
        for j, x in enumerate(columns):
            out[part, j] = x[part]
    return out


def _same_array(columns: list[Any]) -> bool:
    """Whether all columns are views into one array, which they keep alive."""
    bases = {id(_root(x)) for x in columns}
    return len(bases) == 1


def _root(x: Any) -> Any:
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def term_of(column: str, values: Sequence[str], references: Mapping[str, Any]) -> Term:
    """The term of a category; its reference is as told, or its first value."""
    ordered = in_value_order(values)
    told = references.get(column)
    reference = ordered[0] if told is None else canonical(told)
    if reference not in ordered:
        raise DataError(
            f"column {column!r}: the reference {reference!r} does not occur; its values are {listed(ordered)}"
        )
    return Term(column, ordered, reference)


def check_references(references: Mapping[str, Any], columns: Mapping[str, Column]) -> None:
    """Refuse a reference for what is no category, saying what it is."""
    for name in references:
        if name not in columns:
            raise DataError(f"reference: {did_you_mean(name, columns)}")
        family = columns[name].family
        if family is not Categorical:
            what = "a flag, of which 1 (true, yes) is compared with 0" if family is Bernoulli else "a number"
            cure = remedy(f"columns={{{name!r}: Categorical}}", f"--role {as_word(name)}=category")
            raise DataError(f"reference: column {name!r} is {what}; as a category ({cure}) it has a reference")
