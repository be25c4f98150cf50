"""The rows of a regression, as often as the fitter wants them: held in memory, or read again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenodds.cells import Coded
from evenodds.data.passes import HELD
from evenodds.data.reading import Reading
from evenodds.data.source import Source
from evenodds.models.glm.blocks import SHARD, Block
from evenodds.models.glm.design import Design
from evenodds.models.glm.plan import Chunk, Plan, chunk_of
from evenodds.threads import Elsewhere, in_order

if TYPE_CHECKING:
    from evenodds.models.glm.survey import Found

STRIP = 1 << 12  # rows whose codes are written at once
PILOT = 1 << 16  # rows on which a first fit is tried


def block_of(chunk: Chunk, found: Found) -> Block:
    """The rows of a chunk in the design's columns."""
    design, target = found.design, chunk.target
    codes = np.empty((chunk.rows, len(chunk.coded)), np.int32)
    columns = [place.columns_of(x) for place, x in zip(design.places, chunk.coded)]
    for start in range(0, chunk.rows, STRIP):  # so that what is written lies in the cache
        part = slice(start, start + STRIP)
        for j, x in enumerate(chunk.coded):
            codes[part, j] = columns[j].take(x.codes[part], mode="wrap")
    y = found.classes.find(target) if isinstance(target, Coded) and found.classes is not None else target
    y = np.asarray(y, np.int32 if found.loss.outputs > 1 else np.float64)
    row = (codes, design.width, y, chunk.weights, chunk.offset, design.intercept)
    if chunk.sparse is not None:
        return Block(np.empty((len(y), 0)), chunk.sparse, *row)
    return Block(chunk.dense, None, *row, design.shift, design.scale)


@dataclass(frozen=True, eq=False)
class Held:
    """All rows in memory."""

    whole: Block
    shard: int = SHARD  # rows
    far = False  # nothing in memory is on other machines

    @property
    def sparse(self) -> bool:
        """Whether they are a sparse matrix."""
        return self.whole.sparse is not None

    @property
    def width(self) -> int:
        """How many columns the design has."""
        return self.whole.width

    def shards(self) -> list[slice]:
        """Runs of a fixed length."""
        return [slice(at, min(at + self.shard, self.whole.rows)) for at in range(0, self.whole.rows, self.shard)]

    def block(self, shard: slice) -> Block:
        """One run."""
        return _part(self.whole, shard)

    def recentred(self, design: Design) -> Held:
        """The same rows with numbers centred and scaled otherwise."""
        if self.sparse:
            return self
        return dataclasses.replace(self, whole=_moved(self.whole, design))

    def thinned(self) -> tuple[Held, ...]:
        """Rows at equal distances: few for a start, more for a first guess; none where all are few."""
        if self.whole.rows < 8 * PILOT:
            return ()
        sizes = (PILOT // 8, PILOT) if 100 * self.width <= PILOT // 8 else (PILOT,)
        return tuple(self._every(self.whole.rows // size) for size in sizes)

    def _every(self, step: int) -> Held:
        part = _part(self.whole, slice(step // 2, self.whole.rows, step))
        dense, codes = np.ascontiguousarray(part.dense), np.ascontiguousarray(part.codes)
        return Held(dataclasses.replace(part, dense=dense, codes=codes), max(1, part.rows // 8))


def _moved(block: Block, design: Design) -> Block:
    return dataclasses.replace(block, shift=design.shift, scale=design.scale)


def _part(whole: Block, rows: slice) -> Block:
    return dataclasses.replace(
        whole,
        dense=whole.dense[rows],
        sparse=None if whole.sparse is None else whole.sparse[rows],
        codes=whole.codes[rows],
        y=whole.y[rows],
        weights=None if whole.weights is None else whole.weights[rows],
        offset=None if whole.offset is None else whole.offset[rows],
    )


def read_again(plan: Plan, reading: Reading, batch: Any) -> Chunk:
    """The rows of a batch that the first pass has kept."""
    chunk, _ = chunk_of(plan, reading(batch), batch)
    return plan.whole(chunk) if plan.missing == "drop" else chunk


@dataclass(eq=False)
class Streamed:
    """Rows of files, read again for every pass; kept when they are few."""

    source: Source
    plan: Plan
    found: Found
    reading: Reading
    kept: list[Block] | None = None
    sparse = False  # nothing that is read from files is

    @property
    def width(self) -> int:
        """How many columns the design has."""
        return self.found.design.width

    @property
    def few(self) -> bool:
        """Whether the design is small enough to be kept."""
        design = self.found.design
        return self.found.survey.rows * (8 * len(design.numbers) + 4 * len(design.categories) + 24) <= HELD

    @property
    def far(self) -> bool:
        """Whether the rows stay on other machines."""
        return not self.few and isinstance(self.source.batches(self.reading.columns), Elsewhere)

    def shards(self) -> Iterable[Any]:
        """Batches, or what was kept of them."""
        if self.kept is None and self.few:
            batches = self.source.batches(self.reading.columns)
            self.kept = [block for block in in_order(self._read, batches, 1) if block.rows]
        return self.source.batches(self.reading.columns) if self.kept is None else self.kept

    def block(self, shard: Any) -> Block:
        """One batch, read."""
        return shard if isinstance(shard, Block) else self._read(shard)

    def _read(self, batch: Any) -> Block:
        return block_of(read_again(self.plan, self.reading, batch), self.found)

    def recentred(self, design: Design) -> Streamed:
        """The same rows with numbers centred and scaled otherwise."""
        found = dataclasses.replace(self.found, design=design)
        kept = None if self.kept is None else [_moved(block, design) for block in self.kept]
        return Streamed(self.source, self.plan, found, self.reading, kept)

    def thinned(self) -> tuple[Held, ...]:
        """None: to thin files would take a pass of its own, so the fit starts from the target's mean."""
        return ()
