"""What options and arguments say, read: names, NAME=VALUE, numbers. A mistake is a sentence that names the option."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from evenodds.cli.output import WrongUsageError


def names(option: str, text: str) -> list[str]:
    """Names with commas between, each once; a comma within quotes belongs to a name.

    >>> names("--columns", 'a, "b,c",d')
    ['a', 'b,c', 'd']
    """
    import csv

    try:
        found = next(csv.reader([text], skipinitialspace=True)) if '"' in text else text.split(",")
    except csv.Error:
        found = []
    found = [name.strip() for name in found]
    if not found or len(set(found)) < len(found):
        raise WrongUsageError(f"{option}: expected names with commas between, each once, not {text!r}")
    return found


def pairs(
    option: str, texts: Iterable[str], expected: str = "COLUMN=VALUE", mark: str = "=", *, last: bool = False
) -> dict[str, str]:
    """What NAME=VALUE says of each name, once; cut at the first = or, where no value has one, at the last.

    >>> pairs("--given", ["sex=male", "sum=a=b"])
    {'sex': 'male', 'sum': 'a=b'}
    >>> pairs("--role", ["a=b=number"], last=True)
    {'a=b': 'number'}
    """
    found: dict[str, str] = {}
    for text in texts:
        name, cut, value = text.rpartition(mark) if last else text.partition(mark)
        if not (cut and name):
            raise WrongUsageError(f"{option}: expected {expected}, not {text.strip()!r}")
        if name in found:
            raise WrongUsageError(f"{option}: {name!r} is given twice")
        found[name] = value
    return found


def shares(option: str, texts: Iterable[str], mark: str = "=", expected: str = "NAME") -> dict[str, float]:
    """What NAME=NUMBER says of each name, once.

    >>> shares("--prior", ["spam = 1/5", " ham=80%"]), shares("--likely", ["a:b:.1"], ":")
    ({'spam': 0.2, 'ham': 0.8}, {'a:b': 0.1})
    """
    parts = (text.rpartition(mark) for text in texts)
    tidy = (name.strip() + cut + value for name, cut, value in parts)
    found = pairs(option, tidy, f"{expected}{mark}NUMBER", mark, last=True)
    return {name: number(option, value) for name, value in found.items()}


def number(option: str, text: str, also: str = "") -> float:
    """A number written .001, 1/1000 or 0.1%; what else the option takes is told where it is none.

    >>> number("--prior", "1/8"), number("--prior", "5 %")
    (0.125, 0.05)
    """
    top, slash, bottom = text.strip().removesuffix("%").partition("/")
    try:
        found = float(top) / (float(bottom) if slash else 1) / (100 if text.strip().endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        found = float("nan")
    if not isfinite(found):
        raise WrongUsageError(
            f"{option}: {text.strip()!r} is not a number; expected .001, 1/1000 or 0.1%{also and f', or {also}'}"
        )
    return found


def numbers(option: str, text: str) -> list[float]:
    """Numbers with commas between."""
    return [number(option, part) for part in text.split(",")]


def whole_numbers(option: str, text: str) -> list[int]:
    """Whole numbers with commas between."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise WrongUsageError(f"{option}: expected whole numbers with commas between, not {text!r}") from None
