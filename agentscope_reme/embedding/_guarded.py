# -*- coding: utf-8 -*-
"""Vectors for those who cannot wait: a model that fails, hangs or is slow costs them a bounded time, then none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .._errors import EmbeddingError
from ._batch_embedder import BatchEmbedder
from ._rest import ModelRest

if TYPE_CHECKING:
    import numpy as np

__all__ = ["GuardedEmbedder"]

T = TypeVar("T")

_MOMENT = 0.3  # seconds that are waited for a model that failed the last time
_NEARLY = 0.99  # timers may be early by a tick of the clock
_QUERIES = 256


class GuardedEmbedder:
    """Asks a model within a time, and not at all while it rests.

    What takes longer goes on in the background, and its vectors are there the next time. A model that has given no
    vector of anything in that time rests; one that failed before is given a moment only, so that nobody waits for
    finding out that it still fails.

    Args:
        embedder (`BatchEmbedder`): the model.
        rest (`ModelRest`): whether it may be asked.
    """

    def __init__(self, embedder: BatchEmbedder, rest: ModelRest) -> None:
        self.embedder, self.rest = embedder, rest
        self.floor: float | None = None
        """The model's `BatchEmbedder.floor`, once it is known."""
        self._queries: dict[str, np.ndarray] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._awaited: set[asyncio.Task[Any]] = set()  # those that somebody waits for

    def patience(self, seconds: float) -> float:
        """How long to wait for what a working model does in so many seconds."""
        return min(_MOMENT, seconds) if self.rest.failure else seconds

    async def of_queries(self, texts: Sequence[str], patience: float) -> list[np.ndarray | None]:
        """The vectors of queries, with the floor that they are judged by.

        Args:
            texts (`Sequence[str]`): The queries.
            patience (`float`): Seconds to wait at most.

        Returns:
            `list[np.ndarray | None]`: None for one that there is none of in that time.
        """
        missing = self.unknown(texts)
        if missing:
            await self.within(self._ask(missing), patience)
        found = [self._queries.get(text) if self.floor is not None else None for text in texts]
        while len(self._queries) > _QUERIES:
            del self._queries[next(iter(self._queries))]
        return found

    async def of_texts(self, texts: Sequence[str], patience: float) -> list[np.ndarray | None]:
        """The vectors of texts that are stored.

        Args:
            texts (`Sequence[str]`): Any number of them.
            patience (`float`): Seconds to wait from one answer of the model to the next.

        Returns:
            `list[np.ndarray | None]`: None for one that could not be embedded now.
        """
        found = await self.within(self.embed(texts), patience, for_each=True) if texts else None
        return [None] * len(texts) if found is None else found

    async def embed(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The same, however long it takes, whether or not the model rests.

        Raises:
            `EmbeddingError`: none of the texts could be embedded.
        """
        done = await self.embedder.embed(texts)
        return [vector if there else None for vector, there in zip(done.vectors, done.mask, strict=True)]

    async def settle_floor(self) -> float:
        """The floor, however long it takes.

        Raises:
            `EmbeddingError`: the model cannot be asked.
        """
        if self.floor is None:
            self.floor = await self.embedder.floor()
        return self.floor

    def unknown(self, texts: Sequence[str]) -> list[str]:
        """Queries whose vectors are not known, each once."""
        return [text for text in dict.fromkeys(texts) if text not in self._queries]

    def keep(self, texts: Sequence[str], vectors: Sequence[np.ndarray | None]) -> None:
        """Remember the vectors of queries."""
        self._queries |= {text: vector for text, vector in zip(texts, vectors, strict=True) if vector is not None}

    async def within(self, work: Coroutine[Any, Any, T], patience: float, *, for_each: bool = False) -> T | None:
        """What comes of some work with the model; None where it rests, fails, or takes longer.

        Args:
            work (`Coroutine`): What is done; it goes on in the background where it takes longer.
            patience (`float`): Seconds to wait.
            for_each (`bool`): Whether the time begins anew with each answer of the model.
        """
        if self.rest.is_on or (self.rest.failure and self._is_asked):
            work.close()
            return None
        await self.embedder.prepare()
        loop = asyncio.get_running_loop()
        released: asyncio.Future[None] = loop.create_future()
        task = loop.create_task(self._judged(work, patience, for_each, released))
        for open_ones in (self._tasks, self._awaited):
            open_ones.add(task)
            task.add_done_callback(open_ones.discard)
        released.add_done_callback(lambda _: self._awaited.discard(task))
        wait = _MOMENT if self.rest.failure else None
        either: list[asyncio.Future[Any]] = [task, released]
        await asyncio.wait(either, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() and not task.cancelled() else None

    async def stop(self) -> None:
        """End what goes on in the background."""
        here = [task for task in self._tasks if task.get_loop() is asyncio.get_running_loop()]
        self._tasks.clear()
        for task in here:
            task.cancel()
        await asyncio.gather(*here, return_exceptions=True)

    # ------------------------------------------------------------------ inside

    @property
    def _is_asked(self) -> bool:
        """Whether somebody in this event loop waits for an answer that may still come in time."""
        return any(task.get_loop() is asyncio.get_running_loop() for task in self._awaited)

    async def _ask(self, texts: Sequence[str]) -> None:
        await self.settle_floor()
        self.keep(texts, await self.embed(texts))

    async def _judged(
        self, work: Coroutine[Any, Any, T], patience: float, for_each: bool, released: asyncio.Future[None]
    ) -> T | None:
        """Do some work, tell from it how the model is, and release who waits for it in time."""
        started = time.monotonic()
        call = asyncio.get_running_loop().create_task(work)
        is_late = False
        try:
            while not is_late and not (await asyncio.wait({call}, timeout=patience))[0]:
                idle = time.monotonic() - max(started, self.embedder.answered_at)
                if is_late := idle >= _NEARLY * patience:
                    self.rest.fail(EmbeddingError(f"The embedding model has not answered for {patience:.2g} seconds."))
                if (is_late or not for_each) and not released.done():
                    released.set_result(None)
            result = await call
        except EmbeddingError as error:
            if not is_late:  # a text may be to blame, not the model
                self.rest.fail(error, longer=getattr(error, "kind", "") != "refused")
            return None
        finally:
            call.cancel()
        if not is_late and self.embedder.answered_at >= started:
            self.rest.end()
        return result
