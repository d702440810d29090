# -*- coding: utf-8 -*-
"""Which memories each reply was given, and what a judgement of the reply does to their importance."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from .._errors import ConfigError
from .._loop_lock import LoopLock
from ..record import Condition, MemoryNode
from ..storage import JsonlFile, dump_line, parse_lines, short_lock, write_atomic
from ..vector_memory import MemoryBank, Owner
from ._config import RefinerConfig
from ._feedback import adjusted
from ._refined import FORGOTTEN, REFINED_INTO

__all__ = ["FeedbackBook"]

_MOST = 2_000
_EACH = 100


@dataclass(frozen=True)
class _Entry:
    """What a reply was given: memories by the key of their owner and their id, and how it was judged (0: not yet)."""

    memories: tuple[tuple[str, str], ...]
    verdict: int = 0


class FeedbackBook:
    """Remembers of the latest replies which memories they were given, also for other processes.

    Args:
        bank (`MemoryBank`): the memories.
        path (`Path | None`): the file; without one it is remembered as long as this object.
        config (`RefinerConfig | None`): how far a verdict reaches.
        most (`int`): how many replies are remembered.
    """

    def __init__(
        self, bank: MemoryBank, path: Path | None = None, config: RefinerConfig | None = None, *, most: int = _MOST
    ) -> None:
        self.config = config or RefinerConfig()
        self._bank, self._path, self._most = bank, path, most
        self._file = None if path is None else JsonlFile(path)
        self._entries: dict[str, _Entry] = {}
        self._written = 0
        self._judging = LoopLock()

    async def note(self, reply_id: str, memories: Iterable[MemoryNode]) -> None:
        """Remember what a reply was given, besides what is known of it.

        Args:
            reply_id (`str`): the id of the reply's message.
            memories (`Iterable[MemoryNode]`): as they were found.

        Raises:
            `StorageError`: the disk refused; this process knows it all the same.
        """
        given = dict.fromkeys((node.owner, node.memory_id) for node in memories)
        if given:
            known = self._entries.get(_text(reply_id), _Entry(()))
            every = dict.fromkeys((*known.memories, *given))
            await self._put(reply_id, replace(known, memories=tuple(every)[:_EACH]))

    async def give(self, reply_id: str, verdict: int, *, actor: str = "", cause: str = "") -> list[MemoryNode]:
        """Judge a reply: the importance of each memory that it was given moves a step (see `adjusted`).

        The same verdict twice counts once; another one takes the first back. For what a refined memory was made from,
        the refined memory is meant.

        Args:
            reply_id (`str`): the reply.
            verdict (`int`): 1 for a good reply, -1 for a bad one.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `list[MemoryNode]`: the memories that changed, as they are now; none where the reply was given none, or is
            not remembered any more.

        Raises:
            `ConfigError`: another verdict.
        """
        if verdict not in (1, -1) or isinstance(verdict, bool):
            raise ConfigError(f"The verdict is {verdict!r}: give 1 for a good reply, -1 for a bad one.")
        async with self._judging.lock():
            entry = await self._entry(_text(reply_id))
            if entry is None or entry.verdict == verdict:
                return []
            reason = cause or f"{verdict:+d} for the reply {reply_id}"
            nodes = await self._given(entry)
            changes = {node.key: self._judged(node, verdict, 2 if entry.verdict else 1) for node in nodes}
            changes = {key: each for key, each in changes.items() if each}
            if changes:
                await self._bank.patch(changes, action="feedback", actor=actor, cause=reason)
            await self._put(_text(reply_id), replace(entry, verdict=verdict))
            there = await self._bank.store.get(list(changes))
        return [there[key] for key in changes if key in there]

    async def remove(self, owners: Collection[Owner] | None = (), memories: Collection[tuple[str, str]] = ()) -> int:
        """Forget that replies were given memories of these owners (None: of everybody), or these memories; the file is
        written anew.

        Args:
            owners (`Collection[Owner] | None`): the owners.
            memories (`Collection[tuple[str, str]]`): owners' keys with memories' ids.

        Returns:
            `int`: how many replies that concerned.
        """
        owned = None if owners is None else {owner.key for owner in owners}
        return await anyio.to_thread.run_sync(self._remove, owned, set(memories))

    # ------------------------------------------------------------------ inside

    def _judged(self, node: MemoryNode, verdict: int, steps: int) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for _ in range(steps):
            changes |= adjusted(replace(node, **changes), verdict, self.config)
        return changes

    async def _given(self, entry: _Entry) -> list[MemoryNode]:
        """The memories as they are now, or what became of them."""
        ids: dict[str, list[str]] = {}
        for owner, memory_id in entry.memories:
            ids.setdefault(owner, []).append(memory_id)
        found: dict[str, MemoryNode] = {}
        for owner, mine in ids.items():
            for node in (await self._bank.get_many(mine, Owner.of_key(owner))).values():
                meant = await self._refined(node)
                found[meant.key] = meant
        return list(found.values())

    async def _refined(self, node: MemoryNode) -> MemoryNode:
        into = node.metadata.get(REFINED_INTO)
        if node.is_active or not into or node.metadata.get(FORGOTTEN):
            return node
        own = [Condition("owner", "equal", (node.owner,)), Condition("memory_id", "equal", (str(into),))]
        refined = [each for each in await self._bank.store.find(own) if each.is_active]
        return refined[0] if refined else node

    async def _entry(self, reply_id: str) -> _Entry | None:
        if self._file is not None:
            await anyio.to_thread.run_sync(self._read)
        return self._entries.get(reply_id)

    async def _put(self, reply_id: str, entry: _Entry) -> None:
        self._remember(reply_id, entry)
        if self._file is not None:
            await anyio.to_thread.run_sync(self._append, reply_id, entry)

    def _remember(self, reply_id: str, entry: _Entry) -> None:
        self._entries.pop(reply_id, None)
        self._entries[reply_id] = entry
        while len(self._entries) > self._most:
            del self._entries[next(iter(self._entries))]

    def _append(self, reply_id: str, entry: _Entry) -> None:
        assert self._file is not None
        assert self._path is not None
        with short_lock(_lock_of(self._path)):
            self._file.append([_line(reply_id, entry)])
            self._written += 1
            if self._written > self._most:
                self._read()
                write_atomic(self._path, b"".join(_line(*each) for each in self._entries.items()), durable=False)
                self._written = 0

    def _read(self) -> None:
        """Know what the file holds and no more: others may have written to it, and taken out of it."""
        assert self._file is not None
        self._entries = {}
        for held in parse_lines(self._file.read(), str(self._path)):
            if (entry := _parsed(held)) is not None:
                self._remember(str(held.get("reply")), entry)

    def _remove(self, owned: set[str] | None, those: set[tuple[str, str]]) -> int:
        if self._path is None or not self._path.exists():
            return self._drop(owned, those)
        with short_lock(_lock_of(self._path)):
            self._read()
            count = self._drop(owned, those)
            if count:
                write_atomic(self._path, b"".join(_line(*each) for each in self._entries.items()))
        return count

    def _drop(self, owned: set[str] | None, those: set[tuple[str, str]]) -> int:
        if owned is None:
            owned = {owner for entry in self._entries.values() for owner, _ in entry.memories}
        count = 0
        for reply_id, entry in list(self._entries.items()):
            left = tuple(each for each in entry.memories if each[0] not in owned and each not in those)
            if left != entry.memories:
                count += 1
                if left:
                    self._entries[reply_id] = replace(entry, memories=left)
                else:
                    del self._entries[reply_id]
        return count


def _text(reply_id: Any) -> str:
    if not isinstance(reply_id, str) or not reply_id:
        raise ConfigError(f"The reply is {reply_id!r}: give the id of its message.")
    return reply_id


def _line(reply_id: str, entry: _Entry) -> bytes:
    return dump_line({"reply": reply_id, "memories": [list(each) for each in entry.memories], "verdict": entry.verdict})


def _parsed(held: dict[str, Any]) -> _Entry | None:
    memories = held.get("memories")
    if not isinstance(memories, list) or not isinstance(held.get("reply"), str):
        return None
    given = tuple((str(each[0]), str(each[1])) for each in memories if isinstance(each, list) and len(each) == 2)
    return _Entry(given, held["verdict"] if held.get("verdict") in (1, -1) else 0)


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")
