# -*- coding: utf-8 -*-
"""New memories beside those that there are: near copies, contradictions and additions, settled on record."""

from __future__ import annotations

from collections.abc import Sequence

from .._loop_lock import LoopLock
from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank, MemoryRetriever, Owner
from ._config import RefinerConfig
from ._conflict import Neighbour, Resolution, resolve
from ._dissolving import taken_apart
from ._enriching import FIELDS, changed
from ._lexicon import Lexicon, default_lexicon
from ._refined import is_behind, is_refined, source_keys
from ._statements import INACTIVE, condensed_from, statements_of

__all__ = ["Settler"]

_LIKE = 12
_SAME_FRAME = 40


class Settler:
    """Stores new memories so that what is known stays consistent; see `resolve`.

    Args:
        bank (`MemoryBank`): the memories.
        config (`RefinerConfig`): thresholds, and the policy for contradictions.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
        retriever (`MemoryRetriever | None`): finds what a new memory is like.
    """

    def __init__(
        self,
        bank: MemoryBank,
        config: RefinerConfig,
        lexicon: Lexicon | None = None,
        retriever: MemoryRetriever | None = None,
    ) -> None:
        self._bank, self._config = bank, config
        self._lexicon = lexicon or default_lexicon()
        self._retriever = retriever or MemoryRetriever(bank, importance_weight=0.0, recency_weight=0.0)
        self._settling = LoopLock()

    async def settle(self, node: MemoryNode, *, actor: str = "", cause: str = "") -> MemoryNode:
        """Store one memory.

        Args:
            node (`MemoryNode`): the memory.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `MemoryNode`: the memory that there is now: the new one, or the one that says it already.
        """
        async with self._settling.lock():
            resolution = resolve(node, await self._neighbours(node), self._config, self._lexicon)
            return await self._done(resolution, actor, _because(cause, resolution.reason))

    async def _done(self, resolution: Resolution, actor: str, cause: str) -> MemoryNode:
        node, old = resolution.node, resolution.old
        if resolution.action == "add" or old is None:
            (added,) = await self._bank.add([node], actor=actor, cause=cause)
            return added
        if resolution.action == "known":
            gained = changed(old, node)
            if gained:
                await self._bank.patch({old.key: gained}, action="said again", actor=actor, cause=cause)
            return (await self._bank.store.get([old.key])).get(old.key, old)
        if resolution.action == "update":
            fields = {name: getattr(node, name) for name in (*FIELDS, "message_time", "author", "ref_memory_id")}
            owner = Owner(old.memory_type, old.memory_target)
            return await self._bank.update(
                old.memory_id, owner, content=node.content, actor=actor, cause=cause, **fields
            )
        await self._taken_apart(old, actor, cause)
        new = await self._bank.supersede(old, node, actor=actor, cause=cause)
        await self._taken_apart(old, actor, cause)  # a run may just have condensed it
        return new

    async def _taken_apart(self, source: MemoryNode, actor: str, cause: str) -> None:
        """Take the condensed memories of a source apart: it stands for itself, as the others do, until it is
        superseded. Each is one write, so that a crash loses nothing."""
        while refined := await condensed_from(self._bank, [source]):
            sources = await self._bank.store.get([key for node in refined for key in source_keys(node)])
            changes = taken_apart(refined, sources, (), "outdated", self._bank.clock())
            await self._bank.exchange([], changes, action="taken apart", actor=actor, cause=cause)

    async def _neighbours(self, node: MemoryNode) -> list[Neighbour]:
        """Memories of the owner that are like a new one, with the cosine where there are vectors: those that stand for
        themselves, and those behind condensed ones. Of what was condensed long ago, and is nowhere else in the store,
        the condensed memory.

        An owner with few memories is looked through whole: "我不吃川菜了" shares a word at most with what it overrides.
        """
        owner = Owner(node.memory_type, node.memory_target)
        behind = [each for each in await self._like(node, owner, [INACTIVE]) if is_behind(each)]
        found = [*await self._like(node, owner, ()), *await statements_of(self._bank, behind[:_SAME_FRAME])]
        there = await self._bank.store.get([node.key, *(each.key for each in found)], with_vectors=True)
        keys = {each.key: source_keys(each) for each in there.values() if is_refined(each)}
        held = await self._bank.store.get([key for mine in keys.values() for key in mine])
        count = [each for each in there.values() if held.keys().isdisjoint(keys.get(each.key, ()))]
        cosines = await self._cosines(node, count)
        return sorted(
            ((each, cosines.get(each.key)) for each in count),
            key=lambda pair: (not pair[0].is_active, -(pair[1] or 0.0)),
        )

    async def _like(self, node: MemoryNode, owner: Owner, kind: Sequence[Condition]) -> list[MemoryNode]:
        """All memories of an owner where they are few, else those that are like a new one."""
        few = await self._bank.list([owner], list(kind), limit=_SAME_FRAME + 1)
        if len(few) <= _SAME_FRAME:
            return few
        return await self._retriever.retrieve(
            node.content, [owner], limit=_LIKE, filters=list(kind), include_inactive=bool(kind), record_access=False
        )

    async def _cosines(self, node: MemoryNode, others: list[MemoryNode]) -> dict[str, float]:
        held = {each.key: each.vector for each in others if each.vector is not None}
        if not held:
            return {}
        (vector,) = await self._bank.vectors.of_texts([node.embedded_text])
        return {} if vector is None else {key: float(vector @ each) for key, each in held.items()}


def _because(cause: str, reason: str) -> str:
    return f"{cause}: {reason}" if cause and reason else cause or reason
