"""The one error for data: what is wrong, where, and what to do; the pieces of such sentences; and the way to warn."""

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

_spoken = {"options": False}  # whether remedies are told as options of the command line; all threads speak alike


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


def listed(names: Iterable[object]) -> str:
    """Some names in quotes, for people."""
    return several([brief(str(name)) for name in names])


def many(n: float, what: str) -> str:
    """So many of something.

    >>> many(1, "row"), many(2201, "class"), many(0.5, "entry")
    ('1 row', '2,201 classes', '0.5 entries')
    """
    return f"{int(n) if float(n).is_integer() else n:,} {what if n == 1 else plural(what)}"


def plural(what: str) -> str:
    """More than one of it."""
    return what[:-1] + "ies" if what.endswith("y") else what + ("es" if what.endswith("s") else "s")


def did_you_mean(name: str, names: Iterable[object], what: str = "column") -> str:
    """A sentence for a name that is not there, with the nearest one that is.

    >>> did_you_mean("lenght", ["length", "width"]), did_you_mean("c", ["a", "b"], "class")
    ("column 'lenght' not found; did you mean 'length'?", "class 'c' not found; the classes are 'a', 'b'")
    """
    import difflib  # which one message need not wait for

    known = [str(one) for one in names]
    folded = {other.casefold(): other for other in reversed(known)}
    near = [folded[one] for one in difflib.get_close_matches(name.casefold(), folded, 1)]
    if near:
        return f"{what} {brief(name)} not found; did you mean {brief(near[0])}?"
    others = f"the {plural(what)} are {listed(known)}" if known else "there is none"
    return f"{what} {brief(name)} not found; {others}"


@contextmanager
def by_options() -> Iterator[None]:
    """Remedies are told as options of the command line meanwhile."""
    before, _spoken["options"] = _spoken["options"], True
    try:
        yield
    finally:
        _spoken["options"] = before


def as_word(name: str) -> str:
    """A name as a word of a command line."""
    import shlex  # which one message need not wait for

    return shlex.quote(name)


def remedy(python: str, option: str) -> str:
    """What to do, in the words of the entrance in use: as Python has it, or as an option of the command line.

    >>> with by_options():
    ...     remedy("missing='drop'", "--missing drop")
    '--missing drop'
    >>> remedy("missing='drop'", "--missing drop")
    "missing='drop'"
    """
    return option if _spoken["options"] else python


def warn(sentence: str, kind: type[Warning]) -> None:
    """A warning that points at the line which called the library, however deep inside it is raised."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "evenodds":
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, kind, stacklevel=level)
