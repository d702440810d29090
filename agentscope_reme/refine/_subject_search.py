# -*- coding: utf-8 -*-
"""Finds what a request to forget is about: the memories that name its subject, and others that have to do with it."""

from __future__ import annotations

from collections.abc import Sequence

from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank, MemoryRetriever, Owner, owned_by
from ._cold_storage import ColdStorage
from ._naming import mentions, names_something
from ._refined import REFINED_INTO, source_keys
from ._statements import BEHIND, STANDING, behind_active, statements_that

__all__ = ["SubjectSearch"]

_MOST = 500
_LEAST = 0.3
_CONDENSED = (Condition("is_active", "equal", (True,)), Condition("metadata.ended", "range", (0.0, None)))


class SubjectSearch:
    """Looks for subjects among what is recalled: what stands for itself, and the sources of condensed memories.

    Args:
        bank (`MemoryBank`): the memories.
        cold (`ColdStorage | None`): the cold file, where sources of condensed memories may be.
        retriever (`MemoryRetriever`): finds what has to do with a subject.
    """

    def __init__(self, bank: MemoryBank, cold: ColdStorage | None, retriever: MemoryRetriever) -> None:
        self._bank, self._cold, self._retriever = bank, cold, retriever

    async def naming(self, subject: str, owners: Sequence[Owner]) -> list[MemoryNode]:
        """The memories that name a subject, wherever they lie: of condensed ones the sources that do. A condensed
        memory none of whose sources names it stands for itself."""
        if not names_something(subject):
            return []

        def names_it(node: MemoryNode) -> bool:
            return mentions(subject, node)

        found = await statements_that(self._bank, owners, names_it)
        frozen = [each.node for each in (await self._cold.all(owners) if self._cold is not None else [])]
        frozen = [node for node in frozen if node.metadata.get(REFINED_INTO) and names_it(node)]
        found += await behind_active(self._bank, frozen)
        held = {node.key for node in found}
        async for page in self._bank.store.pages([*owned_by(owners), *_CONDENSED]):
            found += [node for node in page if held.isdisjoint(source_keys(node)) and names_it(node)]
        return found

    async def near(self, subject: str, owners: Sequence[Owner]) -> list[MemoryNode]:
        """The memories that have to do with a subject, the most relevant first; of condensed ones their sources."""
        found: list[MemoryNode] = []
        for kind in (STANDING, BEHIND):
            those = await self._retriever.retrieve(
                subject, owners, limit=_MOST, filters=list(kind), include_inactive=kind is BEHIND, record_access=False
            )
            found += await behind_active(self._bank, those) if kind is BEHIND else those
        return sorted((node for node in found if node.score >= _LEAST), key=lambda node: -node.score)
