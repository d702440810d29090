# -*- coding: utf-8 -*-
"""One place where conversations are recorded: each message once, and again where it failed."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from agentscope.message import Msg

from ._errors import ConfigError, ReMeError, StorageError
from ._events import EventBus, EventKind
from ._memory_keeping import Keeping, Learning, MemoryKeeping, NoteWriting
from ._owners import Owners
from ._recorded_ids import RecordedIds
from ._reme_light import ReMeLight
from .record import MemoryNode

__all__ = ["RecordingDesk", "desks_for"]

logger = logging.getLogger("agentscope_reme")


@dataclass(frozen=True)
class RecordingDesk:
    """Records for one person, task or tool, or in the notes.

    Args:
        keeping (`Keeping`):
            Where it goes.
        recorded (`RecordedIds`):
            What was recorded.
        events (`EventBus`):
            Told what came of it.
    """

    keeping: Keeping
    recorded: RecordedIds
    events: EventBus

    async def learn(self, said: Sequence[Msg]) -> list[MemoryNode]:
        """Record what was not recorded before.

        Args:
            said (`Sequence[Msg]`):
                A conversation, as `recordable` leaves it.

        Returns:
            `list[MemoryNode]`: the memories that came of it. A failure is logged and told as an event, and the messages
            are new again the next time.
        """
        fresh: dict[str, Msg] = {}
        owner = self.keeping.key
        try:
            async with self.recorded.turn.lock():
                new = set(await anyio.to_thread.run_sync(self.recorded.new, [msg.id for msg in said]))
                fresh = {msg.id: msg for msg in said if msg.id in new}
                if not fresh:
                    return []
                nodes = await self.keeping.learn(list(fresh.values()))
                await self._remember(list(fresh))
        except Exception as error:
            unexpected = not isinstance(error, ReMeError)
            logger.warning(
                "%d messages could not be recorded for %s: %s", len(fresh), owner, error, exc_info=unexpected
            )
            self.events.emit(EventKind.RECORD_FAILED, error=error, owner=owner, messages=len(fresh))
            return []
        self.events.emit(EventKind.RECORDED, owner=owner, messages=len(fresh), memories=len(nodes))
        return nodes

    async def _remember(self, ids: list[str]) -> None:
        """Put down which messages were recorded; this process knows it also where the disk refuses."""
        try:
            await anyio.to_thread.run_sync(self.recorded.add, ids)
        except StorageError as error:
            logger.warning("%d messages may be recorded again after a restart: %s", len(ids), error)


def desks_for(
    reme: Learning | None,
    notes: ReMeLight | None,
    owners: Owners,
    state_dir: str | Path | None,
    events: EventBus,
) -> list[RecordingDesk]:
    """A desk for each owner in the vector memory, or one for the notes where there is none.

    Args:
        reme (`ReMe | None`), notes (`ReMeLight | None`):
            The two.
        owners (`Owners`):
            Whose memories.
        state_dir (`str | Path | None`):
            The folder that remembers what was recorded; `.state` of the vector memory's or the notes' if left out.
        events (`EventBus`):
            Told what comes of it.

    Raises:
        `ConfigError`: there is neither, or a vector memory without an owner.
    """
    home = notes if reme is None else reme
    if home is None:
        raise ConfigError("There is nothing to remember in: give a ReMe, or the notes of a ReMeLight, or both.")
    if reme is not None and not owners:
        raise ConfigError("Nobody is named whose memories are meant: give user_name=, task_name= or tool_name=.")
    folder = getattr(getattr(home, "workspace", None), "state_dir", None) if state_dir is None else state_dir
    keepings: list[Keeping] = [NoteWriting(notes)] if notes is not None else []
    if reme is not None:
        keepings = [MemoryKeeping(reme, kind, name) for kind, name in owners.each()]
    return [RecordingDesk(keeping, _recorded_in(folder, keeping.key), events) for keeping in keepings]


def _recorded_in(folder: str | Path | None, key: str) -> RecordedIds:
    """What was recorded for an owner; known to this object only where there is no folder to put it in."""
    if folder is None:
        return RecordedIds(None)
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return RecordedIds.at(Path(folder).absolute() / "recorded" / f"{digest}.jsonl")
