"""Made-up tables of any length for measuring speed and memory, in the containers people hold them in.

Numeric: 20 columns, normal around a mean that depends on the class. Categorical: 10 columns of 2 to 1,000 values. Two
classes, as int64. Columns are made one after the other, so that making a table does not take twice its memory.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

NUMERIC_COLUMNS = 20
WARM_ROWS = 300_000  # enough to take every path that big tables take
LEVELS = (2, 3, 5, 8, 12, 20, 50, 100, 200, 1000)


def classes(rows: int) -> npt.NDArray[np.int64]:
    """The class of every row: 0 or 1."""
    return np.random.default_rng(1).integers(0, 2, rows)


def _normal(rows: int, column: int) -> npt.NDArray[np.float64]:
    values = np.random.default_rng([2, column]).standard_normal(rows)
    values += classes(rows) * (column / NUMERIC_COLUMNS)
    return values


def _codes(rows: int, column: int) -> npt.NDArray[np.int32]:
    """Codes that lean a little to the low ones, more so in class 1."""
    uniform = np.random.default_rng([3, column]).random(rows)
    codes: npt.NDArray[np.int32] = (uniform ** (1.2 + 0.4 * classes(rows)) * LEVELS[column]).astype(np.int32)
    return codes


def numeric_rows(rows: int) -> pd.DataFrame:
    """One row-major block. `copy=False`, or pandas 3 would turn the block column-major."""
    values = np.empty((rows, NUMERIC_COLUMNS))
    for column in range(NUMERIC_COLUMNS):
        values[:, column] = _normal(rows, column)
    return pd.DataFrame(values, columns=_names(NUMERIC_COLUMNS), copy=False)


def numeric_columns(rows: int) -> pd.DataFrame:
    """A frame made from a dictionary of columns, as most are."""
    return pd.DataFrame({name: _normal(rows, i) for i, name in enumerate(_names(NUMERIC_COLUMNS))})


def numeric_arrow(rows: int) -> pa.Table:
    """An Arrow table of floats."""
    return pa.table({name: pa.array(_normal(rows, i)) for i, name in enumerate(_names(NUMERIC_COLUMNS))})


def codes_plain(rows: int) -> pd.DataFrame:
    """A frame of int64 codes: what CategoricalNB wants to be given."""
    return pd.DataFrame({name: _codes(rows, i).astype(np.int64) for i, name in enumerate(_names(len(LEVELS)))})


def codes_pandas(rows: int) -> pd.DataFrame:
    """A frame of pandas categoricals."""
    return pd.DataFrame(
        {name: pd.Categorical.from_codes(_codes(rows, i), _values(i)) for i, name in enumerate(_names(len(LEVELS)))}
    )


def codes_arrow(rows: int) -> pa.Table:
    """An Arrow table of dictionary-encoded columns."""
    return pa.table({name: _dictionary(rows, i) for i, name in enumerate(_names(len(LEVELS)))})


def strings_arrow(rows: int) -> pa.Table:
    """An Arrow table of strings, at most 12 bytes each: these polars holds inline."""
    return pa.table({name: _dictionary(rows, i).dictionary_decode() for i, name in enumerate(_names(len(LEVELS)))})


def long_strings_arrow(rows: int) -> pa.Table:
    """An Arrow table of strings of 30 bytes and more."""
    return pa.table(
        {name: _dictionary(rows, i, "long").dictionary_decode() for i, name in enumerate(_names(len(LEVELS)))}
    )


def strings_pandas(rows: int) -> pd.DataFrame:
    """A frame of pandas strings."""
    return strings_arrow(rows).to_pandas()


INPUTS: dict[str, Callable[[int], Any]] = {
    "pandas, row-major": numeric_rows,
    "pandas, column-wise": numeric_columns,
    "pyarrow": numeric_arrow,
    "integer codes": codes_plain,
    "pandas categoricals": codes_pandas,
    "pyarrow dictionaries": codes_arrow,
    "pyarrow strings": strings_arrow,
    "pyarrow long strings": long_strings_arrow,
    "pandas strings": strings_pandas,
}


def nbytes(table: Any) -> int:
    """The bytes a table holds."""
    if isinstance(table, pa.Table):
        return int(table.nbytes)
    return int(table.memory_usage(index=False, deep=True).sum())


def _names(count: int) -> list[str]:
    return [f"c{i}" for i in range(count)]


def _values(column: int, prefix: str = "value") -> list[str]:
    text = "a value that takes some room: " if prefix == "long" else "value "
    return [f"{text}{i}" for i in range(LEVELS[column])]


def _dictionary(rows: int, column: int, prefix: str = "value") -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(_codes(rows, column)), pa.array(_values(column, prefix)))
