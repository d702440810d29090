# -*- coding: utf-8 -*-
"""Vectors of memories and queries; while the model cannot be used, there are none, and search is by words."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._events import EventBus, EventKind
from ..embedding import BatchEmbedder, GuardedEmbedder, ModelRest
from ..search import CosineScale
from ..vector_store import VectorSpace

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Vectors"]

_QUERY_PATIENCE = 2.0
_TEXT_PATIENCE = 5.0  # from one answer to the next
logger = logging.getLogger("agentscope_reme")


class Vectors:
    """An embedding model that may fail or hang. Then it is left alone for a while (`ModelRest`).

    Args:
        embedder (`BatchEmbedder | None`): the model; None for none.
        events (`EventBus`): told when search falls back to words, and when it does not any more.
    """

    def __init__(self, embedder: BatchEmbedder | None, events: EventBus) -> None:
        self._events = events
        self._rest = ModelRest(self._degraded, self._recovered)
        self.embedder = embedder

    @property
    def embedder(self) -> BatchEmbedder | None:
        """The model; another one of the same model can be put in its place."""
        return self._guard.embedder if self._guard else None

    @embedder.setter
    def embedder(self, embedder: BatchEmbedder | None) -> None:
        self._guard = GuardedEmbedder(embedder, self._rest) if embedder else None

    @property
    def failure(self) -> str | None:
        """Why the model cannot be used at the moment; None where it can."""
        return self._rest.failure or None

    @property
    def space(self) -> VectorSpace | None:
        """The vectors that the model makes."""
        return VectorSpace(self.embedder.key, self.embedder.dimensions) if self.embedder else None

    @property
    def are_to_be_had(self) -> bool:
        """Whether there is a model that has not failed lately."""
        return self._guard is not None and not self._rest.is_on

    async def of_texts(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The vectors of texts that are stored; None for one that could not be embedded now."""
        return [None] * len(texts) if self._guard is None else await self._guard.of_texts(texts, _TEXT_PATIENCE)

    async def embedded(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The same, where a model that fails is an error, and however long it takes: what `VectorStore.reindex` calls.

        Raises:
            `EmbeddingError`: none of the texts could be embedded.
        """
        assert self._guard is not None
        done = await self._guard.embed(texts)
        self._rest.end()
        return done

    async def of_queries(self, texts: Sequence[str]) -> list[np.ndarray | None]:
        """The vectors of queries; None for one that there is none of, or where the model cannot be used now."""
        return [None] * len(texts) if self._guard is None else await self._guard.of_queries(texts, _QUERY_PATIENCE)

    async def floor(self) -> float | None:
        """The cosine of the model below which texts have nothing to do with each other; None while that cannot be
        measured."""
        if self._guard is None:
            return None
        if self._guard.floor is None:
            await self._guard.within(self._guard.settle_floor(), _QUERY_PATIENCE)
        return self._guard.floor

    async def scale(self) -> CosineScale | None:
        """What the model's cosines mean; None while that cannot be measured."""
        floor = await self.floor()
        return None if floor is None else CosineScale.above(floor)

    async def stop(self) -> None:
        """End what goes on in the background."""
        if self._guard is not None:
            await self._guard.stop()

    def _degraded(self, reason: str) -> None:
        logger.warning("Memories are searched by words alone until the embedding model works again: %s", reason)
        self._events.emit(EventKind.SEARCH_DEGRADED, error=reason)

    def _recovered(self) -> None:
        logger.info("The embedding model works again.")
        self._events.emit(EventKind.SEARCH_RECOVERED)
