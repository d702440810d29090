# -*- coding: utf-8 -*-
"""The other sides' stores over the same memories and vectors. Each imports its package when it is loaded."""

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _given import Given, Question

__all__ = ["PEERS"]

_ALL = 10**6


class _Peer:
    """One store."""

    def __init__(self, given: Given, place: Path) -> None:
        self._given, self._place = given, place
        self._store: Any = None

    async def close(self) -> None:
        """Let go of it."""
        self._store = None


class Chroma(_Peer):
    """chromadb, embedded."""

    @staticmethod
    def load() -> str:
        import chromadb  # noqa: F401

        return importlib.metadata.version("chromadb")

    async def open(self) -> None:
        import chromadb

        client = chromadb.PersistentClient(str(self._place))
        self._store = client.get_or_create_collection("memories", metadata={"hnsw:space": "cosine"})

    async def add(self, numbers: Sequence[int]) -> None:
        given = self._given
        self._store.add(
            ids=[str(number) for number in numbers],
            embeddings=[given.vectors[number] for number in numbers],
            documents=[given.text(number) for number in numbers],
            metadatas=[{"user": given.user(number), "time": given.time(number)} for number in numbers],
        )

    async def search(self, question: Question, user: str | None, top: int) -> list[int]:
        only = {"user": user} if user else None
        found = self._store.query(query_embeddings=[question.vector], n_results=top, where=only)
        return [int(each) for each in found["ids"][0]]

    async def list(self, user: str | None, limit: int | None) -> int:
        only = {"user": user} if user else None
        return len(self._store.get(where=only, limit=limit)["ids"])


class Mem0(_Peer):
    """mem0's FAISS store."""

    @staticmethod
    def load() -> str:
        from mem0.vector_stores.faiss import FAISS  # noqa: F401

        return importlib.metadata.version("mem0ai")

    async def open(self) -> None:
        from mem0.vector_stores.faiss import FAISS

        place, dimensions = str(self._place / "faiss"), self._given.dimensions
        self._store = FAISS("memories", place, distance_strategy="cosine", embedding_model_dims=dimensions)

    async def add(self, numbers: Sequence[int]) -> None:
        given = self._given
        payloads = [{"data": given.text(n), "user_id": given.user(n), "time": given.time(n)} for n in numbers]
        self._store.insert([given.vectors[n] for n in numbers], payloads, [str(n) for n in numbers])

    async def search(self, question: Question, user: str | None, top: int) -> list[int]:
        only = {"user_id": user} if user else None
        found = self._store.search(question.text, [question.vector], top_k=top, filters=only)
        return [int(each.id) for each in found]

    async def list(self, user: str | None, limit: int | None) -> int:
        only = {"user_id": user} if user else None
        return len(self._store.list(filters=only, top_k=limit or _ALL)[0])


class ReMe(_Peer):
    """The local vector store of ReMe, with the question's vector in place of an embedding model."""

    @staticmethod
    def load() -> str:
        from loguru import logger
        from reme.core.vector_store import LocalVectorStore  # noqa: F401

        logger.remove()
        return importlib.metadata.version("reme-ai")

    async def open(self) -> None:
        from reme.core.vector_store import LocalVectorStore

        self._store = LocalVectorStore("memories", self._place, self)
        await self._store.start()

    async def start(self) -> None:
        """The embedding model's."""

    async def get_embedding(self, question: Question) -> Any:
        """The embedding model's."""
        return question.vector

    async def close(self) -> None:
        await self._store.close()

    async def add(self, numbers: Sequence[int]) -> None:
        from reme.core.schema import VectorNode

        given = self._given
        await self._store.insert(
            [
                VectorNode(
                    vector_id=str(number),
                    content=given.text(number),
                    vector=given.vectors[number].tolist(),
                    metadata={"user": given.user(number), "time": given.time(number)},
                )
                for number in numbers
            ]
        )

    async def search(self, question: Question, user: str | None, top: int) -> list[int]:
        only = {"user": user} if user else None
        return [int(node.vector_id) for node in await self._store.search(question, limit=top, filters=only)]

    async def list(self, user: str | None, limit: int | None) -> int:
        only = {"user": user} if user else None
        return len(await self._store.list(filters=only, limit=limit, sort_key="time"))


PEERS = {"chroma": Chroma, "mem0": Mem0, "reme": ReMe}
