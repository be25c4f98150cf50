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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.audit.judge import BINS, LOWEST, RANKED, at, labels_of, scores_of, tally
from evenodds.data.sum import CLASSES
from evenodds.errors import DataError
from evenodds.families import Bernoulli
from evenodds.families.leaves import Floats
from evenodds.labels import Labels
from evenodds.show import Frame, cell
from evenodds.tally import Tally

__all__ = ["Baseline", "Metrics", "tally"]

LEVEL = 0.95  # of the credible interval of the accuracy
TRUE = "true ↓ predicted →"
WIDTH, LINES, NAME = 80, 12, 30  # of the page; the classes it lists; the letters it has for one


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
    accuracy_interval: tuple[float, float]  # 95 % credible, from a flat prior
    log_loss: float  # nats a row; infinite where a true class got probability 0
    log_loss_possible: float  # without the rows whose true class got probability 0
    brier: float  # Σ_c (p(c) - [c is true])² a row; half of it for two classes, as scikit-learn has it
    ece: float  # expected calibration error: |confidence - accuracy|, by 15 bins of confidence
    auc: float | None  # of the second of two classes; of more the mean over classes, each against the rest
    unknown: float  # rows of a true class that the model never saw
    impossible: float  # rows of a class that it knew, and gave probability 0
    baseline: Baseline
    per_class: Frame
    confusion: Frame
    calibration: Frame

    @classmethod
    def of(cls, tally: Tally, classes: Sequence[Any] | NDArray[Any]) -> Metrics:
        """The metrics of a tally; `classes` are those of the models, in the order in which tables show them."""
        read = _Read(tally, classes)
        k, n, confusion = read.k, read.n, read.confusion
        total, right = float(n.sum()), float(np.trace(confusion))
        impossible, unknown = tally["", "impossible"].sum(axis=1).tolist()
        possible = total - impossible - unknown
        log_loss = float(tally["", "log loss"].sum()) / possible if possible > 0 else np.inf
        aucs = [read.auc(name) for name in read.names]
        ranked = [auc for auc in aucs if auc is not None]
        bins = read.bins
        shares = n[n > 0] / total
        outcomes = Bernoulli.tally([0, 1], weights=[max(total - right, 0.0), right])
        return cls(
            classes=tuple(read.names[:k]),
            rows=_number(total),
            accuracy=right / total,
            accuracy_interval=Bernoulli.posterior(outcomes).interval(LEVEL),
            log_loss=np.inf if impossible or unknown else log_loss,
            log_loss_possible=log_loss,
            brier=float(tally["", "brier"].sum()) / total / (2 if k == 2 else 1),
            ece=float(np.abs(bins["confidence"] - bins["right"]).sum()) / total,
            auc=aucs[1] if k == 2 else float(np.mean(ranked)) if ranked else None,
            unknown=_number(unknown),
            impossible=_number(impossible),
            baseline=Baseline(float(shares.max()), float(-(shares * np.log(shares)).sum())),
            per_class=Frame([read.line(c, auc) for c, auc in enumerate(aucs)]),
            confusion=Frame(
                [
                    {TRUE: name} | dict(zip(read.names, map(_number, line)))
                    for name, line in zip(read.names, confusion.tolist())
                ]
            ),
            calibration=_calibration(bins),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        confusion = {row.pop(TRUE): row for row in self.confusion.to_dicts()}
        return vars(self) | {
            "classes": list(self.classes),
            "accuracy_interval": list(self.accuracy_interval),
            "baseline": self.baseline._asdict(),
            "per_class": self.per_class.to_dicts(),
            "confusion": confusion,
            "calibration": self.calibration.to_dicts(),
        }

    def __repr__(self) -> str:
        title = f"{_rows(self.rows)}, {len(self.classes):,} classes"
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
            ("ece", self.ece, None, "|confidence - accuracy|"),
            ("auc", self.auc, None, which),
        ]
        return Frame([dict(zip(("", "model", "class shares", " "), line)) for line in lines])

    def _details(self) -> list[str]:
        """The paragraphs below the summary: what was impossible, each class, and which is taken for which."""
        said = []
        if self.unknown:
            said.append(f"{_rows(self.unknown)} of classes the model never saw: probability 0.")
        if self.impossible:
            said.append(f"{_rows(self.impossible)} of classes it knew were given probability 0.")
        if said:
            said.append(f"So the log loss is infinite; without them it is {cell(self.log_loss_possible)}.")
        most = sorted(self.per_class, key=lambda row: -row["rows"])[:LINES]
        shown = [row | {"class": _clip(row["class"])} for row in self.per_class if row in most]
        left = len(self.per_class) - len(shown)
        classes = f"{Frame(shown)}"
        if left:
            classes += f"\n… and {left:,} classes of fewer rows: per_class has them all"
        matrix = f"{self.confusion}"
        if len(self.confusion) > LINES or max(map(len, matrix.splitlines())) > WIDTH:
            matrix = self._mistakes()
        return [*(["\n".join(said)] if said else []), classes, *([matrix] if matrix else [])]

    def _mistakes(self) -> str:
        """The most frequent mistakes, where the whole confusion matrix would not fit."""
        cells = [(row[TRUE], name, row[name]) for row in self.confusion for name in self.confusion.names[1:]]
        wrong = sorted((at for at in cells if at[0] != at[1] and at[2]), key=lambda at: -at[2])
        lines = [{"true": _clip(true), "predicted": _clip(name), "rows": rows} for true, name, rows in wrong[:LINES]]
        return f"{Frame(lines, 'The most frequent mistakes:')}" if lines else ""


class _Read:
    """The numbers of a tally in the order of the classes; behind them, those that were true but are not among them."""

    def __init__(self, tally: Tally, classes: Sequence[Any] | NDArray[Any]) -> None:
        if ("", "predicted") not in tally.layout.specs or not tally[CLASSES].sum() > 0:
            raise DataError("there are no predictions to judge: tally some rows, with weights above 0")
        groups, predicted = tally.groups, tally.leaf(("", "predicted")).axis
        assert isinstance(groups, Labels)
        assert isinstance(predicted, Labels)
        known, place = labels_of(classes)
        self.tally, self.k = tally, len(known)
        self.names = [known.text(i) for i in place]
        if other := set(predicted.texts()) - set(self.names):
            raise DataError(f"class {min(other)!r} was predicted, but is not among the classes {self.names}: add it")
        self.names += sorted(set(groups.texts()) - set(self.names))
        labels, place = Labels.coded(self.names)
        self.groups = groups.find(labels.keys[place])
        self.n: Floats = at(tally[CLASSES][0].astype(float), self.groups)
        by_group = at(tally["", "predicted"].T.astype(float), self.groups)
        self.confusion: Floats = at(by_group.T, predicted.find(labels.keys[place])[: self.k]).T  # (true, predicted)

    @property
    def bins(self) -> dict[str, Floats]:
        """Rows, rows predicted right and Σ confidence, by bins of confidence."""
        return {leaf: self.tally["", leaf].sum(axis=1).astype(float) for leaf in ("sure", "right", "confidence")}

    def auc(self, name: str) -> float | None:
        """The chance that a row of the class scores higher than one of another class; a tie is half a chance.

        Rows that were never scored, as their model did not know the class, gave it probability 0: they come last.
        """
        leaf, c = scores_of(name), self.names.index(name)
        if self.k > RANKED or leaf not in self.tally.layout.specs or not 0 < self.n[c] < self.n.sum():
            return None
        counts = self.tally[leaf].astype(float)
        own = counts[:, self.groups[c]]
        rest = counts.sum(axis=1) - own
        never_own, never_rest = self.n[c] - own.sum(), self.n.sum() - self.n[c] - rest.sum()
        if LOWEST in self.tally.layout.specs[leaf].axis.keys[:1]:
            never_own, never_rest, own, rest = never_own + own[0], never_rest + rest[0], own[1:], rest[1:]
        own, rest = np.append(never_own, own), np.append(never_rest, rest)
        below = np.cumsum(rest) - rest
        return float(own @ (below + rest / 2) / (own.sum() * rest.sum()))

    def line(self, c: int, auc: float | None) -> dict[str, Any]:
        """One class in the table of classes; what cannot be said of it is None."""
        rows, right = self.n[c], self.confusion[c, c] if c < self.k else 0.0
        predicted = self.confusion[:, c].sum() if c < self.k else 0.0
        return {
            "class": self.names[c],
            "rows": _number(float(rows)),
            "precision": float(right / predicted) if predicted else None,
            "recall": float(right / rows) if rows else None,
            "f1": float(2 * right / (rows + predicted)) if rows + predicted else None,
            "auc": auc,
        }


def _calibration(bins: dict[str, Floats]) -> Frame:
    """The bins of confidence that hold rows: how sure the predictions were, and how often right."""
    used = [b for b in range(BINS) if bins["sure"][b]]
    return Frame(
        [
            {
                "from": b / BINS,
                "to": (b + 1) / BINS,
                "rows": _number(float(bins["sure"][b])),
                "confidence": float(bins["confidence"][b] / bins["sure"][b]),
                "accuracy": float(bins["right"][b] / bins["sure"][b]),
            }
            for b in used
        ]
    )


def _number(x: float) -> float:
    return int(x) if float(x).is_integer() else float(x)


def _clip(name: str) -> str:
    return name if len(name) <= NAME else f"{name[: NAME // 2]}…{name[1 - NAME // 2 :]}"


def _rows(n: float) -> str:
    return "1 row" if n == 1 else f"{cell(n)} rows"
