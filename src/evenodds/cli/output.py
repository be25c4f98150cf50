"""What the commands share: errors with exit codes, and JSON."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite

import click

from evenodds.show import CONTROLS, escaped_lines

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
