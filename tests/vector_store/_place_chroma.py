# -*- coding: utf-8 -*-
"""Chroma in this process, under the contract of all stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from _store_world import Make, StoreCase

from agentscope_reme.vector_store import ChromaVectorStore


def chroma_is_missing() -> str:
    """Why Chroma cannot be tested here."""
    return "" if find_spec("chromadb") else "chromadb is not installed"


@asynccontextmanager
async def _embedded(folder: Path) -> AsyncIterator[Make]:
    yield lambda collection: ChromaVectorStore(collection, persist_directory=folder / "用户 记忆")


CASES = {"chroma": StoreCase(_embedded, missing=chroma_is_missing, examples=5, slow=True)}
