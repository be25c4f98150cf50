"""Files that a command names: those it reads, those it writes, and never the one over the other."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import click

from evenodds.cli.output import WrongUsageError

STREAM = "-"  # standard input of what is read, standard output of what is written
PICTURES = (".svg", ".png", ".html", ".json")
PAGES = (".html", ".md", ".json")


class Read(click.Path):
    """A file that is read, and stays as it is."""


class Written(click.Path):
    """A file that is written. The end of its name may say as what; - is standard output, for what can go there."""

    def __init__(self, *kinds: str, stream: bool = False) -> None:
        super().__init__(dir_okay=False)
        self.kinds, self.stream = kinds, stream

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, if it can be written as what it is."""
        if not value:
            self.fail("expected the name of a file, not ''", param, ctx)
        if self.kinds and kind_of(value) not in self.kinds:
            self.fail(f"{value}: expected a name that ends with {', '.join(self.kinds)}", param, ctx)
        if value == STREAM and not self.stream:
            self.fail("- is standard output, where this cannot go: name a file", param, ctx)
        folder = os.path.dirname(value)  # asked before hours of work, not after
        if folder and not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}; make it first", value)
        return super().convert(value, param, ctx)


def kind_of(path: str) -> str:
    """The end of a name: .html."""
    return os.path.splitext(path)[1].lower()


def check_outputs(data: Iterable[str] = ()) -> None:
    """Refuse to write over what the running command reads: its data, and the files that its arguments name."""
    context = click.get_current_context(silent=True)
    if context is None:
        return
    named = [(param, context.params.get(param.name or "")) for param in context.command.params]
    read = [*data, *(path for param, path in named if isinstance(param.type, Read) and path)]
    for param, path in named:
        if isinstance(param.type, Written) and path and any(_same(path, other) for other in read):
            name = param.opts[-1]
            raise WrongUsageError(f"{name}: {path} is the file that is read, and would be lost; name another")


def _same(one: str, other: str) -> bool:
    other = "/dev/stdin" if other == STREAM else other  # which may be a file that the shell has opened
    return os.path.isfile(one) and os.path.isfile(other) and os.path.samefile(one, other)


@contextmanager
def writing(path: str | None) -> Iterator[BinaryIO]:
    """A file that is replaced whole or not at all; standard output for - and where none is named."""
    if path is None or path == STREAM:
        yield sys.stdout.buffer
        return
    from evenodds.replacing import replacing

    with replacing(path) as file:
        yield file
