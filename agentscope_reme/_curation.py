# -*- coding: utf-8 -*-
"""The methods of `ReMe` that need no model: memories added, listed, changed and deleted by hand, and profiles."""

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agentscope.message import Msg

from ._errors import AmbiguousMemoryId, ConfigError, MemoryNotFound
from ._memory_arguments import (
    Names,
    Time,
    count_of,
    field_values,
    flag_of,
    one_owner,
    owner_or_none,
    owners,
    text_of,
    texts_of,
)
from ._model_source import UNSET, Unset
from .record import MemoryNode
from .vector_memory import AuditRow, Conversations, Filters, MemoryBank, Owner, ProfileBook

__all__ = ["Curation"]

logger = logging.getLogger("agentscope_reme")

_FIELDS = frozenset(
    {
        *("when_to_use", "message_time", "ref_memory_id", "author", "score", "importance", "tags", "category"),
        *("entities", "expires_at", "is_active"),
    }
)


class Curation:
    """What can be done to memories by hand."""

    bank: MemoryBank
    profiles: ProfileBook
    conversations: Conversations

    @abstractmethod
    async def _ensure_started(self) -> None: ...

    @abstractmethod
    def _fitted(self, owner: Owner, fields: Mapping[str, Any], before: MemoryNode | None = None) -> dict[str, Any]: ...

    @abstractmethod
    async def _settled(self, node: MemoryNode) -> MemoryNode: ...

    @abstractmethod
    async def _dropped(self, memory_id: str, owner: Owner | None) -> bool: ...

    @abstractmethod
    async def _all_dropped(self, named: Sequence[Owner] | None) -> None: ...

    # ------------------------------------------------------------------ memories

    async def list_memory(
        self,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        filters: Filters = None,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        *,
        include_inactive: bool = False,
    ) -> list[MemoryNode]:
        """Memories in order.

        Args:
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Whose memories, or about what; together at least one.
            filters (`Mapping[str, Any] | None`):
                By field, what a memory must meet; see `agentscope_reme.record.parse_filters`.
            limit (`int | None`):
                How many at most; `None` for all.
            sort_key (`str`):
                The field that orders them; memories without a value come last.
            reverse (`bool`):
                The greatest, that is the newest, first.
            include_inactive (`bool`):
                Also what was superseded or forgotten.
        """
        named = owners(user_name, task_name, tool_name)
        count_of("limit", limit)
        text_of("sort_key", sort_key)
        flag_of("reverse", reverse)
        flag_of("include_inactive", include_inactive)
        await self._ensure_started()
        return await self.bank.list(
            named, filters, limit=limit, sort_key=sort_key, reverse=reverse, include_inactive=include_inactive
        )

    async def add_memory(
        self,
        memory_content: str,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        when_to_use: str = "",
        message_time: Time = None,
        ref_memory_id: str = "",
        author: str = "",
        score: float = 0.0,
        importance: float | None = None,
        tags: Sequence[str] = (),
        category: str | None = None,
        *,
        entities: Sequence[str] = (),
        expires_at: Time = None,
        settle: bool = False,
        **metadata: Any,
    ) -> MemoryNode:
        """Add a memory, literally. One that is there already stays as it is and comes back; what it contradicts stays
        beside it, unless it is to be settled.

        Args:
            memory_content (`str`):
                What is known.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose memory it is, or about what: exactly one name.
            when_to_use (`str`):
                The situation in which it is of use, as somebody would describe it; where given, meaning is taken from
                this.
            message_time (`str | float | datetime | None`):
                When it was said or happened.
            ref_memory_id (`str`):
                The conversation it comes from. What one conversation holds with author and time is ranked as its turns.
            author (`str`):
                Who said or wrote it.
            score (`float`):
                A number of your own that is kept with it.
            importance (`float | None`):
                0 to 1. Where it is left out, the rules judge what is known of a person: health and safety from 0.9,
                wishes that must hold, plans, preferences; 0.5 for anything else.
            tags (`Sequence[str]`), entities (`Sequence[str]`):
                Labels, and names in it.
            category (`str | None`):
                Such as `"fact"`, `"preference"`, `"plan"`, `"event"`.
            expires_at (`str | float | datetime | None`):
                When it stops being found.
            settle (`bool`):
                Bring it together with what is known, as what is heard is: a near copy completes the memory it copies,
                and what it contradicts is treated by `RefinerConfig.conflict_policy`.
            **metadata:
                Anything else, as JSON values.

        Raises:
            `ConfigError`: an empty content, no name or several, a value that cannot work, or a category or tag that the
                schema does not have, where one was declared.
        """
        fields = {
            "message_time": message_time,
            "score": score,
            "importance": importance,
            "tags": tags,
            "category": category,
            "entities": entities,
            "expires_at": expires_at,
            **metadata,
        }
        owner = one_owner(user_name, task_name, tool_name)
        flag_of("settle", settle)
        texts = {"when_to_use": when_to_use, "ref_memory_id": ref_memory_id, "author": author}
        node = self._node(memory_content, owner, **texts, **self._fitted(owner, self._fields(fields, {})))
        await self._ensure_started()
        if settle:
            return await self._settled(node)
        [added] = await self.bank.add([node])
        return added

    async def add_memories(
        self,
        memory_contents: Sequence[str],
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        **fields: Any,
    ) -> list[MemoryNode]:
        """Add several memories at once, which is faster.

        Args:
            memory_contents (`Sequence[str]`):
                What is known.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose memories they are, or about what: exactly one name.
            **fields:
                What else they have in common, as `add_memory` takes it.

        Returns:
            `list[MemoryNode]`: for each content, the memory that there now is.

        Raises:
            `ConfigError`: as `add_memory`; nothing was added.
        """
        owner = one_owner(user_name, task_name, tool_name)
        contents = texts_of("memory_contents", memory_contents)
        values = self._fitted(owner, self._fields(fields, {}))
        nodes = [self._node(content, owner, **values) for content in contents]
        await self._ensure_started()
        return await self.bank.add(nodes)

    async def get_memory(
        self, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> MemoryNode:
        """A memory by its id, or what an update made of it.

        Args:
            memory_id (`str`):
                The id.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it has to be; needed only where several have one of this id.

        Raises:
            `MemoryNotFound`: there is none, or it was deleted.
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self.bank.get(memory_id, owner)

    async def get_memories(
        self, memory_ids: Sequence[str], user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> dict[str, MemoryNode]:
        """Several memories by their ids; an id that names none is left out, and logged."""
        owner, ids = owner_or_none(user_name, task_name, tool_name), texts_of("memory_ids", memory_ids)
        await self._ensure_started()
        return await self.bank.get_many(ids, owner)

    async def update_memory(
        self,
        memory_id: str,
        memory_content: str | None = None,
        when_to_use: str | None = None,
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
        **fields: Any,
    ) -> MemoryNode:
        """Change a memory. Its id follows its content; the old id still leads to it, and the old version is kept.

        Args:
            memory_id (`str`):
                The id.
            memory_content (`str | None`), when_to_use (`str | None`):
                The new texts; `None` leaves one as it is.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it has to be; nothing is moved by that.
            **fields:
                What else changes: `message_time`, `ref_memory_id`, `author`, `score`, `importance`, `tags`, `category`,
                `entities`, `expires_at`, `is_active`; anything else goes to the metadata, beside what is there.

        Returns:
            `MemoryNode`: the memory as it is now.

        Raises:
            `MemoryNotFound`: there is none, or it is not theirs.
            `AmbiguousMemoryId`: several owners have one of this id.
            `ConfigError`: an empty content, a value that cannot work, or one that the schema does not have.
        """
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self._updated(memory_id, owner, memory_content, when_to_use, **fields)

    async def update_memories(
        self,
        changes: Mapping[str, Mapping[str, Any]],
        user_name: Names = "",
        task_name: Names = "",
        tool_name: Names = "",
    ) -> dict[str, MemoryNode]:
        """Change several. An id that names none, or several owners' memories, keeps no other from being changed.

        Args:
            changes (`Mapping[str, Mapping[str, Any]]`):
                By id, what `update_memory` takes: `memory_content`, `when_to_use`, and the other fields.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose they have to be; nothing is moved by that.

        Returns:
            `dict[str, MemoryNode]`: by id, each memory as it is now; what was not changed is left out, and logged.

        Raises:
            `ConfigError`: as `update_memory`, of the first change that cannot work; those before it were made.
        """
        owner = owner_or_none(user_name, task_name, tool_name)
        if not isinstance(changes, Mapping) or not all(isinstance(each, Mapping) for each in changes.values()):
            raise ConfigError(f"changes is {str(changes)[:200]}: give a dictionary from ids to dictionaries of fields.")
        await self._ensure_started()
        if self.bank.store.space is not None:  # all new texts in one request; each is in the cache then
            given = (each.get("when_to_use") or each.get("memory_content") for each in changes.values())
            await self.bank.vectors.of_texts([self.bank.clean(text) for text in given if isinstance(text, str)])
        changed = {}
        for memory_id, fields in changes.items():
            try:
                changed[memory_id] = await self._updated(memory_id, owner, **fields)
            except (MemoryNotFound, AmbiguousMemoryId) as error:
                logger.warning("%s", error)
        return changed

    async def delete_memory(
        self, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> bool:
        """Delete a memory with its old versions.

        Args:
            memory_id (`str`):
                The id.
            user_name (`str`), task_name (`str`), tool_name (`str`):
                Whose it has to be; needed only where several have one of this id.

        Returns:
            `bool`: False where it was deleted before.

        Raises:
            `MemoryNotFound`: there never was one.
            `AmbiguousMemoryId`: several owners have one of this id.
        """
        owner = owner_or_none(user_name, task_name, tool_name)
        text_of("memory_id", memory_id)
        await self._ensure_started()
        was_cold = await self._dropped(memory_id, owner)
        return await self.bank.delete(memory_id, owner) or was_cold

    async def delete_memories(
        self, memory_ids: Sequence[str], user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> dict[str, bool]:
        """Delete several. An id that names none, or several owners' memories, keeps no other from being deleted.

        Returns:
            `dict[str, bool]`: by id, whether it was deleted now.
        """
        owner, ids = owner_or_none(user_name, task_name, tool_name), texts_of("memory_ids", memory_ids)
        await self._ensure_started()
        cold, meant = set(), []
        for memory_id in dict.fromkeys(ids):
            try:
                if await self._dropped(memory_id, owner):
                    cold.add(memory_id)
                meant.append(memory_id)
            except AmbiguousMemoryId as error:
                logger.warning("%s", error)
        done = await self.bank.delete_many(meant, owner)
        return {memory_id: done.get(memory_id, False) or memory_id in cold for memory_id in ids}

    async def delete_all(
        self,
        user_name: "Names | Unset" = UNSET,
        task_name: "Names | Unset" = UNSET,
        tool_name: "Names | Unset" = UNSET,
        *,
        confirm: bool = False,
    ) -> int:
        """Delete all that is kept of some users, tasks or tools: memories, versions, conversations, profiles, records.

        Args:
            user_name (`str | list`), task_name (`str | list`), tool_name (`str | list`):
                Of whom; a name that is given must not be empty.
            confirm (`bool`):
                Without a name everything of everybody is deleted, with `confirm=True` only.

        Returns:
            `int`: how many memories there were.

        Raises:
            `ConfigError`: nobody is named and it was not confirmed.
        """
        names = {"user_name": user_name, "task_name": task_name, "tool_name": tool_name}
        given = {argument: each for argument, each in names.items() if not isinstance(each, Unset)}
        if empty := [argument for argument, each in given.items() if not each]:
            raise ConfigError(f"{empty[0]} is {given[empty[0]]!r}, which names nobody: leave it out, or give a name.")
        named = owners(**{argument: given.get(argument, "") for argument in names}) if given else None
        if not flag_of("confirm", confirm) and named is None:
            raise ConfigError(
                "delete_all() without a name deletes the memories of everybody: name a user, task or tool, or say "
                "delete_all(confirm=True).",
            )
        await self._ensure_started()
        await self._all_dropped(named)
        return await self.bank.delete_all(named)

    # ------------------------------------------------------------------ the record

    async def memory_versions(
        self, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> list[MemoryNode]:
        """The versions that a memory had before, the oldest first."""
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self.bank.versions(memory_id, owner)

    async def memory_history(
        self, memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> list[AuditRow]:
        """What was done to a memory, by whom and why, the oldest first, also when it was deleted."""
        owner = owner_or_none(user_name, task_name, tool_name)
        await self._ensure_started()
        return await self.bank.history(memory_id, owner)

    async def read_conversation(
        self, ref_memory_id: str, user_name: Names = "", task_name: Names = "", tool_name: Names = ""
    ) -> list[Msg]:
        """The messages that a memory comes from, by its `ref_memory_id`; none where they were not stored."""
        owner = one_owner(user_name, task_name, tool_name)
        text_of("ref_memory_id", ref_memory_id)
        await self._ensure_started()
        return await self.conversations.read(ref_memory_id, owner)

    # ------------------------------------------------------------------ profiles

    async def retrieve_profile(self, user_name: str, query: str = "") -> dict[str, str]:
        """What is known of a user in pairs of key and value; with a query what has to do with it, the best first."""
        text_of("query", query)
        await self._ensure_started()
        return await self.profiles.read(user_name, query)

    async def update_profile(self, user_name: str, profile: Mapping[str, str]) -> dict[str, str]:
        """Set keys of a user's profile to values. Other keys stay.

        Returns:
            `dict[str, str]`: the profile that there now is.

        Raises:
            `ConfigError`: a key or value that is blank or no text, or more keys than a profile may have.
        """
        if not isinstance(profile, Mapping):
            raise ConfigError(f"profile is {profile!r:.200}: give a dictionary of keys and values.")
        await self._ensure_started()
        return await self.profiles.update(user_name, profile)

    async def delete_profile(self, user_name: str, key: str | None = None) -> int:
        """Delete a key of a user's profile, or all of them; how many there were comes back."""
        if key is not None:
            text_of("key", key)
        await self._ensure_started()
        return await self.profiles.delete(user_name, key)

    # ------------------------------------------------------------------ inside

    def _node(self, content: str, owner: Owner, **values: Any) -> MemoryNode:
        from .refine import usual_importance

        now: datetime = self.bank.clock()
        if owner.memory_type == "personal" and "importance" not in values and isinstance(content, str):
            values["importance"] = usual_importance(content)
        return MemoryNode(content, owner.memory_type, owner.target, time_created=now, time_modified=now, **values)

    async def _updated(
        self,
        memory_id: str,
        owner: Owner | None,
        memory_content: str | None = None,
        when_to_use: str | None = None,
        **fields: Any,
    ) -> MemoryNode:
        there = await self.bank.get(memory_id, owner)
        whose = Owner(there.memory_type, there.memory_target)
        values = self._fitted(whose, self._fields(fields, there.metadata), there)
        return await self.bank.update(there.memory_id, whose, content=memory_content, when_to_use=when_to_use, **values)

    def _fields(self, given: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of a memory; what is none of them is metadata."""
        fields = {name: value for name, value in given.items() if name in _FIELDS}
        rest = {name: value for name, value in given.items() if name not in _FIELDS}
        return field_values(self.bank.timezone, rest, metadata, fields)
