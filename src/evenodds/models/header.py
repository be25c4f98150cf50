"""The header of a model file: a schema, its priors and settings as JSON, and read back with nothing believed."""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from evenodds.arguments import is_whole
from evenodds.families import (
    FAMILIES,
    PRIORS,
    Beta,
    Conjugate,
    Dirichlet,
    Family,
    NormalInverseGamma,
    ZeroAndLog,
)
from evenodds.labels import Labels
from evenodds.models.settings import Settings
from evenodds.models.temper import Temper
from evenodds.schema import Column, Schema
from evenodds.text.words import Words

T = TypeVar("T")
LARGEST = 1e100  # of a number in the header, and of 1 over it: what is made of it must not overflow


def plain_columns(schema: Schema) -> list[dict[str, Any]]:
    """The columns of a schema as JSON has them."""
    columns = []
    for name, column in schema.columns.items():
        try:
            columns.append({"name": name, **plain_fields(column)})
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}") from None
    return columns


def plain_schema(schema: Schema) -> dict[str, Any]:
    """A schema as JSON has it; refused where it would not come back the same."""
    written = {"target": schema.target, "target_kind": schema.target_kind, "columns": plain_columns(schema)}
    if read_schema(written) != schema:
        raise ValueError("its columns would not come back the same")
    return written


def plain_fields(value: Any) -> dict[str, Any]:
    """A dataclass's fields that are there, also those at their defaults: a default may change, a file must not."""
    return plain_values({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})


def plain_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their names as JSON has them, those that are there."""
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
        return {"prior": type(value).__name__, **plain_fields(value)}
    if isinstance(value, Words):
        return plain_fields(value)
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


def expect(value: Any, what: str, required: set[str], optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The value, if it is an object with these names and no others."""
    if not isinstance(value, dict):
        raise ValueError(f"its {what} is no object but {reprlib.repr(value)}")
    missing, strange = required - value.keys(), value.keys() - required - optional
    if missing or strange:
        fault = f"has no {min(missing)!r}" if missing else f"has an unknown {reprlib.repr(min(strange))}"
        raise ValueError(f"its {what} {fault}")
    return value


def _a(kind: type[T], value: Any, expected: str) -> T:
    if not isinstance(value, kind):
        raise ValueError(f"expected {expected}, got {reprlib.repr(value)}")
    return value


def a_text(value: Any) -> str:
    """The value, if it is a text."""
    return _a(str, value, "a text")


def a_flag(value: Any) -> bool:
    """The value, if it is true or false."""
    return _a(bool, value, "true or false")


def a_list(value: Any) -> list[Any]:
    """The value, if it is a list."""
    return _a(list, value, "a list")


def a_number(value: Any) -> float:
    """The value, if it is a number of which nothing can overflow."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        raise ValueError(f"expected a number up to {LARGEST:g}, got {reprlib.repr(value)}")
    if value and abs(value) < 1 / LARGEST:
        raise ValueError(f"expected 0 or a number from {1 / LARGEST:g}, got {value!r}")
    return value


def a_whole(value: Any) -> int:
    """The value, if it is an integer."""
    if not is_whole(value):
        raise ValueError(f"expected an integer, got {reprlib.repr(value)}")
    return value


def _number_or_word(value: Any) -> Any:
    return value if isinstance(value, str) else a_number(value)


def _by(value: Any) -> dict[str, float]:
    named = _a(dict, expect(value, "mapping", {"by"})["by"], "numbers by name")
    return {name: a_number(entry) for name, entry in named.items()}


def a_family(value: Any, known: Mapping[str, type[Family]] = FAMILIES) -> type[Family]:
    """One of these families, by its name."""
    if a_text(value) not in known:
        raise ValueError(f"unknown family {reprlib.repr(value)}; the families are {', '.join(known)}")
    return known[value]


COLUMN: dict[str, Callable[[Any], Any]] = {
    "family": a_family,
    "role": a_text,
    "prior": lambda value: value,  # read when the family is known
    "smoothing": _number_or_word,
    "variance": _number_or_word,
    "origin": a_number,
    "bins": a_whole,
    "bandwidth": _number_or_word,
    "components": a_whole,
    "parts": lambda value: tuple(a_text(part) for part in a_list(value)),
    "source": a_text,
    "values": a_text,
    "words": lambda value: _read_words(value),
}
SETTINGS: dict[str, Callable[[Any], Any]] = {
    "estimate": a_text,
    "smoothing": _number_or_word,
    "prior": a_text,
    "class_prior": lambda value: _read_class_prior(value),
    "class_weight": lambda value: value if isinstance(value, str) else _by(value),
    "unseen": a_text,
}


def read_schema(written: Any) -> Schema:
    """The schema that a header describes."""
    expect(written, "schema", {"target", "target_kind", "columns"})
    columns: dict[str, Column] = {}
    for column in a_list(written["columns"]):
        expect(column, "column", {"name"}, frozenset(COLUMN))
        name = a_text(column["name"])
        if name in columns:
            raise ValueError(f"column {reprlib.repr(name)} occurs twice")
        try:
            columns[name] = _read_column({field: value for field, value in column.items() if field != "name"})
        except ValueError as error:
            raise ValueError(f"column {reprlib.repr(name)}: {error}") from None
    return Schema(columns, a_text(written["target"]), a_text(written["target_kind"]))


def read_temper(written: Any) -> Temper:
    """The temper that a header describes."""
    expect(written, "temper", {"exponents", "prior", "rows"}, frozenset({"shrink", "offsets"}))
    by = {name: _by(written[name]) for name in ("exponents", "shrink", "offsets") if name in written}
    return Temper(**by, prior=a_number(written["prior"]), rows=a_number(written["rows"]))


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
    "events": a_text,
    "ngrams": lambda value: tuple(a_whole(n) for n in value) if isinstance(value, list) else a_whole(value),
    "buckets": a_whole,
    "key": a_whole,
    "min_count": a_number,
    "smoothing": _number_or_word,
    "length": a_text,
    "length_column": a_flag,
    "prior": a_text,
    "neighbours": a_whole,
    "min_length": a_whole,
    "case": a_flag,
    "accents": a_flag,
    "digits": a_flag,
    "punctuation": a_flag,
    "characters": lambda value: tuple(a_whole(n) for n in a_list(value)),
    "stop_words": lambda value: frozenset(a_text(word) for word in a_list(value)),
    "stem": a_text,
}


def _read_words(value: Any) -> Words:
    expect(value, "words", set(), frozenset(WORDS))
    read = {name: WORDS[name](entry) for name, entry in value.items()}
    for name in ("ngrams", "characters"):
        if isinstance(read.get(name), tuple) and len(read[name]) != 2:
            raise ValueError(f"expected two lengths, got {len(read[name])}")
    return Words(**read)


def _read_prior(value: Any, kind: type[Conjugate]) -> Conjugate:
    """A prior of this kind; no other belongs to the family."""
    fields = {field.name for field in dataclasses.fields(kind)} - {"labels"}  # type: ignore[arg-type]
    expect(value, "prior", {"prior", *fields})
    if value["prior"] != kind.__name__:
        raise ValueError(f"expected a prior of the kind {kind.__name__}, got {reprlib.repr(value['prior'])}")
    if kind is Dirichlet:
        return Dirichlet(_read_concentration(value["concentration"]))
    if kind is ZeroAndLog:
        zero, log = _read_prior(value["zero"], Beta), _read_prior(value["log"], NormalInverseGamma)
        return ZeroAndLog(zero, log)  # type: ignore[arg-type]
    return kind(**{name: a_number(value[name]) for name in fields})


def _read_concentration(value: Any) -> Any:
    if isinstance(value, dict):
        return _by(value)
    if value == []:
        raise ValueError("expected a concentration, got an empty list")
    return np.array([float(a_number(entry)) for entry in value]) if isinstance(value, list) else a_number(value)


def _read_class_prior(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(a_number(entry) for entry in value)
    if isinstance(value, dict):
        return _read_prior(value, Dirichlet) if "prior" in value else _by(value)
    return a_text(value)


def read_settings(written: Any) -> Settings:
    """The settings that a header describes."""
    expect(written, "settings", set(), frozenset(SETTINGS))
    read = {}
    for name, value in written.items():
        try:
            read[name] = SETTINGS[name](value)
        except ValueError as error:
            raise ValueError(f"its setting {name!r}: {error}") from None
    return Settings(**read)
