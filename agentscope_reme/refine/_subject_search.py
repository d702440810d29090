# -*- coding: utf-8 -*-
"""Finds what a request to forget is about: the memories that name its subject, and others that have to do with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from ..record import Condition, MemoryNode
from ..search import QueryView
from ..text import WordTokenizer
from ..vector_memory import MemoryBank, MemoryRetriever, Owner, owned_by
from ._cold_storage import ColdStorage
from ._naming import mentions, names_something, parts_of
from ._refined import is_behind, is_refined, source_keys
from ._statements import statements_of

__all__ = ["SubjectSearch"]

_MOST = 500
_LEAST = 0.3
_MORE = 8


class SubjectSearch:
    """Looks for subjects among what is recalled: what stands for itself, and the sources of condensed memories.

    Args:
        bank (`MemoryBank`): the memories.
        cold (`ColdStorage | None`): the cold file, where sources of condensed memories may be.
        retriever (`MemoryRetriever`): finds what has to do with a subject.
    """

    def __init__(self, bank: MemoryBank, cold: ColdStorage | None, retriever: MemoryRetriever) -> None:
        self._bank, self._cold, self._retriever = bank, cold, retriever
        self._tokenizer = WordTokenizer()

    async def naming(self, subject: str, owners: Sequence[Owner]) -> list[MemoryNode]:
        """The memories that name a subject, wherever they lie: of condensed ones the sources that do. A condensed
        memory none of whose sources names it stands for itself."""
        if not names_something(subject):
            return []
        named: list[MemoryNode] = []
        async for page in self._candidates(subject, owners):
            named += await asyncio.to_thread(_naming, subject, page)
        frozen = [each.node for each in (await self._cold.all(owners) if self._cold is not None else [])]
        named += _naming(subject, [node for node in frozen if is_behind(node)])
        found = await statements_of(self._bank, named)
        held = {node.key for node in found}
        found += [node for node in named if node.is_active and is_refined(node) and held.isdisjoint(source_keys(node))]
        return list({node.key: node for node in found}.values())

    async def near(self, subject: str, owners: Sequence[Owner]) -> list[MemoryNode]:
        """The memories that have to do with a subject, the most relevant first; of condensed ones their sources."""
        found = await self._retriever.retrieve(
            subject, owners, limit=_MOST, include_inactive=True, min_score=_LEAST, record_access=False
        )
        return await statements_of(self._bank, found)

    async def _candidates(self, subject: str, owners: Sequence[Owner]) -> AsyncIterator[Sequence[MemoryNode]]:
        """Memories in any state among which are all that name a subject."""
        store, owned = self._bank.store, owned_by(owners)
        parts, words = parts_of(subject)
        if parts or not words or not store.offers_keyword_search:
            contained = [Condition("content", "contains", (part,)) for part in parts]
            async for page in store.pages([*owned, *contained]):
                yield page
            return
        limit = _MOST
        while True:
            for word in words:  # one that is in few memories says enough
                view = QueryView.of(word, self._tokenizer, self._bank.clock())
                found = await store.keyword_search(view, limit, owned)
                if len(found) < limit:
                    yield found
                    return
            limit *= _MORE


def _naming(subject: str, nodes: Sequence[MemoryNode]) -> list[MemoryNode]:
    return [node for node in nodes if mentions(subject, node)]
