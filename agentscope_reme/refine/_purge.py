# -*- coding: utf-8 -*-
"""What is removed for good, everywhere it lies, and a count for each place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank, MemoryRetriever, Owner, ProfileBook, ToolRecords, owned_by
from ._cold_storage import ColdStorage
from ._cutting import said_in, without
from ._feedback_book import FeedbackBook
from ._heard import HeardMessages
from ._lexicon import default_lexicon
from ._meant import memory_meant
from ._profile_entries import ProfileEntries
from ._refined import FORGOTTEN, REFINED_INTO, SUPERSEDED_BY, is_refined, restored_fields, source_keys
from ._subject_search import SubjectSearch

__all__ = ["Purge", "Purged"]

_LEDGER = {
    "versions": "version",
    "conversations": "history",
    "profiles": "profile",
    "tool_calls": "tool_call",
    "records": "audit",
    "waiting": "heard",
}
_LINKS = (SUPERSEDED_BY, "supersedes", REFINED_INTO)
_PAGE = 500


@dataclass(frozen=True)
class Purged:
    """What was removed.

    Args:
        counts (`Mapping[str, int]`): by place, how much: ``memories``, ``versions``, ``conversations`` (messages),
            ``profiles``, ``tool_calls``, ``records``, ``waiting`` (messages that nothing was drawn from yet,
            or, where it is one memory that goes, those of which sentences went), ``cold``, ``replies``, ``vectors``.
        is_compact (`bool`): whether the store's files hold no byte of it any more; False where another process was
            reading them all the while (call `compact` of the store again then), and where they are the affair of a
            server or of another back end, which writes over what was deleted when it likes.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    is_compact: bool = True

    def __str__(self) -> str:
        told = ", ".join(f"{place} {count}" for place, count in self.counts.items() if count) or "nothing was there"
        return told if self.is_compact else f"{told}; deleted bytes may still be in the store's files"


class Purge:
    """Removes memories so that nothing of them is left in the store, in files beside it, and in caches.

    What a person exported, a server's backups, notes and the archive of messages are not reached from here.

    Args:
        bank (`MemoryBank`): the memories.
        cold (`ColdStorage | None`): the cold file.
        book (`FeedbackBook | None`): what replies were given.
    """

    def __init__(self, bank: MemoryBank, *, cold: ColdStorage | None = None, book: FeedbackBook | None = None) -> None:
        self._bank, self._cold, self._book = bank, cold, book
        search = SubjectSearch(bank, cold, MemoryRetriever(bank))
        self._profiles = ProfileEntries(ProfileBook(bank), search, default_lexicon())

    async def owners(self, owners: Sequence[Owner], sessions: Collection[str] = ()) -> Purged:
        """Remove everything that belongs to these owners. What was heard of them is not heard again.

        Args:
            owners (`Sequence[Owner]`): people, tasks or tools.
            sessions (`Collection[str]`): ids of sessions, of which the records of tool calls go too.

        Returns:
            `Purged`: what was removed.
        """
        counts: dict[str, int] = {}
        texts: set[str] = set()
        for place, kind in _LEDGER.items():
            counts[place] = await self._bank.ledger.count(
                [*owned_by(owners, "memory_target"), Condition("memory_type", "equal", (kind,))]
            )
        async for page in self._bank.store.pages(owned_by(owners)):
            texts |= _texts(page)
        versions = [*owned_by(owners, "memory_target"), Condition("memory_type", "equal", (_LEDGER["versions"],))]
        async for page in self._bank.ledger.pages(versions):
            held = [row.metadata["node"] for row in page if row.metadata.get("node")]
            texts |= _texts([MemoryNode.from_dict(each) for each in held])
        if self._cold is not None:
            texts |= _texts([each.node for each in await self._cold.all(owners)])
        counts["vectors"] = await self._forgotten(texts)  # first: what they were made of is not known afterwards
        if self._cold is not None:
            counts["cold"] = await self._cold.remove(owners=owners)
        if self._book is not None:
            counts["replies"] = await self._book.remove(owners)
        await HeardMessages(self._bank).bury(owners)
        counts = {"memories": await self._bank.delete_all(owners), **counts}
        counts["tool_calls"] += await ToolRecords(self._bank).remove(sessions)
        return Purged(counts, await self._bank.store.compact())

    async def memory(
        self,
        memory_id: str,
        owner: Owner | None = None,
        *,
        conversations: bool = True,
        actor: str = "",
        cause: str = "",
    ) -> Purged:
        """Remove a memory with its versions, what was done to it, the conversation that it comes from, the sentences in
        waiting messages and the entries of a profile that say it, what it was refined from and what was refined from
        it. Other sources of the latter stand for themselves again.

        Args:
            memory_id (`str`): the memory, which may be in cold storage.
            owner (`Owner | None`): whose it has to be; needed only where several have one of this id.
            conversations (`bool`): whether the conversations that it comes from go, too.
            actor (`str`), cause (`str`): for the record, on which stays that something was removed.

        Returns:
            `Purged`: what was removed.

        Raises:
            `MemoryNotFound`: there is none, here or in cold storage.
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        meant, _ = await memory_meant(memory_id, owner, self._bank, self._cold)
        nodes = {node.key: node for node in await self._with_relations(meant)}
        await self._released(nodes)
        every = list(nodes.values())
        erased = await self._bank.erase(every, conversations=conversations, actor=actor, cause=cause)
        await self._unlinked(erased.memory_ids, {Owner(node.memory_type, node.memory_target) for node in every})
        its = Owner(meant.memory_type, meant.memory_target)
        waiting = await self._cut(its, erased.contents)
        profiles = await self._profiles.erase_said(erased.contents, its, actor, cause)
        counts = {**erased.counts, "waiting": waiting, "profiles": profiles}
        if self._cold is not None:
            counts["cold"] = await self._cold.remove(nodes.keys())
        if self._book is not None:
            given = {(meant.owner, each) for each in (*erased.memory_ids, memory_id)}
            counts["replies"] = await self._book.remove(memories=given)
        counts["vectors"] = await self._forgotten(erased.texts)
        return Purged(counts, await self._bank.store.compact())

    # ------------------------------------------------------------------ inside

    async def _with_relations(self, node: MemoryNode) -> list[MemoryNode]:
        """A memory, what it was refined from, and what was refined from any of that, active, inactive or frozen."""
        owner = Owner(node.memory_type, node.memory_target)
        frozen = {each.node.key: each.node for each in (await self._cold.all([owner]) if self._cold else [])}
        found = {node.key: node}
        if is_refined(node):
            keys = source_keys(node)
            found |= {key: frozen[key] for key in keys if key in frozen}
            found |= await self._bank.store.get(keys)
        made = Condition("metadata.source_keys", "any_of", tuple(found))
        refined = [each for each in frozen.values() if not found.keys().isdisjoint(source_keys(each))]
        refined += await self._bank.store.find([*owned_by([owner]), made])
        return list({**found, **{each.key: each for each in refined}}.values())

    async def _released(self, nodes: Mapping[str, MemoryNode]) -> None:
        """Make sources stand for themselves again whose refined memory goes without them."""
        keys = [key for node in nodes.values() if node.is_active for key in source_keys(node) if key not in nodes]
        there = await self._bank.store.get(list(dict.fromkeys(keys)))
        changes = {
            key: restored_fields(node)
            for key, node in there.items()
            if not node.is_active and not node.metadata.get(FORGOTTEN)
        }
        if changes:
            await self._bank.patch(changes, action="restored", cause="what they were refined into is gone")

    async def _unlinked(self, ids: Collection[str], owners: Iterable[Owner]) -> None:
        """Take the ids, which are made from contents, out of what refers to them."""
        if not ids:
            return
        for owner in owners:
            for name in _LINKS:
                link = Condition(f"metadata.{name}", "any_of", tuple(ids))
                referring = await self._bank.store.find([*owned_by([owner]), link])
                if referring:
                    await self._bank.patch({node.key: {"metadata": _without(node, name, ids)} for node in referring})

    async def _cut(self, owner: Owner, contents: Iterable[str]) -> int:
        """Cut what says this out of messages that wait; of how many comes back."""
        heard, choice = HeardMessages(self._bank), said_in([MemoryNode(content) for content in contents])
        forms = [(each, without(each.message, choice)) for each in await heard.waiting(owner)]
        cuts = [(each, left) for each, left in forms if left is not each.message]
        if cuts:
            await heard.cut(owner, cuts)
        return len(cuts)

    async def _forgotten(self, texts: Collection[str]) -> int:
        """Delete cached vectors."""
        embedder = self._bank.embedder
        return await embedder.forget(list(texts)) if embedder is not None and texts else 0


def _texts(nodes: Iterable[MemoryNode]) -> set[str]:
    return {text for node in nodes for text in (node.embedded_text, node.content)}


def _without(node: MemoryNode, name: str, ids: Collection[str]) -> dict[str, object]:
    value = node.metadata.get(name)
    left = [each for each in value if each not in ids] if isinstance(value, (list, tuple)) else []
    rest = {key: each for key, each in node.metadata.items() if key != name}
    return {**rest, name: left} if left else rest
