# -*- coding: utf-8 -*-
"""The messages that memories come from, kept in the ledger for each of their owners."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from agentscope.message import Msg

from ..dialog import message_of, message_record
from ..message import UNTIMED_ID, as_msgs, parsed_time, redacted
from ..record import Condition, MemoryNode
from ._bank import MemoryBank
from ._owner import Owner, owned_by

__all__ = ["HISTORY", "Conversations"]

HISTORY = "history"
"""The type of such a row."""


class Conversations:
    """Stored conversations, each under an id that follows from what was said.

    Args:
        bank (`MemoryBank`): where they are.
    """

    def __init__(self, bank: MemoryBank) -> None:
        self._bank = bank

    async def keep(self, messages: Sequence[Msg | dict[str, Any]], owners: Sequence[Owner]) -> str:
        """Store messages for each of the owners, unless they are there.

        Args:
            messages (`Sequence[Msg | dict]`): what was said; see `message.as_msgs`.
            owners (`Sequence[Owner]`): whose it is from now on: deleted with their memories.

        Returns:
            `str`: the id for `MemoryNode.ref_memory_id`; "" for no messages.
        """
        msgs = [redacted(msg, self._bank.clean) for msg in as_msgs(messages)]
        if not msgs:
            return ""
        ref_id = _ref_id(msgs)
        for owner in owners:
            if await self._bank.ledger.count(_of(ref_id, owner)) != len(msgs):
                await self._bank.ledger.write(_rows(msgs, ref_id, owner))
        return ref_id

    async def read(self, ref_id: str, owner: Owner) -> list[Msg]:
        """The messages of a conversation of this owner in their order; none where there is none."""
        rows = await self._bank.ledger.find(_of(ref_id, owner), sort_key="metadata.position", reverse=False)
        return [message_of(row.metadata["message"]) for row in rows]

    async def delete(self, ref_id: str, owner: Owner) -> bool:
        """Delete a conversation of this owner; False where there is none. Memories that come from it stay."""
        rows = await self._bank.ledger.find(_of(ref_id, owner))
        await self._bank.ledger.write(delete=[row.key for row in rows])
        return bool(rows)


def _of(ref_id: str, owner: Owner) -> list[Condition]:
    is_history = Condition("memory_type", "equal", (HISTORY,))
    return [is_history, Condition("ref_memory_id", "equal", (ref_id,)), *owned_by([owner], "memory_target")]


def _rows(msgs: Iterable[Msg], ref_id: str, owner: Owner) -> list[MemoryNode]:
    return [
        MemoryNode(
            f"{ref_id}:{position}",
            HISTORY,
            owner.key,
            ref_memory_id=ref_id,
            author=str(msg.name or ""),
            message_time=parsed_time(msg.timestamp),
            metadata={"position": position, "message": _plain(message_record(msg))},
        )
        for position, msg in enumerate(msgs)
    ]


def _ref_id(msgs: Iterable[Msg]) -> str:
    """The same for the same words at the same times; for messages that came without times, on the same day."""
    said = [
        [msg.role, msg.name, msg.content, msg.id if str(msg.id).startswith(UNTIMED_ID) else msg.timestamp]
        for msg in msgs
    ]
    text = json.dumps(said, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """As JSON values."""
    return json.loads(json.dumps(value, ensure_ascii=False, default=str))
