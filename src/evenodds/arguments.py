"""What an argument may be: a number, a whole one, a flag, one of a few words, a mapping, a level. What it may not be is
refused by name.

numpy's numbers are numbers; True and False are none.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable
from typing import Any, TypeGuard

LEVEL = 0.95  # of intervals, where none is asked for


def is_whole(value: object) -> TypeGuard[int]:
    """Whether this is a whole number.

    >>> is_whole(3), is_whole(True), is_whole(3.0), is_whole("3")
    (True, False, False, False)
    """
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return not isinstance(value, bool)


def is_number(value: object, above: float = -math.inf) -> TypeGuard[float]:
    """Whether this is a finite number above another; a fraction is none that arrays could hold.

    >>> is_number(0.5), is_number(0.5, above=1), is_number(math.nan), is_number(True), is_number("1")
    (True, False, False, False, False)
    >>> from fractions import Fraction
    >>> is_number(10**300), is_number(10**400), is_number(Fraction(1, 2))
    (True, False, False)
    """
    if is_whole(value):
        return above < value and abs(value) <= sys.float_info.max
    from numbers import Rational, Real

    return isinstance(value, Real) and not isinstance(value, Rational) and above < float(value) < math.inf


def native(value: Any) -> Any:
    """A number of numpy's as Python's own, which is written to files; anything else as it is."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def whole(name: str, value: object, least: int = 1) -> int:
    """A whole number, `least` or more.

    >>> whole("n_samples", 3), whole("n_samples", 0, least=0)
    (3, 0)
    """
    if not is_whole(value) or value < least:
        raise ValueError(f"{name}={value!r}: expected a whole number, {least} or more")
    return operator.index(value)


def amount(name: str, value: Any) -> float:
    """A number, 0 or more.

    >>> amount("factor", 0.5)
    0.5
    >>> amount("factor", "half")
    Traceback (most recent call last):
    ValueError: factor='half': expected a number, 0 or more
    """
    number = native(value)
    if not (is_number(number) and number >= 0):
        raise ValueError(f"{name}={value!r}: expected a number, 0 or more")
    return number


def one_of(name: str, value: object, allowed: Iterable[object]) -> None:
    """Refuse what is none of a few words.

    >>> one_of("prior", "pool", ("pooled", "flat"))
    Traceback (most recent call last):
    ValueError: prior='pool': expected one of 'pooled', 'flat'
    """
    known = list(allowed)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(repr, known))}")


def flag(name: str, value: object) -> bool:
    """True or False; a text is neither, though Python takes "no" for true.

    >>> flag("temper", True), flag("temper", 0)
    (True, False)
    """
    if not isinstance(native(value), int) or value not in (True, False):
        raise ValueError(f"{name}={value!r}: expected True or False")
    return bool(value)


def mapping(name: str, value: Any, such_as: str) -> dict[Any, Any]:
    """What is told by name: a mapping, or None for nothing.

    >>> mapping("cuts", {"age": 4}, "{'age': 4}"), mapping("cuts", None, "{'age': 4}")
    ({'age': 4}, {})
    """
    try:
        return {} if value is None else dict(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r:.80}: expected a mapping such as {such_as}") from None


def smoothing_of(value: Any, where: str = "") -> Any:
    """How much is smoothed: so many pseudo-counts, or "auto"."""
    if isinstance(value, str) and value == "auto":
        return value
    if not (is_number(value) and value >= 0):
        raise ValueError(f"{where}smoothing={value!r}: expected 0 or more, or 'auto'")
    return native(value)


def tail_of(level: float) -> float:
    """What an interval of this probability leaves out at either end."""
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(f"level={level!r}: expected a probability between 0 and 1, such as 0.95")
    return (1 - level) / 2


def normal_width(level: float) -> float:
    """How many standard errors an interval of this probability reaches to either side.

    >>> round(normal_width(0.95), 4)
    1.96
    """
    from scipy.special import ndtri

    return -float(ndtri(tail_of(level)))
