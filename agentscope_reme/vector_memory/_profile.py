# -*- coding: utf-8 -*-
"""What is known of a person in pairs of key and value, kept in the ledger."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from .._errors import ConfigError
from .._events import EventKind
from .._loop_lock import LoopLock
from ..record import Condition, MemoryNode
from ..search import MEMORIES_RECIPE, QueryView
from ..text import WordTokenizer
from ..vector_store import rank_candidates
from ._audit import AUDIT, AuditRow, audit_node, audit_row
from ._bank import MemoryBank
from ._owner import Owner, owned_by, owners_of

__all__ = ["PROFILE", "ProfileBook"]

PROFILE = "profile"
"""The type of such a row: its content is the key, and so there is one a key, whoever writes it."""

_ACTIONS = (_UPDATED, _DELETED) = ("profile_updated", "profile_deleted")


class ProfileBook:
    """Profiles of users.

    Args:
        bank (`MemoryBank`): where they are.
        capacity (`int`): keys that a profile may have; beyond it, those that were set longest ago go.

    Raises:
        `ConfigError`: no capacity.
    """

    def __init__(self, bank: MemoryBank, *, capacity: int = 50) -> None:
        if capacity < 1:
            raise ConfigError(f"capacity is {capacity!r}: give the number of keys that a profile may have.")
        self.capacity = capacity
        self._bank = bank
        self._writing = LoopLock()

    async def read(self, user: str, query: str = "") -> dict[str, str]:
        """A profile.

        Args:
            user (`str`): whose.
            query (`str`): a question; only what has to do with it is returned then, by words and, where there is an
                embedding model, by meaning.

        Returns:
            `dict[str, str]`: values by key, in the order in which they were first set; with a query the most relevant
            first.
        """
        rows = await self._rows(_owner(user))
        if query.strip():
            rows = await self._relevant(rows, query)
        return {row.content: str(row.metadata["value"]) for row in rows}

    async def update(
        self, user: str, entries: Mapping[str, str], *, actor: str = "", cause: str = ""
    ) -> dict[str, str]:
        """Set keys to values. Other keys stay, also those that somebody else sets at the same time.

        Args:
            user (`str`): whose profile.
            entries (`Mapping[str, str]`): values by key.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `dict[str, str]`: the profile that there now is.

        Raises:
            `ConfigError`: a key or a value that is blank or no text, or more keys than a profile may have.
        """
        owner, entries = _owner(user), self._checked(entries)
        async with self._writing.lock():
            there = {row.content: row for row in await self._rows(owner)}
            now = self._bank.clock()
            new = [
                MemoryNode(
                    key,
                    PROFILE,
                    owner.key,
                    author=actor,
                    time_created=there[key].time_created if key in there else now,
                    time_modified=now,
                    metadata={"value": value},
                )
                for key, value in entries.items()
                if key not in there or there[key].metadata["value"] != value
            ]
            dropped = self._too_many(there, entries)
            if new or dropped:
                rows = self._on_record(owner, _UPDATED, [node.content for node in new], dropped, actor, cause)
                await self._bank.ledger.write([*new, rows], [there[key].key for key in dropped])
        if new or dropped:
            self._tell(user, [node.content for node in new], dropped)
        return await self.read(user)

    async def delete(self, user: str, key: str | None = None, *, actor: str = "", cause: str = "") -> int:
        """Delete a key, or all of them.

        Args:
            user (`str`): whose profile.
            key (`str | None`): the key; None for all.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `int`: how many keys there were to delete.
        """
        owner = _owner(user)
        async with self._writing.lock():
            gone = [row for row in await self._rows(owner) if key is None or row.content == key]
            if gone:
                names = [row.content for row in gone]
                row = self._on_record(owner, _DELETED, names, (), actor, cause)
                await self._bank.ledger.write([row], [each.key for each in gone])
        if gone:
            self._tell(user, names, ())
        return len(gone)

    async def erase(self, user: str, keys: Collection[str], *, actor: str = "", cause: str = "") -> int:
        """Delete keys for good: what was done to them is on record no more, but for how many went.

        Args:
            user (`str`): whose profile.
            keys (`Collection[str]`): the keys.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `int`: how many keys there were to delete.
        """
        owner = _owner(user)
        async with self._writing.lock():
            gone = [row for row in await self._rows(owner) if row.content in keys]
            if gone:
                names = {row.content for row in gone}
                left = [_unnamed(row, names) for row in await self._record(owner)]
                details = {"profiles": len(gone)}
                done = AuditRow(self._bank.clock(), "purged", owner, (), actor, self._bank.clean(cause), details)
                await self._bank.ledger.write([*left, audit_node(done, ())], [each.key for each in gone])
        if gone:
            self._tell(user, sorted(names), ())
        return len(gone)

    async def _record(self, owner: Owner) -> list[MemoryNode]:
        """What was done to a profile."""
        conditions = [Condition("memory_type", "equal", (AUDIT,)), Condition("category", "any_of", _ACTIONS)]
        return await self._bank.ledger.find([*conditions, *owned_by([owner], "memory_target")])

    async def _rows(self, owner: Owner) -> list[MemoryNode]:
        conditions = [Condition("memory_type", "equal", (PROFILE,)), *owned_by([owner], "memory_target")]
        return await self._bank.ledger.find(conditions, sort_key="time_created", reverse=False)

    async def _relevant(self, rows: Sequence[MemoryNode], query: str) -> list[MemoryNode]:
        """Those that have to do with a query, ranked like memories."""
        said = {f"{row.content}: {row.metadata['value']}": row for row in rows}
        vectors = self._bank.vectors
        found = await vectors.of_texts(list(said))
        vector = (await vectors.of_queries([query]))[0]
        scale = await vectors.scale()
        nodes = [MemoryNode(text, vector=each) for text, each in zip(said, found, strict=True)]
        recipe = replace(MEMORIES_RECIPE, vector_weight=0.7)
        recipe = recipe.with_cosine(scale) if scale else recipe
        view = QueryView.of(query, WordTokenizer(), self._bank.clock().astimezone(self._bank.timezone))
        hits = rank_candidates(nodes, view, len(nodes), vector, recipe, 0.0) if nodes else []
        return [said[hit.node.content] for hit in hits]

    def _checked(self, entries: Mapping[str, str]) -> dict[str, str]:
        checked = {}
        for key, value in entries.items():
            for name, text in (("key", key), ("value", value)):
                if not isinstance(text, str) or not text.strip():
                    raise ConfigError(f"A profile's {name} is {text!r}: give a text that is not blank.")
            checked[self._bank.clean(key.strip())] = self._bank.clean(value.strip())
        if len(checked) > self.capacity:
            raise ConfigError(f"{len(checked)} keys are more than the {self.capacity} that a profile may have.")
        return checked

    def _too_many(self, there: Mapping[str, MemoryNode], entries: Mapping[str, str]) -> list[str]:
        """The keys that have to go, those that were set longest ago."""
        others = sorted((row for key, row in there.items() if key not in entries), key=lambda row: row.time_modified)
        over = len(others) + len(entries) - self.capacity
        return [row.content for row in others[: max(0, over)]]

    def _on_record(
        self, owner: Owner, action: str, keys: Sequence[str], dropped: Sequence[str], actor: str, cause: str
    ) -> MemoryNode:
        details = {"keys": list(keys), "dropped": list(dropped)}
        row = AuditRow(self._bank.clock(), action, owner, (), actor, self._bank.clean(cause), details)
        return audit_node(row, ())

    def _tell(self, user: str, keys: Sequence[str], dropped: Sequence[str]) -> None:
        self._bank.events.emit(EventKind.PROFILE_CHANGED, user=user, keys=list(keys), dropped=list(dropped))


def _unnamed(node: MemoryNode, keys: Collection[str]) -> MemoryNode:
    """A row of what was done, without these keys."""
    row = audit_row(node)
    details = {name: [each for each in held if each not in keys] for name, held in row.details.items()}
    return audit_node(replace(row, details=details), (), node.content)


def _owner(user: str) -> Owner:
    owners = owners_of("personal", user, "user_name")
    if len(owners) != 1:
        raise ConfigError(f"user_name is {user!r}: name one user.")
    return owners[0]
