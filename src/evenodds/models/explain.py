"""Why a row was given its class: the prior and one term per column, in log-odds, that add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.cells import Coded
from evenodds.data.memory import Table
from evenodds.errors import DataError
from evenodds.labels import canonical
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import normalise
from evenodds.show import cell

WIDTH = 24  # of the longest bar


@dataclass(frozen=True)
class Term:
    """What one column adds to the log-odds."""

    column: str
    value: Any
    log_odds: float
    note: str = ""


@dataclass(frozen=True)
class Explanation:
    """The log-odds of one class against another: prior + one term per column = total."""

    of: Any
    against: Any
    prior: float
    terms: tuple[Term, ...]
    total: float
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "of": self.of,
            "against": self.against,
            "probability": self.probability,
            "prior": self.prior,
            "terms": [vars(term) for term in self.terms],
            "total": self.total,
        }

    def __repr__(self) -> str:
        lines = [("prior", self.prior, "")]
        for term in sorted(self.terms, key=lambda term: -abs(term.log_odds)):
            lines.append((f"{term.column} = {cell(term.value) or 'missing'}", term.log_odds, term.note))
        name = max(len(line[0]) for line in lines)
        most = max((abs(line[1]) for line in lines if math.isfinite(line[1])), default=1.0) or 1.0
        shown = []
        for text, odds, note in lines:
            length = WIDTH if math.isinf(odds) else round(WIDTH * (abs(odds) / most))
            bar = ("█" if odds > 0 else "░") * length
            shown.append(f"  {text:<{name}}  {odds:+8.3f}  {bar}{'  ' if bar and note else ''}{note}".rstrip())
        head = f"p({self.of}) = {self.probability:.4f}; log-odds of {self.of} against {self.against}:"
        return "\n".join([head, *shown, f"  {'total':<{name}}  {self.total:+8.3f}"])


def explain(model: Model, rows: Table, of: Any = None, against: Any = None) -> list[Explanation]:
    """An Explanation for each row: of the most probable class, or of `of`; against the runner-up, or `against`."""
    evidence = {name: model.evidence(name, rows) for name in model.distributions}
    joint = np.repeat(model.log_prior[None], rows.rows, axis=0)
    for log_p in evidence.values():
        joint = joint + log_p
    log_proba = normalise(joint.T.copy(), model.log_prior).T
    if len(model.classes) < 2:
        raise DataError("the model has one class only: there is nothing to explain")
    values = {name: _values(rows, name, model) for name in model.schema.features}
    found = []
    for i in range(rows.rows):
        order = np.argsort(-joint[i], kind="stable")
        a = int(order[0]) if of is None else _class(model, of)
        b = int(next(c for c in order if c != a)) if against is None else _class(model, against)
        terms = []
        for name in model.schema.features:
            value, note = values[name](i)
            if name in evidence:
                terms.append(Term(name, value, _difference(evidence[name][i, a], evidence[name][i, b]), note))
            else:
                terms.append(Term(name, value, 0.0, "says nothing: one value only"))
        found.append(
            Explanation(
                model.classes[a].item() if hasattr(model.classes[a], "item") else model.classes[a],
                model.classes[b].item() if hasattr(model.classes[b], "item") else model.classes[b],
                _difference(model.log_prior[a], model.log_prior[b]),
                tuple(terms),
                _difference(joint[i, a], joint[i, b]),
                float(np.exp(log_proba[i, a])),
            )
        )
    return found


def _difference(a: float, b: float) -> float:
    return 0.0 if a == b else float(a - b)


def _class(model: Model, value: Any) -> int:
    wanted = canonical(value)
    for i, known in enumerate(model.classes):
        if canonical(known) == wanted:
            return i
    raise DataError(f"no class {value!r}; the classes are {', '.join(map(repr, model.classes.tolist()))}")


def _values(rows: Table, name: str, model: Model) -> Any:
    """A function of the row's number: the cell's value, and what is special about it."""
    from evenodds.data.sum import cells

    read = cells(rows, name, model.schema.features[name])
    if not isinstance(read, Coded):
        return lambda i: (None, "missing: no evidence") if np.isnan(read[i]) else (_short(read[i]), "")
    known = getattr(model.distributions.get(name), "labels", None)

    def value(i: int) -> tuple[Any, str]:
        code = int(read.codes[i])
        if code < 0 or read.place[code] < 0:
            return None, "missing: no evidence"
        place = int(read.place[code])
        seen = known is None or known.find(read.labels.keys[[place]])[0] >= 0
        unseen = "never seen: its smoothing mass" if model.settings.unseen == "prior" else "never seen: no evidence"
        return read.labels.text(place), "" if seen else unseen

    return value


def _short(x: float) -> float | int:
    return int(x) if float(x).is_integer() and abs(x) < 1e15 else float(x)
