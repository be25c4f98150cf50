"""An explanation as a person reads it: the prior and one term per column or word, in log-odds, that add up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from evenodds.errors import DataError
from evenodds.show import decimals, padded, places, printed, written
from evenodds.text.listed import shrunk

WIDTH = 24  # of the longest bar
LINES = 24  # terms that are shown one by one


class Term(NamedTuple):
    """What one column adds to the log-odds."""

    column: str
    value: Any
    log_odds: float
    note: str = ""


class Passage(NamedTuple):
    """A text in pieces, each with what it adds to the log-odds; None where it says nothing.

    An n-gram's evidence is shared by its words, so the pieces add up to the terms of the words that are there.
    """

    column: str
    pieces: tuple[tuple[str, float | None], ...]


class Explanation(NamedTuple):
    """The log-odds of one class against another: prior + one term per column = total."""

    of: Any
    against: Any
    prior: float
    terms: tuple[Term, ...]
    total: float
    probability: float
    passages: tuple[Passage, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "of": self.of,
            "against": self.against,
            "probability": self.probability,
            "prior": self.prior,
            "terms": [term._asdict() for term in self.terms],
            "total": self.total,
        }

    @property
    def said(self) -> str:
        """The probability as people read it."""
        return decimals(self.probability, self.total)

    def lines(self) -> list[tuple[str, float, str]]:
        """The prior and the strongest terms as they are shown: what it is, its log-odds, and a note."""
        lines = [("prior", self.prior, "")]
        ordered = sorted(self.terms, key=lambda term: -abs(term.log_odds))
        for term in ordered[:LINES]:
            value = "missing" if term.value is None else written(term.value)
            lines.append((f"{term.column} = {value}", term.log_odds, term.note))
        if len(ordered) > LINES:
            rest = ordered[LINES:]
            lines.append((f"{len(rest)} more terms", sum(term.log_odds for term in rest), "together"))
        return lines

    def __repr__(self) -> str:
        lines = [(printed(text), odds, note) for text, odds, note in self.lines()]
        name = max(places(line[0]) for line in lines)
        most = max((abs(line[1]) for line in lines if math.isfinite(line[1])), default=1.0) or 1.0
        shown = []
        for text, odds, note in lines:
            length = WIDTH if math.isinf(odds) else round(WIDTH * (abs(odds) / most))
            bar = ("█" if odds > 0 else "░") * length
            shown.append(f"  {padded(text, name)}  {odds:+8.3f}  {bar}{'  ' if bar and note else ''}{note}".rstrip())
        of, against = printed(str(self.of)), printed(str(self.against))
        head = f"p({of}) = {self.said}; log-odds of {of} against {against}:"
        return "\n".join([head, *shown, f"  {'total':<{name}}  {self.total:+8.3f}"])

    def coloured(self) -> str:
        """The same for a terminal: evidence for in green, against in red."""
        return "\n".join(
            line.replace(bar, f"\x1b[{colour}m{bar}\x1b[0m") if bar else line
            for line in repr(self).split("\n")
            for mark, colour in [("█", 32) if "█" in line else ("░", 31)]
            for bar in [mark * line.count(mark)]
        )

    def _repr_html_(self) -> str:
        from evenodds.models.explanation_html import fragment  # not wanted by who answers one message

        return fragment(self)


class Explanations(list[Explanation]):
    """One for each row, shown one under the other."""

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        from evenodds.models.explanation_html import fragments

        return fragments(self)


def pair(order: Sequence[int], of: int | None, against: int | None) -> tuple[int, int]:
    """Which class is explained, and against which: as told, else the most probable one that is not the other.

    >>> pair([2, 0, 1], None, None), pair([2, 0, 1], None, 2), pair([2, 0, 1], 1, None)
    ((2, 0), (0, 2), (1, 2))
    """
    if of is not None and of == against:
        raise DataError("a class has no log-odds against itself: give two classes, or one of them")
    a = next(c for c in order if c != against) if of is None else of
    b = next(c for c in order if c != a) if against is None else against
    return int(a), int(b)


def word_terms(
    column: str,
    tokens: Iterable[tuple[str, int, Sequence[float] | None]],
    constant: Sequence[float],
    bernoulli: bool,
    a: int,
    b: int,
) -> list[Term]:
    """A term for each word of a text, and one for the words that are not there where these count.

    tokens: each distinct one, how often it is there, and its weights; None if it was never seen.
    """
    terms, strange = [], []
    totals, absent = [float(constant[a]), float(constant[b])], [float(constant[a]), float(constant[b])]
    for text, times, weights in tokens:
        if weights is None:
            strange.append(text)
            continue
        pair = [float(weights[a]), float(weights[b])]
        totals = [total + times * weight for total, weight in zip(totals, pair)]
        if bernoulli:
            absent = [total + _softplus(weight) for total, weight in zip(absent, pair)]
        odds = times * token_evidence(pair[0], pair[1], bernoulli)
        terms.append(Term(column, text, odds, f"{times} times" if times > 1 else ""))
    if all(total == -math.inf for total in totals):  # each by another word perhaps, so that no terms would add up
        return [Term(column, "its words", 0.0, "impossible in both classes: no evidence")]
    if any(constant):
        terms.append(Term(column, "words that are not there", difference(*absent)))
    if strange:
        shown = ", ".join(strange[:5]) + (", …" if len(strange) > 5 else "")
        terms.append(Term(column, shown, 0.0, "never seen: no evidence"))
    return terms or [Term(column, "no words", 0.0)]


def believed(terms: list[Term], exponent: float, shrink: float, tokens: int) -> list[Term]:
    """What words say, as far as a temper believes a text of so many tokens."""
    belief = exponent * shrunk(tokens, shrink)
    return terms if belief == 1 else [term._replace(log_odds=belief * term.log_odds) for term in terms]


def token_evidence(a: float, b: float, bernoulli: bool) -> float:
    """What a token that is there says for one class against another, by its weights in both."""
    if bernoulli:  # the weight of a word is log p - log(1 - p)
        a, b = -_softplus(-a), -_softplus(-b)
    return difference(a, b)


def _softplus(x: float) -> float:
    """log(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x))) if math.isfinite(x) else max(x, 0.0)


def difference(a: float, b: float) -> float:
    """a - b, and 0 where both are equal, be they infinite."""
    return 0.0 if a == b else float(a - b)
