"""What the scikit-learn shells share: reading the tables people have, and the attributes of their columns."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from evenodds.cells import Coded, as_column, numbers, target_kind
from evenodds.data.files import is_source, read
from evenodds.data.memory import TEXT, Table, is_array, table
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.data.sum import target_codes
from evenodds.errors import DataError, did_you_mean, warn
from evenodds.families.leaves import Floats, check_weights
from evenodds.labels import Ints
from evenodds.models.targets import Told, places_among
from evenodds.replacing import Path
from evenodds.schema import Schema, SchemaWarning
from evenodds.show import free
from evenodds.threads import in_order


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
        return self._call(names, named=names != _numbered(len(names)))

    def _call(self, names: list[str], *, named: bool) -> Self:
        """Set how many features there are, and what they are called; an earlier fit's names do not stay."""
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _warn(self, report: Report) -> Self:
        for sentence in report.sentences():
            warn(sentence, SchemaWarning)
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
        elif not reset and _unnamed(X, rows) and len(rows.columns) != self.n_features_in_:
            raise DataError(
                f"X has {len(rows.columns)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        elif reset:
            self._call(list(rows.columns), named=rows.named)
        return rows if reset else self._aligned(rows, _unnamed(X, rows))

    def _texts(self, rows: Table) -> Table:
        """Texts without a table: a column of that name, or under that of the one column that was learnt."""
        names = self.model_.schema.sources
        if TEXT in names:
            return rows
        if len(names) != 1:
            raise DataError(
                f"these are texts, or one row of a table, and {type(self).__name__} has learnt {len(names)} columns: "
                "give a table of these (one row of a frame is frame.iloc[[0]])"
            )
        return Table({names[0]: rows[TEXT]}, rows.rows)

    def _aligned(self, rows: Table, unnamed: bool) -> Table:
        """Columns under the names they had at fit; by their places where there are no names now, or were other then.

        Cells of columns that a list of dicts leaves out are missing.
        """
        wanted = self.model_.schema.sources
        known = list(self.model_.schema.columns)
        if not set(wanted) <= set(rows.columns):
            called = list(rows.columns) != _numbered(len(rows.columns)) and hasattr(self, "feature_names_in_")
            unnamed = unnamed or not called
        if unnamed and len(rows.columns) == self.n_features_in_:
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


def of_files(X: Any, schema: Schema, say: Callable[[Table], Floats]) -> Any:
    """What is said of all rows of some files."""
    return of_batches(read(X), Reading(schema, target=False), lambda rows, where: say(rows))


def of_batches(source: Source, reading: Any, say: Callable[[Table, Any], Any]) -> Any:
    """What is said of the rows of a source, batch by batch, each with `where` to find a row; parts are joined apart."""
    batches = source.batches(reading.columns)
    found = list(in_order(lambda batch: say(reading(batch).table, batch.where), batches, 1))
    if not found:
        raise DataError(f"{source.name} has no rows")
    return tuple(map(np.concatenate, zip(*found))) if isinstance(found[0], tuple) else np.concatenate(found)


def _unnamed(X: Any, rows: Table) -> bool:
    """Whether the columns have no names of their own: an array's, or a list of rows', of numbers or of anything."""
    records = isinstance(X, np.ndarray) and X.dtype.names
    listed = isinstance(X, Sequence) and not isinstance(X[0], Mapping)
    return not rows.named or listed or (is_array(X) and not records)


def _numbered(many: int) -> list[str]:
    """What columns without names are called."""
    return [f"x{j}" for j in range(many)]


def eager(X: Any) -> Any:
    """A lazy frame, collected; a stream, which is there once, as a table."""
    if isinstance(X, pa.RecordBatchReader):
        return X.read_all()
    return X.collect() if hasattr(X, "collect_schema") and hasattr(X, "collect") and not hasattr(X, "shape") else X


def has_frame(X: Any) -> bool:
    """Whether this is a data frame whose columns scikit-learn itself looks at."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(X, "drop")


def drop(X: Any, *names: str) -> Any:
    """A data frame without some columns."""
    kept = [column for column in X.columns if str(column) not in names]
    return X[kept] if hasattr(X, "iloc") else X.select(kept)


def column_of(X: Any, name: str) -> Any:
    """One column of a table, by its name; the others of a data frame are not read."""
    X = eager(X)
    if has_frame(X) and name in map(str, X.columns):
        X = drop(X, *(str(other) for other in X.columns if str(other) != name))
    return table(X)[name]


def taken_out(X: Any, **told: Any) -> tuple[Any, dict[str, Any]]:
    """A table without the columns that are told by their names; and those columns. What else is told is left out."""
    named = {what: name for what, name in told.items() if isinstance(name, str)}
    if not named:
        return X, {}
    whole = X if has_frame(X) else table(X)  # what may be a stream, which is read once
    taken = {what: column_of(whole, name) for what, name in named.items()}
    return drop(X, *named.values()) if has_frame(X) else whole.without(*named.values()), taken


def weights_of(X: Any, weights: Any, rows: int) -> Floats | None:
    """The weights of so many rows: numbers, or the name of the table's column that has them."""
    named = isinstance(weights, str) and not is_source(X)
    return check_weights(numbers(column_of(X, weights), weights) if named else weights, rows)


def target_of(X: Any, y: Any) -> Any:
    """The target's values, where `y` is the name of a table's column; otherwise `y` as it is."""
    if not isinstance(y, str):
        return y
    raw = column_of(X, y)
    if isinstance(raw, np.ndarray):
        return raw
    values = (raw.arrow() if isinstance(raw, Coded) else raw).to_pylist()
    if None in values:
        raise DataError(
            f"Input y contains NaN: the target {y!r} is missing in row {values.index(None)}; drop such rows"
        )
    return np.array(Schema({}, y, raw.kind).values(values) if isinstance(raw, Coded) else values)


def target_name(y: Any, columns: Container[str]) -> str:
    """What the target is called: a column's name, that of a series, or "class"; never as one of the features is."""
    return y if isinstance(y, str) else free(str(getattr(y, "name", None) or "class"), columns)


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

        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)",
            DataConversionWarning,
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
    if (x := fractions(column)) is not None:
        check_classification_targets(x)
    return column


def fractions(column: Any) -> NDArray[np.float64] | None:
    """A target of floating-point numbers, None where it is of another type; no class is missing or infinite."""
    if target_kind(column) != "float":
        return None
    x = numbers(column, "y")
    if np.isnan(x).any():
        row = int(np.argmax(np.isnan(x)))
        raise DataError(f"Input y contains NaN: the target is missing in row {row}; drop such rows")
    if np.isinf(x).any():
        raise DataError("Input y contains infinity or a value too large for dtype('float64').")
    return x


def accuracy(classes: Any, best: Ints, X: Any, y: Any, sample_weight: Any) -> float:
    """The share of rows whose class is told. `best` are places among the classes, `y` a column's name or a vector."""
    target = target_codes(column_of(X, y) if isinstance(y, str) else classes_of(y), len(best))
    told = Told.of(best, places_among(classes, target), target, weights_of(X, sample_weight, len(best)))
    return told.share(classes)


def check_scored(X: Any, y: Any) -> None:
    """Refuse the name of a file's target where its rows are read to be predicted, without it."""
    if is_source(X) and isinstance(y, str):
        raise DataError(f"y is the name {y!r}, and the rows are in a file: give the target of each row to score")


def check_named(**told: Any) -> None:
    """Refuse what is told of a file's rows and is no name of a column; a target that is asked for must be told."""
    for name, value in told.items():
        if not isinstance(value, str) and (name == "y" or value is not None):
            raise DataError(f"the rows are in a file: give {name} as the name of one of its columns")
