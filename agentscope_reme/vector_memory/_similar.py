# -*- coding: utf-8 -*-
"""What an owner's memories have in common with texts: the ones most like them, and how near two texts are."""

from __future__ import annotations

from collections.abc import Sequence

from ..record import MemoryNode
from ._bank import MemoryBank
from ._claims import wording
from ._owner import Owner
from ._reconcile import Similarity
from ._retriever import MemoryRetriever

__all__ = ["SimilarMemories"]

_MOST_QUERIES = 24
_QUERY_CHARS = 600
_RELATED = 0.3
"""How far above the floor of its model the cosine of two texts lies that have to do with each other, as a share of what
is left up to 1. With the offline model, statements that replace one another are above it and other statements about one
person mostly below."""


class SimilarMemories:
    """Looks for what is known already; that is not counted as a use of those memories.

    Args:
        bank (`MemoryBank`):
            The memories.
    """

    def __init__(self, bank: MemoryBank) -> None:
        self._bank = bank
        self._retriever = MemoryRetriever(bank, importance_weight=0.0, recency_weight=0.0, similarity="max")

    async def like(self, owner: Owner, texts: Sequence[str], limit: int) -> list[MemoryNode]:
        """An owner's active memories that are most like some of the texts, the most like first; all of them where there
        are no more than `limit`.

        Args:
            owner (`Owner`): whose.
            texts (`Sequence[str]`): the texts; many are put together to a few queries.
            limit (`int`): how many memories at most.
        """
        everything = await self._bank.list([owner], limit=limit + 1)
        if len(everything) <= limit:
            return everything
        queries = _queries(texts)
        if not queries:
            return everything[:limit]
        return await self._retriever.retrieve(queries, [owner], limit=limit, record_access=False)

    async def compared(self, texts: Sequence[str]) -> tuple[Similarity, float]:
        """How near these texts are to each other, and how near they are at least if they have to do with each other.
        Without an embedding model, or while it fails, words are compared.

        Args:
            texts (`Sequence[str]`): the texts.
        """
        texts = list(dict.fromkeys(texts))
        found = await self._bank.vectors.of_texts(texts)
        vectors = {text: vector for text, vector in zip(texts, found, strict=True) if vector is not None}
        floor = await self._bank.vectors.floor() if len(vectors) == len(texts) else None
        if floor is None:
            return wording, 0.0

        def by_meaning(one: str, other: str) -> float:
            return float(vectors[one] @ vectors[other])

        return by_meaning, floor + (1 - floor) * _RELATED


def _queries(texts: Sequence[str]) -> list[str]:
    """The texts as a few queries of bounded length; of many, neighbours are put together."""
    said = [" ".join(text.split()) for text in texts if text.strip()]
    size = -(-len(said) // _MOST_QUERIES) or 1
    groups = [" ".join(said[at : at + size]) for at in range(0, len(said), size)]
    return [
        group if len(group) <= _QUERY_CHARS else f"{group[: _QUERY_CHARS // 2]} {group[-_QUERY_CHARS // 2 :]}"
        for group in groups
    ]
