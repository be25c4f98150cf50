"""The tables every benchmark of tables reads: titanic, adult and 24 classics of the UCI repository.

`load(name)` gives the columns (floats or text, with missing cells), the class of every row, and each column's type. The
types come from the data folder's schema.json, so that all sides are told the same. Left out for all sides: titanic's
leaks (boat and body are known only after the wreck) and its free text (name, ticket, cabin, home.dest); zoo's animal
name, an identifier.

The data folder is $EVENODDS_DATA, or `../shared/data` beside the repository. Missing cells are the empty ones and
nothing else: german_credit's "none" is a value.
"""

import functools
import json
import os
import warnings
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import StratifiedKFold

Type = Literal["numeric", "nominal"]

TITANIC: dict[str, Type] = {
    "pclass": "nominal",
    "sex": "nominal",
    "embarked": "nominal",
    "age": "numeric",
    "sibsp": "numeric",
    "parch": "numeric",
    "fare": "numeric",
}
ADULT_NUMERIC = {"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week"}
LEAKS = {"titanic": {"boat", "body"}}
IDENTIFIERS = {"zoo": {"animal"}}
FOLDS = 10


class Table(NamedTuple):
    """A table's columns, the class of every row, and the type of every column."""

    frame: pd.DataFrame
    y: npt.NDArray[np.object_]
    types: dict[str, Type]

    def of_type(self, wanted: Type) -> list[str]:
        """The names of the columns of one type."""
        return [name for name, kind in self.types.items() if kind == wanted]


def splits(y: npt.NDArray[np.object_], folds: int = FOLDS) -> list[tuple[Any, Any]]:
    """The first of the ten folds: the rows to learn and the rows to judge by."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y))[:folds]


def data_folder() -> Path:
    """Where the shared data sets are."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("EVENODDS_DATA", beside))
    if not folder.is_dir():
        raise FileNotFoundError(f"no data folder at {folder}; set EVENODDS_DATA to the folder that holds uci_tables/")
    return folder


@functools.cache
def _uci_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((data_folder() / "uci_tables" / "schema.json").read_text())
    return schema


def names() -> list[str]:
    """All 26 tables: titanic and adult, then the UCI tables by name."""
    return ["titanic", "adult", *sorted(_uci_schema())]


def _files(name: str) -> tuple[list[Path], str]:
    """The files of a table (to be read one after the other) and its target column."""
    data = data_folder()
    if name == "titanic":
        return [data / "titanic" / "titanic3.csv"], "survived"
    if name == "adult":
        return [data / "adult" / f"adult_{part}.csv.gz" for part in ("train", "test")], "income"
    if name not in _uci_schema():
        raise KeyError(f"no table {name!r}; there are {', '.join(names())}")
    return [data / "uci_tables" / _uci_schema()[name]["file"]], _uci_schema()[name]["target"]


def _types(name: str, columns: list[str]) -> dict[str, Type]:
    if name == "titanic":
        return TITANIC
    if name == "adult":
        return {column: "numeric" if column in ADULT_NUMERIC else "nominal" for column in columns}
    told: dict[str, Type] = {column["name"]: column["type"] for column in _uci_schema()[name]["columns"][:-1]}
    return {column: kind for column, kind in told.items() if column not in IDENTIFIERS.get(name, ())}


def _read(name: str, **options: Any) -> tuple[pd.DataFrame, pd.Series]:
    files, target = _files(name)
    frame = pd.concat(
        [pd.read_csv(file, keep_default_na=False, na_values=[""], **options) for file in files], ignore_index=True
    )
    return frame.drop(columns=target), frame[target].astype(str)


@functools.cache
def load(name: str) -> Table:
    """A table with its types told: numeric columns as floats, nominal ones as text."""
    text, y = _read(name, dtype=str)
    types = _types(name, list(text.columns))
    columns = {
        column: text[column].astype(np.float64) if kind == "numeric" else text[column] for column, kind in types.items()
    }
    return Table(pd.DataFrame(columns), y.to_numpy(dtype=object), types)


@functools.cache
def load_untold(name: str) -> Table:
    """A table as `pandas.read_csv` gives it, nothing told and identifiers still in it; only the leaks are taken out."""
    frame, y = _read(name)
    return Table(frame.drop(columns=list(LEAKS.get(name, ()))), y.to_numpy(dtype=object), {})
