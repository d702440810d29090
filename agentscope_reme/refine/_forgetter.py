# -*- coding: utf-8 -*-
"""Forgetting and remembering again: by a sweep, on request, and back from either."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from .._errors import ConfigError
from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank, MemoryRetriever, Owner
from ._cold_storage import ColdStorage
from ._config import RefinerConfig
from ._dissolving import forgotten_fields, remembered_fields, taken_apart
from ._expiry import with_expiry
from ._lexicon import Lexicon
from ._meant import memory_meant
from ._refined import ARCHIVED, FORGOTTEN, REFINED_INTO, archived, is_refined, source_keys
from ._requests import asks_to_forget
from ._sweeper import Progress, Sweeper, Swept, verdict_of
from ._words import words_of

__all__ = ["Forgetter", "is_forgotten", "mentions"]

_MOST = 500
_LEAST = 0.3
_SUPERSEDED_BY = "superseded_by"


class Forgetter:
    """Lets memories go, each step on record, and each to be undone by `restore`.

    What is let go becomes inactive and stays in the store; what is worth least moves to the cold file. Nothing is
    deleted here: that is what `Purge` is for.

    Args:
        bank (`MemoryBank`): the memories.
        config (`RefinerConfig | None`): thresholds and intervals.
        cold (`ColdStorage | None`): the cold file; without one, what would go there becomes inactive as well.
        retriever (`MemoryRetriever | None`): finds what a request to forget is about.
        lexicon (`Lexicon | None`): the words that ask to forget; those of the package by default.
    """

    def __init__(
        self,
        bank: MemoryBank,
        config: RefinerConfig | None = None,
        *,
        cold: ColdStorage | None = None,
        retriever: MemoryRetriever | None = None,
        lexicon: Lexicon | None = None,
    ) -> None:
        self.config = config or RefinerConfig()
        self.cold = cold
        self._bank = bank
        self._retriever = retriever or MemoryRetriever(bank)
        self._lexicon = lexicon
        self._sweeper = Sweeper(bank, self.config, cold)

    # ------------------------------------------------------------------ by time

    async def is_due(self, owner: Owner | None = None) -> bool:
        """Whether the last complete sweep is longer ago than `RefinerConfig.sweep_days`, or one was broken off."""
        return await self._sweeper.is_due(owner)

    async def sweep(
        self,
        owners: Sequence[Owner] | None = None,
        *,
        progress: Progress | None = None,
        should_stop: Callable[[], bool] | None = None,
        actor: str = "sweep",
    ) -> Swept:
        """Let go what is over, and what is worth little and was not used for long; sources that were refined longer ago
        than they are kept move to cold storage.

        Memories are read page by page. A sweep that was stopped, or whose process died, goes on where it was.

        Args:
            owners (`Sequence[Owner] | None`): whose memories; None for everybody's.
            progress (`Callable[[int, int], object] | None`): told after each page how many of how many were looked at.
            should_stop (`Callable[[], bool] | None`): asked after each page.
            actor (`str`): for the record.

        Returns:
            `Swept`: what was done now.
        """
        return await self._sweeper.sweep(owners, progress, should_stop or (lambda: False), actor)

    # ------------------------------------------------------------------ on request

    async def preview(self, query: str, owners: Sequence[Owner], *, limit: int = 20) -> list[MemoryNode]:
        """What a request to forget would be about, for a person to confirm; nothing is changed.

        Args:
            query (`str`): the request as it was made ("忘掉我之前说的关于减肥的事"), or its subject.
            owners (`Sequence[Owner]`): whose memories.
            limit (`int`): how many at most.

        Returns:
            `list[MemoryNode]`: first those that name the subject, then others that have to do with it.
        """
        if not isinstance(query, str) or not query.strip():
            raise ConfigError(f"The query is {query!r}: say what is to be forgotten.")
        sure: dict[str, MemoryNode] = {}
        near: dict[str, MemoryNode] = {}
        for subject in asks_to_forget(query, self._lexicon) or [query.strip()]:
            for node in await self._about(subject, owners):
                if mentions(subject, node):
                    sure.setdefault(node.key, node)
                elif node.score >= _LEAST:
                    near.setdefault(node.key, node)
        return [*sure.values(), *(node for key, node in near.items() if key not in sure)][:limit]

    async def obey(self, text: str, owners: Sequence[Owner], *, actor: str = "user") -> list[MemoryNode]:
        """Do at once what a message asks to be forgotten: the memories that name the subject go, and no others.

        Returns:
            `list[MemoryNode]`: what was forgotten; nothing where nothing is asked.
        """
        named: dict[str, MemoryNode] = {}
        for subject in asks_to_forget(text, self._lexicon):
            named |= {node.key: node for node in await self._about(subject, owners) if mentions(subject, node)}
        return await self.forget(list(named.values()), actor=actor, cause=text[:200])

    async def forget(self, nodes: Sequence[MemoryNode], *, actor: str = "", cause: str = "") -> list[MemoryNode]:
        """Forget memories: they become inactive.

        With a refined memory go its sources. A refined memory of which one source is forgotten goes too, and its other
        sources stand for themselves again.

        Args:
            nodes (`Sequence[MemoryNode]`): the memories, as `preview` lists them.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `list[MemoryNode]`: those that were not forgotten before.
        """
        there = await self._bank.store.get([node.key for node in nodes])
        wanted = {key: node for key, node in there.items() if not is_forgotten(node)}
        if not wanted:
            return []
        now = self._bank.clock()
        refined, sources = await self._refined_of(wanted.values())
        changes = taken_apart(refined, sources, wanted.keys(), "request", now)
        changes |= {key: forgotten_fields(node, "request", now) for key, node in wanted.items()}
        gone = {key: each for key, each in changes.items() if not each["is_active"]}
        again = {key: each for key, each in changes.items() if each["is_active"]}
        await self._bank.patch(gone, action="forgotten", actor=actor, cause=cause)
        if again:
            await self._bank.patch(again, action="restored", actor=actor, cause="what they were refined into is gone")
        return list(wanted.values())

    async def restore(
        self, memory_id: str, owner: Owner | None = None, *, actor: str = "", cause: str = ""
    ) -> MemoryNode:
        """Have a memory back that was forgotten, archived, superseded or moved to cold storage.

        It is as it was, but for its last use, which is now, and for an end that is over, which is put off. A refined
        memory stands for its sources again.

        Args:
            memory_id (`str`): the memory.
            owner (`Owner | None`): whose it has to be; needed only where several have one of this id.
            actor (`str`), cause (`str`): for the record.

        Raises:
            `MemoryNotFound`: there is none, or it was deleted.
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        node, is_cold = await memory_meant(memory_id, owner, self._bank, self.cold)
        if is_cold:
            [node] = await self._bank.add([node], actor=actor, cause="from cold storage")
            await self.cold.remove([node.key])  # type: ignore[union-attr]
        now = self._bank.clock()
        changes = {node.key: self._restored(node, now)}
        if not node.is_active and is_refined(node):
            _, sources = await self._refined_of([node])
            changes |= {key: archived(source, node.memory_id, now) for key, source in _forgiven(sources).items()}
        changes = {key: each for key, each in changes.items() if each}
        if changes:
            await self._bank.patch(changes, action="restored", actor=actor, cause=cause)
        return (await self._bank.store.get([node.key]))[node.key]

    # ------------------------------------------------------------------ inside

    async def _about(self, subject: str, owners: Sequence[Owner]) -> list[MemoryNode]:
        return await self._retriever.retrieve(subject, owners, limit=_MOST, record_access=False)

    async def _refined_of(self, nodes: Collection[MemoryNode]) -> tuple[list[MemoryNode], dict[str, MemoryNode]]:
        """The refined memories among these and those that were made from them, and the sources of all of them."""
        refined = {node.key: node for node in nodes if is_refined(node)}
        for node in nodes:
            if into := node.metadata.get(REFINED_INTO):
                own = [Condition("owner", "equal", (node.owner,)), Condition("memory_id", "equal", (str(into),))]
                refined |= {each.key: each for each in await self._bank.store.find(own) if each.is_active}
        keys = [key for each in refined.values() for key in source_keys(each)]
        return list(refined.values()), await self._bank.store.get(list(dict.fromkeys(keys)))

    def _restored(self, node: MemoryNode, now: datetime) -> dict[str, Any]:
        """What restoring changes: nothing in a memory that is there to stay."""
        changes: dict[str, Any] = {}
        if not node.is_active:
            changes = remembered_fields(node)
            changes["metadata"].pop(_SUPERSEDED_BY, None)
        fate = verdict_of(node, now, self.config).fate
        if fate == "expire":
            changes["expires_at"] = self._new_end(node, now)
        if changes or fate != "keep":
            changes["last_accessed"] = now
        return changes

    def _new_end(self, node: MemoryNode, now: datetime) -> datetime | None:
        """None; for a memory that its category would end at once, as long from now on as that gives it."""
        if with_expiry(replace(node, expires_at=None), self.config).expires_at is None:
            return None
        days = {**self.config.undated_expiry_days, **self.config.expiry_days}[node.category]
        return now + timedelta(days=max(1.0, days))


def is_forgotten(node: MemoryNode) -> bool:
    """Whether a memory was let go, on request or by a sweep; not what was superseded or refined."""
    return not node.is_active and bool(node.metadata.get(FORGOTTEN))


def mentions(subject: str, node: MemoryNode) -> bool:
    """Whether a memory names a subject: holds it as it is written, or each of its content words."""
    if subject.strip().casefold() in node.searched_text.casefold():
        return True
    words = words_of(subject)
    return bool(words) and words <= words_of(node.searched_text)


def _forgiven(sources: Mapping[str, MemoryNode]) -> dict[str, MemoryNode]:
    """Sources without the marks that forgetting left on them."""
    marks = (FORGOTTEN, "forgotten_at", "forgotten_from", ARCHIVED)
    return {
        key: replace(node, metadata={name: value for name, value in node.metadata.items() if name not in marks})
        for key, node in sources.items()
    }
