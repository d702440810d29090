# -*- coding: utf-8 -*-
"""An SQLite file: made, brought up to its schema, and set aside when it is damaged and can be made again."""

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NoReturn

from .._errors import StorageError
from ._atomic import make_folder
from ._locks import short_lock

__all__ = ["DatabaseFile", "Migration", "is_damage", "transaction"]

Migration = Callable[[sqlite3.Connection], object]

_DAMAGED = (11, 26)  # SQLITE_CORRUPT, SQLITE_NOTADB
_DAMAGED_TEXT = ("malformed", "not a database")
_log = logging.getLogger("agentscope_reme")


class DatabaseFile:
    """The file behind a ``Database``; safe to ask from several threads.

    Args:
        path (`Path`):
            Where it lies.
        migrations (`Sequence[Migration]`):
            The steps of its schema.
        cache (`bool`):
            Whether its content can be made again.
        busy_timeout (`float`):
            Seconds to wait for another process.
    """

    def __init__(self, path: Path, migrations: Sequence[Migration], *, cache: bool, busy_timeout: float) -> None:
        self.path = path
        self.cache = cache
        self.generation = 0
        self._migrations = tuple(migrations)
        self._busy_timeout = busy_timeout
        self._guard = threading.Lock()
        self._ready = False
        self._identity: tuple[int, int] | None = None

    def ensure(self) -> int:
        """Make, migrate or notice the loss of the file.

        Returns:
            `int`: its generation, which grows whenever a file is there that was not before.
        """
        with self._guard:
            if self._ready and _identity(self.path) != self._identity:
                self._lost()
            if not self._ready:
                with self._file_lock():
                    self._prepare()
            return self.generation

    def connect(self, *, reads_only: bool) -> sqlite3.Connection:
        """Open a connection that any one thread may use; its transactions are begun by hand."""
        connection = sqlite3.connect(
            os.fspath(self.path),
            timeout=self._busy_timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if self.cache else 'FULL'}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        if reads_only:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def damaged(self, generation: int, error: sqlite3.Error) -> NoReturn:
        """Set a cache aside, unless that was done since ``generation``; say what happened."""
        if not self.cache:
            self._refuse(f"is damaged ({error})", error)
        with self._guard, self._file_lock():
            if generation == self.generation:
                self._set_aside()
        raise StorageError(f"{self.path} was damaged ({error}); it was set aside and begins empty.") from error

    def _refuse(self, what: str, error: Exception | None = None) -> NoReturn:
        raise StorageError(f"{self.path} {what}: put a good copy in its place and open it again.") from error

    def _lost(self) -> None:
        if not self.cache:
            self._refuse("was removed or replaced while it was open")
        _log.warning("%s was removed or replaced while it was open; it is made again.", self.path)
        self._ready = False

    def _file_lock(self) -> AbstractContextManager[None]:
        return short_lock(self.path.with_name(self.path.name + ".lock"), timeout=max(10.0, self._busy_timeout))

    def _prepare(self) -> None:
        """Make and migrate; under the file lock, so that processes that start together do it once."""
        try:
            self._create()
            self._migrate()
        except sqlite3.Error as error:
            if not (self.cache and is_damage(error)):
                raise
            self._identity = _identity(self.path)
            self._set_aside()
            self._create()
            self._migrate()
        self._identity = _identity(self.path)
        self.generation += 1
        self._ready = True

    def _create(self) -> None:
        make_folder(self.path.parent)
        try:
            try:
                # Never open a database that exists: closing it again would drop SQLite's locks in this process.
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            except FileExistsError:
                os.chmod(self.path, 0o600)
        except OSError as error:
            raise StorageError(f"{self.path} cannot be opened: {error.strerror or error}.") from error

    def _migrate(self) -> None:
        connection = self.connect(reads_only=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if _schema(connection) != len(self._migrations):
                with transaction(connection, "BEGIN IMMEDIATE"):
                    self._step_up(connection)
        finally:
            connection.close()

    def _step_up(self, connection: sqlite3.Connection) -> None:
        found, known = _schema(connection), len(self._migrations)
        if found > known:
            cure = "upgrade agentscope-reme" + (", or delete the file, which is only a cache" if self.cache else "")
            raise StorageError(f"{self.path} has schema {found}, and this version knows {known}: {cure}.")
        for step in self._migrations[found:]:
            step(connection)
        connection.execute(f"PRAGMA user_version = {known}")

    def _set_aside(self) -> None:
        """Rename the damaged file, its log first; unless another process has put a new one in its place already."""
        self._ready = False
        if _identity(self.path) != self._identity:
            return
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.corrupt-{number}")).exists():
            number += 1
        try:
            for suffix in ("-wal", "-shm", ""):
                part = self.path.with_name(self.path.name + suffix)
                if part.exists():
                    part.rename(aside.with_name(aside.name + suffix))
        except OSError as error:
            raise StorageError(f"{self.path} is damaged and cannot be set aside: {error.strerror or error}.") from error
        _log.warning("%s was damaged; it was set aside as %s and begins empty.", self.path, aside.name)


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Begin as told; commit at the end, or roll back when something is raised inside."""
    connection.execute(begin)
    try:
        yield
        if connection.in_transaction:
            connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file itself is spoiled."""
    code = getattr(error, "sqlite_errorcode", None)  # Python 3.11 and later
    if code is not None:
        return code & 0xFF in _DAMAGED
    return any(words in str(error) for words in _DAMAGED_TEXT)


def _schema(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
