# -*- coding: utf-8 -*-
"""The SQLite file that a store and its companions share: opened with the first, closed with the last."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from ..storage import Database
from ._local_schema import MIGRATIONS

__all__ = ["SharedFile"]


class SharedFile:
    """A database that is open while somebody uses it. Safe to share between threads.

    Args:
        path (`str | os.PathLike`): the file.
        busy_timeout (`float`): seconds to wait for another process that is writing.
    """

    def __init__(self, path: str | os.PathLike, busy_timeout: float) -> None:
        self.path = Path(path).absolute()
        self._busy_timeout = busy_timeout
        self._guard = threading.Lock()
        self._users = 0
        self._database: Database | None = None

    def acquire(self) -> Database:
        """The database, which is opened at its first use; give it back with `release`. Does not block."""
        with self._guard:
            if self._database is None:
                self._database = Database(self.path, migrations=MIGRATIONS, busy_timeout=self._busy_timeout)
            self._users += 1
            return self._database

    def release(self) -> None:
        """Close the database, if nobody else uses it. Blocking."""
        with self._guard:
            self._users -= 1
            database = None if self._users else self._database
            if database is not None:
                self._database = None
        if database is not None:
            database.close_sync()
