# -*- coding: utf-8 -*-
"""Chunks and queries to vectors: in the background, once a text, and never in the way of search by words."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._errors import EmbeddingError, SessionInUseError
from ..embedding import BatchEmbedder
from ..search import CosineScale
from ..storage import Database, OwnerLock
from ._schema import fact, next_version, set_fact
from ._shelves import Shelves
from ._vector_texts import SPLITTER, vector_texts

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Report", "VectorStore", "model_name"]

Report = Callable[[str, dict[str, Any]], None]

_BATCH = 64  # chunks
_MANY = 500  # parameters of a statement
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 300.0
_LATER = 600.0  # seconds before a text that was refused is tried again
_POLL = 0.1
_QUERIES = 256
_QUERY_TIMEOUT = 10.0
logger = logging.getLogger("agentscope_reme")


class _Waiting(NamedTuple):
    """A chunk that has no vectors yet."""

    kind: str
    twin: int
    text: str


def model_name(embedder: BatchEmbedder | None) -> str:
    """How the index remembers whose vectors it holds; "" where there are to be none."""
    return f"{embedder.key}/{embedder.dimensions} {SPLITTER}" if embedder is not None else ""


class VectorStore:
    """Gives chunks their vectors.

    A model that fails is left alone for a while that doubles from 2 seconds to 5 minutes; chunks then stay as they are
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
        self.failure = ""
        """Why the model cannot be used at the moment; "" where it can."""
        self.is_displaced = False
        """Whether somebody else has filled the index with another model's vectors."""
        self._database, self._shelves, self._embedder, self._report = database, shelves, embedder, report
        self._lock = OwnerLock(lock)
        self._name = model_name(embedder)
        self._pause, self._until = _FIRST_PAUSE, 0.0
        self._later: dict[int, float] = {}
        self._queries: dict[str, np.ndarray] = {}
        self._has_scale = False
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ chunks

    def claim(self) -> None:
        """Make the vectors in the index those of this model; another model's are dropped. Blocking."""
        self._database.run_sync(_claim, self._name)

    async def fill(self, patience: float | None = None) -> None:
        """Wait until every chunk has its vectors that can have them now.

        Args:
            patience (`float | None`): Seconds to wait at most; the work goes on in the background after that.
        """
        until = None if patience is None else time.monotonic() + patience
        while not self.is_resting and await self._waiting():
            task = self._running()
            await asyncio.wait({task}, timeout=None if until is None else max(0.0, until - time.monotonic()))
            if not task.done():
                return

    def _running(self) -> asyncio.Task[None]:
        loop = asyncio.get_running_loop()
        if self._task is None or self._task.done() or self._task.get_loop() is not loop:
            self._task = loop.create_task(self._fill())
        return self._task

    async def stop(self) -> None:
        """End the work in the background; what was embedded is kept."""
        task, self._task = self._task, None
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @property
    def state(self) -> str:
        """ "on", or why there are no new vectors."""
        return "another model's vectors are in the index" if self.is_displaced else self.failure or "on"

    @property
    def is_resting(self) -> bool:
        """Whether the model has failed lately and is left alone."""
        return time.monotonic() < self._until

    async def _fill(self) -> None:
        try:
            while rows := await self._waiting():
                if not self._take_lock():
                    await asyncio.sleep(_POLL)
                    continue
                try:
                    await self._embed(rows)
                finally:
                    self._lock.release()
        except EmbeddingError as error:
            self._rest(error)
        except Exception as error:
            logger.exception("Vectors cannot be made; the notes are searched by words.")
            self._rest(error)
        await asyncio.to_thread(self._shelves.refresh)

    async def _waiting(self) -> list[_Waiting]:
        """Some chunks that have no vectors, each text once."""
        now = time.monotonic()
        self._later = {twin: until for twin, until in self._later.items() if until > now}
        rows = await self._database.read(_waiting, self._name, list(self._later)[-_MANY:])
        if rows is None:
            if not self.is_displaced:
                logger.warning(
                    "The index has the vectors of another model by now; new notes get none of %s.", self._name
                )
            self.is_displaced = True
            return []
        return list({row.twin: row for row in map(_Waiting._make, rows)}.values())

    def _take_lock(self) -> bool:
        try:
            self._lock.acquire("the embedding of the notes")
        except SessionInUseError:
            return False
        return True

    async def _embed(self, rows: Sequence[_Waiting]) -> None:
        await self._settle_scale()
        texts = await asyncio.to_thread(lambda: [vector_texts(row.kind, row.text) for row in rows])
        embedded = await self._embedder.embed([text for part in texts for text in part])
        self._recover()
        packed, missing = await asyncio.to_thread(_packed, texts, embedded.vectors, embedded.mask)
        done = [(row.twin, data, not gap) for row, data, gap in zip(rows, packed, missing, strict=True)]
        self._later |= {twin: time.monotonic() + _LATER for twin, _, whole in done if not whole}
        if await self._database.run(_store, self._name, done):
            await asyncio.to_thread(self._shelves.refresh)

    # ------------------------------------------------------------------ queries

    async def of_queries(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The vectors of queries; None where there is none, or the model cannot be used now."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._queries]
        if missing and not self.is_resting:
            try:
                await self._settle_scale()
                embedded = await asyncio.wait_for(self._embedder.embed(missing), _QUERY_TIMEOUT)
            except (EmbeddingError, asyncio.TimeoutError) as error:
                self._rest(error, longer=False)  # it may be this text that the model refuses
            else:
                self._recover()
                for text, vector, is_there in zip(missing, embedded.vectors, embedded.mask, strict=True):
                    if is_there:
                        self._queries[text] = vector
        found = [self._queries.get(text) for text in texts]
        while len(self._queries) > _QUERIES:
            del self._queries[next(iter(self._queries))]
        return found

    # ------------------------------------------------------------------ the model's state

    async def _settle_scale(self) -> None:
        if self._has_scale:
            return
        self._shelves.set_scale(CosineScale.above(await self._embedder.floor()))
        self._has_scale = True

    def _rest(self, error: Exception, *, longer: bool = True) -> None:
        reason = str(error) or type(error).__name__
        if not self.failure:
            logger.warning("The notes are searched by words alone until the embedding model works again: %s", reason)
            self._report("degraded", {"reason": reason})
        self.failure = reason
        self._until = time.monotonic() + self._pause
        if longer:
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)

    def _recover(self) -> None:
        if self.failure:
            logger.info("The embedding model works again.")
            self._report("recovered", {})
        self.failure, self._pause, self._until = "", _FIRST_PAUSE, 0.0


def _packed(texts: Sequence[Sequence[str]], vectors: np.ndarray, mask: np.ndarray) -> tuple[list[bytes], list[bool]]:
    """The vectors of each chunk in half precision, and whether some of them are missing."""
    import numpy as np

    half = vectors.astype("<f2")
    packed, missing, start = [], [], 0
    for part in texts:
        rows = np.arange(start, start + len(part))
        packed.append(half[rows[mask[rows]]].tobytes())
        missing.append(not bool(mask[rows].all()))
        start += len(part)
    return packed, missing


def _claim(connection: sqlite3.Connection, model: str) -> None:
    if fact(connection, "model") != model:
        set_fact(connection, "model", model)
        connection.execute("DELETE FROM vector")
        connection.execute("UPDATE chunk SET waiting = 1 WHERE kind <> 'tool'")
        next_version(connection)


def _waiting(connection: sqlite3.Connection, model: str, later: Sequence[int]) -> list[tuple] | None:
    """The newest chunks first; None where the vectors are another model's by now."""
    if fact(connection, "model") != model:
        return None
    marks = ",".join("?" * len(later))
    query = f"SELECT kind, twin, text FROM chunk WHERE waiting AND twin NOT IN ({marks}) ORDER BY id DESC LIMIT ?"
    return connection.execute(query, (*later, _BATCH)).fetchall()


def _store(connection: sqlite3.Connection, model: str, rows: Sequence[tuple[int, bytes, bool]]) -> bool:
    """Give every chunk with these texts its vectors, unless the model was changed meanwhile."""
    if fact(connection, "model") != model:
        return False
    version = next_version(connection)
    for twin, data, whole in rows:
        connection.execute(
            "INSERT OR REPLACE INTO vector SELECT id, ?, ? FROM chunk WHERE twin = ? AND waiting", (version, data, twin)
        )
        if whole:
            connection.execute("UPDATE chunk SET waiting = 0 WHERE twin = ? AND waiting", (twin,))
    return True
