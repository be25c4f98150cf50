"""A file that is replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO, TypeAlias

Path: TypeAlias = str | os.PathLike[str]


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file beside the old one, which it replaces once it is written and on the disk; otherwise it is removed.

    A link stays, its target is replaced; the old permissions stay. A pipe or a device cannot be replaced: it is written
    to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "greeting")
    ...     with replacing(name) as file:
    ...         _ = file.write(b"hello")
    ...     with contextlib.suppress(RuntimeError), replacing(name) as file:
    ...         _ = file.write(b"good")
    ...         raise RuntimeError("interrupted")
    ...     open(name).read(), os.listdir(folder)
    ('hello', ['greeting'])
    """
    old = os.stat(path) if os.path.exists(path) else None
    if old is not None and not stat.S_ISREG(old.st_mode):  # a folder too: open says what is wrong with it
        with _told_as(path), open(path, "wb") as file:
            yield file
        return
    target = os.path.realpath(path)
    aside = os.path.join(os.path.dirname(target), f".evenodds-{os.urandom(8).hex()}.tmp")
    with _told_as(path, aside):
        try:
            if old is not None and not os.access(target, os.W_OK):  # replacing it would get round its protection
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            with open(os.open(aside, how, 0o666 if old is None else 0o600), "wb") as file:
                if old is not None and hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(aside)
            raise
    with contextlib.suppress(OSError):  # the file is whole and in its place; not every file system syncs folders
        _sync(os.path.dirname(target))


@contextlib.contextmanager
def _told_as(path: Path, aside: str | None = None) -> Iterator[None]:
    """What goes wrong with a file is told of it under the name that the caller knows."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, aside):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _sync(folder: str) -> None:
    """Make a change of names in a folder outlast a power cut."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
