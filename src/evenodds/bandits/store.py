"""The file of an experiment: tables in SQLite, and answers that are written before they are given.

Requests of all threads queue up; one of the threads serves all that wait, in one transaction, and answers after it is
committed, while the next requests gather. So many clients share one write to the disk, and a request that is refused
has changed nothing.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from evenodds.errors import DataError

T = TypeVar("T")
Path = str | os.PathLike[str]
FORMAT = "1"
APPLICATION = 0x45564F44  # "EVOD", in the header of the file
WAIT = 5.0  # seconds for another process that is writing
SYNC_EVERY = 0.1  # seconds between two writes to the disk, where not every answer waits for its own
TABLES = """
create table settings (name text primary key, value text not null) without rowid;
create table arms (
    place integer primary key, name text not null unique, retired integer not null, decided integer not null,
    rewarded integer not null, n real not null, total real not null, total_low real not null, second real not null,
    second_low real not null, last real not null
);
create table decisions (
    id text primary key, arm integer not null, propensity real not null, time real not null,
    reward real, rewarded real, nth integer
) without rowid;
"""


class Request(Generic[T]):
    """Something to be done in a transaction, and its answer."""

    __slots__ = ("answer", "done", "error", "work")

    def __init__(self, work: Callable[[], T]) -> None:
        self.work, self.done = work, False
        self.answer: T | None = None
        self.error: BaseException | None = None


FAILED = (sqlite3.Error, UnicodeDecodeError)  # a text that is none, or a name of a table in what SQLite says
DAMAGED = (  # pages that are none; other tables, columns and values than ours
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
)  # fmt: skip


class Store:
    """One file, one connection, any number of threads; other processes may have the file open too."""

    def __init__(self, path: Path, durable: bool, reload: Callable[[], None]) -> None:
        self.path, self.durable, self._reload = os.fspath(path), durable, reload
        self._turn, self._serving, self._queue = threading.Condition(), False, list[Request[Any]]()
        self._version: int | None = None
        self._unsynced, self._closed = threading.Event(), threading.Event()
        self._syncing: threading.Thread | None = None
        if not os.path.exists(self.path):
            raise FileNotFoundError(errno.ENOENT, "there is no such experiment; create it first", self.path)
        with open(self.path, "rb"):  # what cannot be read, or is a folder, the system says best
            pass
        with self.explained():
            self.connection = _connected(self.path)
        try:
            with self.explained():
                _check(self.connection, self.path)  # before anything is written: it may be someone else's
                _prepare(self.connection, durable)
        except BaseException:
            self.connection.close()
            raise

    def damaged(self, why: object) -> DataError:
        """What is said of a file that no experiment can have left."""
        return _damaged(self.path, why)

    def do(self, work: Callable[[], T]) -> T:
        """Do some work in a transaction, and give its answer once that is committed."""
        request = Request(work)
        with self._turn:
            self._queue.append(request)
            while self._serving and not request.done:
                self._turn.wait()
            mine = [] if request.done else self._queue
            if mine:
                self._queue, self._serving = [], True
        if mine:
            try:
                self._serve(mine)
            finally:  # whatever happens, those who wait go on
                with self._turn:
                    self._serving = False
                    for each in mine:
                        each.done = True
                    self._turn.notify_all()
        if request.error is not None:
            raise request.error
        return request.answer  # type: ignore[return-value]

    def _serve(self, requests: list[Request[Any]]) -> None:
        """Do all that waits, in one transaction."""
        try:
            execute = self.connection.execute
            execute("begin immediate")
            version = execute("pragma data_version").fetchone()[0]
            if version != self._version:  # another process has written, or nothing is known yet
                self._reload()
                self._version = version
            for request in requests:
                try:
                    request.answer = request.work()
                except DataError as error:  # it was refused before it changed anything
                    request.error = error
            execute("commit")
        except BaseException as error:
            self._version = None  # what is in memory may be ahead of the file
            with contextlib.suppress(sqlite3.Error):
                self.connection.rollback()
            said = _sentence(error, self.path) if isinstance(error, FAILED) else error
            for request in requests:
                request.error = said
        if not self.durable:
            self._sync_soon()

    @contextlib.contextmanager
    def explained(self) -> Any:
        """Turns what SQLite says into a sentence."""
        try:
            yield
        except FAILED as error:
            raise _sentence(error, self.path) from None

    def _sync_soon(self) -> None:
        """Have the file written to the disk within a tenth of a second; a thread of its own waits for it."""
        if not self._unsynced.is_set():
            self._unsynced.set()
        if self._syncing is None:
            self._syncing = threading.Thread(target=self._sync_again_and_again, daemon=True)
            self._syncing.start()

    def _sync_again_and_again(self) -> None:
        while not self._closed.is_set():
            self._unsynced.wait()
            if self._closed.wait(SYNC_EVERY):
                return
            self._unsynced.clear()
            self.sync()

    def sync(self) -> None:
        """Write to the disk what is still in the system's memory: only a power cut could lose it."""
        with contextlib.suppress(FileNotFoundError), open(f"{self.path}-wal", "rb+") as log:
            os.fsync(log.fileno())

    def close(self) -> None:
        """Close the file; it is then one file again, without a log beside it if nobody else has it open."""
        self._closed.set()
        self._unsynced.set()
        if self._syncing is not None:
            self._syncing.join()
        with self._turn:
            while self._serving:
                self._turn.wait()
            if not self.durable:
                self.sync()
            self.connection.close()


def create(path: Path, settings: dict[str, str], fill: Callable[[sqlite3.Connection], object]) -> None:
    """A new file with these settings, filled in the same transaction; an old one is not touched."""
    name = os.fspath(path)
    with open(name, "xb"):  # whoever comes second is told so
        pass
    try:
        connection = _connected(name)
        connection.execute("pragma page_size = 2048")  # an answer writes two pages whole: so they are small
        _prepare(connection, durable=True)
        connection.execute(f"pragma application_id = {APPLICATION}")
        connection.executescript(f"begin; {TABLES}")
        connection.executemany("insert into settings values (?, ?)", {"format": FORMAT, **settings}.items())
        fill(connection)
        connection.execute("commit")
        connection.close()
    except BaseException as error:
        for left in (name, f"{name}-wal", f"{name}-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(left)
        if isinstance(error, sqlite3.Error):
            raise _sentence(error, name) from None
        raise


def _connected(path: str) -> sqlite3.Connection:
    # of a bare name SQLite may make something else than a file, as of :memory:
    return sqlite3.connect(os.path.abspath(path), timeout=WAIT, isolation_level=None, check_same_thread=False)


def _prepare(connection: sqlite3.Connection, durable: bool) -> None:
    connection.execute("pragma journal_mode = wal")
    connection.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
    connection.execute("pragma wal_autocheckpoint = 8000")


def _check(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a file that is not ours, is newer, or has other tables than a new one has."""
    execute = connection.execute
    if execute("pragma application_id").fetchone()[0] != APPLICATION:
        raise DataError(f"{path} is not an experiment of evenodds")
    if _columns(connection) != _our_columns():
        raise _damaged(path, "it has other tables")
    if execute("select count(*) from sqlite_master where type = 'trigger'").fetchone()[0]:
        raise _damaged(path, "it has triggers, which would change what is written")
    found = execute("select value from settings where name = 'format'").fetchone()
    if found is None or found[0] != FORMAT:
        raise DataError(f"{path} was written by a newer evenodds; update this one")


def _columns(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """The columns of an experiment's tables; others may stand beside them."""
    found = "select m.name, p.name from sqlite_master m, pragma_table_info(m.name) p where m.type = 'table'"
    return connection.execute(f"{found} and m.name in ('settings', 'arms', 'decisions') order by 1, p.cid").fetchall()


@functools.cache
def _our_columns() -> list[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as new:
        new.executescript(TABLES)
        return _columns(new)


def _damaged(path: str, why: object) -> DataError:
    return DataError(f"{path} is damaged or not an experiment of evenodds ({why})")


def _sentence(error: sqlite3.Error | UnicodeDecodeError, path: str) -> Exception:
    """The error as people should read it, by SQLite's number for it; what has none is a text that cannot be read."""
    said = str(error)
    if "closed" in said:
        return ValueError(f"{path} is closed; open the experiment again")
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # without what it says beside
    if code == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, "the disk is full; nothing was changed. Make room and try again", path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return TimeoutError(
            errno.ETIMEDOUT, f"another process has been writing for {WAIT:g} s; nothing was changed. Try again", path
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return PermissionError(errno.EACCES, "the experiment may only be read; nothing was changed", path)
    if code in DAMAGED:
        return _damaged(path, said)
    return OSError(errno.EIO, f"the disk failed ({said}); nothing was changed", path)
