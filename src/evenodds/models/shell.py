"""What the scikit-learn shells share: reading the tables people have, and the attributes of their columns."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from evenodds.cells import Coded, as_column
from evenodds.data.memory import TEXT, Table, is_array, table
from evenodds.data.report import Report
from evenodds.errors import DataError
from evenodds.replacing import Path
from evenodds.schema import Schema, SchemaWarning, did_you_mean


class Shell:
    """An estimator around a model value, `model_`, that has a schema."""

    n_features_in_: int
    model_: Any
    _value: ClassVar[Any]  # the type of `model_`

    @classmethod
    def of(cls, model: Any) -> Self:
        """The estimator of a model value, such as a loaded one."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Write what was learnt to one safe file, which replaces an old one whole, or not at all."""
        check_is_fitted(self)
        self.model_.save(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The estimator of a model that was saved in a file."""
        return cls.of(cls._value.load(path))

    def _name(self, model: Any) -> Self:
        """Set scikit-learn's attributes of the features."""
        names = [name for name, column in model.schema.columns.items() if column.source is None]
        self.n_features_in_ = len(names)
        if names != [f"x{j}" for j in range(len(names))]:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def _warn(self, report: Report) -> Self:
        for sentence in report.sentences():
            warnings.warn(sentence, SchemaWarning, stacklevel=3)
        return self

    def _features(self, X: Any, *, reset: bool) -> Table:
        X = eager(X)
        rows = table(X)
        if list(rows.columns) == [TEXT] and not hasattr(X, "columns"):  # texts without a table
            X = rows = rows if reset else self._texts(rows)
        known = getattr(self, "feature_names_in_", None)
        if not reset and known is not None and set(known) < set(rows.columns):
            extra = set(rows.columns) - set(known)
            X, rows = drop(X, *extra) if has_frame(X) else X, rows.without(*extra)
        if rows.rows == 0:
            raise DataError(f"Found array with 0 sample(s) (shape=(0, {len(rows.columns)})): a table without rows")
        if not rows.columns:
            raise DataError(f"0 feature(s) (shape=({rows.rows}, 0)) while a minimum of 1 is required.")
        if has_frame(X) or (is_array(X) and not rows.named) or hasattr(X, "tocsr"):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif not reset and _unnamed(rows) and len(rows.columns) != self.n_features_in_:
            raise DataError(
                f"X has {len(rows.columns)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        elif reset:
            self.n_features_in_ = len(rows.columns)
            if rows.named:
                self.feature_names_in_ = np.array(list(rows.columns), dtype=object)
        if not reset:
            rows = self._aligned(rows)
        return rows

    def _texts(self, rows: Table) -> Table:
        """Texts without a table: a column of that name, or under that of the one column that was learnt."""
        names = list({how.source or name: None for name, how in self.model_.schema.features.items()})
        if TEXT in names:
            return rows
        if len(names) != 1:
            raise DataError(
                f"these are texts, or one row of a table, and {type(self).__name__} has learnt {len(names)} columns: "
                "give a table of these (one row of a frame is frame.iloc[[0]])"
            )
        return Table({names[0]: rows[TEXT]}, rows.rows)

    def _aligned(self, rows: Table) -> Table:
        """Columns under the names they had at fit, by their places where there were none then or are none now.

        Cells of columns that a list of dicts leaves out are missing.
        """
        wanted = [how.source or name for name, how in self.model_.schema.features.items()]
        known = list(self.model_.schema.columns)
        nameless = _unnamed(rows) or not hasattr(self, "feature_names_in_")
        if nameless and len(rows.columns) == self.n_features_in_:
            names = [name for name, column in self.model_.schema.columns.items() if column.source is None]
            if list(rows.columns) != names:
                return Table(dict(zip(names, rows.columns.values())), rows.rows, rows.named, rows.dense)
        missing = [name for name in wanted if name not in rows.columns]
        if missing:
            strange = [name for name in rows.columns if name not in known]
            for name in strange:
                if difflib.get_close_matches(name, missing, 1):
                    raise DataError(did_you_mean(name, known))
            if len(missing) == len(wanted):
                raise DataError(did_you_mean(missing[0], rows.columns))
            empty = pa.nulls(rows.rows)
            return Table({**rows.columns, **dict.fromkeys(missing, empty)}, rows.rows, rows.named)
        return rows


def _unnamed(rows: Table) -> bool:
    """Whether the columns have no names of their own: an array's, of numbers or of anything."""
    return not rows.named or list(rows.columns) == [f"x{j}" for j in range(len(rows.columns))]


def eager(X: Any) -> Any:
    """A lazy frame, collected."""
    return X.collect() if hasattr(X, "collect_schema") and hasattr(X, "collect") and not hasattr(X, "shape") else X


def has_frame(X: Any) -> bool:
    """Whether this is a data frame whose columns scikit-learn itself looks at."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(X, "drop")


def drop(X: Any, *names: str) -> Any:
    """A data frame without some columns."""
    kept = [column for column in X.columns if str(column) not in names]
    return X[kept] if hasattr(X, "iloc") else X.select(kept)


def target_of(X: Any, y: Any) -> Any:
    """The target's values, where `y` is the name of a table's column; otherwise `y` as it is."""
    if not isinstance(y, str):
        return y
    raw = table(eager(X))[y]
    if isinstance(raw, np.ndarray):
        return raw
    values = (raw.arrow() if isinstance(raw, Coded) else raw).to_pylist()
    if None in values:
        raise DataError(
            f"Input y contains NaN: the target {y!r} is missing in row {values.index(None)}; drop such rows"
        )
    return np.array(Schema({}, y, raw.kind).values(values) if isinstance(raw, Coded) else values)


def classes_of(y: Any) -> Any:
    """The target as numpy or Arrow has it; several labels a row are refused."""
    if not isinstance(y, Iterable) and not hasattr(y, "__array__"):
        raise DataError(f"y is {y!r}: give the name of a column, as text, or a value for each row")
    if hasattr(y, "toarray") or (isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] > 1):
        raise DataError("y has several columns (multi-label or one-hot): give one class per row")
    if hasattr(y, "columns") and hasattr(y, "shape"):
        if y.shape[1] != 1:
            raise DataError(f"y has {y.shape[1]} columns: give one class per row")
        y = y.iloc[:, 0] if hasattr(y, "iloc") else y[y.columns[0]]
    if isinstance(y, np.ndarray) and y.ndim == 2:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)",
            DataConversionWarning,
            stacklevel=4,
        )
        y = y.ravel()
    if isinstance(y, (list, tuple)):
        y = np.asarray(y, dtype=object) if any(isinstance(value, (list, tuple, set)) for value in y) else np.asarray(y)
    if isinstance(y, np.ndarray):
        if y.ndim != 1:
            raise DataError(f"y has {y.ndim} dimensions: give one class per row")
        if y.dtype.kind == "c":
            raise DataError("Complex data not supported: classes are texts or numbers")
        if y.dtype.kind == "O" and any(isinstance(value, (list, tuple, set, dict, np.ndarray)) for value in y):
            raise DataError("y has several labels in a row: give one class per row")
    column = as_column(y)
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        if np.isnan(column).any():
            raise DataError(f"Input y contains NaN: the target is missing in row {np.flatnonzero(np.isnan(column))[0]}")
        if np.isinf(column).any():
            raise DataError("Input y contains infinity or a value too large for dtype('float64').")
        check_classification_targets(column)
    return column
