"""Arrays of a model's file: each is of the type and shape it should be, or a ValueError says which is not."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenodds.keys import encoded
from evenodds.labels import check_texts


def array(arrays: Mapping[str, Any], name: str, dtype: type[Any], shape: tuple[int, ...] | None = None) -> Any:
    """An array of this type and shape; without a shape, a list of any length."""
    found = arrays[name]
    if found.dtype != dtype or (found.ndim != 1 if shape is None else found.shape != shape):
        expected = np.dtype(dtype) if shape is None else f"{np.dtype(dtype)} {shape}"
        raise ValueError(f"its array {name!r} is {found.dtype} {found.shape}, expected {expected}")
    return found


def numbers(arrays: Mapping[str, Any], name: str, shape: tuple[int, ...], finite: bool = True) -> Any:
    """Doubles, finite unless they need not be."""
    found = array(arrays, name, np.float64, shape)
    if finite and not np.isfinite(found).all():
        raise ValueError(f"its array {name!r} has numbers that are none")
    return found


def plain_texts(name: str, texts: list[str]) -> dict[str, Any]:
    """Texts as arrays: their bytes, and where each begins and ends.

    >>> texts(plain_texts("towns", ["Ulm", "", "Köln"]), "towns")
    ['Ulm', '', 'Köln']
    """
    raw = [encoded(text) for text in texts]
    ends = np.cumsum([0, *map(len, raw)])
    return {f"{name}.blob": np.frombuffer(b"".join(raw), np.uint8), f"{name}.ends": ends.astype(np.int64)}


def texts(arrays: Mapping[str, Any], name: str) -> list[str]:
    """Texts that were written so."""
    blob, ends = arrays[f"{name}.blob"], arrays[f"{name}.ends"]
    check_texts(name, blob, ends, ends.size - 1)
    return [blob[a:b].tobytes().decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(ends.tolist())]
