"""The tally of predictions, read in the order of the classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.audit.delong import auc
from evenodds.audit.judge import RANKED, TEMPERED, at, labels_of
from evenodds.audit.ranked import scores
from evenodds.audit.reliability import Reliability, slope_of
from evenodds.data.sum import CLASSES
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import Labels
from evenodds.show import plain
from evenodds.tally import Tally


class Judged:
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
        """The chance that a row of the class scores higher than one of another class; a tie is half a chance."""
        found = scores(self.tally, name) if self.k <= RANKED else None
        ranks = None if found is None else auc(found.own, found.rest)
        return None if ranks is None else ranks.auc

    @property
    def reliability(self) -> Iterator[Reliability]:
        """That of the second of two classes, or of each of more."""
        for name in self.names[1:2] if self.k == 2 else self.names[: self.k] if self.k <= RANKED else ():
            if (found := scores(self.tally, name)) is not None:
                yield Reliability(name, found)

    @property
    def tempered(self) -> float | None:
        """The exponent that would make the probabilities of more than two classes honest."""
        if self.k < 3 or TEMPERED not in self.tally.layout.specs:
            return None
        *sums, own = self.tally[TEMPERED].sum(axis=1).tolist()
        mean, spread = np.reshape(sums, (2, -1))
        return slope_of(mean, spread, own)

    def line(self, c: int, auc: float | None) -> dict[str, Any]:
        """One class in the table of classes; what cannot be said of it is None."""
        rows, right = self.n[c], self.confusion[c, c] if c < self.k else 0.0
        predicted = self.confusion[:, c].sum() if c < self.k else 0.0
        return {
            "class": self.names[c],
            "rows": plain(float(rows)),
            "precision": float(right / predicted) if predicted else None,
            "recall": float(right / rows) if rows else None,
            "f1": float(2 * right / (rows + predicted)) if rows + predicted else None,
            "auc": auc,
        }
