"""What the scikit-learn shells share: reading the tables people have, and the attributes of their columns."""

from __future__ import annotations

import difflib
import warnings
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import validate_data

from evenodds.data.memory import TEXT, Table, is_array, table
from evenodds.data.report import Report
from evenodds.errors import DataError
from evenodds.schema import SchemaWarning, did_you_mean


class Shell:
    """An estimator around a model value, `model_`, that has a schema."""

    n_features_in_: int
    model_: Any

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
        if list(rows.columns) == [TEXT] and not hasattr(X, "columns"):
            X = rows  # texts without a table
        known = getattr(self, "feature_names_in_", None)
        if not reset and known is not None and set(known) < set(rows.columns):
            extra = set(rows.columns) - set(known)
            X, rows = drop(X, *extra) if has_frame(X) else X, rows.without(*extra)
        if rows.rows == 0:
            raise DataError(f"Found array with 0 sample(s) (shape=(0, {len(rows.columns)})): a table without rows")
        if not rows.columns:
            raise DataError(f"0 feature(s) (shape=({rows.rows}, 0)) while a minimum of 1 is required.")
        if has_frame(X) or is_array(X) or hasattr(X, "tocsr"):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif not reset and not rows.named and len(rows.columns) != self.n_features_in_:
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

    def _aligned(self, rows: Table) -> Table:
        """Columns under the names they had at fit; cells of columns that a list of dicts leaves out are missing."""
        wanted = [how.source or name for name, how in self.model_.schema.features.items()]
        known = list(self.model_.schema.columns)
        if not rows.named and len(rows.columns) == self.n_features_in_:
            names = [name for name, column in self.model_.schema.columns.items() if column.source is None]
            if list(rows.columns) != names:
                return Table(dict(zip(names, rows.columns.values())), rows.rows, False, rows.dense)
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
