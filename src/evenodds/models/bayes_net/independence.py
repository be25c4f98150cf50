"""Are two columns independent, given others? From the data: the table, against the outer product of its margins.

2 n times the mutual information is about a chi-squared variable shifted by 2 n times the true one: that gives an
interval, which holds 0 where independence is possible.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenodds.arguments import tail_of
from evenodds.data.files import is_source, read
from evenodds.data.memory import table
from evenodds.data.source import Memory
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net.reading import Columns, Encoded, encode, weighed
from evenodds.models.bayes_net.tables import check_size
from evenodds.models.information import expected, information
from evenodds.models.shell import check_named
from evenodds.show import Frame, apart, plain


@dataclass(frozen=True, eq=False)
class Independence:
    """Mutual information with its interval, the test, and the table it is about; true where independence is possible.

    information   I(a; b | given), in nats, as counted
    low, high     an interval of the true one, of 95 % if not told otherwise
    p_value       how often independent columns would come to more
    """

    a: str
    b: str
    given: tuple[str, ...]
    rows: float
    information: float
    low: float
    high: float
    p_value: float
    counts: Floats = field(repr=False)  # with an axis for each column, those that are given first
    states: tuple[tuple[str, ...], ...] = field(repr=False)  # of each of these columns

    @property
    def frame(self) -> Frame:
        """Each cell of the table: how often it was counted, and how often it would be if they were independent."""
        names, lines = (*self.given, self.a, self.b), []
        for values, n, m in zip(
            itertools.product(*self.states), self.counts.ravel().tolist(), expected(self.counts).ravel().tolist()
        ):
            figures = {"count": plain(n), "if independent": m}
            lines.append({**dict(zip(names, values)), **apart(figures, names)})
        return Frame(lines)

    def __bool__(self) -> bool:
        return self.low == 0.0

    def __repr__(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        verdict = "may be independent" if self else "depend"
        return (
            f"{self.a} and {self.b} {verdict}{given}: mutual information {self.information:.4g} "
            f"({self.low:.4g} to {self.high:.4g}) nats, p = {self.p_value:.3g}, {self.rows:,.10g} rows"
        )


def independent(
    data: Any, a: str, b: str, given: str | Iterable[str] = (), *, sample_weight: Any = None, level: float = 0.95,
    cuts: Any = None,
) -> Independence:  # fmt: skip
    """Whether two columns of a table, or of files, may be independent given others; rows with missing cells left out.

    Weights are a column's name, or a number for each row of a table.

    >>> rows = [{"rain": r, "coat": c, "crash": k, "n": n} for r, c, k, n in [
    ...     ("yes", "yes", "yes", 24), ("yes", "yes", "no", 56), ("yes", "no", "yes", 6), ("yes", "no", "no", 14),
    ...     ("no", "yes", "yes", 2), ("no", "yes", "no", 38), ("no", "no", "yes", 8), ("no", "no", "no", 152)]]
    >>> independent(rows, "coat", "crash", sample_weight="n")
    coat and crash depend: mutual information 0.01963 (0.00361 to 0.04845) nats, p = 0.0006, 300 rows
    >>> bool(independent(rows, "coat", "crash", given="rain", sample_weight="n"))
    True
    """
    known = (given,) if isinstance(given, str) else tuple(given)
    names = (*known, a, b)
    if len(set(names)) < len(names):
        raise DataError("name each column once")
    tail = tail_of(level)
    if is_source(data):
        check_named(sample_weight=sample_weight)
    source: Any = read(data) if is_source(data) else None
    if source is None:
        given_rows, sample_weight = weighed(table(data), sample_weight)
        source = Memory(given_rows)
    told = {name: cut for name, cut in (cuts or {}).items() if name in names}
    rows, _ = encode(source, Columns.decided(source, names, told, weights=sample_weight), sample_weight)
    return _judged(rows, a, b, known, tail)


def _judged(rows: Encoded, a: str, b: str, given: tuple[str, ...], tail: float) -> Independence:
    from scipy.special import chndtr, chndtrinc

    shape = tuple(rows.sizes)
    check_size(f"{a} and {b}", shape)
    whole = np.all(rows.codes >= 0, axis=0)
    at = np.ravel_multi_index(tuple(column[whole] for column in rows.codes), shape)
    weights = None if rows.weights is None else rows.weights[whole]
    counts = np.bincount(at, weights, int(np.prod(shape))).astype(float).reshape(shape)
    n = float(counts.sum())
    if n == 0:
        raise DataError(f"no row has a value of {', '.join(rows.names)}: there is nothing to test")
    told = information(counts)
    g, free = 2 * told.nats, told.degrees
    low = high = 0.0
    if free > 0:
        # the true information is that under which so much, or so little, is counted that rarely
        low = float(chndtrinc(g, free, 1 - tail)) / (2 * n) if chndtr(g, free, 0.0) > 1 - tail else 0.0
        high = float(chndtrinc(g, free, tail)) / (2 * n) if chndtr(g, free, 0.0) > tail else 0.0
    states = tuple(rows.states[name] for name in rows.names)
    return Independence(a, b, given, n, told.nats / n, low, high, told.p_value, counts, states)
