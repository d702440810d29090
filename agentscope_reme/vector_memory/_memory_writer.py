# -*- coding: utf-8 -*-
"""What was drawn from a conversation, brought together with what is known and stored."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentscope.message import Msg

from .._errors import MemoryNotFound
from ..record import NEUTRAL_IMPORTANCE, MemoryNode
from ._bank import MemoryBank
from ._conversations import Conversations
from ._extraction import in_thread
from ._keeping_rules import AS_DRAWN, KeepingRules
from ._owner import Owner
from ._owner_locks import OwnerLocks
from ._profile import ProfileBook
from ._proposal import Extraction, Proposal, Refusal
from ._reconcile import Change, Plan, reconcile
from ._shown import Shown
from ._similar import SimilarMemories

__all__ = ["MemoryWriter", "Written"]

logger = logging.getLogger("agentscope_reme")

_RIVALS = 6
"""Memories that each proposal is compared with, beside those that the model was shown."""
_CAUSE = "conversation"


@dataclass
class Written:
    """What was stored for one owner.

    Args:
        nodes (`list[MemoryNode]`): the memories that were added or changed.
        counts (`dict[str, int]`): how many were added, updated and superseded, and how many were known already.
        refusals (`list[Refusal]`): what was proposed and is not stored.
        profile (`dict[str, str]`): the entries of the profile that were set.
        calls (`int`): how often a model was asked.
    """

    nodes: list[MemoryNode] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"add": 0, "update": 0, "supersede": 0, "known": 0})
    refusals: list[Refusal] = field(default_factory=list)
    profile: dict[str, str] = field(default_factory=dict)
    calls: int = 0


class MemoryWriter:
    """Reconciles and stores.

    Args:
        bank (`MemoryBank`): the memories.
        similar (`SimilarMemories`): finds what is known already.
        profiles (`ProfileBook`): the profiles.
    """

    def __init__(self, bank: MemoryBank, similar: SimilarMemories, profiles: ProfileBook) -> None:
        self._bank, self._similar, self._profiles = bank, similar, profiles
        self._conversations = Conversations(bank)
        self._locks = OwnerLocks()

    async def write(
        self,
        owner: Owner,
        drawn: Extraction,
        shown: Shown,
        messages: Sequence[Msg],
        *,
        rules: KeepingRules = AS_DRAWN,
        actor: str = "",
    ) -> Written:
        """Store what was drawn.

        Args:
            owner (`Owner`): whose it is.
            drawn (`Extraction`): what was drawn.
            shown (`Shown`): what the model saw meanwhile.
            messages (`Sequence[Msg]`): what it was drawn from, kept where a memory refers to it.
            rules (`KeepingRules`): how it is kept.
            actor (`str`): who proposed it, for the record.
        """
        async with self._locks.of(owner):
            return await self._write(owner, drawn, shown, messages, rules, actor)

    async def _write(
        self, owner: Owner, drawn: Extraction, shown: Shown, messages: Sequence[Msg], rules: KeepingRules, actor: str
    ) -> Written:
        written = Written(refusals=list(drawn.refusals), calls=drawn.calls)
        plan = await self.plan(owner, drawn.proposals, shown, rules)
        written.refusals += plan.refusals
        written.counts["known"] = len(plan.known)
        if plan.changes:
            ref = await self._conversations.keep(messages, [owner])
            for change in plan.changes:
                node = await self._done(owner, change, ref, rules, actor)
                written.nodes.append(node)
                written.counts[change.action] += 1
        if drawn.profile:
            written.profile = await self._profile_set(owner, drawn.profile, actor)
        return written

    async def plan(
        self, owner: Owner, proposals: Sequence[Proposal], shown: Shown, rules: KeepingRules = AS_DRAWN
    ) -> Plan:
        """What becomes of proposals beside what the owner's memories are now."""
        if not proposals:
            return Plan()
        current = await self._current(owner, shown.memories)
        contents = [each.content for each in proposals]
        others = await self._similar.like(owner, contents, max(_RIVALS * len(contents), _RIVALS))
        texts = [*contents, *(node.content for node in (*current.values(), *others))]
        similarity, related = await self._similar.compared(texts)
        return await in_thread(
            lambda: reconcile(
                proposals, current, others, similarity=similarity, about=owner.target, related=related, rules=rules
            ),
        )

    async def _current(self, owner: Owner, shown: Mapping[str, MemoryNode]) -> dict[str, MemoryNode]:
        """The memories that were shown, as they are by now; those that are gone meanwhile are left out."""
        there = await self._bank.store.get([node.key for node in shown.values()])
        return {
            name: there[node.key]
            for name, node in shown.items()
            if node.key in there and there[node.key].is_active and node.owner == owner.key
        }

    async def _done(self, owner: Owner, change: Change, ref: str, rules: KeepingRules, actor: str) -> MemoryNode:
        new = change.proposal.node(owner, ref)
        if change.old is not None and change.action == "update":
            new = replace(new, category=new.category or change.old.category)
        new = rules.judged(new)
        if change.old is None:
            return (await self._bank.add([new], actor=actor, cause=_CAUSE))[0]
        try:
            if change.action == "supersede":
                new = rules.replacing(new, change.old)
                return await self._bank.supersede(change.old, new, actor=actor, cause=_CAUSE)
            return await self._updated(owner, change.old, new, actor)
        except MemoryNotFound:
            logger.info("A memory of %s was deleted while it was to be changed; the new one is added.", owner.key)
            return (await self._bank.add([new], actor=actor, cause=_CAUSE))[0]

    async def _updated(self, owner: Owner, old: MemoryNode, new: MemoryNode, actor: str) -> MemoryNode:
        fields: dict[str, Any] = {
            "ref_memory_id": new.ref_memory_id or old.ref_memory_id,
            "message_time": new.message_time or old.message_time,
            "author": new.author or old.author,
            "category": new.category,
            "entities": tuple(dict.fromkeys([*old.entities, *new.entities])),
            "tags": tuple(dict.fromkeys([*old.tags, *new.tags])),
            "metadata": _together(old.metadata, new.metadata),
            "expires_at": new.expires_at or old.expires_at,
        }
        if new.importance != NEUTRAL_IMPORTANCE:
            fields["importance"] = max(old.importance, new.importance)
        return await self._bank.update(
            old.memory_id,
            owner,
            content=new.content,
            when_to_use=new.when_to_use or None,
            actor=actor,
            cause=_CAUSE,
            **fields,
        )

    async def _profile_set(self, owner: Owner, entries: Mapping[str, str], actor: str) -> dict[str, str]:
        before = await self._profiles.read(owner.target)
        changed = {key: value for key, value in entries.items() if before.get(key) != value}
        if changed:
            await self._profiles.update(owner.target, changed, actor=actor, cause=_CAUSE)
        return changed


def _together(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a memory that is completed: lists grow, of other values the new one holds."""
    grown = {
        key: [*old[key], *(each for each in value if each not in old[key])]
        for key, value in new.items()
        if isinstance(value, list) and isinstance(old.get(key), list)
    }
    return {**old, **new, **grown}
