"""Expectation and maximisation in turn: each step's tallies estimate the next step's parameters.

    expect     each row's shares of the components, under the current parameters; the tallies are sums
    maximise   the family's estimate of each component's tally

The log-likelihood (with a prior, the log posterior) never falls from one step to the next (Dempster, Laird and Rubin
1977). The fit is done when what is still to be gained, as far as the last gains tell (Aitken), is below the tolerance.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evenodds.models.mixture.blocks import Block
from evenodds.models.mixture.expected import Expected
from evenodds.models.mixture.factors import Factors
from evenodds.models.mixture.normals import Normals
from evenodds.models.mixture.priors import Prior

ROUNDING = 1e-13  # of the log-likelihood: gains below it are none

Components = Factors | Normals
Passes = Callable[[Callable[[Block], Expected]], Iterable[Expected]]


@dataclass(frozen=True, eq=False)
class Run:
    """Where EM came to: the components, the sums at them, and what was maximised, step by step."""

    components: Components
    expected: Expected
    trace: tuple[float, ...]
    converged: bool

    @property
    def objective(self) -> float:
        """The log-likelihood, and the log of the prior but for a constant."""
        return self.trace[-1]

    @property
    def steps(self) -> int:
        """How many times the parameters were estimated."""
        return len(self.trace) - 1


def expectation(components: Components, passes: Passes) -> Expected:
    """One pass over the rows."""
    return functools.reduce(Expected.__add__, passes(components.expect))


def em(start: Components, passes: Passes, prior: Prior, tolerance: float, most: int) -> Run:
    """Steps from a start, until little is to be gained, or there have been as many as may be."""
    components, trace = start, list[float]()
    while True:
        found = expectation(components, passes)
        trace.append(found.log_likelihood + components.log_prior(prior))
        enough = max(tolerance * float(found.counts.sum()), ROUNDING * abs(trace[-1]))
        converged = math.isfinite(trace[-1]) and to_gain(trace) <= enough
        if converged or len(trace) > most:
            return Run(components, found, tuple(trace), converged)
        components = components.updated(found, prior)


def to_gain(trace: list[float]) -> float:
    """What is still to be gained, if each gain is the same part of the one before: gain · rate / (1 - rate).

    >>> to_gain([0.0, 8.0, 12.0]), to_gain([0.0, 8.0])
    (4.0, inf)
    """
    if len(trace) < 3 or not math.isfinite(trace[-3]):  # under a start that was given, rows may be impossible
        return math.inf
    before, gain = trace[-2] - trace[-3], trace[-1] - trace[-2]
    if gain <= 0:
        return 0.0
    return gain / (before / gain - 1) if before > gain else math.inf
