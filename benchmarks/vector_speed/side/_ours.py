# -*- coding: utf-8 -*-
"""agentscope-reme as a side: its local vector store."""

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from _given import Given, Question

__all__ = ["Ours"]


class Ours:
    """One store."""

    def __init__(self, given: Given, place: Path) -> None:
        self._given, self._place = given, place
        self._store: Any = None

    @staticmethod
    def load() -> str:
        import faiss  # noqa: F401
        import rank_bm25  # noqa: F401

        from agentscope_reme import __version__
        from agentscope_reme.text import WordTokenizer
        from agentscope_reme.vector_store import LocalVectorStore  # noqa: F401

        WordTokenizer().tokens("词典")  # jieba's dictionary
        return __version__

    async def open(self) -> None:
        from agentscope_reme.vector_store import LocalVectorStore, VectorSpace

        self._store = LocalVectorStore(self._place / "memories.db")
        await self._store.open(VectorSpace("given", self._given.dimensions))

    async def close(self) -> None:
        await self._store.close()

    async def add(self, numbers: Sequence[int]) -> None:
        from agentscope_reme.record import MemoryNode

        given = self._given
        nodes = [
            MemoryNode(
                content=given.text(number),
                memory_target=given.user(number),
                time_created=datetime.fromtimestamp(given.time(number), timezone.utc),
                vector=given.vectors[number],
                metadata={"number": number},
            )
            for number in numbers
        ]
        await self._store.write(nodes)

    async def search(self, question: Question, user: str | None, top: int) -> list[int]:
        hits = await self._store.search(question.vector, top, self._of(user))
        return [hit.node.metadata["number"] for hit in hits]

    async def search_both(self, question: Question, user: str | None, top: int) -> None:
        from agentscope_reme.search import QueryView
        from agentscope_reme.text import WordTokenizer

        query = QueryView.of(question.text, WordTokenizer(), datetime.now(timezone.utc))
        conditions = self._of(user)
        await self._store.hybrid_search(query, top, vector=question.vector, conditions=conditions)

    async def list(self, user: str | None, limit: int | None) -> int:
        return len(await self._store.find(self._of(user), limit=limit))

    def _of(self, user: str | None) -> Sequence[Any]:
        from agentscope_reme.record import parse_filters

        return parse_filters({"owner": f"personal/{user}"} if user else None)
