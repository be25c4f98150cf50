"""An explanation as a person reads it: the prior and one term per column or word, in log-odds, that add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from evenodds.show import cell

WIDTH = 24  # of the longest bar
LINES = 24  # terms that are shown one by one


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
        ordered = sorted(self.terms, key=lambda term: -abs(term.log_odds))
        for term in ordered[:LINES]:
            lines.append((f"{term.column} = {cell(term.value) or 'missing'}", term.log_odds, term.note))
        if len(ordered) > LINES:
            rest = ordered[LINES:]
            lines.append((f"{len(rest)} more terms", sum(term.log_odds for term in rest), "together"))
        name = max(len(line[0]) for line in lines)
        most = max((abs(line[1]) for line in lines if math.isfinite(line[1])), default=1.0) or 1.0
        shown = []
        for text, odds, note in lines:
            length = WIDTH if math.isinf(odds) else round(WIDTH * (abs(odds) / most))
            bar = ("█" if odds > 0 else "░") * length
            shown.append(f"  {text:<{name}}  {odds:+8.3f}  {bar}{'  ' if bar and note else ''}{note}".rstrip())
        head = f"p({self.of}) = {self.probability:.4f}; log-odds of {self.of} against {self.against}:"
        return "\n".join([head, *shown, f"  {'total':<{name}}  {self.total:+8.3f}"])
