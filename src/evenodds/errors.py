"""The one error for data: what is wrong, where, and what to do; and the way to warn."""

import sys
import warnings
from collections.abc import Sequence


class DataError(ValueError):
    """The data cannot be used as they are; the message says which column or row, and what to do."""


def brief(text: str) -> str:
    """The beginning of a long text, in quotes: nobody reads a sentence with a name of a million letters in it."""
    return repr(text if len(text) <= 80 else text[:79] + "…")


def several(texts: Sequence[str], most: int = 8, between: str = ", ") -> str:
    """The first few, and how many more there are: nobody reads a list of hundreds in a sentence either.

    >>> several(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    return between.join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def warn(sentence: str, kind: type[Warning]) -> None:
    """A warning that points at the line which called the library, however deep inside it is raised."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "evenodds":
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, kind, stacklevel=level)
