# -*- coding: utf-8 -*-
"""Messages that were heard and not drawn from yet, on disk until they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agentscope.message import Msg

from ..dialog import message_of, message_record
from ..message import parsed_time, redacted
from ..record import Condition, MemoryNode, node_key
from ..vector_memory import MemoryBank, Owner, owned_by

__all__ = ["HEARD", "Heard", "HeardMessages"]

HEARD = "heard"
"""The type of the row of a message that waits."""

_PASSED = "heard_before"
"""The type of the row that stays of a message, for good: a hash of owner, session and id, and nothing else."""


@dataclass(frozen=True)
class Heard:
    """A message that waits.

    Args:
        key (`str`): of its row.
        session (`str`): the session it was said in.
        message (`Msg`): the message.
        time (`datetime`): when it was heard.
        position (`float`): its place among all that was heard.
        obeyed (`bool`): whether what it asks for outright is done.
    """

    key: str
    session: str
    message: Msg
    time: datetime
    position: float
    obeyed: bool = True


class HeardMessages:
    """The messages of all owners that wait, in the ledger: they go with an owner who is deleted, and survive a crash.

    A message is known by its id in its session, for good: of one that was drawn from, forgotten or purged a hash stays,
    which goes with nobody.

    Args:
        bank (`MemoryBank`): whose ledger it is.
    """

    def __init__(self, bank: MemoryBank) -> None:
        self._bank = bank

    async def put(
        self, owner: Owner, session: str, messages: Sequence[Msg], asks: Callable[[Msg], bool] = lambda _: False
    ) -> list[Msg]:
        """Keep messages.

        Args:
            owner (`Owner`): who said them, or to whom they were said.
            session (`str`): the session.
            messages (`Sequence[Msg]`): what was said, oldest first.
            asks (`Callable[[Msg], bool]`): whether a message asks for something outright, which is still to be done.

        Returns:
            `list[Msg]`: those among them that were not heard before, as they are kept.
        """
        given = {_key(owner, session, msg.id): msg for msg in messages}
        known = await self._bank.ledger.get([*given, *map(_passed_key, given)])
        fresh = [
            redacted(msg, self._bank.clean)
            for key, msg in given.items()
            if known.keys().isdisjoint((key, _passed_key(key)))
        ]
        if fresh:
            first = await self._next_position(owner)
            new = [self._new(owner, session, msg, asks, first + at) for at, msg in enumerate(fresh)]
            await self._bank.ledger.write([self._row(owner, each) for each in new])
        return fresh

    async def waiting(self, owner: Owner, session: str | None = None) -> list[Heard]:
        """What waits of an owner (and of a session), in the order in which it was heard."""
        return await self._found(owner, [] if session is None else [_in_session(session)])

    async def unobeyed(self, owner: Owner) -> list[Heard]:
        """What waits of an owner and asks for something outright that is still to be done, in order."""
        return await self._found(owner, [_UNOBEYED])

    async def owners(self, *, unobeyed: bool = False) -> list[Owner]:
        """The owners of whom something waits; or only something that is still to be done."""
        conditions = [Condition("memory_type", "equal", (HEARD,)), *([_UNOBEYED] if unobeyed else [])]
        found: dict[str, None] = {}
        async for page in self._bank.ledger.pages(conditions):
            found |= dict.fromkeys(row.memory_target for row in page)
        return [Owner.of_key(key) for key in found]

    async def obeyed(self, owner: Owner, heard: Heard) -> None:
        """Note that what a message asks for is done."""
        there = await self._bank.ledger.get([heard.key])  # perhaps in another form, or purged
        await self._bank.ledger.write([self._row(owner, replace(_heard(row), obeyed=True)) for row in there.values()])

    async def cut(self, owner: Owner, cuts: Sequence[tuple[Heard, Msg | None]]) -> None:
        """Keep messages in another form from now on; of those that are None nothing is drawn any more."""
        kept = [self._row(owner, replace(heard, message=msg)) for heard, msg in cuts if msg is not None]
        gone = [heard for heard, msg in cuts if msg is None]
        await self._bank.ledger.write([*kept, *(self._passed(each.key) for each in gone)], [each.key for each in gone])

    async def drawn(self, owner: Owner, heard: Sequence[Heard]) -> None:
        """Note that messages were drawn from; of them only a hash of the id stays."""
        await self.cut(owner, [(each, None) for each in heard])

    async def bury(self, owners: Sequence[Owner]) -> None:
        """Have the messages of owners who are about to be deleted not be heard again, when a session that holds them
        goes on. What stays of each is a hash."""
        heard = [Condition("memory_type", "equal", (HEARD,)), *owned_by(owners, "memory_target")]
        async for page in self._bank.ledger.pages(heard):
            await self._bank.ledger.write([self._passed(row.key) for row in page])

    # ------------------------------------------------------------------ rows

    async def _found(self, owner: Owner, conditions: Sequence[Condition]) -> list[Heard]:
        rows = await self._bank.ledger.find([*_of(owner), *conditions], sort_key="metadata.position", reverse=False)
        return [_heard(row) for row in rows]

    async def _next_position(self, owner: Owner) -> float:
        """Behind all that waits, whoever heard it and by which clock."""
        rows = await self._bank.ledger.find(_of(owner), sort_key="metadata.position", limit=1)
        return max([self._bank.clock().timestamp() * 1e6, *(row.metadata["position"] + 1 for row in rows)])

    def _new(self, owner: Owner, session: str, msg: Msg, asks: Callable[[Msg], bool], position: float) -> Heard:
        now = self._bank.clock()
        return Heard(_key(owner, session, msg.id), session, msg, now, position, not asks(msg))

    def _row(self, owner: Owner, heard: Heard) -> MemoryNode:
        msg = heard.message
        return MemoryNode(
            _content(heard.session, msg.id),
            HEARD,
            owner.key,
            ref_memory_id=heard.session,
            message_time=parsed_time(msg.timestamp),
            time_created=heard.time,
            time_modified=heard.time,
            metadata={"position": heard.position, "obeyed": heard.obeyed, "message": message_record(msg)},
        )

    def _passed(self, key: str) -> MemoryNode:
        now = self._bank.clock()
        return MemoryNode(key, _PASSED, time_created=now, time_modified=now)


def _of(owner: Owner) -> list[Condition]:
    return [Condition("memory_type", "equal", (HEARD,)), *owned_by([owner], "memory_target")]


_UNOBEYED = Condition("metadata.obeyed", "equal", (False,))


def _in_session(session: str) -> Condition:
    return Condition("ref_memory_id", "equal", (session or None,))  # None: nothing in it


def _heard(row: MemoryNode) -> Heard:
    known = row.metadata
    message = message_of(dict(known["message"]))
    return Heard(row.key, row.ref_memory_id, message, row.time_created, known["position"], known["obeyed"])


def _key(owner: Owner, session: str, message_id: str) -> str:
    return MemoryNode(_content(session, message_id), HEARD, owner.key).key


def _passed_key(key: str) -> str:
    return node_key(_PASSED, "", key)


def _content(session: str, message_id: str) -> str:
    return f"{session}\n{message_id}"
