"""What a mixture is asked to be, checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from evenodds.arguments import is_number, is_whole, one_of, whole
from evenodds.families import Bernoulli, Categorical, Family, Gaussian, Poisson

Covariance = Literal["full", "tied", "diagonal", "spherical"]
COVARIANCES: tuple[Covariance, ...] = ("full", "tied", "diagonal", "spherical")
CRITERIA = ("bic", "icl")
STARTS = ("k-means++", "random", "given")
FAMILIES: dict[str, type[Family]] = {family.__name__: family for family in (Gaussian, Bernoulli, Poisson, Categorical)}
AUTO = range(1, 10)  # the numbers of components that k="auto" tries
MOST_COMPONENTS = 10_000
MOST = 1e100  # of a number that is told


@dataclass(frozen=True)
class MixtureSettings:
    """How a mixture is fitted.

    family      Gaussian, Bernoulli, Poisson or Categorical: what a column is, within a component
    covariance  of Gaussians: "full", "tied" (one for all), "diagonal", "spherical" (one variance a component)
    prior       how many pseudo-rows each component's shape starts with; None: maximum likelihood
    criterion   "bic" or "icl": what chooses the number of components, where there is a choice
    start       "k-means++", "random", or "given": rows or a mixture to start from, which are no setting
    n_init      how many starts are tried; the best goes on
    tol         the log-likelihood still to be gained, in nats a row, below which the fit is done
    max_iter    steps at most
    """

    family: type[Family] = Gaussian
    covariance: Covariance = "full"
    prior: float | None = 0.01
    criterion: str = "bic"
    start: str = "k-means++"
    n_init: int = 10
    tol: float = 1e-5
    max_iter: int = 1000

    def __post_init__(self) -> None:
        if self.family not in FAMILIES.values():
            rest = "; give the class, not its name: Mixture(Poisson)" if isinstance(self.family, str) else ""
            raise ValueError(f"family={self.family!r}: expected Gaussian, Bernoulli, Poisson or Categorical{rest}")
        for name, allowed in (("covariance", COVARIANCES), ("criterion", CRITERIA), ("start", STARTS)):
            one_of(name, getattr(self, name), allowed)
        if self.covariance != "full" and self.family is not Gaussian:
            raise ValueError(f"covariance={self.covariance!r} is for Gaussians: a {self.family.__name__} has none")
        for name in ("n_init", "max_iter"):
            whole(name, getattr(self, name))
        for name, right, expected in (
            ("prior", self.prior is None or is_number(self.prior, above=0), "pseudo-rows, a number above 0, or None"),
            ("tol", is_number(self.tol) and self.tol >= 0, "a number, 0 or more"),
        ):
            if not right or (getattr(self, name) or 0) > MOST:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected {expected}")

    @property
    def joint(self) -> bool:
        """Whether columns hang together within a component."""
        return self.family is Gaussian and self.covariance in ("full", "tied")


def numbers_of_components(k: Any) -> list[int]:
    """The numbers of components to try: one, or several to choose from.

    >>> numbers_of_components("auto"), numbers_of_components(3), numbers_of_components(range(2, 4))
    ([1, 2, 3, 4, 5, 6, 7, 8, 9], [3], [2, 3])
    """
    if isinstance(k, str) and k == "auto":
        return list(AUTO)
    asked = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    for one in asked:
        if not is_whole(one) or not 1 <= one <= MOST_COMPONENTS:
            raise ValueError(f"k={k!r}: expected a number of components, several to choose from, or 'auto'")
    if not asked:
        raise ValueError("k is empty: expected a number of components, several to choose from, or 'auto'")
    return sorted({int(one) for one in asked})
