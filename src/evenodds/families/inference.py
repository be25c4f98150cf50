"""Beyond conjugate pairs: any prior of one parameter, by quadrature; and a few models, weighed by their evidence."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from evenodds.families.base import Family
from evenodds.families.distribution import Conjugate, Distribution, Seed, generator
from evenodds.families.leaves import Floats
from evenodds.show import Frame
from evenodds.tally import Tally

PANELS, DEPTH = 64, 60.0  # the posterior is integrated where it is above e^-60 of its peak, in 64 panels of 16 nodes


@dataclass(frozen=True, eq=False, repr=False)
class Quadrature(Conjugate):
    """Any prior over the one parameter of a family, given as a density (it need not be normalised).

    Held to the conjugate answer where both exist:

    >>> from evenodds.families import Bernoulli, Beta
    >>> triangle = Quadrature(Bernoulli, lambda p: np.minimum(p, 1 - p))
    >>> round((triangle + Bernoulli.tally([1, 1])).mean, 4)
    0.6429
    >>> flat = Quadrature(Bernoulli, lambda p: np.ones_like(p)) + Bernoulli.tally([1, 1])
    >>> bool(abs(flat.mean - (Beta(1, 1) + Bernoulli.tally([1, 1])).mean) < 1e-12)
    True
    """

    family: type[Family]
    density: Callable[[Floats], Any]
    low: float = 0.0
    high: float | None = None  # 1 for a Bernoulli, infinity otherwise
    seen: Tally = field(default_factory=Tally.nothing, repr=False)

    def __add__(self, tally: Tally) -> Self:
        return type(self)(self.family, self.density, self.low, self.high, self.seen + tally)

    @property
    def _end(self) -> float:
        return self.high if self.high is not None else (1.0 if self.family.name == "bernoulli" else math.inf)

    def _log(self, theta: Floats, seen: Tally | None = None) -> Floats:
        seen = self.seen if seen is None else seen
        with np.errstate(divide="ignore"):
            log_prior = np.log(np.asarray(self.density(theta), float))
        if not seen.columns:
            return log_prior
        return np.asarray(log_prior + self.family(theta).log_likelihood(seen))  # type: ignore[call-arg]

    @functools.cached_property
    def _nodes(self) -> tuple[Floats, Floats, float]:
        """Nodes, normalised weights, and the log of the integral of the prior density times the likelihood."""
        return self._integrate(self.seen)

    def _integrate(self, seen: Tally) -> tuple[Floats, Floats, float]:
        t = (np.arange(4000) + 0.5) / 4000
        grid = self.low + t / (1 - t) if math.isinf(self._end) else self.low + (self._end - self.low) * t
        log = self._log(grid, seen)
        best = int(np.argmax(log))
        if not math.isfinite(log[best]):
            raise ValueError("the prior density is 0 wherever the data are possible")
        for _ in range(6):  # close in on a peak narrower than the grid
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
            finer = np.linspace(low, high, 41)
            values = self._log(finer, seen)
            grid = np.concatenate([grid, finer])
            log = np.concatenate([log, values])
            order = np.argsort(grid)
            grid, log = grid[order], log[order]
            best = int(np.argmax(log))
        inside = np.flatnonzero(log > log[best] - DEPTH)
        left = self.low if inside[0] == 0 else grid[inside[0] - 1]
        right = grid[min(inside[-1] + 1, len(grid) - 1)]
        right = self._end if inside[-1] == len(grid) - 1 and not math.isinf(self._end) else right
        x, w = np.polynomial.legendre.leggauss(16)
        cuts = np.linspace(left, right, PANELS + 1)
        half = np.diff(cuts)[:, None] / 2
        nodes = ((cuts[:-1, None] + half) + half * x).ravel()
        weights = (half * w).ravel()
        log = self._log(nodes, seen)
        top = log.max()
        mass = weights * np.exp(log - top)
        return nodes, mass / mass.sum(), top + math.log(mass.sum())

    def log_evidence(self, family: type[Family], tally: Tally) -> float:
        """The log probability of the data under the normalised prior."""
        return (self + tally)._nodes[2] - self._nodes[2]

    @property
    def mean(self) -> float:
        """The posterior mean."""
        nodes, mass, _ = self._nodes
        return float(nodes @ mass)

    @property
    def variance(self) -> float:
        """The posterior variance."""
        nodes, mass, _ = self._nodes
        return float((nodes - self.mean) ** 2 @ mass)

    @property
    def mode(self) -> float:
        """The most probable parameter."""
        from scipy.optimize import minimize_scalar

        nodes, _, _ = self._nodes
        log = self._log(nodes)
        i = int(np.argmax(log))
        around = (nodes[max(i - 1, 0)], nodes[min(i + 1, len(nodes) - 1)])
        found = minimize_scalar(lambda v: -self._log(np.array([v]))[0], bounds=around, options={"xatol": 1e-12})
        return float(found.x) if -found.fun >= log[i] else float(nodes[i])

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The central credible interval."""
        nodes, mass, _ = self._nodes
        cumulative = np.cumsum(mass) - mass / 2
        low, high = np.interp([(1 - level) / 2, (1 + level) / 2], cumulative, nodes)
        return float(low), float(high)

    def log_prob(self, x: Any) -> Floats:
        """log density of the parameter."""
        theta = np.atleast_1d(np.asarray(x, float))
        inside = (theta >= self.low) & (theta <= self._end)
        log = np.full(theta.shape, -np.inf)
        log[inside] = self._log(theta[inside]) - self._nodes[2]
        return log.reshape(np.shape(x))

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw parameters."""
        nodes, mass, _ = self._nodes
        return np.interp(generator(random_state).random(size), np.cumsum(mass) - mass / 2, nodes)


def weigh(
    models: Mapping[str, Distribution | tuple[type[Family], Any]],
    data: Any,
    prior: Mapping[str, float] | None = None,
) -> Frame:
    """The probability of each of a few models, given the data: prior × evidence, normalised.

    A model is a distribution without unknowns, or a family and a prior over its parameters. The Bayes factor is
    against the first.

    >>> from evenodds.families import Bernoulli, Beta
    >>> heads = [1] * 9 + [0]
    >>> weigh({"fair": Bernoulli(0.5), "unknown": (Bernoulli, Beta(1, 1))}, heads)
    model    log_evidence  probability  bayes_factor
    fair          -6.9315       0.0970        1.0000
    unknown       -4.7005       0.9030        9.3091
    """
    log_evidence = {}
    for name, model in models.items():
        if isinstance(model, tuple):
            log_evidence[name] = float(model[0].log_evidence(data, model[1]))
        else:
            known = model.log_likelihood(data) if isinstance(data, Tally) else model.log_prob(data)  # type: ignore[attr-defined]
            log_evidence[name] = float(np.sum(known))
    weights = {name: 1.0 if prior is None else prior[name] for name in models}
    values = np.array([log_evidence[name] + _log(weights[name]) for name in models])
    if not np.isfinite(values.max()):
        raise ValueError("the data are impossible under every model")
    share = np.exp(values - values.max())
    share /= share.sum()
    first = next(iter(log_evidence.values()))
    return Frame(
        [
            {"model": name, "log_evidence": e, "probability": float(p), "bayes_factor": _exp(e - first)}
            for (name, e), p in zip(log_evidence.items(), share)
        ]
    )


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf
