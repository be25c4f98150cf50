"""A DuckDB query as a source: its rows streamed, never held as a whole; it is run again for every pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from evenodds.data.memory import Table, table
from evenodds.data.source import Batch, TableBatch, needed
from evenodds.errors import DataError
from evenodds.schema import SAMPLE

ROWS = 1 << 17  # of a batch


def is_query(x: Any) -> bool:
    """Whether this is a relation of DuckDB, which need not be installed to know."""
    return type(x).__name__ == "DuckDBPyRelation"


@dataclass(frozen=True)
class Query:
    """The rows of a relation: `duckdb.sql("select ...")`."""

    relation: Any
    name: str = "the query"

    def sample(self) -> Table:
        """The first rows."""
        found = table(pa.table(self.relation.limit(SAMPLE)))
        if not found.rows:
            raise DataError(f"{self.name} has no rows")
        return found

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        """All rows, as they come out of the query."""
        needed(list(self.relation.columns), columns, self.name)
        wanted = self.relation
        if columns is not None:  # what is not needed is not even read
            wanted = wanted.project(", ".join('"' + name.replace('"', '""') + '"' for name in columns))
        start = 0
        reader = wanted.to_arrow_reader if hasattr(wanted, "to_arrow_reader") else wanted.fetch_record_batch
        for batch in reader(ROWS):
            if batch.num_rows:
                yield TableBatch(table(pa.table(batch)), start)
                start += batch.num_rows
