"""What the commands share: errors with exit codes, JSON, plain tables, and numbers as people read them."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import exp, floor, inf, isclose, isfinite, log, log10

import click

from evenodds.show import CONTROLS, escaped, escaped_lines

_IN_JSON = {ord(c): f"\\u{ord(c):04x}" for c in CONTROLS if c != "\n"}


class WrongUsageError(click.ClickException):
    """The command was asked for something it cannot do: one sentence, exit code 2."""

    exit_code = 2


class BadDataError(click.ClickException):
    """The data contradict themselves or the model: one sentence, exit code 3."""

    exit_code = 3


@contextmanager
def wrong_usage() -> Iterator[None]:
    """What settings made of options cannot be is wrong usage, in their own words."""
    try:
        yield
    except ValueError as error:
        raise WrongUsageError(str(error)) from None


def print_lines(text: str, err: bool = False) -> None:
    """Write lines for people to stdout, or to stderr; names in them say their control characters."""
    click.echo(escaped_lines(text), err=err)


def print_json(value: object) -> None:
    """Write JSON to stdout: numbers to 12 digits, and null where JSON has no number (infinity, nan)."""
    click.echo(as_json_text(value))


def as_json_text(value: object) -> str:
    """The same as text."""
    return _escaped_json(json.dumps(_plain(value, _rounded), indent=2, ensure_ascii=False, allow_nan=False))


def print_json_line(value: object) -> None:
    """Write one of several values to stdout, each on a line of its own."""
    click.echo(as_json_line(value))


def as_json_line(value: object) -> str:
    """JSON on one line: numbers as they are, null where JSON has none, dates and the like as their texts."""
    from evenodds.labels import canonical

    try:
        text = json.dumps(value, ensure_ascii=False, default=canonical, allow_nan=False)
    except ValueError:
        text = json.dumps(_plain(value, float), ensure_ascii=False, default=canonical)
    return _escaped_json(text)


def _escaped_json(text: str) -> str:
    """JSON of which no terminal takes a letter for a command, nor a program for the end of a line."""
    return text if text.isascii() and "\x7f" not in text else text.translate(_IN_JSON)


def _rounded(x: float) -> float:
    return float(f"{x:.12g}")


def _plain(value: object, number: Callable[[float], float]) -> object:
    """A value without infinities; what is done with other numbers is told."""
    if isinstance(value, float):
        return number(value) if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(item, number) for key, item in value.items()}
    return [_plain(item, number) for item in value] if isinstance(value, list | tuple) else value


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text in aligned columns, two spaces apart.

    >>> print(table([["word", "odds"], ["prince", "20"]]))
    word    odds
    prince  20
    """
    shown = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in shown)


def probability(log_odds: float) -> str:
    """Three digits of p, more where it nears 1, and never a rounded 0 or 1.

    >>> [probability(log(p / (1 - p))) for p in (0.001, 0.0909918, 0.9091, 0.99954, 1e-7)]
    ['0.001', '0.0910', '0.909', '0.99954', '1e-07']
    >>> probability(40), probability(-2000), probability(inf)
    ('1 - 4.25e-18', '10^-869', '1')
    """
    if abs(log_odds) == inf:
        return "1" if log_odds > 0 else "0"
    if log_odds < -690:
        return f"10^{log_odds / log(10):.0f}"
    if log_odds > 16:
        return f"1 - {probability(-log_odds)}"
    p = 1 / (1 + exp(-log_odds))
    if p < 1e-4:
        return f"{p:.3g}"
    decimals = max(2 - floor(log10(p)), 1 - floor(log10(1 - p)))
    return f"{p:.{decimals}g}" if isclose(p, round(p, decimals), rel_tol=1e-12) else f"{p:.{decimals}f}"


def odds(log_odds: float) -> str:
    """The odds with the smaller side 1.

    >>> odds(log(0.001 / 0.999)), odds(log(1.8)), odds(inf), odds(-2000)
    ('1:999', '1.8:1', '1:0', '1:10^869')
    """
    if abs(log_odds) == inf:
        return "1:0" if log_odds > 0 else "0:1"
    large = short(exp(abs(log_odds))) if abs(log_odds) < 690 else f"10^{abs(log_odds) / log(10):.0f}"
    return f"{large}:1" if log_odds > 0 else f"1:{large}"


def short(x: float) -> str:
    """Four digits, and thousands with commas: 0.01099, 18, 12,345, ∞."""
    if x == inf:
        return "∞"
    return f"{x:,.0f}" if 1e4 <= x < 1e9 else f"{x:.4g}"
