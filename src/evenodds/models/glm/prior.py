"""What is believed of a regression's coefficients before the data: nothing, a Gaussian, or Jeffreys' prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenodds.arguments import is_number
from evenodds.errors import DataError, did_you_mean
from evenodds.models.glm.blocks import Floats
from evenodds.models.glm.design import Design

JEFFREYS: Literal["jeffreys"] = "jeffreys"


@dataclass(frozen=True)
class GaussianPrior:
    """A Gaussian over the coefficients: where each is expected, and how surely (precision = 1 / variance).

    A number is for every coefficient but the intercept, whose precision is 0; a dict names coefficients (`age`,
    `class[3rd]`) or columns (`class`), all others having a mean and precision of 0; an array has one number a
    coefficient in the order of `names`, the intercept included; a matrix is the precision of all of them together, as
    another model's posterior has it.

    >>> GaussianPrior(precision=2.0)
    GaussianPrior(mean=0.0, precision=2.0)
    """

    mean: Any = 0.0
    precision: Any = 1.0

    def __post_init__(self) -> None:
        for name in ("mean", "precision"):
            value = getattr(self, name)
            if isinstance(value, Mapping):
                object.__setattr__(self, name, {str(key): float(number) for key, number in value.items()})
                value = list(getattr(self, name).values())
            elif np.ndim(value):
                object.__setattr__(self, name, np.asarray(value, float))
            numbers = np.asarray(value, float)
            if not np.isfinite(numbers).all():
                raise ValueError(f"GaussianPrior: the {name} {value!r} is not finite")
        precision = self.precision
        if isinstance(precision, np.ndarray) and precision.ndim == 2:
            symmetric = precision.shape[0] == precision.shape[1] and np.allclose(precision, precision.T)
            if not symmetric or np.linalg.eigvalsh(precision).min(initial=0) < -1e-9 * np.abs(precision).max(initial=0):
                raise ValueError("GaussianPrior: expected a symmetric precision matrix without negative directions")
        elif np.any(np.asarray(list(precision.values()) if isinstance(precision, Mapping) else precision) < 0):
            raise ValueError(f"GaussianPrior: precision={precision!r}: expected 0 or more")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GaussianPrior) and all(
            type(a) is type(b) and (np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b)
            for a, b in ((self.mean, other.mean), (self.precision, other.precision))
        )

    def resolved(self, design: Design, outputs: int) -> tuple[Floats, Floats]:
        """The mean (n,) and the precision, (n,) or (n, n), of a design's coefficients, class after class."""
        mean = _vector(self.mean, design, outputs, "mean")
        precision = self.precision
        n = design.width * outputs
        if isinstance(precision, np.ndarray) and precision.shape == (n, n):
            return mean, precision
        if isinstance(precision, np.ndarray) and precision.ndim == 2:
            raise ValueError(f"GaussianPrior: the precision matrix is {precision.shape}, expected {(n, n)}")
        return mean, _vector(precision, design, outputs, "precision")


def _vector(value: Any, design: Design, outputs: int, what: str) -> Floats:
    width = design.width
    if isinstance(value, Mapping):
        one = np.zeros(width)
        for name, number in value.items():
            one[_named(name, design)] = number
        return np.tile(one, outputs)
    array = np.asarray(value, float)
    if array.ndim == 0:
        one = np.full(width, float(array))
        if design.intercept:
            one[0] = 0.0
        return np.tile(one, outputs)
    flat = array.ravel(order="F")
    if len(flat) == width:
        return np.tile(flat, outputs)
    if len(flat) != width * outputs:
        raise ValueError(f"GaussianPrior: {len(flat)} numbers in its {what} for {width * outputs} coefficients")
    return flat


def _named(name: str, design: Design) -> Sequence[int]:
    """The places of the coefficients that a name stands for."""
    if design.names.count(name) > 1:
        raise DataError(f"prior: there are two coefficients {name!r}, and either may be meant: rename the column")
    if name in design.names:
        return [design.names.index(name)]
    at = int(design.intercept) + len(design.numbers)
    for term in design.categories:
        if term.column == name:
            return range(at, at + len(term.names))
        at += len(term.names)
    raise DataError(f"prior: {did_you_mean(name, design.names, 'coefficient')}")


def as_prior(prior: Any) -> GaussianPrior | Literal["jeffreys"] | None:
    """What was given as a prior: nothing, a precision, a GaussianPrior, or "jeffreys"."""
    if prior is None or isinstance(prior, GaussianPrior):
        return prior
    if isinstance(prior, str):
        if prior == JEFFREYS:
            return JEFFREYS
    elif is_number(prior):
        return GaussianPrior(0.0, float(prior)) if prior else None
    raise ValueError(f"prior={prior!r}: expected a precision, a GaussianPrior, 'jeffreys', or None for none")
