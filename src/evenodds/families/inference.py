"""Beyond conjugate pairs: any prior of one parameter, by quadrature; and a few models, weighed by their evidence."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

import numpy as np

from evenodds.errors import did_you_mean, listed
from evenodds.families.base import Family
from evenodds.families.distribution import Conjugate, Distribution, Seed, generator, tidy
from evenodds.families.leaves import Floats
from evenodds.logs import log_sum
from evenodds.show import Frame
from evenodds.tally import Tally

PANELS, NODES, DEPTH = 64, 16, 60.0  # integrated where it is above e^-60 of its peak, in 64 panels of 16 nodes
FAR = 100.0  # an endless range is looked at from e^-100 to e^100 beyond its lower end
PLACES = 4000  # at which a range is looked at first
NOTHING = math.log(1e-16)  # of the whole: what may lie beyond
HALVINGS = 52  # of a panel: to the last bit
SPLIT = 41  # places between two neighbours, where a peak is narrower than they are apart


class Nodes(NamedTuple):
    """Where a density was looked at: so many places a panel, their shares of the whole, and its log."""

    places: Floats  # (panels, nodes)
    mass: Floats
    cuts: Floats  # the places between which the panels lie
    log_total: float


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

    def __post_init__(self) -> None:
        if len(fields(self.family)) != 1:  # type: ignore[arg-type]
            names = listed(one.name for one in fields(self.family))  # type: ignore[arg-type]
            raise ValueError(f"a Quadrature is over one parameter; a {self.family.__name__} has several: {names}")

    def __add__(self, tally: Tally) -> Self:
        if len(tally.groups) > 1:
            raise ValueError("a Quadrature is over the parameter of one group; give a conjugate prior, or one group")
        return type(self)(self.family, self.density, self.low, self.high, self.seen + tally)

    @property
    def _end(self) -> float:
        return self.high if self.high is not None else (1.0 if self.family.name == "bernoulli" else math.inf)

    @functools.cached_property
    def _range(self) -> tuple[float, float]:
        """Between which places `_at` the parameter is: an endless range is taken by its logarithm.

        A density that has fallen to 0 may be no number further out, as endless · 0 in r^9 e^-r: there the range ends.
        """
        if not math.isinf(self._end):
            return self.low, self._end
        places = np.linspace(-FAR, FAR, PLACES)
        density = self._prior(self._at(places))
        known = np.flatnonzero(~np.isnan(density))
        if not len(known):
            return -FAR, FAR
        first, last = known[0], known[-1]
        return places[first] if density[first] == 0 else -FAR, places[last] if density[last] == 0 else FAR

    def _at(self, place: Floats) -> Floats:
        """The parameter at a place."""
        return self.low + np.exp(place) if math.isinf(self._end) else place

    def _prior(self, theta: Floats) -> Floats:
        """The prior's density, as it was given."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return np.asarray(self.density(theta), float)

    def _log(self, theta: Floats) -> Floats:
        """log of the prior's density times the likelihood, but for what no parameter changes."""
        with np.errstate(divide="ignore"):
            log_prior = np.log(self._prior(theta))
        if not self.seen.columns:
            return log_prior
        with np.errstate(divide="ignore", over="ignore"):
            likelihood = self.family(theta).log_likelihood(self.seen)  # type: ignore[call-arg]
        return np.asarray(log_prior + likelihood - self.family.base_measure(self.seen))

    def _mass(self, place: Floats) -> Floats:
        """The log of what is integrated over the places."""
        log = self._log(self._at(place)) + (place if math.isinf(self._end) else 0.0)
        if np.isnan(log).any():
            at = self._at(place[np.isnan(log)])[0]
            raise ValueError(f"the prior density is not a number at {at:.6g}: write it so that it is 0 or more")
        return np.asarray(log)

    @functools.cached_property
    def _nodes(self) -> Nodes:
        low, high = self._range
        grid = low + (high - low) * (np.arange(PLACES) + 0.5) / PLACES
        log = self._mass(grid)
        for _ in range(6):  # close in on a peak narrower than the grid
            best = int(np.argmax(log))
            left, right = grid[best - 1] if best else low, grid[best + 1] if best + 1 < len(grid) else high
            finer = np.linspace(left, right, SPLIT)[1:-1]
            grid, log = np.append(grid, finer), np.append(log, self._mass(finer))
            order = np.argsort(grid)
            grid, log = grid[order], log[order]
        top = log.max()
        if not math.isfinite(top):
            raise ValueError("the prior density is 0 wherever the data are possible")
        inside = np.flatnonzero(log > top - DEPTH)
        left = low if inside[0] == 0 else grid[inside[0] - 1]
        right = high if inside[-1] == len(grid) - 1 else grid[inside[-1] + 1]
        cuts = np.linspace(left, right, PANELS + 1)
        places, mass = self._integrated(cuts[:-1], cuts[1:], top)
        return Nodes(places, mass / mass.sum(), cuts, top + math.log(mass.sum()))

    def _integrated(self, left: Floats, right: Floats, top: float) -> tuple[Floats, Floats]:
        """Places between each left and right end, and e^-top times the mass of each: Gauss and Legendre's."""
        x, w = np.polynomial.legendre.leggauss(NODES)
        half = (right - left)[..., None] / 2
        places = (left[..., None] + half) + half * x
        return places, half * w * np.exp(self._mass(places.ravel()).reshape(places.shape) - top)

    @property
    def proper(self) -> bool:
        """Whether it integrates to 1: a density over an endless range must fall off before its ends."""
        return not math.isinf(self._end) or bool(
            np.all(self._mass(np.array(self._range)) < self._nodes.log_total + NOTHING)
        )

    def log_normaliser(self) -> float:
        """The log of the integral."""
        return self._nodes.log_total

    @property
    def mean(self) -> float:
        """The posterior mean."""
        return float((self._at(self._nodes.places) * self._nodes.mass).sum())

    @property
    def variance(self) -> float:
        """The posterior variance."""
        return float(((self._at(self._nodes.places) - self.mean) ** 2 * self._nodes.mass).sum())

    @property
    def mode(self) -> float:
        """The most probable parameter."""
        from scipy.optimize import minimize_scalar

        cuts = self._nodes.cuts
        places = np.array([cuts[0], *self._nodes.places.ravel(), cuts[-1]])  # it may be at the border
        log = np.nan_to_num(self._log(self._at(places)), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        i = int(np.argmax(log))
        around = (places[max(i - 1, 0)], places[min(i + 1, len(places) - 1)])
        least = minimize_scalar(
            lambda place: -self._log(self._at(np.array([place])))[0], bounds=around, options={"xatol": 1e-12}
        )
        return float(self._at(least.x if -least.fun >= log[i] else places[i]))

    def _below(self, place: Floats) -> Floats:
        """The probability below a place between the cuts."""
        cuts, each = self._nodes.cuts, self._nodes.mass.sum(axis=1)
        panel = np.clip(np.searchsorted(cuts, place, side="right") - 1, 0, PANELS - 1)
        within = self._integrated(cuts[panel], place, self._nodes.log_total)[1].sum(axis=-1)
        return np.asarray((np.cumsum(each) - each)[panel] + within)

    def cdf(self, x: Any) -> Any:
        """The probability that the parameter is below x."""
        theta = np.maximum(np.asarray(x, float), self.low)
        with np.errstate(divide="ignore"):
            place = np.log(theta - self.low) if math.isinf(self._end) else theta
        return tidy(self._below(np.clip(place, self._nodes.cuts[0], self._nodes.cuts[-1])))

    def quantile(self, q: Any) -> Any:
        """Below which the parameter lies with the probability q; found by halving a panel."""
        wanted, cuts = np.asarray(q, float), self._nodes.cuts
        panel = np.clip(np.searchsorted(np.cumsum(self._nodes.mass.sum(axis=1)), wanted), 0, PANELS - 1)
        left, right = cuts[panel], cuts[panel + 1]
        for _ in range(HALVINGS):
            middle = left + (right - left) / 2
            above = self._below(middle) >= wanted
            left, right = np.where(above, left, middle), np.where(above, middle, right)
        return tidy(self._at(right))

    def log_prob(self, x: Any) -> Floats:
        """log density of the parameter."""
        theta = np.atleast_1d(np.asarray(x, float))
        inside = (theta >= self.low) & (theta <= self._end)
        log = np.full(theta.shape, -np.inf)
        log[inside] = self._log(theta[inside]) - self._nodes.log_total
        return log.reshape(np.shape(x))

    def sample(self, size: int, random_state: Seed = None) -> Floats:
        """Draw parameters."""
        cumulative = np.cumsum(self._nodes.mass) - self._nodes.mass.ravel() / 2
        return self._at(np.interp(generator(random_state).random(size), cumulative, self._nodes.places.ravel()))


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
    if not models:
        raise ValueError("there are no models to weigh; name one at least")
    if prior is not None and (missing := [name for name in models if name not in prior]):
        raise ValueError(f"prior: {did_you_mean(missing[0], prior, 'model')}")
    weights = {name: 1.0 if prior is None else prior[name] for name in models}
    if wrong := [name for name, weight in weights.items() if not 0 <= weight < math.inf]:
        raise ValueError(f"prior: {wrong[0]!r} has {weights[wrong[0]]}, expected a probability")
    log_evidence = {name: _log_evidence(model, data) for name, model in models.items()}
    values = np.array([log_evidence[name] + _log(weights[name]) for name in models])
    if not np.isfinite(values.max()):
        raise ValueError("the data are impossible under every model")
    share = np.exp(values - log_sum(values))
    first = next(iter(log_evidence.values()))
    return Frame(
        [
            {"model": name, "log_evidence": e, "probability": float(p), "bayes_factor": _exp(e - first)}
            for (name, e), p in zip(log_evidence.items(), share)
        ]
    )


def _log_evidence(model: Distribution | tuple[type[Family], Any], data: Any) -> float:
    """The log probability of the data under one model, of all groups together."""
    if isinstance(model, tuple):
        family, prior = model
        return float(np.sum(family.log_evidence(data, prior)))
    if not isinstance(data, Tally):
        return float(np.nansum(model.log_prob(data)))  # a missing value is left out
    if not isinstance(model, Family):
        raise ValueError(f"a {type(model).__name__} has no likelihood of a tally; give the values themselves")
    return float(np.sum(model.log_likelihood(data)))


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf
