"""A model as one safe run of bytes: the tally's arrays, and a JSON header with the schema and the settings.

Nothing in it is code, and no type is imported by name: families and priors are looked up in the two lists of
`evenodds.families`. A model read back goes on learning, adding and forgetting.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenodds.cells import DataError
from evenodds.families import FAMILIES, PRIORS, Conjugate
from evenodds.labels import Labels, canonical
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.schema import Column, Schema
from evenodds.tally import Tally, pack, unpack

FORMAT = 1


def to_bytes(model: Model) -> bytes:
    """The model as bytes."""
    arrays, tally = model.tally.arrays()
    schema = model.schema
    header = {
        "evenodds": "naive bayes",
        "format": FORMAT,
        "tally": tally,
        "target": {"name": schema.target, "kind": schema.target_kind},
        "columns": [{"name": name, **_column(column)} for name, column in schema.columns.items()],
        "settings": {f.name: _plain(getattr(model.settings, f.name)) for f in dataclasses.fields(model.settings)},
    }
    return pack(arrays, header)


def from_bytes(data: bytes) -> Model:
    """The model that `to_bytes` wrote; whatever does not fit together is refused."""
    try:
        arrays, header = unpack(data)
        if header.get("evenodds") != "naive bayes":
            raise DataError("not a model: these bytes hold something else")
        if header["format"] > FORMAT:
            raise DataError(
                f"the model has format {header['format']}; this version reads up to {FORMAT}: upgrade evenodds"
            )
        columns = {str(column.pop("name")): _read_column(column) for column in header["columns"]}
        schema = Schema(columns, str(header["target"]["name"]), str(header["target"]["kind"]))
        settings = Settings(**{name: _read(value) for name, value in header["settings"].items()})
        return Model(schema, Tally.from_arrays(arrays, header["tally"]), settings)
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"not a model: {error!r}") from None


def _column(column: Column) -> dict[str, Any]:
    """A column's settings that are not the default."""
    changed = {
        f.name: getattr(column, f.name) for f in dataclasses.fields(column) if getattr(column, f.name) != f.default
    }
    if column.family is not None:
        changed["family"] = column.family.name
    return {name: _plain(value) for name, value in changed.items()}


def _read_column(settings: dict[str, Any]) -> Column:
    read = {name: _read(value) for name, value in settings.items()}
    if "family" in read:
        read["family"] = FAMILIES[read["family"]]
    if "parts" in read:
        read["parts"] = tuple(read["parts"])
    return Column(**read)


def _plain(value: Any) -> Any:
    """A setting as JSON has it: a prior as its name and its parameters, keys as their canonical texts."""
    if isinstance(value, Conjugate):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}  # type: ignore[arg-type]
        return {"prior": type(value).__name__, "parameters": fields}
    if isinstance(value, Labels):
        return {"labels": value.texts()}
    if isinstance(value, Mapping):
        return {"by": {canonical(name): _plain(entry) for name, entry in value.items()}}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "prior" in value:
        fields = {name: _read(entry) for name, entry in value["parameters"].items()}
        fields = {name: np.array(entry) if isinstance(entry, list) else entry for name, entry in fields.items()}
        return PRIORS[value["prior"]](**fields)
    return Labels.of(value["labels"]) if "labels" in value else {name: _read(v) for name, v in value["by"].items()}
