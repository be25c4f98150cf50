"""A model as one safe file: the tally's arrays, and a header with the schema and the settings.

No type is imported by a name in a file: a column's family is looked up in the list of `evenodds.families`, and its
prior must be of the kind that belongs to the family. What is read is checked until nothing can be wrong with it later;
what could not be read again is not written.
"""

from __future__ import annotations

import dataclasses
import os
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evenodds import file
from evenodds.errors import DataError
from evenodds.families import (
    FAMILIES,
    PRIORS,
    Beta,
    Conjugate,
    Dirichlet,
    Family,
    NormalInverseGamma,
    WordCounts,
    ZeroAndLog,
)
from evenodds.labels import Labels
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.models.validate import check
from evenodds.replacing import Path
from evenodds.schema import Column, Schema
from evenodds.tally import Tally
from evenodds.text.quick import PREFIX
from evenodds.text.words import Words

KIND = "naive bayes"
LARGEST = 1e100  # of a number in the header, and of 1 over it: what is made of it must not overflow


def save(model: Model, path: Path) -> None:
    """Write the model to a file, which replaces an old one only when all of it is on the disk."""
    file.write(path, *_parts(model))


def load(path: Path) -> Model:
    """The model that was saved in a file: it goes on learning, adding and forgetting.

    >>> import tempfile
    >>> from evenodds import Gaussian
    >>> empty = Model(Schema({"height": Column(Gaussian)}, "sex"), Tally.nothing())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(empty.learn({"height": [1.85, 1.6, 1.75]}, ["m", "f", "m"]), f"{folder}/sex.eo")
    ...     load(f"{folder}/sex.eo").learn({"height": [1.7]}, ["f"])
    Model(4 rows, 2 classes of 'sex')
    column  as
    height  Gaussian
    """
    return model_of(*file.read(path), os.fspath(path))


def to_bytes(model: Model) -> bytes:
    """The bytes of the file that `save` writes."""
    return file.pack(*_parts(model))


def from_bytes(data: bytes) -> Model:
    """The model that `to_bytes` wrote; whatever does not fit together is refused."""
    return model_of(*file.unpack(data), file.UNNAMED)


def _parts(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the header of a model; one that would not come back the same is not written."""
    schema, settings = model.schema, model.settings
    try:
        written = {"target": schema.target, "target_kind": schema.target_kind, "columns": _columns(schema)}
        chosen = _plain_fields(settings)
        if _read_schema(written) != schema or _read_settings(chosen) != settings:
            raise ValueError("its settings would not come back the same")
        check(model, model.rows)
    except ValueError as error:
        raise DataError(f"the model cannot be saved: {error}") from None
    arrays, layout = model.tally.arrays()
    rows = model.rows if model.rows < 2**53 else float(model.rows)  # JSON has no use for forty digits
    header = {"kind": KIND, "rows": rows, "schema": written, "settings": chosen, "tally": layout}
    final, about = _final(model)
    return {**arrays, **final}, {**header, **about}


def _final(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """The final weights of a model whose only column is text, so that one message need not wait for numpy."""
    [(name, column), *more] = model.schema.features.items()
    found = None if more or column.words is None or len(model.classes) < 2 else model.distributions.get(name)
    if not isinstance(found, WordCounts) or found.unseen is not None or found.nearest is not None:
        return {}, {}
    weights = found.weights
    parts = {"keys": weights.keys, "weights": weights.weights, "constant": found.constant, "prior": model.log_prior}
    about = {
        "column": name,
        "classes": model.classes.tolist(),
        "tokens": _plain_fields(found.words.tokens),
        "distinct": found.words.distinct,
        "bernoulli": found.words.events == "bernoulli",
        "buckets": weights.buckets,
    }
    return {PREFIX + part: np.ascontiguousarray(array) for part, array in parts.items()}, {"quick": about}


def model_of(arrays: dict[str, Any], header: dict[str, Any], name: str) -> Model:
    """The model of a file's arrays and header; whatever does not fit together is refused."""
    try:
        if header["kind"] != KIND:
            raise ValueError(f"it holds a {reprlib.repr(header['kind'])}")
        _expect(header, "header", {"format", "kind", "rows", "schema", "settings", "tally"}, frozenset({"quick"}))
        arrays = {part: array for part, array in arrays.items() if not part.startswith(PREFIX)}
        schema, settings = _read_schema(header["schema"]), _read_settings(header["settings"])
        model = Model(schema, Tally.from_arrays(arrays, header["tally"]), settings)
        check(model, _number(header["rows"]))
    except ValueError as error:
        raise file.no_model(name, str(error).removeprefix("not a tally: ")) from None
    return model


# -- as JSON has it ----------------------------------------------------------------------------------------------------


def _columns(schema: Schema) -> list[dict[str, Any]]:
    columns = []
    for name, column in schema.columns.items():
        try:
            columns.append({"name": name, **_plain_fields(column)})
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}") from None
    return columns


def _plain_fields(value: Any) -> dict[str, Any]:
    """A dataclass's fields that are there, also those at their defaults: a default may change, a file must not."""
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {
        name: _plain(entry)
        for name, entry in fields.items()
        if not (entry is None or (isinstance(entry, tuple) and not entry))
    }


def _plain(value: Any) -> Any:
    """A setting as JSON has it: a family as its name, a prior as its kind and its parameters."""
    if isinstance(value, type) and issubclass(value, Family) and value in FAMILIES.values():
        return value.name
    if isinstance(value, Dirichlet):
        return {"prior": "Dirichlet", "concentration": _plain_concentration(value)}
    if isinstance(value, Conjugate):
        if type(value) not in PRIORS.values():
            raise ValueError(f"a prior of the kind {type(value).__name__} cannot be written to a file")
        return {"prior": type(value).__name__, **_plain_fields(value)}
    if isinstance(value, Words):
        return _plain_fields(value)
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {"by": {name: _plain(entry) for name, entry in value.items()}}
    if isinstance(value, (tuple, list)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        value = value.item()
    if isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"a {type(value).__name__} cannot be written to a file")


def _plain_concentration(prior: Dirichlet) -> Any:
    values = np.asarray(prior.concentration)
    if values.ndim > 1 or not (prior.labels is None or isinstance(prior.labels, Labels)):
        raise ValueError("a Dirichlet with a number for each class cannot be written to a file")
    if prior.labels is None:
        return values.tolist()
    return {"by": dict(zip(prior.labels.texts(), values.tolist(), strict=True))}


# -- and back ----------------------------------------------------------------------------------------------------------


def _expect(value: Any, what: str, required: set[str], optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The value, if it is an object with these names and no others."""
    if not isinstance(value, dict):
        raise ValueError(f"its {what} is no object but {reprlib.repr(value)}")
    missing, strange = required - value.keys(), value.keys() - required - optional
    if missing or strange:
        fault = f"has no {min(missing)!r}" if missing else f"has an unknown {reprlib.repr(min(strange))}"
        raise ValueError(f"its {what} {fault}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a text, got {reprlib.repr(value)}")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        raise ValueError(f"expected a number up to {LARGEST:g}, got {reprlib.repr(value)}")
    if value and abs(value) < 1 / LARGEST:
        raise ValueError(f"expected 0 or a number from {1 / LARGEST:g}, got {value!r}")
    return value


def _whole(value: Any) -> int:
    if not file.is_whole(value):
        raise ValueError(f"expected an integer, got {reprlib.repr(value)}")
    return value


def _number_or_word(value: Any) -> Any:
    return value if isinstance(value, str) else _number(value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"expected a list, got {reprlib.repr(value)}")
    return value


def _by(value: Any) -> dict[str, float]:
    named = _expect(value, "mapping", {"by"})["by"]
    if not isinstance(named, dict):
        raise ValueError(f"expected numbers by name, got {reprlib.repr(named)}")
    return {name: _number(entry) for name, entry in named.items()}


def _read_family(value: Any) -> type[Family]:
    if _text(value) not in FAMILIES:
        raise ValueError(f"unknown family {reprlib.repr(value)}; the families are {', '.join(FAMILIES)}")
    return FAMILIES[value]


COLUMN: dict[str, Callable[[Any], Any]] = {
    "family": _read_family,
    "role": _text,
    "prior": lambda value: value,  # read when the family is known
    "smoothing": _number_or_word,
    "variance": _number_or_word,
    "origin": _number,
    "bins": _whole,
    "parts": lambda value: tuple(_text(part) for part in _list(value)),
    "source": _text,
    "values": _text,
    "words": lambda value: _read_words(value),
}
SETTINGS: dict[str, Callable[[Any], Any]] = {
    "estimate": _text,
    "smoothing": _number_or_word,
    "prior": _text,
    "class_prior": lambda value: _read_class_prior(value),
    "class_weight": lambda value: value if isinstance(value, str) else _by(value),
    "unseen": _text,
}


def _read_schema(written: Any) -> Schema:
    _expect(written, "schema", {"target", "target_kind", "columns"})
    columns: dict[str, Column] = {}
    for column in _list(written["columns"]):
        _expect(column, "column", {"name"}, frozenset(COLUMN))
        name = _text(column["name"])
        if name in columns:
            raise ValueError(f"column {reprlib.repr(name)} occurs twice")
        try:
            columns[name] = _read_column({field: value for field, value in column.items() if field != "name"})
        except ValueError as error:
            raise ValueError(f"column {reprlib.repr(name)}: {error}") from None
    return Schema(columns, _text(written["target"]), _text(written["target_kind"]))


def _read_column(written: dict[str, Any]) -> Column:
    read = {name: COLUMN[name](value) for name, value in written.items()}
    if "prior" in read:
        if "family" not in read:
            raise ValueError("it has a prior and no family")
        read["prior"] = _read_prior(read["prior"], type(read["family"].flat_prior()))
    column = Column(**read)
    if column.role == "feature" and column.family is None:
        raise ValueError("it has no family")
    if column.source is not None and len(column.parts) != 1:
        raise ValueError("it is not one part of a date or of a text")
    return column


WORDS: dict[str, Callable[[Any], Any]] = {
    "events": _text,
    "ngrams": lambda value: tuple(_whole(n) for n in value) if isinstance(value, list) else _whole(value),
    "buckets": _whole,
    "key": _whole,
    "min_count": _number,
    "smoothing": _number_or_word,
    "length": _text,
    "length_column": lambda value: _flag(value),
    "prior": _text,
    "neighbours": _whole,
    "min_length": _whole,
    "case": lambda value: _flag(value),
    "accents": lambda value: _flag(value),
    "digits": lambda value: _flag(value),
    "punctuation": lambda value: _flag(value),
    "characters": lambda value: tuple(_whole(n) for n in _list(value)),
    "stop_words": lambda value: frozenset(_text(word) for word in _list(value)),
    "stem": _text,
}


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {reprlib.repr(value)}")
    return value


def _read_words(value: Any) -> Words:
    _expect(value, "words", set(), frozenset(WORDS))
    read = {name: WORDS[name](entry) for name, entry in value.items()}
    for name in ("ngrams", "characters"):
        if isinstance(read.get(name), tuple) and len(read[name]) != 2:
            raise ValueError(f"expected two lengths, got {len(read[name])}")
    return Words(**read)


def _read_prior(value: Any, kind: type[Conjugate]) -> Conjugate:
    """A prior of this kind; no other belongs to the family."""
    fields = {field.name for field in dataclasses.fields(kind)} - {"labels"}  # type: ignore[arg-type]
    _expect(value, "prior", {"prior", *fields})
    if value["prior"] != kind.__name__:
        raise ValueError(f"expected a prior of the kind {kind.__name__}, got {reprlib.repr(value['prior'])}")
    if kind is Dirichlet:
        return Dirichlet(_read_concentration(value["concentration"]))
    if kind is ZeroAndLog:
        zero, log = _read_prior(value["zero"], Beta), _read_prior(value["log"], NormalInverseGamma)
        return ZeroAndLog(zero, log)  # type: ignore[arg-type]
    return kind(**{name: _number(value[name]) for name in fields})


def _read_concentration(value: Any) -> Any:
    if isinstance(value, dict):
        return _by(value)
    if value == []:
        raise ValueError("expected a concentration, got an empty list")
    return np.array([float(_number(entry)) for entry in value]) if isinstance(value, list) else _number(value)


def _read_class_prior(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_number(entry) for entry in value)
    if isinstance(value, dict):
        return _read_prior(value, Dirichlet) if "prior" in value else _by(value)
    return _text(value)


def _read_settings(written: Any) -> Settings:
    _expect(written, "settings", set(), frozenset(SETTINGS))
    read = {}
    for name, value in written.items():
        try:
            read[name] = SETTINGS[name](value)
        except ValueError as error:
            raise ValueError(f"its setting {name!r}: {error}") from None
    return Settings(**read)
