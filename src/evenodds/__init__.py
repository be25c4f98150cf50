"""evenodds: probabilistic learning that people can see through.

Tally the rows, add the tallies, estimate: every model here is a sum. Names are imported when they are first used, so
that `import evenodds` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenodds import bandits, families
    from evenodds.audit.compare import compare
    from evenodds.audit.decisions import Decision, LeastCost
    from evenodds.audit.groups import Audit
    from evenodds.audit.limits import AtMost
    from evenodds.errors import DataError
    from evenodds.families import (
        Bernoulli,
        Beta,
        Binned,
        Categorical,
        Dirichlet,
        Exponential,
        Gamma,
        Gaussian,
        LogGaussian,
        NormalInverseGamma,
        Poisson,
        Quadrature,
        weigh,
    )
    from evenodds.models.bayes_net.estimator import BayesNet
    from evenodds.models.bayes_rule import update
    from evenodds.models.bridge.estimator import NaiveLogistic
    from evenodds.models.classifier import NaiveBayes
    from evenodds.models.glm.estimator import GLM
    from evenodds.models.glm.notes import RegressionWarning
    from evenodds.models.glm.prior import GaussianPrior
    from evenodds.models.kernel_density import KernelDensity
    from evenodds.models.mixture.estimator import Mixture
    from evenodds.models.naive_bayes import Model
    from evenodds.models.saved import load
    from evenodds.models.separators.linear_classifiers import LinearSeparator, Perceptron
    from evenodds.models.separators.separation import separation
    from evenodds.schema import Column, Schema, SchemaWarning
    from evenodds.tally import Tally
    from evenodds.text.words import Words

__version__ = "0.1.0"

_HOME = {
    "evenodds.families": (
        "Bernoulli Beta Binned Categorical Dirichlet Exponential Gamma Gaussian LogGaussian NormalInverseGamma "
        "Poisson Quadrature weigh"
    ),
    "evenodds.models.classifier": "NaiveBayes",
    "evenodds.models.bridge.estimator": "NaiveLogistic",
    "evenodds.models.separators.linear_classifiers": "LinearSeparator Perceptron",
    "evenodds.models.separators.separation": "separation",
    "evenodds.models.naive_bayes": "Model",
    "evenodds.models.kernel_density": "KernelDensity",
    "evenodds.models.saved": "load",
    "evenodds.models.glm.estimator": "GLM",
    "evenodds.models.glm.prior": "GaussianPrior",
    "evenodds.models.mixture.estimator": "Mixture",
    "evenodds.models.glm.notes": "RegressionWarning",
    "evenodds.models.bayes_net.estimator": "BayesNet",
    "evenodds.models.bayes_rule": "update",
    "evenodds.audit.compare": "compare",
    "evenodds.audit.decisions": "Decision LeastCost",
    "evenodds.audit.groups": "Audit",
    "evenodds.audit.limits": "AtMost",
    "evenodds.errors": "DataError",
    "evenodds.schema": "Column Schema SchemaWarning",
    "evenodds.tally": "Tally",
    "evenodds.text.words": "Words",
}
_ROOMS = ("audit", "bandits", "families", "plots")
_WHERE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "GLM",
    "AtMost",
    "Audit",
    "BayesNet",
    "Bernoulli",
    "Beta",
    "Binned",
    "Categorical",
    "Column",
    "DataError",
    "Decision",
    "Dirichlet",
    "Exponential",
    "Gamma",
    "Gaussian",
    "GaussianPrior",
    "KernelDensity",
    "LeastCost",
    "LinearSeparator",
    "LogGaussian",
    "Mixture",
    "Model",
    "NaiveBayes",
    "NaiveLogistic",
    "NormalInverseGamma",
    "Perceptron",
    "Poisson",
    "Quadrature",
    "RegressionWarning",
    "Schema",
    "SchemaWarning",
    "Tally",
    "Words",
    "bandits",
    "compare",
    "families",
    "load",
    "separation",
    "update",
    "weigh",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"evenodds.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'evenodds' has no attribute {name!r}")
    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS, "__version__"})
