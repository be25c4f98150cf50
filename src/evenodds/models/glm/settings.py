"""How a regression is fitted, and what the fit was like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenodds.arguments import flag, is_number, mapping, one_of, whole
from evenodds.families import Bernoulli, Categorical, Family, Gaussian
from evenodds.models.glm.losses import FAMILIES
from evenodds.models.glm.minimise import SOLVERS, TOLERANCE, Solver
from evenodds.models.glm.prior import as_prior

Errors = Literal["model", "HC0", "HC1", "HC2", "HC3"]
ERRORS: tuple[Errors, ...] = ("model", "HC0", "HC1", "HC2", "HC3")


@dataclass(frozen=True)
class RegressionSettings:
    """How a regression is fitted.

    family     the output distribution: Gaussian, Bernoulli, Categorical or Poisson
    prior      None; a precision; a GaussianPrior; or "jeffreys" for the Bernoulli
    intercept  whether there is a column of ones
    errors     standard errors from the "model", or robust ones, "HC0" to "HC3"
    solver     "auto", "newton", "lbfgs" or "ascent"
    tol        of the slope when the fit is done: |g_j| ≤ tol · sqrt(H_jj Σw)
    max_iter   steps of Newton's at most; of L-BFGS and ascent, 50 times as many
    rate       of gradient ascent; None: chosen step by step
    missing    rows with missing cells: "refuse" to fit, or "drop" them
    reference  the reference value of a category, by column; its first value if not told
    variance   of the Gaussian's noise, if it is known
    """

    family: type[Family] = Gaussian
    prior: Any = None
    intercept: bool = True
    errors: Errors = "model"
    solver: Solver = "auto"
    tol: float = TOLERANCE
    max_iter: int = 100
    rate: float | None = None
    missing: Literal["refuse", "drop"] = "refuse"
    reference: Mapping[str, Any] = field(default_factory=dict)
    variance: float | None = None

    def __post_init__(self) -> None:
        if self.family not in FAMILIES.values():
            name = getattr(self.family, "__name__", repr(self.family))
            rest = "; give the class, not its name: GLM(Poisson)" if isinstance(self.family, str) else ""
            raise ValueError(f"family={name}: expected one of {', '.join(FAMILIES)}{rest}")
        for name, allowed in (("errors", ERRORS), ("solver", SOLVERS), ("missing", ("refuse", "drop"))):
            one_of(name, getattr(self, name), allowed)
        for name in ("tol", "rate", "variance"):
            value = getattr(self, name)
            if (value is not None or name == "tol") and not is_number(value, above=0):
                raise ValueError(f"{name}={value!r}: expected a number above 0")
        whole("max_iter", self.max_iter)
        object.__setattr__(self, "intercept", flag("intercept", self.intercept))
        object.__setattr__(self, "prior", as_prior(self.prior))
        object.__setattr__(self, "reference", mapping("reference", self.reference, "{'zone': 'north'}"))
        if self.prior == "jeffreys" and self.family is not Bernoulli:
            raise ValueError("prior='jeffreys' is for the Bernoulli; give the others a precision or a GaussianPrior")
        if self.prior == "jeffreys" and self.solver not in ("auto", "newton"):
            raise ValueError(f"prior='jeffreys' has a solver of its own: solver={self.solver!r} is not for it")
        if self.variance is not None and self.family is not Gaussian:
            raise ValueError("variance= is that of a Gaussian's noise: leave it out")
        if self.errors in ("HC2", "HC3") and self.family is Categorical:
            raise ValueError(f"errors={self.errors!r}: of classes there are robust errors 'HC0' and 'HC1'")


@dataclass(frozen=True)
class Totals:
    """What the fit was like."""

    rows: float  # Σ w
    rank: int  # coefficients that the data or the prior determine, of all outputs
    log_likelihood: float
    deviance: float
    null_deviance: float  # of the intercept alone, or of no coefficient where there is none
    pearson: float  # Σ (y - mean)² / variance of the output, which for the Gaussian is taken as 1
    dispersion: float  # the Gaussian's variance; 1 for the others
    cost: float  # what was minimised
    slope: float  # the convergence test's
    steps: int
    solver: str
    converged: bool
    dropped_rows: int = 0

    @property
    def spare(self) -> float:
        """Rows less coefficients: the residual degrees of freedom."""
        return self.rows - self.rank
