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

from evenodds.errors import DataError, did_you_mean, many
from evenodds.families import Family, Gaussian
from evenodds.models.glm.blocks import Floats, Tile
from evenodds.models.glm.design import Design
from evenodds.models.glm.losses import Logistic, Loss, loss_for
from evenodds.models.glm.plan import Roles, in_memory
from evenodds.models.glm.prior import GaussianPrior
from evenodds.models.glm.problem import Step
from evenodds.models.glm.scoring import Where, each
from evenodds.models.glm.settings import RegressionSettings, Totals
from evenodds.models.saved import Saved
from evenodds.schema import Schema
from evenodds.show import Frame

Residual = Literal["response", "pearson", "deviance", "working"]

NOTHING = 1e-12  # of the noise's variance: a millionth of its deviation


@dataclass(frozen=True, eq=False)
class Regression(Saved):
    """A fitted generalised linear model.

    `coefficients` are those of the columns as they came, one for each of `names`: (columns,), or (columns, classes - 1)
    against the first class. `covariance` is that of the coefficients inside, where numbers are centred and scaled
    (class after class); a dropped one has NaN. None where it was too large to be formed.
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
    left_out: tuple[int, ...] = ()  # the columns that others already say, by their numbers
    relations: tuple[str, ...] = ()
    infinite: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # -1, 0, 1 or EITHER
    notes: tuple[str, ...] = ()
    trace: tuple[Step, ...] = ()

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """The coefficients' names."""
        return self.design.names

    @property
    def dropped(self) -> tuple[str, ...]:
        """The names of the columns that are left out, because others already say them."""
        return tuple(self.names[j] for j in self.left_out)

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
        if name not in self.names:
            raise KeyError(did_you_mean(name, self.names, "coefficient"))
        found = self.coefficients[self.names.index(name)]
        return float(found) if self.coefficients.ndim == 1 else found

    def __repr__(self) -> str:
        return f"Regression({self.family.__name__} of {self.schema.target!r}, {many(len(self.names), 'coefficient')})"

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

    def score(
        self, x: Any, offset: Any = None, exposure: Any = None, *, threads: int | None = None, where: Where = in_memory
    ) -> Floats:
        """The linear score of each row, (rows,) or (rows, classes - 1); NaN with missing="drop" where a cell is.

        Offset and exposure are numbers, or the names of columns. `where` tells how to find a row again.
        """
        return each(self, x, offset, exposure, lambda tile: tile.score(self.inside), threads, where)

    def mean(
        self, x: Any, offset: Any = None, exposure: Any = None, *, threads: int | None = None, where: Where = in_memory
    ) -> Floats:
        """The output's mean: a mean, a probability, a rate; of classes, (rows, classes) probabilities."""
        score = self.score(x, offset, exposure, threads=threads, where=where)
        if score.ndim == 1 and self.classes:  # 1 - p would lose the digits of what is next to nothing
            return np.column_stack([self.loss.mean(-score), self.loss.mean(score)])
        return self.loss.mean(score)

    def best(self, mean: Floats) -> NDArray[np.int64]:
        """The most probable class of each row by its number; -1 where none can be told, the mean being NaN."""
        shares = mean if mean.ndim == 2 else np.column_stack([1 - mean, mean])  # of successes among trials
        return np.where(np.isnan(shares).any(axis=1), -1, np.nan_to_num(shares).argmax(axis=1))

    def interval(
        self,
        x: Any,
        level: float = 0.95,
        offset: Any = None,
        exposure: Any = None,
        *,
        threads: int | None = None,
        where: Where = in_memory,
    ) -> tuple[Floats, Floats]:
        """The interval of the mean: of the score, ± its standard error, then through the transfer function.

        Of classes, that of each probability's log-odds (the delta method), so it stays between 0 and 1. NaN where there
        are no standard errors, or a column is so far from zero that no digit of them is left.
        """
        from evenodds.models.glm.inference import log_odds, quantile

        if self.covariance is None:
            raise DataError("the standard errors were not formed, the design being too wide: there is no interval")
        wide, several = quantile(self, level), self.loss.outputs > 1
        gone = np.tile(np.isin(np.arange(self.design.width), self.left_out), self.loss.outputs)
        known = np.where(gone | gone[:, None], 0.0, self.covariance)  # the others are NaN where they are not known

        def ends(tile: Tile) -> Floats:
            score = tile.score(self.inside)
            centre, variance = log_odds(tile, score, known) if several else (score, tile.quadratic(known))
            # below 0 is rounding: of a variance that is nothing beside the noise's, or of one with no digit left
            lost = variance < -NOTHING * self.totals.dispersion
            away = wide * np.sqrt(np.where(lost, np.nan, np.maximum(variance, 0.0)))
            return np.stack([centre - away, centre + away], axis=1)

        found = each(self, x, offset, exposure, ends, threads, where)
        mean = (Logistic() if several else self.loss).mean
        low, high = mean(found[:, 0]), mean(found[:, 1])
        if self.classes and not several:
            other_low, other_high = mean(-found[:, 1]), mean(-found[:, 0])
            return np.column_stack([other_low, low]), np.column_stack([other_high, high])
        return low, high

    def residuals(
        self, x: Any, y: Any, kind: Residual = "deviance", offset: Any = None, exposure: Any = None, weights: Any = None
    ) -> Floats:
        """How far each row's target is from its mean: "response", "pearson", "deviance" or "working" residuals."""
        from evenodds.models.glm.inference import residuals

        return residuals(self, x, y, kind, offset, exposure, weights)
