"""Rows that a fitted regression is asked about: read in its design's columns, with what is added to their scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import as_column, codes, numbers
from evenodds.data.memory import Table, table
from evenodds.data.sum import cells
from evenodds.errors import DataError, listed, remedy
from evenodds.families import Poisson
from evenodds.labels import canonical
from evenodds.models.glm.blocks import SHARD, Block, Floats, Tile
from evenodds.models.glm.design import Places
from evenodds.models.glm.plan import check_target, checked, in_memory
from evenodds.threads import in_order

if TYPE_CHECKING:
    from evenodds.models.glm.regression import Regression

Where = Callable[[int], str]


def each(
    model: Regression,
    x: Any,
    offset: Any,
    exposure: Any,
    work: Callable[[Tile], Floats],
    threads: int | None = None,
    where: Where = in_memory,
) -> Floats:
    """work(tile) of all rows, side by side; NaN for rows that cannot be scored."""
    matrix = x.tocsr().astype(float) if hasattr(x, "tocsr") and hasattr(x, "shape") else None
    rows = table(x) if matrix is None else Table({}, matrix.shape[0], named=False)
    told = offsets(model, rows, offset, exposure, where)

    def one(start: int) -> list[Floats]:
        stop = min(start + SHARD, rows.rows)
        part = None if told is None else told[start:stop]
        if matrix is None:
            block, bad = _of_table(model, rows.slice(start, stop), part, lambda row: where(start + row))
        else:
            block, bad = _of_matrix(model, matrix[start:stop], part), np.zeros(stop - start, bool)
        found = [np.asarray(work(tile)) for tile in block.tiles()]
        if bad.any():
            found = [np.concatenate(found)]
            found[0][bad] = np.nan
        return found

    parts = [part for found in in_order(one, range(0, rows.rows, SHARD), threads) for part in found]
    return np.concatenate(parts) if parts else np.zeros(0)


# -- beside the rows ---------------------------------------------------------------------------------------------------


def offsets(model: Regression, rows: Table, offset: Any, exposure: Any, where: Where = in_memory) -> Floats | None:
    """What is added to the score of each row: as told, a number, one for each row or a column's name; or by the column
    that was the offset or the exposure at fit. An exposure that is not told is 1.
    """
    total: Floats | None = None
    for what, told, role in (("offset", offset, model.roles.offset), ("exposure", exposure, model.roles.exposure)):
        given = role if told is None and role in rows.columns else told
        if given is None:
            if role is not None and what == "offset":
                cure = remedy("give offset= to predict too", "the rows to be predicted need that column")
                raise DataError(f"the model was fitted with the offset {role!r}: {cure}")
            continue
        exposed = what == "exposure"
        if exposed and model.family is not Poisson:
            raise DataError("an exposure is for a Poisson target")
        name = given if isinstance(given, str) else role or what
        values = numbers(rows[name] if isinstance(given, str) else one_each(what, given, rows.rows), name)
        checked(values, what, name, where, above=0.0 if exposed else None)
        total = (0.0 if total is None else total) + (np.log(values) if exposed else values)
    return total


def targets(model: Regression, y: Any, rows: int) -> Floats:
    """Targets that were given, one a row, as the loss takes them: of classes their numbers, of trials their shares."""
    name, raw = model.roles.target, one_each("target", y, rows)
    if not model.classes:
        found = numbers(raw, name)
        check_target(found, name)
        model.loss.check(found, name, in_memory)
        return found
    cells, known = codes(raw), [canonical(value) for value in model.classes]
    check_target(cells, name)
    found = Places.of(known, range(len(known))).find(cells).astype(np.float64)
    if np.any(found < 0):
        row = int(np.argmin(found))
        raise DataError(
            f"the target {name!r} is {cells.labels.text(int(cells.places[row]))!r} in row {row}, never seen at fit; "
            f"its values were {listed(known)}"
        )
    return found


def one_each(what: str, value: Any, rows: int) -> Any:
    """A vector that was given, one cell a row; a number stands for all of them."""
    if isinstance(value, str):
        raise DataError(f"{what} is the name {value!r}: give a number for each row")
    raw = np.full(rows, float(value)) if np.ndim(value) == 0 else as_column(value)
    check_length(what, raw, rows)
    return raw


def check_length(what: str, raw: Any, rows: int) -> None:
    """Refuse a vector that has not one cell a row."""
    given = len(raw.codes if hasattr(raw, "codes") else raw)
    if given != rows:
        raise DataError(
            f"{given} values of {what} for {rows} rows (inconsistent numbers of samples: [{rows}, {given}]): "
            "give one for each row"
        )


# -- the rows ----------------------------------------------------------------------------------------------------------


def _of_matrix(model: Regression, sparse: Any, offset: Floats | None) -> Block:
    """Rows of a sparse matrix; written out only where numbers are centred or scaled inside."""
    design = model.design
    if sparse.shape[1] != len(design.numbers) or design.categories:
        raise DataError(f"X has {sparse.shape[1]} features, the model {len(design.numbers)}")
    if not np.isfinite(sparse.data).all():
        raise DataError("X has cells that are missing or infinite (NaN, inf)")
    if design.moved:
        return _block(model, sparse.toarray(), None, _no_codes(sparse), offset)
    return _block(model, np.empty((sparse.shape[0], 0)), sparse, _no_codes(sparse), offset)


def _no_codes(rows: Any) -> NDArray[np.int32]:
    return np.empty((rows.shape[0], 0), np.int32)


def _of_table(model: Regression, rows: Table, offset: Floats | None, where: Where) -> tuple[Block, NDArray[np.bool_]]:
    """Rows of a table, and which of them cannot be scored."""
    dense, codes, bad = model.design.read(rows, model.schema)
    if bad.any():
        if model.settings.missing != "drop":
            _refuse(model, rows, dense, codes, int(np.argmax(bad)), where)
        dense = np.where(np.isfinite(dense), dense, 0.0)
        codes = np.where(codes < 0, model.design.width, codes).astype(np.int32)
    return _block(model, dense, None, codes, offset), bad


def _block(model: Regression, dense: Any, sparse: Any, codes: Any, offset: Floats | None) -> Block:
    design = model.design
    return Block(
        dense, sparse, codes, design.width, np.zeros(len(dense)), None, offset, design.intercept, design.shift,
        design.scale,
    )  # fmt: skip


def _refuse(model: Regression, rows: Table, dense: Any, codes: Any, row: int, where: Where) -> None:
    """Name the cell of a row that is missing, infinite or never seen."""
    for j, term in enumerate(model.design.numbers):
        if not np.isfinite(dense[row, j]):
            what = "missing (NaN)" if np.isnan(dense[row, j]) else "infinite (inf)"
            raise DataError(f"column {term.column!r} is {what} in {where(row)}: fill it, or leave the row out")
    for j, term in enumerate(model.design.categories):
        if codes[row, j] < 0:
            x = cells(rows, term.column, model.schema.features[term.column])
            place = int(x.places[row])
            if place < 0:
                raise DataError(
                    f"column {term.column!r} is missing (NaN) in {where(row)}: fill it, or leave the row out"
                )
            assert term.values is not None
            raise DataError(
                f"column {term.column!r} is {x.labels.text(place)!r} in {where(row)}, never seen at fit; "
                f"its values were {listed(term.values)}"
            )
