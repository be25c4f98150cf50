"""Are two columns independent, given others? From the data: the table, against the outer product of its margins.

    I(a; b | z) = Σ p(a, b, z) log( p(a, b | z) / (p(a | z) p(b | z)) )

2 n I is about a chi-squared variable with (|a| - 1)(|b| - 1) degrees of freedom for each z, shifted by 2 n times the
true information: that gives a p-value, and an interval that holds 0 where independence is possible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.data.files import is_source, read
from evenodds.data.memory import table
from evenodds.data.source import Memory
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net.reading import Columns, Encoded, encode
from evenodds.models.bayes_net.tables import check_size
from evenodds.show import Frame


@dataclass(frozen=True)
class Independence:
    """Mutual information with its interval, the test, and the table it is about; true where independence is possible.

    information   I(a; b | given), in nats, as counted
    low, high     a 95 % interval of the true one
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
    frame: Frame  # each cell: counted, and expected if they were independent

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
    data: Any, a: str, b: str, given: str | Iterable[str] = (), *, weights: str | None = None, level: float = 0.95,
    cuts: Any = None,
) -> Independence:  # fmt: skip
    """Whether two columns of a table, or of files, may be independent given others; rows with missing cells left out.

    >>> rows = [{"rain": r, "coat": c, "crash": k, "n": n} for r, c, k, n in [
    ...     ("yes", "yes", "yes", 24), ("yes", "yes", "no", 56), ("yes", "no", "yes", 6), ("yes", "no", "no", 14),
    ...     ("no", "yes", "yes", 2), ("no", "yes", "no", 38), ("no", "no", "yes", 8), ("no", "no", "no", 152)]]
    >>> independent(rows, "coat", "crash", weights="n")
    coat and crash depend: mutual information 0.01963 (0.00361 to 0.04845) nats, p = 0.0006, 300 rows
    >>> bool(independent(rows, "coat", "crash", given="rain", weights="n"))
    True
    """
    known = (given,) if isinstance(given, str) else tuple(given)
    names = (*known, a, b)
    if len(set(names)) < len(names):
        raise DataError("name each column once")
    if not 0 < level < 1:
        raise ValueError(f"level={level}: expected a number between 0 and 1")
    source: Any = read(data) if is_source(data) else Memory(table(data))
    rows, _ = encode(
        source, Columns.decided(source, names, {n: c for n, c in (cuts or {}).items() if n in names}), weights
    )
    return _judged(rows, a, b, known, level)


def _judged(rows: Encoded, a: str, b: str, given: tuple[str, ...], level: float) -> Independence:
    from scipy.special import chdtrc, chndtr, chndtrinc

    shape = tuple(rows.sizes)
    check_size(f"{a} and {b}", shape)
    whole = np.all(rows.codes >= 0, axis=0)
    at = np.ravel_multi_index(tuple(column[whole] for column in rows.codes), shape)
    weights = None if rows.weights is None else rows.weights[whole]
    counts = np.bincount(at, weights, int(np.prod(shape))).astype(float).reshape(-1, *shape[-2:])
    n = float(counts.sum())
    if n == 0:
        raise DataError(f"no row has a value of {', '.join(rows.names)}: there is nothing to test")
    expected = _outer(counts)
    seen = counts > 0
    information = max(float(counts[seen] @ np.log(counts[seen] / expected[seen])) / n, 0.0)
    free = float(
        sum((np.count_nonzero(z.any(axis=1)) - 1) * (np.count_nonzero(z.any(axis=0)) - 1) for z in counts if z.any())
    )
    g, tail = 2 * n * information, (1 - level) / 2
    low = high = 0.0
    if free > 0:
        # the true information is that under which so much, or so little, is counted that rarely
        low = float(chndtrinc(g, free, 1 - tail)) / (2 * n) if chndtr(g, free, 0.0) > 1 - tail else 0.0
        high = float(chndtrinc(g, free, tail)) / (2 * n) if chndtr(g, free, 0.0) > tail else 0.0
    p = float(chdtrc(free, g)) if free > 0 else 1.0
    return Independence(a, b, given, n, information, low, high, p, _frame(rows, counts, expected))


def _outer(counts: Floats) -> Floats:
    """What each cell would count if rows and columns of every table were independent: its margins' outer product."""
    total = counts.sum(axis=(1, 2), keepdims=True)
    product = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True)
    return np.asarray(product / np.where(total > 0, total, 1.0))


def _frame(rows: Encoded, counts: Floats, expected: Floats) -> Frame:
    shape = tuple(rows.sizes)
    lines = []
    for i, (n, m) in enumerate(zip(counts.ravel().tolist(), expected.ravel().tolist())):
        values = np.unravel_index(i, shape)
        line: dict[str, Any] = {name: rows.states[name][v] for name, v in zip(rows.names, values)}
        lines.append({**line, "count": int(n) if float(n).is_integer() else n, "if independent": m})
    return Frame(lines)
