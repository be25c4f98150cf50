"""A model as one safe file: the tally's arrays, and a header with the schema and the settings.

No type is imported by a name in a file: a column's family is looked up in the list of `evenodds.families`, and its
prior must be of the kind that belongs to the family. What is read is checked until nothing can be wrong with it later;
what could not be read again is not written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.families import WordCounts
from evenodds.models.header import (
    a_number,
    expect,
    plain_fields,
    plain_schema,
    plain_values,
    read_schema,
    read_settings,
    read_temper,
)
from evenodds.models.naive_bayes import Model
from evenodds.models.validate import check
from evenodds.tally import Tally
from evenodds.text.quick import IN_BLOCKS, PREFIX, checksum_of, sums


def parts_of(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the header of a model; one that would not come back the same is not written."""
    schema, settings = model.schema, model.settings
    written, chosen = plain_schema(schema), plain_fields(settings)
    if read_settings(chosen) != settings:
        raise ValueError("its settings would not come back the same")
    check(model, model.rows)
    arrays, layout = model.tally.arrays()
    rows = model.rows if model.rows < 2**53 else float(model.rows)  # JSON has no use for forty digits
    header = {"rows": rows, "schema": written, "settings": chosen, "tally": layout}
    if model.temper is not None:
        header["temper"] = plain_fields(model.temper)
    final, about = _final(model)
    return {**arrays, **final}, {**header, **about}


def _final(model: Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """The final weights of a model whose only column is text, so that one message need not wait for numpy."""
    features = model.schema.features
    if len(features) != 1 or not model.schema.texts or len(model.classes) < 2:
        return {}, {}
    [name] = features
    found = model.distributions.get(name)
    if not isinstance(found, WordCounts) or found.unseen is not None or found.nearest is not None:
        return {}, {}
    weights = found.weights
    parts = {"keys": weights.keys, "weights": weights.weights, "constant": found.constant, "prior": model.log_start}
    about = {
        "column": name,
        "classes": model.classes.tolist(),
        "tokens": plain_values(found.words.tokens._asdict()),
        "distinct": found.words.distinct,
        "bernoulli": found.words.events == "bernoulli",
        "buckets": weights.buckets,
    }
    if model.temper is not None:
        about |= {"exponent": model.exponent(name), "shrink": found.shrink}
    arrays = {part: np.ascontiguousarray(array) for part, array in parts.items()}
    raw = {part: array.reshape(-1).view(np.uint8).data for part, array in arrays.items()}
    blocks = {part: np.array(sums(raw[part]), np.uint64) for part in IN_BLOCKS}
    about["checksum"] = checksum_of(
        *(block.view(np.uint8).data for block in blocks.values()), raw["constant"], raw["prior"]
    )
    arrays |= {f"{part}.sums": block for part, block in blocks.items()}
    return {PREFIX + part: array for part, array in arrays.items()}, {"quick": about}


def model_of(arrays: dict[str, Any], header: dict[str, Any]) -> Model:
    """The model of a file's arrays and header; whatever does not fit together is refused."""
    expect(header, "header", {"format", "kind", "rows", "schema", "settings", "tally"}, frozenset({"quick", "temper"}))
    arrays = {part: array for part, array in arrays.items() if not part.startswith(PREFIX)}
    schema, settings = read_schema(header["schema"]), read_settings(header["settings"])
    temper = read_temper(header["temper"]) if "temper" in header else None
    model = Model(schema, Tally.from_arrays(arrays, header["tally"]), settings, temper)
    check(model, a_number(header["rows"]))
    return model
