"""How a tally is turned into probabilities: settings that need no pass over the data."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenodds.arguments import one_of, smoothing_of
from evenodds.families import Dirichlet, Estimate
from evenodds.families.base import check_estimate
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
        check_estimate(self.estimate)
        one_of("prior", self.prior, ("pooled", "flat"))
        one_of("unseen", self.unseen, ("ignore", "prior"))
        object.__setattr__(self, "smoothing", smoothing_of(self.smoothing))
        prior, weight = self.class_prior, self.class_weight
        expected = "'auto', 'estimated', 'uniform', or probabilities by class"
        if isinstance(prior, str) and prior not in ("auto", "estimated", "uniform"):
            raise ValueError(f"class_prior={prior!r}: expected {expected}")
        if not isinstance(weight, (Mapping, type(None))) and not (isinstance(weight, str) and weight == "balanced"):
            raise ValueError(f"class_weight={weight!r}: expected 'balanced', or a factor by class")
        if not isinstance(prior, (str, Dirichlet)):
            object.__setattr__(self, "class_prior", _numbers("class_prior", prior, expected))
        if isinstance(weight, Mapping):
            factors = _numbers("class_weight", weight, "factors of 0 or more")
            object.__setattr__(self, "class_weight", factors)
            if any(not 0 <= factor < np.inf for factor in factors.values()):
                raise ValueError(f"class_weight={weight!r}: expected factors of 0 or more")

    def check(self, other: Settings) -> None:
        """Refuse to add models that make different probabilities of the same rows, naming the first setting."""
        for name, mine in vars(self).items():
            theirs = getattr(other, name)
            if mine != theirs:
                alike = "alike" if name == "class_weight" else f"with one --{name.replace('_', '-')}"
                raise ValueError(
                    f"the models differ in {name} ({reprlib.repr(mine)} and {reprlib.repr(theirs)}): make it the same "
                    f"by model.set({name}=...), or fit both {alike}; then they can be added"
                )


def _numbers(name: str, given: Any, expected: str) -> Any:
    """Numbers by class as one form, whatever they came in, so that equal settings compare equal."""
    try:
        if isinstance(given, Mapping):
            return {canonical(label): float(number) for label, number in given.items()}
        return tuple(float(number) for number in given)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={given!r}: expected {expected}") from None
