"""Rows of a mixture as its kernels take them: columns of cells, with weights."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.labels import Ints
from evenodds.models.patterns import patterns

DIRECT = 1 << 16  # counts below this are their own codes


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows: each column's cells, numbers with NaN or codes with -1 for what is missing, and the rows' weights."""

    columns: Sequence[NDArray[Any]]
    weights: Floats

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.weights)

    def take(self, rows: Ints) -> Block:
        """Some of the rows, by their numbers."""
        return Block([x[rows] for x in self.columns], self.weights[rows])

    @property
    def telling(self) -> Block:
        """The rows that say something: of some weight, with a known cell."""
        some = np.zeros(self.rows, bool)
        for x in self.columns:
            some |= known(x)
        some &= self.weights > 0
        return self if some.all() else self.take(np.flatnonzero(some))

    @property
    def different(self) -> Block:
        """The different rows, in the order of their cells, each with the weight of all that are like it.

        So nothing depends on the order the rows came in, or on whether one is repeated or weighs more.
        """
        block = self.take(np.lexsort([self.weights, *self.columns]))
        change = np.ones(block.rows, bool)
        change[1:] = False
        for x in block.columns:
            a, b = x[1:], x[:-1]
            change[1:] |= (a != b) & (known(a) | known(b))
        first = np.flatnonzero(change)
        return Block([x[first] for x in block.columns], np.add.reduceat(block.weights, first))

    @staticmethod
    def joined(parts: Sequence[Block]) -> Block:
        """Blocks one after the other."""
        columns = [np.concatenate(some) for some in zip(*(part.columns for part in parts))]
        return Block(columns, np.concatenate([part.weights for part in parts]))

    @functools.cached_property
    def patterns(self) -> list[tuple[Ints, Ints | None]]:
        """Which columns are known, and the rows of which that is so; None for all rows."""
        missing = np.array([~known(x) for x in self.columns])
        if not missing.any():
            return [(np.arange(len(self.columns)), None)]
        return [(np.flatnonzero(~gone), rows) for gone, rows in patterns(missing.T)]

    def picked(self, columns: Ints | None = None, rows: Ints | None = None) -> tuple[Floats, Floats]:
        """Some columns of some rows as numbers, (columns, rows), and the rows' weights."""
        chosen = self.columns if columns is None else [self.columns[j] for j in columns]
        cells = np.empty((len(chosen), self.rows if rows is None else len(rows)))
        for out, x in zip(cells, chosen):
            out[:] = x if rows is None else x[rows]
        return cells, self.weights if rows is None else self.weights[rows]

    @functools.cached_property
    def counted(self) -> tuple[list[Any], NDArray[np.int32]]:
        """The different values of each column, and codes (columns, rows) into all of them; what is missing comes last.

        Small counts are their own codes, so that nothing has to be sorted.
        """
        values: list[Any] = []
        codes = np.empty((len(self.columns), self.rows), np.int32)
        before = 0
        here: NDArray[Any]
        for j, x in enumerate(self.columns):
            if x.dtype.kind == "i":
                here, found = np.arange(int(x.max(initial=-1)) + 1), x
            else:
                top = float(np.nanmax(x, initial=-1.0))
                if top < DIRECT:
                    here, found = np.arange(top + 1), np.where(np.isnan(x), -1, x).astype(np.int32)
                else:
                    here, places = np.unique(x, return_inverse=True)
                    real = len(here) - int(np.isnan(here[-1]))
                    here, found = here[:real], np.where(places < real, places, -1)
            codes[j] = np.where(found < 0, -1, found + before)
            values.append(here)
            before += len(here)
        codes[codes < 0] = before
        return values, codes


def known(x: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells are there."""
    return np.asarray(x >= 0 if x.dtype.kind == "i" else x == x)
