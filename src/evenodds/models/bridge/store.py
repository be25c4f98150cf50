"""A bridge as one safe file: naive Bayes' own arrays and header, and beside them the correction's.

What is read is checked until nothing can be wrong with it later: columns against the schema, shapes against each other,
numbers against being numbers.
"""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from evenodds.families import Categorical, WordCounts
from evenodds.labels import Labels, check_texts
from evenodds.models import store
from evenodds.models.arrays import array, numbers
from evenodds.models.bridge.bridge import Bridge, Tried
from evenodds.models.bridge.features import Features, Numbers, Part, Tokens, Values
from evenodds.models.header import a_flag, a_list, a_text, expect
from evenodds.models.naive_bayes import Model
from evenodds.text.quick import PREFIX

OWN = "bridge."  # before the names of the correction's arrays


def parts_of(bridge: Bridge) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the header of a bridge."""
    arrays, below = store.parts_of(bridge.model)
    below = {name: value for name, value in below.items() if name != "quick"}  # it would answer without the correction
    arrays = {name: array for name, array in arrays.items() if not name.startswith(PREFIX)}
    arrays |= {
        OWN + "weights": bridge.weights,
        OWN + "curvature": bridge.curvature,
        OWN + "tried": np.array(bridge.tried, float).reshape(-1, len(Tried._fields)),
        OWN + "scales": np.array([bridge.scale, bridge.strength]),
    }
    features = []
    for j, part in enumerate(bridge.features.parts):
        own, about = _plain(part, f"{OWN}{j}.")
        arrays |= own
        features.append({"column": part.name, **about})
    header = {"rows": below["rows"], "below": {"kind": Model.kind} | below, "features": features}
    return arrays, header


def _plain(part: Part, at: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of one column's features, and what the header says of it."""
    if isinstance(part, Numbers):
        array = np.array([part.shift, part.scale, *part.cuts])
        return {at + "numbers": array}, {"as": "numbers", "log": part.log, "squares": part.squares}
    if isinstance(part, Values):
        labels = part.labels
        return {at + "keys": labels.keys, at + "blob": labels.blob, at + "ends": labels.ends}, {"as": "values"}
    return {at + "keys": part.keys}, {"as": "words"}


# -- and back ----------------------------------------------------------------------------------------------------------


def model_of(arrays: dict[str, Any], header: dict[str, Any]) -> Bridge:
    """The bridge of a file's arrays and header; whatever does not fit together is refused."""
    expect(header, "header", {"format", "kind", "rows", "below", "features"})
    own = {part.removeprefix(OWN): array for part, array in arrays.items() if part.startswith(OWN)}
    rest = {part: array for part, array in arrays.items() if not part.startswith(OWN)}
    below = header["below"]
    if not isinstance(below, dict) or below.get("kind") != Model.kind:
        raise ValueError("there is no naive Bayes below")
    model = store.model_of(rest, {"format": header["format"], **below})
    if header["rows"] != below["rows"]:
        raise ValueError("its rows are not those of the naive Bayes below")
    return _read(model, own, a_list(header["features"]))


def _read(model: Model, arrays: dict[str, Any], written: list[Any]) -> Bridge:
    features = Features(tuple(_part(model, arrays, one, f"{j}.") for j, one in enumerate(written)))
    names = [part.name for part in features.parts]
    dense = [isinstance(part, Numbers) for part in features.parts]
    if len(set(names)) < len(names) or sorted(dense, reverse=True) != dense:
        raise ValueError("its features are not in their order")
    shape = (1 + features.width, len(model.classes))
    weights, curvature = (numbers(arrays, part, shape) for part in ("weights", "curvature"))
    if np.any(curvature < 0):
        raise ValueError("its weights have a curvature below 0")
    scale, strength = numbers(arrays, "scales", (2,), finite=False).tolist()
    tried = numbers(arrays, "tried", (len(arrays["tried"]), len(Tried._fields)), finite=False)
    if not 0 <= scale < np.inf or not strength > 0:
        raise ValueError("its scale is below 0, or its strength is not above 0")
    if not (np.all(tried[:, 0] >= 0) and np.all(tried[:, 1] > 0) and np.all((tried[:, 3] >= 0) & (tried[:, 3] <= 1))):
        raise ValueError("what was tried is no scale, strength and share")
    listed = tuple(Tried(*map(float, row)) for row in tried)
    return Bridge(model, features, scale, strength, weights, curvature, listed)


def _part(model: Model, arrays: dict[str, Any], written: Any, at: str) -> Part:
    if not isinstance(written, dict):
        raise ValueError("its features are none")
    column = a_text(written.get("column"))
    if column not in model.schema.features:
        raise ValueError(f"it corrects a column {reprlib.repr(column)} that it has not")
    family, kind = model.schema.features[column].family, written.get("as")
    expected = {Categorical: "values", WordCounts: "words"}.get(family, "numbers")  # type: ignore[arg-type]
    if kind != expected:
        raise ValueError(f"it corrects the column {reprlib.repr(column)} as {reprlib.repr(kind)}")
    if kind == "numbers":
        expect(written, "feature", {"column", "as", "log", "squares"})
        found = numbers(arrays, at + "numbers", (max(len(arrays[at + "numbers"]), 2),))
        if not found[1] > 0 or np.any(np.diff(found[2:]) <= 0):
            raise ValueError(f"the column {reprlib.repr(column)} has no scale, or its cuts are not in order")
        how = a_flag(written["log"]), a_flag(written["squares"])
        return Numbers(column, float(found[0]), float(found[1]), *how, found[2:])
    expect(written, "feature", {"column", "as"})
    keys = array(arrays, at + "keys", np.uint64)
    if np.any(keys[1:] <= keys[:-1]):
        raise ValueError(f"the keys of the column {reprlib.repr(column)} are not in order")
    if kind == "words":
        return Tokens(column, keys)
    blob, ends = array(arrays, at + "blob", np.uint8), array(arrays, at + "ends", np.int64)
    check_texts(f"the column {reprlib.repr(column)}", blob, ends, len(keys))
    return Values(column, Labels(keys, blob, ends))
