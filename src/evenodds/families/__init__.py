"""What one variable can be: families, their priors, and the four estimates."""

from evenodds.families.base import ESTIMATES, Estimate, Family
from evenodds.families.bernoulli import Bernoulli, Beta
from evenodds.families.binned import Binned
from evenodds.families.categorical import Categorical, Dirichlet
from evenodds.families.distribution import Conjugate, Distribution
from evenodds.families.exponential import Exponential, Lomax
from evenodds.families.gaussian import Gaussian
from evenodds.families.gaussians import Gaussians
from evenodds.families.inference import Quadrature, weigh
from evenodds.families.kernel import Kernel
from evenodds.families.log_gaussian import LogGaussian, ZeroAndLog
from evenodds.families.normal_gamma import NormalInverseGamma, StudentT
from evenodds.families.poisson import NegativeBinomial, Poisson
from evenodds.families.rate import Gamma
from evenodds.families.words import WordCounts

FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (
        Bernoulli,
        Binned,
        Categorical,
        Exponential,
        Gaussian,
        Gaussians,
        Kernel,
        LogGaussian,
        Poisson,
        WordCounts,
    )
}
PRIORS: dict[str, type[Conjugate]] = {
    prior.__name__: prior for prior in (Beta, Dirichlet, Gamma, NormalInverseGamma, ZeroAndLog)
}

__all__ = [
    "ESTIMATES",
    "FAMILIES",
    "PRIORS",
    "Bernoulli",
    "Beta",
    "Binned",
    "Categorical",
    "Conjugate",
    "Dirichlet",
    "Distribution",
    "Estimate",
    "Exponential",
    "Family",
    "Gamma",
    "Gaussian",
    "Gaussians",
    "Kernel",
    "LogGaussian",
    "Lomax",
    "NegativeBinomial",
    "NormalInverseGamma",
    "Poisson",
    "Quadrature",
    "StudentT",
    "WordCounts",
    "ZeroAndLog",
    "weigh",
]
