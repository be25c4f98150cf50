"""A linear relation between columns, said in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from evenodds.errors import many

_DENOMINATORS = range(1, 13)  # halves to twelfths are read as fractions at a glance; 127/50 is better as 2.54
_MANY = 12  # columns, above which a relation is not read but skipped


class Part(NamedTuple):
    """coefficient · column; the column "" is the intercept. The coefficient is known to within `noise`."""

    name: str
    coefficient: float
    noise: float


def relation(name: str, terms: Sequence[Part], rows: int | None = None) -> str:
    """Column `name` as the combination of others that it is; `rows` if they are so few that any column would be one.

    Fahrenheit beside Celsius; shares that add up to one; a price in another currency:

    >>> relation("fahrenheit", [Part("", 32.0, 1e-12), Part("celsius", 1.8, 1e-14)])
    '`fahrenheit` = 9/5 `celsius` + 32'
    >>> relation("no", [Part("", 1.0, 1e-12), Part("yes", -1.0, 1e-14), Part("perhaps", -1.0, 1e-14)])
    '`yes` + `perhaps` + `no` = 1'
    >>> relation("euro", [Part("lira", 0.000516456899, 1e-14)])
    '`euro` ≈ 0.000516457 `lira`'
    """
    if not terms:
        return f"`{name}` is zero in every row"
    if all(term.name == "" for term in terms):
        return f"`{name}` is constant (already in the intercept)"
    texts = {term.name: number(abs(term.coefficient), term.noise) for term in terms}
    exact = all(text is not None for text in texts.values())
    if rows is not None and not exact:
        rest = f"as any column is of {rows} independent ones in {many(rows, 'row')}"
        return f"`{name}` is a combination of other columns, {rest}"
    if len(terms) > _MANY and not exact:
        return f"`{name}` is a combination of {len(terms)} columns: {', '.join(f'`{t.name}`' for t in terms if t.name)}"
    sign = "=" if exact else "≈"
    shown = {t.name: texts[t.name] or f"{abs(t.coefficient):.6g}" for t in terms}
    # the intercept goes last, as one writes 2 a + 3
    terms = sorted(terms, key=lambda term: term.name == "")
    minus = [term for term in terms if term.coefficient < 0]
    plus = [term for term in terms if term.coefficient > 0]
    whole = plus and all(term.name and shown[term.name] == "1" for term in minus)
    if minus and whole and (len(minus) > 1 or len(plus) > 2 or plus[0].name == ""):
        left = [(term.name, "1", False) for term in minus] + [(name, "1", False)]
        return f"{_sum(left)} {sign} {_sum([(t.name, shown[t.name], False) for t in plus])}"
    # the first term should not begin with a minus if another can
    ordered = sorted(terms, key=lambda term: (term.name == "", term.coefficient < 0))
    if ordered[0].coefficient < 0 and plus:
        ordered = plus + minus
    return f"`{name}` {sign} {_sum([(t.name, shown[t.name], t.coefficient < 0) for t in ordered])}"


def number(value: float, noise: float) -> str | None:
    """A positive coefficient as a whole number, a small fraction or a short decimal; None if it is none of them.

    The value is known to within `noise`. A fraction is believed only if numbers as simple as it are too sparse for one
    to be this near by chance: less than one in a hundred.

    >>> number(2.9999999999999996, 1e-14), number(0.33333333333333337, 1e-15), number(2.54, 1e-15)
    ('3', '1/3', '2.54')
    >>> number(3.14159265358979, 1e-13) is None, number(1e308, 1e293), number(math.inf, 1.0) is None
    (True, '1e+308', True)
    """
    if not math.isfinite(value):
        return None
    noise = max(noise, 1e-15 * value)
    for q in _DENOMINATORS:
        p = round(value * q) if math.isfinite(value * q) else 0
        if p and abs(value - p / q) <= noise and noise * q * q < 0.01:
            return str(p) if q == 1 else f"{p}/{q}"
    for digits in range(1, 7):
        text = f"{value:.{digits}g}"
        if abs(value - float(text)) <= noise and noise < 1e-3 * value * 10.0**-digits:
            return text
    return None


def _sum(terms: Sequence[tuple[str, str, bool]]) -> str:
    """2 `a` - `b` + 3 of its terms: (column, coefficient, whether it is taken away)."""
    text = ""
    for name, coefficient, minus in terms:
        one = f"`{name}`" if name and coefficient == "1" else f"{coefficient} `{name}`" if name else coefficient
        text += (" - " if minus else " + ") + one if text else ("-" if minus else "") + one
    return text
