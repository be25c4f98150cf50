"""Rows of several batches as one table in memory.

>>> from evenodds.data.memory import table
>>> one, two = (Learnt(table({"age": [30.0 + i, 40.0]}), codes(as_column(["well", "ill"]))) for i in range(2))
>>> both = joined([one, two])
>>> both.rows["age"].to_pylist(), sorted(both.target.labels.texts())
([30.0, 40.0, 31.0, 40.0], ['ill', 'well'])
>>> other = Learnt(table({"age": ["old", "40"]}), one.target)
>>> joined([one, other]).rows["age"].to_pylist()
['30', '40', 'old', '40']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from evenodds.cells import Coded, as_column, codes
from evenodds.data.kept import Learnt
from evenodds.data.memory import Table
from evenodds.texts import Texts
from evenodds.texts import joined as joined_texts


def joined(parts: Sequence[Learnt]) -> Learnt:
    """The rows of all parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0].rows
    columns = {name: _column([part.rows[name] for part in parts]) for name in first.columns}
    rows = sum(part.rows.rows for part in parts)
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate([np.ones(p.rows.rows) if p.weights is None else p.weights for p in parts])
    target = codes(_column([part.target for part in parts]))
    return Learnt(Table(columns, rows, first.named), replace(target, kind=parts[0].target.kind), weights)


def _column(parts: list[Any]) -> Any:
    if all(isinstance(part, Texts) for part in parts):
        return joined_texts(parts)
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    chunks = [chunk for part in parts for chunk in _chunks(part)]
    if len({chunk.type for chunk in chunks}) > 1:  # numbers here, texts there: they have in common how they are written
        chunks = [text for chunk in chunks for text in _chunks(codes(chunk))]
    return pa.chunked_array(chunks)


def _chunks(part: Any) -> list[Any]:
    """A part of a column as Arrow has it: categories by their texts."""
    found = part.arrow() if isinstance(part, Coded) else as_column(part)
    return found.chunks if isinstance(found, pa.ChunkedArray) else [pa.array(found)]
