"""How good predictions were, read off their tally.

`tally` counts the predictions of some rows. The tallies of batches, of files and of folds add, whichever model made
them; `Metrics.of` reads a sum as it reads one batch.

>>> forecast = np.log([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]])
>>> monday = tally(["dry", "dry", "wet", "wet"], forecast, ["dry", "wet"])
>>> tuesday = tally(["wet", "dry"], forecast[:2], ["dry", "wet"])
>>> Metrics.of(monday + tuesday, ["dry", "wet"]).confusion
true ↓ predicted →  dry  wet
dry                   3    0
wet                   2    1
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import LEVEL
from evenodds.audit.judge import BINS, RANKED, tally
from evenodds.audit.judged import Judged
from evenodds.audit.reliability import Brier, Reliability, distance
from evenodds.errors import many
from evenodds.families import Beta
from evenodds.families.leaves import Floats
from evenodds.show import Figure, Frame, cell, plain, printed, wide
from evenodds.tally import Tally

__all__ = ["Baseline", "Metrics", "tally"]

TRUE = "true ↓ predicted →"
LINES, NAME = 12, 30  # the classes that a page lists; the letters it has for one


class Baseline(NamedTuple):
    """What the class shares of the judged rows achieve on them: the most frequent class, each class with its share."""

    accuracy: float
    log_loss: float


@dataclass(frozen=True, eq=False, repr=False)
class Metrics:
    """How often predictions were right, how surprised by the truth, how well they rank, and how honest they are.

    >>> forecast = np.log([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]])
    >>> good = Metrics.of(tally(["dry", "dry", "wet", "wet"], forecast, ["dry", "wet"]), ["dry", "wet"])
    >>> good.accuracy, good.auc, round(good.log_loss, 4)
    (0.75, 0.75, 0.5108)
    """

    classes: tuple[str, ...]
    rows: float  # by weight
    accuracy: float
    accuracy_interval: tuple[float, float]  # 95 % credible, from a flat prior; of none or all right from there on
    log_loss: float  # nats a row; infinite where a true class got probability 0
    log_loss_possible: float  # without the rows whose true class got probability 0
    brier: float  # Σ_c (p(c) - [c is true])² a row; half of it for two classes, as scikit-learn has it
    ece: float  # expected calibration error: |confidence - accuracy|, by 15 bins of confidence
    ece_by_chance: float  # what classes drawn from the very probabilities would show on average
    auc: float | None  # of the second of two classes; of more the mean over classes, each against the rest
    unknown: float  # rows of a true class that the model never saw
    impossible: float  # rows of a class that it knew, and gave probability 0
    baseline: Baseline
    per_class: Frame
    confusion: Frame
    calibration: Frame
    reliability: tuple[Reliability, ...]  # of the second of two classes; of each of 3 to 32
    tempered: float | None  # of more than two classes, the exponent that would make the probabilities honest

    @classmethod
    def of(cls, tally: Tally, classes: Sequence[Any] | NDArray[Any]) -> Metrics:
        """The metrics of a tally; `classes` are those of the models, in the order in which tables show them."""
        read = Judged(tally, classes)
        k, n, confusion = read.k, read.n, read.confusion
        total, right = float(n.sum()), float(np.trace(confusion))
        impossible, unknown = tally["", "impossible"].sum(axis=1).tolist()
        possible = total - impossible - unknown
        log_loss = float(tally["", "log loss"].sum()) / possible if possible > 0 else np.inf
        aucs = [read.auc(name) for name in read.names]
        ranked = [auc for auc in aucs if auc is not None]
        bins = read.bins
        shares = n[n > 0] / total
        known = Beta(1.0 + round(right, 9), 1.0 + round(total - right, 9))  # sums of weights are no whole numbers
        return cls(
            classes=tuple(read.names[:k]),
            rows=plain(total),
            accuracy=right / total,
            accuracy_interval=known.span(LEVEL),
            log_loss=np.inf if impossible or unknown else log_loss,
            log_loss_possible=log_loss,
            brier=float(tally["", "brier"].sum()) / total / (2 if k == 2 else 1),
            ece=float(np.abs(bins["confidence"] - bins["right"]).sum()) / total,
            ece_by_chance=_by_chance(bins) / total,
            auc=aucs[1] if k == 2 else float(np.mean(ranked)) if ranked else None,
            unknown=plain(unknown),
            impossible=plain(impossible),
            baseline=Baseline(float(shares.max()), float(-(shares * np.log(shares)).sum()) + 0.0),
            per_class=Frame([read.line(c, auc) for c, auc in enumerate(aucs)]),
            confusion=Frame(
                [
                    {TRUE: name} | dict(zip(read.names, map(plain, line)))
                    for name, line in zip(read.names, confusion.tolist())
                ]
            ),
            calibration=_calibration(bins),
            reliability=tuple(read.reliability),
            tempered=read.tempered,
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        confusion = {row.pop(TRUE): row for row in self.confusion.to_dicts()}
        return {name: value for name, value in vars(self).items() if name != "tempered"} | {  # which is the slope
            "classes": list(self.classes),
            "accuracy_interval": list(self.accuracy_interval),
            "baseline": self.baseline._asdict(),
            "per_class": self.per_class.to_dicts(),
            "confusion": confusion,
            "calibration": self.calibration.to_dicts(),
            "reliability": {each.name: each.to_dict() for each in self.reliability},
            "slope": self.slope,
        }

    def __repr__(self) -> str:
        title = f"{many(self.rows, 'row')}, {many(len(self.classes), 'class')}"
        return "\n\n".join([f"{title}\n{self.summary}", *self._details()])

    @property
    def summary(self) -> Frame:
        """The five numbers, beside what the class shares alone achieve."""
        low, high = self.accuracy_interval
        k = len(self.classes)
        which = f"of {_clip(self.classes[1])}" if k == 2 else f"mean of {k} classes, each against the rest"
        if self.auc is None:
            which = f"none for more than {RANKED} classes" if k > RANKED else "none: all rows are of one class"
        lines = [
            ("accuracy", self.accuracy, self.baseline.accuracy, f"95 % credible: {low:.4f} to {high:.4f}"),
            ("log loss", self.log_loss, self.baseline.log_loss, "nats a row"),
            ("brier", self.brier, None, "squared error of the probabilities"),
            ("ece", self.ece, None, f"|confidence - accuracy|; {self.ece_by_chance:.4f} by chance"),
            ("auc", self.auc, None, which),
        ]
        return Frame([dict(zip(("", "model", "class shares", " "), line)) for line in lines])

    @property
    def slope(self) -> float | None:
        """By what the log-odds should be multiplied to be honest: 1 if they are, below 1 where they are too sure.

        Of two classes, the slope of the logistic regression of the truth on the log-odds; of more, the exponent of all
        probabilities that makes the truth most probable. None where there is none.
        """
        if len(self.classes) > 2:
            return self.tempered
        line = self.reliability[0].line if self.reliability else None
        return None if line is None else line.slope

    @property
    def brier_parts(self) -> Brier | None:
        """The parts that the Brier score adds up from, of all classes together; None where there are too many."""
        parts = [each.brier for each in self.reliability]
        return functools.reduce(Brier.__add__, parts) if parts else None

    def _honesty(self) -> list[str]:
        """What the Brier score is made of, and the slope; of two classes, with the table and what chance would show."""
        parts = self.brier_parts
        if parts is None:
            return []
        if len(self.classes) > 2:
            said = "brier = {:.4f} reliability - {:.4f} resolution + {:.4f} uncertainty".format(*parts)
            known = self.slope is not None
            return [said + (f"\nslope = {self.slope:.4f}, 1 if honest, below 1 if too sure" if known else "")]
        (of,) = self.reliability
        lines = [
            ("reliability", parts.reliability, "of the brier score: what honesty would save"),
            ("resolution", parts.resolution, "what telling rows apart has saved"),
            ("uncertainty", parts.uncertainty, "what the class shares alone would cost"),
            (
                "excess ece",
                Figure(round(of.excess_ece, 4) + 0.0, ".4f"),
                f"{of.ece:.4f} in these bins, {of.ece_by_chance:.4f} by chance",
            ),
        ]
        if (line := of.line) is not None:
            low, high = line.slope_interval
            lines.append(("slope", line.slope, f"95 %: {low:.4f} to {high:.4f}; 1 if honest, below if too sure"))
            low, high = line.intercept_interval
            lines.append(("intercept", line.intercept, f"95 %: {low:.4f} to {high:.4f}; 0 if honest"))
        numbers = Frame([dict(zip(("", " ", "  "), line)) for line in lines])
        return [f"How honest is p({_clip(of.name)})? ○ said, ● seen, 95 % confidence\n{of.table}\n{numbers}"]

    def _details(self) -> list[str]:
        """The paragraphs below the summary: what was impossible, each class, and which is taken for which."""
        said = []
        if self.unknown:
            said.append(f"{many(self.unknown, 'row')} of classes the model never saw: probability 0.")
        if self.impossible:
            said.append(f"{many(self.impossible, 'row')} of classes it knew were given probability 0.")
        if said:
            rest = f"; without them it is {cell(self.log_loss_possible)}" if self.log_loss_possible < np.inf else ""
            said.append(f"So the log loss is infinite{rest}.")
        elif self.log_loss > self.baseline.log_loss:
            said.append("The class shares alone have a lower log loss: the model is too sure of itself.")
            said.append("Naive Bayes learns how much of it to believe by --temper (temper=True).")
        most = sorted(self.per_class, key=lambda row: -row["rows"])[:LINES]
        shown = [row | {"class": _clip(row["class"])} for row in self.per_class if row in most]
        left = len(self.per_class) - len(shown)
        classes = f"{Frame(shown)}"
        if left:
            classes += f"\n… and {many(left, 'class')} of fewer rows: per_class (--json) has them all"
        matrix = told(self.confusion)
        return [*(["\n".join(said)] if said else []), classes, *([matrix] if matrix else []), *self._honesty()]


def told(confusion: Frame) -> str:
    """A confusion matrix on a page; where all of it would not fit, the most frequent mistakes."""
    if len(confusion) <= LINES and not wide(confusion):
        return f"{confusion}"
    cells = [(row[TRUE], name, row[name]) for row in confusion for name in confusion.names[1:]]
    wrong = sorted((at for at in cells if at[0] != at[1] and at[2]), key=lambda at: -at[2])
    lines = [{"true": _clip(true), "predicted": _clip(name), "rows": rows} for true, name, rows in wrong[:LINES]]
    return f"{Frame(lines, 'The most frequent mistakes:')}" if lines else ""


def _calibration(bins: dict[str, Floats]) -> Frame:
    """The bins of confidence that hold rows: how sure the predictions were, and how often right."""
    used = [b for b in range(BINS) if bins["sure"][b]]
    return Frame(
        [
            {
                "from": b / BINS,
                "to": (b + 1) / BINS,
                "rows": plain(float(bins["sure"][b])),
                "confidence": float(bins["confidence"][b] / bins["sure"][b]),
                "accuracy": float(bins["right"][b] / bins["sure"][b]),
            }
            for b in used
        ]
    )


def _by_chance(bins: dict[str, Floats]) -> float:
    """Σ of |confidence - accuracy| · rows, if the confidence were right."""
    n, mean = (bins[leaf][bins["sure"] > 0] for leaf in ("sure", "confidence"))
    return float(distance(n, mean, mean * (1 - np.minimum(mean / n, 1.0))).sum())


def beside(judged: Mapping[str, Metrics]) -> Frame:
    """The numbers of several models, or of one before and after, in columns.

    >>> weather = ["dry", "dry", "wet", "wet"]
    >>> bold, meek = (np.log([[p, 1 - p], [p, 1 - p], [1 - p, p], [p, 1 - p]]) for p in (0.99, 0.75))
    >>> made = {"bold": tally(weather, bold, ["dry", "wet"]), "meek": tally(weather, meek, ["dry", "wet"])}
    >>> beside({name: Metrics.of(judged, ["dry", "wet"]) for name, judged in made.items()})["meek"][:3]
    [0.75, 0.5623351446188083, 0.1875]
    """

    def lines(of: Metrics) -> dict[str, float | None]:
        parts, (one, *_) = of.brier_parts, (*of.reliability, None)
        return {
            "accuracy": of.accuracy,
            "log loss": of.log_loss,
            "brier": of.brier,
            "- reliability": parts and parts.reliability,
            "- resolution": parts and parts.resolution,
            "- uncertainty": parts and parts.uncertainty,
            "ece": of.ece,
            "- by chance": of.ece_by_chance,
            "slope": of.slope,
            "intercept": one.line.intercept if one and one.line and len(of.classes) == 2 else None,
            "auc": of.auc,
        }

    columns = {name: lines(of) for name, of in judged.items()}
    names = list(dict.fromkeys(line for column in columns.values() for line in column))
    return Frame([{"": line} | {name: column[line] for name, column in columns.items()} for line in names])


def _clip(name: str) -> str:
    return printed(name, NAME)
