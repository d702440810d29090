# -*- coding: utf-8 -*-
"""The messages that memories come from, kept in the ledger."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope.message import Msg

from ._bank import MemoryBank
from ._owner import Owner

__all__ = ["Conversations"]


class Conversations:
    """Stored conversations, each under an id that follows from its content.

    Args:
        bank (`MemoryBank`): where they are.
    """

    def __init__(self, bank: MemoryBank) -> None:
        self._bank = bank

    async def keep(self, messages: Sequence[Msg], owners: Sequence[Owner]) -> str:
        """Store messages for each of the owners, unless they are there.

        Returns:
            `str`: the id for `MemoryNode.ref_memory_id`; "" for no messages.
        """
        raise NotImplementedError

    async def read(self, ref_id: str, owner: Owner) -> list[Msg]:
        """The messages of a conversation of this owner in their order; none where there is none."""
        raise NotImplementedError
