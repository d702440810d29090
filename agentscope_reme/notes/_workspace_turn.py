# -*- coding: utf-8 -*-
"""One at a time among all the tasks, loops and processes that write the notes of a workspace."""

from pathlib import Path

import anyio

from .._errors import SessionInUseError
from ..storage import OwnerLock

__all__ = ["WorkspaceTurn"]

_FIRST_WAIT, _LONGEST_WAIT = 0.02, 0.5


class WorkspaceTurn:
    """Waits, without blocking the loop, until nobody else is at work, and keeps everybody else out meanwhile.

    The system lets the next one in when the process dies.

    Args:
        path (`Path`):
            The lock file.
    """

    def __init__(self, path: Path) -> None:
        self._lock = OwnerLock(path)

    async def __aenter__(self) -> None:
        wait = _FIRST_WAIT
        while True:
            try:
                self._lock.acquire("The note queue")
                return
            except SessionInUseError:
                await anyio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)

    async def __aexit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let the next one in, also in place of an owner whose loop is gone."""
        self._lock.release()
