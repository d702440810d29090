# -*- coding: utf-8 -*-
"""Cold storage: a JSONL file of memories that were let go, from which each can be had back."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio

from .._errors import ConfigError
from ..record import MemoryNode
from ..storage import JsonlFile, dump_line, parse_lines, short_lock, storage_error, write_atomic
from ..vector_memory import Owner

__all__ = ["ColdMemory", "ColdStorage"]

logger = logging.getLogger("agentscope_reme")


@dataclass(frozen=True)
class ColdMemory:
    """A memory in cold storage.

    Args:
        node (`MemoryNode`): the memory as it was, without its vector.
        time (`datetime`): when it was put there.
        cause (`str`): why.
    """

    node: MemoryNode
    time: datetime
    cause: str = ""


class ColdStorage:
    """A file of one memory a line, for its owner alone (mode 0600). Several processes may share it.

    It is read line by line, so that it may be of any length. A line that cannot be read is passed over, and stays.

    Args:
        path (`str | PathLike`): the file; it is made with the first memory.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self._file = JsonlFile(self.path)

    async def put(self, memories: Sequence[ColdMemory]) -> None:
        """Add memories; they are on the disk when this returns.

        Raises:
            `StorageError`: the disk refused.
        """
        if memories:
            await anyio.to_thread.run_sync(self._append, [_line(each) for each in memories])

    async def find(self, memory_id: str, owner: Owner | None = None) -> list[ColdMemory]:
        """The memories of an id, the last one of each owner."""
        wanted = memory_id.encode("utf-8", "surrogatepass")
        found = await self._those(lambda raw: wanted in raw, lambda each: each.node.memory_id == memory_id, owner)
        return list({each.node.key: each for each in found}.values())

    async def all(self, owners: Collection[Owner] | None = None) -> list[ColdMemory]:
        """All memories of these owners (None: of everybody) in the order in which they came; of equal ones the last."""
        keys = None if owners is None else {owner.key for owner in owners}
        found = await self._those(lambda raw: True, lambda each: keys is None or each.node.owner in keys)
        return list({each.node.key: each for each in found}.values())

    async def remove(self, keys: Collection[str] = (), owners: Collection[Owner] | None = ()) -> int:
        """Take memories out, by their keys and by their owners (None: of everybody); the file is written anew without
        them.

        Returns:
            `int`: how many lines there were of them.

        Raises:
            `StorageError`: the disk refused; the file is as it was.
        """
        owned = None if owners is None else {owner.key for owner in owners}
        if not keys and owned == set():
            return 0
        gone = set(keys)
        return await anyio.to_thread.run_sync(
            self._rewrite, lambda node: owned is None or node.owner in owned or node.key in gone
        )

    # ------------------------------------------------------------------ inside

    def _append(self, lines: list[bytes]) -> None:
        with self._locked():
            self._file.append(lines, durable=True)

    async def _those(
        self,
        may_be: Callable[[bytes], bool],
        wanted: Callable[[ColdMemory], bool],
        owner: Owner | None = None,
    ) -> list[ColdMemory]:
        def read() -> list[ColdMemory]:
            parsed = (_parsed(raw) for raw in self._lines() if may_be(raw))
            return [each for each in parsed if each is not None and wanted(each)]

        found = await anyio.to_thread.run_sync(read)
        return found if owner is None else [each for each in found if each.node.owner == owner.key]

    def _rewrite(self, goes: Callable[[MemoryNode], bool]) -> int:
        with self._locked():
            if not any(_goes(raw, goes) for raw in self._lines()):
                return 0
            gone = 0

            def kept() -> Iterator[bytes]:
                nonlocal gone
                for raw in self._lines():
                    if _goes(raw, goes):
                        gone += 1
                    else:
                        yield raw if raw.endswith(b"\n") else raw + b"\n"

            write_atomic(self.path, kept())
            return gone

    def _lines(self) -> Iterator[bytes]:
        try:
            with open(self.path, "rb") as file:
                yield from file
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error("read", self.path, error) from error

    def _locked(self) -> Any:
        return short_lock(self.path.with_name(f".{self.path.name}.lock"))


def _line(memory: ColdMemory) -> bytes:
    return dump_line({"time": memory.time.isoformat(), "cause": memory.cause, "memory": memory.node.to_dict()})


def _parsed(raw: bytes) -> ColdMemory | None:
    """What a line holds; None where it holds no memory."""
    held = next(parse_lines(raw, "cold storage"), None)
    if held is None:
        return None
    try:
        node = MemoryNode.from_dict(held["memory"])
        return ColdMemory(node, datetime.fromisoformat(held["time"]), str(held.get("cause", "")))
    except (KeyError, TypeError, ValueError, ConfigError) as error:
        logger.warning("A line of cold storage holds no memory and is passed over: %s", error)
        return None


def _goes(raw: bytes, goes: Callable[[MemoryNode], bool]) -> bool:
    memory = _parsed(raw)
    return memory is not None and goes(memory.node)
