"""Models as safe files: what every kind of them can do, and any of them from a file.

A kind of model has a store: `parts_of` gives the arrays and the header of its file, `model_of` reads them back and
raises a ValueError, TypeError or KeyError where they do not fit together; what would not be read back is a ValueError
of `parts_of`.
"""

from __future__ import annotations

import os
import reprlib
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from evenodds import file
from evenodds.errors import DataError
from evenodds.replacing import Path

STORES = {
    "naive bayes": "evenodds.models.store",
    "regression": "evenodds.models.glm.store",
    "bridge": "evenodds.models.bridge.store",
    "mixture": "evenodds.models.mixture.store",
    "network": "evenodds.models.bayes_net.store",
}


class Saved:
    """A model that is one safe file: arrays and a header, no code.

    >>> import tempfile
    >>> from evenodds import Column, Gaussian, Model, Schema, Tally
    >>> empty = Model(Schema({"height": Column(Gaussian)}, "sex"), Tally.nothing())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     empty.learn({"height": [1.85, 1.6, 1.75]}, ["m", "f", "m"]).save(f"{folder}/sex.eo")
    ...     Model.load(f"{folder}/sex.eo").learn({"height": [1.7]}, ["f"])
    Model(4 rows, 2 classes of 'sex')
    column  as
    height  Gaussian
    """

    kind: ClassVar[str]

    def save(self, path: Path) -> None:
        """Write the model to a file; an old one is replaced only when all of the new one is on the disk."""
        file.write(path, *_parts(self))

    def to_bytes(self) -> bytes:
        """The bytes of the file that `save` writes."""
        return file.pack(*_parts(self))

    @classmethod
    def load(cls, path: Path) -> Self:
        """The model that was saved in a file."""
        return cls._only(*file.read(path), os.fspath(path))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The model that `to_bytes` wrote; whatever does not fit together is refused."""
        return cls._only(*file.unpack(data), file.UNNAMED)

    @classmethod
    def _only(cls, arrays: dict[str, Any], header: dict[str, Any], name: str) -> Self:
        kind = header["kind"]
        if kind != cls.kind and kind in STORES:
            raise file.FileError(f"{name} holds a {kind!r} model: expected one of {cls.kind!r}")
        found: Self = _model(arrays, header, name)
        return found


def load(path: Path) -> Any:
    """The model that was saved in a file, whatever its kind: a `Model` of naive Bayes, a `Bridge`, a `Regression`, …"""
    return _model(*file.read(path), os.fspath(path))  # read once: it may be a pipe


def _parts(model: Saved) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        arrays, header = import_module(STORES[model.kind]).parts_of(model)
    except ValueError as error:
        raise DataError(f"the model cannot be saved: {error}") from None
    return {name: np.asarray(array, order="C") for name, array in arrays.items()}, {"kind": model.kind} | header


def _model(arrays: dict[str, Any], header: dict[str, Any], name: str) -> Any:
    if header["kind"] not in STORES:
        raise file.no_model(name, f"it holds a {reprlib.repr(header['kind'])}")
    try:
        return import_module(STORES[header["kind"]]).model_of(arrays, header)
    except KeyError as error:
        raise file.no_model(name, f"it has no array {error}") from None
    except (ValueError, TypeError) as error:
        raise file.no_model(name, str(error)) from None
