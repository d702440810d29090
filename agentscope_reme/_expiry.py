# -*- coding: utf-8 -*-
"""When the full texts of long tool results expire: never before the longest age that was asked for in the workspace."""

import json
import logging
import time
from collections.abc import Iterable

import anyio
from agentscope.message import Msg

from ._errors import ReMeError
from ._events import EventKind
from .storage import read_bytes, write_atomic
from .working_memory import MemoryServices, referenced_files

__all__ = ["Expiry"]

logger = logging.getLogger("agentscope_reme")

_EVERY = 3_600.0
"""Seconds between two looks in passing."""


class Expiry:
    """Lets texts expire that are old enough and that neither a journal nor a pending record refers to.

    A failure is told and changes nothing: what may be in use stays.

    Args:
        services (`MemoryServices`):
            The files and who refers to them.
    """

    def __init__(self, services: MemoryServices) -> None:
        self._services = services
        self._file = services.workspace.state_dir / "retention.json"
        self._looked = 0.0

    async def ask(self, days: float | None) -> None:
        """Remember, also over a restart, that somebody wants the texts to be kept for so long; `None` is for ever."""
        if _longer(days, self._services.policy.retention_days) and _longer(days, await self._asked()):
            await anyio.to_thread.run_sync(write_atomic, self._file, json.dumps({"days": days}).encode())

    async def run(self, also: Iterable[Msg] = ()) -> None:
        """Look through the folder. What messages of `also` refer to is in use too."""
        self._looked = time.monotonic()
        try:
            asked, policy = await self._asked(), self._services.policy.retention_days
            days = asked if _longer(asked, policy) else policy
            expired = await anyio.to_thread.run_sync(self._expire, days, also)
        except ReMeError as error:
            logger.warning("Nothing expires now, for it is not known what is in use: %s", error)
            self._services.events.emit(EventKind.EXPIRED, files=[], error=error)
            return
        if expired:
            self._services.events.emit(EventKind.EXPIRED, files=expired)

    async def run_in_passing(self, *, now: bool = False) -> None:
        """`run`, where the last look is an hour old, or the folder has just changed."""
        if now or time.monotonic() - self._looked > _EVERY:
            await self.run()

    def _expire(self, days: float | None, also: Iterable[Msg]) -> list[str]:
        results = self._services.results
        referred: set[str] | None = None

        def in_use(name: str) -> bool:  # asked only about texts that are old enough, which is rare
            nonlocal referred
            if referred is None:
                referred = referenced_files(self._services).union(*map(results.references, also))
            return name in referred

        return results.store.expire(days, in_use)

    async def _asked(self) -> float | None:
        """The longest age that was asked for, in days; 0 where none was."""
        try:
            return json.loads(await anyio.to_thread.run_sync(read_bytes, self._file))["days"]
        except (ReMeError, ValueError, KeyError, TypeError):
            return 0


def _longer(days: float | None, than: float | None) -> bool:
    return than is not None and (days is None or days > than)
