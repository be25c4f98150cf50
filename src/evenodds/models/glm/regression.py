"""A regression as a value: columns, coefficients, how well they are known, and what the fit was like.

    choose the output distribution  →  choose the transfer function  →  maximise the likelihood

    score = offset + x · coefficients,     mean = transfer(score)

Immutable and safe to share between threads. It is no sum: the rows are gone, and what they said of the coefficients at
their best values is what is left. Yesterday's posterior can be today's prior.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenodds.data.memory import Table
from evenodds.data.memory import table as as_table
from evenodds.data.threads import in_order
from evenodds.errors import DataError
from evenodds.families import Family, Gaussian, Poisson
from evenodds.models.glm.blocks import SHARD, Block, Floats
from evenodds.models.glm.coefficients import GaussianPrior
from evenodds.models.glm.design import Design
from evenodds.models.glm.losses import Loss, loss_for
from evenodds.models.glm.plan import Roles
from evenodds.models.glm.problem import Step
from evenodds.models.glm.settings import RegressionSettings, Totals
from evenodds.models.saved import Saved
from evenodds.schema import Schema
from evenodds.show import Frame

Residual = Literal["response", "pearson", "deviance", "working"]


@dataclass(frozen=True, eq=False)
class Regression(Saved):
    """A fitted generalised linear model.

    `coefficients` are those of the columns as they came, one for each of `names`: (columns,), or (columns, classes - 1)
    against the first class. `covariance` is that of the coefficients inside, where numbers are centred and scaled
    (class after class); a dropped or infinite one has NaN. None where it was too large to be formed.
    """

    kind = "regression"
    schema: Schema
    design: Design
    settings: RegressionSettings
    roles: Roles
    classes: tuple[Any, ...]
    coefficients: Floats
    inside: Floats
    covariance: Floats | None
    totals: Totals
    dropped: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    infinite: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # -1, 0, 1 or EITHER
    notes: tuple[str, ...] = ()
    trace: tuple[Step, ...] = ()

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """The coefficients' names."""
        return self.design.names

    @functools.cached_property
    def loss(self) -> Loss:
        """The output distribution's cost and transfer function."""
        return loss_for(self.settings.family, max(len(self.classes), 2))

    @property
    def family(self) -> type[Family]:
        """The output distribution."""
        return self.settings.family

    def __getitem__(self, name: str) -> Any:
        """A coefficient by its name."""
        from evenodds.schema import did_you_mean

        if name not in self.names:
            raise KeyError(did_you_mean(name, self.names, "coefficient"))
        found = self.coefficients[self.names.index(name)]
        return float(found) if self.coefficients.ndim == 1 else found

    def __repr__(self) -> str:
        return f"Regression({self.family.__name__} of {self.schema.target!r}, {len(self.names)} coefficients)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Regression) and self.to_bytes() == other.to_bytes()

    def table(self, level: float = 0.95) -> Frame:
        """The coefficients with standard errors, z or t, p and intervals."""
        from evenodds.models.glm.inference import table

        return table(self, level)

    def summary(self, level: float = 0.95) -> Any:
        """Everything on one page, for a terminal or a notebook."""
        from evenodds.models.glm.summary import Summary

        return Summary(self, level)

    @property
    def posterior(self) -> GaussianPrior:
        """What is now believed of the coefficients, as a prior for other rows (Laplace's approximation)."""
        from evenodds.models.glm.inference import precision

        return GaussianPrior(self.coefficients.ravel(order="F"), precision(self))

    @property
    def steps(self) -> Frame:
        """What the solver did, step by step."""
        return Frame([vars(step) for step in self.trace], f"{self.totals.solver}: cost before each step")

    @property
    def aic(self) -> float:
        """-2 log-likelihood + 2 parameters; the Gaussian's variance is one more, unless it is known."""
        return -2 * self.totals.log_likelihood + 2 * self._parameters

    @property
    def bic(self) -> float:
        """-2 log-likelihood + log(rows) parameters."""
        return -2 * self.totals.log_likelihood + float(np.log(self.totals.rows)) * self._parameters

    @property
    def _parameters(self) -> int:
        return self.totals.rank + (self.family is Gaussian and self.settings.variance is None)

    # -- what it says of rows ----------------------------------------------------------------------------------------

    def score(self, x: Any, offset: Any = None, exposure: Any = None, *, threads: int | None = None) -> Floats:
        """The linear score of each row, (rows,) or (rows, classes - 1); NaN with missing="drop" where a cell is."""
        return self._each(x, offset, exposure, lambda tile: tile.score(self.inside), threads)

    def mean(self, x: Any, offset: Any = None, exposure: Any = None, *, threads: int | None = None) -> Floats:
        """The output's mean: a mean, a probability, a rate; of classes, (rows, classes) probabilities."""
        found = self.loss.mean(self.score(x, offset, exposure, threads=threads))
        if found.ndim == 1 and self.classes:
            return np.column_stack([1 - found, found])
        return found

    def interval(
        self, x: Any, level: float = 0.95, offset: Any = None, exposure: Any = None, *, threads: int | None = None
    ) -> tuple[Floats, Floats]:
        """The interval of the mean: of the score, ± its standard error, then through the transfer function.

        Of classes, that of each probability's log-odds (the delta method), so it stays between 0 and 1.
        """
        from evenodds.models.glm.inference import quantile

        if self.covariance is None:
            raise DataError("the standard errors were not formed, the design being too wide: there is no interval")
        wide = quantile(self, level)
        score = self.score(x, offset, exposure, threads=threads)
        if score.ndim == 2:
            return self._class_interval(x, score, wide, offset, exposure, threads)
        known = np.nan_to_num(self.covariance)
        spread = np.sqrt(self._each(x, offset, exposure, lambda tile: tile.quadratic(known), threads))
        low, high = self.loss.mean(score - wide * spread), self.loss.mean(score + wide * spread)
        if self.classes:
            return np.column_stack([1 - high, low]), np.column_stack([1 - low, high])
        return low, high

    def _class_interval(
        self, x: Any, score: Floats, wide: float, offset: Any, exposure: Any, threads: int | None
    ) -> tuple[Floats, Floats]:
        """Of each class: log-odds ± wide · sqrt(aᵀ V a), a the slopes of its log-odds in the scores."""
        assert self.covariance is not None
        p, outputs, width = self.loss.mean(score), self.loss.outputs, self.design.width
        known = np.nan_to_num(self.covariance)
        slopes = np.zeros((*p.shape, outputs))  # d log-odds(p_c) / d score_k = [c = k] - p_k (1 - [c = k]) / (1 - p_c)
        for c in range(p.shape[1]):
            rest = np.maximum(1 - p[:, c], np.finfo(float).tiny)
            for k in range(outputs):
                slopes[:, c, k] = 1.0 if c == k + 1 else -p[:, k + 1] / rest
        spread = np.zeros(p.shape)
        for k in range(outputs):
            for m in range(k + 1):
                part = known[k * width : (k + 1) * width, m * width : (m + 1) * width]
                both = self._each(x, offset, exposure, lambda tile, part=part: tile.quadratic(part), threads)
                spread += (1 if k == m else 2) * both[:, None] * slopes[:, :, k] * slopes[:, :, m]
        odds = np.log(p) - np.log1p(-p)
        spread = wide * np.sqrt(np.maximum(spread, 0))
        return 1 / (1 + np.exp(spread - odds)), 1 / (1 + np.exp(-odds - spread))

    def residuals(
        self, x: Any, y: Any, kind: Residual = "deviance", offset: Any = None, exposure: Any = None, weights: Any = None
    ) -> Floats:
        """How far each row's target is from its mean: "response", "pearson", "deviance" or "working" residuals."""
        from evenodds.models.glm.inference import residuals

        return residuals(self, x, y, kind, offset, exposure, weights)

    # -- rows --------------------------------------------------------------------------------------------------------

    def _each(self, x: Any, offset: Any, exposure: Any, work: Any, threads: int | None = None) -> Floats:
        """work(tile) of all rows, side by side; NaN for rows that cannot be scored."""
        sparse = hasattr(x, "tocsr") and hasattr(x, "shape")
        matrix = x.tocsr() if sparse else None
        rows = as_table(x) if not sparse else Table({}, x.shape[0], named=False)
        told = self._told(rows, offset, exposure)
        parts: list[Floats] = []

        def one(start: int) -> list[Floats]:
            stop = min(start + SHARD, rows.rows)
            part = None if told is None else told[start:stop]
            block, bad = self._block(
                rows if sparse else rows.slice(start, stop), part, start, None if matrix is None else matrix[start:stop]
            )
            found = [np.asarray(work(tile)) for tile in block.tiles()]
            if bad.any() and found:
                whole = np.concatenate(found)
                whole[bad] = np.nan
                found = [whole]
            return found

        for found in in_order(one, range(0, rows.rows, SHARD), threads):
            parts += found
        return np.concatenate(parts) if parts else np.zeros(0)

    def _told(self, rows: Table, offset: Any, exposure: Any) -> Floats | None:
        """The offset of each row: as given, or from the column that was one at fit; an exposure not given is 1."""
        total: Floats | None = None
        for given, name, is_exposure in ((offset, self.roles.offset, False), (exposure, self.roles.exposure, True)):
            values = given
            if values is None and name is not None and name in rows.columns:
                from evenodds.cells import numbers

                values = numbers(rows[name], name)
            if values is None:
                if name is not None and not is_exposure:
                    raise DataError(f"the model was fitted with the offset {name!r}: give offset= to predict too")
                continue
            if is_exposure and self.family is not Poisson:
                raise DataError("an exposure is for a Poisson target")
            x = np.broadcast_to(np.asarray(values, float), (rows.rows,))
            if not np.isfinite(x).all() or (is_exposure and not np.all(x > 0)):
                what = "exposure" if is_exposure else "offset"
                raise DataError(f"the {what} must be finite{' and above 0' if is_exposure else ''} in every row")
            total = (0.0 if total is None else total) + (np.log(x) if is_exposure else x)
        return total

    def _block(self, rows: Table, offset: Any, start: int, sparse: Any = None) -> tuple[Block, NDArray[np.bool_]]:
        """Rows in the design's columns, and which of them cannot be scored."""
        design = self.design
        if sparse is not None:
            if sparse.shape[1] != len(design.numbers) or design.categories:
                raise DataError(f"X has {sparse.shape[1]} features, the model {len(design.numbers)}")
            bad = np.zeros(sparse.shape[0], bool)
            sparse = sparse.astype(float)
            dense, codes = np.empty((sparse.shape[0], 0)), np.empty((sparse.shape[0], 0), np.int32)
            if not np.isfinite(sparse.data).all():
                raise DataError("X has cells that are missing or infinite (NaN, inf)")
            moved = self._unmoved
            block = Block(dense, sparse, codes, design.width, np.zeros(sparse.shape[0]), None, offset, design.intercept)
            return (block if moved is None else self._densified(sparse, offset)), bad
        dense, codes, bad = design.read(rows, self.schema)
        if bad.any():
            self._check(rows, dense, codes, int(np.argmax(bad)), start)
            dense = np.where(np.isfinite(dense), dense, 0.0)
            codes = np.where(codes < 0, design.width, codes).astype(np.int32)
        none = np.zeros(rows.rows)
        block = Block(
            dense, None, codes, design.width, none, None, offset, design.intercept, design.shift, design.scale
        )
        return block, bad

    @property
    def _unmoved(self) -> Any:
        """Whether numbers are centred or scaled inside; sparse ones are not."""
        design = self.design
        return None if not design.shift.any() and np.all(design.scale == 1) else design

    def _densified(self, sparse: Any, offset: Any) -> Block:
        design, none = self.design, np.zeros(sparse.shape[0])
        codes = np.empty((sparse.shape[0], 0), np.int32)
        return Block(
            sparse.toarray(),
            None,
            codes,
            design.width,
            none,
            None,
            offset,
            design.intercept,
            design.shift,
            design.scale,
        )

    def _check(self, rows: Table, dense: Any, codes: Any, row: int, start: int) -> None:
        """Refuse a row with a cell that is missing or never seen, unless such rows are dropped."""
        if self.settings.missing == "drop":
            return
        for j, term in enumerate(self.design.numbers):
            if not np.isfinite(dense[row, j]):
                what = "missing (NaN)" if np.isnan(dense[row, j]) else "infinite (inf)"
                raise DataError(f"column {term.column!r} is {what} in row {start + row}: fill it, or leave the row out")
        from evenodds.data.sum import cells

        for j, term in enumerate(self.design.categories):
            if codes[row, j] < 0:
                x = cells(rows, term.column, self.schema.features[term.column])
                place = int(x.places[row])
                if place < 0:
                    raise DataError(
                        f"column {term.column!r} is missing (NaN) in row {start + row}: fill it, or leave the row out"
                    )
                assert term.values is not None
                known = ", ".join(map(repr, term.values[:8])) + (", …" if len(term.values) > 8 else "")
                raise DataError(
                    f"column {term.column!r} is {x.labels.text(place)!r} in row {start + row}, never seen at fit; "
                    f"its values were {known}"
                )

    # -- files -------------------------------------------------------------------------------------------------------
