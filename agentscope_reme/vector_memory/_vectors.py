# -*- coding: utf-8 -*-
"""Vectors of memories and queries; while the model cannot be used, there are none, and search is by words."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .._errors import EmbeddingError
from .._events import EventBus, EventKind
from ..embedding import BatchEmbedder
from ..search import CosineScale
from ..vector_store import VectorSpace

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Vectors"]

_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 300.0
_QUERY_TIMEOUT = 10.0
_QUERIES = 256
logger = logging.getLogger("agentscope_reme")


class Vectors:
    """An embedding model that may fail. Then it is left alone for a while, from 2 seconds to 5 minutes.

    Args:
        embedder (`BatchEmbedder | None`): the model; None for none.
        events (`EventBus`): told when search falls back to words, and when it does not any more.
        monotonic (`Callable[[], float]`): seconds, for the pauses.
    """

    def __init__(
        self, embedder: BatchEmbedder | None, events: EventBus, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.embedder = embedder
        self.failure: str | None = None
        """Why the model cannot be used at the moment; None where it can."""
        self._events, self._monotonic = events, monotonic
        self._pause, self._until = _FIRST_PAUSE, 0.0
        self._scale: CosineScale | None = None
        self._queries: dict[str, np.ndarray] = {}

    @property
    def space(self) -> VectorSpace | None:
        """The vectors that the model makes."""
        return VectorSpace(self.embedder.key, self.embedder.dimensions) if self.embedder else None

    @property
    def are_to_be_had(self) -> bool:
        """Whether there is a model that has not failed lately."""
        return self.embedder is not None and self._monotonic() >= self._until

    async def of_texts(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The vectors of texts that are stored; None for one that could not be embedded now."""
        if self.embedder is None or not self.are_to_be_had or not texts:
            return [None] * len(texts)
        try:
            return await self.embedded(texts)
        except EmbeddingError as error:
            self._rest(error)
            return [None] * len(texts)

    async def embedded(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The same, where a model that fails is an error: what `VectorStore.reindex` calls.

        Raises:
            `EmbeddingError`: none of the texts could be embedded.
        """
        assert self.embedder is not None
        done = await self.embedder.embed(texts)
        self._recover()
        return [vector if there else None for vector, there in zip(done.vectors, done.mask, strict=True)]

    async def of_queries(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The vectors of queries; None for one that there is none of, or where the model cannot be used now."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._queries]
        if missing and self.are_to_be_had:
            try:
                vectors = await asyncio.wait_for(self.embedded(missing), _QUERY_TIMEOUT)
            except (EmbeddingError, asyncio.TimeoutError) as error:
                self._rest(error, longer=False)  # it may be this text that the model refuses
            else:
                self._queries |= {
                    text: vector for text, vector in zip(missing, vectors, strict=True) if vector is not None
                }
        found = [self._queries.get(text) for text in texts]
        while len(self._queries) > _QUERIES:
            del self._queries[next(iter(self._queries))]
        return found

    async def scale(self) -> CosineScale | None:
        """What the model's cosines mean; None while that cannot be measured."""
        if self._scale is None and self.embedder is not None and self.are_to_be_had:
            try:
                self._scale = CosineScale.above(await self.embedder.floor())
            except EmbeddingError as error:
                self._rest(error)
        return self._scale

    def _rest(self, error: Exception, *, longer: bool = True) -> None:
        reason = str(error) or type(error).__name__
        if self.failure is None:
            logger.warning("Memories are searched by words alone until the embedding model works again: %s", reason)
            self._events.emit(EventKind.SEARCH_DEGRADED, error=reason)
        self.failure = reason
        self._until = self._monotonic() + self._pause
        if longer:
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)

    def _recover(self) -> None:
        if self.failure is not None:
            logger.info("The embedding model works again.")
            self._events.emit(EventKind.SEARCH_RECOVERED)
        self.failure, self._pause, self._until = None, _FIRST_PAUSE, 0.0
