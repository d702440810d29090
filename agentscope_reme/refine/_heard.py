# -*- coding: utf-8 -*-
"""Messages that were heard and not drawn from yet, on disk until they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from agentscope.message import Msg

from ..dialog import message_of, message_record
from ..message import parsed_time, redacted
from ..record import Condition, MemoryNode, node_key
from ..vector_memory import MemoryBank, Owner, owned_by

__all__ = ["HEARD", "Heard", "HeardMessages"]

HEARD = "heard"
"""The type of such a row of the ledger."""

_PURGED = "heard_and_purged"
"""The type of a row that stays of a message that was removed for good: a hash of owner, session and id."""

_DRAWN = "drawn"
_KEPT_DAYS = 30
"""How long it is known of a message that it was drawn from."""


@dataclass(frozen=True)
class Heard:
    """A message that waits.

    Args:
        key (`str`): of its row.
        session (`str`): the session it was said in.
        message (`Msg`): the message.
    """

    key: str
    session: str
    message: Msg


class HeardMessages:
    """The messages of all owners that wait, in the ledger: they go with an owner who is deleted, and survive a crash.

    A message is known by its id in its session, also after it was drawn from.

    Args:
        bank (`MemoryBank`): whose ledger it is.
    """

    def __init__(self, bank: MemoryBank) -> None:
        self._bank = bank
        self._number = 0

    async def put(self, owner: Owner, session: str, messages: Sequence[Msg]) -> list[Msg]:
        """Keep messages.

        Args:
            owner (`Owner`): who said them, or to whom they were said.
            session (`str`): the session.
            messages (`Sequence[Msg]`): what was said, oldest first.

        Returns:
            `list[Msg]`: those among them that were not heard before, as they are kept.
        """
        fresh = {self._key(owner, session, msg): redacted(msg, self._bank.clean) for msg in messages}
        there = await self._bank.ledger.get([*fresh, *map(_grave_key, fresh)])
        known = {key for key in fresh if not there.keys().isdisjoint((key, _grave_key(key)))}
        rows = [self._row(owner, session, msg) for key, msg in fresh.items() if key not in known]
        if rows:
            await self._bank.ledger.write(rows)
        return [msg for key, msg in fresh.items() if key not in known]

    async def waiting(self, owner: Owner, session: str | None = None) -> list[Heard]:
        """What waits of an owner (and of a session), in the order in which it was heard."""
        conditions = [*self._of(owner), Condition(f"metadata.{_DRAWN}", "equal", (False,))]
        if session is not None:
            conditions.append(Condition("ref_memory_id", "equal", (session or None,)))  # None: nothing in it
        rows = await self._bank.ledger.find(conditions, sort_key="metadata.position", reverse=False)
        return [Heard(row.key, row.ref_memory_id, message_of(dict(row.metadata["message"]))) for row in rows]

    async def owners(self) -> list[Owner]:
        """The owners of whom something waits."""
        conditions = [
            Condition("memory_type", "equal", (HEARD,)),
            Condition(f"metadata.{_DRAWN}", "equal", (False,)),
        ]
        found: dict[str, None] = {}
        async for page in self._bank.ledger.pages(conditions):
            found |= dict.fromkeys(row.memory_target for row in page)
        return [Owner.of_key(key) for key in found]

    async def drawn(self, owner: Owner, heard: Sequence[Heard]) -> None:
        """Note that messages were drawn from; of them only the id stays, and not for ever."""
        there = await self._bank.ledger.get([each.key for each in heard])
        done = [self._done(row) for row in there.values()]
        until = self._bank.clock() - timedelta(days=_KEPT_DAYS)
        old = [
            *self._of(owner),
            Condition(f"metadata.{_DRAWN}", "equal", (True,)),
            Condition("time_modified", "range", (None, until.timestamp())),
        ]
        gone = await self._bank.ledger.find(old)
        await self._bank.ledger.write(done, [row.key for row in gone])

    async def remove(self, owner: Owner, texts: Collection[str]) -> int:
        """Remove messages for good that wait and hold one of these texts; how many there were comes back. They are not
        heard again."""
        held = [
            each.key
            for each in await self.waiting(owner)
            if any(text in (each.message.get_text_content() or "") for text in texts)
        ]
        await self._bank.ledger.write([self._grave(key) for key in held], held)
        return len(held)

    async def bury(self, owners: Sequence[Owner]) -> None:
        """Have the messages of owners who are about to be deleted not be heard again, when a session that holds them
        goes on. What stays of each is a hash."""
        heard = [Condition("memory_type", "equal", (HEARD,)), *owned_by(owners, "memory_target")]
        async for page in self._bank.ledger.pages(heard):
            await self._bank.ledger.write([self._grave(row.key) for row in page])

    # ------------------------------------------------------------------ rows

    def _of(self, owner: Owner) -> list[Condition]:
        return [Condition("memory_type", "equal", (HEARD,)), *owned_by([owner], "memory_target")]

    def _row(self, owner: Owner, session: str, msg: Msg) -> MemoryNode:
        now = self._bank.clock()
        self._number += 1
        position = now.timestamp() * 1e6 + self._number
        return self._node(owner.key, session, msg.id, now, msg, {_DRAWN: False, "position": position})

    def _done(self, row: MemoryNode) -> MemoryNode:
        now = self._bank.clock()
        return MemoryNode(
            row.content,
            HEARD,
            row.memory_target,
            ref_memory_id=row.ref_memory_id,
            time_created=row.time_created,
            time_modified=now,
            metadata={_DRAWN: True},
        )

    def _node(
        self, target: str, session: str, message_id: str, now: Any, msg: Msg, metadata: dict[str, Any]
    ) -> MemoryNode:
        return MemoryNode(
            _content(session, message_id),
            HEARD,
            target,
            ref_memory_id=session,
            message_time=parsed_time(msg.timestamp),
            time_created=now,
            time_modified=now,
            metadata={**metadata, "message": message_record(msg)},
        )

    def _grave(self, key: str) -> MemoryNode:
        now = self._bank.clock()
        return MemoryNode(key, _PURGED, time_created=now, time_modified=now)

    def _key(self, owner: Owner, session: str, msg: Msg) -> str:
        return MemoryNode(_content(session, msg.id), HEARD, owner.key).key


def _grave_key(key: str) -> str:
    return node_key(_PURGED, "", key)


def _content(session: str, message_id: str) -> str:
    return f"{session}\n{message_id}"
