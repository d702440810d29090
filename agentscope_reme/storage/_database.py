# -*- coding: utf-8 -*-
"""SQLite off the event loop: a thread that writes, one that reads beside it, any number of loops and processes."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from .._errors import NotStartedError, StorageError
from ._database_file import DatabaseFile, Migration, is_damage, transaction

__all__ = ["Database", "Migration"]

T = TypeVar("T")
P = ParamSpec("P")
Job = Callable[Concatenate[sqlite3.Connection, P], T]


class Database:
    """An SQLite file (WAL, mode 0600) whose work runs on its own threads.

    Writes run one after another on one thread; reads run on a second one, each on a snapshot, and do not wait for a
    write. Nothing here belongs to an event loop, so the same object works in several. The file is opened at first use.

    Args:
        path (`str | PathLike`):
            The file; it and its folder are made when missing.
        migrations (`Sequence[Callable[[sqlite3.Connection], object]]`):
            Step ``n`` brings the schema from version ``n`` to ``n + 1`` (``PRAGMA user_version``). A step uses
            ``execute``, not ``executescript``, which would commit half of it.
        cache (`bool`):
            The content can be made again from elsewhere. A damaged file is then set aside as ``<name>.corrupt-<n>`` and
            a removed one is made again, ``generation`` grows, and commits do not wait for the disk (they survive a
            killed process, not a power cut). Otherwise both are a ``StorageError``, and each commit is on the disk.
        busy_timeout (`float`):
            Seconds to wait for another process that is writing.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        *,
        migrations: Sequence[Migration] = (),
        cache: bool = False,
        busy_timeout: float = 10.0,
    ) -> None:
        self.path = Path(path).absolute()
        self._file = DatabaseFile(self.path, migrations, cache=cache, busy_timeout=busy_timeout)
        self._writer = _Lane(self._file, "write", begin="BEGIN IMMEDIATE")
        self._reader = _Lane(self._file, "read", begin="BEGIN")
        self._gate = threading.Lock()
        self._closed = False
        self._pid = os.getpid()

    @property
    def generation(self) -> int:
        """How often the file was opened anew: 0 before the first use, 1 as a rule, more after a damage or a loss."""
        return self._file.generation

    async def run(self, fn: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``fn(connection, ...)`` in a write transaction: committed when it returns, rolled back when it raises.

        A cancelled wait drops the work if it has not begun, and else lets it end. ``fn`` returns values, not a cursor.

        Raises:
            `StorageError`: SQLite or the disk refused; nothing of it was kept.
            `NotStartedError`: after ``close``.
        """
        return await asyncio.wrap_future(self._submit(self._writer, self._writer.work, fn, args, kwargs))

    async def read(self, fn: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run ``fn(connection, ...)`` on a snapshot that holds every finished ``run``; it cannot write.

        Raises:
            as ``run``.
        """
        return await asyncio.wrap_future(self._submit(self._reader, self._reader.work, fn, args, kwargs))

    def run_sync(self, fn: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """``run``, waiting without an event loop."""
        return self._submit(self._writer, self._writer.work, fn, args, kwargs).result()

    def read_sync(self, fn: Job[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """``read``, waiting without an event loop."""
        return self._submit(self._reader, self._reader.work, fn, args, kwargs).result()

    async def data_version(self) -> int:
        """A number that changes when somebody else (another process or object) wrote, or the file was made again.

        It is asked of the writing thread, so it waits for the writes that were handed in before: keep them short.
        """
        return await asyncio.wrap_future(self._submit(self._writer, self._writer.version))

    def data_version_sync(self) -> int:
        """``data_version``, waiting without an event loop."""
        return self._submit(self._writer, self._writer.version).result()

    async def compact(self) -> bool:
        """Write the file anew without what was deleted, so that no byte of that is left in the file or in its log.

        Takes about as long as copying the file, and as much room beside it for that time.

        Returns:
            `bool`: False where another process was reading all the while, so that the log still holds what it reads;
            the next call, or the last process to close the file, ends that.

        Raises:
            as ``run``.
        """
        return await asyncio.wrap_future(self._submit(self._writer, self._writer.compact))

    async def close(self) -> None:
        """Finish what was handed in, join the threads, close the file. May be called again."""
        await asyncio.to_thread(self.close_sync)

    def close_sync(self) -> None:
        """``close``, waiting without an event loop."""
        with self._gate:
            self._closed = True
        if self._pid == os.getpid():  # in a fork's copy, threads and connections are the parent's
            self._reader.close()
            self._writer.close()

    def _submit(self, lane: "_Lane", work: Callable[..., Any], *arguments: Any) -> Future:
        if self._pid != os.getpid():
            raise StorageError(f"{self.path} was opened before this process was forked: open it again here.")
        with self._gate:
            if self._closed:
                raise NotStartedError(f"{self.path} is closed: start its owner again before using it.")
            return lane.pool.submit(lane.told, work, *arguments)


class _Lane:
    """One thread and the one connection that only it uses."""

    def __init__(self, file: DatabaseFile, name: str, *, begin: str) -> None:
        self.pool = ThreadPoolExecutor(1, thread_name_prefix=f"reme-{name}-{file.path.name}")
        self._file = file
        self._begin = begin
        self._connection: sqlite3.Connection | None = None
        self._generation = 0

    def told(self, work: Callable[..., T], *arguments: Any) -> T:
        """Call it; what SQLite raises becomes a ``StorageError`` that names the file."""
        try:
            return work(*arguments)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise StorageError(f"{self._file.path}: {error}.") from error
            self._drop()
            self._file.damaged(self._generation, error)

    def work(self, fn: Callable[..., T], args: tuple, kwargs: dict) -> T:
        connection = self._current()
        with transaction(connection, self._begin):
            return fn(connection, *args, **kwargs)

    def version(self) -> int:
        version = self._current().execute("PRAGMA data_version").fetchone()[0]
        return (self._generation << 32) + version

    def compact(self) -> bool:
        connection = self._current()
        connection.execute("PRAGMA temp_store = FILE")  # in memory, it would hold a copy of the whole
        try:
            connection.execute("VACUUM")
        finally:
            connection.execute("PRAGMA temp_store = MEMORY")
        return connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0

    def close(self) -> None:
        self.pool.shutdown(wait=True)
        self._drop()

    def _current(self) -> sqlite3.Connection:
        generation = self._file.ensure()
        if self._connection is None or self._generation != generation:
            self._drop()
            self._connection = self._file.connect(reads_only=self._begin == "BEGIN")
            self._generation = generation
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
