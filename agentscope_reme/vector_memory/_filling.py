# -*- coding: utf-8 -*-
"""Memories that were stored without vectors get them when the model works again, also after a restart."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._errors import ReMeError
from ..record import Condition, MemoryNode
from ..vector_store import Progress, VectorStore
from ._vectors import Vectors

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Filling"]

_TYPE = "unembedded"
logger = logging.getLogger("agentscope_reme")


class Filling:
    """Remembers in the ledger that there are memories without vectors, and fills them in.

    Args:
        store (`VectorStore`): the memories.
        ledger (`VectorStore`): where it is remembered.
        vectors (`Vectors`): makes the vectors.
    """

    def __init__(self, store: VectorStore, ledger: VectorStore, vectors: Vectors) -> None:
        self._store, self._ledger, self._vectors = store, ledger, vectors
        self._is_noted = self._is_due = False
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Look whether there is something to fill in from before."""
        self._is_noted = self._is_due = bool(await self._notes(1))

    async def note(self) -> None:
        """Memories are about to be stored without vectors. Called before they are, so that no crash hides them."""
        if not self._is_noted:
            await self._ledger.write([MemoryNode(uuid.uuid4().hex, _TYPE)])
        self._is_noted = self._is_due = True

    def start(self) -> None:
        """Fill in what is missing in the background, if something is and the model can be used."""
        if not self._is_due or self._store.space is None or not self._vectors.are_to_be_had:
            return
        loop = asyncio.get_running_loop()
        if self._task is None or self._task.done() or self._task.get_loop() is not loop:
            self._is_due = False
            self._task = loop.create_task(self._in_background())

    async def run(self, progress: Progress | None = None) -> int:
        """Embed every memory that has no vector of the model; the store is open with the model's space afterwards.

        Raises:
            `EmbeddingError`: the model cannot be used. What was embedded stays, and the next call goes on there.
        """
        space = self._vectors.space
        assert space is not None
        refused = 0

        async def embed(texts: Sequence[str]) -> list[np.ndarray | None]:
            nonlocal refused
            vectors = await self._vectors.embedded(texts)
            refused += sum(vector is None for vector in vectors)
            return vectors

        notes = await self._notes()
        self._is_noted = self._is_due = False
        try:
            embedded = await self._store.reindex(space, embed, progress)
        except BaseException:
            self._is_noted = self._is_due = True
            raise
        if refused:
            self._is_noted = True  # the next start tries again
        else:
            await self._ledger.write(delete=[note.key for note in notes])
        return embedded

    async def wait(self) -> None:
        """Until the work in the background is done."""
        if self._task is not None and self._task.get_loop() is asyncio.get_running_loop():
            await asyncio.gather(self._task, return_exceptions=True)

    async def close(self) -> None:
        """End the work in the background; what was embedded stays."""
        if self._task is not None and self._task.get_loop() is asyncio.get_running_loop():
            self._task.cancel()
        await self.wait()
        self._task = None

    async def _in_background(self) -> None:
        try:
            await self.run()
        except ReMeError as error:
            logger.warning("Some memories have no vectors yet and are found by words: %s", error)
        except Exception:
            logger.exception("Some memories have no vectors yet and are found by words.")

    async def _notes(self, limit: int | None = None) -> list[MemoryNode]:
        return await self._ledger.find([Condition("memory_type", "equal", (_TYPE,))], limit=limit)
