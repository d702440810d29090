# -*- coding: utf-8 -*-
"""Chunks and queries to vectors: in the background, once a text, and never in the way of search by words."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import EmbeddingError, SessionInUseError
from ..embedding import BatchEmbedder, GuardedEmbedder, ModelRest
from ..search import CosineScale
from ..storage import Database, OwnerLock
from ._shelves import Shelves
from ._vector_rows import Waiting, claim_vectors, packed_vectors, store_vectors, waiting_chunks
from ._vector_texts import SPLITTER, vector_texts

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Report", "VectorStore", "model_name"]

Report = Callable[[str, dict[str, Any]], None]

_MANY = 500  # parameters of a statement
_LATER = 600.0  # seconds before a text that was refused is tried again
_POLL = 0.1
logger = logging.getLogger("agentscope_reme")


def model_name(embedder: BatchEmbedder | None) -> str:
    """How the index remembers whose vectors it holds; "" where there are to be none."""
    return f"{embedder.key}/{embedder.dimensions} {SPLITTER}" if embedder is not None else ""


class VectorStore:
    """Gives chunks their vectors.

    A model that fails is left alone for a while (`ModelRest`); chunks then stay as they are
    and are searched by words. Of several processes one embeds, the others wait for what it stores.

    Args:
        database (`Database`): where chunks and vectors are.
        shelves (`Shelves`): told what is new.
        embedder (`BatchEmbedder`): the model.
        lock (`Path`): held by the process that embeds.
        report (`Report`): told when the model begins to fail and when it works again.
    """

    def __init__(
        self, database: Database, shelves: Shelves, embedder: BatchEmbedder, lock: Path, report: Report
    ) -> None:
        self.is_displaced = False
        """Whether somebody else has filled the index with another model's vectors."""
        self._database, self._shelves, self._report = database, shelves, report
        self._rest = ModelRest(self._degraded, self._recovered)
        self._guard = GuardedEmbedder(embedder, self._rest)
        self._lock = OwnerLock(lock)
        self._name = model_name(embedder)
        self._later: dict[int, float] = {}
        self._asked: dict[str, None] = {}
        self._has_scale = False
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ chunks

    def claim(self) -> None:
        """Make the vectors in the index those of this model; another model's are dropped. Blocking."""
        self._database.run_sync(claim_vectors, self._name)

    async def fill(self, patience: float | None = None) -> None:
        """Wait until every chunk has its vectors that can have them now.

        Args:
            patience (`float | None`): Seconds to wait at most; the work goes on in the background after that.
        """
        until = None if patience is None else time.monotonic() + patience
        while not self._rest.is_on and (rows := await self._waiting()):
            running = self._running()
            task = running or self._begin(rows)
            await asyncio.wait({task}, timeout=None if until is None else max(0.0, until - time.monotonic()))
            if not task.done() or task is not running:
                return  # one that ran before may have ended without these

    def _running(self) -> asyncio.Task[None] | None:
        task = self._task
        return task if task and not task.done() and task.get_loop() is asyncio.get_running_loop() else None

    def _begin(self, rows: list[Waiting]) -> asyncio.Task[None]:
        self._task = asyncio.get_running_loop().create_task(self._fill(rows))
        return self._task

    async def stop(self) -> None:
        """End the work in the background; what was embedded is kept."""
        task, self._task = self._task, None
        await self._guard.stop()
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @property
    def state(self) -> str:
        """ "on", or why there are no new vectors."""
        return "another model's vectors are in the index" if self.is_displaced else self._rest.failure or "on"

    async def _fill(self, rows: list[Waiting]) -> None:
        others_did = False
        try:
            while rows:
                if self._take_lock():
                    try:
                        await self._embed(rows)
                    finally:
                        self._lock.release()
                else:
                    others_did = True
                    await asyncio.sleep(_POLL)
                rows = await self._waiting()
        except EmbeddingError as error:
            self._rest.fail(error)
        except Exception as error:
            logger.exception("Vectors cannot be made; the notes are searched by words.")
            self._rest.fail(error)
        if others_did:
            await asyncio.to_thread(self._shelves.refresh)

    async def _waiting(self) -> list[Waiting]:
        """Some chunks that have no vectors, each text once."""
        now = time.monotonic()
        self._later = {twin: until for twin, until in self._later.items() if until > now}
        rows = await self._database.read(waiting_chunks, self._name, list(self._later)[-_MANY:])
        if rows is None:
            if not self.is_displaced:
                logger.warning(
                    "The index has the vectors of another model by now; new notes get none of %s.", self._name
                )
            self.is_displaced = True
            return []
        return list({row.twin: row for row in rows}.values())

    def _take_lock(self) -> bool:
        try:
            self._lock.acquire("the embedding of the notes")
        except SessionInUseError:
            return False
        return True

    async def _embed(self, rows: Sequence[Waiting]) -> None:
        await self._guard.settle_floor()
        self._settle_scale()
        texts = await asyncio.to_thread(lambda: [vector_texts(row.kind, row.text) for row in rows])
        asked, count = list(self._asked), sum(map(len, texts))
        embedded = await self._guard.embedder.embed([*(text for part in texts for text in part), *asked])
        self._rest.end()
        there = zip(embedded.vectors[count:], embedded.mask[count:], strict=True)
        self._guard.keep(asked, [vector if is_there else None for vector, is_there in there])
        packed, missing = await asyncio.to_thread(
            packed_vectors, texts, embedded.vectors[:count], embedded.mask[:count]
        )
        done = [(row.twin, data, not gap) for row, data, gap in zip(rows, packed, missing, strict=True)]
        self._later |= {twin: time.monotonic() + _LATER for twin, _, whole in done if not whole}
        if await self._database.run(store_vectors, self._name, done):
            await asyncio.to_thread(self._shelves.refresh)

    # ------------------------------------------------------------------ queries

    async def of_queries(self, texts: Sequence[str], patience: float) -> list[np.ndarray | None]:
        """The vectors of queries, once the chunks have theirs, as far as there is time.

        Queries go with chunks that are waiting: one call for both costs less than two.

        Args:
            texts (`Sequence[str]`): The queries.
            patience (`float`): Seconds to wait at most, half of them for the chunks.

        Returns:
            `list[np.ndarray | None]`: None where there is none, or the model cannot be used now.
        """
        until = time.monotonic() + patience
        self._asked |= dict.fromkeys(self._guard.unknown(texts))
        await self.fill(self._guard.patience(patience / 2))
        self._asked = {text: None for text in self._asked if text not in texts}
        found = await self._guard.of_queries(texts, max(patience / 2, until - time.monotonic()))
        self._settle_scale()
        return found

    # ------------------------------------------------------------------ the model's state

    def _settle_scale(self) -> None:
        if not self._has_scale and self._guard.floor is not None:
            self._shelves.set_scale(CosineScale.above(self._guard.floor))
            self._has_scale = True

    def _degraded(self, reason: str) -> None:
        logger.warning("The notes are searched by words alone until the embedding model works again: %s", reason)
        self._report("degraded", {"reason": reason})

    def _recovered(self) -> None:
        logger.info("The embedding model works again.")
        self._report("recovered", {})
