"""From odds to what is done: the cheapest decision, where mistakes have a price.

A decision is a value: `apply` turns probabilities into labels, `unsure` among them; it prints as a sentence, and goes
through JSON. That with a price for every mistake is here, that with a limit for some in `limits`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.audit.judge import columns_of, labels_of
from evenodds.audit.metrics import TRUE
from evenodds.audit.scores import check_proba
from evenodds.cells import as_column
from evenodds.data.sum import target_codes
from evenodds.errors import DataError, did_you_mean
from evenodds.families.leaves import Floats
from evenodds.labels import Ints, canonical
from evenodds.show import Frame

UNSURE = "unsure"


class Decision(ABC):
    """What to say of a row, given the probabilities of its classes."""

    classes: tuple[Any, ...]

    @abstractmethod
    def choose(self, proba: Any) -> Ints:
        """The column of the class to say, -1 where it is better to say nothing."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""

    @staticmethod
    def from_dict(said: Mapping[str, Any]) -> Decision:
        """The decision that `to_dict` wrote."""
        from evenodds.audit.limits import AtMost

        kinds: dict[Any, type[LeastCost | AtMost]] = {kind.kind: kind for kind in (LeastCost, AtMost)}
        if said.get("decision") not in kinds:
            raise DataError(f"this is no decision: 'decision' is {said.get('decision')!r}, expected {', '.join(kinds)}")
        return kinds[said["decision"]].read(said)

    def apply(self, proba: Any) -> NDArray[Any]:
        """The label of each row: one of the classes, or 'unsure'. `proba` has a column for each class."""
        labels = [*self.classes, UNSURE]
        alike = len({type(label) for label in labels}) == 1
        return np.asarray(labels, dtype=None if alike else object)[self.choose(proba)]

    def counts(self, y: Any, proba: Any) -> NDArray[np.int64]:
        """Rows by true class and what is said; last are classes not known, and 'unsure'. Those of batches add."""
        said, known = self.choose(proba), labels_of(self.classes)
        truth = columns_of(target_codes(as_column(y), len(said)), *known)
        k = len(self.classes) + 1
        return np.bincount(truth % k * k + said % k, minlength=k * k).reshape(k, k)

    def table(self, counts: NDArray[np.int64]) -> Frame:
        """What `counts` counted, as a table."""
        names = [canonical(label) for label in self.classes]
        lines = [{TRUE: name} | dict(zip([*names, UNSURE], line)) for name, line in zip(names, counts.tolist())]
        if counts[-1].any():
            lines.append({TRUE: "classes not known"} | dict(zip([*names, UNSURE], counts[-1].tolist())))
        return Frame(lines)

    def _proba(self, proba: Any) -> Floats:
        """Probabilities, one column a class."""
        p = np.asarray(proba, dtype=np.float64)
        if p.ndim != 2 or p.shape[1] != len(self.classes):
            names = ", ".join(map(canonical, self.classes))
            raise DataError(f"proba has the shape {p.shape}: expected rows, and a column for each of {names}")
        check_proba(p, "proba")
        return p


@dataclass(frozen=True, repr=False)
class LeastCost(Decision):
    """Say what costs least on average: the class (or 'unsure') with the smallest Σ_c p(c | x) cost(c, said).

    A letter that is lost among the spam costs as much as ten spams read:

    >>> LeastCost.of({("ham", "spam"): 10}, ["ham", "spam"])
    say spam where p(spam) > 0.9091, otherwise ham: ham said to be spam costs 10, any other mistake 1
    >>> careful = LeastCost.of({("ham", "spam"): 10}, ["ham", "spam"], unsure=0.2)
    >>> careful
    say spam where p(spam) ≥ 0.98, ham where it is ≤ 0.2, otherwise unsure: ham said to be spam costs 10, any other
    mistake 1, unsure 0.2
    >>> careful.apply([[0.01, 0.99], [0.3, 0.7], [0.9, 0.1]])
    array(['spam', 'unsure', 'ham'], dtype='<U6')

    The least cost is least only if the probabilities are honest: `evenodds evaluate` tells.
    """

    classes: tuple[Any, ...]
    costs: tuple[tuple[float, ...], ...]  # of each true class, what saying each class costs
    unsure: float | None = None  # what saying nothing costs
    kind = "least cost"

    def __post_init__(self) -> None:
        table = np.asarray(self.costs, float)
        k = len(check_labels(self.classes))
        if table.shape != (k, k) or not np.isfinite(table).all():
            raise ValueError(f"costs: expected {k} × {k} finite numbers, one row for each true class")
        if self.unsure is not None and not np.isfinite(self.unsure):
            raise ValueError(f"unsure={self.unsure}: expected the cost of saying nothing, a finite number")

    @classmethod
    def of(cls, costs: Any, classes: Sequence[Any] | NDArray[Any], unsure: float | None = None) -> LeastCost:
        """Costs as a matrix (true × said), or by name: {("ham", "spam"): 10}; a mistake not named costs 1."""
        values = check_labels(np.asarray(classes).tolist())
        names = [canonical(label) for label in values]
        table = 1.0 - np.eye(len(names))
        if isinstance(costs, Mapping):
            for (true, said), cost in costs.items():
                table[place_of(true, names), place_of(said, names)] = cost
        else:
            table = np.asarray(costs, float)
        return cls(values, tuple(map(tuple, table.tolist())), unsure)

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> LeastCost:
        """From plain values."""
        return cls(tuple(said["classes"]), tuple(map(tuple, said["costs"])), said["unsure"])

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        costs = [list(row) for row in self.costs]
        return {"decision": self.kind, "classes": list(self.classes), "costs": costs, "unsure": self.unsure}

    def choose(self, proba: Any) -> Ints:
        """The column of the class that costs least, -1 where saying nothing costs less still."""
        expected = self._proba(proba) @ np.asarray(self.costs)
        best = expected.argmin(axis=1)
        if self.unsure is None:
            return best
        return np.where(expected[np.arange(len(best)), best] > self.unsure, -1, best)

    def cost(self, counts: NDArray[np.int64]) -> float:
        """What a row cost on average, of rows of known classes that `counts` counted."""
        table = np.column_stack([self.costs, np.full(len(self.classes), self.unsure or 0.0)])
        return float((counts[:-1] * table).sum() / max(counts[:-1].sum(), 1))

    @property
    def thresholds(self) -> tuple[float, float] | None:
        """Of two classes: up to which p(second) the first is said, and from which on the second; None of more classes.

        None too where a mistake costs no more than saying the truth: then no threshold tells.
        """
        if len(self.classes) != 2:
            return None
        (a, b), (c, d) = self.costs
        if not (b > a and c > d):
            return None
        meet = (b - a) / ((b - a) + (c - d))
        if self.unsure is None:
            return meet, meet
        if not (b > d and c > a):
            return None
        low, high = (self.unsure - a) / (c - a), (b - self.unsure) / (b - d)
        return (low, high) if low < high else (meet, meet)

    def __repr__(self) -> str:
        return f"{self._rule()}: {self._prices()}"

    def _rule(self) -> str:
        if self.thresholds is None:
            return "say what costs least on average"
        first, second = map(canonical, self.classes)
        low, high = self.thresholds
        if low == high:
            return f"say {second} where p({second}) > {low:.4g}, otherwise {first}"
        low, high = max(low, 0.0), min(high, 1.0)
        return f"say {second} where p({second}) ≥ {high:.4g}, {first} where it is ≤ {low:.4g}, otherwise {UNSURE}"

    def _prices(self) -> str:
        names = [canonical(label) for label in self.classes]
        cells = [(i, j, cost) for i, row in enumerate(self.costs) for j, cost in enumerate(row)]
        wrong = [f"{names[i]} said to be {names[j]} costs {cost:g}" for i, j, cost in cells if i != j and cost != 1]
        right = [f"{names[i]} rightly said costs {cost:g}" for i, j, cost in cells if i == j and cost]
        rest = [f"{'any other' if wrong else 'every'} mistake {'' if wrong else 'costs '}1"]
        other = rest if any(i != j and cost == 1 for i, j, cost in cells) else []
        return ", ".join([*wrong, *other, *right, *([] if self.unsure is None else [f"{UNSURE} {self.unsure:g}"])])


def check_labels(classes: Sequence[Any]) -> tuple[Any, ...]:
    """The classes, if they can be told from each other and from 'unsure'."""
    names = [canonical(label) for label in classes]
    if len(set(names)) < max(len(names), 2):
        raise DataError(f"classes={names}: expected two or more, each once")
    if UNSURE in names:
        raise DataError(f"a class is named {UNSURE!r}, which is what a decision says where it says none: rename it")
    return tuple(classes)


def place_of(label: Any, names: Sequence[str]) -> int:
    """Which class this is."""
    if canonical(label) not in names:
        raise DataError(did_you_mean(canonical(label), names, "class"))
    return names.index(canonical(label))
