"""What a model says of rows: the classes' log-probabilities, and one term per column added to them.

    log p(c, x) = log p(c) + Σ_j log p(x_j | c)

Under a temper (`evenodds.models.temper`) each term counts for as much as its column is believed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from evenodds.cells import Coded
from evenodds.data.memory import Table
from evenodds.data.memory import table as as_table
from evenodds.data.sum import cells
from evenodds.families import Categorical, WordCounts
from evenodds.families.leaves import Floats
from evenodds.families.numeric import check_no_infinity
from evenodds.families.unseen import log_unseen
from evenodds.keys import encoded
from evenodds.logs import log_shares, normalise, warn_of_impossible
from evenodds.models.column_prior import unseen_strength
from evenodds.texts import Texts
from evenodds.threads import in_order, threads_for

if TYPE_CHECKING:
    from evenodds.models.naive_bayes import Model

BLOCK = 1 << 15  # rows scored at once: what the cache holds
MESSAGES = 1 << 8  # texts scored at once, at least


class Scorer:
    """Weighs rows by a model's distributions, which are estimated once."""

    def __init__(self, model: Model) -> None:
        self.model, self.schema, self.distributions = model, model.schema, model.distributions
        self.start = model.log_start  # (classes,)
        self.exponents = {name: model.exponent(name) for name in self.distributions}

    @functools.cached_property
    def _groups(self) -> list[tuple[float, list[str]]]:
        """Columns that are believed as much as each other, so that a product serves them all."""
        found: dict[float, list[str]] = {}
        for name, exponent in self.exponents.items():
            found.setdefault(exponent, []).append(name)
        return list(found.items())

    def log_joint(self, x: Any, threads: int | None = None) -> Floats:
        """log p(c, x) of each row and class; a missing cell is integrated out."""
        total = self._message(x)
        return self._blocks(x, threads, lambda total: total) if total is None else total.T

    def log_proba(self, x: Any, threads: int | None = None) -> Floats:
        """log p(c | x) of each row and class."""
        total = self._message(x)
        if total is not None:
            return log_shares(total, np.maximum.reduce(total)).T
        impossible = []

        def finish(total: Floats) -> Floats:
            found, rows = normalise(total, self.start)
            impossible.append(rows)
            return found

        found = self._blocks(x, threads, finish)
        warn_of_impossible(sum(impossible))
        return found

    def _blocks(self, x: Any, threads: int | None, finish: Callable[[Floats], Floats]) -> Floats:
        """finish(log p(c, x)) block by block, as (rows, classes)."""
        only = Texts.of(x) if self.is_message(x) else None
        rows = as_table(x) if only is None else Table({next(iter(self.schema.columns)): only}, 1)
        out = np.empty((rows.rows, len(self.start)))
        size = block_size(self.model, rows, threads)

        def work(start: int) -> None:
            stop = min(start + size, rows.rows)
            out[start:stop] = finish(self.block(rows.slice(start, stop), start)).T

        for _ in in_order(work, range(0, rows.rows, size), threads):
            pass
        return out

    def is_message(self, x: Any) -> bool:
        """Whether this is one text, and text all that the model reads: then it need not become a table first."""
        return type(x) is list and len(x) == 1 and type(x[0]) is str and self._words is not None

    @functools.cached_property
    def _words(self) -> WordCounts | None:
        """The words of a model that has nothing else."""
        if len(self.schema.columns) != 1 or len(self.distributions) != 1:
            return None
        [only] = self.distributions.values()
        return only if isinstance(only, WordCounts) else None

    def _message(self, x: Any) -> Floats | None:
        """log p(c, text) of one text, as (classes, 1); None where this is none, or a class cannot have it."""
        if not self.is_message(x) or self._words is None:
            return None
        [(exponent, _)] = self._groups
        total = self.start[:, None].copy()
        part = total if exponent == 1 else np.zeros_like(total)
        self._words.add_message(encoded(x[0]), part)
        if part is not total:
            part *= exponent
            total += part
        return total if math.isfinite(np.add.reduce(total, axis=None)) else None

    def block(self, rows: Table, start: int = 0) -> Floats:
        """log p(c, x) of one block, as (classes, rows): numpy's inner loops run along the rows.

        `start` is the number of its first row, for what is said of bad cells.
        """
        total = self._start(rows)
        for exponent, names in self._groups:
            part = total if exponent == 1 else np.zeros_like(total)
            for name in names:
                x = cells(rows, name, self.schema.features[name])
                if isinstance(x, Coded):
                    part += self._categories(name, x).T
                else:
                    self.distributions[name].add_log_prob(x, part)
            if part is not total:
                part *= exponent
                total += part
        if np.isfinite(total.sum()):
            return total
        total = self._start(rows)  # a cell is missing, or impossible: look at each
        for name in self.distributions:
            total += self.evidence(name, rows, start).T
        return total

    def _start(self, rows: Table) -> Floats:
        return np.repeat(self.start[:, None], rows.rows, axis=1)

    def evidence(self, name: str, rows: Table, start: int = 0) -> Floats:
        """What one column's cells say, (rows, classes), as far as it is believed.

        It is log p(x_j | c); 0 for a missing, unseen or impossible cell.
        """
        x = cells(rows, name, self.schema.features[name])
        if isinstance(x, Coded):
            return self.exponents[name] * self._categories(name, x)
        if isinstance(x, Texts):
            log_p, missing = self.distributions[name].log_prob(x), ~x.known
        else:
            check_no_infinity(x, name, start)
            log_p, missing = self.distributions[name].log_prob(x), np.isnan(x)
        log_p[missing | np.isneginf(log_p.max(axis=1))] = 0.0
        return np.asarray(self.exponents[name] * log_p)

    def _categories(self, name: str, x: Coded) -> Floats:
        distribution, table = self._categorical[name]
        return distribution.said_of(x, table)

    @functools.cached_property
    def _categorical(self) -> dict[str, tuple[Categorical, Floats]]:
        """The categorical columns, with what each value says; an impossible one, as an unseen one, has no say."""
        found = {}
        for name, distribution in self.distributions.items():
            if isinstance(distribution, Categorical):
                table = distribution.log_table(self._unseen(name, distribution), missing=0.0)
                table[np.isneginf(table.max(axis=1))] = 0.0
                found[name] = distribution, table
        return found

    def _unseen(self, name: str, distribution: Categorical) -> Any:
        """What a value says that no class has seen."""
        if self.model.settings.unseen != "prior" or self.model.settings.estimate == "mle":
            return 0.0
        strength, kind = unseen_strength(self.model, name)
        n = Categorical.table(self.model.column_tally(name)).sum(axis=0)
        return log_unseen(strength, kind == "pooled", len(distribution.labels), n)


def block_size(model: Model, rows: Table, threads: int | None) -> int:
    """How many rows are scored at once."""
    size = min(BLOCK, rows.shard_size)
    if model.schema.texts:
        size = max(MESSAGES, min(size, -(-rows.rows // (4 * threads_for(threads)))))
    return size
