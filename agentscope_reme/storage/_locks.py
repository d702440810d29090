# -*- coding: utf-8 -*-
"""Locks between processes, and between owners in one process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .._errors import SessionInUseError, StorageError
from ._atomic import make_folder

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["short_lock", "OwnerLock"]

_of_parents: "list[BaseFileLock]" = []
"""A fork's copies of its parent's locks. They are never collected: a lock that is lets go of the file."""


@contextmanager
def short_lock(path: Path, *, timeout: float = 10.0) -> Iterator[None]:
    """Hold a lock for the length of one write.

    Args:
        path (`Path`):
            The lock file; it stays.
        timeout (`float`):
            Seconds to wait for another holder.

    Raises:
        `StorageError`: another holder kept it for longer, or the disk refused.
    """
    from filelock import FileLock, Timeout

    try:
        make_folder(path.parent)
        lock = FileLock(path, timeout=timeout, mode=0o600)
        lock.acquire()
    except Timeout as error:
        raise StorageError(f"Another process has held {path} for over {timeout:g} seconds.") from error
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"Could not lock {path}: {error}.") from error
    try:
        yield
    finally:
        lock.release()


class OwnerLock:
    """Held by the one owner of a thing for as long as it owns it; the system lets go of it when the process dies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: BaseFileLock | None = None
        self._pid = 0

    def acquire(self, what: str) -> None:
        """Take it at once.

        Raises:
            `SessionInUseError`: somebody else has it.
            `StorageError`: the disk refused.
        """
        from filelock import FileLock, Timeout

        if self._lock is not None:
            return
        try:
            make_folder(self.path.parent)
            lock = FileLock(self.path, timeout=0, mode=0o600)
            lock.acquire()
        except Timeout as error:
            raise SessionInUseError(
                f"{what} is open elsewhere: close its owner first, or take another session id.",
            ) from error
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"Could not lock {self.path}: {error}.") from error
        self._lock, self._pid = lock, os.getpid()

    @property
    def held(self) -> bool:
        return self._lock is not None

    @property
    def is_inherited(self) -> bool:
        """Whether it was taken before this process was forked off, and so is the parent's."""
        return self._lock is not None and self._pid != os.getpid()

    def release(self) -> None:
        """Let go of it; a fork's copy leaves the parent's lock alone."""
        if self._lock is None:
            return
        lock, inherited, self._lock = self._lock, self.is_inherited, None
        if inherited:
            _of_parents.append(lock)
        else:
            lock.release()
