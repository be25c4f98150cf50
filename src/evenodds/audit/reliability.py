"""Is a probability honest? Of the rows of which 80 % was said, 80 % should be so; and what chance alone would show.

All of it is read off the histogram of a class's log-odds that the tally of predictions holds: nothing more is summed.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import LEVEL
from evenodds.audit.chance import deviation
from evenodds.audit.judge import SLOPES
from evenodds.audit.ranked import Scores
from evenodds.families import Bernoulli
from evenodds.families.leaves import Floats
from evenodds.show import Frame, plain

BINS, WIDE = 10, 33  # bins of equal mass; columns of the picture
APART = 0.2  # in log-odds: folds' models differ by less of rows that are alike, and a fold's own rows pull it down


class Brier(NamedTuple):
    """The parts of a Brier score, on bins: score = reliability - resolution + uncertainty, exactly.

    The resolution is the generalised one, with the terms within bins (Stephenson, Coelho and Jolliffe 2008): without
    them the parts would add up only if all rows of a bin had one probability.
    """

    reliability: float  # what honesty would save
    resolution: float  # what telling rows apart has saved
    uncertainty: float  # what the share of the class alone would cost
    within: float  # of the resolution, the part from inside the bins

    @property
    def score(self) -> float:
        """The Brier score."""
        return self.reliability - self.resolution + self.uncertainty

    def __add__(self, other: Any) -> Brier:  # class by class
        return Brier(*(a + b for a, b in zip(self, other)))


class Line(NamedTuple):
    """A calibration line: log-odds of the truth = intercept + slope · log-odds said, each with its interval."""

    slope: float
    slope_interval: tuple[float, float]
    intercept: float
    intercept_interval: tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False)
class Reliability:
    """How honest the probabilities of one class are.

    >>> from evenodds.audit.judge import tally
    >>> from evenodds.audit.ranked import scores
    >>> forecast = np.repeat([[0.9, 0.1], [0.2, 0.8]], [10, 5], axis=0)
    >>> weather = ["dry"] * 8 + ["wet"] * 2 + ["dry"] * 1 + ["wet"] * 4
    >>> wet = Reliability("wet", scores(tally(weather, np.log(forecast), ["dry", "wet"]), "wet"))
    >>> wet.table
      said    seen     low    high  rows  0               ½               1
    0.1000  0.2000  0.0252  0.5561    10   ──○──●────────────
    0.8000  0.8000  0.2836  0.9949     5           ─────────────────◉──────
    >>> round(wet.ece, 4), round(wet.brier.score, 4), round(wet.brier.reliability, 4)
    (0.0667, 0.1667, 0.0067)
    """

    name: str
    scores: Scores
    bins: int = BINS

    @functools.cached_property
    def _binned(self) -> tuple[NDArray[np.int64], Floats, Floats, Floats, Floats]:
        """The bin of each score; and of each bin its rows, Σp, Σ p (1 - p), and rows of the class."""
        n, p, q = self.rows_by_score, self._p, self._q
        where = np.zeros(len(n), np.int64)
        middle = (n.cumsum() - n / 2) / n.sum()
        where[n > 0] = np.unique(np.floor(middle * self.bins)[n > 0], return_inverse=True)[1]
        with np.errstate(divide="ignore"):
            odds = np.log(np.bincount(where, n * p)) - np.log(np.bincount(where, n * q))
        where = _apart(odds)[where]

        def total(of_rows: Floats) -> Floats:
            return np.asarray(np.bincount(where, of_rows), np.float64)

        return where, total(n), total(n * p), total(n * p * q), total(self.scores.own)

    @property
    def rows_by_score(self) -> Floats:
        """All rows, by the log-odds of the class."""
        return np.asarray(self.scores.own + self.scores.rest)

    @property
    def rows(self) -> float:
        """All rows."""
        return float(self.rows_by_score.sum())

    @property
    def _p(self) -> Floats:
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(-self.scores.odds))

    @property
    def _q(self) -> Floats:
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(self.scores.odds))

    @functools.cached_property
    def numbers(self) -> Frame:
        """For each bin what was said on average, how often it was so, and the 95 % confidence interval of that."""
        _, n, p, _, own = self._binned
        ends = [Bernoulli.confidence(Bernoulli.tally([0, 1], weights=sides), LEVEL) for sides in zip(n - own, own)]
        lines = np.column_stack([p / n, own / n, ends, n]).tolist()
        return Frame([dict(zip(("said", "seen", "low", "high", "rows"), (*line, plain(m)))) for *line, m in lines])

    @property
    def table(self) -> Frame:
        """The same with a picture beside it, for letters of one width."""
        return Frame([row | {SCALE: _drawn(*list(row.values())[:4])} for row in self.numbers])

    @property
    def ece(self) -> float:
        """Expected calibration error: the distance of what was said and seen, each bin weighted by its rows."""
        _, n, p, _, own = self._binned
        return float(np.abs(p - own).sum() / n.sum())

    @property
    def ece_by_chance(self) -> float:
        """The calibration error that classes drawn from these very probabilities would show on average."""
        _, n, p, spread, _ = self._binned
        return float(distance(n, p, spread).sum() / n.sum())

    @property
    def excess_ece(self) -> float:
        """The calibration error beyond that of chance: about 0 if the probabilities are honest, whatever the rows."""
        return self.ece - self.ece_by_chance

    @property
    def brier(self) -> Brier:
        """The mean of (p - [it is so])², in parts."""
        where, n, p, _, own = self._binned
        total, share, said, seen = n.sum(), own.sum() / n.sum(), p / n, own / n
        m, off = self.rows_by_score, self._p - said[where]
        within = float((2 * off @ (self.scores.own - m * seen[where]) - m @ off**2) / total)
        between = float(n @ (seen - share) ** 2 / total)
        return Brier(float(n @ (said - seen) ** 2 / total), between + within, float(share * (1 - share)), within)

    @functools.cached_property
    def line(self) -> Line | None:
        """The logistic regression of the truth on the log-odds; None where there is no finite one."""
        own, rest = self.scores.own, self.scores.rest
        fits = np.isfinite(self.scores.odds) & (own + rest > 0)
        wrong = own[np.isneginf(self.scores.odds)].sum() + rest[np.isposinf(self.scores.odds)].sum()
        if wrong or not own[fits].sum() or not rest[fits].sum():
            return None
        return _line(Scores(self.scores.odds[fits], own[fits], rest[fits]))

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "ece": self.ece,
            "ece_by_chance": self.ece_by_chance,
            "excess_ece": self.excess_ece,
            "brier": {"score": self.brier.score, **self.brier._asdict()},
            "line": None if self.line is None else self.line._asdict(),
            "bins": self.numbers.to_dicts(),
        }


def _apart(odds: Floats) -> NDArray[np.int64]:
    """The bins joined that are less than APART away from the first of theirs."""
    joined, first = [0], odds[0]
    for each in odds[1:].tolist():
        new = each - first >= APART
        joined.append(joined[-1] + new)
        first = each if new else first
    return np.array(joined)


def _line(scores: Scores) -> Line | None:
    """The line by the regression's own fitter: successes among trials, one row for each log-odds."""
    from evenodds.data.memory import Table
    from evenodds.data.source import Memory
    from evenodds.models.glm.notes import RegressionWarning
    from evenodds.models.glm.plan import NUMBER, Roles
    from evenodds.models.glm.regress import regress
    from evenodds.models.glm.settings import RegressionSettings
    from evenodds.schema import Schema

    rows = Table({"odds": scores.odds, "own": scores.own, "rows": scores.own + scores.rest}, len(scores.odds))
    schema = Schema({"odds": NUMBER}, "own", "float")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RegressionWarning)  # separated, or one log-odds only: there is no line
        model, _ = regress(Memory(rows), Roles("own", trials="rows"), RegressionSettings(Bernoulli), None, schema)
    if model.notes:
        return None
    intercept, slope = ((row["estimate"], (row["low"], row["high"])) for row in model.table(LEVEL))
    return Line(*slope, *intercept)


def slope_of(mean: Floats, spread: Floats, own: float) -> float | None:
    """The one slope of all classes: the b for which p(c)^b, made to add up to 1, makes the truth most probable.

    There the mean of -log p under p^b equals that of the true classes, `own`. The tally has it, with its rate of change
    in b, at the slopes in SLOPES; between them a cubic in log b is right to about four digits.
    """
    from scipy.interpolate import CubicHermiteSpline

    log_b = np.log(SLOPES)
    if not mean[-1] <= own <= mean[0] or mean[0] == mean[-1]:
        return None
    curve = CubicHermiteSpline(log_b, mean - own, -spread * SLOPES)
    roots = curve.roots(extrapolate=False)
    return float(np.exp(roots[np.isfinite(roots)][0])) if np.isfinite(roots).any() else None


def distance(n: Floats, mean: Floats, variance: Floats) -> Floats:
    """E|sum - mean| of independent flags: that of n flags of one probability, scaled to their variance.

    >>> distance(np.array([2.0]), np.array([1.0]), np.array([0.5]))
    array([0.5])
    """
    p = np.clip(mean / n, 0.0, 1.0)
    plain = n * p * (1 - p)
    return np.where(plain > 0, deviation(n, p) * np.sqrt(variance / np.where(plain > 0, plain, 1.0)), 0.0)


SCALE = f"0{'½':^{WIDE - 2}}1"


def _drawn(said: float, seen: float, low: float, high: float) -> str:
    """The interval as a line, what was seen as a full and what was said as an open circle."""

    def at(p: float) -> int:
        return round(p * (WIDE - 1))

    picture = [" "] * WIDE
    picture[at(low) : at(high) + 1] = "─" * (at(high) + 1 - at(low))
    picture[at(seen)] = "●"
    picture[at(said)] = "◉" if at(said) == at(seen) else "○"
    return "".join(picture).rstrip()
