# -*- coding: utf-8 -*-
"""Banks for tests: over any store that runs here, with an embedding of letters, and with clocks that can be set."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from agentscope.embedding import EmbeddingResponse

from agentscope_reme.embedding import BatchEmbedder
from agentscope_reme.record import MemoryNode
from agentscope_reme.testing import HashEmbedding
from agentscope_reme.vector_memory import MemoryBank, Owner
from agentscope_reme.vector_store import LocalVectorStore, VectorStore

sys.path.append(str(Path(__file__).parent.parent / "vector_store"))  # the stores that run here are listed there

ALICE, BOB = Owner("personal", "alice"), Owner("personal", "bob")
NOW = datetime(2026, 3, 2, 12, tzinfo=timezone.utc)

__all__ = ["ALICE", "BOB", "NOW", "Clock", "FailingEmbedding", "bank_of", "embedder", "local_bank", "note", "said"]


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, **time: float) -> None:
        """Later by a `timedelta`."""
        self.now += timedelta(**time)


class FailingEmbedding(HashEmbedding):
    """A model whose server can be down."""

    is_down = False

    async def __call__(self, text: Sequence[Any], **options: Any) -> EmbeddingResponse:
        if self.is_down:
            raise ConnectionError("the embedding server is down")
        return await super().__call__(text, **options)


def embedder(model: HashEmbedding | None = None) -> BatchEmbedder:
    """An embedder that does not wait before it gives up."""
    return BatchEmbedder(model or HashEmbedding(64), retries=0, backoff=0.0)


def bank_of(store: VectorStore, model: HashEmbedding | None = None, **options: Any) -> MemoryBank:
    """A bank over a store, not opened."""
    return MemoryBank(store, embedder(model), **options)


@asynccontextmanager
async def local_bank(folder: Path, model: HashEmbedding | None = None, **options: Any) -> Any:
    """An open bank over a file."""
    async with bank_of(LocalVectorStore(folder / "memories.db"), model, **options) as bank:
        yield bank


def note(content: str, target: str = "alice", **fields: Any) -> MemoryNode:
    """A memory of a person."""
    return MemoryNode(content, memory_target=target, **fields)


def said(nodes: Sequence[MemoryNode]) -> list[str]:
    """The contents of memories."""
    return [node.content for node in nodes]
