# -*- coding: utf-8 -*-
"""Forgetting and remembering again: by a sweep, on request, and back from either."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from .._errors import ConfigError
from ..record import MemoryNode
from ..vector_memory import MemoryBank, MemoryRetriever, Owner, ProfileBook
from ._asked import Asked, InWaiting
from ._cold_storage import ColdStorage
from ._config import RefinerConfig
from ._dissolving import forgotten_fields, remembered_fields, taken_apart
from ._expiry import with_expiry
from ._lexicon import Lexicon, default_lexicon
from ._meant import memory_meant
from ._naming import is_withheld
from ._profile_entries import ProfileEntries
from ._refined import ARCHIVED, FORGOTTEN, archived, is_behind, is_refined, source_keys
from ._requests import asks_to_forget, asks_to_forget_all
from ._statements import condensed_from, statements_of
from ._subject_search import SubjectSearch
from ._sweeper import Progress, Sweeper, Swept, verdict_of

__all__ = ["Forgetter", "is_forgotten"]


class Forgetter:
    """Lets memories go, each step on record, and each to be undone by `restore`.

    What is let go becomes inactive and stays in the store; what is worth least moves to the cold file. No memory
    is deleted here: that is what `Purge` is for.

    The entries of a profile that say what is forgotten go with it, and are not had back: what is on record is that they
    went.

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
        self._search = SubjectSearch(bank, cold, retriever or MemoryRetriever(bank))
        self._lexicon = lexicon or default_lexicon()
        self._profiles = ProfileEntries(ProfileBook(bank), self._search, self._lexicon)
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
            sure |= {node.key: node for node in await self._search.naming(subject, owners)}
            near |= {node.key: node for node in await self._search.near(subject, owners)}
        ordered = [sure[key] for key in near if key in sure] + [sure[key] for key in sure if key not in near]
        return [*ordered, *(node for key, node in near.items() if key not in sure)][:limit]

    async def obey(
        self, text: str, owners: Sequence[Owner], *, actor: str = "user", waiting: InWaiting | None = None
    ) -> list[MemoryNode]:
        """Do at once what a message asks to be forgotten: the memories and the entries of a profile that name the
        subject go, and no others.

        What is of health or safety stays until somebody confirms it (`preview`, then `forget`), unless the message
        names just that ("忘掉我对花生过敏的事"). A message that means everything forgets nothing: `Purge.owners` and
        `delete_all` are for that. What was done and what was not is told as `EventKind.FORGET_ASKED`.

        Args:
            text (`str`): the message.
            owners (`Sequence[Owner]`): whose memories.
            actor (`str`): for the record.
            waiting (`InWaiting | None`): the messages that wait and are reached as well, to be told.

        Returns:
            `list[MemoryNode]`: what was forgotten; nothing where nothing is asked.
        """
        subjects = asks_to_forget(text, self._lexicon)
        everything = asks_to_forget_all(text, self._lexicon)
        if not subjects and not everything:
            return []
        named: dict[str, MemoryNode] = {}
        withheld: dict[str, MemoryNode] = {}
        for subject in subjects:
            for node in await self._search.naming(subject, owners):
                stays = is_withheld(node.content, subject, self._lexicon)
                (withheld if stays else named)[node.key] = node
        withheld = {key: node for key, node in withheld.items() if key not in named}
        deleted, kept = await self._profiles.forget_naming(subjects, owners, actor)
        deleted += await self._profiles.forget_said(list(named.values()), actor)
        gone = await self._let_go(list(named.values()), actor, text[:200], whole=False)
        asked = Asked(owners, gone, list(withheld.values()), deleted, kept, waiting or InWaiting(), everything)
        asked.tell(self._bank.events)
        return gone

    async def forget(self, nodes: Sequence[MemoryNode], *, actor: str = "", cause: str = "") -> list[MemoryNode]:
        """Forget memories: they become inactive, and the entries of a profile that say the same go.

        With a refined memory go its sources. A refined memory of which one source is forgotten goes too, and its other
        sources stand for themselves again.

        Args:
            nodes (`Sequence[MemoryNode]`): the memories, as `preview` lists them.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `list[MemoryNode]`: those that were not forgotten before.
        """
        await self._profiles.forget_said(nodes, actor, cause)  # first: a second call finds memories that are forgotten
        return await self._let_go(nodes, actor, cause, whole=True)

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

    async def _let_go(self, nodes: Sequence[MemoryNode], actor: str, cause: str, *, whole: bool) -> list[MemoryNode]:
        """Forget memories.

        Args:
            nodes (`Sequence[MemoryNode]`): the memories.
            actor (`str`), cause (`str`): for the record.
            whole (`bool`): with condensed memories go their sources; else these are only taken apart.
        """
        there = await self._bank.store.get([node.key for node in nodes])
        frozen = [node for node in nodes if node.key not in there and is_behind(node)]
        there |= {node.key: node for node in await statements_of(self._bank, frozen)}
        wanted = {key: node for key, node in there.items() if not is_forgotten(node)}
        if not wanted:
            return []
        now = self._bank.clock()
        refined, sources = await self._refined_of(wanted.values())
        forgotten = [key for key, node in wanted.items() if whole or not is_refined(node)]
        sources |= await self._thawed(refined, sources, forgotten, actor)
        changes = taken_apart(refined, sources, forgotten, "request", now)
        changes |= {key: forgotten_fields(node, "request", now) for key, node in wanted.items()}
        gone = {key: each for key, each in changes.items() if not each["is_active"]}
        again = {key: each for key, each in changes.items() if each["is_active"]}
        await self._bank.patch(gone, action="forgotten", actor=actor, cause=cause)
        if again:
            await self._bank.patch(again, action="restored", actor=actor, cause="what they were refined into is gone")
        return list(wanted.values())

    async def _thawed(
        self, refined: Sequence[MemoryNode], there: Mapping[str, MemoryNode], forgotten: Collection[str], actor: str
    ) -> dict[str, MemoryNode]:
        """Sources from cold storage, in the store again, of condensed memories that are taken apart."""
        keys = {key for node in refined if node.key not in forgotten for key in source_keys(node)} - there.keys()
        if self.cold is None or not keys:
            return {}
        owners = {Owner(node.memory_type, node.memory_target) for node in refined}
        frozen = [each.node for each in await self.cold.all(owners) if each.node.key in keys]
        back = await self._bank.add(frozen, actor=actor, cause="from cold storage")
        await self.cold.remove([node.key for node in back])
        return {node.key: node for node in back}

    async def _refined_of(self, nodes: Collection[MemoryNode]) -> tuple[list[MemoryNode], dict[str, MemoryNode]]:
        """The refined memories among these and those that were made from them, and the sources of all of them."""
        refined = {node.key: node for node in nodes if is_refined(node)}
        refined |= {node.key: node for node in await condensed_from(self._bank, nodes)}
        keys = [key for each in refined.values() for key in source_keys(each)]
        return list(refined.values()), await self._bank.store.get(list(dict.fromkeys(keys)))

    def _restored(self, node: MemoryNode, now: datetime) -> dict[str, Any]:
        """What restoring changes: nothing in a memory that is there to stay."""
        changes: dict[str, Any] = {}
        if not node.is_active:
            changes = remembered_fields(node)
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


def _forgiven(sources: Mapping[str, MemoryNode]) -> dict[str, MemoryNode]:
    """Sources without the marks that forgetting left on them."""
    marks = (FORGOTTEN, "forgotten_at", "forgotten_from", ARCHIVED)
    return {
        key: replace(node, metadata={name: value for name, value in node.metadata.items() if name not in marks})
        for key, node in sources.items()
    }
