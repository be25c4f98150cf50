"""How a tally is turned into probabilities: settings that need no pass over the data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenodds.families import Dirichlet, Estimate
from evenodds.families.leaves import Floats
from evenodds.families.smoothing import PriorKind
from evenodds.labels import canonical


@dataclass(frozen=True)
class Settings:
    """How a tally is turned into probabilities; none of it needs another pass over the data.

    estimate      "predictive", "mean", "map" or "mle" of each column's parameters
    smoothing     how many pseudo-rows the prior is worth; "auto": each column chooses by leave-one-out
    prior         "pooled": pseudo-rows of all classes together; "flat": `smoothing` pseudo-counts a value
    class_prior   "estimated" from the rows, "uniform", probabilities by class, or a Dirichlet to smooth with; "auto":
                  uniform where text is modelled by its complement (Rennie et al. 2003), otherwise estimated
    class_weight  a factor by class, or "balanced"
    unseen        a value never seen in any class: "ignore" (no evidence), or "prior" (its smoothing mass)
    """

    estimate: Estimate = "predictive"
    smoothing: float | Literal["auto"] = "auto"
    prior: PriorKind = "pooled"
    class_prior: Any = "auto"
    class_weight: Any = None
    unseen: Literal["ignore", "prior"] = "ignore"

    def __post_init__(self) -> None:
        for name, allowed in (
            ("estimate", ("predictive", "mean", "map", "mle")),
            ("prior", ("pooled", "flat")),
            ("unseen", ("ignore", "prior")),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(map(repr, allowed))}")
        number = isinstance(self.smoothing, (int, float, np.number)) and not isinstance(self.smoothing, bool)
        if self.smoothing != "auto" and not (number and 0 <= float(self.smoothing) < np.inf):
            raise ValueError(f"smoothing={self.smoothing!r}: expected a number of pseudo-rows, 0 or more, or 'auto'")
        prior, weight = self.class_prior, self.class_weight
        if isinstance(prior, str) and prior not in ("auto", "estimated", "uniform"):
            expected = "'auto', 'estimated', 'uniform', or probabilities by class"
            raise ValueError(f"class_prior={prior!r}: expected {expected}")
        if isinstance(weight, str) and weight != "balanced":
            raise ValueError(f"class_weight={weight!r}: expected 'balanced', or a factor by class")
        if not isinstance(prior, (str, Dirichlet)):
            object.__setattr__(self, "class_prior", _numbers("class_prior", prior, "probabilities by class"))
        if weight is not None and not isinstance(weight, str):
            object.__setattr__(self, "class_weight", _numbers("class_weight", weight, "factors of 0 or more"))
        if isinstance(weight, Mapping) and any(not 0 <= factor < np.inf for factor in self.class_weight.values()):
            raise ValueError(f"class_weight={weight!r}: expected factors of 0 or more")


def _numbers(name: str, given: Any, expected: str) -> Any:
    """Numbers by class as one form, whatever they came in, so that equal settings compare equal."""
    try:
        if isinstance(given, Mapping):
            return {canonical(label): float(number) for label, number in given.items()}
        return tuple(float(number) for number in given)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={given!r}: expected {expected}") from None


def normalise(joint: Floats, log_prior: Floats) -> Floats:
    """joint - logsumexp(joint) over the classes, (classes, rows), in place.

    A row that is impossible in every class is left with the class prior, (classes,) or each row's own.
    """
    top = np.maximum.reduce(joint)  # the methods max and sum take longer to start than a short message to weigh
    if np.fmin.reduce(top, initial=0.0) == -np.inf:
        impossible = top == -np.inf
        prior = log_prior[:, None] if log_prior.ndim == 1 else log_prior[:, impossible]
        joint[:, impossible] = prior
        top[impossible] = prior.max(axis=0)
        warnings.warn(
            f"{int(impossible.sum())} rows are impossible in every class (a probability of 0 was estimated): "
            "they get the class prior; smoothing above 0 avoids this",
            UserWarning,
            stacklevel=2,
        )
    return log_shares(joint, top)


def log_shares(joint: Floats, top: Floats) -> Floats:
    """The same, given each row's largest, where every row is possible in some class.

    >>> np.exp(log_shares(np.log([[1.0], [3.0]]), np.log([3.0]))).round(3).ravel()
    array([0.25, 0.75])
    """
    joint -= top
    joint -= np.log(np.add.reduce(np.exp(joint)))
    return joint
