# -*- coding: utf-8 -*-
"""The methods of `ReMe` by which memories are kept over time: forgetting, having back, purging, feedback."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from agentscope.message import Msg

from ._errors import ConfigError, MemoryNotFound
from ._memory_arguments import (
    Names,
    count_of,
    flag_of,
    memories_of,
    one_owner,
    owner_or_none,
    owners,
    reason_of,
    step_of,
    text_of,
    texts_of,
)
from .record import MemoryNode
from .vector_memory import MemoryBank, MemoryRetriever, Owner
from .vector_store import Progress
from .workspace import Workspace

if TYPE_CHECKING:  # imported where a `ReMe` is made: who has none does not pay for it
    from .refine import Capture, Explanation, FeedbackBook, Forgetter, Purged, RefinerConfig, Swept

__all__ = ["Upkeep"]

Memories = str | MemoryNode | Sequence[str | MemoryNode]
"""A memory or several, each by its id or as it was found."""

_LOOKED_AT = 300


class Upkeep:
    """What `ReMe` does to memories besides adding, finding and changing them."""

    bank: MemoryBank
    retriever: MemoryRetriever
    workspace: Workspace
    forgetter: "Forgetter"
    """Lets memories go and has them back."""
    capture: "Capture"
    replies: "FeedbackBook"
    """Which memories replies were given."""

    def _set_up(self, config: "RefinerConfig | None") -> None:
        from .refine import ColdStorage, FeedbackBook, Forgetter, Purge

        cold = ColdStorage(self.workspace.root / "cold" / "memories.jsonl")
        self.forgetter = Forgetter(self.bank, config, cold=cold, retriever=self.retriever)
        self.replies = FeedbackBook(self.bank, self.workspace.state_dir / "replies.jsonl", config)
        self._cold = cold
        self._purge = Purge(self.bank, cold=cold, book=self.replies)

    @abstractmethod
    async def _ensure_started(self) -> None: ...

    # ------------------------------------------------------------------ forgetting

    async def preview_forget(
        self, query: str, user_name: Names = "", task_name: Names = "", tool_name: Names = "", *, limit: int = 20
    ) -> list[MemoryNode]:
        """What a request to forget would be about, for a person to confirm; nothing is changed.

        Args:
            query (`str`):
                The request as it was made ("忘掉我之前说的关于减肥的事"), or its subject.
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose memories, or about what; together at least one.
            limit (`int`):
                How many at most.

        Returns:
            `list[MemoryNode]`: first those that name the subject, then others that have to do with it. Hand those that
            are meant to `forget`.
        """
        named, count = owners(user_name, task_name, tool_name), count_of("limit", limit) or 20
        await self._ensure_started()
        return await self.forgetter.preview(text_of("query", query), named, limit=count)

    async def forget(
        self,
        memories: Memories,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        *,
        actor: str = "",
        cause: str = "",
    ) -> list[MemoryNode]:
        """Forget memories: they are not found any more, and `restore` has them back. `purge` is for good.

        Entries of a profile that say what they say, and no other memory does, are deleted.

        Args:
            memories (`str | MemoryNode | list`):
                Ids, or memories as they were found.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose they have to be; needed only for an id that several have.
            actor (`str`), cause (`str`):
                For the record: who forgets, and why.

        Returns:
            `list[MemoryNode]`: those that were not forgotten before.

        Raises:
            `MemoryNotFound`: an id that names none; nothing was forgotten.
            `AmbiguousMemoryId`: an id of several owners.
        """
        owner, given = owner_or_none(user_name, task_name, tool_name), memories_of("memories", memories, ids=True)
        reason = reason_of(actor, cause)
        await self._ensure_started()
        nodes = [each if isinstance(each, MemoryNode) else await self.bank.get(each, owner) for each in given]
        if owner is not None and (foreign := [node for node in nodes if node.owner != owner.key]):
            raise ConfigError(f"The memory {foreign[0].memory_id!r} is not of {owner.key!r}: name its owner.")
        return await self.forgetter.forget(nodes, **reason)

    async def restore(
        self,
        memory_id: str,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        *,
        actor: str = "",
        cause: str = "",
    ) -> MemoryNode:
        """Have a memory back that was forgotten, archived, superseded or moved to cold storage.

        Args:
            memory_id (`str`):
                The id.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it has to be; needed only where several have one of this id.
            actor (`str`), cause (`str`):
                For the record.

        Returns:
            `MemoryNode`: the memory as it was, but for its last use, which is now, and an end that is over, which is
            put off.

        Raises:
            `MemoryNotFound`: there is none, or it was deleted.
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        owner, reason = owner_or_none(user_name, task_name, tool_name), reason_of(actor, cause)
        await self._ensure_started()
        return await self.forgetter.restore(text_of("memory_id", memory_id), owner, **reason)

    async def sweep(
        self,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        *,
        progress: Progress | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> "Swept":
        """Let go what is over, and what is worth little and was not used for long: the first and the second become
        inactive, what is worth least moves to `cold/memories.jsonl`. To be called about once a week.

        Args:
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose memories; everybody's where nobody is named.
            progress (`Callable[[int, int], object] | None`):
                Told how many of how many memories were looked at.
            should_stop (`Callable[[], bool] | None`):
                Asked now and then; the next sweep goes on where this one stopped.
        """
        named = owners(user_name, task_name, tool_name) if user_name or task_name or tool_name else None
        step_of("progress", progress)
        step_of("should_stop", should_stop)
        await self._ensure_started()
        return await self.forgetter.sweep(named, progress=progress, should_stop=should_stop)

    # ------------------------------------------------------------------ for good

    async def purge(
        self,
        memory_id: str,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        *,
        conversations: bool = True,
        actor: str = "",
        cause: str = "",
    ) -> "Purged":
        """Remove a memory for good, with the local store to the last byte: with its versions, what was done to it, the
        conversation that it comes from, and what was refined from it, in the store, cold storage and caches.

        Notes and the archive of messages belong to the sessions: see `ReMeLight.purge_session`.

        Args:
            memory_id (`str`):
                The id.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it has to be; needed only where several have one of this id.
            conversations (`bool`):
                Whether the stored conversation that it comes from goes, too.
            actor (`str`), cause (`str`):
                For the record, on which stays that something was removed, not what.

        Returns:
            `Purged`: how much was removed of what.

        Raises:
            `MemoryNotFound`: there is none.
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        owner, reason = owner_or_none(user_name, task_name, tool_name), reason_of(actor, cause)
        text_of("memory_id", memory_id)
        flag_of("conversations", conversations)
        await self._ensure_started()
        return await self._purge.memory(memory_id, owner, conversations=conversations, **reason)

    async def purge_all(
        self,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        *,
        session_ids: Sequence[str] = (),
    ) -> "Purged":
        """Remove for good all that is kept of some users, tasks or tools, with the local store to the last byte:
        memories, versions, conversations, profiles, records, cold storage, feedback, cached vectors. What was heard of
        them (`add_interaction`) is not heard again, when a session that holds it goes on.

        Sessions of their own are purged by `MemoryManager.purge_user`, which calls this.

        Args:
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Of whom; together at least one.
            session_ids (`Sequence[str]`):
                Sessions of which the records of tool calls go too, whatever tools they are of.

        Returns:
            `Purged`: how much was removed of what.
        """
        named = owners(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self._purge.owners(named, texts_of("session_ids", session_ids))

    # ------------------------------------------------------------------ feedback

    async def note_reply(self, reply: str | Msg, memories: Iterable[MemoryNode]) -> None:
        """Remember which memories a reply was given, for `feedback`. A `MemoryManager` and a `ReMeLongTermMemory` do
        this for the replies of their agents.

        Args:
            reply (`str | Msg`):
                The reply, or the id of its message.
            memories (`Iterable[MemoryNode]`):
                As they were found.
        """
        reply_id, given = _reply_id(reply), memories_of("memories", memories, ids=False)
        await self._ensure_started()
        await self.replies.note(reply_id, given)

    async def feedback(self, reply: str | Msg, verdict: int, *, actor: str = "", cause: str = "") -> list[MemoryNode]:
        """Judge a reply: the memories that it was given become a little more important, or less.

        The same verdict twice counts once, another one takes the first back, and all together stay within bounds.

        Args:
            reply (`str | Msg`):
                The reply, or the id of its message.
            verdict (`int`):
                1 for a good reply, -1 for a bad one.
            actor (`str`), cause (`str`):
                For the record: who judges, and why.

        Returns:
            `list[MemoryNode]`: the memories that changed; none where the reply was given none, or is one of long ago.

        Raises:
            `ConfigError`: another verdict.
        """
        reply_id, reason = _reply_id(reply), reason_of(actor, cause)
        await self._ensure_started()
        return await self.replies.give(reply_id, verdict, **reason)

    # ------------------------------------------------------------------ explanations

    async def explain(
        self, query: str, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> "Explanation":
        """Why a memory is found for a query, and in which place, or why it is not.

        Args:
            query (`str`):
                What is looked for.
            memory_id (`str`):
                The memory.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it is: exactly one name.

        Returns:
            `Explanation`: the parts of its score; `str()` of it is for reading.

        Raises:
            `MemoryNotFound`: there is none.
        """
        from .refine import explained

        text_of("query", query, "say what is looked for")
        text_of("memory_id", memory_id)
        owner = one_owner(user_name, task_name, tool_name)
        await self._ensure_started()
        memory = await self.bank.get(memory_id, owner)
        found = await self.retriever.search(query, [owner], limit=_LOOKED_AT, include_inactive=True)
        return explained(memory, found, self.bank.clock())

    # ------------------------------------------------------------------ inside

    async def _dropped(self, memory_id: str, owner: Owner | None) -> bool:
        """Delete a memory where it lies besides the store; whether it was in cold storage comes back.

        Raises:
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        from .refine import memory_meant

        try:
            node, is_cold = await memory_meant(memory_id, owner, self.bank, self._cold)
        except MemoryNotFound:
            return False
        await self.replies.remove(memories=[(node.owner, memory_id), (node.owner, node.memory_id)])
        return bool(await self._cold.remove([node.key])) and is_cold

    async def _all_dropped(self, named: Sequence[Owner] | None) -> None:
        """Delete what belongs to owners where it lies besides the store; what was heard of them is not heard again."""
        if named is not None:
            await self.capture.heard.bury(named)
        await self._cold.remove(owners=named)
        await self.replies.remove(named)


def _reply_id(reply: str | Msg) -> str:
    found = reply.id if isinstance(reply, Msg) else text_of("reply", reply, "give the reply's message, or its id")
    if not found:
        raise ConfigError(f"reply is {reply!r}: give the reply's message, or its id.")
    return found
